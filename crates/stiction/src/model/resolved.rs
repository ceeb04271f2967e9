//! A scene with its names looked up, its defaults filled in and its masses computed.

use crate::contact::{FrictionRule, Law};
use crate::dynamics::Link;
use crate::geometry::Shape;
use crate::scene::{self, Axes, Course, Material, StepSettings, Table};
use crate::space::{Pose, Vector};

/// A checked scene, resolved ([`crate::scene::Scene::resolve`]): indices in place of names, which exist; numbers are
/// finite, masses and lengths positive, parents before children. SI units.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
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
    /// What things are made of: the description's materials, and after them 'default' if a shape needs it.
    pub materials: Vec<Material>,
    /// The law of each material.
    pub laws: Vec<Law>,
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
    pub record: Recorded,
}

/// What is kept of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Time between records, s, at least the step.
    pub interval: f64,
    /// Which tables.
    pub tables: Vec<Table>,
}

/// A link with its name, shapes and start.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Unique among bodies and world parts.
    pub name: String,
    /// Its place among the bodies of the description, where a parent may stand after its children.
    pub given: usize,
    /// Parent, mount, joint, mass properties. In a planar scene the tensor is the moment of inertia about z
    /// times the identity.
    pub link: Link,
    /// What it collides with; empty if with nothing.
    pub parts: Vec<Part>,
    /// Joint coordinates `q` at the start, in the order of [`crate::dynamics::Joint`]; m, rad.
    pub position: Vec<f64>,
    /// Joint velocities `v` at the start, in the order of [`crate::dynamics::Joint`]; m/s, rad/s.
    pub velocity: Vec<f64>,
    /// Least and largest coordinate of a joint with one degree of freedom, m or rad.
    pub limits: Option<[f64; 2]>,
    /// Largest effort of Coulomb friction in a joint with one degree of freedom, N or N m.
    pub friction: f64,
}

/// A shape on a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The shape.
    pub shape: Shape,
    /// Where it sits, in the coordinates of its body (of the world, for a world part).
    pub pose: Pose,
    /// Index into [`Resolved::materials`].
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

/// Who an exception is for, in either order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairOf {
    /// Indices of materials.
    Materials([usize; 2]),
    /// Bodies or world parts; goes before an exception for their materials.
    Owners([Owner; 2]),
}

/// Friction that differs by direction: an ellipse with one semi-axis along a direction of one of the bodies (chakraborty2007 (5), `e_t` and `e_o`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// The one of the two that has the direction.
    pub of: Owner,
    /// Direction in its axes, of length 1.
    pub along: Vector,
    /// Coefficient of friction across it; that of the pair is along it.
    pub across: f64,
}

/// An exception for a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Who it is for.
    pub of: PairOf,
    /// As it was given.
    pub given: scene::Pair,
    /// Friction that differs by direction; only of bodies.
    pub grain: Option<Grain>,
    /// Contact law.
    pub law: Option<Law>,
}

/// Whose shape it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// Index into [`Resolved::bodies`].
    Body(usize),
    /// Index into [`Resolved::world`].
    World(usize),
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

impl Resolved {
    /// The links alone, for the dynamics.
    pub fn links(&self) -> Vec<Link> {
        self.bodies.iter().map(|b| b.link).collect()
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
