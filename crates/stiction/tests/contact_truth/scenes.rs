//! Scene files, step by step against the true distances.

use crate::FLUSH;
use crate::truth::{Truth, Wrong};
use std::time::Instant;
use stiction::scene::{GapLevel, Scene, Scheme};
use stiction::stepper::Stepper;

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let mut list: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .filter_map(|e| e.ok().map(|e| e.path()))
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    list.sort();
    list
}

fn worst(list: &[Wrong], key: impl Fn(&Wrong) -> f64) -> Option<&Wrong> {
    list.iter().max_by(|a, b| key(a).total_cmp(&key(b)))
}

/// Deepest overlap with which a step of the gallery may end, m: bodies that turn (dominoes) meet a little beside the points of their rows.
const DEEP: f64 = 1e-4;

/// Steps of the gallery: no contact is missed, and none pushes farther from a body than this one moves in the step (as a body leaves an edge, the part that it leaves
/// pushes once more). `SCENES` names other folders or files, `SCHEME` and `GAP` set their scheme and gap; then what is wrong is printed.
#[test]
fn steps_of_the_gallery_push_where_bodies_touch() {
    let own = format!("{}/tests/ordinary", env!("CARGO_MANIFEST_DIR"));
    let asked = std::env::var("SCENES").ok();
    let set: Vec<(String, String)> = [("SCHEME", "step.scheme"), ("GAP", "step.gap")]
        .into_iter()
        .filter_map(|(key, path)| Some((path.to_owned(), std::env::var(key).ok()?)))
        .collect();
    let folders = asked.clone().unwrap_or(own);
    for file in folders.split(',').flat_map(|f| if f.ends_with(".toml") { vec![f.into()] } else { files(f) })
    {
        let Ok(scene) = Scene::read_with(&file, &set) else { continue };
        let Ok(mut stepper) = Stepper::new(scene) else { continue };
        let step = stepper.scene().step.clone();
        if !matches!(step.scheme, Scheme::Theta | Scheme::Implicit) || step.gap == GapLevel::Velocity {
            continue;
        }
        let mut state = stepper.initial();
        let mut truth = Truth::new(stepper.model());
        truth.begin(stepper.model(), &state);
        let (mut ended, mut spent) = (String::new(), 0.0);
        for _ in 0..((step.duration / step.h).round() as usize).min(3000) {
            let begun = Instant::now();
            let made = stepper.step(&mut state);
            spent += begun.elapsed().as_secs_f64();
            if let Err(why) = made {
                assert!(asked.is_some(), "{}: {why}", file.display());
                ended = format!("; ended: {why}");
                break;
            }
            truth.after(stepper.model(), stepper.elements(), &state, 1.2 * FLUSH);
            if asked.is_some() && spent > 20.0 {
                ended = format!("; stopped at t = {}", state.time);
                break;
            }
        }
        let far = worst(&truth.pushes, |w| w.gap - w.way);
        let deep = worst(&truth.missed, |w| -w.gap);
        if asked.is_some() {
            let time = 1e6 * spent / truth.steps.max(1) as f64;
            let (pushes, missed) = (truth.pushes.len(), truth.missed.len());
            println!(
                "{}: {} steps of {time:.1} us, {pushes} pushes beside bodies, {missed} missed{ended}",
                file.display(),
                truth.steps
            );
            println!("    {far:?}\n    {deep:?}");
        } else if !file.ends_with("roller.toml") {
            // on a roller that turns by itself bodies sink: surfaces move along chords
            assert!(far.is_none_or(|w| w.gap <= w.way), "{}: {far:?}", file.display());
            assert!(deep.is_none_or(|w| w.gap >= -DEEP), "{}: {deep:?}", file.display());
        }
    }
}
