//! The matrix `A` of a friction problem, seen as an operator: dense, block sparse, or `W Y + E^-1` never formed.
//!
//! Rows come contact by contact, `rows` (2 to 6) a contact; a block is what one contact does to another.

use crate::matrix::{Matrix, dot};

/// Most rows a contact can have: n, t, o, and moments about them.
pub const MOST_ROWS: usize = 6;

/// `A`.
#[derive(Debug, Clone, PartialEq)]
pub enum Operator {
    /// Every entry.
    Dense(Matrix),
    /// The blocks that are not zero.
    Blocks(BlockMatrix),
    /// `W Y + E^-1`, kept as its factors.
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
            Self::Factored(a) => a.block(contact, contact, out),
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
            Self::Factored(a) => all(&a.w) && all(&a.y) && all(&a.patch_data),
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

    /// `W Y + E^-1` multiplied out, in the memory at hand. Contacts are neighbours if they share a group of speeds or a patch.
    pub fn assign_factored(&mut self, a: &Factored, scratch: &mut Neighbours) {
        let area = a.rows * a.rows;
        self.clear(a.rows);
        scratch.find(a);
        for c in 0..a.contacts() {
            let first = self.columns.len();
            for s in &a.segments[a.starts[c]..a.starts[c + 1]] {
                self.columns.extend_from_slice(scratch.contacts_of(s.first));
            }
            if let Some(p) = a.patches.get(a.patch_of[c]) {
                self.columns.extend(p.first..p.first + p.count);
            }
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

/// Which contacts see which group of speeds.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    /// By first speed of the group: where its contacts begin.
    starts: Vec<usize>,
    contacts: Vec<usize>,
}

impl Neighbours {
    /// Reads them from `a`.
    pub fn find(&mut self, a: &Factored) {
        self.starts.clear();
        self.starts.resize(a.speeds + 2, 0);
        for s in &a.segments {
            self.starts[s.first + 2] += 1;
        }
        for k in 2..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        self.contacts.clear();
        self.contacts.resize(a.segments.len(), 0);
        for c in 0..a.contacts() {
            for s in &a.segments[a.starts[c]..a.starts[c + 1]] {
                let at = &mut self.starts[s.first + 1];
                self.contacts[*at] = c;
                *at += 1;
            }
        }
    }

    /// Contacts that see the group whose first speed is `first`, ascending.
    pub fn contacts_of(&self, first: usize) -> &[usize] {
        &self.contacts[self.starts[first]..self.starts[first + 1]]
    }
}

/// What a contact sees of one group of speeds (a body, a tree): `rows` x `len` entries of `W` and of `Y'`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// First speed of the group.
    pub first: usize,
    /// Number of speeds.
    pub len: usize,
    at: usize,
}

/// A dense block of `E^-1` over neighbouring contacts (the elements of a patch).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Patch {
    first: usize,
    count: usize,
    at: usize,
}

/// `A = W Y + E^-1`: `W` maps speeds to contact speeds, `Y = c M^-1 W'` contact forces to speeds. Segments of
/// different groups do not overlap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Factored {
    rows: usize,
    speeds: usize,
    starts: Vec<usize>,
    segments: Vec<Segment>,
    w: Vec<f64>,
    y: Vec<f64>,
    patches: Vec<Patch>,
    /// Patch of each contact; `usize::MAX` if it has none.
    patch_of: Vec<usize>,
    patch_data: Vec<f64>,
}

impl Factored {
    /// Forgets everything but its memory.
    pub fn clear(&mut self, rows: usize, speeds: usize) {
        (self.rows, self.speeds) = (rows, speeds);
        self.starts.clear();
        self.starts.push(0);
        self.segments.clear();
        self.w.clear();
        self.y.clear();
        self.patches.clear();
        self.patch_of.clear();
        self.patch_data.clear();
    }

    /// Adds a segment to the contact being made: its entries of `W` and of `Y'`, all zero, `rows` rows of `len`.
    pub fn segment(&mut self, first: usize, len: usize) -> (&mut [f64], &mut [f64]) {
        let at = self.w.len();
        self.segments.push(Segment { first, len, at });
        self.w.resize(at + self.rows * len, 0.0);
        self.y.resize(at + self.rows * len, 0.0);
        (&mut self.w[at..], &mut self.y[at..])
    }

    /// Ends the contact being made.
    pub fn end_contact(&mut self) {
        self.starts.push(self.segments.len());
        self.patch_of.push(usize::MAX);
    }

    /// Adds a block of `E^-1` over contacts `first..`, which must be there and in no other patch.
    pub fn add_patch(&mut self, first: usize, e_inv: &Matrix) {
        let count = e_inv.rows() / self.rows;
        self.patch_of[first..first + count].fill(self.patches.len());
        self.patches.push(Patch { first, count, at: self.patch_data.len() });
        self.patch_data.extend_from_slice(e_inv.data());
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Number of speeds.
    pub fn speeds(&self) -> usize {
        self.speeds
    }

    /// Segments of a contact, each with its entries of `W` and `Y'`, row by row.
    pub fn segments(&self, contact: usize) -> impl Iterator<Item = (Segment, &[f64], &[f64])> {
        self.segments[self.starts[contact]..self.starts[contact + 1]].iter().map(|&s| {
            let entries = s.at..s.at + self.rows * s.len;
            (s, &self.w[entries.clone()], &self.y[entries])
        })
    }

    /// The rows of `E^-1` of a contact, from the first row of its patch on, and that patch's first contact. `None`
    /// if it has no patch.
    pub fn patch(&self, contact: usize) -> Option<(usize, &[f64])> {
        let p = self.patches.get(self.patch_of[contact])?;
        let order = self.rows * p.count;
        let from = p.at + self.rows * (contact - p.first) * order;
        Some((p.first, &self.patch_data[from..][..self.rows * order]))
    }

    /// `v += Y_c x`: what forces at a contact do to the speeds. Here, in `pull` and in `block` three rows on a free body have code of their own.
    #[inline]
    pub fn push(&self, contact: usize, x: &[f64], v: &mut [f64]) {
        for (s, _, y) in self.segments(contact) {
            let own = &mut v[s.first..][..s.len];
            if let (&[n, t, o], Some(own), [a, b, c]) =
                (x, <&mut [f64; 6]>::try_from(&mut *own).ok(), y.as_chunks::<6>().0)
            {
                (0..6).for_each(|k| own[k] += n * a[k] + t * b[k] + o * c[k]);
                continue;
            }
            for (f, row) in x.iter().zip(y.chunks_exact(s.len)) {
                own.iter_mut().zip(row).for_each(|(v, y)| *v += f * y);
            }
        }
    }

    /// `out += W_c v`: the speeds at a contact.
    #[inline]
    pub fn pull(&self, contact: usize, v: &[f64], out: &mut [f64]) {
        for (s, w, _) in self.segments(contact) {
            let own = &v[s.first..][..s.len];
            if let ([n, t, o], Some(own), [a, b, c]) =
                (&mut *out, <&[f64; 6]>::try_from(own).ok(), w.as_chunks::<6>().0)
            {
                *n += dot6(a, own);
                *t += dot6(b, own);
                *o += dot6(c, own);
                continue;
            }
            for (o, row) in out.iter_mut().zip(w.chunks_exact(s.len)) {
                *o += row.iter().zip(own).map(|(w, v)| w * v).sum::<f64>();
            }
        }
    }

    /// `out += (E^-1 x)_c`.
    pub fn yield_to(&self, contact: usize, x: &[f64], out: &mut [f64]) {
        let Some((first, data)) = self.patch(contact) else { return };
        let order = data.len() / self.rows;
        let own = &x[self.rows * first..][..order];
        out.iter_mut().zip(data.chunks_exact(order)).for_each(|(o, row)| *o += dot(row, own));
    }

    fn times(&self, x: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
        let d = self.rows;
        scratch.clear();
        scratch.resize(self.speeds, 0.0);
        for c in 0..self.contacts() {
            self.push(c, &x[d * c..][..d], scratch);
        }
        out.fill(0.0);
        for c in 0..self.contacts() {
            self.pull(c, scratch, &mut out[d * c..][..d]);
            self.yield_to(c, x, &mut out[d * c..][..d]);
        }
    }

    /// What forces at contact `k` do to the speeds of contact `c`, `rows` x `rows`, row by row.
    pub fn block(&self, c: usize, k: usize, out: &mut [f64]) {
        let d = self.rows;
        out[..d * d].fill(0.0);
        for (s, w, _) in self.segments(c) {
            for (r, _, y) in self.segments(k).filter(|(r, ..)| r.first == s.first) {
                if let ([a, b, c], [e, f, g]) = (w.as_chunks::<6>().0, y.as_chunks::<6>().0)
                    && s.len == 6
                {
                    let products = [a, b, c].map(|w| [dot6(w, e), dot6(w, f), dot6(w, g)]);
                    out.iter_mut().zip(products.as_flattened()).for_each(|(o, p)| *o += p);
                    continue;
                }
                for i in 0..d {
                    for j in 0..d {
                        out[d * i + j] += dot(&w[s.len * i..][..s.len], &y[r.len * j..][..r.len]);
                    }
                }
            }
        }
        let Some((first, data)) = self.patch(c) else { return };
        let order = data.len() / d;
        if self.patch_of[c] == self.patch_of[k] {
            for i in 0..d {
                for j in 0..d {
                    out[d * i + j] += data[order * i + d * (k - first) + j];
                }
            }
        }
    }

    fn to_dense(&self) -> Matrix {
        let mut a = Matrix::default();
        self.write_dense(&mut a);
        a
    }

    /// Every entry, into memory that is used again.
    pub fn write_dense(&self, a: &mut Matrix) {
        let (d, n) = (self.rows, self.contacts());
        a.reset(d * n, d * n);
        let mut block = [0.0; MOST_ROWS * MOST_ROWS];
        for c in 0..n {
            for k in 0..n {
                if !self.meet(c, k) {
                    continue;
                }
                self.block(c, k, &mut block);
                for i in 0..d {
                    a.row_mut(d * c + i)[d * k..][..d].copy_from_slice(&block[d * i..][..d]);
                }
            }
        }
    }

    /// Contacts of the patch of a contact; 0 if it has none.
    pub fn patch_size(&self, contact: usize) -> usize {
        self.patches.get(self.patch_of[contact]).map_or(0, |p| p.count)
    }

    /// Whether two contacts share a group of speeds or a patch.
    pub fn meet(&self, c: usize, k: usize) -> bool {
        let of = |c: usize| &self.segments[self.starts[c]..self.starts[c + 1]];
        of(c).iter().any(|s| of(k).iter().any(|r| r.first == s.first))
            || (self.patch_of[c] == self.patch_of[k] && self.patch_of[c] != usize::MAX)
    }
}

/// Scalar product of the speeds of a free body, in two sums that need not wait for each other.
#[inline]
fn dot6(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    (a[0] * b[0] + a[2] * b[2] + a[4] * b[4]) + (a[1] * b[1] + a[3] * b[3] + a[5] * b[5])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three contacts of two rows: two speeds of one group, three of another, and a patch over the last two.
    fn factored() -> Factored {
        let mut f = Factored::default();
        f.clear(2, 5);
        let mut entry = 0.0;
        for groups in [&[(0, 2)][..], &[(0, 2), (2, 3)], &[(2, 3)]] {
            for &(first, len) in groups {
                let (w, y) = f.segment(first, len);
                for k in 0..2 * len {
                    entry += 1.0;
                    (w[k], y[k]) = (f64::sin(entry), f64::cos(entry));
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
