//! Closest points of two convex bodies given by functions (chakraborty2007 (9), (11)), apart or overlapping.
//!
//! (9) are 8 equations for 6 unknowns, and `|a1 - a2|` has no derivative where bodies touch. With the gap `g` as a signed multiplier and the normal `n` from the
//! first body to the second as unknowns, and a multiplier for each function that is active, the system is square and smooth through touch:
//!
//! ```text
//! y - x = g n      sum_i mu_i grad f_i(x) = n      sum_j nu_j grad g_j(y) = -n      |n| = 1      f_i(x) = 0      g_j(y) = 0
//! ```
//!
//! with `mu, nu >= 0`, and all other functions not positive. Functions are divided by the length of their gradient, for they are algebraic, not metres.
//! Newton's method (`newton.rs`) solves the system for a guess of the active functions, which changes by the signs of multipliers and functions. Points are
//! only returned where it has: [`Closest::residual`] is at most [`GOOD`], signs included. Bodies that are apart have no other solution. Where they overlap, the
//! points are those of a depth that is least nearby.
//!
//! Newton's method starts from points that are given, if there are any, then from the point that lies deepest in both bodies (or least far outside), and
//! where that fails from the solutions of convex problems (`interior.rs`):
//!
//! - a half-space and any body, apart or not: the body's farthest point along the half-space's normal ([`over_half_space`]);
//! - bodies that are apart: the least distance of their points;
//! - bodies that overlap: how far one must be moved along a direction to leave the other. Its multipliers give a normal along which the way is shorter, and so on: the depth
//!   decreases from one direction to the next until normal and direction agree.
//!
//! Where both surfaces are flat, closest points are not unique (flat sides of intersections; superellipsoids with exponents above 2 are flat at the middles of their faces): a proximal term keeps
//! `x` near the start, so that one of them is found, and the normal and the gap are right all the same.

use super::interior::{Interior, Task};
use super::newton::{Active, MOST_ACTIVE, State};
use crate::space::{Pose, Tensor, Vector, add, dot, scale, sub, times, transpose_times};
use crate::surface::{Surface, Value};

/// Guesses of the active functions from one start.
const GUESSES: usize = 16;
/// Residual, relative to the bodies' size, at which points are accepted.
pub const GOOD: f64 = 1e-9;
/// Share of the multipliers from which on a function is guessed to be active.
const ACTIVE: f64 = 1e-3;
/// Functions above this share of the size, negative, may be active all the same.
const NEAR: f64 = 1e-4;
/// Functions that are not active may be positive by this share of the size.
const OUTSIDE: f64 = 1e-10;
/// Directions along which bodies that overlap are moved apart.
const DIRECTIONS: usize = 60;
/// A depth counts as least if its normal is that of the direction, to this angle; and then Newton's method is asked.
const ALIGNED: f64 = 0.1;
/// Sine of the angle up to which a flat side counts as nearly along a half-space.
const LEVEL: f64 = 1e-2;
/// Slope, to a flat side's normal, of the direction whose farthest point is that of the side's rim: edges of the side are sharper than this.
pub(super) const LEAN: f64 = 0.1;

/// Closest points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Closest {
    /// On the first and the second body, world, m.
    pub points: [Vector; 2],
    /// Unit, from the first to the second.
    pub normal: Vector,
    /// Distance along the normal: negative where the bodies overlap, m.
    pub gap: f64,
    /// Functions of each body that are active there, as bits.
    pub active: [u32; 2],
    /// Residual of the equations, m over m.
    pub residual: f64,
}

/// A body by its functions, placed in the world.
#[derive(Clone, Copy)]
pub struct Body<'a> {
    /// Functions with their poses in the shape.
    pub surfaces: &'a [(Surface, Pose)],
    /// Pose of the shape.
    pub pose: &'a Pose,
    /// A point inside, in the world.
    pub inside: Vector,
}

impl Body<'_> {
    /// Largest of the functions over the lengths of their gradients.
    pub fn depth(&self, x: Vector) -> f64 {
        let of = |(surface, local): &(Surface, Pose)| {
            let v = surface.at(self.pose.then(local).local(x));
            let size = dot(v.gradient, v.gradient).sqrt();
            if size > 0.0 { v.f / size } else { v.f }
        };
        self.surfaces.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Rotation and place of a function in the world.
type Placed = (Tensor, Vector);

/// Memory of [`closest`], used again and again.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    places: [Vec<Placed>; 2],
    pub(super) interior: Interior,
}

/// One of two bodies, with the places of its functions.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    surfaces: &'a [(Surface, Pose)],
    places: &'a [Placed],
    inside: Vector,
}

impl Side<'_> {
    pub fn count(&self) -> usize {
        self.surfaces.len()
    }

    /// Function `k` at a point of the world.
    pub fn raw(&self, k: usize, x: Vector) -> Value {
        let (r, at) = &self.places[k];
        let own = self.surfaces[k].0.at(transpose_times(r, sub(x, *at)));
        // R H R'
        let half: Tensor = [0, 1, 2].map(|i| times(&own.hessian, r[i]));
        let hessian = [0, 1, 2].map(|i| [0, 1, 2].map(|j| dot(r[i], half[j])));
        Value { f: own.f, gradient: times(r, own.gradient), hessian }
    }

    /// Function `k` over the length of its gradient (kept fixed in the derivatives, which scales rows only).
    pub fn value(&self, k: usize, x: Vector) -> Value {
        let mut v = self.raw(k, x);
        let size = dot(v.gradient, v.gradient).sqrt();
        if size > 0.0 {
            v.f /= size;
            v.gradient = v.gradient.map(|g| g / size);
            v.hessian = v.hessian.map(|row| row.map(|h| h / size));
        }
        v
    }

    /// Largest of the functions.
    fn depth(&self, x: Vector) -> f64 {
        (0..self.count()).map(|k| self.value(k, x).f).fold(f64::NEG_INFINITY, f64::max)
    }

    /// A point inside, which for a body without bounds is near the given one.
    fn point_inside(&self, near: Vector, size: f64) -> Option<Vector> {
        if self.depth(self.inside) < 0.0 { Some(self.inside) } else { self.point_near(near, size) }
    }

    /// A point inside that is near the given one, a tenth of the size below the surface.
    fn point_near(&self, near: Vector, size: f64) -> Option<Vector> {
        let mut x = near;
        for _ in 0..100 {
            let worst = (0..self.count()).map(|k| self.value(k, x)).max_by(|a, b| a.f.total_cmp(&b.f))?;
            if worst.f < 0.0 {
                return Some(x);
            }
            x = sub(x, scale(worst.f + 0.1 * size, worst.gradient));
        }
        None
    }

    /// The point where the ray from inside through `x` leaves the body; the foot of `x` on the largest function if the body has no known inside.
    fn on_surface(&self, x: Vector, size: f64) -> Vector {
        let along = sub(x, self.inside);
        if self.depth(self.inside) >= 0.0 || dot(along, along) == 0.0 {
            let worst = (0..self.count()).map(|k| self.value(k, x)).max_by(|a, b| a.f.total_cmp(&b.f));
            return worst.map_or(x, |v| sub(x, scale(v.f, v.gradient)));
        }
        let at = |t: f64| add(self.inside, scale(t, along));
        let (mut low, mut high) = (0.0, 1.0);
        while self.depth(at(high)) < 0.0 && high * dot(along, along).sqrt() < 10.0 * size {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..20 {
            let middle = 0.5 * (low + high);
            if self.depth(at(middle)) < 0.0 { low = middle } else { high = middle }
        }
        at(0.5 * (low + high))
    }
}

/// Two bodies of about this size.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub sides: [Side<'a>; 2],
    pub size: f64,
}

fn place(body: &Body<'_>, places: &mut Vec<Placed>) {
    places.clear();
    places.extend(body.surfaces.iter().map(|(_, local)| {
        let pose = body.pose.then(local);
        (pose.attitude.matrix(), pose.position)
    }));
}

/// Closest points of two bodies of about this size, from nothing; see [`closest_from`].
pub fn closest(a: &Body<'_>, b: &Body<'_>, size: f64) -> Option<Closest> {
    closest_from(None, a, b, size, &mut Memory::default())
}

/// Closest points of two bodies of about this size, to a residual of [`GOOD`]; `None` if they are not found. `start` are points nearby, such as those of an earlier place of the bodies.
pub fn closest_from(
    start: Option<&Closest>,
    a: &Body<'_>,
    b: &Body<'_>,
    size: f64,
    memory: &mut Memory,
) -> Option<Closest> {
    let Memory { places: [places_a, places_b], interior } = memory;
    place(a, places_a);
    place(b, places_b);
    let one = Side { surfaces: a.surfaces, places: places_a, inside: a.inside };
    let two = Side { surfaces: b.surfaces, places: places_b, inside: b.inside };
    let pair = Pair { sides: [one, two], size };
    if let Some(s) = start {
        let active = [0, 1].map(|side| {
            let mut active = Active::default();
            let own = (0..pair.sides[side].count()).filter(|k| s.active[side] >> (k % 32) & 1 == 1);
            own.take(MOST_ACTIVE).for_each(|k| active.push(k));
            active
        });
        if let Some(found) = newton(&pair, s.points, s.normal, active)
            && dot(found.normal, s.normal) > 0.9
        {
            return Some(found);
        }
    }
    if let Some(plane) = (0..2).find(|s| matches!(pair.sides[*s].surfaces, [(Surface::Plane { .. }, _)])) {
        return over_half_space(&pair, plane, interior);
    }
    let (at, level, n) = deepest(&pair, interior)?;
    let points = [0, 1].map(|i| pair.sides[i].on_surface(at, size));
    let active = guess(&pair, interior);
    if let Some(found) = newton(&pair, points, n, active) {
        return Some(found);
    }
    if level > 0.0 { apart(&pair, interior) } else { overlapping(&pair, (at, n), interior) }
}

/// Closest points where one body is much larger than the other, of reaches given: the larger one's point inside is moved to where the smaller one is, and lengths are
/// over the smaller one's size. Far from a small body its functions are large, and its surface is lost among them.
pub fn closest_of_unlike(bodies: [&Body<'_>; 2], reaches: [f64; 2], memory: &mut Memory) -> Option<Closest> {
    let large = usize::from(reaches[1] > reaches[0]);
    let (body, near, size) = (bodies[large], bodies[1 - large].inside, 2.0 * reaches[1 - large]);
    place(body, &mut memory.places[large]);
    let side = Side { surfaces: body.surfaces, places: &memory.places[large], inside: body.inside };
    let moved = Body { inside: side.point_near(near, size)?, ..*body };
    let [a, b] = if large == 0 { [&moved, bodies[1]] } else { [bodies[0], &moved] };
    closest_from(None, a, b, size, memory)
}

/// A half-space, which is side `plane` of the pair, and any body.
///
/// The lowest point of a flat side that lies nearly along the half-space is on its rim, and as well determined as the direction in which the side falls; but its edge carries next to nothing of
/// the normal. It is therefore found along a direction that leans outward from the side's normal, and Newton's method for the half-space begins there.
fn over_half_space(pair: &Pair<'_>, plane: usize, interior: &mut Interior) -> Option<Closest> {
    let other = pair.sides[1 - plane];
    let up = pair.sides[plane].value(0, other.inside).gradient;
    let down = scale(-1.0, up);
    let mut from = |along: Vector| {
        let (x, active) = farthest(pair, 1 - plane, along, interior)?;
        let foot = sub(x, scale(pair.sides[plane].value(0, x).f, up));
        let mut guess = [active; 2];
        guess[plane] = Active::default();
        guess[plane].push(0);
        let (points, n) = if plane == 0 { ([foot, x], up) } else { ([x, foot], down) };
        newton(pair, points, n, guess).or_else(|| {
            // a corner has a surface whose share of the normal is too small to be guessed
            let own = &mut guess[1 - plane];
            let left = (0..other.count()).filter(|k| !own.contains(*k)).map(|k| (k, other.value(k, x).f));
            let (k, f) = left.max_by(|a, b| a.1.total_cmp(&b.1))?;
            if own.len() == MOST_ACTIVE || f < -NEAR * pair.size {
                return None;
            }
            own.push(k);
            newton(pair, points, n, guess)
        })
    };
    for (k, (surface, _)) in other.surfaces.iter().enumerate() {
        if !matches!(surface, Surface::Plane { .. }) {
            continue;
        }
        let out = other.value(k, other.inside).gradient;
        let falls = sub(down, scale(dot(down, out), out));
        if dot(down, out) > 0.0 && dot(falls, falls) < LEVEL * LEVEL {
            let lean = unit(falls).map_or(out, |t| add(out, scale(LEAN, t)));
            if let Some(found) = from(lean) {
                return Some(found);
            }
        }
    }
    from(down)
}

/// The point of a side farthest along a direction, nearly, and the functions that are active there.
fn farthest(pair: &Pair<'_>, side: usize, d: Vector, interior: &mut Interior) -> Option<(Vector, Active)> {
    let own = pair.sides[side];
    let alone = Pair { sides: [own, Side { surfaces: &[], places: &[], ..own }], ..*pair };
    let x = own.point_inside(own.inside, pair.size)?;
    interior.set_scales(&alone, x);
    let z = interior.solve(&alone, Task::Farthest(unit(d)?), [x[0], x[1], x[2], 0.0, 0.0, 0.0])?;
    Some(([z[0], z[1], z[2]], guess(&alone, interior)[0]))
}

/// Bodies that are apart, from the least distance.
fn apart(pair: &Pair<'_>, interior: &mut Interior) -> Option<Closest> {
    let [a, b] = pair.sides;
    let x = a.point_inside(b.inside, pair.size)?;
    let y = b.point_inside(x, pair.size)?;
    let z = interior.solve(pair, Task::Distance, [x[0], x[1], x[2], y[0], y[1], y[2]])?;
    let points = [[z[0], z[1], z[2]], [z[3], z[4], z[5]]];
    let n = unit(sub(points[1], points[0]))?;
    newton(pair, points, n, guess(pair, interior))
}

/// Bodies that overlap, by the directions in which they leave each other.
fn overlapping(pair: &Pair<'_>, (at, first): (Vector, Vector), interior: &mut Interior) -> Option<Closest> {
    let mut n = first;
    let mut depth = f64::INFINITY;
    for _ in 0..DIRECTIONS {
        let z = interior.solve(pair, Task::Leave(n), [at[0], at[1], at[2], 0.0, 0.0, 0.0])?;
        let x = [z[0], z[1], z[2]];
        let points = [x, sub(x, scale(z[3], n))];
        let next = interior.normal(pair, points)?;
        let active = guess(pair, interior);
        let settled = z[3] > 0.999_999 * depth;
        if (dot(next, n) > 1.0 - ALIGNED * ALIGNED || settled)
            && let Some(found) = newton(pair, points, next, active)
            // nothing farther away than where the bodies leave each other already
            && found.gap >= -z[3] * (1.0 + 1e-6)
        {
            return Some(found);
        }
        if settled {
            return None;
        }
        (n, depth) = (next, z[3]);
    }
    None
}

/// A point inside a body of about this size, where its largest function is least; `None` if that is not negative.
pub(super) fn innermost(body: &Body<'_>, size: f64) -> Option<Vector> {
    let mut places = vec![];
    place(body, &mut places);
    let side = Side { surfaces: body.surfaces, places: &places, inside: body.inside };
    let none = Side { surfaces: &[], places: &[], inside: body.inside };
    let (x, ..) = deepest(&Pair { sides: [side, none], size }, &mut Interior::default())?;
    (body.depth(x) < 0.0).then_some(x)
}

/// The point where the largest function of both bodies is least, that function, and the direction from the first to the second body there.
fn deepest(pair: &Pair<'_>, interior: &mut Interior) -> Option<(Vector, f64, Vector)> {
    let [a, b] = pair.sides;
    let x = scale(0.5, add(a.inside, b.inside));
    interior.set_scales(pair, x);
    let worst = interior.worst(pair, x) + 0.1 * pair.size;
    let z = interior.solve(pair, Task::Deepest, [x[0], x[1], x[2], worst, 0.0, 0.0])?;
    let at = [z[0], z[1], z[2]];
    let apart = sub(b.inside, a.inside);
    let n = interior.normal(pair, [at; 2]).or_else(|| unit(apart)).unwrap_or([1.0, 0.0, 0.0]);
    Some((at, z[3], n))
}

fn unit(a: Vector) -> Option<Vector> {
    let length = dot(a, a).sqrt();
    (length > 0.0 && length.is_finite()).then(|| scale(1.0 / length, a))
}

/// The functions that carry weight in the last solution of `interior`, the heaviest first.
fn guess(pair: &Pair<'_>, interior: &Interior) -> [Active; 2] {
    [0, 1].map(|side| {
        let own = interior.weights(pair, side);
        let largest = own.iter().fold(0.0f64, |m, w| m.max(*w));
        let mut active = Active::default();
        while active.len() < MOST_ACTIVE {
            let left = (0..own.len()).filter(|&k| own[k] > ACTIVE * largest && !active.contains(k));
            let Some(k) = left.max_by(|&i, &j| own[i].total_cmp(&own[j])) else { break };
            active.push(k);
        }
        active
    })
}

/// Newton's method, with guesses of the active functions.
fn newton(pair: &Pair<'_>, points: [Vector; 2], n: Vector, mut active: [Active; 2]) -> Option<Closest> {
    let mut state = State::new(points, n, &active);
    for _ in 0..GUESSES {
        state.solve(pair, &active);
        // a multiplier that pulls, or a function that is violated, changes the guess
        let pulled = state.most_negative(&active);
        let violated = violated(pair, &active, [state.x, state.y]);
        if state.residual <= GOOD && pulled.is_none() && violated.is_none() {
            return Some(state.closest(&active)).filter(|c| c.gap.is_finite());
        }
        match (violated, pulled) {
            (Some((side, k)), _) if active[side].len() < MOST_ACTIVE => active[side].push(k),
            (Some((side, k)), _) => {
                active[side] = Active::default();
                active[side].push(k);
            }
            (None, Some((side, k))) if active[side].len() > 1 => active[side].remove(k),
            _ => return None,
        }
        state = State::new(points, n, &active);
    }
    None
}

/// The function that is most positive where it must not be: its side and number.
fn violated(pair: &Pair<'_>, active: &[Active; 2], at: [Vector; 2]) -> Option<(usize, usize)> {
    let mut worst: Option<(f64, (usize, usize))> = None;
    for side in 0..2 {
        for k in (0..pair.sides[side].count()).filter(|k| !active[side].contains(*k)) {
            let f = pair.sides[side].value(k, at[side]).f;
            if f > OUTSIDE * pair.size && worst.is_none_or(|w| f > w.0) {
                worst = Some((f, (side, k)));
            }
        }
    }
    worst.map(|w| w.1)
}
