//! Materials, laws, pairs.

use super::{FrictionKind, Numbers};
use crate::contact::{self, FrictionRule, Influence, PatchDamping};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A material.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name"]))]
pub struct Material {
    /// Unique among materials.
    pub name: String,
    /// Young's modulus, Pa; without it the material does not deform.
    pub young: Option<f64>,
    /// Poisson's ratio, above -1, to 0.5; 0.3 by default.
    pub poisson: f64,
    /// kg/m^3 (planar scenes: kg/m^2, of a body one metre deep).
    pub density: Option<f64>,
    /// Coefficient of friction against itself; 0.5 by default.
    pub friction: f64,
    /// Torsional friction against itself, m: most moment about the normal over normal force; 0 by default.
    pub torsion: f64,
    /// Rolling friction against itself, m: most moment about the tangents over normal force; 0 by default.
    pub rolling: f64,
    /// Coefficient of restitution of rigid contacts, from 0 to 1: velocity after an impact over that before; 0 by default. Of two
    /// materials the larger counts.
    pub restitution: f64,
    /// Contact law; rigid by default. Against a rigid material it is the law of the contact.
    pub law: Law,
}

fn transported() -> bool {
    true
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            young: None,
            poisson: 0.3,
            density: None,
            friction: 0.5,
            torsion: 0.0,
            rolling: 0.0,
            restitution: 0.0,
            law: Law::Rigid,
        }
    }
}

impl Material {
    /// What contacts need of it; infinitely stiff without Young's modulus.
    pub fn elastic(&self) -> contact::Material {
        let young = self.young.unwrap_or(f64::INFINITY);
        contact::Material { young, poisson: self.poisson, friction: self.friction }
    }
}

/// A contact law, as it is given.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Law {
    /// No deformation.
    #[default]
    Rigid,
    /// One spring and one damper per direction; damping given, or by ratio and mass.
    KelvinVoigt {
        /// [normal, tangential], or one number for both, N/m.
        stiffness: Numbers,
        /// [normal, tangential], or one number for both, N s/m; 0 by default.
        damping: Option<Numbers>,
        /// Share of the critical damping of `mass`: damping = 2 ratio sqrt(stiffness mass).
        damping_ratio: Option<f64>,
        /// Mass that `damping_ratio` is about, kg.
        mass: Option<f64>,
    },
    /// A patch of elements on the elastic half-space (song2004 2.2 and Appendix A). At least one of the materials
    /// needs Young's modulus.
    HalfSpace {
        /// Elements along an edge (planar: in all), from 1.
        elements: usize,
        /// Distance between neighbouring elements, m.
        spacing: f64,
        /// rectangle by default.
        #[serde(default)]
        influence: Influence,
        /// None by default (proportional with time 0): the patch follows the load within the step.
        #[serde(default)]
        damping: PatchDamping,
        /// Whether the deformation stays with the materials as the contact travels over them (rolling, creepage); false: with the
        /// contact, as in song2004.
        #[serde(default = "transported")]
        transport: bool,
    },
    /// A point with the stiffness of Hertz' and Mindlin's contact, 4/3 E* sqrt(R d) and 8 G* sqrt(R d) at the overlap d with
    /// which a step begins. At least one of the materials needs Young's modulus.
    HertzMindlin {
        /// Relative radius of curvature R, 1/R = 1/R1 + 1/R2, m. It is not taken from the shapes.
        radius: f64,
        /// Relaxation time of the damping C = time K, s; 0 by default.
        #[serde(default)]
        damping_time: f64,
    },
}

impl From<contact::Law> for Law {
    fn from(law: contact::Law) -> Self {
        match law {
            contact::Law::Rigid => Self::Rigid,
            contact::Law::KelvinVoigt { stiffness, damping } => Self::KelvinVoigt {
                stiffness: stiffness.into(),
                damping: Some(damping.into()),
                damping_ratio: None,
                mass: None,
            },
            contact::Law::HalfSpace { elements, spacing, influence, damping, transport } => {
                Self::HalfSpace { elements, spacing, influence, damping, transport }
            }
            contact::Law::HertzMindlin { radius, time } => Self::HertzMindlin { radius, damping_time: time },
        }
    }
}

/// Friction along and across a direction of one of the bodies: the friction forces are an ellipse.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["body", "along", "across"]))]
pub struct Grain {
    /// Name of the one of the two bodies (or world parts) that has the direction.
    pub body: String,
    /// Direction in that body's axes, of any length. `friction` is along it.
    pub along: Numbers,
    /// Coefficient of friction across it.
    pub across: f64,
}

/// An exception for two materials or two bodies. An exception for bodies goes before one for materials.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pair {
    /// Names of two materials (may be the same).
    pub materials: Option<Vec<String>>,
    /// Names of two bodies or world parts.
    pub bodies: Option<Vec<String>>,
    /// Whether they can touch; true by default.
    pub collide: bool,
    /// Coefficient of friction.
    pub friction: Option<f64>,
    /// Torsional friction, m.
    pub torsion: Option<f64>,
    /// Rolling friction, m.
    pub rolling: Option<f64>,
    /// Coefficient of restitution, from 0 to 1; the larger of the materials' by default.
    pub restitution: Option<f64>,
    /// How the materials' friction, torsion and rolling combine; not beside `friction`.
    pub friction_rule: Option<FrictionRule>,
    /// Set of friction forces; that of the step by default.
    pub friction_set: Option<FrictionKind>,
    /// Friction that differs by direction; only for two bodies.
    pub grain: Option<Grain>,
    /// Contact law.
    pub law: Option<Law>,
}

impl Default for Pair {
    fn default() -> Self {
        Self {
            materials: None,
            bodies: None,
            collide: true,
            friction: None,
            torsion: None,
            rolling: None,
            restitution: None,
            friction_rule: None,
            friction_set: None,
            grain: None,
            law: None,
        }
    }
}
