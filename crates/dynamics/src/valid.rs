//! Checks on a list of links.

use super::{Joint, Link, SingularMass};
use crate::space::{Tensor, Vector, inverse_spd, length};

/// Why a list of links is not a valid system.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidSystem {
    /// A parent must come before its children.
    #[error("link {link}: parent {parent} does not come before it")]
    Parent {
        /// The link.
        link: usize,
        /// Its parent.
        parent: usize,
    },
    /// A number is infinite or not a number.
    #[error("link {link}: {what} is {value}, not a finite number")]
    NotFinite {
        /// The link.
        link: usize,
        /// Which quantity.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// The axis of a revolute or prismatic joint must be a unit vector.
    #[error("link {link}: joint axis {axis:?} has length {length}, not 1")]
    Axis {
        /// The link.
        link: usize,
        /// The axis.
        axis: Vector,
        /// Its length.
        length: f64,
    },
    /// The attitude of a mount must be a unit quaternion.
    #[error("link {link}: mount attitude {attitude:?} has length {length}, not 1")]
    Attitude {
        /// The link.
        link: usize,
        /// The quaternion.
        attitude: [f64; 4],
        /// Its length.
        length: f64,
    },
    /// A mass is negative.
    #[error("link {link}: mass {mass} is negative")]
    Mass {
        /// The link.
        link: usize,
        /// Its mass.
        mass: f64,
    },
    /// An inertia tensor is not symmetric positive definite (for a link without mass it may also be zero).
    #[error("link {link}: inertia tensor {tensor:?} is not symmetric positive definite")]
    Tensor {
        /// The link.
        link: usize,
        /// Its tensor.
        tensor: Tensor,
    },
    /// A free joint is on a moving parent; such a link must be a tree of its own.
    #[error("link {link}: free joint on parent {parent}, which moves; a free link has no moving parent")]
    FreeOnMoving {
        /// The link.
        link: usize,
        /// Its parent.
        parent: usize,
    },
    /// Links without mass leave a motion without inertia.
    #[error("the links moved by the joint of link {link} have no inertia along it (pivot {pivot})")]
    NoInertia {
        /// The link.
        link: usize,
        /// Pivot of the mass matrix there.
        pivot: f64,
    },
}

impl From<SingularMass> for InvalidSystem {
    fn from(SingularMass { link, pivot }: SingularMass) -> Self {
        Self::NoInertia { link, pivot }
    }
}

/// Largest deviation of a length from 1; lengths within it are scaled to 1.
const UNIT_TOLERANCE: f64 = 1e-9;

/// Checks link `index` by itself; its position in the tree (a free joint's parent, sufficient inertia) is
/// checked later.
pub(super) fn check(index: usize, link: &Link) -> Result<(), InvalidSystem> {
    if let Some(parent) = link.parent.filter(|&p| p >= index) {
        return Err(InvalidSystem::Parent { link: index, parent });
    }
    let finite = |what, values: &[f64]| match values.iter().find(|x| !x.is_finite()) {
        Some(&value) => Err(InvalidSystem::NotFinite { link: index, what, value }),
        None => Ok(()),
    };
    let inertia = &link.inertia;
    finite("mount position", &link.mount.position)?;
    finite("mount attitude", &link.mount.attitude.0)?;
    finite("mass", &[inertia.mass])?;
    finite("center of mass", &inertia.center)?;
    finite("inertia tensor", inertia.tensor.as_flattened())?;

    let attitude = link.mount.attitude.0;
    let norm = attitude.iter().map(|x| x * x).sum::<f64>().sqrt();
    if (norm - 1.0).abs() > UNIT_TOLERANCE {
        return Err(InvalidSystem::Attitude { link: index, attitude, length: norm });
    }
    let axes: &[Vector] = match &link.joint {
        Joint::Revolute { axis } | Joint::Prismatic { axis } | Joint::Cylindrical { axis } => {
            std::slice::from_ref(axis)
        }
        Joint::Screw { axis, pitch } => {
            finite("pitch", &[*pitch])?;
            std::slice::from_ref(axis)
        }
        Joint::Universal { axes } => axes,
        _ => &[],
    };
    for &axis in axes {
        finite("joint axis", &axis)?;
        if (length(axis) - 1.0).abs() > UNIT_TOLERANCE {
            return Err(InvalidSystem::Axis { link: index, axis, length: length(axis) });
        }
    }
    if inertia.mass < 0.0 {
        return Err(InvalidSystem::Mass { link: index, mass: inertia.mass });
    }
    let empty = inertia.mass == 0.0 && inertia.tensor == [[0.0; 3]; 3];
    if !empty && inverse_spd(&inertia.tensor).is_none() {
        return Err(InvalidSystem::Tensor { link: index, tensor: inertia.tensor });
    }
    Ok(())
}
