//! `stiction run`: a scene stepped through its time, recorded and summed up.

mod hardest;
mod report;

use crate::args::Run;
use crate::progress::Display;
use crate::{InputError, print, read_scene};
use hardest::{Hardest, Kept};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stiction::analysis::determinacy::{Determinacy, determinacy};
use stiction::model::Model;
use stiction::record::{Format, RecordError, Recorder, read_state};
use stiction::state::State;
use stiction::step::Stepper;

/// Time between words on progress.
const FRAME: Duration = Duration::from_millis(100);

/// Most steps without a look at the clock.
const UNSEEN: usize = 64;

/// Exit code of a program that Ctrl-C ended, as shells have it.
const INTERRUPTED: u8 = 130;

/// Rows of elements up to which it is asked whether forces are unique: that takes their third power.
const MOST_ROWS: usize = 450;

/// Whether the forces of the last step are the only ones with its motion.
enum Forces {
    /// Nothing touches, or no step was made.
    None,
    Known(Determinacy, usize),
    /// Why that was not asked.
    Unknown(String),
}

/// How a run ended.
enum End {
    Finished,
    Interrupted,
    Failed(String),
}

/// Everything that is told about a run.
struct Outcome {
    file: String,
    stepper: Stepper,
    recorder: Recorder,
    /// Steps asked for.
    asked: usize,
    /// Reached, s.
    time: f64,
    end: End,
    forces: Forces,
    /// Contact problems that were written.
    problems: Vec<Kept>,
    /// Wall clock: all of the run, and recording alone.
    wall: Duration,
    recording: Duration,
}

pub fn run(arguments: &Run) -> Result<ExitCode, InputError> {
    let file = arguments.scene.file.display().to_string();
    let Some(mut scene) = read_scene(&arguments.scene) else { return Ok(ExitCode::from(2)) };
    scene.step.duration = arguments.duration.unwrap_or(scene.step.duration);
    if let Some(message) = scene.step.excess() {
        return Err(InputError(format!("--duration: {message}")));
    }
    let folder = arguments.out.clone().unwrap_or_else(|| default_folder(&scene.name));
    let model = Model::new(&scene).map_err(|faults| InputError::model(&arguments.scene.file, faults))?;
    if arguments.dump_problems.is_some() && model.contacts().rows() > 3 {
        return Err(InputError(format!(
            "--dump-problems: contacts of {file} have torsion or rolling friction, and FCLIB's files have no rows for moments"
        )));
    }
    let mut stepper = Stepper::of(Arc::new(model));
    let refused = |e: RecordError| InputError::record(&e);
    let (state, steps) = match &arguments.resume {
        None => (stepper.initial(), stepper.scene().step.count()),
        Some(saved) => {
            let state = read_state(saved, stepper.model()).map_err(refused)?;
            let mut rest = stepper.scene().step.clone();
            rest.duration -= state.time;
            if rest.duration < 0.5 * rest.h {
                let (reached, end) = (state.time, stepper.scene().step.duration);
                let saved = saved.display();
                return Err(InputError(format!(
                    "{saved}: at t = {reached} s, and the run ends at {end} s (--duration sets a later end)"
                )));
            }
            (state, rest.count())
        }
    };
    let format = if arguments.csv { Format::Csv } else { Format::Parquet };
    let recorder = Recorder::create(&folder, stepper.model(), &scene.to_toml(), format, arguments.force)
        .map_err(refused)?;
    let display = Display::new(!arguments.json && !arguments.quiet);
    let mut hardest = Hardest::new(arguments.dump_problems.unwrap_or(0));
    stepper.set_keep_unsolved(arguments.dump_problems.is_some());
    let mut outcome = step(file, stepper, recorder, state, steps, &mut hardest, display).map_err(refused)?;
    outcome.problems = hardest.write(outcome.recorder.folder(), &outcome.stepper).map_err(InputError)?;
    print(&match (arguments.json, arguments.quiet) {
        (true, _) => report::json(&outcome),
        (false, true) => report::outcome_line(&outcome),
        (false, false) => report::text(&outcome),
    })?;
    Ok(match outcome.end {
        End::Finished => ExitCode::SUCCESS,
        End::Failed(_) => ExitCode::from(1),
        End::Interrupted => ExitCode::from(INTERRUPTED),
    })
}

fn step(
    file: String,
    mut stepper: Stepper,
    mut recorder: Recorder,
    mut state: State,
    asked: usize,
    hardest: &mut Hardest,
    mut display: Display,
) -> Result<Outcome, RecordError> {
    let interrupted = listen();
    let mut end = End::Finished;
    // where the last step began, and its parts
    let mut last = None;
    let (made, begin) = (recorder.spent(), Instant::now());
    recorder.start(&mut stepper, &state)?;
    // the clock is asked at step `look`, more seldom where steps are fast
    let (mut seen, mut shown, mut look, mut stride) = (begin, begin, 0, 1);
    for n in 0..asked {
        let stop = n + 1 < asked && interrupted.load(Ordering::Relaxed);
        let before = (stop || n + 1 == asked).then(|| state.clone());
        let made = stepper.step(&mut state);
        hardest.hear(&stepper, state.time, made.as_ref().ok());
        match made {
            Ok(report) => {
                recorder.step(&mut stepper, &state, &report)?;
                last = before.map(|before| (before, report.parts));
            }
            Err(why) => {
                recorder.fail(&mut stepper, &state, &why)?;
                end = End::Failed(why.to_string());
                break;
            }
        }
        if n >= look {
            let now = Instant::now();
            stride = if now - seen < FRAME / 10 { UNSEEN.min(2 * stride) } else { 1 };
            (seen, look) = (now, n + stride);
            if now - shown > FRAME {
                shown = now;
                display.show(format!("t = {:.4} s", state.time), Some(n as f64 / asked as f64));
            }
        }
        if stop {
            end = End::Interrupted;
            break;
        }
    }
    if !matches!(end, End::Failed(_)) {
        recorder.finish(&mut stepper, &state)?;
    }
    let (wall, recording) = (made + begin.elapsed(), recorder.spent());
    display.finish();
    let forces = last.map_or(Forces::None, |(before, parts)| unique(&mut stepper, &before, parts));
    let (time, problems) = (state.time, vec![]);
    Ok(Outcome { file, stepper, recorder, asked, time, end, forces, problems, wall, recording })
}

/// Asks about the last step, which began at `before` and was made in so many parts.
fn unique(stepper: &mut Stepper, before: &State, parts: usize) -> Forces {
    let elements = stepper.elements().len();
    let most = MOST_ROWS / stepper.model().contacts().rows().max(3);
    match () {
        () if elements == 0 => Forces::None,
        () if elements > most => Forces::Unknown(format!("{elements} elements, asked up to {most}")),
        () if parts > 1 => Forces::Unknown("the last step was cut".to_owned()),
        () => match determinacy(stepper, before) {
            Some(found) => Forces::Known(found, elements),
            None => Forces::Unknown("numbers are not finite".to_owned()),
        },
    }
}

/// True once Ctrl-C was pressed; pressed again, it ends the program at once.
fn listen() -> Arc<AtomicBool> {
    let pressed = Arc::new(AtomicBool::new(false));
    let heard = pressed.clone();
    // without a handler Ctrl-C ends the program, and the recording stays readable all the same
    let _ = ctrlc::set_handler(move || {
        if heard.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    });
    pressed
}

/// In the working folder, whatever the scene is called.
fn default_folder(name: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '-' };
    PathBuf::from(format!("{}.recording", name.chars().map(plain).collect::<String>()))
}
