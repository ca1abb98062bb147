//! The words that `env` makes of the one argument of a first line, as GNU's env reads them: options, quotes, escapes, settings.
//!
//! A word that cannot be read with certainty (a variable, an option that only some versions have) gives nothing at all: an entry whose
//! first line `env` reads better than this file does must not be told that it never starts.

use std::collections::VecDeque;

/// The command that `env` looks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sought {
    /// Its name or path.
    pub(super) command: String,
    /// True if an option splits the argument into words; without one all of it is the command.
    pub(super) split: bool,
    /// True if it is looked for along the usual PATH.
    pub(super) usual_path: bool,
}

/// Reads the argument; none where it names no command that is certain.
pub(super) fn sought(argument: &str) -> Option<Sought> {
    let mut words = VecDeque::from([argument.to_owned()]);
    let mut split = false;
    let mut usual_path = true;
    while let Some(word) = words.pop_front() {
        if word == "--" || word == "-" {
            break;
        }
        let text = if let Some(long) = word.strip_prefix("--") {
            long_option(long, &mut words)?
        } else if let Some(short) = word.strip_prefix('-') {
            short_options(short, &mut words)?
        } else {
            words.push_front(word);
            break;
        };
        if let Some(text) = text {
            split = true;
            for word in split_words(&text)?.into_iter().rev() {
                words.push_front(word);
            }
        }
    }
    let mut command = words.pop_front()?;
    while command.contains('=') {
        usual_path &= !command.starts_with("PATH=");
        command = words.pop_front()?;
    }
    Some(Sought { command, split, usual_path })
}

/// Reads a word of single letters, with the value of the last one; the text that is to be split, if it has one.
fn short_options(letters: &str, words: &mut VecDeque<String>) -> Option<Option<String>> {
    for (at, letter) in letters.char_indices() {
        let mut value = || match &letters[at + letter.len_utf8()..] {
            "" => words.pop_front(),
            attached => Some(attached.to_owned()),
        };
        match letter {
            'i' | 'v' => {}
            'u' | 'C' | 'a' => {
                value()?;
                return Some(None);
            }
            'S' => return value().map(Some),
            _ => return None,
        }
    }
    Some(None)
}

/// The same for an option that is a word.
fn long_option(option: &str, words: &mut VecDeque<String>) -> Option<Option<String>> {
    let (name, attached) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (option, None),
    };
    let mut value = || attached.clone().or_else(|| words.pop_front());
    match name {
        "ignore-environment"
        | "debug"
        | "block-signal"
        | "default-signal"
        | "ignore-signal"
        | "list-signal-handling" => Some(None),
        "unset" | "chdir" | "argv0" => value().map(|_| None),
        "split-string" => value().map(Some),
        _ => None,
    }
}

/// Splits a text into words; none where env refuses it, or a variable stands in it.
fn split_words(text: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut between = true;
    let mut quote = None;
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let mut meant = Some(sign);
        match (sign, quote) {
            ('\'' | '"', None) => (quote, meant) = (Some(sign), None),
            ('\'' | '"', Some(open)) if open == sign => (quote, meant) = (None, None),
            (' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r', None) => {
                between = true;
                continue;
            }
            ('#', _) if between => break,
            ('$', None | Some('"')) => return None,
            ('\\', Some('\'')) if !matches!(signs.peek(), Some('\\' | '\'')) => {}
            ('\\', _) => match signs.next()? {
                '_' if quote == Some('"') => meant = Some(' '),
                '_' => {
                    between = true;
                    continue;
                }
                'c' if quote != Some('"') => break,
                'f' => meant = Some('\x0c'),
                'n' => meant = Some('\n'),
                'r' => meant = Some('\r'),
                't' => meant = Some('\t'),
                'v' => meant = Some('\x0b'),
                itself @ ('"' | '#' | '$' | '\'' | '\\') => meant = Some(itself),
                _ => return None,
            },
            _ => {}
        }
        if between {
            words.push(String::new());
            between = false;
        }
        words.last_mut()?.extend(meant);
    }
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(argument: &str) -> Option<String> {
        sought(argument).map(|sought| sought.command)
    }

    #[test]
    fn a_first_line_of_env_is_read_with_its_options_and_quotes() {
        for argument in [
            "python3",
            "-S python3 -u",
            "--split-string=python3 -u",
            "-S -i python3 -u",
            "-iS python3 -u",
            "-vS python3 -u",
            "-S -u FOO python3 -u",
            "-S -uFOO --unset BAR --unset=BAZ python3",
            "-S -C /tmp python3",
            "-S --chdir=/tmp python3",
            "-S -- python3",
            "-S - python3",
            "-S\"python3\" -u",
            "-S'python3' -u",
            "-Spython3\\_-u",
            "-S A=1 B=\"2 3\" python3",
            "-S --default-signal=PIPE python3",
            "-S -S\"python3 -u\"",
            "-S python3 # $X",
            "-S python3 -u\r",
            "-S python3\\c $X",
        ] {
            assert_eq!(read(argument).as_deref(), Some("python3"), "{argument:?}");
        }
        assert!(sought("-S python3").is_some_and(|sought| sought.split && sought.usual_path));
        assert!(sought("-S PATH=/x python3").is_some_and(|sought| !sought.usual_path));
        assert!(sought("python3 -u").is_some_and(|sought| !sought.split));
        assert_eq!(read("python3 -u").as_deref(), Some("python3 -u"));
        assert_eq!(read("-S \"py thon\"\\t 3").as_deref(), Some("py thon\t"));
        assert_eq!(read("-S 'a\\b\\'c'").as_deref(), Some("a\\b'c"));
    }

    #[test]
    fn a_first_line_of_env_that_is_not_certain_says_nothing() {
        for argument in [
            "-S ${PY} -u",
            "-S \"${PY}\"",
            "-S 'python3",
            "-S python\\x3",
            "-S -Z python3",
            "--ignore python3",
            "-i python3",
            "-i",
            "-S",
            "-S #python3",
            "-S A=1",
            "A=1 python3",
        ] {
            assert_eq!(read(argument), None, "{argument:?}");
        }
    }

    proptest! {
        #[test]
        fn no_argument_makes_it_panic(text in "(-S|-i|--split-string=)?[ a-zA-Z='\"\\\\$#é-]{0,20}") {
            let _ = sought(&text);
        }
    }
}
