//! The law of an element: projection, support function, natural map, and the derivatives of both, for all
//! solvers.
//!
//! A contact's force cone is `K = { (n, t) : t in mu n P }`, with `P` a disc (a ball in up to five
//! dimensions), a regular polygon about the origin, or an ellipsoid
//! ([`project_ellipsoid`](super::project_ellipsoid)), which is a disc in other units. The normal row comes
//! first: `[n, t, o]`. A unilateral row is a contact without friction; bounded and bilateral rows are
//! intervals. Solvers may pad an element with rows that carry no force.

use super::Friction;
use super::polygon::Polygon;

/// The law of an element in the units of the solvers; the friction coefficient is kept beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Law {
    /// Cone over a disc, in any dimension; in one dimension a half-line.
    Disc,
    /// Cone over a polygon, with two tangent directions.
    Polygon(Polygon),
    /// Interval `|lambda| <= limit`, with `s` against the force at the bound; an infinite limit means
    /// `s = 0`.
    Row {
        /// Largest force.
        limit: f64,
    },
}

impl Law {
    /// The law of a contact with this number of rows.
    #[inline]
    pub fn of(friction: Friction, rows: usize) -> Self {
        Polygon::of(friction, rows).map_or(Self::Disc, Self::Polygon)
    }

    /// Whether the first row is a normal force, which cannot pull.
    #[inline]
    pub fn is_contact(&self) -> bool {
        !matches!(self, Self::Row { .. })
    }

    /// Projects a force on the admissible set.
    #[inline]
    pub fn project(&self, mu: f64, x: &mut [f64]) {
        match self {
            Self::Disc => project_in_place(mu, x),
            Self::Polygon(p) => {
                let own = p.project(mu, [x[0], x[1], x[2]]);
                x[..3].copy_from_slice(&own);
                x[3..].fill(0.0);
            }
            Self::Row { limit } => {
                x[0] = x[0].clamp(-limit, *limit);
                x[1..].fill(0.0);
            }
        }
    }

    /// De Saxce's lift over `mu`: the support function of the friction set at `-s_t`, from the rows of a
    /// contact.
    #[inline]
    pub fn lift(&self, s: &[f64]) -> f64 {
        match self {
            Self::Disc => s[1..].iter().map(|s| s * s).sum::<f64>().sqrt(),
            Self::Polygon(p) => p.support([-s[1], -s[2]]),
            Self::Row { .. } => 0.0,
        }
    }

    /// Derivative of [`Self::lift`].
    pub fn lift_slope<const D: usize>(&self, s: &[f64; D]) -> [f64; D] {
        let mut out = [0.0; D];
        match self {
            Self::Disc => {
                let slip = s[1..].iter().map(|s| s * s).sum::<f64>().sqrt();
                (1..D).filter(|_| slip > 0.0).for_each(|q| out[q] = s[q] / slip);
            }
            Self::Polygon(polygon) if (s[1], s[2]) != (0.0, 0.0) => {
                let [t, o] = polygon.farthest([-s[1], -s[2]]);
                (out[1], out[2]) = (-t, -o);
            }
            // at zero any mean of the corners will do
            Self::Polygon(_) | Self::Row { .. } => {}
        }
        out
    }

    /// Gauge of the friction force of `l`: at most `mu l_n` for admissible forces.
    #[inline]
    pub fn gauge(&self, l: &[f64]) -> f64 {
        match self {
            Self::Disc => l[1..].iter().map(|t| t * t).sum::<f64>().sqrt(),
            Self::Polygon(p) => p.gauge([l[1], l[2]]),
            Self::Row { .. } => 0.0,
        }
    }

    /// The natural map `l - P(l - s~)`, `s~ = s + (mu lift, 0)`.
    #[inline]
    pub fn natural(&self, mu: f64, l: &[f64], s: &[f64], out: &mut [f64]) {
        let lift = mu * self.lift(s);
        let polygon = match self {
            Self::Disc => return natural_disc(mu, l, s, lift, out),
            Self::Row { limit } => {
                out.copy_from_slice(l);
                out[0] = natural_row(-limit, *limit, l[0], s[0]);
                return;
            }
            Self::Polygon(polygon) => polygon,
        };
        let step = [l[0] - s[0] - lift, l[1] - s[1], l[2] - s[2]];
        out.copy_from_slice(l);
        if step[0] > 0.0 {
            // s~ plus its projection on the polar cone: no cancellation between large forces and small
            // velocities
            let polar = polygon.polar(mu, step);
            out[..3].copy_from_slice(&[s[0] + lift + polar[0], s[1] + polar[1], s[2] + polar[2]]);
        } else {
            let p = polygon.project(mu, step);
            out.iter_mut().zip(l).zip(p).for_each(|((out, l), p)| *out = l - p);
        }
        out[0] = or_normal_law(mu, l[0], s[0], out[0]);
    }

    /// Derivative of [`Self::project`] at `x`; `None` if it is zero. On the lateral surface of the cone over
    /// a disc it is `u u' + (mu a / T) f f'` with `u = (1, mu e) / sqrt(1 + mu^2)`.
    pub fn slope<const D: usize>(&self, mu: f64, x: &[f64; D]) -> Option<[[f64; D]; D]> {
        let mut slope = [[0.0; D]; D];
        match self {
            Self::Disc => {}
            Self::Polygon(polygon) => {
                let own = polygon.slope(mu, [x[0], x[1], x[2]])?;
                (0..3).for_each(|i| slope[i][..3].copy_from_slice(&own[i]));
                return Some(slope);
            }
            Self::Row { limit } => {
                slope[0][0] = 1.0;
                return (x[0].abs() < *limit).then_some(slope);
            }
        }
        let length = x[1..].iter().map(|t| t * t).sum::<f64>().sqrt();
        if length <= mu * x[0] && x[0] >= 0.0 {
            (0..D).for_each(|i| slope[i][i] = 1.0);
            return Some(slope);
        }
        let along = (x[0] + mu * length) / (1.0 + mu * mu);
        if along <= 0.0 {
            return None;
        }
        let u: [f64; D] = std::array::from_fn(|i| match i {
            0 => 1.0,
            _ if length > 0.0 => mu * x[i] / length,
            _ => 0.0,
        });
        let across = if length > 0.0 { mu * along / length } else { 0.0 };
        for i in 0..D {
            for j in 0..D {
                slope[i][j] = u[i] * u[j] / (1.0 + mu * mu);
                if i > 0 && j > 0 && length > 0.0 {
                    let same = f64::from(u8::from(i == j));
                    slope[i][j] += across * (same - x[i] * x[j] / (length * length));
                }
            }
        }
        Some(slope)
    }
}

/// Natural map of one row with forces from `least` to `most`: `l - clamp(l - s)`, exact where the force is
/// large.
#[inline]
pub(crate) fn natural_row(least: f64, most: f64, l: f64, s: f64) -> f64 {
    match l - s {
        x if x <= least => l - least,
        x if x >= most => l - most,
        x if x.is_nan() => f64::NAN,
        _ => s,
    }
}

/// Projects `x` on the force cone `K` of coefficient `mu`; a planar cone has `o = 0`. An ellipsoid is taken
/// with all axes 1.
pub fn project(friction: Friction, planar: bool, mu: f64, mut x: [f64; 3]) -> [f64; 3] {
    let rows = if planar { 2 } else { 3 };
    Law::of(friction, rows).project(mu, &mut x[..rows]);
    x
}

/// Projects `x` on the cone `|(x_1, x_2, ...)| <= mu x_0`, in any dimension.
pub fn project_in_place(mu: f64, x: &mut [f64]) {
    let [n, t @ ..] = x else { return };
    let length = t.iter().map(|t| t * t).sum::<f64>().sqrt();
    if length <= mu * *n && *n >= 0.0 {
        return;
    }
    let along = (*n + mu * length) / (1.0 + mu * mu);
    if along <= 0.0 {
        x.fill(0.0);
        return;
    }
    let shrink = mu * along / length;
    *n = along;
    t.iter_mut().for_each(|t| *t *= shrink);
}

/// Natural map `l - P_K(l - s~)` for the disc, `s~ = s + (lift, 0)`, in any dimension, without cancellation
/// between large forces and small velocities: `s~` where `l - s~` is in `K`, `l` where its projection is 0,
/// and otherwise from the projection of `s~` on the polar cone (Moreau).
#[inline]
pub(crate) fn natural_disc(mu: f64, l: &[f64], s: &[f64], lift: f64, out: &mut [f64]) {
    let lifted = s[0] + lift;
    let n = l[0] - lifted;
    out.iter_mut().zip(l).zip(s).for_each(|((out, l), s)| *out = l - s);
    let length = out[1..].iter().map(|t| t * t).sum::<f64>().sqrt();
    if length <= mu * n && n >= 0.0 {
        out.copy_from_slice(s);
        out[0] = lifted;
    } else if n + mu * length <= 0.0 {
        out.copy_from_slice(l);
    } else {
        let across = (length - mu * n) / (1.0 + mu * mu);
        out[0] = lifted - mu * across;
        out[1..].iter_mut().zip(&s[1..]).for_each(|(out, s)| *out = s + across * (*out / length));
    }
    out[0] = or_normal_law(mu, l[0], s[0], out[0]);
}

/// Friction coefficient above which the normal law is also evaluated by itself.
const MUCH_FRICTION: f64 = 1e3;

/// Normal row `r` of a natural map, or `min(l, s)` if that is larger and friction is very large. De Saxce's
/// lift scales a violation of the normal law by `1 / (1 + mu)`, so that zero force would pass for a solution
/// where bodies overlap and slip.
#[inline]
pub(crate) fn or_normal_law(mu: f64, l: f64, s: f64, r: f64) -> f64 {
    if mu > MUCH_FRICTION && l.min(s).abs() > r.abs() { l.min(s) } else { r }
}

/// Support function of `P`: the largest `x . p` over `p` in `P`; the disc's is the length.
pub fn support(friction: Friction, planar: bool, [t, o]: [f64; 2]) -> f64 {
    match Polygon::of(friction, 3) {
        Some(polygon) if !planar => polygon.support([t, o]),
        _ => t.hypot(o),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::polygon::Face;
    use proptest::prelude::*;
    use std::f64::consts::PI;

    fn frictions() -> impl Strategy<Value = Friction> {
        prop_oneof![
            Just(Friction::Cone),
            Just(Friction::Pyramid),
            (2usize..=32).prop_map(|half| Friction::Polygon { sides: 2 * half }),
        ]
    }

    fn inside(friction: Friction, mu: f64, x: [f64; 3]) -> bool {
        // x in K iff every corner direction's polar inequality holds: use the gauge of P.
        let gauge = match friction {
            Friction::Cone | Friction::Ellipsoid => x[1].hypot(x[2]),
            Friction::Pyramid => x[1].abs().max(x[2].abs()),
            Friction::Polygon { sides } => (0..sides)
                .map(|k| {
                    let angle = (2 * k + 1) as f64 * PI / sides as f64;
                    (angle.cos() * x[1] + angle.sin() * x[2]) / (PI / sides as f64).cos()
                })
                .fold(0.0, f64::max),
        };
        gauge <= mu * x[0] + 1e-12 * (1.0 + x[0].abs())
    }

    /// The slope is a ray's also where the point is beyond the middle of a side.
    #[test]
    fn without_friction_the_slope_is_that_of_a_ray() {
        for friction in [Friction::Pyramid, Friction::Polygon { sides: 6 }] {
            let polygon = Polygon::of(friction, 3).unwrap();
            for x in [[1.0, 0.5, 0.0], [1.0, 0.0, -0.5], [1.0, 0.3, 0.4], [1.0, 3f64.sqrt(), 1.0]] {
                let slope = [[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]];
                assert_eq!(polygon.slope(0.0, x), Some(slope), "{friction:?} {x:?}");
            }
        }
    }

    #[test]
    fn without_friction_the_cone_is_a_ray() {
        for friction in [Friction::Cone, Friction::Pyramid, Friction::Polygon { sides: 6 }] {
            assert_eq!(project(friction, false, 0.0, [-2.0, 0.0, 0.0]), [0.0; 3], "{friction:?}");
        }
        let mut x = [-2.0, 0.0, 0.0, 0.0];
        project_in_place(0.0, &mut x);
        assert_eq!(x, [0.0; 4]);
    }

    proptest! {
        /// y = P_K(x) iff y in K, (x - y) . y = 0 and (x - y) in the polar cone.
        #[test]
        fn projection_satisfies_moreau(f in frictions(), mu in 0.0..3.0f64, x in prop::array::uniform3(-2.0..2.0f64)) {
            let y = project(f, false, mu, x);
            prop_assert!(inside(f, mu, y));
            let d = [x[0] - y[0], x[1] - y[1], x[2] - y[2]];
            prop_assert!((d[0] * y[0] + d[1] * y[1] + d[2] * y[2]).abs() < 1e-12);
            if let Some(polygon) = Polygon::of(f, 3) {
                let polar = polygon.polar(mu, x);
                prop_assert!((0..3).all(|k| (polar[k] - d[k]).abs() < 1e-14), "{:?} {:?}", polar, d);
            }
            // polar: for all p in P, d . (1, mu p) <= 0
            prop_assert!(d[0] + mu * support(f, false, [d[1], d[2]]) <= 1e-12);
        }

        #[test]
        fn projection_is_nonexpansive_and_idempotent(f in frictions(), mu in 0.0..3.0f64,
            x in prop::array::uniform3(-2.0..2.0f64), z in prop::array::uniform3(-2.0..2.0f64)) {
            let distance = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
            let (px, pz) = (project(f, false, mu, x), project(f, false, mu, z));
            prop_assert!(distance(px, pz) <= distance(x, z) + 1e-12);
            prop_assert!(distance(project(f, false, mu, px), px) < 1e-12);
        }

        /// Where the projection is linear around a point, its derivative agrees with finite differences.
        #[test]
        fn slope_of_a_polygon_is_that_of_differences(f in frictions(), mu in 0.0..3.0f64,
            x in prop::array::uniform3(-2.0..2.0f64), d in prop::array::uniform3(-1.0..1.0f64)) {
            let Some(polygon) = Polygon::of(f, 3) else { return Ok(()) };
            let at = |h: f64| polygon.project(mu, [x[0] + h * d[0], x[1] + h * d[1], x[2] + h * d[2]]);
            let (h, here) = (1e-4, at(0.0));
            let (before, after) = (at(-h), at(h));
            let linear = (0..3).all(|k| (after[k] + before[k] - 2.0 * here[k]).abs() < 1e-13);
            let slope = polygon.slope(mu, x).unwrap_or_default();
            for k in (0..3).filter(|_| linear) {
                let expected: f64 = (0..3).map(|j| slope[k][j] * d[j]).sum();
                prop_assert!(((after[k] - before[k]) / (2.0 * h) - expected).abs() < 1e-9);
            }
        }

        /// The gauge is 1 exactly on the boundary, and the boundary's faces contain what is projected there.
        #[test]
        fn gauge_and_faces_of_a_polygon_fit_its_projection(f in frictions(), mu in 0.1..3.0f64,
            x in prop::array::uniform3(-2.0..2.0f64)) {
            let Some(polygon) = Polygon::of(f, 3) else { return Ok(()) };
            let y = project(f, false, mu, x);
            prop_assume!(y != x && y != [0.0; 3]);
            prop_assert!((polygon.gauge([y[1], y[2]]) - mu * y[0]).abs() < 1e-12);
            let limit = mu * y[0];
            match polygon.face(y) {
                Face::Side(n) => {
                    prop_assert!((n[0] * y[1] + n[1] * y[2] - limit * polygon.apothem()).abs() < 1e-12);
                }
                Face::Corner(c) => {
                    prop_assert!((limit * c[0] - y[1]).abs().max((limit * c[1] - y[2]).abs()) < 1e-8);
                }
            }
        }

        #[test]
        fn planar_contacts_see_the_interval_under_every_law(f in frictions(), mu in 0.0..3.0f64, n in -2.0..2.0f64, t in -2.0..2.0f64) {
            prop_assert_eq!(project(f, true, mu, [n, t, 0.0]), project(Friction::Cone, false, mu, [n, t, 0.0]));
            prop_assert_eq!(support(f, true, [t, 0.0]), t.abs());
        }
    }
}
