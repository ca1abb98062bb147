//! A game that the organisers strike out: which games there are to strike out, and when one cannot be any more.

use std::collections::BTreeSet;

use super::config::EventConfig;
use super::format::Next;
use super::format::match_::MatchFormat;
use super::journal::record::{AfterAnnulment, Annulled, JournalRecord};
use super::ledger::Ledger;
use super::stage::StageFormat;
use crate::model::game::listed::RoundGame;

/// A game that has ended, is under way, or was struck out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KnownGame {
    /// Its id.
    pub(super) id: String,
    /// The stage's number.
    pub(super) stage: usize,
    /// Its place in the schedule.
    pub(super) at: RoundGame,
}

/// All games of an event so far.
pub(super) fn known<'a>(
    config: &'a EventConfig,
    ledger: &'a Ledger,
) -> impl Iterator<Item = KnownGame> + 'a {
    let ended = ledger.stages.iter().enumerate().flat_map(move |(number, state)| {
        state.games().filter_map(move |([white, black], game)| {
            let (stage, at) = (config.stages.get(number)?, game.at?);
            let id = config.game_id(stage, at, &white.name, &black.name);
            Some(KnownGame { id, stage: number, at })
        })
    });
    let open = ledger.open.values().map(|game| KnownGame {
        id: game.started.id.clone(),
        stage: game.started.stage,
        at: game.started.place(),
    });
    let struck = ledger.annulled.iter().map(|one| KnownGame {
        id: one.id.clone(),
        stage: one.stage,
        at: one.place(),
    });
    ended.chain(open).chain(struck)
}

/// The reason why a game cannot be struck out; none where it can.
pub(super) fn refusal(
    config: &EventConfig,
    ledger: &Ledger,
    game: &KnownGame,
    then: AfterAnnulment,
) -> Option<String> {
    let KnownGame { id, stage, at } = game;
    if let Some(why) = ledger.keeps_closed(*stage) {
        return Some(format!("{id}: {why}"));
    }
    let (state, planned) = ledger.stages.get(*stage).zip(config.stages.get(*stage))?;
    if let (Some(gone), AfterAnnulment::PlayedAgain) = (state.withdrawn_from(*at), then) {
        return Some(format!("{id}: {gone} is withdrawn, and plays nothing again"));
    }
    let under_way = ledger.open.values().map(|game| game.started.place());
    let mut later = state.past().games.keys().copied().chain(under_way);
    let follows = |later: &RoundGame| match &planned.format {
        StageFormat::Of(of) => of.follows(state.started.seats.len(), state.past(), *later, *at),
        StageFormat::Pairs(pairs) => {
            MatchFormat::until_decisive(*pairs, false).follows(later.round, at.round)
        }
        StageFormat::DoubleRoundRobins(_) => false,
    };
    if let Some(later) = later.find(follows) {
        return Some(format!(
            "{id} cannot be struck out any more: game {later}, which was played because of its result, has begun; a \
             game can be annulled or played again only before that"
        ));
    }
    if then == AfterAnnulment::Nothing
        && planned.is_of_deciding_part(state.started.seats.len(), *at)
    {
        return Some(format!(
            "{id} is of a pair that decides between engines which were level, and half of a pair decides nothing; \
             `gate4k event replay` plays it again"
        ));
    }
    // The journal takes nothing that could not follow from what it holds.
    let is_played = ledger.open.contains_key(id) || state.past().games.contains_key(at);
    let last = ledger.annulled.iter().rev().find(|one| one.id == *id);
    match last.map(|one| one.then) {
        _ if !is_played => Some(format!("{id} is to be played again already")),
        Some(AfterAnnulment::Nothing) if then == AfterAnnulment::Nothing => {
            Some(format!("{id} is annulled already"))
        }
        _ => None,
    }
}

/// The reason why a game cannot be struck out for now: without its result another one, which is under way, would not be
/// due any more, and nothing would end that. None where all games under way stay due.
///
/// `verify` does not ask this: gate4k 0.2 struck such games out, and a journal in which the other one was then struck out, too,
/// has no fault.
pub(super) fn leaves_undue(
    config: &EventConfig,
    ledger: &Ledger,
    game: &KnownGame,
    then: AfterAnnulment,
) -> Option<String> {
    let KnownGame { id, stage, at } = game;
    let planned = config.stages.get(*stage)?;
    let due = |ledger: &Ledger| -> BTreeSet<RoundGame> {
        let state = ledger.stages.get(*stage);
        match state.map(|state| planned.next_with(state, &ledger.under_way(*stage))) {
            Some(Next::Play(due)) => due.into_iter().map(|due| due.at).collect(),
            _ => BTreeSet::new(),
        }
    };
    let mut without = ledger.clone();
    let (round, game) = (at.round, at.game);
    let (reason, time) = (String::new(), String::new());
    let struck = Annulled { id: id.clone(), stage: *stage, round, game, then, reason, at: time };
    without.apply(JournalRecord::Annulled(struck)).ok()?;
    let (before, after) = (due(ledger), due(&without));
    let is_undue = |at: &RoundGame| before.contains(at) && !after.contains(at);
    let open = without.open_in(*stage).find(|started| is_undue(&started.place()))?;
    Some(format!(
        "{id} cannot be struck out now: without its result {} would not be due, which is under way; run the event until \
         that has ended, or strike it out first",
        open.id
    ))
}

#[cfg(test)]
mod tests {
    use super::super::journal::record::StageStarted;
    use super::super::journal_games::tests::{finished, started};
    use super::*;

    /// A has won two of four games, B the third, and the fourth is under way, which is due as long as the third was B's.
    #[test]
    fn no_game_is_struck_out_on_which_one_under_way_rests() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("event.toml");
        let engine = |name| format!("[[engine]]\nname = \"{name}\"\ncmd = \"/dev/null\"\n");
        let stage = "[[stage]]\nname = \"M\"\nbook-policy = \"none\"\nformat = { match = { pairs = 2, \
                     early = true, then = [{ pairs = 1, until = \"decisive\" }] } }\n";
        let head = "event = \"E\"\ntime-control = \"1+1\"\n";
        std::fs::write(&path, [head, &engine("A"), &engine("B"), stage].concat()).unwrap();
        let config = EventConfig::load(&path).unwrap();
        let mut ledger = Ledger::of(&config);
        let seats = ["A", "B"].map(str::to_owned).to_vec();
        let begins = StageStarted { name: "M".into(), seats, ..StageStarted::default() };
        ledger.apply(JournalRecord::StageStarted(begins)).unwrap();
        for (round, result) in (1..).zip(["1-0", "0-1", "0-1", "*"]) {
            let [white, black] = if round % 2 == 1 { ["A", "B"] } else { ["B", "A"] };
            let at = RoundGame { round, game: 1 };
            let mut game = finished(white, black, at, result, "e2e4");
            game.id = config.game_id(&config.stages[0], at, white, black);
            ledger.apply(JournalRecord::GameStarted(started(&game))).unwrap();
            if result != "*" {
                ledger.apply(JournalRecord::GameFinished(game)).unwrap();
            }
        }
        let told = |ledger: &Ledger, round, then| {
            let game = known(&config, ledger).find(|game| game.at.round == round).unwrap();
            assert_eq!(refusal(&config, ledger, &game, then), None);
            leaves_undue(&config, ledger, &game, then)
        };
        for then in [AfterAnnulment::Nothing, AfterAnnulment::PlayedAgain] {
            let why = told(&ledger, 3, then).unwrap();
            assert!(why.contains("without its result e/m/4.1/b/a would not be due"), "{why}");
            // Without it the lead of A is smaller.
            assert_eq!(told(&ledger, 1, AfterAnnulment::Nothing), None);
            assert_eq!(told(&ledger, 4, then), None);
        }
        // It was struck out before.
        let at = RoundGame { round: 4, game: 1 };
        let game = known(&config, &ledger).find(|game| game.at == at).unwrap();
        let struck = Annulled {
            id: game.id,
            stage: 0,
            round: 4,
            game: 1,
            then: AfterAnnulment::Nothing,
            reason: "a test".into(),
            at: String::new(),
        };
        ledger.apply(JournalRecord::Annulled(struck)).unwrap();
        assert_eq!(told(&ledger, 3, AfterAnnulment::Nothing), None);
    }
}
