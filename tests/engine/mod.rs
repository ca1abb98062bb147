//! An engine that answers at once and misbehaves on request, compiled from `instant.c` once for each state of it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use gate4k::model::text::sha256;

const SOURCE: &str = include_str!("instant.c");

/// The compiled engine. Rust links with the C compiler, so that there is one wherever this was built.
pub(crate) fn instant() -> &'static Path {
    static INSTANT: OnceLock<PathBuf> = OnceLock::new();
    INSTANT.get_or_init(|| {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = directory.join(format!("instant-{:.16}", sha256(SOURCE.as_bytes())));
        if program.exists() {
            return program;
        }
        // Programs that compile it at the same time do not meet: each one renames a whole file of its own.
        let own = tempfile::tempdir_in(directory).expect("a directory below target");
        let (source, made) = (own.path().join("instant.c"), own.path().join("instant"));
        std::fs::write(&source, SOURCE).expect("room below target");
        let status =
            Command::new("cc").args(["-O2", "-Wall", "-o"]).arg(&made).arg(&source).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "cc cannot compile tests/engine/instant.c"
        );
        std::fs::rename(&made, &program).expect("a name below target");
        program
    })
}
