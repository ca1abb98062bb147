//! `#!` exactly as Linux reads it (binfmt_script): 256 bytes, blanks trimmed, at most one argument.
//!
//! A line that the kernel refuses here is no error of the file: execvp then hands it to a shell, which takes
//! the line for a comment.

/// The number of bytes of a file that the kernel looks at.
const LOOKED_AT: usize = 256;

/// The reason of [`FirstLine::Refused`] where the line is too long.
pub(crate) const CUT_OFF: &str = "names an interpreter that is cut off after 256 bytes";

/// The interpreter that a script names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shebang {
    /// The path, with whatever bytes it was written.
    pub(crate) interpreter: Vec<u8>,
    /// Everything behind it as one argument.
    pub(crate) argument: Option<Vec<u8>>,
    /// True if more stands behind the 255 bytes that the kernel reads; it is lost.
    pub(crate) cut_off: bool,
}

/// The kind of a first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstLine {
    /// No `#!`.
    Other,
    /// `#!` with an interpreter.
    Shebang(Shebang),
    /// `#!` without a name, or with one that is cut off after 256 bytes: ENOEXEC.
    Refused(&'static str),
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Reads the first line of a file.
pub fn parse(bytes: &[u8]) -> FirstLine {
    if !bytes.starts_with(b"#!") {
        return FirstLine::Other;
    }
    // the kernel's buffer is filled up with NULs, and a NUL ends every search in it
    let mut buffer = [0; LOOKED_AT];
    let known = bytes.len().min(LOOKED_AT);
    buffer[..known].copy_from_slice(&bytes[..known]);
    let newline = (buffer.iter().take_while(|byte| **byte != 0)).position(|byte| *byte == b'\n');
    let mut end = match newline {
        Some(newline) => newline,
        None => {
            let last = LOOKED_AT - 1;
            let Some(start) = (2..=last).find(|at| !is_blank(buffer[*at])) else {
                return FirstLine::Refused("names no interpreter");
            };
            let terminated = buffer[start..=last].iter().any(|byte| is_blank(*byte) || *byte == 0);
            if !terminated {
                return FirstLine::Refused(CUT_OFF);
            }
            last
        }
    };
    while end > 2 && is_blank(buffer[end - 1]) {
        end -= 1;
    }
    let line = &buffer[2..end];
    let line = line.iter().position(|byte| !is_blank(*byte)).map_or(&[][..], |at| &line[at..]);
    let split = line.iter().position(|byte| is_blank(*byte) || *byte == 0);
    let behind = bytes.get(end..).filter(|_| newline.is_none() && !line.contains(&0));
    let mut behind = behind.into_iter().flatten().take_while(|byte| **byte != b'\n');
    let cut_off = behind.any(|byte| !is_blank(*byte));
    let (interpreter, rest) = line.split_at(split.unwrap_or(line.len()));
    if interpreter.is_empty() {
        return FirstLine::Refused("names no interpreter");
    }
    let argument = match rest.first() {
        // the name ended at a NUL: nothing behind it is seen
        None | Some(0) => None,
        Some(_) => (rest.iter().position(|byte| !is_blank(*byte)))
            .map(|at| rest[at..].split(|byte| *byte == 0).next().unwrap_or_default())
            .filter(|argument| !argument.is_empty()),
    };
    FirstLine::Shebang(Shebang {
        interpreter: interpreter.to_vec(),
        argument: argument.map(<[u8]>::to_vec),
        cut_off,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (String, Option<String>) {
        match parse(text.as_bytes()) {
            FirstLine::Shebang(shebang) => (
                String::from_utf8(shebang.interpreter).unwrap(),
                shebang.argument.map(|bytes| String::from_utf8(bytes).unwrap()),
            ),
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn the_name_and_one_argument() {
        for (text, name, argument) in [
            ("#!/bin/sh\n", "/bin/sh", None),
            ("#!/bin/sh", "/bin/sh", None),
            ("#! \t/bin/sh \t\nx", "/bin/sh", None),
            ("#!/bin/sh -e\n", "/bin/sh", Some("-e")),
            ("#!/usr/bin/env  python3 -u  \n", "/usr/bin/env", Some("python3 -u")),
            ("#!/bin/sh\r\n", "/bin/sh\r", None),
            ("#!/bin/sh\0 -e\n", "/bin/sh", None),
            ("#!sh\n", "sh", None),
        ] {
            assert_eq!(read(text), (name.to_owned(), argument.map(str::to_owned)), "{text:?}");
        }
    }

    #[test]
    fn what_the_kernel_refuses() {
        let long = format!("#!/{}\n", "x".repeat(300));
        let blank = format!("#!{}\n", " ".repeat(300));
        for text in ["#!\n", "#!  \t \n", "#!", &long, &blank] {
            assert!(matches!(parse(text.as_bytes()), FirstLine::Refused(_)), "{text:?}");
        }
        assert_eq!(parse(b"\n#!/bin/sh\n"), FirstLine::Other);
        assert_eq!(parse(b""), FirstLine::Other);
        // a long argument is cut off, the name before it holds
        let long = format!("#!/bin/sh {}\n", "x".repeat(300));
        assert_eq!(read(&long).1.unwrap().len(), 255 - 10);
    }

    #[test]
    fn what_stands_behind_255_bytes_is_cut_off() {
        for (text, expected) in [
            ("#!/bin/sh -e\n".to_owned(), false),
            (format!("#!/bin/sh {}\n", "x".repeat(245)), false),
            (format!("#!/bin/sh {}\n", "x".repeat(246)), true),
            (format!("#!/bin/sh {}-e\n", " ".repeat(300)), true),
            (format!("#!/bin/sh {}\nx", " ".repeat(300)), false),
            (format!("#!/bin/sh\0{}\n", "x".repeat(300)), false),
        ] {
            let FirstLine::Shebang(shebang) = parse(text.as_bytes()) else { panic!("{text:?}") };
            assert_eq!(shebang.cut_off, expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
            bytes.splice(0..0, *b"#!");
            if let FirstLine::Shebang(shebang) = parse(&bytes) {
                prop_assert!(!shebang.interpreter.iter().any(|byte| is_blank(*byte)));
            }
        }
    }
}
