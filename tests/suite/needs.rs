//! The things that tests may need of a host beyond Debian's base and a C compiler, how each is looked for, and the
//! command that mends it where it is missing.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use gate4k::sandbox::capability::Capability;

/// Something that a test may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    Bash,
    Busybox,
    Bzip2,
    Chromium,
    Clang,
    Cplusplus,
    Curl,
    FairyStockfish,
    Git,
    Gnuchess,
    /// A linker; with binutils 2.44 it has become a package of its own.
    Gold,
    Make,
    Minisign,
    Nasm,
    Parallel,
    Perl,
    Pypy3,
    Python3,
    Rustc,
    Script,
    Stockfish,
    Unshare,
    Wget,
    Xz,
    Bwrap,
    /// The schema of Kubernetes, by which manifests are judged.
    KubernetesSchema,
    Landlock,
    /// A file system that can be mounted in a namespace of one's own.
    Mounts,
    Namespaces,
    Numpy,
    OpenCl,
    /// All of Perl, not the part of it that Debian's base has.
    PerlModules,
    /// Playwright, which drives a browser, and axe, which looks for barriers to readers.
    Playwright,
    /// A second program that pairs by FIDE's Dutch system.
    Py4swiss,
    PythonChess,
    Root,
    /// The daemons of Slurm, and what they know each other by.
    Slurm,
    Tables,
    Yaml,
}

/// bwrap as it makes a host on which no user namespace can be made, before the command that is to run there.
pub(crate) const NO_USER_NAMESPACES: [&str; 8] = [
    "bwrap",
    "--dev-bind",
    "/",
    "/",
    "--unshare-user",
    "--disable-userns",
    "--die-with-parent",
    "--",
];

impl Need {
    /// The command that is looked for, and Debian's package with it.
    fn command(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Need::Bash => ("bash", "bash"),
            Need::Busybox => ("busybox", "busybox"),
            Need::Bzip2 => ("bzip2", "bzip2"),
            Need::Chromium => ("chromium", "chromium"),
            Need::Clang => ("clang", "clang"),
            Need::Cplusplus => ("c++", "g++"),
            Need::Curl => ("curl", "curl"),
            Need::FairyStockfish => ("fairy-stockfish", "fairy-stockfish"),
            Need::Git => ("git", "git"),
            Need::Gnuchess => ("gnuchess", "gnuchess"),
            Need::Gold => ("ld.gold", "binutils-gold"),
            Need::Make => ("make", "make"),
            Need::Minisign => ("minisign", "minisign"),
            Need::Nasm => ("nasm", "nasm"),
            Need::Parallel => ("parallel", "parallel"),
            Need::Perl => ("perl", "perl"),
            Need::Pypy3 => ("pypy3", "pypy3"),
            Need::Python3 => ("python3", "python3"),
            Need::Script => ("script", "bsdutils"),
            Need::Stockfish => ("stockfish", "stockfish"),
            Need::Unshare => ("unshare", "util-linux"),
            Need::Wget => ("wget", "wget"),
            Need::Xz => ("xz", "xz-utils"),
            _ => return None,
        })
    }

    /// The need behind a command's name, as a fixture or a list of cases has it; none for the commands that Debian's
    /// base and a C compiler bring.
    pub(crate) fn of_command(name: &str) -> Option<Need> {
        const ALL: [Need; 21] = [
            Need::Bash,
            Need::Busybox,
            Need::Bzip2,
            Need::Clang,
            Need::Cplusplus,
            Need::Curl,
            Need::FairyStockfish,
            Need::Git,
            Need::Gnuchess,
            Need::Make,
            Need::Minisign,
            Need::Nasm,
            Need::Parallel,
            Need::Perl,
            Need::Pypy3,
            Need::Python3,
            Need::Script,
            Need::Stockfish,
            Need::Unshare,
            Need::Wget,
            Need::Xz,
        ];
        const BASE: [&str; 9] = ["as", "cc", "dash", "env", "gcc", "gzip", "ld", "sh", "tail"];
        if BASE.contains(&name) {
            return None;
        }
        let found = ALL.into_iter().find(|need| need.command().is_some_and(|(own, _)| own == name));
        Some(found.unwrap_or_else(|| panic!("needs.rs does not know what brings {name}")))
    }

    /// The command that mends it.
    pub(crate) fn mend(self) -> String {
        if let Some((_, package)) = self.command() {
            return format!("apt-get install {package}");
        }
        match self {
            Need::Bwrap => "apt-get install bubblewrap, and let it make user namespaces",
            Need::KubernetesSchema => {
                "pip install kubernetes-validate==1.37.0, and name that python3 in GATE4K_PYTHON"
            }
            Need::Landlock => "a kernel of 6.2 or later with Landlock (lsm=…,landlock)",
            Need::Mounts => "sysctl user.max_user_namespaces=10000, and let unshare --mount work",
            Need::Namespaces => "sysctl user.max_user_namespaces=10000",
            Need::Numpy => "apt-get install python3-numpy",
            Need::OpenCl => "apt-get install ocl-icd-opencl-dev opencl-headers pocl-opencl-icd",
            Need::PerlModules => "apt-get install perl",
            Need::Playwright => {
                "pip install axe-playwright-python==0.1.8 playwright==1.65.2, and name that python3 in GATE4K_PYTHON"
            }
            Need::Py4swiss => "pip install py4swiss==0.3.1, and name that python3 in GATE4K_PYTHON",
            Need::PythonChess => {
                "pip install chess==1.11.2, and name that python3 in GATE4K_PYTHON"
            }
            Need::Root => "run the tests as root",
            Need::Rustc => "rustc and cargo where entries may read them, on PATH",
            Need::Slurm => "apt-get install slurm-wlm munge",
            Need::Tables => "name a directory with Syzygy tables in GATE4K_SYZYGY",
            Need::Yaml => "apt-get install python3-yaml",
            _ => "see needs.rs",
        }
        .to_owned()
    }

    pub(crate) fn is_met(self) -> bool {
        static FOUND: Mutex<BTreeMap<Need, bool>> = Mutex::new(BTreeMap::new());
        *FOUND.lock().unwrap().entry(self).or_insert_with(|| self.look())
    }

    fn look(self) -> bool {
        if let Some((name, _)) = self.command() {
            return installed(name).is_some();
        }
        match self {
            Need::Bwrap => works(&NO_USER_NAMESPACES, &["true"]),
            Need::KubernetesSchema => works(&[&python(), "-c"], &["import kubernetes_validate"]),
            Need::Landlock => Capability::probe().landlock_abi >= 3,
            Need::Mounts => works(
                &["unshare", "--user", "--map-root-user", "--mount"],
                &["mount", "-t", "tmpfs", "none", "/tmp"],
            ),
            Need::Namespaces => Capability::probe().namespaces.is_ok(),
            Need::Numpy => works(&["/usr/bin/python3", "-c"], &["from numpy import array"]),
            Need::OpenCl => ["/usr/include/CL/cl.h", "/etc/OpenCL/vendors/pocl.icd"]
                .iter()
                .all(|path| Path::new(path).exists()),
            Need::PerlModules => works(&["perl", "-MTime::HiRes", "-e"], &["1"]),
            Need::Playwright => {
                works(&[&python(), "-c"], &["import axe_playwright_python.sync_playwright"])
            }
            Need::Py4swiss => works(&[&python(), "-c"], &["import py4swiss.engines"]),
            Need::PythonChess => works(&[&python(), "-c"], &["import chess.pgn, chess.syzygy"]),
            Need::Root => nix::unistd::Uid::effective().is_root(),
            Need::Rustc => works(&["rustc", "--version"], &[]),
            Need::Slurm => ["munged", "sbatch", "slurmctld", "slurmd"]
                .iter()
                .all(|program| installed(program).is_some()),
            Need::Tables => tables().is_some(),
            Need::Yaml => works(&["/usr/bin/python3", "-c"], &["import yaml"]),
            _ => false,
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = self.command() {
            return write!(f, "{name} is not installed");
        }
        f.write_str(match self {
            Need::Bwrap => "bwrap is not installed, or may not make user namespaces",
            Need::KubernetesSchema => "no python3 here can import kubernetes_validate",
            Need::Landlock => "the kernel cannot confine entries by Landlock",
            Need::Mounts => "no file system can be mounted in a namespace",
            Need::Namespaces => "no user namespaces can be made",
            Need::Numpy => "python3 has no numpy",
            Need::OpenCl => "there is no OpenCL",
            Need::PerlModules => "perl has not all of its modules",
            Need::Playwright => "no python3 here can import axe_playwright_python",
            Need::Py4swiss => "no python3 here can import py4swiss",
            Need::PythonChess => "no python3 here can import chess",
            Need::Root => "this is an ordinary user's run",
            Need::Rustc => "rustc is not installed",
            Need::Slurm => "Slurm is not installed",
            Need::Tables => "there are no endgame tables",
            Need::Yaml => "python3 has no yaml",
            _ => "something is missing",
        })
    }
}

/// A command's file. Debian's games lie beside PATH for many users.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain([PathBuf::from("/usr/games")]);
    places.map(|place| place.join(name)).find(|file| file.is_file())
}

/// The python3 that can import python-chess.
pub(crate) fn python() -> String {
    std::env::var("GATE4K_PYTHON").unwrap_or_else(|_| "python3".into())
}

/// The directory of endgame tables.
pub(crate) fn tables() -> Option<PathBuf> {
    std::env::var_os("GATE4K_SYZYGY").map(PathBuf::from).filter(|path| path.is_dir())
}

fn works(program: &[&str], words: &[&str]) -> bool {
    Command::new(program[0])
        .args(&program[1..])
        .args(words)
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|out| out.status.success())
}
