//! Tests of the program, one binary: each module says what it tests.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod accelerate;
mod analyze;
mod certificate;
mod check;
mod fit;
mod plot;
mod problems;
mod program;
mod recording;
mod run;
mod shoot;
mod solve;
mod view;
