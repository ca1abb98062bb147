//! The words of a command, as cutechess's engines.json has them.

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
    fn a_command_is_split_as_the_event_does() {
        assert_eq!(split_command(" a  b "), ["a", "b"]);
        assert_eq!(split_command(r#""a b"c """d""""#), ["a bc", "\"d\""]);
        assert_eq!(split_command(r#"a """#), ["a", ""]);
    }
}
