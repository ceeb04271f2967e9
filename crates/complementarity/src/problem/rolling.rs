//! LCPs of rolling contacts, written in place: the formulas behind the conversions, and the form that a time-stepper
//! fills again at every step.

use super::{ConeProblem, Friction, InvalidProblem, Lcp};
use crate::matrix::Matrix;
use std::f64::consts::PI;

/// Order of forces and speeds in the LCPs: normals of sliding contacts, normals of rolling ones, then friction
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

    /// Column of the normal force, and row of the normal speed, of rolling contact `k`.
    pub fn normal(&self, k: usize) -> usize {
        self.sliding + k
    }

    /// Column of friction force `d` (0: t, 1: o) of rolling contact `k`.
    pub fn tangent(&self, d: usize, k: usize) -> usize {
        self.sliding + (d + 1) * self.rolling + k
    }
}

/// Corners of the friction polygon for `mu lambda_n = 1`; `None` for the disc.
pub(super) fn corners(friction: Friction, tangents: usize) -> Option<Vec<[f64; 2]>> {
    Some(match friction {
        Friction::Ellipsoid => return None,
        _ if tangents == 1 => vec![[1.0, 0.0], [-1.0, 0.0]],
        Friction::Cone => return None,
        Friction::Pyramid => vec![[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]],
        Friction::Polygon { sides } => (0..sides)
            .map(|j| {
                let (sin, cos) = (2.0 * PI * j as f64 / sides as f64).sin_cos();
                [cos, sin]
            })
            .collect(),
    })
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

/// Stewart and Trinkle, `z = (lambda_n, beta, gamma)`: friction `D beta` spanned by the corners, `gamma` the slip
/// speed.
pub(super) fn write_polygon(
    l: Layout,
    corners: &[[f64; 2]],
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize) -> f64,
    mu: &[f64],
    m: &mut Matrix,
    q: &mut Vec<f64>,
) {
    let (nn, nr, sides) = (l.normals(), l.rolling, corners.len());
    let beta = |j: usize, k: usize| nn + j * nr + k;
    let gamma = |k: usize| nn + sides * nr + k;
    let size = nn + (sides + 1) * nr;
    m.reset(size, size);
    q.clear();
    q.resize(size, 0.0);
    // row i of A, its friction columns spanned by the corners
    let span = |i: usize, row: &mut [f64]| {
        (0..nn).for_each(|j| row[j] = a(i, j));
        row[nn..nn + sides * nr].fill(0.0);
        for d in 0..l.tangents {
            for k in 0..nr {
                let x = a(i, l.tangent(d, k));
                for (j, corner) in corners.iter().enumerate() {
                    row[beta(j, k)] += corner[d] * x;
                }
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
            for (j, corner) in corners.iter().enumerate().filter(|(_, corner)| corner[d] != 0.0) {
                let to = &mut above[size * beta(j, k)..][..nn + sides * nr];
                to.iter_mut().zip(&*from).for_each(|(to, from)| *to += corner[d] * from);
                q[beta(j, k)] += corner[d] * b;
            }
        }
        m.row_mut(gamma(k)).fill(0.0);
        for j in 0..sides {
            m[(beta(j, k), gamma(k))] = 1.0;
            m[(gamma(k), beta(j, k))] = -1.0;
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
    friction: Friction,
    corners: Vec<[f64; 2]>,
    layout: Layout,
    /// Row of the problem of each force in the layout's order.
    order: Vec<usize>,
    mu: Vec<f64>,
    lcp: Lcp,
}

impl RollingLcp {
    /// Empty. `None` if the friction is a cone (3 rows), or the form is slack and the friction no pyramid.
    pub fn new(friction: Friction, rows: usize, form: LcpForm) -> Option<Self> {
        let pyramid = rows == 2 || friction == Friction::Pyramid;
        let corners = corners(friction, rows - 1)?;
        let layout = Layout { sliding: 0, rolling: 0, tangents: rows - 1 };
        (pyramid || form == LcpForm::Polygon).then(|| Self {
            form,
            friction,
            corners,
            layout,
            order: vec![],
            mu: vec![],
            lcp: Lcp::empty(),
        })
    }

    /// The friction set.
    pub fn friction(&self) -> Friction {
        self.friction
    }

    /// Fills in a problem whose `A` is `dense`; its rows a contact must be those of [`new`](Self::new).
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn fill(&mut self, problem: ConeProblem<'_>, dense: &Matrix) -> Result<(), InvalidProblem> {
        let rows = problem.rows;
        self.layout.rolling = problem.mu.len();
        self.mu.clear();
        self.mu.extend_from_slice(problem.mu);
        let (l, count) = (self.layout, problem.mu.len());
        if self.order.len() != rows * count {
            self.order.clear();
            self.order.extend((0..rows).flat_map(|d| (0..count).map(move |k| rows * k + d)));
        }
        let order = &self.order;
        let a = |i: usize, j: usize| dense[(order[i], order[j])];
        let b = |i: usize| problem.b[order[i]];
        let (form, corners, mu) = (self.form, &self.corners, &self.mu);
        self.lcp.refill(|m, q| match form {
            LcpForm::Slack => write_slack(l, a, b, mu, m, q),
            LcpForm::Polygon => write_polygon(l, corners, a, b, mu, m, q),
        })
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
                        let beta = |j: usize| z[l.normals() + j * l.rolling + k];
                        self.corners.iter().enumerate().map(|(j, corner)| corner[d] * beta(j)).sum()
                    }
                };
            }
        }
    }
}
