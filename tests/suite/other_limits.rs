//! Events of the same kind with other limits: ELF executables only, or more bytes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::trials::Test;

fn check(folder: &Path, more: &[&str], entry: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--format=json"])
        .args(more)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries").join(entry))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
    document["entries"][0].clone()
}

fn status(entry: &Value, rule: &str) -> String {
    let findings = entry["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == rule).unwrap();
    finding["status"].as_str().unwrap().to_owned()
}

fn an_event_for_elf_files_takes_no_script() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(check(folder.path(), &["--elf-only"], "accept/elf")["verdict"], "accepted");
    let script = check(folder.path(), &["--elf-only"], "accept/python3");
    assert_eq!(
        (script["verdict"].as_str(), &*status(&script, "format")),
        (Some("rejected"), "fail")
    );
    // The same by the file of a repository of entries, which no report may keep to itself.
    fs::write(folder.path().join("gate4k.toml"), "elf-only = true\n").unwrap();
    assert_eq!(check(folder.path(), &[], "accept/python3")["verdict"], "rejected");
    let accepted = check(folder.path(), &[], "accept/elf");
    assert_eq!(accepted["verdict"], "accepted");
    assert_eq!(accepted["terms"], serde_json::json!(["--elf-only"]));
    fs::remove_file(folder.path().join("gate4k.toml")).unwrap();
    assert_eq!(check(folder.path(), &[], "accept/elf")["terms"], Value::Null);
}

fn an_event_with_more_room_takes_larger_entries() {
    let folder = tempfile::tempdir().unwrap();
    let over = check(folder.path(), &[], "reject/size-elf-4097");
    assert_eq!((over["verdict"].as_str(), &*status(&over, "size")), (Some("rejected"), "fail"));
    let within = check(folder.path(), &["--size-limit=64K"], "reject/size-elf-4097");
    assert_eq!(status(&within, "size"), "pass", "{within:#}");
    assert_eq!(within["verdict"], "accepted");
    fs::write(folder.path().join("gate4k.toml"), "size-limit = 4097\n").unwrap();
    assert_eq!(check(folder.path(), &[], "reject/size-elf-4097")["verdict"], "accepted");
    fs::write(folder.path().join("gate4k.toml"), "size-limit = \"much\"\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "x"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("gate4k.toml:1:14") && told.contains("\"much\""), "{told}");
}

fn who_uses_more_memory_than_the_event_allows_fails() {
    let folder = tempfile::tempdir().unwrap();
    let entry = "accept/python3";
    let roomy = check(folder.path(), &["--memory-limit=1G"], entry);
    assert_eq!(roomy["verdict"], "accepted", "{roomy:#}");
    // Python alone takes more. The moment when that was seen decides at which question it was killed.
    let over = check(folder.path(), &["--memory-limit=2M"], entry);
    assert_eq!(over["verdict"], "rejected", "{over:#}");
    let findings = over["findings"].as_array().unwrap();
    let failed: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["status"] == "fail")
        .filter_map(|finding| finding["summary"].as_str())
        .collect();
    assert!(failed.iter().all(|why| why.contains("this event allows 2 MiB")), "{failed:#?}");
    fs::write(folder.path().join("gate4k.toml"), "memory-limit = \"2M\"\n").unwrap();
    assert_eq!(check(folder.path(), &[], entry)["verdict"], "rejected");
    // More than a host can spare is no rule that it could hold.
    fs::write(folder.path().join("gate4k.toml"), "memory-limit = \"1024T\"\n").unwrap();
    assert_eq!(check(folder.path(), &[], entry)["verdict"], "accepted");
}

/// A host that says that it has 1 GiB ends an entry that touches 64 GiB long before they are there.
fn who_touches_more_memory_than_the_host_has_is_undecided() {
    let folder = tempfile::tempdir().unwrap();
    let sound = fs::read_to_string("fixtures/entries/accept/clock-none-below-a-second/engine");
    let touches = "#!/usr/bin/python3\nall = [b'x' * (1 << 20) for i in range(64 << 10)]\n";
    let engine = sound.unwrap().replacen("#!/usr/bin/python3\n", touches, 1);
    fs::write(folder.path().join("engine"), engine).unwrap();
    fs::write(folder.path().join("meminfo"), "MemTotal: 1048576 kB\n").unwrap();
    let words = format!(
        "mount --bind meminfo /proc/meminfo && {} check -q --quick --format=json engine",
        env!("CARGO_BIN_EXE_gate4k")
    );
    let output = Command::new("unshare")
        .args(["--mount", "--", "/bin/sh", "-c", &words])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{told}"));
    let judged = &document["entries"][0];
    assert_eq!(judged["verdict"], "undecided", "{judged:#}");
    let startup = judged["findings"].as_array().unwrap().iter().find(|f| f["rule"] == "startup");
    let startup = startup.unwrap();
    assert!(startup["help"].to_string().contains("on a machine with more memory"), "{startup:#}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow an_event_for_elf_files_takes_no_script [Landlock, Python3],
        slow an_event_with_more_room_takes_larger_entries [Landlock],
        slow who_uses_more_memory_than_the_event_allows_fails [Landlock, Python3],
        slow who_touches_more_memory_than_the_host_has_is_undecided
            [Landlock, Root, Unshare, Mounts, Python3],
    ]
}
