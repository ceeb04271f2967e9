//! The residual of every result: natural maps of the problem as posed, computed apart from all solvers.
//!
//! A residual is zero exactly at the solutions. That of a contact problem has no units. With `rho_i = 1 / mean eigenvalue of A_ii` (linear and angular rows apart; where
//! that is 0, the island's), `r_i = lambda_i - P(lambda_i - rho_i s~_i)`, and elements of different units add up as power:
//!
//! ```text
//! R^2 = sum |r_i|^2 / rho_i    against the larger of    sum |lambda_i|^2 / rho_i    and    sum rho_i |b_i|^2
//! ```
//!
//! over elements that close or carry a force, so that the gap of a far open contact does not dilute it. `s~` is De Saxce's `(s_n + mu sigma(-s_t), s_t)`, and `P` the
//! projection in the metric of `rho`. The ratio is taken for each island, and for each body over the elements on it; the largest counts. It does not change with the
//! units of mass, length and time, nor with the masses of one island. Three limits keep it meaningful:
//!
//! - forces count up to [`MOST_FORCE`] times the load of their island: two forces that press a body from both sides can grow without end, and must not hide that it overlaps;
//! - the scale of a body is at least [`LEAST_BODY`] of its island's, as far as rounding lets forces be found;
//! - what the terms summed in `b` leave by rounding is no residual, nor for a body what the forces on its neighbours leave.
//!
//! Each element is also judged by itself (`residual/element.rs`); the relative residual is the larger of both.

mod bounded;
mod element;

pub(crate) use bounded::with_jacobian;
pub use bounded::{boxed, nonlinear};

use crate::element::{Element, LINEAR_ROWS};
use crate::islands::Islands;
use crate::matrix::{dot, length, norm};
use crate::operator::{Factored, MOST_ROWS, Operator, Segment};
use crate::problem::{ContactProblem, FrictionProblem, Lcp, MixedLcp};
use element::{Judged, own_reference};
use serde::Serialize;

/// Forces count up to this multiple of the load in the scale of a residual.
pub const MOST_FORCE: f64 = 1e3;
/// Scale of a body's residual over that of its island, at least.
pub const LEAST_BODY: f64 = 1e-8;
/// Relative residual up to which forces are near a solution.
const NEAR: f64 = 0.1;
/// Relative residual of a body from which on the rounding of its neighbours' forces is looked at.
const ABOVE_ROUNDING: f64 = 1e-13;
/// The same of a single element, whose own rounding costs a product with `A`.
const ELEMENT_ABOVE_ROUNDING: f64 = 1e-14;
/// Roundings of the largest term of `b` that are no residual.
const ROUNDINGS: f64 = 4.0;

/// How far a result is from a solution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Residual {
    /// Norm of the natural map with step 1, `|lambda - P(lambda - s~)|`, in the units of the problem.
    pub absolute: f64,
    /// Contact problems: the residual without units (module's head), the larger of `natural` and, where the problem says what is slow
    /// ([`ContactProblem::reference`]), `element`; problems with box bounds: that of
    /// [`boxed`]. Others: `|r| / |q|`, or `|r|` where `q` is zero. This is what tolerances are about.
    pub relative: f64,
    /// Contact problems: that of islands and bodies, by natural maps. Others: `relative`.
    pub natural: f64,
    /// Contact problems: that of the worst element by itself. Others: 0.
    pub element: f64,
    /// `|r| / |q|` with step 1, the measure of FCLIB; `|r|` where `q` is zero.
    #[serde(rename = "fclib_relative")]
    pub fclib: f64,
}

impl Default for Residual {
    fn default() -> Self {
        Self::NONE
    }
}

impl Residual {
    /// An exact solution.
    pub const ZERO: Self = Self { absolute: 0.0, relative: 0.0, natural: 0.0, element: 0.0, fclib: 0.0 };

    /// No result at all.
    pub const NONE: Self = Self {
        absolute: f64::INFINITY,
        relative: f64::INFINITY,
        natural: f64::INFINITY,
        element: f64::INFINITY,
        fclib: f64::INFINITY,
    };

    /// One that is not of a contact problem, where nothing is judged by elements.
    pub const fn plain(absolute: f64, relative: f64, fclib: f64) -> Self {
        Self { absolute, relative, natural: relative, element: 0.0, fclib }
    }

    fn of(r: impl Iterator<Item = f64> + Clone, constant: &[f64]) -> Self {
        let (absolute, size) = (length(r), norm(constant));
        if absolute.is_nan() {
            return Self::NONE;
        }
        let relative = if size > 0.0 { absolute / size } else { absolute };
        Self::plain(absolute, relative, relative)
    }
}

/// `r = min(z, M z + q)`.
pub fn lcp(problem: &Lcp, z: &[f64]) -> Residual {
    if z.len() != problem.size() {
        return Residual::NONE;
    }
    let w = |i: usize| dot(problem.matrix().row(i), z) + problem.vector()[i];
    Residual::of((0..z.len()).map(|i| natural(z[i], w(i))), problem.vector())
}

/// `r_i = min(z_i, w_i)` on complementarity rows, `w_i` on equality rows.
pub fn mixed(problem: &MixedLcp, z: &[f64]) -> Residual {
    if z.len() != problem.size() {
        return Residual::NONE;
    }
    let w = |i: usize| dot(problem.matrix().row(i), z) + problem.vector()[i];
    let r = |i: usize| if problem.complementary()[i] { natural(z[i], w(i)) } else { w(i) };
    Residual::of((0..z.len()).map(r), problem.vector())
}

/// The residual of forces.
pub fn friction(problem: &FrictionProblem, lambda: &[f64]) -> Residual {
    contact(problem.view(), lambda, &mut Evaluation::default())
}

/// The same for a problem in borrowed parts; `memory` holds what was found.
pub fn contact(problem: ContactProblem<'_>, lambda: &[f64], memory: &mut Evaluation) -> Residual {
    if !memory.prepare(problem) || lambda.len() != problem.b.len() {
        return Residual::NONE;
    }
    memory.evaluate(problem, lambda);
    memory.residual(problem, lambda)
}

/// The natural map of a contact problem with step 1, row by row; `None` if the forces are not as many as the rows.
pub fn friction_map(problem: &FrictionProblem, lambda: &[f64]) -> Option<Vec<f64>> {
    if lambda.len() != problem.size() {
        return None;
    }
    let s = problem.speed(lambda);
    let mut r = vec![0.0; s.len()];
    for (c, element) in problem.elements().iter().enumerate() {
        let at = problem.rows_of(c);
        element.natural(&lambda[at.clone()], &s[at.clone()], &mut r[at]);
    }
    Some(r)
}

/// Sums over the elements of an island or on a body.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    /// `|r_i|^2 / rho_i`, `|lambda_i|^2 / rho_i`, `rho_i |b_i|^2`, and the latter with the terms of `b`.
    residual: f64,
    force: f64,
    load: f64,
    terms: f64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.residual += other.residual;
        self.force += other.force;
        self.load += other.load;
        self.terms += other.terms;
    }

    /// Square of what the residual is relative to, in an island with this load.
    fn scale(&self, load: f64) -> f64 {
        match load > 0.0 {
            true => self.load.max(self.force.min(MOST_FORCE * MOST_FORCE * load)),
            false => self.force,
        }
    }

    fn relative(&self, scale: f64) -> f64 {
        let left = self.residual.sqrt() - ROUNDINGS * f64::EPSILON * self.terms.sqrt();
        match scale.sqrt() {
            _ if left <= 0.0 => 0.0,
            scale if scale > 0.0 => left / scale,
            _ => left,
        }
    }
}

/// What the residual of a contact problem needs and leaves, in memory that is used again.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    /// `s = A lambda + b`.
    pub speed: Vec<f64>,
    /// `W' lambda`, if the operator is factored.
    pub(crate) product: Vec<f64>,
    pub(crate) offsets: Vec<usize>,
    pub(crate) islands: Islands,
    /// `sqrt(rho)`, row by row.
    pub(crate) units: Vec<f64>,
    by_island: Vec<Sums>,
    /// By first velocity of the body.
    by_body: Vec<Sums>,
    /// Relative residual of each island, worst body and worst element included; and the largest of all.
    pub(crate) relative: Vec<f64>,
    worst: f64,
    /// That of the worst element of each island.
    pub(crate) by_element: Vec<f64>,
    /// That of the worst element of all, asked for or not.
    element: f64,
    /// Largest relative residual of an island or body.
    pub(crate) natural: f64,
    /// Sums of the absolute values of the terms of `speed`, row by row, and whether they are those of the forces evaluated last; the same of `product`.
    absolute: Vec<f64>,
    absolute_known: bool,
    absolute_product: Vec<f64>,
}

impl Evaluation {
    /// Reads offsets, islands and `rho` of a problem; false if its parts do not fit each other.
    pub(crate) fn prepare(&mut self, problem: ContactProblem<'_>) -> bool {
        let ContactProblem { a, b, elements, terms, reference } = problem;
        problem.write_offsets(&mut self.offsets);
        let fits = self.offsets[elements.len()] == b.len()
            && (terms.is_empty() || terms.len() == b.len())
            && (reference.is_empty() || reference.len() == elements.len())
            && a.fits(&self.offsets)
            && elements.iter().all(|e| e.fault().is_none());
        if !fits {
            return false;
        }
        self.islands.find(a, &self.offsets);
        self.units.clear();
        let mut complete = true;
        let mut diagonal = [0.0; MOST_ROWS];
        for (c, element) in elements.iter().enumerate() {
            let own = &mut diagonal[..element.rows()];
            a.diagonal_entries(c, self.offsets[c], own);
            for rows in own.chunks(LINEAR_ROWS) {
                let unit = unit_of(rows.iter().sum::<f64>() / rows.len() as f64);
                complete &= unit > 0.0;
                self.units.extend(rows.iter().map(|_| unit));
            }
        }
        if !complete {
            (0..self.islands.count()).for_each(|k| self.complete_units(k));
        }
        true
    }

    /// Where an element's own `rho` is not known, takes that of the mean over its island, linear and angular rows apart.
    fn complete_units(&mut self, island: usize) {
        let Self { offsets, islands, units, .. } = self;
        for angular in [false, true] {
            let rows = || {
                let own =
                    islands.island(island).iter().flat_map(|&c| (offsets[c]..offsets[c + 1]).enumerate());
                own.filter(|(k, _)| (*k >= LINEAR_ROWS) == angular).map(|(_, i)| i)
            };
            let (mut sum, mut count) = (0.0, 0usize);
            for i in rows().filter(|&i| units[i] > 0.0) {
                (sum, count) = (sum + units[i].powi(-2), count + 1);
            }
            let mean = if count > 0 { unit_of(sum / count as f64) } else { 1.0 };
            rows().for_each(|i| {
                if units[i] == 0.0 {
                    units[i] = mean;
                }
            });
        }
    }

    /// Evaluates forces of the problem that was prepared: velocities, and the relative residual of each island and of all.
    pub(crate) fn evaluate(&mut self, problem: ContactProblem<'_>, lambda: &[f64]) -> f64 {
        let ContactProblem { a, b, elements, terms, .. } = problem;
        self.speed.resize(b.len(), 0.0);
        a.times(lambda, &mut self.speed, &mut self.product);
        self.speed.iter_mut().zip(b).for_each(|(s, b)| *s += b);
        self.by_island.clear();
        self.by_island.resize(self.islands.count(), Sums::default());
        if let Operator::Factored(a) = a {
            self.by_body.resize(a.speeds(), Sums::default());
            self.islands.bodies().iter().for_each(|&(first, _)| self.by_body[first] = Sums::default());
        }
        for (c, element) in elements.iter().enumerate() {
            let at = self.offsets[c]..self.offsets[c + 1];
            let (l, s, unit) = (&lambda[at.clone()], &self.speed[at.clone()], &self.units[at.clone()]);
            let terms = if terms.is_empty() { &b[at.clone()] } else { &terms[at.clone()] };
            let sums = of_element(element, l, s, unit, &b[at], terms);
            self.by_island[self.islands.number_of(c)].add(&sums);
            if let Operator::Factored(a) = a {
                a.segments(c).for_each(|(s, _)| self.by_body[s.first].add(&sums));
            }
        }
        self.relative.clear();
        self.relative.extend(self.by_island.iter().map(|sums| sums.relative(sums.scale(sums.load))));
        let worst_body = self.islands.bodies().iter().map(|&body| self.of_body(body)).fold(0.0, f64::max);
        if let (true, Operator::Factored(a)) = (worst_body > ABOVE_ROUNDING, a) {
            self.add_rounding(a);
        }
        for k in 0..self.islands.bodies().len() {
            let body = self.islands.bodies()[k];
            let (island, worst) = (self.islands.number_of(body.1), self.of_body(body));
            self.relative[island] = self.relative[island].max(worst);
        }
        // f64::max leaves out what is not a number
        let worst = |m: f64, x: &f64| if x.is_nan() { f64::INFINITY } else { m.max(*x) };
        self.natural = self.relative.iter().fold(0.0, worst);
        self.judge_elements(problem, lambda);
        self.element = self.by_element.iter().fold(0.0, worst);
        if problem.reference.is_empty() {
            // nothing says what is slow: elements are reported, and not asked for
            self.by_element.fill(0.0);
        }
        for (own, element) in self.relative.iter_mut().zip(&self.by_element) {
            // f64::max leaves out what is not a number
            *own = if own.is_nan() { *own } else { own.max(*element) };
        }
        self.worst = self.relative.iter().fold(0.0, worst);
        self.worst
    }

    /// Judges each element by itself. The rounding of its rows is looked at where it may matter, for that costs a product with `A`.
    fn judge_elements(&mut self, problem: ContactProblem<'_>, lambda: &[f64]) {
        self.absolute_known = false;
        if self.worst_elements(problem, lambda) > ELEMENT_ABOVE_ROUNDING {
            self.add_absolute(problem, lambda);
            self.absolute_known = true;
            self.worst_elements(problem, lambda);
        }
    }

    /// Sums of the absolute values of the terms of all velocities.
    fn add_absolute(&mut self, problem: ContactProblem<'_>, lambda: &[f64]) {
        let ContactProblem { a, b, terms, .. } = problem;
        self.absolute.resize(b.len(), 0.0);
        a.absolute_times(lambda, &mut self.absolute, &mut self.absolute_product);
        let terms = if terms.is_empty() { b } else { terms };
        self.absolute.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term.abs());
    }

    /// Writes the residual of the worst element of each island; the largest.
    fn worst_elements(&mut self, problem: ContactProblem<'_>, lambda: &[f64]) -> f64 {
        self.by_element.clear();
        self.by_element.resize(self.islands.count(), 0.0);
        let mut worst = 0.0f64;
        for c in 0..problem.elements.len() {
            let own = self.judged(problem, lambda, c).residual();
            let island = &mut self.by_element[self.islands.number_of(c)];
            *island = if own.is_nan() { f64::INFINITY } else { island.max(own) };
            worst = worst.max(*island);
        }
        worst
    }

    fn judged<'a>(&'a self, problem: ContactProblem<'a>, lambda: &'a [f64], c: usize) -> Judged<'a> {
        let at = self.offsets[c]..self.offsets[c + 1];
        let (element, own, units) = (&problem.elements[c], &lambda[at.clone()], &self.units[at.clone()]);
        let given = if problem.terms.is_empty() { problem.b } else { problem.terms };
        let reference = problem.reference.get(c).copied();
        Judged {
            element,
            lambda: own,
            s: &self.speed[at.clone()],
            mobility: units[0].powi(-2),
            reference: reference.unwrap_or_else(|| own_reference(element, own, &given[at.clone()], units)),
            terms: if self.absolute_known { &self.absolute[at] } else { &[] },
            count: self.islands.island(self.islands.number_of(c)).len(),
        }
    }

    /// Writes the speed up to which each element rests, at a tolerance, with the forces that were evaluated last.
    pub fn write_rest(
        &self,
        problem: ContactProblem<'_>,
        lambda: &[f64],
        tolerance: f64,
        out: &mut Vec<f64>,
    ) {
        out.clear();
        if self.speed.len() != problem.b.len() || lambda.len() != problem.b.len() {
            return;
        }
        out.extend((0..problem.elements.len()).map(|c| self.judged(problem, lambda, c).rest(tolerance)));
    }

    /// Relative residual of the elements on a body, given by its first velocity and one of its elements.
    fn of_body(&self, (first, element): (usize, usize)) -> f64 {
        let (body, all) = (&self.by_body[first], &self.by_island[self.islands.number_of(element)]);
        let least = LEAST_BODY * LEAST_BODY * all.scale(all.load);
        body.relative(body.scale(all.load).max(least))
    }

    /// Adds to the terms of each body those that its elements have from the forces on the bodies at their other side: a light body on a
    /// heavy one feels the rounding of the heavy one's velocity.
    fn add_rounding(&mut self, a: &Factored) {
        for c in 0..a.elements() {
            let load = self.by_island[self.islands.number_of(c)].load;
            let force = |s: Segment| self.by_body[s.first].force.min(MOST_FORCE * MOST_FORCE * load);
            let force: f64 = a.segments(c).map(|(s, _)| force(s)).sum();
            a.segments(c).for_each(|(s, _)| self.by_body[s.first].terms += force);
        }
    }

    /// All measures of the residual of the forces that were evaluated last.
    pub(crate) fn residual(&self, problem: ContactProblem<'_>, lambda: &[f64]) -> Residual {
        let mut square = 0.0;
        let mut r = [0.0; MOST_ROWS];
        for (c, element) in problem.elements.iter().enumerate() {
            let at = self.offsets[c]..self.offsets[c + 1];
            let r = &mut r[..at.len()];
            element.natural(&lambda[at.clone()], &self.speed[at], r);
            square += r.iter().map(|x| x * x).sum::<f64>();
        }
        if !self.worst.is_finite() || f64::is_nan(square) {
            return Residual::NONE;
        }
        let (absolute, size) = (square.sqrt(), norm(problem.b));
        let fclib = if size > 0.0 { absolute / size } else { absolute };
        Residual { absolute, relative: self.worst, natural: self.natural, element: self.element, fclib }
    }

    /// Relative residual of an element's island as last evaluated; `None` if it was not.
    pub(crate) fn of_element(&self, element: usize) -> Option<f64> {
        let known = element + 1 < self.offsets.len();
        known.then(|| self.relative.get(self.islands.number_of(element)).copied()).flatten()
    }

    /// Square of what the residual of an island will be relative to, and of the residual itself. Forces far from a solution say nothing of those
    /// that are sought: whether these are near.
    pub(crate) fn of_island(&self, island: usize) -> (f64, f64, bool) {
        let sums = &self.by_island[island];
        let scale = sums.scale(sums.load);
        let near = sums.residual <= NEAR * NEAR * scale || sums.load == 0.0;
        (if near { scale } else { sums.load }, sums.residual, near)
    }
}

/// `sqrt(rho)` of rows with this mean eigenvalue; 0 where it is not positive.
fn unit_of(mean: f64) -> f64 {
    match 1.0 / mean.sqrt() {
        unit if unit > 0.0 && unit.is_finite() => unit,
        _ if mean > 0.0 => 1.0,
        _ => 0.0,
    }
}

/// An element's part in the sums.
fn of_element(element: &Element, lambda: &[f64], s: &[f64], unit: &[f64], b: &[f64], terms: &[f64]) -> Sums {
    let rows = lambda.len();
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let scaled_square = |x: &[f64]| x.iter().zip(unit).map(|(x, d)| (d * x).powi(2)).sum::<f64>();
    let (mut y, mut u, mut r) = ([0.0; MOST_ROWS], [0.0; MOST_ROWS], [0.0; MOST_ROWS]);
    let (y, u, r) = (&mut y[..rows], &mut u[..rows], &mut r[..rows]);
    for i in 0..rows {
        (y[i], u[i]) = (lambda[i] / unit[i], unit[i] * s[i]);
    }
    match element {
        Element::Bounded { .. } => element.in_units(unit).natural(y, u, r),
        _ if rows > LINEAR_ROWS => element.in_units(unit).natural(y, u, r),
        // a cone of forces in one unit is the same in every other
        _ => element.natural(y, u, r),
    }
    let mut sums = Sums { residual: square(r), ..Sums::default() };
    let normal_first = matches!(element, Element::Contact(_) | Element::Unilateral);
    if !normal_first || b[0] < 0.0 || lambda.iter().any(|l| *l != 0.0) {
        (sums.force, sums.load, sums.terms) = (square(y), scaled_square(b), scaled_square(terms));
    }
    sums
}

/// `min` that keeps NaN.
fn natural(z: f64, w: f64) -> f64 {
    if z.is_nan() || w.is_nan() { f64::NAN } else { z.min(w) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use crate::problem::{Friction, Mode};

    #[test]
    fn lcp_residual_is_the_norm_of_the_natural_map() {
        let lcp_ = Lcp::new(Matrix::identity(2), vec![-3.0, 4.0]).unwrap();
        assert_eq!(lcp(&lcp_, &[3.0, 0.0]).absolute, 0.0);
        // z = (0, 0): w = (-3, 4), min = (-3, 0)
        let r = lcp(&lcp_, &[0.0, 0.0]);
        assert_eq!((r.absolute, r.relative, r.fclib), (3.0, 3.0 / 5.0, 3.0 / 5.0));
        assert_eq!(lcp(&lcp_, &[f64::NAN, 0.0]), Residual::NONE);
        assert_eq!(lcp(&lcp_, &[1.0]), Residual::NONE);
    }

    #[test]
    fn mixed_residual_asks_equalities_to_vanish() {
        let p = MixedLcp::new(Matrix::identity(2), vec![2.0, -1.0], vec![false, true]).unwrap();
        assert_eq!(mixed(&p, &[-2.0, 1.0]).absolute, 0.0);
        assert_eq!(mixed(&p, &[0.0, 1.0]).absolute, 2.0);
    }

    /// A point mass pressed on a plane (force 1) and pushed sideways: sticks below mu, slides above.
    #[test]
    fn friction_residual_knows_stick_slip_and_separation() {
        for friction_ in [Friction::Cone, Friction::Pyramid, Friction::Polygon { sides: 8 }] {
            let at = |push: f64, press: f64, lambda: [f64; 3]| {
                let p = FrictionProblem::new(
                    Matrix::identity(3),
                    vec![-press, push, 0.0],
                    vec![0.5],
                    3,
                    friction_,
                )
                .unwrap();
                friction(&p, &lambda).absolute
            };
            assert!(at(0.3, 1.0, [1.0, -0.3, 0.0]) < 1e-15, "sticks");
            assert!(at(0.8, 1.0, [1.0, -0.5, 0.0]) < 1e-15, "slips along a corner or face middle");
            assert!(at(0.8, -1.0, [0.0, 0.0, 0.0]) < 1e-15, "separates");
            assert!(at(0.8, 1.0, [1.0, -0.3, 0.0]) > 0.05, "slip below the limit is wrong");
            assert!(at(0.3, 1.0, [1.0, 0.3, 0.0]) > 0.05, "friction that pushes is wrong");
        }
    }

    /// Two forces that press a body from both sides can grow without end; they must not hide that the body overlaps.
    #[test]
    fn huge_forces_do_not_drown_the_speeds() {
        for friction_ in [Friction::Cone, Friction::Pyramid, Friction::Polygon { sides: 8 }] {
            let a = Matrix::from_fn(6, 6, |i, j| match (i, j) {
                (0, 0) | (3, 3) => 1.0,
                (0, 3) | (3, 0) => -1.0,
                _ => f64::from(u8::from(i == j)),
            });
            let b = vec![-0.05, 0.0, 0.0, -0.05, 0.0, 0.0];
            let p = FrictionProblem::new(a, b, vec![0.5; 2], 3, friction_).unwrap();
            for force in [1.0, 1e3, 1e15, 1e30] {
                let r = friction(&p, &[force, 0.0, 0.0, force, 0.0, 0.0]);
                // forces count as load up to MOST_FORCE times the load proper, so that an overlap of all of the load is told as
                // 1e-3 at the least, whatever the forces, and not as 1: seven orders above a tolerance of 1e-10
                assert!(r.fclib > 0.99 && r.relative > 0.99e-3, "{friction_:?} {force:e}: {r:?}");
            }
        }
    }

    /// No force on a body that overlaps and slips is no solution, however much friction there is.
    #[test]
    fn much_friction_does_not_hide_the_normal_law() {
        let plain = [Friction::Cone, Friction::Pyramid, Friction::Polygon { sides: 8 }, Friction::Ellipsoid];
        for friction_ in plain {
            for mu in [1.0, 1e4, 1e8, 1e12, 1e300] {
                let b = vec![-1.0, 0.3, 0.0];
                let p = FrictionProblem::new(Matrix::identity(3), b, vec![mu], 3, friction_).unwrap();
                assert!(friction(&p, &[0.0; 3]).relative > 0.1, "{friction_:?} {mu:e}");
                assert!(friction(&p, &[1.0, -0.3, 0.0]).relative < 1e-15, "{friction_:?} {mu:e}");
            }
        }
    }

    #[test]
    fn sliding_contact_is_judged_by_its_given_direction() {
        let p = FrictionProblem::new(Matrix::identity(2), vec![-1.0, 5.0], vec![0.5], 2, Friction::Pyramid)
            .unwrap()
            .with_modes(vec![Mode::Sliding { direction: [-1.0, 0.0] }])
            .unwrap();
        assert_eq!(friction(&p, &[1.0, 0.5]).absolute, 0.0);
        assert_eq!(friction(&p, &[1.0, -0.5]).absolute, 1.0);
    }
}
