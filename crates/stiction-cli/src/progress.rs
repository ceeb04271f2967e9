//! A word on standard error for those who wait.

use complementarity::report::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

/// Work shorter than this passes without a word.
const PATIENCE: Duration = Duration::from_millis(500);
const FRAME: Duration = Duration::from_millis(100);
const STEPS: u64 = 1000;

/// Shows how far a solver is, if a person looks on.
pub struct Display(Option<Running>);

struct Running {
    bar: ProgressBar,
    finished: Sender<()>,
    waiting: JoinHandle<()>,
    knows_share: bool,
}

impl Display {
    pub fn new(wanted: bool) -> Self {
        if !wanted || !stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {msg}, {elapsed}"));
        bar.set_message("at work");
        let (finished, done) = channel();
        let shown = bar.clone();
        let waiting = spawn(move || {
            if done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(FRAME);
            }
        });
        Self(Some(Running { bar, finished, waiting, knows_share: false }))
    }

    pub fn hear(&mut self, progress: Progress) {
        if self.0.is_some() {
            let message = format!("{}, {} iterations", progress.solver, progress.iterations);
            self.show(message, progress.share);
        }
    }

    /// A word and, where it is known, the share that is done.
    pub fn show(&mut self, message: String, share: Option<f64>) {
        let Some(running) = &mut self.0 else { return };
        running.bar.set_message(message);
        if let Some(share) = share {
            if !running.knows_share {
                running.knows_share = true;
                running.bar.set_length(STEPS);
                running.bar.set_style(style("{spinner} [{bar:30}] {percent}% {msg}, {elapsed}"));
            }
            running.bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
        }
    }

    pub fn finish(self) {
        let Some(running) = self.0 else { return };
        drop(running.finished);
        // the thread only sleeps and draws; without it there is nothing to clear
        let _ = running.waiting.join();
        running.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
