//! Mechanics of bodies in frictional contact.
//!
//! - [`analysis`]: what contacts do at an instant, without a step of time;
//! - [`scene`]: the description of a mechanical system, and its file; [`model`]: what steps make of it;
//! - [`dynamics`], [`geometry`], [`contact`]: trees of links, shapes and where they touch, contact laws;
//! - [`step`]: one step of time, from a [`state`] to the next;
//! - [`run`](mod@run): the driver, which makes many steps and shows them to observers;
//! - [`record`]: recordings of runs, in tables;
//! - [`random`]: random contact problems with bodies behind them, for trials of solvers.

pub mod analysis;
pub mod contact;
pub mod dynamics;
pub mod formulation;
pub mod geometry;
pub mod inputs;
pub mod model;
pub mod random;
pub mod record;
pub mod run;
pub mod scene;
pub mod space;
pub mod state;
pub mod step;
