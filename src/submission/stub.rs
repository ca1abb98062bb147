//! The packer that an entry was made with, and how many of its bytes unpack and how many are unpacked
//! (rule 7.10). It decides nothing, so a guess is enough; but what it says is exact where a stub cuts
//! itself with `tail`, as nearly all do.

use crate::model::command_words::base_name;
use crate::model::units::Bytes;

/// The packing of an entry, as far as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packing {
    /// The packer in words (`sh + xz + cc`, `UPX`, `gzexe`).
    pub(crate) packer: Option<String>,
    /// Bytes that unpack and start the rest.
    pub(crate) stub: Option<Bytes>,
    /// Bytes that are unpacked.
    pub(crate) packed: Option<Bytes>,
    /// The format of the packed bytes, where a magic number tells.
    pub(crate) magic: Option<&'static str>,
}

/// The magic numbers of compressed data, and the names of their formats.
const MAGIC: [(&[u8], &str); 7] = [
    (b"\xfd7zXZ\0", "xz"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x5d\0\0", "lzma"),
    (b"\x7fELF", "ELF"),
    (b"PK\x03\x04", "zip"),
];

/// The name of what `bytes` begin with.
pub(crate) fn magic(bytes: &[u8]) -> Option<&'static str> {
    (MAGIC.iter()).find(|(start, _)| bytes.starts_with(start)).map(|(_, name)| *name)
}

/// An executable packer's mark in an ELF file.
pub(crate) fn of_elf(bytes: &[u8]) -> Packing {
    let upx = bytes.windows(4).any(|window| window == b"UPX!");
    Packing { packer: upx.then(|| "UPX".to_owned()), ..Packing::default() }
}

/// The packing of a script that `leader` (`sh`, `python3`) reads.
pub(crate) fn of_script(bytes: &[u8], leader: &str) -> Packing {
    let text_end = text_end(bytes);
    let text = String::from_utf8_lossy(&bytes[..text_end]);
    let shell = ["sh", "bash", "dash", "ash", "ksh", "zsh", "busybox"].contains(&leader);
    let cut = if shell { first_cut(&text, bytes) } else { None };
    let begin = cut.or_else(|| (text_end < bytes.len()).then(|| line_of_magic(bytes, text_end)));
    let stub = String::from_utf8_lossy(&bytes[..begin.unwrap_or(text_end).min(text_end)]);
    let packer = if shell {
        shell_packer(&stub, leader, begin.is_some())
    } else {
        script_packer(&stub, leader)
    };
    let begin = begin.filter(|begin| *begin <= bytes.len());
    Packing {
        packer,
        stub: begin.map(|begin| Bytes(begin as u64)),
        packed: begin.map(|begin| Bytes((bytes.len() - begin) as u64)),
        magic: begin.and_then(|begin| magic(&bytes[begin..])),
    }
}

/// The offset of the first byte that no text has.
fn text_end(bytes: &[u8]) -> usize {
    let Some(chunk) = bytes.utf8_chunks().next() else {
        return 0;
    };
    let binary = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r' | '\x0c' | '\x1b');
    chunk.valid().find(binary).unwrap_or(chunk.valid().len())
}

/// Some compressed data begin with letters (`BZh91AY`); they begin a line then.
fn line_of_magic(bytes: &[u8], binary: usize) -> usize {
    let line = (bytes[..binary].iter().rposition(|byte| *byte == b'\n')).map_or(0, |at| at + 1);
    match magic(&bytes[line..]) {
        Some(_) if line > 0 => line,
        _ => binary,
    }
}

/// The simple commands of a shell script, roughly: words without quotes, between `| ; & ( )` and
/// newlines. Redirections stay as words.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut words = Vec::new();
    let mut word = String::new();
    let end_word = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    for c in text.chars() {
        match c {
            '|' | ';' | '&' | '(' | ')' | '`' | '\n' | '{' | '}' => {
                end_word(&mut word, &mut words);
                if !words.is_empty() {
                    all.push(std::mem::take(&mut words));
                }
            }
            ' ' | '\t' | '\r' | '<' | '>' => end_word(&mut word, &mut words),
            '"' | '\'' => {}
            c => word.push(c),
        }
    }
    end_word(&mut word, &mut words);
    if !words.is_empty() {
        all.push(words);
    }
    all
}

/// The program of a simple command, without what may stand before it.
fn program(words: &[String]) -> Option<(&str, &[String])> {
    let at = (words.iter()).position(|word| {
        !(["exec", "command", "nohup", "time", "if", "then", "else", "do"].contains(&word.as_str())
            || word.contains('='))
    })?;
    Some((base_name(&words[at]), &words[at + 1..]))
}

/// The place at which a command begins to read the file that it cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// From this line on, counted from 1.
    Line(usize),
    /// From this byte on, counted from 1.
    Byte(usize),
    /// The last so many lines.
    LastLines(usize),
    /// The last so many bytes.
    LastBytes(usize),
}

impl Cut {
    /// The place as an offset in the file.
    fn offset(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Cut::Line(line) => line_start(bytes, line),
            Cut::Byte(byte) => Some(byte.saturating_sub(1)),
            Cut::LastBytes(count) => bytes.len().checked_sub(count),
            Cut::LastLines(count) => {
                let lines = bytes.split_inclusive(|byte| *byte == b'\n').count();
                line_start(bytes, lines.saturating_sub(count) + 1)
            }
        }
        .filter(|offset| *offset <= bytes.len())
    }
}

/// The offset of a line, of which the first has number 1.
fn line_start(bytes: &[u8], line: usize) -> Option<usize> {
    match line {
        0 | 1 => Some(0),
        line => (bytes.iter().enumerate())
            .filter(|(_, byte)| **byte == b'\n')
            .nth(line - 2)
            .map(|(at, _)| at + 1),
    }
}

/// The first offset at which the stub cuts itself. Commands behind that offset are payload, not stub.
fn first_cut(text: &str, bytes: &[u8]) -> Option<usize> {
    // gzexe keeps the line in a variable
    if text.contains("$skip")
        && let Some(line) = (text.lines())
            .find_map(|line| line.strip_prefix("skip="))
            .and_then(|number| number.trim().parse().ok())
    {
        return Cut::Line(line).offset(bytes);
    }
    let cuts = |text: &str| -> Vec<usize> {
        (commands(text).iter())
            .filter_map(|words| cut_of(words)?.offset(bytes))
            .filter(|offset| *offset > 0)
            .collect()
    };
    let first = cuts(text).into_iter().next()?;
    let stub = text.get(..first).unwrap_or(text);
    cuts(stub).into_iter().min().or(Some(first))
}

fn cut_of(words: &[String]) -> Option<Cut> {
    let (name, arguments) = program(words)?;
    match name {
        "tail" => tail(arguments),
        "sed" => arguments.iter().find_map(|word| sed(word)),
        _ => None,
    }
}

fn tail(arguments: &[String]) -> Option<Cut> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (lines, value) = match word.as_str() {
            "-n" | "--lines" => (true, words.next()?.as_str()),
            "-c" | "--bytes" => (false, words.next()?.as_str()),
            word => {
                if let Some(value) = word.strip_prefix("--lines=") {
                    (true, value)
                } else if let Some(value) = word.strip_prefix("--bytes=") {
                    (false, value)
                } else if let Some(value) = word.strip_prefix("-n") {
                    (true, value)
                } else if let Some(value) = word.strip_prefix("-c") {
                    (false, value)
                } else if word.len() > 1 && word.starts_with(['+', '-']) {
                    // the old form
                    (true, word)
                } else {
                    continue;
                }
            }
        };
        if let Some(from) = value.strip_prefix('+') {
            let from = from.parse().ok()?;
            return Some(if lines { Cut::Line(from) } else { Cut::Byte(from) });
        }
        let last = value.strip_prefix('-').unwrap_or(value).parse().ok()?;
        return Some(if lines { Cut::LastLines(last) } else { Cut::LastBytes(last) });
    }
    None
}

/// `1,4d` and `1d` remove the stub; `5,$p` prints the rest.
fn sed(word: &str) -> Option<Cut> {
    if let Some(removed) = word.strip_suffix('d') {
        let last = removed.strip_prefix("1,").or((removed == "1").then_some("1"))?;
        return Some(Cut::Line(last.parse::<usize>().ok()?.checked_add(1)?));
    }
    Some(Cut::Line(word.strip_suffix(",$p")?.parse().ok()?))
}

/// The format that a program unpacks, by its name and arguments.
fn unpacks(name: &str, arguments: &[String]) -> Option<&'static str> {
    match name {
        "xz" | "unxz" | "xzcat" => {
            let format = |wanted: &str| {
                (arguments.iter().enumerate()).any(|(index, word)| {
                    word == &format!("--format={wanted}")
                        || word.starts_with('-') && word.ends_with(&format!("F{wanted}"))
                        || word == wanted
                            && index > 0
                            && (arguments[index - 1] == "--format"
                                || arguments[index - 1].starts_with('-')
                                    && arguments[index - 1].ends_with('F'))
                })
            };
            Some(if format("raw") {
                "raw xz"
            } else if format("lzma") {
                "lzma"
            } else {
                "xz"
            })
        }
        "lzma" | "unlzma" | "lzcat" => Some("lzma"),
        "gzip" | "gunzip" | "zcat" => Some("gzip"),
        "bzip2" | "bunzip2" | "bzcat" => Some("bzip2"),
        "zstd" | "unzstd" | "zstdcat" => Some("zstd"),
        _ => None,
    }
}

const COMPILERS: [&str; 9] =
    ["cc", "c++", "gcc", "g++", "clang", "clang++", "rustc", "cargo", "tcc"];
const RUNNERS: [&str; 5] = ["pypy3", "python3", "python", "perl", "node"];

fn shell_packer(stub: &str, leader: &str, cut: bool) -> Option<String> {
    if stub.contains("gztmpdir") {
        return Some("gzexe".to_owned());
    }
    let commands = commands(stub);
    let programs: Vec<(&str, &[String])> = commands.iter().filter_map(|c| program(c)).collect();
    let unpacker = (programs.iter()).find_map(|(name, arguments)| unpacks(name, arguments));
    let compiler = (programs.iter()).map(|(name, _)| *name).find(|name| COMPILERS.contains(name));
    // `$(command -v pypy3||echo python3)`: a runner may stand anywhere
    let runner = || {
        (commands.iter().flatten()).map(|word| base_name(word)).find(|name| RUNNERS.contains(name))
    };
    let tool = compiler.or_else(runner);
    if unpacker.is_none() && (tool.is_none() || !cut) {
        return None;
    }
    let parts: Vec<&str> = [Some(leader), unpacker, tool].into_iter().flatten().collect();
    Some(parts.join(" + "))
}

/// A script of another language that unpacks something.
fn script_packer(stub: &str, leader: &str) -> Option<String> {
    const MODULES: [(&str, &str); 8] = [
        ("zlib", "zlib"),
        ("lzma", "lzma"),
        ("bz2", "bzip2"),
        ("gzip", "gzip"),
        ("Uncompress", "zlib"),
        ("b85decode", "base85"),
        ("a85decode", "base85"),
        ("b64decode", "base64"),
    ];
    let runs = ["exec", "eval"].iter().any(|word| stub.contains(word));
    let module = (MODULES.iter()).find(|(word, _)| stub.contains(word));
    (module.filter(|_| runs)).map(|(_, name)| format!("{leader} + {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Packer, stub and payload of a stub with `payload` behind it.
    fn packed(stub: &str, payload: &[u8]) -> (String, u64, &'static str) {
        let leader = if stub.contains("bash") { "bash" } else { "sh" };
        let packing = of_script(&[stub.as_bytes(), payload].concat(), leader);
        let stub_bytes = packing.stub.unwrap_or_default().0;
        if let Some(packed) = packing.packed {
            assert_eq!(stub_bytes + packed.0, (stub.len() + payload.len()) as u64);
        }
        (packing.packer.unwrap_or_default(), stub_bytes, packing.magic.unwrap_or("-"))
    }

    const XZ: &[u8] = b"\xfd7zXZ\0\0\x04more";

    #[test]
    fn the_examples_of_the_rules() {
        let first = "#!/bin/sh\nT=`mktemp`\ntail -c +84 \"$0\"|xz -d>$T\nchmod +x $T\n(sleep 3;rm $T)&exec $T\n";
        assert_eq!(first.len(), 83);
        assert_eq!(packed(first, XZ), ("sh + xz".into(), 83, "xz"));
        let second = "#!/bin/sh\nT=`mktemp`\ntail -n +5 \"$0\"|xz -d|cc -o $T -O3 -xc -\n(sleep 3;rm $T)&exec $T\n";
        assert_eq!(packed(second, XZ), ("sh + xz + cc".into(), second.len() as u64, "xz"));
    }

    #[test]
    fn other_stubs_that_were_seen() {
        let cases: [(&str, &[u8], &str, &str); 9] = [
            (
                "#!/bin/sh\ntail -n+3 $0|lzma -d|c++ -O3 -xc++ - -o /dev/fd/1>$T;$T;exit\n",
                b"\x5d\0\0\x80",
                "sh + lzma + c++",
                "lzma",
            ),
            (
                "#!/bin/sh\nsed 1,2d $0|xz -dcF raw --x86 --lzma2>$T;exec $T\n",
                b"\0\xe0\xff",
                "sh + raw xz",
                "-",
            ),
            (
                "#!/bin/bash\nexec $(command -v pypy3||echo python3) <(tail -c+75 $0|xz -d)\n",
                XZ,
                "bash + xz + pypy3",
                "xz",
            ),
            (
                "tail -n +2 $0|xz --format=lzma -d|python3 -;exit\n",
                b"\x5d\0\0",
                "sh + lzma + python3",
                "lzma",
            ),
            ("#!/bin/sh\nzcat <<E >$T;exec $T\n", b"\x1f\x8b\x08", "sh + gzip", "gzip"),
            (
                "#!/bin/sh\nsed -n '3,$p' $0|bunzip2|perl\n",
                b"BZh91AY&SY\xff",
                "sh + bzip2 + perl",
                "bzip2",
            ),
            (
                "#!/bin/sh\ntail -n+3 $0|/usr/bin/clang -xc -o$T -;exit\n",
                b"main(){}",
                "sh + clang",
                "-",
            ),
            ("#!/bin/sh\ntail -c4 $0|gcc -xc++ -;exit\n", b"main", "sh + gcc", "-"),
            (
                "#!/bin/sh\nskip=4\ntail -n +$skip $0|gzip -cd >$gztmpdir/x\n",
                b"\x1f\x8b\x08",
                "gzexe",
                "gzip",
            ),
        ];
        for (stub, payload, packer, magic) in cases {
            let expected = (packer.to_owned(), stub.len() as u64, magic);
            assert_eq!(packed(stub, payload), expected, "{stub}");
        }
    }

    #[test]
    fn two_payloads_begin_at_the_first() {
        let stub =
            "#!/bin/sh\ntail -c+90 $0|xz -d>$T;tail -c+70 $0|head -c20|xz -d>$U;exec $T #1234\n";
        let stub = &stub[..69];
        let (_, begin, _) = packed(stub, &[b"x".as_slice(); 60].concat());
        assert_eq!(begin, 69);
    }

    #[test]
    fn plain_scripts_are_not_packed() {
        assert_eq!(packed("#!/bin/sh\nexec ./x\n", b""), (String::new(), 0, "-"));
        assert_eq!(packed("#!/bin/sh\npython3 -c 'print(1)'\n", b"").0, "");
        assert_eq!(
            of_script(b"#!/usr/bin/python3\nprint('exec')\n", "python3"),
            Packing::default()
        );
        let packing = of_script(b"import zlib\nexec(zlib.decompress(b'x\x9c'))\n", "python3");
        assert_eq!(packing.packer.as_deref(), Some("python3 + zlib"));
        assert_eq!(of_elf(b"\x7fELF..UPX!..").packer.as_deref(), Some("UPX"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            head in "(#!/bin/sh\n)?(tail|sed|head|xz|skip=)[ -~\n]{0,60}",
            bytes in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let all = [head.as_bytes(), &bytes].concat();
            let packing = of_script(&all, "sh");
            if let (Some(stub), Some(packed)) = (packing.stub, packing.packed) {
                prop_assert_eq!(stub + packed, Bytes::of(&all));
            }
            let _ = of_script(&bytes, "python3");
        }
    }
}
