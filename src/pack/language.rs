//! The language of a source, by the ending of its name or by its first line.

use std::path::Path;

/// The language of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// Perl.
    Perl,
    /// An executable file that only needs to be unpacked.
    Executable,
}

impl Language {
    /// By the first bytes of an executable, the ending of the name, or the first line.
    pub(crate) fn of(path: &Path, bytes: &[u8]) -> Option<Language> {
        if bytes.starts_with(b"\x7fELF") {
            return Some(Language::Executable);
        }
        let by_first_line = || by_first_line(std::str::from_utf8(bytes).ok()?);
        by_name(path).or_else(|| if is_of_another(path) { None } else { by_first_line() })
    }

    /// The program that builds or reads it where none is chosen; empty where none is needed.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Language::C => "cc",
            Language::Cpp => "c++",
            Language::Rust => "rustc",
            Language::Python => "python3",
            Language::Perl => "perl",
            Language::Executable => "",
        }
    }

    /// The flags of that program where none are chosen.
    pub(super) fn flags(self) -> &'static str {
        match self {
            Language::C | Language::Cpp => "-O2",
            Language::Rust => "-O",
            Language::Python | Language::Perl | Language::Executable => "",
        }
    }
}

/// The endings of languages that no program of rule 7.5 reads. Their first lines may be those of others: `print(` is Lua as well.
const OTHERS: [&str; 15] = [
    "asm", "cs", "go", "hs", "java", "js", "kt", "lua", "ml", "nim", "php", "rb", "swift", "ts",
    "zig",
];

fn is_of_another(path: &Path) -> bool {
    path.extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| OTHERS.contains(&ending))
}

fn by_name(path: &Path) -> Option<Language> {
    Some(match path.extension()?.to_str()? {
        "c" | "h" => Language::C,
        "cc" | "cpp" | "cxx" | "C" => Language::Cpp,
        "rs" => Language::Rust,
        "py" => Language::Python,
        "pl" => Language::Perl,
        _ => return None,
    })
}

/// True for JavaScript, which begins with words that C has as well, and which no program of rule 7.5 reads.
pub(crate) fn is_javascript(text: &str) -> bool {
    let first = text.trim_start();
    ["const ", "let ", "var ", "//", "/*", "'use strict'", "\"use strict\"", "import "]
        .iter()
        .any(|word| first.starts_with(word))
        && ["require(", "console.log(", "process.stdin"].iter().any(|mark| text.contains(mark))
        && !text.contains("#include")
}

/// By the first line that is no comment. Later ones do not count: behind a shell's line any text may follow.
fn by_first_line(text: &str) -> Option<Language> {
    if let Some(interpreter) = text.strip_prefix("#!/") {
        let line = interpreter.lines().next().unwrap_or_default();
        return if line.contains("python") || line.contains("pypy") {
            Some(Language::Python)
        } else {
            line.contains("perl").then_some(Language::Perl)
        };
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.find(|line| !line.starts_with("# ") && *line != "#")?;
    let begins = |words: &[&str]| words.iter().any(|word| first.starts_with(word));
    let cpp = || {
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
    } else if is_javascript(text) {
        None
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
        Some(if cpp() { Language::Cpp } else { Language::C })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_another_language_is_no_guess() {
        let of = |name: &str, text: &str| Language::of(Path::new(name), text.as_bytes());
        assert_eq!(of("engine", "import sys\nprint(1)\n"), Some(Language::Python));
        for (name, text) in
            [("a.lua", "import sys\n"), ("a.java", "class A{}\n"), ("a.asm", "#include <a>\n")]
        {
            assert_eq!(of(name, text), None, "{name}");
        }
    }

    #[test]
    fn the_language_is_told_by_the_name_the_first_bytes_or_the_first_line() {
        let of = |name: &str, text: &str| Language::of(Path::new(name), text.as_bytes());
        for (name, text, expected) in [
            ("a.c", "whatever", Some(Language::C)),
            ("a.h", "", Some(Language::C)),
            ("a.C", "", Some(Language::Cpp)),
            ("a.rs", "", Some(Language::Rust)),
            ("a", "\x7fELF\x02", Some(Language::Executable)),
            ("a", "/* chess */\nint main() {}", Some(Language::C)),
            ("a.txt", "#include <iostream>\nusing namespace std;", Some(Language::Cpp)),
            ("a", "fn main() {}", Some(Language::Rust)),
            ("a", "# a comment\nimport sys", Some(Language::Python)),
            ("a", "from os import path", Some(Language::Python)),
            ("a", "#!/usr/bin/env python3\nimport sys", Some(Language::Python)),
            ("a", "#!/usr/bin/perl\n", Some(Language::Perl)),
            ("a", "use strict;\nmy $x;", Some(Language::Perl)),
            ("a", "#!/bin/sh\nint main() {}", None),
            ("a", "tail -n+2 $0|cc -xc -\nint main(){}", None),
            ("a", "echo uciok", None),
            ("a", "const readline=require('readline');\nconsole.log('uciok')", None),
            ("a", "// engine\nprocess.stdin.on('data',d=>go(d))", None),
            ("a", "const int N=8;\nint main(){}", Some(Language::C)),
            ("a.txt", "", None),
        ] {
            assert_eq!(of(name, text), expected, "{name}: {text}");
        }
        assert_eq!(Language::of(Path::new("a"), b"int \xff"), None);
    }
}
