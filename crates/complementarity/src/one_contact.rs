//! One contact alone: the cone problem of two to six rows, solved exactly.
//!
//! Given `s = A l + q` with the contact's own block `A`, find the force `l` under Coulomb's law:
//!
//! - open: `q_n >= 0`, `l = 0`;
//! - stick: `s = 0`, `l = -A^-1 q` within the cone;
//! - slip: `s_n = 0`, `s_t = -tau l_t` with `tau > 0`, `|l_t| = mu l_n`.
//!
//! With `T = diag(0, 1, ..., 1)` the last two are `l(tau) = -(A + tau T)^-1 q`, `tau = 0` being stick. For `A > 0` and `q_n < 0` the force at
//! `tau -> inf` is normal and positive, so where sticking asks for too much friction `|l_t(tau)| = mu l_n(tau)` has a root: one scalar
//! equation in any number of rows, whatever couples normal and tangent; with two rows a linear one for each side. Newton on
//! `1/|l_t| - 1/(mu l_n)`, which is nearly straight in `tau` (the trust-region subproblem's equation), kept within a bracket.
//!
//! Where the friction set is a polygon slip has as many cases as that has sides and corners, each a linear system: at a corner `p` the force is a multiple
//! of `(1, mu p)` and `-s_t` between the normals of its sides; on a side `s_t` is against its normal.

use crate::element::law::Law;
use crate::element::polygon::Polygon;

/// What a contact does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    /// No force.
    #[default]
    Open,
    /// No velocity.
    Stick,
    /// Force on the cone, velocity against it.
    Slip,
}

/// A contact's state and its `tau` (stick: 0), the start of the next search.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Local {
    pub state: State,
    pub tau: f64,
}

/// Share of `mu l_n` to which the length of the friction force is found.
const EXACT: f64 = 1e-14;
/// Share from which one more step of Newton's method reaches that.
const NEARLY: f64 = 1e-8;
const SMALL_STEP: f64 = 1e-4;
/// Newton steps and bisections of `tau`; a double has no more to halve.
const MOST_STEPS: usize = 200;

/// The force for block `a` (row by row) and constant `q`.
#[inline]
pub(crate) fn solve<const D: usize>(
    law: Law,
    a: &[[f64; D]; D],
    q: &[f64; D],
    mu: f64,
    local: &mut Local,
) -> [f64; D] {
    if let Law::Row { limit } = law {
        let free = if a[0][0] > 0.0 { -q[0] / a[0][0] } else { 0.0 };
        let mut l = [0.0; D];
        l[0] = free.clamp(-limit, limit);
        *local = Local { state: if l[0] == free { State::Stick } else { State::Slip }, tau: 0.0 };
        return l;
    }
    if q[0] >= 0.0 {
        *local = Local { state: State::Open, tau: 0.0 };
        return [0.0; D];
    }
    if mu == 0.0 || D == 1 {
        let mut l = [0.0; D];
        l[0] = -q[0] / a[0][0];
        *local = Local { state: State::Slip, tau: 0.0 };
        return l;
    }
    if let Law::Polygon(polygon) = law {
        return on_polygon(&polygon, a, q, mu, local);
    }
    if D == 2
        && let Some((l, found)) = in_plane(a, q, mu)
    {
        *local = found;
        return l;
    }
    on_disc(a, q, mu, local)
}

/// The force of a closed contact under a disc of friction: Newton's method for `tau`, kept within a bracket.
#[inline]
fn on_disc<const D: usize>(a: &[[f64; D]; D], q: &[f64; D], mu: f64, local: &mut Local) -> [f64; D] {
    let mut tau = local.tau;
    // phi(low) > 0 > phi(high); whether low was met
    let (mut low, mut high, mut low_met) = (0.0, f64::INFINITY, false);
    let mut l = [0.0; D];
    for _ in 0..MOST_STEPS {
        let (k, inverse) = factors(a, tau);
        l = substitute(&k, &inverse, q);
        let length = tangent(&l, &l).sqrt();
        let limit = mu * l[0];
        if tau == 0.0 && length <= limit {
            *local = Local { state: State::Stick, tau: 0.0 };
            return l;
        }
        if (length - limit).abs() <= EXACT * limit {
            break;
        }
        if length > limit {
            (low, low_met) = (tau, true);
        } else {
            high = tau;
        }
        if low_met && high < f64::INFINITY && high - low <= 2.0 * f64::EPSILON * high {
            break;
        }
        // Newton on 1/|l_t| - 1/(mu l_n), with dl/dtau = -(A + tau T)^-1 T l
        let mut friction = l;
        friction[0] = 0.0;
        let change = substitute(&k, &inverse, &friction);
        let f = 1.0 / length - 1.0 / limit;
        let slope = change[0] * mu / (limit * limit) - tangent(&l, &change) / (length * length * length);
        let next = tau - f / slope;
        // what is left after this step is the square of what was: no need to look
        let near = (length - limit).abs() <= NEARLY * limit && (next - tau).abs() <= SMALL_STEP * tau;
        if near && next > low && next < high {
            (0..D).for_each(|i| l[i] += change[i] * (next - tau));
            tau = next;
            break;
        }
        tau = if limit > 0.0 && next > low && next < high {
            next
        } else if !low_met {
            0.0
        } else if high < f64::INFINITY {
            if low == 0.0 {
                1e-3 * high
            } else if high > 4.0 * low {
                (low * high).sqrt()
            } else {
                0.5 * (low + high)
            }
        } else {
            let size = (1..D).map(|i| a[i][i].abs()).sum::<f64>();
            if tau > 0.0 { 8.0 * tau } else { size.max(f64::MIN_POSITIVE) }
        };
    }
    // exactly on the cone
    let length = tangent(&l, &l).sqrt();
    l[0] = l[0].max(0.0);
    let shrink = if length > 0.0 { mu * l[0] / length } else { 0.0 };
    l[1..].iter_mut().for_each(|t| *t *= shrink);
    *local = Local { state: State::Slip, tau };
    l
}

/// Two rows and a force: stick, or slip to either side, whose forces are known at once. `None` if none of them fits (to rounding).
#[inline]
fn in_plane<const D: usize>(a: &[[f64; D]; D], q: &[f64; D], mu: f64) -> Option<([f64; D], Local)> {
    let (k, pivots) = factors(a, 0.0);
    let mut l = substitute(&k, &pivots, q);
    if l[1].abs() <= mu * l[0] {
        return Some((l, Local { state: State::Stick, tau: 0.0 }));
    }
    for side in [l[1].signum(), -l[1].signum()] {
        let n = -q[0] / (a[0][0] + side * mu * a[0][1]);
        let force = side * mu * n;
        // s_t = -tau l_t
        let tau = -(a[1][0] * n + a[1][1] * force + q[1]) / force;
        if n > 0.0 && tau >= 0.0 && tau.is_finite() {
            (l[0], l[1]) = (n, force);
            return Some((l, Local { state: State::Slip, tau }));
        }
    }
    None
}

/// The first case that fits; to rounding: the one of least natural map.
fn on_polygon<const D: usize>(
    polygon: &Polygon,
    a: &[[f64; D]; D],
    q: &[f64; D],
    mu: f64,
    local: &mut Local,
) -> [f64; D] {
    let (k, pivots) = factors(a, 0.0);
    let stick = substitute(&k, &pivots, q);
    let law = Law::Polygon(*polygon);
    if law.gauge(&stick) <= mu * stick[0] {
        *local = Local { state: State::Stick, tau: 0.0 };
        return stick;
    }
    *local = Local { state: State::Slip, tau: 0.0 };
    let speed = |l: &[f64; D]| -> [f64; D] {
        std::array::from_fn(|i| q[i] + (0..D).map(|j| a[i][j] * l[j]).sum::<f64>())
    };
    let force = |n: f64, t: f64, o: f64| -> [f64; D] {
        std::array::from_fn(|i| [n, t, o].get(i).copied().unwrap_or_default())
    };
    let mut best = ([0.0; D], f64::INFINITY);
    let mut consider = |l: [f64; D], s: &[f64; D]| {
        let mut r = [0.0; D];
        law.natural(mu, &l, s, &mut r);
        let square: f64 = r.iter().map(|r| r * r).sum();
        if square < best.1 {
            best = (l, square);
        }
    };
    // from the side towards which sticking asks for friction to those opposite
    let (first, sides) = (polygon.sector([stick[1], stick[2]]), polygon.sides());
    for i in 0..sides {
        let k = (first + if i % 2 == 0 { i / 2 } else { sides - i.div_ceil(2) }) % sides;
        // s_n = 0 with l along (1, mu p)
        let [t, o] = polygon.corner(k);
        let n = -q[0] / (a[0][0] + mu * (a[0][1] * t + a[0][2] * o));
        if n > 0.0 && n.is_finite() {
            let l = force(n, mu * n * t, mu * n * o);
            let s = speed(&l);
            let beyond = |other: [f64; 2]| (other[0] - t) * s[1] + (other[1] - o) * s[2] >= 0.0;
            if beyond(polygon.corner(k + 1)) && beyond(polygon.corner(k + sides - 1)) {
                return l;
            }
            consider(l, &s);
        }
        // s_n = 0 and s_t along the side 0 with l = n (1, mu e) + y (0, f)
        let [cos, sin] = polygon.normal(k);
        let steep = mu * polygon.apothem();
        let column: [[f64; 2]; 2] =
            [[a[0][1], a[0][2]], [0, 1].map(|j| cos * a[2][1 + j] - sin * a[1][1 + j])];
        let normal = [a[0][0], cos * a[2][0] - sin * a[1][0]];
        let right = [-q[0], sin * q[1] - cos * q[2]];
        let m: [[f64; 2]; 2] = std::array::from_fn(|i| {
            let [t, o] = column[i];
            [normal[i] + steep * (cos * t + sin * o), cos * o - sin * t]
        });
        let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
        let n = (right[0] * m[1][1] - right[1] * m[0][1]) / det;
        let y = (m[0][0] * right[1] - m[1][0] * right[0]) / det;
        if n > 0.0 && n.is_finite() && y.is_finite() {
            let end = mu * n * polygon.half_side();
            let on = y.clamp(-end, end);
            let l = force(n, steep * n * cos - sin * on, steep * n * sin + cos * on);
            let s = speed(&l);
            if on == y && cos * s[1] + sin * s[2] <= 0.0 {
                return l;
            }
            consider(l, &s);
        }
    }
    best.0
}

/// Scalar product of the tangential parts.
#[inline]
pub(crate) fn tangent<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    (1..D).map(|i| a[i] * b[i]).sum()
}

/// `A^-1`; large where a pivot is lost to rounding.
#[inline]
pub(crate) fn inverse<const D: usize>(a: &[[f64; D]; D]) -> [[f64; D]; D] {
    let (k, pivots) = factors(a, 0.0);
    let mut out = [[0.0; D]; D];
    for j in 0..D {
        let mut unit = [0.0; D];
        unit[j] = -1.0;
        let column = substitute(&k, &pivots, &unit);
        (0..D).for_each(|i| out[i][j] = column[i]);
    }
    out
}

/// Triangular factors of `A + tau T`, tangents eliminated first, and the inverses of the pivots.
#[inline]
fn factors<const D: usize>(a: &[[f64; D]; D], tau: f64) -> ([[f64; D]; D], [f64; D]) {
    let mut k = *a;
    for i in 1..D {
        k[i][i] += tau;
    }
    let inverse = eliminate(&mut k);
    (k, inverse)
}

/// Triangular factors in place, from the last row up; the inverses of the pivots.
#[inline]
fn eliminate<const D: usize>(k: &mut [[f64; D]; D]) -> [f64; D] {
    let mut inverse = [0.0; D];
    for p in (0..D).rev() {
        // a pivot lost to rounding: the block is singular here, and any large number will do
        let least = f64::EPSILON * f64::EPSILON * k[0][0].abs().max(f64::MIN_POSITIVE);
        inverse[p] = 1.0 / if k[p][p].abs() > least { k[p][p] } else { least };
        for i in 0..p {
            k[i][p] *= inverse[p];
            for j in 0..p {
                k[i][j] -= k[i][p] * k[p][j];
            }
        }
    }
    inverse
}

/// `-(factored matrix)^-1 x`.
#[inline]
fn substitute<const D: usize>(k: &[[f64; D]; D], inverse: &[f64; D], x: &[f64; D]) -> [f64; D] {
    let mut y = x.map(|x| -x);
    for p in (0..D).rev() {
        for i in 0..p {
            y[i] -= k[i][p] * y[p];
        }
    }
    for p in 0..D {
        for j in 0..p {
            y[p] -= k[p][j] * y[j];
        }
        y[p] *= inverse[p];
    }
    y
}
