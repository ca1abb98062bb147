//! Packers whose output a command of rule 7.5 unpacks.

use std::io::{Read, Write};
use std::num::NonZeroU64;
use std::process::{Command, Output, Stdio};

use lzma_rust2::{EncodeMode, LzmaOptions, LzmaReader, LzmaWriter, MfType, XzReader};

/// What unpacks.
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
    #[must_use]
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
    /// What unpacks them.
    pub by: Unpacker,
    /// The words that it takes: [`Unpacker::command`], unless they were packed in a special way.
    pub command: String,
    /// How they were packed, in words.
    pub how: String,
    /// They.
    pub bytes: Vec<u8>,
}

/// A window that holds any source; `xz` takes only powers of two for `.lzma`.
const WINDOW: u32 = 1 << 16;

/// The smallest form for each command that unpacks, the smallest of them first. A packer that this host
/// does not have is left out.
#[must_use]
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

    /// What it costs in an entry: the bytes, and the words that unpack them.
    #[must_use]
    pub fn cost(&self) -> usize {
        self.bytes.len() + self.command.len()
    }
}

/// How often the search for a smaller `.gz` is repeated; sources are small, and it has converged long
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

/// The bytes behind a packed form; none where it is none of ours, or damaged.
#[must_use]
pub fn unpacked(packed: &[u8]) -> Option<(Unpacker, Vec<u8>)> {
    /// More than any entry unpacks to; what claims to be more is not believed.
    const MOST: u64 = 64 << 20;
    let all = |reader: &mut dyn Read| {
        let mut data = Vec::new();
        let read = reader.take(MOST + 1).read_to_end(&mut data).ok()?;
        (read as u64 <= MOST && read > 0).then_some(data)
    };
    if packed.starts_with(b"\xfd7zXZ\0") {
        return Some((Unpacker::Xz, all(&mut XzReader::new(packed, true))?));
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
        let mut reader = LzmaReader::new_mem_limit(packed, 1 << 20, None).ok()?;
        return Some((Unpacker::Xz, all(&mut reader)?));
    }
    None
}

/// LZMA without the 13 bytes of its head, which the words in the stub must make up for, and without a mark at
/// its end, which `xz` complains about once it has written everything. None where this host's own `xz` does
/// not, or is not there.
#[must_use]
pub fn raw(data: &[u8]) -> Option<Packed> {
    let divisions = (0..=4).flat_map(|lc| (0..=2).map(move |pb| (lc, pb)));
    let all = divisions.filter_map(|(lc, pb)| {
        let bytes = without_head(data, lc, pb)?;
        // What `xz` takes anyway needs no words.
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

/// What a program of this host makes of the bytes; none where it is not here, or fails.
fn through(program: &str, words: &[&str], data: &[u8]) -> Option<Vec<u8>> {
    let output = output(program, words, data)?;
    output.status.success().then_some(output.stdout)
}

/// As [`through`], however the program ends.
fn written(program: &str, words: &[&str], data: &[u8]) -> Option<Vec<u8>> {
    output(program, words, data).map(|output| output.stdout)
}

fn output(program: &str, words: &[&str], data: &[u8]) -> Option<Output> {
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take()?;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // It may have seen enough.
            let _ = input.write_all(data);
        });
        child.wait_with_output().ok()
    })
}

#[cfg(test)]
mod tests {
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
    fn what_is_not_packed_is_not_unpacked() {
        for bytes in [&b""[..], b"BZ", b"#!/bin/sh\n", b"\xfd7zXZ\0junk", b"\x5d\0\0\x80\0junk"] {
            assert_eq!(unpacked(bytes), None, "{bytes:?}");
        }
    }
}
