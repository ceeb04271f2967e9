//! Scenes and recordings as pictures.
//!
//! A [`Clip`] is a motion in memory: read from a recording ([`Clip::read`]), taken from states ([`Clip::of_states`]), or filled by
//! a run that it observes. [`page()`] turns it into one HTML file that needs nothing else; [`serve`](serve()) shows a recording or a live run to a
//! browser on this machine; [`render`] draws images without a browser.
//!
//! It does not know how a motion came about. Start reading in `clip.rs`.
//!
//! All of them draw what [`mesh::Mesh::of`] makes of a shape, so that a new shape needs no other change.

mod clip;
mod codec;
mod encode;
mod http;
pub mod live;
pub mod mesh;
pub mod page;
mod read;
pub mod render;
pub mod scenery;
pub mod serve;

pub use clip::{Clip, Ending, Happening, Placed, Steps, Touch};
pub use encode::Have;
pub use page::page;
pub use serve::{Address, ServeError, Source, serve};
