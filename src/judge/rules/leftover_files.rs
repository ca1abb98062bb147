//! Rule 7.4: no files of its own are left lying around, not counting what system programs might cache.

use super::{CausedByLoad, InGames, JudgedRule, LeftByGames, Needed};
use crate::judge::support::{runs, wording};
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::evidence::{
    Evidence, Exec, ExitHow, LeftByProcess, LeftFile, Limits, Purpose, RecordPart, Resource, Run,
};
use crate::model::layer_status::LayerName;
use crate::model::rule::RuleId;
use crate::model::units::Bytes;
use crate::model::verdict::Finding;
use crate::model::words::{self, counted};

const RULE: RuleId = RuleId::LeftoverFiles;

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    id: RULE,
    evidence: Needed::Runs,
    load: CausedByLoad::IfStrained,
    leans_on: &[LayerName::Workspace],
    rests_on: &[RecordPart::LeftFiles, RecordPart::Tracer],
    before_games: false,
    in_games: InGames::Left(after_games),
    judge: |case| judge(case.evidence),
};

/// Judges what remained after `quit`; what remained after a kill, or after a probe that asks more than
/// the rules demand, is advice.
fn judge(evidence: &Evidence) -> Finding {
    if evidence.runs.iter().all(|run| run.launch_failure.is_some()) {
        return Finding::skipped(RULE, RuleId::Startup);
    }
    let ended: Vec<&Run> =
        runs::ended_as_asked(evidence).filter(|run| runs::leaves_finally(run)).collect();
    let left: Vec<(&Run, &LeftFile)> = ended.iter().flat_map(|run| own(run)).collect();
    let other: Vec<(&Run, &LeftFile)> = evidence
        .runs
        .iter()
        .filter(|run| runs::leaves_finally(run) || run.purpose == Purpose::KilledMidway)
        .filter(|run| !ended.iter().any(|one| std::ptr::eq(*one, *run)))
        .flat_map(own)
        .collect();
    let finding = match (left.first(), other.first()) {
        (Some(first), _) => failed(evidence, &ended, &left, first.0),
        (None, Some((run, file))) => Finding::advice(
            RULE,
            format!(
                "{} remained of {}: {}; {}",
                counted(own(run).count(), "file"),
                runs::purpose(run),
                describe(file),
                if ended.is_empty() {
                    "no run that counts came to its quit"
                } else {
                    "nothing remains after the quit of a run that counts"
                }
            ),
        )
        .details(other.iter().take(10).map(|(run, file)| line(run, file)))
        // Against a kill nobody can do anything that the rules ask for.
        .help(if other.iter().all(|(run, _)| run.purpose == Purpose::KilledMidway) {
            ""
        } else {
            "optional: open the file, remove it, then run it by /proc/self/fd, or set a shell's `trap` \
             before the engine starts"
        }),
        (None, None) if ended.is_empty() => {
            Finding::skipped(RULE, runs::needs_good_end(evidence))
        }
        (None, None) => Finding::pass(RULE, "no file remains after quit"),
    };
    let exempt = caches(evidence);
    finding
        .details(exempt.iter().map(|(path, pattern)| {
            format!("not counted: {path}, a cache of a system program ({pattern})")
        }))
        .with("left", json_of(&left))
        .with("left_otherwise", json_of(&other))
        .with("caches", exempt)
}

/// Files of the entry's own, caches of system programs left out.
fn own(run: &Run) -> impl Iterator<Item = (&Run, &LeftFile)> {
    run.left_files.iter().filter(|file| file.exempt.is_none()).map(move |file| (run, file))
}

/// Files that remain after games.
fn after_games(left: &[LeftByProcess], _limits: &Limits) -> Option<LeftByGames> {
    let files = left.iter().flat_map(|left| &left.files).filter(|file| file.exempt.is_none());
    // Several processes may have left the same: of each path the largest is told.
    let mut largest: BTreeMap<&str, Bytes> = BTreeMap::new();
    for file in files {
        let size = largest.entry(&file.path).or_default();
        *size = (*size).max(file.size);
    }
    let each: Vec<String> = largest.iter().map(|(path, size)| format!("{path} ({size})")).collect();
    let verb = if each.len() == 1 { "remains" } else { "remain" };
    let count = format!("{} {verb} after its games", counted(each.len(), "file"));
    (!each.is_empty()).then_some(LeftByGames::Some { count, each })
}

fn failed(evidence: &Evidence, ended: &[&Run], left: &[(&Run, &LeftFile)], first: &Run) -> Finding {
    let here: Vec<&LeftFile> = own(first).map(|(_, file)| file).collect();
    let told: Vec<String> = here.iter().map(|file| describe(file)).collect();
    let runs = ended.iter().filter(|run| own(run).next().is_some()).count();
    let is_cut = is_cut(first);
    let at_least = if is_cut { "at least " } else { "" };
    let mut finding = Finding::fail(
        RULE,
        format!(
            "{at_least}{} after quit: {}",
            match here.len() {
                1 if !is_cut => "a file remains".to_owned(),
                1 => "one file remains".to_owned(),
                number => format!("{number} files remain"),
            },
            words::some(&told, 3)
        ),
    )
    .details(left.iter().take(10).map(|(run, file)| line(run, file)))
    .help(if here.iter().any(|file| file.path.contains("/__pycache__")) {
        "remove the files in __pycache__, or start `python3 -B`, which writes none: what Python compiles there does not count only as \
             long as its source lies beside it"
    } else if is_cleaner_killed(first) {
        "let the engine end by exit: a signal to its whole group (`kill(0, …)`) ends the `sleep` as well behind which its stub removes \
         the file"
    } else if evidence.strict {
        // `rm` is tolerated, and refused under --strict.
        "let the engine remove each file that it or its stub makes, once it runs: `unlink(*argv)` in C, `os.remove` in Python, \
         `unlink` in Perl"
    } else {
        "remove each file the engine or its stub makes: `T=$(mktemp); …; (sleep 3;rm $T)&exec $T`"
    });
    if left.len() > 10 {
        finding = finding.detail(format!("and {} more", left.len() - 10));
    }
    if ended.len() > 1 {
        finding =
            finding.detail(format!("seen in {runs} of {} runs that ended by quit", ended.len()));
    }
    if !first.left_processes.is_empty() {
        finding = finding.detail(format!(
            "its processes still ran {} after quit and had not removed it",
            wording::secs(evidence.limits.grace)
        ));
        finding.help = format!(
            "remove the file as soon as the engine has started: what is not gone {} after quit counts",
            wording::secs(evidence.limits.grace)
        );
    }
    finding
}

/// True if more files remained of a run than were counted.
fn is_cut(run: &Run) -> bool {
    let unrecorded = Resource::Unrecorded(RecordPart::LeftFiles);
    run.refusals.iter().any(|refusal| refusal.what == unrecorded)
}

/// True if the stub's `sleep`, behind which it removes a file, was killed by the entry itself.
fn is_cleaner_killed(run: &Run) -> bool {
    let killed =
        |exec: &Exec| exec.name == "sleep" && matches!(exec.exit, Some(ExitHow::Signal(_)));
    // Otherwise it was killed when all was taken down.
    run.ending.emptied_after.is_some() && run.execs.iter().any(killed)
}

/// `/tmp/tmp.x (1234 bytes, made by mktemp)`.
fn describe(file: &LeftFile) -> String {
    let kind = if file.kind == "file" { String::new() } else { format!("{}, ", file.kind) };
    match &file.made_by {
        Some(program) => format!("{} ({kind}{}, made by {program})", file.path, file.size),
        None => format!("{} ({kind}{})", file.path, file.size),
    }
}

fn line(run: &Run, file: &LeftFile) -> String {
    format!("{}: {}", runs::purpose(run), describe(file))
}

/// Caches of system programs over all runs, each path once with the pattern that exempts it.
fn caches(evidence: &Evidence) -> BTreeMap<&str, &str> {
    evidence
        .runs
        .iter()
        .flat_map(|run| &run.left_files)
        .filter_map(|file| Some((file.path.as_str(), file.exempt.as_deref()?)))
        .take(20)
        .collect()
}

fn json_of(left: &[(&Run, &LeftFile)]) -> Value {
    left.iter()
        .take(50)
        .map(|(run, file)| {
            let killed = run.purpose == Purpose::KilledMidway;
            json!({"run": run.purpose, "file": file, "after_a_kill": killed})
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::{EndHow, ProgramClass, Shell};
    use crate::model::verdict::Status;

    #[test]
    fn after_quit_it_counts_with_path_size_and_maker() {
        let run = testing::run(Purpose::Main).left("/tmp/tmp.a", None);
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("/tmp/tmp.a (1234 bytes, made by mktemp)"));
    }

    #[test]
    fn where_the_count_was_cut_it_says_at_least() {
        let mut run = testing::run(Purpose::Main).left("/tmp/a", None);
        let told = |run: &Run| judge(&testing::evidence_of([run.clone()])).summary;
        assert!(told(&run).starts_with("a file remains after quit"), "{}", told(&run));
        run = run.refused(Resource::Unrecorded(RecordPart::LeftFiles));
        assert!(told(&run).starts_with("at least one file remains after quit"), "{}", told(&run));
        run = run.left("/tmp/b", None);
        assert!(told(&run).starts_with("at least 2 files remain after quit"), "{}", told(&run));
    }

    #[test]
    fn a_cleaner_that_the_entry_killed_is_told() {
        let mut run = testing::run(Purpose::Main)
            .started(Some(0), "sleep", ProgramClass::Tolerated)
            .left("/tmp/tmp.a", None);
        assert!(judge(&testing::evidence_of([run.clone()])).help.contains("rm $T"));
        run.execs[1].exit = Some(ExitHow::Signal(9));
        let finding = judge(&testing::evidence_of([run]));
        assert!(finding.help.starts_with("let the engine end by exit"), "{}", finding.help);
    }

    #[test]
    fn under_strict_no_refused_command_is_advised() {
        let run = testing::run(Purpose::Main).left("/tmp/tmp.a", None);
        let mut evidence = testing::evidence_of([run]);
        assert!(judge(&evidence).help.contains("rm $T"));
        evidence.strict = true;
        assert!(!judge(&evidence).help.contains("rm "));
    }

    #[test]
    fn of_compiled_modules_the_switch_is_told() {
        let run = testing::run(Purpose::Main).left("/work/__pycache__/a.cpython-311.pyc", None);
        assert!(judge(&testing::evidence_of([run])).help.contains("python3 -B"));
    }

    #[test]
    fn one_path_that_several_processes_left_is_one_file() {
        let file = |size| LeftFile {
            path: "/tmp/zz".into(),
            size: Bytes(size),
            kind: "file".into(),
            made_by: None,
            exempt: None,
        };
        let left = [1, 5, 2]
            .map(|size| LeftByProcess { files: vec![file(size)], ..LeftByProcess::default() });
        let Some(LeftByGames::Some { count, each }) = after_games(&left, &Limits::default()) else {
            panic!("nothing is told")
        };
        assert_eq!((count.as_str(), each.len()), ("1 file remains after its games", 1));
        assert_eq!(each, ["/tmp/zz (5 bytes)"]);
    }

    #[test]
    fn after_a_kill_it_is_advice() {
        let mut run = testing::run(Purpose::KilledMidway).left("/tmp/tmp.a", None);
        run.ending.how = EndHow::Killed;
        run.asks.pop();
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.summary.contains("killed in the middle"));
        assert_eq!(finding.help, "", "nobody can do anything against a kill");
    }

    /// A stub with `<()` ends by its syntax under dash, after it has made its file.
    #[test]
    fn what_remains_under_the_other_shell_is_told_first() {
        let mut run = testing::run(Purpose::OtherShell).left("/tmp/tmp.a", None);
        run.shell = Shell::Dash;
        run.ending.how = EndHow::ByItself;
        run.asks.truncate(0);
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), run]));
        assert_eq!(finding.status, Status::Advice);
        let expected =
            "1 file remained of the run by the other shell (dash as /bin/sh): /tmp/tmp.a";
        assert!(finding.summary.starts_with(expected), "{}", finding.summary);
    }

    #[test]
    fn caches_are_told_apart() {
        let run = testing::run(Purpose::Main).left("/home/.cache/x", Some("~/.cache/*"));
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Pass);
        assert!(finding.details[0].starts_with("not counted: /home/.cache/x"));
    }

    #[test]
    fn what_still_runs_at_the_grace_limit_had_its_chance() {
        let run = testing::run(Purpose::Main).left("/tmp/tmp.a", None).still_runs("sleep 60", 'S');
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.help.contains("10.0 s after quit"));
    }

    #[test]
    fn nothing_can_be_said_where_nothing_ended_by_quit() {
        let run = testing::run(Purpose::Main).died(ExitHow::Status(1));
        let finding = judge(&testing::evidence_of([run.clone()]));
        assert_eq!(finding.status, Status::Skipped);
        let mut run = run.left("/tmp/a", None);
        run.purpose = Purpose::KilledMidway;
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Advice);
    }
}
