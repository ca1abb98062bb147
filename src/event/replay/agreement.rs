//! Whatever a format plays, a replay of it agrees with, for every number of engines: games that were played as they were due
//! have no difference, whoever replays them.

use std::num::NonZeroU32;

use super::bracket;
use super::league;
use super::report::StageReplay;
use super::rounds::{self, System};
use super::stage_games::{Id, StageGame, StageGames, Tag, TagUse};
use crate::event::format::bracket_draw::BracketDraw;
use crate::event::format::knockout::{Knockout, WhiteFirst};
use crate::event::format::properties::{formats, number, played};
use crate::event::format::round_robin::{PairOrder, RoundRobin};
use crate::event::format::{Format, Next, StageHistory};
use crate::event::schedule::Seat;
use crate::model::game::listed::RoundGame;

/// The text of Round tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tags {
    /// The place of each game.
    Places,
    /// Its round alone.
    Rounds,
    /// Nothing.
    None,
}

/// A stage that was played, one game after the other. Its engines are told by other numbers than their seats.
fn recorded(format: &Format, seats: usize, seed: u64, tags: Tags) -> (Vec<StageGame>, Vec<Id>) {
    let id = |seat: Seat| Id((seat.0 * 37 + 11) % 401);
    let mut past = StageHistory::default();
    let mut games: Vec<StageGame> = Vec::new();
    loop {
        match format.next(seats, &past) {
            Next::Play(due) => {
                // A bracket is played match by match, and all else as it is due.
                let now = if matches!(format, Format::Knockout(_)) { 1 } else { due.len() };
                for due in &due[..now] {
                    let game = played(due, seed);
                    past.add(game);
                    let at = match tags {
                        Tags::Places => Some(game.at),
                        Tags::Rounds => Some(RoundGame { game: 1, ..game.at }),
                        Tags::None => None,
                    };
                    games.push(StageGame {
                        white: id(game.white),
                        black: id(game.black),
                        result: game.result,
                        at,
                        tag: if tags == Tags::Places { Tag::Place } else { Tag::Round },
                        part: 0,
                        number: games.len(),
                        moves: None,
                        began: None,
                        crashed: None,
                    });
                }
            }
            Next::Bye(seat, round) => {
                past.byes.insert((seat, round));
            }
            Next::Over(_) => break,
        }
    }
    (games, (0..seats).map(|seat| id(Seat(seat))).collect())
}

fn replayed(format: &Format, games: Vec<StageGame>, given: Option<Vec<Id>>) -> StageReplay {
    let tags = if format.ranks() { TagUse::Numbers } else { TagUse::Places };
    let names: Vec<String> = (0..500).map(|number| format!("E{number}")).collect();
    let (stage, notes) = StageGames::new(games, &names, tags);
    let mut out = StageReplay { notes, ..StageReplay::default() };
    match format {
        Format::RoundRobin(of) => league::round_robin(of, &stage, given, &mut out),
        Format::Match(of) => drop(league::match_(of, &stage, given, &mut out)),
        Format::Playoff(of) => drop(league::playoff(of, 0, &stage, given, &mut out)),
        Format::Knockout(of) => drop(bracket::knockout(of, &stage, given, 1, &mut out)),
        Format::Swiss(of) => drop(rounds::swiss(System::Monrad(*of), &stage, given, &mut out)),
        Format::Dutch(of) => drop(rounds::swiss(System::Dutch(*of), &stage, given, &mut out)),
    }
    out
}

/// The formats of the properties, and longer round robins.
fn all(seats: usize) -> Vec<Format> {
    let mut all = formats(seats);
    // Those of many engines are slow.
    all.retain(|format| seats <= 14 || !matches!(format, Format::Dutch(_)));
    for (cycles, order) in
        [(1, PairOrder::Berger), (3, PairOrder::Rotation), (8, PairOrder::Berger)]
    {
        let cycles = NonZeroU32::new(cycles).unwrap();
        if seats < 20 || cycles.get() == 1 {
            all.push(Format::RoundRobin(RoundRobin { cycles, order }));
        }
    }
    all
}

#[test]
fn what_a_format_plays_agrees_with_it() {
    for seats in (2..=17).chain([31, 32, 33, 60, 64]) {
        for format in all(seats) {
            for tags in [Tags::Places, Tags::Rounds, Tags::None] {
                let (games, ids) = recorded(&format, seats, 5 + seats as u64, tags);
                // Places tell nothing of who is seeded how, so that the first White of later matches is the organisers'.
                let is_of_seeds = matches!(
                    &format,
                    Format::Knockout(Knockout { draw, .. }) if *draw != BracketDraw::AsDrawn
                );
                let played = games.len();
                for given in [Some(ids), None] {
                    let is_given = given.is_some();
                    let out = replayed(&format, games.clone(), given);
                    let case = format!("{seats} {tags:?} {is_given} {format:?} {:?}", out.notes);
                    let mut differences = out.differences;
                    differences.retain(|one| {
                        is_given
                            || !is_of_seeds
                            || one.kind != super::report::ComparisonKind::Colours
                    });
                    assert_eq!(differences, [], "{case}");
                    assert!(
                        out.counts.iter().map(|count| count.agree).sum::<usize>() > 0,
                        "{case} {played}"
                    );
                }
            }
        }
    }
}

/// Cups have a file for each round, in which tags begin again with each match.
#[test]
fn tags_that_begin_again_with_each_match_are_no_games_that_stand_twice() {
    for seats in [8, 16, 32] {
        let format = Format::Knockout(Knockout {
            draw: BracketDraw::AsDrawn,
            pairs: vec![number(2), number(3), number(4)],
            bronze: Some(number(2)),
            early: true,
            white_first: WhiteFirst::Lower,
        });
        let (mut games, _) = recorded(&format, seats, 9, Tags::Places);
        for game in &mut games {
            let at = game.at.unwrap();
            // Of matches with many games each is a round, as the runner of the events has it.
            game.at = Some(RoundGame { round: at.game, game: 1 });
        }
        let out = replayed(&format, games, None);
        assert_eq!((out.differences, out.notes.len()), (Vec::new(), 1), "{:?}", out.notes);
    }
}
