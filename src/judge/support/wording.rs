//! Times, lists and exits in the words of findings.

use std::time::Duration;

use crate::model::evidence::ExitHow;

/// A time as authors read it: `35 ms`, `0.53 s`, `61.2 s`.
pub(crate) fn secs(time: Duration) -> String {
    let s = time.as_secs_f64();
    if s < 0.1 {
        format!("{:.0} ms", s * 1e3)
    } else if s < 10.0 {
        format!("{s:.2} s")
    } else {
        format!("{s:.1} s")
    }
}

/// `once`, `3 times`.
pub(crate) fn times(number: usize) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

/// An exit in words, with what shells mean by theirs where one ran.
pub(crate) fn exit_words(exit: ExitHow, by_shell: bool) -> String {
    match exit {
        exit if !by_shell => exit.to_string(),
        ExitHow::Status(126) => "exit status 126 (a shell's: could not be executed)".to_owned(),
        ExitHow::Status(127) => "exit status 127 (a shell's: command not found)".to_owned(),
        ExitHow::Status(code @ 129..=159) => {
            format!("exit status {code} (a shell's: {})", ExitHow::Signal(code - 128))
        }
        exit => exit.to_string(),
    }
}

/// A long command cut in the middle: its beginning says what it is, its end where it stands.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    let length = text.chars().count();
    if length <= max {
        return text.to_owned();
    }
    let head: String = text.chars().take(max / 2).collect();
    let tail: String = text.chars().skip(length - max / 2).collect();
    format!("{head} … {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_texts_read_well() {
        assert_eq!(secs(Duration::from_millis(35)), "35 ms");
        assert_eq!(secs(Duration::from_millis(530)), "0.53 s");
        assert_eq!(secs(Duration::from_millis(61_200)), "61.2 s");
        assert_eq!(shorten("0123456789", 4), "01 … 89");
    }

    #[test]
    fn an_exit_is_a_shells_only_where_one_ran() {
        let missing = ExitHow::Status(127);
        assert_eq!(exit_words(missing, true), "exit status 127 (a shell's: command not found)");
        assert_eq!(exit_words(missing, false), "exit status 127");
    }
}
