//! Rules of the entry's own that `make` takes from its environment: a compiler starts it with a makefile (`-flto=auto`), and these variables bring
//! another one, or the text of one (`--eval`), of which the arguments show nothing.

use std::path::Path;

use crate::sandbox::inspect::process;

/// The variables from which make reads makefiles and options.
const VARIABLES: [&[u8]; 3] = [b"MAKEFILES=", b"GNUMAKEFLAGS=", b"MAKEFLAGS="];

/// True for a process that begins to run make with such a variable.
pub(super) fn brought_by(process: i32, program: &Path, argv: &[Vec<u8>]) -> bool {
    let only_tells = argv.iter().skip(1).eq([b"--version"]);
    program.file_name().is_some_and(|name| name == "make")
        && !only_tells
        && process::bytes(process, "environ").is_ok_and(|all| are_in(&all))
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
}
