//! The proximal point method for islands of free bodies on which sweeps with momentum do not get on: Newton steps in the speeds of bodies, and sweeps.
//!
//! Two things keep sweeps from an answer. States may be right but for slow modes, forces that hardly move the bodies: one Newton step or a few remove
//! them. Or sweeps run in a circle, with or without momentum, some contacts sticking and slipping in turn: for friction is not monotone. With a proximal term
//! (weight `weight` times each contact's `A_nn`) there is a weight at which neither happens.
//!
//! Each proximal problem is solved to a share of the residual at its centre, by Newton steps, each with sweeps of the proximal problem after it. Where that
//! succeeds its answer is the next centre, though the residual of the problem as posed may grow; where it fails the weight grows, by factors that differ
//! in turn, for with one alone centres and weights can come back to themselves. The best forces are kept.
//!
//! Source of the steps: Alart and Curnier 1991; of the proximal loop: Acary, Bremond, Huber (2018), section 4.

use crate::bench::{Done, Task};
use crate::packed::newton::Newton;
use crate::packed::{Forces, Lanes, Packed, STRICTER};
use crate::sweep::{Island, Sweeper};

/// The weight at first, its least and most, its factors after an easy problem and after failures.
const WEIGHT: f64 = 1e-3;
const WEIGHTS: (f64, f64) = (1e-7, 10.0);
const DOWN: f64 = 0.5;
const UP: [f64; 4] = [4.0, 2.0, 3.0, 1.5];
/// Newton steps of a problem at most, how many make it easy, and how many may leave more than `FALL` of its residual.
const STEPS: usize = 8;
const EASY: usize = 2;
const BAD: usize = 2;
const FALL: f64 = 0.9;
/// A problem is solved to this share of the residual at its centre, to the second one after `LATE` Newton steps; and no farther than to this share of
/// the target.
const SHARES: [f64; 2] = [0.5, 0.02];
const LATE: usize = 20;
const FLOOR: f64 = 0.3;
/// Sweeps after a step: plain ones; then spells with momentum, whose last ones are plain, as long as each leaves at most `SPELL_FALL` of the residual.
const PLAIN: usize = 30;
const SPELL: usize = 100;
const SPELL_END: usize = 3;
const SPELLS: usize = 2;
const SPELL_FALL: f64 = 0.8;
const MOMENTUM: f64 = 0.8;
/// Newton steps before it gives up; and those in which the best residual must have halved, if it is not to be stubborn.
const MOST_STEPS: usize = 600;
const SPAN: usize = 60;

/// The method with its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct ThroughBodies {
    packed: Packed<3, 1>,
    state: Loop,
}

#[derive(Debug, Clone, Default)]
struct Loop {
    newton: Newton,
    /// Of the proximal problem: its centre, the forces after the last Newton step, the best after it.
    centre: Vec<Forces<3>>,
    stepped: Vec<Forces<3>>,
    at: Vec<Forces<3>>,
    /// Of the problem as posed.
    best: Vec<Forces<3>>,
}

impl ThroughBodies {
    /// Solves an island from the forces as they are; `None` if its contacts are not those of free bodies. What it leaves is not worse than what it was
    /// given.
    pub fn solve<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        task: Task<'_>,
        lambda: &mut [f64],
        stubborn: bool,
    ) -> Option<Done> {
        let Task { problem, contacts, target, .. } = task;
        let mut lanes = self.packed.take(problem, sweeper, contacts, lambda)?;
        let iterations = self.state.run(&mut lanes, STRICTER * target, stubborn);
        lanes.give(lambda, &mut sweeper.budget);
        sweeper.set_speeds_of(problem, contacts, lambda);
        let residual = sweeper.residual::<D>(problem, contacts, lambda);
        sweeper.guess_states::<D>(problem, contacts, lambda);
        Some(Done { iterations, residual })
    }
}

impl Loop {
    /// Runs from the forces of `lanes` until the residual (sum of squares) is at most `target`, or it gives up; they take the best. Returns Newton steps and
    /// sweeps.
    fn run(&mut self, lanes: &mut Lanes<'_, 3, 1>, target: f64, stubborn: bool) -> usize {
        self.newton.begin();
        lanes.keep(&mut self.best);
        lanes.keep(&mut self.centre);
        let mut residual = lanes.residual();
        let (mut best, mut iterations, mut all_steps) = (residual, 0, 0);
        let (mut weight, mut failures) = (WEIGHT, 0);
        // residual and Newton steps when it had last halved
        let mut halved = (best, 0);
        while best > target && all_steps < MOST_STEPS && !lanes.out_of_budget() {
            // residuals are squares
            if best <= 0.25 * halved.0 {
                halved = (best, all_steps);
            } else if !stubborn && all_steps - halved.1 >= SPAN {
                break;
            }
            let share = SHARES[usize::from(all_steps >= LATE)];
            let enough = (share * share * residual).max(FLOOR * FLOOR * target);
            lanes.put(&self.centre);
            lanes.set_centre();
            lanes.set_weight(weight);
            let (mut left, mut steps, mut bad) = (f64::INFINITY, 0, 0);
            while steps < STEPS && bad < BAD && left > enough && best > target {
                let before = left;
                steps += 1;
                if !self.newton.step(lanes) {
                    break;
                }
                iterations += 1;
                left = lanes.proximal_residual();
                lanes.keep(&mut self.stepped);
                lanes.keep(&mut self.at);
                iterations += self.sweep(lanes, enough, &mut left);
                lanes.put(&self.at);
                residual = lanes.residual();
                if residual < best {
                    best = residual;
                    lanes.keep(&mut self.best);
                }
                bad += usize::from(left > FALL * FALL * before);
            }
            all_steps += steps;
            if left <= enough {
                lanes.keep(&mut self.centre);
                if steps <= EASY {
                    weight *= DOWN;
                }
            } else {
                weight *= UP[failures % UP.len()];
                failures += 1;
                lanes.put(&self.centre);
                residual = lanes.residual();
            }
            weight = weight.clamp(WEIGHTS.0, WEIGHTS.1);
        }
        lanes.set_weight(0.0);
        lanes.put(&self.best);
        iterations
    }

    /// Sweeps of the proximal problem after a Newton step, as long as it is not solved. `left` is its residual at the best forces, `at`. Returns the
    /// number of sweeps.
    fn sweep(&mut self, lanes: &mut Lanes<'_, 3, 1>, enough: f64, left: &mut f64) -> usize {
        let mut sweeps = 0;
        let mut spell = |lanes: &mut Lanes<'_, 3, 1>, count: usize, momentum: usize, left: &mut f64| {
            for k in 1..=count {
                let _ = lanes.sweep();
                if k <= momentum {
                    lanes.leap(MOMENTUM);
                }
            }
            sweeps += count;
            let found = lanes.proximal_residual();
            if found < *left {
                *left = found;
                lanes.keep(&mut self.at);
            }
            found
        };
        if *left > enough {
            spell(lanes, PLAIN, 0, left);
            lanes.put(&self.stepped);
        }
        let mut before = f64::INFINITY;
        for _ in 0..SPELLS {
            if *left <= enough {
                break;
            }
            let found = spell(lanes, SPELL, SPELL - SPELL_END - 1, left);
            if found > SPELL_FALL * SPELL_FALL * before {
                break;
            }
            before = found;
        }
        sweeps
    }
}
