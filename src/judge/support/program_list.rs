//! The programs of an entry, as a report shows them: names by class, lineages, the list for programs.

use crate::judge::support::runs;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::evidence::{Evidence, ExecOutcome, ProgramClass, Run, Shell};

fn class_word(class: ProgramClass) -> &'static str {
    match class {
        ProgramClass::Entry => "entry",
        ProgramClass::Listed => "listed",
        ProgramClass::Helper => "helpers",
        ProgramClass::Tolerated => "tolerated",
        ProgramClass::Waived => "waived",
        ProgramClass::OwnProduct => "made by itself",
        ProgramClass::Refused => "refused",
    }
}

/// The names of what ran, by class, each once, in order of appearance. Own products have random names:
/// the same bytes are one program.
pub(crate) fn classes(evidence: &Evidence) -> BTreeMap<&'static str, Vec<String>> {
    let mut map: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    // A shell that we put in place of /bin/sh was our choice and not the entry's.
    let chosen_by_it = |run: &'_ Run| usize::from(run.shell != Shell::AsIs);
    let execs = evidence.runs.iter().flat_map(|run| run.execs.iter().skip(chosen_by_it(run)));
    for exec in execs {
        if exec.outcome != ExecOutcome::Ran {
            continue;
        }
        let name = match (&exec.product, exec.class) {
            (Some(product), ProgramClass::OwnProduct) => product.sha256.clone(),
            (None, ProgramClass::OwnProduct) => "own product".to_owned(),
            _ => exec.name.clone(),
        };
        let names = map.entry(class_word(exec.class)).or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    map
}

/// The programs of the measured run, for people: one line a lineage.
pub(crate) fn tree(evidence: &Evidence) -> Vec<String> {
    let Some(run) = runs::measured(evidence) else {
        return Vec::new();
    };
    let mut lines: Vec<String> = Vec::new();
    for (index, exec) in run.execs.iter().enumerate().filter(|(_, e)| e.outcome == ExecOutcome::Ran)
    {
        let product = exec.product.as_ref().map_or_else(String::new, |product| {
            let start: String = product.sha256.chars().take(12).collect();
            format!(", {}, SHA-256 {start}…", product.size)
        });
        let line =
            format!("{} ({}{product})", runs::lineage(run, Some(index)), class_word(exec.class));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let more = lines.len().saturating_sub(16);
    lines.truncate(16);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Every start in every run but the searches along PATH, for programs; capped.
pub(crate) fn all(evidence: &Evidence) -> Value {
    let mut seen_already: Vec<(String, &ProgramClass, &str)> = Vec::new();
    let mut list = Vec::new();
    for run in &evidence.runs {
        for (index, exec) in run.execs.iter().enumerate() {
            let lineage = runs::lineage(run, Some(index));
            let key = (lineage.clone(), &exec.class, outcome_word(exec.outcome));
            if exec.outcome == ExecOutcome::NotFound
                || seen_already.contains(&key)
                || list.len() >= 64
            {
                continue;
            }
            list.push(json!({
                "lineage": lineage,
                "class": exec.class,
                "outcome": key.2,
                "asked": exec.asked,
                "real": exec.real,
                "product": exec.product,
            }));
            seen_already.push(key);
        }
    }
    Value::Array(list)
}

fn outcome_word(outcome: ExecOutcome) -> &'static str {
    match outcome {
        ExecOutcome::Ran => "ran",
        ExecOutcome::Denied => "denied",
        ExecOutcome::NotFound => "not-found",
        ExecOutcome::Failed(_) => "failed",
    }
}
