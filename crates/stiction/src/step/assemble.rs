//! Contacts -> the contact problem `s = A lambda + b`.

use super::detect::Detector;
use crate::dynamics::{Kinematics, MassMatrix};
use crate::scene::{FrictionKind, GapLevel, Owner, Scene};
use crate::state::State;
use complementarity::matrix::{Matrix, dot};

/// The part of a row of `W` in one tree: where its entries begin in the store.
#[derive(Debug, Clone, Copy)]
struct Segment {
    tree: usize,
    at: usize,
    /// First speed of the tree, and their number.
    dofs: (usize, usize),
}

/// `W`, `M^-1 W'` and the contact problem, in memory that is used again.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Segments of row i: `segments[starts[i]..starts[i + 1]]`, one a tree.
    segments: Vec<Segment>,
    starts: Vec<usize>,
    w: Vec<f64>,
    m_inv_w: Vec<f64>,
    row: Vec<f64>,
    /// Generalised force, then `M^-1 f`.
    pub force: Vec<f64>,
    /// `v + h M^-1 f`, then with the contact forces: `v+`.
    pub free: Vec<f64>,
    /// `A`.
    pub a: Matrix,
    /// `b`, with `g/h` on normal rows.
    pub b: Vec<f64>,
    /// Largest speed `W v` of an element were there no contact forces, m/s.
    pub fastest: f64,
    /// A coefficient an element.
    pub mu: Vec<f64>,
    /// `g` of each element (0 where the law is about speeds).
    pub gap: Vec<f64>,
}

impl Rows {
    /// Rows an element has.
    pub fn per_element(&self, scene: &Scene) -> usize {
        if scene.planar { 2 } else { 3 }
    }

    #[allow(clippy::too_many_arguments)]
    pub fn assemble(
        &mut self,
        scene: &Scene,
        detector: &Detector,
        kinematics: &Kinematics,
        mass: &MassMatrix,
        state: &State,
        delta: &[f64],
        h: f64,
    ) {
        let per = self.per_element(scene);
        let implicit = 1.0 - scene.step.explicit_share;
        self.jacobian(per, detector, kinematics, mass);
        let n = self.starts.len() - 1;
        self.a = Matrix::zeros(n, n);
        self.b.clear();
        self.mu.clear();
        self.gap.clear();
        // (1-theta) h W M^-1 W': rows meet only in trees that both touch
        for i in 0..n {
            for j in 0..=i {
                let mut sum = 0.0;
                for p in &self.segments[self.starts[i]..self.starts[i + 1]] {
                    for q in &self.segments[self.starts[j]..self.starts[j + 1]] {
                        if p.tree == q.tree {
                            sum += dot(&self.w[p.at..][..p.dofs.1], &self.m_inv_w[q.at..][..p.dofs.1]);
                        }
                    }
                }
                self.a[(i, j)] = implicit * h * sum;
                self.a[(j, i)] = self.a[(i, j)];
            }
        }
        // W (v + (1-theta) h M^-1 f)
        for i in 0..n {
            let along = |x: &[f64]| -> f64 {
                self.segments[self.starts[i]..self.starts[i + 1]]
                    .iter()
                    .map(|p| dot(&self.w[p.at..][..p.dofs.1], &x[p.dofs.0..]))
                    .sum()
            };
            let (now, free) = (along(&state.velocity), along(&self.free));
            self.b.push(now + implicit * (free - now));
        }
        self.fastest = self.b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for c in &detector.contacts {
            let rule = &detector.rules[c.rule];
            let first = per * c.first;
            if let Some(compliance) = &rule.compliance {
                let (e_inv, e_inv_k) = (compliance.e_inv(), compliance.e_inv_k());
                let own = &delta[first..][..e_inv.rows()];
                for i in 0..e_inv.rows() {
                    self.b[first + i] -= dot(e_inv_k.row(i), own);
                    for j in 0..e_inv.rows() {
                        self.a[(first + i, first + j)] += e_inv[(i, j)];
                    }
                }
            }
        }
        let frictionless = scene.step.friction == FrictionKind::Frictionless;
        self.mu.resize(n / per, 0.0);
        self.gap.resize(n / per, 0.0);
        for c in &detector.contacts {
            for k in c.first..c.first + c.count {
                self.mu[k] = if frictionless { 0.0 } else { detector.rules[c.rule].friction };
                if scene.step.gap == GapLevel::Position {
                    // an element whose line misses a body can take no force: a gap far beyond reach
                    let psi = detector.elements[k].gap.min(FAR);
                    self.gap[k] = psi + delta[per * k];
                    self.b[per * k] += self.gap[k] / h;
                }
            }
        }
    }

    /// `W` and `M^-1 W'`, row by row: elements n, t(, o).
    fn jacobian(&mut self, per: usize, detector: &Detector, kinematics: &Kinematics, mass: &MassMatrix) {
        let system = kinematics.system();
        self.segments.clear();
        self.starts.clear();
        self.starts.push(0);
        self.w.clear();
        self.m_inv_w.clear();
        self.row.clear();
        self.row.resize(system.velocity_size(), 0.0);
        for c in &detector.contacts {
            let ends = [(c.id.part_a, -1.0), (c.id.part_b, 1.0)]
                .map(|(part, sign)| (detector.parts[part as usize].owner, sign));
            for element in &detector.elements[c.first..c.first + c.count] {
                for direction in [c.frame.n, c.frame.t, c.frame.o].into_iter().take(per) {
                    let first = self.segments.len();
                    for (owner, sign) in ends {
                        let Owner::Body(link) = owner else { continue };
                        let Some(tree) = system.tree_of(link) else { continue };
                        kinematics.jacobian_row(link, element.point, direction, sign, &mut self.row);
                        if self.segments[first..].iter().all(|s| s.tree != tree) {
                            let dofs = system.trees()[tree].dofs.clone();
                            self.segments.push(Segment { tree, at: 0, dofs: (dofs.start, dofs.len()) });
                        }
                    }
                    for s in &mut self.segments[first..] {
                        s.at = self.w.len();
                        let entries = s.dofs.0..s.dofs.0 + s.dofs.1;
                        self.w.extend_from_slice(&self.row[entries.clone()]);
                        self.m_inv_w.extend_from_slice(&self.row[entries.clone()]);
                        mass.solve_tree(s.tree, &mut self.m_inv_w[s.at..]);
                        self.row[entries].fill(0.0);
                    }
                    self.starts.push(self.segments.len());
                }
            }
        }
    }

    /// Adds `h M^-1 W' lambda` to `free`, which then is `v+`.
    pub fn push_back(&mut self, lambda: &[f64], h: f64) {
        for (i, l) in lambda.iter().enumerate() {
            for s in &self.segments[self.starts[i]..self.starts[i + 1]] {
                let moved = self.m_inv_w[s.at..][..s.dofs.1].iter();
                for (v, m) in self.free[s.dofs.0..].iter_mut().zip(moved) {
                    *v += h * l * m;
                }
            }
        }
    }

    /// `A lambda + b`, with `g/h` still in the normal rows.
    pub fn speed(&self, lambda: &[f64]) -> Vec<f64> {
        (0..lambda.len()).map(|i| dot(self.a.row(i), lambda) + self.b[i]).collect()
    }
}

/// Gap of an element whose line misses a body, m.
const FAR: f64 = 1.0;
