//! What elements of contacts begin or cease to do.

use super::strikes::{Made, Strikes};
use crate::model::{Model, Owner};
use crate::space::{Vector, dot};
use crate::state::ContactId;
use crate::step::{BranchChange, Branched, ElementReport, Located, ModelChange, Status, Struck, StruckKind};

/// What happens to an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// It carries force no longer.
    Open,
    /// It begins to carry force; `Stick` or `Slip` follows at the same time.
    Close,
    /// It begins to stick.
    Stick,
    /// It begins to slip.
    Slip,
    /// It slipped in a way that no finite forces allow, and was stopped by an impact without a collision.
    ImpactWithoutCollision,
    /// All contacts become compliant, for the rigid motion at this one is not unique and stable (`law = "auto"`).
    ToCompliant,
    /// All contacts become rigid again (`law = "auto"`).
    ToRigid,
    /// One of several possible motions is followed from here on (scheme = "event").
    Branch,
    /// That motion ends where the element's normal force vanishes.
    BranchEndsForce,
    /// That motion ends where the element's slip stops.
    BranchEndsSlip,
    /// That motion ends where the element's friction reaches its bound.
    BranchEndsFriction,
    /// That motion ends where the element touches.
    BranchEndsTouch,
    /// That motion ends at a limit or with the friction of a joint.
    BranchEndsJoint,
    /// That motion is the only one from here on.
    BranchUnique,
    /// Its parts met, and no longer approach; with the impulse of that.
    Impact,
    /// Its parts leave each other after an impact; with the whole impulse since they met.
    Bounce,
    /// Its slip turns round, sticking for a step at most.
    SlipReverse,
}

impl EventKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::Open,
        Self::Close,
        Self::Stick,
        Self::Slip,
        Self::ImpactWithoutCollision,
        Self::ToCompliant,
        Self::ToRigid,
        Self::Branch,
        Self::BranchEndsForce,
        Self::BranchEndsSlip,
        Self::BranchEndsFriction,
        Self::BranchEndsTouch,
        Self::BranchEndsJoint,
        Self::BranchUnique,
        Self::Impact,
        Self::Bounce,
        Self::SlipReverse,
    ];

    /// As it is written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Close => "close",
            Self::Stick => "stick",
            Self::Slip => "slip",
            Self::ImpactWithoutCollision => "impact-without-collision",
            Self::ToCompliant => "to-compliant",
            Self::ToRigid => "to-rigid",
            Self::Branch => "branch",
            Self::BranchEndsForce => "branch-ends-force",
            Self::BranchEndsSlip => "branch-ends-slip",
            Self::BranchEndsFriction => "branch-ends-friction",
            Self::BranchEndsTouch => "branch-ends-touch",
            Self::BranchEndsJoint => "branch-ends-joint",
            Self::BranchUnique => "branch-unique",
            Self::Impact => "impact",
            Self::Bounce => "bounce",
            Self::SlipReverse => "slip-reverse",
        }
    }

    /// Whether it is about which of several motions is followed.
    pub fn is_branch(self) -> bool {
        (Self::Branch as usize..=Self::BranchUnique as usize).contains(&(self as usize))
    }

    fn of(change: BranchChange) -> Self {
        match change {
            BranchChange::Begins => Self::Branch,
            BranchChange::Force => Self::BranchEndsForce,
            BranchChange::Slip => Self::BranchEndsSlip,
            BranchChange::Friction => Self::BranchEndsFriction,
            BranchChange::Touch => Self::BranchEndsTouch,
            BranchChange::Joint => Self::BranchEndsJoint,
            BranchChange::Unique => Self::BranchUnique,
        }
    }
}

/// An element that does something else than in the step before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// End of the step, s.
    pub time: f64,
    /// Contact of the element.
    pub contact: ContactId,
    /// Number within the contact.
    pub element: usize,
    /// First body.
    pub body_a: Owner,
    /// Second body.
    pub body_b: Owner,
    /// What happens.
    pub kind: EventKind,
    /// Normal impulse, N s: of the step or located impact where it closes or is stopped, of the whole impact where that or a bounce ends it; else 0.
    pub impulse: f64,
}

#[derive(Debug, Clone, Copy)]
struct Closed {
    key: (ContactId, usize),
    bodies: (Owner, Owner),
    status: Status,
    impulse: f64,
    /// Its slip, m/s, in world axes; the last one while it sticks, and for how many steps it has.
    slip: Vector,
    stuck: usize,
    /// Normal velocity with which its parts leave each other at the end of the step, m/s.
    leaves: f64,
}

impl Closed {
    fn new(e: &ElementReport, h: f64) -> Self {
        let (key, bodies) = ((e.id, e.element), (e.body_a, e.body_b));
        let slip = e.frame.in_plane([e.speed[1], e.speed[2]]);
        Self { key, bodies, status: e.status, impulse: h * e.force[0], slip, stuck: 0, leaves: e.speed[0] }
    }

    /// Whether it slips against the direction in which it slipped before; a slip that turns round may stick for a step.
    fn reverses(&self, before: &Self) -> bool {
        self.status == Status::Slip && before.stuck <= 1 && dot(self.slip, before.slip) < 0.0
    }

    /// The same after a step before which it was like this.
    fn after(self, before: &Self) -> Self {
        match self.status {
            Status::Stick => Self { slip: before.slip, stuck: before.stuck + 1, ..self },
            _ => self,
        }
    }
}

/// Compares each step with the one before. At the start nothing is closed.
#[derive(Debug, Default)]
pub(super) struct Watch {
    before: Vec<Closed>,
    now: Vec<Closed>,
    events: Vec<Event>,
    strikes: Strikes,
}

impl Watch {
    /// Whether an element was closed in the last step.
    pub fn is_closed(&self) -> bool {
        !(self.before.is_empty() && self.strikes.is_empty())
    }

    /// The events of the last step.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Before the next step.
    pub fn forget_events(&mut self) {
        self.events.clear();
    }

    /// Takes the events of a step whose scheme has located them; what a branch does stands before what its contacts do at that time.
    pub fn take(&mut self, model: &Model, located: &[Located], struck: &[Struck], branches: &[Branched]) {
        let owner = |part: u32| model.parts()[part as usize].owner;
        let mut branches = branches.iter().peekable();
        let branch = |b: &Branched| {
            let (body_a, body_b) = (owner(b.contact.part_a), owner(b.contact.part_b));
            let kind = EventKind::of(b.change);
            Event { time: b.time, contact: b.contact, element: 0, body_a, body_b, kind, impulse: 0.0 }
        };
        for l in located {
            while let Some(b) = branches.next_if(|b| b.time <= l.time) {
                self.events.push(branch(b));
            }
            let (body_a, body_b) = (owner(l.contact.part_a), owner(l.contact.part_b));
            let mut add = |kind: EventKind, impulse: f64| {
                let (time, contact) = (l.time, l.contact);
                self.events.push(Event { time, contact, element: 0, body_a, body_b, kind, impulse });
            };
            if l.was == Status::Open {
                let own = struck.iter().filter(|s| s.contact == l.contact && s.time == l.time);
                add(EventKind::Close, own.filter(|s| s.kind != StruckKind::Bounce).map(|s| s.impulse).sum());
            }
            let kind = match l.is {
                Status::Open => EventKind::Open,
                Status::Stick => EventKind::Stick,
                Status::Slip if l.was == Status::Slip => EventKind::SlipReverse,
                Status::Slip => EventKind::Slip,
            };
            add(kind, 0.0);
        }
        self.events.extend(branches.map(branch));
        self.events.extend(struck.iter().map(|s| {
            let (body_a, body_b) = (owner(s.contact.part_a), owner(s.contact.part_b));
            let kind = match s.kind {
                StruckKind::Impact => EventKind::Impact,
                StruckKind::Bounce => EventKind::Bounce,
                StruckKind::WithoutCollision => EventKind::ImpactWithoutCollision,
            };
            Event { time: s.time, contact: s.contact, element: 0, body_a, body_b, kind, impulse: s.impulse }
        }));
        // impacts come before what follows them
        let is_impact = |e: &Event| {
            matches!(e.kind, EventKind::Impact | EventKind::ImpactWithoutCollision | EventKind::Bounce)
        };
        self.events.sort_by(|a, b| a.time.total_cmp(&b.time).then(is_impact(b).cmp(&is_impact(a))));
    }

    /// Takes changes between rigid and compliant contacts, in order of time with other events.
    pub fn take_changes(&mut self, model: &Model, changes: &[ModelChange]) {
        for c in changes {
            let owner = |part: u32| model.parts()[part as usize].owner;
            let (body_a, body_b) = (owner(c.contact.part_a), owner(c.contact.part_b));
            let kind = if c.compliant { EventKind::ToCompliant } else { EventKind::ToRigid };
            let at = self.events.partition_point(|e| e.time <= c.time && (e.time < c.time || !c.compliant));
            let (time, contact) = (c.time, c.contact);
            self.events.insert(at, Event { time, contact, element: 0, body_a, body_b, kind, impulse: 0.0 });
        }
    }

    /// Finds the events of a step of length `h` (of its last part, if it was cut). The elements are in order of contact and number.
    pub fn step(&mut self, mut made: Option<Made<'_>>, (time, h): (f64, f64), elements: &[ElementReport]) {
        for e in elements.iter().filter(|e| e.impact) {
            let Closed { key: (contact, element), bodies: (body_a, body_b), impulse, .. } = Closed::new(e, h);
            let kind = EventKind::ImpactWithoutCollision;
            self.events.push(Event { time, contact, element, body_a, body_b, kind, impulse });
        }
        let threshold = made.as_ref().map_or(f64::INFINITY, Made::threshold);
        let closed = elements.iter().filter(|e| e.status != Status::Open);
        let mut old = self.before.iter_mut();
        let goes_on = |c: &mut Closed, e: &ElementReport| {
            let now = Closed::new(e, h);
            let same = c.status == e.status && c.key == now.key && !now.reverses(c) && c.leaves <= threshold;
            if same {
                *c = now.after(c);
            }
            same
        };
        // as in most steps
        let mut all = closed.clone();
        let goes_on = all.all(|e| old.next().is_some_and(|c| goes_on(c, e))) && old.next().is_none();
        if goes_on && self.strikes.is_empty() {
            return;
        }
        if let Some(made) = &mut made {
            let before = &self.before;
            let new = |e: &ElementReport| {
                let known = before.binary_search_by_key(&(e.id, e.element), |c| c.key);
                known.map_or(true, |k| before[k].leaves > threshold)
            };
            self.strikes.step(made, elements, new, &mut self.events);
        }
        if goes_on {
            return;
        }
        self.now.clear();
        let before = &self.before;
        self.now.extend(closed.map(|e| {
            let now = Closed::new(e, h);
            let known = before.binary_search_by_key(&now.key, |c| c.key);
            known.map_or(now, |k| now.after(&before[k]))
        }));
        let mut add = |c: &Closed, kind: EventKind| {
            let ((contact, element), (body_a, body_b)) = (c.key, c.bodies);
            let impulse = if kind == EventKind::Close { c.impulse } else { 0.0 };
            self.events.push(Event { time, contact, element, body_a, body_b, kind, impulse });
        };
        let begun = |c: &Closed| if c.status == Status::Slip { EventKind::Slip } else { EventKind::Stick };
        let mut old = self.before.iter().peekable();
        for c in &self.now {
            while let Some(gone) = old.next_if(|o| o.key < c.key) {
                add(gone, EventKind::Open);
            }
            match old.next_if(|o| o.key == c.key) {
                Some(before) if c.reverses(before) => {
                    if before.status == Status::Stick {
                        add(c, EventKind::Slip);
                    }
                    add(c, EventKind::SlipReverse);
                }
                Some(same) if same.status == c.status => {}
                Some(_) => add(c, begun(c)),
                None => {
                    add(c, EventKind::Close);
                    add(c, begun(c));
                }
            }
        }
        old.for_each(|gone| add(gone, EventKind::Open));
        std::mem::swap(&mut self.before, &mut self.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Frame;

    fn element(part: u32, element: usize, status: Status) -> ElementReport {
        ElementReport {
            id: ContactId { part_a: 9, part_b: part, feature: 0 },
            element,
            body_a: Owner::World(0),
            body_b: Owner::Body(part as usize),
            point: [0.0; 3],
            frame: Frame::new([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]),
            gap: 0.0,
            force: [0.0; 3],
            core: 0.0,
            moment: [0.0; 3],
            turn: [0.0; 3],
            speed: [0.0; 3],
            deformation: [0.0; 3],
            status,
            impact: false,
        }
    }

    #[test]
    fn changes_are_events_and_nothing_else() {
        use Status::{Open, Slip, Stick};
        let mut watch = Watch::default();
        let mut step = |elements: &[ElementReport]| {
            watch.forget_events();
            watch.step(None, (1.0, 0.1), elements);
            let event = |e: &Event| (e.contact.part_b, e.element, e.kind.name());
            watch.events().iter().map(event).collect::<Vec<_>>()
        };
        assert_eq!(
            step(&[element(1, 0, Stick), element(1, 1, Open), element(2, 0, Slip)]),
            [(1, 0, "close"), (1, 0, "stick"), (2, 0, "close"), (2, 0, "slip")]
        );
        assert_eq!(step(&[element(1, 0, Stick), element(2, 0, Slip)]), []);
        // a contact that is gone is open, as is one that is there without force
        assert_eq!(
            step(&[element(0, 0, Slip), element(1, 0, Slip), element(1, 1, Stick)]),
            [
                (0, 0, "close"),
                (0, 0, "slip"),
                (1, 0, "slip"),
                (1, 1, "close"),
                (1, 1, "stick"),
                (2, 0, "open")
            ]
        );
        assert_eq!(step(&[element(0, 0, Open)]), [(0, 0, "open"), (1, 0, "open"), (1, 1, "open")]);
    }
}
