//! Compliant motion with error control (song2001 section 3): the equations of motion with explicit contact forces, integrated by
//! [`Radau`]'s method. A step of the scene is as many steps of the integrator as its error control wants; each ends where a contact touches,
//! parts, opens, or begins to stick or slip.

mod field;

use crate::dynamics::Kinematics;
use crate::inputs::Inputs;
use crate::integrate::{Field, Radau, next_length};
use crate::model::Model;
use crate::motion::targets_at;
use crate::space::length;
use crate::state::{ContactId, RowId, State, next_time};
use crate::step::report::elastic;
use crate::step::soft_row::compliant_row;
use crate::step::{
    Books, ElementReport, Failed, Located, Status, StepReport, StepScheme, Struck, StruckKind, Trust,
    Workspace, place,
};
use complementarity::residual::Residual;
use field::{Buffers, Equations, Mode, Point, Powers};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Margins count as used up below minus this: overlap in metres, forces in units of weight.
const USED_UP: f64 = 1e-12;
/// Margins up to this change their mode together with the one that ended the step.
const TOGETHER: f64 = 1e-11;
/// Bracket of an event, as a share of the integrator's step.
const LOCATED: f64 = 1e-13;
/// Evaluations after which the location of an event is as good as it gets.
const LOOKS: usize = 60;
/// Events at one time after which the modes are kept for a step: they contradict each other by rounding.
const CHANGES: usize = 20;
/// A contact that opens with a gap above this, m, has jumped.
const JUMP: f64 = 1e-9;
/// Steps that could grow by less keep their length, and the integrator its factors (HW IV.8).
const KEPT: f64 = 1.2;
/// Least step of the integrator, as a share of the scene's.
const LEAST: f64 = 1e-12;

/// `scheme = "compliant"`, with the memory that its steps use.
#[derive(Debug, Clone, Default)]
pub struct CompliantScheme {
    points: Vec<Point>,
    buffers: Buffers,
    path: Path,
}

/// Where the integration is.
#[derive(Debug, Clone, Default)]
struct Path {
    radau: Radau,
    time: f64,
    /// `q`, `v` and the tangential deformations of contacts that are not open.
    y: Vec<f64>,
    /// Errors allowed.
    scale: Vec<f64>,
    rate: Vec<f64>,
    stage: Vec<f64>,
    /// Which margins of which points the last attempt used up.
    used_up: Vec<[bool; 3]>,
    /// Worst error of a step over what is allowed.
    worst: f64,
    /// A time, and `q` and `v` at it, some steps before the end: what joints transmit is found from the change of momentum since.
    window: (f64, Vec<f64>),
    before: Vec<(Point, Status)>,
    /// Powers at the stages of the last attempt.
    powers: [Powers; 3],
    /// Powers of the contacts' normal springs there.
    springs: [Vec<f64>; 3],
    /// What contacts made in the step.
    books: Books,
    /// Overlaps just before the located event, where a contact jumped there: its features gave way to others.
    overlaps: Vec<f64>,
    /// Impacts that have begun, and those that ended in this step.
    strikes: Vec<Strike>,
    struck: Vec<Struck>,
}

/// An impact: a contact that closed while its parts approached.
#[derive(Debug, Clone, Copy)]
struct Strike {
    id: ContactId,
    since: f64,
    /// Normal impulse so far, N s.
    impulse: f64,
    /// When the parts ceased to approach, s.
    stopped: Option<f64>,
}

/// A contact that lasts more than so many times as long as its parts approach does not end in a bounce.
const LASTS: f64 = 10.0;

/// Least length of [`Path::window`], as a share of the scene's step.
const WINDOW: f64 = 1e-2;

impl StepScheme for CompliantScheme {
    fn step(
        &mut self,
        model: &Model,
        state: &mut State,
        inputs: &Inputs,
        h: f64,
        work: &mut Workspace,
    ) -> Result<StepReport, Failed> {
        step(self, model, state, inputs, h, work)
    }

    fn boxed(&self) -> Box<dyn StepScheme> {
        Box::new(self.clone())
    }
}

/// One step of length `h`. On failure the state is as it was.
fn step(
    scheme: &mut CompliantScheme,
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    h: f64,
    work: &mut Workspace,
) -> Result<StepReport, Failed> {
    place(model, state, inputs, h, &mut work.motion)?;
    let Workspace {
        motion,
        detection,
        contacts,
        elements,
        standing,
        located,
        struck,
        branches,
        solver,
        books,
        ..
    } = work;
    located.clear();
    struck.clear();
    branches.clear();
    let CompliantScheme { points, buffers, path } = scheme;
    let (margin, gravity) = (motion.margin, length(model.scene().gravity));
    let mass: f64 = model.scene().bodies.iter().map(|b| b.link.inertia.mass).sum();
    let unit = mass * if gravity > 0.0 { gravity } else { 1.0 };
    let (powers, unknown) = (Powers::default(), 0.0);
    points.clear();
    let mut equations = Equations {
        model,
        inputs,
        motion,
        detection,
        contacts,
        points,
        memory: buffers,
        open_too: true,
        margin,
        unit,
        powers,
        unknown,
    };
    let mut report = StepReport { solver: "radau", ..StepReport::default() };
    path.begin(&mut equations, state, &mut report);
    path.run(&mut equations, state, h, solver.stop.as_ref(), located, &mut report)?;
    path.finish(&mut equations, state, h, elements, &mut report)?;
    path.books.made.iter().for_each(|m| books.add(m.place, m.energy));
    struck.extend_from_slice(&path.struck);
    standing.clear();
    if !model.standing().is_empty() {
        // where the step ended, before the workspace shows how it got there
        let mut after = Kinematics::new(model.system());
        after.go_to(&state.position, &state.velocity);
        targets_at(model, inputs, state.time, &mut motion.targets);
        let (at, mut own) = ((&after, &*state, &motion.targets[..]), vec![]);
        standing.extend((0..model.standing().len()).map(|row| compliant_row(model, row, at, &mut own)));
    }
    Ok(report)
}

impl Path {
    /// Starts at a state: its contacts and their modes. Books the energy of contacts that overlap though nothing has pressed them yet, and of those that
    /// are known to be deformed but are not here.
    fn begin(&mut self, equations: &mut Equations<'_>, state: &State, report: &mut StepReport) {
        (self.time, self.worst) = (state.time, 0.0);
        self.struck.clear();
        self.strikes.retain(|s| s.since <= state.time && state.memory.find(RowId::Contact(s.id)).is_some());
        self.y.clear();
        self.y.extend_from_slice(&state.position);
        self.y.extend_from_slice(&state.velocity);
        self.window.0 = state.time;
        self.window.1.clone_from(&self.y);
        self.radau.forget();
        self.evaluate(equations);
        self.find_points(equations, |id, i| {
            let known = state.memory.find(RowId::Contact(id));
            known.and_then(|m| m.deformations.get(i + 1)).copied().unwrap_or(0.0)
        });
        self.books.begin();
        for k in 0..equations.points.len() {
            let known = state.memory.find(RowId::Contact(equations.points[k].id));
            if known.is_some_and(|m| !m.deformations.is_empty()) {
                equations.points[k].kept = equations.pressed(&equations.points[k]);
            }
        }
        let is_new = |p: &&Point| {
            let known = state.memory.find(RowId::Contact(p.id));
            p.mode != Mode::Open && known.is_none_or(|m| m.deformations.is_empty())
        };
        report.recovery_work +=
            equations.points.iter().filter(is_new).map(|p| equations.elastic(p, &self.y)).sum::<f64>();
        for m in state.memory.iter() {
            let RowId::Contact(id) = m.id else { continue };
            let near = equations.points.binary_search_by_key(&id, |p| p.id).is_ok();
            report.release_loss += if near { 0.0 } else { elastic(equations.model, m) };
        }
    }

    /// The right-hand side at the present place, for the values of the contacts.
    fn evaluate(&mut self, equations: &mut Equations<'_>) {
        self.rate.resize(self.y.len(), 0.0);
        equations.rate(self.time, &self.y, &mut self.rate);
    }

    /// Makes the contacts detected last the points, with the modes of the present place. `known` gives their tangential deformations.
    fn find_points(&mut self, equations: &mut Equations<'_>, known: impl Fn(ContactId, usize) -> f64) {
        let (nq, nv) = equations.sizes();
        self.y.truncate(nq + nv);
        equations.points.clear();
        let near = equations.contacts.contacts.iter();
        equations.points.extend(near.map(|c| Point::new(c.id, c.rule)));
        self.evaluate(equations);
        for k in 0..equations.points.len() {
            let mode = equations.mode_now(k);
            equations.points[k].mode = mode;
            if mode != Mode::Open && equations.has_deformation(equations.points[k].rule) {
                let id = equations.points[k].id;
                equations.points[k].deformation = Some(self.y.len());
                self.y.extend((0..equations.tangents()).map(|i| known(id, i)));
            }
        }
        self.evaluate(equations);
        equations.points.iter_mut().for_each(Point::slip_if_it_must);
    }

    /// Integrates over `h`.
    fn run(
        &mut self,
        equations: &mut Equations<'_>,
        state: &mut State,
        h: f64,
        stop: Option<&Arc<AtomicBool>>,
        located: &mut Vec<Located>,
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        let end = state.time + h;
        let mut length = h * 0.5f64.powi(state.solver.level as i32);
        let mut changes = 0;
        loop {
            if stop.is_some_and(|s| s.load(Ordering::Relaxed)) {
                return Err(Failed::Interrupted { time: state.time });
            }
            let left = end - self.time;
            if left <= LEAST * h {
                break;
            }
            // no step that leaves a tiny rest
            let tried = if length >= left { left } else { length.min(0.5 * left.max(length)) };
            if tried < LEAST * h || !tried.is_finite() {
                return Err(Failed::Integration { time: self.time, h: tried });
            }
            self.set_scale(equations);
            let Some(error) = self.attempt(equations, tried, report) else {
                length = 0.25 * tried;
                continue;
            };
            if error > 1.0 {
                length = next_length(tried, error, Radau::ORDER);
                continue;
            }
            let grown = next_length(tried, error, Radau::ORDER);
            let looked = changes < CHANGES;
            let first = looked.then(|| self.first_used_up(equations, tried)).flatten();
            let (made, event) = match first {
                None => (tried, false),
                Some(within) => match self.locate(equations, within, report) {
                    Some(at) => (at, true),
                    None => {
                        length = 0.25 * tried;
                        continue;
                    }
                },
            };
            self.worst = self.worst.max(error);
            if self.time - self.window.0 >= WINDOW * h && state.time + h - self.time >= WINDOW * h {
                self.window.0 = self.time;
                self.window.1.clone_from(&self.y);
            }
            changes = if made > 1e-9 * tried { 0 } else { changes + 1 };
            self.accept(equations, made, looked && !event, report);
            length = if (1.0..KEPT).contains(&(grown / tried)) { tried } else { grown.min(h) };
            if event {
                let known = located.len();
                self.change_modes(equations, located, report);
                self.strike(equations, &located[known..]);
                length = length.min(tried);
            }
        }
        // the next step begins with about the last length
        state.solver.level = (h / length).log2().ceil().clamp(0.0, 40.0) as u32;
        Ok(())
    }

    fn set_scale(&mut self, equations: &Equations<'_>) {
        let accuracy = equations.model.scene().step.accuracy;
        self.scale.clear();
        self.scale.extend(self.y.iter().map(|y| accuracy * (1.0 + y.abs())));
    }

    fn attempt(&mut self, equations: &mut Equations<'_>, h: f64, report: &mut StepReport) -> Option<f64> {
        equations.open_too = false;
        let error = self.radau.attempt(equations, (self.time, &self.y), h, &self.scale);
        equations.open_too = true;
        report.iterations += self.radau.iterations();
        error
    }

    /// The values of the contacts at a stage of the last attempt.
    fn look(&mut self, equations: &mut Equations<'_>, stage: usize, h: f64) {
        self.stage.clear();
        self.stage.extend(self.y.iter().zip(self.radau.stage(stage)).map(|(y, z)| y + z));
        self.rate.resize(self.y.len(), 0.0);
        equations.rate(self.time + Radau::NODES[stage] * h, &self.stage, &mut self.rate);
        self.powers[stage] = equations.powers;
        self.springs[stage].clear();
        self.springs[stage].extend(equations.points.iter().map(|p| p.now.power));
    }

    /// The first stage of the last attempt at which a mode does not hold, as a time after the step's begin; notes which margins are used up.
    fn first_used_up(&mut self, equations: &mut Equations<'_>, h: f64) -> Option<f64> {
        for stage in 0..3 {
            self.look(equations, stage, h);
            if least(equations) < -USED_UP {
                self.used_up.clear();
                self.used_up.extend(equations.points.iter().map(|p| p.now.margins.map(|m| m < -USED_UP)));
                return Some(Radau::NODES[stage] * h);
            }
        }
        None
    }

    /// Finds the length of a step at whose end the first margin is used up, below `within`, and leaves the attempt of that length. By
    /// bisection and the secant method in turn (Illinois).
    fn locate(&mut self, equations: &mut Equations<'_>, within: f64, report: &mut StepReport) -> Option<f64> {
        let (mut low, mut high) = ((0.0, USED_UP), (within, f64::NAN));
        let mut at = within;
        for look in 0..LOOKS {
            self.attempt(equations, at, report)?;
            self.look(equations, 2, at);
            let value = least(equations) + 0.5 * USED_UP;
            if value <= 0.0 {
                if look > 0 && high.0 == at {
                    break;
                }
                high = (at, value);
                low.1 *= 0.5;
            } else {
                low = (at, value);
                high.1 *= 0.5;
            }
            if high.1.is_nan()
                || high.0 - low.0 <= LOCATED * within
                || value.abs() < 0.1 * USED_UP && value <= 0.0
            {
                break;
            }
            let secant = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let inside = secant > low.0 && secant < high.0;
            at = if inside && look % 4 != 3 { secant } else { 0.5 * (low.0 + high.0) };
        }
        // the end at which the margin is used up
        if at != high.0 {
            self.attempt(equations, high.0, report)?;
            self.look(equations, 2, high.0);
        }
        self.overlaps.clear();
        let jumped = |p: &Point| p.mode != Mode::Open && !(p.now.found && p.now.overlap > -JUMP);
        if equations.points.iter().any(jumped) {
            if low.0 > 0.0 {
                self.attempt(equations, low.0, report)?;
                self.look(equations, 2, low.0);
            } else {
                self.evaluate(equations);
            }
            self.overlaps.extend(equations.points.iter().map(|p| p.now.overlap));
            self.attempt(equations, high.0, report)?;
            self.look(equations, 2, high.0);
        }
        Some(high.0)
    }

    /// Moves to the end of the last attempt, and adds its losses and work. `looked`: its stages were evaluated, the last one last.
    fn accept(&mut self, equations: &mut Equations<'_>, h: f64, looked: bool, report: &mut StepReport) {
        for stage in 0..3 {
            if !looked || !self.strikes.is_empty() {
                self.look(equations, stage, h);
            }
            for s in &mut self.strikes {
                if let Ok(k) = equations.points.binary_search_by_key(&s.id, |p| p.id) {
                    s.impulse += h * Radau::WEIGHTS[stage] * equations.points[k].now.force[0];
                }
            }
            let (share, powers) = (h * Radau::WEIGHTS[stage], self.powers[stage]);
            report.damping_loss += share * powers.damping;
            report.friction_loss += share * powers.friction;
            report.work += share * powers.work;
            let springs = equations.points.iter_mut().zip(&self.springs[stage]);
            springs.for_each(|(point, power)| point.worked += share * power);
        }
        let (nq, nv) = equations.sizes();
        std::mem::swap(&mut self.y, &mut self.stage);
        equations.model.system().scale_attitudes(&mut self.y[..nq]);
        debug_assert!(self.y.len() >= nq + nv);
        self.radau.accept(h);
        self.time += h;
        report.rounds += 1;
        for s in &mut self.strikes {
            let at = equations.points.binary_search_by_key(&s.id, |p| p.id);
            // the last stage is the end
            if s.stopped.is_none() && at.is_ok_and(|k| equations.points[k].now.velocity[0] >= 0.0) {
                s.stopped = Some(self.time);
                let (time, contact, kind) = (self.time, s.id, StruckKind::Impact);
                self.struck.push(Struck { time, contact, impulse: s.impulse, kind });
            }
        }
        let time = self.time;
        let goes_on = |s: &Strike| s.stopped.is_none_or(|t| time - s.since <= LASTS * (t - s.since));
        self.strikes.retain(goes_on);
    }

    /// Begins and ends impacts where contacts close and open.
    fn strike(&mut self, equations: &Equations<'_>, located: &[Located]) {
        let threshold = equations.model.scene().step.bounce_threshold;
        for l in located.iter().filter(|l| l.time == self.time) {
            let at = equations.points.binary_search_by_key(&l.contact, |p| p.id).ok();
            let leaves = at.map(|k| equations.points[k].now.velocity[0]);
            let (since, id) = (self.time, l.contact);
            if l.was == Status::Open && leaves.is_some_and(|v| -v > threshold) {
                self.strikes.push(Strike { id, since, impulse: 0.0, stopped: None });
            }
            let own = self.strikes.iter().position(|s| s.id == id).filter(|_| l.is == Status::Open);
            let Some(ended) = own.map(|k| self.strikes.swap_remove(k)) else { continue };
            let mut add = |kind: StruckKind| {
                self.struck.push(Struck { time: since, contact: id, impulse: ended.impulse, kind });
            };
            if ended.stopped.is_none() {
                add(StruckKind::Impact);
            }
            if leaves.is_none_or(|v| v > threshold) {
                add(StruckKind::Bounce);
            }
        }
    }

    /// Gives contacts whose margins are used up their next modes.
    fn change_modes(
        &mut self,
        equations: &mut Equations<'_>,
        located: &mut Vec<Located>,
        report: &mut StepReport,
    ) {
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        before.extend(equations.points.iter().map(|p| (*p, equations.status(p))));
        let new = equations.unknown > 0.0;
        for (point, used_up) in equations.points.iter_mut().zip(&self.used_up) {
            let now = |i: usize| used_up[i] && point.now.margins[i] <= TOGETHER;
            point.mode = match point.mode {
                _ if point.mode != Mode::Open && now(1) => Mode::Open,
                Mode::Open if now(1) => Mode::Closed { slips: false },
                Mode::Closed { .. } if now(0) => Mode::Parted,
                Mode::Parted if now(0) => Mode::Closed { slips: true },
                Mode::Closed { slips } if now(2) => Mode::Closed { slips: !slips },
                mode => mode,
            };
        }
        for (k, (was, _)) in before.iter_mut().enumerate() {
            if was.mode != Mode::Open && equations.points[k].mode == Mode::Open {
                was.now.overlap = self.overlaps.get(k).map_or(was.now.overlap, |x| x.max(was.now.overlap));
                report.release_loss += equations.elastic(was, &self.y);
                self.books.add(RowId::Contact(was.id), was.worked + equations.pressed(was) - was.kept);
                (equations.points[k].kept, equations.points[k].worked) = (0.0, 0.0);
            }
        }
        self.lay_out(equations, &before, new);
        // what has closed by a jump
        let was_open = |p: &Point| before.iter().all(|(b, _)| b.id != p.id || b.mode == Mode::Open);
        for k in 0..equations.points.len() {
            let p = equations.points[k];
            if p.mode == Mode::Open || !was_open(&p) {
                continue;
            }
            let gained = equations.elastic(&p, &self.y);
            report.recovery_work += gained;
            // what contacts of the pair that opened here have lost is not made
            let pair = |id: ContactId| (id.part_a, id.part_b);
            let gone = |b: &Point| {
                let now = equations.points.iter().find(|now| now.id == b.id);
                pair(b.id) == pair(p.id)
                    && b.mode != Mode::Open
                    && now.is_none_or(|now| now.mode == Mode::Open)
            };
            let released: f64 =
                before.iter().filter(|(b, _)| gone(b)).map(|(b, _)| equations.pressed(b)).sum();
            self.books.add(RowId::Contact(p.id), (gained - released).max(0.0));
            equations.points[k].kept = equations.pressed(&p);
        }
        for &(point, was) in before.iter().filter(|(_, was)| *was != Status::Open) {
            if equations.points.binary_search_by_key(&point.id, |p| p.id).is_err() {
                located.push(Located { time: self.time, contact: point.id, was, is: Status::Open });
            }
        }
        for point in equations.points.iter() {
            let was = before.iter().find(|(p, _)| p.id == point.id).map_or(Status::Open, |b| b.1);
            let is = equations.status(point);
            if was != is {
                located.push(Located { time: self.time, contact: point.id, was, is });
            }
        }
        self.before = before;
        self.radau.forget();
    }

    /// Gives the deformations of contacts that are not open their places, after modes have changed or new contacts have appeared.
    fn lay_out(&mut self, equations: &mut Equations<'_>, before: &[(Point, Status)], new: bool) {
        let (nq, nv) = equations.sizes();
        let tangents = equations.tangents();
        let mut old = std::mem::take(&mut self.stage);
        old.clone_from(&self.y);
        if new {
            let contacts = &equations.contacts.contacts;
            let known = equations.points.clone();
            equations.points.clear();
            equations.points.extend(contacts.iter().map(|c| {
                let kept = known.iter().find(|p| p.id == c.id).copied();
                kept.unwrap_or_else(|| Point::new(c.id, c.rule))
            }));
        }
        self.y.truncate(nq + nv);
        for k in 0..equations.points.len() {
            let point = equations.points[k];
            if new && point.mode == Mode::Open && point.now.overlap > 0.0 {
                equations.points[k].mode = Mode::Closed { slips: false };
            }
            let needs = equations.points[k].mode != Mode::Open && equations.has_deformation(point.rule);
            let from = before.iter().find(|(p, _)| p.id == point.id).and_then(|(p, _)| p.deformation);
            equations.points[k].deformation = needs.then_some(self.y.len());
            if needs {
                match from {
                    Some(at) => self.y.extend_from_slice(&old[at..at + tangents]),
                    None => self.y.extend(std::iter::repeat_n(0.0, tangents)),
                }
            }
        }
        self.stage = old;
        self.evaluate(equations);
        let opened = |p: &Point| before.iter().any(|(b, _)| b.id == p.id && b.mode == p.mode);
        // contacts that have just closed slip if they must
        equations.points.iter_mut().filter(|p| !opened(p)).for_each(Point::slip_if_it_must);
        self.evaluate(equations);
    }

    /// The state at the end, and what the contacts do there.
    fn finish(
        &mut self,
        equations: &mut Equations<'_>,
        state: &mut State,
        h: f64,
        elements: &mut Vec<ElementReport>,
        report: &mut StepReport,
    ) -> Result<(), Failed> {
        if !self.y.iter().all(|y| y.is_finite()) {
            return Err(Failed::NotFinite { time: state.time });
        }
        self.evaluate(equations);
        let (nq, nv) = equations.sizes();
        state.time = next_time(state.time, h);
        state.position.copy_from_slice(&self.y[..nq]);
        state.velocity.copy_from_slice(&self.y[nq..nq + nv]);
        state.memory.clear();
        elements.clear();
        let rows = equations.tangents() + 1;
        for point in equations.points.iter() {
            let Some(c) = equations.contacts.contacts.iter().find(|c| c.id == point.id) else { continue };
            let deformation = equations.deformation(point, &self.y);
            if point.mode != Mode::Open {
                let made = point.worked + equations.pressed(point) - point.kept;
                self.books.add(RowId::Contact(point.id), made);
            }
            let kept = if point.mode == Mode::Open { 0 } else { rows };
            state.memory.push(RowId::Contact(point.id), &point.now.force[..rows], &deformation[..kept]);
            let [n, _, _] = point.now.velocity;
            elements.push(ElementReport {
                id: point.id,
                element: 0,
                body_a: c.owners[0],
                body_b: c.owners[1],
                point: equations.contacts.elements[c.first].point,
                frame: c.frame,
                gap: equations.contacts.elements[c.first].gap,
                force: point.now.force,
                core: 0.0,
                moment: [0.0; 3],
                speed: [n, point.now.slip[0], point.now.slip[1]],
                turn: [0.0; 3],
                deformation,
                status: equations.status(point),
                impact: false,
            });
        }
        // the workspace shows the motion since the window's begin
        let (begin, y) = &self.window;
        equations.motion.kinematics.go_to(&y[..nq], &y[nq..nq + nv]);
        equations.motion.velocity.copy_from_slice(&y[nq..nq + nv]);
        (equations.motion.h, equations.motion.time) = (self.time - begin, *begin);
        report.parts = usize::from(!elements.is_empty());
        let error = self.worst * equations.model.scene().step.accuracy;
        report.residual = Residual { absolute: error, relative: error, fclib: error };
        report.trust = Trust::Unique;
        Ok(())
    }
}

/// The least margin of all contacts; overlaps of contacts that are not among the points count as negative ones.
fn least(equations: &Equations<'_>) -> f64 {
    let unknown = if equations.unknown > 0.0 { -equations.unknown } else { f64::INFINITY };
    equations.points.iter().flat_map(|p| p.now.margins).fold(unknown, f64::min)
}
