//! Ctrl-C and SIGTERM end a run or a solve in order.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Exit codes of programs that a signal ended, as shells have them.
const INTERRUPTED: u8 = 130;
#[cfg(unix)]
const TERMINATED: u8 = 143;

/// What came.
pub struct Signals(Arc<AtomicU8>);

impl Signals {
    /// The exit code of a run or a solve that was stopped.
    pub fn code(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets `stop` when a signal comes; a second one ends the program at once. To be called while the program has one thread.
pub fn listen(stop: &Arc<AtomicBool>) -> Signals {
    let code = Arc::new(AtomicU8::new(INTERRUPTED));
    let (stop, heard) = (stop.clone(), code.clone());
    let hear = move |code: u8| {
        heard.store(code, Ordering::Relaxed);
        if stop.swap(true, Ordering::Relaxed) {
            exit(code.into());
        }
    };
    #[cfg(unix)]
    await_termination(hear.clone());
    // without a handler the signal ends the program, and a recording stays readable all the same
    let _ = ctrlc::set_handler(move || hear(INTERRUPTED));
    Signals(code)
}

/// Blocks SIGTERM in this and all later threads but one, which waits for it.
#[cfg(unix)]
fn await_termination(hear: impl Fn(u8) + Send + 'static) {
    use nix::sys::signal::{SigSet, Signal};
    let mut set = SigSet::empty();
    set.add(Signal::SIGTERM);
    if set.thread_block().is_ok() {
        std::thread::spawn(move || {
            while set.wait().is_ok() {
                hear(TERMINATED);
            }
        });
    }
}
