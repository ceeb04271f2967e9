//! A strictly feasible point of an LCP.

use super::{Feasibility, Maximum, Program, System};
use crate::matrix::Matrix;
use crate::outcome::Budget;
use crate::problem::Lcp;
use crate::scaling;

/// A point with `z > 0` and `M z + q > 0`: in units scaled so that `M` and `q` are near 1, the largest `t <= 1`
/// with `z >= t`, `M z + q >= t`. `None` if that `t` is not above zero, or the budget ended the search.
pub(crate) fn strictly_feasible(problem: &Lcp, budget: &mut Budget) -> Option<Vec<f64>> {
    let n = problem.size();
    let (mut d, mut scratch) = (vec![], vec![]);
    scaling::symmetric(problem.matrix(), &mut d, &mut scratch);
    let size = (0..n).fold(0.0f64, |m, i| m.max((d[i] * problem.vector()[i]).abs()));
    let unit = if size > 0.0 { size } else { 1.0 };
    // z = z' + t, t = 1 - s: w' = M z' + (M e - e) (1 - s) + q
    let mut system = System { m: Matrix::zeros(n, n + 1), q: vec![0.0; n] };
    for i in 0..n {
        let row = system.m.row_mut(i);
        for j in 0..n {
            row[j] = d[i] * problem.matrix()[(i, j)] * d[j];
        }
        let rise = row[..n].iter().sum::<f64>() - 1.0;
        row[n] = -rise;
        system.q[i] = rise + d[i] * problem.vector()[i] / unit;
    }
    let mut program = Program::default();
    program.start(&system);
    if program.dual(&system, budget) != Feasibility::Feasible {
        return None;
    }
    let s = n + 1 + n;
    if program.maximise(&system, budget, |v| if v == s { -1.0 } else { 0.0 }) != Maximum::Optimal {
        return None;
    }
    let t = 1.0 - program.value(s);
    let mut z = vec![];
    program.point(&mut z);
    z.truncate(n);
    for (z, d) in z.iter_mut().zip(&d) {
        *z = (z.max(0.0) + t) * unit * d;
    }
    let inside = t > 0.0 && z.iter().chain(&problem.slack(&z)).all(|&x| x > 0.0 && x.is_finite());
    inside.then_some(z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strictly_feasible_point_is_found_or_there_is_none() {
        let m = Matrix::from_rows(&[&[2.0, -1.0], &[-1.0, 2e6]]);
        let p = Lcp::new(m, vec![-3.0, -50.0]).unwrap();
        let z = strictly_feasible(&p, &mut Budget::default()).unwrap();
        assert!(z.iter().chain(&p.slack(&z)).all(|&x| x > 0.0));
        let none = Lcp::new(Matrix::from_rows(&[&[-1.0]]), vec![-1.0]).unwrap();
        assert_eq!(strictly_feasible(&none, &mut Budget::default()), None);
        let touching = Lcp::new(Matrix::from_rows(&[&[0.0]]), vec![0.0]).unwrap();
        assert_eq!(strictly_feasible(&touching, &mut Budget::default()), None);
        let empty = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap();
        assert_eq!(strictly_feasible(&empty, &mut Budget::default()), Some(vec![]));
    }

    #[test]
    fn strictly_feasible_agrees_with_a_known_interior() {
        // random M, q = 1 - M e: z = e has w = e
        let mut random = Program::default();
        for n in [1, 3, 10, 40] {
            for _ in 0..5 {
                let m = Matrix::from_fn(n, n, |_, _| 4.0 * (random.draw() - 1.0));
                let q = m.times(&vec![1.0; n]).iter().map(|x| 1.0 - x).collect();
                let lcp = Lcp::new(m, q).unwrap();
                assert!(strictly_feasible(&lcp, &mut Budget::default()).is_some(), "n = {n}");
            }
        }
    }
}
