//! LU factors of a sparse matrix of small square blocks, with a symmetric pattern.
//!
//! Order: minimum degree, exact, on rows of bits. Rows are then eliminated one after another without exchanges (inside a block there are
//! some): for matrices near a symmetric positive definite one. The pattern's analysis is kept and used again for the same pattern.
//!
//! Symbols: node, a block row as the caller counts; place, its turn in the elimination. `U` has the blocks right of the diagonal, `L` those left,
//! with unit diagonal; `inverse` the inverses of the diagonal blocks of `U`.

const NONE: usize = usize::MAX;

/// Factors and their memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockLu {
    nodes: usize,
    /// Words a row of bits.
    words: usize,
    /// Pattern asked for, and the one the analysis is of.
    pattern: Vec<u64>,
    analysed: Vec<u64>,
    graph: Vec<u64>,
    degree: Vec<usize>,
    order: Vec<usize>,
    place: Vec<usize>,
    u: Rows,
    l: Rows,
    inverse: Vec<f64>,
    row: Vec<f64>,
    x: Vec<f64>,
}

/// Blocks in compressed rows, by place.
#[derive(Debug, Clone, Default)]
struct Rows {
    starts: Vec<usize>,
    columns: Vec<usize>,
    data: Vec<f64>,
}

impl Rows {
    fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.columns.clear();
    }

    fn row(&self, k: usize) -> std::ops::Range<usize> {
        self.starts[k]..self.starts[k + 1]
    }

    /// The pattern of the transpose; its columns come out ascending.
    fn transpose_of(&mut self, other: &Self) {
        let n = other.starts.len() - 1;
        self.starts.clear();
        self.starts.resize(n + 2, 0);
        other.columns.iter().for_each(|&k| self.starts[k + 2] += 1);
        (2..n + 2).for_each(|k| self.starts[k] += self.starts[k - 1]);
        self.columns.clear();
        self.columns.resize(other.columns.len(), 0);
        for i in 0..n {
            for &k in &other.columns[other.row(i)] {
                let at = &mut self.starts[k + 1];
                self.columns[*at] = i;
                *at += 1;
            }
        }
        self.starts.pop();
    }
}

/// Blocks with entries to write.
fn blocks_mut<const D: usize>(data: &mut [f64]) -> &mut [[[f64; D]; D]] {
    data.as_chunks_mut::<D>().0.as_chunks_mut::<D>().0
}

fn blocks<const D: usize>(data: &[f64]) -> &[[[f64; D]; D]] {
    data.as_chunks::<D>().0.as_chunks::<D>().0
}

impl BlockLu {
    /// Work of a factorisation, in blocks of the factors.
    pub fn cost(&self) -> usize {
        self.u.columns.len() + self.l.columns.len() + self.nodes
    }

    /// Starts a pattern of `nodes` block rows.
    pub fn begin(&mut self, nodes: usize) {
        self.nodes = nodes;
        self.words = nodes.div_ceil(64);
        self.pattern.clear();
        self.pattern.resize(nodes * self.words, 0);
    }

    /// Says that block `(i, j)` may not be zero (to be said of `(j, i)` too).
    #[inline]
    pub fn connect(&mut self, i: usize, j: usize) {
        self.pattern[i * self.words + j / 64] |= 1 << (j % 64);
    }

    /// Ends the pattern: finds the order and the pattern of the factors.
    pub fn analyse(&mut self) {
        if self.pattern == self.analysed && self.place.len() == self.nodes {
            return;
        }
        self.analysed.clone_from(&self.pattern);
        self.graph.clone_from(&self.pattern);
        let (n, words) = (self.nodes, self.words);
        for i in 0..n {
            // both triangles, no diagonal
            for w in 0..words {
                let mut bits = self.graph[i * words + w];
                while bits != 0 {
                    let j = 64 * w + bits.trailing_zeros() as usize;
                    self.graph[j * words + i / 64] |= 1 << (i % 64);
                    bits &= bits - 1;
                }
            }
        }
        self.degree.clear();
        for i in 0..n {
            self.graph[i * words + i / 64] &= !(1 << (i % 64));
            self.degree.push(self.graph[i * words..][..words].iter().map(|w| w.count_ones() as usize).sum());
        }
        self.order.clear();
        self.place.clear();
        self.place.resize(n, NONE);
        self.u.clear();
        for k in 0..n {
            self.eliminate_least(n - k);
        }
        for column in &mut self.u.columns {
            *column = self.place[*column];
        }
        self.l.transpose_of(&self.u);
        self.u.transpose_of(&self.l);
    }

    /// Eliminates a node of least degree, `left` being left: its neighbours become neighbours of each other.
    fn eliminate_least(&mut self, left: usize) {
        let (n, words) = (self.nodes, self.words);
        let Some(p) = (0..n).filter(|&i| self.place[i] == NONE).min_by_key(|&i| self.degree[i]) else {
            return;
        };
        self.place[p] = self.order.len();
        self.order.push(p);
        let clique = self.degree[p] + 1 == left;
        let first = self.u.columns.len();
        for w in 0..words {
            let mut bits = self.graph[p * words + w];
            while bits != 0 {
                self.u.columns.push(64 * w + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        self.u.starts.push(self.u.columns.len());
        for at in first..self.u.columns.len() {
            let q = self.u.columns[at];
            let mut degree = 0;
            // in a clique all are neighbours already
            if clique {
                degree = left - 2;
            } else {
                for w in 0..words {
                    let other = self.graph[p * words + w];
                    let own = &mut self.graph[q * words + w];
                    *own |= other;
                    degree += own.count_ones() as usize;
                }
                // p and q themselves were counted
                degree -= 2;
                self.graph[q * words + q / 64] &= !(1 << (q % 64));
            }
            self.graph[q * words + p / 64] &= !(1 << (p % 64));
            self.degree[q] = degree;
        }
    }

    /// Factors the matrix whose row of a node is written by `write(node, row, place)`: block `(node, j)` goes to `row[place[j]]`, and only blocks
    /// of the pattern may be touched. False if a diagonal block turns out singular.
    pub fn factor<const D: usize>(
        &mut self,
        mut write: impl FnMut(usize, &mut [[[f64; D]; D]], &[usize]),
    ) -> bool {
        let (n, area) = (self.nodes, D * D);
        self.row.resize(area * n, 0.0);
        self.u.data.resize(area * self.u.columns.len(), 0.0);
        self.l.data.resize(area * self.l.columns.len(), 0.0);
        self.inverse.resize(area * n, 0.0);
        let row = &mut blocks_mut::<D>(&mut self.row)[..n];
        let (u, l) = (blocks_mut::<D>(&mut self.u.data), blocks_mut::<D>(&mut self.l.data));
        let inverse = blocks_mut::<D>(&mut self.inverse);
        for i in 0..n {
            let (left, right) =
                (self.l.starts[i]..self.l.starts[i + 1], self.u.starts[i]..self.u.starts[i + 1]);
            self.l.columns[left.clone()].iter().for_each(|&k| row[k] = [[0.0; D]; D]);
            self.u.columns[right.clone()].iter().for_each(|&k| row[k] = [[0.0; D]; D]);
            row[i] = [[0.0; D]; D];
            write(self.order[i], row, &self.place);
            for at in left {
                let k = self.l.columns[at];
                // L_ik = row_k U_kk^-1;  row -= L_ik U_k
                let factor = times(&row[k], &inverse[k]);
                l[at] = factor;
                let of_k = self.u.starts[k]..self.u.starts[k + 1];
                for (&j, block) in self.u.columns[of_k.clone()].iter().zip(&u[of_k]) {
                    subtract(&mut row[j], &factor, block);
                }
            }
            let Some(found) = inverse_of(row[i]) else { return false };
            inverse[i] = found;
            for at in right {
                u[at] = row[self.u.columns[at]];
            }
        }
        true
    }

    /// Replaces the right-hand side `x`, by node, with the solution.
    pub fn solve<const D: usize>(&mut self, x: &mut [[f64; D]]) {
        let n = self.nodes;
        self.x.resize(D * n, 0.0);
        let y = &mut self.x.as_chunks_mut::<D>().0[..n];
        let (u, l, inverse) =
            (blocks::<D>(&self.u.data), blocks::<D>(&self.l.data), blocks::<D>(&self.inverse));
        for i in 0..n {
            let mut own = x[self.order[i]];
            for at in self.l.row(i) {
                subtract_vector(&mut own, &l[at], &y[self.l.columns[at]]);
            }
            y[i] = own;
        }
        for i in (0..n).rev() {
            let mut own = y[i];
            for at in self.u.row(i) {
                subtract_vector(&mut own, &u[at], &y[self.u.columns[at]]);
            }
            let mut solved = [0.0; D];
            for r in 0..D {
                for c in 0..D {
                    solved[r] += inverse[i][r][c] * own[c];
                }
            }
            y[i] = solved;
            x[self.order[i]] = solved;
        }
    }
}

#[inline]
fn times<const D: usize>(a: &[[f64; D]; D], b: &[[f64; D]; D]) -> [[f64; D]; D] {
    let mut out = [[0.0; D]; D];
    for i in 0..D {
        for k in 0..D {
            for j in 0..D {
                out[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    out
}

/// `out -= a b`.
#[inline]
fn subtract<const D: usize>(out: &mut [[f64; D]; D], a: &[[f64; D]; D], b: &[[f64; D]; D]) {
    for i in 0..D {
        for k in 0..D {
            for j in 0..D {
                out[i][j] -= a[i][k] * b[k][j];
            }
        }
    }
}

#[inline]
fn subtract_vector<const D: usize>(out: &mut [f64; D], a: &[[f64; D]; D], x: &[f64; D]) {
    for i in 0..D {
        for j in 0..D {
            out[i] -= a[i][j] * x[j];
        }
    }
}

/// Gauss-Jordan with row exchanges; `None` if singular.
#[inline]
fn inverse_of<const D: usize>(mut a: [[f64; D]; D]) -> Option<[[f64; D]; D]> {
    let mut inverse = [[0.0; D]; D];
    (0..D).for_each(|i| inverse[i][i] = 1.0);
    for p in 0..D {
        let best = (p..D).max_by(|&i, &j| a[i][p].abs().total_cmp(&a[j][p].abs()))?;
        if !(a[best][p].abs() > 0.0 && a[best][p].is_finite()) {
            return None;
        }
        a.swap(p, best);
        inverse.swap(p, best);
        let scale = 1.0 / a[p][p];
        for j in 0..D {
            a[p][j] *= scale;
            inverse[p][j] *= scale;
        }
        for i in 0..D {
            if i != p {
                let factor = a[i][p];
                for j in 0..D {
                    a[i][j] -= factor * a[p][j];
                    inverse[i][j] -= factor * inverse[p][j];
                }
            }
        }
    }
    Some(inverse)
}
