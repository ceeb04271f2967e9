//! Derivative of a tree's drift (`drift.rs`): of the configuration and velocities at its end with the configuration,
//! the velocities `v_theta` and `v'`, and parameters of the inertias. The mean velocity is given by an equation,
//! which is differentiated as such (implicit function theorem), and solved here to rounding.

use super::joint::{attitude, three};
use super::kinematics::rotation;
use super::tangent::{Variation, advance_derivative, left_jacobian};
use super::{Kinematics, MassMatrix, System};
use crate::space::{Quaternion, Tensor, Vector, add, cross, dot, length, scale, sub, times, transpose_times};
use complementarity::matrix::Matrix;

/// Iterations for a mean velocity; Newton's method needs three.
const ROUNDS: usize = 20;
/// Residual, relative, at which it has converged.
const SETTLED: f64 = 1e-14;
/// Change of Newton's method, relative, after which the derivative is accepted.
const NEAR: f64 = 1e-11;

/// Systems at `p - 2e, p - e, p + e, p + 2e` of a parameter of inertias, and `e`.
pub(crate) type Stencil<'a> = (&'a [System; 4], f64);

/// Combines values at the four points of a stencil to the derivative, with an error of fourth order.
pub(crate) fn combine([a, b, c, d]: [f64; 4], e: f64) -> f64 {
    (8.0 * (c - b) - (d - a)) / (12.0 * e)
}

/// Momenta of a tree at a state, and their derivatives.
struct Momenta {
    p: Vec<f64>,
    g: Vec<f64>,
    /// Derivatives with configuration and velocities.
    pq: Matrix,
    pu: Matrix,
    gq: Matrix,
    gu: Matrix,
    mass: f64,
    center: Vector,
    cq: [Vec<f64>; 3],
    /// Derivatives of p, g, mass and center with each parameter.
    with: Vec<Values>,
}

/// Momenta `p`, their rates `g`, mass and centre of mass of a tree.
type Values = (Vec<f64>, Vec<f64>, f64, Vector);

/// Which derivatives of momenta are needed.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    /// Of `p` with the velocities: `M`.
    Mass,
    /// Of `p` with velocities and configuration.
    Momentum,
    /// Of `p` and `g`.
    All,
}

/// The derivative of the drift of one tree over `h`, in `parts`, from the state of `begin` with `theta` for `v_theta`
/// and `after` for `v'` (over its dofs). Rows: `xi`, `v`. Columns: `xi`, `v_theta`, `v'`, parameters.
pub(crate) fn drift_derivative(
    begin: &Kinematics,
    t: usize,
    (h, parts): (f64, usize),
    (theta, after): (&[f64], &[f64]),
    parameters: &[Stencil<'_>],
) -> Option<Matrix> {
    let system = begin.system().clone();
    let tree = &system.trees()[t];
    let n = tree.dofs.len();
    if tree.is_free_body() {
        return Some(body_derivative(begin, t, h, (theta, after), parameters));
    }
    let columns = 3 * n + parameters.len();
    let pick = |block: usize| Matrix::from_fn(n, columns, |i, j| f64::from(u8::from(j == block * n + i)));
    if tree.even && parameters.is_empty() {
        let [a, b] = advance_derivative(&system, t, theta, h);
        return Some(Matrix::from_fn(2 * n, columns, |i, j| match (i < n, j / n) {
            (true, 0) => a[(i, j)],
            (true, 1) => b[(i, j - n)],
            (false, 2) => f64::from(u8::from(j - 2 * n == i - n)),
            _ => 0.0,
        }));
    }
    Walk::new(begin, t, parameters).drift((h, parts), (theta, after), pick)
}

/// Evaluates the momenta of a tree anywhere.
struct Walk<'a> {
    kinematics: Kinematics,
    mass: MassMatrix,
    others: Vec<([Kinematics; 4], f64)>,
    t: usize,
    parameters: &'a [Stencil<'a>],
    /// Configuration and velocity, over all trees.
    q: Vec<f64>,
    v: Vec<f64>,
}

impl<'a> Walk<'a> {
    fn new(begin: &Kinematics, t: usize, parameters: &'a [Stencil<'a>]) -> Self {
        let others = parameters.iter().map(|(s, e)| (s.each_ref().map(Kinematics::new), *e)).collect();
        let (q, v) = (begin.configuration().to_vec(), vec![0.0; begin.system().velocity_size()]);
        let mass = MassMatrix::new(begin.system());
        Self { kinematics: begin.clone(), mass, others, t, parameters, q, v }
    }

    /// Momenta at the current configuration and a velocity.
    fn at(&mut self, velocity: &[f64], need: Need) -> Momenta {
        let (t, dofs) = (self.t, self.kinematics.system().trees()[self.t].dofs.clone());
        let n = dofs.len();
        self.v[dofs.clone()].copy_from_slice(velocity);
        self.kinematics.update_tree(t, &self.q, &self.v);
        let (mut p, mut g) = (self.v.clone(), self.v.clone());
        self.kinematics.momenta(t, &mut p, &mut g);
        let (mass, center) = self.kinematics.center_of_tree(t);
        let zero = || Matrix::zeros(n, n);
        let mut out = Momenta {
            p: p[dofs.clone()].to_vec(),
            g: g[dofs.clone()].to_vec(),
            pq: zero(),
            pu: zero(),
            gq: zero(),
            gu: zero(),
            mass,
            center,
            cq: [vec![0.0; n], vec![0.0; n], vec![0.0; n]],
            with: vec![],
        };
        let (mut dp, mut dg) = (vec![0.0; n], vec![0.0; n]);
        let (mut unit, none) = (vec![0.0; n], vec![0.0; n]);
        // where M cannot be factored, solves with it are refused later
        if self.mass.update_tree(t, &self.kinematics).is_ok() {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                out.pu[(i, j)] = self.mass.entry(dofs.start + i, dofs.start + j);
            }
        }
        let mut by = Variation::default();
        for j in 0..if need == Need::Mass { 0 } else { n } {
            unit[j] = 1.0;
            if need == Need::All {
                self.kinematics.vary_into(t, &none, &unit, &mut by);
                self.kinematics.vary_momenta(t, &by, &mut dp, &mut dg);
                (0..n).for_each(|i| out.gu[(i, j)] = dg[i]);
            }
            if need != Need::Mass {
                self.kinematics.vary_into(t, &unit, &none, &mut by);
                self.kinematics.vary_momenta(t, &by, &mut dp, &mut dg);
                (0..n).for_each(|i| (out.pq[(i, j)], out.gq[(i, j)]) = (dp[i], dg[i]));
                let c = self.kinematics.vary_center(t, &by);
                (0..3).for_each(|k| out.cq[k][j] = c[k]);
            }
            unit[j] = 0.0;
        }
        for (others, e) in &mut self.others {
            let values = others.each_mut().map(|k| {
                k.update_tree(t, &self.q, &self.v);
                k.momenta(t, &mut p, &mut g);
                let (mass, center) = k.center_of_tree(t);
                (p[dofs.clone()].to_vec(), g[dofs.clone()].to_vec(), mass, center)
            });
            let of = |f: &dyn Fn(&Values) -> f64| combine(values.each_ref().map(f), *e);
            let p: Vec<f64> = (0..n).map(|i| of(&|v| v.0[i])).collect();
            let g: Vec<f64> = (0..n).map(|i| of(&|v| v.1[i])).collect();
            out.with.push((p, g, of(&|v| v.2), std::array::from_fn(|k| of(&|v| v.3[k]))));
        }
        out
    }

    fn drift(
        mut self,
        (h, parts): (f64, usize),
        (theta, after): (&[f64], &[f64]),
        pick: impl Fn(usize) -> Matrix,
    ) -> Option<Matrix> {
        let system = self.kinematics.system().clone();
        let tree = &system.model.trees[self.t];
        let root = &system.model.bodies[tree.bodies.start];
        // as in `Drift::begin`
        let driven = root.dofs().any(|i| system.model.armature[i] > 0.0);
        let (n, shifts) = (tree.dofs.len(), if driven { 0 } else { root.joint.shifts() });
        let turning = shifts..root.joint.velocity_size();
        let (own, np) = (tree.coordinates.clone(), self.parameters.len());
        let with_p = |m: &Momenta| spread(n, |i, k| m.with[k].0[i], np);
        let with_g = |m: &Momenta| spread(n, |i, k| m.with[k].1[i], np);
        let (mut dq, mut dv, mut v) = (pick(0), pick(1), theta.to_vec());
        let surplus: Vec<f64> = after.iter().zip(theta).map(|(a, b)| a - b).collect();
        // positions follow all of v' with theta = 0
        let need = if surplus.iter().all(|x| *x == 0.0) { Need::Mass } else { Need::Momentum };
        let extra = self.at(&surplus, need);
        let (surplus, mut dsurplus) = (extra.p.clone(), product(&extra.pu, &minus(&pick(2), &dv)));
        if need != Need::Mass {
            dsurplus = sum(&dsurplus, &sum(&product(&extra.pq, &dq), &with_p(&extra)));
        }
        let h = h / parts as f64;
        for part in 0..parts {
            let last = part + 1 == parts;
            // the frame in which the centre of mass is at rest
            let mut frame = vec![0.0; n];
            let mut dframe = Matrix::zeros(n, dq.columns());
            if shifts > 0 {
                let full = self.at(&v, Need::Momentum);
                let dp = sum(&sum(&product(&full.pq, &dq), &product(&full.pu, &dv)), &with_p(&full));
                for i in 0..shifts {
                    frame[i] = full.p[i] / full.mass;
                    for j in 0..dq.columns() {
                        let lighter = j.checked_sub(3 * n).map_or(0.0, |k| full.with[k].2);
                        dframe[(i, j)] = (dp[(i, j)] - frame[i] * lighter) / full.mass;
                    }
                }
            }
            let relative: Vec<f64> = v.iter().zip(&frame).map(|(v, f)| v - f).collect();
            let begin = self.at(&relative, Need::Momentum);
            let dp = product(&begin.pu, &minus(&dv, &dframe));
            let (mut end, mut dend) =
                (begin.p.clone(), sum(&sum(&product(&begin.pq, &dq), &dp), &with_p(&begin)));
            let dcenter = self.center_change(&begin, &dq, n);
            let start = self.q.clone();

            // M(q_m) u - h/2 g(q_m, u) = M(q) v
            let mut u = relative;
            let (middle, matrix, [a, b]) = self.mean(&start, h, &end, &mut u, &own)?;
            let by_place = axpy(&middle.pq, -0.5 * h, &middle.gq);
            let inner = minus(&minus(&dend, &product(&product(&by_place, &a), &dq)), &with_p(&middle));
            let inner = axpy(&inner, 0.5 * h, &with_g(&middle));
            let du = matrix.solve(&inner)?;
            let dmiddle = sum(&product(&a, &dq), &product(&b, &du));
            let dg = sum(&sum(&product(&middle.gq, &dmiddle), &product(&middle.gu, &du)), &with_g(&middle));

            self.q.copy_from_slice(&start);
            self.advance(&start, &u, h, &own);
            let [a, b] = advance_derivative(&system, self.t, &u, h);
            let mut dnext = sum(&product(&a, &dq), &product(&b, &du));
            (0..n).for_each(|i| end[i] += h * middle.g[i] + if last { surplus[i] } else { 0.0 });
            dend = axpy(&dend, h, &dg);
            if last {
                dend = sum(&dend, &dsurplus);
            }
            if shifts > 0 {
                let there = self.at(&u, Need::Momentum);
                let moved = sub(begin.center, there.center);
                let dmoved = minus(&dcenter, &self.center_change(&there, &dnext, n));
                let columns = &self.kinematics.columns[tree.dofs.clone()];
                let mut lever = [0.0; 3];
                let mut dlever = Matrix::zeros(3, dq.columns());
                for i in 0..shifts {
                    let axis = columns[i].linear;
                    u[i] = frame[i] + dot(axis, moved) / h;
                    for j in 0..dq.columns() {
                        let along: f64 = (0..3).map(|k| axis[k] * dmoved[(k, j)]).sum();
                        dnext[(i, j)] = dq[(i, j)] + h * dframe[(i, j)] + along;
                        if last {
                            (0..3).for_each(|k| dlever[(k, j)] += axis[k] * dsurplus[(i, j)]);
                        }
                    }
                    if last {
                        lever = add(lever, scale(surplus[i], axis));
                    }
                }
                for i in turning.clone() {
                    let axis = columns[i].angular;
                    end[i] -= dot(axis, cross(moved, lever));
                    for j in 0..dq.columns() {
                        let [m, l] = [&dmoved, &dlever].map(|d| [d[(0, j)], d[(1, j)], d[(2, j)]]);
                        dend[(i, j)] -= dot(axis, add(cross(m, lever), cross(moved, l)));
                    }
                }
                self.q.copy_from_slice(&start);
                self.advance(&start, &u, h, &own);
            }
            dq = dnext;
            let mass = self.at(&vec![0.0; n], Need::Mass).pu;
            let after = mass.solve(&Matrix::from_fn(n, 1, |i, _| end[i]))?;
            let after: Vec<f64> = after.data().to_vec();
            let there = self.at(&after, Need::Momentum);
            let right = minus(&minus(&dend, &product(&there.pq, &dq)), &with_p(&there));
            dv = sum(&there.pu.solve(&right)?, &dframe);
            v = after.iter().zip(&frame).map(|(v, f)| v + f).collect();
        }
        let columns = dq.columns();
        Some(Matrix::from_fn(2 * n, columns, |i, j| if i < n { dq[(i, j)] } else { dv[(i - n, j)] }))
    }

    fn center_change(&self, at: &Momenta, dq: &Matrix, n: usize) -> Matrix {
        Matrix::from_fn(3, dq.columns(), |k, j| {
            let own: f64 = (0..n).map(|i| at.cq[k][i] * dq[(i, j)]).sum();
            own + j.checked_sub(3 * n).map_or(0.0, |p| at.with[p].3[k])
        })
    }

    /// Puts the tree at `start + h G u`.
    fn advance(&mut self, start: &[f64], u: &[f64], h: f64, own: &std::ops::Range<usize>) {
        let system = self.kinematics.system().clone();
        let dofs = system.trees()[self.t].dofs.clone();
        self.v[dofs].copy_from_slice(u);
        let mut next = start.to_vec();
        system.advance(start, &self.v, h, &mut next);
        self.q[own.clone()].copy_from_slice(&next[own.clone()]);
    }

    /// Iterates `u := u - M^-1 r` as the drift itself does, while that converges.
    fn approach(&mut self, start: &[f64], h: f64, end: &[f64], u: &mut [f64], own: &std::ops::Range<usize>) {
        let (t, dofs) = (self.t, self.kinematics.system().trees()[self.t].dofs.clone());
        self.q.copy_from_slice(start);
        self.kinematics.update_tree(t, &self.q, &self.v);
        if self.mass.update_tree(t, &self.kinematics).is_err() {
            return;
        }
        let (mut p, mut g, mut last) = (self.v.clone(), self.v.clone(), f64::INFINITY);
        let size = end.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for _ in 0..ROUNDS {
            self.advance(start, u, 0.5 * h, own);
            self.kinematics.update_tree(t, &self.q, &self.v);
            self.kinematics.momenta(t, &mut p, &mut g);
            let mut far = 0.0f64;
            for (k, i) in dofs.clone().enumerate() {
                p[i] = end[k] + 0.5 * h * g[i] - p[i];
                far = far.max(p[i].abs());
            }
            if far >= last || far <= SETTLED * size {
                return;
            }
            last = far;
            self.mass.solve_tree(t, &mut p[dofs.clone()]);
            u.iter_mut().zip(&p[dofs.clone()]).for_each(|(u, c)| *u += c);
        }
    }

    /// Solves for the mean velocity `u`, from a guess; the momenta there, the derivative of the equation with `u`, and
    /// that of the middle configuration.
    fn mean(
        &mut self,
        start: &[f64],
        h: f64,
        end: &[f64],
        u: &mut [f64],
        own: &std::ops::Range<usize>,
    ) -> Option<(Momenta, Matrix, [Matrix; 2])> {
        let n = u.len();
        let system = self.kinematics.system().clone();
        self.approach(start, h, end, u, own);
        let mut settled = false;
        for _ in 0..ROUNDS {
            self.q.copy_from_slice(start);
            self.advance(start, u, 0.5 * h, own);
            let m = self.at(u, Need::All);
            let [a, b] = advance_derivative(&system, self.t, u, 0.5 * h);
            let by_place = axpy(&m.pq, -0.5 * h, &m.gq);
            let matrix = sum(&axpy(&m.pu, -0.5 * h, &m.gu), &product(&by_place, &b));
            if settled {
                return Some((m, matrix, [a, b]));
            }
            let off = Matrix::from_fn(n, 1, |i, _| end[i] + 0.5 * h * m.g[i] - m.p[i]);
            let change = matrix.solve(&off)?;
            let size = u.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let far = change.data().iter().fold(0.0f64, |m, x| m.max(x.abs()));
            u.iter_mut().zip(change.data()).for_each(|(u, c)| *u += c);
            if far <= NEAR * size {
                // the derivative is that of the solution to this share
                return Some((m, matrix, [a, b]));
            }
            // quadratic convergence: the next error is below rounding
            settled = far <= NEAR.sqrt() * size;
        }
        None
    }
}

/// Derivative of the drift of one free body, see [`drift_derivative`].
fn body_derivative(
    begin: &Kinematics,
    t: usize,
    h: f64,
    (theta, after): (&[f64], &[f64]),
    parameters: &[Stencil<'_>],
) -> Matrix {
    let system = begin.system();
    let tree = &system.model.trees[t];
    let (body, state) = (&system.model.bodies[tree.bodies.start], &begin.states[tree.bodies.start]);
    let tensor = body.inertia.tensor;
    // the motion itself, with what its derivative needs
    let (c, spin_world, turned_world) = (state.center, three(theta, 3), three(after, 3));
    let momentum = state.central.times(turned_world);
    let spin = transpose_times(&state.rotation, spin_world);
    let parts = super::drift::turns(h, spin);
    let part = h / parts as f64;
    let mut own = times(&tensor, spin);
    let mut omega = spin;
    let mut turned = attitude(&begin.configuration()[body.coordinates()], 3);
    let mut pieces = vec![];
    for _ in 0..parts {
        let before = rotation(body.mount.attitude.after(turned));
        let next;
        (omega, next) = super::drift::mean_spin(&tensor, part, own, omega);
        pieces.push((before, own, omega, next));
        turned = turned.after(Quaternion::turn(scale(part, omega)));
        own = next;
    }
    let end = rotation(body.mount.attitude.after(turned.unit()));
    let center = times(&end, body.inertia.center);
    let inverse = |x: Vector| transpose_times(&body.root, times(&body.root, x));
    let inverse_world = |x: Vector| times(&end, inverse(transpose_times(&end, x)));
    let angular = inverse_world(momentum);

    let columns = 18 + parameters.len();
    let mut out = Matrix::zeros(12, columns);
    for j in 0..columns {
        let unit = |block: usize| -> ([f64; 3], [f64; 3]) {
            let at = |k: usize| f64::from(u8::from(j == 6 * block + k));
            ([at(0), at(1), at(2)], [at(3), at(4), at(5)])
        };
        let ((shift, turn), (dtheta, dspin), (dafter, dturned)) = (unit(0), unit(1), unit(2));
        let (mut dtensor, mut doffset): (Tensor, Vector) = ([[0.0; 3]; 3], [0.0; 3]);
        if let Some((systems, e)) = j.checked_sub(18).map(|k| parameters[k]) {
            let inertia = systems.each_ref().map(|s| s.model.bodies[tree.bodies.start].inertia);
            let of = |f: &dyn Fn(usize) -> f64| combine(std::array::from_fn(f), e);
            dtensor = std::array::from_fn(|r| std::array::from_fn(|s| of(&|k| inertia[k].tensor[r][s])));
            doffset = std::array::from_fn(|r| of(&|k| inertia[k].center[r]));
        }
        let in_world = |m: &Tensor, r: &Tensor, x: Vector| times(r, times(m, transpose_times(r, x)));
        let dc = add(cross(turn, c), times(&state.rotation, doffset));
        let dmomentum = add(
            add(cross(turn, momentum), state.central.times(sub(dturned, cross(turn, turned_world)))),
            in_world(&dtensor, &state.rotation, turned_world),
        );
        let body_spin = transpose_times(&state.rotation, sub(dspin, cross(turn, spin_world)));
        let mut down = add(times(&tensor, body_spin), times(&dtensor, spin));
        let mut rotated = turn;
        for (before, _, omega, next) in &pieces {
            let back = Quaternion::turn(scale(-part, *omega));
            let carried = back.apply(down);
            // (I - h/2 [Pi+]x J(-h Omega)) dOmega = (dPi + E dPi)/2 - dI Omega
            let right = sub(scale(0.5, add(down, carried)), times(&dtensor, *omega));
            let matrix = [0, 1, 2].map(|k| {
                let axis: Vector = std::array::from_fn(|i| f64::from(u8::from(i == k)));
                let turning = cross(*next, left_jacobian(scale(-part, *omega), axis));
                sub([tensor[0][k], tensor[1][k], tensor[2][k]], scale(0.5 * part, turning))
            });
            let domega = super::drift::solve(matrix, right);
            down = add(carried, scale(part, cross(*next, left_jacobian(scale(-part, *omega), domega))));
            let moved = left_jacobian(scale(part, *omega), domega);
            rotated = add(rotated, scale(part, times(before, moved)));
        }
        let dcenter = add(cross(rotated, center), times(&end, doffset));
        let drifted = add(dtheta, add(cross(dspin, c), cross(spin_world, dc)));
        let place = add(shift, add(scale(h, drifted), sub(dc, dcenter)));
        let dangular = add(
            cross(rotated, angular),
            inverse_world(sub(sub(dmomentum, cross(rotated, momentum)), in_world(&dtensor, &end, angular))),
        );
        let dgoing = add(dafter, add(cross(dturned, c), cross(turned_world, dc)));
        let linear = sub(sub(dgoing, cross(dangular, center)), cross(angular, dcenter));
        for k in 0..3 {
            out[(k, j)] = place[k];
            out[(3 + k, j)] = rotated[k];
            out[(6 + k, j)] = linear[k];
            out[(9 + k, j)] = dangular[k];
        }
    }
    debug_assert!(length(angular).is_finite() || !length(momentum).is_finite());
    out
}

/// Columns of parameters: entry `(i, k)` in column `3 n + k`.
fn spread(n: usize, entry: impl Fn(usize, usize) -> f64, parameters: usize) -> Matrix {
    Matrix::from_fn(n, 3 * n + parameters, |i, j| j.checked_sub(3 * n).map_or(0.0, |k| entry(i, k)))
}

/// `a b`; zeros at both ends of the rows of `b` are skipped.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(a.rows(), b.columns());
    let ranges: Vec<(usize, usize)> = (0..b.rows())
        .map(|k| {
            let row = b.row(k);
            let first = row.iter().position(|x| *x != 0.0).unwrap_or(row.len());
            (first, row.iter().rposition(|x| *x != 0.0).map_or(first, |last| last + 1))
        })
        .collect();
    for i in 0..a.rows() {
        for (k, x) in a.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let (first, end) = ranges[k];
            for (o, y) in out.row_mut(i)[first..end].iter_mut().zip(&b.row(k)[first..end]) {
                *o += x * y;
            }
        }
    }
    out
}

/// `a + b`.
fn sum(a: &Matrix, b: &Matrix) -> Matrix {
    axpy(a, 1.0, b)
}

/// `a - b`.
fn minus(a: &Matrix, b: &Matrix) -> Matrix {
    axpy(a, -1.0, b)
}

/// `a + s b`.
fn axpy(a: &Matrix, s: f64, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), a.columns(), |i, j| a[(i, j)] + s * b[(i, j)])
}
