//! Games as PGN: the event's own form, where each move carries what was measured, a short one, or moves
//! alone.

use std::fmt::{self, Write};
use std::time::{Duration, SystemTime};

use shakmaty::{ByColor, Color};

use crate::game::clock::TimeControl;
pub(crate) use crate::game::movetext::Style;
use crate::game::movetext::{self, Comment};
use crate::model::game::ending::GameEnding;
use crate::model::game::record::GameRecord;
use crate::model::game::result::GameResult;
use crate::model::text::steers;
use crate::model::units::hours_minutes_seconds;

/// The header of a game, besides what its record knows.
#[derive(Clone, Debug)]
pub(crate) struct PgnHeader {
    /// The event's name.
    pub event: String,
    /// The place at which it is played.
    pub(crate) site: String,
    /// Round and game as the event counts them.
    pub(crate) round: String,
    /// The players' names.
    pub(crate) names: ByColor<String>,
    /// The ratings with which they play, in Elo.
    pub(crate) elo: ByColor<Option<i32>>,
    /// The options that were set: `Protocol=uci; Threads=1; Hash=64;`.
    pub(crate) options: ByColor<String>,
    /// Their time controls.
    pub(crate) controls: ByColor<TimeControl>,
    /// The moment at which the game began.
    pub(crate) started: SystemTime,
    /// The time that it took.
    pub(crate) lasted: Duration,
}

/// Appends a game.
///
/// # Errors
/// None that memory could give; the type is the writer's.
pub(crate) fn write(
    out: &mut String,
    header: &PgnHeader,
    record: &GameRecord,
    style: Style,
) -> fmt::Result {
    write_tags(out, header, record)?;
    out.push('\n');
    if style.is_the_events() {
        writeln!(
            out,
            "{{WhiteEngineOptions: {}, BlackEngineOptions: {}}}",
            Comment(&header.options.white),
            Comment(&header.options.black)
        )?;
    }
    movetext::write(out, record, style);
    out.push_str("\n\n");
    Ok(())
}

fn write_tags(out: &mut String, header: &PgnHeader, record: &GameRecord) -> fmt::Result {
    let ended = header.started + header.lasted;
    let lasted = hours_minutes_seconds(header.lasted);
    let plies = record.opening.moves().len() + record.plies.len();
    let mut tag = |name: &str, value: &str| writeln!(out, "[{name} \"{}\"]", Quoted(value));
    tag("Event", &header.event)?;
    tag("Site", &header.site)?;
    tag("Date", &moment(header.started).0)?;
    tag("Round", &header.round)?;
    tag("White", &header.names.white)?;
    tag("Black", &header.names.black)?;
    tag("Result", record.ending.result.word())?;

    let elo = |side| header.elo.get(side).map(|elo: i32| elo.to_string());
    let time = |side| Some(header.controls.get(side).to_string());
    let same = header.controls.white == header.controls.black;
    let names = record.opening.names().cloned().unwrap_or_default();
    // In the order of their names, as PGN's export format and the events' files have them.
    let more = [
        ("BlackElo", elo(Color::Black)),
        ("BlackTimeControl", time(Color::Black).filter(|_| !same)),
        ("ECO", names.eco),
        ("FEN", record.opening.fen()),
        ("GameDuration", Some(lasted)),
        ("GameEndTime", Some(moment(ended).1).filter(|_| !record.ending.is_under_way())),
        ("GameStartTime", Some(moment(header.started).1)),
        ("Opening", names.opening),
        ("PlyCount", Some(plies.to_string())),
        ("SetUp", (!record.opening.is_move_list()).then(|| "1".to_owned())),
        ("Termination", record.ending.termination().map(str::to_owned)),
        ("TerminationDetails", Some(record.ending.details()).filter(|text| !text.is_empty())),
        ("TimeControl", time(Color::White).filter(|_| same)),
        ("Variant", record.opening.castling().is_chess960().then(|| "fischerandom".to_owned())),
        ("Variation", names.variation),
        ("WhiteElo", elo(Color::White)),
        ("WhiteTimeControl", time(Color::White).filter(|_| !same)),
    ];
    for (name, value) in more {
        if let Some(value) = value {
            tag(name, &value)?;
        }
    }
    Ok(())
}

/// The end of the year 9999, the last that RFC 3339 can write.
const LATEST: Duration = Duration::from_secs(253_402_300_800);

/// `2026.11.21` and `2026-11-21T10:04:05.006 UTC`.
fn moment(at: SystemTime) -> (String, String) {
    // A clock that is far off may show a year that has no such form.
    let shown = [at, SystemTime::UNIX_EPOCH].into_iter().find_map(|at| {
        let after = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        (after < LATEST).then(|| humantime::format_rfc3339_millis(at).to_string())
    });
    let text = shown.unwrap_or_default();
    let date = text.split('T').next().unwrap_or_default().replace('-', ".");
    (date, format!("{} UTC", text.trim_end_matches('Z')))
}

/// A tag's value: one line, quotes and backslashes escaped.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // First the quotes, so that what `escape` adds is not escaped again.
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                c if steers(c) => f.write_str(" ")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A game's end in a line: `1-0 {White mates}`.
pub(crate) fn summary(ending: &GameEnding) -> String {
    let result: GameResult = ending.result;
    format!("{result} {{{}}}", Comment(&ending.details()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::openings::{Book, BookOrder, BookPart};
    use crate::model::game::ending::Termination;
    use crate::model::game::opening::Opening;
    use crate::model::game::record::PlyRecord;
    use crate::model::game::record::SearchInfo;
    use crate::model::game::record::Stamp;
    use crate::model::game::rule_distances::RuleDistances;
    use crate::model::game::score::Score;
    use crate::model::game::variant::Variant;
    use shakmaty::uci::UciMove;
    use shakmaty::{CastlingMode, Position};

    fn header(white: &str) -> PgnHeader {
        let both = |text: &str| ByColor { white: text.to_owned(), black: text.to_owned() };
        PgnHeader {
            event: "A \"test\" \\ of\nlines".into(),
            site: "?".into(),
            round: "1.2".into(),
            names: ByColor { white: white.into(), black: "B".into() },
            elo: ByColor { white: Some(2783), black: None },
            options: both("Protocol=uci; Hash={8};"),
            controls: ByColor { white: TimeControl::EVENT, black: TimeControl::EVENT },
            started: SystemTime::UNIX_EPOCH + Duration::from_millis(86_400_123),
            lasted: Duration::from_secs(3661),
        }
    }

    fn record(opening: Opening, moves: &str, ending: GameEnding) -> GameRecord {
        let mut position = opening.start();
        for one in opening.moves() {
            position.play_unchecked(*one);
        }
        let mut pvs = Vec::new();
        let plies = moves
            .split_whitespace()
            .map(|word| {
                let uci: UciMove = word.parse().unwrap();
                let played = uci.to_move(&position).unwrap();
                position.play_unchecked(played);
                let from = pvs.len();
                pvs.extend_from_slice(played.to_uci(CastlingMode::Standard).to_string().as_bytes());
                pvs.extend_from_slice(b" h9h9");
                PlyRecord {
                    played,
                    sent: Stamp::default(),
                    heard: Stamp(Duration::from_millis(250)),
                    left: Duration::from_millis(1_802_750),
                    info: SearchInfo {
                        depth: Some(9),
                        score: Some(Score::centipawns(31)),
                        hashfull: Some(125),
                        ..SearchInfo::default()
                    },
                    pv: from..pvs.len(),
                    rules_in: RuleDistances::OFF,
                }
            })
            .collect();
        GameRecord { opening, plies, pvs, comments: Vec::new(), ending, unanswered: None }
    }

    fn mate() -> GameEnding {
        GameEnding::win(Color::Black, Termination::Mate)
    }

    fn opening(line: &str) -> Opening {
        let dir = tempfile::tempdir().unwrap();
        let name = if line.contains('/') { "b.epd" } else { "b.txt" };
        std::fs::write(dir.path().join(name), line).unwrap();
        let wanted = BookPart {
            plies: None,
            most: 1,
            order: BookOrder::Sequential,
            variant: Variant::Standard,
        };
        let book = Book::read(&dir.path().join(name), wanted).unwrap();
        book.openings()[0].clone()
    }

    #[test]
    fn the_events_own_form() {
        let mut out = String::new();
        let game = record(opening("f3"), "e7e5 g2g4 d8h4", mate());
        write(&mut out, &header("A"), &game, Style::Event).unwrap();
        let expected = "[Event \"A \\\"test\\\" \\\\ of lines\"]\n[Site \"?\"]\n[Date \"1970.01.02\"]\n\
            [Round \"1.2\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"0-1\"]\n\
            [GameDuration \"01:01:01\"]\n[GameEndTime \"1970-01-02T01:01:01.123 UTC\"]\n\
            [GameStartTime \"1970-01-02T00:00:00.123 UTC\"]\n[PlyCount \"4\"]\n\
            [TerminationDetails \"Black mates\"]\n[TimeControl \"1800+3\"]\n\
            [WhiteElo \"2783\"]\n\n\
            {WhiteEngineOptions: Protocol=uci; Hash=(8);, BlackEngineOptions: Protocol=uci; Hash=(8);}\n\
            1. f3 {book, mb=+0+0+0+0+0,} e5 {d=9, sd=9, mt=250, tl=1802750, s=0, n=0, pv=e5, tb=null, \
            h=12.5, ph=0.0, wv=-0.31, R50=50, Rd=-1000, Rr=-1000, mb=+0+0+0+0+0,}\n\
            2. g4 {d=9, sd=9, mt=250, tl=1802750, s=0, n=0, pv=g4, tb=null, h=12.5, ph=0.0, wv=0.31, \
            R50=50, Rd=-1000, Rr=-1000, mb=+0+0+0+0+0,}\n\
            Qh4# {d=9, sd=9, mt=250, tl=1802750, s=0, n=0, pv=Qh4#, tb=null, h=12.5, ph=0.0, wv=-0.31, \
            R50=49, Rd=-1000, Rr=-1000, mb=+0+0+0+0+0, Black mates}\n0-1\n\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn a_game_under_way_has_no_time_of_its_end() {
        let goes_on = GameEnding { result: GameResult::Unfinished, reason: Termination::Unknown };
        let written = |ending| {
            let mut out = String::new();
            let game = record(opening("f3"), "e7e5", ending);
            write(&mut out, &header("A"), &game, Style::Event).unwrap();
            out
        };
        let text = written(goes_on);
        assert!(!text.contains("GameEndTime") && text.contains("GameStartTime"), "{text}");
        assert!(written(GameEnding::aborted("a test")).contains("GameEndTime"));
    }

    #[test]
    fn a_relay_reads_clocks_and_evaluations_and_all_else_is_the_events() {
        let mut game = record(opening("f3"), "e7e5 g2g4 d8h4", mate());
        game.plies[1].info.score = Some(Score::mate(-1));
        game.plies[2].info.score = None;
        let [event, relay] = [Style::Event, Style::Relay].map(|style| {
            let mut out = String::new();
            write(&mut out, &header("A"), &game, style).unwrap();
            out
        });
        assert_eq!(relay.matches("[%clk 0:30:02]").count(), 3);
        let evals: Vec<&str> =
            relay.split("[%eval ").skip(1).filter_map(|rest| rest.split(']').next()).collect();
        assert_eq!(evals, ["-0.31", "#-1"]);
        let bare = relay
            .replace(" [%eval -0.31]", "")
            .replace(" [%eval #-1]", "")
            .replace(" [%clk 0:30:02]", "");
        assert_eq!(bare, event);
    }

    #[test]
    fn a_clock_that_is_far_off_has_some_date() {
        let told = |seconds| moment(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).0;
        assert_eq!(told(86_400), "1970.01.02");
        assert_eq!(told(253_402_300_799), "9999.12.31");
        assert_eq!(told(253_402_300_800), "1970.01.01");
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(moment(before).0, "1970.01.01");
    }

    #[test]
    fn a_short_form_and_moves_alone() {
        let game = record(Opening::default(), "f2f3 e7e5 g2g4 d8h4", mate());
        let mut out = String::new();
        write(&mut out, &header("A"), &game, Style::Short).unwrap();
        let body = out.split("\n\n").nth(1).unwrap();
        assert_eq!(
            body,
            "1. f3 {0.31/9 0.250s} e5 {-0.31/9 0.250s} 2. g4 {0.31/9 0.250s} Qh4#\n\
             {-0.31/9 0.250s} {Black mates} 0-1"
        );
        let mut out = String::new();
        write(&mut out, &header("A"), &game, Style::Moves).unwrap();
        assert!(out.ends_with("\n\n1. f3 e5 2. g4 Qh4# {Black mates} 0-1\n\n"), "{out}");
    }

    /// In fastchess's form, within quotes, which none of them may have; no other style has them.
    #[test]
    fn lines_that_an_engine_says_for_the_record_stand_with_their_move() {
        let mut game = record(Opening::default(), "f2f3 e7e5", mate());
        let said = b"info string pgncomment a\ninfo string pgncomment \"b\" {c}\n";
        game.comments.push((1, said.to_vec()));
        let [fastchess, short] = [Style::Fastchess, Style::Short].map(|style| {
            let mut out = String::new();
            write(&mut out, &header("A"), &game, style).unwrap();
            out.replace('\n', " ")
        });
        let lines = "line=\"info string pgncomment a\", line=\"info string pgncomment 'b' (c)\", Black mates}";
        assert!(fastchess.contains(&format!("sd=9, {lines}")), "{fastchess}");
        assert_eq!(fastchess.matches("line=").count(), 2);
        assert!(!short.contains("line="), "{short}");
    }

    /// Evaluations are the players' own, and the reason is in the last comment: what reads such files takes what follows a
    /// comment for a move.
    #[test]
    fn the_form_of_fastchess() {
        let mut game = record(opening("f3"), "e7e5 g2g4 d8h4", mate());
        game.plies[0].info.nodes = Some(812);
        game.plies[0].info.seldepth = Some(17);
        game.plies[1].info.score = None;
        let mut out = String::new();
        write(&mut out, &header("A"), &game, Style::Fastchess).unwrap();
        let body = out.split("\n\n").nth(1).unwrap().replace('\n', " ");
        assert_eq!(
            body,
            "1. f3 {book} e5 {0.31/9 0.250s, n=812, sd=17} 2. g4 {0.250s, sd=9} \
             Qh4# {0.31/9 0.250s, sd=9, Black mates} 0-1"
        );
        // A game without a move has no comment that could hold it.
        let none =
            record(Opening::default(), "", GameEnding::win(Color::White, Termination::Resignation));
        let mut out = String::new();
        write(&mut out, &header("A"), &none, Style::Fastchess).unwrap();
        assert!(out.ends_with("\n\n{Black resigns} 1-0\n\n"), "{out}");
    }

    #[test]
    fn a_position_has_its_tags_and_black_may_begin() {
        let ending = GameEnding::win(Color::White, Termination::IllegalMove("a1}".into()));
        let game = record(opening("4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"), "e8d7", ending);
        let mut other = header("A");
        other.controls.black = "nodes=5".parse().unwrap();
        let mut out = String::new();
        write(&mut out, &other, &game, Style::Moves).unwrap();
        assert!(out.contains("[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 7\"]\n"), "{out}");
        assert!(out.contains("[SetUp \"1\"]\n[Termination \"illegal move\"]\n"), "{out}");
        assert!(out.contains("[BlackTimeControl \"nodes=5\"]\n"), "{out}");
        assert!(out.ends_with("7... Kd7 {Black makes an illegal move: a1)} 1-0\n\n"), "{out}");
    }

    /// It stands in the comment of its opponent's move.
    #[test]
    fn the_word_of_an_engine_is_no_figure() {
        let word = "z,wv=-99.99,tl=1[%eval\u{a0}9.99]".to_owned();
        for style in [Style::Event, Style::Relay, Style::Fastchess, Style::Short] {
            let ending = GameEnding::win(Color::White, Termination::IllegalMove(word.clone()));
            let game = record(opening("f3"), "e7e5", ending);
            let mut out = String::new();
            write(&mut out, &header("A"), &game, style).unwrap();
            let moves = out.split_once("\n\n").unwrap().1.replace('\n', " ");
            assert!(moves.contains("illegal move: z"), "{out}");
            assert!(!moves.contains("wv=-99") && !moves.contains(",tl="), "{style:?}: {out}");
            assert!(!moves.contains("[%eval\u{a0}"), "{style:?}: {out}");
        }
    }
}
