//! What a picture of a scene is made of, and does not change with time: bodies, their meshes, the camera.

use crate::mesh::Mesh;
use serde::Serialize;
use stiction::dynamics::{Joint, Kinematics};
use stiction::geometry::{Shape, Solid, bounding_box};
use stiction::model::{Model, Owner};
use stiction::scene::FrictionKind;
use stiction::space::{Pose, Vector, add, cross, dot, length, scale, sub, unit};
use stiction::state::ContactId;

/// A half-space is drawn this many times larger than the scene.
const GROUND: f64 = 20.0;
/// Radius of links and joints without a shape, as a share of the scene's size.
const LINK: f64 = 0.012;

/// Bodies, world parts and meshes. Owners are numbered: bodies first, then world parts.
#[derive(Debug, Clone, Serialize)]
pub struct Scenery {
    /// Name of the scene.
    pub name: String,
    /// Whether everything happens in the x-y plane.
    pub planar: bool,
    /// Acceleration of gravity, m/s^2.
    pub gravity: Vector,
    /// Where up is: against gravity, or z (planar: y) without gravity.
    pub up: Vector,
    /// Step, s.
    pub h: f64,
    /// Tolerance of the relative residual.
    pub tolerance: f64,
    /// Duration of the scene, s.
    pub duration: f64,
    /// Centre of what is to be seen at first, m.
    pub center: Vector,
    /// Radius about it, m.
    pub radius: f64,
    /// Half lengths of what is to be seen in the first picture: to the right, up, and towards the viewer, m.
    pub extent: Vector,
    /// Typical size of a body, m.
    pub size: f64,
    /// Meshes that parts refer to; equal shapes share one.
    pub meshes: Vec<Mesh>,
    /// Bodies, then world parts.
    pub owners: Vec<OwnerInfo>,
    /// Springs.
    pub springs: Vec<[SpringEnd; 2]>,
    #[serde(skip)]
    bodies: usize,
}

/// A body or a world part.
#[derive(Debug, Clone, Serialize)]
pub struct OwnerInfo {
    /// Its name.
    pub name: String,
    /// Mass, kg; none for world parts.
    pub mass: Option<f64>,
    /// Principal moments, kg m^2: the diagonal of the tensor.
    pub inertia: Option<Vector>,
    /// Centre of mass in the coordinates of the body, m.
    pub center: Vector,
    /// Kind of joint; none for world parts.
    pub joint: Option<&'static str>,
    /// Name of the parent, if it has one.
    pub parent: Option<String>,
    /// Its shapes.
    pub parts: Vec<DrawnPart>,
}

/// A shape to be drawn.
#[derive(Debug, Clone, Serialize)]
pub struct DrawnPart {
    /// Index of its mesh.
    pub mesh: usize,
    /// Name of the shape, as scenes write it; `link` for what stands for a body without shapes.
    pub shape: &'static str,
    /// Name of its material.
    pub material: String,
    /// Position in the owner, m.
    pub position: Vector,
    /// Attitude in the owner: w, x, y, z.
    pub attitude: [f64; 4],
}

/// An end of a spring.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SpringEnd {
    /// Body; none for the world.
    pub owner: Option<usize>,
    /// Point in its coordinates, m.
    pub point: Vector,
}

/// What does not change about a contact.
#[derive(Debug, Clone, Serialize)]
pub struct ContactInfo {
    /// Its name in tables.
    pub name: String,
    /// The owners that meet; the force acts on the second.
    pub owners: [usize; 2],
    /// Coefficient of friction.
    pub friction: f64,
    /// Sides of the friction set: 0 is Coulomb's cone, 4 the pyramid about it (negative), K a polygon inscribed in it.
    pub sides: i64,
    /// Anisotropic friction: the coefficient across a direction, that direction, and the owner it is fixed to.
    pub grain: Option<(f64, Vector, usize)>,
    /// Distance of elements of a patch, m; 0 if the contact has one element.
    pub spacing: f64,
    /// Elements of a patch along an edge.
    pub elements: usize,
}

impl Scenery {
    /// Everything of a model that can be drawn.
    pub fn new(model: &Model) -> Self {
        let scene = model.scene();
        let bodies = scene.bodies.len();
        let mut up = scale(-1.0, scene.gravity);
        if length(up) == 0.0 {
            up = if scene.planar { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
        }
        let mut scenery = Self {
            name: scene.name.clone(),
            planar: scene.planar,
            gravity: scene.gravity,
            up: unit(up),
            h: scene.step.h,
            tolerance: scene.step.tolerance,
            duration: scene.step.duration,
            center: [0.0; 3],
            radius: 1.0,
            extent: [1.0; 3],
            size: 1.0,
            meshes: vec![],
            owners: vec![],
            springs: vec![],
            bodies,
        };
        let start = model.initial();
        let mut kinematics = Kinematics::new(model.system());
        kinematics.go_to(&start.position, &start.velocity);
        let poses: Vec<Pose> = (0..bodies).map(|i| kinematics.pose(i)).collect();
        scenery.look_at(model, std::iter::once(&poses[..]));
        scenery.size = scenery.typical_size(model);
        scenery.add_owners(model);
        let end = |e: &stiction::model::resolved::End| SpringEnd { owner: e.body, point: e.point };
        scenery.springs = scene.springs.iter().map(|s| [end(&s.ends[0]), end(&s.ends[1])]).collect();
        scenery
    }

    /// Number of bodies.
    pub fn bodies(&self) -> usize {
        self.bodies
    }

    /// Half of the vertical angle of view, rad.
    pub const HALF_ANGLE: f64 = 0.39;
    /// Share by which a picture is larger than what is to be seen.
    pub const MARGIN: f64 = 1.2;

    /// Directions of a picture: to the right, up, and towards the viewer.
    pub fn directions(&self) -> [Vector; 3] {
        if self.planar {
            return [cross(self.up, [0.0, 0.0, 1.0]), self.up, [0.0, 0.0, 1.0]];
        }
        // from the front, a little to the side and from above
        let along = if self.up[1].abs() > 0.9 { [0.0, 0.0, 1.0] } else { [0.0, -1.0, 0.0] };
        let front = unit(sub(along, scale(dot(along, self.up), self.up)));
        let side = cross(self.up, front);
        let (azimuth, elevation) = (0.55f64, 0.38f64);
        let flat = add(scale(azimuth.cos(), front), scale(azimuth.sin(), side));
        let back = add(scale(elevation.cos(), flat), scale(elevation.sin(), self.up));
        let right = unit(cross(self.up, back));
        [right, cross(back, right), back]
    }

    /// Chooses what is to be seen: all bodies at all of the given poses.
    pub fn look_at<'a>(&mut self, model: &Model, frames: impl Iterator<Item = &'a [Pose]>) {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        let mut see = |min: Vector, max: Vector| {
            for k in 0..3 {
                if min[k].is_finite() && max[k].is_finite() {
                    (low[k], high[k]) = (low[k].min(min[k]), high[k].max(max[k]));
                }
            }
        };
        let around = |solid: &Solid, pose: &Pose| {
            let aabb = bounding_box(solid, pose, 0.0);
            (aabb.min, aabb.max)
        };
        let mut world = true;
        for poses in frames {
            for part in model.parts() {
                if matches!(part.solid.shape(), Shape::HalfSpace) {
                    continue;
                }
                let (min, max) = match part.owner {
                    Owner::Body(i) => around(&part.solid, &poses[i].then(&part.local)),
                    Owner::World(_) if world => around(&part.solid, &part.local),
                    Owner::World(_) => continue,
                };
                see(min, max);
            }
            for (i, body) in model.scene().bodies.iter().enumerate() {
                for point in [[0.0; 3], body.link.inertia.center] {
                    let point = poses[i].point(point);
                    see(point, point);
                }
            }
            world = false;
        }
        for k in 0..3 {
            if low[k] > high[k] {
                (low[k], high[k]) = (0.0, 0.0);
            }
        }
        self.center = scale(0.5, add(low, high));
        let radius = 0.5 * length(sub(high, low));
        self.radius = if radius > 1e-9 { radius } else { 1.0 };
        let half = scale(0.5, sub(high, low));
        // a box seen from aside is as wide as its edges are, one after the other
        let along = |axis: Vector| (0..3).map(|k| half[k] * axis[k].abs()).sum::<f64>();
        self.extent = self.directions().map(along).map(|x| x.max(0.2 * self.radius));
    }

    /// The median of the bodies' sizes: that of arrows and points goes by it.
    fn typical_size(&self, model: &Model) -> f64 {
        let mut sizes: Vec<f64> =
            model.reaches().iter().copied().filter(|r| r.is_finite() && *r > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.get(sizes.len() / 2).copied().unwrap_or(0.2 * self.radius).min(self.radius)
    }

    fn add_owners(&mut self, model: &Model) {
        let scene = model.scene();
        let reach = GROUND * self.radius;
        let mut shapes: Vec<(Shape, usize)> = vec![];
        let owners = (0..self.bodies).map(Owner::Body).chain((0..scene.world.len()).map(Owner::World));
        for owner in owners {
            let mut parts = vec![];
            for part in model.parts().iter().filter(|p| p.owner == owner) {
                let shape = part.solid.shape();
                let known = shapes.iter().find(|(s, _)| s == shape).map(|(_, mesh)| *mesh);
                let mesh = known.unwrap_or_else(|| {
                    self.meshes.push(Mesh::of(&part.solid, reach));
                    shapes.push((shape.clone(), self.meshes.len() - 1));
                    self.meshes.len() - 1
                });
                parts.push(DrawnPart {
                    mesh,
                    shape: shape.name(),
                    material: scene.materials[part.material].name.clone(),
                    position: part.local.position,
                    attitude: part.local.attitude.0,
                });
            }
            let mut info = OwnerInfo {
                name: scene.name_of(owner).to_owned(),
                mass: None,
                inertia: None,
                center: [0.0; 3],
                joint: None,
                parent: None,
                parts,
            };
            if let Owner::Body(i) = owner {
                let link = &scene.bodies[i].link;
                let tensor = link.inertia.tensor;
                info.mass = Some(link.inertia.mass);
                info.inertia = Some([0, 1, 2].map(|k| tensor[k][k]));
                info.center = link.inertia.center;
                info.joint = Some(link.joint.name());
                info.parent = link.parent.map(|p| scene.bodies[p].name.clone());
                if info.parts.is_empty() {
                    info.parts.push(self.stick_figure(model, i));
                }
            }
            self.owners.push(info);
        }
    }

    /// What stands for a body without shapes: rods from its joint to its centre of mass and to the joints of its children.
    fn stick_figure(&mut self, model: &Model, body: usize) -> DrawnPart {
        let (scene, radius) = (model.scene(), LINK * self.radius);
        let link = &scene.bodies[body].link;
        let mut mesh = Mesh::ball(link.inertia.center, 2.0 * radius);
        mesh.add(&Mesh::rod([0.0; 3], link.inertia.center, radius));
        if link.joint != Joint::Free {
            mesh.add(&Mesh::ball([0.0; 3], 1.5 * radius));
        }
        for child in scene.bodies.iter().filter(|b| b.link.parent == Some(body)) {
            mesh.add(&Mesh::rod([0.0; 3], child.link.mount.position, radius));
        }
        self.meshes.push(mesh);
        let (position, attitude) = ([0.0; 3], [1.0, 0.0, 0.0, 0.0]);
        DrawnPart { mesh: self.meshes.len() - 1, shape: "link", material: String::new(), position, attitude }
    }

    /// The number of an owner.
    pub fn index(&self, owner: Owner) -> usize {
        match owner {
            Owner::Body(i) => i,
            Owner::World(i) => self.bodies + i,
        }
    }

    /// What is known of a contact of two parts.
    pub fn contact(&self, model: &Model, name: String, owners: [Owner; 2], id: ContactId) -> ContactInfo {
        let rule = model.contacts().rule_of(id);
        let given = rule.map(|r| &r.given);
        let grid = given.map(|g| g.law.grid(model.contacts().directions())).filter(|g| g.count() > 1);
        ContactInfo {
            name,
            owners: owners.map(|o| self.index(o)),
            friction: given.map_or(0.0, |g| g.friction),
            sides: match given.map(|g| g.friction_set) {
                Some(FrictionKind::Pyramid) => -4,
                Some(FrictionKind::Polygon { sides }) => sides as i64,
                _ => 0,
            },
            grain: given.and_then(|g| g.grain).map(|g| (g.across, g.along, self.index(g.of))),
            spacing: grid.map_or(0.0, |g| g.spacing),
            elements: grid.map_or(1, |g| g.elements),
        }
    }
}
