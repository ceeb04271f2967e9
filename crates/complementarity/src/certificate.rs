//! What can be said about a solution of a friction problem beside its residual: which forces it leaves undetermined, and what the theorems
//! promise.
//!
//! Contacts that influence each other are an island; each is examined apart. Entries are taken in units in which the diagonal blocks of `A` have
//! trace 1 (`lambda_c = d_c x_c`, `s_c = y_c / d_c`, which leaves Coulomb's law as it is); `A`, `b` mean the scaled ones here.
//!
//! **Forces.** With the velocities as they are, forces may move along `v` with `A v = 0` where `v_c` is anything at a contact that sticks
//! with its force inside the cone, along the force at one that slips, and zero at one that is open. Every small step along such a `v` is a
//! solution again, with the same motion; the dimension of this space is reported, the contacts it moves, and a basis of it. Contacts at an edge (of slip, or of
//! lift-off) count if a step is found that leads all of them inwards.
//!
//! **Isolated.** Where the law linearised at the solution (slip directions may turn) has no null space, there is no other solution nearby.
//!
//! **Theorems.** With `sigma` the least eigenvalue of `(A + A')/2` and `eta` the norm of the tangential rows of `A`:
//! - `sigma > 0`: a solution exists for every `b` and every `mu` (pang2005 Lemma 4; rigid: trinkle1995 Theorem 1 (a), whose condition (36) is
//!   then empty).
//! - `max mu < sigma / (r eta)`: it is the only one, for every `b`. This is the proof of pang2005 Lemma 4, `0 >= (sigma - eta |I - D(mu)|) |l1 - l2|^2`
//!   with `|I - D(mu)| = max mu`, made a little sharper: `I - D(mu)` feeds the tangential rows alone. `r` is the radius of the friction set for
//!   `mu = 1`: 1 for disc and inscribed polygon, sqrt(2) for the square. trinkle1995 Theorem 1 (c) is the same for rigid contacts, without a number.
//! - `A` symmetric, positive semidefinite, and `b` in its range: a solution exists for every `mu`, though `A` is singular (trinkle1995 Theorem 1 (a) and the remark on it).

mod basis;
mod diagnosis;
mod directions;
mod edge;
mod impossible;
mod island;
mod sweeps;

pub use diagnosis::{Diagnosis, Fault, Kind};
pub use impossible::Impossible;
pub use sweeps::Sweeps;

use crate::islands::Islands;
use crate::operator::{BlockMatrix, Neighbours, Operator};
use crate::problem::{Friction, FrictionProblem};
use crate::units::AsDisc;
use island::{Island, Spectrum};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Settings of [`examine`].
#[derive(Debug, Clone)]
pub struct Settings {
    /// Singular values below this share of the largest one are zero.
    pub rank_tolerance: f64,
    /// Forces below this share of the largest force of the island, velocities below this share of its largest velocity, and distances from the cone's surface below
    /// this share of the force are zero.
    pub state_tolerance: f64,
    /// Islands with more rows are not examined: the cost grows with the third power.
    pub most_rows: usize,
    /// A basis of the undetermined forces with more numbers is left out.
    pub most_basis: usize,
    /// Raised by others to end the examination; seen between decompositions of an island.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { rank_tolerance: 1e-9, state_tolerance: 1e-6, most_rows: 2000, most_basis: 100_000, stop: None }
    }
}

impl Settings {
    /// An error if the stop flag was raised.
    fn may_go_on(&self) -> Result<(), &'static str> {
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => Err("interrupted"),
            _ => Ok(()),
        }
    }
}

/// Changes of a normal force below this in a direction of length 1 are rounding.
const LEAST_CHANGE: f64 = 1e-6;

/// What is known of a problem and its solution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Certificate {
    /// Rank of `A`; `None` where an island is too large.
    pub rank: Option<Rank>,
    /// Whether the forces are determined; `None` without a solution, or where an island is too large.
    pub forces: Option<Forces>,
    /// Whether a solution exists.
    pub existence: Existence,
    /// Why no theorem covers it, in words, if that is known.
    pub uncovered: Option<&'static str>,
    /// Whether it is the only one.
    pub uniqueness: Option<Bound>,
    /// Why something is not known, in words.
    pub reason: Option<String>,
}

/// Numerical rank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rank {
    /// Singular values that count.
    pub rank: usize,
    /// Order of `A`.
    pub size: usize,
    /// [`Settings::rank_tolerance`].
    pub tolerance: f64,
}

/// Whether the forces are determined by the motion, and the motion isolated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forces {
    /// Dimension of the family of forces with the same motion; 0: determined.
    pub dimension: usize,
    /// The same if contacts at an edge (see `edge`) could move freely too. Larger than `dimension` where no step was found that leads all of them inwards.
    pub dimension_at_most: usize,
    /// Contacts whose force is not determined, from 0.
    pub undetermined: Vec<usize>,
    /// Contacts at an edge: sticking with the force on the cone's surface, touching without force or velocity, or slipping with the force at the end of a
    /// polygon's side.
    pub edge: Vec<usize>,
    /// The family: an orthonormal basis of its directions, in the units of the forces as posed. `None` above [`Settings::most_basis`] numbers.
    pub basis: Option<Vec<Direction>>,
    /// There is no other solution nearby. False: not shown.
    pub isolated: bool,
    /// Whether all solutions nearby have the same motion, by the law linearised at the solution. With contacts at an edge the law has several linearisations: `None`
    /// if some, with all such contacts free or all held, allow another motion.
    pub motion_isolated: Option<bool>,
    /// Contacts under load or at an edge whose islands have another motion nearby: those that decide which one is taken.
    pub other_motion: Vec<usize>,
}

impl Forces {
    /// Of a problem without contacts.
    fn determined() -> Self {
        Self {
            dimension: 0,
            dimension_at_most: 0,
            undetermined: vec![],
            edge: vec![],
            basis: Some(vec![]),
            isolated: true,
            motion_isolated: Some(true),
            other_motion: vec![],
        }
    }

    /// Joins what is known of the motion of another island: whether it is isolated, and whether that is certain.
    fn join_motion(&mut self, isolated: bool, certain: bool) {
        self.motion_isolated = match (isolated, certain) {
            (true, _) => self.motion_isolated,
            (false, true) => Some(false),
            (false, false) => self.motion_isolated.filter(|isolated| !isolated),
        };
    }

    /// Contacts whose normal force is not determined, from 0: those where a direction of the basis changes it. `None` without a basis.
    pub fn undetermined_normal(&self) -> Option<Vec<usize>> {
        let mut moved: Vec<usize> = vec![];
        for direction in self.basis.as_ref()? {
            let rows = direction.change.len() / direction.contacts.len().max(1);
            let changes = direction.contacts.iter().zip(direction.change.chunks_exact(rows.max(1)));
            moved.extend(changes.filter(|(_, change)| change[0].abs() > LEAST_CHANGE).map(|(c, _)| *c));
        }
        moved.sort_unstable();
        moved.dedup();
        Some(moved)
    }
}

/// A direction in which forces can move with the same motion: `A v = 0` to the tolerance of the rank (in scaled units), anything where a contact sticks within its cone,
/// along the force where it slips, zero where it is open. Of length 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Direction {
    /// Contacts that it moves, from 0.
    pub contacts: Vec<usize>,
    /// Change of their forces, row by row of each.
    pub change: Vec<f64>,
    /// It moves contacts that are at an edge. The first such direction of an island leads inwards and can be taken forwards; others only after it.
    pub one_sided: bool,
}

impl Direction {
    /// Over all rows of a problem whose elements have these first rows ([`FrictionProblem::offsets`]).
    pub fn to_rows(&self, offsets: &[usize]) -> Vec<f64> {
        let mut out = vec![0.0; offsets.last().copied().unwrap_or(0)];
        let mut left = &self.change[..];
        for &c in &self.contacts {
            let (own, rest) = left.split_at(offsets[c + 1] - offsets[c]);
            out[offsets[c]..offsets[c + 1]].copy_from_slice(own);
            left = rest;
        }
        out
    }
}

/// What the theorems say of existence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Existence {
    /// For every `b` and every `mu`: `A` is positive definite (pang2005 Lemma 4).
    Always,
    /// For this `b` and every `mu`: `b` is in the range of the symmetric, semidefinite `A` (trinkle1995 Theorem 1 (a)).
    ForThisVector,
    /// No theorem at hand covers it.
    NotCovered,
}

/// Uniqueness for small friction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bound {
    /// `sigma / (r eta)`, the least over the islands with friction (all, if none has): below it there is one solution for every `b` (pang2005
    /// Lemma 4). Zero: `A` is not positive definite. Infinite: there are no contacts.
    pub mu_bar: f64,
    /// Largest `mu` of the problem.
    pub mu_max: f64,
    /// Whether each island's `mu` is below its bound, so that the solution is unique.
    pub holds: bool,
}

/// Examines a problem and, where `lambda` is given, a solution of it.
pub fn examine(problem: &FrictionProblem, lambda: Option<&[f64]>, settings: &Settings) -> Certificate {
    match AsDisc::of(problem) {
        Some(disc) => {
            let y = lambda.map(|lambda| disc.unknowns(lambda));
            examine_disc(&disc.problem, y.as_deref(), Some(&disc.scale), settings)
        }
        None => examine_disc(problem, lambda, None, settings),
    }
}

/// `scale`: the forces as posed are so many times those of `problem`, row by row; 1 if `None`.
fn examine_disc(
    problem: &FrictionProblem,
    lambda: Option<&[f64]>,
    scale: Option<&[f64]>,
    settings: &Settings,
) -> Certificate {
    let lambda = lambda.filter(|l| l.len() == problem.size() && l.iter().all(|x| x.is_finite()));
    let blocks = blocks_of(problem);
    let mut islands = Islands::default();
    islands.find(&blocks, problem.offsets());
    let sliding = problem.slides();
    let radius = |&c: &usize| match problem.friction_of(c) {
        Friction::Pyramid if problem.rows_of(c).len() == 3 => 2f64.sqrt(),
        _ => 1.0,
    };
    let coefficients = problem.mu();
    let mu_max = coefficients.iter().fold(0.0f64, |m, x| m.max(*x));
    let mut bound = Bound { mu_bar: f64::INFINITY, mu_max, holds: true };
    let mut existence = Existence::Always;
    let mut rank = Rank { rank: 0, size: problem.size(), tolerance: settings.rank_tolerance };
    let mut states =
        lambda.map(|lambda| directions::states(problem, &islands, lambda, settings.state_tolerance));
    if let (Some(states), Some(scale)) = (&mut states, scale) {
        let own = (0..states.len()).map(|c| &scale[problem.rows_of(c)]);
        states.iter_mut().zip(own).for_each(|(state, scale)| state.keep_real(scale));
    }
    let mut uncovered = None;
    let mut forces = lambda.map(|_| Forces::determined());
    for k in 0..islands.count() {
        let contacts = islands.island(k);
        let (island, spectrum) = match decomposed(problem, &blocks, contacts, settings) {
            Ok(parts) => parts,
            Err(why) => return unknown(why),
        };
        rank.rank += spectrum.rank;
        let mu = contacts.iter().fold(0.0f64, |m, &c| m.max(coefficients[c]));
        let radius = contacts.iter().map(radius).fold(1.0, f64::max);
        let mu_bar = match spectrum.sigma > 0.0 {
            true => spectrum.sigma / (radius * spectrum.eta),
            false => 0.0,
        };
        if mu > 0.0 || mu_max == 0.0 || mu_bar == 0.0 {
            bound.mu_bar = bound.mu_bar.min(mu_bar);
        }
        bound.holds &= spectrum.sigma > 0.0 && mu < mu_bar;
        existence = match (spectrum.in_range, existence) {
            _ if spectrum.sigma > 0.0 => existence,
            (Ok(()), Existence::Always) => Existence::ForThisVector,
            (Ok(()), _) => existence,
            (Err(why), _) => {
                uncovered.get_or_insert(why);
                Existence::NotCovered
            }
        };
        if let (Some(forces), Some(states), Some(lambda)) = (&mut forces, &states, lambda) {
            let Some(()) = island.forces(problem, lambda, states, settings, scale, forces) else {
                return unknown(NOT_CONVERGED.to_owned());
            };
        }
    }
    if let Some(forces) = &mut forces {
        forces.undetermined.sort_unstable();
        forces.edge.sort_unstable();
    }
    let reason = unknown_parts(sliding, forces.as_ref(), settings);
    Certificate {
        rank: Some(rank),
        forces,
        existence: if sliding { Existence::NotCovered } else { existence },
        uncovered: if sliding { Some("contacts slide already") } else { uncovered },
        uniqueness: (!sliding).then_some(bound),
        reason,
    }
}

/// Why something is not known of a problem that was examined, in words.
fn unknown_parts(sliding: bool, forces: Option<&Forces>, settings: &Settings) -> Option<String> {
    let mut reasons: Vec<String> = vec![];
    if sliding {
        reasons.push("contacts that slide already: the theorems' bounds are for rolling ones".to_owned());
    }
    match forces {
        None => reasons.push("no solution to examine".to_owned()),
        Some(forces) if forces.basis.is_none() => reasons.push(format!(
            "a basis of the undetermined forces would have more than {} numbers",
            settings.most_basis
        )),
        Some(_) => (),
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Why nothing is known of an island whose decomposition failed.
const NOT_CONVERGED: &str = "a decomposition did not converge";

/// An island and its spectrum; or why they are not known.
fn decomposed<'a>(
    problem: &FrictionProblem,
    blocks: &Operator,
    contacts: &'a [usize],
    settings: &Settings,
) -> Result<(Island<'a>, Spectrum), String> {
    let size: usize = contacts.iter().map(|&c| problem.rows_of(c).len()).sum();
    if size > settings.most_rows {
        let most = settings.most_rows;
        return Err(format!("an island of contacts has {size} rows: more than {most} are not examined"));
    }
    settings.may_go_on()?;
    let island = Island::new(blocks, problem, contacts).ok_or(NOT_CONVERGED)?;
    settings.may_go_on()?;
    let spectrum = island.spectrum(settings.rank_tolerance).ok_or(NOT_CONVERGED)?;
    settings.may_go_on()?;
    Ok((island, spectrum))
}

fn blocks_of(problem: &FrictionProblem) -> Operator {
    let mut blocks = BlockMatrix::default();
    match problem.operator() {
        Operator::Dense(a) => blocks = BlockMatrix::from_elements(a, problem.offsets()),
        Operator::Blocks(a) => blocks.assign(a),
        Operator::Factored(a) => blocks.assign_factored(a, &mut Neighbours::default()),
    }
    Operator::Blocks(blocks)
}

fn unknown(reason: String) -> Certificate {
    Certificate {
        rank: None,
        forces: None,
        existence: Existence::NotCovered,
        uncovered: None,
        uniqueness: None,
        reason: Some(reason),
    }
}
