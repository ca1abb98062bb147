//! Three-way ties computed by hand, one for each criterion (those of rule 3.1 in turn, then others), and a double round robin that is not
//! finished.

use shakmaty::Color;

use super::tests::{order, order_of};
use crate::event::field::FieldBuilder;
use crate::model::game::listed::tests::listed;
use crate::model::game::result::GameResult;

/// The three draw with each other; a beat d (4 points), b beat e (3), c beat f (2.5), and each lost to the
/// other two of these. Sonneborn-Berger: the draws give each ½ × (2 + 2) = 2, the wins 4, 3 and 2.5.
#[test]
fn sonneborn_berger_breaks_a_three_way_tie() {
    let games = "a-b =, b-c =, c-a =, a-d 1, b-e 1, c-f 1, d-b 1, d-c 1, e-a 1, e-c 1, f-a 1, f-b 1, \
                 d-e 1, d-f 1, e-f 1, f-g =";
    for tied in ["a b c", "c a b", "b c a"] {
        assert_eq!(order(games, tied, "4k"), "a, b (S-B), c (S-B)");
    }
}

/// All games of the three are drawn, so points, direct encounter and Sonneborn-Berger are equal. Against d: a
/// ends on 1. e4, where Black has 20 moves (v = 41, held by White): ½ + ½^42. b ends on 1. e4 e5, where White
/// has 29 (v = 59, held by Black): ½ − ½^60. c ends before the first move: ½.
#[test]
fn r_mobility_breaks_a_three_way_tie() {
    let mut builder = FieldBuilder::default();
    for (white, black) in [("a", "b"), ("b", "c"), ("c", "a")] {
        builder.add(&listed(white, black, GameResult::Draw, ""), 0);
    }
    for (white, line) in [("a", "e4"), ("b", "e4 e5"), ("c", "")] {
        builder.add(&listed(white, "d", GameResult::Draw, line), 0);
    }
    assert_eq!(order_of(&builder.finish(), "b a c", "4k"), "a, c (r-mob), b (r-mob)");
}

/// Four points of eight for each of the three, against d to g, who all have five. a won 2-0 against d and f, b
/// against d alone, c against nobody: two, one and no double wins.
#[test]
fn double_wins_break_a_three_way_tie() {
    let pair = |white: &str, black: &str, score: u32| match score {
        2 => format!("{white}-{black} 1, {black}-{white} 0, "),
        1 => format!("{white}-{black} 1, {black}-{white} 1, "),
        _ => format!("{white}-{black} 0, {black}-{white} 1, "),
    };
    let mut games = String::from("a-b =, b-c =, c-a =, ");
    for (engine, scores) in [("a", [2, 0, 2, 0]), ("b", [2, 0, 1, 1]), ("c", [1, 1, 1, 1])] {
        for (other, score) in ["d", "e", "f", "g"].into_iter().zip(scores) {
            games += &pair(engine, other, score);
        }
    }
    // d has 1 of these games, e 5, f 2, g 4; wins against h bring all to five.
    for (winner, times) in [("d", 4), ("f", 3), ("g", 1)] {
        games += &format!("{winner}-h 1, ").repeat(times);
    }
    let games = games.trim_end_matches(", ");
    for tied in ["a b c", "c b a"] {
        assert_eq!(order(games, tied, "4k"), "a, b (2-0), c (2-0)");
    }
}

/// Each of the three drew with the others, beat d and lost to e, in games of these plies.
fn lengths(won: [usize; 3], lost: [usize; 3]) -> String {
    const LINE: [&str; 8] = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6"];
    let mut builder = FieldBuilder::default();
    for (white, black) in [("a", "b"), ("b", "c"), ("c", "a")] {
        builder.add(&listed(white, black, GameResult::Draw, ""), 0);
    }
    for (name, (won, lost)) in ["a", "b", "c"].into_iter().zip(won.into_iter().zip(lost)) {
        let white = GameResult::Win(Color::White);
        builder.add(&listed(name, "d", white, &LINE[..won].join(" ")), 0);
        builder.add(&listed("e", name, white, &LINE[..lost].join(" ")), 0);
    }
    order_of(&builder.finish(), "a b c", "4k")
}

#[test]
fn short_wins_break_a_three_way_tie() {
    // 8, 4 and 6 plies are 4, 2 and 3 moves; what was lost does not matter any more.
    assert_eq!(lengths([8, 4, 6], [8, 2, 4]), "b, c (won in), a (won in)");
}

#[test]
fn long_losses_break_a_three_way_tie() {
    assert_eq!(lengths([4, 4, 4], [6, 2, 8]), "c, a (lost in), b (lost in)");
}

#[test]
fn a_half_move_is_a_move_and_what_is_still_level_stays_tied() {
    // 3 plies are 2 moves as 4 are: nothing tells the three apart (rule 3.1.7).
    assert_eq!(lengths([3, 4, 4], [5, 6, 6]), "a=b=c");
    // Two of three: the group behind is one place.
    assert_eq!(lengths([2, 6, 6], [4, 4, 4]), "a, b=c (won in)");
}

/// The Berger order of three is b-c, a-b, c-a, then the reverses.
#[test]
fn a_double_round_robin_is_ranked_as_far_as_it_is_played() {
    // A circle after the first half: one point each, nothing tells them apart.
    let half = "b-c 1, a-b 1, c-a 1";
    assert_eq!(order(half, "a b c", "4k"), "a=b=c");
    // c won the first reverse: 2 points; a and b have one, and a beat b. The pair c-b is 1-1, no double win.
    let one_more = format!("{half}, c-b 1, b-a *, a-c *");
    assert_eq!(order(&one_more, "a b", "4k"), "a, b (DE)");
    // b drew the second: b has 1.5 like a, who drew then lost nothing more; a has 1.5 of 2 against b.
    let two_more = format!("{half}, c-b 1, b-a =, a-c *");
    assert_eq!(order(&two_more, "b a", "4k"), "a, b (DE)");
    // The circle the other way round: 2 points each, three pairs of 1-1.
    let whole = format!("{half}, c-b 1, b-a 1, a-c 1");
    assert_eq!(order(&whole, "a b c", "4k"), "a=b=c");
}
