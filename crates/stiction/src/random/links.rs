//! Links of manipulators in a random scene: fingers that stand where the world stood.

use crate::analysis::bodies::{Bodies, Body, Contact, Drive, Link};
use crate::space::{Vector, add, cross, dot, length, scale, sub, unit};
use rand::{Rng, RngExt};

/// Share of the contacts with the world that are contacts with fingers, and share of the fingers whose acceleration is given.
const FINGERS: f64 = 0.35;
const DRIVEN: f64 = 1.0 / 3.0;
/// Largest given acceleration, rad/s^2, and largest effort, as a share of the weight of the body that the finger touches times its arm.
const ACCELERATION: f64 = 2.0;
const EFFORT: f64 = 1.0;
/// Distance of a finger's hinge from the contact, m, its mass, kg, and its radius of gyration, m.
const ARM: [f64; 2] = [0.2, 0.6];
const MASS: f64 = 5.0;
const GYRATION: f64 = 0.15;

/// Puts fingers under some contacts with the world: links at rest, each on a hinge of its own, gravity compensated. Efforts press against the
/// bodies. Bodies, contacts and their states stay as they are.
pub(super) fn with_fingers(rng: &mut impl Rng, scene: &Bodies) -> Option<Bodies> {
    let (mut bodies, mut contacts) = (scene.bodies().to_vec(), scene.contacts().to_vec());
    let mut links = vec![];
    for contact in contacts.iter_mut().filter(|c| c.b.is_none()) {
        if rng.random::<f64>() >= FINGERS {
            continue;
        }
        let (finger, link) = finger(rng, contact, &scene.bodies()[contact.a], bodies.len());
        contact.b = Some(bodies.len());
        bodies.push(finger);
        links.push(link);
    }
    Bodies::new(bodies, contacts).ok()?.with_links(&links).ok()
}

fn finger(rng: &mut impl Rng, contact: &Contact, touched: &Body, index: usize) -> (Body, Link) {
    let reach = ARM[0] + (ARM[1] - ARM[0]) * rng.random::<f64>();
    let hinge = sub(contact.point, scale(reach, direction(rng)));
    // half way between hinge and contact
    let arm = scale(0.5, sub(contact.point, hinge));
    let axis = direction(rng);
    let zero = [0.0; 3];
    let moment = MASS * GYRATION * GYRATION;
    let inertia = [[moment, 0.0, 0.0], [0.0, moment, 0.0], [0.0, 0.0, moment]];
    let position = add(hinge, arm);
    let body = Body {
        mass: MASS,
        inertia,
        position,
        velocity: zero,
        angular_velocity: zero,
        force: zero,
        torque: zero,
    };
    let twist = [cross(axis, arm), axis];
    // the way of the contact along the normal, which points into the touched body
    let press = dot(contact.frame.n, cross(axis, sub(contact.point, hinge)));
    let weight = touched.mass * super::scene::distribution::GRAVITY;
    let share: f64 = rng.random();
    let drive = match rng.random::<f64>() < DRIVEN {
        true => Drive::Acceleration(ACCELERATION * (2.0 * share - 1.0)),
        false => Drive::Effort(EFFORT * share * weight * press),
    };
    (body, Link { body: index, twist, drive })
}

fn direction(rng: &mut impl Rng) -> Vector {
    loop {
        let x = [0; 3].map(|_| 2.0 * rng.random::<f64>() - 1.0);
        if (0.01..1.0).contains(&length(x)) {
            return unit(x);
        }
    }
}
