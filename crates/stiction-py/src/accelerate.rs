//! Accelerations and contact forces at an instant, as a dictionary with the keys of `stiction accelerate --json`.

use crate::convert::{from_json, helper};
use crate::interrupt::interruptible;
use crate::memory::Shared;
use crate::model::Model;
use crate::state::State;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use stiction::analysis::accelerate::{self as library, Answer, Given, Jam, Possible, Question, Solutions};
use stiction::inputs::Inputs;
use stiction::model::resolved::Drive;
use stiction::space::length;
use stiction::{model, state};

/// Largest gap of a closed contact after steps of time, m.
const CLOSED_AFTER_STEPS: f64 = 1e-6;

/// What Python asks for, beside model, state and inputs.
pub struct Asked<'a, 'py> {
    pub all: bool,
    pub joint: Option<&'a Bound<'py, PyAny>>,
    pub quasistatic: bool,
    pub stiffness: Option<&'a Bound<'py, PyAny>>,
    pub gap: Option<f64>,
    pub rest: Option<f64>,
    pub rigid: bool,
    pub limit: Option<usize>,
}

/// Accelerations and contact forces of a model at a state, and whether they are the only possible ones.
///
/// Parameters
/// ----------
/// model : Model, Scene, path-like or dict
///     The system.
/// state : State, optional
///     The instant; the scene's start by default.
/// effort : array_like or dict, optional
///     Effort on each degree of freedom, N or N m, in the order of ``v`` or by name.
/// all : bool
///     Find every solution, with the ranges of the normal forces.
/// joint : array_like or dict, optional
///     Accelerations that are given, in the order of ``v`` (NaN: not given) or by name; the efforts of these
///     joints are then unknown. Displacements in a quasistatic problem.
/// quasistatic : bool
///     Drop mass: equilibrium and displacements instead of accelerations.
/// stiffness : array_like or dict, optional
///     Stiffness of joints in a quasistatic problem, N/m or N m/rad, in the order of ``v`` or by name.
/// gap, rest : float, optional
///     Contacts with gaps up to ``gap`` (m) are closed, relative velocities up to ``rest`` (m/s) are zero;
///     1e-9 and 0 by default at time 0, 1e-6 and the velocity gained by falling for a step after it.
/// rigid : bool
///     Whether compliant point contacts count as rigid; they are refused otherwise.
/// limit : int, optional
///     Nodes after which the search for a decision ends.
///
/// Returns
/// -------
/// dict
///     As ``stiction accelerate --json`` prints it (``docs/accelerate.md``): ``status``, ``trust``,
///     ``contacts``, ``solutions`` (each with ``accelerations`` by body, and ``contacts`` with ``name``,
///     ``force`` along normal and tangents, ``force_world`` and ``transition``), ``ranges`` of normal forces
///     (None: without bound), ``cone``, ``conditions`` and ``words``.
///
/// Raises
/// ------
/// ValueError
///     If accelerations are not defined, for example because bodies approach each other.
///
/// Examples
/// --------
/// >>> answer = st.accelerate("scenes/painleve-rod.toml", all=True)
/// >>> answer["status"], len(answer["solutions"])
#[pyfunction]
#[pyo3(signature = (model, state = None, *, effort = None, all = false, joint = None, quasistatic = false, stiffness = None, gap = None, rest = None, rigid = false, limit = None))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn accelerate<'py>(
    model: &Bound<'py, PyAny>,
    state: Option<&Bound<'py, PyAny>>,
    effort: Option<&Bound<'py, PyAny>>,
    all: bool,
    joint: Option<&Bound<'py, PyAny>>,
    quasistatic: bool,
    stiffness: Option<&Bound<'py, PyAny>>,
    gap: Option<f64>,
    rest: Option<f64>,
    rigid: bool,
    limit: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, model) = (model.py(), Model::from_any(model)?);
    let state = match state {
        None => model.get().inner.initial(),
        Some(state) => State::for_model(state, model.as_unbound())?,
    };
    let mut inputs = Inputs::default();
    if let Some(effort) = effort {
        inputs.efforts = vec![0.0; state.velocity.len()];
        for (dof, value) in by_joint(py, model.get(), Some(effort), "effort")? {
            inputs.efforts[dof] = value;
        }
    }
    let asked = Asked { all, joint, quasistatic, stiffness, gap, rest, rigid, limit };
    answer(py, model.get(), &state, inputs, &asked)
}

/// Values of degrees of freedom that are given: an array in the order of `v`, or a dictionary by name.
fn by_joint(
    py: Python<'_>,
    model: &Model,
    value: Option<&Bound<'_, PyAny>>,
    name: &str,
) -> PyResult<Vec<(usize, f64)>> {
    let Some(value) = value else { return Ok(vec![]) };
    let nv = model.inner.system().velocity_size();
    let list = Shared::new(py, nv, 0, &model.v_index, "joint")?;
    list.write(py, &vec![f64::NAN; nv])?;
    helper(py, "_arrays", "assign")?.call1((&list.named, value, name, true))?;
    let given: Vec<(usize, f64)> =
        list.read(py, |list| list.iter().copied().enumerate().filter(|(_, x)| !x.is_nan()).collect())?;
    match given.iter().find(|(_, x)| x.is_infinite()) {
        None => Ok(given),
        Some((dof, x)) => {
            Err(PyValueError::new_err(format!("{name}[{dof}] = {x}, expected a finite number")))
        }
    }
}

/// A tolerance that is given.
fn positive(name: &str, value: Option<f64>, otherwise: f64) -> PyResult<f64> {
    match value {
        None => Ok(otherwise),
        Some(x) if x.is_finite() && x >= 0.0 => Ok(x),
        Some(x) => Err(PyValueError::new_err(format!("{name} = {x}, expected 0 or more"))),
    }
}

/// Answers the question.
pub fn answer<'py>(
    py: Python<'py>,
    model: &Model,
    state: &state::State,
    mut inputs: Inputs,
    asked: &Asked<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let inner = &*model.inner;
    inputs.efforts.resize(inner.system().velocity_size(), 0.0);
    let mut efforts = inputs.efforts.clone();
    for (k, motor) in inner.scene().motors.iter().enumerate() {
        if let Drive::Effort(course) = &motor.drive {
            let target = inputs.targets.get(k).copied().flatten();
            efforts[inner.system().dofs(motor.body).start + motor.dof] +=
                target.unwrap_or_else(|| course.at(state.time));
        }
    }
    let (stepped, fall) = (state.time > 0.0, length(inner.scene().gravity) * inner.scene().step.h);
    let default = Given::default();
    let given = Given {
        inputs,
        accelerations: by_joint(py, model, asked.joint, "joint")?,
        gap: positive("gap", asked.gap, if stepped { CLOSED_AFTER_STEPS } else { default.gap })?,
        velocity: positive("rest", asked.rest, if stepped { fall } else { default.velocity })?,
        rigid: asked.rigid,
        ..Given::default()
    };
    let mut question = Question { given, all: asked.all, ..Question::default() };
    let stiffness = by_joint(py, model, asked.stiffness, "stiffness")?;
    match asked.quasistatic {
        true => question.quasistatic = Some(stiffness),
        false if stiffness.is_empty() => {}
        false => return Err(PyValueError::new_err("stiffness is for quasistatic=True")),
    }
    question.max_nodes = asked.limit.unwrap_or(question.max_nodes);
    let stop = Arc::new(AtomicBool::new(false));
    question.budget.stop = Some(stop.clone());
    let found = interruptible(py, &stop, |_| Ok(()), || library::accelerate(inner, state, &question))?;
    let found = found.map_err(|e| PyValueError::new_err(e.to_string()))?;
    let given: Vec<usize> = question.given.accelerations.iter().map(|(dof, _)| *dof).collect();
    from_json(py, &Told { model: inner, answer: &found, given: &given, efforts: &efforts }.json(state.time))
}

fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// An answer and what names it.
struct Told<'a> {
    model: &'a model::Model,
    answer: &'a Answer,
    /// Degrees of freedom whose acceleration is given.
    given: &'a [usize],
    /// Efforts of motors and inputs.
    efforts: &'a [f64],
}

impl Told<'_> {
    fn contact(&self, k: usize) -> String {
        self.model.contact_name(self.answer.contacts[k].id).unwrap_or_default()
    }

    /// Name of a degree of freedom: its body, and its number where the joint has several.
    fn joint(&self, dof: usize) -> String {
        let bodies = self.model.scene().bodies.iter().enumerate();
        let mut own = bodies.map(|(i, b)| (b, self.model.system().dofs(i)));
        match own.find(|(_, dofs)| dofs.contains(&dof)) {
            Some((body, dofs)) if dofs.len() == 1 => body.name.clone(),
            Some((body, dofs)) => format!("{}:{}", body.name, dof - dofs.start),
            None => String::new(),
        }
    }

    fn solution(&self, p: &Possible) -> Value {
        let bodies = self.model.scene().bodies.iter().enumerate();
        let motion: Map<String, Value> = bodies
            .map(|(i, b)| (b.name.clone(), json!(p.accelerations[self.model.system().dofs(i)])))
            .collect();
        let efforts: Map<String, Value> = (self.given.iter().zip(&p.efforts))
            .map(|(dof, e)| (self.joint(*dof), json!(e + self.efforts[*dof])))
            .collect();
        let contact = |(k, c): (usize, &library::ContactForce)| {
            json!({
                "name": self.contact(k),
                "force": c.force,
                "moment": c.moment,
                "force_world": self.answer.contacts[k].frame.world(c.force),
                "acceleration": c.acceleration,
                "transition": c.transition.name(),
            })
        };
        let contacts: Vec<Value> = p.contacts.iter().enumerate().map(contact).collect();
        let row = |(i, f): (&usize, &f64)| json!({ "name": self.model.standing()[*i].name(self.model.scene()), "effort": f });
        let rows: Vec<Value> = self.answer.standing.iter().zip(&p.standing).map(row).collect();
        let ranges: Vec<[Option<f64>; 2]> = p.ranges.iter().map(|r| r.map(finite)).collect();
        json!({
            if self.answer.quasistatic { "displacements" } else { "accelerations" }: motion,
            "efforts": efforts,
            "contacts": contacts,
            "joint_rows": rows,
            "residual": p.residual.relative,
            "dimension": p.dimension,
            "motion_dimension": p.motion_dimension,
            "unbounded": p.unbounded,
            "ranges": ranges,
            "within_cone": p.within_cone,
        })
    }

    fn solutions(&self, s: &Solutions) -> Vec<Value> {
        s.list.iter().map(|p| self.solution(p)).collect()
    }

    fn conditions(&self) -> Option<Value> {
        let c = self.answer.conditions.as_ref()?;
        let (jam, least) = match c.jam {
            Jam::None => ("no-balanced-forces", None),
            Jam::Holds => ("holds", None),
            Jam::Fails(value) => ("fails", finite(value)),
            Jam::Unknown => ("not-examined", None),
        };
        Some(json!({
            "rows": c.rows,
            "rank": c.rank,
            "condition_36": jam,
            "condition_36_least": least,
            "positive_definite": c.positive_definite,
            "p_matrix": c.p_matrix,
            "mu_bar_existence": c.mu_bar_existence.and_then(finite),
            "mu_bar_uniqueness": c.mu_bar_uniqueness.and_then(finite),
            "exists": c.exists,
            "unique": c.unique,
        }))
    }

    fn json(&self, time: f64) -> Value {
        let answer = self.answer;
        let contact = |(k, c): (usize, &library::ContactAt)| {
            json!({
                "name": self.contact(k),
                "state": if c.slips { "slip" } else { "stick" },
                "friction": c.mu,
                "point": c.point,
                "normal": c.frame.n,
                "tangent": c.frame.t,
                "velocity": c.velocity,
            })
        };
        let range =
            |(k, r): (usize, &[f64; 2])| json!({ "contact": self.contact(k), "normal": r.map(finite) });
        let proof = |p: &complementarity::report::Proof| json!({ "nodes": p.nodes.len(), "radius": finite(p.radius), "verified": true });
        let cone = |c: &Solutions| {
            json!({
                "status": c.status, "solver": c.solver, "iterations": c.iterations,
                "reason": c.reason, "solutions": self.solutions(c),
            })
        };
        json!({
            "scene": self.model.scene().name,
            "time": time,
            "quasistatic": answer.quasistatic,
            "status": answer.status(),
            "trust": answer.trust().name(),
            "contacts": answer.contacts.iter().enumerate().map(contact).collect::<Vec<_>>(),
            "solver": answer.pyramid.solver,
            "iterations": answer.pyramid.iterations,
            "complete": answer.pyramid.complete,
            "reason": answer.pyramid.reason,
            "solutions": self.solutions(&answer.pyramid),
            "proof": answer.pyramid.proof.as_ref().map(proof),
            "ranges": answer.ranges.iter().enumerate().map(range).collect::<Vec<_>>(),
            "cone": answer.cone.as_ref().map(cone),
            "conditions": self.conditions(),
            "words": answer.words(),
        })
    }
}
