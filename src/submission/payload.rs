//! Rule `payload` (7.3): what of engines.json could be part of the engine, field by field.
//!
//! Two readings of "with irrelevant characters removed" are kept: the canonical form
//! `"Name":"value"` of the rule's example, which decides, and the bare value; where they disagree
//! about the limit, the organisers have to say (docs/decisions/003).

use std::collections::HashSet;

use serde::Serialize;

use crate::model::command_words::{base_name, split_command};
use crate::model::rule::RuleId;
use crate::model::source_place::SourcePlace;
use crate::model::text::escape;
use crate::model::units::Bytes;
use crate::model::verdict::Finding;
use crate::policy::allowlist::Allowlist;
use crate::policy::options::{self, Judgement, NameMatch};
use crate::submission::engines_json::{EnginesJson, LISTS};
use crate::submission::json::{Json, JsonNode, Member, quoted};

/// The keys that an option may have beside its name, type and value.
const UNSENT: [&str; 5] = ["default", "alias", "choices", "min", "max"];

/// The number of options that may be configuration by a pattern alone; the UCI protocol has fewer switches that the list does not name.
const MOST_BY_PATTERN: usize = 8;

/// The longest path of a command or of a file for stderr, in bytes; a longer one is counted as part of the entry, since an
/// engine can read both of them, and PATH_MAX would be as large as the whole limit.
const PATH_BYTES: usize = 255;
/// The longest path of a working directory, which the engine can read: as of an option that names a directory.
const DIRECTORY_BYTES: usize = 128;

/// Both readings of a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// As `"Name":"value"`.
    pub(crate) canonical: Bytes,
    /// The value alone.
    pub(crate) bare: Bytes,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.canonical += other.canonical;
        self.bare += other.bare;
    }
}

/// The decision on whether a field counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// The field is part of the engine.
    Counted,
    /// The field has the name of configuration, but no such value, and so is part of the engine.
    CountedDespiteName,
    /// The field is configuration, or no engine sees it.
    NotCounted,
}

/// One field, or one option or line of a field.
#[derive(Clone, Debug, Serialize)]
pub struct PayloadField {
    /// Its name: `command`, `option Hash`, `initStrings[2]`.
    pub(crate) field: String,
    /// Its place in engines.json.
    pub(crate) place: SourcePlace,
    /// The decision on whether it counts.
    pub counting: Counting,
    /// The bytes that it counts, or would.
    #[serde(flatten)]
    pub(crate) size: Counts,
    /// The reason.
    pub(crate) reason: String,
}

/// The bytes that engines.json adds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PayloadReport {
    /// Every field with what it counts.
    pub fields: Vec<PayloadField>,
    /// The sum of what counts; none where the file could not be understood.
    pub(crate) counts: Option<Counts>,
}

impl PayloadReport {
    /// The report of an entry without engines.json.
    pub fn nothing() -> PayloadReport {
        PayloadReport { fields: Vec::new(), counts: Some(Counts::default()) }
    }

    /// The fields that count and are given to no engine by gate4k, which starts a file alone and sets its options: words of the command,
    /// arguments, initStrings.
    pub(crate) fn not_given(&self) -> Vec<&str> {
        let is_given =
            |field: &str| field != "command" && !LISTS.iter().any(|list| field.starts_with(list));
        let counted = self.fields.iter().filter(|field| field.counting != Counting::NotCounted);
        counted.map(|field| field.field.as_str()).filter(|field| !is_given(field)).collect()
    }
}

/// Counts a configuration for the entry called `file_name`, and makes the finding.
pub fn judge(
    config: Option<&EnginesJson>,
    file_name: &str,
    list: &Allowlist,
) -> (PayloadReport, Finding) {
    let Some(config) = config else {
        let finding = Finding::pass(RuleId::Payload, "no engines.json, so nothing of it counts");
        let finding = finding.with("fields", [(); 0]);
        return (PayloadReport::nothing(), finding);
    };
    let shown = escape(config.path.to_string_lossy().as_bytes(), 200);
    match &config.selected {
        Ok(engine) => {
            let report = count(engine, &config.text, file_name, list);
            let finding = finding(&report, &shown);
            (report, finding)
        }
        Err(problem) => {
            let finding = Finding::fail(
                RuleId::Payload,
                format!("{shown}:{}: {}", problem.place, problem.message),
            )
            .details(problem.excerpt.lines().map(str::to_owned))
            .with("config", &shown)
            .with("line", problem.place.line)
            .with("column", problem.place.column)
            .with("problem", &problem.message)
            .help(&problem.help);
            (PayloadReport::default(), finding)
        }
    }
}

fn finding(report: &PayloadReport, shown: &str) -> Finding {
    let counts = report.counts.unwrap_or_default();
    let counted = |f: &&PayloadField| f.counting != Counting::NotCounted;
    let number = report.fields.iter().filter(counted).count();
    let total = report.fields.len();
    let summary = if number == 0 {
        format!("nothing of engines.json counts ({total} fields)")
    } else {
        let verb = if number == 1 { "counts" } else { "count" };
        format!(
            "{number} of {total} fields of engines.json {verb}: {} as \"Name\":\"value\", {} as bare values",
            counts.canonical, counts.bare
        )
    };
    let despite = |f: &PayloadField| f.counting == Counting::CountedDespiteName;
    let finding = if report.fields.iter().any(despite) {
        Finding::advice(RuleId::Payload, summary)
            .help("give these options values that configure, or leave them out")
    } else {
        Finding::pass(RuleId::Payload, summary)
    };
    let line = |f: &PayloadField| match f.counting {
        Counting::NotCounted => format!("{}: {} does not count: {}", f.place, f.field, f.reason),
        _ => format!(
            "{}: {} counts {} (bare {}): {}",
            f.place, f.field, f.size.canonical, f.size.bare.0, f.reason
        ),
    };
    finding
        .details(report.fields.iter().filter(counted).map(line))
        .with("config", shown)
        .with("fields", &report.fields)
        .with("counted", counts.canonical)
        .with("counted_bare", counts.bare)
}

/// Counts one engine's object of `text`.
pub fn count(engine: &Json, text: &str, file_name: &str, list: &Allowlist) -> PayloadReport {
    let mut counter =
        Counter { text, file_name, list, fields: Vec::new(), set: HashSet::new(), by_pattern: 0 };
    for member in engine.members().unwrap_or_default() {
        counter.member(member);
    }
    let mut counts = Counts::default();
    for field in counter.fields.iter().filter(|f| f.counting != Counting::NotCounted) {
        counts.add(field.size);
    }
    PayloadReport { fields: counter.fields, counts: Some(counts) }
}

struct Counter<'a> {
    text: &'a str,
    file_name: &'a str,
    list: &'a Allowlist,
    fields: Vec<PayloadField>,
    /// The options set so far: a second setting is no configuration but could be a digit of a number.
    set: HashSet<String>,
    /// The number of options that a pattern made configuration: of enough switches, each is a bit of the engine.
    by_pattern: usize,
}

impl Counter<'_> {
    fn push(&mut self, at: &Json, field: String, counting: Counting, size: Counts, reason: String) {
        self.fields.push(PayloadField {
            field,
            place: SourcePlace::of(self.text, at.span.start),
            counting,
            size,
            reason,
        });
    }

    /// A string under its key, counted or not.
    fn string(&mut self, member: &Member, value: &str, counting: Counting, reason: &str) {
        let size = pair(&member.key, value);
        let field = escape(member.key.as_bytes(), 60);
        self.push(&member.value, field, counting, size, reason.to_owned());
    }

    fn member(&mut self, member: &Member) {
        let value = member.value.scalar().unwrap_or_default();
        let key = member.key.as_str();
        match key {
            "command" => self.command(member, value),
            "workingDirectory" if value.is_empty() || value == "." => {
                self.string(member, value, Counting::NotCounted, "names no directory");
            }
            "workingDirectory" => match options::not_paths(value, DIRECTORY_BYTES) {
                None => {
                    self.string(member, value, Counting::NotCounted, "where the engine is started")
                }
                Some(why) => self.string(member, value, Counting::CountedDespiteName, &why),
            },
            "stderrFile" => match options::not_paths(value, PATH_BYTES) {
                None => self.string(member, value, Counting::NotCounted, "where stderr is kept"),
                Some(why) => {
                    let why = format!("stderrFile {why}");
                    self.string(member, value, Counting::CountedDespiteName, &why);
                }
            },
            "options" => self.options(&member.value),
            key if LISTS.contains(&key) => self.lines(member),
            key => {
                let reason = match key {
                    "name" => "the display name, which no engine sees",
                    "protocol" | "timeoutScaleFactor" | "whitepov" | "ponder" | "restart"
                    | "validateClaims" | "debug" | "variants" | "rating" | "strikes" => {
                        "for the program that runs the games, not for the engine"
                    }
                    _ => "not a key that cutechess knows, so no engine sees it",
                };
                let text = match &member.value.node {
                    JsonNode::String(text) => text.clone(),
                    _ => member.value.canonical(),
                };
                self.string(member, &text, Counting::NotCounted, reason);
            }
        }
    }

    /// The path does not count, since the entry is started under another; every other word does.
    fn command(&mut self, member: &Member, value: &str) {
        let words = split_command(value);
        let entry = |word: &String| base_name(word) == self.file_name;
        let path = words.iter().position(entry).unwrap_or(0);
        if let Some(why) = words.get(path).and_then(|word| options::not_paths(word, PATH_BYTES)) {
            self.string(member, value, Counting::CountedDespiteName, &format!("command {why}"));
            return;
        }
        let extra: Vec<&str> = (words.iter().enumerate())
            .filter(|(index, _)| *index != path)
            .map(|(_, word)| word.as_str())
            .collect();
        if extra.is_empty() {
            let reason = "the entry's path; it is started under another";
            self.string(member, value, Counting::NotCounted, reason);
        } else {
            let reason =
                "words beside the entry's path reach the engine (put a path with blanks in quotes)";
            self.string(member, &extra.join(" "), Counting::Counted, reason);
        }
    }

    /// initStrings and arguments: every line of them reaches the engine as it is.
    fn lines(&mut self, member: &Member) {
        let items = match &member.value.node {
            JsonNode::Array(items) => items.as_slice(),
            JsonNode::Null => &[],
            _ => std::slice::from_ref(&member.value),
        };
        let mut opened = false;
        for (index, item) in items.iter().enumerate() {
            let line = item.scalar().unwrap_or_default();
            let mut size = Counts {
                // in quotes, with the comma or bracket behind it
                canonical: Bytes::of(quoted(line)) + Bytes(1),
                bare: Bytes::of(line),
            };
            let (counting, reason) = if member.key == "initStrings" {
                self.init_line(line)
            } else {
                (Counting::Counted, "the engine sees its arguments".to_owned())
            };
            if counting != Counting::NotCounted && !opened {
                opened = true;
                // the key, the colon and the opening bracket
                size.canonical += Bytes::of(quoted(&member.key)) + Bytes(2);
            }
            let field = format!("{}[{index}]", member.key);
            self.push(item, field, counting, size, reason);
        }
    }

    /// A line is configuration only if it is exactly one setting of an uncounted option.
    fn init_line(&mut self, line: &str) -> (Counting, String) {
        let raw = "it reaches the engine's input as it is";
        let Some(setting) = line.strip_prefix("setoption name ") else {
            return (Counting::Counted, raw.to_owned());
        };
        let (name, value) = match setting.split_once(" value ") {
            Some((name, value)) => (name, Some(value)),
            None => (setting, None),
        };
        match self.option_word(name, value, NameMatch::Verbatim) {
            (Counting::Counted, why) => (Counting::Counted, format!("{raw}: {why}")),
            other => other,
        }
    }

    fn options(&mut self, options: &Json) {
        match &options.node {
            JsonNode::Array(items) => {
                for option in items {
                    self.option(option);
                }
            }
            // the shape that rule 7.3 itself shows: "TuringEngine":"...."
            JsonNode::Object(members) => {
                for Member { key, value, .. } in members {
                    self.setting(value, key, value.scalar());
                }
            }
            _ => {}
        }
    }

    fn option(&mut self, option: &Json) {
        let given = |key| option.get(key).and_then(Json::scalar);
        let name = given("name").unwrap_or_default();
        // cutechess sends the value only; what stands in for it elsewhere is taken with it
        let (value, taken) = match given("value") {
            Some(value) => (Some(value), "value"),
            None => (given("default"), "default"),
        };
        if value.is_none() && given("type") != Some("button") {
            let reason = "it has no value, so it is never sent".to_owned();
            let field = option_field(name);
            self.push(option, field, Counting::NotCounted, pair(name, ""), reason);
        } else {
            self.setting(option, name, value);
        }
        for key in UNSENT.into_iter().filter(|key| *key != taken) {
            let Some(part) = option.get(key).filter(|part| part.node != JsonNode::Null) else {
                continue;
            };
            if self.describes(name, key, part) {
                continue;
            }
            let size = match part.scalar() {
                Some(text) => pair(key, text),
                None => Counts {
                    canonical: Bytes::of(quoted(key)) + Bytes(1) + Bytes::of(part.canonical()),
                    bare: content(part),
                },
            };
            let reason = "cutechess does not send it, but it describes no configuration either";
            let field = format!("{}: {key}", option_field(name));
            self.push(part, field, Counting::Counted, size, reason.to_owned());
        }
    }

    fn setting(&mut self, at: &Json, name: &str, value: Option<&str>) {
        let (counting, reason) = self.option_word(name, value, NameMatch::Declared);
        let size = pair(name, value.unwrap_or_default());
        self.push(at, option_field(name), counting, size, reason);
    }

    /// True if a part that cutechess does not send is what it should be in an uncounted option. The
    /// event's own program is not public, so more is not taken on trust.
    fn describes(&self, name: &str, key: &str, part: &Json) -> bool {
        let judged = |name: &str, value: Option<&str>| {
            options::judge(self.list, name, value, NameMatch::Declared)
        };
        let fits = |part: &Json| {
            let word = judged(name, part.scalar());
            matches!(word, Judgement::Configuration(_) | Judgement::ByPattern(_))
        };
        if judged(name, None) == Judgement::Unlisted {
            return false;
        }
        match key {
            "default" => fits(part),
            "choices" => matches!(&part.node, JsonNode::Array(items) if items.iter().all(fits)),
            // a name that the list knows to the letter
            "alias" => part.scalar().is_some_and(|alias| {
                alias.is_empty()
                    || options::judge(self.list, alias, None, NameMatch::Verbatim)
                        != Judgement::Unlisted
            }),
            // the bounds of a number
            _ => part.scalar().is_some_and(|bound| {
                let digits = bound.strip_prefix('-').unwrap_or(bound);
                (1..=10).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
            }),
        }
    }

    fn option_word(
        &mut self,
        name: &str,
        value: Option<&str>,
        how: NameMatch,
    ) -> (Counting, String) {
        match options::judge(self.list, name, value, how) {
            Judgement::Unlisted => {
                let reason = "not on the list of uncounted options";
                (Counting::Counted, reason.to_owned())
            }
            Judgement::Implausible(why) => (Counting::CountedDespiteName, why),
            Judgement::Configuration(ground) => self.set_once(name, ground),
            Judgement::ByPattern(ground) => {
                self.by_pattern += 1;
                if self.by_pattern > MOST_BY_PATTERN {
                    let why = format!("more than {MOST_BY_PATTERN} such switches are an alphabet");
                    return (Counting::CountedDespiteName, why);
                }
                self.set_once(name, ground)
            }
        }
    }

    fn set_once(&mut self, name: &str, ground: String) -> (Counting, String) {
        if self.set.insert(name.to_ascii_lowercase()) {
            (Counting::NotCounted, ground)
        } else {
            let why = "it is set a second time, which configures nothing";
            (Counting::CountedDespiteName, why.to_owned())
        }
    }
}

/// The option for people. A name that may look like another one, by a blank at its end or by letters of other scripts,
/// stands in quotes, with all that is not ASCII as a number.
fn option_field(name: &str) -> String {
    if name.is_ascii() && name.trim() == name {
        return format!("option {}", escape(name.as_bytes(), 60));
    }
    let letter = |sign: char| match sign {
        sign if sign.is_ascii() => sign.to_string(),
        sign => format!("\\u{{{:x}}}", u32::from(sign)),
    };
    let spelled: String = name.chars().map(letter).collect();
    format!("option \"{}\"", escape(spelled.as_bytes(), 60))
}

/// The bytes of the strings and numbers in a value.
fn content(value: &Json) -> Bytes {
    match &value.node {
        JsonNode::Array(items) => items.iter().map(content).sum(),
        JsonNode::Object(members) => {
            (members.iter()).map(|member| Bytes::of(&member.key) + content(&member.value)).sum()
        }
        _ => Bytes::of(value.scalar().unwrap_or_default()),
    }
}

/// No engine announces an option with a longer name: no reading of the rule lets such a name carry the engine.
const LONGEST_NAME: usize = 64;

/// `"name":"value"` and `value`; a name that is too long to be one counts as its value does.
fn pair(name: &str, value: &str) -> Counts {
    let carrier = if name.len() > LONGEST_NAME { Bytes::of(name) } else { Bytes(0) };
    Counts {
        canonical: Bytes::of(quoted(name)) + Bytes(1) + Bytes::of(quoted(value)),
        bare: carrier + Bytes::of(value),
    }
}

#[cfg(test)]
mod tests;
