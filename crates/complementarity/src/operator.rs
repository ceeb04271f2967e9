//! The matrix `A` of a contact problem, seen as an operator: dense, block sparse, or `c W W' + E^-1` never formed.
//!
//! Rows come element by element, 1 to 6 per element; a block is what the forces of one element do to the velocities of another.

mod factored;

use crate::matrix::{Matrix, dot};
pub use factored::{Factored, Neighbours, Segment};
use std::ops::Range;

/// Most rows a contact can have: n, t, o, and moments about them.
pub const MOST_ROWS: usize = 6;

/// `A`.
#[derive(Debug, Clone, PartialEq)]
pub enum Operator {
    /// Every entry.
    Dense(Matrix),
    /// The blocks that are not zero.
    Blocks(BlockMatrix),
    /// `c W W' + E^-1`, kept as its factors.
    Factored(Factored),
}

impl Operator {
    /// Order of `A`.
    pub fn size(&self) -> usize {
        match self {
            Self::Dense(a) => a.rows(),
            Self::Blocks(a) => a.size(),
            Self::Factored(a) => a.size(),
        }
    }

    /// Whether rows belong to elements as `offsets` says: the first row of each, and the number of rows. A dense matrix fits all offsets of its order.
    pub(crate) fn fits(&self, offsets: &[usize]) -> bool {
        match self {
            Self::Dense(a) => a.rows() == a.columns() && offsets.last() == Some(&a.rows()),
            Self::Blocks(a) => a.offsets == offsets || (a.offsets.is_empty() && offsets == [0]),
            Self::Factored(a) => a.offsets() == offsets || (a.offsets().is_empty() && offsets == [0]),
        }
    }

    /// `out = A x`. `scratch` is memory to use.
    pub fn times(&self, x: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
        match self {
            Self::Dense(a) => (0..a.rows()).for_each(|i| out[i] = dot(a.row(i), x)),
            Self::Blocks(a) => a.times(x, out),
            Self::Factored(a) => a.times(x, out, scratch),
        }
    }

    /// `out = |A| |x|` by the terms that [`Self::times`] adds up. `scratch` is memory to use.
    pub(crate) fn absolute_times(&self, x: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
        let product = |row: &[f64]| row.iter().zip(x).map(|(a, x)| (a * x).abs()).sum::<f64>();
        match self {
            Self::Dense(a) => (0..a.rows()).for_each(|i| out[i] = product(a.row(i))),
            Self::Blocks(a) => a.absolute_times(x, out),
            Self::Factored(a) => a.absolute_times(x, out, scratch),
        }
    }

    /// The block of an element, whose rows are `at`, with itself, row by row.
    pub fn diagonal(&self, element: usize, at: Range<usize>, out: &mut [f64]) {
        match self {
            Self::Dense(a) => {
                let width = at.len();
                for (i, out) in at.clone().zip(out.chunks_exact_mut(width.max(1))) {
                    out.copy_from_slice(&a.row(i)[at.clone()]);
                }
            }
            Self::Blocks(a) => out[..at.len() * at.len()].copy_from_slice(a.diagonal(element)),
            Self::Factored(a) => a.diagonal(element, out),
        }
    }

    /// The diagonal entries of an element whose first row is `first`.
    pub(crate) fn diagonal_entries(&self, element: usize, first: usize, out: &mut [f64]) {
        let rows = out.len();
        match self {
            Self::Dense(a) => (0..rows).for_each(|i| out[i] = a[(first + i, first + i)]),
            Self::Blocks(a) => (0..rows).for_each(|i| out[i] = a.diagonal(element)[(rows + 1) * i]),
            Self::Factored(a) => a.diagonal_entries(element, out),
        }
    }

    /// Every entry.
    pub fn to_dense(&self) -> Matrix {
        match self {
            Self::Dense(a) => a.clone(),
            Self::Blocks(a) => a.to_dense(),
            Self::Factored(a) => a.to_dense(),
        }
    }

    /// Whether all entries are finite.
    pub fn is_finite(&self) -> bool {
        let all = |x: &[f64]| x.iter().all(|x| x.is_finite());
        match self {
            Self::Dense(a) => all(a.data()),
            Self::Blocks(a) => all(&a.data),
            Self::Factored(a) => a.is_finite(),
        }
    }
}

impl From<Matrix> for Operator {
    fn from(a: Matrix) -> Self {
        Self::Dense(a)
    }
}

/// Blocks in compressed rows, columns ascending, the diagonal always there. Elements may differ in their number of rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlockMatrix {
    /// First row of each element, and the number of rows.
    offsets: Vec<usize>,
    starts: Vec<usize>,
    columns: Vec<usize>,
    /// Where the entries of each block row begin, and where those of its diagonal block do.
    entries: Vec<usize>,
    diagonals: Vec<usize>,
    data: Vec<f64>,
}

impl BlockMatrix {
    /// Blocks of `a` with an entry that is not zero, and the diagonal; `rows` rows per element.
    ///
    /// # Panics
    /// If `a` is not square or its order no multiple of `rows`.
    pub fn from_dense(a: &Matrix, rows: usize) -> Self {
        assert!(a.rows() == a.columns() && a.rows().is_multiple_of(rows), "whole blocks");
        Self::from_elements(a, &uniform_offsets(rows, a.rows() / rows))
    }

    /// The same for elements whose first rows (and the number of rows) are `offsets`.
    ///
    /// # Panics
    /// If the last of them is not the order of `a`.
    pub fn from_elements(a: &Matrix, offsets: &[usize]) -> Self {
        let mut out = Self::default();
        out.clear();
        let count = offsets.len().saturating_sub(1);
        for c in 0..count {
            out.begin_row(offsets[c + 1] - offsets[c]);
            for d in 0..count {
                let part = |i: usize| &a.row(i)[offsets[d]..offsets[d + 1]];
                let own = offsets[c]..offsets[c + 1];
                if c == d || own.clone().any(|i| part(i).iter().any(|&x| x != 0.0)) {
                    own.for_each(|i| out.data.extend_from_slice(part(i)));
                    out.push_column(d);
                }
            }
        }
        out
    }

    /// Entries `(row, column, value)` of a matrix of order `rows * contacts`; those at one place add up.
    ///
    /// # Panics
    /// If an entry lies outside.
    pub fn from_entries(rows: usize, contacts: usize, entries: &[(usize, usize, f64)]) -> Self {
        let mut places: Vec<(usize, usize)> = entries.iter().map(|&(i, j, _)| (i / rows, j / rows)).collect();
        places.extend((0..contacts).map(|c| (c, c)));
        places.sort_unstable();
        places.dedup();
        assert!(places.iter().all(|p| p.0 < contacts && p.1 < contacts), "entries within the matrix");
        let mut out = Self::default();
        out.clear();
        let mut places = places.into_iter().peekable();
        for c in 0..contacts {
            out.begin_row(rows);
            while let Some((_, k)) = places.next_if(|p| p.0 == c) {
                out.data.resize(out.data.len() + rows * rows, 0.0);
                out.push_column(k);
            }
        }
        for &(i, j, x) in entries {
            let (c, k) = (i / rows, j / rows);
            let first = out.starts[c];
            if let Ok(at) = out.columns[first..out.starts[c + 1]].binary_search(&k) {
                out.data[rows * rows * (first + at) + rows * (i % rows) + j % rows] += x;
            }
        }
        out
    }

    /// `c W W' + E^-1` multiplied out, in the memory at hand. Elements are neighbours if they share a group of velocities or a patch.
    pub fn assign_factored(&mut self, a: &Factored, scratch: &mut Neighbours) {
        self.clear();
        scratch.find(a);
        for c in 0..a.elements() {
            self.begin_row(a.rows(c));
            let first = self.columns.len();
            for (s, ..) in a.segments(c) {
                self.columns.extend_from_slice(scratch.elements_of(s.first));
            }
            self.columns.extend(a.patch_elements(c));
            self.columns.push(c);
            self.columns[first..].sort_unstable();
            let mut last = first;
            for k in first + 1..self.columns.len() {
                if self.columns[k] != self.columns[last] {
                    last += 1;
                    self.columns[last] = self.columns[k];
                }
            }
            self.columns.truncate(last + 1);
            for k in first..self.columns.len() {
                let (at, other) = (self.data.len(), self.columns[k]);
                self.data.resize(at + a.rows(c) * a.rows(other), 0.0);
                a.block(c, other, &mut self.data[at..]);
                if other == c {
                    self.diagonals.push(at);
                }
            }
            self.close_row();
        }
    }

    /// A copy of `other`, in the memory at hand.
    pub fn assign(&mut self, other: &Self) {
        self.offsets.clone_from(&other.offsets);
        self.starts.clone_from(&other.starts);
        self.columns.clone_from(&other.columns);
        self.entries.clone_from(&other.entries);
        self.diagonals.clone_from(&other.diagonals);
        self.data.clone_from(&other.data);
    }

    /// Multiplies entry `(i, j)` by `s_i s_j`.
    ///
    /// # Panics
    /// If `s` is shorter than the matrix is wide.
    pub fn scale(&mut self, s: &[f64]) {
        for c in 0..self.elements() {
            let mut at = self.entries[c];
            for block in self.starts[c]..self.starts[c + 1] {
                let k = self.columns[block];
                for i in self.offsets[c]..self.offsets[c + 1] {
                    for j in self.offsets[k]..self.offsets[k + 1] {
                        self.data[at] *= s[i] * s[j];
                        at += 1;
                    }
                }
            }
        }
    }

    /// Forgets everything but its memory.
    pub(crate) fn clear(&mut self) {
        self.offsets.clear();
        self.offsets.push(0);
        self.starts.clear();
        self.starts.push(0);
        self.entries.clear();
        self.entries.push(0);
        self.columns.clear();
        self.diagonals.clear();
        self.data.clear();
    }

    /// Begins the next block row, of so many rows; its columns follow, ascending, the diagonal among them.
    pub(crate) fn begin_row(&mut self, rows: usize) {
        self.offsets.push(self.offsets[self.elements()] + rows);
        self.starts.push(self.columns.len());
        self.entries.push(self.data.len());
    }

    /// The data of block `(c, column)` of the row being made, which the caller has to write, all zero.
    pub(crate) fn block_mut(&mut self, column: usize, entries: usize) -> &mut [f64] {
        let at = self.data.len();
        self.data.resize(at + entries, 0.0);
        self.push_column(column);
        &mut self.data[at..]
    }

    /// Ends a block whose entries are there.
    fn push_column(&mut self, column: usize) {
        let own = self.elements() - 1;
        if column == own {
            let rows = self.offsets[own + 1] - self.offsets[own];
            self.diagonals.push(self.data.len() - rows * rows);
        }
        self.columns.push(column);
        self.close_row();
    }

    fn close_row(&mut self) {
        let last = self.starts.len() - 1;
        self.starts[last] = self.columns.len();
        self.entries[last] = self.data.len();
    }

    /// First row of each element, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Order of the matrix.
    pub fn size(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.columns.len()
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The blocks of a block row: their columns, and their entries one after another, each row by row.
    pub fn row(&self, element: usize) -> (&[usize], &[f64]) {
        (
            &self.columns[self.starts[element]..self.starts[element + 1]],
            &self.data[self.entries[element]..self.entries[element + 1]],
        )
    }

    /// The blocks of a block row: the column of each, and its entries row by row.
    pub fn blocks_of(&self, element: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let (columns, mut data) = self.row(element);
        let rows = self.offsets[element + 1] - self.offsets[element];
        columns.iter().map(move |&k| {
            let (own, rest) = data.split_at(rows * (self.offsets[k + 1] - self.offsets[k]));
            data = rest;
            (k, own)
        })
    }

    /// The block of an element with itself, row by row.
    pub fn diagonal(&self, element: usize) -> &[f64] {
        let rows = self.offsets[element + 1] - self.offsets[element];
        &self.data[self.diagonals[element]..][..rows * rows]
    }

    /// `out = A x`.
    pub(crate) fn times(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for c in 0..self.elements() {
            let own = &mut out[self.offsets[c]..self.offsets[c + 1]];
            for (k, block) in self.blocks_of(c) {
                let from = &x[self.offsets[k]..self.offsets[k + 1]];
                if let ([n, t, o], &[x, y, z], [a, b, c]) = (&mut *own, from, block.as_chunks::<3>().0) {
                    *n += a[0] * x + a[1] * y + a[2] * z;
                    *t += b[0] * x + b[1] * y + b[2] * z;
                    *o += c[0] * x + c[1] * y + c[2] * z;
                    continue;
                }
                for (o, row) in own.iter_mut().zip(block.chunks_exact(from.len())) {
                    *o += row.iter().zip(from).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
    }

    /// `out = |A| |x|`.
    fn absolute_times(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for c in 0..self.elements() {
            let own = &mut out[self.offsets[c]..self.offsets[c + 1]];
            for (k, block) in self.blocks_of(c) {
                let from = &x[self.offsets[k]..self.offsets[k + 1]];
                for (o, row) in own.iter_mut().zip(block.chunks_exact(from.len())) {
                    *o += row.iter().zip(from).map(|(a, b)| (a * b).abs()).sum::<f64>();
                }
            }
        }
    }

    fn to_dense(&self) -> Matrix {
        let mut a = Matrix::zeros(self.size(), self.size());
        for c in 0..self.elements() {
            for (k, block) in self.blocks_of(c) {
                let columns = self.offsets[k]..self.offsets[k + 1];
                for (i, row) in (self.offsets[c]..).zip(block.chunks_exact(columns.len())) {
                    a.row_mut(i)[columns.clone()].copy_from_slice(row);
                }
            }
        }
        a
    }
}

/// First rows of elements that all have `rows`, and the number of rows.
pub(crate) fn uniform_offsets(rows: usize, count: usize) -> Vec<usize> {
    (0..=count).map(|c| rows * c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A contact of two rows, a row, and a contact of three: two velocities of one group, three of another, and a patch over the last two.
    fn factored() -> Factored {
        let mut f = Factored::default();
        f.clear(5, 0.5);
        let mut entry = 0.0;
        for (rows, groups) in [(2, &[(0, 2)][..]), (1, &[(0, 2), (2, 3)]), (3, &[(2, 3)])] {
            f.begin(rows);
            for &(first, len) in groups {
                for w in f.segment(first, len) {
                    entry += 1.0;
                    *w = f64::sin(entry);
                }
            }
        }
        f.add_patch(1, &Matrix::from_fn(4, 4, |i, j| (1 + i + 4 * j) as f64));
        f
    }

    #[test]
    fn all_forms_are_the_same_matrix() {
        let factored = Operator::Factored(factored());
        let dense = factored.to_dense();
        let offsets = [0, 2, 3, 6];
        let blocks = BlockMatrix::from_elements(&dense, &offsets);
        let Operator::Factored(f) = &factored else { unreachable!() };
        let mut formed = BlockMatrix::default();
        formed.assign_factored(f, &mut Neighbours::default());
        assert_eq!(formed.offsets(), offsets);
        let forms =
            [Operator::Dense(dense.clone()), Operator::Blocks(blocks), factored, Operator::Blocks(formed)];
        let x = [1.0, -2.0, 3.0, 0.5, 0.25, -1.0];
        let expected = dense.times(&x);
        for form in &forms {
            assert!(form.is_finite() && form.fits(&offsets) && form.size() == 6);
            assert!(form.to_dense().data().iter().zip(dense.data()).all(|(a, b)| (a - b).abs() < 1e-13));
            let mut out = [0.0; 6];
            form.times(&x, &mut out, &mut vec![]);
            assert!(out.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13), "{out:?} {expected:?}");
            for c in 0..3 {
                let (at, rows) = (offsets[c]..offsets[c + 1], offsets[c + 1] - offsets[c]);
                let mut block = vec![0.0; rows * rows];
                form.diagonal(c, at.clone(), &mut block);
                for (k, x) in block.iter().enumerate() {
                    assert!((x - dense[(at.start + k / rows, at.start + k % rows)]).abs() < 1e-14);
                }
            }
        }
    }
}
