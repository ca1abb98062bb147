//! The data of each engine for the pairing of a round, and the pairs that may meet.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use shakmaty::Color;

use super::super::super::schedule::Seat;
use super::super::heaviest::is_perfect;
use crate::model::game::points::HalfPoints;

/// The data of an engine that pairing depends on.
#[derive(Clone, Debug)]
pub(super) struct DutchPlayer {
    pub(super) seat: Seat,
    pub(super) points: HalfPoints,
    pub(super) buchholz: HalfPoints,
    pub(super) colors: Vec<(u32, Color)>,
    pub(super) met: BTreeSet<Seat>,
    /// Its float in the last round and in the one before: down if it met a lower score (a bye counts so), up if a
    /// higher one.
    pub(super) floats: [Option<Float>; 2],
    /// True if it had a bye, or has won a game that nobody played (criterion C2).
    pub(super) had_bye: bool,
}

/// Where an engine met another score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Float {
    Down,
    Up,
}

impl DutchPlayer {
    /// Games with White less games with Black.
    pub(super) fn balance(&self) -> i64 {
        self.colors.iter().map(|(_, color)| color.fold_wb(1, -1)).sum()
    }

    pub(super) fn floated(&self, rounds_ago: usize, float: Float) -> bool {
        self.floats.get(rounds_ago).copied().flatten() == Some(float)
    }

    /// True if both have a preference for the same colour.
    pub(super) fn wants_same(&self, other: &DutchPlayer) -> bool {
        let color = |player: &DutchPlayer| player.wants().map(|(color, _)| color);
        color(self).is_some() && color(self) == color(other)
    }

    /// True if its colour preference is for more than a change of colour.
    pub(super) fn is_strong(&self) -> bool {
        self.balance() != 0 || self.wants().is_some_and(|(_, must)| must)
    }

    /// The colour that it wants, and whether it must have it.
    pub(super) fn wants(&self) -> Option<(Color, bool)> {
        let (_, last) = self.colors.last()?;
        let twice = self.colors.iter().rev().nth(1).is_some_and(|(_, before)| before == last);
        let color = match self.balance().cmp(&0) {
            Ordering::Less => Color::White,
            Ordering::Greater => Color::Black,
            Ordering::Equal => !*last,
        };
        Some((color, twice || self.balance().abs() > 1))
    }
}

/// The constraints on a pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PairingConstraints {
    /// No second meeting, and no two that must have the same colour.
    Colors,
    /// No second meeting.
    Meetings,
    /// Everything goes.
    Nothing,
}

pub(super) fn may_meet(a: &DutchPlayer, b: &DutchPlayer, constraints: PairingConstraints) -> bool {
    let same = matches!((a.wants(), b.wants()), (Some((a, true)), Some((b, true))) if a == b);
    match constraints {
        PairingConstraints::Colors => !a.met.contains(&b.seat) && !same,
        PairingConstraints::Meetings => !a.met.contains(&b.seat),
        PairingConstraints::Nothing => true,
    }
}

/// True if all players can be paired; of an odd number one is left over, who had no bye yet.
pub(super) fn can_be_paired(players: &[&DutchPlayer], constraints: PairingConstraints) -> bool {
    let bye = players.len();
    let is_odd = !bye.is_multiple_of(2);
    let fits = |a: usize, b: usize| match (players.get(a), players.get(b)) {
        (Some(a), Some(b)) => may_meet(a, b, constraints),
        (Some(one), None) | (None, Some(one)) => {
            !one.had_bye || constraints == PairingConstraints::Nothing
        }
        (None, None) => false,
    };
    is_perfect(bye + usize::from(is_odd), fits)
}
