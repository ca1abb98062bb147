//! Figures and lists as people write them.

/// `1 game`, `2 games`; the unit ends with a noun such as `entry` or `crash`.
pub(crate) fn counted(number: impl TryInto<u64>, unit: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    if number == 1 { format!("1 {unit}") } else { format!("{number} {}", plural(unit)) }
}

/// `here is 1`, `here are 2`: as many as there are, behind as many as are wanted.
pub(crate) fn here_are(number: usize) -> String {
    let verb = if number == 1 { "is" } else { "are" };
    format!("here {verb} {number}")
}

fn plural(unit: &str) -> String {
    let stem = unit.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match stem {
        Some(stem) => format!("{stem}ies"),
        None if unit.ends_with(['s', 'x']) || unit.ends_with("ch") || unit.ends_with("sh") => {
            format!("{unit}es")
        }
        None => format!("{unit}s"),
    }
}

/// `A`, `A and B`, `A, B and C`.
pub(crate) fn all(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `A, B and 7 more`: the first of several; what is cut is counted, never dropped in silence.
pub(crate) fn some(names: &[impl AsRef<str>], most: usize) -> String {
    let mut text = names.iter().take(most).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if names.len() > most {
        text.push_str(&format!(" and {} more", names.len() - most));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        let told = ["game", "entry", "ply", "crash", "match", "half-move", "key"]
            .map(|unit| counted(1u64, unit) + ", " + &counted(2u64, unit));
        assert_eq!(
            told,
            [
                "1 game, 2 games",
                "1 entry, 2 entries",
                "1 ply, 2 plies",
                "1 crash, 2 crashes",
                "1 match, 2 matches",
                "1 half-move, 2 half-moves",
                "1 key, 2 keys"
            ]
        );
        assert_eq!(counted(0u64, "game"), "0 games");
        assert_eq!([0, 1, 2].map(here_are), ["here are 0", "here is 1", "here are 2"]);
    }

    #[test]
    fn names_are_joined_as_in_a_sentence() {
        let told = [&[][..], &["A"], &["A", "B"], &["A", "B", "C"]].map(all);
        assert_eq!(told, ["", "A", "A and B", "A, B and C"]);
    }

    #[test]
    fn what_is_cut_is_counted() {
        let told = [0, 2, 3, 9].map(|most| some(&["a", "b", "c"], most));
        assert_eq!(told, [" and 3 more", "a, b and 1 more", "a, b, c", "a, b, c"]);
    }
}
