//! Impacts in steps that are longer than they: a contact that closes while its parts approach has one, which lasts until they no longer do.

use super::events::{Event, EventKind};
use crate::dynamics::Kinematics;
use crate::model::{Model, Owner};
use crate::space::{Vector, dot, length, sub};
use crate::state::{ContactId, State};
use crate::step::{ElementReport, Status};

/// Parts no longer approach below this share of the velocity with which they met.
const STOPPED: f64 = 1e-6;
/// A contact that lasts more than so many times as long as its parts approach does not end in a bounce.
const LASTS: f64 = 10.0;

/// A step as it was made.
pub(super) struct Made<'a> {
    pub model: &'a Model,
    /// States before and after it.
    pub states: [&'a State; 2],
    /// Length of the step, or of its last part, s.
    pub h: f64,
    /// Its memory: it is where the step leaves it.
    pub kinematics: &'a mut Kinematics,
}

impl Made<'_> {
    /// Least velocity of an impact, m/s: what a step or two of weight give is none.
    pub fn threshold(&self) -> f64 {
        let scene = self.model.scene();
        scene.step.bounce_threshold.max(2.0 * self.h * length(scene.gravity))
    }
}

/// An impact that has begun.
#[derive(Debug, Clone, Copy)]
struct Strike {
    key: (ContactId, usize),
    bodies: (Owner, Owner),
    /// Where it is, and the normal.
    place: (Vector, Vector),
    /// Time before it, s.
    since: f64,
    /// Normal velocity with which the parts met, positive, m/s.
    approach: f64,
    /// Normal impulse so far, N s.
    impulse: f64,
    /// When the parts ceased to approach.
    stopped: Option<f64>,
}

/// Impacts that have begun and not ended.
#[derive(Debug, Default)]
pub(super) struct Strikes(Vec<Strike>);

impl Strikes {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a step; `new` is asked whether an element was open before it.
    pub fn step(
        &mut self,
        made: &mut Made<'_>,
        elements: &[ElementReport],
        new: impl Fn(&ElementReport) -> bool,
        events: &mut Vec<Event>,
    ) {
        let ([start, end], h, threshold) = (made.states, made.h, made.threshold());
        let known = self.0.len();
        let mut placed = false;
        for e in elements.iter().filter(|e| e.status != Status::Open && new(e)) {
            if !std::mem::replace(&mut placed, true) {
                made.kinematics.go_to(&start.position, &start.velocity);
            }
            let (key, bodies, place) = ((e.id, e.element), (e.body_a, e.body_b), (e.point, e.frame.n));
            let approach = -separation(made.kinematics, bodies, place);
            if approach > threshold {
                let since = end.time - h;
                self.0.push(Strike { key, bodies, place, since, approach, impulse: 0.0, stopped: None });
            }
        }
        if self.0.is_empty() {
            return;
        }
        made.kinematics.go_to(&end.position, &end.velocity);
        let mut at = 0;
        self.0.retain_mut(|s| {
            let is_new = at >= known;
            at += 1;
            let own = elements.binary_search_by_key(&s.key, |e| (e.id, e.element)).ok().map(|k| &elements[k]);
            let own = own.filter(|e| e.status != Status::Open);
            if let Some(e) = own {
                s.place = (e.point, e.frame.n);
                s.impulse += h * e.force[0];
            }
            let leaves = separation(made.kinematics, s.bodies, s.place);
            let mut add = |kind: EventKind, s: &Strike| {
                let ((contact, element), (body_a, body_b)) = (s.key, s.bodies);
                let (time, impulse) = (end.time, s.impulse);
                events.push(Event { time, contact, element, body_a, body_b, kind, impulse });
            };
            if s.stopped.is_none() && (leaves >= -STOPPED * s.approach || own.is_none()) {
                add(EventKind::Impact, s);
                s.stopped = Some(end.time);
            }
            let ends = own.is_none() || is_new;
            if ends && leaves > threshold {
                add(EventKind::Bounce, s);
                return false;
            }
            let lasted = s.stopped.is_some_and(|t| end.time - s.since > LASTS * (t - s.since));
            own.is_some() && !lasted
        });
    }
}

/// Normal velocity at which the second part leaves the first, m/s.
fn separation(kinematics: &Kinematics, bodies: (Owner, Owner), (point, normal): (Vector, Vector)) -> f64 {
    let velocity = |owner: Owner| owner.body().map_or([0.0; 3], |i| kinematics.point_velocity(i, point));
    dot(normal, sub(velocity(bodies.1), velocity(bodies.0)))
}
