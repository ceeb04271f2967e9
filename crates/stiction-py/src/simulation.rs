//! Simulations: a model, a state and the memory to step it.

mod analyse;
mod drive;

use crate::convert::helper;
use crate::errors;
use crate::history::History;
use crate::interrupt::guarded;
use crate::memory::{Coordinates, Shared};
use crate::model::Model;
use crate::recording::Recording;
use crate::report::{Run, StepReport, balance, sci};
use crate::scene::count;
use crate::state::{State, valid_time};
use crate::tables;
use drive::three;
use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use stiction::boundary::Parameters;
use stiction::inputs::{Inputs, Wrench};
use stiction::record::Recorder;
use stiction::run::{Options, Stepwise};
use stiction::state;
use stiction::step::{self, overlaps};

/// Degrees of freedom up to which the GIL is kept during a step: releasing it takes as long as the step of
/// one body.
const SMALL: usize = 36;
/// Steps between two looks at the clock in `step(n)`.
const LOOK: usize = 256;

/// Simulation of a model: state, inputs and the memory to step it.
///
/// ``q`` and ``v`` are NumPy arrays that show the current state and can be written; ``effort``, ``force``,
/// ``torque``, ``target`` and ``surface`` are inputs that act from the next step
/// on until they are changed. All of them also take names: ``sim.q["elbow"]``, ``sim.effort["elbow"] = 2``.
/// A pickle keeps model and state, not the inputs.
///
/// Parameters
/// ----------
/// source : Model, Scene, path-like or dict
///     What to simulate.
/// state : State, optional
///     State to start from; the scene's start by default.
///
/// Examples
/// --------
/// >>> sim = st.Simulation("scenes/sliding-sphere.toml")
/// >>> sim.run(0.5)
/// >>> sim.contacts()["force"]
///
/// With control in the loop:
///
/// >>> for _ in range(2000):
/// ...     sim.effort["elbow"] = 20 * (1 - sim.q["elbow"]) - 2 * sim.v["elbow"]
/// ...     report = sim.step()
#[pyclass(module = "stiction", name = "Simulation", subclass, weakref)]
pub struct Simulation {
    model: Py<Model>,
    state: state::State,
    steps: Stepwise,
    coordinates: Coordinates,
    effort: Shared,
    force: Shared,
    torque: Shared,
    /// NaN where a motor follows its course.
    target: Shared,
    /// NaN where a surface follows its course.
    surface: Shared,
    inputs: Inputs,
    /// Forces for the next step only.
    once: Vec<Wrench>,
    recorder: Option<Recorder>,
    history: History,
    /// Parameters by which a step was differentiated last.
    parameters: Option<(Vec<String>, Parameters)>,
    stop: Arc<AtomicBool>,
}

fn options(stop: &Arc<AtomicBool>) -> Options {
    Options { stop: stop.clone(), ..Options::default() }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (source, state = None))]
    fn new(source: &Bound<'_, PyAny>, state: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let (py, model) = (source.py(), Model::from_any(source)?);
        let initial = match state {
            None => model.get().inner.initial(),
            Some(state) => State::for_model(state, model.as_unbound())?,
        };
        Self::create(py, &model, initial)
    }

    /// Make one step of ``model.h`` under the current inputs, or ``n`` of them.
    ///
    /// Returns
    /// -------
    /// StepReport
    ///     Report of the (last) step: residual, trust, iterations, ...
    ///
    /// Raises
    /// ------
    /// StepError
    ///     If a step fails; the state is the one before it, and the message says why.
    #[pyo3(signature = (n = 1))]
    fn step(&mut self, py: Python<'_>, n: usize) -> PyResult<StepReport> {
        self.pull(py)?;
        self.read_inputs(py)?;
        let mut report = step::StepReport::default();
        for k in 0..n {
            let made = match self.state.velocity.len() <= SMALL {
                true => self.advance(),
                false => py.detach(|| self.advance()),
            };
            match made {
                Ok(Ok(made)) => report = made,
                Ok(Err(why)) => {
                    self.coordinates.push(py, &self.state)?;
                    return Err(errors::step(py, &why, self.state.time));
                }
                Err(fault) => {
                    self.coordinates.push(py, &self.state)?;
                    return Err(errors::observer(py, &fault));
                }
            }
            if k % LOOK == LOOK - 1 {
                self.coordinates.push(py, &self.state)?;
                py.check_signals()?;
            }
        }
        self.coordinates.push(py, &self.state)?;
        Ok(StepReport { inner: report, time: self.state.time })
    }

    /// Run under the current inputs, without the GIL. Ctrl-C ends it after the current step; the simulation
    /// can go on from there.
    ///
    /// Parameters
    /// ----------
    /// duration : float, optional
    ///     How long to run, s; by default until the scene's duration.
    /// until : float, optional
    ///     Time at which to end instead, s.
    /// steps : int, optional
    ///     Number of steps to make instead.
    /// progress : bool or callable
    ///     True shows a line with the time reached; a function is called about ten times a second with
    ///     ``(time, steps made, steps asked)``;
    ///     it must not use the simulation, which is at work.
    /// record : path-like, optional
    ///     Folder for a recording of the run.
    /// format : {"parquet", "csv"}
    ///     How the recording keeps its tables.
    /// replace : bool
    ///     Whether a recording in that folder may be replaced.
    ///
    /// Returns
    /// -------
    /// Run
    ///     Summary: worst residual, trust, events, energies, and the recording.
    ///
    /// Raises
    /// ------
    /// StepError
    ///     If a step fails; the state is the last good one and ``error.run`` the summary up to there.
    ///
    /// Examples
    /// --------
    /// >>> run = sim.run(2.0, progress=True, record="slide.recording")
    /// >>> run.recording.to_pandas("contacts")
    #[pyo3(signature = (duration = None, *, until = None, steps = None, progress = None, record = None, format = "parquet", replace = false))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn run(
        &mut self,
        py: Python<'_>,
        duration: Option<f64>,
        until: Option<f64>,
        steps: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
        record: Option<PathBuf>,
        format: &str,
        replace: bool,
    ) -> PyResult<Run> {
        let record = record.map(|folder| (folder, format, replace));
        self.run_for(py, (duration, until, steps), progress, record)
    }

    /// Coordinates ``q``: an array of length ``model.nq``, also by name. It shows the current state; writing
    /// to it changes the state.
    ///
    /// A free body has x, y, z and the quaternion w, x, y, z; a planar one x, y and the angle; a revolute or
    /// prismatic joint one number.
    #[getter]
    fn q(&self, py: Python<'_>) -> Py<PyAny> {
        self.coordinates.q.named.clone_ref(py)
    }

    #[setter]
    fn set_q(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.coordinates.q.assign(py, value, "q")
    }

    /// Velocities ``v``: an array of length ``model.nv``, also by name. It shows the current state; writing
    /// to it changes the state.
    ///
    /// A free body has the velocity of its origin and its angular velocity, both in world axes.
    #[getter]
    fn v(&self, py: Python<'_>) -> Py<PyAny> {
        self.coordinates.v.named.clone_ref(py)
    }

    #[setter]
    fn set_v(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.coordinates.v.assign(py, value, "v")
    }

    /// Effort on each degree of freedom, N or N m, in the order of ``v`` and by name; it acts in all steps
    /// until it is changed.
    #[getter]
    fn effort(&self, py: Python<'_>) -> Py<PyAny> {
        self.effort.named.clone_ref(py)
    }

    #[setter]
    fn set_effort(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.effort.assign(py, value, "effort")
    }

    /// Value of each motor that replaces its course over time, by the name of the body that it drives; NaN
    /// lets it follow its course. It holds in all steps until it
    /// is changed.
    ///
    /// Examples
    /// --------
    /// >>> sim.target["palm"] = 60
    /// >>> sim.target["palm"] = np.nan      # as the scene says
    #[getter]
    fn target(&self, py: Python<'_>) -> Py<PyAny> {
        self.target.named.clone_ref(py)
    }

    #[setter]
    fn set_target(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        helper(py, "_arrays", "assign")?.call1((&self.target.named, value, "target", true)).map(drop)
    }

    /// Force on each body's centre of mass in world axes, N, of shape (nbody, 3) and by name; it acts in all
    /// steps until it is changed.
    #[getter]
    fn force(&self, py: Python<'_>) -> Py<PyAny> {
        self.force.named.clone_ref(py)
    }

    #[setter]
    fn set_force(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.force.assign(py, value, "force")
    }

    /// Torque on each body in world axes, N m, of shape (nbody, 3) and by name; it acts in all steps until
    /// it is changed.
    #[getter]
    fn torque(&self, py: Python<'_>) -> Py<PyAny> {
        self.torque.named.clone_ref(py)
    }

    #[setter]
    fn set_torque(&mut self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.torque.assign(py, value, "torque")
    }

    /// Apply a force and a torque to a body in the next call of ``step`` or ``run`` only.
    ///
    /// Parameters
    /// ----------
    /// body : str
    ///     Name of the body.
    /// force, torque : (3,) array_like, optional
    ///     In world axes, N and N m.
    /// point : (3,) array_like, optional
    ///     Where the force acts, in coordinates of the body, m; its centre of mass by default.
    #[pyo3(signature = (body, force = None, *, torque = None, point = None))]
    fn apply(
        &mut self,
        body: &str,
        force: Option<&Bound<'_, PyAny>>,
        torque: Option<&Bound<'_, PyAny>>,
        point: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let index = self.model.get().body(body)?;
        let center = self.model.get().inner.scene().bodies[index].link.inertia.center;
        self.once.push(Wrench {
            body: index,
            point: three(point, "point")?.unwrap_or(center),
            force: three(force, "force")?.unwrap_or_default(),
            torque: three(torque, "torque")?.unwrap_or_default(),
        });
        Ok(())
    }

    /// Time, s.
    #[getter]
    fn time(&self) -> f64 {
        self.state.time
    }

    #[setter]
    fn set_time(&mut self, time: f64) -> PyResult<()> {
        self.state.time = valid_time(time)?;
        self.history = History::default();
        self.steps.state_changed(&self.state);
        Ok(())
    }

    /// Model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Copy of the current state; assign a state to go there.
    #[getter]
    fn state(&mut self, py: Python<'_>) -> PyResult<State> {
        self.pull(py)?;
        State::of(py, self.model.bind(py), self.state.clone())
    }

    #[setter]
    fn set_state(&mut self, py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        self.state = State::for_model(state, &self.model)?;
        self.history = History::default();
        self.steps.state_changed(&self.state);
        self.coordinates.push(py, &self.state)
    }

    /// Go back to the scene's start (or to a state) with all inputs zero.
    #[pyo3(signature = (state = None))]
    fn reset(&mut self, py: Python<'_>, state: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let state = match state {
            None => self.model.get().inner.initial(),
            Some(state) => State::for_model(state, &self.model)?,
        };
        self.state = state;
        self.history = History::default();
        // a recording sees another run
        match self.recorder {
            Some(_) => self.steps.state_changed(&self.state),
            None => self.steps = Stepwise::new(&self.model.get().inner, &self.state, &options(&self.stop)),
        }
        self.once.clear();
        let (nv, bodies) = (self.state.velocity.len(), self.model.get().inner.scene().bodies.len());
        self.target.write(py, &vec![f64::NAN; self.model.get().inner.scene().motors.len()])?;
        self.surface.write(py, &vec![f64::NAN; 3 * self.model.get().surfaces.len()])?;
        self.effort.write(py, &vec![0.0; nv])?;
        self.force.write(py, &vec![0.0; 3 * bodies])?;
        self.torque.write(py, &vec![0.0; 3 * bodies])?;
        self.coordinates.push(py, &self.state)
    }

    /// Contacts of the last step, one record per element; empty before the first step.
    ///
    /// Returns
    /// -------
    /// structured array
    ///     ``contact`` (name), ``element``, ``body_a``, ``body_b`` (names), ``point``, ``normal`` (from body
    ///     a to body b), ``tangent``, ``gap``, ``force``
    ///     and ``moment`` (on body b), ``slip`` (velocity of b relative to a, tangential), ``force_n``
    ///     (normal component), ``deformation``, ``status`` ("open", "stick"
    ///     or "slip"). Vectors are in world axes.
    ///
    /// Examples
    /// --------
    /// >>> c = sim.contacts()
    /// >>> c[c["status"] == "slip"]["force"]
    fn contacts<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model.get().inner.clone();
        tables::contacts(py, &model, self.steps.view(&self.state).elements())
    }

    /// Contact force on a body in the last step, in world axes, N: from all contacts, or from those with
    /// another body or world part.
    #[pyo3(signature = (body, other = None))]
    fn contact_force<'py>(
        &mut self,
        py: Python<'py>,
        body: &str,
        other: Option<&str>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let sum = self.force_on(body, other)?;
        Ok(PyArray1::from_slice(py, &sum))
    }

    /// Joints after the last step, one record per degree of freedom; empty before the first step.
    ///
    /// Returns
    /// -------
    /// structured array
    ///     ``joint`` (name of the body), ``kind``, ``dof``, ``position``, ``velocity``, ``effort`` (of
    ///     motors, limits and friction), ``force`` and ``moment`` that the
    ///     joint transmits to the body, in world axes.
    fn joints<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.pull(py)?;
        let model = self.model.get().inner.clone();
        let mut list = vec![];
        let mut view = self.steps.view(&self.state);
        if view.made > 0 {
            view.joints(&mut Default::default(), &mut list);
        }
        tables::joints(py, &model, &list)
    }

    /// Bodies at the current state.
    ///
    /// Returns
    /// -------
    /// structured array
    ///     ``body`` (name), ``position`` and ``quaternion`` (w, x, y, z) of its origin, ``velocity``,
    ///     ``angular_velocity``, ``center`` of mass; in world axes.
    fn bodies<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.pull(py)?;
        let model = self.model.get().inner.clone();
        let mut view = self.steps.view(&self.state);
        tables::bodies(py, &model, view.kinematics())
    }

    /// Events of the last step: elements that open, close, begin to stick or to slip.
    fn events<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model.get().inner.clone();
        tables::events(py, &model, self.steps.view(&self.state).events)
    }

    /// Position of a body's origin in the world, m.
    fn position<'py>(&mut self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_slice(py, &self.pose(py, body)?.position))
    }

    /// Attitude of a body in the world, a quaternion (w, x, y, z).
    fn quaternion<'py>(&mut self, py: Python<'py>, body: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_slice(py, &self.pose(py, body)?.attitude.0))
    }

    /// Energies at the current state (kinetic, potential, elastic), and losses and works since the
    /// simulation began, J.
    #[getter]
    fn energy<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.pull(py)?;
        let values = self.steps.view(&self.state).balance();
        balance(py, &values)
    }

    /// Rigid bodies that overlap at the current state, deepest first: a list of ``(name, name, depth in m)``.
    fn overlaps(&mut self, py: Python<'_>) -> PyResult<Vec<(String, String, f64)>> {
        self.pull(py)?;
        let found = guarded(py, || Ok(overlaps(&self.model.get().inner, &self.state)))?;
        let found = found.map_err(|why| errors::step(py, &why, self.state.time))?;
        Ok(found
            .into_iter()
            .map(|o| {
                let [a, b] = o.parts;
                (a, b, o.depth)
            })
            .collect())
    }

    /// Contact problem of the last step, as ``solve_friction`` takes it; None if nothing was near.
    ///
    /// Returns
    /// -------
    /// ContactProblem
    ///     Named tuple ``(A, b, mu)``: ``st.solve_friction(*sim.contact_problem())``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If some rows are no contacts (joint limits, joint friction), or contacts have different numbers
    ///     of rows.
    fn contact_problem<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let view = self.steps.view(&self.state);
        let Some(problem) = view.workspace().problem.to_friction() else { return Ok(None) };
        if problem.rows_per_contact().is_none() {
            return Err(PyValueError::new_err(
                "the contact problem has rows of joints, or contacts with different numbers of rows",
            ));
        }
        let matrix = problem.matrix();
        let rows: Vec<Vec<f64>> = (0..matrix.rows()).map(|i| matrix.row(i).to_vec()).collect();
        let a = numpy::PyArray2::from_vec2(py, &rows).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let (b, mu) = (PyArray1::from_slice(py, problem.vector()), PyArray1::from_vec(py, problem.mu()));
        helper(py, "_arrays", "ContactProblem")?.call1((a, b, mu)).map(Some)
    }

    /// Record every step from now on, of ``step`` and ``run``, into a folder, until ``stop_recording()``.
    #[pyo3(signature = (path, *, format = "parquet", replace = false))]
    fn start_recording(
        &mut self,
        py: Python<'_>,
        path: PathBuf,
        format: &str,
        replace: bool,
    ) -> PyResult<()> {
        self.pull(py)?;
        self.begin_recording(py, &path, format, replace)
    }

    /// End the recording and return it.
    fn stop_recording(&mut self, py: Python<'_>) -> PyResult<Recording> {
        self.finish_recording(py)?
            .ok_or_else(|| PyRuntimeError::new_err("not recording: start_recording(path) first"))
    }

    /// Record the steps of a with block.
    ///
    /// Examples
    /// --------
    /// >>> with sim.record("push.recording") as recording:
    /// ...     for _ in range(1000):
    /// ...         sim.force["box"] = [5, 0, 0]
    /// ...         sim.step()
    /// >>> recording.to_pandas("contacts")
    #[pyo3(signature = (path, *, format = "parquet", replace = false))]
    fn record<'py>(
        slf: Bound<'py, Self>,
        path: &Bound<'py, PyAny>,
        format: &str,
        replace: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(slf.py(), "_tables", "Recorded")?.call1((slf, path, format, replace))
    }

    /// Independent copy with the same model, state and inputs.
    fn copy(&mut self, py: Python<'_>) -> PyResult<Self> {
        self.pull(py)?;
        let made = Self::create(py, self.model.bind(py), self.state.clone())?;
        for (from, to) in [
            (&self.effort, &made.effort),
            (&self.force, &made.force),
            (&self.torque, &made.torque),
            (&self.target, &made.target),
            (&self.surface, &made.surface),
        ] {
            let values = from.read(py, <[f64]>::to_vec)?;
            to.write(py, &values)?;
        }
        Ok(made)
    }

    fn __copy__(&mut self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&mut self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __reduce__<'py>(&mut self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Py<Model>, State))> {
        Ok((py.get_type::<Self>().into_any(), (self.model.clone_ref(py), self.state(py)?)))
    }

    fn __repr__(&mut self) -> String {
        let (name, time) = (self.model.get().inner.scene().name.clone(), self.state.time);
        let view = self.steps.view(&self.state);
        let closed = view.elements().iter().filter(|e| e.status != step::Status::Open).count();
        let (made, residual, trust) = (view.made, view.report.residual.relative, view.report.trust.name());
        match made {
            0 => format!("<Simulation of '{name}' at t = {time} s>"),
            _ => format!(
                "<Simulation of '{name}' at t = {time:.6} s: {}, {}, residual {}, {trust}>",
                count(made, "step", "steps"),
                count(closed, "closed contact", "closed contacts"),
                sci(residual)
            ),
        }
    }
}
