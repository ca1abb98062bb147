//! The endgame tables of an event: looked at before its journal begins, and opened where a game needs them.

use super::{Conductor, EventError};
use crate::event::config::EventConfig;
use crate::game::tables::{Tables, TablesError};

impl Conductor<'_> {
    /// Looks at the tables before the event's file is frozen: a folder that is named wrongly could not be mended later.
    pub(super) fn tables_are_there(&self) -> Result<(), EventError> {
        if self.ledger.header.is_none() {
            read(self.config)?;
        }
        Ok(())
    }

    /// The tables of an event that has begun; none where it names none.
    pub(super) fn tables(&self) -> Result<Option<Tables>, EventError> {
        read(self.config).map_err(|error| {
            let (path, why) = match error {
                TablesError::Read { path, source } => (path, source.to_string()),
                TablesError::Empty { path } => (path, "there are none in it".to_owned()),
            };
            EventError::FrozenTables { path, why }
        })
    }
}

/// Opens the tables that an event names; none where it names none.
///
/// # Errors
/// When a folder cannot be read, or holds none.
pub(crate) fn read(config: &EventConfig) -> Result<Option<Tables>, TablesError> {
    match &config.syzygy[..] {
        [] => Ok(None),
        directories => Tables::open(directories).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::engine::stop::Stop;
    use crate::event::conduct::{Audience, run};
    use crate::event::gate::Watcher;
    use crate::event::journal::Journal;
    use crate::event::journal::record::JournalRecord;
    use crate::model::entry_report::EntryReport;

    struct Nobody;

    impl Audience for Nobody {
        fn say(&mut self, _: &str) {}
        fn gate_opens(&mut self, _: usize, _: usize) -> Watcher {
            unreachable!("the event does not begin")
        }
        fn refused(&mut self, _: &EntryReport) {}
    }

    /// An event of two programs whose tables are said to be in `folder`.
    fn event(dir: &Path, folder: &str) -> EventConfig {
        let path = dir.join("event.toml");
        let engine = |name| format!("[[engine]]\nname = {name:?}\ncmd = \"/dev/null\"\n");
        let text = format!(
            "event = \"E\"\ntime-control = \"1+1\"\nsyzygy = [{folder:?}]\n{}{}[[stage]]\nname = \"S\"\n\
             format = {{ match = {{ pairs = 1 }} }}\nbook-policy = \"none\"\n",
            engine("A"),
            engine("B")
        );
        std::fs::write(&path, text).unwrap();
        EventConfig::load(&path).unwrap()
    }

    #[test]
    fn tables_that_are_not_there_are_told_before_an_event_begins() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("empty")).unwrap();
        for (folder, expected) in [("none", "cannot read"), ("empty", "there are no endgame")] {
            let config = event(dir.path(), folder);
            let error = run(&config, &Stop::new().unwrap(), &mut Nobody).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(folder), "{error}");
            // The file can still be mended.
            assert_eq!(std::fs::metadata(&config.journal).unwrap().len(), 0);
        }
    }

    #[test]
    fn tables_that_a_begun_event_lacks_can_be_put_where_its_file_says() {
        let dir = tempfile::tempdir().unwrap();
        let config = event(dir.path(), "none");
        let (mut journal, _) = Journal::open(&config.journal, &mut |_, _| Ok(())).unwrap();
        journal.append(&JournalRecord::Header(config.header())).unwrap();
        drop(journal);
        let stop = Stop::new().unwrap();
        let mut nobody = Nobody;
        let conductor = Conductor::open(&config, &stop, &mut nobody).unwrap();
        assert!(conductor.tables_are_there().is_ok());
        let error = conductor.tables().unwrap_err().to_string();
        assert!(error.contains("none") && error.contains("put tables (*.rtbw) there"), "{error}");
    }
}
