//! Classical mixed complementarity problems, written from their formulas. Each closure is `F`; Jacobians are exact, by dual numbers.

#![allow(clippy::suspicious_arithmetic_impl, reason = "rules of differentiation")]

use complementarity::problem::{Nonlinear, SparseRows};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number with its gradient.
#[derive(Clone)]
pub struct Dual {
    pub x: f64,
    pub d: Vec<f64>,
}

impl Dual {
    fn map(&self, value: f64, slope: f64) -> Self {
        Self { x: value, d: self.d.iter().map(|d| slope * d).collect() }
    }

    pub fn power(&self, p: f64) -> Self {
        self.map(self.x.powf(p), p * self.x.powf(p - 1.0))
    }

    pub fn exp(&self) -> Self {
        self.map(self.x.exp(), self.x.exp())
    }

    pub fn constant(&self, c: f64) -> Self {
        Self { x: c, d: vec![0.0; self.d.len()] }
    }
}

macro_rules! binary {
    ($trait:ident, $name:ident, |$a:ident, $b:ident| $x:expr, $da:expr, $db:expr) => {
        impl $trait<&Dual> for &Dual {
            type Output = Dual;
            fn $name(self, other: &Dual) -> Dual {
                let ($a, $b) = (self.x, other.x);
                Dual { x: $x, d: self.d.iter().zip(&other.d).map(|(p, q)| $da * p + $db * q).collect() }
            }
        }
        impl $trait for Dual {
            type Output = Dual;
            fn $name(self, other: Dual) -> Dual {
                (&self).$name(&other)
            }
        }
        impl $trait<&Dual> for Dual {
            type Output = Dual;
            fn $name(self, other: &Dual) -> Dual {
                (&self).$name(other)
            }
        }
        impl $trait<Dual> for &Dual {
            type Output = Dual;
            fn $name(self, other: Dual) -> Dual {
                self.$name(&other)
            }
        }
        impl $trait<f64> for Dual {
            type Output = Dual;
            fn $name(self, other: f64) -> Dual {
                let other = self.constant(other);
                (&self).$name(&other)
            }
        }
        impl $trait<f64> for &Dual {
            type Output = Dual;
            fn $name(self, other: f64) -> Dual {
                let other = self.constant(other);
                self.$name(&other)
            }
        }
    };
}
binary!(Add, add, |a, b| a + b, 1.0, 1.0);
binary!(Sub, sub, |a, b| a - b, 1.0, -1.0);
binary!(Mul, mul, |a, b| a * b, b, a);
binary!(Div, div, |a, b| a / b, 1.0 / b, -a / (b * b));
impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        self.map(-self.x, -1.0)
    }
}

/// What is known of a solution.
type Claim = Box<dyn Fn(&[f64]) -> bool>;
type Function = Box<dyn Fn(&[Dual]) -> Vec<Dual>>;

/// A problem with its name, the range of random starts and what is known of its solutions.
pub struct Classical {
    pub name: &'static str,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub starts: [f64; 2],
    /// Size of the variables, where the Jacobian vanishes at a solution.
    pub typical: f64,
    f: Function,
    /// Whether a point is a known solution.
    pub known: Claim,
}

impl Classical {
    pub fn size(&self) -> usize {
        self.lower.len()
    }

    fn at(&self, z: &[f64]) -> Vec<Dual> {
        let n = z.len();
        let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect();
        (self.f)(&z.iter().enumerate().map(|(i, &x)| Dual { x, d: unit(i) }).collect::<Vec<_>>())
    }
}

impl Nonlinear for Classical {
    fn lower(&self) -> &[f64] {
        &self.lower
    }

    fn upper(&self) -> &[f64] {
        &self.upper
    }

    fn value(&self, z: &[f64], f: &mut [f64]) {
        let bare: Vec<Dual> = z.iter().map(|&x| Dual { x, d: vec![] }).collect();
        f.iter_mut().zip((self.f)(&bare)).for_each(|(f, dual)| *f = dual.x);
    }

    fn jacobian(&self, z: &[f64], j: &mut SparseRows) {
        j.clear();
        for row in self.at(z) {
            j.begin();
            row.d.iter().enumerate().filter(|(_, x)| **x != 0.0).for_each(|(k, x)| j.add(k, *x));
        }
    }

    fn typical(&self, _: usize) -> f64 {
        self.typical
    }
}

fn near(z: &[f64], solution: &[f64], tolerance: f64) -> bool {
    z.iter().zip(solution).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + b.abs()))
}

fn ncp(name: &'static str, n: usize, starts: [f64; 2], f: Function, known: Claim) -> Classical {
    Classical { name, lower: vec![0.0; n], upper: vec![f64::INFINITY; n], starts, typical: 0.0, f, known }
}

/// Kojima and Shindo 1986 (`a = 10`, `b = 9`, `c = 9`) and Josephy 1979 (3, 3, 1) differ in three coefficients.
fn four(a: f64, b: f64, c: f64) -> Function {
    Box::new(move |x| {
        let sq = |i: usize| &x[i] * &x[i];
        let f1 = sq(0) * 3.0 + &x[0] * &x[1] * 2.0 + sq(1) * 2.0 + &x[2] + &x[3] * 3.0 - 6.0;
        let f2 = sq(0) * 2.0 + &x[0] + sq(1) + &x[2] * a + &x[3] * 2.0 - 2.0;
        let f3 = sq(0) * 3.0 + &x[0] * &x[1] + sq(1) * 2.0 + &x[2] * 2.0 + &x[3] * b - c;
        let f4 = sq(0) + sq(1) * 3.0 + &x[2] * 2.0 + &x[3] * 3.0 - 3.0;
        vec![f1, f2, f3, f4]
    })
}

fn kojima_shindo() -> Classical {
    let root = 1.5f64.sqrt();
    // the first solution is degenerate: z_3 = F_3 = 0
    let known =
        move |z: &[f64]| near(z, &[root, 0.0, 0.0, 0.5], 1e-4) || near(z, &[1.0, 0.0, 3.0, 0.0], 1e-7);
    ncp("Kojima-Shindo", 4, [0.0, 5.0], four(10.0, 9.0, 9.0), Box::new(known))
}

fn josephy() -> Classical {
    let root = 1.5f64.sqrt();
    ncp(
        "Josephy",
        4,
        [0.0, 5.0],
        four(3.0, 3.0, 1.0),
        Box::new(move |z| near(z, &[root, 0.0, 0.0, 0.5], 1e-7)),
    )
}

/// Capital that stays as it is under the best use of it, in the form of Hansen and Koopmans 1972: activities x, prices y
/// of capital and u of a resource; `v = sum 2 sqrt(x_i + 1)` from the first two activities, `A` capital used, `B` left, `C` resource
/// used, `w` of it there, discount 0.7. The data are ours.
fn hansen_koopmans() -> Classical {
    const A: [[f64; 4]; 2] = [[1.0, 0.5, 2.0, 0.2], [0.3, 1.0, 0.4, 1.5]];
    const B: [[f64; 4]; 2] = [[0.6, 0.3, 4.0, 0.2], [0.2, 0.6, 0.3, 3.5]];
    const C: [[f64; 4]; 2] = [[1.0, 2.0, 1.5, 1.0], [2.0, 1.0, 0.5, 1.5]];
    const W: [f64; 2] = [8.0, 8.0];
    let f: Function = Box::new(|z| {
        let (x, y, u) = (&z[..4], &z[4..6], &z[6..8]);
        let mut out = vec![];
        for i in 0..4 {
            let mut price = z[0].constant(0.0);
            for k in 0..2 {
                price = price + &y[k] * (A[k][i] - 0.7 * B[k][i]) + &u[k] * C[k][i];
            }
            let gain = if i < 2 { (&x[i] + 1.0).power(-0.5) } else { z[0].constant(0.0) };
            out.push(price - gain);
        }
        for k in 0..2 {
            let left = (0..4).fold(z[0].constant(0.0), |sum, i| sum + &x[i] * (B[k][i] - A[k][i]));
            out.push(left);
        }
        for k in 0..2 {
            let used = (0..4).fold(z[0].constant(W[k]), |sum, i| sum - &x[i] * C[k][i]);
            out.push(used);
        }
        out
    });
    // capital kept and a resource used up: what the model is about
    let known = |z: &[f64]| {
        let kept = |k: usize| (0..4).map(|i| (B[k][i] - A[k][i]) * z[i]).sum::<f64>();
        let left = |k: usize| W[k] - (0..4).map(|i| C[k][i] * z[i]).sum::<f64>();
        (0..2).all(|k| kept(k) >= -1e-7 && left(k) >= -1e-7) && (left(0) < 1e-6 || left(1) < 1e-6)
    };
    ncp("Hansen-Koopmans (form)", 8, [0.0, 5.0], f, Box::new(known))
}

/// Colville's first problem (Hock and Schittkowski 86): its optimality conditions. The least value is -32.348679.
fn colville() -> Classical {
    const E: [f64; 5] = [-15.0, -27.0, -36.0, -18.0, -12.0];
    const D: [f64; 5] = [4.0, 8.0, 10.0, 6.0, 2.0];
    const C: [[f64; 5]; 5] = [
        [30.0, -20.0, -10.0, 32.0, -10.0],
        [-20.0, 39.0, -6.0, -31.0, 32.0],
        [-10.0, -6.0, 10.0, -6.0, -10.0],
        [32.0, -31.0, -6.0, 39.0, -20.0],
        [-10.0, 32.0, -10.0, -20.0, 30.0],
    ];
    const A: [[f64; 5]; 10] = [
        [-16.0, 2.0, 0.0, 1.0, 0.0],
        [0.0, -2.0, 0.0, 0.4, 2.0],
        [-3.5, 0.0, 2.0, 0.0, 0.0],
        [0.0, -2.0, 0.0, -4.0, -1.0],
        [0.0, -9.0, -2.0, 1.0, -2.8],
        [2.0, 0.0, -4.0, 0.0, 0.0],
        [-1.0; 5],
        [-1.0, -2.0, -3.0, -2.0, -1.0],
        [1.0, 2.0, 3.0, 4.0, 5.0],
        [1.0; 5],
    ];
    const B: [f64; 10] = [-40.0, -2.0, -0.25, -4.0, -4.0, -1.0, -40.0, -60.0, 5.0, 1.0];
    let f: Function = Box::new(|z| {
        let (x, y) = z.split_at(5);
        let mut out = vec![];
        for j in 0..5 {
            let mut g = &x[j] * &x[j] * (3.0 * D[j]) + E[j];
            (0..5).for_each(|i| g = g.clone() + &x[i] * (2.0 * C[i][j]));
            (0..10).for_each(|i| g = g.clone() - &y[i] * A[i][j]);
            out.push(g);
        }
        for i in 0..10 {
            out.push((0..5).fold(z[0].constant(-B[i]), |sum, j| sum + &x[j] * A[i][j]));
        }
        out
    });
    let known = |z: &[f64]| {
        let mut value = 0.0;
        for i in 0..5 {
            value += E[i] * z[i] + D[i] * z[i].powi(3) + (0..5).map(|j| C[i][j] * z[i] * z[j]).sum::<f64>();
        }
        (value + 32.348_678_97).abs() < 1e-6
    };
    ncp("Colville", 15, [0.0, 3.0], f, Box::new(known))
}

/// Mathiesen's Walrasian equilibrium as modified by Pang and Gabriel 1993: all of (a, 0, 0, 0), 0 <= a <= 3, solve.
fn mathiesen() -> Classical {
    let f: Function = Box::new(|x| {
        vec![
            &x[2] + &x[3] - &x[1],
            &x[0] - (&x[2] * 4.5 + &x[3] * 2.7) / (&x[1] + 1.0),
            -(&x[0] + (&x[2] * 0.5 + &x[3] * 0.3) / (&x[2] + 1.0)) + 5.0,
            -(&x[0] - 3.0),
        ]
    });
    let known = |z: &[f64]| (-1e-7..=3.0 + 1e-7).contains(&z[0]) && z[1..].iter().all(|x| x.abs() < 1e-6);
    ncp("Mathiesen", 4, [0.0, 5.0], f, Box::new(known))
}

/// Powell's problem (Hock and Schittkowski 80): least `exp(x1 x2 x3 x4 x5)` under three equations and bounds; five variables in a
/// box and three free multipliers. The least value is 0.0539498; other points satisfy the conditions too.
fn powell() -> Classical {
    let f: Function = Box::new(|z| {
        let (x, y) = z.split_at(5);
        let value = (&x[0] * &x[1] * &x[2] * &x[3] * &x[4]).exp();
        let without = |k: usize| (0..5).filter(|&i| i != k).fold(z[0].constant(1.0), |p, i| p * &x[i]);
        let mut out: Vec<Dual> = (0..5).map(|k| &value * &without(k) - &y[0] * &x[k] * 2.0).collect();
        let add = |out: &mut Vec<Dual>, k: usize, term: Dual| out[k] = out[k].clone() - term;
        add(&mut out, 1, &y[1] * &x[2]);
        add(&mut out, 2, &y[1] * &x[1]);
        add(&mut out, 3, &y[1] * &x[4] * -5.0);
        add(&mut out, 4, &y[1] * &x[3] * -5.0);
        add(&mut out, 0, &y[2] * &x[0] * &x[0] * 3.0);
        add(&mut out, 1, &y[2] * &x[1] * &x[1] * 3.0);
        out.push((0..5).fold(z[0].constant(-10.0), |s, i| s + &x[i] * &x[i]));
        out.push(&x[1] * &x[2] - &x[3] * &x[4] * 5.0);
        out.push(&x[0] * &x[0] * &x[0] + &x[1] * &x[1] * &x[1] + 1.0);
        out
    });
    let (free, known) = (f64::INFINITY, |z: &[f64]| {
        let product: f64 = z[..5].iter().product();
        product.exp() >= 0.0539498 - 1e-6
    });
    let upper = vec![2.3, 2.3, 3.2, 3.2, 3.2, free, free, free];
    let lower = upper.iter().map(|u| -u).collect();
    Classical { name: "Powell", lower, upper, starts: [-2.0, 2.0], typical: 0.0, f, known: Box::new(known) }
}

/// Five firms that choose their output (Murphy, Sherali, Soyster 1982), with the solution known to five digits.
fn nash_cournot() -> Classical {
    const C: [f64; 5] = [10.0, 8.0, 6.0, 4.0, 2.0];
    const BETA: [f64; 5] = [1.2, 1.1, 1.0, 0.9, 0.8];
    const GAMMA: f64 = 1.1;
    let f: Function = Box::new(|q| {
        let total = q.iter().fold(q[0].constant(0.0), |s, q| s + q);
        let price = total.power(-1.0 / GAMMA) * 5000f64.powf(1.0 / GAMMA);
        (0..5)
            .map(|i| {
                (&q[i] / &q[i].constant(5.0)).power(1.0 / BETA[i]) + C[i] - &price
                    + &price * &q[i] / &total * (1.0 / GAMMA)
            })
            .collect()
    });
    let solution = [36.933, 41.818, 43.707, 42.659, 39.179];
    ncp("Nash-Cournot", 5, [1.0, 100.0], f, Box::new(move |z| near(z, &solution, 2e-5)))
}

/// Traffic of Bertsekas and Gafni 1982 (MCPLIB `bertsekas`): five towns on a ring of two roads. From each town the traffic `demand` goes three towns on by the outer road, or two
/// back by the inner one. Links with the traffic `v` take `1 + v + v^2` (ramps and bypasses) or ten times that (highways), and traffic that merges costs `gamma`, on
/// highways `2 gamma`, of its own. Equations of demand with free multipliers, the travel times. The source's coefficients of the links are 1 here; the demands are ours.
fn traffic() -> Classical {
    const DEMAND: [f64; 5] = [5.0, 6.0, 7.0, 6.0, 5.0];
    const GAMMA: f64 = 0.5;
    let f: Function = Box::new(|z| {
        let (x, w, y) = (&z[..5], &z[5..10], &z[10..]);
        let time = |v: &Dual| v * v + v + 1.0;
        let (out, inner) = (|i: usize| &x[i % 5], |i: usize| &w[i % 5]);
        let mut all = vec![];
        for i in 0..5 {
            // on, past two towns, off; three highways, each with who leaves it at its end
            let mut sum = time(out(i)) * 2.0 + time(&(out(i + 3) + out(i + 4))) * GAMMA - &y[i];
            sum = sum + time(&(out(i) + out(i + 4))) + time(&(out(i) + out(i + 1)));
            for k in i..i + 3 {
                sum = sum + time(&(out(k) + out(k + 3) + out(k + 4))) * 10.0;
                sum = sum + time(out(k + 3)) * (2.0 * GAMMA);
            }
            all.push(sum);
        }
        for i in 0..5 {
            let mut sum = time(inner(i)) * 3.0 + time(inner(i + 1)) * GAMMA - &y[i];
            for k in [i, i + 4] {
                sum = sum + time(&(inner(k) + inner(k + 1))) * 10.0 + time(inner(k + 1)) * (2.0 * GAMMA);
            }
            all.push(sum);
        }
        for i in 0..5 {
            all.push(&x[i] + &w[i] - DEMAND[i]);
        }
        all
    });
    let (mut lower, upper) = (vec![0.0; 15], vec![f64::INFINITY; 15]);
    lower[10..].fill(f64::NEG_INFINITY);
    // demand is met, the shorter way takes more, and no used way is slower than the other: times by links, each with the traffic that passes it
    let known = |z: &[f64]| {
        let time = |v: f64| 1.0 + v + v * v;
        // starts of the routes over the outer highway and the inner one that begin at a town, and of those that leave the outer one at its end
        let outer = |town: usize| [0, 1, 2].map(|back| z[(town + 5 - back) % 5]);
        let back = |town: usize| [0, 1].map(|ahead| z[5 + (town + ahead) % 5]);
        (0..5).all(|i| {
            let mut ways = [2.0 * time(z[i]), 3.0 * time(z[5 + i])];
            let merging = outer(i)[1] + outer(i)[2];
            ways[0] += GAMMA * time(merging);
            for k in 0..3 {
                let town = (i + k) % 5;
                let [own, one, two] = outer(town);
                ways[0] += 10.0 * time(own + one + two) + 2.0 * GAMMA * time(two);
                ways[0] += if k > 0 { time(one + two) } else { 0.0 };
            }
            ways[1] += GAMMA * time(z[5 + (i + 1) % 5]);
            for town in [i, (i + 4) % 5] {
                let [own, other] = back(town);
                ways[1] += 10.0 * time(own + other) + 2.0 * GAMMA * time(other);
            }
            let slack = 1e-6 * ways[0];
            (z[i] + z[5 + i] - DEMAND[i]).abs() < 1e-7
                && z[5 + i] > z[i]
                && (z[i] < 1e-9 || ways[0] <= ways[1] + slack)
                && ways[1] <= ways[0] + slack
        })
    };
    Classical {
        name: "Bertsekas-Gafni",
        lower,
        upper,
        starts: [0.0, 10.0],
        typical: 0.0,
        f,
        known: Box::new(known),
    }
}

/// A membrane over an obstacle, and under a ceiling: `-laplace u = -8` on the unit square, `psi <= u <= 0.02`, on a grid of
/// `n x n` (Dirichlet). Symmetric under all symmetries of the square.
fn obstacle(n: usize) -> Classical {
    let h = 1.0 / (n + 1) as f64;
    let psi = move |i: usize| {
        let (x, y) = ((i % n + 1) as f64 * h, (i / n + 1) as f64 * h);
        (9.0 * x).sin().powi(3).max(0.0) * (9.0 * y).sin().powi(3).max(0.0) * 0.06 - 0.05
    };
    let f: Function = Box::new(move |u| {
        (0..n * n)
            .map(|k| {
                let (i, j) = (k % n, k / n);
                let mut sum = &u[k] * 4.0;
                let around = [
                    (i > 0, k.wrapping_sub(1)),
                    (i + 1 < n, k + 1),
                    (j > 0, k.wrapping_sub(n)),
                    (j + 1 < n, k + n),
                ];
                for (_, at) in around.into_iter().filter(|(inside, _)| *inside) {
                    sum = sum - &u[at];
                }
                sum * (1.0 / (h * h)) + 8.0
            })
            .collect()
    });
    let lower: Vec<f64> = (0..n * n).map(psi).collect();
    let upper = vec![0.02; n * n];
    // where it is free it is below the ceiling and above the obstacle; it touches somewhere, and x and y can be exchanged
    let known = move |u: &[f64]| {
        let mirrored = (0..n * n).all(|k| (u[k] - u[(k % n) * n + k / n]).abs() < 1e-7);
        mirrored && (0..n * n).any(|k| u[k] <= psi(k) + 1e-12) && (0..n * n).any(|k| u[k] > psi(k) + 1e-6)
    };
    Classical {
        name: "obstacle 12 x 12",
        lower,
        upper,
        starts: [-0.05, 0.05],
        typical: 0.0,
        f,
        known: Box::new(known),
    }
}

/// A journal bearing (Reynolds): film pressure `p >= 0` of a wide bearing along the angle `a`, on `n` points: `-(c^3 p')' = e sin a`
/// with the film `c = 1 + e cos a`, `p(0) = p(2 pi) = 0`. The film breaks behind the least gap at pi, with `p' = 0` there.
fn journal_bearing(n: usize) -> Classical {
    const E: f64 = 0.6;
    let h = 2.0 * std::f64::consts::PI / (n + 1) as f64;
    let cube = move |a: f64| (1.0 + E * a.cos()).powi(3);
    let f: Function = Box::new(move |p| {
        (0..n)
            .map(|k| {
                let a = (k + 1) as f64 * h;
                let (left, right) = (cube(a - 0.5 * h), cube(a + 0.5 * h));
                let mut sum = &p[k] * (left + right);
                if k > 0 {
                    sum = sum - &p[k - 1] * left;
                }
                if k + 1 < n {
                    sum = sum - &p[k + 1] * right;
                }
                sum * (1.0 / (h * h)) - E * a.sin()
            })
            .collect()
    });
    // one stretch of pressure from 0 to beyond pi
    let known = move |p: &[f64]| {
        let last = p.iter().rposition(|p| *p > 1e-12).unwrap_or(0);
        let end = (last + 1) as f64 * h;
        p[..=last].iter().all(|p| *p > 0.0) && end > std::f64::consts::PI && end < 1.5 * std::f64::consts::PI
    };
    ncp("journal bearing, 80 points", n, [0.0, 2.0], f, Box::new(known))
}

pub fn all() -> Vec<Classical> {
    vec![
        kojima_shindo(),
        josephy(),
        hansen_koopmans(),
        colville(),
        mathiesen(),
        powell(),
        nash_cournot(),
        traffic(),
        obstacle(12),
        journal_bearing(80),
    ]
}
