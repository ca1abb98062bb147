use super::*;
use crate::judge::support::testing;
use crate::judge::support::testing::TestList;
use crate::model::evidence::{Denial, ExitHow, Purpose};

fn of(run: Run) -> Finding {
    judge(&testing::evidence_of([run]), &TestList)
}

#[test]
fn classes_are_counted_and_lineages_told() {
    let run = testing::run(Purpose::Main).started(Some(0), "cc", ProgramClass::Listed).started(
        Some(1),
        "cc1",
        ProgramClass::Helper,
    );
    let finding = of(run);
    assert_eq!(finding.status, Status::Pass);
    assert_eq!(finding.summary, "cc (listed); cc1 (helpers)");
    assert!(finding.details.contains(&"entry > cc > cc1 (helpers)".to_owned()));
}

#[test]
fn a_refused_program_is_named_with_its_real_path_and_asker() {
    let mut run = testing::run(Purpose::Main)
        .started(Some(0), "cat", ProgramClass::Refused)
        .outcome(ExecOutcome::Denied);
    run.execs[1].asked = "/tmp/xz".into();
    run.execs[1].real = Some("/usr/bin/cat".into());
    let finding = of(run);
    assert_eq!(finding.status, Status::Fail);
    assert_eq!(
        finding.summary,
        "entry started /tmp/xz (really /usr/bin/cat), which is not in rule 7.5; it was refused"
    );
}

#[test]
fn tolerated_is_advice_and_under_strict_a_failure() {
    let run = testing::run(Purpose::Main).started(Some(0), "rm", ProgramClass::Tolerated);
    let mut evidence = testing::evidence_of([run]);
    let finding = judge(&evidence, &TestList);
    assert_eq!(finding.status, Status::Advice);
    assert!(finding.details[0].contains("the rules' own example"));
    evidence.strict = true;
    let finding = judge(&evidence, &TestList);
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains("--strict refuses it"));
}

#[test]
fn a_tolerated_program_in_a_first_line_is_told_as_well() {
    let mut run = testing::run(Purpose::Main).started(Some(0), "python3", ProgramClass::Listed);
    assert_eq!(of(run.clone()).status, Status::Pass);
    run.execs[0].asked = "/entry/engine".into();
    run.execs[0].real = Some("/usr/bin/rm".into());
    let finding = of(run);
    assert_eq!(finding.status, Status::Advice);
    assert_eq!(finding.summary, "python3 (listed); rm (tolerated)");
    assert!(finding.details[0].starts_with("rm is not in rule 7.5"), "{:?}", finding.details);
}

#[test]
fn a_search_along_path_accuses_nobody() {
    let run = testing::run(Purpose::Main)
        .started(Some(0), "xz", ProgramClass::Listed)
        .outcome(ExecOutcome::NotFound)
        .started(Some(0), "xz", ProgramClass::Listed);
    assert_eq!(of(run).status, Status::Pass);
}

#[test]
fn a_version_of_an_interpreter_that_is_absent_is_no_forbidden_command() {
    let of_start = |name: &str| of(testing::run(Purpose::Main).not_up().looked_for(name)).status;
    assert_eq!(of_start("python3.12"), Status::Pass);
    assert_eq!(of_start("tail-5"), Status::Fail);
}

#[test]
fn an_absent_forbidden_command_is_advice_unless_attempted_or_fatal() {
    let works = testing::run(Purpose::Main).looked_for("curl");
    let finding = of(works.clone());
    assert_eq!(finding.status, Status::Advice);
    assert!(finding.summary.contains("it looked for curl"));
    let attempted = works.clone().stderr("e: 2: curl: not found");
    assert_eq!(of(attempted).status, Status::Fail);
    let tried =
        works.started(Some(0), "curl", ProgramClass::Refused).outcome(ExecOutcome::NotFound);
    assert_eq!(of(tried).status, Status::Fail);
    let failed = testing::run(Purpose::Main).died(ExitHow::Status(127)).looked_for("curl");
    assert_eq!(of(failed).status, Status::Fail);
}

#[test]
fn a_payload_run_as_commands_after_the_end_is_noise() {
    let run = testing::run(Purpose::Main).stderr("e: 6: qZ: not found");
    assert_eq!(of(run).status, Status::Pass);
}

#[test]
fn a_listed_command_that_is_missing_here_is_no_accusation() {
    let run = testing::run(Purpose::Main).looked_for("pypy3");
    assert_eq!(of(run).status, Status::Pass);
}

#[test]
fn a_forbidden_interpreter_is_named() {
    let mut run = testing::run(Purpose::Main).died(ExitHow::Status(126));
    run.execs = vec![testing::exec(None, "awk", ProgramClass::Refused)];
    run.execs[0].outcome = ExecOutcome::Denied;
    let finding = of(run);
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.starts_with("the entry is to be run by /usr/bin/awk"));
}

#[test]
fn a_socket_is_advice() {
    let mut run = testing::run(Purpose::Main);
    run.denials.push(Denial { by: Some(0), what: "socket(AF_INET, SOCK_STREAM)".into(), count: 1 });
    let finding = of(run);
    assert_eq!(finding.status, Status::Advice);
    assert!(finding.summary.contains("AF_INET"));
}

#[test]
fn reading_a_forbidden_program_is_told() {
    let run = testing::run(Purpose::Main).opened("/usr/bin/sed", true);
    let finding = of(run);
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains("wanted to read /usr/bin/sed"));
}

#[test]
fn a_helper_that_is_read_to_be_copied_is_told() {
    let finding = of(testing::run(Purpose::Main).opened("/usr/bin/touch", false));
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains("read /usr/bin/touch, a compiler's helper"));
    // A command, and a helper that is a script, which its shell opens.
    let mut run = testing::run(Purpose::Main).opened("/usr/bin/xz", false);
    assert_eq!(of(run.clone()).status, Status::Pass);
    run = run.started(Some(0), "mv", ProgramClass::Helper).opened("/usr/bin/mv", false);
    run.opens[1].by = Some(1);
    assert_eq!(of(run.clone()).status, Status::Pass);
    // The path by which a program was asked for can be another one by the time the kernel looks.
    run = run.started(Some(0), "touch", ProgramClass::OwnProduct).opened("/usr/bin/touch", false);
    run.opens[2].by = Some(2);
    assert_eq!(of(run).status, Status::Fail);
}

#[test]
fn a_program_beside_a_compilers_helpers_that_is_read_to_be_copied_is_told() {
    let path = "/usr/lib/gcc/12/mapper-server";
    let finding = of(testing::run(Purpose::Main).opened(path, false));
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.contains(&format!("read {path}, a program that is not in rule 7.5")));
    // One that is not there, or was refused, was not read.
    assert_ne!(of(testing::run(Purpose::Main).opened(path, true)).status, Status::Fail);
}

#[test]
fn an_own_file_without_its_execute_bit_is_no_accusation_and_memory_is() {
    let mut run = testing::run(Purpose::Main)
        .started(Some(0), "tmp.a", ProgramClass::OwnProduct)
        .outcome(ExecOutcome::Denied);
    run.execs[1].asked = "/tmp/tmp.a".into();
    run.execs[1].real = None;
    assert_eq!(of(run.clone()).status, Status::Pass);
    run.execs[1].asked = "/proc/self/fd/3".into();
    assert_eq!(of(run).status, Status::Fail);
}

/// A run of which the engine did not come up, beside a measured one that did.
fn beside_a_good_one(aside: Run) -> Finding {
    judge(&testing::evidence_of([testing::run(Purpose::Main), aside]), &TestList)
}

#[test]
fn a_fallback_that_only_a_failed_start_at_a_blank_tries_is_advice() {
    let strip = |run: Run| {
        run.started(Some(0), "strip", ProgramClass::Refused).outcome(ExecOutcome::Denied)
    };
    let failed = || testing::run(Purpose::BlankPath).died(ExitHow::Status(1));
    let finding = beside_a_good_one(strip(failed()));
    assert_eq!(finding.status, Status::Advice);
    assert!(finding.summary.contains("entry started /usr/bin/strip"), "{}", finding.summary);
    assert!(finding.help.starts_with("optional: "), "{}", finding.help);
    // So is a name that is not installed, by what its shell says, and a file.
    let finding =
        beside_a_good_one(failed().stderr("e: 3: go: not found").opened("/usr/bin/sed", true));
    assert_eq!(finding.status, Status::Advice);
    assert!(finding.details.iter().any(|line| line.contains("it wanted go")), "{finding:?}");
    // All that it needs to come up there, and all that any other run shows, counts.
    let finding = beside_a_good_one(strip(testing::run(Purpose::BlankPath)));
    assert_eq!(finding.status, Status::Fail);
    assert_eq!(
        beside_a_good_one(strip(Run { purpose: Purpose::BareGo, ..failed() })).status,
        Status::Fail
    );
    let both = [strip(testing::run(Purpose::Main)), strip(failed())];
    assert_eq!(judge(&testing::evidence_of(both), &TestList).status, Status::Fail);
    // Without an engine nothing is aside.
    let none = [testing::run(Purpose::Main).died(ExitHow::Status(1)), strip(failed())];
    assert_eq!(judge(&testing::evidence_of(none), &TestList).status, Status::Fail);
}

#[test]
fn a_payload_that_the_other_shell_runs_as_commands_is_noise_and_a_start_is_none() {
    let failed = || testing::run(Purpose::OtherShell).died(ExitHow::Status(127));
    let finding = beside_a_good_one(failed().stderr("e: line 6: qZ: command not found"));
    assert_eq!(finding.status, Status::Advice);
    assert!(finding.summary.contains("it wanted qZ"), "{}", finding.summary);
    let asked =
        failed().started(Some(0), "sed", ProgramClass::Refused).outcome(ExecOutcome::Denied);
    assert_eq!(beside_a_good_one(asked).status, Status::Fail);
}
