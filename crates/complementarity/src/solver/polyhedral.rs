//! Contact problems whose friction is polygonal, as LCPs: Lemke's method; where it fails, the interior point.

use super::lemke::{self, Lemke};
use super::{Budget, End, Outcome, interior_point};
use crate::matrix::Matrix;
use crate::operator::Operator;
use crate::problem::{ContactProblem, LcpForm, NotConvertible, RollingLcp};
use crate::residual::{self, Evaluation, Residual};

/// Covering vectors of Lemke's method, with each tolerance.
const STARTS: usize = 2;

/// Tolerances of pivots and ties, one after another until a problem is solved. Rigid contacts make degenerate bases, in
/// which rounding grows beyond Lemke's default.
const COMPLIANT: [f64; 2] = [Lemke::PIVOT_TOLERANCE, 1e-9];
const RIGID: [f64; 3] = [1e-9, Lemke::PIVOT_TOLERANCE, 1e-7];

/// The method with its memory.
#[derive(Debug, Clone)]
pub(crate) struct Polyhedral {
    pub tolerance: f64,
    pub budget: Budget,
    lemke: Lemke,
    forms: [RollingLcp; 2],
    dense: Matrix,
    /// Holds `s = A lambda + b` after a solve.
    pub evaluation: Evaluation,
}

impl Default for Polyhedral {
    fn default() -> Self {
        let mut lemke = Lemke::default();
        lemke.settings.starts = STARTS;
        Self {
            tolerance: 1e-8,
            budget: Budget::default(),
            lemke,
            forms: [LcpForm::Slack, LcpForm::Polygon].map(RollingLcp::new),
            dense: Matrix::default(),
            evaluation: Evaluation::default(),
        }
    }
}

impl Polyhedral {
    /// Solves; `lambda` takes the forces. `basis` is where Lemke's method starts (none if it is empty), and then where it ended (empty if it did not).
    pub fn solve(
        &mut self,
        problem: ContactProblem<'_>,
        lambda: &mut [f64],
        basis: &mut Vec<usize>,
    ) -> Result<Outcome, NotConvertible> {
        let tolerance = self.tolerance;
        self.lemke.settings.tolerance = tolerance;
        let compliant = match problem.a {
            Operator::Factored(a) => (0..a.elements()).all(|c| a.patch(c).is_some()),
            _ => false,
        };
        match problem.a {
            Operator::Factored(a) => a.write_dense(&mut self.dense),
            other => self.dense = other.to_dense(),
        }
        let [slack, polygon] = &mut self.forms;
        // the smaller form, where friction is a pyramid and every contact compliant
        let converted = match compliant && slack.fill(problem, &self.dense).is_ok() {
            true => slack,
            false => {
                polygon.fill(problem, &self.dense)?;
                polygon
            }
        };
        let mut outcome = Outcome::new(lemke::NAME, End::Stalled, 0, Residual::NONE);
        for &near in if compliant { &COMPLIANT[..] } else { &RIGID } {
            if let Some(end) = self.budget.ended() {
                return Ok(Outcome { end, ..outcome });
            }
            self.lemke.budget.clone_from(&self.budget);
            self.lemke.settings.pivot_tolerance = near;
            self.lemke.settings.tie_tolerance = near;
            let warm = (!basis.is_empty()).then_some(&basis[..]);
            let found = self.lemke.solve(converted.lcp(), warm, &mut |_| ());
            self.budget.clone_from(&self.lemke.budget);
            outcome.wasted += std::mem::replace(&mut outcome.iterations, found.pivots);
            converted.forces(self.lemke.solution(), lambda);
            outcome.residual = residual::contact(problem, lambda, &mut self.evaluation);
            if found.end == End::Solved && outcome.residual.relative <= tolerance {
                basis.clear();
                basis.reserve(converted.lcp().size());
                basis.extend_from_slice(self.lemke.active());
                return Ok(Outcome { end: End::Solved, ..outcome });
            }
        }
        basis.clear();
        let settings = interior_point::Settings { tolerance, ..Default::default() };
        let second = interior_point::solve(converted.lcp(), &settings, &mut self.budget, &mut |_| ());
        outcome.solver = second.solver;
        outcome.wasted += std::mem::replace(&mut outcome.iterations, second.iterations);
        if second.solution.len() == converted.lcp().size() {
            converted.forces(&second.solution, lambda);
            outcome.residual = residual::contact(problem, lambda, &mut self.evaluation);
            if outcome.residual.relative <= tolerance {
                outcome.end = End::Solved;
            }
        }
        if !outcome.is_solved() {
            outcome.end = self.budget.ended().unwrap_or(End::Stalled);
        }
        Ok(outcome)
    }
}
