//! The programs of the tracer's record as a report tells them: each with its class, its name and its place among the others.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use crate::model::evidence::{Exec, ProgramClass};
use crate::model::text::escape;
use crate::sandbox::inspect::descriptors::HeldFile;
use crate::sandbox::inspect::files::Sums;
use crate::sandbox::plan::{FileMaker, Programs, SeenProgram};
use crate::sandbox::trace::record::RawExec;

/// The programs of a record.
pub(in crate::sandbox) struct DescribedPrograms<'a> {
    programs: &'a dyn Programs,
    /// The start of the entry.
    at: Instant,
    execs: Vec<Exec>,
    /// The libraries in the memory of the starters of those programs that such a library starts by itself, by the program's index.
    /// All that these programs start in turn, the entry starts.
    serve_libraries: HashMap<usize, Vec<PathBuf>>,
    /// The listed commands that read those programs that are scripts of the entry's own, by the script's index.
    readers: HashMap<usize, String>,
    /// The program that reads the entry, where that is a script.
    entry_reader: Option<String>,
}

impl<'a> DescribedPrograms<'a> {
    /// Describes the programs of a record of an entry that was started at `at`.
    pub(in crate::sandbox) fn new(
        programs: &'a dyn Programs,
        at: Instant,
        raw: Vec<RawExec>,
    ) -> DescribedPrograms<'a> {
        let first = raw.first().filter(|first| first.seen.own && first.seen.script);
        let entry_reader = first.map(|first| programs.classify(&interpreter(&first.seen), &[]).1);
        let mut described = DescribedPrograms {
            programs,
            at,
            execs: Vec::with_capacity(raw.len()),
            serve_libraries: HashMap::new(),
            readers: HashMap::new(),
            entry_reader,
        };
        let mut sums = Sums::new();
        for (index, raw) in raw.into_iter().enumerate() {
            let reader = described.reader(&raw.seen);
            let in_starter = raw.seen.starter_libraries.clone();
            let (exec, served) = described.describe(raw, &mut sums);
            described.serve_libraries.extend(served.then_some((index, in_starter)));
            described.readers.extend(reader.map(|reader| (index, reader)));
            described.execs.push(exec);
        }
        described
    }

    /// The programs for the report.
    pub(in crate::sandbox) fn into_execs(self) -> Vec<Exec> {
        self.execs
    }

    /// The policy that names programs and caches.
    pub(in crate::sandbox) fn policy(&self) -> &'a dyn Programs {
        self.programs
    }

    /// The number of programs.
    pub(in crate::sandbox) fn len(&self) -> usize {
        self.execs.len()
    }

    /// The program of that index.
    pub(in crate::sandbox) fn get(&self, index: usize) -> Option<&Exec> {
        self.execs.get(index)
    }

    /// The libraries in the memory of the starter of a program that one of them has started by itself.
    pub(in crate::sandbox) fn starter_libraries(&self, index: usize) -> &[PathBuf] {
        self.serve_libraries.get(&index).map_or(&[], Vec::as_slice)
    }

    /// True if a program searches PATH by itself, so that what it misses says nothing of the entry.
    pub(in crate::sandbox) fn looks_around(&self, by: Option<usize>) -> bool {
        by.and_then(|index| self.get(index))
            .is_some_and(|exec| self.programs.looks_around(&exec.name))
    }

    /// The name under which a program writes files: a script of the entry's own writes by the program that reads it. None for a
    /// product of the entry's own, which is no program of the system, whatever it is called.
    pub(in crate::sandbox) fn writer_name<'b>(&'b self, exec: &'b Exec) -> Option<&'b str> {
        let name = exec.name.as_str();
        if exec.class == ProgramClass::Entry {
            return self.entry_reader.as_deref().or(Some(name));
        }
        let is_product =
            |other: &Exec| other.class == ProgramClass::OwnProduct && other.name == name;
        (!self.execs.iter().any(is_product)).then_some(name)
    }

    /// The listed command that reads a script of the entry's own: what it starts by itself, it starts whoever wrote the script.
    fn reader(&self, seen: &SeenProgram) -> Option<String> {
        let (class, name) =
            (seen.own && seen.script).then(|| self.programs.classify(&interpreter(seen), &[]))?;
        (class == ProgramClass::Listed).then_some(name)
    }

    /// The names and classes of the programs above one that this program has started, the nearest first.
    fn above(&self, mut by: Option<usize>) -> Vec<(String, ProgramClass)> {
        let mut above = Vec::new();
        while let Some((at, exec)) = by.and_then(|at| Some((at, self.get(at)?))) {
            let served = self.serve_libraries.contains_key(&at);
            let class = if served { ProgramClass::Refused } else { exec.class };
            if let Some(reader) = self.readers.get(&at) {
                above.push((reader.clone(), ProgramClass::Listed));
            }
            above.push((exec.name.clone(), class));
            by = exec.by;
        }
        above
    }

    /// The next program of a record, and whether a library in its starter's memory starts it by itself.
    fn describe(&self, raw: RawExec, sums: &mut Sums) -> (Exec, bool) {
        let index = self.len();
        let seen = &raw.seen;
        let above_it = self.above(raw.by);
        let (mut class, mut name) = self.programs.classify(seen, &above_it);
        // Code of the entry's own has started it, in the memory of the program that may, or rules of its own lead it. Where the arguments
        // are fixed, it does what it would do for that program.
        let is_by_own_code =
            |helper: &str| raw.own_code && !self.programs.has_fixed_arguments(helper);
        if seen.own && seen.script {
            // The program that reads a script of the entry's own must be allowed as well.
            let (its_class, its_name) = self.programs.classify(&interpreter(seen), &above_it);
            if its_class == ProgramClass::Refused
                || its_class == ProgramClass::Helper && is_by_own_code(&its_name)
            {
                (class, name) = (ProgramClass::Refused, its_name);
            }
        }
        if class == ProgramClass::Helper && is_by_own_code(&name) {
            class = ProgramClass::Refused;
        }
        let refused = class == ProgramClass::Refused;
        let served = refused.then(|| self.programs.serves_library(seen)).flatten();
        let serves_library = served.is_some();
        if let Some(helper) = served {
            (class, name) = (ProgramClass::Helper, helper);
        }
        if index == 0 && seen.own && class != ProgramClass::Refused {
            (class, name) = (ProgramClass::Entry, ENTRY.into());
        }
        let exec = Exec {
            at: raw.at.saturating_duration_since(self.at),
            pid: raw.pid,
            parent: raw.parent,
            by: raw.by,
            asked: escape(raw.seen.asked.as_os_str().as_encoded_bytes(), 300),
            real: raw.seen.real.as_ref().map(|p| escape(p.as_os_str().as_encoded_bytes(), 300)),
            script: seen.own && seen.script,
            argv: raw.seen.argv.iter().map(|word| cut(word)).collect(),
            outcome: raw.outcome,
            class,
            name: escape(name.as_bytes(), 300),
            lasted: raw.ended.map(|end| end.saturating_duration_since(raw.at)),
            exit: raw.exit,
            product: raw
                .product
                .and_then(|inode| sums.of(inode, raw.file.as_ref().map(HeldFile::file))),
            lacks: raw.lacks.map(|path| escape(path.as_os_str().as_encoded_bytes(), 300)),
        };
        (exec, serves_library)
    }
}

/// A word as a report shows it. It was escaped before.
fn cut(word: &str) -> String {
    match word.char_indices().nth(FileMaker::ARGUMENT_LENGTH) {
        Some((end, _)) => format!("{}…", word.get(..end).unwrap_or_default()),
        None => word.to_owned(),
    }
}

/// The name of the entry's own program.
const ENTRY: &str = "entry";

/// The program that reads a script: one of the host's, or of the entry's own.
fn interpreter(script: &SeenProgram) -> SeenProgram {
    let asked = script.real.clone().unwrap_or_default();
    let argv = script.reader_argv.clone();
    SeenProgram { asked, argv, own: script.own_reader, script: false, ..script.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_cuts_a_long_word() {
        let long = "é".repeat(FileMaker::ARGUMENT_LENGTH);
        assert_eq!(cut(&long), long);
        assert_eq!(cut(&format!("{long}xy")), format!("{long}…"));
    }
}
