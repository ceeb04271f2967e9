//! The loop of proximal centres around Newton's method on one island.

use super::island::Island;
use super::{Memory, Settings};
use crate::solver::Budget;

/// First `eps` without a warm start, as a share of the mean diagonal of `A`; with a warm start, the largest
/// first `eps`.
pub(super) const FIRST: f64 = 1.0;
/// First `eps` with a warm start: this multiple of its relative residual, and at least the second number. (A
/// start may be nearly right in velocities and far off in forces: large shares, which leave the forces near
/// the start, need the fewest steps.)
pub(super) const WARM: (f64, f64) = (1e3, 1e-2);
/// Least and largest `eps`, as shares of the mean diagonal of `A`.
const LEAST: f64 = 1e-10;
pub(super) const MOST: f64 = 1e3;
/// Factors of `eps`: after a centre that took at most `EASY` steps, after one whose first step sufficed, and
/// after failures (in turn, since a single factor can make centres and weights cycle); the last is the
/// largest factor after a solved centre once one has failed.
const DOWN: f64 = 0.2;
const FAST: f64 = 0.02;
const EASY: usize = 6;
const UP: [f64; 4] = [4.0, 2.0, 3.0, 1.5];
const CAREFUL: f64 = 0.6;
/// Largest number of Newton steps per centre, least length of a step, and the decrease of `|G|^2` required of
/// a full step.
const STEPS: usize = 20;
const LEAST_LENGTH: f64 = 1e-3;
const FALL: f64 = 1e-4;
/// A step that leaves at most this share of `|G|^2` is taken as it is.
const ENOUGH: f64 = 0.1;
/// A centre is solved to this share of what the proximal term adds to the velocities, or of the target
/// (squares).
const ACCURACY: f64 = 1e-2;
/// Like [`ACCURACY`], for a centre on which Newton's method makes no further progress.
const ROUNDING: f64 = 1e-12;
/// At the least `eps` the loop ends when a centre leaves more than this share of the residual (square).
/// Forces grow without bound if the residual is also more than this share of the residual at the second
/// number.
const GROWTH: (f64, f64) = (0.25, 1e-6);

/// How the solve of an island ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Solved,
    /// Forces grow as `1 / eps`: there is no solution nearby.
    Unbounded,
    /// The budget of work is used up.
    Limit,
    Stalled,
}

/// A solve of one island.
#[derive(Debug)]
pub(super) struct Run<'a, const D: usize, const P: usize> {
    pub island: &'a mut Island<D, P>,
    pub settings: &'a Settings,
    /// Largest sum of squares of the natural map of a solution.
    pub target: f64,
    pub memory: &'a mut Memory,
    /// Work that may be done.
    pub budget: &'a mut Budget,
    /// Number of linear systems of the previous islands.
    pub first: usize,
    /// Shares of the proximal weight that correspond to equal compliances in the units of the problem.
    pub weights: &'a [f64],
    /// Mean diagonal of `A`.
    pub mean: f64,
}

impl<const D: usize, const P: usize> Run<'_, D, P> {
    /// Solves from the current forces. The result is not worse than the start.
    pub fn solve(&mut self) -> Ended {
        self.memory.best.clone_from(&self.island.force);
        self.island.recentre();
        let given = self.island.residual();
        let mut left = given;
        let mut ended = if given <= self.target { Ended::Solved } else { Ended::Stalled };
        if ended != Ended::Solved && self.island.force.iter().any(|f| *f != 0.0) {
            let relative = (given / self.island.size()).sqrt();
            ended = self.follow((WARM.0 * relative).clamp(WARM.1, FIRST), &mut left);
        }
        if ended == Ended::Stalled || ended == Ended::Unbounded {
            self.island.force.fill(0.0);
            self.island.recentre();
            ended = self.follow(FIRST, &mut left);
        }
        self.island.force.clone_from(&self.memory.best);
        ended
    }

    pub(super) fn spent(&self) -> bool {
        self.memory.steps - self.first >= self.settings.max_steps || self.budget.ended().is_some()
    }

    /// Stores the forces if they are the best so far; true if they are within the target.
    pub(super) fn good(&mut self, left: &mut f64) -> bool {
        let residual = self.island.residual();
        if residual < *left {
            *left = residual;
            self.memory.best.clone_from(&self.island.force);
        }
        residual <= self.target
    }

    /// Runs proximal centres from the current one, starting with `eps` of `first` times the mean diagonal.
    pub(super) fn follow(&mut self, first: f64, left: &mut f64) -> Ended {
        let (mut eps, mut factor, mut failures) = (first * self.mean, DOWN, 0);
        // `eps` and residual of the last centre that was solved, and the residual while `eps` was at least
        // GROWTH.1
        let (mut before, mut last, mut early) = (None, f64::INFINITY, f64::INFINITY);
        self.island.keep();
        loop {
            let start = self.memory.steps;
            let solved = self.newton(eps, ACCURACY);
            if self.good(left) {
                return Ended::Solved;
            }
            if self.spent() {
                return Ended::Limit;
            }
            if solved {
                let residual = self.island.residual();
                if eps >= GROWTH.1 * self.mean {
                    early = residual;
                } else if eps <= LEAST * self.mean && residual > GROWTH.0 * last {
                    return if residual > GROWTH.0 * early { Ended::Unbounded } else { Ended::Stalled };
                }
                last = residual;
                factor = match self.memory.steps - start {
                    0 if before.is_some() => FAST.min(factor),
                    steps if steps <= EASY => (factor * factor).max(DOWN),
                    _ => factor,
                };
                self.island.recentre();
                self.island.keep();
                before = Some(eps);
                eps = (eps * factor).max(LEAST * self.mean);
            } else {
                self.island.restore();
                factor = factor.sqrt().min(CAREFUL);
                eps *= UP[failures % UP.len()];
                failures += 1;
                if eps > MOST * self.mean {
                    return Ended::Stalled;
                }
            }
            if let Some(before) = before {
                self.predict(before, eps);
            }
        }
    }

    /// Takes the first step at a new `eps` or centre, in the current states.
    pub(super) fn predict(&mut self, before: f64, eps: f64) {
        self.memory.steps += 1;
        self.budget.spend(D * self.island.work());
        if !self.island.predict(before, eps) {
            self.island.restore();
        }
    }

    /// Newton's method on `G(u) = 0` with a line search on `|G|^2`; false if it does not converge.
    pub(super) fn newton(&mut self, eps: f64, accuracy: f64) -> bool {
        self.newton_within(STEPS, eps, accuracy)
    }

    /// Like [`Self::newton`], in at most so many steps.
    pub(super) fn newton_within(&mut self, steps: usize, eps: f64, accuracy: f64) -> bool {
        // |W G|^2 of a G that has no preferred direction
        let worth = self.mean * self.island.redundancy();
        let mut merit = self.island.evaluate(eps);
        for _ in 0..=steps {
            if worth * merit <= accuracy * self.island.shift(eps).max(self.target) {
                return true;
            }
            if self.spent() || !self.island.find_step(eps) {
                return false;
            }
            self.memory.steps += 1;
            self.budget.spend(D * self.island.work());
            match self.search(eps, merit) {
                Some(found) => merit = found,
                None => {
                    // what remains may be rounding
                    let accuracy = accuracy.max(ROUNDING);
                    return worth * merit <= accuracy * self.island.shift(eps).max(self.target);
                }
            }
        }
        false
    }

    /// Moves along the Newton step, halving its length as long as `|G|^2` falls with it: evaluations cost little beside the
    /// linear system, and a full step that hardly helps may leave behind a point from which many are needed. Returns `|G|^2`
    /// there; `None` if no length decreases it.
    fn search(&mut self, eps: f64, merit: f64) -> Option<f64> {
        self.island.begin_search();
        let (mut best, mut t) = (None, 1.0);
        while t >= LEAST_LENGTH {
            self.island.move_to(t);
            let trial = self.island.evaluate(eps);
            match best {
                _ if trial <= ENOUGH * merit => return Some(trial),
                Some((least, at)) if trial >= least => {
                    self.island.move_to(at);
                    return Some(self.island.evaluate(eps));
                }
                _ if trial <= (1.0 - FALL * t) * merit => best = Some((trial, t)),
                _ => {}
            }
            t *= 0.5;
        }
        best.map(|(least, _)| least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::law::Law;
    use crate::problem::Friction;
    use crate::solver::Choice;

    fn solve(island: &mut Island<6, 8>, choose_forces: bool) -> Ended {
        let settings = Settings::default();
        island.end();
        let (memory, budget) = (&mut Memory::default(), &mut Budget::default());
        let weights = &vec![1.0; island.force.len()];
        let mut run =
            Run { island, settings: &settings, target: 1e-20, memory, budget, first: 0, weights, mean: 1.0 };
        let ended = run.solve();
        if choose_forces {
            assert_eq!(run.choose(), Choice::Chosen);
        }
        ended
    }

    /// A mass of 1: a bilateral row holds x, a bounded one brakes y (and slips), a unilateral one stops z.
    #[test]
    fn rows_that_are_no_contacts_have_the_forces_of_their_laws() {
        let mut island = Island::<6, 8>::default();
        island.clear();
        let body = island.add_group(3);
        for (law, b, axis) in [
            ((Law::Row { limit: f64::INFINITY }, 0.0), 0.7, 0),
            ((Law::Row { limit: 0.5 }, 0.0), 2.0, 1),
            ((Law::Disc, 0.0), -1.0, 2),
            ((Law::Disc, 0.0), 3.0, 2),
        ] {
            island.add_element(law, &[b], &[0.0]);
            let mut w = [0.0; 3];
            w[axis] = 1.0;
            island.add_rows(body, 3, &w, 1.0);
        }
        assert_eq!(solve(&mut island, false), Ended::Solved);
        for (force, expected) in island.force.iter().zip([-0.7, -0.5, 1.0, 0.0]) {
            assert!((force - expected).abs() < 1e-9, "{:?}", island.force);
        }
    }

    /// Two bodies with elements of every kind, some of them duplicated, so that forces are not unique.
    #[test]
    fn elements_of_all_kinds_are_solved_together() {
        for seed in 0..50 {
            let mut state = f64::from(seed);
            let mut random = || {
                state = (state + 0.754_877_666_246_693).fract();
                (1e4 * (state * 12.9898).sin()).fract()
            };
            let mut island = Island::<6, 8>::default();
            island.clear();
            let (one, two) = (island.add_group(6), island.add_group(8));
            let v: Vec<f64> = (0..14).map(|_| random()).collect();
            let contact = |friction, rows| ((Law::of(friction, rows), 0.4), rows);
            for (law, rows) in [
                contact(Friction::Cone, 2),
                contact(Friction::Cone, 3),
                contact(Friction::Cone, 4),
                contact(Friction::Cone, 6),
                contact(Friction::Pyramid, 3),
                contact(Friction::Polygon { sides: 8 }, 3),
                ((Law::Disc, 0.0), 1),
                ((Law::Row { limit: 0.1 }, 0.0), 1),
                ((Law::Row { limit: f64::INFINITY }, 0.0), 1),
            ] {
                let w: Vec<f64> = (0..14 * rows).map(|_| random()).collect();
                let row = |i: usize, range: std::ops::Range<usize>| w[14 * i..][range].to_vec();
                let b: Vec<f64> = (0..rows).map(|i| (0..14).map(|j| w[14 * i + j] * v[j]).sum()).collect();
                for _ in 0..2 {
                    island.add_element(law, &b, &vec![0.0; rows]);
                    let first: Vec<f64> = (0..rows).flat_map(|i| row(i, 0..6)).collect();
                    let second: Vec<f64> = (0..rows).flat_map(|i| row(i, 6..14)).collect();
                    island.add_rows(one, 6, &first, 1.0);
                    island.add_rows(two, 8, &second, 1.0);
                }
            }
            assert_eq!(solve(&mut island, true), Ended::Solved, "seed {seed}");
            island.recentre();
            assert!(island.residual() <= 1e-20);
            // duplicated elements share their force equally
            let mut row = 0;
            for rows in [2, 3, 4, 6, 3, 3, 1, 1, 1] {
                for i in row..row + rows {
                    let twins = [island.force[i], island.force[i + rows]];
                    assert!((twins[0] - twins[1]).abs() < 1e-7, "seed {seed}, row {i}: {twins:?}");
                }
                row += 2 * rows;
            }
        }
    }
}
