//! Random convex parts dropped into a bin: scenes that the default settings must simulate without failure.

use crate::geometry::Shape;
use crate::scene::{Body, Joint, Material, Numbers, Orientation, Pose, Revolute, Scene, WorldPart};
use crate::space::{Vector, length, scale};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Half width of the bin between its walls, m.
pub const HALF_WIDTH: f64 = 0.25;
/// Largest number of parts of a scene.
pub const MOST_PARTS: usize = 30;

/// Ranges of half extents of parts, m, and of densities, kg/m^3.
const EXTENT: [f64; 2] = [0.02, 0.08];
const DENSITY: [f64; 2] = [200.0, 8000.0];
/// Range of coefficients of friction.
const FRICTION: [f64; 2] = [0.0, 1.2];
/// Largest components of initial velocities, m/s, and angular velocities, rad/s.
const VELOCITY: f64 = 1.0;
const SPIN: f64 = 5.0;
/// Height between two layers of parts, m, at which no two parts of any attitude reach each other; and the
/// share of it between parts that start with an overlap.
const LAYER: f64 = 0.3;
const OVERLAPPING: f64 = 0.25;
/// Shares of parts that are linked to the previous one, and of parts that are placed into it.
const LINKED: f64 = 0.15;
const PLACED_INTO: f64 = 0.05;

/// The random scene of a seed: 1 to 30 spheres, boxes, ellipsoids, capsules, cylinders and polytopes, some
/// linked by joints, some overlapping at the start, fall into a bin with four walls. `duration` is that of
/// the run, s.
pub fn bin(seed: u64, duration: f64) -> Scene {
    let mut dice = Dice(Pcg64::seed_from_u64(seed));
    let mut scene = Scene { name: format!("bin-{seed}"), world: walls(), ..Scene::default() };
    scene.materials = vec![Material {
        name: "default".into(),
        friction: dice.between(FRICTION),
        density: Some(dice.between(DENSITY)),
        ..Material::default()
    }];
    scene.step.duration = duration;
    // few parts are as likely as many
    let count = (MOST_PARTS as f64).powf(dice.0.random::<f64>()).round() as usize;
    let (mut height, mut linked) = (0.5 * LAYER, false);
    for k in 0..count {
        let mut body = Body { name: format!("part {k}"), shape: Some(dice.shape()), ..Body::default() };
        // chains of more than two links are longer than a layer is high
        linked = k > 0 && !linked && dice.0.random::<f64>() < LINKED;
        if linked {
            dice.link(&mut body, &format!("part {}", k - 1));
        } else {
            if k > 0 {
                height += if dice.0.random::<f64>() < PLACED_INTO { OVERLAPPING * LAYER } else { LAYER };
            }
            dice.free(&mut body, height);
        }
        scene.bodies.push(body);
    }
    scene
}

/// Distance of a point from the bin, m; 0 inside and above it.
pub fn outside(point: Vector) -> f64 {
    let beyond = [point[0].abs() - HALF_WIDTH, point[1].abs() - HALF_WIDTH, -point[2]];
    beyond.into_iter().fold(0.0, f64::max)
}

/// A floor and four walls that are higher than any part at the start.
fn walls() -> Vec<WorldPart> {
    let mut world = vec![WorldPart { name: "floor".into(), shape: Shape::HalfSpace, ..WorldPart::default() }];
    let (thick, high) = (0.05, 0.5 * LAYER * (MOST_PARTS + 2) as f64);
    for (k, [x, y]) in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]].into_iter().enumerate() {
        let half = if x == 0.0 { [1.0, thick, high] } else { [thick, 1.0, high] };
        let at = HALF_WIDTH + thick;
        world.push(WorldPart {
            name: format!("wall {k}"),
            shape: Shape::Box { half },
            position: Some(Numbers(vec![at * x, at * y, high])),
            ..WorldPart::default()
        });
    }
    world
}

struct Dice<R>(R);

impl<R: Rng> Dice<R> {
    fn between(&mut self, [least, most]: [f64; 2]) -> f64 {
        least + (most - least) * self.0.random::<f64>()
    }

    fn vector(&mut self, most: f64) -> Vector {
        [0; 3].map(|_| self.between([-most, most]))
    }

    fn quaternion(&mut self) -> [f64; 4] {
        [0; 4].map(|_| self.between([-1.0, 1.0]))
    }

    fn shape(&mut self) -> Shape {
        let half = [0; 3].map(|_| self.between(EXTENT));
        match self.0.random_range(0..6) {
            0 => Shape::Sphere { radius: half[0] },
            1 => Shape::Box { half },
            2 => Shape::Ellipsoid { semi_axes: half },
            3 => Shape::Capsule { radius: 0.5 * half[0], half_length: half[1] },
            4 => Shape::cylinder(half[0], half[1]),
            _ => {
                let count = self.0.random_range(6..16);
                // points on a sphere, so that all are vertices and no part is thin
                let mut corner = || loop {
                    let x = self.vector(1.0);
                    if (0.2..1.0).contains(&length(x)) {
                        break scale(half[0] / length(x), x);
                    }
                };
                Shape::Polytope { vertices: (0..count).map(|_| corner()).collect() }
            }
        }
    }

    /// Makes a part a free body at a height, anywhere in the bin, with a random motion.
    fn free(&mut self, body: &mut Body, height: f64) {
        let aside = HALF_WIDTH - 1.5 * EXTENT[1];
        let [x, y] = [0; 2].map(|_| self.between([-aside, aside]));
        body.position = Some(Numbers(vec![x, y, height]));
        body.orientation =
            Some(Orientation { quaternion: Some(self.quaternion()), ..Orientation::default() });
        body.velocity = Some(Numbers(self.vector(VELOCITY).to_vec()));
        body.angular_velocity = Some(Numbers(self.vector(SPIN).to_vec()));
    }

    /// Links a part by a joint at the middle of another part.
    fn link(&mut self, body: &mut Body, parent: &str) {
        body.parent = Some(parent.to_owned());
        body.joint = Some(match self.0.random_range(0..2) {
            0 => Joint::Spherical,
            _ => {
                let axis = Some(Numbers(self.vector(1.0).to_vec()));
                Joint::Revolute(Revolute { axis, ..Revolute::default() })
            }
        });
        let far = self.between([0.0, EXTENT[1]]);
        body.mount = Some(Pose { position: Some(Numbers(vec![far, 0.0, 0.0])), ..Pose::default() });
    }
}
