//! Contacts: which law binds force to deformation, and what each contact keeps from step to step.

mod law;

pub use law::{Influence, Law, PatchDamping};
