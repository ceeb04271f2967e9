//! Many states of one model, stepped on all cores.

use crate::convert::{floats, helper};
use crate::interrupt::guarded;
use crate::memory::{check, with_rows};
use crate::model::Model;
use crate::report::sci;
use crate::scene::count;
use crate::state::State;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use stiction::inputs::{Inputs, Wrench};
use stiction::state;
use stiction::step::StepReport;
use stiction::stepper::Stepper;

/// Time between two looks for signals, s.
const LOOK: f64 = 0.05;
/// Most states of a batch: a typing error should not take all memory.
const MOST: usize = 10_000_000;

/// Many states of one model, stepped on all cores with the GIL released.
///
/// ``q`` and ``v`` have shape (n, nq) and (n, nv). Reading them copies out, assigning to them copies in.
/// Results do not depend on the number of threads, and each
/// state has bitwise the future that a ``Simulation`` would give it.
///
/// Parameters
/// ----------
/// model : Model, Scene, path-like or dict
/// n : int
///     Number of states, all at the scene's start.
/// threads : int, optional
///     Number of threads; all cores by default.
///
/// Examples
/// --------
/// >>> batch = st.Batch(model, 1000)
/// >>> v = batch.v
/// >>> v[:, 0] = np.linspace(0, 1, 1000)
/// >>> batch.v = v
/// >>> report = batch.step(n=500)
/// >>> batch.q[:, 0]
#[pyclass(module = "stiction", name = "Batch")]
pub struct Batch {
    model: Py<Model>,
    states: Vec<state::State>,
    pool: Arc<Steppers>,
    threads: Option<rayon::ThreadPool>,
}

/// Steppers that wait for work; one per thread, made when they are needed.
struct Steppers {
    model: Arc<stiction::model::Model>,
    free: Mutex<Vec<Stepper>>,
}

/// A stepper that goes back when it is dropped.
struct Taken<'a> {
    stepper: Option<Stepper>,
    of: &'a Steppers,
}

impl Steppers {
    fn take(&self) -> Taken<'_> {
        let known = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let stepper = known.unwrap_or_else(|| Stepper::of(self.model.clone()));
        Taken { stepper: Some(stepper), of: self }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(stepper) = self.stepper.take() {
            self.of.free.lock().unwrap_or_else(PoisonError::into_inner).push(stepper);
        }
    }
}

/// What became of one state in a call.
#[derive(Clone, Default)]
struct Outcome {
    residual: f64,
    iterations: usize,
    trust: usize,
    steps: usize,
    failure: Option<String>,
}

/// Report of a step of a batch, one entry per state.
#[pyclass(module = "stiction", name = "BatchReport", frozen)]
pub struct BatchReport {
    outcomes: Vec<Outcome>,
    asked: usize,
}

#[pymethods]
impl BatchReport {
    /// Worst relative residual of each state's steps.
    #[getter]
    fn residual<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.outcomes.iter().map(|o| o.residual))
    }

    /// Iterations of each state's steps, wasted ones included.
    #[getter]
    fn iterations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.outcomes.iter().map(|o| o.iterations as i64))
    }

    /// Number of steps that each state made.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.outcomes.iter().map(|o| o.steps as i64))
    }

    /// Whether a step of the state failed. A failed state stays where it was before that step; the others go
    /// on.
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        PyArray1::from_iter(py, self.outcomes.iter().map(|o| o.failure.is_some()))
    }

    /// Worst that is known of each state's steps (see ``StepReport.trust``).
    #[getter]
    fn trust(&self) -> Vec<&'static str> {
        self.outcomes.iter().map(|o| stiction::step::Trust::ALL[o.trust].name()).collect()
    }

    /// Why states failed, by their index.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (i, o) in self.outcomes.iter().enumerate() {
            if let Some(why) = &o.failure {
                dict.set_item(i, why)?;
            }
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let worst = self.outcomes.iter().fold(0.0f64, |m, o| m.max(o.residual));
        let failed = self.outcomes.iter().filter(|o| o.failure.is_some()).count();
        let (states, steps) =
            (count(self.outcomes.len(), "state", "states"), count(self.asked, "step", "steps"));
        format!("<BatchReport: {states}, {steps} each, worst residual {}, {failed} failed>", sci(worst))
    }
}

impl Batch {
    fn gather<'py>(
        &self,
        py: Python<'py>,
        columns: usize,
        pick: impl Fn(&state::State) -> &[f64],
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let flat: Vec<f64> = self.states.iter().flat_map(|s| pick(s).iter().copied()).collect();
        PyArray1::from_vec(py, flat).reshape([self.states.len(), columns])
    }

    /// Numbers of an array of shape (n, columns), or one that can be broadcast to it.
    fn rows(&self, value: &Bound<'_, PyAny>, name: &str, columns: &[usize]) -> PyResult<Vec<f64>> {
        let mut shape = vec![self.states.len()];
        shape.extend_from_slice(columns);
        let shape = pyo3::types::PyTuple::new(value.py(), shape)?;
        let flat = floats(value, name, columns.len() + 1, Some(shape))?
            .call_method1("reshape", ((self.states.len(), columns.iter().product::<usize>()),))?;
        with_rows(flat.cast::<PyArray2<f64>>()?, <[f64]>::to_vec)
    }

    fn sizes(&self) -> (usize, usize, usize) {
        let inner = &self.model.get().inner;
        let system = inner.system();
        (system.configuration_size(), system.velocity_size(), inner.scene().bodies.len())
    }

    fn index(&self, i: isize) -> PyResult<usize> {
        let n = self.states.len() as isize;
        let at = if i < 0 { i + n } else { i };
        match (0..n).contains(&at) {
            true => Ok(at as usize),
            false => Err(PyIndexError::new_err(format!("state {i} of a batch of {n}"))),
        }
    }
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (model, n, *, threads = None))]
    fn new(model: &Bound<'_, PyAny>, n: usize, threads: Option<usize>) -> PyResult<Self> {
        if n > MOST {
            return Err(PyValueError::new_err(format!("n = {n}, expected at most {MOST}")));
        }
        let model = Model::from_any(model)?;
        let threads = match threads {
            None => None,
            Some(0) => return Err(PyValueError::new_err("threads = 0, expected at least 1")),
            Some(k) => Some(
                rayon::ThreadPoolBuilder::new()
                    .num_threads(k)
                    .build()
                    .map_err(|e| PyValueError::new_err(format!("threads = {k}: {e}")))?,
            ),
        };
        let inner = model.get().inner.clone();
        let states = vec![inner.initial(); n];
        let pool = Arc::new(Steppers { model: inner, free: Mutex::default() });
        Ok(Self { model: model.unbind(), states, pool, threads })
    }

    /// Make ``n`` steps of every state.
    ///
    /// Parameters
    /// ----------
    /// effort : array_like, optional
    ///     Effort on each degree of freedom, N or N m, of shape (batch, nv), or (nv,) for all states.
    /// force, torque : array_like, optional
    ///     Force on each body's centre of mass and torque, in world axes, of shape (batch, nbody, 3), or
    ///     (nbody, 3) for all states.
    /// n : int
    ///     Number of steps, all under the same inputs.
    ///
    /// Returns
    /// -------
    /// BatchReport
    ///     States whose step failed are marked there; nothing is raised for them.
    #[pyo3(signature = (effort = None, *, force = None, torque = None, n = 1))]
    fn step(
        &mut self,
        py: Python<'_>,
        effort: Option<&Bound<'_, PyAny>>,
        force: Option<&Bound<'_, PyAny>>,
        torque: Option<&Bound<'_, PyAny>>,
        n: usize,
    ) -> PyResult<BatchReport> {
        let (_, nv, bodies) = self.sizes();
        let effort = effort.map(|x| self.rows(x, "effort", &[nv])).transpose()?;
        let force = force.map(|x| self.rows(x, "force", &[bodies, 3])).transpose()?;
        let torque = torque.map(|x| self.rows(x, "torque", &[bodies, 3])).transpose()?;
        let inner = self.model.get().inner.clone();
        let inputs = |i: usize, out: &mut Inputs| {
            out.efforts.clear();
            if let Some(effort) = &effort {
                out.efforts.extend_from_slice(&effort[i * nv..(i + 1) * nv]);
            }
            out.wrenches.clear();
            for body in 0..bodies {
                let of = |list: &Option<Vec<f64>>| match list {
                    Some(list) => {
                        let at = 3 * (i * bodies + body);
                        [list[at], list[at + 1], list[at + 2]]
                    }
                    None => [0.0; 3],
                };
                let (force, torque) = (of(&force), of(&torque));
                if force != [0.0; 3] || torque != [0.0; 3] {
                    let point = inner.scene().bodies[body].link.inertia.center;
                    out.wrenches.push(Wrench { body, point, force, torque });
                }
            }
        };
        let mut outcomes = vec![Outcome::default(); self.states.len()];
        let (mut left, mut round) = (n, 1);
        while left > 0 {
            let (begin, part) = (Instant::now(), round.min(left));
            guarded(py, || {
                py.detach(|| {
                    let (states, pool) = (&mut self.states, &*self.pool);
                    let mut work = || {
                        let each = states.par_iter_mut().zip(&mut outcomes).enumerate();
                        each.for_each_init(
                            || (pool.take(), Inputs::default()),
                            |(taken, mine), (i, (state, outcome))| {
                                inputs(i, mine);
                                advance(taken, state, mine, part, outcome);
                            },
                        );
                    };
                    match &self.threads {
                        Some(threads) => threads.install(work),
                        None => work(),
                    }
                });
                Ok(())
            })?;
            py.check_signals()?;
            left -= part;
            let took = begin.elapsed().as_secs_f64().max(1e-6);
            round = ((part as f64 * LOOK / took) as usize).max(1);
        }
        Ok(BatchReport { outcomes, asked: n })
    }

    /// Coordinates of all states, of shape (n, nq): a copy. Assign an array to change them.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.gather(py, self.sizes().0, |s| &s.position)
    }

    #[setter]
    fn set_q(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let nq = self.sizes().0;
        let mut rows = self.rows(value, "q", &[nq])?;
        for (i, state) in self.states.iter().enumerate() {
            check(&self.model.get().inner, &mut rows[i * nq..(i + 1) * nq], &state.velocity)?;
        }
        for (i, state) in self.states.iter_mut().enumerate() {
            state.position.copy_from_slice(&rows[i * nq..(i + 1) * nq]);
        }
        Ok(())
    }

    /// Velocities of all states, of shape (n, nv): a copy. Assign an array to change them.
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.gather(py, self.sizes().1, |s| &s.velocity)
    }

    #[setter]
    fn set_v(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let nv = self.sizes().1;
        let rows = self.rows(value, "v", &[nv])?;
        for (i, state) in self.states.iter_mut().enumerate() {
            state.velocity.copy_from_slice(&rows[i * nv..(i + 1) * nv]);
        }
        Ok(())
    }

    /// Time of each state, s.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.states.iter().map(|s| s.time))
    }

    /// Model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Put states back to the scene's start, or to a given state.
    ///
    /// Parameters
    /// ----------
    /// which : array_like of bool or int, optional
    ///     A mask or indices; all states by default.
    /// state : State, optional
    ///     Where to put them.
    #[pyo3(signature = (which = None, *, state = None))]
    fn reset(
        &mut self,
        py: Python<'_>,
        which: Option<&Bound<'_, PyAny>>,
        state: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let start = match state {
            None => self.model.get().inner.initial(),
            Some(state) => State::for_model(state, &self.model)?,
        };
        let which: Vec<usize> = match which {
            None => (0..self.states.len()).collect(),
            Some(which) => helper(py, "_arrays", "indices")?.call1((which, self.states.len()))?.extract()?,
        };
        which.into_iter().for_each(|i| self.states[i].clone_from(&start));
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.states.len()
    }

    fn __getitem__(&self, py: Python<'_>, i: isize) -> PyResult<State> {
        let state = self.states[self.index(i)?].clone();
        State::of(py, self.model.bind(py), state)
    }

    fn __setitem__(&mut self, i: isize, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let at = self.index(i)?;
        self.states[at] = State::for_model(state, &self.model)?;
        Ok(())
    }

    fn __repr__(&self) -> String {
        let (nq, nv, _) = self.sizes();
        let name = &self.model.get().inner.scene().name;
        let threads = self
            .threads
            .as_ref()
            .map_or_else(rayon::current_num_threads, rayon::ThreadPool::current_num_threads);
        format!(
            "<Batch of '{name}': {}, nq = {nq}, nv = {nv}, {}>",
            count(self.states.len(), "state", "states"),
            count(threads, "thread", "threads")
        )
    }
}

/// Makes steps of one state until one fails.
fn advance(
    taken: &mut Taken<'_>,
    state: &mut state::State,
    inputs: &Inputs,
    steps: usize,
    outcome: &mut Outcome,
) {
    let Some(stepper) = taken.stepper.as_mut() else { return };
    let h = stepper.scene().step.h;
    for _ in 0..steps {
        if outcome.failure.is_some() {
            return;
        }
        match stepper.step_by(state, inputs, h) {
            Ok(mut report) => {
                stepper.examine(state, &mut report);
                let StepReport { residual, iterations, wasted, trust, .. } = report;
                outcome.residual = outcome.residual.max(residual.relative);
                outcome.iterations += iterations + wasted;
                outcome.trust = outcome.trust.max(trust as usize);
                outcome.steps += 1;
            }
            Err(why) => outcome.failure = Some(why.to_string()),
        }
    }
}
