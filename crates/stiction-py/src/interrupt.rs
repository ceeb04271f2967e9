//! Ctrl-C while Rust computes: the work is done by a thread of its own, and the calling thread looks for
//! signals.

use crate::errors;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use stiction::run::panic_message;

/// Does work whose panics become exceptions that programs expect: `stiction.Error`, and not pyo3's `PanicException`, which is no `Exception`.
pub fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(internal(py, Some(&*panic))))
}

/// A fault of this package.
fn internal(py: Python<'_>, panic: Option<&(dyn Any + Send)>) -> PyErr {
    let message = panic.map_or_else(|| "the work ended".to_owned(), panic_message);
    errors::plain(py, &format!("internal error: {message}; please report it with the scene"))
}

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
                    return Err(internal(py, panic.as_deref()));
                }
            }
        }
    })
}
