//! `stiction export`: a recording in another format.

use crate::args::{Export, TableFormat};
use crate::{InputError, print};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stiction::record::{Format, Recording};

pub fn run(arguments: &Export) -> Result<ExitCode, InputError> {
    let recording = Recording::open(&arguments.recording).map_err(|e| InputError::record(&e))?;
    let (format, word) = match arguments.format {
        TableFormat::Csv => (Format::Csv, "csv"),
        TableFormat::Parquet => (Format::Parquet, "parquet"),
    };
    let out = arguments.out.clone().unwrap_or_else(|| beside(&arguments.recording, word));
    recording.export(&out, format, arguments.force).map_err(|e| InputError::record(&e))?;
    print(&format!("recording {}\n", out.display())).map(|()| ExitCode::SUCCESS)
}

/// `a.recording` becomes `a.csv.recording`; of `.` and `..` the true names count.
fn beside(folder: &Path, word: &str) -> PathBuf {
    let full = if folder.file_name().is_none() { folder.canonicalize().ok() } else { None };
    let folder = full.as_deref().unwrap_or(folder);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".recording").unwrap_or(&name);
    folder.with_file_name(format!("{stem}.{word}.recording"))
}
