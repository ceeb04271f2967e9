//! Bodies, joints, shapes.

use super::Reader;
use crate::dynamics::{Joint, Link};
use crate::geometry::Shape;
use crate::scene::raw::{self, At, Numbers};
use crate::scene::{Body, Material, Part, WorldPart};
use crate::space::{Pose, cross, dot, sub};
use std::collections::HashSet;

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
        use raw::Shape as Raw;
        let flat = matches!(given.get(), Raw::Ellipse { .. } | Raw::Polygon { .. });
        let half_space = matches!(given.get(), Raw::HalfSpace);
        if !half_space && flat != self.planar {
            let message = if self.planar {
                "a shape in space in a planar scene, expected half_space, ellipse or polygon"
            } else {
                "a planar shape in a scene that is not planar, expected a shape in space, or planar = true"
            };
            self.fault(&given.span(), message);
            return Shape::HalfSpace;
        }
        match given.get() {
            Raw::HalfSpace => Shape::HalfSpace,
            Raw::Sphere { radius } => Shape::Sphere { radius: self.positive(radius, "radius") },
            Raw::Ellipsoid { semi_axes } => {
                Shape::Ellipsoid { semi_axes: self.lengths(semi_axes, "semi_axes") }
            }
            Raw::Capsule { radius, half_length } => Shape::Capsule {
                radius: self.positive(radius, "radius"),
                half_length: self.positive(half_length, "half_length"),
            },
            Raw::Cylinder { radius, half_length } => Shape::Cylinder {
                radius: self.positive(radius, "radius"),
                half_length: self.positive(half_length, "half_length"),
            },
            Raw::Box { half } => Shape::Box { half: self.lengths(half, "half") },
            Raw::Ellipse { semi_axes } => Shape::Ellipse { semi_axes: self.lengths(semi_axes, "semi_axes") },
            Raw::Polytope { vertices } => self.polytope(vertices),
            Raw::Polygon { vertices } => self.polygon(vertices),
        }
    }

    fn polytope(&mut self, given: &At<Vec<Numbers>>) -> Shape {
        let vertices: Vec<[f64; 3]> = given.get().iter().map(|v| self.list(v, "a corner")).collect();
        // the far corner from the first, the far one from that line, the far one from that plane
        let first = vertices.first().copied().unwrap_or_default();
        let arms: Vec<[f64; 3]> = vertices.iter().map(|&v| sub(v, first)).collect();
        let far = |measure: &dyn Fn([f64; 3]) -> f64| {
            arms.iter().copied().max_by(|&a, &b| measure(a).total_cmp(&measure(b))).unwrap_or_default()
        };
        let a = far(&|x| dot(x, x));
        let b = far(&|x| dot(cross(a, x), cross(a, x)));
        let c = far(&|x| dot(cross(a, b), x).abs());
        let size = dot(a, a).sqrt();
        if vertices.len() < 4 || dot(cross(a, b), c).abs() <= 1e-12 * size.powi(3) {
            self.fault(&given.span(), "corners of a polytope, expected at least 4 that are not in one plane");
        }
        Shape::Polytope { vertices }
    }

    fn polygon(&mut self, given: &At<Vec<Numbers>>) -> Shape {
        let vertices: Vec<[f64; 2]> = given.get().iter().map(|v| self.list(v, "a corner")).collect();
        let n = vertices.len();
        let edge = |i: usize| {
            let (a, b) = (vertices[i % n], vertices[(i + 1) % n]);
            [b[0] - a[0], b[1] - a[1]]
        };
        let turn = |i: usize| {
            let (e, f) = (edge(i), edge(i + 1));
            (e[0] * f[1] - e[1] * f[0]).atan2(e[0] * f[0] + e[1] * f[1])
        };
        // convex and counter-clockwise: every turn is to the left, and all of them make one round
        let round: f64 = (0..n).map(turn).sum();
        if n < 3 || (0..n).any(|i| turn(i) <= 1e-12) || (round - std::f64::consts::TAU).abs() > 1e-6 {
            let message = "corners of a polygon, expected at least 3, convex, counter-clockwise, none on a straight line";
            self.fault(&given.span(), message);
            return Shape::Ellipse { semi_axes: [1.0, 1.0] };
        }
        Shape::Polygon { vertices }
    }
}
