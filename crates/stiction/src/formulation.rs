//! Contacts -> the contact problem `s = A lambda + b`.
//!
//! `A = (1-theta) h J M^-1 J' + E^-1` is kept by its factor `W = J H^-1`, `M = H' H`, tree by tree; `J v` are the speeds at contacts.
//!
//! With torsion or rolling friction somewhere in the scene elements have rows of turning too: the relative angular velocity about n (and t
//! and o) times an axis of the ellipsoid, `e = torsion / mu` or `rolling / mu`, in m/s. Their unknowns are moments over `e`, in N, and the
//! ellipsoid of forces and moments is a ball of radius `mu lambda_n`, as in `complementarity::problem::AsDisc`. Where a contact has no such
//! moment, `e = 0`, and its row is `s = c lambda` with some `c > 0`, whose only answer is 0.

use crate::contact::Compliance;
use crate::contact::set::{Contact, ContactSet};
use crate::dynamics::{FreePoint, Kinematics, MassMatrix};
use crate::model::Owner;
use crate::model::{Model, Rule};
use crate::scene::GapLevel;
use crate::space::{Vector, scale};
use crate::state::{RowId, State};
use crate::step::{InvalidModel, Motion};
use complementarity::certificate::{self, Certificate};
use complementarity::matrix::{Matrix, dot};
use complementarity::operator::{BlockMatrix, Factored, Neighbours, Operator};
use complementarity::problem::{ConeProblem, Friction, FrictionProblem, Sets};
use complementarity::residual::{self, Residual};

/// The compliant laws at the length of a step: the model's own at the scene's step, copies at any other.
#[derive(Debug, Clone, Default)]
pub struct Laws {
    /// Rule by rule, where the step is not the scene's.
    others: Vec<Option<Compliance>>,
    /// Whether `others` counts.
    other: bool,
}

impl Laws {
    /// Goes to another step.
    pub fn set_step(&mut self, model: &Model, h: f64) -> Result<(), InvalidModel> {
        self.other = h != model.scene().step.h;
        if !self.other {
            return Ok(());
        }
        if self.others.is_empty() {
            self.others = model.contacts().rules().iter().map(|r| r.compliance.clone()).collect();
        }
        for compliance in self.others.iter_mut().flatten() {
            compliance.update(h).map_err(|e| InvalidModel(e.to_string()))?;
        }
        Ok(())
    }

    /// The law of a rule; `None` if it is rigid.
    pub fn of<'a>(&'a self, model: &'a Model, rule: usize) -> Option<&'a Compliance> {
        let own = if self.other { &self.others[rule] } else { &model.contacts().rules()[rule].compliance };
        own.as_ref()
    }
}

/// The contact problem of a step, `s = A lambda + b`, in memory that is used again.
#[derive(Debug, Clone)]
pub struct ContactProblem {
    operator: Operator,
    /// Length of the step, s.
    pub h: f64,
    /// `b`, with `g/h` on normal rows.
    pub b: Vec<f64>,
    /// One coefficient of friction per element.
    pub mu: Vec<f64>,
    /// Forces of the last step, from which the solve starts; 0 for new contacts.
    pub start: Vec<f64>,
    /// Deformation `delta` of all elements before the step, m, rows n, t(, o).
    pub deformation: Vec<f64>,
    /// `g` of each element (0 where the law is about velocities), m.
    pub gap: Vec<f64>,
    /// `K(q)` over the law's `K`, one number per contact; 1 where the law does not vary.
    pub scale: Vec<f64>,
    /// Largest relative velocity of an element were there no contact forces, m/s.
    pub fastest: f64,
    /// Rows of an element.
    pub rows: usize,
    /// Rows of an element along n, t(, o); the others are rotations.
    pub linear_rows: usize,
    /// Whether no contact is rigid.
    pub compliant: bool,
    /// One friction set per element, and the one that all of the model share.
    sets: Vec<Friction>,
    common_set: Option<Friction>,
    /// Elements with anisotropic friction, and the semi-axes of their ellipses over `mu`.
    ellipses: Vec<(usize, [f64; 2])>,
    /// `j M^-1 j'` of each element's normal row, 1/kg.
    mobility: Vec<f64>,
    /// Scratch: a row of `J`, zero between uses.
    row: Vec<f64>,
    /// Scratch: `theta v + (1-theta) free`.
    middle: Vec<f64>,
    /// Scratch: `E^-1` of a point whose law varies, and of a contact with rows of rotation.
    point: Matrix,
    wide: Matrix,
}

/// Assembles the contact problem of the step that `motion` begins, for contacts found within its margin.
pub fn assemble(
    model: &Model,
    laws: &Laws,
    state: &State,
    motion: &Motion,
    contacts: &ContactSet,
    problem: &mut ContactProblem,
) {
    problem.h = motion.h;
    problem.remember(model, state, contacts);
    problem.jacobian(model, motion, contacts);
    problem.fastest = problem.b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    problem.laws(model, laws, motion, contacts);
}

impl ContactProblem {
    /// Memory for a model.
    pub fn new(model: &Model) -> Self {
        let (rows, linear_rows) = (model.contacts().rows(), model.contacts().linear_rows());
        Self {
            operator: Operator::Factored(Factored::default()),
            h: model.scene().step.h,
            b: vec![],
            mu: vec![],
            start: vec![],
            deformation: vec![],
            gap: vec![],
            scale: vec![],
            fastest: 0.0,
            rows,
            linear_rows,
            compliant: true,
            sets: vec![],
            common_set: model.contacts().common_set(),
            ellipses: vec![],
            mobility: vec![],
            row: vec![],
            middle: vec![],
            point: Matrix::zeros(linear_rows, linear_rows),
            wide: Matrix::default(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.b.is_empty()
    }

    /// Deformations of all elements before the step and the last forces; new contacts are undeformed and carry none.
    fn remember(&mut self, model: &Model, state: &State, contacts: &ContactSet) {
        self.deformation.clear();
        self.start.clear();
        // both are in order of ids
        let mut memory = state.memory.iter().peekable();
        for c in &contacts.contacts {
            let id = RowId::Contact(c.id);
            let (size, deforms) = (self.rows * c.count, self.linear_rows * c.count);
            while memory.next_if(|m| m.id < id).is_some() {}
            let known = memory.next_if(|m| m.id == id);
            match known {
                Some(known) if known.forces.len() == size => self.start.extend_from_slice(known.forces),
                _ => self.start.resize(self.start.len() + size, 0.0),
            }
            let first = self.deformation.len();
            match known {
                Some(known) if known.deformations.len() == deforms => {
                    self.deformation.extend_from_slice(known.deformations);
                    if rotates(model, c) {
                        let from = c.frame.along_x();
                        let own = self.deformation[first..].as_chunks_mut().0;
                        own.iter_mut().for_each(|d| *d = c.frame.from(&from, *d));
                    }
                }
                _ => self.deformation.resize(first + deforms, 0.0),
            }
        }
    }

    /// As solvers see it: rows of anisotropic friction and of moments over the axes of their ellipsoids.
    pub fn view(&self) -> ConeProblem<'_> {
        let sets = match self.common_set {
            Some(set) => Sets::All(set),
            None => Sets::Each(&self.sets),
        };
        ConeProblem { a: &self.operator, b: &self.b, mu: &self.mu, rows: self.rows, sets }
    }

    /// `A`, as its factors.
    pub fn factors(&self) -> &Factored {
        match &self.operator {
            Operator::Factored(f) => f,
            _ => unreachable!("made as factors"),
        }
    }

    /// `E^-1`, friction and gaps of all contacts.
    fn laws(&mut self, model: &Model, laws: &Laws, motion: &Motion, contacts: &ContactSet) {
        self.mu.clear();
        self.sets.clear();
        self.ellipses.clear();
        self.gap.clear();
        self.scale.clear();
        self.compliant = true;
        for c in &contacts.contacts {
            let rule = &model.contacts().rules()[c.rule];
            let compliance = laws.of(model, c.rule);
            self.compliant &= compliance.is_some();
            let scale = compliance.map_or(1.0, |law| self.comply(contacts, c, rule, law));
            self.hold_rotations(c, rule, compliance.is_some());
            self.scale.push(scale);
            for k in c.elements() {
                self.mu.push(rule.friction);
                self.sets.push(rule.set);
                if rule.is_anisotropic() {
                    self.ellipses.push((k, [rule.axis(1), rule.axis(2)]));
                }
                // an element farther off than anything moves, or whose line misses a body, takes no force; its gap must not
                // drown the others in the residual's measure
                let gap = match model.scene().step.gap {
                    GapLevel::Position => {
                        contacts.elements[k].gap.min(motion.margin) + self.deformation[self.linear_rows * k]
                    }
                    GapLevel::Velocity => 0.0,
                };
                self.gap.push(gap);
                self.b[self.rows * k] += gap / self.h;
            }
        }
    }

    /// Adds `E^-1` of a compliant contact to `A`, and `-E^-1 K delta` to `b`; the scale of its stiffness.
    fn comply(&mut self, contacts: &ContactSet, c: &Contact, rule: &Rule, law: &Compliance) -> f64 {
        let (rows, linear) = (self.rows, self.linear_rows);
        let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
        let (mut scale, mut e_inv) = (1.0, law.e_inv());
        if law.varies() {
            scale = law.scale(-contacts.elements[c.first].gap, self.mobility[c.first]);
            for i in 0..linear {
                self.point[(i, i)] = e_inv[(i, i)] / scale;
            }
            e_inv = &self.point;
        }
        if rows == linear && !rule.is_anisotropic() {
            a.add_patch(c.first, e_inv);
        } else {
            widen(&mut self.wide, (rows, linear), e_inv, rule);
            if rows == linear {
                a.add_patch(c.first, &self.wide);
            }
        }
        let own = &self.deformation[linear * c.first..][..law.rows()];
        for (k, b) in self.b[rows * c.first..].chunks_exact_mut(rows).take(c.count).enumerate() {
            for (i, b) in b[..linear].iter_mut().enumerate() {
                *b -= rule.axis(i) * dot(law.e_inv_k().row(linear * k + i), own);
            }
        }
        scale
    }

    /// Rotations without friction yield by the unit of their element, so that they take no moment; the rotations about t and o
    /// share one axis.
    fn hold_rotations(&mut self, c: &Contact, rule: &Rule, compliant: bool) {
        let (rows, linear) = (self.rows, self.linear_rows);
        if rows == linear || !(compliant || (linear..rows).any(|row| rule.axis(row) == 0.0)) {
            return;
        }
        if !compliant {
            self.wide.reset(rows * c.count, rows * c.count);
        }
        for (k, mobility) in self.mobility[c.elements()].iter().enumerate() {
            for i in (linear..rows).filter(|&i| rule.axis(i) == 0.0) {
                self.wide[(rows * k + i, rows * k + i)] = self.h * mobility;
            }
        }
        let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
        a.add_patch(c.first, &self.wide);
    }

    /// `W`, and `b = J (theta v + (1-theta) free)`, element by element: n, t(, o), and the rotations about n(, t, o).
    fn jacobian(&mut self, model: &Model, motion: &Motion, contacts: &ContactSet) {
        let (theta, dofs) = (model.scene().step.explicit_share, model.system().velocity_size());
        let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
        a.clear(self.rows, dofs, (1.0 - theta) * self.h);
        self.row.clear();
        self.row.resize(dofs, 0.0);
        self.middle.clear();
        let both = motion.velocity.iter().zip(&motion.free);
        self.middle.extend(both.map(|(now, free)| theta * now + (1.0 - theta) * free));
        self.b.clear();
        self.mobility.clear();
        for c in &contacts.contacts {
            self.contact_rows(model, motion, contacts, c);
        }
    }

    /// The rows of one contact.
    fn contact_rows(&mut self, model: &Model, motion: &Motion, contacts: &ContactSet, c: &Contact) {
        let (system, rows) = (model.system(), self.rows);
        let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
        let ends = [(c.owners[0], -1.0), (c.owners[1], 1.0)];
        let trees = c.owners.map(|owner| match owner {
            Owner::Body(link) => system.tree_of(link),
            Owner::World(_) => None,
        });
        let both = trees[0] == trees[1];
        let rule = &model.contacts().rules()[c.rule];
        let axes = match rule.is_anisotropic() {
            true => [c.frame.n, scale(rule.axis(1), c.frame.t), scale(rule.axis(2), c.frame.o)],
            false => [c.frame.n, c.frame.t, c.frame.o],
        };
        for element in &contacts.elements[c.elements()] {
            let at = self.b.len();
            self.b.resize(at + rows, 0.0);
            let b = &mut self.b[at..];
            let mut mobility = 0.0;
            for k in 0..2 {
                let Some(t) = trees[k] else { continue };
                if both && k == 1 {
                    continue;
                }
                let dofs = system.trees()[t].dofs.clone();
                let v = &self.middle[dofs.clone()];
                let along = axes.map(|d| scale(ends[k].1, d));
                if rows == 3
                    && let Some(FreePoint { w, speed }) = motion.mass.free_point(t, element.point, v, along)
                {
                    (0..3).for_each(|i| b[i] += speed[i]);
                    a.free_body(dofs.start, &w);
                    mobility += w[0].iter().map(|w| w * w).sum::<f64>();
                    continue;
                }
                let (own, row) = (if both { &ends[..] } else { &ends[k..=k] }, &mut self.row);
                let w = a.segment(dofs.start, dofs.len());
                for i in 0..rows {
                    let direction = match i {
                        0..3 => axes[i],
                        _ => scale(rule.axis(i), [c.frame.n, c.frame.t, c.frame.o][i - 3]),
                    };
                    add_row(&motion.kinematics, own, element.point, (direction, i >= 3), row);
                    let row = &mut row[dofs.clone()];
                    b[i] += dot(row, v);
                    let w = &mut w[dofs.len() * i..][..dofs.len()];
                    w.copy_from_slice(row);
                    row.fill(0.0);
                    motion.mass.solve_root_transposed(t, w);
                    if i == 0 {
                        mobility += dot(w, w);
                    }
                }
            }
            self.mobility.push(mobility);
            a.end_contact();
        }
    }

    /// Adds to `b` what a change of the free velocity does, `(1-theta) J change`; `change` becomes `H change / h`.
    pub fn add_velocity(&mut self, mass: &MassMatrix, change: &mut [f64]) {
        for (t, dofs) in mass.trees() {
            mass.times_root(t, &mut change[dofs]);
        }
        change.iter_mut().for_each(|x| *x /= self.h);
        let Operator::Factored(a) = &self.operator else { unreachable!("made as factors") };
        for (k, own) in self.b.chunks_exact_mut(self.rows).enumerate() {
            a.pull(k, change, own);
        }
    }

    /// A copy that stands for itself, `A` multiplied out; `None` if it is empty or not finite.
    pub fn to_friction(&self) -> Option<FrictionProblem> {
        if self.b.is_empty() {
            return None;
        }
        let mut a = BlockMatrix::default();
        a.assign_factored(self.factors(), &mut Neighbours::default());
        let (mut b, mu, mut sets) = (self.b.clone(), self.mu.clone(), self.sets.clone());
        // rows of a grain as they are, under an ellipse
        let (mut back, mut axes) = (vec![1.0; b.len()], vec![1.0; b.len() - mu.len()]);
        for &(k, [t, o]) in &self.ellipses {
            sets[k] = Friction::Ellipsoid;
            (back[self.rows * k + 1], back[self.rows * k + 2]) = (1.0 / t, 1.0 / o);
            (axes[(self.rows - 1) * k], axes[(self.rows - 1) * k + 1]) = (t, o);
        }
        a.scale(&back);
        b.iter_mut().zip(&back).for_each(|(b, s)| *b *= s);
        let problem = FrictionProblem::new(Operator::Blocks(a), b, mu, self.rows, Friction::Cone).ok()?;
        let problem = problem.with_frictions(sets).ok()?;
        if self.ellipses.is_empty() { Some(problem) } else { problem.with_axes(axes).ok() }
    }

    /// Whether an element has a grain: solvers then see other units than the problem has.
    pub fn is_anisotropic(&self) -> bool {
        !self.ellipses.is_empty()
    }

    /// The residual of the problem as posed, as [`Self::to_friction`] has it, for unknowns and speeds of the one that was solved.
    pub fn residual(&self, lambda: &[f64], speed: &[f64]) -> Residual {
        let (mut square, mut size) = (0.0, 0.0);
        let mut grains = self.ellipses.iter().peekable();
        for (k, (lambda, speed)) in
            lambda.chunks_exact(self.rows).zip(speed.chunks_exact(self.rows)).enumerate()
        {
            let grain = grains.next_if(|g| g.0 == k);
            let (mut axes, set) =
                ([1.0; 5], if grain.is_some() { Friction::Ellipsoid } else { self.sets[k] });
            axes[..2].copy_from_slice(&grain.map_or([1.0; 2], |g| g.1));
            let (mut l, mut s, mut r) = ([0.0; 6], [0.0; 6], [0.0; 6]);
            for i in 0..self.rows {
                let axis = if i == 0 { 1.0 } else { axes[i - 1] };
                (l[i], s[i]) = (axis * lambda[i], speed[i] / axis);
                size += (self.b[self.rows * k + i] / axis).powi(2);
            }
            let (l, s, r) = (&l[..self.rows], &s[..self.rows], &mut r[..self.rows]);
            residual::contact(set, &axes[..self.rows - 1], self.mu[k], l, s, r);
            square += r.iter().map(|r| r * r).sum::<f64>();
        }
        Residual::new(f64::sqrt(square), f64::sqrt(size))
    }

    /// Forces for unknowns, as [`Self::to_friction`] has them.
    pub fn forces(&self, lambda: &[f64]) -> Vec<f64> {
        let mut forces = lambda.to_vec();
        for &(k, [t, o]) in &self.ellipses {
            let own = forces.iter_mut().skip(self.rows * k + 1).take(2);
            own.zip([t, o]).for_each(|(force, axis)| *force *= axis);
        }
        forces
    }

    /// What is known of forces that solve it beside their residual, see [`certificate`]; `None` if there are no rows, or numbers are not finite.
    pub fn certificate(&self, lambda: &[f64], settings: &certificate::Settings) -> Option<Certificate> {
        Some(certificate::examine(&self.to_friction()?, Some(&self.forces(lambda)), settings))
    }

    /// Adds `h M^-1 J' lambda` to `v`; `impulse` is scratch.
    pub fn push(&self, mass: &MassMatrix, lambda: &[f64], impulse: &mut Vec<f64>, v: &mut [f64]) {
        impulse.clear();
        impulse.resize(v.len(), 0.0);
        for (k, own) in lambda.chunks_exact(self.rows).enumerate() {
            self.factors().push(k, own, impulse);
        }
        for (t, dofs) in mass.trees() {
            mass.solve_root(t, &mut impulse[dofs]);
        }
        v.iter_mut().zip(impulse).for_each(|(v, push)| *v += self.h * *push);
    }
}

/// Whether a contact's frame may rotate from step to step with the direction of its friction: the deformation of a point is
/// remembered in one that does not. (The direction of a patch does not move.)
pub(crate) fn rotates(model: &Model, contact: &Contact) -> bool {
    contact.count == 1 && model.contacts().rules()[contact.rule].is_anisotropic()
}

/// Adds the row of a relative velocity of a contact, along a direction or about it, over all velocities.
pub(crate) fn relative_row(
    kinematics: &Kinematics,
    contact: &Contact,
    point: Vector,
    along: (Vector, bool),
    row: &mut [f64],
) {
    let [a, b] = contact.owners;
    add_row(kinematics, &[(a, -1.0), (b, 1.0)], point, along, row);
}

/// Adds a row of an element, along a direction or about it, as the bodies of `ends` move it.
fn add_row(
    kinematics: &Kinematics,
    ends: &[(Owner, f64)],
    point: Vector,
    (direction, turns): (Vector, bool),
    row: &mut [f64],
) {
    for (owner, sign) in ends {
        let Owner::Body(link) = *owner else { continue };
        match turns {
            false => kinematics.jacobian_row(link, point, direction, *sign, row),
            true => kinematics.angular_row(link, direction, *sign, row),
        }
    }
}

/// `E^-1` of a contact with rows of rotation, which are rigid.
fn widen(wide: &mut Matrix, (rows, linear): (usize, usize), e_inv: &Matrix, rule: &Rule) {
    let n = e_inv.rows();
    wide.reset(rows * n / linear, rows * n / linear);
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        wide[(rows * (i / linear) + i % linear, rows * (j / linear) + j % linear)] =
            rule.axis(i % linear) * e_inv[(i, j)] * rule.axis(j % linear);
    }
}
