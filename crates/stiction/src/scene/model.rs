//! What a scene is made of.

use super::{FrictionRule, Material, Pair, RecordSettings, StepSettings};
use crate::dynamics::Link;
use crate::geometry::Shape;
use crate::space::{Pose, Vector, add, scale};

/// A mechanical system and how to step it. Read from a file it is valid: indices exist, numbers are finite,
/// masses and lengths positive, parents before children. SI units.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// What it is called.
    pub name: String,
    /// Whether everything happens in the x-y plane.
    pub planar: bool,
    /// Acceleration of gravity in world axes, m/s^2.
    pub gravity: Vector,
    /// The links, each after its parent.
    pub bodies: Vec<Body>,
    /// Shapes that never move.
    pub world: Vec<WorldPart>,
    /// What things are made of.
    pub materials: Vec<Material>,
    /// How the friction of two materials combines where no pair says otherwise.
    pub friction_rule: FrictionRule,
    /// Exceptions for pairs of materials or bodies.
    pub pairs: Vec<Pair>,
    /// Applied forces and torques.
    pub loads: Vec<Load>,
    /// Springs and dampers.
    pub springs: Vec<Spring>,
    /// Prescribed efforts on joints.
    pub motors: Vec<Motor>,
    /// Steps of time.
    pub step: StepSettings,
    /// What is kept of a run.
    pub record: RecordSettings,
}

/// A link with its name, shapes and start.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Unique among bodies and world parts.
    pub name: String,
    /// Parent, mount, joint, mass properties. In a planar scene the tensor is the moment of inertia about z
    /// times the identity.
    pub link: Link,
    /// What it collides with; empty if with nothing.
    pub parts: Vec<Part>,
    /// Joint coordinates `q` at the start, in the order of [`crate::dynamics::Joint`]; m, rad.
    pub position: Vec<f64>,
    /// Joint speeds `v` at the start, in the order of [`crate::dynamics::Joint`]; m/s, rad/s.
    pub velocity: Vec<f64>,
}

/// A shape on a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The shape.
    pub shape: Shape,
    /// Where it sits, in the coordinates of its body (of the world, for a world part).
    pub pose: Pose,
    /// Index into [`Scene::materials`].
    pub material: usize,
}

/// A shape that never moves.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldPart {
    /// Unique among bodies and world parts.
    pub name: String,
    /// Its shape, place and material.
    pub part: Part,
}

/// Whose shape it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// Index into [`Scene::bodies`].
    Body(usize),
    /// Index into [`Scene::world`].
    World(usize),
}

/// A value over time.
#[derive(Debug, Clone, PartialEq)]
pub enum Course<T> {
    /// Always the same.
    Constant(T),
    /// Linear between points (time in s, value), at least one, times rising; held before the first and after
    /// the last.
    Points(Vec<(f64, T)>),
}

impl Course<f64> {
    /// The value at `time` (s).
    pub fn at(&self, time: f64) -> f64 {
        self.between(time, |a, b, share| a + share * (b - a))
    }
}

impl Course<Vector> {
    /// The value at `time` (s).
    pub fn at(&self, time: f64) -> Vector {
        self.between(time, |a, b, share| add(scale(1.0 - share, a), scale(share, b)))
    }
}

impl<T: Copy + Default> Course<T> {
    fn between(&self, time: f64, mix: impl Fn(T, T, f64) -> T) -> T {
        match self {
            Self::Constant(value) => *value,
            Self::Points(points) => {
                let after = points.partition_point(|&(t, _)| t <= time);
                match (after.checked_sub(1).and_then(|i| points.get(i)), points.get(after)) {
                    (Some(&(t, a)), Some(&(u, b))) => mix(a, b, (time - t) / (u - t)),
                    (Some(&(_, a)), None) | (None, Some(&(_, a))) => a,
                    (None, None) => T::default(),
                }
            }
        }
    }
}

/// Which axes a load is given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axes {
    /// Fixed in the world.
    World,
    /// Turning with the body.
    Body,
}

/// A force and a torque on a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Index of the body.
    pub body: usize,
    /// Where the force acts, in body coordinates, m.
    pub point: Vector,
    /// Axes of `force` and `torque`.
    pub axes: Axes,
    /// N.
    pub force: Course<Vector>,
    /// N m.
    pub torque: Course<Vector>,
}

/// An end of a spring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Index of the body; `None`: the world.
    pub body: Option<usize>,
    /// In the coordinates of the body or the world, m.
    pub point: Vector,
}

/// A straight spring with a damper beside it: tension `stiffness (l - rest_length) + damping l'`.
#[derive(Debug, Clone, PartialEq)]
pub struct Spring {
    /// Its ends.
    pub ends: [End; 2],
    /// N/m.
    pub stiffness: f64,
    /// N s/m.
    pub damping: f64,
    /// Length without force, m.
    pub rest_length: f64,
}

/// A prescribed effort on a revolute or prismatic joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Motor {
    /// Index of the body whose joint it drives.
    pub body: usize,
    /// N m (revolute) or N (prismatic).
    pub effort: Course<f64>,
}

impl Scene {
    /// The links alone, for the dynamics.
    pub fn links(&self) -> Vec<Link> {
        self.bodies.iter().map(|b| b.link).collect()
    }

    /// `q` at the start: every body's coordinates, in order.
    pub fn initial_position(&self) -> Vec<f64> {
        self.bodies.iter().flat_map(|b| b.position.iter().copied()).collect()
    }

    /// `v` at the start: every body's speeds, in order.
    pub fn initial_velocity(&self) -> Vec<f64> {
        self.bodies.iter().flat_map(|b| b.velocity.iter().copied()).collect()
    }

    /// Parts of a body or the one part of a world shape.
    pub fn parts(&self, owner: Owner) -> &[Part] {
        match owner {
            Owner::Body(i) => &self.bodies[i].parts,
            Owner::World(i) => std::slice::from_ref(&self.world[i].part),
        }
    }

    /// The name of a body or world shape.
    pub fn name_of(&self, owner: Owner) -> &str {
        match owner {
            Owner::Body(i) => &self.bodies[i].name,
            Owner::World(i) => &self.world[i].name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_is_linear_between_its_points_and_held_outside() {
        let course = Course::Points(vec![(1.0, 2.0), (3.0, 6.0), (4.0, 0.0)]);
        assert_eq!([0.0, 1.0, 2.0, 3.0, 3.5, 9.0].map(|t| course.at(t)), [2.0, 2.0, 4.0, 6.0, 3.0, 0.0]);
        assert_eq!(Course::Constant([1.0, 2.0, 3.0]).at(7.0), [1.0, 2.0, 3.0]);
    }
}
