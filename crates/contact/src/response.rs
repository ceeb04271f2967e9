//! Force of a contact law at a state, and its exact derivatives: what schemes that follow the force itself, and derivatives
//! of steps, take from a law.
//!
//! With `s(d)` the scale of a law at the overlap `d` (1 for Kelvin-Voigt and the half-space patch, `sqrt(d/R)` for Hertz and
//! Mindlin, 0 without overlap):
//!
//! ```text
//! F = s(d) (K delta + C delta')      dF/d delta = s K      dF/d delta' = s C      dF/dd = s'(d) (K delta + C delta')
//! ```
//!
//! Hunt and Crossley's law has no such scale; its explicit force is [`Patch::normal_force`].
//!
//! If the normal deformation is the overlap, `d = delta_n`, then `dF/dd` belongs to `dF/d delta`, in the column of
//! `delta_n`; under load alone that makes Hertz' `F_n = 4/3 E* sqrt(R) d^(3/2)` and its stiffness `3/2 F_n / d`.
//! The derivative of the tangential force by `delta_n` is part of it, and the tangent stiffness is not symmetric: Mindlin's
//! contact with `K_t(d) delta_t` is not elastic.

use super::compliance::Patch;
use complementarity::matrix::{Matrix, dot};

/// Overlap of the undeformed shapes at which a law that varies takes its stiffness and damping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Overlap {
    /// Given, m, and independent of the deformation: steps take that of the configuration they start from.
    Given(f64),
    /// The normal deformation.
    Deformation,
}

/// Force of a law at a state, and its derivatives. Rows as in [`Patch`]: element by element n, t(, o).
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// `F`, N.
    pub force: Vec<f64>,
    /// Tangent stiffness `dF/d delta`, N/m.
    pub stiffness: Matrix,
    /// Damping `dF/d delta'`, N s/m.
    pub damping: Matrix,
    /// `dF/dd`, N/m, by the overlap: 0 for laws that do not vary. With [`Overlap::Deformation`] it is contained in
    /// `stiffness`.
    pub by_overlap: Vec<f64>,
}

impl Response {
    /// Memory for a patch with this many rows.
    pub fn new(rows: usize) -> Self {
        let square = Matrix::zeros(rows, rows);
        Self {
            force: vec![0.0; rows],
            stiffness: square.clone(),
            damping: square,
            by_overlap: vec![0.0; rows],
        }
    }
}

impl Patch {
    /// Writes force, tangent stiffness and damping at the deformation `delta` (m) and its rate (m/s) into `out`; allocates
    /// nothing.
    ///
    /// # Panics
    /// If a slice or `out` has not [`Patch::rows`] rows.
    pub fn respond(&self, overlap: Overlap, delta: &[f64], rate: &[f64], out: &mut Response) {
        let rows = self.rows();
        assert!(delta.len() == rows && rate.len() == rows, "one entry per row of deformation");
        assert!(out.force.len() == rows, "memory for the rows of the patch");
        let d = match overlap {
            Overlap::Given(d) => d,
            Overlap::Deformation => delta.first().copied().unwrap_or(0.0),
        };
        let [scale, slope] = self.scale(d);
        let (k, c) = (self.stiffness(), self.damping());
        for i in 0..rows {
            let sum = dot(k.row(i), delta) + dot(c.row(i), rate);
            out.force[i] = scale * sum;
            out.by_overlap[i] = slope * sum;
            for j in 0..rows {
                out.stiffness[(i, j)] = scale * k[(i, j)];
                out.damping[(i, j)] = scale * c[(i, j)];
            }
            if overlap == Overlap::Deformation {
                out.stiffness[(i, 0)] += out.by_overlap[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compliance, Directions, FrictionRule, Influence, Law, Material, Pair, PatchDamping};
    use std::sync::Arc;

    const E: f64 = 3e6;
    const NU: f64 = 0.3;

    fn pair() -> Pair {
        let soft = Material { young: E, poisson: NU, friction: 0.5 };
        Pair::new(&soft, &Material::rigid(0.5), FrictionRule::default()).unwrap()
    }

    fn laws() -> [Law; 4] {
        let patch = |damping| Law::HalfSpace {
            elements: 3,
            spacing: 1e-3,
            influence: Influence::Rectangle,
            damping,
            transport: true,
        };
        [
            Law::KelvinVoigt { stiffness: [2e4, 1e4], damping: [30.0, 7.0] },
            patch(PatchDamping::Root),
            patch(PatchDamping::Proportional { time: 1e-3 }),
            Law::HertzMindlin { radius: 0.02, time: 2e-3 },
        ]
    }

    fn respond(patch: &Patch, overlap: Overlap, delta: &[f64], rate: &[f64]) -> Response {
        let mut out = Response::new(patch.rows());
        // what stood there before must not matter
        out.force.fill(f64::NAN);
        out.by_overlap.fill(f64::NAN);
        for i in 0..patch.rows() {
            out.stiffness.row_mut(i).fill(f64::NAN);
            out.damping.row_mut(i).fill(f64::NAN);
        }
        patch.respond(overlap, delta, rate, &mut out);
        out
    }

    #[test]
    fn derivatives_are_those_of_the_force_for_every_law() {
        for law in laws() {
            for directions in [Directions::Planar, Directions::Spatial] {
                let patch = Patch::new(&law, &pair(), directions).unwrap();
                let n = patch.rows();
                assert_eq!(n, law.rows(directions));
                let delta: Vec<f64> = (0..n).map(|i| 1e-4 * (1.0 + (1.7 * i as f64).sin().abs())).collect();
                let rate: Vec<f64> = (0..n).map(|i| 1e-2 * (2.3 * i as f64 + 1.0).cos()).collect();
                for overlap in [Overlap::Given(3e-4), Overlap::Deformation] {
                    let at = respond(&patch, overlap, &delta, &rate);
                    let size = at.force.iter().fold(0.0f64, |m, f| m.max(f.abs()));
                    let near = |exact: f64, plus: f64, minus: f64, step: f64| {
                        let error = exact * 2.0 * step - (plus - minus);
                        assert!(error.abs() < 1e-8 * size, "{law:?} {overlap:?}: {error:e} of {size:e}");
                    };
                    for j in 0..n {
                        for (which, step) in [(0, 1e-7), (1, 1e-5)] {
                            let [plus, minus] = [step, -step].map(|by| {
                                let (mut d, mut r) = (delta.clone(), rate.clone());
                                *(if which == 0 { &mut d[j] } else { &mut r[j] }) += by;
                                respond(&patch, overlap, &d, &r).force
                            });
                            let exact = if which == 0 { &at.stiffness } else { &at.damping };
                            (0..n).for_each(|i| near(exact[(i, j)], plus[i], minus[i], step));
                        }
                    }
                    if let Overlap::Given(d) = overlap {
                        let [plus, minus] = [1e-7, -1e-7]
                            .map(|by| respond(&patch, Overlap::Given(d + by), &delta, &rate).force);
                        (0..n).for_each(|i| near(at.by_overlap[i], plus[i], minus[i], 1e-7));
                    }
                }
            }
        }
    }

    #[test]
    fn a_pressed_sphere_has_hertz_force_and_stiffness_and_the_derivative_of_its_energy() {
        let (radius, d) = (0.02, 3e-4);
        let law = Law::HertzMindlin { radius, time: 0.0 };
        let patch = Patch::new(&law, &pair(), Directions::Spatial).unwrap();
        let e_star = E / (1.0 - NU * NU);
        let f = 4.0 / 3.0 * e_star * f64::sqrt(radius) * d * d.sqrt();
        let at = respond(&patch, Overlap::Deformation, &[d, 0.0, 0.0], &[0.0; 3]);
        assert!((at.force[0] / f - 1.0).abs() < 1e-14 && at.force[1] == 0.0);
        assert!((at.stiffness[(0, 0)] / (1.5 * f / d) - 1.0).abs() < 1e-14);
        let compliance = Compliance::new(Arc::new(patch.clone()), 1e-3).unwrap();
        let energy = |d: f64| compliance.elastic_energy(&[d, 0.0, 0.0]);
        let slope = (energy(d + 1e-7) - energy(d - 1e-7)) / 2e-7;
        assert!((slope / at.force[0] - 1.0).abs() < 1e-6);
        // nothing without overlap, however fast
        let off = respond(&patch, Overlap::Deformation, &[-d, d, 0.0], &[1.0; 3]);
        assert!(off.force.iter().chain(off.stiffness.data()).chain(off.damping.data()).all(|&x| x == 0.0));
    }

    #[test]
    fn laws_are_named_and_described_as_in_scenes() {
        let laws = laws();
        let names = laws.each_ref().map(Law::name);
        assert_eq!(names, ["kelvin_voigt", "half_space", "half_space", "hertz_mindlin"]);
        assert_eq!(
            laws.each_ref().map(Law::describe),
            [
                "Kelvin-Voigt (stiffness 20000, 10000 N/m, damping 30, 7 N s/m)",
                "half-space patch (3 a side, 1e-3 m apart, rectangles, damping 2 sqrt(K))",
                "half-space patch (3 a side, 1e-3 m apart, rectangles, damping 0.001 s K)",
                "Hertz-Mindlin (radius 0.02 m, damping 0.002 s K)",
            ]
        );
        assert_eq!(laws.each_ref().map(|l| l.elements(Directions::Spatial)), [1, 9, 9, 1]);
        assert_eq!(laws.each_ref().map(|l| l.rows(Directions::Planar)), [2, 6, 6, 2]);
        let rigid = (Law::Rigid.name(), Law::Rigid.describe(), Law::Rigid.rows(Directions::Spatial));
        assert_eq!(rigid, ("rigid", "rigid".to_owned(), 0));
    }
}
