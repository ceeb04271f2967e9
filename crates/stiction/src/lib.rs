//! Mechanics of bodies in frictional contact.
//!
//! It knows neither the command line nor Python nor pictures. Start reading in [`scene`], then [`step`].
//!
//! - [`analysis`]: contacts at an instant, without a time step;
//! - [`scene`]: the description of a mechanical system, and its file; [`model`]: its compiled form;
//! - [`dynamics`], [`geometry`], [`contact`]: trees of links, shapes and where they touch, contact laws;
//! - [`integrate`]: differential equations, with error control;
//! - [`step`]: one time step, from a [`state`] to the next;
//! - [`ode`]: schemes that integrate differential equations; [`stepper`]: a model with its scheme;
//! - [`run`](mod@run): the driver, which makes many steps and passes them to observers;
//! - [`record`]: recordings of runs, in tables;
//! - [`boundary`]: derivatives of steps and runs, boundary-value problems;
//! - [`mod@fit`]: estimation of a scene's values from measured trajectories;
//! - [`random`]: random contact problems of bodies, for tests of solvers.

pub mod analysis;
pub mod boundary;
pub mod contact;
pub mod dynamics;
pub mod fit;
pub mod formulation;
pub mod geometry;
pub mod ids;
pub mod inputs;
pub mod integrate;
pub mod model;
pub mod motion;
pub mod ode;
pub mod random;
mod read;
pub mod record;
pub mod run;
pub mod scene;
pub mod space;
pub mod state;
pub mod step;
pub mod stepper;
