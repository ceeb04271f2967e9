//! Complementarity problems and friction problems given as arrays.

use crate::convert::{from_json, matrix, vector};
use crate::interrupt::interruptible;
use complementarity::certificate::{self, examine};
use complementarity::problem::{Friction, FrictionProblem, InvalidProblem, Lcp, MixedLcp};
use complementarity::report::{Certificate, Report, Status};
use complementarity::residual::Residual;
use complementarity::solver::Method;
use complementarity::solver::portfolio::{self, Settings};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Report of a solve: status, solution, residual, and the evidence for the status.
#[pyclass(module = "stiction", name = "SolveReport", frozen)]
pub struct SolveReport {
    report: Report,
    slack: Option<Vec<f64>>,
    known: Option<certificate::Certificate>,
}

#[pymethods]
impl SolveReport {
    /// How it ended: "solved", "no-solution" (proved), "several", "undecided" or "stalled".
    #[getter]
    fn status(&self) -> String {
        self.report.status.to_string()
    }

    /// Whether there is a solution within tolerance.
    #[getter]
    fn solved(&self) -> bool {
        matches!(self.report.status, Status::Solved | Status::Several)
    }

    /// Solution ``z`` or contact forces ``lambda``; the best found if the problem was not solved, None if
    /// there is none.
    #[getter]
    fn solution<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.slack.as_ref().map(|_| PyArray1::from_slice(py, &self.report.solution))
    }

    /// ``w = M z + q`` or relative velocities ``s = A lambda + b`` at the solution; None if there is none.
    #[getter]
    fn slack<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.slack.as_ref().map(|w| PyArray1::from_slice(py, w))
    }

    /// Relative residual of the solution on the problem as given; infinite without a solution.
    #[getter]
    fn residual(&self) -> f64 {
        self.shown().relative
    }

    /// Absolute residual of the solution on the problem as given.
    #[getter]
    fn absolute_residual(&self) -> f64 {
        self.shown().absolute
    }

    /// Name of the method that produced the result.
    #[getter]
    fn solver(&self) -> &str {
        self.report.solver
    }

    /// Pivots, Newton steps, sweeps or nodes of the search.
    #[getter]
    fn iterations(&self) -> usize {
        self.report.iterations
    }

    /// Evidence for the status, as the program's ``--json`` has it: a basis, a ray, a proof that no solution
    /// exists, ...
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &serde_json::to_value(&self.report.certificate).unwrap_or_default())
    }

    /// All solutions where they were requested: a list of pieces with ``point``, ``dimension``,
    /// ``unbounded``; None if they were not.
    #[getter]
    fn solutions<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.report.certificate {
            Certificate::Solutions { pieces, .. } => {
                from_json(py, &serde_json::to_value(pieces).unwrap_or_default()).map(Some)
            }
            Certificate::NoSolution(_) => Ok(Some(pyo3::types::PyList::empty(py).into_any())),
            _ => Ok(None),
        }
    }

    /// What is known of a friction problem beside the residual: rank of A, which forces are unique,
    /// existence; None for other problems.
    #[getter]
    fn known<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let known = self.known.as_ref();
        known.map(|known| from_json(py, &serde_json::to_value(known).unwrap_or_default())).transpose()
    }

    /// Why the solve stopped short, in words; None if it did not.
    #[getter]
    fn reason(&self) -> Option<&str> {
        match &self.report.certificate {
            Certificate::Stopped { reason, .. } => Some(reason),
            _ => None,
        }
    }

    fn __bool__(&self) -> bool {
        self.solved()
    }

    fn __repr__(&self) -> String {
        let Report { status, solver, iterations, .. } = &self.report;
        let residual = crate::report::sci(self.shown().relative);
        format!(
            "SolveReport(status='{status}', solver='{solver}', iterations={iterations}, residual={residual})"
        )
    }
}

impl SolveReport {
    fn new(report: Report, size: usize, slack: impl FnOnce(&[f64]) -> Vec<f64>) -> Self {
        let has = report.status != Status::NoSolution
            && report.solution.len() == size
            && report.residual.absolute.is_finite();
        Self { slack: has.then(|| slack(&report.solution)), report, known: None }
    }

    fn shown(&self) -> Residual {
        if self.slack.is_some() { self.report.residual } else { Residual::NONE }
    }
}

/// A problem that is refused, as a Python exception.
fn refused(error: &InvalidProblem) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What all solve functions take.
struct Asked {
    settings: Settings,
    stop: Arc<AtomicBool>,
}

fn asked(solver: &str, tolerance: f64, all: bool, limit: Option<usize>) -> PyResult<Asked> {
    let method: Method = solver.parse().map_err(|_| {
        let names = Method::ALL.map(Method::name);
        PyValueError::new_err(crate::scene::unknown("solver", solver, &names))
    })?;
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return Err(PyValueError::new_err(format!(
            "tolerance = {tolerance}, expected more than 0 and less than 1"
        )));
    }
    if all && !matches!(method, Method::Auto | Method::Decide) {
        return Err(PyValueError::new_err(
            "all = True needs solver = 'auto' or 'decide': the others stop at one solution",
        ));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let default = Settings::default();
    let max_nodes = limit.unwrap_or(default.max_nodes);
    let mut settings = Settings { method, tolerance, all, max_nodes, ..default };
    settings.budget.stop = Some(stop.clone());
    Ok(Asked { settings, stop })
}

fn run<T: Send>(py: Python<'_>, stop: &Arc<AtomicBool>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    interruptible(py, stop, |_| Ok(()), work)
}

/// Solve the linear complementarity problem ``z >= 0, w = M z + q >= 0, z' w = 0``.
///
/// Parameters
/// ----------
/// M : (n, n) array_like
/// q : (n,) array_like
/// solver : str
///     "auto" (Lemke, then interior point if large, then decide), "lemke", "interior-point" or "decide".
/// tolerance : float
///     Largest relative residual of a solution.
/// all : bool
///     Whether to search for all solutions.
///
/// Returns
/// -------
/// SolveReport
///
/// Examples
/// --------
/// >>> st.solve_lcp([[2, 1], [1, 2]], [-5, -6]).solution
/// array([1.33333333, 2.33333333])
#[pyfunction]
#[pyo3(signature = (M, q, *, solver = "auto", tolerance = 1e-8, all = false))]
#[allow(non_snake_case, reason = "the papers' letters")]
pub fn solve_lcp(
    py: Python<'_>,
    M: &Bound<'_, PyAny>,
    q: &Bound<'_, PyAny>,
    solver: &str,
    tolerance: f64,
    all: bool,
) -> PyResult<SolveReport> {
    let problem = Lcp::new(matrix(M, "M")?, vector(q, "q", None)?).map_err(|e| refused(&e))?;
    let Asked { settings, stop } = asked(solver, tolerance, all, None)?;
    let report = run(py, &stop, || portfolio::solve_lcp(&problem, &settings, &mut |_| ()))?;
    Ok(SolveReport::new(report, problem.size(), |z| problem.slack(z)))
}

/// Solve a mixed linear complementarity problem ``w = M z + q``: rows with ``complementary`` true have
/// ``0 <= z_i _|_ w_i >= 0``, the others ``w_i = 0`` and ``z_i`` free.
///
/// Parameters
/// ----------
/// M : (n, n) array_like
/// q : (n,) array_like
/// complementary : (n,) array_like of bool
/// solver, tolerance, all
///     See ``solve_lcp``.
///
/// Returns
/// -------
/// SolveReport
#[pyfunction]
#[pyo3(signature = (M, q, complementary, *, solver = "auto", tolerance = 1e-8, all = false))]
#[allow(non_snake_case, reason = "the papers' letters")]
pub fn solve_mixed(
    py: Python<'_>,
    M: &Bound<'_, PyAny>,
    q: &Bound<'_, PyAny>,
    complementary: &Bound<'_, PyAny>,
    solver: &str,
    tolerance: f64,
    all: bool,
) -> PyResult<SolveReport> {
    let problem = mixed(M, q, Some(complementary))?;
    let Asked { settings, stop } = asked(solver, tolerance, all, None)?;
    let report = run(py, &stop, || portfolio::solve_mixed(&problem, &settings, &mut |_| ()))?;
    Ok(SolveReport::new(report, problem.size(), |z| problem.slack(z)))
}

fn mixed(
    m: &Bound<'_, PyAny>,
    q: &Bound<'_, PyAny>,
    complementary: Option<&Bound<'_, PyAny>>,
) -> PyResult<MixedLcp> {
    let (m, q) = (matrix(m, "M")?, vector(q, "q", None)?);
    let complementary = match complementary {
        None => vec![true; q.len()],
        Some(rows) => crate::convert::helper(rows.py(), "_arrays", "booleans")?
            .call1((rows, "complementary"))?
            .extract()?,
    };
    MixedLcp::new(m, q, complementary).map_err(|e| refused(&e))
}

/// Decide a complementarity problem: find a solution, or prove that there is none.
///
/// Parameters
/// ----------
/// M : (n, n) array_like
/// q : (n,) array_like
/// complementary : (n,) array_like of bool, optional
///     Rows that are complementarities; all by default. The others are equalities ``w_i = 0`` with ``z_i``
///     free.
/// all : bool
///     Whether to list all solutions, continua included.
/// limit : int, optional
///     Nodes of the search after which it ends undecided.
/// tolerance : float
///     Largest relative residual of a solution.
///
/// Returns
/// -------
/// SolveReport
///     With status "no-solution" the certificate is a proof that was verified independently of the search.
///
/// Examples
/// --------
/// >>> st.decide([[-1]], [-1]).status
/// 'no-solution'
#[pyfunction]
#[pyo3(signature = (M, q, complementary = None, *, all = false, limit = None, tolerance = 1e-8))]
#[allow(non_snake_case, reason = "the papers' letters")]
pub fn decide(
    py: Python<'_>,
    M: &Bound<'_, PyAny>,
    q: &Bound<'_, PyAny>,
    complementary: Option<&Bound<'_, PyAny>>,
    all: bool,
    limit: Option<usize>,
    tolerance: f64,
) -> PyResult<SolveReport> {
    let problem = mixed(M, q, complementary)?;
    let Asked { settings, stop } = asked("decide", tolerance, all, limit)?;
    let report = run(py, &stop, || portfolio::solve_mixed(&problem, &settings, &mut |_| ()))?;
    Ok(SolveReport::new(report, problem.size(), |z| problem.slack(z)))
}

/// Solve a contact problem with friction, ``s = A lambda + b``: each contact has a normal force ``lambda_n
/// >= 0`` complementary to ``s_n``, and a friction
/// force within ``mu lambda_n`` that opposes the slip ``s_t``.
///
/// Parameters
/// ----------
/// A : (n, n) array_like
///     Rows contact by contact, the normal first: n, t, o (or n, t in the plane).
/// b : (n,) array_like
/// mu : float or (contacts,) array_like
///     Coefficients of friction. A single number stands for contacts of three rows.
/// friction : str, optional
///     "cone" (Coulomb, the default), "pyramid" or "polygon:K" with K sides. Solvers of LCPs and ``all``
///     need a pyramid or polygon; they take a pyramid if
///     nothing is given.
/// solver : str
///     "auto" by default; see ``docs/solve.md`` for all.
/// tolerance, all
///     See ``solve_lcp``.
///
/// Returns
/// -------
/// SolveReport
///     ``solution`` holds the forces, ``slack`` the relative velocities, ``known`` what is known of their
///     uniqueness.
///
/// Examples
/// --------
/// >>> st.solve_friction(np.eye(3), [-1, 0.5, 0], mu=0.3).solution      # a contact that slips
/// array([ 1. , -0.3,  0. ])
#[pyfunction]
#[pyo3(signature = (A, b, mu, *, friction = None, solver = "auto", tolerance = 1e-8, all = false))]
#[allow(non_snake_case, reason = "the papers' letters")]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn solve_friction(
    py: Python<'_>,
    A: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    mu: &Bound<'_, PyAny>,
    friction: Option<&str>,
    solver: &str,
    tolerance: f64,
    all: bool,
) -> PyResult<SolveReport> {
    let (a, b) = (matrix(A, "A")?, vector(b, "b", None)?);
    let mu = match mu.extract::<f64>() {
        Ok(mu) => vec![mu; b.len() / 3],
        Err(_) => vector(mu, "mu", None)?,
    };
    if mu.is_empty() || b.len() % mu.len() != 0 {
        let (rows, contacts) = (b.len(), mu.len());
        return Err(PyValueError::new_err(format!(
            "b has {rows} entries and mu {contacts}, expected a whole number of rows per contact"
        )));
    }
    let Asked { mut settings, stop } = asked(solver, tolerance, all, None)?;
    let polyhedral = all || matches!(settings.method, Method::Lemke | Method::Decide);
    let set = match friction {
        None if polyhedral => Friction::Pyramid,
        None => Friction::Cone,
        Some(name) => friction_of(name)?,
    };
    let rows = b.len() / mu.len();
    if rows > 2 && set == Friction::Cone {
        if polyhedral {
            return Err(PyValueError::new_err(
                "friction = 'cone' needs solver = 'auto' or one of the cone solvers, without all",
            ));
        }
        if settings.method == Method::InteriorPoint {
            settings.method = Method::ConeInteriorPoint;
        }
    }
    let problem = FrictionProblem::new(a, b, mu, rows, set).map_err(|e| refused(&e))?;
    let (report, known) = run(py, &stop, || {
        let report = portfolio::solve_friction(&problem, &settings, &mut |_| ());
        let solved = matches!(report.status, Status::Solved | Status::Several);
        let settings = certificate::Settings { stop: Some(stop.clone()), ..certificate::Settings::default() };
        let known = examine(
            &problem,
            (solved && report.solution.len() == problem.size()).then_some(&report.solution),
            &settings,
        );
        (report, known)
    })?;
    let found = SolveReport::new(report, problem.size(), |lambda| problem.speed(lambda));
    Ok(SolveReport { known: Some(known), ..found })
}

/// Reads the name of a friction set.
fn friction_of(name: &str) -> PyResult<Friction> {
    let wrong = || {
        PyValueError::new_err(format!(
            "friction = '{name}', expected 'cone', 'pyramid' or 'polygon:K' with K sides"
        ))
    };
    match name.split_once(':') {
        None if name == "cone" => Ok(Friction::Cone),
        None if name == "pyramid" => Ok(Friction::Pyramid),
        Some(("polygon", sides)) => {
            sides.parse().map(|sides| Friction::Polygon { sides }).map_err(|_| wrong())
        }
        _ => Err(wrong()),
    }
}
