//! Where in a text a mistake is, shown as people want it: line, column, the line and a caret.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::model::text::{escape, steers};

/// A place in a text: both counted from 1, the column in characters.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize,
)]
pub struct SourcePlace {
    /// The line.
    pub line: usize,
    /// The character within it.
    pub column: usize,
}

impl SourcePlace {
    /// The place of a byte offset; an offset beyond the end is the end.
    pub(crate) fn of(text: &str, offset: usize) -> SourcePlace {
        let before = &text[..text.floor_char_boundary(offset)];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        SourcePlace {
            line: before.matches('\n').count() + 1,
            column: before[start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A mistake at some place of a file.
#[derive(Debug, thiserror::Error)]
#[error("{}:{place}: {what}\n{excerpt}", escape(path.as_os_str().as_encoded_bytes(), 4096))]
pub struct Misplaced {
    /// The file.
    pub(crate) path: PathBuf,
    /// The place of the mistake in it.
    pub(crate) place: SourcePlace,
    /// The mistake, and what to write instead.
    pub(crate) what: String,
    /// The line with a caret.
    pub(crate) excerpt: String,
}

impl Misplaced {
    /// A mistake in this part of a text that lies, or lay, at `path`.
    pub(crate) fn new(path: &Path, text: &str, span: Range<usize>, what: &str) -> Misplaced {
        Misplaced {
            path: path.to_owned(),
            place: SourcePlace::of(text, span.start),
            // The message repeats what is written there, and a string may hold anything.
            what: escape(what.as_bytes(), 1000),
            excerpt: excerpt(text, span),
        }
    }
}

/// A mistake in a text that is being read: the part of the text, and what is wrong with it.
pub(crate) type TextMistake = (Range<usize>, String);

/// Reads TOML; a mistake comes with the likely meaning.
///
/// # Errors
/// At the first mistake in it.
pub(crate) fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, TextMistake> {
    toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let written = text.get(span.clone()).unwrap_or_default();
        let is_no_word = error.message().starts_with("wanted ");
        let words = if is_no_word { words_at::<T>(text, &span) } else { None };
        let what = words.unwrap_or_else(|| with_suggestion(error.message(), written));
        (span, what)
    })
}

/// The words of which one has to stand at a part of a text, as a word that is none of them brings them to light.
fn words_at<T: serde::de::DeserializeOwned>(text: &str, span: &Range<usize>) -> Option<String> {
    let (before, after) = (text.get(..span.start)?, text.get(span.end..)?);
    let error = toml::from_str::<T>(&format!("{before}\"?\"{after}")).err()?;
    let known = error.message().strip_prefix("unknown variant `?`, expected ")?;
    Some(format!("expected a word in quotes: {known}"))
}

/// Reads a type that derives `Deserialize` with `remote = "Self"` from a table alone: without it a list of its values in the order of its
/// fields, which no page tells, would be taken as well.
macro_rules! read_from_tables {
    ($($name:ident),+ $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                struct TableVisitor;
                impl<'de> serde::de::Visitor<'de> for TableVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a table of settings, `{ … }`")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<$name, A::Error> {
                        $name::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }
                from.deserialize_map(TableVisitor)
            }
        }
    )+};
}
pub(crate) use read_from_tables;

/// One word out of a known set.
///
/// # Errors
/// When it is none of them; the message names the one that was probably meant.
pub(crate) fn known<'a, T>(
    word: &toml::Spanned<String>,
    what: &str,
    all: impl IntoIterator<Item = &'a str>,
    named: impl FnOnce(&str) -> Option<T>,
) -> Result<T, TextMistake> {
    let text = word.get_ref();
    named(text).ok_or_else(|| {
        let all: Vec<&str> = all.into_iter().collect();
        let hint = match did_you_mean(text, all.iter().copied()) {
            none if none.is_empty() => format!("; there are {}", all.join(", ")),
            near => near,
        };
        (word.span(), format!("there is no {what} {text:?}{hint}"))
    })
}

/// The number of characters of a line that are shown; a payload can be one line of four thousand.
const WIDTH: usize = 76;

/// The line that `span` begins on, with carets below the span. Long lines are cut around it, and
/// what would disturb a terminal is shown as `·`.
pub(crate) fn excerpt(text: &str, span: Range<usize>) -> String {
    let begin = text.floor_char_boundary(span.start);
    let place = SourcePlace::of(text, begin);
    let start = text[..begin].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[begin..].find('\n').map_or(text.len(), |newline| begin + newline);
    let line: Vec<char> =
        text[start..end].chars().map(|c| if steers(c) { '·' } else { c }).collect();
    let until = text.floor_char_boundary(span.end.clamp(begin, end));
    let marked = text[begin..until].chars().count().max(1);
    let column = place.column - 1;
    let from = if line.len() <= WIDTH {
        0
    } else {
        column.saturating_sub(WIDTH / 2).min(line.len() - WIDTH)
    };
    let shown: String = line.iter().skip(from).take(WIDTH).collect();
    let carets = marked.min(WIDTH.saturating_sub(column - from)).max(1);
    let number = place.line.to_string();
    format!(
        "{number} | {}\n{} | {}{}",
        shown.trim_end(),
        " ".repeat(number.len()),
        " ".repeat(column - from),
        "^".repeat(carets)
    )
}

/// Adds the likely meaning to `unknown field `x`, expected one of `a`, `b``, and says what a value may be: the words of
/// the language that this is written in are no help to others. `written` is the value that is wrong.
fn with_suggestion(message: &str, written: &str) -> String {
    const TABLE: &str = "a table of settings, `{ … }`";
    const PLAIN: [(&str, &str); 14] = [
        ("wanted string or table", "expected a word in quotes, or a table with its settings"),
        ("wanted exactly 1 element", "expected a word with its settings, `{ … = { … } }`"),
        ("expected f64", "expected a number"),
        ("invalid type: map", "invalid type: a table"),
        ("invalid type: sequence", "invalid type: a list"),
        ("expected a map", "expected a table, `{ … }`"),
        ("expected a sequence", "expected a list, `[…]`"),
        ("unknown variant", "unknown value"),
        ("a nonzero u32", "a whole number from 1 to 4294967295"),
        ("a nonzero u64", "a whole number from 1 up"),
        ("a nonzero usize", "a whole number from 1 up"),
        ("expected u32", "expected a whole number from 0 to 4294967295"),
        ("expected u64", "expected a whole number from 0 up"),
        ("expected usize", "expected a whole number from 0 up"),
    ];
    match message {
        "invalid type: unit variant, expected newtype variant" => {
            let word = written.trim_matches(['"', '\'']);
            return format!("{word} has settings of its own: write `{{ {word} = {{ … }} }}`");
        }
        "invalid type: newtype variant, expected unit variant" => {
            return "this word has no settings: write it alone, in quotes".to_owned();
        }
        _ => {}
    }
    // A date has this one key.
    if let Some((_, known)) = message.split_once("unknown field `$__toml_private_datetime`, ") {
        let keys = known.strip_prefix("expected ").unwrap_or(known);
        return format!("invalid type: a date, expected {TABLE}, with {keys}");
    }
    // A type's name follows, and perhaps how many parts it has.
    let message = match message.split_once("expected struct ") {
        Some((found, _)) => format!("{found}expected {TABLE}"),
        None => message.to_owned(),
    };
    let plain = PLAIN
        .iter()
        .fold(message.replace("` as i128", "`"), |text, (word, plain)| text.replace(word, plain));
    let quoted: Vec<&str> = plain.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((word, known)) if plain.starts_with("unknown ") => {
            match nearest(word, known.iter().copied()) {
                Some(near) => format!("{plain}; did you mean `{near}`?"),
                None => plain,
            }
        }
        _ => plain,
    }
}

/// The candidate that `word` was most likely meant to be, if one is near enough to be worth saying.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(steps, _)| *steps <= allowed)
        .min_by_key(|(steps, _)| *steps)
        .map(|(_, candidate)| candidate)
}

/// The end of a message about a word that is none of those that are known: `; did you mean "swiss"?`, or nothing.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    nearest(word, candidates).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}

/// Insertions, removals and replacements (Levenshtein), letters compared without case.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

/// Checks that the table of the handbook's page on settings below the head `head` names each key that a reader of TOML takes,
/// and no other.
#[cfg(test)]
pub(crate) fn assert_listed<T: serde::de::DeserializeOwned>(head: &str) {
    use std::collections::BTreeSet;
    let words = |text: &str| -> BTreeSet<String> {
        text.split('`')
            .skip(1)
            .step_by(2)
            .map(|word| word.trim_matches(['[', ']']).into())
            .collect()
    };
    let error = toml::from_str::<T>("no-such-key = 1").err().unwrap();
    let taken = words(error.message().split_once("expected").unwrap().1);
    let page = include_str!("../../docs/settings.md");
    let table = page.split_once(&format!("\n| {head} |")).unwrap().1.split("\n\n").next().unwrap();
    let cells = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let listed: BTreeSet<String> = cells.flat_map(words).collect();
    let missing: Vec<_> = taken.difference(&listed).collect();
    assert!(missing.is_empty(), "docs/settings.md lacks {missing:?} below {head:?}");
    let unknown: Vec<_> = listed.difference(&taken).collect();
    // A reader lists no other names of a key.
    assert!(
        unknown.iter().all(|key| ["seating", "ties"].contains(&key.as_str())),
        "docs/settings.md has {unknown:?} below {head:?}, which are no keys"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_count_from_one_and_in_characters() {
        assert_eq!(SourcePlace::of("ab\ncd", 0).to_string(), "1:1");
        assert_eq!(SourcePlace::of("ab\ncd", 4).to_string(), "2:2");
        assert_eq!(SourcePlace::of("é=x", 2).to_string(), "1:2");
        assert_eq!(SourcePlace::of("ab\n", 99).to_string(), "2:1");
    }

    #[test]
    fn an_excerpt_points_at_the_span() {
        assert_eq!(excerpt("one\nhelprs = 1\n", 4..10), "2 | helprs = 1\n  | ^^^^^^");
        let long = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let shown = excerpt(&long, 500..501);
        let (line, carets) = shown.split_once('\n').unwrap();
        assert_eq!(line.find('X'), carets.find('^'));
        assert!(line.len() < 90);
    }

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("helprs", ["name", "helpers"]), Some("helpers"));
        assert_eq!(nearest("zzz", ["name", "helpers"]), None);
    }

    proptest! {
        #[test]
        fn any_span_of_any_text_is_shown(text in "\\PC*\n?\\PC*", a in 0usize..80, b in 0usize..80) {
            let _ = excerpt(&text, a..b);
        }
    }
}
