//! The criteria of tie-breaks, each with its figure for an engine.

use shakmaty::Color;

use super::{Average, Context, Figure, cumulative_opponents};
use crate::event::field::{EngineIx, SeenGame};
use crate::model::game::points::{HalfPoints, QuarterPoints};

macro_rules! criteria {
    ($($(#[$doc:meta])* $variant:ident $id:literal $title:literal $short:literal $better:ident;)*) => {
        /// A criterion that orders engines on the same points.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Criterion {
            $($(#[$doc])* $variant,)*
        }

        impl Criterion {
            /// Every criterion; an event file may name any of them.
            pub(crate) const ALL: &[Criterion] = &[$(Criterion::$variant,)*];

            /// Its name for programs and in event files.
            pub(crate) fn id(self) -> &'static str {
                match self {
                    $(Criterion::$variant => $id,)*
                }
            }

            /// Its name in a sentence.
            pub(crate) fn title(self) -> &'static str {
                match self {
                    $(Criterion::$variant => $title,)*
                }
            }

            /// Its name over a column.
            pub(crate) fn short(self) -> &'static str {
                match self {
                    $(Criterion::$variant => $short,)*
                }
            }

            /// The better one of two figures.
            #[must_use]
            pub(crate) fn better(self) -> BetterFigure {
                match self {
                    $(Criterion::$variant => BetterFigure::$better,)*
                }
            }
        }
    };
}

// Each with its name for programs, in a sentence, and over a column.
criteria! {
    /// Points against all others that are tied, as one table (rule 3.1.1): a comparison of two at a time leads in a circle where
    /// three beat each other.
    DirectEncounter "direct-encounter" "direct encounter" "DE" More;
    /// Sum of result × the opponent's final score (rule 3.1.2).
    SonnebornBerger "sonneborn-berger" "Sonneborn-Berger" "S-B" More;
    /// Sum of r-mobility points (rule 3.1.3).
    RMobility "r-mobility" "r-mobility" "r-mob" More;
    /// Game pairs won 2-0 (rule 3.1.4).
    DoubleWins "double-wins" "double wins" "2-0" More;
    /// Average number of moves in won games; fewer is better (rule 3.1.5).
    WonLength "won-length" "average moves in won games" "won in" Fewer;
    /// Average number of moves in lost games; more is better, and an engine that lost none is first (rule 3.1.6).
    LostLength "lost-length" "average moves in lost games" "lost in" More;
    /// Won games: Swiss, FRD, season 17, nTCEC.
    Wins "wins" "wins" "Wins" More;
    /// Won games with Black: nTCEC.
    WinsBlack "wins-black" "wins with Black" "Wins B" More;
    /// Games with Black, the harder colour: nTCEC.
    GamesBlack "games-black" "games with Black" "Black" More;
    /// Crashes; fewer is better: season 17.
    Crashes "crashes" "crashes" "Crashes" Fewer;
    /// The sum of the opponents' cumulative scores: stage 1 of nTCEC.
    CumulativeOpponents "cumulative-opponents" "cumulative score of opponents" "Opp." More;
    /// The sum of the opponents' final scores, game by game: nTCEC's groups after its Swiss follow it.
    Buchholz "buchholz" "Buchholz" "Buch." More;
}

/// The better one of two figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BetterFigure {
    /// The larger.
    More,
    /// The smaller.
    Fewer,
}

impl Criterion {
    /// The figure of an engine among those that are tied with it (`tied` holds the engine itself). Only finished games that
    /// count are asked: those against a disqualified engine are annulled and add nothing.
    pub(crate) fn figure(
        self,
        context: &Context<'_>,
        engine: EngineIx,
        tied: &[EngineIx],
    ) -> Figure {
        let final_score = |engine: EngineIx| context.points[engine.at()];
        let games = context.field.of(engine);
        let won = context.field.of(engine).filter(|seen| seen.points == HalfPoints::ONE);
        match self {
            Criterion::DirectEncounter => {
                let own = games.filter(|seen| tied.contains(&seen.opponent));
                Figure::Points(own.map(|seen| seen.points).sum())
            }
            Criterion::SonnebornBerger => {
                let times = |seen: SeenGame<'_>| {
                    QuarterPoints::product(seen.points, final_score(seen.opponent))
                };
                Figure::Quarters(games.map(times).sum())
            }
            Criterion::RMobility => Figure::RMobility(games.map(|seen| seen.r_mobility()).sum()),
            Criterion::DoubleWins => double_wins(context, engine),
            Criterion::WonLength => Figure::Average(Average::of(won.map(|seen| seen.game.moves))),
            Criterion::LostLength => {
                let lost = games.filter(|seen| seen.points == HalfPoints::ZERO);
                Figure::Average(Average::of(lost.map(|seen| seen.game.moves)))
            }
            Criterion::Wins => Figure::Count(won.count() as u32),
            Criterion::WinsBlack => {
                Figure::Count(won.filter(|seen| seen.color == Color::Black).count() as u32)
            }
            Criterion::GamesBlack => {
                Figure::Count(games.filter(|seen| seen.color == Color::Black).count() as u32)
            }
            Criterion::Crashes => Figure::Count(context.field.crashes(engine)),
            Criterion::CumulativeOpponents => cumulative_opponents::figure(context, engine),
            Criterion::Buchholz => {
                Figure::Points(games.map(|seen| final_score(seen.opponent)).sum())
            }
        }
    }
}

/// The game pairs of which both games were won; one whose reverse is still to be played counts for nobody.
fn double_wins(context: &Context<'_>, engine: EngineIx) -> Figure {
    let games = context.field.games();
    let won = |number: u32| {
        let game = &games[number as usize];
        game.color(engine).and_then(|color| game.result.points(color)) == Some(HalfPoints::ONE)
    };
    let double = context.pairs.iter().filter(|pair| won(pair.first) && won(pair.second));
    Figure::Count(double.count() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};
    use crate::event::field::{Field, FieldBuilder};
    use crate::model::game::listed::tests::listed;
    use crate::model::game::result::GameResult;

    /// The figures of these engines, all of them tied.
    fn figures<const N: usize>(
        criterion: Criterion,
        field: &Field,
        names: [&str; N],
    ) -> [Figure; N] {
        let tied = names.map(|name| find(field, name));
        tied.map(|engine| criterion.figure(&Context::new(field), engine, &tied))
    }

    /// The same as they are shown, for games as [`field`] has them.
    fn shown<const N: usize>(criterion: Criterion, games: &str, names: [&str; N]) -> [String; N] {
        figures(criterion, &field(games), names).map(|figure| figure.to_string())
    }

    #[test]
    fn only_games_among_the_tied_count_in_a_direct_encounter() {
        let games = "a-b 1, a-c =, a-d 1, b-a =, d-a 1, b-c 1";
        assert_eq!(shown(Criterion::DirectEncounter, games, ["a", "b", "c"]), ["2", "1.5", "0.5"]);
        assert_eq!(shown(Criterion::DirectEncounter, games, ["a", "b"])[0], "1.5");
    }

    #[test]
    fn sonneborn_berger_is_of_results_times_final_scores() {
        // a 2.5, b 1, c 0.5: a = 1 + 1 + 0.25; b = 0.5; c = half of 2.5.
        let games = "a-b 1, b-c 1, c-a =, b-a 0";
        let told = shown(Criterion::SonnebornBerger, games, ["a", "b", "c"]);
        assert_eq!(told, ["2.25", "0.50", "1.25"]);
    }

    #[test]
    fn a_disqualified_opponent_adds_nothing() {
        let mut field = field("a-b 1!, c-b 1!, a-c =, b-a 1");
        field.disqualify_after(2);
        let told = figures(Criterion::SonnebornBerger, &field, ["a", "c"]);
        assert_eq!(told.map(|figure| figure.to_string()), ["0.25", "0.25"]);
    }

    #[test]
    fn wins_count_one_and_draws_by_their_goal() {
        let mut builder = FieldBuilder::default();
        builder.add(&listed("a", "b", GameResult::Win(Color::White), "e4"), 0);
        // A draw agreed after 1. e4: 20 moves for Black, no check, so v = 41 for White.
        builder.add(&listed("b", "a", GameResult::Draw, "e4"), 0);
        let told = figures(Criterion::RMobility, &builder.finish(), ["a", "b"]);
        assert_eq!(told[0].as_f64(), Some(1.5 - 0.5f64.powi(42)));
        assert_eq!(told[1].as_f64(), Some(0.5 + 0.5f64.powi(42)));
    }

    #[test]
    fn both_games_of_a_pair_must_be_won() {
        // Pairs of a and b: 2-0; then 1.5-0.5; then one game whose reverse is not played.
        let games = "a-b 1, b-a 0, a-b 1, b-a =, a-b 1";
        assert_eq!(shown(Criterion::DoubleWins, games, ["a", "b"]), ["1", "0"]);
    }

    #[test]
    fn two_wins_across_a_border_of_pairs_are_no_double_win() {
        assert_eq!(shown(Criterion::DoubleWins, "a-b =, b-a 0, a-b 1, b-a =", ["a"]), ["0"]);
    }

    #[test]
    fn a_pools_reverse_game_comes_a_cycle_later() {
        // Three engines, Berger order: 12 01 20, then the reverses. Seats 0 1 2 are a b c.
        let games = "b-c 1, a-b 1, c-a 0, c-b 1, b-a 0, a-c *";
        let doubles = |games: &str| shown(Criterion::DoubleWins, games, ["a", "b", "c"]);
        assert_eq!(doubles(games), ["1", "0", "0"]);
        // The last game of the double round robin finished.
        assert_eq!(doubles(&games.replace('*', "1")), ["2", "0", "0"]);
    }

    #[test]
    fn moves_are_full_moves_and_a_half_one_counts() {
        let mut builder = FieldBuilder::default();
        let won = GameResult::Win;
        // 4 plies: 2 moves; 3 plies: 2 moves; lost and drawn games do not count.
        builder.add(&listed("a", "b", won(Color::Black), "f3 e5 g4 Qh4"), 0);
        builder.add(&listed("b", "a", won(Color::White), "e4 e5 Nf3"), 0);
        builder.add(&listed("b", "c", won(Color::White), "e4 e5 Nf3 Nc6 Bb5"), 0);
        builder.add(&listed("b", "c", GameResult::Draw, "e4"), 0);
        let [a, b] = figures(Criterion::WonLength, &builder.finish(), ["a", "b"]);
        assert_eq!(b, Figure::Average(Average { moves: 7, games: 3 }));
        // An engine that won nothing stands behind every engine that did.
        assert!(a > b);
        assert_eq!(Criterion::WonLength.better(), BetterFigure::Fewer);
    }

    #[test]
    fn the_longer_resistance_is_better() {
        let mut builder = FieldBuilder::default();
        let lost = GameResult::Win(Color::Black);
        builder.add(&listed("a", "c", lost, "f3 e5 g4 Qh4"), 0);
        builder.add(&listed("b", "c", lost, "e4 e5 Nf3 Nc6 Bb5 a6"), 0);
        let [a, b, c] = figures(Criterion::LostLength, &builder.finish(), ["a", "b", "c"]);
        assert_eq!(a.to_string(), "2.00");
        assert!(b > a && c > b);
        assert_eq!(Criterion::LostLength.better(), BetterFigure::More);
    }

    #[test]
    fn wins_with_both_colours_count() {
        let games = "a-b 1, b-a 0, a-b =, b-a 1, a-b *";
        assert_eq!(shown(Criterion::Wins, games, ["a", "b"]), ["2", "1"]);
    }

    #[test]
    fn only_wins_with_black_count() {
        let games = "a-b 1, b-a 0, a-b 0, b-a 0";
        assert_eq!(shown(Criterion::WinsBlack, games, ["a", "b"]), ["2", "1"]);
    }

    #[test]
    fn finished_games_with_black_count() {
        let games = "a-b 1, b-a 0, a-b =, a-b *";
        assert_eq!(shown(Criterion::GamesBlack, games, ["a", "b"]), ["1", "2"]);
    }

    #[test]
    fn the_losers_crashes_count_against_it() {
        let games = "a-b 1!, b-a 0!, a-b 0!, b-a 1";
        assert_eq!(shown(Criterion::Crashes, games, ["a", "b"]), ["1", "2"]);
        assert_eq!(Criterion::Crashes.better(), BetterFigure::Fewer);
    }

    #[test]
    fn final_scores_of_all_opponents_are_added_up() {
        // a 2.5, b 1, c 0.5; b met a twice.
        let games = "a-b 1, b-c 1, c-a =, b-a 0";
        assert_eq!(shown(Criterion::Buchholz, games, ["a", "b", "c"]), ["2.5", "5.5", "3.5"]);
    }

    #[test]
    fn no_two_criteria_have_one_name() {
        for name in [Criterion::id, Criterion::title, Criterion::short] {
            let all: std::collections::BTreeSet<_> =
                Criterion::ALL.iter().copied().map(name).collect();
            assert_eq!(all.len(), Criterion::ALL.len());
        }
    }

    #[test]
    fn the_handbook_names_every_criterion() {
        let page = include_str!("../../../docs/organiser.md");
        for criterion in Criterion::ALL {
            let name = format!("`{}`", criterion.id());
            assert!(page.contains(&name), "docs/organiser.md does not name {name}");
        }
    }
}
