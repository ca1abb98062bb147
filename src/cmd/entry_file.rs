//! Entries that gate4k writes: never over what they were made from, and each put into place as a whole.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::files::{read, write};
use crate::model::text::shown;
use crate::model::units::Bytes;
use crate::pack::candidate;

/// An entry can be executed.
const MODE: u32 = 0o777;

/// Checks that an entry may be put at the output's path: never over the source, and over nothing that was written
/// otherwise, unless that is asked for.
pub(super) fn may_write(output: &Path, source: &Path, force: bool) -> Result<(), String> {
    // A part that is made and goes again shows now, before a proof of seconds, whether anything can be written there.
    let has_room = || match write::part(output, MODE) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("cannot write {}: {error}", shown(output))),
    };
    let there = match fs::symlink_metadata(output) {
        Ok(there) => there,
        Err(_) => return has_room(),
    };
    let identity = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    if identity(output).is_some_and(|file| identity(source) == Some(file)) {
        return Err(format!(
            "the output {} is the source itself, which is never overwritten; name another file with -o",
            shown(output)
        ));
    }
    if fs::metadata(output).is_ok_and(|target| target.is_dir()) {
        return Err(format!("the output {} is a directory; name a file in it", shown(output)));
    }
    if let Err(error) = write::replaceable(output) {
        return Err(format!("cannot write {}: {error}", shown(output)));
    }
    // A file of ours is no longer than an entry.
    let ours = there.is_file()
        && read::bytes(output, Bytes::LIMIT_4K).is_ok_and(|entry| candidate::is_packed(&entry));
    if ours || force {
        return has_room();
    }
    Err(format!(
        "the output {} is there already and was not written by `gate4k pack`; name another file with -o, or add \
         --force to replace it",
        shown(output)
    ))
}

/// Puts the entry into place as a whole.
pub(super) fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    write::whole(path, MODE, bytes)
}
