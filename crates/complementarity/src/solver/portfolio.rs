//! Solves problems of every kind by a method, and reports how: a status, the residual, and evidence.

use super::auto::Auto;
use super::{Budget, End, Method, Outcome, Solver, decide, interior_point, lemke, newton_lemke};
use crate::basis::BasisSolver;
use crate::factor::rank;
use crate::matrix::{Matrix, norm};
use crate::operator::Operator;
use crate::problem::{BoxedLcp, ContactProblem, Converted, Friction, FrictionProblem, Lcp, MixedLcp};
use crate::report::{Certificate, Piece, Progress, Report, Status};
use crate::residual::{self, Residual};
use crate::scaling;
use std::cell::RefCell;

/// Name in reports where no solver was fit to start.
const NAME: &str = "auto";

/// Covering vectors for large problems: a path is then long, and the interior point a better second try.
const FEW_STARTS: usize = 3;

/// Isolated solutions whose forces differ by less than this share are one.
const SAME_FORCES: f64 = 1e-7;

/// Settings of all `solve_...` functions.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which algorithm.
    pub method: Method,
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Ask for all solutions: decide answers, whatever the method.
    pub all: bool,
    /// Work that solvers of contact problems may do, and a flag that ends them.
    pub budget: Budget,
    /// Nodes after which decide ends undecided.
    pub max_nodes: usize,
    /// From this size on, `Auto` gives Lemke only a few covering vectors and tries the interior
    /// point before decide, whose trees are then hopeless.
    pub large_from: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            tolerance: 1e-8,
            all: false,
            budget: Budget::default(),
            max_nodes: decide::Settings::default().max_nodes,
            large_from: 200,
        }
    }
}

impl Settings {
    fn lemke(&self, size: usize) -> lemke::Settings {
        let all = lemke::Settings { tolerance: self.tolerance, ..Default::default() };
        let few = self.method == Method::Auto && size >= self.large_from;
        lemke::Settings { starts: if few { FEW_STARTS } else { all.starts }, ..all }
    }

    fn interior_point(&self) -> interior_point::Settings {
        interior_point::Settings { tolerance: self.tolerance, ..Default::default() }
    }

    fn decide(&self) -> decide::Settings {
        decide::Settings {
            tolerance: self.tolerance,
            all: self.all,
            max_nodes: self.max_nodes,
            ..Default::default()
        }
    }
}

/// Solves an LCP; `watch` hears of the progress.
pub fn solve_lcp(problem: &Lcp, settings: &Settings, watch: &mut dyn FnMut(Progress)) -> Report {
    lcp_within(problem, settings, &mut settings.budget.clone(), watch)
}

fn lcp_within(
    problem: &Lcp,
    settings: &Settings,
    budget: &mut Budget,
    watch: &mut dyn FnMut(Progress),
) -> Report {
    match settings.method {
        _ if settings.all => decide::solve(&problem.into(), &settings.decide(), budget, watch),
        Method::Lemke => lemke::solve_within(problem, &settings.lemke(problem.size()), budget, watch),
        Method::InteriorPoint => interior_point::solve(problem, &settings.interior_point(), budget, watch),
        Method::Decide => decide::solve(&problem.into(), &settings.decide(), budget, watch),
        method if method.wants_contacts() => {
            stopped("this solver works on contact problems, not on LCPs".to_owned())
        }
        _ => {
            let first = lemke::solve_within(problem, &settings.lemke(problem.size()), budget, watch);
            if first.status == Status::Solved || budget.ended().is_some() {
                return first;
            }
            if problem.size() >= settings.large_from {
                let second = interior_point::solve(problem, &settings.interior_point(), budget, watch);
                if second.status == Status::Solved || budget.ended().is_some() {
                    return second;
                }
            }
            decide::solve(&problem.into(), &settings.decide(), budget, watch)
        }
    }
}

/// Solves a mixed LCP; the solution is the whole `z`. Lemke and the interior point work on what is
/// left when the free variables are eliminated, decide on the problem as it is.
pub fn solve_mixed(problem: &MixedLcp, settings: &Settings, watch: &mut dyn FnMut(Progress)) -> Report {
    let budget = &mut settings.budget.clone();
    if settings.all || settings.method == Method::Decide {
        return decide::solve(problem, &settings.decide(), budget, watch);
    }
    let auto = settings.method == Method::Auto;
    let without = match problem.eliminate() {
        Ok(without) => without,
        Err(_) if auto => return decide::solve(problem, &settings.decide(), budget, watch),
        Err(why) => return stopped(why.to_string()),
    };
    // decide works on the mixed problem itself, so that its proof speaks of that one
    let method = if auto { Method::Lemke } else { settings.method };
    let inner = Settings { method, ..settings.clone() };
    let mut report = lcp_within(&without.lcp, &inner, budget, watch);
    // with no pair left the LCP is empty, and so is its solution
    if report.solution.len() == without.lcp.size() {
        report.solution = without.recover(&report.solution);
        report.residual = residual::mixed(problem, &report.solution);
        polish(problem, &mut report);
    }
    if report.status == Status::Solved && report.residual.relative > settings.tolerance {
        report.status = Status::Stalled;
        report.certificate = Certificate::Stopped {
            end: End::Stalled,
            reason: format!("the residual grew to {:.1e} with the free variables", report.residual.relative),
        };
    }
    if auto && report.status != Status::Solved && budget.ended().is_none() {
        return decide::solve(problem, &settings.decide(), budget, watch);
    }
    report
}

/// Solves a boxed mixed LCP; the solution is the whole `z`. All methods work on the problem as a mixed LCP
/// ([`BoxedLcp::to_mixed`]): a proof that there is no solution, and the supports of pieces, speak of the variables of that
/// one. Where `auto` fails, Newton-Lemke tries the problem as posed.
pub fn solve_boxed(problem: &BoxedLcp, settings: &Settings, watch: &mut dyn FnMut(Progress)) -> Report {
    let unboxed = problem.to_mixed();
    let mut report = match &unboxed.mixed {
        Ok(mixed) => solve_mixed(mixed, settings, watch),
        Err(why) => return stopped(format!("as a mixed LCP: {why}")),
    };
    let size = unboxed.mixed.as_ref().map_or(0, MixedLcp::size);
    if report.solution.len() == size {
        report.solution = unboxed.recover(&report.solution);
        report.residual = residual::boxed(problem, &report.solution);
    }
    if let Certificate::Solutions { pieces, .. } = &mut report.certificate {
        for piece in pieces {
            piece.point = unboxed.recover(&piece.point);
            piece.residual = residual::boxed(problem, &piece.point);
        }
    }
    if report.status == Status::Solved && report.residual.relative > settings.tolerance {
        report.status = Status::Stalled;
        let reason =
            format!("solved as a mixed LCP, but the residual in the box is {:.1e}", report.residual.relative);
        report.certificate = Certificate::Stopped { end: End::Stalled, reason };
    }
    if report.status.is_decided() || settings.method != Method::Auto || settings.all {
        return report;
    }
    let start = if report.solution.len() == problem.size() {
        report.solution.clone()
    } else {
        vec![0.0; problem.size()]
    };
    let inner = newton_lemke::Settings { tolerance: settings.tolerance, ..Default::default() };
    let mut newton = newton_lemke::NewtonLemke::new(inner, settings.budget.clone());
    match newton.solve(problem, &start, watch) {
        Ok(second) if second.status == Status::Solved => second,
        _ => report,
    }
}

/// Solves the basis of a solved mixed LCP afresh, free variables included.
fn polish(problem: &MixedLcp, report: &mut Report) {
    if report.status != Status::Solved {
        return;
    }
    let comp = problem.complementary();
    let active: Vec<usize> = (0..problem.size()).filter(|&i| !comp[i] || report.solution[i] > 0.0).collect();
    let (mut d, mut scratch) = (vec![], vec![]);
    scaling::symmetric(problem.matrix(), &mut d, &mut scratch);
    let mut z = vec![0.0; problem.size()];
    let mut basis = BasisSolver::default();
    if basis.solve(problem.matrix(), problem.vector(), &d, &active, &mut z).is_err() {
        report.certificate = Certificate::Residual;
        return;
    }
    for i in (0..z.len()).filter(|&i| comp[i]) {
        z[i] = z[i].max(0.0);
    }
    let found = residual::mixed(problem, &z);
    if found.absolute <= report.residual.absolute {
        report.residual = found;
        report.solution = z;
        report.certificate = Certificate::Basis { active };
    } else {
        report.certificate = Certificate::Residual;
    }
}

/// Solves a friction problem; the solution holds the contact forces. `auto` escalates as it does in a simulation ([`super::auto`]); where it fails and all friction is
/// polygonal, decide looks for a solution or a proof that there is none. LCP methods, and the search for all solutions, work on the problem's LCP. Pieces are then in
/// forces too, but their supports still name the LCP's variables.
pub fn solve_friction(
    problem: &FrictionProblem,
    settings: &Settings,
    watch: &mut dyn FnMut(Progress),
) -> Report {
    let method = settings.method;
    let budget = &mut settings.budget.clone();
    if settings.all || matches!(method, Method::Lemke | Method::Decide) {
        return solve_polyhedral(problem, settings, budget, watch);
    }
    if problem.slides() {
        return match method.wants_contacts() {
            true => stopped("this solver wants all contacts rolling, none sliding already".to_owned()),
            false => solve_polyhedral(problem, settings, budget, watch),
        };
    }
    if method == Method::InteriorPoint && problem.is_polyhedral() {
        return solve_polyhedral(problem, settings, budget, watch);
    }
    let report = contacts_within(problem.view(), settings, budget);
    let unsolved = report.status != Status::Solved && budget.ended().is_none();
    if unsolved && method == Method::Auto && problem.is_polyhedral() {
        let second = solve_polyhedral(problem, settings, budget, watch);
        if second.status.is_decided() {
            return second;
        }
    }
    report
}

/// Solves a contact problem as posed.
pub fn solve_contacts(problem: ContactProblem<'_>, settings: &Settings) -> Report {
    contacts_within(problem, settings, &mut settings.budget.clone())
}

fn contacts_within(problem: ContactProblem<'_>, settings: &Settings, budget: &mut Budget) -> Report {
    let mut solution = vec![0.0; problem.b.len()];
    let mut left = String::new();
    let outcome = match settings.method {
        Method::Auto => {
            let outcome = AUTO.with_borrow_mut(|solver| {
                solver.settings.tolerance = settings.tolerance;
                solver.at_rest = false;
                solver.set_budget(std::mem::take(budget));
                let outcome = solver.solve(problem, &mut solution);
                *budget = std::mem::take(&mut solver.bench.sweeper.budget);
                if let Some((elements, _)) = solver.unsolved().max_by_key(|&(elements, _)| elements) {
                    let count = solver.unsolved().count();
                    left = format!("; {count} of the islands left, the largest of {elements} elements");
                }
                outcome
            });
            if problem.elements.len() > KEPT_ELEMENTS {
                AUTO.take();
            }
            outcome
        }
        Method::VelocityNewton if !matches!(problem.a, Operator::Factored(_)) => {
            let reason = "velocity-newton needs the bodies behind the contacts, which a problem file does not hold: it is for scenes";
            return stopped(reason.to_owned());
        }
        method => {
            let mut solver = Solver::new(method, settings.tolerance);
            solver.set_budget(std::mem::take(budget));
            let solved = solver.solve(problem, &mut solution, &mut vec![]);
            budget.clone_from(solver.budget());
            match solved {
                Ok(outcome) => outcome,
                Err(why) => return stopped(why.to_string()),
            }
        }
    };
    let Outcome { solver, end, iterations, residual, .. } = outcome;
    let reason = match end {
        End::Solved => {
            return Report {
                status: Status::Solved,
                solver,
                iterations,
                residual,
                solution,
                certificate: Certificate::Residual,
            };
        }
        End::Limit => format!("limit of iterations reached at relative residual {:.1e}", residual.relative),
        End::Stalled if residual.relative == f64::INFINITY => {
            format!("no forces of finite residual were found{left}")
        }
        End::Stalled => {
            format!("nothing brought the relative residual below {:.1e}{left}", residual.relative)
        }
        End::Interrupted => format!("interrupted at relative residual {:.1e}", residual.relative),
        End::Invalid => "an entry is not finite, or the parts do not fit each other".to_owned(),
    };
    let certificate = Certificate::Stopped { end, reason };
    Report { status: Status::Stalled, solver, iterations, residual, solution, certificate }
}

/// Problems of up to so many elements leave their memory to the thread's next one.
const KEPT_ELEMENTS: usize = 1000;

thread_local! {
    static AUTO: RefCell<Auto> = RefCell::default();
}

/// Solves a friction problem as an LCP.
fn solve_polyhedral(
    problem: &FrictionProblem,
    settings: &Settings,
    budget: &mut Budget,
    watch: &mut dyn FnMut(Progress),
) -> Report {
    let converted = match problem.friction() {
        Some(Friction::Pyramid) => problem.as_slack_lcp(),
        _ => problem.as_polygon_lcp(),
    };
    let converted = match converted {
        Ok(converted) => converted,
        Err(why) => return stopped(why.to_string()),
    };
    let mut report = lcp_within(&converted.problem, settings, budget, watch);
    if !report.solution.is_empty() {
        report.solution = converted.forces(&report.solution);
        report.residual = residual::friction(problem, &report.solution);
        if report.status == Status::Solved && report.residual.relative > settings.tolerance {
            report.status = Status::Stalled;
            report.certificate = Certificate::Stopped {
                end: End::Stalled,
                reason: format!(
                    "solved as an LCP, but the forces' residual is {:.1e}",
                    report.residual.relative
                ),
            };
        }
    }
    if let Certificate::Solutions { pieces, complete } = &mut report.certificate {
        *complete &= in_forces(pieces, problem, &converted, budget);
        let one = matches!(&pieces[..], [piece] if piece.dimension == 0);
        report.status = match (one, *complete) {
            (true, true) => Status::Solved,
            (true, false) => Status::Undecided,
            (false, _) if pieces.is_empty() => Status::Undecided,
            (false, _) => Status::Several,
        };
    }
    report
}

/// Pieces of the LCP's solution set as pieces in the contact forces; points that differ only in what the forces do not see are one.
/// False if the budget ended it: continua that were not examined are then left out.
fn in_forces(
    pieces: &mut Vec<Piece>,
    problem: &FrictionProblem,
    converted: &Converted<Lcp>,
    budget: &mut Budget,
) -> bool {
    let (mut kept, mut all): (Vec<Piece>, bool) = (vec![], true);
    for mut piece in pieces.drain(..) {
        if piece.dimension > 0 && budget.ended().is_none() {
            piece.dimension = dimension_in_forces(&piece, converted);
            piece.unbounded &= piece.dimension > 0 && grows_without_bound(&piece, problem, converted, budget);
        }
        if piece.dimension > 0 && budget.ended().is_some() {
            all = false;
            continue;
        }
        piece.point = converted.forces(&piece.point);
        piece.residual = residual::friction(problem, &piece.point);
        let size = norm(&piece.point).max(f64::MIN_POSITIVE);
        let near = |other: &Piece| {
            let apart: Vec<f64> = piece.point.iter().zip(&other.point).map(|(a, b)| a - b).collect();
            piece.dimension == 0 && other.dimension == 0 && norm(&apart) <= SAME_FORCES * size
        };
        if !kept.iter().any(near) {
            kept.push(piece);
        }
    }
    *pieces = kept;
    all
}

/// Dimension of a piece in the contact forces. The LCP's own variables say more than
/// the forces: at an open contact the two halves of the tangential acceleration, `a+ - a-`, can grow together.
/// A piece's directions `d` live on its z support with `(M d)_i = 0` off its w support; those with
/// `F d = 0` do not move the forces.
fn dimension_in_forces(piece: &Piece, converted: &Converted<Lcp>) -> usize {
    let (m, f) = (converted.problem.matrix(), converted.force_matrix());
    let pick = |row: &[f64]| -> Vec<f64> {
        let row: Vec<f64> = piece.z_support.iter().map(|&j| row[j]).collect();
        let largest = row.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        row.iter().map(|x| if largest > 0.0 { x / largest } else { 0.0 }).collect()
    };
    let rank_of =
        |rows: &[Vec<f64>]| rank(Matrix::from_rows(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>()));
    let tight = (0..m.rows()).filter(|i| piece.w_support.binary_search(i).is_err());
    let mut rows: Vec<Vec<f64>> = tight.map(|i| pick(m.row(i))).collect();
    let still = rank_of(&rows);
    rows.extend((0..f.rows()).map(|i| pick(f.row(i))));
    rank_of(&rows) - still
}

/// Whether a piece has a direction in which a normal force grows (friction follows the normals, so no other force
/// can grow alone): `d >= 0` on the z support, `M d = 0` off the w support and `>= 0` on it, normal forces `F_n d` adding up
/// to 1. A linear program without objective, put as its (skew) LCP, which Lemke solves exactly if it is feasible.
fn grows_without_bound(
    piece: &Piece,
    problem: &FrictionProblem,
    converted: &Converted<Lcp>,
    budget: &mut Budget,
) -> bool {
    let (m, f) = (converted.problem.matrix(), converted.force_matrix());
    let pick = |row: &[f64]| -> Vec<f64> { piece.z_support.iter().map(|&j| row[j]).collect() };
    let negative = |row: &[f64]| -> Vec<f64> { row.iter().map(|x| -x).collect() };
    // rows a, b of `a . d >= b`
    let mut rows: Vec<(Vec<f64>, f64)> = vec![];
    for i in 0..m.rows() {
        let row = pick(m.row(i));
        if piece.w_support.binary_search(&i).is_err() {
            rows.push((negative(&row), 0.0));
        }
        rows.push((row, 0.0));
    }
    let mut total = vec![0.0; piece.z_support.len()];
    for &first in &problem.offsets()[..problem.elements().len()] {
        for (t, x) in total.iter_mut().zip(pick(f.row(first))) {
            *t += x;
        }
    }
    rows.push((total, 1.0));
    let (n, k) = (piece.z_support.len(), rows.len());
    let skew = Matrix::from_fn(n + k, n + k, |i, j| match (i < n, j < n) {
        (true, false) => -rows[j - n].0[i],
        (false, true) => rows[i - n].0[j],
        _ => 0.0,
    });
    let q = (0..n + k).map(|i| if i < n { 0.0 } else { -rows[i - n].1 }).collect();
    let Ok(program) = Lcp::new(skew, q) else { return false };
    let settings = lemke::Settings { starts: 1, ..Default::default() };
    lemke::solve_within(&program, &settings, budget, &mut |_| ()).status == Status::Solved
}

fn stopped(reason: String) -> Report {
    Report {
        status: Status::Stalled,
        solver: NAME,
        iterations: 0,
        residual: Residual::NONE,
        solution: vec![],
        certificate: Certificate::Stopped { end: End::Invalid, reason },
    }
}
