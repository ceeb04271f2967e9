//! Tests of solvers and problems, one binary: each module says what it tests.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod agreement;
mod budget;
mod certificate;
mod choice;
mod classical;
mod cone;
mod cone_families;
mod conversion;
mod decide;
mod element_residual;
mod elements;
mod families;
mod instant;
mod interior_point;
mod lemke;
mod nonlinear;
mod piles;
mod sets;
mod units;
mod velocity_newton;
