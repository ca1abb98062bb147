//! Names of the same engine: versions change between files, and sometimes within one.
//!
//! The first word of a name tells the engine, unless two names that begin alike met, or played side by side:
//! then as many words tell it as these need. Two that played the same opponent in the same round played one game, and once
//! more after an update.

use std::collections::{BTreeMap, BTreeSet};

/// Two names in games, by stage.
#[derive(Clone, Debug)]
pub(super) struct MetNames<'a> {
    pub(super) stage: usize,
    pub(super) round: u32,
    pub(super) white: &'a str,
    pub(super) black: &'a str,
}

/// The engine of each name.
pub(super) fn engines<'a>(games: &[MetNames<'a>]) -> BTreeMap<&'a str, String> {
    let mut families: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for name in games.iter().flat_map(|game| [game.white, game.black]) {
        families.entry(key(name, 1)).or_default().insert(name);
    }
    let mut all = BTreeMap::new();
    for names in families.into_values() {
        let different = different(games, &names);
        let most = names.iter().map(|name| words(name).count()).max().unwrap_or(1);
        let words = (1..most).find(|words| {
            different.iter().all(|(one, other)| key(one, *words) != key(other, *words))
        });
        let words = if different.is_empty() { 1 } else { words.unwrap_or(usize::MAX) };
        all.extend(names.into_iter().map(|name| (name, key(name, words))));
    }
    all
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split([' ', ',', '_'])
}

fn key(name: &str, count: usize) -> String {
    let words: Vec<&str> = words(name).take(count).collect();
    words.join(" ").to_lowercase()
}

/// The pairs of names that cannot be one engine.
fn different<'a>(games: &[MetNames<'a>], names: &BTreeSet<&'a str>) -> Vec<(&'a str, &'a str)> {
    if names.len() < 2 {
        return Vec::new();
    }
    let own: Vec<&MetNames<'_>> = games
        .iter()
        .filter(|game| names.contains(game.white) || names.contains(game.black))
        .collect();
    // Where each name first and last plays, and in which rounds; stages of one round alone tell no rounds.
    let mut spans: BTreeMap<(&str, usize), (usize, usize)> = BTreeMap::new();
    let mut rounds: BTreeMap<(&str, usize), BTreeMap<u32, &str>> = BTreeMap::new();
    let mut all_rounds: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for game in games {
        all_rounds.entry(game.stage).or_default().insert(game.round);
    }
    for (at, game) in own.iter().enumerate() {
        for (name, opponent) in [(game.white, game.black), (game.black, game.white)] {
            let span = spans.entry((name, game.stage)).or_insert((at, at));
            span.1 = at;
            rounds.entry((name, game.stage)).or_default().insert(game.round, opponent);
        }
    }
    let mut found = Vec::new();
    for one in names {
        for other in
            names.range::<&str, _>((std::ops::Bound::Excluded(one), std::ops::Bound::Unbounded))
        {
            let met = own.iter().any(|game| {
                [game.white, game.black] == [*one, *other]
                    || [game.black, game.white] == [*one, *other]
            });
            let beside =
                spans.iter().filter(|((name, _), _)| name == one).any(|((_, stage), a)| {
                    let Some(b) = spans.get(&(*other, *stage)) else { return false };
                    let is_told = all_rounds.get(stage).is_some_and(|rounds| rounds.len() > 1);
                    let others = &rounds[&(*other, *stage)];
                    let is_beside = |(round, opponent): (&u32, &&str)| {
                        others.get(round).is_some_and(|their| their != opponent)
                    };
                    let overlap = a.0.max(b.0) < a.1.min(b.1);
                    if is_told { rounds[&(*one, *stage)].iter().any(is_beside) } else { overlap }
                });
            if met || beside {
                found.push((*one, *other));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<'a>(games: &[(usize, u32, &'a str, &'a str)]) -> BTreeMap<&'a str, String> {
        let games: Vec<MetNames<'a>> = games
            .iter()
            .map(|&(stage, round, white, black)| MetNames { stage, round, white, black })
            .collect();
        engines(&games)
    }

    #[test]
    fn versions_change_between_stages_and_within_one() {
        let all = named(&[
            (0, 1, "Komodo 4534", "Rybka 4.1"),
            (0, 2, "Komodo 4535", "Rybka 4.1"),
            (1, 1, "Rybka 4.2", "Komodo 4600"),
        ]);
        assert_eq!(all["Komodo 4534"], "komodo");
        assert_eq!(BTreeSet::from_iter(all.values()).len(), 2);
    }

    #[test]
    fn engines_that_meet_or_play_side_by_side_are_two() {
        let all = named(&[
            (0, 1, "Lc0 T40 1", "Lc0 T60 1"),
            (0, 2, "Ice 1", "Lc0 T40 2"),
            (0, 1, "Ice 1", "Fire 1"),
        ]);
        assert_eq!(all["Lc0 T40 1"], "lc0 t40");
        assert_eq!(all["Lc0 T40 2"], "lc0 t40");
        let all =
            named(&[(0, 1, "Deep A 1", "B"), (0, 1, "Deep C 1", "D"), (0, 2, "Deep A 1", "D")]);
        assert_ne!(all["Deep A 1"], all["Deep C 1"]);
    }
}
