//! Mechanics of bodies in frictional contact.
//!
//! - [`analysis`]: what contacts do at an instant, without a step of time;
//! - [`random`]: random contact problems with bodies behind them, for trials of solvers.

pub mod analysis;
pub mod random;
pub mod space;
