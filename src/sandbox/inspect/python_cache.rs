//! The compiled modules that Python keeps beside their sources (rule 7.4).

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The length of the head of such a file: a mark of the version, flags, the time of the source, its size.
const HEAD: usize = 16;

/// True if a file is named and begins as what Python compiles, and its source lies where Python takes it from, with the time and the
/// size that the head tells. Of a source that is gone, it would be a store like any other.
pub(in crate::sandbox) fn is_of_its_source(cache: &Path, head: &[u8]) -> bool {
    let word = |at: usize| {
        let bytes: Option<[u8; 4]> = head.get(at..at + 4).and_then(|word| word.try_into().ok());
        bytes.map(u32::from_le_bytes)
    };
    // (Flags are set where somebody asked for a sum in the place of the time, which Python does not do by itself.)
    if head.len() < HEAD || word(4) != Some(0) {
        return false;
    }
    let found = source(cache).and_then(|source| source.symlink_metadata().ok());
    // As Python has them: of both numbers 32 bits.
    found.is_some_and(|found| {
        found.is_file()
            && word(8) == Some(found.mtime() as u32)
            && word(12) == Some(found.size() as u32)
    })
}

/// The source of a compiled module: `D/NAME.py` of `D/__pycache__/NAME.cpython-311.pyc`, or of `NAME.cpython-311.opt-1.pyc`.
fn source(cache: &Path) -> Option<PathBuf> {
    let name = cache.file_name()?.to_str()?.strip_suffix(".pyc")?;
    let (name, last) = name.rsplit_once('.')?;
    let name = if last.starts_with("opt-") { name.rsplit_once('.')?.0 } else { name };
    let directory = cache.parent().filter(|directory| directory.ends_with("__pycache__"))?;
    Some(directory.parent()?.join(format!("{name}.py")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn head(flags: u32, time: u32, size: u32) -> Vec<u8> {
        let words = [flags, time, size].map(u32::to_le_bytes).concat();
        [&b"\xa7\x0d\x0d\x0a"[..], &words, b"\xe3\0\0"].concat()
    }

    #[test]
    fn only_what_fits_the_source_beside_it_is_a_cache() {
        let top = tempfile::tempdir().unwrap();
        let cache = |name: &str| top.path().join("__pycache__").join(name);
        let (plain, short) = (cache("book.cpython-311.pyc"), cache("book.cpython-311.opt-1.pyc"));
        let written = head(0, 1_700_000_000, 5);
        assert!(!is_of_its_source(&plain, &written), "there is no source");
        let source = top.path().join("book.py");
        std::fs::write(&source, "a = 1").unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        std::fs::File::options().write(true).open(&source).unwrap().set_modified(time).unwrap();
        assert!(is_of_its_source(&plain, &written) && is_of_its_source(&short, &written));
        for (why, other) in [
            ("another time", head(0, 1_700_000_001, 5)),
            ("another size", head(0, 1_700_000_000, 6)),
            ("a sum", head(1, 1_700_000_000, 5)),
            ("the head alone", written[..12].to_vec()),
        ] {
            assert!(!is_of_its_source(&plain, &other), "{why}");
        }
        assert!(!is_of_its_source(&cache("net.cpython-311.pyc"), &written));
        assert!(!is_of_its_source(&top.path().join("book.cpython-311.pyc"), &written));
        std::fs::remove_file(&source).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &source).unwrap();
        assert!(!is_of_its_source(&plain, &written), "a link is no source");
    }
}
