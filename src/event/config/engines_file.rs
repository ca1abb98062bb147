//! The engines of a file of their own: cutechess's engines.json, or TOML with `[[engine]]` tables, as `match --engines` reads it.

use std::path::{Path, PathBuf};

use toml::Spanned;

use super::{RawEntry, Trusted};
use crate::files::settings::SettingsError;
use crate::model::source_place::{Misplaced, TextMistake};
use crate::runner::spec::{self, EngineSource, RequestedEngine, SpecError};

/// A mistake in an event file, or in a file of engines that it names.
#[derive(Debug)]
pub(super) enum EventMistake {
    /// In the event file itself.
    Here(TextMistake),
    /// At a place of the other file.
    There(Misplaced),
}

impl From<TextMistake> for EventMistake {
    fn from(mistake: TextMistake) -> EventMistake {
        EventMistake::Here(mistake)
    }
}

impl EventMistake {
    /// The mistake at its place, in an event file with this text.
    pub(super) fn placed(self, path: &Path, text: &str) -> SettingsError {
        match self {
            EventMistake::Here(mistake) => SettingsError::wrong(path, text, mistake),
            EventMistake::There(mistake) => SettingsError::Wrong(mistake),
        }
    }
}

/// Reads the engines of a file in their order; a mistake that has no place in it is shown at the key that names the file. Their
/// settings are frozen by the file's sum, since the event file does not have them.
pub(super) fn engines(
    file: &Spanned<PathBuf>,
    here: &Path,
) -> Result<Vec<(RawEntry, Option<Trusted>)>, EventMistake> {
    let path = here.join(file.get_ref());
    let wrong = |what: String| EventMistake::Here((file.span(), what));
    let all = spec::from_file(&path).map_err(|error| match error {
        SpecError::Toml(mistake) => EventMistake::There(mistake),
        error => wrong(error.to_string()),
    })?;
    all.into_iter().map(|asked| engine(asked, file, &path).map_err(wrong)).collect()
}

fn engine(
    asked: RequestedEngine,
    file: &Spanned<PathBuf>,
    listed: &Path,
) -> Result<(RawEntry, Option<Trusted>), String> {
    let RequestedEngine { name, source, init, options, control, margin, memory, .. } = asked;
    let program = match source {
        EngineSource::Program(program) => program,
        EngineSource::Entry(_) => {
            return Err(format!("{name} is an entry; an event names it in an [[entry]]"));
        }
    };
    let others = [
        ("tc", control.is_some()),
        ("margin", margin.is_some()),
        ("memory", memory.is_some()),
        ("env", !program.environment.is_empty()),
    ];
    if let Some((key, _)) = others.iter().find(|(_, is_there)| *is_there) {
        return Err(format!(
            "{name} has {key}, which engines of an event cannot have of their own"
        ));
    }
    let found = program.look().unwrap_or_else(|_| program.command.clone());
    let span = file.span();
    let entry = RawEntry {
        name: Spanned::new(span.clone(), name),
        // Paths are seen from the event file, and these are as the other file has them.
        path: Spanned::new(span, std::path::absolute(&found).unwrap_or(found)),
        engines_json: None,
        engine: None,
        seed: None,
        rating: None,
    };
    let trusted = Trusted {
        arguments: program.arguments,
        options,
        directory: program.directory,
        init,
        listed: Some(listed.to_owned()),
    };
    Ok((entry, Some(trusted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Vec<(RawEntry, Option<Trusted>)>, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(name), text).unwrap();
        let file = Spanned::new(3..9, PathBuf::from(name));
        engines(&file, dir.path()).map_err(|mistake| match mistake {
            EventMistake::Here((span, what)) => {
                assert_eq!(span, 3..9);
                what
            }
            EventMistake::There(mistake) => mistake.to_string(),
        })
    }

    #[test]
    fn engines_of_cutechess_are_programs_that_are_trusted() {
        let json = r#"[{"name":"A","command":"/bin/sh -c x","protocol":"uci","workingDirectory":"/tmp","initStrings":["xboard off"],
            "options":[{"name":"Hash","value":64}]},{"name":"B","command":"sh"}]"#;
        let all = read("engines.json", json).unwrap();
        let names: Vec<&str> = all.iter().map(|(entry, _)| entry.name.get_ref().as_str()).collect();
        assert_eq!(names, ["A", "B"]);
        let (entry, trusted) = &all[0];
        let trusted = trusted.as_ref().unwrap();
        assert_eq!(entry.path.get_ref(), Path::new("/bin/sh"));
        assert_eq!((trusted.arguments.len(), trusted.init.len()), (2, 1));
        assert_eq!(trusted.options, [("Hash".to_owned(), "64".to_owned())]);
        assert_eq!(trusted.directory.as_deref(), Some(Path::new("/tmp")));
        assert!(trusted.listed.as_ref().unwrap().ends_with("engines.json"));
        // A name without a directory is looked for on PATH.
        assert!(all[1].0.path.get_ref().is_absolute());
    }

    #[test]
    fn what_an_event_cannot_give_an_engine_is_told() {
        for (text, expected) in [
            ("[[engine]]\nname = \"A\"\nentry = \"a\"\n", "A is an entry"),
            ("[[engine]]\nname = \"A\"\ncmd = \"a\"\ntc = \"5+1\"\n", "A has tc,"),
            ("[[engine]]\nname = \"A\"\ncmd = \"a\"\nenv = { X = \"1\" }\n", "A has env,"),
            ("[[engine]]\nnme = \"A\"\n", "engines.toml:2:1: unknown field"),
            // With its line, as a mistake in the event file itself.
            ("[[engine]]\nnme = \"A\"\n", "\n2 | nme = \"A\"\n  | ^^^"),
        ] {
            let told = read("engines.toml", text).map(|all| all.len()).unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
        assert!(
            read("engines.json", "{").map(|all| all.len()).unwrap_err().contains("engines.json")
        );
    }
}
