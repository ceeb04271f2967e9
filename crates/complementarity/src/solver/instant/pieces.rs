//! Pieces of a mixed LCP's solution set as solutions in the contact forces, with the range of each normal force.

use super::Solution;
use crate::factor::rank;
use crate::linear_program::{Feasibility, Kind, Maximum, Program, System};
use crate::matrix::{Matrix, norm};
use crate::problem::{Converted, InstantProblem, MixedLcp};
use crate::report::Piece;
use crate::residual;
use crate::scaling;
use crate::solver::Budget;

/// Isolated solutions whose forces differ by less than this share are one.
const SAME_FORCES: f64 = 1e-7;

/// The displacements in a solution of the mixed LCP: its last variables.
pub(super) fn displacements(problem: &InstantProblem, z: &[f64]) -> Vec<f64> {
    let count = problem.border().map_or(0, |border| border.load.len());
    z[z.len() - count..].to_vec()
}

/// Solutions in forces and displacements; points that differ only in what these do not see are one.
pub(super) fn in_forces(
    pieces: &[Piece],
    problem: &InstantProblem,
    converted: &Converted<MixedLcp>,
    budget: &mut Budget,
) -> Vec<Solution> {
    let (outputs, motions) = (outputs(problem, converted), motions(problem, converted));
    let mut found: Vec<Solution> = vec![];
    for piece in pieces {
        let dimension = if piece.dimension > 0 { dimension(piece, converted, &outputs) } else { 0 };
        let forces = converted.forces(&piece.point);
        let displacements = displacements(problem, &piece.point);
        let firsts: Vec<usize> = (0..problem.groups().len()).map(|k| problem.rows_of(k).start).collect();
        let ranges = if dimension > 0 {
            ranges(piece, converted, &firsts, &forces, budget)
        } else {
            firsts.iter().map(|row| [forces[*row]; 2]).collect()
        };
        let size = norm(&forces).max(norm(&displacements)).max(f64::MIN_POSITIVE);
        let same = |other: &Solution| {
            let apart = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x - y).collect::<Vec<_>>();
            let [f, u] = [apart(&forces, &other.forces), apart(&displacements, &other.displacements)];
            dimension == 0 && other.dimension == 0 && norm(&f).max(norm(&u)) <= SAME_FORCES * size
        };
        if !found.iter().any(same) {
            let unbounded = ranges.iter().any(|r| !r[1].is_finite());
            let residual = residual::mixed(&converted.problem, &piece.point);
            let motion_dimension =
                if dimension > 0 { self::dimension(piece, converted, &motions) } else { 0 };
            found.push(Solution {
                forces,
                displacements,
                residual,
                dimension,
                motion_dimension,
                unbounded,
                ranges,
            });
        }
    }
    // an isolated solution may be the end of a continuum, with other variables that the forces do not see
    let continua: Vec<&Piece> =
        pieces.iter().filter(|p| p.dimension > 0 && dimension(p, converted, &outputs) > 0).collect();
    found.retain(|s| {
        s.dimension > 0 || !continua.iter().any(|piece| contains(piece, converted, &s.forces, budget))
    });
    found
}

/// Rows that map the mixed LCP's variables to forces and displacements.
fn outputs(problem: &InstantProblem, converted: &Converted<MixedLcp>) -> Matrix {
    let (forces, size) = (converted.force_matrix(), converted.problem.size());
    let free = problem.border().map_or(0, |border| border.load.len());
    Matrix::from_fn(forces.rows() + free, size, |i, j| match i.checked_sub(forces.rows()) {
        None => forces[(i, j)],
        Some(k) => f64::from(j == size - free + k),
    })
}

/// Rows that map the mixed LCP's variables to accelerations and displacements.
fn motions(problem: &InstantProblem, converted: &Converted<MixedLcp>) -> Matrix {
    let (a, forces) = (problem.matrix(), converted.force_matrix());
    let all = outputs(problem, converted);
    let rows: Vec<Vec<f64>> = (0..all.rows())
        .map(|i| if i < a.rows() { forces.transpose_times(a.row(i)) } else { all.row(i).to_vec() })
        .collect();
    Matrix::from_fn(rows.len(), all.columns(), |i, j| rows[i][j])
}

/// Dimension of a piece in forces and displacements: directions `d` live on its z support and the free variables,
/// with `(M d)_i = 0` off its w support; those that move no output do not count.
fn dimension(piece: &Piece, converted: &Converted<MixedLcp>, outputs: &Matrix) -> usize {
    let (m, complementary) = (converted.problem.matrix(), converted.problem.complementary());
    let columns: Vec<usize> =
        (0..m.columns()).filter(|j| !complementary[*j] || piece.z_support.binary_search(j).is_ok()).collect();
    // the same scale for a column in all rows
    let scale: Vec<f64> = columns
        .iter()
        .map(|&j| (0..m.rows()).fold(f64::MIN_POSITIVE, |most, i| most.max(m[(i, j)].abs())))
        .collect();
    let pick = |row: &[f64]| -> Vec<f64> {
        let row: Vec<f64> = columns.iter().zip(&scale).map(|(&j, s)| row[j] / s).collect();
        let largest = row.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        // what is left of a row by rounding is none
        row.iter().map(|x| if largest > 1e-13 { x / largest } else { 0.0 }).collect()
    };
    let rank_of =
        |rows: &[Vec<f64>]| rank(Matrix::from_rows(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>()));
    let tight = (0..m.rows()).filter(|i| piece.w_support.binary_search(i).is_err());
    let mut rows: Vec<Vec<f64>> = tight.map(|i| pick(m.row(i))).collect();
    let still = rank_of(&rows);
    rows.extend((0..outputs.rows()).map(|i| pick(outputs.row(i))));
    rank_of(&rows) - still
}

/// A piece's polyhedron as a linear program, with some forces as further variables.
struct Polyhedron<'a> {
    converted: &'a Converted<MixedLcp>,
    /// Rows of the problem whose forces are variables, and their scales.
    rows: &'a [usize],
    weights: Vec<f64>,
    unit: f64,
    system: System,
    program: Program,
}

impl<'a> Polyhedron<'a> {
    /// With the forces free, or fixed to given values.
    fn new(
        piece: &Piece,
        converted: &'a Converted<MixedLcp>,
        rows: &'a [usize],
        fixed: Option<&[f64]>,
        budget: &mut Budget,
    ) -> Self {
        let (problem, force) = (&converted.problem, converted.force_matrix());
        let n = problem.size();
        let (r, c) = scaling::two_sided(problem.matrix());
        let size = (0..n).fold(0.0f64, |m, i| m.max((r[i] * problem.vector()[i]).abs()));
        let unit = if size > 0.0 { scaling::power_of_two(size) } else { 1.0 };
        let weight = |row: usize| (0..n).fold(0.0f64, |m, j| m.max((force[(row, j)] * c[j]).abs()));
        let weights: Vec<f64> = rows.iter().map(|row| weight(*row)).collect();
        let m = Matrix::from_fn(n + rows.len(), n, |i, j| match i.checked_sub(n) {
            None => r[i] * problem.matrix()[(i, j)] * c[j],
            Some(k) if weights[k] > 0.0 => force[(rows[k], j)] * c[j] / weights[k],
            Some(_) => 0.0,
        });
        let constant = converted.forces(&vec![0.0; n]);
        let mut q: Vec<f64> = (0..n).map(|i| r[i] * problem.vector()[i] / unit).collect();
        q.extend((0..rows.len()).map(|k| match fixed {
            Some(forces) if weights[k] > 0.0 => (constant[rows[k]] - forces[rows[k]]) / (weights[k] * unit),
            _ => 0.0,
        }));
        let system = System { m, q };
        let mut program = Program::default();
        program.start(&system);
        let column = |j: usize| n + rows.len() + 1 + j;
        for i in 0..n {
            let kind = |list: &[usize]| match list.binary_search(&i) {
                Ok(_) => Kind::Bounded,
                Err(_) => Kind::Fixed,
            };
            let (z, w) = match problem.complementary()[i] {
                false => (Kind::Free, Kind::Fixed),
                true => (kind(&piece.z_support), kind(&piece.w_support)),
            };
            program.kind[i] = w;
            program.kind[column(i)] = z;
        }
        let kind = if fixed.is_some() { Kind::Fixed } else { Kind::Free };
        (0..rows.len()).for_each(|k| program.kind[n + k] = kind);
        program.seat_free(budget);
        Self { converted, rows, weights, unit, system, program }
    }

    fn is_feasible(&mut self, budget: &mut Budget) -> bool {
        self.program.dual(&self.system, budget) == Feasibility::Feasible
    }

    /// Largest value of a force (least: with the sign -1); infinite if it grows without bound, `None` if that is unclear.
    fn extreme(&mut self, k: usize, sign: f64, budget: &mut Budget) -> Option<f64> {
        let at = self.converted.problem.size() + k;
        let constant = self.converted.forces(&vec![0.0; self.converted.problem.size()])[self.rows[k]];
        match self.program.maximise(&self.system, budget, |v| if v == at { sign } else { 0.0 }) {
            Maximum::Optimal => Some(self.program.value(at) * self.weights[k] * self.unit + constant),
            Maximum::Unbounded { .. } => Some(sign * f64::INFINITY),
            Maximum::Unclear => None,
        }
    }
}

/// Least and largest force of some rows on a piece, by linear programming; infinite where it grows without bound.
/// Where the program ends unclear the value at the piece's point stands for the bound.
fn ranges(
    piece: &Piece,
    converted: &Converted<MixedLcp>,
    rows: &[usize],
    forces: &[f64],
    budget: &mut Budget,
) -> Vec<[f64; 2]> {
    let mut polyhedron = Polyhedron::new(piece, converted, rows, None, budget);
    let feasible = polyhedron.is_feasible(budget);
    let size = norm(forces);
    let mut bound = |k: usize, sign: f64| {
        let here = forces[rows[k]];
        let found = if feasible { polyhedron.extreme(k, sign, budget) } else { None };
        let found = found.unwrap_or(here);
        if found.abs() <= ROUNDING * size { 0.0 } else { found }
    };
    (0..rows.len()).map(|k| [bound(k, -1.0), bound(k, 1.0)]).collect()
}

/// Bounds of forces below this share of all forces are zero.
const ROUNDING: f64 = 1e-12;

/// Whether forces are those of a point of a piece.
fn contains(piece: &Piece, converted: &Converted<MixedLcp>, forces: &[f64], budget: &mut Budget) -> bool {
    let rows: Vec<usize> = (0..forces.len()).collect();
    let mut polyhedron = Polyhedron::new(piece, converted, &rows, Some(forces), budget);
    polyhedron.is_feasible(budget)
}
