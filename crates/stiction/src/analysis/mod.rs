//! Contacts at an instant: which accelerations and forces are possible, without a step of time.

pub mod instant;
pub mod kinematics;
