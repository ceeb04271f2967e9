//! `stiction run`: a scene stepped through its time, recorded and summed up.

mod hardest;
mod report;
mod warn;
mod words;

use crate::args::Run;
use crate::check::{overlap_lines, warning_lines};
use crate::progress::Display;
use crate::{InputError, print, read_scene, signals};
use complementarity::certificate::{self, Settings};
use hardest::{Hardest, Kept};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stiction::model::Model;
use stiction::record::{Format, RecordError, Recorder, read_state};
use stiction::run::{Ended, Fault, Observer, Options, Progress, Summary, View, run as drive};
use stiction::scene::Scheme;
use stiction::step::Failed;
use warn::Warnings;

/// Rows of elements up to which it is asked whether forces are unique: that takes their third power.
const MOST_ROWS: usize = 450;

/// Whether the forces of the last step are the only ones with its motion.
#[derive(Default)]
enum Forces {
    /// Nothing touches, no step was made, or the last one failed.
    #[default]
    None,
    Known(certificate::Forces, usize),
    /// Why that is not known.
    Unknown(String),
}

/// Asks at the end of a run whether forces are unique, and how long that took.
#[derive(Default)]
struct Uniqueness {
    forces: Forces,
    failed: bool,
    took: Duration,
}

/// Everything that is reported about a run.
struct Outcome {
    file: String,
    model: Arc<Model>,
    summary: Summary,
    /// Warnings of the scene's files and values.
    warnings: Vec<String>,
    /// Where the rigid problem has no solution, several, or one that is not stable.
    unstable: Vec<String>,
    /// How steps do not fit the duration, if they do not.
    misfit: Option<String>,
    /// Overlaps at the start, in words.
    overlaps: Vec<String>,
    /// Steps requested.
    asked: usize,
    /// Reached, s.
    time: f64,
    ended: Ended,
    forces: Forces,
    /// Contact problems that were written.
    problems: Vec<Kept>,
    recording: PathBuf,
    /// Wall clock: all of the run, and recording alone.
    wall: Duration,
    spent: Duration,
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
    let model = Arc::new(model);
    let refused = |e: RecordError| InputError::record(&e);
    let (mut options, end) = (Options::default(), model.scene().step.duration);
    let mut state = match &arguments.resume {
        None => model.initial(),
        Some(saved) => read_state(saved, &model).map_err(refused)?,
    };
    let asked = options.until.steps(model.scene(), &state);
    if let (Some(saved), 0) = (&arguments.resume, asked) {
        let (saved, reached) = (saved.display(), state.time);
        return Err(InputError(format!(
            "{saved}: at t = {reached} s, and the run ends at {end} s (--duration sets a later end)"
        )));
    }
    // a run that goes on may have begun with other steps
    let misfit = model.scene().step.misfit().filter(|_| arguments.resume.is_none());
    let (overlaps, noted) = (overlap_lines(&model, &state), warning_lines(&scene, &model, &state));
    let format = if arguments.csv { Format::Csv } else { Format::Parquet };
    let mut recorder =
        Recorder::create(&folder, &model, &scene.to_toml(), format, arguments.force).map_err(refused)?;
    let made = recorder.spent();
    let (mut summary, mut uniqueness) = (Summary::default(), Uniqueness::default());
    let mut hardest = Hardest::new(arguments.dump_problems.unwrap_or(0));
    options.keep_unsolved = arguments.dump_problems.is_some();
    let signals = signals::listen(&options.stop);
    let mut display = Display::new(!arguments.json && !arguments.quiet);
    let mut warnings = Warnings::new(!arguments.json && !arguments.quiet);
    let mut progress = Progress::new(|view| {
        display.show(format!("t = {:.4} s", view.state.time), Some(view.made as f64 / view.asked as f64));
    });
    let mut observers: Vec<&mut dyn Observer> =
        vec![&mut recorder, &mut summary, &mut progress, &mut warnings];
    if options.keep_unsolved {
        observers.push(&mut hardest);
    }
    observers.push(&mut uniqueness);
    let begin = Instant::now();
    let ended = drive(&model, &mut state, &options, &mut observers).map_err(|e| InputError(e.to_string()))?;
    let wall = made + begin.elapsed() - uniqueness.took;
    display.finish();
    let (time, spent, recording) = (state.time, recorder.spent(), folder);
    let problems = hardest.write(&recording, model.scene()).map_err(InputError)?;
    let outcome = Outcome {
        file,
        model,
        summary,
        warnings: noted,
        unstable: warnings.found,
        misfit,
        overlaps,
        asked,
        time,
        ended,
        forces: uniqueness.forces,
        problems,
        recording,
        wall,
        spent,
    };
    print(&match (arguments.json, arguments.quiet) {
        (true, _) => report::json(&outcome),
        (false, true) => format!("{}\n", words::outcome(&outcome)),
        (false, false) => words::text(&outcome, arguments.verbose),
    })?;
    Ok(match outcome.ended {
        Ended::Finished => ExitCode::SUCCESS,
        Ended::Failed(_) => ExitCode::from(1),
        Ended::Interrupted => ExitCode::from(signals.code()),
    })
}

impl Observer for Uniqueness {
    fn failed(&mut self, _: &mut View<'_>, _: &Failed) -> Result<(), Fault> {
        self.failed = true;
        Ok(())
    }

    fn finish(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        if self.failed {
            return Ok(());
        }
        let begin = Instant::now();
        let elements = view.elements().len();
        let most = MOST_ROWS / view.model().contacts().rows().max(3);
        let work = view.workspace();
        self.forces = match () {
            // without a contact problem of the step, the line on trust says it
            () if elements == 0 || view.scene().step.scheme != Scheme::Theta => Forces::None,
            () if view.report.compliant_time > 0.0 => Forces::None,
            () if work.forces.velocity.is_empty() => {
                Forces::Unknown("the run was interrupted within a step".to_owned())
            }
            () if elements > most => Forces::Unknown(format!("{elements} elements, asked up to {most}")),
            () => match work.problem.certificate(&work.forces.lambda, &Settings::default()) {
                Some(certificate::Certificate { forces: Some(found), .. }) => Forces::Known(found, elements),
                Some(unknown) => Forces::Unknown(unknown.reason.unwrap_or_default()),
                None => Forces::Unknown("numbers are not finite".to_owned()),
            },
        };
        self.took = begin.elapsed();
        Ok(())
    }
}

/// In the working folder, whatever the scene is called.
fn default_folder(name: &str) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '-' };
    PathBuf::from(format!("{}.recording", name.chars().map(plain).collect::<String>()))
}
