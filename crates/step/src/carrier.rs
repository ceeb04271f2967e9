//! Bodies that jointed bodies carry round: turntables with a motor, arms that swing what they hold.
//!
//! A row `J v` takes velocities where the bodies are at one end of the step. What sticks to a body that turns by `x` in a step then drifts by `x/2` of its distance per radian. Friction is about
//! the velocity over the way of the step instead: of the carrier that of the material which the other body meets on its way ([`crate::motion::carried`]), with the mean velocities
//! of both bodies over the step, so that bodies that go round together have no slip,
//!
//! ```text
//! s_t = J_t v + u      u = [m_b + w_b x (p - c_b)] - [m_a + w_a x (p - c_a) + carried(w_a, m_b - m_a)] - J v       (a carries b)
//! ```
//!
//! with `c` the centres, `m` the mean velocities of the centres and `w` of the attitudes. Forces act at the same point `p` on both, as before: momentum and angular momentum are kept.
//! `u` depends on the velocities that are sought and is found with them, in rounds (`carry`) or in those of the implicit scheme. It is no velocity from outside: its work is part of what the time step
//! takes, which in steady circles it gives back.

use crate::contact::set::{Contact, ContactSet};
use crate::dynamics::{Drift, Kinematics, MassMatrix};
use crate::formulation::ContactProblem;
use crate::model::{Model, Owner};
use crate::motion::carried;
use crate::space::{Vector, add, cross, dot, length, scale, sub};

/// Rounding of a place, over its distance from the origin.
pub(super) const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Turn of a body in a step up to which its ends say how it turned, rad.
const MOST_TURN: f64 = 1.0;

/// The bodies when a step begins, where the rows of its contact problem are taken, and at its end; and after which share of the step rows are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ways<'a> {
    pub start: &'a Kinematics,
    pub rows: &'a Kinematics,
    pub end: &'a Kinematics,
    pub share: f64,
    pub h: f64,
}

/// Whether any of the contacts is of a body on a carrier.
pub(super) fn any_carried(model: &Model, contacts: &ContactSet) -> bool {
    contacts.contacts.iter().any(|c| is_carried(model, c))
}

/// Whether one of a contact's bodies carries the other.
pub fn is_carried(model: &Model, contact: &Contact) -> bool {
    carrier(model, contact).is_some()
}

/// Which of the two bodies carries the other: a body on joints that are fixed to the world before all others, a body on joints before one by itself. Two of a kind do not.
fn carrier(model: &Model, contact: &Contact) -> Option<(usize, [usize; 2])> {
    let [Owner::Body(a), Owner::Body(b)] = contact.owners else { return None };
    let [one, two] = [a, b].map(|link| model.system().tree_of(link).map(|t| model.system().footing(t)));
    let (one, two) = (one?, two?);
    (one != two).then(|| (usize::from(two < one), [a, b]))
}

/// Takes the velocities of contacts with carriers over these ways of the bodies; returns their largest change, m/s.
pub(super) fn carry_round(
    model: &Model,
    ways: Ways<'_>,
    contacts: &ContactSet,
    problem: &mut ContactProblem,
) -> f64 {
    let mut change = 0.0f64;
    for c in &contacts.contacts {
        let Some((carrier, bodies)) = carrier(model, c) else { continue };
        for k in c.elements() {
            let point = contacts.elements[k].point;
            let more = ways.more(carrier, bodies, point);
            let (row, rounding) = (problem.rows_of(k).start, ROUNDING * length(point) / ways.h);
            for (i, axis) in [c.frame.t, c.frame.o].iter().enumerate().take(problem.linear_rows - 1) {
                change = change.max(problem.set_turning(row + 1 + i, dot(*axis, more)) - rounding);
            }
        }
    }
    change
}

/// What the turning of bodies adds to the velocity of a contact at a point, in a step of length `h` from a configuration with the velocities `v_theta`; `None` without a carrier, or
/// where the bodies have no end.
pub fn added(
    model: &Model,
    contact: &Contact,
    point: Vector,
    (position, velocity): (&[f64], &[f64]),
    h: f64,
) -> Option<Vector> {
    let (carrier, bodies) = carrier(model, contact)?;
    let (mut start, mut end) = (Kinematics::new(model.system()), Kinematics::new(model.system()));
    let mut mass = MassMatrix::new(model.system());
    start.update(position, velocity);
    mass.go_to(&start).ok()?;
    let (mut place, mut after) = (position.to_vec(), velocity.to_vec());
    let drift = &mut Drift::new(model.system());
    drift.advance(&start, &mass, h, velocity, (&mut place, &mut after)).ok()?;
    end.update(&place, velocity);
    Some(Ways { start: &start, rows: &start, end: &end, share: 0.0, h }.more(carrier, bodies, point))
}

impl Ways<'_> {
    /// What the velocity of the second body relative to the first at a point is over the step, more than in the rows.
    fn more(&self, carrier: usize, bodies: [usize; 2], point: Vector) -> Vector {
        let mean = bodies.map(|i| self.mean(i));
        let [mut a, mut b] = [0, 1].map(|k| {
            let (i, (linear, angular)) = (bodies[k], mean[k]);
            let (center, turn) = (self.rows.center(i), sub(angular, self.rows.angular_velocity(i)));
            add(sub(linear, self.rows.point_velocity(i, center)), cross(turn, sub(point, center)))
        });
        let (way, angular) = (sub(mean[1 - carrier].0, mean[carrier].0), mean[carrier].1);
        let by = if carrier == 0 { &mut a } else { &mut b };
        *by = add(*by, carried(angular, way, self.h, self.share));
        sub(b, a)
    }

    /// Mean velocity of a body's centre over the step, and mean angular velocity.
    fn mean(&self, i: usize) -> (Vector, Vector) {
        let linear = scale(1.0 / self.h, sub(self.end.center(i), self.start.center(i)));
        let now = self.rows.angular_velocity(i);
        if length(now) * self.h > MOST_TURN {
            return (linear, now);
        }
        let turn = self.end.pose(i).attitude.after(self.start.pose(i).attitude.inverse());
        (linear, scale(1.0 / self.h, turn.angle()))
    }
}
