//! Integration of differential equations `y' = f(t, y)` with error control: [`Radau`] for stiff ones, [`DormandPrince`] for others.
//!
//! A method makes one attempt at a step and estimates its error; what is integrated decides on the length of steps
//! ([`next_length`]) and on where they end.

mod blocks;
mod explicit;
mod radau;

pub use explicit::DormandPrince;
pub use radau::Radau;

/// The right-hand side of `y' = f(t, y)`.
pub trait Field {
    /// Writes `f(t, y)` into `out`. What is not finite makes an attempt fail.
    fn rate(&mut self, t: f64, y: &[f64], out: &mut [f64]);

    /// Gives each variable the number of its group (0 on entry): rates depend on variables of their own group alone.
    fn groups(&mut self, _labels: &mut [usize]) {}
}

impl<F: FnMut(f64, &[f64], &mut [f64])> Field for F {
    fn rate(&mut self, t: f64, y: &[f64], out: &mut [f64]) {
        self(t, y, out);
    }
}

/// Largest and least factor between the lengths of two steps, and the share of the length that is expected to be right.
const GROWTH: [f64; 2] = [0.2, 5.0];
const SAFETY: f64 = 0.9;

/// Length of the step after one of length `h` with this error (1: what is allowed), by a method whose error estimate falls as `h^order`.
pub fn next_length(h: f64, error: f64, order: i32) -> f64 {
    let factor = SAFETY * error.max(1e-12).powf(-1.0 / f64::from(order));
    h * factor.clamp(GROWTH[0], GROWTH[1])
}

/// Root mean square of entries over their scales.
fn norm<'a>(x: impl Iterator<Item = &'a f64>, scale: &[f64]) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for (x, scale) in x.zip(scale.iter().cycle()) {
        sum += (x / scale) * (x / scale);
        count += 1;
    }
    (sum / f64::from(count.max(1))).sqrt()
}
