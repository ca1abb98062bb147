//! The outcome of a replay: how much of a real event the formats give, and each difference.

use serde::Serialize;

/// A replayed event.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Replay {
    /// Its name in the event file.
    pub(crate) event: String,
    /// Its stages, as far as there are games of them.
    pub(crate) stages: Vec<StageReplay>,
    /// Files, games and stages that could not be used, and why.
    pub(crate) notes: Vec<String>,
}

impl Replay {
    /// True if nothing differs.
    pub(crate) fn agrees(&self) -> bool {
        self.stages.iter().all(|stage| stage.differences.is_empty())
    }
}

/// A replayed stage.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct StageReplay {
    /// Its name.
    pub(crate) stage: String,
    /// Its engines.
    pub(crate) engines: usize,
    /// Its recorded games.
    pub(crate) games: usize,
    /// The number of each kind that agree.
    pub(crate) counts: Vec<Count>,
    /// The differences, one by one.
    pub(crate) differences: Vec<Difference>,
    /// Remarks that are no differences.
    pub(crate) notes: Vec<String>,
    /// The places that the games give.
    pub(crate) table: Vec<ReportRow>,
}

/// The number of a kind that agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Count {
    /// The kind of comparison.
    pub(crate) kind: ComparisonKind,
    /// The number that agree.
    pub(crate) agree: usize,
    /// The number compared.
    pub(crate) of: usize,
}

/// A kind of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ComparisonKind {
    /// Engines that come from other stages.
    Promotions,
    /// The opponents of each encounter.
    Pairs,
    /// The engine with White.
    Colours,
    /// The order of the games of a round.
    Rounds,
    /// The opponents in the matches of a bracket.
    Matches,
    /// The number of games of a match, or of double round robins of a stage.
    Lengths,
    /// Games that no format makes due.
    Games,
    /// The start positions.
    Variants,
}

impl ComparisonKind {
    /// Its name in a sentence.
    pub(crate) fn title(self) -> &'static str {
        match self {
            ComparisonKind::Promotions => "promotions",
            ComparisonKind::Pairs => "pairs",
            ComparisonKind::Colours => "colours",
            ComparisonKind::Rounds => "order of rounds",
            ComparisonKind::Matches => "matches",
            ComparisonKind::Lengths => "lengths",
            ComparisonKind::Games => "games",
            ComparisonKind::Variants => "start positions",
        }
    }
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Difference {
    /// The kind of comparison.
    pub(crate) kind: ComparisonKind,
    /// The round, game or match.
    pub(crate) at: String,
    /// The value that the format gives.
    pub(crate) expected: String,
    /// The value in the recorded games.
    pub(crate) played: String,
}

/// A line of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ReportRow {
    /// Its place; engines that are level share one, disqualified ones have none.
    pub place: Option<usize>,
    /// The engine, as its last game calls it.
    pub engine: String,
    /// Points; none in a bracket.
    pub points: Option<f64>,
    /// Sonneborn-Berger; none in a bracket.
    pub(crate) sonneborn_berger: Option<f64>,
}

impl StageReplay {
    /// Notes one comparison.
    pub(super) fn compare(
        &mut self,
        kind: ComparisonKind,
        agrees: bool,
        difference: impl FnOnce() -> (String, String, String),
    ) {
        self.count(kind, agrees);
        if !agrees {
            let (at, expected, played) = difference();
            self.differ(kind, at, expected, played);
        }
    }

    /// Notes one comparison that shows a difference.
    pub(super) fn disagree(
        &mut self,
        kind: ComparisonKind,
        at: impl Into<String>,
        expected: impl Into<String>,
        played: impl Into<String>,
    ) {
        self.count(kind, false);
        self.differ(kind, at.into(), expected.into(), played.into());
    }

    /// Counts one comparison without telling it: a difference that many of them share is told once.
    pub(super) fn count(&mut self, kind: ComparisonKind, agrees: bool) {
        let known = self.counts.iter().position(|count| count.kind == kind);
        let at = known.unwrap_or_else(|| {
            self.counts.push(Count { kind, agree: 0, of: 0 });
            self.counts.len() - 1
        });
        if let Some(count) = self.counts.get_mut(at) {
            count.of += 1;
            count.agree += usize::from(agrees);
        }
    }

    /// Tells a difference.
    pub(super) fn differ(
        &mut self,
        kind: ComparisonKind,
        at: String,
        expected: String,
        played: String,
    ) {
        self.differences.push(Difference { kind, at, expected, played });
    }

    /// True if a game is missing that the format makes due, or one is there that it does not.
    pub(super) fn lacks_games(&self) -> bool {
        let is_of_games = |count: &&Count| count.kind == ComparisonKind::Games;
        self.counts.iter().filter(is_of_games).any(|count| count.agree < count.of)
    }
}
