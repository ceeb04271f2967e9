//! What is given at an instant ([`super::instant`]).

use crate::inputs::Inputs;
use crate::model::Model;

/// Largest gap of a closed contact, m.
const CLOSED: f64 = 1e-9;

/// What is given at an instant beside the state, and what counts as touching.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Efforts, targets and external forces.
    pub inputs: Inputs,
    /// Degrees of freedom whose acceleration is given, with it; their efforts are unknown (trinkle1995 2.5).
    pub accelerations: Vec<(usize, f64)>,
    /// Contacts with gaps up to this are closed, m.
    pub gap: f64,
    /// Whether `gap` and `velocity` are shares of the contact's scales instead ([`crate::model::Scales`]).
    pub scaled: bool,
    /// The trees that are looked at, one entry for each; `None`: all. Contacts and rows between others are left out, and others do not accelerate.
    pub trees: Option<Vec<bool>>,
    /// Relative velocities up to this count as zero, m/s, beside `VELOCITY_TOLERANCE` of the velocities at the contact.
    pub velocity: f64,
    /// Whether compliant point contacts count as rigid; otherwise they are refused.
    pub rigid: bool,
    /// Length of the step that led to the state, s: normal velocities up to what rotation of the bodies makes in it count as zero too.
    pub step: f64,
    /// Whether compliant contacts that overlap are closed at any normal velocity: their deformation is a fast motion of the
    /// boundary layer (song2001 section 4).
    pub deformed: bool,
}

impl Given {
    /// Whether one of these bodies is looked at.
    pub(super) fn includes(&self, model: &Model, bodies: impl Iterator<Item = usize>) -> bool {
        let own = |trees: &Vec<bool>| bodies.filter_map(|i| model.system().tree_of(i)).any(|t| trees[t]);
        self.trees.as_ref().is_none_or(own)
    }
}

impl Default for Given {
    fn default() -> Self {
        Self {
            inputs: Inputs::default(),
            accelerations: vec![],
            gap: CLOSED,
            scaled: false,
            trees: None,
            velocity: 0.0,
            rigid: false,
            step: 0.0,
            deformed: false,
        }
    }
}
