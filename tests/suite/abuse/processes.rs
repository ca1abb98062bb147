//! Groups 21 and 23, and the supervisor's own process: who may be reached, and who stays.

use super::attack::Named::{Denial, Process, Resource};
use super::attack::{Attack, Control, Param, c, sh};

pub(crate) fn attacks() -> Vec<Attack> {
    let control = Control::User;
    let machine = Control::Skipped("outside it would be the machine's own");
    let first = |name, named| c(23, name).named(named).control(machine);
    let other = |name, named| c(23, name).tells(Param::Process).bare(named).control(control);
    vec![
        other("kill_other", &[Denial("kill of a foreign process")]),
        other("tgkill_other", &[Denial("tgkill of a foreign process")]),
        other("sigqueue_other", &[Denial("rt_sigqueueinfo of a foreign process")]),
        other("pidfd_other", &[Denial("pidfd_open of a foreign process")]),
        other("prlimit_other", &[Denial("prlimit64 of a foreign process")]),
        other("affinity_other", &[Denial("sched_setaffinity of a foreign process")]),
        other("priority_other", &[Denial("setpriority of a foreign process")]),
        other("ioprio_other", &[Denial("ioprio_set of a foreign process")]),
        other("affinity_of_other", &[Denial("sched_getaffinity of a foreign process")]),
        other("scheduler_of_other", &[Denial("sched_getscheduler of a foreign process")]),
        other("priority_of_other", &[Denial("getpriority of a foreign process")]),
        other("processor_time_of_other", &[Denial("clock_gettime of a foreign process")]),
        other("timer_on_other", &[Denial("timer_create of a foreign process")]),
        other("session_of_other", &[Denial("getsid of a foreign process")]),
        other("priority_of_user", &[Denial("getpriority of a foreign process")]).only(false),
        other("kill_group", &[Denial("kill of a foreign process")])
            .control(Control::Skipped("the process outside leads no group")),
        other("setown_other", &[Denial("fcntl(F_SETOWN)")]).only(false),
        other("kill_all", &[Denial("kill of a foreign process")]),
        other("ptrace_other", &[]).control(Control::Root),
        other("environ_other", &[]).control(Control::Root),
        first("limit_of_first", &[Denial("prlimit64 of a foreign process")]),
        first("affinity_of_first", &[Denial("sched_setaffinity of a foreign process")]),
        first("policy_of_first", &[Denial("sched_setscheduler of a foreign process")]),
        first("priority_of_first", &[Denial("setpriority of a foreign process")]),
        first("limit_of_parent", &[Denial("prlimit64 of a foreign process")]),
        first("priority_of_parent", &[Denial("setpriority of a foreign process")]),
        c(23, "end_of_parent").bare(&[Denial("kill of a foreign process")]).control(machine),
        c(23, "hang_up_of_parent").control(machine),
        first("priority_of_all", &[Denial("ioprio_set of a foreign process")]),
        c(16, "pid1_environ").control(Control::RootIfAble),
        c(16, "pid1_root").control(Control::RootIfAble),
        c(16, "pid1_exe").control(Control::RootIfAble),
        c(23, "own_processes").control(Control::Skipped("it is no attack: it must work inside")),
        c(23, "calls_beside_ends")
            .control(Control::Skipped("it is no attack: it must work inside")),
        c(23, "starts_beside_calls")
            .control(Control::Skipped("it is no attack: it must work inside")),
        c(21, "fork_bomb")
            .named(&[Resource("thread beside")])
            .bare(&[Resource("processes and threads")]),
        c(21, "zombie_bomb")
            .named(&[Resource("thread beside")])
            .bare(&[Resource("processes and threads")]),
        c(21, "ended_orphans").control(Control::Skipped("it is no attack: it must work inside")),
        c(21, "thread_bomb")
            .named(&[Resource("thread beside")])
            .bare(&[Resource("processes and threads")]),
        sh(21, "shell_bomb", "b(){ b|b& };b;sleep 3;echo ESCAPED")
            .named(&[Resource("thread beside")])
            .bare(&[Resource("processes and threads")])
            .may_work()
            .control(Control::Skipped("outside nothing would end it")),
        c(23, "daemon").named(&[Process]).may_work(),
        c(23, "holds_stdout").named(&[Process]).may_work(),
        c(23, "stopped_child").named(&[Process]).may_work(),
        c(23, "ignores_signals").named(&[Process]).may_work(),
        sh(23, "background_sleep", "(sleep 12 >/dev/null 2>&1 </dev/null &)\necho ESCAPED")
            .named(&[Process])
            .may_work(),
    ]
}
