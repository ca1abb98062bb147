//! Rule 7.4: from exec to `uciok` and on to the first `readyok` within 60 seconds.

use super::{CausedByLoad, InGames, JudgedRule, Needed};
use crate::judge::support::allowed::Allowed;
use crate::judge::support::{excuse, host_lacks, runs, start_failure, wording};
use std::time::Duration;

use serde_json::{Value, json};

use crate::model::evidence::{EndHow, Evidence, Exec, ExecOutcome, Purpose, Question, Run, Shell};
use crate::model::layer_status::LayerName;
use crate::model::rule::RuleId;
use crate::model::text::in_millis;
use crate::model::verdict::Finding;
use crate::model::words;

const RULE: RuleId = RuleId::Startup;

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    id: RULE,
    evidence: Needed::Runs,
    load: CausedByLoad::Possibly,
    leans_on: &[LayerName::Rlimits],
    rests_on: &[],
    before_games: true,
    in_games: InGames::Nothing,
    judge: |case| judge(case.evidence, case.allowed),
};

/// Judges the start of the measured run, and whether other starts came up as well.
fn judge(evidence: &Evidence, policy: &dyn Allowed) -> Finding {
    let Some(run) = runs::measured(evidence) else {
        return Finding::undecided(RULE, "the entry was not started")
            .help("run `gate4k doctor`: a sandbox that cannot be built is no fault of the entry");
    };
    let limit = evidence.limits.startup;
    let finding = match (run.uciok, run.readyok) {
        (Some(uciok), Some(readyok)) if readyok <= limit => up(evidence, run, uciok, readyok),
        (Some(uciok), Some(readyok)) => late(run, uciok, readyok, limit),
        _ => down(evidence, run, policy),
    };
    let finding = finding
        .with("uciok_ms", run.uciok.map(in_millis))
        .with("readyok_ms", run.readyok.map(in_millis))
        .with("limit_ms", in_millis(limit))
        .with("programs", programs(run));
    lazy(finding, run)
}

/// Says where the run was helped by `--lazy-memory`, and what was asked for.
fn lazy(mut finding: Finding, run: &Run) -> Finding {
    if run.lazy_maps.is_empty() {
        return finding;
    }
    let sizes: Vec<String> = run.lazy_maps.iter().map(|size| size.human()).collect();
    finding.details.push(format!(
        "--lazy-memory: mappings of {} were made without reserving memory for them",
        words::some(&sizes, 4)
    ));
    finding.with("lazy_maps", &run.lazy_maps)
}

/// The finding on a start in time; trouble elsewhere is advice, unless it ends by itself at some starts and at others not.
fn up(evidence: &Evidence, run: &Run, uciok: Duration, readyok: Duration) -> Finding {
    let base = format!(
        "uciok after {}, readyok after {} (limit {})",
        wording::secs(uciok),
        wording::secs(readyok),
        wording::secs(evidence.limits.startup)
    );
    let remarks = remarks(evidence, run);
    let ends_by_chance = failed_later(evidence, run)
        .any(|run| run.ending.how == EndHow::ByItself && run.refusals.is_empty());
    let mut finding = match remarks.first() {
        None => Finding::pass(RULE, base),
        Some((first, help)) if ends_by_chance => {
            Finding::undecided(RULE, format!("{base}; {first}")).help(help)
        }
        Some((first, help)) => Finding::advice(RULE, format!("{base}; {first}")).help(help),
    };
    finding.details.extend(remarks.into_iter().skip(1).map(|(what, _)| what));
    finding.details(where_time_went(run))
}

/// Remarks on a good start, each with its next step.
fn remarks(evidence: &Evidence, run: &Run) -> Vec<(String, String)> {
    let mut remarks = Vec::new();
    let can = &evidence.capabilities;
    let made_up = evidence.main().is_some_and(|main| !std::ptr::eq(main, run));
    if made_up || can.dash == Some(false) || can.bash == Some(false) {
        let (works, fails) = match (run.shell, can.dash, can.bash) {
            (Shell::Bash, ..) | (_, Some(false), _) => ("bash", "dash"),
            (Shell::Dash, ..) | (_, _, Some(false)) => ("dash", "bash"),
            _ => ("one shell", "this host's own"),
        };
        let help = if works == "bash" {
            "write #!/bin/bash in the first line, or keep to what POSIX sh knows: no <(…), no $'…', no [[ ]]"
        } else {
            "keep to what POSIX sh knows, so that it starts wherever /bin/sh leads"
        };
        remarks.push((
            format!("it starts where /bin/sh is {works} and not where it is {fails}"),
            help.to_owned(),
        ));
    }
    if can.blank_path == Some(false) {
        remarks.push((
            "it does not start at a path with a blank".to_owned(),
            // The event names the path, and the stubs of the rules themselves have `$0` without quotes.
            String::new(),
        ));
    }
    if let Some(refusal) = excuse::refused(&run.refusals, &evidence.host) {
        remarks.push((format!("{}, and it did without", refusal.why), refusal.help));
    }
    let again: Vec<&Run> = failed_later(evidence, run).collect();
    if let Some(other) = again.first() {
        let remark = format!(
            "{} of its later starts did not come up ({}: {})",
            again.len(),
            runs::purpose(other),
            runs::how_it_ended(other).unwrap_or_else(|| "no answer".to_owned())
        );
        let help = "start it fifty times, and several at once: find what differs between a start that fails and one that does not, such as a \
                    fixed path or a time that it waits for";
        remarks.insert(0, (remark, help.to_owned()));
    }
    remarks
}

/// The starts of the runs that count, after the measured one, that did not come up.
fn failed_later<'a>(evidence: &'a Evidence, run: &'a Run) -> impl Iterator<Item = &'a Run> {
    runs::gate_runs(evidence).filter(move |other| {
        !std::ptr::eq(*other, run) && !runs::is_up(other) && !failed_at_option(other)
    })
}

/// True if it answered `uci` and failed at the `isready` after an option: that is no matter of its start.
fn failed_at_option(run: &Run) -> bool {
    let trouble = runs::first_trouble(run).and_then(|at| run.asks.get(at));
    run.uciok.is_some()
        && trouble.is_some_and(|ask| ask.question == Question::IsReady && ask.set.is_some())
}

/// The finding on a start that came too late.
fn late(run: &Run, uciok: Duration, readyok: Duration, limit: Duration) -> Finding {
    Finding::fail(
        RULE,
        format!(
            "uciok after {}, readyok after {}: {} over the limit of {}",
            wording::secs(uciok),
            wording::secs(readyok),
            wording::secs(readyok.saturating_sub(limit)),
            wording::secs(limit)
        ),
    )
    .details(where_time_went(run))
    .help("make the start cheaper: fewer optimisations (-O1), a faster packer, tables filled on demand")
}

/// The finding on a start that failed.
fn down(evidence: &Evidence, run: &Run, policy: &dyn Allowed) -> Finding {
    let cause = start_failure::of(run, &evidence.limits, policy);
    if let Some(own) = evidence.of(Purpose::OwnName).find(|own| runs::is_up(own)) {
        return Finding::fail(
            RULE,
            format!("under a neutral file name it did not start: {}", cause.what),
        )
        .details(cause.details)
        .with("own_name_works", own.readyok.map(in_millis))
        .help("let it start under any file name (see file-name)");
    }
    let finding = Finding::fail(RULE, format!("it did not start: {}", cause.what))
        .details(cause.details)
        .details(where_time_went(run))
        .with("launch_failure", &run.launch_failure)
        .with("exit", run.ending.exit)
        .with("stderr", &run.stderr_tail)
        .help(cause.help);
    // A command or file that the sandbox refused is the entry's own doing, whatever the host lacks.
    let guilty = run.execs.iter().any(super::commands::is_denied);
    excuse::excused(
        finding,
        (!guilty).then(|| host_lacks::not_up(run, &evidence.host, policy)).flatten(),
    )
}

/// The programs that ran longest before `readyok`, the longest first, each with its number.
fn longest(run: &Run) -> Vec<(usize, &Exec)> {
    let end = run.readyok.unwrap_or(Duration::MAX);
    let is_of_start = |exec: &Exec| exec.outcome == ExecOutcome::Ran && exec.at <= end;
    let all = run.execs.iter().enumerate();
    let mut ran: Vec<(usize, &Exec)> = all.filter(|(_, exec)| is_of_start(exec)).collect();
    // A program that still ran at the end (the engine itself, a waiting `sleep`) comes last: it cost no start.
    ran.sort_by_key(|(index, exec)| {
        (exec.lasted.is_none(), std::cmp::Reverse(exec.lasted), *index)
    });
    ran
}

/// The parts of the start's time, for people.
fn where_time_went(run: &Run) -> Vec<String> {
    let line = |(index, exec): (usize, &Exec)| {
        let how_long = match exec.lasted {
            Some(lasted) => format!("ran {}", wording::secs(lasted)),
            None => "ran on".to_owned(),
        };
        let (lineage, from) = (runs::lineage(run, Some(index)), wording::secs(exec.at));
        format!("{lineage} {how_long}, from {from}")
    };
    longest(run).into_iter().take(8).map(line).collect()
}

/// Where the time went, for programs.
fn programs(run: &Run) -> Value {
    let program = |(_, exec): (usize, &Exec)| {
        json!({
            "name": exec.name,
            "at_ms": in_millis(exec.at),
            "lasted_ms": exec.lasted.map(in_millis),
        })
    };
    longest(run).into_iter().take(16).map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::judge::support::testing::{TestList, ms};
    use crate::model::evidence::{
        Answer, Denial, ExitHow, FileAccess, LaunchFailure, ProgramClass, Resource,
    };
    use crate::model::units::Bytes;
    use crate::model::verdict::Status;

    fn of(run: Run) -> Finding {
        judge(&testing::evidence_of([run]), &TestList)
    }

    #[test]
    fn both_times_and_the_programs_are_told() {
        let run = testing::run(Purpose::Main).started(Some(0), "cc", ProgramClass::Listed);
        let finding = of(run);
        assert_eq!(finding.status, Status::Pass);
        assert!(finding.summary.contains("uciok after 0.50 s, readyok after 0.51 s"));
        assert!(finding.details.iter().any(|line| line.contains("cc ran 20 ms")));
        assert_eq!(finding.evidence["readyok_ms"], 510.0);
    }

    #[test]
    fn late_is_a_failure_with_the_overrun() {
        let mut run = testing::run(Purpose::Main);
        run.readyok = Some(ms(61_500));
        let finding = of(run);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("1.50 s over the limit of 60.0 s"));
    }

    #[test]
    fn a_carriage_return_is_named() {
        let mut run = testing::run(Purpose::Main).not_up();
        run.launch_failure = Some(LaunchFailure {
            errno: 2,
            what: "its interpreter is `/usr/bin/python3\\r`".into(),
        });
        let finding = of(run);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("ENOENT"));
        assert!(finding.help.contains("LF alone"));
    }

    #[test]
    fn an_exit_is_told_as_a_shells_where_one_read_the_entry() {
        let told = |real: &str| {
            let mut run = testing::run(Purpose::Main).died(ExitHow::Status(127));
            run.execs[0].name = "entry".into();
            run.execs[0].real = Some(real.into());
            of(run).summary
        };
        let dash = told("/usr/bin/dash");
        assert!(dash.contains("127 (a shell's: command not found)"), "{dash}");
        let elf = told("/entry/5e4a36c4");
        assert!(elf.contains("127") && !elf.contains("a shell's"), "{elf}");
    }

    #[test]
    fn a_file_of_the_stub_that_ends_in_a_carriage_return_is_named() {
        let run = testing::run(Purpose::Main).died(ExitHow::Status(0)).left("/tmp/tmp.a\\r", None);
        let finding = of(run);
        let words = "where `/tmp/tmp.a\\r` ends in a carriage return";
        assert!(finding.summary.contains(words), "{}", finding.summary);
        assert!(finding.help.contains("with LF alone"), "{}", finding.help);
    }

    #[test]
    fn a_death_names_status_and_stderr() {
        let run =
            testing::run(Purpose::Main).died(ExitHow::Status(127)).stderr("e: 2: curl: not found");
        let finding = of(run);
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("exit status 127"));
        assert!(finding.summary.contains("looked for curl"));
        assert!(finding.details.iter().any(|line| line.contains("curl: not found")));
    }

    #[test]
    fn a_write_into_the_system_is_told_with_where_to_write() {
        let mut run =
            testing::run(Purpose::Main).died(ExitHow::Status(127)).opened("/opt/.x2", true);
        run.opens[0].access = FileAccess::Write;
        let finding = of(run);
        assert!(
            finding.summary.ends_with("after entry was refused to write /opt/.x2"),
            "{}",
            finding.summary
        );
        assert!(finding.help.starts_with("write to a file that `mktemp` makes"));
    }

    #[test]
    fn a_file_of_its_own_that_it_may_not_write_has_the_wrong_mode() {
        let path = "/tmp/tmp.mcVs6JR85X";
        let run = testing::run(Purpose::Main).died(ExitHow::Status(126)).opened(path, true);
        let mut run = run.stderr(&format!("/usr/bin/ld: cannot open output file {path}"));
        run.opens[0].access = FileAccess::Write;
        assert!(run.opens[0].own);
        let finding = of(run);
        assert!(finding.summary.ends_with(&format!("refused to write {path}")), "{finding:?}");
        assert!(finding.help.contains("chmod 600"), "{}", finding.help);
        assert!(!finding.help.contains("write to a file"), "{}", finding.help);
    }

    #[test]
    fn an_option_that_ends_the_start_is_in_its_next_step() {
        let mut run = testing::run(Purpose::Main);
        run.readyok = None;
        run.asks.truncate(2);
        run.ending.exit = Some(ExitHow::Status(1));
        run.asks[1].set = Some("setoption name Threads value 2".into());
        run.asks[1].answer = Answer::Ended(Some(ExitHow::Status(1)));
        let help = of(run).help;
        assert!(
            help.contains("send `uci`, `setoption name Threads value 2` and `isready`"),
            "{help}"
        );
    }

    /// A stub that lets the compiler write where nothing may be written: the compiler complains, and the path is the fault.
    #[test]
    fn a_compiler_that_may_not_write_its_output_is_told_so() {
        let mut run = testing::run(Purpose::Main)
            .died(ExitHow::Status(127))
            .started(Some(0), "cc", ProgramClass::Listed)
            .stderr("/usr/bin/ld: cannot open output file /srv/1.o: Permission denied")
            .opened("/srv/1.o", true);
        run.execs[1].exit = Some(ExitHow::Status(1));
        run.opens[0].access = FileAccess::Write;
        let finding = of(run);
        assert!(finding.summary.contains("was refused to write /srv/1.o"), "{}", finding.summary);
        assert!(finding.help.contains("T=`mktemp`"), "{}", finding.help);
    }

    /// A file that a missing command was to fill has no execute bit either.
    #[test]
    fn a_compiler_that_is_not_there_goes_before_its_output_that_cannot_be_executed() {
        for (name, step) in [("gcc-77", "do without gcc-77"), ("pypy3", "install pypy3")] {
            let mut run = testing::run(Purpose::Main)
                .died(ExitHow::Status(126))
                .started(Some(0), "tmp.x", ProgramClass::OwnProduct)
                .stderr(&format!("/entry/1: 3: {name}: not found"));
            run.execs[1].outcome = ExecOutcome::Denied;
            run.execs[1].asked = "/tmp/tmp.x".into();
            let finding = of(run);
            assert!(finding.summary.contains(&format!("looked for {name}")), "{finding:?}");
            assert!(finding.help.starts_with(step), "{}", finding.help);
        }
    }

    #[test]
    fn a_sign_of_typography_in_a_command_is_named() {
        let mut given = testing::run(Purpose::Main).died(ExitHow::Status(127)).started(
            Some(0),
            "tail",
            ProgramClass::Listed,
        );
        given.execs[1].argv = vec!["tail".into(), "–n".into(), "+5".into()];
        given.execs[1].exit = Some(ExitHow::Status(1));
        let sought = testing::run(Purpose::Main)
            .died(ExitHow::Status(127))
            .stderr("/entry/1: 3: tail\u{a0}-n: not found");
        for (run, sign, plain) in
            [(given, "`–n` has – (U+2013)", "a plain -"), (sought, "(U+00A0)", "a plain blank")]
        {
            let finding = of(run);
            assert!(finding.summary.contains(sign), "{}", finding.summary);
            assert!(finding.help.contains(plain), "{}", finding.help);
        }
    }

    #[test]
    fn a_program_that_could_not_be_copied_is_told() {
        let finding =
            of(testing::run(Purpose::Main).died(ExitHow::Status(1)).opened("/usr/bin/curl", true));
        assert!(finding.summary.ends_with("refused to read /usr/bin/curl"), "{}", finding.summary);
        assert!(finding.help.starts_with("do without /usr/bin/curl"), "{}", finding.help);
    }

    #[test]
    fn a_file_of_the_host_that_it_was_refused_to_read_is_told() {
        let run = testing::run(Purpose::Main).died(ExitHow::Status(1));
        let finding = of(run.opened("/etc/hostname", true));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.ends_with("was refused to read /etc/hostname"), "{finding:?}");
        assert!(finding.help.starts_with("do without /etc/hostname"), "{}", finding.help);
    }

    #[test]
    fn a_refused_call_is_told_once_where_nothing_else_explains_the_end() {
        let mut run = testing::run(Purpose::Main).died(ExitHow::Status(1));
        run.denials.push(Denial {
            by: Some(0),
            what: "socket(AF_INET, SOCK_STREAM)".into(),
            count: 1,
        });
        let finding = of(run);
        let (before, refused) =
            finding.summary.split_once("refused it socket(").unwrap_or_default();
        assert!(before.contains("exit status 1") && refused.ends_with(", which no rule forbids"));
        assert!(!refused.contains("socket("), "{}", finding.summary);
        assert!(finding.help.starts_with("do without socket("), "{}", finding.help);
    }

    #[test]
    fn each_kind_of_silence_has_its_words() {
        for (answer, words) in [
            (Answer::Timeout, "no `uciok` within 60.0 s"),
            (Answer::Ended(None), "closed its standard output"),
            (Answer::Flood(Bytes(1 << 20)), "wrote 1048576 bytes"),
            (Answer::NotTaken, "did not read its input"),
            (Answer::OnlyAtEnd, "it keeps what it writes"),
        ] {
            let mut run = testing::run(Purpose::Main).not_up();
            run.asks[0].answer = answer;
            let finding = of(run);
            assert_eq!(finding.status, Status::Fail);
            assert!(finding.summary.contains(words), "{}", finding.summary);
        }
        let stopped = testing::run(Purpose::Main).not_up().stopped("/w/e");
        assert!(of(stopped).summary.contains("stopped itself"));
    }

    #[test]
    fn what_the_host_lacks_leaves_it_open() {
        let small = testing::run(Purpose::Main)
            .died(ExitHow::Signal(11))
            .refused(Resource::Memory(Bytes(256 << 30)));
        let finding = of(small);
        assert_eq!(finding.status, Status::Undecided);
        assert!(finding.summary.contains("SIGSEGV"));
        let pypy = testing::run(Purpose::Main).died(ExitHow::Status(127)).looked_for("pypy3");
        assert_eq!(of(pypy).status, Status::Undecided);
        let numpy = testing::run(Purpose::Main)
            .died(ExitHow::Status(1))
            .stderr("ModuleNotFoundError: No module named 'numpy'");
        // By a shell that has started no Python.
        assert_eq!(of(numpy.clone()).status, Status::Fail);
        let numpy = numpy.started(Some(0), "python3", ProgramClass::Listed);
        assert_eq!(of(numpy).status, Status::Undecided);
    }

    #[test]
    fn lazy_memory_is_told_with_what_was_asked_for() {
        let mut run = testing::run(Purpose::Main);
        run.lazy_maps = vec![Bytes(256 << 30)];
        let finding = of(run);
        assert_eq!(finding.status, Status::Pass);
        assert_eq!(finding.evidence["lazy_maps"], serde_json::json!([256u64 << 30]));
        assert!(finding.details.iter().any(|line| line.contains("256 GiB")), "{finding:?}");
    }

    #[test]
    fn a_forgotten_chmod_is_named() {
        let mut run = testing::run(Purpose::Main)
            .died(ExitHow::Status(126))
            .started(Some(0), "tmp.a", ProgramClass::OwnProduct)
            .outcome(ExecOutcome::Denied);
        run.execs[1].asked = "/tmp/tmp.a".into();
        run.execs[1].real = None;
        let finding = of(run);
        assert!(finding.summary.contains("/tmp/tmp.a was not executable"));
        assert!(finding.help.contains("chmod +x"));
    }

    #[test]
    fn a_file_that_nobody_filled_is_no_forgotten_chmod() {
        let mut run = testing::run(Purpose::Main)
            .died(ExitHow::Status(126))
            .started(Some(0), "xz", ProgramClass::Listed)
            .started(Some(0), "cc", ProgramClass::Listed)
            .started(Some(0), "tmp.a", ProgramClass::OwnProduct)
            .outcome(ExecOutcome::Denied)
            .stderr("<stdin>:1:1: error: expected identifier");
        run.execs[2].exit = Some(ExitHow::Status(1));
        run.execs[3].asked = "/tmp/tmp.a".into();
        let finding = of(run.clone());
        let cause =
            "after entry > cc ended with exit status 1: `<stdin>:1:1: error: expected identifier`";
        assert!(finding.summary.ends_with(cause), "{}", finding.summary);
        assert!(finding.help.contains("does with cc"), "{}", finding.help);
        // A compiler that is given nothing fails as well.
        run.execs[1].exit = Some(ExitHow::Status(1));
        run.stderr_tail.push("xz: (stdin): File format not recognized".into());
        let finding = of(run.clone());
        let cause =
            "after entry > xz ended with exit status 1: `xz: (stdin): File format not recognized`";
        assert!(finding.summary.ends_with(cause), "{}", finding.summary);
        assert!(finding.help.contains("where the stub cuts it"), "{}", finding.help);
        // So does whatever unpacks nothing.
        let mut run = run
            .started(Some(0), "tail", ProgramClass::Listed)
            .stderr("tail: cannot open '/work/engine' for reading: No such file or directory");
        run.execs[4].exit = Some(ExitHow::Status(1));
        let finding = of(run);
        assert!(finding.summary.contains("tail ended with exit status 1: `tail: cannot open"));
        assert!(finding.help.contains("\"$0\""), "{}", finding.help);
    }

    #[test]
    fn the_other_shell_makes_it_advice() {
        let failed = testing::run(Purpose::Main).died(ExitHow::Status(2));
        let mut bash = testing::run(Purpose::OtherShell);
        bash.shell = Shell::Bash;
        let finding = judge(&testing::evidence_of([failed, bash]), &TestList);
        assert_eq!(finding.status, Status::Advice);
        assert!(finding.summary.contains("where /bin/sh is bash and not where it is dash"));
    }

    #[test]
    fn a_later_start_that_ends_leaves_it_open_but_for_one_that_dies_of_an_option() {
        let judged = |set: Option<&str>| {
            let mut run = testing::run(Purpose::Idle);
            run.readyok = None;
            run.asks.truncate(2);
            run.asks[1].answer = Answer::Ended(Some(ExitHow::Status(1)));
            run.asks[1].set = set.map(str::to_owned);
            run.ending.how = EndHow::ByItself;
            let evidence = testing::evidence_of([testing::run(Purpose::Main), run]);
            judge(&evidence, &TestList)
        };
        let summary = |set| judged(set).summary;
        assert_eq!(judged(None).status, Status::Undecided);
        assert!(summary(None).contains("later starts"), "{}", summary(None));
        let of_option = summary(Some("setoption name Ponder value false"));
        assert!(!of_option.contains("later starts"), "{of_option}");
    }
}
