//! The action gets its program: `ci/fetch` against a release that is served on the loopback.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sha2::{Digest, Sha256};

use crate::trials::Test;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const PROGRAM: &[u8] = b"#!/bin/sh\necho the program of a release\n";

/// The files of a release by their names; what is not there is answered with `otherwise`.
struct Release {
    files: BTreeMap<String, Vec<u8>>,
    otherwise: u16,
}

impl Release {
    fn none() -> Release {
        Release { files: BTreeMap::new(), otherwise: 404 }
    }

    fn whole() -> Release {
        let mut release = Release::none();
        let sum: String = Sha256::digest(PROGRAM).iter().map(|b| format!("{b:02x}")).collect();
        let sums = format!("{}  gate4k.deb\n{sum}  {}\n", "0".repeat(64), name());
        release.files.insert("SHA256SUMS".into(), sums.into_bytes());
        release.files.insert(name(), PROGRAM.to_vec());
        release
    }

    /// Serves it until the test ends, and tells where.
    fn serve(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                self.answer(stream.unwrap());
            }
        });
        format!("http://{address}")
    }

    fn answer(&self, mut stream: std::net::TcpStream) {
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let request = lines.next().unwrap().unwrap();
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let path = request.split(' ').nth(1).unwrap_or_default();
        let file =
            path.strip_prefix(&format!("/v{VERSION}/")).and_then(|name| self.files.get(name));
        let (status, body) = file.map_or((self.otherwise, &b"<html>"[..]), |file| (200, file));
        let head = format!(
            "HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
    }
}

fn name() -> String {
    format!("gate4k-{VERSION}-{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// A runner of GitHub's, as far as `ci/fetch` sees it, with a `cargo` that only notes how it was called.
struct Runner {
    dir: tempfile::TempDir,
    tree: PathBuf,
}

impl Runner {
    fn new() -> Runner {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        let cargo = dir.path().join("bin/cargo");
        fs::write(&cargo, format!("#!/bin/sh\necho \"$@\" >{}/built\n", dir.path().display()))
            .unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
        Runner { dir, tree: env!("CARGO_MANIFEST_DIR").into() }
    }

    fn fetch(&self, releases: &str) -> Output {
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("bash")
            .arg(self.tree.join("ci/fetch"))
            .arg(self.dir.path().join("gate4k"))
            .env("PATH", format!("{}:{path}", self.dir.path().join("bin").display()))
            .env("RUNNER_TOOL_CACHE", self.dir.path().join("cache"))
            .env("GATE4K_RELEASES", releases)
            .env("no_proxy", "127.0.0.1")
            .env_remove("GATE4K_REPOSITORY")
            .output()
            .unwrap();
        println!("{}{}", text(&output.stdout), text(&output.stderr));
        output
    }

    fn program(&self) -> Option<Vec<u8>> {
        fs::read(self.dir.path().join("gate4k/bin/gate4k")).ok()
    }

    /// The words that `cargo` was called with.
    fn built(&self) -> Option<String> {
        fs::read_to_string(self.dir.path().join("built")).ok()
    }

    fn kept(&self) -> PathBuf {
        self.dir.path().join("cache/gate4k").join(VERSION).join(name())
    }

    /// It failed for this reason, and nothing was put where the action would start it.
    fn assert_refused(&self, output: &Output, reason: &str) {
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
        assert_eq!((self.program(), self.built()), (None, None));
        assert!(!self.kept().exists(), "kept for the next run");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o111 == 0o111)
}

fn the_release_of_this_version_is_taken_and_kept() {
    let runner = Runner::new();
    assert!(runner.fetch(&Release::whole().serve()).status.success());
    assert_eq!(runner.program().unwrap(), PROGRAM);
    assert!(is_executable(&runner.dir.path().join("gate4k/bin/gate4k")));

    // The second time there is no release to be reached, and none is needed.
    fs::remove_dir_all(runner.dir.path().join("gate4k")).unwrap();
    let again = runner.fetch("http://127.0.0.1:1");
    assert!(again.status.success());
    assert!(text(&again.stdout).contains("fetched before"), "{}", text(&again.stdout));
    assert_eq!(runner.program().unwrap(), PROGRAM);
    assert_eq!(runner.built(), None);
}

fn a_program_with_another_sum_is_refused() {
    let runner = Runner::new();
    let mut release = Release::whole();
    release.files.insert(name(), b"#!/bin/sh\necho something else\n".to_vec());
    let output = runner.fetch(&release.serve());
    runner.assert_refused(&output, "is not what its release says");
}

fn a_kept_program_that_was_changed_is_fetched_anew() {
    let runner = Runner::new();
    let releases = Release::whole().serve();
    assert!(runner.fetch(&releases).status.success());
    fs::write(runner.kept(), "something else").unwrap();
    assert!(runner.fetch(&releases).status.success());
    assert_eq!(runner.program().unwrap(), PROGRAM);
}

fn it_is_built_where_there_is_no_release() {
    let runner = Runner::new();
    assert!(runner.fetch(&Release::none().serve()).status.success());
    let words = runner.built().unwrap();
    let root = runner.dir.path().join("gate4k");
    assert_eq!(
        words.trim(),
        format!(
            "install --quiet --locked --path {} --root {}",
            env!("CARGO_MANIFEST_DIR"),
            root.display()
        )
    );
}

fn a_server_that_cannot_tell_is_no_reason_to_build() {
    let runner = Runner::new();
    let output = runner.fetch(&Release { otherwise: 403, ..Release::none() }.serve());
    runner.assert_refused(&output, "cannot tell whether");
    let output = runner.fetch("http://127.0.0.1:1");
    runner.assert_refused(&output, "cannot tell whether");
}

fn a_release_that_lacks_its_program_is_refused() {
    let runner = Runner::new();
    let mut release = Release::whole();
    release.files.remove(&name());
    let output = runner.fetch(&release.serve());
    runner.assert_refused(&output, "lacks");
}

fn where_the_tree_holds_a_public_key_only_its_signature_counts() {
    let mut runner = Runner::new();
    let ours = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    let other = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    let tree = runner.dir.path().join("tree");
    fs::create_dir_all(tree.join("ci")).unwrap();
    for file in ["Cargo.toml", "ci/fetch"] {
        fs::copy(runner.tree.join(file), tree.join(file)).unwrap();
    }
    fs::write(tree.join("ci/minisign.pub"), ours.pk.to_box().unwrap().to_string()).unwrap();
    runner.tree = tree;

    let output = runner.fetch(&Release::whole().serve());
    runner.assert_refused(&output, "lacks SHA256SUMS.minisig");
    for (key, is_ours) in [(&other.sk, false), (&ours.sk, true)] {
        let mut release = Release::whole();
        let sums = &release.files["SHA256SUMS"];
        let signature = minisign::sign(None, key, &sums[..], Some("x"), None).unwrap().to_string();
        release.files.insert("SHA256SUMS.minisig".into(), signature.into_bytes());
        let output = runner.fetch(&release.serve());
        if is_ours {
            assert!(output.status.success());
            assert_eq!(runner.program().unwrap(), PROGRAM);
        } else {
            runner.assert_refused(&output, "is not what its release says");
        }
    }
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick the_release_of_this_version_is_taken_and_kept [Bash, Curl],
        quick a_program_with_another_sum_is_refused [Bash, Curl],
        quick a_kept_program_that_was_changed_is_fetched_anew [Bash, Curl],
        quick it_is_built_where_there_is_no_release [Bash, Curl],
        quick a_server_that_cannot_tell_is_no_reason_to_build [Bash, Curl],
        quick a_release_that_lacks_its_program_is_refused [Bash, Curl],
        quick where_the_tree_holds_a_public_key_only_its_signature_counts [Bash, Curl, Minisign],
    ]
}
