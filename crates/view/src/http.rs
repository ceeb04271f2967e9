//! HTTP/1.1 for one browser on this machine, on the standard library, with a bound on everything that a client can make the server do.
//!
//! Each connection has a thread. Every wait of a thread is short, so that all of them end soon after they are told to. A client that
//! withholds the rest of a request, or does not take its answer, loses its connection after [`PATIENCE`]; nobody else waits for it. A
//! length is compared with the bound before anything is read or allocated.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Most connections at once. A browser uses six for one page.
const MOST_CONNECTIONS: usize = 64;
/// Most bytes of a request's head.
const MOST_HEAD: usize = 1 << 14;
/// Most bytes of a request's body.
const MOST_BODY: usize = 1 << 14;
/// How long a client may take for a request, and between two parts of an answer that it takes.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection that has been admitted stays open between requests.
const IDLE: Duration = Duration::from_secs(60);
/// How often threads look whether to end.
const LOOK: Duration = Duration::from_millis(100);
/// How often new connections are looked for.
const ACCEPT: Duration = Duration::from_millis(10);

/// The head of a request.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: String,
    /// Names in small letters.
    headers: Vec<(String, String)>,
    /// Whether the client is one of HTTP/1.0, which does not keep connections.
    old: bool,
}

impl Head {
    /// A header by its name in small letters, if it is given once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        all.next().filter(|_| all.next().is_none())
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(key, _)| key == name)
    }

    /// Reads a head, which ends with an empty line; an error is a status and its words.
    fn parse(bytes: &[u8]) -> Result<Self, Response> {
        let wrong = || Response::text(400, "this is no request");
        let text = std::str::from_utf8(bytes).map_err(|_| wrong())?;
        let mut lines = text.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let (method, target, version) = (first.next(), first.next(), first.next());
        let (Some(method), Some(target), Some(version), None) = (method, target, version, first.next())
        else {
            return Err(wrong());
        };
        if !version.starts_with("HTTP/1.") || !target.starts_with('/') || method.is_empty() {
            return Err(wrong());
        }
        let mut head = Self { method: method.to_owned(), old: version == "HTTP/1.0", ..Self::default() };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        (head.path, head.query) = (path.to_owned(), query.to_owned());
        for line in lines.take_while(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            // a name with a space in it is a trick on whoever reads it otherwise
            if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
                return Err(wrong());
            }
            head.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(head)
    }

    /// Bytes of the body.
    fn length(&self) -> Result<usize, Response> {
        if self.has("transfer-encoding") {
            return Err(Response::text(501, "a body needs its length"));
        }
        if !self.has("content-length") {
            return Ok(0);
        }
        let digits = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let Some(text) = self.header("content-length").filter(digits) else {
            return Err(Response::text(400, "a length is one number"));
        };
        match text.parse() {
            Ok(length) if length <= MOST_BODY => Ok(length),
            _ => Err(Response::text(413, "a command is shorter")),
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Response {
    status: u16,
    kind: &'static str,
    /// Where to look instead.
    location: Option<String>,
    body: Cow<'static, [u8]>,
}

impl Response {
    pub fn new(kind: &'static str, body: impl Into<Cow<'static, [u8]>>) -> Self {
        Self { status: 200, kind, location: None, body: body.into() }
    }

    pub fn text(status: u16, words: &str) -> Self {
        let body = format!("{words}\n").into_bytes();
        Self { status, ..Self::new("text/plain; charset=utf-8", body) }
    }

    /// Sends the client to another place.
    pub fn elsewhere(location: String) -> Self {
        Self { location: Some(location), ..Self::text(303, "elsewhere") }
    }

    /// A page of this server may do nothing but ask this server, and no other page may use it.
    fn head(&self, keep: bool) -> String {
        let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
                      img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
        let words = match self.status {
            200 => "OK",
            303 => "See Other",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            413 => "Content Too Large",
            431 => "Request Header Fields Too Large",
            501 => "Not Implemented",
            _ => "Internal Server Error",
        };
        let location = self.location.as_ref().map_or(String::new(), |to| format!("Location: {to}\r\n"));
        format!(
            "HTTP/1.1 {} {words}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{location}\
             Content-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n\
             Cache-Control: no-store\r\nConnection: {}\r\n\r\n",
            self.status,
            self.kind,
            self.body.len(),
            if keep { "keep-alive" } else { "close" },
        )
    }
}

/// What a server does.
pub(crate) trait Site: Sync {
    /// Whether a request is answered at all; asked before its body is read.
    fn admit(&self, head: &Head) -> Result<(), Response>;

    /// Answers a request that was admitted.
    fn answer(&self, head: &Head, body: &[u8]) -> Response;
}

/// Serves a site until `stop` is true.
pub(crate) fn serve(listener: &TcpListener, site: &impl Site, stop: &AtomicBool) -> io::Result<()> {
    // waiting for a connection would not end when told to
    listener.set_nonblocking(true)?;
    let open = Open::default();
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            let Ok((stream, _)) = listener.accept() else {
                sleep(ACCEPT);
                continue;
            };
            let Some(id) = open.enter(&stream) else { continue };
            let open = &open;
            let talk = move || {
                let mut connection = Connection { stream, stop, open, id, bytes: vec![], admitted: false };
                // a client that goes is no fault
                let _ = connection.talk(site);
                open.leave(id);
            };
            // without a thread there is no answer, and the program goes on
            if std::thread::Builder::new().spawn_scoped(scope, talk).is_err() {
                open.leave(id);
            }
        }
    });
    Ok(())
}

/// The connections that are open, in the order in which they came.
#[derive(Default)]
struct Open(Mutex<(u64, Vec<Guest>)>);

struct Guest {
    id: u64,
    stream: TcpStream,
    admitted: bool,
}

impl Open {
    /// Adds a connection. Where there are too many, the oldest that no request was admitted of is closed; `None` if there is none.
    fn enter(&self, stream: &TcpStream) -> Option<u64> {
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(LOOK)).ok()?;
        stream.set_write_timeout(Some(LOOK)).ok()?;
        // an answer is written at once
        let _ = stream.set_nodelay(true);
        let stream = stream.try_clone().ok()?;
        let (last, guests) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if guests.len() >= MOST_CONNECTIONS {
            let k = guests.iter().position(|guest| !guest.admitted)?;
            let _ = guests.remove(k).stream.shutdown(Shutdown::Both);
        }
        *last += 1;
        guests.push(Guest { id: *last, stream, admitted: false });
        Some(*last)
    }

    fn admit(&self, id: u64) {
        let guests = &mut self.0.lock().unwrap_or_else(PoisonError::into_inner).1;
        guests.iter_mut().filter(|guest| guest.id == id).for_each(|guest| guest.admitted = true);
    }

    fn leave(&self, id: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.retain(|guest| guest.id != id);
    }
}

struct Connection<'a> {
    stream: TcpStream,
    stop: &'a AtomicBool,
    open: &'a Open,
    id: u64,
    /// Read and not yet used.
    bytes: Vec<u8>,
    /// Whether a request was answered.
    admitted: bool,
}

impl Connection<'_> {
    /// Answers requests until the client or the server ends it.
    fn talk(&mut self, site: &impl Site) -> io::Result<()> {
        loop {
            let mut until = Instant::now() + if self.admitted { IDLE } else { PATIENCE };
            let mut from = 0;
            let end = loop {
                let seen = self.bytes[from..].windows(4).position(|four| four == b"\r\n\r\n");
                if let Some(k) = seen {
                    break from + k + 4;
                }
                if self.bytes.len() > MOST_HEAD {
                    return self.refuse(&Response::text(431, "the head of the request is too long"));
                }
                from = self.bytes.len().saturating_sub(3);
                let begins = self.bytes.is_empty();
                self.read_some(until)?;
                if begins {
                    until = Instant::now() + PATIENCE;
                }
            };
            let head = Head::parse(&self.bytes[..end]).and_then(|head| {
                let length = head.length()?;
                site.admit(&head).map(|()| (head, length))
            });
            let (head, length) = match head {
                Ok(known) => known,
                Err(response) => return self.refuse(&response),
            };
            self.admitted = true;
            self.open.admit(self.id);
            while self.bytes.len() < end + length {
                self.read_some(until)?;
            }
            let body = &self.bytes[end..end + length];
            // a fault of this program, which a request has brought to light, ends nothing
            let answer = catch_unwind(AssertUnwindSafe(|| site.answer(&head, body)));
            let response = answer.unwrap_or_else(|_| Response::text(500, "the program has failed to answer"));
            self.bytes.drain(..end + length);
            let keep =
                !head.old && head.header("connection").is_none_or(|c| !c.eq_ignore_ascii_case("close"));
            self.write(&response, keep)?;
            if !keep {
                return Ok(());
            }
        }
    }

    /// Adds what the client has sent to `bytes`; an error if that takes too long.
    fn read_some(&mut self, until: Instant) -> io::Result<()> {
        let mut part = [0; 4096];
        loop {
            match self.stream.read(&mut part) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    self.bytes.extend_from_slice(&part[..n]);
                    return Ok(());
                }
                Err(e) if is_wait(&e) => self.may_wait(until)?,
                Err(e) => return Err(e),
            }
        }
    }

    fn may_wait(&self, until: Instant) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) || Instant::now() > until {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(())
    }

    fn write(&mut self, response: &Response, keep: bool) -> io::Result<()> {
        let head = response.head(keep);
        for mut part in [head.as_bytes(), &response.body] {
            let mut until = Instant::now() + PATIENCE;
            while !part.is_empty() {
                match self.stream.write(part) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(n) => (part, until) = (&part[n..], Instant::now() + PATIENCE),
                    Err(e) if is_wait(&e) => self.may_wait(until)?,
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(())
    }

    /// Answers and ends. What the client still sends is passed over for a moment: the answer is lost if the connection ends before it has
    /// been taken.
    fn refuse(&mut self, response: &Response) -> io::Result<()> {
        self.write(response, false)?;
        self.stream.shutdown(Shutdown::Write)?;
        let until = Instant::now() + LOOK;
        while Instant::now() < until {
            self.bytes.clear();
            self.read_some(until)?;
        }
        Ok(())
    }
}

/// Whether a read or a write has only waited.
fn is_wait(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_and_tricks_refused() {
        let head =
            Head::parse(b"GET /a/b?c=1 HTTP/1.1\r\nHost: x:1\r\nTwice: 1\r\ntwice: 2\r\n\r\n").unwrap();
        assert_eq!((&*head.method, &*head.path, &*head.query), ("GET", "/a/b", "c=1"));
        assert_eq!((head.header("host"), head.header("twice"), head.old), (Some("x:1"), None, false));
        for wrong in [
            "GET /\r\n\r\n",
            "GET http://other/ HTTP/1.1\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET / HTTP/1.1 more\r\n\r\n",
            "GET / HTTP/1.1\r\nHost x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
            "GET / HTTP/1.1\r\nA: x\r\n folded: y\r\n\r\n",
        ] {
            assert_eq!(Head::parse(wrong.as_bytes()).unwrap_err().status, 400, "{wrong:?}");
        }
    }

    #[test]
    fn lengths_are_bounded_before_anything_is_read() {
        let length = |lines: &str| {
            let head = Head::parse(format!("POST / HTTP/1.1\r\n{lines}\r\n").as_bytes()).unwrap();
            head.length().map_err(|response| response.status)
        };
        assert_eq!(length(""), Ok(0));
        assert_eq!(length("Content-Length: 12\r\n"), Ok(12));
        assert_eq!(length("Content-Length: 9000000000000000000\r\n"), Err(413));
        assert_eq!(length("Content-Length: 99999999999999999999999999\r\n"), Err(413));
        assert_eq!(length("Content-Length: +1\r\n"), Err(400));
        assert_eq!(length("Content-Length: 1\r\nContent-Length: 2\r\n"), Err(400));
        assert_eq!(length("Transfer-Encoding: chunked\r\n"), Err(501));
    }
}
