//! The handbook in `docs/` and the README: the pages build, their links lead somewhere, and their commands do what they show.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mdbook_driver::MDBook;

use crate::trials::Test;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page of the handbook, and the README.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .chain([root().join("README.md")])
        .collect();
    pages.sort();
    pages
}

/// The values of an attribute in HTML that mdBook wrote.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    html.split(&format!(" {name}=\"")).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

fn the_handbook_builds_and_its_links_lead_somewhere() {
    let built = tempfile::tempdir().unwrap();
    let mut book = MDBook::load(root().join("docs")).unwrap();
    book.config.build.build_dir = built.path().to_owned();
    book.build().unwrap();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for page in walkdir::WalkDir::new(built.path()) {
        let page = page.unwrap().into_path();
        if page.extension().is_none_or(|extension| extension != "html")
            || page.ends_with("404.html")
        {
            continue;
        }
        seen += 1;
        let html = fs::read_to_string(&page).unwrap();
        assert!(!html.contains("{{#include"), "{}: an include that was not read", page.display());
        for link in attributes(&html, "href") {
            if link.contains("://") || link.starts_with("data:") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let leads = match fs::read_to_string(&target) {
                Ok(text) => place.is_empty() || attributes(&text, "id").contains(&place),
                Err(_) => place.is_empty() && target.is_file(),
            };
            if !leads {
                wrong.push(format!(
                    "{}: {link}",
                    page.strip_prefix(built.path()).unwrap().display()
                ));
            }
        }
    }
    assert!(seen > 20, "{seen} pages");
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

fn every_page_is_in_the_table_of_contents() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let docs = root().join("docs");
    for page in walkdir::WalkDir::new(&docs) {
        let page = page.unwrap().into_path();
        let name = page.strip_prefix(&docs).unwrap().to_str().unwrap();
        if name.ends_with(".md") && name != "SUMMARY.md" {
            assert!(summary.contains(&format!("({name})")), "SUMMARY.md lacks {name}");
        }
    }
}

/// The links of the files that are read on their own, outside of the handbook.
fn links_of_the_files_at_the_top_lead_somewhere() {
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"] {
        let text = fs::read_to_string(root().join(name)).unwrap();
        for rest in text.split("](").skip(1) {
            let link = rest.split([')', '#']).next().unwrap();
            if !link.contains("://") {
                assert!(root().join(link).exists(), "{name}: {link} does not exist");
            }
        }
    }
}

/// A reader who has nothing but a release finds all that its pages lead to, and all that they name of this tree.
fn a_release_holds_what_its_pages_lead_to() {
    let script = fs::read_to_string(root().join("ci/release")).unwrap();
    let list = script.split("\nshipped=(").nth(1).unwrap().split(')').next().unwrap();
    let shipped: Vec<&str> = list.split_whitespace().collect();
    let is_shipped =
        |path: &str| shipped.iter().any(|one| path == *one || path.starts_with(&format!("{one}/")));
    let mut wrong = Vec::new();
    for page in shipped.iter().filter(|path| path.ends_with(".md")) {
        let text = fs::read_to_string(root().join(page)).unwrap();
        for rest in text.split("](").skip(1) {
            let link = rest.split([')', '#']).next().unwrap();
            if !link.contains("://") && !link.is_empty() && !is_shipped(link) {
                wrong.push(format!("{page} leads to {link}"));
            }
        }
    }
    // Pages of the handbook for those who build gate4k speak of its source.
    let of_the_source = ["figures.md", "kernels.md", "first-hour.md"];
    for page in
        pages().into_iter().filter(|page| !of_the_source.iter().any(|it| page.ends_with(it)))
    {
        let text = fs::read_to_string(&page).unwrap();
        for name in text.split('`').skip(1).step_by(2) {
            let name = name.split(' ').next().unwrap().trim_end_matches('/');
            let is_ours =
                name.contains('/') && root().join(name).exists() && !name.starts_with('/');
            if is_ours && !is_shipped(name) {
                wrong.push(format!("{} names {name}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "a release lacks what its pages need:\n{}", wrong.join("\n"));
}

/// Commands that stand on a page without a prompt, since they need what no page can have (an event of days, a repository with
/// two branches, a fleet of machines): each with the module and the test in it that runs them, with fitting paths.
const RUN_ELSEWHERE: &[(&str, &str, &str)] = &[
    (
        "gate4k check --changed-since origin/main --report human=- --report junit=gate4k.xml",
        "changed.rs",
        "the_job_for_gitlab_compares_with_the_tip_of_the_branch_that_it_goes_to",
    ),
    (
        "gate4k check --changed-since origin/main",
        "changed.rs",
        "the_job_for_gitlab_compares_with_the_tip_of_the_branch_that_it_goes_to",
    ),
    ("gate4k event run event.toml", "event/whole.rs", "a_new_event_is_played_as_it_is_written"),
    (
        "gate4k event run --live event.toml",
        "event/audience.rs",
        "an_event_is_watched_from_before_its_first_game_to_its_end",
    ),
    (
        "gate4k event serve event.toml",
        "event/audience.rs",
        "an_event_is_watched_from_before_its_first_game_to_its_end",
    ),
    (
        "gate4k event export site DIR event.toml",
        "event/audience.rs",
        "an_event_is_watched_from_before_its_first_game_to_its_end",
    ),
    (
        "gate4k event export site DIR event.toml --games pool.pgn --games minifinal.pgn",
        "event/audience.rs",
        "an_event_that_was_recorded_has_the_same_pages",
    ),
    (
        "gate4k replay-question report.json legal-moves",
        "replay_question.rs",
        "a_finding_is_replayed_to_the_letter",
    ),
    (
        "gate4k event watch event.toml",
        "event/watched.rs",
        "on_a_terminal_the_board_is_drawn_anew_and_nothing_else_steers_it",
    ),
    (
        "gate4k event export pgn --live live.pgn event.toml >games.pgn",
        "event/watched.rs",
        "a_relay_finds_every_move_and_every_end_in_the_live_pgn",
    ),
    (
        "gate4k event run --publish dir=/srv/www/event --publish lichess=abCD1234 event.toml",
        "event/published.rs",
        "a_broadcast_gets_the_whole_event_through_every_kind_of_failure",
    ),
    (
        "gate4k match --journal 3.journal --shard 3/16 --rounds 5000 --openings book.epd \"cmd=./new name=new\" \
         \"cmd=./base name=base\"",
        "match_/shards.rs",
        "seven_shards_are_one_match",
    ),
    ("gate4k merge --pgn games.pgn *.journal", "match_/shards.rs", "seven_shards_are_one_match"),
    (
        "gate4k check --journal 3.journal --shard 3/16 entries",
        "check_shards.rs",
        "any_number_of_shards_in_any_order_tells_what_one_run_tells",
    ),
    (
        "gate4k merge --report html=report.html --receipt receipt.json *.journal",
        "check_shards.rs",
        "any_number_of_shards_in_any_order_tells_what_one_run_tells",
    ),
    (
        "gate4k match --sprt 0,5 --journal 3.journal --shard 3/16 --until decided --rounds 50000 --openings book.epd \
         \"cmd=./new name=new\" \"cmd=./base name=base\"",
        "match_/shards_tested.rs",
        "shards_end_when_the_merge_that_watches_decides",
    ),
    (
        "gate4k merge --watch decided --pgn games.pgn {1..16}.journal",
        "match_/shards_tested.rs",
        "shards_end_when_the_merge_that_watches_decides",
    ),
];

/// The lines of a page's blocks of code, each with its number, and true where it is in a block of commands that are run.
fn code(text: &str) -> Vec<(usize, &str, bool)> {
    let mut fence = None;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(kind) };
        } else if fence.is_some() || line.starts_with("    ") {
            lines.push((number, line.trim(), fence == Some("console")));
        }
    }
    lines
}

/// True if a line of code starts gate4k, alone or beside other commands.
fn starts_gate4k(line: &str) -> bool {
    let parts = line.split(['|', ';', '&']);
    parts.into_iter().any(|part| {
        let mut words = part.split_whitespace().skip_while(|word| word.contains('='));
        words.next().is_some_and(|word| word == "gate4k" || word.ends_with("/gate4k"))
    })
}

/// Every command of gate4k that is shown is run: behind a prompt in a block of the kind `console`, or by the test that the list
/// above names.
fn every_command_of_a_page_is_run_by_a_test() {
    let mut listed: BTreeSet<&str> = RUN_ELSEWHERE.iter().map(|(command, ..)| *command).collect();
    let mut wrong = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (number, line, is_console) in code(&text) {
            let has_prompt = line.starts_with("$ ");
            let is_ours = !is_console && starts_gate4k(line);
            if (has_prompt && !is_console)
                || (is_ours && !RUN_ELSEWHERE.iter().any(|it| it.0 == line))
            {
                wrong.push(format!("{}:{number}: `{line}` is run by no test", page.display()));
            }
            listed.remove(line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(listed.is_empty(), "on no page any more: {listed:?}");
    for (command, module, test) in RUN_ELSEWHERE {
        let mut text = fs::read_to_string(root().join("tests/suite").join(module)).unwrap();
        if text.contains("ci/gitlab.yml") {
            text += &fs::read_to_string(root().join("ci/gitlab.yml")).unwrap();
        }
        assert!(text.contains(&format!("fn {test}()")), "{module} has no test {test}");
        // The words that make the command what it is; options of a value may be written in one word with it.
        let words = command.split(' ').skip(1);
        let told =
            words.clone().take_while(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
        for word in told.take(2).chain(words.filter(|word| word.starts_with("--"))) {
            assert!(text.contains(word), "{module} never says {word}: {command}");
        }
    }
}

/// The reference has the help of every command, and of nothing else.
fn every_command_is_in_the_reference() {
    fn below(words: &[String], found: &mut BTreeSet<String>) {
        let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
            .args(words)
            .arg("-h")
            .env("COLUMNS", "200")
            .output()
            .unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        for line in commands.take_while(|line| line.starts_with("  ") && !line.starts_with("   ")) {
            let name = line.split_whitespace().next().unwrap();
            if name != "help" {
                let words = [words, &[name.to_owned()]].concat();
                found.insert(format!("$ gate4k {} -h", words.join(" ")));
                below(&words, found);
            }
        }
    }
    let mut commands = BTreeSet::from(["$ gate4k -h".to_owned()]);
    below(&[], &mut commands);
    assert!(commands.len() > 30, "{commands:?}");
    let page = fs::read_to_string(root().join("docs/commands.md")).unwrap();
    let shown: BTreeSet<String> =
        page.lines().filter(|line| line.starts_with("$ gate4k ")).map(str::to_owned).collect();
    let lacks: Vec<&String> = commands.difference(&shown).collect();
    let more: Vec<&String> =
        shown.difference(&commands).filter(|line| line.ends_with(" -h")).collect();
    assert!(lacks.is_empty() && more.is_empty(), "docs/commands.md lacks {lacks:?}, has {more:?}");
}

/// The place in which the commands of a page are run.
fn examples(page: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let fixtures = root().join("fixtures/entries");
    let inside = place.path().join(page).with_extension("in");
    fs::create_dir(&inside).unwrap();
    fs::copy(root().join("docs").join(page), place.path().join(page))
        .or_else(|_| fs::copy(root().join(page), place.path().join(page)))
        .unwrap();
    for name in ["engine.c", "openings.txt"] {
        fs::copy(root().join("docs/examples").join(name), inside.join(name)).unwrap();
    }
    let copy = |from: &str, to: &str| {
        let (from, to) = (fixtures.join(from), inside.join(to));
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(&from).unwrap() {
            let file = file.unwrap();
            if file.file_name() != "expected.toml" {
                fs::copy(file.path(), to.join(file.file_name())).unwrap();
            }
        }
    };
    copy("accept/c-xz", "c-xz");
    copy("accept/python3", "python3");
    copy("accept/c-bzip2", "second");
    copy("reject/commands-sed", "commands-sed");
    copy("reject/size-elf-4097", "size-elf-4097");
    for name in ["bookish", "c-xz", "elf", "perl", "python3"] {
        copy(&format!("accept/{name}"), &format!("entries/{name}"));
    }
    copy("accept/c-bzip2", "entries/second");
    let games = root().join("fixtures/games/4k");
    let pool = fs::read_dir(&games)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with("s26-4k-iii.pgn.xz"))
        .collect::<BTreeSet<_>>();
    fs::copy(pool.first().unwrap(), inside.join("pool.pgn.xz")).unwrap();
    fs::copy(root().join("fixtures/events/4k.toml"), inside.join("4k.toml")).unwrap();
    let submissions = root().join("fixtures/submissions");
    for file in walkdir::WalkDir::new(&submissions).into_iter().map(Result::unwrap) {
        let to = inside.join("submissions").join(file.path().strip_prefix(&submissions).unwrap());
        if file.file_type().is_dir() {
            fs::create_dir_all(to).unwrap();
        } else {
            fs::copy(file.path(), to).unwrap();
        }
    }
    place
}

/// The program of that name; the name alone where there is none, which the command then tells.
fn on_path(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name));
    found.into_iter().find(|program| program.is_file()).unwrap_or_else(|| name.into())
}

fn commands_of(page: &str) {
    let place = examples(page);
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("gate4k", Path::new(env!("CARGO_BIN_EXE_gate4k")))
        .register_bin("cp", on_path("cp"))
        .register_bin("git", on_path("git"))
        .register_bin("sed", on_path("sed"))
        // A person who types this has told git their name.
        .env("GIT_AUTHOR_NAME", "You")
        .env("GIT_AUTHOR_EMAIL", "you@example.org")
        .env("GIT_COMMITTER_NAME", "You")
        .env("GIT_COMMITTER_EMAIL", "you@example.org")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("XDG_CACHE_HOME", place.path().join("cache").to_str().unwrap())
        .case(place.path().join(page));
    cases.run();
}

/// The report as a terminal shows it, up to the lines that tell of the host.
fn picture(entry: &str) -> String {
    let place = examples("README.md");
    let output = Command::new(env!("CARGO_BIN_EXE_gate4k"))
        .args(["check", "-q", "--quick", "--no-cache", "--color", "always", entry])
        .current_dir(place.path().join("README.in"))
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let end = text.find("start-up ").expect("a report tells of the start");
    let shown = text[..end].rsplit_once('\n').unwrap().0;
    let shown = format!("\x1b[1m$ gate4k check --quick {entry}\x1b[0m\n{}\n", shown.trim_end());
    anstyle_svg::Term::new().render_svg(&shown)
}

/// The pictures in the README are what the program prints; `UPDATE_SNAPSHOTS=1` draws them anew.
fn pictures_show_what_is_printed() {
    // Times and the number of bytes that a compressor reaches differ from host to host.
    let without_digits = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    for (name, entry) in [("accepted", "python3"), ("rejected", "size-elf-4097")] {
        let path = root().join(format!("docs/pictures/{name}.svg"));
        let drawn = picture(entry);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &drawn).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let same = without_digits(&kept) == without_digits(&drawn);
        assert!(same, "{name}.svg is another report: draw it anew with UPDATE_SNAPSHOTS=1");
    }
}

fn commands_of_the_readme() {
    commands_of("README.md");
}

fn commands_of_the_first_hour() {
    commands_of("first-hour.md");
}

fn commands_for_authors() {
    commands_of("author.md");
}

fn commands_for_organisers() {
    commands_of("organiser.md");
}

fn commands_for_ci() {
    commands_of("ci.md");
}

fn commands_of_the_reference() {
    commands_of("commands.md");
}

fn commands_for_settings() {
    commands_of("settings.md");
}

fn commands_for_receipts() {
    commands_of("receipts.md");
}

fn commands_for_the_sandbox() {
    commands_of("sandbox.md");
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick the_handbook_builds_and_its_links_lead_somewhere,
        quick every_page_is_in_the_table_of_contents,
        quick links_of_the_files_at_the_top_lead_somewhere,
        quick a_release_holds_what_its_pages_lead_to,
        quick every_command_of_a_page_is_run_by_a_test,
        quick every_command_is_in_the_reference,
        slow pictures_show_what_is_printed [Landlock, Xz, Python3],
        slow commands_of_the_readme [Landlock, Xz, Bzip2, Perl, Python3, Clang],
        slow commands_of_the_first_hour [Landlock, Xz, Bzip2, Perl, Python3, Git],
        slow commands_for_authors [Landlock, Xz, Bzip2, Python3],
        slow commands_for_organisers [Landlock, Xz, Bzip2, Perl, Python3],
        slow commands_for_ci [Landlock],
        quick commands_of_the_reference,
        quick commands_for_settings,
        slow commands_for_receipts [Landlock, Bzip2],
        slow commands_for_the_sandbox [Landlock],
    ]
}
