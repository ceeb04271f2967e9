//! Contacts -> groups, written in place: a group is large.

use super::lanes::Arithmetic;
use super::{Forces, Group, LANES, Packed, Rest, SPEEDS};
use crate::operator::Factored;
use crate::problem::ConeProblem;
use crate::sweep::Sweeper;
use pulp::{NullaryFnOnce, f64x4};

/// Where the contacts are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub problem: ConeProblem<'a>,
    pub a: &'a Factored,
    pub sweeper: &'a Sweeper,
    pub lambda: &'a [f64],
}

/// Fills the groups of coloured contacts, each colour cut by its number of lanes, and their forces. Weights are left to others.
pub(super) struct Fill<'a> {
    pub packed: &'a mut Packed,
    pub from: Source<'a>,
    pub x: Arithmetic,
}

impl NullaryFnOnce for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { packed, from, x } = self;
        let still = packed.taken.len() as u32 - 1;
        let mut places = packed.groups.iter_mut().zip(&mut packed.rest).zip(&mut packed.forces.at);
        for k in 1..packed.starts.len() {
            let colour = &packed.order[packed.starts[k - 1]..packed.starts[k]];
            for (some, ((group, rest), forces)) in colour.chunks(Packed::lanes(k)).zip(&mut places) {
                group.fill(x, rest, some, from, &packed.body_of, still);
                *forces = from.forces(some);
            }
        }
    }
}

/// What a contact is beside `W`: `b`, compliance, normal, tangent, coupling, friction, as [`Group`] has them.
type Numbers = [f64; 10];
/// Of a lane without a contact.
const NO_CONTACT: Numbers = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0];
const NO_BODY: [[f64; SPEEDS]; 3] = [[0.0; SPEEDS]; 3];

impl Source<'_> {
    #[inline(always)]
    fn numbers(self, c: usize) -> Numbers {
        let Self { problem, a, sweeper, .. } = self;
        let [[nn, nt, no], [_, tt, to], [_, _, oo]] = *sweeper.block::<3>(c);
        let largest = 0.5 * (tt + oo) + (0.25 * (tt - oo) * (tt - oo) + to * to).sqrt();
        let mu = problem.mu[c];
        let [nt, no] = if mu > 0.0 { [nt, no] } else { [0.0; 2] };
        let [b_n, b_t, b_o] = problem.b.as_chunks().0[c];
        let [e_n, e_t] = a.compliance_alone(c).unwrap_or_default();
        [b_n, b_t, b_o, e_n, e_t, nn, largest, nt, no, mu]
    }

    #[inline(always)]
    fn forces(self, some: &[usize]) -> Forces {
        let all = self.lambda.as_chunks::<3>().0;
        let mut own = [&[0.0; 3]; LANES];
        own.iter_mut().zip(some).for_each(|(own, &c)| *own = &all[c]);
        std::array::from_fn(|i| column(own, i))
    }
}

/// One number of every lane.
#[inline(always)]
fn column<const N: usize>([a, b, c, d]: [&[f64; N]; LANES], k: usize) -> f64x4 {
    f64x4(a[k], b[k], c[k], d[k])
}

impl Group {
    #[inline(always)]
    fn fill(
        &mut self,
        x: Arithmetic,
        rest: &mut Rest,
        some: &[usize],
        from: Source<'_>,
        body_of: &[u32],
        still: u32,
    ) {
        let mut numbers = [NO_CONTACT; LANES];
        let mut w = [[&NO_BODY; LANES]; 2];
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
            for i in 0..3 {
                let rows = w.map(|w| &w[i]);
                for j in 0..SPEEDS {
                    self.w[i][SPEEDS * k + j] = x.times(root, column(rows, j));
                }
            }
        }
        let column = |k: usize| column(numbers.each_ref(), k);
        self.b = [column(0), column(1), column(2)];
        self.compliance = [column(3), column(4)];
        self.normal = column(5);
        rest.tangent = column(6);
        self.coupling = [column(7), column(8)];
        self.mu = column(9);
    }
}
