//! Contacts at an instant, trinkle1995 sections 2 and 3: possible accelerations and forces of a system in
//! contact.
//!
//! Symbols: `J = W'` maps velocities to relative velocities at the contacts (rows n, t(, o) contact by
//! contact), `M` the mass matrix, `c` the contact forces, `g + h` applied forces and velocity products, `q'`
//! velocities, `q''` accelerations (of trees: `v`, `v'`).
//!
//! ```text
//! M q'' = W c + g + h                         (2)
//! a = A c + b,  A = W' M^-1 W                 (21), (22)
//! b = W'. q' + W' M^-1 (g + h)                (23)
//! ```
//!
//! Links may be trees; joint efforts are part of `g`. For a contact whose points move at `x_s'` over bodies
//! with angular velocities `w_s`, and whose material there moves at `V_s` and, while `v` does not change,
//! accelerates by `a_s`,
//!
//! ```text
//! (W'. q')_n = n . u' + n' . (V_b - V_a)      (W'. q')_t = t . u'      u' = a_b + w_b x (x_b' - V_b) - a_a - w_a x (x_a' - V_a)
//! ```
//!
//! with `n'` and `x_s'` from the features that meet (`geometry/feature.rs`): `(W'. q')_n` is the second
//! derivative of the gap, and those along t and o are the rates of the slip along axes at rest.

use crate::contact::set::{Contact, ContactSet};
use crate::formulation::relative_row;
use crate::geometry::{Rates, Touch, Velocity, Workspace, feature};
use crate::inputs::Inputs;
use crate::model::Model;
use crate::model::Owner;
use crate::space::{Pose, Vector, add, cross, dot as dot3, length, sub};
use crate::state::State;
use crate::step::{Detection, Failed, Motion, detect, place};
use complementarity::matrix::{Matrix, dot};
use complementarity::problem::{Friction, FrictionProblem, InvalidProblem, Mode};

/// Relative velocities below this share of the velocities at a contact count as zero in (5), (6).
pub const VELOCITY_TOLERANCE: f64 = 1e-9;

/// Largest gap of a closed contact, m.
const CLOSED: f64 = 1e-9;

/// Why accelerations at an instant are not defined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidInstant {
    /// Bodies approach each other: an impact, (5) does not hold.
    #[error("contact {contact}: normal velocity {velocity} m/s, expected 0 or more (trinkle1995 (5))")]
    Approaching {
        /// Name of the contact.
        contact: String,
        /// Normal component of the relative velocity.
        velocity: f64,
    },
    /// A contact law or geometry for which accelerations at a point are not defined.
    #[error("contact {contact}: {expected}")]
    Contact {
        /// Name of the contact.
        contact: String,
        /// What would be possible instead.
        expected: &'static str,
    },
    /// A joint has limits or friction.
    #[error("{row}: expected joints without limits and friction")]
    Row {
        /// Name of the row.
        row: String,
    },
    /// Kinematics or mass matrix of the bodies cannot be computed.
    #[error(transparent)]
    State(#[from] Failed),
}

/// A system in contact at an instant, all contacts rigid.
#[derive(Debug, Clone)]
pub struct Instant {
    /// Jacobian `J`.
    pub(super) jacobian: Matrix,
    /// `M^-1 J'`, transposed.
    pub(super) mobility: Matrix,
    /// Free acceleration `M^-1 (g + h)`.
    pub(super) free: Vec<f64>,
    /// Velocity terms `W'. q'`.
    pub(super) velocity_product: Vec<f64>,
    /// Number of rows per contact: n, t(, o).
    pub(super) rows: usize,
    /// Relative velocity of each contact along n, t, o, and the size of the velocities at it, m/s.
    pub(super) relative: Vec<(Vector, f64)>,
    contacts: ContactSet,
    mu: Vec<f64>,
    sets: Vec<Friction>,
}

impl Instant {
    /// The system at a state under the loads, motors and inputs of that time, with the contacts that are
    /// closed and do not separate.
    pub fn at(model: &Model, state: &State, inputs: &Inputs) -> Result<Self, InvalidInstant> {
        if let Some(row) = model.standing().first() {
            return Err(InvalidInstant::Row { row: row.name(model.scene()) });
        }
        let mut motion = Motion::new(model);
        // in a step of length 1 the free velocity is v + M^-1 f
        place(model, state, inputs, 1.0, &mut motion)?;
        let free = motion.free.iter().zip(&motion.velocity).map(|(free, v)| free - v).collect();
        let (mut memory, mut contacts) = (Detection::default(), ContactSet::default());
        detect(model, &motion, CLOSED, &mut memory, &mut contacts);
        let mut instant = Self::new(model.contacts().linear_rows(), free);
        let mut workspace = Workspace::default();
        for c in std::mem::take(&mut contacts.contacts) {
            if c.count > 1 {
                let expected = "expected a point, not a patch: its elements deform";
                return Err(instant.refuse(model, &c, expected));
            }
            let point = contacts.elements[c.first].point;
            let ends = [0, 1].map(|k| End::new(model, &motion, &memory, &c, k, point));
            let velocity = c.frame.components(sub(ends[1].velocity, ends[0].velocity));
            let size = ends[0].size + ends[1].size;
            if velocity[0] < -VELOCITY_TOLERANCE * size {
                let contact = model.contact_name(c.id).unwrap_or_default();
                return Err(InvalidInstant::Approaching { contact, velocity: velocity[0] });
            }
            if velocity[0] > VELOCITY_TOLERANCE * size {
                continue;
            }
            let touch = Touch { point, normal: c.frame.n, gap: 0.0, feature: c.id.feature };
            let [a, b] = [c.id.part_a, c.id.part_b].map(|k| &model.parts()[k as usize]);
            let met = feature(&a.solid, &ends[0].pose, &b.solid, &ends[1].pose, &touch, &mut workspace);
            let expected = "expected features that touch with one normal between them";
            let met = met.ok_or_else(|| instant.refuse(model, &c, expected))?;
            let product = velocity_product(&c, &ends, &met.rates(&ends.map(|e| e.motion)));
            instant.velocity_product.extend_from_slice(&product[..instant.rows]);
            instant.relative.push((velocity, size));
            let rule = &model.contacts().rules()[c.rule];
            instant.mu.push(rule.friction);
            instant.sets.push(rule.set);
            let first = instant.contacts.elements.len();
            instant.contacts.elements.push(contacts.elements[c.first]);
            instant.contacts.contacts.push(Contact { first, ..c });
        }
        instant.fill(model, &motion);
        Ok(instant)
    }

    /// The system without contacts.
    pub(super) fn new(rows: usize, free: Vec<f64>) -> Self {
        Self {
            jacobian: Matrix::default(),
            mobility: Matrix::default(),
            free,
            velocity_product: vec![],
            rows,
            relative: vec![],
            contacts: ContactSet::default(),
            mu: vec![],
            sets: vec![],
        }
    }

    fn refuse(&self, model: &Model, c: &Contact, expected: &'static str) -> InvalidInstant {
        InvalidInstant::Contact { contact: model.contact_name(c.id).unwrap_or_default(), expected }
    }

    /// Computes `J` and `M^-1 J'` of the contacts.
    fn fill(&mut self, model: &Model, motion: &Motion) {
        let (rows, dofs) = (self.rows * self.contacts.contacts.len(), model.system().velocity_size());
        (self.jacobian, self.mobility) = (Matrix::zeros(rows, dofs), Matrix::zeros(rows, dofs));
        for (k, c) in self.contacts.contacts.iter().enumerate() {
            for (i, direction) in [c.frame.n, c.frame.t, c.frame.o].into_iter().enumerate().take(self.rows) {
                let (at, point) = (self.rows * k + i, self.contacts.elements[k].point);
                relative_row(&motion.kinematics, c, point, (direction, false), self.jacobian.row_mut(at));
                self.mobility.row_mut(at).copy_from_slice(self.jacobian.row(at));
                motion.mass.solve(self.mobility.row_mut(at));
            }
        }
    }

    /// Contacts in order of their ids; empty for an instant of free bodies ([`super::bodies`]).
    pub fn contacts(&self) -> &ContactSet {
        &self.contacts
    }

    /// Relative velocity of the material points at a contact, in n, t, o: (4).
    pub fn relative_velocity(&self, contact: usize) -> Vector {
        self.relative[contact].0
    }

    /// Whether each contact rolls or slides: (6) to [`VELOCITY_TOLERANCE`].
    pub fn modes(&self) -> Vec<Mode> {
        let mode = |&([_, t, o], size): &(Vector, f64)| {
            let slip = t.hypot(o);
            match slip <= VELOCITY_TOLERANCE * size {
                true => Mode::Rolling,
                false => Mode::Sliding { direction: [t / slip, o / slip] },
            }
        };
        self.relative.iter().map(mode).collect()
    }

    /// Jacobian `J = W'`: the relative velocity is `J q'`.
    pub fn jacobian(&self) -> &Matrix {
        &self.jacobian
    }

    /// `A` and `b` of (21)-(23), rows n, t(, o) contact by contact.
    pub fn system(&self) -> (Matrix, Vec<f64>) {
        let rows = self.jacobian.rows();
        let mut a = Matrix::zeros(rows, rows);
        for i in 0..rows {
            for k in 0..=i {
                let entry = dot(self.jacobian.row(k), self.mobility.row(i));
                a[(i, k)] = entry;
                a[(k, i)] = entry;
            }
        }
        let free = self.jacobian.times(&self.free);
        (a, free.iter().zip(&self.velocity_product).map(|(x, y)| x + y).collect())
    }

    /// The contact problem with the model's friction coefficients and friction sets, and the modes given by
    /// the velocities.
    pub fn problem(&self) -> Result<FrictionProblem, InvalidProblem> {
        self.problem_with(self.mu.clone(), Friction::Cone)?.with_frictions(self.sets.clone())
    }

    /// The contact problem for given coefficients and one friction set.
    pub fn problem_with(&self, mu: Vec<f64>, friction: Friction) -> Result<FrictionProblem, InvalidProblem> {
        let (a, b) = self.system();
        FrictionProblem::new(a, b, mu, self.rows, friction)?.with_modes(self.modes())
    }

    /// Accelerations `q''` under contact forces `c`: (19). `None` unless `c` has one entry per row.
    pub fn accelerations(&self, forces: &[f64]) -> Option<Vec<f64>> {
        let pushed = (forces.len() == self.jacobian.rows()).then(|| self.mobility.transpose_times(forces))?;
        Some(self.free.iter().zip(pushed).map(|(free, pushed)| free + pushed).collect())
    }
}

/// One of the two sides of a contact.
#[derive(Debug, Clone, Copy)]
struct End {
    /// Pose of its part, and the velocity of that pose.
    pose: Pose,
    motion: Velocity,
    /// Velocity of the material at the contact, and its acceleration while `v` does not change.
    velocity: Vector,
    acceleration: Vector,
    /// Size of the terms that are summed in `velocity`.
    size: f64,
}

impl End {
    fn new(model: &Model, motion: &Motion, memory: &Detection, c: &Contact, k: usize, point: Vector) -> Self {
        let part = [c.id.part_a, c.id.part_b][k] as usize;
        let (pose, kinematics) = (memory.pose(part), &motion.kinematics);
        let Owner::Body(link) = model.parts()[part].owner else {
            let still = [0.0; 3];
            return Self {
                pose,
                motion: Velocity::default(),
                velocity: still,
                acceleration: still,
                size: 0.0,
            };
        };
        let linear = kinematics.point_velocity(link, pose.position);
        let motion = Velocity { linear, angular: kinematics.angular_velocity(link) };
        let velocity = kinematics.point_velocity(link, point);
        let size = length(linear) + length(motion.angular) * length(sub(point, pose.position));
        Self { pose, motion, velocity, acceleration: kinematics.bias_acceleration(link, point).0, size }
    }
}

/// `W'. q'` of one contact, along n, t, o.
fn velocity_product(c: &Contact, [a, b]: &[End; 2], rates: &Rates) -> Vector {
    // rate of the velocity of the material under the moving point
    let under =
        |end: &End, point: Vector| add(end.acceleration, cross(end.motion.angular, sub(point, end.velocity)));
    let rate = sub(under(b, rates.points[1]), under(a, rates.points[0]));
    let [n, t, o] = c.frame.components(rate);
    [n + dot3(rates.normal, sub(b.velocity, a.velocity)), t, o]
}
