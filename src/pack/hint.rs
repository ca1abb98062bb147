//! Bytes that an entry could save: each was found by doing it to this very entry.

use super::packer;

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
    let mut found: Vec<Hint> = repacked(stub, packed).into_iter().collect();
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

/// The same payload by another packer, with the command in the stub that it takes.
fn repacked(stub: &[u8], packed: &[u8]) -> Option<Hint> {
    let (by, data) = packer::unpacked(packed)?;
    let text = std::str::from_utf8(stub).ok()?;
    packer::all(&data)
        .into_iter()
        .filter_map(|other| {
            // `lzma -d` does not read all that `xz -d` reads, but what is packed here it does.
            let known = [by.command(), "lzma -d", "unxz", "gunzip", "bunzip2", "zcat", "xzcat"];
            let old = known.into_iter().find(|command| text.contains(command))?;
            let new = other.by.command();
            let stays = other.by == by && old.len() <= new.len();
            let command = if stays { old } else { new };
            let before = stub.len() + packed.len();
            let after = stub.len() - old.len() + command.len() + other.bytes.len();
            let saves = before.checked_sub(after).filter(|saves| *saves > 0)?;
            let change = if stays { String::new() } else { format!(" and `{new}` in the stub") };
            Some(Hint { saves, what: format!("the payload packed as {}{change}", other.how) })
        })
        .max_by_key(|hint| hint.saves)
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
        let first = &hints[0];
        assert!(first.what.starts_with("the payload packed as lzma"), "{hints:?}");
        let data = packer::unpacked(&bytes[stub..]).unwrap().1;
        let smallest = &packer::all(&data)[0];
        assert_eq!(first.saves, bytes.len() - stub - smallest.bytes.len());
        assert!(hints.iter().any(|hint| hint.what.contains("`tail -n+`") && hint.saves == 1));
        assert!(hints.iter().any(|hint| hint.what.contains("a path with a blank")));
    }

    #[test]
    fn where_nothing_is_to_be_saved_nothing_is_said() {
        let data = b"int main(){}\n".repeat(30);
        let packed = &packer::all(&data)[0];
        let stub = format!("#!/bin/sh\ntail -n+3 $0|{}\n", packed.by.command());
        let entry = [stub.as_bytes(), &packed.bytes].concat();
        assert_eq!(all(&entry, stub.len()), []);
        assert_eq!(all(b"\x7fELF", 0), []);
        assert_eq!(all(b"x", 5), []);
    }
}
