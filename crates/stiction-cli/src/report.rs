//! `stiction report`: a recording as one HTML file.

use crate::args::Report;
use crate::{InputError, print, tell};
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use stiction::record::put;
use stiction_view::page::MOST_NUMBERS;
use stiction_view::{Clip, page};

pub fn run(arguments: &Report) -> Result<ExitCode, InputError> {
    let mut clip = Clip::read(&arguments.recording).map_err(|e| InputError::record(&e))?;
    clip.thin(MOST_NUMBERS);
    let out = arguments.out.clone().unwrap_or_else(|| beside(&arguments.recording, "html"));
    let text = page(&clip);
    write(&out, text.as_bytes(), arguments.force)?;
    warn(&clip);
    print(&match arguments.json {
        true => format!("{}\n", json!({"report": out, "bytes": text.len(), "warnings": clip.warnings})),
        false => format!("report    {}, {:.1} MB\n", out.display(), text.len() as f64 / 1e6),
    })
    .map(|()| ExitCode::SUCCESS)
}

/// What could not be read.
pub fn warn(clip: &Clip) {
    for warning in &clip.warnings {
        tell(&format!("warning: {warning}"));
    }
}

/// `a.recording` becomes `a.html` in the working folder; of `.` and `..` the true names count.
pub fn beside(folder: &Path, ending: &str) -> PathBuf {
    let full = if folder.file_name().is_none() { folder.canonicalize().ok() } else { None };
    let name = full.as_deref().unwrap_or(folder).file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".recording").unwrap_or(&name);
    PathBuf::from(format!("{stem}.{ending}"))
}

/// A new file, or one that may be replaced; whole or not at all.
pub fn write(path: &Path, bytes: &[u8], force: bool) -> Result<(), InputError> {
    put(path, bytes, force).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => InputError(format!(
            "{}: there is a file already (--force replaces it, --out names another)",
            path.display()
        )),
        _ => InputError(format!("{}: {e}", path.display())),
    })
}
