//! `stiction run`: a scene stepped through its time, recorded and summed up.

mod report;

use crate::args::Run;
use crate::progress::Display;
use crate::{InputError, print};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use stiction::record::{RecordError, Recorder};
use stiction::scene::{Scene, SceneError};
use stiction::step::Stepper;

/// Time between words on progress.
const FRAME: Duration = Duration::from_millis(100);

/// Everything that is told about a run.
struct Outcome {
    file: String,
    stepper: Stepper,
    recorder: Recorder,
    /// Reached, s.
    time: f64,
    failure: Option<String>,
    /// Wall clock: all of the run, and recording alone.
    wall: Duration,
    recording: Duration,
}

pub fn run(arguments: &Run) -> Result<ExitCode, InputError> {
    let file = arguments.scene.display().to_string();
    let read = || -> Result<_, SceneError> {
        let text = std::fs::read_to_string(&arguments.scene)
            .map_err(|source| SceneError::Unreadable { file: file.clone(), source })?;
        Scene::from_toml(&file, &text).map(|scene| (text, scene))
    };
    let (text, scene) = match read() {
        Ok(found) => found,
        Err(faults) => {
            // one line a fault; nobody is left to tell if this fails
            let _ = writeln!(io::stderr(), "{faults}");
            return Ok(ExitCode::from(2));
        }
    };
    let folder = arguments.out.clone().unwrap_or_else(|| default_folder(&scene.name));
    let stepper = Stepper::new(scene).map_err(|e| InputError(format!("{file}: {e}")))?;
    let refused = |e: RecordError| {
        InputError(match e {
            RecordError::Exists(_) => format!("{e} (--force replaces it)"),
            RecordError::Foreign(_) => format!("{e} (--out names another folder)"),
            RecordError::Io { .. } => e.to_string(),
        })
    };
    let recorder = Recorder::create(&folder, stepper.scene(), &text, arguments.force).map_err(refused)?;
    let display = Display::new(!arguments.json && !arguments.quiet);
    let outcome = step(file, stepper, recorder, display).map_err(refused)?;
    print(&match (arguments.json, arguments.quiet) {
        (true, _) => report::json(&outcome),
        (false, true) => report::outcome_line(&outcome),
        (false, false) => report::text(&outcome),
    })?;
    Ok(if outcome.failure.is_none() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn step(
    file: String,
    mut stepper: Stepper,
    mut recorder: Recorder,
    mut display: Display,
) -> Result<Outcome, RecordError> {
    let steps = stepper.scene().step.count();
    let mut state = stepper.initial();
    let mut failure = None;
    let begin = Instant::now();
    recorder.start(&mut stepper, &state)?;
    let (mut now, mut shown) = (Instant::now(), begin);
    let mut recording = now - begin;
    for n in 0..steps {
        let made = stepper.step(&mut state);
        let solved = Instant::now();
        match made {
            Ok(report) => recorder.step(&mut stepper, &state, &report)?,
            Err(why) => {
                recorder.fail(&mut stepper, &state, &why)?;
                failure = Some(why.to_string());
                break;
            }
        }
        now = Instant::now();
        recording += now - solved;
        if now - shown > FRAME {
            shown = now;
            display.show(format!("t = {:.4} s", state.time), Some(n as f64 / steps as f64));
        }
    }
    if failure.is_none() {
        recorder.finish(&mut stepper, &state)?;
        recording += now.elapsed();
    }
    let wall = begin.elapsed();
    display.finish();
    Ok(Outcome { file, stepper, recorder, time: state.time, failure, wall, recording })
}

/// In the working folder, whatever the scene is called.
fn default_folder(name: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '-' };
    PathBuf::from(format!("{}.recording", name.chars().map(plain).collect::<String>()))
}
