//! Games whose players say what their script says, on a clock that nobody waits for.

use super::*;
use crate::model::evidence::ExitHow;
use crate::model::game::record::SearchInfo;
use crate::model::game::record::Stamp;
use crate::model::game::score::Score;
use std::cell::Cell;
use std::rc::Rc;

/// A clock that moves only when told to.
#[derive(Default)]
struct Manual(Cell<Duration>);

impl Manual {
    fn now(&self) -> Stamp {
        Stamp(self.0.get())
    }

    fn pass(&self, time: Duration) {
        self.0.set(self.0.get() + time);
    }
}

/// Says what its script says; each answer takes the given time on a clock that nobody waits for.
struct Actor {
    clock: Rc<Manual>,
    script: Vec<(u64, PlayerAnswer)>,
    asked: Vec<String>,
    start: Result<(), PlayerLost>,
}

impl Player for Actor {
    fn new_game(&mut self) -> Result<(), PlayerLost> {
        self.start.clone()
    }

    fn think(&mut self, text: &[u8], wait: Duration) -> Thought {
        self.asked.push(String::from_utf8(text.to_vec()).unwrap());
        let sent = self.clock.now();
        let (millis, said) =
            if self.script.is_empty() { (0, PlayerAnswer::Resign) } else { self.script.remove(0) };
        let time = Duration::from_millis(millis);
        let silent = time > wait;
        self.clock.pass(time.min(wait));
        Thought {
            sent,
            heard: self.clock.now(),
            said: if silent { PlayerAnswer::Lost(PlayerLost::Silent(wait)) } else { said },
        }
    }

    fn info(&self) -> SearchInfo {
        SearchInfo { score: Some(Score::centipawns(20)), ..SearchInfo::default() }
    }

    fn pv(&self) -> &[u8] {
        b"e2e4"
    }
}

fn moves(text: &str) -> Vec<(u64, PlayerAnswer)> {
    text.split_whitespace().map(|word| (100, PlayerAnswer::Move(word.parse().unwrap()))).collect()
}

struct Stage {
    white: Actor,
    black: Actor,
    controls: ByColor<TimeControl>,
    opening: Opening,
}

impl Stage {
    fn new(
        control: &str,
        white: Vec<(u64, PlayerAnswer)>,
        black: Vec<(u64, PlayerAnswer)>,
    ) -> Stage {
        let clock = Rc::new(Manual::default());
        let actor =
            |script| Actor { clock: Rc::clone(&clock), script, asked: Vec::new(), start: Ok(()) };
        let control: TimeControl = control.parse().unwrap();
        Stage {
            white: actor(white),
            black: actor(black),
            controls: ByColor { white: control, black: control },
            opening: Opening::default(),
        }
    }

    fn run(&mut self) -> GameRecord {
        let terms = GameTerms {
            opening: &self.opening,
            controls: self.controls,
            settings: &GameSettings { keep_pv: true, ..GameSettings::default() },
            margins: ByColor { white: None, black: None },
            resume: None,
        };
        let players = ByColor { white: &mut self.white, black: &mut self.black };
        play_watched(&terms, players, &mut |_| {})
    }
}

#[test]
fn a_game_is_played_told_and_recorded() {
    let mut stage = Stage::new("10+0.5", moves("f2f3 g2g4"), moves("e7e5 d8h4"));
    let record = stage.run();
    assert_eq!(record.ending, GameEnding::win(Color::Black, Termination::Mate));
    assert_eq!(
        stage.white.asked,
        [
            "position startpos\ngo wtime 10000 btime 10000 winc 500 binc 500\n",
            "position startpos moves f2f3 e7e5\ngo wtime 10400 btime 10400 winc 500 binc 500\n",
        ]
    );
    assert_eq!(record.plies.len(), 4);
    assert_eq!(record.plies[3].left, Duration::from_millis(10_800));
    assert_eq!(record.plies[3].used(), Duration::from_millis(100));
    assert_eq!(record.plies[3].sent, Stamp(Duration::from_millis(300)));
    assert_eq!(record.pvs, b"e2e4e2e4e2e4e2e4");
    assert_eq!(record.plies[1].pv, 4..8);
}

#[test]
fn an_interrupted_game_goes_on_from_its_moves_and_clocks() {
    let mut whole = Stage::new("10+0.5", moves("f2f3 g2g4"), moves("e7e5 d8h4"));
    let played = whole.run();
    let clocks = ByColor { white: Duration::from_secs(20), black: Duration::from_millis(9_900) };
    let resume = Resume { plies: played.plies[..2].to_vec(), clocks };
    let mut stage = Stage::new("10+0.5", moves("g2g4"), moves("d8h4"));
    let terms = GameTerms {
        opening: &stage.opening,
        controls: stage.controls,
        settings: &GameSettings { keep_pv: true, ..GameSettings::default() },
        margins: ByColor { white: None, black: None },
        resume: Some(&resume),
    };
    let mut told = Vec::new();
    let players = ByColor { white: &mut stage.white, black: &mut stage.black };
    let record =
        play_watched(&terms, players, &mut |ply| told.push((ply.number, ply.clocks.white)));
    assert_eq!(record.ending, played.ending);
    assert_eq!(record.plies.len(), 4);
    assert_eq!(
        stage.white.asked,
        ["position startpos moves f2f3 e7e5\ngo wtime 20000 btime 9900 winc 500 binc 500\n"]
    );
    let after = Duration::from_millis(20_400);
    assert_eq!(told, [(2, after), (3, after)]);
}

#[test]
fn what_is_not_a_clock_has_its_own_words() {
    for (control, go) in [
        ("nodes=5", "go nodes 5"),
        ("depth=3", "go depth 3"),
        ("movetime=0.2", "go movetime 200"),
        ("40/5", "go wtime 5000 btime 5000 winc 0 binc 0 movestogo 40"),
    ] {
        let mut stage = Stage::new(control, vec![], vec![]);
        let record = stage.run();
        assert_eq!(stage.white.asked[0], format!("position startpos\n{go}\n"));
        assert_eq!(record.ending.reason, Termination::Resignation);
    }
    let mut stage = Stage::new("10+1", moves("e2e4"), vec![]);
    stage.controls.black = "nodes=7".parse().unwrap();
    stage.run();
    assert!(stage.white.asked[0].ends_with("wtime 10000 btime 10000 winc 1000 binc 1000\n"));
    assert!(stage.black.asked[0].ends_with("go nodes 7\n"));
}

#[test]
fn late_moves_lose_whatever_they_are() {
    let late = vec![(1001, PlayerAnswer::Move("e2e4".parse().unwrap()))];
    let record = Stage::new("1+0", late, vec![]).run();
    let over = Some(Duration::from_millis(1));
    assert_eq!(record.ending, GameEnding::win(Color::Black, Termination::Time { over }));
    let unanswered = record.unanswered.unwrap();
    assert_eq!(unanswered.heard.since(unanswered.sent).as_millis(), 1001);
    assert_eq!(unanswered.left, Duration::from_secs(1));
}

#[test]
fn a_hang_is_a_stall_and_a_crash_with_a_clock_and_without() {
    let never = || vec![(u64::MAX / 2, PlayerAnswer::Resign)];
    let record = Stage::new("1+0", never(), vec![]).run();
    // Its second, and two more in which no late move came either.
    let waited = Duration::from_secs(3);
    assert_eq!(record.ending.reason, Termination::Stall { waited });
    assert_eq!(record.ending.crashed(), Some(Color::White));
    let record = Stage::new("nodes=10", moves("e2e4"), never()).run();
    let waited = Duration::from_secs(60);
    assert_eq!(record.ending, GameEnding::win(Color::White, Termination::Stall { waited }));
}

#[test]
fn illegal_moves_crashes_and_stops() {
    let end = |said| Stage::new("1+0", vec![(0, said)], vec![]).run().ending;
    let illegal = |text: &str| Termination::IllegalMove(text.into());
    assert_eq!(end(PlayerAnswer::Move("e2e5".parse().unwrap())).reason, illegal("e2e5"));
    assert_eq!(end(PlayerAnswer::NoMove("(none)".into())).reason, illegal("(none)"));
    let exit = Some(ExitHow::Signal(6));
    let crash = end(PlayerAnswer::Lost(PlayerLost::Gone(exit)));
    assert_eq!(crash, GameEnding::win(Color::Black, Termination::Crash { exit }));
    assert_eq!(end(PlayerAnswer::Lost(PlayerLost::Stopped)).result.word(), "*");
}

#[test]
fn who_does_not_start_loses() {
    let mut stage = Stage::new("1+0", vec![], vec![]);
    stage.black.start = Err(PlayerLost::NotStarted("no such file".into()));
    let record = stage.run();
    assert_eq!(record.ending.result.word(), "1-0");
    assert_eq!(record.ending.details(), "Black does not start");
    assert!(record.plies.is_empty());
}

#[test]
fn an_opening_is_played_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.txt");
    std::fs::write(&path, "f3 e5 g4").unwrap();
    let wanted = crate::game::openings::BookPart {
        plies: None,
        most: 9,
        order: crate::game::openings::BookOrder::Sequential,
        variant: crate::model::game::variant::Variant::Standard,
    };
    let book = crate::game::openings::Book::read(&path, wanted).unwrap();
    let mut stage = Stage::new("1+0", vec![], moves("d8h4"));
    stage.opening = book.openings()[0].clone();
    let record = stage.run();
    assert!(stage.black.asked[0].starts_with("position startpos moves f2f3 e7e5 g2g4\n"));
    assert_eq!((record.plies.len(), record.ending.result.word()), (1, "0-1"));
}

/// King f1, rook g1: both castle by taking their rooks, with Shredder's letters for the rights.
#[test]
fn chess960_is_told_by_its_position_and_castling_as_the_king_taking_his_rook() {
    let fen = "bbrnnkrq/pppppppp/8/8/8/8/PPPPPPPP/BBRNNKRQ w KQkq - 0 1";
    let start = fen.parse::<shakmaty::fen::Fen>().unwrap();
    let start = start.into_position(shakmaty::CastlingMode::Chess960).unwrap();
    let mut stage = Stage::new("1+0", moves("f1g1 a2a4 a4a5"), moves("f8g8 e7e5 g8f8 f8g8"));
    stage.opening = Opening::new(start, Vec::new());
    let record = stage.run();
    let told = "position fen bbrnnkrq/pppppppp/8/8/8/8/PPPPPPPP/BBRNNKRQ w GCgc - 0 1";
    assert_eq!(stage.white.asked[0].lines().next(), Some(told));
    assert_eq!(
        stage.black.asked[1].lines().next().unwrap(),
        format!("{told} moves f1g1 f8g8 a2a4")
    );
    // The king that has castled cannot take his rook once more.
    assert_eq!(
        record.ending,
        GameEnding::win(Color::White, Termination::IllegalMove("g8f8".into()))
    );
    assert_eq!(record.length(), 5);
    let san: Vec<String> = record
        .positions()
        .scan(record.opening.start(), |before, (one, after)| {
            let (san, _) = crate::game::notation::played(before, one);
            *before = after;
            Some(san)
        })
        .collect();
    assert_eq!(san, ["O-O", "O-O", "a4", "e5", "a5"]);
}
