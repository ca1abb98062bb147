//! Tie-breaks: the criteria, and the chains in which the events apply them, as data.
//!
//! Engines with the same points are ordered by one criterion after the other, each among those that are still tied.
//! Engines that the chain leaves tied start it again among themselves, since a mini-table of fewer engines may tell what
//! the larger one did not. Engines that are then still tied stay tied: their order is never picked by name or by position.

mod criterion;
mod cumulative_opponents;
mod figure;
#[cfg(test)]
mod hand_computed;

use super::field::{EngineIx, Field};
use super::progress::{Pair, pairs};
use crate::model::game::points::HalfPoints;
use criterion::BetterFigure;
pub use criterion::Criterion;
pub(crate) use figure::{Average, Figure};

/// The treatment of engines that a chain leaves tied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TiedRest {
    /// The organisers decide (rule 3.1.7 of the 4k event, 11.1.7 of the leagues, 3.5 of the FRD, 12.f of season 17).
    Organisers,
    /// The engines share the place.
    Shared,
}

/// The criteria of an event, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TiebreakChain {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// The criteria.
    pub criteria: &'static [Criterion],
    /// The treatment of engines that are still tied.
    pub(crate) rest: TiedRest,
    /// True if a match of two is exempt: rule 3.2 of the 4k rules breaks its tie by further games only.
    pub(crate) spares_matches: bool,
}

/// The chains of TCEC events; the first is the 4k rules' (rule 3.1).
pub(crate) const CHAINS: &[TiebreakChain] = {
    use Criterion as C;
    let base = TiebreakChain {
        name: "4k",
        criteria: &[
            C::DirectEncounter,
            C::SonnebornBerger,
            C::RMobility,
            C::DoubleWins,
            C::WonLength,
            C::LostLength,
        ],
        rest: TiedRest::Organisers,
        spares_matches: true,
    };
    let other = TiebreakChain { spares_matches: false, ..base };
    &[
        base,
        TiebreakChain {
            name: "swiss",
            criteria: &[C::SonnebornBerger, C::RMobility, C::Wins, C::DirectEncounter],
            rest: TiedRest::Shared,
            ..other
        },
        TiebreakChain {
            name: "frd",
            criteria: &[C::DirectEncounter, C::SonnebornBerger, C::RMobility, C::Wins],
            ..other
        },
        TiebreakChain {
            name: "s17",
            criteria: &[C::Crashes, C::DirectEncounter, C::Wins, C::SonnebornBerger],
            ..other
        },
        // nTCEC from stage 2 on; its stage 1 had the opponents' scores in place of Sonneborn-Berger.
        TiebreakChain {
            name: "ntcec",
            criteria: &[
                C::SonnebornBerger,
                C::GamesBlack,
                C::Wins,
                C::WinsBlack,
                C::DirectEncounter,
            ],
            ..other
        },
        TiebreakChain {
            name: "ntcec-stage1",
            criteria: &[
                C::CumulativeOpponents,
                C::GamesBlack,
                C::Wins,
                C::WinsBlack,
                C::DirectEncounter,
            ],
            ..other
        },
        // Of season 4's 16 engines the rule's text puts 14 into the groups that were played, and this all.
        TiebreakChain {
            name: "ntcec-season-4",
            criteria: &[C::Buchholz, C::GamesBlack, C::Wins, C::WinsBlack, C::DirectEncounter],
            ..other
        },
    ]
};

impl TiebreakChain {
    /// The chain of a name.
    pub fn named(name: &str) -> Option<&'static TiebreakChain> {
        CHAINS.iter().find(|chain| chain.name == name)
    }

    /// Returns who decides a tie that no criterion breaks and that cannot stay, in words, with the rule where it is the
    /// chain's alone.
    pub(crate) fn organisers_decide(&self) -> &'static str {
        match self.name {
            "4k" => "the organisers decide (rule 3.1.7)",
            "s17" => "the organisers decide (rule 12.f)",
            _ => "the organisers decide",
        }
    }
}

/// A field with what several criteria need.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// Engines and games.
    pub(crate) field: &'a Field,
    /// The points of every engine.
    pub(crate) points: Vec<HalfPoints>,
    /// The game pairs.
    pub(crate) pairs: Vec<Pair>,
}

impl<'a> Context<'a> {
    /// Counts points and finds pairs.
    pub(crate) fn new(field: &'a Field) -> Context<'a> {
        Context {
            field,
            points: field.indices().map(|engine| field.points(engine)).collect(),
            pairs: pairs(field),
        }
    }
}

/// Engines on one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TiedGroup {
    /// More than one where they are tied for good.
    pub(crate) engines: Vec<EngineIx>,
    /// The criterion that puts them behind the group before; none where points do, or where there is none before.
    pub(crate) by: Option<Criterion>,
}

/// Orders engines that have the same points, the best first.
pub(crate) fn break_tie(
    context: &Context<'_>,
    tied: &[EngineIx],
    chain: &TiebreakChain,
) -> Vec<TiedGroup> {
    let parts = in_turn(context, tied, chain.criteria);
    if parts.len() < 2 {
        return parts;
    }
    let mut groups = Vec::new();
    for part in parts {
        let mut inner = break_tie(context, &part.engines, chain);
        inner[0].by = part.by;
        groups.extend(inner);
    }
    groups
}

/// Orders engines by one criterion after the other, each asked about those that all before it leave tied: the rules
/// have the direct encounter of "the tied engines", wherever it stands in a chain.
fn in_turn(context: &Context<'_>, tied: &[EngineIx], criteria: &[Criterion]) -> Vec<TiedGroup> {
    let next = criteria.split_first().filter(|_| tied.len() > 1);
    let Some((criterion, rest)) = next else {
        return vec![TiedGroup { engines: tied.to_vec(), by: None }];
    };
    let mut keyed: Vec<(EngineIx, Figure)> =
        tied.iter().map(|engine| (*engine, criterion.figure(context, *engine, tied))).collect();
    keyed.sort_by(|(_, a), (_, b)| match criterion.better() {
        BetterFigure::More => b.cmp(a),
        BetterFigure::Fewer => a.cmp(b),
    });
    let mut groups = Vec::new();
    for part in keyed.chunk_by(|a, b| a.1 == b.1) {
        let engines: Vec<EngineIx> = part.iter().map(|(engine, _)| *engine).collect();
        let mut inner = in_turn(context, &engines, rest);
        inner[0].by = if groups.is_empty() { None } else { Some(*criterion) };
        groups.extend(inner);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::field::tests::{field, find};

    /// The chain of a name, or the criterion of that id as a chain of its own.
    fn chain_of(name: &str) -> TiebreakChain {
        let criterion = Criterion::ALL.iter().find(|criterion| criterion.id() == name);
        let alone = criterion.map(|criterion| TiebreakChain {
            name: "test",
            criteria: std::slice::from_ref(criterion),
            ..CHAINS[0]
        });
        alone.or(TiebreakChain::named(name).copied()).unwrap()
    }

    /// Games as for [`field`], and a chain as for [`order_of`].
    pub(super) fn order(games: &str, tied: &str, chain: &str) -> String {
        order_of(&field(games), tied, chain)
    }

    /// `a, b=c (DE)`: the order of the engines by a chain or by one criterion, and the criteria that made it.
    pub(super) fn order_of(field: &Field, tied: &str, chain: &str) -> String {
        let context = Context::new(field);
        let tied: Vec<EngineIx> = tied.split(' ').map(|name| find(field, name)).collect();
        let groups = break_tie(&context, &tied, &chain_of(chain));
        let told: Vec<String> = groups
            .iter()
            .map(|group| {
                let names: Vec<&str> = group
                    .engines
                    .iter()
                    .map(|engine| field.engine(*engine).name.as_str())
                    .collect();
                let by = group.by.map_or(String::new(), |by| format!(" ({})", by.short()));
                names.join("=") + &by
            })
            .collect();
        told.join(", ")
    }

    #[test]
    fn a_circle_of_three_is_no_trouble_for_a_mini_table() {
        // a beats b, b beats c, c beats a; nothing else tells them apart. A comparison of two at a time
        // would put somebody first.
        assert_eq!(order("a-b 1, b-c 1, c-a 1", "a b c", "frd"), "a=b=c");
    }

    #[test]
    fn the_mini_table_of_three_decides_as_a_whole() {
        // Against the two others a has 1.5, b 1 and c 0.5; the games with d and e do not matter.
        let games = "a-b =, a-c 1, b-c =, d-a 1, b-d =, c-d 1, e-a 1, b-e =, c-e =";
        assert_eq!(order(games, "a b c", "4k"), "a, b (DE), c (DE)");
    }

    #[test]
    fn those_that_stay_tied_start_again_among_themselves() {
        // Among the three, a and b have 3 and c has 2; then a and b start again, and a has 2 to 1.
        let games = "a-b 1, b-c 1, c-a 1, a-c 1, b-a 1, a-b 1, c-b 1, b-c 1";
        let field = field(games);
        let context = Context::new(&field);
        let tied = ["a", "b", "c"].map(|name| find(&field, name));
        let mini = |name, tied: &[EngineIx]| {
            Criterion::DirectEncounter.figure(&context, find(&field, name), tied).to_string()
        };
        assert_eq!([mini("a", &tied), mini("b", &tied), mini("c", &tied)], ["3", "3", "2"]);
        assert_eq!(mini("a", &tied[..2]), "2");
        let only =
            TiebreakChain { name: "test", criteria: &[Criterion::DirectEncounter], ..CHAINS[0] };
        let groups = break_tie(&context, &tied, &only);
        let names: Vec<_> =
            groups.iter().map(|g| field.engine(g.engines[0]).name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(groups[1..].iter().all(|g| g.by == Some(Criterion::DirectEncounter)));
    }

    /// a and b drew each other, b beat c, and c beat a; c crashed and is behind both. The tied engines of season 17's rule
    /// 12.c are then a and b alone, and a won more games.
    #[test]
    fn games_against_an_engine_that_is_told_apart_are_no_direct_encounter() {
        let games = "a-b =, b-c 1, c-a 1, a-d 1, d-a 0, b-e =, e-b =, c-d 0!, c-e 1, e-c =";
        assert_eq!(order(games, "a b c", "s17"), "a, b (Wins), c (Crashes)");
    }

    #[test]
    fn the_first_criterion_that_differs_decides() {
        // a and b drew each other; a beat the stronger of the others.
        let games = "a-b =, a-c 1, b-d 1, c-d 1, d-a 1, c-b 1";
        assert_eq!(order(games, "a b", "4k"), "a, b (S-B)");
        assert_eq!(order(games, "b a", "4k"), "a, b (S-B)");
    }

    #[test]
    fn the_last_criteria_of_the_rules_decide_by_length_and_then_nobody_does() {
        use crate::event::field::FieldBuilder;
        use crate::model::game::listed::tests::listed;
        use crate::model::game::result::GameResult;
        use shakmaty::Color;

        const SHORT: &str = "f3 e5 g4 Qh4";
        const LONG: &str = "e4 e5 Nf3 Nc6 Bb5 a6";
        // a and b drew both games, and won two and lost two against c and d; only lengths can differ.
        let order = |won: [&str; 2], lost: [&str; 2]| {
            let mut builder = FieldBuilder::default();
            builder.add(&listed("a", "b", GameResult::Draw, LONG), 0);
            builder.add(&listed("b", "a", GameResult::Draw, LONG), 0);
            for (name, won, lost) in [("a", won[0], lost[0]), ("b", won[1], lost[1])] {
                builder.add(&listed(name, "c", GameResult::Win(Color::White), won), 0);
                builder.add(&listed("c", name, GameResult::Win(Color::Black), won), 0);
                builder.add(&listed(name, "d", GameResult::Win(Color::Black), lost), 0);
                builder.add(&listed("d", name, GameResult::Win(Color::White), lost), 0);
            }
            let field = builder.finish();
            let context = Context::new(&field);
            let tied = [find(&field, "a"), find(&field, "b")];
            break_tie(&context, &tied, &CHAINS[0])
                .iter()
                .map(|group| (group.engines.len(), group.engines[0] == tied[0], group.by))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            order([LONG, SHORT], [LONG, SHORT]),
            [(1, false, None), (1, true, Some(Criterion::WonLength))]
        );
        assert_eq!(
            order([LONG, LONG], [LONG, SHORT]),
            [(1, true, None), (1, false, Some(Criterion::LostLength))]
        );
        // Rule 3.1.7.
        assert_eq!(order([SHORT, SHORT], [LONG, LONG]), [(2, true, None)]);
    }

    #[test]
    fn crashes_come_first_in_season_17() {
        let games = "a-b 1, c-a 1!, b-c 1, c-b 0, a-c =, b-a 0";
        assert!(order(games, "a b", "s17").starts_with("b, a"));
        assert!(order(games, "a b", "frd").starts_with("a, b"));
    }

    #[test]
    fn every_chain_is_found_by_its_name_and_the_first_is_the_rules() {
        for chain in CHAINS {
            assert_eq!(TiebreakChain::named(chain.name), Some(chain));
        }
        let titles: Vec<&str> = CHAINS[0].criteria.iter().map(|c| c.id()).collect();
        assert_eq!(
            titles,
            [
                "direct-encounter",
                "sonneborn-berger",
                "r-mobility",
                "double-wins",
                "won-length",
                "lost-length"
            ]
        );
    }
}
