//! Paths in JSON that come back as they were: as text, and one that is no text as its bytes. For `#[serde(with)]`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Text(PathBuf),
    Bytes(Vec<u8>),
}

/// Writes a path.
///
/// # Errors
/// The errors of the serializer.
pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => text.serialize(to),
        None => path.as_os_str().as_bytes().serialize(to),
    }
}

/// Reads a path.
///
/// # Errors
/// Where it is neither text nor bytes.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Ok(match Form::deserialize(from)? {
        Form::Text(path) => path,
        Form::Bytes(bytes) => OsString::from_vec(bytes).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder(#[serde(with = "super")] PathBuf);

    #[test]
    fn each_path_comes_back() {
        for bytes in [&b"a/b"[..], b"", "\u{e9}\n".as_bytes(), b"a\xff/b", b"\xc3"] {
            let path = Holder(OsString::from_vec(bytes.to_vec()).into());
            let json = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<Holder>(&json).unwrap(), path);
        }
        assert_eq!(serde_json::to_string(&Holder("a/b".into())).unwrap(), r#""a/b""#);
    }
}
