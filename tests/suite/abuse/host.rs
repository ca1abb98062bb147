//! The hosts: as root and as an ordinary user, with namespaces and without. Each is a process of its own, since
//! it changes its user and its place for temporary files.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gate4k::model::evidence::{ExecOutcome, ProgramClass};
use gate4k::model::layer_status::{LayerName, LayerState};
use gate4k::policy::allowlist::Allowlist;
use gate4k::policy::decide::Strictness;
use gate4k::policy::toolchain::Toolchain;
use gate4k::sandbox::Sandbox;
use gate4k::sandbox::capability::Capability;
use gate4k::sandbox::plan::{Audit, Launcher, Staging, StartPlan};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};

use super::attack::{Attack, Place};
use super::inside::{self, Sandboxes};
use super::program::Program;
use super::world::{NOBODY, World};

use crate::needs::{NO_USER_NAMESPACES, Need};
use crate::trials::{Test, apart};

/// A copy of this test that everybody may run, with the attacks compiled beside it.
pub(crate) struct Copy {
    dir: tempfile::TempDir,
}

impl Copy {
    pub(crate) fn new(user: Option<u32>) -> Copy {
        let dir = tempfile::Builder::new().prefix("gate4k-abuse-").tempdir().unwrap();
        let open = |path: &Path, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        open(dir.path(), 0o755);
        let at = |name: &str| dir.path().join(name);
        // By another process: what a test of this one starts meanwhile would hold the copy open for writing, and nobody could run it.
        let cp = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(at("test")).status();
        assert!(cp.unwrap().success());
        open(&at("test"), 0o755);
        std::fs::write(at("attacks"), Program::get().bytes()).unwrap();
        open(&at("attacks"), 0o644);
        std::fs::create_dir(at("tmp")).unwrap();
        std::os::unix::fs::chown(at("tmp"), user, user).unwrap();
        Copy { dir }
    }

    /// A path beside the copy.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn tmp(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    /// A run of one inner test of the attacks (`host::run_all`) in another process.
    pub(crate) fn command(
        &self,
        through: &[&str],
        test: &str,
        mode: &str,
        user: Option<u32>,
    ) -> Command {
        let exe = self.dir.path().join("test").to_string_lossy().into_owned();
        let words: Vec<&str> = through.iter().copied().chain([exe.as_str()]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        let mut command = apart(command, &format!("inner::abuse::{test}"));
        command
            .env("GATE4K_ABUSE_MODE", mode)
            .env("GATE4K_ABUSE_PROGRAM", self.dir.path().join("attacks"))
            .env("TMPDIR", self.tmp())
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        if let Some(user) = user {
            command.uid(user).gid(user).env("HOME", self.tmp());
        }
        command
    }

    /// Nothing of a run may stay on the host.
    pub(crate) fn is_clean(&self) {
        let left: Vec<_> =
            std::fs::read_dir(self.tmp()).unwrap().map(|item| item.unwrap().file_name()).collect();
        assert!(left.is_empty(), "left on the host: {left:?}");
    }
}

/// Its output; it fails the test where it fails, and is killed where it takes minutes.
pub(crate) fn wait(mut command: Command) -> String {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let read = |mut from: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = from.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = read(Box::new(child.stdout.take().unwrap()));
    let err = read(Box::new(child.stderr.take().unwrap()));
    let deadline = Instant::now() + Duration::from_secs(900);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if Instant::now() > deadline => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let text = out.join().unwrap() + &err.join().unwrap();
    assert!(status.is_some_and(|status| status.success()), "{status:?}\n{text}");
    text
}

/// The attacks that a run has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// The attacks that need nothing but a C compiler and Debian's base.
    Base,
    /// The attacks of scripts whose interpreters or packers not every host has.
    Scripts,
}

impl Part {
    pub(crate) const ALL: [Part; 2] = [Part::Base, Part::Scripts];

    /// The name of a test of this part.
    pub(crate) fn of(self, test: &str) -> String {
        match self {
            Part::Base => test.to_owned(),
            Part::Scripts => format!("{test}_by_scripts"),
        }
    }

    fn attacks(self) -> Vec<Attack> {
        let mut all = super::attacks();
        all.retain(|attack| attack.needs().is_empty() == (self == Part::Base));
        all
    }

    pub(crate) fn needs(self) -> Vec<Need> {
        let all: BTreeSet<Need> = self.attacks().iter().flat_map(Attack::needs).collect();
        all.into_iter().collect()
    }
}

/// All attacks of a part, as this user in this mode. An ordinary user runs the ordinary user's tests as itself.
fn everything(part: Part, through: &[&str], inner: &str, mode: &str, user: Option<u32>) {
    let user = user.filter(|_| Uid::effective().is_root());
    let copy = Copy::new(user);
    wait(copy.command(through, &format!("host::{}", part.of(inner)), mode, user));
    copy.is_clean();
}

/// Every attack of a part that is wanted, in this process and on this host.
pub(crate) fn run_all(part: Part, is_wanted: impl Fn(&Attack) -> bool) {
    let namespaces = std::env::var("GATE4K_ABUSE_MODE").as_deref() == Ok("namespaces");
    let place = if namespaces { Place::Namespaces } else { Place::Bare };
    let (program, sandboxes) = (Program::get(), Sandboxes::new(namespaces));
    let stray = super::leave_open();
    let mut all = part.attacks();
    all.retain(|attack| attack.is_for(place) && is_wanted(attack));
    let sound = sandboxes.sound(namespaces);
    let worlds = std::env::temp_dir();
    assert!(worlds.is_dir());
    let failed = super::each(&all, |attack| {
        let world = World::new(None, Some(std::process::id()));
        inside::judge(attack, place, &sandboxes, program, &world, &sound)
    });
    drop(stray);
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), all.len(), failed.join("\n"));
}

fn run_all_without_user_namespaces(part: Part) {
    let capability = Capability::probe();
    let why = capability.namespaces.clone().expect_err("user namespaces are there");
    assert!(!why.is_empty());
    for layer in capability.layers() {
        let namespace = !layer.name.is_mandatory();
        if namespace && layer.name <= LayerName::Uts {
            assert_eq!(layer.state, LayerState::Absent, "{layer:?}");
            assert!(!layer.reason.is_empty(), "{layer:?}");
        }
    }
    run_all(part, |_| true);
}

/// The rules' own first example, with a payload that says hello.
fn example(sleep: &str) -> Vec<u8> {
    let script = format!(
        "#!/bin/sh\nT=`mktemp`\necho 'echo hello'>$T\nchmod +x $T\n(sleep {sleep};rm $T)&sh $T\n"
    );
    script.into_bytes()
}

fn the_rules_examples_leave_nothing_and_are_named() {
    for (strictness, left) in [(Strictness::Tolerant, 0), (Strictness::Strict, 1)] {
        let list = std::sync::Arc::new(Allowlist::built_in().clone());
        let tools = std::sync::Arc::new(Toolchain::discover(list, strictness));
        let sandbox = Sandbox::new(tools.host(true), tools);
        let plan = StartPlan {
            bytes: example("0.3").into(),
            staging: Staging::Neutral,
            shell: gate4k::model::evidence::Shell::AsIs,
            audit: Audit::Full,
        };
        let (confined, pipes) = sandbox.launch(&plan).unwrap();
        let mut out = String::new();
        std::fs::File::from(pipes.stdout).read_to_string(&mut out).unwrap();
        assert!(confined.wait_empty(Instant::now() + Duration::from_secs(120)));
        let traces = confined.close();
        assert_eq!(out, "hello\n");
        assert_eq!(traces.left_files.len(), left, "{:?}", traces.left_files);
        let rm = traces.execs.iter().find(|exec| exec.name == "rm").unwrap();
        match strictness {
            Strictness::Tolerant => assert_eq!(rm.class, ProgramClass::Tolerated),
            Strictness::Strict => assert_eq!(rm.outcome, ExecOutcome::Denied),
        }
    }
    // Ended before its own clean-up: the sleeper and the file are both found, and both are gone afterwards.
    let sandboxes = Sandboxes::new(true);
    let done =
        inside::run(sandboxes.plain(), example("600"), Audit::Full, Duration::from_secs(120));
    assert_eq!(done.left.len(), 2, "{:?}", done.traces.execs);
    assert_eq!(done.traces.left_files.len(), 1);
}

fn a_supervisor_that_is_killed_leaves_no_process() {
    let copy = Copy::new(None);
    for (round, mode) in ["namespaces", "bare"].into_iter().cycle().take(8).enumerate() {
        let sleep = format!("9{:03}{round}", std::process::id() % 1000);
        let mut command = copy.command(&[], "host::supervisor", mode, None);
        command.env("GATE4K_ABUSE_SLEEP", &sleep).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(40 * round as u64 * round as u64));
        kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
        child.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(120);
        while runs(&sleep) {
            assert!(Instant::now() < deadline, "round {round}, {mode}: it sleeps on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn runs(argument: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|item| {
        let line = std::fs::read(item.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes())
    })
}

fn supervisor() {
    let namespaces = std::env::var("GATE4K_ABUSE_MODE").as_deref() == Ok("namespaces");
    let sleep = std::env::var("GATE4K_ABUSE_SLEEP").unwrap();
    let sandboxes = Sandboxes::new(namespaces);
    let script = format!("#!/bin/sh\n(sleep {sleep} &)\nsleep {sleep}\n");
    inside::run(sandboxes.plain(), script.into_bytes(), Audit::Full, Duration::from_secs(30));
}

pub(crate) fn tests() -> Vec<Test> {
    let mut all = tests![
        inner supervisor,
        slow the_rules_examples_leave_nothing_and_are_named [Landlock, Namespaces],
        slow a_supervisor_that_is_killed_leaves_no_process [Landlock],
    ];
    for part in Part::ALL {
        let mut add = |tier, name, needs: &[Need], body: Box<dyn Fn() + Send>| {
            let test = Test::new(tier, module_path!(), &part.of(name), body).needs(needs);
            all.push(test.needs(&part.needs()));
        };
        add("inner", "run_all", &[], Box::new(move || run_all(part, |_| true)));
        let run_all_without = move || run_all_without_user_namespaces(part);
        add("inner", "run_all_without_user_namespaces", &[], Box::new(run_all_without));
        for (name, mode, user) in [
            ("root_with_namespaces", "namespaces", None),
            ("root_without_namespaces", "bare", None),
            ("a_user_with_namespaces", "namespaces", Some(NOBODY)),
            ("a_user_without_namespaces", "bare", Some(NOBODY)),
        ] {
            let mut needs = vec![Need::Landlock];
            needs.extend((mode == "namespaces").then_some(Need::Namespaces));
            needs.extend(user.is_none().then_some(Need::Root));
            let body = move || everything(part, &[], "run_all", mode, user);
            add("slow", name, &needs, Box::new(body));
        }
        add(
            "slow",
            "a_host_without_user_namespaces_says_so",
            &[Need::Landlock, Need::Bwrap],
            Box::new(move || {
                let inner = "run_all_without_user_namespaces";
                everything(part, &NO_USER_NAMESPACES, inner, "bare", Some(NOBODY));
            }),
        );
    }
    all
}
