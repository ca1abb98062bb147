//! `gate4k explain`: one rule, or the list of them.

use std::io::Write;

use crate::cli::ExplainArgs;
use crate::model::exit::Exit;
use crate::view::rules;

/// Prints a rule's text, or all rules with one line each.
pub(crate) fn run(args: &ExplainArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let text = match args.rule {
        Some(id) => rules::one(id.rule()),
        None => rules::all(),
    };
    out.write_all(text.as_bytes())?;
    Ok(Exit::Success)
}
