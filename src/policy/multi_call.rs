//! Files that are hundreds of programs: busybox, toybox, GNU coreutils and uutils in one file.
//!
//! Such a file may stand on a host under the name of one of its programs alone, as a link or as a copy. Granting it for
//! `xz` grants all of it to the kernel, so it has to be known for what it is, whatever it is called.

use std::path::Path;

use memchr::memmem;

use super::decide::ProgramForm;
use super::places::name_of;
use crate::model::command_words::MULTI_CALL_BINARIES;
use crate::sandbox::patiently;

/// The marks that stand in them and in no ordinary program.
const MARKS: [&[u8]; 4] =
    [b"BusyBox v", b"toybox [--long", b"--coreutils-prog", b"(multi-call binary)"];

/// Larger than any of them (uutils's has 23 MB); the parts of compilers are larger still, and reading these would take long.
const LARGEST: u64 = 30 << 20;

/// The form of a program of the host.
pub(super) fn form(real: &Path) -> ProgramForm {
    let name = name_of(real);
    let known = MULTI_CALL_BINARIES.iter().any(|known| name.starts_with(known));
    if known || has_mark(real) { ProgramForm::MultiCall } else { ProgramForm::Ordinary }
}

fn has_mark(real: &Path) -> bool {
    let small = std::fs::metadata(real).is_ok_and(|file| file.len() <= LARGEST);
    // A file that cannot be read cannot be told apart; nor can an entry read it.
    small
        && patiently(|| std::fs::read(real))
            .is_ok_and(|bytes| MARKS.iter().any(|mark| memmem::find(&bytes, mark).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_by_its_name_and_by_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            form(&path)
        };
        assert_eq!(file("busybox.static", b""), ProgramForm::MultiCall);
        assert_eq!(file("xz", b"\x7fELF .. BusyBox v1.35.0 (Debian)"), ProgramForm::MultiCall);
        assert_eq!(file("tail", b"\x7fELF .. GNU coreutils"), ProgramForm::Ordinary);
        let large = [vec![0; 23 << 20], b" (multi-call binary)".to_vec()].concat();
        assert_eq!(file("mktemp", &large), ProgramForm::MultiCall);
        assert_eq!(form(Path::new("/no/such/file")), ProgramForm::Ordinary);
    }

    #[test]
    fn the_programs_of_this_host_are_what_they_seem() {
        for name in ["dash", "bash", "xz", "gzip", "bzip2"] {
            let path = Path::new("/usr/bin").join(name);
            if let Ok(real) = path.canonicalize() {
                let is_multi_call =
                    real.file_name().is_some_and(|n| n.to_string_lossy().contains("box"));
                assert_eq!(form(&real) == ProgramForm::MultiCall, is_multi_call, "{name}");
            }
        }
    }
}
