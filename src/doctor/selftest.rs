//! Small entries that try one command each inside the sandbox: its version, and whether it does its work.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::model::evidence::Shell;
use crate::model::parallel::in_parallel;
use crate::model::text::escape;
use crate::sandbox::Sandbox;
use crate::sandbox::plan::{Audit, SandboxError, Staging, StartPlan, Streams};

/// Stands between the version and the result.
const MARK: &str = "--gate4k--";
/// The output of a command that does its work.
const WORKS: &str = "works";
/// Compilers on a crowded machine take seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// A version that is longer is cut.
const VERSION: usize = 60;

/// The result of trying a command inside the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SelfTestResult {
    /// The first line of what it says of its version.
    pub(crate) version: Option<String>,
    /// True if its work was done; none where no work is known for it.
    pub(crate) works: Option<bool>,
    /// The last line of its output, where its work was not done.
    pub(crate) complaint: String,
}

/// The work that is known for a command, as shell. Cargo is asked for what entries ask it for, since a build that is no
/// release wants locks for its next one, which the sandbox refuses.
fn work(name: &str) -> Option<String> {
    let c = "int puts(const char*);int main(void){puts(\"works\");return 0;}";
    let text = match name {
        "sh" | "bash" | "dash" => format!("{name} -c 'echo works'"),
        "cc" | "gcc" | "clang" => format!("echo '{c}'|{name} -o t -xc - && ./t"),
        "c++" | "g++" | "clang++" => {
            let cpp = "#include <iostream>\nint main(){std::cout<<\"works\"<<std::endl;}";
            format!("echo '{cpp}'|{name} -o t -xc++ - && ./t")
        }
        "rustc" => "echo 'fn main(){println!(\"works\")}'|rustc -o t - && ./t".to_owned(),
        "cargo" => "echo '[package]\nname=\"t\"\nversion=\"0.1.0\"\nedition=\"2021\"\n[[bin]]\nname=\"t\"\n\
                    path=\"t.rs\"' >Cargo.toml\necho 'fn main(){println!(\"works\")}' >t.rs\n\
                    cargo run -q --release --offline"
            .to_owned(),
        "python" | "python3" | "pypy3" => format!("{name} -c 'print(\"works\")'"),
        "perl" => "perl -e 'print \"works\\n\"'".to_owned(),
        "xz" | "lzma" | "gzip" | "bzip2" => format!("echo works|{name} -c|{name} -dc"),
        "unxz" | "xzcat" => format!("echo works|xz -c|{name} -c"),
        "unlzma" | "lzcat" => format!("echo works|lzma -c|{name} -c"),
        "bunzip2" | "bzcat" => format!("echo works|bzip2 -c|{name} -c"),
        "gunzip" | "zcat" => format!("echo works|gzip -c|{name}"),
        "tail" | "head" => format!("echo works|{name} -n 1"),
        "chmod" => "echo 'echo works' >t && chmod 755 t && ./t".to_owned(),
        "mktemp" => "T=`mktemp` && echo works".to_owned(),
        "rm" => ": >t && rm t && echo works".to_owned(),
        "sleep" => "sleep 0 && echo works".to_owned(),
        "basename" => "basename /x/works".to_owned(),
        "env" => "env -i sh -c 'echo works'".to_owned(),
        _ => return None,
    };
    Some(text)
}

/// The words by which a command is asked for its version.
fn version(name: &str) -> String {
    match name {
        // dash has none to tell.
        "sh" | "dash" => format!("{name} -c 'echo ${{BASH_VERSION:+bash $BASH_VERSION}}'"),
        // Asked for its version it goes on to compress its input.
        "bzip2" | "bunzip2" | "bzcat" => format!("{name} --help"),
        _ => format!("{name} --version"),
    }
}

/// An entry that tries `name`.
fn command(name: &str) -> String {
    let work = work(name).unwrap_or_default();
    format!("#!/bin/sh\n{} 2>&1 </dev/null\necho {MARK}\n{{\n{work}\n}} 2>&1\n", version(name))
        .replace("{\n\n}", ":")
}

/// An entry that imports a module of Python.
fn module(python: &str, module: &str) -> String {
    format!(
        "#!/bin/sh\n{python} -c 'import {module};print({module}.__version__)'\necho {MARK}\n\
         {python} -c 'import {module};print(\"works\")' 2>&1\n"
    )
}

/// A command or module to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SelfTest {
    /// A command by its name.
    Command(String),
    /// A module of Python, with the interpreter that is to import it.
    Module(&'static str, &'static str),
}

/// Tries everything, some of it beside each other, and answers in order.
///
/// # Errors
/// When the sandbox cannot be built.
pub(crate) fn run(
    sandbox: &Sandbox,
    tests: &[SelfTest],
    workers: usize,
) -> Result<Vec<SelfTestResult>, SandboxError> {
    let tried = in_parallel(tests, workers.clamp(1, tests.len().max(1)), |test| {
        let script = match test {
            SelfTest::Command(name) => command(name),
            SelfTest::Module(python, name) => module(python, name),
        };
        let tests_work = !matches!(test, SelfTest::Command(name) if work(name).is_none());
        one(sandbox, &script, tests_work)
    });
    tried.into_iter().collect()
}

fn one(sandbox: &Sandbox, script: &str, tests_work: bool) -> Result<SelfTestResult, SandboxError> {
    let failed = |step| move |source| SandboxError::Setup { step, path: None, source };
    let file = || tempfile::tempfile().map_err(failed("making a temporary file"));
    let mut out = file()?;
    let null = File::open("/dev/null").map_err(failed("opening /dev/null"))?;
    let copy = out.try_clone().map_err(failed("making a temporary file"))?;
    let streams = Streams {
        stdin: OwnedFd::from(null),
        stdout: OwnedFd::from(copy),
        stderr: OwnedFd::from(file()?),
    };
    let plan = StartPlan {
        bytes: script.as_bytes().into(),
        staging: Staging::Neutral,
        shell: Shell::AsIs,
        audit: Audit::ProgramsOnly,
    };
    let (confined, _ended) = sandbox.attach(&plan, streams)?;
    confined.wait_first(Instant::now() + PATIENCE);
    confined.kill();
    drop(confined.close());
    let mut text = Vec::new();
    // Output that cannot be read back is as good as nothing said.
    let _ = out.rewind().and_then(|()| (&mut out).take(1 << 20).read_to_end(&mut text));
    Ok(tried(&String::from_utf8_lossy(&text), tests_work))
}

fn tried(said: &str, tests_work: bool) -> SelfTestResult {
    let (before, after) = said.split_once(&format!("{MARK}\n")).unwrap_or((said, ""));
    let first = |text: &str| {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        line.map(|line| escape(line.as_bytes(), VERSION))
    };
    // The last line says why: before it stands where.
    let last = |text: &str| first(text.trim_end().lines().next_back().unwrap_or_default());
    let works = after.lines().any(|line| line == WORKS);
    SelfTestResult {
        version: first(before),
        works: tests_work.then_some(works),
        complaint: if works { String::new() } else { last(after).unwrap_or_default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::allowlist::Allowlist;

    #[test]
    fn every_allowed_command_has_its_work() {
        for command in &Allowlist::built_in().commands {
            assert!(work(&command.name).is_some(), "{}", &*command.name);
        }
        assert!(command("of-another-list").ends_with(":\n 2>&1\n") || work("x").is_none());
    }

    #[test]
    fn version_and_result_are_told_apart() {
        let good = tried("\nxz (XZ Utils) 5.4\nmore\n--gate4k--\nworks\n", true);
        assert_eq!(good.version.as_deref(), Some("xz (XZ Utils) 5.4"));
        assert_eq!((good.works, good.complaint.as_str()), (Some(true), ""));
        let bad = tried("v\n--gate4k--\n\x1b[2Jno such thing\n", true);
        assert_eq!(bad.works, Some(false));
        assert_eq!(bad.complaint, "\\u{1b}[2Jno such thing");
        assert_eq!(tried("", false), SelfTestResult::default());
    }
}
