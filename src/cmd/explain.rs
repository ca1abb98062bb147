//! `gate4k explain`: one rule, or the list of them.

use std::io::Write;

use super::layout_of;
use crate::cli::{ExplainArgs, OutputFormat};
use crate::model::exit::Exit;
use crate::model::rule::RULES;
use crate::view::rules;

/// Prints a rule's text, or all rules with one line each.
pub(crate) fn run(args: &ExplainArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let page = match (args.format, args.rule) {
        (OutputFormat::Json, Some(id)) => rules::json(std::slice::from_ref(id.rule()))?,
        (OutputFormat::Json, None) => rules::json(RULES)?,
        (format, Some(id)) => rules::one(id.rule(), layout_of(format).width),
        (format, None) => rules::all(layout_of(format)),
    };
    out.write_all(page.as_bytes())?;
    Ok(Exit::Success)
}
