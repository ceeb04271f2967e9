//! The driver, seen by its observers.

use super::*;
use crate::inputs::Wrench;
use crate::record::{Format, Recorder, Recording};
use crate::scene::Table;
use std::path::{Path, PathBuf};

const SLIDING: &str = "
    name = 'slide'
    [[material]]
    name = 'default'
    friction = 0.3
    [[world]]
    name = 'ground'
    shape = 'half_space'
    [[body]]
    name = 'ball'
    shape = { sphere = { radius = 0.1 } }
    mass = 1
    position = [0, 0, 0.1]
    velocity = [1, 0, 0]
    [step]
    h = 1e-3
    duration = 0.2
    ";

fn model(text: &str) -> Arc<Model> {
    Arc::new(Model::new(&crate::from_toml("scene", text).unwrap()).unwrap())
}

/// Writes down what it is told, and may stop the run after a step.
#[derive(Default)]
struct Diary {
    name: &'static str,
    lines: Arc<std::sync::Mutex<Vec<String>>>,
    stop: Option<(usize, Arc<AtomicBool>)>,
}

impl Diary {
    fn note(&self, line: &str) -> Result<(), Fault> {
        self.lines.lock().unwrap().push(format!("{} {line}", self.name));
        Ok(())
    }
}

impl Observer for Diary {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.note(&format!("start {}", view.made))
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        if let Some((at, stop)) = &self.stop {
            stop.store(*at == view.made, Ordering::Relaxed);
        }
        self.note(&format!("step {} of {}", view.made, view.asked))
    }

    fn failed(&mut self, view: &mut View<'_>, why: &Failed) -> Result<(), Fault> {
        self.note(&format!("failed {} {}", view.made, matches!(why, Failed::Unsolved { .. })))
    }

    fn finish(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        self.note(&format!("finish {}", view.made))
    }
}

#[test]
fn observers_are_called_in_order() {
    let model = model(SLIDING);
    let mut a = Diary { name: "a", ..Diary::default() };
    let mut b = Diary { name: "b", lines: a.lines.clone(), stop: None };
    let mut state = model.initial();
    let options = Options { until: Until::Steps(2), ..Options::default() };
    assert_eq!(run(&model, &mut state, &options, &mut [&mut a, &mut b]).unwrap(), Ended::Finished);
    let told = ["start 0", "step 1 of 2", "step 2 of 2", "finish 2"];
    let expected: Vec<String> = told.iter().flat_map(|t| [format!("a {t}"), format!("b {t}")]).collect();
    assert_eq!(*a.lines.lock().unwrap(), expected);
    assert_eq!(state.time, 2e-3);
}

#[test]
fn an_end_in_time_is_reached_from_any_state() {
    let model = model(SLIDING);
    let mut state = model.initial();
    for (until, steps) in [(Until::Time(0.05), 50), (Until::Duration, 200), (Until::Time(0.1), 200)] {
        let options = Options { until, ..Options::default() };
        let ended = run(&model, &mut state, &options, &mut []).unwrap();
        assert_eq!((ended, (state.time / 1e-3).round() as usize), (Ended::Finished, steps));
    }
    let steps = |end: f64, state: &State| Until::Time(end).steps(model.scene(), state);
    assert_eq!([1e-4, 1e-3, 1.4e-3].map(|end| steps(end, &model.initial())), [1, 1, 2]);
    assert_eq!([0.0, 0.2, 0.2004, 0.2006].map(|end| steps(end, &state)), [0, 0, 0, 1]);
}

#[test]
fn a_run_that_is_stopped_ends_after_the_step_and_goes_on_bitwise() {
    let model = model(SLIDING);
    let mut whole = model.initial();
    let _ = run(&model, &mut whole, &Options::default(), &mut []).unwrap();
    let (mut halved, options) = (model.initial(), Options::default());
    let mut diary = Diary { stop: Some((77, options.stop.clone())), ..Diary::default() };
    let ended = run(&model, &mut halved, &options, &mut [&mut diary]).unwrap();
    assert_eq!((ended, (halved.time / 1e-3).round() as usize), (Ended::Interrupted, 77));
    let lines = diary.lines.lock().unwrap();
    assert_eq!(lines[lines.len() - 2..], [" step 77 of 200", " finish 77"]);
    options.stop.store(false, Ordering::Relaxed);
    assert_eq!(run(&model, &mut halved, &options, &mut []).unwrap(), Ended::Finished);
    assert_eq!(halved, whole);
}

/// A spring that is far too stiff for the step: its force overflows after some steps.
#[test]
fn a_failed_step_is_reported_and_the_state_before_stays() {
    let spring = "[[spring]]\nfrom = { body = 'ball' }\nto = { point = [1, 0, 0.1] }\nrest_length = 0.5\nstiffness = 1e9\n";
    let model = model(&SLIDING.replace("[step]", &format!("{spring}[step]")));
    let (mut state, mut diary) = (model.initial(), Diary::default());
    let mut summary = Summary::default();
    let ended = run(&model, &mut state, &Options::default(), &mut [&mut diary, &mut summary]).unwrap();
    let Ended::Failed(Failed::Unsolved { time, .. } | Failed::NotFinite { time }) = ended else {
        panic!("{ended:?}")
    };
    let lines = diary.lines.lock().unwrap();
    let made = summary.steps;
    assert!(made > 0 && made < 200 && lines.len() == made + 3);
    assert_eq!(lines[made + 1..], [format!(" failed {made} false"), format!(" finish {made}")]);
    assert_eq!(state.time.to_bits(), time.to_bits());
    assert!((state.time - 1e-3 * made as f64).abs() < 1e-9);
}

#[test]
fn an_observers_error_ends_the_run() {
    struct Full;
    impl Observer for Full {
        fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
            if view.made == 3 { Err("disk full".into()) } else { Ok(()) }
        }
    }
    let model = model(SLIDING);
    let mut state = model.initial();
    let error = run(&model, &mut state, &Options::default(), &mut [&mut Full]).unwrap_err();
    assert_eq!((error.to_string(), (state.time / 1e-3).round()), ("disk full".to_owned(), 3.0));
}

/// The ball ends rolling at 5/7 of its velocity: friction takes 1/7 of m v^2 less h mu m g v / 2, for the force of a step meets the slip at its end.
#[test]
fn a_view_shows_the_state_and_the_balance_there() {
    struct Seen(Vec<(f64, f64, Balance)>, usize);
    impl Observer for Seen {
        fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
            let (x, before) =
                (view.kinematics().pose(0).position[0], view.workspace().motion.kinematics.pose(0));
            // the values of the step are still those of its beginning
            assert!(before.position[0] < x && view.state.position[0] == x);
            self.0.push((view.state.time, x, view.balance()));
            self.1 += view.events.len();
            assert_eq!(view.is_record, view.made.is_multiple_of(20));
            Ok(())
        }
    }
    let model = model(SLIDING);
    let (mut seen, mut alone) = (Seen(vec![], 0), model.initial());
    let mut watched = model.initial();
    let _ = run(&model, &mut watched, &Options::default(), &mut [&mut seen]).unwrap();
    let _ = run(&model, &mut alone, &Options::default(), &mut []).unwrap();
    assert_eq!(watched, alone, "to be seen changes nothing");
    // closed, slips; sticks
    assert_eq!((seen.0.len(), seen.1), (200, 3));
    let (_, _, last) = seen.0[199];
    let at = |name: &str| ENTRIES.iter().position(|e| e.name == name).unwrap();
    assert!((last[at("kinetic")] - 0.5 * 5.0 / 7.0).abs() < 1e-6, "{last:?}");
    let loss = 1.0 / 7.0 - 0.5 * 1e-3 * 0.3 * 9.81;
    assert!((last[at("friction_loss")] - loss).abs() < 1e-5, "{last:?}");
    assert!((last[at("potential")] - 0.981).abs() < 1e-9 && last[at("work")] == 0.0, "{last:?}");
}

#[test]
fn progress_is_shown_at_most_every_tenth_of_a_second() {
    struct Slow;
    impl Observer for Slow {
        fn step(&mut self, _: &mut View<'_>) -> Result<(), Fault> {
            std::thread::sleep(Duration::from_millis(2));
            Ok(())
        }
    }
    let model = model(SLIDING);
    let mut calls = vec![];
    let begin = Instant::now();
    let mut progress = Progress::new(|view: &View<'_>| calls.push((Instant::now(), view.made)));
    let observers: &mut [&mut dyn Observer] = &mut [&mut Slow, &mut progress];
    let _ = run(&model, &mut model.initial(), &Options::default(), observers).unwrap();
    let most = begin.elapsed().as_millis() / 100;
    assert!(!calls.is_empty() && calls.len() as u128 <= most, "{} in {most}", calls.len());
    assert!(calls.windows(2).all(|w| w[1].0 - w[0].0 >= FRAME && w[1].1 > w[0].1));
}

fn recorded(folder: &Path, model: &Arc<Model>, text: &str) -> State {
    let mut recorder = Recorder::create(folder, model, text, Format::Csv, true).unwrap();
    let mut state = model.initial();
    let _ = run(model, &mut state, &Options::default(), &mut [&mut recorder]).unwrap();
    state
}

#[test]
fn a_recording_holds_its_scene_and_goes_on_from_its_state() {
    let folder: PathBuf = std::env::temp_dir().join(format!("stiction-run-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let text = SLIDING.replace("name = 'slide'\n", "");
    // without a name of its own the scene is called as its file
    let scene = crate::from_toml("any/where/slide.toml", &text).unwrap();
    let model = Arc::new(Model::new(&scene).unwrap());
    let state = recorded(&folder, &model, &text);
    let recording = Recording::open(&folder).unwrap();
    assert_eq!((recording.scene().unwrap(), recording.tables().len()), (scene, 4));
    let again = recording.model().unwrap();
    assert_eq!(again.parts().len(), 2);
    assert_eq!(recording.state(&again).unwrap(), state);
    assert_eq!(recording.read(Table::Bodies).unwrap().len(), 11);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_stop_flag_ends_a_solve_and_the_state_stays() {
    let scene = "stack-of-ten.toml";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(scene);
    let model = Arc::new(Model::new(&crate::read(&path).unwrap()).unwrap());
    let (mut state, options) = (model.initial(), Options::default());
    let mut stepper = Stepper::of(model.clone());
    stepper.set_stop(Some(options.stop.clone()));
    options.stop.store(true, Ordering::Relaxed);
    let before = state.clone();
    assert!(matches!(stepper.step(&mut state), Err(Failed::Interrupted { time: 0.0 })));
    assert_eq!(state, before);
    options.stop.store(false, Ordering::Relaxed);
    assert!(stepper.step(&mut state).is_ok());
    // and a run ends as interrupted, with nothing but the start
    options.stop.store(true, Ordering::Relaxed);
    let (mut state, mut summary) = (model.initial(), Summary::default());
    assert_eq!(run(&model, &mut state, &options, &mut [&mut summary]).unwrap(), Ended::Interrupted);
    assert_eq!((summary.steps, state), (0, before));
}

/// Pushes the ball along y, from the second step on.
struct Push(f64);

impl Observer for Push {
    fn inputs(&mut self, view: &mut View<'_>, inputs: &mut Inputs) -> Result<(), Fault> {
        // what others have added stays, what was added before the last step does not
        assert_eq!(inputs.wrenches.len(), usize::from(self.0 < 0.0));
        if view.made > 0 || self.0 < 0.0 {
            let wrench = Wrench { body: 0, point: [0.0; 3], force: [0.0, self.0, 0.0], torque: [0.0; 3] };
            inputs.wrenches.push(wrench);
        } else {
            inputs.wrenches.push(Wrench { body: 0, point: [0.0; 3], force: [0.0; 3], torque: [0.0; 3] });
        }
        Ok(())
    }
}

#[test]
fn observers_push_bodies() {
    let flying = SLIDING.replace("[0, 0, 0.1]", "[0, 0, 9]");
    let model = model(&flying);
    let options = Options { until: Until::Steps(11), ..Options::default() };
    let mut state = model.initial();
    let _ = run(&model, &mut state, &options, &mut [&mut Push(3.0)]).unwrap();
    // ten steps of 1e-3 s with 3 N on 1 kg
    let y = model.system().dofs(0).start;
    let velocity =
        |state: &State| state.velocity[y..y + 6].iter().filter(|v| (**v - 0.03).abs() < 1e-12).count();
    assert_eq!(velocity(&state), 1, "{:?}", state.velocity);
    // and against each other
    let mut state = model.initial();
    let _ = run(&model, &mut state, &options, &mut [&mut Push(3.0), &mut Push(-3.0)]).unwrap();
    assert_eq!(velocity(&state), 0, "{:?}", state.velocity);
}
