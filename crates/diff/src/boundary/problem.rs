//! Boundary-value problems: names to places in the state, shots and their residuals.

use super::{Parameters, RunError, forward};
use crate::dynamics::Joint;
use crate::model::Model;
use crate::scene::{Boundary, Fault, Scene, ShootMethod, Term, When, nearest};
use crate::state::{RowId, State};
use crate::stepper::Stepper;
use complementarity::matrix::Matrix;
use std::fmt;
use std::sync::Arc;

/// A component of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slot {
    /// A coordinate, and the degree of freedom whose velocity is its rate.
    Position {
        coordinate: usize,
        dof: usize,
    },
    Velocity {
        dof: usize,
    },
    /// Entry of the quaternion that begins at `first` in q; the rotation begins at `dof` in v.
    Quaternion {
        first: usize,
        entry: usize,
        dof: usize,
    },
    /// Row of a contact's deformation.
    Deformation {
        contact: String,
        row: usize,
    },
}

/// An unknown of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownAt {
    /// Name, `body.component`.
    pub name: String,
    pub(super) slot: Slot,
    /// Value from which the search starts.
    pub guess: f64,
    /// Least and largest value.
    pub bounds: [f64; 2],
}

/// A condition of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionAt {
    /// Its terms in words.
    pub name: String,
    pub(super) terms: Vec<(Slot, When, f64)>,
    /// Wanted value.
    pub value: f64,
    /// Residuals are divided by this.
    pub scale: f64,
}

/// A residual of the states at start and end, for conditions that are not affine.
pub type Residual = dyn Fn(&State, &State) -> Vec<f64> + Send + Sync;

/// The derivative of a [`Residual`] along tangents at start and end.
pub type ResidualSlope = dyn Fn([&State; 2], [&[f64]; 2]) -> Vec<f64> + Send + Sync;

/// A boundary-value problem, pang2005 (13): `b = M_v v(0) + N x(T)`, or a residual of one's own.
#[derive(Clone)]
pub struct Problem {
    /// The compiled scene.
    pub model: Arc<Model>,
    /// Unknown components of the start.
    pub unknowns: Vec<UnknownAt>,
    /// Conditions.
    pub conditions: Vec<ConditionAt>,
    /// Number of steps.
    pub steps: usize,
    /// Time of the conditions, s; the guess of it if it is unknown.
    pub time: f64,
    /// Bounds of the time, if it is unknown: it is then the last unknown.
    pub time_bounds: Option<[f64; 2]>,
    /// Method.
    pub method: ShootMethod,
    /// Segments of multiple shooting.
    pub segments: usize,
    /// Starting points.
    pub starts: usize,
    /// Largest residual of a solution.
    pub tolerance: f64,
    /// Largest number of iterations.
    pub iterations: usize,
    pub(super) function: Option<(Arc<Residual>, Arc<ResidualSlope>)>,
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem")
            .field("unknowns", &self.unknowns)
            .field("conditions", &self.conditions)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

/// A shot: the run from one choice of the unknowns.
#[derive(Debug, Clone)]
pub struct Shot {
    /// State at the start.
    pub start: State,
    /// State at the end.
    pub end: State,
    /// Residual of each condition, over its scale.
    pub residual: Vec<f64>,
    /// Derivative of the residual with the unknowns.
    pub jacobian: Matrix,
    /// Steps whose derivative is one of several.
    pub noted: usize,
}

impl Problem {
    /// The problem of a scene.
    ///
    /// # Errors
    /// Everything that is wrong with `[boundary]`, by path.
    pub fn new(scene: &Scene) -> Result<Self, Vec<Fault>> {
        let model = Arc::new(Model::new(scene)?);
        let none =
            || vec![Fault::new("boundary".to_owned(), "the scene has no [boundary]: nothing is asked for")];
        let given = scene.boundary.as_ref().ok_or_else(none)?;
        let mut faults = vec![];
        let names = Names { model: &model };
        let unknowns = names.unknowns(given, &mut faults);
        let conditions = names.conditions(given, &unknowns, &mut faults);
        let unknown = unknowns.len() + usize::from(given.time_bounds.is_some());
        let mut alone = |message: String| faults.push(Fault::new("boundary".to_owned(), message));
        if given.unknowns.is_empty() && given.time_bounds.is_none() {
            alone("there is no unknown: expected at least one [[boundary.unknown]]".to_owned());
        }
        if given.conditions.is_empty() {
            alone("there is no condition: expected at least one [[boundary.condition]]".to_owned());
        }
        if faults.is_empty() && conditions.len() > unknown && !given.least_squares {
            let why = "more conditions than unknowns: expected least_squares = true";
            faults.push(Fault::new(
                "boundary.condition".to_owned(),
                format!("{} conditions for {unknown} unknowns, {why}", conditions.len()),
            ));
        }
        let (steps, time) = duration(scene, given, &mut faults);
        if !faults.is_empty() {
            return Err(scene.named(faults));
        }
        Ok(Self {
            model,
            unknowns,
            conditions,
            steps,
            time,
            time_bounds: given.time_bounds,
            method: given.method,
            segments: given.segments.unwrap_or(8),
            starts: given.starts.unwrap_or(1),
            tolerance: given.tolerance.unwrap_or(1e-9),
            iterations: given.iterations.unwrap_or(50),
            function: None,
        })
    }

    /// Replaces the conditions by a residual of one's own, with its derivative.
    #[must_use]
    pub fn with_residual(mut self, residual: Arc<Residual>, slope: Arc<ResidualSlope>) -> Self {
        self.conditions.clear();
        self.function = Some((residual, slope));
        self
    }

    /// Number of unknowns, the time included.
    pub fn size(&self) -> usize {
        self.unknowns.len() + usize::from(self.time_bounds.is_some())
    }

    /// Name of an unknown.
    pub fn name(&self, k: usize) -> &str {
        self.unknowns.get(k).map_or("time", |u| &u.name)
    }

    /// Where the search starts.
    pub fn guess(&self) -> Vec<f64> {
        let mut z: Vec<f64> = self.unknowns.iter().map(|u| u.guess).collect();
        z.extend(self.time_bounds.map(|[a, b]| self.time.clamp(a, b)));
        z
    }

    /// Bounds of the unknowns.
    pub fn bounds(&self) -> Vec<[f64; 2]> {
        self.unknowns.iter().map(|u| u.bounds).chain(self.time_bounds).collect()
    }

    /// The state at the start for a choice of the unknowns.
    pub fn start(&self, z: &[f64]) -> State {
        let mut state = self.model.initial();
        for (u, z) in self.unknowns.iter().zip(z) {
            match &u.slot {
                Slot::Position { coordinate, .. } => state.position[*coordinate] = *z,
                Slot::Velocity { dof } => state.velocity[*dof] = *z,
                Slot::Quaternion { .. } | Slot::Deformation { .. } => {}
            }
        }
        state
    }

    /// Length of the steps for a choice of the unknowns, s.
    pub fn step(&self, z: &[f64]) -> f64 {
        let time =
            if self.time_bounds.is_some() { z.last().copied().unwrap_or(self.time) } else { self.time };
        time / self.steps as f64
    }

    /// The tangent of the start with each unknown, configuration and velocities.
    pub(super) fn directions(&self) -> Vec<Vec<f64>> {
        let n = self.model.system().velocity_size();
        let unit = |u: &UnknownAt| {
            let mut out = vec![0.0; 2 * n];
            match u.slot {
                Slot::Position { dof, .. } => out[dof] = 1.0,
                Slot::Velocity { dof } => out[n + dof] = 1.0,
                Slot::Quaternion { .. } | Slot::Deformation { .. } => {}
            }
            out
        };
        self.unknowns.iter().map(unit).collect()
    }

    /// Residual of the conditions at the states of start and end.
    pub fn residual(&self, start: &State, end: &State) -> Vec<f64> {
        if let Some((residual, _)) = &self.function {
            return residual(start, end);
        }
        let of = |c: &ConditionAt| {
            let sum: f64 = c
                .terms
                .iter()
                .map(|(slot, when, factor)| {
                    let state = if *when == When::Start { start } else { end };
                    factor * value(&self.model, slot, state)
                })
                .sum();
            (sum - c.value) / c.scale
        };
        self.conditions.iter().map(of).collect()
    }

    /// Change of the residual along tangents of start and end.
    pub(super) fn slope(&self, [start, end]: [&State; 2], [at_start, at_end]: [&[f64]; 2]) -> Vec<f64> {
        if let Some((_, slope)) = &self.function {
            return slope([start, end], [at_start, at_end]);
        }
        let of = |c: &ConditionAt| {
            let sum: f64 = c
                .terms
                .iter()
                .map(|(slot, when, factor)| {
                    let (state, tangent) =
                        if *when == When::Start { (start, at_start) } else { (end, at_end) };
                    factor * change(&self.model, slot, state, tangent)
                })
                .sum();
            sum / c.scale
        };
        self.conditions.iter().map(of).collect()
    }

    /// Runs from a choice of the unknowns, with derivatives.
    ///
    /// # Errors
    /// If a step fails, or has no derivative.
    pub fn shoot(&self, stepper: &mut Stepper, z: &[f64]) -> Result<Shot, RunError> {
        let (start, h) = (self.start(z), self.step(z));
        let scaled = self.time_bounds.is_some();
        let parameters = if scaled { Parameters::default().with_duration() } else { Parameters::default() };
        let n = self.model.system().velocity_size();
        let mut directions: Vec<(Vec<f64>, Vec<f64>)> =
            self.directions().into_iter().map(|d| (d, vec![])).collect();
        if scaled {
            // d ln h = d ln T
            directions.push((vec![0.0; 2 * n], vec![1.0 / (h * self.steps as f64)]));
        }
        let lengths = std::iter::repeat_n(h, self.steps);
        let run = forward(stepper, &start, lengths, &directions, &parameters)?;
        let residual = self.residual(&start, &run.state);
        let mut jacobian = Matrix::zeros(residual.len(), directions.len());
        for (j, (d, _)) in directions.iter().enumerate() {
            let column = self.slope([&start, &run.state], [d, &run.tangents[j]]);
            column.iter().enumerate().for_each(|(i, x)| jacobian[(i, j)] = *x);
        }
        Ok(Shot { start, end: run.state, residual, jacobian, noted: run.noted })
    }

    /// The matrix of the fixed-point map (27), and whether it was shifted: `M_v + N_v`, and where that is singular
    /// the one of free flight, with `T N_q` added. `None` if that is singular too, or not square.
    pub(super) fn fixed_point_matrix(&self) -> Option<(Matrix, bool)> {
        let n = self.size();
        if self.conditions.len() != n || self.unknowns.len() != n {
            return None;
        }
        let entry = |i: usize, j: usize, shifted: bool| {
            let c = &self.conditions[i];
            let sum: f64 = c
                .terms
                .iter()
                .map(|(slot, _, factor)| match (slot, &self.unknowns[j].slot) {
                    (a, b) if a == b => *factor,
                    (Slot::Position { dof: a, .. }, Slot::Velocity { dof: b }) if a == b && shifted => {
                        factor * self.time
                    }
                    _ => 0.0,
                })
                .sum();
            sum / c.scale
        };
        [false, true].into_iter().find_map(|shifted| {
            let m = Matrix::from_fn(n, n, |i, j| entry(i, j, shifted));
            let full = super::linear::Factor::new(&m).rank() == n;
            full.then_some((m, shifted))
        })
    }
}

/// Steps and time of the conditions.
fn duration(scene: &Scene, given: &Boundary, faults: &mut Vec<Fault>) -> (usize, f64) {
    let time = given.time.unwrap_or(scene.step.duration);
    if !(time > 0.0 && time.is_finite()) {
        faults.push(Fault::new("boundary.time".to_owned(), format!("time is {time}, expected above 0")));
        return (1, 1.0);
    }
    if let Some([a, b]) = given.time_bounds
        && !(0.0 < a && a < b && b.is_finite())
    {
        let why = format!("time_bounds are [{a}, {b}], expected two times above 0, the least first");
        faults.push(Fault::new("boundary.time_bounds".to_owned(), why));
    }
    let count = crate::scene::StepSettings { duration: time, ..scene.step.clone() }.count();
    for (name, value) in
        [("segments", given.segments), ("starts", given.starts), ("iterations", given.iterations)]
    {
        if value == Some(0) {
            faults.push(Fault::new(format!("boundary.{name}"), format!("{name} is 0, expected at least 1")));
        }
    }
    if let Some(t) = given.tolerance.filter(|t| t.is_nan() || *t <= 0.0) {
        faults
            .push(Fault::new("boundary.tolerance".to_owned(), format!("tolerance is {t}, expected above 0")));
    }
    (count, time)
}

/// Looks up names.
struct Names<'a> {
    model: &'a Model,
}

impl Names<'_> {
    /// The unknowns; what is wrong with them is added to the faults.
    fn unknowns(&self, given: &Boundary, faults: &mut Vec<Fault>) -> Vec<UnknownAt> {
        let start = self.model.initial();
        let mut unknowns: Vec<UnknownAt> = vec![];
        for (k, u) in given.unknowns.iter().enumerate() {
            let path = format!("boundary.unknown[{k}]");
            let slot = match self.slot(&u.body, &u.component, &path) {
                Ok(Slot::Quaternion { .. }) => {
                    let why =
                        format!("'{}' is an entry of an attitude, which cannot be unknown", u.component);
                    faults.push(Fault::new(format!("{path}.component"), why));
                    continue;
                }
                Ok(slot) => slot,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            let bounds = u.bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            let guess = u.guess.unwrap_or_else(|| value(self.model, &slot, &start));
            if bounds[0].is_nan() || bounds[1].is_nan() || bounds[0] >= bounds[1] {
                let why = format!("bounds are {bounds:?}, expected the least value first");
                faults.push(Fault::new(format!("{path}.bounds"), why));
            } else if !(bounds[0]..=bounds[1]).contains(&guess) {
                let why = format!("guess is {guess}, expected within the bounds {bounds:?}");
                faults.push(Fault::new(format!("{path}.guess"), why));
            }
            let name = format!("{}.{}", u.body, u.component);
            if unknowns.iter().any(|other| other.slot == slot) {
                faults.push(Fault::new(path, format!("{name} is unknown twice")));
                continue;
            }
            unknowns.push(UnknownAt { name, slot, guess, bounds });
        }
        unknowns
    }

    /// The conditions; what is wrong with them is added to the faults.
    fn conditions(
        &self,
        given: &Boundary,
        unknowns: &[UnknownAt],
        faults: &mut Vec<Fault>,
    ) -> Vec<ConditionAt> {
        let mut conditions = vec![];
        for (k, c) in given.conditions.iter().enumerate() {
            let path = format!("boundary.condition[{k}]");
            let mut terms = c.terms.clone();
            if c.body.is_some() || c.component.is_some() {
                let component = c.component.clone().unwrap_or_default();
                terms.push(Term { body: c.body.clone(), component, ..Term::default() });
            }
            match self.condition(&path, &terms, unknowns) {
                Ok((name, terms)) => {
                    let scale = c.scale.unwrap_or(1.0);
                    if !(scale > 0.0 && scale.is_finite()) {
                        let why = format!("scale is {scale}, expected above 0");
                        faults.push(Fault::new(format!("{path}.scale"), why));
                    }
                    conditions.push(ConditionAt { name, terms, value: c.value, scale });
                }
                Err(mut wrong) => faults.append(&mut wrong),
            }
        }
        conditions
    }

    fn slot(&self, body: &str, component: &str, path: &str) -> Result<Slot, Fault> {
        let scene = self.model.scene();
        let Some(i) = scene.bodies.iter().position(|b| b.name == body) else {
            let known: Vec<&str> = scene.bodies.iter().map(|b| b.name.as_str()).collect();
            let suggestion = nearest(body, &known).map(str::to_owned);
            let all = if suggestion.is_none() {
                format!(", expected one of {}", known.join(", "))
            } else {
                String::new()
            };
            let message = format!("unknown body '{body}'{all}");
            return Err(Fault { suggestion, ..Fault::new(format!("{path}.body"), message) });
        };
        let joint = scene.bodies[i].link.joint;
        let (q, v) = (self.model.system().coordinates(i).start, self.model.system().dofs(i).start);
        let names = components(&joint);
        let Some(k) = names.iter().position(|n| *n == component) else {
            let what = format!("'{body}' on its {} joint", joint.name());
            let message = match names.is_empty() {
                true => format!("{what} does not move: it has no components"),
                false => {
                    format!("unknown component '{component}' of {what}, expected one of {}", names.join(", "))
                }
            };
            return Err(Fault::new(format!("{path}.component"), message));
        };
        let dofs = joint.velocity_size();
        let scalars = joint.quaternion().unwrap_or(dofs);
        Ok(if k < scalars {
            Slot::Position { coordinate: q + k, dof: v + k }
        } else if k < scalars + dofs {
            Slot::Velocity { dof: v + k - scalars }
        } else {
            let first = q + joint.quaternion().unwrap_or(0);
            Slot::Quaternion { first, entry: k - scalars - dofs, dof: v + dofs - 3 }
        })
    }

    #[allow(clippy::type_complexity, reason = "a name and its terms")]
    fn condition(
        &self,
        path: &str,
        terms: &[Term],
        unknowns: &[UnknownAt],
    ) -> Result<(String, Vec<(Slot, When, f64)>), Vec<Fault>> {
        let (mut out, mut words, mut faults) = (vec![], vec![], vec![]);
        if terms.is_empty() {
            let why = "a condition needs a body and a component, or terms";
            return Err(vec![Fault::new(path.to_owned(), why)]);
        }
        for (k, term) in terms.iter().enumerate() {
            let path = format!("{path}.terms[{k}]");
            let slot = match (&term.body, &term.contact) {
                (Some(body), None) => self.slot(body, &term.component, &path),
                (None, Some(contact)) => self.deformation(contact, &term.component, &path),
                _ => Err(Fault::new(path.clone(), "a term needs either a body or a contact")),
            };
            let slot = match slot {
                Ok(slot) => slot,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            let of = term.body.as_ref().or(term.contact.as_ref()).map_or("", String::as_str);
            let when = if term.at == When::Start { "(0)" } else { "(T)" };
            let factor = if term.factor == 1.0 { String::new() } else { format!("{} ", term.factor) };
            words.push(format!("{factor}{of}.{}{when}", term.component));
            out.push((slot, term.at, term.factor));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let name = words.join(" + ");
        let chosen = |slot: &Slot| unknowns.iter().any(|u| u.slot == *slot);
        if out.iter().all(|(slot, when, _)| *when == When::Start && !chosen(slot)) {
            let why = format!("{name} is prescribed: the scene gives it, and it is not among the unknowns");
            return Err(vec![Fault::new(path.to_owned(), why)]);
        }
        Ok((name, out))
    }

    fn deformation(&self, contact: &str, component: &str, path: &str) -> Result<Slot, Fault> {
        let parts = contact.split_once('#').map_or(contact, |(parts, _)| parts);
        let known = |name: &str| self.model.parts().iter().any(|p| p.name == name);
        if !parts.split_once('/').is_some_and(|(a, b)| known(a) && known(b)) {
            let why =
                format!("unknown contact '{contact}', expected names of two parts as in 'ground/ball#0'");
            return Err(Fault::new(format!("{path}.contact"), why));
        }
        let row = ["n", "t", "o"][..self.model.contacts().linear_rows().min(3)]
            .iter()
            .position(|c| *c == component);
        let row = row.ok_or_else(|| {
            Fault::new(
                format!("{path}.component"),
                format!("unknown component '{component}', expected n, t or o"),
            )
        })?;
        Ok(Slot::Deformation { contact: contact.to_owned(), row })
    }
}

/// Names of the components of a joint: coordinates but the attitude, velocities, attitude.
pub(crate) fn components(joint: &Joint) -> &'static [&'static str] {
    match joint {
        Joint::Free => &["x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz", "qw", "qx", "qy", "qz"],
        Joint::Planar => &["x", "y", "angle", "vx", "vy", "w"],
        Joint::Revolute { .. } | Joint::Screw { .. } => &["angle", "w"],
        Joint::Cylindrical { .. } => &["displacement", "angle", "v", "w"],
        Joint::Universal { .. } => &["first", "second", "w_first", "w_second"],
        Joint::Prismatic { .. } => &["displacement", "v"],
        Joint::Spherical => &["wx", "wy", "wz", "qw", "qx", "qy", "qz"],
        Joint::Fixed => &[],
    }
}

/// Value of a component.
fn value(model: &Model, slot: &Slot, state: &State) -> f64 {
    match slot {
        Slot::Position { coordinate, .. } => state.position[*coordinate],
        Slot::Velocity { dof } => state.velocity[*dof],
        Slot::Quaternion { first, entry, .. } => state.position[first + entry],
        Slot::Deformation { contact, row } => {
            let found = state.memory.iter().find(|m| is_contact(model, m.id, contact));
            found.and_then(|m| m.deformations.get(*row)).copied().unwrap_or(0.0)
        }
    }
}

/// Change of a component along a tangent.
fn change(model: &Model, slot: &Slot, state: &State, tangent: &[f64]) -> f64 {
    let n = model.system().velocity_size();
    match slot {
        Slot::Position { dof, .. } => tangent[*dof],
        Slot::Velocity { dof } => tangent[n + dof],
        Slot::Quaternion { first, entry, dof } => {
            // dq = (0, turn) q / 2
            let turn = crate::space::Quaternion([0.0, tangent[*dof], tangent[dof + 1], tangent[dof + 2]]);
            let q = &state.position[*first..];
            0.5 * turn.after(crate::space::Quaternion([q[0], q[1], q[2], q[3]])).0[*entry]
        }
        Slot::Deformation { contact, row } => {
            let mut at = 2 * n;
            for m in state.memory.iter() {
                if is_contact(model, m.id, contact) && *row < m.deformations.len() {
                    return tangent.get(at + row).copied().unwrap_or(0.0);
                }
                at += m.deformations.len();
            }
            0.0
        }
    }
}

fn is_contact(model: &Model, id: RowId, name: &str) -> bool {
    matches!(id, RowId::Contact(_)) && model.row_name(id) == name
}
