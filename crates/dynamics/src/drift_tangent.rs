//! Derivative of a tree's drift (`drift.rs`): of the configuration and velocities at its end with the configuration,
//! the velocities `v_theta` and `v'`, and parameters of the inertias. The mean velocity is given by an equation,
//! which is differentiated as such (implicit function theorem).
//!
//! Products run over the tree a few times and form no matrix. The linear equation of the mean velocity is solved by the
//! iteration that the drift itself uses, `du := du - M^-1 r`, which contracts as `h` times the angular velocities.

use super::drift::{Drift, SLOW};
use super::tangent::{Variation, advance_times};
use super::tangent_transposed::{Covariation, advance_transposed};
use super::{Kinematics, MassMatrix, System};
use crate::space::{Vector, add, cross, dot, scale, sub};

/// Iterations for a mean velocity and its change.
const ROUNDS: usize = 60;
/// Residual, relative, at which the mean velocity is near enough to be differentiated at.
const NEAR: f64 = 1e-9;
/// Last change, relative, of its derivative.
const SETTLED: f64 = 1e-11;

/// Systems at `p - 2e, p - e, p + e, p + 2e` of a parameter of inertias, and `e`.
pub type Stencil<'a> = (&'a [System; 4], f64);

/// Combines values at the four points of a stencil to the derivative, with an error of fourth order.
pub fn combine([a, b, c, d]: [f64; 4], e: f64) -> f64 {
    (8.0 * (c - b) - (d - a)) / (12.0 * e)
}

/// Kinematics and mass matrices at the points of the drift that are linearised, shared by all trees.
#[derive(Debug, Clone, Default)]
pub struct Points {
    at: Vec<Option<Kinematics>>,
    /// Where each part begins, and where the last ends.
    masses: Vec<MassMatrix>,
    /// Scratch: a state of all trees.
    q: Vec<f64>,
    v: Vec<f64>,
}

impl Points {
    /// Puts a tree at a state, given over its own coordinates and dofs.
    fn put(&mut self, k: usize, t: usize, begin: &Kinematics, (q, v): (&[f64], &[f64])) -> &mut Kinematics {
        if self.at.len() <= k {
            self.at.resize(k + 1, None);
        }
        self.q.resize(begin.configuration().len(), 0.0);
        self.v.resize(begin.system().velocity_size(), 0.0);
        let tree = &begin.system().trees()[t];
        self.q[tree.coordinates.clone()].copy_from_slice(q);
        self.v[tree.dofs.clone()].copy_from_slice(v);
        let at = self.at[k].get_or_insert_with(|| begin.clone());
        at.update_tree(t, &self.q, &self.v);
        at
    }

    /// Memory that they hold, roughly.
    pub fn bytes(&self) -> usize {
        let body = size_of::<super::kinematics::State>() + 4 * size_of::<super::spatial::Spatial>();
        let bodies = self.at.iter().flatten().map(|k| k.states.len()).sum::<usize>();
        bodies * body + self.masses.iter().map(MassMatrix::bytes).sum::<usize>()
    }

    fn of(&self, k: usize) -> &Kinematics {
        match &self.at[k] {
            Some(kinematics) => kinematics,
            None => unreachable!("points are put before they are used"),
        }
    }
}

/// Places of the points of part `p` in [`Points`], the first being that of the surplus.
const SURPLUS: usize = 0;
const FULL: usize = 1;
const BEGIN: usize = 2;
const MIDDLE: usize = 3;
const THERE: usize = 4;
const END: usize = 5;

fn point(part: usize, which: usize) -> usize {
    5 * part + which
}

/// Derivatives of momenta, rates, mass and centre of a tree with one parameter, at one point.
#[derive(Debug, Clone, Default)]
struct With {
    p: Vec<f64>,
    g: Vec<f64>,
    mass: f64,
    center: Vector,
}

/// One part of a tree's drift.
#[derive(Debug, Clone)]
struct PartTangent {
    h: f64,
    /// Mean velocity, before the root's origin is moved about the centre of mass.
    mean: Vec<f64>,
    /// Of a root that translates: mass, velocity of the frame, motion of the root's origin about the centre of mass.
    mass: f64,
    frame: [f64; 3],
    moved: Vector,
    lever: Vector,
    /// By point and parameter.
    with: [Vec<With>; 6],
}

/// The derivative of the drift of one tree.
#[derive(Debug, Clone)]
pub struct TreeDrift {
    t: usize,
    n: usize,
    shifts: usize,
    turning: std::ops::Range<usize>,
    /// Whether `v'` differs from `v_theta`.
    surplus: bool,
    parts: Vec<PartTangent>,
}

/// Scratch of products.
#[derive(Default)]
struct Work {
    by: Variation,
    gradient: Covariation,
    dp: Vec<f64>,
    dg: Vec<f64>,
    xi: Vec<f64>,
    dv: Vec<f64>,
}

/// Where a tree begins to drift.
pub struct Begin<'a> {
    /// Kinematics at the start.
    pub kinematics: &'a Kinematics,
    /// Mass matrix there.
    pub mass: &'a MassMatrix,
    /// Length of the step, s.
    pub h: f64,
    /// Number of parts that the step is made of.
    pub parts: usize,
    /// `v_theta` over the tree's dofs.
    pub theta: &'a [f64],
    /// `v'` over the tree's dofs.
    pub after: &'a [f64],
    /// The mean velocity, if it is known.
    pub drift: Option<&'a Drift>,
}

impl TreeDrift {
    /// Linearises the drift of a tree; `None` if its mean velocity is not found or a mass matrix is singular.
    pub fn new(points: &mut Points, t: usize, from: &Begin<'_>, parameters: &[Stencil<'_>]) -> Option<Self> {
        let begin = from.kinematics;
        let system = begin.system().clone();
        let tree = &system.model.trees[t];
        let root = &system.model.bodies[tree.bodies.start];
        let n = tree.dofs.len();
        // as in `Drift::begin`
        let driven = root.dofs().any(|i| system.model.armature[i] > 0.0);
        let shifts = if driven { 0 } else { root.joint.shifts() };
        let mut others: Vec<([Kinematics; 4], f64)> =
            parameters.iter().map(|(s, e)| (s.each_ref().map(Kinematics::new), *e)).collect();
        let mut with = |q: &[f64], v: &[f64]| -> Vec<With> {
            others.iter_mut().map(|(others, e)| With::new(others, *e, t, (q, v))).collect()
        };
        let mut q = begin.configuration()[tree.coordinates.clone()].to_vec();
        let mut v = from.theta.to_vec();
        let extra: Vec<f64> = from.after.iter().zip(from.theta).map(|(a, b)| a - b).collect();
        let surplus = extra.iter().any(|x| *x != 0.0);
        let mut out =
            Self { t, n, shifts, turning: shifts..root.joint.velocity_size(), surplus, parts: vec![] };
        let (mut first_with, mut more) = (vec![], vec![0.0; n]);
        if surplus {
            points.put(SURPLUS, t, begin, (&q, &extra));
            from.mass.multiply_tree(t, &extra, &mut more);
            first_with = with(&q, &extra);
        }
        if points.masses.is_empty() {
            points.masses.push(from.mass.clone());
        }
        let h = from.h / from.parts as f64;
        for k in 0..from.parts {
            let last = k + 1 == from.parts;
            let mut part = PartTangent {
                h,
                mean: vec![],
                mass: 0.0,
                frame: [0.0; 3],
                moved: [0.0; 3],
                lever: [0.0; 3],
                with: Default::default(),
            };
            if k == 0 {
                part.with[SURPLUS] = std::mem::take(&mut first_with);
            }
            let mut end = vec![0.0; n];
            points.masses[k].multiply_tree(t, &v, &mut end);
            let mut relative = v.clone();
            if shifts > 0 {
                let full = points.put(point(k, FULL), t, begin, (&q, &v));
                part.mass = full.center_of_tree(t).0;
                for i in 0..shifts {
                    part.frame[i] = end[i] / part.mass;
                    relative[i] -= part.frame[i];
                }
                part.with[FULL] = with(&q, &v);
                points.masses[k].multiply_tree(t, &relative, &mut end);
            }
            let center = points.put(point(k, BEGIN), t, begin, (&q, &relative)).center_of_tree(t).1;
            part.with[BEGIN] = with(&q, &relative);
            // the drift of one part has its mean velocity at hand
            let moves = from.theta.iter().any(|v| (from.h * v).abs() > SLOW);
            let known = from.drift.filter(|_| from.parts == 1 && shifts == 0 && moves);
            let mut u = known.map_or(relative, |drift| drift.mean(t).to_vec());
            let mut middle = q.clone();
            let g = out.mean(points, (k, h, begin), (&q, &end), &mut u, &mut middle)?;
            part.with[MIDDLE] = with(&middle, &u);
            let mut next = q.clone();
            advance(&system, t, &q, &u, h, &mut next);
            (0..n).for_each(|i| end[i] += h * g[i] + if last { more[i] } else { 0.0 });
            part.mean = u.clone();
            if shifts > 0 {
                let there = points.put(point(k, THERE), t, begin, (&next, &u));
                part.with[THERE] = with(&next, &u);
                part.moved = sub(center, there.center_of_tree(t).1);
                let columns = &there.columns[tree.dofs.clone()];
                for i in 0..shifts {
                    u[i] = part.frame[i] + dot(columns[i].linear, part.moved) / h;
                    if last {
                        part.lever = add(part.lever, scale(more[i], columns[i].linear));
                    }
                }
                for i in out.turning.clone() {
                    end[i] -= dot(columns[i].angular, cross(part.moved, part.lever));
                }
                advance(&system, t, &q, &u, h, &mut next);
            }
            q = next;
            if points.masses.len() <= k + 1 {
                points.masses.push(from.mass.clone());
            }
            points.put(point(k, END), t, begin, (&q, &end));
            let Points { at, masses, v: all, .. } = points;
            let there = at[point(k, END)].as_mut()?;
            masses[k + 1].update_tree(t, there).ok()?;
            masses[k + 1].solve_tree(t, &mut end);
            all[tree.dofs.clone()].copy_from_slice(&end);
            there.set_velocity(t, all);
            part.with[END] = with(&q, &end);
            v = end;
            (0..shifts).for_each(|i| v[i] += part.frame[i]);
            out.parts.push(part);
        }
        Some(out)
    }

    /// Finds the mean velocity from a guess, as the drift does, and leaves the middle there; returns the rates `g`.
    fn mean(
        &self,
        points: &mut Points,
        (k, h, begin): (usize, f64, &Kinematics),
        (q, end): (&[f64], &[f64]),
        u: &mut [f64],
        middle: &mut [f64],
    ) -> Option<Vec<f64>> {
        let t = self.t;
        let system = begin.system().clone();
        let dofs = system.trees()[t].dofs.clone();
        let total = system.velocity_size();
        let (mut p, mut g, mut last) = (vec![0.0; total], vec![0.0; total], f64::INFINITY);
        let size = end.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for round in 0..ROUNDS {
            advance(&system, t, q, u, 0.5 * h, middle);
            points.put(point(k, MIDDLE), t, begin, (middle, u)).momenta(t, &mut p, &mut g);
            let mut far = 0.0f64;
            for (i, at) in dofs.clone().enumerate() {
                p[at] = end[i] + 0.5 * h * g[at] - p[at];
                far = far.max(p[at].abs());
            }
            let stalls = far >= last && far <= 1e-7 * size;
            if far <= NEAR * size || stalls {
                return Some(g[dofs].to_vec());
            }
            if !far.is_finite() || (far >= last && round > 2) {
                return None;
            }
            last = far;
            points.masses[k].solve_tree(t, &mut p[dofs.clone()]);
            u.iter_mut().zip(&p[dofs.clone()]).for_each(|(u, c)| *u += c);
        }
        None
    }

    /// The product with a tangent: `xi`, changes of `v_theta` and of `v'` over the dofs of the tree, or with parameter
    /// `k` (with zeros for the others); adds to `xi+` and the change of `v+`.
    pub fn times(
        &self,
        points: &Points,
        (xi, theta, after): (&[f64], &[f64], &[f64]),
        parameter: Option<usize>,
        (place, velocity): (&mut [f64], &mut [f64]),
    ) {
        let (n, t, work) = (self.n, self.t, &mut Work::default());
        let (mut dq, mut dv) = (xi.to_vec(), theta.to_vec());
        let system = points.of(point(0, BEGIN)).system();
        let columns = |k: usize| &points.of(k).columns[system.trees()[t].dofs.clone()];
        let mut dsurplus = vec![0.0; n];
        let extra: Vec<f64> = after.iter().zip(theta).map(|(a, b)| a - b).collect();
        if self.surplus {
            self.along(points.of(SURPLUS), (&dq, &extra), work);
            dsurplus.copy_from_slice(&work.dp);
            plus(&mut dsurplus, 1.0, self.parts[0].with(SURPLUS, parameter).map(|w| &w.p));
        } else {
            points.masses[0].multiply_tree(t, &extra, &mut dsurplus);
        }
        for (k, part) in self.parts.iter().enumerate() {
            let (h, last) = (part.h, k + 1 == self.parts.len());
            let with = |which: usize| part.with(which, parameter);
            let mut dframe = [0.0; 3];
            if self.shifts > 0 {
                self.along(points.of(point(k, FULL)), (&dq, &dv), work);
                for i in 0..self.shifts {
                    let own = with(FULL).map_or(0.0, |w| w.p[i] - part.frame[i] * w.mass);
                    dframe[i] = (work.dp[i] + own) / part.mass;
                    dv[i] -= dframe[i];
                }
            }
            let begin = points.of(point(k, BEGIN));
            self.along(begin, (&dq, &dv), work);
            let mut dend = work.dp.clone();
            plus(&mut dend, 1.0, with(BEGIN).map(|w| &w.p));
            let mut dmoved = [0.0; 3];
            if self.shifts > 0 {
                dmoved = begin.vary_center(t, &work.by);
                dmoved = with(BEGIN).map_or(dmoved, |w| add(dmoved, w.center));
            }

            // M(q_m) u - h/2 g(q_m, u) = M(q) v
            let middle = points.of(point(k, MIDDLE));
            let mut right = dend.clone();
            plus(&mut right, -1.0, with(MIDDLE).map(|w| &w.p));
            plus(&mut right, 0.5 * h, with(MIDDLE).map(|w| &w.g));
            let mut du = dv.clone();
            let mut dmiddle = vec![0.0; n];
            let mut change = vec![0.0; n];
            let mut least = f64::INFINITY;
            for _ in 0..ROUNDS {
                advance_times(system, t, &part.mean, 0.5 * h, (&dq, &du), &mut dmiddle);
                self.along(middle, (&dmiddle, &du), work);
                (0..n).for_each(|i| change[i] = right[i] - work.dp[i] + 0.5 * h * work.dg[i]);
                points.masses[k].solve_tree(t, &mut change);
                plus(&mut du, 1.0, Some(&change));
                let (far, size) = (largest(&change), largest(&du));
                if far <= SETTLED * size || far >= least {
                    break;
                }
                least = far;
            }
            plus(&mut dend, h, Some(&work.dg));
            plus(&mut dend, h, with(MIDDLE).map(|w| &w.g));
            let mut dnext = vec![0.0; n];
            advance_times(system, t, &part.mean, h, (&dq, &du), &mut dnext);
            if last {
                plus(&mut dend, 1.0, Some(&dsurplus));
            }
            if self.shifts > 0 {
                let there = points.of(point(k, THERE));
                there.vary_into(t, &dnext, &vec![0.0; n], &mut work.by);
                dmoved = sub(dmoved, there.vary_center(t, &work.by));
                dmoved = with(THERE).map_or(dmoved, |w| sub(dmoved, w.center));
                let (columns, mut dlever) = (columns(point(k, THERE)), [0.0; 3]);
                for i in 0..self.shifts {
                    let axis = columns[i].linear;
                    dnext[i] = dq[i] + h * dframe[i] + dot(axis, dmoved);
                    if last {
                        dlever = add(dlever, scale(dsurplus[i], axis));
                    }
                }
                for i in self.turning.clone() {
                    let turned = add(cross(dmoved, part.lever), cross(part.moved, dlever));
                    dend[i] -= dot(columns[i].angular, turned);
                }
            }
            dq = dnext;
            self.along(points.of(point(k, END)), (&dq, &vec![0.0; n]), work);
            plus(&mut dend, -1.0, Some(&work.dp));
            plus(&mut dend, -1.0, with(END).map(|w| &w.p));
            points.masses[k + 1].solve_tree(t, &mut dend);
            dv = dend;
            (0..self.shifts).for_each(|i| dv[i] += dframe[i]);
        }
        plus(place, 1.0, Some(&dq));
        plus(velocity, 1.0, Some(&dv));
    }

    /// The transposed product: adds the gradients with `xi`, `v_theta` and `v'` to those with `xi+` and `v+`.
    pub fn transpose_times(
        &self,
        points: &Points,
        (place, velocity): (&[f64], &[f64]),
        (xi, theta, after): (&mut [f64], &mut [f64], &mut [f64]),
    ) {
        let (n, t, work) = (self.n, self.t, &mut Work::default());
        let system = points.of(point(0, BEGIN)).system();
        let zero = vec![0.0; n];
        let (mut yq, mut yv) = (place.to_vec(), velocity.to_vec());
        let mut ysurplus = vec![0.0; n];
        for (k, part) in self.parts.iter().enumerate().rev() {
            let (h, last) = (part.h, k + 1 == self.parts.len());
            let mut yframe = [0.0; 3];
            (0..self.shifts).for_each(|i| yframe[i] = yv[i]);
            let mut yend = yv.clone();
            points.masses[k + 1].solve_tree(t, &mut yend);
            let back: Vec<f64> = yend.iter().map(|x| -x).collect();
            self.back(points.of(point(k, END)), (&back, None, None), work);
            plus(&mut yq, 1.0, Some(&work.xi));
            let mut yold = zero.clone();
            let mut ycenter = [0.0; 3];
            if self.shifts > 0 {
                let there = points.of(point(k, THERE));
                let columns = &there.columns[system.trees()[t].dofs.clone()];
                let mut ylever = [0.0; 3];
                for i in self.turning.clone() {
                    let axis = columns[i].angular;
                    ycenter = sub(ycenter, scale(yend[i], cross(part.lever, axis)));
                    ylever = sub(ylever, scale(yend[i], cross(axis, part.moved)));
                }
                for i in 0..self.shifts {
                    let axis = columns[i].linear;
                    yold[i] += yq[i];
                    yframe[i] += h * yq[i];
                    ycenter = add(ycenter, scale(yq[i], axis));
                    yq[i] = 0.0;
                    if last {
                        ysurplus[i] += dot(axis, ylever);
                    }
                }
                self.back(there, (&zero, None, Some(scale(-1.0, ycenter))), work);
                plus(&mut yq, 1.0, Some(&work.xi));
            }
            if last {
                plus(&mut ysurplus, 1.0, Some(&yend));
            }
            let mut yu = zero.clone();
            advance_transposed(system, t, &part.mean, h, &yq, (&mut yold, &mut yu));
            let middle = points.of(point(k, MIDDLE));
            let rate: Vec<f64> = yend.iter().map(|x| h * x).collect();
            self.back(middle, (&zero, Some(&rate), None), work);
            plus(&mut yu, 1.0, Some(&work.dv));
            let own = work.xi.clone();
            advance_transposed(system, t, &part.mean, 0.5 * h, &own, (&mut yold, &mut yu));
            // the transposed equation of the mean velocity
            let (mut z, mut change, mut least) = (zero.clone(), yu.clone(), f64::INFINITY);
            let mut place = zero.clone();
            for _ in 0..ROUNDS {
                points.masses[k].solve_tree(t, &mut change);
                plus(&mut z, 1.0, Some(&change));
                let (far, size) = (largest(&change), largest(&z));
                let half: Vec<f64> = z.iter().map(|x| -0.5 * h * x).collect();
                self.back(middle, (&z, Some(&half), None), work);
                place.copy_from_slice(&work.xi);
                if far <= SETTLED * size || far >= least {
                    break;
                }
                least = far;
                let mut met = work.dv.clone();
                let mut unused = zero.clone();
                advance_transposed(system, t, &part.mean, 0.5 * h, &place, (&mut unused, &mut met));
                (0..n).for_each(|i| change[i] = yu[i] - met[i]);
            }
            plus(&mut yend, 1.0, Some(&z));
            let down: Vec<f64> = place.iter().map(|x| -x).collect();
            let mut unused = zero.clone();
            advance_transposed(system, t, &part.mean, 0.5 * h, &down, (&mut yold, &mut unused));
            let center = (self.shifts > 0).then_some(ycenter);
            self.back(points.of(point(k, BEGIN)), (&yend, None, center), work);
            plus(&mut yold, 1.0, Some(&work.xi));
            yv.copy_from_slice(&work.dv);
            if self.shifts > 0 {
                let mut full = zero.clone();
                (0..self.shifts).for_each(|i| full[i] = (yframe[i] - yv[i]) / part.mass);
                self.back(points.of(point(k, FULL)), (&full, None, None), work);
                plus(&mut yold, 1.0, Some(&work.xi));
                plus(&mut yv, 1.0, Some(&work.dv));
            }
            yq = yold;
        }
        let mut yextra = zero;
        if self.surplus {
            self.back(points.of(SURPLUS), (&ysurplus, None, None), work);
            plus(&mut yq, 1.0, Some(&work.xi));
            yextra.copy_from_slice(&work.dv);
        } else {
            points.masses[0].multiply_tree(t, &ysurplus, &mut yextra);
        }
        plus(xi, 1.0, Some(&yq));
        plus(theta, 1.0, Some(&yv));
        plus(theta, -1.0, Some(&yextra));
        plus(after, 1.0, Some(&yextra));
    }

    /// Changes of momenta and rates along `xi` and `dv`, in `work`.
    fn along(&self, at: &Kinematics, (xi, dv): (&[f64], &[f64]), work: &mut Work) {
        at.vary_into(self.t, xi, dv, &mut work.by);
        work.dp.resize(self.n, 0.0);
        work.dg.resize(self.n, 0.0);
        at.vary_momenta(self.t, &work.by, &mut work.dp, &mut work.dg);
        for (p, (armature, v)) in work.dp.iter_mut().zip(self.armature(at).iter().zip(dv)) {
            *p += armature * v;
        }
    }

    /// Gradients with `xi` and `dv` of `yp . p + yg . g + yc . c`, in `work`.
    fn back(&self, at: &Kinematics, (yp, yg, yc): (&[f64], Option<&[f64]>, Option<Vector>), work: &mut Work) {
        work.gradient.clear(at, self.t);
        at.momenta_transposed(self.t, yp, yg, &mut work.gradient);
        if let Some(yc) = yc {
            at.center_transposed(self.t, yc, &mut work.gradient);
        }
        for list in [&mut work.xi, &mut work.dv] {
            list.clear();
            list.resize(self.n, 0.0);
        }
        at.vary_transposed(self.t, &mut work.gradient, &mut work.xi, &mut work.dv);
        for (v, (armature, y)) in work.dv.iter_mut().zip(self.armature(at).iter().zip(yp)) {
            *v += armature * y;
        }
    }

    fn armature<'a>(&self, at: &'a Kinematics) -> &'a [f64] {
        let model = &*at.system.model;
        &model.armature[model.trees[self.t].dofs.clone()]
    }
}

impl PartTangent {
    fn with(&self, which: usize, parameter: Option<usize>) -> Option<&With> {
        parameter.map(|k| &self.with[which][k])
    }
}

impl With {
    fn new(others: &mut [Kinematics; 4], e: f64, t: usize, (q, v): (&[f64], &[f64])) -> Self {
        let tree = others[0].system().trees()[t].clone();
        let values = others.each_mut().map(|k| {
            let (mut all_q, mut all_v) = k.at.clone();
            all_q[tree.coordinates.clone()].copy_from_slice(q);
            all_v[tree.dofs.clone()].copy_from_slice(v);
            k.update_tree(t, &all_q, &all_v);
            let (mut p, mut g) = (all_v.clone(), all_v);
            k.momenta(t, &mut p, &mut g);
            let (mass, center) = k.center_of_tree(t);
            (p[tree.dofs.clone()].to_vec(), g[tree.dofs.clone()].to_vec(), mass, center)
        });
        let n = tree.dofs.len();
        Self {
            p: (0..n).map(|i| combine(values.each_ref().map(|x| x.0[i]), e)).collect(),
            g: (0..n).map(|i| combine(values.each_ref().map(|x| x.1[i]), e)).collect(),
            mass: combine(values.each_ref().map(|x| x.2), e),
            center: std::array::from_fn(|i| combine(values.each_ref().map(|x| x.3[i]), e)),
        }
    }
}

/// `y += s x`, if there is an `x`.
fn plus(y: &mut [f64], s: f64, x: Option<&Vec<f64>>) {
    if let Some(x) = x {
        y.iter_mut().zip(x).for_each(|(y, x)| *y += s * x);
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

/// Advances one tree, `q+ = q + h G v`, over its own coordinates and dofs.
fn advance(system: &System, t: usize, q: &[f64], v: &[f64], h: f64, out: &mut [f64]) {
    let tree = &system.model.trees[t];
    for body in &system.model.bodies[tree.bodies.clone()] {
        let own = body.q - tree.coordinates.start..;
        let own = own.start..own.start + body.joint.configuration_size();
        let dofs = body.v - tree.dofs.start..body.v - tree.dofs.start + body.joint.velocity_size();
        body.joint.advance(&body.mount, &q[own.clone()], &v[dofs], h, &mut out[own]);
    }
}
