//! Complementarity problems ([`problem`]), their solvers ([`solver`]), and the one residual by which every result is
//! evaluated ([`residual`]).
//!
//! The crate knows mathematics only: no bodies, no time, no files. Start reading in `problem/`, then `residual.rs` and `solver/auto.rs`. Problems run from special to general:
//!
//! - [`problem::Lcp`]: find `z >= 0` with `w = M z + q >= 0` and `z' w = 0`;
//! - [`problem::MixedLcp`]: the same, with some `z` free and their rows of `w` zero;
//! - [`problem::BoxedLcp`]: mixed LCPs whose `z` has lower and upper bounds;
//! - [`problem::Nonlinear`]: mixed nonlinear complementarity problems with box bounds (MCP);
//! - [`problem::FrictionProblem`]: contact forces `lambda` and velocities `s = A lambda + b` under
//!   unilateral contact and Coulomb's law (cone, pyramid or polygon).
//!
//! ```
//! use complementarity::{matrix::Matrix, problem::Lcp, report::Status, solver::lemke};
//!
//! let m = Matrix::from_rows(&[&[2.0, 1.0], &[1.0, 2.0]]);
//! let lcp = Lcp::new(m, vec![-5.0, -6.0]).expect("square and finite");
//! let report = lemke::solve(&lcp, &lemke::Settings::default());
//! assert_eq!(report.status, Status::Solved);
//! assert!((report.solution[0] - 4.0 / 3.0).abs() < 1e-14);
//! ```

pub mod certificate;
pub mod eigen;
pub mod element;
pub mod matrix;
pub mod operator;
pub mod problem;
pub mod report;
pub mod residual;
pub mod solver;

mod basis;
mod bench;
mod block_lu;
mod dictionary;
pub mod factor;
mod islands;
mod linear_program;
mod one_contact;
mod outcome;
#[cfg(target_arch = "x86_64")]
mod packed;
mod scaling;
mod sweep;
mod units;
