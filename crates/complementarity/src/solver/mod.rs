//! Solvers: one algorithm per file. Only `auto` knows the others.
//!
//! Solvers of contact problems ([`crate::problem::ContactProblem`]) have one shape: a struct that keeps its memory, with public
//! `settings` and `solve(&mut self, problem, lambda) -> Outcome`, where `lambda` is the warm start on the way in and the result on the
//! way out. After the first solve of a size they allocate nothing.

pub mod auto;
pub mod cone_interior_point;
pub mod decide;
pub mod gauss_seidel;
pub mod instant;
pub mod interior_point;
pub mod lemke;
pub mod newton;
pub mod newton_lemke;
pub mod portfolio;
pub mod velocity_newton;

mod method;
mod polyhedral;
mod scaled;
mod system;

pub use crate::outcome::{Budget, Choice, End, Outcome};
pub use method::{Method, Solver, UnknownMethod};
