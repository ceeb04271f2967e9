//! `stiction analyze`: which rigid solutions there are, which are stable, and which model to prefer, at an instant or along a run.

mod figure;
mod report;

use crate::args::Analyze;
use crate::{InputError, print, signals, tell};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stiction::analysis::stability::{Preferred, Question};
use stiction::contact::StatedLayer;
use stiction::model::Model;
use stiction::record::Recording;
use stiction::run::timeline::Timeline;
use stiction::run::{Ended, Options, Until, run as drive};
use stiction::scene::{Scene, Table};

/// A slip that no finite forces allow, in the table of events.
const JAM: &str = "impact-without-collision";

/// Everything that is reported.
struct Found {
    model: Arc<Model>,
    timeline: Timeline,
    layer: StatedLayer,
    /// Whether it is about one instant.
    instant: bool,
    ended: Ended,
    warnings: Vec<String>,
}

pub fn run(arguments: &Analyze) -> Result<ExitCode, InputError> {
    let stop = Arc::new(AtomicBool::new(false));
    let signals = signals::listen(&stop);
    let layer = StatedLayer {
        eps: arguments.eps.unwrap_or(StatedLayer::default().eps),
        damping_ratio: arguments.damping_ratio.unwrap_or(StatedLayer::default().damping_ratio),
    };
    let mut question = Question { layer, ..Question::default() };
    question.max_nodes = arguments.limit.unwrap_or(question.max_nodes);
    question.budget.stop = Some(stop.clone());
    let thing = &arguments.thing;
    let found = match thing.is_dir() {
        true => of_recording(arguments, question)?,
        false => match of_scene(arguments, question, &stop)? {
            Some(found) => found,
            None => return Ok(ExitCode::from(2)),
        },
    };
    if found.instant
        && let Some(Err(why)) = found.timeline.moments.first().map(|m| &m.found)
    {
        return Err(InputError(format!("{}: {why}", thing.display())));
    }
    if let Some(file) = &arguments.figure {
        figure::write(&found, file)?;
    }
    print(&if arguments.json { report::json(&found) } else { report::text(&found) })?;
    Ok(match found.ended {
        Ended::Interrupted => ExitCode::from(signals.code()),
        _ if stop.load(Ordering::Relaxed) => ExitCode::from(signals.code()),
        Ended::Failed(_) => ExitCode::from(1),
        Ended::Finished if found.is_decided() => ExitCode::SUCCESS,
        Ended::Finished => ExitCode::from(1),
    })
}

impl Found {
    fn is_decided(&self) -> bool {
        let found = self.timeline.moments.iter().filter_map(|m| m.found.as_ref().ok());
        found.flat_map(|a| &a.clusters).all(|c| c.preferred != Preferred::Undecided)
    }
}

fn of_recording(arguments: &Analyze, question: Question) -> Result<Found, InputError> {
    if !arguments.set.is_empty() || arguments.duration.is_some() {
        return Err(InputError("--set and --duration change scenes, and this is a recording".to_owned()));
    }
    let refused = |e| InputError::record(&e);
    let recording = Recording::open(&arguments.thing).map_err(refused)?;
    let model = Arc::new(recording.model().map_err(refused)?);
    let states = match arguments.at {
        Some(time) => vec![recording.state_near(&model, time).map_err(refused)?],
        None => recording.states(&model, arguments.samples).map_err(refused)?,
    };
    let layer = question.layer;
    let mut timeline = Timeline::new(question, [0.0, 1.0], 2);
    states.iter().for_each(|state| timeline.look(&model, state, state.time > 0.0));
    if arguments.at.is_none() && recording.tables().contains(&Table::Events) {
        let rows = recording.read(Table::Events).map_err(refused)?;
        let events = rows.words("event").zip(rows.words("contact")).zip(rows.numbers("time"));
        for ((_, contact), time) in events.filter(|((event, _), _)| *event == JAM) {
            // a/b#feature, with the part after a dot where a body has several
            let pair = contact.split('#').next().unwrap_or_default();
            let names: Vec<&str> =
                pair.split('/').map(|part| part.split('.').next().unwrap_or(part)).collect();
            timeline.jams.push((*time, names.join(", ")));
        }
    }
    let (instant, ended) = (arguments.at.is_some(), Ended::Finished);
    Ok(Found { model, timeline, layer, instant, ended, warnings: vec![] })
}

/// `None` if the scene is wrong, and its faults were printed.
fn of_scene(
    arguments: &Analyze,
    question: Question,
    stop: &Arc<AtomicBool>,
) -> Result<Option<Found>, InputError> {
    let thing = &arguments.thing;
    let mut scene = match Scene::read_with(thing, &arguments.set) {
        Ok(scene) => scene,
        Err(faults) => {
            tell(&faults.to_string());
            return Ok(None);
        }
    };
    scene.step.duration = arguments.duration.unwrap_or(scene.step.duration);
    if let Some(message) = scene.step.excess() {
        return Err(InputError(format!("--duration: {message}")));
    }
    let model = Arc::new(Model::new(&scene).map_err(|faults| InputError::model(thing, faults))?);
    let layer = question.layer;
    let mut options = Options { stop: stop.clone(), unexamined: true, ..Options::default() };
    let mut state = model.initial();
    let mut timeline = Timeline::new(question, [0.0, scene.step.duration], arguments.samples);
    let ended = match arguments.at {
        None => drive(&model, &mut state, &options, &mut [&mut timeline]),
        Some(time) if time < 0.0 => return Err(InputError(format!("--at {time}: expected 0 or more"))),
        Some(time) => {
            options.until = Until::Time(time);
            let ended = match time > 0.0 {
                true => drive(&model, &mut state, &options, &mut []),
                false => Ok(Ended::Finished),
            };
            on_the_way(thing, &ended)?;
            timeline.look(&model, &state, time > 0.0);
            ended
        }
    };
    let ended = ended.map_err(|e| InputError(e.to_string()))?;
    let instant = arguments.at.is_some();
    Ok(Some(Found { model, timeline, layer, instant, ended, warnings: scene.warnings }))
}

fn on_the_way(thing: &Path, ended: &Result<Ended, stiction::run::Fault>) -> Result<(), InputError> {
    match ended {
        Ok(Ended::Interrupted) => Err(InputError("interrupted on the way to --at".to_owned())),
        Ok(Ended::Failed(why)) => Err(InputError(format!("{}: on the way to --at: {why}", thing.display()))),
        _ => Ok(()),
    }
}
