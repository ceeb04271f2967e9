//! The contact problem at an instant, trinkle1995 sections 2 and 3: accelerations `a = A c + b` and forces `c`,
//! where each contact is known to roll or to slide.
//!
//! Each group of rows has its own law. The friction of sliding contacts is eliminated, (24)-(26); that of
//! rolling contacts is bounded by a box (the pyramid, (15), with one more interval for each moment of a soft
//! finger), which makes the problem a mixed LCP, (32)-(35) with complementarity between accelerations and slacks.

use super::{Converted, InvalidProblem, MixedLcp, check_square, check_vector};
use crate::matrix::Matrix;
use std::ops::Range;

/// Law of the rows of one group.
#[derive(Debug, Clone, PartialEq)]
pub enum Group {
    /// A contact at rest tangentially: `0 <= c_n _|_ a_n >= 0`, and friction unknown within `mu c_n`.
    Rolling {
        /// Friction coefficient.
        mu: f64,
        /// Semi-axes of friction for `mu c_n = 1`, one for each row after the first: 1 for forces, a length (m) for moments.
        axes: Vec<f64>,
    },
    /// A contact that slides: `0 <= c_n _|_ a_n >= 0`, and the force is `c_n` times the ray; the tangential
    /// acceleration is free.
    Sliding {
        /// Force for `c_n = 1`, row by row; the first entry is 1.
        ray: Vec<f64>,
    },
    /// One row, `0 <= c _|_ a >= 0`.
    Unilateral,
    /// One row at rest, `|c| <= limit`, against `a` at the bound.
    Bounded {
        /// Largest force.
        limit: f64,
    },
    /// One row, `a = 0`.
    Bilateral,
}

impl Group {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Rolling { axes, .. } => 1 + axes.len(),
            Self::Sliding { ray } => ray.len(),
            _ => 1,
        }
    }

    fn fault(&self) -> Option<(&'static str, f64, &'static str)> {
        let wrong = |x: &f64| !(x.is_finite() && *x >= 0.0);
        match self {
            Self::Rolling { mu, .. } if wrong(mu) => Some(("mu", *mu, "a coefficient >= 0")),
            Self::Rolling { axes, .. } => {
                axes.iter().find(|e| wrong(e)).map(|e| ("axes", *e, "a semi-axis >= 0"))
            }
            Self::Sliding { ray } if ray.first() != Some(&1.0) => {
                Some(("ray", ray.first().copied().unwrap_or(f64::NAN), "1 along the normal"))
            }
            Self::Sliding { ray } => {
                ray.iter().find(|x| !x.is_finite()).map(|x| ("ray", *x, "a finite number"))
            }
            Self::Bounded { limit } if wrong(limit) => Some(("limit", *limit, "a force >= 0")),
            _ => None,
        }
    }
}

/// Displacements `u` without inertia that the rows depend on: `a = A c + b + B u`, `K u = B' c + f`.
#[derive(Debug, Clone, PartialEq)]
pub struct Border {
    /// `B`, one row for each row of the problem.
    pub jacobian: Matrix,
    /// `K`, symmetric and positive semidefinite.
    pub stiffness: Matrix,
    /// `f`.
    pub load: Vec<f64>,
}

/// Forces `c` and accelerations `a = A c + b` of groups of rows, each under its law ([`Group`]).
#[derive(Debug, Clone, PartialEq)]
pub struct InstantProblem {
    a: Matrix,
    b: Vec<f64>,
    groups: Vec<Group>,
    offsets: Vec<usize>,
    border: Option<Border>,
}

/// The unknown forces of a problem without the friction of sliding contacts, (24).
#[derive(Debug, Clone)]
pub struct Reduced {
    /// First unknown of each group, and their number.
    pub offsets: Vec<usize>,
    /// Row of the problem that belongs to each unknown.
    pub rows: Vec<usize>,
    /// `c = R x`.
    pub expand: Matrix,
}

impl InstantProblem {
    /// `A` must be square with as many rows as the groups together.
    pub fn new(a: Matrix, b: Vec<f64>, groups: Vec<Group>) -> Result<Self, InvalidProblem> {
        check_square("A", &a)?;
        check_vector("b", &b, a.rows())?;
        let mut offsets = vec![0];
        for (index, group) in groups.iter().enumerate() {
            if let Some((part, value, expected)) = group.fault() {
                return Err(InvalidProblem::VectorEntry { part, index, value, expected });
            }
            offsets.push(offsets[index] + group.rows());
        }
        let rows = offsets[groups.len()];
        if rows != b.len() {
            return Err(InvalidProblem::Size { part: "b", found: b.len(), expected: rows });
        }
        Ok(Self { a, b, groups, offsets, border: None })
    }

    /// The same problem with displacements beside the forces.
    pub fn with_border(mut self, border: Border) -> Result<Self, InvalidProblem> {
        check_square("K", &border.stiffness)?;
        check_vector("f", &border.load, border.stiffness.rows())?;
        let expected = (self.b.len(), border.load.len());
        if (border.jacobian.rows(), border.jacobian.columns()) != expected {
            let found = border.jacobian.rows();
            return Err(InvalidProblem::Size { part: "B", found, expected: expected.0 });
        }
        check_vector("B", border.jacobian.data(), border.jacobian.data().len())?;
        self.border = Some(border);
        Ok(self)
    }

    /// `A`.
    pub fn matrix(&self) -> &Matrix {
        &self.a
    }

    /// `b`.
    pub fn vector(&self) -> &[f64] {
        &self.b
    }

    /// The groups of rows.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Displacements beside the forces.
    pub fn border(&self) -> Option<&Border> {
        self.border.as_ref()
    }

    /// Rows of a group.
    pub fn rows_of(&self, group: usize) -> Range<usize> {
        self.offsets[group]..self.offsets[group + 1]
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.b.len()
    }

    /// Whether a contact slides.
    pub fn slides(&self) -> bool {
        self.groups.iter().any(|g| matches!(g, Group::Sliding { .. }))
    }

    /// Whether the pyramid and the cone of every contact are the same.
    pub fn is_polyhedral(&self) -> bool {
        self.groups.iter().all(|g| match g {
            Group::Rolling { mu, axes } => axes.iter().filter(|e| **e > 0.0).count() <= 1 || *mu == 0.0,
            _ => true,
        })
    }

    /// `a = A c + b + B u`.
    pub fn accelerations(&self, forces: &[f64], displacements: &[f64]) -> Vec<f64> {
        let mut a = self.a.times(forces);
        a.iter_mut().zip(&self.b).for_each(|(a, b)| *a += b);
        if let Some(border) = &self.border {
            a.iter_mut().zip(border.jacobian.times(displacements)).for_each(|(a, x)| *a += x);
        }
        a
    }

    /// The unknown forces: of sliding contacts the normal one alone, of others all rows.
    pub fn reduced(&self) -> Reduced {
        let (mut offsets, mut rows) = (vec![0], vec![]);
        for (k, group) in self.groups.iter().enumerate() {
            let own = self.rows_of(k);
            let count = if matches!(group, Group::Sliding { .. }) { 1 } else { own.len() };
            rows.extend(own.take(count));
            offsets.push(rows.len());
        }
        let mut expand = Matrix::zeros(self.size(), rows.len());
        for (x, &row) in rows.iter().enumerate() {
            expand[(row, x)] = 1.0;
        }
        for (k, group) in self.groups.iter().enumerate() {
            if let Group::Sliding { ray } = group {
                for (row, force) in self.rows_of(k).zip(ray) {
                    expand[(row, offsets[k])] = *force;
                }
            }
        }
        Reduced { offsets, rows, expand }
    }

    /// The mixed LCP of the pyramid, (32)-(35): for each contact `c_n`, and for each friction row of a rolling one
    /// `s+ = mu e c_n + c_t` and `a-`, with `w` being `a_n`, `a+` and `s-`; displacements come last, free.
    pub fn as_pyramid(&self) -> Result<Converted<MixedLcp>, InvalidProblem> {
        let mut z = Layout::default();
        for (k, group) in self.groups.iter().enumerate() {
            z.add(self.rows_of(k), group);
        }
        let free = self.border.as_ref().map_or(0, |border| border.load.len());
        let (pairs, size) = (z.kinds.len(), z.kinds.len() + free);
        let (mut forces, mut offset) = (Matrix::zeros(self.size(), size), vec![0.0; self.size()]);
        for &(row, at, value) in &z.forces {
            forces[(row, at)] += value;
        }
        for &(row, value) in &z.constants {
            offset[row] += value;
        }
        let mut m = Matrix::zeros(size, size);
        let mut q = vec![0.0; size];
        let steady = self.a.times(&offset);
        for (i, kind) in z.kinds.iter().enumerate() {
            match *kind {
                Kind::Row(row) | Kind::Equal(row) => {
                    m.row_mut(i).copy_from_slice(&forces.transpose_times(self.a.row(row)));
                    q[i] = self.b[row] + steady[row];
                    if let Some(border) = &self.border {
                        m.row_mut(i)[pairs..].copy_from_slice(border.jacobian.row(row));
                    }
                }
                Kind::Slack { normal, plus, twice, constant } => {
                    // s- = 2 mu e c_n - s+, or 2 limit - s+
                    if let Some(normal) = normal {
                        m[(i, normal)] += twice;
                    }
                    m[(i, plus)] -= 1.0;
                    q[i] = constant;
                    // a+ = a + a-
                    m[(plus, i)] += 1.0;
                }
            }
        }
        if let Some(border) = &self.border {
            for k in 0..free {
                for row in 0..self.size() {
                    let weight = border.jacobian[(row, k)];
                    for (x, f) in m.row_mut(pairs + k)[..pairs].iter_mut().zip(forces.row(row)) {
                        *x -= weight * f;
                    }
                    q[pairs + k] -= weight * offset[row];
                }
                m.row_mut(pairs + k)[pairs..].copy_from_slice(border.stiffness.row(k));
                q[pairs + k] -= border.load[k];
            }
        }
        let complementary = z.kinds.iter().map(|kind| !matches!(kind, Kind::Equal(_)));
        let complementary = complementary.chain(std::iter::repeat_n(false, free)).collect();
        Ok(Converted::new(MixedLcp::new(m, q, complementary)?, forces, offset))
    }
}

/// What a variable of the mixed LCP and its row are.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// A force or `s+`, with the acceleration of this row.
    Row(usize),
    /// A free force, with the acceleration of this row, which is zero.
    Equal(usize),
    /// `a-`, with `s- = twice z_normal - z_plus + constant`.
    Slack { normal: Option<usize>, plus: usize, twice: f64, constant: f64 },
}

/// Variables of the mixed LCP, and the forces as functions of them.
#[derive(Debug, Default)]
struct Layout {
    kinds: Vec<Kind>,
    /// Row of the problem, variable, coefficient.
    forces: Vec<(usize, usize, f64)>,
    constants: Vec<(usize, f64)>,
}

impl Layout {
    fn add(&mut self, rows: Range<usize>, group: &Group) {
        let first = self.kinds.len();
        match group {
            Group::Unilateral => {
                self.kinds.push(Kind::Row(rows.start));
                self.forces.push((rows.start, first, 1.0));
            }
            Group::Bilateral => {
                self.kinds.push(Kind::Equal(rows.start));
                self.forces.push((rows.start, first, 1.0));
            }
            Group::Sliding { ray } => {
                self.kinds.push(Kind::Row(rows.start));
                self.forces.extend(rows.zip(ray).map(|(row, x)| (row, first, *x)));
            }
            Group::Bounded { limit } => {
                self.kinds.push(Kind::Row(rows.start));
                self.kinds.push(Kind::Slack { normal: None, plus: first, twice: 0.0, constant: 2.0 * limit });
                self.forces.push((rows.start, first, 1.0));
                self.constants.push((rows.start, -limit));
            }
            Group::Rolling { mu, axes } => {
                self.kinds.push(Kind::Row(rows.start));
                self.forces.push((rows.start, first, 1.0));
                // a row without friction has no unknown
                for (row, axis) in rows.skip(1).zip(axes).filter(|(_, e)| mu * **e > 0.0) {
                    let (plus, bound) = (self.kinds.len(), mu * axis);
                    self.kinds.push(Kind::Row(row));
                    let normal = Some(first);
                    self.kinds.push(Kind::Slack { normal, plus, twice: 2.0 * bound, constant: 0.0 });
                    self.forces.push((row, plus, 1.0));
                    self.forces.push((row, first, -bound));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Friction, FrictionProblem, Mode};
    use crate::residual;
    use crate::solver::portfolio::{Settings, solve_mixed};

    /// For contacts of three rows the problem is trinkle1995 (32), as the other conversion writes it.
    #[test]
    fn pyramids_of_contacts_are_the_slack_problem() {
        let factor = Matrix::from_fn(6, 7, |i, j| ((7 * i + 3 * j) as f64).sin() + f64::from(i == j));
        let a = Matrix::from_fn(6, 6, |i, j| crate::matrix::dot(factor.row(i), factor.row(j)));
        let b = vec![-3.0, 1.0, 0.5, -2.0, 0.3, -1.0];
        let direction = [0.6, 0.8];
        let old = FrictionProblem::new(a.clone(), b.clone(), vec![0.4, 0.2], 3, Friction::Pyramid)
            .and_then(|p| p.with_modes(vec![Mode::Rolling, Mode::Sliding { direction }]))
            .unwrap();
        let groups = vec![
            Group::Rolling { mu: 0.4, axes: vec![1.0; 2] },
            Group::Sliding { ray: vec![1.0, -0.2 * 0.6, -0.2 * 0.8] },
        ];
        let new = InstantProblem::new(a, b, groups).unwrap().as_pyramid().unwrap();
        assert_eq!(new.problem.size(), old.as_slack_lcp().unwrap().problem.size());
        let report = solve_mixed(&new.problem, &Settings::default(), &mut |_| ());
        let forces = new.forces(&report.solution);
        assert!(residual::friction(&old, &forces).relative < 1e-12, "{forces:?}");
    }
}
