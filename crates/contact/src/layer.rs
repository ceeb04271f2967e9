//! Soft layers over rigid cores (chakraborty2007 (10)-(13)): springs and dampers up to the layer's thickness, then the core.
//!
//! Layer by layer and direction by direction, with `theta` the explicit share of the step and `E = (1-theta) h K + C`,
//!
//! ```text
//! lambda = K (theta delta + (1-theta) delta+) + C (delta+ - delta)/h     =>     (delta+ - delta)/h = E^-1 (lambda - K delta)
//! ```
//!
//! Where that would compress the layer beyond its thickness, `delta_n+` is the thickness, and the core carries what the spring and damper
//! do not: `0 <= lambda_nr _|_ delta_max - delta_n+ >= 0` (13), `lambda_n = lambda_ns + lambda_nr` (10). (14) as corrected: the core's
//! impulse is no spring force. The layers of both bodies carry the same force, each with its own deformation.

use super::law::Law;

/// Layers of a contact at most: one for each body.
pub const MOST_LAYERS: usize = 2;

/// A soft layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layer {
    /// Normal and tangential stiffness, N/m.
    pub stiffness: [f64; 2],
    /// Normal and tangential damping, N s/m.
    pub damping: [f64; 2],
    /// Largest compression, m; infinite where there is no core.
    pub thickness: f64,
}

impl Layer {
    /// The layer that a law stands for; `None` for laws that are none.
    pub fn of(law: &Law) -> Option<Self> {
        match *law {
            Law::KelvinVoigt { stiffness, damping } => {
                Some(Self { stiffness, damping, thickness: f64::INFINITY })
            }
            Law::Layer { stiffness, damping, thickness } => Some(Self { stiffness, damping, thickness }),
            Law::Rigid
            | Law::Auto(_)
            | Law::HalfSpace { .. }
            | Law::HuntCrossley { .. }
            | Law::HertzMindlin { .. } => None,
        }
    }

    /// `K` of a direction: normal (0), tangential (1, 2).
    pub fn stiffness(&self, direction: usize) -> f64 {
        self.stiffness[direction.min(1)]
    }

    /// `C` of a direction.
    pub fn damping(&self, direction: usize) -> f64 {
        self.damping[direction.min(1)]
    }

    /// `E^-1` of a direction.
    pub fn e_inv(&self, direction: usize, (h, theta): (f64, f64)) -> f64 {
        1.0 / ((1.0 - theta) * h * self.stiffness(direction) + self.damping(direction))
    }

    /// Deformation after a step under the force `lambda`, without the core.
    pub fn after(&self, direction: usize, step: (f64, f64), delta: f64, lambda: f64) -> f64 {
        delta + step.0 * self.e_inv(direction, step) * (lambda - self.stiffness(direction) * delta)
    }

    /// Force of spring and damper for a deformation before and after a step.
    pub fn force(&self, direction: usize, (h, theta): (f64, f64), delta: f64, after: f64) -> f64 {
        self.stiffness(direction) * (theta * delta + (1.0 - theta) * after)
            + self.damping(direction) * (after - delta) / h
    }

    /// Energy of the springs, J.
    pub fn energy(&self, deformation: &[f64]) -> f64 {
        deformation.iter().enumerate().map(|(i, d)| 0.5 * self.stiffness(i) * d * d).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deformation_and_force_are_inverses() {
        let layer = Layer { stiffness: [36e3, 8e3], damping: [80.0, 40.0], thickness: 5e-3 };
        for theta in [0.0, 0.5] {
            for direction in 0..3 {
                let (step, delta) = ((1e-3, theta), 1.3e-3);
                let after = layer.after(direction, step, delta, 17.0);
                assert!((layer.force(direction, step, delta, after) - 17.0).abs() < 1e-10);
            }
        }
    }
}
