//! Compliance matrix `Xi` of a patch of elements on the elastic half-space.
//!
//! Entry `(i, j)` is the displacement at the centre of element `i` under a unit force on element `j`, in
//! the directions n (into the body that deforms), t and o. Source: song2004 Appendix A; Johnson, *Contact
//! Mechanics*, (3.18) and (3.75) on the surface; Love 1929 for the loaded rectangle.
//!
//! With `(x, y)` the offset of `i` from `j` along t and o, `r` its length, and the constants of a
//! [`Pair`] (one body on a rigid one: `normal = (1-nu^2)/E`, `shear = nu (1+nu)/E`,
//! `coupling = (1-2nu)(1+nu)/E`):
//!
//! ```text
//! nn = normal/pi [1/r]          tt = (normal [1/r] + shear [x^2/r^3])/pi      to = ot = shear/pi [x y/r^3]
//! nt = -tn = coupling/(2 pi) [x/r^2]       oo, no, on: the same with y for x
//! ```
//!
//! Brackets are means over element `j`, exact for [`Influence::Rectangle`]. For
//! [`Influence::PointForce`] they are the kernels themselves, and on the diagonal the paper's constants.
//!
//! Corrections to Appendix A: the diagonal of nn has no `pi` (with it `Xi` is indefinite for every
//! `n_s >= 2`), and to, ot carry the factor `nu` of Cerruti's solution.

use super::invalid::InvalidContact;
use super::material::Pair;
use complementarity::matrix::Matrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Most rows of deformation a patch may have (40 x 40 elements): its five dense matrices then take 1 GB.
pub const MOST_ROWS: usize = 5000;

/// Influence functions of the elastic half-space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Influence {
    /// Uniformly loaded rectangles, exactly (Love; Boussinesq and Cerruti).
    #[default]
    Rectangle,
    /// Point forces off the diagonal, song2004 Appendix A as corrected.
    PointForce,
}

/// Which directions an element has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directions {
    /// n and t: planar systems.
    Planar,
    /// n, t and o.
    Spatial,
}

impl Directions {
    /// Rows an element has.
    pub fn count(self) -> usize {
        match self {
            Self::Planar => 2,
            Self::Spatial => 3,
        }
    }
}

/// Square elements side by side: `n_s x n_s` of them, or in a planar system a line of `n_s` along t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Elements along an edge, `n_s`.
    pub elements: usize,
    /// Side of an element and distance between neighbours, `rho_0`, m.
    pub spacing: f64,
    /// Planar: a line; spatial: a square.
    pub directions: Directions,
}

impl Grid {
    /// Number of elements.
    pub fn count(&self) -> usize {
        match self.directions {
            Directions::Planar => self.elements,
            Directions::Spatial => self.elements * self.elements,
        }
    }

    /// Whether the patch has elements, and no more rows than [`MOST_ROWS`].
    pub fn validate(&self) -> Result<(), InvalidContact> {
        let count = match self.directions {
            Directions::Planar => self.elements,
            Directions::Spatial => self.elements.saturating_mul(self.elements),
        };
        let rows = count.saturating_mul(self.directions.count());
        if (1..=MOST_ROWS).contains(&rows) {
            return Ok(());
        }
        Err(InvalidContact::Elements { elements: self.elements, rows, most: MOST_ROWS })
    }

    /// Rows of the compliance matrix: element by element n, t(, o).
    pub fn rows(&self) -> usize {
        self.count() * self.directions.count()
    }

    /// Place of element `k` along t and o, m from the patch's middle. Elements run along t first.
    pub fn centre(&self, k: usize) -> [f64; 2] {
        let middle = 0.5 * (self.elements as f64 - 1.0);
        let along = |i: usize| (i as f64 - middle) * self.spacing;
        match self.directions {
            Directions::Planar => [along(k), 0.0],
            Directions::Spatial => [along(k % self.elements), along(k / self.elements)],
        }
    }

    /// The elements about a place (m along t and o from the middle) and their weights for linear interpolation between centres; a place
    /// beyond the outermost centres has the values of the nearest on the edge.
    pub fn around(&self, place: [f64; 2]) -> [(usize, f64); 4] {
        let last = self.elements - 1;
        let [t, o] = place.map(|x| {
            let steps = (x / self.spacing + 0.5 * last as f64).clamp(0.0, last as f64);
            let lower = (steps as usize).min(last.saturating_sub(1));
            [(lower, lower as f64 + 1.0 - steps), ((lower + 1).min(last), steps - lower as f64)]
        });
        let o = match self.directions {
            Directions::Planar => [(0, 1.0), (0, 0.0)],
            Directions::Spatial => o,
        };
        let both = |i: usize, j: usize| (self.elements * o[j].0 + t[i].0, o[j].1 * t[i].1);
        [both(0, 0), both(1, 0), both(0, 1), both(1, 1)]
    }

    /// Element `k` in steps along t and o.
    fn place(&self, k: usize) -> [usize; 2] {
        [k % self.elements, k / self.elements]
    }
}

/// `Xi`, m/N: symmetric, rows element by element n, t(, o). The numbers are taken as they are and the matrix is
/// dense; [`Patch::new`](super::Patch::new) checks them, and its size, first.
pub fn compliance_matrix(grid: &Grid, pair: &Pair, influence: Influence) -> Matrix {
    let (side, width) = (grid.elements, grid.directions.count());
    let lines = grid.count().checked_div(side).unwrap_or(0);
    // every pair of elements at one offset has one block; signs by parity, so that Xi is symmetric to the bit
    let table: Vec<Means> =
        (0..side * lines).map(|k| Means::new(influence, grid.place(k), grid.spacing)).collect();
    let mut xi = Matrix::zeros(grid.rows(), grid.rows());
    for i in 0..grid.count() {
        for j in 0..grid.count() {
            let ([xi_t, xi_o], [xj_t, xj_o]) = (grid.place(i), grid.place(j));
            let means = &table[xi_o.abs_diff(xj_o) * side + xi_t.abs_diff(xj_t)];
            let sign = |a: usize, b: usize| if a < b { -1.0 } else { 1.0 };
            let block = means.block(pair, sign(xi_t, xj_t), sign(xi_o, xj_o));
            for a in 0..width {
                xi.row_mut(width * i + a)[width * j..][..width].copy_from_slice(&block[a][..width]);
            }
        }
    }
    xi
}

/// Means over an element of the kernels, seen from an offset with `x, y >= 0`.
#[derive(Debug, Clone, Copy)]
struct Means {
    /// `1/r` as the normal direction has it.
    normal: f64,
    /// `1/r` as the tangential directions have it: the same but on the paper's diagonal.
    tangential: f64,
    /// `x^2/r^3`, `y^2/r^3`, `x y/r^3`.
    shear: [f64; 3],
    /// `x/r^2`, `y/r^2`.
    coupling: [f64; 2],
}

impl Means {
    fn new(influence: Influence, steps: [usize; 2], spacing: f64) -> Self {
        let [x, y] = steps.map(|s| s as f64);
        let unit = match influence {
            Influence::Rectangle => Self::rectangle(x, y),
            Influence::PointForce if steps == [0, 0] => Self::paper_diagonal(),
            Influence::PointForce => Self::point(x, y),
        };
        unit.over(spacing)
    }

    /// song2004 Appendix A off the diagonal, lengths in `rho_0`.
    fn point(x: f64, y: f64) -> Self {
        let r = x.hypot(y);
        Self {
            normal: 1.0 / r,
            tangential: 1.0 / r,
            shear: [x * x, y * y, x * y].map(|s| s / (r * r * r)),
            coupling: [x, y].map(|s| s / (r * r)),
        }
    }

    /// song2004 Appendix A on the diagonal, corrected: nn = 0.95 normal (the mean settlement of a loaded
    /// square), tt = (1+nu)(2-nu)/(sqrt(pi) E) = (2 normal + shear)/sqrt(pi).
    fn paper_diagonal() -> Self {
        let root = PI.sqrt();
        Self { normal: 0.95 * PI, tangential: 2.0 * root, shear: [root, root, 0.0], coupling: [0.0; 2] }
    }

    /// Exact means over the unit square: differences of antiderivatives over its corners (Love 1929).
    fn rectangle(x: f64, y: f64) -> Self {
        let over_corners = |f: fn(f64, f64) -> f64| {
            let (x0, x1, y0, y1) = (x - 0.5, x + 0.5, y - 0.5, y + 0.5);
            (f(x1, y1) - f(x0, y1)) - (f(x1, y0) - f(x0, y0))
        };
        let inverse = over_corners(|x, y| log_term(x, y) + log_term(y, x));
        // odd kernels vanish where their argument does
        let odd = |argument: f64, value: f64| if argument == 0.0 { 0.0 } else { value };
        Self {
            normal: inverse,
            tangential: inverse,
            shear: [
                over_corners(|x, y| log_term(y, x)),
                over_corners(log_term),
                odd(x * y, over_corners(|x, y| -x.hypot(y))),
            ],
            coupling: [odd(x, over_corners(coupling_term)), odd(y, over_corners(|x, y| coupling_term(y, x)))],
        }
    }

    /// The same in metres: every kernel goes like 1/length.
    fn over(self, spacing: f64) -> Self {
        Self {
            normal: self.normal / spacing,
            tangential: self.tangential / spacing,
            shear: self.shear.map(|s| s / spacing),
            coupling: self.coupling.map(|s| s / spacing),
        }
    }

    /// Rows n, t, o of the block at an offset whose components have these signs.
    fn block(&self, pair: &Pair, sign_t: f64, sign_o: f64) -> [[f64; 3]; 3] {
        let nn = pair.normal / PI * self.normal;
        let tangential = |k: usize| (pair.normal * self.tangential + pair.shear * self.shear[k]) / PI;
        let to = sign_t * sign_o * pair.shear / PI * self.shear[2];
        let nt = sign_t * pair.coupling / (2.0 * PI) * self.coupling[0];
        let no = sign_o * pair.coupling / (2.0 * PI) * self.coupling[1];
        [[nn, nt, no], [-nt, tangential(0), to], [-no, to, tangential(1)]]
    }
}

/// `x ln(y + r)` less `x ln|x|`, which has no part in the difference over the corners; as an area sine it keeps
/// its digits for `y < 0`. `log_term(x, y)` is an antiderivative of `y^2/r^3`, `log_term(y, x)` of `x^2/r^3`,
/// and their sum of `1/r`.
fn log_term(x: f64, y: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * (y / x.abs()).asinh() }
}

/// Antiderivative of `x/r^2`: `y ln r - y + x atan(y/x)`.
fn coupling_term(x: f64, y: f64) -> f64 {
    let arc = if x == 0.0 { 0.0 } else { x * (y / x).atan() };
    let log = if y == 0.0 { 0.0 } else { y * x.hypot(y).ln() };
    log - y + arc
}
