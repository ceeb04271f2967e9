//! The matrices of an island, and their null spaces.

use super::basis::{complement, orthonormal};
use super::directions::{self, Freedom};
use super::edge::{inward, remove};
use super::{Direction, Forces, Settings};
use crate::eigen::{singular, singular_values, symmetric_eigen, symmetric_eigenvalues};
use crate::matrix::{Matrix, norm};
use crate::operator::Operator;
use crate::problem::FrictionProblem;

/// Numbers of a basis up to which contacts at an edge are led inwards.
const INNER: usize = 300_000;
/// Change of the velocities, as a share of `b`, that is not felt.
const FELT: f64 = 1e-6;
/// Part of a null vector, of length 1, that counts as a contact being moved.
const MOVED: f64 = 1e-6;

/// `A` and `b` of contacts that no others influence, scaled.
pub(super) struct Island<'a> {
    contacts: &'a [usize],
    /// Place of each element's first row in the island, and the number of rows; whether a row is one of friction.
    offsets: Vec<usize>,
    friction: Vec<bool>,
    /// `d_c`.
    units: Vec<f64>,
    a: Matrix,
    b: Vec<f64>,
    /// If `A` is symmetric: its eigenvalues and vectors, and `S U'` of those that are not zero to rounding: `|A x| = |S U' x|`, with fewer rows.
    eigen: Option<(Vec<f64>, Matrix)>,
    factor: Option<Matrix>,
}

/// Forces that leave the velocities as they are.
#[derive(Debug, Clone, Default)]
struct Family {
    dimension: usize,
    /// Contacts whose force moves.
    moved: Vec<usize>,
    /// A basis over the island's rows, in the units of the problem; one direction alone where there is no room for it.
    basis: Vec<Vec<f64>>,
}

impl Family {
    /// Keeps the combinations of the basis with these shares, orthonormal, the step first.
    fn restrict(&mut self, mut space: Vec<Vec<f64>>, step: Vec<f64>) {
        self.dimension = space.len();
        if !space.is_empty() {
            remove(&mut space, &step);
            space.truncate(self.dimension - 1);
            space.insert(0, step);
        }
        let combine = |shares: &Vec<f64>| {
            let mut v = vec![0.0; self.basis[0].len()];
            for (share, basis) in shares.iter().zip(&self.basis) {
                v.iter_mut().zip(basis).for_each(|(v, b)| *v += share * b);
            }
            v
        };
        self.basis = space.iter().map(combine).collect();
    }

    /// Contacts that no direction of the basis moves are not moved.
    fn keep_moved(&mut self, island: &Island<'_>) {
        let basis = &self.basis;
        let moves =
            |(i, _): &(usize, &usize)| basis.iter().any(|v| norm(&v[island.rows_of(*i)]) > MOVED * norm(v));
        self.moved = island.contacts.iter().enumerate().filter(moves).map(|(_, c)| *c).collect();
    }

    /// Entries of a basis.
    fn numbers(&self, rows: impl Fn(usize) -> usize) -> usize {
        self.dimension * self.moved.iter().map(|&c| rows(c)).sum::<usize>()
    }
}

/// Numbers of the theorems.
pub(super) struct Spectrum {
    pub rank: usize,
    /// Least eigenvalue of `(A + A')/2`; zero if it is not above rounding.
    pub sigma: f64,
    /// Norm of the tangential rows.
    pub eta: f64,
    /// `Err`: why it is not true that `A` is symmetric and positive semidefinite, and `b` in its range.
    pub in_range: Result<(), &'static str>,
}

/// Part of `b` in the null space that is rounding, over the entry of `b` in a row, and over all of `b`.
const IN_ROW: f64 = 1e-6;
const IN_ALL: f64 = 1e-12;
/// Asymmetry of `A`, relative, that counts as rounding.
const SYMMETRIC: f64 = 1e-8;
/// Eigenvalues below this share of the largest are zero to rounding.
const ROUNDING: f64 = 1e-14;

impl<'a> Island<'a> {
    /// `None` if a decomposition does not converge.
    pub fn new(blocks: &Operator, problem: &FrictionProblem, contacts: &'a [usize]) -> Option<Self> {
        let Operator::Blocks(matrix) = blocks else { return None };
        let rows = |c: usize| problem.rows_of(c).len();
        let units: Vec<f64> = contacts
            .iter()
            .map(|&c| matrix.diagonal(c).iter().step_by(rows(c) + 1).sum::<f64>())
            .map(|trace| if trace > 0.0 { 1.0 / trace.sqrt() } else { 1.0 })
            .collect();
        let mut offsets = vec![0];
        let (mut b, mut friction) = (vec![], vec![]);
        for (&c, unit) in contacts.iter().zip(&units) {
            b.extend(problem.vector()[problem.rows_of(c)].iter().map(|b| unit * b));
            friction.extend((0..rows(c)).map(|i| i > 0));
            offsets.push(b.len());
        }
        let n = b.len();
        let mut a = Matrix::zeros(n, n);
        for (i, &c) in contacts.iter().enumerate() {
            for (k, block) in matrix.blocks_of(c) {
                let j = contacts.binary_search(&k).ok()?;
                let width = rows(k);
                for (at, x) in block.iter().enumerate() {
                    a[(offsets[i] + at / width, offsets[j] + at % width)] = units[i] * x * units[j];
                }
            }
        }
        let mut island = Self { contacts, offsets, friction, units, a, b, eigen: None, factor: None };
        if island.is_symmetric() {
            let a = &island.a;
            let (values, vectors) =
                symmetric_eigen(&Matrix::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] + a[(j, i)])))?;
            let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let kept: Vec<usize> = (0..n).filter(|&k| values[k].abs() > ROUNDING * largest).collect();
            let factor = Matrix::from_fn(kept.len(), n, |k, j| values[kept[k]] * vectors[(j, kept[k])]);
            (island.eigen, island.factor) = (Some((values, vectors)), Some(factor));
        }
        Some(island)
    }

    fn is_symmetric(&self) -> bool {
        let a = &self.a;
        let apart = Matrix::from_fn(a.rows(), a.rows(), |i, j| a[(i, j)] - a[(j, i)]);
        norm(apart.data()) <= SYMMETRIC * norm(a.data())
    }

    pub fn spectrum(&self, tolerance: f64) -> Option<Spectrum> {
        let (n, a) = (self.a.rows(), &self.a);
        let (values, least) = match &self.eigen {
            Some((eigen, _)) => (eigen.iter().map(|x| x.abs()).collect(), eigen.first().copied()),
            None => {
                let half = Matrix::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
                (singular_values(a)?, symmetric_eigenvalues(&half)?.first().copied())
            }
        };
        let least = least.unwrap_or(0.0);
        let zero = tolerance * values.iter().fold(0.0f64, |m, x| m.max(*x));
        let rank = values.iter().filter(|x| **x > zero).count();
        // |P A| = |A P| = |S U' P| if A is symmetric, P the tangential rows
        let tangential = match &self.factor {
            Some(f) => Matrix::from_fn(f.rows(), n, |i, j| if self.friction[j] { f[(i, j)] } else { 0.0 }),
            None => Matrix::from_fn(n, n, |i, j| if self.friction[i] { a[(i, j)] } else { 0.0 }),
        };
        let eta = singular_values(&tangential)?.first().copied().unwrap_or(0.0);
        // b is in the range of a symmetric A exactly if it has no part in the null space: not in the whole, and in no row, for a heavy body may hide a light one
        let outside = |vectors: &Matrix| {
            let mut part = vec![0.0; n];
            for k in (0..n).filter(|&k| values[k] <= zero) {
                let along: f64 = (0..n).map(|i| vectors[(i, k)] * self.b[i]).sum();
                part.iter_mut().enumerate().for_each(|(i, p)| *p += along * vectors[(i, k)]);
            }
            let size = norm(&self.b);
            let hidden = |(p, b): (&f64, &f64)| p.abs() > (IN_ROW * b.abs()).max(IN_ALL * size);
            norm(&part) > tolerance * size || part.iter().zip(&self.b).any(hidden)
        };
        let in_range = match &self.eigen {
            None => Err("A is not symmetric"),
            Some(_) if least < -zero => Err("A is not positive semidefinite"),
            Some((_, vectors)) if outside(vectors) => Err("b is not in the range of A"),
            Some(_) => Ok(()),
        };
        Some(Spectrum { rank, sigma: if least > zero { least } else { 0.0 }, eta, in_range })
    }

    /// Adds what the island leaves undetermined. `scale`: units of the forces as posed, row by row of the problem.
    pub fn forces(
        &self,
        problem: &FrictionProblem,
        lambda: &[f64],
        states: &[Freedom],
        settings: &Settings,
        scale: Option<&[f64]>,
        out: &mut Forces,
    ) -> Option<()> {
        let tolerance = self.tolerance_at(problem, lambda, settings.rank_tolerance);
        let edge: Vec<usize> = self.contacts.iter().copied().filter(|&c| states[c].edge).collect();
        let used: usize = out.basis.iter().flatten().map(|d| d.change.len()).sum();
        let room = if out.basis.is_some() { settings.most_basis.saturating_sub(used) } else { 0 };
        let mut found = self.family(states, false, tolerance, room)?;
        let mut most = found.dimension;
        // dimensions with contacts at an edge held, and free
        let (held, mut free) = (most, most);
        let mut one_sided = false;
        if !edge.is_empty() {
            let mut all = self.family(states, true, tolerance, INNER)?;
            (most, free) = (all.dimension, all.dimension);
            let whole = all.basis.len() == most && most > found.dimension;
            let tried =
                || inward(problem, self.contacts, states, lambda, &all.basis, settings.state_tolerance);
            if let Some(way) = whole.then(tried).flatten() {
                let single = all.basis.clone();
                all.restrict(way.space, way.step);
                if way.exact {
                    most = all.dimension;
                }
                one_sided = all.dimension > found.dimension;
                if most == 1 && all.dimension == 0 {
                    // along the surface of a round cone perhaps: a single direction can be tried, forth and back
                    let works = |sign: f64| {
                        self.contacts.iter().enumerate().filter(|(_, c)| states[**c].edge).all(|(i, &c)| {
                            let own = &single[0][self.rows_of(i)];
                            let v: Vec<f64> = own.iter().map(|v| sign * v).collect();
                            let (loaded, tolerance) = (states[c].loaded, settings.state_tolerance);
                            directions::enters(problem, c, loaded, lambda, &v, tolerance)
                        })
                    };
                    let (forth, back) = (works(1.0), works(-1.0));
                    if forth || back {
                        let sign = if forth { 1.0 } else { -1.0 };
                        all.basis = vec![single[0].iter().map(|v| sign * v).collect()];
                        (all.dimension, one_sided) = (1, forth != back);
                    }
                }
                if all.dimension >= found.dimension {
                    found = all;
                    found.keep_moved(self);
                }
            }
        }
        out.dimension += found.dimension;
        out.dimension_at_most += most;
        out.undetermined.extend(&found.moved);
        match &mut out.basis {
            Some(basis)
                if found.basis.len() == found.dimension
                    && found.numbers(|c| problem.rows_of(c).len()) <= room =>
            {
                let edge: &[usize] = if one_sided { &edge } else { &[] };
                basis.extend(self.as_posed(problem, found.basis, scale, edge));
            }
            basis => *basis = None,
        }
        // without edges, the linearised law decides whether another solution can be near
        let nullity = self.nullity(states, true, tolerance)?;
        out.isolated &= most == 0 && edge.is_empty() && nullity == 0;
        // what leaves the motion as it is lies in the null space; if that is all of it, nothing else does
        let same_motion =
            nullity == free && (edge.is_empty() || self.nullity(states, false, tolerance)? == held);
        out.join_motion(same_motion, edge.is_empty());
        if !same_motion && edge.is_empty() {
            out.other_motion.extend(self.contacts.iter().filter(|c| !states[**c].columns.is_empty()));
        }
        out.edge.extend(edge);
        Some(())
    }

    /// Share of `|A|` below which singular values are zero: forces of the size of `lambda` along such a direction must not be felt beside `b` either.
    fn tolerance_at(&self, problem: &FrictionProblem, lambda: &[f64], tolerance: f64) -> f64 {
        let own = |(i, &c): (usize, &usize)| norm(&lambda[problem.rows_of(c)]) / self.units[i];
        let force = self.contacts.iter().enumerate().map(own).fold(0.0f64, f64::hypot);
        let felt = FELT * norm(&self.b) / (force * norm(self.a.data()));
        // no force, or no load: nothing to be felt beside
        if felt > 0.0 && felt.is_finite() { tolerance.min(felt.max(ROUNDING)) } else { tolerance }
    }

    /// A basis of the same space in the units of the forces as posed, orthonormal there. Contacts at an `edge` move one way only, the first direction's.
    fn as_posed(
        &self,
        problem: &FrictionProblem,
        mut basis: Vec<Vec<f64>>,
        scale: Option<&[f64]>,
        edge: &[usize],
    ) -> impl Iterator<Item = Direction> {
        if let Some(scale) = scale {
            for v in &mut basis {
                let own = self.contacts.iter().flat_map(|&c| &scale[problem.rows_of(c)]);
                v.iter_mut().zip(own).for_each(|(v, e)| *v *= e);
            }
        }
        orthonormal(&mut basis, !edge.is_empty());
        basis.into_iter().enumerate().map(move |(k, mut v)| {
            v.iter_mut().filter(|x| x.abs() <= ROUNDING).for_each(|x| *x = 0.0);
            // the first of the largest entries is positive
            let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let first = v.iter().find(|x| x.abs() > (1.0 - 1e-9) * largest);
            if (edge.is_empty() || k > 0) && first.is_some_and(|x| *x < 0.0) {
                v.iter_mut().for_each(|x| *x = -*x);
            }
            let own = self.contacts.iter().enumerate().map(|(i, c)| (c, &v[self.rows_of(i)]));
            let moved: Vec<(&usize, &[f64])> = own.filter(|(_, v)| norm(v) > 0.0).collect();
            let one_sided = moved.iter().any(|(c, _)| edge.contains(c));
            Direction {
                contacts: moved.iter().map(|(c, _)| **c).collect(),
                change: moved.iter().flat_map(|(_, v)| v.iter().copied()).collect(),
                one_sided,
            }
        })
    }

    /// Rows of the island's `i`-th element.
    fn rows_of(&self, i: usize) -> std::ops::Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// Directions of a kind as (contact of the island, its freedom, column).
    fn columns<'s>(
        &self,
        states: &'s [Freedom],
        keep: impl Fn(&Freedom, usize) -> bool,
    ) -> Vec<(usize, &'s Freedom, usize)> {
        let mut out = vec![];
        for (i, &c) in self.contacts.iter().enumerate() {
            let freedom = &states[c];
            out.extend((0..freedom.columns.len()).filter(|&k| keep(freedom, k)).map(|k| (i, freedom, k)));
        }
        out
    }

    /// `a` times a direction of contact `i`, scaled.
    fn image(&self, a: &Matrix, row: usize, i: usize, direction: &[f64]) -> f64 {
        self.rows_of(i).zip(direction).map(|(k, d)| a[(row, k)] * d).sum()
    }

    /// Forces that leave the velocities as they are; contacts at an edge count as free, or as fixed. The basis may hold `room` numbers.
    fn family(&self, states: &[Freedom], edges: bool, tolerance: f64, room: usize) -> Option<Family> {
        let columns = self.columns(states, |f, k| f.still[k] && (edges || !f.edge));
        if columns.is_empty() {
            return Some(Family::default());
        }
        let a = self.factor.as_ref().unwrap_or(&self.a);
        let image = Matrix::from_fn(a.rows(), columns.len(), |row, j| {
            let (i, freedom, k) = columns[j];
            self.image(a, row, i, &freedom.columns[k])
        });
        let (values, vectors) = singular(&image)?;
        let zero = tolerance * norm(self.a.data());
        let rank = values.iter().filter(|x| **x > zero).count();
        // the part of direction j that is null is what the others do not hold: 1 - V V'
        let held = |j: usize| (0..rank).map(|k| vectors[(j, k)].powi(2)).sum::<f64>();
        let mut sizes = vec![0.0; self.contacts.len()];
        columns.iter().enumerate().for_each(|(j, column)| sizes[column.0] += (1.0 - held(j)).max(0.0));
        let moved = self.contacts.iter().zip(sizes).filter(|(_, size)| size.sqrt() > MOVED).map(|(&c, _)| c);
        let dimension = columns.len() - rank;
        let mut family = Family { dimension, moved: moved.collect(), basis: vec![] };
        let rows = |c: usize| self.contacts.binary_search(&c).map_or(0, |i| self.rows_of(i).len());
        let count = if family.numbers(rows) <= room { dimension } else { dimension.min(1) };
        for shares in complement(&vectors, rank, count) {
            let mut v = vec![0.0; self.a.rows()];
            for (share, &(i, freedom, k)) in shares.iter().zip(&columns) {
                for (row, d) in self.rows_of(i).zip(&freedom.columns[k]) {
                    v[row] += share * d * self.units[i];
                }
            }
            family.basis.push(v);
        }
        Some(family)
    }

    /// Dimension of the null space of the linearised law; contacts at an edge count as free, or as held.
    fn nullity(&self, states: &[Freedom], edges: bool, tolerance: f64) -> Option<usize> {
        let columns = self.columns(states, |f, _| edges || !f.edge);
        let m = Matrix::from_fn(columns.len(), columns.len(), |r, j| {
            let (at, law, e) = columns[r];
            let (i, freedom, k) = columns[j];
            let rows = self.rows_of(at).zip(&law.equations[e]);
            let row: f64 = rows.map(|(row, x)| x * self.image(&self.a, row, i, &freedom.columns[k])).sum();
            // the weight is in the units of s / lambda
            let weight = law.weights[e] * self.units[at].powi(2);
            (row + if r == j { weight } else { 0.0 }) / (1.0 + weight)
        });
        if columns.is_empty() {
            return Some(0);
        }
        let values = singular_values(&m)?;
        let zero = tolerance * norm(self.a.data()).max(1.0);
        Some(values.len() - values.iter().filter(|x| **x > zero).count())
    }
}
