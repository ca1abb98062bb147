//! An event that is watched: `event serve` through real connections, and the exported site.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::instants::{event_of, held_match, stage};
use super::table::{Event, MINIFINAL, POOL};

use crate::trials::Test;

const THREE: [(&str, &str); 3] =
    [("Bare", "elf"), ("Packed", "rules-example-1"), ("Compiled", "c-xz")];

/// A server of an event; it ends with this.
pub(crate) struct Server {
    child: Child,
    address: String,
    _out: BufReader<ChildStdout>,
    /// The words for people, where they are read.
    told: Option<BufReader<ChildStderr>>,
}

impl Server {
    pub(crate) fn start(event: &Event, more: &[&str]) -> Server {
        Server::with(event, more, Stdio::inherit())
    }

    /// One whose words for people are read.
    fn telling(event: &Event) -> Server {
        Server::with(event, &[], Stdio::piped())
    }

    fn with(event: &Event, more: &[&str], told: Stdio) -> Server {
        let mut command = event.command(&["event", "serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.args(more).stdout(Stdio::piped()).stderr(told).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let (_, address) = line.trim_end().split_once("http://").expect("an address");
        let address = address.trim_end_matches('/').to_owned();
        let told = child.stderr.take().map(BufReader::new);
        Server { child, address, _out: out, told }
    }

    /// Reads on until it says so.
    fn wait_for_words(&mut self, words: &str) {
        let told = self.told.as_mut().expect("its words are read");
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(told.read_line(&mut line).unwrap() > 0, "it never said: {words}");
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn ask(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// The status, the head and the body of an answer.
    pub(crate) fn answer(&self, method: &str, path: &str, more: &str) -> (u16, String, String) {
        let host = if more.contains("Host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.address)
        };
        let request = format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\n{more}\r\n");
        let mut text = String::new();
        self.ask(&request).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let (status, _, body) = self.answer("GET", path, "");
        assert_eq!(status, 200, "{path}");
        body
    }

    /// A visitor that follows.
    pub(crate) fn follow(&self) -> TcpStream {
        self.ask(&format!("GET /changes HTTP/1.1\r\nHost: {}\r\n\r\n", self.address))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn wait_until(what: impl Fn() -> bool) {
    wait_for(what);
}

/// The same for a question whose answer is kept.
fn wait_for(mut what: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(300);
    while !what() {
        assert!(Instant::now() < deadline, "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The addresses that a page of the site leads to, from its own place.
fn links(name: &str, page: &str) -> BTreeSet<String> {
    let attributes = ["href=\"", "src=\""];
    let found = attributes.iter().flat_map(|word| page.split(word).skip(1));
    let found = found.filter_map(|rest| rest.split('"').next());
    let folder = name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    found
        .filter(|link| !link.starts_with('#'))
        .map(|link| link.split_once('#').map_or(link, |(page, _)| page))
        .map(|link| match link.strip_prefix("../") {
            Some(above) => above.to_owned(),
            None => format!("{folder}{link}"),
        })
        .collect()
}

/// The files of an exported site that its pages lead to, from the first one on; each is there, and none leads elsewhere.
pub(crate) fn crawl(site: &Path) -> BTreeSet<String> {
    let mut names = vec!["index.html".to_owned()];
    let mut done = BTreeSet::new();
    while let Some(name) = names.pop() {
        let text = fs::read_to_string(site.join(&name)).unwrap_or_else(|_| panic!("{name}"));
        if done.insert(name.clone()) && name.ends_with(".html") {
            assert!(text.contains("default-src 'none'"), "{name}");
            assert!(!text.contains("http:") && !text.contains("https:"), "{name}");
            names.extend(links(&name, &text));
        }
    }
    done
}

fn an_event_is_watched_from_before_its_first_game_to_its_end() {
    let event = Event::new(&THREE, "1+0.05", &format!("{POOL}{MINIFINAL}"));
    let server = Server::start(&event, &[]);
    assert!(server.get("/").contains("Not begun."));
    let mut visitor = BufReader::new(server.follow());

    let more = ["event", "run", "--quiet", "--live", "--events", "events"];
    let mut run = event.command(&more).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The same answer names the game: the next one may be of another, or of none.
    let mut live = String::new();
    wait_for(|| {
        live = server.get("/live.json");
        live.contains("\"uci\"")
    });
    let live: Value = serde_json::from_str(&live).unwrap();
    let key = live["games"][0]["game"].as_str().unwrap().to_owned();
    // The large pages come a little after the move.
    wait_until(|| {
        let page = server.get("/");
        ["Under way: ", "id=\"board\""].iter().all(|words| page.contains(words))
    });
    assert!(server.get(&format!("/games/{key}.html")).contains("id=\"moves\""));
    assert!(server.get(&format!("/games/{key}.live.html")).starts_with("<section id=\"game\""));
    // So much is there before the first game, and little more with it.
    let weight: usize = ["/", "/page.js"].iter().map(|path| server.get(path).len()).sum();
    assert!(weight < 100_000, "{weight}");
    assert!(run.wait().unwrap().success());

    // The page has all of it, and what it says is what the journal says.
    wait_until(|| server.get("/").contains("Over: "));
    let finished = event.finished();
    let page = server.get("/");
    for link in links("index.html", &page) {
        assert!(!server.get(&format!("/{link}")).is_empty(), "{link}");
    }
    for game in finished.values() {
        let stage = game["stage"].as_u64().unwrap() + 1;
        let name = format!("games/{stage}-{}.{}", game["round"], game["game"]);
        assert!(page.contains(&format!("href=\"{name}.html\"")), "{name}");
        let whole: Value = serde_json::from_str(&server.get(&format!("/{name}.json"))).unwrap();
        let moves = whole["moves"].as_array().unwrap();
        let uci: Vec<&str> = moves.iter().map(|one| one["uci"].as_str().unwrap()).collect();
        assert_eq!(uci.join(" "), game["moves"].as_str().unwrap());
        let text = server.get(&format!("/{name}.html"));
        assert!(text.contains(game["result"].as_str().unwrap()), "{name}");
        for one in moves {
            assert!(text.contains(one["san"].as_str().unwrap()), "{name}: {one}");
            assert!(text.contains(one["fen"].as_str().unwrap()), "{name}: {one}");
        }
    }
    let (_, pgn) = event.ask(&["event", "export", "pgn"]);
    assert_eq!(server.get("/games.pgn").matches("[Event ").count(), pgn.matches("[Event ").count());
    assert_eq!(server.get("/settings.toml"), fs::read_to_string(event.path("event.toml")).unwrap());

    // The visitor heard that something had changed, in both ways, and no more than that.
    let mut words = Vec::new();
    while !(words.iter().any(|word: &Value| word["live"] == true && word["event"] == false)
        && words.iter().any(|word: &Value| word["event"] == true))
    {
        let mut line = String::new();
        assert!(visitor.read_line(&mut line).unwrap() > 0, "{words:?}");
        words.extend(line.strip_prefix("data: ").map(|word| serde_json::from_str(word).unwrap()));
    }

    // The stream of the run tells the same moves as the journal.
    let told = fs::read_to_string(event.path("events")).unwrap();
    let told = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let told: Vec<Value> = told.filter(|one| one["event"] == "move-played").collect();
    let plies = event.records("ply");
    assert_eq!(told.len(), plies.len());
    for (one, ply) in told.iter().zip(&plies) {
        assert_eq!((&one["id"], &one["number"]), (&ply["id"], &ply["number"]));
        assert_eq!(one["ply"]["uci"], ply["move"]);
        assert_eq!(one["clocks"]["white"], ply["clocks"][0]);
    }
    let live: Value =
        serde_json::from_str(&fs::read_to_string(event.path("event.live.json")).unwrap()).unwrap();
    assert_eq!(live["over"], true);

    let (code, status) = event.ask(&["event", "status", "--format", "json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((code, &status["under-way"]), (0, &Value::Array(Vec::new())));
    let planned: u64 = status["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["planned"].as_u64().unwrap())
        .sum();
    assert_eq!((planned as usize, &status["stages"][1]["state"]), (finished.len(), &"over".into()));
    assert!(page.contains(&format!("Over: {} wins.", status["winner"].as_str().unwrap())));

    // The same site as files.
    let (code, text) = event.ask(&["event", "export", "site", "site"]);
    assert!(code == 0 && text.contains("index.html"), "{text}");
    event.write("a-file", "");
    let (code, told) = event.ask(&["event", "export", "site", "a-file"]);
    assert!(code == 2 && told.contains("name another folder"), "{told}");
    let site = event.path("site");
    let done = crawl(&site);
    let games = done.iter().filter(|name| name.starts_with("games/") && name.ends_with(".html"));
    assert_eq!(games.count(), finished.len());
    assert!(done.contains("games.pgn") && done.contains("event.json"), "{done:?}");
    let files = fs::read_dir(site.join("games")).unwrap().count();
    assert_eq!(files, 3 * finished.len());
}

fn only_files_of_the_site_are_served_and_only_read() {
    let event = Event::new(&THREE[..2], "1+0.05", POOL);
    let server = Server::start(&event, &["--name", "tv.example"]);
    for path in [
        "/event.toml",
        "/../event.toml",
        "/games/../event.toml",
        "/%2e%2e/event.toml",
        "/..%2fevent.toml",
        "//event.toml",
        "/etc/passwd",
        "/index.html/",
        "/\u{202e}",
    ] {
        let (status, head, body) = server.answer("GET", path, "");
        assert!(status == 404 || status == 400, "{path}: {head}");
        assert!(!body.contains("time-control"), "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
        let (status, head, _) = server.answer(method, "/", "");
        assert_eq!(status, 405, "{method}");
        assert!(head.contains("allow: GET, HEAD"), "{head}");
    }
    let (status, head, body) = server.answer("HEAD", "/", "");
    assert_eq!((status, body.as_str()), (200, ""));
    for line in [
        "content-security-policy: default-src 'none';",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-cache",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    let known = server.answer("GET", "/", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((known.0, known.2.as_str()), (304, ""));
    // A page elsewhere whose name is made to lead here does not get in.
    for (host, wanted) in
        [("evil.example", 421), ("tv.example", 200), ("localhost:1", 200), ("[::1]", 200)]
    {
        assert_eq!(server.answer("GET", "/", &format!("Host: {host}\r\n")).0, wanted, "{host}");
    }
    let (code, text) = event.ask(&["event", "serve", "--listen", &server.address]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("cannot listen on") && text.contains("--listen"), "{text}");
}

fn no_game_notices_two_hundred_visitors_or_a_server_that_is_killed() {
    let pace = tempfile::tempdir().unwrap();
    let go = pace.path().join("go");
    let event = held_match(2, &go);
    let server = Server::start(&event, &["--visitors", "205"]);
    // Slow ones: they follow and never read, or never end their question.
    let follow = |server: &Server| (0..190).map(|_| server.follow()).collect::<Vec<TcpStream>>();
    let mut visitors = follow(&server);
    visitors.extend((0..10).map(|_| server.ask("GET / HTTP/1.1\r\nHost")));
    let mut run = event.start();
    let mut reader = BufReader::new(server.follow());
    let mut heard = String::new();
    while !heard.contains("data: {") {
        assert!(reader.read_line(&mut heard).unwrap() > 0);
    }
    // There is room for a few more, and not for any number. The large pages come a little after the move.
    wait_until(|| server.get("/live.json").contains("\"uci\""));
    wait_until(|| server.get("/").contains("Under way"));
    let crowd: Vec<TcpStream> = (0..20).map(|_| server.follow()).collect();
    let refused = crowd.into_iter().filter(|stream| {
        let mut stream = BufReader::new(stream);
        let mut first = String::new();
        stream.read_line(&mut first).unwrap_or(0) == 0 || first.contains(" 503 ")
    });
    assert!(refused.count() >= 1, "nobody was turned away");
    drop((server, visitors));
    let again = Server::start(&event, &[]);
    let visitors = follow(&again);
    wait_until(|| again.get("/live.json").contains("\"uci\""));
    fs::write(&go, "").unwrap();
    assert!(run.wait().unwrap().success());
    wait_until(|| again.get("/").contains("Over: "));
    let games = event.finished();
    assert_eq!(games.len(), 4);
    for game in games.values() {
        assert_eq!(game["termination"], "illegal move", "{game}");
    }
    drop(visitors);
    event.finish();
}

fn a_runner_that_is_killed_is_told_and_no_clock_runs_on() {
    let pace = tempfile::tempdir().unwrap();
    let go = pace.path().join("go");
    let event = held_match(1, &go);
    let server = Server::start(&event, &[]);
    let mut run = event.start();
    let left = "No runner is at work.";
    wait_until(|| {
        let page = server.get("/");
        page.contains("Under way") && page.contains(" data-since=") && !page.contains(left)
    });
    run.kill().unwrap();
    run.wait().unwrap();
    wait_until(|| {
        let page = server.get("/");
        page.contains(left) && !page.contains(" data-since=")
    });
    fs::write(&go, "").unwrap();
    event.finish();
    wait_until(|| server.get("/").contains("Over: "));
    assert!(!server.get("/").contains(left));
}

fn a_journal_that_is_damaged_leaves_the_pages_as_they_are() {
    let event = event_of(2, "", &stage("League", "round-robin = { doubles = 1 }", "ties = \"4k\""));
    event.finish();
    let mut server = Server::telling(&event);
    let before = server.get("/event.json");
    let mut visitor = BufReader::new(server.follow());
    let mut hear = || loop {
        let mut line = String::new();
        assert!(visitor.read_line(&mut line).unwrap() > 0);
        if line.contains("\"event\":true") {
            return;
        }
    };
    hear();
    let journal = event.path("event.journal");
    let whole = fs::read(&journal).unwrap();
    let mut damaged = whole[..whole.len() / 2].to_vec();
    damaged[whole.len() / 4] ^= 1;
    // Each in one step: no reader may see a part of a file, which would be a journal, too.
    let put = |bytes: &[u8]| {
        fs::write(event.path("beside"), bytes).unwrap();
        fs::rename(event.path("beside"), &journal).unwrap();
    };
    put(&damaged);
    // It reads the damage again and again, and shows what it saw before.
    server.wait_for_words("what was seen last stays until it can be read");
    assert!(server.get("/").contains("Over: "));
    assert_eq!(server.get("/event.json"), before);
    put(&whole);
    hear();
    assert_eq!(server.get("/event.json"), before);
}

/// The parts that change with each move are kept of the games that ended last alone; the pages of the others stay.
fn an_event_of_many_games_keeps_the_moving_parts_of_few() {
    // One game at a time: of two, the first may be kept back by the host until all others have ended.
    let stages = stage("League", "round-robin = { doubles = 1 }", "ties = \"4k\"");
    let event = event_of(4, "", &stages);
    let text = fs::read_to_string(event.path("event.toml")).unwrap();
    event.write("event.toml", &text.replacen("concurrency = 2", "concurrency = 1", 1));
    let server = Server::start(&event, &[]);
    event.finish();
    let moving = |key: &str| server.answer("GET", &format!("/games/{key}.live.html"), "").0;
    wait_until(|| moving("1-6.2") == 200 && moving("1-1.1") == 404);
    wait_until(|| server.get("/").contains("Over: "));
    for game in ["1-1.1", "1-6.2"] {
        assert!(server.get(&format!("/games/{game}.html")).contains("id=\"moves\""), "{game}");
    }
    let (_, pgn) = event.ask(&["event", "export", "pgn"]);
    let one = |text: &str| {
        let mut games: Vec<String> = text.split("[Event ").map(str::to_owned).collect();
        games.sort();
        games
    };
    assert_eq!(one(&server.get("/games.pgn")), one(&pgn));
}

/// The real games of season 26's 4k III, of which there is no journal.
fn an_event_that_was_recorded_has_the_same_pages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let event = event_of(2, "", &stage("League", "round-robin = { doubles = 1 }", "ties = \"4k\""));
    fs::copy(root.join("docs/examples/s26-4k-iii.toml"), event.path("event.toml")).unwrap();
    let games = ["s26-4k-iii.pgn.xz", "s26-4k-iii-minifinal.pgn.xz"]
        .map(|name| root.join("fixtures/games/4k").join(name).display().to_string());
    let words = ["event", "export", "site", "site", "--games", &games[0], "--games", &games[1]];
    let (code, text) = event.ask(&words);
    assert!(code == 0 && text.contains("with 170 games"), "{text}");
    let done = crawl(&event.path("site"));
    assert_eq!(done.iter().filter(|name| name.ends_with(".html")).count(), 171);
    let page = fs::read_to_string(event.path("site/index.html")).unwrap();
    assert!(page.contains("Over: 4ku 4.0 wins."), "{page}");
    // Nothing is known of its entries but their names.
    assert!(!page.contains("not yet checked"), "{page}");
    // Engines that told nothing of a search have no figures of it.
    for name in done.iter().filter(|name| name.ends_with(".html")) {
        let page = fs::read_to_string(event.path("site").join(name)).unwrap();
        assert!(!page.contains(">0 nodes<") && !page.contains(">1/1</td>"), "{name}");
    }
    let game: Value =
        serde_json::from_str(&fs::read_to_string(event.path("site/games/2-1.1.json")).unwrap())
            .unwrap();
    let moves = game["moves"].as_array().unwrap();
    assert_eq!((moves.len(), game["opening"]["eco"].as_str()), (309, Some("C89")));
    // 9. exd5, the first move behind the book, with its time and both clocks.
    assert_eq!((&moves[15]["book"], &moves[16]["used"]), (&true.into(), &80_105_000.into()));
    assert_eq!(moves[16]["clocks"], serde_json::json!([1_722_895_000u64, 1_800_000_000u64]));
    let (code, text) = event.ask(&["event", "export", "site", "site", "--games", "none.pgn"]);
    assert!(code == 3 && text.contains("cannot read none.pgn"), "{text}");
    event.write("other.pgn", "[Event \"x\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"*\"]\n\n*\n");
    let (code, text) = event.ask(&["event", "export", "site", "site", "--games", "other.pgn"]);
    assert!(code == 2 && text.contains("A is no entry of the event: 4ku 4.0, "), "{text}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow an_event_is_watched_from_before_its_first_game_to_its_end [Landlock, Xz],
        quick only_files_of_the_site_are_served_and_only_read,
        slow no_game_notices_two_hundred_visitors_or_a_server_that_is_killed,
        slow a_runner_that_is_killed_is_told_and_no_clock_runs_on,
        quick an_event_that_was_recorded_has_the_same_pages,
        quick an_event_of_many_games_keeps_the_moving_parts_of_few,
        slow a_journal_that_is_damaged_leaves_the_pages_as_they_are,
    ]
}
