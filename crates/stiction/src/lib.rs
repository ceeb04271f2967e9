//! Mechanics of bodies in frictional contact.
//!
//! - [`analysis`]: what contacts do at an instant, without a step of time;
//! - [`scene`]: the model of a mechanical system, and its file;
//! - [`random`]: random contact problems with bodies behind them, for trials of solvers.

pub mod analysis;
pub mod contact;
pub mod dynamics;
pub mod geometry;
pub mod random;
pub mod scene;
pub mod space;
