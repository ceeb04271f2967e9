//! The Newton step: element laws linearised in the states that the last sweep gave the contacts.
//!
//! With `dl = C y` and `R ds + T y = 0` the linearised law ([`Linear`]), the system is `(R (A + weight) C + T) y = -R s`: not
//! symmetric where contacts slip. Open contacts take no part. Rows without a variable are padded, so that all blocks have
//! one size.

use crate::block_lu::BlockLu;
use crate::element::law::Law;
use crate::element::linear::{Linear, Regime};
use crate::element::polygon::Face;
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
    /// `T` of each active contact.
    weights: Vec<f64>,
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
        self.weights.clear();
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
            let regime = match slips {
                false => Regime::Stick,
                true => slipping(problem.law(c), problem.mu[c], l, sweeper.local[c].tau),
            };
            self.add(&regime.linearise(problem.mu[c], D), &sweeper.speed.as_chunks::<D>().0[c]);
        }
    }

    /// Adds the linearised law of a contact, whose velocity is `s`.
    fn add<const D: usize>(&mut self, law: &Linear<D>, s: &[f64; D]) {
        let r = &law.equations;
        self.y.extend((0..D).map(|i| -(0..D).map(|j| r[i][j] * s[j]).sum::<f64>()));
        self.frames.extend_from_slice(r.as_flattened());
        self.frames.extend((0..D * D).map(|k| law.columns[k % D][k / D]));
        self.weights.extend_from_slice(&law.weights);
    }

    /// As [`Self::linearise`], with all contacts sticking.
    pub fn stick_all<const D: usize>(&mut self, sweeper: &Sweeper, contacts: &[usize]) {
        self.index.resize(sweeper.local.len(), NONE);
        self.active.clear();
        self.active.extend_from_slice(contacts);
        self.frames.clear();
        self.weights.clear();
        self.slips.clear();
        self.y.clear();
        for (k, &c) in contacts.iter().enumerate() {
            self.index[c] = k;
            self.slips.push(false);
            self.add(&Regime::Stick.linearise(0.0, D), &sweeper.speed.as_chunks::<D>().0[c]);
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
        let Self { lu, dense, full, is_dense, active, index, frames, weights, slips, .. } = self;
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
                out[p][p] += weight * unit + weights[D * i + p];
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

/// Regime of a contact that slips: on a disc along its force, on a polygon where its force is.
fn slipping<const D: usize>(law: Law, mu: f64, l: &[f64; D], tau: f64) -> Regime<D> {
    let mut along = [0.0; D];
    let across = match law {
        Law::Polygon(polygon) if mu > 0.0 => {
            let (seen, across) = match polygon.face([l[0], l[1], l[2]]) {
                Face::Corner(corner) => (corner, None),
                Face::Side(normal) => (normal.map(|x| polygon.apothem() * x), Some(0.0)),
            };
            along[1..3].copy_from_slice(&seen);
            across
        }
        _ => {
            let length = tangent(l, l).sqrt();
            (1..D).filter(|_| length > 0.0).for_each(|i| along[i] = l[i] / length);
            (length > 0.0).then_some(tau)
        }
    };
    Regime::Slip { along, across }
}

/// `a b`.
pub(super) fn product<const D: usize>(a: &[[f64; D]; D], b: &[[f64; D]; D]) -> [[f64; D]; D] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..D).map(|k| a[i][k] * b[k][j]).sum()))
}
