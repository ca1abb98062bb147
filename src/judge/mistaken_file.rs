//! Files that never were entries: a source before it is packed, a text in another encoding, an object file, an archive.
//!
//! A shell reads such a file as commands, so that findings would speak of `char`, which rule 7.5 does not list. Where the
//! start has failed and the bytes tell why, rule `format` says what the file is and what to do, and the rest is left out.

use crate::model::rule::RuleId;
use crate::model::text::escape;
use crate::model::verdict::{Finding, Status, WAIVED};
use crate::submission::Submission;

/// A language that entries are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    C,
    Cplusplus,
    Rust,
    Python,
    Perl,
}

/// The kind of file that was handed in by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistaken {
    Source(Language),
    ByteOrderMark,
    Utf16,
}

/// Leaves the one finding that says what the file is, where nothing else can be said of it: the start has failed, and
/// either the bytes are no program's or rule `format` has failed already.
pub(super) fn fold(findings: &mut [Finding], submission: &Submission) {
    let status = |rule: RuleId| findings.iter().find(|one| one.rule == rule).map(|one| one.status);
    // A file that starts under its own name is an entry, whatever that name ends in.
    let by_its_name = status(RuleId::FileName) == Some(Status::Fail);
    if status(RuleId::Startup) != Some(Status::Fail) || by_its_name {
        return;
    }
    // A finding that the organisers waived stays as it is.
    let waived = |one: &Finding| one.evidence.contains_key(WAIVED);
    if findings.iter().any(|one| one.rule == RuleId::Format && waived(one)) {
        return;
    }
    // The kernel's error about its interpreter or loader is worth a message of its own.
    let refused = findings.iter().any(|one| {
        let failure = one.evidence.get("launch_failure");
        one.rule == RuleId::Startup && failure.is_some_and(|failure| !failure.is_null())
    });
    let name = String::from_utf8_lossy(submission.file_name.as_bytes()).into_owned();
    if let Some(mistaken) = look(&submission.bytes, &name) {
        let Some(format) = findings.iter_mut().find(|one| one.rule == RuleId::Format) else {
            return;
        };
        format.status = Status::Fail;
        format.summary = mistaken.is().to_owned();
        format.details.clear();
        format.help = mistaken.help(&escape(name.as_bytes(), 60));
    } else if refused || status(RuleId::Format) != Some(Status::Fail) {
        return;
    }
    for finding in findings {
        let of_bytes =
            matches!(finding.rule, RuleId::SingleFile | RuleId::Format | RuleId::Payload);
        if !of_bytes && finding.status != Status::Pass && !waived(finding) {
            *finding = Finding::skipped(finding.rule, RuleId::Format);
        }
    }
}

/// Says of a file that looks like none that starts what it is and what to do with it.
#[must_use]
pub(crate) fn hint(submission: &Submission) -> Option<String> {
    told(submission).map(|(is, help)| format!("{is}; {help}"))
}

/// The same in two parts.
#[must_use]
pub(super) fn told(submission: &Submission) -> Option<(&'static str, String)> {
    let name = escape(submission.file_name.as_bytes(), 60);
    let mistaken = look(&submission.bytes, &submission.file_name)?;
    // A script that reads itself may be named after what it holds.
    let reads_itself = submission.bytes.windows(2).any(|two| two == b"$0");
    (!reads_itself).then(|| (mistaken.is(), mistaken.help(&name)))
}

impl Mistaken {
    fn is(self) -> &'static str {
        match self {
            Mistaken::Source(Language::C) => "C source, which no machine starts as it is",
            Mistaken::Source(Language::Cplusplus) => "C++ source, which no machine starts as it is",
            Mistaken::Source(Language::Rust) => "Rust source, which no machine starts as it is",
            Mistaken::Source(Language::Python) => "Python without a first line that names Python",
            Mistaken::Source(Language::Perl) => "Perl without a first line that names Perl",
            Mistaken::ByteOrderMark => {
                "it begins with a byte order mark (EF BB BF), so its first line is not read"
            }
            Mistaken::Utf16 => "text in UTF-16, which neither the kernel nor a shell reads",
        }
    }

    fn help(self, name: &str) -> String {
        let packed = name.rsplit_once('.').map_or("engine", |(stem, _)| stem);
        match self {
            Mistaken::Source(Language::Python) => format!(
                "begin it with the line #!/usr/bin/python3, or pack it: gate4k pack {name} -o {packed}"
            ),
            Mistaken::Source(Language::Perl) => format!(
                "begin it with the line #!/usr/bin/perl, or pack it: gate4k pack {name} -o {packed}"
            ),
            Mistaken::Source(_) => format!("pack it: gate4k pack {name} -o {packed}"),
            Mistaken::ByteOrderMark => {
                format!(
                    "remove its first 3 bytes (UTF-8 without BOM): tail -c +4 {name} >{name}.new"
                )
            }
            Mistaken::Utf16 => {
                format!(
                    "save it as UTF-8 without a byte order mark: iconv -f UTF-16 -t UTF-8 {name} >{name}.new"
                )
            }
        }
    }
}

/// The kind of the bytes, where they are not meant for the machine.
fn look(bytes: &[u8], name: &str) -> Option<Mistaken> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Some(Mistaken::ByteOrderMark);
    }
    let wide = |at: usize| {
        bytes.len() >= 8 && bytes.iter().take(64).skip(at).step_by(2).all(|byte| *byte == 0)
    };
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || wide(0) != wide(1) {
        return Some(Mistaken::Utf16);
    }
    let text = std::str::from_utf8(bytes).ok()?;
    if text.starts_with("#!") || text.contains('\0') {
        return None;
    }
    by_name(name).or_else(|| by_first_line(text)).map(Mistaken::Source)
}

fn by_name(name: &str) -> Option<Language> {
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension {
        "c" | "h" => Language::C,
        "cc" | "cpp" | "cxx" => Language::Cplusplus,
        "rs" => Language::Rust,
        "py" => Language::Python,
        "pl" => Language::Perl,
        _ => return None,
    })
}

/// By the first line that is no comment. Later ones do not count: behind a shell's line any text may follow.
fn by_first_line(text: &str) -> Option<Language> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.find(|line| !line.starts_with("# ") && *line != "#")?;
    let begins = |words: &[&str]| words.iter().any(|word| first.starts_with(word));
    let cplusplus = || {
        ["using namespace", "std::", "template", "<iostream>", "class "]
            .iter()
            .any(|word| text.contains(word))
    };
    if begins(&["#![", "use std", "fn ", "pub fn ", "mod ", "const fn "]) {
        Some(Language::Rust)
    } else if begins(&["use strict", "use warnings", "my $", "my @", "my %"]) {
        Some(Language::Perl)
    } else if begins(&["import ", "def ", "class ", "print(", "\"\"\""])
        || (first.starts_with("from ") && first.contains(" import "))
    {
        Some(Language::Python)
    } else if begins(&[
        "#include",
        "#define",
        "#pragma",
        "#ifdef",
        "#ifndef",
        "/*",
        "//",
        "typedef ",
        "struct ",
        "static ",
        "int ",
        "char ",
        "void ",
        "const ",
        "long ",
        "unsigned ",
        "enum ",
        "using ",
        "template",
    ]) {
        Some(if cplusplus() { Language::Cplusplus } else { Language::C })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_by_name_or_first_line() {
        let source = |language| Some(Mistaken::Source(language));
        for (name, text, expected) in [
            ("x.c", "whatever", source(Language::C)),
            ("engine", "/* chess */\nint main() {}", source(Language::C)),
            ("engine", "#include <iostream>\nusing namespace std;", source(Language::Cplusplus)),
            ("engine", "fn main() {}", source(Language::Rust)),
            ("engine", "# a comment\nimport sys", source(Language::Python)),
            ("engine", "from os import path", source(Language::Python)),
            ("engine", "use strict;\nmy $x;", source(Language::Perl)),
            ("engine", "\u{feff}#!/bin/sh", Some(Mistaken::ByteOrderMark)),
            ("engine", "tail -n+2 $0|cc -xc -\nint main(){}", None),
            ("engine.py", "#!/usr/bin/python3\nimport sys", None),
            ("engine", "echo uciok", None),
            ("engine", "", None),
        ] {
            assert_eq!(look(text.as_bytes(), name), expected, "{name}: {text}");
        }
        for wide in [
            &b"\xff\xfea\0b\0"[..],
            b"\xfe\xff\0a\0b",
            b"i\0m\0p\0o\0r\0t\0",
            b"\0i\0m\0p\0o\0r\0t",
        ] {
            assert_eq!(look(wide, "engine"), Some(Mistaken::Utf16), "{wide:?}");
        }
        assert_eq!(look(&[0; 64], "engine"), None);
        assert_eq!(look(b"int main() {\0}", "engine.c"), None);
    }
}
