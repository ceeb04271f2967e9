//! Four convex problems over the points of two bodies, by a primal-dual interior-point method (Boyd and Vandenberghe 2004, section 11.7).
//!
//! | task | unknowns | least | such that |
//! | --- | --- | --- | --- |
//! | deepest | x, s | s | `f_i(x) <= s`, `g_j(x) <= s` |
//! | distance | x, y | `|x - y|^2 / 2` | `f_i(x) <= 0`, `g_j(y) <= 0` |
//! | leave | x, t | `-t` | `f_i(x) <= 0`, `g_j(x - t d) <= 0` |
//! | farthest | x | `-d . x` | `f_i(x) <= 0` (of one body) |
//!
//! Starts are strictly inside. Lengths are in sizes of the bodies, functions in metres near the start.

use super::closest::Pair;
use crate::space::{Vector, add, dot, scale, sub};

/// Unknowns at most.
const MOST: usize = 6;
/// Iterations.
const STEPS: usize = 60;
/// Surrogate gap and dual residual at which a problem is solved; what follows is Newton's method on the equations.
const GAP: f64 = 1e-8;
const DUAL: f64 = 1e-6;
/// Share of a function's distance from zero that a step leaves.
const ROOM: f64 = 0.01;

/// Which problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Task {
    Deepest,
    Distance,
    Leave(Vector),
    /// Of a pair whose second body has no functions.
    Farthest(Vector),
}

impl Task {
    fn unknowns(self) -> usize {
        match self {
            Self::Farthest(_) => 3,
            Self::Deepest | Self::Leave(_) => 4,
            Self::Distance => 6,
        }
    }
}

/// Memory, and the multipliers of the last problem.
#[derive(Debug, Clone, Default)]
pub(super) struct Interior {
    /// Factor of each function: metres.
    scales: Vec<f64>,
    multipliers: Vec<f64>,
    /// Multipliers times lengths of gradients.
    weights: Vec<f64>,
    change: Vec<f64>,
    /// Values before a step.
    before: Vec<f64>,
    /// Values and gradients by the unknowns.
    values: Vec<f64>,
    gradients: Vec<[f64; MOST]>,
}

type Hessian = [[f64; MOST]; MOST];

impl Interior {
    /// Scales of functions: metres near `x`, within the size of the bodies.
    pub fn set_scales(&mut self, pair: &Pair<'_>, x: Vector) {
        self.scales.clear();
        for side in 0..2 {
            for k in 0..pair.sides[side].count() {
                let mut size = 0.0f64;
                for by in [[0.0; 3], [0.3, 0.2, 0.1], [-0.2, 0.4, 0.3]] {
                    // a gradient next to the middle of an ellipsoid is next to nothing
                    let g = pair.sides[side].raw(k, add(x, scale(pair.size, by))).gradient;
                    size = f64::max(size, dot(g, g).sqrt());
                }
                self.scales.push(1.0 / size.max(f64::MIN_POSITIVE));
            }
        }
    }

    /// The largest function at a point.
    pub fn worst(&self, pair: &Pair<'_>, x: Vector) -> f64 {
        let count = pair.sides[0].count();
        let of = |i: usize| {
            let (side, k) = if i < count { (0, i) } else { (1, i - count) };
            pair.sides[side].raw(k, x).f * self.scales[i]
        };
        (0..self.scales.len()).map(of).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Weights of the functions of a side in the last solution.
    pub fn weights(&self, pair: &Pair<'_>, side: usize) -> &[f64] {
        let first = pair.sides[0].count();
        if side == 0 { &self.weights[..first] } else { &self.weights[first..] }
    }

    /// Direction from the first to the second body by the multipliers of the last solution.
    pub fn normal(&self, pair: &Pair<'_>, points: [Vector; 2]) -> Option<Vector> {
        let mut n = [0.0; 3];
        let mut i = 0;
        for side in 0..2 {
            let sign = if side == 0 { 1.0 } else { -1.0 };
            for k in 0..pair.sides[side].count() {
                let by = sign * self.multipliers[i] * self.scales[i];
                n = add(n, scale(by, pair.sides[side].raw(k, points[side]).gradient));
                i += 1;
            }
        }
        let length = dot(n, n).sqrt();
        (length > 0.0 && length.is_finite()).then(|| scale(1.0 / length, n))
    }

    /// Solves a problem from a start that is strictly inside (positions in metres, `s` and `t` too).
    pub fn solve(&mut self, pair: &Pair<'_>, task: Task, start: [f64; MOST]) -> Option<[f64; MOST]> {
        let (n, size) = (task.unknowns(), pair.size);
        let count = self.scales.len();
        let origin = [start[0], start[1], start[2]];
        let absolute = |z: &[f64; MOST]| {
            let mut out = z.map(|x| size * x);
            (0..3).for_each(|i| out[i] += origin[i]);
            if task == Task::Distance {
                (0..3).for_each(|i| out[3 + i] += origin[i]);
            }
            out
        };
        let mut z = start.map(|x| x / size);
        z[..3].fill(0.0);
        if task == Task::Distance {
            (0..3).for_each(|i| z[3 + i] -= origin[i] / size);
        }
        self.multipliers.clear();
        let mut hessian = [[0.0; MOST]; MOST];
        self.evaluate(pair, task, &absolute(&z), None);
        if !self.values.iter().all(|c| *c < 0.0) {
            return None;
        }
        self.multipliers.extend(self.values.iter().map(|c| 0.1 / -c));
        for _ in 0..STEPS {
            self.evaluate(pair, task, &absolute(&z), Some(&mut hessian));
            let gap: f64 = -self.values.iter().zip(&self.multipliers).map(|(c, l)| c * l).sum::<f64>();
            let slope = objective(task, &z, &mut hessian);
            let dual = self.dual(&slope, n);
            if gap <= GAP && dual <= DUAL {
                break;
            }
            let target = 0.1 * gap / count as f64;
            let before = self.residual(&slope, n, target);
            let Some(d) = self.direction(&slope, &hessian, n, target) else { break };
            // multipliers stay positive
            let mut along = 1.0f64;
            for (l, by) in self.multipliers.iter().zip(&self.change) {
                if *by < 0.0 {
                    along = along.min(-0.99 * l / by);
                }
            }
            let mut moved = false;
            self.before.clone_from(&self.values);
            for _ in 0..40 {
                let mut trial = z;
                (0..n).for_each(|i| trial[i] += along * d[i]);
                self.evaluate(pair, task, &absolute(&trial), None);
                // nor do values get near zero at once, where a curved boundary would hold further steps up
                if self.values.iter().zip(&self.before).all(|(c, before)| *c < ROOM * before) {
                    (0..count).for_each(|i| self.multipliers[i] += along * self.change[i]);
                    let slope = objective(task, &trial, &mut [[0.0; MOST]; MOST]);
                    if self.residual(&slope, n, target) <= (1.0 - 0.01 * along) * before {
                        (z, moved) = (trial, true);
                        break;
                    }
                    (0..count).for_each(|i| self.multipliers[i] -= along * self.change[i]);
                }
                along *= 0.5;
            }
            if !moved {
                break;
            }
        }
        self.evaluate(pair, task, &absolute(&z), None);
        self.weights.clear();
        for i in 0..count {
            let g = &self.gradients[i];
            // s has no place in a body's normal, and t is along it
            let own = if task == Task::Distance {
                g.iter().map(|x| x * x).sum()
            } else {
                dot([g[0], g[1], g[2]], [g[0], g[1], g[2]])
            };
            self.weights.push(self.multipliers[i] * f64::sqrt(own));
        }
        let out = absolute(&z);
        out.iter().all(|x| x.is_finite()).then_some(out)
    }

    fn dual(&self, slope: &[f64; MOST], n: usize) -> f64 {
        let mut sum = 0.0;
        for i in 0..n {
            let own = self.gradients.iter().zip(&self.multipliers).map(|(g, l)| g[i] * l).sum::<f64>();
            sum += (slope[i] + own) * (slope[i] + own);
        }
        sum.sqrt()
    }

    fn residual(&self, slope: &[f64; MOST], n: usize, target: f64) -> f64 {
        let dual = self.dual(slope, n);
        let mut sum = dual * dual;
        for (c, l) in self.values.iter().zip(&self.multipliers) {
            sum += (-c * l - target) * (-c * l - target);
        }
        sum.sqrt()
    }

    /// Newton direction of the unknowns; those of the multipliers in `change`.
    fn direction(
        &mut self,
        slope: &[f64; MOST],
        hessian: &Hessian,
        n: usize,
        target: f64,
    ) -> Option<[f64; MOST]> {
        let mut m = *hessian;
        let mut right = slope.map(|x| -x);
        for (k, g) in self.gradients.iter().enumerate() {
            let (room, l) = (-self.values[k], self.multipliers[k]);
            for i in 0..n {
                right[i] -= target / room * g[i];
                for j in 0..n {
                    m[i][j] += l / room * g[i] * g[j];
                }
            }
        }
        let largest = (0..n).fold(0.0f64, |a, i| a.max(m[i][i].abs()));
        let mut shift = 1e-14 * largest;
        let d = loop {
            if let Some(d) = cholesky(&m, n, shift, &right) {
                break d;
            }
            // a function that is not convex here
            shift = (100.0 * shift).max(1e-10 * largest);
            if shift > 1e3 * largest || !shift.is_finite() || largest == 0.0 {
                return None;
            }
        };
        self.change.clear();
        for (k, g) in self.gradients.iter().enumerate() {
            let (room, l) = (-self.values[k], self.multipliers[k]);
            let by: f64 = (0..n).map(|i| g[i] * d[i]).sum();
            self.change.push(target / room - l + l / room * by);
        }
        Some(d)
    }

    /// Functions and gradients by the unknowns, and the Hessian of the Lagrange function without the objective.
    fn evaluate(&mut self, pair: &Pair<'_>, task: Task, z: &[f64; MOST], mut hessian: Option<&mut Hessian>) {
        self.values.clear();
        self.gradients.clear();
        if let Some(m) = hessian.as_deref_mut() {
            *m = [[0.0; MOST]; MOST];
        }
        let x = [z[0], z[1], z[2]];
        let size = pair.size;
        for side in 0..2 {
            let at = match task {
                Task::Distance if side == 1 => [z[3], z[4], z[5]],
                Task::Leave(d) if side == 1 => sub(x, scale(z[3], d)),
                _ => x,
            };
            let first = if side == 1 && task == Task::Distance { 3 } else { 0 };
            for k in 0..pair.sides[side].count() {
                let i = self.values.len();
                let by = self.scales[i];
                let v = pair.sides[side].raw(k, at);
                let mut g = [0.0; MOST];
                (0..3).for_each(|j| g[first + j] = by * v.gradient[j]);
                let mut value = by * v.f / size;
                match task {
                    Task::Deepest => {
                        value -= z[3] / size;
                        g[3] = -1.0;
                    }
                    Task::Leave(d) if side == 1 => g[3] = -by * dot(v.gradient, d),
                    _ => (),
                }
                self.values.push(if value.is_nan() { f64::INFINITY } else { value });
                self.gradients.push(g);
                if let Some(m) = hessian.as_deref_mut() {
                    let w = self.multipliers[i] * by * size;
                    for a in 0..3 {
                        (0..3).for_each(|b| m[first + a][first + b] += w * v.hessian[a][b]);
                    }
                    if let (Task::Leave(d), 1) = (task, side) {
                        let hd = [0, 1, 2].map(|a| dot(v.hessian[a], d));
                        for a in 0..3 {
                            m[a][3] -= w * hd[a];
                            m[3][a] -= w * hd[a];
                        }
                        m[3][3] += w * dot(d, hd);
                    }
                }
            }
        }
    }
}

/// Gradient of the objective, and its Hessian added.
fn objective(task: Task, z: &[f64; MOST], hessian: &mut Hessian) -> [f64; MOST] {
    let mut g = [0.0; MOST];
    match task {
        Task::Deepest => g[3] = 1.0,
        Task::Leave(_) => g[3] = -1.0,
        Task::Farthest(d) => (0..3).for_each(|i| g[i] = -d[i]),
        Task::Distance => {
            for i in 0..3 {
                g[i] = z[i] - z[3 + i];
                g[3 + i] = -g[i];
                hessian[i][i] += 1.0;
                hessian[3 + i][3 + i] += 1.0;
                hessian[i][3 + i] -= 1.0;
                hessian[3 + i][i] -= 1.0;
            }
        }
    }
    g
}

/// Solution of `(m + shift I) x = right`; `None` if that is not positive definite.
fn cholesky(m: &Hessian, n: usize, shift: f64, right: &[f64; MOST]) -> Option<[f64; MOST]> {
    let mut l = [[0.0; MOST]; MOST];
    for i in 0..n {
        for j in 0..=i {
            let sum = m[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            if i == j {
                let pivot = sum + shift;
                if pivot <= 1e-16 * m[i][i].abs() || !pivot.is_finite() {
                    return None;
                }
                l[i][i] = pivot.sqrt();
            } else {
                l[i][j] = sum / l[j][j];
            }
        }
    }
    let mut x = *right;
    for i in 0..n {
        x[i] = (x[i] - (0..i).map(|k| l[i][k] * x[k]).sum::<f64>()) / l[i][i];
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|k| l[k][i] * x[k]).sum::<f64>()) / l[i][i];
    }
    Some(x)
}
