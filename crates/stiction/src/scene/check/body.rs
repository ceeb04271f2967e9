//! Bodies, joints, shapes.

use super::{At, Checker};
use crate::dynamics::{Joint, Link};
use crate::geometry::{InvalidShape, Shape, Solid};
use crate::scene::resolved::{Body, Compliant, JointAxis, Part, WorldPart};
use crate::scene::{self, Material, Method, Numbers};
use crate::space::{Pose, cross, length};
use std::collections::HashSet;

/// What stands in for a shape that is at fault, in any scene.
const HARMLESS: Shape = Shape::Sphere { radius: 1.0 };

impl Checker<'_> {
    pub fn world(&mut self, materials: &mut Vec<Material>) -> Vec<WorldPart> {
        let list = At::ROOT.key("world");
        let mut taken = HashSet::new();
        let mut parts = Vec::new();
        for (i, w) in self.scene.world.iter().enumerate() {
            let at = list.index(i);
            self.name(&w.name, "world part", &mut taken, at);
            let angles = [w.angle, w.angle_deg];
            let pose = self.pose(w.position.as_ref(), w.orientation.as_ref(), angles, at);
            let material = self.material(w.material.as_deref(), materials, at.key("material"));
            let shape = self.shape(&w.shape, at.key("shape"));
            let motion = w.motion.as_ref().map(|m| self.world_motion(m, at.key("motion")));
            let surface = w.surface_velocity.as_ref();
            let surface = surface.map(|c| self.course(c, at.key("surface_velocity"), Self::vector));
            let (name, part) = (w.name.clone(), Part { shape, pose, material });
            parts.push(WorldPart { name, part, motion, surface });
        }
        parts
    }

    pub fn bodies(&mut self, world: &[WorldPart], materials: &mut Vec<Material>) -> Vec<Body> {
        let (given, list) = (&self.scene.bodies, At::ROOT.key("body"));
        let mut taken: HashSet<String> = world.iter().map(|w| w.name.clone()).collect();
        for (i, body) in given.iter().enumerate() {
            self.name(&body.name, "body", &mut taken, list.index(i));
        }
        let (order, parents) = self.order();
        let mut place = vec![0; given.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let mut bodies = Vec::new();
        for &old in &order {
            let (body, at) = (&given[old], list.index(old));
            let parts = self.parts(body, materials, at);
            let joint = self.joint(body, at.key("joint"));
            let link = Link {
                parent: parents[old].map(|p| place[p]),
                mount: self.mount(body, &joint, at),
                inertia: self.inertia(body, &parts, materials, at),
                joint,
            };
            let (position, velocity) = self.start(body, &joint, at);
            let axes = self.joint_axes(body, &position, at);
            let surface = body.surface_velocity.as_ref();
            let surface = surface.map(|c| self.course(c, at.key("surface_velocity"), Self::vector));
            let name = body.name.clone();
            bodies.push(Body { name, given: old, link, parts, position, velocity, axes, surface });
        }
        bodies
    }

    fn parts(&mut self, body: &scene::Body, materials: &mut Vec<Material>, at: At<'_>) -> Vec<Part> {
        let mut parts = Vec::new();
        if let Some(shape) = &body.shape {
            let material = self.material(body.material.as_deref(), materials, at.key("material"));
            parts.push(Part { shape: self.shape(shape, at.key("shape")), pose: Pose::IDENTITY, material });
        }
        let list = at.key("part");
        for (i, part) in body.parts.iter().enumerate() {
            let here = list.index(i);
            let material = match &part.material {
                Some(name) => self.material(Some(name), materials, here.key("material")),
                None => self.material(body.material.as_deref(), materials, at.key("material")),
            };
            let angles = [part.angle, part.angle_deg];
            let pose = self.pose(part.position.as_ref(), part.orientation.as_ref(), angles, here);
            parts.push(Part { shape: self.shape(&part.shape, here.key("shape")), pose, material });
        }
        parts
    }

    fn joint(&mut self, body: &scene::Body, at: At<'_>) -> Joint {
        use scene::Joint as Given;
        const Z: [f64; 3] = [0.0, 0.0, 1.0];
        match &body.joint {
            None if self.planar => Joint::Planar,
            None => Joint::Free,
            Some(
                Given::Free
                | Given::Spherical
                | Given::Screw(_)
                | Given::Cylindrical(_)
                | Given::Universal(_),
            ) if self.planar => {
                let expected = "expected planar, revolute, prismatic or fixed";
                self.fault(at, format!("this joint leaves the plane of a planar scene, {expected}"));
                Joint::Planar
            }
            Some(Given::Free) => Joint::Free,
            Some(Given::Planar) => Joint::Planar,
            Some(Given::Revolute(scene::Revolute { axis: Some(_), .. })) if self.planar => {
                let message = "axis of a revolute joint in a planar scene, expected none: it is z";
                self.fault(at.key("revolute").key("axis"), message);
                Joint::Revolute { axis: Z }
            }
            Some(Given::Revolute(j)) => {
                let axis = j.axis.as_ref().map_or(Z, |a| self.axis(a, at.key("revolute").key("axis")));
                Joint::Revolute { axis }
            }
            Some(Given::Prismatic(j)) => {
                Joint::Prismatic { axis: self.axis(&j.axis, at.key("prismatic").key("axis")) }
            }
            Some(Given::Screw(j)) => {
                let at = at.key("screw");
                let axis = j.axis.as_ref().map_or(Z, |a| self.axis(a, at.key("axis")));
                let pitch = self.number(j.pitch, at.key("pitch"), |p| p != 0.0, "a number that is not 0");
                Joint::Screw { axis, pitch: pitch / std::f64::consts::TAU }
            }
            Some(Given::Cylindrical(j)) => {
                let at = at.key("cylindrical");
                Joint::Cylindrical { axis: j.axis.as_ref().map_or(Z, |a| self.axis(a, at.key("axis"))) }
            }
            Some(Given::Universal(j)) => {
                let (at, mut axes) = (at.key("universal"), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
                if let Some(given) = &j.axes {
                    let here = at.key("axes");
                    axes = [0, 1].map(|k| self.axis(&given[k], here.index(k)));
                    if length(cross(axes[0], axes[1])) < 1e-3 {
                        self.fault(here, "the axes are parallel, expected two that are not");
                    }
                }
                Joint::Universal { axes }
            }
            Some(Given::Spherical) => Joint::Spherical,
            Some(Given::Fixed) => Joint::Fixed,
        }
    }

    /// What resists each degree of freedom of a joint; the start must be within its limits.
    fn joint_axes(&mut self, body: &scene::Body, start: &[f64], at: At<'_>) -> Vec<JointAxis> {
        let Some(joint) = &body.joint else { return vec![] };
        let (all, key) = (at.key("joint"), joint.key());
        let own = all.key(key);
        let mut axes = Vec::new();
        for (k, (inner, axis)) in joint.axes().into_iter().enumerate() {
            let within = own.key(inner.unwrap_or_default());
            let at = if inner.is_some() { within } else { own };
            // the names of joints and of their axes say what is a rotation
            let rotates = !matches!((key, inner), ("prismatic", _) | (_, Some("translation")));
            if let Some(limits) = axis.limits.filter(|_| rotates) {
                self.doubt_limits(limits, key, at.key("limits"));
            }
            axes.push(self.joint_axis(&axis, start.get(k).copied().unwrap_or(0.0), at));
        }
        let step = &self.scene.step;
        let rows = |a: &JointAxis| a.limits.is_some() || a.friction > 0.0 || a.spring.is_some();
        if step.solver == Method::Lemke && axes.iter().any(rows) {
            self.fault(
                own,
                "lemke is for contacts alone, expected no limits, friction, springs or damping in joints, or solver = \"auto\"",
            );
        }
        if step.explicit_share > 0.5 && axes.iter().any(|a| a.limits.is_some()) {
            let share = step.explicit_share;
            let why = "where joints have limits: above, they give back more velocity than they take";
            let message = format!("explicit_share is {share}, expected at most 0.5 {why}");
            self.fault(At::ROOT.key("step").key("explicit_share"), message);
        }
        axes
    }

    fn joint_axis(&mut self, axis: &scene::Axis, start: f64, at: At<'_>) -> JointAxis {
        let scene::Axis { limits, limits_deg: degrees, stop, friction, damping, stiffness, rest, armature } =
            axis;
        if limits.is_some() && degrees.is_some() {
            self.fault(at.key("limits_deg"), "limits_deg beside limits, expected one of them");
        }
        let here = at.key(if limits.is_some() { "limits" } else { "limits_deg" });
        let limits = limits.or(degrees.map(|d| d.map(f64::to_radians)));
        if let Some([lower, upper]) = limits {
            if lower > upper {
                self.fault(here, format!("limits are [{lower}, {upper}], expected the lower one first"));
            } else if !(lower..=upper).contains(&start) {
                let message =
                    format!("the joint starts at {start}, expected a start from {lower} to {upper}");
                self.fault(here, message);
            }
        }
        let mut size = |x: &Option<f64>, key| x.map_or(0.0, |x| self.not_negative(x, at.key(key)));
        let (friction, armature) = (size(friction, "friction"), size(armature, "armature"));
        let spring = Compliant { stiffness: size(stiffness, "stiffness"), damping: size(damping, "damping") };
        if rest.is_some() && spring.stiffness == 0.0 {
            self.fault(at.key("rest"), "rest without stiffness, expected both");
        }
        let here = at.key("stop");
        let (stop, restitution) = stop.as_ref().map_or((None, 0.0), |stop| {
            if limits.is_none() {
                self.fault(here, "stop without limits, expected both");
            }
            let compliance = self.compliance(stop.stiffness, stop.damping, here);
            let e = stop.restitution.unwrap_or(0.0);
            let range = |e| (0.0..=1.0).contains(&e);
            let e = self.number(e, here.key("restitution"), range, "a number from 0 to 1");
            if e > 0.0 && compliance.is_some() {
                let message = "restitution of a compliant stop, expected damping in its place";
                self.fault(here.key("restitution"), message);
            }
            (compliance, e)
        });
        JointAxis {
            limits,
            stop,
            restitution,
            friction,
            spring: (spring != Compliant::default()).then_some(spring),
            rest: rest.unwrap_or(0.0),
            armature,
        }
    }

    /// Spring and damper of a constraint from two keys of `at`; `None` if it is rigid.
    pub(super) fn compliance(
        &mut self,
        stiffness: Option<f64>,
        damping: Option<f64>,
        at: At<'_>,
    ) -> Option<Compliant> {
        let damping = damping.map(|d| self.not_negative(d, at.key("damping")));
        match stiffness {
            Some(k) => {
                let stiffness = self.positive(k, at.key("stiffness"));
                Some(Compliant { stiffness, damping: damping.unwrap_or(0.0) })
            }
            None => {
                if damping.is_some() {
                    self.fault(at.key("damping"), "damping without stiffness, expected both");
                }
                None
            }
        }
    }

    fn mount(&mut self, body: &scene::Body, joint: &Joint, at: At<'_>) -> Pose {
        let free = *joint == Joint::Free;
        if free && body.parent.as_ref().is_some_and(|p| p != "world") {
            let message = "a free body has no parent, expected another joint, or no parent";
            self.fault(at.key("parent"), message);
        }
        let Some(m) = &body.mount else { return Pose::IDENTITY };
        let at = at.key("mount");
        if free {
            self.fault(at, "a free body has no mount, expected position and orientation of the body");
        }
        self.pose(m.position.as_ref(), m.orientation.as_ref(), [m.angle, m.angle_deg], at)
    }

    /// `q` and `v` at the start.
    fn start(&mut self, body: &scene::Body, joint: &Joint, at: At<'_>) -> (Vec<f64>, Vec<f64>) {
        let kind = joint.name();
        let (places, turns, angles, spins) = match joint {
            Joint::Free => (true, true, false, true),
            Joint::Planar | Joint::Cylindrical { .. } => (true, false, true, true),
            Joint::Revolute { .. } | Joint::Screw { .. } => (false, false, true, true),
            Joint::Prismatic { .. } => (true, false, false, false),
            Joint::Spherical => (false, true, false, true),
            Joint::Universal { .. } => (false, false, false, true),
            Joint::Fixed => (false, false, false, false),
        };
        let two = matches!(joint, Joint::Universal { .. });
        let keys = [
            ("position", places, body.position.is_some()),
            ("velocity", places, body.velocity.is_some()),
            ("orientation", turns, body.orientation.is_some()),
            ("angle", angles, body.angle.is_some()),
            ("angle_deg", angles, body.angle_deg.is_some()),
            ("angles", two, body.angles.is_some()),
            ("angles_deg", two, body.angles_deg.is_some()),
            ("angular_velocity", spins, body.angular_velocity.is_some()),
        ];
        for (key, _, _) in keys.iter().filter(|(_, known, given)| *given && !known) {
            let known: Vec<&str> = keys.iter().filter(|(_, known, _)| *known).map(|(k, _, _)| *k).collect();
            let expected = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            self.fault(at.key(key), format!("{key} of a body on a {kind} joint, expected {expected}"));
        }
        let (mut q, mut v) = (Vec::new(), Vec::new());
        let count = match joint {
            Joint::Free => 3,
            Joint::Planar => 2,
            _ => 1,
        };
        if places {
            q.extend(self.some(body.position.as_ref(), count, at.key("position")));
            v.extend(self.some(body.velocity.as_ref(), count, at.key("velocity")));
        }
        if turns {
            let orientation = body.orientation.as_ref().map(|o| self.orientation(o, at.key("orientation")).0);
            q.extend(orientation.unwrap_or([1.0, 0.0, 0.0, 0.0]));
        }
        if let Some(angle) = body.angle.filter(|_| angles) {
            self.doubt_angle(angle, at.key("angle"));
        }
        for (k, angle) in body.angles.iter().flatten().enumerate().filter(|_| two) {
            self.doubt_angle(*angle, at.key("angles").index(k));
        }
        if angles {
            q.push(self.angle(body.angle, body.angle_deg, at).unwrap_or(0.0));
        }
        if two {
            if body.angles.is_some() && body.angles_deg.is_some() {
                self.fault(at.key("angles_deg"), "angles_deg beside angles, expected one of them");
            }
            let degrees = body.angles_deg.map(|d| d.map(f64::to_radians));
            q.extend(body.angles.or(degrees).unwrap_or_default());
        }
        if spins {
            let count = if turns {
                3
            } else if two {
                2
            } else {
                1
            };
            v.extend(self.some(body.angular_velocity.as_ref(), count, at.key("angular_velocity")));
        }
        (q, v)
    }

    /// One, two or three numbers, zeros by default.
    fn some(&mut self, given: Option<&Numbers>, count: usize, at: At<'_>) -> Vec<f64> {
        match (given, count) {
            (None, _) => vec![0.0; count],
            (Some(x), 1) => self.list::<1>(x, at).to_vec(),
            (Some(x), 2) => self.list::<2>(x, at).to_vec(),
            (Some(x), _) => self.list::<3>(x, at).to_vec(),
        }
    }

    fn shape(&mut self, shape: &Shape, at: At<'_>) -> Shape {
        let at_key = at.key(shape.name());
        if let Shape::Box { half: [_, _, depth] } = shape
            && self.planar
            && *depth != 0.0
        {
            self.fault(at_key.key("half"), "half has 3 numbers, expected a list of 2");
            return HARMLESS;
        }
        let Err(e) = Solid::new(shape, self.planar) else { return shape.clone() };
        match e {
            InvalidShape::Scene { .. } => self.fault(at, e.to_string()),
            InvalidShape::Size { parameter, .. } => {
                let parameter = parameter.split('[').next().unwrap_or_default();
                self.fault(at_key.key(parameter), e.to_string());
            }
            InvalidShape::Function { parameter, .. } => self.fault(at_key.key(parameter), e.to_string()),
            _ => self.fault(at_key.key("vertices"), e.to_string()),
        }
        HARMLESS
    }
}
