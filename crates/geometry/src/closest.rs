//! Signed distance of two solids and its direction.
//!
//! With `D` the differences of the corners (b's minus a's) and `q` the sum of the ellipsoids' support functions, the
//! separation along a unit normal is `f(n) = min_D n . d - q(n)` (balls are taken off afterwards), and the signed
//! distance is the greatest `f` over all `n`. Two searches:
//!
//! - *fixed directions*: face normals, cross products of edges, axes of round bodies. For overlapping polytopes the
//!   answer is one of them;
//! - *a growing simplex*: the best normal for at most four members of `D`, adding the member that its plane leaves
//!   behind, until there is none. This is Gilbert, Johnson and Keerthi's algorithm seen from the dual side, which
//!   allows for `q`: corners of `D` are solved by Newton on the sphere, edges by Newton on a circle, triangles by
//!   their normal. It ends exactly when the bodies are apart. When they overlap it is a local search, and starts
//!   from the best fixed direction.

use super::ascent::{Pair, ascend, bulge};
use super::placed::Placed;
use super::shape::Shape;
use super::solid::Round;
use crate::space::{Frame, Vector, add, cross, dot, length, scale, sub};

/// Relative to size: rounding of a separation.
const ROUNDING: f64 = 1e-15;
/// Relative to size: a fixed direction this near the best one is taken instead, to keep manifolds whole.
const PREFER_FIXED: f64 = 1e-13;

/// Most moves of `push_out`; each takes off the share depth / radius of curvature of the error.
const PUSHES: usize = 30;
/// Relative to size: how far apart `push_out` moves the bodies.
const CLEARANCE: f64 = 1e-3;
/// Relative to size: overlaps by a face or cap below this depth are not compared with those by sharp features.
const SHALLOW: f64 = 1e-4;
/// No shift.
const STAY: Vector = [0.0; 3];

/// The best unit normal from a to b, and the separation of the bodies without their balls.
pub(super) fn separation(pair: Pair) -> (Vector, f64) {
    let [a, b] = pair;
    let smooth = a.solid.round != Round::None || b.solid.round != Round::None;
    let size = a.solid.reach + b.solid.reach;
    let mut best = ([1.0, 0.0, 0.0], f64::NEG_INFINITY);
    fixed(pair, &mut best);
    let fixed_best = best;
    let mut start = best;
    if let Some(n) = direction(sub(b.position, a.position)) {
        offer(pair, n, &mut start);
    }
    if smooth {
        let proved = simplex(pair, STAY, start.0, size, &mut best);
        if !proved && best.1 > 0.0 {
            // rounding has led the search astray: once more from where it came
            let again = best.0;
            if !simplex(pair, STAY, again, size, &mut best) {
                simplex(pair, STAY, fixed_best.0, size, &mut best);
            }
        }
        if best.1 <= 0.0 && a.corners.len() + b.corners.len() > 2 {
            push_out(pair, size, &mut best);
            if best.1 < -SHALLOW * size || best.1 > fixed_best.1 {
                let before = best.1;
                sharp(pair, &mut best);
                if best.1 > before {
                    push_out(pair, size, &mut best);
                }
            }
        }
    } else {
        if start.1 <= 0.0 {
            edge_pairs(pair, &mut start);
            across_rods(pair, &mut start);
        }
        best = start;
        if start.1 > 0.0 {
            simplex(pair, STAY, start.0, size, &mut best);
        }
    }
    if fixed_best.1 >= best.1 - PREFER_FIXED * size { fixed_best } else { best }
}

fn direction(x: Vector) -> Option<Vector> {
    let l = length(x);
    (l > 0.0).then(|| scale(1.0 / l, x))
}

/// The member of `D` with the least `n . d`.
fn least(pair: Pair, shift: Vector, n: Vector) -> Vector {
    let [a, b] = pair;
    add(shift, sub(b.corners[b.farthest(scale(-1.0, n)).0], a.corners[a.farthest(n).0]))
}

/// `f(n)`.
fn apart(pair: Pair, n: Vector) -> f64 {
    let [a, b] = pair;
    -b.level(scale(-1.0, n)) - a.level(n) - bulge(pair, n)
}

fn offer(pair: Pair, n: Vector, best: &mut (Vector, f64)) {
    let f = apart(pair, n);
    if f > best.1 {
        *best = (n, f);
    }
}

fn both_ways(pair: Pair, n: Vector, best: &mut (Vector, f64)) {
    offer(pair, n, best);
    offer(pair, scale(-1.0, n), best);
}

/// Face normals and axes of round bodies; edges against the axis of a capsule or cylinder.
fn fixed(pair: Pair, best: &mut (Vector, f64)) {
    for (body, sign) in pair.iter().zip([1.0, -1.0]) {
        for f in 0..body.solid.hull.faces.len() {
            offer(pair, scale(sign, body.normals[f]), best);
        }
        match body.solid.round {
            Round::None => {}
            Round::Disc => both_ways(pair, body.axis(), best),
            Round::Ellipsoid => {
                for k in 0..if body.solid.planar() { 2 } else { 3 } {
                    let axis = body.matrix.map(|row| row[k]);
                    let sign = dot(axis, sub(pair[1].position, pair[0].position)).signum();
                    offer(pair, scale(sign, axis), best);
                }
            }
        }
    }
    let [a, b] = pair;
    let rod = |p: &Placed| p.solid.hull.edges.len() == 1;
    if !a.solid.planar() && (rod(a) || rod(b)) {
        for i in 0..a.solid.hull.edges.len() {
            for j in 0..b.solid.hull.edges.len() {
                if let Some(n) = direction(cross(a.edge(i), b.edge(j))) {
                    both_ways(pair, n, best);
                }
            }
        }
    }
}

/// A rod that meets another rod end on, or a point on its axis, is left by any direction across it.
fn across_rods(pair: Pair, best: &mut (Vector, f64)) {
    for body in pair {
        if body.solid.hull.edges.len() == 1 {
            let frame = Frame::new(body.axis(), [1.0, 0.0, 0.0]);
            both_ways(pair, frame.t, best);
            both_ways(pair, frame.o, best);
        }
    }
    if best.1 == f64::NEG_INFINITY {
        offer(pair, [1.0, 0.0, 0.0], best);
    }
}

/// Cross products of the edges of two polytopes, where these make a face of `D`: their arcs cross on the sphere of
/// normals (Gregorius, "The separating axis test between convex polyhedra", GDC 2013).
fn edge_pairs(pair: Pair, best: &mut (Vector, f64)) {
    let [a, b] = pair;
    if let (Shape::Box { .. }, Shape::Box { .. }) = (a.solid.shape(), b.solid.shape()) {
        return box_edges(pair, best);
    }
    let mut found = *best;
    for (i, e) in a.solid.hull.edges.iter().enumerate() {
        let Some([f, g]) = e.faces else { continue };
        let (n1, n2, u) = (a.normals[f as usize], a.normals[g as usize], a.edge(i));
        let from = a.corners[e.corners[0] as usize];
        for (j, k) in b.solid.hull.edges.iter().enumerate() {
            let Some([h, l]) = k.faces else { continue };
            let w = b.edge(j);
            let (m1, m2) = (scale(-1.0, b.normals[h as usize]), scale(-1.0, b.normals[l as usize]));
            let (c1, c2) = (dot(m1, u), dot(m2, u));
            let (d1, d2) = (dot(n1, w), dot(n2, w));
            if c1 * c2 >= 0.0 || d1 * d2 >= 0.0 {
                continue;
            }
            let normal = cross(u, w);
            if length(normal) <= 1e-9 * length(u) * length(w) {
                continue;
            }
            let Some(mut n) = direction(normal) else { continue };
            if dot(n, add(n1, n2)) < 0.0 {
                n = scale(-1.0, n);
            }
            let f = dot(n, sub(b.corners[k.corners[0] as usize], from));
            if f > found.1 && apart(pair, n) > found.1 {
                found = (n, apart(pair, n));
            }
        }
    }
    *best = found;
}

/// Edges of two boxes have nine pairs of directions.
fn box_edges(pair: Pair, best: &mut (Vector, f64)) {
    let [a, b] = pair;
    if a.solid.planar() {
        return;
    }
    let apart = sub(b.position, a.position);
    for i in 0..3 {
        for j in 0..3 {
            let normal = cross(a.matrix.map(|row| row[i]), b.matrix.map(|row| row[j]));
            let l = length(normal);
            if l > 1e-9 {
                offer(pair, scale(dot(normal, apart).signum() / l, normal), best);
            }
        }
    }
}

/// Overlaps of a rim with edges, corners and rims are not shallow beside their radius of curvature, which is zero:
/// their normals are tried one by one, from a guess that leaves the other body by the edge or corner.
fn sharp(pair: Pair, best: &mut (Vector, f64)) {
    if pair.iter().all(|p| p.solid.round != Round::Disc) {
        return;
    }
    let guess = best.0;
    for (k, sign) in [(0, 1.0), (1, -1.0)] {
        let (body, other) = (&pair[k], &pair[1 - k]);
        let out = |x: Vector| direction(scale(sign, sub(x, body.position)));
        for &o in other.corners {
            let mut corner = |c: Vector, start: Option<Vector>| {
                let d = scale(sign, sub(o, c));
                if let Some(n) = start.filter(|_| rim_passes(other, o, c, c, -best.1)) {
                    offer(pair, ascend(pair, d, n, None), best);
                }
            };
            for &c in body.corners {
                corner(c, out(c));
                corner(c, Some(guess));
            }
            for (j, e) in body.solid.hull.edges.iter().enumerate() {
                let [c, f] = e.corners.map(|i| body.corners[i as usize]);
                let Some(along) = direction(body.edge(j)) else { continue };
                if !rim_passes(other, o, c, f, -best.1) {
                    continue;
                }
                let flat = |x: Vector| direction(sub(x, scale(dot(x, along), along)));
                let d = scale(sign, sub(o, c));
                for start in [out(scale(0.5, add(c, f))).and_then(flat), flat(guess)].into_iter().flatten() {
                    offer(pair, ascend(pair, d, start, Some(along)), best);
                }
            }
        }
    }
}

/// Whether the rim about `o` comes within `depth` of the segment from c to f: if not, the two cannot touch with a
/// lesser depth than that. Always, if the other body has no rim, or this one has and is larger than its core.
fn rim_passes(body: &Placed, o: Vector, c: Vector, f: Vector, depth: f64) -> bool {
    if body.solid.round != Round::Disc || body.solid.hull.edges.len() != 1 {
        return true;
    }
    let radius = body.solid.semi_axes[0];
    let (x, y) = (sub(c, o), sub(f, o));
    let (h, k) = (dot(x, body.axis()), dot(y, body.axis()));
    let level = h.min(k) <= depth && h.max(k) >= -depth;
    level && length(x).max(length(y)) >= radius - depth
}

/// Overlapping bodies: moves b out of a along the best normal so far, takes the normal there, and repeats. Where the
/// normal no longer changes, the depth along it is least; every problem on the way is one of separated bodies.
fn push_out(pair: Pair, size: f64, best: &mut (Vector, f64)) {
    let mut n = best.0;
    for _ in 0..PUSHES {
        let shift = scale(CLEARANCE * size - apart(pair, n), n);
        let mut moved = (n, f64::NEG_INFINITY);
        simplex(pair, shift, n, size, &mut moved);
        let change = length(sub(moved.0, n));
        n = moved.0;
        offer(pair, n, best);
        if change < 1e-13 {
            break;
        }
    }
}

/// The growing simplex, from the normal `start`, with b moved by `shift`; whether the best normal
/// was reached.
fn simplex(pair: Pair, shift: Vector, start: Vector, size: f64, best: &mut (Vector, f64)) -> bool {
    let tolerance = ROUNDING * size;
    let mut members = [[0.0; 3]; 4];
    let mut count = 0;
    let mut n = start;
    let mut value = f64::INFINITY;
    for _ in 0..40 {
        let d = least(pair, shift, n);
        // nothing is left behind: n is best for all of D
        if value.is_finite() && dot(n, d) - bulge(pair, n) >= value - tolerance {
            return true;
        }
        if members[..count].contains(&d) {
            break;
        }
        members[count] = d;
        count += 1;
        let Some((next, f)) = best_for(pair, &members[..count], n) else { break };
        (n, value) = (next, f);
        let full = apart(pair, n) + dot(n, shift);
        if full > best.1 {
            *best = (n, full);
        }
        // keep the members that hold n; at most three, the newest of them for sure
        let low = members[..count].iter().map(|m| dot(n, *m)).fold(f64::INFINITY, f64::min);
        let mut kept = 0;
        for k in 0..count {
            if dot(n, members[k]) - low <= 1e-13 * size {
                members[kept] = members[k];
                kept += 1;
            }
        }
        if kept == 4 {
            members.rotate_left(1);
            kept = 3;
        }
        count = kept;
    }
    false
}

/// The best normal for a few members of `D`, the newest of which holds it.
fn best_for(pair: Pair, members: &[Vector], guess: Vector) -> Option<(Vector, f64)> {
    let (new, old) = members.split_last()?;
    let planar = pair[0].solid.planar();
    let z = [0.0, 0.0, 1.0];
    let mut best: Option<(Vector, f64)> = None;
    let mut consider = |n: Vector| {
        let f = members.iter().map(|m| dot(n, *m)).fold(f64::INFINITY, f64::min) - bulge(pair, n);
        if best.is_none_or(|b| f > b.1) {
            best = Some((n, f));
        }
    };
    if let Some(n) = corner_normal(pair, *new, guess, planar.then_some(z)) {
        consider(n);
    }
    for body in pair {
        if body.solid.round == Round::Disc {
            consider(body.axis());
            consider(scale(-1.0, body.axis()));
        }
    }
    for (i, m) in old.iter().enumerate() {
        let Some(e) = direction(sub(*new, *m)) else { continue };
        if planar {
            let n = cross(e, z);
            consider(n);
            consider(scale(-1.0, n));
            continue;
        }
        if let Some(n) = corner_normal(pair, *new, guess, Some(e)) {
            consider(n);
        }
        for l in &old[i + 1..] {
            if let Some(n) = direction(cross(sub(*m, *new), sub(*l, *new))) {
                consider(n);
                consider(scale(-1.0, n));
            }
        }
    }
    best
}

/// The best normal for one member of `D`, or for the edge through it along `across`.
fn corner_normal(pair: Pair, d: Vector, guess: Vector, across: Option<Vector>) -> Option<Vector> {
    let flat = |x: Vector| across.map_or(x, |e| sub(x, scale(dot(x, e), e)));
    if pair.iter().all(|p| p.solid.round == Round::None) {
        // once more after scaling: a small remainder of a long d is not yet across the edge
        return direction(flat(direction(flat(d))?));
    }
    let mut start = direction(flat(d));
    if let Some(g) = direction(flat(guess)) {
        let phi = |n: Vector| dot(n, d) - bulge(pair, n);
        if length(flat(guess)) > 1e-3 && start.is_none_or(|s| phi(g) > phi(s)) {
            start = Some(g);
        }
    }
    Some(ascend(pair, d, start?, across))
}
