//! Reads which file uses which, by the `crate::`, `super::` and `self::` paths in it, and holds that against
//! ARCHITECTURE.md: no arrow between modules, or between parts of the sandbox, that its lists do not allow, and no cycle,
//! neither of modules nor of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::trials::Test;

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The text of each module (`judge::rules::clock`) without what is for tests only.
fn modules() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut tests = BTreeSet::new();
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|item| item.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let (text, for_tests) = without_tests(&plain(&fs::read_to_string(&path).unwrap()));
                let name = name_of(&path);
                let own =
                    if path.ends_with("mod.rs") { folder.clone() } else { path.with_extension("") };
                tests.extend(for_tests.iter().map(|module| own.join(module)));
                tests.extend(for_tests.iter().map(|module| folder.join(module)));
                found.insert(path.with_extension(""), (name, text));
            }
        }
    }
    // The file of a module that is declared for tests only.
    found.retain(|path, _| !tests.contains(path));
    found.into_values().collect()
}

fn name_of(path: &Path) -> String {
    let below = path.strip_prefix(root().join("src")).unwrap().with_extension("");
    let parts: Vec<String> = below
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .filter(|p| p != "mod")
        .collect();
    parts.join("::")
}

/// A text without comments and without what stands in plain strings, each shortened to nothing.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    let mut in_string = false;
    while let Some(c) = rest.next() {
        match (in_string, c) {
            (true, '\\') => drop(rest.next()),
            (_, '"') => in_string = !in_string,
            (true, _) => {}
            // A character in quotes may be a quotation mark or a brace.
            (false, '\'') => {
                let ahead: Vec<char> = rest.clone().take(3).collect();
                let length = match ahead[..] {
                    ['\\', _, '\''] => 3,
                    [_, '\'', ..] => 2,
                    _ => 0,
                };
                for _ in 0..length {
                    rest.next();
                }
            }
            (false, '/') if rest.peek() == Some(&'/') => {
                for c in rest.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
                out.push('\n');
            }
            (false, c) => out.push(c),
        }
    }
    out
}

/// Takes out every item below `#[cfg(test)]` or `#[cfg(all(test, …))]`; the names of modules among them that have a file.
fn without_tests(text: &str) -> (String, Vec<String>) {
    const MARKS: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test,"];
    let (mut out, mut rest, mut names) = (String::new(), text, Vec::new());
    while let Some(at) = MARKS.iter().filter_map(|mark| rest.find(mark)).min() {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let end = after.find(['{', ';']).unwrap_or(after.len());
        let item = &after[..end];
        if after[end..].starts_with('{') {
            let mut depth = 0;
            let close = after[end..].char_indices().find(|(_, c)| {
                depth += i32::from(*c == '{') - i32::from(*c == '}');
                depth == 0
            });
            rest = close.map_or("", |(at, _)| &after[end + at + 1..]);
        } else {
            let name = item.split_whitespace().skip_while(|word| *word != "mod").nth(1);
            names.extend(name.map(str::to_owned));
            rest = after.get(end + 1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    (out, names)
}

/// The paths that begin with `crate::`, `super::` or `self::`, braces taken apart. `pub(in crate::a)` is none: it says who
/// may use something, and uses nothing.
fn paths(text: &str) -> Vec<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    let (mut rest, mut is_in) = (text, false);
    while let Some(at) = rest.find(is_name) {
        let head: String = rest[at..].chars().take_while(|c| is_name(*c)).collect();
        let is_visibility = is_in;
        is_in = head == "in" && rest[..at].ends_with('(');
        rest = &rest[at + head.len()..];
        let is_path = ["crate::", "super::", "self::"].iter().any(|root| head.starts_with(root));
        if !is_path || is_visibility {
            continue;
        }
        match rest.strip_prefix('{') {
            Some(inside) => rest = expand(&head, inside, &mut found),
            None => found.push(head),
        }
    }
    found
}

/// The paths within braces, each behind `head`; gives the text after them.
fn expand<'a>(head: &str, mut rest: &'a str, found: &mut Vec<String>) -> &'a str {
    let mut name = String::new();
    loop {
        let Some(c) = rest.chars().next() else { return rest };
        rest = &rest[c.len_utf8()..];
        match c {
            '{' => {
                rest = expand(&format!("{head}{name}"), rest, found);
                name.clear();
            }
            '}' | ',' => {
                if !name.is_empty() {
                    found.push(format!("{head}{name}"));
                    name.clear();
                }
                if c == '}' {
                    return rest;
                }
            }
            c if c.is_whitespace() => {}
            c => name.push(c),
        }
    }
}

/// From each file to those that it uses. A path by which a file takes from a module above it by `super::` (`use super::*`) is no
/// arrow: the two are one module, of which the upper file tells what the lower ones share.
fn arrows(modules: &BTreeMap<String, String>) -> Arrows {
    let of = |(name, text): (&String, &String)| {
        let used = paths(text).into_iter().filter_map(|path| {
            let parts = from_root(name, &path);
            let module = (1..=parts.len()).rev().map(|length| parts[..length].join("::"));
            let module = module.into_iter().find(|module| modules.contains_key(module))?;
            let is_above = name.strip_prefix(&*module).is_some_and(|rest| rest.starts_with("::"));
            (path.starts_with("crate::") || !is_above).then_some(module)
        });
        (name.clone(), used.filter(|used| used != name).collect())
    };
    modules.iter().map(of).collect()
}

/// The names of a path, as it stands in a module, from the root of the crate.
fn from_root<'a>(module: &'a str, path: &'a str) -> Vec<&'a str> {
    let mut parts: Vec<&str> = module.split("::").collect();
    for name in path.split("::") {
        match name {
            "crate" => parts.clear(),
            "super" => drop(parts.pop()),
            "self" => {}
            name => parts.push(name),
        }
    }
    parts
}

/// A way to put files together: the name of what a file is in; none of a file that is left out.
type Group = fn(&str) -> Option<&str>;

fn module_of(file: &str) -> Option<&str> {
    file.split("::").next()
}

fn sandbox_part_of(file: &str) -> Option<&str> {
    file.strip_prefix("sandbox::").and_then(module_of)
}

fn between(files: &Arrows, group: Group) -> Arrows {
    let mut found = Arrows::new();
    for (from, used) in files {
        for to in used {
            if let (Some(from), Some(to)) = (group(from), group(to))
                && from != to
            {
                found.entry(from.to_owned()).or_default().insert(to.to_owned());
            }
        }
    }
    found
}

/// The arrows in a cycle or between two: all that remain once none can be taken away that uses nothing or that
/// nothing uses.
fn cycles(arrows: &Arrows) -> Arrows {
    let mut left = arrows.clone();
    loop {
        let used: BTreeSet<String> = left.values().flatten().cloned().collect();
        let users: BTreeSet<String> = left.keys().cloned().collect();
        let before = left.values().map(BTreeSet::len).sum::<usize>() + left.len();
        left.retain(|from, to| {
            to.retain(|to| users.contains(to));
            !to.is_empty() && used.contains(from)
        });
        if before == left.values().map(BTreeSet::len).sum::<usize>() + left.len() {
            return left;
        }
    }
}

/// A list of ARCHITECTURE.md, by its number: a block fenced as `arrows`, each line `module -> module, module`.
fn allowed(number: usize) -> Arrows {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let block = text.split("```arrows\n").nth(number).unwrap().split("```").next().unwrap();
    let line = |line: &str| {
        let (from, to) = line.split_once("->").unwrap_or_else(|| panic!("no arrow in {line:?}"));
        let to = to.split(',').map(|to| to.trim().to_owned()).filter(|to| !to.is_empty());
        (from.trim().to_owned(), to.collect())
    };
    block.lines().map(line).collect()
}

/// All in which these arrows differ from a list.
fn not_as_allowed(files: &Arrows, group: Group, allowed: &Arrows) -> Vec<String> {
    let mut wrong = Vec::new();
    let found = between(files, group);
    let has = |arrows: &Arrows, (from, to): (&str, &str)| {
        arrows.get(from).is_some_and(|all| all.contains(to))
    };
    for (from, all) in &found {
        for to in all {
            if !has(allowed, (from, to)) {
                let uses = |(file, used): (&String, &BTreeSet<String>)| {
                    let used = used.iter().find(|used| group(used) == Some(to.as_str()))?;
                    (group(file) == Some(from.as_str())).then(|| format!("{file} uses {used}"))
                };
                let uses: Vec<String> = files.iter().filter_map(uses).collect();
                wrong.push(format!("{from} -> {to} is not allowed: {}", uses.join(", ")));
            }
        }
    }
    for (from, all) in allowed {
        for to in all.iter().filter(|to| !has(&found, (from, to))) {
            wrong.push(format!("ARCHITECTURE.md allows {from} -> {to}, which nothing needs"));
        }
    }
    wrong
}

/// All that is wrong with these arrows. Parts of the sandbox may use each other, as long as no files do.
fn wrong(files: &Arrows) -> Vec<String> {
    let mut wrong = not_as_allowed(files, module_of, &allowed(1));
    wrong.extend(not_as_allowed(files, sandbox_part_of, &allowed(2)));
    for (what, arrows) in [("modules", &between(files, module_of)), ("files", files)] {
        let cycles = cycles(arrows);
        if !cycles.is_empty() {
            wrong.push(format!("a cycle of {what}: {cycles:?}"));
        }
    }
    wrong
}

fn no_arrow_but_the_allowed_ones_and_no_cycle() {
    let files = arrows(&modules());
    assert!(files.len() > 200, "{} files were read", files.len());
    let wrong = wrong(&files);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn an_arrow_that_is_put_in_is_found() {
    let put = |file: &str, line: &str| {
        let mut modules = modules();
        modules.get_mut(file).unwrap().push_str(line);
        wrong(&arrows(&modules)).join("\n")
    };
    let up = put("model::rule", "\nuse crate::{judge::{assess, waiver::Waiver}, model::units};\n");
    assert!(up.contains("model -> judge is not allowed: model::rule uses judge::"), "{up}");
    assert!(up.contains("a cycle of modules"), "{up}");
    let inline = put("judge::support::runs", "\nfn f() { crate::judge::rules::clock::g() }\n");
    assert!(inline.contains("a cycle of files"), "{inline}");
    assert!(!inline.contains("a cycle of modules"), "{inline}");
    let part = put("sandbox::users", "\nuse super::trace::shared::f;\n");
    assert!(part.contains("users -> trace is not allowed: sandbox::users uses"), "{part}");
    // A neighbour that uses this file already, by its short way.
    for beside in ["super::assess::f", "super::super::judge::{assess::{self, f}}"] {
        let found = put("judge::games", &format!("\nuse {beside};\n"));
        assert!(found.contains("a cycle of files") && found.contains("judge::assess"), "{found}");
    }
    assert_eq!(put("judge::games", "\nuse super::*;\nuse self::tests::f;\n"), "");
}

fn what_is_for_tests_draws_no_arrow() {
    let text = "use crate::a;\nuse super::{b, c::*};\npub(in crate::e) fn f() { for x in crate::g {} }\n\
                #[cfg(test)]\nmod tests {\n  fn f() { \"}\"; crate::b(); }\n}\n// crate::c\n\
                #[cfg(test)]\n#[path = \"x.rs\"]\nmod more;\nuse crate::d;\n\
                #[cfg(all(test, target_arch = \"x86_64\"))]\nmod last;\n";
    let (left, names) = without_tests(&plain(text));
    assert_eq!(paths(&left), ["crate::a", "super::b", "super::c::*", "crate::g", "crate::d"]);
    assert_eq!(names, ["more", "last"]);
}

/// A name that two shared types have says nothing until one has looked up which of them is meant. Types that only their
/// own file sees may be called after their place in it.
fn no_two_shared_types_have_one_name() {
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, text) in modules() {
        for name in shared_types(&text) {
            declared.entry(name.to_owned()).or_default().insert(module.clone());
        }
    }
    assert!(declared.len() > 300, "only {} types are declared", declared.len());
    let twice: Vec<_> = declared.iter().filter(|(_, modules)| modules.len() > 1).collect();
    assert!(twice.is_empty(), "each of these names needs its subject: {twice:#?}");
}

/// The types that a text declares for more than its own file.
fn shared_types(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let rest = line.strip_prefix("pub")?;
        let rest = if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest };
        let mut words = rest.strip_prefix(' ')?.split_whitespace();
        let word = words.next()?;
        let name = ["struct", "enum", "trait", "type"].contains(&word).then(|| words.next())??;
        name.split(|c: char| !c.is_alphanumeric()).next()
    })
}

fn a_type_is_shared_if_more_than_its_file_sees_it() {
    let text = "pub struct A<'a>(u8);\nstruct B;\npub(in a::b) enum C {\npub(crate) trait D: E {\n    pub type F = u8;\n\
                pub fn struct_() {}\npublic struct G;\n";
    assert_eq!(shared_types(text).collect::<Vec<_>>(), ["A", "C", "D"]);
}

pub(crate) fn tests() -> Vec<Test> {
    tests![
        quick no_arrow_but_the_allowed_ones_and_no_cycle,
        quick an_arrow_that_is_put_in_is_found,
        quick what_is_for_tests_draws_no_arrow,
        quick no_two_shared_types_have_one_name,
        quick a_type_is_shared_if_more_than_its_file_sees_it,
    ]
}
