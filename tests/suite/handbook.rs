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

/// A command that is shown is one that is run: it stands in a block of the kind `console`, unless its result is made by
/// hand (`gate4k event run` plays for days) and then without a prompt.
fn what_has_a_prompt_is_run() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let mut run = false;
        for (number, line) in text.lines().enumerate() {
            if let Some(kind) = line.trim_start().strip_prefix("```") {
                run = kind == "console" && !run;
            }
            let shown = line.trim_start().starts_with("$ ");
            assert!(!shown || run, "{}:{}: `{line}` is run by no test", page.display(), number + 1);
        }
    }
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
    fs::copy(root().join("docs/examples/engine.c"), inside.join("engine.c")).unwrap();
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
    place
}

fn commands_of(page: &str) {
    let place = examples(page);
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("gate4k", Path::new(env!("CARGO_BIN_EXE_gate4k")))
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
        quick what_has_a_prompt_is_run,
        slow pictures_show_what_is_printed [Landlock, Xz, Python3],
        slow commands_of_the_readme [Landlock, Xz, Bzip2, Perl, Python3, Clang],
        slow commands_of_the_first_hour [Landlock, Xz, Bzip2, Perl, Python3],
        slow commands_for_authors [Landlock, Xz, Bzip2, Python3],
        slow commands_for_organisers [Landlock, Xz, Bzip2, Perl, Python3],
        slow commands_for_ci [Landlock],
        quick commands_of_the_reference,
        quick commands_for_settings,
        slow commands_for_receipts [Landlock, Bzip2],
        slow commands_for_the_sandbox [Landlock],
    ]
}
