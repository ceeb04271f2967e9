//! How far connected contacts are from having to slip, where their forces are not unique.
//!
//! Redundant contacts share their load in many ways: even compliance may ask for friction beyond the bound of one contact while other forces, within all bounds, make the same motion. The modes hold as
//! long as there are such forces. What is left of them is the largest slack that all bounds can have at once,
//!
//! ```text
//! s = max min_i (mu_i lambda_n,i - |lambda_t,i|)    over all forces with B x = -b
//! ```
//!
//! (normal forces of contacts that slip or have no friction, and the friction of joints, likewise), but for normal forces that balance each other: even compliance decides between these, whatever
//! friction does. It is a second-order cone program in the other part of the null space of `B`, `x = x_0 + N z`. The minimum of
//! `-s - m sum log(...)` over `(z, s)` is found by Newton's method for falling `m`; its `s` is analytic in `m`, and three values of `m` extrapolate to 0.

use super::TOGETHER;
use super::field::{Asked, Equations, Hold, Mode, Of, Row, contact_of};
use super::islands::Island;
use crate::analysis::instant::Instant;
use complementarity::factor::Lu;
use complementarity::matrix::{Matrix, dot, norm};
use complementarity::problem::Element;

/// Parts of rows of `B` below this share of the row depend on other rows.
const DEPENDS: f64 = 1e-9;
/// Largest slack that is asked for, and largest change of forces, in units of the force that counts as 1.
const ENOUGH: f64 = 1.0;
const LARGEST: f64 = 100.0;
/// `m`, first and last, and its factor. Where forces have just reached their bounds, the least ones go as the square root of `m`.
const FIRST: f64 = 1.0;
const LAST: f64 = 1e-6;
const LAST_OF_LEAST: f64 = 1e-11;
const FACTOR: f64 = 0.1;
/// Most steps for one `m`, and the Newton decrement at which they end.
const STEPS: usize = 60;
const RIGHT: f64 = 1e-10;

/// Bounds with no more slack than the least by this are reached together.
const ACTIVE: f64 = 1e-7;

/// Closed contacts, and directions in which they slip.
type Slips = Vec<(usize, [f64; 2])>;

/// A bound on the forces `[p, q...]`: `p - s >= |q|`, each of them an offset and a row of coefficients of `x`.
#[derive(Debug, Clone)]
struct Bound {
    p: Linear,
    q: Vec<Linear>,
}

#[derive(Debug, Clone)]
struct Linear {
    value: f64,
    by: Vec<f64>,
}

/// What an unknown force is bounded by.
enum Limit {
    /// Friction with this coefficient, from the row of the normal force on.
    Cone(f64, usize),
    /// Not negative.
    Positive,
    /// Friction of a joint.
    Within(f64),
}

impl Equations<'_> {
    /// Replaces margins that are used up by that of all connected contacts, where their forces are not unique: of friction, and of normal forces that follow from it. `rows` are those of the
    /// last solution.
    pub(super) fn relieve(&mut self, instant: &Instant, rows: &[Row]) {
        let sticks = |c: &super::field::Closed| c.mode == Mode::Stick;
        let over = |(_, of): &Row| match *of {
            Of::Contact(k) => {
                let c = &self.closed[k];
                !c.bare && (c.margins[0] < TOGETHER || sticks(c) && c.margins[1] < TOGETHER)
            }
            Of::Held(k) => self.held[k].hold == Hold::Stick && self.held[k].margin < TOGETHER,
        };
        let mut over: Vec<bool> = rows.iter().map(over).collect();
        while let Some(first) = over.iter().position(|o| *o) {
            let list = &self.memory.islands.list;
            let Some(whole) = list.iter().find(|island| island.rows.contains(&first)).cloned() else {
                return;
            };
            let island = &whole.rows;
            island.iter().for_each(|i| over[*i] = false);
            let Some((margin, gives, shared)) = self.slack(instant, rows, &whole) else { continue };
            for &i in island {
                match rows[i].1 {
                    Of::Contact(k) if self.closed[k].bare => {}
                    Of::Contact(k) => {
                        let c = &mut self.closed[k];
                        c.together = sticks(c);
                        if c.together && c.margins[1].is_finite() {
                            c.margins[1] = margin;
                        }
                        if margin > 0.0 && c.margins[0] < margin {
                            c.margins[0] = margin;
                        }
                    }
                    Of::Held(k) if self.held[k].hold == Hold::Stick => self.held[k].margin = margin,
                    Of::Held(_) => {}
                }
            }
            for (&i, force) in island.iter().zip(shared) {
                if let (row, Of::Contact(k)) = rows[i]
                    && sticks(&self.closed[k])
                {
                    self.closed[k].force[row - instant.offsets()[contact_of(instant, row)]] = force;
                }
            }
            for (k, along) in gives.into_iter().filter(|_| margin <= TOGETHER) {
                self.closed[k].gives = Some(along);
            }
        }
    }

    /// The slack of connected rows times their number of bounds, in units of weight, and the contacts whose bounds have no more than that, each with the direction
    /// against its friction. `None` if the forces are unique. Where forces are asked for and there is slack, the least ones within the bounds too: with compliance, contacts whose friction is at its bound give
    /// way until the others hold the rest.
    fn slack(&self, instant: &Instant, rows: &[Row], whole: &Island) -> Option<(f64, Slips, Vec<f64>)> {
        let mu = instant.mu();
        let (island, levers, unit) = (&whole.rows, &self.memory.islands.levers, whole.unit());
        let n = island.len();
        let mut kept = whole.kept(&self.memory.b, levers)?;
        for row in &mut kept {
            let size = norm(row);
            row.iter_mut().for_each(|x| *x /= size);
        }
        // even compliance decides between normal forces that balance each other
        let is_normal = |i: &usize| match rows[island[*i]] {
            (row, Of::Contact(_)) => row == instant.offsets()[contact_of(instant, row)],
            (_, Of::Held(k)) => self.held[k].hold != Hold::Stick,
        };
        let normal: Vec<usize> = (0..n).filter(is_normal).collect();
        let mut fixed: Vec<Vec<f64>> = vec![];
        let among = |row: &Vec<f64>| normal.iter().map(|i| row[*i]).collect::<Vec<f64>>();
        for among in null_space(kept.iter().map(among).collect(), normal.len()) {
            let mut whole = vec![0.0; n];
            normal.iter().zip(among).for_each(|(i, x)| whole[*i] = x);
            fixed.push(whole);
        }
        fixed.extend(kept);
        // what carries nothing has no share
        let bare = |i: usize| matches!(rows[island[i]].1, Of::Contact(k) if self.closed[k].bare);
        for i in (0..n).filter(|i| bare(*i)) {
            fixed.push((0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect());
        }
        let free = null_space(fixed, n);
        if free.is_empty() {
            return None;
        }
        let linear = |i: usize, factor: f64| Linear {
            value: factor * self.memory.solution[island[i]] / (levers[island[i]] * unit),
            by: free.iter().map(|n| factor * n[i]).collect(),
        };
        let (mut bounds, mut of_bounds): (Vec<Bound>, Vec<Of>) = (vec![], vec![]);
        for (i, &at) in island.iter().enumerate() {
            let (row, of) = rows[at];
            if bare(i) {
                continue;
            }
            let limit = match of {
                Of::Contact(_) => {
                    let contact = contact_of(instant, row);
                    let offset = row - instant.offsets()[contact];
                    match self.sticks_with_friction(of, mu[contact]) {
                        true => Limit::Cone(mu[contact], offset),
                        false => Limit::Positive,
                    }
                }
                Of::Held(k) => match (self.held[k].hold, self.model.standing()[self.held[k].row].element) {
                    (Hold::Closed, _) => Limit::Positive,
                    (Hold::Stick, Element::Bounded { limit }) => Limit::Within(limit),
                    _ => continue,
                },
            };
            if !matches!(limit, Limit::Cone(_, 1..)) {
                of_bounds.push(of);
            }
            match limit {
                Limit::Cone(mu, 0) => bounds.push(Bound { p: linear(i, mu), q: vec![] }),
                // rows of a contact follow each other
                Limit::Cone(..) => bounds.last_mut()?.q.push(linear(i, 1.0)),
                Limit::Positive => bounds.push(Bound { p: linear(i, 1.0), q: vec![] }),
                Limit::Within(limit) => {
                    let p = Linear { value: limit / (levers[at] * unit), by: vec![0.0; free.len()] };
                    bounds.push(Bound { p, q: vec![linear(i, 1.0)] });
                }
            }
        }
        let u = largest_slack(&bounds, free.len())?;
        let s = u[free.len()];
        let mut slips = vec![];
        for (bound, of) in bounds.iter().zip(of_bounds) {
            let q: Vec<f64> = bound.q.iter().map(|q| at(q, &u)).collect();
            let size = norm(&q);
            if let Of::Contact(k) = of
                && size > ACTIVE
                && at(&bound.p, &u) - size < s + ACTIVE
            {
                slips.push((k, [-q[0] / size, -q.get(1).copied().unwrap_or(0.0) / size]));
            }
        }
        let mut shared = vec![];
        if self.asked == Asked::Forces && s > TOGETHER {
            let z = least_change(&bounds, u)?;
            let lever = |i: usize| levers[island[i]];
            let change = |i: usize| free.iter().zip(&z).map(|(n, z)| n[i] * z).sum::<f64>() * unit * lever(i);
            shared = (0..n).map(|i| self.memory.solution[island[i]] + change(i)).collect();
        }
        Some((s * bounds.len() as f64, slips, shared))
    }

    fn sticks_with_friction(&self, of: Of, mu: f64) -> bool {
        matches!(of, Of::Contact(k) if self.closed[k].mode == Mode::Stick) && mu > 0.0
    }
}

/// An orthonormal basis of the vectors of size `n` that are orthogonal to all rows.
fn null_space(mut rows: Vec<Vec<f64>>, n: usize) -> Vec<Vec<f64>> {
    let unit = |i: usize| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
    for row in &mut rows {
        // what rounding left of rows is none
        let size = norm(row);
        row.iter_mut().for_each(|x| *x /= if size > DEPENDS { size } else { f64::INFINITY });
    }
    let range = orthonormal(rows, n);
    let count = n - range.len();
    let mut others: Vec<Vec<f64>> = (0..n).map(unit).collect();
    for q in &range {
        others.iter_mut().for_each(|x| remove(x, q));
        others.iter_mut().for_each(|x| remove(x, q));
    }
    orthonormal(others, count)
}

/// An orthonormal basis of what vectors span, of at most `most` vectors; the largest come first.
pub(super) fn orthonormal(mut vectors: Vec<Vec<f64>>, most: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = vec![];
    while basis.len() < most {
        let sizes = vectors.iter().map(|v| norm(v));
        let Some((at, size)) = sizes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        if size <= DEPENDS {
            break;
        }
        let mut q = vectors.swap_remove(at);
        q.iter_mut().for_each(|x| *x /= size);
        // what rounding left of the others
        basis.iter().for_each(|other| remove(&mut q, other));
        let size = norm(&q);
        q.iter_mut().for_each(|x| *x /= size);
        vectors.iter_mut().for_each(|v| remove(v, &q));
        basis.push(q);
    }
    basis
}

fn remove(x: &mut [f64], unit: &[f64]) {
    let part = dot(x, unit);
    x.iter_mut().zip(unit).for_each(|(x, q)| *x -= part * q);
}

/// The free variables, `count` of them, at which the least slack of all bounds is largest, and that slack.
fn largest_slack(bounds: &[Bound], count: usize) -> Option<Vec<f64>> {
    let mut u = vec![0.0; count + 1];
    let slack = |b: &Bound| b.p.value - b.q.iter().map(|q| q.value * q.value).sum::<f64>().sqrt();
    u[count] = bounds.iter().map(slack).fold(0.5 * ENOUGH, f64::min) - 0.5 * ENOUGH;
    follow(bounds, &mut u, Goal::Slack, LAST)
}

/// The least free variables within the bounds, from some with slack.
fn least_change(bounds: &[Bound], mut u: Vec<f64>) -> Option<Vec<f64>> {
    *u.last_mut()? = 0.0;
    follow(bounds, &mut u, Goal::Least, LAST_OF_LEAST)
}

/// The minimum for `m = 0`: that for falling `m`, and the parabola through the last three.
fn follow(bounds: &[Bound], u: &mut [f64], goal: Goal, last: f64) -> Option<Vec<f64>> {
    let (mut lu, mut m) = (Lu::default(), FIRST);
    while m > last {
        centre(bounds, u, (goal, m), &mut lu)?;
        m *= FACTOR;
    }
    let mut end = vec![0.0; u.len()];
    for (share, weight) in [(1.0, 1.0 / 3.0), (0.5, -2.0), (0.25, 8.0 / 3.0)] {
        centre(bounds, u, (goal, share * last), &mut lu)?;
        end.iter_mut().zip(&*u).for_each(|(end, u)| *end += weight * u);
    }
    Some(end)
}

/// Value of a linear function of `u = (z, s)`, without its `s`.
fn at(f: &Linear, u: &[f64]) -> f64 {
    f.value + f.by.iter().zip(u).map(|(a, z)| a * z).sum::<f64>()
}

/// Whether all bounds hold strictly.
fn inside(bounds: &[Bound], u: &[f64]) -> bool {
    let (z, s) = (&u[..u.len() - 1], u[u.len() - 1]);
    let holds = |b: &Bound| {
        let q = b.q.iter().map(|q| at(q, u).powi(2)).sum::<f64>();
        at(&b.p, u) - s > q.sqrt()
    };
    s < ENOUGH && dot(z, z) < LARGEST * LARGEST && bounds.iter().all(holds)
}

/// What is sought: the largest slack, or the least free variables with none required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    Slack,
    Least,
}

/// Moves `u` to the minimum of `-s/m - sum log`, or of `|z|^2/(2 m) - sum log` at its `s`, by Newton's method, damped as self-concordant functions allow.
fn centre(bounds: &[Bound], u: &mut [f64], (goal, m): (Goal, f64), lu: &mut Lu) -> Option<()> {
    let n = u.len();
    let (mut gradient, mut hessian) = (vec![0.0; n], Matrix::zeros(n, n));
    let mut best = f64::INFINITY;
    for _ in 0..STEPS {
        gradient.fill(0.0);
        hessian.reset(n, n);
        gradient[n - 1] = -1.0 / m;
        let rest = ENOUGH - u[n - 1];
        gradient[n - 1] += 1.0 / rest;
        hessian[(n - 1, n - 1)] += 1.0 / (rest * rest);
        let left = LARGEST * LARGEST - dot(&u[..n - 1], &u[..n - 1]);
        for i in 0..n - 1 {
            gradient[i] += 2.0 * u[i] / left;
            hessian[(i, i)] += 2.0 / left;
        }
        for bound in bounds {
            add(bound, u, &mut gradient, &mut hessian);
        }
        if goal == Goal::Least {
            for i in 0..n - 1 {
                gradient[i] += u[i] / m;
                hessian[(i, i)] += 1.0 / m;
                (hessian[(i, n - 1)], hessian[(n - 1, i)]) = (0.0, 0.0);
            }
            gradient[n - 1] = 0.0;
        }
        lu.factor(n, |i, j| hessian[(i, j)]).ok()?;
        let mut by: Vec<f64> = gradient.iter().map(|g| -g).collect();
        lu.solve(&mut by);
        let decrement = (-dot(&by, &gradient)).max(0.0).sqrt();
        if !decrement.is_finite() {
            return None;
        }
        let mut share = if decrement > 0.25 { 1.0 / (1.0 + decrement) } else { 1.0 };
        let moved = |share: f64| u.iter().zip(&by).map(|(u, by)| u + share * by).collect::<Vec<f64>>();
        let mut next = moved(share);
        while !inside(bounds, &next) {
            share *= 0.5;
            if share < 1e-12 {
                return Some(());
            }
            next = moved(share);
        }
        u.copy_from_slice(&next);
        // rounding ends the quadratic convergence
        if decrement <= RIGHT || decrement < 1e-4 && decrement > 0.1 * best {
            break;
        }
        best = best.min(decrement);
    }
    Some(())
}

/// Adds the derivatives of `-log((p - s)^2 - |q|^2)`, or of `-log(p - s)` without `q`.
fn add(bound: &Bound, u: &[f64], gradient: &mut [f64], hessian: &mut Matrix) {
    let n = u.len();
    let row = |f: &Linear, last: f64| {
        let mut row = f.by.clone();
        row.push(last);
        row
    };
    let p = at(&bound.p, u) - u[n - 1];
    let q: Vec<f64> = bound.q.iter().map(|q| at(q, u)).collect();
    let rows: Vec<Vec<f64>> =
        [row(&bound.p, -1.0)].into_iter().chain(bound.q.iter().map(|f| row(f, 0.0))).collect();
    let k = rows.len();
    let mut first = vec![0.0; k];
    let mut second = Matrix::zeros(k, k);
    if q.is_empty() {
        (first[0], second[(0, 0)]) = (-1.0 / p, 1.0 / (p * p));
    } else {
        let size = norm(&q);
        let g = (p - size) * (p + size);
        let dg: Vec<f64> = [2.0 * p].into_iter().chain(q.iter().map(|q| -2.0 * q)).collect();
        for i in 0..k {
            first[i] = -dg[i] / g;
            for j in 0..k {
                second[(i, j)] = dg[i] * dg[j] / (g * g);
            }
            second[(i, i)] += if i == 0 { -2.0 / g } else { 2.0 / g };
        }
    }
    for i in 0..k {
        gradient.iter_mut().zip(&rows[i]).for_each(|(g, r)| *g += first[i] * r);
    }
    for a in 0..n {
        let weight: Vec<f64> = (0..k).map(|j| (0..k).map(|i| rows[i][a] * second[(i, j)]).sum()).collect();
        let out = hessian.row_mut(a);
        for (row, w) in rows.iter().zip(&weight).filter(|(_, w)| **w != 0.0) {
            out.iter_mut().zip(row).for_each(|(h, r)| *h += w * r);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(value: f64, by: &[f64]) -> Linear {
        Linear { value, by: by.to_vec() }
    }

    #[test]
    fn slacks_are_those_of_closed_forms() {
        // two feet of normal force 1/2 and mu 0.3 share a pull of 0.2 as they like
        let foot =
            |by: f64| Bound { p: linear(0.15, &[0.0]), q: vec![linear(0.1, &[by]), linear(0.0, &[0.0])] };
        let found = largest_slack(&[foot(1.0), foot(-1.0)], 1).expect("a slack")[1];
        assert!((found - 0.05).abs() < 1e-14, "{:e}", found - 0.05);
        // one carries more: z moves what the other cannot hold
        let heavy = Bound { p: linear(0.25, &[0.0]), q: vec![linear(0.1, &[1.0])] };
        let light = Bound { p: linear(0.05, &[0.0]), q: vec![linear(0.1, &[-1.0])] };
        let found = largest_slack(&[heavy.clone(), light.clone()], 1).expect("a slack")[1];
        assert!((found - 0.05).abs() < 1e-14, "{:e}", found - 0.05);
        let pull = Bound { p: linear(0.05, &[0.0]), q: vec![linear(0.3, &[-1.0])] };
        let found = largest_slack(&[heavy, pull], 1).expect("a slack")[1];
        assert!((found + 0.05).abs() < 1e-14, "{:e}", found + 0.05);
    }

    #[test]
    fn null_spaces_are_orthonormal_and_complete() {
        let rows = [[2.0, 1.0, 3.0], [1.0, 1.0, 2.0], [3.0, 2.0, 5.0]].map(Vec::from);
        let free = null_space(rows.to_vec(), 3);
        assert_eq!(free.len(), 1);
        assert!(rows.iter().all(|row| dot(row, &free[0]).abs() < 1e-15), "{free:?}");
        assert!((norm(&free[0]) - 1.0).abs() < 1e-15, "{free:?}");
        assert!(null_space([[1.0, 0.0], [1.0, 1.0]].map(Vec::from).to_vec(), 2).is_empty());
    }
}
