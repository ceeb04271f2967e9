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
//! The start is the point that lies deepest in both bodies (or least far outside), by a barrier method: minimise `s` with `f_i(x) <= s`, `g_j(x) <= s`.
//! Newton's method then solves the system for a guess of the active functions, which changes by the signs of multipliers and functions.
//!
//! Where both surfaces are flat, closest points are not unique (superellipsoids with exponents above 2 are flat at the middles of their faces): a proximal term keeps
//! `x` near the start, so that one of them is found, and the normal and the gap are right all the same.

use super::surface::{Surface, Value};
use crate::space::{Pose, Vector, add, dot, scale, sub};

/// Active functions of a body at most: three planes meet in a corner.
const MOST_ACTIVE: usize = 3;
/// Unknowns at most: x, y, n, g, and multipliers.
const MOST: usize = 10 + 2 * MOST_ACTIVE;
/// Newton steps for one guess of the active functions; guesses.
const STEPS: usize = 60;
const GUESSES: usize = 12;
/// Residual, relative to the bodies' size, at which the points are found; and that at which they are accepted if no more is to be had.
const FOUND: f64 = 1e-13;
const GOOD: f64 = 1e-9;
/// Share of the multipliers from which on a function is guessed to be active.
const ACTIVE: f64 = 1e-3;

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
    /// Function `k` over the length of its gradient (kept fixed in the derivatives, which scales rows only).
    fn value(&self, k: usize, x: Vector) -> Value {
        let (surface, local) = &self.surfaces[k];
        let mut v = surface.placed(&self.pose.then(local), x);
        let size = dot(v.gradient, v.gradient).sqrt();
        if size > 0.0 {
            v.f /= size;
            v.gradient = v.gradient.map(|g| g / size);
            v.hessian = v.hessian.map(|row| row.map(|h| h / size));
        }
        v
    }

    /// The point where the ray from inside through `x` leaves the body; the foot of `x` on the largest function if the body has no known inside.
    fn on_surface(&self, x: Vector, size: f64) -> Vector {
        let along = sub(x, self.inside);
        if self.depth(self.inside) >= 0.0 || dot(along, along) == 0.0 {
            let worst =
                (0..self.surfaces.len()).max_by(|&i, &j| self.value(i, x).f.total_cmp(&self.value(j, x).f));
            return worst.map_or(x, |k| {
                let v = self.value(k, x);
                sub(x, scale(v.f, v.gradient))
            });
        }
        let at = |t: f64| add(self.inside, scale(t, along));
        let (mut low, mut high) = (0.0, 1.0);
        while self.depth(at(high)) < 0.0 && high * dot(along, along).sqrt() < 10.0 * size {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if self.depth(at(middle)) < 0.0 { low = middle } else { high = middle }
        }
        at(0.5 * (low + high))
    }

    /// Largest of the functions.
    pub fn depth(&self, x: Vector) -> f64 {
        (0..self.surfaces.len()).map(|k| self.value(k, x).f).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Closest points of two bodies of about this size; `None` if a function is not finite. Where Newton's method does not converge from any start, the points are those of
/// first order about the deepest point, which are good near touch; [`Closest::residual`] tells.
pub fn closest(a: &Body<'_>, b: &Body<'_>, size: f64) -> Option<Closest> {
    let (start, weights, n) = deepest(a, b, size)?;
    let apart = sub(b.inside, a.inside);
    let between = if dot(apart, apart) > 0.0 { scale(1.0 / dot(apart, apart).sqrt(), apart) } else { n };
    newton(a, b, size, (start, &weights, n))
        .or_else(|| newton(a, b, size, (start, &weights, between)))
        .or_else(|| Some(first_order(a, b, start, n)))
        .filter(|c| c.gap.is_finite() && c.normal.iter().all(|x| x.is_finite()))
}

/// Points of both surfaces along the normal from a point near both.
fn first_order(a: &Body<'_>, b: &Body<'_>, at: Vector, n: Vector) -> Closest {
    let [x, y] = [(a, 1.0), (b, -1.0)].map(|(body, sign)| sub(at, scale(sign * body.depth(at), n)));
    Closest { points: [x, y], normal: n, gap: dot(n, sub(y, x)), active: [1, 1], residual: 1.0 }
}

/// Newton's method, with guesses of the active functions.
fn newton(
    a: &Body<'_>,
    b: &Body<'_>,
    size: f64,
    (start, weights, n): (Vector, &[f64], Vector),
) -> Option<Closest> {
    let count = [a.surfaces.len(), b.surfaces.len()];
    let mut active: [Vec<usize>; 2] = [vec![], vec![]];
    for (side, offset) in [(0, 0), (1, count[0])] {
        let own = &weights[offset..offset + count[side]];
        let largest = own.iter().fold(0.0f64, |m, w| m.max(*w));
        let mut order: Vec<usize> = (0..count[side]).filter(|&k| own[k] > ACTIVE * largest).collect();
        order.sort_by(|&i, &j| own[j].total_cmp(&own[i]));
        order.truncate(MOST_ACTIVE);
        active[side] = order;
    }
    let points = [a.on_surface(start, size), b.on_surface(start, size)];
    let mut best: Option<Closest> = None;
    for _ in 0..GUESSES {
        let mut state = State::new(points, n, &active);
        state.solve([a, b], &active, size);
        let found = state.closest(&active);
        // a multiplier that pulls, or a function that is violated, changes the guess
        let pulled = state.most_negative(&active);
        let violated = violated([a, b], &active, [state.x, state.y], size);
        if found.residual <= GOOD && pulled.is_none() && violated.is_none() {
            return Some(found);
        }
        if violated.is_none() && found.residual <= 1e-6 && best.is_none_or(|b| found.residual < b.residual) {
            best = Some(found);
        }
        match (violated, pulled) {
            (Some((side, k)), _) if active[side].len() < MOST_ACTIVE => active[side].push(k),
            (Some((side, k)), _) => active[side] = vec![k],
            (None, Some((side, k))) if active[side].len() > 1 => {
                active[side].remove(k);
            }
            _ => break,
        }
    }
    best
}

/// A function that is positive where it must not be: its side and number.
fn violated(
    bodies: [&Body<'_>; 2],
    active: &[Vec<usize>; 2],
    at: [Vector; 2],
    size: f64,
) -> Option<(usize, usize)> {
    for side in 0..2 {
        for k in (0..bodies[side].surfaces.len()).filter(|k| !active[side].contains(k)) {
            if bodies[side].value(k, at[side]).f > 1e-10 * size {
                return Some((side, k));
            }
        }
    }
    None
}

/// A point inside a body of about this size, where its largest function is least; `None` if that is not negative.
pub(super) fn innermost(body: &Body<'_>, size: f64) -> Option<Vector> {
    let none = Body { surfaces: &[], ..*body };
    let (x, _, _) = deepest(body, &none, size)?;
    (body.depth(x) < 0.0).then_some(x)
}

/// The point where the largest function of both bodies is least, the functions' weights there, and the direction from a to b.
fn deepest(a: &Body<'_>, b: &Body<'_>, size: f64) -> Option<(Vector, Vec<f64>, Vector)> {
    let count = a.surfaces.len() + b.surfaces.len();
    let raw = |k: usize, x: Vector| {
        let (body, k) = if k < a.surfaces.len() { (a, k) } else { (b, k - a.surfaces.len()) };
        let (surface, local) = &body.surfaces[k];
        surface.placed(&body.pose.then(local), x)
    };
    let mut x = scale(0.5, add(a.inside, b.inside));
    // fixed scales: metres near the start, or near the other body if that is the middle of this one
    let scales: Vec<f64> = (0..count)
        .map(|k| {
            let other = if k < a.surfaces.len() { b.inside } else { a.inside };
            let own = if k < a.surfaces.len() { a.inside } else { b.inside };
            let mut at = raw(k, x).gradient;
            for y in [other, add(own, [0.3 * size, 0.2 * size, 0.1 * size])] {
                if dot(at, at) == 0.0 {
                    at = raw(k, y).gradient;
                }
            }
            1.0 / dot(at, at).sqrt().max(f64::MIN_POSITIVE)
        })
        .collect();
    let value = |k: usize, x: Vector| {
        let mut v = raw(k, x);
        v.f *= scales[k];
        v.gradient = v.gradient.map(|g| g * scales[k]);
        v.hessian = v.hessian.map(|row| row.map(|h| h * scales[k]));
        v
    };
    let worst = |x: Vector| (0..count).map(|k| value(k, x).f).fold(f64::NEG_INFINITY, f64::max);
    let mut s = worst(x) + 0.1 * size;
    if !s.is_finite() {
        return None;
    }
    let mut t = 1.0 / size;
    let barrier = |x: Vector, s: f64, t: f64| {
        let mut sum = t * s;
        for k in 0..count {
            let room = s - value(k, x).f;
            if room <= 0.0 || room.is_nan() {
                return f64::INFINITY;
            }
            sum -= (room / size).ln();
        }
        sum
    };
    for _ in 0..7 {
        for _ in 0..12 {
            let mut m = [[0.0; 5]; 4];
            m[3][4] = -t;
            for k in 0..count {
                let v = value(k, x);
                let (room, g) = (s - v.f, v.gradient);
                let w = 1.0 / room;
                for i in 0..3 {
                    for j in 0..3 {
                        m[i][j] += w * w * g[i] * g[j] + w * v.hessian[i][j];
                    }
                    m[i][3] -= w * w * g[i];
                    m[3][i] -= w * w * g[i];
                    m[i][4] -= w * g[i];
                }
                m[3][3] += w * w;
                m[3][4] += w;
            }
            // free directions, along which nothing changes, stay
            (0..3).for_each(|i| m[i][i] += 1e-9 * (m[0][0] + m[1][1] + m[2][2]) + 1e-12 / (size * size));
            let right = m.map(|row| row[4]);
            if !eliminate(&mut m) {
                break;
            }
            let d = m.map(|row| row[4]);
            let decrement: f64 = (0..4).map(|i| d[i] * right[i]).sum();
            let (mut along, now) = (1.0, barrier(x, s, t));
            let mut moved = false;
            for _ in 0..30 {
                let (y, r) = (add(x, scale(along, [d[0], d[1], d[2]])), s + along * d[3]);
                if barrier(y, r, t) <= now - 1e-4 * along * decrement.max(0.0) {
                    (x, s, moved) = (y, r, true);
                    break;
                }
                along *= 0.5;
            }
            if !moved || decrement < 1e-3 {
                break;
            }
        }
        t *= 10.0;
    }
    let weights: Vec<f64> =
        (0..count).map(|k| scales[k] / (s - value(k, x).f).max(f64::MIN_POSITIVE)).collect();
    let mut n = [0.0; 3];
    for k in 0..a.surfaces.len() {
        n = add(n, scale(weights[k], raw(k, x).gradient));
    }
    for k in a.surfaces.len()..count {
        n = sub(n, scale(weights[k], raw(k, x).gradient));
    }
    let length = dot(n, n).sqrt();
    // in units of the functions over the lengths of their gradients
    let weights =
        (0..count).map(|k| weights[k] * dot(raw(k, x).gradient, raw(k, x).gradient).sqrt()).collect();
    let n = if length > 0.0 { scale(1.0 / length, n) } else { [1.0, 0.0, 0.0] };
    Some((x, weights, n))
}

/// Gauss-Jordan with row exchanges; the last column becomes the solution.
fn eliminate(m: &mut [[f64; 5]; 4]) -> bool {
    for p in 0..4 {
        let best = (p..4).max_by(|&i, &j| m[i][p].abs().total_cmp(&m[j][p].abs())).unwrap_or(p);
        if !(m[best][p].abs() > 0.0 && m[best][p].is_finite()) {
            return false;
        }
        m.swap(p, best);
        for i in 0..4 {
            if i != p {
                let factor = m[i][p] / m[p][p];
                (p..5).for_each(|j| m[i][j] -= factor * m[p][j]);
            }
        }
    }
    (0..4).for_each(|p| m[p][4] /= m[p][p]);
    true
}

/// Unknowns of the equations.
struct State {
    x: Vector,
    y: Vector,
    n: Vector,
    gap: f64,
    multipliers: [[f64; MOST_ACTIVE]; 2],
    residual: f64,
}

/// Rows with their right-hand side.
type System = [[f64; MOST + 1]; MOST];

impl State {
    fn new([x, y]: [Vector; 2], n: Vector, active: &[Vec<usize>; 2]) -> Self {
        let mut multipliers = [[0.0; MOST_ACTIVE]; 2];
        for side in 0..2 {
            let share = 1.0 / active[side].len().max(1) as f64;
            multipliers[side][..active[side].len()].fill(share);
        }
        Self { x, y, n, gap: dot(n, sub(y, x)), multipliers, residual: f64::INFINITY }
    }

    fn closest(&self, active: &[Vec<usize>; 2]) -> Closest {
        let bits = |side: usize| active[side].iter().fold(0, |m, k| m | 1 << (k % 32));
        let length = dot(self.n, self.n).sqrt();
        Closest {
            points: [self.x, self.y],
            normal: scale(1.0 / length, self.n),
            gap: self.gap * length,
            active: [bits(0), bits(1)],
            residual: self.residual,
        }
    }

    fn most_negative(&self, active: &[Vec<usize>; 2]) -> Option<(usize, usize)> {
        let mut worst: Option<((usize, usize), f64)> = None;
        for side in 0..2 {
            for k in 0..active[side].len() {
                let m = self.multipliers[side][k];
                if m < -1e-9 && worst.is_none_or(|w| m < w.1) {
                    worst = Some(((side, k), m));
                }
            }
        }
        worst.map(|w| w.0)
    }

    /// Newton's method with backtracking.
    fn solve(&mut self, bodies: [&Body<'_>; 2], active: &[Vec<usize>; 2], size: f64) {
        let n = 10 + active[0].len() + active[1].len();
        let mut system: System = [[0.0; MOST + 1]; MOST];
        self.residual = self.write(bodies, active, size, Some(&mut system));
        let mut proximal = 1e-10;
        for _ in 0..STEPS {
            if self.residual <= FOUND {
                return;
            }
            // x and y stay near where flat surfaces leave them open
            for i in 0..3 {
                system[3 + i][i] += proximal / size;
                system[6 + i][3 + i] += proximal / size;
            }
            if !solve_dense(&mut system, n) {
                proximal = (proximal * 100.0f64).min(1.0);
                self.residual = self.write(bodies, active, size, Some(&mut system));
                continue;
            }
            let d: [f64; MOST] = std::array::from_fn(|i| system[i][MOST]);
            let (mut along, kept) = (1.0, self.copy());
            let mut moved = false;
            for _ in 0..12 {
                self.set(&kept, &d, along, active);
                let found = self.write(bodies, active, size, None);
                if found < (1.0 - 1e-3 * along) * kept.residual {
                    (self.residual, moved) = (found, true);
                    break;
                }
                along *= 0.5;
            }
            if !moved {
                *self = kept;
                if self.residual <= GOOD || proximal >= 1.0 {
                    return;
                }
                proximal = (proximal * 100.0).min(1.0);
            }
            self.residual = self.write(bodies, active, size, Some(&mut system));
        }
    }

    fn copy(&self) -> Self {
        Self { ..*self }
    }

    fn set(&mut self, from: &Self, d: &[f64; MOST], along: f64, active: &[Vec<usize>; 2]) {
        let by = |at: usize| [0, 1, 2].map(|i| along * d[at + i]);
        self.x = add(from.x, by(0));
        self.y = add(from.y, by(3));
        self.n = add(from.n, by(6));
        self.gap = from.gap + along * d[9];
        for side in 0..2 {
            let first = 10 + side * active[0].len();
            for k in 0..active[side].len() {
                self.multipliers[side][k] = from.multipliers[side][k] + along * d[first + k];
            }
        }
    }

    /// The residual, and the linearised system with its right-hand side, columns x, y, n, g, mu, nu. Lengths are over `size`.
    fn write(
        &self,
        bodies: [&Body<'_>; 2],
        active: &[Vec<usize>; 2],
        size: f64,
        mut system: Option<&mut System>,
    ) -> f64 {
        let rows = 10 + active[0].len() + active[1].len();
        if let Some(m) = system.as_deref_mut() {
            m.iter_mut().take(rows).for_each(|row| row.fill(0.0));
        }
        let mut f = [0.0; MOST];
        for i in 0..3 {
            f[i] = (self.y[i] - self.x[i] - self.gap * self.n[i]) / size;
            f[3 + i] = -self.n[i];
            f[6 + i] = self.n[i];
            if let Some(m) = system.as_deref_mut() {
                m[i][i] = -1.0 / size;
                m[i][3 + i] = 1.0 / size;
                m[i][6 + i] = -self.gap / size;
                m[i][9] = -self.n[i] / size;
                m[3 + i][6 + i] = -1.0;
                m[6 + i][6 + i] = 1.0;
                m[9][6 + i] = self.n[i];
            }
        }
        f[9] = 0.5 * (dot(self.n, self.n) - 1.0);
        for side in 0..2 {
            let (at, columns) = ([self.x, self.y][side], 3 * side);
            let first = 10 + side * active[0].len();
            for (k, &number) in active[side].iter().enumerate() {
                let (v, mu) = (bodies[side].value(number, at), self.multipliers[side][k]);
                f[first + k] = v.f / size;
                for i in 0..3 {
                    f[3 + 3 * side + i] += mu * v.gradient[i];
                    if let Some(m) = system.as_deref_mut() {
                        for j in 0..3 {
                            // the unit normal turns by the part of the Hessian across it
                            let across: f64 = (0..3)
                                .map(|l| {
                                    (if i == l { 1.0 } else { 0.0 } - v.gradient[i] * v.gradient[l])
                                        * v.hessian[l][j]
                                })
                                .sum();
                            m[3 + 3 * side + i][columns + j] += mu * across;
                        }
                        m[3 + 3 * side + i][first + k] = v.gradient[i];
                        m[first + k][columns + i] = v.gradient[i] / size;
                    }
                }
            }
        }
        if let Some(m) = system {
            (0..rows).for_each(|i| m[i][MOST] = -f[i]);
        }
        let sum = f.iter().take(rows).map(|x| x * x).sum::<f64>().sqrt();
        if sum.is_nan() { f64::INFINITY } else { sum }
    }
}

/// Gaussian elimination with row exchanges on the first `n` rows and columns; the last column becomes the solution.
fn solve_dense(m: &mut System, n: usize) -> bool {
    for p in 0..n {
        let best = (p..n).max_by(|&i, &j| m[i][p].abs().total_cmp(&m[j][p].abs())).unwrap_or(p);
        if !(m[best][p].abs() > 1e-14 && m[best][p].is_finite()) {
            return false;
        }
        m.swap(p, best);
        for i in p + 1..n {
            let factor = m[i][p] / m[p][p];
            if factor != 0.0 {
                let pivot = m[p];
                (p..n).for_each(|j| m[i][j] -= factor * pivot[j]);
                m[i][MOST] -= factor * pivot[MOST];
            }
        }
    }
    for p in (0..n).rev() {
        let sum: f64 = (p + 1..n).map(|j| m[p][j] * m[j][MOST]).sum();
        m[p][MOST] = (m[p][MOST] - sum) / m[p][p];
    }
    true
}
