//! Stubs: the shortest forms that unpack a source, build or read it, start it, and leave nothing.

use super::language::Language;
use super::packer::{self, Packed};

/// The way in which a source is started.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Its language.
    pub(crate) language: Language,
    /// The program that compiles or reads it.
    pub(crate) program: String,
    /// Words for that.
    pub(crate) flags: String,
}

impl Recipe {
    /// The usual program and flags of the language, but for what is given.
    pub fn new(language: Language, program: Option<&str>, flags: Option<&str>) -> Recipe {
        Recipe {
            language,
            program: program.unwrap_or(language.program()).to_owned(),
            flags: flags.unwrap_or(language.flags()).trim().to_owned(),
        }
    }

    /// The program with its flags.
    pub(crate) fn command(&self) -> String {
        [self.program.as_str(), self.flags.as_str()]
            .iter()
            .filter(|word| !word.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The stubs for what `unpack` unpacks; the packed bytes begin on the line behind each.
    fn stubs(&self, unpack: &str) -> Vec<String> {
        let command = self.command();
        let build = |language: &str| {
            vec![format!(
                "#!/bin/sh\nT=/tmp/$$;tail -n+3 $0|{unpack}|{command} -o$T {language}-;$T;rm $T;exit\n"
            )]
        };
        // Read from a pipe that has a name, or given as one word: either way no file is made.
        let read = |switch: &str| {
            vec![
                format!("#!/bin/bash\nexec {command} <(tail -n+3 $0|{unpack})\n"),
                format!("#!/bin/sh\nexec {command} {switch} \"$(tail -n+3 $0|{unpack})\"\n"),
            ]
        };
        match self.language {
            Language::C => build("-xc "),
            Language::Cpp => build("-xc++ "),
            Language::Rust => build(""),
            Language::Python => read("-c"),
            Language::Perl => read("-e"),
            Language::Executable => vec![format!(
                "#!/bin/sh\nT=/tmp/$$;tail -n+3 $0|{unpack}>$T;chmod +x $T;$T;rm $T;exit\n"
            )],
        }
    }
}

/// A whole entry that may work.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The number of them that unpack and start the rest.
    pub(crate) stub: usize,
    /// The packing of the rest, in words.
    pub(crate) how: String,
}

/// All candidates for a source, the smallest first.
pub fn all(source: &[u8], recipe: &Recipe) -> Vec<Candidate> {
    let mut found = Vec::new();
    if recipe.language == Language::Executable {
        found.push(Candidate { bytes: source.to_vec(), stub: 0, how: "as it is".to_owned() });
    }
    for Packed { command, how, bytes, .. } in packer::all(source) {
        found.extend(recipe.stubs(&command).into_iter().map(|stub| Candidate {
            stub: stub.len(),
            how: how.clone(),
            bytes: [stub.as_bytes(), &bytes].concat(),
        }));
    }
    found.sort_by_key(|candidate| candidate.bytes.len());
    found
}

/// True if a file begins with one of the stubs of [`all`], so that it may be replaced by a newer packing.
pub(crate) fn is_packed(entry: &[u8]) -> bool {
    let mut lines = entry.split(|byte| *byte == b'\n');
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return false };
    let begins = |start: &str| second.starts_with(start.as_bytes());
    let holds = |part: &str| second.windows(part.len()).any(|window| window == part.as_bytes());
    match first {
        b"#!/bin/sh" => {
            begins("T=/tmp/$$;tail -n+3 $0|") || begins("exec ") && holds(" \"$(tail -n+3 $0|")
        }
        b"#!/bin/bash" => begins("exec ") && holds(" <(tail -n+3 $0|"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_stubs_are_known_as_ours() {
        for language in
            [Language::C, Language::Cpp, Language::Rust, Language::Python, Language::Perl]
        {
            for candidate in all(b"x = 1\n", &Recipe::new(language, None, None)) {
                assert!(is_packed(&candidate.bytes), "{language:?}: {}", candidate.how);
            }
        }
        for other in
            ["", "int main(){}", "#!/bin/sh\n", "#!/bin/sh\nT=`mktemp`\ntail -n+3 $0|xz -d>$T\n"]
        {
            assert!(!is_packed(other.as_bytes()), "{other}");
        }
        assert!(!is_packed(b"\x7fELF"));
    }

    #[test]
    fn candidates_come_by_size_and_their_packed_bytes_where_the_stub_says() {
        let source = b"int main(){return 0;}\n".repeat(20);
        for language in [Language::C, Language::Rust, Language::Python, Language::Perl] {
            let found = all(&source, &Recipe::new(language, None, None));
            assert!(found.is_sorted_by_key(|candidate| candidate.bytes.len()));
            for candidate in &found {
                let (stub, packed) = candidate.bytes.split_at(candidate.stub);
                assert!(stub.starts_with(b"#!/bin/"));
                // `tail -n+3` begins where the third line does.
                let lines = stub.iter().filter(|byte| **byte == b'\n').count();
                assert!(lines == 2 && stub.ends_with(b"\n"));
                assert_eq!(packer::unpacked(packed).unwrap().1, source);
            }
        }
    }

    #[test]
    fn the_caller_chooses_program_and_flags() {
        let recipe = Recipe::new(Language::C, Some("clang"), Some(" -O3 -lm "));
        let found = all(b"int x;", &recipe);
        let text = String::from_utf8_lossy(&found[0].bytes).into_owned();
        assert!(text.contains("|clang -O3 -lm -o$T -xc -;$T;rm $T;exit\n"), "{text}");
    }
}
