//! One island in velocities: its elements, the equation `G(u) = u - W' lambda(W u + b) = 0`, and Newton steps
//! on it.
//!
//! The velocities `u` are those in which masses are one, scaled so that `A = W W' + e` with `e` the elements'
//! own compliances. They come in nodes of `D`, padded with zeros. A patch whose compliance `E^-1 = L L'`
//! couples its elements is a group of velocities of its own, coupled through the rows of `L`.

mod regimes;
mod rest;

use super::blocks::{Blocks, vectorised};
use super::krylov::Krylov;
use super::law::{
    Act, is_rigid_friction, respond, respond_associated, respond_bounded, slope_associated, slope_bounded,
};
use crate::element::law::Law;
use crate::element::linear::Regime;
use crate::operator::MOST_ROWS;

/// Offsets of an element in the lists of its island.
#[derive(Debug, Clone, Copy)]
struct Element {
    /// Law and friction coefficient.
    law: (Law, f64),
    rows: usize,
    /// First row, first node, first row of `w`, first entry of the slope, first address.
    row: usize,
    part: usize,
    w: usize,
    slope: usize,
    address: usize,
}

/// An island with the memory of its solves.
#[derive(Debug, Clone, Default)]
pub(super) struct Island<const D: usize, const P: usize> {
    elements: Vec<Element>,
    /// Nodes that each element couples to, element by element; each has `rows` rows of `w`.
    parts: Vec<u32>,
    w: Vec<[f64; P]>,
    nodes: usize,
    b: Vec<f64>,
    compliance: Vec<f64>,
    /// Share of `eps` that each row gets.
    pub weight: Vec<f64>,
    /// Forces relative to which velocities are measured, and whether the centre of the proximal term is zero
    /// instead of them.
    origin: Vec<f64>,
    about_zero: bool,
    /// Which law rigid contacts with friction obey; for a law with bounds the most friction of each element, and that over its normal force.
    act: Act,
    most: Vec<(f64, f64)>,
    /// Velocities `W W' lambda + b` of the origin.
    base: Vec<f64>,
    /// Forces `lambda`.
    pub force: Vec<f64>,
    /// Values of `p` at the last evaluation.
    p: Vec<f64>,
    /// `d lambda / d p`, element by element.
    slope: Vec<f64>,
    u: Vec<[f64; D]>,
    /// `G`, the Newton step, and the velocities it starts from.
    defect: Vec<[f64; D]>,
    step: Vec<[f64; D]>,
    from: Vec<[f64; D]>,
    /// Values of `u`, `lambda` and `p` to return to.
    kept: (Vec<[f64; D]>, Vec<f64>, Vec<f64>),
    blocks: Blocks<D, P>,
    /// Whether the pattern contains the node pairs of each element, and the addresses of their blocks.
    held: Vec<bool>,
    addresses: Vec<u32>,
    /// `s = A lambda + b` of the forces whose residual was evaluated last.
    s: Vec<f64>,
    /// Regime of each element, for the choice of forces; right-hand sides and changes of the forces in these
    /// regimes.
    regimes: Vec<Regime<MOST_ROWS>>,
    q: Vec<f64>,
    change: Vec<f64>,
    krylov: Krylov,
    /// Elements whose slip vanishes with the compliance: their direction of friction is kept.
    kept_slip: Vec<bool>,
    /// Forces while the changes of centres are summed.
    sum: Vec<f64>,
}

impl<const D: usize, const P: usize> Island<D, P> {
    /// Removes all elements and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.elements.clear();
        self.parts.clear();
        self.w.clear();
        self.nodes = 0;
        for list in [&mut self.b, &mut self.compliance, &mut self.weight, &mut self.origin, &mut self.force] {
            list.clear();
        }
        self.addresses.clear();
        self.slope.clear();
    }

    /// Adds a group of velocities; returns its first node.
    pub fn add_group(&mut self, len: usize) -> usize {
        let first = self.nodes;
        self.nodes += len.div_ceil(D);
        first
    }

    /// Adds an element with its rows of `b` and its own compliance.
    pub fn add_element(&mut self, law: (Law, f64), b: &[f64], compliance: &[f64]) {
        self.end_element();
        self.elements.push(Element {
            law,
            rows: b.len(),
            row: self.b.len(),
            part: self.parts.len(),
            w: self.w.len(),
            slope: self.slope.len(),
            address: self.addresses.len(),
        });
        self.b.extend_from_slice(b);
        self.compliance.extend_from_slice(compliance);
        self.weight.resize(self.b.len(), 1.0);
        self.slope.resize(self.slope.len() + b.len() * b.len(), 0.0);
    }

    /// Reserves the addresses of the element that is complete.
    fn end_element(&mut self) {
        if let Some(e) = self.elements.last() {
            let parts = self.parts.len() - e.part;
            self.addresses.resize(e.address + parts * parts, 0);
        }
    }

    /// Adds the coupling of the last element to a group: `scale` times `rows` x `len` entries, row by row.
    pub fn add_rows(&mut self, first_node: usize, len: usize, w: &[f64], scale: f64) {
        for start in (0..len).step_by(D) {
            let width = D.min(len - start);
            let seen = |row: &[f64]| row[start..start + width].iter().any(|x| *x != 0.0);
            if !w.chunks_exact(len).any(seen) {
                continue;
            }
            self.parts.push((first_node + start / D) as u32);
            self.w
                .extend(w.chunks_exact(len).map(|row| {
                    std::array::from_fn(|k| if k < width { scale * row[start + k] } else { 0.0 })
                }));
        }
    }

    /// Completes the island; to be called when all elements have been added.
    pub fn end(&mut self) {
        self.end_element();
        let rows = self.b.len();
        let Self { origin, base, force, p, s, q, change, .. } = self;
        for list in [origin, base, force, p, s, q, change] {
            list.clear();
            list.resize(rows, 0.0);
        }
        self.regimes.clear();
        self.regimes.resize(self.elements.len(), Regime::Fixed);
        self.release_slips();
        self.held.clear();
        self.held.resize(self.elements.len(), false);
        for list in [&mut self.u, &mut self.defect, &mut self.step, &mut self.from] {
            list.clear();
            list.resize(self.nodes, [0.0; D]);
        }
        self.blocks.analyse(self.nodes, std::iter::empty());
    }

    /// Sum of squares of `b`.
    pub fn size(&self) -> f64 {
        square(&self.b)
    }

    /// Mean number of rows per velocity.
    pub fn redundancy(&self) -> f64 {
        self.b.len() as f64 / (D * self.nodes).max(1) as f64
    }

    /// Mean entry of the diagonal of `A`; 1 if it is zero.
    pub fn mean_diagonal(&self) -> f64 {
        let sum = square(self.w.as_flattened()) + self.compliance.iter().sum::<f64>();
        if sum > 0.0 { sum / self.b.len() as f64 } else { 1.0 }
    }

    fn parts_of(&self, k: usize) -> &[u32] {
        let end = self.elements.get(k + 1).map_or(self.parts.len(), |next| next.part);
        &self.parts[self.elements[k].part..end]
    }

    /// Makes the current forces the centre. Velocities are relative to those of the centre: small ones then
    /// keep all their digits.
    pub fn recentre(&mut self) {
        self.about_zero = false;
        self.origin.fill(0.0);
        self.base.copy_from_slice(&self.b);
        self.pushed();
        for k in 0..self.elements.len() {
            let e = self.elements[k];
            let mut y = [0.0; MOST_ROWS];
            self.pull(k, &self.from, &mut y);
            (0..e.rows).for_each(|i| self.base[e.row + i] += y[i]);
        }
        self.origin.copy_from_slice(&self.force);
        self.u.fill([0.0; D]);
    }

    /// Makes zero the centre, and the current forces the origin.
    pub fn recentre_at_zero(&mut self) {
        self.recentre();
        self.about_zero = true;
    }

    /// Proximal term `eps lambda0` of a row.
    fn towards(&self, eps: f64, row: usize) -> f64 {
        if self.about_zero { 0.0 } else { eps * self.weight[row] * self.origin[row] }
    }

    /// Sets `from = W' lambda`, relative to the origin.
    fn pushed(&mut self) {
        let mut v = std::mem::take(&mut self.from);
        v.fill([0.0; D]);
        (0..self.elements.len()).for_each(|k| self.push(k, 1.0, &mut v));
        self.from = v;
    }

    /// Adds `sign W_k' lambda_k` to `v`, relative to the origin.
    #[inline(always)]
    fn push(&self, k: usize, sign: f64, v: &mut [[f64; D]]) {
        let e = &self.elements[k];
        let mut force = [0.0; MOST_ROWS];
        (0..e.rows).for_each(|i| force[i] = sign * (self.force[e.row + i] - self.origin[e.row + i]));
        self.push_force(k, &force, v);
    }

    /// Adds `W_k' force` to `v`.
    #[inline(always)]
    fn push_force(&self, k: usize, force: &[f64; MOST_ROWS], v: &mut [[f64; D]]) {
        let e = &self.elements[k];
        for (&node, w) in self.parts_of(k).iter().zip(self.w[e.w..].chunks_exact(e.rows)) {
            let own = &mut v[node as usize];
            for (f, w) in force.iter().zip(w) {
                (0..D).for_each(|j| own[j] += f * w[j]);
            }
        }
    }

    /// Adds `W_k u` to `out`.
    #[inline(always)]
    fn pull(&self, k: usize, u: &[[f64; D]], out: &mut [f64; MOST_ROWS]) {
        let e = &self.elements[k];
        for (&node, w) in self.parts_of(k).iter().zip(self.w[e.w..].chunks_exact(e.rows)) {
            let own = &u[node as usize];
            for (out, w) in out.iter_mut().zip(w) {
                *out += (0..D).map(|j| w[j] * own[j]).sum::<f64>();
            }
        }
    }

    /// Evaluates forces and `G` at `u`; returns `|G|^2`.
    pub fn evaluate(&mut self, eps: f64) -> f64 {
        vectorised(
            #[inline(always)]
            || self.evaluate_plain(eps),
        )
    }

    #[inline(always)]
    fn evaluate_plain(&mut self, eps: f64) -> f64 {
        let mut defect = std::mem::take(&mut self.defect);
        defect.copy_from_slice(&self.u);
        for k in 0..self.elements.len() {
            let e = self.elements[k];
            let (mut p, mut d) = ([0.0; MOST_ROWS], [0.0; MOST_ROWS]);
            self.pull(k, &self.u, &mut p);
            for i in 0..e.rows {
                p[i] = self.towards(eps, e.row + i) - p[i] - self.base[e.row + i];
                d[i] = eps * self.weight[e.row + i] + self.compliance[e.row + i];
            }
            self.p[e.row..][..e.rows].copy_from_slice(&p[..e.rows]);
            let own = &mut self.force[e.row..][..e.rows];
            let (p, rigid) = (&p[..e.rows], &self.compliance[e.row..][..e.rows]);
            self.regimes[k] = match self.act {
                Act::Cone if is_rigid_friction(e.law, rigid) => {
                    respond_associated(e.law, p, d[0], own);
                    Regime::Stick
                }
                Act::Bounded if is_rigid_friction(e.law, rigid) => {
                    respond_bounded(self.most[k].0, p, d[0], own);
                    Regime::Stick
                }
                _ => respond(e.law, p, &d[..e.rows], own),
            };
            self.push(k, -1.0, &mut defect);
        }
        self.defect = defect;
        square(self.defect.as_flattened())
    }

    /// Computes the slopes of the laws in the current regimes, with compliance `eps`.
    fn linearise(&mut self, eps: f64) {
        for (k, (e, regime)) in self.elements.iter().zip(&self.regimes).enumerate() {
            let mut d = [0.0; MOST_ROWS];
            for i in 0..e.rows {
                d[i] = eps * self.weight[e.row + i] + self.compliance[e.row + i];
            }
            let slope = &mut self.slope[e.slope..][..e.rows * e.rows];
            let (p, rigid) = (&self.p[e.row..][..e.rows], &self.compliance[e.row..][..e.rows]);
            match self.act {
                Act::Cone if is_rigid_friction(e.law, rigid) => slope_associated(e.law, p, d[0], slope),
                Act::Bounded if is_rigid_friction(e.law, rigid) => {
                    slope_bounded(self.most[k].0, p, d[0], slope);
                }
                _ => regime.slope(e.law.1, &d[..e.rows], slope),
            }
        }
    }

    /// Moves to the solution of the linearised problem in the states of the last evaluation, whose `eps` was
    /// `before`: each element keeps its force and its velocity `s = d lambda - p` as the point of
    /// linearisation.
    pub fn predict(&mut self, before: f64, eps: f64) -> bool {
        let mut defect = std::mem::take(&mut self.defect);
        defect.copy_from_slice(&self.u);
        for k in 0..self.elements.len() {
            let e = self.elements[k];
            let (mut y, mut p, mut d) = ([0.0; MOST_ROWS], [0.0; MOST_ROWS], [0.0; MOST_ROWS]);
            self.pull(k, &self.u, &mut y);
            for i in 0..e.rows {
                p[i] = self.p[e.row + i] + (eps - before) * self.weight[e.row + i] * self.force[e.row + i];
                d[i] = eps * self.weight[e.row + i] + self.compliance[e.row + i];
                // from the point of linearisation to that of u
                y[i] = self.towards(eps, e.row + i) - y[i] - self.base[e.row + i] - p[i];
            }
            let slope = &mut self.slope[e.slope..][..e.rows * e.rows];
            let own = &mut self.force[e.row..][..e.rows];
            let regime = respond(e.law, &p[..e.rows], &d[..e.rows], own);
            regime.slope(e.law.1, &d[..e.rows], slope);
            for i in 0..e.rows {
                own[i] += (0..e.rows).map(|j| slope[e.rows * i + j] * y[j]).sum::<f64>();
            }
            self.push(k, -1.0, &mut defect);
        }
        self.defect = defect;
        let found = self.factor() && self.solve_step();
        if found {
            self.begin_search();
            self.move_to(1.0);
        }
        found
    }

    /// Computes the Newton step `(I + W' D W) step = -G` at the last evaluation, which had this `eps`; false if
    /// the matrix is singular.
    pub fn find_step(&mut self, eps: f64) -> bool {
        self.linearise(eps);
        self.factor() && self.solve_step()
    }

    /// Factors `I + W' D W`; false if it is singular.
    fn factor(&mut self) -> bool {
        self.hold_closed();
        vectorised(
            #[inline(always)]
            || self.assemble(),
        );
        self.blocks.factor()
    }

    /// Solves for `step` from the defect and the factors; false if it is not finite.
    fn solve_step(&mut self) -> bool {
        for (step, defect) in self.step.iter_mut().zip(&self.defect) {
            *step = defect.map(|x| -x);
        }
        self.blocks.solve(&mut self.step);
        self.step.as_flattened().iter().all(|x| x.is_finite())
    }

    /// Assembles `I + W' D W`.
    #[inline(always)]
    fn assemble(&mut self) {
        let data = self.blocks.reset();
        let mut product = [[0.0; P]; MOST_ROWS];
        for (k, e) in self.elements.iter().enumerate() {
            let slope = &self.slope[e.slope..][..e.rows * e.rows];
            if slope.iter().all(|x| *x == 0.0) {
                continue;
            }
            let end = self.elements.get(k + 1).map_or(self.parts.len(), |next| next.part);
            let parts = end - e.part;
            for column in 0..parts {
                let w = &self.w[e.w + e.rows * column..][..e.rows];
                for (product, slope) in product.iter_mut().zip(slope.chunks_exact(e.rows)) {
                    *product = [0.0; P];
                    for (slope, w) in slope.iter().zip(w) {
                        for j in 0..P {
                            product[j] += slope * w[j];
                        }
                    }
                }
                for row in 0..parts {
                    let w = &self.w[e.w + e.rows * row..][..e.rows];
                    let block = &mut data[self.addresses[e.address + parts * row + column] as usize];
                    for i in 0..D {
                        let mut sum = block[i];
                        for (w, product) in w.iter().zip(&product) {
                            for j in 0..P {
                                sum[j] += w[i] * product[j];
                            }
                        }
                        block[i] = sum;
                    }
                }
            }
        }
    }

    /// Extends the pattern to all elements that carry force.
    fn hold_closed(&mut self) {
        let loaded = |e: &Element| self.slope[e.slope..][..e.rows * e.rows].iter().any(|x| *x != 0.0);
        let mut fits = true;
        for (held, e) in self.held.iter_mut().zip(&self.elements) {
            if !*held && loaded(e) {
                *held = true;
                fits = false;
            }
        }
        if fits {
            return;
        }
        let mut blocks = std::mem::take(&mut self.blocks);
        let held = || (0..self.elements.len()).filter(|&k| self.held[k]);
        let pairs = held().flat_map(|k| {
            let own = self.parts_of(k);
            own.iter().enumerate().flat_map(|(i, &a)| own[i + 1..].iter().map(move |&b| [a, b]))
        });
        blocks.analyse(self.nodes, pairs);
        for k in 0..self.elements.len() {
            let (own, first) = (self.elements[k].part, self.elements[k].address);
            let parts = self.parts_of(k).len();
            for pair in (0..parts * parts).filter(|_| self.held[k]) {
                let (row, column) = (self.parts[own + pair / parts], self.parts[own + pair % parts]);
                self.addresses[first + pair] = blocks.address(row, column);
            }
        }
        self.blocks = blocks;
    }

    /// Stores the point of the last evaluation, to return to.
    pub fn keep(&mut self) {
        self.kept.0.clone_from(&self.u);
        self.kept.1.clone_from(&self.force);
        self.kept.2.clone_from(&self.p);
    }

    /// Returns to the stored point.
    pub fn restore(&mut self) {
        self.u.clone_from(&self.kept.0);
        self.force.clone_from(&self.kept.1);
        self.p.clone_from(&self.kept.2);
    }

    /// Stores the velocities as the start of a line search.
    pub fn begin_search(&mut self) {
        self.from.copy_from_slice(&self.u);
    }

    /// Sets `u = from + t step`.
    pub fn move_to(&mut self, t: f64) {
        for ((u, from), step) in self.u.iter_mut().zip(&self.from).zip(&self.step) {
            (0..D).for_each(|j| u[j] = from[j] + t * step[j]);
        }
    }

    /// Number of block operations of one linear system.
    pub fn work(&self) -> usize {
        self.blocks.work() + self.parts.len()
    }

    /// Square `eps^2 |lambda - lambda0|^2` of what the proximal term adds to the velocities.
    pub fn shift(&self, eps: f64) -> f64 {
        (0..self.force.len())
            .map(|i| (eps * self.weight[i] * self.force[i] - self.towards(eps, i)).powi(2))
            .sum()
    }

    /// Sum of squares of the natural map at the current forces, without proximal term.
    pub fn residual(&mut self) -> f64 {
        self.pushed();
        let mut total = 0.0;
        for k in 0..self.elements.len() {
            let e = self.elements[k];
            let mut y = [0.0; MOST_ROWS];
            self.pull(k, &self.from, &mut y);
            let at = e.row..e.row + e.rows;
            for i in at.clone() {
                self.s[i] = y[i - e.row] + self.base[i] + self.compliance[i] * self.force[i];
            }
            let mut natural = [0.0; MOST_ROWS];
            let (law, mu) = e.law;
            law.natural(mu, &self.force[at.clone()], &self.s[at], &mut natural[..e.rows]);
            total += square(&natural[..e.rows]);
        }
        if total.is_nan() { f64::INFINITY } else { total }
    }
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}
