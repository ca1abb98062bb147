//! Rules 2.1 and 6.2: an illegal move, a crash and silence lose games. A few fast games may show faults that
//! single positions did not: memory of the moves before, the hundredth search of a process, the second game.
//!
//! To lose on time is a loss and no reason to reject (rule 1.2): games go on after a fallen flag, and late
//! moves are told. Only silence long beyond the clock is a fault, and only of an engine that is not slow.

use super::{CausedByLoad, JudgedRule, Needed};
use crate::judge::support::came_again::BY_CHANCE;
use crate::judge::support::earlier_move::EarlierMove;
use crate::judge::support::{excuse, runs, wording};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::evidence::{
    Evidence, GameEnd, GameFault, GamesEvidence, LateMove, PlayedGame, PlayedGames, Purpose, Rival,
};
use crate::model::next_step::ENTRY;
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};
use crate::model::words::{self, counted};

const RULE: RuleId = RuleId::Match;

/// Silence counts where it lasted so many times longer than every move that came.
const SLOW: u32 = 4;
/// A move that is late by no more beyond the floor is the floor's doing.
const FLOOR: u32 = 2;

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    evidence: Needed::Games,
    ..JudgedRule::by_answers(RULE, CausedByLoad::Possibly, |case| judge(case.evidence))
};

/// Judges the games.
fn judge(evidence: &Evidence) -> Finding {
    if runs::engine(evidence).is_none() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let played = match &evidence.games {
        GamesEvidence::Played(played) => played,
        GamesEvidence::LeftOut(why) => {
            return Finding::advice(RULE, format!("no games were played: {why}"));
        }
        GamesEvidence::NotYet => {
            return Finding::new(RULE, Status::Skipped, "no games were played yet");
        }
        GamesEvidence::Impossible(why) => {
            return Finding::undecided(RULE, format!("games could not be played here: {why}"))
                .help("run `gate4k doctor`, mend what it names, and check again");
        }
    };
    let figures = |finding: Finding| {
        finding
            .with("control", &played.control)
            .with("wanted", played.wanted)
            .with("limit_ms", played.limit.as_secs_f64() * 1e3)
            .with("took_ms", played.took.as_secs_f64() * 1e3)
            .with("games", played.games.iter().map(json_of).collect::<Vec<_>>())
    };
    let faults: Vec<(&PlayedGame, &GameFault)> =
        played.games.iter().filter_map(|game| Some((game, fault(played, game)?))).collect();
    // One honest failure stands, whatever was refused elsewhere.
    let guilty = faults.iter().find(|(game, _)| game.refusals.is_empty()).or(faults.first());
    let Some((game, fault)) = guilty else {
        return figures(sound(evidence, played));
    };
    let mut finding = accuse(evidence, game, fault);
    for (other, fault) in faults.iter().filter(|(other, _)| other.number != game.number) {
        finding = finding.detail(format!("also: {}", words(evidence, other, fault)));
    }
    figures(excuse::excused(finding, excuse::refused(&game.refusals, &evidence.host)))
}

/// The entry's fault in a game; silence of a slow engine is none.
fn fault<'a>(played: &PlayedGames, game: &'a PlayedGame) -> Option<&'a GameFault> {
    let GameEnd::Fault(fault) = &game.end else {
        return None;
    };
    // A fault that does not happen on the event's clocks loses no game there.
    if held(game) {
        return None;
    }
    match fault {
        GameFault::Silent { waited, .. } if slowest(played) * SLOW > *waited => None,
        fault => Some(fault),
    }
}

/// True if its fault did not come again on the event's clocks.
fn held(game: &PlayedGame) -> bool {
    game.again.as_ref().is_some_and(|again| again.held.is_some())
}

fn slowest(played: &PlayedGames) -> Duration {
    played.games.iter().filter_map(|game| game.slowest).max().unwrap_or_default()
}

fn accuse(evidence: &Evidence, game: &PlayedGame, fault: &GameFault) -> Finding {
    // The one command that sends a whole game again needs a report that holds it.
    let again = format!(
        "`gate4k check --report json=report.json {ENTRY}`, and then `gate4k replay-question report.json match`"
    );
    let told = earlier_move(evidence, game, fault).map(EarlierMove::help);
    let help = match fault {
        GameFault::Illegal { why, .. } => told.or(runs::help_to_write(why)).map_or_else(
            || {
                format!(
                    "see from which move on its board differs from the one that `position` tells: {again} sends it the whole \
                     game, search by search"
                )
            },
            str::to_owned,
        ),
        GameFault::NoMove { .. } => {
            "answer with a legal move as long as there is one: the runner alone declares games over"
                .to_owned()
        }
        GameFault::Gone => {
            format!("mend the crash, which loses the game: {again} plays it again")
        }
        GameFault::Silent { .. } => format!(
            "see what never ends there, since it loses the game: {again} plays it again"
        ),
        GameFault::NoStart(_) if !options(game).is_empty() => {
            "start it with the options of its configuration: send it the lines below by hand, and mend what ends it or holds it there, or take the option out"
                .to_owned()
        }
        GameFault::NoStart(_) => {
            "start it several times in a row, and mend what fails then".to_owned()
        }
    };
    let again = game.again.clone().unwrap_or_default();
    let set = options(game);
    let set =
        (!set.is_empty()).then(|| format!("it was sent: uci, {}, isready", words::some(&set, 6)));
    Finding::fail(RULE, words(evidence, game, fault))
        .detail(format!(
            "game {}, against {}, after {} and {} of its own answers:",
            game.number,
            game.rival.word(),
            game.plies(),
            game.answered
        ))
        .detail(format!("  {}", wording::shorten(&game.command, 400)))
        .detail(format!("  FEN {}", game.fen))
        .details(set)
        .details(again.tries.iter().map(|words| format!("asked again {words}")))
        .with("commands", &again.commands)
        .details(game.stderr.iter().map(|line| format!("stderr: {line}")))
        .help(help)
}

/// The reason for which what it said is an earlier move of its own in the game, word for word, if it is one.
fn earlier_move(evidence: &Evidence, game: &PlayedGame, fault: &GameFault) -> Option<EarlierMove> {
    let GameFault::Illegal { said, .. } = fault else { return None };
    let said = said.split_ascii_whitespace().next()?;
    let mut own = game.moves.iter().rev().skip(1).step_by(2);
    let at = own.position(|ply| ply.took.is_some() && said == ply.uci)?;
    if runs::tells_moves_twice(evidence) {
        return Some(EarlierMove::Surplus);
    }
    (at == 0).then_some(EarlierMove::OldBoard)
}

/// The options of its configuration, as they were sent once more after a fault.
fn options(game: &PlayedGame) -> Vec<&str> {
    let commands = game.again.iter().flat_map(|again| &again.commands).map(String::as_str);
    commands.filter(|line| line.starts_with("setoption ")).collect()
}

fn words(evidence: &Evidence, game: &PlayedGame, fault: &GameFault) -> String {
    let by_shell = || runs::measured(evidence).is_some_and(runs::has_shell);
    let place = format!("at ply {} of a game against {}", game.plies().0, game.rival.word());
    match fault {
        GameFault::Illegal { said, why } => format!("`bestmove {said}` {place} is no move: {why}"),
        GameFault::NoMove { said, legal } => format!(
            "it takes the game for over {place}: {}, where {} {} legal",
            // Nothing stands between the quotes that it did not say.
            match &**said {
                "" => "`bestmove` without a move".to_owned(),
                said => format!("`bestmove {said}`"),
            },
            counted(*legal, "move"),
            if *legal == 1 { "was" } else { "were" }
        ),
        GameFault::Gone => match game.exit {
            Some(exit) => format!("it ends {place}: {}", wording::exit_words(exit, by_shell())),
            None => format!("it closes its output {place}"),
        },
        GameFault::Silent { left, waited } => format!(
            "it gives no answer {place}: none within {}, with {} on its clock",
            wording::secs(*waited),
            wording::secs(*left)
        ),
        GameFault::NoStart(why) => format!("it did not start for game {}: {why}", game.number),
    }
}

/// The finding on games without a fault.
fn sound(evidence: &Evidence, played: &PlayedGames) -> Finding {
    let whole = played.games.iter().filter(|game| matches!(game.end, GameEnd::Whole(_))).count();
    let moves: usize = played.games.iter().map(|game| game.answered).sum();
    let cut = played.wanted - whole;
    let mut summary = if cut == 0 {
        format!("{} played to the end", counted(whole, "game"))
    } else {
        format!("{whole} of {} games played to the end, {}", played.wanted, why_cut(played))
    };
    summary += &format!("; {moves} moves at {}, all legal", played.control);
    if moves > 0 {
        summary += &format!(", the slowest {}", wording::secs(slowest(played)));
    }
    if moves > 0 && played.games.iter().all(|game| game.rival == Rival::Reference) {
        summary += "; it starts slowly, so none was played against itself";
    }
    let details = played.games.iter().map(|game| {
        let how = match &game.end {
            GameEnd::Whole(how) => how.clone(),
            GameEnd::Cut(why) => format!("cut: {why}"),
            GameEnd::Rival(how) => format!("{how} (the reference engine, no fault of the entry)"),
            GameEnd::Fault(_) => "no answer yet".to_owned(),
        };
        let (number, plies) = (game.number, game.plies());
        format!("game {number} against {}: {plies}, {} {how}", game.rival.word(), game.result)
    });
    let weak: Vec<(&PlayedGame, &GameFault)> = played
        .games
        .iter()
        .chain(&played.disproved)
        .filter_map(|game| match &game.end {
            GameEnd::Fault(fault) if held(game) => Some((game, fault)),
            _ => None,
        })
        .collect();
    let by_chance = |game: &PlayedGame| game.again.as_ref().is_some_and(|again| again.by_chance);
    if let Some((game, fault)) = weak.iter().find(|(game, _)| by_chance(game)) {
        let again = game.again.clone().unwrap_or_default();
        let what = words(evidence, game, fault);
        let finding = Finding::undecided(
            RULE,
            format!(
                "{summary}; by chance, {what}; all went well when the same was asked again on the same clock"
            ),
        );
        let finding = finding
            .details(details)
            .details(again.tries.iter().map(|words| format!("asked again {words}")))
            .with("commands", &again.commands)
            .help(BY_CHANCE);
        return excuse::excused(finding, excuse::refused(&game.refusals, &evidence.host));
    }
    if let Some((game, fault)) = weak.first() {
        let again = game.again.clone().unwrap_or_default();
        let told = earlier_move(evidence, game, fault);
        let what = told.map_or("is weak on clocks below the event's", EarlierMove::fault);
        return Finding::advice(RULE, format!("{summary}; it {what}: {}", words(evidence, game, fault)))
            .details(details)
            .details(again.tries.iter().map(|words| format!("asked again {words}")))
            .with("commands", &again.commands)
            .help(told.map_or(
                "have a move ready before the clock is looked at, such as the first legal one: an engine that is short \
                 of time loses the game otherwise, though that is no reason to reject",
                EarlierMove::help,
            ));
    }
    let late: Vec<&LateMove> = played.games.iter().flat_map(|game| &game.late).collect();
    let finding = match late.iter().max_by_key(|late| late.took) {
        None => Finding::pass(RULE, summary),
        Some(worst) => {
            let slow = floor(evidence).is_some_and(|floor| worst.took <= floor * FLOOR);
            summary += &format!(
                "; {} came after the clock ({} with {} left)",
                counted(late.len(), "move"),
                wording::secs(worst.took),
                wording::secs(worst.left)
            );
            if slow {
                // Its floor is told by the rule `clock`, and is no loss with the event's increment.
                Finding::pass(RULE, summary)
            } else {
                Finding::advice(RULE, summary).help(
                    "look at the clock inside the search: a late move loses the game (rule 1.2), though it \
                     is no reason to reject",
                )
            }
        }
    };
    finding.details(details).with("late", late)
}

/// The reason why not all games were played to their end.
fn why_cut(played: &PlayedGames) -> String {
    if played.took >= played.limit {
        return format!("the others cut after {} (no failure)", wording::secs(played.limit));
    }
    let other = |game: &PlayedGame| match &game.end {
        GameEnd::Cut(why) => Some(format!("the others cut: {why}")),
        GameEnd::Rival(how) => Some(format!("the reference engine failed: {how}")),
        _ => None,
    };
    played.games.iter().find_map(other).unwrap_or_else(|| "the others not begun".to_owned())
}

/// The shortest time that it took for any move of the clock's run.
fn floor(evidence: &Evidence) -> Option<Duration> {
    let runs = evidence.of(Purpose::Clock);
    runs.flat_map(runs::searches)
        .filter(|search| search.ask.moved())
        .map(|search| search.ask.took)
        .min()
}

fn json_of(game: &PlayedGame) -> Value {
    json!({
        "number": game.number,
        "rival": game.rival,
        "colours": game.colours,
        "plies": game.plies().0,
        "answered": game.answered,
        "result": game.result,
        "end": game.end,
        "late": game.late.len(),
        "command": game.command,
        "again": game.again,
        "exit": game.exit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::ms;
    use crate::model::evidence::{AskedAgain, ExitHow, Refusal, Resource, WhyIllegal};
    use crate::model::units::Bytes;

    fn of(games: Vec<PlayedGame>) -> Finding {
        let mut evidence = testing::evidence();
        evidence.games = testing::games(games);
        judge(&evidence)
    }

    fn with(end: GameEnd) -> PlayedGame {
        PlayedGame { end, ..testing::game(1, Rival::Itself) }
    }

    fn gone() -> PlayedGame {
        PlayedGame { exit: Some(ExitHow::Signal(11)), ..with(GameEnd::Fault(GameFault::Gone)) }
    }

    #[test]
    fn games_without_a_fault_pass_and_cut_ones_say_so() {
        let finding = judge(&testing::evidence());
        assert_eq!(finding.status, Status::Pass);
        assert!(finding.summary.starts_with("4 games played to the end"), "{}", finding.summary);
        let cut = with(GameEnd::Cut("the match was stopped".into()));
        let finding = of(vec![testing::game(1, Rival::Itself), cut]);
        assert_eq!(finding.status, Status::Pass);
        assert!(finding.summary.starts_with("1 of 4 games"), "{}", finding.summary);
        let rival = with(GameEnd::Rival("Black disconnects".into()));
        let finding = of(vec![rival]);
        assert_eq!(finding.status, Status::Pass);
        assert!(finding.summary.contains("the reference engine failed"), "{}", finding.summary);
    }

    #[test]
    fn each_fault_fails_in_its_own_words() {
        for (fault, part) in [
            (
                GameFault::Illegal { said: "a1a1".into(), why: WhyIllegal::on_board("no") },
                "`bestmove a1a1` at ply 40 of a game against itself is no move: illegal: no",
            ),
            (
                GameFault::NoMove { said: "(none)".into(), legal: 20 },
                "takes the game for over at ply 40 of a game against itself: `bestmove (none)`, where 20 moves",
            ),
            (
                GameFault::NoMove { said: String::new(), legal: 20 },
                "for over at ply 40 of a game against itself: `bestmove` without a move, where 20 moves",
            ),
            (GameFault::Gone, "it closes its output at ply 40"),
            (
                GameFault::Silent { left: ms(900), waited: ms(20_900) },
                "none within 20.9 s, with 0.90 s on its clock",
            ),
            (GameFault::NoStart("no uciok".into()), "did not start for game 1: no uciok"),
        ] {
            let finding = of(vec![with(GameEnd::Fault(fault))]);
            assert_eq!(finding.status, Status::Fail, "{}", finding.summary);
            assert!(finding.summary.contains(part), "{}", finding.summary);
            assert!(!finding.help.is_empty());
        }
        assert!(of(vec![gone()]).summary.ends_with("SIGSEGV"));
    }

    #[test]
    fn an_end_that_comes_by_chance_leaves_it_open() {
        let again = AskedAgain {
            held: Some("go wtime 3000".into()),
            by_chance: true,
            ..AskedAgain::default()
        };
        let finding = of(vec![PlayedGame { again: Some(again), ..gone() }]);
        assert_eq!(finding.status, Status::Undecided);
        let told = "by chance, it ends at ply 40 of a game against itself: killed by SIGSEGV";
        assert!(finding.summary.contains(told), "{}", finding.summary);
    }

    #[test]
    fn a_move_that_is_said_twice_is_told_so() {
        let fault_at = |ply: usize, took, said: &str| {
            let why = WhyIllegal::on_board("no piece stands on h7");
            let end = GameEnd::Fault(GameFault::Illegal { said: said.into(), why });
            let mut game = with(end);
            (game.moves[ply].uci, game.moves[ply].took) = ("h7h6".into(), took);
            game
        };
        let fault = |said: &str| fault_at(38, Some(ms(5)), said);
        let judged = |game: PlayedGame, surplus| {
            let mut evidence = testing::evidence();
            evidence.games = testing::games(vec![game]);
            if let GamesEvidence::Played(played) = &mut evidence.games {
                played.surplus_moves = surplus;
            }
            judge(&evidence)
        };
        let of = |mut games: Vec<PlayedGame>| judged(games.remove(0), true);
        let twice = of(vec![fault("h7h6")]);
        assert_eq!(twice.status, Status::Fail);
        assert!(twice.help.contains("print `bestmove` once"), "{}", twice.help);
        // It may come later, and a move of the opening is none of its answers.
        assert_eq!(of(vec![fault_at(30, Some(ms(5)), "h7h6")]).help, twice.help);
        assert_ne!(of(vec![fault_at(38, None, "h7h6")]).help, twice.help);
        assert!(of(vec![fault("h7h5")]).help.contains("its board differs"));
        let held = AskedAgain { held: Some("go wtime 3000".into()), ..AskedAgain::default() };
        let held = of(vec![PlayedGame { again: Some(held), ..fault("h7h6") }]);
        assert_eq!(held.status, Status::Advice);
        assert!(held.summary.contains("; it gives a move twice: `bestmove h7h6`"));
        assert!(held.help.contains("print `bestmove` once"), "{}", held.help);
        // Where each `go` had one answer, its board is the old one.
        let old = judged(fault("h7h6"), false);
        assert!(old.help.contains("it plays on an old board here"), "{}", old.help);
        let earlier = judged(fault_at(30, Some(ms(5)), "h7h6"), false);
        assert!(earlier.help.contains("its board differs"), "{}", earlier.help);
    }

    #[test]
    fn a_start_that_fails_with_the_options_of_its_configuration_names_them() {
        let again = AskedAgain {
            commands: ["uci", "isready", "setoption name Hash value 64", "isready"]
                .map(Into::into)
                .to_vec(),
            ..AskedAgain::default()
        };
        let fails = with(GameEnd::Fault(GameFault::NoStart("it ended before readyok".into())));
        let finding = of(vec![PlayedGame { again: Some(again), ..fails }]);
        let sent = "it was sent: uci, setoption name Hash value 64, isready";
        assert!(finding.details.iter().any(|line| line == sent), "{:?}", finding.details);
        assert!(finding.help.contains("take the option out"), "{}", finding.help);
    }

    #[test]
    fn what_was_refused_excuses_only_its_own_game() {
        let refused = PlayedGame {
            refusals: vec![Refusal { by: None, what: Resource::Memory(Bytes(256 << 30)) }],
            ..gone()
        };
        assert_eq!(of(vec![refused.clone()]).status, Status::Undecided);
        let honest = PlayedGame { number: 2, ..gone() };
        let finding = of(vec![refused, honest]);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.details.iter().any(|line| line.starts_with("also: ")));
    }

    #[test]
    fn what_fails_on_a_small_clock_only_is_advice() {
        let faulty = |held: Option<&str>| {
            let again = AskedAgain { held: held.map(Into::into), ..AskedAgain::default() };
            PlayedGame { again: Some(again), ..gone() }
        };
        let finding = of(vec![faulty(Some("go wtime 3000 btime 3000 winc 3000 binc 3000"))]);
        assert_eq!(finding.status, Status::Advice);
        assert!(
            finding.summary.contains("weak on clocks below the event's"),
            "{}",
            finding.summary
        );
        assert_eq!(of(vec![faulty(None)]).status, Status::Fail);
        let mut evidence = testing::evidence();
        evidence.games = testing::games(vec![testing::game(1, Rival::Itself)]);
        let GamesEvidence::Played(played) = &mut evidence.games else { unreachable!() };
        played.disproved.push(faulty(Some("go wtime 3000 btime 3000 winc 3000 binc 3000")));
        assert_eq!(judge(&evidence).status, Status::Advice);
    }

    #[test]
    fn the_silence_of_a_slow_engine_is_no_fault() {
        let silent = with(GameEnd::Fault(GameFault::Silent { left: ms(900), waited: ms(20_900) }));
        let slow = PlayedGame { slowest: Some(ms(6_000)), ..silent };
        assert_eq!(of(vec![slow]).status, Status::Pass);
    }

    #[test]
    fn late_moves_advise_unless_they_are_its_floor() {
        // The healthy entry's floor is 200 ms.
        let late = |took| PlayedGame {
            late: vec![LateMove { ply: crate::model::units::Ply(9), left: ms(20), took: ms(took) }],
            ..testing::game(1, Rival::Itself)
        };
        assert_eq!(of(vec![late(390)]).status, Status::Pass);
        let finding = of(vec![late(900)]);
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.summary.contains("1 move came after the clock (0.90 s with 20 ms left)"));
    }

    #[test]
    fn games_that_were_not_played_never_reject() {
        let mut evidence = testing::evidence();
        evidence.games = GamesEvidence::LeftOut("--match off".into());
        assert_eq!(judge(&evidence).status, Status::Advice);
        evidence.games = GamesEvidence::Impossible("no pipe".into());
        assert_eq!(judge(&evidence).status, Status::Undecided);
        evidence.games = GamesEvidence::NotYet;
        assert_eq!(judge(&evidence).status, Status::Skipped);
    }
}
