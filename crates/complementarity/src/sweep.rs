//! Gauss-Seidel's sweep, the common step of the cone solvers: each contact in turn takes the exact force for what the others do.
//!
//! Sweeps and residuals here are of the problem with a proximal term: `s = A lambda + b + alpha D (lambda - centre)`, `D` the mean
//! diagonal of each contact's own block; `alpha = 0` is the problem as posed.

use crate::element::law::Law;
use crate::one_contact::{self, Local, State, tangent};
use crate::operator::{BlockMatrix, Factored, Operator};
use crate::outcome::Budget;
use crate::units::Uniform;

/// Share by which a friction force may miss its limit and still be taken to slip.
const ON_CONE: f64 = 1e-9;

/// An island that is swept with momentum.
pub(crate) trait Island {
    /// One sweep, which may leave out contacts that were open a few sweeps ago. Returns what [`Sweeper::sweep`] does.
    fn sweep(&mut self) -> f64;
    /// Sum of squares of the natural map.
    fn residual(&mut self) -> f64;
    /// Goes on beyond the end of a sweep by `share` of the last movement, unless the sweep went against it.
    fn leap(&mut self, share: f64);
    /// Whether no more work may be done.
    fn out_of_budget(&self) -> bool;
}

/// What sweeps need beside the problem. Dense operators are made block sparse before they come here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sweeper {
    /// Diagonal blocks and their inverses, row by row.
    diagonal: Vec<f64>,
    inverse: Vec<f64>,
    /// Contact by contact.
    pub local: Vec<Local>,
    /// Velocities `v = W' lambda` (factored operators).
    pub v: Vec<f64>,
    /// `s` of the contacts last asked for.
    pub speed: Vec<f64>,
    /// Proximal weight.
    pub alpha: f64,
    /// Proximal centre.
    pub centre: Vec<f64>,
    /// Work that may still be done.
    pub budget: Budget,
}

impl Sweeper {
    /// Reads the diagonal; velocities must be those of the forces at hand. `anew`: the problem is another one.
    pub fn begin<const D: usize>(&mut self, problem: Uniform<'_>, anew: bool) {
        self.alpha = 0.0;
        if !anew {
            return;
        }
        let n = problem.mu.len();
        self.diagonal.resize(D * D * n, 0.0);
        for c in 0..n {
            problem.a.diagonal(c, D * c..D * (c + 1), &mut self.diagonal[D * D * c..][..D * D]);
        }
        self.inverse.clear();
        for block in blocks_of::<D>(&self.diagonal) {
            self.inverse.extend_from_slice(one_contact::inverse(block).as_flattened());
        }
        self.local.clear();
        self.local.resize(n, Local::default());
    }

    /// Gives `contacts` the states that their forces and velocities suggest.
    pub fn guess_states<const D: usize>(&mut self, problem: Uniform<'_>, contacts: &[usize], lambda: &[f64]) {
        for &c in contacts {
            let (l, s) = (&lambda.as_chunks::<D>().0[c], &self.speed.as_chunks::<D>().0[c]);
            let law = problem.law(c);
            let (force, slip) = (law.gauge(l), tangent(s, s).sqrt());
            let limit = problem.mu[c] * l[0];
            self.local[c] = if let Law::Row { limit } = law {
                let state = if l[0].abs() < limit { State::Stick } else { State::Slip };
                Local { state, tau: 0.0 }
            } else if l[0] <= 0.0 {
                Local::default()
            } else if force < (1.0 - ON_CONE) * limit {
                Local { state: State::Stick, tau: 0.0 }
            } else {
                let turns = force > 0.0 && law == Law::Disc;
                Local { state: State::Slip, tau: if turns { slip / force } else { 0.0 } }
            };
        }
    }

    /// To be called when `lambda` was changed by others.
    pub fn set_speeds(&mut self, problem: Uniform<'_>, lambda: &[f64]) {
        if let Operator::Factored(a) = problem.a {
            let d = problem.rows;
            self.v.clear();
            self.v.resize(a.speeds(), 0.0);
            for c in 0..problem.mu.len() {
                a.push(c, &lambda[d * c..][..d], &mut self.v);
            }
        }
    }

    /// To be called when forces of `contacts`, all of an island, were changed by others.
    pub fn set_speeds_of(&mut self, problem: Uniform<'_>, contacts: &[usize], lambda: &[f64]) {
        if let Operator::Factored(a) = problem.a {
            let d = problem.rows;
            for &c in contacts {
                a.segments(c).for_each(|(s, _)| self.v[s.first..][..s.len].fill(0.0));
            }
            for &c in contacts {
                a.push(c, &lambda[d * c..][..d], &mut self.v);
            }
        }
    }

    /// The unit in which `alpha` is given: the mean diagonal of a contact's block.
    pub fn unit<const D: usize>(&self, contact: usize) -> f64 {
        let block = self.block::<D>(contact);
        (0..D).map(|i| block[i][i]).sum::<f64>() / D as f64
    }

    /// The contact's own block.
    pub fn block<const D: usize>(&self, contact: usize) -> &[[f64; D]; D] {
        &blocks_of::<D>(&self.diagonal)[contact]
    }

    /// The contact's own block at the normal.
    pub fn normal_diagonal<const D: usize>(&self, contact: usize) -> f64 {
        self.diagonal[D * D * contact]
    }

    /// Velocity of a contact without the proximal term.
    #[inline]
    fn speed_of<const D: usize>(&self, problem: Uniform<'_>, c: usize, lambda: &[f64]) -> [f64; D] {
        let s = problem.b.as_chunks::<D>().0[c];
        match problem.a {
            Operator::Blocks(a) => row_times(a, c, lambda, s),
            Operator::Factored(a) => self.through_bodies(a, c, lambda, s),
            Operator::Dense(a) => {
                std::array::from_fn(|i| s[i] + crate::matrix::dot(a.row(D * c + i), lambda))
            }
        }
    }

    #[inline]
    fn through_bodies<const D: usize>(
        &self,
        a: &Factored,
        c: usize,
        lambda: &[f64],
        mut s: [f64; D],
    ) -> [f64; D] {
        a.pull(c, &self.v, &mut s);
        a.yield_to(c, lambda, &mut s);
        s
    }

    /// One sweep over `contacts` (all of one or more islands). Returns the sum of squares of the changes, each in whichever unit, force or
    /// velocity, makes it smaller: about the square of the residual before.
    pub fn sweep<const D: usize>(
        &mut self,
        problem: Uniform<'_>,
        contacts: &[usize],
        lambda: &mut [f64],
    ) -> f64 {
        let mut total = 0.0;
        self.budget.spend(D * contacts.len());
        for &c in contacts {
            let mut s = self.speed_of::<D>(problem, c, lambda);
            let own = lambda.as_chunks::<D>().0[c];
            // without force and lifting off: nothing to do
            let law = problem.law(c);
            if s[0] >= 0.0 && own == [0.0; D] && self.alpha == 0.0 && law.is_contact() {
                self.local[c] = Local::default();
                continue;
            }
            let mut block = blocks_of::<D>(&self.diagonal)[c];
            if self.alpha > 0.0 {
                let weight = self.alpha * self.unit::<D>(c);
                let centre = &self.centre.as_chunks::<D>().0[c];
                for i in 0..D {
                    s[i] += weight * (own[i] - centre[i]);
                    block[i][i] += weight;
                }
            }
            let force = match self.sticks::<D>(c, law, &block, &s, &own, problem.mu[c]) {
                Some(force) => force,
                None => {
                    // q = s - A l
                    for i in 0..D {
                        for j in 0..D {
                            s[i] -= block[i][j] * own[j];
                        }
                    }
                    one_contact::solve(law, &block, &s, problem.mu[c], &mut self.local[c])
                }
            };
            let change: [f64; D] = std::array::from_fn(|i| force[i] - own[i]);
            let square: f64 = change.iter().map(|x| x * x).sum();
            lambda.as_chunks_mut::<D>().0[c] = force;
            if square > 0.0
                && let Operator::Factored(a) = problem.a
            {
                a.push(c, &change, &mut self.v);
            }
            total += square * (block[0][0] * block[0][0]).min(1.0);
        }
        total
    }

    /// The force of a contact that sticks and goes on doing so, `l - A^-1 s`: what `one_contact` finds, at once.
    #[inline]
    fn sticks<const D: usize>(
        &self,
        c: usize,
        law: Law,
        block: &[[f64; D]; D],
        s: &[f64; D],
        own: &[f64; D],
        mu: f64,
    ) -> Option<[f64; D]> {
        if self.local[c].state != State::Stick || self.alpha > 0.0 || !law.is_contact() {
            return None;
        }
        let inverse = &blocks_of::<D>(&self.inverse)[c];
        let force: [f64; D] =
            std::array::from_fn(|i| own[i] - (0..D).map(|j| inverse[i][j] * s[j]).sum::<f64>());
        let q_n = s[0] - (0..D).map(|j| block[0][j] * own[j]).sum::<f64>();
        let limit = mu * force[0];
        let within = match law {
            Law::Disc => tangent(&force, &force) <= limit * limit,
            _ => law.gauge(&force) <= limit,
        };
        let holds = q_n < 0.0 && limit >= 0.0 && within;
        holds.then_some(force)
    }

    /// Sum of squares of the natural map over `contacts` (never NaN); their velocities are kept.
    pub fn residual<const D: usize>(
        &mut self,
        problem: Uniform<'_>,
        contacts: &[usize],
        lambda: &[f64],
    ) -> f64 {
        let mut total = 0.0;
        for &c in contacts {
            let mut s = self.speed_of::<D>(problem, c, lambda);
            let l = &lambda.as_chunks::<D>().0[c];
            if self.alpha > 0.0 {
                let weight = self.alpha * self.unit::<D>(c);
                let centre = &self.centre.as_chunks::<D>().0[c];
                (0..D).for_each(|i| s[i] += weight * (l[i] - centre[i]));
            }
            self.speed.as_chunks_mut::<D>().0[c] = s;
            total += natural(problem.law(c), problem.mu[c], l, &s);
        }
        if total.is_nan() { f64::INFINITY } else { total }
    }
}

/// `s + (A lambda)_c`.
#[inline]
pub(crate) fn row_times<const D: usize>(
    a: &BlockMatrix,
    c: usize,
    lambda: &[f64],
    mut s: [f64; D],
) -> [f64; D] {
    let lambda = lambda.as_chunks::<D>().0;
    let (columns, data) = a.row(c);
    for (&k, block) in columns.iter().zip(blocks_of::<D>(data)) {
        let from = &lambda[k];
        for i in 0..D {
            // the sum apart: one addition a block in the chain of dependences
            s[i] += (0..D).map(|j| block[i][j] * from[j]).sum::<f64>();
        }
    }
    s
}

/// Entries as blocks.
pub(crate) fn blocks_of<const D: usize>(data: &[f64]) -> &[[[f64; D]; D]] {
    data.as_chunks::<D>().0.as_chunks::<D>().0
}

/// Square of a contact's natural map.
#[inline]
fn natural<const D: usize>(law: Law, mu: f64, l: &[f64; D], s: &[f64; D]) -> f64 {
    let mut r = [0.0; D];
    law.natural(mu, l, s, &mut r);
    r.iter().map(|r| r * r).sum()
}
