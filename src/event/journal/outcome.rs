//! The record of a stage that is over.

use serde::{Deserialize, Serialize};

use crate::model::words::all;

/// A stage's outcome.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct StageFinished {
    /// Its number.
    pub stage: usize,
    /// Everybody, the best first.
    pub order: Vec<String>,
    /// The engines that go on to the next stage.
    pub promoted: Vec<String>,
    /// The engines of each place that several share; none in journals before 0.2.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<Vec<String>>,
}

/// The stages behind one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StagesBehind {
    /// There are none: whoever is first wins the event.
    None,
    /// One takes places of it.
    TakePlaces,
    /// None takes places of it.
    Others,
}

impl StageFinished {
    /// An outcome by the places of the engines; each group is one place.
    pub(crate) fn of(stage: usize, places: &[Vec<String>], promoted: Vec<String>) -> StageFinished {
        let shared = places.iter().filter(|group| group.len() > 1).cloned().collect();
        StageFinished { stage, order: places.concat(), promoted, shared }
    }

    /// Returns the places, the best first; the engines of a group share one.
    pub(crate) fn places(&self) -> Vec<Vec<String>> {
        let mut rest = &self.order[..];
        let mut places = Vec::new();
        while let Some(first) = rest.first() {
            let group = self.shared.iter().find(|group| group.contains(first));
            let (own, behind) = rest.split_at(group.map_or(1, Vec::len).min(rest.len()));
            places.push(own.to_vec());
            rest = behind;
        }
        places
    }

    /// Returns the winner, or those that share the first place.
    pub(crate) fn winners(&self) -> Vec<String> {
        self.places().into_iter().next().unwrap_or_default()
    }

    /// Returns the outcome in words: `A and B go on`, and of the last stage `A wins`.
    pub(crate) fn in_words(&self, behind: StagesBehind) -> String {
        let winners = self.winners();
        let is_last = behind == StagesBehind::None;
        if is_last && winners.len() > 1 && winners == self.promoted {
            return won_by(&winners);
        }
        let going_on = if behind == StagesBehind::Others { 0 } else { self.promoted.len() };
        let then = match (is_last, going_on) {
            (_, 0) => {
                return match &winners[..] {
                    [] => "nobody is first".to_owned(),
                    [alone] => format!("{alone} is first"),
                    _ => format!("{} share the first place", all(&winners)),
                };
            }
            (true, 1) => "wins",
            (false, 1) => "goes on",
            _ => "go on",
        };
        format!("{} {then}", all(&self.promoted))
    }
}

/// The winners of an event, in words.
pub(crate) fn won_by(winners: &[String]) -> String {
    match winners {
        [alone] => format!("{alone} wins"),
        _ => format!("{} share the first place", all(winners)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(places: &[&str], promoted: &[&str]) -> StageFinished {
        let names = |list: &str| list.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let places: Vec<Vec<String>> = places.iter().map(|group| names(group)).collect();
        StageFinished::of(0, &places, promoted.iter().map(|&name| name.to_owned()).collect())
    }

    /// Of a stage before a playoff nobody goes on, since the playoff takes its engines.
    #[test]
    fn the_first_of_a_stage_is_told_with_all_that_share_its_place() {
        for (places, promoted, told) in [
            (&["a b c", "d"][..], &[][..], "a, b and c share the first place"),
            (&["a", "b c"], &[], "a is first"),
            (&[], &[], "nobody is first"),
            (&["a", "b", "c"], &["a", "b"], "a and b go on"),
            (&["a", "b", "c"], &["a"], "a goes on"),
        ] {
            assert_eq!(outcome(places, promoted).in_words(StagesBehind::TakePlaces), told);
        }
        let last = StagesBehind::None;
        assert_eq!(outcome(&["a b", "c"], &[]).in_words(last), "a and b share the first place");
        assert_eq!(outcome(&["a", "b"], &["a"]).in_words(last), "a wins");
        // Such as one for the places from the fourth on, before the final.
        assert_eq!(outcome(&["a", "b"], &["a"]).in_words(StagesBehind::Others), "a is first");
    }
}
