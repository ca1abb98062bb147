//! The words of a command: as cutechess's engines.json has them, and those that say which program is meant.

/// The names by which files of many programs are called as themselves.
pub(crate) const MULTI_CALL_BINARIES: [&str; 4] = ["busybox", "toybox", "coreutils", "uutils"];

/// True for the name of a file of many programs, called by which it takes the next word for the program that is meant.
pub(crate) fn is_multi_call(name: &str) -> bool {
    // busybox itself takes any name that begins so.
    MULTI_CALL_BINARIES.contains(&name) || name.starts_with("busybox")
}

/// The last part of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name that a program is called by: the last part of its first word, without the dash of a login shell.
pub(crate) fn name_called(word: &str) -> &str {
    let name = base_name(word);
    name.strip_prefix('-').unwrap_or(name)
}

/// The first words of a command that say which program is meant: a file of many programs takes its second one for that.
pub(crate) fn telling(words: &[String]) -> &[String] {
    let is_multi_call = words.first().is_some_and(|word| is_multi_call(name_called(word)));
    words.get(..if is_multi_call { 2 } else { 1 }).unwrap_or(words)
}

/// Splits a command as the event's program does (QProcess): at white space outside double quotes; three
/// quotes in a row are one quote. So every command in an engines.json is read, an entry's or another engine's; words that a person
/// types have a shell's rules (`runner::spec`).
pub(crate) fn split_command(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut quoted, mut begun) = (false, false);
    let mut rest = command;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\"\"\"") {
            word.push('"');
            begun = true;
            rest = after;
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if c == '"' {
            quoted = !quoted;
            begun = true;
        } else if c.is_whitespace() && !quoted {
            if begun {
                words.push(std::mem::take(&mut word));
            }
            begun = false;
        } else {
            word.push(c);
            begun = true;
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_many_programs_is_told_by_two_words() {
        let words = |text: &str| split_command(text);
        for (text, count) in [
            ("tail -n 1", 1),
            ("/bin/busybox sed p", 2),
            ("-busybox sed", 2),
            ("busybox.x sed", 2),
            ("coreutils", 1),
            ("", 0),
        ] {
            assert_eq!(telling(&words(text)).len(), count, "{text}");
        }
    }

    #[test]
    fn a_command_is_split_as_the_event_does() {
        assert_eq!(split_command(" a  b "), ["a", "b"]);
        assert_eq!(split_command(r#""a b"c """d""""#), ["a bc", "\"d\""]);
        assert_eq!(split_command(r#"a """#), ["a", ""]);
    }
}
