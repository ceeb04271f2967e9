//! Reports of steps and runs.

use crate::recording::Recording;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stiction::run::{ENTRIES, EventKind, Summary};
use stiction::step;
use stiction::step::Trust;

/// Report of a step: what it cost and how far its result can be trusted.
#[pyclass(module = "stiction", name = "StepReport", frozen)]
pub struct StepReport {
    pub inner: step::StepReport,
    pub time: f64,
}

#[pymethods]
impl StepReport {
    /// Time at the end of the step, s.
    #[getter]
    fn time(&self) -> f64 {
        self.time
    }

    /// Relative residual of the contact forces, independent of units.
    #[getter]
    fn residual(&self) -> f64 {
        self.inner.residual.relative
    }

    /// Absolute residual of the contact forces, in the units of the problem.
    #[getter]
    fn absolute_residual(&self) -> f64 {
        self.inner.residual.absolute
    }

    /// What is known of the solution: "unique", "locally-unique", "forces-not-unique", "motion-not-unique",
    /// "no-rigid-solution" or "not-examined".
    /// Steps are examined by sample, at about a twentieth of the time of the steps.
    #[getter]
    fn trust(&self) -> &'static str {
        self.inner.trust.name()
    }

    /// Pivots, sweeps or Newton steps of the methods that answered.
    #[getter]
    fn iterations(&self) -> usize {
        self.inner.iterations
    }

    /// Iterations of methods that did not answer, and of abandoned attempts.
    #[getter]
    fn wasted(&self) -> usize {
        self.inner.wasted
    }

    /// Method that answered; "none" if nothing was near.
    #[getter]
    fn solver(&self) -> &'static str {
        self.inner.solver
    }

    /// 0 if nothing was near, 1, or the number of parts into which the step was cut after failed attempts.
    #[getter]
    fn parts(&self) -> usize {
        self.inner.parts
    }

    /// Whether every part reached the scene's tolerance; else some were accepted as they are: at a residual of up to 1e-6, or with a
    /// contact that is not solved by itself.
    #[getter]
    fn within_tolerance(&self) -> bool {
        self.inner.loose == 0
    }

    /// Work lost to friction in the step, J.
    #[getter]
    fn friction_loss(&self) -> f64 {
        self.inner.friction_loss
    }

    /// Work lost in contact dampers in the step, J.
    #[getter]
    fn damping_loss(&self) -> f64 {
        self.inner.damping_loss
    }

    /// Energy that rigid impacts took in the step, friction apart, J.
    #[getter]
    fn impact_loss(&self) -> f64 {
        self.inner.impact_loss
    }

    /// Work of loads, motors, inputs and dampers of springs in the step, J.
    #[getter]
    fn work(&self) -> f64 {
        self.inner.work
    }

    fn __repr__(&self) -> String {
        let step::StepReport { residual, trust, iterations, solver, parts, .. } = &self.inner;
        let cut = if *parts > 1 { format!(", parts={parts}") } else { String::new() };
        format!(
            "StepReport(time={}, residual={}, trust='{}', iterations={iterations}, solver='{solver}'{cut})",
            self.time,
            sci(residual.relative),
            trust.name()
        )
    }
}

/// Summary of a run.
#[pyclass(module = "stiction", name = "Run", frozen)]
pub struct Run {
    pub summary: Summary,
    pub status: &'static str,
    pub asked: usize,
    pub time: f64,
    pub seconds: f64,
    pub recording: Option<Py<Recording>>,
    pub warnings: Vec<String>,
}

#[pymethods]
impl Run {
    /// How the run ended: "finished", "interrupted" or "failed".
    #[getter]
    fn status(&self) -> &'static str {
        self.status
    }

    /// Time reached, s.
    #[getter]
    fn time(&self) -> f64 {
        self.time
    }

    /// Number of steps made.
    #[getter]
    fn steps(&self) -> usize {
        self.summary.steps
    }

    /// Number of steps requested.
    #[getter]
    fn steps_asked(&self) -> usize {
        self.asked
    }

    /// Wall-clock time, s.
    #[getter]
    fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Worst relative residual of a step.
    #[getter]
    fn residual(&self) -> f64 {
        self.summary.worst.0.relative
    }

    /// Iterations of the methods that answered.
    #[getter]
    fn iterations(&self) -> usize {
        self.summary.iterations
    }

    /// Iterations of methods that did not answer, and of abandoned attempts.
    #[getter]
    fn wasted(&self) -> usize {
        self.summary.wasted
    }

    /// Number of steps by the method that answered.
    #[getter]
    fn solvers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        self.summary.solvers.iter().try_for_each(|(name, n)| counts.set_item(name, n))?;
        Ok(counts)
    }

    /// Number of steps by what is known of their solution (see ``StepReport.trust``).
    #[getter]
    fn trust<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        Trust::ALL.iter().zip(self.summary.trust).try_for_each(|(t, n)| counts.set_item(t.name(), n))?;
        Ok(counts)
    }

    /// Number of events by kind: "open", "close", "stick", "slip", "impact-without-collision", "to-compliant", "to-rigid".
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        EventKind::ALL.iter().try_for_each(|k| counts.set_item(k.name(), self.summary.count(*k)))?;
        Ok(counts)
    }

    /// Energies at the end, and losses and works of the run, J.
    #[getter]
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        balance(py, &self.summary.now)
    }

    /// Energies and losses at the end less the energies at the start and the work of applied forces, over
    /// the largest change of any of them.
    #[getter]
    fn balance_error(&self) -> f64 {
        self.summary.relative_balance_error()
    }

    /// Energy that contacts, limits, loops and gears made, or that is booked without a cause, and steps for which two motions were found: where,
    /// when, how much, and what to do about it; each was also issued as a ``RunWarning``.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Recording of the run; None if it was not recorded.
    #[getter]
    fn recording(&self, py: Python<'_>) -> Option<Py<Recording>> {
        self.recording.as_ref().map(|r| r.clone_ref(py))
    }

    fn __repr__(&self) -> String {
        let (steps, time, seconds) = (self.summary.steps, self.time, self.seconds);
        format!(
            "<Run {}: {steps} of {}, t = {time:.6} s, worst residual {}, {seconds:.3} s>",
            self.status,
            crate::scene::count(self.asked, "step", "steps"),
            sci(self.summary.worst.0.relative)
        )
    }
}

/// A small number as Python writes it.
pub fn sci(x: f64) -> String {
    match format!("{x:.1e}").split_once('e') {
        Some((_, "0")) if x == 0.0 => "0".to_owned(),
        Some((digits, power)) => {
            let (sign, power) = power.strip_prefix('-').map_or(("+", power), |p| ("-", p));
            format!("{digits}e{sign}{power:0>2}")
        }
        None => x.to_string(),
    }
}

/// The energy balance by name.
pub fn balance<'py>(py: Python<'py>, values: &stiction::run::Balance) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    ENTRIES.iter().zip(values).try_for_each(|(entry, x)| dict.set_item(entry.name, x))?;
    Ok(dict)
}
