//! ELF as the kernel's loader reads it: the file header, the program headers, PT_INTERP, and what
//! PT_DYNAMIC asks of the dynamic loader. Sections are never looked at: tiny executables have none,
//! and use most of the header's bytes for something else.
//!
//! For that reason the class is found as Linux finds it, by machine and size of a program header;
//! the class byte itself is not checked by the kernel.

use serde::Serialize;

use crate::model::text::escape;
use crate::model::words::counted;

/// 32 or 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub(crate) enum Class {
    /// 32 bits.
    #[serde(rename = "32")]
    Bits32,
    /// 64 bits.
    #[serde(rename = "64")]
    Bits64,
}

impl Class {
    /// The number of bits.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Class::Bits32 => 32,
            Class::Bits64 => 64,
        }
    }
}

/// The way in which it gets its libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Linkage {
    /// The program brings everything along.
    Static,
    /// The same, loaded anywhere.
    StaticPie,
    /// A loader (PT_INTERP) brings what it needs.
    Dynamic,
}

impl Linkage {
    /// The word in reports.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Linkage::Static => "static",
            Linkage::StaticPie => "static-pie",
            Linkage::Dynamic => "dynamic",
        }
    }
}

/// The facts of an ELF file that the loader would see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Elf {
    /// 32 or 64 bits.
    pub(crate) class: Class,
    /// The machine's name (`x86-64`).
    pub(crate) machine: String,
    /// Static or dynamic.
    pub(crate) linkage: Linkage,
    /// PT_INTERP.
    pub(crate) interpreter: Option<String>,
    /// DT_NEEDED, escaped.
    pub(crate) needed: Vec<String>,
}

/// The reason that a file with ELF's magic cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ElfFault {
    /// Made for another machine.
    #[error("it is made for {0}")]
    Machine(String),
    /// An object file, a shared library.
    #[error("it is {0}, not an executable")]
    Kind(&'static str),
    /// The memory of a program that crashed.
    #[error("it is a core dump, not an executable")]
    CoreDump,
    /// A header that the kernel refuses.
    #[error("{0}")]
    Header(String),
}

const EM_386: u16 = 3;
const EM_486: u16 = 6;
const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;

const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;

/// The kernel refuses more program headers than fit in this.
const HEADERS_AT_MOST: usize = 65536;
const PATH_MAX: usize = 4096;
const PAGE: u64 = 4096;
/// Enough names for any engine; a crafted file could repeat one without end.
const NEEDED_AT_MOST: usize = 64;

/// True if a file begins with ELF's magic.
pub(crate) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

/// The name of a machine's number.
fn machine_name(number: u16) -> String {
    let name = match number {
        EM_386 | EM_486 => "i386",
        EM_X86_64 => "x86-64",
        EM_AARCH64 => "AArch64",
        2 | 18 | 43 => "SPARC",
        4 => "Motorola 68000",
        8 => "MIPS",
        20 => "PowerPC",
        21 => "PowerPC64",
        22 => "S/390",
        40 => "ARM",
        42 => "SuperH",
        50 => "Itanium",
        243 => "RISC-V",
        247 => "BPF",
        258 => "LoongArch",
        _ => return format!("an unknown machine ({number})"),
    };
    name.to_owned()
}

/// A file as little-endian numbers; past the end there is nothing.
#[derive(Clone, Copy)]
struct LittleEndian<'a>(&'a [u8]);

impl LittleEndian<'_> {
    fn number(self, at: u64, width: usize) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let bytes = self.0.get(at..at.checked_add(width)?)?;
        Some((bytes.iter().rev()).fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

/// A program header.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    in_file: u64,
}

/// Reads what the kernel would.
///
/// # Errors
/// When the kernel would refuse to execute it.
pub fn parse(bytes: &[u8]) -> Result<Elf, ElfFault> {
    // the kernel reads the header from a buffer that is filled up with zeros
    let mut header = [0; 64];
    let known = bytes.len().min(64);
    header[..known].copy_from_slice(&bytes[..known]);
    let header = LittleEndian(&header);
    let field = |at, width| header.number(at, width).unwrap_or_default();
    let (kind, machine) = (field(16, 2), field(18, 2) as u16);
    if kind == 1 && matches!(machine, EM_X86_64 | EM_386) {
        return Err(ElfFault::Kind("an object file that was not linked"));
    }
    let class = match machine {
        EM_X86_64 | EM_AARCH64 if field(54, 2) == 56 => Class::Bits64,
        EM_386 | EM_486 if field(42, 2) == 32 => Class::Bits32,
        EM_X86_64 if field(42, 2) == 32 => {
            return Err(ElfFault::Machine("x32, which kernels seldom run".to_owned()));
        }
        EM_X86_64 | EM_AARCH64 | EM_386 | EM_486 => {
            return Err(ElfFault::Header(format!(
                "its program headers do not have the size that {} wants",
                machine_name(machine)
            )));
        }
        _ => {
            let big_endian = field(5, 1) == 2;
            let number = if big_endian { machine.swap_bytes() } else { machine };
            return Err(ElfFault::Machine(machine_name(number)));
        }
    };
    let entry_point = match class {
        Class::Bits64 => field(24, 8),
        Class::Bits32 => field(24, 4),
    };
    match kind {
        2 | 3 => {}
        4 => return Err(ElfFault::CoreDump),
        1 => return Err(ElfFault::Kind("an object file that was not linked")),
        _ => return Err(ElfFault::Kind("of an unknown type")),
    }
    let segments = segments(bytes, class, header)?;
    let interpreter = interpreter(bytes, &segments)?;
    if kind == 3 && interpreter.is_none() && entry_point == 0 {
        return Err(ElfFault::Kind("a shared library"));
    }
    if !segments.iter().any(|segment| segment.kind == PT_LOAD) {
        return Err(ElfFault::Header("nothing of it is loaded (no PT_LOAD)".to_owned()));
    }
    Ok(Elf {
        class,
        machine: machine_name(machine),
        linkage: match (&interpreter, kind) {
            (Some(_), _) => Linkage::Dynamic,
            (None, 3) => Linkage::StaticPie,
            (None, _) => Linkage::Static,
        },
        // without a loader nobody reads DT_NEEDED
        needed: match interpreter {
            Some(_) => needed(LittleEndian(bytes), class, &segments),
            None => Vec::new(),
        },
        interpreter: interpreter.map(|path| escape(&path, 200)),
    })
}

fn segments(
    bytes: &[u8],
    class: Class,
    header: LittleEndian<'_>,
) -> Result<Vec<Segment>, ElfFault> {
    let field = |at, width| header.number(at, width).unwrap_or_default();
    let (start, count, size) = match class {
        Class::Bits64 => (field(32, 8), field(56, 2), 56u64),
        Class::Bits32 => (field(28, 4), field(44, 2), 32u64),
    };
    let room = count as usize * size as usize;
    if room == 0 || room > HEADERS_AT_MOST {
        return Err(ElfFault::Header(format!("it has {count} program headers")));
    }
    let view = LittleEndian(bytes);
    let one = |index: u64| -> Option<Segment> {
        let at = start.checked_add(index * size)?;
        let part = |offset, width| view.number(at.checked_add(offset)?, width);
        // all of it must be there
        part(size - 1, 1)?;
        Some(match class {
            Class::Bits64 => Segment {
                kind: part(0, 4)? as u32,
                offset: part(8, 8)?,
                address: part(16, 8)?,
                in_file: part(32, 8)?,
            },
            Class::Bits32 => Segment {
                kind: part(0, 4)? as u32,
                offset: part(4, 4)?,
                address: part(8, 4)?,
                in_file: part(16, 4)?,
            },
        })
    };
    (0..count).map(one).collect::<Option<Vec<Segment>>>().ok_or_else(|| {
        ElfFault::Header("its program headers lie beyond the end of the file".to_owned())
    })
}

/// PT_INTERP's path without its NUL.
fn interpreter(bytes: &[u8], segments: &[Segment]) -> Result<Option<Vec<u8>>, ElfFault> {
    let Some(segment) = segments.iter().find(|segment| segment.kind == PT_INTERP) else {
        return Ok(None);
    };
    let wrong = |what: &str| ElfFault::Header(format!("the name of its loader (PT_INTERP) {what}"));
    let length = segment.in_file as usize;
    if !(2..=PATH_MAX).contains(&length) {
        return Err(wrong(&format!("has {}", counted(length, "byte"))));
    }
    let path = usize::try_from(segment.offset)
        .ok()
        .and_then(|start| bytes.get(start..start.checked_add(length)?))
        .ok_or_else(|| wrong("lies beyond the end of the file"))?;
    match path.split_last() {
        Some((0, _)) => {}
        _ => return Err(wrong("does not end with a NUL")),
    }
    let end = path.iter().position(|byte| *byte == 0).unwrap_or(length);
    Ok(Some(path[..end].to_vec()))
}

/// Where in the file a loaded address comes from. Whole pages are mapped, so what stands around a
/// segment in the file can be seen as well, and tiny files count on it.
fn in_file(segments: &[Segment], address: u64) -> Option<u64> {
    segments.iter().filter(|segment| segment.kind == PT_LOAD).find_map(|segment| {
        let first = segment.address - segment.address % PAGE;
        let end = segment.address.checked_add(segment.in_file)?;
        let end = end.checked_next_multiple_of(PAGE)?;
        let delta = address.wrapping_sub(segment.address);
        (first..end).contains(&address).then(|| segment.offset.wrapping_add(delta))
    })
}

/// The names of DT_NEEDED; a table that cannot be read to its end gives what could be.
fn needed(view: LittleEndian<'_>, class: Class, segments: &[Segment]) -> Vec<String> {
    let width = match class {
        Class::Bits64 => 8,
        Class::Bits32 => 4,
    };
    let Some(start) = (segments.iter())
        .find(|segment| segment.kind == PT_DYNAMIC)
        .and_then(|segment| in_file(segments, segment.address).or(Some(segment.offset)))
    else {
        return Vec::new();
    };
    let (mut names, mut strings) = (Vec::new(), None);
    let mut at = start;
    while let (Some(tag), Some(value)) = (
        view.number(at, width),
        at.checked_add(width as u64).and_then(|next| view.number(next, width)),
    ) {
        match tag {
            DT_NULL => break,
            DT_NEEDED if names.len() < NEEDED_AT_MOST => names.push(value),
            DT_STRTAB => strings = in_file(segments, value),
            _ => {}
        }
        at += 2 * width as u64;
    }
    let Some(strings) = strings else {
        return Vec::new();
    };
    (names.into_iter())
        .filter_map(|name| {
            let start = usize::try_from(strings.checked_add(name)?).ok()?;
            let rest = view.0.get(start..)?;
            let name = &rest[..rest.iter().take(PATH_MAX).position(|byte| *byte == 0)?];
            Some(escape(name, 120))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A 64-bit executable of one PT_LOAD, with more headers as given: (kind, offset, length).
    pub(crate) fn tiny(machine: u16, kind: u16, more: &[(u32, u64, u64)], tail: &[u8]) -> Vec<u8> {
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        file.extend(kind.to_le_bytes());
        file.extend(machine.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        file.extend(0x40_0078u64.to_le_bytes());
        file.extend(64u64.to_le_bytes());
        file.extend(0u64.to_le_bytes());
        file.extend(0u32.to_le_bytes());
        for half in [64u16, 56, 1 + more.len() as u16, 0, 0, 0] {
            file.extend(half.to_le_bytes());
        }
        let length = (64 + 56 * (1 + more.len()) + tail.len()) as u64;
        for (kind, offset, length) in [(PT_LOAD, 0, length)].iter().chain(more) {
            file.extend(kind.to_le_bytes());
            file.extend(5u32.to_le_bytes());
            for word in [*offset, 0x40_0000 + offset, 0, *length, *length, 0x1000] {
                file.extend(word.to_le_bytes());
            }
        }
        file.extend(tail);
        file
    }

    #[test]
    fn a_static_one_without_sections() {
        let elf = parse(&tiny(EM_X86_64, 2, &[], b"\x0f\x05")).unwrap();
        assert_eq!((elf.class, elf.linkage), (Class::Bits64, Linkage::Static));
        assert_eq!(elf.machine, "x86-64");
        // the class byte is not what the kernel looks at
        let mut odd = tiny(EM_X86_64, 2, &[], b"\x0f\x05");
        odd[4] = 1;
        assert_eq!(parse(&odd).unwrap().class, Class::Bits64);
    }

    #[test]
    fn a_dynamic_one_with_its_loader_and_libraries() {
        let headers = 64 + 3 * 56;
        let interp = b"/lib64/ld-linux-x86-64.so.2\0";
        let strings = b"\0libc.so.6\0libm.so.6\0";
        let strings_at = headers + interp.len();
        let table_at = strings_at + strings.len();
        let mut table = Vec::new();
        for (tag, value) in [(1, 1), (1, 11), (5, 0x40_0000 + strings_at as u64), (0, 0)] {
            table.extend(u64::to_le_bytes(tag));
            table.extend(u64::to_le_bytes(value));
        }
        let tail = [interp.as_slice(), strings, &table].concat();
        let more = [
            (PT_INTERP, headers as u64, interp.len() as u64),
            (PT_DYNAMIC, table_at as u64, table.len() as u64),
        ];
        let elf = parse(&tiny(EM_X86_64, 3, &more, &tail)).unwrap();
        assert_eq!(elf.linkage, Linkage::Dynamic);
        assert_eq!(elf.interpreter.as_deref(), Some("/lib64/ld-linux-x86-64.so.2"));
        assert_eq!(elf.needed, ["libc.so.6", "libm.so.6"]);
    }

    #[test]
    fn a_45_byte_one_whose_header_ends_beyond_the_file() {
        // its program header overlaps the file header, as in the smallest known i386 executable
        let mut file = b"\x7fELF\x01\0\0\0\0\0\0\0\0\0\x01\0".to_vec();
        file.extend([2, 0, 3, 0]); // type, machine
        file.extend([0x20, 0, 1, 0]); // version; p_filesz of the overlapping header
        file.extend([0x20, 0, 1, 0]); // entry
        file.extend([4, 0, 0, 0]); // phoff
        file.extend([0xb3, 0x2a, 0x31, 0xc0, 0x40, 0xcd, 0x80, 0]);
        file.extend([0x34, 0, 0x20, 0, 1]); // ehsize, phentsize, phnum cut in half
        assert_eq!(file.len(), 45);
        // phoff 4 makes the class byte the header's type: PT_LOAD
        assert_eq!(parse(&file).unwrap().class, Class::Bits32);
    }

    #[test]
    fn what_the_kernel_refuses_is_named() {
        let fault = |machine, kind| parse(&tiny(machine, kind, &[], b"")).unwrap_err();
        assert_eq!(fault(243, 2), ElfFault::Machine("RISC-V".into()));
        assert_eq!(fault(40, 2).to_string(), "it is made for ARM");
        assert!(matches!(fault(EM_X86_64, 1), ElfFault::Kind(_)));
        assert_eq!(fault(EM_X86_64, 4), ElfFault::CoreDump);
        assert!(matches!(parse(b"\x7fELF"), Err(ElfFault::Machine(_))));
        let whole = tiny(EM_X86_64, 2, &[], b"");
        assert!(matches!(parse(&whole[..100]), Err(ElfFault::Header(_))));
        let bad = tiny(EM_X86_64, 2, &[(PT_INTERP, 9999, 10)], b"");
        assert!(parse(&bad).unwrap_err().to_string().contains("PT_INTERP"));
    }

    #[test]
    fn a_real_one_of_this_host() {
        let bytes = std::fs::read("/bin/sh").unwrap();
        if is_elf(&bytes) {
            let elf = parse(&bytes).unwrap();
            assert!(elf.linkage != Linkage::Dynamic || !elf.needed.is_empty());
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn no_damage_makes_it_panic(
            changes in proptest::collection::vec((0usize..260, any::<u8>()), 0..12),
            cut in 0usize..300,
        ) {
            let mut file = tiny(
                EM_X86_64, 3,
                &[(PT_INTERP, 232, 10), (PT_DYNAMIC, 242, 16)],
                b"/lib/ld.s\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            );
            for (at, byte) in changes {
                if let Some(place) = file.get_mut(at) {
                    *place = byte;
                }
            }
            file.truncate(cut);
            let _ = parse(&file);
        }
    }
}
