//! `stiction view`: a scene or a recording in the browser.

use crate::args::{SceneArguments, View};
use crate::{InputError, print, read_scene, signals, tell};
use serde_json::json;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use stiction::model::Model;
use stiction_view::live::Live;
use stiction_view::serve::Watched;
use stiction_view::{Address, ServeError, Source, serve};

pub fn run(arguments: &View) -> Result<ExitCode, InputError> {
    let stop = Arc::new(AtomicBool::new(false));
    // before other threads start
    signals::listen(&stop);
    let Some(source) = source(arguments)? else { return Ok(ExitCode::from(2)) };
    let mut printed = Ok(());
    let served = serve(&source, arguments.port, &stop, |address| printed = announce(arguments, address));
    printed?;
    match served {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(ServeError::Port { .. }) if arguments.port.is_some() => {
            let why = served.map_or_else(|e| e.to_string(), |()| String::new());
            Err(InputError(format!("{why} (without --port a free one is taken)")))
        }
        Err(e) => Err(InputError(e.to_string())),
    }
}

/// `None` if the scene is wrong, and that has been printed.
fn source(arguments: &View) -> Result<Option<Source>, InputError> {
    if arguments.thing.is_dir() {
        if !arguments.set.is_empty() || arguments.duration.is_some() {
            return Err(InputError(
                "--set and --duration are for scenes: a recording is not run again".to_owned(),
            ));
        }
        let watched = Watched::open(&arguments.thing).map_err(|e| InputError::record(&e))?;
        return Ok(Some(Source::Recording(Box::new(watched))));
    }
    let given = SceneArguments { file: arguments.thing.clone(), set: arguments.set.clone() };
    let Some(mut scene) = read_scene(&given) else { return Ok(None) };
    scene.step.duration = arguments.duration.unwrap_or(scene.step.duration);
    if let Some(message) = scene.step.excess() {
        return Err(InputError(format!("--duration: {message}")));
    }
    let model = Model::new(&scene).map_err(|faults| InputError::model(&given.file, faults))?;
    Ok(Some(Source::Live(Live::start(&Arc::new(model), &scene.to_toml(), arguments.paused, arguments.speed))))
}

fn announce(arguments: &View, Address { page: address, once }: &Address) -> Result<(), InputError> {
    // command lines can be read by everybody on the machine
    if arguments.browser && !open(once) {
        // the address is printed all the same
        tell("warning: no browser was found; open the address by hand");
    }
    print(&match arguments.json {
        true => format!("{}\n", json!({ "address": address })),
        false => format!("{address}  (Ctrl-C ends)\n"),
    })
}

/// Asks the desktop to open an address.
fn open(address: &str) -> bool {
    let program = match () {
        () if cfg!(target_os = "macos") => "open",
        () if cfg!(windows) => "explorer",
        () => "xdg-open",
    };
    Command::new(program).arg(address).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}
