//! Kinematic trees in reduced coordinates: every body is a link on a joint.
//!
//! `M(q) v' = f(q, v) + W' lambda + tau`, `q' = G(q) v`:
//! - [`System`]: the links, checked and laid out; coordinates and how they advance (`G`);
//! - [`Kinematics`]: poses, velocities, Jacobian rows (`W`), the forces `f`, energy and momentum, at one
//!   state;
//! - [`MassMatrix`]: `M`, its factor and products;
//! - [`Drift`]: the motion without forces, by rules that conserve momentum and energy.
//!
//! Sources: R. Featherstone, Rigid Body Dynamics Algorithms (Springer 2008), cited as RBDA. Deviation: all
//! spatial vectors of a tree are written in world axes at one point, the origin of the tree's root link, and
//! in the inertial frame that moves along with that origin. No transforms are then needed between links, and
//! a system in fast flight loses no digits; one far from the world's origin loses those of its positions
//! alone.

mod articulated;
mod bias;
mod body_tangent;
mod drift;
mod drift_tangent;
mod jacobian;
mod joint;
mod kinematics;
mod mass;
mod pivoted_cholesky;
mod spatial;
mod system;
mod tangent;
mod tangent_transposed;
mod valid;

pub use articulated::SingularMass;
pub(crate) use body_tangent::body_derivative;
pub use drift::{Drift, NotDrifted};
pub(crate) use drift_tangent::{Begin, Points, Stencil, TreeDrift, combine};
pub use joint::Joint;
pub use kinematics::Kinematics;
pub use mass::{FreePoint, MassMatrix};
pub(crate) use pivoted_cholesky::PivotedCholesky;
pub use system::{System, Tree};
pub(crate) use tangent::{LinkChange, Variation, advance_derivative, difference};
pub(crate) use tangent_transposed::Covariation;
pub use valid::InvalidSystem;

use crate::space::{Pose, Tensor, Vector};

/// Mass properties of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass in link coordinates, m.
    pub center: Vector,
    /// Inertia tensor about the centre of mass, in link axes, kg m^2.
    pub tensor: Tensor,
}

/// A body on a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Index of the parent link, smaller than the link's own; `None`: the world.
    pub parent: Option<usize>,
    /// Pose of the joint in the parent's coordinates.
    pub mount: Pose,
    /// The joint.
    pub joint: Joint,
    /// Mass properties.
    pub inertia: Inertia,
}
