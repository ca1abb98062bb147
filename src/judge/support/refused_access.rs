//! Refusals of the sandbox beside programs and libraries, in words: calls, and files of the host.
//!
//! No rule forbids to try, and what was refused was of no use; but an author should know, and so should an
//! organiser who reads of another engine's net or of somebody's home.

use crate::judge::support::paths;
use std::path::Path;

use crate::model::evidence::{Evidence, FileAccess, FileOpen, ProgramClass, Run};

/// Each thing once, in order.
pub(crate) fn words(evidence: &Evidence) -> Vec<String> {
    let calls = evidence.runs.iter().flat_map(calls).map(str::to_owned);
    let files = evidence.runs.iter().flat_map(|run| {
        let told = run.opens.iter().filter(|open| is_told(run, open));
        told.map(|open| match open.access {
            FileAccess::Read => format!("to read {}", open.path),
            FileAccess::Write if is_entry(run, open) => "to write its own file".to_owned(),
            // Where it makes files, it may have been a link or a name that it was refused.
            FileAccess::Write if open.own => format!("to make or write {}", open.path),
            FileAccess::Write => format!("to write {}", open.path),
        })
    });
    let removes = evidence.runs.iter().any(removes_itself);
    let removed = removes.then(|| "to remove its own file, which the next start needs".to_owned());
    let mut words: Vec<String> = calls.chain(files).chain(removed).collect();
    words.sort();
    words.dedup();
    words
}

/// The calls that a run was refused.
fn calls(run: &Run) -> impl Iterator<Item = &str> {
    run.denials.iter().map(|denial| denial.what.as_str()).filter(|call| is_told_call(call))
}

/// False of local sockets: the C library asks for them to look up a user's name.
pub(crate) fn is_told_call(call: &str) -> bool {
    !call.contains("AF_UNIX") && !call.contains("AF_LOCAL")
}

/// The first file of the host, or beside the entry, that a run was refused to write.
pub(crate) fn refused_write(run: &Run) -> Option<&FileOpen> {
    run.opens.iter().find(|open| open.access == FileAccess::Write && is_told(run, open))
}

/// The last file of the host that a run was refused to read: that it ended at.
pub(crate) fn refused_read(run: &Run) -> Option<&FileOpen> {
    run.opens.iter().rfind(|open| open.access == FileAccess::Read && is_told(run, open))
}

/// True for the entry's own file, which lies at another place in each run.
fn is_entry(run: &Run, open: &FileOpen) -> bool {
    run.execs.first().is_some_and(|entry| entry.asked == open.path)
}

/// True if it told rm to remove the entry's own file, which lies where nothing can be removed.
fn removes_itself(run: &Run) -> bool {
    let Some(entry) = run.execs.first() else { return false };
    run.execs
        .iter()
        .any(|exec| exec.name == "rm" && exec.argv.iter().skip(1).any(|word| *word == entry.asked))
}

/// Files that run-times and the libraries of the system look into by themselves.
const PROBED: [&str; 25] = [
    "/etc/bash.bashrc",
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/locale.conf",
    "/etc/nsswitch.conf",
    "/etc/pki",
    "/etc/profile",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/terminfo",
    "/lib/terminfo",
    "/usr/lib/ssl",
    "/usr/share/terminfo",
    "/dev/console",
    "/dev/dri",
    "/dev/fd",
    "/dev/kfd",
    "/dev/log",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/tty",
];

/// Where programs of the system look for parts of their own.
const PARTS: [&str; 8] = ["/usr", "/opt", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin"];

/// True if an opening is worth a word: it was refused, no other rule speaks of it, and it is none of those that
/// every program makes.
fn is_told(run: &Run, open: &FileOpen) -> bool {
    let path = Path::new(&open.path);
    let below = |roots: &[&str]| roots.iter().any(|root| path.starts_with(root));
    if !open.denied || paths::program_of(&open.path).is_some() || paths::is_chess_path(&open.path) {
        return false;
    }
    if below(&PROBED) || below(&["/proc", "/sys"]) || open.path.starts_with("/dev/nvidia") {
        return false;
    }
    if !below(&PARTS) {
        return true;
    }
    if paths::is_library(&open.path) {
        return false;
    }
    match open.access {
        // Python keeps compiled modules beside their sources where it may.
        FileAccess::Write => !open.path.contains("/__pycache__"),
        FileAccess::Read => {
            let by = run.exec(open.by).map(|exec| exec.class);
            let itself = matches!(by, None | Some(ProgramClass::Entry | ProgramClass::OwnProduct));
            itself && paths::below_packages(&open.path).is_none() && !is_packages(path)
        }
    }
}

/// The directory of installed modules itself, which interpreters list.
fn is_packages(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "dist-packages" || name == "site-packages")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::Purpose;

    fn told(path: &str, class: ProgramClass, access: FileAccess) -> bool {
        let mut run =
            testing::run(Purpose::Main).started(Some(0), "python3", class).opened(path, true);
        run.opens[0].by = Some(1);
        run.opens[0].access = access;
        !words(&testing::evidence_of([run])).is_empty()
    }

    #[test]
    fn files_of_others_are_told_whoever_asked_for_them() {
        use FileAccess::{Read, Write};
        for class in [ProgramClass::Entry, ProgramClass::Listed, ProgramClass::Helper] {
            assert!(told("/home/somebody/net.nnue", class, Read));
            assert!(told("/etc/shadow", class, Read));
            assert!(told("/usr/lib/new", class, Write));
            assert!(told("/dev/sda", class, Read));
        }
        assert!(told("/usr/share/stockfish/a.nnue", ProgramClass::OwnProduct, Read));
    }

    #[test]
    fn what_programs_do_by_themselves_is_not() {
        use FileAccess::{Read, Write};
        assert!(!told("/usr/share/gdb/auto-load", ProgramClass::Listed, Read));
        assert!(!told("/usr/lib/python3.13/__pycache__/x.pyc", ProgramClass::Listed, Write));
        // Among them what Python's hashlib, asyncio and curses bring along.
        for path in [
            "/etc/nsswitch.conf",
            "/etc/ssl/openssl.cnf",
            "/usr/lib/ssl/openssl.cnf",
            "/lib/terminfo/d/dumb",
            "/dev/tty",
            "/proc/1/maps",
        ] {
            assert!(!told(path, ProgramClass::Entry, Read), "{path}");
        }
        // These have rules of their own.
        assert!(!told("/usr/bin/sed", ProgramClass::Entry, Read));
        assert!(!told("/usr/lib/libfoo.so.1", ProgramClass::Entry, Read));
    }

    #[test]
    fn its_own_file_is_named_so() {
        let mut run = testing::run(Purpose::Main);
        run.execs[0].asked = "/entry/5e4a36c4".into();
        run = run.opened("/entry/5e4a36c4", true);
        run.opens[0].access = FileAccess::Write;
        assert_eq!(words(&testing::evidence_of([run])), ["to write its own file"]);
    }

    #[test]
    fn where_it_makes_files_a_refused_name_is_no_refused_write() {
        let mut run = testing::run(Purpose::Main).opened("/tmp/copy", true);
        run.opens[0].access = FileAccess::Write;
        run.opens[0].own = true;
        assert_eq!(words(&testing::evidence_of([run])), ["to make or write /tmp/copy"]);
    }

    #[test]
    fn an_entry_that_removes_its_own_file_is_told() {
        let told = |word: &str| {
            let mut run =
                testing::run(Purpose::Main).started(Some(0), "rm", ProgramClass::Tolerated);
            run.execs[0].asked = "/entry/5e4a36c4".into();
            run.execs[1].argv = vec!["rm".into(), "-f".into(), word.into()];
            words(&testing::evidence_of([run]))
        };
        assert_eq!(told("/entry/5e4a36c4"), ["to remove its own file, which the next start needs"]);
        assert_eq!(told("/tmp/tmp.x"), [""; 0]);
    }

    #[test]
    fn what_was_not_refused_is_not() {
        let run = testing::run(Purpose::Main).opened("/etc/shadow", false);
        assert_eq!(words(&testing::evidence_of([run])), [""; 0]);
    }
}
