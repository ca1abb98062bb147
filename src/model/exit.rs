//! The exit code for each outcome.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::verdict::Verdict;

/// The exit codes of the program; the format of a report never changes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Exit {
    /// Every entry is accepted, or what was asked for is done.
    Success,
    /// At least one entry is rejected, or an engine of a match was lost as often as is allowed.
    Rejected,
    /// The command line, a setting or a file of settings is wrong, or no file of settings, allow-list, engines, book or key is
    /// at the path that an option names.
    Usage,
    /// There is nothing at the path that was given of an entry, an event, a journal, games, a receipt or a report.
    Nothing,
    /// No entry is rejected, but at least one could not be decided here.
    Undecided,
    /// A bug in gate4k itself.
    Bug,
    /// The entry's own end: its status, or 128 and the number of its signal (`run`).
    Entry(u8),
}

impl Exit {
    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Rejected => 1,
            Exit::Usage => 2,
            Exit::Nothing => 3,
            Exit::Undecided => 4,
            Exit::Bug => 70,
            Exit::Entry(code) => code,
        }
    }

    /// The weight of an outcome of one entry in that of the whole command: our own faults first, since
    /// they make every other word doubtful, then the definite "no", then what was not there to judge.
    fn weight(self) -> u8 {
        match self {
            Exit::Success | Exit::Entry(_) => 0,
            Exit::Undecided => 1,
            Exit::Nothing => 2,
            Exit::Rejected => 3,
            Exit::Usage => 4,
            Exit::Bug => 5,
        }
    }

    /// The outcome of several entries: rejected beats undecided beats accepted.
    pub(crate) fn worst(outcomes: impl IntoIterator<Item = Exit>) -> Exit {
        outcomes.into_iter().max_by_key(|outcome| outcome.weight()).unwrap_or(Exit::Success)
    }

    /// The outcome of several entries of a run that can be given again and goes on: as long as one is undecided another try may
    /// decide it, which a verdict on another entry must not hide from a scheduler. Only a bug goes before that.
    pub(crate) fn of_a_try(outcomes: impl IntoIterator<Item = Exit>) -> Exit {
        let weight = |outcome: &Exit| match outcome {
            Exit::Bug => u8::MAX,
            Exit::Undecided => u8::MAX - 1,
            other => other.weight(),
        };
        outcomes.into_iter().max_by_key(weight).unwrap_or(Exit::Success)
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Exit {
        match verdict {
            Verdict::Accepted => Exit::Success,
            Verdict::Undecided => Exit::Undecided,
            Verdict::Rejected => Exit::Rejected,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_the_documented_ones() {
        let codes =
            [Exit::Success, Exit::Rejected, Exit::Usage, Exit::Nothing, Exit::Undecided, Exit::Bug]
                .map(Exit::code);
        assert_eq!(codes, [0, 1, 2, 3, 4, 70]);
    }

    #[test]
    fn rejected_beats_undecided_beats_accepted() {
        use Exit::{Bug, Nothing, Rejected, Success, Undecided};
        assert_eq!(Exit::worst([Success, Undecided, Success]), Undecided);
        assert_eq!(Exit::worst([Undecided, Rejected, Success]), Rejected);
        assert_eq!(Exit::worst([Nothing, Undecided]), Nothing);
        assert_eq!(Exit::worst([Nothing, Rejected]), Rejected);
        assert_eq!(Exit::worst([Rejected, Bug]), Bug);
        assert_eq!(Exit::worst([]), Success);
        assert_eq!(Exit::worst([Verdict::Accepted.into()]), Success);
    }

    #[test]
    fn undecided_beats_rejected_where_another_try_goes_on() {
        use Exit::{Bug, Nothing, Rejected, Success, Undecided};
        assert_eq!(Exit::of_a_try([Success, Rejected, Undecided, Nothing]), Undecided);
        assert_eq!(Exit::of_a_try([Undecided, Bug]), Bug);
        for decided in [&[Success, Success][..], &[Success, Rejected], &[Nothing, Success], &[]] {
            let outcomes = || decided.iter().copied();
            assert_eq!(Exit::of_a_try(outcomes()), Exit::worst(outcomes()));
        }
    }
}
