//! A game that the organisers strike out: which games there are to strike out, and when one cannot be any more.

use super::config::EventConfig;
use super::format::match_::MatchFormat;
use super::journal::record::AfterAnnulment;
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
