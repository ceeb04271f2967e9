//! Free rigid bodies in contact at an instant, with surfaces given by their curvature: trinkle1995 sections 2
//! and 3 without a scene.
//!
//! Each body has six velocities and accelerations: those of the centre of mass, and angular, in world axes.
//! `W'. q'` follows from the curvatures, see `surfaces.rs`. The symbols are those of [`super::instant`].

pub use super::surfaces::Surface;

use super::instant::{Instant, Slip, VELOCITY_TOLERANCE};
use super::surfaces::{Motion, velocity_product};
use crate::space::{Frame, Tensor, Vector, add, cross, dot, inverse_spd, length, scale, sub, times};
use complementarity::matrix::Matrix;

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
    /// The other body; `None` for the fixed world.
    pub b: Option<usize>,
    /// Contact point (m).
    pub point: Vector,
    /// Normal from b to a, and tangents.
    pub frame: Frame,
    /// Surfaces of a and b at the contact point.
    pub surfaces: [Surface; 2],
}

/// A joint with one degree of freedom that holds a body to the world: a manipulator link (trinkle1995 2.1). The joint is a screw, in
/// particular a hinge or a slide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// The body.
    pub body: usize,
    /// Velocity of the centre of mass and angular velocity for a joint velocity of 1; the body must move along it.
    pub twist: [Vector; 2],
    /// What is known of the joint (trinkle1995 2.5).
    pub drive: Drive,
}

/// What is known of a joint; the other is unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Drive {
    /// Its effort, N or N m.
    Effort(f64),
    /// Its acceleration, m/s^2 or rad/s^2.
    Acceleration(f64),
}

/// Why bodies and contacts are not valid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidBodies {
    /// A body's mass, inertia, motion or load is not valid.
    #[error("body {body}: {expected}")]
    Body {
        /// Index, from 0.
        body: usize,
        /// What would be allowed.
        expected: &'static str,
    },
    /// A contact's bodies, frame or surfaces are not valid.
    #[error("contact {contact}: {expected}")]
    Contact {
        /// Index, from 0.
        contact: usize,
        /// What would be allowed.
        expected: &'static str,
    },
    /// Bodies approach or separate: (5) does not hold.
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
pub struct Bodies {
    bodies: Vec<Body>,
    contacts: Vec<Contact>,
    inverse_inertia: Vec<Tensor>,
    instant: Instant,
}

impl Bodies {
    /// Checks bodies and contacts, and that the velocities satisfy (5).
    pub fn new(bodies: Vec<Body>, contacts: Vec<Contact>) -> Result<Self, InvalidBodies> {
        let inverse_inertia =
            bodies.iter().enumerate().map(|(i, b)| check_body(i, b)).collect::<Result<Vec<_>, _>>()?;
        let mut own = Self { bodies, contacts, inverse_inertia, instant: Instant::new(3, vec![]) };
        for index in 0..own.contacts.len() {
            let product = own.check_contact(index)?;
            own.instant.velocity_product.extend(product);
            let contact = &own.contacts[index];
            let (velocity, size) = (own.relative_velocity(contact), own.velocity_scale(contact));
            own.instant.relative.push(Slip { velocity, size, ..Slip::default() });
            own.instant.offsets.push(own.instant.velocity_product.len());
        }
        own.instant.free = own.mobility(&own.loads());
        own.instant.jacobian = own.jacobian();
        own.instant.mobility = own.instant.jacobian.clone();
        for i in 0..own.instant.jacobian.rows() {
            let row = own.mobility(own.instant.jacobian.row(i));
            own.instant.mobility.row_mut(i).copy_from_slice(&row);
        }
        Ok(own)
    }

    /// The same bodies with some of them on joints: a link accelerates by `S theta'' + w x v`, with
    /// `S' M S theta'' = S' (W c + g + h - M (w x v)) + tau`.
    pub fn with_links(mut self, links: &[Link]) -> Result<Self, InvalidBodies> {
        for link in links {
            let wrong = |expected| InvalidBodies::Body { body: link.body, expected };
            let body = self.bodies.get(link.body).ok_or(wrong("expected a body of the list"))?;
            let [v, w] = link.twist;
            let (omega, mass) = (body.angular_velocity, body.mass);
            let square = dot(v, v) + dot(w, w);
            let rate = (dot(v, body.velocity) + dot(w, omega)) / square;
            let off = length(sub(body.velocity, scale(rate, v))) + length(sub(omega, scale(rate, w)));
            let value = match link.drive {
                Drive::Effort(x) | Drive::Acceleration(x) => x,
            };
            let size = length(body.velocity) + length(omega);
            if !(square > 0.0 && square.is_finite() && value.is_finite() && off <= VELOCITY_TOLERANCE * size)
            {
                return Err(wrong(
                    "expected a joint along which the body moves, with a finite effort or acceleration",
                ));
            }
            let bias = cross(omega, body.velocity);
            let inertia = mass * dot(v, v) + dot(w, times(&body.inertia, w));
            let torque = sub(body.torque, cross(omega, times(&body.inertia, omega)));
            let load = dot(v, sub(body.force, scale(mass, bias))) + dot(w, torque);
            let (acceleration, mobility) = match link.drive {
                Drive::Effort(effort) => ((load + effort) / inertia, 1.0 / inertia),
                Drive::Acceleration(given) => (given, 0.0),
            };
            let own = 6 * link.body..6 * link.body + 6;
            let twist = [v[0], v[1], v[2], w[0], w[1], w[2]];
            let instant = &mut self.instant;
            for (k, i) in own.clone().enumerate() {
                instant.free[i] = acceleration * twist[k] + if k < 3 { bias[k] } else { 0.0 };
            }
            for row in 0..instant.jacobian.rows() {
                let along: f64 =
                    instant.jacobian.row(row)[own.clone()].iter().zip(twist).map(|(j, s)| j * s).sum();
                let moved = instant.mobility.row_mut(row)[own.clone()].iter_mut();
                moved.zip(twist).for_each(|(m, s)| *m = mobility * along * s);
            }
        }
        Ok(self)
    }

    fn check_contact(&self, index: usize) -> Result<Vector, InvalidBodies> {
        let contact = &self.contacts[index];
        let wrong = |expected| InvalidBodies::Contact { contact: index, expected };
        let known = |body: usize| body < self.bodies.len();
        if !known(contact.a) || !contact.b.is_none_or(known) || contact.b == Some(contact.a) {
            return Err(wrong("expected two different bodies of the list, or one and the world"));
        }
        if !contact.point.iter().all(|x| x.is_finite()) || !contact.frame.is_orthonormal() {
            return Err(wrong("expected a finite point and a right-handed orthonormal frame"));
        }
        let (a, b) = self.motions(contact);
        let velocity = self.relative_velocity(contact)[0];
        if velocity.abs() > VELOCITY_TOLERANCE * self.velocity_scale(contact) {
            return Err(InvalidBodies::NormalVelocity { contact: index, velocity });
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

    fn velocity_scale(&self, contact: &Contact) -> f64 {
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

    fn relative_velocity(&self, contact: &Contact) -> Vector {
        let (a, b) = self.motions(contact);
        contact.frame.components(sub(a.at_contact(), b.at_contact()))
    }

    /// Jacobian `J = W'`.
    fn jacobian(&self) -> Matrix {
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

    /// Acceleration `M^-1 wrench`, six entries per body.
    fn mobility(&self, wrench: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(wrench.len());
        for (i, w) in wrench.chunks_exact(6).enumerate() {
            out.extend(scale(1.0 / self.bodies[i].mass, [w[0], w[1], w[2]]));
            out.extend(times(&self.inverse_inertia[i], [w[3], w[4], w[5]]));
        }
        out
    }

    /// Applied forces and velocity products `g + h`.
    fn loads(&self) -> Vec<f64> {
        let load = |body: &Body| {
            let omega = body.angular_velocity;
            let torque = sub(body.torque, cross(omega, times(&body.inertia, omega)));
            let [f, m] = [body.force, torque];
            [f[0], f[1], f[2], m[0], m[1], m[2]]
        };
        self.bodies.iter().flat_map(load).collect()
    }

    /// The contact problem.
    pub fn instant(&self) -> &Instant {
        &self.instant
    }

    /// Accelerations and angular accelerations of the bodies under contact forces `c`: (19). `None` unless
    /// `c` has three entries per contact.
    pub fn accelerations(&self, forces: &[f64]) -> Option<Vec<[Vector; 2]>> {
        let split = |q: &[f64]| [[q[0], q[1], q[2]], [q[3], q[4], q[5]]];
        Some(self.instant.accelerations(forces)?.chunks_exact(6).map(split).collect())
    }
}

impl Body {
    /// Velocity of the body's material point at `point`.
    pub fn velocity_at(&self, point: Vector) -> Vector {
        add(self.velocity, cross(self.angular_velocity, sub(point, self.position)))
    }
}

/// Inverse inertia of a body; `None` if the body is not valid.
fn check_body(index: usize, body: &Body) -> Result<Tensor, InvalidBodies> {
    let wrong = |expected| InvalidBodies::Body { body: index, expected };
    if !(body.mass > 0.0 && body.mass.is_finite()) {
        return Err(wrong("expected a positive, finite mass"));
    }
    let vectors = [body.position, body.velocity, body.angular_velocity, body.force, body.torque];
    if vectors.iter().flatten().any(|x| !x.is_finite()) {
        return Err(wrong("expected finite position, velocities, force and torque"));
    }
    inverse_spd(&body.inertia).ok_or(wrong("expected a symmetric positive definite inertia"))
}
