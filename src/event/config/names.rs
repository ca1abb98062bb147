//! Names in an event file: of the event, of its stages and of its entries. They stand in ids, tables, pages and PGN tags, and as texts
//! of TOML in the files that are written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml::Spanned;

use crate::model::source_place::TextMistake;
use crate::model::text::{escape, shown};

/// The longest name, in characters: an event's and a stage's fit into one PGN tag.
const NAME_CHARS: usize = 90;

/// A name as part of an id: small letters and digits, all else one hyphen; dots stay.
pub(super) fn slug(text: impl AsRef<str>) -> String {
    let mut out = String::new();
    for c in text.as_ref().chars() {
        if c.is_alphanumeric() || c == '.' {
            out.extend(c.to_lowercase());
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_matches(['-', '.']).to_owned()
}

/// The reason why a text is no name, in words.
pub(super) fn no_name(name: &str) -> Option<String> {
    if slug(name).is_empty() {
        Some("the name needs a letter or digit".to_owned())
    } else if name.chars().count() > NAME_CHARS {
        Some(format!("the name is longer than {NAME_CHARS} characters"))
    } else if escape(name.as_bytes(), NAME_CHARS) != name || name.trim() != name {
        Some("a name is one line without control characters, commands to a CI job (`::`), or blanks at its ends".to_owned())
    } else {
        None
    }
}

/// The reason why a text is no name of an entry: in a PGN a bye has its name for an opponent.
pub(super) fn no_entry_name(name: &str) -> Option<String> {
    let is_bye = name.eq_ignore_ascii_case("bye");
    no_name(name).or_else(|| is_bye.then(|| "a game against it would be read as a bye".to_owned()))
}

/// A file's name as that of its entry; another where `event run` would not take it beside those before.
pub(super) fn distinct(file: &str, number: usize, slugs: &mut BTreeSet<String>) -> String {
    let base =
        if no_entry_name(file).is_some() { format!("entry {number}") } else { file.to_owned() };
    let mut name = base.clone();
    let mut more = 2;
    while !slugs.insert(slug(&name)) {
        name = format!("{base} ({more})");
        more += 1;
    }
    name
}

/// Refuses a text that is no name, at its place.
///
/// # Errors
/// When `wrong` gives a reason.
pub(super) fn checked(
    name: &Spanned<String>,
    wrong: fn(&str) -> Option<String>,
) -> Result<(), TextMistake> {
    wrong(name.get_ref()).map_or(Ok(()), |what| Err((name.span(), what)))
}

/// The reason why the members of a directory cannot be told: a name that is no UTF-8, escaped.
pub(super) fn unreadable(directory: &Path) -> String {
    let names = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let odd = names.map(|one| PathBuf::from(one.file_name())).find(|name| name.to_str().is_none());
    match odd {
        Some(name) => format!("the name {} in it is no UTF-8; rename it", shown(&name)),
        None => "it changed while it was read; try again".to_owned(),
    }
}

/// Texts as a list of TOML.
pub(super) fn listed(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

/// A text as TOML has it.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_short_line() {
        for name in ["A", "Lc0 0.33-dev (BT4)", "Motör ♞", "a\"b\\", "../x", &"x".repeat(90)] {
            assert_eq!(no_entry_name(name), None, "{name}");
        }
        for (name, why) in [
            ("", "a letter or digit"),
            ("?!", "a letter or digit"),
            ("a\nb", "one line"),
            ("a\u{1b}[31m", "one line"),
            ("a\u{202e}b", "one line"),
            (" a", "blanks at its ends"),
            ("a\t", "one line"),
            (&"é".repeat(91), "longer than 90 characters"),
        ] {
            assert!(no_name(name).is_some_and(|told| told.contains(why)), "{name:?}");
        }
        assert_eq!(no_name("Bye"), None);
        assert!(no_entry_name("Bye").is_some());
    }
}
