//! The end of a program: its exit code and all that it wrote, taken together or apart.

use std::process::{Command, Output};

use serde_json::Value;

/// A run that has ended by itself, and whose output is text.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Outcome {
    pub(crate) fn of(command: &mut Command) -> Outcome {
        let (code, out, err) = told_apart(&command.output().unwrap());
        Outcome { code, out, err }
    }

    /// Standard output as a document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }

    /// The exit code, and both streams as one text.
    pub(crate) fn together(self) -> (i32, String) {
        (self.code, self.out + &self.err)
    }
}

/// Standard output and after it standard error.
pub(crate) fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Exit code, standard output, standard error.
pub(crate) fn told_apart(output: &Output) -> (i32, String, String) {
    (
        output.status.code().expect("it was killed by a signal"),
        String::from_utf8(output.stdout.clone()).unwrap(),
        String::from_utf8(output.stderr.clone()).unwrap(),
    )
}
