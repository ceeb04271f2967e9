//! Contact laws. Rigid and compliant contacts are one problem with and without the block
//! `E^-1 = (h K + C)^-1`; a law says what `K` and `C` are: constant, or of the configuration at the start of a step.

use super::half_space::{Directions, Grid};
use super::invalid::{InvalidContact, check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most rows of deformation a patch may have (40 x 40 elements): its five dense matrices then take 1 GB.
pub const MOST_ROWS: usize = 5000;

/// What a contact's elements do under force.
#[derive(Debug, Clone, PartialEq)]
pub enum Law {
    /// No deformation.
    Rigid,
    /// One spring and damper a direction: `lambda = K delta + C delta'` (song2004 with `n_s = 1`).
    KelvinVoigt {
        /// Normal and tangential stiffness, N/m.
        stiffness: [f64; 2],
        /// Normal and tangential damping, N s/m.
        damping: [f64; 2],
    },
    /// A soft layer of the body over its rigid core: one spring and one damper per direction up to the thickness of the layer
    /// (chakraborty2007 (10)-(13)). The layers of both bodies count. For the implicit scheme.
    Layer {
        /// Normal and tangential stiffness, N/m.
        stiffness: [f64; 2],
        /// Normal and tangential damping, N s/m.
        damping: [f64; 2],
        /// Largest compression `delta_max`, m.
        thickness: f64,
    },
    /// A patch of elements on the elastic half-space (song2004 2.2 and Appendix A).
    HalfSpace {
        /// Elements along an edge: `n_s` (planar: in all).
        elements: usize,
        /// Distance between neighbouring elements, `rho_0`, m.
        spacing: f64,
        /// Which influence functions.
        influence: Influence,
        /// Damping.
        damping: PatchDamping,
        /// Whether elements that travel over the materials take the deformation of the material now under them.
        transport: bool,
    },
    /// Hunt and Crossley's law along the normal, `lambda_n = K d^beta (1 + 3/2 alpha d')` (song2001 (11)), and one spring and damper along the
    /// tangents: (16) has no inverse in Hunt and Crossley's form, whose damping vanishes without deformation.
    HuntCrossley {
        /// `K`, N/m^beta.
        stiffness: f64,
        /// `beta`.
        exponent: f64,
        /// `alpha`, s/m.
        dissipation: f64,
        /// Tangential stiffness, N/m, and damping, N s/m.
        tangential: [f64; 2],
    },
    /// One point with the stiffness of Hertz' and Mindlin's contact, which grows with the overlap `d` of the undeformed
    /// shapes: `K_n = 4/3 E* sqrt(R d)`, `K_t = 8 G* sqrt(R d)`, `C = time K`, all at the start of a step (pang2005 (16) with
    /// `K(q)`, `C(q)`). Then `K_n d = 4/3 E* sqrt(R) d^(3/2)`.
    HertzMindlin {
        /// Relative radius of curvature `R`, `1/R = 1/R1 + 1/R2`, m: given, not taken from the shapes.
        radius: f64,
        /// Relaxation time, s.
        time: f64,
    },
    /// Rigid while the rigid motion is unique and stable, and this compliant law where it is not (song2001 sections 4 and 5); without a law,
    /// the default layer of [`StatedLayer`](super::StatedLayer) with the mean mass of the bodies.
    Auto(Option<Box<Law>>),
}

/// Influence functions of the elastic half-space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Influence {
    /// Uniformly loaded rectangles, exactly (Love; Boussinesq and Cerruti).
    #[default]
    Rectangle,
    /// Point forces off the diagonal, song2004 Appendix A as corrected.
    PointForce,
}

/// Damping of a patch; none by default (`proportional` with time 0): the patch is then in equilibrium at the end of every step, and motion
/// that the step does not resolve is damped by the implicit rule. Damped patches resist rolling, for material that passes through
/// them is deformed and released.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PatchDamping {
    /// `C = 2 sqrt(K)`, by the matrix root (song2004 2.2; units as in the paper: critical for 1 kg). It relaxes within `2 / sqrt(K)`,
    /// milliseconds for a patch of millimetres.
    Root,
    /// `C = time K`: a relaxation time in seconds.
    Proportional {
        /// s.
        time: f64,
    },
}

impl Default for PatchDamping {
    fn default() -> Self {
        Self::Proportional { time: 0.0 }
    }
}

impl Law {
    /// Kelvin-Voigt by damping ratio: `C = 2 zeta sqrt(K m_eff)` in each direction, see [`damping_of_ratio`].
    pub fn kelvin_voigt(
        stiffness: [f64; 2],
        ratio: f64,
        effective_mass: f64,
    ) -> Result<Self, InvalidContact> {
        check("damping ratio", ratio, "at least 0 and finite", |x| x >= 0.0 && x.is_finite())?;
        check("effective mass", effective_mass, "above 0 and finite", |x| x > 0.0 && x.is_finite())?;
        let damping = stiffness.map(|k| damping_of_ratio(k, ratio, effective_mass));
        let law = Self::KelvinVoigt { stiffness, damping };
        law.validate().map(|()| law)
    }

    /// Checks every number of the law.
    pub fn validate(&self) -> Result<(), InvalidContact> {
        let size = |x: f64| x >= 0.0 && x.is_finite();
        match *self {
            Self::Rigid | Self::Auto(None) => Ok(()),
            Self::Auto(Some(ref law)) => law.validate(),
            Self::Layer { stiffness, damping, thickness } => {
                check("thickness", thickness, "above 0 and finite", |x| x > 0.0 && x.is_finite())?;
                Self::KelvinVoigt { stiffness, damping }.validate()
            }
            Self::KelvinVoigt { stiffness, damping } => {
                check("normal stiffness", stiffness[0], "at least 0 and finite", size)?;
                check("tangential stiffness", stiffness[1], "at least 0 and finite", size)?;
                check("normal damping", damping[0], "at least 0 and finite", size)?;
                check("tangential damping", damping[1], "at least 0 and finite", size)?;
                // h K + C must have an inverse
                let one = "above 0 where the damping is 0";
                check("normal stiffness", stiffness[0], one, |k| k > 0.0 || damping[0] > 0.0)?;
                check("tangential stiffness", stiffness[1], one, |k| k > 0.0 || damping[1] > 0.0)
            }
            Self::HalfSpace { spacing, damping, .. } => {
                check("spacing", spacing, "above 0 and finite", |x| x > 0.0 && x.is_finite())?;
                match damping {
                    PatchDamping::Root => Ok(()),
                    PatchDamping::Proportional { time } => {
                        check("damping time", time, "at least 0 and finite", size)
                    }
                }
            }
            Self::HuntCrossley { stiffness, exponent, dissipation, tangential } => {
                check("stiffness", stiffness, "above 0 and finite", |x| x > 0.0 && x.is_finite())?;
                check("exponent", exponent, "from 1 to 10", |x| (1.0..=10.0).contains(&x))?;
                check("dissipation", dissipation, "at least 0 and finite", size)?;
                check("tangential_stiffness", tangential[0], "at least 0 and finite", size)?;
                check("tangential_damping", tangential[1], "at least 0 and finite", size)
            }
            Self::HertzMindlin { radius, time } => {
                check("radius", radius, "above 0 and finite", |x| x > 0.0 && x.is_finite())?;
                check("damping time", time, "at least 0 and finite", size)
            }
        }
    }

    /// The grid of elements a contact with this law has: one element, if the law is not distributed (its
    /// spacing is then 0).
    pub fn grid(&self, directions: Directions) -> Grid {
        match *self {
            Self::HalfSpace { elements, spacing, .. } => Grid { elements, spacing, directions },
            Self::Rigid
            | Self::Auto(_)
            | Self::KelvinVoigt { .. }
            | Self::Layer { .. }
            | Self::HuntCrossley { .. }
            | Self::HertzMindlin { .. } => Grid { elements: 1, spacing: 0.0, directions },
        }
    }

    /// Name, as scenes write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rigid => "rigid",
            Self::Auto(_) => "auto",
            Self::KelvinVoigt { .. } => "kelvin_voigt",
            Self::Layer { .. } => "layer",
            Self::HalfSpace { .. } => "half_space",
            Self::HuntCrossley { .. } => "hunt_crossley",
            Self::HertzMindlin { .. } => "hertz_mindlin",
        }
    }

    /// Number of elements of a contact with this law.
    pub fn elements(&self, directions: Directions) -> usize {
        self.grid(directions).count()
    }

    /// Rows of deformation of a contact with this law: 0 if it is rigid.
    pub fn rows(&self, directions: Directions) -> usize {
        if self.steps_rigid() { 0 } else { self.grid(directions).rows() }
    }

    /// Whether contacts of this law are rigid in a step: always, or as long as the rigid motion is unique and stable.
    pub fn steps_rigid(&self) -> bool {
        matches!(self, Self::Rigid | Self::Auto(_))
    }

    /// The law and its numbers in words, for summaries of scenes.
    pub fn describe(&self) -> String {
        match self {
            Self::Rigid => "rigid".to_owned(),
            Self::Auto(None) => "auto (rigid, or a layer by default)".to_owned(),
            Self::Auto(Some(law)) => format!("auto (rigid, or {})", law.describe()),
            Self::KelvinVoigt { stiffness: [kn, kt], damping: [cn, ct] } => {
                let [kn, kt, cn, ct] = [kn, kt, cn, ct].map(|x| short(*x));
                format!("Kelvin-Voigt (stiffness {kn}, {kt} N/m, damping {cn}, {ct} N s/m)")
            }
            Self::Layer { stiffness: [kn, kt], damping: [cn, ct], thickness } => {
                let [kn, kt, cn, ct] = [kn, kt, cn, ct].map(|x| short(*x));
                let over = short(*thickness);
                format!("layer of {over} m (stiffness {kn}, {kt} N/m, damping {cn}, {ct} N s/m)")
            }
            Self::HalfSpace { elements, spacing, influence, damping, .. } => {
                let influence = match influence {
                    Influence::Rectangle => "rectangles",
                    Influence::PointForce => "point forces",
                };
                let damping = match damping {
                    PatchDamping::Root => "2 sqrt(K)".to_owned(),
                    PatchDamping::Proportional { time } => format!("{time} s K"),
                };
                format!(
                    "half-space patch ({elements} a side, {spacing:e} m apart, {influence}, damping {damping})"
                )
            }
            Self::HuntCrossley { stiffness, exponent, dissipation, tangential: [kt, ct] } => {
                let [k, beta, alpha, kt, ct] = [stiffness, exponent, dissipation, kt, ct].map(|x| short(*x));
                format!(
                    "Hunt-Crossley (stiffness {k} N/m^{beta}, dissipation {alpha} s/m, tangential {kt} N/m, {ct} N s/m)"
                )
            }
            Self::HertzMindlin { radius, time } => {
                format!("Hertz-Mindlin (radius {} m, damping {time} s K)", short(*radius))
            }
        }
    }
}

/// A number to six digits.
pub(crate) fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x);
    if x == 0.0 || (1e-4..1e6).contains(&x.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}

/// `C = 2 zeta sqrt(K m_eff)`, N s/m: the damping under which the mass on the spring has damping ratio
/// `ratio` (1: critical).
///
/// `m_eff` is the mass the contact feels in the direction of the spring: `m1 m2 / (m1 + m2)` for two free
/// bodies hitting centrally, `m` against a fixed one, and in general `1 / (w M^-1 w')` with `w` the
/// contact's row of the Jacobian.
pub fn damping_of_ratio(stiffness: f64, ratio: f64, effective_mass: f64) -> f64 {
    2.0 * ratio * (stiffness * effective_mass).sqrt()
}
