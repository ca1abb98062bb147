//! Tools of this host that are older than an entry wants: compilers and interpreters whose newer versions would take it.
//!
//! An entry can write any words. So a tool must have run and failed as well, and a compiler must have been given what it complains of.

use std::path::Path;

use serde_json::json;

use crate::judge::support::excuse::Excuse;
use crate::judge::support::wording;
use crate::model::command_words::base_name;
use crate::model::evidence::{Exec, ExecOutcome, ExitHow, ProgramClass, Run};

/// Something that a tool of this host did not know.
struct Wanted<'a> {
    tool: &'a Exec,
    /// The version, option or syntax.
    what: String,
    /// The tool's complaint.
    said: &'a str,
}

/// The run asked a tool for something that a newer version of it knows, and this host's does not.
pub(crate) fn older_tool(run: &Run) -> Option<Excuse> {
    let wanted = of_compiler(run)
        .or_else(|| of_rust(run))
        .or_else(|| of_perl(run))
        .or_else(|| of_python(run))?;
    let Wanted { tool, what, said } = wanted;
    let name = name(tool);
    let said = wording::shorten(said, 160);
    let here = file(tool).map_or_else(String::new, |file| format!(" ({file})"));
    Some(Excuse::of_host(
        format!(
            "it wants {what}, which {name} of this host{here} does not know and a newer one does"
        ),
        format!(
            "the event's machine may have a newer {name}: judge it on a host whose {name} is as new as that, or do without what this \
             one does not know"
        ),
        json!({"older_tool": name, "file": tool.real, "wanted": what, "said": said}),
    ))
}

/// The name of a tool for people: that of the interpreter where it reads a script.
fn name(tool: &Exec) -> &str {
    match (&tool.real, tool.script) {
        // Without the number behind the point: `python3.11`.
        (Some(real), true) => base_name(real).split('.').next().unwrap_or_default(),
        _ => &tool.name,
    }
}

/// The file of a tool, which mostly tells its version, where it is not that of its name alone.
pub(super) fn file(tool: &Exec) -> Option<&str> {
    let real = tool.real.as_deref()?;
    real.contains(|c: char| c.is_ascii_digit()).then_some(real)
}

/// The first program of the host of these names that ran, by itself or to read a script, and failed.
fn failed(run: &Run, is_it: impl Fn(&str) -> bool) -> impl Iterator<Item = &Exec> {
    run.execs.iter().filter(move |exec| {
        let name = match (&exec.real, exec.class) {
            (Some(real), _) if exec.script => base_name(real),
            (_, ProgramClass::Entry | ProgramClass::OwnProduct) => return false,
            _ => &exec.name,
        };
        exec.outcome == ExecOutcome::Ran
            && matches!(exec.exit, Some(ExitHow::Status(1..)))
            && is_it(name)
    })
}

/// Processors that gcc 12 or clang 14 do not know and later versions do.
const PROCESSORS: [&str; 25] = [
    "znver4",
    "znver5",
    "znver6",
    "raptorlake",
    "meteorlake",
    "arrowlake",
    "arrowlake-s",
    "lunarlake",
    "pantherlake",
    "wildcatlake",
    "novalake",
    "gracemont",
    "sierraforest",
    "grandridge",
    "clearwaterforest",
    "emeraldrapids",
    "graniterapids",
    "graniterapids-d",
    "diamondrapids",
    "neoverse-v2",
    "neoverse-v3",
    "neoverse-n2",
    "neoverse-n3",
    "grace",
    "x86-64-v4",
];

/// Standards that gcc 12 or clang 14 do not know by these names and later versions do.
const STANDARDS: [&str; 15] = [
    "c23",
    "c2x",
    "c2y",
    "gnu23",
    "gnu2x",
    "gnu2y",
    "iso9899:2024",
    "c++23",
    "c++2b",
    "c++26",
    "c++2c",
    "gnu++23",
    "gnu++2b",
    "gnu++26",
    "gnu++2c",
];

/// A processor or a standard that a compiler of C was given and does not know.
fn of_compiler(run: &Run) -> Option<Wanted<'_>> {
    let compilers = ["cc", "c++", "gcc", "g++", "clang", "clang++"];
    let marks = ["bad value", "unrecognized command", "unknown target CPU", "invalid value"];
    failed(run, |name| compilers.contains(&name)).find_map(|tool| {
        tool.argv.iter().find_map(|word| {
            let (option, value) = word.split_once('=')?;
            let later = match option {
                "-march" | "-mcpu" | "-mtune" => &PROCESSORS[..],
                "-std" | "--std" => &STANDARDS,
                _ => return None,
            };
            // (Extensions of a processor stand behind it.)
            let named = value.split('+').next().unwrap_or(value);
            let is_later = later.contains(&value) || option != "-std" && later.contains(&named);
            let complains = |line: &&String| {
                line.contains(named) && marks.iter().any(|mark| line.contains(mark))
            };
            let said = run.stderr_tail.iter().filter(|_| is_later).find(complains)?;
            Some(Wanted { tool, what: format!("`{word}`"), said })
        })
    })
}

/// Something that was not stable yet in this version of Rust.
fn of_rust(run: &Run) -> Option<Wanted<'_>> {
    let mut tools = failed(run, |name| ["rustc", "cargo"].contains(&name));
    let tool = tools.next()?;
    let edition = |word: &String| word.ends_with("2024");
    let asks_edition = tool.argv.iter().any(edition);
    run.stderr_tail.iter().find_map(|said| {
        let what = if said.starts_with("error[E0658]: ") {
            "something that is not stable in this version"
        } else if asks_edition
            && said.starts_with("error: ")
            && (said.contains("(instead was `2024`)") || said.contains("edition 2024 is unstable"))
        {
            "edition 2024"
        } else {
            return None;
        };
        Some(Wanted { tool, what: what.into(), said })
    })
}

/// A version of Perl that its script demands.
fn of_perl(run: &Run) -> Option<Wanted<'_>> {
    let tool = failed(run, |name| name.starts_with("perl")).next()?;
    run.stderr_tail.iter().find_map(|said| {
        let rest = said.strip_prefix("Perl v")?;
        let (wanted, rest) = rest.split_once(" required--this is only v")?;
        let (here, _) = rest.split_once(", stopped at ")?;
        let [wanted_parts, here] = [wanted, here].map(parts);
        // Nobody has a Perl 6 under that name.
        let is_later = wanted_parts.len() == 3 && wanted_parts > here && wanted_parts[0] == 5;
        is_later.then(|| Wanted { tool, what: format!("Perl {wanted}"), said })
    })
}

/// The numbers of a version.
fn parts(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

/// Syntax that a later Python 3 has.
fn of_python(run: &Run) -> Option<Wanted<'_>> {
    let minor = |tool: &Exec| {
        let file = Path::new(tool.real.as_deref()?).file_name()?.to_str()?;
        file.strip_prefix("python3.")?.parse::<u32>().ok()
    };
    // (PyPy shows another place of the mistake.)
    let (tool, here) = failed(run, |name| name.starts_with("python"))
        .find_map(|tool| Some((tool, minor(tool)?)))?;
    let shown = run.stderr_tail.windows(3);
    shown.into_iter().find_map(|lines| {
        let [code, carets, said] = lines else { return None };
        let words = said.strip_prefix("SyntaxError: ")?;
        let (what, since) = later_syntax(code, carets, words)?;
        (here < since).then(|| {
            let what = format!("{what} of Python 3.{since}");
            Wanted { tool, what, said }
        })
    })
}

/// The meaning that a mistake in a line has in a later Python, and the 3.x since which it has it: from the line as it is shown, the
/// line with the carets below it, and the words.
fn later_syntax(code: &str, carets: &str, words: &str) -> Option<(&'static str, u32)> {
    let at = carets.find('^').filter(|at| carets[..*at].trim().is_empty())?;
    let before: Vec<char> = code.chars().take(at).collect();
    let here = code.chars().nth(at);
    let first = code.trim_start();
    let from_start = |word: &str| code.trim_start().strip_prefix(word).is_some();
    match words {
        "f-string expression part cannot include a backslash"
        | "f-string expression part cannot include '#'" => Some(("an f-string", 12)),
        // Here the f-string ended before the place that is shown, at a quote that begins a string inside of it.
        _ if words.starts_with("f-string: ") => {
            let mut back = before.iter().rev();
            let closes = back.next().is_some_and(|c| ['\'', '"'].contains(c));
            let mut back = back.skip_while(|c| "fFrRbB".contains(**c));
            let begins = back.next().is_some_and(|c| "{[(,=+: ".contains(*c));
            (closes && begins).then_some(("an f-string", 12))
        }
        "invalid syntax" if from_start("type ") && first_is(&before, "type ") => {
            let name = first.strip_prefix("type ").unwrap_or_default();
            let rest = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
            let is_statement = rest.len() < name.len() && rest.trim_start().starts_with(['=', '[']);
            is_statement.then_some(("a `type` statement", 12))
        }
        "invalid syntax" if from_start("class ") && here == Some('[') => {
            Some(("parameters of a type", 12))
        }
        "expected '('" if first.contains("def ") && here == Some('[') => {
            Some(("parameters of a type", 12))
        }
        "invalid syntax" if matches!(here, Some('\'' | '"')) => {
            let mut back = before.iter().rev();
            let is_t = back.next().is_some_and(|c| *c == 't');
            let begins = back.next().is_none_or(|c| !c.is_alphanumeric() && *c != '_');
            (is_t && begins).then_some(("a template string", 14))
        }
        "multiple exception types must be parenthesized" if !first.contains(" as ") => {
            Some(("`except` without parentheses", 14))
        }
        _ => None,
    }
}

/// True if all that stands before a place is this word, and blanks.
fn first_is(before: &[char], word: &str) -> bool {
    before.iter().collect::<String>().trim_start() == word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::support::testing;
    use crate::model::evidence::Purpose;

    /// A run of a tool that failed and said this.
    fn run(name: &str, real: &str, argv: &[&str], said: &[&str]) -> Run {
        let mut run = testing::run(Purpose::Main).died(ExitHow::Status(1)).started(
            Some(0),
            name,
            ProgramClass::Listed,
        );
        run.execs[1].real = Some(real.into());
        run.execs[1].argv = argv.iter().map(|word| (*word).to_owned()).collect();
        run.execs[1].exit = Some(ExitHow::Status(1));
        run.stderr_tail = said.iter().map(|line| (*line).to_owned()).collect();
        run
    }

    fn why(run: &Run) -> Option<String> {
        older_tool(run).map(|excuse| excuse.why)
    }

    #[test]
    fn a_processor_that_the_compiler_was_given_and_does_not_know_is_a_newer_ones() {
        let gcc = "/usr/bin/x86_64-linux-gnu-gcc-12";
        let said = ["cc1: error: bad value 'znver5' for '-march=' switch"];
        let why_of = |argv: &[&str], said: &[&str]| why(&run("cc", gcc, argv, said));
        let told = why_of(&["cc", "-march=znver5", "-xc", "-"], &said).unwrap();
        assert!(told.contains("wants `-march=znver5`, which cc of this host (/usr/bin/x86_64-linux-gnu-gcc-12) does not"), "{told}");
        // Words alone, another option, and one that no compiler knows.
        assert_eq!(why_of(&["cc", "-xc", "-"], &said), None);
        assert_eq!(why_of(&["cc", "-march=znver5"], &["error: expected ';'"]), None);
        let unknown = ["cc1: error: bad value 'foo' for '-march=' switch"];
        assert_eq!(why_of(&["cc", "-march=foo"], &unknown), None);
        let mut fine = run("cc", gcc, &["cc", "-march=znver5"], &said);
        fine.execs[1].exit = Some(ExitHow::Status(0));
        assert_eq!(why(&fine), None);
        for (argv, said) in [
            ("-march=znver5", "error: unknown target CPU 'znver5'"),
            ("-std=c23", "error: invalid value 'c23' in '-std=c23'"),
            (
                "-std=c++26",
                "gcc: error: unrecognized command-line option '-std=c++26'; did you mean",
            ),
        ] {
            assert!(why_of(&["cc", argv], &[said]).is_some(), "{argv}");
        }
    }

    #[test]
    fn what_is_not_stable_in_rust_may_be_in_a_newer_one() {
        let of = |argv: &[&str], said| why(&run("rustc", "/usr/bin/rustc", argv, &[said]));
        let told = of(&["rustc", "-"], "error[E0658]: `let...else` statements are unstable");
        let told = told.unwrap();
        assert!(told.contains("rustc of this host does not know"), "{told}");
        let edition =
            "error: argument for `--edition` must be one of: 2015|2018|2021. (instead was `2024`)";
        assert!(of(&["rustc", "--edition=2024", "-"], edition).is_some());
        assert_eq!(of(&["rustc", "-"], edition), None);
        let feature = "error[E0554]: `#![feature]` may not be used on the stable release channel";
        assert_eq!(of(&["rustc", "-"], feature), None);
        assert_eq!(of(&["rustc", "-"], "error[E0425]: cannot find value `x` in this scope"), None);
    }

    #[test]
    fn perl_tells_the_version_that_a_script_demands() {
        let of = |said: &str| why(&run("perl", "/usr/bin/perl", &["perl"], &[said]));
        let told = of("Perl v5.40.0 required--this is only v5.36.0, stopped at - line 1.").unwrap();
        assert!(told.contains("it wants Perl 5.40.0, which perl of this host does not"), "{told}");
        assert_eq!(of("Perl v6.0.0 required--this is only v5.36.0, stopped at - line 1."), None);
        assert_eq!(of("Perl v5.8.0 required--this is only v5.36.0, stopped at - line 1."), None);
        assert_eq!(of("Died at - line 1."), None);
    }

    #[test]
    fn syntax_of_a_later_python_is_told_from_mistakes() {
        let of = |real: &str, code: &str, carets: &str, said: &str| {
            let lines = ["  File \"x\", line 1", code, carets, said];
            why(&run("python3", real, &["python3"], &lines))
        };
        let here = |code, carets, said| of("/usr/bin/python3.11", code, carets, said);
        for (code, carets, said) in [
            ("    type X = int", "         ^", "SyntaxError: invalid syntax"),
            ("    print(f'{d['a']}')", "                ^", "SyntaxError: f-string: unmatched '['"),
            ("    print(f'{f'{1}'}')", "               ^", "SyntaxError: f-string: expecting '}'"),
            (
                "    print(f'{chr(10)+\"\\n\"}')",
                "                           ^",
                "SyntaxError: f-string expression part cannot include a backslash",
            ),
            ("    def f[T](x):pass", "         ^", "SyntaxError: expected '('"),
            ("    class f[T]:pass", "           ^", "SyntaxError: invalid syntax"),
        ] {
            let told = here(code, carets, said).unwrap();
            assert!(
                told.contains("of Python 3.12, which python3 of this host (/usr/bin/python3.11)"),
                "{told}"
            );
            assert_eq!(of("/usr/bin/python3.12", code, carets, said), None, "{code}");
        }
        for (code, carets, said) in [
            ("    x=t'a'", "       ^^^", "SyntaxError: invalid syntax"),
            (
                "    except A,B:",
                "           ^^^",
                "SyntaxError: multiple exception types must be parenthesized",
            ),
        ] {
            assert!(here(code, carets, said).unwrap().contains("of Python 3.14"), "{code}");
        }
        for (code, carets, said) in [
            // Mistakes in any version.
            ("    print(f'{a')", "               ^", "SyntaxError: f-string: expecting '}'"),
            ("    type X int", "         ^", "SyntaxError: invalid syntax"),
            ("    x = = 1", "        ^", "SyntaxError: invalid syntax"),
            ("    x=at'a'", "        ^^^", "SyntaxError: invalid syntax"),
            ("    def f{T}(x):pass", "         ^", "SyntaxError: expected '('"),
        ] {
            assert_eq!(here(code, carets, said), None, "{code}");
        }
    }
}
