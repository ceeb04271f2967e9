//! The state handed over between rigid and compliant contacts.
//!
//! On the slow manifold of song2001 (22) the layer carries the force of the rigid motion: with `lambda` that force and `lambda'` its rate along the motion,
//!
//! ```text
//! f(d) + g(d, d') = lambda_n      f'(d) d' = lambda_n'      K delta_t + C delta_t' = lambda_t      K delta_t' = lambda_t'
//! ```
//!
//! The positions are moved so that closed contacts overlap by `d`, the velocities so that `v_n = -d'` and, where contacts stick, `v_t = -delta_t'`. The
//! other way the positions are moved back to where closed contacts touch, the velocities to where they do not separate, and those that
//! stick do not slip. What that changes in the energies is the work of the handover.

use super::examination::{find_left, question};
use crate::analysis::instant::Instant;
use crate::analysis::stability::Question;
use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::integrate::Field;
use crate::model::Model;
use crate::ode::event::REST;
use crate::ode::event::field::{Asked, Buffers, Closed, Equations, Mode, Of, POWERS, Row};
use crate::space::length;
use crate::state::{RowId, State};
use crate::step::{Energy, Status, Workspace};
use complementarity::matrix::{Matrix, dot};

/// Friction within this share of its bound is at it.
const AT_BOUND: f64 = 1e-6;
/// Time over which rates of forces are found, s.
const SHORT: f64 = 1e-7;
/// Accelerations at contacts up to this share of those without contact forces, or of gravity, are none.
const SETTLED: f64 = 0.01;

/// A state whose closed contacts, those of which it remembers a force, touch and do not separate: time steps leave them up to the order of the step.
pub fn consistent(model: &Model, state: &State, inputs: &Inputs) -> State {
    let (mut closed, mut buffers, mut moved) = (remembered(model, state), Buffers::default(), state.clone());
    let mut equations = Equations {
        model,
        inputs,
        closed: &mut closed,
        held: &mut vec![],
        powers: [0.0; POWERS],
        asked: Asked::Motion,
        memory: &mut buffers,
    };
    let mut y = [&state.position[..], &state.velocity, &[0.0; POWERS]].concat();
    // whether contacts slip
    let _ = equations.settle_modes(state.time, &y);
    if equations.project(state.time, &mut y).is_some() {
        let (nq, nv) = equations.sizes();
        moved.position.copy_from_slice(&y[..nq]);
        moved.velocity.copy_from_slice(&y[nq..nq + nv]);
    }
    moved
}

/// Moves a state to compliant contacts; returns the work of that, J. The forces are those of the rigid motion at the state, or, where the modes have none,
/// those that the state remembers.
pub fn to_compliant(model: &Model, state: &mut State, inputs: &Inputs) -> f64 {
    let before = total_energy(model, state);
    *state = consistent(model, state, inputs);
    let (mut closed, mut buffers) = (remembered(model, state), Buffers::default());
    let mut equations = Equations {
        model,
        inputs,
        closed: &mut closed,
        held: &mut vec![],
        powers: [0.0; POWERS],
        asked: Asked::Motion,
        memory: &mut buffers,
    };
    let mut y = [&state.position[..], &state.velocity, &[0.0; POWERS]].concat();
    let rates = equations.settle_modes(state.time, &y);
    let targets: Vec<Target> =
        equations.closed.iter().zip(&rates).map(|(c, rate)| Target::new(model, c, *rate)).collect();
    // where the modes are contradictory the state stays, and with it the overlap of zero
    if equations.overlap(state.time, &mut y, &targets).is_some() {
        let (nq, nv) = equations.sizes();
        model.system().scale_attitudes(&mut y[..nq]);
        state.position.copy_from_slice(&y[..nq]);
        state.velocity.copy_from_slice(&y[nq..nq + nv]);
    }
    let rows = model.contacts().linear_rows();
    state.memory.clear();
    for (c, target) in closed.iter().zip(&targets) {
        state.memory.push(RowId::Contact(c.id), &c.force[..rows], &target.deformation[..rows]);
    }
    state.solver.clear();
    total_energy(model, state) - before
}

/// Moves a state to rigid contacts, if the rigid motion is unique and stable there and the layers have settled; returns the work of that, J.
pub fn to_rigid(
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    work: &Workspace,
    least: f64,
) -> Option<f64> {
    if !super::is_compliant(state) {
        return Some(0.0);
    }
    let closed_elements = work.elements.iter().filter(|e| e.status != Status::Open);
    // contacts that overlap without force have not settled
    if work.elements.iter().any(|e| e.status == Status::Open && e.deformation[0] > 0.0) {
        return None;
    }
    let mut closed: Vec<Closed> = closed_elements
        .map(|e| {
            let slip = e.speed[1].hypot(e.speed[2]);
            let slips = e.status == Status::Slip && slip > 0.0;
            let mode = if slips { Mode::Slip([e.speed[1] / slip, e.speed[2] / slip]) } else { Mode::Stick };
            Closed { force: e.force, ..Closed::new(e.id, mode) }
        })
        .collect();
    let mut buffers = Buffers::default();
    let mut equations = Equations {
        model,
        inputs,
        closed: &mut closed,
        held: &mut vec![],
        powers: [0.0; POWERS],
        asked: Asked::Motion,
        memory: &mut buffers,
    };
    let mut y = [&state.position[..], &state.velocity, &[0.0; POWERS]].concat();
    // large overlaps take more rounds than rounding does
    equations.project(state.time, &mut y)?;
    equations.project(state.time, &mut y)?;
    let (nq, nv) = equations.sizes();
    let mut rigid = state.clone();
    rigid.position.copy_from_slice(&y[..nq]);
    rigid.velocity.copy_from_slice(&y[nq..nq + nv]);
    let question = question(model, inputs);
    if !has_settled(model, &rigid, &closed, &question) || find_left(model, &rigid, &question, least).is_some()
    {
        return None;
    }
    let rows = model.contacts().linear_rows();
    rigid.memory.clear();
    closed.iter().for_each(|c| rigid.memory.push(RowId::Contact(c.id), &c.force[..rows], &[]));
    rigid.solver.clear();
    let before = total_energy(model, state);
    *state = rigid;
    Some(total_energy(model, state) - before)
}

/// Whether closed contacts of a state have the accelerations of the rigid model under the forces of the layers: none along their normals, and none along their
/// tangents where they stick.
fn has_settled(model: &Model, rigid: &State, closed: &[Closed], question: &Question) -> bool {
    let Ok(instant) = Instant::with(model, rigid, &question.given) else { return false };
    let ((a, b), offsets) = (instant.system(), instant.offsets());
    let mut forces = vec![0.0; b.len()];
    let (mut still, mut carried) = (vec![], 0);
    for (k, c) in instant.contacts().contacts.iter().enumerate() {
        let Some(own) = closed.iter().find(|own| own.id == c.id) else { continue };
        let rows = offsets[k]..offsets[k + 1];
        forces[rows.clone()].copy_from_slice(&own.force[..rows.len()]);
        still.extend(if own.mode == Mode::Stick { rows } else { rows.start..rows.start + 1 });
        carried += 1;
    }
    let gravity = length(model.scene().gravity);
    let size = still.iter().fold(gravity, |most, i| most.max(b[*i].abs()));
    let settled = |i: &usize| (dot(a.row(*i), &forces) + b[*i]).abs() <= SETTLED * size;
    // a contact that the rigid model does not have would be lost
    carried == closed.len() && still.iter().all(settled)
}

/// Contacts of which a state remembers a normal force.
fn remembered(model: &Model, state: &State) -> Vec<Closed> {
    let rows = model.contacts().linear_rows();
    let closed = state.memory.iter().filter_map(|m| {
        let RowId::Contact(id) = m.id else { return None };
        let force = [0, 1, 2].map(|i| if i < rows { m.forces.get(i).copied().unwrap_or(0.0) } else { 0.0 });
        (force[0] > 0.0).then(|| Closed { force, ..Closed::new(id, Mode::Stick) })
    });
    closed.collect()
}

fn total_energy(model: &Model, state: &State) -> f64 {
    let e = Energy::at(model, state, &mut Kinematics::new(model.system()));
    e.kinetic + e.potential + e.elastic
}

/// Deformation of a contact on the slow manifold, and its rate.
#[derive(Debug, Clone, Copy, Default)]
struct Target {
    deformation: [f64; 3],
    rate: [f64; 3],
}

impl Target {
    fn new(model: &Model, c: &Closed, by: [f64; 3]) -> Self {
        let rule = model.contacts().rule_of(c.id);
        let Some(patch) = rule.and_then(|r| r.patch()) else { return Self::default() };
        let [d, rate] = patch.overlap_under(c.force[0].max(0.0), by[0]);
        let mut target = Self { deformation: [d, 0.0, 0.0], rate: [rate, 0.0, 0.0] };
        if rule.is_some_and(|r| r.friction > 0.0) {
            for i in 1..3 {
                [target.deformation[i], target.rate[i]] = patch.tangential_under(c.force[i], by[i]);
            }
        }
        target
    }
}

impl Equations<'_> {
    /// The least change of velocities, in the metric of the masses, that changes the relative velocities of rows by `wanted`.
    fn change(&mut self, instant: &Instant, rows: &[usize], wanted: Vec<f64>) -> Option<Vec<f64>> {
        let (a, _) = instant.system();
        self.memory.b = Matrix::from_fn(rows.len(), rows.len(), |i, j| a[(rows[i], rows[j])]);
        self.memory.right = wanted;
        let of_contact: Vec<Row> = rows.iter().map(|row| (*row, Of::Contact(0))).collect();
        self.find_islands(instant, &of_contact);
        if !self.solve() {
            return None;
        }
        let mut change = vec![0.0; self.sizes().1];
        for (row, p) in rows.iter().zip(&self.memory.solution) {
            change.iter_mut().zip(instant.mobility().row(*row)).for_each(|(c, m)| *c += p * m);
        }
        Some(change)
    }

    /// Finds whether the contacts stick or slip, their forces and the rates of these. Where the modes have no forces that press, the forces stay as they are, with
    /// rates of zero.
    fn settle_modes(&mut self, t: f64, y: &[f64]) -> Vec<[f64; 3]> {
        let given = self.closed.clone();
        let none = vec![[0.0; 3]; given.len()];
        let mut rate = vec![0.0; y.len()];
        self.rate(t, y, &mut rate);
        for (c, given) in self.closed.iter_mut().zip(&given) {
            let slip = c.velocity[1].hypot(c.velocity[2]);
            let mu = self.model.contacts().rule_of(c.id).map_or(0.0, |rule| rule.friction);
            // time steps leave contacts that stick a slip of rounding
            let at_bound = given.force[1].hypot(given.force[2]) >= (1.0 - AT_BOUND) * mu * given.force[0];
            if slip > REST * c.scale.speed && at_bound {
                c.mode = Mode::Slip([c.velocity[1] / slip, c.velocity[2] / slip]);
            }
        }
        self.rate(t, y, &mut rate);
        let presses = |list: &[Closed]| list.iter().all(|c| c.force[0] >= 0.0);
        if !rate.iter().all(|x| x.is_finite()) || !presses(self.closed) {
            let modes: Vec<Mode> = self.closed.iter().map(|c| c.mode).collect();
            self.closed.clone_from(&given);
            self.closed.iter_mut().zip(modes).for_each(|(c, mode)| c.mode = mode);
            return none;
        }
        let now = self.closed.clone();
        let ahead: Vec<f64> = y.iter().zip(&rate).map(|(y, rate)| y + SHORT * rate).collect();
        self.rate(t + SHORT, &ahead, &mut rate);
        let found = rate.iter().all(|x| x.is_finite());
        let later = self.closed.iter().zip(&now);
        let rates = later.map(|(l, n)| [0, 1, 2].map(|i| (l.force[i] - n.force[i]) / SHORT)).collect();
        self.closed.clone_from(&now);
        if found { rates } else { none }
    }

    /// Moves `q` and `v` to the deformations of closed contacts and their rates.
    fn overlap(&mut self, t: f64, y: &mut [f64], targets: &[Target]) -> Option<()> {
        let (nq, nv) = self.sizes();
        for round in 0..4 {
            let instant = self.instant(t, y)?;
            // scenes with standing rows are refused, so that all rows are of contacts
            let of_contact = |(row, of)| if let Of::Contact(k) = of { Some((row, k)) } else { None };
            let (rows, of): (Vec<usize>, Vec<usize>) =
                self.rows(&instant)?.into_iter().filter_map(of_contact).unzip();
            // the contact of a row, its direction, and its place
            let place = |row: usize| {
                let at = instant.offsets().partition_point(|o| *o <= row) - 1;
                (at, row - instant.offsets()[at])
            };
            let wanted: Vec<f64> = match round {
                3 => rows
                    .iter()
                    .zip(&of)
                    .map(|(&row, &k)| {
                        -targets[k].rate[place(row).1] - dot(instant.jacobian().row(row), &y[nq..nq + nv])
                    })
                    .collect(),
                _ => rows
                    .iter()
                    .zip(&of)
                    .map(|(&row, &k)| match place(row) {
                        (at, 0) => -targets[k].deformation[0] - instant.contacts().elements[at].gap,
                        _ => 0.0,
                    })
                    .collect(),
            };
            let change = self.change(&instant, &rows, wanted)?;
            if round == 3 {
                y[nq..nq + nv].iter_mut().zip(&change).for_each(|(v, c)| *v += c);
            } else {
                let old = y[..nq].to_vec();
                self.model.system().advance(&old, &change, 1.0, &mut y[..nq]);
            }
        }
        Some(())
    }
}
