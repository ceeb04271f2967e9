//! `stiction check`: a scene file read, checked and summed up in a few lines.

use crate::args::Check;
use crate::{InputError, print, read_scene};
use std::process::ExitCode;
use stiction::model::Model;
use stiction::scene::summary;

pub fn run(arguments: &Check) -> Result<ExitCode, InputError> {
    let Some(scene) = read_scene(&arguments.scene) else { return Ok(ExitCode::from(2)) };
    // what the check does not see: the compliance of patches
    let model = Model::new(&scene).map_err(|faults| InputError::model(&arguments.scene.file, faults))?;
    print(&summary(&model)).map(|()| ExitCode::SUCCESS)
}
