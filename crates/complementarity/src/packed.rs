//! Sweeps over four contacts at a time, for islands of free bodies: contacts that share no body need not wait for each other.
//!
//! Contacts are coloured so that no two of a colour share a body, and each colour is cut into groups of four, one contact per lane. A group gathers the
//! velocities of its eight bodies, sweeps, and scatters them. Unlike [`Sweeper::sweep`](crate::sweep::Sweeper::sweep), a contact takes its normal force
//! first and then makes one projected step of its friction force: exact where normal and tangents do not influence each other, as with
//! spheres, and with the same fixed points everywhere. Rows of friction are of up to three kinds, tangents, spin and turns (torsion, rolling friction), each with a
//! step of its own.
//!
//! Sweeps, and the Newton steps of [`newton`], are of the problem with a proximal term: `s = A lambda + b + weight A_nn (lambda - centre)`; weight 0 is
//! the problem as posed.
//!
//! Momentum: with `x` the forces after a sweep and `x'` those after the sweep before, the next one starts from `x + share (x - x')`. The velocities of bodies leap
//! at once, forces when their group is swept.
//!
//! Bound: 1.5 kB a group, read once a sweep (where it is open, a third of it in every fourth), of which 1.2 are `W`, forces of two sweeps, and 72 products of four lanes.

mod block_lu;
mod fill;
mod lanes;
pub(crate) mod newton;
mod sweep;

use crate::operator::{Factored, Operator};
use crate::outcome::Budget;
use crate::sweep::{Island, Sweeper};
use crate::units::Uniform;
use fill::{Fill, Source};
use lanes::Arithmetic;
use pulp::x86::V3;
use pulp::{NullaryFnOnce, f64x4};
use sweep::Sweep;

/// Contacts per group.
const LANES: usize = 4;
/// Sweeps after which groups that are open are looked at again.
const LOOK: usize = 4;
/// Velocities per body.
const SPEEDS: usize = 6;
/// Share of a target that packed contacts are to reach: they are judged once more one by one, and sums differ by rounding.
pub(crate) const STRICTER: f64 = 0.99;
const ZERO: f64x4 = f64x4(0.0, 0.0, 0.0, 0.0);
const ONE: f64x4 = f64x4(1.0, 1.0, 1.0, 1.0);

/// Velocities of a free body, and two that are not there.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Body([f64x4; 2]);

const AT_REST: Body = Body([ZERO; 2]);

/// Kind of a row of friction.
const fn kind(row: usize) -> usize {
    row.saturating_sub(2) - row.saturating_sub(4)
}

/// Four contacts of `D` rows, those of friction of `K` kinds. Lanes without one have no force and a velocity that opens.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
struct Group<const D: usize, const K: usize> {
    /// Rows n, t, o and so on; the velocities of one body and of the other.
    w: [[f64x4; 2 * SPEEDS]; D],
    b: [f64x4; D],
    /// Its own share of `E^-1`: normal, and by kind.
    yields: f64x4,
    compliance: [f64x4; K],
    /// `A_nn`, `A_tn` and so on.
    column: [f64x4; D],
    /// The inverses of `A_nn` and of [`Rest::tangent`] with the proximal weight.
    normal_inverse: f64x4,
    tangent_inverse: [f64x4; K],
    mu: f64x4,
    bodies: [[u32; LANES]; 2],
}

/// What sweeps do not read of a group.
#[derive(Debug, Clone)]
struct Rest<const K: usize> {
    /// By kind: together at least `A` among the rows of friction.
    tangent: [f64x4; K],
    contacts: [u32; LANES],
}

/// An island in groups; memory that is used again.
#[derive(Debug, Clone)]
pub(crate) struct Packed<const D: usize, const K: usize> {
    groups: Vec<Group<D, K>>,
    rest: Vec<Rest<K>>,
    /// Group by group.
    forces: Moving<Forces<D>>,
    /// Of the proximal term.
    centre: Vec<Forces<D>>,
    /// Group by group, where kinds differ: what friction's projection added to `A`, the start of the next.
    tau: Vec<f64x4>,
    /// Group by group, whether it was open when it was last looked at.
    open: Vec<bool>,
    /// Body by body.
    speeds: Moving<Body>,
    /// Body by its first velocity; by body, the colours taken.
    body_of: Vec<u32>,
    taken: Vec<u64>,
    colour: Vec<u32>,
    /// Contacts by colour.
    order: Vec<usize>,
    starts: Vec<usize>,
}

impl<const D: usize, const K: usize> Default for Packed<D, K> {
    fn default() -> Self {
        Self {
            groups: vec![],
            rest: vec![],
            forces: Moving::default(),
            centre: vec![],
            tau: vec![],
            open: vec![],
            speeds: Moving::default(),
            body_of: vec![],
            taken: vec![],
            colour: vec![],
            order: vec![],
            starts: vec![],
        }
    }
}

/// What sweeps change, and where it was one sweep before.
#[derive(Debug, Clone)]
struct Moving<T> {
    at: Vec<T>,
    before: Vec<T>,
}

impl<T> Default for Moving<T> {
    fn default() -> Self {
        Self { at: vec![], before: vec![] }
    }
}

/// Bits of a set of colours; contacts that find none free stand alone.
const COLOURS: u32 = u64::BITS;

impl<const D: usize, const K: usize> Packed<D, K> {
    /// Takes the contacts of an island and their forces. `None` if they cannot be packed: the processor has no lanes, contacts have not `D` rows,
    /// deform together, touch others than free bodies, or a velocity of theirs that no force changes.
    pub fn take(
        &mut self,
        problem: Uniform<'_>,
        sweeper: &Sweeper,
        contacts: &[usize],
        lambda: &[f64],
    ) -> Option<Lanes<'_, D, K>> {
        let simd = V3::try_new()?;
        let Operator::Factored(a) = problem.a else { return None };
        let free = |&c: &usize| {
            a.compliance_alone::<D>(c)
                .is_some_and(|e| (2..D).all(|i| e[i] == e[i - 1] || kind(i) != kind(i - 1)))
                && a.segments(c).count() <= 2
                && a.segments(c).all(|(s, _)| s.len == SPEEDS)
                && (0..D).all(|i| sweeper.block::<D>(c)[i][i] > 0.0)
        };
        if problem.rows != D || !problem.round(contacts) || !contacts.iter().all(free) {
            return None;
        }
        let closed = |c: usize| lambda[D * c] > 0.0 || sweeper.speed[D * c] <= 0.0;
        self.colour(a, contacts, closed);
        let groups = (1..self.starts.len())
            .map(|k| (self.starts[k] - self.starts[k - 1]).div_ceil(Self::lanes(k)))
            .sum();
        self.groups.resize(groups, Group::EMPTY);
        self.rest.resize(groups, Rest::EMPTY);
        self.forces.at.resize(groups, [ZERO; D]);
        self.centre.resize(groups, [ZERO; D]);
        self.tau.clear();
        self.tau.resize(groups, ZERO);
        self.open.clear();
        self.open.resize(groups, false);
        let from = Source { problem, a, sweeper, lambda };
        simd.vectorize(Fill { packed: self, from, x: Arithmetic(simd) });
        let (rows, budget) = (D * contacts.len(), sweeper.budget.clone());
        let mut lanes =
            Lanes { packed: self, simd, weight: 0.0, along: 0.0, share: None, sweeps: 0, rows, budget };
        lanes.set_weight(0.0);
        lanes.begin();
        Some(lanes)
    }

    /// Contacts of a group of the `k`-th colour, counted from 1.
    fn lanes(k: usize) -> usize {
        if k as u32 > COLOURS { 1 } else { LANES }
    }

    /// Numbers the bodies (the last number is of those that do not move) and sorts the contacts by colour, those that are likely to be closed first: a
    /// group that is open is soon done.
    fn colour(&mut self, a: &Factored, contacts: &[usize], closed: impl Fn(usize) -> bool) {
        self.body_of.clear();
        self.body_of.resize(a.speeds(), u32::MAX);
        self.taken.clear();
        self.colour.clear();
        self.starts.clear();
        self.starts.push(0);
        for &c in contacts {
            let mut taken = 0;
            for (s, _) in a.segments(c) {
                let body = &mut self.body_of[s.first];
                if *body == u32::MAX {
                    *body = self.taken.len() as u32;
                    self.taken.push(0);
                }
                taken |= self.taken[*body as usize];
            }
            let colour = taken.trailing_ones();
            for (s, _) in a.segments(c) {
                self.taken[self.body_of[s.first] as usize] |= 1u64.checked_shl(colour).unwrap_or(0);
            }
            self.colour.push(colour);
            let least = colour as usize + 2;
            self.starts.resize(self.starts.len().max(least), 0);
            self.starts[colour as usize + 1] += 1;
        }
        self.taken.push(0);
        for k in 1..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        // counting sort; each start moves to the next one's place
        self.order.clear();
        self.order.resize(contacts.len(), 0);
        for first in [true, false] {
            for (&c, &colour) in contacts.iter().zip(&self.colour).filter(|(c, _)| closed(**c) == first) {
                let at = &mut self.starts[colour as usize];
                self.order[*at] = c;
                *at += 1;
            }
        }
        self.starts.pop();
        self.starts.insert(0, 0);
    }
}

fn lane_of(v: &mut f64x4, lane: usize) -> &mut f64 {
    match lane {
        0 => &mut v.0,
        1 => &mut v.1,
        2 => &mut v.2,
        _ => &mut v.3,
    }
}

impl<const D: usize, const K: usize> Group<D, K> {
    const EMPTY: Self = Self {
        w: [[ZERO; 2 * SPEEDS]; D],
        b: [ZERO; D],
        yields: ZERO,
        compliance: [ZERO; K],
        column: [ZERO; D],
        normal_inverse: ONE,
        tangent_inverse: [ONE; K],
        mu: ZERO,
        bodies: [[0; LANES]; 2],
    };
}

impl<const K: usize> Rest<K> {
    const EMPTY: Self = Self { tangent: [ONE; K], contacts: [u32::MAX; LANES] };
}

/// Forces of a group.
pub(crate) type Forces<const D: usize> = [f64x4; D];

/// A packed island and the lanes to sweep it with.
#[derive(Debug)]
pub(crate) struct Lanes<'a, const D: usize, const K: usize> {
    packed: &'a mut Packed<D, K>,
    simd: V3,
    /// Of the proximal term, in units of each contact's `A_nn`.
    weight: f64,
    /// Product of the last sweep's movement with the one before.
    along: f64,
    /// Of the last movement, if velocities have leapt and forces will.
    share: Option<f64>,
    sweeps: usize,
    /// Rows of a sweep, and the work that may be done.
    rows: usize,
    pub budget: Budget,
}

impl<const D: usize, const K: usize> Lanes<'_, D, K> {
    /// Velocities of the forces as they are; without momentum.
    fn begin(&mut self) {
        let Packed { groups, forces, open, speeds, taken, .. } = &mut *self.packed;
        open.fill(false);
        speeds.at.clear();
        speeds.at.resize(taken.len(), AT_REST);
        let x = Arithmetic(self.simd);
        self.simd.vectorize(Push { groups, forces: &forces.at, speeds: &mut speeds.at, x });
        forces.before.clone_from(&forces.at);
        speeds.before.clone_from(&speeds.at);
        self.share = None;
    }

    /// The proximal weight, in units of each contact's `A_nn`.
    pub fn set_weight(&mut self, weight: f64) {
        self.weight = weight;
        let Packed { groups, rest, .. } = &mut *self.packed;
        self.simd.vectorize(Weigh { groups, rest, weight, x: Arithmetic(self.simd) });
    }

    /// Makes the forces the proximal centre.
    pub fn set_centre(&mut self) {
        self.packed.centre.clone_from(&self.packed.forces.at);
    }

    /// Keeps the forces.
    pub fn keep(&self, to: &mut Vec<Forces<D>>) {
        to.clone_from(&self.packed.forces.at);
    }

    /// Takes forces that were kept; without momentum.
    pub fn put(&mut self, from: &[Forces<D>]) {
        self.packed.forces.at.copy_from_slice(from);
        self.begin();
    }

    /// As [`Island::residual`], with the proximal term.
    pub fn proximal_residual(&mut self) -> f64 {
        self.judge(self.weight)
    }

    fn judge(&mut self, weight: f64) -> f64 {
        let Packed { groups, forces, centre, speeds, .. } = &*self.packed;
        let (forces, speeds, x) = (&forces.at, &speeds.at, Arithmetic(self.simd));
        let total = self.simd.vectorize(Judge { groups, forces, centre, speeds, weight, x });
        if total.is_nan() { f64::INFINITY } else { total }
    }

    /// Writes the forces back, and what is left of the budget.
    pub fn give(self, lambda: &mut [f64], budget: &mut Budget) {
        for (rest, force) in self.packed.rest.iter().zip(&self.packed.forces.at) {
            for (lane, &c) in rest.contacts.iter().enumerate().filter(|(_, c)| **c != u32::MAX) {
                for (i, mut force) in force.iter().copied().enumerate() {
                    lambda[D * c as usize + i] = *lane_of(&mut force, lane);
                }
            }
        }
        *budget = self.budget;
    }
}

impl<const D: usize, const K: usize> Island for Lanes<'_, D, K> {
    fn sweep(&mut self) -> f64 {
        let Packed { groups, forces, centre, tau, open, speeds, .. } = &mut *self.packed;
        let look = self.sweeps.is_multiple_of(LOOK);
        self.sweeps += 1;
        self.budget.spend(self.rows);
        let (weight, share, x) = (self.weight, self.share.take(), Arithmetic(self.simd));
        if share.is_none() {
            speeds.before.copy_from_slice(&speeds.at);
        }
        let (share, speeds) = (share.unwrap_or(0.0), &mut speeds.at);
        let (total, along) =
            self.simd.vectorize(Sweep { groups, forces, centre, tau, open, look, speeds, weight, share, x });
        self.along = along;
        total
    }

    fn leap(&mut self, share: f64) {
        let share = if self.along < 0.0 { 0.0 } else { share };
        self.share = Some(share);
        let speeds = &mut self.packed.speeds;
        self.simd.vectorize(Leap { speeds, share, x: Arithmetic(self.simd) });
    }

    fn residual(&mut self) -> f64 {
        self.judge(0.0)
    }

    fn out_of_budget(&self) -> bool {
        self.budget.ended().is_some()
    }
}

/// Velocities of a group's bodies.
#[inline(always)]
fn gather(x: Arithmetic, speeds: &[Body], bodies: &[u32; LANES]) -> [f64x4; SPEEDS] {
    let own = bodies.map(|b| speeds[b as usize].0);
    let [a, b, c, d] = x.transpose(own.map(|v| v[0]));
    let [e, f, ..] = x.transpose(own.map(|v| v[1]));
    [a, b, c, d, e, f]
}

#[inline(always)]
fn scatter(x: Arithmetic, speeds: &mut [Body], bodies: &[u32; LANES], [a, b, c, d, e, f]: [f64x4; SPEEDS]) {
    let (first, last) = (x.transpose([a, b, c, d]), x.transpose([e, f, ZERO, ZERO]));
    for lane in 0..LANES {
        speeds[bodies[lane] as usize] = Body([first[lane], last[lane]]);
    }
}

/// Velocities at the contacts of a group.
#[inline(always)]
fn speed_of<const D: usize, const K: usize>(
    x: Arithmetic,
    group: &Group<D, K>,
    force: &Forces<D>,
    own: &[f64x4; SPEEDS],
    other: &[f64x4; SPEEDS],
) -> [f64x4; D] {
    let mut s = [ZERO; D];
    for i in 0..D {
        let own_yield = if i == 0 { group.yields } else { group.compliance[kind(i)] };
        s[i] = x.plus_product(row_speed(x, group, i, own, other), own_yield, force[i]);
    }
    s
}

/// One of them, without what the contact itself yields.
#[inline(always)]
fn row_speed<const D: usize, const K: usize>(
    x: Arithmetic,
    group: &Group<D, K>,
    i: usize,
    own: &[f64x4; SPEEDS],
    other: &[f64x4; SPEEDS],
) -> f64x4 {
    let (mut first, mut second) = (group.b[i], ZERO);
    for j in 0..SPEEDS {
        first = x.plus_product(first, group.w[i][j], own[j]);
        second = x.plus_product(second, group.w[i][SPEEDS + j], other[j]);
    }
    x.plus(first, second)
}

/// The proximal term, which is added to the speeds of a group.
#[inline(always)]
fn add_proximal<const D: usize, const K: usize>(
    x: Arithmetic,
    weight: f64,
    group: &Group<D, K>,
    force: &Forces<D>,
    centre: &Forces<D>,
    s: &mut [f64x4; D],
) {
    if weight != 0.0 {
        let weight = x.times(x.splat(weight), group.column[0]);
        (0..D).for_each(|i| s[i] = x.plus_product(s[i], weight, x.minus(force[i], centre[i])));
    }
}

/// The normal speed of a group without force, proximal term included.
#[inline(always)]
fn opening_speed<const D: usize, const K: usize>(
    x: Arithmetic,
    weight: f64,
    group: &Group<D, K>,
    own: &[f64x4; SPEEDS],
    other: &[f64x4; SPEEDS],
    centre: &Forces<D>,
) -> f64x4 {
    let s = row_speed(x, group, 0, own, other);
    if weight == 0.0 {
        return s;
    }
    x.minus_product(s, x.times(x.splat(weight), group.column[0]), centre[0])
}

struct Push<'a, const D: usize, const K: usize> {
    groups: &'a [Group<D, K>],
    forces: &'a [Forces<D>],
    speeds: &'a mut [Body],
    x: Arithmetic,
}

impl<const D: usize, const K: usize> NullaryFnOnce for Push<'_, D, K> {
    type Output = ();

    /// Adds what the forces do to the velocities.
    #[inline(always)]
    fn call(self) {
        let Self { groups, forces, speeds, x } = self;
        for (g, forces) in groups.iter().zip(forces) {
            for (k, bodies) in g.bodies.iter().enumerate() {
                let mut own = gather(x, speeds, bodies);
                for j in 0..SPEEDS {
                    for i in 0..D {
                        own[j] = x.plus_product(own[j], g.w[i][SPEEDS * k + j], forces[i]);
                    }
                }
                scatter(x, speeds, bodies, own);
            }
        }
    }
}

struct Weigh<'a, const D: usize, const K: usize> {
    groups: &'a mut [Group<D, K>],
    rest: &'a [Rest<K>],
    weight: f64,
    x: Arithmetic,
}

impl<const D: usize, const K: usize> NullaryFnOnce for Weigh<'_, D, K> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { groups, rest, weight, x } = self;
        for (g, rest) in groups.iter_mut().zip(rest) {
            let weight = x.times(x.splat(weight), g.column[0]);
            g.normal_inverse = x.over(ONE, x.plus(g.column[0], weight));
            g.tangent_inverse = rest.tangent.map(|t| x.over(ONE, x.plus(t, weight)));
        }
    }
}

struct Leap<'a> {
    speeds: &'a mut Moving<Body>,
    share: f64,
    x: Arithmetic,
}

impl NullaryFnOnce for Leap<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { speeds: Moving { at, before }, share, x } = self;
        let share = x.splat(share);
        for (at, before) in at.iter_mut().zip(before) {
            for (at, before) in at.0.iter_mut().zip(&mut before.0) {
                let leap = x.times(share, x.minus(*at, *before));
                *before = *at;
                *at = x.plus(*at, leap);
            }
        }
    }
}

struct Judge<'a, const D: usize, const K: usize> {
    groups: &'a [Group<D, K>],
    forces: &'a [Forces<D>],
    centre: &'a [Forces<D>],
    speeds: &'a [Body],
    weight: f64,
    x: Arithmetic,
}

impl<const D: usize, const K: usize> NullaryFnOnce for Judge<'_, D, K> {
    type Output = f64;

    /// As [`crate::element::law::natural_disc`].
    #[inline(always)]
    fn call(self) -> f64 {
        let Self { groups, forces, centre, speeds, weight, x } = self;
        let mut total = ZERO;
        for ((g, force), centre) in groups.iter().zip(forces).zip(centre) {
            let (own, other) = (gather(x, speeds, &g.bodies[0]), gather(x, speeds, &g.bodies[1]));
            let mut s = speed_of(x, g, force, &own, &other);
            add_proximal(x, weight, g, force, centre, &mut s);
            let along = |v: &[f64x4; D]| {
                let squares = v[2..].iter().fold(x.times(v[1], v[1]), |sum, v| x.plus_product(sum, *v, *v));
                x.root(squares)
            };
            s[0] = x.plus_product(s[0], g.mu, along(&s));
            let step: [f64x4; D] = std::array::from_fn(|i| x.minus(force[i], s[i]));
            let length = along(&step);
            let inside = x.at_most(length, x.times(g.mu, step[0]));
            let polar = x.at_most(x.plus_product(step[0], g.mu, length), ZERO);
            let height = x.over(x.plus_product(step[0], g.mu, length), x.plus_product(ONE, g.mu, g.mu));
            let shrink = x.over(x.times(g.mu, height), length);
            let map: [f64x4; D] = std::array::from_fn(|i| {
                let on = if i == 0 { height } else { x.times(step[i], shrink) };
                let within = x.pick(inside, s[i], x.minus(force[i], on));
                x.pick(polar, force[i], within)
            });
            total = x.plus(total, x.square(&map));
        }
        x.sum(total)
    }
}

#[cfg(test)]
mod tests;
