//! Structured arrays of what a step did: contacts, joints, bodies, events. Vectors are in world axes, names
//! are those of the scene.

use crate::convert::helper;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;
use stiction::analysis::joints::JointReport;
use stiction::dynamics::Kinematics;
use stiction::model::{Model, Owner};
use stiction::run::Event;
use stiction::space::Vector;
use stiction::step::{ElementReport, Status};

/// Columns of a structured array.
struct Columns<'py> {
    py: Python<'py>,
    list: Bound<'py, PyList>,
}

impl<'py> Columns<'py> {
    fn new(py: Python<'py>) -> Self {
        Self { py, list: PyList::empty(py) }
    }

    fn words(self, name: &str, values: Vec<&str>) -> PyResult<Self> {
        self.list.append((name, values))?;
        Ok(self)
    }

    fn counts(self, name: &str, values: impl Iterator<Item = usize>) -> PyResult<Self> {
        let values: Vec<i64> = values.map(|n| n as i64).collect();
        self.list.append((name, PyArray1::from_vec(self.py, values)))?;
        Ok(self)
    }

    fn numbers(self, name: &str, values: impl Iterator<Item = f64>) -> PyResult<Self> {
        self.list.append((name, PyArray1::from_iter(self.py, values)))?;
        Ok(self)
    }

    fn vectors<const N: usize>(self, name: &str, values: impl Iterator<Item = [f64; N]>) -> PyResult<Self> {
        let flat: Vec<f64> = values.flatten().collect();
        let rows = flat.len() / N;
        let array: Bound<'py, PyArray2<f64>> = PyArray1::from_vec(self.py, flat).reshape([rows, N])?;
        self.list.append((name, array))?;
        Ok(self)
    }

    fn array(self) -> PyResult<Bound<'py, PyAny>> {
        helper(self.py, "_arrays", "structured")?.call1((self.list,))
    }
}

/// A status in tables.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Open => "open",
        Status::Stick => "stick",
        Status::Slip => "slip",
    }
}

fn names(model: &Model, owners: impl Iterator<Item = Owner>) -> Vec<&str> {
    owners.map(|owner| model.scene().name_of(owner)).collect()
}

/// Elements of contacts after a step.
pub fn contacts<'py>(py: Python<'py>, model: &Model, list: &[ElementReport]) -> PyResult<Bound<'py, PyAny>> {
    let contact: Vec<String> = list.iter().map(|e| model.contact_name(e.id).unwrap_or_default()).collect();
    let each = || list.iter();
    let world = |pick: fn(&ElementReport) -> Vector| each().map(move |e| e.frame.world(pick(e)));
    Columns::new(py)
        .words("contact", contact.iter().map(String::as_str).collect())?
        .counts("element", each().map(|e| e.element))?
        .words("body_a", names(model, each().map(|e| e.body_a)))?
        .words("body_b", names(model, each().map(|e| e.body_b)))?
        .vectors("point", each().map(|e| e.point))?
        .vectors("normal", each().map(|e| e.frame.n))?
        .vectors("tangent", each().map(|e| e.frame.t))?
        .numbers("gap", each().map(|e| e.gap))?
        .vectors("force", world(|e| e.force))?
        .vectors("moment", world(|e| e.moment))?
        .vectors("slip", world(|e| [0.0, e.speed[1], e.speed[2]]))?
        .numbers("force_n", each().map(|e| e.force[0]))?
        .vectors("deformation", world(|e| e.deformation))?
        .words("status", each().map(|e| status(e.status)).collect())?
        .array()
}

/// Degrees of freedom of joints after a step.
pub fn joints<'py>(py: Python<'py>, model: &Model, list: &[JointReport]) -> PyResult<Bound<'py, PyAny>> {
    let each = || list.iter();
    Columns::new(py)
        .words("joint", names(model, each().map(|j| Owner::Body(j.body))))?
        .words("kind", each().map(|j| j.kind).collect())?
        .counts("dof", each().map(|j| j.dof))?
        .numbers("position", each().map(|j| j.position))?
        .numbers("velocity", each().map(|j| j.velocity))?
        .numbers("effort", each().map(|j| j.effort))?
        .vectors("force", each().map(|j| j.force))?
        .vectors("moment", each().map(|j| j.moment))?
        .array()
}

/// Bodies at a state.
pub fn bodies<'py>(py: Python<'py>, model: &Model, kinematics: &Kinematics) -> PyResult<Bound<'py, PyAny>> {
    let count = model.scene().bodies.len();
    Columns::new(py)
        .words("body", names(model, (0..count).map(Owner::Body)))?
        .vectors("position", (0..count).map(|i| kinematics.pose(i).position))?
        .vectors("quaternion", (0..count).map(|i| kinematics.pose(i).attitude.0))?
        .vectors("velocity", (0..count).map(|i| kinematics.velocity(i).0))?
        .vectors("angular_velocity", (0..count).map(|i| kinematics.velocity(i).1))?
        .vectors("center", (0..count).map(|i| kinematics.center(i)))?
        .array()
}

/// Events of a step.
pub fn events<'py>(py: Python<'py>, model: &Model, list: &[Event]) -> PyResult<Bound<'py, PyAny>> {
    let contact: Vec<String> =
        list.iter().map(|e| model.contact_name(e.contact).unwrap_or_default()).collect();
    let each = || list.iter();
    Columns::new(py)
        .numbers("time", each().map(|e| e.time))?
        .words("contact", contact.iter().map(String::as_str).collect())?
        .counts("element", each().map(|e| e.element))?
        .words("body_a", names(model, each().map(|e| e.body_a)))?
        .words("body_b", names(model, each().map(|e| e.body_b)))?
        .words("event", each().map(|e| e.kind.name()).collect())?
        .numbers("impulse", each().map(|e| e.impulse))?
        .array()
}
