//! Recordings of runs.

use crate::convert::helper;
use crate::errors;
use crate::history::frame;
use crate::interrupt::guarded;
use crate::model::Model;
use crate::scene::{Scene, unknown};
use crate::state::State;
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::HashMap;
use std::path::PathBuf;
use stiction::record::{self, Format, Kind, Rows, table_name};
use stiction::scene::Table;
use stiction_view::Clip;

/// Recording of a run: a folder of tables, the scene and the last state.
///
/// Tables are "bodies", "contacts", "steps", "events" and, where the scene has joints, "joints";
/// ``docs/run.md`` lists their columns. They are read
/// as NumPy columns (``read``), Arrow, pandas or polars tables. A recording can be read while it is written.
///
/// Parameters
/// ----------
/// path : path-like
///     Folder of the recording, as ``stiction run`` or ``sim.run(record=...)`` write it.
///
/// Examples
/// --------
/// >>> recording = st.Recording("slide.recording")
/// >>> recording.to_pandas("bodies").plot(x="time", y="vx")
#[pyclass(module = "stiction", name = "Recording", frozen)]
pub struct Recording {
    path: PathBuf,
}

impl Recording {
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    fn open(&self, py: Python<'_>) -> PyResult<record::Recording> {
        record::Recording::open(&self.path).map_err(|e| errors::recording(py, &e))
    }

    fn rows(&self, py: Python<'_>, table: &str) -> PyResult<Rows> {
        let recording = self.open(py)?;
        let found = recording.tables().into_iter().find(|t| table_name(*t) == table).ok_or_else(|| {
            let known: Vec<&str> = recording.tables().into_iter().map(table_name).collect();
            PyKeyError::new_err(unknown("table", table, &known))
        })?;
        guarded(py, || py.detach(|| recording.read(found)).map_err(|e| errors::recording(py, &e)))
    }

    /// Columns as the Python part takes them: name, unit, and values or (codes, words).
    fn columns<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyList>> {
        let rows = self.rows(py, table)?;
        let list = PyList::empty(py);
        for column in rows.columns() {
            let name: &str = &column.name;
            let values = match column.kind {
                Kind::Number => PyArray1::from_slice(py, rows.numbers(name)).into_any(),
                Kind::Count => PyArray1::from_slice(py, rows.counts(name)).into_any(),
                Kind::Word => {
                    let (mut known, mut words) = (HashMap::new(), vec![]);
                    let codes = rows.words(name).map(|word| {
                        *known.entry(word).or_insert_with(|| {
                            words.push(word);
                            words.len() as i32 - 1
                        })
                    });
                    let codes: Vec<i32> = codes.collect();
                    (PyArray1::from_vec(py, codes), words).into_pyobject(py)?.into_any()
                }
            };
            list.append((name, &*column.unit, values))?;
        }
        Ok(list)
    }

    fn convert<'py>(&self, py: Python<'py>, table: &str, to: &str) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "_tables", to)?.call1((self.columns(py, table)?, table))
    }
}

/// Reads the name of a format.
pub fn format_of(name: &str) -> PyResult<Format> {
    match name {
        "parquet" => Ok(Format::Parquet),
        "csv" => Ok(Format::Csv),
        _ => Err(PyValueError::new_err(format!("format = '{name}', expected 'parquet' or 'csv'"))),
    }
}

#[pymethods]
impl Recording {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let recording = Self { path };
        recording.open(py)?;
        Ok(recording)
    }

    /// A recording that will be written.
    #[staticmethod]
    #[pyo3(name = "_at")]
    fn later(path: PathBuf) -> Self {
        Self { path }
    }

    /// Folder of the recording.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Names of the tables.
    #[getter]
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        Ok(self.open(py)?.tables().into_iter().map(table_name).collect())
    }

    /// Columns of a table as NumPy arrays, by name. Also ``recording["bodies"]``.
    fn read<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyAny>> {
        self.convert(py, table, "columns")
    }

    fn __getitem__<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyAny>> {
        self.read(py, table)
    }

    /// Units of a table's columns, by name; "" where there is none.
    fn units<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyDict>> {
        let found = Table::ALL
            .into_iter()
            .find(|t| table_name(*t) == table)
            .ok_or_else(|| PyKeyError::new_err(unknown("table", table, &Table::ALL.map(table_name))))?;
        let units = PyDict::new(py);
        record::columns(found).iter().try_for_each(|c| units.set_item(&*c.name, &*c.unit))?;
        Ok(units)
    }

    /// Table as a ``pyarrow.Table``; names are dictionary-encoded, units are in the fields' metadata.
    fn to_arrow<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyAny>> {
        self.convert(py, table, "to_arrow")
    }

    /// Table as a ``pandas.DataFrame``; names are categories.
    fn to_pandas<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyAny>> {
        self.convert(py, table, "to_pandas")
    }

    /// Table as a ``polars.DataFrame``; names are categories.
    fn to_polars<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyAny>> {
        self.convert(py, table, "to_polars")
    }

    /// Scene that was run.
    #[getter]
    fn scene(&self, py: Python<'_>) -> PyResult<Scene> {
        let inner = self.open(py)?.scene().map_err(|e| errors::recording(py, &e))?;
        Ok(Scene { inner })
    }

    /// Last state, of a model compiled from the scene.
    fn state(&self, py: Python<'_>) -> PyResult<State> {
        let model = Bound::new(py, Model::of(py, self.scene(py)?.inner)?)?;
        let inner = self.open(py)?.state(&model.get().inner).map_err(|e| errors::recording(py, &e))?;
        State::of(py, &model, inner)
    }

    /// Write the recording in a format ("parquet" or "csv") to another folder.
    #[pyo3(signature = (path, format = "csv", *, replace = false))]
    fn export(&self, py: Python<'_>, path: PathBuf, format: &str, replace: bool) -> PyResult<Self> {
        let exported = self.open(py)?.export(&path, format_of(format)?, replace);
        exported.map_err(|e| errors::recording(py, &e))?;
        Ok(Self { path })
    }

    fn _ipython_key_completions_(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        self.tables(py)
    }

    /// The viewer, with this recording, for Jupyter.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let clip =
            guarded(py, || py.detach(|| Clip::read(&self.path)).map_err(|e| errors::recording(py, &e)))?;
        Ok(frame(&clip))
    }

    fn __fspath__(&self) -> PyResult<String> {
        Ok(self.path.display().to_string())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (PathBuf,)) {
        (py.get_type::<Self>().into_any(), (self.path.clone(),))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match self.tables(py) {
            Ok(tables) => format!("<Recording '{}': {}>", self.path.display(), tables.join(", ")),
            Err(error) => format!("<Recording '{}': {}>", self.path.display(), error.value(py)),
        }
    }
}
