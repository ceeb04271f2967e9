//! Joints of bodies, and what resists their motion.

use super::Numbers;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A joint.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Joint {
    /// Six degrees of freedom; on the world only.
    Free,
    /// Planar joint: x, y and the angle about z, in the mount's x-y plane.
    Planar,
    /// Rotation about an axis.
    Revolute(Revolute),
    /// Translation along an axis.
    Prismatic(Prismatic),
    /// Rotation about an axis with a translation along it in proportion.
    Screw(Screw),
    /// Translation along an axis and rotation about it, independent of each other.
    Cylindrical(Cylindrical),
    /// Rotation about a first axis, then about a second one that the first rotation carries along (Cardan
    /// joint).
    Universal(Universal),
    /// Any rotation about the mount's origin.
    Spherical,
    /// No motion.
    Fixed,
}

/// Rotation about an axis.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Revolute {
    /// Axis in mount coordinates, of any length; z by default.
    pub axis: Option<Numbers>,
    /// Least and largest angle, rad; none by default.
    pub limits: Option<[f64; 2]>,
    /// Least and largest angle, degrees.
    pub limits_deg: Option<[f64; 2]>,
    /// How the limits stop the joint: rigid and without rebound by default.
    pub stop: Option<Stop>,
    /// Largest moment of Coulomb friction in the joint, N m; 0 by default.
    pub friction: Option<f64>,
    /// Viscous damping, N m s/rad; 0 by default.
    pub damping: Option<f64>,
    /// Stiffness of a spring in the joint, N m/rad; 0 by default.
    pub stiffness: Option<f64>,
    /// Angle at which the spring is without moment, rad; 0 by default.
    pub rest: Option<f64>,
    /// Moment of inertia of a rotor, seen at the joint (gear ratio squared times its own), kg m^2; 0 by
    /// default.
    pub armature: Option<f64>,
}

/// Translation along an axis.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["axis"]))]
pub struct Prismatic {
    /// Axis in mount coordinates, of any length.
    pub axis: Numbers,
    /// Least and largest displacement, m; none by default.
    pub limits: Option<[f64; 2]>,
    /// How the limits stop the joint: rigid and without rebound by default.
    pub stop: Option<Stop>,
    /// Largest force of Coulomb friction in the joint, N; 0 by default.
    pub friction: Option<f64>,
    /// Viscous damping, N s/m; 0 by default.
    pub damping: Option<f64>,
    /// Stiffness of a spring in the joint, N/m; 0 by default.
    pub stiffness: Option<f64>,
    /// Displacement at which the spring is without force, m; 0 by default.
    pub rest: Option<f64>,
    /// Mass of a drive, seen at the joint, kg; 0 by default.
    pub armature: Option<f64>,
}

/// Rotation about an axis with a translation along it in proportion. Its coordinate is the angle.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["pitch"]))]
pub struct Screw {
    /// Axis in mount coordinates, of any length; z by default.
    pub axis: Option<Numbers>,
    /// Translation in one full turn, m; negative for a left-handed thread.
    pub pitch: f64,
    /// Least and largest angle, rad; none by default.
    pub limits: Option<[f64; 2]>,
    /// Least and largest angle, degrees.
    pub limits_deg: Option<[f64; 2]>,
    /// How the limits stop the joint: rigid and without rebound by default.
    pub stop: Option<Stop>,
    /// Largest moment of Coulomb friction in the joint, N m; 0 by default.
    pub friction: Option<f64>,
    /// Viscous damping, N m s/rad; 0 by default.
    pub damping: Option<f64>,
    /// Stiffness of a spring in the joint, N m/rad; 0 by default.
    pub stiffness: Option<f64>,
    /// Angle at which the spring is without moment, rad; 0 by default.
    pub rest: Option<f64>,
    /// Moment of inertia of a rotor, seen at the joint, kg m^2; 0 by default.
    pub armature: Option<f64>,
}

/// Translation along an axis and rotation about it: coordinates are the displacement, then the angle.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cylindrical {
    /// Axis in mount coordinates, of any length; z by default.
    pub axis: Option<Numbers>,
    /// What resists the translation.
    pub translation: Option<Axis>,
    /// What resists the rotation.
    pub rotation: Option<Axis>,
}

/// Rotations about two axes, one after the other.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Universal {
    /// The two axes in mount coordinates, of any length; x and y by default. The first rotation carries the
    /// second axis along.
    pub axes: Option<[Numbers; 2]>,
    /// What resists the first rotation.
    pub first: Option<Axis>,
    /// What resists the second rotation.
    pub second: Option<Axis>,
}

/// What resists the motion of one degree of freedom; m and N for translations, rad and N m for rotations.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Axis {
    /// Least and largest coordinate, m or rad; none by default.
    pub limits: Option<[f64; 2]>,
    /// Least and largest angle, degrees; for rotations.
    pub limits_deg: Option<[f64; 2]>,
    /// How the limits stop the joint: rigid and without rebound by default.
    pub stop: Option<Stop>,
    /// Largest force or moment of Coulomb friction, N or N m; 0 by default.
    pub friction: Option<f64>,
    /// Viscous damping, N s/m or N m s/rad; 0 by default.
    pub damping: Option<f64>,
    /// Stiffness of a spring, N/m or N m/rad; 0 by default.
    pub stiffness: Option<f64>,
    /// Coordinate at which the spring is without force, m or rad; 0 by default.
    pub rest: Option<f64>,
    /// Inertia of a drive, seen at the joint, kg or kg m^2; 0 by default.
    pub armature: Option<f64>,
}

/// How the limits of a joint stop it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Stiffness of compliant stops, N/m or N m/rad; by default stops are rigid.
    pub stiffness: Option<f64>,
    /// Damping of compliant stops, N s/m or N m s/rad; 0 by default.
    pub damping: Option<f64>,
    /// Velocity after the impact on a rigid stop over that before, 0 to 1; 0 by default.
    pub restitution: Option<f64>,
}

impl Joint {
    /// What resists each degree of freedom, with the key that holds it; empty for joints without such axes.
    pub(super) fn axes(&self) -> Vec<(Option<&'static str>, Axis)> {
        macro_rules! axis {
            ($j:expr, $degrees:expr) => {
                vec![(
                    None,
                    Axis {
                        limits: $j.limits,
                        limits_deg: $degrees,
                        stop: $j.stop.clone(),
                        friction: $j.friction,
                        damping: $j.damping,
                        stiffness: $j.stiffness,
                        rest: $j.rest,
                        armature: $j.armature,
                    },
                )]
            };
        }
        match self {
            Self::Revolute(j) => axis!(j, j.limits_deg),
            Self::Prismatic(j) => axis!(j, None),
            Self::Screw(j) => axis!(j, j.limits_deg),
            Self::Cylindrical(j) => vec![
                (Some("translation"), j.translation.clone().unwrap_or_default()),
                (Some("rotation"), j.rotation.clone().unwrap_or_default()),
            ],
            Self::Universal(j) => vec![
                (Some("first"), j.first.clone().unwrap_or_default()),
                (Some("second"), j.second.clone().unwrap_or_default()),
            ],
            Self::Free | Self::Planar | Self::Spherical | Self::Fixed => vec![],
        }
    }

    /// Key of the joint in scene files.
    pub(super) fn key(&self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Planar => "planar",
            Self::Revolute(_) => "revolute",
            Self::Prismatic(_) => "prismatic",
            Self::Screw(_) => "screw",
            Self::Cylindrical(_) => "cylindrical",
            Self::Universal(_) => "universal",
            Self::Spherical => "spherical",
            Self::Fixed => "fixed",
        }
    }
}
