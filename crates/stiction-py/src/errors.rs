//! Exceptions of the package, with the program's own messages. Their classes are defined in
//! `python/stiction/_errors.py`.

use crate::convert::helper;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use stiction::record::RecordError;
use stiction::scene::{Fault, SceneError, printable};
use stiction::step::Failed;

fn raise<'py>(py: Python<'py>, name: &str, args: impl IntoPyObject<'py, Target = PyTuple>) -> PyErr {
    let made = helper(py, "_errors", name).and_then(|class| class.call1(args.into_pyobject_or_pyerr(py)?));
    match made {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// A scene that is not valid, with its faults.
pub fn faults(py: Python<'_>, faults: &[Fault]) -> PyErr {
    let message = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    scene_error(py, &message, faults)
}

/// A scene file that cannot be read, or whose content is not valid.
pub fn scene(py: Python<'_>, error: &SceneError) -> PyErr {
    match error {
        SceneError::Unreadable { source, file } => match source.raw_os_error() {
            // FileNotFoundError and its relatives
            Some(code) => pyo3::exceptions::PyOSError::new_err((code, words(source), file.clone())),
            None => pyo3::exceptions::PyOSError::new_err(error.to_string()),
        },
        SceneError::Invalid { faults, .. } => scene_error(py, &error.to_string(), faults),
    }
}

/// What the operating system says, without its number, which Python prints.
fn words(source: &std::io::Error) -> String {
    let text = source.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn scene_error(py: Python<'_>, message: &str, faults: &[Fault]) -> PyErr {
    let list: Vec<(&str, &str, Option<&str>, Option<(usize, usize)>)> = faults
        .iter()
        .map(|f| (&*f.path, &*f.message, f.suggestion.as_deref(), f.place.map(|p| (p.line, p.column))))
        .collect();
    raise(py, "scene_error", (message, list))
}

/// Issues a warning of a scene.
pub fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    issue(py, "SceneWarning", message)
}

/// A warning about a run.
pub fn warn_run(py: Python<'_>, message: &str) -> PyResult<()> {
    issue(py, "RunWarning", message)
}

fn issue(py: Python<'_>, class: &str, message: &str) -> PyResult<()> {
    let class = helper(py, "_errors", class)?;
    let message = std::ffi::CString::new(printable(message).replace('\0', "")).unwrap_or_default();
    PyErr::warn(py, &class, &message, 1)
}

/// A step that failed.
pub fn step(py: Python<'_>, failed: &Failed, time: f64) -> PyErr {
    raise(py, "StepError", (printable(&failed.to_string()).into_owned(), time))
}

/// A step that has no derivative, or a study of steps that failed.
pub fn plain(py: Python<'_>, message: &str) -> PyErr {
    raise(py, "Error", (printable(message).into_owned(),))
}

/// A recording that cannot be written or read.
pub fn recording(py: Python<'_>, error: &RecordError) -> PyErr {
    raise(py, "RecordingError", (printable(&error.to_string()).into_owned(),))
}

/// An error of an observer: of the recorder.
pub fn observer(py: Python<'_>, error: &stiction::run::Fault) -> PyErr {
    raise(py, "RecordingError", (printable(&error.to_string()).into_owned(),))
}

trait IntoPyObjectOrErr<'py> {
    fn into_pyobject_or_pyerr(self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>>;
}

impl<'py, T: IntoPyObject<'py, Target = PyTuple>> IntoPyObjectOrErr<'py> for T {
    fn into_pyobject_or_pyerr(self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match self.into_pyobject(py) {
            Ok(tuple) => Ok(pyo3::BoundObject::into_bound(tuple)),
            Err(error) => Err(error.into()),
        }
    }
}
