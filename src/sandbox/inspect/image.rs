//! The memory that an executable wants before its first instruction, by its program headers.

use object::elf::{FileHeader32, FileHeader64, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef};

use crate::model::units::Bytes;
use crate::sandbox::inspect::files::FoundFile;

/// All that is to be loaded, tables without contents in the file (.bss) included; none where it is no ELF file.
pub(in crate::sandbox) fn wanted(program: &FoundFile) -> Option<Bytes> {
    let file = ReadCache::new(program.open()?);
    match FileKind::parse(&file).ok()? {
        FileKind::Elf64 => loaded::<FileHeader64<Endianness>, _>(&file),
        FileKind::Elf32 => loaded::<FileHeader32<Endianness>, _>(&file),
        _ => None,
    }
}

fn loaded<'data, E, R>(data: R) -> Option<Bytes>
where
    E: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = E::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    let loaded = segments.iter().filter(|segment| segment.p_type(endian) == PT_LOAD);
    let sizes = loaded.map(|segment| -> u64 { segment.p_memsz(endian).into() });
    Some(Bytes(sizes.fold(0, u64::saturating_add)))
}
