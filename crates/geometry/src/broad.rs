//! Which pairs of bodies can touch at all.
//!
//! A uniform grid whose cells are as large as the largest box in it: boxes that meet lie in the same cell or in
//! neighbours. Boxes without bounds (half-spaces) and boxes much larger than the mean are compared with all others.
//! Time is linear in the boxes and pairs, unless many boxes are large; memory is kept from call to call.
//!
//! Pairs are sought of boxes that are a little larger, and are found among these until a box leaves its larger one: the
//! same pairs as by a search at every call.

use super::plane::outward;
use super::solid::Solid;
use crate::space::{Pose, Vector, dot, transpose_times};

/// A box along the world's axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// Lowest coordinates.
    pub min: Vector,
    /// Highest coordinates.
    pub max: Vector,
}

impl Aabb {
    /// Whether two boxes share a point.
    pub fn meets(&self, other: &Self) -> bool {
        // without branches, which would be guessed wrong
        (0..3).fold(true, |all, i| all & (self.min[i] <= other.max[i]) & (other.min[i] <= self.max[i]))
    }

    fn is_bounded(&self) -> bool {
        (0..3).all(|i| self.min[i].is_finite() && self.max[i].is_finite())
    }

    /// Largest edge.
    fn extent(&self) -> f64 {
        (0..3).map(|i| self.max[i] - self.min[i]).fold(0.0, f64::max)
    }

    /// The box in which it may move before pairs are sought again: everything, if it is unbounded.
    fn grown(&self) -> Self {
        if !self.is_bounded() {
            return Self { min: [f64::NEG_INFINITY; 3], max: [f64::INFINITY; 3] };
        }
        let by = SKIN * self.extent();
        Self { min: self.min.map(|x| x - by), max: self.max.map(|x| x + by) }
    }

    /// Whether `other` lies in it, and is unbounded if it is.
    fn holds(&self, other: &Self) -> bool {
        (0..3).fold(true, |all, i| all & (self.min[i] <= other.min[i]) & (other.max[i] <= self.max[i]))
            && (self.min[0].is_finite() || !other.is_bounded())
    }
}

/// The smallest box around a solid, grown by `margin` on every side. A half-space's box ends only across an axis of
/// the world it faces along.
pub fn bounding_box(solid: &Solid, pose: &Pose, margin: f64) -> Aabb {
    if solid.is_half_space() {
        let (mut min, mut max) = ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]);
        let n = outward(pose, solid.planar());
        for i in 0..3 {
            if n[i] == 1.0 {
                max[i] = pose.position[i] + margin;
            } else if n[i] == -1.0 {
                min[i] = pose.position[i] - margin;
            }
        }
        return Aabb { min, max };
    }
    if solid.is_unbounded() {
        return Aabb { min: [f64::NEG_INFINITY; 3], max: [f64::INFINITY; 3] };
    }
    let matrix = pose.attitude.matrix();
    let (mut min, mut max) = ([0.0; 3], [0.0; 3]);
    for i in 0..3 {
        let mut axis = [0.0; 3];
        axis[i] = 1.0;
        let n = transpose_times(&matrix, axis);
        let a = solid.semi_axes;
        let w = [a[0] * n[0], a[1] * n[1], a[2] * n[2]];
        let around = dot(w, w).sqrt() + solid.radius + margin;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &c in solid.corners() {
            let h = dot(n, c);
            (low, high) = (low.min(h), high.max(h));
        }
        (min[i], max[i]) = (pose.position[i] + low - around, pose.position[i] + high + around);
    }
    Aabb { min, max }
}

/// Boxes larger than this many times the mean are kept out of the grid.
const LARGE: f64 = 4.0;
/// Share of its largest edge by which a box is grown on every side before pairs are sought.
const SKIN: f64 = 0.05;
/// At most this many cells for a box: beyond, cells grow.
const CELLS: f64 = 8.0;

/// Finds pairs of boxes that meet.
#[derive(Debug, Clone, Default)]
pub struct BroadPhase {
    /// Boxes whose pairs were last sought, and the pairs.
    grown: Vec<Aabb>,
    near: Vec<[u32; 2]>,
    /// Boxes in the grid, cell by cell; those of cell c are `members[starts[c]..starts[c + 1]]`.
    members: Vec<u32>,
    /// Their boxes.
    sorted: Vec<Aabb>,
    starts: Vec<u32>,
    /// The cell of every box, `OUTSIDE` for large ones.
    cells: Vec<u32>,
    large: Vec<u32>,
}

/// No cell.
const OUTSIDE: u32 = u32::MAX;

/// Cells along each axis, lowest corner, and size of a cell.
struct Grid {
    counts: [usize; 3],
    low: Vector,
    cell: f64,
}

impl BroadPhase {
    /// Puts into `out` all pairs `[i, j]`, i < j, of boxes that meet, in ascending order. Two unbounded boxes are no
    /// pair.
    pub fn pairs(&mut self, boxes: &[Aabb], out: &mut Vec<[u32; 2]>) {
        let known = self.grown.len() == boxes.len()
            && self.grown.iter().zip(boxes).all(|(grown, own)| grown.holds(own));
        if !known {
            let (mut grown, mut near) = (std::mem::take(&mut self.grown), std::mem::take(&mut self.near));
            grown.clear();
            grown.extend(boxes.iter().map(Aabb::grown));
            self.search(&grown, &mut near);
            (self.grown, self.near) = (grown, near);
        }
        out.clear();
        let meet = |&&[i, j]: &&[u32; 2]| boxes[i as usize].meets(&boxes[j as usize]);
        out.extend(self.near.iter().filter(meet));
    }

    /// As [`pairs`](Self::pairs).
    fn search(&mut self, boxes: &[Aabb], out: &mut Vec<[u32; 2]>) {
        out.clear();
        let grid = self.arrange(boxes);
        for (i, a) in boxes.iter().enumerate() {
            let first = out.len();
            let number = i as u32;
            if self.cells[i] == OUTSIDE {
                let bounded = a.is_bounded();
                for (j, b) in boxes.iter().enumerate().skip(i + 1) {
                    if a.meets(b) && (bounded || b.is_bounded()) {
                        out.push([number, j as u32]);
                    }
                }
                continue;
            }
            for &j in &self.large[self.large.partition_point(|&l| l <= number)..] {
                if a.meets(&boxes[j as usize]) {
                    out.push([number, j]);
                }
            }
            // boxes that meet have their lowest corners in the same cell or in neighbours
            let [nx, ny, nz] = grid.counts;
            let c = self.cells[i] as usize;
            let (x, y, z) = (c / (ny * nz), c / nz % ny, c % nz);
            let mut len = out.len();
            for u in x.saturating_sub(1)..(x + 2).min(nx) {
                for v in y.saturating_sub(1)..(y + 2).min(ny) {
                    let row = (u * ny + v) * nz;
                    let from = self.starts[row + z.saturating_sub(1)] as usize;
                    let to = self.starts[row + (z + 2).min(nz)] as usize;
                    out.resize(len + to - from, [0; 2]);
                    for (&j, b) in self.members[from..to].iter().zip(&self.sorted[from..to]) {
                        // each is written, and the next one over it if it is no pair: a branch would be guessed wrong
                        out[len] = [number, j];
                        len += usize::from((j > number) & a.meets(b));
                    }
                }
            }
            out.truncate(len);
            out[first..].sort_unstable();
        }
    }

    fn arrange(&mut self, boxes: &[Aabb]) -> Grid {
        let (mut count, mut sum) = (0.0f64, 0.0);
        for b in boxes.iter().filter(|b| b.is_bounded()) {
            (count, sum) = (count + 1.0, sum + b.extent());
        }
        let limit = LARGE * sum / count.max(1.0);
        self.cells.clear();
        self.large.clear();
        let (mut low, mut high, mut cell) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3], 0.0f64);
        for (i, b) in boxes.iter().enumerate() {
            let inside = b.is_bounded() && b.extent() <= limit;
            self.cells.push(if inside { 0 } else { OUTSIDE });
            if inside {
                cell = cell.max(b.extent());
                low = [0, 1, 2].map(|k| low[k].min(b.min[k]));
                high = [0, 1, 2].map(|k| high[k].max(b.min[k]));
            } else {
                self.large.push(i as u32);
            }
        }
        let grid = Grid::new(low, high, cell, CELLS * count + 64.0);
        // counting sort by cell
        self.starts.clear();
        self.starts.resize(grid.counts.iter().product::<usize>() + 1, 0);
        for (c, b) in self.cells.iter_mut().zip(boxes).filter(|(c, _)| **c != OUTSIDE) {
            *c = grid.cell_of(b.min);
            self.starts[*c as usize + 1] += 1;
        }
        for k in 1..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        self.members.clear();
        self.members.resize(boxes.len() - self.large.len(), 0);
        // fills every cell from its start, which thereby moves to its end, and is put back
        for (i, &c) in self.cells.iter().enumerate().filter(|(_, c)| **c != OUTSIDE) {
            let slot = &mut self.starts[c as usize];
            self.members[*slot as usize] = i as u32;
            *slot += 1;
        }
        for k in (1..self.starts.len()).rev() {
            self.starts[k] = self.starts[k - 1];
        }
        self.starts[0] = 0;
        self.sorted.clear();
        self.sorted.extend(self.members.iter().map(|&i| boxes[i as usize]));
        grid
    }
}

impl Grid {
    fn new(low: Vector, high: Vector, mut cell: f64, most: f64) -> Self {
        if !(cell > 0.0 && cell.is_finite()) {
            cell = 1.0;
        }
        let along = |cell: f64| [0, 1, 2].map(|k| (((high[k] - low[k]).max(0.0)) / cell).floor() + 1.0);
        loop {
            let counts = along(cell);
            if counts[0] * counts[1] * counts[2] <= most {
                return Self { counts: counts.map(|c| c as usize), low, cell };
            }
            cell *= 1.3;
        }
    }

    fn cell_of(&self, x: Vector) -> u32 {
        let [i, j, k] =
            [0, 1, 2].map(|a| (((x[a] - self.low[a]) / self.cell) as usize).min(self.counts[a] - 1));
        ((i * self.counts[1] + j) * self.counts[2] + k) as u32
    }
}
