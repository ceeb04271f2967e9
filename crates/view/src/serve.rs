//! The server: one page, its clip and its commands, for one user's browsers on this machine.
//!
//! It listens on the loopback address. A random key in the page's address keeps other users of the machine out; `Host`, `Origin` and
//! `Sec-Fetch-Site` keep other sites' pages out. Below the key there are three paths: the page, `api/clip` and, for live runs,
//! `api/command`. Files are never named by a request. How requests are read, and their bounds: `http.rs`.

use crate::clip::Clip;
use crate::encode::Have;
use crate::http::{self, Head, Response, Site};
use crate::live::{Command, Live};
use crate::page::PAGE;
use serde_json::json;
use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use stiction::record::{RecordError, STATE_FILE};

/// Random bytes of a key.
const KEY: usize = 16;
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

/// Where a source is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Address of the page, with its key: who knows it sees the page.
    pub page: String,
    /// An address that leads to the page once: for a program whose command line others can read.
    pub once: String,
}

/// Serves a source until `stop` is true. Without a port a free one is taken; `announce` is told the address before the first request.
///
/// # Errors
/// The port is taken, or the operating system has no random numbers.
pub fn serve(
    source: &Source,
    port: Option<u16>,
    stop: &AtomicBool,
    announce: impl FnOnce(&Address),
) -> Result<(), ServeError> {
    let asked = port.unwrap_or(0);
    let fault = |source| ServeError::Port { port: asked, source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, asked)).map_err(fault)?;
    let address = listener.local_addr().map_err(fault)?;
    let (key, once) = (key().map_err(fault)?, key().map_err(fault)?);
    announce(&Address { page: place(address, &key), once: place(address, &once) });
    let viewer = Viewer { source, port: address.port(), key, once: Mutex::new(Some(once)) };
    http::serve(&listener, &viewer, stop).map_err(fault)
}

fn place(address: SocketAddr, key: &str) -> String {
    format!("http://{address}/{key}/")
}

/// A key that nobody guesses.
fn key() -> std::io::Result<String> {
    let mut bytes = [0; KEY];
    getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(format!("no random numbers: {e}")))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // writing to a string cannot fail
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

/// What is served, and to whom.
struct Viewer<'a> {
    source: &'a Source,
    port: u16,
    key: String,
    once: Mutex<Option<String>>,
}

impl Viewer<'_> {
    /// The path below the key; `None` without it.
    fn below<'h>(&self, head: &'h Head) -> Option<&'h str> {
        let (key, rest) = head.path.strip_prefix('/')?.split_once('/')?;
        is_same(key, &self.key).then_some(rest)
    }

    /// Whether a request is for the page by the address that leads there once, which it then no longer does.
    fn uses_up(&self, head: &Head) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = head.path.trim_matches('/');
        let right = head.method == "GET" && once.as_ref().is_some_and(|key| is_same(asked, key));
        if right {
            *once = None;
        }
        right
    }

    fn clip(&self, query: &str) -> Vec<u8> {
        let number = |name: &str| {
            let pairs = query.split('&').filter_map(|p| p.split_once('='));
            let value = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next_back();
            value.and_then(|v| v.parse().ok())
        };
        let [frames, contacts, events] = ["frames", "contacts", "events"].map(|n| number(n).unwrap_or(0));
        let (run, have) = (number("run").unwrap_or(usize::MAX), Have { frames, contacts, events });
        match self.source {
            Source::Recording(watched) => watched.encode(run, have),
            Source::Live(live) => live.encode(run, have),
        }
    }
}

impl Site for Viewer<'_> {
    fn admit(&self, head: &Head) -> Result<(), Response> {
        let asked = Asked {
            host: head.header("host"),
            origin: head.header("origin"),
            site: head.header("sec-fetch-site"),
            port: self.port,
            changes: head.method == "POST",
        };
        if !asked.is_allowed() {
            let why = "this server answers only the page that it serves, at the address that it printed";
            return Err(Response::text(403, why));
        }
        match self.below(head) {
            Some(_) => Ok(()),
            None if self.uses_up(head) => Err(Response::elsewhere(format!("/{}/", self.key))),
            None => {
                Err(Response::text(404, "nothing is here: the address that the program printed is longer"))
            }
        }
    }

    fn answer(&self, head: &Head, body: &[u8]) -> Response {
        match (&*head.method, self.below(head).unwrap_or_default(), self.source) {
            ("GET", "", _) => Response::new("text/html; charset=utf-8", PAGE.as_bytes()),
            ("GET", "api/clip", _) => Response::new("application/octet-stream", self.clip(&head.query)),
            ("POST", "api/command", Source::Live(live)) => {
                let command = serde_json::from_slice::<Command>(body).map_err(|e| format!("no command: {e}"));
                match command.and_then(|command| live.command(command)) {
                    Ok(()) => Response::text(200, "done"),
                    Err(e) => Response::text(400, &e),
                }
            }
            (_, "" | "api/clip" | "api/command", _) => Response::text(405, "not to be had in this way"),
            _ => Response::text(404, "nothing is here"),
        }
    }
}

/// Where a request says that it comes from and goes to.
struct Asked<'a> {
    host: Option<&'a str>,
    origin: Option<&'a str>,
    site: Option<&'a str>,
    port: u16,
    /// Whether it changes something.
    changes: bool,
}

impl Asked<'_> {
    /// Another site's page may reach this port, under a name that leads here or not: its host or origin tells.
    fn is_allowed(&self) -> bool {
        let hosts = ["127.0.0.1", "localhost"].map(|h| format!("{h}:{}", self.port));
        let host = self.host.is_some_and(|host| hosts.iter().any(|h| h == host));
        let origin = match self.origin {
            Some(origin) => hosts.iter().any(|h| *origin == format!("http://{h}")),
            None => !self.changes,
        };
        let site = self.site.is_none_or(|s| s == "same-origin" || s == "none");
        host && origin && site
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_origin_is_answered() {
        let asked = |host: &str, origin: Option<&str>, site: Option<&str>, changes| {
            Asked { host: Some(host), origin, site, port: 8000, changes }.is_allowed()
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
