//! One cluster of contacts: its solutions, the boundary layer of each, and the model to prefer.

use super::layer::{
    BoundaryLayer, Deforming, Dependence, Restricted, Verdict, dependence, eliminate, springs_of,
};
use super::margin::{Margin, margin};
use super::{Branch, BranchContact, Cluster, Finite, Preferred, Question};
use crate::analysis::accelerate::{ContactAt, NotAccelerated};
use crate::analysis::instant::{Instant, InvalidInstant};
use crate::contact::RowSpring;
use crate::model::Model;
use crate::state::Trust;
use crate::step::Status as Does;
use complementarity::matrix::{Matrix, norm};
use complementarity::problem::{Group, InstantProblem};
use complementarity::report::Status;
use complementarity::residual::Residual;
use complementarity::solver::instant::{self, Balancing, Outcome, Settings, Solution};

/// Accelerations below this share of the largest are zero, and forces.
const NEGLIGIBLE: f64 = 1e-8;
/// Motions whose accelerations differ by less than this share are one.
const SAME_MOTION: f64 = 1e-7;
/// Contacts of a cluster up to which it is examined.
const LARGEST: usize = 60;
/// Sums below this share of their terms are zero.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
/// Share of its limit from which joint friction slips.
const AT_LIMIT: f64 = 1.0 - 1e-9;

/// The problem of a cluster.
pub(super) struct Posed<'a> {
    pub model: &'a Model,
    pub instant: &'a Instant,
    /// Groups of the whole problem.
    pub groups: Vec<usize>,
    pub problem: InstantProblem,
    pub jacobian: Matrix,
    pub mu: Vec<f64>,
    /// Contacts among the groups; the rest are standing rows.
    pub contacts: usize,
}

/// What a group of rows does in a solution.
#[derive(Debug, Clone, PartialEq)]
enum Mode {
    /// No force.
    Open,
    /// Its force is the normal one times the ray.
    Slip(Vec<f64>),
    /// Forces of its own in all rows that have friction.
    Stick,
    /// It holds without deformation.
    Rigid,
    /// A known effort.
    Known,
}

/// Splits groups into those that are connected through `A`.
pub(super) fn clusters(matrix: &Matrix, offsets: &[usize]) -> Vec<Vec<usize>> {
    let count = offsets.len() - 1;
    let meet = |g: usize, k: usize| {
        (offsets[g]..offsets[g + 1]).any(|i| {
            (offsets[k]..offsets[k + 1])
                .any(|j| matrix[(i, j)].abs() > 1e-13 * (matrix[(i, i)] * matrix[(j, j)]).sqrt())
        })
    };
    let mut left: Vec<usize> = (0..count).collect();
    let mut found = vec![];
    while !left.is_empty() {
        let mut own = vec![left.remove(0)];
        let mut next = 0;
        while next < own.len() {
            let at = own[next];
            let (near, far): (Vec<usize>, Vec<usize>) = left.iter().partition(|k| meet(at, **k));
            own.extend(near);
            left = far;
            next += 1;
        }
        own.sort_unstable();
        found.push(own);
    }
    found
}

impl Posed<'_> {
    pub fn examine(
        &self,
        contacts: Vec<ContactAt>,
        standing: Vec<usize>,
        question: &Question,
    ) -> Result<Cluster, NotAccelerated> {
        let outcome = self.solve(question)?;
        let Outcome { status, solutions, complete, reason, .. } = outcome;
        let proved_none = status == Status::NoSolution;
        let mut branches = vec![];
        for solution in &solutions {
            branches.push(self.branch(solution, question)?);
        }
        self.number_motions(&solutions, &mut branches);
        let balancing = match self.groups.len() <= LARGEST {
            true => instant::balancing(&self.problem, &self.jacobian),
            false => Balancing::Unknown,
        };
        let wedged = match balancing {
            Balancing::None => Some(vec![]),
            Balancing::Unknown => None,
            Balancing::Forces(forces) => {
                let loaded = |g: &usize| forces[self.problem.rows_of(*g).start].abs() > NEGLIGIBLE;
                Some((0..self.contacts).filter(loaded).collect())
            }
        };
        let margin = self.margin(&solutions);
        let finite = match () {
            () if solutions.iter().any(|s| s.dimension > 0) => Finite::No,
            () if complete && !proved_none => Finite::Yes,
            () => Finite::Unknown,
        };
        let trust = trust(&solutions, &branches, complete, proved_none);
        // other forces of the same contacts in the same motion are no solution of their own
        let mut kept: Vec<Branch> = vec![];
        for branch in branches {
            let same = |b: &Branch| {
                let status = |b: &Branch| b.contacts.iter().map(|c| c.status).collect::<Vec<_>>();
                b.motion == branch.motion && status(b) == status(&branch)
            };
            if !kept.iter().any(same) {
                kept.push(branch);
            }
        }
        let branches = kept;
        let preferred = preferred(&branches, proved_none);
        Ok(Cluster {
            contacts,
            standing,
            status,
            complete,
            proved_none,
            reason,
            branches,
            margin,
            wedged,
            finite,
            trust,
            preferred,
        })
    }

    /// All solutions, or one that is proved to be the only one, or one where there are too many contacts for a search.
    fn solve(&self, question: &Question) -> Result<Outcome, NotAccelerated> {
        if let Some(outcome) = self.at_zero() {
            return Ok(outcome);
        }
        if self.groups.len() > LARGEST {
            return Ok(Outcome {
                status: Status::Undecided,
                solver: "none",
                iterations: 0,
                solutions: vec![],
                complete: false,
                proof: None,
                reason: Some(format!("{} connected contacts, examined up to {LARGEST}", self.groups.len())),
            });
        }
        let conditions = instant::conditions(&self.problem, &self.jacobian, &self.mu);
        let search = !conditions.unique && self.groups.len() <= question.most_contacts;
        let settings = Settings {
            tolerance: question.tolerance,
            all: search,
            max_nodes: question.max_nodes,
            budget: question.budget.clone(),
        };
        let mut outcome = instant::solve_pyramid(&self.problem, &settings)?;
        if !self.problem.is_polyhedral() {
            let none = (vec![0.0; self.problem.size()], vec![]);
            let starts = outcome.solutions.iter().map(|s| (s.forces.clone(), vec![]));
            let starts: Vec<_> = starts.chain([none]).collect();
            outcome = instant::solve_cone(&self.problem, &settings, &starts);
        }
        if conditions.unique && outcome.solutions.len() == 1 {
            (outcome.complete, outcome.status) = (true, Status::Solved);
        }
        Ok(outcome)
    }

    /// The solutions of a single contact whose `A` of (29) is zero to rounding: for B > 0 it opens, for B = 0 any force will do, for B < 0 there is none.
    fn at_zero(&self) -> Option<Outcome> {
        let [Group::Sliding { ray }] = self.problem.groups() else { return None };
        let row = self.problem.matrix().row(0);
        let (sum, size) =
            row.iter().zip(ray).fold((0.0, 0.0), |(s, m), (a, f)| (s + a * f, m + (a * f).abs()));
        let b = self.problem.vector()[0];
        if f64::abs(sum) > ROUNDING * size {
            return None;
        }
        let solution = |forces: Vec<f64>, dimension: usize| Solution {
            forces,
            displacements: vec![],
            residual: Residual::ZERO,
            dimension,
            motion_dimension: dimension,
            unbounded: dimension > 0,
            ranges: vec![],
        };
        let (status, solutions) = match () {
            () if b > 0.0 => (Status::Solved, vec![solution(vec![0.0; row.len()], 0)]),
            () if b == 0.0 => (Status::Several, vec![solution(ray.clone(), 1)]),
            () => (Status::NoSolution, vec![]),
        };
        let (solver, iterations, complete, proof) = ("closed form", 0, true, None);
        Some(Outcome { status, solver, iterations, solutions, complete, proof, reason: None })
    }

    /// What each group does in a solution, and the size of forces below which there are none.
    fn modes(&self, solution: &Solution) -> Vec<Mode> {
        let (forces, problem) = (&solution.forces, &self.problem);
        let a = problem.accelerations(forces, &[]);
        let pushed = (0..forces.len()).map(|i| problem.matrix()[(i, i)] * forces[i].abs());
        let scale = pushed.fold(norm(problem.vector()).max(norm(&a)), f64::max);
        let none = NEGLIGIBLE * forces.iter().fold(0.0f64, |m, c| m.max(c.abs()));
        let mode = |(g, group): (usize, &Group)| {
            let rows = problem.rows_of(g);
            let (c, a) = (&forces[rows.clone()], &a[rows]);
            match group {
                Group::Bilateral => Mode::Rigid,
                Group::Bounded { limit } if c[0].abs() < AT_LIMIT * limit => Mode::Rigid,
                Group::Bounded { .. } => Mode::Known,
                _ if c[0] <= none => Mode::Open,
                Group::Unilateral => Mode::Stick,
                Group::Sliding { ray } => Mode::Slip(ray.clone()),
                Group::Rolling { mu, axes } => {
                    let moves = |(a, e): (&f64, &f64)| e * a.abs() > NEGLIGIBLE * scale;
                    match *mu == 0.0 || a[1..].iter().zip(axes).any(moves) {
                        true => Mode::Slip(c.iter().map(|x| x / c[0]).collect()),
                        false => Mode::Stick,
                    }
                }
            }
        };
        problem.groups().iter().enumerate().map(mode).collect()
    }

    /// `A` without the rows that hold rigidly.
    fn matrix(&self, modes: &[Mode]) -> Matrix {
        let mut matrix = self.problem.matrix().clone();
        let held = (0..modes.len()).filter(|g| modes[*g] == Mode::Rigid);
        let held: Vec<usize> = held.map(|g| self.problem.rows_of(g).start).collect();
        eliminate(&mut matrix, &held);
        matrix
    }

    /// Adds the rows of a group that deform.
    fn add(&self, g: usize, mode: &Mode, to: &mut Deforming) {
        let rows = self.problem.rows_of(g);
        match mode {
            Mode::Slip(ray) => to.slip(g, rows.start, ray),
            Mode::Stick => {
                let axes = match &self.problem.groups()[g] {
                    Group::Rolling { mu, axes } if *mu > 0.0 => axes.as_slice(),
                    _ => &[],
                };
                to.hold(g, rows.start);
                let resisted = rows.skip(1).zip(axes).filter(|(_, e)| **e > 0.0);
                resisted.for_each(|(row, _)| to.hold(g, row));
            }
            Mode::Open | Mode::Rigid | Mode::Known => {}
        }
    }

    /// Springs of the rows that deform, and whether all are those of the scene's laws.
    fn springs(
        &self,
        deforming: &Deforming,
        restricted: &Restricted,
        forces: &[f64],
        question: &Question,
    ) -> Result<(Vec<RowSpring>, bool), NotAccelerated> {
        let (mut springs, mut given) = (vec![], true);
        for ((&row, &g), mobility) in deforming.rows.iter().zip(&deforming.contact).zip(&restricted.mobility)
        {
            let first = self.problem.rows_of(g).start;
            let own = match g < self.contacts {
                true => {
                    let c = &self.instant.contacts().contacts[self.groups[g]];
                    springs_of(self.model, c.rule, forces[first]).map_err(|expected| {
                        let contact = self.model.contact_name(c.id).unwrap_or_default();
                        InvalidInstant::Contact { contact, expected }
                    })?
                }
                false => None,
            };
            // moments have no springs of their own
            let linear = row - first < self.model.contacts().linear_rows();
            springs.push(match own.filter(|_| linear) {
                Some(own) => own[row - first],
                None => {
                    given = false;
                    question.layer.spring(1.0 / mobility)
                }
            });
        }
        Ok((springs, given))
    }

    fn branch(&self, solution: &Solution, question: &Question) -> Result<Branch, NotAccelerated> {
        let modes = self.modes(solution);
        let mut deforming = Deforming::default();
        modes.iter().enumerate().for_each(|(g, mode)| self.add(g, mode, &mut deforming));
        let (mut layer, mut depends) = (Some(BoundaryLayer::none()), Some(Dependence::Proved));
        if !deforming.rows.is_empty() {
            (layer, depends) = (None, None);
            if let Some(restricted) = Restricted::new(&self.matrix(&modes), &deforming) {
                let (springs, given) = self.springs(&deforming, &restricted, &solution.forces, question)?;
                layer = BoundaryLayer::new(&restricted, &springs);
                // masses, springs and dampers: stable, though with masses far apart rates may be lost in rounding
                let holds = |s: &RowSpring| s.stiffness > 0.0 && s.damping > 0.0;
                if !deforming.slips && springs.iter().all(holds) {
                    layer.iter_mut().for_each(|layer| layer.verdict = Verdict::Stable);
                }
                let first = |g: usize| self.problem.rows_of(g).start;
                let friction: Vec<bool> =
                    deforming.rows.iter().zip(&deforming.contact).map(|(row, g)| *row > first(*g)).collect();
                depends = match (&layer, given) {
                    (Some(_), true) => Some(Dependence::Given),
                    (Some(layer), false) if question.vary => {
                        dependence(&restricted, &deforming, &friction, &springs, layer.verdict)
                    }
                    _ => None,
                };
            }
        }
        let relative = self.problem.accelerations(&solution.forces, &[]);
        let contacts: Vec<BranchContact> =
            (0..self.contacts).map(|g| self.contact(g, &modes[g], &solution.forces, &relative)).collect();
        let begins = |g: usize| {
            let rolled = matches!(&self.problem.groups()[g], Group::Rolling { mu, .. } if *mu > 0.0);
            let opens = relative[self.problem.rows_of(g).start] > NEGLIGIBLE * norm(self.problem.vector());
            rolled && (matches!(modes[g], Mode::Slip(_)) || opens)
        };
        let transition = (0..self.contacts).any(begins);
        Ok(Branch {
            contacts,
            layer,
            depends,
            transition,
            motion: 0,
            dimension: solution.dimension,
            motion_dimension: solution.motion_dimension,
            forces: solution.forces.clone(),
            residual: solution.residual.relative,
        })
    }

    fn contact(&self, g: usize, mode: &Mode, forces: &[f64], relative: &[f64]) -> BranchContact {
        let rows = self.problem.rows_of(g);
        let linear = rows.len().min(self.model.contacts().linear_rows());
        let three = |x: &[f64]| [0, 1, 2].map(|i| if i < linear { x[rows.start + i] } else { 0.0 });
        let index = self.groups[g];
        let [_, t, o] = self.instant.relative_velocity(index);
        let creeps = self.instant.smooth(index).is_some_and(|gamma| t.hypot(o) <= gamma);
        let status = match mode {
            Mode::Open => Does::Open,
            Mode::Slip(_) if !creeps => Does::Slip,
            _ => Does::Stick,
        };
        BranchContact { status, force: three(forces), acceleration: three(relative) }
    }

    /// Gives solutions that make the same motion the same number.
    fn number_motions(&self, solutions: &[Solution], branches: &mut [Branch]) {
        let motions: Vec<Vec<f64>> =
            solutions.iter().map(|s| self.problem.accelerations(&s.forces, &[])).collect();
        // in units in which rows of forces and of moments are alike
        let unit = |i: usize| 1.0 / self.problem.matrix()[(i, i)].max(f64::MIN_POSITIVE).sqrt();
        let size = |x: &[f64]| x.iter().enumerate().map(|(i, x)| (unit(i) * x).powi(2)).sum::<f64>().sqrt();
        let loads = size(self.problem.vector());
        let mut count = 0;
        for i in 0..motions.len() {
            let same = (0..i).find(|j| {
                let apart: Vec<f64> = motions[i].iter().zip(&motions[*j]).map(|(x, y)| x - y).collect();
                size(&apart) <= SAME_MOTION * size(&motions[i]).max(size(&motions[*j])).max(loads)
            });
            branches[i].motion = same.map_or(count, |j| branches[j].motion);
            count = count.max(branches[i].motion + 1);
        }
    }

    /// Contacts as they are loaded: slipping ones slip, the others stick, unless the only solution lets them slip.
    fn margin(&self, solutions: &[Solution]) -> Margin {
        let found = match solutions {
            [only] => self.modes(only),
            _ => vec![],
        };
        let mode = |(g, group): (usize, &Group)| match (group, found.get(g)) {
            (Group::Sliding { ray }, _) => Mode::Slip(ray.clone()),
            (Group::Rolling { .. }, Some(Mode::Slip(ray))) => Mode::Slip(ray.clone()),
            (Group::Rolling { .. } | Group::Unilateral, _) => Mode::Stick,
            (Group::Bilateral, _) => Mode::Rigid,
            (Group::Bounded { .. }, found) => found.cloned().unwrap_or(Mode::Rigid),
        };
        let modes: Vec<Mode> = self.problem.groups().iter().enumerate().map(mode).collect();
        let rows = |(g, mode): (usize, &Mode)| {
            let mut own = Deforming::default();
            self.add(g, mode, &mut own);
            own
        };
        let loaded: Vec<Deforming> = modes.iter().enumerate().map(rows).collect();
        let numbers: Vec<usize> = (0..loaded.len()).filter(|g| !loaded[*g].rows.is_empty()).collect();
        let own: Vec<Deforming> = numbers.iter().map(|g| loaded[*g].clone()).collect();
        let mut found = margin(&self.matrix(&modes), &own);
        found.contacts.iter_mut().for_each(|k| *k = numbers[*k]);
        found
    }
}

/// Number of different motions.
fn motions(branches: &[Branch]) -> usize {
    branches.iter().map(|b| b.motion + 1).max().unwrap_or(0)
}

fn trust(solutions: &[Solution], branches: &[Branch], complete: bool, proved_none: bool) -> Trust {
    let continua = solutions.iter().any(|s| s.motion_dimension > 0);
    match () {
        () if proved_none => Trust::NoRigidSolution,
        () if continua || motions(branches) > 1 => Trust::MotionNotUnique,
        () if !complete || branches.is_empty() => Trust::NotExamined,
        () if branches.len() > 1 || solutions[0].dimension > 0 => Trust::ForcesNotUnique,
        () => Trust::Unique,
    }
}

fn preferred(branches: &[Branch], proved_none: bool) -> Preferred {
    if branches.is_empty() {
        return if proved_none { Preferred::Compliant } else { Preferred::Undecided };
    }
    if branches.iter().any(|b| b.motion_dimension > 0) {
        return Preferred::Compliant;
    }
    let stable = |motion: usize| {
        let mut own = branches.iter().filter(|b| b.motion == motion);
        own.any(|b| b.layer.as_ref().is_some_and(|l| l.verdict == Verdict::Stable))
    };
    let count = motions(branches);
    match (count, (0..count).filter(|m| stable(*m)).count()) {
        (1, 1) => Preferred::Rigid,
        (_, 1) => Preferred::StableBranch,
        (_, 0) if branches.iter().any(|b| b.layer.is_none()) => Preferred::Undecided,
        _ => Preferred::Compliant,
    }
}
