//! `gate4k ratings`: a rating list by the games of PGNs, and the match where there are two engines.

use std::io::Write;

use super::early_end::EarlyEnd;
use super::games::{self, FileItem};
use super::layout_of;
use super::match_test::{asked_test, sprt};
use crate::cli::{OutputFormat, RatingsArgs};
use crate::event::duel::duel;
use crate::event::field::FieldBuilder;
use crate::model::exit::Exit;
use crate::ratings::bayes::{Model, Results};
use crate::ratings::names::without_version;
use crate::view::json::pretty;
use crate::view::ratings as report;

/// Rates and prints.
pub(crate) fn run(args: &RatingsArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    let mut results = Results::default();
    let mut field = FieldBuilder::default();
    games::each(&args.files, &games::Stages::All, |told, file| {
        // All stages are wanted: nothing is ever taken back.
        let FileItem::Game(game) = told else { return };
        let mut game = game.clone();
        if args.merge_versions {
            for engine in [&mut game.white, &mut game.black] {
                engine.name = without_version(&engine.name).to_owned();
            }
        }
        results.add(&game.white.name, &game.black.name, game.record.ending.result);
        if game.white.name != game.black.name {
            field.add(&game, file);
        }
    })?;
    if results.names().is_empty() {
        let words = "no game between two engines has a result";
        return Err(EarlyEnd::new(Exit::Nothing, words).into());
    }
    let list = results.rate(&Model { offset: args.offset, ..Model::default() });
    let test = asked_test(args.sprt, args.scale).map(sprt);
    let duel = match list.rated.as_slice() {
        [ahead, _] => duel(&field.finish(), &ahead.name),
        _ => None,
    };
    if test.is_some() && duel.is_none() {
        let count = list.rated.len();
        let words = format!("--sprt needs the games of two engines, but these are of {count}");
        return Err(EarlyEnd::usage(words).into());
    }
    let page = match args.format {
        OutputFormat::Json => pretty(&report::document(&list, duel.as_ref(), test.as_ref()))?,
        format => report::text(&list, duel.as_ref(), test.as_ref(), layout_of(format)),
    };
    out.write_all(page.as_bytes())?;
    Ok(Exit::Success)
}
