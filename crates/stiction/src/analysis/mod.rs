//! Contacts at an instant: which accelerations and forces are possible, without a step of time.

pub mod bodies;
pub mod instant;
pub mod surfaces;
