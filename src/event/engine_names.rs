//! Names of the same engine: versions change between files, and sometimes within one.
//!
//! The first word of a name tells the engine, unless two names that begin alike met, or played side by side:
//! then as many words tell it as these need. Two that played the same opponent in the same round played one game, and once
//! more after an update.

use std::collections::{BTreeMap, BTreeSet};

/// Two names in games, by stage.
#[derive(Clone, Debug)]
pub(in crate::event) struct MetNames<'a> {
    pub(in crate::event) stage: usize,
    pub(in crate::event) round: u32,
    pub(in crate::event) white: &'a str,
    pub(in crate::event) black: &'a str,
}

/// The engine of each name.
pub(in crate::event) fn engines<'a>(games: &[MetNames<'a>]) -> BTreeMap<&'a str, String> {
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

/// Takes a name of one game alone for another one that it all but is, and that never meets it; those come back, each with the
/// name that is meant.
pub(in crate::event) fn misspelt<'a>(
    games: &[MetNames<'a>],
    engines: &mut BTreeMap<&'a str, String>,
) -> BTreeMap<&'a str, &'a str> {
    let mut played: BTreeMap<&str, usize> = BTreeMap::new();
    for name in games.iter().flat_map(|game| [game.white, game.black]) {
        *played.entry(engines[name].as_str()).or_default() += 1;
    }
    let mut found = BTreeMap::new();
    for game in games {
        for (name, opponent) in [(game.white, game.black), (game.black, game.white)] {
            // Without rounds nothing tells two that play side by side.
            let is_other = |other: &&str| {
                played[engines[*other].as_str()] > 1
                    && engines[*other] != engines[opponent]
                    && (game.round > 0 || plain(name) == plain(other))
                    && different(games, &[name, *other].into()).is_empty()
            };
            if played[engines[name].as_str()] > 1 {
                continue;
            }
            let near: BTreeMap<&str, &str> = engines
                .keys()
                .copied()
                .filter(|other| is_near(name, other))
                .filter(is_other)
                .map(|other| (engines[other].as_str(), other))
                .collect();
            if let [meant] = near.into_values().collect::<Vec<_>>()[..] {
                found.insert(name, meant);
            }
        }
    }
    for (name, meant) in &found {
        engines.insert(*name, engines[meant].clone());
    }
    found
}

/// True if two names are the same but for one character, or for what is neither letter nor digit.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (plain(one), plain(other));
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let same = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    let rest = &short[same..];
    // Names of one or two letters are all near each other.
    short == long
        || long.len() > 2
            && (long[same + 1..].ends_with(rest) && long.len() == short.len() + 1
                || short.len() == long.len() && rest.get(1..) == long.get(same + 1..))
}

fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
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
    fn a_name_that_one_game_alone_has_is_another_one_misspelt() {
        let games = [(0, 1, "Wasp 1", "Fire"), (0, 2, "Fire", "Wasp 1"), (0, 3, "Wap 1", "Fire")];
        let all = |games: &[(usize, u32, &'static str, &'static str)]| {
            let games: Vec<MetNames<'_>> = games
                .iter()
                .map(|&(stage, round, white, black)| MetNames { stage, round, white, black })
                .collect();
            misspelt(&games, &mut engines(&games))
        };
        assert_eq!(all(&games), [("Wap 1", "Wasp 1")].into());
        // Two games of it, and it is an engine; and so is one that is near to two others, or that meets it.
        assert!(all(&[&games[..], &[(0, 4, "Fire", "Wap 1")]].concat()).is_empty());
        let others = [(0, 4, "Wap 2x", "Fire"), (0, 5, "Fire", "Wap 2x"), (0, 6, "Wap 2x", "Ice")];
        assert!(all(&[(0, 1, "a1", "b1"), (0, 2, "b1", "a1"), (0, 3, "c1", "b1")]).is_empty());
        assert!(
            all(&[&games[..2], &others[..2], &[(0, 3, "Wasp 2", "Wasp 1")]].concat()).is_empty()
        );
        // Side by side in one round, or perhaps so.
        assert!(
            all(&[(0, 1, "E13", "Ice"), (0, 1, "E14", "Fire"), (0, 2, "Ice", "E14")]).is_empty()
        );
        assert!(
            all(&[(0, 0, "E13", "Ice"), (0, 0, "E14", "Fire"), (0, 0, "Ice", "E14")]).is_empty()
        );
        for (one, other, near) in [
            ("Lc0", "Lco", true),
            ("E 3", "E3", true),
            ("E3x", "E3", true),
            ("Wasp", "Waps", false),
            ("E3", "E4", false),
            ("Ice", "Iceland", false),
        ] {
            assert_eq!((is_near(one, other), is_near(other, one)), (near, near), "{one} {other}");
        }
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
