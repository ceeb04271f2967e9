//! NumPy arrays that a simulation or a state shares with its user.
//!
//! The arrays own their memory, so that they outlive what they belong to. Before a step their numbers are
//! copied into the state and checked, after it they
//! are copied back: some ten nanoseconds for a body.
#![allow(unsafe_code, reason = "slices of NumPy arrays, read and written under the GIL only")]

use crate::convert::helper;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction::model::Model;
use stiction::state::State;

/// Shortest quaternion that is scaled to length 1.
const SHORTEST: f64 = 1e-6;

/// A flat array of doubles with a view by names.
pub struct Shared {
    flat: Py<PyArray1<f64>>,
    pub named: Py<PyAny>,
    length: usize,
}

impl Shared {
    /// An array of zeros of `columns` (0: one dimension); `index` gives the places of names.
    pub fn new(
        py: Python<'_>,
        rows: usize,
        columns: usize,
        index: &Py<PyDict>,
        what: &str,
    ) -> PyResult<Self> {
        let length = rows * columns.max(1);
        let flat = PyArray1::<f64>::zeros(py, length, false);
        let view = match columns {
            0 => flat.clone().into_any(),
            _ => flat.reshape([rows, columns])?.into_any(),
        };
        let named = helper(py, "_arrays", "NamedArray")?.call1((view, index, what))?.unbind();
        Ok(Self { flat: flat.unbind(), named, length })
    }

    /// The numbers, as long as the closure runs: with the GIL held nobody else writes.
    pub fn read<T>(&self, py: Python<'_>, with: impl FnOnce(&[f64]) -> T) -> PyResult<T> {
        let array = self.flat.bind(py);
        // SAFETY: the GIL is held and `with` runs no Python code, so nothing writes to the array meanwhile; `as_slice` checks that it
        // is contiguous and aligned, and its length is checked here.
        let slice = unsafe { array.as_slice() }?;
        if slice.len() != self.length {
            return Err(PyValueError::new_err("an array of the simulation was resized"));
        }
        Ok(with(slice))
    }

    /// Copies numbers into the array.
    pub fn write(&self, py: Python<'_>, values: &[f64]) -> PyResult<()> {
        let array = self.flat.bind(py);
        // SAFETY: as in `read`; the slice ends before any Python code runs.
        let slice = unsafe { array.as_slice_mut() }?;
        if slice.len() != values.len() {
            return Err(PyValueError::new_err("an array of the simulation was resized"));
        }
        slice.copy_from_slice(values);
        Ok(())
    }

    /// Copies any array-like of the right shape into the array.
    pub fn assign(&self, py: Python<'_>, value: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
        helper(py, "_arrays", "assign")?.call1((&self.named, value, name)).map(drop)
    }
}

/// `q` and `v` of a state, shared with the user.
pub struct Coordinates {
    pub q: Shared,
    pub v: Shared,
}

impl Coordinates {
    pub fn new(py: Python<'_>, model: &crate::model::Model, state: &State) -> PyResult<Self> {
        let system = model.inner.system();
        let q = Shared::new(py, system.configuration_size(), 0, &model.q_index, "joint")?;
        let v = Shared::new(py, system.velocity_size(), 0, &model.v_index, "joint")?;
        let made = Self { q, v };
        made.push(py, state)?;
        Ok(made)
    }

    /// State to arrays.
    pub fn push(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.q.write(py, &state.position)?;
        self.v.write(py, &state.velocity)
    }

    /// Arrays to state; returns whether the user changed them. Quaternions are scaled to length 1.
    pub fn pull(&self, py: Python<'_>, model: &Model, state: &mut State) -> PyResult<bool> {
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        let q = self.q.read(py, |q| same(q, &state.position))?;
        let v = self.v.read(py, |v| same(v, &state.velocity))?;
        if q && v {
            return Ok(false);
        }
        let mut position = self.q.read(py, <[f64]>::to_vec)?;
        let velocity = self.v.read(py, <[f64]>::to_vec)?;
        check(model, &mut position, &velocity)?;
        (state.position, state.velocity) = (position, velocity);
        self.q.write(py, &state.position)?;
        Ok(true)
    }
}

/// Checks a state's numbers, and scales quaternions to length 1.
pub fn check(model: &Model, position: &mut [f64], velocity: &[f64]) -> PyResult<()> {
    let system = model.system();
    for (i, body) in model.scene().bodies.iter().enumerate() {
        for (name, values) in [("q", &position[system.coordinates(i)]), ("v", &velocity[system.dofs(i)])] {
            if let Some(x) = values.iter().find(|x| !x.is_finite()) {
                let body = &body.name;
                return Err(PyValueError::new_err(format!(
                    "{name}['{body}'] holds {x}, expected finite numbers"
                )));
            }
        }
        let Some(at) = body.link.joint.quaternion() else { continue };
        let quaternion = &mut position[system.coordinates(i)][at..at + 4];
        let length = quaternion.iter().fold(0.0, |m: f64, x| m.hypot(*x));
        if length < SHORTEST {
            let body = &body.name;
            return Err(PyValueError::new_err(format!(
                "q['{body}'] has a quaternion of length {length}, expected 1"
            )));
        }
        if (length - 1.0).abs() > 1e-12 {
            quaternion.iter_mut().for_each(|x| *x /= length);
        }
    }
    Ok(())
}

/// Numbers of a two-dimensional array, row by row, as long as the closure runs.
pub fn with_rows<T>(array: &Bound<'_, PyArray2<f64>>, with: impl FnOnce(&[f64]) -> T) -> PyResult<T> {
    debug_assert!(array.is_contiguous());
    // SAFETY: as in `Shared::read`.
    let slice = unsafe { array.as_slice() }?;
    Ok(with(slice))
}
