//! The multi-rigid-body contact problem at an instant, trinkle1995 sections 2 and 3: passive bodies, contacts
//! among them and with the fixed world, and the accelerations and forces they may have.
//!
//! Symbols: `W` the wrench matrix, `J = W'` its transpose (rows n, t, o contact by contact, six
//! columns a body: velocity, angular velocity, world axes), `M` the mass matrix, `c` the contact forces,
//! `g` the external wrench, `h` the gyroscopic torque `-omega x I omega`, `q'` velocities, `q''` accelerations.
//!
//! ```text
//! M q'' = W c + g + h                         (2)
//! a = A c + b,  A = W' M^-1 W                 (21), (22)
//! b = W'. q' + W' M^-1 (g + h)                (23)
//! ```
//!
//! Without the manipulator of the paper: a driven link is a body with a prescribed wrench here. `W'. q'` holds the
//! surfaces' curvatures, see [`super::kinematics`].

use super::kinematics::{Motion, Surface, velocity_product};
use crate::space::{Frame, Tensor, Vector, add, cross, inverse_spd, length, scale, sub, times};
use complementarity::matrix::{Matrix, dot};
use complementarity::problem::{Friction, FrictionProblem, InvalidProblem, Mode};

/// Relative velocities below this share of the speeds that meet at a contact count as zero in (5), (6).
pub const VELOCITY_TOLERANCE: f64 = 1e-9;

/// A rigid body in motion. SI units, world axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Mass (kg).
    pub mass: f64,
    /// Inertia about the centre of mass (kg m^2).
    pub inertia: Tensor,
    /// Centre of mass (m).
    pub position: Vector,
    /// Velocity of the centre of mass (m/s).
    pub velocity: Vector,
    /// Angular velocity (rad/s).
    pub angular_velocity: Vector,
    /// External force, gravity included (N).
    pub force: Vector,
    /// External torque about the centre of mass (N m).
    pub torque: Vector,
}

/// A contact of two bodies, or of a body with the fixed world.
#[derive(Debug, Clone, PartialEq)]
pub struct Contact {
    /// The body that the normal points into: it feels `c_n n + c_t t + c_o o`.
    pub a: usize,
    /// The other body; `None`: the fixed world.
    pub b: Option<usize>,
    /// Where they touch (m).
    pub point: Vector,
    /// Normal from b to a, and tangents.
    pub frame: Frame,
    /// Surfaces of a and b about the point.
    pub surfaces: [Surface; 2],
}

/// Why numbers do not make bodies in contact.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidInstant {
    /// A body's mass, inertia, motion or load is impossible.
    #[error("body {body}: {expected}")]
    Body {
        /// Index, from 0.
        body: usize,
        /// What would be allowed.
        expected: &'static str,
    },
    /// A contact's bodies, frame or surfaces are impossible.
    #[error("contact {contact}: {expected}")]
    Contact {
        /// Index, from 0.
        contact: usize,
        /// What would be allowed.
        expected: &'static str,
    },
    /// Bodies approach or part: (5) does not hold.
    #[error("contact {contact}: normal velocity {velocity} m/s, expected 0 (trinkle1995 (5))")]
    NormalVelocity {
        /// Index, from 0.
        contact: usize,
        /// Normal component of the relative velocity.
        velocity: f64,
    },
}

/// Bodies and contacts at an instant, validated.
#[derive(Debug, Clone)]
pub struct Instant {
    bodies: Vec<Body>,
    contacts: Vec<Contact>,
    inverse_inertia: Vec<Tensor>,
    /// `W'. q'`, rows n, t, o contact by contact.
    velocity_product: Vec<f64>,
}

impl Instant {
    /// Checks bodies and contacts, and that the velocities satisfy (5).
    pub fn new(bodies: Vec<Body>, contacts: Vec<Contact>) -> Result<Self, InvalidInstant> {
        let inverse_inertia =
            bodies.iter().enumerate().map(|(i, b)| check_body(i, b)).collect::<Result<Vec<_>, _>>()?;
        let mut instant = Self { bodies, contacts, inverse_inertia, velocity_product: Vec::new() };
        for index in 0..instant.contacts.len() {
            let product = instant.check_contact(index)?;
            instant.velocity_product.extend(product);
        }
        Ok(instant)
    }

    fn check_contact(&self, index: usize) -> Result<Vector, InvalidInstant> {
        let contact = &self.contacts[index];
        let wrong = |expected| InvalidInstant::Contact { contact: index, expected };
        let known = |body: usize| body < self.bodies.len();
        if !known(contact.a) || !contact.b.is_none_or(known) || contact.b == Some(contact.a) {
            return Err(wrong("expected two different bodies of the list, or one and the world"));
        }
        if !contact.point.iter().all(|x| x.is_finite()) || !contact.frame.is_orthonormal() {
            return Err(wrong("expected a finite point and a right-handed orthonormal frame"));
        }
        let (a, b) = self.motions(contact);
        let velocity = self.relative_velocity(index)[0];
        if velocity.abs() > VELOCITY_TOLERANCE * self.speed_scale(contact) {
            return Err(InvalidInstant::NormalVelocity { contact: index, velocity });
        }
        velocity_product(&contact.frame, &a, &b, contact.surfaces)
            .filter(|p| p.iter().all(|x| x.is_finite()))
            .ok_or(wrong("expected surfaces that touch in one point, one of them smooth"))
    }

    fn motion(&self, body: usize, point: Vector) -> Motion {
        let body = &self.bodies[body];
        Motion { omega: body.angular_velocity, arm: sub(point, body.position), velocity: body.velocity }
    }

    fn motions(&self, contact: &Contact) -> (Motion, Motion) {
        let b = contact.b.map_or(Motion::REST, |b| self.motion(b, contact.point));
        (self.motion(contact.a, contact.point), b)
    }

    fn speed_scale(&self, contact: &Contact) -> f64 {
        let speed = |m: &Motion| length(m.velocity) + length(m.omega) * length(m.arm);
        let (a, b) = self.motions(contact);
        speed(&a) + speed(&b)
    }

    /// The bodies.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The contacts.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Relative velocity of the material points at a contact, in n, t, o: (4).
    pub fn relative_velocity(&self, contact: usize) -> Vector {
        let contact = &self.contacts[contact];
        let (a, b) = self.motions(contact);
        contact.frame.components(sub(a.at_contact(), b.at_contact()))
    }

    /// Rolling or sliding, contact by contact: (6) to [`VELOCITY_TOLERANCE`].
    pub fn modes(&self) -> Vec<Mode> {
        let mode = |index: usize| {
            let [_, t, o] = self.relative_velocity(index);
            let speed = t.hypot(o);
            if speed <= VELOCITY_TOLERANCE * self.speed_scale(&self.contacts[index]) {
                return Mode::Rolling;
            }
            Mode::Sliding { direction: [t / speed, o / speed] }
        };
        (0..self.contacts.len()).map(mode).collect()
    }

    /// `J = W'`: relative velocity = `J q'`.
    pub fn jacobian(&self) -> Matrix {
        let mut j = Matrix::zeros(3 * self.contacts.len(), 6 * self.bodies.len());
        for (index, contact) in self.contacts.iter().enumerate() {
            let Frame { n, t, o } = contact.frame;
            for (d, axis) in [n, t, o].into_iter().enumerate() {
                for (body, sign) in [(Some(contact.a), 1.0), (contact.b, -1.0)] {
                    let Some(body) = body else { continue };
                    let arm = sub(contact.point, self.bodies[body].position);
                    let row = &mut j.row_mut(3 * index + d)[6 * body..][..6];
                    row[..3].copy_from_slice(&scale(sign, axis));
                    row[3..].copy_from_slice(&scale(sign, cross(arm, axis)));
                }
            }
        }
        j
    }

    /// `M^-1 wrench`, six entries a body.
    fn mobility(&self, wrench: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(wrench.len());
        for (i, w) in wrench.chunks_exact(6).enumerate() {
            out.extend(scale(1.0 / self.bodies[i].mass, [w[0], w[1], w[2]]));
            out.extend(times(&self.inverse_inertia[i], [w[3], w[4], w[5]]));
        }
        out
    }

    /// `g + h`.
    fn loads(&self) -> Vec<f64> {
        let load = |body: &Body| {
            let omega = body.angular_velocity;
            let torque = sub(body.torque, cross(omega, times(&body.inertia, omega)));
            let [f, m] = [body.force, torque];
            [f[0], f[1], f[2], m[0], m[1], m[2]]
        };
        self.bodies.iter().flat_map(load).collect()
    }

    /// `A` and `b` of (21)-(23), rows n, t, o contact by contact.
    pub fn system(&self) -> (Matrix, Vec<f64>) {
        let j = self.jacobian();
        let rows = j.rows();
        let mut a = Matrix::zeros(rows, rows);
        for i in 0..rows {
            let column = self.mobility(j.row(i));
            for k in 0..=i {
                let entry = dot(j.row(k), &column);
                a[(i, k)] = entry;
                a[(k, i)] = entry;
            }
        }
        let free = j.times(&self.mobility(&self.loads()));
        let b = free.iter().zip(&self.velocity_product).map(|(x, y)| x + y).collect();
        (a, b)
    }

    /// The contact problem for given friction coefficients, with the modes that the velocities tell.
    pub fn problem(&self, mu: Vec<f64>, friction: Friction) -> Result<FrictionProblem, InvalidProblem> {
        let (a, b) = self.system();
        FrictionProblem::new(a, b, mu, 3, friction)?.with_modes(self.modes())
    }

    /// Accelerations and angular accelerations of the bodies under contact forces `c`: (19). `None` if `c` has not
    /// three entries a contact.
    pub fn accelerations(&self, forces: &[f64]) -> Option<Vec<[Vector; 2]>> {
        if forces.len() != self.velocity_product.len() {
            return None;
        }
        let mut wrench = self.loads();
        for (w, c) in wrench.iter_mut().zip(self.jacobian().transpose_times(forces)) {
            *w += c;
        }
        let split = |q: &[f64]| [[q[0], q[1], q[2]], [q[3], q[4], q[5]]];
        Some(self.mobility(&wrench).chunks_exact(6).map(split).collect())
    }
}

impl Body {
    /// Velocity of the body's material point at `point`.
    pub fn velocity_at(&self, point: Vector) -> Vector {
        add(self.velocity, cross(self.angular_velocity, sub(point, self.position)))
    }
}

/// The inverse inertia, if the body is possible.
fn check_body(index: usize, body: &Body) -> Result<Tensor, InvalidInstant> {
    let wrong = |expected| InvalidInstant::Body { body: index, expected };
    if !(body.mass > 0.0 && body.mass.is_finite()) {
        return Err(wrong("expected a positive, finite mass"));
    }
    let vectors = [body.position, body.velocity, body.angular_velocity, body.force, body.torque];
    if vectors.iter().flatten().any(|x| !x.is_finite()) {
        return Err(wrong("expected finite position, velocities, force and torque"));
    }
    inverse_spd(&body.inertia).ok_or(wrong("expected a symmetric positive definite inertia"))
}
