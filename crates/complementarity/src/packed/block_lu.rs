//! Block-sparse LU on the graph of bodies that contacts join, blocks of 6 x 6.
//!
//! Right-looking, in an order of minimum degree; rows are exchanged within a block alone. Blocks are factored in the lanes of the processor.

use super::lanes::Arithmetic;
use pulp::{NullaryFnOnce, bytemuck::cast, f64x4};

/// A block, rows padded to eight.
pub(super) type Block = [[f64; 8]; 6];
pub(super) const EMPTY: Block = [[0.0; 8]; 6];

/// Neighbours for which each body has room from the start, at most: beyond, lists grow as they must, one by one.
const MOST_ROOM: usize = 1000;

/// Order of elimination and pattern of the factors.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    /// Bodies as they are eliminated, and the place of each among them.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Later places that the column of place `j` meets, ascending: `rows[starts[j]..starts[j + 1]]`.
    rows: Vec<u32>,
    starts: Vec<usize>,
    /// For each column and each pair of its rows, the first of them outside: where the block of both is.
    targets: Vec<u32>,
    /// Of the bodies that are left, those that each meets.
    near: Vec<Vec<u32>>,
    left: Vec<u32>,
    marks: Vec<usize>,
}

impl Pattern {
    /// Forgets everything but its memory: there is room for nobody.
    pub fn clear(&mut self) {
        self.place.clear();
    }

    /// Finds it for `bodies` and pairs of them.
    pub fn find(&mut self, bodies: usize, pairs: impl Iterator<Item = [u32; 2]>) {
        self.near.resize(bodies.max(self.near.len()), vec![]);
        for [a, b] in pairs {
            self.near[a as usize].push(b);
            self.near[b as usize].push(a);
        }
        for near in &mut self.near {
            near.sort_unstable();
            near.dedup();
        }
        self.eliminate(bodies);
        // they are empty now; as much room for each as for the largest, for fill comes to others every time
        let most = self.near.iter().map(Vec::capacity).max().unwrap_or(0).min(MOST_ROOM);
        self.near.iter_mut().for_each(|near| near.reserve_exact(most));
        self.targets.clear();
        for j in 0..bodies {
            let own = &self.rows[self.starts[j]..self.starts[j + 1]];
            for (k, &column) in own.iter().enumerate() {
                // both ascend
                let (mut at, end) = (self.starts[column as usize], self.starts[column as usize + 1]);
                for &row in &own[k + 1..] {
                    let further = self.rows[at..end].iter().position(|&other| other == row);
                    at += further.expect("fill is part of the pattern");
                    self.targets.push(at as u32);
                }
            }
        }
    }

    /// The body with the fewest neighbours next; they become neighbours of each other.
    fn eliminate(&mut self, bodies: usize) {
        let Self { order, place, rows, starts, near, left, marks, .. } = self;
        left.clear();
        left.extend(0..bodies as u32);
        // a mark is the number of the list that has the body
        let mut stamp = 0;
        marks.clear();
        marks.resize(bodies, stamp);
        place.clear();
        place.resize(bodies, 0);
        order.clear();
        rows.clear();
        starts.clear();
        starts.push(0);
        while let Some(at) = (0..left.len()).min_by_key(|&k| near[left[k] as usize].len()) {
            let body = left.swap_remove(at);
            place[body as usize] = order.len() as u32;
            order.push(body);
            let first = rows.len();
            rows.append(&mut near[body as usize]);
            for &i in &rows[first..] {
                stamp += 1;
                let own = &mut near[i as usize];
                own.retain(|&k| k != body);
                own.iter().for_each(|&k| marks[k as usize] = stamp);
                marks[i as usize] = stamp;
                own.extend(rows[first..].iter().filter(|&&k| marks[k as usize] != stamp));
            }
            starts.push(rows.len());
        }
        for j in 0..bodies {
            let own = &mut rows[starts[j]..starts[j + 1]];
            own.iter_mut().for_each(|b| *b = place[*b as usize]);
            own.sort_unstable();
        }
    }

    /// The block below the diagonal in a column and row.
    fn at(&self, column: u32, row: u32) -> Option<usize> {
        let first = self.starts[column as usize];
        let own = &self.rows[first..self.starts[column as usize + 1]];
        own.binary_search(&row).ok().map(|k| first + k)
    }

    /// Whether there is room for contacts between two bodies.
    pub fn holds(&self, [a, b]: [u32; 2]) -> bool {
        let place = |body: u32| self.place.get(body as usize).copied();
        let (Some(a), Some(b)) = (place(a), place(b)) else { return false };
        self.at(a.min(b), a.max(b)).is_some()
    }
}

/// Blocks of a matrix, and then of its factors (on the diagonal, their inverses).
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    diagonal: Vec<Block>,
    lower: Vec<Block>,
    upper: Vec<Block>,
    x: Vec<[f64; 6]>,
}

impl Blocks {
    /// The unit matrix.
    pub fn reset(&mut self, pattern: &Pattern) {
        let mut one = EMPTY;
        (0..6).for_each(|i| one[i][i] = 1.0);
        self.diagonal.clear();
        self.diagonal.resize(pattern.order.len(), one);
        for list in [&mut self.lower, &mut self.upper] {
            list.clear();
            list.resize(pattern.rows.len(), EMPTY);
        }
    }

    /// The block of two bodies, for which there must be room.
    pub fn block(&mut self, pattern: &Pattern, row: u32, column: u32) -> &mut Block {
        let [i, j] = [row, column].map(|b| pattern.place[b as usize]);
        let at = |column, row| pattern.at(column, row).expect("there is room");
        match i.cmp(&j) {
            std::cmp::Ordering::Equal => &mut self.diagonal[i as usize],
            std::cmp::Ordering::Greater => &mut self.lower[at(j, i)],
            std::cmp::Ordering::Less => &mut self.upper[at(i, j)],
        }
    }

    /// `x := (the matrix)^-1 x`, by body, once it is factored.
    pub fn solve(&mut self, pattern: &Pattern, x: &mut [[f64; 6]]) {
        let Pattern { order, rows, starts, .. } = pattern;
        self.x.clear();
        self.x.extend(order.iter().map(|&b| x[b as usize]));
        let y = &mut self.x;
        let subtract = |from: &mut [f64; 6], a: &Block, z: &[f64; 6]| {
            (0..6).for_each(|i| from[i] -= (0..6).map(|m| a[i][m] * z[m]).sum::<f64>());
        };
        for j in 0..order.len() {
            let z = y[j];
            for k in starts[j]..starts[j + 1] {
                subtract(&mut y[rows[k] as usize], &self.lower[k], &z);
            }
        }
        for j in (0..order.len()).rev() {
            let mut z = y[j];
            for k in starts[j]..starts[j + 1] {
                subtract(&mut z, &self.upper[k], &y[rows[k] as usize]);
            }
            let inverse = &self.diagonal[j];
            y[j] = std::array::from_fn(|i| (0..6).map(|m| inverse[i][m] * z[m]).sum());
        }
        order.iter().zip(y).for_each(|(&b, y)| x[b as usize] = *y);
    }
}

/// Factors in place; false if a block on the diagonal is singular.
pub(super) struct Factor<'a> {
    pub blocks: &'a mut Blocks,
    pub pattern: &'a Pattern,
    pub x: Arithmetic,
}

impl NullaryFnOnce for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Self { blocks: Blocks { diagonal, lower, upper, .. }, pattern, x } = self;
        let Pattern { rows, starts, targets, .. } = pattern;
        let mut targets = targets.iter();
        for j in 0..diagonal.len() {
            let Some(inverse) = inverse(&diagonal[j]) else { return false };
            diagonal[j] = inverse;
            let (first, end) = (starts[j], starts[j + 1]);
            for k in first..end {
                let given = std::mem::replace(&mut lower[k], EMPTY);
                subtract_product(x, &mut lower[k], &given, &inverse);
                lower[k].iter_mut().flatten().for_each(|l| *l = -*l);
                subtract_product(x, &mut diagonal[rows[k] as usize], &lower[k], &upper[k]);
            }
            // columns of these rows come later
            let (own_lower, later_lower) = lower.split_at_mut(end);
            let (own_upper, later_upper) = upper.split_at_mut(end);
            for k in first..end {
                for (later, &target) in (k + 1..end).zip(&mut targets) {
                    let at = target as usize - end;
                    subtract_product(x, &mut later_lower[at], &own_lower[later], &own_upper[k]);
                    subtract_product(x, &mut later_upper[at], &own_lower[k], &own_upper[later]);
                }
            }
        }
        true
    }
}

/// `c -= a b`.
#[inline(always)]
fn subtract_product(x: Arithmetic, c: &mut Block, a: &Block, b: &Block) {
    let b: [[f64x4; 2]; 6] = std::array::from_fn(|k| cast(b[k]));
    for (c, a) in c.iter_mut().zip(a) {
        let mut row: [f64x4; 2] = cast(*c);
        for k in 0..6 {
            let factor = x.splat(a[k]);
            row = std::array::from_fn(|j| x.minus_product(row[j], factor, b[k][j]));
        }
        *c = cast(row);
    }
}

/// Gauss and Jordan's, rows exchanged.
fn inverse(a: &Block) -> Option<Block> {
    let (mut a, mut x) = (*a, EMPTY);
    (0..6).for_each(|i| x[i][i] = 1.0);
    for k in 0..6 {
        let best = (k..6).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        let pivot = a[best][k];
        if !(pivot.abs() > 0.0 && pivot.is_finite()) {
            return None;
        }
        a.swap(k, best);
        x.swap(k, best);
        for j in 0..6 {
            a[k][j] /= pivot;
            x[k][j] /= pivot;
        }
        for i in (0..6).filter(|&i| i != k) {
            let factor = a[i][k];
            for j in 0..6 {
                a[i][j] -= factor * a[k][j];
                x[i][j] -= factor * x[k][j];
            }
        }
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neither a smaller island in between nor fill that comes to other bodies makes a list grow.
    #[test]
    fn memory_does_not_depend_on_which_body_fills() {
        let mut pattern = Pattern::default();
        // a grid of 6 x 6, its bodies numbered from `shift` on
        let mut find = |bodies: u32, shift: u32| {
            let name = |k: u32| (k + shift) % bodies;
            let right = (0..bodies).filter(|k| k % 6 != 5).map(|k| [name(k), name(k + 1)]);
            let up = (0..bodies - 6).map(|k| [name(k), name(k + 6)]);
            pattern.find(bodies as usize, right.chain(up));
            pattern.near.iter().map(Vec::capacity).collect::<Vec<_>>()
        };
        let room = find(36, 0);
        assert!(room[0] > 4 && room.iter().all(|&r| r == room[0]), "{room:?}");
        for (bodies, shift) in [(12, 0), (36, 7), (18, 3), (36, 20)] {
            assert_eq!(find(bodies, shift), room);
        }
    }
}
