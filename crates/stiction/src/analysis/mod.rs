//! Contacts at an instant: which accelerations and forces are possible, without a step of time, and which of them are stable; and what joints
//! transmit in a step.

pub mod accelerate;
pub mod bodies;
pub mod instant;
pub mod joints;
pub mod stability;
pub mod surfaces;
pub mod warnings;

mod ends;
mod given;
mod prescribed;
