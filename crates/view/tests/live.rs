//! Live runs: what they do on their own, and what pulling at a body changes.

use std::sync::Arc;
use std::time::{Duration, Instant};
use stiction::model::Model;
use stiction::run::{Ended, Options, run};
use stiction::space::{add, length, sub};
use stiction_view::live::{Command, Drag, Live};
use stiction_view::{Clip, Have};

const BOX: &str = r#"
[[material]]
name = "default"
friction = 0.5

[[world]]
name = "ground"
shape = "half_space"

[[body]]
name = "box"
shape = { box = { half = [0.1, 0.1, 0.1] } }
mass = 2
position = [0, 0, 0.1]

[step]
h = 1e-3
duration = 1

[record]
interval = 0.01
"#;

fn model() -> Arc<Model> {
    Arc::new(Model::new(&stiction::from_toml("box", BOX).expect("a scene")).expect("a model"))
}

/// Waits until the run has so many frames.
fn frames(live: &Live, count: usize) -> Clip {
    let begin = Instant::now();
    while live.reached().0 < count {
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", live.reached());
        std::thread::sleep(Duration::from_millis(2));
    }
    live.clip()
}

#[test]
fn without_commands_a_live_run_is_the_run() {
    let model = model();
    let mut clip = Clip::new(&model, BOX);
    let mut state = model.initial();
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut clip]).expect("no fault");
    assert_eq!(ended, Ended::Finished);
    let live = frames(&Live::start(&model, BOX, false, 0.0), 101);
    assert_eq!(live.times, clip.times);
    for frame in 0..clip.len() {
        assert_eq!(live.bodies(frame)[0].pose, clip.bodies(frame)[0].pose);
    }
    // at rest: four corners carry the weight
    let touches = clip.touches(50);
    let force = touches.iter().map(|t| t.force).fold([0.0; 3], add);
    assert_eq!(touches.len(), 4);
    assert!((force[2] - 2.0 * 9.81).abs() < 1e-6 && force[0].abs() < 1e-6);
}

#[test]
fn a_body_that_is_pulled_moves_and_a_new_run_forgets_it() {
    let live = Live::start(&model(), BOX, true, 0.0);
    let drag = Drag { body: 0, point: [0.0; 3], target: [0.5, 0.0, 0.1] };
    live.command(Command::Drag(drag)).expect("possible");
    live.command(Command::Resume).expect("possible");
    let clip = frames(&live, 101);
    let position = |frame: usize| clip.bodies(frame)[0].pose.position;
    // the spring pulls with m 12^2 x until friction, mu m g, balances it: 0.5 * 9.81 / 144 short of the target
    let end = position(100)[0];
    let short = 0.5 * 9.81 / 144.0;
    assert!(end < 0.5 && end > 0.5 - short - 0.01, "{end}");
    // along x alone
    assert!((0..=100).all(|f| length(sub(position(f), [position(f)[0], 0.0, 0.1])) < 1e-3));
    live.command(Command::Reset).expect("possible");
    // a new run forgets the hand
    while live.run() == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let again = frames(&live, 101);
    assert!(length(sub(again.bodies(100)[0].pose.position, [0.0, 0.0, 0.1])) < 1e-6);
}

#[test]
fn a_paused_run_makes_single_records() {
    let live = Live::start(&model(), BOX, true, 1.0);
    frames(&live, 1);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(live.reached().0, 1);
    for k in 2..4 {
        live.command(Command::Step).expect("possible");
        frames(&live, k);
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(live.reached().0, k);
    }
    // in real time: 0.1 s of the scene take 0.1 s or more
    let begin = Instant::now();
    live.command(Command::Resume).expect("possible");
    frames(&live, 14);
    assert!(begin.elapsed() >= Duration::from_millis(90), "{:?}", begin.elapsed());
}

#[test]
fn wrong_commands_are_refused_in_words() {
    let live = Live::start(&model(), BOX, true, 1.0);
    let drag = |body, x| Command::Drag(Drag { body, point: [0.0; 3], target: [x, 0.0, 0.0] });
    for (command, words) in [
        (drag(1, 0.0), "no body 1"),
        (drag(0, f64::NAN), "finite"),
        (Command::Speed(-1.0), "speed must be 0 or more"),
        (Command::Speed(f64::INFINITY), "speed"),
    ] {
        let said = live.command(command).expect_err("impossible");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_page_gets_what_it_does_not_have() {
    let live = Live::start(&model(), BOX, false, 0.0);
    frames(&live, 101);
    let header = |run, have| {
        let bytes = live.encode(run, have);
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        serde_json::from_slice::<serde_json::Value>(&bytes[4..4 + length]).expect("JSON")
    };
    let count = |header: &serde_json::Value| header["columns"][0]["count"].as_u64();
    let all = header(usize::MAX, Have::default());
    assert_eq!((count(&all), all["scene"]["name"].as_str()), (Some(101), Some("box")));
    let rest = header(0, Have { frames: 90, contacts: 4, events: 8 });
    assert_eq!((count(&rest), rest["from"].as_u64(), rest.get("scene")), (Some(11), Some(90), None));
    assert!(rest["contacts"].as_array().expect("a list").is_empty());
    // of another run everything
    assert_eq!(count(&header(7, Have { frames: 90, contacts: 4, events: 8 })), Some(101));
}

#[test]
fn thinned_clips_keep_the_first_the_last_and_the_worst() {
    let model = model();
    let mut clip = Clip::new(&model, BOX);
    let mut state = model.initial();
    let _ = run(&model, &mut state, &Options::default(), &mut [&mut clip]).expect("no fault");
    let worst = |clip: &Clip| (0..clip.len()).map(|f| clip.steps(f).residual).fold(0.0, f64::max);
    let (before, numbers) = (worst(&clip), clip.numbers());
    clip.thin(numbers / 10);
    assert!(clip.len() <= 13 && clip.times[0] == 0.0);
    assert!((clip.times[clip.len() - 1] - 1.0).abs() < 1e-9 && clip.warnings.len() == 1);
    assert_eq!(worst(&clip), before);
}
