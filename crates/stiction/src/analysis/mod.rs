//! Contacts at an instant: which accelerations and forces are possible, and whether others were, without a step of time.

pub mod bodies;
pub mod determinacy;
pub mod instant;
pub mod surfaces;
