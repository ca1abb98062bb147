//! The makers of the files that an entry left behind: who made them decides whether they are a system's cache (rule 7.4).

use std::collections::HashMap;
use std::path::Path;

use crate::sandbox::described::DescribedPrograms;
use crate::sandbox::inspect::residue::Remains;
use crate::sandbox::plan::{CacheCandidate, FileMaker, is_shared_object};
use crate::sandbox::trace::record::{MOST_MADE, MadeBy, MakersOfPaths, RawOpen};

/// The programs that made files, and what is known of each.
pub(in crate::sandbox) struct CacheMakers<'a> {
    pub(in crate::sandbox) described: &'a DescribedPrograms<'a>,
    /// True if a start among them stands for others, that may have had other arguments.
    pub(in crate::sandbox) some_stand_for_others: bool,
    pub(in crate::sandbox) opens: &'a [RawOpen],
    /// The program that made each path.
    pub(in crate::sandbox) made: &'a MakersOfPaths,
    /// The program that opened each file last to write to it, by device and inode.
    pub(in crate::sandbox) written: &'a HashMap<(u64, u64), MadeBy>,
    /// The home directory as the entry knows it.
    pub(in crate::sandbox) home: &'a str,
}

impl CacheMakers<'_> {
    /// The name of the program that made a path.
    pub(in crate::sandbox) fn name_of_maker(&self, path: &Path) -> Option<String> {
        let by = self.made.get(path)?;
        Some(self.described.get(by.program)?.name.clone())
    }

    /// The line of the allow-list that exempts what was left as a system's cache.
    pub(in crate::sandbox) fn exempting_line(&self, remains: &Remains<'_>) -> Option<String> {
        // Beyond the bound, others may have written to a file than those that are known.
        if self.written.len() >= MOST_MADE {
            return None;
        }
        let writer = remains.head.and(remains.inode).and_then(|inode| self.written.get(&inode));
        let maker = *self.made.get(remains.inside).or(writer)?;
        let exempt = self.exempting_line_for(remains, maker)?;
        // The program that wrote to it last, by whatever name, must be one that writes such caches, too.
        let is_writer =
            |by: &MadeBy| *by == maker || self.exempting_line_for(remains, *by).is_some();
        writer.is_none_or(is_writer).then_some(exempt)
    }

    /// The line that exempts such a file if that program made it.
    fn exempting_line_for(&self, remains: &Remains<'_>, by: MadeBy) -> Option<String> {
        let exec = self.described.get(by.program)?;
        let is_its = |open: &&RawOpen| {
            open.by.is_some_and(|it| it == by.program || it == by.alike)
                && !(open.own || open.denied || open.missing)
                && is_shared_object(&open.path)
        };
        let opened = self.opens.iter().filter(is_its).map(|open| &open.path);
        let served = self.described.starter_libraries(by.program);
        let opened: Vec<&str> = opened.chain(served).filter_map(|path| path.to_str()).collect();
        // A compiler starts itself once more, with more words than are kept, which it makes of its own.
        let starter = exec.by.and_then(|by| self.described.get(by));
        let starter = starter.filter(|by| by.name == exec.name);
        let is_whole = exec.argv.len() < FileMaker::MOST_ARGUMENTS;
        let told = starter.filter(|_| !is_whole).unwrap_or(exec);
        let argv = (!self.some_stand_for_others).then_some(told.argv.as_slice());
        let name = self.described.writer_name(exec);
        self.described.policy().cache(&CacheCandidate {
            path: remains.shown,
            home: self.home,
            size: remains.size,
            head: remains.head,
            is_of_its_source: remains.is_of_its_source,
            maker: Some(FileMaker { name, argv, opened: &opened }),
        })
    }
}
