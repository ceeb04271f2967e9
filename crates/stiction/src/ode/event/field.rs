//! Rigid motion while no contact changes its mode: closed contacts keep touching, those that stick do not slip, and those that slip
//! have their friction against the slip. Joint limits and ropes that carry force, friction of joints that stick, gears and loops are
//! rows beside those of contacts; friction of joints that turn is a known effort, and so are springs and servos.
//!
//! With `A` and `b` of trinkle1995 (21)-(23), the unknown forces `x` (normal ones, and tangential ones where contacts stick) solve
//! `B x = -b` in the rows of these forces, where `B` has the friction of slipping contacts, `-mu lambda_n d`, in its columns. Redundant contacts make
//! `B` singular. Of all solutions the limit of `(B + eps I) x = -b` as `eps -> 0` is taken, the choice of the time-stepper ([`super::islands`]).

use super::TOGETHER;
use super::islands::Islands;
use super::slow::System;
use crate::analysis::accelerate::Given;
use crate::analysis::instant::Instant;
use crate::inputs::Inputs;
use crate::integrate::Field;
use crate::model::{Model, Scale, StandingKind};
use crate::space::Vector;
use crate::state::{ContactId, State};
use complementarity::matrix::{Matrix, dot};
use complementarity::problem::Element;

/// Contacts with gaps up to this are found by the equations, lengths: closed ones have none but for rounding and trial steps.
const NEAR: f64 = 1e-5;
/// Positions are right where gaps are below this, lengths.
const EXACT: f64 = 1e-15;

/// Slip at which a contact that slips is about to stop, as a share of its scale of speed: below, rounding decides the direction of its slip, and with it that of its friction.
pub const STOP: f64 = 1e-8;

/// Number of powers that are integrated beside the motion.
pub const POWERS: usize = 3;

/// What a closed contact does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// No slip.
    Stick,
    /// Slip, at first along this direction in t, o.
    Slip([f64; 2]),
}

/// Whether a contact that touches carries force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// It does.
    Carries,
    /// Even compliance unloads it, and the others keep it touching: see [`super::idle`].
    Idle,
    /// It carries none, and the others do not keep it touching.
    Leaves,
}

/// A contact that is closed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closed {
    pub id: ContactId,
    pub mode: Mode,
    /// Whether it carries force.
    pub touch: Touch,
    /// It sticks by other forces than those of even compliance, which are beyond friction's bounds at some contact connected with it.
    pub together: bool,
    /// Where these can no longer stick, the direction in which it begins to slip.
    pub gives: Option<[f64; 2]>,
    /// Its slip has just begun, and is too slow to have a direction.
    pub begins: bool,
    /// It has begun to slip at this instant, along the direction of its mode.
    pub fixed: bool,
    /// It slips fast enough for its slip to have a direction: its end is then where the slip is [`STOP`].
    pub moves: bool,
    /// It slips too slowly to have a direction, and stops.
    pub ends: bool,
    /// It carries force in name: even compliance gives it none, and neither does it take part in what connected contacts share.
    pub bare: bool,
    /// Force on the second body along n, t, o at the last evaluation, N.
    pub force: Vector,
    /// Relative velocity there, m/s.
    pub velocity: Vector,
    /// What is small at it.
    pub scale: Scale,
    /// Force that counts as 1 in margins, N: the weight of its island, or what shows beside the largest forces there.
    pub unit: f64,
    /// What is left of the mode: normal force and friction in that unit, or slip along its direction in the scale of speed.
    pub margins: [f64; 2],
    /// `A` of song2001 (29) over what it is without friction, if it slips, else 1: where it is positive for a single contact, the normal force is unique and
    /// stable (Theorem 5.1).
    pub slip_margin: f64,
}

impl Closed {
    pub fn new(id: ContactId, mode: Mode) -> Self {
        let zero = [0.0; 3];
        let (margins, slip_margin) = ([0.0; 2], 1.0);
        Self {
            id,
            mode,
            touch: Touch::Carries,
            together: false,
            gives: None,
            begins: false,
            fixed: false,
            moves: false,
            ends: false,
            bare: false,
            force: zero,
            velocity: zero,
            scale: Scale::default(),
            unit: 1.0,
            margins,
            slip_margin,
        }
    }

    /// Whether it carries next to nothing.
    pub fn is_bare(&self) -> bool {
        let [n, t, o] = self.force;
        n.abs().max(t.hypot(o)) < TOGETHER * self.unit
    }

    /// Speed of its slip, m/s.
    pub fn slip(&self) -> f64 {
        self.velocity[1].hypot(self.velocity[2])
    }

    /// Slip at which it is about to stop, m/s.
    pub fn stop(&self) -> f64 {
        STOP * self.scale.speed
    }
}

/// What a rigid standing row does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hold {
    /// A limit or rope without force.
    Open,
    /// A limit or rope that carries force.
    Closed,
    /// Friction of a joint at rest.
    Stick,
    /// Friction of a joint that moves in this direction, 1 or -1.
    Slip(f64),
    /// A gear or loop.
    Bilateral,
}

/// A standing row that is rigid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// Its place in [`Model::standing`].
    pub row: usize,
    pub hold: Hold,
    /// Its force at the last evaluation, N or N m, its gap, m or rad, and velocity.
    pub force: f64,
    pub gap: f64,
    pub velocity: f64,
    /// What is small for it, and the force that counts as 1, N or N m.
    pub scale: Scale,
    pub unit: f64,
    /// What is left of what it does, in these: gap, force or friction, or velocity along its direction.
    pub margin: f64,
}

impl Held {
    pub fn new(row: usize, hold: Hold) -> Self {
        let (force, gap, velocity, margin) = (0.0, 0.0, 0.0, f64::INFINITY);
        Self { row, hold, force, gap, velocity, scale: Scale::default(), unit: 1.0, margin }
    }
}

/// What is asked of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Accelerations alone.
    Motion,
    /// Margins too.
    Margins,
    /// Forces within friction's bounds too, where those of the modes are not: see [`Equations::relieve`].
    Forces,
}

/// The equations, and the memory of their evaluation.
#[derive(Debug)]
pub struct Equations<'a> {
    pub model: &'a Model,
    pub inputs: &'a Inputs,
    pub closed: &'a mut Vec<Closed>,
    /// All rigid standing rows, in the order of the model.
    pub held: &'a mut Vec<Held>,
    /// Powers lost to friction and to dampers of joints, and of what acts from outside, W.
    pub powers: [f64; POWERS],
    pub asked: Asked,
    pub memory: &'a mut Buffers,
}

/// Memory of [`Equations`].
#[derive(Debug, Clone, Default)]
pub struct Buffers {
    pub state: State,
    pub islands: Islands,
    pub b: Matrix,
    pub right: Vec<f64>,
    pub solution: Vec<f64>,
    /// Largest relative defect of the last solution.
    pub defect: f64,
}

/// Where an unknown force is: a contact in the list of closed ones, or a standing row in that of rigid ones.
#[derive(Debug, Clone, Copy)]
pub enum Of {
    Contact(usize),
    Held(usize),
}

/// A row of unknown force: the row in the problem at the instant, and whose it is.
pub type Row = (usize, Of);

impl Equations<'_> {
    /// Sizes of `q` and `v`.
    pub fn sizes(&self) -> (usize, usize) {
        (self.model.system().configuration_size(), self.model.system().velocity_size())
    }

    /// The system at a time and place.
    pub fn instant(&mut self, t: f64, y: &[f64]) -> Option<Instant> {
        let (nq, nv) = self.sizes();
        let state = &mut self.memory.state;
        state.time = t;
        state.position.clear();
        state.position.extend_from_slice(&y[..nq]);
        state.velocity.clear();
        state.velocity.extend_from_slice(&y[nq..nq + nv]);
        let inputs = self.inputs.clone();
        // contacts are known to be closed, whatever their velocity
        let given = Given { inputs, gap: NEAR, scaled: true, velocity: f64::INFINITY, ..Given::default() };
        Instant::with(self.model, state, &given).ok()
    }

    /// Rows of unknown forces; `None` if a closed contact is not found.
    pub fn rows(&self, instant: &Instant) -> Option<Vec<Row>> {
        let found = &instant.contacts().contacts;
        let mut rows = vec![];
        for (k, c) in self.closed.iter().enumerate().filter(|(_, c)| c.touch == Touch::Carries) {
            let at = found.binary_search_by_key(&c.id, |f| f.id).ok()?;
            let own = instant.offsets()[at]..instant.offsets()[at + 1];
            let sticks = c.mode == Mode::Stick && instant.mu()[at] > 0.0;
            rows.extend(own.take(if sticks { usize::MAX } else { 1 }).map(|row| (row, Of::Contact(k))));
        }
        for (k, held) in self.held.iter().enumerate() {
            if let Hold::Closed | Hold::Stick | Hold::Bilateral = held.hold {
                rows.push((row_of(instant, held.row)?, Of::Held(k)));
            }
        }
        Some(rows)
    }

    /// Forces of all rows of an instant, by the modes; `None` if they have no solution.
    fn forces(&mut self, instant: &Instant) -> Option<Vec<f64>> {
        let rows = self.rows(instant)?;
        self.find_islands(instant, &rows);
        let mu = instant.mu();
        let mut along = vec![[0.0; 2]; self.closed.len()];
        for &(row, k) in &rows {
            let Of::Contact(k) = k else { continue };
            self.closed[k].velocity = instant.relative_velocity(contact_of(instant, row));
            if let Mode::Slip(first) = self.closed[k].mode {
                let c = &self.closed[k];
                let at_rest = c.fixed || c.begins && c.slip() <= 10.0 * c.stop();
                along[k] = if at_rest { first } else { direction([c.velocity[1], c.velocity[2]], first) };
            }
        }
        let system = instant.system();
        let mut forces = self.forces_along((instant, &system), &rows, &along)?;
        self.turn_slow_slips((instant, &system), &rows, &mut along, &mut forces)?;
        self.raise_units(&rows);
        self.read(instant, &forces, &mu);
        if self.asked != Asked::Motion {
            self.watch_idle((instant, &system), &rows, &along, &forces);
            self.relieve(instant, &rows);
        }
        Some(forces)
    }

    /// Forces that an unknown of 1 makes, by rows of unknowns: its own, and friction of contacts that slip.
    pub fn columns(&self, instant: &Instant, rows: &[Row], along: &[[f64; 2]]) -> Vec<Vec<(usize, f64)>> {
        let mu = instant.mu();
        let column = |&(row, of): &Row| {
            let mut column = vec![(row, 1.0)];
            if let Of::Contact(k) = of
                && let Mode::Slip(_) = self.closed[k].mode
            {
                let at = contact_of(instant, row);
                let tangents = instant.offsets()[at + 1] - row - 1;
                column.extend((0..tangents).map(|i| (row + 1 + i, -mu[at] * along[k][i])));
            }
            column
        };
        rows.iter().map(column).collect()
    }

    /// Forces of all rows with the friction of slipping contacts against these directions, one per closed contact.
    pub fn forces_along(
        &mut self,
        (instant, (a, b)): (&Instant, &System),
        rows: &[Row],
        along: &[[f64; 2]],
    ) -> Option<Vec<f64>> {
        let columns = self.columns(instant, rows, along);
        self.memory.b.reset(rows.len(), rows.len());
        for (i, (row, _)) in rows.iter().enumerate() {
            for (j, column) in columns.iter().enumerate() {
                self.memory.b[(i, j)] = column.iter().map(|(at, share)| a[(*row, *at)] * share).sum();
            }
        }
        for (i, &(row, k)) in rows.iter().enumerate() {
            if let Of::Contact(k) = k
                && let Mode::Slip(_) = self.closed[k].mode
            {
                self.closed[k].slip_margin = self.memory.b[(i, i)] / a[(row, row)];
            }
        }
        let mut forces = vec![0.0; b.len()];
        for held in &*self.held {
            if let (Hold::Slip(along), Element::Bounded { limit }) =
                (held.hold, self.model.standing()[held.row].element)
            {
                forces[row_of(instant, held.row)?] = -along * limit;
            }
        }
        self.memory.right.clear();
        self.memory.right.extend(rows.iter().map(|(row, _)| -b[*row] - dot(a.row(*row), &forces)));
        if !self.solve() {
            return None;
        }
        for (column, x) in columns.iter().zip(&self.memory.solution) {
            column.iter().for_each(|(at, share)| forces[*at] += share * x);
        }
        Some(forces)
    }

    /// Forces, velocities, margins and powers of the closed contacts.
    fn read(&mut self, instant: &Instant, forces: &[f64], mu: &[f64]) {
        self.powers = [0.0; POWERS];
        self.powers[2] = instant.outside_power(&self.memory.state.velocity);
        self.read_standing(instant, forces);
        for c in &mut *self.closed {
            let found = &instant.contacts().contacts;
            let Ok(at) = found.binary_search_by_key(&c.id, |f| f.id) else { continue };
            let own = &forces[instant.offsets()[at]..instant.offsets()[at + 1]];
            c.force = [0, 1, 2].map(|i| own.get(i).copied().unwrap_or(0.0));
            c.velocity = instant.relative_velocity(at);
            let [n, t, o] = c.force;
            let friction = match c.mode {
                Mode::Stick if mu[at] > 0.0 => (mu[at] * n - t.hypot(o)) / c.unit,
                Mode::Stick => f64::INFINITY,
                Mode::Slip(_) if c.ends => -1.0,
                Mode::Slip(first) => {
                    let along = c.velocity[1] * first[0] + c.velocity[2] * first[1];
                    let along = along / c.scale.speed;
                    match (c.moves, c.begins) {
                        (true, _) => along - STOP,
                        (_, true) => along + STOP,
                        _ => along,
                    }
                }
            };
            (c.together, c.gives) = (false, None);
            c.margins = [n / c.unit, friction];
            if c.bare {
                c.margins = [n / c.unit + TOGETHER, f64::INFINITY];
            }
            if c.touch != Touch::Carries {
                (c.margins, c.ends) = ([f64::INFINITY; 2], false);
            } else if let Mode::Slip(_) = c.mode {
                self.powers[0] -= t * c.velocity[1] + o * c.velocity[2];
            }
        }
    }

    /// Forces, velocities, margins and powers of the standing rows.
    fn read_standing(&mut self, instant: &Instant, forces: &[f64]) {
        for held in &mut *self.held {
            let row = &self.model.standing()[held.row];
            let at = instant.row_at(held.row);
            held.force = row_of(instant, held.row).map_or(0.0, |k| forces[k]);
            (held.gap, held.velocity) = (at.gap, at.velocity);
            let limit = if let Element::Bounded { limit } = row.element { limit } else { 0.0 };
            held.margin = match held.hold {
                Hold::Open => at.gap / held.scale.length,
                Hold::Closed => held.force / held.unit,
                Hold::Stick => (limit - held.force.abs()) / held.unit,
                Hold::Slip(along) => along * at.velocity / held.scale.speed,
                Hold::Bilateral => f64::INFINITY,
            };
            if let Hold::Slip(_) = held.hold {
                self.powers[0] -= held.force * at.velocity;
            }
        }
        for (index, row) in self.model.standing().iter().enumerate() {
            let at = instant.row_at(index);
            match row.kind {
                _ if row.compliance.is_none() => {}
                StandingKind::Drive(_) => self.powers[2] += at.force * at.velocity,
                _ => self.powers[1] += row.damping_power(at.gap, at.velocity, at.force),
            }
        }
    }

    /// Moves `q` and `v` to where closed contacts touch and do not separate, and those that stick do not slip.
    pub fn project(&mut self, t: f64, y: &mut [f64]) -> Option<()> {
        let (nq, nv) = self.sizes();
        for round in 0..3 {
            let instant = self.instant(t, y)?;
            let rows = self.rows(&instant)?;
            self.find_islands(&instant, &rows);
            let (a, _) = instant.system();
            self.memory.b = Matrix::from_fn(rows.len(), rows.len(), |i, j| a[(rows[i].0, rows[j].0)]);
            let mobility = instant.mobility();
            let (mut change, mut moved) = (vec![0.0; nv], 0.0f64);
            if round < 2 {
                // gaps; slip has no position
                let gap = |(row, of): &Row| {
                    if let Of::Held(k) = of {
                        return -instant.row_at(self.held[*k].row).gap;
                    }
                    let at = instant.offsets().partition_point(|o| o <= row) - 1;
                    let first = instant.offsets()[at] == *row;
                    if first { -instant.contacts().elements[at].gap } else { 0.0 }
                };
                self.memory.right.clear();
                self.memory.right.extend(rows.iter().map(gap));
                let length = |(_, of): &Row| match of {
                    Of::Contact(k) => self.closed[*k].scale.length,
                    Of::Held(k) => self.held[*k].scale.length,
                };
                moved = rows
                    .iter()
                    .zip(&self.memory.right)
                    .fold(0.0, |m, (row, gap)| m.max(gap.abs() / length(row)));
                if !self.solve() {
                    return None;
                }
                for ((row, _), p) in rows.iter().zip(&self.memory.solution) {
                    change.iter_mut().zip(mobility.row(*row)).for_each(|(c, m)| *c += p * m);
                }
                let old = y[..nq].to_vec();
                self.model.system().advance(&old, &change, 1.0, &mut y[..nq]);
            }
            if round == 2 || moved <= EXACT {
                let v = &mut y[nq..nq + nv];
                self.memory.right.clear();
                self.memory.right.extend(rows.iter().map(|(row, _)| -dot(instant.jacobian().row(*row), v)));
                if !self.solve() {
                    return None;
                }
                for ((row, _), p) in rows.iter().zip(&self.memory.solution) {
                    v.iter_mut().zip(mobility.row(*row)).for_each(|(v, m)| *v += p * m);
                }
                return Some(());
            }
        }
        Some(())
    }
}

/// Contact of an instant that a row belongs to.
pub fn contact_of(instant: &Instant, row: usize) -> usize {
    instant.offsets().partition_point(|o| *o <= row) - 1
}

/// Row of a standing row in the problem at the instant, if it takes part.
fn row_of(instant: &Instant, row: usize) -> Option<usize> {
    let first = instant.offsets().last().copied().unwrap_or(0);
    instant.standing().position(|other| other == row).map(|k| first + k)
}

/// Direction of a slip that began along `first`: the slip's own, unless it has turned against that.
fn direction(slip: [f64; 2], first: [f64; 2]) -> [f64; 2] {
    let (size, along) = (slip[0].hypot(slip[1]), slip[0] * first[0] + slip[1] * first[1]);
    if along > 0.1 * size && size > 0.0 { slip.map(|s| s / size) } else { first }
}

impl Field for Equations<'_> {
    fn rate(&mut self, t: f64, y: &[f64], out: &mut [f64]) {
        let (nq, nv) = self.sizes();
        out.fill(f64::NAN);
        if !y.iter().all(|y| y.is_finite()) {
            return;
        }
        let Some(instant) = self.instant(t, y) else { return };
        let Some(forces) = self.forces(&instant) else { return };
        let Some(accelerations) = instant.accelerations(&forces) else { return };
        self.model.system().rate(&y[..nq], &y[nq..nq + nv], &mut out[..nq]);
        out[nq..nq + nv].copy_from_slice(&accelerations);
        out[nq + nv..].copy_from_slice(&self.powers);
    }
}
