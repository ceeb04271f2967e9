//! The energy books of a step, place by place: what rigid impacts took, and what contacts, limits, loops and gears made.
//!
//! Impulses `h lambda` that act where bodies are when a step begins change the kinetic energy by exactly `h lambda . (s + s')/2`, with `s` and `s'` the relative
//! velocities before and after them (moving surfaces included); the drift that follows changes none. By their laws these forces take energy:
//!
//! - a rigid contact or limit: along the normal nothing but what undoes overlap (`s'_n = -g/h`), and `lambda_t . s'_t <= 0`. What is positive was *made*;
//! - a compliant contact: the work, with the energies of its springs, and the losses in its dampers and in friction, is 0. A rest above 0 was made;
//! - a rigid loop or gear: 0. All of it was made.
//!
//! Rigid contacts and limits that were approaching when the step began are at an *impact*, and contacts whose slip it changes with them. It takes `-h lambda . (s + s')/2`, of which friction has its part. Impacts with
//! restitution take several rounds, which pass energy on from contact to contact and together make none ([`super::impact`]): all rows of that part are at the impact.

use super::{ElementReport, Solved, StepReport};
use crate::contact::Layer;
use crate::dynamics::MassMatrix;
use crate::formulation::{ContactProblem, Soft};
use crate::model::Model;
use crate::space::length;
use crate::state::RowId;
use complementarity::matrix::dot;
use std::ops::Range;

/// A row approaches, rather than rests, if its velocity is above this many times what the forces of a step change it by.
const APPROACHES: f64 = 2.0;
/// Places in a step for which there is room from the first step on.
const ROOM: usize = 64;
/// Velocities below this share of the fastest are rounding.
const ROUNDING: f64 = 1e-9;

/// Energy that a place made in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Made {
    /// The contact or standing row.
    pub place: RowId,
    /// J; below 0 where the time step takes energy.
    pub energy: f64,
}

/// The books of a step.
#[derive(Debug, Clone, Default)]
pub struct Books {
    /// What places made, all parts of the step, one after the other.
    pub made: Vec<Made>,
    /// `J v` before and after the forces of the step, row by row, moving surfaces included.
    start: Vec<f64>,
    end: Vec<f64>,
    scratch: Vec<f64>,
    rate: Vec<f64>,
}

/// What else is known of a step at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'a> {
    /// Mass matrix whose factor made the rows of the contact problem.
    pub mass: &'a MassMatrix,
    /// Velocity after the forces of the step, before the drift.
    pub velocity: &'a [f64],
    /// Whether it is the velocity after impacts with restitution.
    pub bounced: bool,
    /// How contacts are deformed.
    pub deformation: Deformation<'a>,
}

/// Deformation of the contacts of a step, by its scheme.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deformation<'a> {
    /// The theta scheme: of all elements after the step, rows n, t(, o).
    Elements(&'a [f64]),
    /// The implicit scheme: layers of each contact, and whether they have tangential springs.
    Layers(&'a [Soft], bool),
}

impl Books {
    /// Begins a step.
    pub(crate) fn begin(&mut self) {
        self.made.clear();
        // places begin to make energy long after the first steps, which are those that may allocate
        self.made.reserve(ROOM);
    }

    /// Adds what a place made.
    pub(crate) fn add(&mut self, place: RowId, energy: f64) {
        if energy == 0.0 {
            return;
        }
        match self.made.iter_mut().rev().take(8).find(|m| m.place == place) {
            Some(known) => known.energy += energy,
            None => self.made.push(Made { place, energy }),
        }
    }

    /// Measures the velocities of all rows of a step, or of a part of one, and books its contacts. `elements`: what they did.
    pub(super) fn contacts(
        &mut self,
        model: &Model,
        solved: Solved<'_>,
        end: End<'_>,
        elements: &[ElementReport],
        report: &mut StepReport,
    ) {
        let Solved { motion, problem, contacts, forces, .. } = solved;
        self.start.clear();
        self.end.clear();
        if problem.is_empty() {
            return;
        }
        // room for all places, so that the first that makes energy needs none
        self.made.reserve(contacts.contacts.len() + problem.standing.len());
        problem.relative_velocities(end.mass, &motion.velocity, &mut self.scratch, &mut self.start);
        problem.relative_velocities(end.mass, end.velocity, &mut self.scratch, &mut self.end);
        let share = 1.0 / (1.0 - problem.theta);
        self.start.iter_mut().chain(&mut self.end).for_each(|s| *s *= share);
        let struck = end.bounced
            || contacts.contacts.iter().flat_map(|c| c.elements()).any(|k| {
                let n = problem.rows_of(k).start;
                forces.lambda[n] > 0.0 && self.hits(problem, k)
            });
        let still = APPROACHES * motion.h * length(model.scene().gravity);
        let mut own = elements;
        for (index, c) in contacts.contacts.iter().enumerate() {
            let rule = &model.contacts().rules()[c.rule];
            let these = own.split_off(..c.count).unwrap_or_default();
            let rows = problem.rows_of_contact(c);
            if forces.lambda[rows.clone()].iter().all(|f| *f == 0.0) {
                continue;
            }
            let id = RowId::Contact(c.id);
            if rule.compliance.is_none() && rule.layers.is_empty() {
                for (k, element) in c.elements().zip(these) {
                    let jumps = struck && self.jumps(problem.rows_of(k), still);
                    let made = self.rigid(solved, (end, jumps), k, element, rule.given.restitution, report);
                    self.add(id, made);
                }
                continue;
            }
            let taken: f64 = rows.map(|i| forces.lambda[i] * 0.5 * (self.start[i] + self.end[i])).sum();
            let friction: f64 = these.iter().map(|e| friction(problem.h, e)).sum();
            let kept = match end.deformation {
                Deformation::Layers(soft, springs) => layers(
                    &rule.layers,
                    &soft[index],
                    if springs { problem.linear_rows } else { 1 },
                    problem.h,
                ),
                Deformation::Elements(after) => {
                    let Some(law) = solved.laws.of(model, c.rule) else { continue };
                    // of patches that travel over their material the loss on the way is booked by itself
                    if law.patch().transports() {
                        continue;
                    }
                    let span = problem.linear_rows * c.first..problem.linear_rows * (c.first + c.count);
                    let (before, after) = (&problem.deformation[span.clone()], &after[span]);
                    self.rate.clear();
                    self.rate.extend(after.iter().zip(before).map(|(a, d)| (a - d) / problem.h));
                    self.rate.resize(2 * after.len(), 0.0);
                    let (rate, damping) = self.rate.split_at_mut(after.len());
                    let damped = problem.h * law.damping_power(problem.scale[index], rate, damping);
                    damped + law.elastic_energy(after) - law.elastic_energy(before)
                }
            };
            self.add(id, problem.h * taken + kept + friction);
        }
    }

    /// Velocity of a row after the forces of the part of a step that was booked last: that of its bodies, without what drives it.
    pub(super) fn velocity_after(&self, problem: &ContactProblem, row: usize) -> f64 {
        let of = |rows: &[f64]| rows.get(row).copied().unwrap_or(0.0);
        of(&self.end) - of(&problem.moving)
    }

    /// Whether the parts of a rigid contact element were approaching when the step began.
    fn hits(&self, problem: &ContactProblem, k: usize) -> bool {
        let (n, theta) = (problem.rows_of(k).start, problem.theta);
        let start = self.start[n];
        let free = (problem.b[n] + problem.left_out(n) - problem.gap_rate[k] - theta * start) / (1.0 - theta);
        approaches(start, free, problem.fastest)
    }

    /// Whether an impact elsewhere changes the slip of an element: by more than `still`, m/s. Its friction is then not that of `s'`.
    fn jumps(&self, rows: Range<usize>, still: f64) -> bool {
        rows.skip(1).any(|i| (self.end[i] - self.start[i]).abs() > still)
    }

    /// Books a rigid element; returns what it made.
    fn rigid(
        &self,
        Solved { problem, forces, .. }: Solved<'_>,
        (end, jumps): (End<'_>, bool),
        k: usize,
        element: &ElementReport,
        restitution: f64,
        report: &mut StepReport,
    ) -> f64 {
        let (h, rows) = (problem.h, problem.rows_of(k));
        let lambda = &forces.lambda[rows.clone()];
        if lambda[0] <= 0.0 {
            return 0.0;
        }
        let (start, after) = (&self.start[rows.clone()], &self.end[rows]);
        // what a rolling contact loses as it approaches within a step and gets back is not made
        let pushed = (h * lambda[0] * 0.5 * (start[0] + after[0])).max(0.0);
        let recovery = match end.deformation {
            Deformation::Elements(_) => -h * lambda[0] * problem.gap_rate[k].min(0.0),
            Deformation::Layers(..) => {
                report.recovery_work += pushed;
                pushed
            }
        };
        if end.bounced || jumps || self.hits(problem, k) {
            let mean: f64 = (0..lambda.len()).map(|i| lambda[i] * 0.5 * (start[i] + after[i])).sum();
            report.impact_loss += -h * mean - friction(h, element) + recovery;
        }
        let made = if end.bounced && restitution > 0.0 { 0.0 } else { pushed };
        made + (h * dot(&lambda[1..], &after[1..])).max(0.0)
    }
}

/// Whether a row approaches faster than what forces change its velocity by in a step.
pub(super) fn approaches(start: f64, free: f64, fastest: f64) -> bool {
    -start > APPROACHES * (free - start).abs() + ROUNDING * fastest
}

/// What friction took in an element, as it is booked, J.
fn friction(h: f64, e: &ElementReport) -> f64 {
    -h * (1..3).map(|i| e.force[i] * e.speed[i]).sum::<f64>()
        - h * e.moment.iter().zip(&e.turn).map(|(m, w)| m * w).sum::<f64>()
}

/// What the layers of a contact take in a step, in their dampers and springs, J.
fn layers(layers: &[Layer], soft: &Soft, rows: usize, h: f64) -> f64 {
    let of = |(l, layer): (usize, &Layer)| {
        let (before, after) = (&soft.before[l][..rows], &soft.after[l][..rows]);
        let rates = after.iter().zip(before).map(|(a, d)| (a - d) / h).enumerate();
        let damped: f64 = rates.map(|(i, rate)| h * layer.damping(i) * rate * rate).sum();
        damped + layer.energy(after) - layer.energy(before)
    };
    layers.iter().enumerate().map(of).sum()
}
