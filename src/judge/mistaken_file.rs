//! Files that never were entries: a source before it is packed, a text in another encoding, an object file, an archive.
//!
//! A shell reads such a file as commands, so that findings would speak of `char`, which rule 7.5 does not list. Where the
//! start has failed and the bytes tell why, rule `format` says what the file is and what to do, and the rest is left out.

use std::path::{Path, PathBuf};

use super::not_here::is_refused;
use crate::files::read;
use crate::model::evidence::{Exec, ExecOutcome, ProgramClass};
use crate::model::rule::RuleId;
use crate::model::text::shell_word;
use crate::model::units::Bytes;
use crate::model::verdict::{Finding, Status};
use crate::pack::language::{Language, is_javascript};
use crate::submission::Submission;
use crate::submission::shebang::{self, FirstLine};

/// Files of more bytes are no sources that were handed in by mistake.
const LOOKED_AT: Bytes = Bytes(1 << 20);

/// The kind of file that was handed in by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistaken {
    Source(Language),
    Text(TextKind),
    ByteOrderMark,
    LongFirstLine,
    Utf16(Utf16),
}

/// Text that is meant for people, or for other programs than a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    WebPage,
    WebAnswer,
    LfsPointer,
    Pdf,
    Json,
    JavaScript,
    Plain,
}

/// The order of bytes in UTF-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Utf16 {
    Marked,
    Little,
    Big,
}

/// Leaves the one finding that says what the file is, where nothing else can be said of it: the start has failed, and
/// either the bytes are no program's or rule `format` has failed already. `execs` are the programs of that start: one that
/// started some by its own words is a script, whatever else it is.
pub(super) fn keep_only_the_mistake(
    findings: &mut [Finding],
    submission: &Submission,
    execs: &[Exec],
) {
    let status = |rule: RuleId| findings.iter().find(|one| one.rule == rule).map(|one| one.status);
    // A file that starts under its own name is an entry, whatever that name ends in.
    let by_its_name = status(RuleId::FileName) == Some(Status::Fail);
    if status(RuleId::Startup) != Some(Status::Fail) || by_its_name {
        return;
    }
    // A finding that the organisers waived stays as it is.
    if findings.iter().any(|one| one.rule == RuleId::Format && one.is_waived()) {
        return;
    }
    // The kernel's error about its interpreter or loader is worth a message of its own.
    let refused = findings.iter().any(is_refused);
    let mistaken = mistaken(submission).filter(|mistaken| {
        let acted = || execs.iter().any(|exec| is_of_its_words(exec, &submission.bytes));
        let by_shell =
            matches!(mistaken, Mistaken::Source(_) | Mistaken::Text(_) | Mistaken::LongFirstLine);
        !(by_shell && acted())
    });
    if let Some(mistaken) = mistaken {
        let Some(format) = findings.iter_mut().find(|one| one.rule == RuleId::Format) else {
            return;
        };
        format.status = Status::Fail;
        format.summary = mistaken.is().to_owned();
        format.details.clear();
        format.help = mistaken.help(&submission.path);
    } else if refused || status(RuleId::Format) != Some(Status::Fail) {
        return;
    }
    for finding in findings {
        let is_judged_by_bytes =
            matches!(finding.rule, RuleId::SingleFile | RuleId::Format | RuleId::Payload);
        if !is_judged_by_bytes && finding.status != Status::Pass && !finding.is_waived() {
            *finding = Finding::skipped(finding.rule, RuleId::Format);
        }
    }
}

/// As [`hint`], of a file that nobody has judged; none where it may be an entry, or is no file that can be read.
pub(crate) fn hint_of_file(path: &Path) -> Option<String> {
    let bytes = read::bytes(path, LOOKED_AT).ok()?;
    let mistaken = look(&bytes, path)?;
    Some(format!("{}; {}", mistaken.is(), mistaken.help(path)))
}

/// Says of a file that looks like none that starts what it is and what to do with it.
pub(crate) fn hint(submission: &Submission) -> Option<String> {
    told(submission).map(|(is, help)| format!("{is}; {help}"))
}

/// The words for the file, and the next step, of a file that looks like none that starts.
pub(super) fn told(submission: &Submission) -> Option<(&'static str, String)> {
    let mistaken = mistaken(submission)?;
    Some((mistaken.is(), mistaken.help(&submission.path)))
}

/// The mistake, unless it is a script that holds a source and may be named after it.
fn mistaken(submission: &Submission) -> Option<Mistaken> {
    let mistaken = look(&submission.bytes, &submission.path)?;
    let holds_it = matches!(mistaken, Mistaken::Source(_)) && reads_itself(&submission.bytes);
    (!holds_it).then_some(mistaken)
}

/// True for a script that names its own file, as a shell does: `$0`, `${0}`. An assembler's `$0x80` and `$0,` are numbers.
fn reads_itself(bytes: &[u8]) -> bool {
    let is_name = |rest: &[u8]| match rest {
        [b'$', b'0', next, ..] => !(next.is_ascii_alphanumeric() || b"_,\\".contains(next)),
        rest => rest.starts_with(b"${0") || rest == b"$0",
    };
    (0..bytes.len()).filter_map(|at| bytes.get(at..)).any(is_name)
}

/// True for a program that a shell was told to start by words of a script: a command of rule 7.5, one that the script made, or any that it names by its
/// path. (A shell that reads Python may find a program called `import`.)
fn is_of_its_words(exec: &Exec, bytes: &[u8]) -> bool {
    let was_asked_for = matches!(exec.outcome, ExecOutcome::Ran | ExecOutcome::Denied);
    let path = exec.asked.as_bytes();
    was_asked_for
        && match exec.class {
            ProgramClass::Listed => !["sh", "dash", "bash"].contains(&&*exec.name),
            ProgramClass::OwnProduct => true,
            ProgramClass::Refused => {
                path.contains(&b'/') && bytes.windows(path.len()).any(|part| part == path)
            }
            ProgramClass::Entry
            | ProgramClass::Helper
            | ProgramClass::Tolerated
            | ProgramClass::Waived => false,
        }
}

impl Mistaken {
    fn is(self) -> &'static str {
        match self {
            Mistaken::Source(Language::C) => "C source, which no machine starts as it is",
            Mistaken::Source(Language::Cpp) => "C++ source, which no machine starts as it is",
            Mistaken::Source(Language::Rust) => "Rust source, which no machine starts as it is",
            Mistaken::Source(Language::Python) => "Python without a first line that names Python",
            Mistaken::Source(Language::Perl) => "Perl without a first line that names Perl",
            Mistaken::Source(Language::Executable) => "a program",
            Mistaken::Text(TextKind::WebPage) => "a web page, which is no program",
            Mistaken::Text(TextKind::WebAnswer) => {
                "the words of a web server that did not find the file, and no program"
            }
            Mistaken::Text(TextKind::LfsPointer) => {
                "a pointer of Git LFS, which stands in the place of the file itself"
            }
            Mistaken::Text(TextKind::Pdf) => "a PDF document, which is no program",
            Mistaken::Text(TextKind::JavaScript) => {
                "JavaScript, which no command of rule 7.5 reads"
            }
            Mistaken::Text(TextKind::Json) => "JSON, which is no program",
            Mistaken::Text(TextKind::Plain) => "text that is no script",
            Mistaken::ByteOrderMark => {
                "it begins with a byte order mark (EF BB BF), so its first line is not read"
            }
            Mistaken::LongFirstLine => {
                "its first line names an interpreter that is cut off after 256 bytes, so the kernel does not start it, and a shell \
                 reads it in its place"
            }
            Mistaken::Utf16(_) => "text in UTF-16, which neither the kernel nor a shell reads",
        }
    }

    /// The next step. A command in it can be typed as it stands, in the folder that the check was started in; a path that no
    /// line can hold has none.
    fn help(self, path: &Path) -> String {
        let with = |ending: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let packed = path.extension().map_or_else(|| with("-packed"), |_| path.with_extension(""));
        let pack = match shell_word(path).zip(shell_word(&packed)) {
            Some((path, packed)) => format!("pack it: gate4k pack {path} -o {packed}"),
            None => "give it a plain name, and pack it by gate4k pack".to_owned(),
        };
        let through =
            |what: &str, command: &str| match shell_word(path).zip(shell_word(&with(".new"))) {
                Some((path, new)) => {
                    format!("{what}: {command} {path} >{new} && cat {new} >{path} && rm {new}")
                }
                None => what.to_owned(),
            };
        match self {
            Mistaken::Source(Language::Python) => {
                format!("begin it with the line #!/usr/bin/python3, or {pack}")
            }
            Mistaken::Source(Language::Perl) => {
                format!("begin it with the line #!/usr/bin/perl, or {pack}")
            }
            Mistaken::Source(_) => pack,
            Mistaken::Text(TextKind::LfsPointer) => {
                "fetch the file itself (git lfs pull), and hand that in".to_owned()
            }
            Mistaken::Text(TextKind::WebPage | TextKind::WebAnswer) => {
                "download the file itself (of a repository, its raw form), and hand that in".to_owned()
            }
            Mistaken::Text(_) => {
                "hand in the engine's file: an executable, or a script that begins with `#!` and its interpreter".to_owned()
            }
            Mistaken::ByteOrderMark => {
                through("remove its first 3 bytes (UTF-8 without BOM)", "tail -c +4")
            }
            Mistaken::LongFirstLine => {
                "write a first line of 255 bytes at most, with the interpreter's plain path".to_owned()
            }
            Mistaken::Utf16(order) => {
                let from = match order {
                    Utf16::Marked => "UTF-16",
                    Utf16::Little => "UTF-16LE",
                    Utf16::Big => "UTF-16BE",
                };
                through(
                    "save it as UTF-8 without a byte order mark",
                    &format!("iconv -f {from} -t UTF-8"),
                )
            }
        }
    }
}

/// The kind of the bytes, where they are not meant for the machine.
fn look(bytes: &[u8], path: &Path) -> Option<Mistaken> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Some(Mistaken::ByteOrderMark);
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Some(Mistaken::Utf16(Utf16::Marked));
    }
    if matches!(shebang::parse(bytes), FirstLine::Refused(why) if why == shebang::CUT_OFF) {
        return Some(Mistaken::LongFirstLine);
    }
    let wide = |at: usize| {
        bytes.len() >= 8 && bytes.iter().take(64).skip(at).step_by(2).all(|byte| *byte == 0)
    };
    match (wide(0), wide(1)) {
        (true, false) => return Some(Mistaken::Utf16(Utf16::Big)),
        (false, true) => return Some(Mistaken::Utf16(Utf16::Little)),
        _ => {}
    }
    if bytes.starts_with(b"%PDF-") {
        return Some(Mistaken::Text(TextKind::Pdf));
    }
    let text = std::str::from_utf8(bytes).ok()?;
    // Of a file with nothing in it the name says nothing: rule `format` tells that it is empty.
    if text.starts_with("#!") || text.contains('\0') || text.trim().is_empty() {
        return None;
    }
    // (Of a program that is broken, rule `format` says how.)
    let source = Language::of(path, bytes).filter(|known| *known != Language::Executable);
    source.map(Mistaken::Source).or_else(|| no_script(text).map(Mistaken::Text))
}

/// Text that no shell was meant to read. A stub has to name its own file, by `$0`, and pipes it.
fn no_script(text: &str) -> Option<TextKind> {
    let text = text.trim_start();
    let begins =
        |mark: &str| text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
    if begins("version https://git-lfs.github.com/spec/") {
        return Some(TextKind::LfsPointer);
    }
    if begins("404: not found") {
        return Some(TextKind::WebAnswer);
    }
    if ["<!doctype", "<!--", "<html", "<?xml"].iter().any(|mark| begins(mark)) {
        return Some(TextKind::WebPage);
    }
    let is_whole = || serde_json::from_str::<serde_json::Value>(text).is_ok();
    if text.starts_with(['{', '[']) && (has_json_key(text) || is_whole()) {
        return Some(TextKind::Json);
    }
    if is_javascript(text) {
        return Some(TextKind::JavaScript);
    }
    // A sentence or a heading: no command has a name with a capital letter, and `T=...` makes a variable.
    let first = text
        .lines()
        .map(|line| line.trim_start_matches(['#', ' ']))
        .find(|line| !line.is_empty())?;
    let is_told_to_people = first.starts_with(char::is_uppercase) && !first.contains('=');
    (is_told_to_people && !text.contains(['$', '|'])).then_some(TextKind::Plain)
}

/// True for the beginning of JSON: a brace, a name in quotes, a colon. A download that broke off has no end.
fn has_json_key(text: &str) -> bool {
    let inner = text.trim_start_matches('[').trim_start().strip_prefix('{');
    let key = inner.and_then(|inner| inner.trim_start().strip_prefix('"'));
    key.and_then(|key| key.split_once('"'))
        .is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submission::Mode;

    #[test]
    fn what_is_not_meant_for_the_machine_is_told() {
        let look = |bytes: &[u8], name: &str| super::look(bytes, Path::new(name));
        let source = |language| Some(Mistaken::Source(language));
        for (name, text, expected) in [
            ("x.c", "whatever", source(Language::C)),
            ("engine", "/* chess */\nint main() {}", source(Language::C)),
            ("engine", "\u{feff}#!/bin/sh", Some(Mistaken::ByteOrderMark)),
            ("engine", &*format!("#!/{}", "x".repeat(300)), Some(Mistaken::LongFirstLine)),
            ("engine", &*format!("#!/bin/sh {}", "x".repeat(300)), None),
            ("engine", "tail -n+2 $0|cc -xc -\nint main(){}", None),
            ("engine.py", "#!/usr/bin/python3\nimport sys", None),
            ("engine", "#!/usr/bin/perl\nuse strict;", None),
            ("engine", "echo uciok", None),
            ("engine", "<!DOCTYPE html>\n<html>", Some(Mistaken::Text(TextKind::WebPage))),
            ("engine", "{\"name\": \"engine\"}", Some(Mistaken::Text(TextKind::Json))),
            ("engine", "# My engine\n\nRun `make`.", Some(Mistaken::Text(TextKind::Plain))),
            ("engine", "My engine plays; see (below).", Some(Mistaken::Text(TextKind::Plain))),
            ("engine", "T=/tmp/x;cc -o/tmp/x -xc -<<E", None),
            ("engine", "# Stub\ntail -n+3 $0|cc -xc -", None),
            ("engine", "{ echo uciok; }", None),
            ("engine", "<!-- saved -->\n<html>", Some(Mistaken::Text(TextKind::WebPage))),
            ("engine", "404: Not Found", Some(Mistaken::Text(TextKind::WebAnswer))),
            ("engine", "{\"message\":\"Not Found\",\"url\":", Some(Mistaken::Text(TextKind::Json))),
            ("engine", "[ \"$0\" ]&&echo", None),
            ("engine", "{\n\"$0\" x;}", None),
            (
                "engine",
                "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 2474\n",
                Some(Mistaken::Text(TextKind::LfsPointer)),
            ),
            (
                "engine",
                "const r=require('readline');\nconsole.log('uciok')",
                Some(Mistaken::Text(TextKind::JavaScript)),
            ),
            ("engine", "", None),
            ("engine.c", "\n", None),
        ] {
            assert_eq!(look(text.as_bytes(), name), expected, "{name}: {text}");
        }
        for (wide, order) in [
            (&b"\xff\xfea\0b\0"[..], Utf16::Marked),
            (b"\xfe\xff\0a\0b", Utf16::Marked),
            (b"i\0m\0p\0o\0r\0t\0", Utf16::Little),
            (b"\0i\0m\0p\0o\0r\0t", Utf16::Big),
        ] {
            assert_eq!(look(wide, "engine"), Some(Mistaken::Utf16(order)), "{wide:?}");
        }
        assert_eq!(look(b"%PDF-1.4\n%\xe2\xe3", "engine"), Some(Mistaken::Text(TextKind::Pdf)));
        assert_eq!(look(&[0; 64], "engine"), None);
        assert_eq!(look(b"int main() {\0}", "engine.c"), None);
    }

    /// The findings of a file whose start failed, with the programs of that start; true if only the mistake is left.
    fn is_only_a_mistake(text: &str, execs: &[Exec]) -> bool {
        let submission = Submission {
            path: "engine".into(),
            file_name: "engine".into(),
            bytes: text.as_bytes().into(),
            size: Bytes::of(text.as_bytes()),
            mode: Mode(0o755),
            sha256: None,
            extra: Vec::new(),
            engines_json: None,
        };
        let mut findings = vec![
            Finding::pass(RuleId::Format, "text"),
            Finding::fail(RuleId::Startup, "it did not start"),
            Finding::fail(RuleId::Commands, "curl"),
        ];
        keep_only_the_mistake(&mut findings, &submission, execs);
        findings[2].status == Status::Skipped
    }

    #[test]
    fn a_source_that_is_a_script_as_well_keeps_its_findings() {
        use crate::judge::support::testing::exec;
        const SOURCE: &str = "int main(){}\n";
        let with = |line: &str| format!("{line}\n{SOURCE}");
        assert!(is_only_a_mistake(SOURCE, &[]));
        assert!(is_only_a_mistake(&with("int x;//asm(\"int $0x80;mov $0,%eax\")"), &[]));
        for line in ["//usr/bin/cc -xc $0 -lnone;exit", "//bin/cc -xc \"${0}\";exit"] {
            assert!(!is_only_a_mistake(&with(line), &[]), "{line}");
        }
        // By what it started, whatever the text looks like.
        let sh = exec(Some(0), "sh", ProgramClass::Listed);
        assert!(is_only_a_mistake(SOURCE, &[sh]));
        let cc = exec(Some(0), "cc", ProgramClass::Listed);
        assert!(!is_only_a_mistake(SOURCE, std::slice::from_ref(&cc)));
        assert!(is_only_a_mistake("My engine", &[]) && !is_only_a_mistake("My engine", &[cc]));
        let mut curl = exec(Some(0), "curl", ProgramClass::Refused);
        curl.outcome = ExecOutcome::Denied;
        assert!(is_only_a_mistake(SOURCE, std::slice::from_ref(&curl)), "no word of it");
        assert!(!is_only_a_mistake(&with("//usr/bin/curl x||exit"), &[curl]));
    }

    #[test]
    fn a_file_among_entries_that_is_none_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let hint = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            hint_of_file(&path)
        };
        let told = hint("notes.c", "int main() {}").unwrap();
        assert!(told.starts_with("C source") && told.contains("gate4k pack "), "{told}");
        assert_eq!(hint("engine", "#!/bin/sh\necho uciok"), None);
        assert_eq!(hint_of_file(dir.path()), None);
        assert_eq!(hint_of_file(&dir.path().join("gone")), None);
    }

    #[test]
    fn a_command_can_be_typed_as_it_stands() {
        let pack = |path: &str| Mistaken::Source(Language::C).help(Path::new(path));
        for (path, expected) in [
            ("engine.c", "gate4k pack engine.c -o engine"),
            ("engine", "gate4k pack engine -o engine-packed"),
            ("in/my engine.c", "gate4k pack 'in/my engine.c' -o 'in/my engine'"),
            ("it's.c", "gate4k pack 'it'\\''s.c' -o 'it'\\''s'"),
            ("-x.c", "gate4k pack ./-x.c -o ./-x"),
            (".c", "gate4k pack .c -o .c-packed"),
            ("$(rm).c", "gate4k pack '$(rm).c' -o '$(rm)'"),
        ] {
            assert_eq!(pack(path), format!("pack it: {expected}"));
        }
        assert!(!pack("a\nb.c").contains("pack it: "), "{}", pack("a\nb.c"));
        let wide = Mistaken::Utf16(Utf16::Little).help(Path::new("a b"));
        let command =
            "iconv -f UTF-16LE -t UTF-8 'a b' >'a b.new' && cat 'a b.new' >'a b' && rm 'a b.new'";
        assert!(wide.ends_with(&format!(": {command}")), "{wide}");
    }
}
