//! The contact problem -> contact forces.

use super::assemble::Rows;
use super::{Failed, InvalidModel, StepReport};
use crate::scene::{FrictionKind, Scene};
use complementarity::matrix::Matrix;
use complementarity::problem::{Friction, LcpForm, RollingLcp};
use complementarity::residual::{self, ConeScratch, Residual};
use complementarity::solver::interior_point;
use complementarity::solver::lemke::{End, Lemke};

/// Covering vectors of Lemke's method, with each tolerance.
const STARTS: usize = 2;

/// Tolerances of pivots and ties, one after another until a step is solved. Rigid contacts make degenerate bases, in
/// which rounding grows beyond Lemke's default.
const COMPLIANT: [f64; 2] = [Lemke::PIVOT_TOLERANCE, 1e-9];
const RIGID: [f64; 3] = [1e-9, Lemke::PIVOT_TOLERANCE, 1e-7];

/// Solves contact problems; keeps its memory from step to step.
#[derive(Debug)]
pub(super) struct ContactSolver {
    lemke: Lemke,
    /// The smaller form, where friction is a pyramid and every contact compliant.
    slack: Option<RollingLcp>,
    polygon: RollingLcp,
    friction: Friction,
    tolerance: f64,
    dense: Matrix,
    /// Forces, row by row.
    pub lambda: Vec<f64>,
    /// Holds `s = A lambda + b` after a solve.
    scratch: ConeScratch,
}

impl ContactSolver {
    pub fn new(scene: &Scene) -> Self {
        let friction = match scene.step.friction {
            FrictionKind::Polygon { sides } => Friction::Polygon { sides },
            FrictionKind::Pyramid | FrictionKind::Frictionless => Friction::Pyramid,
        };
        let rows = if scene.planar { 2 } else { 3 };
        let mut lemke = Lemke::default();
        lemke.settings.tolerance = scene.step.tolerance;
        lemke.settings.starts = STARTS;
        Self {
            lemke,
            slack: RollingLcp::new(friction, rows, LcpForm::Slack),
            polygon: RollingLcp::new(friction, rows, LcpForm::Polygon).expect("a polygon"),
            friction,
            tolerance: scene.step.tolerance,
            dense: Matrix::default(),
            lambda: vec![],
            scratch: ConeScratch::default(),
        }
    }

    /// `s = A lambda + b` of the last solve.
    pub fn speed(&self) -> &[f64] {
        &self.scratch.speed
    }

    /// Forces into `lambda`. `basis` is where Lemke's method starts (none if it is empty) and then where it ended (empty
    /// if it did not).
    pub fn solve(
        &mut self,
        rows: &Rows,
        time: f64,
        h: f64,
        basis: &mut Vec<usize>,
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        let problem = rows.problem();
        self.lambda.clear();
        self.lambda.resize(problem.b.len(), 0.0);
        self.scratch.speed.clear();
        if problem.b.is_empty() {
            basis.clear();
            return Ok(());
        }
        let converted = match &mut self.slack {
            Some(slack) if rows.compliant => slack,
            _ => &mut self.polygon,
        };
        rows.factors().write_dense(&mut self.dense);
        converted
            .fill(problem, &self.dense)
            .map_err(|e| Failed::Model(InvalidModel(format!("t = {time} s: contact problem: {e}"))))?;
        let warm = (!basis.is_empty()).then_some(&basis[..]);
        let (mut end, mut judged) = (End::Inexact, Residual::NONE);
        for &tolerance in if rows.compliant { &COMPLIANT[..] } else { &RIGID } {
            self.lemke.settings.pivot_tolerance = tolerance;
            self.lemke.settings.tie_tolerance = tolerance;
            let outcome = self.lemke.solve(converted.lcp(), warm, &mut |_| ());
            report.iterations += outcome.pivots;
            end = outcome.end;
            converted.forces(self.lemke.solution(), &mut self.lambda);
            judged = residual::rolling(problem, self.friction, &self.lambda, &mut self.scratch);
            if end == End::Solved && judged.relative <= self.tolerance {
                break;
            }
        }
        basis.clear();
        basis.reserve(converted.lcp().size());
        if end == End::Solved && judged.relative <= self.tolerance {
            basis.extend_from_slice(self.lemke.active());
        } else {
            let settings = interior_point::Settings { tolerance: self.tolerance, ..Default::default() };
            let second = interior_point::solve(converted.lcp(), &settings, &mut |_| ());
            report.iterations += second.iterations;
            if second.solution.len() == converted.lcp().size() {
                converted.forces(&second.solution, &mut self.lambda);
                judged = residual::rolling(problem, self.friction, &self.lambda, &mut self.scratch);
            }
            if judged.relative > self.tolerance {
                return Err(Failed::Unsolved { time, h, end, residual: judged.relative });
            }
            report.by_interior_point += 1;
        }
        if judged.relative > report.residual.relative {
            report.residual = judged;
        }
        report.parts += 1;
        Ok(())
    }
}
