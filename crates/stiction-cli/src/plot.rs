//! `stiction plot`.
use crate::InputError;
use crate::args::Plot;
use std::process::ExitCode;

pub fn run(_arguments: &Plot) -> Result<ExitCode, InputError> {
    Err(InputError(String::new()))
}
