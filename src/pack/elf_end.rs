//! The end of an ELF file that its start does not need: what lies behind all segments, such as section headers, and
//! zeros, which the kernel supplies for the rest of a file's last page.

use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind};

/// The page in which the kernel fills up a file with zeros (execve(2) maps whole pages).
const PAGE: usize = 4096;

/// The same executable without its end, where that is shorter, and the change in words.
pub(super) fn left_out(entry: &[u8]) -> Option<(&[u8], String)> {
    let needed = match FileKind::parse(entry).ok()? {
        FileKind::Elf64 => needed::<FileHeader64<Endianness>>(entry)?,
        FileKind::Elf32 => needed::<FileHeader32<Endianness>>(entry)?,
        _ => return None,
    };
    let loaded = needed.loaded.clamp(needed.headers, entry.len());
    // The page itself must stay: memory behind the last page of a file cannot be read.
    let least = needed.headers.max(loaded.saturating_sub(1) / PAGE * PAGE + 1);
    let zeros = entry.get(least..loaded)?.iter().rev().take_while(|byte| **byte == 0).count();
    let behind = entry.len() - loaded;
    let parts: Vec<String> = [
        (behind, "of which nothing is loaded"),
        (zeros, "of zeros, which the kernel supplies up to the end of a page"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, words)| format!("{count} {words}"))
    .collect();
    let shorter = entry.get(..loaded - zeros)?;
    (!parts.is_empty()).then(|| (shorter, format!("its end left out: {}", parts.join(", "))))
}

/// The lengths that have to stay, in bytes from the file's begin.
struct NeededLengths {
    /// Its headers, and the name of its loader, which the kernel reads before it maps anything.
    headers: usize,
    /// The end of the last segment.
    loaded: usize,
}

fn needed<E: FileHeader<Endian = Endianness>>(entry: &[u8]) -> Option<NeededLengths> {
    let header = E::parse(entry).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, entry).ok()?;
    let table: u64 = header.e_phoff(endian).into();
    let table = table.checked_add(std::mem::size_of_val(segments) as u64)?;
    let mut headers = table.max(std::mem::size_of::<E>() as u64);
    let mut loaded = headers;
    for segment in segments {
        let (offset, length) = segment.file_range(endian);
        let end = offset.checked_add(length)?;
        if segment.p_type(endian) == object::elf::PT_INTERP {
            headers = headers.max(end);
        }
        if length > 0 {
            loaded = loaded.max(end);
        }
    }
    let within = |end: u64| usize::try_from(end).unwrap_or(usize::MAX).min(entry.len());
    Some(NeededLengths { headers: within(headers), loaded: within(loaded) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADERS: usize = 64 + 56;

    /// An executable of 64 bits whose one segment has so many bytes of the file, and `tail` behind the headers.
    fn elf(length: u64, tail: &[u8]) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        file.extend([2, 0, 62, 0, 1, 0, 0, 0]);
        for word in [0x40_0078u64, 64, 0] {
            file.extend(word.to_le_bytes());
        }
        file.extend([0; 4]);
        for half in [64u16, 56, 1, 0, 0, 0] {
            file.extend(half.to_le_bytes());
        }
        file.extend([1, 0, 0, 0, 5, 0, 0, 0]);
        for word in [0, 0x40_0000, 0, length, length, 0x1000] {
            file.extend(word.to_le_bytes());
        }
        file.extend(tail);
        file
    }

    #[test]
    fn zeros_and_what_is_not_loaded_are_left_out() {
        let tail = [b"code".as_slice(), &[0; 30], b"section headers"].concat();
        let file = elf(HEADERS as u64 + 34, &tail);
        let (shorter, what) = left_out(&file).unwrap();
        assert_eq!(shorter, &file[..HEADERS + 4]);
        assert!(what.contains("15 of which nothing is loaded, 30 of zeros"), "{what}");
    }

    #[test]
    fn nothing_is_told_where_nothing_can_go() {
        assert_eq!(left_out(&elf(HEADERS as u64 + 4, b"code")), None);
        // A length that is wrong by far ends no later than the file does.
        assert_eq!(left_out(&elf(1 << 40, b"code")), None);
        assert_eq!(left_out(b"#!/bin/sh\n"), None);
        assert_eq!(left_out(b"\x7fELF"), None);
        // The headers stay, though they end in zeros.
        let file = elf(HEADERS as u64, b"");
        assert_eq!(left_out(&file), None);
    }

    #[test]
    fn a_page_is_never_left_out_as_a_whole() {
        let zeros = vec![0; 3 * PAGE];
        let file = elf((HEADERS + zeros.len()) as u64, &zeros);
        let (shorter, _) = left_out(&file).unwrap();
        assert_eq!(shorter.len().div_ceil(PAGE), file.len().div_ceil(PAGE));
        assert_eq!(shorter.len() % PAGE, 1);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(length: u64, tail in proptest::collection::vec(any::<u8>(), 0..60)) {
            let file = elf(length, &tail);
            if let Some((shorter, _)) = left_out(&file) {
                prop_assert!(shorter.len() < file.len() && shorter.len() >= HEADERS);
            }
        }
    }
}
