//! Step and recording.

use super::At;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps of time.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Length of a step, s; 1e-3 by default.
    pub h: Option<At<f64>>,
    /// Share of the old velocity in the position update (theta), from 0 to 1; 0 by default.
    pub explicit_share: Option<At<f64>>,
    /// Where in a step forces (not those of contacts) are evaluated; start by default for explicit_share = 0, else theta.
    pub forces: Option<ForceTime>,
    /// Length of the run, s; 1 by default.
    pub duration: Option<At<f64>>,
    /// Set of friction forces where no pair has its own; cone by default.
    pub friction: Option<At<FrictionKind>>,
    /// Who solves the contact problem; auto by default.
    pub solver: Option<At<SolverKind>>,
    /// What the normal law is about; position by default.
    pub gap: Option<GapLevel>,
    /// Largest relative residual of an accepted step, below 1; 1e-10 by default.
    pub tolerance: Option<At<f64>>,
    /// How many times a failed step is halved before the run ends; 10 by default, at most 60.
    pub retries: Option<At<usize>>,
}

/// Where in a step forces are evaluated.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForceTime {
    /// At its start (song2004).
    Start,
    /// At t + h and the theta-weighted position and velocity, implicit (pang2005).
    Theta,
}

/// Set of friction forces.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FrictionKind {
    /// None at all.
    Frictionless,
    /// Coulomb's cone.
    Cone,
    /// A square.
    Pyramid,
    /// A regular polygon.
    Polygon {
        /// An even number from 4 to 64.
        sides: At<usize>,
    },
}

/// Who solves the contact problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SolverKind {
    /// Picked step by step.
    Auto,
    /// Lemke's method (pyramid, polygon, planar scenes).
    Lemke,
    /// Block Gauss-Seidel.
    GaussSeidel,
    /// Semismooth Newton.
    Newton,
    /// Proximal Newton.
    ProximalNewton,
    /// Proximal Newton without sweeps: slow, robust.
    ExactProximal,
    /// Interior point for cones.
    InteriorPoint,
    /// Alternating directions.
    Admm,
}

/// What the normal law is about.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GapLevel {
    /// Gap at the end of the step.
    Position,
    /// Speed of separation of closed contacts (song2004).
    Velocity,
}

/// What is kept of a run.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Time between records, s, at least the step; 0.02 by default (the step, if that is longer).
    pub interval: Option<At<f64>>,
    /// Which tables; all by default.
    pub tables: Option<Vec<At<Table>>>,
}

/// A table of a recording.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Table {
    /// Positions and velocities.
    Bodies,
    /// Forces, gaps and slips.
    Contacts,
    /// Solver reports and energies.
    Steps,
    /// Slip, stick, open, close.
    Events,
}
