//! Rule 7.7: a chess library must be inside the file and count. None of the host's can be reached, so an
//! entry that needs one does not start here.

use super::{CausedByLoad, InGames, JudgedRule, Needed};
use crate::judge::support::{complaints, paths, runs};
use crate::model::evidence::{Evidence, FileOpen, RecordPart};
use crate::model::layer_status::LayerName;
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;

const RULE: RuleId = RuleId::ChessLibrary;

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    id: RULE,
    evidence: Needed::Runs,
    load: CausedByLoad::Never,
    leans_on: &[LayerName::Landlock],
    rests_on: &[RecordPart::Files, RecordPart::Paths, RecordPart::Tracer],
    before_games: false,
    in_games: InGames::LikeRuns,
    judge: |case| judge(case.evidence, case.bytes),
};

/// Judges whether the entry asked for a chess library of the host, and whether it needs one.
fn judge(evidence: &Evidence, bytes: &[u8]) -> Finding {
    if evidence.runs.is_empty() {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let mut reached: Vec<String> = Vec::new();
    let mut wanted: Vec<String> = Vec::new();
    let mut works = true;
    for run in evidence.runs.iter().filter(|run| !runs::counts_for_nothing(evidence, run)) {
        let before = wanted.len();
        for open in run.opens.iter().filter(|open| is_hosts(evidence, open)) {
            let by = runs::lineage(run, open.by);
            if open.denied {
                wanted.push(format!("{by} wanted {}; it was refused", open.path));
            } else if !open.missing {
                reached.push(format!("{by} read {}", open.path));
            }
        }
        wanted.extend(
            complaints::missing_modules(&run.stderr_tail)
                .into_iter()
                .filter(|name| paths::is_chess_module(name))
                .map(|name| {
                    format!("it wanted the module {name}, which is not to be found inside")
                }),
        );
        works &=
            wanted.len() == before || runs::went_well(run) || runs::failed_aside(evidence, run);
    }
    reached.dedup();
    wanted.dedup();
    let help = "carry the library inside the file, where it counts towards the 4096 bytes (rule 7.7), or \
                write the moves yourself: smaller in any case";
    let finding = match (reached.first(), wanted.first()) {
        (Some(what), _) => {
            Finding::fail(RULE, format!("a chess library of the host was used: {what}")).help(help)
        }
        (None, Some(what)) if !works => Finding::fail(
            RULE,
            format!("it needs a chess library of the host and does not run without: {what}"),
        )
        .help(help),
        (None, Some(what)) => Finding::advice(
            RULE,
            format!("it works without, but asked for a chess library: {what}"),
        )
        .help("take the import out: it only costs bytes"),
        (None, None) => match imported(bytes) {
            // An interpreter that has no such module in its directories asks the kernel for nothing.
            Some(name) => Finding::advice(
                RULE,
                format!("no chess library of the host was read, though its text imports {name}"),
            )
            .help("unless the file carries it, take the import out: one of the host's that it found would break rule 7.7"),
            // Nor does one whose text is packed tell of a module that is not there.
            None => Finding::pass(RULE, "no chess library was seen to be loaded"),
        },
    };
    finding
        .details(reached.iter().chain(&wanted).skip(1).take(9).cloned())
        .with("reached", reached)
        .with("wanted", wanted)
        .with("hidden", &evidence.host.chess_libraries)
}

/// The first chess library that a plain text imports in Python's words.
fn imported(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut names = text.split(['\n', ';', ':']).flat_map(|statement| {
        let (word, rest) = statement.trim().split_once(' ').unwrap_or_default();
        let most = if word == "import" { usize::MAX } else { usize::from(word == "from") };
        let name = |part: &str| part.split_whitespace().next().unwrap_or_default().to_owned();
        rest.split(',').map(name).take(most).collect::<Vec<_>>()
    });
    names.find(|name| paths::is_chess_module(name))
}

/// True if an opening went for a chess library of the host.
fn is_hosts(evidence: &Evidence, open: &FileOpen) -> bool {
    let path = std::path::Path::new(&open.path);
    !open.own
        && (paths::is_chess_path(&open.path)
            || evidence.host.chess_libraries.iter().any(|root| path.starts_with(root)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::{ExitHow, Purpose};
    use crate::model::verdict::Status;

    const SAID: &str = "ModuleNotFoundError: No module named 'chess'";

    #[test]
    fn an_entry_that_needs_it_fails_and_is_told_why() {
        let run = testing::run(Purpose::Main).died(ExitHow::Status(1)).stderr(SAID);
        let finding = judge(&testing::evidence_of([run]), b"");
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("the module chess"));
    }

    #[test]
    fn asking_and_doing_without_is_advice() {
        let run = testing::run(Purpose::Main).stderr(SAID);
        assert_eq!(judge(&testing::evidence_of([run]), b"").status, Status::Advice);
        assert_eq!(judge(&testing::evidence(), b"").status, Status::Pass);
    }

    /// Where the host has no such module either, nothing but the text tells of it.
    #[test]
    fn a_text_that_imports_one_is_advised() {
        let status = |text: &[u8]| judge(&testing::evidence(), text).status;
        for text in [
            "#!/usr/bin/python3\ntry:\n  import chess\nexcept ImportError:pass\n",
            "try: import sys,chess.engine as e\nexcept: 0",
            "import sys;from chess import Board",
        ] {
            assert_eq!(status(text.as_bytes()), Status::Advice, "{text}");
        }
        for text in ["import sys, chessmen", "print('a chess engine')", "from sys import chess"] {
            assert_eq!(status(text.as_bytes()), Status::Pass, "{text}");
        }
    }

    #[test]
    fn asking_at_a_path_with_a_blank_where_it_does_not_start_proves_no_need() {
        let failed = |purpose| testing::run(purpose).died(ExitHow::Status(1)).stderr(SAID);
        let of = |run| judge(&testing::evidence_of([testing::run(Purpose::Main), run]), b"").status;
        assert_eq!(of(failed(Purpose::BlankPath)), Status::Pass);
        assert_eq!(of(failed(Purpose::OtherShell)), Status::Advice);
        assert_eq!(of(failed(Purpose::Positions)), Status::Fail);
    }

    #[test]
    fn reading_one_is_a_failure_wherever_the_host_keeps_it() {
        let path = "/usr/lib/python3/dist-packages/chess/__init__.py";
        let run = testing::run(Purpose::Main).opened(path, false);
        assert_eq!(judge(&testing::evidence_of([run]), b"").status, Status::Fail);
        let mut own =
            testing::evidence_of([testing::run(Purpose::Main).opened("/opt/c/a.py", false)]);
        own.host.chess_libraries = vec!["/opt/c".into()];
        assert_eq!(judge(&own, b"").status, Status::Fail);
    }

    #[test]
    fn a_library_inside_the_file_is_the_entrys_own() {
        let run = testing::run(Purpose::Main).opened("/tmp/x/chess/__init__.py", false);
        let run = run.opened("/tmp/x/site-packages/chess/__init__.py", false);
        assert_eq!(judge(&testing::evidence_of([run]), b"").status, Status::Pass);
    }
}
