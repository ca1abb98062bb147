//! Programs, libraries and leftovers of games count as those of probes do: an entry that keeps a rule only where it thinks itself
//! judged has broken it.

use std::time::Duration;

use super::rules::{self, Case, InGames, LeftByGames, commands};
use super::support::allowed::Allowed;
use super::support::refused_access;
use super::support::runs::shown_run;
use crate::model::evidence::{
    Breach, Capabilities, EndHow, Evidence, GamesEvidence, HostFacts, LeftByProcess, Limits,
    PlayedGames, Run, RunEnding,
};
use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};
use crate::model::words;

/// Turns findings into failures where games broke the rule.
pub(crate) fn judge(findings: &mut [Finding], case: &Case<'_>) {
    let GamesEvidence::Played(played) = &case.evidence.games else { return };
    let of_games = as_runs(case.evidence, played);
    for known in findings.iter_mut().filter(|known| !is_settled(known)) {
        let Some(rule) = rules::judged(known.rule) else { continue };
        match rule.in_games {
            InGames::Nothing => {}
            InGames::LikeRuns => {
                let Some(evidence) = &of_games else { continue };
                let found = rule.finding(&Case { evidence, ..*case });
                if found.status == Status::Fail {
                    *known =
                        Finding { summary: format!("in its games, {}", found.summary), ..found };
                }
            }
            InGames::Left(after_games) => {
                if let Some(left) = after_games(&played.left, &case.evidence.limits) {
                    leave(known, &left);
                }
            }
        }
    }
    if let Some(of_games) = &of_games {
        tell_refusals(findings, case.evidence, of_games);
    }
}

/// Tells what the sandbox refused in games alone: an attempt is forbidden by no rule, but it is told.
fn tell_refusals(findings: &mut [Finding], evidence: &Evidence, of_games: &Evidence) {
    let known = refused_access::words(evidence);
    let mut new = refused_access::words(of_games);
    new.retain(|what| !known.contains(what));
    let commands = findings.iter_mut().find(|found| found.rule == RuleId::Commands);
    let Some(finding) = commands.filter(|found| found.status != Status::Fail && !new.is_empty())
    else {
        return;
    };
    if finding.status == Status::Pass {
        finding.status = Status::Advice;
    }
    let told = words::some(&new, 3);
    finding.summary = format!("{}; in its games the sandbox refused it {told}", finding.summary);
    finding
        .details
        .extend(new.iter().skip(3).take(9).map(|what| format!("refused in its games: {what}")));
    finding.evidence.insert("denials_in_games".into(), new.into());
}

/// True if games cannot change a finding: a rule that is broken already, or that the organisers waived, stays so.
fn is_settled(finding: &Finding) -> bool {
    finding.status == Status::Fail || finding.is_waived()
}

/// The processes that played as runs, each with the programs that it started and the files that it opened.
fn as_runs(evidence: &Evidence, played: &PlayedGames) -> Option<Evidence> {
    // A process that plays is started as the measured one is, and asked for no more than that was.
    let measured = shown_run(&evidence.runs)?;
    let run = |left: &LeftByProcess| Run {
        execs: left.execs.clone(),
        opens: left.opens.clone(),
        not_installed: left.not_installed.clone(),
        denials: left.denials.clone(),
        ..measured.clone()
    };
    Some(Evidence {
        runs: played.left.iter().map(run).collect(),
        capabilities: evidence.capabilities.clone(),
        games: GamesEvidence::NotYet,
        host: evidence.host.clone(),
        ..*evidence
    })
}

/// The rules that a process broke which played without a check: by what it started and loaded, as a check would find it.
pub(super) fn breaches(
    left: &LeftByProcess,
    host: &HostFacts,
    allowed: &dyn Allowed,
    strict: bool,
) -> Vec<Breach> {
    // It came up and played: what it wanted in vain it did not need.
    let run = Run {
        uciok: Some(Duration::ZERO),
        readyok: Some(Duration::ZERO),
        ending: RunEnding { how: EndHow::Quit, ..RunEnding::default() },
        execs: left.execs.clone(),
        opens: left.opens.clone(),
        not_installed: left.not_installed.clone(),
        denials: left.denials.clone(),
        ..Run::default()
    };
    let evidence = Evidence {
        runs: vec![run],
        capabilities: Capabilities::default(),
        games: GamesEvidence::NotYet,
        host: host.clone(),
        limits: Limits::default(),
        strict,
        quick: false,
    };
    let case = Case { evidence: &evidence, needed: &[], allowed, bytes: b"" };
    let as_runs = rules::JUDGED.iter().filter(|rule| matches!(rule.in_games, InGames::LikeRuns));
    let found = as_runs.map(|rule| rule.finding(&case));
    let broken = found.filter(|finding| finding.status == Status::Fail);
    let breach = |finding: Finding| {
        let program = left.execs.iter().find(|exec| commands::is_denied(exec)).map(|exec| exec.at);
        let opened = left.opens.iter().find(|open| finding.summary.contains(&*open.path));
        let opened = opened.map(|open| open.at);
        let at = if finding.rule == RuleId::Commands { program.or(opened) } else { opened };
        Breach { rule: finding.rule, what: finding.summary, at }
    };
    broken.map(breach).collect()
}

/// Turns a finding into a failure by what games left, or leaves it open.
fn leave(finding: &mut Finding, left: &LeftByGames) {
    let (count, each) = match left {
        LeftByGames::Some { count, each } => (count, each),
        LeftByGames::NotSeenToEnd(why) => {
            finding.status = Status::Undecided;
            finding.summary.clone_from(why);
            finding.help = "check again; let every process that the entry starts end by itself within seconds of quit"
                .into();
            return;
        }
    };
    finding.status = Status::Fail;
    finding.summary = format!("{count}: {}", words::some(each, 3));
    finding.help = "remove each file and end each process within seconds of quit, after games as after any other start"
        .into();
    finding.details.extend(each.iter().take(10).map(|one| format!("after its games: {one}")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::rules::judge_runs;
    use crate::judge::support::testing::{self, TestList, exec};
    use crate::model::evidence::{Denial, Departure, LeftFile, LeftProcess, ProgramClass, Purpose};
    use crate::model::units::Bytes;
    use crate::model::verdict::Verdict;

    #[test]
    fn a_process_that_played_without_a_check_is_told_what_it_broke() {
        let breaches =
            |left: &LeftByProcess| super::breaches(left, &testing::host(), &TestList, false);
        let mut left = LeftByProcess {
            execs: vec![exec(None, "sh", ProgramClass::Entry)],
            ..LeftByProcess::default()
        };
        assert_eq!(breaches(&left), []);
        let mut sed = exec(Some(0), "sed", ProgramClass::Refused);
        sed.at = Duration::from_secs(90);
        left.execs.push(sed);
        left.opens = testing::run(Purpose::Main).opened("/usr/lib/libfoo.so.1", false).opens;
        let [program, library] = &breaches(&left)[..] else { panic!("{:?}", breaches(&left)) };
        assert_eq!((program.rule, library.rule), (RuleId::Commands, RuleId::Libraries));
        assert!(program.what.contains("entry started /usr/bin/sed"), "{program:?}");
        assert_eq!(program.at, Some(Duration::from_secs(90)));
        assert!(library.what.contains("libfoo.so.1") && library.at.is_some(), "{library:?}");
    }

    const CHESS: &str = "/usr/lib/python3/dist-packages/chess/__init__.py";

    #[test]
    fn what_only_a_game_left_is_a_failure_with_its_name() {
        let file = |exempt: Option<&str>| LeftFile {
            path: "/tmp/book".into(),
            size: Bytes(9),
            kind: "file".into(),
            made_by: None,
            exempt: exempt.map(str::to_owned),
        };
        let daemon = LeftProcess { pid: 7, state: 'S', command: "daemon".into() };
        let with = |left: LeftByProcess| {
            let mut evidence = testing::evidence_of([testing::run(Purpose::Main)]);
            evidence.games = testing::games(Vec::new());
            if let GamesEvidence::Played(played) = &mut evidence.games {
                played.left = vec![left];
            }
            let case = Case { evidence: &evidence, needed: &[], allowed: &TestList, bytes: b"" };
            let mut findings = judge_runs(&case);
            judge(&mut findings, &case);
            findings
        };
        let summary = |findings: &[Finding], rule| {
            let found = findings.iter().find(|found| found.rule == rule).unwrap();
            (found.status, found.summary.clone())
        };
        let departure = Departure::NotEmptied;
        let some = LeftByProcess {
            departure,
            files: vec![file(None)],
            processes: vec![daemon],
            ..LeftByProcess::default()
        };
        let findings = with(some);
        assert_eq!(Verdict::of(&findings), Verdict::Rejected);
        let (status, words) = summary(&findings, RuleId::LeftoverFiles);
        assert!(status == Status::Fail && words.contains("/tmp/book"), "{words}");
        let (status, words) = summary(&findings, RuleId::LeftoverProcesses);
        assert!(status == Status::Fail && words.contains("daemon"), "{words}");
        // A system program's cache is nobody's fault.
        let findings = with(LeftByProcess {
            files: vec![file(Some("~/.cache/*"))],
            ..LeftByProcess::default()
        });
        assert_eq!(summary(&findings, RuleId::LeftoverFiles).0, Status::Pass);
        // A process that was not seen to end never passes, though nobody is named for it.
        let findings = with(LeftByProcess { departure, ..LeftByProcess::default() });
        assert_eq!(summary(&findings, RuleId::LeftoverProcesses).0, Status::Undecided);
        // One that was killed is not blamed for that, but for what it did.
        let denials = vec![Denial { by: Some(0), what: "mount".into(), count: 1 }];
        let findings = with(LeftByProcess { denials, ..LeftByProcess::default() });
        assert_eq!(summary(&findings, RuleId::LeftoverProcesses).0, Status::Pass);
        assert_eq!(summary(&findings, RuleId::LeftoverFiles).0, Status::Pass);
        let (status, words) = summary(&findings, RuleId::Commands);
        assert!(status == Status::Advice && words.contains("in its games the sandbox"), "{words}");
        // Programs and libraries are named with who started or opened them.
        let played = testing::run(Purpose::Main).opened("/usr/lib/libfoo.so.1", false);
        let mut execs = played.execs;
        execs.push(exec(Some(0), "sed", ProgramClass::Refused));
        let findings =
            with(LeftByProcess { execs, opens: played.opens, ..LeftByProcess::default() });
        let (status, words) = summary(&findings, RuleId::Libraries);
        assert!(status == Status::Fail && words.contains("libfoo.so.1"), "{words}");
        let (status, words) = summary(&findings, RuleId::Commands);
        assert!(status == Status::Fail && words.starts_with("in its games, "), "{words}");
        let opens = testing::run(Purpose::Main).opened(CHESS, false).opens;
        let findings = with(LeftByProcess { opens, ..LeftByProcess::default() });
        let (status, words) = summary(&findings, RuleId::ChessLibrary);
        assert!(status == Status::Fail && words.contains(CHESS), "{words}");
    }
}
