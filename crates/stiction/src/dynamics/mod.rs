//! Kinematic trees in reduced coordinates: every body is a link on a joint.

use crate::space::{Pose, Tensor, Vector};

/// How a link moves against its parent's mount. Coordinates `q` and speeds `v`:
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Joint {
    /// `q` = position (3), quaternion (4, scalar first); `v` = velocity of the link's origin in world axes,
    /// angular velocity in world axes.
    Free,
    /// `q` = x, y, angle about z; `v` their rates. The plane is the mount's x-y plane.
    Planar,
    /// `q` = angle about the unit `axis` (mount coordinates); `v` its rate.
    Revolute {
        /// Unit vector.
        axis: Vector,
    },
    /// `q` = displacement along the unit `axis` (mount coordinates); `v` its rate.
    Prismatic {
        /// Unit vector.
        axis: Vector,
    },
    /// `q` = quaternion (4, scalar first); `v` = angular velocity in mount axes.
    Spherical,
    /// No motion.
    Fixed,
}

/// Mass properties of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia {
    /// kg.
    pub mass: f64,
    /// Centre of mass in link coordinates, m.
    pub center: Vector,
    /// About the centre of mass, in link axes, kg m^2.
    pub tensor: Tensor,
}

/// A body on a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Index of the parent link, smaller than the link's own; `None`: the world.
    pub parent: Option<usize>,
    /// Where the joint sits, in the parent's coordinates.
    pub mount: Pose,
    /// The joint.
    pub joint: Joint,
    /// Mass properties.
    pub inertia: Inertia,
}
