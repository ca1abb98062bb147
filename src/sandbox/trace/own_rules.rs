//! Rules of the entry's own that `make` follows. A compiler starts it with a makefile (`-flto=auto`). Some variables of its environment bring
//! another one, or the text of one (`--eval`); others, and words of the compiler that stand in the makefile (`$(shell ...)`), bring commands. So
//! make is judged by what it does as well: it starts a compiler for each part, and then a shell with one command.

use std::ffi::OsStr;
use std::path::Path;

use crate::sandbox::inspect::process;

/// The variables from which make reads makefiles and options.
const VARIABLES: [&[u8]; 3] = [b"MAKEFILES=", b"GNUMAKEFLAGS=", b"MAKEFLAGS="];

/// True for a process that begins to run make with such a variable.
pub(super) fn brought_by(process: i32, program: &Path, argv: &[Vec<u8>]) -> bool {
    let only_tells = argv.iter().skip(1).eq([b"--version"]);
    is_make(Some(program))
        && !only_tells
        && process::bytes(process, "environ").is_ok_and(|all| are_in(&all))
}

/// True for the file of make; some systems call it gmake.
pub(super) fn is_make(program: Option<&Path>) -> bool {
    program.and_then(Path::file_name).is_some_and(|name| name == "make" || name == "gmake")
}

/// True if a program of the host with these words is what make starts for a compiler. Any program can have the words.
pub(super) fn are_of_a_compiler(program: Option<&Path>, words: &[Vec<u8>]) -> bool {
    match words {
        [_, option, command] if option == b"-c" => empties_a_part(command),
        [_, option, rest @ ..] => {
            option == b"-xlto" && rest.iter().any(|word| word == b"-fltrans") && is_driver(program)
        }
        _ => false,
    }
}

/// True for the file of GCC's driver (`x86_64-linux-gnu-gcc-12`).
fn is_driver(program: Option<&Path>) -> bool {
    let name = program.and_then(Path::file_name).and_then(OsStr::to_str);
    name.is_some_and(|name| name.split('-').any(|part| ["cc", "c++", "gcc", "g++"].contains(&part)))
}

/// True for the command by which lto-wrapper empties a part that was compiled. Versions of GCC put its name in quotes, or do not.
fn empties_a_part(command: &[u8]) -> bool {
    let Ok(command) = std::str::from_utf8(command) else { return false };
    let Some(rest) = command.strip_prefix("touch -r ") else { return false };
    let is_it = |name: &str, quote: &str| {
        let file = format!("{quote}{name}{quote}");
        let other = format!("{quote}{name}.tem{quote}");
        command == format!("touch -r {file} {other} > /dev/null 2>&1 && mv {other} {file}")
    };
    match rest.strip_prefix('"') {
        Some(quoted) => quoted
            .split_once('"')
            .is_some_and(|(name, _)| !name.contains(['$', '`', '\\', '\n']) && is_it(name, "\"")),
        None => rest.split_once(' ').is_some_and(|(name, _)| {
            let is_plain = |c: char| c.is_alphanumeric() || "/._-+,=@%:".contains(c);
            name.chars().all(is_plain) && is_it(name, "")
        }),
    }
}

fn are_in(environment: &[u8]) -> bool {
    let is_set = |variable: &[u8]| {
        let value = VARIABLES.iter().find_map(|name| variable.strip_prefix(*name));
        value.is_some_and(|value| !value.is_empty())
    };
    environment.split(|byte| *byte == 0).any(is_set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_is_given_rules_by_its_environment() {
        for environment in [
            &b"PATH=/bin\0MAKEFILES=/tmp/m\0"[..],
            b"GNUMAKEFLAGS=--eval=$(info x)\0A=1\0",
            b"MAKEFLAGS=-j2",
        ] {
            assert!(are_in(environment), "{environment:?}");
        }
        // lto-wrapper empties them.
        assert!(!are_in(b"MAKEFLAGS=\0MFLAGS=\0A=MAKEFILES=x\0MAKE=make\0"));
    }

    #[test]
    fn make_starts_for_a_compiler_only_what_a_compiler_asks_of_it() {
        let as_file = |file: &str, all: &[&str]| {
            let words: Vec<Vec<u8>> = all.iter().map(|word| word.as_bytes().to_vec()).collect();
            are_of_a_compiler(Some(Path::new(file)), &words)
        };
        let is_it = |all: &[&str]| as_file("/usr/bin/x86_64-linux-gnu-gcc-12", all);
        let part = ["cc", "-xlto", "-c", "-O2", "-dumpdir", "a.", "-fltrans", "-o", "x.o", "y.o"];
        assert!(is_it(&part) && as_file("/usr/bin/g++", &part));
        assert!(
            !as_file("/usr/bin/perl", &part) && !as_file("/usr/bin/x86_64-linux-gnu-as", &part)
        );
        assert!(!is_it(&["cc", "x.c", "-xlto", "-fltrans"]));
        let shell = |command: &str| is_it(&["/bin/sh", "-c", command]);
        assert!(shell(
            "touch -r /tmp/a.ltrans0.o /tmp/a.ltrans0.o.tem > /dev/null 2>&1 && mv /tmp/a.ltrans0.o.tem /tmp/a.ltrans0.o"
        ));
        assert!(shell(
            "touch -r \"a b.o\" \"a b.o.tem\" > /dev/null 2>&1 && mv \"a b.o.tem\" \"a b.o\""
        ));
        for other in [
            "as --version",
            "touch -r a b.tem > /dev/null 2>&1 && mv b.tem a",
            "touch -r a a.tem > /dev/null 2>&1 && mv a.tem a; as",
            "touch -r a;as a;as.tem > /dev/null 2>&1 && mv a;as.tem a;as",
            "touch -r \"$(as)\" \"$(as).tem\" > /dev/null 2>&1 && mv \"$(as).tem\" \"$(as)\"",
        ] {
            assert!(!shell(other), "{other}");
        }
        assert!(!is_it(&["sh", "-c", "as", "touch -r a a.tem > /dev/null 2>&1 && mv a.tem a"]));
        assert!(!is_it(&["as", "--version"]) && !is_it(&["cc", "-c", "x.c"]) && !is_it(&[]));
    }
}
