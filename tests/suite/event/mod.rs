//! Events through the real program: from the gate to the winner, killed at any moment, with a journal that was
//! torn or damaged, on a disk that fills, with engines that hang and clocks that jump, with two runners, and
//! with entries that changed.

mod annulled;
mod as_written;
mod audience;
mod begun_before;
mod between;
mod browser;
mod forged;
mod forged_stages;
mod gate;
mod instants;
mod killed;
mod level;
mod other_formats;
mod other_trouble;
mod pages;
mod past;
mod processes;
mod published;
mod ratings;
mod rules;
mod sealed;
mod starts;
mod struck_out;
pub(crate) mod table;
mod tcec_files;
mod trouble;
mod visitors;
mod watched;
mod whole;
mod withdrawn;

use crate::trials::Test;
pub(crate) use table::{Event, POOL, wanted};

pub(crate) fn tests() -> Vec<Test> {
    let modules = [
        annulled::tests,
        as_written::tests,
        audience::tests,
        begun_before::tests,
        between::tests,
        browser::tests,
        forged::tests,
        forged_stages::tests,
        gate::tests,
        killed::tests,
        level::tests,
        whole::tests,
        trouble::tests,
        rules::tests,
        sealed::tests,
        ratings::tests,
        starts::tests,
        struck_out::tests,
        tcec_files::tests,
        other_formats::tests,
        other_trouble::tests,
        pages::tests,
        published::tests,
        visitors::tests,
        watched::tests,
        withdrawn::tests,
    ];
    modules.into_iter().flat_map(|tests| tests()).collect()
}
