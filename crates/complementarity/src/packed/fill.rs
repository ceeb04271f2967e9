//! Contacts -> groups, written in place: a group is large.

use super::lanes::Arithmetic;
use super::{Forces, Group, LANES, Packed, Rest, SPEEDS, kind};
use crate::operator::Factored;
use crate::sweep::Sweeper;
use crate::units::Uniform;
use pulp::{NullaryFnOnce, f64x4};

/// Where the contacts are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub problem: Uniform<'a>,
    pub a: &'a Factored,
    pub sweeper: &'a Sweeper,
    pub lambda: &'a [f64],
}

/// Fills the groups of coloured contacts, each colour cut by its number of lanes, and their forces. Weights are left to others.
pub(super) struct Fill<'a, const D: usize, const K: usize> {
    pub packed: &'a mut Packed<D, K>,
    pub from: Source<'a>,
    pub x: Arithmetic,
}

impl<const D: usize, const K: usize> NullaryFnOnce for Fill<'_, D, K> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { packed, from, x } = self;
        let still = packed.taken.len() as u32 - 1;
        let mut places = packed.groups.iter_mut().zip(&mut packed.rest).zip(&mut packed.forces.at);
        for k in 1..packed.starts.len() {
            let colour = &packed.order[packed.starts[k - 1]..packed.starts[k]];
            for (some, ((group, rest), forces)) in colour.chunks(Packed::<D, K>::lanes(k)).zip(&mut places) {
                group.fill(x, rest, some, from, &packed.body_of, still);
                *forces = from.forces(some);
            }
        }
    }
}

/// What a contact is beside `W`, as [`Group`] has it.
#[derive(Clone, Copy)]
struct Numbers<const D: usize, const K: usize> {
    b: [f64; D],
    compliance: [f64; D],
    column: [f64; D],
    tangent: [f64; K],
    mu: [f64; 1],
}

impl<const D: usize, const K: usize> Numbers<D, K> {
    /// Of a lane without a contact.
    const NONE: Self = {
        let mut none =
            Self { b: [0.0; D], compliance: [0.0; D], column: [0.0; D], tangent: [1.0; K], mu: [0.0] };
        (none.b[0], none.column[0]) = (1.0, 1.0);
        none
    };
}

impl Source<'_> {
    #[inline(always)]
    fn numbers<const D: usize, const K: usize>(self, c: usize) -> Numbers<D, K> {
        let Self { problem, a, sweeper, .. } = self;
        let block = sweeper.block::<D>(c);
        let mut tangent = [0.0; K];
        if K == 1 {
            // the largest eigenvalue
            let (tt, to, oo) = (block[1][1], block[1][2], block[2][2]);
            tangent[0] = 0.5 * (tt + oo) + (0.25 * (tt - oo) * (tt - oo) + to * to).sqrt();
        } else {
            // diagonals, times a bound of what their rows have beside
            let row = |i: usize| {
                (1..D).map(|j| block[i][j].abs() / (block[i][i] * block[j][j]).sqrt()).sum::<f64>()
            };
            let most = (1..D).map(row).fold(1.0, f64::max);
            (1..D).for_each(|i| tangent[kind(i)] = tangent[kind(i)].max(most * block[i][i]));
        }
        let mu = problem.mu[c];
        let mut column: [f64; D] = std::array::from_fn(|i| block[i][0]);
        if mu <= 0.0 {
            column[1..].fill(0.0);
        }
        let b = problem.b.as_chunks().0[c];
        Numbers { b, compliance: a.compliance_alone(c).unwrap_or([0.0; D]), column, tangent, mu: [mu] }
    }

    #[inline(always)]
    fn forces<const D: usize>(self, some: &[usize]) -> Forces<D> {
        let all = self.lambda.as_chunks::<D>().0;
        let mut own = [&[0.0; D]; LANES];
        own.iter_mut().zip(some).for_each(|(own, &c)| *own = &all[c]);
        columns(own)
    }
}

/// The numbers of every lane, one after another.
#[inline(always)]
fn columns<const N: usize>([a, b, c, d]: [&[f64; N]; LANES]) -> [f64x4; N] {
    std::array::from_fn(|k| f64x4(a[k], b[k], c[k], d[k]))
}

impl<const D: usize, const K: usize> Group<D, K> {
    const NO_BODY: [[f64; SPEEDS]; D] = [[0.0; SPEEDS]; D];

    #[inline(always)]
    fn fill(
        &mut self,
        x: Arithmetic,
        rest: &mut Rest<K>,
        some: &[usize],
        from: Source<'_>,
        body_of: &[u32],
        still: u32,
    ) {
        let mut numbers = [Numbers::<D, K>::NONE; LANES];
        let mut w = [[&Self::NO_BODY; LANES]; 2];
        self.bodies = [[still; LANES]; 2];
        rest.contacts = [u32::MAX; LANES];
        for (lane, &c) in some.iter().enumerate() {
            rest.contacts[lane] = c as u32;
            numbers[lane] = from.numbers(c);
            for (k, (s, entries)) in from.a.segments(c).enumerate() {
                self.bodies[k][lane] = body_of[s.first];
                if let Ok(rows) = entries.as_chunks().0.try_into() {
                    w[k][lane] = rows;
                }
            }
        }
        let root = x.splat(from.a.share().sqrt());
        for (k, w) in w.into_iter().enumerate() {
            for i in 0..D {
                let rows = columns(w.map(|w| &w[i]));
                (0..SPEEDS).for_each(|j| self.w[i][SPEEDS * k + j] = x.times(root, rows[j]));
            }
        }
        self.b = columns(numbers.each_ref().map(|n| &n.b));
        let compliance = columns(numbers.each_ref().map(|n| &n.compliance));
        self.yields = compliance[0];
        (1..D).for_each(|i| self.compliance[kind(i)] = compliance[i]);
        self.column = columns(numbers.each_ref().map(|n| &n.column));
        rest.tangent = columns(numbers.each_ref().map(|n| &n.tangent));
        [self.mu] = columns(numbers.each_ref().map(|n| &n.mu));
    }
}
