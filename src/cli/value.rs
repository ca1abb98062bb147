//! Values of options whose own parsers would not say what to write.

use std::str::FromStr;
use std::time::Duration;

use crate::model::units::{self, BadTime};

/// A time with its unit.
///
/// # Errors
/// When it is none; the text says what one looks like.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    units::time(text).map_err(|why| match why {
        BadTime::NoTime(_) => "write a time with its unit: 90s, 2m, 1m30s or 500ms".to_owned(),
        BadTime::TooLong(_) => "write a time of a year at most, such as 90s or 2m".to_owned(),
    })
}

/// A time with its unit that is longer than none.
///
/// # Errors
/// As [`duration`], and where it is zero.
pub(crate) fn limit(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("write a time that is longer than zero, such as 60s".to_owned()),
        limit => Ok(limit),
    }
}

/// A whole number that may be zero.
///
/// # Errors
/// When it is none; the text says what to write.
pub(crate) fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "write a whole number, such as 0 or 40".to_owned())
}

/// Elo, with a sign and a fraction or without.
///
/// # Errors
/// When it is none; the text says what to write.
pub(crate) fn elo(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "write a number, such as 3000 or -12.5".to_owned())
}

/// The reason of a ruling, without blanks at its ends.
///
/// # Errors
/// When there is none; the text says what to write.
pub(crate) fn reason(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("write the reason in some words: the journal keeps it".to_owned()),
        text if text.chars().any(char::is_control) => {
            Err("write the reason in one line, without control characters".to_owned())
        }
        reason => Ok(reason.to_owned()),
    }
}

/// A number of things that are at least one.
///
/// # Errors
/// When it is none; the text says what to write.
pub(crate) fn count<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "write a whole number from 1 up".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    #[test]
    fn a_wrong_value_is_answered_by_a_right_one() {
        assert_eq!(reason(" a coin "), Ok("a coin".to_owned()));
        assert!(reason("tired\nover: B wins").is_err_and(|error| error.contains("one line")));
        assert!(reason(" ").unwrap_err().contains("some words"));
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        for text in ["abc", "90", "", "-1s"] {
            assert!(duration(text).unwrap_err().contains("90s"), "{text}");
        }
        assert_eq!(limit("500ms"), Ok(Duration::from_millis(500)));
        for text in ["0s", "0ms", "0"] {
            assert!(limit(text).is_err(), "{text}");
        }
        assert!(limit("0s").unwrap_err().contains("longer than zero"));
        assert_eq!(count::<NonZeroUsize>("3").unwrap().get(), 3);
        for text in ["0", "-1", "x", ""] {
            assert!(count::<NonZeroUsize>(text).unwrap_err().contains("from 1 up"), "{text}");
        }
        assert_eq!((whole("0"), elo("-1.5")), (Ok(0_u32), Ok(-1.5)));
        assert!(whole::<u32>("-1").unwrap_err().contains("whole number"));
        for text in ["x", "nan", "inf", ""] {
            assert!(elo(text).unwrap_err().contains("3000"), "{text}");
        }
    }
}
