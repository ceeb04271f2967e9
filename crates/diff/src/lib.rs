//! What uses many runs of a model: derivatives, boundary-value problems, convergence studies, fits.
//!
//! It knows no files but tables of measurements. Start reading in [`boundary`], then [`mod@fit`].

use stiction_contact as contact;
use stiction_dynamics as dynamics;
use stiction_geometry::{self as geometry, space};
use stiction_model::{self as model, formulation, inputs, motion, state};
use stiction_ode::stepper;
use stiction_scene as scene;
use stiction_step as step;

pub mod boundary;
pub mod fit;
