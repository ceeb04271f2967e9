//! The end of an implicit step: checks of the way, the next state, what contacts remember, and the report.

use super::super::books::{Deformation, End};
use super::super::detect::refuse_dent;
use super::super::report::{elastic, moving_work, standing};
use super::super::{ElementReport, Failed, Solved, Status, StepReport, Workspace, trust};
use super::between;
use crate::contact::set::Element;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::state::{RowId, State, next_time};
use complementarity::matrix::dot;
use complementarity::solver::auto::WARM_START;

/// Takes the end that was found.
pub(super) fn finish(
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    work: &mut Workspace,
    report: &mut StepReport,
) -> Result<(), Failed> {
    between::check(model, state, inputs, work)?;
    for c in &work.contacts.contacts {
        if work.forces.lambda[work.problem.rows_of(c.first).start] > 0.0 {
            // the gap of the linearised problem is not that of the shapes
            let element = Element { gap: 0.0, ..work.contacts.elements[c.first] };
            refuse_dent(model, &work.detection, c, &element, state.time)?;
        }
    }
    let h = work.motion.h;
    report.work += h * dot(&work.motion.outside, &work.implicit.seen);
    let linear = model.contacts().linear_rows();
    for m in state.memory.iter().filter(|m| !m.deformations.is_empty()) {
        let remains = work.contacts.contacts.binary_search_by_key(&m.id, |c| RowId::Contact(c.id)).is_ok();
        if !remains {
            let released = elastic(model, m);
            report.release_loss += released;
            work.books.add(m.id, -released);
        }
    }
    for (c, soft) in
        work.contacts.contacts.iter().zip(&work.implicit.soft).filter(|(_, soft)| soft.pressed > 0.0)
    {
        report.recovery_work += soft.pressed;
        work.books.add(RowId::Contact(c.id), soft.pressed);
    }
    let springs = model.scene().step.tangential_springs;
    work.elements.clear();
    state.memory.clear();
    for (c, soft) in work.contacts.contacts.iter().zip(&work.implicit.soft) {
        let rule = &model.contacts().rules()[c.rule];
        let rows = work.problem.rows_of(c.first);
        let (lambda, s) = (&work.forces.lambda[rows.clone()], &work.forces.velocity[rows]);
        let mut kept = [0.0; 6];
        for l in 0..rule.layers.len() {
            kept[linear * l..linear * (l + 1)].copy_from_slice(&soft.after[l][..linear]);
            for i in 0..if springs { linear } else { 1 } {
                let rate = (soft.after[l][i] - soft.before[l][i]) / h;
                report.damping_loss += h * rule.layers[l].damping(i) * rate * rate;
            }
        }
        state.memory.push(RowId::Contact(c.id), lambda, &kept[..linear * rule.layers.len()]);
        let pick = |v: &[f64]| [v[0], v[1], if linear == 3 { v[2] } else { 0.0 }];
        let (force, mut speed) = (pick(lambda), pick(s));
        speed[0] -= work.problem.gap_rate[c.first];
        report.work += moving_work(&work.problem, c.first, lambda);
        report.friction_loss -= h * (force[1] * speed[1] + force[2] * speed[2]);
        let (mut moment, mut turn, mut fastest) = ([0.0; 3], [0.0; 3], speed[1].hypot(speed[2]));
        for i in linear..lambda.len() {
            let axis = rule.element.as_contact().map_or(0.0, |e| e.axes[i - 1]);
            if axis > 0.0 {
                (moment[i - linear], turn[i - linear]) = (lambda[i], s[i]);
                fastest = fastest.hypot(axis * s[i]);
                report.friction_loss -= h * lambda[i] * s[i];
            }
        }
        let status = match () {
            () if force[0] <= 0.0 => Status::Open,
            () if fastest <= work.forces.rest[c.first] => Status::Stick,
            () => Status::Slip,
        };
        let mut deformation = [0.0; 3];
        for l in 0..rule.layers.len() {
            (0..linear).for_each(|i| deformation[i] += soft.after[l][i]);
        }
        let begin = work.implicit.begin.binary_search_by_key(&c.id, |b| b.0);
        let before: f64 = soft.before.iter().map(|d| d[0]).sum();
        let core = if rule.layers.is_empty() { force[0] } else { soft.core_force };
        work.elements.push(ElementReport {
            id: c.id,
            element: 0,
            body_a: c.owners[0],
            body_b: c.owners[1],
            point: work.contacts.elements[c.first].point,
            frame: c.frame,
            gap: begin.map_or(0.0, |k| work.implicit.begin[k].1 + before),
            force,
            core,
            moment,
            speed,
            turn,
            deformation,
            status,
            impact: false,
        });
    }
    let Workspace { laws, motion, contacts, problem, forces, advancing, implicit, books, .. } = work;
    let solved = Solved { laws, motion, contacts, problem, forces };
    if let Some(middle) = &implicit.end {
        let deformation = Deformation::Layers(&implicit.soft, springs);
        let end = End { mass: middle.kick(), velocity: &implicit.secant.point, bounced: false, deformation };
        books.contacts(model, solved, end, &work.elements, report);
    }
    let rows = (&mut work.standing, books);
    standing(model, solved, (&advancing.projection, &implicit.after), false, rows, report);
    for (element, standing) in (work.contacts.elements.len()..).zip(&work.problem.standing) {
        let rows = work.problem.rows_of(element);
        state.memory.push(model.standing()[standing.row].id, &work.forces.lambda[rows], &[]);
    }
    state.time = next_time(state.time, h);
    state.position.copy_from_slice(&work.implicit.position);
    state.velocity.copy_from_slice(&work.implicit.after);
    report.trust = trust::known(work.problem.b.len(), work.forces.memory.trust, report.solver == WARM_START);
    let until_examined = state.solver.until_examined;
    state.solver.copy_from(&work.forces.memory);
    (state.solver.trust, state.solver.until_examined) = (report.trust, until_examined);
    let Workspace { rest, contacts, problem, other_motion, .. } = work;
    rest.note((model, contacts, problem), state, report, other_motion);
    Ok(())
}
