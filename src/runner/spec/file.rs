//! The players of a match in files: cutechess's engines.json, or TOML.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{PartialEngine, RequestedEngine, SpecError, time};
use crate::files::read;
use crate::game::clock::TimeControl;
use crate::model::command_words::split_command;
use crate::model::source_place::{Misplaced, parsed};
use crate::model::units::BadSize;

/// Reads a file of engines: cutechess's engines.json, or TOML with `[[engine]]` tables.
///
/// # Errors
/// Says where the file is wrong.
pub(crate) fn from_file(path: &Path) -> Result<Vec<RequestedEngine>, SpecError> {
    let text = read::text(path, read::SETTINGS)
        .map_err(|source| SpecError::Read { path: path.into(), source })?;
    let wrong = |why: String| SpecError::File { path: path.into(), why };
    let here = path.parent().unwrap_or(Path::new(""));
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let raws: Vec<PartialEngine> = if is_json {
        let engines: Vec<Cutechess> = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| wrong(error.to_string()))?;
        engines.into_iter().map(Cutechess::raw).collect::<Result<_, _>>().map_err(wrong)?
    } else {
        let file: File = parsed(&text)
            .map_err(|(span, what)| SpecError::Toml(Misplaced::new(path, &text, span, &what)))?;
        file.engine
            .into_iter()
            .map(|table| table.raw().map_err(&wrong))
            .collect::<Result<_, _>>()?
    };
    raws.into_iter().map(|raw| raw.finish(here).map_err(wrong)).collect()
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    engine: Vec<EngineTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineTable {
    name: Option<String>,
    cmd: Option<String>,
    entry: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    dir: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    init: Vec<String>,
    #[serde(default)]
    options: toml::Table,
    tc: Option<TimeControl>,
    margin: Option<String>,
    fen: Option<bool>,
    memory: Option<String>,
}

impl EngineTable {
    fn raw(self) -> Result<PartialEngine, String> {
        let option = |(name, value): (String, toml::Value)| match value {
            toml::Value::String(text) => Ok((name, text)),
            toml::Value::Integer(number) => Ok((name, number.to_string())),
            toml::Value::Boolean(flag) => Ok((name, flag.to_string())),
            other => Err(format!("the option {name} cannot be {other}")),
        };
        Ok(PartialEngine {
            name: self.name,
            command: self.cmd,
            entry: self.entry,
            arguments: self.args,
            directory: self.dir,
            environment: self.env,
            init: self.init,
            options: self.options.into_iter().map(option).collect::<Result<_, _>>()?,
            control: self.tc,
            margin: self.margin.as_deref().map(time).transpose()?,
            fen: self.fen,
            memory: match self.memory {
                Some(text) => Some(text.parse().map_err(|e: BadSize| e.to_string())?),
                None => None,
            },
        })
    }
}

/// An engine of cutechess's file; what only concerns its own window is passed over.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cutechess {
    name: String,
    command: String,
    protocol: Option<String>,
    working_directory: Option<PathBuf>,
    /// Behind those of the command, as the engines.json of an entry has them.
    #[serde(default, alias = "args")]
    arguments: StringOrList,
    #[serde(default)]
    init_strings: StringOrList,
    #[serde(default)]
    options: Vec<CutechessOption>,
}

/// A single one need not be in a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum StringOrList {
    One(String),
    List(Vec<String>),
}

impl Default for StringOrList {
    fn default() -> StringOrList {
        StringOrList::List(Vec::new())
    }
}

#[derive(Deserialize)]
struct CutechessOption {
    name: String,
    #[serde(default)]
    value: serde_json::Value,
}

impl Cutechess {
    fn raw(self) -> Result<PartialEngine, String> {
        if self.protocol.as_deref().is_some_and(|protocol| protocol != "uci") {
            return Err(format!("{} does not speak UCI", self.name));
        }
        let mut words = split_command(&self.command).into_iter();
        let text = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        Ok(PartialEngine {
            name: Some(self.name),
            command: words.next(),
            arguments: match self.arguments {
                StringOrList::One(line) => words.chain(split_command(&line)).collect(),
                StringOrList::List(more) => words.chain(more).collect(),
            },
            directory: self.working_directory,
            init: match self.init_strings {
                StringOrList::One(line) => vec![line],
                StringOrList::List(lines) => lines,
            },
            options: self
                .options
                .into_iter()
                .filter(|option| !option.value.is_null())
                .map(|option| (option.name, text(option.value)))
                .collect(),
            ..PartialEngine::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::EngineSource;
    use super::*;
    use crate::model::units::Bytes;

    #[test]
    fn files_of_both_kinds() {
        let dir = tempfile::tempdir().unwrap();
        let json = dir.path().join("engines.json");
        std::fs::write(
            &json,
            r#"[{"name":"B","command":"./b -x \"y z\" it's","protocol":"uci","workingDirectory":"w",
                "initStrings":["a","b"],
                "options":[{"name":"Hash","value":8,"type":"spin"},{"name":"Clear","type":"button"}]}]"#,
        )
        .unwrap();
        let engines = from_file(&json).unwrap();
        let EngineSource::Program(program) = &engines[0].source else {
            panic!("no program");
        };
        assert_eq!(program.command, dir.path().join("./b"));
        assert_eq!(program.arguments, ["-x", "y z", "it's"]);
        assert_eq!(engines[0].init, ["a", "b"]);
        assert_eq!(program.directory, Some(dir.path().join("w")));
        assert_eq!(engines[0].options, [("Hash".to_owned(), "8".to_owned())]);

        for (more, expected) in [
            (r#""args":["-y","z z"]"#, &["-x", "-y", "z z"][..]),
            (r#""arguments":"-y \"z z\"""#, &["-x", "-y", "z z"]),
            (r#""arguments":[]"#, &["-x"]),
        ] {
            let text = format!(r#"[{{"name":"B","command":"b -x","protocol":"uci",{more}}}]"#);
            std::fs::write(&json, text).unwrap();
            let EngineSource::Program(program) = &from_file(&json).unwrap()[0].source else {
                panic!("no program");
            };
            assert_eq!(program.arguments, expected);
        }
        let file = dir.path().join("engines.toml");
        std::fs::write(
            &file,
            "[[engine]]\nentry = \"e.sh\"\n[[engine]]\ncmd = \"x\"\ntc = \"1+1\"\nmemory = \"2G\"\n\
             options = { Hash = 8, Ponder = false }\n",
        )
        .unwrap();
        let engines = from_file(&file).unwrap();
        assert_eq!(engines[0].source, EngineSource::Entry(dir.path().join("e.sh")));
        assert_eq!(engines[1].memory, Some(Bytes(2 << 30)));
        assert_eq!(engines[1].options[1], ("Ponder".to_owned(), "false".to_owned()));
        std::fs::write(&file, "[[engine]]\ncmd = \"x\"\nhash = 3\n").unwrap();
        let error = from_file(&file).unwrap_err().to_string();
        assert!(error.contains("engines.toml:3:1: ") && error.contains("hash"), "{error}");
        std::fs::write(&file, "[[engine]]\nentry = \"e.sh\"\ninit = [\"x\"]\n").unwrap();
        let error = from_file(&file).unwrap_err().to_string();
        assert!(error.contains("only what rule 7.9 lists"), "{error}");
    }
}
