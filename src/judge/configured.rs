//! The words of engines.json on the start and on the protocol, beside its options: gate4k starts the entry's file alone and speaks UCI, so that
//! nothing else of this is ever tried. Such words are told, since an organiser who takes the file as it is would start something else.

use crate::model::command_words::{base_name, split_command};
use crate::model::rule::RuleId;
use crate::model::text::escape;
use crate::model::verdict::{Finding, Status};
use crate::policy::allowlist::Allowlist;
use crate::submission::Submission;
use crate::submission::json::Json;

/// The words of a `command`, by their place about the entry's path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CommandParts {
    /// The words before the path: a program that starts the entry, with its words.
    before: Vec<String>,
    /// The words after the path.
    after: Vec<String>,
    /// The path of another file, where none is the entry's.
    other: Option<String>,
}

impl CommandParts {
    /// The words of the engine that is meant; none where no engines.json is there, or none that can be read.
    pub(super) fn of(submission: &Submission) -> CommandParts {
        engine(submission)
            .and_then(|engine| text(engine, "command"))
            .map_or_else(CommandParts::default, |command| {
                CommandParts::read(command, &submission.file_name)
            })
    }

    fn read(command: &str, file_name: &str) -> CommandParts {
        let mut before = split_command(command);
        let Some(at) = before.iter().position(|word| base_name(word) == file_name) else {
            return CommandParts { other: before.into_iter().next(), ..CommandParts::default() };
        };
        let after = before.split_off(at).split_off(1);
        CommandParts { before, after, other: None }
    }

    /// The words beside the path, for people; none where there are none.
    pub(super) fn beside(&self) -> Option<String> {
        let words: Vec<&str> = self.before.iter().chain(&self.after).map(String::as_str).collect();
        (!words.is_empty()).then(|| shown(&words.join(" ")))
    }
}

/// Tells what engines.json says that gate4k does not do.
///
/// A program before the entry's path that rule 7.5 does not name is no failure: an event of gate4k never starts it, and the entry is judged without
/// it. One that does not come up without it is left open by `not_given`.
pub(super) fn tell(findings: &mut [Finding], submission: &Submission, list: &Allowlist) {
    let parts = CommandParts::of(submission);
    if let Some(program) = parts.before.first()
        && list.command_or_version(base_name(program)).is_none()
    {
        let words = shown(&parts.before.join(" "));
        advise(
            findings,
            RuleId::Commands,
            format!(
                "`command` of its engines.json starts it by {}, which is not in rule 7.5; it was started without",
                shown(base_name(program))
            ),
            format!(
                "take `{words}` out of `command`, and let the entry do without (flush its output itself, say); a path with blanks stands in \
                 quotes"
            ),
        );
    }
    if let Some(other) = &parts.other {
        advise(
            findings,
            RuleId::Payload,
            format!("its `command` names {}, which is not this file", shown(other)),
            "write the entry's own path into `command`, or give the engines.json that belongs to it"
                .to_owned(),
        );
    }
    let protocol = engine(submission).and_then(|engine| text(engine, "protocol"));
    if let Some(protocol) = protocol.filter(|one| !one.eq_ignore_ascii_case("uci")) {
        advise(
            findings,
            RuleId::Payload,
            format!("its `protocol` is {:?}, and rule 7.9 asks for UCI", shown(protocol)),
            "write \"protocol\": \"uci\", which is what it was asked in".to_owned(),
        );
    }
}

fn engine(submission: &Submission) -> Option<&Json> {
    submission.engines_json.as_ref()?.selected.as_ref().ok()
}

fn text<'a>(engine: &'a Json, key: &str) -> Option<&'a str> {
    engine.get(key).and_then(Json::scalar).filter(|text| !text.is_empty())
}

fn shown(text: &str) -> String {
    escape(text.as_bytes(), 60)
}

/// Adds an advice to a finding that nothing speaks against; to any other it is a detail.
fn advise(findings: &mut [Finding], rule: RuleId, what: String, help: String) {
    let Some(finding) = findings.iter_mut().find(|one| one.rule == rule) else { return };
    if !matches!(finding.status, Status::Pass | Status::Advice) {
        finding.details.push(what);
        return;
    }
    finding.status = Status::Advice;
    finding.summary = format!("{}; {what}", finding.summary);
    finding.help = match &*finding.help {
        "" => help,
        before => format!("{help}; {before}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_command_stand_about_the_entrys_path() {
        let read = |command| CommandParts::read(command, "engine");
        let parts = read("stdbuf -oL ./engine -q");
        assert_eq!(parts.before, ["stdbuf", "-oL"]);
        assert_eq!(parts.after, ["-q"]);
        assert_eq!(parts.beside().as_deref(), Some("stdbuf -oL -q"));
        assert_eq!(read("/home/me/engine"), CommandParts::default());
        assert_eq!(read("\"./my engines/engine\"").beside(), None);
        assert_eq!(read("./other -q").other.as_deref(), Some("./other"));
    }

    #[test]
    fn an_advice_changes_no_failure() {
        let told = |finding: Finding| {
            let mut findings = [finding];
            advise(&mut findings, RuleId::Commands, "by stdbuf".into(), "take it out".into());
            let [finding] = findings;
            (finding.status, finding.summary)
        };
        let pass = Finding::pass(RuleId::Commands, "it starts no other program");
        assert_eq!(
            told(pass),
            (Status::Advice, "it starts no other program; by stdbuf".to_owned())
        );
        assert_eq!(told(Finding::fail(RuleId::Commands, "sed")), (Status::Fail, "sed".to_owned()));
    }
}
