//! Forces f, and those that depend on the end of the step: pang2005 (15) with f at `(t+h, q_theta, v_theta)`.
//!
//! With f known, (15)-(16) are the contact problem; with its answer f is evaluated again, at the middle
//! `v_theta = theta v + (1-theta) v+` and `q_theta`, and so on: the contraction in the proof of pang2005 Proposition 3, for h
//! small. M, W and G stay those of the old state. Its rate is about `(1-theta) h |M^-1 df/dv| + (1-theta)^2 h^2 |M^-1 df/dq|`.

use super::{Failed, StepReport, Stepper, load};
use crate::space::length;
use crate::state::State;

/// Rounds after which the forces count as not settled.
const ROUNDS: usize = 50;

/// Forces have settled when they change velocities by at most this share of the largest.
const SETTLED: f64 = 1e-10;

/// Changes of velocities are judged as if there were one of this size: below it they are rounding, m/s or rad/s.
const SLOW: f64 = 1e-3;

impl Stepper {
    /// `v + h M^-1 f` into `scratch`, what happens without contact: f at `time` and where `kinematics` is.
    pub(super) fn fall(&mut self, state: &State, time: f64, h: f64) {
        let f = &mut self.scratch;
        f.clear();
        f.resize(state.velocity.len(), 0.0);
        self.outside.clear();
        self.outside.resize(state.velocity.len(), 0.0);
        self.kinematics.bias(self.scene.gravity, f);
        load::add_springs(&self.scene, &self.kinematics, f);
        load::add_outside(&self.scene, &self.kinematics, time, &mut self.outside);
        f.iter_mut().zip(&self.outside).for_each(|(f, outside)| *f += outside);
        self.mass.solve(f);
        f.iter_mut().zip(&state.velocity).for_each(|(a, v)| *a = v + h * *a);
    }

    /// Evaluates f at `(t+h, q_theta, v_theta)` and solves again, until f stays. The contact problem has been solved with
    /// some f; its `v + h M^-1 f` is in `velocity`. `before`: parts and iterations before that.
    pub(super) fn settle(
        &mut self,
        state: &mut State,
        h: f64,
        (parts, iterations): (usize, usize),
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        let theta = self.scene.step.explicit_share;
        let mut change = f64::INFINITY;
        for _ in 0..ROUNDS {
            self.middle.clone_from(&self.velocity);
            self.rows.push_back(&self.mass, h, &self.solver.lambda, &mut self.middle);
            let fastest = self.middle.iter().chain(&state.velocity).fold(0.0f64, |m, v| m.max(v.abs()));
            for (after, v) in self.middle.iter_mut().zip(&state.velocity) {
                *after = theta * v + (1.0 - theta) * *after;
            }
            self.position.resize(state.position.len(), 0.0);
            // theta q + (1-theta) q+, for attitudes along the turn
            let to_middle = (1.0 - theta) * h;
            self.kinematics.system().advance(&state.position, &self.middle, to_middle, &mut self.position);
            self.kinematics.update(&self.position, &self.middle);
            self.fall(state, state.time + h, h);
            report.rounds += 1;

            self.middle.clear();
            self.middle.extend(self.scratch.iter().zip(&self.velocity).map(|(new, old)| new - old));
            change = self.middle.iter().fold(0.0, |m, by| by.abs().max(m));
            if !self.middle.iter().all(|by| by.is_finite()) {
                change = f64::INFINITY;
                break;
            }
            std::mem::swap(&mut self.velocity, &mut self.scratch);
            // the newest f is nearer still: it moves the bodies, and the answer of the contact problem stays
            if change <= SETTLED * fastest.max(h * length(self.scene.gravity)).max(SLOW) {
                return Ok(());
            }
            self.rows.add_speeds(&self.mass, h, &mut self.middle);
            report.parts = parts;
            let calm = state.basis.len();
            self.solver.solve(&self.rows, state.time, h, &mut state.basis, report)?;
            if !self.solver.is_lemke() {
                // the first answer of a step is a good start of the next round, whether or not the bodies are calm
                state.basis.truncate(calm);
            }
        }
        report.parts = parts;
        report.wasted += std::mem::replace(&mut report.iterations, iterations) - iterations;
        Err(Failed::Unsettled { time: state.time, h, change })
    }
}
