//! The seating of a stage, as it follows from the stages before.

use super::config::EventConfig;
use super::format::Format;
use super::ledger::Ledger;
use super::lot;
use super::stage::{SeatDraw, Stage, StageFormat, playing};

/// The engines of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// The engines by seat. A place of a bracket that no engine has, after a disqualification or a withdrawal, has an empty name;
    /// elsewhere there is no seat for it.
    pub(crate) seats: Vec<String>,
    /// The engines that go on from it without a game: of a playoff the engines that were clear of the tie.
    pub(crate) through: Vec<String>,
    /// The engines of a playoff that the stage before left level in everything, a list for each tie.
    pub(crate) level: Vec<Vec<String>>,
}

/// The engines of a stage by its number.
pub(crate) fn drawn(config: &EventConfig, ledger: &Ledger, number: usize) -> Drawn {
    seated(config, ledger, number, Seating::Planned)
}

/// The same as gate4k 0.2 seated them, whose journals may hold it.
pub(super) fn drawn_by_0_2(config: &EventConfig, ledger: &Ledger, number: usize) -> Drawn {
    seated(config, ledger, number, Seating::MovedUp)
}

/// The way in which the other seats are filled where an engine does not come to its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seating {
    /// A place of a bracket is left empty: its lot, its rounds and its books are those of the plan. A substitute is ranked as its
    /// stage ranked it.
    Planned,
    /// As gate4k 0.2 did it: in brackets all behind the place moved up, and a substitute had the rank of whom it came for.
    MovedUp,
}

fn seated(config: &EventConfig, ledger: &Ledger, number: usize, seating: Seating) -> Drawn {
    let Some(stage) = config.stages.get(number) else { return Drawn::default() };
    if let Some(before) = stage.breaks_ties_of {
        return tied(config, ledger, stage, before);
    }
    let is_bracket = matches!(&stage.format, StageFormat::Of(Format::Knockout(_)));
    let keeps_places = is_bracket && seating == Seating::Planned;
    // Of some places of a stage that is over, or of all that it gives.
    let outcome = |number: usize, places: Option<&[usize]>| {
        let there = going_on(config, ledger, number);
        let Some((_, outcome)) = ledger.over(number) else { return there };
        let found = |place: &usize| match there.get(*place - 1) {
            None => keeps_places.then(String::new),
            found => found.cloned(),
        };
        let mut taken: Vec<String> = match places {
            Some(places) => places.iter().filter_map(found).collect(),
            None => {
                let missing = stage.seats.saturating_sub(there.len());
                let missing = if keeps_places { missing } else { 0 };
                there.into_iter().chain(std::iter::repeat_n(String::new(), missing)).collect()
            }
        };
        let is_ranked = matches!(stage.draw, SeatDraw::Ranking | SeatDraw::ReversedRanking);
        if is_ranked && seating == Seating::Planned {
            let rank = |name: &String| outcome.order.iter().position(|one| one == name);
            taken.sort_by_key(|name| rank(name).unwrap_or(usize::MAX));
        }
        taken
    };
    let entries = || config.entries.iter().map(|entry| entry.name.clone());
    let mut seats: Vec<String> = if stage.from.is_empty() && !stage.begins_alone() {
        match number.checked_sub(1) {
            Some(before) => outcome(before, None),
            None => entries().collect(),
        }
    } else {
        let from = stage.from.iter().flat_map(|(before, places)| outcome(*before, Some(places)));
        let previous = stage.previous.iter().cloned();
        let own: Vec<String> = match stage.draw {
            // Behind those of events before they stand by their seeds, where the file says nothing of an order.
            SeatDraw::Ranking if stage.from.is_empty() => {
                entries().filter(|name| stage.engines.contains(name)).collect()
            }
            _ => stage.engines.clone(),
        };
        previous.chain(from).chain(own).collect()
    };
    // A place of which nobody has taken the seat is vacant.
    let is_gone = |name: &String| ledger.withdrawal(name).is_some();
    if !keeps_places {
        seats.retain(|name| !is_gone(name));
    }
    match stage.draw {
        SeatDraw::ReversedRanking => seats.reverse(),
        SeatDraw::Alphabetical => seats.sort_by_key(|name| (name.is_empty(), name.to_lowercase())),
        SeatDraw::Shuffle(number) => lot::shuffle(&mut seats, number),
        SeatDraw::Seeds => {
            let order: Vec<String> = entries().collect();
            let seed = |name: &String| order.iter().position(|entry| entry == name);
            seats.sort_by_key(|name| seed(name).unwrap_or(usize::MAX));
        }
        SeatDraw::Ranking => {}
    }
    for name in &mut seats {
        if is_gone(name) {
            name.clear();
        }
    }
    if seats.iter().filter(|name| !name.is_empty()).count() < 2 {
        // Nobody plays.
        seats.retain(|name| !name.is_empty());
    }
    Drawn { seats, ..Drawn::default() }
}

/// The engines that go on from a stage by their places. The seat of one that was withdrawn since goes to the next behind
/// those that go on; where that place is shared by several the withdrawn one stays here, and its seat is nobody's.
fn going_on(config: &EventConfig, ledger: &Ledger, number: usize) -> Vec<String> {
    let Some((state, outcome)) = ledger.over(number) else { return Vec::new() };
    let mut held = outcome.promoted.clone();
    let (Some(stage), false) = (config.stages.get(number), ledger.withdrawn.is_empty()) else {
        return held;
    };
    let standings = stage.standings_of(state);
    let ranking = playing(&standings, &stage.ranking(&standings, state));
    for (gone, withdrawn) in (1..).zip(&ledger.withdrawn) {
        let Some(place) = held.iter().position(|name| *name == withdrawn.engine) else { continue };
        let before = &ledger.withdrawn[..gone];
        let is_free = |name: &&String| {
            !held.contains(name)
                && !outcome.promoted.contains(name)
                && before.iter().all(|one| one.engine != **name)
        };
        let free = ranking.iter().map(|group| group.iter().filter(is_free).collect::<Vec<_>>());
        let next = free.into_iter().find(|group| !group.is_empty());
        if let Some([next]) = next.as_deref() {
            held[place] = (*next).clone();
        }
    }
    held
}

/// Returns the engines that are level on points for the last spots of a playoff, and the engines before them.
fn tied(config: &EventConfig, ledger: &Ledger, stage: &Stage, before: usize) -> Drawn {
    let mut drawn = Drawn::default();
    let StageFormat::Of(Format::Playoff(playoff)) = &stage.format else { return drawn };
    let Some((state, outcome)) = ledger.over(before) else { return drawn };
    let field = state.field(config.stages.get(before).and_then(|stage| stage.crash_limit));
    let order: Vec<_> = outcome
        .order
        .iter()
        .filter_map(|name| Some((name, field.find(name)?)))
        .filter(|(name, engine)| {
            field.removal(*engine).is_none() && ledger.withdrawal(name).is_none()
        })
        .map(|(name, engine)| (name, field.points(engine)))
        .collect();
    let spots = playoff.spots.get() as usize;
    for level in order.chunk_by(|(_, a), (_, b)| a == b) {
        let names = level.iter().map(|(name, _)| (*name).clone());
        if drawn.through.len() >= spots {
            break;
        }
        if drawn.through.len() + level.len() > spots {
            drawn.seats = names.collect();
            break;
        }
        drawn.through.extend(names);
    }
    let stands = |name: &String| drawn.seats.contains(name) || drawn.through.contains(name);
    let groups = outcome.places().into_iter();
    let groups = groups.map(|group| group.into_iter().filter(stands).collect::<Vec<_>>());
    drawn.level = groups.filter(|group| group.len() > 1).collect();
    drawn
}

#[cfg(test)]
mod tests {
    use super::super::field::WithdrawnGames;
    use super::super::journal::record::{JournalRecord, StageFinished, StageStarted, Withdrawn};
    use super::super::journal_games::tests::{finished, started as begun};
    use super::*;
    use crate::model::game::listed::RoundGame;

    /// Six engines of which the first stage sends four on, in the order of their names.
    fn config(stages: &str) -> EventConfig {
        let dir = tempfile::tempdir().unwrap();
        let mut text = "event = \"E\"\ntime-control = \"1+1\"\n".to_owned();
        for name in ["a", "b", "c", "d", "e", "f"] {
            text += &format!("[[engine]]\nname = \"{name}\"\ncmd = \"/dev/null\"\n");
        }
        text += "[[stage]]\nname = \"P\"\nformat = { round-robin = { doubles = 1 } }\n\
                 book-policy = \"none\"\ndraw = \"seeds\"\nties = \"4k\"\npromote = 4\n";
        let path = dir.path().join("event.toml");
        std::fs::write(&path, text + stages).unwrap();
        EventConfig::load(&path).unwrap()
    }

    fn names(list: &str) -> Vec<String> {
        list.split(' ')
            .map(|name| if name == "-" { String::new() } else { name.to_owned() })
            .collect()
    }

    /// The pool in the order of its names, in which each has beaten those behind it or nobody has played, and these engines
    /// withdrawn since.
    fn after(is_played: bool, promoted: &str, withdrawn: &[&str]) -> Ledger {
        let mut ledger = Ledger::default();
        let seats = names("a b c d e f");
        let started =
            StageStarted { name: "P".into(), seats: seats.clone(), ..StageStarted::default() };
        ledger.apply(JournalRecord::StageStarted(started)).unwrap();
        let pairs = seats.iter().enumerate().flat_map(|(at, white)| {
            seats[at + 1..].iter().map(move |black| (white, black)).collect::<Vec<_>>()
        });
        for (round, (white, black)) in (1..).zip(pairs).filter(|_| is_played) {
            let game = finished(white, black, RoundGame { round, game: 1 }, "1-0", "e2e4");
            ledger.apply(JournalRecord::GameStarted(begun(&game))).unwrap();
            ledger.apply(JournalRecord::GameFinished(game)).unwrap();
        }
        let places: Vec<Vec<String>> = seats.iter().map(|name| vec![name.clone()]).collect();
        let over = StageFinished::of(0, &places, names(promoted));
        ledger.apply(JournalRecord::StageFinished(over)).unwrap();
        for engine in withdrawn {
            let withdrawn = Withdrawn {
                engine: (*engine).to_owned(),
                stage: 1,
                round: 1,
                played: WithdrawnGames::Counts,
                broken_off: Vec::new(),
                walkovers: Vec::new(),
                reason: "a test".into(),
                at: String::new(),
            };
            ledger.apply(JournalRecord::Withdrawn(withdrawn)).unwrap();
        }
        ledger
    }

    const CUP: &str = "[[stage]]\nname = \"C\"\nbook-policy = \"none\"\n\
                       format = { knockout = { bracket = \"equal-distance\", pairs = [1] } }\n";

    /// Without a game all six are level, so that nobody has the right to a seat that is free.
    #[test]
    fn a_place_of_a_bracket_that_nobody_has_stays_empty() {
        for (draw, withdrawn, seats, by_0_2) in [
            ("\"ranking\"", &["b"][..], "a - c d", "a c d"),
            ("\"reversed-ranking\"", &["b"], "d c - a", "d c a"),
            ("\"alphabetical\"", &["a"], "- b c d", "b c d"),
            ("\"ranking\"", &["a", "b", "c"], "d", "d"),
            ("\"ranking\"", &[], "a b c d", "a b c d"),
        ] {
            let config = config(&format!("{CUP}draw = {draw}\n"));
            let ledger = after(false, "a b c d", withdrawn);
            assert_eq!(drawn(&config, &ledger, 1).seats, names(seats), "{draw}");
            assert_eq!(drawn_by_0_2(&config, &ledger, 1).seats, names(by_0_2), "{draw}");
        }
        // One of the four was disqualified: the last place is nobody's.
        let config = config(&format!("{CUP}draw = \"ranking\"\n"));
        let ledger = after(false, "a b c", &[]);
        assert_eq!(drawn(&config, &ledger, 1).seats, names("a b c -"));
        assert_eq!(drawn_by_0_2(&config, &ledger, 1).seats, names("a b c"));
    }

    /// The lot of those who play is that of the plan.
    #[test]
    fn a_place_that_nobody_has_changes_no_lot() {
        let config = config(&format!("{CUP}draw = {{ shuffle = 7 }}\n"));
        let all = drawn(&config, &after(false, "a b c d", &[]), 1).seats;
        let without = drawn(&config, &after(false, "a b c d", &["c"]), 1).seats;
        let expected: Vec<String> =
            all.iter().map(|name| if name == "c" { String::new() } else { name.clone() }).collect();
        assert_eq!(without, expected);
    }

    #[test]
    fn a_substitute_has_its_own_rank_and_not_that_of_whom_it_came_for() {
        for (draw, withdrawn, seats, by_0_2) in [
            ("\"ranking\"", &["a"][..], "b c d e", "e b c d"),
            ("\"reversed-ranking\"", &["a"], "e d c b", "d c b e"),
            ("\"ranking\"", &["a", "c"], "b d e f", "e b f d"),
            ("\"ranking\"", &["a", "e"], "b c d f", "f b c d"),
        ] {
            let ledger = after(true, "a b c d", withdrawn);
            let config = config(&format!("{CUP}draw = {draw}\n"));
            assert_eq!(drawn(&config, &ledger, 1).seats, names(seats), "{draw}");
            assert_eq!(drawn_by_0_2(&config, &ledger, 1).seats, names(by_0_2), "{draw}");
        }
        // A source that names one place has that place.
        let from = "from = [\"P:1\", \"P:4\", \"P:2..3\"]\ndraw = \"ranking\"\n";
        let (config, ledger) = (config(&format!("{CUP}{from}")), after(true, "a b c d", &["a"]));
        assert_eq!(drawn(&config, &ledger, 1).seats, names("e d b c"));
    }

    /// In other formats no seat is empty.
    #[test]
    fn elsewhere_a_seat_that_nobody_has_is_none() {
        let league = "[[stage]]\nname = \"L\"\nbook-policy = \"none\"\nties = \"4k\"\n\
                      format = { round-robin = { doubles = 1 } }\ndraw = \"ranking\"\n";
        let (config, ledger) = (config(league), after(false, "a b c d", &["b"]));
        assert_eq!(drawn(&config, &ledger, 1).seats, names("a c d"));
    }
}
