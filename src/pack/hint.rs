//! Bytes that an entry could save: each was found by doing it to this very entry.

use std::path::Path;

use super::candidate::{self, Recipe};
use super::elf_end;
use super::language::Language;
use super::packer::{self, Packed};

/// One way to save bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// The bytes that it saves.
    pub(crate) saves: usize,
    /// The change, in words.
    pub(crate) what: String,
    /// The whole entry with it done.
    pub(crate) entry: Vec<u8>,
}

/// Words, their shorter forms that mean the same to a shell, and the drawbacks of these.
const SHORTER: [(&str, &str, &str); 8] = [
    ("tail -n +", "tail -n+", ""),
    ("tail -c +", "tail -c+", ""),
    (" -o $T", " -o$T", ""),
    (" -x c ", " -xc ", ""),
    ("\"$0\"", "$0", "; it no longer starts at a path with a blank"),
    ("#! /bin/", "#!/bin/", ""),
    (" | ", "|", ""),
    (" > ", ">", ""),
];

/// The bytes that an executable, or a script with a stub of that size, could save, the most first.
pub(crate) fn all(entry: &[u8], stub: usize) -> Vec<Hint> {
    let Some((stub, packed)) = entry.split_at_checked(stub) else { return Vec::new() };
    let mut found: Vec<Hint> = repacked(stub, packed);
    found.extend(another_stub(entry, packed));
    found.extend(packed_as_a_whole(entry));
    found.extend(elf_end::left_out(entry).map(|(shorter, what)| Hint {
        saves: entry.len() - shorter.len(),
        what,
        entry: shorter.to_vec(),
    }));
    if let Ok(stub) = std::str::from_utf8(stub) {
        found.extend(SHORTER.iter().filter_map(|(long, short, cost)| {
            let entry = whole(stub, &stub.replace(long, short), packed)?;
            let saves = (stub.len() + packed.len()).checked_sub(entry.len())?;
            // Blanks at the ends are left out of the words, unless they are all that is saved.
            let (short, long) = match (short.trim(), long.trim()) {
                (short_word, long_word) if short_word == long_word => (*short, *long),
                words => words,
            };
            let what = format!("`{short}` for `{long}`{cost}");
            (saves > 0).then_some(Hint { saves, what, entry })
        }));
    }
    found.sort_by_key(|hint| std::cmp::Reverse(hint.saves));
    found
}

/// A packed executable behind the smallest stub that `gate4k pack` knows: what gzexe and the like could save.
fn another_stub(entry: &[u8], packed: &[u8]) -> Option<Hint> {
    let (_, data) = packer::unpacked(packed)?;
    let recipe = Recipe::new(Language::Executable, None, None);
    let what = "the executable packed anew";
    data.starts_with(b"\x7fELF").then(|| packed_anew(entry, &data, &recipe, what, ""))?
}

/// A script or an executable that is not packed yet, with the smallest stub that `gate4k pack` knows.
fn packed_as_a_whole(entry: &[u8]) -> Option<Hint> {
    let first = std::str::from_utf8(entry.split(|byte| *byte == b'\n').next()?).ok();
    let words = first.and_then(|line| line.strip_prefix("#!")).map(str::split_ascii_whitespace);
    let recipe = match (entry.starts_with(b"\x7fELF"), words) {
        (true, _) => Recipe::new(Language::Executable, None, None),
        (false, Some(words)) => {
            let language = Language::of(Path::new(""), entry)?;
            let mut words = words.skip_while(|word| word.ends_with("/env") || *word == "-S");
            let program = words.next()?.rsplit('/').next();
            let flags: Vec<&str> = words.collect();
            Recipe::new(language, program, Some(&flags.join(" ")))
        }
        (false, None) => return None,
    };
    packed_anew(entry, entry, &recipe, "all of it packed", "; it then starts by sh")
}

/// The smallest stub before this source, where that makes a smaller entry.
fn packed_anew(
    entry: &[u8],
    source: &[u8],
    recipe: &Recipe,
    what: &str,
    note: &str,
) -> Option<Hint> {
    let smallest = candidate::all(source, recipe).into_iter().find(|packed| packed.stub > 0)?;
    let saves = entry.len().checked_sub(smallest.bytes.len()).filter(|saves| *saves > 0)?;
    let what = format!(
        "{what} by `gate4k pack`: a stub of {} bytes, {}{note}",
        smallest.stub, smallest.how
    );
    Some(Hint { saves, what, entry: smallest.bytes })
}

/// A new stub before the packed bytes. Where the old one names the byte at which they begin (`tail -c +N`), the new one
/// does; none where no number does, since its digits are part of what it counts.
fn whole(old: &str, new: &str, packed: &[u8]) -> Option<Vec<u8>> {
    let named = ["tail -c +", "tail -c+"].iter().find_map(|tail| {
        let (before, rest) = new.split_once(&format!("{tail}{}", old.len() + 1))?;
        let number_ends = !rest.starts_with(|c: char| c.is_ascii_digit());
        number_ends.then_some((before, *tail, rest))
    });
    let stub = match named {
        None => new.to_owned(),
        Some((before, tail, rest)) => (1..=old.len() + 1)
            .map(|offset| (offset, format!("{before}{tail}{offset}{rest}")))
            .find_map(|(offset, stub)| (stub.len() + 1 == offset).then_some(stub))?,
    };
    Some([stub.as_bytes(), packed].concat())
}

/// The same payload packed in other ways: the best for each command that unpacks, and the one without a head.
fn repacked(stub: &[u8], packed: &[u8]) -> Vec<Hint> {
    let (Some((by, data)), Ok(stub)) = (packer::unpacked(packed), std::str::from_utf8(stub)) else {
        return Vec::new();
    };
    // `lzma -d` does not read all that `xz -d` reads, but what is packed here it does.
    let known = [by.command(), "lzma -d", "unxz", "gunzip", "bunzip2", "zcat", "xzcat"];
    let Some(old) = known.into_iter().find(|command| stub.contains(command)) else {
        return Vec::new();
    };
    let hint = |other: &Packed, note: &str| {
        let plain = other.command == other.by.command();
        let stays = other.by == by && plain && old.len() <= other.command.len();
        let command = if stays { old } else { &other.command };
        let saves = (old.len() + packed.len()).checked_sub(command.len() + other.bytes.len())?;
        let change = if stays { String::new() } else { format!(" and `{command}` in the stub") };
        let what = format!("the payload packed as {}{change}{note}", other.how);
        let entry = whole(stub, &stub.replacen(old, command, 1), &other.bytes)?;
        (saves > 0).then_some(Hint { saves, what, entry })
    };
    let mut found: Vec<Hint> = Vec::new();
    let mut seen = Vec::new();
    for other in packer::all(&data) {
        if !seen.contains(&other.by) {
            seen.push(other.by);
            found.extend(hint(&other, ""));
        }
    }
    let note = "; `xz` complains on standard error and fails, but has written everything";
    let raw = packer::raw(&data).and_then(|raw| hint(&raw, note));
    // Only where it is better than what is clean.
    found.extend(raw.filter(|raw| found.iter().all(|hint| hint.saves < raw.saves)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> (Vec<u8>, usize) {
        let top = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/entries/accept/");
        let bytes = std::fs::read(format!("{top}{name}/engine")).unwrap();
        let marks: [&[u8]; 2] = [b"\xfd7zXZ\0", b"\x1f\x8b"];
        let at = |mark: &&[u8]| bytes.windows(mark.len()).position(|window| window == *mark);
        let stub = marks.iter().find_map(at).unwrap();
        (bytes, stub)
    }

    #[test]
    fn a_hint_is_true_for_the_entry_it_is_given_for() {
        let (bytes, stub) = entry("rules-example-2");
        let hints = all(&bytes, stub);
        let by = |part: &str| hints.iter().find(|hint| hint.what.contains(part)).unwrap();
        let lzma = by("packed as lzma");
        let data = packer::unpacked(&bytes[stub..]).unwrap().1;
        let smallest = &packer::all(&data)[0];
        assert_eq!(lzma.saves, bytes.len() - stub - smallest.bytes.len());
        assert_eq!(lzma, &hints[0]);
        assert!(hints.iter().any(|hint| hint.what.contains("`tail -n+`") && hint.saves == 1));
        assert!(hints.iter().any(|hint| hint.what.contains("a path with a blank")));
    }

    #[test]
    fn an_entry_of_gzip_is_told_what_each_packer_saves() {
        let data = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/src/engine.c"));
        let data = data.unwrap();
        let mut all_packed = packer::all(&data).into_iter();
        let packed = all_packed.find(|packed| packed.how == "gzip -9").unwrap();
        let stub = "#!/bin/sh\ntail -n+3 $0|gzip -d\n";
        let hints = all(&[stub.as_bytes(), &packed.bytes].concat(), stub.len());
        let by = |part: &str| hints.iter().find(|hint| hint.what.contains(part)).unwrap();
        let zopfli = by("packed as gzip, by Zopfli");
        assert!(!zopfli.what.contains("in the stub"), "{zopfli:?}");
        let lzma = by("packed as lzma");
        assert!(lzma.what.contains(" and `xz -d` in the stub"), "{lzma:?}");
        assert!(lzma.saves > zopfli.saves, "{hints:?}");
    }

    #[test]
    fn the_entry_of_a_hint_has_what_it_promises() {
        let (bytes, stub) = entry("rules-example-2");
        let payload = packer::unpacked(&bytes[stub..]).unwrap().1;
        for hint in all(&bytes, stub) {
            assert_eq!(hint.entry.len(), bytes.len() - hint.saves, "{}", hint.what);
            if hint.what.starts_with("the payload packed as lzma") {
                let at = hint.entry.len() - packer::all(&payload)[0].bytes.len();
                assert_eq!(packer::unpacked(&hint.entry[at..]).unwrap().1, payload);
            }
        }
    }

    #[test]
    fn a_place_that_is_named_by_its_byte_moves_with_the_stub() {
        let begins = |stub: &str| {
            let offset = stub.split("tail -c").nth(1).unwrap().trim_start_matches([' ', '+']);
            offset.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<usize>().unwrap()
        };
        let mut tried = 0;
        for filler in [20, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72] {
            let of = |offset: usize| {
                format!("#!/bin/sh\n#{}\ntail -c +{offset} $0 | xz -d > $T\n", "x".repeat(filler))
            };
            let length = (1..).find(|length| of(length + 1).len() == *length);
            let Some(length) = length.filter(|length| *length < 500) else { continue };
            let old = of(length + 1);
            for (long, short) in [("tail -c +", "tail -c+"), (" | ", "|")] {
                let Some(new) = whole(&old, &old.replace(long, short), b"PACKED") else { continue };
                let at = new.windows(6).position(|window| window == b"PACKED").unwrap();
                assert_eq!(begins(std::str::from_utf8(&new[..at]).unwrap()), at + 1);
                tried += 1;
            }
        }
        assert!(tried > 20, "{tried}");
    }

    #[test]
    fn a_blank_that_is_saved_is_shown() {
        let stub = "#!/bin/sh\ntail -n+3 $0 | xz -d > $T\n";
        let hints = all(stub.as_bytes(), stub.len());
        let told: Vec<&str> = hints.iter().map(|hint| hint.what.as_str()).collect();
        assert!(told.contains(&"`|` for ` | `") && told.contains(&"`>` for ` > `"), "{told:?}");
    }

    #[test]
    fn a_long_stub_before_a_packed_executable_is_told() {
        let program = [b"\x7fELF".as_slice(), &b"some code ".repeat(60)].concat();
        let packed = &packer::all(&program)[0];
        let stub = format!("#!/bin/sh\n#{}\n", "x".repeat(900));
        let entry = [stub.as_bytes(), &packed.bytes].concat();
        let hints = all(&entry, stub.len());
        let anew = hints.iter().find(|hint| hint.what.contains("`gate4k pack`")).unwrap();
        assert!(anew.saves > 800, "{anew:?}");
    }

    #[test]
    fn where_nothing_is_to_be_saved_nothing_is_said() {
        let data = b"int main(){}\n".repeat(30);
        let packed = &packer::all(&data)[0];
        let stub = format!("#!/bin/sh\ntail -n+3 $0|{}\n", packed.command);
        let entry = [stub.as_bytes(), &packed.bytes].concat();
        assert_eq!(all(&entry, stub.len()), []);
        assert_eq!(all(b"\x7fELF", 0), []);
        assert_eq!(all(b"x", 5), []);
    }
}
