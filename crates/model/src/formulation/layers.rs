//! The contact problem of an iteration of the implicit scheme: geometry at the end of the step, soft layers over rigid cores.

use super::stiffness::widen;
use super::{ContactProblem, Motion, Operator, turned};
use crate::Model;
use crate::contact::set::ContactSet;
use crate::contact::{Layer, MOST_LAYERS};
use crate::state::{ContactId, RowId, State};
use complementarity::matrix::Matrix;

/// The layers of a contact in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Soft {
    /// The contact.
    pub id: ContactId,
    /// Deformation before the step, layer by layer n, t, o, m.
    pub before: [[f64; 3]; MOST_LAYERS],
    /// Deformation after it.
    pub after: [[f64; 3]; MOST_LAYERS],
    /// Whether the layer is compressed to its core.
    pub core: [bool; MOST_LAYERS],
    /// Force of the core, N: the largest of the layers'.
    pub core_force: f64,
    /// Energy that overlap which nothing remembers gives to the springs when the step begins, J.
    pub pressed: f64,
}

/// Share of an overlap that counts as rounding of the end of the step before.
const KNOWN: f64 = 1e-3;

impl Soft {
    /// Of a contact: the deformations that a state remembers, turned by an angle about the normal.
    pub fn new(id: ContactId, linear: usize, state: &State, angle: f64) -> Self {
        let mut before = [[0.0; 3]; MOST_LAYERS];
        if let Some(known) = state.memory.find(RowId::Contact(id)) {
            for (to, from) in before.iter_mut().zip(known.deformations.chunks_exact(linear)) {
                to[..linear].copy_from_slice(from);
                if linear == 3 {
                    [to[1], to[2]] = turned([to[1], to[2]], angle);
                }
            }
        }
        Self { id, before, after: before, core: [false; MOST_LAYERS], core_force: 0.0, pressed: 0.0 }
    }

    /// Compresses the layers by `depth` from the start, at one force as far as their thickness lets them: of a contact between parts that were so deep in each other when the step began, which
    /// nothing remembers. Compressing them within the step instead would be work of their dampers at a velocity that nothing has.
    pub fn press(&mut self, layers: &[Layer], depth: f64) {
        if layers.is_empty() || self.compression() >= (1.0 - KNOWN) * depth {
            return;
        }
        let energy =
            |soft: &Self| layers.iter().zip(&soft.before).map(|(l, d)| l.energy(&d[..1])).sum::<f64>();
        self.pressed -= energy(self);
        // the softest first: what runs out leaves the rest to the others
        let mut order = [0; MOST_LAYERS];
        (0..layers.len()).for_each(|l| order[l] = l);
        let order = &mut order[..layers.len()];
        let most = |l: usize| layers[l].thickness * layers[l].stiffness(0);
        order.sort_unstable_by(|&a, &b| most(a).total_cmp(&most(b)));
        let mut left = depth;
        for k in 0..order.len() {
            let compliance = |l: &usize| 1.0 / layers[*l].stiffness(0);
            let share = compliance(&order[k]) / order[k..].iter().map(compliance).sum::<f64>();
            let own = (left * share).min(layers[order[k]].thickness);
            self.before[order[k]][0] = own;
            left -= own;
        }
        self.after = self.before;
        self.pressed += energy(self);
    }

    /// Compression of all layers along the normal, m.
    pub fn compression(&self) -> f64 {
        self.after.iter().map(|d| d[0]).sum()
    }

    /// Deformations after the step under the force `lambda` (n, t, o); says whether a layer met its core or left it. Forces within `tolerance` of the
    /// core's limit do not change that.
    pub fn update(&mut self, layers: &[Layer], step: (f64, f64), lambda: &[f64], tolerance: f64) -> bool {
        let mut changed = false;
        self.core_force = 0.0;
        for (l, layer) in layers.iter().enumerate() {
            let before = self.before[l];
            for i in 0..lambda.len().min(3) {
                self.after[l][i] = layer.after(i, step, before[i], lambda[i]);
            }
            if !layer.thickness.is_finite() {
                continue;
            }
            let at_core = layer.force(0, step, before[0], layer.thickness);
            let beyond = lambda[0] - at_core;
            let core = if self.core[l] { beyond >= -tolerance } else { beyond > tolerance };
            if core {
                self.after[l][0] = layer.thickness;
                self.core_force = self.core_force.max(beyond);
            }
            changed |= core != self.core[l];
            self.core[l] = core;
        }
        changed
    }
}

/// Places the forces of contacts between two layers where these meet, as they are deformed in the step with the explicit share `theta`.
pub fn meet_between_layers(
    model: &Model,
    (state, known): (&State, &[Soft]),
    theta: f64,
    set: &mut ContactSet,
) {
    let ContactSet { contacts, elements } = set;
    for c in contacts.iter_mut().filter(|c| model.contacts().rules()[c.rule].meets_between_layers()) {
        let known = known.iter().find(|s| s.id == c.id).copied();
        let soft = known.unwrap_or_else(|| Soft::new(c.id, model.contacts().linear_rows(), state, 0.0));
        let [a, b] = [0, 1].map(|l| (theta * soft.before[l][0] + (1.0 - theta) * soft.after[l][0]).max(0.0));
        if a + b > 0.0 {
            c.place(&mut elements[c.first], a / (a + b));
        }
    }
}

impl ContactProblem {
    /// Assembles the problem for bodies at the end of the step as far as it is known (`motion.kinematics`), and the masses there.
    /// Gaps of `contacts` are those at the end less `h W_n v_theta` of that end, so that they are linear in the velocities. `soft` has one entry per contact.
    /// `position` is that end, `seen` the velocities that led there. `springs`: whether slip counts the rate of the tangential springs; `far`: how far
    /// places are from the origin, which bounds the rounding of gaps.
    pub fn assemble_implicit(
        &mut self,
        model: &Model,
        (state, motion, contacts): (&State, &Motion, &ContactSet),
        (position, seen): (&[f64], &[f64]),
        soft: &[Soft],
        (theta, springs, far): (f64, bool, f64),
    ) {
        (self.h, self.theta) = (motion.h, theta);
        self.choose_standing(model, state, motion);
        self.start_forces(model, state, contacts);
        self.jacobian(model, motion, contacts);
        self.standing_rows(model, motion, seen);
        let linear = self.linear_rows;
        let own = self.factors().offsets().windows(2).flat_map(|w| &self.b[w[0]..w[1].min(w[0] + linear)]);
        self.fastest = own.fold(0.0f64, |m, x| m.max(x.abs()));
        self.elements.clear();
        self.gap.clear();
        self.gap_rate.clear();
        self.relaxed.clear();
        self.scale.clear();
        self.at_end.clear();
        self.left.clear();
        for (c, soft) in contacts.contacts.iter().zip(soft) {
            let rule = &model.contacts().rules()[c.rule];
            self.scale.push(1.0);
            let compression = self.comply_layers(&rule.layers, soft, (rule.rows, c.first), springs);
            self.elements.push(rule.element);
            let gap = contacts.elements[c.first].gap + compression;
            self.add_gap(c.first, gap, f64::NEG_INFINITY);
            // a gap is the difference of two places
            let row = self.rows_of(c.first).start;
            self.terms[row] += far / self.h;
        }
        self.standing_laws(model, position, motion);
        self.reference_speeds(model, contacts, position);
    }

    /// Forces of the last step where the contacts are the same.
    fn start_forces(&mut self, model: &Model, state: &State, contacts: &ContactSet) {
        self.start.clear();
        self.deformation.clear();
        for c in &contacts.contacts {
            let rows = model.contacts().rules()[c.rule].rows;
            match state.memory.find(RowId::Contact(c.id)) {
                Some(known) if known.forces.len() == rows => self.start.extend_from_slice(known.forces),
                _ => self.start.resize(self.start.len() + rows, 0.0),
            }
        }
        for standing in &self.standing {
            let known = state.memory.find(model.standing()[standing.row].id);
            self.start.push(known.and_then(|m| m.forces.first()).copied().unwrap_or(0.0));
        }
    }

    /// Adds `E^-1` of a contact's layers to `A` and `-E^-1 K delta` to `b`; where a layer is at its core, the way there instead. Returns the compression
    /// of the layers before the step.
    fn comply_layers(
        &mut self,
        layers: &[Layer],
        soft: &Soft,
        (rows, element): (usize, usize),
        springs: bool,
    ) -> f64 {
        let (linear, first, step) = (self.linear_rows, self.rows_of(element).start, (self.h, self.theta));
        self.point.reset(linear, linear);
        let (mut any, mut compression) = (false, 0.0);
        for (l, layer) in layers.iter().enumerate() {
            compression += soft.before[l][0];
            for i in 0..if springs { linear } else { 1 } {
                let rate = if i == 0 && soft.core[l] {
                    (layer.thickness - soft.before[l][0]) / self.h
                } else {
                    let e_inv = layer.e_inv(i, step);
                    self.point[(i, i)] += e_inv;
                    any = true;
                    -e_inv * layer.stiffness(i) * soft.before[l][i]
                };
                self.b[first + i] += rate;
                self.terms[first + i] += rate.abs();
            }
        }
        if any {
            let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
            let mut e_inv: &Matrix = &self.point;
            if rows > linear {
                widen(&mut self.wide, (rows, linear), e_inv);
                e_inv = &self.wide;
            }
            a.add_patch(element, e_inv);
        }
        compression
    }
}
