//! Files that git cannot store, as entries: each is named and rejected, none is opened in a way that could hang.

use std::path::Path;
use std::process::Command;

use nix::sys::stat::Mode;
use serde_json::Value;

use crate::trials::Test;

fn finding(entry: &Path) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--format", "json"])
        .arg(entry)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    let findings = report["entries"][0]["findings"].as_array().unwrap().clone();
    let single = findings.iter().find(|finding| finding["rule"] == "single-file").unwrap();
    let text = |key: &str| single[key].as_str().unwrap().to_owned();
    (out.status.code().unwrap(), text("status"), text("summary"))
}

fn a_fifo_is_no_entry() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("engine");
    nix::unistd::mkfifo(&path, Mode::from_bits_truncate(0o644)).unwrap();
    for entry in [path.as_path(), dir.path()] {
        let (code, status, summary) = finding(entry);
        assert_eq!((code, status.as_str()), (1, "fail"), "{summary}");
        assert!(summary.to_lowercase().contains("fifo"), "{summary}");
    }
}

fn a_device_is_no_entry() {
    let (code, status, summary) = finding(Path::new("/dev/null"));
    assert_eq!((code, status.as_str()), (1, "fail"), "{summary}");
    assert!(summary.contains("device"), "{summary}");
}

fn a_link_to_elsewhere_is_no_entry() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("engine");
    std::os::unix::fs::symlink("/bin/true", &path).unwrap();
    let (code, status, summary) = finding(&path);
    assert_eq!((code, status.as_str()), (1, "fail"), "{summary}");
    assert!(summary.contains("link"), "{summary}");
}

fn a_huge_file_is_measured_and_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("engine");
    std::fs::File::create(&path).unwrap().set_len(2 << 30).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_gate4k")).arg("check").arg(&path).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(out.status.code(), Some(1), "{text}");
    assert!(text.contains("2147483648"), "{text}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick a_fifo_is_no_entry,
        quick a_device_is_no_entry,
        quick a_link_to_elsewhere_is_no_entry,
        quick a_huge_file_is_measured_and_not_read,
    ]
}
