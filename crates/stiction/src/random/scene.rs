//! One random scene: bodies placed on one another, then further contacts.
//!
//! Motions come first, and contacts are fitted to them: a foot may stand wherever the normal can be chosen
//! across the relative velocity. So any number of contacts, redundant ones included, satisfies trinkle1995
//! (5), (6).

use super::shape::{Shape, Spot};
use crate::analysis::bodies::Surface;
use crate::analysis::bodies::{Bodies, Body, Contact};
use crate::space::{Frame, Tensor, Vector, add, cross, dot, length, scale, sub, unit};
use rand::{Rng, RngExt};

/// Distributions from which a scene is drawn. Lengths in m, velocities in m/s.
pub(super) mod distribution {
    /// Half widths of the bodies, uniform.
    pub const HALF_WIDTH: [f64; 2] = [0.08, 0.3];
    /// Densities (kg/m^3), uniform.
    pub const DENSITY: [f64; 2] = [300.0, 1500.0];
    /// Magnitudes of the sliding velocity at the first contact of a body.
    pub const SLIDING: [f64; 2] = [0.2, 1.0];
    /// Contacts with a smaller relative velocity than this are drawn again.
    pub const SLOWEST: f64 = 0.02;
    /// Largest relative angular velocity (rad/s).
    pub const TURNING: f64 = 1.5;
    /// Reach of a foot from the centre of mass, in mean half widths of its body.
    pub const LEG: [f64; 2] = [1.0, 1.5];
    /// Largest external force relative to weight, and largest torque relative to weight times mean half
    /// width.
    pub const PUSH: f64 = 0.3;
    /// Largest tilt of the ground, as a slope along x and along y.
    pub const TILT: f64 = 0.3;
    /// Acceleration of gravity, m/s^2.
    pub const GRAVITY: f64 = 9.81;
}
use distribution as d;

/// Numbers of bodies and contacts of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub bodies: usize,
    pub sliding: usize,
    pub rolling: usize,
}

/// How a body moves relative to the one it was placed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// It does not move: contacts between the two roll, wherever they are.
    Bonded,
    /// It rotates about the contact.
    Rolling,
    /// It slides and rotates.
    Sliding,
}

struct Member {
    shape: Shape,
    turn: Tensor,
    body: Body,
    /// Body it was placed on; `None` for the fixed world.
    parent: Option<usize>,
    link: Link,
    /// Members of a group move as one; group 0 is at rest.
    group: usize,
}

/// Draws a scene; `None` if a body was left without a place for its contacts.
pub(super) fn draw(rng: &mut impl Rng, counts: Counts) -> Option<Bodies> {
    let mut scene = Scene { rng, members: Vec::new(), contacts: Vec::new(), left: counts };
    for index in 0..counts.bodies {
        scene.left.bodies = counts.bodies - index - 1;
        scene.place(index);
    }
    while scene.left.rolling > 0 {
        scene.brace_rolling()?;
    }
    while scene.left.sliding > 0 {
        scene.brace_sliding()?;
    }
    let bodies = scene.members.into_iter().map(|m| m.body).collect();
    Bodies::new(bodies, scene.contacts).ok()
}

struct Scene<'a, R> {
    rng: &'a mut R,
    members: Vec<Member>,
    contacts: Vec<Contact>,
    /// Numbers of bodies and contacts that are still to be placed.
    left: Counts,
}

impl<R: Rng> Scene<'_, R> {
    fn between(&mut self, range: [f64; 2]) -> f64 {
        range[0] + (range[1] - range[0]) * self.rng.random::<f64>()
    }

    fn direction(&mut self) -> Vector {
        loop {
            let x = [0; 3].map(|_| self.between([-1.0, 1.0]));
            if (0.01..1.0).contains(&length(x)) {
                return unit(x);
            }
        }
    }

    fn velocity_at(&self, body: Option<usize>, point: Vector) -> Vector {
        body.map_or([0.0; 3], |b| self.members[b].body.velocity_at(point))
    }

    fn relative_velocity(&self, a: usize, b: Option<usize>, point: Vector) -> Vector {
        sub(self.velocity_at(Some(a), point), self.velocity_at(b, point))
    }

    fn touch(
        &mut self,
        a: usize,
        b: Option<usize>,
        point: Vector,
        n: Vector,
        surfaces: impl FnOnce(&Self, &Frame) -> [Surface; 2],
    ) {
        // pyramids may have any orientation
        let frame = Frame::new(n, self.direction());
        let surfaces = surfaces(self, &frame);
        self.contacts.push(Contact { a, b, point, frame, surfaces });
    }

    fn surface(&self, body: usize, point: Vector, frame: &Frame) -> Surface {
        let m = &self.members[body];
        m.shape.surface(&m.turn, sub(point, m.body.position), frame)
    }

    /// Draws the motion of the next body, in proportion to the contacts that are still to be placed.
    fn link(&mut self) -> Link {
        let Counts { sliding, rolling, .. } = self.left;
        let slides = self.rng.random::<f64>() * ((sliding + rolling) as f64) < sliding as f64;
        let bonds = self.rng.random::<f64>() < 0.6;
        match () {
            () if (slides || rolling == 0) && sliding > 0 => Link::Sliding,
            () if bonds => Link::Bonded,
            () => Link::Rolling,
        }
    }

    /// Takes `count` contacts of the link's kind from those still to be placed; `false` if later bodies need
    /// them.
    fn take(&mut self, link: Link, count: usize) -> bool {
        let Counts { bodies, sliding, rolling } = self.left;
        let kind = if link == Link::Sliding { &mut self.left.sliding } else { &mut self.left.rolling };
        let enough = *kind >= count && sliding + rolling >= bodies + count;
        if enough {
            *kind -= count;
        }
        enough
    }

    /// Places a body on the world or on an earlier body, touching it from above.
    fn place(&mut self, index: usize) {
        let half = [0; 3].map(|_| self.between(d::HALF_WIDTH));
        let shape = if self.rng.random_bool(0.5) { Shape::Ellipsoid(half) } else { Shape::Cuboid(half) };
        let parent = (index > 0 && self.rng.random_bool(0.55)).then(|| self.rng.random_range(0..index));
        let link = self.link();
        let (point, n) = self.seat(index, parent);
        // a box on the ground may stand on its four corners, redundantly
        let stands = parent.is_none()
            && matches!(shape, Shape::Cuboid(_))
            && link != Link::Rolling
            && self.rng.random_bool(0.5)
            && self.take(link, 4);
        let x = self.direction();
        let turn = if stands {
            columns(Frame::new(n, x))
        } else {
            let z = self.direction();
            columns(Frame::new(z, x))
        };
        let (foot, corner) = shape.farthest(&turn, scale(-1.0, n));
        let arm = if stands { scale(-half[2], n) } else { foot };
        let position = sub(point, arm);

        let (group, slip, omega) = self.motion(parent, link, n, stands);
        let parent_omega = parent.map_or([0.0; 3], |p| self.members[p].body.angular_velocity);
        let angular_velocity = add(parent_omega, omega);
        let at_point = add(self.velocity_at(parent, point), slip);
        let density = self.between(d::DENSITY);
        let (mass, inertia) = shape.mass_properties(density, &turn);
        let weight = mass * d::GRAVITY;
        let push = scale(weight * self.between([0.0, d::PUSH]), self.direction());
        let torque = scale(weight * shape.radius() * self.between([0.0, d::PUSH]), self.direction());
        let body = Body {
            mass,
            inertia,
            position,
            velocity: sub(at_point, cross(angular_velocity, arm)),
            angular_velocity,
            force: add(push, [0.0, 0.0, -weight]),
            torque,
        };
        self.members.push(Member { shape, turn, body, parent, link, group });

        if stands {
            for sole in shape.soles(&turn) {
                self.touch(index, None, add(position, sole), n, |_, _| [Surface::Point, Surface::FLAT]);
            }
        } else {
            self.take(link, 1);
            self.touch(index, parent, point, n, |scene, frame| {
                let below = parent.map_or(Surface::FLAT, |p| scene.surface(p, point, frame));
                [if corner { Surface::Point } else { scene.surface(index, point, frame) }, below]
            });
        }
    }

    /// A point to place a body on, and the normal there: on sloping ground, or on the upper side of the
    /// parent.
    fn seat(&mut self, index: usize, parent: Option<usize>) -> (Vector, Vector) {
        let tilt = [0; 2].map(|_| self.between([-d::TILT, d::TILT]));
        let Some(p) = parent else {
            let y = self.between([-0.3, 0.3]);
            return ([0.8 * index as f64, y, 0.0], unit([tilt[0], tilt[1], 1.0]));
        };
        loop {
            let u = self.direction();
            let m = &self.members[p];
            let spot = m.shape.walk(&m.turn, u, u)(0.0);
            if spot.outward[2] > 0.5 {
                return (add(m.body.position, spot.arm), spot.outward);
            }
        }
    }

    /// Group, slip at the contact and relative angular velocity of a body about to be placed.
    fn motion(
        &mut self,
        parent: Option<usize>,
        link: Link,
        n: Vector,
        stands: bool,
    ) -> (usize, Vector, Vector) {
        let zero = [0.0; 3];
        if link == Link::Bonded {
            return (parent.map_or(0, |p| self.members[p].group), zero, zero);
        }
        let group = self.members.len() + 1;
        let turning = scale(self.between([0.1, 1.0]) * d::TURNING, self.direction());
        let omega = if stands { scale(dot(turning, n), n) } else { turning };
        if link == Link::Rolling {
            return (group, zero, omega);
        }
        let speed = self.between(d::SLIDING);
        (group, scale(speed, Frame::new(n, self.direction()).t), omega)
    }

    /// Adds a rolling contact between two bodies that move as one, or between a body at rest and the world.
    fn brace_rolling(&mut self) -> Option<()> {
        let still = |m: &Member| m.link == Link::Bonded || m.group == 0;
        let candidates: Vec<usize> = (0..self.members.len()).filter(|&i| still(&self.members[i])).collect();
        for _ in 0..100 {
            let &i = candidates.get(self.rng.random_range(0..candidates.len().max(1)))?;
            let placed = match self.members[i].parent.filter(|_| self.members[i].link == Link::Bonded) {
                Some(p) => {
                    let (foot, stage) = if self.rng.random_bool(0.7) { (i, p) } else { (p, i) };
                    self.foot_on(foot, stage, |_, spot, u| Some(spot(u)))
                }
                None => self.foot_on_ground(i, None),
            };
            if placed {
                self.left.rolling -= 1;
                return Some(());
            }
        }
        None
    }

    /// Adds a sliding contact between bodies that move relative to each other or to the world.
    fn brace_sliding(&mut self) -> Option<()> {
        for _ in 0..1000 {
            let i = self.rng.random_range(0..self.members.len());
            let j = self.rng.random_range(0..self.members.len());
            let placed = match self.rng.random_range(0..3) {
                0 if self.members[i].group != self.members[j].group => self.foot_on(i, j, Self::grazing),
                1 if self.members[i].group != 0 => self.flank_on_world(i),
                2 if self.members[i].group != 0 => {
                    let leg = self.leg(i);
                    let v = self.relative_velocity(i, None, leg);
                    length(v) > d::SLOWEST && self.foot_on_ground(i, Some((leg, v)))
                }
                _ => false,
            };
            if placed {
                self.left.sliding -= 1;
                return Some(());
            }
        }
        None
    }

    fn leg(&mut self, body: usize) -> Vector {
        let reach = self.between(d::LEG) * self.members[body].shape.radius();
        let mut way = self.direction();
        way[2] = -way[2].abs();
        add(self.members[body].body.position, scale(reach, way))
    }

    /// Adds a foot on a facet of the world: any facet for a body at rest, else one along the foot's velocity.
    fn foot_on_ground(&mut self, body: usize, moving: Option<(Vector, Vector)>) -> bool {
        let way = self.direction();
        let (foot, n) = match moving {
            Some((foot, v)) => {
                // of two facets the one that carries more weight
                let [n, other] = [way, self.direction()].map(|w| Frame::new(unit(v), w).t);
                (foot, if other[2] > n[2] { other } else { n })
            }
            None => (self.leg(body), unit(add(way, [0.0, 0.0, 0.8]))),
        };
        let leg = sub(self.members[body].body.position, foot);
        let carries = dot(n, leg) > 0.2 * length(leg);
        if carries {
            self.touch(body, None, foot, n, |_, _| [Surface::Point, Surface::FLAT]);
        }
        carries
    }

    /// Adds a foot of `body` on the surface of `stage`, at a spot that `choose` selects on a random walk over
    /// it.
    fn foot_on(
        &mut self,
        body: usize,
        stage: usize,
        choose: impl Fn(&dyn Fn(Vector) -> Vector, &dyn Fn(f64) -> Spot, f64) -> Option<Spot>,
    ) -> bool {
        let [from, to] = [self.direction(), self.direction()];
        let u = self.rng.random();
        let m = &self.members[stage];
        let walk = m.shape.walk(&m.turn, from, to);
        let centre = m.body.position;
        let velocity = |arm: Vector| self.relative_velocity(body, Some(stage), add(centre, arm));
        let Some(spot) = choose(&velocity, &walk, u) else { return false };
        let point = add(centre, spot.arm);
        let leg = sub(self.members[body].body.position, point);
        let near = length(leg) < 2.5 * d::HALF_WIDTH[1] + 0.5;
        let faces = near && dot(spot.outward, leg) > 0.2 * length(leg);
        if faces {
            self.touch(body, Some(stage), point, spot.outward, |scene, frame| {
                [Surface::Point, scene.surface(stage, point, frame)]
            });
        }
        faces
    }

    /// Adds a contact of the flank of a body with a facet or a peg of the world, where it moves along its own
    /// surface.
    fn flank_on_world(&mut self, body: usize) -> bool {
        let [from, to] = [self.direction(), self.direction()];
        let m = &self.members[body];
        let walk = m.shape.walk(&m.turn, from, to);
        let centre = m.body.position;
        let flat = matches!(m.shape, Shape::Cuboid(_));
        let velocity = |arm: Vector| self.relative_velocity(body, None, add(centre, arm));
        let Some(spot) = Self::grazing(&velocity, &walk, 0.0) else { return false };
        let point = add(centre, spot.arm);
        let peg = flat || self.rng.random_bool(0.3);
        self.touch(body, None, point, scale(-1.0, spot.outward), |scene, frame| {
            [scene.surface(body, point, frame), if peg { Surface::Point } else { Surface::FLAT }]
        });
        true
    }

    /// The spot of a walk where the velocity is tangential to the surface, by bisection to the last bit.
    fn grazing(velocity: &dyn Fn(Vector) -> Vector, walk: &dyn Fn(f64) -> Spot, _: f64) -> Option<Spot> {
        let normal = |s: f64| {
            let spot = walk(s);
            dot(spot.outward, velocity(spot.arm))
        };
        let (mut low, mut high) = (0.0, 1.0);
        let sign = normal(low) > 0.0;
        if (normal(high) > 0.0) == sign {
            return None;
        }
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if (normal(middle) > 0.0) == sign { low = middle } else { high = middle }
        }
        let spot = walk(low);
        (length(velocity(spot.arm)) > d::SLOWEST).then_some(spot)
    }
}

/// The rotation whose third axis is the frame's normal.
fn columns(frame: Frame) -> Tensor {
    let Frame { n, t, o } = frame;
    [0, 1, 2].map(|i| [t[i], o[i], n[i]])
}
