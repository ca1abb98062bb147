//! `gate4k explain`: one rule, or the list of them.

use std::io::Write;

use crate::cli::{ExplainArgs, OutputFormat};
use crate::model::exit::Exit;
use crate::model::rule::RULES;
use crate::view::{rules, text};

/// Prints a rule's text, or all rules with one line each.
pub(crate) fn run(args: &ExplainArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let page = match (args.format, args.rule) {
        (OutputFormat::Human, Some(id)) => rules::one(id.rule(), text::width()),
        (OutputFormat::Human, None) => rules::all(text::width()),
        (OutputFormat::Json, Some(id)) => rules::json(std::slice::from_ref(id.rule()))?,
        (OutputFormat::Json, None) => rules::json(RULES)?,
    };
    out.write_all(page.as_bytes())?;
    Ok(Exit::Success)
}
