//! Convergence of runs with the step length: errors against the finest, orders, and how nearly the interpolants of
//! pang2005 section 5.1 (states linear, forces constant within a step) are a weak solution (Definition 2).
//!
//! - (a) state equations: the largest over all times of what `v(t) - v(0)` and the integral of `M^-1 (f + J' lambda)`
//!   differ by, and the same of q and delta; integrals by the trapezoidal rule between steps.
//! - (b) normal condition: the largest penetration `-(psi + delta_n)`, and the integral of `lambda_n (psi + delta_n)`.
//! - (c) friction, with `sigma = C^-1 (lambda - K delta)_t + J_t v` (the printed form lacks the parentheses; a rigid
//!   contact has the second term alone): the worst test function gives the integral of
//!   `lambda_t . sigma + mu lambda_n |sigma|`, which is not negative and 0 for a solution.
//! - bounds: (24) holds with the measured `psi_x`; (25) and (26) bound states and forces by it.

use super::separation;
use crate::contact::set::Contact;
use crate::formulation::relative_row;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::motion::applied_force;
use crate::scene::{Scene, Scheme};
use crate::state::{ContactId, RowId, State};
use crate::step::{Failed, Workspace};
use crate::stepper::Stepper;
use complementarity::matrix::{Matrix, norm};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Errors of a run against the reference, the largest over the common times.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Errors {
    /// Of the configuration, m and rad.
    pub position: f64,
    /// Of the velocities, m/s and rad/s.
    pub velocity: f64,
    /// Of the generalised impulse of contact forces, N s and N m s; not a number where the reference has none.
    pub impulse: f64,
}

/// How nearly a run is a weak solution.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weak {
    /// Defect of the state equations of v, m/s and rad/s.
    pub dynamics: f64,
    /// Of q, m and rad.
    pub kinematics: f64,
    /// Of delta, m.
    pub deformation: f64,
    /// Largest penetration, m.
    pub penetration: f64,
    /// Integral of `|lambda_n (psi + delta_n)|`, N m s.
    pub complementarity: f64,
    /// Integral of `lambda_t . sigma + mu lambda_n |sigma|`, J.
    pub friction: f64,
    /// Smallest `psi_x` with (24): `|x+ - x| <= h psi_x (1 + |x|)`, 1/s.
    pub growth: f64,
    /// Largest of `|x|` over the bound (25); at most 1.
    pub state_bound: f64,
    /// Largest force of an element, N.
    pub force: f64,
    /// Largest of `|lambda|` over `1 + |x|`: `eta_lambda` of Lemma 5, as far as the run shows it.
    pub force_ratio: f64,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Explicit share.
    pub theta: f64,
    /// Step length, s.
    pub h: f64,
    /// Errors; `None` for the finest, where it is the reference.
    pub errors: Option<Errors>,
    /// Conditions of a weak solution.
    pub weak: Weak,
    /// Contact problems whose steps were cut, and the largest relative residual of a step.
    pub residual: f64,
}

/// A convergence study.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Study {
    /// The runs, share by share, from long steps to short ones.
    pub levels: Vec<Level>,
    /// For each share: orders in q, v and impulse, fitted by least squares; not a number where errors vanish.
    pub orders: Vec<(f64, [f64; 3])>,
}

/// Runs a scene with every step length and explicit share; the shortest step of each share is its reference.
///
/// # Errors
/// A scene that does not compile at a step length or share, or a step that failed, in words.
pub fn converge(scene: &Scene, steps: &[f64], thetas: &[f64]) -> Result<Study, String> {
    converge_against(scene, steps, thetas, None)
}

/// The same with another scheme as the reference, whose results are at the shortest step.
///
/// # Errors
/// As for [`converge`]; also where the scheme does not know something of the scene.
pub fn converge_against(
    scene: &Scene,
    steps: &[f64],
    thetas: &[f64],
    reference: Option<Scheme>,
) -> Result<Study, String> {
    let mut steps = steps.to_vec();
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.dedup();
    let named = match (reference, steps.last()) {
        (Some(scheme), Some(&h)) => Some(Run::reference(scene, scheme, h)?),
        _ => None,
    };
    let mut study = Study::default();
    for &theta in thetas {
        let mut runs = vec![];
        for &h in &steps {
            let mut scene = scene.clone();
            (scene.step.h, scene.step.explicit_share) = (h, theta);
            // records have nothing to do with it
            scene.record.interval = None;
            let model = Model::new(&scene).map_err(|faults| {
                let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
                format!("theta = {theta}, h = {h}: {}", lines.join("; "))
            })?;
            let run = Run::new(&Arc::new(model)).map_err(|e| format!("theta = {theta}, h = {h}: {e}"))?;
            runs.push((h, run));
        }
        let Some((finest, others)) = runs.split_last() else {
            return Err("expected at least one step length".to_owned());
        };
        let (reference, others) = match &named {
            Some(run) => (run, &runs[..]),
            None => (&finest.1, others),
        };
        let mut fits: [Vec<[f64; 2]>; 3] = Default::default();
        for (h, run) in others {
            let errors = run.against(reference);
            for (fit, e) in fits.iter_mut().zip([errors.position, errors.velocity, errors.impulse]) {
                if e > 0.0 {
                    fit.push([h.ln(), e.ln()]);
                }
            }
            let (weak, residual) = (run.weak, run.residual);
            study.levels.push(Level { theta, h: *h, errors: Some(errors), weak, residual });
        }
        if named.is_none() {
            let (h, Run { weak, residual, .. }) = finest;
            study.levels.push(Level { theta, h: *h, errors: None, weak: *weak, residual: *residual });
        }
        study.orders.push((theta, fits.map(|points| slope(&points))));
    }
    Ok(study)
}

/// Slope of a line through points, by least squares.
fn slope(points: &[[f64; 2]]) -> f64 {
    let n = points.len() as f64;
    if points.len() < 2 {
        return f64::NAN;
    }
    let mean = |k: usize| points.iter().map(|p| p[k]).sum::<f64>() / n;
    let (x, y) = (mean(0), mean(1));
    let both: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    both / points.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>()
}

/// A trajectory and what was measured along it.
struct Run {
    model: Arc<Model>,
    states: Vec<State>,
    /// Generalised impulse up to each state.
    impulses: Vec<Vec<f64>>,
    weak: Weak,
    residual: f64,
}

/// What one step leaves for the next, to close integrals at its end.
struct Open {
    h: f64,
    /// Force, rows and deformations of each contact.
    contacts: BTreeMap<ContactId, Pressed>,
    /// `M^-1 (f + J' lambda)` at the start.
    acceleration: Vec<f64>,
    velocity: Vec<f64>,
}

/// A contact under force.
struct Pressed {
    lambda: Vec<f64>,
    rows: Vec<Vec<f64>>,
    /// `psi + delta_n` at the start, of each element.
    gap: Vec<f64>,
    delta: [Vec<f64>; 2],
    friction: f64,
    rule: usize,
    count: usize,
}

impl Run {
    /// The states of another scheme, at times `h` apart.
    fn reference(scene: &Scene, scheme: Scheme, h: f64) -> Result<Self, String> {
        let mut scene = scene.clone();
        (scene.step.h, scene.step.explicit_share, scene.step.scheme) = (h, 0.0, scheme);
        scene.record.interval = None;
        let model = Model::new(&scene).map_err(|faults| {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            format!("reference: {}", lines.join("; "))
        })?;
        let model = Arc::new(model);
        let (mut stepper, mut state) = (Stepper::of(model.clone()), model.initial());
        let mut states = vec![state.clone()];
        for _ in 0..model.scene().step.count() {
            let _ = stepper.step(&mut state).map_err(|e| format!("reference: {e}"))?;
            states.push(state.clone());
        }
        Ok(Self { model, states, impulses: vec![], weak: Weak::default(), residual: 0.0 })
    }

    fn new(model: &Arc<Model>) -> Result<Self, Failed> {
        let mut stepper = Stepper::of(model.clone());
        let mut state = model.initial();
        let n = model.system().velocity_size();
        let count = model.scene().step.count();
        let mut run = Self {
            model: model.clone(),
            states: vec![state.clone()],
            impulses: vec![vec![0.0; n]],
            weak: Weak::default(),
            residual: 0.0,
        };
        let (mut open, mut defects) =
            (None, Defects { dynamics: vec![0.0; n], kinematics: vec![0.0; n], ..Defects::default() });
        for _ in 0..count {
            let before = state.clone();
            let report = stepper.step(&mut state)?;
            run.residual = run.residual.max(report.residual.relative);
            let now = Open::new(model, stepper.workspace(), &before, &state);
            if let Some(last) = open.take() {
                run.close(&last, Some((&now, stepper.workspace())), &before, &mut defects);
            }
            let mut impulse = run.impulses.last().cloned().unwrap_or_default();
            for pressed in now.contacts.values() {
                for (l, row) in pressed.lambda.iter().zip(&pressed.rows) {
                    impulse.iter_mut().zip(row).for_each(|(p, j)| *p += now.h * l * j);
                }
                run.weak.force = pressed.lambda.iter().fold(run.weak.force, |m, l| m.max(l.abs()));
            }
            run.impulses.push(impulse);
            run.bounds(&before, &state, &now);
            run.states.push(state.clone());
            open = Some(now);
        }
        if let Some(last) = open {
            run.close(&last, None, &state, &mut defects);
        }
        let total = count as f64 * model.scene().step.h;
        run.bound_states(total);
        Ok(run)
    }

    /// (24): the constant that a step needs; (26) likewise.
    fn bounds(&mut self, before: &State, after: &State, now: &Open) {
        let size = length(before);
        let mut moved = separation(&self.model, after, before);
        moved.extend(
            now.contacts.values().flat_map(|p| p.delta[1].iter().zip(&p.delta[0]).map(|(a, b)| a - b)),
        );
        self.weak.growth = self.weak.growth.max(norm(&moved) / (now.h * (1.0 + size)));
        let force: f64 = now.contacts.values().flat_map(|p| &p.lambda).map(|l| l * l).sum::<f64>().sqrt();
        self.weak.force_ratio = self.weak.force_ratio.max(force / (1.0 + size));
    }

    /// (25): `|x| <= e^(T psi) (1 + |x0|) - 1`.
    fn bound_states(&mut self, total: f64) {
        let first = self.states.first().map_or(0.0, length);
        let bound = (total * self.weak.growth).exp() * (1.0 + first) - 1.0;
        let most = self.states.iter().map(length).fold(0.0, f64::max);
        self.weak.state_bound = if bound > 0.0 { most / bound } else { 0.0 };
    }

    /// Closes the integrals of a step at its end, the state `after`, with the rows that the next step found there.
    fn close(&mut self, last: &Open, next: Option<(&Open, &Workspace)>, after: &State, sums: &mut Defects) {
        let (h, model) = (last.h, self.model.clone());
        let n = model.system().velocity_size();
        let Some(before) = self.states.iter().rev().nth(1).or(self.states.first()) else { return };
        // M^-1 (f + J' lambda) at the end, with the force of the step
        let end = next.map(|(now, work)| {
            let mut f = free_force(&model, work, after);
            for (id, pressed) in &last.contacts {
                let rows = now.contacts.get(id).map_or(&pressed.rows, |p| &p.rows);
                for (l, row) in pressed.lambda.iter().zip(rows) {
                    f.iter_mut().zip(row).for_each(|(f, j)| *f += l * j);
                }
            }
            work.motion.mass.solve(&mut f);
            f
        });
        let end = end.as_ref().unwrap_or(&last.acceleration);
        let moved = separation(&model, after, before);
        for i in 0..n {
            sums.dynamics[i] += moved[n + i] - 0.5 * h * (last.acceleration[i] + end[i]);
            sums.kinematics[i] += moved[i] - 0.5 * h * (last.velocity[i] + after.velocity[i]);
        }
        let most = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        self.weak.dynamics = self.weak.dynamics.max(most(&sums.dynamics));
        self.weak.kinematics = self.weak.kinematics.max(most(&sums.kinematics));
        let linear = model.contacts().linear_rows();
        for (id, pressed) in &last.contacts {
            let ended = next.and_then(|(now, _)| now.contacts.get(id));
            let per = pressed.lambda.len() / pressed.count.max(1);
            for k in 0..pressed.count {
                let gap = [pressed.gap[k], ended.map_or(pressed.gap[k], |p| p.gap[k])];
                self.weak.penetration = gap.iter().fold(self.weak.penetration, |m, g| m.max(-g));
                let mean = 0.5 * (gap[0] + gap[1]);
                self.weak.complementarity += h * (pressed.lambda[per * k] * mean).abs();
            }
            self.contact_defects(pressed, h, [&last.velocity, &after.velocity], linear, sums);
        }
    }

    /// Defects of delta and friction of one contact over a step.
    fn contact_defects(
        &mut self,
        p: &Pressed,
        h: f64,
        velocities: [&[f64]; 2],
        linear: usize,
        sums: &mut Defects,
    ) {
        let law = self.model.contacts().rules()[p.rule].compliance.as_ref().filter(|law| !law.varies());
        let per = p.lambda.len() / p.count.max(1);
        let pressed: Vec<f64> = p.lambda.chunks(per).flat_map(|f| f[..linear.min(per)].to_vec()).collect();
        // C^-1 (lambda - K delta) at both ends
        let rates = [0, 1].map(|end| {
            let Some(law) = law else { return vec![0.0; pressed.len()] };
            let mut force = vec![0.0; pressed.len()];
            law.stiffness_times(&p.delta[end], &mut force);
            let rest = Matrix::from_fn(force.len(), 1, |i, _| pressed[i] - force[i]);
            law.patch().damping().solve(&rest).map_or_else(|| vec![0.0; force.len()], |x| x.data().to_vec())
        });
        if law.is_some() {
            let off = (0..pressed.len())
                .map(|i| p.delta[1][i] - p.delta[0][i] - 0.5 * h * (rates[0][i] + rates[1][i]));
            sums.deformation += off.fold(0.0f64, |m, x| m.max(x.abs()));
            self.weak.deformation = self.weak.deformation.max(sums.deformation);
        }
        for k in 0..p.count {
            for end in 0..2 {
                let sigma: Vec<f64> = (1..linear.min(per))
                    .map(|i| {
                        let row = &p.rows[per * k + i];
                        let slip: f64 = row.iter().zip(velocities[end]).map(|(j, v)| j * v).sum();
                        slip + rates[end][linear * k + i]
                    })
                    .collect();
                let tangential = &p.lambda[per * k + 1..][..sigma.len()];
                let power: f64 = tangential.iter().zip(&sigma).map(|(l, s)| l * s).sum();
                let worst = power + p.friction * p.lambda[per * k] * norm(&sigma);
                self.weak.friction += 0.5 * h * worst.max(0.0);
            }
        }
    }

    /// Errors against another run, at its own times.
    fn against(&self, other: &Self) -> Errors {
        let n = self.model.system().velocity_size();
        let mut out = Errors::default();
        let mut k = 0;
        for (state, impulse) in self.states.iter().zip(&self.impulses) {
            while k + 2 < other.states.len() && other.states[k + 1].time < state.time {
                k += 1;
            }
            let (a, b) = (&other.states[k], &other.states[(k + 1).min(other.states.len() - 1)]);
            let share = if b.time > a.time {
                ((state.time - a.time) / (b.time - a.time)).clamp(0.0, 1.0)
            } else {
                0.0
            };
            // linear between two states of the reference
            let to_a = separation(&self.model, state, a);
            let step = separation(&self.model, b, a);
            let off: Vec<f64> = to_a.iter().zip(&step).map(|(x, s)| x - share * s).collect();
            out.position = out.position.max(norm(&off[..n]));
            out.velocity = out.velocity.max(norm(&off[n..]));
            if let (Some(p), Some(q)) =
                (other.impulses.get(k), other.impulses.get(k + 1).or(other.impulses.last()))
            {
                let pushed: Vec<f64> = (0..n).map(|i| impulse[i] - p[i] - share * (q[i] - p[i])).collect();
                out.impulse = out.impulse.max(norm(&pushed));
            }
        }
        if other.impulses.is_empty() {
            out.impulse = f64::NAN;
        }
        out
    }
}

/// Sums of defects up to a time.
#[derive(Default)]
struct Defects {
    dynamics: Vec<f64>,
    kinematics: Vec<f64>,
    deformation: f64,
}

impl Open {
    fn new(model: &Model, work: &Workspace, before: &State, after: &State) -> Self {
        let mut contacts = BTreeMap::new();
        let mut f = free_force(model, work, before);
        for c in &work.contacts.contacts {
            let pressed = Pressed::new(model, work, c, after);
            for (l, row) in pressed.lambda.iter().zip(&pressed.rows) {
                f.iter_mut().zip(row).for_each(|(f, j)| *f += l * j);
            }
            contacts.insert(c.id, pressed);
        }
        // standing rows: J' lambda = M H^-1 W' lambda
        let (problem, mass) = (&work.problem, &work.motion.mass);
        let (mut pushed, mut force) = (vec![0.0; f.len()], vec![0.0; f.len()]);
        for k in work.contacts.elements.len()..problem.elements.len() {
            problem.factors().push(k, &work.forces.lambda[problem.rows_of(k)], &mut pushed);
        }
        mass.trees().for_each(|(t, dofs)| mass.solve_root(t, &mut pushed[dofs]));
        mass.multiply(&pushed, &mut force);
        f.iter_mut().zip(&force).for_each(|(f, x)| *f += x);
        work.motion.mass.solve(&mut f);
        Self { h: work.motion.h, contacts, acceleration: f, velocity: before.velocity.clone() }
    }
}

impl Pressed {
    fn new(model: &Model, work: &Workspace, c: &Contact, after: &State) -> Self {
        let (problem, n) = (&work.problem, model.system().velocity_size());
        let (rule, linear) = (&model.contacts().rules()[c.rule], problem.linear_rows);
        let axes = [c.frame.n, c.frame.t, c.frame.o];
        let mut rows = vec![];
        for k in c.elements() {
            let point = work.contacts.elements[k].point;
            for i in 0..rule.rows {
                let mut row = vec![0.0; n];
                relative_row(&work.motion.kinematics, c, point, (axes[i % 3], i >= 3), &mut row);
                rows.push(row);
            }
        }
        let own = linear * c.first..linear * (c.first + c.count);
        let before = problem.deformation[own].to_vec();
        let later = after.memory.find(RowId::Contact(c.id)).map(|m| m.deformations.to_vec());
        let later = later.filter(|d| d.len() == before.len()).unwrap_or_else(|| before.clone());
        let gap =
            c.elements().map(|k| work.contacts.elements[k].gap + problem.deformation[linear * k]).collect();
        Self {
            lambda: work.forces.lambda[problem.rows_of_contact(c)].to_vec(),
            rows,
            gap,
            delta: [before, later],
            friction: rule.friction,
            rule: c.rule,
            count: c.count,
        }
    }
}

/// Applied forces with velocity products, at the start of the step in a workspace.
fn free_force(model: &Model, work: &Workspace, at: &State) -> Vec<f64> {
    let n = model.system().velocity_size();
    let (mut f, mut products) = (vec![0.0; n], vec![0.0; n]);
    let mut kinematics = work.motion.kinematics.clone();
    kinematics.go_to(&at.position, &at.velocity);
    applied_force(model, &Inputs::default(), &mut kinematics, at.time, &mut f);
    kinematics.bias([0.0; 3], &mut products);
    f.iter_mut().zip(&products).for_each(|(f, p)| *f += p);
    f
}

/// Size of a state: coordinates, velocities and deformations.
fn length(state: &State) -> f64 {
    let deformed = state.memory.iter().flat_map(|m| m.deformations).map(|d| d * d).sum::<f64>();
    let others: f64 = state.position.iter().chain(&state.velocity).map(|x| x * x).sum();
    (deformed + others).sqrt()
}
