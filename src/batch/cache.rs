//! Results of entries that have not changed, kept in the user's cache directory.
//!
//! Only decided results are kept: a result that was undecided once may be decided the next time. A file that is
//! damaged, or written by another gate4k, counts as missing.
//!
//! Only what this user's gate4k wrote is believed: the directory is the user's alone and is reached through no link, each file
//! in it is regular and the user's own, and carries a sum made with a key that lies beside it.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ct_codecs::{Decoder, Hex};
use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use sha2::Sha256;

use crate::model::entry_report::EntryReport;
use crate::model::text::hex;
use crate::model::verdict::Verdict;

/// A result that nobody asked for in so long a time is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// No result is larger.
const LARGEST: u64 = 64 << 20;
/// The folder of results below the cache directory.
const BELOW: &str = "gate4k/check-2";
/// The key's file.
const KEY: &str = "key";
type Key = [u8; 32];

/// The results; without a folder, nothing is kept and nothing found.
#[derive(Clone, Debug)]
pub(crate) struct ResultCache {
    folder: Option<Arc<Folder>>,
}

/// The directory, held open: whatever becomes of its name, this is the one that was looked at.
#[derive(Debug)]
struct Folder {
    directory: File,
    key: Key,
}

impl ResultCache {
    /// The cache of this user: `gate4k` in `$XDG_CACHE_HOME`, or in `~/.cache`.
    pub(crate) fn of_user() -> ResultCache {
        let absolute = |name: &str| {
            std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let top = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        ResultCache::within(top.as_deref())
    }

    /// A cache that holds nothing and keeps nothing.
    pub(crate) fn none() -> ResultCache {
        ResultCache { folder: None }
    }

    fn within(top: Option<&Path>) -> ResultCache {
        // Where it cannot be made, or is not ours alone, nothing is kept; judging does not depend on it.
        let folder = top.and_then(|top| Folder::open(top).ok());
        if let Some(folder) = &folder {
            folder.forget_old();
        }
        ResultCache { folder: folder.map(Arc::new) }
    }

    /// True if anything can be kept.
    pub(crate) fn is_there(&self) -> bool {
        self.folder.is_some()
    }

    /// The result of that fingerprint.
    pub(crate) fn get(&self, fingerprint: &str) -> Option<EntryReport> {
        let folder = self.folder.as_deref().filter(|_| is_plain(fingerprint))?;
        let (text, kept) = folder.read(fingerprint, LARGEST).ok()?;
        let text = String::from_utf8(text).ok()?;
        let (sum, json) = text.split_once('\n')?;
        let Some(report) = folder.is_ours(fingerprint, sum, json).then_some(json) else {
            tracing::debug!(fingerprint, "a result in the cache that gate4k has not written");
            return None;
        };
        let mut report: EntryReport = serde_json::from_str(report).ok()?;
        let judged = kept.modified().ok()?;
        report.circumstances.judged = Some(humantime::format_rfc3339_seconds(judged).to_string());
        (report.verdict != Verdict::Undecided).then_some(report)
    }

    /// Keeps a result, if it is decided. A failure to keep it is no error.
    pub(crate) fn put(&self, fingerprint: &str, report: &EntryReport) {
        if report.verdict == Verdict::Undecided || !is_plain(fingerprint) {
            return;
        }
        let Some(folder) = &self.folder else { return };
        // A path that is no text has no form here.
        let Ok(json) = serde_json::to_string(report) else { return };
        let sum = hex(folder.sum(fingerprint, &json).finalize().into_bytes());
        let _ = folder.write(fingerprint, format!("{sum}\n{json}").as_bytes(), Replace::Old);
    }
}

/// A fingerprint is a name of 64 hexadecimal digits, and leads nowhere else.
fn is_plain(fingerprint: &str) -> bool {
    fingerprint.len() == 64 && fingerprint.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Ours, and nobody else may read or write it.
fn is_ours_alone(seen: &Metadata) -> bool {
    is_of_alone(nix::unistd::geteuid().as_raw(), seen)
}

fn is_of_alone(user: u32, seen: &Metadata) -> bool {
    seen.uid() == user && seen.mode() & 0o077 == 0
}

/// The treatment of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replace {
    /// The old file goes.
    Old,
    /// Any file that is there stays, and that is an error.
    Nothing,
}

impl Folder {
    fn open(top: &Path) -> io::Result<Folder> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(top.join(BELOW))?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat2(
            File::open(top)?,
            BELOW,
            flags,
            Mode::empty(),
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
        )?;
        let directory = File::from(directory);
        if !is_ours_alone(&directory.metadata()?) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut folder = Folder { directory, key: Key::default() };
        folder.key = folder.key_of_user()?;
        Ok(folder)
    }

    /// A path of the directory that was opened, and of no other.
    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.directory.as_raw_fd())).join(name)
    }

    /// A file's bytes, if it is one that gate4k can have written.
    fn read(&self, name: &str, most: u64) -> io::Result<(Vec<u8>, Metadata)> {
        // A pipe does not hold up who opens it so.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(self.path(name))?;
        let seen = file.metadata()?;
        if !seen.is_file() || !is_ours_alone(&seen) || seen.nlink() != 1 || seen.len() > most {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok((bytes, seen))
    }

    fn write(&self, name: &str, bytes: &[u8], replace: Replace) -> io::Result<()> {
        // (Files of this crate are readable by their owner alone.)
        let mut file = tempfile::NamedTempFile::new_in(self.path(""))?;
        file.write_all(bytes)?;
        let path = self.path(name);
        match replace {
            Replace::Old => file.persist(path),
            Replace::Nothing => file.persist_noclobber(path),
        }
        .map(drop)
        .map_err(|error| error.error)
    }

    /// The key, made at the first use. A file that is no key is replaced, and what was summed with it is void.
    fn key_of_user(&self) -> io::Result<Key> {
        let read = || {
            let (bytes, _) = self.read(KEY, size_of::<Key>() as u64)?;
            Key::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
        };
        match read() {
            Ok(key) => return Ok(key),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => fs::remove_file(self.path(KEY))?,
        }
        let mut key = Key::default();
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        match self.write(KEY, &key, Replace::Nothing) {
            // Another gate4k was first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(),
            done => done.map(|()| key),
        }
    }

    /// The sum of a result under its fingerprint.
    fn sum(&self, fingerprint: &str, json: &str) -> Hmac<Sha256> {
        // invariant: this sum takes keys of any length.
        #[expect(clippy::expect_used, reason = "keys of any length are taken")]
        let mut sum = Hmac::<Sha256>::new_from_slice(&self.key).expect("any length");
        sum.update(fingerprint.as_bytes());
        sum.update(json.as_bytes());
        sum
    }

    fn is_ours(&self, fingerprint: &str, sum: &str, json: &str) -> bool {
        Hex::decode_to_vec(sum, None)
            .is_ok_and(|told| self.sum(fingerprint, json).verify_slice(&told).is_ok())
    }

    fn forget_old(&self) {
        let Ok(found) = fs::read_dir(self.path("")) else { return };
        let now = SystemTime::now();
        for file in found.flatten().filter(|file| file.file_name() != KEY) {
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
    use crate::model::entry_report::ReportInput;
    use crate::model::entry_report::tests::report;
    use crate::model::text::sha256;
    use crate::view::json;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::slice;

    fn at(top: &Path) -> ResultCache {
        ResultCache::within(Some(top))
    }

    const PRINT: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    /// The files of results, without the key.
    fn files(top: &Path) -> usize {
        fs::read_dir(top.join(BELOW)).unwrap().count() - 1
    }

    #[test]
    fn a_result_comes_back_as_it_was_with_the_time_of_its_judging() {
        let folder = tempfile::tempdir().unwrap();
        let cache = at(folder.path());
        assert!(cache.get(PRINT).is_none());
        cache.put(PRINT, &report());
        let mut back = at(folder.path()).get(PRINT).unwrap();
        let judged = back.circumstances.judged.take().unwrap();
        assert!(judged.starts_with("20") && judged.ends_with('Z'), "{judged}");
        let told = |report: &EntryReport| json::check(ReportInput::of(slice::from_ref(report)));
        assert_eq!(told(&back).unwrap(), told(&report()).unwrap());
        assert_eq!(format!("{:?}", back.runs), format!("{:?}", report().runs));
        assert_eq!(back.transcript, report().transcript);
        assert_eq!(back.findings[1].details, report().findings[1].details);
    }

    #[test]
    fn what_is_open_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let open = EntryReport { verdict: Verdict::Undecided, ..report() };
        at(folder.path()).put(PRINT, &open);
        assert_eq!(files(folder.path()), 0);
    }

    #[test]
    fn what_is_damaged_is_not_there_and_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let cache = at(folder.path());
        cache.put(PRINT, &report());
        let path = folder.path().join(BELOW).join(PRINT);
        let whole = fs::read_to_string(&path).unwrap();
        let turned = whole.replace("\"rejected\"", "\"accepted\"");
        assert_ne!(turned, whole);
        for damaged in [&turned, &whole[..whole.len() / 2], "", "x\n{}"] {
            fs::write(&path, damaged).unwrap();
            assert!(cache.get(PRINT).is_none(), "{damaged}");
            cache.put(PRINT, &report());
            assert!(cache.get(PRINT).is_some());
        }
    }

    #[test]
    fn old_results_go_and_no_name_leads_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let cache = at(folder.path());
        cache.put(PRINT, &report());
        let path = folder.path().join(BELOW).join(PRINT);
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - 2 * KEPT).unwrap();
        let _ = at(folder.path());
        assert!(cache.get(PRINT).is_none());
        cache.put("../../x", &report());
        assert_eq!(files(folder.path()), 0);
        ResultCache::none().put(PRINT, &report());
        assert!(ResultCache::none().get(PRINT).is_none());
    }

    #[test]
    fn a_result_made_by_hand_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = at(folder.path());
        let below = folder.path().join(BELOW);
        let json = serde_json::to_string(&report()).unwrap();
        let forge = |text: &str| {
            let _ = fs::remove_file(below.join(PRINT));
            fs::write(below.join(PRINT), text).unwrap();
            fs::set_permissions(below.join(PRINT), PermissionsExt::from_mode(0o600)).unwrap();
        };
        // With a sum that anybody can make; with another user's key; under another fingerprint.
        forge(&format!("{}\n{json}", sha256(&json)));
        assert!(cache.get(PRINT).is_none());
        let elsewhere = tempfile::tempdir().unwrap();
        at(elsewhere.path()).put(PRINT, &report());
        forge(&fs::read_to_string(elsewhere.path().join(BELOW).join(PRINT)).unwrap());
        assert!(cache.get(PRINT).is_none());
        let other = PRINT.replace('0', "f");
        cache.put(&other, &report());
        forge(&fs::read_to_string(below.join(&other)).unwrap());
        assert!(cache.get(PRINT).is_none());
        cache.put(PRINT, &report());
        assert!(cache.get(PRINT).is_some());
        // A file that others may write, a second name, a link, a pipe and a directory are none of ours.
        let set = |mode| {
            fs::set_permissions(below.join(PRINT), PermissionsExt::from_mode(mode)).unwrap();
        };
        set(0o666);
        assert!(cache.get(PRINT).is_none());
        set(0o600);
        fs::hard_link(below.join(PRINT), below.join("second")).unwrap();
        assert!(cache.get(PRINT).is_none());
        fs::rename(below.join(PRINT), below.join("real")).unwrap();
        symlink("real", below.join(PRINT)).unwrap();
        assert!(cache.get(PRINT).is_none());
        fs::remove_file(below.join(PRINT)).unwrap();
        nix::unistd::mkfifo(&below.join(PRINT), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(cache.get(PRINT).is_none());
        fs::remove_file(below.join(PRINT)).unwrap();
        fs::create_dir(below.join(PRINT)).unwrap();
        assert!(cache.get(PRINT).is_none());
    }

    #[test]
    fn a_directory_that_is_not_ours_alone_is_no_cache() {
        let folder = tempfile::tempdir().unwrap();
        assert!(at(folder.path()).is_there());
        let below = folder.path().join(BELOW);
        for mode in [0o770, 0o701, 0o777] {
            fs::set_permissions(&below, PermissionsExt::from_mode(mode)).unwrap();
            assert!(!at(folder.path()).is_there(), "{mode:o}");
        }
        fs::set_permissions(&below, PermissionsExt::from_mode(0o700)).unwrap();
        // A link in its place, of itself or of what it lies in: what is old where it leads stays.
        let victim = tempfile::tempdir().unwrap();
        fs::write(victim.path().join("old"), "").unwrap();
        let old = File::options().write(true).open(victim.path().join("old")).unwrap();
        old.set_modified(SystemTime::now() - 2 * KEPT).unwrap();
        fs::remove_dir_all(&below).unwrap();
        symlink(victim.path(), &below).unwrap();
        assert!(!at(folder.path()).is_there());
        let gate4k = below.parent().unwrap();
        fs::remove_dir_all(gate4k).unwrap();
        symlink(victim.path(), gate4k).unwrap();
        assert!(!at(folder.path()).is_there());
        assert!(victim.path().join("old").exists());
    }

    #[test]
    fn what_another_user_has_made_is_not_ours() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let seen = file.as_file().metadata().unwrap();
        assert!(is_of_alone(seen.uid(), &seen) && is_ours_alone(&seen));
        assert!(!is_of_alone(seen.uid() + 1, &seen));
    }
}
