//! What surrounds a step: where it fails it is made in halves, and where these fail too the cause is found.

use super::{Failed, Moment, StepReport, Workspace, implicit, theta};
use crate::inputs::Inputs;
use crate::model::{Model, StandingRow};
use crate::scene::{Method, Scheme};
use crate::state::{State, next_time};
use complementarity::certificate::{Diagnosis, Settings, examine};
use complementarity::problem::FrictionProblem;
use complementarity::solver::Budget;

/// Rows of connected contacts up to which a failed step is examined.
const EXAMINED: usize = 600;

/// Halvings after which a part that is not solved to the scene's tolerance is accepted at [`super::solve::LOOSE`]; the report lists it.
const LOOSE_LEVEL: usize = 2;

/// Most names of prescribed motions that a failure lists.
const MOST_NAMES: usize = 3;

/// Halvings of a step at whose end turning bodies overlap; then the overlap is accepted, and undone later.
const CUTS: usize = 5;

/// Most halvings of a step, whatever the scene allows.
const MOST_RETRIES: usize = 50;

/// What is kept while a step is tried.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// The state in which a step that is cut began.
    start: State,
    /// The first contact problem of the step that was not solved.
    pub unsolved: Option<FrictionProblem>,
    pub keep_unsolved: bool,
}

/// One step of length `h`, in parts if need be. On failure the state is as it was.
pub(super) fn step(
    model: &Model,
    state: &mut State,
    inputs: &Inputs,
    h: f64,
    work: &mut Workspace,
    watch: &mut dyn FnMut(Moment<'_>),
) -> Result<StepReport, Failed> {
    let mut report = StepReport::default();
    let retries = model.scene().step.retries;
    // time left, in units of the smallest part 2^-level h; the start is kept only once a part has failed
    let (mut level, mut left, mut made) = (0, 1u64, 0);
    // halvings because of what was not solved
    let mut unsolved_levels = 0;
    let time = state.time;
    work.retry.unsolved = None;
    work.relaxed.clear();
    work.solver.begin_step();
    while left > 0 {
        let part = h / (1u64 << level) as f64;
        // two short steps are mostly easier than one that is hard; where they are not, they are pursued
        work.solver.try_harder = level > 0 || retries == 0;
        // the implicit scheme accepts no end that is not solved
        let implicit = model.scene().step.scheme == Scheme::Implicit;
        work.solver.single = implicit || unsolved_levels >= LOOSE_LEVEL || level >= retries;
        work.solver.loose = !implicit && work.solver.single;
        work.may_cut = level < CUTS.min(retries);
        work.attempts += 1;
        watch(Moment::Before(state));
        let made_part = match model.scene().step.scheme {
            Scheme::Implicit => implicit::step(model, state, inputs, part, work, &mut report),
            _ => theta::step(model, state, inputs, part, work, &mut report),
        };
        let mut why = match made_part {
            Ok(()) => {
                watch(Moment::After(work));
                (left, made) = (left - 1, made + 1);
                continue;
            }
            Err(why) => why,
        };
        let unsolved = matches!(why, Failed::Unsolved { .. });
        let again = (unsolved
            || matches!(
                why,
                Failed::Unsettled { .. }
                    | Failed::Open { .. }
                    | Failed::Passes { .. }
                    | Failed::Undetected(_)
            ))
            && level < retries.min(MOST_RETRIES)
            && work.solver.has_budget();
        if unsolved && (work.retry.keep_unsolved || !again) && work.retry.unsolved.is_none() {
            work.retry.unsolved = work.problem.to_friction();
        }
        if again {
            if level == 0 {
                work.retry.start.copy_from(state);
            }
            level += 1;
            unsolved_levels += usize::from(!matches!(why, Failed::Passes { .. }));
            left *= 2;
            continue;
        }
        if level > 0 {
            std::mem::swap(state, &mut work.retry.start);
        }
        if let Failed::Unsolved { cause, .. } = &mut why {
            *cause = diagnose(model, work);
        }
        return Err(why);
    }
    state.time = next_time(time, h);
    if level > 0 {
        report.parts = report.parts.max(made);
    }
    Ok(report)
}

/// What is wrong with the forces of the last attempt, in words.
fn diagnose(model: &Model, work: &Workspace) -> String {
    let Some(problem) = work.problem.to_friction() else { return String::new() };
    let known = examine(
        &problem,
        None,
        &Settings { most_rows: EXAMINED, stop: work.solver.stop.clone(), ..Settings::default() },
    );
    let found = Diagnosis::of_friction(
        &problem,
        Some(&work.forces.lambda),
        &known,
        &mut Budget { stop: work.solver.stop.clone(), ..Budget::default() },
    );
    let name = |k: usize| {
        if let Some(c) = work.contacts.contacts.iter().find(|c| c.elements().contains(&k)) {
            let [a, b] = c.owners.map(|o| model.scene().name_of(o));
            return format!("{a}/{b}");
        }
        let row = k.checked_sub(work.contacts.elements.len()).and_then(|k| work.problem.standing.get(k));
        row.map_or_else(String::new, |s| model.standing()[s.row].name(model.scene()))
    };
    let help = match found.impossible {
        Some(_) => "bodies between fixed parts must have room, or compliant contacts",
        None if model.standing().iter().any(StandingRow::is_rigid_drive) => {
            "drives that limits, loops, gears or contacts oppose need max_effort, or gains"
        }
        None if model.scene().step.solver != Method::Auto => "solver = \"auto\" may help",
        None => "a smaller step, more retries, a larger tolerance or compliant contacts may help",
    };
    let prescribed = prescribed(model);
    let mut lines = match prescribed.is_empty() {
        true => vec![],
        false => {
            vec![format!("a prescribed motion ({}) may meet what cannot give way", prescribed.join(", "))]
        }
    };
    lines.extend(found.lines(name));
    lines.push(help.to_owned());
    format!(": {}", lines.join("; "))
}

/// Names of what moves whatever resists it: drives without gains and largest effort, and world parts in motion.
fn prescribed(model: &Model) -> Vec<String> {
    let drives =
        model.standing().iter().filter(|row| row.is_rigid_drive()).map(|row| row.name(model.scene()));
    let parts = model.scene().world.iter().filter(|w| w.motion.is_some()).map(|w| w.name.clone());
    let mut names: Vec<String> = drives.chain(parts).take(MOST_NAMES + 1).collect();
    if names.len() > MOST_NAMES {
        names[MOST_NAMES] = "...".to_owned();
    }
    names
}
