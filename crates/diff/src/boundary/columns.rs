//! What parameters and the length of the step do, explicitly, to the parts of a step.

use super::derivative::{Column, Part};
use super::linearise::{Active, Step};
use super::parameters::Parameter;
use crate::contact::set::Contact;
use crate::dynamics::{Drift, Kinematics, combine, difference};
use crate::inputs::Inputs;
use crate::model::Model;
use crate::motion::{Motion, applied_force};
use crate::scene::ForceTime;
use crate::space::{Vector, dot};
use crate::step::Workspace;
use crate::step::carrier::{added, is_carried};
use complementarity::problem::Element;

impl Step<'_> {
    /// What one parameter does, explicitly.
    pub(super) fn parameter(
        &self,
        part: &mut Part,
        active: &[Active],
        p: &Parameter,
        k: usize,
        inputs: &Inputs,
    ) {
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
                    let row = problem.standing[standing].row;
                    p.derivative(1, |model, out| {
                        if let Element::Bounded { limit } = model.standing()[row].element {
                            out[0] = limit;
                        }
                    })
                }
            };
            let s = &forces.velocity[rows];
            lambda[a.first..a.first + a.rows].copy_from_slice(&a.tangent.law_change(
                element,
                own,
                s,
                &coefficients,
            ));
        }
        self.stiffness(part, active, p, (&mut slip, &mut memory));
        let begin = (&self.before.position[..], &self.theta[..]);
        self.carriers(
            active,
            |c, point| {
                let change = p.derivative(3, |model, out| {
                    out.copy_from_slice(&added(model, c, point, begin, h).unwrap_or_default());
                });
                [change[0], change[1], change[2]]
            },
            &mut slip,
        );
        let mut column = Column { force, slip, lambda, memory, ..Column::default() };
        column.drift = std::mem::take(&mut part.parameters[k].drift);
        if part.closing.is_some() {
            column.push = vec![0.0; n];
            if p.inertia {
                let added: Vec<f64> = self.ended.iter().zip(&self.after).map(|(a, b)| a - b).collect();
                let heavier = p.momentum(&self.before.position, &added);
                column.push.iter_mut().zip(heavier).for_each(|(f, m)| *f -= m);
            }
        }
        let derivative = |n: usize, of: &mut dyn FnMut(&Model, &mut [f64])| p.derivative(n, of);
        self.standing_parameter(part, active, inputs, &derivative, &mut column);
        part.parameters[k] = column;
    }

    /// What the logarithm of the step's length does, explicitly.
    pub(super) fn duration(&self, part: &mut Part, active: &[Active], inputs: &Inputs) -> Column {
        let Workspace { motion, contacts, problem, forces, .. } = self.work;
        let (h, n, linear) = (part.h, part.n, problem.linear_rows);
        let change: Vec<f64> = self.after.iter().zip(&motion.velocity).map(|(a, v)| a - v).collect();
        // h (f + J' lambda) = M a
        let mut force = std::mem::take(&mut part.longer);
        force.resize(n, 0.0);
        let mut pushed = vec![0.0; n];
        motion.mass.multiply(&change, &mut pushed);
        force.iter_mut().zip(&pushed).for_each(|(f, p)| *f += p);
        let implicit = self.model.scene().step.force_time() == ForceTime::Theta;
        let (place, velocity) = self.force_state(motion, implicit);
        let mut at = self.middle.clone();
        at.go_to(&place, &velocity);
        // forces over time, at times that count from zero
        let values = [-2.0, -1.0, 1.0, 2.0].map(|k| {
            let mut out = vec![0.0; n];
            applied_force(self.model, inputs, &mut at, motion.time * (1.0 + 1e-3 * k), &mut out);
            out
        });
        (0..n).for_each(|i| force[i] += h * combine(values.each_ref().map(|x| x[i]), 1e-3));
        let (mut slip, mut memory) = (vec![0.0; part.rows], vec![0.0; part.memory[1]]);
        for a in active.iter().filter(|a| a.free && self.row_of(a.element).is_none()) {
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
            let angle = if linear == 3 { h * motion.spin(c.owners, c.frame.n) } else { 0.0 };
            for i in 0..linear {
                let by = if linear == 3 { [0.0, -angle * delta[2], angle * delta[1]] } else { [0.0; 3] };
                let relaxed: f64 = (0..linear).map(|j| law.e_inv_k()[(i, j)] * by[j]).sum();
                memory[at + i] += by[i] - h * relaxed;
                if let Some(a) = own {
                    slip[a.first + i] -= relaxed;
                }
                let values = [-2.0, -1.0, 1.0, 2.0].map(|k| rate(h * (1.0 + 1e-3 * k), i));
                let slope = combine(values, 1e-3);
                if let Some(a) = own {
                    slip[a.first + i] += slope;
                }
                memory[at + i] += h * (rate(h, i) + slope);
            }
        }
        let from = (&self.before.position[..], &self.theta[..]);
        self.carriers(
            active,
            |c, point| {
                let values = [-2.0, -1.0, 1.0, 2.0]
                    .map(|k| added(self.model, c, point, from, h * (1.0 + 1e-3 * k)).unwrap_or_default());
                [0, 1, 2].map(|i| combine(values.map(|v| v[i]), 1e-3))
            },
            &mut slip,
        );
        let mut begin = self.middle.clone();
        begin.go_to(&self.before.position, &motion.velocity);
        let (mut drift, middle) = (Drift::new(self.model.system()), self.middle_of(&self.ended));
        let mut reach = |h: f64| {
            let (mut q, mut v) = (self.before.position.clone(), self.ended.clone());
            // a drift that succeeded at h does so nearby; if not, its share is left out
            let _ = drift.advance(&begin, &motion.mass, h, &middle, (&mut q, &mut v));
            (q, v)
        };
        let (end, _) = reach(h);
        let ends = [-2.0, -1.0, 1.0, 2.0].map(|k| {
            let (q, v) = reach(h * (1.0 + 1e-3 * k));
            let mut out = vec![0.0; 2 * n];
            difference(self.model.system(), &q, &end, &mut out[..n]);
            out[n..].copy_from_slice(&v);
            out
        });
        let drifted = (0..2 * n).map(|i| combine(ends.each_ref().map(|x| x[i]), 1e-3)).collect();
        let mut column = Column { force, slip, drift: drifted, memory, ..Column::default() };
        if part.closing.is_some() {
            column.push = vec![0.0; n];
        }
        self.standing_duration(part, active, inputs, &mut column);
        column
    }

    /// Adds to the rows of contacts with carriers how much faster these are.
    fn carriers(&self, active: &[Active], change: impl Fn(&Contact, Vector) -> Vector, slip: &mut [f64]) {
        let Workspace { contacts, problem, .. } = self.work;
        for a in active.iter().filter(|a| a.element < contacts.elements.len()) {
            let Some(c) = contacts.contacts.iter().find(|c| c.elements().contains(&a.element)) else {
                continue;
            };
            if !is_carried(self.model, c) {
                continue;
            }
            let by = change(c, contacts.elements[a.element].point);
            let axes = [c.frame.n, c.frame.t, c.frame.o];
            (1..a.rows.min(problem.linear_rows)).for_each(|i| slip[a.first + i] += dot(axes[i], by));
        }
    }

    /// Where and with which velocities the applied forces were evaluated.
    pub(super) fn force_state(&self, motion: &Motion, implicit: bool) -> (Vec<f64>, Vec<f64>) {
        if !implicit {
            return (self.before.position.clone(), motion.velocity.clone());
        }
        let mut place = self.before.position.clone();
        let share = (1.0 - self.work.problem.theta) * motion.h;
        self.model.system().advance(&self.before.position, &self.theta, share, &mut place);
        (place, self.theta.clone())
    }

    /// What a parameter of a compliant law does to `s` and to the deformations.
    pub(super) fn stiffness(
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
