//! Every form of the report for an accepted, a rejected and an undecided entry, against snapshots and schemas.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test --test suite reports` writes the snapshots anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::ValueEnum;
use gate4k::judge::waive;
use gate4k::judge::waiver::Waiver;
use gate4k::model::entry_report::{
    Circumstances, ConfigFinding, EntryReport, Leftover, ReportInput, RunSummary, StartTimes,
};
use gate4k::model::evidence::PlayedGame;
use gate4k::model::evidence::{
    Capabilities, EndHow, EntryColours, Exec, ExecOutcome, ExitHow, GameEnd, GameFault, LeftFile,
    LeftProcess, PlayedPly, Product, ProgramClass, Purpose, Rival, RunEnding, Shell, WhyIllegal,
};
use gate4k::model::game::result::GameResult;
use gate4k::model::game::score::Score;
use gate4k::model::layer_status::{Layer, LayerName, LayerState};
use gate4k::model::rule::{RULES, RuleId};
use gate4k::model::size_figures::SizeFigures;
use gate4k::model::source_place::SourcePlace;
use gate4k::model::units::Bytes;
use gate4k::model::verdict::{Finding, Verdict};
use gate4k::view::layout::PageLayout;
use gate4k::view::place::BasePaths;
use gate4k::view::report_format::ReportFormat;
use gate4k::view::{json, junit, sarif};
use serde_json::Value;

use crate::trials::Test;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn size(file: u64, stub: u64, payload: u64) -> Option<SizeFigures> {
    Some(SizeFigures {
        file: Bytes(file),
        stub: Some(Bytes(stub)),
        payload: Bytes(payload),
        payload_bare: Bytes(payload),
        total: Bytes(file + payload),
        limit: Bytes::LIMIT_4K,
    })
}

fn exec(name: &str, class: ProgramClass, at: u64, lasted: Option<u64>, by: Option<usize>) -> Exec {
    Exec {
        at: ms(at),
        pid: 100 + i32::try_from(at).unwrap(),
        parent: 99,
        by,
        asked: format!("/usr/bin/{name}"),
        real: Some(format!("/usr/bin/{name}")),
        script: false,
        argv: vec![name.to_owned(), "-c".to_owned()],
        outcome: ExecOutcome::Ran,
        class,
        name: name.to_owned(),
        lasted: lasted.map(ms),
        exit: lasted.map(|_| ExitHow::Status(0)),
        product: None,
        lacks: None,
    }
}

fn layers(net: LayerState) -> Vec<Layer> {
    let layer = |name, state, reason: &str| Layer { name, state, reason: reason.to_owned() };
    vec![
        layer(LayerName::Landlock, LayerState::Enforced, "ABI 6"),
        layer(LayerName::Seccomp, LayerState::Enforced, ""),
        layer(
            LayerName::Net,
            net,
            if net == LayerState::Enforced { "" } else { "user namespaces are off" },
        ),
    ]
}

/// A finding for every rule: passed, but for those that are given.
fn findings(own: Vec<Finding>) -> Vec<Finding> {
    let mut all: Vec<Finding> = RULES
        .iter()
        .filter(|rule| own.iter().all(|found| found.rule != rule.id))
        .map(|rule| Finding::pass(rule.id, format!("seen: {}", rule.title)))
        .collect();
    all.extend(own);
    all.sort_by_key(|found| found.rule);
    all
}

fn accepted() -> EntryReport {
    let findings = findings(vec![Finding::advice(
        RuleId::UciQuit,
        "`quit` ends it within 9 ms; it does not read while it thinks, which no rule asks for",
    )]);
    let mut own = exec("a.out", ProgramClass::OwnProduct, 338, None, Some(0));
    own.product = Some(Product { size: Bytes(29_424), sha256: "cd".repeat(32) });
    let mut missing = exec("pypy3", ProgramClass::Refused, 3, None, Some(0));
    missing.outcome = ExecOutcome::NotFound;
    missing.real = None;
    let mut broken = exec("x", ProgramClass::Entry, 0, None, None);
    broken.outcome = ExecOutcome::Failed(8);
    EntryReport {
        path: "entries/good".into(),
        file: "entries/good/engine".into(),
        sha256: Some("ab".repeat(32)),
        size: size(2538, 86, 0),
        verdict: Verdict::of(&findings),
        findings,
        startup: StartTimes { uciok: Some(ms(345)), readyok: Some(ms(346)) },
        execs: vec![
            broken,
            exec("engine", ProgramClass::Entry, 0, None, None),
            missing,
            exec("xz", ProgramClass::Listed, 4, Some(9), Some(1)),
            exec("cc", ProgramClass::Listed, 5, Some(330), Some(1)),
            exec("cc1", ProgramClass::Helper, 14, Some(240), Some(4)),
            exec("as", ProgramClass::Helper, 256, Some(22), Some(4)),
            exec("rm", ProgramClass::Tolerated, 337, Some(1), Some(1)),
            own,
        ],
        leftovers: Vec::new(),
        layers: layers(LayerState::Enforced),
        capabilities: Some(Capabilities {
            go_clock: Some(true),
            go_bare: Some(true),
            stop: Some(false),
            ..Capabilities::default()
        }),
        transcript: [
            "   0.000 > uci",
            "   0.345 < uciok",
            "   0.345 > isready",
            "   0.346 < readyok",
        ]
        .map(str::to_owned)
        .to_vec(),
        runs: vec![run(Purpose::Main, EndHow::Quit), run(Purpose::KilledMidway, EndHow::Killed)],
        games: vec![
            game(1, Rival::Itself, GameEnd::Whole("White mates".into()), true),
            game(2, Rival::Reference, GameEnd::Cut("the match was stopped".into()), false),
        ],
        circumstances: Circumstances::default(),
    }
}

/// A short game, with or without scores.
fn game(number: usize, rival: Rival, end: GameEnd, told: bool) -> PlayedGame {
    let score = |at: i32| match at {
        5 => Score::mate_in_plies(2),
        6 => Score::mate_in_plies(1),
        at => Score::centipawns(i64::from(40 * at - 90)),
    };
    let ply = |(at, word): (i32, &str)| PlayedPly {
        uci: word.to_owned(),
        took: (at > 1).then(|| ms(40 + 30 * u64::try_from(at % 4).unwrap())),
        score: (at > 1 && told).then(|| score(at)),
    };
    PlayedGame {
        number,
        rival,
        colours: if rival == Rival::Itself { EntryColours::Both } else { EntryColours::Black },
        result: match end {
            GameEnd::Cut(_) => GameResult::Unfinished,
            _ => GameResult::Win(shakmaty::Color::White),
        },
        told: Vec::new(),
        again: None,
        end,
        fen: "r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4".to_owned(),
        moves: (0..)
            .zip(["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"])
            .map(ply)
            .collect(),
        answered: 0,
        slowest: None,
        command: String::new(),
        late: Vec::new(),
        exit: None,
        stderr: Vec::new(),
        refusals: Vec::new(),
    }
}

fn run(purpose: Purpose, how: EndHow) -> RunSummary {
    RunSummary {
        purpose,
        shell: Shell::AsIs,
        startup: StartTimes { uciok: Some(ms(345)), readyok: Some(ms(346)) },
        asked: 12,
        answered: 12,
        ending: RunEnding {
            how,
            exit: Some(ExitHow::Status(0)),
            exit_after: Some(ms(9)),
            emptied_after: Some(ms(20)),
        },
        strained: false,
    }
}

/// With names that try what they can.
fn rejected() -> EntryReport {
    let name = "<b>|`@all`</b> [x](http://y.z) ::error::,: {0} ]]>";
    let findings = findings(vec![
        Finding::fail(RuleId::Size, "4117 bytes, 21 over")
            .detail("file 4097, engines.json 20")
            .with("over", 21)
            .help("save 21 bytes"),
        Finding::fail(RuleId::Commands, format!("{name} was started"))
            .detail(format!("asked for by sh: {name}"))
            .detail("::warning::not a command")
            .with("name", name),
        Finding::fail(RuleId::LeftoverProcesses, "1 process remained"),
        Finding::skipped(RuleId::Ponder, RuleId::Commands),
    ]);
    EntryReport {
        path: format!("entries/bad {name}").into(),
        file: format!("entries/bad {name}").into(),
        sha256: Some("12".repeat(32)),
        size: size(4097, 69, 20),
        verdict: Verdict::of(&findings),
        findings,
        startup: StartTimes { uciok: Some(ms(80)), readyok: None },
        execs: vec![
            exec("engine", ProgramClass::Entry, 0, None, None),
            exec(name, ProgramClass::Refused, 20, Some(900), Some(0)),
        ],
        leftovers: vec![
            Leftover::File(LeftFile {
                path: format!("/tmp/{name}"),
                size: Bytes(3),
                kind: "file".into(),
                made_by: Some("sh".into()),
                exempt: None,
            }),
            Leftover::Process(LeftProcess { pid: 9, state: 'S', command: name.into() }),
        ],
        layers: layers(LayerState::Enforced),
        capabilities: Some(Capabilities::default()),
        transcript: vec!["   0.000 > uci".into(), format!("   0.080 < ``` </pre> {name}")],
        runs: vec![run(Purpose::Main, EndHow::Killed)],
        games: [
            GameFault::Illegal { said: name.into(), why: WhyIllegal::OnBoard(name.into()) },
            GameFault::NoMove { said: "0000".into(), legal: 3 },
            GameFault::Gone,
            GameFault::Silent { left: ms(200), waited: ms(5_200) },
            GameFault::NoStart(name.into()),
        ]
        .into_iter()
        .zip(1..)
        .map(|(fault, number)| game(number, Rival::Reference, GameEnd::Fault(fault), true))
        .collect(),
        circumstances: Circumstances::default(),
    }
}

fn undecided() -> EntryReport {
    let findings = findings(vec![
        Finding::undecided(RuleId::Startup, "pypy3 is not installed here").help("install pypy3"),
        Finding::skipped(RuleId::UciGo, RuleId::Startup),
    ]);
    EntryReport {
        path: "entries/open".into(),
        file: "entries/open".into(),
        sha256: None,
        size: None,
        verdict: Verdict::of(&findings),
        findings,
        startup: StartTimes::default(),
        execs: Vec::new(),
        leftovers: Vec::new(),
        layers: layers(LayerState::Absent),
        capabilities: None,
        transcript: Vec::new(),
        runs: Vec::new(),
        games: Vec::new(),
        circumstances: Circumstances::default(),
    }
}

/// A waiver for an entry that there is none of.
fn config_finding() -> ConfigFinding {
    let waiver = Waiver {
        entry: "entries/gone".into(),
        rule: RuleId::SingleFile,
        programs: Vec::new(),
        reason: "since 2019".into(),
        date: "2026-11-21".into(),
        sha256: None,
        place: "gate4k.toml:12:9".into(),
        file: "gate4k.toml".into(),
        at: SourcePlace { line: 12, column: 9 },
    };
    waive::without_entry(&[waiver]).remove(0)
}

fn places() -> BasePaths {
    BasePaths { base: "/repo".into(), root: "/repo".into() }
}

/// Every form by the ending of its snapshot.
fn forms(told: ReportInput<'_>) -> Vec<(String, String)> {
    let look = PageLayout { verbose: true, ..PageLayout::of_width(100) };
    let form = |format: &ReportFormat| {
        let name = format.name();
        let ending = match &*name {
            "human" | "github" => format!("{name}.txt"),
            "junit" => "junit.xml".to_owned(),
            "markdown" => "md".to_owned(),
            _ => name,
        };
        let text = format.text(told, look, &places()).unwrap();
        (ending, anstream::adapter::strip_str(&text).to_string())
    };
    ReportFormat::value_variants().iter().map(form).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// Without what `gate4k explain` says, which is no part of the form, and without the version.
fn without_help(sarif: &str) -> String {
    let mut document: Value = serde_json::from_str(sarif).unwrap();
    let driver = &mut document["runs"][0]["tool"]["driver"];
    driver["semanticVersion"] = "VERSION".into();
    for rule in driver["rules"].as_array_mut().unwrap() {
        assert_eq!(rule["help"].as_object().unwrap().len(), 2);
        rule["help"] = "HELP".into();
    }
    serde_json::to_string_pretty(&document).unwrap() + "\n"
}

fn every_form_is_the_one_that_was_looked_at() {
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut wrong = Vec::new();
    for (name, report) in
        [("accepted", accepted()), ("rejected", rejected()), ("undecided", undecided())]
    {
        assert_eq!(report.verdict.word(), name);
        // The configuration of the entry that is rejected has a mistake, too.
        let config_findings = if name == "rejected" { vec![config_finding()] } else { Vec::new() };
        for (ending, text) in
            forms(ReportInput { entries: &[report], config_findings: &config_findings })
        {
            let text = if ending == "sarif" { without_help(&text) } else { text };
            // The version changes with every release and says nothing of the form.
            let text =
                text.replace(&format!("gate4k {}", env!("CARGO_PKG_VERSION")), "gate4k VERSION");
            let path = folder().join(format!("{name}.{ending}"));
            if update {
                fs::write(&path, &text).unwrap();
            } else if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
                wrong.push(path);
            }
        }
    }
    assert!(wrong.is_empty(), "not as in {wrong:#?}; UPDATE_SNAPSHOTS=1 writes them anew");
}

fn complaints(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

fn published() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/check-1.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn all() -> [EntryReport; 3] {
    let circumstances = Circumstances {
        beside: 3,
        terms: vec!["--memory-limit 5242880".into()],
        judged: Some("2026-11-21T09:00:00Z".into()),
        engines_json_sha256: Some("ef".repeat(32)),
        engine: None,
    };
    [EntryReport { circumstances, ..accepted() }, rejected(), undecided()]
}

fn json_is_what_the_published_schema_says() {
    let document: Value = serde_json::from_str(
        &json::check(ReportInput { entries: &all(), config_findings: &[config_finding()] })
            .unwrap(),
    )
    .unwrap();
    assert_eq!(complaints(&published(), &document), [""; 0]);
    assert_eq!(published()["title"], json::CHECK_SCHEMA);
}

/// The schema lets readers expect fields that it does not name; our own must all be named.
fn closed() -> Value {
    fn close(schema: &mut Value) {
        match schema {
            Value::Object(fields) => {
                fields.values_mut().for_each(close);
                if fields.get("properties").is_some_and(Value::is_object) {
                    fields.insert("additionalProperties".into(), Value::Bool(false));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(close),
            _ => {}
        }
    }
    let mut closed = published();
    close(&mut closed);
    closed
}

fn every_field_of_the_json_is_in_the_schema() {
    let document: Value = serde_json::from_str(
        &json::check(ReportInput { entries: &all(), config_findings: &[config_finding()] })
            .unwrap(),
    )
    .unwrap();
    assert_eq!(complaints(&closed(), &document), [""; 0]);
}

/// As above for what the program itself writes, on whatever host this is.
fn what_check_writes_is_in_the_schema() {
    let entry = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/entries/accept/elf/engine");
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "--quick", "--match=1", "--format=json"])
        .arg(entry)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(complaints(&closed(), &document), [""; 0]);
    let entry = &document["entries"][0];
    let games = entry["games"].as_array().unwrap();
    assert_eq!(games.len(), 2);
    for game in games {
        let moves = game["moves"].as_array().unwrap();
        assert!(moves.len() > 4 && moves[4]["took_ms"].is_number(), "{game}");
    }
}

fn every_layer_of_the_sandbox_is_in_the_schema() {
    let words = &published()["$defs"]["layer"]["properties"]["name"]["enum"];
    assert_eq!(*words, Value::from(LayerName::ALL.map(LayerName::word).to_vec()));
}

fn the_schema_refuses_what_is_not_ours() {
    let good: Value = serde_json::from_str(
        &json::check(ReportInput { entries: &all(), config_findings: &[config_finding()] })
            .unwrap(),
    )
    .unwrap();
    for (pointer, wrong) in [
        ("/schema", "gate4k/check/2"),
        ("/entries/0/verdict", "maybe"),
        ("/entries/0/sha256", "AB"),
        ("/entries/0/findings/3/status", "passed"),
        ("/entries/0/execs/1/class", "friend"),
        ("/entries/0/startup/uciok_ms", "345"),
        ("/entries/1/leftovers/0/what", "dust"),
        ("/findings/0/line", "12"),
        ("/entries/0/games/0/result", "2-0"),
        ("/entries/0/games/0/moves/2/move", "Qh5"),
        ("/entries/0/games/0/moves/2/score", "good"),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = wrong.into();
        assert!(!complaints(&published(), &bad).is_empty(), "{pointer}");
    }
}

/// SARIF's own schema, as the crate `serde-sarif` carries it.
fn sarif_schema() -> Value {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let rustc = String::from_utf8(rustc.stdout).unwrap();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    // Without the platform, packages for other systems are asked for too, which no build has fetched.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "serde-sarif").unwrap();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    let path = manifest.with_file_name("src").join("schema.json");
    let mut schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    mend(&mut schema);
    schema
}

/// The standard's own pattern of a language has a bracket too many and is no regular expression.
fn mend(schema: &mut Value) {
    const SLIP: &str = "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$";
    match schema {
        Value::Object(fields) => {
            if fields.get("pattern").is_some_and(|pattern| pattern == SLIP) {
                fields.remove("pattern");
            }
            fields.values_mut().for_each(mend);
        }
        Value::Array(items) => items.iter_mut().for_each(mend),
        _ => {}
    }
}

fn sarif_is_what_its_schema_says_and_what_github_asks_for() {
    let text = sarif::check(
        ReportInput { entries: &all(), config_findings: &[config_finding()] },
        &places(),
    )
    .unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let schema = sarif_schema();
    assert_eq!(complaints(&schema, &document), [""; 0]);
    let mut wrong = document.clone();
    wrong["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!complaints(&schema, &wrong).is_empty());

    let typed: serde_sarif::sarif::Sarif = serde_json::from_str(&text).unwrap();
    for result in typed.runs[0].results.as_ref().unwrap() {
        assert!(result.rule_id.is_some() && result.message.text.is_some());
        let place = result.locations.as_ref().unwrap()[0].physical_location.as_ref().unwrap();
        assert!(place.region.as_ref().unwrap().start_line.is_some());
        let uri = place.artifact_location.as_ref().unwrap().uri.as_ref().unwrap();
        let known = uri.starts_with("entries/") || uri == "gate4k.toml";
        assert!(known && !uri.contains(' '), "{uri}");
        assert!(
            result.partial_fingerprints.as_ref().unwrap().contains_key("primaryLocationLineHash")
        );
    }
}

fn junit_counts_what_the_findings_say() {
    let text = junit::check(ReportInput { entries: &all(), config_findings: &[config_finding()] })
        .unwrap();
    let read = quick_junit::Report::deserialize_from_str(&text).unwrap();
    let counts: Vec<_> =
        read.test_suites.iter().map(|s| (s.tests, s.failures, s.errors, s.skipped)).collect();
    let rules = RULES.len();
    let own = [(rules, 0, 0, 0), (rules, 3, 0, 1), (rules, 0, 1, 1), (1, 0, 0, 0)];
    assert_eq!(counts, own);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick every_form_is_the_one_that_was_looked_at,
        quick json_is_what_the_published_schema_says,
        quick every_field_of_the_json_is_in_the_schema,
        slow what_check_writes_is_in_the_schema [Landlock],
        quick every_layer_of_the_sandbox_is_in_the_schema,
        quick the_schema_refuses_what_is_not_ours,
        quick sarif_is_what_its_schema_says_and_what_github_asks_for,
        quick junit_counts_what_the_findings_say,
    ]
}
