//! Impacts without a collision: slips with which no accelerations and finite forces satisfy the rigid laws (Painleve; song2001, trinkle1995 section 4).
//!
//! A step finds impulses where there are no finite forces, and ends the slip at once. Whether that happened is decided at the acceleration level: contacts that
//! are closed when the step begins, with the directions of slip they have then, are an LCP in their normal forces, `A` and `b` those of the step.

use super::{Solved, Workspace};
use crate::contact::set::Contact;
use crate::model::{Model, Owner};
use crate::space::{dot, sub};
use complementarity::element::{Element, Friction, Mode};
use complementarity::matrix::Matrix;
use complementarity::problem::{FrictionProblem, MixedLcp};
use complementarity::report::Status;
use complementarity::solver::{Budget, decide};

/// Relative velocities below this share of those that meet count as none.
const STILL: f64 = 1e-9;
/// Gaps up to this are closed, m.
const CLOSED: f64 = 1e-6;
/// Normal velocities up to this share of the slip are no approach.
const LEVEL: f64 = 1e-3;
/// A slip is stopped by an impact if it was so many times what loads change in the step.
const SUDDEN: f64 = 10.0;
/// Connected contacts up to which it is decided whether there are finite forces.
const MOST: usize = 16;
/// Largest number of sweeps that look for finite forces, and the share of what loads add at which they have found them.
const SWEEPS: usize = 200;
const SETTLED: f64 = 1e-9;

/// A contact at the beginning of a step: relative velocity along n, t, o, and what loads add to it in the step.
#[derive(Debug, Clone, Copy)]
struct Start {
    element: usize,
    mu: f64,
    velocity: [f64; 3],
    gain: [f64; 3],
    /// Size of the velocities that meet.
    meets: f64,
}

impl Start {
    fn slip(&self) -> f64 {
        self.velocity[1].hypot(self.velocity[2])
    }

    fn slips(&self) -> bool {
        self.slip() > STILL * self.meets
    }
}

/// Whether a contact slipped, when the step began, in a way that no accelerations and finite forces of all contacts connected with it allow, and
/// the step stopped it. Contacts in space of which some do not slip are not examined, nor are patches, moments and more than [`MOST`] contacts.
pub(crate) fn is_jammed(model: &Model, solved: Solved<'_>, c: &Contact) -> bool {
    let Some(own) = start(model, solved, c).filter(Start::slips) else { return false };
    let rows = solved.problem.rows_of(own.element);
    let (force, end) = (solved.forces.lambda[rows.start], &solved.forces.velocity[rows]);
    let ahead: f64 = end.iter().zip(&own.velocity).skip(1).map(|(end, start)| end * start).sum();
    let loads = own.gain.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    force > 0.0
        && ahead <= LEVEL * own.slip().powi(2)
        && own.slip() > SUDDEN * loads
        && connected(model, solved, own)
            .is_some_and(|cluster| !finds_forces(solved, &cluster) && has_no_solution(solved, &cluster))
}

/// The least margin of loaded or closed contacts (`A` of song2001 (29) over what it is without friction, with the worst direction for contacts that do not
/// slip) when the last step began; infinite if there are none. Allocates nothing.
pub fn least_margin(model: &Model, work: &Workspace) -> f64 {
    let Workspace { laws, motion, contacts, problem, forces, .. } = work;
    let solved = Solved { laws, motion, contacts, problem, forces };
    let mut least = f64::INFINITY;
    for c in contacts.contacts.iter().filter(|c| model.contacts().rules()[c.rule].friction > 0.0) {
        let loaded = forces.lambda[problem.rows_of(c.first).start] > 0.0;
        if !loaded && problem.gap[c.first].abs() > CLOSED {
            continue;
        }
        let (own, mut block, rows) = (relative(model, solved, c), [0.0; 9], problem.linear_rows);
        problem.factors().block(own.element, own.element, &mut block[..rows * rows]);
        let friction = match own.slips() {
            true => dot_of(&block[1..rows], &own.velocity[1..rows]) / own.slip(),
            false => dot_of(&block[1..rows], &block[1..rows]).sqrt(),
        };
        least = least.min(1.0 - own.mu * friction / block[0]);
    }
    least
}

/// The contact when the step began, if it is a rigid point and closed.
fn start(model: &Model, solved: Solved<'_>, c: &Contact) -> Option<Start> {
    let (k, problem) = (c.first, solved.problem);
    let point = c.count == 1 && problem.rows_of(k).len() <= 3 && problem.factors().patch(k).is_none();
    if !point || problem.gap[k].abs() > CLOSED {
        return None;
    }
    let own = relative(model, solved, c);
    (own.velocity[0].abs() <= LEVEL * own.slip().max(STILL * own.meets)).then_some(own)
}

/// The motion of a point contact when the step began.
fn relative(model: &Model, solved: Solved<'_>, c: &Contact) -> Start {
    let Solved { motion, contacts, problem, .. } = solved;
    let (k, mu) = (c.first, model.contacts().rules()[c.rule].friction);
    let rows = problem.rows_of(k);
    let point = contacts.elements[k].point;
    let velocity = |owner: Owner| match owner {
        Owner::Body(i) => motion.kinematics.point_velocity(i, point),
        Owner::World(_) => [0.0; 3],
    };
    let [v_a, v_b] = c.owners.map(velocity);
    let mut velocity = c.frame.components(sub(v_b, v_a));
    velocity[rows.len()..].fill(0.0);
    if !problem.moving.is_empty() {
        velocity.iter_mut().zip(&problem.moving[rows.clone()]).for_each(|(v, u)| *v += u);
    }
    let mut gain = [0.0; 3];
    rows.clone().for_each(|i| gain[i - rows.start] = problem.b[i] - velocity[i - rows.start]);
    gain[0] -= problem.gap_rate[k];
    let meets = dot(v_a, v_a).sqrt() + dot(v_b, v_b).sqrt();
    Start { element: k, mu, velocity, gain, meets }
}

/// Connected contacts.
struct Cluster {
    starts: [Start; MOST],
    len: usize,
}

impl std::ops::Deref for Cluster {
    type Target = [Start];

    fn deref(&self) -> &[Start] {
        &self.starts[..self.len]
    }
}

/// All closed contacts that are connected with one through bodies; `None` if some carry force and are not examined.
fn connected(model: &Model, solved: Solved<'_>, first: Start) -> Option<Cluster> {
    let Solved { contacts, problem, forces, .. } = solved;
    let a = problem.factors();
    let mut cluster = Cluster { starts: [first; MOST], len: 1 };
    let mut next = 0;
    while let Some(&at) = cluster.get(next) {
        next += 1;
        for k in 0..problem.elements.len() {
            if !a.meet(at.element, k) || cluster.iter().any(|c| c.element == k) {
                continue;
            }
            let contact = contacts.contacts.iter().find(|c| c.elements().contains(&k));
            match contact.and_then(|c| start(model, solved, c)) {
                Some(other) => {
                    *cluster.starts.get_mut(cluster.len)? = other;
                    cluster.len += 1;
                }
                None if forces.lambda[problem.rows_of(k)].iter().any(|x| *x != 0.0) => return None,
                None => {}
            }
        }
    }
    let planar = problem.linear_rows == 2;
    (planar || cluster.iter().all(Start::slips)).then_some(cluster)
}

/// Whether sweeps find finite forces at the acceleration level: they nearly always do, and proofs are long.
fn finds_forces(solved: Solved<'_>, cluster: &[Start]) -> bool {
    let (problem, n) = (solved.problem, cluster.len());
    let rows = problem.linear_rows;
    // accelerations along n and t by forces along n, friction of slip with them, and t where there is none
    let mut matrix = [[0.0; 2 * MOST]; 2 * MOST];
    let mut block = [0.0; 9];
    for (i, one) in cluster.iter().enumerate() {
        for (j, other) in cluster.iter().enumerate() {
            problem.factors().block(one.element, other.element, &mut block[..rows * rows]);
            for k in 0..2 {
                let row = &block[rows * k..rows * (k + 1)];
                let slip = row.iter().zip(&other.velocity).skip(1).map(|(a, v)| a * v).sum::<f64>();
                let friction = if other.slips() { other.mu * slip / other.slip() } else { 0.0 };
                matrix[2 * i + k][2 * j] = row[0] - friction;
                matrix[2 * i + k][2 * j + 1] = if other.slips() { 0.0 } else { row[1] };
            }
        }
    }
    let wanted = SETTLED * cluster.iter().flat_map(|c| c.gain).fold(0.0f64, |most, x| most.max(x.abs()));
    let mut force = [0.0; 2 * MOST];
    for _ in 0..SWEEPS {
        let mut change = 0.0f64;
        for (i, one) in cluster.iter().enumerate() {
            for k in 2 * i..2 * i + if one.slips() { 1 } else { 2 } {
                let gain = dot_of(&matrix[k][..2 * n], &force[..2 * n]) + one.gain[k - 2 * i];
                let limit = one.mu * force[2 * i];
                let [low, high] = if k == 2 * i { [0.0, f64::INFINITY] } else { [-limit, limit] };
                if matrix[k][k] <= 0.0 {
                    return false;
                }
                let after = (force[k] - gain / matrix[k][k]).max(low).min(high);
                change = change.max(matrix[k][k] * (after - force[k]).abs());
                force[k] = after;
            }
        }
        if change <= wanted {
            return true;
        }
    }
    false
}

fn dot_of(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Whether it is proved that no finite forces exist at the acceleration level. Allocates memory.
fn has_no_solution(solved: Solved<'_>, cluster: &[Start]) -> bool {
    let (problem, rows) = (solved.problem, solved.problem.linear_rows);
    let mut block = [0.0; 9];
    let mut matrix = Matrix::zeros(rows * cluster.len(), rows * cluster.len());
    for (i, one) in cluster.iter().enumerate() {
        for (j, other) in cluster.iter().enumerate() {
            problem.factors().block(one.element, other.element, &mut block[..rows * rows]);
            for (k, entry) in block[..rows * rows].iter().enumerate() {
                matrix[(rows * i + k / rows, rows * j + k % rows)] = *entry;
            }
        }
    }
    let b = cluster.iter().flat_map(|c| c.gain.into_iter().take(rows)).collect();
    let elements = cluster.iter().map(|c| Element::contact(rows, c.mu, Friction::Pyramid)).collect();
    let modes = cluster.iter().map(|c| match c.slips() {
        true => Mode::Sliding { direction: [c.velocity[1] / c.slip(), c.velocity[2] / c.slip()] },
        false => Mode::Rolling,
    });
    let posed =
        FrictionProblem::from_elements(matrix, b, elements).and_then(|p| p.with_modes(modes.collect()));
    let Some(lcp) = posed.ok().and_then(|p| p.as_slack_lcp().ok()) else { return false };
    let settings = decide::Settings { max_nodes: 1000, ..decide::Settings::default() };
    let lcp = MixedLcp::from(&lcp.problem);
    decide::solve(&lcp, &settings, &mut Budget::default(), &mut |_| ()).status == Status::NoSolution
}
