//! Why an answer is no solution: where its residual is and what is violated there, what sweeps do from there, and whether there can be a solution
//! at all.

use super::impossible::{Impossible, impossible};
use super::sweeps::{Sweeps, tendency};
use super::{Certificate, Existence};
use crate::element::law::Law;
use crate::matrix::{dot, norm};
use crate::operator::uniform_offsets;
use crate::problem::{BoxedLcp, Contact, Element, FrictionProblem, MixedLcp, Mode};
use crate::residual::{self, Residual};
use crate::solver::Budget;
use crate::units::AsDisc;
use serde::Serialize;
use std::fmt;

/// Faults that are kept.
const KEPT: usize = 5;
/// Shares of the residual that count as a fault.
const COUNTS: f64 = 1e-3;
/// A relative residual below this is rounding.
const ROUNDING: f64 = 1e-13;
/// Friction is full from this share of its limit on.
const FULL: f64 = 0.99;

/// Why an answer is no solution.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Of the answer.
    pub residual: Residual,
    /// Contacts, or rows of an LCP, with the largest shares of the residual, the largest first: a few. Empty without an answer.
    pub worst: Vec<Fault>,
    /// How many have more than a thousandth of it.
    pub faulty: usize,
    /// What sweeps of Gauss and Seidel's method do (Coulomb's cone, a residual above rounding).
    pub sweeps: Option<Sweeps>,
    /// What the theorems say of existence (friction problems that were examined).
    pub existence: Option<Existence>,
    /// See [`Certificate::uncovered`].
    pub uncovered: Option<&'static str>,
    /// A proof that there is no solution, if one was found (friction problems).
    pub impossible: Option<Impossible>,
}

/// What is wrong at a contact, or in a row of an LCP.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fault {
    /// Contact, or row of an LCP, from 0.
    pub at: usize,
    /// Norm of its part of the natural map.
    pub residual: f64,
    /// The worst of what is wrong there.
    pub kind: Kind,
    /// By how much: see [`Kind`].
    pub size: f64,
}

/// What an answer violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The contact closes, at this velocity (of a problem in velocities), as it must not.
    Closes,
    /// The normal force pulls, by this much.
    Pulls,
    /// The contact opens at this velocity, and is pressed all the same.
    PressedWhileOpening,
    /// Friction is above its limit, by this force.
    BeyondFriction,
    /// The contact slips at this velocity, and friction does not resist it as much as it could.
    WeakFriction,
    /// The contact slips, and full friction is so many degrees off the direction against the slip.
    WrongDirection,
    /// The contact slides already, and friction is this force off that of sliding.
    WrongFriction,
    /// A bounded row has more force than its limit, by this much.
    BeyondLimit,
    /// A bounded or bilateral row moves at this velocity, as it must not, or with a force that does not oppose it.
    Moves,
    /// `z` is negative, by this much.
    NegativeZ,
    /// `w` is negative, by this much.
    NegativeW,
    /// Both `z` and `w` are positive; the smaller one.
    BothPositive,
    /// `w` of an equality is not zero: its size.
    Unequal,
    /// A number is not finite.
    NotFinite,
}

impl Fault {
    /// With a name for the contact or row: `contact 3 closes at 2.0e-3`.
    pub fn words(&self, name: impl fmt::Display) -> String {
        let size = self.size;
        match self.kind {
            Kind::Closes => format!("{name} closes at {size:.1e}"),
            Kind::Pulls => format!("{name} pulls by {size:.1e}"),
            Kind::PressedWhileOpening => format!("{name} opens at {size:.1e} under force"),
            Kind::BeyondFriction => format!("{name} has {size:.1e} more friction than its limit"),
            Kind::WeakFriction => format!("{name} slips at {size:.1e} though friction is below its limit"),
            Kind::WrongDirection => {
                format!("{name} has friction {size:.2} degrees off the direction against its slip")
            }
            Kind::WrongFriction => format!("{name} slides with friction that is off by {size:.1e}"),
            Kind::BeyondLimit => format!("{name} has {size:.1e} more force than its limit"),
            Kind::Moves => format!("{name} moves at {size:.1e} without full force against it"),
            Kind::NegativeZ => format!("{name} has z = -{size:.1e}"),
            Kind::NegativeW => format!("{name} has w = -{size:.1e}"),
            Kind::BothPositive => format!("{name} has z and w of at least {size:.1e}"),
            Kind::Unequal => format!("{name} has |w| = {size:.1e} for an equality"),
            Kind::NotFinite => format!("{name} has a number that is not finite"),
        }
    }
}

impl Diagnosis {
    /// Of forces; without any, of the problem alone. `known` is what [`super::examine`] found.
    /// A proof that there is no solution, and sweeps, are tried within the budget.
    pub fn of_friction(
        problem: &FrictionProblem,
        lambda: Option<&[f64]>,
        known: &Certificate,
        budget: &mut Budget,
    ) -> Self {
        let lambda = lambda.filter(|l| l.len() == problem.size());
        let map = lambda.and_then(|lambda| residual::friction_map(problem, lambda));
        let disc = AsDisc::of(problem);
        // ellipsoids as discs: the same law in other units
        let (plain, unknowns) = match &disc {
            Some(disc) => (&disc.problem, lambda.map(|lambda| disc.unknowns(lambda))),
            None => (problem, lambda.map(<[f64]>::to_vec)),
        };
        let (mut worst, faulty) = match (&map, &unknowns) {
            (Some(map), Some(_)) => largest(map, problem.offsets()),
            _ => (vec![], 0),
        };
        if let Some(unknowns) = &unknowns {
            let s = plain.speed(unknowns);
            worst
                .iter_mut()
                .for_each(|fault| (fault.kind, fault.size) = at_contact(plain, unknowns, &s, fault.at));
        }
        let residual = lambda.map_or(Residual::NONE, |lambda| residual::friction(problem, lambda));
        let finite = |l: &&[f64]| residual.relative > ROUNDING && l.iter().all(|x| x.is_finite());
        let tried = unknowns.as_deref().filter(finite);
        let impossible = if known.existence == Existence::Always { None } else { impossible(plain, budget) };
        // a proof counts for more than a range that is known to rounding
        let existence = if impossible.is_some() { Existence::NotCovered } else { known.existence };
        Self {
            residual,
            worst,
            faulty,
            sweeps: tried.and_then(|lambda| tendency(plain, lambda, budget)),
            // where the problem was not examined nothing is known
            existence: known.rank.map(|_| existence),
            uncovered: known.uncovered,
            impossible,
        }
    }

    /// Of the variables of a mixed LCP.
    pub fn of_mixed(problem: &MixedLcp, z: &[f64]) -> Self {
        let mut out = Self {
            residual: residual::mixed(problem, z),
            worst: vec![],
            faulty: 0,
            sweeps: None,
            existence: None,
            uncovered: None,
            impossible: None,
        };
        if z.len() != problem.size() {
            return out;
        }
        let w = |i: usize| dot(problem.matrix().row(i), z) + problem.vector()[i];
        let row = |i: usize| match (problem.complementary()[i], z[i], w(i)) {
            (_, z, w) if !(z + w).is_finite() => (Kind::NotFinite, f64::INFINITY),
            (false, _, w) => (Kind::Unequal, w.abs()),
            (true, z, w) if z.min(w) > 0.0 => (Kind::BothPositive, z.min(w)),
            (true, z, w) if z < w => (Kind::NegativeZ, -z),
            (true, _, w) => (Kind::NegativeW, -w),
        };
        let sizes: Vec<f64> = (0..z.len()).map(|i| row(i).1).collect();
        (out.worst, out.faulty) = largest(&sizes, &uniform_offsets(1, sizes.len()));
        out.worst.iter_mut().for_each(|fault| (fault.kind, fault.size) = row(fault.at));
        out
    }

    /// Diagnosis of a result of a boxed mixed LCP. `z` counts from its nearest bound; at an upper one `z` and `w` change their signs.
    pub fn of_boxed(problem: &BoxedLcp, z: &[f64]) -> Self {
        let residual = residual::boxed(problem, z);
        let mut out = Self {
            residual,
            worst: vec![],
            faulty: 0,
            sweeps: None,
            existence: None,
            uncovered: None,
            impossible: None,
        };
        if z.len() != problem.size() {
            return out;
        }
        let w = problem.slack(z);
        let row = |i: usize| {
            let (low, up) = (z[i] - problem.lower()[i], problem.upper()[i] - z[i]);
            match (low.min(up), if up < low { -w[i] } else { w[i] }) {
                (z, w) if z.is_nan() || !w.is_finite() => (Kind::NotFinite, f64::INFINITY),
                (f64::INFINITY, w) => (Kind::Unequal, w.abs()),
                (z, w) if z.min(w) > 0.0 => (Kind::BothPositive, z.min(w)),
                (z, w) if z < w => (Kind::NegativeZ, -z),
                (_, w) => (Kind::NegativeW, -w),
            }
        };
        let sizes: Vec<f64> = (0..z.len()).map(|i| row(i).1).collect();
        (out.worst, out.faulty) = largest(&sizes, &uniform_offsets(1, sizes.len()));
        out.worst.iter_mut().for_each(|fault| (fault.kind, fault.size) = row(fault.at));
        out
    }

    /// In words, a line each: what is violated where (with names for contacts, or rows), what sweeps do, and whether there is a solution.
    pub fn lines(&self, name: impl Fn(usize) -> String) -> Vec<String> {
        let mut out = vec![];
        if !self.worst.is_empty() {
            let mut words: Vec<String> = self.worst.iter().take(3).map(|f| f.words(name(f.at))).collect();
            if let more @ 1.. = self.faulty.saturating_sub(words.len()) {
                words.push(format!("... ({more} more)"));
            }
            out.push(words.join("; "));
        }
        out.extend(self.sweeps.map(|sweeps| sweeps.to_string()));
        let verdict = match (&self.impossible, self.existence) {
            _ if self.residual.relative <= ROUNDING => {
                Some("the residual is rounding: the tolerance is too small for these numbers".to_owned())
            }
            (Some(impossible), _) => Some(impossible.words(&name)),
            (None, Some(Existence::Always | Existence::ForThisVector)) => {
                Some("a solution exists: the solver did not find it".to_owned())
            }
            (None, Some(Existence::NotCovered)) => Some(match self.uncovered {
                Some(why) => format!("no theorem at hand promises a solution ({why}): there may be none"),
                None => "no theorem at hand promises a solution: there may be none".to_owned(),
            }),
            (None, None) => None,
        };
        out.extend(verdict);
        out
    }
}

/// The parts of a map with the largest norms, their kinds yet open, and how many count.
fn largest(map: &[f64], offsets: &[usize]) -> (Vec<Fault>, usize) {
    let known = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
    let mut parts: Vec<(usize, f64)> =
        offsets.windows(2).map(|at| known(norm(&map[at[0]..at[1]]))).enumerate().collect();
    let total = parts.iter().fold(0.0f64, |m, (_, x)| m.hypot(*x));
    parts.retain(|(_, x)| *x > COUNTS * total || *x == f64::INFINITY);
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let fault =
        |&(at, residual): &(usize, f64)| Fault { at, residual, kind: Kind::NotFinite, size: f64::INFINITY };
    (parts.iter().take(KEPT).map(fault).collect(), parts.len())
}

/// The worst of what is wrong at a contact. Forces and velocities are compared as the natural map does.
fn at_contact(p: &FrictionProblem, lambda: &[f64], s: &[f64], c: usize) -> (Kind, f64) {
    let (l, s) = (&lambda[p.rows_of(c)], &s[p.rows_of(c)]);
    if !l.iter().chain(s).all(|x| x.is_finite()) {
        return (Kind::NotFinite, f64::INFINITY);
    }
    let (mu, law) = (p.elements()[c].mu(), p.elements()[c].law());
    if let Law::Row { limit } = law {
        let beyond = l[0].abs() - limit;
        return if beyond > 0.0 && beyond >= s[0].abs() {
            (Kind::BeyondLimit, beyond)
        } else {
            (Kind::Moves, s[0].abs())
        };
    }
    let limit = mu * l[0].max(0.0);
    // weight, kind, size
    let mut found = vec![
        (-s[0], Kind::Closes, -s[0]),
        (-l[0], Kind::Pulls, -l[0]),
        (l[0].min(s[0]), Kind::PressedWhileOpening, s[0]),
    ];
    let beyond = law.gauge(l) - limit;
    found.push((beyond / mu.hypot(1.0), Kind::BeyondFriction, beyond));
    let slip = norm(&s[1..]);
    if let Element::Contact(Contact { mode: Mode::Sliding { direction }, .. }) = p.elements()[c] {
        let off: Vec<f64> = l[1..].iter().zip(direction).map(|(l, d)| l + limit * d).collect();
        found.push((norm(&off), Kind::WrongFriction, norm(&off)));
    } else if slip > 0.0 && limit > 0.0 {
        let against = -dot(&l[1..], &s[1..]) / slip;
        let round = law == Law::Disc;
        let most = law.lift(s) / slip;
        let (missing, size) = (limit * most - against, norm(&l[1..]));
        if round && size > FULL * limit {
            let off = (size * size - against * against).max(0.0).sqrt();
            let apart = off.hypot(size - against);
            found.push((slip.min(apart), Kind::WrongDirection, off.atan2(against).to_degrees()));
        } else {
            found.push((slip.min(missing), Kind::WeakFriction, slip));
        }
    }
    let worst = found.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    worst.map_or((Kind::NotFinite, f64::INFINITY), |(_, kind, size)| (kind, size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{Settings, examine};
    use crate::matrix::Matrix;
    use crate::problem::Friction;

    fn of(b: [f64; 3], lambda: [f64; 3]) -> Diagnosis {
        let p = FrictionProblem::new(Matrix::identity(3), b.to_vec(), vec![0.5], 3, Friction::Cone).unwrap();
        let known = examine(&p, None, &Settings::default());
        Diagnosis::of_friction(&p, Some(&lambda), &known, &mut Budget::default())
    }

    /// A unit mass on a plane: each way to be wrong has its name and size.
    #[test]
    fn every_violation_is_named_with_its_size() {
        let cases = [
            ([-1.0, 0.0, 0.0], [0.8, 0.0, 0.0], Kind::Closes, 0.2),
            ([1.0, 0.0, 0.0], [-0.3, 0.0, 0.0], Kind::Pulls, 0.3),
            ([-1.0, 0.0, 0.0], [1.5, 0.0, 0.0], Kind::PressedWhileOpening, 0.5),
            ([-1.0, 0.7, 0.0], [1.0, -0.7, 0.0], Kind::BeyondFriction, 0.2),
            ([-1.0, 0.8, 0.0], [1.0, -0.3, 0.0], Kind::WeakFriction, 0.5),
            ([-1.0, 2.0, 0.5], [1.0, 0.0, -0.5], Kind::WrongDirection, 90.0),
            ([0.0, 2.0, 0.0], [0.0, 0.3, 0.0], Kind::BeyondFriction, 0.3),
        ];
        for (b, lambda, kind, size) in cases {
            let found = of(b, lambda);
            assert_eq!((found.worst.len(), found.faulty), (1, 1));
            let fault = found.worst[0];
            assert!(fault.kind == kind && (fault.size - size).abs() < 1e-12, "{kind:?}: {fault:?}");
            assert!((fault.residual - found.residual.absolute).abs() < 1e-15);
            assert!(found.lines(|c| format!("contact {c}")).last().unwrap().contains("a solution exists"));
        }
        let found = of([-1.0, 0.0, 0.0], [1.0 + 1e-15, 0.0, 0.0]);
        assert!(found.lines(|c| c.to_string()).last().unwrap().contains("rounding"), "{found:?}");
        let found = of([-1.0, 0.0, 0.0], [f64::NAN, 0.0, 0.0]);
        assert_eq!(found.worst[0].kind, Kind::NotFinite);
    }

    #[test]
    fn rows_of_lcps_are_named_too() {
        let p =
            MixedLcp::new(Matrix::identity(4), vec![-1.0, 0.5, -3.0, -1.0], vec![true, true, true, false]);
        let found = Diagnosis::of_mixed(&p.unwrap(), &[2.0, -0.25, 1.0, 1.0]);
        let told: Vec<(usize, Kind, f64)> = found.worst.iter().map(|f| (f.at, f.kind, f.size)).collect();
        assert_eq!(
            told,
            [(2, Kind::NegativeW, 2.0), (0, Kind::BothPositive, 1.0), (1, Kind::NegativeZ, 0.25)]
        );
    }
}
