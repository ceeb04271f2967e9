//! Lemke's complementary pivot method.
//!
//! Problem: LCP(M, q), `w = M z + q`, `0 <= z _|_ w >= 0`.
//!
//! Source: Cottle, Pang, Stone, *The Linear Complementarity Problem*, scheme I of section 4.4 with
//! the lexicographic rule of 4.9; covering vectors with restarts as in trinkle1995 section 6.
//! song2004 Theorem 3 guarantees success on its LCP (18).
//!
//! A covering variable `z0` with column `c > 0` makes `w = q + M z + c z0` feasible; each pivot then brings in
//! the complement of the variable that just left, until `z0` leaves (a solution) or nothing blocks
//! (a ray).
//!
//! Beyond the textbook:
//! - the problem is scaled symmetrically first;
//! - a start may begin at any complementary basis ("base"): Lemke then runs on the principal
//!   pivot transform. Warm starts and some restarts use this; a base that already solves costs one LU;
//! - every [`Settings::check_interval`] pivots, and before a ray is believed, the dictionary is held
//!   against the original data and rebuilt where it has drifted;
//! - the final basis is solved afresh from the original data.
//!
//! Symbols: `d` scaling, `c` covering vector in the base's rows, variables `w_i` = `i`, `z_i` = `n + i`,
//! `z0` = `2 n`.

mod leaving;

use crate::basis::BasisSolver;
use crate::dictionary::Dictionary;
use crate::matrix::dot;
use crate::problem::Lcp;
use crate::report::{Certificate, Progress, Report, Status};
use crate::residual::{self, Residual};
use crate::scaling;
use crate::solver::{Budget, End};
use std::cell::Cell;

/// Name in reports.
pub const NAME: &str = "lemke";

/// Settings of Lemke's method.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Covering vectors tried, the first one being all ones (in scaled units).
    pub starts: usize,
    /// Pivots a start may take; `None`: 1000 + 50 n. (trinkle1995 used 100.)
    pub max_pivots: Option<usize>,
    /// Entries below this, with the matrix scaled to about 1, do not block.
    pub pivot_tolerance: f64,
    /// Constants that differ by less than this, with `q` scaled to 1, are tied.
    pub tie_tolerance: f64,
    /// Pivots between checks of the dictionary against the original data.
    pub check_interval: usize,
    /// Drift, relative to the largest constant, that calls for a rebuild.
    pub drift_tolerance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 1e-8,
            starts: 40,
            max_pivots: None,
            pivot_tolerance: Lemke::PIVOT_TOLERANCE,
            tie_tolerance: Lemke::PIVOT_TOLERANCE,
            check_interval: 50,
            drift_tolerance: 1e-9,
        }
    }
}

/// Complementary basis from which a start sets out.
enum Base {
    /// All `w` basic.
    Slack,
    /// Where the last path ended, or the warm start.
    Last,
    /// A random one: some problems (bimatrix games) send every path from the slack basis to a ray.
    Random,
}

impl Base {
    fn of_start(start: usize, warm: bool) -> Self {
        match start % 3 {
            0 if start > 0 || warm => Self::Last,
            2 => Self::Random,
            _ => Self::Slack,
        }
    }
}

/// Where a path ended.
#[derive(PartialEq)]
enum Path {
    /// At a complementary basis, or where the dictionary could not be rebuilt: the basis is solved afresh.
    Basis,
    /// At a ray; the first one is kept.
    Ray,
    /// At the limit of pivots, or of the budget.
    Unfinished,
}

/// What a solve did; the solution itself is in [`Lemke::solution`].
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// How it ended: on a complementary basis whose residual is within tolerance; stalled at a ray or at a basis that is not; or by a limit.
    pub end: End,
    /// Pivots over all starts.
    pub pivots: usize,
    /// Covering vectors used; 0 if none was needed.
    pub starts: usize,
    /// Of the solution (the best one met, if not solved).
    pub residual: Residual,
}

/// Solves one LCP. For many of one size keep a [`Lemke`].
pub fn solve(lcp: &Lcp, settings: &Settings) -> Report {
    solve_within(lcp, settings, &mut Budget::default(), &mut |_| ())
}

/// Solves one LCP within a budget, as [`solve`] does without one; `watch` hears of the progress.
pub fn solve_within(
    lcp: &Lcp,
    settings: &Settings,
    budget: &mut Budget,
    watch: &mut dyn FnMut(Progress),
) -> Report {
    let mut lemke = MEMORY.take();
    lemke.settings = settings.clone();
    lemke.budget.clone_from(budget);
    let outcome = lemke.solve(lcp, None, watch);
    let report = lemke.report(outcome);
    *budget = std::mem::take(&mut lemke.budget);
    if lcp.size() <= KEPT_SIZE {
        MEMORY.set(lemke);
    }
    report
}

/// Problems up to this size leave their memory to the thread's next one-shot solve.
const KEPT_SIZE: usize = 200;

thread_local! {
    static MEMORY: Cell<Lemke> = Cell::default();
}

/// Lemke's method with its memory: after the first solve of a size, further ones allocate nothing
/// (below the order from which factorisations are blocked, 64 active variables).
#[derive(Debug, Clone, Default)]
pub struct Lemke {
    /// May be changed between solves.
    pub settings: Settings,
    /// Work that the next solves may do, and a flag that ends them.
    pub budget: Budget,
    t: Dictionary,
    d: Vec<f64>,
    q_scale: f64,
    c: Vec<f64>,
    /// Basic variables at the start of the path, row by row of the problem.
    base: Vec<usize>,
    ties: Vec<usize>,
    /// Constants and pivots of the ratio test, row by row.
    constants: Vec<f64>,
    pivots: Vec<f64>,
    /// Basis to start from or to accept: indices of its `z`.
    wanted: Vec<usize>,
    kept: Vec<usize>,
    basis: BasisSolver,
    z: Vec<f64>,
    /// The best answer so far and its basis.
    best: Vec<f64>,
    active: Vec<usize>,
    scratch: Vec<f64>,
    ray: Vec<f64>,
    ray_covering: f64,
}

impl Lemke {
    /// Default tolerance of pivots and ties.
    pub const PIVOT_TOLERANCE: f64 = 1e-11;

    /// Empty memory.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// The last solve's answer; all zero before one was met.
    pub fn solution(&self) -> &[f64] {
        &self.best
    }

    /// Indices of the basic `z` of the last solve's answer: the warm start of the next.
    pub fn active(&self) -> &[usize] {
        &self.active
    }

    /// Solves `lcp`, starting from the basis in which the `z` of `warm` are basic, if given
    /// (entries out of range or repeated are ignored).
    pub fn solve(&mut self, lcp: &Lcp, warm: Option<&[usize]>, watch: &mut dyn FnMut(Progress)) -> Outcome {
        let n = lcp.size();
        scaling::symmetric(lcp.matrix(), &mut self.d, &mut self.scratch);
        let largest = self.d.iter().zip(lcp.vector()).fold(0.0f64, |m, (d, q)| m.max((d * q).abs()));
        self.q_scale = if largest > 0.0 { scaling::power_of_two(largest) } else { 1.0 };
        self.ray.clear();
        self.best.clear();
        self.best.resize(n, 0.0);
        self.active.clear();
        self.wanted.clear();
        self.ties.clear();
        self.kept.clear();
        for list in [&mut self.active, &mut self.wanted, &mut self.ties, &mut self.kept] {
            list.reserve(n);
        }
        self.ray.reserve(n);
        self.basis.reserve(n);
        let mut outcome = Outcome { end: End::Stalled, pivots: 0, starts: 0, residual: Residual::NONE };
        if lcp.vector().iter().all(|&q| q >= 0.0) {
            outcome.end = End::Solved;
            outcome.residual = residual::lcp(lcp, &self.best);
            return outcome;
        }
        if let Some(warm) = warm {
            self.scratch.clear();
            self.scratch.resize(n, 0.0);
            for &i in warm.iter().filter(|&&i| i < n) {
                self.scratch[i] = 1.0;
            }
            self.wanted.extend((0..n).filter(|&i| self.scratch[i] > 0.0));
            if self.solve_basis(lcp) && self.is_feasible(lcp) && self.accept_basis(lcp, &mut outcome) {
                return outcome;
            }
        }
        let mut random = 0x5eed;
        for start in 0..self.settings.starts.max(1) {
            if let Some(end) = self.budget.ended() {
                outcome.end = end;
                break;
            }
            outcome.starts = start + 1;
            self.c.clear();
            self.c.extend((0..n).map(|_| if start == 0 { 1.0 } else { covering_entry(&mut random) }));
            self.load(lcp);
            match Base::of_start(start, warm.is_some()) {
                Base::Slack => self.wanted.clear(),
                Base::Last if self.pivot_to_wanted() => (),
                Base::Last => {
                    self.wanted.clear();
                    self.load(lcp);
                }
                Base::Random => self.pivot_at_random(&mut random),
            }
            self.set_covering();
            let path = self.follow_path(lcp, &mut outcome.pivots, watch);
            self.wanted.clear();
            self.wanted.extend((0..n).filter(|&i| self.t.row_of(n + i).is_some()));
            if self.budget.ended() == Some(End::Interrupted) {
                break;
            }
            if path == Path::Basis && self.solve_basis(lcp) && self.accept_basis(lcp, &mut outcome) {
                return outcome;
            }
            outcome.end = if path == Path::Unfinished { End::Limit } else { End::Stalled };
        }
        if let Some(end) = self.budget.ended() {
            outcome.end = end;
        } else if !self.ray.is_empty() {
            outcome.end = End::Stalled;
        }
        if outcome.residual == Residual::NONE {
            outcome.residual = residual::lcp(lcp, &self.best);
        }
        outcome
    }

    /// The full report on the last solve.
    pub fn report(&self, outcome: Outcome) -> Report {
        let Outcome { end, pivots, starts, residual } = outcome;
        let stopped = |reason: String| Certificate::Stopped { end, reason };
        let certificate = match end {
            End::Solved => Certificate::Basis { active: self.active.clone() },
            End::Interrupted => stopped(format!("interrupted after {pivots} pivots")),
            End::Limit if self.budget.ended().is_some() => {
                stopped(format!("the budget was used up after {pivots} pivots"))
            }
            End::Limit => stopped(format!("limit of pivots reached in the last of {starts} starts")),
            _ if !self.ray.is_empty() => {
                Certificate::Ray { direction: self.ray.clone(), covering: self.ray_covering, starts }
            }
            _ => stopped(format!(
                "the final basis solves only to relative residual {:.1e}; {starts} starts",
                residual.relative
            )),
        };
        Report {
            status: if end == End::Solved { Status::Solved } else { Status::Stalled },
            solver: NAME,
            iterations: pivots,
            residual,
            solution: self.best.clone(),
            certificate,
        }
    }

    /// Solves the basis `wanted` from the original data, into `z`; false if it is singular.
    fn solve_basis(&mut self, lcp: &Lcp) -> bool {
        self.z.clear();
        self.z.resize(lcp.size(), 0.0);
        self.basis.solve(lcp.matrix(), lcp.vector(), &self.d, &self.wanted, &mut self.z).is_ok()
    }

    /// Whether the basis just solved has the right signs, in scaled units: a guess is not accepted for a small residual
    /// alone, which in other units than the problem's may be a large one.
    fn is_feasible(&self, lcp: &Lcp) -> bool {
        let scaled = |i: usize| self.z[i] / (self.d[i] * self.q_scale);
        let largest = self.wanted.iter().fold(1.0f64, |m, &i| m.max(scaled(i).abs()));
        let least = -self.settings.tie_tolerance * largest;
        self.wanted.iter().all(|&i| scaled(i) >= least)
            && (0..lcp.size()).filter(|i| self.wanted.binary_search(i).is_err()).all(|i| {
                self.d[i] * (dot(lcp.matrix().row(i), &self.z) + lcp.vector()[i]) / self.q_scale >= least
            })
    }

    /// Keeps the solution of the basis just solved if it is the best so far.
    fn accept_basis(&mut self, lcp: &Lcp, outcome: &mut Outcome) -> bool {
        for z in &mut self.z {
            *z = z.max(0.0);
        }
        let found = residual::lcp(lcp, &self.z);
        if found.absolute <= outcome.residual.absolute {
            outcome.residual = found;
            self.best.copy_from_slice(&self.z);
            self.active.clone_from(&self.wanted);
        }
        let good = found.relative <= self.settings.tolerance;
        if good {
            outcome.end = End::Solved;
        }
        good
    }

    /// The scaled dictionary at `w` basic, the covering column still empty.
    fn load(&mut self, lcp: &Lcp) {
        let n = lcp.size();
        self.t.reset(n, n + 1);
        for i in 0..n {
            let di = self.d[i];
            self.t.set_constant(i, di * lcp.vector()[i] / self.q_scale);
            for ((x, a), dj) in self.t.row_mut(i).iter_mut().zip(lcp.matrix().row(i)).zip(&self.d) {
                *x = di * a * dj;
            }
        }
    }

    /// Pivots from `w` basic to the complementary basis with `wanted` basic; false if singular.
    fn pivot_to_wanted(&mut self) -> bool {
        let n = self.t.rows();
        for k in 0..self.wanted.len() {
            let j = self.wanted[k];
            let column = self.t.column_of(n + j).expect("not yet basic");
            let (mut best, mut row) = (self.settings.pivot_tolerance, None);
            for &i in &self.wanted {
                if let Some(r) = self.t.row_of(i)
                    && self.t.entry(r, column).abs() > best
                {
                    (best, row) = (self.t.entry(r, column).abs(), Some(r));
                }
            }
            if !row.is_some_and(|row| self.pivot(row, column)) {
                return false;
            }
        }
        true
    }

    /// Pivots, unless no more work may be done.
    fn pivot(&mut self, row: usize, column: usize) -> bool {
        let may = self.budget.ended().is_none();
        if may {
            self.pivot_anyway(row, column);
        }
        may
    }

    fn pivot_anyway(&mut self, row: usize, column: usize) {
        self.budget.spend_pivot(self.t.rows(), self.t.columns());
        self.t.pivot(row, column);
    }

    /// Principal pivots of order 1, or 2 where the diagonal is small, on a random half of the pairs;
    /// leaves the basis in `wanted`.
    fn pivot_at_random(&mut self, random: &mut u64) {
        const SMALL: f64 = 1e-3;
        let n = self.t.rows();
        let place = |t: &Dictionary, i: usize| {
            let row = t.row_of(i).or(t.row_of(n + i)).expect("one of a pair is basic");
            let column = t.column_of(n + i).or(t.column_of(i)).expect("one of a pair is nonbasic");
            (row, column)
        };
        for i in 0..n {
            if splitmix(random) < 0.5 {
                continue;
            }
            let (row, column) = place(&self.t, i);
            if self.t.entry(row, column).abs() > SMALL {
                self.pivot(row, column);
                continue;
            }
            let partner = (0..n)
                .filter(|&j| j != i)
                .map(|j| {
                    let (row_j, column_j) = place(&self.t, j);
                    let size = self.t.entry(row, column_j).abs().min(self.t.entry(row_j, column).abs());
                    (size * (0.5 + splitmix(random)), row_j, column_j)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((size, row_j, column_j)) = partner
                && size > SMALL
            {
                // column_j first: its pivot leaves the entry (row_j, column) nearly as it is; after it alone, pairs would be broken
                if self.pivot(row, column_j) {
                    self.pivot_anyway(row_j, column);
                }
            }
        }
        self.wanted.clear();
        self.wanted.extend((0..n).filter(|&i| self.t.row_of(n + i).is_some()));
    }

    /// Puts the covering vector into its column and notes the base.
    fn set_covering(&mut self) {
        let n = self.t.rows();
        self.base.clear();
        self.base.extend(0..n);
        for &i in &self.wanted {
            self.base[i] = n + i;
        }
        for i in 0..n {
            let row = self.t.row_of(self.base[i]).expect("the base is basic");
            self.t.row_mut(row)[n] = self.c[i];
        }
    }

    /// Pivots from the base along Lemke's path.
    fn follow_path(&mut self, lcp: &Lcp, pivots: &mut usize, watch: &mut dyn FnMut(Progress)) -> Path {
        let n = self.t.rows();
        let limit = self.settings.max_pivots.unwrap_or(1000 + 50 * n);
        let (covering, mut entering) = (2 * n, 2 * n);
        let Some(mut row) = self.first_leaving() else { return Path::Basis };
        let mut checked = 0;
        for done in 1.. {
            let column =
                self.t.column_of(entering).expect("the complement of a leaving variable is nonbasic");
            let leaving = self.t.basic[row];
            if done > limit || !self.pivot(row, column) {
                return Path::Unfinished;
            }
            *pivots += 1;
            if leaving == covering {
                return Path::Basis;
            }
            entering = if leaving < n { leaving + n } else { leaving - n };
            if done - checked >= self.settings.check_interval {
                checked = done;
                watch(Progress { solver: NAME, iterations: *pivots, share: None });
                if self.drift(lcp) > self.settings.drift_tolerance && !self.rebuild(lcp) {
                    return Path::Basis;
                }
            }
            row = match self.leaving(entering) {
                Some(row) => row,
                None => {
                    // Believe a ray only on a fresh dictionary.
                    if !self.rebuild(lcp) {
                        return Path::Basis;
                    }
                    match self.leaving(entering) {
                        Some(row) => row,
                        None => {
                            if self.ray.is_empty() {
                                self.keep_ray(entering);
                            }
                            return Path::Ray;
                        }
                    }
                }
            };
        }
        unreachable!("the loop ends by its limit")
    }

    /// Column of the covering vector in the rows of the original problem, `B c` with `B` the base.
    fn original_covering(&mut self, lcp: &Lcp) {
        let n = lcp.size();
        // y = D c on the base's z, so that B c = c_w - D M y
        self.z.clear();
        self.z.extend((0..n).map(|j| if self.base[j] >= n { self.d[j] * self.c[j] } else { 0.0 }));
        self.scratch.clear();
        for i in 0..n {
            let own = if self.base[i] < n { self.c[i] } else { 0.0 };
            self.scratch.push(own - self.d[i] * dot(lcp.matrix().row(i), &self.z));
        }
    }

    /// Largest violation of `w = q + M z + c z0` by the dictionary's basic solution, over its
    /// largest constant.
    fn drift(&mut self, lcp: &Lcp) -> f64 {
        let n = lcp.size();
        self.original_covering(lcp);
        let value = |v: usize| self.t.row_of(v).map_or(0.0, |r| self.t.constant(r));
        self.z.clear();
        self.z.extend((0..n).map(|j| self.d[j] * value(n + j)));
        let (mut worst, mut largest) = (0.0f64, 1.0f64);
        for i in 0..n {
            let right = self.d[i] * (lcp.vector()[i] / self.q_scale + dot(lcp.matrix().row(i), &self.z))
                + self.scratch[i] * value(2 * n);
            worst = worst.max((value(i) - right).abs());
            largest = largest.max(self.t.constant(i).abs());
        }
        if worst.is_nan() { f64::INFINITY } else { worst / largest }
    }

    /// The dictionary of the present basis from the original data; false if the basis is singular.
    fn rebuild(&mut self, lcp: &Lcp) -> bool {
        let n = lcp.size();
        self.original_covering(lcp);
        self.kept.clone_from(&self.t.basic);
        self.load(lcp);
        for i in 0..n {
            let c = self.scratch[i];
            self.t.row_mut(i)[n] = c;
        }
        // Gauss-Jordan: each wanted variable takes the row with the largest pivot among those of
        // variables that are not wanted.
        self.z.clear();
        self.z.resize(2 * n + 1, 0.0);
        for &v in &self.kept {
            self.z[v] = 1.0;
        }
        for k in 0..n {
            let v = self.kept[k];
            let Some(column) = self.t.column_of(v) else { continue };
            let mut row = None;
            let mut best = 0.0;
            for r in 0..n {
                if self.z[self.t.basic[r]] == 0.0 && self.t.entry(r, column).abs() > best {
                    (best, row) = (self.t.entry(r, column).abs(), Some(r));
                }
            }
            if !row.is_some_and(|row| self.pivot(row, column)) {
                return false;
            }
        }
        true
    }

    /// Direction of `z` and `z0` as `entering` grows, in the problem's units.
    fn keep_ray(&mut self, entering: usize) {
        let n = self.t.rows();
        let column = self.t.column_of(entering).expect("entering variables are nonbasic");
        let along = |v: usize| match self.t.row_of(v) {
            Some(row) => self.t.entry(row, column),
            None if v == entering => 1.0,
            None => 0.0,
        };
        self.ray.clear();
        self.ray.extend((0..n).map(|i| self.d[i] * along(n + i)));
        self.ray_covering = along(2 * n);
    }
}

/// Entry of a random covering vector, log-uniform in [1/16, 16].
fn covering_entry(state: &mut u64) -> f64 {
    (8.0 * splitmix(state) - 4.0).exp2()
}

/// Uniform in [0, 1) (Steele, Lea, Flood: splitmix64).
fn splitmix(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
