//! engines.json: cutechess's array of engines, and the choice of one of them (rule 7.3).

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use serde::Serialize;

use crate::model::command_words::{base_name, split_command};
use crate::model::source_place::{SourcePlace, excerpt};
use crate::model::text::escape;
use crate::submission::json::{self, Json, JsonMistake, JsonNode};

/// Keys whose strings reach the engine one by one.
pub(super) const LISTS: [&str; 3] = ["initStrings", "arguments", "args"];

/// A configuration file with the engine chosen from it.
#[derive(Clone, Debug)]
pub struct EnginesJson {
    /// The file that it was read from.
    pub path: PathBuf,
    /// Its text, broken UTF-8 replaced.
    pub text: String,
    /// The chosen engine's object, or why there is none; the latter fails rule `payload`.
    pub selected: Result<Json, ConfigProblem>,
}

/// A mistake in a configuration, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfigProblem {
    /// The place.
    pub(crate) place: SourcePlace,
    /// The mistake.
    pub(crate) message: String,
    /// The line with a caret.
    pub(crate) excerpt: String,
    /// The remedy.
    pub(crate) help: String,
}

impl ConfigProblem {
    fn new(text: &str, mistake: JsonMistake, help: impl Into<String>) -> ConfigProblem {
        ConfigProblem {
            place: SourcePlace::of(text, mistake.span.start),
            // The mistake repeats keys and values as they are written.
            message: escape(mistake.message.as_bytes(), 1000),
            excerpt: excerpt(text, mistake.span),
            help: help.into(),
        }
    }

    /// A file that is not even text.
    pub(crate) fn not_text(message: impl Into<String>, place: SourcePlace) -> ConfigProblem {
        ConfigProblem {
            place,
            message: message.into(),
            excerpt: String::new(),
            help: "write engines.json as UTF-8 text, as cutechess does".to_owned(),
        }
    }
}

/// The reason that no engine was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectError {
    /// The file is at fault.
    Problem(ConfigProblem),
    /// `--name` names no engine of it; these there are.
    NoSuchName(Vec<String>),
}

/// The words of every engine's command, to find the entry's file among others; none if the text is no
/// array of engines.
pub fn commands(text: &str) -> Vec<String> {
    let Ok(Json { node: JsonNode::Array(engines), .. }) = json::parse(text) else {
        return Vec::new();
    };
    engines.iter().flat_map(words_of).collect()
}

/// The words of an engine's command.
fn words_of(engine: &Json) -> Vec<String> {
    let command = engine.get("command").and_then(Json::scalar);
    split_command(command.unwrap_or_default())
}

/// True if one of the words is the path of a file of that name.
pub(crate) fn starts(words: &[String], file_name: &str) -> bool {
    words.iter().any(|word| base_name(word) == file_name)
}

/// Chooses the engine called `name`; without a name the only one, or the only one whose command starts
/// the entry's file.
///
/// # Errors
/// When the text is no array of engines, leaves open which one is meant, or has none of that name.
pub fn select(text: &str, name: Option<&str>, file_name: &str) -> Result<Json, SelectError> {
    let problem = |span: Range<usize>, message: String, help: &str| {
        SelectError::Problem(ConfigProblem::new(text, JsonMistake { span, message }, help))
    };
    let value = json::parse(text).map_err(|mistake| {
        let help =
            if text.trim().is_empty() { "leave the file out" } else { "mend the JSON there" };
        SelectError::Problem(ConfigProblem::new(text, mistake, help))
    })?;
    let start = value.span.start;
    let kind = value.kind();
    let JsonNode::Array(mut engines) = value.node else {
        let message = format!("an array of engines is expected, not {kind}");
        return Err(problem(start..start + 1, message, SHAPE));
    };
    for engine in &engines {
        check_shape(engine)
            .map_err(|m| SelectError::Problem(ConfigProblem::new(text, m, SHAPE)))?;
    }
    let called = |engine: &Json| engine.get("name").and_then(Json::scalar).map(str::to_owned);
    let names: Vec<String> = (engines.iter().filter_map(called).take(12))
        .map(|name| escape(name.as_bytes(), 40))
        .collect();
    if engines.is_empty() {
        return Err(problem(
            value.span,
            "there is no engine in this array".to_owned(),
            "write the engine's object into it, or leave the file out",
        ));
    }
    let total = engines.len();
    match name {
        Some(name) => {
            engines.retain(|engine| called(engine).as_deref() == Some(name));
            match engines.as_slice() {
                [] => Err(SelectError::NoSuchName(names)),
                [_] => Ok(engines.remove(0)),
                [_, second, ..] => Err(problem(
                    second.span.clone(),
                    format!(
                        "{} engines are called {:?}",
                        engines.len(),
                        escape(name.as_bytes(), 40)
                    ),
                    "give each engine a name of its own",
                )),
            }
        }
        None if total == 1 => Ok(engines.remove(0)),
        None => {
            let second = engines[1].span.clone();
            engines.retain(|engine| starts(&words_of(engine), file_name));
            match engines.as_slice() {
                [_] => Ok(engines.remove(0)),
                _ => Err(problem(
                    second,
                    format!(
                        "there are {total} engines, and it is open which is meant: {}",
                        names.join(", ")
                    ),
                    if names.iter().collect::<BTreeSet<_>>().len() < names.len() {
                        "leave only one in the file; or give each engine a name of its own, and choose one with --name"
                    } else {
                        "choose one with --name, or leave only one in the file"
                    },
                )),
            }
        }
    }
}

/// The remedy for a wrong shape.
const SHAPE: &str =
    "write it as cutechess does: [ { \"name\": …, \"command\": …, \"options\": [ … ] } ]";

/// Checks what the engine could see; the rest cutechess reads as it likes.
fn check_shape(engine: &Json) -> Result<(), JsonMistake> {
    let wrong = |value: &Json, what: &str| {
        Err(JsonMistake {
            span: value.span.clone(),
            message: format!("{what} is expected, not {}", value.kind()),
        })
    };
    if engine.members().is_none() {
        return wrong(engine, "an engine's object");
    }
    for key in ["name", "command", "workingDirectory", "stderrFile", "protocol"] {
        match engine.get(key) {
            Some(value) if !matches!(value.node, JsonNode::String(_) | JsonNode::Null) => {
                return wrong(value, &format!("a string for \"{key}\""));
            }
            _ => {}
        }
    }
    for key in LISTS {
        match engine.get(key).map(|value| (value, &value.node)) {
            Some((_, JsonNode::Array(items))) => {
                if let Some(item) = items.iter().find(|item| item.scalar().is_none()) {
                    return wrong(item, &format!("a string in \"{key}\""));
                }
            }
            Some((value, JsonNode::Object(_) | JsonNode::Bool(_) | JsonNode::Number(_))) => {
                return wrong(value, &format!("an array of strings for \"{key}\""));
            }
            _ => {}
        }
    }
    let Some(options) = engine.get("options") else {
        return Ok(());
    };
    let items = match &options.node {
        JsonNode::Array(items) => items.as_slice(),
        JsonNode::Null => &[],
        // the shape that rule 7.3 itself shows: "TuringEngine":"...."
        JsonNode::Object(members) => {
            let no_value =
                |value: &&Json| matches!(value.node, JsonNode::Array(_) | JsonNode::Object(_));
            return match members.iter().map(|member| &member.value).find(no_value) {
                Some(value) => wrong(value, "one value for an option"),
                None => Ok(()),
            };
        }
        _ => return wrong(options, "an array for \"options\""),
    };
    for option in items {
        if option.members().is_none() {
            return wrong(option, "an option's object");
        }
        match option.get("name").map(|name| (name, &name.node)) {
            Some((_, JsonNode::String(_))) => {}
            Some((name, _)) => return wrong(name, "a string for the option's \"name\""),
            None => {
                return Err(JsonMistake {
                    span: option.span.clone(),
                    message: "the option has no \"name\"".to_owned(),
                });
            }
        }
        for key in ["value", "default"] {
            match option.get(key) {
                Some(value) if matches!(value.node, JsonNode::Array(_) | JsonNode::Object(_)) => {
                    return wrong(value, &format!("one value for the option's \"{key}\""));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by `tests/suite/fuzz.rs`.
    #[test]
    fn a_key_of_control_characters_moves_no_terminal() {
        let text = "[{\"\u{7f}\":1,\"\u{7f}\":1}]";
        let Err(SelectError::Problem(problem)) = select(text, None, "engine") else {
            panic!("a key stands twice");
        };
        let shown = format!("{}{}{}", problem.message, problem.excerpt, problem.help);
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    }

    fn problem(text: &str, name: Option<&str>) -> String {
        match select(text, name, "b") {
            Err(SelectError::Problem(problem)) => {
                assert!(!problem.help.is_empty());
                format!("{} {}", problem.place, problem.message)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_engine_is_chosen() {
        let two = r#"[{"name":"a"},{"name":"b","command":"./b"}]"#;
        let b = select(two, Some("b"), "x").unwrap();
        assert_eq!(b.get("command").unwrap().scalar(), Some("./b"));
        assert!(select(r#"[{"command":"./x"}]"#, None, "y").is_ok());
        assert_eq!(
            select(two, Some("c"), "x"),
            Err(SelectError::NoSuchName(vec!["a".into(), "b".into()]))
        );
    }

    #[test]
    fn of_several_the_one_that_starts_the_entry_is_chosen() {
        let two = r#"[{"command":"./a"},{"command":"/x/b -q"}]"#;
        let b = select(two, None, "b").unwrap();
        assert_eq!(b.get("command").unwrap().scalar(), Some("/x/b -q"));
        assert!(select(two, None, "c").is_err());
        assert_eq!(commands(two), ["./a", "/x/b", "-q"]);
        assert!(commands("{").is_empty());
    }

    #[test]
    fn what_is_open_or_wrong_is_pointed_at() {
        let two = "[{\"name\":\"a\"},\n {\"name\":\"a\"}]";
        assert!(problem(two, None).starts_with("2:2 there are 2 engines"));
        assert!(problem(two, Some("a")).starts_with("2:2 2 engines are called"));
        assert!(problem("[]", None).starts_with("1:1 there is no engine"));
        assert!(problem("{}", None).starts_with("1:1 an array of engines"));
        assert!(problem("[\n 7]", None).starts_with("2:2 an engine's object"));
        assert!(problem("[{\"command\":7}]", None).starts_with("1:13 a string for \"command\""));
        assert!(problem("[{\"options\":7}]", None).starts_with("1:13 an array"));
        assert!(problem("[{\"options\":[{}]}]", None).starts_with("1:14 the option has no"));
        assert!(problem("[{\"initStrings\":[[]]}]", None).starts_with("1:18 a string in"));
        assert!(problem("[{", None).starts_with("1:3 a key in double quotes"));
    }
}
