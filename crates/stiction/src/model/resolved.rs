//! A scene with its names looked up, its defaults filled in and its masses computed.

use crate::contact::{FrictionRule, Law};
use crate::dynamics::Link;
use crate::geometry::Shape;
use crate::scene::{self, Axes, Course, Material, StepSettings, Table};
use crate::space::{Pose, Vector};

/// A checked scene with names resolved to indices ([`crate::scene::Scene::resolve`]). Numbers are finite,
/// masses and lengths positive, and parents come before children. SI units.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// Name of the scene.
    pub name: String,
    /// Whether everything happens in the x-y plane.
    pub planar: bool,
    /// Acceleration of gravity in world axes, m/s^2.
    pub gravity: Vector,
    /// The links, each after its parent.
    pub bodies: Vec<Body>,
    /// Shapes that never move.
    pub world: Vec<WorldPart>,
    /// Materials of the scene, followed by 'default' if a shape needs it.
    pub materials: Vec<Material>,
    /// Contact law of each material.
    pub laws: Vec<Law>,
    /// How the coefficients of friction of two materials combine where no pair overrides it.
    pub friction_rule: FrictionRule,
    /// Exceptions for pairs of materials or bodies.
    pub pairs: Vec<Pair>,
    /// Applied forces and torques.
    pub loads: Vec<Load>,
    /// Springs and dampers.
    pub springs: Vec<Spring>,
    /// Prescribed efforts on joints.
    pub motors: Vec<Motor>,
    /// Time stepping.
    pub step: StepSettings,
    /// What a run records.
    pub record: Recorded,
}

/// What a run records.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Time between records, s, at least the step.
    pub interval: f64,
    /// Tables to be recorded.
    pub tables: Vec<Table>,
}

/// A link with its name, shapes and initial state.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Unique among bodies and world parts.
    pub name: String,
    /// Index among the bodies of the scene file, where a parent may come after its children.
    pub given: usize,
    /// Parent, mount, joint, mass properties. In a planar scene the tensor is the moment of inertia about z
    /// times the identity.
    pub link: Link,
    /// Shapes of the body; empty if it collides with nothing.
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

/// A shape with its pose and material.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The shape.
    pub shape: Shape,
    /// Pose in the coordinates of the body, or of the world for a world part.
    pub pose: Pose,
    /// Index into [`Resolved::materials`].
    pub material: usize,
}

/// A shape that never moves.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldPart {
    /// Unique among bodies and world parts.
    pub name: String,
    /// Shape, pose and material of the world part.
    pub part: Part,
}

/// The two materials or bodies that an exception is for, in either order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairOf {
    /// Two materials, by index.
    Materials([usize; 2]),
    /// Two bodies or world parts; takes precedence over an exception for their materials.
    Owners([Owner; 2]),
}

/// Anisotropic friction: an ellipse with one semi-axis along a direction that is fixed to one of the bodies
/// (chakraborty2007 (5), `e_t` and `e_o`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grain {
    /// Body or world part to which the direction is fixed.
    pub of: Owner,
    /// Direction in the axes of that body, of length 1.
    pub along: Vector,
    /// Coefficient of friction across the direction; the pair's coefficient is along it.
    pub across: f64,
}

/// An exception for a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Materials or bodies that the exception is for.
    pub of: PairOf,
    /// The exception as the scene gives it.
    pub given: scene::Pair,
    /// Anisotropic friction; only for pairs of bodies.
    pub grain: Option<Grain>,
    /// Contact law.
    pub law: Option<Law>,
}

/// Owner of a shape: a body or a world part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// Body, as an index into [`Resolved::bodies`].
    Body(usize),
    /// World part, as an index into [`Resolved::world`].
    World(usize),
}

/// A force and a torque on a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Index of the body.
    pub body: usize,
    /// Point at which the force acts, in body coordinates, m.
    pub point: Vector,
    /// Axes of `force` and `torque`.
    pub axes: Axes,
    /// Force, N.
    pub force: Course<Vector>,
    /// Torque, N m.
    pub torque: Course<Vector>,
}

/// An end of a spring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// Index of the body; `None` for the world.
    pub body: Option<usize>,
    /// Attachment point in the coordinates of the body or the world, m.
    pub point: Vector,
}

/// A straight spring with a damper beside it: tension `stiffness (l - rest_length) + damping l'`.
#[derive(Debug, Clone, PartialEq)]
pub struct Spring {
    /// Both ends of the spring.
    pub ends: [End; 2],
    /// Stiffness, N/m.
    pub stiffness: f64,
    /// Damping, N s/m.
    pub damping: f64,
    /// Length without force, m.
    pub rest_length: f64,
}

/// A prescribed effort on a revolute or prismatic joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Motor {
    /// Index of the body whose joint it drives.
    pub body: usize,
    /// Effort over time, N m (revolute) or N (prismatic).
    pub effort: Course<f64>,
}

impl Resolved {
    /// The links alone, as the dynamics takes them.
    pub fn links(&self) -> Vec<Link> {
        self.bodies.iter().map(|b| b.link).collect()
    }

    /// Parts of a body, or the one part of a world shape.
    pub fn parts(&self, owner: Owner) -> &[Part] {
        match owner {
            Owner::Body(i) => &self.bodies[i].parts,
            Owner::World(i) => std::slice::from_ref(&self.world[i].part),
        }
    }

    /// Name of a body or world part.
    pub fn name_of(&self, owner: Owner) -> &str {
        match owner {
            Owner::Body(i) => &self.bodies[i].name,
            Owner::World(i) => &self.world[i].name,
        }
    }
}
