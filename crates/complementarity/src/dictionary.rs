//! A dense pivoting dictionary: the arithmetic shared by Lemke's method and the simplex.
//!
//! Rows are basic variables, columns nonbasic ones: `x_row = constant + sum_j entry_j x_column_j`.
//! Rows are contiguous: constant first, then the columns, padded to whole vector registers. A pivot is a
//! rank-one update, O(rows * columns), that allocates nothing and skips rows it does not touch.

/// See the module's head. Variables are numbered by the caller.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dictionary {
    data: Vec<f64>,
    /// Scratch: the pivot column before the pivot, the pivot row after it.
    column: Vec<f64>,
    pivot_row: Vec<f64>,
    rows: usize,
    columns: usize,
    stride: usize,
    /// Variable of each row.
    pub basic: Vec<usize>,
    /// Variable of each column.
    pub nonbasic: Vec<usize>,
    /// Row or column of each variable.
    place: Vec<usize>,
}

/// Doubles to two 256-bit registers. (512-bit ones bring nothing here: they take microseconds to wake up, and
/// larger dictionaries wait for memory.)
const LANES: usize = 8;

impl Dictionary {
    /// Makes room, all zero; allocates only when it grows. Basic variables are `0..rows`, nonbasic ones
    /// `rows..rows + columns`.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        self.rows = rows;
        self.columns = columns;
        self.stride = (columns + 1).next_multiple_of(LANES);
        self.data.clear();
        self.data.resize(rows * self.stride, 0.0);
        self.column.clear();
        self.column.resize(rows, 0.0);
        self.basic.clear();
        self.basic.extend(0..rows);
        self.nonbasic.clear();
        self.nonbasic.extend(rows..rows + columns);
        self.place.clear();
        self.place.extend((0..rows).chain(0..columns));
    }

    /// Becomes a copy; allocates only when it grows.
    pub fn copy_from(&mut self, other: &Self) {
        self.data.clone_from(&other.data);
        self.column.clone_from(&other.column);
        (self.rows, self.columns, self.stride) = (other.rows, other.columns, other.stride);
        self.basic.clone_from(&other.basic);
        self.nonbasic.clone_from(&other.nonbasic);
        self.place.clone_from(&other.place);
    }

    /// Row of a basic variable.
    #[inline]
    pub fn row_of(&self, variable: usize) -> Option<usize> {
        let at = self.place[variable];
        (self.basic.get(at) == Some(&variable)).then_some(at)
    }

    /// Column of a nonbasic variable.
    #[inline]
    pub fn column_of(&self, variable: usize) -> Option<usize> {
        let at = self.place[variable];
        (self.nonbasic.get(at) == Some(&variable)).then_some(at)
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    #[inline]
    pub fn constant(&self, row: usize) -> f64 {
        self.data[row * self.stride]
    }

    #[inline]
    pub fn set_constant(&mut self, row: usize, value: f64) {
        self.data[row * self.stride] = value;
    }

    #[inline]
    pub fn entry(&self, row: usize, column: usize) -> f64 {
        debug_assert!(column < self.columns);
        self.data[row * self.stride + 1 + column]
    }

    /// The columns' entries of a row.
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.data[row * self.stride + 1..][..self.columns]
    }

    /// The columns' entries of a row.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.data[row * self.stride + 1..][..self.columns]
    }

    /// Copies out the constants and one column.
    pub fn gather(&self, column: usize, constants: &mut Vec<f64>, entries: &mut Vec<f64>) {
        constants.resize(self.rows, 0.0);
        entries.resize(self.rows, 0.0);
        let rows = self.data.chunks_exact(self.stride);
        for ((c, e), row) in constants.iter_mut().zip(entries.iter_mut()).zip(rows) {
            *c = row[0];
            *e = row[1 + column];
        }
    }

    /// Exchanges the basic variable of `row` with the nonbasic one of `column`. The entry must not
    /// be zero.
    pub fn pivot(&mut self, row: usize, column: usize) {
        let (stride, at) = (self.stride, 1 + column);
        for (c, row) in self.column.iter_mut().zip(self.data.chunks_exact_mut(stride)) {
            *c = std::mem::take(&mut row[at]);
        }
        let inverse = 1.0 / std::mem::take(&mut self.column[row]);
        debug_assert!(inverse.is_finite(), "pivot on a zero entry");
        let pivot_row = &mut self.data[row * stride..][..stride];
        for x in pivot_row.iter_mut() {
            *x *= -inverse;
        }
        pivot_row[at] = inverse;
        self.pivot_row.clear();
        self.pivot_row.extend_from_slice(pivot_row);
        add_multiples(&mut self.data, &self.column, &self.pivot_row);
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
        self.place[self.basic[row]] = row;
        self.place[self.nonbasic[column]] = column;
    }
}

/// `block_i += factor_i * row` for every row of `block`.
fn add_multiples(block: &mut [f64], factors: &[f64], row: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the features were just detected.
            #[allow(unsafe_code)]
            return unsafe { add_multiples_avx2(block, factors, row) };
        }
    }
    add_multiples_plain::<false>(block, factors, row);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn add_multiples_avx2(block: &mut [f64], factors: &[f64], row: &[f64]) {
    add_multiples_plain::<true>(block, factors, row);
}

#[inline(always)]
fn add_multiples_plain<const FUSED: bool>(block: &mut [f64], factors: &[f64], row: &[f64]) {
    let row = row.as_chunks::<LANES>().0;
    for (target, &factor) in block.chunks_exact_mut(row.len() * LANES).zip(factors) {
        if factor == 0.0 {
            continue;
        }
        for (t, r) in target.as_chunks_mut::<LANES>().0.iter_mut().zip(row) {
            for k in 0..LANES {
                t[k] = if FUSED { factor.mul_add(r[k], t[k]) } else { t[k] + factor * r[k] };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x0 = 1 + 2 x2 + 3 x3, x1 = 4 + 5 x2 + 6 x3.
    fn example() -> Dictionary {
        let mut d = Dictionary::default();
        d.reset(2, 2);
        d.set_constant(0, 1.0);
        d.set_constant(1, 4.0);
        d.row_mut(0).copy_from_slice(&[2.0, 3.0]);
        d.row_mut(1).copy_from_slice(&[5.0, 6.0]);
        d
    }

    #[test]
    fn a_pivot_solves_the_row_for_the_column() {
        let mut d = example();
        d.pivot(0, 0); // x2 = -1/2 + x0/2 - 3/2 x3; x1 = 3/2 + 5/2 x0 - 3/2 x3
        assert_eq!((d.constant(0), d.row(0)), (-0.5, &[0.5, -1.5][..]));
        assert_eq!((d.constant(1), d.row(1)), (1.5, &[2.5, -1.5][..]));
        assert_eq!((&d.basic[..], &d.nonbasic[..]), (&[2, 1][..], &[0, 3][..]));
        assert_eq!((d.row_of(2), d.column_of(2), d.column_of(0)), (Some(0), None, Some(0)));
    }

    #[test]
    fn pivoting_back_restores() {
        let (mut d, e) = (example(), example());
        d.pivot(1, 1);
        d.pivot(1, 1);
        for i in 0..2 {
            assert!((d.constant(i) - e.constant(i)).abs() < 1e-15);
            for j in 0..2 {
                assert!((d.entry(i, j) - e.entry(i, j)).abs() < 1e-15);
            }
        }
    }
}
