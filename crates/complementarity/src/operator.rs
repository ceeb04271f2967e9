//! The matrix `A` of a friction problem, seen as an operator: dense, block sparse, or `c W W' + E^-1` never formed.
//!
//! Rows come contact by contact, `rows` (2 to 6) a contact; a block is what one contact does to another.

mod factored;

use crate::matrix::{Matrix, dot};
pub use factored::{Factored, Neighbours, Segment};

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
            Self::Blocks(a) => a.rows * a.contacts(),
            Self::Factored(a) => a.rows * a.contacts(),
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

    /// The block of a contact with itself, `rows` x `rows`, row by row.
    pub fn diagonal(&self, rows: usize, contact: usize, out: &mut [f64]) {
        match self {
            Self::Dense(a) => {
                for i in 0..rows {
                    let row = &a.row(rows * contact + i)[rows * contact..][..rows];
                    out[rows * i..][..rows].copy_from_slice(row);
                }
            }
            Self::Blocks(a) => out[..rows * rows].copy_from_slice(a.diagonal(contact)),
            Self::Factored(a) => a.diagonal(contact, out),
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

/// Blocks in compressed rows, columns ascending, the diagonal always there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BlockMatrix {
    rows: usize,
    starts: Vec<usize>,
    columns: Vec<usize>,
    /// Where the diagonal block of each block row is.
    diagonals: Vec<usize>,
    data: Vec<f64>,
}

impl BlockMatrix {
    /// Blocks of `a` with an entry that is not zero, and the diagonal.
    ///
    /// # Panics
    /// If `a` is not square or its order no multiple of `rows`.
    pub fn from_dense(a: &Matrix, rows: usize) -> Self {
        let mut out = Self::default();
        out.assign_dense(a, rows);
        out
    }

    /// As [`Self::from_dense`], in the memory at hand.
    ///
    /// # Panics
    /// The same.
    pub fn assign_dense(&mut self, a: &Matrix, rows: usize) {
        assert!(a.rows() == a.columns() && a.rows().is_multiple_of(rows), "whole blocks");
        let contacts = a.rows() / rows;
        self.clear(rows);
        for c in 0..contacts {
            for d in 0..contacts {
                let part = |i: usize| &a.row(rows * c + i)[rows * d..][..rows];
                if c == d || (0..rows).any(|i| part(i).iter().any(|&x| x != 0.0)) {
                    self.columns.push(d);
                    (0..rows).for_each(|i| self.data.extend_from_slice(part(i)));
                }
            }
            self.end_row();
        }
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
        assert!(places.last().is_none_or(|p| p.0 < contacts), "rows within the matrix");
        let mut out = Self::default();
        out.clear(rows);
        for &(c, k) in &places {
            assert!(k < contacts, "columns within the matrix");
            (out.contacts()..c).for_each(|_| out.end_row());
            out.columns.push(k);
        }
        if contacts > 0 {
            out.end_row();
        }
        out.data.resize(rows * rows * places.len(), 0.0);
        for &(i, j, x) in entries {
            let (c, k) = (i / rows, j / rows);
            let first = out.starts[c];
            if let Ok(at) = out.columns[first..out.starts[c + 1]].binary_search(&k) {
                out.data[rows * rows * (first + at) + rows * (i % rows) + j % rows] += x;
            }
        }
        out
    }

    /// `c W W' + E^-1` multiplied out, in the memory at hand. Contacts are neighbours if they share a group of speeds or a patch.
    pub fn assign_factored(&mut self, a: &Factored, scratch: &mut Neighbours) {
        let area = a.rows * a.rows;
        self.clear(a.rows);
        scratch.find(a);
        for c in 0..a.contacts() {
            let first = self.columns.len();
            for (s, ..) in a.segments(c) {
                self.columns.extend_from_slice(scratch.contacts_of(s.first));
            }
            self.columns.extend(a.patch_contacts(c));
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
                let at = self.data.len();
                self.data.resize(at + area, 0.0);
                a.block(c, self.columns[k], &mut self.data[at..]);
            }
            self.end_row();
        }
    }

    /// A copy of `other`, in the memory at hand.
    pub fn assign(&mut self, other: &Self) {
        self.rows = other.rows;
        self.starts.clone_from(&other.starts);
        self.columns.clone_from(&other.columns);
        self.diagonals.clone_from(&other.diagonals);
        self.data.clone_from(&other.data);
    }

    /// Multiplies entry `(i, j)` by `s_i s_j`.
    ///
    /// # Panics
    /// If `s` is shorter than the matrix is wide.
    pub fn scale(&mut self, s: &[f64]) {
        let d = self.rows;
        for c in 0..self.contacts() {
            for at in self.starts[c]..self.starts[c + 1] {
                let (rows, columns) = (&s[d * c..][..d], &s[d * self.columns[at]..][..d]);
                for k in 0..d * d {
                    self.data[d * d * at + k] *= rows[k / d] * columns[k % d];
                }
            }
        }
    }

    fn clear(&mut self, rows: usize) {
        self.rows = rows;
        self.starts.clear();
        self.starts.push(0);
        self.columns.clear();
        self.diagonals.clear();
        self.data.clear();
    }

    /// Ends a block row whose columns are there, the diagonal among them.
    fn end_row(&mut self) {
        let (c, first) = (self.contacts(), self.starts[self.contacts()]);
        let at = self.columns[first..].binary_search(&c).expect("the diagonal is always there");
        self.diagonals.push(first + at);
        self.starts.push(self.columns.len());
    }

    /// Rows a contact.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.columns.len()
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The blocks of a block row: their columns, and their entries one after another, each row by row.
    pub fn row(&self, contact: usize) -> (&[usize], &[f64]) {
        let (first, last) = (self.starts[contact], self.starts[contact + 1]);
        let area = self.rows * self.rows;
        (&self.columns[first..last], &self.data[area * first..area * last])
    }

    /// The block of a contact with itself, row by row.
    pub fn diagonal(&self, contact: usize) -> &[f64] {
        let area = self.rows * self.rows;
        &self.data[area * self.diagonals[contact]..][..area]
    }

    /// `out = A x`; two and three rows a contact have code of their own.
    pub(crate) fn times(&self, x: &[f64], out: &mut [f64]) {
        match self.rows {
            2 => self.times_of::<2>(x, out),
            3 => self.times_of::<3>(x, out),
            _ => self.times_any(x, out),
        }
    }

    fn times_of<const D: usize>(&self, x: &[f64], out: &mut [f64]) {
        let (x, blocks) = (x.as_chunks::<D>().0, self.data.as_chunks::<D>().0.as_chunks::<D>().0);
        for (c, own) in out.as_chunks_mut::<D>().0.iter_mut().enumerate() {
            let at = self.starts[c]..self.starts[c + 1];
            *own = [0.0; D];
            for (&k, block) in self.columns[at.clone()].iter().zip(&blocks[at]) {
                let from = &x[k];
                for i in 0..D {
                    own[i] += (0..D).map(|j| block[i][j] * from[j]).sum::<f64>();
                }
            }
        }
    }

    fn times_any(&self, x: &[f64], out: &mut [f64]) {
        let d = self.rows;
        for c in 0..self.contacts() {
            let (columns, data) = self.row(c);
            let own = &mut out[d * c..][..d];
            own.fill(0.0);
            for (&k, block) in columns.iter().zip(data.chunks_exact(d * d)) {
                let from = &x[d * k..][..d];
                for (o, row) in own.iter_mut().zip(block.chunks_exact(d)) {
                    *o += row.iter().zip(from).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
    }

    fn to_dense(&self) -> Matrix {
        let d = self.rows;
        let mut a = Matrix::zeros(d * self.contacts(), d * self.contacts());
        for c in 0..self.contacts() {
            let (columns, data) = self.row(c);
            for (&k, block) in columns.iter().zip(data.chunks_exact(d * d)) {
                for i in 0..d {
                    a.row_mut(d * c + i)[d * k..][..d].copy_from_slice(&block[d * i..][..d]);
                }
            }
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three contacts of two rows: two speeds of one group, three of another, and a patch over the last two.
    fn factored() -> Factored {
        let mut f = Factored::default();
        f.clear(2, 5, 0.5);
        let mut entry = 0.0;
        for groups in [&[(0, 2)][..], &[(0, 2), (2, 3)], &[(2, 3)]] {
            for &(first, len) in groups {
                for w in f.segment(first, len) {
                    entry += 1.0;
                    *w = f64::sin(entry);
                }
            }
            f.end_contact();
        }
        f.add_patch(1, &Matrix::from_fn(4, 4, |i, j| (1 + i + 4 * j) as f64));
        f
    }

    #[test]
    fn all_forms_are_the_same_matrix() {
        let factored = Operator::Factored(factored());
        let dense = factored.to_dense();
        let blocks = Operator::Blocks(BlockMatrix::from_dense(&dense, 2));
        assert_eq!(blocks.to_dense(), dense);
        let forms = [Operator::Dense(dense), blocks, factored];
        let x = [1.0, -2.0, 3.0, 0.5, 0.25, -1.0];
        let expected = forms[0].to_dense().times(&x);
        for form in &forms {
            assert!(form.is_finite());
            assert_eq!(form.size(), 6);
            let mut out = [0.0; 6];
            form.times(&x, &mut out, &mut vec![]);
            assert!(out.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13), "{out:?} {expected:?}");
            for c in 0..3 {
                let mut block = [0.0; 4];
                form.diagonal(2, c, &mut block);
                let a = forms[0].to_dense();
                let same = (0..4).all(|k| (block[k] - a[(2 * c + k / 2, 2 * c + k % 2)]).abs() < 1e-14);
                assert!(same);
            }
        }
    }
}
