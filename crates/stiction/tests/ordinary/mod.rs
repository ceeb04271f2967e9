//! A gallery of ordinary scenes: tasks that users have, with default settings, each with an expectation of its own.
//!
//! The scenes are the files `*.toml` of this folder. Each begins with what it shows, what must come out, and why; `stiction run` runs them. The modules hold
//! the expectations: closed forms, or a few lines of integration that share nothing with the library. Each scene is run under every scheme that
//! supports it (bench.rs).

mod bench;
mod carousels;
mod energy;
mod feeders;
mod grasps;
mod impacts;
mod machines;
mod mechanisms;
mod slides;
mod towers;
mod tracks;
mod wheels;
