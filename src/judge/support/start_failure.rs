//! The reason why a run did not come up: launch, end or silence, each with the next step.

use crate::judge::support::allowed::Allowed;
use crate::judge::support::{
    complaints, excuse, older_tools, paths, refused_access, runs, wording,
};
use nix::errno::Errno;

use crate::judge::rules::{commands, libraries};
use crate::model::command_words::base_name;
use crate::model::evidence::{
    Answer, Ask, Exec, ExecOutcome, ExitHow, FileOpen, LaunchFailure, Limits, ProgramClass,
    Question, Run,
};
use crate::model::next_step::ENTRY;
use crate::model::text::escape;
use crate::model::typographic::Typographic;

/// A cause in words.
pub(crate) struct Cause {
    /// To stand after `it did not start:`.
    pub(crate) what: String,
    /// More lines.
    pub(crate) details: Vec<String>,
    /// The next step.
    pub(crate) help: String,
}

impl Cause {
    fn new(what: impl Into<String>, help: impl Into<String>) -> Cause {
        Cause { what: what.into(), details: Vec::new(), help: help.into() }
    }
}

/// The reason why the run did not get to `readyok` within the limit.
pub(crate) fn of(run: &Run, limits: &Limits, policy: &dyn Allowed) -> Cause {
    if let Some(failure) = &run.launch_failure {
        return launch(failure);
    }
    let mut cause = silence(run, limits);
    // One that answers once its input is closed lacks no program.
    let only_flushes_late = run.asks.iter().any(|ask| ask.answer == Answer::OnlyAtEnd);
    if let Some((what, help)) = wanted(run, policy).filter(|_| !only_flushes_late) {
        cause.what = format!("{}, {what}", cause.what);
        cause.help = help;
    }
    cause.details.extend(runs::crashes(run));
    cause.details.extend(runs::stderr(run));
    if let Some(last) = run.asks.len().checked_sub(1) {
        cause.details.extend(runs::conversation(run, last));
    }
    cause
}

/// Exec itself failed.
fn launch(failure: &LaunchFailure) -> Cause {
    let errno = Errno::from_raw(failure.errno);
    let what = format!("exec failed with {errno:?} ({}): {}", errno.desc(), failure.what);
    // A reader of the bytes wrote `\r` as text, so that it can be seen.
    let help = if failure.what.contains("\\r") || failure.what.contains("CR") {
        format!(
            "end the first line with LF alone: with CR LF the kernel looks for an interpreter whose name \
             ends in a carriage return (`sed -i 's/\\r$//' {ENTRY}`, but never on a binary payload)"
        )
    } else {
        let is_script = failure.what.starts_with("the interpreter ");
        let help = match errno {
            Errno::ENOENT if is_script => {
                "name an interpreter of rule 7.5 by its full path in the first line, such as `#!/usr/bin/python3`"
            }
            Errno::EACCES | Errno::EPERM if is_script => {
                "use an interpreter of rule 7.5 (sh, bash, python3, pypy3, perl), for others are refused"
            }
            Errno::ENOENT | Errno::EACCES | Errno::EPERM => {
                "link an ELF with the system's loader, or statically; begin a script with an interpreter of rule 7.5 by its full \
                 path, such as `#!/usr/bin/python3`"
            }
            Errno::ENOEXEC => {
                "make it an ELF executable for this machine, or begin it with `#!/bin/sh`"
            }
            _ => "make it a file that the kernel can execute: an ELF executable or a script",
        };
        help.to_owned()
    };
    Cause::new(what, help)
}

/// The cause where it ran and an answer did not come.
fn silence(run: &Run, limits: &Limits) -> Cause {
    let limit = wording::secs(limits.startup);
    if let Some(stopped) = &run.stopped {
        return Cause::new(
            format!("it stopped itself (a signal stopped `{}`)", stopped.command),
            "do not send SIGSTOP or read from a terminal: the engine must wait in a read of its input",
        );
    }
    let (word, asked) =
        if run.uciok.is_none() { ("uciok", Question::Uci) } else { ("readyok", Question::IsReady) };
    let ask = run.asks.iter().rfind(|ask| ask.question == asked);
    let end = runs::how_it_ended(run);
    match (ask.map(|ask| &ask.answer), end) {
        (Some(Answer::Ended(Some(exit))), _) => Cause::new(
            format!("it ended before `{word}`: {}", runs::exit_words(run, *exit)),
            by_hand(word, ask),
        ),
        (_, Some(end)) => {
            Cause::new(format!("it ended before `{word}`: {end}"), by_hand(word, ask))
        }
        (Some(Answer::Ended(None)), None) => Cause::new(
            format!("it closed its standard output before `{word}`"),
            "keep file descriptor 1 open and write the answers there",
        ),
        (Some(Answer::Flood(bytes)), None) => Cause::new(
            format!("it wrote {bytes} without `{word}` on a line of its own"),
            format!("answer with the line `{word}` and a newline, and flush"),
        ),
        (Some(Answer::OnlyAtEnd), _) => Cause::new(
            format!(
                "it had read `{}` and slept in a read for more, with nothing written; `{word}` came out only when its \
                 input was closed, so it keeps what it writes, or reads all of its input first",
                if run.uciok.is_none() { "uci" } else { "isready" }
            ),
            "flush after every line: `print(..., flush=True)` or `python3 -u` in Python, `$|=1` in Perl, \
             `setbuf(stdout, 0)` in C, `cout << endl` in C++; and answer each line as it comes, without waiting for the end \
             of the input (`readlines()`)",
        ),
        (Some(Answer::NotTaken), None) => Cause::new(
            format!("it did not read its input, and `{word}` did not come"),
            "read standard input line by line from the start",
        ),
        _ if runs::said_on_stderr(run, word) => Cause::new(
            format!(
                "no `{word}` within {limit} on its standard output: it wrote it to its standard error"
            ),
            "write the answers to standard output (file descriptor 1), where every runner reads them",
        ),
        (answer, _) => Cause::new(
            match ask.filter(|_| answer == Some(&Answer::Timeout)) {
                Some(ask) if ask.other.is_some() || ask.unfinished.is_some() => {
                    format!("no `{word}`: {}", runs::answer_words(ask, run))
                }
                _ => format!("no `{word}` within {limit}"),
            },
            if let Some(help) = ask.and_then(runs::line_end_help) {
                help.to_owned()
            } else if run.uciok.is_none() {
                format!(
                    "answer `uci` with the line `uciok`, flushed, within {limit}; if it is unpacking or \
                     compiling that takes so long, make that cheaper (-O1, a faster packer)"
                )
            } else {
                format!("answer `isready` with the line `readyok`, flushed, within {limit}")
            },
        ),
    }
}

/// The sandbox refuses there what it refuses here; without it such an entry would start.
fn by_hand(word: &str, ask: Option<&Ask>) -> String {
    let (set, or) = match ask.and_then(|ask| ask.set.as_deref()) {
        // It starts without the option that its configuration sets.
        Some(set) => (
            set.lines().map(|set| format!(", `{}`", wording::shorten(set, 160))).collect(),
            ", or take the option out of its configuration",
        ),
        None => (String::new(), ""),
    };
    format!(
        "start it by `gate4k run {ENTRY}`, send `uci`{set} and `isready`, and mend what ends it before `{word}`{or}"
    )
}

/// A program's name, or that of a file that it made, that ends in a carriage return, escaped: a line of its stub, or the first line of a
/// script that it unpacked, ends in CR LF.
fn carriage_return(run: &Run) -> Option<String> {
    let in_argv = run.execs.iter().flat_map(|exec| exec.argv.iter().skip(1).take(1));
    // As env(1) and shells complain of it.
    let marks = ['\'', '\u{2018}', '\u{2019}', ' ', ':'];
    let in_complaints = run.stderr_tail.iter().flat_map(|line| line.split(marks));
    let made = run.opens.iter().filter(|open| open.own).map(|open| &*open.path);
    let left = run.left_files.iter().map(|file| &*file.path);
    let mut words = in_argv.map(String::as_str).chain(in_complaints).chain(made).chain(left);
    words.find(|word| word.ends_with("\\r")).map(|word| escape(word.as_bytes(), 80))
}

/// Commands that cut the payload out of the entry's file, before anything unpacks it.
const CUTTERS: [&str; 2] = ["tail", "head"];
/// Commands that unpack: what comes after one that fails lacks its output, and fails as well.
const UNPACKERS: [&str; 12] = [
    "xz", "unxz", "xzcat", "lzma", "unlzma", "lzcat", "gzip", "gunzip", "zcat", "bzip2", "bunzip2",
    "bzcat",
];
/// Commands whose failure is the engine's own, or means nothing.
const NO_TOOLS: [&str; 10] =
    ["sh", "bash", "dash", "python", "python3", "pypy3", "perl", "sleep", "rm", "env"];

/// A command of the start, such as a compiler, that failed: with its complaint, and the next step.
fn failed_tool(run: &Run) -> Option<(String, String)> {
    let failed = run.execs.iter().enumerate().filter(|(_, exec)| {
        matches!(exec.class, ProgramClass::Listed | ProgramClass::Tolerated)
            && matches!(exec.exit, Some(ExitHow::Status(1..)))
            && !NO_TOOLS.contains(&&*exec.name)
    });
    let unpacks = |name: &str| UNPACKERS.contains(&name);
    let cuts = |name: &str| CUTTERS.contains(&name);
    let (index, exec) =
        failed.min_by_key(|(index, exec)| (!cuts(&exec.name), !unpacks(&exec.name), *index))?;
    let is_by_name = cuts(&exec.name) || unpacks(&exec.name);
    // One of several names of an unpacker stands before its words.
    let is_its = |who: &str| who == exec.name || unpacks(&exec.name) && unpacks(who);
    let own = |line: &str| line.split_once(": ").is_some_and(|(who, _)| is_its(who));
    let marks = ["error", "undefined reference", "cannot find"];
    let complains = |line: &&String| match is_by_name {
        true => own(line),
        false => marks.iter().any(|mark| line.contains(mark)),
    };
    let complaint = run.stderr_tail.iter().find(complains).map(|line| wording::shorten(line, 160));
    let complaint = complaint.map_or_else(String::new, |line| format!(": `{line}`"));
    let help = if cuts(&exec.name) {
        "let it read the entry's file as \"$0\": that lies in another directory than the one it runs in, and has another name"
            .to_owned()
    } else if unpacks(&exec.name) {
        "see that the payload begins where the stub cuts it (`tail -n +N`, `tail -c +N`), and that it is whole".to_owned()
    } else {
        let here =
            older_tools::file(exec).map_or_else(String::new, |file| format!(" (here {file})"));
        format!(
            "do by hand what the stub does with {}{here}, and mend what it complains of",
            exec.name
        )
    };
    let exit = exec.exit.map(|exit| runs::exit_words(run, exit)).unwrap_or_default();
    Some((format!("after {} ended with {exit}{complaint}", runs::lineage(run, Some(index))), help))
}

/// Interpreters that take their program from their input where they are given none.
const READERS: [&str; 7] = ["python3", "python", "pypy3", "perl", "sh", "bash", "dash"];

/// A program that ended well and had not the runner's input: an interpreter that read its program there, or what a shell may have started
/// in the background. With the next step.
fn without_input(run: &Run) -> Option<(String, String)> {
    let ended_well =
        |exec: &Exec| exec.outcome == ExecOutcome::Ran && exec.exit == Some(ExitHow::Status(0));
    let find = |is_it: &dyn Fn(&Exec) -> bool| {
        let mut later = run.execs.iter().enumerate().skip(1);
        let found = later.find(|(_, exec)| ended_well(exec) && is_it(exec));
        found.map(|(index, exec)| (runs::lineage(run, Some(index)), exec))
    };
    let reads = |exec: &Exec| {
        exec.class == ProgramClass::Listed
            && READERS.contains(&&*exec.name)
            && exec.argv.get(1).is_none_or(|word| word == "-")
    };
    if let Some((lineage, Exec { name, .. })) = find(&reads) {
        return Some((
            format!("after {lineage} had read its program from its input"),
            format!(
                "give {name} its program as a file of `mktemp`'s (`exec {name} $T`) or as an argument (`-c`, `-e`): where that comes \
                 through a pipe (`|{name}`), no line of the runner's reaches it"
            ),
        ));
    }
    let entry = run.execs.first()?;
    let reader = entry.real.as_deref().filter(|_| entry.script).map(base_name);
    let by_shell = reader.is_some_and(|reader| ["sh", "dash", "bash"].contains(&reader));
    let apart = |exec: &Exec| exec.class == ProgramClass::OwnProduct && exec.pid != entry.pid;
    let (lineage, _) = find(&apart).filter(|_| by_shell)?;
    Some((
        format!("after {lineage} had ended with exit status 0"),
        "where the stub starts it with `&`, a shell gives it no input (/dev/null): let `exec $T` come last, with `&` only what removes \
         the file; else see what ends it before it reads `uci`"
            .to_owned(),
    ))
}

/// True if something complained of a path.
fn complains_of(run: &Run, path: &str) -> bool {
    run.stderr_tail.iter().any(|line| line.contains(path))
}

/// A file that it was refused to write, in words, and the next step.
fn refused_write(run: &Run, open: &FileOpen) -> (String, String) {
    let what = format!("after {} was refused to write {}", runs::lineage(run, open.by), open.path);
    if run.execs.first().is_some_and(|entry| entry.asked == open.path) {
        let what =
            format!("after {} was refused to write its own file", runs::lineage(run, open.by));
        let help = "leave the entry's own file as it was handed in: what it writes there would stay (rule 7.4) and count (rule 7.1), so it \
                    is read-only; write to a file that `mktemp` makes, or in the current directory, and remove it there"
            .to_owned();
        return (what, help);
    }
    // Where it makes files the sandbox refuses none: the file has a mode of the entry's own choice.
    if open.own {
        let help = "let the file have a mode that lets its owner write it, as `mktemp` makes it (`chmod 600 $T`), until all is written"
            .to_owned();
        return (what, help);
    }
    (
        what,
        "write to a file that `mktemp` makes (T=`mktemp`, then $T in place of that path), or in the current directory, and \
         remove it there"
            .to_owned(),
    )
}

/// A command that is not installed, in words, and the next step.
fn not_installed(name: &str, policy: &dyn Allowed) -> (String, String) {
    let help = match policy.command(name).class {
        ProgramClass::Refused if !policy.is_version(name) => {
            format!("do without {name}: rule 7.5 does not list it, and it would be refused")
        }
        _ => format!("install {name} and check again; the event's machine has it"),
    };
    (format!("after it had looked for {name}, which is not installed here"), help)
}

/// A word with a sign of typography that a program was given, or that was looked for as one, escaped, and that sign.
fn typographic_word(run: &Run) -> Option<(String, Typographic)> {
    let given = run.execs.iter().flat_map(|exec| exec.argv.iter().skip(1)).map(String::as_str);
    let sought = run.stderr_tail.iter().filter_map(|line| {
        let said = line.strip_suffix(": not found").or(line.strip_suffix(": command not found"))?;
        said.rsplit(": ").next()
    });
    let mut words = given.chain(sought).filter(|word| word.len() < 200);
    words.find_map(|word| Some((wording::shorten(word, 80), Typographic::first_in(word)?)))
}

/// A program or module that it wanted in vain, where that is likely to be the reason.
fn wanted(run: &Run, policy: &dyn Allowed) -> Option<(String, String)> {
    if let Some(exec) = run.execs.iter().find(|exec| commands::is_denied(exec)) {
        let lineage = runs::lineage(run, exec.by);
        return Some((
            match exec.outcome {
                ExecOutcome::Ran => format!("after {lineage} had started {}", exec.asked),
                _ => format!("after {} was refused to {lineage}", exec.asked),
            },
            format!("do without {}: rule 7.5 does not list it", exec.name),
        ));
    }
    let is_program = |path: &str| {
        let name = paths::program_of(path);
        name.is_some_and(|name| policy.command(name).class == ProgramClass::Refused)
    };
    if let Some(open) = run.opens.iter().find(|open| open.denied && is_program(&open.path)) {
        return Some((
            format!("after {} was refused to read {}", runs::lineage(run, open.by), open.path),
            format!(
                "do without {}: rule 7.5 lets nobody copy a program that it does not list",
                open.path
            ),
        ));
    }
    if let Some(word) = carriage_return(run) {
        return Some((
            format!("where `{word}` ends in a carriage return"),
            "end the lines of the stub and the first line of what you pack with LF alone: `tr -d '\\r' <engine.py` before it is \
             packed"
                .to_owned(),
        ));
    }
    if let Some((word, sign)) = typographic_word(run) {
        return Some((format!("where `{word}` has {} in it", sign.shown()), sign.help()));
    }
    if let Some((exec, lacks)) = runs::lacks_reader(run) {
        return Some((
            format!("after {} could not start {}: {lacks}, which that names, is not here", runs::lineage(run, exec.by), exec.asked),
            "let what you unpack name an interpreter of rule 7.5 by its full path, such as `#!/usr/bin/python3`; an ELF is linked with \
             the system's loader, or statically"
                .to_owned(),
        ));
    }
    let modules = complaints::missing_modules(&run.stderr_tail);
    let refused = refused_access::refused_write(run);
    // The tool that wanted to write there has failed for it.
    if let Some(open) = refused.filter(|open| complains_of(run, &open.path)) {
        return Some(refused_write(run, open));
    }
    if let Some(cause) = failed_tool(run).filter(|_| modules.is_empty()) {
        return Some(cause);
    }
    // A file that a missing command was to fill is not executable either.
    if let Some(name) = complaints::not_found_names(&run.stderr_tail).into_iter().next() {
        return Some(not_installed(&name, policy));
    }
    let unrunnable = run
        .execs
        .iter()
        .find(|exec| exec.outcome == ExecOutcome::Denied && commands::is_own_file(exec))
        .filter(|_| modules.is_empty());
    if let Some(exec) = unrunnable {
        return Some((
            format!("after {} was not executable to {}", exec.asked, runs::lineage(run, exec.by)),
            "set the execute bit before you start what you unpacked: `chmod +x $T`".to_owned(),
        ));
    }
    if let Some(open) = refused {
        return Some(refused_write(run, open));
    }
    if let Some(name) = commands::wanted_and_absent(run, policy).into_iter().next() {
        return Some(not_installed(&name, policy));
    }
    let Some(module) = modules.into_iter().next() else {
        let ended = runs::how_it_ended(run).is_some();
        if let Some(cause) = without_input(run).filter(|_| ended) {
            return Some(cause);
        }
        if let Some(name) = libraries::wanted_in_vain(run, policy) {
            return Some((
                format!("after it had wanted {name} in vain"),
                format!("do without {name}, or carry it inside the file (within its 4096 bytes)"),
            ));
        }
        if let Some(open) = refused_access::refused_read(run) {
            return Some((
                format!("after {} was refused to read {}", runs::lineage(run, open.by), open.path),
                format!("do without {}: an entry gets no files of the host's own there", open.path),
            ));
        }
        // A call that no rule forbids is told as such, beside all causes.
        let others = run.denials.iter().filter(|denial| !excuse::may_excuse(run, denial));
        let mut calls = others.map(|denial| &denial.what);
        let call = calls.find(|call| refused_access::is_told_call(call))?;
        return Some((
            format!("after the sandbox had refused it {call}"),
            format!(
                "do without {call}, or go on where it is refused: the engine needs its three streams and its own files alone"
            ),
        ));
    };
    Some((
        format!("after it did not find {module}"),
        format!("do without {module}, or carry it inside the file (within its 4096 bytes)"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing::{self, TestList};
    use crate::model::evidence::{FileAccess, Purpose};

    fn cause(run: &Run) -> Cause {
        of(run, &testing::evidence_of([]).limits, &TestList)
    }

    /// A shell script that ended well before `uciok`, after it had started this.
    fn stub(name: &str, class: ProgramClass) -> Run {
        let mut run = testing::run(Purpose::Main).died(ExitHow::Status(0));
        (run.execs[0].script, run.execs[0].real) = (true, Some("/usr/bin/dash".into()));
        let mut run = run.started(Some(0), name, class);
        run.execs[1].pid = 11;
        run
    }

    #[test]
    fn a_program_that_came_to_its_interpreter_through_a_pipe_is_named() {
        let mut run = stub("python3", ProgramClass::Listed);
        let told = cause(&run);
        assert!(told.what.ends_with("entry > python3 had read its program from its input"));
        assert!(told.help.contains("(`|python3`), no line of the runner's reaches it"));
        run.execs[1].argv.push("/tmp/tmp.a".into());
        assert!(!cause(&run).what.contains("from its input"));
    }

    #[test]
    fn an_engine_in_the_background_is_told_that_it_has_no_input() {
        let mut run = stub("tmp.a", ProgramClass::OwnProduct);
        let told = cause(&run);
        assert!(told.what.ends_with("after entry > tmp.a had ended with exit status 0"));
        assert!(told.help.contains("/dev/null"), "{}", told.help);
        // In the place of the stub it has the runner's input.
        run.execs[1].pid = run.execs[0].pid;
        assert!(!cause(&run).help.contains("/dev/null"));
    }

    #[test]
    fn the_entrys_own_file_is_told_to_be_read_only() {
        let run = testing::run(Purpose::Main).died(ExitHow::Status(1));
        let own = "/entry/1f128788".to_owned();
        let mut run = run.opened(&own, true);
        run.execs[0].asked = own;
        run.opens[0].access = FileAccess::Write;
        let told = cause(&run);
        assert!(told.what.ends_with("was refused to write its own file"), "{}", told.what);
        assert!(told.help.starts_with("leave the entry's own file"), "{}", told.help);
    }

    #[test]
    fn a_tool_that_failed_is_told_with_its_version() {
        let mut run = stub("cc", ProgramClass::Listed);
        run.execs[1].exit = Some(ExitHow::Status(1));
        run.execs[1].real = Some("/usr/bin/x86_64-linux-gnu-gcc-12".into());
        let help = cause(&run).help;
        assert!(help.contains("with cc (here /usr/bin/x86_64-linux-gnu-gcc-12)"), "{help}");
    }
}
