//! Mechanics of bodies in frictional contact: the library that users depend on.
//!
//! It knows neither the command line nor Python nor pictures. Most of it lies in crates of its own, which this one shows as modules; its own are
//! [`run`](mod@run), [`record`] and [`random`]. Start reading in [`scene`], then [`step`].
//!
//! ```
//! use stiction::stepper::Stepper;
//!
//! let text = "
//! [[material]]
//! name = 'default'
//! friction = 0.5
//!
//! [[world]]
//! name = 'ground'
//! shape = 'half_space'
//!
//! [[body]]
//! name = 'box'
//! shape = { box = { half = [0.1, 0.1, 0.1] } }
//! mass = 1
//! position = [0, 0, 0.1]
//! velocity = [1, 0, 0]
//! ";
//! let scene = stiction::from_toml("slide", text)?;
//! let mut stepper = Stepper::new(scene)?;
//! let mut state = stepper.initial();
//! for _ in 0..500 {
//!     stepper.step(&mut state)?;
//! }
//! // it slides v^2 / (2 mu g) and stops
//! assert!((state.position[0] - 1.0 / 9.81).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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

pub use stiction_contact::{self as contact, ids};
pub use stiction_diff::{boundary, fit};
pub use stiction_dynamics as dynamics;
pub use stiction_geometry::{self as geometry, space};
pub use stiction_model::{self as model, formulation, inputs, motion, state};
pub use stiction_ode::{self as ode, analysis, integrate, stepper};
pub use stiction_scene as scene;
pub use stiction_step as step;

pub mod random;
mod read;
pub mod record;
pub mod run;

pub use read::{check, from_json, from_toml, read, read_with};
