//! Values of options whose own parsers would not say what to write.

use std::num::NonZeroUsize;
use std::time::Duration;

/// A time with its unit.
///
/// # Errors
/// When it is none; the text says what one looks like.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|_| "write a time with its unit: 90s, 2m, 1m30s or 500ms".to_owned())
}

/// A number of things that are at least one.
///
/// # Errors
/// When it is none; the text says what to write.
pub(crate) fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "write a whole number from 1 up".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_value_is_answered_by_a_right_one() {
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        for text in ["abc", "90", "", "-1s"] {
            assert!(duration(text).unwrap_err().contains("90s"), "{text}");
        }
        assert_eq!(count("3").unwrap().get(), 3);
        for text in ["0", "-1", "x", ""] {
            assert!(count(text).unwrap_err().contains("from 1 up"), "{text}");
        }
    }
}
