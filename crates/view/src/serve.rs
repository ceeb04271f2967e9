//! The server: one page, its clip and its commands, for browsers on this machine.
//!
//! It listens on the loopback address alone, answers only requests for that address that come from its own page or are typed in by the
//! user, and has no paths but three: `/`, `/api/clip` and, for live runs, `/api/command`. Files are never named by a request.

use crate::clip::Clip;
use crate::encode::Have;
use crate::live::{Command, Live};
use crate::page::PAGE;
use serde_json::json;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use stiction::record::{RecordError, STATE_FILE};
use tiny_http::{Header, Method, Request, Response, Server};

/// Threads that answer.
const THREADS: usize = 4;
/// How often they look whether to end.
const WAIT: Duration = Duration::from_millis(100);
/// Most bytes of a command.
const MOST_BYTES: u64 = 1 << 14;
/// Most numbers of a clip that is served.
const MOST_NUMBERS: usize = 12_000_000;

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is not free, or not to be had.
    #[error("port {port} of 127.0.0.1: {source}")]
    Port {
        /// The port.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
    /// The recording cannot be shown.
    #[error(transparent)]
    Recording(#[from] RecordError),
}

/// What is shown.
#[derive(Debug)]
pub enum Source {
    /// A recording, which may still grow.
    Recording(Box<Watched>),
    /// A run.
    Live(Live),
}

/// A recording on disk and what was last read of it.
#[derive(Debug)]
pub struct Watched {
    folder: PathBuf,
    last: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    stamp: Option<SystemTime>,
    /// How many times it has changed.
    changes: usize,
    clip: Clip,
}

impl Watched {
    /// Reads a recording.
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        let stamp = stamp(folder);
        let clip = read(folder)?;
        Ok(Self { folder: folder.to_owned(), last: Mutex::new(Seen { stamp, changes: 0, clip }) })
    }

    /// Everything, if the recording is another than the page knows; else that nothing is new.
    fn encode(&self, run: usize, have: Have) -> Vec<u8> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = stamp(&self.folder);
        let mut fault = None;
        if now != last.stamp {
            match read(&self.folder) {
                // what was read stays if it cannot be read again
                Err(e) => fault = Some(e.to_string()),
                Ok(clip) => *last = Seen { stamp: now, changes: last.changes + 1, clip },
            }
        }
        let known = run == last.changes && have.frames == last.clip.len();
        let more = json!({"mode": "recording", "run": last.changes, "fault": fault});
        last.clip.encode(if known { have } else { Have::default() }, &more)
    }
}

/// When the recording was last sealed: its state is written last.
fn stamp(folder: &Path) -> Option<SystemTime> {
    folder.join(STATE_FILE).metadata().and_then(|m| m.modified()).ok()
}

fn read(folder: &Path) -> Result<Clip, RecordError> {
    let mut clip = Clip::read(folder)?;
    clip.thin(MOST_NUMBERS);
    Ok(clip)
}

/// Serves a source until `stop` is true. Without a port a free one is taken; `announce` is told the address before the first request.
///
/// # Errors
/// The port is taken.
pub fn serve(
    source: &Source,
    port: Option<u16>,
    stop: &AtomicBool,
    announce: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let asked = port.unwrap_or(0);
    let fault = |source| ServeError::Port { port: asked, source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, asked)).map_err(fault)?;
    let address = listener.local_addr().map_err(fault)?;
    let server =
        Server::from_listener(listener, None).map_err(|e| fault(std::io::Error::other(e.to_string())))?;
    announce(address);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    if let Ok(Some(request)) = server.recv_timeout(WAIT) {
                        answer(source, address.port(), request);
                    }
                }
            });
        }
    });
    Ok(())
}

type Bytes = Response<std::io::Cursor<Vec<u8>>>;

fn answer(source: &Source, port: u16, mut request: Request) {
    let response = respond(source, port, &mut request);
    // a browser that has left gets no answer, and that is no fault
    let _ = request.respond(response);
}

fn text(status: u16, words: &str) -> Bytes {
    with_headers(
        Response::from_data(format!("{words}\n")).with_status_code(status),
        "text/plain; charset=utf-8",
    )
}

fn respond(source: &Source, port: u16, request: &mut Request) -> Bytes {
    let header = |name: &'static str| {
        request.headers().iter().find(|h| h.field.equiv(name)).map(|h| h.value.as_str().to_owned())
    };
    let post = *request.method() == Method::Post;
    let asked = Asked {
        host: header("Host"),
        origin: header("Origin"),
        site: header("Sec-Fetch-Site"),
        port,
        changes: post,
    };
    if !asked.is_allowed() {
        return text(403, "this server answers only the page that it serves, at the address that it printed");
    }
    let url = request.url().to_owned();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    match (request.method(), path, source) {
        (Method::Get, "/", _) => with_headers(Response::from_data(PAGE), "text/html; charset=utf-8"),
        (Method::Get, "/api/clip", _) => {
            let number = |name: &str| {
                let pairs = query.split('&').filter_map(|p| p.split_once('='));
                let value = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next_back();
                value.and_then(|v| v.parse().ok()).unwrap_or(usize::MAX)
            };
            let zero = |n: usize| if n == usize::MAX { 0 } else { n };
            let [run, frames, contacts, events] = ["run", "frames", "contacts", "events"].map(number);
            let have = Have { frames: zero(frames), contacts: zero(contacts), events: zero(events) };
            let bytes = match source {
                Source::Recording(watched) => watched.encode(run, have),
                Source::Live(live) => live.encode(run, have),
            };
            with_headers(Response::from_data(bytes), "application/octet-stream")
        }
        (Method::Post, "/api/command", Source::Live(live)) => {
            let mut body = String::new();
            let read = request.as_reader().take(MOST_BYTES).read_to_string(&mut body);
            let command = read
                .map_err(|e| e.to_string())
                .and_then(|_| serde_json::from_str::<Command>(&body).map_err(|e| format!("no command: {e}")));
            match command.and_then(|command| live.command(command)) {
                Ok(()) => text(200, "done"),
                Err(e) => text(400, &e),
            }
        }
        (_, "/" | "/api/clip" | "/api/command", _) => text(405, "not to be had in this way"),
        _ => text(404, "nothing is here"),
    }
}

/// A page of this server may do nothing but ask this server, and no other page may use it.
fn with_headers(response: Bytes, kind: &str) -> Bytes {
    let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
                  img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let headers = [
        ("Content-Type", kind),
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    ];
    let made = headers.iter().filter_map(|(name, value)| Header::from_bytes(*name, *value).ok());
    made.fold(response, Response::with_header)
}

/// Where a request says that it comes from and goes to.
struct Asked {
    host: Option<String>,
    origin: Option<String>,
    site: Option<String>,
    port: u16,
    /// Whether it changes something.
    changes: bool,
}

impl Asked {
    /// Another site's page may reach this port, under a name that leads here or not: its host or origin tells.
    fn is_allowed(&self) -> bool {
        let hosts = ["127.0.0.1", "localhost"].map(|h| format!("{h}:{}", self.port));
        let host = self.host.as_ref().is_some_and(|h| hosts.contains(h));
        let origin = match &self.origin {
            Some(origin) => hosts.iter().any(|h| *origin == format!("http://{h}")),
            None => !self.changes,
        };
        let site = self.site.as_deref().is_none_or(|s| s == "same-origin" || s == "none");
        host && origin && site
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_origin_is_answered() {
        let asked = |host: &str, origin: Option<&str>, site: Option<&str>, changes| {
            let [origin, site] = [origin, site].map(|x| x.map(str::to_owned));
            Asked { host: Some(host.to_owned()), origin, site, port: 8000, changes }.is_allowed()
        };
        assert!(asked("127.0.0.1:8000", None, None, false));
        assert!(asked("localhost:8000", Some("http://localhost:8000"), Some("same-origin"), true));
        assert!(asked("127.0.0.1:8000", None, Some("none"), false));
        // a name that was made to lead here, another port, another site, a sandboxed frame, a form
        assert!(!asked("evil.example:8000", None, None, false));
        assert!(!asked("127.0.0.1:8001", None, None, false));
        assert!(!asked("127.0.0.1", None, None, false));
        assert!(!asked("127.0.0.1:8000", Some("http://evil.example"), None, false));
        assert!(!asked("127.0.0.1:8000", Some("null"), None, false));
        assert!(!asked("127.0.0.1:8000", None, Some("cross-site"), false));
        assert!(!asked("127.0.0.1:8000", None, None, true));
        assert!(!Asked { host: None, origin: None, site: None, port: 8000, changes: false }.is_allowed());
    }
}
