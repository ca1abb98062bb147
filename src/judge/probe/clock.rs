//! Rule `clock`: the engine's use of little time, of hardly any, and of the event's.
//!
//! Alone on the machine, because its times are the evidence. The event's clock comes last: most engines
//! think for a minute there, so the wait is cut ([`Ask::was_cut`](crate::model::evidence::Ask::was_cut)).
//! The engine is asked of both sides, since each has its own words in `go`: of White for the time, of Black, and on the clocks that a
//! game comes to, only for what those clocks break, beside the other probes. One search there is long, since every search of the event is.

use std::time::Duration;

use shakmaty::Color;

use super::list::{Item, ask_all};
use super::{Bench, EVENT_CLOCK};
use crate::game::go::{Clocks, Go};
use crate::judge::probe::conversation::{Over, Ready, Search, Session};
use crate::judge::support::positions;
use crate::model::evidence::{Answer, Ask, Purpose, Run};
use crate::sandbox::plan::SandboxError;

/// Hardly anything left and no increment: what comes back is the engine's floor.
const FLOOR: Go = Go::Clock(Clocks::even(100, 0));
/// Little left, with the event's increment.
const LITTLE: Go = Go::Clock(Clocks::even(1000, 3000));

/// The name of the question on the event's clock.
const THE_EVENTS: &str = "clock-event";
/// The same as Black.
const THE_EVENTS_AS_BLACK: &str = "clock-event-black";
/// As Black: with more than at the beginning, as whoever moves faster than its increment has.
const EVENT_CLOCK_AS_BLACK: Go =
    Go::Clock(Clocks { black: Duration::from_millis(1_802_519), ..Clocks::even(1_800_000, 3000) });
/// The name of the question in the middle of an event's game: after many moves, with less than half of the time left.
const LATE_IN_THE_EVENT: &str = "clock-event-late";
const LATE_CLOCK: Go =
    Go::Clock(Clocks { black: Duration::from_millis(655_021), ..Clocks::even(712_346, 3000) });
/// The names of questions on other clocks that games of the event come to, each with its clock: one of whoever moves faster than its increment
/// against one that is short, one that is short against one that is not, and one in between.
const OTHERS_OF_THE_EVENT: [(&str, Go); 3] = [
    ("clock-event-rich", uneven(1_861_407, 434_822)),
    ("clock-event-poor", uneven(21_356, 87_914)),
    ("clock-event-middle", uneven(94_713, 81_190)),
];
/// The name of the search that is waited for longest.
const LONG: &str = "clock-event-long";
/// No longer wait where the time is no evidence: one that the clock itself breaks ends at once, and a sound one would think on.
const QUICK: Duration = Duration::from_millis(500);

/// Asks three times; the answers' times are the evidence. One that hangs on a clock which only advises is still asked on the event's, and
/// one that fails on the event's is asked there again without the smaller ones before it: no event produces those.
pub(super) fn run(bench: &Bench<'_>) -> Result<Vec<Run>, SandboxError> {
    let moves = positions::middlegame();
    let items = [
        Item::new(Purpose::Clock, "clock-floor", &moves, FLOOR),
        Item::new(Purpose::Clock, "clock-little-left", &moves, LITTLE),
        on_the_events(Color::White, whole(bench)),
    ];
    let mut runs = ask_all(bench, &items)?;
    let after_others = |run: &&mut Run| run.asks.iter().filter(|ask| ask.is_search()).count() > 1;
    let asked = runs.iter().flat_map(|run| &run.asks).any(is_on_the_events);
    let mut after_others = runs.iter_mut().filter(after_others);
    let failed = after_others.find(|run| run.asks.iter().any(failed_on_the_events));
    if !asked || failed.is_some() {
        let alone = event_alone(bench)?;
        if let Some(failed) = failed.filter(|_| went_well_on_the_events(&alone)) {
            failed.purpose = Purpose::SmallClock;
            let broke_off = |ask: &Ask| !matches!(ask.answer, Answer::Illegal { .. });
            let mut bad = failed.asks.iter().filter(|ask| failed_on_the_events(ask));
            // Where all goes well after the same questions, these are not the reason either.
            if bad.any(broke_off) && went_well_on_the_events(&ask_all(bench, &items)?) {
                failed.purpose = Purpose::ByChance;
            }
        }
        runs.extend(alone);
    }
    Ok(runs)
}

/// Asks as White on the event's clock, in a process that no other clock comes before.
pub(super) fn event_alone(bench: &Bench<'_>) -> Result<Vec<Run>, SandboxError> {
    ask_all(bench, &[on_the_events(Color::White, whole(bench))])
}

fn went_well_on_the_events(runs: &[Run]) -> bool {
    let asks = || runs.iter().flat_map(|run| &run.asks);
    asks().any(is_on_the_events) && !asks().any(failed_on_the_events)
}

fn is_on_the_events(ask: &Ask) -> bool {
    ask.search().is_some_and(|go| go.position == THE_EVENTS)
}

fn failed_on_the_events(ask: &Ask) -> bool {
    is_on_the_events(ask) && !ask.answer.is_good() && !ask.was_cut()
}

/// Asks as Black on the event's clock and then late in a game of it, in a process of their own: where White's wait was cut, that process
/// is gone, and where not, its end in good order is evidence.
pub(super) fn as_black_and_late(bench: &Bench<'_>) -> Result<Vec<Run>, SandboxError> {
    let patience = bench.plan.waits.clock.min(QUICK);
    let moves = positions::late_in_a_game();
    let late = Item::new(Purpose::Clock, LATE_IN_THE_EVENT, &moves, LATE_CLOCK);
    let late = Item { patience: Some(patience), ..late };
    ask_all(bench, &[on_the_events(Color::Black, patience), late])
}

/// Asks on the other clocks of the event, each time in a process of its own: a search that is cut leaves none to ask.
pub(super) fn others_of_the_event(bench: &Bench<'_>) -> Result<Vec<Run>, SandboxError> {
    let patience = Some(bench.plan.waits.clock.min(QUICK));
    let moves = positions::middlegame();
    let mut runs = Vec::new();
    for (name, go) in OTHERS_OF_THE_EVENT {
        let item = Item { patience, ..Item::new(Purpose::Clock, name, &moves, go) };
        runs.extend(ask_all(bench, &[item])?);
    }
    Ok(runs)
}

/// Searches for long on the event's clock: a fault that comes with depth, or with a count of positions, loses every game there.
pub(super) fn long_search(bench: &Bench<'_>) -> Result<Vec<Run>, SandboxError> {
    let item = Item::new(Purpose::Clock, LONG, &positions::middlegame(), EVENT_CLOCK);
    ask_all(bench, &[Item { patience: Some(bench.plan.waits.long_search), ..item }])
}

/// Asks a process that waits only on the event's clock, the one that can reject: of an entry that is slow, or in a quick check. No time
/// is evidence then, so that others may run meanwhile.
pub(super) fn event_only(bench: &Bench<'_>, ready: Session<Ready>, side: Color) -> Session<Over> {
    let Item { purpose, name, moves, go, patience } = on_the_events(side, whole(bench));
    let search = Search::after(&name, &moves, go);
    let asked = ready
        .new_game_for(purpose)
        .and_then(|ready| ready.go_within(search, patience.unwrap_or_default()));
    let mut over = match asked {
        Ok((ready, _)) => ready.quit(),
        Err(over) => return over,
    };
    // An entry that tidies up on small clocks alone is found here, as in a list of questions.
    if !bench.plan.quick {
        over.wait_for_leftovers();
    }
    over
}

/// The clock of a game with White to move, in milliseconds.
const fn uneven(white: u64, black: u64) -> Go {
    let [white, black] = [Duration::from_millis(white), Duration::from_millis(black)];
    Go::Clock(Clocks { white, black, ..Clocks::even(0, 3000) })
}

/// The wait where the time is evidence.
fn whole(bench: &Bench<'_>) -> Duration {
    let whole = bench.plan.waits.clock;
    if bench.plan.quick { whole.min(QUICK) } else { whole }
}

fn on_the_events(side: Color, patience: Duration) -> Item {
    let (name, moves, go) = match side {
        Color::White => (THE_EVENTS, positions::middlegame(), EVENT_CLOCK),
        Color::Black => {
            (THE_EVENTS_AS_BLACK, positions::middlegame_as_black(), EVENT_CLOCK_AS_BLACK)
        }
    };
    Item { patience: Some(patience), ..Item::new(Purpose::Clock, name, &moves, go) }
}
