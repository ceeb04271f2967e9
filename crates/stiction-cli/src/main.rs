//! The program `stiction`. One file per command; it knows no mechanics. Start reading in `args.rs`.
//!
//! Exit codes: 0 the question was decided (solved, several solutions, or proved to have none), 1 no decision
//! was reached, 2 the input or the command line is wrong, 130 interrupted by Ctrl-C, 143 by SIGTERM. Errors are one line on standard error.

// the JSON of a run has many keys
#![recursion_limit = "256"]

mod accelerate;
mod analyze;
mod args;
mod check;
mod converge;
mod export;
mod fit;
mod numbers;
mod plot;
mod progress;
mod render;
mod report;
mod run;
mod shoot;
mod signals;
mod solve;
mod view;

use args::{Arguments, Command, SceneArguments};
use clap::Parser;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use stiction::model::InvalidModel;
use stiction::record::{RecordError, put};
use stiction::scene::{Fault, Scene, printable};

/// Wrong input, in one line.
struct InputError(String);

impl InputError {
    /// A recording's fault, and what to do next.
    fn record(e: &RecordError) -> Self {
        Self(match e {
            RecordError::Exists(_) => format!("{e} (--force replaces it, --out names another folder)"),
            RecordError::NoTable { .. } => format!("{e} (record.tables of the scene says which are kept)"),
            RecordError::InTheWay(_) => format!("{e} (move it away; --out names another folder)"),
            RecordError::Busy(_) | RecordError::Foreign(_) => format!("{e} (--out names another folder)"),
            _ => e.to_string(),
        })
    }

    /// A scene that cannot be compiled.
    fn model(file: &Path, faults: Vec<Fault>) -> Self {
        Self(format!("{}: {}", file.display(), InvalidModel::from(faults)))
    }
}

fn main() -> ExitCode {
    let outcome = match Arguments::try_parse() {
        Ok(arguments) => match arguments.command {
            Command::Run(arguments) => run::run(&arguments),
            Command::Plot(arguments) => plot::run(&arguments),
            Command::Export(arguments) => export::run(&arguments),
            Command::Solve(arguments) => solve::run(&arguments),
            Command::Accelerate(arguments) => accelerate::run(&arguments),
            Command::Analyze(arguments) => analyze::run(&arguments),
            Command::Check(arguments) => check::run(&arguments),
            Command::Shoot(arguments) => shoot::run(&arguments),
            Command::Converge(arguments) => converge::run(&arguments),
            Command::Fit(arguments) => fit::run(&arguments),
            Command::View(arguments) => view::run(&arguments),
            Command::Report(arguments) => report::run(&arguments),
            Command::Render(arguments) => render::run(&arguments),
        },
        Err(e) if e.use_stderr() => Err(InputError(usage(&e))),
        Err(help) => print(&help.to_string()).map(|()| ExitCode::SUCCESS),
    };
    outcome.unwrap_or_else(|InputError(line)| {
        tell(&format!("error: {}", line.replace('\n', "\\n")));
        ExitCode::from(2)
    })
}

/// clap's message, without the usage that follows it, in one line.
fn usage(e: &clap::Error) -> String {
    let text = e.to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{line} (try --help)")
}

/// The scene that is asked for; `None` if it is wrong, and every fault is printed then, one line each, as compilers do.
fn read_scene(arguments: &SceneArguments) -> Option<Scene> {
    Scene::read_with(&arguments.file, &arguments.set).map_err(|faults| tell(&faults.to_string())).ok()
}

/// Writes a file, whole or not at all, in the place of one that is there.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), InputError> {
    put(path, bytes, true).map_err(|e| InputError(format!("{}: {e}", path.display())))
}

/// To standard error.
fn tell(line: &str) {
    // nobody is left to tell if this fails
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// To standard output; a reader that went away is no error.
fn print(text: &str) -> Result<(), InputError> {
    let mut out = io::stdout().lock();
    match out.write_all(printable(text).as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(InputError(format!("standard output: {e}"))),
        _ => Ok(()),
    }
}
