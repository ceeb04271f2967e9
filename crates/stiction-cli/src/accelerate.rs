//! `stiction accelerate`: what accelerates how at an instant, and whether that is the only possibility.

mod picture;
mod report;

use crate::args::Accelerate;
use crate::{InputError, print, signals, tell};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use stiction::analysis::accelerate::{Answer, Given, Question, accelerate};
use stiction::inputs::Inputs;
use stiction::model::resolved::Drive;
use stiction::model::{InvalidModel, Model};
use stiction::record::Recording;
use stiction::run::{Ended, Options, Until, run as drive};
use stiction::scene::{Scene, nearest};
use stiction::space::length;
use stiction::state::State;

/// Largest gap of a closed contact after steps of time, m.
const CLOSED_AFTER_STEPS: f64 = 1e-6;

/// Everything that is reported.
struct Found {
    model: Arc<Model>,
    state: State,
    answer: Answer,
    /// Degrees of freedom whose acceleration is given, in the order of the efforts.
    given: Vec<usize>,
    /// Efforts of motors and inputs, over the degrees of freedom.
    efforts: Vec<f64>,
    warnings: Vec<String>,
}

pub fn run(arguments: &Accelerate) -> Result<ExitCode, InputError> {
    let stop = Arc::new(AtomicBool::new(false));
    let signals = signals::listen(&stop);
    let Some((model, state, stepped, warnings)) = read(arguments, &stop)? else {
        return Ok(ExitCode::from(2));
    };
    let mut inputs = Inputs { efforts: vec![0.0; model.system().velocity_size()], ..Inputs::default() };
    for (dof, value) in joints(&model, "--effort", &arguments.effort)? {
        inputs.efforts[dof] += value;
    }
    let mut efforts = inputs.efforts.clone();
    for motor in &model.scene().motors {
        if let Drive::Effort(course) = &motor.drive {
            efforts[model.system().dofs(motor.body).start + motor.dof] += course.at(state.time);
        }
    }
    let weight = length(model.scene().gravity) * model.scene().step.h;
    let given = Given {
        inputs,
        accelerations: joints(&model, "--joint", &arguments.joint)?,
        gap: arguments.gap.unwrap_or(if stepped { CLOSED_AFTER_STEPS } else { Given::default().gap }),
        velocity: arguments.rest.unwrap_or(if stepped { weight } else { 0.0 }),
        rigid: arguments.rigid,
        ..Given::default()
    };
    let mut question = Question { given, all: arguments.all, ..Question::default() };
    if arguments.quasistatic {
        question.quasistatic = Some(joints(&model, "--stiffness", &arguments.stiffness)?);
    }
    question.max_nodes = arguments.limit.unwrap_or(question.max_nodes);
    question.budget.stop = Some(stop.clone());
    let thing = arguments.thing.display();
    let answer = accelerate(&model, &state, &question).map_err(|e| InputError(format!("{thing}: {e}")))?;
    let given = question.given.accelerations.iter().map(|(dof, _)| *dof).collect();
    let found = Found { model, state, answer, given, efforts, warnings };
    if let Some(file) = &arguments.picture {
        picture::write(&found, file, arguments.view)?;
    }
    print(&if arguments.json { report::json(&found) } else { report::text(&found) })?;
    Ok(match found.answer.status().is_decided() {
        true => ExitCode::SUCCESS,
        false if stop.load(std::sync::atomic::Ordering::Relaxed) => ExitCode::from(signals.code()),
        false => ExitCode::from(1),
    })
}

/// Model and state; whether steps of time led to it; warnings. `None` if the scene is wrong, and its faults were printed.
#[allow(clippy::type_complexity, reason = "read in one place")]
fn read(
    arguments: &Accelerate,
    stop: &Arc<AtomicBool>,
) -> Result<Option<(Arc<Model>, State, bool, Vec<String>)>, InputError> {
    let thing = &arguments.thing;
    if thing.is_dir() {
        if !arguments.set.is_empty() {
            return Err(InputError("--set changes scenes, and this is a recording".to_owned()));
        }
        let recording = Recording::open(thing).map_err(|e| InputError::record(&e))?;
        let model = recording.model().map_err(|e| InputError::record(&e))?;
        let state = match arguments.at {
            None => recording.state(&model),
            Some(time) => recording.state_near(&model, time),
        };
        let state = state.map_err(|e| InputError::record(&e))?;
        return Ok(Some((Arc::new(model), state, true, vec![])));
    }
    let scene = match Scene::read_with(thing, &arguments.set) {
        Ok(scene) => scene,
        Err(faults) => {
            tell(&faults.to_string());
            return Ok(None);
        }
    };
    let model = Arc::new(Model::new(&scene).map_err(|faults| InputError::model(thing, faults))?);
    let mut state = model.initial();
    let time = arguments.at.unwrap_or(0.0);
    if time < 0.0 {
        return Err(InputError(format!("--at {time}: expected 0 or more")));
    }
    if time > 0.0 {
        let options =
            Options { until: Until::Time(time), stop: stop.clone(), unexamined: true, ..Options::default() };
        let ended = drive(&model, &mut state, &options, &mut []).map_err(|e| InputError(e.to_string()))?;
        match ended {
            Ended::Finished => {}
            Ended::Interrupted => return Err(InputError("interrupted on the way to --at".to_owned())),
            Ended::Failed(why) => {
                let words = InvalidModel(why.to_string());
                return Err(InputError(format!("{}: on the way to --at: {words}", thing.display())));
            }
        }
    }
    Ok(Some((model, state, time > 0.0, scene.warnings)))
}

/// Degrees of freedom by their bodies (`arm`, or `arm:1`), with values.
fn joints(model: &Model, option: &str, list: &[(String, String)]) -> Result<Vec<(usize, f64)>, InputError> {
    let bodies = &model.scene().bodies;
    let names: Vec<&str> = bodies.iter().map(|b| b.name.as_str()).collect();
    let find = |name: &str| names.iter().position(|n| *n == name);
    let one = |(name, value): &(String, String)| {
        let wrong = |why: String| InputError(format!("{option} {name}={value}: {why}"));
        let (body, k) = match (find(name), name.rsplit_once(':')) {
            (Some(body), _) => (body, 0),
            (None, Some((before, k))) if find(before).is_some() && k.parse::<usize>().is_ok() => {
                (find(before).unwrap_or(0), k.parse().unwrap_or(0))
            }
            _ => {
                let near = nearest(name, &names).map_or(String::new(), |n| format!(", did you mean '{n}'?"));
                return Err(wrong(format!("no body '{name}'{near}")));
            }
        };
        let dofs = model.system().dofs(body);
        if k >= dofs.len() {
            return Err(wrong(format!("its joint has {} degrees of freedom", dofs.len())));
        }
        let number: f64 = value
            .parse()
            .ok()
            .filter(|x: &f64| x.is_finite())
            .ok_or_else(|| wrong("expected a number".to_owned()))?;
        Ok((dofs.start + k, number))
    };
    list.iter().map(one).collect()
}
