//! A scene with its names looked up, its defaults filled in and its masses computed.

use crate::contact::{ContactPoint, FrictionRule, Law};
use crate::dynamics::Link;
use crate::geometry::Shape;
pub use crate::ids::Owner;

use super::{self as scene, Axes, Course, Fault, LoopKind, Material, StepSettings, Table};
use crate::space::{Pose, Quaternion, Vector, add, scale, sub};

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
    /// Shapes that no force moves.
    pub world: Vec<WorldPart>,
    /// Materials of the scene, followed by 'default' if a shape needs it.
    pub materials: Vec<Material>,
    /// Contact law of each material.
    pub laws: Vec<Law>,
    /// How the coefficients of friction of two materials combine where no pair overrides it.
    pub friction_rule: FrictionRule,
    /// Where between two undeformed surfaces contact forces act where no pair overrides it.
    pub contact_point: ContactPoint,
    /// Exceptions for pairs of materials or bodies.
    pub pairs: Vec<Pair>,
    /// Applied forces and torques.
    pub loads: Vec<Load>,
    /// Springs and dampers.
    pub springs: Vec<Spring>,
    /// Drives on joints.
    pub motors: Vec<Motor>,
    /// Constraints between any two bodies.
    pub loops: Vec<Loop>,
    /// Equations between the coordinates of two joints.
    pub gears: Vec<Gear>,
    /// Time stepping.
    pub step: StepSettings,
    /// What a run records.
    pub record: Recorded,
    /// What is allowed and most likely not meant, by the paths of values.
    pub warnings: Vec<Fault>,
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
    /// What resists each degree of freedom; empty for free, planar, spherical and fixed joints.
    pub axes: Vec<JointAxis>,
    /// Velocity at which the surface runs over the body, in body axes, m/s.
    pub surface: Option<Course<Vector>>,
}

/// What resists one degree of freedom of a joint; m and N for translations, rad and N m for rotations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JointAxis {
    /// Least and largest coordinate.
    pub limits: Option<[f64; 2]>,
    /// Compliance of the limits; `None` if they are rigid.
    pub stop: Option<Compliant>,
    /// Restitution of rigid limits.
    pub restitution: f64,
    /// Largest effort of Coulomb friction.
    pub friction: f64,
    /// Spring and damper in the joint; `None` without.
    pub spring: Option<Compliant>,
    /// Coordinate at which the spring is without force.
    pub rest: f64,
    /// Inertia of a drive, seen at the joint.
    pub armature: f64,
}

/// A spring and a damper beside it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Compliant {
    /// Stiffness, N/m or N m/rad.
    pub stiffness: f64,
    /// Damping, N s/m or N m s/rad.
    pub damping: f64,
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

/// A shape that no force moves.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldPart {
    /// Unique among bodies and world parts.
    pub name: String,
    /// Shape, pose and material of the world part.
    pub part: Part,
    /// Prescribed motion about its pose; `None` if it never moves.
    pub motion: Option<WorldMotion>,
    /// Velocity at which the surface runs over the part, in its axes, m/s.
    pub surface: Option<Course<Vector>>,
}

/// Prescribed motion of a world part about its place.
#[derive(Debug, Clone, PartialEq)]
pub struct WorldMotion {
    /// Displacement in world axes, m.
    pub position: Course<Vector>,
    /// Unit axis of rotation through the part's origin, in world axes.
    pub axis: Vector,
    /// Angle about the axis, rad.
    pub angle: Course<f64>,
}

/// Motion of a world part about its place from one time to another, linear between: it replaces the scene's course.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartMotion {
    /// Index of the world part.
    pub part: usize,
    /// Begin and end, s: those of the step.
    pub time: [f64; 2],
    /// Displacement at both, in world axes, m.
    pub position: [Vector; 2],
    /// Angle about the axis of the part's motion at both, rad.
    pub angle: [f64; 2],
}

impl PartMotion {
    /// Displacement and angle at a time.
    pub fn at(&self, time: f64) -> (Vector, f64) {
        let [begin, end] = self.time;
        let share = if end > begin { (time - begin) / (end - begin) } else { 1.0 };
        let between = |a: f64, b: f64| a + share * (b - a);
        let [p, q] = self.position;
        ([0, 1, 2].map(|k| between(p[k], q[k])), between(self.angle[0], self.angle[1]))
    }
}

impl WorldMotion {
    /// Displacement and angle at a time, by the course or by an input.
    fn at(&self, input: Option<&PartMotion>, time: f64) -> (Vector, f64) {
        input.map_or_else(|| (self.position.at(time), self.angle.at(time)), |input| input.at(time))
    }
}

impl WorldPart {
    /// Pose at a time (s).
    pub fn pose(&self, time: f64) -> Pose {
        self.driven_pose(None, time)
    }

    /// The same, with an input in the place of its course.
    pub fn driven_pose(&self, input: Option<&PartMotion>, time: f64) -> Pose {
        let own = self.part.pose;
        let Some(motion) = &self.motion else { return own };
        let (shift, angle) = motion.at(input, time);
        let turn = Quaternion::turn(scale(angle, motion.axis));
        Pose { position: add(own.position, shift), attitude: turn.after(own.attitude) }
    }

    /// Mean velocity of its origin and mean angular velocity from a time on, over `h`, with an input in the place of its course.
    pub fn velocity(&self, input: Option<&PartMotion>, time: f64, h: f64) -> (Vector, Vector) {
        let Some(motion) = &self.motion else { return ([0.0; 3], [0.0; 3]) };
        let [(shift, angle), (shift_end, angle_end)] = [time, time + h].map(|t| motion.at(input, t));
        (scale(1.0 / h, sub(shift_end, shift)), scale((angle_end - angle) / h, motion.axis))
    }
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

/// A drive on one degree of freedom of a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Motor {
    /// Index of the body whose joint it drives.
    pub body: usize,
    /// Number of the degree of freedom within the joint.
    pub dof: usize,
    /// What it prescribes.
    pub drive: Drive,
    /// Largest effort, N or N m; infinite for a prescribed effort.
    pub max_effort: f64,
}

/// What a motor prescribes.
#[derive(Debug, Clone, PartialEq)]
pub enum Drive {
    /// Effort, N or N m.
    Effort(Course<f64>),
    /// Velocity, m/s or rad/s; with a gain the effort is `-damping (v - velocity)`.
    Velocity {
        /// Target.
        course: Course<f64>,
        /// Gain of a servo; `None` if the velocity is prescribed.
        damping: Option<f64>,
    },
    /// Position, m or rad; with gains the effort is `-stiffness (q - position) - damping (v - velocity)`.
    Position {
        /// Target.
        course: Course<f64>,
        /// Velocity without effort of the damping; the rate of `course` by default.
        velocity: Option<Course<f64>>,
        /// Gains of a servo; `None` if the position is prescribed.
        gains: Option<Compliant>,
    },
}

impl Drive {
    /// The course that targets of inputs replace.
    pub fn course(&self) -> &Course<f64> {
        match self {
            Self::Effort(course) | Self::Velocity { course, .. } | Self::Position { course, .. } => course,
        }
    }
}

/// A constraint between two bodies.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// Name in tables and messages.
    pub name: String,
    /// What is constrained.
    pub kind: LoopKind,
    /// The two ends.
    pub ends: [End; 2],
    /// Attitudes in the two bodies (or the world) that are equal in world axes while the constraint holds; a
    /// hinge rotates about their z axis.
    pub frames: [Quaternion; 2],
    /// Whether it is in a planar scene.
    pub planar: bool,
    /// Length of a distance or rope, m.
    pub length: f64,
    /// Compliance; `None` if rigid.
    pub compliance: Option<Compliant>,
}

/// The equation `q_1 = ratio q_2 + offset` between two joints.
#[derive(Debug, Clone, PartialEq)]
pub struct Gear {
    /// Indices of the two bodies.
    pub bodies: [usize; 2],
    /// Numbers of the degrees of freedom within their joints.
    pub dofs: [usize; 2],
    /// Ratio of the velocities.
    pub ratio: f64,
    /// Offset, m or rad.
    pub offset: f64,
    /// Compliance; `None` if rigid.
    pub compliance: Option<Compliant>,
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
impl Resolved {
    /// Poses of the bodies in the world, at the start.
    pub fn initial_poses(&self) -> Vec<Pose> {
        let mut poses: Vec<Pose> = Vec::with_capacity(self.bodies.len());
        for body in &self.bodies {
            let parent = body.link.parent.map_or(Pose::IDENTITY, |i| poses[i]);
            poses.push(body.link.joint.place(&parent.then(&body.link.mount), &body.position));
        }
        poses
    }
}
