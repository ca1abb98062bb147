//! Hand-built evidence for the tests of the rules: a healthy entry, and the ways to spoil it.

use std::time::Duration;

use crate::judge::support::allowed::{Allowed, CommandWord};
use crate::model::command_words::base_name;
use crate::model::evidence::{
    Answer, Ask, Capabilities, EndHow, EntryColours, Evidence, Exec, ExecOutcome, ExitHow,
    FileAccess, FileOpen, GameEnd, GamesEvidence, GoQuestion, HostFacts, IdleSeen, LeftFile,
    LeftProcess, Limits, Opener, Overcommit, PlayedGame, PlayedGames, PlayedPly, ProgramClass,
    Purpose, Question, Refusal, Resource, Rival, Run, RunEnding,
};
use crate::model::game::result::GameResult;
use crate::model::layer_status::{Layer, LayerName, LayerState};
use crate::model::units::{Bytes, Ply};
use crate::policy::allowlist::AcceleratorPart;
use crate::policy::toolchain::HostProgram;

/// The list after which every healthy test engine is asked.
pub(crate) const LISTED: &str = "position startpos moves e2e4";

pub(crate) fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// A search in the rule's form.
pub(crate) fn go(position: &str, command: &str, plies: u32) -> GoQuestion {
    GoQuestion {
        position: position.into(),
        command: command.into(),
        plies: Ply(plies),
        fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".into(),
        go: "go wtime 1800000 btime 1800000 winc 3000 binc 3000".into(),
        left: Some(ms(1_800_000)),
    }
}

pub(crate) fn ask(question: Question, at: u64, took: u64, answer: Answer) -> Ask {
    Ask {
        set: None,
        question,
        at: ms(at),
        took: ms(took),
        answer,
        infos: 0,
        last_info: None,
        other: None,
        unfinished: None,
    }
}

pub(crate) fn legal(uci: &str) -> Answer {
    Answer::Legal(uci.into())
}

pub(crate) fn illegal(line: &str, why: &str) -> Answer {
    Answer::Illegal { line: line.into(), why: why.to_owned().into() }
}

/// One program of a run.
pub(crate) fn exec(by: Option<usize>, name: &str, class: ProgramClass) -> Exec {
    Exec {
        at: ms(1),
        pid: 10,
        parent: 9,
        by,
        asked: format!("/usr/bin/{name}"),
        real: Some(format!("/usr/bin/{name}")),
        script: false,
        argv: vec![name.into()],
        outcome: ExecOutcome::Ran,
        class,
        name: name.into(),
        lasted: Some(ms(20)),
        exit: Some(ExitHow::Status(0)),
        product: None,
        lacks: None,
    }
}

/// A run of a healthy engine: shakes hands, plays from both forms of `position`, quits at once.
pub(crate) fn run(purpose: Purpose) -> Run {
    Run {
        purpose,
        uciok: Some(ms(500)),
        readyok: Some(ms(510)),
        asks: vec![
            ask(Question::Uci, 0, 500, Answer::Done),
            ask(Question::IsReady, 500, 10, Answer::Done),
            ask(Question::NewGame, 510, 5, Answer::Done),
            ask(Question::Go(go("startpos", "position startpos", 0)), 520, 1_000, legal("e2e4")),
            ask(Question::Go(go("listed", LISTED, 1)), 1_600, 1_000, legal("e7e5")),
            ask(Question::Quit, 2_700, 10, Answer::Done),
        ],
        ending: RunEnding {
            how: EndHow::Quit,
            exit: Some(ExitHow::Status(0)),
            exit_after: Some(ms(10)),
            emptied_after: Some(ms(3_010)),
        },
        execs: vec![exec(None, "sh", ProgramClass::Entry)],
        ..Run::default()
    }
}

/// A host with every mandatory layer, 8 GiB and two processors.
pub(crate) fn host() -> HostFacts {
    let layer = |name| Layer { name, state: LayerState::Enforced, reason: String::new() };
    HostFacts {
        kernel: "6.18".into(),
        cpus: 2,
        memory: Bytes(8 << 30),
        memory_limit: None,
        overcommit: Overcommit::Heuristic,
        lazy_memory: false,
        layers: [
            LayerName::Landlock,
            LayerName::Seccomp,
            LayerName::Privileges,
            LayerName::Rlimits,
            LayerName::ExecReporter,
            LayerName::Workspace,
            LayerName::Mount,
        ]
        .map(layer)
        .into(),
        lowered_limits: Vec::new(),
        missing_commands: vec!["pypy3".into()],
        chess_libraries: vec!["/usr/lib/python3/dist-packages/chess".into()],
    }
}

pub(crate) fn evidence_of(runs: impl IntoIterator<Item = Run>) -> Evidence {
    Evidence {
        runs: runs.into_iter().collect(),
        capabilities: Capabilities::default(),
        games: GamesEvidence::NotYet,
        host: host(),
        limits: Limits::default(),
        strict: false,
        quick: false,
    }
}

/// A healthy entry, every purpose that a gate needs.
pub(crate) fn evidence() -> Evidence {
    let mut long = run(Purpose::LongGame(Ply(340)));
    long.asks = vec![ask(
        Question::Go(go("long-340", "position startpos moves g1f3 g8f6", 340)),
        520,
        1_000,
        legal("f3g1"),
    )];
    let mut idle = run(Purpose::Idle);
    idle.idle_before_go = Some(0.0);
    idle.idle_after_moves = vec![IdleSeen { watched: ms(3_600), ..IdleSeen::default() }];
    let mut clock = run(Purpose::Clock);
    let little = GoQuestion { left: Some(ms(5_000)), ..go("little", LISTED, 1) };
    clock.asks.push(ask(Question::Go(little), 9_000, 200, legal("e7e5")));
    let mut evidence =
        evidence_of([run(Purpose::Main), run(Purpose::Positions), long, idle, clock]);
    let rivals = [Rival::Itself, Rival::Itself, Rival::Reference, Rival::Reference];
    evidence.games = games(rivals.iter().zip(1..).map(|(rival, n)| game(n, *rival)).collect());
    evidence
}

/// A game that ended as games do.
pub(crate) fn game(number: usize, rival: Rival) -> PlayedGame {
    PlayedGame {
        number,
        rival,
        colours: EntryColours::Both,
        answered: 36,
        slowest: Some(ms(30)),
        command: "position startpos moves e2e4".into(),
        fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1".into(),
        moves: vec![PlayedPly { uci: "e2e4".into(), took: None, score: None }; 40],
        result: GameResult::Win(shakmaty::Color::White),
        end: GameEnd::Whole("White mates".into()),
        told: Vec::new(),
        again: None,
        late: Vec::new(),
        exit: None,
        stderr: Vec::new(),
        refusals: Vec::new(),
    }
}

/// Of four games that were wanted, these.
pub(crate) fn games(games: Vec<PlayedGame>) -> GamesEvidence {
    GamesEvidence::Played(PlayedGames {
        left: Vec::new(),
        control: "0.3+0.01".into(),
        limit: ms(30_000),
        took: ms(4_000),
        wanted: 4,
        games,
        surplus_moves: false,
        disproved: Vec::new(),
    })
}

/// Changes to a run, in a chain.
impl Run {
    pub(crate) fn started(mut self, by: Option<usize>, name: &str, class: ProgramClass) -> Run {
        self.execs.push(exec(by, name, class));
        self
    }
    /// Sets the last program's outcome.
    pub(crate) fn outcome(mut self, outcome: ExecOutcome) -> Run {
        if let Some(exec) = self.execs.last_mut() {
            exec.outcome = outcome;
        }
        self
    }
    /// A run that never said `uciok`.
    pub(crate) fn not_up(mut self) -> Run {
        self.uciok = None;
        self.readyok = None;
        self.asks = vec![ask(Question::Uci, 0, 60_000, Answer::Timeout)];
        self.ending =
            RunEnding { how: EndHow::Killed, exit: None, exit_after: None, emptied_after: None };
        self
    }
    /// A run that ended before `uciok`.
    pub(crate) fn died(mut self, exit: ExitHow) -> Run {
        self = self.not_up();
        self.asks = vec![ask(Question::Uci, 0, 30, Answer::Ended(Some(exit)))];
        self.ending.how = EndHow::ByItself;
        self.ending.exit = Some(exit);
        self
    }
    /// One more question before `quit`.
    pub(crate) fn asked(mut self, question: Question, answer: Answer) -> Run {
        let at = self.asks.len().saturating_sub(1);
        self.asks.insert(at, ask(question, 2_650, 20, answer));
        self
    }
    pub(crate) fn stderr(mut self, line: &str) -> Run {
        self.stderr_tail.push(line.into());
        self
    }
    pub(crate) fn refused(mut self, what: Resource) -> Run {
        self.refusals.push(Refusal { by: Some(0), what });
        self
    }
    pub(crate) fn looked_for(mut self, name: &str) -> Run {
        self.not_installed.push(name.into());
        self
    }
    pub(crate) fn opened(mut self, path: &str, denied: bool) -> Run {
        self.opens.push(FileOpen {
            at: ms(5),
            by: Some(0),
            path: path.into(),
            own: path.starts_with("/tmp/"),
            access: FileAccess::Read,
            denied,
            missing: false,
            opener: Opener::LOADER,
        });
        self
    }
    pub(crate) fn left(mut self, path: &str, exempt: Option<&str>) -> Run {
        self.left_files.push(LeftFile {
            path: path.into(),
            size: Bytes(1_234),
            kind: "file".into(),
            made_by: Some("mktemp".into()),
            exempt: exempt.map(Into::into),
        });
        self
    }
    pub(crate) fn stopped(mut self, command: &str) -> Run {
        let state = LeftProcess::STOPPED;
        self.stopped = Some(LeftProcess { pid: 77, state, command: command.into() });
        self
    }
    pub(crate) fn still_runs(mut self, command: &str, state: char) -> Run {
        self.left_processes.push(LeftProcess { pid: 77, state, command: command.into() });
        self.ending.emptied_after = None;
        self
    }
}

/// The rules' list in small: enough for the tests.
pub(crate) struct TestList;

impl Allowed for TestList {
    fn command(&self, name: &str) -> CommandWord {
        let class = match name {
            "sh" | "cc" | "xz" | "python3" | "pypy3" => ProgramClass::Listed,
            "cc1" => ProgramClass::Helper,
            "rm" => ProgramClass::Tolerated,
            _ => ProgramClass::Refused,
        };
        CommandWord { class, reason: "the rules' own example calls it".into() }
    }

    fn is_version(&self, name: &str) -> bool {
        name.starts_with("python3.")
    }

    fn may_be_elsewhere(&self, path: &str) -> bool {
        path.starts_with("/usr/bin/python3") || path.starts_with("/lib/ld-")
    }

    fn accelerator_part(&self, library: &str) -> Option<AcceleratorPart> {
        match base_name(library) {
            "libcuda.so.1" => Some(AcceleratorPart::Driver),
            "libOpenCL.so.1" => Some(AcceleratorPart::Loader),
            _ => None,
        }
    }

    fn program_at(&self, path: &str) -> Option<HostProgram> {
        match path {
            "/usr/bin/touch" => Some(HostProgram::Helper),
            "/usr/bin/mv" => Some(HostProgram::HelperScript),
            "/usr/lib/gcc/12/mapper-server" => Some(HostProgram::Unlisted),
            _ => None,
        }
    }

    fn library_refused(&self, name_or_path: &str) -> Option<String> {
        let mut allowed = ["libc.so.6", "numpy", "json", "libm.so.6"].iter();
        let is_allowed = allowed.any(|word| name_or_path.contains(word));
        (!is_allowed).then(|| "not in allowlist.toml".into())
    }
}
