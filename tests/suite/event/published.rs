//! An event that is told to others while it is played: directories, TCEC's files, and a stand-in for lichess on the
//! loopback that fails in every way.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with};
use serde_json::{Value, json};

use super::audience::{crawl, wait_until};
use super::instants::{engine, event, held_match, stage};
use super::table::Event;
use crate::match_::engine::instant;
use crate::trials::Test;

const TOKEN: &str = "lip_0123456789secret";
const VARIABLES: [&str; 2] = ["GATE4K_LICHESS_TOKEN", "GATE4K_LICHESS_URL"];

/// A match of so many pairs between two engines that take their time, and no processor's.
fn slow_match(pairs: u32) -> Event {
    let engines = [1, 2]
        .map(|number| engine(number, &["late@0:100", &format!("illegal@{}", 30 + 4 * number)]));
    event(&engines.concat(), "", &stage("Match", &format!("match = {{ pairs = {pairs} }}"), ""))
}

fn read(event: &Event, name: &str) -> Value {
    let text = fs::read_to_string(event.path(name)).unwrap_or_else(|_| panic!("{name}"));
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{name}: {text}"))
}

fn directories_follow_the_event_and_agree_with_its_export() {
    let pace = tempfile::tempdir().unwrap();
    let go = pace.path().join("go");
    let event = held_match(2, &go);
    let words = ["event", "run", "--quiet", "--publish", "dir=site", "--publish", "tcec=tcec"];
    let mut child =
        event.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // While it is played: a game that grows, and whole files at any moment, one after the other.
    let text = |name: &str| fs::read_to_string(event.path(name)).unwrap_or_default();
    wait_until(|| text("tcec/live.json").contains("\"adjudication\""));
    assert_eq!(read(&event, "tcec/live.json")["Headers"]["Result"], "*");
    wait_until(|| text("tcec/schedule.json").contains("\"in progress\""));
    let schedule = read(&event, "tcec/schedule.json");
    let mut rows = schedule.as_array().unwrap().iter();
    assert!(rows.any(|row| row["Termination"] == "in progress"), "{schedule}");
    // A page of a directory loads itself anew.
    wait_until(|| text("site/index.html").contains("http-equiv=\"refresh\""));
    fs::write(&go, "").unwrap();
    assert!(child.wait().unwrap().success());

    // The end: all of it, as the export has it.
    let (code, text) = event.ask(&["event", "export", "site", "exported"]);
    assert_eq!(code, 0, "{text}");
    let mut names = crawl(&event.path("site"));
    assert_eq!(names, crawl(&event.path("exported")));
    names.remove("index.html");
    for name in names.iter().filter(|name| !name.ends_with(".html")) {
        let both = ["site", "exported"].map(|dir| fs::read(event.path(dir).join(name)).unwrap());
        assert!(both[0] == both[1], "{name}");
    }
    let page = fs::read_to_string(event.path("site/index.html")).unwrap();
    assert!(page.contains("Over: ") && !page.contains("http-equiv=\"refresh\""));

    // As TCEC's page reads it.
    let finished: Vec<Value> = event.finished().into_values().collect();
    let schedule = read(&event, "tcec/schedule.json");
    let rows = schedule.as_array().unwrap();
    assert_eq!(rows.len(), finished.len());
    for (number, row) in (1..).zip(rows) {
        let game = finished.iter().find(|game| game["round"] == number || game["game"] == number);
        assert!(game.is_some() && row["Moves"].as_u64().unwrap() > 0, "{row}");
        assert_eq!(row["Game"], number);
        assert!(row["Start"].as_str().unwrap().contains(" on 20"), "{row}");
    }
    let table = read(&event, "tcec/crosstable.json");
    for name in table["Order"].as_array().unwrap() {
        let line = &table["Table"][name.as_str().unwrap()];
        assert_eq!(line["Games"], finished.len());
        let met = line["Results"].as_object().unwrap().values().next().unwrap();
        let points = met["Scores"].as_array().unwrap().iter().map(|one| one["Result"].as_f64());
        assert_eq!(points.map(Option::unwrap).sum::<f64>(), line["Score"].as_f64().unwrap());
    }
    let own = read(&event, "tcec/tournament.json");
    let archive =
        |name: &str| event.path(&format!("tcec/archive/{}_{name}", own["abb"].as_str().unwrap()));
    for number in 1..=finished.len() {
        assert!(fs::read_to_string(archive(&format!("{number}.pgn"))).unwrap().contains("[Event "));
    }
    assert!(archive("Schedule.sjson").is_file() && archive("Crosstable.cjson").is_file());
    assert!(rows.iter().all(|row| row["RMobilityResult"].is_string()), "{schedule}");
    let last = read(&event, "tcec/live.json");
    let pgn = fs::read_to_string(event.path("tcec/live.pgn")).unwrap();
    assert_ne!(last["Headers"]["Result"], "*");
    for one in last["Moves"].as_array().unwrap() {
        assert!(pgn.contains(one["m"].as_str().unwrap()), "{one}");
    }
    let (_, games) = event.ask(&["event", "export", "pgn"]);
    assert!(games.contains(pgn.trim_end()), "{pgn}");
    assert_eq!(read(&event, "tcec/crash.json"), json!([]));
}

fn no_game_notices_a_directory_that_is_taken_away_or_full() {
    let pace = tempfile::tempdir().unwrap();
    let go = pace.path().join("go");
    let event = held_match(1, &go);
    let words = ["event", "run", "--quiet", "--publish", "tcec=tcec", "--publish", "tcec=wall/in"];
    fs::create_dir(event.path("room")).unwrap();
    symlink("room", event.path("wall")).unwrap();
    let mut command = event.command(&words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let live = |dir: &str| fs::read_to_string(event.path(dir).join("live.json"));
    wait_until(|| {
        ["tcec", "wall/in"]
            .iter()
            .all(|dir| live(dir).is_ok_and(|it| it.contains("\"adjudication\"")))
    });
    // One is taken away with all that it holds; in place of the other stands a file, so that nothing can be written.
    // Each in one step: a directory may be made anew at any moment.
    fs::rename(event.path("tcec"), event.path("gone")).unwrap();
    event.write("stone", "");
    fs::rename(event.path("stone"), event.path("wall")).unwrap();
    // The next moves are to be told there.
    fs::write(&go, "").unwrap();
    let mut told = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    while !(told.contains("tcec: cannot write") && told.contains("wall/in: cannot write")) {
        assert!(errors.read_line(&mut told).unwrap() > 0, "{told}");
    }
    fs::remove_file(event.path("wall")).unwrap();
    errors.read_to_string(&mut told).unwrap();
    assert!(child.wait().unwrap().success());
    for dir in ["tcec", "wall/in"] {
        // A second one has another reason: a directory that goes in the middle of a write first lacks its file.
        let times = told.matches(&format!("{dir}: cannot write")).count();
        assert!((1..=2).contains(&times), "{told}");
        assert_eq!(told.matches(&format!("{dir} follows the event again")).count(), 1, "{told}");
        assert_ne!(read(&event, &format!("{dir}/live.json"))["Headers"]["Result"], "*");
    }
    for game in event.finished().values() {
        assert_eq!(game["termination"], "illegal move", "{game}");
    }
}

/// The ways in which the stand-in fails at first. Later it takes games, but one at a time.
#[derive(Clone, Copy)]
enum Way {
    /// `429` with `Retry-After: 1`.
    Busy,
    /// `500`, late.
    Broken,
    /// A part of an answer.
    Cut,
    /// The connection is closed without a word.
    Silent,
}

/// The games that the stand-in has: each game's text, by its players and its place.
type Games = Arc<Mutex<BTreeMap<String, String>>>;

fn stand_in(listener: TcpListener, ways: [Way; 4]) -> (Games, Arc<Mutex<Vec<String>>>) {
    let (games, heads) = (Games::default(), Arc::new(Mutex::new(Vec::new())));
    let (own, told) = (Arc::clone(&games), Arc::clone(&heads));
    let mut ways = ways.into_iter();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let Some((head, body)) = question(&stream) else { continue };
            told.lock().unwrap().push(head);
            answer(stream, &body, ways.next(), &own);
        }
    });
    (games, heads)
}

fn question(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    let mut body = vec![0; length?];
    reader.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).unwrap()))
}

fn answer(mut stream: TcpStream, body: &str, way: Option<Way>, games: &Games) {
    let pushed: Vec<String> =
        body.split("[Event ").skip(1).map(|game| format!("[Event {game}")).collect();
    let take = || {
        for game in &pushed {
            let tag = |name: &str| {
                let line = game.lines().find(|line| line.starts_with(&format!("[{name} ")));
                line.unwrap().to_owned()
            };
            let key = ["Event", "Round", "White", "Black"].map(tag).concat();
            games.lock().unwrap().insert(key, game.clone());
        }
        let told = pushed.iter().map(|_| json!({ "tags": {}, "moves": 1 }));
        json!({ "games": told.collect::<Value>() }).to_string()
    };
    let (status, more, text) = match way {
        Some(Way::Busy) => ("429 Too Many Requests", "Retry-After: 1\r\n", "{}".to_owned()),
        Some(Way::Broken) => {
            thread::sleep(Duration::from_secs(2));
            ("500 Internal Server Error", "", "<h1>sorry</h1>".to_owned())
        }
        Some(Way::Silent) => return,
        Some(Way::Cut) => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"games\":");
            return;
        }
        None if pushed.len() > 1 => {
            ("400 Bad Request", "", "{\"error\":\"one at a time\"}".to_owned())
        }
        None => ("200 OK", "", take()),
    };
    let length = text.len();
    let head =
        format!("HTTP/1.1 {status}\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all((head + &text).as_bytes());
}

fn a_broadcast_gets_the_whole_event_through_every_kind_of_failure() {
    let event = slow_match(1);
    // At first nobody is there: the port is ours, so that nobody else takes it meanwhile, and refuses until it is
    // listened to.
    let (kind, flags) = (SocketType::STREAM, SocketFlags::CLOEXEC);
    let listener = TcpListener::from(socket_with(AddressFamily::INET, kind, flags, None).unwrap());
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let mut command = event.command(&["event", "run", "--quiet", "--publish", "lichess=abCD1234"]);
    command.env(VARIABLES[0], TOKEN).env(VARIABLES[1], format!("http://{address}"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("lichess round abCD1234: ") {
        assert!(errors.read_line(&mut told).unwrap() > 0, "{told}");
    }
    let ways = [Way::Busy, Way::Broken, Way::Cut, Way::Silent];
    listen(&listener, 16).unwrap();
    let (games, heads) = stand_in(listener, ways);
    errors.read_to_string(&mut told).unwrap();
    assert!(child.wait().unwrap().success());

    // All of it has arrived, each game with its end, and one line told of the trouble.
    let games = games.lock().unwrap();
    let finished = event.finished();
    assert_eq!(games.len(), finished.len());
    for game in games.values() {
        assert!(!game.contains("[Result \"*\"]") && game.contains("[%clk 0:00:"), "{game}");
        assert!(game.contains("{d=") && game.contains(", mb="), "{game}");
    }
    assert_eq!(told.matches("lichess round abCD1234: ").count(), 1, "{told}");
    assert_eq!(told.matches("follows the event again").count(), 1, "{told}");
    let heads = heads.lock().unwrap();
    assert!(heads.len() > ways.len(), "{heads:?}");
    for head in heads.iter() {
        assert!(head.starts_with("POST /api/broadcast/round/abCD1234/push HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("Authorization: Bearer {TOKEN}\r\n")), "{head}");
        assert!(head.contains("Content-Type: text/plain"), "{head}");
    }
    // The token is nowhere but there.
    assert!(!told.contains(TOKEN), "{told}");
    for item in fs::read_dir(event.dir.path()).unwrap() {
        let path = item.unwrap().path();
        if path.is_file() {
            let text = fs::read(&path).unwrap();
            assert!(!String::from_utf8_lossy(&text).contains(TOKEN), "{}", path.display());
        }
    }
    for game in finished.values() {
        assert_ne!(game["termination"], "time forfeit", "{game}");
    }
}

fn a_trusted_engine_does_not_inherit_the_token() {
    let event = slow_match(1);
    let program = format!("#!/bin/sh\nenv >>\"$0.env\"\nexec {:?} illegal@8\n", instant());
    event.write("trusted", &program);
    let made = std::process::Command::new("chmod").arg("755").arg(event.path("trusted")).status();
    assert!(made.unwrap().success());
    let mut text = fs::read_to_string(event.path("event.toml")).unwrap();
    text = text.replacen(&format!("cmd = {:?}", instant()), "cmd = \"./trusted\"", 1);
    event.write("event.toml", &text);
    let mut command = event.command(&["event", "run", "--quiet"]);
    command.env(VARIABLES[0], TOKEN).env("GATE4K_KEY_PASSWORD", TOKEN).env("SEEN", "yes");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = fs::read_to_string(event.path("trusted.env")).unwrap();
    assert!(seen.contains("SEEN=yes") && !seen.contains(TOKEN), "{seen}");
}

fn a_place_that_cannot_be_told_is_named_before_the_first_game() {
    let event = slow_match(1);
    event.write("file", "");
    let ask = |what: &str, token: &str, address: &str| {
        let mut command = event.command(&["event", "run", "--publish", what]);
        let output = command.env(VARIABLES[0], token).env(VARIABLES[1], address).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for (what, token, address, words) in [
        ("nowhere", "", "", "dir=DIR, tcec=DIR or lichess=ROUND"),
        ("dir=", "", "", "dir=DIR, tcec=DIR or lichess=ROUND"),
        ("dir=file/below", "", "", "cannot publish to file/below"),
        ("lichess=abCD1234", "", "", "GATE4K_LICHESS_TOKEN"),
        ("lichess=../abCD", TOKEN, "", "is no round of a broadcast"),
        ("lichess=abCD1234", TOKEN, "http://example.org", "write https://HOST"),
    ] {
        let (code, text) = ask(what, token, address);
        assert_eq!(code, 2, "{what}: {text}");
        assert!(text.contains(words) && !text.contains(TOKEN), "{what}: {text}");
    }
    assert!(!event.path("event.journal").exists());
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow directories_follow_the_event_and_agree_with_its_export,
        slow no_game_notices_a_directory_that_is_taken_away_or_full,
        slow a_broadcast_gets_the_whole_event_through_every_kind_of_failure [Curl],
        slow a_trusted_engine_does_not_inherit_the_token,
        quick a_place_that_cannot_be_told_is_named_before_the_first_game [Curl],
    ]
}
