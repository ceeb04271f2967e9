//! From the values of a step to its derivative.

use super::Parameters;
use super::derivative::{Column, Group, Island, NotDifferentiable, Note, Part};
use super::forces::{Directions, forces};
use super::linear::{Factor, Sparse};
use crate::dynamics::{Joint, Kinematics, Stencil, Variation, advance_derivative, drift_derivative};
use crate::geometry;
use crate::inputs::Inputs;
use crate::model::{Model, StandingKind, StandingRow};
use crate::scene::{ForceTime, GapLevel, Scheme};
use crate::state::State;
use crate::step::Workspace;
use complementarity::element::{ElementTangent, Status};
use complementarity::matrix::Matrix;
use complementarity::problem::Element;

/// Compliance, as a share of the mean diagonal of `A`, that stands for none where forces are not unique.
const EQUAL: f64 = 1e-8;

/// A loaded element: its rows among those of the derivative, and its unknowns.
pub(super) struct Active {
    pub element: usize,
    pub rows: usize,
    pub first: usize,
    pub unknowns: std::ops::Range<usize>,
    pub tangent: ElementTangent,
}

/// What the parts of the assembly share.
pub(super) struct Step<'a> {
    pub model: &'a Model,
    pub before: &'a State,
    pub work: &'a Workspace,
    /// Kinematics at the start, with the velocities `v_theta`.
    pub middle: Kinematics,
    pub directions: Directions,
    /// `v'`, and `v_theta`.
    pub after: Vec<f64>,
    pub theta: Vec<f64>,
}

/// What of a model derivatives do not know: schemes other than the theta rule, rows that are no rigid limits or friction of joints, screws, surfaces
/// that move by themselves.
fn unknown(model: &Model) -> Option<String> {
    let scene = model.scene();
    if scene.step.scheme != Scheme::Theta {
        return Some("schemes other than \"theta\"".to_owned());
    }
    if model.contacts().is_auto() {
        return Some("law = \"auto\"".to_owned());
    }
    let known = |row: &&StandingRow| {
        row.compliance.is_none() && (row.is_limit() || matches!(row.kind, StandingKind::Friction(_)))
    };
    let row = model.standing().iter().find(|row| !known(row)).map(|row| row.name(scene));
    let screw =
        scene.bodies.iter().find(|b| matches!(b.link.joint, Joint::Screw { .. }) || b.surface.is_some());
    let moving = scene.world.iter().find(|w| w.motion.is_some() || w.surface.is_some());
    row.or_else(|| screw.map(|b| b.name.clone())).or_else(|| moving.map(|w| w.name.clone()))
}

/// The derivative of the step (part) that a workspace holds, which began at `before`.
pub(crate) fn linearise(
    model: &Model,
    before: &State,
    inputs: &Inputs,
    work: &Workspace,
    parameters: &Parameters,
) -> Result<Part, NotDifferentiable> {
    let (motion, problem, time) = (&work.motion, &work.problem, before.time);
    if let Some(what) = unknown(model) {
        return Err(NotDifferentiable::Unknown { what });
    }
    if work.bounced() {
        return Err(NotDifferentiable::Impact { time });
    }
    let mut after = motion.free.clone();
    if !problem.is_empty() {
        problem.push(&motion.mass, &work.forces.lambda, &mut vec![], &mut after);
    }
    let explicit = problem.theta;
    let theta: Vec<f64> =
        motion.velocity.iter().zip(&after).map(|(v, a)| explicit * v + (1.0 - explicit) * a).collect();
    let mut middle = motion.kinematics.clone();
    middle.go_to(&before.position, &theta);
    let directions = Directions::new(&middle);
    let step = Step { model, before, work, middle, directions, after, theta };
    let n = model.system().velocity_size();
    let mut part = Part { n, h: motion.h, theta: explicit, ..Part::default() };
    let joined = step.momentum(&mut part, inputs);
    let active = step.elements(&mut part)?;
    step.memory(&mut part, &active);
    step.groups(&mut part, &joined)?;
    step.islands(&mut part, &active);
    step.drift(&mut part, parameters).ok_or(NotDifferentiable::Singular { time })?;
    for (k, parameter) in parameters.list.iter().enumerate() {
        step.parameter(&mut part, &active, parameter, k, inputs);
    }
    if parameters.duration {
        let column = step.duration(&mut part, &active);
        part.parameters.push(column);
    }
    Ok(part)
}

impl Step<'_> {
    fn note(&self, part: &mut Part, name: String, choice: &'static str) {
        part.notes.push(Note { time: self.before.time, name, choice });
    }

    /// `M`, and `d(h f - M a)`; returns the trees that springs connect.
    fn momentum(&self, part: &mut Part, inputs: &Inputs) -> Vec<[usize; 2]> {
        let (motion, system) = (&self.work.motion, self.model.system());
        let h = motion.h;
        let change: Vec<f64> = self.after.iter().zip(&motion.velocity).map(|(a, v)| a - v).collect();
        let mut scratch = self.middle.clone();
        let pushed = &mut scratch;
        pushed.go_to(&self.before.position, &change);
        let mut by = Variation::default();
        for (t, tree) in system.trees().iter().enumerate() {
            let n = tree.dofs.len();
            let (mut dp, mut dg) = (vec![0.0; n], vec![0.0; n]);
            let (mut unit, zero) = (vec![0.0; n], vec![0.0; n]);
            for j in 0..n {
                unit[j] = 1.0;
                pushed.vary_into(t, &unit, &zero, &mut by);
                unit[j] = 0.0;
                pushed.vary_momenta(t, &by, &mut dp, &mut dg);
                for i in 0..n {
                    part.force_q.add(tree.dofs.start + i, tree.dofs.start + j, -dp[i]);
                    let entry = motion.mass.entry(tree.dofs.start + i, tree.dofs.start + j);
                    part.mass.add(tree.dofs.start + i, tree.dofs.start + j, entry);
                }
            }
        }
        let implicit = self.model.scene().step.force_time() == ForceTime::Theta;
        let (mut by_place, mut by_velocity) = (Sparse::default(), Sparse::default());
        if !implicit {
            // only dampers see velocities
            let damped = self.model.scene().springs.iter().any(|s| s.damping != 0.0);
            let own = damped.then(|| {
                scratch.go_to(&self.before.position, &motion.velocity);
                Directions::new(&scratch)
            });
            let (at, directions) = own.as_ref().map_or((&self.middle, &self.directions), |d| (&scratch, d));
            let maps = (&mut by_place, &mut by_velocity);
            let joined = forces(self.model, at, directions, inputs, motion.time, maps);
            by_place.add_to(h, &mut part.force_q);
            by_velocity.add_to(h, &mut part.force_v);
            return joined;
        }
        // f at q_theta = q + (1-theta) h G v_theta
        let share = (1.0 - part.theta) * h;
        let mut place = self.before.position.clone();
        system.advance(&self.before.position, &self.theta, share, &mut place);
        scratch.go_to(&place, &self.theta);
        let maps = (&mut by_place, &mut by_velocity);
        let joined = forces(self.model, &scratch, &Directions::new(&scratch), inputs, motion.time, maps);
        // xi_theta = A xi + B dv_theta
        let (mut moved, mut carried) = (Sparse::default(), Sparse::default());
        for (t, tree) in system.trees().iter().enumerate() {
            let [a, b] = advance_derivative(system, t, &self.theta[tree.dofs.clone()], share);
            let n = tree.dofs.len();
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                moved.add(tree.dofs.start + i, tree.dofs.start + j, a[(i, j)]);
                carried.add(tree.dofs.start + i, tree.dofs.start + j, b[(i, j)]);
            }
        }
        let farther: Vec<f64> = self.theta.iter().map(|w| share * w).collect();
        part.longer = vec![0.0; part.n];
        by_place.times(h, &farther, &mut part.longer);
        by_place.then(&moved, part.n).add_to(h, &mut part.force_q);
        by_place.then(&carried, part.n).add_to(h, &mut part.implicit);
        by_velocity.add_to(h, &mut part.implicit);
        let implicit = part.implicit.clone();
        implicit.add_to(part.theta, &mut part.force_v);
        joined
    }

    /// Laws, Jacobian rows and their derivatives of the loaded elements.
    fn elements(&self, part: &mut Part) -> Result<Vec<Active>, NotDifferentiable> {
        let Workspace { contacts, problem, forces, .. } = self.work;
        let mut active: Vec<Active> = vec![];
        if problem.is_empty() {
            return Ok(active);
        }
        let rho = |k: usize| 1.0 / self.mobility(k);
        let (lambda, s) = (&forces.lambda, &forces.velocity);
        let size = (0..problem.elements.len())
            .map(|k| {
                let row = problem.rows_of(k).start;
                lambda[row].abs().max(rho(k) * problem.b[row].abs())
            })
            .fold(0.0f64, f64::max);
        let mut work = geometry::Workspace::default();
        let owner_of = |k: usize| contacts.contacts.iter().find(|c| c.elements().contains(&k));
        for k in 0..problem.elements.len() {
            let rows = problem.rows_of(k);
            let tangent = problem.elements[k].tangent(&lambda[rows.clone()], &s[rows.clone()], rho(k), size);
            let contact = owner_of(k);
            let name = || match contact {
                Some(c) => self.model.contact_name(c.id).unwrap_or_default(),
                None => {
                    let row = problem.standing[k - contacts.elements.len()].row;
                    self.model.standing()[row].name(self.model.scene())
                }
            };
            if tangent.degenerate {
                let choice = match tangent.status {
                    Status::Open => "touches without force: taken as open",
                    Status::Stick => "friction at its limit without slip: taken as stick",
                    Status::Slip | Status::Bound => "at its bound without motion: taken as bound",
                };
                self.note(part, name(), choice);
            }
            if tangent.status == Status::Open {
                continue;
            }
            if contact.is_some_and(|c| c.count > 1) {
                return Err(NotDifferentiable::Patch { contact: name(), time: self.before.time });
            }
            let first = part.rows;
            part.rows += rows.len();
            let unknowns = part.unknowns..part.unknowns + tangent.count();
            part.unknowns += tangent.count();
            for (k, y) in unknowns.clone().enumerate() {
                for i in 0..rows.len() {
                    part.columns.add(first + i, y, tangent.column(k)[i]);
                    part.equations.add(y, first + i, tangent.equation(k)[i]);
                }
            }
            let own = Active { element: k, rows: rows.len(), first, unknowns, tangent };
            let free = problem.gap_rate[k] == problem.gap[k] / problem.h
                && !problem.relaxed.contains(&k)
                && self.model.scene().step.gap == GapLevel::Position;
            if !free && self.model.scene().step.gap == GapLevel::Position {
                self.note(part, name(), "overlap recovers at a bounded velocity: taken as constant");
            }
            match contact {
                Some(c) => {
                    if !self.contact(part, c, &own, free, &mut work) {
                        self.note(
                            part,
                            name(),
                            "its features have no derivative: normal and point taken as fixed to the bodies",
                        );
                    }
                }
                None => self.standing(part, &own, free),
            }
            active.push(own);
        }
        Ok(active)
    }

    /// Mean of the diagonal of `A` over the linear rows of an element.
    fn mobility(&self, k: usize) -> f64 {
        let (problem, a) = (&self.work.problem, self.work.problem.factors());
        let rows = problem.rows_of(k).len();
        let linear = rows.min(problem.linear_rows);
        let mut sum = 0.0;
        for (s, w) in a.segments(k) {
            sum += a.share() * w[..linear * s.len].iter().map(|w| w * w).sum::<f64>();
        }
        if let Some((first, e)) = a.patch(k) {
            let order = e.len() / rows;
            let at = problem.rows_of(k).start - first;
            sum += (0..linear).map(|i| e[order * i + at + i]).sum::<f64>();
        }
        if sum > 0.0 { sum / linear as f64 } else { 1.0 }
    }

    /// A standing row, from its row of `W`: `J' = M H^-1 W'`. Its gap changes with the configuration as `J` says. (The rows of
    /// limits and joint friction are constant.)
    fn standing(&self, part: &mut Part, own: &Active, free: bool) {
        let (problem, mass) = (&self.work.problem, &self.work.motion.mass);
        let has_gap = !matches!(problem.elements[own.element], Element::Bounded { .. });
        for (segment, w) in problem.factors().segments(own.element) {
            let Some((t, _)) = mass.trees().find(|(_, dofs)| dofs.start == segment.first) else { continue };
            let (mut x, mut row) = (w.to_vec(), vec![0.0; segment.len]);
            mass.solve_root(t, &mut x);
            mass.multiply_tree(t, &x, &mut row);
            for (k, j) in row.iter().enumerate() {
                part.jacobian.add(own.first, segment.first + k, *j);
                if free && has_gap {
                    part.slip_q.add(own.first, segment.first + k, j / problem.h);
                }
            }
        }
    }

    /// Factors of the mass matrices, less the derivatives of implicit forces.
    fn groups(&self, part: &mut Part, joined: &[[usize; 2]]) -> Result<(), NotDifferentiable> {
        let system = self.model.system();
        let trees = system.trees();
        let mut leader: Vec<usize> = (0..trees.len()).collect();
        if part.implicit.bytes() > 0 {
            joined.iter().for_each(|pair| union(&mut leader, pair[0], pair[1]));
        }
        let mut place = vec![0; part.n];
        for t in 0..trees.len() {
            if find(&leader, t) != t {
                continue;
            }
            let dofs: Vec<usize> = (0..trees.len())
                .filter(|&k| find(&leader, k) == t)
                .flat_map(|k| trees[k].dofs.clone())
                .collect();
            dofs.iter().enumerate().for_each(|(k, &i)| place[i] = k);
            let mut m = Matrix::zeros(dofs.len(), dofs.len());
            let inside = |i: usize| dofs.binary_search(&i).is_ok();
            for (i, j, x) in part.mass.iter().filter(|(i, _, _)| inside(*i)) {
                m[(place[i], place[j])] += x;
            }
            for (i, j, x) in part.implicit.iter().filter(|(i, _, _)| inside(*i)) {
                m[(place[i], place[j])] -= (1.0 - part.theta) * x;
            }
            let factor = Factor::new(&m);
            if factor.rank() < dofs.len() {
                return Err(NotDifferentiable::Singular { time: self.before.time });
            }
            part.groups.push(Group { dofs, factor });
        }
        Ok(())
    }

    /// `R A C + T`, island by island.
    fn islands(&self, part: &mut Part, active: &[Active]) {
        let mut group_of = vec![0; part.n];
        for (g, group) in part.groups.iter().enumerate() {
            group.dofs.iter().for_each(|&i| group_of[i] = g);
        }
        let mut touched: Vec<Vec<usize>> = vec![vec![]; part.rows];
        for (row, dof, _) in part.jacobian.iter() {
            touched[row].push(group_of[dof]);
        }
        let mut leader: Vec<usize> = (0..part.groups.len()).collect();
        for a in active {
            let groups: Vec<usize> = (a.first..a.first + a.rows).flat_map(|r| touched[r].clone()).collect();
            groups.windows(2).for_each(|w| union(&mut leader, w[0], w[1]));
        }
        let island_of = |a: &Active| {
            (a.first..a.first + a.rows).find_map(|r| touched[r].first()).map(|g| find(&leader, *g))
        };
        let mut keys: Vec<usize> = active.iter().filter_map(island_of).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let own: Vec<&Active> = active.iter().filter(|a| island_of(a) == Some(key)).collect();
            let unknowns: Vec<usize> = own.iter().flat_map(|a| a.unknowns.clone()).collect();
            let mut m = Matrix::zeros(unknowns.len(), unknowns.len());
            let (mut lambda, mut slip) = (vec![0.0; part.rows], vec![0.0; part.rows]);
            let mut column = 0;
            for a in &own {
                for k in 0..a.tangent.count() {
                    lambda.fill(0.0);
                    slip.fill(0.0);
                    lambda[a.first..a.first + a.rows].copy_from_slice(&a.tangent.column(k)[..a.rows]);
                    part.jacobian.times(1.0 - part.theta, &part.response(&lambda), &mut slip);
                    part.compliance.times(1.0, &lambda, &mut slip);
                    let mut i = 0;
                    for b in &own {
                        for e in 0..b.tangent.count() {
                            let row = b.tangent.equation(e);
                            m[(i, column)] = (0..b.rows).map(|r| row[r] * slip[b.first + r]).sum();
                            i += 1;
                        }
                    }
                    m[(column, column)] += a.tangent.weight(k);
                    column += 1;
                }
            }
            let mut factor = Factor::new(&m);
            if factor.rank() < unknowns.len() {
                // forces that are not unique are the limit of those with equal compliance on every element
                let diagonal = own.iter().map(|a| self.mobility(a.element)).sum::<f64>() / own.len() as f64;
                let mut first = 0;
                for a in &own {
                    for (i, j) in
                        (0..a.tangent.count()).flat_map(|i| (0..a.tangent.count()).map(move |j| (i, j)))
                    {
                        let (row, column) = (a.tangent.equation(i), a.tangent.column(j));
                        let both: f64 = (0..a.rows).map(|r| row[r] * column[r]).sum();
                        m[(first + i, first + j)] += EQUAL * diagonal * both;
                    }
                    first += a.tangent.count();
                }
                factor = Factor::new(&m);
            }
            part.islands.push(Island { unknowns, factor });
        }
    }

    /// The drift, and what parameters of inertias do to it; `None` if a matrix is singular.
    fn drift(&self, part: &mut Part, parameters: &Parameters) -> Option<()> {
        let (motion, system, n) = (&self.work.motion, self.model.system(), part.n);
        let heavy: Vec<usize> = (0..parameters.list.len()).filter(|&k| parameters.list[k].inertia).collect();
        let stencils: Vec<Stencil<'_>> =
            heavy.iter().map(|&k| (&parameters.list[k].systems, parameters.list[k].e)).collect();
        part.parameters =
            vec![Column { drift: vec![0.0; 2 * n], ..Column::default() }; parameters.list.len()];
        for (t, tree) in system.trees().iter().enumerate() {
            let dofs = tree.dofs.clone();
            let (theta, after) = (&self.theta[dofs.clone()], &self.after[dofs.clone()]);
            let parts = self.work.drift_parts(t);
            let m = drift_derivative(&self.middle, t, (motion.h, parts), (theta, after), &stencils)?;
            let own = dofs.len();
            for i in 0..2 * own {
                let row = if i < own { dofs.start + i } else { n + dofs.start + i - own };
                for j in 0..3 * own {
                    let column = n * (j / own) + dofs.start + j % own;
                    part.drift.add(row, column, m[(i, j)]);
                }
                for (at, &k) in heavy.iter().enumerate() {
                    part.parameters[k].drift[row] = m[(i, 3 * own + at)];
                }
            }
        }
        Some(())
    }
}

fn find(leader: &[usize], mut k: usize) -> usize {
    while leader[k] != k {
        k = leader[k];
    }
    k
}

fn union(leader: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(leader, a), find(leader, b));
    leader[a.max(b)] = a.min(b);
}
