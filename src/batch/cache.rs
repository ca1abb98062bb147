//! Results of entries that have not changed, kept in the user's cache directory.
//!
//! Only what is decided is kept: what could not be told once may be told the next time. What is damaged,
//! or written by another gate4k, is not there.

use std::fs;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::model::entry_report::EntryReport;
use crate::model::text::sha256;
use crate::model::verdict::Verdict;

/// A result that nobody asked for in so long a time is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// The results; without a folder, nothing is kept and nothing found.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// That of this user: `gate4k` in `$XDG_CACHE_HOME`, or in `~/.cache`.
    #[must_use]
    pub fn of_user() -> Cache {
        let absolute = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let top = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        Cache::within(top.map(|top| top.join("gate4k/check-1")))
    }

    /// None at all.
    #[must_use]
    pub fn none() -> Cache {
        Cache { folder: None }
    }

    fn within(folder: Option<PathBuf>) -> Cache {
        // Where it cannot be made, nothing is kept; judging does not depend on it.
        let folder = folder.filter(|folder| {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).is_ok()
        });
        let cache = Cache { folder };
        cache.forget_old();
        cache
    }

    /// True if anything can be kept.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.folder.is_some()
    }

    /// The result of that fingerprint.
    #[must_use]
    pub fn get(&self, fingerprint: &str) -> Option<EntryReport> {
        let path = self.path(fingerprint)?;
        let text = fs::read_to_string(&path).ok()?;
        let (sum, json) = text.split_once('\n')?;
        if sum != sha256(json) {
            return None;
        }
        let mut report: EntryReport = serde_json::from_str(json).ok()?;
        let judged = fs::metadata(&path).and_then(|m| m.modified()).ok()?;
        report.circumstances.judged = Some(humantime::format_rfc3339_seconds(judged).to_string());
        (report.verdict != Verdict::Undecided).then_some(report)
    }

    /// Keeps a result, if it is one to keep. That it could not be kept is no error.
    pub fn put(&self, fingerprint: &str, report: &EntryReport) {
        if report.verdict == Verdict::Undecided {
            return;
        }
        let (Some(folder), Some(path)) = (&self.folder, self.path(fingerprint)) else { return };
        // A path that is no text has no form here.
        let Ok(json) = serde_json::to_string(report) else { return };
        let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
            file.write_all(format!("{}\n{json}", sha256(&json)).as_bytes())?;
            Ok(file)
        });
        if let Ok(file) = written {
            let _ = file.persist(path);
        }
    }

    fn path(&self, fingerprint: &str) -> Option<PathBuf> {
        let plain = fingerprint.len() == 64 && fingerprint.bytes().all(|b| b.is_ascii_hexdigit());
        self.folder.as_ref().filter(|_| plain).map(|folder| folder.join(fingerprint))
    }

    fn forget_old(&self) {
        let Some(found) = self.folder.as_deref().and_then(|folder| fs::read_dir(folder).ok())
        else {
            return;
        };
        let now = SystemTime::now();
        for file in found.flatten() {
            let modified = file.metadata().and_then(|m| m.modified());
            if modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEPT)) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry_report::tests::report;
    use crate::view::json;
    use std::path::Path;

    fn at(folder: &Path) -> Cache {
        Cache::within(Some(folder.to_owned()))
    }

    const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    #[test]
    fn a_result_comes_back_as_it_was_with_the_time_of_its_judging() {
        let folder = tempfile::tempdir().unwrap();
        let cache = at(folder.path());
        assert!(cache.get(KEY).is_none());
        cache.put(KEY, &report());
        let mut back = at(folder.path()).get(KEY).unwrap();
        let judged = back.circumstances.judged.take().unwrap();
        assert!(judged.starts_with("20") && judged.ends_with('Z'), "{judged}");
        assert_eq!(json::check(&[back.clone()]).unwrap(), json::check(&[report()]).unwrap());
        assert_eq!(format!("{:?}", back.runs), format!("{:?}", report().runs));
        assert_eq!(back.transcript, report().transcript);
        assert_eq!(back.findings[1].details, report().findings[1].details);
    }

    #[test]
    fn what_is_open_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let open = EntryReport { verdict: Verdict::Undecided, ..report() };
        at(folder.path()).put(KEY, &open);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_damaged_is_not_there_and_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let cache = at(folder.path());
        cache.put(KEY, &report());
        let path = folder.path().join(KEY);
        let whole = fs::read_to_string(&path).unwrap();
        let turned = whole.replace("\"rejected\"", "\"accepted\"");
        assert_ne!(turned, whole);
        for damaged in [&turned, &whole[..whole.len() / 2], "", "x\n{}"] {
            fs::write(&path, damaged).unwrap();
            assert!(cache.get(KEY).is_none(), "{damaged}");
            cache.put(KEY, &report());
            assert!(cache.get(KEY).is_some());
        }
    }

    #[test]
    fn old_results_go_and_no_name_leads_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let cache = at(folder.path());
        cache.put(KEY, &report());
        let file = fs::File::options().write(true).open(folder.path().join(KEY)).unwrap();
        file.set_modified(SystemTime::now() - 2 * KEPT).unwrap();
        let _ = at(folder.path());
        assert!(cache.get(KEY).is_none());
        cache.put("../../x", &report());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        Cache::none().put(KEY, &report());
        assert!(Cache::none().get(KEY).is_none());
    }
}
