//! Ellipsoid of friction forces: `K = { (n, t) : |t_k / e_k| <= mu n }`, with semi-axes `e_k >= 0` for
//! `mu n = 1` (chakraborty2007 (5); torsion and rolling are further rows). Where `e_k = 0` there is no
//! friction along row `k`: `t_k = 0`.

use super::law::or_normal_law;
use crate::matrix::length;

/// Largest number of bisection and Newton steps on the scalar equation; bisection alone would converge in as
/// many.
const MOST_STEPS: usize = 200;

/// Projects `x` on `K`, in place. The normal row comes first; each other row has one semi-axis.
///
/// On the boundary `x_t,k = t_k a_k^2 / (a_k^2 + nu)` and `(1 - nu) x_n = n` with `a = mu e` and a multiplier
/// `nu >= 0`. With `nu = w / (1 - w)` the condition `x_n = |x_t / a|` becomes
///
/// ```text
/// h(w) = (1 - 2 w) psi(w) - n = 0      psi(w) = |t_k a_k / d_k|,  d_k = a_k^2 (1 - w) + w,  0 <= w <= 1
/// ```
///
/// `h` falls strictly from `|t / a| - n > 0` (outside `K`) to `-|a t| - n < 0` (outside the polar cone), so
/// that Newton's method within a bracket finds its one root to rounding.
pub fn project_ellipsoid(mu: f64, axes: &[f64], x: &mut [f64]) {
    let size = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if !(size > 0.0 && size.is_finite()) {
        return;
    }
    x.iter_mut().for_each(|x| *x /= size);
    let [n, t @ ..] = &mut *x else { return };
    // rows without friction carry no force
    t.iter_mut().zip(axes).filter(|(_, e)| mu * *e == 0.0).for_each(|(t, _)| *t = 0.0);
    let rows = |t: &[f64], of: &dyn Fn(f64, f64) -> f64| -> f64 {
        let used = t.iter().zip(axes).filter(|(t, _)| **t != 0.0);
        used.map(|(t, e)| of(*t, mu * e).powi(2)).sum::<f64>().sqrt()
    };
    if rows(t, &|t, a| t / a) <= *n {
        x.iter_mut().for_each(|x| *x *= size);
        return;
    }
    if rows(t, &|t, a| t * a) <= -*n {
        x.fill(0.0);
        return;
    }
    let (mut low, mut high, mut w) = (0.0, 1.0, 0.5);
    for _ in 0..MOST_STEPS {
        let psi = rows(t, &|t, a| t * a / (a * a * (1.0 - w) + w));
        let h = (1.0 - 2.0 * w) * psi - *n;
        if h > 0.0 {
            low = w;
        } else {
            high = w;
        }
        // psi psi' = -sum (t a / d)^2 (1 - a^2) / d
        let mut turn = 0.0;
        for (t, e) in t.iter().zip(axes).filter(|(t, _)| **t != 0.0) {
            let a = mu * e;
            let d = a * a * (1.0 - w) + w;
            turn -= (t * a / d).powi(2) * (1.0 - a * a) / d;
        }
        let slope = -2.0 * psi + (1.0 - 2.0 * w) * turn / psi;
        let newton = w - h / slope;
        if (newton - w).abs() <= 2.0 * f64::EPSILON * w.min(1.0 - w) {
            break;
        }
        w = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if !(low < w && w < high) {
            break;
        }
    }
    // t is replaced by x_t, and x_n = |x_t / a| = (1 - w) psi
    *n = (1.0 - w) * rows(t, &|t, a| t * a / (a * a * (1.0 - w) + w));
    for (t, e) in t.iter_mut().zip(axes).filter(|(t, _)| **t != 0.0) {
        let a2 = (mu * e).powi(2);
        *t *= a2 * (1.0 - w) / (a2 * (1.0 - w) + w);
    }
    x.iter_mut().for_each(|x| *x *= size);
}

/// Support function of the ellipsoid for `mu n = 1`: the largest `s . t` over `|t_k / e_k| <= 1`.
pub fn support_ellipsoid(axes: &[f64], s: &[f64]) -> f64 {
    length(s.iter().zip(axes).map(|(s, e)| s * e))
}

/// Natural map of a contact with an ellipsoid of friction forces.
pub(crate) fn natural_ellipsoid(mu: f64, axes: &[f64], lambda: &[f64], s: &[f64], r: &mut [f64]) {
    r.iter_mut().zip(lambda).zip(s).for_each(|((r, l), s)| *r = l - s);
    r[0] -= mu * support_ellipsoid(axes, &s[1..]);
    project_ellipsoid(mu, axes, r);
    r.iter_mut().zip(lambda).for_each(|(r, l)| *r = l - *r);
    r[0] = or_normal_law(mu, lambda[0], s[0], r[0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::project_in_place;
    use crate::matrix::{dot, norm};
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn projected(mu: f64, axes: &[f64], x: &[f64]) -> Vec<f64> {
        let mut y = x.to_vec();
        project_ellipsoid(mu, axes, &mut y);
        y
    }

    fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
        a.iter().zip(b).map(|(a, b)| a - b).collect()
    }

    /// Semi-axes over eight decades, some of them zero, and two points.
    fn cases() -> impl Strategy<Value = (f64, Vec<f64>, Vec<f64>, Vec<f64>)> {
        let axis = prop_oneof![8 => (-4.0..4.0f64).prop_map(|e| 10f64.powf(e)), 1 => Just(0.0)];
        (1usize..=5).prop_flat_map(move |k| {
            (0.0..2.0f64, vec(axis.clone(), k), vec(-2.0..2.0f64, k + 1), vec(-2.0..2.0f64, k + 1))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// y = P_K(x) iff y in K, x - y in the polar cone and (x - y) . y = 0.
        #[test]
        fn ellipsoid_projection_satisfies_moreau((mu, axes, x, _) in cases()) {
            let y = projected(mu, &axes, &x);
            for (k, e) in axes.iter().enumerate() {
                prop_assert!(mu * e > 0.0 || y[1 + k] == 0.0);
            }
            let gauge: f64 = y[1..].iter().zip(&axes).filter(|(t, _)| **t != 0.0).map(|(t, e)| (t / e).powi(2)).sum();
            prop_assert!(gauge.sqrt() <= mu * y[0] * (1.0 + 1e-12), "in K: {} {}", gauge.sqrt(), mu * y[0]);
            let d = minus(&x, &y);
            prop_assert!(dot(&d, &y).abs() < 1e-13, "orthogonal: {}", dot(&d, &y));
            let size = 1.0 + axes.iter().fold(0.0f64, |m, e| m.max(mu * e));
            prop_assert!(d[0] + mu * support_ellipsoid(&axes, &d[1..]) <= 1e-13 * size, "polar");
        }

        #[test]
        fn ellipsoid_projection_is_nonexpansive_and_idempotent((mu, axes, x, z) in cases()) {
            let (px, pz) = (projected(mu, &axes, &x), projected(mu, &axes, &z));
            prop_assert!(norm(&minus(&px, &pz)) <= norm(&minus(&x, &z)) + 1e-13);
            prop_assert!(norm(&minus(&projected(mu, &axes, &px), &px)) <= 1e-13);
        }

        #[test]
        fn ellipsoid_with_equal_axes_is_a_disc(mu in 0.0..2.0f64, e in 0.1..3.0f64, x in vec(-2.0..2.0f64, 2..=6)) {
            let axes = vec![e; x.len() - 1];
            let mut disc = x.clone();
            project_in_place(mu * e, &mut disc);
            prop_assert!(norm(&minus(&projected(mu, &axes, &x), &disc)) <= 1e-14);
        }

        #[test]
        fn ellipsoid_projection_scales_with_its_argument((mu, axes, x, _) in cases(), power in -150i32..150) {
            let size = 2f64.powi(power);
            let large: Vec<f64> = x.iter().map(|x| x * size).collect();
            let back: Vec<f64> = projected(mu, &axes, &large).iter().map(|x| x / size).collect();
            prop_assert!(norm(&minus(&back, &projected(mu, &axes, &x))) <= 1e-14);
        }
    }
}
