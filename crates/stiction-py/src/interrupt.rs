//! Ctrl-C while Rust computes: the work is done by a thread of its own, and the calling thread looks for
//! signals.

use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Does work without the GIL, which ends early once `stop` is raised. Meanwhile signals are handled and
/// `look` is called about every 50 ms; if either
/// fails (a `KeyboardInterrupt`), `stop` is raised and the error returned once the work has ended.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    mut look: impl FnMut(Python<'_>) -> PyResult<()>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    stop.store(false, Ordering::Relaxed);
    std::thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        let worker = scope.spawn(move || {
            // nobody listens after a panic of the other thread only
            let _ = sender.send(work());
        });
        let mut failed = None;
        loop {
            let (back, heard) = py.detach(move || {
                let heard = receiver.recv_timeout(LOOK);
                (receiver, heard)
            });
            receiver = back;
            match heard {
                Ok(value) => {
                    stop.store(false, Ordering::Relaxed);
                    return failed.map_or(Ok(value), Err);
                }
                Err(RecvTimeoutError::Timeout) if failed.is_none() => {
                    if let Err(error) = py.check_signals().and_then(|()| look(py)) {
                        stop.store(true, Ordering::Relaxed);
                        failed = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let panic = py.detach(|| worker.join()).err();
                    std::panic::resume_unwind(panic.unwrap_or_else(|| Box::new("the worker ended")));
                }
            }
        }
    })
}
