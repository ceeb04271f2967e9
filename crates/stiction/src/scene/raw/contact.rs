//! Materials, laws, pairs.

use super::{At, FrictionKind, Numbers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A material.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Unique among materials.
    pub name: At<String>,
    /// Young's modulus, Pa; without it the material does not deform.
    pub young: Option<At<f64>>,
    /// Poisson's ratio, above -1, to 0.5; 0.3 by default.
    pub poisson: Option<At<f64>>,
    /// kg/m^3 (planar scenes: kg/m^2, of a body one metre deep).
    pub density: Option<At<f64>>,
    /// Coefficient of friction against itself; 0.5 by default.
    pub friction: Option<At<f64>>,
    /// Torsional friction against itself, m: most moment about the normal over normal force; 0 by default.
    pub torsion: Option<At<f64>>,
    /// Rolling friction against itself, m: most moment about the tangents over normal force; 0 by default.
    pub rolling: Option<At<f64>>,
    /// Contact law; rigid by default. Against a rigid material it is the law of the contact.
    pub law: Option<At<Law>>,
}

/// A contact law.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Law {
    /// No deformation.
    Rigid,
    /// A spring and a damper a direction; damping given, or by ratio and mass.
    KelvinVoigt {
        /// [normal, tangential], or one number for both, N/m.
        stiffness: Numbers,
        /// [normal, tangential], or one number for both, N s/m.
        damping: Option<Numbers>,
        /// Share of the critical damping of `mass`: damping = 2 ratio sqrt(stiffness mass).
        damping_ratio: Option<At<f64>>,
        /// Mass that `damping_ratio` is about, kg.
        mass: Option<At<f64>>,
    },
    /// A patch of elements on the elastic half-space (song2004 2.2 and Appendix A). At least one of the materials
    /// needs Young's modulus.
    HalfSpace {
        /// Elements along an edge (planar: in all), from 1.
        elements: At<usize>,
        /// Distance between neighbouring elements, m.
        spacing: At<f64>,
        /// rectangle by default.
        influence: Option<Influence>,
        /// root by default.
        damping: Option<PatchDamping>,
    },
    /// A point with the stiffness of Hertz' and Mindlin's contact, 4/3 E* sqrt(R d) and 8 G* sqrt(R d) at the overlap d with
    /// which a step begins. At least one of the materials needs Young's modulus.
    HertzMindlin {
        /// Relative radius of curvature R, 1/R = 1/R1 + 1/R2, m. It is not taken from the shapes.
        radius: At<f64>,
        /// Relaxation time of the damping C = time K, s; 0 by default.
        damping_time: Option<At<f64>>,
    },
}

/// Influence functions of the elastic half-space.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Influence {
    /// Uniformly loaded rectangles, exactly.
    Rectangle,
    /// Point forces off the diagonal (song2004 Appendix A, corrected).
    PointForce,
}

/// Damping of a patch.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PatchDamping {
    /// C = 2 sqrt(K), by the matrix root (song2004 2.2).
    Root,
    /// C = time K.
    Proportional {
        /// Relaxation time, s.
        time: At<f64>,
    },
}

/// How two coefficients of friction combine, and torsion and rolling.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrictionRule {
    /// sqrt(a b)
    GeometricMean,
    /// (a + b) / 2
    Average,
    /// a b
    Product,
    /// The smaller.
    Minimum,
    /// The larger.
    Maximum,
}

/// Friction along and across a direction of one of the bodies: the friction forces are an ellipse.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grain {
    /// Name of the one of the two bodies (or world parts) that has the direction.
    pub body: At<String>,
    /// Direction in that body's axes, of any length. `friction` is along it.
    pub along: Numbers,
    /// Coefficient of friction across it.
    pub across: At<f64>,
}

/// An exception for two materials or two bodies. An exception for bodies goes before one for materials.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Names of two materials (may be the same).
    pub materials: Option<At<Vec<At<String>>>>,
    /// Names of two bodies or world parts.
    pub bodies: Option<At<Vec<At<String>>>>,
    /// Whether they can touch; true by default.
    pub collide: Option<bool>,
    /// Coefficient of friction.
    pub friction: Option<At<f64>>,
    /// Torsional friction, m.
    pub torsion: Option<At<f64>>,
    /// Rolling friction, m.
    pub rolling: Option<At<f64>>,
    /// How the materials' friction, torsion and rolling combine; not beside `friction`.
    pub friction_rule: Option<At<FrictionRule>>,
    /// Set of friction forces; that of the step by default.
    pub friction_set: Option<At<FrictionKind>>,
    /// Friction that differs by direction; only for two bodies.
    pub grain: Option<At<Grain>>,
    /// Contact law.
    pub law: Option<At<Law>>,
}
