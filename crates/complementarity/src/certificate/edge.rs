//! Contacts at an edge of their law: whether forces can leave it, all at once.
//!
//! Forces that solve a problem are a convex set where the motion is given. A solution on its surface, as solvers like to find them, has the dimension of the set
//! only after a step into the set's inside.

use super::directions::{Freedom, Row};
use crate::element::law::Law;
use crate::matrix::{dot, norm};
use crate::problem::FrictionProblem;
use std::f64::consts::PI;

/// Directions from the apex of a disc's cone that stand for it.
const AROUND: usize = 16;
/// Parts of a unit vector below this are rounding.
const ROUNDING: f64 = 1e-9;
/// Margins over the length of a direction: that is good enough, the least that leads inwards; and how long a better one is sought.
const GOOD: f64 = 1e-3;
const MARGIN: f64 = 1e-6;
const MOST_STEPS: usize = 500;

/// Shares of the vectors of `basis` (over the rows of `contacts`) that together lead every contact at an edge into the inside of its cone. `None` if none were found.
pub(super) fn inward(
    p: &FrictionProblem,
    contacts: &[usize],
    states: &[Freedom],
    lambda: &[f64],
    basis: &[Vec<f64>],
    tolerance: f64,
) -> Option<Vec<f64>> {
    let mut outward: Vec<Vec<f64>> = vec![];
    let mut end = 0;
    for &c in contacts {
        let at = end..end + p.rows_of(c).len();
        end = at.end;
        if !states[c].edge {
            continue;
        }
        let own = |v: &Vec<f64>| norm(&v[at.clone()]);
        let size = basis.iter().map(own).fold(0.0f64, |m, x| m.hypot(x));
        let scale = basis.iter().map(|v| norm(v)).fold(0.0f64, f64::max);
        if size <= ROUNDING * scale {
            continue;
        }
        for g in normals(p, c, &states[c], lambda, tolerance)? {
            let along: Vec<f64> = basis.iter().map(|v| dot(&g[..at.len()], &v[at.clone()])).collect();
            let length = norm(&along);
            if length <= ROUNDING * size * norm(&g) {
                return None;
            }
            outward.push(along.iter().map(|x| x / length).collect());
        }
    }
    if outward.is_empty() {
        let mut first = vec![0.0; basis.len()];
        *first.first_mut()? = 1.0;
        return Some(first);
    }
    // towards the point of their convex hull next to zero (Gilbert 1966), from their mean: what is opposite to it leads inwards
    let mut point: Vec<f64> = (0..basis.len()).map(|k| outward.iter().map(|g| g[k]).sum::<f64>()).collect();
    point.iter_mut().for_each(|x| *x /= outward.len() as f64);
    let mut best = (MARGIN, None);
    for _ in 0..MOST_STEPS {
        let size = norm(&point);
        let (least, margin) = outward
            .iter()
            .map(|g| (g, dot(g, &point) / size))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .filter(|(_, margin)| margin.is_finite())?;
        if margin > best.0 {
            best = (margin, Some(point.iter().map(|x| -x / size).collect()));
        }
        if size < MARGIN || margin > GOOD.min(0.5 * size) {
            break;
        }
        let apart: Vec<f64> = least.iter().zip(&point).map(|(a, b)| a - b).collect();
        let share = (-dot(&point, &apart) / dot(&apart, &apart)).clamp(0.0, 1.0);
        point.iter_mut().zip(&apart).for_each(|(x, d)| *x += share * d);
    }
    best.1
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
