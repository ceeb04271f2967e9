//! Boundary-value problems of a scene: what is wanted at the end, and what may be chosen at the start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A boundary-value problem (pang2005 (13)): unknown components of the state at the start, and conditions on the state
/// at the end, for `stiction shoot`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Boundary {
    /// Method; auto by default.
    pub method: ShootMethod,
    /// Time T of the conditions, s; the duration of the run by default.
    pub time: Option<f64>,
    /// Bounds of the time T, s, where it is unknown too: the steps are scaled. It is searched from `time` on.
    pub time_bounds: Option<[f64; 2]>,
    /// Whether conditions may be met in the sense of least squares only: needed for more conditions than unknowns.
    pub least_squares: bool,
    /// Number of segments of multiple shooting; 8 by default, for method = "multiple_shooting" only.
    pub segments: Option<usize>,
    /// Number of starting points from which solutions are searched, the guess first; 1 by default. Others are spread
    /// over the bounds.
    pub starts: Option<usize>,
    /// Largest residual of a solution, in the units of the conditions over their scales; 1e-9 by default.
    pub tolerance: Option<f64>,
    /// Largest number of iterations from one starting point; 50 by default.
    pub iterations: Option<usize>,
    /// Unknown components of the state at the start.
    #[serde(rename = "unknown", skip_serializing_if = "Vec::is_empty")]
    pub unknowns: Vec<Unknown>,
    /// Conditions on the state at the end.
    #[serde(rename = "condition", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Method for a boundary-value problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShootMethod {
    /// Newton's method with a trust region; least squares with bounds where conditions and unknowns differ in number.
    /// With one unknown, an interval is halved where that stalls.
    #[default]
    Auto,
    /// Newton's method with a trust region alone.
    Newton,
    /// The fixed-point map of pang2005 (27), shifted where its matrix is singular.
    FixedPoint,
    /// Newton's method over several segments of the run at once.
    MultipleShooting,
}

/// An unknown component of the state at the start.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["body", "component"]))]
pub struct Unknown {
    /// Name of the body.
    pub body: String,
    /// Component: x, y, z, vx, vy, vz, wx, wy, wz (free), x, y, angle, vx, vy, w (planar), angle, w (revolute),
    /// displacement, v (prismatic), wx, wy, wz (spherical). Attitudes of free and spherical joints cannot be unknown.
    pub component: String,
    /// Value from which the search starts; that of the body by default.
    pub guess: Option<f64>,
    /// Least and largest value; none by default.
    pub bounds: Option<[f64; 2]>,
}

/// A condition: a sum of components times factors has a value.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Condition {
    /// Name of the body, for a condition on one component.
    pub body: Option<String>,
    /// Component of the body at the end: those of unknowns, and qw, qx, qy, qz (free, spherical).
    pub component: Option<String>,
    /// Terms of a sum, for other conditions.
    pub terms: Vec<Term>,
    /// Value.
    pub value: f64,
    /// Residuals of the condition are divided by this; 1 by default.
    pub scale: Option<f64>,
}

/// A term of a condition.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Term {
    /// Name of the body.
    pub body: Option<String>,
    /// Name of a contact, as tables call it, for its deformation (component n, t or o, m).
    pub contact: Option<String>,
    /// Component.
    pub component: String,
    /// Factor; 1 by default.
    pub factor: f64,
    /// When: at the end by default.
    pub at: When,
}

impl Default for Term {
    fn default() -> Self {
        Self { body: None, contact: None, component: String::new(), factor: 1.0, at: When::End }
    }
}

/// Time of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// The start of the run.
    Start,
    /// The end of the run.
    #[default]
    End,
}
