//! Contacts at an edge of their law: which of them forces can leave, all at once.
//!
//! Forces that solve a problem are a convex set where the motion is given. A solution on its surface, as solvers like to find them, has the dimension of the set
//! only after a step into the set's inside.

use super::directions::{Freedom, Row};
use crate::element::law::Law;
use crate::matrix::{Matrix, dot, norm};
use crate::problem::FrictionProblem;
use std::f64::consts::PI;

/// Directions from the apex of a disc's cone that stand for it.
const AROUND: usize = 16;
/// Parts of a unit vector below this are rounding.
const ROUNDING: f64 = 1e-9;
/// Length of what is left of a unit normal below which the others hold it.
const HELD: f64 = 1e-6;

/// Where the contacts at an edge can go.
pub(super) struct Inward {
    /// Shares of the basis: a step into the inside of every law that can be entered.
    pub step: Vec<f64>,
    /// Orthonormal shares of the basis along which no contact crosses an edge that cannot be left: the step and its neighbours.
    pub space: Vec<Vec<f64>>,
    /// Whether `space` holds all such directions: the cones of discs are seen through polygons within them.
    pub exact: bool,
}

/// Directions within the span of `basis` (over the rows of `contacts`) that contacts at an edge can take: with `g` their outward normals, those with `g x <= 0`. A normal
/// that the others hold, `g + sum y_i g_i = 0` with `y >= 0`, is zero along all of them (Farkas); what is left of any other, with a sign, enters its law and violates
/// none. `None` where a law is not known.
pub(super) fn inward(
    p: &FrictionProblem,
    contacts: &[usize],
    states: &[Freedom],
    lambda: &[f64],
    basis: &[Vec<f64>],
    tolerance: f64,
) -> Option<Inward> {
    let (mut outward, mut approximate): (Vec<Vec<f64>>, Vec<bool>) = (vec![], vec![]);
    let scale = basis.iter().map(|v| norm(v)).fold(0.0f64, f64::max);
    let mut end = 0;
    for &c in contacts {
        let at = end..end + p.rows_of(c).len();
        end = at.end;
        if !states[c].edge {
            continue;
        }
        let own = |v: &Vec<f64>| norm(&v[at.clone()]);
        let size = basis.iter().map(own).fold(0.0f64, |m, x| m.hypot(x));
        if size <= ROUNDING * scale {
            continue;
        }
        let element = &p.elements()[c];
        let apex = !states[c].loaded && at.len() > 2 && element.mu() > 0.0 && element.law() == Law::Disc;
        for g in normals(p, c, &states[c], lambda, tolerance)? {
            let along: Vec<f64> = basis.iter().map(|v| dot(&g[..at.len()], &v[at.clone()])).collect();
            let length = norm(&along);
            // a normal across the whole space holds nothing
            if length > ROUNDING * size * norm(&g) {
                outward.push(along.iter().map(|x| x / length).collect());
                approximate.push(apex);
            }
        }
    }
    let (mut step, mut space, mut exact) = (vec![0.0; basis.len()], unit_vectors(basis.len()), true);
    for (i, g) in outward.iter().enumerate() {
        // what was found for others enters it too
        if dot(g, &step) < -HELD * norm(&step) {
            continue;
        }
        let left = not_held(&outward, g);
        let length = norm(&left);
        if length > HELD {
            step.iter_mut().zip(&left).for_each(|(s, x)| *s -= x / length);
        } else {
            exact &= !approximate[i];
            remove(&mut space, g);
        }
    }
    let length = norm(&step);
    match space.first() {
        Some(_) if length > HELD => step.iter_mut().for_each(|x| *x /= length),
        Some(first) => step.clone_from(first),
        None => {}
    }
    Some(Inward { step, space, exact })
}

fn unit_vectors(n: usize) -> Vec<Vec<f64>> {
    (0..n).map(|i| (0..n).map(|k| f64::from(u8::from(i == k))).collect()).collect()
}

/// Leaves of the span of orthonormal vectors what is across `g`.
pub(super) fn remove(space: &mut Vec<Vec<f64>>, g: &[f64]) {
    let within: Vec<f64> = space.iter().map(|v| dot(v, g)).collect();
    let size = norm(&within);
    if size <= HELD {
        return;
    }
    // reflect the first vector onto the part of g that lies in the span, and drop it (Householder)
    let sign = if within[0] < 0.0 { -1.0 } else { 1.0 };
    let mut u: Vec<f64> = within.iter().map(|x| x / size).collect();
    u[0] += sign;
    let scale = 2.0 / dot(&u, &u);
    let n = space[0].len();
    let sum: Vec<f64> = (0..n).map(|k| space.iter().zip(&u).map(|(v, u)| u * v[k]).sum()).collect();
    for (v, u) in space.iter_mut().zip(&u) {
        v.iter_mut().zip(&sum).for_each(|(v, s)| *v -= scale * u * s);
    }
    space.remove(0);
}

/// `g + sum y_i g_i` of least length over `y >= 0`: Lawson and Hanson's active-set method (Solving Least Squares Problems, 1974, algorithm NNLS).
fn not_held(outward: &[Vec<f64>], g: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; outward.len()];
    let mut passive: Vec<usize> = vec![];
    let left = |y: &[f64]| {
        let mut left = g.to_vec();
        for (y, g) in y.iter().zip(outward).filter(|(y, _)| **y > 0.0) {
            left.iter_mut().zip(g).for_each(|(l, g)| *l += y * g);
        }
        left
    };
    for _ in 0..3 * outward.len() {
        let now = left(&y);
        let down = |j: usize| -dot(&outward[j], &now);
        let enters = (0..outward.len()).filter(|j| !passive.contains(j));
        let best = enters.max_by(|&a, &b| down(a).total_cmp(&down(b)));
        let Some(best) = best.filter(|&j| down(j) > ROUNDING && norm(&now) > HELD) else { break };
        passive.push(best);
        while !passive.is_empty() {
            let Some(target) = least_squares(outward, &passive, g) else {
                // dependent on the others up to rounding
                passive.pop();
                break;
            };
            // as far towards the target as signs allow
            let ratio = |(&k, &t): (&usize, &f64)| if t > 0.0 { 1.0 } else { y[k] / (y[k] - t) };
            let share = passive.iter().zip(&target).map(ratio).fold(1.0, f64::min);
            for (&k, t) in passive.iter().zip(&target) {
                y[k] += share * (t - y[k]);
            }
            if target.iter().all(|&t| t > 0.0) {
                break;
            }
            passive.retain(|&k| y[k] > ROUNDING);
            (0..y.len()).filter(|k| !passive.contains(k)).for_each(|k| y[k] = 0.0);
        }
    }
    left(&y)
}

/// `y` of least `|g + sum y_i g_i|` over the passive normals, by Cholesky's factor; `None` if these depend on each other.
fn least_squares(outward: &[Vec<f64>], passive: &[usize], g: &[f64]) -> Option<Vec<f64>> {
    let n = passive.len();
    let mut l = Matrix::zeros(n, n);
    for r in 0..n {
        for c in 0..=r {
            let rest = dot(&outward[passive[r]], &outward[passive[c]])
                - (0..c).map(|k| l[(r, k)] * l[(c, k)]).sum::<f64>();
            if r == c && rest <= ROUNDING {
                return None;
            }
            l[(r, c)] = if r == c { rest.sqrt() } else { rest / l[(c, c)] };
        }
    }
    let mut x: Vec<f64> = passive.iter().map(|&p| -dot(&outward[p], g)).collect();
    for r in 0..n {
        x[r] = (x[r] - (0..r).map(|k| l[(r, k)] * x[k]).sum::<f64>()) / l[(r, r)];
    }
    for r in (0..n).rev() {
        x[r] = (x[r] - (r + 1..n).map(|k| l[(k, r)] * x[k]).sum::<f64>()) / l[(r, r)];
    }
    Some(x)
}

/// Outward normals: a change of the force that is opposite to all of them leads into the inside of the cone. `None` where that is not known.
fn normals(
    p: &FrictionProblem,
    c: usize,
    state: &Freedom,
    lambda: &[f64],
    tolerance: f64,
) -> Option<Vec<Row>> {
    let (mu, l, law) = (p.elements()[c].mu(), &lambda[p.rows_of(c)], p.elements()[c].law());
    let rows = l.len();
    let row = |entries: &[f64]| {
        let mut row = Row::default();
        row[..entries.len()].copy_from_slice(entries);
        row
    };
    let flat = match law {
        Law::Disc => None,
        Law::Row { .. } => return Some(vec![row(&[l[0].signum()])]),
        Law::Polygon(polygon) => {
            Some((0..polygon.sides()).map(move |k| (polygon.normal(k), polygon.apothem())))
        }
    };
    match (state.loaded, state.sticks) {
        (false, false) if state.columns.len() == 1 => Some(vec![row(&[-1.0])]),
        (false, true) => Some(match flat {
            Some(sides) => sides.map(|(n, apothem)| row(&[-mu * apothem, n[0], n[1]])).collect(),
            None if rows == 2 => vec![row(&[-mu, 1.0]), row(&[-mu, -1.0])],
            None if rows == 3 => {
                let angle = |k: usize| (2.0 * PI * k as f64 / AROUND as f64).sin_cos();
                let apothem = mu * (PI / AROUND as f64).cos();
                (0..AROUND).map(angle).map(|(sin, cos)| row(&[-apothem, cos, sin])).collect()
            }
            // a box within the ball
            None => (1..rows)
                .flat_map(|k| [(k, 1.0), (k, -1.0)])
                .map(|(k, sign)| {
                    let mut out = row(&[-mu / ((rows - 1) as f64).sqrt()]);
                    out[k] = sign;
                    out
                })
                .collect(),
        }),
        (true, true) => Some(match flat {
            Some(sides) => {
                let near = |(n, apothem): &([f64; 2], f64)| {
                    dot(n, &l[1..]) >= (1.0 - 2.0 * tolerance) * apothem * mu * l[0]
                };
                sides.filter(|s| near(s)).map(|(n, a)| row(&[-mu * a, n[0], n[1]])).collect()
            }
            None => {
                let size = norm(&l[1..]);
                let mut out = row(&[-mu]);
                (1..rows).for_each(|k| out[k] = l[k] / size);
                vec![out]
            }
        }),
        // slips, the force at the end of a side
        (true, false) => state.end.map(|out| vec![out]),
        (false, false) => None,
    }
}
