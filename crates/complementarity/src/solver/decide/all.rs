//! All solutions: the pieces of the solution set.
//!
//! A node's polyhedron is a piece once no pair can be positive on both sides within it; its support, read
//! off points that show each variable positive, distinguishes pieces, and shows which is part of another.

use super::branch::Choice;
use super::{Search, Side};
use crate::factor::rank;
use crate::linear_program::{Kind, Maximum};
use crate::matrix::Matrix;
use crate::report::Piece;
use crate::residual::Residual;

/// A scaled variable above this is positive: well above what the simplex calls zero.
const POSITIVE: f64 = 1e-8;

/// Points of a polyhedron, summed, and which variables some point shows positive.
struct Points {
    sum: Vec<f64>,
    count: f64,
    seen: Vec<bool>,
}

impl Search<'_> {
    /// Splits the node on a pair that can be positive on both sides, or records its polyhedron as a piece.
    pub(super) fn explore(&mut self, level: usize) -> Choice {
        let variables = self.levels[level].kind.len();
        let mut points = Points { sum: vec![0.0; variables], count: 0.0, seen: vec![false; variables] };
        self.collect(level, None, &mut points);
        loop {
            let candidates = self.crossed(level, &points);
            if !candidates.is_empty() {
                return self.choose(level, &candidates);
            }
            // the sum of all that was zero so far: at zero still, it stays zero on the whole polyhedron
            let mut program = std::mem::take(&mut self.levels[level]);
            let wanted = |v: usize| program.kind[v] == Kind::Bounded && !points.seen[v];
            let weights: Vec<f64> = (0..variables).map(|v| if wanted(v) { 1.0 } else { 0.0 }).collect();
            let end = program.maximise(&self.system, self.budget, |v| weights[v]);
            program.forget_costs();
            self.levels[level] = program;
            let fresh = match end {
                Maximum::Optimal => self.collect(level, None, &mut points),
                Maximum::Unbounded { column } => self.collect(level, Some(column), &mut points),
                Maximum::Unclear => return self.any_open_pair(level),
            };
            if !fresh {
                return self.record(level, &points);
            }
        }
    }

    /// Adds the vertex, or a point on the ray along a column; whether it shows a variable positive first.
    fn collect(&mut self, level: usize, ray: Option<usize>, points: &mut Points) -> bool {
        let program = &self.levels[level];
        let mut fresh = false;
        points.count += 1.0;
        for v in (0..points.sum.len()).filter(|&v| v != program.rows()) {
            let mut x = program.value(v);
            if let Some(column) = ray {
                x += match program.table.row_of(v) {
                    Some(row) => program.table.entry(row, column),
                    None if program.table.column_of(v) == Some(column) => 1.0,
                    None => 0.0,
                };
            }
            points.sum[v] += x;
            if x > POSITIVE && !points.seen[v] && program.kind[v] == Kind::Bounded {
                points.seen[v] = true;
                fresh = true;
            }
        }
        fresh
    }

    /// Pairs that the points show positive on both sides.
    fn crossed(&self, level: usize, points: &Points) -> Vec<(usize, f64)> {
        let program = &self.levels[level];
        let (z, w) = (|i| self.variable(i, Side::Z), |i| self.variable(i, Side::W));
        let mut found: Vec<(usize, f64)> = (self.pairs.iter())
            .filter(|&&i| self.is_open(program, i) && points.seen[z(i)] && points.seen[w(i)])
            .map(|&i| (i, points.sum[z(i)].min(points.sum[w(i)])))
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    }

    /// Enters the node's polyhedron as a piece, unless it is part of one already found.
    fn record(&mut self, level: usize, points: &Points) -> Choice {
        let support = |side: Side| -> Vec<usize> {
            self.pairs.iter().copied().filter(|&i| points.seen[self.variable(i, side)]).collect()
        };
        let (z_support, w_support) = (support(Side::Z), support(Side::W));
        if self
            .pieces
            .iter()
            .any(|p| includes(&p.z_support, &z_support) && includes(&p.w_support, &w_support))
        {
            return Choice::Done;
        }
        let dimension = self.dimension(&z_support, &w_support);
        let Some((point, residual)) = self.inside(level, points) else { return self.any_open_pair(level) };
        let unbounded = dimension > 0 && self.is_unbounded(level);
        if self.budget_ended() {
            return Choice::Doubtful;
        }
        self.pieces.retain(|p| !(includes(&z_support, &p.z_support) && includes(&w_support, &p.w_support)));
        self.pieces.push(Piece { z_support, w_support, dimension, unbounded, point, residual });
        if self.pieces.len() >= self.settings.max_pieces {
            self.limit = Some(format!("the limit of {} pieces was reached", self.settings.max_pieces));
        }
        Choice::Done
    }

    /// The mean of the points, corrected to satisfy the equations; `None` if it is no solution.
    fn inside(&mut self, level: usize, points: &Points) -> Option<(Vec<f64>, Residual)> {
        let mean = |v: usize, kept: bool| if kept { points.sum[v] / points.count } else { 0.0 };
        let is_pair = self.problem.complementary();
        let value = |i: usize, side: Side| {
            let v = self.variable(i, side);
            mean(v, points.seen[v] || (side == Side::Z && !is_pair[i]))
        };
        let n = self.problem.size();
        let plain: Vec<f64> = (0..n).map(|i| value(i, Side::Z)).collect();
        let w: Vec<f64> = (0..n).map(|i| value(i, Side::W)).collect();
        let mut z = plain.clone();
        let program = std::mem::take(&mut self.levels[level]);
        let refined = self.refine(&program, &mut z, &w).and_then(|_| self.evaluated(z));
        self.levels[level] = program;
        let plain = self.evaluated(plain);
        [refined, plain].into_iter().flatten().min_by(|a, b| a.1.absolute.total_cmp(&b.1.absolute))
    }

    /// Dimension of `{ z : M_RC z_C = -q_R }` with `R` the rows where `w` stays zero and `C` the columns that
    /// move: all else in the piece is strict inequalities at its inside.
    fn dimension(&self, z_support: &[usize], w_support: &[usize]) -> usize {
        let n = self.problem.size();
        let is_free = |i: &usize| !self.problem.complementary()[*i];
        let rows: Vec<usize> = (0..n).filter(|i| !w_support.contains(i)).collect();
        let columns: Vec<usize> = (0..n).filter(|i| is_free(i) || z_support.contains(i)).collect();
        let block = Matrix::from_fn(rows.len(), columns.len(), |i, j| self.system.m[(rows[i], columns[j])]);
        columns.len() - rank(block)
    }

    /// Whether some variable grows without bound on the node's polyhedron.
    fn is_unbounded(&mut self, level: usize) -> bool {
        let program = &mut self.levels[level];
        let bounded: Vec<bool> = program.kind.iter().map(|&k| k == Kind::Bounded).collect();
        let end = program.maximise(&self.system, self.budget, |v| if bounded[v] { 1.0 } else { 0.0 });
        !self.idle.is_empty() || matches!(end, Maximum::Unbounded { .. })
    }
}

/// Whether `part` lies within `whole`; both ascend.
fn includes(whole: &[usize], part: &[usize]) -> bool {
    part.iter().all(|i| whole.binary_search(i).is_ok())
}
