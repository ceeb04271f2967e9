//! Boundary-value problems and studies of convergence, as dictionaries with the keys of `stiction shoot --json` and
//! `stiction converge --json`; derivatives of steps as arrays.

use crate::convert::{from_json, helper, vector};
use crate::errors;
use crate::interrupt::guarded;
use crate::model::Model;
use crate::report::StepReport;
use crate::scene::scene_of;
use crate::state::State;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value, json};
use stiction::boundary::{self as library, Answer, End, Found, Level, Problem, StepDerivative};

/// Solve the boundary-value problem of a scene (``[boundary]``): the start from which it ends as wanted.
///
/// Parameters
/// ----------
/// scene : Scene, path-like or dict
///     A scene with ``[boundary]`` (``docs/pang2005.md``).
///
/// Returns
/// -------
/// dict
///     As ``stiction shoot --json`` prints it: ``status`` ("solved", "several", "undecided" or "failed"),
///     ``solutions`` (each with ``initial`` and ``final`` values by name, ``residual``, ``isolated``, ...),
///     ``nearest_miss``; and of each the states ``start`` and ``end``, from which a
///     simulation can begin, and its step length ``h`` (another one than the scene's where the time is unknown).
///
/// Raises
/// ------
/// SceneError
///     If the scene has no boundary conditions, or wrong ones.
///
/// Notes
/// -----
/// All cores work without the GIL; Ctrl-C acts when the search has ended.
#[pyfunction]
pub fn shoot<'py>(scene: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = scene.py();
    let scene = scene_of(scene)?;
    let problem = guarded(py, || Problem::new(&scene).map_err(|faults| errors::faults(py, &faults)))?;
    let answer = guarded(py, || Ok(py.detach(|| library::shoot(&problem))))?;
    let model = Bound::new(py, Model::of(py, scene)?)?;
    let solutions = PyList::empty(py);
    for found in &answer.solutions {
        solutions.append(shot(&model, &problem, found)?)?;
    }
    let out = from_json(
        py,
        &json!({
            "status": status(&answer),
            "starts": answer.starts,
            "starts_without_solution": answer.unsolved,
            "steps": problem.steps,
        }),
    )?;
    out.set_item("solutions", solutions)?;
    out.set_item("nearest_miss", answer.nearest.as_ref().map(|f| shot(&model, &problem, f)).transpose()?)?;
    Ok(out)
}

fn status(answer: &Answer) -> &'static str {
    match (&answer.solutions[..], &answer.nearest) {
        ([], Some(Found { end: End::Failed(_), .. })) => "failed",
        ([], _) => "undecided",
        ([_], _) => "solved",
        _ => "several",
    }
}

/// A number that JSON can hold.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn shot<'py>(model: &Bound<'py, Model>, problem: &Problem, found: &Found) -> PyResult<Bound<'py, PyAny>> {
    let py = model.py();
    let initial: Map<String, Value> =
        found.unknowns.iter().enumerate().map(|(k, z)| (problem.name(k).to_owned(), number(*z))).collect();
    let reached: Map<String, Value> = (problem.conditions.iter().zip(&found.residual))
        .map(|(c, r)| (c.name.clone(), number(c.value + r * c.scale)))
        .collect();
    let ended = match &found.end {
        End::Solved => "solved",
        End::Miss => "no change of the unknowns within their bounds comes nearer",
        End::Limit => "the limit of iterations was met",
        End::Repelled => "the fixed-point map repels here",
        End::Failed(why) => why,
    };
    let mut told = json!({
        "initial": initial,
        "final": reached,
        "residual": number(found.miss()),
        "isolated": found.is_isolated(),
        "family": found.family,
        "condition_number": number(found.condition),
        "iterations": found.iterations,
        "shots": found.shots,
        "bracketed": found.bracketed,
        "one_sided_steps": found.noted,
        "ended": ended,
    });
    if let Some(f) = found.fixed_point {
        told["fixed_point"] = json!({ "rate": number(f.rate), "shifted": f.shifted });
    }
    let out = from_json(py, &told)?;
    let states =
        found.states.as_deref().map(|states| states.each_ref().map(|s| State::of(py, model, s.clone())));
    let [start, end] = match states {
        None => [None, None],
        Some([start, end]) => [Some(Py::new(py, start?)?), Some(Py::new(py, end?)?)],
    };
    out.set_item("h", problem.step(&found.unknowns))?;
    out.set_item("start", start)?;
    out.set_item("end", end)?;
    Ok(out)
}

/// Run a scene with several step lengths and explicit shares, and see how its motion converges.
///
/// Parameters
/// ----------
/// scene : Scene, path-like or dict
///     What to run, for the scene's duration.
/// steps : sequence of float
///     At least two step lengths, s; the shortest is the reference.
/// thetas : sequence of float, optional
///     Explicit shares from 0 to 1; the scene's by default.
///
/// Returns
/// -------
/// dict
///     As ``stiction converge --json`` prints it: ``levels`` (``theta``, ``h``, ``residual``, ``errors``,
///     ``weak_solution``, ``bounds``) and ``orders``.
///
/// Raises
/// ------
/// Error
///     If a run fails.
///
/// Notes
/// -----
/// It computes without the GIL; Ctrl-C acts when it has ended.
#[pyfunction]
#[pyo3(signature = (scene, steps, thetas = None))]
pub fn converge<'py>(
    scene: &Bound<'py, PyAny>,
    steps: &Bound<'py, PyAny>,
    thetas: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, scene) = (scene.py(), scene_of(scene)?);
    let steps = vector(steps, "steps", None)?;
    let thetas = thetas.map_or_else(|| Ok(vec![scene.step.explicit_share]), |t| vector(t, "thetas", None))?;
    let refuse = |message: String| Err(PyValueError::new_err(message));
    if steps.len() < 2 {
        return refuse("steps: expected at least two step lengths".to_owned());
    }
    if let Some(h) = steps.iter().find(|h| !(**h > 0.0 && **h <= scene.step.duration)) {
        return refuse(format!("steps: {h}, expected more than 0 and at most the duration"));
    }
    if let Some(theta) = thetas.iter().find(|t| !(0.0..=1.0).contains(*t)) {
        return refuse(format!("thetas: {theta}, expected a share from 0 to 1"));
    }
    let study = guarded(py, || Ok(py.detach(|| library::converge(&scene, &steps, &thetas))))?;
    let study = study.map_err(|why| errors::plain(py, &why))?;
    let orders = |(theta, o): &(f64, [f64; 3])| json!({ "theta": theta, "position": number(o[0]), "velocity": number(o[1]), "impulse": number(o[2]) });
    from_json(
        py,
        &json!({
            "status": "finished",
            "reference": "finest",
            "levels": study.levels.iter().map(level).collect::<Vec<_>>(),
            "orders": study.orders.iter().map(orders).collect::<Vec<_>>(),
        }),
    )
}

fn level(l: &Level) -> Value {
    let w = &l.weak;
    json!({
        "theta": l.theta, "h": l.h, "residual": number(l.residual),
        "errors": l.errors.map(|e| json!({
            "position": number(e.position), "velocity": number(e.velocity), "impulse": number(e.impulse) })),
        "weak_solution": {
            "dynamics": number(w.dynamics), "kinematics": number(w.kinematics),
            "deformation": number(w.deformation), "penetration": number(w.penetration),
            "complementarity": number(w.complementarity), "friction": number(w.friction) },
        "bounds": {
            "growth": number(w.growth), "state_over_bound": number(w.state_bound),
            "force": number(w.force), "force_ratio": number(w.force_ratio) },
    })
}

/// The derivative of a step as arrays.
pub fn derivative<'py>(
    py: Python<'py>,
    report: StepReport,
    derivative: &StepDerivative,
    (efforts, parameters): (usize, usize),
) -> PyResult<Bound<'py, PyAny>> {
    let (before, after) = (derivative.size_before(), derivative.size_after());
    let matrix = |columns: usize, column: &dyn Fn(&[f64]) -> Vec<f64>| {
        let mut flat = vec![0.0; after * columns];
        let mut unit = vec![0.0; columns];
        for j in 0..columns {
            unit[j] = 1.0;
            column(&unit).iter().enumerate().for_each(|(i, x)| flat[i * columns + j] = *x);
            unit[j] = 0.0;
        }
        PyArray1::from_vec(py, flat).reshape([after, columns])
    };
    let zero = vec![0.0; before];
    let state = matrix(before, &|unit| derivative.forward(unit, &[], &[]))?;
    let effort = matrix(efforts, &|unit| derivative.forward(&zero, unit, &[]))?;
    let parameters = matrix(parameters, &|unit| derivative.forward(&zero, &[], unit))?;
    let notes: Vec<(f64, &str, &str)> = derivative.notes().map(|n| (n.time, &*n.name, n.choice)).collect();
    let keys = PyDict::new(py);
    keys.set_item("report", Py::new(py, report)?)?;
    keys.set_item("state", state)?;
    keys.set_item("effort", effort)?;
    keys.set_item("parameters", parameters)?;
    keys.set_item("exact", derivative.is_exact())?;
    keys.set_item("notes", notes)?;
    helper(py, "_arrays", "StepDerivative")?.call((), Some(&keys))
}
