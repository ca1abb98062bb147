//! One game between two players, move by move, with the evidence of each move.
//!
//! The loop allocates nothing a move: the text of the `position` command grows by one move a ply, and the
//! record's memory is taken before the first.

use std::io::Write as _;
use std::ops::Range;
use std::time::Duration;

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Color, Move, Position};

use crate::evidence::ExitHow;
use crate::game::adjudicate::{Adjudicator, Rules};
use crate::game::clock::{Flag, GameClock, Patience, Stamp, TimeControl};
use crate::game::end::{Ending, Material, Reason, Referee};
use crate::game::info::Info;
use crate::game::tables::Tables;
use crate::openings::Opening;

/// Games longer than this make the record grow, which costs memory and nothing else.
const USUAL_PLIES: usize = 400;

/// One who can be asked for moves.
pub trait Player {
    /// A new game begins.
    ///
    /// # Errors
    /// Why this player cannot play it.
    fn new_game(&mut self) -> Result<(), Lost>;

    /// Sends the text (`position …`, `go …`, with their line ends) and waits for an answer, `wait` at most.
    fn think(&mut self, text: &[u8], wait: Duration) -> Thought;

    /// What the last answer's search said of itself.
    fn info(&self) -> Info {
        Info::default()
    }

    /// The line of play that the last answer's search expected, in UCI's words.
    fn pv(&self) -> &[u8] {
        b""
    }
}

/// Why a player is lost for a game, besides its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Could not be started.
    NotStarted(String),
    /// The host could not give it what it needs, which is nobody's loss.
    Host(String),
    /// Ended, or closed its output.
    Gone(Option<ExitHow>),
    /// Gave no answer for so long.
    Silent(Duration),
    /// The match is broken off.
    Stopped,
}

/// An answer, with the moments at which the question was written and the answer read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thought {
    /// Just before `go` was written.
    pub sent: Stamp,
    /// Just after the read that brought the answer (or the end of waiting).
    pub heard: Stamp,
    /// The answer.
    pub said: Said,
}

/// What a player said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A move, legal or not.
    Move(UciMove),
    /// `bestmove` with something else behind it: what stood there.
    NoMove(String),
    /// `bestmove resign`.
    Resign,
    /// Nothing.
    Lost(Lost),
}

/// What holds for a game.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Where it begins.
    pub opening: &'a Opening,
    /// Each side's time control.
    pub controls: ByColor<TimeControl>,
    /// Margins and bounds.
    pub patience: Patience,
    /// Whether insufficient material is a draw.
    pub material: Material,
    /// Adjudication.
    pub rules: Rules,
    /// Endgame tables to adjudicate by.
    pub tables: Option<&'a Tables>,
    /// Whether the engines' expected lines are kept for the record.
    pub keep_pv: bool,
    /// What was played before an interruption (rule 6.1.5); none for a game from its beginning.
    pub resume: Option<&'a Resume>,
}

/// A game that goes on after an interruption (rule 6.1.5).
#[derive(Clone, Debug, Default)]
pub struct Resume {
    /// The moves that players had made.
    pub plies: Vec<PlyRecord>,
    /// What the clocks show when it goes on, compensation included.
    pub clocks: ByColor<Duration>,
}

/// A move as it is told while the game goes on.
#[derive(Debug)]
pub struct Played<'a> {
    /// The moves that players made before it.
    pub number: usize,
    /// Who made it.
    pub mover: Color,
    /// The move.
    pub ply: &'a PlyRecord,
    /// Both clocks after it.
    pub clocks: ByColor<Duration>,
    /// The line of play that its search expected.
    pub pv: &'a [u8],
}

/// One move and its evidence.
#[derive(Clone, Debug)]
pub struct PlyRecord {
    /// The move.
    pub played: Move,
    /// When it was asked for.
    pub sent: Stamp,
    /// When it was heard.
    pub heard: Stamp,
    /// What the mover's clock showed after it, increment included.
    pub left: Duration,
    /// What the search said, from the mover's point of view.
    pub info: Info,
    /// Where its expected line stands in [`GameRecord::pvs`].
    pub pv: Range<usize>,
    /// Plies to the draw and the win rule; negative while these do not count.
    pub rules_in: (i32, i32),
}

impl PlyRecord {
    /// How long the move took.
    #[must_use]
    pub fn used(&self) -> Duration {
        self.heard.since(self.sent)
    }
}

/// The question that ended a game without a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unanswered {
    /// When it was asked.
    pub sent: Stamp,
    /// When the answer came, or the waiting ended.
    pub heard: Stamp,
    /// What the clock allowed.
    pub left: Duration,
}

/// A game as it was played.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// The opening.
    pub opening: Opening,
    /// The moves that players made.
    pub plies: Vec<PlyRecord>,
    /// The expected lines, one after the other.
    pub pvs: Vec<u8>,
    /// How it ended.
    pub ending: Ending,
    /// The question without an answer that counts, where the game ended by one.
    pub unanswered: Option<Unanswered>,
    /// The side that gave no answer at all: its engine must not be asked again.
    pub hung: Option<Color>,
}

/// Plays a game to its end.
pub fn play<P: Player + ?Sized>(terms: &Terms<'_>, players: ByColor<&mut P>) -> GameRecord {
    play_watched(terms, players, &mut |_| {})
}

/// As [`play`], telling every move when it has been judged, before the next is asked for.
pub fn play_watched<P: Player + ?Sized>(
    terms: &Terms<'_>,
    players: ByColor<&mut P>,
    watch: &mut dyn FnMut(Played<'_>),
) -> GameRecord {
    Game::new(terms).run(players, watch)
}

struct Game<'a> {
    terms: &'a Terms<'a>,
    referee: Referee,
    clock: GameClock,
    adjudicator: Adjudicator,
    /// `position …` without its line end, then what is added for each question.
    text: Vec<u8>,
    /// Whether `moves` stands in the text already.
    has_moves: bool,
    record: GameRecord,
}

impl<'a> Game<'a> {
    fn new(terms: &'a Terms<'a>) -> Game<'a> {
        let mut text = Vec::with_capacity(32 + 5 * USUAL_PLIES);
        match terms.opening.fen() {
            Some(fen) => {
                text.extend_from_slice(b"position fen ");
                text.extend_from_slice(fen.as_bytes());
            }
            None => text.extend_from_slice(b"position startpos"),
        }
        Game {
            referee: Referee::new(terms.opening.start(), terms.material),
            clock: clock(terms),
            adjudicator: Adjudicator::new(terms.rules),
            text,
            has_moves: false,
            record: GameRecord {
                opening: terms.opening.clone(),
                plies: Vec::with_capacity(USUAL_PLIES),
                pvs: Vec::with_capacity(if terms.keep_pv { 64 * USUAL_PLIES } else { 0 }),
                ending: Ending::aborted("not played"),
                unanswered: None,
                hung: None,
            },
            terms,
        }
    }

    fn run<P: Player + ?Sized>(
        mut self,
        players: ByColor<&mut P>,
        watch: &mut dyn FnMut(Played<'_>),
    ) -> GameRecord {
        let ByColor { white, black } = players;
        for (side, player) in [(Color::White, &mut *white), (Color::Black, &mut *black)] {
            if let Err(lost) = player.new_game() {
                return self.over(lost_at_start(side, lost));
            }
        }
        let mut over = self.referee.ending();
        for one in self.terms.opening.moves() {
            if over.is_some() {
                break;
            }
            over = self.moved(*one);
        }
        if let (None, Some(resume)) = (&over, self.terms.resume) {
            over = self.bring_back(resume);
        }
        loop {
            if let Some(ending) = over {
                return self.over(ending);
            }
            let before = self.record.plies.len();
            let mover = self.referee.position().turn();
            over = match self.referee.position().turn() {
                Color::White => self.ply(white),
                Color::Black => self.ply(black),
            };
            if let Some(ply) = self.record.plies.get(before) {
                let clocks = ByColor {
                    white: self.clock.left(Color::White),
                    black: self.clock.left(Color::Black),
                };
                let pv = self.record.pvs.get(ply.pv.clone()).unwrap_or_default();
                watch(Played { number: before, mover, ply, clocks, pv });
            }
        }
    }

    /// Plays what was played before an interruption, with the counters that it moved.
    fn bring_back(&mut self, resume: &Resume) -> Option<Ending> {
        let mut over = None;
        for ply in &resume.plies {
            if over.is_some() {
                break;
            }
            let side = self.referee.position().turn();
            over = self.moved(ply.played);
            let eval = ply.info.eval.map(|eval| eval.for_white(side));
            over = over.or_else(|| self.adjudicator.after(&self.referee, eval));
            self.record.plies.push(PlyRecord { pv: 0..0, ..ply.clone() });
        }
        over
    }

    fn over(mut self, ending: Ending) -> GameRecord {
        self.record.ending = ending;
        self.record
    }

    /// Plays a legal move on the board and in the text.
    fn moved(&mut self, one: Move) -> Option<Ending> {
        if !self.has_moves {
            self.text.extend_from_slice(b" moves");
            self.has_moves = true;
        }
        self.text.push(b' ');
        one.to_uci(CastlingMode::Standard).append_ascii_to(&mut self.text);
        self.referee.play(one)
    }

    /// Asks one player for one move.
    fn ply<P: Player + ?Sized>(&mut self, player: &mut P) -> Option<Ending> {
        let side = self.referee.position().turn();
        let length = self.text.len();
        self.text.push(b'\n');
        write_go(&mut self.text, &self.clock, side);
        let thought = player.think(&self.text, self.clock.wait(side));
        self.text.truncate(length);
        let used = thought.heard.since(thought.sent);
        let left = self.clock.left(side);
        match self.judge(side, &thought, used) {
            Ok(one) => {
                let info = player.info();
                let before = self.record.pvs.len();
                if self.terms.keep_pv {
                    self.record.pvs.extend_from_slice(player.pv());
                }
                let board_end = self.moved(one);
                let eval = info.eval.map(|eval| eval.for_white(side));
                let end = board_end
                    .or_else(|| self.terms.tables?.probe(self.referee.position()))
                    .or_else(|| self.adjudicator.after(&self.referee, eval));
                self.record.plies.push(PlyRecord {
                    played: one,
                    sent: thought.sent,
                    heard: thought.heard,
                    left: self.clock.left(side),
                    info,
                    pv: before..self.record.pvs.len(),
                    rules_in: self.adjudicator.rules_in(),
                });
                end
            }
            Err(ending) => {
                if matches!(thought.said, Said::Lost(Lost::Silent(_))) {
                    self.record.hung = Some(side);
                }
                self.record.unanswered =
                    Some(Unanswered { sent: thought.sent, heard: thought.heard, left });
                Some(ending)
            }
        }
    }

    /// The legal move in an answer that came in time, or how the game ends without one.
    fn judge(&mut self, side: Color, thought: &Thought, used: Duration) -> Result<Move, Ending> {
        let loses = |reason| Ending::win(!side, reason);
        match &thought.said {
            Said::Lost(Lost::Stopped) => return Err(Ending::aborted("the match was stopped")),
            Said::Lost(Lost::Gone(exit)) => return Err(loses(Reason::Crash { exit: *exit })),
            Said::Lost(Lost::Host(why)) => return Err(Ending::aborted(why.clone())),
            Said::Lost(Lost::NotStarted(why)) => return Err(loses(Reason::NoStart(why.clone()))),
            Said::Lost(Lost::Silent(_)) if self.clock.runs(side) => {
                return Err(loses(Reason::Time { over: None }));
            }
            Said::Lost(Lost::Silent(waited)) => {
                return Err(loses(Reason::Stall { waited: *waited }));
            }
            Said::Move(_) | Said::NoMove(_) | Said::Resign => {}
        }
        // Time first: a move that comes too late is not looked at.
        if let Err(Flag { over }) = self.clock.spend(side, used) {
            return Err(loses(Reason::Time { over: Some(over) }));
        }
        match &thought.said {
            Said::Resign => Err(loses(Reason::Resignation)),
            Said::Move(said) => {
                self.referee.find(*said).ok_or_else(|| loses(Reason::IllegalMove(said.to_string())))
            }
            Said::NoMove(said) => Err(loses(Reason::IllegalMove(said.clone()))),
            Said::Lost(_) => Err(Ending::aborted("no answer")),
        }
    }
}

/// The clocks as the game begins, or as it goes on.
fn clock(terms: &Terms<'_>) -> GameClock {
    let Some(resume) = terms.resume else {
        return GameClock::new(terms.controls, terms.patience);
    };
    let mut side = terms.opening.moves().iter().fold(terms.opening.start().turn(), |side, _| !side);
    let mut made = ByColor { white: 0, black: 0 };
    for _ in &resume.plies {
        *made.get_mut(side) += 1;
        side = !side;
    }
    GameClock::resumed(terms.controls, terms.patience, resume.clocks, made)
}

/// An engine that is not there when the game begins.
fn lost_at_start(side: Color, lost: Lost) -> Ending {
    match lost {
        Lost::NotStarted(why) => Ending::win(!side, Reason::NoStart(why)),
        Lost::Host(why) => Ending::aborted(why),
        Lost::Gone(exit) => Ending::win(!side, Reason::Crash { exit }),
        Lost::Silent(waited) => Ending::win(!side, Reason::Stall { waited }),
        Lost::Stopped => Ending::aborted("the match was stopped"),
    }
}

/// The `go` for this side. Between two clocks it is the rule's form and order, and nothing else.
fn write_go(text: &mut Vec<u8>, clock: &GameClock, side: Color) {
    // Whole milliseconds; a clock that shows less than one must not read as "no clock".
    let shown = |side: Color| clock.left(side).as_millis().max(1);
    let written = match clock.control(side) {
        TimeControl::Clock { .. } => {
            // An opponent without a clock is told as if it had the mover's.
            let of = |color: Color| match clock.control(color) {
                TimeControl::Clock { .. } => color,
                _ => side,
            };
            let (white, black) = (of(Color::White), of(Color::Black));
            let written = write!(
                text,
                "go wtime {} btime {} winc {} binc {}",
                shown(white),
                shown(black),
                clock.increment(white).as_millis(),
                clock.increment(black).as_millis()
            );
            match clock.moves_to_go(side) {
                Some(moves) => written.and_then(|()| write!(text, " movestogo {moves}")),
                None => written,
            }
        }
        TimeControl::MoveTime(time) => write!(text, "go movetime {}", time.as_millis().max(1)),
        TimeControl::Nodes(nodes) => write!(text, "go nodes {nodes}"),
        TimeControl::Depth(depth) => write!(text, "go depth {depth}"),
    };
    // invariant: writing to memory does not fail.
    debug_assert!(written.is_ok());
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::clock::{Clock, Manual};
    use crate::game::eval::Eval;
    use std::rc::Rc;

    /// Says what its script says; each answer takes the given time on a clock that nobody waits for.
    struct Actor {
        clock: Rc<Manual>,
        script: Vec<(u64, Said)>,
        asked: Vec<String>,
        start: Result<(), Lost>,
    }

    impl Player for Actor {
        fn new_game(&mut self) -> Result<(), Lost> {
            self.start.clone()
        }

        fn think(&mut self, text: &[u8], wait: Duration) -> Thought {
            self.asked.push(String::from_utf8(text.to_vec()).unwrap());
            let sent = self.clock.now();
            let (millis, said) =
                if self.script.is_empty() { (0, Said::Resign) } else { self.script.remove(0) };
            let time = Duration::from_millis(millis);
            let silent = time > wait;
            self.clock.pass(time.min(wait));
            Thought {
                sent,
                heard: self.clock.now(),
                said: if silent { Said::Lost(Lost::Silent(wait)) } else { said },
            }
        }

        fn info(&self) -> Info {
            Info { eval: Some(Eval::centipawns(20)), ..Info::default() }
        }

        fn pv(&self) -> &[u8] {
            b"e2e4"
        }
    }

    fn moves(text: &str) -> Vec<(u64, Said)> {
        text.split_whitespace().map(|word| (100, Said::Move(word.parse().unwrap()))).collect()
    }

    struct Stage {
        white: Actor,
        black: Actor,
        controls: ByColor<TimeControl>,
        opening: Opening,
    }

    impl Stage {
        fn new(control: &str, white: Vec<(u64, Said)>, black: Vec<(u64, Said)>) -> Stage {
            let clock = Rc::new(Manual::default());
            let actor = |script| Actor {
                clock: Rc::clone(&clock),
                script,
                asked: Vec::new(),
                start: Ok(()),
            };
            let control: TimeControl = control.parse().unwrap();
            Stage {
                white: actor(white),
                black: actor(black),
                controls: ByColor { white: control, black: control },
                opening: Opening::none(),
            }
        }

        fn run(&mut self) -> GameRecord {
            let terms = Terms {
                opening: &self.opening,
                controls: self.controls,
                patience: Patience::default(),
                material: Material::Draws,
                rules: Rules::default(),
                tables: None,
                keep_pv: true,
                resume: None,
            };
            play(&terms, ByColor { white: &mut self.white, black: &mut self.black })
        }
    }

    #[test]
    fn a_game_is_played_told_and_recorded() {
        let mut stage = Stage::new("10+0.5", moves("f2f3 g2g4"), moves("e7e5 d8h4"));
        let record = stage.run();
        assert_eq!(record.ending, Ending::win(Color::Black, Reason::Mate));
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
        let clocks =
            ByColor { white: Duration::from_secs(20), black: Duration::from_millis(9_900) };
        let resume = Resume { plies: played.plies[..2].to_vec(), clocks };
        let mut stage = Stage::new("10+0.5", moves("g2g4"), moves("d8h4"));
        let terms = Terms {
            opening: &stage.opening,
            controls: stage.controls,
            patience: Patience::default(),
            material: Material::Draws,
            rules: Rules::default(),
            tables: None,
            keep_pv: true,
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
            assert_eq!(record.ending.reason, Reason::Resignation);
        }
        let mut stage = Stage::new("10+1", moves("e2e4"), vec![]);
        stage.controls.black = "nodes=7".parse().unwrap();
        stage.run();
        assert!(stage.white.asked[0].ends_with("wtime 10000 btime 10000 winc 1000 binc 1000\n"));
        assert!(stage.black.asked[0].ends_with("go nodes 7\n"));
    }

    #[test]
    fn late_moves_lose_whatever_they_are() {
        let late = vec![(1001, Said::Move("e2e4".parse().unwrap()))];
        let record = Stage::new("1+0", late, vec![]).run();
        let over = Some(Duration::from_millis(1));
        assert_eq!(record.ending, Ending::win(Color::Black, Reason::Time { over }));
        assert_eq!(record.hung, None);
        let unanswered = record.unanswered.unwrap();
        assert_eq!(unanswered.heard.since(unanswered.sent).as_millis(), 1001);
        assert_eq!(unanswered.left, Duration::from_secs(1));
    }

    #[test]
    fn a_hang_loses_on_time_with_a_clock_and_stalls_without() {
        let never = || vec![(u64::MAX / 2, Said::Resign)];
        let record = Stage::new("1+0", never(), vec![]).run();
        assert_eq!(record.ending.reason, Reason::Time { over: None });
        assert_eq!(record.hung, Some(Color::White));
        let record = Stage::new("nodes=10", moves("e2e4"), never()).run();
        let waited = Duration::from_secs(60);
        assert_eq!(record.ending, Ending::win(Color::White, Reason::Stall { waited }));
        assert_eq!(record.hung, Some(Color::Black));
    }

    #[test]
    fn illegal_moves_crashes_and_stops() {
        let end = |said| Stage::new("1+0", vec![(0, said)], vec![]).run().ending;
        let illegal = |text: &str| Reason::IllegalMove(text.into());
        assert_eq!(end(Said::Move("e2e5".parse().unwrap())).reason, illegal("e2e5"));
        assert_eq!(end(Said::NoMove("(none)".into())).reason, illegal("(none)"));
        let exit = Some(ExitHow::Signal(6));
        let crash = end(Said::Lost(Lost::Gone(exit)));
        assert_eq!(crash, Ending::win(Color::Black, Reason::Crash { exit }));
        assert_eq!(end(Said::Lost(Lost::Stopped)).result.word(), "*");
    }

    #[test]
    fn who_does_not_start_loses() {
        let mut stage = Stage::new("1+0", vec![], vec![]);
        stage.black.start = Err(Lost::NotStarted("no such file".into()));
        let record = stage.run();
        assert_eq!(record.ending.result.word(), "1-0");
        assert_eq!(record.ending.details(), "Black does not start");
        assert!(record.plies.is_empty());
    }

    #[test]
    fn an_opening_is_played_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.txt");
        std::fs::write(&path, "f3 e5 g4\nf3 e5 g4 Qh4").unwrap();
        let wanted = crate::openings::Wanted {
            plies: None,
            most: 9,
            order: crate::openings::Order::Sequential,
        };
        let book = crate::openings::Book::read(&path, wanted).unwrap();
        let mut stage = Stage::new("1+0", vec![], moves("d8h4"));
        stage.opening = book.openings()[0].clone();
        let record = stage.run();
        assert!(stage.black.asked[0].starts_with("position startpos moves f2f3 e7e5 g2g4\n"));
        assert_eq!((record.plies.len(), record.ending.result.word()), (1, "0-1"));
        stage.opening = book.openings()[1].clone();
        assert_eq!(stage.run().ending.reason, Reason::Mate);
    }
}
