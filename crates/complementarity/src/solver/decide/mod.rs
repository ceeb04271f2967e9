//! `decide`: one solution of a mixed LCP, or all of them, or a proof that there is none.
//!
//! ```text
//! w = M z + q,   z_i >= 0, w_i >= 0, z_i w_i = 0   (pairs);   w_i = 0, z_i free   (equalities)
//! ```
//!
//! Branch and bound, depth first: a node has some `z_i` and some `w_i` of pairs fixed to zero, and relaxes the
//! products of the other pairs. The linear program that is left is infeasible (its Farkas vector goes into the
//! proof), or its vertex is complementary (a solution), or it violates a pair, which is split: `z_i = 0` or
//! `w_i = 0`. This is the enumeration of K. Al-Khayyal, An implicit enumeration procedure for the general linear
//! complementarity problem, Math. Prog. Study 31 (1987), with bounds by linear programs as in integer
//! programming (strong branching: T. Achterberg, Constraint Integer Programming, 2007, section 5.4).
//!
//! Numbers are scaled by the powers of two `R`, `C`, `unit`: `z = unit C z~`, `w~ = R w / unit`, `y = R y~`.
//! A proof is only claimed after [`verify`] has accepted it.

mod all;
mod branch;
mod start;
mod verify;

use verify::Verdict;
pub use verify::{Refuted, verify};

use super::{Budget, End};
use crate::linear_program::{FEASIBLE, Feasibility, Kind, Program, System};
use crate::matrix::{Matrix, dot};
use crate::problem::MixedLcp;
use crate::report::{Certificate, Piece, Progress, Proof, ProofNode, Report, Status};
use crate::residual::{self, Residual};
use crate::{factor::Lu, scaling};
use branch::Choice;

/// Settings of [`solve`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Find all solutions instead of one. A list said to be complete rests on Farkas vectors that were checked in
    /// plain arithmetic; only proofs of no solution are checked rigorously.
    pub all: bool,
    /// Nodes of the tree after which the search ends undecided.
    pub max_nodes: usize,
    /// Pieces of the solution set after which a search for all ends.
    pub max_pieces: usize,
    /// A proof must reach this far, as a multiple of the natural size of `sum |z|`: the largest at any vertex
    /// met, and at least that of a well-conditioned solution, `sum_j c_j max_i r_i |q_i|` with the scaling
    /// factors `r` of `w` and `c` of `z`. The default is a choice: proofs by rounded numbers
    /// of well-scaled problems reach ten decades and more.
    pub reach: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-8, all: false, max_nodes: 100_000, max_pieces: 10_000, reach: 1e4 }
    }
}

/// Nodes between two reports of progress.
const WATCH_EVERY: usize = 64;
/// Numbers kept at most, in dictionaries and in the proof (1 GiB).
const MOST_NUMBERS: usize = 1 << 27;
/// Solves of a basis: the first, and corrections that square away most of what rounding left.
const REFINEMENTS: usize = 3;

/// Decides the problem within a budget. `iterations` of the report are the nodes of the tree; an LCP goes in by
/// `MixedLcp::from(&lcp)`.
pub fn solve(
    problem: &MixedLcp,
    settings: &Settings,
    budget: &mut Budget,
    watch: &mut dyn FnMut(Progress),
) -> Report {
    let mut search = Search::new(problem, settings, budget, watch);
    search.run();
    search.report()
}

/// A node of the tree; children by their place.
#[derive(Debug)]
enum Node {
    /// Not yet visited, or not certified.
    Open,
    /// `z_pair = 0` or `w_pair = 0`.
    Branch { pair: usize, z: usize, w: usize },
    /// Infeasible, with its vector (unscaled).
    Leaf(Vec<f64>),
}

/// The two sides of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Z,
    W,
}

struct Search<'a> {
    problem: &'a MixedLcp,
    settings: &'a Settings,
    budget: &'a mut Budget,
    watch: &'a mut dyn FnMut(Progress),
    /// Scaling of `w` and of `z`.
    r: Vec<f64>,
    c: Vec<f64>,
    unit: f64,
    system: System,
    pairs: Vec<usize>,
    /// Free variables that no equation determines.
    idle: Vec<usize>,
    /// One program a depth, reused.
    levels: Vec<Program>,
    probe: Program,
    tree: Vec<Node>,
    /// Numbers in its leaves.
    kept: usize,
    nodes: usize,
    /// Nodes at which progress is reported next.
    next_word: usize,
    /// Share of the tree that is settled, each branch halving.
    settled: f64,
    /// Leaves without proof.
    doubtful: usize,
    /// Largest `sum |z|` at a vertex.
    largest: f64,
    limit: Option<String>,
    pieces: Vec<Piece>,
    answer: Option<Answer>,
    lu: Lu,
}

/// Constants below this share of the largest, scaled, are too small for the claim that a list of solutions is complete.
const TINY: f64 = 1e-7;

/// A solution by its basis.
struct Answer {
    z: Vec<f64>,
    residual: Residual,
    /// The basic `z`, where the basis is complementary.
    active: Option<Vec<usize>>,
}

impl<'a> Search<'a> {
    fn new(
        problem: &'a MixedLcp,
        settings: &'a Settings,
        budget: &'a mut Budget,
        watch: &'a mut dyn FnMut(Progress),
    ) -> Self {
        let n = problem.size();
        let (r, c) = scaling::two_sided(problem.matrix());
        let size = (0..n).fold(0.0f64, |m, i| m.max((r[i] * problem.vector()[i]).abs()));
        let unit = if size > 0.0 { scaling::power_of_two(size) } else { 1.0 };
        let m = Matrix::from_fn(n, n, |i, j| r[i] * problem.matrix()[(i, j)] * c[j]);
        let q = (0..n).map(|i| r[i] * problem.vector()[i] / unit).collect();
        let pairs = (0..n).filter(|&i| problem.complementary()[i]).collect();
        let natural = unit * c.iter().sum::<f64>();
        Self {
            problem,
            settings,
            budget,
            watch,
            r,
            c,
            unit,
            system: System { m, q },
            pairs,
            idle: vec![],
            levels: vec![],
            probe: Program::default(),
            tree: vec![],
            kept: 0,
            nodes: 0,
            next_word: WATCH_EVERY,
            settled: 0.0,
            doubtful: 0,
            largest: natural,
            limit: None,
            pieces: vec![],
            answer: None,
            lu: Lu::default(),
        }
    }

    fn variable(&self, pair: usize, side: Side) -> usize {
        match side {
            Side::W => pair,
            Side::Z => self.problem.size() + 1 + pair,
        }
    }

    fn run(&mut self) {
        let n = self.problem.size();
        let mut root = Program::default();
        root.start(&self.system);
        for i in (0..n).filter(|&i| !self.problem.complementary()[i]) {
            root.kind[i] = Kind::Fixed;
            root.kind[n + 1 + i] = Kind::Free;
        }
        self.idle = root.seat_free(self.budget).iter().map(|v| v - n - 1).collect();
        if !self.settings.all {
            self.pivot_principally(&root);
        }
        self.levels.push(root);
        self.tree.push(Node::Open);
        self.visit(0, 0, 1.0);
    }

    /// Settles the subtree at `slot`, whose program is at `level`. First children take the next level; the
    /// second child takes the parent's own.
    fn visit(&mut self, level: usize, mut slot: usize, mut share: f64) {
        while !self.is_over() {
            self.nodes += 1;
            if self.nodes >= self.next_word {
                self.next_word = self.nodes + WATCH_EVERY;
                let share = Some(self.settled);
                (self.watch)(Progress { solver: "decide", iterations: self.nodes, share });
            }
            let choice = match self.levels[level].dual(&self.system, self.budget) {
                Feasibility::Infeasible { row } => {
                    let y = self.levels[level].certificate(&self.system, row, self.budget);
                    self.keep(slot, y);
                    self.settled += share;
                    return;
                }
                Feasibility::Feasible => self.examine(level),
                Feasibility::Unclear => self.any_open_pair(level),
            };
            let (pair, first, forced) = match choice {
                Choice::Done => {
                    self.settled += share;
                    return;
                }
                Choice::Doubtful if self.levels[level].tighten(&self.system, self.budget) => continue,
                Choice::Doubtful => {
                    self.doubtful += 1;
                    self.settled += share;
                    return;
                }
                Choice::Split { pair, first } => (pair, first, None),
                Choice::Forced { pair, empty, y } => (pair, empty, Some(y)),
            };
            let (z, w) = (self.tree.len(), self.tree.len() + 1);
            self.tree.push(Node::Open);
            self.tree.push(Node::Open);
            self.tree[slot] = Node::Branch { pair, z, w };
            let (first_slot, second_slot, second) = match first {
                Side::Z => (z, w, Side::W),
                Side::W => (w, z, Side::Z),
            };
            share /= 2.0;
            if let Some(y) = forced {
                self.nodes += 1;
                self.keep(first_slot, y);
                self.settled += share;
            } else {
                self.descend(level, self.variable(pair, first));
                self.visit(level + 1, first_slot, share);
            }
            let variable = self.variable(pair, second);
            self.levels[level].kind[variable] = Kind::Fixed;
            slot = second_slot;
        }
    }

    fn descend(&mut self, level: usize, variable: usize) {
        if self.levels.len() == level + 1 {
            self.levels.push(Program::default());
        }
        let (above, below) = self.levels.split_at_mut(level + 1);
        below[0].copy_from(&above[level]);
        below[0].kind[variable] = Kind::Fixed;
    }

    fn is_over(&mut self) -> bool {
        self.budget_ended();
        if self.limit.is_none() && self.nodes >= self.settings.max_nodes {
            self.limit = Some(format!("the limit of {} nodes was reached", self.settings.max_nodes));
        }
        let table = self.system.q.len() * self.system.q.len();
        if self.limit.is_none() && self.kept + self.levels.len() * table > MOST_NUMBERS {
            self.limit = Some("the limit of 1 GiB of memory was reached".to_owned());
        }
        self.limit.is_some() || (self.answer.is_some() && !self.settings.all)
    }

    /// Whether no more work may be done; that is then the limit.
    fn budget_ended(&mut self) -> bool {
        let ended = self.budget.ended();
        if let (None, Some(end)) = (&self.limit, ended) {
            let words = if end == End::Interrupted { "interrupted" } else { "the budget was used up" };
            self.limit = Some(words.to_owned());
        }
        ended.is_some()
    }

    /// Enters a leaf's vector into the proof, as long as there may be one.
    fn keep(&mut self, slot: usize, mut y: Vec<f64>) {
        if self.pieces.is_empty() {
            for (y, r) in y.iter_mut().zip(&self.r) {
                *y *= r;
            }
            self.kept += y.len();
            self.tree[slot] = Node::Leaf(y);
        }
    }

    /// What to do at a feasible node.
    fn examine(&mut self, level: usize) -> Choice {
        let n = self.problem.size();
        let program = &self.levels[level];
        let size: f64 = (0..n).map(|j| self.c[j] * program.value(n + 1 + j).abs()).sum();
        self.largest = self.largest.max(self.unit * size);
        if self.settings.all {
            return self.explore(level);
        }
        let candidates = self.violated(level);
        if candidates.is_empty() {
            let program = std::mem::take(&mut self.levels[level]);
            self.answer = self.polish(&program);
            self.levels[level] = program;
            return if self.answer.is_some() { Choice::Done } else { self.any_open_pair(level) };
        }
        self.choose(level, &candidates)
    }

    fn is_open(&self, program: &Program, pair: usize) -> bool {
        [Side::Z, Side::W].iter().all(|&s| program.kind[self.variable(pair, s)] != Kind::Fixed)
    }

    /// For want of better: the first pair not yet split.
    fn any_open_pair(&self, level: usize) -> Choice {
        match self.pairs.iter().find(|&&i| self.is_open(&self.levels[level], i)) {
            Some(&pair) => Choice::Split { pair, first: Side::W },
            None => Choice::Doubtful,
        }
    }

    /// The vertex of the program's basis from the original data; `None` unless it is a solution within
    /// tolerance.
    fn polish(&mut self, program: &Program) -> Option<Answer> {
        let n = self.problem.size();
        let mut z = vec![0.0; n];
        let (rows, columns) = self.refine(program, &mut z, &vec![0.0; n])?;
        let (z, residual) = self.evaluated(z)?;
        Some(Answer { z, residual, active: (rows == columns).then_some(columns) })
    }

    /// Moves the basic `z` so that the nonbasic `w` take their given values, all scaled:
    /// `M_RC dz_C = (w - M z - q)_R` with `R` the rows of nonbasic `w` and `C` the basic `z`; returns `R` and `C`.
    fn refine(&mut self, program: &Program, z: &mut [f64], w: &[f64]) -> Option<(Vec<usize>, Vec<usize>)> {
        let n = self.problem.size();
        let rows: Vec<usize> = (0..n).filter(|&i| program.table.row_of(i).is_none()).collect();
        let columns: Vec<usize> = (0..n).filter(|&j| program.table.row_of(n + 1 + j).is_some()).collect();
        let (m, q) = (&self.system.m, &self.system.q);
        if !rows.is_empty() {
            self.lu.factor(rows.len(), |i, j| m[(rows[i], columns[j])]).ok()?;
            for _ in 0..REFINEMENTS {
                let mut step: Vec<f64> = rows.iter().map(|&i| w[i] - dot(m.row(i), z) - q[i]).collect();
                self.lu.solve(&mut step);
                for (&j, x) in columns.iter().zip(&step) {
                    z[j] += x;
                }
            }
        }
        Some((rows, columns))
    }

    /// A scaled point in the problem's units and its residual; `None` if that is too large.
    fn evaluated(&self, mut z: Vec<f64>) -> Option<(Vec<f64>, Residual)> {
        for (j, z) in z.iter_mut().enumerate() {
            *z *= self.unit * self.c[j];
            if self.problem.complementary()[j] {
                *z = z.max(0.0);
            }
        }
        let residual = residual::mixed(self.problem, &z);
        (residual.relative <= self.settings.tolerance).then_some((z, residual))
    }

    /// The tree in preorder, `None` if a node is open.
    fn proof(tree: &mut [Node]) -> Option<Proof> {
        let mut nodes = Vec::with_capacity(tree.len());
        let mut stack = vec![0];
        while let Some(slot) = stack.pop() {
            match &mut tree[slot] {
                Node::Open => return None,
                Node::Leaf(y) => nodes.push(ProofNode::Leaf { y: std::mem::take(y) }),
                &mut Node::Branch { pair, z, w } => {
                    nodes.push(ProofNode::Branch { pair });
                    stack.extend([w, z]);
                }
            }
        }
        Some(Proof { nodes, radius: 0.0 })
    }

    fn report(mut self) -> Report {
        let outcome = |status, certificate| Report {
            status,
            solver: "decide",
            iterations: self.nodes,
            residual: Residual::NONE,
            solution: vec![],
            certificate,
        };
        if let Some(Answer { z, residual, active }) = self.answer.take() {
            let certificate = match active {
                Some(active) => Certificate::Basis { active },
                None => Certificate::Residual,
            };
            return Report { residual, solution: z, ..outcome(Status::Solved, certificate) };
        }
        let complete = self.limit.is_none() && self.doubtful == 0 && !self.has_tiny_constants();
        if let Some(first) = self.pieces.first() {
            let (residual, solution) = (first.residual, first.point.clone());
            let status = match self.pieces.len() {
                1 if first.dimension == 0 && complete => Status::Solved,
                1 if first.dimension == 0 => Status::Undecided,
                _ => Status::Several,
            };
            let pieces = std::mem::take(&mut self.pieces);
            let certificate = Certificate::Solutions { pieces, complete };
            return Report { residual, solution, ..outcome(status, certificate) };
        }
        let stopped = |end, reason| outcome(Status::Undecided, Certificate::Stopped { end, reason });
        if let Some(limit) = &self.limit {
            let end = self.budget.ended().unwrap_or(End::Limit);
            let settled = 100.0 * self.settled;
            return stopped(end, format!("{limit}: {settled:.3} % of the tree settled, no solution there"));
        }
        let undecided = |reason| stopped(End::Stalled, reason);
        if self.doubtful > 0 {
            let of = self.nodes;
            return undecided(format!(
                "{} of {of} nodes could not be settled in this precision",
                self.doubtful
            ));
        }
        let Some(mut proof) = Self::proof(&mut self.tree) else {
            return undecided("the tree has open nodes".to_owned());
        };
        match verify::check(self.problem, &proof, self.budget) {
            Ok(Verdict { radius, excess }) if radius.is_finite() && excess > verify::ROUNDING => {
                undecided(format!(
                    "no solution with sum |z| below {radius:e}, but there may be one beyond: a leaf leans on entries \
                     of M'y of {excess:.1e} times what makes them up"
                ))
            }
            Ok(Verdict { radius, .. }) if radius >= self.settings.reach * self.largest => {
                proof.radius = radius;
                outcome(Status::NoSolution, Certificate::NoSolution(proof))
            }
            Ok(Verdict { radius, .. }) => undecided(format!(
                "no solution with sum |z| below {radius:e}, but that is not far enough: {:e} times the largest \
                 met ({:e}) is asked for",
                self.settings.reach, self.largest
            )),
            Err(unchecked @ Refuted::Unchecked { .. }) => {
                stopped(self.budget.ended().unwrap_or(End::Limit), unchecked.to_string())
            }
            Err(refuted) => undecided(format!("the proof found does not hold: {refuted}")),
        }
    }

    /// Constants so small beside the largest that what they decide cannot be distinguished from rounding.
    fn has_tiny_constants(&self) -> bool {
        let sizes = || self.r.iter().zip(self.problem.vector()).map(|(r, q)| (r * q).abs());
        let largest = sizes().fold(0.0, f64::max);
        sizes().any(|size| size > 0.0 && size < TINY * largest)
    }

    /// Open pairs with both sides positive at the vertex, the most violated first.
    fn violated(&self, level: usize) -> Vec<(usize, f64)> {
        let program = &self.levels[level];
        let mut found: Vec<(usize, f64)> = (self.pairs.iter().filter(|&&i| self.is_open(program, i)))
            .map(|&i| (i, self.gap(program, i)))
            .filter(|&(_, gap)| gap > FEASIBLE)
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    }
}
