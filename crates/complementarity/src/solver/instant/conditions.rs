//! Existence and uniqueness at an instant, trinkle1995 Theorem 1, tested on the problem itself.
//!
//! With `J` of full column rank `A` is positive definite, `A = L L'` over the rows kept in (24): all rows of rolling contacts,
//! the normal rows of sliding ones. The matrix (25) is `A~ = A - sum_j mu_j w_j e_jn'` over the sliding contacts, with
//! `w_j = A d_j` and the sliding direction `d_j`. It is positive definite, and a solution exists (b), if
//!
//! ```text
//! sum_S mu_j k_j < 1      k_j = (|L^-1 w_j| |L^-1 e_jn| + |w_j' A^-1 e_jn|) / 2                        (i)
//! ```
//!
//! Two solutions differ by `d` with `d' A~ d <= sum_R mu_j e_k |d_jn| |(A~ d)_jk|` (both cases of (18), and of (14), give
//! `d_t . da_t <= mu |d_n| |da_t|`), so that there is one at most (c) if
//!
//! ```text
//! sum_R mu_j sum_k e_k |L^-1 e_jn| |L^-1 A~' e_jk| < least eigenvalue of the symmetric part of L^-1 A~ L'^-1   (ii)
//! ```
//!
//! `mu-bar` is the largest common coefficient for which (i), or (i) and (ii), follow from these bounds.

use crate::eigen::symmetric_eigen;
use crate::linear_program::{Feasibility, Kind, Maximum, Program, System};
use crate::matrix::{Matrix, dot, norm};
use crate::problem::{Group, InstantProblem};
use crate::solver::Budget;

/// Normals up to which all principal minors are computed.
const MOST_MINORS: usize = 12;
/// Eigenvalues above this share of the largest are positive.
const POSITIVE: f64 = 1e-10;
/// A value of (36) above minus this share of its terms is no violation.
const JAM: f64 = 1e-9;

/// Condition (36): whether contact forces without effect on the bodies (which jam them) would have to do work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Jam {
    /// The columns of the system Jacobian are independent, or no forces within friction balance each other: (36) holds.
    None,
    /// There are such forces, and (36) holds for all of them.
    Holds,
    /// There are such forces, and (36) does not hold for some: the least value of (36) for normal forces that add up to 1.
    Fails(f64),
    /// The linear program was not decided, or the problem has none.
    Unknown,
}

/// What the theorems of trinkle1995 say of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions {
    /// Rows of the problem.
    pub rows: usize,
    /// Rank of the system Jacobian.
    pub rank: usize,
    /// Whether a contact slides.
    pub slides: bool,
    /// Condition (36) of Theorem 1 (a); of use where no contact slides.
    pub jam: Jam,
    /// Whether `A~` of (25) is positive definite: Theorem 1 (b) by the matrix itself.
    pub positive_definite: bool,
    /// Where all contacts slide: whether `A~` is a P-matrix, which is the case exactly if every load has one solution.
    pub p_matrix: Option<bool>,
    /// Largest common coefficient of the sliding contacts for which (b) follows; infinite if none slides.
    pub mu_bar_existence: Option<f64>,
    /// Largest common coefficient of all contacts for which (c) follows.
    pub mu_bar_uniqueness: Option<f64>,
    /// Whether a solution exists, by one of the above.
    pub exists: bool,
    /// Whether there is one solution at most, by one of the above.
    pub unique: bool,
}

/// Tests the conditions. `jacobian` has one row for each row of the problem, over the velocities; `mu` one coefficient per group.
pub fn conditions(problem: &InstantProblem, jacobian: &Matrix, mu: &[f64]) -> Conditions {
    let (rows, slides) = (problem.size(), problem.slides());
    let rank = rank(jacobian);
    let full = rank == rows;
    let bordered = problem.border().is_some();
    let jam = match () {
        () if full || rows == 0 => Jam::None,
        () if slides || bordered => Jam::Unknown,
        () => jam(problem, jacobian),
    };
    let none = || Conditions {
        rows,
        rank,
        slides,
        jam,
        positive_definite: false,
        p_matrix: None,
        mu_bar_existence: None,
        mu_bar_uniqueness: None,
        exists: rows == 0 || (!slides && matches!(jam, Jam::None | Jam::Holds)),
        unique: rows == 0,
    };
    if bordered || rows == 0 {
        return none();
    }
    let p_matrix = slides.then(|| p_matrix(problem)).flatten();
    let with_p = |mut found: Conditions| {
        found.p_matrix = p_matrix;
        found.exists |= p_matrix == Some(true);
        found.unique |= p_matrix == Some(true);
        found
    };
    if !full {
        return with_p(none());
    }
    match bounds(problem, mu) {
        None => with_p(none()),
        Some(b) => {
            let base = none();
            with_p(Conditions {
                positive_definite: b.least > 0.0,
                mu_bar_existence: Some(b.mu_bar_existence),
                mu_bar_uniqueness: Some(b.mu_bar_uniqueness),
                exists: base.exists || b.least > 0.0,
                unique: b.least > b.spread,
                ..base
            })
        }
    }
}

/// Rank of the rows, each scaled to length 1.
fn rank(jacobian: &Matrix) -> usize {
    let gram = Matrix::from_fn(jacobian.rows(), jacobian.rows(), |i, j| {
        let size = norm(jacobian.row(i)) * norm(jacobian.row(j));
        if size > 0.0 { dot(jacobian.row(i), jacobian.row(j)) / size } else { 0.0 }
    });
    let Some((values, _)) = symmetric_eigen(&gram) else { return 0 };
    let largest = values.iter().fold(0.0f64, |m, x| m.max(*x));
    values.iter().filter(|x| **x > POSITIVE * largest).count()
}

struct Bounds {
    /// Least eigenvalue of the symmetric part of `L^-1 A~ L'^-1`, 0 if it is not clearly positive.
    least: f64,
    /// Left-hand side of (ii).
    spread: f64,
    mu_bar_existence: f64,
    mu_bar_uniqueness: f64,
}

/// The bounds (i) and (ii); `None` if `A` over the rows kept is not clearly positive definite.
fn bounds(problem: &InstantProblem, mu: &[f64]) -> Option<Bounds> {
    let reduced = problem.reduced();
    let (a, kept) = (problem.matrix(), &reduced.rows);
    let n = kept.len();
    let scale: Vec<f64> = kept.iter().map(|&i| a[(i, i)].sqrt()).collect();
    if scale.iter().any(|s| s.is_nan() || *s <= 0.0) {
        return None;
    }
    let own = Matrix::from_fn(n, n, |i, j| a[(kept[i], kept[j])] / (scale[i] * scale[j]));
    let (values, vectors) = symmetric_eigen(&own)?;
    let largest = values.iter().fold(0.0f64, |m, x| m.max(*x));
    if values.iter().any(|x| *x <= POSITIVE * largest) {
        return None;
    }
    // L^-1 x with L = D Q diag(sqrt), A = L L'
    let root = |x: &[f64]| -> Vec<f64> {
        let scaled: Vec<f64> = x.iter().zip(&scale).map(|(x, s)| x / s).collect();
        let turned = vectors.transpose_times(&scaled);
        turned.iter().zip(&values).map(|(x, v)| x / v.sqrt()).collect()
    };
    let unit = |i: usize| -> Vec<f64> { (0..n).map(|k| f64::from(k == i)).collect() };
    let normals: Vec<Vec<f64>> =
        (0..problem.groups().len()).map(|g| root(&unit(reduced.offsets[g]))).collect();
    // A~ and, for a coefficient of 1, the columns w_j
    let mut tilde = Matrix::from_fn(n, n, |i, j| a[(kept[i], kept[j])]);
    let (mut existence, mut columns) = (0.0, vec![]);
    for (g, group) in problem.groups().iter().enumerate() {
        let Group::Sliding { ray } = group else { continue };
        let rows = problem.rows_of(g).skip(1);
        let w: Vec<f64> = kept
            .iter()
            .map(|&i| -rows.clone().zip(&ray[1..]).map(|(r, f)| a[(i, r)] * f).sum::<f64>())
            .collect();
        for i in 0..n {
            tilde[(i, reduced.offsets[g])] -= w[i];
        }
        if mu[g] > 0.0 {
            let w: Vec<f64> = w.iter().map(|x| x / mu[g]).collect();
            let u = root(&w);
            existence += 0.5 * (norm(&u) * norm(&normals[g]) + dot(&u, &normals[g]).abs());
            columns.push((g, w));
        }
    }
    // symmetric part of L^-1 A~ L'^-1
    let left: Vec<Vec<f64>> =
        (0..n).map(|j| root(&(0..n).map(|i| tilde[(i, j)]).collect::<Vec<_>>())).collect();
    let both: Vec<Vec<f64>> = (0..n).map(|i| root(&left.iter().map(|c| c[i]).collect::<Vec<_>>())).collect();
    let symmetric = Matrix::from_fn(n, n, |i, j| 0.5 * (both[i][j] + both[j][i]));
    let (spectrum, _) = symmetric_eigen(&symmetric)?;
    let least = spectrum.iter().fold(f64::INFINITY, |m, x| m.min(*x));
    let (mut spread, mut linear, mut square) = (0.0, 0.0, 0.0);
    for (g, group) in problem.groups().iter().enumerate() {
        let Group::Rolling { axes, .. } = group else { continue };
        for (k, e) in axes.iter().enumerate().filter(|(_, e)| **e > 0.0) {
            let row = reduced.offsets[g] + 1 + k;
            let nu = e * norm(&normals[g]);
            spread += mu[g] * nu * norm(&root(tilde.row(row)));
            linear += nu * a[(kept[row], kept[row])].sqrt();
            square += nu * columns.iter().map(|(j, w)| w[row].abs() * norm(&normals[*j])).sum::<f64>();
        }
    }
    let q = existence + linear;
    // square m^2 + q m = 1
    let mu_bar_uniqueness =
        if q + square > 0.0 { 2.0 / (q + (q * q + 4.0 * square).sqrt()) } else { f64::INFINITY };
    let mu_bar_existence = if existence > 0.0 { 1.0 / existence } else { f64::INFINITY };
    let least = if least > POSITIVE { least } else { 0.0 };
    Some(Bounds { least, spread, mu_bar_existence, mu_bar_uniqueness })
}

/// Whether `A~` of sliding contacts alone is a P-matrix; `None` if other contacts are there, or too many.
fn p_matrix(problem: &InstantProblem) -> Option<bool> {
    if !problem.groups().iter().all(|g| matches!(g, Group::Sliding { .. } | Group::Unilateral)) {
        return None;
    }
    let reduced = problem.reduced();
    let n = reduced.rows.len();
    if n > MOST_MINORS {
        return None;
    }
    let scale: Vec<f64> = reduced.rows.iter().map(|&i| problem.matrix()[(i, i)].sqrt()).collect();
    if scale.iter().any(|s| s.is_nan() || *s <= 0.0) {
        return Some(false);
    }
    let a = Matrix::from_fn(n, n, |i, j| {
        let row = problem.matrix().row(reduced.rows[i]);
        let sum: f64 = row.iter().enumerate().map(|(r, x)| x * reduced.expand[(r, j)]).sum();
        sum / (scale[i] * scale[j])
    });
    let positive = |set: u32| {
        let own: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        determinant(Matrix::from_fn(own.len(), own.len(), |i, j| a[(own[i], own[j])])) > POSITIVE
    };
    Some((1..1u32 << n).all(positive))
}

fn determinant(mut a: Matrix) -> f64 {
    let n = a.rows();
    let mut product = 1.0;
    for k in 0..n {
        let Some(p) = (k..n).max_by(|i, j| a[(*i, k)].abs().total_cmp(&a[(*j, k)].abs())) else { break };
        if a[(p, k)] == 0.0 {
            return 0.0;
        }
        if p != k {
            product = -product;
            let (top, bottom) = (a.row(k).to_vec(), a.row(p).to_vec());
            a.row_mut(k).copy_from_slice(&bottom);
            a.row_mut(p).copy_from_slice(&top);
        }
        product *= a[(k, k)];
        let pivot = a.row(k).to_vec();
        for i in k + 1..n {
            let factor = a[(i, k)] / pivot[k];
            a.row_mut(i).iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
        }
    }
    product
}

/// Contact forces that balance each other on the bodies.
#[derive(Debug, Clone, PartialEq)]
pub enum Balancing {
    /// None but zero.
    None,
    /// Such forces, row by row, with normal forces that add up to 1.
    Forces(Vec<f64>),
    /// The linear program was not decided.
    Unknown,
}

/// Whether forces within friction balance each other: `J' c = 0` with `c_n >= 0`, friction of rolling contacts within boxes and that of sliding ones
/// against their slip. Without such forces the condition (20) of song2004 holds (with the friction of sliding contacts, which the limit in the proof of
/// Theorem 6 has). `jacobian` has one row for each row of the problem, over the velocities.
pub fn balancing(problem: &InstantProblem, jacobian: &Matrix) -> Balancing {
    let rows = problem.size();
    if rows == 0 || rank(jacobian) == rows {
        return Balancing::None;
    }
    let mut posed = Balance::new(problem, jacobian);
    if posed.normals.is_empty() {
        return Balancing::None;
    }
    let budget = &mut Budget::default();
    posed.program.seat_free(budget);
    match posed.program.dual(&posed.system, budget) {
        Feasibility::Infeasible { .. } => Balancing::None,
        Feasibility::Unclear => Balancing::Unknown,
        Feasibility::Feasible => {
            let mut forces = vec![0.0; rows];
            for (j, column) in posed.columns.iter().enumerate() {
                let value = posed.program.value(posed.system.m.rows() + 1 + j);
                column.iter().for_each(|(row, factor)| forces[*row] += factor * value);
            }
            Balancing::Forces(forces)
        }
    }
}

/// Condition (36) by a linear program: the least `b . c` over forces within the friction boxes that do not move the bodies
/// (`J' c = 0`), with normal forces that add up to 1.
fn jam(problem: &InstantProblem, jacobian: &Matrix) -> Jam {
    let Balance { system, mut program, size, .. } = Balance::new(problem, jacobian);
    let rows = system.m.rows();
    let budget = &mut Budget::default();
    program.seat_free(budget);
    match program.dual(&system, budget) {
        Feasibility::Infeasible { .. } => return Jam::None,
        Feasibility::Unclear => return Jam::Unknown,
        Feasibility::Feasible => {}
    }
    match program.maximise(&system, budget, |v| if v == rows - 1 { -1.0 } else { 0.0 }) {
        Maximum::Optimal if program.value(rows - 1) >= -JAM => Jam::Holds,
        Maximum::Optimal => Jam::Fails(program.value(rows - 1) * size),
        Maximum::Unbounded { .. } => Jam::Fails(f64::NEG_INFINITY),
        Maximum::Unclear => Jam::Unknown,
    }
}

/// The linear program of forces that balance each other, with normal forces that add up to 1.
struct Balance {
    system: System,
    program: Program,
    /// Forces of each variable: row and factor.
    columns: Vec<Vec<(usize, f64)>>,
    /// Variables that are normal forces.
    normals: Vec<usize>,
    /// Unit of `b . c`.
    size: f64,
}

impl Balance {
    /// Columns: `c_n`, `s+` and free forces; rows: `s-`, then `J' c`, the sum, and `b . c`.
    fn new(problem: &InstantProblem, jacobian: &Matrix) -> Self {
        let mut columns: Vec<Vec<(usize, f64)>> = vec![];
        let mut slacks: Vec<(usize, usize, f64)> = vec![];
        let mut normals: Vec<usize> = vec![];
        let mut free = vec![];
        for (g, group) in problem.groups().iter().enumerate() {
            let first = problem.rows_of(g).start;
            match group {
                Group::Bounded { .. } => {}
                Group::Bilateral => {
                    free.push(columns.len());
                    columns.push(vec![(first, 1.0)]);
                }
                Group::Unilateral => {
                    normals.push(columns.len());
                    columns.push(vec![(first, 1.0)]);
                }
                Group::Sliding { ray } => {
                    normals.push(columns.len());
                    columns.push(problem.rows_of(g).zip(ray.iter().copied()).collect());
                }
                Group::Rolling { mu, axes } => {
                    let normal = columns.len();
                    normals.push(normal);
                    columns.push(vec![(first, 1.0)]);
                    for (k, e) in axes.iter().enumerate().filter(|(_, e)| mu * **e > 0.0) {
                        columns[normal].push((first + 1 + k, -mu * e));
                        slacks.push((normal, columns.len(), 2.0 * mu * e));
                        columns.push(vec![(first + 1 + k, 1.0)]);
                    }
                }
            }
        }
        let dofs = jacobian.columns();
        let rows = slacks.len() + dofs + 2;
        let mut m = Matrix::zeros(rows, columns.len());
        for (i, &(normal, plus, twice)) in slacks.iter().enumerate() {
            m[(i, normal)] = twice;
            m[(i, plus)] = -1.0;
        }
        for (j, column) in columns.iter().enumerate() {
            for &(row, factor) in column {
                for d in 0..dofs {
                    m[(slacks.len() + d, j)] += factor * jacobian[(row, d)];
                }
                m[(rows - 1, j)] += factor * problem.vector()[row];
            }
        }
        // rows of J' c, and of b . c, with entries near 1
        let mut size = 1.0;
        for i in slacks.len()..rows {
            let largest = m.row(i).iter().fold(0.0f64, |most, x| most.max(x.abs()));
            if largest > 0.0 {
                m.row_mut(i).iter_mut().for_each(|x| *x /= largest);
                size = largest;
            }
        }
        normals.iter().for_each(|&j| m[(rows - 2, j)] = 1.0);
        let mut q = vec![0.0; rows];
        q[rows - 2] = -1.0;
        let system = System { m, q };
        let mut program = Program::default();
        program.start(&system);
        (slacks.len()..rows - 1).for_each(|i| program.kind[i] = Kind::Fixed);
        program.kind[rows - 1] = Kind::Free;
        free.iter().for_each(|j| program.kind[rows + 1 + j] = Kind::Free);
        Self { system, program, columns, normals, size }
    }
}
