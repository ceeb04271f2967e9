//! The one diagonal of units: a problem as posed -> a problem that solvers work on, and forces back.
//!
//! Problems are posed in N, N m, m/s and rad/s. Solvers see `lambda = S y`, `u = S s`, `A' = S A S`, `b' = S b` with `S = d_i diag(1, e_k)` for element `i`:
//! `d_i^2 = rho_i`, the inverse of the mean eigenvalue of `A_ii` (its linear rows), makes diagonals about 1, and the semi-axes `e_k` make ellipsoids discs. Where no ellipsoid
//! is involved, the natural map of the scaled problem with step 1 is the residual without units ([`crate::residual`]), element by element.
//!
//! Islands whose elements have the same largest number of rows are solved together, elements with fewer rows padded with rows that yield by themselves
//! (`u = y`): their only force is 0. So is that of rows with `e_k = 0`.

use crate::element::Element;
use crate::element::law::Law;
use crate::islands::Islands;
use crate::operator::{BlockMatrix, Factored, Operator};
use crate::problem::{ContactProblem, FrictionProblem};

/// A problem whose elements have one number of rows, in units in which all ellipsoids are discs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uniform<'a> {
    /// `A'`: blocks, or factors.
    pub a: &'a Operator,
    pub b: &'a [f64],
    /// Friction coefficient of each element.
    pub mu: &'a [f64],
    /// Rows of each element, padding included.
    pub rows: usize,
    pub laws: &'a [Law],
    /// `S`, row by row; 0 where a row carries no force.
    pub scale: &'a [f64],
}

impl Uniform<'_> {
    /// Law of an element.
    #[inline]
    pub fn law(&self, element: usize) -> Law {
        self.laws[element]
    }

    /// Whether all of some elements have discs.
    pub fn round(&self, elements: &[usize]) -> bool {
        elements.iter().all(|&c| self.laws[c] == Law::Disc)
    }
}

/// The part of a problem that is solved with one number of rows, in memory that is used again.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    rows: usize,
    /// Elements of the problem as posed, ascending, and places in this list by element.
    members: Vec<usize>,
    place: Vec<usize>,
    /// `S`, row by row, padding included; 0 where a row carries no force.
    scale: Vec<f64>,
    operator: Operator,
    b: Vec<f64>,
    mu: Vec<f64>,
    laws: Vec<Law>,
    offsets: Vec<usize>,
    pub islands: Islands,
}

impl Default for Part {
    fn default() -> Self {
        let operator = Operator::Blocks(BlockMatrix::default());
        let (members, place, scale, b, mu, laws) = (vec![], vec![], vec![], vec![], vec![], vec![]);
        let (offsets, islands) = (vec![], Islands::default());
        Self { rows: 0, members, place, scale, operator, b, mu, laws, offsets, islands }
    }
}

impl Part {
    /// Takes the islands of `problem` whose largest number of rows is `rows`; false if there are none. `units` holds `sqrt(rho)` row by row, `islands` those of the
    /// problem.
    pub fn fill(
        &mut self,
        problem: ContactProblem<'_>,
        offsets: &[usize],
        islands: &Islands,
        units: &[f64],
        rows: usize,
    ) -> bool {
        let elements = problem.elements;
        self.rows = rows;
        self.members.clear();
        self.place.clear();
        self.place.resize(elements.len(), usize::MAX);
        for island in (0..islands.count()).map(|k| islands.island(k)) {
            if padded_rows(elements, island) == rows {
                self.members.extend_from_slice(island);
            }
        }
        let whole = self.members.len() == elements.len();
        self.members.sort_unstable();
        for v in [&mut self.scale, &mut self.b, &mut self.mu] {
            v.clear();
        }
        self.laws.clear();
        for (k, &c) in self.members.iter().enumerate() {
            self.place[c] = k;
            let (element, first, own) = (&elements[c], offsets[c], elements[c].rows());
            let unit = units[first];
            for i in 0..rows {
                let scale = if i < own { unit * element.axis(i) } else { 0.0 };
                self.scale.push(scale);
                self.b.push(if i < own { scale * problem.b[first + i] } else { 0.0 });
            }
            self.mu.push(element.mu());
            self.laws.push(match element.law() {
                Law::Row { limit } => Law::Row { limit: limit / unit },
                law => law,
            });
        }
        match problem.a {
            Operator::Factored(a) => self.factors(a),
            other => self.blocks(other, offsets, islands),
        }
        self.offsets.clear();
        self.offsets.extend((0..=self.members.len()).map(|k| rows * k));
        match whole {
            true => self.islands.copy_from(islands),
            false => self.islands.find(&self.operator, &self.offsets),
        }
        !self.members.is_empty()
    }

    fn factors(&mut self, a: &Factored) {
        if !matches!(self.operator, Operator::Factored(_)) {
            self.operator = Operator::Factored(Factored::default());
        }
        let Operator::Factored(out) = &mut self.operator else { return };
        let rows = self.rows;
        out.clear(a.speeds(), a.share());
        for (&c, scale) in self.members.iter().zip(self.scale.chunks_exact(rows)) {
            out.begin(rows);
            for (s, w) in a.segments(c) {
                let own = out.segment(s.first, s.len).chunks_exact_mut(s.len);
                for ((own, w), scale) in own.zip(w.chunks_exact(s.len)).zip(scale) {
                    own.iter_mut().zip(w).for_each(|(own, w)| *own = scale * w);
                }
            }
        }
        let mut k = 0;
        while k < self.members.len() {
            let c = self.members[k];
            let patch = a.patch_elements(c);
            let count = patch.len().max(1);
            let own = &self.scale[rows * k..rows * (k + count)];
            if !patch.is_empty() || own.contains(&0.0) {
                let order = rows * count;
                let e = out.patch_rows(k, order);
                for (i, other) in patch.enumerate() {
                    let Some((first, data)) = a.patch(other) else { continue };
                    let width = data.len() / a.rows(other);
                    for (p, row) in data.chunks_exact(width).enumerate() {
                        // columns of the patch, element by element
                        let mut column = 0;
                        for j in 0..count {
                            for q in 0..a.rows(c + j) {
                                e[order * (rows * i + p) + rows * j + q] =
                                    own[rows * i + p] * row[column] * own[rows * j + q];
                                column += 1;
                            }
                        }
                    }
                    debug_assert_eq!(first, a.offsets()[c]);
                }
                (0..order).filter(|&i| own[i] == 0.0).for_each(|i| e[(order + 1) * i] = 1.0);
            }
            k += count;
        }
    }

    fn blocks(&mut self, a: &Operator, offsets: &[usize], islands: &Islands) {
        if !matches!(self.operator, Operator::Blocks(_)) {
            self.operator = Operator::Blocks(BlockMatrix::default());
        }
        let Operator::Blocks(out) = &mut self.operator else { return };
        let (rows, scale, place) = (self.rows, &self.scale, &self.place);
        out.clear();
        for (i, &c) in self.members.iter().enumerate() {
            out.begin_row(rows);
            let (own, at) = (&scale[rows * i..][..rows], offsets[c]..offsets[c + 1]);
            let mut add = |k: usize, entry: &dyn Fn(usize, usize) -> f64| {
                let (j, width) = (place[k], offsets[k + 1] - offsets[k]);
                let block = out.block_mut(j, rows * rows);
                for p in 0..at.len() {
                    for q in 0..width {
                        block[rows * p + q] = own[p] * entry(p, q) * scale[rows * j + q];
                    }
                }
                (0..rows).filter(|&p| k == c && own[p] == 0.0).for_each(|p| block[(rows + 1) * p] = 1.0);
            };
            match a {
                Operator::Dense(a) => {
                    for &k in islands.island(islands.number_of(c)) {
                        let part = |p: usize| &a.row(at.start + p)[offsets[k]..offsets[k + 1]];
                        if k == c || (0..at.len()).any(|p| part(p).iter().any(|&x| x != 0.0)) {
                            add(k, &|p, q| part(p)[q]);
                        }
                    }
                }
                Operator::Blocks(a) => {
                    for (k, block) in a.blocks_of(c) {
                        let width = offsets[k + 1] - offsets[k];
                        add(k, &|p, q| block[width * p + q]);
                    }
                }
                Operator::Factored(_) => {}
            }
        }
    }

    /// The problem that solvers see.
    pub fn problem(&self) -> Uniform<'_> {
        let Self { operator, b, mu, rows, laws, scale, .. } = self;
        Uniform { a: operator, b, mu, rows: *rows, laws, scale }
    }

    /// Whether the natural map of the solvers' problem is that of the residual as posed, element by element: there are no ellipsoids.
    pub fn is_posed(&self, problem: ContactProblem<'_>) -> bool {
        let plain =
            |e: &Element| e.rows() <= crate::element::LINEAR_ROWS && (1..e.rows()).all(|k| e.axis(k) == 1.0);
        self.members.iter().all(|&c| plain(&problem.elements[c]))
    }

    /// Elements of the problem as posed.
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// `y` of forces, zero along rows without a force.
    pub fn unknowns(&self, offsets: &[usize], lambda: &[f64], y: &mut Vec<f64>) {
        y.clear();
        let own = self.members.iter().zip(self.scale.chunks_exact(self.rows));
        for (&c, scale) in own {
            let own = &lambda[offsets[c]..offsets[c + 1]];
            y.extend(scale.iter().enumerate().map(|(i, &d)| if d > 0.0 { own[i] / d } else { 0.0 }));
        }
    }

    /// `u = S s`; the padding's are 0, as where it has no force.
    pub fn velocities(&self, offsets: &[usize], s: &[f64], u: &mut Vec<f64>) {
        u.clear();
        for (&c, scale) in self.members.iter().zip(self.scale.chunks_exact(self.rows)) {
            let own = &s[offsets[c]..offsets[c + 1]];
            u.extend(scale.iter().enumerate().map(|(i, d)| own.get(i).map_or(0.0, |s| d * s)));
        }
    }

    /// `lambda = S y`.
    pub fn forces(&self, offsets: &[usize], y: &[f64], lambda: &mut [f64]) {
        let rows = self.rows;
        for (k, &c) in self.members.iter().enumerate() {
            let own = &mut lambda[offsets[c]..offsets[c + 1]];
            for (i, l) in own.iter_mut().enumerate() {
                *l = self.scale[rows * k + i] * y[rows * k + i];
            }
        }
    }
}

/// Largest number of rows of an island's elements, at least 2.
pub(crate) fn padded_rows(elements: &[Element], island: &[usize]) -> usize {
    island.iter().map(|&c| elements[c].rows()).fold(2, usize::max)
}

/// A problem with its ellipsoids scaled to discs, for those who ask about the law and not for forces (certificates).
#[derive(Debug, Clone)]
pub(crate) struct AsDisc {
    /// The problem in `y`, without ellipsoids.
    pub problem: FrictionProblem,
    /// `lambda = S y`.
    pub scale: Vec<f64>,
}

impl AsDisc {
    /// `None` if no contact has an ellipsoid, or numbers overflow.
    pub fn of(problem: &FrictionProblem) -> Option<Self> {
        use crate::element::Friction;
        let elements = problem.elements();
        if (0..elements.len()).all(|c| problem.axes_of(c).is_empty()) {
            return None;
        }
        let scale: Vec<f64> = elements.iter().flat_map(|e| (0..e.rows()).map(move |k| e.axis(k))).collect();
        let mut a = problem.matrix().into_owned();
        for i in 0..a.rows() {
            a.row_mut(i).iter_mut().zip(&scale).for_each(|(x, s)| *x *= scale[i] * s);
        }
        let b = problem.vector().iter().zip(&scale).map(|(b, s)| s * b).collect();
        let disc = |e: &Element| match *e {
            Element::Contact(mut contact) if contact.friction == Friction::Ellipsoid => {
                (contact.friction, contact.axes) = (Friction::Cone, [1.0; 5]);
                Element::Contact(contact)
            }
            other => other,
        };
        let problem = FrictionProblem::from_elements(a, b, elements.iter().map(disc).collect()).ok()?;
        Some(Self { problem, scale })
    }

    /// `y` of forces, zero along rows without friction.
    pub fn unknowns(&self, lambda: &[f64]) -> Vec<f64> {
        lambda.iter().zip(&self.scale).map(|(l, &e)| if e > 0.0 { l / e } else { 0.0 }).collect()
    }
}
