//! Schemes that integrate differential equations: compliant contacts, rigid motion between located events, and the change between rigid and compliant
//! contacts that `law = "auto"` makes; and contacts at an instant, with the stability of their solutions.
//!
//! It knows no runs and no files. Start reading in [`stepper`] (the one table of schemes), [`analysis`] and [`integrate`].

use stiction_contact as contact;
use stiction_dynamics as dynamics;
use stiction_geometry::{self as geometry, space};
use stiction_model::{self as model, formulation, inputs, motion, state};
use stiction_scene as scene;
use stiction_step as step;

pub mod analysis;
pub mod integrate;
pub mod stepper;

mod auto;
mod compliant;
mod event;

pub use auto::AutoScheme;
pub use compliant::CompliantScheme;
pub use event::EventScheme;
