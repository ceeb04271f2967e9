//! Joints whose acceleration is given: the mass matrix of the others.

use super::instant::InvalidInstant;
use crate::dynamics::{MassMatrix, System};
use complementarity::matrix::Matrix;
use std::ops::Range;

/// Degrees of freedom with given accelerations, and the inverse of `M_uu` in the trees that have some.
#[derive(Debug, Clone)]
pub(super) struct Prescribed {
    /// Given acceleration of each degree of freedom.
    given: Vec<Option<f64>>,
    trees: Vec<Tree>,
}

#[derive(Debug, Clone)]
struct Tree {
    number: usize,
    dofs: Range<usize>,
    /// Degrees of freedom without a given acceleration.
    unknown: Vec<usize>,
    /// `M_uu^-1`; `None` if no acceleration of the tree is given.
    inverse: Option<Matrix>,
}

impl Prescribed {
    pub fn new(system: &System, mass: &MassMatrix, list: &[(usize, f64)]) -> Result<Self, InvalidInstant> {
        let count = system.velocity_size();
        let mut given = vec![None; count];
        for &(dof, value) in list {
            match given.get_mut(dof) {
                Some(slot) if slot.is_none() && value.is_finite() => *slot = Some(value),
                _ => return Err(InvalidInstant::Prescribed { dof, value, count }),
            }
        }
        let tree = |(number, dofs): (usize, Range<usize>)| {
            let unknown: Vec<usize> = dofs.clone().filter(|i| given[*i].is_none()).collect();
            let inverse = (unknown.len() < dofs.len()).then(|| {
                let n = unknown.len();
                let own = Matrix::from_fn(n, n, |i, j| mass.entry(unknown[i], unknown[j]));
                // a principal block of a positive definite matrix has an inverse
                own.solve(&Matrix::identity(n)).unwrap_or_default()
            });
            Tree { number, dofs, unknown, inverse }
        };
        let trees = mass.trees().map(tree).collect();
        Ok(Self { given, trees })
    }

    /// `x := M_uu^-1 x_u`, 0 where the acceleration is given.
    pub fn solve(&self, mass: &MassMatrix, x: &mut [f64]) {
        for tree in &self.trees {
            match &tree.inverse {
                None => mass.solve_tree(tree.number, &mut x[tree.dofs.clone()]),
                Some(inverse) => {
                    let own: Vec<f64> = tree.unknown.iter().map(|i| x[*i]).collect();
                    x[tree.dofs.clone()].fill(0.0);
                    for (k, &i) in tree.unknown.iter().enumerate() {
                        x[i] = complementarity::matrix::dot(inverse.row(k), &own);
                    }
                }
            }
        }
    }

    /// Turns the force `f` into accelerations: the given ones, and `M_uu^-1 (f_u - M_up q''_p)`.
    pub fn accelerate(&self, mass: &MassMatrix, f: &mut [f64]) {
        let known: Vec<f64> = self.given.iter().map(|g| g.unwrap_or(0.0)).collect();
        let mut carried = vec![0.0; f.len()];
        mass.multiply(&known, &mut carried);
        f.iter_mut().zip(&carried).for_each(|(f, m)| *f -= m);
        self.solve(mass, f);
        f.iter_mut().zip(&self.given).for_each(|(a, given)| *a = given.unwrap_or(*a));
    }
}
