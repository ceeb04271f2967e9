//! Newton's method on the equations of closest points, for a guess of the active functions (`closest.rs`).

use super::closest::{Closest, GOOD, Pair};
use crate::space::{Vector, add, dot, scale, sub};

/// Active functions of a body at most: three planes meet in a corner.
pub(super) const MOST_ACTIVE: usize = 3;
/// Unknowns at most: x, y, n, g, and multipliers.
const MOST: usize = 10 + 2 * MOST_ACTIVE;
/// Newton steps for one guess of the active functions.
const STEPS: usize = 60;
/// Residual, relative to the bodies' size, at which the points are found: a gap is divided by the length of a step, so that its noise must be that of rounding.
const FOUND: f64 = 4.0 * f64::EPSILON;
/// Residual below which a step that does not decrease it has met rounding.
const ROUNDING: f64 = 1e-12;

/// The active functions of a body.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Active {
    numbers: [usize; MOST_ACTIVE],
    count: usize,
}

impl Active {
    pub fn len(&self) -> usize {
        self.count
    }

    /// At most [`MOST_ACTIVE`].
    pub fn push(&mut self, k: usize) {
        self.numbers[self.count] = k;
        self.count += 1;
    }

    /// Removes the function at a place of the list.
    pub fn remove(&mut self, at: usize) {
        self.numbers.copy_within(at + 1..self.count, at);
        self.count -= 1;
    }

    pub fn contains(&self, k: usize) -> bool {
        self.iter().any(|own| own == k)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.numbers[..self.count].iter().copied()
    }
}

/// Unknowns of the equations.
pub(super) struct State {
    pub x: Vector,
    pub y: Vector,
    n: Vector,
    gap: f64,
    multipliers: [[f64; MOST_ACTIVE]; 2],
    pub residual: f64,
}

/// Rows with their right-hand side.
type System = [[f64; MOST + 1]; MOST];

impl State {
    pub fn new([x, y]: [Vector; 2], n: Vector, active: &[Active; 2]) -> Self {
        let mut multipliers = [[0.0; MOST_ACTIVE]; 2];
        for side in 0..2 {
            let share = 1.0 / active[side].len().max(1) as f64;
            multipliers[side][..active[side].len()].fill(share);
        }
        Self { x, y, n, gap: dot(n, sub(y, x)), multipliers, residual: f64::INFINITY }
    }

    pub fn closest(&self, active: &[Active; 2]) -> Closest {
        let bits = |side: usize| active[side].iter().fold(0u32, |m, k| m | 1 << (k % 32));
        let length = dot(self.n, self.n).sqrt();
        Closest {
            points: [self.x, self.y],
            normal: scale(1.0 / length, self.n),
            gap: self.gap * length,
            active: [bits(0), bits(1)],
            residual: self.residual,
        }
    }

    pub fn most_negative(&self, active: &[Active; 2]) -> Option<(usize, usize)> {
        let mut worst: Option<((usize, usize), f64)> = None;
        for side in 0..2 {
            for k in 0..active[side].len() {
                let m = self.multipliers[side][k];
                if m < -1e-9 && worst.is_none_or(|w| m < w.1) {
                    worst = Some(((side, k), m));
                }
            }
        }
        worst.map(|w| w.0)
    }

    /// Newton's method with backtracking.
    pub fn solve(&mut self, pair: &Pair<'_>, active: &[Active; 2]) {
        let size = pair.size;
        let n = 10 + active[0].len() + active[1].len();
        let mut system: System = [[0.0; MOST + 1]; MOST];
        self.residual = self.write(pair, active, Some(&mut system));
        let mut proximal = 1e-10;
        for _ in 0..STEPS {
            if self.residual <= FOUND {
                return;
            }
            // x and y stay near where flat surfaces leave them open
            for i in 0..3 {
                system[3 + i][i] += proximal / size;
                system[6 + i][3 + i] += proximal / size;
            }
            if !solve_dense(&mut system, n) {
                proximal = (proximal * 100.0f64).min(1.0);
                self.residual = self.write(pair, active, Some(&mut system));
                continue;
            }
            let d: [f64; MOST] = std::array::from_fn(|i| system[i][MOST]);
            let (mut along, kept) = (1.0, self.copy());
            let mut moved = false;
            for _ in 0..12 {
                self.set(&kept, &d, along, active);
                let found = self.write(pair, active, None);
                if found < (1.0 - 1e-3 * along) * kept.residual {
                    (self.residual, moved) = (found, true);
                    break;
                }
                if kept.residual <= ROUNDING {
                    break;
                }
                along *= 0.5;
            }
            if !moved {
                *self = kept;
                if self.residual <= GOOD || proximal >= 1.0 {
                    return;
                }
                proximal = (proximal * 100.0).min(1.0);
            }
            self.residual = self.write(pair, active, Some(&mut system));
        }
    }

    fn copy(&self) -> Self {
        Self { ..*self }
    }

    fn set(&mut self, from: &Self, d: &[f64; MOST], along: f64, active: &[Active; 2]) {
        let by = |at: usize| [0, 1, 2].map(|i| along * d[at + i]);
        self.x = add(from.x, by(0));
        self.y = add(from.y, by(3));
        self.n = add(from.n, by(6));
        self.gap = from.gap + along * d[9];
        for side in 0..2 {
            let first = 10 + side * active[0].len();
            for k in 0..active[side].len() {
                self.multipliers[side][k] = from.multipliers[side][k] + along * d[first + k];
            }
        }
    }

    /// The residual, and the linearised system with its right-hand side, columns x, y, n, g, mu, nu. Lengths are over `size`.
    fn write(&self, pair: &Pair<'_>, active: &[Active; 2], mut system: Option<&mut System>) -> f64 {
        let (size, rows) = (pair.size, 10 + active[0].len() + active[1].len());
        if let Some(m) = system.as_deref_mut() {
            m.iter_mut().take(rows).for_each(|row| row.fill(0.0));
        }
        let mut f = [0.0; MOST];
        for i in 0..3 {
            f[i] = (self.y[i] - self.x[i] - self.gap * self.n[i]) / size;
            f[3 + i] = -self.n[i];
            f[6 + i] = self.n[i];
            if let Some(m) = system.as_deref_mut() {
                m[i][i] = -1.0 / size;
                m[i][3 + i] = 1.0 / size;
                m[i][6 + i] = -self.gap / size;
                m[i][9] = -self.n[i] / size;
                m[3 + i][6 + i] = -1.0;
                m[6 + i][6 + i] = 1.0;
                m[9][6 + i] = self.n[i];
            }
        }
        f[9] = 0.5 * (dot(self.n, self.n) - 1.0);
        for side in 0..2 {
            let (at, columns) = ([self.x, self.y][side], 3 * side);
            let first = 10 + side * active[0].len();
            for (k, number) in active[side].iter().enumerate() {
                let (v, mu) = (pair.sides[side].value(number, at), self.multipliers[side][k]);
                f[first + k] = v.f / size;
                for i in 0..3 {
                    f[3 + 3 * side + i] += mu * v.gradient[i];
                    if let Some(m) = system.as_deref_mut() {
                        for j in 0..3 {
                            // the unit normal turns by the part of the Hessian across it
                            let across: f64 = (0..3)
                                .map(|l| {
                                    (if i == l { 1.0 } else { 0.0 } - v.gradient[i] * v.gradient[l])
                                        * v.hessian[l][j]
                                })
                                .sum();
                            m[3 + 3 * side + i][columns + j] += mu * across;
                        }
                        m[3 + 3 * side + i][first + k] = v.gradient[i];
                        m[first + k][columns + i] = v.gradient[i] / size;
                    }
                }
            }
        }
        if let Some(m) = system {
            (0..rows).for_each(|i| m[i][MOST] = -f[i]);
        }
        let sum = f.iter().take(rows).map(|x| x * x).sum::<f64>().sqrt();
        if sum.is_nan() { f64::INFINITY } else { sum }
    }
}

/// Gaussian elimination with row exchanges on the first `n` rows and columns; the last column becomes the solution.
fn solve_dense(m: &mut System, n: usize) -> bool {
    for p in 0..n {
        let best = (p..n).max_by(|&i, &j| m[i][p].abs().total_cmp(&m[j][p].abs())).unwrap_or(p);
        if !(m[best][p].abs() > 1e-14 && m[best][p].is_finite()) {
            return false;
        }
        m.swap(p, best);
        for i in p + 1..n {
            let factor = m[i][p] / m[p][p];
            if factor != 0.0 {
                let pivot = m[p];
                (p..n).for_each(|j| m[i][j] -= factor * pivot[j]);
                m[i][MOST] -= factor * pivot[MOST];
            }
        }
    }
    for p in (0..n).rev() {
        let sum: f64 = (p + 1..n).map(|j| m[p][j] * m[j][MOST]).sum();
        m[p][MOST] = (m[p][MOST] - sum) / m[p][p];
    }
    true
}
