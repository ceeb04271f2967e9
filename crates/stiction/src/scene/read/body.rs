//! Bodies, joints, shapes.

use super::Reader;
use crate::dynamics::{Joint, Link};
use crate::geometry::{InvalidShape, Shape, Solid};
use crate::scene::raw::{self, At, Numbers};
use crate::scene::{Body, Material, Part, WorldPart};
use crate::space::Pose;
use std::collections::HashSet;
use std::ops::Range;

/// What stands in for a shape that is at fault, in any scene.
const HARMLESS: Shape = Shape::Sphere { radius: 1.0 };

impl Reader<'_> {
    pub fn world(&mut self, raw: &[raw::WorldPart], materials: &mut Vec<Material>) -> Vec<WorldPart> {
        let mut taken = HashSet::new();
        let mut parts = Vec::new();
        for w in raw {
            let name = self.name(&w.name, "world part", &mut taken);
            let pose = self.pose(
                w.position.as_ref(),
                w.orientation.as_ref(),
                w.angle.as_ref(),
                w.angle_deg.as_ref(),
            );
            let material = self.material(w.material.as_ref(), materials);
            let shape = self.shape(&w.shape);
            parts.push(WorldPart { name, part: Part { shape, pose, material } });
        }
        parts
    }

    pub fn bodies(
        &mut self,
        raw: &[raw::Body],
        world: &[WorldPart],
        materials: &mut Vec<Material>,
    ) -> Vec<Body> {
        let mut taken: HashSet<String> = world.iter().map(|w| w.name.clone()).collect();
        for body in raw {
            self.name(&body.name, "body", &mut taken);
        }
        let (order, parents) = self.order(raw);
        let mut place = vec![0; raw.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let mut bodies = Vec::new();
        for &old in &order {
            let body = &raw[old];
            let parts = self.parts(body, materials);
            let joint = self.joint(body);
            let link = Link {
                parent: parents[old].map(|p| place[p]),
                mount: self.mount(body, &joint),
                inertia: self.inertia(body, &parts, materials),
                joint,
            };
            let (position, velocity) = self.start(body, &joint);
            bodies.push(Body { name: body.name.get().clone(), link, parts, position, velocity });
        }
        bodies
    }

    fn parts(&mut self, body: &raw::Body, materials: &mut Vec<Material>) -> Vec<Part> {
        let mut parts = Vec::new();
        if let Some(shape) = &body.shape {
            let material = self.material(body.material.as_ref(), materials);
            parts.push(Part { shape: self.shape(shape), pose: Pose::IDENTITY, material });
        }
        for part in &body.parts {
            let material = part.material.as_ref().or(body.material.as_ref());
            let material = self.material(material, materials);
            let pose = self.pose(
                part.position.as_ref(),
                part.orientation.as_ref(),
                part.angle.as_ref(),
                part.angle_deg.as_ref(),
            );
            parts.push(Part { shape: self.shape(&part.shape), pose, material });
        }
        parts
    }

    fn joint(&mut self, body: &raw::Body) -> Joint {
        let Some(given) = &body.joint else {
            return if self.planar { Joint::Planar } else { Joint::Free };
        };
        match given.get() {
            raw::Joint::Free | raw::Joint::Spherical if self.planar => {
                let expected = "expected planar, revolute, prismatic or fixed";
                self.fault(
                    &given.span(),
                    format!("this joint leaves the plane of a planar scene, {expected}"),
                );
                Joint::Planar
            }
            raw::Joint::Free => Joint::Free,
            raw::Joint::Planar => Joint::Planar,
            raw::Joint::Revolute { axis: None } => Joint::Revolute { axis: [0.0, 0.0, 1.0] },
            raw::Joint::Revolute { axis: Some(axis) } if self.planar => {
                self.fault(
                    &axis.span(),
                    "axis of a revolute joint in a planar scene, expected none: it is z",
                );
                Joint::Revolute { axis: [0.0, 0.0, 1.0] }
            }
            raw::Joint::Revolute { axis: Some(axis) } => Joint::Revolute { axis: self.axis(axis) },
            raw::Joint::Prismatic { axis } => Joint::Prismatic { axis: self.axis(axis) },
            raw::Joint::Spherical => Joint::Spherical,
            raw::Joint::Fixed => Joint::Fixed,
        }
    }

    fn mount(&mut self, body: &raw::Body, joint: &Joint) -> Pose {
        if let (Joint::Free, Some(parent)) = (joint, body.parent.as_ref().filter(|p| p.get() != "world")) {
            self.fault(&parent.span(), "a free body has no parent, expected another joint, or no parent");
        }
        let Some(given) = &body.mount else { return Pose::IDENTITY };
        if *joint == Joint::Free {
            self.fault(
                &given.span(),
                "a free body has no mount, expected position and orientation of the body",
            );
        }
        let m = given.get();
        self.pose(m.position.as_ref(), m.orientation.as_ref(), m.angle.as_ref(), m.angle_deg.as_ref())
    }

    /// `q` and `v` at the start.
    fn start(&mut self, body: &raw::Body, joint: &Joint) -> (Vec<f64>, Vec<f64>) {
        let (places, turns, angles, spins, kind) = match joint {
            Joint::Free => (true, true, false, true, "free"),
            Joint::Planar => (true, false, true, true, "planar"),
            Joint::Revolute { .. } => (false, false, true, true, "revolute"),
            Joint::Prismatic { .. } => (true, false, false, false, "prismatic"),
            Joint::Spherical => (false, true, false, true, "spherical"),
            Joint::Fixed => (false, false, false, false, "fixed"),
        };
        let given = [
            ("position", places, body.position.as_ref().map(At::span)),
            ("velocity", places, body.velocity.as_ref().map(At::span)),
            ("orientation", turns, body.orientation.as_ref().map(At::span)),
            ("angle", angles, body.angle.as_ref().map(At::span)),
            ("angle_deg", angles, body.angle_deg.as_ref().map(At::span)),
            ("angular_velocity", spins, body.angular_velocity.as_ref().map(At::span)),
        ];
        for (key, _, span) in given.iter().filter(|(_, known, _)| !known) {
            if let Some(span) = span {
                let known: Vec<&str> =
                    given.iter().filter(|(_, known, _)| *known).map(|(k, _, _)| *k).collect();
                let expected = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                self.fault(span, format!("{key} of a body on a {kind} joint, expected {expected}"));
            }
        }
        let (mut q, mut v) = (Vec::new(), Vec::new());
        let count = match joint {
            Joint::Free => 3,
            Joint::Planar => 2,
            _ => 1,
        };
        if places {
            q.extend(self.some(body.position.as_ref(), count, "position"));
            v.extend(self.some(body.velocity.as_ref(), count, "velocity"));
        }
        if turns {
            let orientation = body.orientation.as_ref().map(|o| self.orientation(o).0);
            q.extend(orientation.unwrap_or([1.0, 0.0, 0.0, 0.0]));
        }
        if angles {
            q.push(self.angle(body.angle.as_ref(), body.angle_deg.as_ref()).unwrap_or(0.0));
        }
        if spins {
            let count = if turns { 3 } else { 1 };
            v.extend(self.some(body.angular_velocity.as_ref(), count, "angular_velocity"));
        }
        (q, v)
    }

    /// One, two or three numbers, zeros by default.
    fn some(&mut self, given: Option<&Numbers>, count: usize, what: &str) -> Vec<f64> {
        match (given, count) {
            (None, _) => vec![0.0; count],
            (Some(x), 1) => self.list::<1>(x, what).to_vec(),
            (Some(x), 2) => self.list::<2>(x, what).to_vec(),
            (Some(x), _) => self.list::<3>(x, what).to_vec(),
        }
    }

    pub fn shape(&mut self, given: &At<raw::Shape>) -> Shape {
        let before = self.faults.len();
        let shape = self.shape_as_given(given.get());
        if self.faults.len() > before {
            return HARMLESS;
        }
        if let Err(e) = Solid::new(&shape, self.planar) {
            self.fault(&place_in_shape(given, &e), e.to_string());
            return HARMLESS;
        }
        shape
    }

    fn shape_as_given(&mut self, given: &raw::Shape) -> Shape {
        use raw::Shape as Raw;
        match given {
            Raw::HalfSpace => Shape::HalfSpace,
            Raw::Sphere { radius } => Shape::Sphere { radius: *radius.get() },
            Raw::Ellipsoid { semi_axes } => Shape::Ellipsoid { semi_axes: self.list(semi_axes, "semi_axes") },
            Raw::Capsule { radius, half_length } => {
                Shape::Capsule { radius: *radius.get(), half_length: *half_length.get() }
            }
            Raw::Cylinder { radius, half_length } => {
                Shape::Cylinder { radius: *radius.get(), half_length: *half_length.get() }
            }
            Raw::Box { half } if self.planar => {
                let [a, b] = self.list(half, "half");
                Shape::Box { half: [a, b, 0.5] }
            }
            Raw::Box { half } => Shape::Box { half: self.list(half, "half") },
            Raw::Ellipse { semi_axes } => Shape::Ellipse { semi_axes: self.list(semi_axes, "semi_axes") },
            Raw::Polytope { vertices } => Shape::Polytope {
                vertices: vertices.get().iter().map(|v| self.list(v, "a corner")).collect(),
            },
            Raw::Polygon { vertices } => {
                Shape::Polygon { vertices: vertices.get().iter().map(|v| self.list(v, "a corner")).collect() }
            }
        }
    }
}

/// Where the parameter stands that a shape was refused for.
fn place_in_shape(given: &At<raw::Shape>, error: &InvalidShape) -> Range<usize> {
    use raw::Shape as Raw;
    let parameter = if let InvalidShape::Size { parameter, .. } = error { *parameter } else { "" };
    match given.get() {
        _ if matches!(error, InvalidShape::Scene { .. }) => given.span(),
        Raw::HalfSpace => given.span(),
        Raw::Capsule { half_length, .. } | Raw::Cylinder { half_length, .. }
            if parameter == "half_length" =>
        {
            half_length.span()
        }
        Raw::Sphere { radius } | Raw::Capsule { radius, .. } | Raw::Cylinder { radius, .. } => radius.span(),
        Raw::Ellipsoid { semi_axes } | Raw::Ellipse { semi_axes } => semi_axes.span(),
        Raw::Box { half } => half.span(),
        Raw::Polytope { vertices } | Raw::Polygon { vertices } => vertices.span(),
    }
}
