//! The report of a solve: a status, the residual of the result, and the evidence for the status.

use crate::outcome::End;
use crate::residual::Residual;
use serde::Serialize;
use std::fmt;

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A solution within tolerance; where all were requested, the only one.
    Solved,
    /// Proved that none exists.
    NoSolution,
    /// More than one solution, found and listed.
    Several,
    /// A limit on work ended the search for a decision.
    Undecided,
    /// The method ended without a result: the reason is in the certificate.
    Stalled,
}

impl Status {
    /// Whether the question was answered, by a solution or a proof.
    pub fn is_decided(self) -> bool {
        matches!(self, Self::Solved | Self::NoSolution | Self::Several)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Solved => "solved",
            Self::NoSolution => "no-solution",
            Self::Several => "several",
            Self::Undecided => "undecided",
            Self::Stalled => "stalled",
        })
    }
}

/// Progress of a solver, reported while it works.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Name of the solver at work.
    pub solver: &'static str,
    /// Iterations so far, as in [`Report::iterations`].
    pub iterations: usize,
    /// Share of the search that is settled, from 0 to 1, where the solver knows it (decide).
    pub share: Option<f64>,
}

/// Outcome of one solve.
#[must_use]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Method that produced the result.
    pub solver: &'static str,
    /// Pivots (Lemke), Newton steps (interior point) or nodes (decide).
    pub iterations: usize,
    /// Residual of `solution`, evaluated on the original problem ([`crate::residual`]); infinite without a solution.
    pub residual: Residual,
    /// The best result found; empty if there is none.
    pub solution: Vec<f64>,
    /// Evidence for the status.
    pub certificate: Certificate,
}

/// Evidence for a status.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Certificate {
    /// The residual alone speaks for the solution.
    Residual,
    /// The solution is the exact solution of a complementary basis: these `z_i` basic, all others zero.
    Basis {
        /// Indices of the basic `z`.
        active: Vec<usize>,
    },
    /// Lemke did not solve it and met a secondary ray (the first one is kept): along it `z` moves by `direction` and the covering variable
    /// by `covering`, and no pivot is met.
    Ray {
        /// Direction of `z`, in the problem's units.
        direction: Vec<f64>,
        /// Direction of the covering variable.
        covering: f64,
        /// Covering vectors tried.
        starts: usize,
    },
    /// No solution: a branch-and-bound tree whose leaves carry Farkas vectors.
    NoSolution(Proof),
    /// What a search for all solutions found.
    Solutions {
        /// The pieces of the solution set: points and continua.
        pieces: Vec<Piece>,
        /// Whether the search was exhausted: then there are no others.
        complete: bool,
    },
    /// Why the solver stopped short, and how far it got.
    Stopped {
        /// How the solve ended.
        end: End,
        /// Why it ended, in words.
        reason: String,
    },
}

/// Proof that a mixed LCP has no solution: every complementary choice ends in a [`Proof`] leaf
/// that no `z` within `radius` satisfies. Verified by [`crate::solver::decide::verify`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proof {
    /// The tree in preorder: the first child of a branch follows it, then the second.
    pub nodes: Vec<ProofNode>,
    /// The proof holds for every `z` whose entries sum to at most this in absolute value
    /// (infinite: for every `z`). Finite where rounding leaves a Farkas vector's signs in doubt.
    pub radius: f64,
}

/// A node of a [`Proof`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofNode {
    /// First child: `z_pair = 0`; second child: `w_pair = 0`.
    Branch {
        /// The complementary pair that is split.
        pair: usize,
    },
    /// The linear relaxation at this node is empty: `y` with `y' q < 0`, `y_i >= 0` unless `w_i`
    /// is fixed to zero, `(M' y)_j <= 0` unless `z_j` is fixed to zero (`= 0` where `z_j` is free).
    Leaf {
        /// The Farkas vector.
        y: Vec<f64>,
    },
}

/// A connected, convex piece of the solution set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Piece {
    /// Pairs whose `z` is positive somewhere on the piece.
    pub z_support: Vec<usize>,
    /// Pairs whose `w` is positive somewhere on the piece.
    pub w_support: Vec<usize>,
    /// 0: an isolated solution; else the dimension of the continuum.
    pub dimension: usize,
    /// The piece reaches to infinity.
    pub unbounded: bool,
    /// The solution itself, or a point from the inside of the continuum.
    pub point: Vec<f64>,
    /// Of `point`.
    pub residual: Residual,
}
