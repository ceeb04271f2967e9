//! The immutable, validated model of a mechanical system, and its file.
//!
//! A [`Scene`] is read from TOML by [`Scene::from_toml`] or [`Scene::read`]. Units are SI throughout: metres,
//! kilograms, seconds, newtons, radians. What a file may hold is in [`schema`] (`scenes/scene.schema.json`); a
//! file that is wrong is answered with every place where it is ([`SceneError`]).
//!
//! In a planar scene everything happens in the x-y plane: vectors in the file have two components, turns and
//! torques are one number about z.

mod contact;
mod error;
mod keys;
mod model;
mod raw;
mod read;
mod settings;
mod start;
mod summary;

pub use crate::contact::FrictionRule;
pub(crate) use contact::MOST_FRICTION;
pub use contact::{ContactRule, Grain, Material, Pair, PairOf};
pub use error::{Fault, Place, SceneError, nearest};
pub use model::{Axes, Body, Course, End, Load, Motor, Owner, Part, Scene, Spring, WorldPart};
pub use settings::{ForceTime, FrictionKind, GapLevel, RecordSettings, SolverKind, StepSettings, Table};
pub use summary::summary;

/// The JSON schema of scene files, as indented text ending in a line break.
pub fn schema() -> String {
    let mut text = format!("{:#}", keys::schema());
    text.push('\n');
    text
}
