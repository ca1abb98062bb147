use super::*;
use crate::model::verdict::Status;
use crate::submission::engines_json::{SelectError, select};
use proptest::prelude::*;
use std::path::PathBuf;

fn config(text: &str) -> EnginesJson {
    EnginesJson {
        path: PathBuf::from("engines.json"),
        text: text.to_owned(),
        selected: match select(text, None, "engine") {
            Ok(engine) => Ok(engine),
            Err(SelectError::Problem(problem)) => Err(problem),
            Err(SelectError::NoSuchName(_)) => unreachable!("no name was given"),
        },
    }
}

fn judged(text: &str) -> (PayloadReport, Finding) {
    judge(Some(&config(text)), "engine", Allowlist::built_in())
}

/// Canonical and bare bytes that a configuration adds.
fn counts(text: &str) -> (u64, u64) {
    let counts = judged(text).0.counts.unwrap();
    (counts.canonical.0, counts.bare.0)
}

fn option(name: &str, value: &str) -> (u64, u64) {
    counts(&format!(
        r#"[{{"options":[{{"name":{},"type":"text","value":{}}}]}}]"#,
        quoted(name),
        quoted(value)
    ))
}

#[test]
fn the_example_of_the_rule() {
    assert_eq!(option("TuringEngine", "...."), (21, 4));
}

#[test]
fn configuration_counts_nothing() {
    let text = r#"[{"name":"A long display name","command":"/x/y/engine","workingDirectory":"",
        "protocol":"uci","rating":3000,"strikes":0,"ponder":false,"note":"a note of mine",
        "timeoutScaleFactor":2.5,"variants":["standard"],"stderrFile":"/tmp/err.txt",
        "initStrings":["setoption name MultiPV value 1"],
        "options":[{"name":"Hash","type":"spin","value":98304,"default":16,"min":1,"max":33554432},
                   {"name":"Threads","value":"256"},{"name":"SyzygyPath","value":"/tb"},
                   {"name":"Ponder","value":false},{"name":"Clear Hash","type":"button"}]}]"#;
    let (report, finding) = judged(text);
    assert_eq!(report.counts, Some(Counts::default()), "{report:?}");
    assert_eq!(finding.status, Status::Pass);
    assert_eq!(finding.summary, "nothing of engines.json counts (17 fields)");
}

#[test]
fn no_configuration_at_all() {
    let (report, finding) = judge(None, "engine", Allowlist::built_in());
    assert_eq!(report.counts, Some(Counts::default()));
    assert_eq!(finding.status, Status::Pass);
}

#[test]
fn values_that_configure_nothing_count_with_a_reason() {
    assert_eq!(option("Hash", "4d5a"), (13, 4));
    let long = format!("/{}", "a/b".repeat(300));
    assert_eq!(option("SyzygyPath", &long), (901 + 15, 901));
    let (_, finding) = judged(r#"[{"options":[{"name":"Hash","value":"4d5a"}]}]"#);
    assert_eq!(finding.status, Status::Advice);
    assert_eq!(
        finding.details,
        ["1:14: option Hash counts 13 bytes (bare 4): Hash is a number of at most 7 digits"]
    );
}

#[test]
fn a_whole_number_is_one_however_it_is_written_and_others_count() {
    let hash = |value: &str| counts(&format!(r#"[{{"options":{{"Hash":{value}}}}}]"#));
    assert_eq!(hash("16.0"), (0, 0));
    // No engine sees the rest of these, but others may read the file otherwise.
    for value in ["16.00", "1.6e1", "16.0000000000000001", "\"16.0\""] {
        assert_eq!(hash(value).1, value.trim_matches('"').len() as u64, "{value}");
    }
}

#[test]
fn sixty_numbers_count_each() {
    let options: Vec<String> = (0..60)
        .map(|i| format!(r#"{{"name":"T{i:02}","type":"spin","value":{}}}"#, 1000 + i))
        .collect();
    let text = format!(r#"[{{"options":[{}]}}]"#, options.join(","));
    assert_eq!(counts(&text), (60 * 12, 60 * 4));
}

#[test]
fn a_second_setting_of_one_option_counts() {
    let options = [r#"{"name":"Hash","value":"1234567"}"#; 3].join(",");
    assert_eq!(counts(&format!(r#"[{{"options":[{options}]}}]"#)), (2 * 16, 14));
    let lines = [r#""setoption name Hash value 1234567""#; 3].join(",");
    // "initStrings":[ and twice 33 bytes in quotes with what closes them
    assert_eq!(counts(&format!(r#"[{{"initStrings":[{lines}]}}]"#)), (15 + 2 * 36, 2 * 33));
}

#[test]
fn more_switches_by_pattern_than_engines_have_count() {
    let with = |number: usize| {
        let switch = |index| format!(r#"{{"name":"UCI_{index:03}","value":true}}"#);
        let options: Vec<String> = (0..number).map(switch).collect();
        counts(&format!(r#"[{{"options":[{}]}}]"#, options.join(",")))
    };
    assert_eq!(with(8), (0, 0));
    // "UCI_008":"true"
    assert_eq!(with(9), (16, 4));
    assert_eq!(with(1000), (992 * 16, 992 * 4));
}

#[test]
fn init_strings_count_as_they_are() {
    // "initStrings":["payload"]
    assert_eq!(counts(r#"[{"initStrings":["payload"]}]"#), (25, 7));
    // "initStrings":["a","b"]
    assert_eq!(counts(r#"[{"initStrings":["a","b"]}]"#), (23, 2));
    assert_eq!(counts(r#"[{"initStrings":"payload"}]"#), (25, 7));
    for line in [
        "setoption name Hash value 64\npayload",
        "setoption name Hash value 64 ",
        "setoption name  Hash value 64",
        "setoption name HASH value 64",
        "setoption name UCI_payload value true",
        "setoption name Weights value 12",
        "uci",
    ] {
        let text = format!(r#"[{{"initStrings":[{}]}}]"#, quoted(line));
        assert_eq!(counts(&text).1, line.len() as u64, "{line:?}");
    }
}

#[test]
fn words_beside_the_path_count() {
    assert_eq!(counts(r#"[{"command":"./engine payload"}]"#), (19, 7));
    assert_eq!(counts(r#"[{"command":"sh ./engine"}]"#), (14, 2));
    assert_eq!(counts(r#"[{"command":"\"/my engines/engine\""}]"#), (0, 0));
    assert_eq!(counts(r#"[{"command":"./other"}]"#), (0, 0));
    assert_eq!(counts(r#"[{"command":"./engine \"a  b\""}]"#), (16, 4));
    let long = format!("/{}/engine", "x".repeat(900));
    assert_eq!(counts(&format!(r#"[{{"command":"{long}"}}]"#)).1, 908);
    assert_eq!(counts(r#"[{"arguments":["ab"]}]"#), (18, 2));
}

#[test]
fn a_working_directory_counts_where_it_is_no_likely_one() {
    for likely in [".", "", "/home/tcec/engines/plain"] {
        assert_eq!(counts(&format!(r#"[{{"workingDirectory":"{likely}"}}]"#)), (0, 0), "{likely}");
    }
    // "workingDirectory":"/payload="
    assert_eq!(counts(r#"[{"workingDirectory":"/payload="}]"#), (30, 9));
    let long_component = format!("/{}", "a".repeat(65));
    let long = "/abc".repeat(33);
    for cargo in [long_component, long] {
        let (_, bare) = counts(&format!(r#"[{{"workingDirectory":"{cargo}"}}]"#));
        assert_eq!(bare, cargo.len() as u64, "{cargo}");
    }
}

#[test]
fn a_default_stands_in_for_a_missing_value() {
    assert_eq!(counts(r#"[{"options":[{"name":"W","default":"payload"}]}]"#), (13, 7));
    assert_eq!(counts(r#"[{"options":[{"name":"W"}]}]"#), (0, 0));
    assert_eq!(counts(r#"[{"options":[{"name":"W","type":"button"}]}]"#), (6, 0));
}

#[test]
fn what_else_stands_in_an_option_counts_unless_it_describes_configuration() {
    // "W":"p" and "default":"payload","alias":"x","choices":["y"],"min":"1","max":"2"
    let text = r#"[{"options":[{"name":"W","value":"p","default":"payload","alias":"x",
        "choices":["y"],"min":1,"max":2,"note":"not counted"}]}]"#;
    assert_eq!(counts(text), (7 + 19 + 11 + 15 + 9 + 9, 1 + 7 + 1 + 1 + 1 + 1));
    let text = r#"[{"options":[{"name":"Hash","value":64,"default":"payload","alias":"hidden",
        "min":"letters","max":33554432}]}]"#;
    assert_eq!(counts(text), (19 + 16 + 15, 7 + 6 + 7));
    let text = r#"[{"options":[{"name":"NumaPolicy","value":"auto","default":"auto","alias":"",
        "choices":["auto","none"]}]}]"#;
    assert_eq!(counts(text), (0, 0));
}

#[test]
fn the_shape_that_the_rule_shows_counts_as_well() {
    assert_eq!(counts(r#"[{"options":{"TuringEngine":"....","Hash":64}}]"#), (21, 4));
}

#[test]
fn escapes_count_as_what_they_stand_for() {
    // six characters in the file, one byte for the engine, "A":"B"
    assert_eq!(counts(r#"[{"options":[{"name":"A","value":"\u0042"}]}]"#), (7, 1));
    // a control character cannot be written shorter
    assert_eq!(counts(r#"[{"options":[{"name":"A","value":"\u0001"}]}]"#), (12, 1));
}

#[test]
fn malformed_or_open_configurations_fail_at_their_line() {
    let (report, finding) = judged("[\n {\"name\": \"a\",}\n]");
    assert_eq!(report.counts, None);
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.summary.starts_with("engines.json:2:15: a key"), "{}", finding.summary);
    assert_eq!(finding.evidence["line"], 2);
    let (_, finding) = judged("[{\"name\":\"a\"},{\"name\":\"b\"}]");
    assert_eq!(finding.status, Status::Fail);
    assert!(finding.help.contains("--name"));
}

#[test]
fn a_name_that_is_too_long_to_be_one_counts_in_both_readings() {
    let (_, bare) = option(&"n".repeat(64), "1");
    assert_eq!(bare, 1);
    let (canonical, bare) = option(&"n".repeat(700), "1");
    assert!(bare == 701 && canonical > bare, "{canonical} {bare}");
}

#[test]
fn a_name_that_may_look_like_another_stands_in_quotes() {
    let field = |name: &str| {
        let text = format!(r#"[{{"options":[{{"name":{},"value":1}}]}}]"#, quoted(name));
        judged(&text).0.fields[0].field.clone()
    };
    assert_eq!(field("Weights"), "option Weights");
    assert_eq!(field("Hash "), "option \"Hash \"");
    // The first two letters are Cyrillic.
    assert_eq!(field("\u{41d}\u{430}sh"), r#"option "\u{41d}\u{430}sh""#);
}

#[test]
fn a_path_that_is_none_is_told_with_its_key() {
    let text = format!(r#"[{{"stderrFile":"/tmp/{}"}}]"#, "x".repeat(80));
    let reason = &judged(&text).0.fields[0].reason;
    assert!(reason.starts_with("stderrFile is a path, and 80 bytes"), "{reason}");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,80}") {
        let _ = judged(&text);
    }

    #[test]
    fn the_bare_reading_is_never_the_larger(
        key in "(command|initStrings|workingDirectory|stderrFile|arguments|name|x)",
        value in "\\PC{0,40}",
        name in "(Hash|SyzygyPath|UCI_X|W|\\PC{0,8})",
    ) {
        let text = format!(
            r#"[{{"{key}":{},"options":[{{"name":{},"value":{}}}]}}]"#,
            quoted(&value), quoted(&name), quoted(&value)
        );
        let (canonical, bare) = counts(&text);
        prop_assert!(bare <= canonical);
    }
}
