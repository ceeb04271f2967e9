//! The linear systems of Newton's method on the stages of [`super::Radau`], group by group of variables that influence each other.
//!
//! With `T^-1 A^-1 T = Lambda` (HW (8.9)-(8.13)) the system of order `3n` falls into one of order `n` with the real eigenvalue `gamma/h` and one with the
//! complex pair `(alpha +- i beta)/h`, which is solved as a real one of order `2n`.

use super::Field;
use complementarity::factor::Lu;
use complementarity::matrix::Matrix;

/// `T`; its last row is `(t, 1, 0)`.
const T: [[f64; 3]; 3] = [
    [9.123_239_487_089_294e-2, -0.141_255_295_020_954_2, -3.002_919_410_514_742_4e-2],
    [0.241_717_932_707_107, 0.204_129_352_293_799_93, 0.382_942_112_757_262],
    [0.966_048_182_615_093, 1.0, 0.0],
];
/// `T^-1`.
const T_INVERSE: [[f64; 3]; 3] = [
    [4.325_579_890_063_155, 0.339_199_251_815_809_9, 0.541_770_539_935_874_9],
    [-4.178_718_591_551_905, -0.327_682_820_761_062_4, 0.476_623_554_500_550_44],
    [-0.502_872_634_945_786_9, 2.571_926_949_855_605, -0.596_039_204_828_224_9],
];
/// Eigenvalues of `A^-1`: the real one, and real and imaginary part of the pair.
pub(super) const GAMMA: f64 = 3.637_834_252_744_496;
const ALPHA: f64 = 2.681_082_873_627_752;
const BETA: f64 = 3.050_430_199_247_411;

/// Least size of a variable for the differences that make up `J`.
const LEAST: f64 = 1e-3;

/// `J` and the factors made of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    groups: Vec<Group>,
    /// Group of each variable.
    labels: Vec<usize>,
    by: Vec<f64>,
    point: Vec<f64>,
    found: Vec<f64>,
}

/// Variables that influence each other.
#[derive(Debug, Clone, Default)]
struct Group {
    members: Vec<usize>,
    jacobian: Matrix,
    /// Factors of `gamma/h - J`, and of the pair's.
    real: Lu,
    pair: Lu,
    x: Vec<f64>,
}

impl Blocks {
    /// `J` at `(t, y)` by forward differences from `start`, the rates there; one variable of each group at a time.
    pub fn differentiate(&mut self, field: &mut impl Field, (t, y): (f64, &[f64]), start: &[f64]) {
        let n = y.len();
        self.labels.clear();
        self.labels.resize(n, 0);
        field.groups(&mut self.labels);
        self.groups.iter_mut().for_each(|g| g.members.clear());
        for (i, &label) in self.labels.iter().enumerate() {
            if label >= self.groups.len() {
                self.groups.resize_with(label + 1, Group::default);
            }
            self.groups[label].members.push(i);
        }
        for g in &mut self.groups {
            g.jacobian.reset(g.members.len(), g.members.len());
        }
        self.point.clear();
        self.point.extend_from_slice(y);
        self.by.resize(n, 0.0);
        self.found.resize(n, 0.0);
        let most = self.groups.iter().map(|g| g.members.len()).max().unwrap_or(0);
        for k in 0..most {
            for j in self.groups.iter().filter_map(|g| g.members.get(k).copied()) {
                let by = f64::EPSILON.sqrt() * y[j].abs().max(LEAST);
                self.point[j] = y[j] + by;
                self.by[j] = self.point[j] - y[j];
            }
            field.rate(t, &self.point, &mut self.found);
            for g in &mut self.groups {
                let Some(&j) = g.members.get(k) else { continue };
                self.point[j] = y[j];
                for (row, &i) in g.members.iter().enumerate() {
                    g.jacobian[(row, k)] = (self.found[i] - start[i]) / self.by[j];
                }
            }
        }
    }

    /// Factors for steps of length `h`; false if a matrix is singular.
    pub fn factor(&mut self, h: f64) -> bool {
        self.groups.iter_mut().all(|g| {
            let Group { members, jacobian: j, real, pair, .. } = g;
            let m = members.len();
            let unit = |i: usize, k: usize, value: f64| if i == k { value / h } else { 0.0 };
            real.factor(m, |i, k| unit(i, k, GAMMA) - j[(i, k)]).is_ok()
                && pair
                    .factor(2 * m, |i, k| match (i < m, k < m) {
                        (true, true) => unit(i, k, ALPHA) - j[(i, k)],
                        (true, false) => -unit(i, k - m, BETA),
                        (false, true) => unit(i - m, k, BETA),
                        (false, false) => unit(i - m, k - m, ALPHA) - j[(i - m, k - m)],
                    })
                    .is_ok()
        })
    }

    /// The Newton step: replaces the rates of the stages in `x` by the change of `z`, HW (8.14).
    pub fn step(&mut self, h: f64, z: &[f64], x: &mut [f64]) {
        let n = z.len() / 3;
        let times = |m: &[[f64; 3]; 3], x: [f64; 3]| m.map(|row| (0..3).map(|k| row[k] * x[k]).sum::<f64>());
        for j in 0..n {
            let [at, rate] = [z, &*x].map(|x| times(&T_INVERSE, [x[j], x[n + j], x[2 * n + j]]));
            x[j] = rate[0] - GAMMA / h * at[0];
            x[n + j] = rate[1] - (ALPHA * at[1] - BETA * at[2]) / h;
            x[2 * n + j] = rate[2] - (ALPHA * at[2] + BETA * at[1]) / h;
        }
        self.solve_real(&mut x[..n]);
        for Group { members, pair, x: own, .. } in &mut self.groups {
            let m = members.len();
            own.clear();
            own.extend(members.iter().map(|i| x[n + i]));
            own.extend(members.iter().map(|i| x[2 * n + i]));
            pair.solve(own);
            for (k, i) in members.iter().enumerate() {
                (x[n + i], x[2 * n + i]) = (own[k], own[m + k]);
            }
        }
        for j in 0..n {
            let by = times(&T, [x[j], x[n + j], x[2 * n + j]]);
            (0..3).for_each(|i| x[i * n + j] = by[i]);
        }
    }

    /// Replaces `x` by `(gamma/h - J)^-1 x`.
    pub fn solve_real(&mut self, x: &mut [f64]) {
        for Group { members, real, x: own, .. } in &mut self.groups {
            own.clear();
            own.extend(members.iter().map(|&i| x[i]));
            real.solve(own);
            members.iter().zip(&*own).for_each(|(&i, own)| x[i] = *own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::radau::A;

    #[test]
    fn the_transformation_is_that_of_the_method() {
        // A T Lambda = T, and T T^-1 = 1
        let lambda = [[GAMMA, 0.0, 0.0], [0.0, ALPHA, -BETA], [0.0, BETA, ALPHA]];
        let product = |a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]| {
            a.map(|row| [0, 1, 2].map(|k| (0..3).map(|i| row[i] * b[i][k]).sum::<f64>()))
        };
        let [same, one] = [product(&product(&A, &T), &lambda), product(&T, &T_INVERSE)];
        for (i, k) in (0..9).map(|i| (i / 3, i % 3)) {
            assert!((same[i][k] - T[i][k]).abs() < 1e-14, "{i} {k}: {:e}", same[i][k] - T[i][k]);
            assert!((one[i][k] - f64::from(u8::from(i == k))).abs() < 1e-14, "{i} {k}: {}", one[i][k]);
        }
    }
}
