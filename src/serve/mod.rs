//! Shows files to visitors: a map in memory, and a stream that says when they have changed.
//!
//! The server reads nothing and decides nothing. The owner of the files hands them to the [`SitePublisher`]; a visitor who is slow
//! or dead costs one connection of a bounded number, and is dropped.

mod answer;
mod changes;
mod connection;
mod packed;

use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use hyper::body::Bytes;
use tokio::sync::watch;

use crate::model::text::sha256;

/// The terms on which visitors are served.
#[derive(Clone, Debug)]
pub(crate) struct VisitorTerms {
    /// The names by which they may ask; none where any will do.
    pub(crate) names: Option<Vec<String>>,
    /// The most connections at a time.
    pub(crate) visitors: NonZeroUsize,
}

/// A file as it is served.
#[derive(Debug)]
struct Stored {
    bytes: Bytes,
    /// A sum of its bytes, by which a visitor knows that it has them already.
    tag: String,
    /// Its bytes packed, once a visitor has asked for them.
    packed: OnceLock<Bytes>,
}

impl Stored {
    /// The file packed by gzip; none where it is so small that nothing would be saved.
    fn packed(&self) -> Option<Bytes> {
        let pack = || packed::gzip(&self.bytes).into();
        (self.bytes.len() >= packed::FEW).then(|| self.packed.get_or_init(pack).clone())
    }
}

/// The files, and how often they have changed.
#[derive(Clone, Debug, Default)]
struct SiteFiles {
    files: Arc<BTreeMap<String, Arc<Stored>>>,
    version: Version,
}

/// A counter of the changes of the files, by which visitors are told of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Version {
    /// The number of [`ChangeNotice::Live`] changes.
    live: u64,
    /// The number of [`ChangeNotice::Event`] changes.
    event: u64,
}

/// A change, as visitors are told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeNotice {
    /// No visitor is told now: they are told at the next change.
    None,
    /// A move was made.
    Live,
    /// More than that.
    Event,
}

/// Puts files before visitors.
#[derive(Debug)]
pub(crate) struct SitePublisher(watch::Sender<SiteFiles>);

impl Default for SitePublisher {
    fn default() -> SitePublisher {
        SitePublisher(watch::Sender::new(SiteFiles::default()))
    }
}

impl SitePublisher {
    /// Puts these files in the place of those of the same names.
    pub(crate) fn put(&self, files: Vec<(String, String)>, notice: ChangeNotice) {
        let stored: Vec<_> = files.into_iter().map(stored).collect();
        self.change(notice, |files| files.extend(stored));
    }

    /// Takes a file away; no visitor is told of it.
    pub(crate) fn take(&self, name: &str) {
        self.change(ChangeNotice::None, |files| drop(files.remove(name)));
    }

    /// The text of a file as it is shown.
    pub(crate) fn text(&self, name: &str) -> Option<Bytes> {
        Some(self.0.borrow().files.get(name)?.bytes.clone())
    }

    /// Puts these files in the place of all that are there. One with a name that stays is left as it is where it is there.
    pub(crate) fn replace(
        &self,
        files: Vec<(String, String)>,
        stays: impl Fn(&str) -> bool,
        notice: ChangeNotice,
    ) {
        let stored: Vec<_> = files.into_iter().map(stored).collect();
        self.change(notice, |files| {
            files.retain(|name, _| stays(name));
            for (name, file) in stored {
                files.entry(name).or_insert(file);
            }
        });
    }

    /// Takes away all files with such a name; their visitors are told with the next news.
    pub(crate) fn take_all(&self, is_one: impl Fn(&str) -> bool) {
        self.change(ChangeNotice::None, |files| files.retain(|name, _| !is_one(name)));
    }

    fn change(
        &self,
        notice: ChangeNotice,
        change: impl FnOnce(&mut BTreeMap<String, Arc<Stored>>),
    ) {
        self.0.send_modify(|site| {
            change(Arc::make_mut(&mut site.files));
            match notice {
                ChangeNotice::None => {}
                ChangeNotice::Live => site.version.live += 1,
                ChangeNotice::Event => site.version.event += 1,
            }
        });
    }

    /// Serves visitors on the calling thread until `stop` is told.
    ///
    /// # Errors
    /// When the socket cannot be used.
    pub(crate) fn serve(
        &self,
        listener: TcpListener,
        terms: VisitorTerms,
        stop: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let site = self.0.subscribe();
        runtime.block_on(connection::accept(listener, terms, site, stop))
    }
}

fn stored((name, text): (String, String)) -> (String, Arc<Stored>) {
    let tag = format!("\"{}\"", &sha256(&text)[..24]);
    (name, Arc::new(Stored { bytes: text.into(), tag, packed: OnceLock::new() }))
}
