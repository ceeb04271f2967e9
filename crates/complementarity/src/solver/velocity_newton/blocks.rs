//! LU factors of a sparse matrix of `D` x `D` blocks with a symmetric pattern, its rows padded to `P`
//! entries.
//!
//! Right-looking, in an order of minimum degree; rows are exchanged within a block alone, which suffices near
//! a symmetric positive definite matrix. On x86-64 the same operations run vectorised where the processor
//! allows it, with the same bits.

/// A block of the matrix.
pub(super) type Block<const D: usize, const P: usize> = [[f64; P]; D];

/// A matrix and then its factors (with inverse blocks on the diagonal), and the order of elimination.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks<const D: usize, const P: usize> {
    /// Nodes in the order of elimination, and the place of each node in it.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Later places that the column of place `j` couples to, ascending: `rows[starts[j]..starts[j + 1]]`.
    rows: Vec<u32>,
    starts: Vec<usize>,
    /// Address of the block of each pair of rows of each column, the outer loop over the first of the pair.
    targets: Vec<u32>,
    /// Neighbours of each node among the nodes that are not yet eliminated.
    near: Vec<Vec<u32>>,
    left: Vec<u32>,
    marks: Vec<usize>,
    /// Blocks on the diagonal by place, then those below it by column, then those right of it by row.
    data: Vec<Block<D, P>>,
    x: Vec<[f64; D]>,
}

impl<const D: usize, const P: usize> Blocks<D, P> {
    /// Computes the order of elimination and the pattern for `nodes` and the pairs of them that are coupled.
    pub fn analyse(&mut self, nodes: usize, pairs: impl Iterator<Item = [u32; 2]>) {
        self.near.resize(nodes.max(self.near.len()), vec![]);
        for [a, b] in pairs.filter(|[a, b]| a != b) {
            self.near[a as usize].push(b);
            self.near[b as usize].push(a);
        }
        for near in &mut self.near {
            near.sort_unstable();
            near.dedup();
        }
        self.eliminate(nodes);
        // the lists are empty now: each gets the capacity of the largest, since another node may need it next
        // time
        let most = self.near.iter().map(Vec::capacity).max().unwrap_or(0).min(MOST_ROOM);
        self.near.iter_mut().for_each(|near| near.reserve_exact(most));
        self.targets.clear();
        for j in 0..nodes {
            let own = &self.rows[self.starts[j]..self.starts[j + 1]];
            for (k, &column) in own.iter().enumerate() {
                // both ascend
                let (mut at, end) = (self.starts[column as usize], self.starts[column as usize + 1]);
                for &row in &own[k + 1..] {
                    at += self.rows[at..end].iter().take_while(|&&other| other != row).count();
                    self.targets.push(at as u32);
                }
            }
        }
    }

    /// Eliminates the node with the fewest neighbours next; they become neighbours of each other.
    fn eliminate(&mut self, nodes: usize) {
        let Self { order, place, rows, starts, near, left, marks, .. } = self;
        left.clear();
        left.extend(0..nodes as u32);
        // a mark is the number of the list that contains the node
        let mut stamp = 0;
        marks.clear();
        marks.resize(nodes, stamp);
        place.clear();
        place.resize(nodes, 0);
        order.clear();
        rows.clear();
        starts.clear();
        starts.push(0);
        while let Some(at) = (0..left.len()).min_by_key(|&k| near[left[k] as usize].len()) {
            let node = left.swap_remove(at);
            place[node as usize] = order.len() as u32;
            order.push(node);
            let first = rows.len();
            rows.append(&mut near[node as usize]);
            for &i in &rows[first..] {
                stamp += 1;
                let own = &mut near[i as usize];
                own.retain(|&k| k != node);
                own.iter().for_each(|&k| marks[k as usize] = stamp);
                marks[i as usize] = stamp;
                own.extend(rows[first..].iter().filter(|&&k| marks[k as usize] != stamp));
            }
            starts.push(rows.len());
        }
        for j in 0..nodes {
            let own = &mut rows[starts[j]..starts[j + 1]];
            own.iter_mut().for_each(|b| *b = place[*b as usize]);
            own.sort_unstable();
        }
    }

    /// Address of block `(row, column)` of two nodes, which must be in the pattern.
    pub fn address(&self, row: u32, column: u32) -> u32 {
        let [i, j] = [row, column].map(|b| self.place[b as usize]);
        if i == j {
            return i;
        }
        let (first, end) = (self.starts[i.min(j) as usize], self.starts[i.min(j) as usize + 1]);
        let at = first + self.rows[first..end].partition_point(|&other| other < i.max(j));
        let before = self.order.len() + if i > j { 0 } else { self.rows.len() };
        (before + at) as u32
    }

    /// Sets the matrix to the identity, for terms to be added to.
    pub fn reset(&mut self) -> &mut [Block<D, P>] {
        let n = self.order.len();
        self.data.clear();
        self.data.resize(n + 2 * self.rows.len(), [[0.0; P]; D]);
        self.data[..n].iter_mut().for_each(|block| (0..D).for_each(|i| block[i][i] = 1.0));
        &mut self.data
    }

    /// Factors in place; returns false if a block on the diagonal is singular.
    pub fn factor(&mut self) -> bool {
        vectorised(
            #[inline(always)]
            || self.factor_plain(),
        )
    }

    #[inline(always)]
    fn factor_plain(&mut self) -> bool {
        let Self { order, rows, starts, targets, data, .. } = self;
        let (diagonal, lower, upper) = split(data, order.len(), rows.len());
        let mut targets = targets.iter();
        for j in 0..diagonal.len() {
            let Some(inverse) = inverse(&diagonal[j]) else { return false };
            diagonal[j] = inverse;
            let (first, end) = (starts[j], starts[j + 1]);
            for k in first..end {
                let given = std::mem::replace(&mut lower[k], [[0.0; P]; D]);
                subtract_product(&mut lower[k], &given, &inverse);
                lower[k].iter_mut().flatten().for_each(|l| *l = -*l);
                subtract_product(&mut diagonal[rows[k] as usize], &lower[k], &upper[k]);
            }
            // columns of these rows come later
            let (own_lower, later_lower) = lower.split_at_mut(end);
            let (own_upper, later_upper) = upper.split_at_mut(end);
            for k in first..end {
                for (later, &target) in (k + 1..end).zip(&mut targets) {
                    let at = target as usize - end;
                    subtract_product(&mut later_lower[at], &own_lower[later], &own_upper[k]);
                    subtract_product(&mut later_upper[at], &own_lower[k], &own_upper[later]);
                }
            }
        }
        true
    }

    /// Solves in place by the factors: `x := (matrix)^-1 x`, by node.
    pub fn solve(&mut self, x: &mut [[f64; D]]) {
        let Self { order, rows, starts, data, x: y, .. } = self;
        let (diagonal, lower, upper) = split(data, order.len(), rows.len());
        y.clear();
        y.extend(order.iter().map(|&b| x[b as usize]));
        let subtract = |from: &mut [f64; D], a: &Block<D, P>, z: &[f64; D]| {
            (0..D).for_each(|i| from[i] -= (0..D).map(|m| a[i][m] * z[m]).sum::<f64>());
        };
        for j in 0..order.len() {
            let z = y[j];
            for k in starts[j]..starts[j + 1] {
                subtract(&mut y[rows[k] as usize], &lower[k], &z);
            }
        }
        for j in (0..order.len()).rev() {
            let mut z = y[j];
            for k in starts[j]..starts[j + 1] {
                subtract(&mut z, &upper[k], &y[rows[k] as usize]);
            }
            y[j] = std::array::from_fn(|i| (0..D).map(|m| diagonal[j][i][m] * z[m]).sum());
        }
        order.iter().zip(y).for_each(|(&b, y)| x[b as usize] = *y);
    }

    /// Number of block operations of one factorisation, as a measure of its work.
    pub fn work(&self) -> usize {
        self.order.len() + 2 * (self.rows.len() + self.targets.len())
    }
}

/// Largest number of neighbours for which each node reserves memory in advance.
const MOST_ROOM: usize = 1000;

/// Splits blocks into those on the diagonal, those below it and those right of it.
fn split<T>(data: &mut [T], nodes: usize, pairs: usize) -> (&mut [T], &mut [T], &mut [T]) {
    let (diagonal, rest) = data.split_at_mut(nodes);
    let (lower, upper) = rest.split_at_mut(pairs);
    (diagonal, lower, upper)
}

/// Runs `work` with the vector instructions of the processor (SIMD), where it has them. Only code that is
/// inlined into `work` profits.
#[inline]
pub(super) fn vectorised<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(work);
    }
    work()
}

/// `c -= a b`.
#[inline(always)]
fn subtract_product<const D: usize, const P: usize>(c: &mut Block<D, P>, a: &Block<D, P>, b: &Block<D, P>) {
    for i in 0..D {
        let mut row = c[i];
        for k in 0..D {
            let factor = a[i][k];
            for j in 0..P {
                row[j] -= factor * b[k][j];
            }
        }
        c[i] = row;
    }
}

/// Inverts a block by Gauss-Jordan elimination with row exchanges; `None` if it is singular.
#[inline(always)]
fn inverse<const D: usize, const P: usize>(a: &Block<D, P>) -> Option<Block<D, P>> {
    let (mut a, mut x) = (*a, [[0.0; P]; D]);
    (0..D).for_each(|i| x[i][i] = 1.0);
    for k in 0..D {
        let mut best = k;
        for i in k + 1..D {
            if a[i][k].abs() > a[best][k].abs() {
                best = i;
            }
        }
        let pivot = a[best][k];
        if !(pivot.abs() > 0.0 && pivot.is_finite()) {
            return None;
        }
        a.swap(k, best);
        x.swap(k, best);
        let scale = 1.0 / pivot;
        for j in 0..P {
            a[k][j] *= scale;
            x[k][j] *= scale;
        }
        for i in 0..D {
            if i != k {
                let factor = a[i][k];
                for j in 0..P {
                    a[i][j] -= factor * a[k][j];
                    x[i][j] -= factor * x[k][j];
                }
            }
        }
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring<const D: usize, const P: usize>(nodes: u32) {
        let pairs = || (0..nodes).map(move |k| [k, (k * k + 1) % nodes]).filter(|[a, b]| a != b);
        let mut blocks = Blocks::<D, P>::default();
        blocks.analyse(nodes as usize, pairs());
        let entry = |i: usize, j: usize| ((i * 7 + j * 13) % 11) as f64 / 20.0;
        let n = D * nodes as usize;
        let mut dense = vec![vec![0.0; n]; n];
        (0..n).for_each(|i| dense[i][i] = 1.0);
        blocks.reset();
        for [a, b] in pairs() {
            for (row, column) in [(a, b), (b, a), (a, a), (b, b)] {
                let at = blocks.address(row, column) as usize;
                for i in 0..D {
                    for j in 0..D {
                        let (r, c) = (D * row as usize + i, D * column as usize + j);
                        let x = entry(r, c) + if r == c { 9.0 } else { 0.0 };
                        blocks.data[at][i][j] += x;
                        dense[r][c] += x;
                    }
                }
            }
        }
        assert!(blocks.factor());
        let x: Vec<[f64; D]> =
            (0..nodes as usize).map(|k| std::array::from_fn(|i| f64::sin((D * k + i) as f64))).collect();
        let flat = x.as_flattened();
        let product: Vec<f64> =
            dense.iter().map(|row| row.iter().zip(flat).map(|(a, x)| a * x).sum()).collect();
        let mut found: Vec<[f64; D]> = product.as_chunks::<D>().0.to_vec();
        blocks.solve(&mut found);
        let error = found.as_flattened().iter().zip(flat).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(error < 1e-12, "{nodes} nodes of {D}: {error:e}");
    }

    #[test]
    fn factors_solve_the_matrix_they_were_made_of() {
        for nodes in [1, 2, 7, 30] {
            ring::<3, 4>(nodes);
            ring::<6, 8>(nodes);
        }
    }

    #[test]
    fn a_singular_matrix_is_reported() {
        let mut blocks = Blocks::<3, 4>::default();
        blocks.analyse(1, std::iter::empty());
        blocks.reset()[0] = [[1.0; 4]; 3];
        assert!(!blocks.factor());
    }
}
