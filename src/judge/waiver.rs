//! Waivers as the organisers write them: `[[waiver]]` in gate4k.toml and in the file of an event.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};
use toml::Spanned;

use crate::model::rule::{RULES, RuleId};
use crate::model::source_place::{SourcePlace, TextMistake, known};
use crate::model::text::{escape, shown};

/// One decision of the organisers (rule 7.8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiver {
    /// The entry's file or directory.
    pub entry: PathBuf,
    /// The rule that it need not keep.
    pub rule: RuleId,
    /// For rule `commands`: the programs that it may start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// The reason, for everybody to read.
    pub reason: String,
    /// The day of the decision: `2026-11-21`.
    #[serde(serialize_with = "as_date")]
    pub date: String,
    /// For this file only; any file of the entry if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The line on which it is written: `gate4k.toml:12:9`.
    #[serde(skip)]
    pub place: String,
    /// The file of [`Waiver::place`].
    #[serde(skip)]
    pub file: PathBuf,
    /// The line and column of [`Waiver::place`].
    #[serde(skip)]
    pub at: SourcePlace,
}

impl Waiver {
    /// True if it is about the entry that was named by `given` and whose file is `file`.
    pub(crate) fn is_about(&self, given: &Path, file: &Path) -> bool {
        let same = |path: &Path| match (self.entry.canonicalize(), path.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => self.entry == path,
        };
        same(given) || same(file)
    }

    /// True if it is for a file with this sum.
    pub(crate) fn fits(&self, sha256: Option<&str>) -> bool {
        self.sha256.is_none() || self.sha256.as_deref() == sha256
    }

    /// The reason and the day, as reports show them.
    pub(crate) fn ground(&self) -> String {
        format!("{}, {}", escape(self.reason.as_bytes(), 300), escape(self.date.as_bytes(), 40))
    }
}

fn as_date<S: Serializer>(date: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match date.parse::<toml::value::Datetime>() {
        Ok(date) => date.serialize(serializer),
        Err(_) => serializer.serialize_str(date),
    }
}

/// A waiver that was parsed and not yet verified.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RawWaiver {
    entry: Spanned<PathBuf>,
    rule: Spanned<String>,
    programs: Option<Spanned<Vec<Spanned<String>>>>,
    reason: Spanned<String>,
    date: Spanned<toml::value::Datetime>,
    sha256: Option<Spanned<String>>,
}

impl RawWaiver {
    /// The waiver, written in the text of the file at `path`; its entry is told from the folder of that file.
    pub(crate) fn verified(self, text: &str, path: &Path) -> Result<Waiver, TextMistake> {
        let rules = RULES.iter().map(|rule| rule.name);
        let rule: RuleId = known(&self.rule, "rule", rules, |word| word.parse().ok())?;
        if !rule.is_gate() {
            return Err((
                self.rule.span(),
                format!("{rule} never rejects, so nothing can be waived"),
            ));
        }
        let programs = match self.programs {
            None if rule == RuleId::Commands => {
                let what = "a waiver for commands names the programs that it grants: add \
                            programs = [\"sed\"], with the names that the finding tells";
                return Err((self.rule.span(), what.into()));
            }
            None => Vec::new(),
            Some(programs) if rule != RuleId::Commands => {
                let what =
                    format!("only a waiver for commands grants programs, and this is for {rule}");
                return Err((programs.span(), what));
            }
            Some(programs) => names(programs)?,
        };
        if self.reason.get_ref().trim().is_empty() {
            let what = "a waiver needs a reason that others can read";
            return Err((self.reason.span(), what.into()));
        }
        let date = self.date.get_ref();
        if date.date.is_none() || date.time.is_some() {
            return Err((self.date.span(), "the day of the decision is wanted: 2026-11-21".into()));
        }
        if let Some(sha256) = &self.sha256 {
            let sum = sha256.get_ref();
            if sum.len() != 64 || !sum.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
                let what = "64 small hexadecimal digits are wanted here, as sha256sum prints them";
                return Err((sha256.span(), what.into()));
            }
        }
        let at = SourcePlace::of(text, self.entry.span().start);
        Ok(Waiver {
            entry: path.parent().unwrap_or(Path::new("")).join(self.entry.get_ref()),
            rule,
            programs,
            reason: self.reason.into_inner(),
            date: date.to_string(),
            sha256: self.sha256.map(Spanned::into_inner),
            place: format!("{}:{at}", shown(path)),
            file: path.to_owned(),
            at,
        })
    }
}

/// Names as along PATH, at least one.
fn names(programs: Spanned<Vec<Spanned<String>>>) -> Result<Vec<String>, TextMistake> {
    if programs.get_ref().is_empty() {
        return Err((programs.span(), "name a program that is granted: [\"sed\"]".into()));
    }
    let named = |program: Spanned<String>| {
        let name = program.get_ref();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-[".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            let what = "a program is named as along PATH, without a directory: \"sed\"";
            return Err((program.span(), what.into()));
        }
        Ok(program.into_inner())
    };
    programs.into_inner().into_iter().map(named).collect()
}
