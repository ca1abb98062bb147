//! The descriptors of gate4k itself: neither does an entry see how many there are, nor does their want tell a lie of an entry.

use std::fs::File;
use std::time::Duration;

use gate4k::model::evidence::{ProgramClass, RecordPart, Resource, Shell};
use gate4k::policy::decide::Strictness;
use gate4k::sandbox::plan::{Audit, Launcher, Staging, StartPlan};
use nix::sys::resource::{Resource as Limit, getrlimit, setrlimit};

use crate::sandbox::{run_in, sandbox};
use crate::trials::Test;

/// A start is a copy of its maker at first, descriptors and all: they may be more than an entry may have.
fn a_maker_with_more_descriptors_than_an_entry_may_have_starts_one() {
    let (_, most) = getrlimit(Limit::RLIMIT_NOFILE).unwrap();
    setrlimit(Limit::RLIMIT_NOFILE, most, most).unwrap();
    let held: Vec<File> = (0..1200).map(|_| File::open("/dev/null").unwrap()).collect();
    for namespaces in [true, false] {
        let sandbox = sandbox(Strictness::Tolerant, namespaces);
        let script = "#!/bin/sh\nulimit -n\n";
        let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(300));
        assert_eq!(done.out, "1024\n", "{}", done.err);
    }
    drop(held);
}

/// By the size of its table of descriptors, which /proc tells, an entry knew how many files its maker has open.
fn the_descriptors_of_a_maker_do_not_show_in_its_entry() {
    let (_, most) = getrlimit(Limit::RLIMIT_NOFILE).unwrap();
    setrlimit(Limit::RLIMIT_NOFILE, most, most).unwrap();
    let sandbox = sandbox(Strictness::Tolerant, true);
    let script =
        "#!/bin/sh\nwhile read n v; do test $n = FDSize: && echo $v; done </proc/self/status\n";
    let size = || run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(300)).out;
    let few = size();
    let held: Vec<File> = (0..2100).map(|_| File::open("/dev/null").unwrap()).collect();
    assert_eq!(few, "1024\n");
    assert_eq!(size(), few);
    drop(held);
}

/// A granted file that this process cannot open for want of descriptors would be refused to the entry.
fn a_start_for_which_there_are_too_few_descriptors_fails() {
    let sandbox = sandbox(Strictness::Tolerant, false);
    let (_, most) = getrlimit(Limit::RLIMIT_NOFILE).unwrap();
    setrlimit(Limit::RLIMIT_NOFILE, 100, most).unwrap();
    let plan = StartPlan {
        bytes: b"#!/bin/sh\n".as_slice().into(),
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit: Audit::Full,
    };
    let error = sandbox.launch(&plan).err().expect("no start").to_string();
    assert!(error.contains("opening a file that entries may use"), "{error}");
    setrlimit(Limit::RLIMIT_NOFILE, most, most).unwrap();
    assert!(sandbox.launch(&plan).is_ok());
}

/// The products of an entry are held open until its run is over, and took the descriptors by which others are looked at.
fn the_products_of_an_entry_leave_descriptors_to_others() {
    let (_, most) = getrlimit(Limit::RLIMIT_NOFILE).unwrap();
    setrlimit(Limit::RLIMIT_NOFILE, 700, most).unwrap();
    let sandbox = sandbox(Strictness::Tolerant, true);
    let script = "#!/bin/sh\ni=0\nwhile test $i -lt 190; do\n\
        echo '#!/bin/sh' >p$i; chmod +x p$i; ./p$i; i=$((i+1))\ndone\nxz --version >/dev/null && echo on\n";
    let done = run_in(&sandbox, script, Shell::AsIs, Duration::from_secs(300));
    assert_eq!(done.out, "on\n", "{}", done.err);
    let unrecorded = Resource::Unrecorded(RecordPart::Programs);
    assert!(done.traces.refusals.iter().any(|refusal| refusal.what == unrecorded));
    assert!(done.traces.execs.iter().all(|exec| exec.class != ProgramClass::Refused));
    assert!(done.traces.execs.iter().any(|exec| exec.name == "xz"));
    // Held no longer, they leave room for the next.
    let done = run_in(
        &sandbox,
        "#!/bin/sh\nxz --version >/dev/null && echo on\n",
        Shell::AsIs,
        Duration::from_secs(300),
    );
    assert!(done.traces.refusals.is_empty(), "{:?}", done.traces.refusals);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick a_maker_with_more_descriptors_than_an_entry_may_have_starts_one [Landlock] apart,
        quick the_descriptors_of_a_maker_do_not_show_in_its_entry [Landlock, Namespaces] apart,
        quick a_start_for_which_there_are_too_few_descriptors_fails [Landlock] apart,
        slow the_products_of_an_entry_leave_descriptors_to_others [Landlock, Xz] apart,
    ]
}
