//! Stiffness `K`, damping `C` and the step's blocks `E^-1 = (h K + C)^-1` and `E^-1 K` of a contact law.
//!
//! Every law is held as modes: `K = U diag(k) U'`, `C = U diag(c) U'`. Then
//!
//! ```text
//! E^-1 = U diag(1/(h k + c)) U'        E^-1 K = U diag(k/(h k + c)) U'
//! ```
//!
//! For the half-space `Xi = U diag(xi) U'` is decomposed once, `k = 1/xi` and `c = 2/sqrt(xi)`
//! (song2004 2.2) or `c = time/xi`. For Kelvin-Voigt `U = I`. A rigid contact has no rows.
//!
//! A law that varies with the configuration does so by one number a contact, its *scale*: `K(q) = scale K`, `C(q) = scale C`, and
//! so `E^-1(q) = E^-1 / scale`, `E^-1 K` as it is. For Hertz and Mindlin `K` is the stiffness at an overlap of `R`, and the scale is
//! `sqrt(d/R)`. Of Hunt and Crossley the number is the overlap `d` itself, `K_n(d) = K d^(beta-1)` and `C_n(d) = 3/2 alpha d K_n(d)`; tangential
//! stiffness and damping do not vary. Other laws have scale 1.
//!
//! Symbols: `delta` deformation, `lambda` force, `h` step; rows element by element n, t(, o).

use super::half_space::{Directions, Grid, Influence, compliance_matrix};
use super::invalid::{InvalidContact, check};
use super::law::{Law, PatchDamping};
use super::material::Pair;
use complementarity::eigen::symmetric_eigen;
use complementarity::matrix::{Matrix, dot};
use std::sync::Arc;

/// The smallest eigenvalue of a compliance matrix must be above this share of the largest: below, `K` has
/// no digits left.
const LEAST_EIGENVALUE: f64 = 1e-13;

/// The least stiffness of a Hertz-Mindlin contact over `m_eff / h^2`. At `d <= 0` its stiffness is 0, and `E` has no inverse;
/// under this one a step changes the overlap by 1e-8 of itself, and `E^-1` is 1e8 times what the masses put into `A`.
const LEAST_STIFFNESS: f64 = 1e-8;

/// But no more than the stiffness at this share of the radius as overlap: `m_eff / h^2` grows without bound as `h` falls.
const LEAST_OVERLAP: f64 = 1e-6;

/// A step from overlap `r d` to `d` under the stiffness at `max(r, this) d` takes at least the change of Hertz' energy: `sqrt(this) (1 - r) >= 2/5 (1 - r^(5/2))`.
const DEEPENS: f64 = 0.29;

/// Share by which the stiffness may grow from one step to the next before tangential springs keep their force instead of their deformation: the overlap
/// of the shapes and the one remembered differ by rounding, and a step is differentiable there.
const SAME_STIFFNESS: f64 = 0.01;

/// The least overlap at which Hunt and Crossley's stiffness is taken, m, unless a lower one is stiff enough.
const LEAST_DEPTH: f64 = 1e-9;

/// Stiffness and damping of one kind of contact, independent of the step. Built once for all contacts
/// with one law and one pair of materials.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    grid: Grid,
    /// `U`, and per mode `k` and `c`.
    vectors: Matrix,
    k: Vec<f64>,
    c: Vec<f64>,
    stiffness: Matrix,
    damping: Matrix,
    /// `R` of Hertz and Mindlin.
    radius: Option<f64>,
    /// `beta` and `3/2 alpha` of Hunt and Crossley.
    power: Option<[f64; 2]>,
    transport: bool,
}

impl Patch {
    /// The patch of a law between two materials. The pair matters to [`Law::HalfSpace`] and [`Law::HertzMindlin`] alone.
    pub fn new(law: &Law, pair: &Pair, directions: Directions) -> Result<Self, InvalidContact> {
        law.validate()?;
        let grid = law.grid(directions);
        let rows = directions.count();
        let each = |[n, t]: [f64; 2]| (0..rows).map(|a| if a == 0 { n } else { t }).collect();
        let (mut of_radius, mut power) = (None, None);
        let transport = matches!(law, Law::HalfSpace { transport: true, .. }) && grid.count() > 1;
        let (vectors, k, c) = match *law {
            Law::Rigid | Law::Auto(_) => (Matrix::zeros(0, 0), Vec::new(), Vec::new()),
            Law::KelvinVoigt { stiffness, damping } | Law::Layer { stiffness, damping, .. } => {
                (Matrix::identity(rows), each(stiffness), each(damping))
            }
            Law::HalfSpace { influence, damping, .. } => {
                let (xi, vectors) = decompose(&grid, pair, influence)?;
                let k: Vec<f64> = xi.iter().map(|xi| 1.0 / xi).collect();
                let c = match damping {
                    PatchDamping::Root => k.iter().map(|k| 2.0 * k.sqrt()).collect(),
                    PatchDamping::Proportional { time } => k.iter().map(|k| time * k).collect(),
                };
                (vectors, k, c)
            }
            Law::HuntCrossley { stiffness, exponent, dissipation, tangential: [k, c] } => {
                power = Some([exponent, 1.5 * dissipation]);
                (Matrix::identity(rows), each([stiffness, k]), each([0.0, c]))
            }
            Law::HertzMindlin { radius, time } => {
                let [n, t] = hertz_mindlin(pair, radius)?;
                of_radius = Some(radius);
                (Matrix::identity(rows), each([n, t]), each([time * n, time * t]))
            }
        };
        let (mut stiffness, mut damping) = (Matrix::zeros(k.len(), k.len()), Matrix::zeros(k.len(), k.len()));
        let mut scaled = vec![0.0; BLOCK * k.len()];
        from_modes(&vectors, |m| k[m], &mut scaled, &mut stiffness);
        from_modes(&vectors, |m| c[m], &mut scaled, &mut damping);
        Ok(Self { grid, vectors, k, c, stiffness, damping, radius: of_radius, power, transport })
    }

    /// The elements and where they are.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Whether its elements travel over the materials.
    pub fn transports(&self) -> bool {
        self.transport
    }

    /// Rows of deformation: 0 for a rigid contact.
    pub fn rows(&self) -> usize {
        self.k.len()
    }

    /// `K`, N/m; of a law that varies, at scale 1.
    pub fn stiffness(&self) -> &Matrix {
        &self.stiffness
    }

    /// `C`, N s/m; of a law that varies, at scale 1.
    pub fn damping(&self) -> &Matrix {
        &self.damping
    }

    /// Whether `K` and `C` depend on the overlap.
    pub fn varies(&self) -> bool {
        self.radius.is_some() || self.power.is_some()
    }

    /// Normal force of a point at an overlap (m) that grows at a rate (m/s), N, where the force is explicit: song2001 (10), (11). Below 0 the damper
    /// would pull.
    pub fn normal_force(&self, overlap: f64, rate: f64) -> f64 {
        match self.power {
            Some([exponent, dissipation]) => {
                self.k[0] * overlap.max(0.0).powf(exponent) * (1.0 + dissipation * rate)
            }
            None => self.k[0] * overlap + self.c[0] * rate,
        }
    }

    /// The overlap (m) at which [`Self::normal_force`] is `force` (N, at least 0) while the force changes at `rate` (N/s) on the slow manifold, and the
    /// rate of that overlap (m/s): `f(d) + g(d, d') = force`, `f'(d) d' = rate`. Where forces change faster than the layer follows, the rate is bounded so that
    /// the damper carries at most half of the force.
    pub fn overlap_under(&self, force: f64, rate: f64) -> [f64; 2] {
        let k = self.k[0];
        match self.power {
            Some([exponent, dissipation]) => {
                let d = (force / k).powf(1.0 / exponent);
                let slope = k * exponent * d.powf(exponent - 1.0);
                let by = if slope > 0.0 { bounded(rate / slope, 0.5 / dissipation) } else { 0.0 };
                [(force / (k * (1.0 + dissipation * by))).powf(1.0 / exponent), by]
            }
            None => {
                let by = bounded(rate / k, 0.5 * force / self.c[0]);
                [(force - self.c[0] * by) / k, by]
            }
        }
    }

    /// The same along a tangent: `K delta + C delta' = force`, `K delta' = rate`.
    pub fn tangential_under(&self, force: f64, rate: f64) -> [f64; 2] {
        let [k, c] = self.tangential();
        let by = bounded(rate / k, 0.5 * force.abs() / c);
        [(force - c * by) / k, by]
    }

    /// Tangential stiffness, N/m, and damping, N s/m, of a point.
    pub fn tangential(&self) -> [f64; 2] {
        [self.k[1], self.c[1]]
    }

    /// `1/2 delta' K delta`, J. Hertz and Mindlin: `2/5 K_n delta_n^2 + 1/2 K_t delta_t^2` with `K` at the overlap `delta_n`,
    /// the first being the integral of the normal force; Hunt and Crossley: `K delta_n^(beta+1)/(beta+1) + 1/2 K_t delta_t^2`.
    ///
    /// # Panics
    /// If the slice has not [`Patch::rows`] entries.
    pub fn elastic_energy(&self, delta: &[f64]) -> f64 {
        assert_eq!(delta.len(), self.rows(), "one entry a row of deformation");
        if self.varies() {
            let tangential: f64 = (1..self.rows()).map(|i| 0.5 * self.k[i] * delta[i] * delta[i]).sum();
            return match self.power {
                Some([exponent, _]) => {
                    self.k[0] * delta[0].max(0.0).powf(exponent + 1.0) / (exponent + 1.0) + tangential
                }
                None => self.scale(delta[0])[0] * (0.4 * self.k[0] * delta[0] * delta[0] + tangential),
            };
        }
        0.5 * (0..self.rows()).map(|i| delta[i] * dot(self.stiffness.row(i), delta)).sum::<f64>()
    }

    /// The scale of `K` and `C` at an overlap of the undeformed shapes, m, and its derivative, 1/m: `sqrt(d/R)`, and 0
    /// without overlap; 1 if the law does not vary.
    pub(super) fn scale(&self, overlap: f64) -> [f64; 2] {
        match self.radius {
            None => [1.0, 0.0],
            Some(radius) if overlap > 0.0 => {
                let scale = (overlap / radius).sqrt();
                [scale, 0.5 * scale / overlap]
            }
            Some(_) => [0.0; 2],
        }
    }
}

/// A patch at a step `h`: what the contact problem takes from it. Nothing here allocates after `new`.
#[derive(Debug, Clone, PartialEq)]
pub struct Compliance {
    patch: Arc<Patch>,
    h: f64,
    e_inv: Matrix,
    e_inv_k: Matrix,
    scaled: Vec<f64>,
}

impl Compliance {
    /// The blocks at step `h`.
    pub fn new(patch: Arc<Patch>, h: f64) -> Result<Self, InvalidContact> {
        let n = patch.rows();
        let (e_inv, e_inv_k) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        let mut new = Self { patch, h: f64::NAN, e_inv, e_inv_k, scaled: vec![0.0; BLOCK * n] };
        new.update(h).map(|()| new)
    }

    /// Goes to another step; at the same one nothing is done. On an error the old step stays.
    pub fn update(&mut self, h: f64) -> Result<(), InvalidContact> {
        check("step", h, "above 0 and finite", |h| h > 0.0 && h.is_finite())?;
        if h == self.h {
            return Ok(());
        }
        self.h = h;
        let Patch { vectors, k, c, .. } = &*self.patch;
        // a direction without stiffness and damping carries no force
        let inverse = |m: usize| if h * k[m] + c[m] > 0.0 { 1.0 / (h * k[m] + c[m]) } else { 1.0 };
        from_modes(vectors, inverse, &mut self.scaled, &mut self.e_inv);
        from_modes(vectors, |m| k[m] * inverse(m), &mut self.scaled, &mut self.e_inv_k);
        Ok(())
    }

    /// The patch, with `K`, `C` and places of elements.
    pub fn patch(&self) -> &Patch {
        &self.patch
    }

    /// The step `h`, s.
    pub fn step(&self) -> f64 {
        self.h
    }

    /// Rows of deformation: 0 for a rigid contact.
    pub fn rows(&self) -> usize {
        self.patch.rows()
    }

    /// Whether `K` and `C` depend on the configuration.
    pub fn varies(&self) -> bool {
        self.patch.varies()
    }

    /// `K(q)` over [`Patch::stiffness`], by the overlap of the undeformed shapes (m) and `w M^-1 w'` of the normal row
    /// (1/kg); 1 if the law does not vary.
    ///
    /// Of Hunt and Crossley the overlap, at least 1e-9 m or, if that is less, what makes `h^2 K_n` 1e-8 of the effective mass. Else
    /// `sqrt(d/R)`, and at least what makes `h^2 K_n` 1e-8 of the effective mass, or the overlap 1e-6 of the radius if that
    /// is less.
    pub fn scale(&self, overlap: f64, mobility: f64) -> f64 {
        if !self.varies() {
            return 1.0;
        }
        let least = LEAST_STIFFNESS / (self.h * self.h * self.patch.k[0] * mobility);
        if let Some([exponent, _]) = self.patch.power {
            let stiff = if exponent > 1.0 { least.powf(1.0 / (exponent - 1.0)) } else { 0.0 };
            return overlap.max(stiff.min(LEAST_DEPTH));
        }
        self.patch.scale(overlap)[0].max(least.min(LEAST_OVERLAP.sqrt()))
    }

    /// `h^2 K_n(q)` over the effective mass of the normal row, by overlap and mobility as in [`Self::scale`].
    pub fn stiffness_share(&self, overlap: f64, mobility: f64) -> f64 {
        let scale = self.scale(overlap, mobility);
        let share = self.patch.power.map_or(scale, |[exponent, _]| scale.powf(exponent - 1.0));
        self.h * self.h * self.patch.k[0] * share * mobility
    }

    /// `E^-1`, m/(N s), and `E^-1 K`, 1/s, of a direction of a law that varies, at a scale.
    pub fn point(&self, scale: f64, direction: usize) -> [f64; 2] {
        match self.patch.power {
            Some([exponent, dissipation]) if direction == 0 => {
                let stiffness = self.patch.k[0] * scale.powf(exponent - 1.0);
                let relaxed = 1.0 / (self.h + dissipation * scale);
                [relaxed / stiffness, relaxed]
            }
            Some(_) => [self.e_inv[(direction, direction)], self.e_inv_k[(direction, direction)]],
            None => [self.e_inv[(direction, direction)] / scale, self.e_inv_k[(direction, direction)]],
        }
    }

    /// Share of the overlap at the end of an impact's first step whose stiffness it has.
    fn deepens(&self) -> f64 {
        match self.patch.power {
            // K (x d)^(beta-1) d^2 is the elastic energy K d^(beta+1)/(beta+1)
            Some([exponent, _]) if exponent > 1.0 => {
                (exponent + 1.0).powf(-1.0 / (exponent - 1.0)).max(DEEPENS)
            }
            _ => DEEPENS,
        }
    }

    /// The least overlap (m) whose stiffness a step may have that would end at the overlap `ahead` without the contact: `DEEPENS` times the overlap `d+` that it
    /// does end at under that stiffness, `d+ (1 + h^2 K_n / m) = ahead`, `1/m` being the mobility of the normal row. With less a step that goes in deep, the first of
    /// an impact, would pay less than the elastic energy that it stores.
    pub fn least_overlap(&self, ahead: f64, mobility: f64) -> f64 {
        let mut d = ahead;
        if d <= 0.0 {
            return 0.0;
        }
        // convex in d, and above 0 at the start: Newton's steps fall to the root
        let deepens = self.deepens();
        let exponent = self.patch.power.map_or(1.5, |[exponent, _]| exponent);
        for _ in 0..50 {
            let share = self.stiffness_share(deepens * d, mobility);
            let step = (d * (1.0 + share) - ahead) / (1.0 + exponent * share);
            d = (d - step).max(0.0);
            if step <= 1e-9 * d {
                break;
            }
        }
        deepens * d
    }

    /// `E^-1 = (h K + C)^-1`, m/(N s), at scale 1.
    pub fn e_inv(&self) -> &Matrix {
        &self.e_inv
    }

    /// `E^-1 K`, 1/s, whatever the scale.
    pub fn e_inv_k(&self) -> &Matrix {
        &self.e_inv_k
    }

    /// `K delta` at scale 1.
    ///
    /// # Panics
    /// If a slice has not [`Compliance::rows`] entries (as do the other functions that take slices).
    pub fn stiffness_times(&self, delta: &[f64], force: &mut [f64]) {
        product(&self.patch.stiffness, delta, force);
    }

    /// `C delta'` at scale 1.
    pub fn damping_times(&self, rate: &[f64], force: &mut [f64]) {
        product(&self.patch.damping, rate, force);
    }

    /// `delta' . C delta'` at a scale, W. `damping` is scratch.
    pub fn damping_power(&self, scale: f64, rate: &[f64], damping: &mut [f64]) -> f64 {
        self.damping_times(rate, damping);
        let sum = |from: usize| rate[from..].iter().zip(&damping[from..]).map(|(a, b)| *a * *b).sum::<f64>();
        match self.patch.power {
            Some([exponent, dissipation]) => {
                self.patch.k[0] * dissipation * scale.powf(exponent) * rate[0] * rate[0] + sum(1)
            }
            None => scale * sum(0),
        }
    }

    /// See [`Patch::elastic_energy`].
    pub fn elastic_energy(&self, delta: &[f64]) -> f64 {
        self.patch.elastic_energy(delta)
    }

    /// `delta+ = delta + h E^-1 (lambda - K delta)`: the deformation after a step under `lambda`, with `K` and `C` at `scale`.
    ///
    /// Where the stiffness varies and has grown, tangential deformations are reduced to those of the same force: the force of a spring that stiffens
    /// under load stays, that of a spring that softens falls with its stiffness. Neither creates energy.
    pub fn deformation_after(&self, scale: f64, lambda: &[f64], delta: &[f64], after: &mut [f64]) {
        let n = self.rows();
        assert!(lambda.len() == n && delta.len() == n && after.len() == n, "one entry a row of deformation");
        if self.patch.power.is_some() {
            for i in 0..n {
                let [e_inv, e_inv_k] = self.point(scale, i);
                after[i] = delta[i] + self.h * (e_inv * lambda[i] - e_inv_k * delta[i]);
            }
            return;
        }
        for i in 0..n {
            // E^-1 K delta, not E^-1 (K delta): the stiffness never multiplies rounding
            let rate = dot(self.e_inv.row(i), lambda) / scale - dot(self.e_inv_k.row(i), delta);
            after[i] = delta[i] + self.h * rate;
        }
        if self.varies() {
            let kept = (scale / self.patch.scale(after[0])[0]).min(1.0);
            after[1..].iter_mut().for_each(|d| *d *= kept);
        }
    }

    /// Where the stiffness varies, reduces the tangential deformations of a point to those of the same force if `scale` is above that at the overlap
    /// `delta_n`, at which they are remembered, by more than `SAME_STIFFNESS`.
    pub fn keep_tangential(&self, scale: f64, delta: &mut [f64]) {
        if !self.is_hertz() {
            return;
        }
        let kept = ((1.0 + SAME_STIFFNESS) * self.patch.scale(delta[0])[0] / scale).min(1.0);
        delta[1..].iter_mut().for_each(|d| *d *= kept);
    }

    /// Whether stiffness varies as Hertz and Mindlin's does.
    pub fn is_hertz(&self) -> bool {
        self.patch.radius.is_some()
    }

    /// Overlap of a point after a step from the overlap `before` under a normal force, m, as [`Self::deformation_after`].
    pub fn normal_after(&self, scale: f64, force: f64, before: f64) -> f64 {
        before + self.h * (self.e_inv[(0, 0)] * force / scale - self.e_inv_k[(0, 0)] * before)
    }

    /// `2/5 K_n d^2`, J: Hertz' energy at an overlap.
    pub fn hertz_energy(&self, overlap: f64) -> f64 {
        0.4 * self.patch.k[0] * self.patch.scale(overlap)[0] * overlap * overlap
    }

    /// Work of the spring at `scale` between two overlaps less the change of Hertz' energy, J: `K d+ (d+ - d) - U(d+) + U(d)`.
    pub fn normal_balance(&self, scale: f64, before: f64, end: f64) -> f64 {
        self.patch.k[0] * scale * end * (end - before) - self.hertz_energy(end) + self.hertz_energy(before)
    }

    /// The overlap whose stiffness a scale is, m.
    pub fn overlap_of(&self, scale: f64) -> f64 {
        self.patch.radius.map_or(0.0, |radius| radius * scale * scale)
    }

    /// The least overlap (m) whose stiffness a step into the overlap `end` may have, wherever it came from.
    pub fn overlap_into(&self, end: f64) -> f64 {
        DEEPENS * end
    }
}

/// A rate bounded by a size; without damping the size is infinite, or not a number if there is no force.
fn bounded(rate: f64, most: f64) -> f64 {
    if most.is_nan() { 0.0 } else { rate.clamp(-most, most) }
}

/// `K_n = 4/3 E* sqrt(R d)` and `K_t = 8 G* sqrt(R d)` at `d = R`, N/m.
fn hertz_mindlin(pair: &Pair, radius: f64) -> Result<[f64; 2], InvalidContact> {
    if pair.normal == 0.0 {
        return Err(InvalidContact::NeitherDeforms);
    }
    let stiffness =
        [4.0 / 3.0 * pair.effective_modulus() * radius, 8.0 * pair.effective_shear_modulus() * radius];
    let size = |x: f64| x.is_normal() && x > 0.0;
    check("normal stiffness at an overlap of the radius", stiffness[0], "above 0 and finite", size)?;
    check("tangential stiffness at an overlap of the radius", stiffness[1], "above 0 and finite", size)?;
    Ok(stiffness)
}

/// Eigenvalues and vectors of `Xi`, once its size is known to be in range.
fn decompose(grid: &Grid, pair: &Pair, influence: Influence) -> Result<(Vec<f64>, Matrix), InvalidContact> {
    grid.validate()?;
    if pair.normal == 0.0 {
        return Err(InvalidContact::NeitherDeforms);
    }
    let (values, vectors) = symmetric_eigen(&compliance_matrix(grid, pair, influence))
        .ok_or(InvalidContact::NotPositive { smallest: f64::NAN, largest: f64::NAN })?;
    let (smallest, largest) = (values[0], values[grid.rows() - 1]);
    if smallest > LEAST_EIGENVALUE * largest {
        Ok((values, vectors))
    } else {
        Err(InvalidContact::NotPositive { smallest, largest })
    }
}

/// Rows of `U diag(d)` taken together, so that `U` is read once for all of them.
const BLOCK: usize = 16;

/// `out = U diag(d) U'`, symmetric to the bit. `scaled` is scratch for [`BLOCK`] rows.
fn from_modes(u: &Matrix, d: impl Fn(usize) -> f64, scaled: &mut [f64], out: &mut Matrix) {
    let n = u.rows();
    for first in (0..n).step_by(BLOCK) {
        let last = n.min(first + BLOCK);
        for (row, i) in scaled.chunks_exact_mut(n).zip(first..last) {
            for (m, (s, u)) in row.iter_mut().zip(u.row(i)).enumerate() {
                *s = d(m) * u;
            }
        }
        for j in 0..last {
            for i in first.max(j)..last {
                let entry = dot(&scaled[(i - first) * n..][..n], u.row(j));
                out[(i, j)] = entry;
                out[(j, i)] = entry;
            }
        }
    }
}

/// `out = a x`.
fn product(a: &Matrix, x: &[f64], out: &mut [f64]) {
    assert!(x.len() == a.columns() && out.len() == a.rows(), "one entry a row of deformation");
    for (i, o) in out.iter_mut().enumerate() {
        *o = dot(a.row(i), x);
    }
}
