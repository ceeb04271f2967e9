//! The iterate, and directions from it.

use super::cones::{Cones, Sides, shares, start_at, step_to_zero};
use crate::matrix::dot;
use crate::solver::scaled::{Scaled, tangential};
use crate::units::Uniform;

/// The iterate.
#[derive(Debug, Clone, Default)]
pub(super) struct Point {
    pub x: Vec<f64>,
    pub u: Vec<f64>,
    /// `u` lifted by `|u_t|`, or by `a sum z_j`.
    pub y: Vec<f64>,
    /// `W x + q - u`.
    pub f: Vec<f64>,
    /// Of each side of a polygon; `u_t = sum z_j c_jt`.
    pub z: Vec<f64>,
    pub w: Vec<f64>,
    /// `x' y` a contact.
    pub gap: f64,
}

/// Changes of a point.
#[derive(Debug, Clone, Default)]
pub(super) struct Direction {
    pub x: Vec<f64>,
    pub u: Vec<f64>,
    pub z: Vec<f64>,
    pub w: Vec<f64>,
}

/// By how much the products shall change.
#[derive(Debug, Clone, Default)]
pub(super) struct Target {
    /// `x o y`, row by row; for a polygon `x_n u_n` and zeros.
    pub rows: Vec<f64>,
    /// `z_j w_j`.
    pub sides: Vec<f64>,
}

impl Target {
    /// Adds the centre's products.
    pub fn add_centre(&mut self, cones: &Cones, gap: f64) {
        for (c, t) in self.rows.chunks_exact_mut(cones.rows).enumerate() {
            let own = cones.places(c);
            if own.is_empty() {
                t[0] += gap;
                continue;
            }
            let [share, each] = shares(own.len());
            t[0] += share * gap;
            self.sides[own].iter_mut().for_each(|r| *r += each * gap);
        }
    }
}

impl Direction {
    /// The changes of `w_j` and `z_j`: `dw_j = c_j . dx`, `z_j dw_j + w_j dz_j = target`.
    pub fn find_sides(&mut self, cones: &Cones, point: &Point, target: &Target) {
        self.z.clear();
        self.w.clear();
        for c in 0..point.contacts(cones) {
            let Some(Sides { planes, z, w }) = point.sides(cones, c) else { continue };
            let (x, target) = (&self.x[3 * c..][..3], &target.sides[cones.places(c)]);
            for (((plane, z), w), r) in planes.iter().zip(z).zip(w).zip(target) {
                let dw = dot(plane, x);
                self.w.push(dw);
                self.z.push((r - z * dw) / w);
            }
        }
    }
}

impl Point {
    fn contacts(&self, cones: &Cones) -> usize {
        self.x.len() / cones.rows
    }

    /// The sides of a contact; `None` if it has a disc.
    #[inline]
    pub fn sides<'a>(&'a self, cones: &'a Cones, contact: usize) -> Option<Sides<'a>> {
        let own = cones.places(contact);
        let (z, w) = (&self.z[own.clone()], &self.w[own.clone()]);
        (!own.is_empty()).then(|| Sides { planes: cones.planes(contact), z, w })
    }

    /// The centre of the cones, of a length given.
    pub fn start(&mut self, scaled: &Scaled, cones: &Cones, length: f64) {
        self.x.clear();
        self.x.resize(scaled.n, 0.0);
        self.start_at(scaled, cones, length * length * (scaled.rows as f64 / scaled.n as f64));
    }

    /// Near forces given, the nearer the better they are: the gap is the mean square of their natural map.
    pub fn start_near(
        &mut self,
        scaled: &Scaled,
        cones: &Cones,
        problem: Uniform<'_>,
        lambda: &[f64],
        projected: &mut Vec<f64>,
    ) {
        let Self { x, u, y, .. } = self;
        let rows = scaled.rows;
        scaled.unknowns(lambda, x);
        scaled.speeds(x, u);
        y.clone_from(u);
        y.chunks_exact_mut(rows).enumerate().for_each(|(c, y)| y[0] += problem.law(c).lift(y));
        self.project(problem, projected);
        let Self { x, y, .. } = self;
        let mut square = 0.0;
        for ((x, y), p) in x.iter_mut().zip(y.iter()).zip(projected.iter()) {
            square += (*x - p).powi(2);
            *x -= y;
        }
        self.start_at(scaled, cones, square * (rows as f64 / scaled.n as f64));
    }

    /// From `v` in the place of `x`, the point with `x - y = v` and the products of the centre. Disc: each eigenvalue of `v`, `v_n +- |v_t|`, is split in two of
    /// the product `gap`.
    fn start_at(&mut self, scaled: &Scaled, cones: &Cones, gap: f64) {
        let split = |v: f64| {
            let large = 0.5 * (v.abs() + (v * v + 4.0 * gap).sqrt());
            if v > 0.0 { (large, gap / large) } else { (gap / large, large) }
        };
        self.u.resize(scaled.n, 0.0);
        self.z.resize(cones.all_sides(), 0.0);
        self.w.resize(cones.all_sides(), 0.0);
        let contacts = self.x.chunks_exact_mut(scaled.rows).zip(self.u.chunks_exact_mut(scaled.rows));
        for (c, (x, u)) in contacts.enumerate() {
            let own = cones.places(c);
            if !own.is_empty() {
                let (z, w) = (&mut self.z[own.clone()], &mut self.w[own]);
                let (start, u_n) = start_at(cones.planes(c), [x[0], x[1], x[2]], gap, z, w);
                x.copy_from_slice(&start);
                u[0] = u_n;
                continue;
            }
            let length = tangential(x);
            let ((x_1, y_1), (x_2, y_2)) = (split(x[0] + length), split(x[0] - length));
            x[0] = 0.5 * (x_1 + x_2);
            u[0] = y_1;
            let unit = if length > 0.0 { 0.5 / length } else { 0.0 };
            for (x, u) in x[1..].iter_mut().zip(&mut u[1..]) {
                *u = unit * (y_1 - y_2) * *x;
                *x *= unit * (x_1 - x_2);
            }
        }
        self.refresh(scaled, cones);
    }

    /// `y`, `f` and the gap of `x` and `u`, and `u_t` of polygons; `false` if they are not finite.
    fn refresh(&mut self, scaled: &Scaled, cones: &Cones) -> bool {
        let rows = scaled.rows;
        self.y.clone_from(&self.u);
        for c in 0..self.contacts(cones) {
            let lifted = self.sides(cones, c).map(|own| own.lifted());
            let (y, u) = (&mut self.y[rows * c..][..rows], &mut self.u[rows * c..][..rows]);
            if let Some([lift, t, o]) = lifted {
                (u[1], u[2]) = (t, o);
                y.copy_from_slice(&[u[0] + lift, t, o]);
            } else {
                y[0] += tangential(y);
            }
        }
        scaled.speeds(&self.x, &mut self.f);
        self.f.iter_mut().zip(&self.u).for_each(|(f, u)| *f -= u);
        self.gap = self.total_gap(cones) / (scaled.n / rows) as f64;
        self.gap.is_finite() && self.gap > 0.0 && self.f.iter().all(|f| f.is_finite())
    }

    /// `x' y`; contact by contact if there are polygons, whose products are all positive.
    fn total_gap(&self, cones: &Cones) -> f64 {
        if cones.all_sides() == 0 {
            return dot(&self.x, &self.y);
        }
        let contacts = self.x.chunks_exact(cones.rows).zip(self.y.chunks_exact(cones.rows)).enumerate();
        let gap = |(c, (x, y)): (usize, (&[f64], &[f64]))| match self.sides(cones, c) {
            Some(own) => x[0] * self.u[3 * c] + dot(own.z, own.w),
            None => dot(x, y),
        };
        contacts.map(gap).sum()
    }

    pub fn advance(&mut self, scaled: &Scaled, cones: &Cones, direction: &Direction, alpha: f64) -> bool {
        let Direction { x, u, z, w } = direction;
        for (own, d) in [(&mut self.x, x), (&mut self.u, u), (&mut self.z, z), (&mut self.w, w)] {
            own.iter_mut().zip(d).for_each(|(x, d)| *x += alpha * d);
        }
        self.refresh(scaled, cones)
    }

    /// `P_K(x - y)`: at the end nearer to a solution than `x`, where open contacts still have a force.
    pub fn project(&self, problem: Uniform<'_>, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.x.iter().zip(&self.y).map(|(x, y)| x - y));
        out.chunks_exact_mut(problem.rows).enumerate().for_each(|(c, x)| problem.law(c).project(1.0, x));
    }

    /// The target at which all products vanish.
    pub fn to_zero(&self, cones: &Cones, target: &mut Target) {
        let rows = cones.rows;
        target.rows.clear();
        target.rows.resize(self.x.len(), 0.0);
        target.sides.clear();
        target.sides.extend(self.z.iter().zip(&self.w).map(|(z, w)| -z * w));
        let contacts = self.x.chunks_exact(rows).zip(self.y.chunks_exact(rows));
        for (c, ((x, y), out)) in contacts.zip(target.rows.chunks_exact_mut(rows)).enumerate() {
            if !cones.is_disc(c) {
                out[0] = -x[0] * self.u[rows * c];
                continue;
            }
            out[0] = -dot(x, y);
            for k in 1..rows {
                out[k] = -(x[0] * y[k] + y[0] * x[k]);
            }
        }
    }

    /// `target -= dx o G du`; for polygons `dx_n du_n` and `dz_j dw_j`.
    pub fn second_order(&self, cones: &Cones, d: &Direction, target: &mut Target) {
        let rows = cones.rows;
        target.sides.iter_mut().zip(&d.z).zip(&d.w).for_each(|((t, z), w)| *t -= z * w);
        for (c, t) in target.rows.chunks_exact_mut(rows).enumerate() {
            let at = rows * c..rows * (c + 1);
            let (u, dx, du) = (&self.u[at.clone()], &d.x[at.clone()], &d.u[at]);
            if !cones.is_disc(c) {
                t[0] -= dx[0] * du[0];
                continue;
            }
            let length = tangential(u);
            let lift = if length > 0.0 { dot(&u[1..], &du[1..]) / length } else { 0.0 };
            let dy_n = du[0] + lift;
            t[0] -= dx[0] * dy_n + dot(&dx[1..], &du[1..]);
            for k in 1..rows {
                t[k] -= dx[0] * du[k] + dy_n * dx[k];
            }
        }
    }

    /// Largest step that leaves every `x` in its cone, every `u_n >= 0` and every `z_j >= 0`.
    pub fn step_to_boundary(&self, cones: &Cones, d: &Direction) -> f64 {
        let rows = cones.rows;
        let mut most = f64::INFINITY;
        for c in 0..self.contacts(cones) {
            let at = rows * c..rows * (c + 1);
            most = most.min(step_to_zero(self.u[rows * c], d.u[rows * c]));
            most = most.min(match cones.is_disc(c) {
                true => step_in_disc(&self.x[at.clone()], &d.x[at]),
                false => step_to_zero(self.x[rows * c], d.x[rows * c]),
            });
        }
        for (own, d) in [(&self.z, &d.z), (&self.w, &d.w)] {
            most = own.iter().zip(d).map(|(x, d)| step_to_zero(*x, *d)).fold(most, f64::min);
        }
        most
    }

    pub fn gap_after(&self, cones: &Cones, d: &Direction, alpha: f64) -> f64 {
        let rows = cones.rows;
        let mut sum = 0.0;
        for c in 0..self.contacts(cones) {
            let at = |k: usize| (self.x[k] + alpha * d.x[k], self.u[k] + alpha * d.u[k]);
            let (x_n, u_n) = at(rows * c);
            let own = cones.places(c);
            if !own.is_empty() {
                sum += x_n * u_n;
                sum += own.map(|j| (self.z[j] + alpha * d.z[j]) * (self.w[j] + alpha * d.w[j])).sum::<f64>();
                continue;
            }
            let mut slip = 0.0;
            for k in rows * c + 1..rows * (c + 1) {
                let (x, u) = at(k);
                sum += x * u;
                slip += u * u;
            }
            sum += x_n * (u_n + slip.sqrt());
        }
        sum / self.contacts(cones) as f64
    }
}

/// Smallest positive root of `(x + alpha d)_n^2 = |(x + alpha d)_t|^2`, or of `(x + alpha d)_n = 0`.
fn step_in_disc(x: &[f64], d: &[f64]) -> f64 {
    let mut most = step_to_zero(x[0], d[0]);
    // a alpha^2 + 2 b alpha + c = 0
    let length = tangential(x);
    let a = d[0] * d[0] - dot(&d[1..], &d[1..]);
    let b = x[0] * d[0] - dot(&x[1..], &d[1..]);
    let c = (x[0] - length) * (x[0] + length);
    let square = b * b - a * c;
    if square >= 0.0 {
        let larger = -(b + square.sqrt().copysign(b));
        for root in [larger / a, c / larger] {
            if root > 0.0 {
                most = most.min(root);
            }
        }
    }
    most
}
