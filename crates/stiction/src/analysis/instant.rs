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
//! The rows of torsion and rolling friction have `(W'. q')_r = n . (w_b' - w_a') + n' . (w_b - w_a)`, and without the last term about t
//! and o. Joints whose acceleration is given (2.5) have an unknown effort instead: with `p` those joints and `u` all others,
//!
//! ```text
//! M_uu q''_u = W_u c + (g + h)_u - M_up q''_p      tau_p = (M q'')_p - (g + h)_p - (W c)_p
//! ```
//!
//! so that `M_uu^-1` stands for `M^-1` above, and `W_p' q''_p` is part of `b`.
//!
//! `n'` and `x_s'` are from the features that meet (`geometry/feature.rs`): `(W'. q')_n` is the second
//! derivative of the gap, and those along t and o are the rates of the slip along axes at rest.

use super::ends::{End, angular_product, velocity_product};
pub use super::given::Given;
use super::prescribed::Prescribed;
use crate::contact::set::{Contact, ContactSet};
use crate::dynamics::MassMatrix;
use crate::formulation::relative_row;
use crate::geometry::{Touch, Workspace, feature};
use crate::inputs::Inputs;
use crate::model::{Model, Owner, Scale, StandingKind};
use crate::motion::{Motion, fall, place, targets_at};
use crate::scene::FrictionKind;
use crate::space::{Vector, length, sub};
use crate::state::State;
use crate::step::detect::detect_share;
use crate::step::{Detection, Failed, detect};
use complementarity::matrix::{Matrix, dot, norm};
use complementarity::problem::{
    Element, Friction, FrictionProblem, Group, InstantProblem, InvalidProblem, Mode,
};

/// Relative velocities below this share of the velocities at a contact count as zero in (5), (6).
pub const VELOCITY_TOLERANCE: f64 = 1e-9;

/// Relative accelerations below this share of the terms summed in them are zero.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Why accelerations at an instant are not defined.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidInstant {
    /// Bodies approach each other: an impact, (5) does not hold.
    #[error("contact {contact}: normal velocity {velocity} m/s, expected 0 or more (trinkle1995 (5))")]
    Approaching {
        /// Name of the contact or joint limit.
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
    /// A row that is not a contact and has no meaning at an instant.
    #[error(
        "{row}: expected a row whose acceleration is known: that of a drive that prescribes a motion is not (give its joint's acceleration instead)"
    )]
    Row {
        /// Name of the row.
        row: String,
    },
    /// A degree of freedom whose acceleration is given does not exist, is given twice, or is not finite.
    #[error("degree of freedom {dof}: acceleration {value}, expected a finite one, once for each of {count}")]
    Prescribed {
        /// Degree of freedom in `v`.
        dof: usize,
        /// Acceleration given.
        value: f64,
        /// Number of degrees of freedom.
        count: usize,
    },
    /// Kinematics or mass matrix of the bodies cannot be computed.
    #[error(transparent)]
    State(#[from] Failed),
}

/// Relative motion at a contact.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Slip {
    /// Relative velocity along n, t, o, m/s.
    pub velocity: Vector,
    /// Relative angular velocity about n, t, o, rad/s.
    pub angular: Vector,
    /// Size of the velocities at the contact, m/s, and of the angular velocities, rad/s.
    pub size: f64,
    pub turning: f64,
    /// Relative velocities up to this count as zero, m/s, beside [`VELOCITY_TOLERANCE`] of the size.
    pub rest: f64,
}

/// A standing row at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RowAt {
    /// Its gap, m or rad; 0 where it has none.
    pub gap: f64,
    /// Its velocity `J v`, m/s or rad/s.
    pub velocity: f64,
    /// Force of a compliant row, N or N m; 0 of others.
    pub force: f64,
}

/// A system in contact at an instant, all contacts rigid.
#[derive(Debug, Clone)]
pub struct Instant {
    /// Jacobian `J`.
    pub(super) jacobian: Matrix,
    /// `M^-1 J'`, transposed; zero for joints whose acceleration is given.
    pub(super) mobility: Matrix,
    /// Free acceleration `M^-1 (g + h)`, or the given one.
    pub(super) free: Vec<f64>,
    /// Velocity terms `W'. q'`.
    pub(super) velocity_product: Vec<f64>,
    /// Number of rows per contact along n, t(, o).
    pub(super) rows: usize,
    /// First row of each contact, and the number of their rows.
    pub(super) offsets: Vec<usize>,
    /// Relative motion of each contact.
    pub(super) relative: Vec<Slip>,
    contacts: ContactSet,
    elements: Vec<Element>,
    /// Velocity `gamma` of contacts with smooth friction (song2001 (42)).
    smooth: Vec<Option<f64>>,
    /// Standing rows after those of contacts, as indices into [`Model::standing`].
    standing: Vec<(usize, Element)>,
    /// All standing rows of the model.
    rows_at: Vec<RowAt>,
    /// Applied forces `g`, and velocity products `h`.
    pub(super) applied: Vec<f64>,
    pub(super) products: Vec<f64>,
    /// The part of `g` that does work from outside: loads, motors, dampers of springs, inputs.
    outside: Vec<f64>,
    mass: Option<MassMatrix>,
    given: Vec<(usize, f64)>,
}

impl Instant {
    /// The system at a state under the loads, motors and inputs of that time, with the contacts that are
    /// closed and do not separate.
    pub fn at(model: &Model, state: &State, inputs: &Inputs) -> Result<Self, InvalidInstant> {
        Self::with(model, state, &Given { inputs: inputs.clone(), ..Given::default() })
    }

    /// The same, with more given than inputs.
    pub fn with(model: &Model, state: &State, given: &Given) -> Result<Self, InvalidInstant> {
        let mut motion = Motion::new(model);
        place(model, state, &given.inputs, 1.0, &mut motion).map_err(Failed::from)?;
        targets_at(model, &given.inputs, state.time, &mut motion.targets);
        let (mut memory, mut contacts) = (Detection::default(), ContactSet::default());
        let find = if given.scaled { detect_share } else { detect };
        find(model, &motion, given.gap, &mut memory, &mut contacts).map_err(Failed::from)?;
        let bodies = |c: &Contact| c.owners.into_iter().filter_map(Owner::body);
        contacts.contacts.retain(|c| given.includes(model, bodies(c)));
        let mut instant = Self::new(model.contacts().linear_rows(), vec![]);
        instant.given.clone_from(&given.accelerations);
        let mut workspace = Workspace::default();
        for c in std::mem::take(&mut contacts.contacts) {
            let rule = &model.contacts().rules()[c.rule];
            if c.count > 1 {
                let expected = "expected a point, not a patch: its elements deform";
                return Err(instant.refuse(model, &c, expected));
            }
            if rule.compliance.is_some() && !given.rigid {
                let expected =
                    "expected a rigid contact: the force of a compliant one follows from its deformation";
                return Err(instant.refuse(model, &c, expected));
            }
            let point = contacts.elements[c.first].point;
            let ends = [0, 1].map(|k| End::new(model, &motion, &memory, &c, k, point));
            let scale = if given.scaled { model.scales().contact(c.owners, point).speed } else { 1.0 };
            let slip = Slip {
                rest: scale * given.velocity,
                velocity: c.frame.components(sub(ends[1].velocity, ends[0].velocity)),
                angular: c.frame.components(sub(ends[1].motion.angular, ends[0].motion.angular)),
                size: ends[0].size + ends[1].size,
                turning: length(ends[0].motion.angular) + length(ends[1].motion.angular),
            };
            let velocity = slip.velocity[0];
            let rest = (VELOCITY_TOLERANCE + given.step * slip.turning) * slip.size + slip.rest;
            let gap = contacts.elements[c.first].gap;
            let deformed = given.deformed && rule.compliance.is_some() && gap < 0.0;
            if velocity < -rest && !deformed {
                let contact = model.contact_name(c.id).unwrap_or_default();
                return Err(InvalidInstant::Approaching { contact, velocity });
            }
            if velocity > rest && !deformed {
                continue;
            }
            let touch = Touch { point, normal: c.frame.n, gap: 0.0, feature: c.id.feature };
            let [a, b] = [c.id.part_a, c.id.part_b].map(|k| &model.parts()[k as usize]);
            let mut meet = |touch: &Touch| {
                feature(&a.solid, &ends[0].pose, &b.solid, &ends[1].pose, touch, &mut workspace)
            };
            let expected = "expected features that touch with one normal between them";
            let apart = Touch { point: c.middle(&contacts.elements[c.first]), gap, ..touch };
            let met = meet(&touch).or_else(|| meet(&apart));
            let met = met.ok_or_else(|| instant.refuse(model, &c, expected))?;
            let rates = met.rates(&ends.map(|e| e.motion));
            let product = velocity_product(&c, &ends, &rates);
            instant.velocity_product.extend_from_slice(&product[..instant.rows]);
            if rule.rows > instant.rows {
                let turned = angular_product(&c, &ends, &rates);
                instant.velocity_product.extend_from_slice(&turned[..rule.rows - instant.rows]);
            }
            instant.relative.push(slip);
            instant.elements.push(rule.element);
            instant.smooth.push(match rule.given.friction_set {
                FrictionKind::Smooth { velocity } => Some(velocity),
                _ => None,
            });
            instant.offsets.push(instant.velocity_product.len());
            let first = instant.contacts.elements.len();
            instant.contacts.elements.push(contacts.elements[c.first]);
            instant.contacts.contacts.push(Contact { first, ..c });
        }
        instant.load(model, state, &given.inputs, &mut motion);
        instant.stand(model, state, given, &motion)?;
        let prescribed = Prescribed::new(model.system(), &motion.mass, &given.accelerations)?;
        instant.fill(model, &motion, &prescribed);
        let mut free: Vec<f64> = instant.applied.iter().zip(&instant.products).map(|(g, h)| g + h).collect();
        prescribed.accelerate(&motion.mass, &mut free);
        for i in (0..model.scene().bodies.len()).filter(|i| !given.includes(model, std::iter::once(*i))) {
            free[model.system().dofs(i)].fill(0.0);
        }
        instant.free = free;
        instant.mass = Some(motion.mass);
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
            offsets: vec![0],
            relative: vec![],
            contacts: ContactSet::default(),
            elements: vec![],
            smooth: vec![],
            standing: vec![],
            rows_at: vec![],
            applied: vec![],
            products: vec![],
            outside: vec![],
            mass: None,
            given: vec![],
        }
    }

    fn refuse(&self, model: &Model, c: &Contact, expected: &'static str) -> InvalidInstant {
        InvalidInstant::Contact { contact: model.contact_name(c.id).unwrap_or_default(), expected }
    }

    /// Applied forces `g` and velocity products `h`.
    fn load(&mut self, model: &Model, state: &State, inputs: &Inputs, motion: &mut Motion) {
        let size = model.system().velocity_size();
        (self.applied, self.products) = (vec![0.0; size], vec![0.0; size]);
        let (gravity, mut weight) = (model.scene().gravity, vec![0.0; size]);
        motion.kinematics.bias(gravity, &mut self.products);
        motion.kinematics.weight(gravity, &mut weight);
        self.products.iter_mut().zip(&weight).for_each(|(h, w)| *h -= w);
        let Motion { kinematics, outside, .. } = motion;
        fall(model, inputs, kinematics, state.time, outside, &mut self.applied);
        self.outside.clone_from(outside);
    }

    /// Standing rows: limits and ropes that are reached, friction of joints at rest, rigid gears and loops are rows; friction of moving joints,
    /// springs, servos and other compliant rows are known efforts.
    fn stand(
        &mut self,
        model: &Model,
        state: &State,
        given: &Given,
        motion: &Motion,
    ) -> Result<(), InvalidInstant> {
        let (scene, kinematics) = (model.scene(), &motion.kinematics);
        let mut own = vec![0.0; state.velocity.len()];
        for (index, row) in model.standing().iter().enumerate() {
            own.fill(0.0);
            row.add_row(scene, kinematics, &mut own);
            let velocity = dot(&own, &state.velocity);
            let fastest = own.iter().zip(&state.velocity).map(|(j, v)| (j * v).abs()).sum::<f64>();
            let scale = match given.scaled {
                true => row.scale(model, &state.position),
                false => Scale::default(),
            };
            let rest = VELOCITY_TOLERANCE * fastest + given.velocity * scale.speed;
            let gap = row.gap(scene, kinematics, &state.position, &motion.targets);
            let drive = row.drive_velocity(scene, &motion.targets);
            self.rows_at.push(RowAt { gap: gap.unwrap_or(0.0), velocity, force: 0.0 });
            let prescribed = |dof: usize| given.accelerations.iter().any(|(other, _)| *other == dof);
            if row.joint.is_some_and(|j| prescribed(j.dof)) {
                continue;
            }
            let push = |applied: &mut [f64], effort: f64| {
                applied.iter_mut().zip(&own).for_each(|(f, j)| *f += effort * j);
            };
            if let Some(force) = row.compliant_force(gap, velocity - drive) {
                self.rows_at[index].force = force;
                push(&mut self.applied, force);
                continue;
            }
            let takes_part = given.includes(model, row.bodies(scene));
            match (row.kind, row.element) {
                (_, Element::Unilateral) if !takes_part => continue,
                (_, Element::Unilateral) => {
                    let closed = gap.is_some_and(|gap| gap <= given.gap * scale.length);
                    if closed && velocity < -rest {
                        let contact = row.name(scene);
                        return Err(InvalidInstant::Approaching { contact, velocity });
                    }
                    if !closed || velocity > rest {
                        continue;
                    }
                }
                (StandingKind::Friction(_), Element::Bounded { limit }) if velocity.abs() > rest => {
                    push(&mut self.applied, -limit.copysign(velocity));
                    continue;
                }
                (StandingKind::Friction(_) | StandingKind::Gear(_) | StandingKind::Loop { .. }, _) => {}
                _ => return Err(InvalidInstant::Row { row: row.name(scene) }),
            }
            if !takes_part {
                continue;
            }
            self.standing.push((index, row.element));
            self.velocity_product.push(match row.kind {
                StandingKind::Loop { index, row } => scene.loops[index].velocity_product(kinematics, row),
                _ => 0.0,
            });
        }
        Ok(())
    }

    /// Computes `J` and `M^-1 J'` of contacts and standing rows.
    fn fill(&mut self, model: &Model, motion: &Motion, prescribed: &Prescribed) {
        let (rows, dofs) = (self.velocity_product.len(), model.system().velocity_size());
        (self.jacobian, self.mobility) = (Matrix::zeros(rows, dofs), Matrix::zeros(rows, dofs));
        for (k, c) in self.contacts.contacts.iter().enumerate() {
            let axes = [c.frame.n, c.frame.t, c.frame.o];
            let linear = axes.iter().take(self.rows).map(|d| (*d, false));
            let along = linear.chain(axes.iter().map(|d| (*d, true)));
            for (at, along) in (self.offsets[k]..self.offsets[k + 1]).zip(along) {
                let point = self.contacts.elements[k].point;
                relative_row(&motion.kinematics, c, point, along, self.jacobian.row_mut(at));
            }
        }
        let first = self.offsets[self.contacts.contacts.len()];
        for (k, (index, _)) in self.standing.iter().enumerate() {
            let row = self.jacobian.row_mut(first + k);
            model.standing()[*index].add_row(model.scene(), &motion.kinematics, row);
        }
        for at in 0..rows {
            self.mobility.row_mut(at).copy_from_slice(self.jacobian.row(at));
            prescribed.solve(&motion.mass, self.mobility.row_mut(at));
        }
    }

    /// Contacts in order of their ids; empty for an instant of free bodies ([`super::bodies`]).
    pub fn contacts(&self) -> &ContactSet {
        &self.contacts
    }

    /// Standing rows that take part, as indices into [`Model::standing`]: limits that are reached, friction of joints at rest. Their
    /// rows follow those of contacts.
    pub fn standing(&self) -> impl Iterator<Item = usize> {
        self.standing.iter().map(|(index, _)| *index)
    }

    /// A standing row of the model, whether it takes part or not.
    pub fn row_at(&self, index: usize) -> RowAt {
        self.rows_at[index]
    }

    /// First row of each contact, and the number of their rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Relative velocity of the material points at a contact, in n, t, o: (4).
    pub fn relative_velocity(&self, contact: usize) -> Vector {
        self.relative[contact].velocity
    }

    /// Velocity `gamma` of a contact with smooth friction, m/s.
    pub fn smooth(&self, contact: usize) -> Option<f64> {
        self.smooth[contact]
    }

    /// Relative angular velocity at a contact, about n, t, o.
    pub fn relative_spin(&self, contact: usize) -> Vector {
        self.relative[contact].angular
    }

    /// Whether each contact rolls or slides: (6) to [`VELOCITY_TOLERANCE`].
    pub fn modes(&self) -> Vec<Mode> {
        let mode = |slip: &Slip| {
            let [_, t, o] = slip.velocity;
            let speed = t.hypot(o);
            match speed <= VELOCITY_TOLERANCE * slip.size + slip.rest {
                true => Mode::Rolling,
                false => Mode::Sliding { direction: [t / speed, o / speed] },
            }
        };
        self.relative.iter().map(mode).collect()
    }

    /// Jacobian `J = W'`: the relative velocity is `J q'`.
    pub fn jacobian(&self) -> &Matrix {
        &self.jacobian
    }

    /// `M^-1 J'`, transposed; zero for joints whose acceleration is given.
    pub fn mobility(&self) -> &Matrix {
        &self.mobility
    }

    /// Power of loads, motors, dampers of springs and inputs at velocities `v`, W.
    pub fn outside_power(&self, v: &[f64]) -> f64 {
        dot(&self.outside, v)
    }

    /// Applied forces `g`: weight, loads, springs, motors, inputs, friction of moving joints; over the degrees of freedom.
    pub fn applied(&self) -> &[f64] {
        &self.applied
    }

    /// Degrees of freedom whose acceleration is given, with it.
    pub fn given(&self) -> &[(usize, f64)] {
        &self.given
    }

    /// `A` and `b` of (21)-(23), rows n, t(, o) contact by contact, then standing rows.
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
        let entry = |i: usize| {
            let x = free[i] + self.velocity_product[i];
            // a normal that is off by rounding must not make a load of its own
            if x.abs() <= ROUNDING * self.loads_at(i) { 0.0 } else { x }
        };
        (a, (0..rows).map(entry).collect())
    }

    /// Largest acceleration that a load of one degree of freedom could give a row whose directions are those of its contact.
    fn loads_at(&self, row: usize) -> f64 {
        let at = self.offsets.partition_point(|o| *o <= row);
        let own = if at < self.offsets.len() { self.offsets[at - 1]..self.offsets[at] } else { row..row + 1 };
        let lever = |k: usize| own.clone().fold(0.0f64, |m, j| m.max(self.jacobian[(j, k)].abs()));
        self.free.iter().enumerate().fold(0.0f64, |m, (k, x)| m.max(x.abs() * lever(k)))
    }

    /// The contact problem with the model's friction coefficients and friction sets, and the modes given by
    /// the velocities.
    pub fn problem(&self) -> Result<FrictionProblem, InvalidProblem> {
        let (a, b) = self.system();
        let standing = self.standing.iter().map(|(_, element)| *element);
        let elements = self.elements.iter().copied().chain(standing).collect();
        FrictionProblem::from_elements(a, b, elements)?.with_modes(self.modes())
    }

    /// The contact problem for given coefficients and one friction set, of contacts without moments alone.
    pub fn problem_with(&self, mu: Vec<f64>, friction: Friction) -> Result<FrictionProblem, InvalidProblem> {
        let (a, b) = self.system();
        FrictionProblem::new(a, b, mu, self.rows, friction)?.with_modes(self.modes())
    }

    /// Laws of contacts and standing rows: contacts roll or slide by their velocities, those with torsion or rolling friction in
    /// all their directions together. The friction of a sliding contact is the admissible one that dissipates the most:
    /// `c_k = -mu c_n e_k^2 s_k / |e s|`. With smooth friction every contact slides, its friction times `tanh(|s|/gamma)`: the
    /// rigid problem with song2001 (41).
    pub fn groups(&self) -> Vec<Group> {
        let contact = |((element, slip), smooth): ((&Element, &Slip), &Option<f64>)| {
            let (mu, rows) = (element.mu(), element.rows());
            let axes = element.as_contact().map_or(vec![], |c| c.axes[..rows - 1].to_vec());
            let [_, t, o] = slip.velocity;
            let moving: Vec<f64> = match self.rows {
                2 => vec![t],
                _ => [t, o].into_iter().chain(slip.angular).take(rows - 1).collect(),
            };
            let scaled: Vec<f64> = moving.iter().zip(&axes).map(|(s, e)| s * e).collect();
            let lengths = axes.iter().skip(2).fold(0.0f64, |m, e| m.max(*e));
            let size = slip.size + lengths * slip.turning;
            let speed = norm(&scaled);
            if let Some(gamma) = smooth {
                // tanh(x)/x is 1 at 0
                let over = if speed > 1e-8 * gamma { (speed / gamma).tanh() / speed } else { 1.0 / gamma };
                let friction = scaled.iter().zip(&axes).map(|(s, e)| -mu * e * s * over);
                return Group::Sliding { ray: std::iter::once(1.0).chain(friction).collect() };
            }
            if mu == 0.0 || speed <= VELOCITY_TOLERANCE * size + slip.rest {
                return Group::Rolling { mu, axes };
            }
            let friction = scaled.iter().zip(&axes).map(|(s, e)| -mu * e * s / speed);
            Group::Sliding { ray: std::iter::once(1.0).chain(friction).collect() }
        };
        let standing = self.standing.iter().map(|(_, element)| match element {
            Element::Bounded { limit } => Group::Bounded { limit: *limit },
            Element::Bilateral => Group::Bilateral,
            _ => Group::Unilateral,
        });
        self.elements.iter().zip(&self.relative).zip(&self.smooth).map(contact).chain(standing).collect()
    }

    /// Friction coefficient of each group of rows; 0 where it has none.
    pub fn mu(&self) -> Vec<f64> {
        self.elements.iter().map(Element::mu).chain(self.standing.iter().map(|_| 0.0)).collect()
    }

    /// The problem (24)-(35) of contacts that roll or slide, soft fingers included, and standing rows.
    pub fn instant_problem(&self) -> Result<InstantProblem, InvalidProblem> {
        let (a, b) = self.system();
        InstantProblem::new(a, b, self.groups())
    }

    /// Accelerations `q''` under contact forces `c`: (19). `None` unless `c` has one entry per row.
    pub fn accelerations(&self, forces: &[f64]) -> Option<Vec<f64>> {
        let pushed = (forces.len() == self.jacobian.rows()).then(|| self.mobility.transpose_times(forces))?;
        Some(self.free.iter().zip(pushed).map(|(free, pushed)| free + pushed).collect())
    }

    /// Efforts of the joints whose accelerations are given, beside the applied ones, in the order in which they are given.
    pub fn efforts(&self, forces: &[f64]) -> Option<Vec<f64>> {
        let accelerations = self.accelerations(forces)?;
        let mut inertial = vec![0.0; accelerations.len()];
        self.mass.as_ref()?.multiply(&accelerations, &mut inertial);
        let pushed = self.jacobian.transpose_times(forces);
        let effort = |dof: usize| inertial[dof] - self.applied[dof] - self.products[dof] - pushed[dof];
        Some(self.given.iter().map(|(dof, _)| effort(*dof)).collect())
    }
}
