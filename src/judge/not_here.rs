//! An entry that this host lacks the interpreter or the loader for, and another one may have: rule `format` leaves that open, and the
//! kernel's refusal to start the file says no more.

use crate::model::rule::RuleId;
use crate::model::verdict::{Finding, Status};

/// True of a start that the kernel refused.
pub(super) fn is_refused(finding: &Finding) -> bool {
    let failure = finding.evidence.get("launch_failure");
    finding.rule == RuleId::Startup && failure.is_some_and(|failure| !failure.is_null())
}

/// Leaves the start open, with the next step of rule `format`.
pub(super) fn leave_open(findings: &mut [Finding]) {
    let open = |one: &&Finding| one.rule == RuleId::Format && one.status == Status::Undecided;
    let Some(help) = findings.iter().find(open).map(|format| format.help.clone()) else { return };
    let refused =
        |one: &&mut Finding| one.status == Status::Fail && is_refused(one) && !one.is_waived();
    if let Some(startup) = findings.iter_mut().find(refused) {
        startup.status = Status::Undecided;
        startup.summary.push_str("; another host may start it (see format)");
        startup.help = help;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn startup(format: Finding, failure: Option<&str>) -> Finding {
        let startup = Finding::fail(RuleId::Startup, "it did not start: exec failed with ENOENT")
            .with("launch_failure", failure)
            .help("link it with the system's loader");
        let mut findings = [format, startup];
        leave_open(&mut findings);
        let [_, startup] = findings;
        startup
    }

    #[test]
    fn a_start_that_another_host_may_make_is_left_open() {
        let lacks = || {
            Finding::undecided(RuleId::Format, "its loader is not on this host").help("install it")
        };
        let found = startup(lacks(), Some("ENOENT"));
        assert_eq!((found.status, &*found.help), (Status::Undecided, "install it"));
        // The kernel has started it.
        assert_eq!(startup(lacks(), None).status, Status::Fail);
        // No list allows that interpreter, or nothing is the matter with it.
        let refused = Finding::fail(RuleId::Format, "no command that rule 7.5 lists");
        assert_eq!(startup(refused, Some("ENOENT")).status, Status::Fail);
        let sound = Finding::pass(RuleId::Format, "script");
        assert_eq!(startup(sound, Some("ENOENT")).status, Status::Fail);
    }
}
