//! Arithmetic of four lanes.

use pulp::x86::V3;
use pulp::{Simd, f64x4, m64x4};

/// Four numbers at a time; to be used within `vectorize` alone, for what is not inlined there is slow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arithmetic(pub V3);

impl Arithmetic {
    #[inline(always)]
    pub fn splat(self, a: f64) -> f64x4 {
        self.0.splat_f64s(a)
    }

    #[inline(always)]
    pub fn plus(self, a: f64x4, b: f64x4) -> f64x4 {
        self.0.add_f64s(a, b)
    }

    #[inline(always)]
    pub fn minus(self, a: f64x4, b: f64x4) -> f64x4 {
        self.0.sub_f64s(a, b)
    }

    #[inline(always)]
    pub fn times(self, a: f64x4, b: f64x4) -> f64x4 {
        self.0.mul_f64s(a, b)
    }

    #[inline(always)]
    pub fn over(self, a: f64x4, b: f64x4) -> f64x4 {
        self.0.div_f64s(a, b)
    }

    /// `a + b c`.
    #[inline(always)]
    pub fn plus_product(self, a: f64x4, b: f64x4, c: f64x4) -> f64x4 {
        self.0.mul_add_e_f64s(b, c, a)
    }

    /// `a - b c`.
    #[inline(always)]
    pub fn minus_product(self, a: f64x4, b: f64x4, c: f64x4) -> f64x4 {
        self.0.negate_mul_add_e_f64s(b, c, a)
    }

    #[inline(always)]
    pub fn square(self, v: &[f64x4]) -> f64x4 {
        v[1..].iter().fold(self.times(v[0], v[0]), |sum, v| self.plus_product(sum, *v, *v))
    }

    #[inline(always)]
    pub fn root(self, a: f64x4) -> f64x4 {
        self.0.sqrt_f64s(a)
    }

    #[inline(always)]
    pub fn max(self, a: f64x4, b: f64x4) -> f64x4 {
        self.0.max_f64s(a, b)
    }

    #[inline(always)]
    pub fn min(self, a: f64x4, b: f64x4) -> f64x4 {
        self.0.min_f64s(a, b)
    }

    /// Of all lanes.
    #[inline(always)]
    pub fn sum(self, a: f64x4) -> f64 {
        self.0.reduce_sum_f64s(a)
    }

    #[inline(always)]
    pub fn at_most(self, a: f64x4, b: f64x4) -> m64x4 {
        self.0.less_than_or_equal_f64s(a, b)
    }

    #[inline(always)]
    pub fn all(self, a: m64x4) -> bool {
        self.0.first_true_m64s(self.0.not_m64s(a)) >= 4
    }

    #[inline(always)]
    pub fn pick(self, which: m64x4, yes: f64x4, no: f64x4) -> f64x4 {
        self.0.select_f64s(which, yes, no)
    }

    /// Rows become columns.
    #[inline(always)]
    pub fn transpose(self, rows: [f64x4; 4]) -> [f64x4; 4] {
        self.0.deinterleave_shfl_f64s(rows)
    }
}
