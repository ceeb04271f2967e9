//! Links of manipulators among the bodies of a random scene.

use crate::analysis::bodies::{Body, Drive, Link};
use crate::space::{Vector, cross, dot, length, scale, unit};
use rand::{Rng, RngExt};

/// Share of the bodies that are links, and share of the links whose acceleration is given.
const LINKS: f64 = 0.35;
const DRIVEN: f64 = 1.0 / 3.0;
/// Largest given acceleration, and the effort's largest share of what holds the link against its loads.
const ACCELERATION: f64 = 2.0;
const EFFORT: f64 = 0.3;
/// Largest distance of a hinge from the centre of mass, m.
const ARM: f64 = 0.3;

/// Draws links: a body that moves is on the screw of its motion, a body at rest on a hinge about some axis.
pub(super) fn draw(rng: &mut impl Rng, bodies: &[Body]) -> Vec<Link> {
    let mut list = vec![];
    for (index, body) in bodies.iter().enumerate() {
        if rng.random::<f64>() >= LINKS {
            continue;
        }
        let [v, w] = [body.velocity, body.angular_velocity];
        let twist = match (length(v), length(w)) {
            (0.0, 0.0) => {
                let axis = direction(rng);
                [scale(ARM * rng.random::<f64>(), cross(axis, direction(rng))), axis]
            }
            (speed, 0.0) => [scale(1.0 / speed, v), w],
            (_, spin) => [scale(1.0 / spin, v), scale(1.0 / spin, w)],
        };
        let holding = -(dot(twist[0], body.force) + dot(twist[1], body.torque));
        let share = 2.0 * rng.random::<f64>() - 1.0;
        let drive = match rng.random::<f64>() < DRIVEN {
            true => Drive::Acceleration(ACCELERATION * share),
            false => Drive::Effort(holding * (1.0 + EFFORT * share)),
        };
        list.push(Link { body: index, twist, drive });
    }
    list
}

fn direction(rng: &mut impl Rng) -> Vector {
    loop {
        let x = [0; 3].map(|_| 2.0 * rng.random::<f64>() - 1.0);
        if (0.01..1.0).contains(&length(x)) {
            return unit(x);
        }
    }
}
