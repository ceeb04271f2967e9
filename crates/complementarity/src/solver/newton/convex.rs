//! The convex step of the proximal method: the shift of De Saxce frozen, one proximal problem solved by Newton with a line search.
//!
//! With `g = (mu |s_t|, 0)` frozen at the centre `c`, the proximal problem is `y = P_K(x)`, `x = c - (A y + b + g) / (alpha D)`: for a symmetric
//! `A >= 0` the minimum of
//!
//!   theta(y) = y'A y / 2 + sum alpha D |P_K(x)|^2 / 2
//!
//! whose gradient is `A (y - P_K(x))`. Newton's direction, `(alpha D + P' A) dy = alpha D (P_K(x) - y)`, goes down theta, and full steps are taken in
//! the end: the semismooth Newton augmented Lagrangian method (Li, Sun, Toh 2018) put in forces. Where `A` is not quite symmetric theta only guides.
//!
//! With the shift left free ([`Shift::Free`]) the same map is that of Coulomb's law. The direction has `P' G A` instead of `P' A`, `G = I + e_n (0, mu s_t /
//! |s_t|)'` the derivative of the shifted speed; there is no theta to go down, and a step has to leave less of `alpha D (P_K(x) - y)`.

use crate::bench::Task;
use crate::block_lu::BlockLu;
use crate::cone::Shape;
use crate::one_contact::tangent;
use crate::operator::BlockMatrix;
use crate::sweep::{Sweeper, blocks_of, row_times};

const NONE: usize = usize::MAX;
/// Newton steps of one proximal problem, halvings of a step, and the share of the slope that a step must gain.
const MOST_STEPS: usize = 30;
const MOST_HALVINGS: usize = 12;
const ARMIJO: f64 = 1e-4;

/// Halvings of a step where the shift is free, and the share of the residual (squared) that a full step must take away.
const MOST_FREE_HALVINGS: usize = 12;
const FREE_DECREASE: f64 = 0.1;

/// What becomes of De Saxce's shift `mu |s_t|` in a proximal problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Shift {
    /// It stays as it is at the centre: the problem is convex where `A` is symmetric.
    #[default]
    Frozen,
    /// It is that of the speeds: Coulomb's law as it stands.
    Free,
}

/// A proximal problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proximal {
    pub shift: Shift,
    /// Proximal weight.
    pub alpha: f64,
    /// Sum of squares of `alpha D (P_K(x) - y)` that is good enough.
    pub goal: f64,
    /// Most linear systems.
    pub max_steps: usize,
}

impl Proximal {
    /// With the shift frozen.
    pub fn frozen(alpha: f64, goal: f64) -> Self {
        Self { shift: Shift::Frozen, alpha, goal, max_steps: MOST_STEPS }
    }
}

/// The convex step's memory; vectors hold the island's contacts one after another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Convex {
    lu: BlockLu,
    /// Contacts with `P' != 0`, as places in the island.
    active: Vec<usize>,
    /// By contact: place among the active, and in the island.
    index: Vec<usize>,
    place: Vec<usize>,
    /// `P'` of each active contact.
    slopes: Vec<f64>,
    centre: Vec<f64>,
    kind: Shift,
    shift: Vec<f64>,
    weight: Vec<f64>,
    y: Vec<f64>,
    /// `A y + b`, `P_K(x)`, `dy`, `A dy`.
    s: Vec<f64>,
    p: Vec<f64>,
    step: Vec<f64>,
    change: Vec<f64>,
    /// `dy` of all contacts of the problem, for products.
    full: Vec<f64>,
    rhs: Vec<f64>,
}

impl Convex {
    /// Solves the proximal problem with centre `lambda` and leaves `P_K(x)` there. The sweeper's speeds must be those of `lambda`. Returns the
    /// number of linear systems, and whether the problem was solved to its goal.
    pub fn solve<const D: usize>(
        &mut self,
        sweeper: &Sweeper,
        a: &BlockMatrix,
        task: Task<'_>,
        lambda: &mut [f64],
        proximal: Proximal,
    ) -> (usize, bool) {
        self.kind = proximal.shift;
        self.begin::<D>(sweeper, task, lambda, proximal.alpha);
        let mut theta = self.evaluate::<D>(task, 0.0);
        for steps in 0..proximal.max_steps {
            let error = self.error::<D>(0.0);
            if error <= proximal.goal {
                self.finish::<D>(task, lambda);
                return (steps, true);
            }
            if !self.direction::<D>(a, task) {
                self.finish::<D>(task, lambda);
                return (steps + 1, false);
            }
            // theta'(0) = -(P - y) . A dy
            let slope: f64 =
                -(0..self.y.len()).map(|k| (self.p[k] - self.y[k]) * self.change[k]).sum::<f64>();
            let mut t = 1.0;
            let most = if self.kind == Shift::Free { MOST_FREE_HALVINGS } else { MOST_HALVINGS };
            for halving in 0..=most {
                let found = self.evaluate::<D>(task, t);
                let good = match self.kind {
                    Shift::Frozen => found <= theta + ARMIJO * t * slope,
                    Shift::Free => self.error::<D>(t) <= (1.0 - FREE_DECREASE * t) * error,
                };
                if good || (halving == most && self.kind == Shift::Frozen) {
                    theta = found;
                    break;
                }
                if halving == most {
                    self.finish::<D>(task, lambda);
                    return (steps + 1, false);
                }
                t *= 0.5;
            }
            for k in 0..self.y.len() {
                self.y[k] += t * self.step[k];
                self.s[k] += t * self.change[k];
            }
        }
        self.finish::<D>(task, lambda);
        (proximal.max_steps, self.error::<D>(0.0) <= proximal.goal)
    }

    /// Sum of squares of `alpha D (P_K(x) - y)` a share `t` of the step ahead, where `P_K(x)` was evaluated last.
    fn error<const D: usize>(&self, t: f64) -> f64 {
        let missing = |k: usize| self.p[k] - self.y[k] - t * self.step[k];
        (0..self.y.len()).map(|k| (self.weight[k / D] * missing(k)).powi(2)).sum()
    }

    fn begin<const D: usize>(&mut self, sweeper: &Sweeper, task: Task<'_>, lambda: &[f64], alpha: f64) {
        let Task { problem, contacts, .. } = task;
        let n = D * contacts.len();
        for v in [&mut self.step, &mut self.change, &mut self.p] {
            v.clear();
            v.resize(n, 0.0);
        }
        for v in [&mut self.centre, &mut self.shift, &mut self.weight, &mut self.s] {
            v.clear();
        }
        self.index.resize(problem.mu.len(), NONE);
        self.place.resize(problem.mu.len(), NONE);
        self.full.resize(lambda.len(), 0.0);
        for (k, &c) in contacts.iter().enumerate() {
            let s = &sweeper.speed.as_chunks::<D>().0[c];
            self.place[c] = k;
            self.centre.extend_from_slice(&lambda[D * c..][..D]);
            self.s.extend_from_slice(s);
            self.shift.push(problem.mu[c] * problem.shape(c).lift(s));
            self.weight.push(alpha * sweeper.unit::<D>(c));
        }
        self.y.clone_from(&self.centre);
    }

    /// `theta(y + t dy)`, and `P_K(x)` there.
    fn evaluate<const D: usize>(&mut self, task: Task<'_>, t: f64) -> f64 {
        let Task { problem, contacts, .. } = task;
        let mut theta = 0.0;
        for (k, &c) in contacts.iter().enumerate() {
            let (weight, shape) = (self.weight[k], problem.shape(c));
            let mut x = [0.0; D];
            if self.kind == Shift::Free {
                let s: [f64; D] = std::array::from_fn(|i| self.s[D * k + i] + t * self.change[D * k + i]);
                self.shift[k] = problem.mu[c] * shape.lift(&s);
            }
            for i in 0..D {
                let at = D * k + i;
                let (y, s) = (self.y[at] + t * self.step[at], self.s[at] + t * self.change[at]);
                theta += 0.5 * y * (s - problem.b[D * c + i]);
                let g = if i == 0 { self.shift[k] } else { 0.0 };
                x[i] = self.centre[at] - (s + g) / weight;
            }
            shape.project(problem.mu[c], &mut x);
            theta += 0.5 * weight * x.iter().map(|x| x * x).sum::<f64>();
            self.p[D * k..][..D].copy_from_slice(&x);
        }
        theta
    }

    /// Newton's direction `dy` and `A dy`; false if the matrix is singular.
    fn direction<const D: usize>(&mut self, a: &BlockMatrix, task: Task<'_>) -> bool {
        let Task { problem, contacts, .. } = task;
        self.active.clear();
        self.slopes.clear();
        for (k, &c) in contacts.iter().enumerate() {
            let s = &self.s.as_chunks::<D>().0[k];
            let centre = &self.centre.as_chunks::<D>().0[k];
            let (mu, shape, free) = (problem.mu[c], problem.shape(c), self.kind == Shift::Free);
            let g = if free { mu * shape.lift(s) } else { self.shift[k] };
            let x: [f64; D] =
                std::array::from_fn(|i| centre[i] - (s[i] + if i == 0 { g } else { 0.0 }) / self.weight[k]);
            self.index[c] = NONE;
            // where P' = 0, dy = P - y at once
            self.full[D * c..][..D].fill(0.0);
            match slope_of(shape, mu, &x) {
                Some(mut slope) => {
                    if free {
                        // P' G
                        let lift = lift_slope(shape, s);
                        for row in &mut slope {
                            (1..D).for_each(|q| row[q] += row[0] * mu * lift[q]);
                        }
                    }
                    self.index[c] = self.active.len();
                    self.active.push(k);
                    self.slopes.extend_from_slice(slope.as_flattened());
                }
                None => (0..D).for_each(|i| {
                    self.step[D * k + i] = self.p[D * k + i] - self.y[D * k + i];
                    self.full[D * c + i] = self.step[D * k + i];
                }),
            }
        }
        self.lu.begin(self.active.len());
        self.rhs.clear();
        for (i, &k) in self.active.iter().enumerate() {
            let c = contacts[k];
            for &other in a.row(c).0.iter().filter(|&&other| self.index[other] != NONE) {
                self.lu.connect(i, self.index[other]);
            }
            // what the others' known steps do
            let known = row_times(a, c, &self.full, [0.0; D]);
            let slope = &blocks_of::<D>(&self.slopes)[i];
            for p in 0..D {
                let own = self.weight[k] * (self.p[D * k + p] - self.y[D * k + p]);
                self.rhs.push(own - (0..D).map(|q| slope[p][q] * known[q]).sum::<f64>());
            }
        }
        self.lu.analyse();
        let Self { lu, active, index, slopes, weight, rhs, .. } = self;
        let slopes = blocks_of::<D>(slopes);
        let good = lu.factor::<D>(|i, row, at| {
            let c = contacts[active[i]];
            let (columns, data) = a.row(c);
            for (&k, block) in columns.iter().zip(blocks_of::<D>(data)).filter(|(k, _)| index[**k] != NONE) {
                row[at[index[k]]] = super::system::product(&slopes[i], block);
            }
            let own = &mut row[at[i]];
            (0..D).for_each(|p| own[p][p] += weight[active[i]]);
        });
        if !good {
            return false;
        }
        lu.solve::<D>(rhs.as_chunks_mut::<D>().0);
        for (i, &k) in self.active.iter().enumerate() {
            self.step[D * k..][..D].copy_from_slice(&self.rhs[D * i..][..D]);
            self.full[D * contacts[k]..][..D].copy_from_slice(&self.rhs[D * i..][..D]);
        }
        for (k, &c) in contacts.iter().enumerate() {
            self.change[D * k..][..D].copy_from_slice(&row_times(a, c, &self.full, [0.0; D]));
        }
        self.step.iter().all(|x| x.is_finite())
    }

    fn finish<const D: usize>(&self, task: Task<'_>, lambda: &mut [f64]) {
        for (k, &c) in task.contacts.iter().enumerate() {
            lambda[D * c..][..D].copy_from_slice(&self.p[D * k..][..D]);
        }
    }
}

/// Derivative of [`Shape::lift`].
fn lift_slope<const D: usize>(shape: Shape, s: &[f64; D]) -> [f64; D] {
    let mut out = [0.0; D];
    match shape {
        Shape::Disc => {
            let slip = tangent(s, s).sqrt();
            (1..D).filter(|_| slip > 0.0).for_each(|q| out[q] = s[q] / slip);
        }
        Shape::Polygon(polygon) if (s[1], s[2]) != (0.0, 0.0) => {
            let [t, o] = polygon.farthest([-s[1], -s[2]]);
            (out[1], out[2]) = (-t, -o);
        }
        // any mean of the corners will do
        Shape::Polygon(_) => {}
    }
    out
}

/// `P'` at `x`; `None` if it is zero. On the side of a disc's cone: `u u' + (mu a / T) f f'` with `u = (1, mu e) / sqrt(1 + mu^2)`.
fn slope_of<const D: usize>(shape: Shape, mu: f64, x: &[f64; D]) -> Option<[[f64; D]; D]> {
    if let Shape::Polygon(polygon) = shape {
        let slope = polygon.slope(mu, [x[0], x[1], x[2]])?;
        return Some(std::array::from_fn(|i| std::array::from_fn(|j| slope[i][j])));
    }
    let length = tangent(x, x).sqrt();
    let mut slope = [[0.0; D]; D];
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
