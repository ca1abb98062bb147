//! The cost of an audience: `cargo bench --bench audience`.
//!
//! Games a second of an event between engines that answer at once (tests/engine/instant.c), alone, beside
//! `gate4k event serve`, with 200 readers of its stream, and with them and the server in another session, in turns; and the time from a move to the files and the
//! stream of the server, while 200 readers follow. The readers are threads of this process at the server's own priority. The event lies in
//! memory: on a disk, games of a hundredth of a second wait for the journal to be written, the processors are idle for three quarters of
//! the time, and the disk differs by a tenth from turn to turn.
//! `GATE4K=PATH` measures another build. One part alone: `cargo bench --bench audience -- delay` (games).
#![expect(clippy::expect_used, reason = "a benchmark that cannot measure has nothing to say")]

#[path = "../tests/engine/mod.rs"]
mod engine;
#[path = "common/median.rs"]
mod median;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use engine::instant;
use median::median;
use tempfile::TempDir;

const READERS: usize = 200;
const TURNS: usize = 5;
/// Rounds of two games: some fifteen seconds, so that a start counts little.
const DOUBLES: usize = 4000;

/// An event between two engines.
struct Event {
    dir: TempDir,
    games: usize,
}

impl Event {
    /// One whose engines have these arguments.
    fn new(arguments: &str, doubles: usize) -> Event {
        let dir = tempfile::tempdir_in("/dev/shm").expect("a directory");
        let engine = |number: usize| {
            let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            let words = [&words[..], &[format!("seed={number}")]].concat();
            format!("[[engine]]\nname = \"E{number}\"\ncmd = {:?}\nargs = {words:?}\n", instant())
        };
        let text = format!(
            "event = \"Bench\"\ntime-control = \"60+1\"\nconcurrency = 2\n{}{}\
             [[stage]]\nname = \"League\"\nbook-policy = \"none\"\nties = \"4k\"\n\
             format = {{ round-robin = {{ doubles = {doubles} }} }}\n",
            engine(1),
            engine(2)
        );
        std::fs::write(dir.path().join("event.toml"), text).expect("the event's file");
        Event { dir, games: 2 * doubles }
    }

    fn program() -> PathBuf {
        std::env::var_os("GATE4K")
            .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_gate4k")), PathBuf::from)
    }

    fn command(&self, words: &[&str]) -> Command {
        self.of(Command::new(Event::program()), words)
    }

    /// As `command`, as the leader of a new session.
    fn setsid(&self, words: &[&str]) -> Command {
        let mut command = Command::new("setsid");
        command.arg(Event::program());
        self.of(command, words)
    }

    fn of(&self, mut command: Command, words: &[&str]) -> Command {
        command.args(words).current_dir(self.dir.path()).stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Plays it, and says how long it took.
    fn play(&self) -> Duration {
        let began = Instant::now();
        let run =
            self.command(&["event", "run", "--quiet", "--live"]).stdout(Stdio::null()).status();
        assert!(run.is_ok_and(|status| status.success()), "the event does not run to its end");
        began.elapsed()
    }
}

/// The session that a server is started in.
#[derive(Clone, Copy)]
enum Session {
    OfTheGames,
    Own,
}

/// A server of an event.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// One in this process's session, or in one of its own: the kernel shares the processors out among sessions first
    /// (autogroup, sched(7)), and heeds priorities only within one.
    fn start(event: &Event, session: Session) -> Server {
        let words = ["event", "serve", "--listen", "127.0.0.1:0"];
        let mut command = match session {
            Session::OfTheGames => event.command(&words),
            Session::Own => event.setsid(&words),
        };
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a server");
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("its address");
        let address = line.trim_end().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        Server { address: address.to_owned(), child }
    }

    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let question = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(question.as_bytes()).expect("a question");
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Readers of a server's stream.
struct Readers {
    over: Arc<AtomicBool>,
    heard: Arc<AtomicUsize>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Readers {
    fn start(server: &Server, readers: usize) -> Readers {
        let (over, heard) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let threads = (0..readers).map(|_| {
            let mut stream = server.ask("/changes");
            let (over, heard) = (Arc::clone(&over), Arc::clone(&heard));
            let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
            thread::spawn(move || {
                // Of this thread alone, as visitors elsewhere take nothing from the games.
                let _ = rustix::process::nice(19);
                let mut bytes = [0; 4096];
                while !over.load(Ordering::Relaxed) {
                    if stream.read(&mut bytes).is_ok_and(|read| read > 0) {
                        heard.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        });
        Readers { threads: threads.collect(), over, heard }
    }

    /// Ends them, and says how much they heard, each in the mean.
    fn end(self) -> f64 {
        self.over.store(true, Ordering::Relaxed);
        let readers = self.threads.len();
        self.threads.into_iter().for_each(|thread| drop(thread.join()));
        self.heard.load(Ordering::Relaxed) as f64 / readers as f64
    }
}

/// Games a second alone, beside a server, and with readers.
fn games() {
    const WAYS: [Option<(Session, usize)>; 4] = [
        None,
        Some((Session::OfTheGames, 0)),
        Some((Session::OfTheGames, READERS)),
        Some((Session::Own, READERS)),
    ];
    let turn = |turn: usize| {
        let rate = |audience: Option<(Session, usize)>| {
            let event = Event::new("illegal@120", DOUBLES);
            let server = audience.map(|(session, _)| Server::start(&event, session));
            let readers = server
                .as_ref()
                .zip(audience)
                .map(|(server, (_, number))| Readers::start(server, number));
            let took = event.play();
            let heard = readers.map_or(0.0, Readers::end);
            (event.games as f64 / took.as_secs_f64(), heard)
        };
        // Each turn begins with another one, so that none always has the machine as another leaves it.
        let mut rates = [(0.0, 0.0); WAYS.len()];
        for way in (turn..turn + WAYS.len()).map(|way| way % WAYS.len()) {
            rates[way] = rate(WAYS[way]);
        }
        rates
    };
    let turns: Vec<[(f64, f64); WAYS.len()]> = (0..TURNS).map(turn).collect();
    println!(
        "  alone                           {:8.1} games/s",
        median(turns.iter().map(|turn| turn[0].0))
    );
    // Nobody read where there were no readers.
    let told = |words: f64| {
        if words > 0.0 { format!("; {words:.0} words to each") } else { String::new() }
    };
    let ways =
        [(1, "beside a server"), (2, "with 200 readers"), (3, "with them, in another session")];
    for (way, name) in ways {
        println!(
            "  {name:<31} {:8.1} games/s, {:.3} x (medians of {TURNS} turns{})",
            median(turns.iter().map(|turn| turn[way].0)),
            median(turns.iter().map(|turn| turn[way].0 / turn[0].0)),
            told(median(turns.iter().map(|turn| turn[way].1)))
        );
    }
}

/// The time from a move, as the live file has it, to the answer with the changed part of its page.
fn delay() {
    let event = Event::new("late@0:150 illegal@60", 2);
    let server = Server::start(&event, Session::OfTheGames);
    let readers = Readers::start(&server, READERS);
    let mut run = event
        .command(&["event", "run", "--quiet", "--live"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the event");
    let mut stream = BufReader::new(server.ask("/changes"));
    let mut delays: Vec<f64> = Vec::new();
    let mut last = String::new();
    while run.try_wait().expect("its state").is_none() {
        let mut line = String::new();
        stream.read_line(&mut line).expect("a word");
        if !line.contains("\"live\":true") {
            continue;
        }
        for game in ["1-1.1", "1-2.1", "1-3.1", "1-4.1"] {
            let page = body(&server, &format!("/games/{game}.live.html"));
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let since = page.split("data-since=\"").nth(1).and_then(|rest| rest.split('"').next());
            let Some(since) = since.filter(|since| !last.contains(*since)) else { continue };
            last = format!("{since} {}", last.split(' ').next().unwrap_or_default());
            let moved: f64 = since.parse().unwrap_or(f64::NAN);
            delays.push(now.as_secs_f64() * 1e3 - moved);
        }
    }
    let heard = readers.end();
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| {
        delays.get((delays.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN)
    };
    println!(
        "  {} moves are on their page after {:.0} ms (median), 95 of 100 within {:.0} ms, 99 within {:.0} ms; {heard:.0} \
         words to each of {READERS} readers",
        delays.len(),
        at(0.5),
        at(0.95),
        at(0.99)
    );
}

/// The body of an answer.
fn body(server: &Server, path: &str) -> String {
    let mut stream = TcpStream::connect(&server.address).expect("a connection");
    let question =
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address);
    stream.write_all(question.as_bytes()).expect("a question");
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}

fn main() {
    let parts: [(&str, fn()); 2] = [("games", games), ("delay", delay)];
    let asked: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, part) in parts {
        if asked.is_empty() || asked.iter().any(|word| word == name) {
            println!("{name}");
            part();
        }
    }
}
