//! The dynamics of trees against expectations that do not come from them: closed forms, finite differences of poses,
//! sums over links, conservation laws.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod invalid;
mod motion;
mod scenes;
mod trees;
