//! State of a system: everything needed to continue a simulation, and nothing else.

pub use crate::ids::{ContactId, RowId};

use complementarity::solver::Choice;
use serde::{Deserialize, Serialize};

/// What is known of a step's solution beside its residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The step was not examined: that costs too much to be done in every step.
    #[default]
    NotExamined,
    /// Proved to be the only solution; also where nothing is near.
    Unique,
    /// There is no other solution nearby.
    LocallyUnique,
    /// The motion is locally unique, the forces are not: some contacts are redundant.
    ForcesNotUnique,
    /// Neither is shown to be unique, nearby: forces may change in a way that changes the motion.
    MotionNotUnique,
    /// With the slip that a contact had when the step began, no accelerations and finite forces satisfy the rigid laws (Painleve): it was
    /// stopped by an impact without a collision.
    NoRigidSolution,
}

impl Trust {
    /// All of them, from good to bad; those not examined first.
    pub const ALL: [Self; 6] = [
        Self::NotExamined,
        Self::Unique,
        Self::LocallyUnique,
        Self::ForcesNotUnique,
        Self::MotionNotUnique,
        Self::NoRigidSolution,
    ];

    /// As it is written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotExamined => "not-examined",
            Self::Unique => "unique",
            Self::LocallyUnique => "locally-unique",
            Self::ForcesNotUnique => "forces-not-unique",
            Self::MotionNotUnique => "motion-not-unique",
            Self::NoRigidSolution => "no-rigid-solution",
        }
    }
}

/// Forces and deformations of groups of rows from one step to the next, in flat lists and in order of their
/// ids.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Memory {
    entries: Vec<Entry>,
    forces: Vec<f64>,
    deformations: Vec<f64>,
}

/// A group of rows, and the ends of its numbers in the lists.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    id: RowId,
    forces_end: usize,
    deformations_end: usize,
}

/// Stored forces and deformations of one group of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Remembered<'a> {
    /// Identifier of the group.
    pub id: RowId,
    /// Forces of the last step, from which the next solve starts, row by row; N, N m.
    pub forces: &'a [f64],
    /// Deformation `delta`, m, element by element n, t(, o); empty if the contact is rigid. A point contact
    /// with anisotropic friction stores it in the frame of isotropic friction. That of a point contact turns with the
    /// materials where the next step begins.
    pub deformations: &'a [f64],
}

impl Memory {
    /// Removes all groups and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.forces.clear();
        self.deformations.clear();
    }

    /// Adds a group, which must come after all others in the order of ids.
    pub fn push(&mut self, id: RowId, forces: &[f64], deformations: &[f64]) {
        debug_assert!(self.entries.last().is_none_or(|last| last.id < id), "groups in order of their ids");
        self.forces.extend_from_slice(forces);
        self.deformations.extend_from_slice(deformations);
        let (forces_end, deformations_end) = (self.forces.len(), self.deformations.len());
        self.entries.push(Entry { id, forces_end, deformations_end });
    }

    /// Adds changes to all deformations, in order.
    pub fn add_to_deformations(&mut self, changes: &[f64]) {
        self.deformations.iter_mut().zip(changes).for_each(|(d, c)| *d += c);
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The groups in order.
    pub fn iter(&self) -> impl Iterator<Item = Remembered<'_>> {
        (0..self.entries.len()).map(|k| self.at(k))
    }

    /// Stored values of a group; `None` if it is new.
    pub fn find(&self, id: RowId) -> Option<Remembered<'_>> {
        self.entries.binary_search_by_key(&id, |e| e.id).ok().map(|k| self.at(k))
    }

    fn at(&self, k: usize) -> Remembered<'_> {
        let (forces, deformations) = match k.checked_sub(1) {
            Some(before) => (self.entries[before].forces_end, self.entries[before].deformations_end),
            None => (0, 0),
        };
        let Entry { id, forces_end, deformations_end } = self.entries[k];
        Remembered {
            id,
            forces: &self.forces[forces..forces_end],
            deformations: &self.deformations[deformations..deformations_end],
        }
    }
}

/// State of the solver beside the forces of the last step. It is valid as long as the groups of rows stay the
/// same.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SolverMemory {
    /// Whether the forces were already within tolerance when the last step began: bodies are at rest, and
    /// such forces are kept.
    pub at_rest: bool,
    /// How the forces were chosen if they are not unique.
    #[serde(default)]
    pub choice: Choice,
    /// Trust in the forces, if they were examined since the bodies came to rest.
    #[serde(default)]
    pub trust: Trust,
    /// Work of steps, ns by estimate, after which the next one is examined.
    #[serde(default)]
    pub until_examined: u64,
    /// Last step of an integrator with error control: the scene's over `2^level`.
    #[serde(default)]
    pub level: u32,
    /// Complementary basis on which Lemke's method ended; empty for other methods.
    pub basis: Vec<usize>,
}

/// State of a system at a time. It is a plain value: a copy has bitwise the same future.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// Time, s.
    pub time: f64,
    /// Configuration `q`, in the layout of [`crate::dynamics::System`].
    pub position: Vec<f64>,
    /// Velocity `v`.
    pub velocity: Vec<f64>,
    /// Forces and deformations of the last step's rows.
    pub memory: Memory,
    /// State of the solver beside the forces.
    pub solver: SolverMemory,
}

/// Share of a step by which a time may differ from a multiple of the step and count as one.
const OFF_GRID: f64 = 1e-9;

/// The time a step of length `h` after another. Where that is a multiple of `h` but for rounding, it is `k h` to the last bit, so that rounding does
/// not add up from step to step, whether or not a run was resumed on the way.
pub fn next_time(time: f64, h: f64) -> f64 {
    let next = time + h;
    let multiple = (next / h).round() * h;
    let rounding = (OFF_GRID * h).max(4.0 * f64::EPSILON * next.abs());
    if (multiple - next).abs() <= rounding { multiple } else { next }
}

impl State {
    /// Copies another state into the allocated memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.position.clone_from(&other.position);
        self.velocity.clone_from(&other.velocity);
        self.memory.entries.clone_from(&other.memory.entries);
        self.memory.forces.clone_from(&other.memory.forces);
        self.memory.deformations.clone_from(&other.memory.deformations);
        self.solver.copy_from(&other.solver);
    }
}

impl SolverMemory {
    /// Resets what belongs to the rows of the last step and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.at_rest = false;
        self.choice = Choice::NotExamined;
        self.trust = Trust::NotExamined;
        self.basis.clear();
    }

    /// Copies another solver state into the allocated memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.at_rest = other.at_rest;
        (self.choice, self.trust) = (other.choice, other.trust);
        (self.until_examined, self.level) = (other.until_examined, other.level);
        self.basis.clear();
        // the same capacity as the other has: a later basis may need it
        self.basis.reserve(other.basis.capacity());
        self.basis.extend_from_slice(&other.basis);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_multiples_of_the_step_to_the_last_bit() {
        for h in [1e-3, 1e-4, 0.02 / 3.0, 0.1] {
            let mut time = 0.0;
            for k in 1..=100_000 {
                time = next_time(time, h);
                assert_eq!(time.to_bits(), (f64::from(k) * h).to_bits(), "{k} steps of {h}");
            }
        }
        // a start elsewhere stays
        assert_eq!(next_time(0.55, 0.1), 0.55 + 0.1);
    }

    #[test]
    fn memory_finds_each_group_and_no_other() {
        let contact = |part_b| RowId::Contact(ContactId { part_a: 9, part_b, feature: 0 });
        let mut memory = Memory::default();
        memory.push(contact(1), &[1.0, 2.0], &[]);
        memory.push(contact(3), &[3.0, 4.0, 5.0], &[6.0]);
        memory.push(RowId::Limit(0), &[7.0], &[]);
        assert_eq!(memory.find(contact(2)), None);
        let found = memory.find(contact(3)).unwrap();
        assert_eq!((found.forces, found.deformations), (&[3.0, 4.0, 5.0][..], &[6.0][..]));
        assert_eq!(memory.find(RowId::Limit(0)).unwrap().forces, [7.0]);
        assert_eq!(memory.iter().map(|m| m.forces.len()).collect::<Vec<_>>(), [2, 3, 1]);
    }
}
