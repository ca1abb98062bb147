//! A side of a game as a match plays it, after which the entry is watched: whatever UCI tells it is as in a match.
//!
//! A game begins with `ucinewgame` from an opening, the list of moves grows by two plies between two questions, both clocks begin
//! alike and run down by what each side takes, with their increments, and the opponent takes its time. Where the game begins and
//! after which move it ends is left to chance.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use shakmaty::{ByColor, Chess, Color, Move, Position, Role};

use super::games::OPENINGS;
use crate::engine::moves::Moves;
use crate::game::go::{Clocks, Go};
use crate::judge::probe::conversation::{Ready, Search, Session, Step};

/// The least moves of the entry: with the second it knows that a game goes on.
const FEWEST: u32 = 2;
/// The number of lengths that are drawn from. Rule `match` plays whole games: faults that come later in one are findings of that
/// rule, and should not be another rule's by chance.
const LENGTHS: u32 = 6;
/// The number of lengths by which a line begins later than its opening ends.
const BEYOND: u32 = 6;
/// The least time that the opponent takes for a move, in milliseconds, and the number of times that are drawn from.
const OPPONENT: (u32, u32) = (50, 80);
/// A clock begins with 8, 9 or 10 sixths of the least that it shows.
const SIXTHS: (u32, u32) = (8, 3);

/// Plays a game with this colour up to a move of the entry's; a slow one plays as much as fits into the time, and no less than
/// what shows that it is a game.
pub(super) fn play(
    session: Session<Ready>,
    side: Color,
    least: Go,
    time: Duration,
    random: &mut RandomChoices,
) -> Step<Ready> {
    let began = Instant::now();
    let mut session = session.new_game()?;
    let mut game = begin(side, random);
    let mut clocks = RunningClocks::begin(least, random);
    let moves = FEWEST + random.below(LENGTHS);
    for played in 1..=moves {
        if game.is_over() {
            break;
        }
        let name = format!("idle-game-ply-{}", game.plies().0);
        let search = Search::after(&name, &game, clocks.go());
        let best;
        (session, best) = session.go(search)?;
        let moved = Instant::now();
        let Some(best) = best else { break };
        game.play(best);
        clocks.run(side, session.last().map(|ask| ask.took).unwrap_or_default());
        let enough = began.elapsed() >= time || clocks.is_low(side);
        if played == moves || played >= FEWEST && enough {
            break;
        }
        let Some(reply) = reply(game.position(), random) else { break };
        let (shortest, longer) = OPPONENT;
        std::thread::sleep(Duration::from_millis(u64::from(shortest + random.below(longer))));
        game.play(reply);
        clocks.run(!side, moved.elapsed());
    }
    Ok(session)
}

/// An opening, played on for some plies, after which this side is to move.
fn begin(side: Color, random: &mut RandomChoices) -> Moves {
    let opening = random.one_of(&OPENINGS).copied().unwrap_or_default();
    // invariant: a test reads them all
    let mut game = Moves::read(opening).unwrap_or_default();
    let from = game.plies().0 + random.below(BEYOND);
    while game.plies().0 < from || game.position().turn() != side {
        let Some(one) = reply(game.position(), random) else { break };
        game.play(one);
    }
    game
}

/// A move of a weak player, who takes what hangs and moves nothing to where it hangs; none where the game is over.
fn reply(position: &Chess, random: &mut RandomChoices) -> Option<Move> {
    let legal = position.legal_moves();
    let gains = |one: &Move| gain(position, one);
    let best = legal.iter().map(gains).max()?;
    let equal: Vec<&Move> = legal.iter().filter(|one| gains(one) == best).collect();
    random.one_of(&equal).map(|one| **one)
}

/// The pawns that a move wins, as far as one sees who looks no further than at what takes back.
fn gain(position: &Chess, one: &Move) -> i32 {
    let mut after = position.clone();
    after.play_unchecked(*one);
    let worth = |role: Option<Role>| match role {
        None => 0,
        Some(Role::Pawn) => 1,
        Some(Role::Knight | Role::Bishop) => 3,
        Some(Role::Rook) => 5,
        Some(Role::Queen | Role::King) => 9,
    };
    let board = after.board();
    let takers = board.attacks_to(one.to(), after.turn(), board.occupied());
    let placed = one.promotion().or(Some(one.role()));
    let promoted = one.promotion().map_or(0, |role| worth(Some(role)));
    let lost = if takers.any() { worth(placed) } else { 0 };
    let mates = if after.is_checkmate() { 100 } else { 0 };
    mates + worth(one.capture()) + promoted - lost
}

/// The clocks of a game whose `go` has any.
struct RunningClocks {
    least: Go,
    left: ByColor<Duration>,
}

impl RunningClocks {
    fn begin(least: Go, random: &mut RandomChoices) -> RunningClocks {
        let (from, more) = SIXTHS;
        let sixths = from + random.below(more);
        let base = least.left(Color::White).unwrap_or_default() * sixths / 6;
        RunningClocks { least, left: ByColor { white: base, black: base } }
    }

    /// The `go` that shows them, and nobody less than is asked for.
    fn go(&self) -> Go {
        let Go::Clock(least) = self.least else { return self.least };
        Go::Clock(Clocks {
            white: self.left.white.max(least.white),
            black: self.left.black.max(least.black),
            ..least
        })
    }

    /// A side has moved and taken so long.
    fn run(&mut self, side: Color, took: Duration) {
        let Go::Clock(least) = self.least else { return };
        let increment = side.fold_wb(least.white_increment, least.black_increment);
        let left = self.left.get_mut(side);
        *left = left.saturating_sub(took) + increment;
    }

    /// True if a side has less than is asked for.
    fn is_low(&self, side: Color) -> bool {
        self.least.left(side).is_some_and(|least| *self.left.get(side) < least)
    }
}

/// Random choices, seeded by the operating system, so that no entry knows what comes.
pub(super) struct RandomChoices {
    seed: RandomState,
    drawn: u32,
}

impl RandomChoices {
    pub(super) fn seeded() -> RandomChoices {
        RandomChoices { seed: RandomState::new(), drawn: 0 }
    }

    pub(super) fn colour(&mut self) -> Color {
        if self.below(2) == 0 { Color::White } else { Color::Black }
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        self.drawn += 1;
        (self.seed.hash_one(self.drawn) % u64::from(bound.max(1))) as u32
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len() as u32) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::legality;
    use crate::judge::probe::{LEAST_CLOCK, SMALL_CLOCK};

    const MS: Duration = Duration::from_millis(1);

    fn shown(clocks: &RunningClocks) -> (u64, u64) {
        let Go::Clock(shown) = clocks.go() else { panic!() };
        (shown.white.as_millis() as u64, shown.black.as_millis() as u64)
    }

    #[test]
    fn clocks_begin_alike_and_run_down_by_what_each_side_takes_but_its_increment() {
        let mut clocks = RunningClocks::begin(SMALL_CLOCK, &mut RandomChoices::seeded());
        let (base, black) = shown(&clocks);
        assert!(base == black && (800..=1000).contains(&base), "{base}");
        clocks.run(Color::White, 100 * MS);
        clocks.run(Color::Black, 75 * MS);
        assert_eq!(shown(&clocks), (base - 100 + 60, base - 75 + 60));
        assert!(!clocks.is_low(Color::White));
    }

    #[test]
    fn no_clock_shows_less_than_is_asked_for() {
        for (least, base) in [(SMALL_CLOCK, 600), (LEAST_CLOCK, 3000)] {
            let mut clocks = RunningClocks::begin(least, &mut RandomChoices::seeded());
            clocks.run(Color::Black, 20_000 * MS);
            assert!(clocks.is_low(Color::Black) || least == LEAST_CLOCK);
            assert!(shown(&clocks).1 >= base);
        }
        let mut none = RunningClocks::begin(Go::Bare, &mut RandomChoices::seeded());
        none.run(Color::White, 20_000 * MS);
        assert!(none.go() == Go::Bare && !none.is_low(Color::White));
    }

    #[test]
    fn games_begin_in_many_places_with_the_side_to_move_that_is_wanted() {
        let mut seen = std::collections::HashSet::new();
        for side in [Color::White, Color::Black].repeat(40) {
            let game = begin(side, &mut RandomChoices::seeded());
            assert!(game.position().turn() == side && !game.is_over());
            assert!((4..=4 + BEYOND).contains(&game.plies().0));
            seen.insert(game.command());
        }
        assert!(seen.len() > 20, "{}", seen.len());
    }

    #[test]
    fn the_opponent_takes_what_hangs_and_moves_nothing_to_where_it_hangs() {
        let played = |list: &str| {
            let game = Moves::read(list).unwrap();
            let one = reply(game.position(), &mut RandomChoices::seeded()).unwrap();
            one.to_uci(shakmaty::CastlingMode::Standard).to_string()
        };
        assert_eq!(played("e2e4 e7e5 d1h5 g8f6"), "h5e5");
        assert_eq!(played("f2f3 e7e5 g2g4"), "d8h4");
        let before = Moves::read("e2e4 e7e5").unwrap();
        let hangs = legality::judge(before.position(), "d1h5").unwrap();
        assert_eq!(gain(before.position(), &hangs), 0);
        let before = Moves::read("e2e4 e7e5 g1f3 d7d6").unwrap();
        let hangs = legality::judge(before.position(), "f3h4").unwrap();
        assert_eq!(gain(before.position(), &hangs), -3, "the queen takes it");
        let over = Moves::read("f2f3 e7e5 g2g4 d8h4").unwrap();
        assert_eq!(reply(over.position(), &mut RandomChoices::seeded()), None);
    }
}
