//! From the values of a step to its derivative.

use super::Parameters;
use super::derivative::{Column, Group, Island, NotDifferentiable, Note, Part};
use super::forces::{Directions, forces};
use super::linear::{Factor, Sparse};
use super::trees::InertiaMap;
use crate::dynamics::{Begin, Kinematics, Stencil, TreeDrift, advance_derivative, body_derivative};
use crate::geometry;
use crate::inputs::Inputs;
use crate::model::{Model, first_refused};
use crate::scene::capabilities::{Thing, Use};
use crate::scene::{ForceTime, GapLevel, Scheme};
use crate::space::scale;
use crate::state::State;
use crate::step::Workspace;
use complementarity::element::{ElementTangent, Status};
use complementarity::matrix::Matrix;

/// Compliance, as a share of the mean diagonal of `A`, that stands for none where forces are not unique.
const EQUAL: f64 = 1e-8;

/// A loaded element: its rows among those of the derivative, and its unknowns.
pub(super) struct Active {
    pub element: usize,
    pub rows: usize,
    pub first: usize,
    pub unknowns: std::ops::Range<usize>,
    pub tangent: ElementTangent,
    /// Whether its gap enters as `g/h`: it is about positions, and overlap does not recover at a bounded velocity.
    pub free: bool,
}

/// What the parts of the assembly share.
pub(super) struct Step<'a> {
    pub model: &'a Model,
    pub before: &'a State,
    pub work: &'a Workspace,
    /// Kinematics at the start, with the velocities `v_theta`.
    pub middle: Kinematics,
    pub directions: Directions,
    /// The same with velocities `(1-theta) v'`, and these: what rows about the end of the step see.
    pub ending: (Kinematics, Directions, Vec<f64>),
    /// `v'` after the forces of the contact problem, and `v_theta`.
    pub after: Vec<f64>,
    pub theta: Vec<f64>,
    /// `v'` after the projection of positions, and the configuration at the end.
    pub ended: Vec<f64>,
    pub end: Vec<f64>,
}

/// What of a model derivatives do not know: schemes other than the theta rule, and what the table of capabilities says.
fn unknown(model: &Model) -> Option<String> {
    let scene = model.scene();
    if scene.step.scheme != Scheme::Theta {
        return Some("schemes other than \"theta\"".to_owned());
    }
    let refused = |thing: Thing| thing.refusal(Use::Derivatives, |_| true);
    let of_rules = model.contacts().rules().iter().flat_map(|rule| rule.given.things());
    of_rules.map(|(thing, _)| thing).find_map(refused).or_else(|| {
        let (name, why) = first_refused(scene, model.standing(), refused)?;
        Some(format!("{name}: {why}"))
    })
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
        problem.push(motion.kick(), &work.forces.lambda, &mut vec![], &mut after);
    }
    let explicit = problem.theta;
    let theta: Vec<f64> =
        motion.velocity.iter().zip(&after).map(|(v, a)| explicit * v + (1.0 - explicit) * a).collect();
    let mut middle = motion.kinematics.clone();
    middle.go_to(&before.position, &theta);
    let directions = Directions::new(model.system());
    let ended = match work.projection().rows.is_empty() {
        true => after.clone(),
        false => work.projection().kicked().clone(),
    };
    let end = work.end_position().to_vec();
    // rows about the end of the step see (1-theta) v+
    let late: Vec<f64> = after.iter().map(|a| (1.0 - explicit) * a).collect();
    let mut ending = middle.clone();
    ending.go_to(&before.position, &late);
    let ending = (ending, Directions::new(model.system()), late);
    let step = Step { model, before, work, middle, directions, ending, after, theta, ended, end };
    let n = model.system().velocity_size();
    let mut part = Part { n, h: motion.h, theta: explicit, ..Part::default() };
    part.mass = Some(motion.mass.clone());
    part.kick = motion.servos.mass().cloned();
    let joined = step.momentum(&mut part, inputs);
    step.eliminated(&mut part);
    let active = step.elements(&mut part)?;
    step.memory(&mut part, &active);
    step.groups(&mut part, &joined)?;
    step.islands(&mut part, &active);
    step.drift(&mut part, parameters).ok_or(NotDifferentiable::Singular { time })?;
    step.closing(&mut part);
    step.targets(&mut part, &active);
    for (k, parameter) in parameters.list.iter().enumerate() {
        step.parameter(&mut part, &active, parameter, k, inputs);
    }
    if parameters.duration {
        let column = step.duration(&mut part, &active, inputs);
        part.parameters.push(column);
    }
    Ok(part)
}

impl Step<'_> {
    pub(super) fn note(&self, part: &mut Part, name: String, choice: &'static str) {
        part.notes.push(Note { time: self.before.time, name, choice });
    }

    /// `v_theta` where `v'` is `after`.
    pub(super) fn middle_of(&self, after: &[f64]) -> Vec<f64> {
        let explicit = self.work.problem.theta;
        let both = self.work.motion.velocity.iter().zip(after);
        both.map(|(v, a)| explicit * v + (1.0 - explicit) * a).collect()
    }

    /// `d(h f - M a)`; returns the trees that implicit springs connect.
    fn momentum(&self, part: &mut Part, inputs: &Inputs) -> Vec<[usize; 2]> {
        let (motion, system) = (&self.work.motion, self.model.system());
        let h = motion.h;
        let change: Vec<f64> = self.after.iter().zip(&motion.velocity).map(|(a, v)| a - v).collect();
        let implicit = self.model.scene().step.force_time() == ForceTime::Theta;
        let gravity = if implicit { [0.0; 3] } else { scale(h, self.model.scene().gravity) };
        part.inertia = Some(InertiaMap::new(&self.middle, &self.before.position, &change, gravity));
        let (mut by_place, mut by_velocity) = (Sparse::default(), Sparse::default());
        if !implicit {
            // only dampers see velocities
            let damped = self.model.scene().springs.iter().any(|s| s.damping != 0.0);
            let own = damped.then(|| {
                let mut own = self.middle.clone();
                own.go_to(&self.before.position, &motion.velocity);
                (own, Directions::new(system))
            });
            let (at, directions) = own.as_ref().map_or((&self.middle, &self.directions), |(at, d)| (at, d));
            let maps = (&mut by_place, &mut by_velocity);
            forces(self.model, (at, directions), inputs, (motion.time, false), maps);
            by_place.add_to(h, &mut part.force_q);
            by_velocity.add_to(h, &mut part.force_v);
            return vec![];
        }
        // f at q_theta = q + (1-theta) h G v_theta
        let share = (1.0 - part.theta) * h;
        let mut place = self.before.position.clone();
        system.advance(&self.before.position, &self.theta, share, &mut place);
        let mut at = self.middle.clone();
        at.go_to(&place, &self.theta);
        let maps = (&mut by_place, &mut by_velocity);
        let joined = forces(self.model, (&at, &Directions::new(system)), inputs, (motion.time, true), maps);
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
            let free = problem.gap_rate[k] == problem.gap_share(rows.start) * (problem.gap[k] / problem.h)
                && !problem.relaxed.contains(&k)
                && self.model.scene().step.gap != GapLevel::Velocity;
            let own = Active { element: k, rows: rows.len(), first, unknowns, tangent, free };
            let about_gap = self.row_of(k).is_none_or(|row| self.model.standing()[row].is_limit());
            if about_gap && !free && self.model.scene().step.gap != GapLevel::Velocity {
                self.note(part, name(), "overlap recovers at a bounded velocity: taken as constant");
            }
            match contact {
                Some(c) => {
                    if !self.contact(part, c, &own, &mut work) {
                        self.note(
                            part,
                            name(),
                            "its features have no derivative: normal and point taken as fixed to the bodies",
                        );
                    }
                }
                None => {
                    let row = problem.standing[k - contacts.elements.len()].row;
                    self.standing(part, &own, row);
                }
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

    /// Where forces are implicit: factors of the mass matrices, less the derivatives of these.
    fn groups(&self, part: &mut Part, joined: &[[usize; 2]]) -> Result<(), NotDifferentiable> {
        if part.implicit.bytes() == 0 {
            return Ok(());
        }
        let (system, kick) = (self.model.system(), self.work.motion.kick());
        let trees = system.trees();
        let mut leader: Vec<usize> = (0..trees.len()).collect();
        joined.iter().for_each(|pair| union(&mut leader, pair[0], pair[1]));
        let mut place = vec![0; part.n];
        for t in 0..trees.len() {
            if find(&leader, t) != t {
                continue;
            }
            let own: Vec<usize> = (0..trees.len()).filter(|&k| find(&leader, k) == t).collect();
            let dofs: Vec<usize> = own.iter().flat_map(|&k| trees[k].dofs.clone()).collect();
            dofs.iter().enumerate().for_each(|(k, &i)| place[i] = k);
            let mut m = Matrix::zeros(dofs.len(), dofs.len());
            for tree in own.iter().map(|&k| &trees[k]) {
                for (i, j) in tree.dofs.clone().flat_map(|i| tree.dofs.clone().map(move |j| (i, j))) {
                    m[(place[i], place[j])] = kick.entry(i, j);
                }
            }
            let inside = |i: usize| dofs.binary_search(&i).is_ok();
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
        if active.is_empty() {
            return;
        }
        let trees = self.model.system().trees();
        let mut group_of = vec![0; part.n];
        for (t, tree) in trees.iter().enumerate() {
            tree.dofs.clone().for_each(|i| group_of[i] = t);
        }
        for (g, group) in part.groups.iter().enumerate() {
            group.dofs.iter().for_each(|&i| group_of[i] = g);
        }
        let mut leader: Vec<usize> = (0..trees.len()).collect();
        // any one group of each element
        let mut touched: Vec<Option<usize>> = vec![None; active.len()];
        let mut owner = vec![0; part.rows];
        for (k, a) in active.iter().enumerate() {
            owner[a.first..a.first + a.rows].fill(k);
        }
        for (row, dof, _) in part.jacobian.iter() {
            let (own, group) = (&mut touched[owner[row]], group_of[dof]);
            match *own {
                None => *own = Some(group),
                Some(first) => union(&mut leader, first, group),
            }
        }
        let mut members: Vec<(usize, usize)> =
            (0..active.len()).filter_map(|k| touched[k].map(|group| (find(&leader, group), k))).collect();
        members.sort_unstable();
        for island in members.chunk_by(|a, b| a.0 == b.0) {
            let own: Vec<&Active> = island.iter().map(|(_, k)| &active[*k]).collect();
            let unknowns: Vec<usize> = own.iter().flat_map(|a| a.unknowns.clone()).collect();
            let mut m = match part.groups.is_empty() && part.turning.bytes() == 0 {
                true => self.island(&own, unknowns.len()),
                false => self.island_by_response(part, &own, unknowns.len()),
            };
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

    /// `R A C + T` of an island, with `A = c W W' + E^-1` of the contact problem.
    #[allow(clippy::type_complexity, reason = "a list of one function")]
    fn island(&self, own: &[&Active], size: usize) -> Matrix {
        let a = self.work.problem.factors();
        // R W and C' W of each element, segment by segment
        let mut maps: Vec<Vec<(usize, usize, Vec<f64>, Vec<f64>)>> = vec![];
        for e in own {
            let of = |row: &dyn Fn(usize) -> [f64; 6], w: &[f64], len: usize| -> Vec<f64> {
                let mut out = vec![0.0; e.tangent.count() * len];
                for (k, out) in out.chunks_exact_mut(len).enumerate() {
                    for (x, w) in row(k).iter().zip(w.chunks_exact(len)).filter(|(x, _)| **x != 0.0) {
                        out.iter_mut().zip(w).for_each(|(o, w)| *o += x * w);
                    }
                }
                out
            };
            let segments = a.segments(e.element).filter(|(s, _)| s.len > 0);
            maps.push(
                segments
                    .map(|(s, w)| {
                        let equations = of(&|k| *e.tangent.equation(k), w, s.len);
                        (s.first, s.len, equations, of(&|k| *e.tangent.column(k), w, s.len))
                    })
                    .collect(),
            );
        }
        let mut m = Matrix::zeros(size, size);
        let mut row = 0;
        for (e, from) in own.iter().zip(&maps) {
            let mut column = 0;
            for (f, to) in own.iter().zip(&maps) {
                let (rows, columns) = (e.tangent.count(), f.tangent.count());
                for (first, len, equations, _) in from {
                    let Some((_, _, _, other)) = to.iter().find(|(other, ..)| other == first) else {
                        continue;
                    };
                    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                        let (x, y) = (&equations[i * len..][..*len], &other[j * len..][..*len]);
                        m[(row + i, column + j)] += a.share() * complementarity::matrix::dot(x, y);
                    }
                }
                column += columns;
            }
            for k in 0..e.tangent.count() {
                if let Some((_, block)) = a.patch(e.element) {
                    for j in 0..e.tangent.count() {
                        let (x, y) = (e.tangent.equation(k), e.tangent.column(j));
                        let pairs = (0..e.rows).flat_map(|r| (0..e.rows).map(move |c| (r, c)));
                        m[(row + k, row + j)] +=
                            pairs.map(|(r, c)| x[r] * block[e.rows * r + c] * y[c]).sum::<f64>();
                    }
                }
                m[(row + k, row + k)] += e.tangent.weight(k);
            }
            row += e.tangent.count();
        }
        m
    }

    /// The same where implicit forces change the mass matrix, or bodies carry others round.
    fn island_by_response(&self, part: &Part, own: &[&Active], size: usize) -> Matrix {
        let mut m = Matrix::zeros(size, size);
        let (mut lambda, mut slip) = (vec![0.0; part.rows], vec![0.0; part.rows]);
        let mut column = 0;
        for a in own {
            for k in 0..a.tangent.count() {
                lambda.fill(0.0);
                slip.fill(0.0);
                lambda[a.first..a.first + a.rows].copy_from_slice(&a.tangent.column(k)[..a.rows]);
                let answer = part.response(&lambda);
                part.jacobian.times(1.0 - part.theta, &answer, &mut slip);
                part.turning.times(1.0 - part.theta, &answer, &mut slip);
                part.compliance.times(1.0, &lambda, &mut slip);
                let mut i = 0;
                for b in own {
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
        m
    }

    /// The drift, and what parameters of inertias do to it; `None` if a matrix is singular.
    fn drift(&self, part: &mut Part, parameters: &Parameters) -> Option<()> {
        let (motion, system, n) = (&self.work.motion, self.model.system(), part.n);
        let heavy: Vec<usize> = (0..parameters.list.len()).filter(|&k| parameters.list[k].inertia).collect();
        let stencils: Vec<Stencil<'_>> =
            heavy.iter().map(|&k| (&parameters.list[k].systems, parameters.list[k].e)).collect();
        part.parameters =
            vec![Column { drift: vec![0.0; 2 * n], ..Column::default() }; parameters.list.len()];
        let middle = self.middle_of(&self.ended);
        for (t, tree) in system.trees().iter().enumerate() {
            let dofs = tree.dofs.clone();
            let (theta, after) = (&middle[dofs.clone()], &self.ended[dofs.clone()]);
            let own = dofs.len();
            let (row, column) = (
                |i: usize| n * (i / own) + dofs.start + i % own,
                |j: usize| n * (j / own) + dofs.start + j % own,
            );
            if tree.is_free_body() {
                let m = body_derivative(&self.middle, t, motion.h, (theta, after), &stencils);
                for i in 0..2 * own {
                    (0..3 * own).for_each(|j| part.drift.flat.add(row(i), column(j), m[(i, j)]));
                    for (at, &k) in heavy.iter().enumerate() {
                        part.parameters[k].drift[row(i)] = m[(i, 3 * own + at)];
                    }
                }
            } else if tree.even {
                let [a, b] = advance_derivative(system, t, theta, motion.h);
                for i in 0..own {
                    for j in 0..own {
                        part.drift.flat.add(row(i), column(j), a[(i, j)]);
                        part.drift.flat.add(row(i), column(own + j), b[(i, j)]);
                    }
                    part.drift.flat.add(row(own + i), column(2 * own + i), 1.0);
                }
            } else {
                let (parts, drift) = (self.work.drift_parts(t), self.work.drift());
                let (kinematics, mass, h) = (&self.middle, &motion.mass, motion.h);
                let begin = Begin { kinematics, mass, h, parts, theta, after, drift };
                let linear = TreeDrift::new(&mut part.drift.points, t, &begin, &stencils)?;
                let zero = vec![0.0; own];
                for (at, &k) in heavy.iter().enumerate() {
                    let (place, velocity) = part.parameters[k].drift.split_at_mut(n);
                    let out = (&mut place[dofs.clone()], &mut velocity[dofs.clone()]);
                    linear.times(&part.drift.points, (&zero, &zero, &zero), Some(at), out);
                }
                part.drift.trees.push((linear, dofs));
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
