//! The memory that an executable wants before its first instruction, and the loader that it names, by its program headers.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use object::elf::{FileHeader32, FileHeader64, PT_INTERP, PT_LOAD};
use object::pod::slice_from_bytes;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind};

use crate::model::units::Bytes;
use crate::sandbox::inspect::files::FoundFile;

/// The most bytes of program headers that the kernel takes (`load_elf_phdrs` in `fs/binfmt_elf.c`). The file is the entry's: no more
/// is read of it, whatever it says.
const MOST_HEADERS: usize = 64 << 10;

/// All that is to be loaded, tables without contents in the file (.bss) included; none where it is no ELF file that the kernel would
/// load.
pub(in crate::sandbox) fn wanted(program: &FoundFile) -> Option<Bytes> {
    of_file(&program.open()?)
}

/// The loader that an ELF file names (PT_INTERP).
pub(in crate::sandbox) fn loader(program: &FoundFile) -> Option<PathBuf> {
    loader_of(&program.open()?)
}

fn loader_of(file: &File) -> Option<PathBuf> {
    let mut head = [0; size_of::<FileHeader64<Endianness>>()];
    file.read_exact_at(&mut head, 0).ok()?;
    match FileKind::parse(&head[..]).ok()? {
        FileKind::Elf64 => named::<FileHeader64<Endianness>>(&head, file),
        FileKind::Elf32 => named::<FileHeader32<Endianness>>(&head, file),
        _ => None,
    }
}

fn named<E: FileHeader<Endian = Endianness>>(head: &[u8], file: &File) -> Option<PathBuf> {
    /// The longest path that the kernel takes, with its end.
    const MOST: usize = 4096;
    let endian = E::parse(head).ok()?.endian().ok()?;
    let (at, size): (u64, u64) = segments::<E, _>(head, file, |all| {
        let segment = all.iter().find(|segment| segment.p_type(endian) == PT_INTERP)?;
        Some((segment.p_offset(endian).into(), segment.p_filesz(endian).into()))
    })??;
    let size = usize::try_from(size).ok().filter(|size| *size <= MOST)?;
    let mut path = vec![0; size];
    file.read_exact_at(&mut path, at).ok()?;
    let path = path.split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(path)))
}

fn of_file(file: &File) -> Option<Bytes> {
    let mut head = [0; size_of::<FileHeader64<Endianness>>()];
    file.read_exact_at(&mut head, 0).ok()?;
    match FileKind::parse(&head[..]).ok()? {
        FileKind::Elf64 => loaded::<FileHeader64<Endianness>>(&head, file),
        FileKind::Elf32 => loaded::<FileHeader32<Endianness>>(&head, file),
        _ => None,
    }
}

fn loaded<E: FileHeader<Endian = Endianness>>(head: &[u8], file: &File) -> Option<Bytes> {
    let endian = E::parse(head).ok()?.endian().ok()?;
    segments::<E, _>(head, file, |all| {
        let loaded = all.iter().filter(|segment| segment.p_type(endian) == PT_LOAD);
        let sizes = loaded.map(|segment| -> u64 { segment.p_memsz(endian).into() });
        Bytes(sizes.fold(0, u64::saturating_add))
    })
}

/// Hands the program headers to a reader, and gives its answer.
fn segments<E: FileHeader<Endian = Endianness>, T>(
    head: &[u8],
    file: &File,
    read: impl Fn(&[E::ProgramHeader]) -> T,
) -> Option<T> {
    let header = E::parse(head).ok()?;
    let endian = header.endian().ok()?;
    let each = size_of::<E::ProgramHeader>();
    if usize::from(header.e_phentsize(endian)) != each {
        return None;
    }
    let count = usize::from(header.e_phnum(endian));
    let size = count.checked_mul(each).filter(|size| *size <= MOST_HEADERS)?;
    let mut headers = vec![0; size];
    file.read_exact_at(&mut headers, header.e_phoff(endian).into()).ok()?;
    let (segments, _) = slice_from_bytes::<E::ProgramHeader>(&headers, count).ok()?;
    Some(read(segments))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// An ELF file of 64 bits whose one segment wants so much, and that says it has so many headers.
    fn elf(wants: u64, headers: u16) -> File {
        let mut bytes = vec![0; 64 + 56];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[32..40].copy_from_slice(&64u64.to_le_bytes());
        bytes[54..56].copy_from_slice(&56u16.to_le_bytes());
        bytes[56..58].copy_from_slice(&headers.to_le_bytes());
        bytes[64..68].copy_from_slice(&PT_LOAD.0.to_le_bytes());
        bytes[64 + 40..64 + 48].copy_from_slice(&wants.to_le_bytes());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file
    }

    #[test]
    fn the_memory_that_an_image_wants_is_read_of_its_headers() {
        assert_eq!(of_file(&elf(1 << 38, 1)), Some(Bytes(1 << 38)));
        assert_eq!(of_file(&elf(1 << 38, 0)), Some(Bytes(0)));
    }

    /// With 0xffff, the number of headers stands in a section: some 300 MB were read of a file with holes.
    #[test]
    fn no_more_headers_are_read_than_the_kernel_takes() {
        let file = elf(1 << 38, u16::MAX);
        file.set_len(1 << 30).unwrap();
        assert_eq!(of_file(&file), None);
        let many = elf(1, 1170);
        many.set_len(1 << 20).unwrap();
        assert_eq!(of_file(&many), Some(Bytes(1)));
    }
}
