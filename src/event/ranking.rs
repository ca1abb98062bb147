//! A stage as it stands: the games that are next, its standings, and the places of its engines after the decisions of
//! the organisers.

use std::collections::BTreeSet;

use super::format::{Next, StageHistory};
use super::ledger::StageState;
use super::schedule::Seat;
use super::stage::{Ranking, Stage, StageFormat};
use super::standings::Standings;
use crate::model::game::listed::RoundGame;

impl Stage {
    /// The next games in a stage as it stands. A game under way of an engine that was disqualified meanwhile is played to its end,
    /// since a run that nothing interrupts does not break it off.
    pub(crate) fn next_with(&self, state: &StageState, under_way: &BTreeSet<RoundGame>) -> Next {
        let (seats, out) = (state.started.seats.len(), state.disqualified(self.crash_limit));
        let next = self.next(seats, &state.past_without(&out));
        if out.is_empty() {
            return next;
        }
        let mut begun = self.due(seats, state.past());
        begun.retain(|due| under_way.contains(&due.at));
        match next {
            next if begun.is_empty() => next,
            Next::Play(due) => {
                begun.extend(due.into_iter().filter(|due| !under_way.contains(&due.at)));
                Next::Play(begun)
            }
            Next::Bye(..) | Next::Over(_) => Next::Play(begun),
        }
    }

    /// Its standings as it stands.
    pub(crate) fn standings_of(&self, state: &StageState) -> Standings {
        Standings { gone: state.gone.clone(), ..self.standings(&self.field(state)) }
    }

    /// Its past as its format sees it: without engines that play no more.
    pub(crate) fn past_of(&self, state: &StageState) -> StageHistory {
        state.past_without(&state.disqualified(self.crash_limit))
    }

    /// Returns the places of the engines, after the decisions of the organisers (rule 3.1.7).
    pub(crate) fn ranking(&self, standings: &Standings, state: &StageState) -> Ranking {
        let ranking = self.places(state).unwrap_or_else(|| ranked(standings));
        let decisions = &state.decisions;
        ranking
            .into_iter()
            .flat_map(|group| {
                let tied: BTreeSet<&String> = group.iter().collect();
                let decided = decisions
                    .iter()
                    .rev()
                    .find(|decision| tied == decision.order.iter().collect::<BTreeSet<_>>());
                match decided {
                    Some(decision) if group.len() > 1 => {
                        decision.order.iter().map(|name| vec![name.clone()]).collect()
                    }
                    _ => vec![group],
                }
            })
            .collect()
    }

    /// Returns the places by a format that ranks by its matches; none where it does not, or is not over.
    fn places(&self, state: &StageState) -> Option<Ranking> {
        let StageFormat::Of(format) = &self.format else { return None };
        let seats = &state.started.seats;
        match format.next(seats.len(), state.past()) {
            Next::Over(groups) if format.ranks() => {
                let name = |seat: &Seat| seats.get(seat.0).filter(|name| !name.is_empty()).cloned();
                let named = groups.iter().map(|group| group.iter().filter_map(name).collect());
                // A place of a bracket that nobody has has no rank.
                let played: Ranking =
                    named.filter(|group: &Vec<String>| !group.is_empty()).collect();
                let is_followed = self.taken.iter().any(|taken| taken.by_ranking);
                Some(match self.breaks_ties_of.filter(|_| is_followed) {
                    Some(_) => state.started.told_apart(&played),
                    None => state.started.through_alone().chain(played).collect(),
                })
            }
            _ => None,
        }
    }
}

/// Places as a table has them.
fn ranked(standings: &Standings) -> Ranking {
    let mut ranking: Ranking = Vec::new();
    let mut last = None;
    for row in &standings.rows {
        let name = row.engine.name.clone();
        let rank = row.place.rank();
        match ranking.last_mut() {
            Some(group) if rank.is_some() && last == Some(rank) => group.push(name),
            _ => ranking.push(vec![name]),
        }
        last = Some(rank);
    }
    ranking
}
