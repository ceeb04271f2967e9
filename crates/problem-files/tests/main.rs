//! Tests of files of problems, one binary: each module says what it tests.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod cone_solvers;
mod fclib;
mod fclib_global;
mod hostile;
mod making;
mod npz;
mod shared_cone;
mod shared_problems;
