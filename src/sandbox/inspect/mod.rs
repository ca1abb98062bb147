//! The one door to an entry's world: whatever the supervisor reads of a traced process or of its files, it reads here.
//!
//! An entry can change all of it while it is read: a path leads elsewhere by the time it is opened, a file becomes a device,
//! a process goes on without its first thread. So a path is opened once, beneath the entry's own root and without the
//! kernel's magic links; all that is to be known of a file is asked of that descriptor; only regular files are read; and
//! every read has a bound on its bytes. A test below looks for other places that open such paths.

pub(in crate::sandbox) mod closed_files;
pub(crate) mod descriptors;
pub(in crate::sandbox) mod files;
pub(in crate::sandbox) mod image;
pub(in crate::sandbox) mod process;
pub(in crate::sandbox) mod python_cache;
pub(in crate::sandbox) mod residue;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    /// Where /proc is looked into for a process that is no entry's, or is this one.
    const OTHERS: [&str; 6] = [
        // The directory of kept results, which is the user's own.
        "batch/cache.rs",
        // Trusted engines, and no confined ones: those are asked through the sandbox.
        "engine/memory.rs",
        "engine/process.rs",
        // The users of the first process, which does not run anything of the entry's yet.
        "sandbox/users.rs",
        // The root of an entry all of whose processes have ended.
        "sandbox/fs/workspace.rs",
        // A directory there that is held by its descriptor, and that is known to be one.
        "sandbox/fs/clear.rs",
    ];

    fn sources(dir: &Path, all: &mut Vec<PathBuf>) {
        for item in std::fs::read_dir(dir).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                sources(&path, all);
            } else if path.extension().is_some_and(|end| end == "rs") {
                all.push(path);
            }
        }
    }

    /// A path of a process by number, or of a descriptor, is a path into an entry's world.
    #[test]
    fn nothing_else_opens_what_an_entry_can_change() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut all = Vec::new();
        sources(&top, &mut all);
        let marks = [
            concat!("\"/proc/", "{"),
            concat!("\"/proc/self/fd/", "{"),
            concat!("process_vm_", "readv("),
        ];
        let mut wrong = Vec::new();
        let mut seen = 0;
        for path in all {
            let name = path.strip_prefix(&top).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let opens = marks.iter().any(|mark| text.contains(mark));
            if name.starts_with("sandbox/inspect") {
                seen += usize::from(opens);
            } else if opens && !OTHERS.iter().any(|other| name == Path::new(other)) {
                wrong.push(name.to_owned());
            }
        }
        assert!(seen >= 2, "the marks are not those of the door itself");
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
