//! Group 27: what entries share with the host and with each other. Each call that could pass a bit is refused by itself, and each
//! way between two entries that run at once is shown to carry bits outside, and to carry none inside.

use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gate4k::sandbox::capability::Capability;
use gate4k::sandbox::plan::Audit;

use super::attack::Named::Denial;
use super::attack::{Attack, Control, c};
use super::inside::{Sandboxes, run};
use super::program::Program;
use crate::trials::Test;

pub(crate) fn attacks() -> Vec<Attack> {
    let able = Control::IfAble;
    let lock = &[Denial("fcntl(a lock)")];
    let mut all = vec![
        c(27, "lock_flock").named(&[Denial("flock")]),
        c(27, "lock_posix").named(lock),
        c(27, "lock_posix_asked").named(lock),
        c(27, "lock_of_open_file").named(lock),
        c(27, "lock_of_open_file_asked").named(lock),
        c(27, "lock_high_bits").named(lock),
        c(27, "lease").named(&[Denial("fcntl(F_SETLEASE)")]),
        c(27, "directory_news").named(&[Denial("fcntl(F_NOTIFY)")]).control(able),
        c(27, "inotify_instance").named(&[Denial("inotify_init1")]),
        c(27, "inotify_old").named(&[Denial("inotify_init")]),
        c(27, "aio_contexts").named(&[Denial("io_setup")]).control(able),
        c(27, "pipe_pages").named(&[Denial("fcntl(F_SETPIPE_SZ)")]),
        c(27, "pages_in_memory").named(&[Denial("mincore")]),
        c(27, "pages_counted").named(&[Denial("cachestat")]).control(able),
        c(27, "pages_dropped").named(&[Denial("fadvise64(POSIX_FADV_DONTNEED)")]),
        c(27, "pages_read_at_once").named(&[Denial("preadv2(RWF_NOWAIT)")]),
        c(27, "pages_by_smaps").named(&[Denial("open(smaps of a process)")]),
        c(27, "pages_by_rollup").named(&[Denial("open(smaps_rollup of a process)")]).control(able),
        c(27, "pages_by_pagemap").named(&[Denial("open(pagemap of a process)")]),
        c(27, "pages_by_numa_maps").named(&[Denial("open(numa_maps of a process)")]).control(able),
        c(27, "pages_by_directory").named(&[Denial("open(smaps of a process)")]).bare(&[]),
        c(27, "pages_by_link").named(&[Denial("open(smaps of a process)")]).bare(&[]),
        c(27, "pages_moved_here").named(&[Denial("mbind(MPOL_MF_MOVE)")]).control(able),
        c(27, "pages_migrated").named(&[Denial("migrate_pages")]).control(able),
        c(27, "pages_asked_for_place").named(&[Denial("move_pages")]).control(able),
        c(27, "pages_merged").named(&[Denial("madvise(MADV_MERGEABLE)")]).control(able),
        c(27, "pages_merged_by_process")
            .named(&[Denial("process_madvise(MADV_MERGEABLE)")])
            .control(able),
        c(27, "pages_put_out").named(&[Denial("madvise(MADV_PAGEOUT)")]).control(able),
        c(27, "pages_put_out_by_process")
            .named(&[Denial("process_madvise(MADV_PAGEOUT)")])
            .control(able),
        c(27, "all_pages_merged").named(&[Denial("prctl(PR_SET_MEMORY_MERGE)")]).control(able),
        c(27, "number_of_mount").named(&[Denial("statx(STATX_MNT_ID_UNIQUE)")]).control(able),
        c(27, "numbers_of_mounts").named(&[Denial("listmount")]).control(able),
        c(27, "number_of_namespace").named(&[Denial("ioctl(0x8008b705)")]).control(able),
        c(27, "number_of_group").named(&[Denial("ioctl(0xc040ff0b)")]).control(able),
        c(27, "hint_at_file").named(&[Denial("fcntl(a hint)")]).control(able),
        c(27, "wait_in_a_file").named(&[Denial("futex(in a file of the host)")]),
        c(27, "wait_in_the_library").named(&[Denial("futex(in a file of the host)")]),
        c(27, "wait_moved_to_a_file").named(&[Denial("futex(FUTEX_REQUEUE)")]),
        c(27, "wait_by_new_calls").control(able),
        c(27, "machine_in_proc"),
        c(27, "huge_page_counters").control(able),
        c(27, "number_of_eventfd").named(&[Denial("open(fdinfo of a process)")]),
        c(27, "number_by_shared_table").named(&[Denial("open(fdinfo of a process)")]).bare(&[]),
        c(27, "packets_of_the_machine").named(&[Denial("open(softnet_stat of a process)")]),
        c(27, "supervisor_command_line").control(Control::RootIfAble),
        c(27, "host_name").only(true),
    ];
    if cfg!(target_arch = "x86_64") {
        all.push(c(27, "lock_i386").named(&[Denial("flock (i386)")]).control(able));
        all.push(c(27, "space_by_number").named(&[Denial("ustat")]).control(able));
        all.push(c(27, "space_by_number_i386").named(&[Denial("ustat (i386)")]).control(able));
        let merged = &[Denial("madvise(MADV_MERGEABLE) (i386)")];
        all.push(c(27, "pages_merged_i386").named(merged).control(able));
        all.push(c(27, "inotify_i386").named(&[Denial("inotify_init (i386)")]).control(able));
    }
    all
}

/// The ways between two entries, and whether the host must show that they carry bits outside: some need a user with limits, or a
/// file of /proc that a container may hide.
const WAYS: [(&str, Shown); 16] = [
    ("flock", Shown::Always),
    ("posix", Shown::Always),
    ("ofd", Shown::Always),
    ("events", Shown::Always),
    ("instances", Shown::IfAble),
    ("pipes", Shown::IfAble),
    ("files", Shown::IfAble),
    ("aio", Shown::IfAble),
    ("abstract", Shown::Always),
    ("file", Shown::Always),
    ("memory", Shown::Always),
    ("segment", Shown::Always),
    ("queue", Shown::IfAble),
    ("processes", Shown::IfAble),
    ("maps", Shown::Always),
    ("wait", Shown::Always),
];

#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Always,
    IfAble,
}

/// The message: as many ones as zeros, in no order that noise would have, so that a way which says always the same has half of it right.
const BITS: &str = "10110001101001010100111001011010";
/// So many bits that are right tell something, and so many that are wrong.
const TOLD: usize = 25;
/// A way carries something if it tells in each of so many conversations.
const TRIES: i32 = 3;
/// Time for one bit. Outside, more is given until all bits come through.
const SLOT_MS: u128 = 40;

/// The two halves of a conversation that begins a moment from now.
fn halves(way: &str, after: u128, slot: u128) -> [String; 2] {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let salt = (now % 1_000_000) as u32 + 1;
    let begin = now + after;
    ["send", "hear"].map(|role| format!("{way} {role} {salt} {begin} {slot} {BITS}"))
}

/// The words that the hearing half has printed.
fn heard(out: &str) -> &str {
    out.lines().find_map(|line| line.strip_prefix("told ")).unwrap_or("nothing")
}

/// True if what was heard has more to do with the message than noise has.
fn tells(heard: &str) -> bool {
    let right = heard.bytes().zip(BITS.bytes()).filter(|(one, other)| one == other).count();
    heard.len() == BITS.len() && (right >= TOLD || BITS.len() - right >= TOLD)
}

fn noise_is_taken_for_a_message_less_than_once_in_a_million_runs() {
    assert_eq!(BITS.bytes().filter(|bit| *bit == b'1').count() * 2, BITS.len());
    assert!(tells(BITS) && !tells(&"1".repeat(BITS.len())) && !tells(&"0".repeat(BITS.len())));
    let bits = BITS.len() as i32;
    let choose = |n: i32| (0..n).fold(1.0, |all, k| all * f64::from(bits - k) / f64::from(k + 1));
    let tail: f64 = (TOLD as i32..=bits).map(choose).sum::<f64>() / f64::from(bits).exp2();
    let chance = (2.0 * tail).powi(TRIES) * 2.0 * WAYS.len() as f64;
    assert!(chance < 1e-6, "{chance}");
}

fn every_way_between_two_entries_is_shown_outside() {
    let attack = c(27, "tell_a_bit");
    let mut wrong = Vec::new();
    for (way, shown) in WAYS {
        let mut came = String::new();
        // A busy host needs more time for each bit.
        for slot in [SLOT_MS, 3 * SLOT_MS, 10 * SLOT_MS] {
            let dir = tempfile::tempdir().unwrap();
            let children = halves(way, 150, slot).map(|param| {
                let role = param.split(' ').nth(1).unwrap().to_owned();
                let path = dir.path().join(role);
                super::write_program(&path, &Program::get().told(&attack, &param));
                let mut half = Command::new(&path);
                super::started(half.stdin(Stdio::null()).stdout(Stdio::piped()))
            });
            let [_, hearing] =
                children.map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout));
            heard(&hearing.unwrap()).clone_into(&mut came);
            if came == BITS {
                break;
            }
        }
        if came != BITS {
            match shown {
                Shown::Always => wrong.push(format!("{way}: heard {came}")),
                Shown::IfAble => eprintln!("{way} carries nothing on this host: {came}"),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn no_way_leads_from_one_entry_to_another() {
    let attack = c(27, "tell_a_bit");
    let program = Program::get();
    let able = Capability::probe().namespaces.is_ok();
    let places = if able { vec![true, false] } else { vec![false] };
    let mut wrong = Vec::new();
    for namespaces in places {
        let sandboxes = Sandboxes::new(namespaces);
        for (way, _) in WAYS {
            let talk = || {
                let params = halves(way, 400, SLOT_MS);
                std::thread::scope(|scope| {
                    params
                        .map(|param| {
                            let entry = program.told(&attack, &param);
                            let sandbox = sandboxes.plain();
                            let patience = Duration::from_secs(60);
                            scope.spawn(move || {
                                run(sandbox, entry, Audit::ProgramsOnly, patience).out
                            })
                        })
                        .map(|thread| thread.join().unwrap())
                })
            };
            // Both have run to their end, and nothing has come in one of the tries at least.
            let suspect = |outs: &[String; 2]| {
                !outs.iter().all(|out| out.contains("told ")) || tells(heard(&outs[1]))
            };
            let tries: Vec<_> = (0..TRIES).map(|_| talk()).take_while(suspect).collect();
            if tries.len() as i32 == TRIES {
                wrong.push(format!("{way}, namespaces {namespaces}: {tries:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick noise_is_taken_for_a_message_less_than_once_in_a_million_runs,
        slow every_way_between_two_entries_is_shown_outside,
        slow no_way_leads_from_one_entry_to_another [Landlock],
    ]
}
