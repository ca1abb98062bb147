//! All that decides on an entry, as one sum: while it stays the same, so would the result.

use std::fmt::Debug;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use super::Judge;
use super::error::CheckError;
use super::host::HostFor;
use crate::model::text::{add_all, hex};

/// Changes whenever a package is installed, removed or brought up to date, or a library is.
const REGISTERS: [&str; 3] = ["/var/lib/dpkg/status", "/var/lib/rpm", "/etc/ld.so.cache"];

impl Judge {
    /// The fingerprint of an entry on this host: its file, engines.json and neighbours, its waivers, the
    /// allow-list, the settings, this program, the kernel, the sandbox's layers, and every tool by its path, size and
    /// time of change. None where there is no entry that could be judged as a whole.
    pub(crate) fn fingerprint(&self, path: &Path) -> Result<Option<String>, CheckError> {
        let (Some(read), single) = self.read(path)? else { return Ok(None) };
        let submission = &read.submission;
        let (true, Some(sha256)) = (submission.is_whole(), &submission.sha256) else {
            return Ok(None);
        };
        let settings = &self.settings;
        let mut sum = Sum::default();
        sum.add("program", program());
        sum.add("path", path);
        sum.add("entry", (&submission.path, sha256, submission.mode, &submission.extra));
        sum.add("single", (single.status, &single.summary));
        sum.add("engines.json", &submission.engines_json);
        sum.add("allow-list", &self.list_sha256);
        sum.add("limits", settings.limits);
        sum.add("settings", (&settings.name, settings.strict, settings.quick));
        sum.add("kind of event", (settings.size_limit, settings.memory_limit, settings.files));
        sum.add("games", (settings.games, settings.games_limit));
        sum.add("sandbox", (&settings.required, settings.lazy_memory, &settings.devices));
        let waivers = self.waivers(path, submission);
        sum.add("waivers", &waivers);
        let host = self.host(HostFor::of(submission, &waivers));
        sum.add("host", &host.facts);
        for name in REGISTERS {
            sum.file(Path::new(name));
        }
        for granted in host.tools.grants.execute.iter().chain(&host.tools.grants.read) {
            sum.file(granted);
        }
        for (command, real) in host.tools.commands() {
            sum.add("command", (&*command.name, real));
        }
        Ok(Some(sum.hex()))
    }
}

/// Sums up what is told, each with its name and length, so that no two things can run together.
#[derive(Default)]
struct Sum(Sha256);

impl Sum {
    fn add(&mut self, name: &str, value: impl Debug) {
        let text = format!("{value:?}");
        self.0.update(format!("{name} {}\n", text.len()));
        self.0.update(text);
    }

    /// A file or directory, by what changes whenever it does.
    fn file(&mut self, path: &Path) {
        self.0.update(path.as_os_str().as_bytes());
        let seen = fs::metadata(path)
            .map(|m| (m.dev(), m.ino(), m.len(), m.mtime(), m.mtime_nsec(), m.ctime()))
            .ok();
        self.add("file", seen);
    }

    fn hex(self) -> String {
        hex(self.0.finalize())
    }
}

/// The SHA-256 of this very program, so that a changed one judges anew whatever its version says.
pub(crate) fn program() -> &'static str {
    static SUM: OnceLock<String> = OnceLock::new();
    SUM.get_or_init(|| {
        file_sha256(Path::new("/proc/self/exe")).unwrap_or_else(|_| "unknown".to_owned())
    })
}

/// The SHA-256 of a file in hex.
pub(crate) fn file_sha256(path: &Path) -> io::Result<String> {
    // A pipe must not keep us, and a device has no end; a receipt may name either.
    let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut sum = Sha256::new();
    add_all(&mut sum, io::Read::take(file, metadata.len()))?;
    Ok(hex(sum.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::settings::Files;
    use crate::judge::settings::{GamesWanted, Settings};
    use crate::judge::waiver::Waiver;
    use crate::model::rule::RuleId;
    use crate::model::source_place::SourcePlace;
    use crate::model::units::Bytes;
    use std::os::unix::fs::PermissionsExt;

    fn entry(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let engine = folder.path().join("engine");
        fs::write(&engine, text).unwrap();
        fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    #[test]
    fn whatever_could_decide_otherwise_changes_it() {
        let of = |settings: Settings, folder: &Path| {
            Judge::open(settings).unwrap().fingerprint(folder).unwrap()
        };
        let folder = entry("#!/bin/sh\n");
        let top = folder.path();
        let first = of(Settings::default(), top).unwrap();
        assert_eq!(of(Settings::default(), top), Some(first.clone()));
        let mut seen = vec![first];
        let mut differs = |settings: Settings| {
            let sum = of(settings, top).unwrap();
            assert!(!seen.contains(&sum));
            seen.push(sum);
        };
        differs(Settings { strict: true, ..Settings::default() });
        differs(Settings { size_limit: Bytes(65536), ..Settings::default() });
        differs(Settings { memory_limit: Some(Bytes(5 << 20)), ..Settings::default() });
        differs(Settings { files: Files::ElfOnly, ..Settings::default() });
        differs(Settings { quick: true, ..Settings::default() });
        differs(Settings { games: GamesWanted::Off, ..Settings::default() });
        let waiver = |reason: &str| Waiver {
            entry: top.to_owned(),
            rule: RuleId::Commands,
            programs: vec!["sed".into()],
            reason: reason.into(),
            date: "2026-11-21".into(),
            sha256: None,
            place: "gate4k.toml:1:1".into(),
            file: "gate4k.toml".into(),
            at: SourcePlace { line: 1, column: 1 },
        };
        let waived = |reason| Settings { waivers: vec![waiver(reason)], ..Settings::default() };
        differs(waived("harmless"));
        differs(waived("asked for by many"));
        let list = top.with_extension("toml");
        fs::write(&list, format!("{}\n", crate::policy::allowlist::BUILT_IN)).unwrap();
        differs(Settings { allowlist: Some(list.clone()), ..Settings::default() });
        fs::remove_file(list).unwrap();
        fs::write(top.join("engines.json"), "{}").unwrap();
        differs(Settings::default());
        fs::write(top.join("engine"), "#!/bin/sh\n\n").unwrap();
        differs(Settings::default());
        fs::write(top.join("second"), "").unwrap();
        differs(Settings::default());
    }

    #[test]
    fn a_directory_without_an_entry_has_none() {
        let gate = Judge::open(Settings::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for name in ["one", "other"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        assert_eq!(gate.fingerprint(folder.path()).unwrap(), None);
        assert!(gate.fingerprint(&folder.path().join("missing")).is_err());
    }
}
