//! Visitors of an event's server who mean no good, and a journal that is changed under it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::audience::{Server, wait_until};
use super::instants::{event_of, stage};
use super::table::Event;

use crate::trials::Test;

fn league(engines: usize) -> Event {
    event_of(engines, "", &stage("League", "round-robin = { doubles = 1 }", "ties = \"4k\""))
}

/// All that a connection still says until it is closed.
fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    match stream.read_to_end(&mut text) {
        Ok(_) => {}
        // Closed with what was not read, which is closed all the same.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Visitors that say nothing, that say it slowly, that never end their question, and that stay after an answer: each
/// is dropped, and the pages are there meanwhile.
fn three_hundred_who_ask_for_nothing_keep_nobody_out_and_are_dropped() {
    let event = league(2);
    event.finish();
    let server = Server::start(&event, &[]);
    let host = "Host: localhost\r\n";
    let questions = [
        String::new(),
        "GET / HTTP/1.1\r\nHos".to_owned(),
        format!("GET / HTTP/1.1\r\n{host}X: "),
        format!("HEAD / HTTP/1.1\r\n{host}\r\n"),
        format!("POST / HTTP/1.1\r\n{host}Content-Length: 1000000000\r\n\r\nbody"),
        format!("POST / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n5\r\nhel"),
    ];
    let mut slow: Vec<TcpStream> = (0..50).map(|_| server.ask("GET / HTT")).collect();
    let all: Vec<TcpStream> =
        (0..250).map(|number| server.ask(&questions[number % questions.len()])).collect();
    assert!(server.get("/").contains("Over: E1 wins."));
    // A header a letter at a time does not buy more time.
    let deadline = std::time::Instant::now() + Duration::from_secs(300);
    while !slow.is_empty() {
        assert!(
            std::time::Instant::now() < deadline,
            "{} slow ones were never dropped",
            slow.len()
        );
        slow.retain_mut(|stream| stream.write_all(b"X").is_ok());
        std::thread::sleep(Duration::from_millis(200));
    }
    for (number, stream) in all.into_iter().enumerate() {
        let (text, kind) = (rest(stream), number % questions.len());
        match kind {
            0 => assert_eq!(text, ""),
            1 | 2 => assert!(text.is_empty() || text.contains(" 408 "), "{kind}: {text}"),
            3 => assert!(text.starts_with("HTTP/1.1 200 "), "{kind}: {text}"),
            _ => assert!(text.starts_with("HTTP/1.1 405 "), "{kind}: {text}"),
        }
    }
    assert!(server.get("/").contains("Over: E1 wins."));
}

fn whoever_comes_beyond_the_number_is_told_to_come_again() {
    let event = league(2);
    let server = Server::start(&event, &["--visitors", "2"]);
    let question = format!("GET /changes HTTP/1.1\r\nHost: {}\r\n\r\n", server.address());
    let followers = [server.ask(&question), server.ask(&question)];
    for stream in &followers {
        let mut first = [0; 12];
        let mut stream = stream;
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
    }
    for _ in 0..20 {
        // It is answered before it asks.
        let told = rest(server.ask(""));
        assert!(told.starts_with("HTTP/1.1 503 ") && told.contains("retry-after: 30"), "{told}");
    }
    drop(followers);
    wait_until(|| rest(server.ask("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")).contains(" 200 "));
}

/// A question that is no question is refused, and the next one is heard.
fn what_is_no_question_is_refused() {
    let event = league(2);
    let server = Server::start(&event, &[]);
    for (question, status) in [
        ("\0\0\0\0\r\n\r\n", " 400 "),
        ("GET\r\n\r\n", " 400 "),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nA B: c\r\n\r\n", " 400 "),
        ("GET / HTTP/1.1\r\n\r\n", " 421 "),
        ("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", " 421 "),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", " 400 "),
        ("BREW / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", " 405 "),
        ("GET /index.html?x=../../etc/passwd HTTP/1.0\r\nHost: localhost\r\n\r\n", " 200 "),
        (
            "GET / HTTP/1.0\r\nHost: localhost\r\nRange: bytes=0-3,5-9,99999999999999999999-\r\n\r\n",
            " 200 ",
        ),
    ] {
        // A visitor that closes a side of the connection before the answer is there may miss it, so nobody here does.
        let mut first = String::new();
        let _ = BufReader::new(server.ask(question)).read_line(&mut first);
        assert!(
            first.contains(status) || first.is_empty() && status == " 400 ",
            "{question:?}: {first}"
        );
    }
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000));
    let mut stream = server.ask("");
    let _ = stream.write_all(long.as_bytes());
    let text = rest(stream);
    assert!(text.is_empty() || text.contains(" 414 ") || text.contains(" 431 "), "{text}");
    assert!(server.get("/").contains("Not begun."));
}

/// An event is begun anew, or its journal is put back: nothing of what lay there before is shown any more.
fn another_journal_brings_its_own_pages_and_takes_the_old_away() {
    let (event, other) = (league(4), league(3));
    event.finish();
    other.finish();
    let server = Server::start(&event, &[]);
    let journal = event.path("event.journal");
    let old = fs::read(&journal).unwrap();
    let gone = "/games/1-6.2.html";
    assert!(server.get(gone).contains("E1"));

    // In its place, longer than what was read at once and shorter.
    for (whole, pages, has_it) in
        [(fs::read(other.path("event.journal")).unwrap(), 6, false), (old.clone(), 12, true)]
    {
        let beside = event.path("beside");
        fs::write(&beside, &whole).unwrap();
        fs::rename(&beside, &journal).unwrap();
        wait_until(|| {
            let page = server.get("/games.pgn");
            page.matches("[Event ").count() == pages
        });
        assert_eq!(server.answer("GET", gone, "").0 == 200, has_it);
    }

    // Taken away, the pages stay; begun anew, they are those of the new one.
    fs::remove_file(&journal).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.get("/").contains("Over: E1 wins."));
    fs::write(&journal, &old[..old.len() / 3]).unwrap();
    // Of a file that is still being written a part may be shown first.
    wait_until(|| server.get("/").contains("Under way: League."));
    assert!(!server.get("/").contains("Over: E1 wins."));
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow three_hundred_who_ask_for_nothing_keep_nobody_out_and_are_dropped,
        slow whoever_comes_beyond_the_number_is_told_to_come_again,
        quick what_is_no_question_is_refused,
        slow another_journal_brings_its_own_pages_and_takes_the_old_away,
    ]
}
