//! Contacts: which law binds force to deformation, and what each contact keeps from step to step.
//!
//! - [`Material`], [`Pair`]: what the bodies are made of;
//! - [`Law`]: what a contact does under force;
//! - [`half_space`]: the compliance of a patch of elements;
//! - [`Patch`], [`Compliance`]: stiffness, damping and the block `E^-1` of a law, ready for steps;
//! - [`Response`]: force of a law at a state, with its tangent stiffness and damping.

pub mod half_space;
pub mod set;

mod compliance;
mod invalid;
mod law;
mod layer;
mod material;
mod place;
mod response;
mod stated_layer;

pub use compliance::{Compliance, Patch};
pub use half_space::{Directions, Grid};
pub use invalid::InvalidContact;
pub(crate) use law::short;
pub use law::{Influence, Law, MOST_ROWS, PatchDamping, damping_of_ratio};
pub use layer::{Layer, MOST_LAYERS};
pub use material::{FrictionRule, Material, Pair};
pub use place::{ContactPoint, share_of_first};
pub use response::{Overlap, Response};
pub use stated_layer::{RowSpring, StatedLayer};
