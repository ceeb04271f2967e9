//! Contacts at an instant: possible accelerations and forces, without a time step.

pub mod bodies;
pub mod instant;
pub mod surfaces;
