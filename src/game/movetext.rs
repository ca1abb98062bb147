//! The moves of a game in PGN, with what was measured beside each.
//!
//! Numbers go through itoa and words straight to the text: with the formatting machinery the PGN of a game
//! between engines that answer at once cost a tenth of the game.

use std::fmt::{self, Write};
use std::time::Duration;

use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Move, Position, Role};

use crate::model::game::ending::GameEnding;
use crate::model::game::record::{GameRecord, PlyRecord};
use crate::model::game::score::Score;
use crate::model::text::escape;
use crate::model::units::{Ply, whole_millis};

/// The extent of what stands beside each move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Style {
    /// The event's: `d= sd= mt= tl= s= n= pv= tb= h= ph= wv= R50= Rd= Rr= mb=`.
    #[value(help = "All that was measured, in the event's own form")]
    Event,
    /// The event's, and in each comment `[%eval 0.31] [%clk 0:29:57]`, which relays of broadcasts read.
    #[value(skip)]
    Relay,
    /// Evaluation from White's view, depth, and seconds: `{+0.31/12 0.250s}`.
    #[value(help = "Evaluation from White's view, depth and time")]
    Short,
    /// As fastchess writes it, which OpenBench's client reads: evaluation from the player's own view, depth, seconds, nodes and
    /// selective depth, lines for the record, and the reason of the end in the last comment:
    /// `{+0.31/12 0.250s, n=812, sd=17, line="info string pgncomment x", White mates}`.
    #[value(
        help = "Evaluation from the player's view, depth, time, nodes and selective depth, as fastchess writes them"
    )]
    Fastchess,
    /// The moves alone.
    #[value(help = "Moves alone")]
    Moves,
}

impl Style {
    /// True if a game is laid out as the event does it: a line for each move of both, and the engines' options.
    pub(crate) fn is_the_events(self) -> bool {
        matches!(self, Style::Event | Style::Relay)
    }
}

/// No line but the event's grows beyond this many columns (PGN standard, 8.2.1).
const COLUMNS: usize = 80;

/// Appends the moves and the result.
pub(super) fn write(out: &mut String, record: &GameRecord, style: Style) {
    let position = record.opening.start();
    let a_ply = if style.is_the_events() { 160 } else { 32 };
    out.reserve((record.plies.len() + 4) * a_ply + record.pvs.len());
    let line = out.len();
    let mut movetext = Movetext {
        position,
        first: true,
        has_told_why: false,
        san: String::new(),
        style,
        line,
        out,
    };
    for one in record.opening.moves() {
        movetext.book(*one);
    }
    let last = record.plies.len().saturating_sub(1);
    for (index, ply) in record.plies.iter().enumerate() {
        let pv = record.pvs.get(ply.pv.clone()).unwrap_or_default();
        let ending = (index == last).then_some(&record.ending);
        let comments = record.comments.binary_search_by_key(&index, |(at, _)| *at).ok();
        let comments = comments.and_then(|at| record.comments.get(at));
        let comments = comments.map_or(&b""[..], |(_, lines)| lines);
        movetext.ply(ply, PlyWords { pv, comments }, ending);
    }
    movetext.finish(&record.ending);
}

/// The words of the engine on a ply.
#[derive(Clone, Copy)]
struct PlyWords<'a> {
    /// Its expected line.
    pv: &'a [u8],
    /// Its lines for the record, each with its line end.
    comments: &'a [u8],
}

struct Movetext<'a> {
    position: Chess,
    first: bool,
    /// True once the last move's comment holds the reason of the end.
    has_told_why: bool,
    /// The last move that was written.
    san: String,
    style: Style,
    /// The beginning of the present line in `out`.
    line: usize,
    out: &'a mut String,
}

impl Movetext<'_> {
    /// A word, on a new line where the present one would grow too long.
    fn word(&mut self, write: impl FnOnce(&mut String)) {
        let space = self.out.len();
        let follows = space > self.line;
        if follows {
            self.out.push(' ');
        }
        write(self.out);
        let breaks = follows
            && !self.style.is_the_events()
            && self.out.len() - self.line > COLUMNS
            && self.out.get(self.line..).is_some_and(|line| line.chars().count() > COLUMNS);
        if breaks {
            self.out.replace_range(space..=space, "\n");
            self.line = space + 1;
        }
    }

    fn line_end(&mut self) {
        if self.out.len() > self.line {
            self.out.push('\n');
            self.line = self.out.len();
        }
    }

    /// The move with its number where one is due, and plays it.
    fn san(&mut self, one: Move) {
        let number = self.position.fullmoves().get();
        match self.position.turn() {
            Color::White => self.numbered(number, "."),
            Color::Black if self.first => self.numbered(number, "..."),
            Color::Black => {}
        }
        self.first = false;
        self.san.clear();
        SanPlus::from_move_and_play_unchecked(&mut self.position, one)
            .append_to_string(&mut self.san);
        let san = std::mem::take(&mut self.san);
        self.word(|out| out.push_str(&san));
        self.san = san;
    }

    fn numbered(&mut self, number: u32, dots: &str) {
        self.word(|out| {
            push_number(out, number);
            out.push_str(dots);
        });
    }

    fn book(&mut self, one: Move) {
        self.san(one);
        if self.style == Style::Fastchess {
            self.word(|out| out.push_str("{book}"));
        }
        if self.style.is_the_events() {
            self.out.push_str(" {book, mb=");
            Balance::of(&self.position).push(self.out);
            self.out.push_str(",}");
            if self.position.turn() == Color::White {
                self.line_end();
            }
        }
    }

    fn ply(&mut self, ply: &PlyRecord, said: PlyWords<'_>, ending: Option<&GameEnding>) {
        let side = self.position.turn();
        match self.style {
            Style::Moves => self.san(ply.played),
            Style::Short => {
                self.san(ply.played);
                self.word(|out| push_short_comment(out, ply, side));
            }
            Style::Fastchess => {
                self.san(ply.played);
                let why = ending.map(GameEnding::details).filter(|text| !text.is_empty());
                self.word(|out| push_fastchess_comment(out, ply, said.comments, why.as_deref()));
                self.has_told_why |= why.is_some();
            }
            Style::Event | Style::Relay => {
                if side == Color::White {
                    self.line_end();
                }
                let before = self.position.clone();
                self.san(ply.played);
                self.out.push(' ');
                self.event_comment(ply, before, said.pv);
                if self.style == Style::Relay {
                    push_commands(self.out, ply, side);
                }
                let details = ending.map(GameEnding::details).filter(|text| !text.is_empty());
                if let Some(details) = details {
                    self.out.push_str(&format!(" {}", Reason(&details)));
                }
                self.out.push('}');
                self.line_end();
            }
        }
    }

    /// `{d=…, …, mb=…,` without the closing brace.
    fn event_comment(&mut self, ply: &PlyRecord, before: Chess, pv: &[u8]) {
        let (info, side) = (&ply.info, before.turn());
        // As the event writes it: an engine that says nothing has searched one ply and thinks 0.00.
        let depth = info.depth.unwrap_or(1);
        let eval = info.score.unwrap_or(Score::centipawns(0)).for_white(side);
        let full = info.hashfull.unwrap_or(0);
        self.number("{d=", depth);
        self.number(", sd=", info.seldepth.unwrap_or(depth));
        self.number(", mt=", whole_millis(ply.used()));
        self.number(", tl=", whole_millis(ply.left));
        self.number(", s=", info.speed.unwrap_or(0));
        self.number(", n=", info.nodes.unwrap_or(0));
        self.out.push_str(", pv=");
        self.pv(ply.played, before, pv);
        match info.table_hits {
            Some(hits) => self.number(", tb=", hits),
            None => self.out.push_str(", tb=null"),
        }
        self.number(", h=", full / 10);
        self.number(".", full % 10);
        self.out.push_str(", ph=0.0, wv=");
        eval.push(self.out);
        self.number(", R50=", 100u32.saturating_sub(self.position.halfmoves()) / 2);
        self.number(", Rd=", ply.rules_in.draw.number());
        self.number(", Rr=", ply.rules_in.win.number());
        self.out.push_str(", mb=");
        Balance::of(&self.position).push(self.out);
        self.out.push(',');
    }

    fn number(&mut self, name: &str, number: impl itoa::Integer) {
        self.out.push_str(name);
        push_number(self.out, number);
    }

    /// The expected line in SAN, as far as it is legal; `played` is the move that was just written.
    fn pv(&mut self, played: Move, before: Chess, pv: &[u8]) {
        let (mode, mut position) = (before.castles().mode(), before);
        let words = pv.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        for (index, word) in words.enumerate() {
            let Ok(uci) = UciMove::from_ascii(word) else { break };
            // Mostly it begins with what was played, which was found legal and written already.
            if index == 0 && uci == played.to_uci(mode) {
                self.out.push_str(&self.san);
                position = self.position.clone();
                continue;
            }
            let Ok(one) = uci.to_move(&position) else { break };
            if index > 0 {
                self.out.push(' ');
            }
            SanPlus::from_move_and_play_unchecked(&mut position, one).append_to_string(self.out);
        }
    }

    fn finish(&mut self, ending: &GameEnding) {
        if self.style.is_the_events() {
            self.line_end();
        } else if !self.has_told_why {
            let why = format!("{{{}}}", Reason(&ending.details()));
            self.word(|out| out.push_str(&why));
        }
        self.word(|out| out.push_str(ending.result.word()));
    }
}

/// `{+0.31/12 0.250s}` as far as it is known.
fn push_short_comment(out: &mut String, ply: &PlyRecord, side: Color) {
    out.push('{');
    push_figures(out, ply, ply.info.score.map(|eval| eval.for_white(side)));
    out.push('}');
}

/// See [`Style::Fastchess`].
fn push_fastchess_comment(out: &mut String, ply: &PlyRecord, lines: &[u8], why: Option<&str>) {
    out.push('{');
    push_figures(out, ply, ply.info.score);
    if let Some(nodes) = ply.info.nodes {
        out.push_str(", n=");
        push_number(out, nodes);
    }
    if let Some(depth) = ply.info.seldepth.or(ply.info.depth) {
        out.push_str(", sd=");
        push_number(out, depth);
    }
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        // Its reader takes what stands between the quotes.
        let line = String::from_utf8_lossy(line).replace('"', "'");
        out.push_str(&format!(", line=\"{}\"", Comment(&line)));
    }
    if let Some(why) = why {
        out.push_str(&format!(", {}", Reason(why)));
    }
    out.push('}');
}

/// `+0.31/12 0.250s` as far as it is known.
fn push_figures(out: &mut String, ply: &PlyRecord, eval: Option<Score>) {
    if let Some(eval) = eval {
        eval.push(out);
        if let Some(depth) = ply.info.depth {
            out.push('/');
            push_number(out, depth);
        }
        out.push(' ');
    }
    let used = ply.used().saturating_add(Duration::from_micros(500));
    push_number(out, used.as_secs());
    out.push('.');
    for tenfold in [100, 10, 1] {
        push_number(out, used.subsec_millis() / tenfold % 10);
    }
    out.push('s');
}

/// ` [%eval 0.31] [%clk 0:29:57]`: pawns from White's view or the moves to mate, and whole seconds.
fn push_commands(out: &mut String, ply: &PlyRecord, side: Color) {
    if let Some(eval) = ply.info.score.map(|score| score.for_white(side)) {
        out.push_str(" [%eval ");
        match eval.mate_in() {
            Some(Ply(plies)) => {
                out.push_str(if eval.value() < 0 { "#-" } else { "#" });
                push_number(out, plies.div_ceil(2));
            }
            None => eval.push(out),
        }
        out.push(']');
    }
    let seconds = ply.left.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    out.push_str(&format!(" [%clk {hours}:{minutes:02}:{:02}]", seconds % 60));
}

fn push_number(out: &mut String, number: impl itoa::Integer) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Text inside a comment: one line, no brace that would end it, and no bracket that begins a command (`[%eval …]`).
pub(super) struct Comment<'a>(pub(super) &'a str);

impl fmt::Display for Comment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in escape(self.0.as_bytes(), 2000).chars() {
            f.write_char(match c {
                '{' | '[' => '(',
                '}' | ']' => ')',
                c => c,
            })?;
        }
        Ok(())
    }
}

/// The reason of an ending, inside the comment of a move. It may end with a word of an engine's, which must not stand there for a figure (`wv=9.99`).
struct Reason<'a>(&'a str);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in Comment(self.0).to_string().chars() {
            match c {
                '=' => write!(f, "{}", c.escape_unicode())?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// White's pieces less Black's: pawns, knights, bishops, rooks, queens.
struct Balance([i64; 5]);

impl Balance {
    fn of(position: &Chess) -> Balance {
        let (board, mut white_more) = (position.board(), [0; 5]);
        let roles = [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
        for (more, role) in white_more.iter_mut().zip(roles) {
            let pieces = board.by_role(role);
            let count = |side| (pieces & board.by_color(side)).count() as i64;
            *more = count(Color::White) - count(Color::Black);
        }
        Balance(white_more)
    }

    /// As `+1+0-1+0+0`.
    fn push(&self, out: &mut String) {
        for more in self.0 {
            if more >= 0 {
                out.push('+');
            }
            push_number(out, more);
        }
    }
}
