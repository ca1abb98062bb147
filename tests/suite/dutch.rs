//! Rounds of Dutch Swisses against py4swiss (from PyPI), which pairs by the same text, FIDE's C.04.3.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::num::NonZeroU32;
use std::process::{Command, Stdio};

use gate4k::event::format::dutch::Dutch;
use gate4k::event::format::{Next, PlayedPairing, StageHistory};
use gate4k::event::schedule::Seat;
use gate4k::model::game::result::GameResult;
use shakmaty::Color;

use crate::event::wanted;
use crate::needs::python;
use crate::seed::Chance;
use crate::trials::Test;

/// Pairs rounds that it reads as JSON, a line each: of every engine, in the order of ranks, its rounds so far, each the
/// rank of its opponent, its colour and its result. It writes the pairs of ranks, White's first; 0 is the bye.
const PAIRS: &str = r#"
import json, sys
from py4swiss.engines import DutchEngine
from py4swiss.engines.common import PairingError
from py4swiss.trf.codes import PlayerCode
from py4swiss.trf.parsed_trf import ParsedTrf
from py4swiss.trf.results import ColorToken, ResultToken, RoundResult
from py4swiss.trf.sections import PlayerSection, XSection

WORTH = {"1": 10, "=": 5, "0": 0, "U": 10}

for line in sys.stdin:
    sections = [
        PlayerSection(
            code=PlayerCode.PLAYER,
            starting_number=rank,
            rank=rank,
            points_times_ten=sum(WORTH[result] for _, _, result in rounds),
            results=[
                RoundResult(id=other, color=ColorToken(color), result=ResultToken(result))
                for other, color, result in rounds
            ],
        )
        for rank, rounds in enumerate(json.loads(line), 1)
    ]
    trf = ParsedTrf(player_sections=sections, x_section=XSection(number_of_rounds=99))
    try:
        pairs = [(pair.white, pair.black) for pair in DutchEngine.generate_pairings(trf)]
        pairs = [(0, white) if black == 0 else (white, black) for white, black in pairs]
    except PairingError:
        pairs = []
    print(json.dumps(sorted(pairs)))
"#;

/// The tournaments of a run, if the environment names no other number.
const TOURNAMENTS: u32 = 50;

/// One round in so many, and five besides, may have no pairing by the rules. Of the 1,797 rounds of 300 tournaments 14 had
/// none, and of the 58 rounds of a few 4.
const MOST_IMPOSSIBLE: usize = 20;

/// A round that is asked for: what the checker reads, and our pairs, White's rank first.
struct Asked {
    told: String,
    pairs: BTreeSet<(usize, usize)>,
    tournament: u32,
    round: u32,
}

/// A round of an engine: the rank of its opponent, its colour, its result.
type Told = (usize, &'static str, &'static str);

/// The engines by rank: points, the opponents' points, seed.
fn ranks(seats: usize, past: &StageHistory) -> Vec<Seat> {
    let points = |seat: Seat| {
        let games = past.games.values().map(|game| game.points(seat).0).sum::<u32>();
        games + 2 * past.byes.iter().filter(|(bye, _)| *bye == seat).count() as u32
    };
    let buchholz = |seat: Seat| {
        let met = past.games.values().filter(|game| game.color(seat).is_some());
        met.map(|game| points(if game.white == seat { game.black } else { game.white }))
            .sum::<u32>()
    };
    let mut all: Vec<Seat> = (0..seats).map(Seat).collect();
    all.sort_by_key(|seat| (std::cmp::Reverse((points(*seat), buchholz(*seat))), *seat));
    all
}

fn told(seats: usize, past: &StageHistory, round: u32, rank: &BTreeMap<Seat, usize>) -> String {
    let of_round = |seat: Seat, round: u32| -> Told {
        let game =
            past.games.values().find(|game| game.at.round == round && game.color(seat).is_some());
        let Some(game) = game else { return (0, "-", "U") };
        let (other, color, own) = if game.white == seat {
            (game.black, "w", Color::White)
        } else {
            (game.white, "b", Color::Black)
        };
        let result = match game.result {
            GameResult::Win(winner) if winner == own => "1",
            GameResult::Win(_) => "0",
            _ => "=",
        };
        (rank[&other], color, result)
    };
    let mut by_rank = vec![Vec::new(); seats];
    for seat in (0..seats).map(Seat) {
        by_rank[rank[&seat] - 1] = (1..round).map(|round| of_round(seat, round)).collect();
    }
    serde_json::to_string(&by_rank).unwrap()
}

/// Plays a Swiss in which better seeds win more often; every round of it.
fn played(tournament: u32, chance: &mut Chance, rounds: &mut Vec<Asked>) {
    let seats = 5 + chance.below(36) as usize;
    let last = 3 + chance.below(7).min(seats as u64 / 2) as u32;
    let draws = 10 + chance.below(60);
    let format = Dutch { rounds: NonZeroU32::new(last).unwrap() };
    let mut past = StageHistory::default();
    let mut bye = None;
    loop {
        let due = match format.next(seats, &past) {
            Next::Play(due) => due,
            Next::Bye(seat, round) => {
                past.byes.insert((seat, round));
                bye = Some(seat);
                continue;
            }
            Next::Over(_) => return,
        };
        let round = due[0].at.round;
        let before = past.before(round);
        let rank: BTreeMap<Seat, usize> = ranks(seats, &before).into_iter().zip(1..).collect();
        let games = due.iter().map(|game| (rank[&game.white], rank[&game.black]));
        let bye = bye.take().map(|seat| (0, rank[&seat]));
        rounds.push(Asked {
            told: told(seats, &before, round, &rank),
            pairs: games.chain(bye).collect(),
            tournament,
            round,
        });
        for game in due {
            let edge = (game.black.0 as i64 - game.white.0 as i64) * 30 / seats as i64;
            let result = match chance.below(100) {
                drawn if drawn < draws => GameResult::Draw,
                _ if (chance.below(100) as i64) < 50 + edge => GameResult::Win(Color::White),
                _ => GameResult::Win(Color::Black),
            };
            past.add(PlayedPairing { at: game.at, white: game.white, black: game.black, result });
        }
    }
}

/// The pairs.
fn uncoloured(pairs: &BTreeSet<(usize, usize)>) -> BTreeSet<(usize, usize)> {
    pairs.iter().map(|(white, black)| (*white.min(black), *white.max(black))).collect()
}

/// `GATE4K_TOURNAMENTS` is how many.
fn rounds_are_paired_as_another_program_pairs_them() {
    let mut chance = Chance::of("Dutch Swisses");
    let mut rounds = Vec::new();
    for tournament in 0..wanted("GATE4K_TOURNAMENTS").unwrap_or(TOURNAMENTS) {
        played(tournament, &mut chance, &mut rounds);
    }
    let mut child = Command::new(python())
        .args(["-c", PAIRS])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let all: String = rounds.iter().map(|round| round.told.clone() + "\n").collect();
    let writer = std::thread::spawn(move || input.write_all(all.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), rounds.len());
    let mut other = Vec::new();
    let (mut impossible, mut colours) = (0, 0);
    for (line, round) in text.lines().zip(&rounds) {
        let pairs: BTreeSet<(usize, usize)> =
            serde_json::from_str::<Vec<(usize, usize)>>(line).unwrap().into_iter().collect();
        if pairs.is_empty() {
            // Its rules leave no pairing; ours then forget what colours must be.
            impossible += 1;
        } else if uncoloured(&pairs) != uncoloured(&round.pairs) {
            other.push((round, pairs));
        } else if pairs != round.pairs {
            // Ours are the recorded seasons' colours: who had White less often has it now. FIDE's rules first look at who had
            // one colour twice in a row.
            colours += 1;
        }
    }
    println!(
        "{} rounds, {} differ, {colours} in colours alone, {impossible} have no pairing",
        rounds.len(),
        other.len()
    );
    // A checker that finds hardly any pairing would let all pass.
    let most = rounds.len() / MOST_IMPOSSIBLE + 5;
    assert!(impossible <= most, "{impossible} of {}", rounds.len());
    let first = other.first().map(|(round, pairs)| {
        format!(
            "tournament {}, round {}: {}\nours {:?}\nits  {pairs:?}",
            round.tournament, round.round, round.told, round.pairs
        )
    });
    assert!(
        other.is_empty(),
        "{} of {} rounds differ: {}",
        other.len(),
        rounds.len(),
        first.unwrap()
    );
}

pub(crate) fn tests() -> Vec<Test> {
    tests![slow rounds_are_paired_as_another_program_pairs_them [Py4swiss]]
}
