//! The recipes in `contrib/` for what starts shards: each is run, or its part is played.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::match_::engine::instant;
use crate::needs::python;
use crate::trials::{Test, keep_log};

/// Five entries that are rejected by their bytes, and gate4k on PATH.
pub(crate) struct Site {
    top: tempfile::TempDir,
}

impl Site {
    pub(crate) fn new() -> Site {
        let site = Site { top: tempfile::tempdir().unwrap() };
        for number in 0..5 {
            let source = format!("int main(void) {{ return {number}; }}\n");
            site.write(&format!("entries/e{number}/engine"), &source);
        }
        fs::create_dir(site.path("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_gate4k"), site.path("bin/gate4k")).unwrap();
        site
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn command(&self, program: impl AsRef<Path>, words: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        let path = std::env::var("PATH").unwrap();
        command.args(words).current_dir(self.top.path()).stdin(Stdio::null());
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.env("HOME", self.top.path()).env("COLUMNS", "120");
        for name in ["HOSTS", "JOBS", "MERGE", "WATCH"] {
            command.env_remove(name);
        }
        for name in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "PARALLEL_SEQ"] {
            command.env_remove(name);
        }
        command
    }

    /// The output of one run.
    fn one_run(&self) -> String {
        let one = self
            .command("gate4k", &["check", "--no-cache", "--jobs", "1", "entries"])
            .output()
            .unwrap();
        assert_eq!(one.status.code(), Some(1), "{}", err(&one));
        out(&one)
    }
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib").join(name)
}

/// An entry that no try decides: the kernel refuses it the memory that it wants.
fn add_an_undecided_one(site: &Site) {
    let fixture = "fixtures/entries/reject/startup-hash-bss/engine";
    let engine = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture)).unwrap();
    site.write("entries/open/engine", "");
    fs::write(site.path("entries/open/engine"), engine).unwrap();
}

/// A gate4k that is stopped at its first try of a shard, as by the host.
const STOPPED_ONCE: &str = r#"#!/bin/sh
for word; do case $word in */3) shard=${word%/*} ;; auto) shard=$SLURM_ARRAY_TASK_ID ;; esac; done
if [ "$1" = check ] && [ "$shard" = 2 ] && mkdir stopped 2>/dev/null; then exit 4; fi
exec GATE4K "$@"
"#;

fn stop_once(site: &Site) {
    fs::remove_file(site.path("bin/gate4k")).unwrap();
    site.write("bin/gate4k", &STOPPED_ONCE.replace("GATE4K", env!("CARGO_BIN_EXE_gate4k")));
}

/// `parallel` itself, on two hosts of which the way there leads back here.
fn gnu_parallel_spreads_a_check_over_hosts_and_repeats_what_failed() {
    let site = Site::new();
    let one = site.one_run();
    stop_once(&site);
    site.write(
        "bin/ssh",
        "#!/bin/sh\necho \"$1\" >>hosts\nshift\n[ \"$1\" = -- ] && shift\nexec sh -c \"$*\"\n",
    );
    let shards = contrib("parallel/shards.sh");
    let words = ["3", "run", "check", "--no-cache", "--jobs", "1", "entries"];
    let run = |hosts: &str| {
        let mut command = site.command(&shards, &words);
        // Neither a shell that is named nor its absence changes a thing.
        command.env("SHELL", "/bin/false");
        if !hosts.is_empty() {
            command.env("HOSTS", hosts).env("PARALLEL_SSH", site.path("bin/ssh"));
        }
        command.output().unwrap()
    };
    let merged = run("1/one,1/two");
    assert_eq!((out(&merged), merged.status.code()), (one.clone(), Some(1)), "{}", err(&merged));
    assert!(site.path("stopped").exists());
    let hosts = fs::read_to_string(site.path("hosts")).unwrap();
    assert!(hosts.contains("one") && hosts.contains("two"), "{hosts}");
    // The shards that failed are repeated, and no others.
    let log = fs::read_to_string(site.path("run/joblog")).unwrap();
    let failed: String = log
        .lines()
        .map(|line| {
            let mut columns: Vec<&str> = line.split('\t').collect();
            if columns[0] == "3" {
                columns[6] = "4";
            }
            columns.join("\t") + "\n"
        })
        .collect();
    fs::write(site.path("run/joblog"), failed).unwrap();
    let before: Vec<u64> = (1..=3).map(|shard| length(&site, shard)).collect();
    let merged = run("");
    assert_eq!((out(&merged), merged.status.code()), (one, Some(1)), "{}", err(&merged));
    let after: Vec<u64> = (1..=3).map(|shard| length(&site, shard)).collect();
    assert_eq!(before[..2], after[..2]);
    assert!(before[2] < after[2]);
    keep_log("parallel", &(err(&merged) + &fs::read_to_string(site.path("run/joblog")).unwrap()));
}

/// Three tries where another one may tell more, as of an undecided entry beside a rejected one; one where it is of no use.
fn gnu_parallel_tries_again_what_another_try_may_mend_and_nothing_else() {
    let site = Site::new();
    fs::remove_file(site.path("bin/gate4k")).unwrap();
    // By the shard's number: 1 is a verdict, 2 a usage error, 3 nothing there, 4 undecided, 5 a bug.
    site.write(
        "bin/gate4k",
        "#!/bin/sh\n[ \"$1\" = merge ] && exit 0\nwhile [ \"$1\" != --shard ]; do shift; done\n\
         shard=${2%/*}\necho \"$shard\" >>tries\n[ \"$shard\" = 5 ] && exit 70\nexit \"$shard\"\n",
    );
    let run = || {
        fs::write(site.path("tries"), "").unwrap();
        fs::create_dir_all(site.path("run")).unwrap();
        fs::write(site.path("run/1.journal"), "").unwrap();
        let words = ["5", "run", "check", "entries"];
        let done = site.command(contrib("parallel/shards.sh"), &words).output().unwrap();
        assert!(err(&done).contains("4: so many shards failed"), "{}", err(&done));
        let tries = fs::read_to_string(site.path("tries")).unwrap();
        [1, 2, 3, 4, 5].map(|shard| tries.lines().filter(|line| *line == shard.to_string()).count())
    };
    assert_eq!(run(), [1, 1, 1, 3, 1]);
    // Given again, perhaps with what was wrong mended.
    assert_eq!(run(), [0, 1, 1, 3, 1]);
    let log = fs::read_to_string(site.path("run/joblog")).unwrap();
    let code = |line: &str| line.split('\t').nth(6).unwrap().to_owned();
    let mut codes: Vec<String> = log.lines().skip(1).map(code).collect();
    codes.sort();
    codes.dedup();
    assert_eq!(codes, ["0", "2", "3", "4", "70"], "{log}");
}

fn length(site: &Site, shard: usize) -> u64 {
    fs::metadata(site.path(&format!("run/{shard}.journal"))).unwrap().len()
}

/// The scripts of Slurm with its commands played: an array of three, of which one is requeued, then the merge.
fn slurm_s_array_requeues_and_its_merge_follows() {
    let site = Site::new();
    let one = site.one_run();
    stop_once(&site);
    site.write(
        "bin/sbatch",
        r#"#!/bin/sh
echo "$*" >>submitted
for word; do
    case $word in
    --array=1-*) last=${word#--array=1-} ;;
    --dependency=afterany:7) waits=yes ;;
    --output=*) log=${word#--output=} ;;
    esac
done
while case $1 in --*) ;; *) false ;; esac; do shift; done
if [ -n "${waits-}" ]; then
    sh "$@" >"$log" 2>&1
    echo $? >merged
    echo 8
    exit
fi
for task in $(seq "$last"); do
    restarts=0
    while :; do
        SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=$last SLURM_ARRAY_TASK_MIN=1 \
            SLURM_ARRAY_TASK_MAX=$last SLURM_RESTART_COUNT=$restarts sh "$@" >>log 2>&1
        echo "$task $?" >>codes
        [ -f requeued ] || break
        rm requeued
        restarts=$((restarts + 1))
    done
done
echo 7
"#,
    );
    // Slurm ends a task that asks to be requeued.
    site.write("bin/scontrol", "#!/bin/sh\necho \"$*\" >>asked\n>requeued\nkill $PPID\n");
    let submit = contrib("slurm/submit.sh");
    let submitted =
        site.command(submit, &["3", "run", "check", "--no-cache", "--jobs", "1", "entries"]);
    let submitted = { submitted }.output().unwrap();
    assert_eq!(
        (out(&submitted).trim(), submitted.status.code()),
        ("8", Some(0)),
        "{}",
        err(&submitted)
    );
    let read = |name: &str| fs::read_to_string(site.path(name)).unwrap();
    assert_eq!(read("codes"), "1 0\n2 143\n2 0\n3 0\n");
    assert_eq!(read("asked"), "requeue 7_2\n");
    assert_eq!((read("run/merge.log"), &*read("merged")), (one, "1\n"));
}

/// A match whose shards are ended by a merge that watches them, and whose merge writes what it is asked for.
fn gnu_parallel_passes_options_to_the_merge_and_ends_a_match_early() {
    let site = Site::new();
    let engine = instant().display();
    let engines =
        [format!("name=A cmd={engine} args=seed=1"), format!("name=B cmd={engine} args=illegal@6")];
    let words = [
        &[
            "2",
            "run",
            "match",
            "-q",
            "--rounds",
            "20000",
            "--sprt",
            "0,300",
            "--pgn-style",
            "moves",
        ],
        &[&*engines[0], &*engines[1]][..],
    ]
    .concat();
    let mut command = site.command(contrib("parallel/shards.sh"), &words);
    command.env("JOBS", "2").env("WATCH", "run/decided").env("MERGE", "--quiet --pgn games.pgn");
    let merged = command.output().unwrap();
    assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
    let test = out(&merged).lines().last().unwrap().to_owned();
    assert!(test.ends_with("300 accepted") && !out(&merged).contains("Finished game"), "{test}");
    let decided = fs::read_to_string(site.path("run/decided")).unwrap();
    assert_eq!(decided.lines().next(), Some(&*test));
    let games = fs::read_to_string(site.path("games.pgn")).unwrap().matches("[Result").count();
    assert!((1..1000).contains(&games), "{games}");
}

/// A shard with an entry that is rejected and one that is undecided: the verdict does not hide that another try is worth it.
fn an_undecided_entry_is_tried_again_beside_a_rejected_one() {
    let site = Site::new();
    add_an_undecided_one(&site);
    let check = ["check", "--no-cache", "--quick", "--jobs", "1"];
    let whole = site.command("gate4k", &[&check[..], &["entries"]].concat()).output().unwrap();
    assert_eq!(whole.status.code(), Some(1), "{}", err(&whole));
    assert!(out(&whole).contains("1 undecided, 5 rejected"), "{}", out(&whole));
    site.write("bin/scontrol", "#!/bin/sh\necho \"$*\" >>asked\n");
    site.write("bin/sleep", "#!/bin/sh\n");
    let task = |restarts: usize| {
        let words = [&["run"], &check[..], &["entries"]].concat();
        let mut task = site.command(contrib("slurm/shard.sh"), &words);
        task.envs([("SLURM_ARRAY_JOB_ID", "7"), ("SLURM_ARRAY_TASK_ID", "3")]);
        task.envs([("SLURM_ARRAY_TASK_MIN", "1"), ("SLURM_ARRAY_TASK_MAX", "3")]);
        task.env("SLURM_ARRAY_TASK_COUNT", "3").env("SLURM_RESTART_COUNT", restarts.to_string());
        task.output().unwrap()
    };
    fs::create_dir(site.path("run")).unwrap();
    for restarts in 0..=3 {
        let done = task(restarts);
        assert_eq!(done.status.code(), Some(4), "{}{}", out(&done), err(&done));
        assert!(out(&done).contains("1 undecided, 1 rejected"), "{}", out(&done));
    }
    // So often as the recipe says, and no more.
    let asked = fs::read_to_string(site.path("asked")).unwrap();
    assert_eq!(asked, "requeue 7_3\n".repeat(3));
    let merged = site.command("gate4k", &["merge", "--partial", "run/3.journal"]).output().unwrap();
    assert_eq!(merged.status.code(), Some(1), "{}", err(&merged));
}

/// The manifests of Kubernetes: read as YAML, and each container's command run as it would be there.
fn kubernetes_jobs_run_with_their_environment_played() {
    let site = Site::new();
    let one = site.one_run();
    let job = manifest("gate4k");
    let spec = &job["spec"];
    let of = spec["completions"].as_u64().unwrap();
    assert_eq!((&job["kind"], &spec["completionMode"]), (&"Job".into(), &"Indexed".into()));
    assert_eq!(spec["template"]["spec"]["restartPolicy"], "Never");
    // The exit codes that another try cannot mend, by the table in the handbook.
    let rule = &spec["podFailurePolicy"]["rules"][1];
    assert_eq!(
        (&rule["action"], &rule["onExitCodes"]["operator"]),
        (&"FailIndex".into(), &"In".into())
    );
    let codes: Vec<u64> = rule["onExitCodes"]["values"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|c| c.as_u64())
        .collect();
    let table = fs::read_to_string(contrib("../docs/machines.md")).unwrap();
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        (columns.len() == 5 && columns[3] == "of no use").then(|| columns[1].parse().unwrap())
    };
    assert_eq!(codes, table.lines().filter_map(row).collect::<Vec<u64>>());
    for index in 0..of {
        let pod =
            container(&site, &job).env("JOB_COMPLETION_INDEX", index.to_string()).output().unwrap();
        assert_eq!(pod.status.code(), Some(0), "{}", err(&pod));
    }
    let merged = container(&site, &manifest("merge")).output().unwrap();
    assert_eq!((out(&merged), merged.status.code()), (one, Some(1)), "{}", err(&merged));
    assert!(site.path("report.html").exists() && site.path("report.json").exists());
}

/// As the API server would, of the first version that has all that they use and of the latest one that is known there.
fn the_manifests_agree_with_the_published_schema() {
    for version in ["1.29", "1.37"] {
        for name in ["gate4k", "merge"] {
            let validate = ["-m", "kubernetes_validate", "--strict", "-k", version];
            let path = contrib(&format!("kubernetes/{name}.yaml"));
            let told = Command::new(python()).args(validate).arg(path).output().unwrap();
            assert!(told.status.success(), "{version}: {}{}", out(&told), err(&told));
        }
    }
}

fn manifest(name: &str) -> serde_json::Value {
    let read = "import json, sys, yaml\nprint(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    let path = contrib(&format!("kubernetes/{name}.yaml"));
    let output = Command::new("/usr/bin/python3").args(["-c", read]).arg(path).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", err(&output)))
}

/// The command of a job's only container, in the volume.
fn container(site: &Site, job: &serde_json::Value) -> Command {
    let pod = &job["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let mounts: BTreeMap<_, _> =
        container["volumeMounts"][0].as_object().unwrap().iter().map(|(k, v)| (&**k, v)).collect();
    assert_eq!(mounts["mountPath"], &container["workingDir"]);
    assert_eq!(mounts["name"], &pod["volumes"][0]["name"]);
    let words: Vec<&str> = container["command"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    site.command(words[0], &words[1..])
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow gnu_parallel_spreads_a_check_over_hosts_and_repeats_what_failed [Parallel],
        slow gnu_parallel_tries_again_what_another_try_may_mend_and_nothing_else [Parallel],
        slow gnu_parallel_passes_options_to_the_merge_and_ends_a_match_early [Parallel],
        slow slurm_s_array_requeues_and_its_merge_follows,
        slow an_undecided_entry_is_tried_again_beside_a_rejected_one [Landlock],
        slow the_manifests_agree_with_the_published_schema [KubernetesSchema],
        slow kubernetes_jobs_run_with_their_environment_played [Yaml],
    ]
}
