//! Time stepping of a scene, and what a run records.

use complementarity::problem::Friction;
use complementarity::solver::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest number of steps; it keeps counts exact.
const MOST_STEPS: f64 = 1e12;

/// Time stepping.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StepSettings {
    /// How the motion is integrated; theta by default.
    pub scheme: Scheme,
    /// Step length, s; 1e-3 by default.
    pub h: f64,
    /// Share of the old velocity in the position update (theta), from 0 to 1; 0 by default (song2004). Above
    /// 1/2 every contact must be compliant.
    pub explicit_share: f64,
    /// Whether slip counts the rate of the tangential springs of soft layers (scheme implicit); true by default. Without it the springs
    /// carry the friction force but never act, as in chakraborty2007 (14) to the letter.
    pub tangential_springs: bool,
    /// Time in a step at which forces other than contact forces are evaluated; start by default for
    /// explicit_share = 0, else theta.
    pub forces: Option<ForceTime>,
    /// Duration of the run, s; 1 by default.
    pub duration: f64,
    /// Set of friction forces where no pair has its own; cone by default. In planar scenes all sets are the
    /// same, and only the solver may differ.
    pub friction: FrictionKind,
    /// Method for the contact problem; auto by default.
    #[serde(with = "method_name")]
    #[schemars(schema_with = "method_name::schema")]
    pub solver: Method,
    /// What the normal law is about; distance by default.
    pub gap: GapLevel,
    /// Largest relative residual of an accepted step, below 1; 1e-10 by default.
    pub tolerance: f64,
    /// Recovery velocity: the largest velocity at which overlapping rigid bodies separate, and joints beyond
    /// a limit return, m/s or rad/s; 0.1 by default. Bodies in motion separate at up to a tenth of their own
    /// velocity.
    pub recovery_velocity: f64,
    /// Impacts below this velocity do not bounce, m/s; 0.01 by default.
    pub bounce_threshold: f64,
    /// Error that the integrators of scheme = "compliant" and "event" allow per step of its own, relative to 1 m, 1 rad, 1 m/s and 1 rad/s or what is
    /// larger; 1e-10 by default.
    pub accuracy: f64,
    /// Which of several possible motions is followed; rest by default: what begins at rest stays there if loads can hold it. The schemes theta and
    /// implicit also support nearest, scheme = "event" all of them, where it decides what follows.
    pub branch: Branch,
    /// How many times a failed step is halved before the run ends; 10 by default, at most 60.
    pub retries: usize,
}

impl Default for StepSettings {
    fn default() -> Self {
        Self {
            scheme: Scheme::Theta,
            h: 1e-3,
            explicit_share: 0.0,
            tangential_springs: true,
            forces: None,
            duration: 1.0,
            friction: FrictionKind::Cone,
            solver: Method::Auto,
            gap: GapLevel::Distance,
            tolerance: 1e-10,
            recovery_velocity: 0.1,
            bounce_threshold: 0.01,
            accuracy: 1e-10,
            branch: Branch::Rest,
            retries: 10,
        }
    }
}

impl StepSettings {
    /// Time in a step at which forces are evaluated: as given, or the default for `explicit_share`.
    pub fn force_time(&self) -> ForceTime {
        let default = if self.explicit_share == 0.0 { ForceTime::Start } else { ForceTime::Theta };
        self.forces.unwrap_or(default)
    }

    /// Number of steps: `duration / h`, rounded up unless within rounding error of a whole number.
    pub fn count(&self) -> usize {
        let steps = self.duration / self.h;
        (steps - 1e-9 * steps.max(1.0)).ceil().max(1.0) as usize
    }

    /// What is worth knowing of a run whose steps do not fit its duration: it ends later.
    pub fn misfit(&self) -> Option<String> {
        let (h, duration, end) = (self.h, self.duration, self.count() as f64 * self.h);
        // as `count` rounds
        if (end - duration).abs() <= 1e-9 * duration.max(h) {
            return None;
        }
        Some(match h > duration {
            true => {
                format!("step.h = {h} s is longer than the duration of {duration} s: the run is one step")
            }
            false => format!(
                "the duration of {duration} s is no multiple of step.h = {h} s: the run ends at {end} s"
            ),
        })
    }

    /// What is wrong if there are too many steps.
    pub fn excess(&self) -> Option<String> {
        let steps = self.duration / self.h;
        (steps > MOST_STEPS)
            .then(|| format!("duration / h is {steps:.1e} steps, expected at most {MOST_STEPS:e}"))
    }
}

/// How the motion is integrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// Time stepping by the theta rule; one contact problem per step (song2004, pang2005).
    #[default]
    Theta,
    /// Compliant contacts as differential equations with error control (song2001 section 3); `h` is the time between results.
    Compliant,
    /// Rigid motion with located events: integrated to high order between them, with error control; `h` is the time between results.
    Event,
    /// Contact points, normals and gaps at the end of a step, which are solved with the motion (chakraborty2007); explicit_share is
    /// 0, or 0.5 for the midpoint rule where the contacts allow it.
    Implicit,
}

/// Which of several solutions of the contact problem of a step or an instant is followed. Where none is of the kind wanted, and between several
/// of it, the nearest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Branch {
    /// The one at rest, where contacts begin at rest and loads can hold them there; otherwise, and under event, as `nearest`.
    #[default]
    Rest,
    /// The one whose normal forces are nearest to those before; of a step the one that the solver finds.
    Nearest,
    /// The one in which the most contacts keep touching.
    KeepContact,
    /// The one in which the most contacts open.
    Separate,
    /// The one in which the most contacts keep touching and slip.
    Slip,
    /// The one in which the most contacts stick.
    Stick,
}

/// Time in a step at which the forces f are evaluated: weight, springs, loads, motors. Contact forces are
/// always implicit; velocity products have a rule of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForceTime {
    /// Start of the step (song2004).
    Start,
    /// Implicit forces, at `(t + (1-theta) h, q_theta, v_theta)` (pang2005 (15); there at t + h, which is of first order where loads vary in time).
    Theta,
}

/// Set of admissible friction forces.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FrictionKind {
    /// No friction.
    Frictionless,
    /// Coulomb's cone: `|(lambda_t, lambda_o)| <= mu lambda_n`.
    Cone,
    /// Friction pyramid: `|lambda_t| <= mu lambda_n` and `|lambda_o| <= mu lambda_n` (song2004).
    Pyramid,
    /// Smooth friction, `-mu lambda_n tanh(s/velocity)` against the slip s (song2001 (42)); for compliant contacts with scheme = "compliant" or "theta".
    Smooth {
        /// Slip velocity up to which contacts nearly stick, m/s.
        velocity: f64,
    },
    /// Regular polygon inscribed in the disc of Coulomb's cone.
    Polygon {
        /// Number of sides, even, from 4 to 64.
        sides: usize,
    },
}

impl FrictionKind {
    /// The set in the form that solvers take: without friction the coefficient is 0, and any set will do.
    pub fn set(self) -> Friction {
        match self {
            Self::Polygon { sides } => Friction::Polygon { sides },
            Self::Pyramid => Friction::Pyramid,
            Self::Cone | Self::Frictionless | Self::Smooth { .. } => Friction::Cone,
        }
    }
}

/// Methods by name in scene files, with underscores; hyphens and the names of merged methods are also read.
mod method_name {
    use super::Method;
    use schemars::{Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Names of version 0.1.0 that now stand for other methods.
    const MERGED: [&str; 3] = ["exact_proximal", "exact-proximal", "admm"];

    pub fn serialize<S: Serializer>(method: &Method, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&method.name().replace('-', "_"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Method, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(Error::custom)
    }

    pub fn schema(_: &mut SchemaGenerator) -> Schema {
        let hyphens = Method::ALL.map(Method::name);
        let underscores = hyphens.map(|name| name.replace('-', "_"));
        let names = underscores.iter().map(String::as_str).chain(hyphens).chain(MERGED);
        let mut list: Vec<&str> = vec![];
        for name in names {
            if !list.contains(&name) {
                list.push(name);
            }
        }
        json_schema!({ "type": "string", "enum": list })
    }
}

/// What the normal law is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GapLevel {
    /// The distance of the bodies: contacts act where the motion of the step meets them.
    Distance,
    /// The gap at the end of the step, linear about its start, of all features that are near (song2004, pang2005 (16)).
    Position,
    /// Velocity level: the normal velocity of closed contacts (song2004 (13), (14)).
    Velocity,
}

/// What a run records.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecordSettings {
    /// Time between records, s, at least the step; 0.02 by default (the step, if that is longer).
    pub interval: Option<f64>,
    /// Tables to be recorded; all by default.
    pub tables: Vec<Table>,
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self { interval: None, tables: Table::ALL.to_vec() }
    }
}

/// A table of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Table {
    /// Positions and velocities.
    Bodies,
    /// Forces, gaps and slips.
    Contacts,
    /// Solver statistics and energies.
    Steps,
    /// Slip, stick, open, close.
    Events,
    /// Coordinates, efforts and reactions of joints.
    Joints,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 5] = [Self::Bodies, Self::Contacts, Self::Steps, Self::Events, Self::Joints];
}
