//! Random machines and parts: whatever a scene may hold, so that default settings must run it or say what is wrong.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::fmt::Write;

/// Half width of the pit between its walls, m.
pub const HALF_WIDTH: f64 = 0.5;

/// Half extents of parts and of links, m.
const PART: [f64; 2] = [0.02, 0.07];
const LINK: [f64; 2] = [0.015, 0.05];
/// Decimal exponents of the masses of parts and of links, kg.
const PART_MASS: [f64; 2] = [-3.0, 3.0];
const LINK_MASS: [f64; 2] = [-2.0, 1.5];
/// Largest numbers of links and of parts.
const LINKS: usize = 7;
const PARTS: usize = 10;
/// Height of the first joint, of the lowest part, and between two parts, m.
const TOP: f64 = 1.1;
const LOWEST: f64 = 0.25;
const LAYER: f64 = 0.16;
/// Share of scenes in which two of the materials touch softly.
const SOFT: f64 = 0.2;
/// Share of scenes with torsional friction.
const TWIST: f64 = 0.35;

/// The random scene of a seed, as a file: a tree of up to 7 links with all kinds of joints, limits, friction, springs, motors, loops and gears, and up to 10
/// parts, over a floor between four walls, in some scenes with a belt or a shaker. Friction 0 to 2, restitution 0 to 1, masses over six decades, all
/// shapes. One second.
pub fn machine(seed: u64) -> String {
    let mut dice = Dice(Pcg64::seed_from_u64(seed), String::new());
    let twist = dice.chance(TWIST);
    dice.materials(twist);
    dice.world();
    let links = dice.links();
    dice.couple(&links);
    dice.parts();
    let friction = match twist || dice.chance(0.8) {
        true => "cone",
        false => dice.pick(&["pyramid", "frictionless"]),
    };
    let h = dice.pick(&[1e-3, 1e-3, 2e-3, 5e-4]);
    dice.put(format_args!("[step]\nh = {h}\nduration = 1\nfriction = \"{friction}\""));
    dice.1
}

/// A link: its name, its place, and its joint.
struct Link {
    name: String,
    place: [f64; 3],
    joint: &'static str,
}

/// Random numbers, and the text so far.
struct Dice<R>(R, String);

impl<R: Rng> Dice<R> {
    fn put(&mut self, line: std::fmt::Arguments<'_>) {
        // text takes whatever is written
        let _ = writeln!(self.1, "{line}");
    }

    fn chance(&mut self, share: f64) -> bool {
        self.0.random::<f64>() < share
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.random_range(0..from.len())]
    }

    /// Between two numbers, with four decimals.
    fn between(&mut self, [least, most]: [f64; 2]) -> f64 {
        ((least + (most - least) * self.0.random::<f64>()) * 1e4).round() / 1e4
    }

    /// A power of ten with an exponent between two numbers.
    fn power(&mut self, exponents: [f64; 2]) -> f64 {
        10f64.powf(self.between(exponents))
    }

    fn vector(&mut self, most: f64) -> [f64; 3] {
        [0; 3].map(|_| self.between([-most, most]))
    }

    fn material(&mut self) -> String {
        format!("material = \"m{}\"\n", self.0.random_range(0..3))
    }

    fn materials(&mut self, twist: bool) {
        for k in 0..3 {
            let most = self.pick(&[0.0, 2.0, 1.0]);
            let friction = if twist { self.between([0.05, 2.0]) } else { self.between([0.0, most]) };
            self.put(format_args!("[[material]]\nname = \"m{k}\"\nfriction = {friction}"));
            if self.chance(0.5) {
                let any = self.between([0.0, 1.0]);
                let restitution = self.pick(&[0.0, 1.0, any]);
                self.put(format_args!("restitution = {restitution}"));
            }
            if twist && self.chance(0.7) {
                let (torsion, some) = (self.power([-5.0, -2.0]), self.power([-5.0, -2.0]));
                let rolling = self.pick(&[0.0, some]);
                self.put(format_args!("torsion = {torsion:e}\nrolling = {rolling:e}"));
            }
        }
        if self.chance(SOFT) {
            let stiffness = self.power([3.0, 8.0]);
            self.put(format_args!("[[pair]]\nmaterials = [\"m0\", \"m1\"]\nlaw = {{ kelvin_voigt = {{ stiffness = {stiffness:e}, damping_ratio = 1, mass = 0.5 }} }}"));
        }
    }

    fn world(&mut self) {
        let material = self.material();
        self.put(format_args!("[[world]]\nname = \"floor\"\n{material}shape = \"half_space\""));
        for (k, [x, y]) in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]].into_iter().enumerate() {
            let (material, at) = (self.material(), HALF_WIDTH + 0.1);
            let half = if x == 0.0 { [1.0, 0.1] } else { [0.1, 1.0] };
            self.put(format_args!("[[world]]\nname = \"wall {k}\"\n{material}shape = {{ box = {{ half = [{}, {}, 3] }} }}\nposition = [{}, {}, 3]", half[0], half[1], x * at, y * at));
        }
        if self.chance(0.4) {
            let (material, speed) = (self.material(), self.between([-1.0, 1.0]));
            self.put(format_args!("[[world]]\nname = \"belt\"\n{material}shape = {{ box = {{ half = [0.3, 0.15, 0.05] }} }}\nposition = [0, 0.2, 0.05]\nsurface_velocity = {{ constant = [{speed}, 0, 0] }}"));
        }
        if self.chance(0.3) {
            let (material, a, f) = (self.material(), self.between([0.002, 0.03]), self.between([1.0, 12.0]));
            self.put(format_args!("[[world]]\nname = \"shaker\"\n{material}shape = {{ box = {{ half = [0.15, 0.1, 0.03] }} }}\nposition = [-0.2, -0.25, 0.1]\nmotion = {{ position = {{ sinusoid = {{ amplitude = [0, 0, {a}], frequency = {f} }} }} }}"));
        }
    }

    /// A shape, and the radius of gyration that it needs to be given, m.
    fn shape(&mut self, size: [f64; 2]) -> (String, Option<f64>) {
        let [a, b, c] = [0; 3].map(|_| self.between(size));
        match self.0.random_range(0..10) {
            0 => (format!("{{ box = {{ half = [{a}, {b}, {c}] }} }}"), None),
            1 => (format!("{{ sphere = {{ radius = {a} }} }}"), None),
            2 => (format!("{{ capsule = {{ radius = {}, half_length = {b} }} }}", 0.5 * a), None),
            3 => (format!("{{ cylinder = {{ radius = {a}, half_length = {b} }} }}"), None),
            4 => (format!("{{ ellipsoid = {{ semi_axes = [{a}, {b}, {c}] }} }}"), None),
            5 => {
                let exponent = self.between([2.0, 8.0]);
                (
                    format!(
                        "{{ superellipsoid = {{ semi_axes = [{a}, {b}, {c}], exponent = {exponent} }} }}"
                    ),
                    None,
                )
            }
            6 => {
                let [x, y, z] = [a, b, c].map(|s| 1.0 / (s * s));
                (
                    format!("{{ quadric = {{ matrix = [{x}, {y}, {z}, 0, 0, 0], constant = -1 }} }}"),
                    Some(0.05),
                )
            }
            7 => {
                let term = |k: usize, power: usize, s: f64| {
                    let mut powers = [0; 3];
                    powers[k] = power;
                    format!("{{ coefficient = {}, powers = {powers:?} }}", 0.5 / s.powi(power as i32))
                };
                let terms: Vec<String> = [a, b, c]
                    .iter()
                    .enumerate()
                    .flat_map(|(k, s)| [term(k, 4, *s), term(k, 2, *s)])
                    .collect();
                (
                    format!(
                        "{{ polynomial = {{ terms = [{}, {{ coefficient = -1, powers = [0, 0, 0] }}], within = [[-0.1, -0.1, -0.1], [0.1, 0.1, 0.1]] }} }}",
                        terms.join(", ")
                    ),
                    Some(0.05),
                )
            }
            8 => {
                let d = a * self.between([0.2, 0.6]);
                let cap = |z: f64| {
                    format!("{{ shape = {{ sphere = {{ radius = {a} }} }}, position = [0, 0, {z}] }}")
                };
                (format!("{{ intersection = {{ members = [{}, {}] }} }}", cap(d), cap(-d)), Some(0.04))
            }
            _ => (self.polytope(size), None),
        }
    }

    /// The hull of 4 to 8 pairs of opposite points.
    fn polytope(&mut self, size: [f64; 2]) -> String {
        let mut corners = vec![];
        for _ in 0..self.0.random_range(4..9) {
            let (x, reach) = (self.direction(), self.between(size));
            corners.push(x.map(|x| reach * x));
            corners.push(x.map(|x| -reach * x));
        }
        format!("{{ polytope = {{ vertices = {corners:?} }} }}")
    }

    fn direction(&mut self) -> [f64; 3] {
        loop {
            let x = self.vector(1.0);
            let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (0.2..1.0).contains(&size) {
                return x.map(|x| x / size);
            }
        }
    }

    /// Shape, material and mass of a body.
    fn solid(&mut self, size: [f64; 2], mass: [f64; 2]) {
        let ((shape, gyration), material, mass) = (self.shape(size), self.material(), self.power(mass));
        self.put(format_args!("{material}shape = {shape}\nmass = {mass:e}"));
        if let Some(r) = gyration {
            self.put(format_args!("inertia = {:?}", [0.4 * mass * r * r; 3]));
        }
    }

    /// Limits, friction, damper, spring and rotor of an axis.
    fn axis(&mut self, turns: bool) -> String {
        let mut keys = vec![];
        if self.chance(0.4) {
            let reach = if turns { 1.0 } else { 0.2 };
            let limits = [-self.between([0.05, 1.0]) * reach, self.between([0.05, 1.0]) * reach];
            keys.push(format!("limits = {limits:?}"));
            if self.chance(0.4) {
                keys.push(format!("stop = {{ restitution = {} }}", self.between([0.0, 1.0])));
            } else if self.chance(0.3) {
                let (stiffness, damping) = (self.power([1.0, 5.0]), self.power([-1.0, 2.0]));
                keys.push(format!("stop = {{ stiffness = {stiffness:e}, damping = {damping:e} }}"));
            }
        }
        if self.chance(0.4) {
            keys.push(format!("friction = {:e}", self.power([-3.0, 1.0])));
        }
        if self.chance(0.4) {
            keys.push(format!("damping = {:e}", self.power([-3.0, 1.0])));
        }
        if self.chance(0.25) {
            keys.push(format!(
                "stiffness = {:e}, rest = {}",
                self.power([-1.0, 4.0]),
                self.between([-0.1, 0.1])
            ));
        }
        if self.chance(0.3) {
            keys.push(format!("armature = {:e}", self.power([-5.0, -1.0])));
        }
        keys.join(", ")
    }

    /// A joint, and its number of axes.
    fn joint(&mut self, kind: &'static str) -> (String, usize) {
        let axis = format!("axis = {:?}", self.direction());
        match kind {
            "revolute" | "prismatic" | "screw" => {
                let mut keys = vec![axis, self.axis(kind != "prismatic")];
                if kind == "screw" {
                    keys.push(format!("pitch = {}", self.between([-0.1, 0.1])));
                }
                keys.retain(|key| !key.is_empty());
                (format!("{{ {kind} = {{ {} }} }}", keys.join(", ")), 1)
            }
            "cylindrical" => (
                format!(
                    "{{ cylindrical = {{ {axis}, translation = {{ {} }}, rotation = {{ {} }} }} }}",
                    self.axis(false),
                    self.axis(true)
                ),
                2,
            ),
            "universal" => (
                format!(
                    "{{ universal = {{ axes = [[1, 0, 0], [0, 1, 0]], first = {{ {} }}, second = {{ {} }} }} }}",
                    self.axis(true),
                    self.axis(true)
                ),
                2,
            ),
            _ => (format!("\"{kind}\""), 0),
        }
    }

    /// A tree of links with motors.
    fn links(&mut self) -> Vec<Link> {
        const KINDS: [&str; 8] =
            ["revolute", "revolute", "prismatic", "screw", "cylindrical", "universal", "spherical", "fixed"];
        let (mut links, mut motors): (Vec<Link>, Vec<(String, usize)>) = (vec![], vec![]);
        for k in 0..self.0.random_range(1..=LINKS) {
            let parent = match links.len() {
                0 => None,
                n if self.chance(0.5) => Some(self.0.random_range(0..n)),
                n => Some(n - 1),
            };
            let up = self.pick(&[-1.0, 1.0]) * self.between([0.1, 0.16]);
            let off = match parent {
                Some(_) => [self.between([-0.06, 0.06]), self.between([-0.06, 0.06]), up],
                None => [0.0, 0.0, TOP],
            };
            let base = parent.map_or([0.0; 3], |p| links[p].place);
            let kind = if parent.is_some() || self.chance(0.8) { self.pick(&KINDS) } else { "free" };
            let name = format!("arm {k}");
            self.put(format_args!("[[body]]\nname = \"{name}\""));
            self.solid(LINK, LINK_MASS);
            if let Some(p) = parent {
                self.put(format_args!("parent = \"{}\"", links[p].name));
            }
            if kind == "free" {
                self.put(format_args!("position = {off:?}"));
            } else {
                let (joint, axes) = self.joint(kind);
                self.put(format_args!("joint = {joint}\nmount = {{ position = {off:?} }}"));
                motors.extend((0..axes).map(|dof| (name.clone(), dof)));
            }
            links.push(Link { name, place: [0, 1, 2].map(|i| base[i] + off[i]), joint: kind });
        }
        for (body, dof) in motors {
            if self.chance(0.3) {
                self.motor(&body, dof);
            }
        }
        links
    }

    fn motor(&mut self, body: &str, dof: usize) {
        let wave = format!(
            "{{ sinusoid = {{ amplitude = {}, frequency = {} }} }}",
            self.between([0.02, 0.3]),
            self.between([0.3, 5.0])
        );
        let constant = format!("{{ constant = {} }}", self.between([-1.0, 1.0]));
        let course = if self.chance(0.5) { &wave } else { &constant };
        let keys = match self.0.random_range(0..5) {
            0 => format!("effort = {course}"),
            1 => format!("velocity = {course}\nmax_effort = {:e}", self.power([-1.0, 3.0])),
            2 => format!("velocity = {course}\ndamping = {:e}", self.power([-1.0, 4.0])),
            3 => format!(
                "position = {course}\nstiffness = {:e}\ndamping = {:e}",
                self.power([0.0, 5.0]),
                self.power([-1.0, 2.0])
            ),
            _ => format!("position = {wave}\nmax_effort = {:e}", self.power([0.0, 3.0])),
        };
        self.put(format_args!("[[motor]]\nbody = \"{body}\"\ndof = {dof}\n{keys}"));
    }

    /// Loops, a gear and springs.
    fn couple(&mut self, links: &[Link]) {
        if links.len() > 2 && self.chance(0.5) {
            for _ in 0..self.0.random_range(1..3) {
                let a = self.0.random_range(0..links.len());
                let b = (a + self.0.random_range(1..links.len())) % links.len();
                self.close(&links[a], &links[b]);
            }
        }
        let turning: Vec<&Link> =
            links.iter().filter(|l| ["revolute", "prismatic", "screw"].contains(&l.joint)).collect();
        if turning.len() > 1 && self.chance(0.35) {
            let a = self.0.random_range(0..turning.len());
            let b = (a + self.0.random_range(1..turning.len())) % turning.len();
            let ratio = self.pick(&[-1.0, 1.0]) * self.between([0.3, 3.0]);
            self.put(format_args!(
                "[[gear]]\njoints = [\"{}\", \"{}\"]\nratio = {ratio}",
                turning[a].name, turning[b].name
            ));
            if self.chance(0.3) {
                let stiffness = self.power([2.0, 5.0]);
                self.put(format_args!("stiffness = {stiffness:e}"));
            }
        }
        for _ in 0..self.0.random_range(0..3) {
            let (body, from) = (self.0.random_range(0..links.len()), self.vector(0.3));
            let (stiffness, damping) = (self.power([0.0, 4.0]), self.power([-2.0, 1.0]));
            self.put(format_args!("[[spring]]\nfrom = {{ point = [{}, {}, 1.5] }}\nto = {{ body = \"{}\", point = [0.01, 0, 0] }}\nstiffness = {stiffness:e}\ndamping = {damping:e}", from[0], from[1], links[body].name));
        }
    }

    /// A loop between two links, closed at the start.
    fn close(&mut self, a: &Link, b: &Link) {
        let kind = self.pick(&["point", "distance", "rope", "hinge"]);
        let to = self.vector(0.1);
        let from = [0, 1, 2].map(|i| b.place[i] + to[i] - a.place[i]);
        let apart = if matches!(kind, "distance" | "rope") { 0.1 } else { 0.0 };
        let to = to.map(|x| x + apart);
        self.put(format_args!("[[loop]]\nkind = \"{kind}\"\nfrom = {{ body = \"{}\", point = {from:?} }}\nto = {{ body = \"{}\", point = {to:?} }}", a.name, b.name));
        if self.chance(0.35) {
            let (stiffness, damping) = (self.power([2.0, 6.0]), self.power([0.0, 2.0]));
            self.put(format_args!("stiffness = {stiffness:e}\ndamping = {damping:e}"));
        }
    }

    fn parts(&mut self) {
        for k in 0..self.0.random_range(1..=PARTS) {
            self.put(format_args!("[[body]]\nname = \"part {k}\""));
            self.solid(PART, PART_MASS);
            let aside = [0; 2].map(|_| self.between([-0.38, 0.38]));
            let (axis, angle) = (self.direction(), self.between([0.0, 3.0]));
            let (velocity, spin) = (self.vector(1.0), self.vector(5.0));
            self.put(format_args!(
                "position = [{}, {}, {}]\norientation = {{ axis = {axis:?}, angle = {angle} }}\nvelocity = {velocity:?}\nangular_velocity = {spin:?}",
                aside[0], aside[1], LOWEST + LAYER * k as f64
            ));
        }
        if self.chance(0.2) {
            self.put(format_args!("[[load]]\nbody = \"part 0\"\nforce = {{ sinusoid = {{ amplitude = [1, 0, 0], frequency = 2 }} }}"));
        }
    }
}
