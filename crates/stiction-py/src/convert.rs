//! Python values as JSON and back, arrays as matrices, and the Python part of the package.

use complementarity::matrix::Matrix;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value;

/// Most lists and dictionaries within each other: a scene has less than ten, a list within itself has no end.
const DEEPEST: usize = 40;

/// A function or class of the Python part: `stiction.module.name`.
pub fn helper<'py>(py: Python<'py>, module: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import(format!("stiction.{module}"))?.getattr(name)
}

/// A Python value as JSON. NumPy numbers and arrays count as numbers and lists. `path` is for messages.
pub fn to_json(value: &Bound<'_, PyAny>, path: &str) -> PyResult<Value> {
    nested(value, path, DEEPEST)
}

fn nested(value: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Value> {
    let Some(depth) = depth.checked_sub(1) else {
        let start: String = path.chars().take(40).collect();
        return Err(PyValueError::new_err(format!("{start}...: nested too deeply for a scene")));
    };
    if value.is_none() {
        return Ok(Value::Null);
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<bool>()?.into());
    }
    if value.is_instance_of::<PyInt>() {
        return match value.extract::<i64>() {
            Ok(n) => Ok(n.into()),
            Err(_) => Ok(value.extract::<f64>()?.into()),
        };
    }
    if value.is_instance_of::<PyFloat>() {
        let x: f64 = value.extract()?;
        return match x.is_finite() {
            true => Ok(x.into()),
            false => Err(PyValueError::new_err(format!("{path}: {x}, expected a finite number"))),
        };
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_str()?.into());
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let mut map = serde_json::Map::new();
        for (key, inner) in dict {
            let key: String = key.extract().map_err(|_| {
                PyTypeError::new_err(format!("{path}: a key of type {}, expected text", type_name(&key)))
            })?;
            let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            map.insert(key, nested(&inner, &below, depth)?);
        }
        return Ok(map.into());
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items =
            value.try_iter()?.enumerate().map(|(i, item)| nested(&item?, &format!("{path}[{i}]"), depth));
        return Ok(Value::Array(items.collect::<PyResult<_>>()?));
    }
    // NumPy's arrays and scalars
    if let Ok(plain) = value.call_method0("tolist") {
        return nested(&plain, path, depth);
    }
    Err(PyTypeError::new_err(format!(
        "{path}: a value of type {}, expected a number, text, list or dictionary",
        type_name(value)
    )))
}

/// A Python value in TOML's syntax.
pub fn to_toml(value: &Bound<'_, PyAny>, path: &str) -> PyResult<String> {
    let json = to_json(value, path)?;
    if json.is_null() {
        return Err(PyTypeError::new_err(format!("{path}: None, expected a value")));
    }
    let value = toml::Value::try_from(json).map_err(|e| PyValueError::new_err(format!("{path}: {e}")))?;
    Ok(value.to_string())
}

/// Name of a value's type.
pub fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "unknown".to_owned(), |name| name.to_string())
}

/// JSON as a Python value.
pub fn from_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(x) => x.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(n) => match n.as_i64() {
            Some(n) => n.into_pyobject(py)?.into_any(),
            None => n.as_f64().unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(list) => {
            let items = list.iter().map(|v| from_json(py, v)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Object(map) => {
            let dict = PyDict::new(py);
            for (key, value) in map {
                dict.set_item(key, from_json(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// TOML as a Python value.
pub fn from_toml<'py>(py: Python<'py>, value: &toml::Value) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_value(value).map_err(|e| PyValueError::new_err(e.to_string()))?;
    from_json(py, &json)
}

/// A list of finite numbers of a given length; a single number counts for all of them if `spread`.
pub fn vector(value: &Bound<'_, PyAny>, name: &str, length: Option<usize>) -> PyResult<Vec<f64>> {
    let shape = length.map(|n| (n,));
    let array = floats(value, name, 1, shape)?;
    let array: PyReadonlyArray1<'_, f64> = array.cast::<PyArray1<f64>>()?.readonly();
    Ok(array.as_slice()?.to_vec())
}

/// A matrix of finite numbers.
pub fn matrix(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Matrix> {
    let array = floats(value, name, 2, None::<(usize, usize)>)?;
    let array: PyReadonlyArray2<'_, f64> = array.cast::<PyArray2<f64>>()?.readonly();
    let (rows, columns) = (array.as_array().nrows(), array.as_array().ncols());
    let data = array.as_slice()?;
    Ok(Matrix::from_fn(rows, columns, |i, k| data[i * columns + k]))
}

/// A contiguous array of finite doubles: of so many dimensions, or of a shape to which it is broadcast.
pub fn floats<'py, S: IntoPyObject<'py>>(
    value: &Bound<'py, PyAny>,
    name: &str,
    dimensions: usize,
    shape: Option<S>,
) -> PyResult<Bound<'py, PyAny>> {
    helper(value.py(), "_arrays", "floats")?.call1((value, name, dimensions, shape))
}
