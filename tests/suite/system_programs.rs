//! Programs and files that compilers and interpreters use by themselves, and that an entry may not use in their name.

use std::process::Command;

use crate::outcome::Outcome;
use crate::test_folder::{TestFolder, fixture};
use crate::trials::Test;

/// rustc locks the folder of its incremental build, and gives up where it cannot.
fn a_file_of_its_own_can_be_locked_and_no_other() {
    let folder = TestFolder::new();
    folder.write(
        "engine",
        "#!/usr/bin/python3\n\
         import fcntl, os, tempfile\n\
         def lock(file, how):\n    \
         try: fcntl.flock(file, how); return 'locked'\n    \
         except OSError as error: return error.strerror\n\
         one = tempfile.NamedTemporaryFile()\n\
         two = open(one.name)\n\
         print(lock(one, fcntl.LOCK_EX), lock(two, fcntl.LOCK_SH | fcntl.LOCK_NB))\n\
         print(lock(one, fcntl.LOCK_UN), lock(two, fcntl.LOCK_SH | fcntl.LOCK_NB))\n\
         print(lock(open('/etc/passwd'), fcntl.LOCK_SH | fcntl.LOCK_NB))\n",
    );
    let done = folder.run(&["run", &folder.path("engine").display().to_string()]);
    assert_eq!(
        done.out,
        "locked Resource temporarily unavailable\nlocked locked\nOperation not supported\n",
        "{done:?}"
    );
    assert!(done.err.contains("flock"), "{done:?}");
}

/// `ctypes.util.find_library` asks ldconfig, by one word; no entry may ask it by others.
fn an_interpreter_starts_its_own_programs_by_its_own_words() {
    judged_with(&[
        ("asks", "import ctypes.util\nctypes.util.find_library('m')", true),
        ("absent", "import ctypes.util\nctypes.util.find_library('absent')", true),
        (
            "links",
            "import subprocess\nsubprocess.run(['ld', '-o', '/tmp/x', '-lm'], stderr=-3)",
            false,
        ),
        ("lists", "import subprocess\nsubprocess.run(['/sbin/ldconfig', '-N'], stdout=-3)", false),
        ("names", "import subprocess\nsubprocess.run(['uname', '-a'], stdout=-3)", false),
        ("owns", OWN_LIBRARY, true),
        ("packages", "import pkgutil\nlist(pkgutil.iter_modules())", true),
        (
            "path",
            "import ctypes.util, os\nos.environ['LD_LIBRARY_PATH'] = '/usr/lib'\n\
             ctypes.util.find_library('absent')",
            true,
        ),
    ]);
}

/// Compiles a program in a directory that is gone afterwards; `SETTING cc ARGUMENTS`.
fn compiling(command: &str) -> String {
    format!(
        "import os, subprocess, tempfile\n\
         with tempfile.TemporaryDirectory() as d:\n \
         open(d + '/a.c', 'w').write('int main(){{return 0;}}')\n \
         open(d + '/m', 'w').write('X:=$(file >' + d + '/out,made)\\n')\n \
         open(d + '/specs', 'w').write('.q:\\nobjcopy -Ibinary -Obinary -i4 -b1 m out\\n\\n')\n \
         open(d + '/in.q', 'w')\n \
         subprocess.run('cd ' + d + ';{command}', shell=True, stderr=-3)\n"
    )
}

/// Link-time optimisation in parts runs `make`, and `-gsplit-dwarf` runs `objcopy`: no entry may give them work of its own.
fn a_compiler_starts_its_own_programs_by_its_own_words() {
    judged_with(&[
        ("parts", &compiling("cc -flto=auto -O2 -o a a.c"), true),
        ("rules", &compiling("MAKEFILES=$PWD/m cc -flto=auto -O2 -o a a.c"), false),
        ("options", &compiling("GNUMAKEFLAGS=-i cc -flto=auto -O2 -o a a.c"), false),
        ("split", &compiling("cc -gsplit-dwarf -g -o a a.c"), true),
        ("specs", &compiling("cc -specs=specs -c in.q"), false),
    ]);
}

/// Judges an engine that does something first, and compares whether it fails.
fn judged_with(cases: &[(&str, &str, bool)]) {
    let folder = TestFolder::new();
    let engine = String::from_utf8(fixture("accept/python3")).unwrap();
    let engine = engine.split_once('\n').unwrap().1;
    for &(name, before, passes) in cases {
        folder.write(format!("{name}/engine"), format!("#!/usr/bin/python3\n{before}\n{engine}"));
        let report = folder.run(&["check", "-q", "--quick", "--format", "json", name]).json();
        let findings = report["entries"][0]["findings"].as_array().unwrap();
        let failed: Vec<_> = findings.iter().filter(|found| found["status"] == "fail").collect();
        assert_eq!(failed.is_empty(), passes, "{name}: {failed:#?}");
    }
}

/// Runs gate4k on a host of its own, where a directory of the system was changed by this line of shell.
fn where_the_host_has(folder: &TestFolder, directory: &str, change: &str, words: &str) -> Outcome {
    let script = format!(
        "set -e; mount -t tmpfs none /mnt; mkdir /mnt/upper /mnt/work\n\
         mount -t overlay none -o lowerdir={directory},upperdir=/mnt/upper,workdir=/mnt/work {directory}\n\
         {change}\n\
         {} {words}",
        env!("CARGO_BIN_EXE_gate4k")
    );
    let mut host = Command::new("unshare");
    host.args(["--mount", "--", "/bin/sh", "-c", &script]).current_dir(folder.top());
    Outcome::of(&mut host)
}

/// Ubuntu's ldconfig is a script of the shell, which starts the program behind it.
fn an_ldconfig_that_is_a_script_is_no_program_of_the_entry() {
    let folder = TestFolder::new();
    folder.copy("accept/python3-find-library", "entry");
    folder.write("ldconfig", "#!/bin/sh\nexec /sbin/ldconfig.real \"$@\"\n");
    let change =
        "mv /usr/sbin/ldconfig /usr/sbin/ldconfig.real; install -m 755 ldconfig /usr/sbin/ldconfig";
    let done = where_the_host_has(&folder, "/usr/sbin", change, "check --quick entry");
    assert!(done.out.starts_with("accepted"), "{done:?}");
}

/// `cargo new` reads git's settings, and gives up where they are and cannot be read.
fn a_package_can_be_made_where_git_has_settings() {
    let folder = TestFolder::new();
    folder.write("engine", "#!/bin/sh\nT=`mktemp -d`\ncargo new -q $T/e&&echo made\nrm -r $T\n");
    let change = "echo '[user] name = x' >/etc/gitconfig";
    let done = where_the_host_has(&folder, "/etc", change, "run engine");
    assert_eq!(done.out, "made\n", "{done:?}");
}

/// A Python program that has a library of its own in its memory, when it asks for another one.
const OWN_LIBRARY: &str = "import ctypes, ctypes.util, os, subprocess, tempfile
with tempfile.TemporaryDirectory() as d:
    open(d + '/a.c', 'w').write('int f(void) { return 1; }')
    subprocess.run(['cc', '-shared', '-o', d + '/a.so', d + '/a.c'])
    ctypes.CDLL(d + '/a.so')
    ctypes.util.find_library('m')";

/// The directory of a command that lies below /tmp is bound there, and is no file that the entry leaves.
fn a_command_below_tmp_is_nothing_that_an_entry_leaves() {
    let folder = TestFolder::new();
    folder.copy("accept/python3", "entry");
    folder.write("bin/rustc", "#!/bin/sh\n");
    let path = format!("/usr/bin:/bin:{}", folder.path("bin").display());
    let mut command = folder.command(&["check", "-q", "--quick", "entry"]);
    let done = Outcome::of(command.env("PATH", path));
    assert!(done.out.starts_with("accepted"), "{done:?}");
}

/// gold lists the directories that it searches, and gives up where it may not.
fn a_linker_that_lists_the_directories_of_libraries_links() {
    let folder = TestFolder::new();
    folder.write(
        "engine",
        "#!/bin/sh\nT=`mktemp`\necho 'int puts();main(){puts(\"linked\");}'|gcc -w -fuse-ld=gold -o $T -xc -\n$T\nrm $T\n",
    );
    let done = folder.run(&["run", &folder.path("engine").display().to_string()]);
    assert_eq!(done.out, "linked\n", "{done:?}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow a_file_of_its_own_can_be_locked_and_no_other [Landlock, Python3],
        slow an_interpreter_starts_its_own_programs_by_its_own_words [Landlock, Python3],
        slow a_compiler_starts_its_own_programs_by_its_own_words [Landlock, Python3],
        slow an_ldconfig_that_is_a_script_is_no_program_of_the_entry [Landlock, Root, Unshare, Mounts, Python3],
        slow a_package_can_be_made_where_git_has_settings [Landlock, Root, Unshare, Mounts, Rustc],
        slow a_command_below_tmp_is_nothing_that_an_entry_leaves [Landlock, Python3],
        slow a_linker_that_lists_the_directories_of_libraries_links [Landlock, Gold]
    ]
}
