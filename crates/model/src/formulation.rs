//! Assembly of the contact problem `s = A lambda + b` from contacts and dynamics, in N, N m, m/s and rad/s.
//!
//! `A = (1-theta) h J M^-1 J' + E^-1` is stored as its factor `W = J H^-1`, `M = H' H`, tree by tree; `J v`
//! are the relative velocities at contacts. An element has the rows n, t(, o) and, where its friction has
//! torsion or rolling, the relative angular velocities about n(, t, o). The ellipsoid of friction forces and
//! moments (chakraborty2007 (5)) is a property of the element; solvers scale it to a ball. Standing rows,
//! which are not contacts ([`Model::standing`]), follow as elements of one row.
//!
//! Normal rows and limits have `g/h` in `b`, so that the gap at the end of the step is not negative. Where
//! rigid bodies overlap already, `g/h` is bounded from below ([`ContactProblem::gap_rate`]): overlap is
//! resolved at a bounded velocity.

mod ending;
mod layers;
mod seams;
mod smooth;
mod standing;
mod stiffness;

pub use layers::Soft;
pub use layers::meet_between_layers;
pub use standing::Standing;

use crate::Owner;
use crate::contact::set::{Contact, ContactSet};
use crate::contact::{Compliance, Grid};
use crate::dynamics::{FreePoint, Kinematics, MassMatrix};
use crate::motion::Motion;
use crate::scene::GapLevel;
use crate::space::{Vector, dot as dot3, scale};
use crate::state::{RowId, State};
use crate::{InvalidModel, Model};
use complementarity::certificate::{self, Certificate};
use complementarity::matrix::{Matrix, dot};
use complementarity::operator::{BlockMatrix, Factored, MOST_ROWS, Neighbours, Operator};
use complementarity::problem::{self, Element, FrictionProblem};
use std::ops::Range;

/// Compliant laws at a step length: the model's own at the scene's step length, copies at any other.
#[derive(Debug, Clone, Default)]
pub struct Laws {
    /// Compliance of each rule, where the step length is not the scene's.
    others: Vec<Option<Compliance>>,
    /// Whether `others` is in use.
    other: bool,
}

impl Laws {
    /// Sets another step length.
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

    /// Compliance of a rule; `None` if it is rigid.
    pub fn of<'a>(&'a self, model: &'a Model, rule: usize) -> Option<&'a Compliance> {
        let own = if self.other { &self.others[rule] } else { &model.contacts().rules()[rule].compliance };
        own.as_ref()
    }
}

/// Overlap is resolved at up to this share of the velocities of the two bodies, even if that is above the
/// scene's recovery velocity: the overlap from a step in which bodies rotate by an angle `x` is resolved in
/// the next step if `x` is at most twice this.
const RESOLVED_TURN: f64 = 0.1;

/// The contact problem of a step, `s = A lambda + b`, in memory that is reused.
#[derive(Debug, Clone)]
pub struct ContactProblem {
    operator: Operator,
    /// Length of the step, s.
    pub h: f64,
    /// Explicit share `theta` of the step: that of the scene, or 0 where the step does not resolve a contact whose stiffness varies.
    pub theta: f64,
    /// Vector `b`, with `g/h` on normal rows.
    pub b: Vec<f64>,
    /// Element of each contact point or standing row, in the order of the rows.
    pub elements: Vec<Element>,
    /// Forces of the last step, the warm start of the solve; 0 for new contacts.
    pub start: Vec<f64>,
    /// Deformation `delta` of all elements before the step, m, rows n, t(, o).
    pub deformation: Vec<f64>,
    /// Gap `g` of each element, m (0 where the normal law is at velocity level).
    pub gap: Vec<f64>,
    /// Velocity that the gap of each element adds to the first of its rows in `b`, m/s: `g/h`, but not below
    /// the negative recovery velocity, and 0 where overlap was relaxed.
    pub gap_rate: Vec<f64>,
    /// Elements whose overlap no motion resolves: they are only kept from approaching further.
    pub relaxed: Vec<usize>,
    /// Standing rows of the step; their elements follow those of contacts.
    pub standing: Vec<Standing>,
    /// Velocity that moving surfaces and drives add to `J v`, row by row; empty if there is none.
    pub moving: Vec<f64>,
    /// What of `moving` comes from the turning of bodies in the step, and not from outside; empty if there is none.
    pub turning: Vec<f64>,
    /// Whether each row is about the velocity at the end of the step; empty if none is.
    at_end: Vec<bool>,
    /// `theta W v` of these rows, m/s.
    left: Vec<f64>,
    /// Ratio of `K(q)` to the law's `K`, one number per contact; 1 where the law is constant. Of Hunt and Crossley's law the overlap at
    /// which it is taken, m.
    pub scale: Vec<f64>,
    /// `1/C` of smooth friction (song2001 (42)), m/(N s), one number per contact; 0 where friction is not smooth.
    pub grip: Vec<f64>,
    /// Largest relative velocity of an element without contact forces, m/s.
    pub fastest: f64,
    /// Number of rows of an element along n, t(, o); the others are rotations.
    pub linear_rows: usize,
    /// Sum of the absolute values of the terms of `b`, row by row.
    terms: Vec<f64>,
    /// Reference speed of each element, m/s or rad/s ([`crate::model::Scales`]).
    reference: Vec<f64>,
    /// Mobility `j M^-1 j'` of each element's normal row, 1/kg.
    mobility: Vec<f64>,
    /// Contacts of the last step whose deformation others carry on, across a seam.
    pub inherited: Vec<RowId>,
    /// Scratch: deformation of a patch before it is carried on.
    carried: Vec<f64>,
    /// Scratch: a row of `J`, zero between uses.
    row: Vec<f64>,
    /// Scratch: `theta v + (1-theta) free`.
    middle: Vec<f64>,
    /// Scratch: `E^-1` of a point contact whose law varies, and of a contact with rotational rows.
    point: Matrix,
    wide: Matrix,
    /// Scratch: `E^-1` of one row.
    one: Matrix,
}

/// Assembles the contact problem of the step that `motion` begins, for the contacts detected within its
/// margin.
pub fn assemble(
    model: &Model,
    laws: &Laws,
    state: &State,
    motion: &Motion,
    contacts: &ContactSet,
    problem: &mut ContactProblem,
) {
    (problem.h, problem.theta) = (motion.h, motion.theta);
    problem.choose_standing(model, state, motion);
    problem.remember(model, state, motion, contacts);
    problem.jacobian(model, motion, contacts);
    if problem.theta > 0.0 && !problem.resolves(model, laws, contacts) {
        problem.theta = 0.0;
        problem.jacobian(model, motion, contacts);
    }
    problem.standing_rows(model, motion, &[]);
    let linear = problem.linear_rows;
    let own = problem.factors().offsets().windows(2).flat_map(|w| &problem.b[w[0]..w[1].min(w[0] + linear)]);
    problem.fastest = own.fold(0.0f64, |m, x| m.max(x.abs()));
    problem.laws(model, laws, motion, contacts);
    problem.standing_laws(model, &state.position, motion);
    problem.add_moving(contacts.elements.len());
    problem.reference_speeds(model, contacts, &state.position);
    problem.pose_at_end(model, motion);
}

impl ContactProblem {
    /// Sets what the turning of bodies in the step adds to a row; returns by how much that changes, m/s.
    pub fn set_turning(&mut self, row: usize, velocity: f64) -> f64 {
        for list in [&mut self.moving, &mut self.turning] {
            list.resize(self.b.len(), 0.0);
        }
        let by = velocity - std::mem::replace(&mut self.turning[row], velocity);
        self.moving[row] += by;
        self.b[row] += by;
        by.abs()
    }

    /// Sets what a surface that moves by itself adds to a row; returns by how much that changes, m/s.
    pub fn set_moving(&mut self, row: usize, velocity: f64) -> f64 {
        let by = velocity - std::mem::replace(&mut self.moving[row], velocity);
        self.b[row] += by;
        by.abs()
    }

    /// Allocates the memory for a model.
    pub fn new(model: &Model) -> Self {
        let linear_rows = model.contacts().linear_rows();
        Self {
            operator: Operator::Factored(Factored::default()),
            h: model.scene().step.h,
            theta: model.scene().step.explicit_share,
            b: vec![],
            elements: vec![],
            start: vec![],
            deformation: vec![],
            gap: vec![],
            gap_rate: vec![],
            relaxed: vec![],
            standing: vec![],
            moving: vec![],
            turning: vec![],
            at_end: vec![],
            left: vec![],
            scale: vec![],
            grip: vec![],
            fastest: 0.0,
            linear_rows,
            terms: vec![],
            reference: vec![],
            mobility: vec![],
            inherited: vec![],
            carried: vec![],
            row: vec![],
            middle: vec![],
            point: Matrix::zeros(linear_rows, linear_rows),
            wide: Matrix::default(),
            one: Matrix::zeros(1, 1),
        }
    }

    /// Rows of an element.
    pub fn rows_of(&self, element: usize) -> Range<usize> {
        let offsets = self.factors().offsets();
        offsets[element]..offsets[element + 1]
    }

    /// Rows of a contact's elements.
    pub fn rows_of_contact(&self, contact: &Contact) -> Range<usize> {
        let offsets = self.factors().offsets();
        offsets[contact.first]..offsets[contact.first + contact.count]
    }

    /// Mobility `j M^-1 j'` of an element's normal row, 1/kg.
    pub fn mobility(&self, element: usize) -> f64 {
        self.mobility[element]
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.b.is_empty()
    }

    /// Takes deformations and forces of all elements from the state; new contacts are undeformed and carry no
    /// force. Where a state remembers nothing, it is a start, and point contacts that overlap are pressed in by as much, as in the scheme `compliant`.
    fn remember(&mut self, model: &Model, state: &State, motion: &Motion, contacts: &ContactSet) {
        self.deformation.clear();
        self.start.clear();
        self.inherited.clear();
        // both lists are in order of ids
        let mut memory = state.memory.iter().peekable();
        for c in &contacts.contacts {
            let id = RowId::Contact(c.id);
            let (size, deforms) =
                (model.contacts().rules()[c.rule].rows * c.count, self.linear_rows * c.count);
            while memory.next_if(|m| m.id < id).is_some() {}
            let own = memory.next_if(|m| m.id == id);
            let from = match own {
                None if deforms > 0 => seams::before(model, state, motion, contacts, c),
                _ => None,
            };
            self.inherited.extend(from.map(|from| from.id));
            let known = own.or(from);
            match known {
                Some(known) if known.forces.len() == size => self.start.extend_from_slice(known.forces),
                _ => self.start.resize(self.start.len() + size, 0.0),
            }
            let first = self.deformation.len();
            match known {
                Some(known) if known.deformations.len() == deforms => {
                    self.deformation.extend_from_slice(known.deformations);
                    if let ([_, t, o], 1) = (&mut self.deformation[first..], c.count) {
                        (*t, *o) = turned([*t, *o], self.h * motion.spin(c.owners, c.frame.n)).into();
                    }
                    if rotates(model, c) {
                        let from = c.frame.along_x();
                        let own = self.deformation[first..].as_chunks_mut().0;
                        own.iter_mut().for_each(|d| *d = c.frame.from(&from, *d));
                    }
                    if let Some(law) = &model.contacts().rules()[c.rule].compliance
                        && law.patch().transports()
                    {
                        self.carry(law.patch().grid(), contacts, c);
                    }
                }
                _ => self.deformation.resize(first + deforms, 0.0),
            }
            let point = c.count == 1 && model.contacts().rules()[c.rule].compliance.is_some();
            if point && known.is_none() && state.memory.is_empty() {
                // what overlaps at a start is pressed: psi + delta_n >= 0, pang2005 (12)
                self.deformation[first] = (-contacts.elements[c.first].gap).max(0.0);
            }
        }
        for standing in &self.standing {
            let known = state.memory.find(model.standing()[standing.row].id);
            self.start.push(known.and_then(|m| m.forces.first()).copied().unwrap_or(0.0));
        }
    }

    /// The deformation of the materials that are under the elements of a patch when the step ends: see `step/travel.rs`.
    fn carry(&mut self, grid: &Grid, contacts: &ContactSet, c: &Contact) {
        let (h, linear, (sin, cos)) = (self.h, self.linear_rows, (c.spin * self.h).sin_cos());
        let own = &mut self.deformation[linear * c.first..][..linear * c.count];
        self.carried.clear();
        self.carried.extend_from_slice(own);
        for (k, (out, e)) in own.chunks_exact_mut(linear).zip(&contacts.elements[c.elements()]).enumerate() {
            let ([x, y], [vx, vy]) = (grid.centre(k), e.travel.velocity);
            let near = grid.around([x + h * vx, y + h * vy]);
            for (i, d) in out.iter_mut().enumerate() {
                *d = near.iter().map(|&(j, w)| w * self.carried[linear * j + i]).sum();
            }
            if let [_, t, o] = out {
                (*t, *o) = (cos * *t - sin * *o, sin * *t + cos * *o);
            }
        }
    }

    /// As solvers see it.
    pub fn view(&self) -> problem::ContactProblem<'_> {
        let Self { operator: a, b, elements, terms, reference, .. } = self;
        problem::ContactProblem { a, b, elements, terms, reference }
    }

    /// Reference speed of each element, at a configuration.
    fn reference_speeds(&mut self, model: &Model, contacts: &ContactSet, position: &[f64]) {
        let scales = model.scales();
        self.reference.clear();
        for c in &contacts.contacts {
            let own = contacts.elements[c.elements()].iter();
            self.reference.extend(own.map(|e| scales.contact(c.owners, e.point).speed));
        }
        let rows = self.standing.iter().map(|s| model.standing()[s.row].scale(model, position).speed);
        self.reference.extend(rows);
    }

    /// Matrix `A` as its factors.
    pub fn factors(&self) -> &Factored {
        match &self.operator {
            Operator::Factored(f) => f,
            _ => unreachable!("made as factors"),
        }
    }

    /// Adds `E^-1`, friction and gaps of all contacts.
    fn laws(&mut self, model: &Model, laws: &Laws, motion: &Motion, contacts: &ContactSet) {
        self.elements.clear();
        self.gap.clear();
        self.gap_rate.clear();
        self.relaxed.clear();
        self.scale.clear();
        self.grip.clear();
        for c in &contacts.contacts {
            let rule = &model.contacts().rules()[c.rule];
            let at = (self.scale.len(), c);
            let grip = self.grip(model, motion, contacts, at);
            let scale = match laws.of(model, c.rule) {
                Some(law) => self.comply(contacts, at, rule, law, (&motion.given, grip)),
                None => 1.0,
            };
            self.scale.push(scale);
            self.grip.push(grip);
            let least = match rule.compliance {
                Some(_) => f64::NEG_INFINITY,
                None => -self.recovery_velocity(model, motion, &c.owners, contacts.elements[c.first].point),
            };
            for k in c.elements() {
                self.elements.push(rule.element);
                // an element farther off than anything moves, or whose line misses a body, takes no force
                let (e, travelled) = (&contacts.elements[k], self.h * contacts.elements[k].travel.gap_rate);
                let gap = match model.scene().step.gap {
                    GapLevel::Distance | GapLevel::Position => {
                        (e.gap + travelled).min(motion.margin) + self.deformation[self.linear_rows * k]
                    }
                    GapLevel::Velocity => travelled,
                };
                let overlaps = gap < 0.0 && rule.compliance.is_none();
                self.add_gap(k, gap, if overlaps { least / self.leverage(k) } else { least });
            }
        }
    }

    /// Recovery velocity: the largest velocity at which the overlap of two rigid bodies is resolved, m/s.
    fn recovery_velocity(&self, model: &Model, motion: &Motion, owners: &[Owner], point: Vector) -> f64 {
        let needed = |owner: &Owner| match *owner {
            Owner::Body(i) => RESOLVED_TURN * motion.fastest[i],
            Owner::World(_) => motion.surfaces.bend(*owner, point),
        };
        owners.iter().map(needed).fold(model.scene().step.recovery_velocity, f64::max)
    }

    /// How much faster two bodies slip at an element than they separate, where its normal force is all that moves them; at least 1. In a mechanism that
    /// can hardly give way along the normal it is large, and overlap is resolved as much slower: the recovery velocity bounds the slip, too.
    fn leverage(&self, element: usize) -> f64 {
        let at = self.rows_of(element);
        let rows = at.len();
        let mut block = [0.0; MOST_ROWS * MOST_ROWS];
        self.operator.diagonal(element, at, &mut block[..rows * rows]);
        let linear = &block[..self.linear_rows.min(rows)];
        let slip = linear[1..].iter().map(|a| a * a).sum::<f64>().sqrt();
        (slip / linear[0]).max(1.0)
    }

    /// Adds the gap of an element to the first of its rows; as a velocity it is at least `least`.
    fn add_gap(&mut self, element: usize, gap: f64, least: f64) {
        let (rate, row) = ((gap / self.h).max(least), self.rows_of(element).start);
        self.gap.push(gap);
        self.gap_rate.push(rate);
        self.b[row] += rate;
        self.terms[row] += rate.abs();
    }

    /// Whether an element is rigid and its overlap is to be resolved in the step.
    pub fn undoes_overlap(&self, element: usize) -> bool {
        let unilateral = matches!(self.elements[element], Element::Contact(_) | Element::Unilateral);
        let rigid = self.factors().patch(element).is_none();
        rigid && unilateral && self.gap_rate[element] < 0.0
    }

    /// Relaxes an element that overlaps: it is only kept from approaching further.
    pub fn relax(&mut self, element: usize) {
        let row = self.rows_of(element).start;
        self.b[row] -= std::mem::take(&mut self.gap_rate[element]);
        self.relaxed.push(element);
    }

    /// Computes `W`, and `b = J (theta v + (1-theta) free)`, element by element: n, t(, o), and the rotations
    /// about n(, t, o).
    fn jacobian(&mut self, model: &Model, motion: &Motion, contacts: &ContactSet) {
        let (theta, dofs) = (self.theta, model.system().velocity_size());
        let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
        a.clear(dofs, (1.0 - theta) * self.h);
        self.row.clear();
        self.row.resize(dofs, 0.0);
        self.middle.clear();
        let both = motion.velocity.iter().zip(&motion.free);
        self.middle.extend(both.map(|(now, free)| theta * now + (1.0 - theta) * free));
        self.b.clear();
        self.terms.clear();
        self.moving.clear();
        self.turning.clear();
        self.mobility.clear();
        for c in &contacts.contacts {
            self.contact_rows(model, motion, contacts, c);
        }
    }

    /// Computes the rows of one contact.
    fn contact_rows(&mut self, model: &Model, motion: &Motion, contacts: &ContactSet, c: &Contact) {
        let (system, rows) = (model.system(), model.contacts().rules()[c.rule].rows);
        let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
        let ends = [(c.owners[0], -1.0), (c.owners[1], 1.0)];
        let trees = c.owners.map(|owner| match owner {
            Owner::Body(link) => system.tree_of(link),
            Owner::World(_) => None,
        });
        let both = trees[0] == trees[1];
        let axes = [c.frame.n, c.frame.t, c.frame.o];
        for element in &contacts.elements[c.elements()] {
            a.begin(rows);
            let at = self.b.len();
            self.b.resize(at + rows, 0.0);
            self.terms.resize(at + rows, 0.0);
            let (b, terms) = (&mut self.b[at..], &mut self.terms[at..]);
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
                    && let Some(FreePoint { w, speed, size }) =
                        motion.kick().free_point(t, element.point, v, along)
                {
                    for i in 0..3 {
                        b[i] += speed[i];
                        terms[i] += size;
                    }
                    a.free_body(dofs.start, &w);
                    mobility += w[0].iter().map(|w| w * w).sum::<f64>();
                    continue;
                }
                let (own, row) = (if both { &ends[..] } else { &ends[k..=k] }, &mut self.row);
                let w = a.segment(dofs.start, dofs.len());
                for i in 0..rows {
                    add_row(&motion.kinematics, own, element.point, (axes[i % 3], i >= 3), row);
                    let row = &mut row[dofs.clone()];
                    b[i] += dot(row, v);
                    terms[i] += row.iter().zip(v).map(|(w, v)| (w * v).abs()).sum::<f64>();
                    let w = &mut w[dofs.len() * i..][..dofs.len()];
                    w.copy_from_slice(row);
                    row.fill(0.0);
                    motion.kick().solve_root_transposed(t, w);
                    if i == 0 {
                        mobility += dot(w, w);
                    }
                }
            }
            self.mobility.push(mobility);
            if motion.surfaces.is_empty() {
                continue;
            }
            let moving = motion.surfaces.relative(&motion.kinematics, c.owners, element.point, c.frame.n);
            self.moving.resize(at + rows, 0.0);
            for i in 0..rows {
                let own = dot3(axes[i % 3], moving[usize::from(i >= 3)]);
                self.moving[at + i] = own;
                self.b[at + i] += own;
                self.terms[at + i] += own.abs();
            }
        }
    }

    /// Velocity that is moved from outside in a row: by surfaces and drives.
    pub fn moved(&self, row: usize) -> f64 {
        let of = |list: &[f64]| list.get(row).copied().unwrap_or(0.0);
        of(&self.moving) - of(&self.turning)
    }

    /// Writes `(1-theta) (J v + u)`, row by row, with `u` of moving surfaces and drives; `scratch` becomes `H v / h`.
    pub fn relative_velocities(
        &self,
        mass: &MassMatrix,
        v: &[f64],
        scratch: &mut Vec<f64>,
        out: &mut Vec<f64>,
    ) {
        scratch.clear();
        scratch.extend_from_slice(v);
        for (t, dofs) in mass.trees() {
            mass.times_root(t, &mut scratch[dofs]);
        }
        scratch.iter_mut().for_each(|x| *x /= self.h);
        out.clear();
        out.resize(self.b.len(), 0.0);
        for (k, rows) in self.factors().offsets().windows(2).enumerate() {
            self.factors().pull(k, scratch, &mut out[rows[0]..rows[1]]);
        }
        out.iter_mut().zip(&self.moving).for_each(|(s, u)| *s += (1.0 - self.theta) * u);
    }

    /// Adds to `b` what a change of the free velocity does, `(1-theta) J change`; `change` becomes `H change / h`.
    pub fn add_velocity(&mut self, mass: &MassMatrix, change: &mut [f64]) {
        for (t, dofs) in mass.trees() {
            mass.times_root(t, &mut change[dofs]);
        }
        change.iter_mut().for_each(|x| *x /= self.h);
        let Operator::Factored(a) = &self.operator else { unreachable!("made as factors") };
        for (k, rows) in a.offsets().windows(2).enumerate() {
            a.pull(k, change, &mut self.b[rows[0]..rows[1]]);
        }
    }

    /// An independent copy with `A` multiplied out; `None` if it is empty or not finite.
    pub fn to_friction(&self) -> Option<FrictionProblem> {
        if self.b.is_empty() {
            return None;
        }
        let mut a = BlockMatrix::default();
        a.assign_factored(self.factors(), &mut Neighbours::default());
        FrictionProblem::from_elements(Operator::Blocks(a), self.b.clone(), self.elements.clone()).ok()
    }

    /// Certificate of forces that solve the problem, see [`certificate`]; `None` if there are no rows, or
    /// numbers are not finite.
    pub fn certificate(&self, lambda: &[f64], settings: &certificate::Settings) -> Option<Certificate> {
        Some(certificate::examine(&self.to_friction()?, Some(lambda), settings))
    }

    /// Adds `h M^-1 J' lambda` to `v`; `impulse` is scratch memory.
    pub fn push(&self, mass: &MassMatrix, lambda: &[f64], impulse: &mut Vec<f64>, v: &mut [f64]) {
        impulse.clear();
        impulse.resize(v.len(), 0.0);
        for (k, rows) in self.factors().offsets().windows(2).enumerate() {
            self.factors().push(k, &lambda[rows[0]..rows[1]], impulse);
        }
        for (t, dofs) in mass.trees() {
            mass.solve_root(t, &mut impulse[dofs]);
        }
        v.iter_mut().zip(impulse).for_each(|(v, push)| *v += self.h * *push);
    }
}

/// Whether a contact's frame may rotate from step to step with the direction of anisotropic friction: the
/// deformation of a point contact is then stored in a frame that does not. (The direction of a patch does not
/// move.)
pub fn rotates(model: &Model, contact: &Contact) -> bool {
    contact.count == 1 && model.contacts().rules()[contact.rule].is_anisotropic()
}

/// A tangential deformation that turns by an angle about the normal, with the materials that are deformed.
pub(crate) fn turned([t, o]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sin, cos) = angle.sin_cos();
    [cos * t - sin * o, sin * t + cos * o]
}

/// Adds the row of a relative velocity of a contact along a direction, or angular velocity about it, over all
/// velocities.
pub fn relative_row(
    kinematics: &Kinematics,
    contact: &Contact,
    point: Vector,
    along: (Vector, bool),
    row: &mut [f64],
) {
    let [a, b] = contact.owners;
    add_row(kinematics, &[(a, -1.0), (b, 1.0)], point, along, row);
}

/// Adds a row of an element along a direction or about it, with the motions of the bodies in `ends`.
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
