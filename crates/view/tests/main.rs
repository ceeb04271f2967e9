//! Tests of pages and images, one binary: each module says what it tests.
#![allow(missing_docs)]

mod live;
mod serve;
