//! Slurm itself, two nodes on one machine with its daemons started by hand: the recipe's array of shards, of which one is killed
//! and requeued, while a node is drained.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::contrib_recipes::{Site, contrib, err, out};
use crate::match_::engine::instant;
use crate::trials::{Test, keep_log};

/// A controller and two nodes of two processors each, whatever the machine has.
struct Cluster<'a> {
    site: &'a Site,
    conf: PathBuf,
    daemons: Vec<Child>,
}

impl Cluster<'_> {
    fn start(site: &Site) -> Cluster<'_> {
        let sockets: Vec<TcpListener> =
            (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> =
            sockets.iter().map(|socket| socket.local_addr().unwrap().port()).collect();
        drop(sockets);
        let host = nix::unistd::gethostname().unwrap().into_string().unwrap();
        let folder = site.path("slurm");
        for name in ["state", "spool.n1", "spool.n2"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let conf = folder.join("slurm.conf");
        let here = folder.display();
        let node = |name: &str, port: u16| {
            format!("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2\n")
        };
        let text = format!(
            "ClusterName=gate4k\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmctldPort={}\n\
             AuthType=auth/munge\nAuthInfo=socket={here}/munge.socket\nStateSaveLocation={here}/state\n\
             SlurmdSpoolDir={here}/spool.%n\nSlurmctldPidFile={here}/slurmctld.pid\n\
             SlurmdPidFile={here}/slurmd.%n.pid\nSlurmctldLogFile={here}/slurmctld.log\n\
             SlurmdLogFile={here}/slurmd.%n.log\nSlurmdParameters=config_overrides\n\
             ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nMpiDefault=none\nSwitchType=switch/none\n\
             ReturnToService=2\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n{}{}\
             PartitionName=all Nodes=ALL Default=YES State=UP\n",
            ports[0],
            node("n1", ports[1]),
            node("n2", ports[2])
        );
        fs::write(&conf, text).unwrap();
        // A secret that only these daemons know, and nobody else has a use for.
        site.write("slurm/munge.key", &"gate4k".repeat(64));
        let owned = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(folder.join("munge.key"), owned).unwrap();
        let mut cluster = Cluster { site, conf, daemons: Vec::new() };
        let option = |name: &str, file: &str| format!("--{name}={here}/{file}");
        cluster.daemon(
            "munged",
            &[
                "--foreground",
                "--force",
                &option("key-file", "munge.key"),
                &option("socket", "munge.socket"),
                &option("pid-file", "munged.pid"),
                &option("log-file", "munged.log"),
                &option("seed-file", "munge.seed"),
            ],
        );
        cluster.wait("munge", || folder.join("munge.socket").exists());
        cluster.daemon("slurmctld", &["-D"]);
        cluster.daemon("slurmd", &["-D", "-N", "n1"]);
        cluster.daemon("slurmd", &["-D", "-N", "n2"]);
        cluster.wait("two nodes", || cluster.ask("sinfo", &["-h", "-o", "%D %T"]) == "2 idle\n");
        cluster
    }

    fn daemon(&mut self, program: &str, words: &[&str]) {
        let mut command = self.command(program, words);
        // The daemons have logs of their own.
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.daemons.push(child);
    }

    fn command(&self, program: impl AsRef<std::path::Path>, words: &[&str]) -> Command {
        let mut command = self.site.command(program, words);
        command.env("SLURM_CONF", &self.conf);
        command
    }

    /// The output of a command of Slurm.
    fn ask(&self, program: &str, words: &[&str]) -> String {
        out(&self.command(program, words).output().unwrap())
    }

    fn wait(&self, what: &str, mut is_there: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(300);
        while !is_there() {
            assert!(Instant::now() < deadline, "no {what}\n{}", self.log());
            sleep(Duration::from_millis(100));
        }
    }

    /// All that the daemons and the tasks have written.
    fn log(&self) -> String {
        let mut log = String::new();
        for folder in ["slurm", "run"] {
            let mut files: Vec<PathBuf> = fs::read_dir(self.site.path(folder))
                .into_iter()
                .flatten()
                .flatten()
                .map(|file| file.path())
                .filter(|path| path.extension().is_some_and(|ending| ending == "log"))
                .collect();
            files.sort();
            for file in files {
                let text = fs::read(&file).unwrap_or_default();
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                log += &format!("== {folder}/{name}\n{}", String::from_utf8_lossy(&text));
            }
        }
        log
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        let _ = self.command("scancel", &["--user=root"]).output();
        // The nodes before their controller, and that before its authentication.
        for daemon in self.daemons.iter_mut().rev() {
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
            let _ = daemon.wait();
        }
    }
}

/// The process of a shard's own gate4k.
fn process_of(journal: &str) -> Option<u32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let is_its = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.first().is_some_and(|word| word.ends_with(b"gate4k"))
            && words.contains(&journal.as_bytes())
    };
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(is_its)
}

fn an_array_outlives_a_kill_and_a_drained_node() {
    let site = Site::new();
    let cluster = Cluster::start(&site);
    let engine = instant().display();
    let engines = [1, 2].map(|seed| format!("name=E{seed} cmd={engine} args=seed={seed}"));
    let game = ["--rounds", "40", "--max-plies", "40", "--pgn-style", "moves"];
    let both = [&*engines[0], &*engines[1]];
    let one = site.command("gate4k", &[&["match"], &game[..], &both].concat()).output().unwrap();
    assert_eq!(one.status.code(), Some(0), "{}", err(&one));
    // A pause after each game, so that a task is there long enough to be killed.
    let run = site.path("run");
    let run = run.to_str().unwrap();
    let words = [&["8", run, "match"], &game[..], &["--wait", "500ms"], &both].concat();
    let submitted = cluster.command(contrib("slurm/submit.sh"), &words).output().unwrap();
    assert_eq!(submitted.status.code(), Some(0), "{}", err(&submitted));
    let queued = cluster.ask("squeue", &["-h", "-o", "%F", "-n", "gate4k"]);
    let array = queued.lines().next().expect("the array is queued");

    let journal = format!("{run}/3.journal");
    let kept = || fs::read_to_string(&journal).unwrap_or_default().matches("{\"game\":{").count();
    cluster.wait("game of the third task", || kept() > 0);
    cluster.ask("scontrol", &["update", "nodename=n2", "state=drain", "reason=test"]);
    let pid = process_of(&journal).expect("it has not ended yet");
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    let task = format!("{array}_3");
    let restarts = || cluster.ask("scontrol", &["show", "job", &task]).contains("Restarts=1 ");
    cluster.wait("requeued task", restarts);
    let before = kept();
    assert!(before < 10, "it had ended before");
    // Slurm would wait two minutes.
    cluster.wait("end of all tasks", || {
        cluster.ask("scontrol", &["update", &format!("jobid={task}"), "starttime=now"]);
        cluster.ask("squeue", &["-h"]).is_empty()
    });
    assert_eq!(kept(), 10);
    assert_eq!(cluster.ask("sinfo", &["-h", "-n", "n2", "-o", "%T"]), "drained\n");
    let log = cluster.log();
    keep_log("slurm", &log);
    assert!(log.contains("DUE TO JOB REQUEUE"), "{log}");
    assert_eq!(fs::read_to_string(site.path("run/merge.log")).unwrap(), out(&one), "{log}");
}

/// The job that watches ends the shards, and the merge writes what it is asked for.
fn an_array_ends_once_its_test_is_decided() {
    let site = Site::new();
    let cluster = Cluster::start(&site);
    let engine = instant().display();
    let engines =
        [format!("name=A cmd={engine} args=seed=1"), format!("name=B cmd={engine} args=illegal@6")];
    let game = ["-q", "--rounds", "20000", "--sprt", "0,300", "--pgn-style", "moves"];
    let words = [&["3", "run", "match"], &game[..], &[&*engines[0], &*engines[1]]].concat();
    let mut submit = cluster.command(contrib("slurm/submit.sh"), &words);
    submit.env("WATCH", "run/decided").env("MERGE", "--quiet --pgn games.pgn");
    let submitted = submit.output().unwrap();
    assert_eq!(submitted.status.code(), Some(0), "{}", err(&submitted));
    cluster.wait("end of all jobs", || cluster.ask("squeue", &["-h"]).is_empty());
    let log = cluster.log();
    let read = |name: &str| fs::read_to_string(site.path(name)).unwrap_or_default();
    let test = read("run/decided").lines().next().map(str::to_owned).unwrap_or_default();
    assert!(test.ends_with("300 accepted"), "{log}");
    assert!(read("run/merge.log").lines().any(|line| line == test), "{log}");
    assert!((1..1000).contains(&read("games.pgn").matches("[Result").count()), "{log}");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        slow an_array_outlives_a_kill_and_a_drained_node [Slurm, Root],
        slow an_array_ends_once_its_test_is_decided [Slurm, Root],
    ]
}
