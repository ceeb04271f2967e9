//! A run in a few numbers.

use super::judge::Judge;
use super::motions::TwoMotions;
use super::{Balance, ENTRIES, Event, EventKind, Fault, Observer, View};
use crate::state::RowId;
use crate::step::{Status, StepReport, Trust};
use complementarity::residual::Residual;
use complementarity::solver::Choice;

/// How many of the first events are kept.
const KEPT: usize = 10;

/// What happened in a run so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Steps made.
    pub steps: usize,
    /// Worst relative residual of a step, and the time it ended, s.
    pub worst: (Residual, f64),
    /// Steps that were cut: the time they ended, s, and the number of parts.
    pub cut: Vec<(f64, usize)>,
    /// Steps with overlap that no motion was found to undo, and the first of them: the time it ended, s, and the rows.
    pub relaxed: usize,
    /// See `relaxed`.
    pub first_relaxed: Option<(f64, Vec<RowId>)>,
    /// Steps accepted at a residual above the tolerance, and the time the first of them ended, s.
    pub loose: usize,
    /// See `loose`.
    pub first_loose: f64,
    /// Time steps that took the place of located events (`scheme = "event"`), the time in them, s, and the time the step with the first of them ended, s.
    pub stepped: usize,
    /// See `stepped`.
    pub stepped_time: f64,
    /// See `stepped`.
    pub first_stepped: f64,
    /// Steps that left the rule of `explicit_share` for 0, in whole or in part ([`StepReport::left_midpoint`]), and the time the first of them ended, s.
    pub left_midpoint: usize,
    /// See `left_midpoint`.
    pub first_left_midpoint: f64,
    /// Who answered in how many steps; where a step has several contact problems, the one with the worst residual.
    pub solvers: Vec<(&'static str, usize)>,
    /// Iterations of those who answered, and of those who did not.
    pub iterations: usize,
    /// See `iterations`.
    pub wasted: usize,
    /// Number of events, kind by kind as in [`EventKind::ALL`].
    pub events: [usize; EventKind::ALL.len()],
    /// The first of them.
    pub first_events: Vec<Event>,
    /// The first events about which of several motions is followed.
    pub branches: Vec<Event>,
    /// Steps in which nothing was near.
    pub free: usize,
    /// Steps by what is known of them, in the order of [`Trust::ALL`].
    pub trust: [usize; Trust::ALL.len()],
    /// Steps whose forces are one of several, and not shown to be the limit of equal compliance.
    pub unchosen: usize,
    /// Steps whose forces are one of several and near the limit of equal compliance, but not exactly it.
    pub near: usize,
    /// The first impact without a collision.
    pub first_impact: Option<Event>,
    /// The first step whose motion is not unique: the time it ended, s, the rows between which it is not, and what they do in the
    /// branch that was taken.
    pub first_without_motion: Option<(f64, Vec<(RowId, Status)>)>,
    /// Steps in which contacts were kept at rest though another motion solves the step too.
    pub rested: TwoMotions,
    /// Steps in which contacts left rest though forces that no load makes would keep them there.
    pub left_rest: TwoMotions,
    /// Time in which contacts were compliant by `law = "auto"`, s, and that of all steps; both 0 without that law.
    pub compliant_time: f64,
    /// See `compliant_time`.
    pub auto_time: f64,
    /// The energy balance at the start, J.
    pub start: Balance,
    /// The energy balance at the last record, J.
    pub now: Balance,
    /// Largest change of an entry seen at a record, J.
    pub largest_change: f64,
    /// When the run began, s.
    pub(super) began: f64,
    /// What places made.
    pub(super) judge: Judge,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            steps: 0,
            worst: (Residual::ZERO, 0.0),
            cut: vec![],
            relaxed: 0,
            loose: 0,
            first_loose: 0.0,
            stepped: 0,
            stepped_time: 0.0,
            first_stepped: 0.0,
            left_midpoint: 0,
            first_left_midpoint: 0.0,
            first_relaxed: None,
            solvers: vec![],
            iterations: 0,
            wasted: 0,
            events: [0; EventKind::ALL.len()],
            free: 0,
            trust: [0; Trust::ALL.len()],
            unchosen: 0,
            near: 0,
            first_impact: None,
            first_without_motion: None,
            rested: TwoMotions::default(),
            left_rest: TwoMotions::default(),
            first_events: vec![],
            compliant_time: 0.0,
            auto_time: 0.0,
            branches: vec![],
            start: [0.0; ENTRIES.len()],
            now: [0.0; ENTRIES.len()],
            largest_change: 0.0,
            began: 0.0,
            judge: Judge::default(),
        }
    }
}

impl Observer for Summary {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.start = view.balance();
        self.now = self.start;
        self.began = view.state.time;
        self.judge.balance(&self.start, true);
        Ok(())
    }

    #[inline]
    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.steps += 1;
        self.trust[view.report.trust as usize] += 1;
        self.free += usize::from(view.report.parts == 0);
        if view.report.trust == Trust::MotionNotUnique && self.first_without_motion.is_none() {
            let of = |id: &RowId| {
                let mut own = view.elements().iter().filter(|e| RowId::Contact(e.id) == *id);
                let row =
                    || view.workspace().standing.iter().find(|s| view.model().standing()[s.row].id == *id);
                own.next().map(|e| e.status).or_else(|| row().map(|s| s.status)).unwrap_or(Status::Open)
            };
            let rows = view.workspace().other_motion.iter().map(|id| (*id, of(id))).collect();
            self.first_without_motion = Some((view.state.time, rows));
        }
        for (two, are) in
            [(&mut self.rested, view.report.rested), (&mut self.left_rest, view.report.left_rest)]
        {
            if are {
                two.add(view.state.time, &view.workspace().other_motion);
            }
        }
        if view.report.left_midpoint > 0 {
            if self.left_midpoint == 0 {
                self.first_left_midpoint = view.state.time;
            }
            self.left_midpoint += 1;
        }
        if view.report.parts > 0 {
            self.contacts(view.state.time, view.report);
            if view.report.relaxed > 0 {
                self.relaxed += 1;
                let rows = || (view.state.time, view.workspace().relaxed.clone());
                self.first_relaxed.get_or_insert_with(rows);
            }
        }
        view.events.iter().for_each(|e| self.event(e));
        self.judge.step(view.state.time, &view.workspace().books.made);
        if view.chooses_model() {
            self.compliant_time += view.report.compliant_time;
            self.auto_time += view.scene().step.h;
        }
        if view.is_record || view.report.parts > 1 {
            self.balance(view.balance());
        }
        Ok(())
    }

    fn finish(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.balance(view.balance());
        Ok(())
    }
}

impl Summary {
    /// What a step has besides where bodies are near each other.
    fn contacts(&mut self, time: f64, report: &StepReport) {
        if report.residual.relative > self.worst.0.relative {
            self.worst = (report.residual, time);
        }
        if report.stepped > 0 {
            if self.stepped == 0 {
                self.first_stepped = time;
            }
            self.stepped += report.stepped;
            self.stepped_time += report.stepped_time;
        }
        if report.loose > 0 {
            if self.loose == 0 {
                self.first_loose = time;
            }
            self.loose += 1;
        }
        self.iterations += report.iterations;
        self.unchosen += usize::from(!report.choice.is_made());
        self.near += usize::from(report.choice == Choice::Near);
        self.wasted += report.wasted;
        match self.solvers.iter_mut().find(|(name, _)| *name == report.solver) {
            Some((_, steps)) => *steps += 1,
            None => self.solvers.push((report.solver, 1)),
        }
        if report.parts > 1 {
            self.cut.push((time, report.parts));
        }
    }

    fn event(&mut self, event: &Event) {
        self.events[event.kind as usize] += 1;
        if event.kind == EventKind::ImpactWithoutCollision && self.first_impact.is_none() {
            self.first_impact = Some(*event);
        }
        if event.kind.is_branch() && self.branches.len() < KEPT {
            self.branches.push(*event);
        }
        if self.first_events.len() < KEPT {
            self.first_events.push(*event);
        }
    }

    fn balance(&mut self, balance: Balance) {
        self.now = balance;
        self.judge.balance(&balance, false);
        let changes = self.now.iter().zip(&self.start).map(|(now, start)| (now - start).abs());
        self.largest_change = changes.fold(self.largest_change, f64::max);
    }

    /// Number of events of a kind.
    pub fn count(&self, kind: EventKind) -> usize {
        self.events[kind as usize]
    }

    /// Energies and losses at the last record less the energies at the start and the work of applied forces, J: the error of the run. Negative
    /// where the time step damps, positive where energy was made ([`Self::energy_warnings`]).
    pub fn balance_error(&self) -> f64 {
        let sum = |b: &Balance| ENTRIES.iter().zip(b).map(|(entry, x)| entry.sign() * x).sum::<f64>();
        sum(&self.now) - sum(&self.start)
    }

    /// The same over the largest change; 0 where nothing changed.
    pub fn relative_balance_error(&self) -> f64 {
        if self.largest_change > 0.0 { self.balance_error() / self.largest_change } else { 0.0 }
    }
}
