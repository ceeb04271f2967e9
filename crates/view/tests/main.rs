//! Tests of pages and images, one binary: each module says what it tests.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod live;
mod serve;
