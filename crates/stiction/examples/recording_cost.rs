//! What recording costs: scenes are run without and with a recording, in turn, and the times that a tenth of the runs stay below are
//! compared. They are as little disturbed as the least ones, and vary less.
//!
//! `cargo run --release -p stiction --example recording_cost [-- --rounds N] [--processes] [SCENE.toml ...]`
//!
//! A run is everything from the scene's text to the last step; with `--processes` a process of its own that does nothing else, from its
//! start to its end, as `stiction run` is one. The recording is Parquet with all its files, in the folder for temporary files, at the
//! scene's interval. The last column is the recorder's own account, rows and files, over the run without: it is the surer one where
//! other programs disturb the clock.
//!
//! All recordings stay until the end: ext4 looks at each file deleted in the last minutes before it makes a new one, so that after some
//! hundred rounds a folder would take three times as long as the first. For the same reason wait some minutes before measuring again.

use clap::Parser;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use stiction::model::{InvalidModel, Model};
use stiction::record::{Format, Recorder};
use stiction::run::{Ended, Observer, Options, Until};

#[derive(Parser)]
struct Arguments {
    /// Runs of each kind.
    #[arg(long, default_value_t = 200)]
    rounds: usize,
    /// No new round for a scene after this time, s.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Each run in a process of its own.
    #[arg(long)]
    processes: bool,
    /// One run, recorded in this folder unless it is "-": what such a process does.
    #[arg(long, hide = true)]
    once: Option<PathBuf>,
    /// By default all of `scenes/`.
    scenes: Vec<PathBuf>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { rounds, seconds, processes, once, scenes } = Arguments::parse();
    if let (Some(folder), [scene]) = (&once, &scenes[..]) {
        let told = run(&std::fs::read_to_string(scene)?, Some(&**folder).filter(|f| *f != Path::new("-")))?;
        println!("{} {}", told.recording, told.steps);
        return Ok(());
    }
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let scenes = if scenes.is_empty() { all(&home)? } else { scenes };
    let folder = std::env::temp_dir().join(format!("stiction-cost-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let mut recordings = (0..).map(|k: usize| folder.join(k.to_string()));
    println!("| scene | steps | without, ms | with, ms | cost | rows and files, ms | share |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for path in scenes {
        let text = std::fs::read_to_string(&path)?;
        let name = path.strip_prefix(&home).unwrap_or(&path).with_extension("");
        let (mut times, mut steps) = ([const { vec![] }; 3], 0);
        let (begin, mut round) = (Instant::now(), 0);
        // slow scenes once
        while round == 0 || (round < rounds && begin.elapsed().as_secs_f64() < seconds) {
            for (k, kept) in [None, recordings.next()].into_iter().enumerate() {
                let told =
                    if processes { spawn(&path, kept.as_deref())? } else { run(&text, kept.as_deref())? };
                times[k].push(told.seconds);
                if kept.is_some() {
                    times[2].push(told.recording);
                }
                steps = told.steps;
            }
            round += 1;
        }
        let [without, with, own] = times.map(|mut list: Vec<f64>| {
            list.sort_by(f64::total_cmp);
            1e3 * list[list.len() / 10]
        });
        let (cost, share) = (100.0 * (with / without - 1.0), 100.0 * own / without);
        let name = name.display();
        println!("| `{name}` | {steps} | {without:.2} | {with:.2} | {cost:.1} % | {own:.2} | {share:.1} % |");
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// What a run took: all of it, and by the recorder's account.
struct Told {
    seconds: f64,
    recording: f64,
    steps: usize,
}

fn run(text: &str, folder: Option<&Path>) -> Result<Told, Box<dyn Error>> {
    let begin = Instant::now();
    let model = Arc::new(Model::new(&stiction::from_toml("scene", text)?).map_err(InvalidModel::from)?);
    let mut state = model.initial();
    let create = |folder| Recorder::create(folder, &model, text, Format::Parquet, false);
    let mut recorder = folder.map(create).transpose()?;
    let mut observers: Vec<&mut dyn Observer> = vec![];
    observers.extend(recorder.as_mut().map(|r| r as &mut dyn Observer));
    let ended = stiction::run::run(&model, &mut state, &Options::default(), &mut observers);
    if let Ended::Failed(why) = ended.map_err(|e| e.to_string())? {
        return Err(why.into());
    }
    let steps = Until::Duration.steps(model.scene(), &model.initial());
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Told { seconds, recording: recorder.map_or(0.0, |r| r.spent().as_secs_f64()), steps })
}

/// The same in a process of its own.
fn spawn(scene: &Path, folder: Option<&Path>) -> Result<Told, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--once").arg(folder.unwrap_or(Path::new("-"))).arg(scene);
    let begin = Instant::now();
    let out = command.output()?;
    let seconds = begin.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&out.stdout);
    let (recording, steps) = said.trim().split_once(' ').ok_or("the run failed")?;
    Ok(Told { seconds, recording: recording.parse()?, steps: steps.parse()? })
}

/// Scenes of a folder and the folders in it.
fn all(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut list = vec![];
    for entry in folder.read_dir()? {
        let path = entry?.path();
        if path.is_dir() {
            list.extend(all(&path)?);
        } else if path.extension().is_some_and(|e| e == "toml") {
            list.push(path);
        }
    }
    list.sort();
    Ok(list)
}
