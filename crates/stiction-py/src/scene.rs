//! Scenes: the description of a mechanical system.

use crate::convert::{from_json, from_toml, to_json, to_toml};
use crate::errors;
use crate::interrupt::guarded;
use pyo3::exceptions::{PyKeyError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::path::PathBuf;
use stiction::model::{InvalidModel, Model};
use stiction::record::put;
use stiction::scene;

/// Description of a mechanical system: bodies on joints, materials, loads.
///
/// The keys are those of a scene file (see ``docs/scenes.md`` and ``stiction.schema()``), units are SI. A
/// scene is read from a file or a
/// dictionary, or built in code::
///
///     scene = st.Scene("slide")
///     scene.add_material("steel", friction=0.3)
///     scene.add_world("ground", shape="half_space", material="steel")
///     scene.add_body("ball", shape={"sphere": {"radius": 0.1}}, mass=1,
///                    position=[0, 0, 0.1], velocity=[1, 0, 0], material="steel")
///     sim = st.Simulation(scene)
///
/// Parameters
/// ----------
/// name : str
///     Name of the scene.
/// planar : bool
///     Whether everything happens in the x-y plane; vectors then have two components.
/// gravity : sequence of float, optional
///     Acceleration of gravity, m/s^2; [0, 0, -9.81] by default ([0, -9.81] if planar).
/// h, duration : float, optional
///     Step length (1e-3 s by default) and duration of a run (1 s by default).
#[pyclass(module = "stiction", name = "Scene")]
#[derive(Clone)]
pub struct Scene {
    pub inner: scene::Scene,
}

impl Scene {
    fn put(&mut self, py: Python<'_>, path: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let text = to_toml(value, path)?;
        self.inner.set(path, &text).map_err(|faults| errors::faults(py, &faults))
    }

    /// Adds an item with a first key and others.
    fn insert(
        &mut self,
        py: Python<'_>,
        list: &str,
        first: Option<(&str, &Bound<'_, PyAny>)>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let mut item = serde_json::Map::new();
        if let Some((key, value)) = first {
            item.insert(key.to_owned(), to_json(value, &format!("{list}.{key}"))?);
        }
        let name = item.get("name").and_then(|n| n.as_str()).map(|n| format!("[{n}]")).unwrap_or_default();
        for (key, value) in keys.into_iter().flatten() {
            // 'from' is a word of Python: from_ stands for it
            let key: String = key.extract()?;
            let key = key.strip_suffix('_').unwrap_or(&key);
            item.insert(key.to_owned(), to_json(&value, &format!("{list}{name}.{key}"))?);
        }
        self.inner.add(list, item.into()).map_err(|faults| errors::faults(py, &faults))
    }
}

/// A scene from whatever describes one: a `Scene`, the path of a file, or a dictionary.
pub fn scene_of(source: &Bound<'_, PyAny>) -> PyResult<scene::Scene> {
    let py = source.py();
    if let Ok(scene) = source.cast::<Scene>() {
        return Ok(scene.try_borrow()?.inner.clone());
    }
    if source.cast::<PyDict>().is_ok() {
        return from_dict(source);
    }
    let path: PathBuf = source.extract().map_err(|_| {
        let found = crate::convert::type_name(source);
        PyTypeError::new_err(format!(
            "{found}, expected a Model, a Scene, the path of a scene file or a dictionary"
        ))
    })?;
    guarded(py, || stiction::read(&path).map_err(|e| errors::scene(py, &e)))
}

fn from_dict(data: &Bound<'_, PyAny>) -> PyResult<scene::Scene> {
    let json = to_json(data, "")?;
    let py = data.py();
    guarded(py, || stiction::from_json(json).map_err(|faults| errors::faults(py, &faults)))
}

#[pymethods]
impl Scene {
    #[new]
    #[pyo3(signature = (name = "scene", *, planar = false, gravity = None, h = None, duration = None))]
    fn new(
        py: Python<'_>,
        name: &str,
        planar: bool,
        gravity: Option<&Bound<'_, PyAny>>,
        h: Option<&Bound<'_, PyAny>>,
        duration: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if name.ends_with(".toml") || name.contains(['/', '\\']) {
            return Err(PyValueError::new_err(format!(
                "{name:?} names a file: st.Scene.from_file({name:?}) reads it (st.Scene(name) makes an empty scene)"
            )));
        }
        let inner = scene::Scene { name: name.to_owned(), planar, ..scene::Scene::default() };
        let mut scene = Self { inner };
        for (path, value) in [("gravity", gravity), ("step.h", h), ("step.duration", duration)] {
            if let Some(value) = value {
                scene.put(py, path, value)?;
            }
        }
        Ok(scene)
    }

    /// Read and check a scene file.
    ///
    /// Parameters
    /// ----------
    /// path : path-like
    ///     A TOML file.
    /// set : dict of str to value, optional
    ///     Values to set by path before the scene is checked, like ``--set`` of the program: ``{"step.h":
    ///     1e-4}``.
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     All faults, each with its line and column.
    /// OSError
    ///     If the file cannot be read.
    ///
    /// Examples
    /// --------
    /// >>> scene = st.Scene.from_file("scenes/sliding-sphere.toml", set={"step.duration": 2})
    #[classmethod]
    #[pyo3(signature = (path, *, set = None))]
    fn from_file(
        _: &Bound<'_, PyType>,
        py: Python<'_>,
        path: PathBuf,
        set: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut values = vec![];
        for (key, value) in set.into_iter().flatten() {
            let key: String = key.extract()?;
            let text = to_toml(&value, &key)?;
            values.push((key, text));
        }
        let inner = guarded(py, || stiction::read_with(&path, &values).map_err(|e| errors::scene(py, &e)))?;
        Ok(Self { inner })
    }

    /// Read and check a scene from TOML text.
    ///
    /// Parameters
    /// ----------
    /// text : str
    ///     Content of a scene file.
    /// name : str
    ///     Name of the file in messages, and of the scene if the text gives none.
    #[classmethod]
    #[pyo3(signature = (text, name = "scene"))]
    fn from_toml(_: &Bound<'_, PyType>, py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let inner = guarded(py, || stiction::from_toml(name, text).map_err(|e| errors::scene(py, &e)))?;
        Ok(Self { inner })
    }

    /// Read and check a scene from a dictionary with the keys of a scene file. NumPy arrays and numbers are
    /// accepted.
    ///
    /// Examples
    /// --------
    /// >>> scene = st.Scene.from_dict({"body": [{"name": "ball", "shape": {"sphere": {"radius": 0.1}},
    /// "mass": 1}]})
    #[classmethod]
    fn from_dict(_: &Bound<'_, PyType>, data: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(Self { inner: from_dict(data.as_any())? })
    }

    /// Scene as a dictionary with the keys of a scene file, defaults included.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.inner.to_json())
    }

    /// Scene as the text of a scene file, defaults included.
    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    /// Write the scene to a file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        put(&path, self.inner.to_toml().as_bytes(), true)
            .map_err(|e| PyOSError::new_err(format!("{}: {e}", path.display())))
    }

    /// Faults of the scene; an empty list if it can be simulated.
    ///
    /// Returns
    /// -------
    /// list of Fault
    ///     Named tuples ``(path, message, suggestion, place)``.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = guarded(py, || {
            let found = stiction::check(&self.inner);
            Ok(if found.is_empty() { Model::new(&self.inner).err().unwrap_or_default() } else { found })
        })?;
        errors::faults(py, &found)
            .value(py)
            .getattr("faults")?
            .call_method0("__iter__")
            .and_then(|faults| py.get_type::<pyo3::types::PyList>().call1((faults,)))
    }

    /// Value at a path, for example ``scene.get("body[box].mass")``. Also ``scene["body[box].mass"]``.
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     If there is no such path, or the key has no value.
    fn get<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let value = self.inner.get(path).map_err(|fault| errors::faults(py, &[fault]))?;
        from_toml(py, &value)
    }

    /// Set the value at a path, for example ``scene.set("material[steel].friction", 0.2)``. Also
    /// ``scene[path] = value``.
    ///
    /// Items of lists are given by name or by index. Keys, choices and types are checked at once, numbers
    /// and names when the scene is compiled.
    ///
    /// Raises
    /// ------
    /// SceneError
    ///     If there is no such path, or the value has the wrong type.
    fn set(&mut self, py: Python<'_>, path: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, path, value)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        self.get(py, path)
    }

    fn __setitem__(&mut self, py: Python<'_>, path: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, path, value)
    }

    /// Add an item to a list of the scene: ``scene.add("body", name="ball", mass=1)``. A key that is a word
    /// of Python takes an underscore: ``from_``.
    ///
    /// Parameters
    /// ----------
    /// list : str
    ///     Name of the list in scene files: "material", "world", "body", "pair", "load", "spring", "motor",
    ///     ...
    /// **keys
    ///     Keys of the item.
    #[pyo3(signature = (list, /, **keys))]
    fn add(&mut self, py: Python<'_>, list: &str, keys: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        self.insert(py, list, None, keys)
    }

    /// Add a material: ``scene.add_material("steel", friction=0.3, density=7800)``.
    #[pyo3(signature = (name, **keys))]
    fn add_material(
        &mut self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.insert(py, "material", Some(("name", name)), keys)
    }

    /// Add a shape that never moves: ``scene.add_world("ground", shape="half_space")``.
    #[pyo3(signature = (name, **keys))]
    fn add_world(
        &mut self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.insert(py, "world", Some(("name", name)), keys)
    }

    /// Add a body: ``scene.add_body("ball", shape={"sphere": {"radius": 0.1}}, mass=1, position=[0, 0, 1])``.
    #[pyo3(signature = (name, **keys))]
    fn add_body(
        &mut self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.insert(py, "body", Some(("name", name)), keys)
    }

    /// Add an exception for a pair of materials or bodies: ``scene.add_pair(bodies=["a", "b"], friction=0)``.
    #[pyo3(signature = (**keys))]
    fn add_pair(&mut self, py: Python<'_>, keys: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        self.insert(py, "pair", None, keys)
    }

    /// Add a force on a body: ``scene.add_load("box", force={"constant": [1, 0, 0]})``.
    #[pyo3(signature = (body, **keys))]
    fn add_load(
        &mut self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.insert(py, "load", Some(("body", body)), keys)
    }

    /// Add a spring: ``scene.add_spring(from_={"body": "a"}, to={"point": [0, 0, 1]}, stiffness=100)``.
    #[pyo3(signature = (**keys))]
    fn add_spring(&mut self, py: Python<'_>, keys: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        self.insert(py, "spring", None, keys)
    }

    /// Add a motor on a body's joint: ``scene.add_motor("arm", effort={"constant": 2})``.
    #[pyo3(signature = (body, **keys))]
    fn add_motor(
        &mut self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.insert(py, "motor", Some(("body", body)), keys)
    }

    /// Name of the scene.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[setter]
    fn set_name(&mut self, name: String) {
        self.inner.name = name;
    }

    /// Whether everything happens in the x-y plane.
    #[getter]
    fn planar(&self) -> bool {
        self.inner.planar
    }

    /// Names of the bodies, in the order of the scene.
    #[getter]
    fn bodies(&self) -> Vec<&str> {
        self.inner.bodies.iter().map(|b| b.name.as_str()).collect()
    }

    /// Names of the shapes that never move.
    #[getter]
    fn world(&self) -> Vec<&str> {
        self.inner.world.iter().map(|b| b.name.as_str()).collect()
    }

    /// Names of the materials.
    #[getter]
    fn materials(&self) -> Vec<&str> {
        self.inner.materials.iter().map(|b| b.name.as_str()).collect()
    }

    /// Copy of the scene.
    fn copy(&self) -> Self {
        self.clone()
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(match other.cast::<Self>() {
            Ok(other) => self.inner == other.try_borrow()?.inner,
            Err(_) => false,
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        // without a check, so that scenes half built can be copied too
        Ok((py.get_type::<Self>().getattr("_restore")?, (self.to_dict(py)?,)))
    }

    /// Unpickled.
    #[classmethod]
    fn _restore(_: &Bound<'_, PyType>, py: Python<'_>, data: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut scene = Self { inner: scene::Scene::default() };
        for (key, value) in data {
            let key: String = key.extract()?;
            let list = value.cast::<pyo3::types::PyList>().ok().filter(|_| key != "gravity");
            match list {
                Some(items) => {
                    for item in items {
                        let item = to_json(&item, &key)?;
                        scene.inner.add(&key, item).map_err(|f| errors::faults(py, &f))?;
                    }
                }
                None => scene.put(py, &key, &value)?,
            }
        }
        Ok(scene)
    }

    fn __repr__(&self) -> String {
        let scene::Scene { name, planar, bodies, world, materials, step, .. } = &self.inner;
        let planar = if *planar { ", planar" } else { "" };
        let names: Vec<&str> = bodies.iter().take(4).map(|b| b.name.as_str()).collect();
        let more = if bodies.len() > 4 { ", ..." } else { "" };
        format!(
            "<Scene '{name}'{planar}: {} ({}{more}), {}, {}, h = {} s>",
            count(bodies.len(), "body", "bodies"),
            names.join(", "),
            count(world.len(), "world part", "world parts"),
            count(materials.len(), "material", "materials"),
            step.h
        )
    }
}

/// A number and what it counts.
pub fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// JSON schema of scene files, as a dictionary.
#[pyfunction]
pub fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let value: serde_json::Value = serde_json::from_str(&scene::schema()).unwrap_or_default();
    from_json(py, &value)
}

/// What combines with what, as a list of dictionaries: ``thing``, ``group``, ``name``, and for each scheme, ``auto`` and
/// ``derivatives`` whether it is supported: true, false, or the condition in words.
#[pyfunction]
pub fn capabilities(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    from_json(py, &scene::capabilities::table())
}

/// Error message of an unknown name, with the nearest known one.
#[pyfunction]
#[pyo3(name = "_unknown")]
pub fn nearest(kind: &str, name: &str, known: Vec<String>) -> PyErr {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    PyKeyError::new_err(unknown(kind, name, &known))
}

/// What is said of an unknown name.
pub fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    match scene::nearest(name, known) {
        Some(near) => format!("unknown {kind} '{name}', did you mean '{near}'?"),
        None if known.is_empty() => format!("unknown {kind} '{name}': there are none"),
        None => format!("unknown {kind} '{name}', expected one of {}", known.join(", ")),
    }
}

/// Compiles a scene.
pub fn compile(py: Python<'_>, scene: &scene::Scene) -> PyResult<Model> {
    guarded(py, || {
        Model::new(scene).map_err(|faults| {
            if faults.is_empty() {
                return PyValueError::new_err(InvalidModel::from(faults).to_string());
            }
            errors::faults(py, &faults)
        })
    })
}
