//! Stiffness `K`, damping `C` and the step's blocks `E^-1 = (h K + C)^-1` and `E^-1 K` of a contact law.
//!
//! Every law is held as modes: `K = U diag(k) U'`, `C = U diag(c) U'`. Then
//!
//! ```text
//! E^-1 = U diag(1/(h k + c)) U'        E^-1 K = U diag(k/(h k + c)) U'
//! ```
//!
//! For the half-space `Xi = U diag(xi) U'` is decomposed once, `k = 1/xi` and `c = 2/sqrt(xi)`
//! (song2004 2.2) or `c = time/xi`. For Kelvin-Voigt `U = I`. A rigid contact has no rows.
//!
//! Symbols: `delta` deformation, `lambda` force, `h` step; rows element by element n, t(, o).

use super::half_space::{Directions, Grid, compliance_matrix};
use super::invalid::{InvalidContact, check};
use super::law::{Influence, Law, MOST_ROWS, PatchDamping};
use super::material::Pair;
use complementarity::eigen::symmetric_eigen;
use complementarity::matrix::{Matrix, dot};
use std::sync::Arc;

/// The smallest eigenvalue of a compliance matrix must be above this share of the largest: below, `K` has
/// no digits left.
const LEAST_EIGENVALUE: f64 = 1e-13;

/// Stiffness and damping of one kind of contact, independent of the step. Built once for all contacts
/// with one law and one pair of materials.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    grid: Grid,
    /// `U`, and per mode `k` and `c`.
    vectors: Matrix,
    k: Vec<f64>,
    c: Vec<f64>,
    stiffness: Matrix,
    damping: Matrix,
}

impl Patch {
    /// The patch of a law between two materials. The pair matters to [`Law::HalfSpace`] alone.
    pub fn new(law: &Law, pair: &Pair, directions: Directions) -> Result<Self, InvalidContact> {
        law.validate()?;
        let grid = law.grid(directions);
        let (vectors, k, c) = match *law {
            Law::Rigid => (Matrix::zeros(0, 0), Vec::new(), Vec::new()),
            Law::KelvinVoigt { stiffness, damping } => {
                let rows = directions.count();
                let each = |[n, t]: [f64; 2]| (0..rows).map(|a| if a == 0 { n } else { t }).collect();
                (Matrix::identity(rows), each(stiffness), each(damping))
            }
            Law::HalfSpace { influence, damping, .. } => {
                let (xi, vectors) = decompose(&grid, pair, influence)?;
                let k: Vec<f64> = xi.iter().map(|xi| 1.0 / xi).collect();
                let c = match damping {
                    PatchDamping::Root => k.iter().map(|k| 2.0 * k.sqrt()).collect(),
                    PatchDamping::Proportional { time } => k.iter().map(|k| time * k).collect(),
                };
                (vectors, k, c)
            }
        };
        let (mut stiffness, mut damping) = (Matrix::zeros(k.len(), k.len()), Matrix::zeros(k.len(), k.len()));
        let mut scaled = vec![0.0; k.len()];
        from_modes(&vectors, |m| k[m], &mut scaled, &mut stiffness);
        from_modes(&vectors, |m| c[m], &mut scaled, &mut damping);
        Ok(Self { grid, vectors, k, c, stiffness, damping })
    }

    /// The elements and where they are.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Rows of deformation: 0 for a rigid contact.
    pub fn rows(&self) -> usize {
        self.k.len()
    }

    /// `K`, N/m.
    pub fn stiffness(&self) -> &Matrix {
        &self.stiffness
    }

    /// `C`, N s/m.
    pub fn damping(&self) -> &Matrix {
        &self.damping
    }
}

/// A patch at a step `h`: what the contact problem takes from it. Nothing here allocates after `new`.
#[derive(Debug, Clone, PartialEq)]
pub struct Compliance {
    patch: Arc<Patch>,
    h: f64,
    e_inv: Matrix,
    e_inv_k: Matrix,
    scaled: Vec<f64>,
}

impl Compliance {
    /// The blocks at step `h`.
    pub fn new(patch: Arc<Patch>, h: f64) -> Result<Self, InvalidContact> {
        let n = patch.rows();
        let (e_inv, e_inv_k) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        let mut new = Self { patch, h: f64::NAN, e_inv, e_inv_k, scaled: vec![0.0; n] };
        new.update(h).map(|()| new)
    }

    /// Goes to another step; at the same one nothing is done. On an error the old step stays.
    pub fn update(&mut self, h: f64) -> Result<(), InvalidContact> {
        check("step", h, "above 0 and finite", |h| h > 0.0 && h.is_finite())?;
        if h == self.h {
            return Ok(());
        }
        self.h = h;
        let Patch { vectors, k, c, .. } = &*self.patch;
        from_modes(vectors, |m| 1.0 / (h * k[m] + c[m]), &mut self.scaled, &mut self.e_inv);
        from_modes(vectors, |m| k[m] / (h * k[m] + c[m]), &mut self.scaled, &mut self.e_inv_k);
        Ok(())
    }

    /// The patch, with `K`, `C` and places of elements.
    pub fn patch(&self) -> &Patch {
        &self.patch
    }

    /// The step `h`, s.
    pub fn step(&self) -> f64 {
        self.h
    }

    /// Rows of deformation: 0 for a rigid contact.
    pub fn rows(&self) -> usize {
        self.patch.rows()
    }

    /// `E^-1 = (h K + C)^-1`, m/(N s).
    pub fn e_inv(&self) -> &Matrix {
        &self.e_inv
    }

    /// `E^-1 K`, 1/s.
    pub fn e_inv_k(&self) -> &Matrix {
        &self.e_inv_k
    }

    /// `K delta`.
    ///
    /// # Panics
    /// If a slice has not [`Compliance::rows`] entries (as do the other functions that take slices).
    pub fn stiffness_times(&self, delta: &[f64], force: &mut [f64]) {
        product(&self.patch.stiffness, delta, force);
    }

    /// `C delta'`.
    pub fn damping_times(&self, rate: &[f64], force: &mut [f64]) {
        product(&self.patch.damping, rate, force);
    }

    /// `1/2 delta' K delta`, J.
    pub fn elastic_energy(&self, delta: &[f64]) -> f64 {
        assert_eq!(delta.len(), self.rows(), "one entry a row of deformation");
        0.5 * (0..self.rows()).map(|i| delta[i] * dot(self.patch.stiffness.row(i), delta)).sum::<f64>()
    }

    /// `delta+ = delta + h E^-1 (lambda - K delta)`: the deformation after a step under `lambda`.
    pub fn deformation_after(&self, lambda: &[f64], delta: &[f64], after: &mut [f64]) {
        let n = self.rows();
        assert!(lambda.len() == n && delta.len() == n && after.len() == n, "one entry a row of deformation");
        for i in 0..n {
            // E^-1 K delta, not E^-1 (K delta): the stiffness never multiplies rounding
            let rate = dot(self.e_inv.row(i), lambda) - dot(self.e_inv_k.row(i), delta);
            after[i] = delta[i] + self.h * rate;
        }
    }
}

/// Eigenvalues and vectors of `Xi`, once its size is known to be in range.
fn decompose(grid: &Grid, pair: &Pair, influence: Influence) -> Result<(Vec<f64>, Matrix), InvalidContact> {
    let edge = match grid.directions {
        Directions::Planar => grid.elements,
        Directions::Spatial => grid.elements.saturating_mul(grid.elements),
    };
    let rows = edge.saturating_mul(grid.directions.count());
    if rows == 0 || rows > MOST_ROWS {
        return Err(InvalidContact::Elements { elements: grid.elements, rows, most: MOST_ROWS });
    }
    if pair.normal == 0.0 {
        return Err(InvalidContact::NeitherDeforms);
    }
    let (values, vectors) = symmetric_eigen(&compliance_matrix(grid, pair, influence))
        .ok_or(InvalidContact::NotPositive { smallest: f64::NAN, largest: f64::NAN })?;
    let (smallest, largest) = (values[0], values[rows - 1]);
    if smallest > LEAST_EIGENVALUE * largest {
        Ok((values, vectors))
    } else {
        Err(InvalidContact::NotPositive { smallest, largest })
    }
}

/// `out = U diag(d) U'`, symmetric to the bit.
fn from_modes(u: &Matrix, d: impl Fn(usize) -> f64, scaled: &mut [f64], out: &mut Matrix) {
    for i in 0..u.rows() {
        for (m, (s, u)) in scaled.iter_mut().zip(u.row(i)).enumerate() {
            *s = d(m) * u;
        }
        for j in 0..=i {
            let entry = dot(scaled, u.row(j));
            out[(i, j)] = entry;
            out[(j, i)] = entry;
        }
    }
}

/// `out = a x`.
fn product(a: &Matrix, x: &[f64], out: &mut [f64]) {
    assert!(x.len() == a.columns() && out.len() == a.rows(), "one entry a row of deformation");
    for (i, o) in out.iter_mut().enumerate() {
        *o = dot(a.row(i), x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{FrictionRule, Influence, Material, damping_of_ratio};

    fn pair(young: f64) -> Pair {
        let soft = Material { young, poisson: 0.3, friction: 0.5 };
        Pair::new(&soft, &Material::rigid(0.5), FrictionRule::default()).unwrap()
    }

    fn half_space(elements: usize, damping: PatchDamping) -> Law {
        Law::HalfSpace { elements, spacing: 1e-6, influence: Influence::Rectangle, damping }
    }

    fn compliance(law: &Law, young: f64, directions: Directions, h: f64) -> Compliance {
        Compliance::new(Arc::new(Patch::new(law, &pair(young), directions).unwrap()), h).unwrap()
    }

    fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
        Matrix::from_fn(a.rows(), b.columns(), |i, j| (0..a.columns()).map(|k| a[(i, k)] * b[(k, j)]).sum())
    }

    /// `|a - b|` at most `tolerance` times the largest entry of `b`.
    fn assert_near(a: &Matrix, b: &Matrix, tolerance: f64) {
        let size = b.data().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let error = a.data().iter().zip(b.data()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(error <= tolerance * size, "error {error:e}, size {size:e}");
    }

    /// The laws the products below are checked for; moduli from jelly to song2004's `eps = 1e-11`.
    fn each_law(check: impl Fn(&Law, f64, Directions)) {
        let dampings = [PatchDamping::Root, PatchDamping::Proportional { time: 1e-3 }];
        for young in [1e3, 1e9, 1e11] {
            for damping in dampings {
                check(&half_space(3, damping), young, Directions::Planar);
                check(&half_space(4, damping), young, Directions::Spatial);
            }
            let kv = Law::KelvinVoigt { stiffness: [young, 0.5 * young], damping: [3.0, 0.0] };
            check(&kv, young, Directions::Planar);
            check(&kv, young, Directions::Spatial);
        }
    }

    #[test]
    fn the_blocks_are_the_inverse_of_h_k_plus_c_and_that_times_k() {
        each_law(|law, young, directions| {
            for h in [1e-6, 1e-4, 1e-2] {
                let c = compliance(law, young, directions, h);
                let (k, d) = (c.patch().stiffness(), c.patch().damping());
                let e = Matrix::from_fn(c.rows(), c.rows(), |i, j| h * k[(i, j)] + d[(i, j)]);
                assert_near(&multiply(c.e_inv(), &e), &Matrix::identity(c.rows()), 1e-12);
                assert_near(&multiply(c.e_inv(), k), c.e_inv_k(), 1e-12);
            }
        });
    }

    #[test]
    fn stiffness_inverts_the_compliance_and_root_damping_squares_to_four_times_it() {
        for young in [1e3, 1e11] {
            for (n, directions) in [(3, Directions::Planar), (5, Directions::Spatial)] {
                let patch = Patch::new(&half_space(n, PatchDamping::Root), &pair(young), directions).unwrap();
                let xi = compliance_matrix(patch.grid(), &pair(young), Influence::Rectangle);
                assert_near(&multiply(patch.stiffness(), &xi), &Matrix::identity(xi.rows()), 1e-12);
                let four = Matrix::from_fn(xi.rows(), xi.rows(), |i, j| 4.0 * patch.stiffness()[(i, j)]);
                assert_near(&multiply(patch.damping(), patch.damping()), &four, 1e-12);
            }
        }
    }

    #[test]
    fn a_step_of_deformation_obeys_the_law_and_a_steady_force_ends_at_its_static_deformation() {
        each_law(|law, young, directions| {
            let h = 1e-3;
            let mut c = compliance(law, young, directions, h);
            let n = c.rows();
            let lambda: Vec<f64> = (0..n).map(|i| 1.0 + (i * 7 % 5) as f64).collect();
            let (mut delta, mut after) = (vec![0.0; n], vec![0.0; n]);
            let (mut elastic, mut viscous) = (vec![0.0; n], vec![0.0; n]);
            for _ in 0..3 {
                c.deformation_after(&lambda, &delta, &mut after);
                let rate: Vec<f64> = after.iter().zip(&delta).map(|(a, d)| (a - d) / h).collect();
                c.stiffness_times(&after, &mut elastic);
                c.damping_times(&rate, &mut viscous);
                for i in 0..n {
                    let law = elastic[i] + viscous[i];
                    assert!((law - lambda[i]).abs() < 1e-9, "row {i}: {law}, {}", lambda[i]);
                }
                delta.copy_from_slice(&after);
            }
            // soft elements under root damping need minutes to settle
            c.update(100.0).unwrap();
            for _ in 0..200 {
                c.deformation_after(&lambda, &delta, &mut after);
                delta.copy_from_slice(&after);
            }
            c.stiffness_times(&delta, &mut elastic);
            for i in 0..n {
                assert!((elastic[i] - lambda[i]).abs() < 1e-8, "row {i}: {}, {}", elastic[i], lambda[i]);
            }
            // the work of a force that grows slowly
            let work = 0.5 * dot(&lambda, &delta);
            assert!((c.elastic_energy(&delta) / work - 1.0).abs() < 1e-8);
        });
    }

    #[test]
    fn going_to_a_step_and_back_gives_the_same_blocks() {
        let law = half_space(3, PatchDamping::Root);
        let mut c = compliance(&law, 1e10, Directions::Spatial, 1e-4);
        let before = c.clone();
        c.update(1e-3).unwrap();
        assert_eq!(c, compliance(&law, 1e10, Directions::Spatial, 1e-3));
        c.update(1e-4).unwrap();
        assert_eq!(c, before);
        assert!(c.update(0.0).is_err() && c.update(f64::NAN).is_err());
        assert_eq!(c, before);
    }

    #[test]
    fn a_rigid_contact_has_no_rows_and_a_stiff_one_comes_near_it() {
        let rigid = compliance(&Law::Rigid, 1e10, Directions::Spatial, 1e-3);
        assert_eq!((rigid.rows(), rigid.e_inv().rows(), rigid.patch().grid().count()), (0, 0, 1));
        assert_eq!(rigid.elastic_energy(&[]), 0.0);
        let stiff = Law::KelvinVoigt { stiffness: [1e15; 2], damping: [0.0; 2] };
        let stiff = compliance(&stiff, 1e10, Directions::Planar, 1e-3);
        assert!(stiff.e_inv()[(0, 0)] < 1.001e-12 && stiff.e_inv()[(0, 1)] == 0.0);
    }

    #[test]
    fn damping_ratio_one_is_the_border_of_oscillation() {
        let (k, m) = (4e4, 2.5);
        for ratio in [0.1, 0.999, 1.001, 3.0] {
            let c = damping_of_ratio(k, ratio, m);
            // discriminant of m s^2 + c s + k
            assert_eq!(c * c - 4.0 * m * k < 0.0, ratio < 1.0);
        }
        let law = Law::kelvin_voigt([k, k], 0.5, m).unwrap();
        let half = 0.5 * damping_of_ratio(k, 1.0, m);
        assert_eq!(law, Law::KelvinVoigt { stiffness: [k; 2], damping: [half; 2] });
        assert!(Law::kelvin_voigt([k, k], 0.5, 0.0).is_err() && Law::kelvin_voigt([k, -k], 0.5, m).is_err());
    }

    #[test]
    fn bad_laws_are_errors_that_name_the_field_and_the_value() {
        let kv = |stiffness, damping| Law::KelvinVoigt { stiffness, damping };
        let spaced = |spacing| Law::HalfSpace {
            elements: 3,
            spacing,
            influence: Influence::Rectangle,
            damping: PatchDamping::Root,
        };
        let cases = [
            (kv([-1.0, 1.0], [0.0; 2]), "normal stiffness is -1, expected at least 0 and finite"),
            (
                kv([1.0, 0.0], [1.0, 0.0]),
                "tangential stiffness is 0, expected above 0 where the damping is 0",
            ),
            (
                kv([1.0, 1.0], [0.0, f64::INFINITY]),
                "tangential damping is inf, expected at least 0 and finite",
            ),
            (spaced(0.0), "spacing is 0, expected above 0 and finite"),
            (half_space(0, PatchDamping::Root), "elements is 0: 0 rows of deformation, expected 1 to 5000"),
            (
                half_space(100, PatchDamping::Root),
                "elements is 100: 30000 rows of deformation, expected 1 to 5000",
            ),
            (
                half_space(3, PatchDamping::Proportional { time: -1.0 }),
                "damping time is -1, expected at least 0 and finite",
            ),
        ];
        for (law, message) in cases {
            let error = Patch::new(&law, &pair(1e9), Directions::Spatial).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        let none = Pair::new(&Material::rigid(0.5), &Material::rigid(0.5), FrictionRule::default()).unwrap();
        let law = half_space(usize::MAX, PatchDamping::Root);
        assert!(matches!(
            Patch::new(&law, &none, Directions::Spatial),
            Err(InvalidContact::Elements { rows: usize::MAX, .. })
        ));
        assert_eq!(
            Patch::new(&half_space(3, PatchDamping::Root), &none, Directions::Spatial),
            Err(InvalidContact::NeitherDeforms)
        );
    }
}
