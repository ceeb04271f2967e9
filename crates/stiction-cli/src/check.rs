//! `stiction check`: a scene file read, validated and told in a few lines.

use crate::args::Check;
use crate::{InputError, print};
use std::io::{self, Write};
use std::process::ExitCode;
use stiction::scene::{Scene, summary};
use stiction::step::Stepper;

pub fn run(arguments: &Check) -> Result<ExitCode, InputError> {
    match Scene::read(&arguments.scene) {
        Ok(scene) => {
            let words = summary(&scene);
            // what the file's reader does not see: masses, shapes and laws together
            Stepper::new(scene).map_err(|e| InputError(format!("{}: {e}", arguments.scene.display())))?;
            print(&words).map(|()| ExitCode::SUCCESS)
        }
        Err(faults) => {
            // one line a fault, as compilers write them; nobody is left to tell if this fails
            let _ = writeln!(io::stderr(), "{faults}");
            Ok(ExitCode::from(2))
        }
    }
}
