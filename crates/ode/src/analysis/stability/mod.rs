//! Which rigid solution is stable, and where only compliant contacts will do (song2001).
//!
//! At an instant each cluster of connected contacts is a problem of its own. Its solutions are found (all of them, with few contacts), and about each of them the
//! boundary layer (25) of small deformations is examined: [`layer`]. song2001's Table 1 is the case of one slipping contact. `docs/analyze.md` states
//! the formulas, defaults and limits.

mod cluster;
pub mod layer;
mod margin;
mod words;

pub use layer::{BoundaryLayer, Dependence, Verdict};
pub use margin::Margin;

use super::accelerate::{ContactAt, NotAccelerated};
use super::instant::{Given, Instant, InvalidInstant};
use crate::contact::StatedLayer;
use crate::model::Model;
use crate::space::{Vector, length};
use crate::state::State;
use crate::state::Trust;
use crate::step::Status as Does;
use cluster::{Posed, clusters};
use complementarity::matrix::Matrix;
use complementarity::problem::{Group, InstantProblem};
use complementarity::report::Status;
use complementarity::solver::Budget;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// Inputs, and what counts as touching. Compliant contacts count as rigid, those that overlap as closed.
    pub given: Given,
    /// Springs and dampers of rigid contacts.
    pub layer: StatedLayer,
    /// Whether other layers are tried where the verdict can depend on them.
    pub vary: bool,
    /// Contacts of a cluster up to which all solutions are searched for.
    pub most_contacts: usize,
    /// Nodes after which the search ends.
    pub max_nodes: usize,
    /// A solution counts when its relative residual is at most this.
    pub tolerance: f64,
    /// Work that may be done, and a flag that ends it.
    pub budget: Budget,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            given: Given::default(),
            layer: StatedLayer::default(),
            vary: true,
            most_contacts: 12,
            max_nodes: 2000,
            tolerance: 1e-8,
            budget: Budget::default(),
        }
    }
}

/// Largest gap of a closed contact after steps of time, m.
const CLOSED_AFTER_STEPS: f64 = 1e-6;

impl Question {
    /// The same question at a state that steps of a model led to: gaps up to 1e-6 m are closed, and velocities that weight and rotation make in a step
    /// count as zero.
    pub fn after_steps(mut self, model: &Model) -> Self {
        let h = model.scene().step.h;
        self.given.gap = self.given.gap.max(CLOSED_AFTER_STEPS);
        self.given.velocity = self.given.velocity.max(length(model.scene().gravity) * h);
        self.given.step = h;
        self
    }
}

/// The model to prefer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preferred {
    /// The rigid one: one motion, and it is stable.
    Rigid,
    /// The rigid one: of several motions one is stable.
    StableBranch,
    /// No solution was found, and it is not proved that there is none.
    Undecided,
    /// The compliant one: no rigid solution, none that is stable, or several.
    Compliant,
}

impl Preferred {
    /// As it is written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rigid => "rigid",
            Self::StableBranch => "rigid, stable branch",
            Self::Undecided => "undecided",
            Self::Compliant => "compliant",
        }
    }
}

/// Whether there are finitely many solutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finite {
    /// All were found.
    Yes,
    /// There is a continuum: the friction coefficients are in the exceptional set of song2004 Theorem 4, or contacts are redundant.
    No,
    /// Not all were found, or there are none.
    Unknown,
}

/// A contact in a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BranchContact {
    /// What it does from this instant on; with smooth friction it sticks below the velocity `gamma`.
    pub status: Does,
    /// Force on the second body along n, t, o, N.
    pub force: Vector,
    /// Relative acceleration along n, t, o, m/s^2.
    pub acceleration: Vector,
}

/// A solution of the rigid problem, and its boundary layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Contacts, in the order of [`Cluster::contacts`].
    pub contacts: Vec<BranchContact>,
    /// The boundary layer; `None` if it could not be computed: a loaded row that nothing can move.
    pub layer: Option<BoundaryLayer>,
    /// Whether the verdict is that of every layer; `None` if that was not asked.
    pub depends: Option<Dependence>,
    /// Whether a contact at rest begins to slip or opens: friction is not differentiable there, and Theorem 4.1 says nothing of the transition. The
    /// verdict is that of the mode it goes to.
    pub transition: bool,
    /// Number of its motion: solutions that differ in forces alone have the same.
    pub motion: usize,
    /// 0: an isolated solution; else the dimension of a continuum of forces.
    pub dimension: usize,
    /// Dimension of the continuum in accelerations.
    pub motion_dimension: usize,
    /// Forces of all rows of the cluster.
    pub forces: Vec<f64>,
    /// Relative residual of the forces.
    pub residual: f64,
}

impl Branch {
    /// The verdict.
    pub fn verdict(&self) -> Option<Verdict> {
        self.layer.as_ref().map(|layer| layer.verdict)
    }
}

/// Connected contacts at an instant.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Contacts that are closed.
    pub contacts: Vec<ContactAt>,
    /// Joint limits and joint friction that take part, as indices into [`Model::standing`].
    pub standing: Vec<usize>,
    /// Decision: solved, several, no-solution, undecided or stalled.
    pub status: Status,
    /// Whether there are no solutions but those listed.
    pub complete: bool,
    /// Whether it is proved that there is no solution.
    pub proved_none: bool,
    /// Why no decision was reached.
    pub reason: Option<String>,
    /// Solutions.
    pub branches: Vec<Branch>,
    /// How far slipping contacts are from the loss of their solution.
    pub margin: Margin,
    /// Contacts with forces that balance each other: then the condition (20) of song2004 fails, and forces of compliant contacts may grow without bound as they
    /// become rigid. Empty: (20) holds, and limits of compliant motion are rigid motion (Theorem 6). `None`: not decided.
    pub wedged: Option<Vec<usize>>,
    /// Whether solutions are finitely many (song2004 Theorem 4).
    pub finite: Finite,
    /// How far motion and forces are determined.
    pub trust: Trust,
    /// The model to prefer.
    pub preferred: Preferred,
}

/// All clusters at an instant.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// Time of the state, s.
    pub time: f64,
    /// Clusters in order of their first contacts; those of joint limits alone last.
    pub clusters: Vec<Cluster>,
}

/// What a run wants to know of a state: whether the rigid model may be used from here on, and for how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlook {
    /// Whether the motion of the rigid problem exists and is the only one; `None` if that was not decided.
    pub unique: Option<bool>,
    /// Whether it is stable; `None` if it is not known to be unique.
    pub stable: Option<bool>,
    /// Least margin of all clusters ([`Margin`]): 1 if nothing slips. A run that changes its model should do so before it is 0.
    pub margin: f64,
    /// Contacts that are closed.
    pub contacts: usize,
}

impl Analysis {
    /// The model to prefer for all clusters together.
    pub fn preferred(&self) -> Preferred {
        self.clusters.iter().map(|c| c.preferred).max().unwrap_or(Preferred::Rigid)
    }

    /// Uniqueness, stability and margin over all clusters.
    pub fn outlook(&self) -> Outlook {
        let unique = |c: &Cluster| match c.trust {
            Trust::Unique | Trust::ForcesNotUnique => Some(true),
            Trust::NoRigidSolution | Trust::MotionNotUnique => Some(false),
            _ => None,
        };
        // one that fails decides, whatever is not known of others
        let all = |each: &dyn Fn(&Cluster) -> Option<bool>| {
            let known: Vec<Option<bool>> = self.clusters.iter().map(each).collect();
            match known.contains(&Some(false)) {
                true => Some(false),
                false => known.iter().all(Option::is_some).then_some(true),
            }
        };
        let stable = |c: &Cluster| (unique(c) == Some(true)).then_some(c.preferred == Preferred::Rigid);
        Outlook {
            unique: all(&unique),
            stable: all(&stable),
            margin: self.clusters.iter().map(|c| c.margin.value).fold(1.0, f64::min),
            contacts: self.clusters.iter().map(|c| c.contacts.len()).sum(),
        }
    }
}

/// Examines a state of a model.
pub fn examine(model: &Model, state: &State, question: &Question) -> Result<Analysis, NotAccelerated> {
    let world = &model.scene().world;
    if let Some(part) = world.iter().find(|part| part.motion.is_some() || part.surface.is_some()) {
        let contact = part.name.clone();
        let expected = "expected world parts at rest, not ones that move, nor belts";
        return Err(InvalidInstant::Contact { contact, expected }.into());
    }
    let given = Given { rigid: true, deformed: true, ..question.given.clone() };
    let instant = Instant::with(model, state, &given)?;
    let whole = instant.instant_problem()?;
    let (matrix, mu) = (whole.matrix(), instant.mu());
    let count = instant.contacts().contacts.len();
    let standing: Vec<usize> = instant.standing().collect();
    let offsets: Vec<usize> =
        (0..whole.groups().len()).map(|g| whole.rows_of(g).start).chain([whole.size()]).collect();
    let at = super::accelerate::contacts(&instant, &whole);
    let mut found = vec![];
    for groups in clusters(matrix, &offsets) {
        let rows: Vec<usize> = groups.iter().flat_map(|g| whole.rows_of(*g)).collect();
        let own = Matrix::from_fn(rows.len(), rows.len(), |i, j| matrix[(rows[i], rows[j])]);
        let b = rows.iter().map(|i| whole.vector()[*i]).collect();
        let laws: Vec<Group> = groups.iter().map(|g| whole.groups()[*g].clone()).collect();
        // joint friction and gears without contacts and limits are no question of stability
        if laws.iter().all(|law| matches!(law, Group::Bounded { .. } | Group::Bilateral)) {
            continue;
        }
        let contacts = groups.iter().filter(|g| **g < count).count();
        // degrees of freedom that the rows move
        let jacobian = instant.jacobian();
        let dofs: Vec<usize> =
            (0..jacobian.columns()).filter(|d| rows.iter().any(|i| jacobian[(*i, *d)] != 0.0)).collect();
        let posed = Posed {
            model,
            instant: &instant,
            problem: InstantProblem::new(own, b, laws)?,
            jacobian: Matrix::from_fn(rows.len(), dofs.len(), |i, j| jacobian[(rows[i], dofs[j])]),
            mu: groups.iter().map(|g| mu[*g]).collect(),
            contacts,
            groups: groups.clone(),
        };
        let own_contacts = groups.iter().take(contacts).map(|g| at[*g]).collect();
        let own_standing = groups.iter().skip(contacts).map(|g| standing[g - count]).collect();
        found.push(posed.examine(own_contacts, own_standing, question)?);
    }
    Ok(Analysis { time: state.time, clusters: found })
}

/// Whether the rigid motion at a state is unique and stable, and how far it is from ceasing to be so: [`examine`] without other layers.
pub fn outlook(model: &Model, state: &State, question: &Question) -> Result<Outlook, NotAccelerated> {
    examine(model, state, &Question { vary: false, ..question.clone() }).map(|found| found.outlook())
}
