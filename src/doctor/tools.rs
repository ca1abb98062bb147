//! The commands of rule 7.5 and the libraries of rule 7.6 as lines.

use std::path::{Path, PathBuf};

use super::selftest::SelfTestResult;
use super::{HostLine, HostState};
use crate::policy::allowlist::CommandClass;

/// The Debian package of a command.
fn package(name: &str) -> &str {
    match name {
        "cc" | "gcc" => "gcc libc6-dev",
        "c++" | "g++" => "g++",
        "clang++" => "clang",
        "sh" => "dash",
        "xz" | "lzma" | "unxz" | "xzcat" | "unlzma" | "lzcat" => "xz-utils",
        "bunzip2" | "bzcat" => "bzip2",
        "gunzip" | "zcat" | "gzip" => "gzip",
        "python" => "python-is-python3",
        "tail" | "head" | "chmod" | "mktemp" | "rm" | "sleep" | "basename" | "env" => "coreutils",
        other => other,
    }
}

/// The command that puts a working program in the place of one that does not work.
fn mend(name: &str, real: &Path) -> String {
    let package = package(name);
    if real.starts_with("/usr") && !real.starts_with("/usr/local") {
        return format!("apt-get install --reinstall {package}");
    }
    // The system's directories come first, so the one that fails now is not looked for any more.
    format!("apt-get install {package}, which is then taken in place of {}", real.display())
}

/// A command, the real file behind its name, and what it did inside the sandbox.
pub(crate) fn command(
    name: &str,
    class: CommandClass,
    real: Option<&Path>,
    tried: &SelfTestResult,
) -> HostLine {
    let install = || format!("apt-get install {}", package(name));
    // Without a shell hardly any entry starts at all.
    let weight = if name == "sh" { HostState::Fail } else { HostState::Caution };
    let Some(real) = real else {
        let line = HostLine::pass("command", name, "not installed");
        return match class {
            CommandClass::Listed | CommandClass::Waived => {
                let what = "not installed: an entry that needs it stays undecided here";
                HostLine { what: what.into(), ..line }.but(weight, install())
            }
            CommandClass::Tolerated => HostLine {
                what: "not installed; not among the commands of rule 7.5, only tolerated".into(),
                ..line
            }
            .but(HostState::Caution, install()),
        };
    };
    let version = tried.version.as_deref().unwrap_or("tells no version");
    let what = format!("{} · {version}", real.display());
    match tried.works {
        Some(true) => HostLine::pass("command", name, format!("{what} · works inside")),
        None => HostLine::pass("command", name, what),
        Some(false) => {
            let what = format!("{what} · does not work inside: {}", tried.complaint);
            HostLine::pass("command", name, what).but(weight, mend(name, real))
        }
    }
}

/// A module of Python under one interpreter.
pub(crate) fn module(python: &str, tried: &SelfTestResult) -> HostLine {
    let name = format!("numpy/{python}");
    match (&tried.version, tried.works) {
        (Some(version), Some(true)) => {
            HostLine::pass("library", &name, format!("{version} · works inside"))
        }
        _ => {
            let fix = match python {
                "pypy3" => "pypy3 -m pip install numpy (Debian has no package of it for pypy3)",
                _ => "apt-get install python3-numpy",
            };
            let what = format!("cannot be imported: {}", tried.complaint);
            HostLine::pass("library", &name, what).but(HostState::Caution, fix)
        }
    }
}

/// The shared libraries that rule 7.6 names, by what the sandbox grants.
pub(crate) fn libraries<'a>(granted: impl Iterator<Item = &'a PathBuf> + Clone) -> Vec<HostLine> {
    let find = |start: &str| {
        granted.clone().find(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
        })
    };
    let line = |name: &str, start: &str, weight: HostState, fix: &str| match find(start) {
        Some(path) => HostLine::pass("library", name, path.display().to_string()),
        None => {
            HostLine::pass("library", name, "not installed: an entry that needs it stays undecided")
                .but(weight, fix)
        }
    };
    vec![
        line("libc", "libc.so.", HostState::Fail, "apt-get install libc6"),
        line("CUDA", "libcuda.so", HostState::Caution, "apt-get install libcuda1 (non-free)"),
        line(
            "OpenCL",
            "libOpenCL.so",
            HostState::Caution,
            "apt-get install ocl-icd-libopencl1 pocl-opencl-icd",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_by_what_it_did() {
        let works = SelfTestResult {
            version: Some("xz 5.4".into()),
            works: Some(true),
            complaint: String::new(),
        };
        let xz = Path::new("/usr/bin/xz");
        let line = command("xz", CommandClass::Listed, Some(xz), &works);
        assert_eq!(line.what, "/usr/bin/xz · xz 5.4 · works inside");
        assert_eq!(line.state, HostState::Pass);
        let broken = SelfTestResult { works: Some(false), complaint: "no".into(), ..works };
        let line = command("xz", CommandClass::Listed, Some(xz), &broken);
        assert_eq!(line.state, HostState::Caution);
        assert_eq!(line.fix.as_deref(), Some("apt-get install --reinstall xz-utils"));
        assert!(line.what.ends_with("does not work inside: no"));
        let own = Path::new("/home/x/.rustup/toolchains/stable/bin/cargo");
        let line = command("cargo", CommandClass::Listed, Some(own), &broken);
        let fix = line.fix.unwrap();
        assert!(fix.starts_with("apt-get install cargo, ") && fix.contains("/.rustup/"), "{fix}");
        let line = command("sh", CommandClass::Listed, None, &SelfTestResult::default());
        assert_eq!(
            (line.state, line.fix.as_deref()),
            (HostState::Fail, Some("apt-get install dash"))
        );
    }

    #[test]
    fn libraries_are_found_by_name() {
        let granted = [PathBuf::from("/lib/x86_64-linux-gnu/libc.so.6")];
        let lines = libraries(granted.iter());
        let states: Vec<HostState> = lines.iter().map(|line| line.state).collect();
        assert_eq!(states, [HostState::Pass, HostState::Caution, HostState::Caution]);
    }
}
