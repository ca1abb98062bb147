//! The entry as bytes: what was handed in, what kind of file it is, and how much of the 4096 bytes it
//! and its engines.json take. Nothing here runs anything.
//!
//! [`entry`] is the only file that touches the disk; the rest is pure.

pub mod elf;
pub mod engines_json;
pub(crate) mod entry;
pub mod format;
pub(crate) mod json;
pub mod payload;
pub mod shebang;
pub mod size;
pub(crate) mod stub;

use std::path::PathBuf;
use std::sync::Arc;

use crate::model::units::Bytes;
use crate::submission::engines_json::EnginesJson;
use crate::submission::json::{Json, JsonNode};

/// The submission that an ENTRY argument resolved to.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    /// The entry's file: the argument itself, or the file in the directory that it names.
    pub(crate) path: PathBuf,
    /// Its name, broken UTF-8 replaced; for reports, and to start it once under its own name.
    pub(crate) file_name: String,
    /// Its bytes, all of them up to [`entry::READ_AT_MOST`].
    pub(crate) bytes: Arc<[u8]>,
    /// Its full size.
    pub(crate) size: Bytes,
    /// Its permission bits.
    pub(crate) mode: Mode,
    /// The SHA-256 of the whole file in hex; none where it is larger than [`entry::HASH_AT_MOST`].
    pub(crate) sha256: Option<String>,
    /// Other things in its directory, escaped; each is named by the finding of `single-file`.
    pub(crate) extra: Vec<String>,
    /// The configuration that was found or named, if any.
    pub(crate) engines_json: Option<EnginesJson>,
}

impl Submission {
    /// True if [`Submission::bytes`] is the whole file; a larger one is far beyond every limit.
    pub(crate) fn is_whole(&self) -> bool {
        Bytes::of(&self.bytes) == self.size
    }

    /// The options that its configuration sets: those that have a name and a value.
    pub(crate) fn options(&self) -> Vec<(String, String)> {
        let config = self.engines_json.as_ref().and_then(|json| json.selected.as_ref().ok());
        config.map(options).unwrap_or_default()
    }
}

fn options(config: &Json) -> Vec<(String, String)> {
    let Some(JsonNode::Array(options)) = config.get("options").map(|options| &options.node) else {
        return Vec::new();
    };
    let text = |option: &Json, key: &str| Some(option.get(key)?.scalar()?.to_owned());
    options
        .iter()
        .filter_map(|option| Some((text(option, "name")?, text(option, "value")?)))
        .collect()
}

/// The permission bits of a file, as chmod has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode(pub u32);

impl Mode {
    /// True if anyone may execute it.
    pub(crate) fn is_executable(self) -> bool {
        self.0 & 0o111 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_every_kind_are_taken() {
        let config = json::parse(
            r#"{"options":[{"name":"Hash","value":16},{"name":"Own Book","value":false},
                {"name":"Net","value":"a b"},{"name":"Clear","type":"button"}]}"#,
        )
        .unwrap();
        let wanted = [("Hash", "16"), ("Own Book", "false"), ("Net", "a b")];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(options(&config), wanted);
    }
}
