//! Says in words why an entry could not be executed.

use crate::model::evidence::LaunchFailure;
use crate::model::text::escape;

/// The failure of exec with `errno`, explained from the entry's first line.
pub(super) fn launch_failure(errno: i32, bytes: &[u8]) -> LaunchFailure {
    let error = std::io::Error::from_raw_os_error(errno);
    let what = match interpreter(bytes) {
        Some(line) if line.ends_with(b"\r") => format!(
            "the interpreter {} ends in a carriage return (CRLF line ends), so no such program exists",
            escape(line, 100)
        ),
        Some(line) => match errno {
            // An interpreter may be a script, whose own interpreter is the one that is missing.
            libc::ENOENT => format!(
                "the interpreter {} is missing in the sandbox, which holds allowed programs alone, or it is a script \
                 whose own interpreter is missing there",
                escape(line, 100)
            ),
            libc::EACCES => format!("the interpreter {} is not allowed", escape(line, 100)),
            _ => format!("{error} (interpreter {})", escape(line, 100)),
        },
        None if errno == libc::ENOENT => {
            "the program interpreter (dynamic loader) that the file names does not exist here"
                .into()
        }
        None => format!("the kernel cannot execute it: {error}"),
    };
    LaunchFailure { errno, what }
}

/// The interpreter's path of a `#!` line, as the kernel reads it: up to a blank, tab or the end of line.
pub(super) fn interpreter(bytes: &[u8]) -> Option<&[u8]> {
    let line = bytes.strip_prefix(b"#!")?;
    let looked_at = line.get(..line.len().min(254))?;
    let line = looked_at.split(|byte| *byte == b'\n').next()?.trim_ascii_start();
    let path = line.split(|byte| matches!(byte, b' ' | b'\t' | 0)).next()?;
    // The kernel takes no path whose end it does not see; a shell then reads the script.
    let is_cut = looked_at.len() == 254 && !looked_at.contains(&b'\n') && path.len() == line.len();
    (!path.is_empty() && !is_cut).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriage_returns_are_named() {
        let failure = launch_failure(libc::ENOENT, b"#!/bin/sh\r\necho\r\n");
        assert!(failure.what.contains("carriage return"), "{}", failure.what);
        assert_eq!(interpreter(b"#! \t/usr/bin/env python3\n"), Some(&b"/usr/bin/env"[..]));
        assert_eq!(interpreter(b"echo\n"), None);
    }

    #[test]
    fn a_path_that_is_cut_off_names_no_interpreter() {
        let long = |dots: usize| format!("#!/usr/bin/{}python3\n", "./".repeat(dots)).into_bytes();
        assert!(interpreter(&long(118)).is_some_and(|path| path.ends_with(b"/python3")));
        for dots in [119, 122, 125, 200] {
            assert_eq!(interpreter(&long(dots)), None, "{dots}");
        }
        let argument = format!("#!/bin/sh {}\n", "x".repeat(300));
        assert_eq!(interpreter(argument.as_bytes()), Some(&b"/bin/sh"[..]));
    }
}
