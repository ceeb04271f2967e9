//! `stiction check`: a scene file read, checked and summed up in a few lines.

use crate::args::Check;
use crate::{InputError, print, read_scene};
use std::fmt::Write;
use std::process::ExitCode;
use stiction::analysis::warnings::warnings;
use stiction::model::Model;
use stiction::model::summary;
use stiction::scene::Scene;
use stiction::state::State;
use stiction::step::overlaps;

/// Overlaps that are listed.
const SHOWN: usize = 5;

pub fn run(arguments: &Check) -> Result<ExitCode, InputError> {
    let Some(scene) = read_scene(&arguments.scene) else { return Ok(ExitCode::from(2)) };
    // what the check does not see: the compliance of patches
    let model = Model::new(&scene).map_err(|faults| InputError::model(&arguments.scene.file, faults))?;
    let mut text = summary(&model);
    let (misfit, start) = (model.scene().step.misfit(), model.initial());
    for line in
        warning_lines(&scene, &model, &start).into_iter().chain(misfit).chain(overlap_lines(&model, &start))
    {
        // writing to a String cannot fail
        let _ = writeln!(text, "warning: {line}");
    }
    print(&text).map(|()| ExitCode::SUCCESS)
}

/// What is most likely not meant: warnings of the scene's files, of its values, and of the state in which a run begins.
pub fn warning_lines(scene: &Scene, model: &Model, state: &State) -> Vec<String> {
    let found = warnings(model, state);
    scene.warnings.iter().cloned().chain(found.iter().map(ToString::to_string)).collect()
}

/// Rigid parts that overlap at a state, and what becomes of them.
pub fn overlap_lines(model: &Model, state: &State) -> Vec<String> {
    // a state that cannot be placed fails in its first step, with its cause
    let found = overlaps(model, state).unwrap_or_default();
    let mut lines: Vec<String> = found.iter().take(SHOWN).map(|o| o.to_string()).collect();
    if found.len() > SHOWN {
        lines.push(format!("{} more pairs overlap", found.len() - SHOWN));
    }
    if let Some(last) = lines.last_mut() {
        let velocity = model.scene().step.recovery_velocity;
        *last += &format!("; they are pushed apart at up to {velocity} m/s (step.recovery_velocity)");
    }
    lines
}
