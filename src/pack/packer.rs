//! Packers whose output a command of rule 7.5 unpacks.

use std::io::{Read, Write};
use std::num::NonZeroU64;
use std::process::{Command, ExitStatus, Stdio};

use lzma_rust2::{EncodeMode, LzmaOptions, LzmaReader, LzmaWriter, MfType, XzReader};
use rustix::process::{Pid, Resource, Rlimit, prlimit};

/// A program that unpacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unpacker {
    /// `xz -d`, which reads `.xz` and the older `.lzma`.
    Xz,
    /// `gzip -d`.
    Gzip,
    /// `bzip2 -d`.
    Bzip2,
}

impl Unpacker {
    /// The command that reads packed bytes from its input.
    pub fn command(self) -> &'static str {
        match self {
            Unpacker::Xz => "xz -d",
            Unpacker::Gzip => "gzip -d",
            Unpacker::Bzip2 => "bzip2 -d",
        }
    }
}

/// Bytes in their packed form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The program that unpacks them.
    pub by: Unpacker,
    /// The words that it takes: [`Unpacker::command`], unless they were packed in a special way.
    pub command: String,
    /// The packing, in words.
    pub how: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A window that holds any source; `xz` takes only powers of two for `.lzma`.
const WINDOW: u32 = 1 << 16;

/// The smallest form for each command that unpacks, the smallest of them first. A packer that this host
/// does not have is left out.
pub fn all(data: &[u8]) -> Vec<Packed> {
    let mut found = vec![lzma(data)];
    found.extend(zopfli(data));
    let others = [
        (Unpacker::Gzip, "gzip -9", &["-9", "-n", "-c"][..]),
        (Unpacker::Bzip2, "bzip2 -9", &["-9", "-c"]),
    ];
    found.extend(others.into_iter().filter_map(|(by, how, words)| {
        let program = how.split(' ').next()?;
        Some(Packed::new(by, how, through(program, words, data)?))
    }));
    found.sort_by_key(|packed| packed.bytes.len());
    found
}

impl Packed {
    fn new(by: Unpacker, how: impl Into<String>, bytes: Vec<u8>) -> Packed {
        Packed { by, command: by.command().to_owned(), how: how.into(), bytes }
    }

    /// The bytes that it costs in an entry: its own, and the words that unpack them.
    pub(crate) fn cost(&self) -> usize {
        self.bytes.len() + self.command.len()
    }
}

/// The number of times that the search for a smaller `.gz` is repeated; sources are small, and it has converged long
/// before.
const PASSES: NonZeroU64 = NonZeroU64::new(60).unwrap();

/// `.gz` by the slow search of Zopfli, which finds more than `gzip -9`.
fn zopfli(data: &[u8]) -> Option<Packed> {
    let options = zopfli::Options { iteration_count: PASSES, ..zopfli::Options::default() };
    let mut bytes = Vec::new();
    zopfli::compress(options, zopfli::Format::Gzip, data, &mut bytes).ok()?;
    Some(Packed::new(Unpacker::Gzip, "gzip, by Zopfli", bytes))
}

/// `.lzma` with every division of the context bits, then the finer settings for the best of them: it has
/// neither sums nor index, and its size stands in its head, so that it needs no mark at its end.
fn lzma(data: &[u8]) -> Packed {
    let options = |lc, lp, pb, nice_len, mf| {
        LzmaOptions::new(WINDOW, lc, lp, pb, EncodeMode::Normal, nice_len, mf, 1000)
    };
    let mut divisions = Vec::new();
    for lc in 0..=4 {
        for lp in 0..=(4 - lc).min(2) {
            for pb in 0..=2 {
                divisions.push((lc, lp, pb));
            }
        }
    }
    let mut tried: Vec<(usize, (u32, u32, u32))> = divisions
        .into_iter()
        .map(|(lc, lp, pb)| {
            let options = options(lc, lp, pb, 273, MfType::Bt4);
            (encode(data, &options).map_or(usize::MAX, |bytes| bytes.len()), (lc, lp, pb))
        })
        .collect();
    tried.sort_unstable();
    let mut best: Option<Packed> = None;
    for (_, (lc, lp, pb)) in tried.into_iter().take(3) {
        for nice_len in [8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 80, 96, 128, 192, 273] {
            for mf in [MfType::Bt4, MfType::Hc4] {
                let Some(bytes) = encode(data, &options(lc, lp, pb, nice_len, mf)) else {
                    continue;
                };
                if best.as_ref().is_none_or(|best| bytes.len() < best.bytes.len()) {
                    let how = format!("lzma, lc={lc} lp={lp} pb={pb} nice={nice_len}");
                    best = Some(Packed::new(Unpacker::Xz, how, bytes));
                }
            }
        }
    }
    best.unwrap_or_else(|| Packed::new(Unpacker::Xz, "not packed", data.to_vec()))
}

fn encode(data: &[u8], options: &LzmaOptions) -> Option<Vec<u8>> {
    let mut writer =
        LzmaWriter::new_use_header(Vec::new(), options, Some(data.len() as u64)).ok()?;
    writer.write_all(data).ok()?;
    writer.finish().ok()
}

/// More than any entry unpacks to; what is more is not packed anew, which would take minutes.
const MOST_UNPACKED: usize = 256 << 10;
/// The largest window of a stream, in KiB: that of `xz -9`, and some.
const MOST_MEMORY_KIB: u32 = 80 << 10;
/// The time of the processor that a packer of this host gets for one stream, in seconds.
const MOST_SECONDS: u64 = 5;

/// All that a reader gives; none where it fails or gives more.
fn within(reader: &mut dyn Read, most: usize) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    reader.take(most as u64 + 1).read_to_end(&mut data).ok()?;
    (data.len() <= most).then_some(data)
}

/// The bytes behind a packed form; none where it is none of ours, or damaged.
pub fn unpacked(packed: &[u8]) -> Option<(Unpacker, Vec<u8>)> {
    let all = |reader: &mut dyn Read| {
        let data = within(reader, MOST_UNPACKED)?;
        (!data.is_empty()).then_some(data)
    };
    if packed.starts_with(b"\xfd7zXZ\0") {
        let mut reader = XzReader::new_mem_limit(packed, true, MOST_MEMORY_KIB);
        return Some((Unpacker::Xz, all(&mut reader)?));
    }
    if packed.starts_with(b"\x1f\x8b") {
        return Some((Unpacker::Gzip, through("gzip", &["-d", "-c"], packed)?));
    }
    if packed.starts_with(b"BZh") {
        return Some((Unpacker::Bzip2, through("bzip2", &["-d", "-c"], packed)?));
    }
    // `.lzma` has no mark; its first byte and the size of its window give it away.
    let window = u32::from_le_bytes(packed.get(1..5)?.try_into().ok()?);
    if packed[0] < 225 && (window.is_power_of_two() || (window / 3).is_power_of_two()) {
        let mut reader = LzmaReader::new_mem_limit(packed, MOST_MEMORY_KIB, None).ok()?;
        return Some((Unpacker::Xz, all(&mut reader)?));
    }
    None
}

/// LZMA without the 13 bytes of its head, which the words in the stub must make up for, and without a mark at
/// its end, which `xz` complains about once it has written everything. None where this host's own `xz` does
/// not, or is not there.
pub fn raw(data: &[u8]) -> Option<Packed> {
    let divisions = (0..=4).flat_map(|lc| (0..=2).map(move |pb| (lc, pb)));
    let all = divisions.filter_map(|(lc, pb)| {
        let bytes = without_head(data, lc, pb)?;
        // A value that `xz` takes anyway needs no words.
        let words = [(lc, 3, "lc"), (pb, 2, "pb")].into_iter();
        let words = words.filter(|(value, usual, _)| value != usual);
        let words: Vec<String> = words.map(|(value, _, name)| format!("{name}={value}")).collect();
        let sign = if words.is_empty() { "" } else { "=" };
        let command = format!("xz -dFraw --lzma1{sign}{}", words.join(","));
        let how = format!("raw lzma, lc={lc} pb={pb}");
        Some(Packed { by: Unpacker::Xz, command, how, bytes })
    });
    let best = all.min_by_key(Packed::cost)?;
    let words: Vec<&str> = best.command.split(' ').skip(1).collect();
    let whole = written("xz", &words, &best.bytes).is_some_and(|back| back == data);
    whole.then_some(best)
}

fn without_head(data: &[u8], lc: u32, pb: u32) -> Option<Vec<u8>> {
    let options = LzmaOptions::new(WINDOW, lc, 0, pb, EncodeMode::Normal, 273, MfType::Bt4, 1000);
    let mut writer = LzmaWriter::new_no_header(Vec::new(), &options, false).ok()?;
    writer.write_all(data).ok()?;
    writer.finish().ok()
}

/// The output of a program of this host for the bytes; none where it is not here, fails, writes more than
/// [`MOST_UNPACKED`] or takes too long.
fn through(program: &str, words: &[&str], data: &[u8]) -> Option<Vec<u8>> {
    let (status, written) = output(program, words, data)?;
    status.success().then_some(written)
}

/// As [`through`], however the program ends.
fn written(program: &str, words: &[&str], data: &[u8]) -> Option<Vec<u8>> {
    output(program, words, data).map(|(_, written)| written)
}

fn output(program: &str, words: &[&str], data: &[u8]) -> Option<(ExitStatus, Vec<u8>)> {
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let most = Rlimit { current: Some(MOST_SECONDS), maximum: Some(MOST_SECONDS) };
    // Where it cannot be limited, it has ended already.
    let _ = prlimit(Pid::from_raw(child.id().cast_signed()), Resource::Cpu, most);
    let (mut input, mut told) = (child.stdin.take()?, child.stdout.take()?);
    let written = std::thread::scope(|scope| {
        scope.spawn(move || {
            // The program may have seen enough.
            let _ = input.write_all(data);
        });
        let written = within(&mut told, data.len().max(MOST_UNPACKED));
        if written.is_none() {
            // The program has more to say than anybody wants to hear.
            let _ = child.kill();
        }
        drop(told);
        written
    });
    Some((child.wait().ok()?, written?))
}

#[cfg(test)]
mod tests {
    use lzma_rust2::{XzOptions, XzWriter};

    use super::*;

    fn source() -> Vec<u8> {
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/src/engine.c")).unwrap()
    }

    #[test]
    fn what_is_packed_is_unpacked_again() {
        let data = source();
        for packed in all(&data) {
            let (by, back) = unpacked(&packed.bytes).unwrap();
            assert_eq!(by, packed.by);
            assert!(back == data, "{}", packed.how);
        }
    }

    #[test]
    fn the_slow_search_finds_more_than_gzip() {
        let data = source();
        let slow = zopfli(&data).unwrap();
        let quick = through("gzip", &["-9", "-n", "-c"], &data).unwrap();
        assert!(slow.bytes.len() < quick.len());
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        // 8 MiB of zeros each, made without the packers of this host: it may have none.
        let zeros = vec![0; 8 << 20];
        let mut xz = XzWriter::new(Vec::new(), XzOptions::with_preset(6)).unwrap();
        xz.write_all(&zeros).unwrap();
        let bzip2 = b"\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xa2\x3d\x4b\x58\x00\x40\x40\x40\x80\xc0\x00\x00\
                      \x04\x00\x08\x20\x00\x30\xcc\x05\x29\xa6\x01\x00\xd8\x80\x80\x78\xbb\x92\x29\xc2\x84\x85\x11\xea\x5a\xc0";
        let bombs = [
            ("xz", xz.finish().unwrap()),
            ("lzma", encode(&zeros, &LzmaOptions::default()).unwrap()),
            ("gzip", through("gzip", &["-9", "-c"], &zeros).unwrap()),
            ("bzip2", bzip2.to_vec()),
        ];
        for (name, bomb) in bombs {
            assert!(bomb.len() < 20_000, "{name}: {}", bomb.len());
            assert_eq!(unpacked(&bomb), None, "{name}");
        }
    }

    #[test]
    fn a_stream_that_wants_a_window_of_gigabytes_is_not_unpacked() {
        // The head of a `.lzma` with a window of 2 GiB.
        let mut lzma = encode(b"some text", &LzmaOptions::default()).unwrap();
        lzma[1..5].copy_from_slice(&(1u32 << 31).to_le_bytes());
        assert_eq!(unpacked(&lzma), None);
    }

    #[test]
    fn a_program_that_never_ends_is_ended() {
        // It wants the processor for ever and says nothing.
        assert_eq!(through("sh", &["-c", "while :; do :; done"], b""), None);
        assert_eq!(through("cat", &["/dev/zero"], b""), None);
    }

    #[test]
    fn what_is_not_packed_is_not_unpacked() {
        for bytes in [&b""[..], b"BZ", b"#!/bin/sh\n", b"\xfd7zXZ\0junk", b"\x5d\0\0\x80\0junk"] {
            assert_eq!(unpacked(bytes), None, "{bytes:?}");
        }
    }
}
