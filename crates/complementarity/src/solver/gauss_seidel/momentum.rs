//! Sweeps with momentum: a sweep starts beyond the end of the last one (Polyak's heavy ball), by a share that falls while the changes do not; when a
//! sweep goes against the momentum, that starts anew (O'Donoghue and Candes 2015). On piles it takes a fifth to a third of the sweeps.
//!
//! Contacts of free bodies are swept four at a time where the processor can (`packed`), others one by one.

use crate::bench::{Done, Task, keep, restore};
#[cfg(target_arch = "x86_64")]
use crate::packed::{Packed, STRICTER};
use crate::sweep::{Island, Sweeper};
use crate::units::Uniform;

/// Share of the last movement that is added to a sweep: at first, at most, at least.
const SHARES: (f64, f64, f64) = (0.85, 0.97, 0.5);
/// Sweeps after which the share is reviewed: it grows if the least change has fallen, else shrinks.
const REVIEW: usize = 10;
const GROWTH: f64 = 0.2;
const SHRINKING: f64 = 0.7;
/// Sweeps in which the least change is sought, one more for every so many contacts, and how many at most; the share (squared) to which that must fall in two
/// such spells.
/// States change in leaps: one slow spell proves nothing; and what comes then, a Newton step, costs about as many sweeps as a tenth of the contacts.
const SPELL: usize = 200;
const CONTACTS_A_SWEEP: usize = 10;
const LONGEST_SPELL: usize = 500;
const FALL: f64 = 0.7;
/// Sweeps up to which the velocities of bodies, that sweeps keep up to date, are believed at the end: rounding adds up.
const BELIEVED: usize = 100;

/// Memory of sweeps with momentum: entries of an island's contacts, one after another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Momentum {
    from: Vec<f64>,
    direction: Vec<f64>,
    /// Where the first sweep starts.
    start: Vec<f64>,
    /// As `from` and `direction`, for the velocities of bodies.
    from_speeds: Vec<f64>,
    direction_speeds: Vec<f64>,
    /// Islands for vectorised sweeps: plain, with torsion, with rolling friction too.
    #[cfg(target_arch = "x86_64")]
    packed: (Packed<3, 1>, Packed<4, 2>, Packed<6, 3>),
}

impl Momentum {
    /// Sweeps over an island until it is solved, `max_sweeps` were made, or, if it may be `impatient`, the changes fall no longer. `given` is the residual
    /// of `lambda`, whose velocities the sweeper knows. What it leaves is not worse than that. Of an island that is solved the sweeper may learn nothing.
    pub fn relax<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        task: Task<'_>,
        lambda: &mut [f64],
        given: f64,
        max_sweeps: usize,
        impatient: bool,
    ) -> Done {
        let Task { problem, contacts, target, .. } = task;
        if given <= target {
            return Done { iterations: 0, residual: given };
        }
        keep::<D>(&mut self.start, contacts, lambda);
        let spell = (SPELL + contacts.len() / CONTACTS_A_SWEEP).min(LONGEST_SPELL);
        let limits = Limits { target, max_sweeps, spell, impatient };
        let swept = match self.packed(sweeper, task, lambda, limits) {
            Some(swept) => swept,
            None => self.one_by_one::<D>(sweeper, task, lambda, limits),
        };
        let iterations = swept.iterations;
        if let Some(residual) = swept.reached
            && iterations <= BELIEVED
        {
            return Done { iterations, residual };
        }
        sweeper.set_speeds_of(problem, contacts, lambda);
        let mut residual = sweeper.residual::<D>(problem, contacts, lambda);
        if residual > given {
            restore::<D>(&self.start, contacts, lambda);
            sweeper.set_speeds_of(problem, contacts, lambda);
            residual = sweeper.residual::<D>(problem, contacts, lambda);
        }
        sweeper.guess_states::<D>(problem, contacts, lambda);
        Done { iterations, residual }
    }

    #[cfg(target_arch = "x86_64")]
    fn packed(
        &mut self,
        sweeper: &mut Sweeper,
        task: Task<'_>,
        lambda: &mut [f64],
        limits: Limits,
    ) -> Option<Swept> {
        match task.problem.rows {
            3 => in_lanes(&mut self.packed.0, sweeper, task, lambda, limits),
            4 => in_lanes(&mut self.packed.1, sweeper, task, lambda, limits),
            6 => in_lanes(&mut self.packed.2, sweeper, task, lambda, limits),
            _ => None,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn packed(&mut self, _: &mut Sweeper, _: Task<'_>, _: &mut [f64], _: Limits) -> Option<Swept> {
        None
    }

    fn one_by_one<const D: usize>(
        &mut self,
        sweeper: &mut Sweeper,
        task: Task<'_>,
        lambda: &mut [f64],
        limits: Limits,
    ) -> Swept {
        let Task { problem, contacts, .. } = task;
        sweeper.guess_states::<D>(problem, contacts, lambda);
        let Self { from, direction, from_speeds, direction_speeds, .. } = self;
        direction.clear();
        direction.resize(D * contacts.len(), 0.0);
        direction_speeds.clear();
        direction_speeds.resize(sweeper.v.len(), 0.0);
        from_speeds.clone_from(&sweeper.v);
        keep::<D>(from, contacts, lambda);
        let (forces, speeds) = ((from, direction), (from_speeds, direction_speeds));
        limits.run(&mut OneByOne::<D> { sweeper, problem, contacts, lambda, forces, speeds }, 1.0)
    }
}

#[cfg(target_arch = "x86_64")]
fn in_lanes<const D: usize, const K: usize>(
    packed: &mut Packed<D, K>,
    sweeper: &mut Sweeper,
    task: Task<'_>,
    lambda: &mut [f64],
    limits: Limits,
) -> Option<Swept> {
    let Task { problem, contacts, .. } = task;
    let mut lanes = packed.take(problem, sweeper, contacts, lambda)?;
    let swept = limits.run(&mut lanes, STRICTER);
    lanes.give(lambda, &mut sweeper.budget);
    Some(swept)
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    target: f64,
    max_sweeps: usize,
    spell: usize,
    impatient: bool,
}

/// How many sweeps were made, and the residual if it is good enough.
#[derive(Debug, Clone, Copy)]
struct Swept {
    iterations: usize,
    reached: Option<f64>,
}

impl Limits {
    /// Sweeps until `strict` times the target is reached, or a limit.
    fn run(self, island: &mut impl Island, strict: f64) -> Swept {
        let Self { target, max_sweeps, spell, impatient } = self;
        let (mut iterations, mut next_look) = (0, 0);
        let (mut share, mut least, mut least_before) = (SHARES.0, f64::INFINITY, f64::INFINITY);
        // in this spell, the last and the one before
        let mut spells = [f64::INFINITY; 3];
        loop {
            let size = island.sweep();
            iterations += 1;
            if size <= target && iterations >= next_look {
                let residual = island.residual();
                if residual <= strict * target {
                    return Swept { iterations, reached: Some(residual) };
                }
                next_look = iterations + 1 + iterations / 8;
            }
            least = least.min(size);
            spells[0] = spells[0].min(size);
            if iterations % spell == 0 {
                if impatient && spells[0] > FALL * spells[2] {
                    break;
                }
                spells = [f64::INFINITY, spells[0], spells[1]];
            }
            if iterations >= max_sweeps || island.out_of_budget() {
                break;
            }
            if iterations % REVIEW == 0 {
                share = match (least < least_before, share <= SHARES.2) {
                    (true, _) => share + GROWTH * (SHARES.1 - share),
                    (false, false) => (SHRINKING * share).max(SHARES.2),
                    // from the start
                    (false, true) => SHARES.0,
                };
                (least_before, least) = (least, f64::INFINITY);
            }
            island.leap(share);
        }
        Swept { iterations, reached: None }
    }
}

/// Contacts swept one by one.
struct OneByOne<'a, const D: usize> {
    sweeper: &'a mut Sweeper,
    problem: Uniform<'a>,
    contacts: &'a [usize],
    lambda: &'a mut [f64],
    /// Where the sweep started, and the movement that is added after it.
    forces: (&'a mut Vec<f64>, &'a mut Vec<f64>),
    speeds: (&'a mut Vec<f64>, &'a mut Vec<f64>),
}

impl<const D: usize> Island for OneByOne<'_, D> {
    fn sweep(&mut self) -> f64 {
        self.sweeper.sweep::<D>(self.problem, self.contacts, self.lambda)
    }

    fn residual(&mut self) -> f64 {
        self.sweeper.residual::<D>(self.problem, self.contacts, self.lambda)
    }

    fn out_of_budget(&self) -> bool {
        self.sweeper.budget.ended().is_some()
    }

    fn leap(&mut self, share: f64) {
        let lambda = self.lambda.as_chunks_mut::<D>().0;
        let from = self.forces.0.as_chunks_mut::<D>().0;
        let direction = self.forces.1.as_chunks_mut::<D>().0;
        let mut along = 0.0;
        for ((&c, from), direction) in self.contacts.iter().zip(&*from).zip(&*direction) {
            let product: f64 = (0..D).map(|i| (lambda[c][i] - from[i]) * direction[i]).sum();
            along += product * self.sweeper.normal_diagonal::<D>(c);
        }
        let share = if along < 0.0 { 0.0 } else { share };
        let go_on = |at: &mut f64, from: &mut f64, direction: &mut f64| {
            *direction = share * (*direction + *at - *from);
            *at += *direction;
            *from = *at;
        };
        for ((&c, from), direction) in self.contacts.iter().zip(from).zip(direction) {
            (0..D).for_each(|i| go_on(&mut lambda[c][i], &mut from[i], &mut direction[i]));
        }
        let (from, direction) = (&mut *self.speeds.0, &mut *self.speeds.1);
        for ((v, from), direction) in self.sweeper.v.iter_mut().zip(from).zip(direction) {
            go_on(v, from, direction);
        }
    }
}
