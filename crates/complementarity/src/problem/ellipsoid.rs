//! Ellipsoid of friction forces -> disc, by a change of units, and forces back.

use super::{Friction, FrictionProblem};
use crate::matrix::Matrix;
use crate::operator::{BlockMatrix, Operator};

/// A problem with ellipsoids written as one with discs: `lambda = E y` with `E = diag(1, e_k)` a contact, `A' = E A E`, `b' = E b`. The
/// slips `E s` are those of the new problem, and `|y_t| <= mu y_n` says that `lambda` is in the ellipsoid. Contacts with other sets stay as they are.
#[derive(Debug, Clone)]
pub struct AsDisc {
    /// The problem in `y`, without ellipsoids.
    pub problem: FrictionProblem,
    /// Diagonal of `E`.
    scale: Vec<f64>,
}

impl AsDisc {
    /// `lambda = E y`.
    pub fn forces(&self, y: &[f64]) -> Vec<f64> {
        y.iter().zip(&self.scale).map(|(y, e)| e * y).collect()
    }

    /// Diagonal of `E`.
    pub(crate) fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// `y` of forces, to start from; zero along rows without friction.
    pub fn unknowns(&self, lambda: &[f64]) -> Vec<f64> {
        lambda.iter().zip(&self.scale).map(|(l, &e)| if e > 0.0 { l / e } else { 0.0 }).collect()
    }
}

impl FrictionProblem {
    /// The problem with its ellipsoids scaled to discs; `None` if no contact has one, or numbers overflow. The residual of
    /// the original must be judged afresh: the two measure in different units.
    pub fn as_disc(&self) -> Option<AsDisc> {
        if self.axes().is_empty() {
            return None;
        }
        let rows = self.rows_per_contact();
        let scale: Vec<f64> = (0..self.contacts())
            .flat_map(|c| std::iter::once(1.0).chain(self.axes_of(c).iter().copied()))
            .collect();
        let a = self.matrix();
        let a = Matrix::from_fn(a.rows(), a.columns(), |i, j| scale[i] * a[(i, j)] * scale[j]);
        let a: Operator = match self.operator() {
            Operator::Dense(_) => a.into(),
            _ => Operator::Blocks(BlockMatrix::from_dense(&a, rows)),
        };
        let b = self.vector().iter().zip(&scale).map(|(b, e)| e * b).collect();
        let sets = (0..self.contacts()).map(|c| match self.friction_of(c) {
            Friction::Ellipsoid => Friction::Cone,
            other => other,
        });
        let problem = Self::new(a, b, self.mu().to_vec(), rows, Friction::Cone).ok()?;
        Some(AsDisc { problem: problem.with_frictions(sets.collect()).ok()?, scale })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residual::{Residual, friction};
    use crate::solver::cone_interior_point::ConeInteriorPoint;
    use proptest::prelude::*;

    fn solve(p: &FrictionProblem) -> (Vec<f64>, Residual) {
        let disc = p.as_disc().expect("an ellipsoid");
        let mut y = vec![0.0; p.size()];
        let mut solver = ConeInteriorPoint::default();
        solver.settings.tolerance = 1e-12;
        let outcome = solver.solve(disc.problem.as_cone().expect("a cone"), &mut y);
        assert!(outcome.residual.relative < 1e-9, "{outcome:?}");
        let lambda = disc.forces(&y);
        let residual = friction(p, &lambda);
        (lambda, residual)
    }

    /// A unit mass pressed with force 1 on a plane with axes 1 and 1/2 along t and o, and mu = 0.5: it sticks while the push is within the
    /// ellipse, and slips beyond it against the direction that the ellipse's normal gives.
    #[test]
    fn elliptic_friction_sticks_and_slips_by_its_axes() {
        let push = |t: f64, o: f64| {
            FrictionProblem::new(Matrix::identity(3), vec![-1.0, t, o], vec![0.5], 3, Friction::Ellipsoid)
                .unwrap()
                .with_axes(vec![1.0, 0.5])
                .unwrap()
        };
        let (lambda, r) = solve(&push(0.45, 0.0));
        assert!(r.absolute < 1e-9 && (lambda[1] + 0.45).abs() < 1e-9, "sticks along t: {lambda:?}");
        let (lambda, r) = solve(&push(0.0, 0.45));
        assert!(r.absolute < 1e-9 && (lambda[2] + 0.25).abs() < 1e-9, "slips along o: {lambda:?}");
        let (lambda, r) = solve(&push(1.0, 1.0));
        assert!(r.absolute < 1e-9, "{r:?}");
        // on the ellipse, and the slip is along its outward normal at -lambda
        assert!(((lambda[1] / 0.5).hypot(lambda[2] / 0.25) - 1.0).abs() < 1e-8);
        let slip = [1.0 + lambda[1], 1.0 + lambda[2]];
        assert!((slip[0] * lambda[2] / 0.25f64.powi(2) - slip[1] * lambda[1] / 0.5f64.powi(2)).abs() < 1e-8);
    }

    /// Torsion without friction along its axis: a spinning contact keeps spinning, whatever the push.
    #[test]
    fn axis_of_length_zero_has_no_friction() {
        let p = FrictionProblem::new(
            Matrix::identity(4),
            vec![-1.0, 0.1, 0.0, 3.0],
            vec![0.5],
            4,
            Friction::Ellipsoid,
        )
        .unwrap()
        .with_axes(vec![1.0, 1.0, 0.0])
        .unwrap();
        let (lambda, r) = solve(&p);
        assert!(r.absolute < 1e-9, "{r:?}");
        assert_eq!(lambda[3], 0.0);
        assert!((lambda[1] + 0.1).abs() < 1e-9);
    }

    #[test]
    fn impossible_ellipsoids_are_refused() {
        let p = |rows: usize| {
            let b = vec![0.0; rows];
            FrictionProblem::new(Matrix::identity(rows), b, vec![0.5], rows, Friction::Ellipsoid)
        };
        assert!(p(7).is_err());
        assert!(p(4).unwrap().with_axes(vec![1.0, 2.0]).is_err());
        assert!(p(3).unwrap().with_axes(vec![1.0, -2.0]).is_err());
        assert!(p(4).unwrap().with_friction(Friction::Pyramid).is_err());
        assert!(p(3).unwrap().as_polygon_lcp().is_err() && p(2).unwrap().as_slack_lcp().is_err());
        let sliding = vec![crate::problem::Mode::Sliding { direction: [1.0, 0.0] }];
        assert!(p(3).unwrap().with_modes(sliding).is_err());
    }

    proptest! {
        /// Random compliant problems of 2 to 6 rows a contact, solved as discs and judged as posed.
        #[test]
        fn scaled_to_discs_and_back_solves_the_ellipsoid(rows in 2usize..=6, contacts in 1usize..=4,
            numbers in prop::collection::vec(-1.0..1.0f64, 24 * 24 + 2 * 24)) {
            let n = rows * contacts;
            let root = |i: usize, j: usize| numbers[24 * i + j];
            let a = Matrix::from_fn(n, n, |i, j| {
                (0..n).map(|k| root(i, k) * root(j, k)).sum::<f64>() + if i == j { 0.1 } else { 0.0 }
            });
            let b = numbers[24 * 24..][..n].to_vec();
            let axes = numbers[24 * 24 + 24..][..n - contacts].iter().map(|x| 1.2 + x).collect();
            let p = FrictionProblem::new(a, b, vec![0.4; contacts], rows, Friction::Ellipsoid).unwrap().with_axes(axes).unwrap();
            let (_, r) = solve(&p);
            prop_assert!(r.relative < 1e-8, "{r:?}");
        }
    }
}
