//! Findings and the verdict they make.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::rule::RuleId;

/// The outcome of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The rule is kept.
    Pass,
    /// The rule is broken.
    Fail,
    /// This host, or this program, could not tell; a person must.
    Undecided,
    /// Nothing is broken, but the author should know.
    Advice,
    /// Not tried, because something that it depends on failed; the summary says what.
    Skipped,
}

impl Status {
    /// The word used in every report.
    pub fn word(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Undecided => "undecided",
            Status::Advice => "advice",
            Status::Skipped => "skipped",
        }
    }
}

/// The key of evidence that says of a rule how many of its questions were not asked, since the engine is slow.
pub(crate) const LEFT_OUT: &str = "left_out";

/// The key of evidence under which the waiver of a finding stands.
pub(crate) const WAIVED: &str = "waived";

/// One rule's result with its evidence.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// The outcome.
    pub status: Status,
    /// One line for people: what was seen, with the figures.
    pub summary: String,
    /// More lines for people, shown below what did not pass.
    pub details: Vec<String>,
    /// The same evidence for programs: the `evidence` object of the JSON report.
    pub(crate) evidence: Map<String, Value>,
    /// The one next step for the author (or organiser); empty where there is none.
    pub help: String,
}

impl Finding {
    /// A finding without evidence so far.
    pub(crate) fn new(rule: RuleId, status: Status, summary: impl Into<String>) -> Finding {
        Finding {
            rule,
            status,
            summary: summary.into(),
            details: Vec::new(),
            evidence: Map::new(),
            help: String::new(),
        }
    }

    /// True if the organisers have waived it.
    pub(crate) fn is_waived(&self) -> bool {
        self.evidence.contains_key(WAIVED)
    }

    /// The rule is kept.
    pub fn pass(rule: RuleId, summary: impl Into<String>) -> Finding {
        Finding::new(rule, Status::Pass, summary)
    }

    /// The rule is broken.
    pub fn fail(rule: RuleId, summary: impl Into<String>) -> Finding {
        Finding::new(rule, Status::Fail, summary)
    }

    /// A finding on a rule that could not be judged here.
    pub fn undecided(rule: RuleId, summary: impl Into<String>) -> Finding {
        Finding::new(rule, Status::Undecided, summary)
    }

    /// Kept, with a remark.
    pub fn advice(rule: RuleId, summary: impl Into<String>) -> Finding {
        Finding::new(rule, Status::Advice, summary)
    }

    /// Not tried because `on` did not pass.
    pub fn skipped(rule: RuleId, on: RuleId) -> Finding {
        let mut finding =
            Finding::new(rule, Status::Skipped, format!("not tried, because of {on}"));
        finding.evidence.insert("because_of".into(), on.name().into());
        finding
    }

    /// Adds a line of evidence for people.
    #[must_use]
    pub fn detail(mut self, line: impl Into<String>) -> Finding {
        self.details.push(line.into());
        self
    }

    /// Adds several lines.
    #[must_use]
    pub(crate) fn details(mut self, lines: impl IntoIterator<Item = String>) -> Finding {
        self.details.extend(lines);
        self
    }

    /// Adds a field to the JSON evidence.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Serialize) -> Finding {
        let value = serde_json::to_value(value)
            .unwrap_or_else(|error| Value::String(format!("(not representable: {error})")));
        self.evidence.insert(key.to_owned(), value);
        self
    }

    /// Sets the next step.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Finding {
        self.help = text.into();
        self
    }
}

/// The decision on an entry.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The entry may play.
    Accepted,
    /// Something could not be told here; the findings say what, and what to do.
    #[default]
    Undecided,
    /// The entry breaks a rule.
    Rejected,
}

impl Verdict {
    /// One broken gate rejects; what could not be told leaves it open; else it is accepted.
    pub fn of(findings: &[Finding]) -> Verdict {
        Verdict::by(findings.iter().map(|found| (found.rule, found.status)))
    }

    /// The same, by the rules and their statuses alone.
    pub(crate) fn by(found: impl Iterator<Item = (RuleId, Status)>) -> Verdict {
        found.filter(|(rule, _)| rule.is_gate()).fold(Verdict::Accepted, |verdict, (_, status)| {
            match status {
                Status::Fail => Verdict::Rejected,
                Status::Undecided | Status::Skipped if verdict == Verdict::Accepted => {
                    Verdict::Undecided
                }
                _ => verdict,
            }
        })
    }

    /// The word used in every report.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Undecided => "undecided",
            Verdict::Rejected => "rejected",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_gate_decides_and_advice_never_does() {
        let pass = Finding::pass(RuleId::Size, "");
        let fail = Finding::fail(RuleId::Size, "");
        let open = Finding::undecided(RuleId::Startup, "");
        let clock = Finding::fail(RuleId::Clock, "");
        assert_eq!(Verdict::of(&[pass.clone(), clock]), Verdict::Accepted);
        assert_eq!(Verdict::of(&[pass.clone(), open.clone()]), Verdict::Undecided);
        assert_eq!(Verdict::of(&[open, fail]), Verdict::Rejected);
        let skipped = Finding::skipped(RuleId::UciGo, RuleId::Startup);
        assert_eq!(Verdict::of(&[pass, skipped]), Verdict::Undecided);
    }
}
