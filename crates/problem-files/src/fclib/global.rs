//! Global problems -> friction problem: the velocities of the bodies are eliminated.
//!
//! ```text
//! M v = H r + G l + f    u = H' v + w    G' v + b = 0 (optional)
//!
//! K = ( M  -G )    W = (H', 0) K^-1 (H; 0)    q = (H', 0) K^-1 (f; -b) + w
//!     ( G'  0 )
//! ```
//!
//! `K` falls apart into groups of rows that share no entry (bodies, bodies joined by constraints); each is factored on its own.

use super::source::{Source, group};
use super::{Contacts, blocks, check_square, check_vector};
use crate::error::{At, Fault};
use crate::sparse::Sparse;
use complementarity::matrix::Matrix;
use complementarity::problem::FrictionProblem;

/// Most rows of a group, which is factored as a dense matrix.
const MOST_COUPLED: usize = 3000;

/// Most entries of `W`, before those at one place are added up.
const MOST_ENTRIES: usize = 1 << 25;

pub(super) struct Global {
    contacts: Contacts,
    m: Sparse,
    h: Sparse,
    f: Vec<f64>,
    w: Vec<f64>,
    /// Bilateral constraints: `G` and `b`.
    bilateral: Option<(Sparse, Vec<f64>)>,
}

impl Global {
    pub fn read(source: &Source) -> Result<Self, Fault> {
        let bilateral = match group(source.root.group("G"))? {
            None => None,
            Some(_) => Some((source.matrix("G")?, source.numbers("vectors/b")?)),
        };
        Ok(Self {
            contacts: Contacts::read(source)?,
            m: source.matrix("M")?,
            h: source.matrix("H")?,
            f: source.numbers("vectors/f")?,
            w: source.numbers("vectors/w")?,
            bilateral,
        })
    }

    pub fn problem(self) -> Result<FrictionProblem, Fault> {
        let Self { contacts, m, h, f, w, bilateral } = self;
        check_square(&m)?;
        let dim = contacts.rows("H/n", h.columns)?;
        check_rows(&h, m.rows)?;
        check_vector("vectors/f", &f, m.rows)?;
        check_vector("vectors/w", &w, h.columns)?;
        let mut k = m.entries()?;
        let mut right = f;
        if let Some((g, b)) = bilateral {
            check_rows(&g, m.rows)?;
            check_vector("vectors/b", &b, g.columns)?;
            for (i, j, x) in g.entries()? {
                k.push((i, m.rows + j, -x));
                k.push((m.rows + j, i, x));
            }
            right.extend(b.iter().map(|b| -b));
        }
        let (entries, mut q) = condense(&k, &h.entries()?, &right, h.columns)?;
        q.iter_mut().zip(&w).for_each(|(q, w)| *q += w);
        check_vector("q = H' M^-1 f + w", &q, h.columns)?;
        contacts.problem(blocks(dim, h.columns, &entries)?, q, dim)
    }
}

fn check_rows(matrix: &Sparse, expected: usize) -> Result<(), Fault> {
    if matrix.rows == expected {
        return Ok(());
    }
    let expected = format!("{expected} as M/m");
    Err(Fault::entry(&format!("{}/m", matrix.name), At::Scalar, matrix.rows as f64, expected))
}

type Entries = Vec<(usize, usize, f64)>;

/// Entries of `H' K^-1 H`, and `H' K^-1 right`.
fn condense(
    k: &[(usize, usize, f64)],
    h: &[(usize, usize, f64)],
    right: &[f64],
    columns: usize,
) -> Result<(Entries, Vec<f64>), Fault> {
    let groups = Groups::of(right.len(), k);
    let (mut of_k, mut of_h) = (vec![vec![]; groups.count], vec![vec![]; groups.count]);
    for &(i, j, x) in k {
        of_k[groups.of_row[i]].push((groups.place[i], groups.place[j], x));
    }
    for &(i, j, x) in h {
        of_h[groups.of_row[i]].push((groups.place[i], j, x));
    }
    let mut constants: Vec<Vec<f64>> = vec![vec![]; groups.count];
    for (i, x) in right.iter().enumerate() {
        constants[groups.of_row[i]].push(*x);
    }
    let (mut w, mut q) = (Entries::new(), vec![0.0; columns]);
    for ((k, h), constant) in of_k.iter().zip(&of_h).zip(&constants) {
        if h.is_empty() {
            continue;
        }
        let size = constant.len();
        if size > MOST_COUPLED {
            let found = format!("{size} rows that depend on each other");
            return Err(Fault::too_large("M", found, MOST_COUPLED.to_string()));
        }
        let mut seen: Vec<usize> = h.iter().map(|&(_, j, _)| j).collect();
        seen.sort_unstable();
        seen.dedup();
        if w.len() + seen.len() * seen.len() > MOST_ENTRIES {
            return Err(Fault::too_large("H' M^-1 H", "more entries".to_owned(), MOST_ENTRIES.to_string()));
        }
        let mut matrix = Matrix::zeros(size, size);
        k.iter().for_each(|&(i, j, x)| matrix[(i, j)] += x);
        // H of the group, and the constants in the last column
        let mut sides = Matrix::zeros(size, seen.len() + 1);
        for &(i, j, x) in h {
            let at = seen.binary_search(&j).unwrap_or_default();
            sides[(i, at)] += x;
        }
        (0..size).for_each(|i| sides[(i, seen.len())] = constant[i]);
        let solved = matrix.solve(&sides).ok_or(Fault::Singular)?;
        for (a, &row) in seen.iter().enumerate() {
            let product = |b: usize| -> f64 { (0..size).map(|i| sides[(i, a)] * solved[(i, b)]).sum() };
            w.extend(seen.iter().enumerate().map(|(b, &column)| (row, column, product(b))));
            q[row] += product(seen.len());
        }
    }
    Ok((w, q))
}

/// Rows that are joined by entries of a square matrix.
struct Groups {
    count: usize,
    of_row: Vec<usize>,
    /// Place of each row in its group.
    place: Vec<usize>,
}

impl Groups {
    fn of(rows: usize, entries: &[(usize, usize, f64)]) -> Self {
        let mut parent: Vec<usize> = (0..rows).collect();
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        for &(i, j, _) in entries {
            let (a, b) = (root(&mut parent, i), root(&mut parent, j));
            parent[a.max(b)] = a.min(b);
        }
        let mut groups = Self { count: 0, of_row: vec![usize::MAX; rows], place: vec![0; rows] };
        let mut sizes: Vec<usize> = vec![];
        for i in 0..rows {
            let first = root(&mut parent, i);
            // a root is the first row of its group
            if first == i {
                groups.of_row[i] = groups.count;
                groups.count += 1;
                sizes.push(0);
            }
            let own = groups.of_row[first];
            groups.of_row[i] = own;
            groups.place[i] = sizes[own];
            sizes[own] += 1;
        }
        groups
    }
}
