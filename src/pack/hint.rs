//! Bytes that an entry could save: each was found by doing it to this very entry.

use super::packer::{self, Packed};

/// One way to save bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// How many.
    pub saves: usize,
    /// How.
    pub what: String,
}

/// What means the same to a shell with fewer bytes, and what it costs.
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

/// What a script with that many bytes of stub could save, the most first.
#[must_use]
pub fn all(entry: &[u8], stub: usize) -> Vec<Hint> {
    let Some((stub, packed)) = entry.split_at_checked(stub) else { return Vec::new() };
    let mut found: Vec<Hint> = repacked(stub, packed);
    if let Ok(stub) = std::str::from_utf8(stub) {
        found.extend(SHORTER.iter().filter_map(|(long, short, cost)| {
            let saves = stub.matches(long).count() * (long.len() - short.len());
            let what = format!("`{}` for `{}`{cost}", short.trim(), long.trim());
            (saves > 0).then_some(Hint { saves, what })
        }));
    }
    found.sort_by_key(|hint| std::cmp::Reverse(hint.saves));
    found
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
        (saves > 0).then_some(Hint { saves, what })
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
