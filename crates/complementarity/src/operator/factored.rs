//! `A = c W W' + E^-1` by its factors: what contacts see of bodies, and the patches between contacts.

use super::MOST_ROWS;
use crate::matrix::{Matrix, dot};

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

/// What a contact sees of one group of speeds (a body, a tree): `rows` x `len` entries of `W`.
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

/// `A = c W W' + E^-1`: `c W` maps speeds to contact speeds, and `W'` contact forces to speeds. These speeds are those in which masses are one: with
/// `M = H' H`, `H v`; so that `W = J H^-1` where `J v` are the contact speeds. Segments of different groups do not overlap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Factored {
    pub(super) rows: usize,
    speeds: usize,
    c: f64,
    starts: Vec<usize>,
    segments: Vec<Segment>,
    w: Vec<f64>,
    patches: Vec<Patch>,
    /// Patch of each contact; `usize::MAX` if it has none.
    patch_of: Vec<usize>,
    patch_data: Vec<f64>,
}

impl Factored {
    /// Forgets everything but its memory.
    pub fn clear(&mut self, rows: usize, speeds: usize, c: f64) {
        (self.rows, self.speeds, self.c) = (rows, speeds, c);
        self.starts.clear();
        self.starts.push(0);
        self.segments.clear();
        self.w.clear();
        self.patches.clear();
        self.patch_of.clear();
        self.patch_data.clear();
    }

    /// Adds a segment to the contact being made: its entries of `W`, all zero, `rows` rows of `len`.
    pub fn segment(&mut self, first: usize, len: usize) -> &mut [f64] {
        let at = self.w.len();
        self.segments.push(Segment { first, len, at });
        self.w.resize(at + self.rows * len, 0.0);
        &mut self.w[at..]
    }

    /// As [`segment`](Self::segment) with entries, for three rows on a free body.
    pub fn free_body(&mut self, first: usize, w: &[[f64; 6]; 3]) {
        self.segments.push(Segment { first, len: 6, at: self.w.len() });
        self.w.extend_from_slice(w.as_flattened());
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

    /// `c`.
    pub fn share(&self) -> f64 {
        self.c
    }

    /// Segments of a contact, each with its entries of `W`, row by row.
    pub fn segments(&self, contact: usize) -> impl Iterator<Item = (Segment, &[f64])> {
        let segments = &self.segments[self.starts[contact]..self.starts[contact + 1]];
        segments.iter().map(|&s| (s, &self.w[s.at..][..self.rows * s.len]))
    }

    /// The rows of `E^-1` of a contact, from the first row of its patch on, and that patch's first contact. `None`
    /// if it has no patch.
    pub fn patch(&self, contact: usize) -> Option<(usize, &[f64])> {
        let p = self.patches.get(self.patch_of[contact])?;
        let order = self.rows * p.count;
        let from = p.at + self.rows * (contact - p.first) * order;
        Some((p.first, &self.patch_data[from..][..self.rows * order]))
    }

    /// `E^-1` of a contact that deforms alone and along each row by itself, the diagonal; zero if it is rigid. `None` of others.
    pub fn compliance_alone<const D: usize>(&self, contact: usize) -> Option<[f64; D]> {
        let Some((_, e)) = self.patch(contact) else { return Some([0.0; D]) };
        let diagonal = |k: usize| k.is_multiple_of(D + 1);
        let alone = e.len() == D * D && (0..D * D).all(|k| diagonal(k) || e[k] == 0.0);
        alone.then(|| std::array::from_fn(|i| e[(D + 1) * i]))
    }

    /// `v += W_k' x`: what forces at contact `k` do to the speeds. Here, in `pull` and in `block` three rows on a free body have code of their own.
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

    /// `out += c W_k v`: the speeds at contact `k`.
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
        let order = data.len() / self.rows;
        let own = &x[self.rows * first..][..order];
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
        for (s, own) in self.segments(c) {
            for (_, other) in self.segments(k).filter(|(r, _)| r.first == s.first) {
                if let ([a, b, c], [e, f, g]) = (own.as_chunks::<6>().0, other.as_chunks::<6>().0)
                    && s.len == 6
                {
                    let products = [a, b, c].map(|w| [dot6(w, e), dot6(w, f), dot6(w, g)]);
                    out.iter_mut().zip(products.as_flattened()).for_each(|(o, p)| *o += self.c * p);
                    continue;
                }
                for i in 0..d {
                    for j in 0..d {
                        out[d * i + j] +=
                            self.c * dot(&own[s.len * i..][..s.len], &other[s.len * j..][..s.len]);
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

    /// What forces at a contact do to its own speeds.
    pub(super) fn diagonal(&self, contact: usize, out: &mut [f64]) {
        let alone = self.patch(contact).is_none_or(|(_, e)| e.len() == 9);
        if !(self.rows == 3 && alone && self.segments(contact).all(|(s, _)| s.len == 6)) {
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

    pub(super) fn to_dense(&self) -> Matrix {
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

    pub(super) fn is_finite(&self) -> bool {
        self.c.is_finite()
            && [&self.w, &self.patch_data].iter().all(|list| list.iter().all(|x| x.is_finite()))
    }

    /// The contacts of the patch of a contact; none if it has no patch.
    pub fn patch_contacts(&self, contact: usize) -> std::ops::Range<usize> {
        self.patches.get(self.patch_of[contact]).map_or(0..0, |p| p.first..p.first + p.count)
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
