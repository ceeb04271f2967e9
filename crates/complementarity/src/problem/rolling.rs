//! LCPs of rolling contacts, written in place: the formulas behind the conversions, and the form that a time-stepper
//! fills again at every step.

use super::{ContactProblem, Element, Friction, Lcp, NotConvertible};
use crate::element::polygon::Polygon;
use crate::matrix::Matrix;

/// Order of forces and velocities in the LCPs: normals of sliding contacts, normals of rolling ones, then friction
/// direction by direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Layout {
    pub sliding: usize,
    pub rolling: usize,
    pub tangents: usize,
}

impl Layout {
    pub fn normals(&self) -> usize {
        self.sliding + self.rolling
    }

    /// Column of the normal force, and row of the normal velocity, of rolling contact `k`.
    pub fn normal(&self, k: usize) -> usize {
        self.sliding + k
    }

    /// Column of friction force `d` (0: t, 1: o) of rolling contact `k`.
    pub fn tangent(&self, d: usize, k: usize) -> usize {
        self.sliding + (d + 1) * self.rolling + k
    }
}

/// Corners of the contacts' friction sets for `mu lambda_n = 1`, contact by contact.
#[derive(Debug, Clone, Default)]
pub(super) struct Corners {
    all: Vec<[f64; 2]>,
    /// Where a contact's begin; one more than there are contacts.
    start: Vec<usize>,
}

impl Corners {
    /// Reads those of contacts, in their order; false if one has a disc or an ellipsoid.
    pub fn read(&mut self, tangents: usize, sets: impl Iterator<Item = Friction>) -> bool {
        self.all.clear();
        self.start.clear();
        self.start.push(0);
        for set in sets {
            match Polygon::of(set, tangents + 1) {
                Some(polygon) => self.all.extend((0..polygon.sides()).map(|k| polygon.corner(k))),
                None if tangents == 1 && set != Friction::Ellipsoid => {
                    self.all.extend([[1.0, 0.0], [-1.0, 0.0]]);
                }
                None => return false,
            }
            self.start.push(self.all.len());
        }
        true
    }

    /// How many all contacts have.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Of contact `k`, and their places among all.
    pub fn of(&self, k: usize) -> impl Iterator<Item = (usize, &[f64; 2])> {
        let own = self.start[k]..self.start[k + 1];
        own.clone().zip(&self.all[own])
    }
}

/// The friction set of a contact; where its coefficient is 0 all sets are the same, and one with corners stands for them.
pub(super) fn with_corners(element: &Element) -> Friction {
    element.as_contact().filter(|c| c.mu > 0.0).map_or(Friction::Pyramid, |c| c.friction)
}

/// Whether all sets are squares, or intervals.
pub(super) fn is_pyramid(rows: usize, mut sets: impl Iterator<Item = Friction>) -> bool {
    sets.all(|set| set == Friction::Pyramid || (rows == 2 && set != Friction::Ellipsoid))
}

/// trinkle1995 (32)-(33), `z = (c_Sn, c_Rn, s_Rt+, s_Ro+, a_Rt-, a_Ro-)`: with `c_Rt = s_Rt+ - mu c_Rn`, (30),
/// `a = a+ - a-` and `s- = 2 mu c_n - s+`.
pub(super) fn write_slack(
    l: Layout,
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize) -> f64,
    mu: &[f64],
    m: &mut Matrix,
    q: &mut Vec<f64>,
) {
    let (nn, nt) = (l.normals(), l.tangents * l.rolling);
    m.reset(nn + 2 * nt, nn + 2 * nt);
    for i in 0..nn + nt {
        let row = m.row_mut(i);
        (0..nn + nt).for_each(|j| row[j] = a(i, j));
        for k in 0..l.rolling {
            for d in 0..l.tangents {
                row[l.normal(k)] -= mu[k] * row[l.tangent(d, k)];
            }
        }
    }
    for d in 0..l.tangents {
        for k in 0..l.rolling {
            let (t, slack) = (l.tangent(d, k), l.tangent(d, k) + nt);
            m[(t, slack)] = 1.0;
            m[(slack, l.normal(k))] = 2.0 * mu[k];
            m[(slack, t)] = -1.0;
        }
    }
    q.clear();
    q.extend((0..nn + nt).map(b));
    q.resize(nn + 2 * nt, 0.0);
}

/// Stewart and Trinkle, `z = (lambda_n, beta, gamma)`: friction `D beta` spanned by the corners, contact by contact, `gamma` the slip
/// velocity.
pub(super) fn write_polygon(
    l: Layout,
    corners: &Corners,
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize) -> f64,
    mu: &[f64],
    m: &mut Matrix,
    q: &mut Vec<f64>,
) {
    let (nn, nr) = (l.normals(), l.rolling);
    let forces = nn + corners.count();
    let gamma = |k: usize| forces + k;
    let size = forces + nr;
    m.reset(size, size);
    q.clear();
    q.resize(size, 0.0);
    // row i of A, its friction columns spanned by the corners
    let span = |i: usize, row: &mut [f64]| {
        (0..nn).for_each(|j| row[j] = a(i, j));
        row[nn..forces].fill(0.0);
        for k in 0..nr {
            for d in 0..l.tangents {
                let x = a(i, l.tangent(d, k));
                corners.of(k).for_each(|(j, corner)| row[nn + j] += corner[d] * x);
            }
        }
    };
    for i in 0..nn {
        span(i, m.row_mut(i));
        q[i] = b(i);
    }
    for k in 0..nr {
        // the row of gamma is the last to be written: until then it holds the rows of friction
        for d in 0..l.tangents {
            let b = b(l.tangent(d, k));
            let (above, from) = m.split_at_row(gamma(k));
            span(l.tangent(d, k), from);
            for (j, corner) in corners.of(k).filter(|(_, corner)| corner[d] != 0.0) {
                let to = &mut above[size * (nn + j)..][..forces];
                to.iter_mut().zip(&*from).for_each(|(to, from)| *to += corner[d] * from);
                q[nn + j] += corner[d] * b;
            }
        }
        m.row_mut(gamma(k)).fill(0.0);
        for (j, _) in corners.of(k) {
            m[(nn + j, gamma(k))] = 1.0;
            m[(gamma(k), nn + j)] = -1.0;
        }
        m[(gamma(k), l.normal(k))] = mu[k];
    }
}

/// Which LCP stands for a friction problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LcpForm {
    /// trinkle1995 (33): small, pyramid only. With redundant rigid contacts its bases are nearly singular.
    Slack,
    /// Stewart and Trinkle: any polygon, and redundant contacts.
    Polygon,
}

/// A friction problem as an LCP, in memory that is used again.
#[derive(Debug, Clone)]
pub struct RollingLcp {
    form: LcpForm,
    corners: Corners,
    layout: Layout,
    /// Row of the problem of each force in the layout's order.
    order: Vec<usize>,
    mu: Vec<f64>,
    lcp: Lcp,
}

impl RollingLcp {
    /// Empty.
    pub fn new(form: LcpForm) -> Self {
        let layout = Layout { sliding: 0, rolling: 0, tangents: 1 };
        Self { form, corners: Corners::default(), layout, order: vec![], mu: vec![], lcp: Lcp::empty() }
    }

    /// Fills in a problem of rolling contacts whose `A` is `dense`.
    ///
    /// # Errors
    /// If contacts differ in rows or there are other elements, a contact's friction set does not allow the form, or a number is not finite.
    pub fn fill(&mut self, problem: ContactProblem<'_>, dense: &Matrix) -> Result<(), NotConvertible> {
        let count = problem.elements.len();
        let rows = problem.elements.first().map_or(2, Element::rows);
        if !problem.is_uniform(rows) || rows > 3 {
            return Err(NotConvertible::NotAlike);
        }
        let sets = problem.elements.iter().map(with_corners);
        match self.form {
            LcpForm::Slack if !is_pyramid(rows, sets.clone()) => return Err(NotConvertible::NeedsPyramid),
            LcpForm::Polygon if !self.corners.read(rows - 1, sets) => {
                return Err(NotConvertible::NeedsPolygon);
            }
            _ => {}
        }
        let changed = self.layout.tangents != rows - 1;
        (self.layout.rolling, self.layout.tangents) = (count, rows - 1);
        self.mu.clear();
        self.mu.extend(problem.elements.iter().map(Element::mu));
        let l = self.layout;
        if changed || self.order.len() != rows * count {
            self.order.clear();
            self.order.extend((0..rows).flat_map(|d| (0..count).map(move |k| rows * k + d)));
        }
        let order = &self.order;
        let a = |i: usize, j: usize| dense[(order[i], order[j])];
        let b = |i: usize| problem.b[order[i]];
        let (form, corners, mu) = (self.form, &self.corners, &self.mu);
        let written = self.lcp.refill(|m, q| match form {
            LcpForm::Slack => write_slack(l, a, b, mu, m, q),
            LcpForm::Polygon => write_polygon(l, corners, a, b, mu, m, q),
        });
        written.map_err(|_| NotConvertible::OutOfRange)
    }

    /// The LCP.
    pub fn lcp(&self) -> &Lcp {
        &self.lcp
    }

    /// The contact forces of a solution of the LCP.
    pub fn forces(&self, z: &[f64], lambda: &mut [f64]) {
        let (l, rows) = (self.layout, self.layout.tangents + 1);
        for k in 0..l.rolling {
            let own = &mut lambda[rows * k..][..rows];
            own[0] = z[l.normal(k)];
            for d in 0..l.tangents {
                own[1 + d] = match self.form {
                    LcpForm::Slack => z[l.tangent(d, k)] - self.mu[k] * own[0],
                    LcpForm::Polygon => {
                        self.corners.of(k).map(|(j, corner)| corner[d] * z[l.normals() + j]).sum()
                    }
                };
            }
        }
    }
}
