//! How deformations of contacts enter their rows, and what becomes of them.

use super::contacts::{Moved, frame_change};
use super::deformations;
use super::derivative::Part;
use super::forces::Directions;
use super::linear::Sparse;
use super::linearise::{Active, Step};
use crate::contact::set::Contact;
use crate::dynamics::LinkChange;
use crate::formulation::rotates;
use crate::geometry::{self, Touch, Velocity, feature};
use crate::model::Owner;
use crate::scene::GapLevel;
use crate::space::{Vector, add, dot, scale};
use crate::state::RowId;
use crate::step::Workspace;

/// Place of a contact's deformations among those before the step, and their values; `None` if it is new.
type Known<'a> = Option<(usize, &'a [f64])>;

/// Cosine and sine from the stored frame to the contact's; `None` if it does not turn.
type Turned = Option<[f64; 2]>;

impl Step<'_> {
    /// How deformations enter the rows, and what becomes of them.
    pub(super) fn memory(&self, part: &mut Part, active: &[Active]) {
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
    pub(super) fn point_memory(
        &self,
        part: &mut Part,
        (index, c): (usize, &Contact),
        (out, known): (usize, Known<'_>),
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
        // and turned with the materials
        let angle = if linear == 3 { h * self.work.motion.spin(c.owners, c.frame.n) } else { 0.0 };
        let (sin, cos) = angle.sin_cos();
        let came = match turned {
            _ if linear < 3 => None,
            None => Some([cos, -sin]),
            Some([c, s]) => Some([c * cos + s * sin, s * cos - c * sin]),
        };
        let into = |i: usize, j: usize| turn_entry(came, i, j);
        let back = |i: usize, j: usize| turn_entry(turned, j, i);
        let after: Vec<f64> =
            raw.iter().enumerate().map(|(i, x)| if i > 0 { kept * x } else { *x }).collect();
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
                        let mut ds: f64 = -(0..linear).map(|m| law.e_inv_k()[(i, m)] * frame[m]).sum::<f64>();
                        if i == 0 && self.model.scene().step.gap != GapLevel::Velocity {
                            ds += frame[0] / h;
                        }
                        part.slip_memory.add(own.first + i, first + j, ds);
                    }
                }
            }
        }
        let spun = |dangle: f64| -> [Vec<f64>; 2] {
            let by = if linear == 3 { [0.0, -dangle * delta[2], dangle * delta[1]] } else { [0.0; 3] };
            let relaxed = |i: usize| -> f64 { (0..linear).map(|m| law.e_inv_k()[(i, m)] * by[m]).sum() };
            [
                (0..linear).map(|i| -relaxed(i)).collect(),
                (0..linear).map(|i| by[i] - h * relaxed(i)).collect(),
            ]
        };
        if known.is_some() && linear == 3 {
            for (column, dangle) in self.spin_by_velocity(c) {
                let [slip, draw] = spun(dangle);
                put(&mut part.memory_v, column, &draw, 0.0);
                if let Some(own) = own {
                    slip.iter().enumerate().for_each(|(i, x)| part.slip_v.add(own.first + i, column, *x));
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
        let pressed = self.is_pressed(c);
        self.frame_memory(
            part,
            c,
            own,
            (out, known, turned),
            (delta, &after),
            |part, column, dgap, dspin| {
                let [slip, turned] = spun(if known.is_some() { h * dspin } else { 0.0 });
                slip.iter().enumerate().for_each(|(i, x)| part.slip_q.add(own.first + i, column, *x));
                let dscale = self.scale_slope(c).unwrap_or(0.0) * dgap;
                let mut draw: Vec<f64> =
                    undamped.iter().zip(&turned).map(|(x, t)| t - h * x * dscale).collect();
                if pressed {
                    // delta_n before the step is -gap
                    for (i, draw) in draw.iter_mut().enumerate() {
                        let (own_row, relaxes) = (f64::from(u8::from(i == 0)), law.e_inv_k()[(i, 0)]);
                        *draw -= dgap * (own_row - h * relaxes);
                        let level =
                            own_row * f64::from(u8::from(self.model.scene().step.gap != GapLevel::Velocity));
                        part.slip_q.add(own.first + i, column, dgap * (relaxes - level / h));
                    }
                }
                put(&mut part.memory_q, column, &draw, dscale);
            },
        );
    }

    /// How the angle by which tangential springs turn changes with velocities, where these are not zero.
    fn spin_by_velocity(&self, c: &Contact) -> Vec<(usize, f64)> {
        let Workspace { motion, problem, .. } = self.work;
        let mut row = vec![0.0; motion.velocity.len()];
        for owner in c.owners {
            if let Owner::Body(i) = owner {
                motion.kinematics.angular_row(i, c.frame.n, 0.5 * problem.h, &mut row);
            }
        }
        row.into_iter().enumerate().filter(|(_, x)| *x != 0.0).collect()
    }

    /// Whether a point contact overlaps at a start: its deformation is then that of the configuration.
    fn is_pressed(&self, c: &Contact) -> bool {
        let problem = &self.work.problem;
        // rigid contacts have none
        self.before.memory.is_empty()
            && c.count == 1
            && problem.deformation[problem.linear_rows * c.first] > 0.0
    }

    /// Changes with the configuration: by the gap, where stiffness varies or the contact is pressed, and by a frame that turns.
    pub(super) fn frame_memory(
        &self,
        part: &mut Part,
        c: &Contact,
        own: &Active,
        (out, known, turned): (usize, Known<'_>, Turned),
        (delta, after): (&[f64], &[f64]),
        mut moved: impl FnMut(&mut Part, usize, f64, f64),
    ) {
        let varies = self.scale_slope(c).is_some() || self.is_pressed(c);
        let spins = known.is_some() && delta.len() == 3;
        if !varies && !spins && turned.is_none() {
            return;
        }
        let (start, directions) = (&self.work.motion.kinematics, Directions::new(self.model.system()));
        let omega = |k: usize| match c.owners[k] {
            Owner::Body(i) => start.angular_velocity(i),
            Owner::World(_) => [0.0; 3],
        };
        let mean = scale(0.5, add(omega(0), omega(1)));
        let system = self.model.system();
        let mut work = geometry::Workspace::default();
        let element = &self.work.contacts.elements[c.first];
        let touch =
            Touch { point: c.middle(element), normal: c.frame.n, gap: element.gap, feature: c.id.feature };
        let sides = [c.id.part_a, c.id.part_b].map(|k| &self.model.parts()[k as usize]);
        let poses = sides.map(|p| match p.owner {
            Owner::Body(i) => self.middle.pose(i).then(&p.local),
            Owner::World(_) => p.local,
        });
        let found = feature(&sides[0].solid, &poses[0], &sides[1].solid, &poses[1], &touch, &mut work);
        for (t, tree) in system.trees().iter().enumerate() {
            for (j, by) in self.directions.place(&self.middle, t).iter().enumerate() {
                let moves = |k: usize, point: Vector| match c.owners[k] {
                    Owner::Body(i) if system.tree_of(i) == Some(t) => self.middle.vary_link(i, by, point),
                    _ => LinkChange::default(),
                };
                let solids = [0, 1].map(|k| {
                    let moved = moves(k, poses[k].position);
                    Velocity { linear: moved.shift, angular: moved.turn }
                });
                let here = [0, 1].map(|k| moves(k, element.point));
                let change = Moved::new(found.as_ref(), &solids, &here, c);
                let column = tree.dofs.start + j;
                if varies || spins {
                    let by = &directions.place(start, t)[j];
                    let faster = |k: usize| match c.owners[k] {
                        Owner::Body(i) if system.tree_of(i) == Some(t) => {
                            0.5 * dot(start.vary_link(i, by, element.point).angular, c.frame.n)
                        }
                        _ => 0.0,
                    };
                    moved(part, column, change.gap, dot(change.normal, mean) + faster(0) + faster(1));
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
    pub(super) fn turned_rows(
        &self,
        part: &mut Part,
        c: &Contact,
        own: &Active,
        column: usize,
        delta: [f64; 2],
        (out, turned): (usize, Turned),
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
}

/// Entry of the turn of tangential components from the stored frame into the contact's.
fn turn_entry(turned: Turned, i: usize, j: usize) -> f64 {
    match (turned, i, j) {
        (_, 0, 0) => 1.0,
        (None, i, j) => f64::from(u8::from(i == j)),
        (Some([cos, _]), 1, 1) | (Some([cos, _]), 2, 2) => cos,
        (Some([_, sin]), 1, 2) => sin,
        (Some([_, sin]), 2, 1) => -sin,
        _ => 0.0,
    }
}
