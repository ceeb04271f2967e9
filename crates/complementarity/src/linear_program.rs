//! Linear programs on a dictionary: the dual simplex (feasible, or a row that proves it is not), the primal
//! simplex (the largest value of a linear function), Farkas vectors, and a strictly feasible point.
//!
//! ```text
//! x_row = q + M x_column     every variable >= 0, or fixed (= 0), or free
//! ```
//!
//! Source: Chvatal, Linear Programming, 1983, chapters 2, 3 and 10 (dictionaries), 16 (Farkas).
//!
//! What is asked of the dual simplex is feasibility alone, so its costs are free to choose: they are random
//! and positive, and where a pivot leaves one at zero or below it is drawn again. Ties, and with them
//! cycles, then have probability zero. The ratio test follows P. Harris, Pivot selection methods of the
//! Devex LP code, 1973: among the columns that nearly tie the largest pivot is taken.
//!
//! Numbering: row variable `i` is `i`, the cost is `rows`, column variable `j` is `rows + 1 + j`.

use crate::dictionary::Dictionary;
use crate::matrix::{Matrix, dot};
use crate::problem::Lcp;
use crate::scaling;

/// Data are scaled so that the entries of `M` and `q` are near 1; a value below this is zero.
pub(crate) const FEASIBLE: f64 = 1e-9;
/// What is zero in strict runs, from a dictionary just built.
const STRICT: f64 = 1e-12;
/// A pivot must exceed this share of the largest entry in its row (the second, nearer to rounding, in a dictionary
/// built afresh because the first left a row unclear),
const PIVOT_SHARE: f64 = 1e-9;
const FINE_PIVOT_SHARE: f64 = 1e-12;
/// and this.
const PIVOT_FLOOR: f64 = 1e-11;
/// Slack of the ratio test (costs are near 1).
const HARRIS: f64 = 1e-9;
/// Equations may be off by this, over the size of their terms, before the dictionary is built afresh.
const DRIFT: f64 = 1e-10;
/// A Farkas vector may have wrong signs of this size, over its gap: it then speaks for all points below the inverse,
/// in scaled units.
const SOUND: f64 = 1e-7;
/// Pivots, over the number of variables, after which costs are drawn again, and after which to give up.
const PATIENCE: (usize, usize) = (10, 100);
/// Smallest and largest share with which another row is added to a Farkas vector.
const LIFT: (f64, f64) = (1e-11, 1e-4);

/// What is asked of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `>= 0`.
    Bounded,
    /// `= 0`.
    Fixed,
    /// Anything.
    Free,
}

/// How the dual simplex ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feasibility {
    Feasible,
    /// The row's variable cannot come back to its bound.
    Infeasible {
        row: usize,
    },
    /// Too many pivots, or rounding took over.
    Unclear,
}

/// How the primal simplex ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maximum {
    Optimal,
    /// The function grows without bound as this column's variable does.
    Unbounded {
        column: usize,
    },
    Unclear,
}

/// `x_row = q + M x_column`, kept to build dictionaries from and to check them against.
#[derive(Debug, Clone, Default)]
pub(crate) struct System {
    pub m: Matrix,
    pub q: Vec<f64>,
}

/// A dictionary (its last row the cost) and what is asked of its variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub table: Dictionary,
    pub kind: Vec<Kind>,
    /// Pivots since the dictionary was built.
    age: usize,
    random: u64,
    strict: bool,
    /// Smallest pivot for the size of its row.
    share: f64,
    /// Scratch: 1 for columns that may move, 0 for fixed ones.
    open: Vec<f64>,
}

impl Program {
    /// All row variables basic, all bounded, all costs zero.
    pub fn start(&mut self, system: &System) {
        let (rows, columns) = (system.m.rows(), system.m.columns());
        self.kind.clear();
        self.kind.resize(rows + 1 + columns, Kind::Bounded);
        self.kind[rows] = Kind::Free;
        self.load(system);
    }

    fn load(&mut self, system: &System) {
        let (rows, columns) = (system.m.rows(), system.m.columns());
        self.table.reset(rows + 1, columns);
        for i in 0..rows {
            self.table.set_constant(i, system.q[i]);
            self.table.row_mut(i).copy_from_slice(system.m.row(i));
        }
        self.age = 0;
    }

    /// Becomes a copy; allocates only when it grows.
    pub fn copy_from(&mut self, other: &Self) {
        self.table.copy_from(&other.table);
        self.kind.clone_from(&other.kind);
        self.age = other.age;
        self.random = other.random;
        self.strict = other.strict;
    }

    /// Rows without the cost.
    pub fn rows(&self) -> usize {
        self.table.rows() - 1
    }

    /// Value of a variable at the dictionary's vertex.
    pub fn value(&self, variable: usize) -> f64 {
        self.table.row_of(variable).map_or(0.0, |row| self.table.constant(row))
    }

    /// The column variables at the vertex.
    pub fn point(&self, x: &mut Vec<f64>) {
        let first = self.rows() + 1;
        x.clear();
        x.extend((first..first + self.table.columns()).map(|v| self.value(v)));
    }

    /// Whether the vertex satisfies the original equations to rounding.
    pub fn is_accurate(&self, system: &System, x: &mut Vec<f64>) -> bool {
        self.point(x);
        let largest = x.iter().fold(1.0f64, |a, b| a.max(b.abs()));
        (0..self.rows()).all(|i| {
            let error = self.value(i) - dot(system.m.row(i), x) - system.q[i];
            error.abs() <= DRIFT * largest
        })
    }

    /// The dictionary of the same basis from the original data: Gaussian elimination with complete
    /// pivoting. `false` if the basis is singular; the dictionary is then that of a nearby basis.
    pub fn rebuild(&mut self, system: &System) -> bool {
        let rows = self.rows();
        let mut enter: Vec<usize> = self.table.basic.iter().copied().filter(|&v| v > rows).collect();
        let mut leave: Vec<usize> = self.table.nonbasic.iter().copied().filter(|&v| v < rows).collect();
        self.load(system);
        while !enter.is_empty() {
            let (mut best, mut at) = (PIVOT_FLOOR, None);
            for (a, &out) in leave.iter().enumerate() {
                let row = self.table.row(out);
                for (b, &into) in enter.iter().enumerate() {
                    let size = row[into - rows - 1].abs();
                    if size > best {
                        (best, at) = (size, Some((a, b)));
                    }
                }
            }
            let Some((a, b)) = at else { return false };
            self.table.pivot(leave.swap_remove(a), enter.swap_remove(b) - rows - 1);
        }
        true
    }

    /// Asks for feasibility beyond [`FEASIBLE`] from now on; `false` if that was done before.
    pub fn tighten(&mut self, system: &System) -> bool {
        let first = !self.strict;
        self.strict = true;
        if first {
            self.rebuild(system);
        }
        first
    }

    fn draw(&mut self) -> f64 {
        // xorshift64, Marsaglia 2003
        let mut x = self.random | 1 << 40;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random = x;
        0.5 + (x >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a cost for every column, or for those at zero or below alone.
    fn draw_costs(&mut self, all: bool) {
        let cost = self.rows();
        for j in 0..self.table.columns() {
            if all || (self.open[j] > 0.0 && self.table.entry(cost, j) <= 0.0) {
                let x = self.open[j] * self.draw();
                self.table.row_mut(cost)[j] = if all { x } else { 1e-6 * x };
            }
        }
    }

    /// Forgets the costs: the next run of the dual simplex draws them afresh.
    pub fn forget_costs(&mut self) {
        let cost = self.rows();
        self.table.row_mut(cost).fill(0.0);
    }

    fn mark_open(&mut self) {
        self.open.clear();
        self.open
            .extend(self.table.nonbasic.iter().map(|&v| if self.kind[v] == Kind::Fixed { 0.0 } else { 1.0 }));
    }

    fn exchange(&mut self, row: usize, column: usize) {
        self.open[column] = if self.kind[self.table.basic[row]] == Kind::Fixed { 0.0 } else { 1.0 };
        self.table.pivot(row, column);
        self.age += 1;
    }

    /// Makes free column variables basic, in rows of fixed variables first, largest pivot first. A free
    /// variable that meets no pivot is determined by nothing: it is fixed at zero, and returned.
    pub fn seat_free(&mut self) -> Vec<usize> {
        let rows = self.rows();
        self.mark_open();
        for fixed_rows in [true, false] {
            loop {
                let (mut best, mut at) = (PIVOT_SHARE, None);
                for i in 0..rows {
                    let kind = self.kind[self.table.basic[i]];
                    if kind == Kind::Free || fixed_rows != (kind == Kind::Fixed) {
                        continue;
                    }
                    for (j, a) in self.table.row(i).iter().enumerate() {
                        if a.abs() > best && self.kind[self.table.nonbasic[j]] == Kind::Free {
                            (best, at) = (a.abs(), Some((i, j)));
                        }
                    }
                }
                let Some((i, j)) = at else { break };
                self.exchange(i, j);
            }
        }
        let idle: Vec<usize> =
            self.table.nonbasic.iter().copied().filter(|&v| self.kind[v] == Kind::Free).collect();
        for &v in &idle {
            self.kind[v] = Kind::Fixed;
        }
        idle
    }

    /// Dual simplex: to a feasible vertex, or to a row that no feasible point satisfies. At most `limit`
    /// pivots (then `Unclear`).
    pub fn dual(&mut self, system: &System, limit: usize) -> Feasibility {
        let mut scratch = vec![];
        for attempt in 0..3 {
            self.share = if attempt == 0 { PIVOT_SHARE } else { FINE_PIVOT_SHARE };
            let end = self.dual_run(limit);
            let sound = match end {
                Feasibility::Feasible => self.is_accurate(system, &mut scratch),
                Feasibility::Infeasible { row } => self.row_is_accurate(system, row),
                Feasibility::Unclear => limit != usize::MAX,
            };
            if sound || self.age == 0 || attempt == 2 {
                return if sound { end } else { Feasibility::Unclear };
            }
            self.rebuild(system);
            self.age = 0;
        }
        Feasibility::Unclear
    }

    fn dual_run(&mut self, limit: usize) -> Feasibility {
        let (rows, columns) = (self.rows(), self.table.columns());
        self.mark_open();
        let none = (0..columns).all(|j| self.table.entry(rows, j) * self.open[j] <= 0.0);
        self.draw_costs(none);
        let (redraw, give_up) = (1 + PATIENCE.0 * (rows + columns), 1 + PATIENCE.1 * (rows + columns));
        for count in 1..=give_up {
            let Some((row, sign, floor)) = self.leaving() else { return Feasibility::Feasible };
            let Some(column) = self.entering(row, sign, floor) else {
                return Feasibility::Infeasible { row };
            };
            if count > limit {
                return Feasibility::Unclear;
            }
            self.exchange(row, column);
            self.draw_costs(count % redraw == 0);
        }
        Feasibility::Unclear
    }

    /// The row furthest out of bounds for the size of its entries; `sign`: +1 if it must grow; the
    /// smallest usable pivot. A row that no column can mend comes before all others.
    fn leaving(&self) -> Option<(usize, f64, f64)> {
        let tolerance = if self.strict { STRICT } else { FEASIBLE };
        let mut best = (0.0, None);
        for i in 0..self.rows() {
            let value = self.table.constant(i);
            let violation = match self.kind[self.table.basic[i]] {
                Kind::Bounded => -value,
                Kind::Fixed => value.abs(),
                Kind::Free => 0.0,
            };
            if violation <= tolerance {
                continue;
            }
            let sign = if value < 0.0 { 1.0 } else { -1.0 };
            let (mut square, mut size, mut top) = (0.0, 0.0f64, 0.0f64);
            for (&a, &open) in self.table.row(i).iter().zip(&self.open) {
                let a = a * open;
                square += a * a;
                size = if a.abs() > size { a.abs() } else { size };
                top = if sign * a > top { sign * a } else { top };
            }
            let floor = (self.share * size).max(PIVOT_FLOOR);
            let score = if top > floor { violation / square.sqrt() } else { 1e100 * violation };
            if score > best.0 {
                best = (score, Some((i, sign, floor)));
            }
        }
        best.1
    }

    /// Harris' ratio test.
    fn entering(&self, row: usize, sign: f64, floor: f64) -> Option<usize> {
        let (costs, entries) = (self.table.row(self.rows()), self.table.row(row));
        let mut bound = f64::INFINITY;
        for j in 0..entries.len() {
            let a = sign * entries[j] * self.open[j];
            if a > floor {
                bound = bound.min((costs[j] + HARRIS) / a);
            }
        }
        let (mut best, mut chosen) = (0.0, None);
        for j in 0..entries.len() {
            let a = sign * entries[j] * self.open[j];
            if a > floor && costs[j] <= bound * a && a > best {
                (best, chosen) = (a, Some(j));
            }
        }
        chosen
    }

    /// Primal simplex from a feasible vertex: the largest value of `sum weight(v) x_v`. Largest gain a
    /// unit first, then (for long runs) Bland's rule, 1977.
    pub fn maximise(&mut self, system: &System, weight: impl Fn(usize) -> f64) -> Maximum {
        let mut scratch = vec![];
        for _ in 0..3 {
            let end = self.primal_run(&weight);
            if end != Maximum::Unclear && self.is_accurate(system, &mut scratch) {
                return end;
            }
            self.forget_costs();
            self.rebuild(system);
            if self.dual(system, usize::MAX) != Feasibility::Feasible {
                return Maximum::Unclear;
            }
        }
        Maximum::Unclear
    }

    fn primal_run(&mut self, weight: impl Fn(usize) -> f64) -> Maximum {
        let (rows, columns) = (self.rows(), self.table.columns());
        self.mark_open();
        self.set_function(weight);
        for count in 0..=PATIENCE.1 * (rows + columns) {
            let bland = count > PATIENCE.0 * (rows + columns);
            let gains = self.table.row(rows);
            let (mut best, mut entering) = (FEASIBLE, None);
            for j in 0..columns {
                let gain = gains[j] * self.open[j];
                let first = bland && gain > FEASIBLE;
                let earlier = entering.is_none_or(|k: usize| self.table.nonbasic[j] < self.table.nonbasic[k]);
                if if bland { first && earlier } else { gain > best } {
                    (best, entering) = (gain, Some(j));
                }
            }
            let Some(column) = entering else { return Maximum::Optimal };
            match self.blocking(column, bland) {
                Some(row) => self.exchange(row, column),
                None => return Maximum::Unbounded { column },
            }
        }
        Maximum::Unclear
    }

    /// Writes a linear function into the cost row.
    fn set_function(&mut self, weight: impl Fn(usize) -> f64) {
        let rows = self.rows();
        let mut row: Vec<f64> = self.table.nonbasic.iter().map(|&v| weight(v)).collect();
        let mut constant = 0.0;
        for i in 0..rows {
            let factor = weight(self.table.basic[i]);
            if factor != 0.0 {
                constant += factor * self.table.constant(i);
                for (x, a) in row.iter_mut().zip(self.table.row(i)) {
                    *x += factor * a;
                }
            }
        }
        self.table.set_constant(rows, constant);
        self.table.row_mut(rows).copy_from_slice(&row);
    }

    /// The row that stops the column's variable first; fixed variables stop it at once.
    fn blocking(&self, column: usize, bland: bool) -> Option<usize> {
        let rows = self.rows();
        let size = (0..rows).fold(0.0f64, |m, i| m.max(self.table.entry(i, column).abs()));
        let floor = (PIVOT_SHARE * size).max(PIVOT_FLOOR);
        let steps = |slack: f64| {
            (0..rows).filter_map(move |i| {
                let (a, value) = (self.table.entry(i, column), self.table.constant(i).max(0.0));
                match self.kind[self.table.basic[i]] {
                    Kind::Bounded if a < -floor => Some((i, (value + slack) / -a, -a)),
                    Kind::Fixed if a.abs() > floor => Some((i, slack / a.abs(), a.abs())),
                    _ => None,
                }
            })
        };
        let slack = if bland { 0.0 } else { FEASIBLE };
        let bound = steps(slack).fold(f64::INFINITY, |m, s| m.min(s.1));
        let ties = steps(0.0).filter(|s| s.1 <= bound);
        if bland {
            return ties.min_by_key(|s| self.table.basic[s.0]).map(|s| s.0);
        }
        ties.max_by(|a, b| a.2.total_cmp(&b.2)).map(|s| s.0)
    }

    /// The vector `y` over the row variables that proves the row infeasible: in
    /// `y' x_row - (M' y)' x_column = y' q` all terms on the left are >= 0 and the right is < 0.
    ///
    /// The row itself gives one (Chvatal 16). Basic variables have coefficient zero there, up to
    /// rounding; so other rows are added with small shares as long as no sign turns, which lifts these
    /// coefficients above what rounding can spoil.
    pub fn farkas(&self, row: usize) -> Vec<f64> {
        let (rows, columns) = (self.rows(), self.table.columns());
        let negative = self.table.constant(row) < 0.0;
        let sign = if negative { 1.0 } else { -1.0 };
        let closed = |v: usize| self.kind[v] == Kind::Fixed;
        let gap = self.table.constant(row).abs();
        let mut left: Vec<f64> = (0..columns)
            .map(|j| {
                let coefficient = -sign * self.table.entry(row, j);
                if closed(self.table.nonbasic[j]) { coefficient } else { coefficient.max(0.0) }
            })
            .collect();
        let mut share = vec![0.0; rows];
        share[row] = sign;
        let budget = left.clone();
        for k in (0..rows).filter(|&k| k != row && self.kind[self.table.basic[k]] == Kind::Bounded) {
            let mut most = LIFT.1 * gap.min(1.0);
            if self.table.constant(k) > 0.0 {
                most = most.min(gap / self.table.constant(k));
            }
            for j in (0..columns).filter(|&j| !closed(self.table.nonbasic[j])) {
                let a = self.table.entry(k, j);
                if a > PIVOT_FLOOR {
                    most = most.min(budget[j] / a);
                }
            }
            most /= 2.0 * rows as f64;
            if most > LIFT.0 * gap.min(1.0) {
                share[k] = most;
                for (l, a) in left.iter_mut().zip(self.table.row(k)) {
                    *l -= most * a;
                }
            }
        }
        (0..rows)
            .map(|v| match (self.table.row_of(v), self.table.column_of(v)) {
                (Some(k), _) => share[k],
                (None, Some(j)) if closed(v) => left[j],
                (None, Some(j)) => left[j].max(0.0),
                (None, None) => 0.0,
            })
            .collect()
    }

    /// Whether an infeasible row follows from the original equations: the coefficients that its `y` gives
    /// the column variables have the right signs, up to a share of the gap.
    fn row_is_accurate(&self, system: &System, row: usize) -> bool {
        let rows = self.rows();
        let y = self.farkas(row);
        let gap = -dot(&y, &system.q);
        let product = system.m.transpose_times(&y);
        gap > 0.0
            && product.iter().enumerate().all(|(j, &p)| match self.kind[rows + 1 + j] {
                Kind::Fixed => true,
                Kind::Bounded => p <= SOUND * gap,
                Kind::Free => p.abs() <= SOUND * gap,
            })
    }
}

/// A point with `z > 0` and `M z + q > 0`: in units scaled so that `M` and `q` are near 1, the largest `t <= 1`
/// with `z >= t`, `M z + q >= t`. `None` if that `t` is not above zero.
pub(crate) fn strictly_feasible(problem: &Lcp) -> Option<Vec<f64>> {
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
    if program.dual(&system, usize::MAX) != Feasibility::Feasible {
        return None;
    }
    let s = n + 1 + n;
    if program.maximise(&system, |v| if v == s { -1.0 } else { 0.0 }) != Maximum::Optimal {
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

    fn program(rows: &[&[f64]], q: &[f64]) -> (Program, System) {
        let system = System { m: Matrix::from_rows(rows), q: q.to_vec() };
        let mut p = Program::default();
        p.start(&system);
        (p, system)
    }

    #[test]
    fn the_dual_simplex_finds_a_feasible_vertex() {
        // x2 + x3 >= 1, x2 <= 1/2
        let (mut p, s) = program(&[&[1.0, 1.0], &[-1.0, 0.0]], &[-1.0, 0.5]);
        assert_eq!(p.dual(&s, usize::MAX), Feasibility::Feasible);
        assert!((0..2).chain(3..5).all(|v| p.value(v) >= -FEASIBLE));
    }

    #[test]
    fn an_infeasible_program_yields_its_farkas_vector() {
        // x + y <= 1 and x + y >= 2
        let (mut p, s) = program(&[&[-1.0, -1.0], &[1.0, 1.0]], &[1.0, -2.0]);
        let Feasibility::Infeasible { row } = p.dual(&s, usize::MAX) else { panic!("feasible") };
        let y = p.farkas(row);
        assert!(y.iter().all(|&x| x >= 0.0) && dot(&y, &s.q) < 0.0);
        assert!(s.m.transpose_times(&y).iter().all(|&x| x <= 0.0));
    }

    #[test]
    fn fixed_and_free_variables_are_respected() {
        // row 0 fixed: x + y = 1 with x free, y >= 0; row 1: -x - 3 >= 0, so x = -3, y = 4 at least
        let (mut p, s) = program(&[&[1.0, 1.0], &[-1.0, 0.0]], &[-1.0, -3.0]);
        p.kind[0] = Kind::Fixed;
        p.kind[3] = Kind::Free;
        assert!(p.seat_free().is_empty());
        assert_eq!(p.dual(&s, usize::MAX), Feasibility::Feasible);
        assert!(p.value(0).abs() < 1e-12 && p.value(3) <= -3.0 + 1e-12);
        assert_eq!(p.maximise(&s, |v| if v == 3 { 1.0 } else { 0.0 }), Maximum::Optimal);
        assert!((p.value(3) + 3.0).abs() < 1e-12 && (p.value(4) - 4.0).abs() < 1e-12);
        let end = p.maximise(&s, |v| if v == 4 { 1.0 } else { 0.0 });
        assert!(matches!(end, Maximum::Unbounded { .. }));
    }

    #[test]
    fn a_rebuilt_dictionary_is_the_same() {
        let (mut p, s) = program(&[&[1.0, 2.0], &[3.0, 5.0]], &[-1.0, -7.0]);
        p.dual(&s, usize::MAX);
        let before: Vec<f64> = (0..5).map(|v| p.value(v)).collect();
        assert!(p.rebuild(&s));
        for (v, x) in before.iter().enumerate().filter(|x| x.0 != 2) {
            assert!((p.value(v) - x).abs() < 1e-12);
        }
    }

    #[test]
    fn a_strictly_feasible_point_is_found_or_there_is_none() {
        let m = Matrix::from_rows(&[&[2.0, -1.0], &[-1.0, 2e6]]);
        let p = Lcp::new(m, vec![-3.0, -50.0]).unwrap();
        let z = strictly_feasible(&p).unwrap();
        assert!(z.iter().chain(&p.slack(&z)).all(|&x| x > 0.0));
        let none = Lcp::new(Matrix::from_rows(&[&[-1.0]]), vec![-1.0]).unwrap();
        assert_eq!(strictly_feasible(&none), None);
        let touching = Lcp::new(Matrix::from_rows(&[&[0.0]]), vec![0.0]).unwrap();
        assert_eq!(strictly_feasible(&touching), None);
        let empty = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap();
        assert_eq!(strictly_feasible(&empty), Some(vec![]));
    }

    #[test]
    fn strictly_feasible_agrees_with_a_known_interior() {
        // random M, q = 1 - M e: z = e has w = e
        let mut p = Program::default();
        for n in [1, 3, 10, 40] {
            for _ in 0..5 {
                let m = Matrix::from_fn(n, n, |_, _| 4.0 * (p.draw() - 1.0));
                let q = m.times(&vec![1.0; n]).iter().map(|x| 1.0 - x).collect();
                let lcp = Lcp::new(m, q).unwrap();
                assert!(strictly_feasible(&lcp).is_some(), "n = {n}");
            }
        }
    }
}
