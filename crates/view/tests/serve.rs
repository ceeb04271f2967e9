//! The server against clients that no browser is: without the key, with lengths that no memory has, with bodies that never come.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stiction::model::Model;
use stiction_view::live::Live;
use stiction_view::{Address, Source, serve};

const BALL: &str = "[[body]]\nname = 'ball'\nshape = { sphere = { radius = 0.1 } }\nmass = 1\n";

/// A live run that is served, and ended when this goes.
struct Served {
    address: Address,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, receiver): (_, mpsc::Receiver<Address>) = channel();
        let theirs = stop.clone();
        let thread = std::thread::spawn(move || {
            let model = Arc::new(Model::new(&stiction::from_toml("ball", BALL).unwrap()).unwrap());
            let source = Source::Live(Live::start(&model, BALL, true, 1.0));
            serve(&source, None, &theirs, |address| sender.send(address.clone()).unwrap()).unwrap();
        });
        Self { address: receiver.recv().unwrap(), stop, thread: Some(thread) }
    }

    /// Host with port, and the path of the page.
    fn parts(&self) -> (&str, &str) {
        let rest = self.address.page.strip_prefix("http://").unwrap();
        rest.split_at(rest.find('/').unwrap())
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.parts().0).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// The answer to a request, which ends its connection.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut stream = self.connect();
        let host = self.parts().0;
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n{body}");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = vec![];
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn post(&self, length: &str, body: &str) -> String {
        let (host, page) = self.parts();
        let headers = format!("Origin: http://{host}\r\nContent-Length: {length}\r\n");
        self.ask("POST", &format!("{page}api/command"), &headers, body)
    }

    fn page_is_served(&self) {
        let answer = self.ask("GET", self.parts().1, "", "");
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("</html>"), "{answer:.200}");
    }

    /// How long it takes to end.
    fn end(mut self) -> Duration {
        let begin = Instant::now();
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        begin.elapsed()
    }
}

#[test]
fn without_the_key_there_is_nothing() {
    let (served, other) = (Served::start(), Served::start());
    let key = |s: &Served| s.parts().1.trim_matches('/').to_owned();
    assert!(key(&served).len() >= 32 && key(&served) != key(&other));
    served.page_is_served();
    let clip = format!("{}api/clip", served.parts().1);
    assert!(served.ask("GET", &clip, "", "").starts_with("HTTP/1.1 200"));
    for path in ["/", "/api/clip", other.parts().1, &format!("/{}/api/clip", key(&other)), "//api/clip"] {
        assert!(served.ask("GET", path, "", "").starts_with("HTTP/1.1 404"), "{path}");
    }
    let (host, page) = served.parts();
    let evil = "Origin: http://evil.example\r\n";
    assert!(served.ask("POST", &format!("{page}api/command"), evil, "").starts_with("HTTP/1.1 403"));
    let mine = format!("Origin: http://{host}\r\nContent-Length: 7\r\n");
    assert!(served.ask("POST", "/api/command", &mine, "\"pause\"").starts_with("HTTP/1.1 404"));
    assert!(served.post("7", "\"pause\"").starts_with("HTTP/1.1 200"));
    assert!(served.post("6", "\"pause").starts_with("HTTP/1.1 400"));
}

#[test]
fn the_address_of_a_command_line_leads_to_the_page_once() {
    let served = Served::start();
    let once = served.address.once.strip_prefix(&format!("http://{}", served.parts().0)).unwrap();
    assert!(once != served.parts().1);
    let answer = served.ask("GET", once, "", "");
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    assert!(answer.contains(&format!("Location: {}\r\n", served.parts().1)), "{answer}");
    assert!(served.ask("GET", once, "", "").starts_with("HTTP/1.1 404"));
}

#[test]
fn a_length_that_no_memory_has_is_refused() {
    let served = Served::start();
    for length in ["9223372036854775807", "18446744073709551615", "1000000000000", "99999999999999999999999"]
    {
        let answer = served.post(length, "x");
        assert!(answer.starts_with("HTTP/1.1 413"), "{length}: {answer}");
        // one that is refused for another reason too
        let headers = format!("Content-Length: {length}\r\n");
        let answer = served.ask("POST", "/", &headers, "");
        assert!(answer.starts_with("HTTP/1.1 4"), "{length}: {answer}");
    }
    let endless = served.ask("GET", &format!("/{}", "a".repeat(100_000)), "", "");
    assert!(endless.starts_with("HTTP/1.1 431"), "{endless}");
    served.page_is_served();
}

/// Requests whose rest is withheld, more of them than there may be connections, take no place from the page, and do not delay the end.
#[test]
fn withheld_requests_block_neither_the_page_nor_the_end() {
    let served = Served::start();
    let (host, page) = served.parts();
    let mut withheld = vec![];
    for k in 0..100 {
        let mut stream = served.connect();
        let text = match k % 3 {
            0 => "POST ".to_owned(),
            1 => String::new(),
            _ => format!(
                "POST {page}api/command HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 100\r\n\r\n\"pa"
            ),
        };
        // those of them that were in the way are closed
        let _ = stream.write_all(text.as_bytes());
        withheld.push(stream);
    }
    let begin = Instant::now();
    served.page_is_served();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    let end = served.end();
    assert!(end < Duration::from_secs(2), "{end:?}");
}

#[test]
fn a_connection_answers_one_request_after_another() {
    let served = Served::start();
    let (host, page) = served.parts();
    let mut stream = served.connect();
    let one = format!("GET {page}api/nothing HTTP/1.1\r\nHost: {host}\r\n\r\n");
    // two at once, and the third in pieces
    stream.write_all(format!("{one}{one}").as_bytes()).unwrap();
    for part in one.as_bytes().chunks(7) {
        stream.write_all(part).unwrap();
        stream.flush().unwrap();
    }
    let mut text = String::new();
    let mut bytes = [0; 4096];
    while text.matches("HTTP/1.1 404").count() < 3 || !text.ends_with("nothing is here\n") {
        let n = stream.read(&mut bytes).unwrap();
        assert!(n > 0, "{text}");
        text += &String::from_utf8_lossy(&bytes[..n]);
    }
    assert!(text.contains("Connection: keep-alive"));
}
