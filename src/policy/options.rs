//! The options of engines.json that are configuration (rule 7.3, docs/decisions/003), and the test that a value
//! could be what its option's name promises.

use crate::policy::allowlist::{Allowlist, UncountedOption, ValueKind};
use crate::policy::pattern;

/// The judgement of an option with its value under rule 7.3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Configuration, with the line's ground: not counted.
    Configuration(String),
    /// Configuration by a pattern, which any number of names fit.
    ByPattern(String),
    /// Its name is a configuration option's, but this is no such value, because …: counted.
    Implausible(String),
    /// Not on the list of uncounted options: counted.
    Unlisted,
}

/// The part of an option's name that the list has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameMatch {
    /// Case is ignored and patterns hold: cutechess sends an option only if the engine declares it,
    /// so its name tells the engine nothing that it does not contain already.
    Declared,
    /// The exact letters of a line without pattern: a raw line reaches the engine as it is, and free
    /// letters in it would be payload.
    Verbatim,
}

/// Judges an option; `value` is none where there is no value (a button).
#[must_use]
pub(crate) fn judge(
    list: &Allowlist,
    name: &str,
    value: Option<&str>,
    how: NameMatch,
) -> Judgement {
    let exact = list.options.iter().find(|line| match how {
        NameMatch::Declared => line.name.eq_ignore_ascii_case(name),
        NameMatch::Verbatim => &*line.name == name && !line.name.contains('*'),
    });
    let by_pattern = || {
        (list.options.iter())
            .filter(|_| how == NameMatch::Declared)
            .find(|line| line.name.contains('*') && pattern::matches(&line.name, name))
    };
    let Some(line) = exact.or_else(by_pattern) else {
        return Judgement::Unlisted;
    };
    match implausible(line, value) {
        Some(why) => Judgement::Implausible(why),
        None if line.name.contains('*') => Judgement::ByPattern(line.ground()),
        None => Judgement::Configuration(line.ground()),
    }
}

/// The reason that `value` cannot be what the line says, if so.
fn implausible(line: &UncountedOption, value: Option<&str>) -> Option<String> {
    let name = &line.name;
    match (line.value, value) {
        (ValueKind::Button, None) => None,
        (ValueKind::Button, Some(value)) => {
            (!value.is_empty()).then(|| format!("{name} is a button and takes no value"))
        }
        (_, None) => Some(format!("{name} has no value")),
        (ValueKind::Number, Some(value)) => {
            let digits = usize::from(line.digits.unwrap_or_default());
            let is_number = |value: &str| {
                let all_digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
                all_digits && value.len() <= digits
            };
            let below_zero = value.strip_prefix('-');
            if is_number(value) || line.signed && below_zero.is_some_and(is_number) {
                return None;
            }
            Some(match below_zero.filter(|value| is_number(value)) {
                Some(_) => format!("{name} is a whole number without a sign"),
                None => format!("{name} is a number of at most {digits} digits"),
            })
        }
        (ValueKind::Bool, Some(value)) => {
            (!matches!(value, "true" | "false")).then(|| format!("{name} is true or false"))
        }
        (ValueKind::Word, Some(value)) => {
            (!line.words.iter().any(|word| &**word == value)).then(|| {
                let words: Vec<&str> = line.words.iter().map(|word| &**word).collect();
                format!("{name} is one of: {}", words.join(", "))
            })
        }
        (ValueKind::Path, Some(value)) => {
            let bytes = usize::from(line.bytes.unwrap_or_default());
            not_paths(value, bytes).map(|why| format!("{name} {why}"))
        }
    }
}

/// The longest component that a directory of a real machine is likely to have.
const COMPONENT: usize = 64;

/// The reason that `value` cannot be a list of paths of at most `bytes` bytes, if so.
///
/// Engine testers' paths are made of plain components; what needs other characters, or more room
/// than three ordinary directories, is more likely a cargo than a place.
#[must_use]
pub(crate) fn not_paths(value: &str, bytes: usize) -> Option<String> {
    if value.is_empty() || value == "<empty>" {
        return None;
    }
    if value.len() > bytes {
        return Some(format!("is a path of at most {bytes} bytes, and this has {}", value.len()));
    }
    let odd = |c: char| !(c.is_alphanumeric() || "/\\._-+~ ,@:;$".contains(c));
    if let Some(c) = value.chars().find(|c| odd(*c)) {
        return Some(format!("is a path, and {:?} is in none that is likely", c.to_string()));
    }
    let long = value.split(['/', '\\', ':', ';']).map(str::len).max().unwrap_or_default();
    (long > COMPONENT).then(|| {
        format!("is a path, and {long} bytes are more than a name in one is likely to have")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use NameMatch::{Declared, Verbatim};

    fn judged(name: &str, value: Option<&str>, how: NameMatch) -> char {
        match judge(Allowlist::built_in(), name, value, how) {
            Judgement::Configuration(_) | Judgement::ByPattern(_) => 'c',
            Judgement::Implausible(_) => 'i',
            Judgement::Unlisted => 'u',
        }
    }

    #[test]
    fn configuration_is_what_it_promises() {
        for (name, value, expected) in [
            ("Hash", Some("98304"), 'c'),
            ("hash", Some("9830400"), 'c'),
            ("Hash", Some("98304000"), 'i'),
            ("Hash", Some("0x40"), 'i'),
            ("Hash", Some(""), 'i'),
            ("Hash", Some("-1"), 'i'),
            ("Hash", Some("٣"), 'i'),
            ("Contempt", Some("-24"), 'c'),
            ("Contempt", Some("24"), 'c'),
            ("Contempt", Some("-1000"), 'i'),
            ("Contempt", Some("--24"), 'i'),
            ("Contempt", Some("+24"), 'i'),
            ("Contempt", Some("-"), 'i'),
            ("Hash", None, 'i'),
            ("Threads", Some("256"), 'c'),
            ("Threads", Some("10000"), 'i'),
            ("Ponder", Some("false"), 'c'),
            ("Ponder", Some("no"), 'i'),
            ("OwnBook", Some("true"), 'c'),
            ("SyzygyPath", Some("/tb/3-4-5:/tb/6"), 'c'),
            ("SyzygyPath", Some("C:\\tb\\syzygy;D:\\tb 6"), 'c'),
            ("SyzygyPath", Some("<empty>"), 'c'),
            ("SyzygyPath", Some("/tb\u{1}"), 'i'),
            ("Move Overhead", Some("1000"), 'c'),
            ("MultiPV", Some("1"), 'c'),
            ("UCI_Chess960", Some("true"), 'c'),
            ("UCI_Whatever", Some("true"), 'c'),
            ("UCI_Whatever", Some("17"), 'i'),
            ("Clear Hash", None, 'c'),
            ("Clear Hash", Some("abc"), 'i'),
            ("Weights", Some("1"), 'u'),
        ] {
            assert_eq!(judged(name, value, Declared), expected, "{name} {value:?}");
        }
        let sign = judge(Allowlist::built_in(), "Hash", Some("-1"), Declared);
        let why = "Hash is a whole number without a sign".to_owned();
        assert_eq!(sign, Judgement::Implausible(why));
        let long = format!("/{}", "a/".repeat(450));
        assert_eq!(judged("SyzygyPath", Some(&long), Declared), 'i');
        let base64 = format!("/{}", "QUJD".repeat(20));
        assert_eq!(judged("SyzygyPath", Some(&base64), Declared), 'i');
    }

    #[test]
    fn raw_lines_have_no_free_letters() {
        assert_eq!(judged("Hash", Some("64"), Verbatim), 'c');
        assert_eq!(judged("hAsH", Some("64"), Verbatim), 'u');
        assert_eq!(judged("UCI_payload", Some("true"), Verbatim), 'u');
        assert_eq!(judged("UCI_*", Some("true"), Verbatim), 'u');
    }
}
