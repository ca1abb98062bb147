//! Rule 7.4: what an entry started is gone a short while after `quit`.

use super::{CausedByLoad, InGames, JudgedRule, LeftByGames, Needed};
use crate::judge::support::{excuse, runs, wording};
use crate::model::evidence::{
    Departure, EndHow, Evidence, LeftByProcess, LeftProcess, Limits, Purpose, RecordPart, Run,
};
use crate::model::layer_status::LayerName;
use crate::model::rule::RuleId;
use crate::model::verdict::Finding;
use crate::model::words::{self, counted};

const RULE: RuleId = RuleId::LeftoverProcesses;

pub(crate) const JUDGED: JudgedRule = JudgedRule {
    id: RULE,
    evidence: Needed::Runs,
    load: CausedByLoad::IfStrained,
    leans_on: &[LayerName::ExecReporter],
    rests_on: &[RecordPart::Tracer],
    before_games: false,
    in_games: InGames::Left(after_games),
    judge: |case| judge(case.evidence),
};

/// Processes that still ran after games.
fn after_games(left: &[LeftByProcess], limits: &Limits) -> Option<LeftByGames> {
    let command = |process: &LeftProcess| process.command.clone();
    let each: Vec<String> = left.iter().flat_map(|left| &left.processes).map(command).collect();
    let (count, grace) =
        (counted(each.len(), "process"), wording::secs(limits.grace_after_games()));
    if !each.is_empty() {
        let count = format!("{count} still ran {grace} after the quit that ended its games");
        return Some(LeftByGames::Some { count, each });
    }
    let not_emptied = left.iter().any(|left| left.departure == Departure::NotEmptied);
    not_emptied.then(|| {
        LeftByGames::NotSeenToEnd(format!(
            "not every process of its games had ended {grace} after quit, and none was seen that still ran"
        ))
    })
}

/// Judges what still ran at the grace limit; gate4k has killed it since.
fn judge(evidence: &Evidence) -> Finding {
    // After a kill by gate4k nothing can be told (it killed the whole tree), nor after a hang or a crash.
    let ended: Vec<&Run> = runs::ended_as_asked(evidence).collect();
    let Some(first) = ended.first() else {
        return Finding::skipped(RULE, runs::needs_good_end(evidence));
    };
    let grace = wording::secs(evidence.limits.grace);
    if let Some(run) = ended.iter().find(|run| !run.left_processes.is_empty()) {
        let commands: Vec<&str> =
            run.left_processes.iter().map(|process| process.command.as_str()).collect();
        let finding = Finding::fail(
            RULE,
            format!(
                "{} still ran {grace} after quit: {}",
                counted(commands.len(), "process"),
                words::some(&commands, 3)
            ),
        )
        .details(run.left_processes.iter().take(10).map(|process| {
            format!(
                "process {} (state {}): {}",
                process.pid, process.state, process.command
            )
        }))
        .with("left", &run.left_processes)
        .with("run", run.purpose)
        .help(
            "let every process that the entry starts end by itself within seconds of quit: no daemon, \
             no helper that waits for input that never comes",
        );
        // An engine that hangs because it was refused memory cannot obey.
        excuse::excused(finding, excuse::refused(&run.refusals, &evidence.host))
    } else if let Some(run) =
        ended.iter().find(|run| run.purpose == Purpose::Main && run.ending.emptied_after.is_none())
    {
        // It was waited for until the grace limit: nobody was seen, and nobody saw the last one end.
        Finding::undecided(
            RULE,
            format!("not every process had ended {grace} after quit, and none was seen that still ran"),
        )
        .with("run", run.purpose)
        .help("check again; let every process that the entry starts end by itself within seconds of quit")
    } else if let Some((run, words)) = other_ends(evidence) {
        Finding::advice(RULE, format!("nothing remains after quit; {words}"))
            .with("left", &run.left_processes)
            .help("end when a read of the input says that there is no more (read returns 0, fgets NULL)")
    } else {
        let longest = ended.iter().filter_map(|run| run.ending.emptied_after).max();
        Finding::pass(
            RULE,
            match longest.or(first.ending.emptied_after) {
                Some(time) => format!("every process had ended {} after quit", wording::secs(time)),
                None => "no process remains".to_owned(),
            },
        )
        .with("emptied_after_ms", longest.map(|time| time.as_secs_f64() * 1e3))
    }
}

/// Processes that remained in a run that ended otherwise: advice.
fn other_ends(evidence: &Evidence) -> Option<(&Run, String)> {
    let run = evidence.runs.iter().find(|run| {
        matches!(run.ending.how, EndHow::EndOfInput | EndHow::ByItself)
            && !run.left_processes.is_empty()
    })?;
    let words = format!(
        "{} still ran in {}",
        counted(run.left_processes.len(), "process"),
        runs::purpose(run)
    );
    Some((run, words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::Resource;
    use crate::model::units::Bytes;
    use crate::model::verdict::Status;

    #[test]
    fn a_daemon_is_named() {
        let run = testing::run(Purpose::Main).still_runs("sleep 1000", 'S');
        let finding = judge(&testing::evidence_of([run]));
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains("1 process still ran 10.0 s after quit: sleep 1000"));
    }

    #[test]
    fn what_was_not_seen_to_end_never_passes() {
        let mut run = testing::run(Purpose::Main);
        run.ending.emptied_after = None;
        assert_eq!(judge(&testing::evidence_of([run])).status, Status::Undecided);
    }

    #[test]
    fn the_time_until_all_had_ended_is_told() {
        let finding = judge(&testing::evidence());
        assert_eq!(finding.status, Status::Pass);
        assert!(finding.summary.contains("3.01 s after quit"));
    }

    #[test]
    fn end_of_input_is_advice_and_a_refusal_opens() {
        let mut eof = testing::run(Purpose::EndOfInput).still_runs("/w/e", 'R');
        eof.ending.how = EndHow::EndOfInput;
        eof.asks.pop();
        let finding = judge(&testing::evidence_of([testing::run(Purpose::Main), eof]));
        assert_eq!(finding.status, Status::Advice);
        let hung = testing::run(Purpose::Main)
            .still_runs("/w/e", 'R')
            .refused(Resource::Memory(Bytes(1 << 40)));
        let finding = judge(&testing::evidence_of([hung]));
        assert_eq!(finding.status, Status::Undecided);
    }
}
