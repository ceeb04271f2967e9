//! States: everything needed to continue a simulation.

use crate::convert::type_name;
use crate::errors;
use crate::memory::Coordinates;
use crate::model::Model;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use std::path::{Path, PathBuf};
use stiction::record::{read_state, save_state, state_from_text, state_text};
use stiction::state;

/// Name of a pickled state in messages.
const PICKLE: &str = "pickled state";

/// State of a model at a time: coordinates, velocities, and the contact forces and deformations from which
/// the next step starts.
///
/// A state is a value: a copy has bitwise the same future. It can be copied, compared, pickled and saved.
///
/// Parameters
/// ----------
/// model : Model
///     The model; the state starts where its scene does.
/// q, v : array_like, optional
///     Coordinates and velocities to start from instead.
/// time : float
///     Time, s.
///
/// Examples
/// --------
/// >>> before = sim.state
/// >>> sim.run(0.5)
/// >>> sim.state = before          # back again
#[pyclass(module = "stiction", name = "State")]
pub struct State {
    pub model: Py<Model>,
    inner: state::State,
    coordinates: Coordinates,
}

impl State {
    pub fn of(py: Python<'_>, model: &Bound<'_, Model>, inner: state::State) -> PyResult<Self> {
        let coordinates = Coordinates::new(py, model.get(), &inner)?;
        Ok(Self { model: model.clone().unbind(), inner, coordinates })
    }

    /// The state with what the user changed.
    pub fn current(&mut self, py: Python<'_>) -> PyResult<&state::State> {
        self.coordinates.pull(py, &self.model.get().inner, &mut self.inner)?;
        Ok(&self.inner)
    }

    /// A state for a model: refused if it is one of another scene.
    pub fn for_model(value: &Bound<'_, PyAny>, model: &Py<Model>) -> PyResult<state::State> {
        let py = value.py();
        let Ok(given) = value.cast::<Self>() else {
            return Err(PyTypeError::new_err(format!("{}, expected a State", type_name(value))));
        };
        let mut given = given.try_borrow_mut()?;
        let same = given.model.is(model);
        let inner = given.current(py)?.clone();
        if !same {
            // written and read again: the reader checks that bodies and contacts are those of the model
            let path = Path::new("state");
            let text =
                state_text(path, &given.model.get().inner, &inner).map_err(|e| errors::recording(py, &e))?;
            let _ = state_from_text(path, &text, &model.get().inner)
                .map_err(|e| PyValueError::new_err(e.to_string()))?;
        }
        Ok(inner)
    }
}

#[pymethods]
impl State {
    #[new]
    #[pyo3(signature = (model, q = None, v = None, *, time = 0.0))]
    fn new(
        model: &Bound<'_, PyAny>,
        q: Option<&Bound<'_, PyAny>>,
        v: Option<&Bound<'_, PyAny>>,
        time: f64,
    ) -> PyResult<Self> {
        let (py, model) = (model.py(), Model::from_any(model)?);
        let mut state = Self::of(py, &model, model.get().inner.initial())?;
        if let Some(q) = q {
            state.set_q(py, q)?;
        }
        if let Some(v) = v {
            state.set_v(py, v)?;
        }
        state.set_time(time)?;
        state.current(py)?;
        Ok(state)
    }

    /// Time, s.
    #[getter]
    fn time(&self) -> f64 {
        self.inner.time
    }

    #[setter]
    fn set_time(&mut self, time: f64) -> PyResult<()> {
        self.inner.time = valid_time(time)?;
        Ok(())
    }

    /// Coordinates ``q``: an array of length ``model.nq``, also by name (``state.q["arm"]``). Writing to it
    /// changes the state.
    #[getter]
    fn q(&self, py: Python<'_>) -> Py<PyAny> {
        self.coordinates.q.named.clone_ref(py)
    }

    #[setter]
    fn set_q(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.coordinates.q.assign(py, value, "q")
    }

    /// Velocities ``v``: an array of length ``model.nv``, also by name. Writing to it changes the state.
    #[getter]
    fn v(&self, py: Python<'_>) -> Py<PyAny> {
        self.coordinates.v.named.clone_ref(py)
    }

    #[setter]
    fn set_v(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.coordinates.v.assign(py, value, "v")
    }

    /// Model of the state.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Copy of the state.
    fn copy(&mut self, py: Python<'_>) -> PyResult<Self> {
        let inner = self.current(py)?.clone();
        Self::of(py, self.model.bind(py), inner)
    }

    fn __copy__(&mut self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&mut self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    /// Write the state to a file, from which ``State.load`` and ``stiction run --resume`` continue bitwise.
    fn save(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let model = self.model.get().inner.clone();
        save_state(&path, &model, self.current(py)?).map_err(|e| errors::recording(py, &e))
    }

    /// Read a state of a model from a file or from a recording's folder, which holds its last state.
    #[classmethod]
    fn load(_: &Bound<'_, PyType>, path: PathBuf, model: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (py, model) = (model.py(), Model::from_any(model)?);
        let inner = read_state(&path, &model.get().inner).map_err(|e| errors::recording(py, &e))?;
        Self::of(py, &model, inner)
    }

    fn __reduce__<'py>(
        &mut self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Py<Model>, Bound<'py, PyBytes>))> {
        let model = self.model.clone_ref(py);
        let text = state_text(Path::new(PICKLE), &model.get().inner, self.current(py)?)
            .map_err(|e| errors::recording(py, &e))?;
        Ok((py.get_type::<Self>().getattr("_restore")?, (model, PyBytes::new(py, &text))))
    }

    /// Unpickled.
    #[classmethod]
    fn _restore(_: &Bound<'_, PyType>, model: &Bound<'_, Model>, data: &[u8]) -> PyResult<Self> {
        let inner = state_from_text(Path::new(PICKLE), data, &model.get().inner)
            .map_err(|e| errors::recording(model.py(), &e))?;
        Self::of(model.py(), model, inner)
    }

    fn __eq__(&mut self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = other.py();
        let Ok(other) = other.cast::<Self>() else { return Ok(false) };
        let Ok(mut other) = other.try_borrow_mut() else {
            // the state itself
            return Ok(true);
        };
        let theirs = other.current(py)?.clone();
        Ok(*self.current(py)? == theirs)
    }

    fn __repr__(&self) -> String {
        let inner = self.model.get().inner.clone();
        let contacts = crate::scene::count(self.inner.memory.len(), "group of forces", "groups of forces");
        format!(
            "<State of '{}' at t = {} s: nq = {}, nv = {}, {contacts}>",
            inner.scene().name,
            self.inner.time,
            self.inner.position.len(),
            self.inner.velocity.len()
        )
    }
}

/// A time that a state can have.
pub fn valid_time(time: f64) -> PyResult<f64> {
    match time.is_finite() && time >= 0.0 {
        true => Ok(time),
        false => Err(PyValueError::new_err(format!("time = {time}, expected 0 or more"))),
    }
}

// what makes a state belongs here: models know none
#[pymethods]
impl Model {
    /// State at the start of the scene.
    fn initial(slf: &Bound<'_, Self>) -> PyResult<State> {
        State::of(slf.py(), slf, slf.get().inner.initial())
    }
}
