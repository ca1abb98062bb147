//! A site of an event that strangers have filled with markup, at several moments.

use std::time::{Duration, SystemTime};

use super::*;
use crate::event::journal::record::{
    EngineKilled, GameFinished, GameStarted, JournalPly, JournalRecord, StageStarted,
};
use crate::model::game::ending::Termination;
use crate::model::game::opening::OpeningNames;
use crate::view::screen::{Runner, Screen, begin_line, end_line, move_line};

const EVIL: &str = "</script><script>alert(1)</script>\"'&\u{202e}";

fn config() -> (tempfile::TempDir, EventConfig) {
    config_of("double-round-robins = 1")
}

fn config_of(format: &str) -> (tempfile::TempDir, EventConfig) {
    let dir = tempfile::tempdir().unwrap();
    // No event file gives a name that turns the text beside it: only the site does.
    let name = EVIL.trim_end_matches('\u{202e}');
    let mut text = format!("event = {name:?}\nsite = {EVIL:?}\ntime-control = \"9+1\"\n")
        .replace("\\'", "'")
        .replace("\\u{202e}", "\\u202e");
    for entry in ["a", "b"] {
        std::fs::write(dir.path().join(entry), "").unwrap();
        let name = format!("{entry}<b>");
        text += &format!("[[entry]]\nname = \"{name}\"\npath = \"{entry}\"\n");
    }
    text += &format!(
        "[[stage]]\nname = \"P<i>\"\nformat = {{ {format} }}\nbook-policy = \"none\"\n\
         draw = \"seeds\"\ntie-breaks = \"4k\"\npromote = 1\n"
    );
    let path = dir.path().join("event.toml");
    std::fs::write(&path, text).unwrap();
    let config = EventConfig::load(&path).unwrap();
    (dir, config)
}

fn started() -> GameStarted {
    GameStarted {
        id: "e/p/1.1/a/b".into(),
        stage: 0,
        round: 1,
        game: 1,
        white: "a<b>".into(),
        black: "b<b>".into(),
        attempt: 1,
        start: None,
        opening: "e2e4 e7e5".into(),
        opening_names: Some(OpeningNames { opening: Some(EVIL.into()), ..OpeningNames::default() }),
        time_control: "9+1".into(),
        sha256: [EVIL.into(), EVIL.into()],
        options: [EVIL.into(), EVIL.into()],
        clocks: [9_000_000, 9_000_000],
        at: "2026-01-02T03:04:05.000Z".into(),
    }
}

fn ply(number: usize, uci: &str, pv: &str) -> JournalRecord {
    JournalRecord::Ply(JournalPly {
        id: "e/p/1.1/a/b".into(),
        number,
        uci: uci.into(),
        used: 1_250_000,
        clocks: [7_750_000, 9_000_000],
        eval: Some(34),
        depth: Some(12),
        seldepth: Some(20),
        nodes: Some(1_234_567),
        speed: Some(987_654),
        hashfull: Some(123),
        table_hits: Some(42),
        pv: pv.into(),
        rules_in: (-8, -1000).into(),
    })
}

fn finished() -> JournalRecord {
    JournalRecord::GameFinished(GameFinished {
        id: "e/p/1.1/a/b".into(),
        stage: 0,
        round: 1,
        game: 1,
        white: "a<b>".into(),
        black: "b<b>".into(),
        result: "1-0".into(),
        termination: None,
        details: EVIL.into(),
        reason: Termination::NoStart(EVIL.into()),
        by_rule: None,
        start: None,
        moves: "e2e4 e7e5 g1f3 b8c6".into(),
        book: 2,
        unanswered: None,
        lasted: 2_500_000,
        at: "2026-01-02T03:05:05.000Z".into(),
    })
}

/// The event with so many records.
fn played(records: usize) -> Broadcast {
    let mut broadcast = Broadcast::default();
    let stage = StageStarted {
        stage: 0,
        name: "P<i>".into(),
        seats: vec!["a<b>".into(), "b<b>".into()],
        ..StageStarted::default()
    };
    let killed = EngineKilled {
        entry: "b<b>".into(),
        why: EVIL.into(),
        exit: Some(EVIL.into()),
        stderr: vec![EVIL.into()],
        said: vec![EVIL.into()],
        id: None,
        versions: vec![EVIL.into()],
    };
    let all = [
        JournalRecord::StageStarted(stage),
        JournalRecord::GameStarted(started()),
        ply(0, "g1f3", &format!("g1f3 b8c6 {EVIL} f1b5")),
        ply(1, "b8c6", "b8c6"),
        JournalRecord::EngineKilled(killed),
        finished(),
    ];
    for record in all.into_iter().take(records) {
        broadcast.apply(record).unwrap();
    }
    broadcast
}

fn files(config: &EventConfig, broadcast: &Broadcast, kind: SiteKind) -> Vec<File> {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let site = Site { config, broadcast, running: &[], runner: Runner::AtWork, now, kind };
    let mut files = site.all_files();
    files.extend(site.live_files(&broadcast.games.values().collect::<Vec<_>>()));
    files
}

/// A file of the site by its name.
fn file(config: &EventConfig, broadcast: &Broadcast, kind: SiteKind, name: &str) -> String {
    files(config, broadcast, kind).into_iter().find(|(one, _)| one == name).unwrap().1
}

#[test]
fn what_strangers_wrote_is_text_wherever_it_stands() {
    let formats = [
        "double-round-robins = 1",
        "match = { pairs = 1 }",
        "swiss = { rounds = 1, pairing = \"monrad\" }",
        "swiss = { rounds = 1, pairing = \"dutch\" }",
        "knockout = { bracket = \"equal-distance\", pairs = [1], early = true }",
    ];
    for (format, records) in formats.iter().flat_map(|format| (0..=6).map(move |n| (format, n))) {
        let (_dir, config) = config_of(format);
        for kind in [SiteKind::Served, SiteKind::Exported, SiteKind::Alone] {
            for (name, text) in files(&config, &played(records), kind) {
                if name.ends_with(".html") {
                    let own = if kind == SiteKind::Alone || name.contains("live") { 0 } else { 1 };
                    assert_eq!(text.matches("<script").count(), own, "{name}: {text}");
                    assert!(!text.contains("<b>\"") && !text.contains("a<b>"), "{name}: {text}");
                    assert!(!text.contains("P<i>") && !text.contains("\"'&\""), "{name}: {text}");
                }
                if name.ends_with(".html") || name.ends_with(".json") {
                    assert!(!text.contains('\u{202e}'), "{name}");
                }
            }
        }
    }
}

#[test]
fn no_file_asks_for_anything_elsewhere() {
    let (_dir, config) = config();
    for kind in [SiteKind::Served, SiteKind::Exported] {
        for (name, text) in files(&config, &played(6), kind) {
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for outside in ["http:", "https:", "//www", "@import", "url("] {
                assert!(!text.contains(outside), "{name}: {outside}");
            }
        }
    }
}

#[test]
fn a_game_under_way_has_its_words_without_a_script() {
    let (_dir, config) = config();
    let broadcast = played(4);
    let text = file(&config, &broadcast, SiteKind::Served, "games/1-1.1.html");
    for part in [
        "<a href=\"#p3\">2. Nf3</a>",
        "book ends",
        "+0.34",
        "12/20",
        "1.2 M",
        "987.7 k/s",
        "hash 12.3 %",
        "42 tablebase hits",
        "1.25 s",
        "0:07.7",
        "data-line=\"g1f3 b8c6\"",
        "White expected at 2. Nf3: </span>Nf3 Nc6",
        "Fifty-move rule in 98 plies",
        "The draw rule in 8 plies, not counting yet",
        "2… Nc6, White to move",
        "data-since=",
        "<svg class=\"graph\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_row_has_all_figures_of_its_move() {
    let (_dir, config) = config();
    let text = file(&config, &played(4), SiteKind::Exported, "games/1-1.1.html");
    let row = text.split("<tr id=\"p3\"").nth(1).and_then(|rest| rest.split("</tr>").next());
    for part in ["987.7 k/s", "hash 12.3 %", "42 tablebase hits", "0:07.7"] {
        assert!(row.is_some_and(|row| row.contains(part)), "{part}: {row:?}");
    }
    assert!(text.contains("data-clocks=\"0:09.0 0:09.0\""), "{text}");
}

#[test]
fn black_may_have_the_first_move() {
    let (_dir, config) = config();
    let stage = StageStarted {
        name: "P<i>".into(),
        seats: vec!["a<b>".into(), "b<b>".into()],
        ..StageStarted::default()
    };
    let game = GameStarted {
        start: Some("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1".into()),
        opening: String::new(),
        ..started()
    };
    let mut broadcast = Broadcast::default();
    broadcast.apply(JournalRecord::StageStarted(stage)).unwrap();
    broadcast.apply(JournalRecord::GameStarted(game)).unwrap();
    let page = file(&config, &broadcast, SiteKind::Served, "games/1-1.1.html");
    assert!(page.contains("The game begins, Black to move"), "{page}");
    assert!(page.contains("<div class=\"player black runs\">"), "{page}");
    let screen = Screen {
        config: &config,
        broadcast: &broadcast,
        running: &[],
        now: SystemTime::UNIX_EPOCH,
        runner: Runner::AtWork,
        width: 200,
        height: 24,
    };
    let lines = screen.lines();
    assert!(lines.iter().any(|line| line.contains("● b<b>") && line.ends_with('◂')), "{lines:#?}");
    broadcast.apply(ply(0, "e7e5", "e7e5")).unwrap();
    let page = file(&config, &broadcast, SiteKind::Served, "games/1-1.1.html");
    let graph = page.split("<svg class=\"graph\"").nth(1).unwrap();
    assert!(graph.contains("<polyline class=\"black\""), "{graph}");
    assert!(!graph.contains("<polyline class=\"white\""), "{graph}");
}

#[test]
fn the_front_page_tells_each_moment() {
    let (_dir, config) = config();
    let front = |records: usize, kind| file(&config, &played(records), kind, "index.html");
    let before = front(0, SiteKind::Served);
    assert!(before.contains("Not begun."));
    // The games are known before the first of them begins, and when after the beginning.
    for part in ["Next games", "Schedule", "at the beginning", " after the beginning", "1.1"] {
        assert!(before.contains(part), "{part}: {before}");
    }
    let next = front(2, SiteKind::Served);
    let next = next.split("Next games").nth(1).and_then(|rest| rest.split("</ul>").next());
    assert!(
        next.is_some_and(|next| next.contains("P&lt;i&gt; 2.1, <bdi>b&lt;b&gt;</bdi>")),
        "{next:?}"
    );
    let under_way = front(3, SiteKind::Served);
    assert!(under_way.contains("0 of 2 games played") && under_way.contains("about <time"));
    let over = front(6, SiteKind::Exported);
    assert!(over.contains("1 of 2 games played"), "{over}");
    assert!(over.contains("<a class=\"w\" href=\"games/1-1.1.html\""), "{over}");
    assert!(over.contains(" was ended: "), "{over}");
    assert!(!front(6, SiteKind::Alone).contains("games/1-1.1.html"));
}

#[test]
fn a_moves_message_is_small_however_long_the_game_is() {
    let (_dir, config) = config();
    let mut broadcast = played(2);
    let moves = ["g1f3", "b8c6", "f3g1", "c6b8"];
    let sizes: Vec<usize> = (0..60)
        .map(|number| {
            broadcast.apply(ply(number, moves[number % 4], moves[number % 4])).unwrap();
            let live = files(&config, &broadcast, SiteKind::Served);
            let (_, text) = live.iter().find(|(name, _)| name.ends_with(".live.html")).unwrap();
            text.len()
        })
        .collect();
    // The graph alone grows, by a few numbers a ply.
    assert!(sizes[59] - sizes[20] < 39 * 60, "{sizes:?}");
}

#[test]
fn a_crash_is_a_folder_that_the_page_leads_to() {
    let (_dir, config) = config();
    let broadcast = played(6);
    for kind in [SiteKind::Served, SiteKind::Exported] {
        let files: std::collections::BTreeMap<String, String> =
            files(&config, &broadcast, kind).into_iter().collect();
        let folder = "crashes/1-1.1-1";
        for file in ["crash.txt", "moment.uci", "position.fen", "stderr.txt"] {
            assert!(files["index.html"].contains(&format!("href=\"{folder}/{file}\"")), "{file}");
            let page = &files["games/1-1.1.html"];
            assert!(page.contains(&format!("href=\"../{folder}/{file}\"")), "{file}");
            assert!(!files[&format!("{folder}/{file}")].contains('\u{202e}'), "{file}");
        }
        let moment = &files[&format!("{folder}/moment.uci")];
        assert!(moment.starts_with("uci\nisready\nucinewgame\nisready\n"), "{moment}");
        // The clocks as the last move left them.
        assert!(
            moment.ends_with(
                "position startpos moves e2e4 e7e5 g1f3 b8c6\n\
                 go wtime 7750 btime 9000 winc 1000 binc 1000\n"
            ),
            "{moment}"
        );
        let told = &files[&format!("{folder}/crash.txt")];
        assert!(told.starts_with("b<b> was ended: ") && told.contains("after 2… Nc6"), "{told}");
        assert!(told.contains("| gate4k run b\n"), "{told}");
        let dialogue = &files[&format!("{folder}/dialogue.txt")];
        let asked = "> position startpos moves e2e4 e7e5 g1f3\n> go wtime 7750 btime 9000 winc 1000 binc 1000\n(2… Nc6";
        assert!(dialogue.starts_with("> uci\n") && dialogue.contains(asked), "{dialogue}");
        assert!(files[&format!("{folder}/game.pgn")].contains("2. Nf3 {"), "{files:?}");
    }
    let alone = files(&config, &broadcast, SiteKind::Alone);
    assert!(!alone.iter().any(|(name, text)| name == "index.html" && text.contains("crashes/")));
}

#[test]
fn a_terminal_gets_lines_without_commands() {
    let (_dir, config) = config();
    for records in 0..=6 {
        let broadcast = played(records);
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let screen = Screen {
            config: &config,
            broadcast: &broadcast,
            running: &[],
            now,
            runner: Runner::AtWork,
            width: 200,
            height: 24,
        };
        let mut lines = screen.lines();
        lines.push(screen.headline());
        for game in broadcast.games.values() {
            lines.push(begin_line(&config, game));
            lines.extend(end_line(game));
            lines.extend(game.moves().iter().map(|one| move_line(game, one)));
        }
        assert!(lines.len() <= 24 + 8, "{lines:#?}");
        for line in lines {
            assert!(!line.contains(crate::model::text::steers), "{line:?}");
        }
    }
}

#[test]
fn a_terminal_shows_the_board_with_clocks_and_evaluations() {
    let (_dir, config) = config();
    let broadcast = played(4);
    let begun = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let running = [Running { id: "e/p/1.1/a/b".into(), plies: 2, since: begun }];
    let screen = Screen {
        config: &config,
        broadcast: &broadcast,
        running: &running,
        now: begun + Duration::from_secs(2),
        runner: Runner::AtWork,
        width: 200,
        height: 24,
    };
    let page = screen.lines().join("\n");
    for part in [
        "8 ♜ · ♝ ♛ ♚ ♝ ♞ ♜   ● b<b>                           0:09.0\n",
        "7 ♟ ♟ ♟ ♟ · ♟ ♟ ♟     +0.34  depth 12/20  1.2 M nodes  987.7 k/s\n",
        "5 · · · · ♟ · · ·     1. e4 e5\n",
        "4 · · · · ♙ · · ·     2. Nf3 Nc6\n",
        // Two seconds have gone since it began to run.
        "2 ♙ ♙ ♙ ♙ · ♙ ♙ ♙   ○ a<b>                           0:05.7 ◂\n",
        "  a b c d e f g h    2… Nc6, White to move\n",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let away = Screen { runner: Runner::Away, ..screen }.lines().join("\n");
    assert!(away.contains("0:07.7\n") && away.contains("No runner is at work."), "{away}");
}

#[test]
fn who_watches_before_the_first_game_is_told_what_is_waited_for() {
    let (_dir, config) = config();
    let broadcast = Broadcast::default();
    let screen = Screen {
        config: &config,
        broadcast: &broadcast,
        running: &[],
        now: SystemTime::UNIX_EPOCH,
        runner: Runner::Away,
        width: 200,
        height: 24,
    };
    let away = screen.lines().join("\n");
    for part in ["No runner is at work.", "event.toml` begins the event", "2 entries: a<b>, b<b>"] {
        assert!(away.contains(part), "{part}: {away}");
    }
    assert!(away.contains("Games to come:\n  P<i> 1.1  a<b> – b<b>"), "{away}");
    let judged = Screen { runner: Runner::AtWork, ..screen }.lines().join(" ");
    assert!(judged.contains("The entries are being checked"), "{judged}");
    let begun = played(1);
    let begun = Screen { broadcast: &begun, runner: Runner::AtWork, ..screen }.headline();
    assert!(!begun.contains("checked"), "{begun}");
}

#[test]
fn names_do_not_turn_what_stands_beside_them() {
    let (_dir, config) = config();
    let files = files(&config, &played(6), SiteKind::Exported);
    let pair = "<bdi>a&lt;b&gt;</bdi> – <bdi>b&lt;b&gt;</bdi>";
    for (name, text) in &files {
        // A page's title is text alone.
        if let Some((_, body)) = text.split_once("<body") {
            assert!(body.contains(pair) && !body.contains("a&lt;b&gt; – "), "{name}");
        }
    }
}

#[test]
fn clocks_stand_where_the_runner_has_gone() {
    let (_dir, config) = config();
    let broadcast = played(4);
    let now = SystemTime::UNIX_EPOCH;
    let pages = |runner| {
        let kind = SiteKind::Served;
        let site = Site { config: &config, broadcast: &broadcast, running: &[], runner, now, kind };
        let page =
            |name: &str| site.all_files().into_iter().find(|(one, _)| one == name).unwrap().1;
        [page("index.html"), page("games/1-1.1.html")]
    };
    for (gone, there) in pages(Runner::Away).iter().zip(pages(Runner::AtWork)) {
        assert!(gone.contains("No runner is at work."), "{gone}");
        assert!(!gone.contains(" data-since=") && !gone.contains("white runs"), "{gone}");
        assert!(!there.contains("No runner is at work."), "{there}");
        assert!(there.contains(" data-since=") && there.contains("white runs"), "{there}");
    }
}

/// A directory that is published is not told when its runner ends. White has 7.75 seconds, and a minute is for all else.
#[test]
fn a_page_that_is_replaced_says_when_it_is_replaced_at_the_latest() {
    let (_dir, config) = config();
    let told = "A move is due by <time datetime=\"2027-01-15T08:01:07Z\">2027-01-15 08:01:07 UTC</time>; \
                if this page is the same after that, no runner is at work.";
    for name in ["index.html", "games/1-1.1.html"] {
        let has = |kind, records| file(&config, &played(records), kind, name).contains(told);
        assert!(has(SiteKind::Mirrored, 4), "{name}");
        assert!(!has(SiteKind::Mirrored, 6) && !has(SiteKind::Served, 4), "{name}");
    }
}

/// As in a file of games, of which there are no receipts and no records of crashes.
#[test]
fn a_recorded_event_tells_its_crashes_by_the_ends_of_games() {
    let (_dir, config) = config();
    let mut broadcast = played(3);
    let JournalRecord::GameFinished(end) = finished() else { panic!("another record") };
    let end = GameFinished { reason: Termination::Crash { exit: None }, ..end };
    broadcast.apply(JournalRecord::GameFinished(end)).unwrap();
    let page = file(&config, &broadcast, SiteKind::Exported, "index.html");
    let incidents = page.split("id=\"incidents\"").nth(1).unwrap();
    assert!(incidents.contains("1-0: Black disconnects"), "{incidents}");
    assert!(!page.contains("not yet checked") && !page.contains("id=\"entries\""), "{page}");
    let before = file(&config, &played(0), SiteKind::Exported, "index.html");
    assert!(before.contains("id=\"entries\"") && before.contains("not yet checked"), "{before}");
}
