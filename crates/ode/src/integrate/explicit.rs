//! Dormand and Prince's pair of orders 5 and 4, for equations that are not stiff.
//!
//! Source: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I (Springer 1993), Table II.5.2.

use super::{Field, norm};

const C: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
/// Coefficients of the stages; the last row is the solution of order 5.
const A: [[f64; 6]; 7] = [
    [0.0; 6],
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// Solution of order 5 less that of order 4.
const E: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339_200.0, 22.0 / 525.0, -1.0 / 40.0];

/// The method and its memory.
#[derive(Debug, Clone, Default)]
pub struct DormandPrince {
    rates: [Vec<f64>; 7],
    point: Vec<f64>,
    error: Vec<f64>,
    start: Vec<f64>,
}

impl DormandPrince {
    /// Order of the error estimate, for [`super::next_length`].
    pub const ORDER: i32 = 5;

    /// The end of the last attempt.
    pub fn end(&self) -> &[f64] {
        &self.point
    }

    /// A step of length `h` from `(t, y)`, with errors measured by `scale`. Returns the error (at most 1 if it is small enough), or `None` where the
    /// field is not finite.
    pub fn attempt(
        &mut self,
        field: &mut impl Field,
        (t, y): (f64, &[f64]),
        h: f64,
        scale: &[f64],
    ) -> Option<f64> {
        self.start.clear();
        self.start.extend_from_slice(y);
        for stage in 0..7 {
            self.point.clear();
            self.point.extend_from_slice(y);
            for (k, a) in A[stage].iter().enumerate().filter(|(k, a)| *k < stage && **a != 0.0) {
                self.point.iter_mut().zip(&self.rates[k]).for_each(|(y, f)| *y += h * a * f);
            }
            let rate = &mut self.rates[stage];
            rate.resize(y.len(), 0.0);
            field.rate(t + C[stage] * h, &self.point, rate);
            if !rate.iter().all(|x| x.is_finite()) {
                return None;
            }
        }
        self.error.clear();
        self.error.extend((0..y.len()).map(|i| h * (0..7).map(|k| E[k] * self.rates[k][i]).sum::<f64>()));
        Some(norm(self.error.iter(), scale))
    }

    /// The last attempt at the share `x` of its length, by the cubic polynomial through both ends and their rates.
    pub fn between(&self, x: f64, h: f64, out: &mut Vec<f64>) {
        let (a, b) = (&self.rates[0], &self.rates[6]);
        let (s, r) = (x * x * (3.0 - 2.0 * x), 1.0 - x);
        out.clear();
        out.extend((0..a.len()).map(|i| {
            let ends = (1.0 - s) * self.start[i] + s * self.point[i];
            ends + h * x * r * (r * a[i] - x * b[i])
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_steps_are_of_order_five_and_the_polynomial_of_order_three() {
        let mut f = |_: f64, y: &[f64], out: &mut [f64]| (out[0], out[1]) = (y[1], -y[0].sin());
        let mut at = |steps: usize| {
            let (mut y, mut method, h) = (vec![2.0, 0.0], DormandPrince::default(), 2.0 / steps as f64);
            for k in 0..steps {
                let _ = method.attempt(&mut f, (k as f64 * h, &y), h, &[1.0, 1.0]).unwrap();
                y.copy_from_slice(method.end());
            }
            y[0]
        };
        let exact = at(1000);
        let [coarse, fine] = [at(20), at(40)].map(|x| (x - exact).abs());
        let order = (coarse / fine).log2();
        assert!((4.6..5.6).contains(&order), "order {order}, errors {coarse:e} {fine:e}");
        let (mut method, mut out) = (DormandPrince::default(), vec![]);
        let mut cosine = |t: f64, _: &[f64], out: &mut [f64]| out[0] = t.cos();
        let _ = method.attempt(&mut cosine, (0.0, &[0.0]), 0.1, &[1.0]).unwrap();
        method.between(0.3, 0.1, &mut out);
        assert!((out[0] - 0.03f64.sin()).abs() < 1e-7, "{:e}", out[0] - 0.03f64.sin());
    }
}
