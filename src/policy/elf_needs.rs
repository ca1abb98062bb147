//! The files that a program of the host needs to start: its loader and its shared libraries, transitively.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};

use object::elf::{
    DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_STRTAB, FileHeader32, FileHeader64, PT_LOAD,
};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef};

use crate::sandbox::patiently;

/// The files that one file names.
#[derive(Clone, Debug, Default)]
struct Named {
    wide: bool,
    loader: Option<PathBuf>,
    libraries: Vec<String>,
    /// DT_RUNPATH or DT_RPATH, with `$ORIGIN` filled in.
    search: Vec<PathBuf>,
}

/// Everything that a set of programs needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    /// Dynamic loaders: they are executed.
    pub(super) loaders: BTreeSet<PathBuf>,
    /// Shared libraries: they are read.
    pub(super) libraries: BTreeSet<PathBuf>,
    /// The names by which loaders and libraries were found, where these are links: an upgrade lets them lead elsewhere.
    pub(super) links: BTreeSet<PathBuf>,
}

/// Follows the needs of `programs` and of `libraries` that they open by themselves, through `directories`
/// (the system's library directories, in order). A file that cannot be found is left out: the program that misses
/// it will say so itself.
pub(super) fn follow(
    programs: impl IntoIterator<Item = PathBuf>,
    directories: &[PathBuf],
) -> Needs {
    let mut needs = Needs::default();
    let mut queue: Vec<PathBuf> = programs.into_iter().collect();
    let mut seen: BTreeSet<PathBuf> = queue.iter().cloned().collect();
    let mut found: HashMap<(bool, String), Option<PathBuf>> = HashMap::new();
    while let Some(path) = queue.pop() {
        let Some(named) = read(&path) else { continue };
        if let Some(link) = named.loader
            && let Ok(loader) = link.canonicalize()
        {
            needs.loaders.insert(loader);
            needs.links.insert(link);
        }
        for library in named.libraries {
            let own = named.search.iter().map(|dir| dir.join(&library)).find(|path| path.is_file());
            let place = own.or_else(|| {
                found
                    .entry((named.wide, library.clone()))
                    .or_insert_with(|| in_directories(&library, named.wide, directories))
                    .clone()
            });
            let Some(named) = place else { continue };
            let Ok(place) = named.canonicalize() else { continue };
            if named != place {
                needs.links.insert(named);
            }
            if seen.insert(place.clone()) {
                needs.libraries.insert(place.clone());
                queue.push(place);
            }
        }
    }
    needs
}

fn in_directories(library: &str, wide: bool, directories: &[PathBuf]) -> Option<PathBuf> {
    directories.iter().map(|dir| dir.join(library)).find(|path| {
        let class = patiently(|| File::open(path)).ok().and_then(|mut file| {
            let mut start = [0u8; 5];
            std::io::Read::read_exact(&mut file, &mut start).ok().map(|()| start[4])
        });
        class == Some(if wide { 2 } else { 1 })
    })
}

fn read(path: &Path) -> Option<Named> {
    let cache = ReadCache::new(patiently(|| File::open(path)).ok()?);
    match FileKind::parse(&cache).ok()? {
        FileKind::Elf64 => named::<FileHeader64<Endianness>, _>(&cache, path),
        FileKind::Elf32 => named::<FileHeader32<Endianness>, _>(&cache, path),
        _ => None,
    }
}

fn named<'data, E, R>(data: R, path: &Path) -> Option<Named>
where
    E: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = E::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let mut out = Named { wide: header.is_class_64(), ..Named::default() };
    let mut dynamic = None;
    for segment in segments {
        if let Ok(Some(loader)) = segment.interpreter(endian, data) {
            out.loader = Some(PathBuf::from(String::from_utf8_lossy(loader).into_owned()));
        }
        if let Ok(Some(entries)) = segment.dynamic(endian, data) {
            dynamic = Some(entries);
        }
    }
    let Some(entries) = dynamic else {
        return Some(out);
    };
    let value = |entry: &E::Dyn| -> u64 { entry.d_val(endian).into() };
    let table = entries.iter().find(|entry| entry.tag(endian) == DT_STRTAB).map(value)?;
    // The table's address in memory, as an offset into the file.
    let offset = segments.iter().find_map(|segment| {
        let start: u64 = segment.p_vaddr(endian).into();
        let size: u64 = segment.p_filesz(endian).into();
        let at: u64 = segment.p_offset(endian).into();
        let inside = segment.p_type(endian) == PT_LOAD && (start..start + size).contains(&table);
        inside.then(|| table - start + at)
    })?;
    let text = |entry: &E::Dyn| {
        let from = offset.checked_add(value(entry))?;
        let bytes = data.read_bytes_at_until(from..from.saturating_add(4096), 0).ok()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    };
    let origin = path.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    for entry in entries {
        let tag = entry.tag(endian);
        if tag == DT_NEEDED {
            out.libraries.extend(text(entry));
        } else if tag == DT_RUNPATH || tag == DT_RPATH {
            let dirs = text(entry).unwrap_or_default();
            let fill = |dir: &str| dir.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
            out.search
                .extend(dirs.split(':').filter(|d| !d.is_empty()).map(fill).map(PathBuf::from));
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_needs_a_loader_and_a_c_library() {
        let me = std::env::current_exe().unwrap();
        let dirs = ["/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"].map(PathBuf::from);
        let needs = follow([me], &dirs);
        assert_eq!(needs.loaders.len(), 1, "{needs:?}");
        let libc = |path: &PathBuf| {
            path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("libc.so"))
        };
        assert!(needs.libraries.iter().any(libc), "{needs:?}");
    }
}
