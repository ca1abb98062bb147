//! Actions of the organisers alone: deciding a tie, and accepting a fix of a crash.

use std::path::Path;

use super::{Conductor, EventError};
use crate::event::entrants::{Admission, Entrant, Judges, now};
use crate::event::fix;
use crate::event::journal::record::{Fix, GameStarted, JournalRecord, TieDecision};
use crate::model::text::shell_word;
use crate::model::words::all;

impl Conductor<'_> {
    /// Takes the organisers' order of engines that every tie-break left tied (rule 3.1.7), or of those whose games were
    /// played on again and again and are level still: their names, the best first, with commas between them. Gives them.
    ///
    /// # Errors
    /// When that is not what the event waits for.
    pub(crate) fn decide(&mut self, order: &str, reason: &str) -> Result<Vec<String>, EventError> {
        let refused = EventError::NotNow;
        let Some(number) = self.ledger.stages.len().checked_sub(1) else {
            return Err(refused("no stage has begun, so there is nothing to decide".into()));
        };
        let state = &self.ledger.stages[number];
        let stage = &self.config.stages[number];
        let (is_played, ties) = (stage.is_played(state), stage.ties(state));
        let due = ties.iter().find_map(|tied| ordered(order, tied));
        let order = match (due, &ties[..]) {
            (Some(order), _) => {
                let plays = |game: &&GameStarted| order.iter().any(|name| game.plays(name));
                if let Some(game) = self.ledger.open_in(number).find(plays) {
                    let what = format!("{} is under way; run the event to its end", game.id);
                    return Err(refused(what));
                }
                order
            }
            (None, []) if is_played => {
                return Err(refused(format!("{} has no tie that has to be decided", stage.name)));
            }
            (None, []) => {
                return Err(refused(format!(
                    "{} has no tie to decide: games are still to be played",
                    stage.name
                )));
            }
            (None, ties) => {
                let ties = ties.iter().map(|tied| {
                    let (names, order) = (all(tied), tied.join(","));
                    let word = shell_word(Path::new(&order)).unwrap_or(order);
                    format!(
                        "tied are {names}; name exactly these, the best first, with --order {word}"
                    )
                });
                return Err(refused(ties.collect::<Vec<_>>().join("; ")));
            }
        };
        self.keep(JournalRecord::Decision(TieDecision {
            stage: number,
            order: order.clone(),
            reason: reason.to_owned(),
            at: now(),
        }))?;
        Ok(order)
    }

    /// Takes the fix of an engine that crashed more than once, yet promoted (rule 6.3); gives its new sum.
    ///
    /// # Errors
    /// When the rule does not allow it, or the gate does not accept what it is now.
    pub(crate) fn fix(&mut self, entry: &str, reason: &str) -> Result<String, EventError> {
        let refused =
            |what: String| EventError::NotNow(format!("{what} (rule 6.3 of the 4k rules)"));
        let Some(known) = self.config.entry(entry) else {
            let names = self.config.names().collect::<Vec<_>>().join(", ");
            let what = format!("no entry is called {entry:?}; there are {names}");
            return Err(EventError::NotNow(what));
        };
        if let Some(why) = fix::refusal(self.config, &self.ledger, entry) {
            return Err(refused(why));
        }
        let Some(before) = self.ledger.receipts.get(entry).map(|receipt| receipt.frozen.clone())
        else {
            return Err(refused(format!("{entry} has no receipt")));
        };
        let entrant = Entrant::read(&mut Judges::default(), self.config, known)?;
        if before.difference(&entrant.frozen).is_none() {
            return Err(refused(format!("{entry} is what it was: nothing is fixed")));
        }
        let mut admitted = None;
        self.through_the_gate(&[&entrant], |conductor, admission| {
            match admission {
                Admission::Admitted(receipt) => admitted = Some(receipt),
                Admission::Refused(report) => conductor.audience.refused(&report),
            }
            Ok(())
        })?;
        let Some(receipt) = admitted else {
            return Err(refused(format!("the fixed {entry} does not pass the gate")));
        };
        let sum = receipt.frozen.file.clone();
        let crashes = self.ledger.crashes().get(entry).copied().unwrap_or(0);
        self.keep(JournalRecord::Fix(Fix {
            entry: entry.to_owned(),
            reason: reason.to_owned(),
            crashes,
            before,
            receipt,
            at: now(),
        }))?;
        Ok(sum)
    }

    /// Tells which engines of a stage that is over may be fixed: those that crashed more than once, yet play on (rule 6.3).
    pub(super) fn tell_of_fixes(&mut self, engines: &[String]) {
        let is_fixable = |name: &&String| fix::refusal(self.config, &self.ledger, name).is_none();
        let fixable: Vec<String> = engines.iter().filter(is_fixable).cloned().collect();
        for name in fixable {
            self.audience.say(&format!(
                "{name} crashed more than once, yet promotes: `gate4k event fix` takes a fix of that \
                 (rule 6.3 of the 4k rules)"
            ));
        }
    }
}

/// Each of these names once, as a text has them with commas between them. Names may hold commas themselves.
fn ordered(text: &str, names: &[String]) -> Option<Vec<String>> {
    if names.is_empty() {
        return text.is_empty().then(Vec::new);
    }
    (0..names.len()).find_map(|first| {
        let mut others = names.to_vec();
        let name = others.swap_remove(first);
        let rest = text.trim_start().strip_prefix(name.as_str())?;
        let rest = if others.is_empty() { rest } else { rest.strip_prefix(',')? };
        let mut order = ordered(rest, &others)?;
        order.insert(0, name);
        Some(order)
    })
}

#[cfg(test)]
mod tests {
    use super::ordered;

    #[test]
    fn an_order_is_read_whatever_commas_its_names_hold() {
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let tied = names(&["A", "A, 2", "B"]);
        for (text, expected) in [
            ("A,A, 2,B", Some(["A", "A, 2", "B"])),
            ("B, A, 2, A", Some(["B", "A, 2", "A"])),
            ("A, 2,A,B", Some(["A, 2", "A", "B"])),
            ("A,B", None),
            ("A,A, 2,B,B", None),
            ("A,A,B", None),
            ("", None),
        ] {
            assert_eq!(ordered(text, &tied), expected.map(|order| names(&order)), "{text}");
        }
    }
}
