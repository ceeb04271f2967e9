//! Newton's method on the unit sphere, for the common normal of two curved surfaces.
//!
//! Maximises `phi(n) = n . d - q(n)`, `q` the sum of both ellipsoids' support functions, over unit `n`, or over
//! unit `n` across a given direction. `phi` is the separation of two ellipsoids whose centres differ by `d`; its
//! greatest value is their signed distance. With tangents t, gradient `g = d - q'(n)` and `n . g = phi`, the second
//! derivative on the sphere is `-(T' q'' T + phi I)`: definite wherever `phi > 0`, and for overlaps that are
//! shallow beside the radii of curvature. Elsewhere it is shifted, and steps are shortened until they ascend.

use super::placed::Placed;
use super::solid::Round;
use crate::space::{Frame, Vector, add, cross, dot, length, scale, sub, unit};

/// Most steps; a well-posed problem takes four to eight.
const STEPS: usize = 60;
/// Longest step, in radians.
const LONGEST: f64 = 0.5;
/// Steps shorter than this are taken without asking whether they ascend: rounding would decide.
const CLOSE: f64 = 1e-5;
/// Steps shorter than this end the search.
const DONE: f64 = 1e-15;

/// Both bodies, of which only the ellipsoids matter here.
pub(super) type Pair<'p, 'a> = &'p [Placed<'a>; 2];

/// `q(n)` of both bodies.
pub(super) fn bulge(pair: Pair, n: Vector) -> f64 {
    pair[0].bulge(n) + pair[1].bulge(n)
}

/// The best unit normal for the difference `d`, from the guess `n`; `across`: only normals across this direction.
pub(super) fn ascend(pair: Pair, d: Vector, start: Vector, across: Option<Vector>) -> Vector {
    let mut n = start;
    let mut phi = dot(n, d) - bulge(pair, n);
    let mut previous = f64::INFINITY;
    for _ in 0..STEPS {
        match kink(pair, d, n, across) {
            Kink::Best(axis) => return axis,
            Kink::Leave(towards) => {
                let (mut s, base) = (1.0, n);
                while s > 1e-6 {
                    n = unit(add(base, scale(s, towards)));
                    if dot(n, d) - bulge(pair, n) > phi {
                        break;
                    }
                    s *= 0.3;
                }
                phi = dot(n, d) - bulge(pair, n);
            }
            Kink::None => {}
        }
        let step = match across {
            Some(e) => along_circle(pair, n, cross(e, n), d, phi),
            None => along_sphere(pair, n, d, phi),
        };
        let mut size = length(step);
        if size < DONE || (size < 1e-11 && size >= 0.5 * previous) {
            break;
        }
        let close = size < CLOSE && previous < 1e-2;
        previous = size;
        let mut s = if size > LONGEST { LONGEST / size } else { 1.0 };
        loop {
            let trial = unit(add(n, scale(s, step)));
            let value = dot(trial, d) - bulge(pair, trial);
            if value > phi || close {
                (n, phi) = (trial, value);
                break;
            }
            s *= 0.5;
            size *= 0.5;
            if size < DONE {
                return n;
            }
        }
    }
    n
}

enum Kink {
    None,
    /// The kink itself is the best normal.
    Best(Vector),
    /// The kink is not, and this is the way to go.
    Leave(Vector),
}

/// A disc's support function has a kink along its axis: there `q` grows at the rate of its radius in every
/// direction, and the kink is best if nothing else pulls harder.
fn kink(pair: Pair, d: Vector, n: Vector, across: Option<Vector>) -> Kink {
    for body in pair {
        let radius = body.solid.semi_axes[0];
        if body.solid.round != Round::Disc || body.bulge(n) > 1e-2 * radius {
            continue;
        }
        let mut axis = body.axis();
        if dot(axis, n) < 0.0 {
            axis = scale(-1.0, axis);
        }
        if across.is_some_and(|e| dot(e, axis).abs() > 1e-12) {
            continue;
        }
        let (mut g, mut hold) = (d, 0.0);
        for other in pair {
            if other.solid.round == Round::Disc && other.bulge(axis) <= 1e-9 * other.solid.semi_axes[0] {
                hold += other.solid.semi_axes[0];
            } else {
                g = sub(g, other.bulge_point(axis));
            }
        }
        let mut pull = sub(g, scale(dot(g, axis), axis));
        if let Some(e) = across {
            pull = sub(pull, scale(dot(pull, e), e));
        }
        if length(pull) <= hold {
            return Kink::Best(axis);
        }
        if body.bulge(n) <= 1e-7 * radius {
            return Kink::Leave(unit(pull));
        }
    }
    Kink::None
}

fn along_circle(pair: Pair, n: Vector, t: Vector, d: Vector, phi: f64) -> Vector {
    let (mut slope, mut h) = (dot(d, t), phi);
    for body in pair.iter().filter(|p| p.solid.round != Round::None) {
        let (w, u) = (body.stretched(n), body.stretched(t));
        let q = dot(w, w).sqrt().max(f64::MIN_POSITIVE);
        let g = dot(w, u) / q;
        slope -= g;
        h += (dot(u, u) - g * g) / q;
    }
    let curvature = h.abs().max(1e-3 * slope.abs()).max(f64::MIN_POSITIVE);
    scale(slope / curvature, t)
}

/// With `w` for n and `u`, `v` for the tangents: `q' . t = w . u / q` and `t' q'' o = (u . v - (q' . t)(q' . o)) / q`.
fn along_sphere(pair: Pair, n: Vector, d: Vector, phi: f64) -> Vector {
    let Frame { t, o, .. } = Frame::new(n, [1.0, 0.0, 0.0]);
    let mut slope = [dot(d, t), dot(d, o)];
    let mut h = [0.0; 3];
    for body in pair.iter().filter(|p| p.solid.round != Round::None) {
        let (w, u, v) = (body.stretched(n), body.stretched(t), body.stretched(o));
        let q = dot(w, w).sqrt().max(f64::MIN_POSITIVE);
        let g = [dot(w, u) / q, dot(w, v) / q];
        slope = [slope[0] - g[0], slope[1] - g[1]];
        h[0] += (dot(u, u) - g[0] * g[0]) / q;
        h[1] += (dot(u, v) - g[0] * g[1]) / q;
        h[2] += (dot(v, v) - g[1] * g[1]) / q;
    }
    let (mut a, b, mut c) = (h[0] + phi, h[1], h[2] + phi);
    // least eigenvalue, raised where the surface curves the wrong way
    let least = 0.5 * (a + c) - (0.25 * (a - c) * (a - c) + b * b).sqrt();
    let floor = 1e-9 * (h[0] + h[2] + phi.abs()) + f64::MIN_POSITIVE;
    if least < floor {
        let shift = floor.max(0.1 * least.abs()) - least;
        (a, c) = (a + shift, c + shift);
    }
    let determinant = a * c - b * b;
    let u = [(c * slope[0] - b * slope[1]) / determinant, (a * slope[1] - b * slope[0]) / determinant];
    if !(u[0].is_finite() && u[1].is_finite()) {
        return [0.0; 3];
    }
    add(scale(u[0], t), scale(u[1], o))
}
