//! What a step did: what it cost, what its elements did, where the energy is; and why a step fails.

use super::books::{Books, approaches};
use super::detect::Undetected;
use super::jam::is_jammed;
use super::{InvalidModel, Projection, Solved, Trust};
use crate::dynamics::{Kinematics, SingularMass};
use crate::formulation::ContactProblem;
use crate::model::{Model, Owner, StandingKind, StandingRow};
use crate::motion::{NotPlaced, load};
use crate::scene::FrictionKind;
use crate::space::{Frame, Vector};
use crate::state::{ContactId, Remembered, RowId, State};
use complementarity::problem::Element;
use complementarity::residual::Residual;
use complementarity::solver::Choice;
use std::borrow::Cow;

/// Share of its largest effort up to which a drive is not said to be at it.
const AT_BOUND: f64 = 1e-9;

/// Why a step did not happen. The state is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failed {
    /// The contact problem was not solved, whatever the step.
    #[error(
        "contact problem at t = {time} s not solved, down to a step of {h:e} s: {solver} {end}, relative residual {residual:e}{cause}"
    )]
    Unsolved {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// The method that tried last.
        solver: &'static str,
        /// How that ended.
        end: Cow<'static, str>,
        /// Residual of the best forces.
        residual: f64,
        /// What is wrong with it, and whether there is a solution; begins with a colon, or is empty.
        cause: String,
    },
    /// The forces at the middle of the step, which depend on its end, were not found, whatever the step.
    #[error(
        "forces at t = {time} s did not settle, down to a step of {h:e} s: they still change v by {change:e}"
    )]
    Unsettled {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// Last change of a velocity, m/s or rad/s.
        change: f64,
    },
    /// Two parts pass through each other within the step, though they are apart at its end.
    #[error(
        "{names} pass through each other after t = {time} s, {depth:.1e} m deep, down to a step of {h:e} s"
    )]
    Passes {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// Names of the parts.
        names: String,
        /// Depth on the way, m.
        depth: f64,
    },
    /// A rigid loop, gear or drive could not be closed, whatever the step: the mechanism cannot follow, or moves too
    /// far in a step.
    #[error("{row} at t = {time} s could not be closed, down to a step of {h:e} s: open by {gap:e} m or rad")]
    Open {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
        /// Name of the row.
        row: String,
        /// What it is open by, m or rad.
        gap: f64,
    },
    /// The stop flag was raised while the contact problem was solved.
    #[error("interrupted while the contact problem at t = {time} s was solved")]
    Interrupted {
        /// s.
        time: f64,
    },
    /// Positions or velocities overflow: the step is too long for the stiffest spring or the fastest motion.
    #[error("the motion is not finite after t = {time} s: a smaller step may help")]
    NotFinite {
        /// s.
        time: f64,
    },
    /// The integrator with error control makes no progress.
    #[error(
        "the integration at t = {time} s makes no progress, down to a step of {h:e} s: a larger accuracy or a softer or more damped contact may help"
    )]
    Integration {
        /// s.
        time: f64,
        /// Smallest step tried, s.
        h: f64,
    },
    /// At an event no forces were found, nor a proof that there are none.
    #[error(
        "what follows at t = {time} s is not decided: the contact problem of that instant was not solved; scheme = \"theta\" may help"
    )]
    Undecided {
        /// s.
        time: f64,
    },
    /// Where two parts touch is not known.
    #[error(transparent)]
    Undetected(#[from] Undetected),
    /// The mass matrix cannot be factored; a step says of which body ([`Self::Massless`]).
    #[error(transparent)]
    Mass(#[from] SingularMass),
    /// The mass matrix cannot be factored: massless links are where a joint moves nothing that has inertia.
    #[error(
        "the joint of '{body}' moves nothing that has inertia at t = {time} s (pivot {pivot:.1e}): give '{body}' mass, or the joint armature"
    )]
    Massless {
        /// s.
        time: f64,
        /// Name of the body.
        body: String,
        /// Pivot of the mass matrix.
        pivot: f64,
    },
    /// A fault of this program: the step ended in a panic. The state is that before the step.
    #[error("internal error in the step from t = {time} s: {message}; please report it with the scene")]
    Internal {
        /// s.
        time: f64,
        /// What the panic said.
        message: String,
    },
    /// A law cannot be evaluated at this step.
    #[error(transparent)]
    Model(#[from] InvalidModel),
}

impl From<NotPlaced> for Failed {
    fn from(why: NotPlaced) -> Self {
        match why {
            NotPlaced::Mass(why) => Self::Mass(why),
            NotPlaced::NotFinite { time } => Self::NotFinite { time },
        }
    }
}

/// What an element does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// No force.
    Open,
    /// Force, no slip; nor spin or turn where friction resists them.
    Stick,
    /// Force and slip, spin or turn.
    Slip,
}

/// An element of a contact after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementReport {
    /// Contact this element belongs to.
    pub id: ContactId,
    /// Number within the contact.
    pub element: usize,
    /// First body: the force on it is the opposite.
    pub body_a: Owner,
    /// Second body.
    pub body_b: Owner,
    /// World, m.
    pub point: Vector,
    /// Axes n (from the first body to the second), t, o.
    pub frame: Frame,
    /// `psi + delta_n` before the step, m.
    pub gap: f64,
    /// On the second body, along n, t, o, N.
    pub force: Vector,
    /// Part of the normal force that the rigid core carries (scheme implicit; all of it if the contact is rigid), N.
    pub core: f64,
    /// Moment of friction on the second body, about n, t, o through `point`, N m; 0 without torsion and rolling friction.
    pub moment: Vector,
    /// `s`, along n, t, o, m/s.
    pub speed: Vector,
    /// Angular velocity of the second body relative to the first, about n, t, o, rad/s, where torsion or rolling friction resists it; else 0.
    pub turn: Vector,
    /// `delta` after the step, m.
    pub deformation: Vector,
    /// What it does.
    pub status: Status,
    /// It was stopped by an impact without a collision ([`Trust::NoRigidSolution`]).
    pub impact: bool,
}

/// A change of what a contact does, at the time at which it happens: of schemes that locate events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located {
    /// s.
    pub time: f64,
    /// The contact.
    pub contact: ContactId,
    /// What it did.
    pub was: Status,
    /// What it does.
    pub is: Status,
}

/// An impact at a contact: of schemes that locate events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Struck {
    /// s.
    pub time: f64,
    /// The contact.
    pub contact: ContactId,
    /// Normal impulse, N s.
    pub impulse: f64,
    /// Which part of it.
    pub kind: StruckKind,
}

/// What an impact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StruckKind {
    /// Parts that met no longer approach.
    Impact,
    /// They leave each other; the impulse is that since they met.
    Bounce,
    /// Nothing collided: no finite forces allowed the slip that was stopped.
    WithoutCollision,
}

/// A change between rigid and compliant contacts (`law = "auto"`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelChange {
    /// s.
    pub time: f64,
    /// The contact because of which all contacts change: the first whose rigid motion is not unique and stable, or a contact that was deformed.
    pub contact: ContactId,
    /// Whether contacts are compliant from now on; else they are rigid.
    pub compliant: bool,
}

/// What happens to the branch that is followed where several motions are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchChange {
    /// One of several motions is followed from here on.
    Begins,
    /// It ends: the normal force of a contact has vanished.
    Force,
    /// It ends: the slip of a contact has stopped.
    Slip,
    /// It ends: friction of a contact that sticks has reached its bound.
    Friction,
    /// It ends: another contact touches.
    Touch,
    /// It ends: a joint reaches or leaves a limit, or its friction sets in or gives way.
    Joint,
    /// It goes on, as the only motion that is possible.
    Unique,
}

/// A change of the branch that is followed ([`crate::scene::Branch`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Branched {
    /// s.
    pub time: f64,
    /// The contact it is about.
    pub contact: ContactId,
    /// What happens.
    pub change: BranchChange,
}

/// A standing row after a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandingReport {
    /// Its place in [`Model::standing`].
    pub row: usize,
    /// Gap of the row before the step, m or rad: the distance from a limit, what a loop is open by; 0 where it has
    /// none.
    pub gap: f64,
    /// Effort on the joint, positive along its axis, or force of the loop's row on its second body, N or N m; mean over
    /// the step.
    pub effort: f64,
    /// Velocity of the joint, or of the loop's row, m/s or rad/s.
    pub velocity: f64,
    /// What it does: a limit or rope is open or sticks, friction and bounded drives stick or slip (at their bound).
    pub status: Status,
}

/// Energies, J.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Energy {
    /// Kinetic.
    pub kinetic: f64,
    /// Gravity and springs.
    pub potential: f64,
    /// In deformed contacts.
    pub elastic: f64,
}

/// What a step did.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// Pivots, sweeps or Newton steps of the methods that answered, all parts of the step together.
    pub iterations: usize,
    /// Iterations of methods that did not answer, and of abandoned attempts.
    pub wasted: usize,
    /// The method that answered, where the residual is worst.
    pub solver: &'static str,
    /// Worst residual of its parts.
    pub residual: Residual,
    /// 0 if nothing was near, 1, or the parts the step was cut into after failed attempts.
    pub parts: usize,
    /// Evaluations of forces that depend on the end of the step; 0 with `forces = "start"`.
    pub rounds: usize,
    /// Work lost to friction, J.
    pub friction_loss: f64,
    /// Work lost in contact dampers, J.
    pub damping_loss: f64,
    /// Elastic energy of contacts that ended while they were deformed, J.
    pub release_loss: f64,
    /// Energy that patches lose as they travel over the material, J, with `delta~` the deformation of the material that comes under them, g the gaps there:
    /// `1/2 |delta|^2 - 1/2 |delta~|^2 + 1/2 |delta+ - delta~|^2 in K + lambda_n . g`. In free rolling it is nearly 0.
    pub transport_loss: f64,
    /// Energy that rigid impacts take, friction apart, J: of contacts and limits that were approaching when the step began.
    pub impact_loss: f64,
    /// Work of loads, motors and the dampers of springs, J.
    pub work: f64,
    /// Work of the forces that undo overlap (negative gaps), J.
    pub recovery_work: f64,
    /// Work of rigid loops and gears, J: 0 but for the error of the step, the projection's work included.
    pub constraint_work: f64,
    /// Work of changes between rigid and compliant contacts (`law = "auto"`), J: the change of all energies there.
    pub handover_work: f64,
    /// Time of the step in which contacts were compliant by `law = "auto"`, s.
    pub compliant_time: f64,
    /// Largest gap of rigid loops, gears and drives to positions after the projection, m or rad.
    pub violation: f64,
    /// Elements whose overlap no motion was found to undo; they do not approach further.
    pub relaxed: usize,
    /// Parts that were accepted at a relative residual above the scene's tolerance: up to 1e-6, because shorter ones did not reach it, or because
    /// only single elements are above it ([`Residual::element`]).
    pub loose: usize,
    /// Whether contacts were kept at rest though another motion solves the step too (`step.branch`).
    pub rested: bool,
    /// Whether contacts left rest though forces that no load makes would keep them there: bodies wedged between others.
    pub left_rest: bool,
    /// Time steps that took the place of located events where these crowd (`scheme = "event"`), and the time in them, s.
    pub stepped: usize,
    /// See `stepped`.
    pub stepped_time: f64,
    /// Parts made with `explicit_share = 0` though the scene asks for another: the midpoint rule of `scheme = "implicit"` did not stand, or
    /// the stiffness of a contact is not resolved.
    pub left_midpoint: usize,
    /// Which of several forces were taken; the worst of the step's parts.
    pub choice: Choice,
    /// What is known of the solution of the step (of its last part, if it was cut).
    pub trust: Trust,
}

impl Default for StepReport {
    fn default() -> Self {
        Self {
            iterations: 0,
            wasted: 0,
            solver: "none",
            residual: Residual::ZERO,
            parts: 0,
            rounds: 0,
            friction_loss: 0.0,
            damping_loss: 0.0,
            release_loss: 0.0,
            transport_loss: 0.0,
            impact_loss: 0.0,
            work: 0.0,
            recovery_work: 0.0,
            constraint_work: 0.0,
            handover_work: 0.0,
            compliant_time: 0.0,
            violation: 0.0,
            relaxed: 0,
            loose: 0,
            rested: false,
            left_rest: false,
            stepped: 0,
            stepped_time: 0.0,
            left_midpoint: 0,
            choice: Choice::Unique,
            trust: Trust::Unique,
        }
    }
}

impl Energy {
    /// Energies of a model at a state, to which `kinematics` goes.
    pub fn at(model: &Model, state: &State, kinematics: &mut Kinematics) -> Self {
        kinematics.go_to(&state.position, &state.velocity);
        let elastic = state.memory.iter().map(|m| elastic(model, m));
        Self {
            elastic: elastic.sum(),
            kinetic: kinematics.kinetic_energy(),
            potential: kinematics.potential_energy(model.scene().gravity)
                + load::spring_energy(model.scene(), kinematics)
                + standing_energy(model, kinematics, &state.position),
        }
    }
}

/// Energy in springs of joints, compliant limits, loops and gears, J.
fn standing_energy(model: &Model, kinematics: &Kinematics, position: &[f64]) -> f64 {
    let rows = model.standing().iter().filter(|row| !matches!(row.kind, StandingKind::Drive(_)));
    let energy = |row: &StandingRow| {
        let stiffness = row.compliance?.stiffness;
        Some(spring(row, stiffness, row.gap(model.scene(), kinematics, position, &[])?))
    };
    rows.filter_map(energy).sum()
}

/// Energy of a compliant row at a gap, J: one that cannot pull has none where it is open.
fn spring(row: &StandingRow, stiffness: f64, gap: f64) -> f64 {
    let gap = if row.element == Element::Unilateral { gap.min(0.0) } else { gap };
    0.5 * stiffness * gap * gap
}

/// Elastic energy in what a contact remembers, J.
pub fn elastic(model: &Model, m: Remembered<'_>) -> f64 {
    let RowId::Contact(id) = m.id else { return 0.0 };
    let Some(rule) = model.contacts().rule_of(id) else { return 0.0 };
    if !rule.layers.is_empty() {
        let springs = model.scene().step.tangential_springs;
        let own = m.deformations.chunks_exact(model.contacts().linear_rows());
        return rule.layers.iter().zip(own).map(|(l, d)| l.energy(if springs { d } else { &d[..1] })).sum();
    }
    let known = rule.patch().filter(|c| c.rows() == m.deformations.len());
    known.map_or(0.0, |c| c.elastic_energy(m.deformations))
}

/// What the elements of a step did, in newtons and metres per second, and what friction dissipated. `deformation`: after the step, rows n, t(, o).
pub fn elements(
    model: &Model,
    solved: Solved<'_>,
    deformation: &[f64],
    out: &mut Vec<ElementReport>,
    report: &mut StepReport,
) {
    out.clear();
    let Solved { contacts, problem, forces, .. } = solved;
    let (linear, h) = (problem.linear_rows, problem.h);
    let pick = |v: &[f64]| [v[0], v[1], if linear == 3 { v[2] } else { 0.0 }];
    for (index, c) in contacts.contacts.iter().enumerate() {
        let rule = &model.contacts().rules()[c.rule];
        let smooth = match rule.given.friction_set {
            FrictionKind::Smooth { velocity } => Some(velocity),
            _ => None,
        };
        let impact = rule.friction > 0.0 && is_jammed(model, solved, c);
        // gaps of a patch that was there before come from its travel
        let travels = rule.compliance.as_ref().is_some_and(|law| law.patch().transports())
            && problem.deformation[linear * c.first..][..linear * c.count].iter().any(|d| *d != 0.0);
        if impact {
            report.trust = Trust::NoRigidSolution;
        }
        for k in c.elements() {
            let rows = problem.rows_of(k);
            let (lambda, s) = (&forces.lambda[rows.clone()], &forces.velocity[rows.clone()]);
            let (force, mut speed) = (pick(lambda), pick(s));
            let left = |i: usize| problem.left_out(rows.start + i);
            speed[0] -= problem.gap_rate[k];
            // the damper of smooth friction is friction
            (1..linear).for_each(|i| speed[i] -= problem.grip[index] * force[i]);
            match travels {
                true => report.transport_loss += h * force[0] * problem.gap_rate[k],
                false => report.recovery_work -= h * force[0] * problem.gap_rate[k].min(0.0),
            }
            report.work += moving_work(problem, k, lambda);
            report.friction_loss -= h * (1..linear).map(|i| force[i] * (speed[i] + left(i))).sum::<f64>();
            (0..linear).for_each(|i| speed[i] = problem.row_velocity(rows.start + i, speed[i]));
            let (mut moment, mut turn, mut fastest) = ([0.0; 3], [0.0; 3], speed[1].hypot(speed[2]));
            for i in linear..lambda.len() {
                let axis = rule.element.as_contact().map_or(0.0, |e| e.axes[i - 1]);
                // where friction does not resist a rotation, its velocity is not reported
                if axis > 0.0 {
                    let velocity = problem.row_velocity(rows.start + i, s[i]);
                    (moment[i - linear], turn[i - linear]) = (lambda[i], velocity);
                    fastest = fastest.hypot(axis * velocity);
                    report.friction_loss -= h * lambda[i] * (s[i] + left(i));
                }
            }
            let rest = problem.row_velocity(rows.start + linear - 1, forces.rest[k]);
            let status = match () {
                () if force[0] <= 0.0 => Status::Open,
                () if fastest <= smooth.unwrap_or(rest) => Status::Stick,
                () => Status::Slip,
            };
            out.push(ElementReport {
                id: c.id,
                element: k - c.first,
                body_a: c.owners[0],
                body_b: c.owners[1],
                point: contacts.elements[k].point,
                frame: c.frame,
                gap: problem.gap[k],
                force,
                core: if rule.compliance.is_some() { 0.0 } else { force[0] },
                moment,
                speed,
                turn,
                deformation: pick(&deformation[linear * k..]),
                status,
                impact,
            });
        }
    }
}

/// Work that surfaces which move by themselves do in an element, J.
pub(crate) fn moving_work(problem: &ContactProblem, element: usize, lambda: &[f64]) -> f64 {
    let rows = problem.rows_of(element);
    -problem.h * lambda.iter().zip(rows).map(|(f, row)| f * problem.moved(row)).sum::<f64>()
}

/// What the standing rows of a step did, and their losses and works. `kicked`: velocity after the forces of the step.
pub fn standing(
    model: &Model,
    solved: Solved<'_>,
    (projection, kicked): (&Projection, &[f64]),
    bounced: bool,
    (out, books): (&mut Vec<StandingReport>, &mut Books),
    report: &mut StepReport,
) {
    out.clear();
    let Solved { contacts, problem, forces, motion, .. } = solved;
    report.violation = report.violation.max(projection.open);
    for (standing, element) in problem.standing.iter().zip(contacts.elements.len()..) {
        let at = problem.rows_of(element).start;
        // after impacts with restitution the projection has moved the bodies, and not their velocities
        let projected = if bounced { None } else { projection.lambda.get(at) };
        let force = forces.lambda[at] + projected.copied().unwrap_or(0.0);
        // the velocity that the bodies have: rows that depend on each other need not have got what they asked for
        let after = books.velocity_after(problem, at);
        let own = standing.shift + standing.e_inv * forces.lambda[at] + problem.gap_rate[element];
        let slip = problem.row_velocity(at, forces.velocity[at] - own);
        let rest = problem.row_velocity(at, forces.rest[element]);
        let (theta, shift) = (problem.theta, standing.shift + problem.gap_rate[element]);
        let free = (problem.b[at] + problem.left_out(at) - shift - theta * standing.start) / (1.0 - theta);
        let hits = bounced || approaches(standing.start, free, problem.fastest);
        let bounces = bounced && model.standing()[standing.row].restitution > 0.0;
        let (start, gap_rate) = (standing.start, problem.gap_rate[element]);
        let row = Row { force, start, after, slip, rest, gap_rate, hits, bounces };
        out.push(report_row(model, solved, standing.row, row, (report, books)));
    }
    for eliminated in &motion.servos.rows {
        let (force, _) = eliminated.effort(&motion.velocity, kicked);
        let (start, after) = (motion.velocity[eliminated.dof], kicked[eliminated.dof]);
        // a servo: nothing that sticks
        let row =
            Row { force, start, after, slip: after, rest: 0.0, gap_rate: 0.0, hits: false, bounces: false };
        out.push(report_row(model, solved, eliminated.row, row, (report, books)));
    }
    if !motion.servos.rows.is_empty() {
        out.sort_unstable_by_key(|r| r.row);
    }
}

/// What a standing row did in a step.
#[derive(Clone, Copy)]
struct Row {
    force: f64,
    /// Velocity when the step began, and after its forces.
    start: f64,
    after: f64,
    /// Velocity that friction is about.
    slip: f64,
    /// Slip up to which it rests.
    rest: f64,
    /// What its gap adds to the velocity.
    gap_rate: f64,
    /// Whether it was approaching when the step began.
    hits: bool,
    /// Whether it was hit, and its velocity is that with restitution.
    bounces: bool,
}

fn report_row(
    model: &Model,
    Solved { motion, problem, .. }: Solved<'_>,
    index: usize,
    Row { force, start, after, slip, rest, gap_rate, hits, bounces }: Row,
    (report, books): (&mut StepReport, &mut Books),
) -> StandingReport {
    let (row, h) = (&model.standing()[index], motion.h);
    let gap = row.gap(model.scene(), &motion.kinematics, &motion.position, &motion.targets).unwrap_or(0.0);
    let status = match (row.kind, row.element) {
        (StandingKind::Friction(_), _) if slip.abs() > rest => Status::Slip,
        (StandingKind::Drive(_), Element::Bounded { limit }) if force.abs() >= limit * (1.0 - AT_BOUND) => {
            Status::Slip
        }
        (_, Element::Unilateral) if force <= 0.0 => Status::Open,
        _ => Status::Stick,
    };
    let theta = problem.theta;
    let velocity = theta * start + (1.0 - theta) * after;
    // of forces that are constant over a step the mean velocity gives the change of kinetic energy
    let mean = 0.5 * (start + after);
    match (row.kind, row.compliance) {
        (StandingKind::Friction(_), _) => report.friction_loss -= h * force * velocity,
        (StandingKind::Drive(_), _) => report.work += h * force * mean,
        (_, Some(c)) => {
            // what the row takes and its spring does not keep
            let [before, after] = [gap, gap + h * velocity].map(|g| spring(row, c.stiffness, g));
            let taken = h * force * mean + after - before;
            report.damping_loss -= taken;
            books.add(row.id, taken.max(0.0));
        }
        (StandingKind::Loop { .. } | StandingKind::Gear(_), None) => {
            report.constraint_work += h * force * mean;
            books.add(row.id, h * force * mean);
        }
        _ => {
            let recovery = -h * force * gap_rate.min(0.0);
            report.recovery_work += recovery;
            report.impact_loss += if hits { recovery - h * force * mean } else { 0.0 };
            books.add(row.id, if bounces { 0.0 } else { (h * force * mean).max(0.0) });
        }
    }
    let (effort, velocity) = (row.sign() * force, row.sign() * velocity);
    StandingReport { row: index, gap, effort, velocity, status }
}
