//! From a point near the solution to an exact one: which pairs have `w = 0`, and the solution of that basis.
//!
//! Pairs with `z_i > w_i` are taken active. Where `M_aa` is singular, the point is moved onto the face of
//! solutions and along it to a vertex; where signs come out wrong, the offending pairs, and then the doubtful
//! ones (`z_i` near `w_i`), are exchanged. What is accepted is evaluated on the original data.

use super::face::Face;
use super::system::{Point, Scaled};
use super::{Counter, Settings};
use crate::basis::BasisSolver;
use crate::problem::Lcp;
use crate::residual::{self, Residual};
use crate::solver::Budget;

/// A point that fulfils all signs to rounding.
pub(super) struct Answer {
    pub z: Vec<f64>,
    pub residual: Residual,
    /// The basis, if the point is the solution of one.
    pub active: Option<Vec<usize>>,
}

/// Buffers, and what was tried.
#[derive(Debug, Default)]
pub(super) struct Finish {
    basis: BasisSolver,
    now: Vec<usize>,
    last: Vec<usize>,
    tried: Vec<usize>,
    z: Vec<f64>,
}

impl Finish {
    /// On the way: solves the basis as soon as two points in a row agree on it.
    pub fn early(&mut self, lcp: &Lcp, p: &Scaled, at: &Point, settings: &Settings) -> Option<Answer> {
        std::mem::swap(&mut self.now, &mut self.last);
        self.now.clear();
        self.now.extend(identify(at));
        let near = at.gap() <= settings.early_gap * p.order() as f64;
        if !near || self.now != self.last || self.now == self.tried {
            return None;
        }
        let active = self.now.clone();
        self.tried.clone_from(&active);
        self.solve(lcp, p, &active, settings).ok()
    }

    /// At the end: with faces, exchanges and doubtful pairs.
    pub fn thorough(
        &mut self,
        lcp: &Lcp,
        p: &Scaled,
        at: &Point,
        settings: &Settings,
        counter: &mut Counter<'_>,
    ) -> Option<Answer> {
        let first: Vec<usize> = identify(at).collect();
        let mut active = first.clone();
        for round in 0..=settings.max_exchanges {
            counter.factorisation().ok()?;
            let mut wrong = match self.solve(lcp, p, &active, settings) {
                Ok(answer) => return Some(answer),
                Err(wrong) => wrong,
            };
            if wrong.is_empty() || round == 0 {
                let on_face = match self.solve_face(lcp, p, at, &active, settings, counter.budget) {
                    Ok(answer) => return Some(answer),
                    Err(wrong) => wrong,
                };
                wrong = if wrong.is_empty() { on_face } else { wrong };
            }
            if wrong.is_empty() {
                break;
            }
            wrong.iter().for_each(|&i| flip(&mut active, i));
        }
        for i in doubtful(at, settings) {
            let mut active = first.clone();
            flip(&mut active, i);
            counter.factorisation().ok()?;
            if let Ok(answer) = self.solve(lcp, p, &active, settings) {
                return Some(answer);
            }
        }
        None
    }

    /// The basis, or the pairs with wrong signs (none if it is singular).
    fn solve(
        &mut self,
        lcp: &Lcp,
        p: &Scaled,
        active: &[usize],
        settings: &Settings,
    ) -> Result<Answer, Vec<usize>> {
        self.z.resize(p.order(), 0.0);
        self.basis.solve(lcp.matrix(), lcp.vector(), &p.d, active, &mut self.z).map_err(|_| Vec::new())?;
        let z = checked(p, p.scaled(&self.z), active, settings)?;
        Ok(evaluated(lcp, p, &z, Some(active.to_vec())))
    }

    /// The nearest point of the face, made a basis if its vertex is one.
    fn solve_face(
        &mut self,
        lcp: &Lcp,
        p: &Scaled,
        at: &Point,
        active: &[usize],
        settings: &Settings,
        budget: &mut Budget,
    ) -> Result<Answer, Vec<usize>> {
        let Some(face) = Face::new(p, active, settings.rank_tolerance, budget) else { return Err(vec![]) };
        let z = checked(p, face.nearest(&at.z), active, settings)?;
        let vertex = face.vertex(&z);
        if let Ok(answer) = self.solve(lcp, p, &vertex, settings) {
            return Ok(answer);
        }
        Ok(evaluated(lcp, p, &z, None))
    }
}

/// `z` without the negative zeros of rounding, or the pairs whose signs are wrong beyond it.
fn checked(
    p: &Scaled,
    mut z: Vec<f64>,
    active: &[usize],
    settings: &Settings,
) -> Result<Vec<f64>, Vec<usize>> {
    let largest = z.iter().fold(1.0f64, |m, z| m.max(z.abs()));
    let zero = settings.rounding * largest;
    let mut is_active = vec![false; z.len()];
    active.iter().for_each(|&i| is_active[i] = true);
    let wrong: Vec<usize> =
        (0..z.len()).filter(|&i| if is_active[i] { z[i] < -zero } else { p.slack(i, &z) < -zero }).collect();
    let solves = active.iter().all(|&i| p.slack(i, &z).abs() <= zero);
    if !wrong.is_empty() || !solves || !largest.is_finite() {
        return Err(wrong);
    }
    z.iter_mut().for_each(|z| *z = z.max(0.0));
    Ok(z)
}

fn evaluated(lcp: &Lcp, p: &Scaled, z: &[f64], active: Option<Vec<usize>>) -> Answer {
    let z = p.original(z);
    let residual = residual::lcp(lcp, &z);
    Answer { z, residual, active }
}

fn identify(at: &Point) -> impl Iterator<Item = usize> {
    (0..at.z.len()).filter(|&i| at.z[i] > at.w[i])
}

/// Pairs whose larger entry is near the smaller, the closest first.
fn doubtful(at: &Point, settings: &Settings) -> Vec<usize> {
    let ratio = |i: usize| (at.z[i] / at.w[i]).max(at.w[i] / at.z[i]);
    let mut pairs: Vec<usize> = (0..at.z.len()).filter(|&i| ratio(i) < settings.doubtful_ratio).collect();
    pairs.sort_by(|&a, &b| ratio(a).total_cmp(&ratio(b)));
    pairs.truncate(settings.max_doubtful);
    pairs
}

fn flip(active: &mut Vec<usize>, i: usize) {
    match active.binary_search(&i) {
        Ok(at) => {
            active.remove(at);
        }
        Err(at) => active.insert(at, i),
    }
}
