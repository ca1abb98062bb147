//! `gate4k merge`: shards put together, those of a match and those of a check.

use std::io::Write;

use super::early_end::EarlyEnd;
use super::{merge_check, merge_match, merge_watch};
use crate::cli::{MergeArgs, ReportTo};
use crate::files::outputs::{self, NamedPath};
use crate::model::exit::Exit;
use crate::receipt::sign;
use crate::shard;

/// Merges journals of matches or of checks. An error that another try may mend is [`Exit::Undecided`].
pub(crate) fn run(args: &MergeArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let journals: Vec<NamedPath<'_>> =
        args.journals.iter().map(|path| ("a journal", path.as_path())).collect();
    let signature = args.receipt.as_deref().map(sign::beside);
    let mut outputs = outputs::given(&[
        ("--watch", args.watch.as_deref()),
        ("--pgn", args.pgn.as_deref()),
        ("--receipt", args.receipt.as_deref()),
        ("the signature", signature.as_deref()),
    ]);
    outputs.extend(args.report.iter().filter_map(ReportTo::file));
    outputs::distinct(&outputs, &journals).map_err(EarlyEnd::usage)?;
    match &args.watch {
        None => merge(args, out),
        Some(file) => merge_match::run(&merge_watch::ended(args, file)?, out),
    }
}

fn merge(args: &MergeArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    if args.journals.iter().any(|path| shard::is_of_check(path)) {
        merge_check::run(args, out)
    } else {
        merge_match::run(args, out)
    }
}
