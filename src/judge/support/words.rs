//! The allow-list and the host's toolchain, as the rules ask them.

use crate::judge::rules::commands::{CommandPolicy, CommandWord};
use crate::judge::rules::libraries::{LibraryPolicy, LibraryWord};
use crate::policy::toolchain::Toolchain;
use crate::policy::{decide, libraries};

/// Answers the rules' questions.
#[derive(Debug)]
pub struct Words<'a> {
    tools: &'a Toolchain,
}

impl<'a> Words<'a> {
    /// Answers from this toolchain's allow-list.
    #[must_use]
    pub fn new(tools: &'a Toolchain) -> Words<'a> {
        Words { tools }
    }
}

impl CommandPolicy for Words<'_> {
    fn command(&self, name: &str) -> CommandWord {
        let decision = decide::named(self.tools.list(), name, &[], self.tools.strictness());
        CommandWord { class: decision.class, reason: decision.reason }
    }
}

impl LibraryPolicy for Words<'_> {
    fn library(&self, name_or_path: &str) -> LibraryWord {
        match libraries::judge(self.tools.list(), name_or_path) {
            libraries::LibraryWord::Allowed(reason) => LibraryWord::Allowed(reason),
            // A module's own name (`torch`, `JSON/XS.pm`) is only asked about where an interpreter did not
            // find it, so it is neither in the standard library nor allowed.
            libraries::LibraryWord::NotALibrary if !name_or_path.starts_with('/') => {
                LibraryWord::Refused("rule 7.6 does not allow it".into())
            }
            libraries::LibraryWord::NotALibrary => LibraryWord::Allowed("no library".into()),
            libraries::LibraryWord::Refused(reason) => LibraryWord::Refused(reason),
            libraries::LibraryWord::ChessLibrary(name) => {
                LibraryWord::Refused(format!("{name} is a chess library of the host, see rule 7.7"))
            }
        }
    }

    fn belongs_to_commands(&self, path: &str) -> bool {
        self.tools.grants_reading(path.as_ref())
    }
}
