//! Contacts -> the contact problem `s = A lambda + b`.
//!
//! `A = (1-theta) h J M^-1 J' + E^-1` is kept by its factor `W = J H^-1`, `M = H' H`, tree by tree; `J v` are the speeds at contacts.
//!
//! With torsion or rolling friction somewhere in the scene elements have rows of turning too: the relative angular velocity about n (and t
//! and o) times an axis of the ellipsoid, `e = torsion / mu` or `rolling / mu`, in m/s. Their unknowns are moments over `e`, in N, and the
//! ellipsoid of forces and moments is a ball of radius `mu lambda_n`, as in `complementarity::problem::FrictionProblem`. Where a contact has no such
//! moment, `e = 0`, and its row is `s = c lambda` with some `c > 0`, whose only answer is 0.

use super::detect::{Detector, Rule};
use crate::dynamics::{FreePoint, Kinematics, MassMatrix};
use crate::scene::{GapLevel, Owner, Scene};
use crate::space::{Vector, scale};
use complementarity::matrix::{Matrix, dot};
use complementarity::operator::{BlockMatrix, Factored, Neighbours, Operator};
use complementarity::problem::{ContactProblem, Element, FrictionProblem};

/// The contact problem, in memory that is used again.
#[derive(Debug)]
pub(super) struct Rows {
    operator: Operator,
    /// A row of `J`; zero between uses.
    row: Vec<f64>,
    /// `theta v + (1-theta) free`.
    middle: Vec<f64>,
    /// `b`, with `g/h` on normal rows.
    pub b: Vec<f64>,
    /// Sizes of the terms summed in `b`.
    terms: Vec<f64>,
    /// Largest speed `J v` of an element were there no contact forces, m/s.
    pub fastest: f64,
    /// A coefficient an element.
    pub mu: Vec<f64>,
    /// What the rows are.
    elements: Vec<Element>,
    /// Elements with a grain, and the semi-axes of their ellipses over `mu`.
    grains: Vec<(usize, [f64; 2])>,
    /// `g` of each element (0 where the law is about speeds), m.
    pub gap: Vec<f64>,
    /// `j M^-1 j'` of each element's normal row, 1/kg.
    mobility: Vec<f64>,
    /// `K(q)` over the law's `K`, a number a contact; 1 where the law does not vary.
    pub scale: Vec<f64>,
    /// `E^-1` of a point whose law varies.
    point: Matrix,
    /// `E^-1` of a contact whose elements have rows of turning.
    wide: Matrix,
    /// Rows an element has, and those of them along n, t(, o): the others are turns.
    pub per: usize,
    pub along: usize,
    /// No contact is rigid.
    pub compliant: bool,
}

/// What the speeds are: now, and at the end of the step were there no contact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speeds<'a> {
    pub now: &'a [f64],
    pub free: &'a [f64],
}

impl Rows {
    pub fn new(scene: &Scene) -> Self {
        let (per, along) = (scene.contact_rows(), if scene.planar { 2 } else { 3 });
        Self {
            operator: Operator::Factored(Factored::default()),
            row: vec![],
            middle: vec![],
            b: vec![],
            terms: vec![],
            fastest: 0.0,
            mu: vec![],
            elements: vec![],
            grains: vec![],
            gap: vec![],
            mobility: vec![],
            scale: vec![],
            point: Matrix::zeros(along, along),
            wide: Matrix::default(),
            per,
            along,
            compliant: true,
        }
    }

    /// The contact problem.
    pub fn problem(&self) -> ContactProblem<'_> {
        let terms = &self.terms;
        ContactProblem { terms, ..ContactProblem::new(&self.operator, &self.b, &self.elements) }
    }

    /// `A`, as its factors.
    pub fn factors(&self) -> &Factored {
        match &self.operator {
            Operator::Factored(f) => f,
            _ => unreachable!("made as factors"),
        }
    }

    pub fn assemble(
        &mut self,
        scene: &Scene,
        detector: &Detector,
        dynamics: (&Kinematics, &MassMatrix),
        speeds: Speeds<'_>,
        delta: &[f64],
        (h, margin): (f64, f64),
    ) {
        let (per, along) = (self.per, self.along);
        self.jacobian(scene.step.explicit_share, detector, dynamics, speeds, h);
        self.fastest = self.b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        self.mu.clear();
        self.elements.clear();
        self.grains.clear();
        self.gap.clear();
        self.scale.clear();
        self.compliant = true;
        let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
        for c in &detector.contacts {
            let rule = &detector.rules[c.rule];
            self.compliant &= rule.compliance.is_some();
            let mut scale = 1.0;
            if let Some(compliance) = &rule.compliance {
                let mut e_inv = compliance.e_inv();
                if compliance.varies() {
                    scale = compliance.scale(-detector.elements[c.first].gap, self.mobility[c.first]);
                    for i in 0..along {
                        self.point[(i, i)] = e_inv[(i, i)] / scale;
                    }
                    e_inv = &self.point;
                }
                if per == along && !rule.has_grain() {
                    a.add_patch(c.first, e_inv);
                } else {
                    widen(&mut self.wide, (per, along), e_inv, rule);
                    if per == along {
                        a.add_patch(c.first, &self.wide);
                    }
                }
                let own = &delta[along * c.first..][..compliance.rows()];
                let b = self.b[per * c.first..].chunks_exact_mut(per).take(c.count);
                for (k, b) in b.enumerate() {
                    for (i, b) in b[..along].iter_mut().enumerate() {
                        *b -= rule.axis(i) * dot(compliance.e_inv_k().row(along * k + i), own);
                    }
                }
            }
            // the turns about t and o have one axis
            if per > along && (rule.compliance.is_some() || (along..per).any(|row| rule.axis(row) == 0.0)) {
                if rule.compliance.is_none() {
                    self.wide.reset(per * c.count, per * c.count);
                }
                let units = self.mobility[c.first..][..c.count].iter().map(|m| h * m);
                hold_turns(&mut self.wide, (per, along), rule, units);
                a.add_patch(c.first, &self.wide);
            }
            self.scale.push(scale);
            for k in c.first..c.first + c.count {
                self.mu.push(rule.friction);
                self.elements.push(Element::contact(per, rule.friction, rule.friction_set));
                if rule.has_grain() {
                    self.grains.push((k, [rule.axis(1), rule.axis(2)]));
                }
                // an element farther off than anything moves, or whose line misses a body, takes no force; its gap must not
                // drown the others in the residual's measure
                let gap = match scene.step.gap {
                    GapLevel::Position => detector.elements[k].gap.min(margin) + delta[along * k],
                    GapLevel::Velocity => 0.0,
                };
                self.gap.push(gap);
                self.b[per * k] += gap / h;
                self.terms[per * k] += (gap / h).abs();
            }
        }
    }

    /// `W`, and `b = J (theta v + (1-theta) free)`, element by element: n, t(, o), and the turns about n(, t, o).
    fn jacobian(
        &mut self,
        theta: f64,
        detector: &Detector,
        (kinematics, mass): (&Kinematics, &MassMatrix),
        speeds: Speeds<'_>,
        h: f64,
    ) {
        let per = self.per;
        let system = kinematics.system();
        let Operator::Factored(a) = &mut self.operator else { unreachable!("made as factors") };
        a.clear(system.velocity_size(), (1.0 - theta) * h);
        self.row.clear();
        self.row.resize(system.velocity_size(), 0.0);
        self.middle.clear();
        let middle = speeds.now.iter().zip(speeds.free).map(|(now, free)| theta * now + (1.0 - theta) * free);
        self.middle.extend(middle);
        self.b.clear();
        self.terms.clear();
        self.mobility.clear();
        for c in &detector.contacts {
            let ends = [(c.owners[0], -1.0), (c.owners[1], 1.0)];
            let trees = c.owners.map(|owner| match owner {
                Owner::Body(link) => system.tree_of(link),
                Owner::World(_) => None,
            });
            let both = trees[0] == trees[1];
            let rule = &detector.rules[c.rule];
            let axes = match rule.has_grain() {
                true => [c.frame.n, scale(rule.axis(1), c.frame.t), scale(rule.axis(2), c.frame.o)],
                false => [c.frame.n, c.frame.t, c.frame.o],
            };
            for element in &detector.elements[c.first..c.first + c.count] {
                a.begin(per);
                let at = self.b.len();
                self.b.resize(at + per, 0.0);
                self.terms.resize(at + per, 0.0);
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
                    if per == 3
                        && let Some(FreePoint { w, speed }) = mass.free_point(t, element.point, v, along)
                    {
                        for i in 0..3 {
                            b[i] += speed[i];
                            terms[i] += speed[i].abs();
                        }
                        a.free_body(dofs.start, &w);
                        mobility += w[0].iter().map(|w| w * w).sum::<f64>();
                        continue;
                    }
                    let (own, row) = (if both { &ends[..] } else { &ends[k..=k] }, &mut self.row);
                    let w = a.segment(dofs.start, dofs.len());
                    for i in 0..per {
                        let direction = match i {
                            0..3 => axes[i],
                            _ => scale(rule.axis(i), [c.frame.n, c.frame.t, c.frame.o][i - 3]),
                        };
                        add_row(kinematics, own, element.point, (direction, i >= 3), row);
                        let row = &mut row[dofs.clone()];
                        b[i] += dot(row, v);
                        terms[i] += row.iter().zip(v).map(|(row, v)| (row * v).abs()).sum::<f64>();
                        let w = &mut w[dofs.len() * i..][..dofs.len()];
                        w.copy_from_slice(row);
                        row.fill(0.0);
                        mass.solve_root_transposed(t, w);
                        if i == 0 {
                            mobility += dot(w, w);
                        }
                    }
                }
                self.mobility.push(mobility);
            }
        }
    }

    /// Adds to `b` what a change of the free speeds does, `(1-theta) J change`; `change` becomes `H change / h`.
    pub fn add_speeds(&mut self, mass: &MassMatrix, h: f64, change: &mut [f64]) {
        for (t, dofs) in mass.trees() {
            mass.times_root(t, &mut change[dofs]);
        }
        change.iter_mut().for_each(|x| *x /= h);
        let Operator::Factored(a) = &self.operator else { unreachable!("made as factors") };
        for (k, own) in self.b.chunks_exact_mut(self.per).enumerate() {
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
        let (mut b, mut elements) = (self.b.clone(), self.elements.clone());
        // rows of a grain as they are, under an ellipse
        let mut back = vec![1.0; b.len()];
        for &(k, [t, o]) in &self.grains {
            let mut axes = [1.0; 5];
            axes[..2].copy_from_slice(&[t, o]);
            elements[k] = elements[k].with_axes(&axes);
            (back[self.per * k + 1], back[self.per * k + 2]) = (1.0 / t, 1.0 / o);
        }
        a.scale(&back);
        b.iter_mut().zip(&back).for_each(|(b, s)| *b *= s);
        FrictionProblem::from_elements(Operator::Blocks(a), b, elements).ok()
    }

    /// Forces for unknowns, as [`Self::to_friction`] has them.
    pub fn forces(&self, lambda: &[f64]) -> Vec<f64> {
        let mut forces = lambda.to_vec();
        for &(k, [t, o]) in &self.grains {
            let own = forces.iter_mut().skip(self.per * k + 1).take(2);
            own.zip([t, o]).for_each(|(force, axis)| *force *= axis);
        }
        forces
    }

    /// Adds `h M^-1 J' lambda` to `v`.
    pub fn push_back(&mut self, mass: &MassMatrix, h: f64, lambda: &[f64], v: &mut [f64]) {
        let Operator::Factored(a) = &self.operator else { unreachable!("made as factors") };
        // zero between uses
        let push = &mut self.row;
        for (k, own) in lambda.chunks_exact(self.per).enumerate() {
            a.push(k, own, push);
        }
        for (t, dofs) in mass.trees() {
            mass.solve_root(t, &mut push[dofs]);
        }
        for (v, push) in v.iter_mut().zip(push) {
            *v += h * std::mem::take(push);
        }
    }
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

/// `E^-1` of a contact with rows of turning, which are rigid.
fn widen(wide: &mut Matrix, (per, along): (usize, usize), e_inv: &Matrix, rule: &Rule) {
    let n = e_inv.rows();
    wide.reset(per * n / along, per * n / along);
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        wide[(per * (i / along) + i % along, per * (j / along) + j % along)] =
            rule.axis(i % along) * e_inv[(i, j)] * rule.axis(j % along);
    }
}

/// Turns without friction yield by the unit of their element: no force is theirs.
fn hold_turns(
    wide: &mut Matrix,
    (per, along): (usize, usize),
    rule: &Rule,
    units: impl Iterator<Item = f64>,
) {
    for (k, unit) in units.enumerate() {
        for i in along..per {
            if rule.axis(i) == 0.0 {
                wide[(per * k + i, per * k + i)] = unit;
            }
        }
    }
}
