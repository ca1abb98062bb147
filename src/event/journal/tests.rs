use super::record::JournalHeader;
use super::*;
use proptest::prelude::*;

fn header() -> JournalRecord {
    JournalRecord::Header(JournalHeader {
        version: VERSION,
        event: "Test".into(),
        gate4k: "0".into(),
        settings: String::new(),
        previous: Vec::new(),
        settings_sha256: String::new(),
    })
}

fn note(text: &str) -> JournalRecord {
    JournalRecord::Note { text: text.into(), rule: None }
}

/// A journal with these notes, and where each of its lines begins.
pub(super) fn written(notes: &[String]) -> (tempfile::TempDir, PathBuf, Vec<usize>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j");
    let (mut journal, torn) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
    assert_eq!(torn, None);
    let mut begins = vec![0];
    for record in std::iter::once(header()).chain(notes.iter().map(|text| note(text))) {
        journal.append(&record).unwrap();
        begins.push(std::fs::metadata(&path).unwrap().len() as usize);
    }
    (dir, path, begins)
}

pub(super) fn records_of(
    path: &Path,
) -> Result<(Vec<JournalRecord>, Option<RecordPlace>), JournalError> {
    let mut records = Vec::new();
    let torn = read(path, &mut |_, record| {
        records.push(record);
        Ok(())
    })?;
    Ok((records, torn))
}

pub(super) fn notes_of(path: &Path) -> Result<(Vec<String>, Option<RecordPlace>), JournalError> {
    let mut notes = Vec::new();
    let torn = read(path, &mut |_, record| {
        if let JournalRecord::Note { text, .. } = record {
            notes.push(text);
        }
        Ok(())
    })?;
    Ok((notes, torn))
}

#[test]
fn a_second_runner_is_refused_and_a_reader_is_not() {
    let (_dir, path, _) = written(&["a".into()]);
    let (_one, _) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
    let error = Journal::open(&path, &mut |_, _| Ok(())).unwrap_err();
    assert!(error.to_string().contains("another runner"), "{error}");
    assert_eq!(notes_of(&path).unwrap().0, ["a"]);
}

#[test]
fn a_journal_that_somebody_takes_away_or_cuts_is_written_no_more() {
    for change in [
        |path: &Path| std::fs::remove_file(path).unwrap(),
        |path: &Path| {
            let text = std::fs::read(path).unwrap();
            std::fs::remove_file(path).unwrap();
            std::fs::write(path, text).unwrap();
        },
        |path: &Path| OpenOptions::new().write(true).open(path).unwrap().set_len(10).unwrap(),
    ] {
        let (_dir, path, _) = written(&["a".into()]);
        let (mut journal, _) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
        journal.append(&note("b")).unwrap();
        change(&path);
        let error = journal.append(&note("c")).unwrap_err();
        assert!(matches!(error, JournalError::Taken { .. }), "{error}");
        assert!(journal.append(&note("d")).is_err());
    }
}

#[test]
fn another_version_and_another_file_are_told() {
    let (_dir, path, _) = written(&[]);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(is_journal(&path));
    let record = text.split_once(r#""record":"#).unwrap().1.trim_end().strip_suffix('}').unwrap();
    let mut other = String::new();
    line::write(
        &mut other,
        RecordChain::default(),
        0,
        &record.replacen("\"version\":1", "\"version\":9", 1),
    );
    std::fs::write(&path, other).unwrap();
    assert!(notes_of(&path).unwrap_err().to_string().contains("version 9"));
    std::fs::write(&path, "[Event \"x\"]\n").unwrap();
    assert!(!is_journal(&path));
    let error = notes_of(&path).unwrap_err().to_string();
    assert!(error.contains("is no journal; name the event's journal"), "{error}");
}

#[test]
fn a_line_left_out_is_noticed() {
    let (_dir, path, begins) = written(&["a".into(), "b".into(), "c".into()]);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.drain(begins[2]..begins[3]);
    std::fs::write(&path, &bytes).unwrap();
    let error = notes_of(&path).unwrap_err().to_string();
    assert!(error.contains("line 3"), "{error}");
    assert!(error.contains("the number 3 where 2 is due"), "{error}");
}

#[test]
fn a_withdrawal_that_is_torn_at_any_byte_takes_nothing_with_it() {
    let (_dir, path, begins) = written(&["a".into()]);
    let walkover = |game| record::Walkover { round: 3, game, white: "A".into(), black: "B".into() };
    let withdrawn = JournalRecord::Withdrawn(record::Withdrawn {
        engine: "A".into(),
        stage: 0,
        round: 4,
        played: crate::event::field::WithdrawnGames::Counts,
        broken_off: vec!["e/s/3.1/a/b".into()],
        walkovers: vec![walkover(1), walkover(2)],
        reason: "its author asked".into(),
        at: String::new(),
    });
    let (mut journal, _) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
    journal.append(&withdrawn).unwrap();
    drop(journal);
    let whole = std::fs::read(&path).unwrap();
    let records = || {
        let (records, torn) = records_of(&path).unwrap();
        (records, torn.is_some())
    };
    let before = begins.last().copied().unwrap();
    for length in before..=whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let (is_whole, is_torn) =
            (length == whole.len(), (before + 1..whole.len()).contains(&length));
        let kept = [header(), note("a")].into_iter().chain(is_whole.then(|| withdrawn.clone()));
        assert_eq!(records(), (kept.collect(), is_torn), "{length} bytes");
    }
}

/// A journal's lines.
fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().split_inclusive('\n').map(str::to_owned).collect()
}

#[test]
fn a_journal_spliced_from_two_is_noticed_at_its_seam() {
    let (_one, path, _) = written(&["a".into(), "b".into(), "c".into()]);
    let (_two, second, _) = written(&["a".into(), "x".into(), "c".into()]);
    let (first, second) = (lines(&path), lines(&second));
    std::fs::write(&path, [&first[..3], &second[3..]].concat().concat()).unwrap();
    let error = notes_of(&path).unwrap_err().to_string();
    assert!(error.contains("line 4") && error.contains("its sum is"), "{error}");
}

#[test]
fn a_line_of_0_1_behind_one_with_a_sum_is_none_of_ours() {
    let (_dir, path, _) = written(&["a".into()]);
    let mut text = lines(&path).concat();
    let record = serde_json::to_string(&note("forged")).unwrap();
    let crc = line::checksum(0, 2, &record);
    text.push_str(&format!("{{\"n\":2,\"crc\":\"{crc:08x}\",\"record\":{record}}}\n"));
    std::fs::write(&path, text).unwrap();
    let error = notes_of(&path).unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("it has no sum"), "{error}");
}

#[test]
fn a_journal_of_0_1_goes_on_in_the_new_form_and_its_beginning_is_held_by_the_sums() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j");
    let old = |last: &str| {
        let mut crc = 0;
        let mut text = String::new();
        for (number, record) in [header(), note("a"), note(last)].iter().enumerate() {
            let record = serde_json::to_string(record).unwrap();
            crc = line::checksum(crc, number as u64, &record);
            text += &format!("{{\"n\":{number},\"crc\":\"{crc:08x}\",\"record\":{record}}}\n");
        }
        text
    };
    std::fs::write(&path, old("b")).unwrap();
    assert!(is_journal(&path));
    let (mut journal, _) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
    journal.append(&note("c")).unwrap();
    assert_eq!(notes_of(&path).unwrap().0, ["a", "b", "c"]);
    // Its old part made anew with fitting checksums does not fit what follows.
    let new = lines(&path).pop().unwrap();
    std::fs::write(&path, old("forged") + &new).unwrap();
    let error = notes_of(&path).unwrap_err().to_string();
    assert!(error.contains("line 4"), "{error}");
}

#[test]
fn a_mark_stays_where_the_journal_grows_and_moves_where_it_is_made_anew() {
    let (_dir, path, _) = written(&["a".into(), "b".into()]);
    let marked = mark(&path, u64::MAX).unwrap();
    assert_eq!(marked.records, 3);
    let (mut journal, _) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
    journal.append(&note("c")).unwrap();
    assert_eq!(mark(&path, 3).unwrap(), marked);
    assert_ne!(mark(&path, 4).unwrap().sum, marked.sum);
    let (_anew, other, _) = written(&["a".into(), "B".into()]);
    assert_ne!(mark(&other, 3).unwrap(), marked);
}

#[test]
fn what_is_no_regular_file_is_told_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for path in [&*pipe, Path::new("/dev/zero"), dir.path()] {
        assert!(!is_journal(path));
        let error = notes_of(path).unwrap_err().to_string();
        assert!(error.contains("no regular file"), "{error}");
    }
    let error = Journal::open(&pipe, &mut |_, _| Ok(())).unwrap_err().to_string();
    assert!(error.contains("no regular file"), "{error}");
}

#[test]
fn a_line_without_end_is_not_read_into_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j");
    File::create(&path).unwrap().set_len(LONGEST + 1).unwrap();
    let error = notes_of(&path).unwrap_err().to_string();
    assert!(error.contains("longer than any record"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_torn_end_is_cut_off_wherever_it_tore(
        notes in proptest::collection::vec("\\PC{0,20}", 1..6), cut in 1usize..400,
    ) {
        let (_dir, path, begins) = written(&notes);
        let whole = std::fs::read(&path).unwrap();
        let length = begins[1].max(whole.len().saturating_sub(cut));
        std::fs::write(&path, &whole[..length]).unwrap();
        let kept = begins.iter().filter(|begin| **begin <= length).count() - 2;
        let torn = !begins.contains(&length);
        {
            let (mut journal, told) = Journal::open(&path, &mut |_, _| Ok(())).unwrap();
            prop_assert_eq!(told.is_some(), torn);
            prop_assert_eq!(journal.at.number as usize, kept + 1);
            journal.append(&note("more")).unwrap();
        }
        let (read, torn) = notes_of(&path).unwrap();
        prop_assert_eq!(torn, None);
        let mut expected = notes[..kept].to_vec();
        expected.push("more".into());
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn damage_in_the_middle_names_its_place_and_changes_nothing(
        notes in proptest::collection::vec("[a-z]{1,20}", 2..6), at in 0usize..2000, bit in 0u8..7,
    ) {
        let (_dir, path, begins) = written(&notes);
        let mut bytes = std::fs::read(&path).unwrap();
        // Any byte before the last line.
        let at = at % begins[begins.len() - 2];
        bytes[at] ^= 1 << bit;
        std::fs::write(&path, &bytes).unwrap();
        let line = begins.iter().filter(|begin| **begin <= at).count();
        let told = Journal::open(&path, &mut |_, _| Ok(())).unwrap_err().to_string();
        // Without its line end the line before the last one takes that in, and is the last.
        let byte = begins[line - 1];
        let places = [format!("line {line} (byte {byte})"), format!("(line {line}, byte {byte})")];
        let named = places.iter().any(|place| told.contains(place));
        prop_assert!(named || told.contains("no journal"), "{}", told);
        prop_assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn a_journal_is_read_as_it_grows() {
    let (_dir, path, begins) = written(&["a".into(), "b".into(), "c".into()]);
    let whole = std::fs::read(&path).unwrap();
    let mut reader = Reader::new(&path);
    let mut notes = Vec::new();
    let mut look = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let mut more = Vec::new();
        let read = reader.more(&mut |_, record| {
            if let JournalRecord::Note { text, .. } = record {
                more.push(text);
            }
            Ok(())
        });
        notes.extend(more);
        read.map(|()| notes.join(""))
    };
    assert_eq!(look(&whole[..begins[2]]).unwrap(), "a");
    // A record that is being written is left for the next look.
    assert_eq!(look(&whole[..begins[3] - 2]).unwrap(), "a");
    assert_eq!(look(&whole).unwrap(), "abc");
    assert_eq!(look(&whole).unwrap(), "abc");
    let error = look(&whole[..begins[1]]).unwrap_err().to_string();
    assert!(error.contains("shorter than it was"), "{error}");
}

#[test]
fn a_journal_that_cannot_be_written_is_not_said_to_be_unreadable() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none").join("j");
    let told = Journal::open(&path, &mut |_, _| Ok(())).err().unwrap().to_string();
    assert!(
        told.starts_with("cannot open the journal ") && told.contains(" for writing: "),
        "{told}"
    );
}
