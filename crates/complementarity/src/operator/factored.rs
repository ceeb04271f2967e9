//! `A = c W W' + E^-1` by its factors: what elements see of bodies, and the patches between elements.

use super::MOST_ROWS;
use crate::matrix::{Matrix, dot};

/// Which elements see which group of velocities.
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    /// By first velocity of the group: where its elements begin.
    starts: Vec<usize>,
    elements: Vec<usize>,
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
        self.elements.clear();
        self.elements.resize(a.segments.len(), 0);
        for c in 0..a.elements() {
            for s in &a.segments[a.starts[c]..a.starts[c + 1]] {
                let at = &mut self.starts[s.first + 1];
                self.elements[*at] = c;
                *at += 1;
            }
        }
    }

    /// Elements that see the group whose first velocity is `first`, ascending.
    pub fn elements_of(&self, first: usize) -> &[usize] {
        &self.elements[self.starts[first]..self.starts[first + 1]]
    }
}

/// What an element sees of one group of velocities (a body, a tree): its rows x `len` entries of `W`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// First velocity of the group.
    pub first: usize,
    /// Number of velocities.
    pub len: usize,
    at: usize,
}

/// A dense block of `E^-1` over neighbouring elements (those of a patch).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Patch {
    first: usize,
    count: usize,
    /// Rows of all its elements.
    order: usize,
    at: usize,
}

/// `A = c W W' + E^-1`: `c W` maps velocities of bodies to those of elements, and `W'` forces to velocities of bodies. The latter are those in which masses are
/// one: with `M = H' H`, `H v`; so that `W = J H^-1` where `J v` are the velocities of the elements. Segments of different groups do not overlap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Factored {
    /// First row of each element, and the number of rows.
    offsets: Vec<usize>,
    speeds: usize,
    c: f64,
    starts: Vec<usize>,
    segments: Vec<Segment>,
    w: Vec<f64>,
    patches: Vec<Patch>,
    /// Patch of each element; `usize::MAX` if it has none.
    patch_of: Vec<usize>,
    patch_data: Vec<f64>,
}

impl Factored {
    /// Forgets everything but its memory.
    pub fn clear(&mut self, speeds: usize, c: f64) {
        (self.speeds, self.c) = (speeds, c);
        self.offsets.clear();
        self.offsets.push(0);
        self.starts.clear();
        self.starts.push(0);
        self.segments.clear();
        self.w.clear();
        self.patches.clear();
        self.patch_of.clear();
        self.patch_data.clear();
    }

    /// Begins the next element, of so many rows; its segments follow.
    pub fn begin(&mut self, rows: usize) {
        self.offsets.push(self.size() + rows);
        self.starts.push(self.segments.len());
        self.patch_of.push(usize::MAX);
    }

    /// Adds a segment to the element begun last: its entries of `W`, all zero, one row of `len` for each of its rows.
    pub fn segment(&mut self, first: usize, len: usize) -> &mut [f64] {
        let (at, own) = (self.w.len(), self.elements() - 1);
        self.segments.push(Segment { first, len, at });
        self.starts[own + 1] += 1;
        self.w.resize(at + self.rows(own) * len, 0.0);
        &mut self.w[at..]
    }

    /// As [`segment`](Self::segment) with entries, for three rows on a free body.
    pub fn free_body(&mut self, first: usize, w: &[[f64; 6]; 3]) {
        let own = self.elements() - 1;
        self.segments.push(Segment { first, len: 6, at: self.w.len() });
        self.starts[own + 1] += 1;
        self.w.extend_from_slice(w.as_flattened());
    }

    /// Adds a block of `E^-1` over elements `first..`, which must be there and in no other patch.
    pub fn add_patch(&mut self, first: usize, e_inv: &Matrix) {
        self.patch_rows(first, e_inv.rows()).copy_from_slice(e_inv.data());
    }

    /// The same, all zero, of this order; its entries are to be written, row by row.
    pub(crate) fn patch_rows(&mut self, first: usize, order: usize) -> &mut [f64] {
        let end = self.offsets[first] + order;
        let count = self.offsets[first..].partition_point(|&row| row < end);
        self.patch_of[first..first + count].fill(self.patches.len());
        let at = self.patch_data.len();
        self.patches.push(Patch { first, count, order, at });
        self.patch_data.resize(at + order * order, 0.0);
        &mut self.patch_data[at..]
    }

    /// First row of each element, and the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Order of `A`.
    pub fn size(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Rows of an element.
    #[inline]
    pub fn rows(&self, element: usize) -> usize {
        self.offsets[element + 1] - self.offsets[element]
    }

    /// Number of velocities.
    pub fn speeds(&self) -> usize {
        self.speeds
    }

    /// `c`.
    pub fn share(&self) -> f64 {
        self.c
    }

    /// Segments of an element, each with its entries of `W`, row by row.
    #[inline]
    pub fn segments(&self, element: usize) -> impl Iterator<Item = (Segment, &[f64])> {
        let segments = &self.segments[self.starts[element]..self.starts[element + 1]];
        let rows = self.rows(element);
        segments.iter().map(move |&s| (s, &self.w[s.at..][..rows * s.len]))
    }

    /// The rows of `E^-1` of an element, from the first row of its patch on, and that row. `None` if it has no patch.
    #[inline]
    pub fn patch(&self, element: usize) -> Option<(usize, &[f64])> {
        let p = self.patches.get(self.patch_of[element])?;
        let first = self.offsets[p.first];
        let from = p.at + (self.offsets[element] - first) * p.order;
        Some((first, &self.patch_data[from..][..self.rows(element) * p.order]))
    }

    /// `E^-1` of an element that deforms alone and along each row by itself, the diagonal; zero if it is rigid. `None` of others.
    pub fn compliance_alone<const D: usize>(&self, element: usize) -> Option<[f64; D]> {
        let Some((_, e)) = self.patch(element) else { return Some([0.0; D]) };
        let diagonal = |k: usize| k.is_multiple_of(D + 1);
        let alone = e.len() == D * D && (0..D * D).all(|k| diagonal(k) || e[k] == 0.0);
        alone.then(|| std::array::from_fn(|i| e[(D + 1) * i]))
    }

    /// `v += W_k' x`: what forces of element `k` do to the velocities of bodies. Here, in `pull` and in `block` three rows on a free body have code of their own.
    #[inline]
    pub fn push(&self, contact: usize, x: &[f64], v: &mut [f64]) {
        for (s, w) in self.segments(contact) {
            let own = &mut v[s.first..][..s.len];
            if let (&[n, t, o], Some(own), [a, b, c]) =
                (x, <&mut [f64; 6]>::try_from(&mut *own).ok(), w.as_chunks::<6>().0)
            {
                (0..6).for_each(|k| own[k] += n * a[k] + t * b[k] + o * c[k]);
                continue;
            }
            for (f, row) in x.iter().zip(w.chunks_exact(s.len)) {
                own.iter_mut().zip(row).for_each(|(v, w)| *v += f * w);
            }
        }
    }

    /// `out += c W_k v`: the velocities of element `k`.
    #[inline]
    pub fn pull(&self, contact: usize, v: &[f64], out: &mut [f64]) {
        for (s, w) in self.segments(contact) {
            let own = &v[s.first..][..s.len];
            if let ([n, t, o], Some(own), [a, b, c]) =
                (&mut *out, <&[f64; 6]>::try_from(own).ok(), w.as_chunks::<6>().0)
            {
                *n += self.c * dot6(a, own);
                *t += self.c * dot6(b, own);
                *o += self.c * dot6(c, own);
                continue;
            }
            for (o, row) in out.iter_mut().zip(w.chunks_exact(s.len)) {
                *o += self.c * row.iter().zip(own).map(|(w, v)| w * v).sum::<f64>();
            }
        }
    }

    /// `out += (E^-1 x)_c`.
    pub fn yield_to(&self, contact: usize, x: &[f64], out: &mut [f64]) {
        let Some((first, data)) = self.patch(contact) else { return };
        let order = data.len() / self.rows(contact);
        let own = &x[first..][..order];
        if let (&[n, t, o], [a, b, c]) = (own, data.as_chunks::<3>().0)
            && let [into_n, into_t, into_o] = out
        {
            *into_n += a[0] * n + a[1] * t + a[2] * o;
            *into_t += b[0] * n + b[1] * t + b[2] * o;
            *into_o += c[0] * n + c[1] * t + c[2] * o;
            return;
        }
        out.iter_mut().zip(data.chunks_exact(order)).for_each(|(o, row)| *o += dot(row, own));
    }

    pub(super) fn times(&self, x: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
        scratch.clear();
        scratch.resize(self.speeds, 0.0);
        for c in 0..self.elements() {
            self.push(c, &x[self.offsets[c]..self.offsets[c + 1]], scratch);
        }
        out.fill(0.0);
        for c in 0..self.elements() {
            let own = &mut out[self.offsets[c]..self.offsets[c + 1]];
            self.pull(c, scratch, own);
            self.yield_to(c, x, own);
        }
    }

    /// `out = c |W| |W'| |x| + |E^-1| |x|`.
    pub(super) fn absolute_times(&self, x: &[f64], out: &mut [f64], scratch: &mut Vec<f64>) {
        scratch.clear();
        scratch.resize(self.speeds, 0.0);
        for c in 0..self.elements() {
            let own = &x[self.offsets[c]..self.offsets[c + 1]];
            for (s, w) in self.segments(c).filter(|_| own.iter().any(|f| *f != 0.0)) {
                let v = &mut scratch[s.first..][..s.len];
                for (f, row) in own.iter().zip(w.chunks_exact(s.len)) {
                    v.iter_mut().zip(row).for_each(|(v, w)| *v += (f * w).abs());
                }
            }
        }
        for c in 0..self.elements() {
            let own = &mut out[self.offsets[c]..self.offsets[c + 1]];
            own.fill(0.0);
            for (s, w) in self.segments(c) {
                let v = &scratch[s.first..][..s.len];
                for (o, row) in own.iter_mut().zip(w.chunks_exact(s.len)) {
                    *o += self.c * row.iter().zip(v).map(|(w, v)| w.abs() * v).sum::<f64>();
                }
            }
            let Some((first, data)) = self.patch(c) else { continue };
            let order = data.len() / own.len();
            let from = &x[first..][..order];
            for (o, row) in own.iter_mut().zip(data.chunks_exact(order)) {
                *o += row.iter().zip(from).map(|(e, x)| (e * x).abs()).sum::<f64>();
            }
        }
    }

    /// What forces at element `k` do to the velocities of element `c`, row by row.
    pub fn block(&self, c: usize, k: usize, out: &mut [f64]) {
        let (rows, width) = (self.rows(c), self.rows(k));
        out[..rows * width].fill(0.0);
        for (s, own) in self.segments(c) {
            for (_, other) in self.segments(k).filter(|(r, _)| r.first == s.first) {
                if let ([a, b, c], [e, f, g]) = (own.as_chunks::<6>().0, other.as_chunks::<6>().0)
                    && s.len == 6
                {
                    let products = [a, b, c].map(|w| [dot6(w, e), dot6(w, f), dot6(w, g)]);
                    out.iter_mut().zip(products.as_flattened()).for_each(|(o, p)| *o += self.c * p);
                    continue;
                }
                for i in 0..rows {
                    for j in 0..width {
                        out[width * i + j] +=
                            self.c * dot(&own[s.len * i..][..s.len], &other[s.len * j..][..s.len]);
                    }
                }
            }
        }
        let Some((first, data)) = self.patch(c) else { return };
        if self.patch_of[c] == self.patch_of[k] {
            let (order, from) = (data.len() / rows, self.offsets[k] - first);
            for i in 0..rows {
                for j in 0..width {
                    out[width * i + j] += data[order * i + from + j];
                }
            }
        }
    }

    /// What forces of an element do to its own velocities.
    pub(super) fn diagonal(&self, contact: usize, out: &mut [f64]) {
        let alone = self.patch(contact).is_none_or(|(_, e)| e.len() == 9);
        if !(self.rows(contact) == 3 && alone && self.segments(contact).all(|(s, _)| s.len == 6)) {
            return self.block(contact, contact, out);
        }
        let mut sum = [0.0; 6];
        for (_, w) in self.segments(contact) {
            let [n, t, o] = w.as_chunks().0 else { continue };
            let products = [dot6(n, n), dot6(n, t), dot6(n, o), dot6(t, t), dot6(t, o), dot6(o, o)];
            (0..6).for_each(|k| sum[k] += products[k]);
        }
        let [nn, nt, no, tt, to, oo] = sum.map(|s| self.c * s);
        out.copy_from_slice(&[nn, nt, no, nt, tt, to, no, to, oo]);
        let compliance = self.patch(contact).into_iter().flat_map(|(_, e)| e);
        out.iter_mut().zip(compliance).for_each(|(o, e)| *o += e);
    }

    /// The diagonal entries of an element.
    pub(super) fn diagonal_entries(&self, element: usize, out: &mut [f64]) {
        out.fill(0.0);
        for (s, w) in self.segments(element) {
            if let (6, [a, b, c], [n, t, o]) = (s.len, w.as_chunks().0, &mut *out) {
                *n += self.c * dot6(a, a);
                *t += self.c * dot6(b, b);
                *o += self.c * dot6(c, c);
                continue;
            }
            out.iter_mut().zip(w.chunks_exact(s.len)).for_each(|(o, w)| *o += self.c * dot(w, w));
        }
        let Some((first, data)) = self.patch(element) else { return };
        let (order, own) = (data.len() / out.len(), self.offsets[element] - first);
        out.iter_mut().enumerate().for_each(|(i, o)| *o += data[(order + 1) * i + own]);
    }

    pub(super) fn to_dense(&self) -> Matrix {
        let mut a = Matrix::default();
        self.write_dense(&mut a);
        a
    }

    /// Every entry, into memory that is used again.
    pub fn write_dense(&self, a: &mut Matrix) {
        let n = self.elements();
        a.reset(self.size(), self.size());
        let mut block = [0.0; MOST_ROWS * MOST_ROWS];
        for c in 0..n {
            for k in 0..n {
                if !self.meet(c, k) {
                    continue;
                }
                self.block(c, k, &mut block);
                let columns = self.offsets[k]..self.offsets[k + 1];
                for (i, row) in (self.offsets[c]..self.offsets[c + 1]).zip(block.chunks(columns.len())) {
                    a.row_mut(i)[columns.clone()].copy_from_slice(row);
                }
            }
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        self.c.is_finite()
            && [&self.w, &self.patch_data].iter().all(|list| list.iter().all(|x| x.is_finite()))
    }

    /// The elements of the patch of an element; none if it has no patch.
    pub fn patch_elements(&self, element: usize) -> std::ops::Range<usize> {
        self.patches.get(self.patch_of[element]).map_or(0..0, |p| p.first..p.first + p.count)
    }

    /// Whether two elements share a group of velocities or a patch.
    pub fn meet(&self, c: usize, k: usize) -> bool {
        let of = |c: usize| &self.segments[self.starts[c]..self.starts[c + 1]];
        of(c).iter().any(|s| of(k).iter().any(|r| r.first == s.first))
            || (self.patch_of[c] == self.patch_of[k] && self.patch_of[c] != usize::MAX)
    }
}

/// Scalar product of the velocities of a free body, in two sums that need not wait for each other.
#[inline]
fn dot6(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    (a[0] * b[0] + a[2] * b[2] + a[4] * b[4]) + (a[1] * b[1] + a[3] * b[3] + a[5] * b[5])
}
