//! The Newton step: Coulomb's law linearised on the states that the last sweep gave the contacts.
//!
//! Stick: all of `s + ds = 0`. Slip, with `e` the direction of the friction force and `f` those across: `s_n + ds_n = 0`,
//! `f . (s_t + ds_t + tau dl_t) = 0`, and the force stays on the cone, `dl = (1, mu e) y_0 + (0, f) y`. Open: `dl = 0`. With `R` the rows that
//! are kept and `C` the directions of the force, the system is `R (A + tau T + weight) C y = -R s`: not symmetric where contacts slip. Rows
//! without a variable are padded, so that all blocks have one size. On a side of a polygon `e` is its normal, times its distance, and `tau = 0`; at a corner
//! `e` is the corner, and nothing goes across.

use crate::block_lu::BlockLu;
use crate::element::law::Law;
use crate::element::polygon::{Face, Polygon};
use crate::factor::Lu;
use crate::one_contact::{State, tangent};
use crate::operator::BlockMatrix;
use crate::sweep::{Sweeper, blocks_of};
use crate::units::Uniform;

const NONE: usize = usize::MAX;
/// Weight up to which a step contracts the error so much that new factors do not pay.
const SMALL_WEIGHT: f64 = 1e-5;
/// Active contacts from which dense factors pay, if most blocks are there.
const DENSE_FROM: usize = 40;

/// The step's linear system and its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct System {
    lu: BlockLu,
    /// Factors where most blocks are there (patches), and the matrix block by block.
    dense: Lu,
    full: Vec<f64>,
    is_dense: bool,
    /// Contacts that carry force; `index` is the inverse.
    active: Vec<usize>,
    index: Vec<usize>,
    /// `R` and `C` of each active contact.
    frames: Vec<f64>,
    /// Whether each active contact slips.
    slips: Vec<bool>,
    /// Right-hand side, then `y`.
    y: Vec<f64>,
    /// What the factors at hand are of, if nothing slips there: contacts and weight.
    factored: Vec<usize>,
    factored_weight: f64,
}

impl System {
    /// Forgets the factors at hand: the matrix is another one.
    pub fn reset(&mut self) {
        self.factored.clear();
        self.factored_weight = 0.0;
    }

    /// Reads states and right-hand sides off the sweeper, whose speeds must be those of `lambda`.
    pub fn linearise<const D: usize>(
        &mut self,
        sweeper: &Sweeper,
        problem: Uniform<'_>,
        contacts: &[usize],
        lambda: &[f64],
    ) {
        self.index.resize(problem.mu.len(), NONE);
        self.active.clear();
        self.frames.clear();
        self.slips.clear();
        self.y.clear();
        for &c in contacts {
            let l = &lambda.as_chunks::<D>().0[c];
            let state = sweeper.local[c].state;
            self.index[c] = NONE;
            // a bounded row at its bound keeps its force
            let fixed = l[0] <= 0.0 || !problem.law(c).is_contact();
            if state == State::Open || (state == State::Slip && fixed) {
                continue;
            }
            self.index[c] = self.active.len();
            self.active.push(c);
            let slips = state == State::Slip;
            self.slips.push(slips);
            let (r, columns) = match (slips, problem.law(c)) {
                (false, _) | (_, Law::Row { .. }) => (identity(), identity()),
                (true, Law::Disc) => slip_frame(problem.mu[c], l),
                (true, Law::Polygon(polygon)) => flat_frame(&polygon, problem.mu[c], l),
            };
            let s = &sweeper.speed.as_chunks::<D>().0[c];
            self.y.extend((0..D).map(|i| -(0..D).map(|j| r[i][j] * s[j]).sum::<f64>()));
            self.frames.extend_from_slice(r.as_flattened());
            self.frames.extend_from_slice(columns.as_flattened());
        }
    }

    /// As [`Self::linearise`], with all contacts sticking.
    pub fn stick_all<const D: usize>(&mut self, sweeper: &Sweeper, contacts: &[usize]) {
        self.index.resize(sweeper.local.len(), NONE);
        self.active.clear();
        self.active.extend_from_slice(contacts);
        self.frames.clear();
        self.slips.clear();
        self.y.clear();
        for (k, &c) in contacts.iter().enumerate() {
            self.index[c] = k;
            self.slips.push(false);
            self.y.extend(sweeper.speed.as_chunks::<D>().0[c].map(|s| -s));
            self.frames.extend_from_slice(identity::<D>().as_flattened());
            self.frames.extend_from_slice(identity::<D>().as_flattened());
        }
    }

    /// Solves for `y`, with `weight` times each contact's unit on the diagonal (or the small weight of factors at hand). False if the matrix is
    /// singular.
    pub fn solve<const D: usize>(&mut self, sweeper: &Sweeper, a: &BlockMatrix, weight: f64) -> bool {
        let all_stick = !self.slips.contains(&true);
        let at_hand = self.factored_weight > 0.0 && self.factored_weight <= weight.max(SMALL_WEIGHT);
        if !(all_stick && at_hand && self.factored == self.active) {
            self.reset();
            self.factored.reserve(self.active.len());
            if !self.factor::<D>(sweeper, a, weight) {
                return false;
            }
            if all_stick {
                self.factored.clone_from(&self.active);
                self.factored_weight = weight;
            }
        }
        match self.is_dense {
            true => self.dense.solve(&mut self.y),
            false => self.lu.solve::<D>(self.y.as_chunks_mut::<D>().0),
        }
        self.y.iter().all(|y| y.is_finite())
    }

    fn factor<const D: usize>(&mut self, sweeper: &Sweeper, a: &BlockMatrix, weight: f64) -> bool {
        let Self { lu, dense, full, is_dense, active, index, frames, slips, .. } = self;
        let n = active.len();
        let frames = blocks_of::<D>(frames);
        // row i of the matrix, its block for contact j at `place[j]`
        let write = |i: usize, row: &mut [[[f64; D]; D]], place: &dyn Fn(usize) -> usize| {
            let c = active[i];
            let (columns, data) = a.row(c);
            for (&k, block) in columns.iter().zip(blocks_of::<D>(data)).filter(|(k, _)| index[**k] != NONE) {
                let j = index[k];
                let out = &mut row[place(j)];
                *out = *block;
                if slips[i] {
                    *out = product(&frames[2 * i], out);
                }
                if slips[j] {
                    *out = product(out, &frames[2 * j + 1]);
                }
            }
            let unit = sweeper.unit::<D>(c);
            let out = &mut row[place(i)];
            for p in 0..D {
                out[p][p] += weight * unit + if slips[i] && p > 0 { sweeper.local[c].tau } else { 0.0 };
                if slips[i] && frames[2 * i][p] == [0.0; D] {
                    out[p][p] = unit;
                }
            }
        };
        let blocks: usize =
            active.iter().map(|&c| a.row(c).0.iter().filter(|&&k| index[k] != NONE).count()).sum();
        *is_dense = n >= DENSE_FROM && 2 * blocks > n * n;
        if *is_dense {
            full.clear();
            full.resize(n * n * D * D, 0.0);
            for (i, row) in full.chunks_exact_mut(n * D * D).enumerate() {
                write(i, row.as_chunks_mut::<D>().0.as_chunks_mut::<D>().0, &|j| j);
            }
            let entry = |i: usize, j: usize| full[((i / D * n + j / D) * D + i % D) * D + j % D];
            return dense.factor(n * D, entry).is_ok();
        }
        lu.begin(n);
        for (i, &c) in active.iter().enumerate() {
            a.row(c).0.iter().filter(|&&k| index[k] != NONE).for_each(|&k| lu.connect(i, index[k]));
        }
        lu.analyse();
        lu.factor::<D>(|i, row, place| write(i, row, &|j| place[j]))
    }

    /// Work of the last step, in blocks.
    pub fn cost(&self) -> usize {
        if self.is_dense { self.active.len() * self.active.len() } else { self.lu.cost() }
    }

    /// `lambda = from + C y`; `from` has the contacts' forces one after another.
    pub fn step<const D: usize>(&self, contacts: &[usize], from: &[f64], lambda: &mut [f64]) {
        for (&c, from) in contacts.iter().zip(from.as_chunks::<D>().0) {
            let own = &mut lambda.as_chunks_mut::<D>().0[c];
            *own = *from;
            let k = self.index[c];
            if k != NONE {
                let columns = &blocks_of::<D>(&self.frames)[2 * k + 1];
                let y = &self.y.as_chunks::<D>().0[k];
                for i in 0..D {
                    own[i] += (0..D).map(|j| columns[i][j] * y[j]).sum::<f64>();
                }
            }
        }
    }
}

fn identity<const D: usize>() -> [[f64; D]; D] {
    std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))))
}

/// `R`: rows n and across the slip; `C`: columns `(1, mu e)` and across. Without friction only the normal.
fn slip_frame<const D: usize>(mu: f64, l: &[f64; D]) -> ([[f64; D]; D], [[f64; D]; D]) {
    let mut r = [[0.0; D]; D];
    r[0][0] = 1.0;
    let mut columns = r;
    let length = tangent(l, l).sqrt();
    if length > 0.0 {
        let e: [f64; D] = std::array::from_fn(|i| if i == 0 { 0.0 } else { l[i] / length });
        (1..D).for_each(|i| columns[i][0] = mu * e[i]);
        // Householder's reflection takes e to an axis; the images of the other axes are across
        let mut v = e;
        v[1] += if e[1] < 0.0 { -1.0 } else { 1.0 };
        let vv = tangent(&v, &v);
        for k in 2..D {
            for i in 1..D {
                let f = f64::from(u8::from(i == k)) - 2.0 * v[i] * v[k] / vv;
                (r[k - 1][i], columns[i][k - 1]) = (f, f);
            }
        }
    }
    (r, columns)
}

/// As [`slip_frame`], on the side or at the corner of a polygon where the force is.
fn flat_frame<const D: usize>(polygon: &Polygon, mu: f64, l: &[f64; D]) -> ([[f64; D]; D], [[f64; D]; D]) {
    let mut r = [[0.0; D]; D];
    r[0][0] = 1.0;
    let mut columns = r;
    let along = match polygon.face([l[0], l[1], l[2]]) {
        _ if mu == 0.0 => [0.0; 2],
        Face::Corner(corner) => corner,
        Face::Side([t, o]) => {
            (r[1][1], r[1][2]) = (-o, t);
            (columns[1][1], columns[2][1]) = (-o, t);
            [t, o].map(|x| polygon.apothem() * x)
        }
    };
    (columns[1][0], columns[2][0]) = (mu * along[0], mu * along[1]);
    (r, columns)
}

/// `a b`.
pub(super) fn product<const D: usize>(a: &[[f64; D]; D], b: &[[f64; D]; D]) -> [[f64; D]; D] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..D).map(|k| a[i][k] * b[k][j]).sum()))
}
