//! What the elements of a step did, in newtons and metres per second.

use super::{ElementReport, STILL, Status, StepReport, Stepper};
use complementarity::matrix::{dot, norm};

impl Stepper {
    /// What the elements did.
    pub(super) fn tell(&mut self, h: f64, report: &mut StepReport) {
        self.elements.clear();
        let (per, along) = (self.rows.per, self.rows.along);
        let (lambda, s) = (&self.solver.lambda, self.solver.speed());
        let still = STILL * self.rows.fastest;
        let pick = |v: &[f64], at: usize| [v[at], v[at + 1], if along == 3 { v[at + 2] } else { 0.0 }];
        for c in &self.detector.contacts {
            let rule = &self.detector.rules[c.rule];
            for k in c.first..c.first + c.count {
                let (mut force, mut speed) = (pick(lambda, per * k), pick(s, per * k));
                speed[0] -= self.rows.gap[k] / h;
                if rule.has_grain() {
                    for i in 1..3 {
                        force[i] *= rule.axis(i);
                        speed[i] /= rule.axis(i);
                    }
                }
                report.friction_loss -= h * (force[1] * speed[1] + force[2] * speed[2]);
                let status = match () {
                    () if force[0] <= 0.0 => Status::Open,
                    () if speed[1].hypot(speed[2]) <= still => Status::Stick,
                    () => Status::Slip,
                };
                self.elements.push(ElementReport {
                    id: c.id,
                    element: k - c.first,
                    body_a: c.owners[0],
                    body_b: c.owners[1],
                    point: self.detector.elements[k].point,
                    frame: c.frame,
                    gap: self.rows.gap[k],
                    force,
                    moment: [0.0; 3],
                    speed,
                    turn: [0.0; 3],
                    deformation: pick(&self.after, along * k),
                    status,
                });
            }
        }
        if per > along {
            self.tell_turns(h, report);
        }
    }

    /// What they did where contacts have moments: unknowns of turns are moments over the ellipsoid's axes.
    fn tell_turns(&mut self, h: f64, report: &mut StepReport) {
        let (per, along) = (self.rows.per, self.rows.along);
        let rows = self.solver.lambda.chunks_exact(per).zip(self.solver.speed().chunks_exact(per));
        let rules = self.detector.contacts.iter().flat_map(|c| std::iter::repeat_n(c.rule, c.count));
        for ((e, (lambda, s)), rule) in self.elements.iter_mut().zip(rows).zip(rules) {
            let (lambda, s) = (&lambda[along..], &s[along..]);
            for (i, (l, s)) in lambda.iter().zip(s).enumerate() {
                let axis = self.detector.rules[rule].axis(along + i);
                e.moment[i] = axis * l;
                e.turn[i] = if axis > 0.0 { s / axis } else { 0.0 };
            }
            if e.status == Status::Stick && norm(s) > STILL * self.rows.fastest {
                e.status = Status::Slip;
            }
            report.friction_loss -= h * dot(lambda, s);
        }
    }
}
