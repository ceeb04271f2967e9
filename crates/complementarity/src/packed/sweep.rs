//! A sweep over the groups of an island, and the projection of friction forces.

use super::lanes::Arithmetic;
use super::{
    Body, Forces, Group, Moving, ONE, SPEEDS, ZERO, add_proximal, gather, kind, opening_speed, scatter,
    speed_of,
};
use pulp::{NullaryFnOnce, f64x4};

pub(super) struct Sweep<'a, const D: usize, const K: usize> {
    pub groups: &'a [Group<D, K>],
    pub forces: &'a mut Moving<Forces<D>>,
    pub centre: &'a [Forces<D>],
    pub tau: &'a mut [f64x4],
    pub open: &'a mut [bool],
    /// Whether open groups are looked at.
    pub look: bool,
    pub speeds: &'a mut [Body],
    pub weight: f64,
    pub share: f64,
    pub x: Arithmetic,
}

impl<const D: usize, const K: usize> NullaryFnOnce for Sweep<'_, D, K> {
    type Output = (f64, f64);

    /// What [`Island::sweep`] returns, and the product of this movement with the one before.
    #[inline(always)]
    fn call(self) -> (f64, f64) {
        let Self { groups, forces: Moving { at, before }, centre, tau, open, look, speeds, weight, share, x } =
            self;
        let (mut total, mut along, share) = (ZERO, ZERO, x.splat(share));
        let groups = groups.iter().zip(at).zip(before).zip(centre).zip(tau).zip(open);
        for (((((g, at), before), centre), tau), open) in groups {
            if *open && !look {
                continue;
            }
            let mut own = gather(x, speeds, &g.bodies[0]);
            let mut other = gather(x, speeds, &g.bodies[1]);
            // without force, before too, and lifting off: nothing to do
            *open = x.all(x.at_most(x.plus(x.square(at), x.square(before)), ZERO))
                && x.all(x.at_most(ZERO, opening_speed(x, weight, g, &own, &other, centre)));
            if *open {
                continue;
            }
            let leap: [f64x4; D] = std::array::from_fn(|i| x.times(share, x.minus(at[i], before[i])));
            let held: Forces<D> = std::array::from_fn(|i| x.plus(at[i], leap[i]));
            let mut s = speed_of(x, g, &held, &own, &other);
            add_proximal(x, weight, g, &held, centre, &mut s);
            let normal = x.max(x.minus_product(held[0], g.normal_inverse, s[0]), ZERO);
            let change_n = x.minus(normal, held[0]);
            // friction sees the new normal force
            let mut force = held;
            for i in 1..D {
                let s = x.plus_product(s[i], g.column[i], change_n);
                force[i] = x.minus_product(held[i], g.tangent_inverse[kind(i)], s);
            }
            force[0] = x.times(g.mu, normal);
            g.project(x, &mut force, tau);
            force[0] = normal;
            let change: [f64x4; D] = std::array::from_fn(|i| x.minus(force[i], held[i]));
            *before = *at;
            *at = force;
            for j in 0..SPEEDS {
                for i in 0..D {
                    own[j] = x.plus_product(own[j], g.w[i][j], change[i]);
                    other[j] = x.plus_product(other[j], g.w[i][SPEEDS + j], change[i]);
                }
            }
            scatter(x, speeds, &g.bodies[0], own);
            scatter(x, speeds, &g.bodies[1], other);
            let unit = x.min(x.times(g.column[0], g.column[0]), ONE);
            total = x.plus_product(total, x.square(&change), unit);
            let mut product = ZERO;
            for i in 0..D {
                product = x.plus_product(product, change[i], leap[i]);
            }
            along = x.plus_product(along, product, g.column[0]);
        }
        (x.sum(total), x.sum(along))
    }
}

/// Newton steps of a projection; a sweep starts where the last one ended, so that they soon find its root to rounding.
const ROOT_STEPS: usize = 3;
/// Share of the aim below which no length is sought: the limit may vanish.
const LEAST_LENGTH: f64 = 1e-9;

impl<const D: usize, const K: usize> Group<D, K> {
    /// The friction force of length at most `force[0]` that is nearest to `force[1..]`, by the steps of its kinds. With one kind that is a matter of its length;
    /// else of `d / (d + tau)`, `d` the inverse of the step, with `tau` such that the length is right (Newton on the inverse length, as [`crate::one_contact`]).
    #[inline(always)]
    fn project(&self, x: Arithmetic, force: &mut Forces<D>, tau: &mut f64x4) {
        let limit = force[0];
        let mut squares = [ZERO; K];
        for i in 1..D {
            squares[kind(i)] = x.plus_product(squares[kind(i)], force[i], force[i]);
        }
        let square = squares.into_iter().fold(ZERO, |sum, s| x.plus(sum, s));
        let sticks = x.at_most(square, x.times(limit, limit));
        let mut factors = [ONE; K];
        let mut length = x.root(square);
        if K > 1 && !x.all(sticks) {
            let aim = x.max(limit, x.times(x.splat(LEAST_LENGTH), length));
            let mut root = *tau;
            for step in 0..=ROOT_STEPS {
                let (mut sum, mut slope) = (ZERO, ZERO);
                for k in 0..K {
                    let factor = x.over(ONE, x.plus_product(ONE, root, self.tangent_inverse[k]));
                    let part = x.times(squares[k], x.times(factor, factor));
                    sum = x.plus(sum, part);
                    slope = x.plus_product(slope, part, x.times(factor, self.tangent_inverse[k]));
                    factors[k] = factor;
                }
                length = x.root(sum);
                if step < ROOT_STEPS {
                    let missing = x.over(x.minus(length, aim), aim);
                    root = x.max(x.plus_product(root, x.over(sum, slope), missing), ZERO);
                }
            }
            *tau = x.pick(sticks, ZERO, root);
        }
        let shrink = x.over(limit, length);
        let factors = factors.map(|factor| x.pick(sticks, ONE, x.times(factor, shrink)));
        for i in 1..D {
            force[i] = x.times(force[i], factors[kind(i)]);
        }
    }
}
