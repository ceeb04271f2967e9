//! Values over time, loads and springs of a scene.

use super::Numbers;
use crate::space::{Vector, add, scale};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value over time: a constant, a piecewise linear course, a cubic spline or a sinusoid.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Course")]
pub enum Course<T> {
    /// Constant value.
    Constant(T),
    /// Linear between points with increasing times, constant before the first and after the last.
    Points(Vec<Point<T>>),
    /// Cubic spline through points with increasing times, twice continuously differentiable between them, at
    /// rest at the first and the last, constant outside.
    Spline(Vec<Knot<T>>),
    /// Sinusoid: `offset + amplitude sin(2 pi frequency t + phase)`.
    Sinusoid(Sinusoid<T>),
}

/// A point of a spline.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: Deserialize<'de>"))]
#[schemars(rename = "Knot")]
pub struct Knot<T> {
    /// Time, s.
    pub time: f64,
    /// Value at that time.
    pub value: T,
    /// Rate at that time; computed when the scene is resolved.
    #[serde(skip)]
    #[schemars(skip)]
    pub rate: Option<T>,
}

/// A sinusoid.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Sinusoid")]
pub struct Sinusoid<T> {
    /// Amplitude.
    pub amplitude: T,
    /// Frequency, Hz.
    pub frequency: f64,
    /// Phase, rad; 0 by default.
    #[serde(default)]
    pub phase: f64,
    /// Mean value; 0 by default.
    pub offset: Option<T>,
}

/// A point of a course.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Point")]
pub struct Point<T> {
    /// Time, s.
    pub time: f64,
    /// Value at that time.
    pub value: T,
}

impl<T: Default> Default for Course<T> {
    fn default() -> Self {
        Self::Constant(T::default())
    }
}

impl Course<f64> {
    /// The value at `time` (s).
    pub fn at(&self, time: f64) -> f64 {
        self.mix(time, |parts| parts.iter().map(|(share, x)| share * x).sum())
    }
}

impl Course<Vector> {
    /// The value at `time` (s).
    pub fn at(&self, time: f64) -> Vector {
        self.mix(time, |parts| parts.iter().fold([0.0; 3], |sum, (share, x)| add(sum, scale(*share, *x))))
    }
}

impl<T: Copy + Default> Course<T> {
    /// The value at a time, as a sum of shares of the values given.
    fn mix(&self, time: f64, sum: impl Fn(&[(f64, T)]) -> T) -> T {
        match self {
            Self::Constant(value) => *value,
            Self::Points(points) => {
                let after = points.partition_point(|p| p.time <= time);
                match (after.checked_sub(1).and_then(|i| points.get(i)), points.get(after)) {
                    (Some(p), Some(q)) => {
                        let share = (time - p.time) / (q.time - p.time);
                        sum(&[(1.0 - share, p.value), (share, q.value)])
                    }
                    (Some(p), None) | (None, Some(p)) => p.value,
                    (None, None) => T::default(),
                }
            }
            Self::Spline(knots) => {
                let after = knots.partition_point(|p| p.time <= time);
                match (after.checked_sub(1).and_then(|i| knots.get(i)), knots.get(after)) {
                    (Some(p), Some(q)) => {
                        // cubic Hermite polynomials
                        let (long, x) = (q.time - p.time, (time - p.time) / (q.time - p.time));
                        let [a, b] = [p, q].map(|k| k.rate.unwrap_or_default());
                        sum(&[
                            ((1.0 + 2.0 * x) * (1.0 - x) * (1.0 - x), p.value),
                            (x * x * (3.0 - 2.0 * x), q.value),
                            (long * x * (1.0 - x) * (1.0 - x), a),
                            (long * x * x * (x - 1.0), b),
                        ])
                    }
                    (Some(p), None) | (None, Some(p)) => p.value,
                    (None, None) => T::default(),
                }
            }
            Self::Sinusoid(s) => {
                let angle = std::f64::consts::TAU * s.frequency * time + s.phase;
                sum(&[(1.0, s.offset.unwrap_or_default()), (angle.sin(), s.amplitude)])
            }
        }
    }
}

/// Shares of the values in the rates of a clamped cubic spline: row by row, one for each knot. The second
/// derivatives are continuous, the rates at both ends 0.
pub(super) fn spline_rates(times: &[f64]) -> Vec<Vec<f64>> {
    let n = times.len();
    let mut rates = vec![vec![0.0; n]; n];
    // r_{i-1}/d_i + 2 (1/d_i + 1/d_{i+1}) r_i + r_{i+1}/d_{i+1} = 3 ((x_i - x_{i-1})/d_i^2 + (x_{i+1} - x_i)/d_{i+1}^2)
    let mut upper = vec![0.0; n];
    for i in 1..n.saturating_sub(1) {
        let (a, b) = (1.0 / (times[i] - times[i - 1]), 1.0 / (times[i + 1] - times[i]));
        let pivot = 2.0 * (a + b) - a * upper[i - 1];
        upper[i] = b / pivot;
        let above = rates[i - 1].clone();
        let row = &mut rates[i];
        (row[i - 1], row[i], row[i + 1]) = (-3.0 * a * a, 3.0 * (a * a - b * b), 3.0 * b * b);
        row.iter_mut().zip(above).for_each(|(x, y)| *x = (*x - a * y) / pivot);
    }
    for i in (1..n.saturating_sub(1)).rev() {
        let below = rates[i + 1].clone();
        rates[i].iter_mut().zip(below).for_each(|(x, y)| *x -= upper[i] * y);
    }
    rates
}

/// A force and a torque on a body.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["body"]))]
pub struct Load {
    /// Name of the body.
    pub body: String,
    /// Point at which the force acts, in body coordinates, m; the centre of mass by default.
    pub point: Option<Numbers>,
    /// Axes of force and torque; those of the world by default.
    pub axes: Axes,
    /// Force, N.
    pub force: Option<Course<Numbers>>,
    /// Torque, N m; planar: one number.
    pub torque: Option<Course<Numbers>>,
}

/// Axes of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axes {
    /// Axes of the world.
    #[default]
    World,
    /// Axes of the body, which rotate with it.
    Body,
}

/// An end of a spring.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct End {
    /// Name of the body; the world by default.
    pub body: Option<String>,
    /// Attachment point in coordinates of the body or the world, m; the origin by default.
    pub point: Option<Numbers>,
}

/// A straight spring with a damper beside it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["from", "to"]))]
pub struct Spring {
    /// One end.
    pub from: End,
    /// The other end.
    pub to: End,
    /// Stiffness, N/m; 0 by default.
    pub stiffness: Option<f64>,
    /// Damping, N s/m; 0 by default.
    pub damping: Option<f64>,
    /// Length at which the spring is without force, m; by default the length at the start.
    pub rest_length: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_is_linear_between_its_points_and_held_outside() {
        let course = Course::Points(
            [(1.0, 2.0), (3.0, 6.0), (4.0, 0.0)].map(|(time, value)| Point { time, value }).to_vec(),
        );
        assert_eq!([0.0, 1.0, 2.0, 3.0, 3.5, 9.0].map(|t| course.at(t)), [2.0, 2.0, 4.0, 6.0, 3.0, 0.0]);
        assert_eq!(Course::Constant([1.0, 2.0, 3.0]).at(7.0), [1.0, 2.0, 3.0]);
    }

    /// One cubic from rest to rest is `3 x^2 - 2 x^3`; at an inner knot rates and second derivatives are continuous.
    #[test]
    fn a_spline_is_smooth_and_at_rest_at_its_ends() {
        let course = |points: &[(f64, f64)]| {
            let times: Vec<f64> = points.iter().map(|p| p.0).collect();
            let rates = spline_rates(&times);
            let rate = |k: usize| points.iter().zip(&rates[k]).map(|((_, x), share)| x * share).sum::<f64>();
            let knot = |(k, &(time, value)): (usize, &(f64, f64))| Knot { time, value, rate: Some(rate(k)) };
            Course::Spline(points.iter().enumerate().map(knot).collect())
        };
        let one = course(&[(1.0, 0.0), (3.0, 2.0)]);
        for x in [0.0f64, 0.3, 0.5, 1.0] {
            assert!((one.at(1.0 + 2.0 * x) - 2.0 * (3.0 * x * x - 2.0 * x.powi(3))).abs() < 1e-14);
        }
        let several = course(&[(0.0, 1.0), (0.5, 3.0), (2.0, -1.0), (2.4, 0.0)]);
        for (time, value) in [(0.5, 3.0), (2.0, -1.0)] {
            let d = 1e-4;
            let [a, b, c, e, f] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| several.at(time + k * d));
            assert!((c - value).abs() < 1e-14);
            // one-sided differences agree to first order in d
            let (left, right) = ((a - 2.0 * b + c) / (d * d), (c - 2.0 * e + f) / (d * d));
            assert!((left - right).abs() < 0.05 * left.abs().max(1.0), "{left} {right}");
            assert!(((c - b) / d - (e - c) / d).abs() < 0.01);
        }
        assert!((several.at(1e-5) - 1.0).abs() < 1e-7 && several.at(9.0) == 0.0);
    }
}
