//! Rows that are no contacts: limits, friction and springs of joints, drives, gears and loops; those that are
//! eliminated, and the projection of positions on those that are rigid.
#![allow(clippy::type_complexity, reason = "functions that are passed on")]

use super::derivative::{Closing, Column, Part};
use super::linear::{Factor, Sparse};
use super::linearise::{Active, Step};
use super::trees::InertiaMap;
use crate::dynamics::{Kinematics, LinkChange, combine};
use crate::inputs::Inputs;
use crate::model::{Model, StandingKind, StandingRow, Target};
use crate::motion::{Motion, set_targets};
use crate::scene::GapLevel;
use crate::scene::resolved::Drive;
use crate::space::{Vector, add, cross, dot, scale, sub};
use complementarity::matrix::Matrix;
use complementarity::problem::Element;

/// Efforts of servos within this share of their bound are at it.
const AT_BOUND: f64 = 1e-7;
/// Pivots of rows that depend on others: loops are closed to 1e-12 m, and no more.
const REDUNDANT: f64 = 1e-9;

/// A standing row at work: its model, the state and the step's length, where parameters may change the first and the
/// last.
struct Row<'a> {
    model: &'a Model,
    row: usize,
    h: f64,
    theta: f64,
    targets: &'a [Target],
}

impl Row<'_> {
    fn given(&self) -> &StandingRow {
        &self.model.standing()[self.row]
    }

    fn gap(&self, at: &Kinematics, q: &[f64]) -> f64 {
        self.given().gap(self.model.scene(), at, q, self.targets).unwrap_or(0.0)
    }

    fn drive(&self) -> f64 {
        self.given().drive_velocity(self.model.scene(), self.targets)
    }

    /// `s` of the row beside `J v`; `level`: whether a rigid limit is about positions.
    fn law(&self, at: &Kinematics, q: &[f64], lambda: f64, level: bool) -> f64 {
        let (row, gap) = (self.given(), self.gap(at, q));
        match row.compliance {
            None if row.is_limit() => {
                if level {
                    gap / self.h
                } else {
                    0.0
                }
            }
            None => gap / self.h - self.drive(),
            Some(c) => {
                let e_inv = 1.0 / row.step_damping(self.h, self.theta);
                match row.element {
                    Element::Unilateral => {
                        gap.max(0.0) / self.h + e_inv * (lambda + c.stiffness * gap.min(0.0))
                    }
                    _ => e_inv * (lambda + c.stiffness * gap - c.damping * self.drive()),
                }
            }
        }
    }

    /// Effort of an eliminated row at the velocity `v_theta` of its joint.
    fn effort(&self, at: &Kinematics, q: &[f64], velocity: f64) -> f64 {
        let Some(c) = self.given().compliance else { return 0.0 };
        c.damping * self.drive()
            - c.stiffness * self.gap(at, q)
            - self.given().step_damping(self.h, self.theta) * velocity
    }

    /// `(1-theta) h E` of an eliminated row, which it adds to the mass matrix.
    fn added_mass(&self) -> f64 {
        (1.0 - self.theta) * self.h * self.given().step_damping(self.h, self.theta)
    }

    /// `J' x`, over all of `v`.
    fn push(&self, at: &Kinematics, x: f64, scratch: &mut Vec<f64>, out: &mut [f64]) {
        scratch.clear();
        scratch.resize(out.len(), 0.0);
        self.given().add_row(self.model.scene(), at, scratch);
        out.iter_mut().zip(scratch).for_each(|(o, j)| *o += x * *j);
    }
}

impl Step<'_> {
    /// The standing row of an element.
    pub(super) fn row_of(&self, element: usize) -> Option<usize> {
        let standing = element.checked_sub(self.work.contacts.elements.len())?;
        Some(self.work.problem.standing[standing].row)
    }

    fn at<'a>(&'a self, row: usize) -> Row<'a> {
        let Motion { h, theta, targets, .. } = &self.work.motion;
        Row { model: self.model, row, h: *h, theta: *theta, targets }
    }

    /// A standing row that carries load: `J`, and how it, its gap and its force move with the bodies.
    pub(super) fn standing(&self, part: &mut Part, own: &Active, row: usize) {
        let (problem, scene, system) = (&self.work.problem, self.model.scene(), self.model.system());
        let given = &self.model.standing()[row];
        let gap = given.gap(scene, &self.middle, &self.before.position, &self.work.motion.targets);
        let at = problem.rows_of(own.element).start;
        // how s follows the gap
        let follows = match (given.compliance, gap) {
            (_, None) => 0.0,
            (None, _) if given.is_limit() => {
                if own.free {
                    problem.gap_share(at) / problem.h
                } else {
                    0.0
                }
            }
            (None, _) => 1.0 / problem.h,
            (Some(_), Some(gap)) if given.element == Element::Unilateral && gap > 0.0 => 1.0 / problem.h,
            (Some(c), _) => c.stiffness / given.step_damping(problem.h, problem.theta),
        };
        let standing = &problem.standing[own.element - self.work.contacts.elements.len()];
        part.compliance.add(own.first, own.first, standing.e_inv);
        let mut j = vec![0.0; part.n];
        given.add_row(scene, &self.middle, &mut j);
        for t in given.trees(scene, system).into_iter().flatten() {
            for i in system.trees()[t].dofs.clone() {
                part.jacobian.add(own.first, i, j[i]);
                if problem.is_at_end(at) {
                    part.slip_v.add(own.first, i, -part.theta * j[i]);
                }
                if !matches!(given.kind, StandingKind::Loop { .. }) {
                    part.slip_q.add(own.first, i, follows * j[i]);
                }
            }
        }
        if let StandingKind::Loop { index, row } = given.kind {
            let lambda = self.work.forces.lambda[problem.rows_of(own.element).start];
            self.each_loop_change(index, row, |i, relative, dgap| {
                part.slip_q.add(own.first, i, relative + follows * dgap);
            });
            self.loop_force(index, row, part.h * lambda, &mut part.force_q);
        }
    }

    /// Changes of a row of a loop along every direction of the trees that it acts on: the direction, the change of
    /// `J v_theta` and of the gap.
    fn each_loop_change(&self, index: usize, row: usize, mut each: impl FnMut(usize, f64, f64)) {
        let (given, system) = (&self.model.scene().loops[index], self.model.system());
        let (axis, turns) = given.axis(&self.middle, row);
        let links = given.ends.map(|e| e.body.and_then(|b| system.tree_of(b).map(|t| (b, t))));
        let points = [0, 1].map(|end| given.point(&self.middle, end));
        let motion = [0, 1].map(|k| {
            links[k].map_or(([0.0; 3], [0.0; 3]), |(b, _)| {
                (self.middle.point_velocity(b, points[k]), self.middle.angular_velocity(b))
            })
        });
        let relative = if turns { sub(motion[1].1, motion[0].1) } else { sub(motion[1].0, motion[0].0) };
        let mut trees: Vec<usize> = links.iter().flatten().map(|(_, t)| *t).collect();
        trees.dedup();
        for t in trees {
            let start = system.trees()[t].dofs.start;
            for (j, by) in self.directions.place(&self.middle, t).iter().enumerate() {
                let changes = [0, 1].map(|k| match links[k] {
                    Some((b, tree)) if tree == t => self.middle.vary_link(b, by, points[k]),
                    _ => LinkChange::default(),
                });
                let (daxis, dgap) =
                    given.vary(&self.middle, row, changes.map(|c| c.turn), changes.map(|c| c.shift));
                // velocities of the points, which move
                let faster = [0, 1].map(|k| match turns {
                    true => changes[k].angular,
                    false => add(changes[k].linear, cross(motion[k].1, changes[k].shift)),
                });
                let change = dot(daxis, relative) + dot(axis, sub(faster[1], faster[0]));
                each(start + j, change, dgap);
            }
        }
    }

    /// Adds the change of `J' x` of a row of a loop with the configuration.
    fn loop_force(&self, index: usize, row: usize, x: f64, map: &mut Sparse) {
        let (given, system) = (&self.model.scene().loops[index], self.model.system());
        let (axis, turns) = given.axis(&self.middle, row);
        let links = given.ends.map(|e| e.body.and_then(|b| system.tree_of(b).map(|t| (b, t))));
        let points = [0, 1].map(|end| given.point(&self.middle, end));
        let mut trees: Vec<usize> = links.iter().flatten().map(|(_, t)| *t).collect();
        trees.dedup();
        for t in trees {
            let start = system.trees()[t].dofs.start;
            for (j, by) in self.directions.place(&self.middle, t).iter().enumerate() {
                let changes = [0, 1].map(|k| match links[k] {
                    Some((b, tree)) if tree == t => self.middle.vary_link(b, by, points[k]),
                    _ => LinkChange::default(),
                });
                let (daxis, _) =
                    given.vary(&self.middle, row, changes.map(|c| c.turn), changes.map(|c| c.shift));
                for (k, sign) in [(0, -x), (1, x)] {
                    let Some((link, tree)) = links[k] else { continue };
                    let none = self.directions.none(&self.middle, tree);
                    let by = if tree == t { by } else { none };
                    let wrench = |axis: Vector| match turns {
                        true => [[0.0; 3], scale(sign, axis)],
                        false => [scale(sign, axis), [0.0; 3]],
                    };
                    let dofs = system.trees()[tree].dofs.clone();
                    let mut out = vec![0.0; dofs.len()];
                    let at = (points[k], changes[k].shift);
                    self.middle.vary_wrench(link, by, at, wrench(axis), wrench(daxis), &mut out);
                    out.iter().zip(dofs).for_each(|(x, i)| map.add(i, start + j, *x));
                }
            }
        }
    }

    /// Springs and servos that are eliminated: `h (-K dq - theta E dv)`, at bounds that they are about to reach with a note. What
    /// they do to the mass matrix is in [`crate::step::Motion::kick`].
    pub(super) fn eliminated(&self, part: &mut Part) {
        for row in &self.work.motion.servos.rows {
            let given = &self.model.standing()[row.row];
            let stiffness = given.compliance.map_or(0.0, |c| c.stiffness);
            part.force_q.add(row.dof, row.dof, -part.h * stiffness);
            part.force_v.add(row.dof, row.dof, -row.held(part.h));
            let effort = row.effort(&self.work.motion.velocity, &self.after).0;
            if effort.abs() >= (1.0 - AT_BOUND) * row.limit {
                let choice = "effort at its bound: taken as below it";
                self.note(part, given.name(self.model.scene()), choice);
            }
        }
    }

    /// The projection of positions on rigid loops, gears and drives: an impulse `h J' pi` more, such that their gaps
    /// at the end are zero.
    pub(super) fn closing(&self, part: &mut Part) {
        let projection = self.work.projection();
        let rows = &projection.rows;
        if rows.is_empty() {
            return;
        }
        let (problem, scene, system) = (&self.work.problem, self.model.scene(), self.model.system());
        let first = self.work.contacts.elements.len();
        let mut closing = Closing { rows: rows.len(), ..Closing::default() };
        let added: Vec<f64> = self.ended.iter().zip(&self.after).map(|(a, b)| a - b).collect();
        closing.inertia = Some(InertiaMap::new(&self.middle, &self.before.position, &added, [0.0; 3]));
        let end = self.end();
        let (mut j, mut unit) = (vec![0.0; part.n], vec![0.0; part.n]);
        for (k, &at) in rows.iter().enumerate() {
            let given = &self.model.standing()[problem.standing[at].row];
            given.add_row(scene, &self.middle, &mut j);
            for (i, x) in j.iter_mut().enumerate() {
                closing.jacobian.add(k, i, std::mem::take(x));
            }
            let StandingKind::Loop { index, row } = given.kind else {
                given.add_row(scene, &end, &mut j);
                for (i, x) in j.iter_mut().enumerate() {
                    closing.gaps.add(k, i, std::mem::take(x));
                }
                continue;
            };
            let pi = projection.lambda.get(problem.rows_of(first + at).start).copied().unwrap_or(0.0);
            self.loop_force(index, row, part.h * pi, &mut closing.push_q);
            // the gap's own gradient at the end; the turn of both bodies and the shift of both points are linear
            let given = &scene.loops[index];
            let ends = given.ends.map(|e| e.body.filter(|b| system.tree_of(*b).is_some()));
            for side in 0..2 {
                let Some(link) = ends[side] else { continue };
                let point = given.point(&end, side);
                for axis in 0..6 {
                    let along: Vector = std::array::from_fn(|i| f64::from(u8::from(i == axis % 3)));
                    let mut turn = [[0.0; 3]; 2];
                    let mut shift = [[0.0; 3]; 2];
                    if axis < 3 {
                        shift[side] = along;
                    } else {
                        turn[side] = along;
                    }
                    let (_, dgap) = given.vary(&end, row, turn, shift);
                    if dgap != 0.0 {
                        match axis < 3 {
                            true => end.jacobian_row(link, point, along, dgap, &mut unit),
                            false => end.angular_row(link, along, dgap, &mut unit),
                        }
                    }
                }
            }
            for (i, x) in unit.iter_mut().enumerate() {
                closing.gaps.add(k, i, std::mem::take(x));
            }
        }
        let mut m = Matrix::zeros(rows.len(), rows.len());
        for column in 0..rows.len() {
            let mut pi = vec![0.0; rows.len()];
            pi[column] = 1.0;
            let moved = part.drifted(&closing.push(part, &pi));
            let mut gap = vec![0.0; rows.len()];
            closing.gaps.times(1.0, &moved[..part.n], &mut gap);
            (0..rows.len()).for_each(|i| m[(i, column)] = gap[i]);
        }
        closing.factor = Factor::with_rank(&m, REDUNDANT);
        part.closing = Some(closing);
    }

    /// Kinematics at the end of the step.
    fn end(&self) -> Kinematics {
        let mut end = self.middle.clone();
        end.go_to(&self.end, &self.ended);
        end
    }

    /// What a parameter does to standing rows, eliminated ones and the projection, explicitly.
    pub(super) fn standing_parameter(
        &self,
        part: &Part,
        active: &[Active],
        inputs: &Inputs,
        derivative: &dyn Fn(usize, &mut dyn FnMut(&Model, &mut [f64])) -> Vec<f64>,
        column: &mut Column,
    ) {
        if self.model.standing().is_empty() {
            return;
        }
        let change = |n: usize, of: &mut dyn FnMut(&Model, f64, f64, &mut [f64])| {
            derivative(n, &mut |model, out| of(model, self.work.motion.h, self.before.time, out))
        };
        self.standing_column(part, active, inputs, &change, column);
    }

    /// The same of the logarithm of the step's length, with times from zero on scaled by the same.
    pub(super) fn standing_duration(
        &self,
        part: &Part,
        active: &[Active],
        inputs: &Inputs,
        column: &mut Column,
    ) {
        if self.model.standing().is_empty() {
            return;
        }
        let change = |n: usize, of: &mut dyn FnMut(&Model, f64, f64, &mut [f64])| {
            let values = [-2.0, -1.0, 1.0, 2.0].map(|k| {
                let (longer, mut out) = (1.0 + 1e-3 * k, vec![0.0; n]);
                of(self.model, longer * self.work.motion.h, longer * self.before.time, &mut out);
                out
            });
            (0..n).map(|i| combine(values.each_ref().map(|x| x[i]), 1e-3)).collect()
        };
        // h J' pi grows with h; all else is differentiated below
        if let Some(closing) = &part.closing {
            let pi = self.projected();
            closing.jacobian.transpose_times(part.h, &pi, &mut column.push);
        }
        self.standing_column(part, active, inputs, &change, column);
    }

    /// Forces of the projection.
    fn projected(&self) -> Vec<f64> {
        let (projection, problem) = (self.work.projection(), &self.work.problem);
        let first = self.work.contacts.elements.len();
        let force = |k: &usize| projection.lambda.get(problem.rows_of(first + k).start).copied();
        projection.rows.iter().map(|k| force(k).unwrap_or(0.0)).collect()
    }

    /// `change(n, f)` differentiates the `n` numbers that `f` gives of a model, a step's length and a time.
    fn standing_column(
        &self,
        part: &Part,
        active: &[Active],
        inputs: &Inputs,
        change: &dyn Fn(usize, &mut dyn FnMut(&Model, f64, f64, &mut [f64])) -> Vec<f64>,
        column: &mut Column,
    ) {
        let (problem, q) = (&self.work.problem, &self.before.position);
        let position_level = self.model.scene().step.gap != GapLevel::Velocity;
        let (mut targets, mut scratch) = (vec![], vec![]);
        for a in active {
            let Some(row) = self.row_of(a.element) else { continue };
            let lambda = self.work.forces.lambda[problem.rows_of(a.element).start];
            let level = position_level && a.free;
            let at = problem.rows_of(a.element).start;
            let (share, seen) = match problem.is_at_end(at) {
                true => (1.0 - part.theta, &self.ending.2),
                false => (1.0, &self.theta),
            };
            let own = change(1 + part.n, &mut |model, h, time, out| {
                set_targets(model, inputs, time, h, &mut targets);
                let row = Row { model, row, h, theta: part.theta, targets: &targets };
                let (value, pushed) = out.split_at_mut(1);
                row.push(&self.middle, 1.0, &mut scratch, pushed);
                value[0] = share * row.law(&self.middle, q, lambda, level)
                    + pushed.iter().zip(seen).map(|(j, v)| j * v).sum::<f64>();
            });
            column.slip[a.first] += own[0];
            column.force.iter_mut().zip(&own[1..]).for_each(|(f, x)| *f += part.h * lambda * x);
        }
        let added: Vec<f64> = self.ended.iter().zip(&self.after).map(|(a, b)| a - b).collect();
        for row in &self.work.motion.servos.rows {
            let own = change(2, &mut |model, h, time, out| {
                set_targets(model, inputs, time, h, &mut targets);
                let at = Row { model, row: row.row, h, theta: part.theta, targets: &targets };
                out[0] = at.effort(&self.middle, q, self.theta[row.dof]);
                out[1] = at.added_mass();
            });
            column.force[row.dof] += part.h * own[0];
            if part.closing.is_some() {
                column.push[row.dof] -= own[1] * added[row.dof];
            }
        }
        let Some(closing) = &part.closing else { return };
        let (end, pi) = (self.end(), self.projected());
        column.gap.resize(closing.rows, 0.0);
        for (k, &at) in self.work.projection().rows.iter().enumerate() {
            let row = problem.standing[at].row;
            let own = change(1 + part.n, &mut |model, h, time, out| {
                set_targets(model, inputs, time, h, &mut targets);
                let row = Row { model, row, h, theta: part.theta, targets: &targets };
                out[0] = row.gap(&end, &self.end);
                row.push(&self.middle, 1.0, &mut scratch, &mut out[1..]);
            });
            column.gap[k] += own[0];
            column.push.iter_mut().zip(&own[1..]).for_each(|(f, x)| *f += part.h * pi[k] * x);
        }
    }

    /// What the targets of the motors do, one column each.
    pub(super) fn targets(&self, part: &mut Part, active: &[Active]) {
        let (scene, problem) = (self.model.scene(), &self.work.problem);
        let mut columns = vec![Column::default(); scene.motors.len()];
        for (motor, column) in scene.motors.iter().zip(&mut columns) {
            if let Drive::Effort(_) = motor.drive {
                column.force = vec![0.0; part.n];
                column.force[self.model.system().dofs(motor.body).start + motor.dof] = part.h;
            }
        }
        let motor_of = |row: usize| match self.model.standing()[row].kind {
            StandingKind::Drive(k) => Some((k, matches!(scene.motors[k].drive, Drive::Position { .. }))),
            _ => None,
        };
        for a in active {
            let Some((row, (k, position))) = self.row_of(a.element).and_then(|r| Some((r, motor_of(r)?)))
            else {
                continue;
            };
            let compliance = self.model.standing()[row].compliance;
            let by = match (compliance, position) {
                (None, true) => 1.0 / problem.h,
                (None, false) => 1.0,
                (Some(c), _) => {
                    let own = if position { c.stiffness } else { c.damping };
                    own / self.model.standing()[row].step_damping(problem.h, problem.theta)
                }
            };
            columns[k].slip = vec![0.0; part.rows];
            columns[k].slip[a.first] = -by;
        }
        for row in &self.work.motion.servos.rows {
            let Some((k, position)) = motor_of(row.row) else { continue };
            let Some(c) = self.at(row.row).given().compliance else { continue };
            columns[k].force = vec![0.0; part.n];
            columns[k].force[row.dof] = part.h * if position { c.stiffness } else { c.damping };
        }
        if let Some(closing) = &part.closing {
            for (at, &standing) in self.work.projection().rows.iter().enumerate() {
                if let Some((k, true)) = motor_of(problem.standing[standing].row) {
                    columns[k].gap = vec![0.0; closing.rows];
                    columns[k].gap[at] = -1.0;
                }
            }
        }
        part.targets = columns;
    }
}
