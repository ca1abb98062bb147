//! The engines of each stage as the event's own journal has them, for those who look on when a journal that a `from` names
//! cannot be read any more.

use std::path::Path;

use super::super::journal;
use super::super::journal::JournalRecord;

/// The engines of the stages that have begun, by the number of the stage.
#[derive(Default)]
pub(super) struct SeatedEngines(Vec<Vec<String>>);

impl SeatedEngines {
    /// Reads them; none where there is no such journal.
    pub(super) fn of(own_journal: &Path) -> SeatedEngines {
        let mut stages: Vec<Vec<String>> = Vec::new();
        let mut withdrawn = Vec::new();
        let wanted = &["stage-started", "withdrawn"];
        // A fault of the journal is told by whoever reads all of it.
        let _ = journal::read_some(own_journal, wanted, &mut |_, record| {
            match record {
                JournalRecord::StageStarted(started) => stages.push(started.seats),
                JournalRecord::Withdrawn(gone) => withdrawn.push((gone.stage, gone.engine)),
                _ => {}
            }
            Ok(())
        });
        // One that was withdrawn before its first stage sits in none, and was named for that stage all the same.
        for (stage, engine) in withdrawn {
            if let Some(seats) = stages.get_mut(stage) {
                seats.push(engine);
            }
        }
        SeatedEngines(stages)
    }

    /// The engines of a stage that neither come from a stage before it nor are named by it (`own`); none where it has not
    /// begun.
    pub(super) fn newcomers(&self, stage: usize, own: &[String]) -> Option<Vec<String>> {
        let seats = self.0.get(stage)?;
        let mut met: Vec<&String> = self.0[..stage].iter().flatten().chain(own).collect();
        let mut newcomers = Vec::new();
        for name in seats.iter().filter(|name| !name.is_empty()) {
            if !met.contains(&name) {
                met.push(name);
                newcomers.push(name.clone());
            }
        }
        Some(newcomers)
    }
}

#[cfg(test)]
mod tests {
    use super::SeatedEngines;

    #[test]
    fn newcomers_sit_in_no_stage_before_and_are_not_named() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let seated = SeatedEngines(vec![
            names("a b c"),
            vec!["d".into(), String::new()],
            names("b e d a a"),
        ]);
        assert_eq!(seated.newcomers(0, &names("b")), Some(names("a c")));
        assert_eq!(seated.newcomers(1, &[]), Some(names("d")));
        assert_eq!(seated.newcomers(2, &[]), Some(names("e")));
        assert_eq!(seated.newcomers(3, &[]), None);
    }
}
