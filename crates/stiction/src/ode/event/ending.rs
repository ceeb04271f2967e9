//! What contacts and standing rows do at the end of a step.

use super::field::{Asked, Hold, Mode, Touch};
use super::islands::scale_of;
use super::{CLOSED, Path};
use crate::contact::set::Contact;
use crate::motion::targets_at;
use crate::state::{RowId, State, next_time};
use crate::step::soft_row::compliant_row;
use crate::step::{ElementReport, Failed, StandingReport, Status, Workspace};
use complementarity::residual::Residual;

/// Defects, in the scales of a contact, above which a step has failed, and from which on forces show theirs as residual.
const WRONG: f64 = 1e-6;
const SEEN: f64 = 1e-8;

impl Path<'_> {
    /// What the contacts do at the end.
    pub(super) fn finish(&mut self, state: &mut State, start: f64) -> Result<(), Failed> {
        self.load(state);
        self.ask(state.time, Asked::Forces);
        self.look_again(state);
        self.find_near(state, CLOSED)?;
        self.check(state)?;
        if self.left.is_none() {
            state.time = next_time(start, self.h);
        }
        state.memory.clear();
        let rows = self.model.contacts().linear_rows();
        let Workspace { elements, .. } = &mut *self.work;
        elements.clear();
        for c in &self.s.closed {
            let Some(found) = self.s.near.contacts.iter().find(|n| n.id == c.id) else { continue };
            state.memory.push(RowId::Contact(c.id), &c.force[..rows], &[]);
            elements.push(ElementReport {
                id: c.id,
                element: 0,
                body_a: found.owners[0],
                body_b: found.owners[1],
                point: self.s.near.elements[found.first].point,
                frame: found.frame,
                gap: self.s.near.elements[found.first].gap,
                force: c.force,
                core: c.force[0],
                moment: [0.0; 3],
                speed: c.velocity,
                turn: [0.0; 3],
                deformation: [0.0; 3],
                status: match (c.touch, c.mode) {
                    (Touch::Carries, Mode::Stick) => Status::Stick,
                    (Touch::Carries, Mode::Slip(_)) => Status::Slip,
                    _ => Status::Open,
                },
                impact: false,
            });
        }
        self.report.parts = usize::from(!elements.is_empty());
        self.report_standing(state);
        let Workspace { motion, .. } = &mut *self.work;
        // joints see the change of momentum over the whole step
        let kept = &self.s.kept;
        motion.kinematics.go_to(&kept.position, &kept.velocity);
        (motion.h, motion.time) = (state.time - start, start);
        Ok(())
    }

    /// Whether what the modes say is so: forces solve their equations, and contacts neither overlap nor separate nor slip where they do not.
    fn check(&mut self, state: &State) -> Result<(), Failed> {
        let defect = self.s.buffers.defect;
        let wrong = |residual: f64, cause: String| {
            let (time, h, solver) = (state.time, self.h, "dormand-prince");
            Failed::Unsolved { time, h, solver, end: "left its contacts".into(), residual, cause }
        };
        if defect > WRONG {
            return Err(wrong(defect, ": the forces of redundant contacts contradict each other".to_owned()));
        }
        if defect > self.report.residual.relative.max(SEEN) {
            self.report.residual = Residual { absolute: defect, relative: defect, fclib: defect };
        }
        let name = |c: &Contact| self.model.contact_name(c.id).unwrap_or_default();
        for n in &self.s.near.contacts {
            let scale = scale_of(self.model, &self.s.near, n);
            let gap = self.s.near.elements[n.first].gap;
            if gap < -WRONG * scale.length {
                return Err(wrong(-gap / scale.length, format!(": {} overlaps by {:.1e} m", name(n), -gap)));
            }
            let Ok(k) = self.s.closed.binary_search_by_key(&n.id, |c| c.id) else { continue };
            let c = &self.s.closed[k];
            let slip = if c.mode == Mode::Stick && c.force[1..] != [0.0; 2] { c.slip() } else { 0.0 };
            let speed = c.velocity[0].abs().max(slip);
            if c.touch == Touch::Carries && speed > WRONG * scale.speed {
                let cause = format!(": {} moves at {speed:.1e} m/s, though it does not", name(n));
                return Err(wrong(speed / scale.speed, cause));
            }
        }
        Ok(())
    }

    /// What the standing rows do at the end.
    fn report_standing(&mut self, state: &mut State) {
        let model = self.model;
        let Workspace { standing, motion, .. } = &mut *self.work;
        standing.clear();
        motion.kinematics.go_to(&state.position, &state.velocity);
        targets_at(model, self.inputs, state.time, &mut motion.targets);
        let mut own = vec![0.0; state.velocity.len()];
        let mut held = self.s.held.iter().peekable();
        for (index, row) in model.standing().iter().enumerate() {
            let (force, gap, velocity, status) = match held.next_if(|h| h.row == index) {
                Some(h) => {
                    self.report.violation = match h.hold {
                        Hold::Bilateral => self.report.violation.max(h.gap.abs()),
                        _ => self.report.violation,
                    };
                    state.memory.push(row.id, &[h.force], &[]);
                    let status = match h.hold {
                        Hold::Open => Status::Open,
                        Hold::Slip(_) => Status::Slip,
                        _ => Status::Stick,
                    };
                    (h.force, h.gap, h.velocity, status)
                }
                None => {
                    let at = (&motion.kinematics, &*state, &motion.targets[..]);
                    standing.push(compliant_row(model, index, at, &mut own));
                    continue;
                }
            };
            let (effort, velocity) = (row.sign() * force, row.sign() * velocity);
            standing.push(StandingReport { row: index, gap, effort, velocity, status });
        }
    }
}
