//! Friction problem -> LCP or mixed LCP, and forces back.
//!
//! All forms start by eliminating the friction of the sliding contacts, trinkle1995 (24)-(26): what is left
//! are the normal forces of the sliding (S) and rolling (R) contacts and the friction forces of R:
//!
//! ```text
//! s = A~ c + b    rows  s_Sn, s_Rn, s_Rt, s_Ro    columns  c_Sn, c_Rn, c_Rt, c_Ro
//! ```

use super::rolling::{Corners, Layout, is_pyramid, with_corners, write_polygon, write_slack};
use super::{Contact, Element, FrictionProblem, Lcp, MixedLcp, Mode};
use crate::factor::Lu;
use crate::matrix::Matrix;

/// Why a friction problem has no form of the kind asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotConvertible {
    /// The form is linear only for the pyramid (or one tangent direction).
    #[error("this form needs pyramid friction")]
    NeedsPyramid,
    /// The form is linear only for polygons (or one tangent direction).
    #[error("this form needs polygonal friction")]
    NeedsPolygon,
    /// The form is written for contacts of 2 or 3 rows, all alike, and no other elements.
    #[error("this form needs contacts of 2 or 3 rows that all have as many, and no other elements")]
    NotAlike,
    /// `A_tt` of the rolling contacts has no inverse: use the slack form.
    #[error("the tangential block of A is singular: the condensed form does not exist, the slack form does")]
    SingularTangentialBlock,
    /// Sums or products of the problem's numbers overflow.
    #[error("the problem's numbers are so large that the form's overflow")]
    OutOfRange,
}

/// A problem made from a friction problem, and how to read the contact forces off its solution.
#[derive(Debug, Clone)]
pub struct Converted<P> {
    /// The problem.
    pub problem: P,
    /// `lambda = forces z + offset`.
    forces: Matrix,
    offset: Vec<f64>,
}

impl<P> Converted<P> {
    /// With `lambda = forces z + offset`.
    pub(super) fn new(problem: P, forces: Matrix, offset: Vec<f64>) -> Self {
        Self { problem, forces, offset }
    }

    /// `F` of `lambda = F z + constant`.
    pub fn force_matrix(&self) -> &Matrix {
        &self.forces
    }

    /// Contact forces `lambda` in the rows of the friction problem.
    pub fn forces(&self, z: &[f64]) -> Vec<f64> {
        self.forces.times(z).iter().zip(&self.offset).map(|(f, o)| f + o).collect()
    }
}

/// trinkle1995 (24): the system without the friction of sliding contacts.
struct Reduced {
    layout: Layout,
    a: Matrix,
    b: Vec<f64>,
    mu: Vec<f64>,
    /// `lambda = expand c`.
    expand: Matrix,
}

impl Reduced {
    fn new(p: &FrictionProblem) -> Result<Self, NotConvertible> {
        let rows = rows_of(p)?;
        let tangents = rows - 1;
        let is_rolling = |c: &usize| !p.elements()[*c].slides();
        let (rolling, sliding): (Vec<usize>, Vec<usize>) = (0..p.elements().len()).partition(is_rolling);
        let mu = |c: usize| p.elements()[c].mu();
        let (ns, nr) = (sliding.len(), rolling.len());
        let size = ns + rows * nr;
        // c_Sn carries its friction along: V_St, V_So of trinkle1995 (26)
        let mut expand = Matrix::zeros(p.size(), size);
        for (k, &c) in sliding.iter().enumerate() {
            expand[(rows * c, k)] = 1.0;
            if let Element::Contact(Contact { mode: Mode::Sliding { direction }, .. }) = p.elements()[c] {
                for d in 0..tangents {
                    expand[(rows * c + 1 + d, k)] = -mu(c) * direction[d];
                }
            }
        }
        for (k, &c) in rolling.iter().enumerate() {
            for d in 0..rows {
                expand[(rows * c + d, ns + d * nr + k)] = 1.0;
            }
        }
        // the rows kept: s_Sn and all of R
        let kept: Vec<usize> = (sliding.iter().map(|c| rows * c))
            .chain((0..rows).flat_map(|d| rolling.iter().map(move |c| rows * c + d)))
            .collect();
        let all = p.matrix();
        let mut a = Matrix::zeros(size, size);
        for (i, &row) in kept.iter().enumerate() {
            a.row_mut(i).copy_from_slice(&expand.transpose_times(all.row(row)));
        }
        let b = kept.iter().map(|&row| p.vector()[row]).collect();
        let mu = rolling.iter().map(|&c| mu(c)).collect();
        Ok(Self { layout: Layout { sliding: ns, rolling: nr, tangents }, a, b, mu, expand })
    }
}

/// Rows of all contacts, 2 or 3.
fn rows_of(p: &FrictionProblem) -> Result<usize, NotConvertible> {
    let rows = if p.elements().is_empty() { Some(2) } else { p.rows_per_contact() };
    rows.filter(|rows| *rows <= 3).ok_or(NotConvertible::NotAlike)
}

fn lcp(m: Matrix, q: Vec<f64>) -> Result<Lcp, NotConvertible> {
    Lcp::new(m, q).map_err(|_| NotConvertible::OutOfRange)
}

/// `A B`.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(a.rows(), b.columns());
    for i in 0..a.rows() {
        out.row_mut(i).copy_from_slice(&b.transpose_times(a.row(i)));
    }
    out
}

impl FrictionProblem {
    /// Whether one of the LCPs below exists: contacts are alike, and no friction set is round.
    pub(crate) fn is_polyhedral(&self) -> bool {
        let Ok(rows) = rows_of(self) else { return false };
        Corners::default().read(rows - 1, self.elements().iter().map(with_corners))
    }

    fn needs_pyramid(&self) -> Result<(), NotConvertible> {
        let rows = rows_of(self)?;
        let sets = self.elements().iter().map(with_corners);
        is_pyramid(rows, sets).then_some(()).ok_or(NotConvertible::NeedsPyramid)
    }

    /// The slack LCP, trinkle1995 (32)-(33): `z = (c_Sn, c_Rn, s_Rt+, s_Ro+, a_Rt-, a_Ro-)`. Needs no
    /// inverse, so it also serves redundant rigid contacts. Pyramid.
    pub fn as_slack_lcp(&self) -> Result<Converted<Lcp>, NotConvertible> {
        self.needs_pyramid()?;
        let r = Reduced::new(self)?;
        let (nn, nt) = (r.layout.normals(), r.layout.tangents * r.layout.rolling);
        let size = nn + 2 * nt;
        // c = change z: c_Rt = s_Rt+ - mu c_Rn, (30)
        let mut change = Matrix::zeros(nn + nt, size);
        for i in 0..nn + nt {
            change[(i, i)] = 1.0;
        }
        for d in 0..r.layout.tangents {
            for k in 0..r.layout.rolling {
                change[(r.layout.tangent(d, k), r.layout.normal(k))] = -r.mu[k];
            }
        }
        let (mut m, mut q) = (Matrix::default(), vec![]);
        write_slack(r.layout, |i, j| r.a[(i, j)], |i| r.b[i], &r.mu, &mut m, &mut q);
        Ok(Converted {
            problem: lcp(m, q)?,
            forces: product(&r.expand, &change),
            offset: vec![0.0; self.size()],
        })
    }

    /// The mixed LCP, song2004 (17): `z = (lambda_n, lambda_t, lambda_o, u_t, v_t, u_o, v_o)` with
    /// `lambda_t`, `lambda_o` free and `s_t = u_t - v_t`. Pyramid.
    pub fn as_mixed(&self) -> Result<Converted<MixedLcp>, NotConvertible> {
        self.needs_pyramid()?;
        let r = Reduced::new(self)?;
        let (nn, nr) = (r.layout.normals(), r.layout.rolling);
        let forces = nn + r.layout.tangents * nr;
        let size = forces + 2 * r.layout.tangents * nr;
        let mut m = Matrix::zeros(size, size);
        for i in 0..forces {
            m.row_mut(i)[..forces].copy_from_slice(r.a.row(i));
        }
        for d in 0..r.layout.tangents {
            for k in 0..nr {
                let t = r.layout.tangent(d, k);
                let (u, v) = (forces + 2 * d * nr + k, forces + (2 * d + 1) * nr + k);
                m[(t, u)] = -1.0;
                m[(t, v)] = 1.0;
                m[(u, r.layout.normal(k))] = r.mu[k];
                m[(u, t)] = 1.0;
                m[(v, r.layout.normal(k))] = r.mu[k];
                m[(v, t)] = -1.0;
            }
        }
        let mut q = r.b.clone();
        q.resize(size, 0.0);
        let complementary = (0..size).map(|i| i < nn || i >= forces).collect();
        let mut back = Matrix::zeros(self.size(), size);
        for i in 0..self.size() {
            back.row_mut(i)[..forces].copy_from_slice(r.expand.row(i));
        }
        let problem =
            MixedLcp::new(m, q, complementary).expect("a valid friction problem gives a valid mixed LCP");
        Ok(Converted { problem, forces: back, offset: vec![0.0; self.size()] })
    }

    /// The condensed LCP, song2004 (18) with the sign of `b~_n` corrected:
    /// `z = (lambda_n, u_t, v_t, u_o, v_o)`. Smaller to pivot, but needs an inverse of the tangential
    /// block of `A`. Pyramid.
    pub fn as_condensed_lcp(&self) -> Result<Converted<Lcp>, NotConvertible> {
        self.needs_pyramid()?;
        let r = Reduced::new(self)?;
        let (nn, nr) = (r.layout.normals(), r.layout.rolling);
        let nt = r.layout.tangents * nr;
        let size = nn + 2 * nt;
        // u, v of direction d, contact k stand at these places of z
        let u = |d: usize, k: usize| nn + 2 * d * nr + k;
        let v = |d: usize, k: usize| nn + (2 * d + 1) * nr + k;
        // c = change z + offset: c_t = A_tt^-1 (u - v - b_t - A_tn c_n)
        let mut change = Matrix::zeros(nn + nt, size);
        for i in 0..nn {
            change[(i, i)] = 1.0;
        }
        let mut lu = Lu::default();
        lu.factor(nt, |i, j| r.a[(nn + i, nn + j)]).map_err(|_| NotConvertible::SingularTangentialBlock)?;
        let mut column = vec![0.0; nt];
        let mut put = |change: &mut Matrix, at: usize, column: &mut [f64]| {
            lu.solve(column);
            for (i, x) in column.iter().enumerate() {
                change[(nn + i, at)] = *x;
            }
        };
        for j in 0..nn {
            for i in 0..nt {
                column[i] = -r.a[(nn + i, j)];
            }
            put(&mut change, j, &mut column);
        }
        for d in 0..r.layout.tangents {
            for k in 0..nr {
                for (at, sign) in [(u(d, k), 1.0), (v(d, k), -1.0)] {
                    column.fill(0.0);
                    column[d * nr + k] = sign;
                    put(&mut change, at, &mut column);
                }
            }
        }
        let mut offset = vec![0.0; nn + nt];
        for i in 0..nt {
            offset[nn + i] = -r.b[nn + i];
        }
        lu.solve(&mut offset[nn..]);
        if change.data().iter().chain(&offset).any(|x| !x.is_finite()) {
            return Err(NotConvertible::SingularTangentialBlock);
        }

        let speed = product(&r.a, &change);
        let mut m = Matrix::zeros(size, size);
        let mut q = vec![0.0; size];
        for i in 0..nn {
            m.row_mut(i).copy_from_slice(speed.row(i));
            q[i] = r.b[i] + crate::matrix::dot(r.a.row(i), &offset);
        }
        for d in 0..r.layout.tangents {
            for k in 0..nr {
                // mu lambda_n + lambda_t _|_ u,  mu lambda_n - lambda_t _|_ v
                for (row, sign) in [(u(d, k), 1.0), (v(d, k), -1.0)] {
                    let force = r.layout.tangent(d, k);
                    for j in 0..size {
                        m[(row, j)] = sign * change[(force, j)];
                    }
                    m[(row, r.layout.normal(k))] += r.mu[k];
                    q[row] = sign * offset[force];
                }
            }
        }
        Ok(Converted {
            problem: lcp(m, q)?,
            forces: product(&r.expand, &change),
            offset: r.expand.times(&offset),
        })
    }

    /// The polyhedral LCP of Stewart and Trinkle: `z = (lambda_n, beta, gamma)` with the friction
    /// force `D beta`, `beta >= 0` spanned by the polygon's corners and `gamma` the slip velocity.
    pub fn as_polygon_lcp(&self) -> Result<Converted<Lcp>, NotConvertible> {
        let r = Reduced::new(self)?;
        let rolling = self.elements().iter().filter(|e| !e.slides());
        let mut corners = Corners::default();
        if !corners.read(r.layout.tangents, rolling.map(with_corners)) {
            return Err(NotConvertible::NeedsPolygon);
        }
        let (nn, nr) = (r.layout.normals(), r.layout.rolling);
        let size = nn + corners.count() + nr;
        let mut change = Matrix::zeros(nn + r.layout.tangents * nr, size);
        for i in 0..nn {
            change[(i, i)] = 1.0;
        }
        for k in 0..nr {
            for (j, corner) in corners.of(k) {
                (0..r.layout.tangents).for_each(|d| change[(r.layout.tangent(d, k), nn + j)] = corner[d]);
            }
        }
        let (mut m, mut q) = (Matrix::default(), vec![]);
        write_polygon(r.layout, &corners, |i, j| r.a[(i, j)], |i| r.b[i], &r.mu, &mut m, &mut q);
        Ok(Converted {
            problem: lcp(m, q)?,
            forces: product(&r.expand, &change),
            offset: vec![0.0; self.size()],
        })
    }
}
