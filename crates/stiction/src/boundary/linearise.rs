//! From the values of a step to its derivative.

use super::derivative::{Column, Group, Island, NotDifferentiable, Note, Part};
use super::forces::{Directions, forces};
use super::linear::{Factor, Sparse};
use super::parameters::Parameter;
use super::{Parameters, deformations};
use crate::contact::set::Contact;
use crate::dynamics::{Kinematics, LinkChange, Stencil, advance_derivative, drift_derivative};
use crate::formulation::{relative_row, rotates};
use crate::geometry::{self, Feature, Touch, Velocity, feature};
use crate::inputs::Inputs;
use crate::model::{Model, Owner};
use crate::scene::{ForceTime, GapLevel};
use crate::space::{Frame, Vector, add, cross, dot, length, scale, sub};
use crate::state::{RowId, State};
use crate::step::{Motion, Workspace, applied_force};
use complementarity::element::{ElementTangent, Status};
use complementarity::matrix::Matrix;

/// Compliance, as a share of the mean diagonal of `A`, that stands for none where forces are not unique.
const EQUAL: f64 = 1e-8;

/// A loaded element: its rows among those of the derivative, and its unknowns.
struct Active {
    element: usize,
    rows: usize,
    first: usize,
    unknowns: std::ops::Range<usize>,
    tangent: ElementTangent,
}

/// What the parts of the assembly share.
struct Step<'a> {
    model: &'a Model,
    before: &'a State,
    work: &'a Workspace,
    /// Kinematics at the start, with the velocities `v_theta`.
    middle: Kinematics,
    directions: Directions,
    /// `v'`, and `v_theta`.
    after: Vec<f64>,
    theta: Vec<f64>,
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
        let mut pushed = self.middle.clone();
        pushed.go_to(&self.before.position, &change);
        for (t, tree) in system.trees().iter().enumerate() {
            let n = tree.dofs.len();
            let (mut dp, mut dg) = (vec![0.0; n], vec![0.0; n]);
            let (mut unit, zero) = (vec![0.0; n], vec![0.0; n]);
            for j in 0..n {
                unit[j] = 1.0;
                let by = pushed.vary(t, &unit, &zero);
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
            let mut start = self.middle.clone();
            start.go_to(&self.before.position, &motion.velocity);
            let joined = forces(
                self.model,
                &start,
                &self.directions_at(&start),
                inputs,
                motion.time,
                (&mut by_place, &mut by_velocity),
            );
            by_place.add_to(h, &mut part.force_q);
            by_velocity.add_to(h, &mut part.force_v);
            return joined;
        }
        // f at q_theta = q + (1-theta) h G v_theta
        let share = (1.0 - part.theta) * h;
        let mut place = self.before.position.clone();
        system.advance(&self.before.position, &self.theta, share, &mut place);
        let mut there = self.middle.clone();
        there.go_to(&place, &self.theta);
        let joined = forces(
            self.model,
            &there,
            &self.directions_at(&there),
            inputs,
            motion.time,
            (&mut by_place, &mut by_velocity),
        );
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

    /// Directions at a state: those of the middle, if velocities are the same.
    fn directions_at(&self, kinematics: &Kinematics) -> Directions {
        Directions::new(kinematics)
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
                lambda[row].abs().max(if lambda[row] > 0.0 { rho(k) * problem.b[row].abs() } else { 0.0 })
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
                    let row = problem.standing[k - contacts.elements.len()];
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
                        self.note(part, name(), "its features have no derivative: normal and point taken as fixed to the bodies");
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

    /// Rows of a standing row.
    fn standing(&self, part: &mut Part, own: &Active, free: bool) {
        let Workspace { contacts, problem, .. } = self.work;
        let row = &self.model.standing()[problem.standing[own.element - contacts.elements.len()]];
        part.jacobian.add(own.first, row.dof, row.sign());
        if free && row.gap(&self.before.position).is_some() {
            part.slip_q.add(own.first, row.dof, row.sign() / problem.h);
        }
    }

    /// Rows of a contact, and how they and its force move with the bodies; false if its features have no derivative.
    fn contact(
        &self,
        part: &mut Part,
        c: &Contact,
        own: &Active,
        free: bool,
        work: &mut geometry::Workspace,
    ) -> bool {
        let (problem, system) = (&self.work.problem, self.model.system());
        let at = self.work.contacts.elements[own.element].point;
        let touch = Touch {
            point: at,
            normal: c.frame.n,
            gap: self.work.contacts.elements[own.element].gap,
            feature: c.id.feature,
        };
        let sides = [c.id.part_a, c.id.part_b].map(|k| &self.model.parts()[k as usize]);
        let poses = sides.map(|p| match p.owner {
            Owner::Body(i) => self.middle.pose(i).then(&p.local),
            Owner::World(_) => p.local,
        });
        let found = feature(&sides[0].solid, &poses[0], &sides[1].solid, &poses[1], &touch, work);
        let links = c.owners.map(|o| match o {
            Owner::Body(i) => system.tree_of(i).map(|t| (i, t)),
            Owner::World(_) => None,
        });
        let axes = [c.frame.n, c.frame.t, c.frame.o];
        let motion = links.map(|l| {
            l.map_or(([0.0; 3], [0.0; 3]), |(i, _)| {
                (self.middle.point_velocity(i, at), self.middle.angular_velocity(i))
            })
        });
        let relative = sub(motion[1].0, motion[0].0);
        let spinning = sub(motion[1].1, motion[0].1);
        let lambda = &self.work.forces.lambda[problem.rows_of(own.element)];
        let mut wrench = [[0.0; 3]; 2];
        for (i, x) in lambda.iter().enumerate() {
            wrench[i / 3] = add(wrench[i / 3], scale(*x, axes[i % 3]));
        }
        let mut row = vec![0.0; part.n];
        for i in 0..own.rows {
            relative_row(&self.middle, c, at, (axes[i % 3], i >= 3), &mut row);
            for (_, t) in links.iter().flatten() {
                for j in system.trees()[*t].dofs.clone() {
                    part.jacobian.add(own.first + i, j, std::mem::take(&mut row[j]));
                }
            }
        }
        let scaling = self.scaling(c, own);
        let mut trees: Vec<usize> = links.iter().flatten().map(|(_, t)| *t).collect();
        trees.dedup();
        for &t in &trees {
            let start = system.trees()[t].dofs.start;
            for (j, by) in self.directions.place[t].iter().enumerate() {
                let moves = |link: &Option<(usize, usize)>, point: Vector| match link {
                    Some((i, tree)) if *tree == t => self.middle.vary_link(*i, by, point),
                    _ => LinkChange::default(),
                };
                let solids = [0, 1].map(|k| {
                    let moved = moves(&links[k], poses[k].position);
                    Velocity { linear: moved.shift, angular: moved.turn }
                });
                let here = [0, 1].map(|k| moves(&links[k], at));
                let change = Moved::new(found.as_ref(), &solids, &here, c.frame.n);
                let daxes = self.turn_frame(c, &change.normal, &solids);
                // velocities of the materials at the point, which moves too
                let faster = [0, 1].map(|k| add(here[k].linear, cross(motion[k].1, change.point)));
                let drelative = sub(faster[1], faster[0]);
                let dspinning = sub(here[1].angular, here[0].angular);
                for i in 0..own.rows {
                    let (value, dvalue) =
                        if i < 3 { (relative, drelative) } else { (spinning, dspinning) };
                    let mut ds = dot(daxes[i % 3], value) + dot(axes[i % 3], dvalue);
                    if i == 0 && free {
                        ds += change.gap / problem.h;
                    }
                    ds += scaling.get(i).map_or(0.0, |x| x * change.gap);
                    part.slip_q.add(own.first + i, start + j, ds);
                }
                let mut dwrench = [[0.0; 3]; 2];
                for (i, x) in lambda.iter().enumerate() {
                    dwrench[i / 3] = add(dwrench[i / 3], scale(*x, daxes[i % 3]));
                }
                for (k, sign) in [(0, -1.0), (1, 1.0)] {
                    let Some((link, tree)) = links[k] else { continue };
                    let dofs = system.trees()[tree].dofs.clone();
                    let mut out = vec![0.0; dofs.len()];
                    let by = if tree == t { by } else { &self.directions.none[tree] };
                    let [acting, changed] = [wrench, dwrench].map(|w| w.map(|x| scale(sign, x)));
                    self.middle.vary_wrench(link, by, (at, change.point), acting, changed, &mut out);
                    for (x, i) in out.iter().zip(dofs) {
                        part.force_q.add(i, start + j, part.h * x);
                    }
                }
            }
        }
        found.is_some()
    }

    /// Changes of the axes n, t, o of a contact whose normal changes.
    fn turn_frame(&self, c: &Contact, dn: &Vector, solids: &[Velocity; 2]) -> [Vector; 3] {
        let contacts = self.model.contacts();
        if contacts.directions() == crate::contact::Directions::Planar {
            let dt = [dn[1], -dn[0], 0.0];
            return [*dn, dt, add(cross(*dn, c.frame.t), cross(c.frame.n, dt))];
        }
        let along = contacts.rules()[c.rule].given.grain.map(|grain| {
            let side = usize::from(grain.of != c.owners[0]);
            let direction = match grain.of {
                Owner::Body(i) => self.middle.pose(i).attitude.apply(grain.along),
                Owner::World(i) => self.model.scene().world[i].part.pose.attitude.apply(grain.along),
            };
            (direction, cross(solids[side].angular, direction))
        });
        frame_change(&c.frame, *dn, along)
    }

    /// Where the stiffness varies with the gap: changes of the rows of `s` per gap.
    fn scaling(&self, c: &Contact, own: &Active) -> Vec<f64> {
        let Some(slope) = self.scale_slope(c) else { return vec![] };
        let (problem, work) = (&self.work.problem, self.work);
        let Some((_, e)) = problem.factors().patch(own.element) else { return vec![] };
        let lambda = &work.forces.lambda[problem.rows_of(own.element)];
        let rows = lambda.len();
        // E^-1 = E0^-1 / scale
        (0..rows).map(|i| -slope * (0..rows).map(|j| e[rows * i + j] * lambda[j]).sum::<f64>()).collect()
    }

    /// `d scale / d gap` over the scale, of a contact whose stiffness varies and is not at its least.
    fn scale_slope(&self, c: &Contact) -> Option<f64> {
        let law = self.work.laws().of(self.model, c.rule).filter(|law| law.varies())?;
        let index = self.work.contacts.contacts.iter().position(|other| other.id == c.id)?;
        let gap = self.work.contacts.elements[c.first].gap;
        // an infinite mobility: no least stiffness
        let by_overlap = law.scale(-gap, f64::INFINITY);
        (gap < 0.0 && by_overlap == self.work.problem.scale[index]).then(|| 0.5 / gap)
    }

    /// How deformations enter the rows, and what becomes of them.
    fn memory(&self, part: &mut Part, active: &[Active]) {
        let Workspace { contacts, problem, forces, .. } = self.work;
        let linear = problem.linear_rows;
        part.memory[0] = deformations(self.before);
        for (index, c) in contacts.contacts.iter().enumerate() {
            let Some(law) = self.work.laws().of(self.model, c.rule) else { continue };
            let out = part.memory[1];
            part.memory[1] += law.rows();
            let mut offset = 0;
            let mut known = None;
            for m in self.before.memory.iter() {
                if m.id == RowId::Contact(c.id) && m.deformations.len() == law.rows() {
                    known = Some((offset, m.deformations));
                }
                offset += m.deformations.len();
            }
            let own = active.iter().find(|a| a.element == c.first);
            if c.count > 1 {
                // an open patch relaxes; loaded ones are refused
                let Some((first, _)) = known else { continue };
                for (i, j) in (0..law.rows()).flat_map(|i| (0..law.rows()).map(move |j| (i, j))) {
                    let same = f64::from(u8::from(i == j));
                    part.memory_memory.add(out + i, first + j, same - part.h * law.e_inv_k()[(i, j)]);
                }
                continue;
            }
            self.point_memory(part, (index, c), (out, known), own, linear, &forces.lambda);
        }
    }

    /// The same of one point contact.
    fn point_memory(
        &self,
        part: &mut Part,
        (index, c): (usize, &Contact),
        (out, known): (usize, Option<(usize, &[f64])>),
        own: Option<&Active>,
        linear: usize,
        lambda: &[f64],
    ) {
        let (problem, h) = (&self.work.problem, part.h);
        let Some(law) = self.work.laws().of(self.model, c.rule) else { return };
        let delta = &problem.deformation[linear * c.first..][..linear];
        let scale = problem.scale[index];
        let lambda = &lambda[problem.rows_of(c.first)][..linear];
        let mut raw = vec![0.0; linear];
        let undamped: Vec<f64> = (0..linear)
            .map(|i| (0..linear).map(|j| law.e_inv()[(i, j)] * lambda[j]).sum::<f64>() / scale)
            .collect();
        for i in 0..linear {
            let relaxed: f64 = (0..linear).map(|j| law.e_inv_k()[(i, j)] * delta[j]).sum();
            raw[i] = delta[i] + h * (undamped[i] - relaxed);
        }
        // where the stiffness has grown, tangential deformations are reduced (`Compliance::deformation_after`)
        let grown = if law.varies() { scale / law.scale(raw[0], f64::INFINITY) } else { 1.0 };
        let kept = grown.min(1.0);
        let reduced = kept < 1.0;
        // anisotropic friction: stored in a frame that does not turn with the direction
        let turned = (rotates(self.model, c) && linear == 3).then(|| {
            let from = c.frame.along_x();
            [dot(c.frame.t, from.t), dot(c.frame.t, from.o)]
        });
        let into = |i: usize, j: usize| turn_entry(turned, i, j);
        let back = |i: usize, j: usize| turn_entry(turned, j, i);
        let after: Vec<f64> = raw.iter().enumerate().map(|(i, x)| if i > 0 { kept * x } else { *x }).collect();
        // d after_i by raw deformations
        let after_by = |i: usize, draw: &[f64], dscale: f64| -> f64 {
            if i == 0 {
                return draw[0];
            }
            let dkept = if reduced { kept * (dscale - 0.5 * draw[0] / raw[0]) } else { 0.0 };
            kept * draw[i] + dkept * raw[i]
        };
        let put = |map: &mut Sparse, column: usize, draw: &[f64], dscale: f64| {
            let own: Vec<f64> = (0..linear).map(|i| after_by(i, draw, dscale)).collect();
            for i in 0..linear {
                map.add(out + i, column, (0..linear).map(|j| back(i, j) * own[j]).sum());
            }
        };
        if let Some((first, _)) = known {
            for j in 0..linear {
                let frame: Vec<f64> = (0..linear).map(|i| into(i, j)).collect();
                let draw: Vec<f64> = (0..linear)
                    .map(|i| {
                        frame[i] - h * (0..linear).map(|m| law.e_inv_k()[(i, m)] * frame[m]).sum::<f64>()
                    })
                    .collect();
                put(&mut part.memory_memory, first + j, &draw, 0.0);
                if let Some(own) = own {
                    for i in 0..linear {
                        let mut ds: f64 =
                            -(0..linear).map(|m| law.e_inv_k()[(i, m)] * frame[m]).sum::<f64>();
                        if i == 0 && self.model.scene().step.gap == GapLevel::Position {
                            ds += frame[0] / h;
                        }
                        part.slip_memory.add(own.first + i, first + j, ds);
                    }
                }
            }
        }
        let Some(own) = own else { return };
        for j in 0..linear {
            let draw: Vec<f64> = (0..linear).map(|i| h * law.e_inv()[(i, j)] / scale).collect();
            put(&mut part.memory_lambda, own.first + j, &draw, 0.0);
            for i in 0..linear {
                part.compliance.add(own.first + i, own.first + j, law.e_inv()[(i, j)] / scale);
            }
        }
        self.frame_memory(part, c, own, (out, known, turned), (delta, &after), |part, column, dgap| {
            let Some(slope) = self.scale_slope(c) else { return };
            let dscale = slope * dgap;
            let draw: Vec<f64> = undamped.iter().map(|x| -h * x * dscale).collect();
            put(&mut part.memory_q, column, &draw, dscale);
        });
    }

    /// Changes with the configuration: by the gap, where stiffness varies, and by a frame that turns.
    fn frame_memory(
        &self,
        part: &mut Part,
        c: &Contact,
        own: &Active,
        (out, known, turned): (usize, Option<(usize, &[f64])>, Option<[f64; 2]>),
        (delta, after): (&[f64], &[f64]),
        mut by_gap: impl FnMut(&mut Part, usize, f64),
    ) {
        let varies = self.scale_slope(c).is_some();
        if !varies && turned.is_none() {
            return;
        }
        let system = self.model.system();
        let mut work = geometry::Workspace::default();
        let element = &self.work.contacts.elements[c.first];
        let touch = Touch { point: element.point, normal: c.frame.n, gap: element.gap, feature: c.id.feature };
        let sides = [c.id.part_a, c.id.part_b].map(|k| &self.model.parts()[k as usize]);
        let poses = sides.map(|p| match p.owner {
            Owner::Body(i) => self.middle.pose(i).then(&p.local),
            Owner::World(_) => p.local,
        });
        let found = feature(&sides[0].solid, &poses[0], &sides[1].solid, &poses[1], &touch, &mut work);
        for (t, tree) in system.trees().iter().enumerate() {
            for (j, by) in self.directions.place[t].iter().enumerate() {
                let moves = |k: usize, point: Vector| match c.owners[k] {
                    Owner::Body(i) if system.tree_of(i) == Some(t) => self.middle.vary_link(i, by, point),
                    _ => LinkChange::default(),
                };
                let solids = [0, 1].map(|k| {
                    let moved = moves(k, poses[k].position);
                    Velocity { linear: moved.shift, angular: moved.turn }
                });
                let here = [0, 1].map(|k| moves(k, element.point));
                let change = Moved::new(found.as_ref(), &solids, &here, c.frame.n);
                let column = tree.dofs.start + j;
                if varies {
                    by_gap(part, column, change.gap);
                }
                if turned.is_some() {
                    // angle of the frame against the one that does not turn
                    let daxes = self.turn_frame(c, &change.normal, &solids);
                    let from = c.frame.along_x();
                    let dfrom = frame_change(&from, change.normal, None);
                    let angle = dot(daxes[1], c.frame.o) - dot(dfrom[1], from.o);
                    // stored -> frame turns by -angle, frame -> stored by +angle
                    let before = [angle * delta[2], -angle * delta[1]];
                    if known.is_some() {
                        self.turned_rows(part, c, own, column, before, (out, turned));
                    }
                    let spun = [-angle * after[2], angle * after[1]];
                    for i in 1..3 {
                        let x: f64 = (1..3).map(|k| turn_entry(turned, k, i) * spun[k - 1]).sum();
                        part.memory_q.add(out + i, column, x);
                    }
                }
            }
        }
    }

    /// What a turn of the remembered tangential deformations does to rows and deformations.
    fn turned_rows(
        &self,
        part: &mut Part,
        c: &Contact,
        own: &Active,
        column: usize,
        delta: [f64; 2],
        (out, turned): (usize, Option<[f64; 2]>),
    ) {
        let Some(law) = self.work.laws().of(self.model, c.rule) else { return };
        let mut after = [0.0; 3];
        for i in 0..3 {
            let relaxed: f64 = (1..3).map(|m| law.e_inv_k()[(i, m)] * delta[m - 1]).sum();
            part.slip_q.add(own.first + i, column, -relaxed);
            after[i] = if i > 0 { delta[i - 1] } else { 0.0 } - part.h * relaxed;
        }
        for i in 0..3 {
            let x: f64 = (0..3).map(|k| turn_entry(turned, k, i) * after[k]).sum();
            part.memory_q.add(out + i, column, x);
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
            let dofs: Vec<usize> =
                (0..trees.len()).filter(|&k| find(&leader, k) == t).flat_map(|k| trees[k].dofs.clone()).collect();
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
        let island_of = |a: &Active| (a.first..a.first + a.rows).find_map(|r| touched[r].first()).map(|g| find(&leader, *g));
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
                    for (i, j) in (0..a.tangent.count()).flat_map(|i| (0..a.tangent.count()).map(move |j| (i, j))) {
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
        let heavy: Vec<usize> =
            (0..parameters.list.len()).filter(|&k| parameters.list[k].inertia).collect();
        let stencils: Vec<Stencil<'_>> =
            heavy.iter().map(|&k| (&parameters.list[k].systems, parameters.list[k].e)).collect();
        part.parameters = vec![Column { drift: vec![0.0; 2 * n], ..Column::default() }; parameters.list.len()];
        let mut begin = self.middle.clone();
        begin.go_to(&self.before.position, &motion.velocity);
        for (t, tree) in system.trees().iter().enumerate() {
            let dofs = tree.dofs.clone();
            let (theta, after) = (&self.theta[dofs.clone()], &self.after[dofs.clone()]);
            let parts = self.work.drift_parts(t);
            let m = drift_derivative(&begin, t, (motion.h, parts), (theta, after), &stencils)?;
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

    /// What one parameter does, explicitly.
    fn parameter(&self, part: &mut Part, active: &[Active], p: &Parameter, k: usize, inputs: &Inputs) {
        let Workspace { motion, contacts, problem, forces, .. } = self.work;
        let (h, n) = (part.h, part.n);
        let implicit = self.model.scene().step.force_time() == ForceTime::Theta;
        let (place, velocity) = self.force_state(motion, implicit);
        let mut force = p.derivative(n, |model, out| {
            let mut kinematics = Kinematics::new(model.system());
            kinematics.go_to(&place, &velocity);
            applied_force(model, inputs, &mut kinematics, motion.time, out);
        });
        force.iter_mut().for_each(|f| *f *= h);
        if p.inertia {
            let change: Vec<f64> = self.after.iter().zip(&motion.velocity).map(|(a, v)| a - v).collect();
            let heavier = p.momentum(&self.before.position, &change);
            force.iter_mut().zip(heavier).for_each(|(f, m)| *f -= m);
        }
        let (mut slip, mut lambda) = (vec![0.0; part.rows], vec![0.0; part.rows]);
        let mut memory = vec![0.0; part.memory[1]];
        for a in active {
            let rows = problem.rows_of(a.element);
            let element = &problem.elements[a.element];
            let own = &forces.lambda[rows.clone()];
            let coefficients = match a.element.checked_sub(contacts.elements.len()) {
                None => {
                    let rule = contacts.contacts.iter().find(|c| c.elements().contains(&a.element));
                    let Some(rule) = rule.map(|c| c.rule) else { continue };
                    p.derivative(rows.len() - 1, |model, out| {
                        let contact = model.contacts().rules()[rule].element;
                        let axes = contact.as_contact().map(|c| c.axes);
                        (0..out.len()).for_each(|i| out[i] = contact.mu() * axes.map_or(1.0, |a| a[i]));
                    })
                }
                Some(standing) => {
                    let row = problem.standing[standing];
                    let gap = p.derivative(1, |model, out| {
                        out[0] = model.standing()[row].gap(&self.before.position).unwrap_or(0.0);
                    });
                    slip[a.first] += gap[0] / h;
                    p.derivative(1, |model, out| {
                        if let complementarity::problem::Element::Bounded { limit } =
                            model.standing()[row].element()
                        {
                            out[0] = limit;
                        }
                    })
                }
            };
            let s = &forces.velocity[rows];
            lambda[a.first..a.first + a.rows]
                .copy_from_slice(&a.tangent.law_change(element, own, s, &coefficients));
        }
        self.stiffness(part, active, p, (&mut slip, &mut memory));
        let column = &mut part.parameters[k];
        (column.force, column.slip, column.lambda, column.memory) = (force, slip, lambda, memory);
    }

    /// What the logarithm of the step's length does, explicitly.
    fn duration(&self, part: &mut Part, active: &[Active]) -> Column {
        let Workspace { motion, contacts, problem, forces, .. } = self.work;
        let (h, n, linear) = (part.h, part.n, problem.linear_rows);
        let change: Vec<f64> = self.after.iter().zip(&motion.velocity).map(|(a, v)| a - v).collect();
        // h (f + J' lambda) = M a
        let mut force = std::mem::take(&mut part.longer);
        force.resize(n, 0.0);
        part.mass.times(1.0, &change, &mut force);
        let (mut slip, mut memory) = (vec![0.0; part.rows], vec![0.0; part.memory[1]]);
        for a in active {
            slip[a.first] -= problem.gap_rate[a.element];
        }
        let mut out = 0;
        for (index, c) in contacts.contacts.iter().enumerate() {
            let Some(law) = self.work.laws().of(self.model, c.rule) else { continue };
            let at = out;
            out += law.rows();
            if c.count > 1 {
                continue;
            }
            let delta = &problem.deformation[linear * c.first..][..linear];
            let lambda = &forces.lambda[problem.rows_of(c.first)][..linear];
            let rate = |h: f64, i: usize| {
                let mut own = law.clone();
                if own.update(h).is_err() {
                    return 0.0;
                }
                let pressed: f64 = (0..linear).map(|j| own.e_inv()[(i, j)] * lambda[j]).sum();
                let relaxed: f64 = (0..linear).map(|j| own.e_inv_k()[(i, j)] * delta[j]).sum();
                pressed / problem.scale[index] - relaxed
            };
            let own = active.iter().find(|a| a.element == c.first);
            for i in 0..linear {
                let values = [-2.0, -1.0, 1.0, 2.0].map(|k| rate(h * (1.0 + 1e-3 * k), i));
                let slope = crate::dynamics::combine(values, 1e-3);
                if let Some(a) = own {
                    slip[a.first + i] += slope;
                }
                memory[at + i] += h * (rate(h, i) + slope);
            }
        }
        let mut begin = self.middle.clone();
        begin.go_to(&self.before.position, &motion.velocity);
        let mut drift = crate::dynamics::Drift::new(self.model.system());
        let mut reach = |h: f64| {
            let (mut q, mut v) = (self.before.position.clone(), self.after.clone());
            // a drift that succeeded at h does so nearby; if not, its share is left out
            let _ = drift.advance(&begin, &motion.mass, h, &self.theta, (&mut q, &mut v));
            (q, v)
        };
        let (end, _) = reach(h);
        let ends = [-2.0, -1.0, 1.0, 2.0].map(|k| {
            let (q, v) = reach(h * (1.0 + 1e-3 * k));
            let mut out = vec![0.0; 2 * n];
            crate::dynamics::difference(self.model.system(), &q, &end, &mut out[..n]);
            out[n..].copy_from_slice(&v);
            out
        });
        let drifted = (0..2 * n)
            .map(|i| crate::dynamics::combine(ends.each_ref().map(|x| x[i]), 1e-3))
            .collect();
        Column { force, slip, lambda: vec![], drift: drifted, memory }
    }

    /// Where and with which velocities the applied forces were evaluated.
    fn force_state(&self, motion: &Motion, implicit: bool) -> (Vec<f64>, Vec<f64>) {
        if !implicit {
            return (self.before.position.clone(), motion.velocity.clone());
        }
        let mut place = self.before.position.clone();
        let share = (1.0 - self.work.problem.theta) * motion.h;
        self.model.system().advance(&self.before.position, &self.theta, share, &mut place);
        (place, self.theta.clone())
    }

    /// What a parameter of a compliant law does to `s` and to the deformations.
    fn stiffness(
        &self,
        part: &Part,
        active: &[Active],
        p: &Parameter,
        (slip, memory): (&mut [f64], &mut [f64]),
    ) {
        let Workspace { contacts, problem, forces, .. } = self.work;
        let (h, linear) = (part.h, problem.linear_rows);
        let mut out = 0;
        for (index, c) in contacts.contacts.iter().enumerate() {
            let Some(law) = self.work.laws().of(self.model, c.rule) else { continue };
            let at = out;
            out += law.rows();
            if c.count > 1 {
                continue;
            }
            let delta = &problem.deformation[linear * c.first..][..linear];
            let lambda = &forces.lambda[problem.rows_of(c.first)][..linear];
            let scale = problem.scale[index];
            let rates = p.derivative(linear, |model, out| {
                let Some(own) = &model.contacts().rules()[c.rule].compliance else { return };
                let mut own = own.clone();
                if own.update(h).is_err() {
                    return;
                }
                for i in 0..linear {
                    let pressed: f64 = (0..linear).map(|j| own.e_inv()[(i, j)] * lambda[j]).sum();
                    let relaxed: f64 = (0..linear).map(|j| own.e_inv_k()[(i, j)] * delta[j]).sum();
                    out[i] = pressed / scale - relaxed;
                }
            });
            if let Some(a) = active.iter().find(|a| a.element == c.first) {
                (0..linear).for_each(|i| slip[a.first + i] += rates[i]);
            }
            (0..linear).for_each(|i| memory[at + i] += h * rates[i]);
        }
    }
}

/// Motion of a contact's point, normal and gap.
struct Moved {
    point: Vector,
    normal: Vector,
    gap: f64,
}

impl Moved {
    fn new(found: Option<&Feature>, solids: &[Velocity; 2], here: &[LinkChange; 2], n: Vector) -> Self {
        match found {
            Some(feature) => {
                let rates = feature.rates(solids);
                Self { point: rates.point(), normal: rates.normal, gap: rates.gap }
            }
            // carried along by both bodies alike
            None => {
                let turn = scale(0.5, add(here[0].turn, here[1].turn));
                Self {
                    point: scale(0.5, add(here[0].shift, here[1].shift)),
                    normal: cross(turn, n),
                    gap: dot(n, sub(here[1].shift, here[0].shift)),
                }
            }
        }
    }
}

/// Changes of the axes of a frame with its normal; `along`: the direction of t, which may turn, and its change.
/// Without it t follows the world's x axis as `Frame::along_x` does.
fn frame_change(frame: &Frame, dn: Vector, along: Option<(Vector, Vector)>) -> [Vector; 3] {
    let n = frame.n;
    let (axis, daxis) = along.unwrap_or_else(|| {
        let x = [1.0, 0.0, 0.0];
        let flat = sub(x, scale(dot(x, n), n));
        let chosen = if length(flat) > 1e-6 {
            x
        } else if n[0].abs() < 0.6 {
            x
        } else {
            [0.0, 1.0, 0.0]
        };
        (chosen, [0.0; 3])
    });
    let flat = sub(axis, scale(dot(axis, n), n));
    let dflat = sub(sub(daxis, scale(dot(daxis, n) + dot(axis, dn), n)), scale(dot(axis, n), dn));
    let dt = scale(1.0 / length(flat), sub(dflat, scale(dot(frame.t, dflat), frame.t)));
    [dn, dt, add(cross(dn, frame.t), cross(n, dt))]
}

/// Entry of the turn of tangential components from the stored frame into the contact's.
fn turn_entry(turned: Option<[f64; 2]>, i: usize, j: usize) -> f64 {
    match (turned, i, j) {
        (_, 0, 0) => 1.0,
        (None, i, j) => f64::from(u8::from(i == j)),
        (Some([cos, _]), 1, 1) | (Some([cos, _]), 2, 2) => cos,
        (Some([_, sin]), 1, 2) => sin,
        (Some([_, sin]), 2, 1) => -sin,
        _ => 0.0,
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
