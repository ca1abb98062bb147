use super::*;
use crate::model::verdict::Status;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

fn room() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn put(room: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = room.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn loaded(path: &Path) -> Loaded {
    load(path, &LoadOptions::default()).unwrap()
}

#[test]
fn a_file_and_a_directory_with_one() {
    let room = room();
    let path = put(&room, "engine", b"abc");
    for path in [path.as_path(), room.path()] {
        let Loaded { submission, finding } = loaded(path);
        let submission = submission.unwrap();
        assert_eq!(finding.status, Status::Pass);
        assert_eq!(finding.summary, "one regular file of 3 bytes");
        assert_eq!(submission.file_name, "engine");
        assert_eq!(&*submission.bytes, b"abc");
        assert!(submission.is_whole());
        assert_eq!(
            submission.sha256.as_deref(),
            Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        );
    }
}

#[test]
fn a_configuration_and_our_own_note_are_no_extra_files() {
    let room = room();
    let engine = put(&room, "engine", b"abc");
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    put(&room, "engines.json", br#"[{"name":"a"}]"#);
    put(&room, "expected.toml", b"verdict = \"rejected\"\nfails = [\"size\"]\n");
    let Loaded { submission, finding } = loaded(room.path());
    assert_eq!(finding.status, Status::Pass);
    assert!(submission.unwrap().engines_json.unwrap().selected.is_ok());
    // Of that name, whatever is no such note is a file like any other.
    let long = format!("fails = []\n#{}", "e2e4".repeat(300));
    for other in [&b""[..], b"\x7fELF", b"net = [1, 2]", long.as_bytes()] {
        put(&room, "expected.toml", other);
        let finding = loaded(room.path()).finding;
        assert_eq!(finding.status, Status::Fail, "{other:?}");
        assert!(finding.summary.ends_with("lies beside engine: expected.toml"), "{finding:?}");
    }
}

#[test]
fn extra_things_are_named_and_the_rest_is_judged_all_the_same() {
    let room = room();
    let engine = put(&room, "engine", b"abc");
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    put(&room, ".hidden", b"");
    put(&room, "net\n.nnue", b"");
    fs::create_dir(room.path().join("src")).unwrap();
    let Loaded { submission, finding } = loaded(room.path());
    assert_eq!(finding.status, Status::Fail);
    assert_eq!(
        finding.summary,
        "3 other things lie beside engine: .hidden, net\\n.nnue, src (a directory)"
    );
    let submission = submission.unwrap();
    assert_eq!(submission.file_name, "engine");
    assert!(submission.mode.is_executable());
}

#[test]
fn two_files_that_could_both_be_the_engine_are_told_apart_by_the_configuration() {
    let room = room();
    put(&room, "a", b"a");
    put(&room, "b", b"b");
    assert!(loaded(room.path()).submission.is_none());
    put(&room, "engines.json", br#"[{"command":"./b"}]"#);
    let Loaded { submission, finding } = loaded(room.path());
    assert_eq!(submission.unwrap().file_name, "b");
    assert_eq!(finding.status, Status::Fail);
}

#[test]
fn links_devices_fifos_and_sockets_are_never_opened() {
    let room = room();
    let file = put(&room, "engine", b"abc");
    let link = room.path().join("link");
    symlink(&file, &link).unwrap();
    let fifo = room.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let socket = room.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    // A process that opens the FIFO to write waits until somebody opens it to read.
    let other = fifo.clone();
    let writer = std::thread::spawn(move || File::options().write(true).open(other).map(drop));
    for (path, kind) in [
        (link.as_path(), "a symbolic link"),
        (&fifo, "a FIFO"),
        (&socket, "a socket"),
        (Path::new("/dev/zero"), "a device"),
    ] {
        let Loaded { submission, finding } = loaded(path);
        assert!(submission.is_none());
        assert_eq!(finding.status, Status::Fail);
        assert!(finding.summary.contains(kind), "{}", finding.summary);
    }
    assert!(!writer.is_finished(), "the FIFO was opened");
    drop(File::options().read(true).open(&fifo).unwrap());
    writer.join().unwrap().unwrap();
}

#[test]
fn a_stream_of_a_process_is_nothing_that_is_judged() {
    for path in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
        let error = load(Path::new(path), &LoadOptions::default()).unwrap_err();
        assert!(error.to_string().contains("write it to a file"), "{error}");
    }
}

#[test]
fn a_directory_with_only_a_link_or_a_directory_holds_no_file() {
    let room = room();
    symlink("/bin/sh", room.path().join("engine")).unwrap();
    let Loaded { submission, finding } = loaded(room.path());
    assert!(submission.is_none());
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.ends_with("only engine (a symbolic link)"));
}

#[test]
fn a_linked_configuration_is_an_extra_thing() {
    let room = room();
    put(&room, "engine", b"abc");
    symlink("/etc/passwd", room.path().join("engines.json")).unwrap();
    let Loaded { submission, finding } = loaded(room.path());
    assert_eq!(finding.status, Status::Fail);
    assert!(submission.unwrap().engines_json.is_none());
}

#[test]
fn what_is_missing_or_empty_is_no_finding() {
    let room = room();
    let error = load(&room.path().join("none"), &LoadOptions::default()).unwrap_err();
    assert!(matches!(error, LoadError::Unreadable { .. }));
    let error = load(room.path(), &LoadOptions::default()).unwrap_err();
    assert!(
        matches!(error, LoadError::Nothing { .. }) && error.to_string().contains("it is empty")
    );
    put(&room, "engines.json", b"[]");
    let error = load(room.path(), &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("but no engine"));
}

#[test]
fn configurations_are_chosen_by_option() {
    let room = room();
    let path = put(&room, "engine", b"abc");
    let config = put(&room, "all.json", br#"[{"name":"a"},{"name":"b"}]"#);
    let options = |name: Option<&str>| LoadOptions {
        engines_json: Some(config.clone()),
        name: name.map(str::to_owned),
    };
    let chosen = |name| {
        let submission = load(&path, &options(name)).unwrap().submission.unwrap();
        submission.engines_json.unwrap().selected
    };
    assert!(chosen(Some("b")).is_ok());
    assert!(chosen(None).is_err());
    let error = load(&path, &options(Some("c"))).unwrap_err().to_string();
    assert!(error.ends_with("choose with --name one of: a, b"), "{error}");
    let lone = LoadOptions { engines_json: None, name: Some("a".into()) };
    assert!(matches!(load(&path, &lone), Err(LoadError::NoConfig { .. })));
}

#[test]
fn a_configuration_that_is_no_text_is_a_problem_and_not_an_error() {
    let room = room();
    put(&room, "engine", b"abc");
    put(&room, "engines.json", b"[{\"name\":\"\xff\"}]");
    let config = loaded(room.path()).submission.unwrap().engines_json.unwrap();
    let problem = config.selected.unwrap_err();
    assert_eq!(problem.message, "the byte FF there is not UTF-8");
    assert_eq!(problem.place.to_string(), "1:11");
}

#[test]
fn a_huge_file_is_not_slurped() {
    let room = room();
    let path = room.path().join("engine");
    let file = File::create(&path).unwrap();
    file.set_len(10 << 30).unwrap();
    let submission = loaded(&path).submission.unwrap();
    assert_eq!(submission.size, Bytes(10 << 30));
    assert_eq!(Bytes::of(&submission.bytes), READ_AT_MOST);
    assert_eq!(submission.sha256, None);
    file.set_len(READ_AT_MOST.0 + 5).unwrap();
    let submission = loaded(&path).submission.unwrap();
    assert!(submission.sha256.is_some() && !submission.is_whole());
    assert_eq!(submission.size, READ_AT_MOST + Bytes(5));
}

#[test]
fn a_file_among_folders_of_entries_is_what_has_to_go() {
    let room = room();
    for name in ["a", "b", "c"] {
        fs::create_dir(room.path().join(name)).unwrap();
    }
    put(&room, "notes.c", b"int main() {}");
    let help = loaded(room.path()).finding.help;
    assert!(help.ends_with("if what lies beside it are entries, move notes.c elsewhere"), "{help}");
    put(&room, "more.c", b"int main() {}");
    let Loaded { submission, finding } = loaded(room.path());
    assert!(submission.is_none() && finding.status == Status::Fail);
    assert!(finding.help.ends_with("move what is none elsewhere: more.c, notes.c"));
    // As many files as folders: they may be the entries.
    put(&room, "last.c", b"int main() {}");
    let help = loaded(room.path()).finding.help;
    assert!(help.contains("each file is an entry"), "{help}");
}
