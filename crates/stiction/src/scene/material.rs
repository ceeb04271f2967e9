//! Materials, contact laws and pairs of a scene.

use super::{FrictionKind, Numbers};
use crate::contact::{self, ContactPoint, FrictionRule, Influence, PatchDamping};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A material.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["name"]))]
pub struct Material {
    /// Name, unique among materials.
    pub name: String,
    /// Young's modulus, Pa; a material without it does not deform.
    pub young: Option<f64>,
    /// Poisson's ratio, above -1 and at most 0.5; 0.3 by default.
    pub poisson: f64,
    /// Density, kg/m^3 (planar scenes: kg/m^2, for a depth of one metre).
    pub density: Option<f64>,
    /// Coefficient of friction against itself; 0.5 by default.
    pub friction: f64,
    /// Coefficient of torsional friction against itself, m: largest moment about the normal over normal
    /// force; 0 by default.
    pub torsion: f64,
    /// Coefficient of rolling friction against itself, m: largest moment about the tangents over normal
    /// force; 0 by default.
    pub rolling: f64,
    /// Coefficient of restitution of rigid contacts, from 0 to 1: velocity after an impact over that before; 0 by default. Of two
    /// materials the larger counts.
    pub restitution: f64,
    /// Contact law; rigid by default. Against a rigid material it is the law of the contact.
    pub law: Law,
    /// With law = "auto", the law where the rigid motion is not unique and stable: kelvin_voigt or hunt_crossley. By default a
    /// Kelvin-Voigt layer with stiffness m/eps and damping 2 m/sqrt(eps), m the mean mass of the bodies in kg, eps = 1e-6: their weight compresses it by 0.01 mm.
    pub compliant_law: Option<Law>,
}

fn hertz() -> f64 {
    1.5
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
            compliant_law: None,
        }
    }
}

impl Material {
    /// Elastic constants of the material; infinitely stiff without Young's modulus.
    pub fn elastic(&self) -> contact::Material {
        let young = self.young.unwrap_or(f64::INFINITY);
        contact::Material { young, poisson: self.poisson, friction: self.friction }
    }
}

/// A contact law in a scene.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Law {
    /// Rigid contact, without deformation.
    #[default]
    Rigid,
    /// Rigid while the rigid motion is unique and stable, compliant (compliant_law) while it is not (song2001); for step.scheme = "theta" and
    /// "event". With "compliant" contacts are always compliant.
    Auto,
    /// Kelvin-Voigt law: one spring and one damper per direction, with the damping given or computed from a
    /// damping ratio and a mass.
    KelvinVoigt {
        /// Stiffness [normal, tangential], or one number for both, N/m.
        stiffness: Numbers,
        /// [normal, tangential], or one number for both, N s/m; 0 by default.
        damping: Option<Numbers>,
        /// Damping ratio, relative to the critical damping of `mass`: damping = 2 ratio sqrt(stiffness mass).
        damping_ratio: Option<f64>,
        /// Mass to which `damping_ratio` refers, kg.
        mass: Option<f64>,
    },
    /// A soft layer of the body over its rigid core (chakraborty2007): one spring and one damper per direction, up to the
    /// thickness of the layer. The layers of both bodies count. Only with step.scheme = "implicit".
    Layer {
        /// Stiffness [normal, tangential], or one number for both, N/m.
        stiffness: Numbers,
        /// [normal, tangential], or one number for both, N s/m; 0 by default.
        damping: Option<Numbers>,
        /// Damping ratio, relative to the critical damping of `mass`: damping = 2 ratio sqrt(stiffness mass).
        damping_ratio: Option<f64>,
        /// Mass to which `damping_ratio` refers, kg.
        mass: Option<f64>,
        /// Largest compression: the core is met there, m.
        thickness: f64,
    },
    /// A patch of elements on the elastic half-space (song2004 2.2 and Appendix A). At least one of the
    /// materials needs Young's modulus.
    HalfSpace {
        /// Number of elements along an edge (planar: of all elements), at least 1.
        elements: usize,
        /// Distance between neighbouring elements, m.
        spacing: f64,
        /// Influence functions of the half-space; rectangle by default.
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
    /// Hunt and Crossley's law along the normal, `K d^exponent (1 + 3/2 dissipation d')` at the overlap d, with one spring and one damper along
    /// the tangents; for schemes compliant and theta.
    HuntCrossley {
        /// K, N/m^exponent.
        stiffness: f64,
        /// From 1 to 10; 1.5 by default (Hertz).
        #[serde(default = "hertz")]
        exponent: f64,
        /// s/m; 0 by default. Of a collision at the velocity v it loses about the share `dissipation v` of the velocity.
        #[serde(default)]
        dissipation: f64,
        /// N/m; 0 by default, for friction = { smooth = .. } or none.
        #[serde(default)]
        tangential_stiffness: f64,
        /// N s/m; 0 by default, for friction = { smooth = .. } or none.
        #[serde(default)]
        tangential_damping: f64,
    },
    /// Point contact with the stiffness of Hertz and Mindlin, 4/3 E* sqrt(R d) and 8 G* sqrt(R d) at the
    /// overlap d at the start of a step. At least one of the materials needs Young's modulus.
    HertzMindlin {
        /// Relative radius of curvature R, 1/R = 1/R1 + 1/R2, m. It is not computed from the shapes.
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
            // the compliant law has a key of its own
            contact::Law::Auto(_) => Self::Auto,
            contact::Law::KelvinVoigt { stiffness, damping } => Self::KelvinVoigt {
                stiffness: stiffness.into(),
                damping: Some(damping.into()),
                damping_ratio: None,
                mass: None,
            },
            contact::Law::Layer { stiffness, damping, thickness } => Self::Layer {
                stiffness: stiffness.into(),
                damping: Some(damping.into()),
                damping_ratio: None,
                mass: None,
                thickness,
            },
            contact::Law::HalfSpace { elements, spacing, influence, damping, transport } => {
                Self::HalfSpace { elements, spacing, influence, damping, transport }
            }
            contact::Law::HuntCrossley { stiffness, exponent, dissipation, tangential } => {
                Self::HuntCrossley {
                    stiffness,
                    exponent,
                    dissipation,
                    tangential_stiffness: tangential[0],
                    tangential_damping: tangential[1],
                }
            }
            contact::Law::HertzMindlin { radius, time } => Self::HertzMindlin { radius, damping_time: time },
        }
    }
}

/// Anisotropic friction: the friction forces form an ellipse, with one axis along a direction that is fixed
/// to one of the bodies.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["body", "along", "across"]))]
pub struct Grain {
    /// Name of the one of the two bodies (or world parts) to which the direction is fixed.
    pub body: String,
    /// Direction in the axes of that body, of any length. `friction` is the coefficient along it.
    pub along: Numbers,
    /// Coefficient of friction across the direction.
    pub across: f64,
}

/// An exception for two materials or two bodies. An exception for bodies takes precedence over one for
/// materials.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pair {
    /// Names of two materials, which may be the same.
    pub materials: Option<Vec<String>>,
    /// Names of two bodies or world parts.
    pub bodies: Option<Vec<String>>,
    /// Whether they can touch; true by default.
    pub collide: bool,
    /// Coefficient of friction.
    pub friction: Option<f64>,
    /// Coefficient of torsional friction, m.
    pub torsion: Option<f64>,
    /// Coefficient of rolling friction, m.
    pub rolling: Option<f64>,
    /// Coefficient of restitution, from 0 to 1; the larger of the materials' by default.
    pub restitution: Option<f64>,
    /// How the materials' friction, torsion and rolling combine; not beside `friction`.
    pub friction_rule: Option<FrictionRule>,
    /// Set of friction forces; by default that of the step.
    pub friction_set: Option<FrictionKind>,
    /// Anisotropic friction; only for two bodies.
    pub grain: Option<Grain>,
    /// Contact law.
    pub law: Option<Law>,
    /// With law = "auto", the law where the rigid motion is not unique and stable, as in materials.
    pub compliant_law: Option<Law>,
    /// Where between the two undeformed surfaces the force acts; by default as the scene's `contact_point` says.
    pub contact_point: Option<ContactPoint>,
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
            compliant_law: None,
            contact_point: None,
        }
    }
}
