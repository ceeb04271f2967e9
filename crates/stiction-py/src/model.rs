//! Models: scenes compiled once.

use crate::errors;
use crate::interrupt::guarded;
use crate::scene::{Scene, compile, count, scene_of, unknown};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};
use std::ops::Range;
use std::sync::Arc;
use stiction::analysis::warnings::warnings;
use stiction::model::Owner;
use stiction::{model, scene};

/// Scene compiled for simulation. It never changes; threads, simulations and batches may share it.
///
/// Parameters
/// ----------
/// scene : Scene, path-like or dict
///     What to compile.
///
/// Raises
/// ------
/// SceneError
///     If the scene cannot be simulated; all faults are listed.
///
/// Examples
/// --------
/// >>> model = st.Model("scenes/double-pendulum.toml")
/// >>> model.nq, model.nv, model.bodies
#[pyclass(module = "stiction", name = "Model", frozen)]
pub struct Model {
    pub inner: Arc<model::Model>,
    pub scene: scene::Scene,
    /// Places in `q`, `v` and among bodies by name: numbers or slices.
    pub q_index: Py<PyDict>,
    pub v_index: Py<PyDict>,
    pub body_index: Py<PyDict>,
    /// Places of motors by the body whose joint they drive.
    pub motor_index: Py<PyDict>,
    /// Bodies and world parts whose surfaces run, and their places by name.
    pub surfaces: Vec<Owner>,
    pub surface_index: Py<PyDict>,
    /// What of the scene is most likely not meant.
    pub warnings: Vec<String>,
}

impl Model {
    pub fn of(py: Python<'_>, scene: scene::Scene) -> PyResult<Self> {
        let inner = Arc::new(compile(py, &scene)?);
        let found = guarded(py, || Ok(warnings(&inner, &inner.initial())))?;
        let noted: Vec<String> =
            scene.warnings.iter().cloned().chain(found.iter().map(ToString::to_string)).collect();
        noted.iter().try_for_each(|line| errors::warn(py, line))?;
        let (q, v, bodies, motors) = (PyDict::new(py), PyDict::new(py), PyDict::new(py), PyDict::new(py));
        for (i, body) in inner.scene().bodies.iter().enumerate() {
            let name = &body.name;
            bodies.set_item(name, i)?;
            let driving: Vec<usize> = positions(inner.scene().motors.iter().map(|m| m.body == i));
            match driving[..] {
                [] => {}
                [one] => motors.set_item(name, one)?,
                _ => motors.set_item(name, driving)?,
            }
            for (dict, range) in [(&q, inner.system().coordinates(i)), (&v, inner.system().dofs(i))] {
                let Range { start, end } = range;
                match end - start {
                    0 => {}
                    1 => dict.set_item(name, start)?,
                    _ => dict.set_item(name, PySlice::new(py, start as isize, end as isize, 1))?,
                }
            }
        }
        let running = inner.scene().bodies.iter().enumerate().filter(|(_, b)| b.surface.is_some());
        let mut surfaces: Vec<(&str, Owner)> =
            running.map(|(i, b)| (b.name.as_str(), Owner::Body(i))).collect();
        let running = inner.scene().world.iter().enumerate().filter(|(_, w)| w.surface.is_some());
        surfaces.extend(running.map(|(i, w)| (w.name.as_str(), Owner::World(i))));
        let surface_index = PyDict::new(py);
        for (i, (name, _)) in surfaces.iter().enumerate() {
            surface_index.set_item(name, i)?;
        }
        let surfaces = surfaces.into_iter().map(|(_, owner)| owner).collect();
        Ok(Self {
            surfaces,
            surface_index: surface_index.unbind(),
            warnings: noted,
            inner,
            scene,
            q_index: q.unbind(),
            v_index: v.unbind(),
            body_index: bodies.unbind(),
            motor_index: motors.unbind(),
        })
    }

    /// The index of a body.
    pub fn body(&self, name: &str) -> PyResult<usize> {
        let bodies = &self.inner.scene().bodies;
        bodies.iter().position(|b| b.name == name).ok_or_else(|| {
            let known: Vec<&str> = bodies.iter().map(|b| b.name.as_str()).collect();
            PyKeyError::new_err(unknown("body", name, &known))
        })
    }

    /// A model from a model, or from what describes a scene.
    pub fn from_any<'py>(source: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        match source.cast::<Self>() {
            Ok(model) => Ok(model.clone()),
            Err(_) => Bound::new(source.py(), Self::of(source.py(), scene_of(source)?)?),
        }
    }

    fn names(
        &self,
        length: usize,
        range: impl Fn(usize) -> Range<usize>,
        words: fn(&str) -> &'static [&'static str],
    ) -> Vec<String> {
        let mut names = vec![String::new(); length];
        for (i, body) in self.inner.scene().bodies.iter().enumerate() {
            let (own, words) = (range(i), words(body.link.joint.name()));
            for (k, name) in names[own].iter_mut().enumerate() {
                *name =
                    words.get(k).map_or_else(|| body.name.clone(), |word| format!("{}.{word}", body.name));
            }
        }
        names
    }
}

/// Where a list is true.
fn positions(list: impl Iterator<Item = bool>) -> Vec<usize> {
    list.enumerate().filter(|(_, found)| *found).map(|(i, _)| i).collect()
}

#[pymethods]
impl Model {
    #[new]
    fn new(scene: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(other) = scene.cast::<Self>() {
            return Self::of(scene.py(), other.get().scene.clone());
        }
        Self::of(scene.py(), scene_of(scene)?)
    }

    /// Name of the scene.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.scene().name
    }

    /// Copy of the scene that was compiled.
    #[getter]
    fn scene(&self) -> Scene {
        Scene { inner: self.scene.clone() }
    }

    /// What of the scene is allowed and most likely not meant; each was also issued as a ``SceneWarning``.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Number of coordinates, the length of ``q``.
    #[getter]
    fn nq(&self) -> usize {
        self.inner.system().configuration_size()
    }

    /// Number of degrees of freedom, the length of ``v``.
    #[getter]
    fn nv(&self) -> usize {
        self.inner.system().velocity_size()
    }

    /// Number of bodies.
    #[getter]
    fn nbody(&self) -> usize {
        self.inner.scene().bodies.len()
    }

    /// Number of motors, the length of ``sim.target``.
    #[getter]
    fn nmotor(&self) -> usize {
        self.inner.scene().motors.len()
    }

    /// Names of the bodies whose joints the motors drive, in the order of ``sim.target``.
    #[getter]
    fn motors(&self) -> Vec<&str> {
        let scene = self.inner.scene();
        scene.motors.iter().map(|m| scene.bodies[m.body].name.as_str()).collect()
    }

    /// Names of the bodies and world parts whose surfaces run, in the order of ``sim.surface``.
    #[getter]
    fn surfaces(&self) -> Vec<&str> {
        let scene = self.inner.scene();
        let name = |owner: &Owner| match *owner {
            Owner::Body(i) => scene.bodies[i].name.as_str(),
            Owner::World(i) => scene.world[i].name.as_str(),
        };
        self.surfaces.iter().map(name).collect()
    }

    /// Names of the bodies, parents before children: the order of ``q`` and ``v``.
    #[getter]
    fn bodies(&self) -> Vec<&str> {
        self.inner.scene().bodies.iter().map(|b| b.name.as_str()).collect()
    }

    /// Kind of each body's joint: "free", "planar", "revolute", "prismatic", "spherical" or "fixed".
    #[getter]
    fn joints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kinds = PyDict::new(py);
        for body in &self.inner.scene().bodies {
            kinds.set_item(&body.name, body.link.joint.name())?;
        }
        Ok(kinds)
    }

    /// Name of each entry of ``q``: the body, and for joints with several coordinates which of them.
    #[getter]
    fn q_names(&self) -> Vec<String> {
        self.names(
            self.nq(),
            |i| self.inner.system().coordinates(i),
            |joint| match joint {
                "free" => &["x", "y", "z", "qw", "qx", "qy", "qz"],
                "planar" => &["x", "y", "angle"],
                "spherical" => &["qw", "qx", "qy", "qz"],
                _ => &[],
            },
        )
    }

    /// Name of each entry of ``v``: the body, and for joints with several degrees of freedom which of them.
    #[getter]
    fn v_names(&self) -> Vec<String> {
        self.names(
            self.nv(),
            |i| self.inner.system().dofs(i),
            |joint| match joint {
                "free" => &["vx", "vy", "vz", "wx", "wy", "wz"],
                "planar" => &["vx", "vy", "w"],
                "spherical" => &["wx", "wy", "wz"],
                _ => &[],
            },
        )
    }

    /// Mass of each body, kg, by name.
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let masses = PyDict::new(py);
        for body in &self.inner.scene().bodies {
            masses.set_item(&body.name, body.link.inertia.mass)?;
        }
        Ok(masses)
    }

    /// Step length, s.
    #[getter]
    fn h(&self) -> f64 {
        self.inner.scene().step.h
    }

    /// Duration of a run, s.
    #[getter]
    fn duration(&self) -> f64 {
        self.inner.scene().step.duration
    }

    /// Acceleration of gravity in world axes, m/s^2.
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArray1<f64>> {
        numpy::PyArray1::from_slice(py, &self.inner.scene().gravity)
    }

    /// Whether everything happens in the x-y plane.
    #[getter]
    fn planar(&self) -> bool {
        self.inner.scene().planar
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, (Scene,))> {
        Ok((slf.get_type().into_any().unbind(), (slf.get().scene(),)))
    }

    fn __repr__(&self) -> String {
        let (bodies, rules) = (self.nbody(), self.inner.parts().len());
        format!(
            "<Model '{}': {}, {}, nq = {}, nv = {}, h = {} s>",
            self.name(),
            count(bodies, "body", "bodies"),
            count(rules, "shape", "shapes"),
            self.nq(),
            self.nv(),
            self.h()
        )
    }
}
