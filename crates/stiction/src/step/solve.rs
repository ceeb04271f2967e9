//! `solve`: the contact problem -> contact forces.

use super::{Failed, InvalidModel, StepReport};
use crate::formulation::ContactProblem;
use crate::model::Model;
use crate::scene::{FrictionKind, SolverKind};
use crate::state::SolverMemory;
use complementarity::matrix::Matrix;
use complementarity::problem::{ConeProblem, LcpForm, NotConvertible, RollingLcp};
use complementarity::residual::{self, ConeScratch, Residual};
use complementarity::solver::admm::Admm;
use complementarity::solver::cone::ConeSolver;
use complementarity::solver::cone_interior_point::ConeInteriorPoint;
use complementarity::solver::gauss_seidel::GaussSeidel;
use complementarity::solver::lemke::{self, Lemke};
use complementarity::solver::newton::exact::ExactProximal;
use complementarity::solver::newton::{self, Newton};
use complementarity::solver::{End, Outcome, interior_point};
use std::borrow::Cow;
use std::fmt::Debug;

/// Elements up to which Lemke's method is asked after the others at once; beyond, a shorter step comes first.
const FEW: usize = 40;

/// Covering vectors of Lemke's method, with each tolerance.
const STARTS: usize = 2;

/// Tolerances of pivots and ties, one after another until a step is solved. Rigid contacts make degenerate bases, in
/// which rounding grows beyond Lemke's default.
const COMPLIANT: [f64; 2] = [Lemke::PIVOT_TOLERANCE, 1e-9];
const RIGID: [f64; 3] = [1e-9, Lemke::PIVOT_TOLERANCE, 1e-7];

/// Solves contact problems; keeps its memory from step to step.
#[derive(Debug, Clone)]
pub struct ContactSolver {
    method: Method,
    tolerance: f64,
    /// Whether large islands are pursued where a shorter step would be easier.
    pub try_harder: bool,
}

/// The solution of a contact problem.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forces {
    /// `lambda`, row by row in the units of [`ContactProblem::view`]; before a solve, where it starts.
    pub lambda: Vec<f64>,
    /// `s = A lambda + b`.
    pub velocity: Vec<f64>,
    /// What the solver remembers for the next step; before a solve, what it remembers of the last.
    pub memory: SolverMemory,
}

#[derive(Debug, Clone)]
enum Method {
    /// With Lemke's method for what is left, where no set is round.
    Auto(Box<ConeSolver>, Option<Box<ByLemke>>),
    One(Box<dyn ConeMethod>),
    Lemke(Box<ByLemke>),
}

/// A solver for cones on its own.
trait ConeMethod: Debug + Send + Sync {
    fn set_tolerance(&mut self, tolerance: f64);
    fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome;
    fn speed(&self) -> &[f64];
    fn boxed(&self) -> Box<dyn ConeMethod>;
}

impl Clone for Box<dyn ConeMethod> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

macro_rules! cone_methods {
    ($($solver:ty),*) => {$(
        impl ConeMethod for $solver {
            fn set_tolerance(&mut self, tolerance: f64) {
                self.settings.tolerance = tolerance;
            }

            fn solve(&mut self, problem: ConeProblem<'_>, lambda: &mut [f64]) -> Outcome {
                self.solve(problem, lambda)
            }

            fn speed(&self) -> &[f64] {
                self.speed()
            }

            fn boxed(&self) -> Box<dyn ConeMethod> {
                Box::new(self.clone())
            }
        }
    )*};
}
cone_methods!(GaussSeidel, Newton, ExactProximal, ConeInteriorPoint, Admm);

/// An answer, by whom, and what was done in vain.
struct Answer {
    solver: &'static str,
    iterations: usize,
    wasted: usize,
    residual: Residual,
    /// How it ended, if it is no solution.
    end: Cow<'static, str>,
}

impl ContactSolver {
    /// The scene's method.
    pub fn new(model: &Model) -> Self {
        let tolerance = model.scene().step.tolerance;
        let one = |mut solver: Box<dyn ConeMethod>| {
            solver.set_tolerance(tolerance);
            Method::One(solver)
        };
        let newton = |proximal| Newton::new(newton::Settings { proximal, ..newton::Settings::default() });
        let round = |set: &FrictionKind| *set == FrictionKind::Cone;
        let polyhedral =
            model.scene().planar || !model.contacts().rules().iter().any(|r| round(&r.given.friction_set));
        let method = match model.scene().step.solver {
            SolverKind::Auto => {
                let mut solver = ConeSolver::default();
                solver.settings.tolerance = tolerance;
                Method::Auto(Box::new(solver), polyhedral.then(|| Box::new(ByLemke::new(model))))
            }
            SolverKind::Lemke => Method::Lemke(Box::new(ByLemke::new(model))),
            SolverKind::GaussSeidel => one(Box::<GaussSeidel>::default()),
            SolverKind::Newton => one(Box::new(newton(false))),
            SolverKind::ProximalNewton => one(Box::new(newton(true))),
            SolverKind::ExactProximal => one(Box::<ExactProximal>::default()),
            SolverKind::InteriorPoint => one(Box::<ConeInteriorPoint>::default()),
            SolverKind::Admm => one(Box::<Admm>::default()),
        };
        Self { method, tolerance, try_harder: true }
    }

    /// `s = A lambda + b` of the last solve, if there were contacts.
    fn velocity(&self) -> &[f64] {
        match &self.method {
            Method::Auto(_, Some(lemke)) if lemke.answered => &lemke.scratch.speed,
            Method::Auto(solver, _) => solver.speed(),
            Method::One(solver) => solver.speed(),
            Method::Lemke(lemke) => &lemke.scratch.speed,
        }
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        match &mut self.method {
            Method::Auto(solver, _) => solver.settings.tolerance = tolerance,
            Method::One(solver) => solver.set_tolerance(tolerance),
            // knows no round sets, and so no grains
            Method::Lemke(_) => {}
        }
    }

    /// One solve of the problem in the units of its view.
    fn once(&mut self, rows: &ContactProblem, time: f64, forces: &mut Forces) -> Result<Answer, Failed> {
        let problem = rows.view();
        let Forces { lambda, memory, .. } = forces;
        Ok(match &mut self.method {
            Method::Lemke(lemke) => lemke.solve(rows, lambda, memory).map_err(|e| not_converted(time, &e))?,
            Method::Auto(solver, then) => {
                solver.settings.stubborn = self.try_harder;
                solver.calm = *memory == SolverMemory::AtRest;
                let outcome = solver.solve(problem, lambda);
                *memory = if solver.calm { SolverMemory::AtRest } else { SolverMemory::None };
                let mut answer = cone(outcome);
                if let Some(lemke) = then {
                    lemke.answered = !outcome.is_solved() && (self.try_harder || problem.mu.len() <= FEW);
                    if lemke.answered {
                        let wasted = answer.wasted + answer.iterations;
                        let mut none = SolverMemory::None;
                        answer = lemke.solve(rows, lambda, &mut none).map_err(|e| not_converted(time, &e))?;
                        answer.wasted += wasted;
                    }
                }
                answer
            }
            Method::One(solver) => cone(solver.solve(problem, lambda)),
        })
    }

    /// Solves from the forces and the memory that `forces` holds.
    pub fn solve(
        &mut self,
        problem: &ContactProblem,
        time: f64,
        forces: &mut Forces,
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        if problem.is_empty() {
            forces.velocity.clear();
            forces.memory = SolverMemory::None;
            return Ok(());
        }
        let mut answer = self.once(problem, time, forces)?;
        if problem.is_anisotropic() {
            // solved in other units: to as much less as the original problem needs
            let mut goal = self.tolerance;
            loop {
                let ended = answer.residual.relative <= goal;
                answer.residual = problem.residual(&forces.lambda, self.velocity());
                if ended {
                    answer.end = "solved it in the units of a disc, but not as posed".into();
                }
                let next = answer.residual.tighter(goal, self.tolerance).filter(|_| ended);
                let Some(tolerance) = next else { break };
                goal = tolerance;
                self.set_tolerance(goal);
                let before = answer;
                answer = self.once(problem, time, forces)?;
                answer.iterations += before.iterations;
                answer.wasted += before.wasted;
            }
            self.set_tolerance(self.tolerance);
        }
        report.wasted += answer.wasted;
        // a residual that is no number is no solution
        let solved = answer.residual.relative <= self.tolerance;
        if !solved {
            report.wasted += answer.iterations;
            let residual = answer.residual.relative;
            let Answer { solver, end, .. } = answer;
            return Err(Failed::Unsolved { time, h: problem.h, solver, end, residual, cause: String::new() });
        }
        forces.velocity.clear();
        forces.velocity.extend_from_slice(self.velocity());
        report.iterations += answer.iterations;
        if answer.residual.relative >= report.residual.relative {
            (report.residual, report.solver) = (answer.residual, answer.solver);
        }
        report.parts += 1;
        Ok(())
    }
}

fn not_converted(time: f64, why: &NotConvertible) -> Failed {
    Failed::Model(InvalidModel(format!("t = {time} s: contact problem: {why}")))
}

/// The outcome of a solver for cones.
fn cone(outcome: Outcome) -> Answer {
    let Outcome { solver, iterations, wasted, residual, .. } = outcome;
    let end = match outcome.end {
        End::Solved => "",
        End::Limit => "met its limit of iterations",
        End::Stalled => "made no further progress",
        End::Invalid => "was given numbers that are not finite",
    };
    Answer { solver, iterations, wasted, residual, end: end.into() }
}

/// Pyramid and polygon: Lemke's method; where it fails, the interior point.
#[derive(Debug, Clone)]
struct ByLemke {
    lemke: Lemke,
    /// The smaller form, where friction is a pyramid and every contact compliant.
    slack: Option<RollingLcp>,
    polygon: RollingLcp,
    dense: Matrix,
    /// After others: whether it was asked.
    answered: bool,
    /// Holds `s = A lambda + b` after a solve.
    scratch: ConeScratch,
}

impl ByLemke {
    fn new(model: &Model) -> Self {
        let rows = model.contacts().linear_rows();
        let square = |set: &FrictionKind| !matches!(set, FrictionKind::Cone | FrictionKind::Polygon { .. });
        let rules = model.contacts().rules();
        let pyramid = model.scene().planar || rules.iter().all(|r| square(&r.given.friction_set));
        let mut lemke = Lemke::default();
        lemke.settings.tolerance = model.scene().step.tolerance;
        lemke.settings.starts = STARTS;
        Self {
            lemke,
            slack: pyramid.then(|| RollingLcp::new(rows, LcpForm::Slack)),
            polygon: RollingLcp::new(rows, LcpForm::Polygon),
            dense: Matrix::default(),
            answered: false,
            scratch: ConeScratch::default(),
        }
    }

    fn solve(
        &mut self,
        rows: &ContactProblem,
        lambda: &mut [f64],
        memory: &mut SolverMemory,
    ) -> Result<Answer, NotConvertible> {
        let (problem, tolerance) = (rows.view(), self.lemke.settings.tolerance);
        let converted = match &mut self.slack {
            Some(slack) if rows.compliant => slack,
            _ => &mut self.polygon,
        };
        rows.factors().write_dense(&mut self.dense);
        converted.fill(problem, &self.dense)?;
        let mut answer = Answer {
            solver: lemke::NAME,
            iterations: 0,
            wasted: 0,
            residual: Residual::NONE,
            end: "".into(),
        };
        let mut end = lemke::End::Inexact;
        for &near in if rows.compliant { &COMPLIANT[..] } else { &RIGID } {
            self.lemke.settings.pivot_tolerance = near;
            self.lemke.settings.tie_tolerance = near;
            let warm = match memory {
                SolverMemory::Basis(basis) => Some(&basis[..]),
                _ => None,
            };
            let outcome = self.lemke.solve(converted.lcp(), warm, &mut |_| ());
            end = outcome.end;
            answer.wasted += std::mem::replace(&mut answer.iterations, outcome.pivots);
            converted.forces(self.lemke.solution(), lambda);
            answer.residual = residual::cone(problem, lambda, &mut self.scratch);
            if end == lemke::End::Solved && answer.residual.relative <= tolerance {
                if !matches!(memory, SolverMemory::Basis(_)) {
                    *memory = SolverMemory::Basis(Vec::with_capacity(converted.lcp().size()));
                }
                if let SolverMemory::Basis(basis) = memory {
                    basis.clear();
                    basis.extend_from_slice(self.lemke.active());
                }
                return Ok(answer);
            }
        }
        *memory = SolverMemory::None;
        let settings = interior_point::Settings { tolerance, ..Default::default() };
        let second = interior_point::solve(converted.lcp(), &settings, &mut |_| ());
        answer.solver = second.solver;
        answer.wasted += std::mem::replace(&mut answer.iterations, second.iterations);
        if second.solution.len() == converted.lcp().size() {
            converted.forces(&second.solution, lambda);
            answer.residual = residual::cone(problem, lambda, &mut self.scratch);
        }
        answer.end = format!("Lemke's method: {end:?}; interior point: {}", second.status).into();
        Ok(answer)
    }
}
