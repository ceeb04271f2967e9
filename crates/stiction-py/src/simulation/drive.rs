//! What a simulation does between Python and the steps: arrays and inputs in and out, steps, recordings.

use super::{Simulation, options};
use crate::convert::{helper, vector};
use crate::errors;
use crate::history::History;
use crate::interrupt::interruptible;
use crate::memory::{Coordinates, Shared};
use crate::model::Model;
use crate::recording::{Recording, format_of};
use crate::report::Run;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use stiction::inputs::{Inputs, Wrench};
use stiction::model::Owner;
use stiction::record::Recorder;
use stiction::run::{Fault, Observer, Stepwise, Summary, Until};
use stiction::space::{Vector, scale};
use stiction::state;
use stiction::step::{self, Failed};

/// What the observers of a run see besides the recorder.
struct Watched<'a> {
    pub made: &'a AtomicUsize,
    pub time: &'a AtomicU64,
}

impl Simulation {
    pub(super) fn create(py: Python<'_>, model: &Bound<'_, Model>, state: state::State) -> PyResult<Self> {
        let inner = model.get();
        let stop = Arc::new(AtomicBool::new(false));
        let steps = Stepwise::new(&inner.inner, &state, &options(&stop));
        let coordinates = Coordinates::new(py, inner, &state)?;
        let (nv, bodies) = (inner.inner.system().velocity_size(), inner.inner.scene().bodies.len());
        let motors = inner.inner.scene().motors.len();
        let target = Shared::new(py, motors, 0, &inner.motor_index, "motor")?;
        target.write(py, &vec![f64::NAN; motors])?;
        let surfaces = inner.surfaces.len();
        let surface = Shared::new(py, surfaces, 3, &inner.surface_index, "surface")?;
        surface.write(py, &vec![f64::NAN; 3 * surfaces])?;
        Ok(Self {
            target,
            surface,
            effort: Shared::new(py, nv, 0, &inner.v_index, "joint")?,
            force: Shared::new(py, bodies, 3, &inner.body_index, "body")?,
            torque: Shared::new(py, bodies, 3, &inner.body_index, "body")?,
            model: model.clone().unbind(),
            state,
            steps,
            coordinates,
            inputs: Inputs::default(),
            once: vec![],
            recorder: None,
            history: History::default(),
            parameters: None,
            stop,
        })
    }

    /// Takes over what the user wrote to `q` and `v`.
    pub(super) fn pull(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.coordinates.pull(py, &self.model.get().inner, &mut self.state)? {
            self.steps.state_changed(&self.state);
            self.history.moved = true;
        }
        Ok(())
    }

    /// Takes over what the user wrote to the inputs.
    pub(super) fn read_inputs(&mut self, py: Python<'_>) -> PyResult<()> {
        let Self { inputs, effort, force, torque, target, surface, model, once, .. } = self;
        let not_finite =
            |name: &str| PyValueError::new_err(format!("{name} holds a number that is not finite"));
        let zero = |x: &[f64]| x.iter().all(|x| *x == 0.0);
        let valid = effort.read(py, |effort| {
            inputs.efforts.clear();
            if !zero(effort) {
                inputs.efforts.extend_from_slice(effort);
            }
            inputs.efforts.iter().all(|x| x.is_finite())
        })?;
        if !valid {
            return Err(not_finite("effort"));
        }
        let valid = target.read(py, |target| {
            inputs.targets.clear();
            if !target.iter().all(|x| x.is_nan()) {
                inputs.targets.extend(target.iter().map(|x| (!x.is_nan()).then_some(*x)));
            }
            !target.iter().any(|x| x.is_infinite())
        })?;
        if !valid {
            return Err(PyValueError::new_err("target holds an infinite number"));
        }
        inputs.surfaces.clear();
        let owners = &model.get().surfaces;
        let valid = surface.read(py, |surface| {
            for (owner, v) in owners.iter().zip(surface.chunks_exact(3)) {
                if !v.iter().all(|x| x.is_nan()) {
                    inputs.surfaces.push((*owner, [v[0], v[1], v[2]]));
                }
            }
            inputs.surfaces.iter().all(|(_, v)| v.iter().all(|x| x.is_finite()))
        })?;
        if !valid {
            return Err(PyValueError::new_err("surface: expected three finite numbers, or three NaN"));
        }
        inputs.wrenches.clear();
        let bodies = &model.get().inner.scene().bodies;
        force.read(py, |force| {
            torque.read(py, |torque| {
                if zero(force) && zero(torque) {
                    return Ok(());
                }
                for (body, (f, t)) in force.chunks_exact(3).zip(torque.chunks_exact(3)).enumerate() {
                    if zero(f) && zero(t) {
                        continue;
                    }
                    let (force, torque) = ([f[0], f[1], f[2]], [t[0], t[1], t[2]]);
                    if !force.iter().chain(&torque).all(|x| x.is_finite()) {
                        return Err(not_finite(&format!("force or torque of '{}'", bodies[body].name)));
                    }
                    let point = bodies[body].link.inertia.center;
                    inputs.wrenches.push(Wrench { body, point, force, torque });
                }
                Ok(())
            })
        })???;
        inputs.wrenches.append(once);
        Ok(())
    }

    /// One step of state and observers; the GIL may be released.
    pub(super) fn advance(&mut self) -> Result<Result<step::StepReport, Failed>, Fault> {
        self.history.begin(&mut self.steps.view(&self.state))?;
        let made = self.steps.step(&mut self.state, &self.inputs);
        self.observe(made.as_ref().err())?;
        Ok(made)
    }

    /// Shows the step that was made, or why it failed, to recorder and history.
    pub(super) fn observe(&mut self, failed: Option<&Failed>) -> Result<(), Fault> {
        let mut view = self.steps.view(&self.state);
        match failed {
            None => self.history.step(&mut view)?,
            Some(why) => self.history.failed(&mut view, why)?,
        }
        match (&mut self.recorder, failed) {
            (None, _) => Ok(()),
            (Some(recorder), None) => recorder.step(&mut self.steps.view(&self.state)),
            (Some(recorder), Some(why)) => recorder.failed(&mut self.steps.view(&self.state), why),
        }
    }

    pub(super) fn finish_recording(&mut self, py: Python<'_>) -> PyResult<Option<Recording>> {
        let Some(mut recorder) = self.recorder.take() else { return Ok(None) };
        recorder.finish(&mut self.steps.view(&self.state)).map_err(|e| errors::observer(py, &e))?;
        Ok(Some(Recording::at(recorder.folder().to_owned())))
    }

    pub(super) fn begin_recording(
        &mut self,
        py: Python<'_>,
        folder: &Path,
        format: &str,
        replace: bool,
    ) -> PyResult<()> {
        if let Some(recorder) = &self.recorder {
            let folder = recorder.folder().display();
            return Err(PyRuntimeError::new_err(format!(
                "already recording to {folder}: stop_recording() first"
            )));
        }
        let model = self.model.get();
        let text = model.scene.to_toml();
        let made = Recorder::create(folder, &model.inner, &text, format_of(format)?, replace);
        let mut recorder = made.map_err(|e| errors::recording(py, &e))?;
        self.steps.state_changed(&self.state);
        recorder.start(&mut self.steps.view(&self.state)).map_err(|e| errors::observer(py, &e))?;
        self.recorder = Some(recorder);
        Ok(())
    }

    /// The number of steps that a run is asked for.
    pub(super) fn asked(
        &self,
        (duration, until, steps): (Option<f64>, Option<f64>, Option<usize>),
    ) -> PyResult<usize> {
        let valid = |name: &str, x: f64| match x.is_finite() && x >= 0.0 {
            true => Ok(x),
            false => Err(PyValueError::new_err(format!("{name} = {x}, expected 0 or more"))),
        };
        let end = match (duration, until, steps) {
            (None, None, None) => Until::Duration,
            (Some(duration), None, None) => {
                let h = self.model.get().inner.scene().step.h;
                let steps = valid("duration", duration)? / h;
                return Ok((steps - 1e-9 * steps.max(1.0)).ceil().max(0.0) as usize);
            }
            (None, Some(time), None) => Until::Time(valid("until", time)?),
            (None, None, Some(steps)) => Until::Steps(steps),
            _ => return Err(PyTypeError::new_err("expected one of duration, until and steps")),
        };
        Ok(end.steps(self.model.get().inner.scene(), &self.state))
    }

    pub(super) fn pose(&mut self, py: Python<'_>, body: &str) -> PyResult<stiction::space::Pose> {
        let index = self.model.get().body(body)?;
        self.pull(py)?;
        Ok(self.steps.view(&self.state).kinematics().pose(index))
    }

    /// The steps of a run; returns why it failed, if it did.
    fn drive(
        &mut self,
        asked: usize,
        summary: &mut Summary,
        watched: &Watched<'_>,
    ) -> Result<Option<Failed>, Fault> {
        summary.start(&mut self.steps.view(&self.state))?;
        let mut failed = None;
        for k in 0..asked {
            match self.advance()? {
                Ok(_) => summary.step(&mut self.steps.view(&self.state))?,
                Err(Failed::Interrupted { .. }) => break,
                Err(why) => {
                    failed = Some(why);
                    break;
                }
            }
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            watched.made.store(k + 1, Ordering::Relaxed);
            watched.time.store(self.state.time.to_bits(), Ordering::Relaxed);
        }
        summary.finish(&mut self.steps.view(&self.state))?;
        Ok(failed)
    }

    /// A run under the current inputs: see [`Simulation::run`].
    pub(super) fn run_for(
        &mut self,
        py: Python<'_>,
        end: (Option<f64>, Option<f64>, Option<usize>),
        progress: Option<&Bound<'_, PyAny>>,
        record: Option<(PathBuf, &str, bool)>,
    ) -> PyResult<Run> {
        self.pull(py)?;
        self.read_inputs(py)?;
        let asked = self.asked(end)?;
        let show = match progress {
            None => None,
            Some(progress) => {
                helper(py, "_progress", "display")?.call1((progress,))?.extract::<Option<Py<PyAny>>>()?
            }
        };
        if let Some((folder, format, replace)) = &record {
            self.begin_recording(py, folder, format, *replace)?;
        }
        let (begin, stop) = (Instant::now(), self.stop.clone());
        let (made, time) = (AtomicUsize::new(0), AtomicU64::new(self.state.time.to_bits()));
        let watched = Watched { made: &made, time: &time };
        let mut summary = Summary::default();
        let told = std::cell::Cell::new(Instant::now());
        let look = |py: Python<'_>| match &show {
            Some(show) if told.get().elapsed().as_millis() >= 100 => {
                told.set(Instant::now());
                let now = f64::from_bits(time.load(Ordering::Relaxed));
                show.call1(py, (now, made.load(Ordering::Relaxed), asked)).map(drop)
            }
            _ => Ok(()),
        };
        let ended = interruptible(py, &stop, look, || self.drive(asked, &mut summary, &watched));
        self.coordinates.push(py, &self.state)?;
        // the recording is finished however the run ended
        let recording = match record {
            Some(_) => self.finish_recording(py)?.map(|r| Py::new(py, r)).transpose()?,
            None => None,
        };
        if let Some(show) = &show {
            show.call1(py, (self.state.time, summary.steps, asked))?;
            show.bind(py).call_method0("close").or_else(|_| Ok::<_, PyErr>(py.None().into_bound(py)))?;
        }
        let failed = ended?.map_err(|e| errors::observer(py, &e))?;
        let status = if failed.is_some() { "failed" } else { "finished" };
        let seconds = begin.elapsed().as_secs_f64();
        let model = &self.model.get().inner;
        let motions = summary.motion_warnings(model).into_iter().map(|w| w.message);
        let energy = summary.energy_warnings(model).into_iter().map(|w| w.message);
        let warnings: Vec<String> = motions.chain(energy).collect();
        warnings.iter().try_for_each(|line| errors::warn_run(py, line))?;
        let run = Run { summary, status, asked, time: self.state.time, seconds, recording, warnings };
        match failed {
            None => Ok(run),
            Some(why) => {
                let error = errors::step(py, &why, self.state.time);
                error.value(py).setattr("run", Py::new(py, run)?)?;
                Err(error)
            }
        }
    }

    /// Contact force on a body or world part in the last step, in world axes, N: from all contacts, or from
    /// those with another one.
    pub(super) fn force_on(&mut self, body: &str, other: Option<&str>) -> PyResult<Vector> {
        let model = self.model.get().inner.clone();
        let [body, other] = [Some(body), other].map(|name| name.map(|name| owner(&model, name)).transpose());
        let (body, other) = (body?, other?);
        let mut sum = [0.0; 3];
        for e in self.steps.view(&self.state).elements() {
            let sign = match (Some(e.body_a) == body, Some(e.body_b) == body) {
                (true, _) if other.is_none_or(|o| e.body_b == o) => -1.0,
                (_, true) if other.is_none_or(|o| e.body_a == o) => 1.0,
                _ => continue,
            };
            let force = scale(sign, e.frame.world(e.force));
            sum.iter_mut().zip(force).for_each(|(s, f)| *s += f);
        }
        Ok(sum)
    }
}

/// A body or world part by name.
fn owner(model: &stiction::model::Model, name: &str) -> PyResult<Owner> {
    let scene = model.scene();
    let bodies = scene.bodies.iter().enumerate().map(|(i, b)| (b.name.as_str(), Owner::Body(i)));
    let world = scene.world.iter().enumerate().map(|(i, w)| (w.name.as_str(), Owner::World(i)));
    let all: Vec<(&str, Owner)> = bodies.chain(world).collect();
    all.iter().find(|(known, _)| *known == name).map(|(_, owner)| *owner).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
        pyo3::exceptions::PyKeyError::new_err(crate::scene::unknown("body or world part", name, &known))
    })
}

/// Three numbers, if they are given.
pub(super) fn three(value: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<Option<Vector>> {
    let list = value.map(|value| vector(value, name, Some(3))).transpose()?;
    Ok(list.map(|list| [list[0], list[1], list[2]]))
}
