//! The equations of motion with compliant contacts, while no contact changes its mode.
//!
//! song2001 (7)-(18): with overlap `d = -phi_n` and relative velocity `(v_n, v_t)`,
//!
//! ```text
//! lambda_n = f_n(d) + g_n(d, d')                 d' = -v_n                                 (12), (13)
//! trial    = K_t delta_t - C_t v_t               what sticking needs                       (14), (15)
//! stick:   lambda_t = trial                      delta_t' = -v_t
//! slip:    lambda_t = mu lambda_n trial/|trial|  delta_t' = (lambda_t - K_t delta_t)/C_t   (16), (17)
//! smooth:  lambda_t = -mu lambda_n tanh(|v_t|/gamma) v_t/|v_t|                             (42)
//! ```
//!
//! In space the direction of `trial` replaces the sign in (17): the slip rate `v_t + delta_t' = (lambda_t - trial)/C_t` is opposite to it.
//! There `delta_t` also turns about the normal, at the mean angular velocity of the two bodies.
//! A contact is closed, parted (it overlaps, and its damper would pull) or open. Its *margins* are positive while its mode holds; a step that
//! makes one negative ends where it is zero.

use crate::contact::Patch;
use crate::contact::set::{Contact, ContactSet};
use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::integrate::Field;
use crate::model::{Model, Owner, StandingKind};
use crate::motion::{Motion, load, targets_at};
use crate::scene::FrictionKind;
use crate::space::{Vector, scale, sub};
use crate::state::ContactId;
use crate::step::detect::detect_pairs;
use crate::step::{Detection, Status, detect};

/// What a contact does until one of its margins is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// No overlap, no force.
    Open,
    /// Overlap without force: the damper would pull.
    Parted,
    /// Force.
    Closed {
        /// Whether it slips.
        slips: bool,
    },
}

/// Friction of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Friction {
    /// Coulomb's law on a tangential spring and damper.
    Coulomb { stiffness: f64, damping: f64 },
    /// (42) with `gamma`, m/s.
    Smooth(f64),
}

/// A contact that is near.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    pub id: ContactId,
    pub rule: usize,
    pub mode: Mode,
    /// Place of its tangential deformation in `y`; none if it is open or smooth.
    pub deformation: Option<usize>,
    /// Values of the last evaluation.
    pub now: Values,
    /// Energy of its normal spring when the step began, J; 0 for contacts that have closed since.
    pub kept: f64,
    /// Work of that spring on the bodies since then, J.
    pub worked: f64,
}

impl Point {
    /// An open contact.
    pub fn new(id: ContactId, rule: usize) -> Self {
        Self { id, rule, mode: Mode::Open, deformation: None, now: Values::default(), kept: 0.0, worked: 0.0 }
    }

    /// A contact that was taken to stick slips if its friction does not suffice.
    pub fn slip_if_it_must(&mut self) {
        if self.mode == (Mode::Closed { slips: false }) && self.now.margins[2] < 0.0 {
            self.mode = Mode::Closed { slips: true };
        }
    }
}

/// A contact at the last evaluation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Values {
    /// Whether it was detected; if not, nothing else is known.
    pub found: bool,
    pub overlap: f64,
    /// Force on the second body along n, t, o.
    pub force: Vector,
    /// Slip rate along t, o.
    pub slip: [f64; 2],
    pub velocity: Vector,
    /// Power of the normal spring on the bodies, W.
    pub power: f64,
    /// What is left of the mode: normal force, overlap or gap, friction; positive while it holds. Forces are in units of [`Equations::unit`].
    pub margins: [f64; 3],
}

/// Powers at the last evaluation, W.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Powers {
    pub damping: f64,
    pub friction: f64,
    pub work: f64,
}

/// The equations, and the memory of their evaluation.
#[derive(Debug)]
pub struct Equations<'a> {
    pub model: &'a Model,
    pub inputs: &'a Inputs,
    pub motion: &'a mut Motion,
    pub detection: &'a mut Detection,
    pub contacts: &'a mut ContactSet,
    pub points: &'a mut Vec<Point>,
    pub memory: &'a mut Buffers,
    /// Whether open contacts are looked for, too: they have no force, so that the integrator needs none of them.
    pub open_too: bool,
    /// Distance up to which contacts are detected, m.
    pub margin: f64,
    /// Force that counts as 1 in margins, N.
    pub unit: f64,
    pub powers: Powers,
    /// Deepest overlap of a contact that is not among the points, m; 0 without.
    pub unknown: f64,
}

/// Memory of [`Equations`].
#[derive(Debug, Clone, Default)]
pub struct Buffers {
    force: Vec<f64>,
    outside: Vec<f64>,
    row: Vec<f64>,
    /// Group of each tree.
    trees: Vec<usize>,
}

impl Equations<'_> {
    /// Sizes of `q` and `v`.
    pub fn sizes(&self) -> (usize, usize) {
        (self.model.system().configuration_size(), self.model.system().velocity_size())
    }

    /// Number of tangential directions.
    pub fn tangents(&self) -> usize {
        self.model.contacts().linear_rows() - 1
    }

    /// The mode that a contact has by the last evaluation, slip aside.
    pub fn mode_now(&self, k: usize) -> Mode {
        let Point { rule, now: Values { found, overlap, velocity, .. }, .. } = self.points[k];
        match () {
            () if !found || overlap <= 0.0 => Mode::Open,
            () if self.patch(rule).normal_force(overlap, -velocity[0]) < 0.0 => Mode::Parted,
            () => Mode::Closed { slips: false },
        }
    }

    fn patch(&self, rule: usize) -> &Patch {
        // the model's check admits no rigid contacts
        self.model.contacts().rules()[rule].patch().unwrap_or_else(|| unreachable!())
    }

    fn friction(&self, rule: usize) -> Friction {
        match self.model.contacts().rules()[rule].given.friction_set {
            FrictionKind::Smooth { velocity } => Friction::Smooth(velocity),
            _ => {
                let [stiffness, damping] = self.patch(rule).tangential();
                Friction::Coulomb { stiffness, damping }
            }
        }
    }

    /// Whether a contact has a deformation among the variables.
    pub fn has_deformation(&self, rule: usize) -> bool {
        matches!(self.friction(rule), Friction::Coulomb { .. })
            && self.model.contacts().rules()[rule].friction > 0.0
    }

    /// Whether a contact sticks or slips, or is open.
    pub fn status(&self, point: &Point) -> Status {
        match (point.mode, self.friction(point.rule)) {
            (Mode::Closed { .. }, Friction::Smooth(gamma)) => {
                let [_, t, o] = point.now.velocity;
                if t.hypot(o) <= gamma { Status::Stick } else { Status::Slip }
            }
            (Mode::Closed { slips: false }, _) if self.has_deformation(point.rule) => Status::Stick,
            (Mode::Closed { .. }, _) => Status::Slip,
            _ => Status::Open,
        }
    }

    /// Deformation of a contact along n, t, o.
    pub fn deformation(&self, point: &Point, y: &[f64]) -> Vector {
        let mut delta = [point.now.overlap.max(0.0), 0.0, 0.0];
        if let Some(at) = point.deformation {
            delta[1..=self.tangents()].copy_from_slice(&y[at..at + self.tangents()]);
        }
        delta
    }

    /// Elastic energy of a contact, J.
    pub fn elastic(&self, point: &Point, y: &[f64]) -> f64 {
        self.patch(point.rule).elastic_energy(&self.deformation(point, y)[..=self.tangents()])
    }

    /// Energy of a contact's normal spring, J.
    pub fn pressed(&self, point: &Point) -> f64 {
        self.patch(point.rule).elastic_energy(&[point.now.overlap.max(0.0), 0.0, 0.0][..=self.tangents()])
    }

    /// Force of one contact, its margins, the rate of its deformation and its powers.
    fn contact(&mut self, k: usize, c: &Contact, y: &[f64], out: &mut [f64]) {
        let (element, tangents) = (self.contacts.elements[c.first], self.tangents());
        let kinematics = &self.motion.kinematics;
        let [a, b] = c.owners.map(|owner| velocity(kinematics, owner, element.point));
        let mut v = c.frame.components(sub(b, a));
        v[tangents + 1..].fill(0.0);
        let point = self.points[k];
        let (overlap, rate) = (-element.gap, -v[0]);
        let mut now = Values { found: true, overlap, velocity: v, ..Values::default() };
        if point.mode == Mode::Open {
            now.margins = [f64::INFINITY, -overlap, f64::INFINITY];
            self.points[k].now = now;
            return;
        }
        let patch = self.patch(point.rule);
        let raw = patch.normal_force(overlap, rate);
        let elastic = patch.normal_force(overlap, 0.0);
        let closed = matches!(point.mode, Mode::Closed { .. });
        let normal = if closed { raw } else { 0.0 };
        now.force[0] = normal;
        now.power = elastic * v[0];
        now.margins = [if closed { raw } else { -raw } / self.unit, overlap, f64::INFINITY];
        self.powers.damping += (normal - elastic) * rate;
        let most = self.model.contacts().rules()[point.rule].friction * normal;
        match (self.friction(point.rule), point.deformation) {
            (Friction::Smooth(gamma), _) => {
                let size = v[1].hypot(v[2]);
                // tanh(x)/x is 1 at 0
                let over = if size > 1e-8 * gamma { (size / gamma).tanh() / size } else { 1.0 / gamma };
                (now.force[1], now.force[2]) = (-most * over * v[1], -most * over * v[2]);
                now.slip = [v[1], v[2]];
            }
            (Friction::Coulomb { stiffness, damping }, Some(at)) => {
                let mut delta = [0.0; 2];
                delta[..tangents].copy_from_slice(&y[at..at + tangents]);
                let trial = [0, 1].map(|i| stiffness * delta[i] - damping * v[i + 1]);
                let size = trial[0].hypot(trial[1]);
                let slips = !matches!(point.mode, Mode::Closed { slips: false });
                let share = if slips && size > 0.0 { most / size } else { 1.0 };
                // springs turn with the materials
                let turn = if tangents == 2 { self.motion.spin(c.owners, c.frame.n) } else { 0.0 };
                let along = [-turn * delta[1], turn * delta[0]];
                for i in 0..tangents {
                    let force = share * trial[i];
                    let rate = match slips {
                        true => (force - stiffness * delta[i]) / damping,
                        false => -v[i + 1],
                    };
                    (now.force[i + 1], now.slip[i], out[at + i]) = (force, v[i + 1] + rate, rate + along[i]);
                    self.powers.damping += (force - stiffness * delta[i]) * rate;
                }
                if closed {
                    now.margins[2] = if slips { size - most } else { most - size } / self.unit;
                }
            }
            (Friction::Coulomb { .. }, None) => now.slip = [v[1], v[2]],
        }
        self.powers.friction -= now.force[1] * now.slip[0] + now.force[2] * now.slip[1];
        self.points[k].now = now;
        let force = c.frame.world(now.force);
        for (owner, sign) in [(c.owners[0], -1.0), (c.owners[1], 1.0)] {
            if let Owner::Body(body) = owner {
                let kinematics = &self.motion.kinematics;
                kinematics.add_wrench(
                    body,
                    element.point,
                    scale(sign, force),
                    [0.0; 3],
                    &mut self.memory.force,
                );
            }
        }
    }

    /// Applied forces, and the power of those from outside.
    fn applied(&mut self, t: f64, v: &[f64]) {
        let Self { model, inputs, motion, memory: Buffers { force, outside, .. }, .. } = self;
        for x in [&mut *force, &mut *outside] {
            x.clear();
            x.resize(v.len(), 0.0);
        }
        motion.kinematics.bias(model.scene().gravity, force);
        load::add_springs(model.scene(), &motion.kinematics, force);
        load::add_outside(model.scene(), &motion.kinematics, inputs, t, outside);
        force.iter_mut().zip(&*outside).for_each(|(f, outside)| *f += outside);
        self.powers.work = outside.iter().zip(v).map(|(f, v)| f * v).sum();
    }

    /// Forces of springs, dampers and servos of joints, compliant limits, gears and loops, and their powers.
    fn standing(&mut self, t: f64, (q, v): (&[f64], &[f64])) {
        let Self { model, inputs, motion, memory: Buffers { force, row: own, .. }, powers, .. } = self;
        if model.standing().is_empty() {
            return;
        }
        targets_at(model, inputs, t, &mut motion.targets);
        let scene = model.scene();
        for row in model.standing() {
            own.clear();
            own.resize(v.len(), 0.0);
            row.add_row(scene, &motion.kinematics, own);
            let velocity: f64 = own.iter().zip(v).map(|(j, v)| j * v).sum();
            let gap = row.gap(scene, &motion.kinematics, q, &motion.targets);
            let slip = velocity - row.drive_velocity(scene, &motion.targets);
            // the model's check admits no rigid rows
            let Some(pushed) = row.compliant_force(gap, slip) else { continue };
            force.iter_mut().zip(&*own).for_each(|(f, j)| *f += pushed * j);
            match row.kind {
                StandingKind::Drive(_) => powers.work += pushed * velocity,
                _ => powers.damping += row.damping_power(gap.unwrap_or(0.0), velocity, pushed),
            }
        }
    }
}

impl Field for Equations<'_> {
    fn rate(&mut self, t: f64, y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let (nq, nv) = self.sizes();
        let (q, v) = (&y[..nq], &y[nq..nq + nv]);
        self.motion.kinematics.go_to(q, v);
        if !y.iter().all(|y| y.is_finite()) || self.motion.mass.go_to(&self.motion.kinematics).is_err() {
            out.fill(f64::NAN);
            return;
        }
        self.powers = Powers::default();
        self.applied(t, v);
        self.standing(t, (q, v));
        let Self { model, motion, detection, contacts, points, margin, .. } = self;
        let found = if self.open_too {
            detect(model, motion, *margin, detection, contacts)
        } else {
            let mut last = None;
            let touching = points.iter().filter(|p| p.mode != Mode::Open);
            let pairs = touching.map(|p| ((p.id.part_a, p.id.part_b), p.rule));
            let pairs = pairs.filter(|pair| last.replace(pair.0) != Some(pair.0));
            detect_pairs(model, motion, *margin, pairs, detection, contacts)
        };
        if found.is_err() {
            out.fill(f64::NAN);
            return;
        }
        for point in &mut *self.points {
            let margins = match point.mode {
                Mode::Open => [f64::INFINITY; 3],
                // it is no longer detected, though it has not opened
                _ => [f64::INFINITY, -1.0, f64::INFINITY],
            };
            point.now = Values { margins, ..Values::default() };
        }
        self.unknown = 0.0;
        for i in 0..self.contacts.contacts.len() {
            let c = self.contacts.contacts[i];
            match self.points.binary_search_by_key(&c.id, |p| p.id) {
                Ok(k) => self.contact(k, &c, y, out),
                Err(_) => self.unknown = self.unknown.max(-self.contacts.elements[c.first].gap),
            }
        }
        self.motion.mass.solve(&mut self.memory.force);
        self.model.system().rate(q, v, &mut out[..nq]);
        out[nq..nq + nv].copy_from_slice(&self.memory.force);
    }

    /// Trees that contacts, springs, loops or gears connect.
    fn groups(&mut self, labels: &mut [usize]) {
        let Self { model, points, memory: Buffers { trees, .. }, .. } = self;
        let (system, scene, nq) = (model.system(), model.scene(), model.system().configuration_size());
        let tangents = model.contacts().linear_rows() - 1;
        trees.clear();
        trees.extend(0..system.trees().len());
        let part = |k: u32| match model.parts()[k as usize].owner {
            Owner::Body(body) => Some(body),
            Owner::World(_) => None,
        };
        let touch = points.iter().filter(|p| p.mode != Mode::Open);
        let touch = touch.map(|p| [part(p.id.part_a), part(p.id.part_b)]);
        let springs = scene.springs.iter().map(|s| s.ends.map(|end| end.body));
        let loops = scene.loops.iter().map(|l| l.ends.map(|end| end.body));
        let gears = scene.gears.iter().map(|g| g.bodies.map(Some));
        for pair in touch.chain(springs).chain(loops).chain(gears) {
            if let [Some(a), Some(b)] = pair.map(|body| body.and_then(|b| system.tree_of(b))) {
                let [a, b] = [trees[a], trees[b]];
                trees.iter_mut().filter(|t| **t == b).for_each(|t| *t = a);
            }
        }
        for body in 0..scene.bodies.len() {
            let Some(tree) = system.tree_of(body) else { continue };
            labels[system.coordinates(body)].fill(trees[tree]);
            labels[nq..][system.dofs(body)].fill(trees[tree]);
        }
        for p in points.iter() {
            let Some(at) = p.deformation else { continue };
            let body = part(p.id.part_a).into_iter().chain(part(p.id.part_b)).find_map(|b| system.tree_of(b));
            labels[at..at + tangents].fill(body.map_or(0, |tree| trees[tree]));
        }
    }
}

/// Velocity of a body's or world part's material at a point.
fn velocity(kinematics: &Kinematics, owner: Owner, point: Vector) -> Vector {
    match owner {
        Owner::Body(i) => kinematics.point_velocity(i, point),
        Owner::World(_) => [0.0; 3],
    }
}
