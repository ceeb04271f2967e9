//! A run that is watched while it computes, paused, slowed down and pulled at.

use crate::clip::Clip;
use crate::encode::Have;
use serde::Deserialize;
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stiction::inputs::{Inputs, Wrench};
use stiction::model::Model;
use stiction::run::{Ended, Fault, Observer, Options, Until, View, panic_message, run};
use stiction::space::{Vector, scale, sub};
use stiction::step::Failed;

/// Natural frequency of the spring that pulls a body, rad/s: it is critically damped for the body alone.
const PULL: f64 = 12.0;
/// Longest wait of a paused run before it looks again whether it is to end.
const WAIT: Duration = Duration::from_millis(100);
/// Most numbers of a clip before its frames are thinned.
const MOST_NUMBERS: usize = 12_000_000;

/// What the page asks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Stop after the current step.
    Pause,
    /// Go on.
    Resume,
    /// Go on to the next record, and pause.
    Step,
    /// Start again from the scene's start.
    Reset,
    /// Seconds of the scene per second; 0: as fast as possible.
    Speed(f64),
    /// Pull a point of a body towards a place by a spring.
    Drag(Drag),
    /// Let go.
    Release,
}

/// A spring between a body and a place.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drag {
    /// Index of the body.
    pub body: usize,
    /// Point of the body, in its coordinates, m.
    pub point: Vector,
    /// Place in the world that it is pulled to, m.
    pub target: Vector,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Paused,
    Finished,
    Failed,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Finished => "finished",
            Self::Failed => "failed",
        }
    }
}

/// What the run and its watchers share.
#[derive(Debug)]
struct Shared {
    clip: Clip,
    phase: Phase,
    /// Changes when frames known to a page are no longer those of the clip.
    run: usize,
    /// State reached, s; frames may be fewer.
    time: f64,
    speed: f64,
    step: bool,
    reset: bool,
    drag: Option<Drag>,
}

/// A run in a thread of its own. It ends when it is dropped.
#[derive(Debug)]
pub struct Live {
    shared: Arc<(Mutex<Shared>, Condvar)>,
    stop: Arc<AtomicBool>,
    /// The current run alone.
    stop_run: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    bodies: usize,
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    // nothing panics while it holds the lock
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    /// Starts a run of a model: paused, or at a speed in seconds of the scene per second (0: as fast as possible). `text` is the
    /// scene's, to be shown.
    pub fn start(model: &Arc<Model>, text: &str, paused: bool, speed: f64) -> Self {
        let shared = Shared {
            clip: Clip::new(model, text),
            phase: if paused { Phase::Paused } else { Phase::Running },
            run: 0,
            time: 0.0,
            speed,
            step: false,
            reset: false,
            drag: None,
        };
        let shared = Arc::new((Mutex::new(shared), Condvar::new()));
        let (stop, stop_run) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (theirs, model, text) = (shared.clone(), model.clone(), text.to_owned());
        let (end, end_run) = (stop.clone(), stop_run.clone());
        let bodies = model.scene().bodies.len();
        let thread = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                once(&model, &text, &theirs, &end, &end_run);
                // the run is over until it is started again
                let (mutex, changed) = &*theirs;
                let mut shared = lock(mutex);
                while !shared.reset && !end.load(Ordering::Relaxed) {
                    shared = changed.wait_timeout(shared, WAIT).unwrap_or_else(PoisonError::into_inner).0;
                }
                shared.reset = false;
                shared.drag = None;
                end_run.store(false, Ordering::Relaxed);
            }
        });
        Self { shared, stop, stop_run, thread: Some(thread), bodies }
    }

    /// Does what the page asks for.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn command(&self, command: Command) -> Result<(), String> {
        let mut shared = lock(&self.shared.0);
        let over = matches!(shared.phase, Phase::Finished | Phase::Failed);
        match command {
            Command::Pause if !over => shared.phase = Phase::Paused,
            Command::Resume if !over => shared.phase = Phase::Running,
            Command::Step if !over => shared.step = true,
            Command::Pause | Command::Resume | Command::Step => {}
            Command::Reset => {
                shared.reset = true;
                self.stop_run.store(true, Ordering::Relaxed);
            }
            Command::Speed(speed) if speed.is_finite() && speed >= 0.0 => shared.speed = speed,
            Command::Speed(speed) => return Err(format!("speed must be 0 or more, but is {speed}")),
            Command::Drag(drag) if drag.body >= self.bodies => {
                return Err(format!("there is no body {}; the scene has {}", drag.body, self.bodies));
            }
            Command::Drag(drag) if drag.point.iter().chain(&drag.target).any(|x| !x.is_finite()) => {
                return Err("point and target must be finite".to_owned());
            }
            Command::Drag(drag) => shared.drag = Some(drag),
            Command::Release => shared.drag = None,
        }
        self.shared.1.notify_all();
        Ok(())
    }

    /// What is new since `have` of run number `run`; everything if that is another run.
    pub fn encode(&self, run: usize, have: Have) -> Vec<u8> {
        let shared = lock(&self.shared.0);
        let have = if run == shared.run { have } else { Have::default() };
        let live = json!({
            "mode": "live",
            "run": shared.run,
            "phase": shared.phase.name(),
            "reached": shared.time,
            "speed": shared.speed,
        });
        shared.clip.encode(have, &live)
    }

    /// Frames so far, and the time of the last.
    pub fn reached(&self) -> (usize, f64) {
        let shared = lock(&self.shared.0);
        (shared.clip.len(), shared.time)
    }

    /// Number of the run: it grows when the run is started again, and when frames are left out of a long one.
    pub fn run(&self) -> usize {
        lock(&self.shared.0).run
    }

    /// A copy of the clip so far.
    pub fn clip(&self) -> Clip {
        lock(&self.shared.0).clip.clone()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.stop_run.store(true, Ordering::Relaxed);
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // a thread that panicked has nothing to say any more
            let _ = thread.join();
        }
    }
}

/// One run from the scene's start to its end, a fault or a reset.
fn once(
    model: &Arc<Model>,
    text: &str,
    shared: &(Mutex<Shared>, Condvar),
    stop: &AtomicBool,
    stop_run: &Arc<AtomicBool>,
) {
    let options = Options { stop: stop_run.clone(), until: Until::Duration, ..Options::default() };
    let mut state = model.initial();
    let mut hand = Hand { shared, stop, stop_run, text, since: None };
    let ended = catch_unwind(AssertUnwindSafe(|| run(model, &mut state, &options, &mut [&mut hand])));
    let ended =
        ended.unwrap_or_else(|panic| Err(format!("internal error: {}", panic_message(&*panic)).into()));
    let mut shared = lock(&shared.0);
    shared.time = state.time;
    match ended {
        Ok(Ended::Finished) => shared.phase = Phase::Finished,
        Ok(Ended::Failed(_)) => shared.phase = Phase::Failed,
        Ok(Ended::Interrupted) => {}
        Err(e) => {
            shared.phase = Phase::Failed;
            shared.clip.warnings.push(e.to_string());
        }
    }
    if shared.reset && shared.phase != Phase::Paused {
        shared.phase = Phase::Running;
    }
}

/// Takes frames, waits while the run is paused, keeps time and pulls.
struct Hand<'a> {
    shared: &'a (Mutex<Shared>, Condvar),
    stop: &'a AtomicBool,
    stop_run: &'a AtomicBool,
    text: &'a str,
    /// Since when the run is at a speed, the time of the scene then, and the speed.
    since: Option<(Instant, f64, f64)>,
}

impl Hand<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.stop_run.load(Ordering::Relaxed)
    }

    /// Returns once the run may go on to the next record.
    fn wait(&mut self, view: &View<'_>) {
        let (mutex, changed) = self.shared;
        let mut shared = lock(mutex);
        loop {
            if self.is_over() {
                return;
            }
            let rest = match shared.phase {
                Phase::Paused if shared.step => {
                    shared.step = false;
                    return;
                }
                Phase::Paused => {
                    self.since = None;
                    WAIT
                }
                _ if shared.speed == 0.0 => return,
                _ => {
                    let (now, time, speed) = (Instant::now(), view.state.time, shared.speed);
                    let (start, from, at) = *self.since.get_or_insert((now, time, speed));
                    if at != speed {
                        self.since = Some((now, time, speed));
                        continue;
                    }
                    let due = (time - from) / speed - (now - start).as_secs_f64();
                    if due <= 0.0 {
                        // a run that cannot keep up does not hurry later
                        if due < -0.25 {
                            self.since = Some((now, time, speed));
                        }
                        return;
                    }
                    Duration::from_secs_f64(due.min(0.1))
                }
            };
            shared = changed.wait_timeout(shared, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Observer for Hand<'_> {
    fn start(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        // nobody sees a run before its first frame
        let mut clip = Clip::new(view.model(), self.text);
        clip.start(view)?;
        let mut shared = lock(&self.shared.0);
        shared.run += usize::from(!shared.clip.is_empty());
        shared.time = view.state.time;
        shared.clip = clip;
        Ok(())
    }

    fn inputs(&mut self, view: &mut View<'_>, inputs: &mut Inputs) -> Result<(), Fault> {
        // pauses, single steps and the clock go by records
        if view.is_record {
            self.wait(view);
        }
        let drag = lock(&self.shared.0).drag;
        if let Some(Drag { body, point, target }) = drag {
            let mass = view.scene().bodies[body].link.inertia.mass;
            let kinematics = view.kinematics();
            let at = kinematics.pose(body).point(point);
            let velocity = kinematics.point_velocity(body, at);
            let spring = scale(mass * PULL * PULL, sub(target, at));
            let force = sub(spring, scale(2.0 * mass * PULL, velocity));
            inputs.wrenches.push(Wrench { body, point, force, torque: [0.0; 3] });
        }
        Ok(())
    }

    fn step(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        let mut shared = lock(&self.shared.0);
        shared.time = view.state.time;
        shared.clip.step(view)?;
        if shared.clip.numbers() > MOST_NUMBERS {
            shared.clip.thin(MOST_NUMBERS / 2);
            // frames have other numbers now: pages get them all
            shared.run += 1;
        }
        Ok(())
    }

    fn failed(&mut self, view: &mut View<'_>, why: &Failed) -> Result<(), Fault> {
        lock(&self.shared.0).clip.failed(view, why)
    }

    fn finish(&mut self, view: &mut View<'_>) -> Result<(), Fault> {
        lock(&self.shared.0).clip.finish(view)
    }
}
