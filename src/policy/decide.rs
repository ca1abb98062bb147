//! The decision whether a program may run (rules 7.5 and 7.8). Pure: it takes the program that the kernel says ran, with
//! those that started it, and gives a class with its reason.

use crate::model::command_words::{base_name, is_multi_call, name_called};
use crate::model::evidence::ProgramClass;
use crate::model::source_place::nearest;
use crate::policy::allowlist::{Allowlist, AskedHelper, CommandClass, Directory, Text};
use crate::policy::pattern;

/// The treatment of tolerated commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Tolerated commands pass with advice.
    Tolerant,
    /// `--strict`: tolerated commands are refused.
    Strict,
}

/// Where the program that ran lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// In the entry's private workspace: the entry made it.
    Workspace,
    /// On the host.
    Host,
}

/// The means by which a program of the host chooses what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramForm {
    /// One file, one program (a name may still choose between `xz` and `unxz`).
    Ordinary,
    /// busybox, toybox, uutils: the name it is called by chooses among hundreds of programs.
    MultiCall,
}

/// A program that ran, or was about to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartedProgram<'a> {
    /// The allow-list names that its inode has on this host; empty for one that is on no list.
    pub(crate) known_as: &'a [&'a str],
    /// The path as it was asked for.
    pub(crate) asked: &'a str,
    /// Its arguments, from argv\[0\] on.
    pub(crate) argv: &'a [&'a str],
    /// Ordinary or multi-call.
    pub(crate) form: ProgramForm,
    /// Where it lies.
    pub(crate) origin: Origin,
}

/// A program in the chain above another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ancestor<'a> {
    /// Its name as decided when it was started.
    pub(crate) name: &'a str,
    /// Its class as decided then.
    pub(crate) class: ProgramClass,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramDecision {
    /// Its class under rule 7.5.
    pub(crate) class: ProgramClass,
    /// The name under which the allow-list knows it, or its base name.
    pub(crate) name: String,
    /// On which ground, for people.
    pub(crate) reason: String,
}

/// Decides on a program; `above` is the chain of programs that led to it, the nearest first.
#[must_use]
pub(crate) fn program(
    list: &Allowlist,
    program: &StartedProgram<'_>,
    above: &[Ancestor<'_>],
    strictness: Strictness,
) -> ProgramDecision {
    let base = base_name(program.asked);
    match program.origin {
        Origin::Workspace => {
            return decision(ProgramClass::OwnProduct, base, "made by the entry itself");
        }
        Origin::Host => {}
    }
    if program.known_as.is_empty() {
        return refused(base, stranger(list, base));
    }
    match program.form {
        ProgramForm::Ordinary => {
            let name = called(list, program);
            let arguments = program.argv.get(1..).unwrap_or_default();
            with_arguments(list, named(list, name, above, strictness), arguments, above)
        }
        ProgramForm::MultiCall => {
            let Some(applet) = applet(program) else {
                return refused(
                    base,
                    format!("{base} was called without saying which of its programs is meant"),
                );
            };
            if list.command(applet).is_none() && list.helper(applet).is_none() {
                return refused(applet, format!("{} (through {base})", stranger(list, applet)));
            }
            let by_own_name =
                program.argv.first().is_some_and(|word| is_multi_call(name_called(word)));
            let arguments = program.argv.get(if by_own_name { 2 } else { 1 }..).unwrap_or_default();
            let decision =
                with_arguments(list, named(list, applet, above, strictness), arguments, above);
            // By a name that it does not have, GNU's and uutils's file is whatever its next word says, and toybox
            // whatever a link of that name leads to.
            if by_own_name
                || program.known_as.contains(&applet)
                || decision.class == ProgramClass::Refused
            {
                return decision;
            }
            let why = format!("{base} is not called {applet} on this host: it may be any program");
            refused(next_word(program).unwrap_or(applet), why)
        }
    }
}

/// The decision on a program in view of its arguments: a helper may be allowed with certain ones alone.
fn with_arguments(
    list: &Allowlist,
    decision: ProgramDecision,
    arguments: &[&str],
    above: &[Ancestor<'_>],
) -> ProgramDecision {
    if decision.class == ProgramClass::Refused
        && let Some(helper) = list.helper(&decision.name)
        && let Some(starter) = above.first()
        && helper.asked.iter().any(|asked| is_asked(list, asked, starter, arguments))
    {
        let reason = format!("{}, asked by {}", helper.ground(), starter.name);
        return self::decision(ProgramClass::Helper, &decision.name, reason);
    }
    let helper = list.helper(&decision.name).filter(|_| decision.class == ProgramClass::Helper);
    let Some(helper) = helper else { return decision };
    let wanted: Vec<&str> = helper.arguments.iter().map(|word| &**word).collect();
    let is_usual = (wanted.is_empty() || wanted == arguments)
        && (helper.forms.is_empty() || helper.forms.iter().any(|form| fits(form, arguments)));
    if is_usual {
        return decision;
    }
    let one = helper.forms.iter().map(|form| form.iter().map(|word| &**word).collect());
    let all: Vec<Vec<&str>> = one.chain((!wanted.is_empty()).then_some(wanted)).collect();
    let name = &decision.name;
    let shown: Vec<String> =
        all.iter().map(|words| format!("`{name} {}`", words.join(" "))).collect();
    refused(name, format!("{name} may only be started as {}", shown.join(" or ")))
}

/// True if these are arguments of a form. A star stands for no option, nor for a file that holds options (`@FILE`).
fn fits(form: &[Text], arguments: &[&str]) -> bool {
    let one = |(pattern, word): (&Text, &&str)| {
        pattern::matches(pattern, word)
            && !(pattern.starts_with('*') && word.starts_with(['-', '@']))
    };
    form.len() == arguments.len() && form.iter().zip(arguments).all(one)
}

/// True if this command may start it with these arguments.
fn is_asked(
    list: &Allowlist,
    asked: &AskedHelper,
    starter: &Ancestor<'_>,
    arguments: &[&str],
) -> bool {
    starter.class == ProgramClass::Listed
        && asked.below.iter().any(|below| &**below == starter.name)
        && fits(&asked.arguments, &without_directories(list, asked, arguments))
}

/// The arguments without the directories of the system's libraries that the command may name, each behind its option.
fn without_directories<'a>(
    list: &Allowlist,
    asked: &AskedHelper,
    arguments: &[&'a str],
) -> Vec<&'a str> {
    let is_systems = |path: &str| {
        let is_it =
            |line: &Directory| pattern::matches(&line.directory, path.trim_end_matches('/'));
        list.library_directories.iter().any(is_it)
    };
    let mut left = Vec::new();
    let mut rest = arguments;
    while let [word, more @ ..] = rest {
        rest = match (&asked.directories, more) {
            (Some(option), [path, after @ ..]) if **option == **word && is_systems(path) => after,
            _ => {
                left.push(*word);
                more
            }
        };
    }
    left
}

/// Decides on an allow-list name in a chain.
#[must_use]
pub(crate) fn named(
    list: &Allowlist,
    name: &str,
    above: &[Ancestor<'_>],
    strictness: Strictness,
) -> ProgramDecision {
    if let Some(command) = list.command(name) {
        return match (command.class, strictness) {
            (CommandClass::Listed, _) => decision(ProgramClass::Listed, name, command.ground()),
            (CommandClass::Waived, _) => decision(ProgramClass::Waived, name, command.ground()),
            (CommandClass::Tolerated, Strictness::Tolerant) => {
                decision(ProgramClass::Tolerated, name, command.ground())
            }
            (CommandClass::Tolerated, Strictness::Strict) => refused(
                name,
                format!("rule 7.5 does not list {name}, and --strict tolerates nothing"),
            ),
        };
    }
    let Some(helper) = list.helper(name) else {
        return refused(name, stranger(list, name));
    };
    // Only helpers, and the programs through which these start others, may stand between: a program that the entry's own
    // script or product starts is started by the entry itself.
    for starter in above {
        if helper.below.iter().any(|below| &**below == starter.name)
            && starter.class != ProgramClass::Refused
            && starter.class != ProgramClass::OwnProduct
        {
            let reason = format!("{}, started by {}", helper.ground(), starter.name);
            return decision(ProgramClass::Helper, name, reason);
        }
        let between = starter.class == ProgramClass::Listed
            && helper.through.iter().any(|through| &**through == starter.name);
        if starter.class != ProgramClass::Helper && !between {
            break;
        }
    }
    let below: Vec<&str> = helper.below.iter().map(|text| &**text).collect();
    let by = above.first().map_or("the entry", |starter| starter.name);
    refused(
        name,
        format!("{name} may only be started by {}, and {by} started it", below.join(", ")),
    )
}

/// The names that the kernel has to let run; helpers are among them, since enforcement is by file.
#[must_use]
pub(crate) fn granted(list: &Allowlist, strictness: Strictness) -> Vec<&str> {
    let commands = (list.commands.iter())
        .filter(|c| c.class != CommandClass::Tolerated || strictness == Strictness::Tolerant)
        .map(|c| &*c.name);
    commands.chain(list.helpers.iter().map(|h| &*h.name)).collect()
}

/// Of the names that one inode has, the one that it is granted and reported under: what rule 7.5 lists
/// goes before what is tolerated (`cc` before `gcc`), and both before helpers.
#[must_use]
fn grant_name<'a>(list: &Allowlist, names: &[&'a str], strictness: Strictness) -> Option<&'a str> {
    names
        .iter()
        .filter_map(|name| {
            let rank = match list.command(name).map(|command| command.class) {
                Some(CommandClass::Listed) => 0,
                Some(CommandClass::Tolerated) if strictness == Strictness::Tolerant => 1,
                Some(CommandClass::Tolerated) => return None,
                Some(CommandClass::Waived) => 2,
                None => list.helper(name).map(|_| 3)?,
            };
            Some((rank, *name))
        })
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, name)| name)
}

/// The name that an ordinary program was called by, if its inode has that name on the list; otherwise
/// (a versioned name, a link of another name) the best name that it has.
fn called<'a>(list: &Allowlist, program: &StartedProgram<'a>) -> &'a str {
    let has = |wanted: &str| (program.known_as.iter().copied()).find(|name| *name == wanted);
    has(base_name(program.asked))
        .or_else(|| has(base_name(program.argv.first()?)))
        .or_else(|| grant_name(list, program.known_as, Strictness::Tolerant))
        .or_else(|| program.known_as.first().copied())
        .unwrap_or_default()
}

/// The program that a multi-call file was told to be: argv\[0\], or the next word after its own name.
fn applet<'a>(program: &StartedProgram<'a>) -> Option<&'a str> {
    let name = name_called(program.argv.first()?);
    if is_multi_call(name) { next_word(program) } else { Some(name) }
}

/// The program that the word behind the name says; GNU's file of many programs is told it by an option.
fn next_word<'a>(program: &StartedProgram<'a>) -> Option<&'a str> {
    let word = *program.argv.get(1)?;
    let told = ["--coreutils-prog=", "--coreutils-prog-shebang="]
        .iter()
        .find_map(|option| word.strip_prefix(option));
    Some(base_name(told.unwrap_or(word)))
}

fn stranger(list: &Allowlist, name: &str) -> String {
    let near = nearest(name, list.commands.iter().map(|c| &*c.name))
        .filter(|near| *near != name && name.len() > 3)
        .map(|near| format!("; {near} is"))
        .unwrap_or_default();
    format!("{name} is not on the list of rule 7.5{near}")
}

fn decision(class: ProgramClass, name: &str, reason: impl Into<String>) -> ProgramDecision {
    ProgramDecision { class, name: name.to_owned(), reason: reason.into() }
}

fn refused(name: &str, reason: impl Into<String>) -> ProgramDecision {
    decision(ProgramClass::Refused, name, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProgramClass::{Helper, Listed, OwnProduct, Refused, Tolerated, Waived};
    use Strictness::{Strict, Tolerant};

    fn host<'a>(
        known_as: &'a [&'a str],
        asked: &'a str,
        argv: &'a [&'a str],
    ) -> StartedProgram<'a> {
        StartedProgram { known_as, asked, argv, form: ProgramForm::Ordinary, origin: Origin::Host }
    }

    fn class(
        what: &StartedProgram<'_>,
        above: &[(&str, ProgramClass)],
        strictness: Strictness,
    ) -> ProgramClass {
        let above: Vec<Ancestor<'_>> =
            (above.iter()).map(|(name, class)| Ancestor { name, class: *class }).collect();
        let decision = program(Allowlist::built_in(), what, &above, strictness);
        assert!(!decision.reason.is_empty());
        decision.class
    }

    #[test]
    fn another_name_of_a_listed_file_is_not_listed() {
        let xz = ["lzma", "xz", "unxz", "xzcat", "unlzma", "lzcat"];
        let bzip2 = ["bzip2", "bunzip2", "bzcat"];
        for (names, listed) in [(&xz[..], 2), (&bzip2[..], 1)] {
            for (at, name) in names.iter().enumerate() {
                let asked = format!("/usr/bin/{name}");
                let what = host(names, &asked, &["x"]);
                let wanted = if at < listed { (Listed, Listed) } else { (Tolerated, Refused) };
                assert_eq!(
                    (class(&what, &[], Tolerant), class(&what, &[], Strict)),
                    wanted,
                    "{name}"
                );
                let decided = program(Allowlist::built_in(), &what, &[], Tolerant);
                assert_eq!(decided.name, *name);
            }
        }
    }

    #[test]
    fn the_three_classes_and_everything_else() {
        let xz = host(&["xz", "unxz", "lzma"], "/usr/bin/xz", &["xz", "-d"]);
        let rm = host(&["rm"], "/bin/rm", &["rm"]);
        let curl = host(&[], "/usr/bin/curl", &["curl"]);
        assert_eq!(class(&xz, &[], Strict), Listed);
        assert_eq!(class(&rm, &[], Tolerant), Tolerated);
        assert_eq!(class(&rm, &[], Strict), Refused);
        assert_eq!(class(&curl, &[], Tolerant), Refused);
    }

    #[test]
    fn the_name_it_is_called_by_decides_among_the_names_it_has() {
        let names = ["gcc", "cc"];
        let decide = |asked, argv| {
            program(Allowlist::built_in(), &host(&names, asked, argv), &[], Tolerant).name
        };
        assert_eq!(decide("/usr/bin/cc", &["cc"]), "cc");
        assert_eq!(decide("/usr/bin/gcc", &["gcc"]), "gcc");
        assert_eq!(decide("/usr/bin/x86_64-linux-gnu-gcc-12", &["x"]), "cc");
        // `exec -a xz cat`: the inode is on no list, whatever it is called
        assert_eq!(class(&host(&[], "/usr/bin/cat", &["xz"]), &[], Tolerant), Refused);
        // a hard link named rm to tail is tail
        assert_eq!(class(&host(&["tail"], "/tmp/rm", &["rm"]), &[], Tolerant), Listed);
    }

    #[test]
    fn an_interpreter_asks_the_system_by_these_words_only() {
        let by = |argv: &[&str], above: &str| {
            let program = host(&["ldconfig"], "/sbin/ldconfig", argv);
            class(&program, &[(above, Listed)], Strict)
        };
        assert_eq!(by(&["/sbin/ldconfig", "-p"], "python3"), Helper);
        assert_eq!(by(&["/sbin/ldconfig", "-p"], "sh"), Refused);
        assert_eq!(by(&["/sbin/ldconfig"], "python3"), Refused);
        assert_eq!(by(&["/sbin/ldconfig", "-p", "-v"], "python3"), Refused);
        let of_many = |argv: &[&str]| {
            let form = ProgramForm::MultiCall;
            let program = StartedProgram { form, ..host(&["ldconfig"], "/sbin/busybox", argv) };
            class(&program, &[("python3", Listed)], Strict)
        };
        assert_eq!(of_many(&["busybox", "ldconfig", "-p"]), Helper);
        assert_eq!(of_many(&["busybox", "ldconfig", "-v"]), Refused);
    }

    /// `ctypes.util.find_library` asks it last, for a library that is not there.
    #[test]
    fn an_interpreter_asks_the_linker_where_a_library_lies_and_nothing_else() {
        let by = |argv: &[&str], above: &[(&str, ProgramClass)]| {
            class(&host(&["ld", "ld.bfd"], "/usr/bin/ld", argv), above, Strict)
        };
        let asks = ["ld", "-t", "-o", "/dev/null", "-labsent"];
        for interpreter in ["python3", "pypy3"] {
            assert_eq!(by(&asks, &[(interpreter, Listed)]), Helper);
        }
        // With LD_LIBRARY_PATH.
        let directories = ["-L", "/usr/lib/x86_64-linux-gnu/", "-L", "/usr/local/cuda/lib64"];
        let asks_there = [&asks[..2], &directories, &asks[2..]].concat();
        assert_eq!(by(&asks_there, &[("python3", Listed)]), Helper);
        for above in [&[("sh", Listed)][..], &[("sh", Listed), ("python3", Listed)], &[]] {
            assert_eq!(by(&asks, above), Refused);
        }
        assert_eq!(by(&asks, &[("python3", OwnProduct)]), Refused);
        for argv in [
            &["ld", "-t", "-o", "x", "-labsent"][..],
            &["ld", "-t", "-o", "/dev/null", "x.o"],
            &["ld", "-t", "-o", "/dev/null", "-l/../../tmp/x"],
            &["ld", "-t", "-o", "/dev/null", "-labsent", "x.o"],
            &["ld", "-t", "-L", "/tmp", "-o", "/dev/null", "-labsent"],
            &["ld", "-t", "-L", "/usr/lib/../../tmp", "-o", "/dev/null", "-labsent"],
            &["ld", "-t", "-L", "-o", "/dev/null", "-labsent"],
        ] {
            assert_eq!(by(argv, &[("python3", Listed)]), Refused, "{argv:?}");
        }
    }

    #[test]
    fn helpers_run_below_their_commands_only() {
        let ld = host(&["ld"], "/usr/bin/ld", &["ld"]);
        let below_cc = [("collect2", Helper), ("cc", Listed), ("sh", Listed)];
        assert_eq!(class(&ld, &below_cc, Tolerant), Helper);
        assert_eq!(class(&ld, &[("sh", Listed)], Tolerant), Refused);
        assert_eq!(class(&ld, &[], Tolerant), Refused);
        // a shell below a compiler is the entry's again
        assert_eq!(class(&ld, &[("sh", Listed), ("collect2", Helper)], Tolerant), Refused);
        // a product that calls itself collect2
        assert_eq!(class(&ld, &[("collect2", OwnProduct)], Tolerant), Refused);
        // cc below rustc is listed anyway
        let cc = host(&["cc", "gcc"], "cc", &["cc"]);
        assert_eq!(class(&cc, &[("rustc", Listed)], Strict), Listed);
    }

    #[test]
    fn a_link_time_optimisation_in_parts_tidies_up_through_makes_own_shell() {
        let make = [("make", Helper), ("lto-wrapper", Helper), ("collect2", Helper)];
        let (part, spare) = ("/tmp/ccX.ltrans0.o", "/tmp/ccX.ltrans0.o.tem");
        let argv = ["touch", "-r", part, spare];
        let touch = host(&["touch"], "/usr/bin/touch", &argv);
        let below = |shell: (&'static str, ProgramClass)| [&[shell], &make[..]].concat();
        assert_eq!(class(&touch, &below(("sh", Listed)), Strict), Helper);
        let mv = |argv: &[&str]| class(&host(&["mv"], "mv", argv), &below(("sh", Listed)), Strict);
        assert_eq!(mv(&["mv", spare, part]), Helper);
        // nothing of the entry's own
        assert_eq!(mv(&["mv", "q", "out"]), Refused);
        assert_eq!(mv(&["mv", spare, "out"]), Refused);
        assert_eq!(mv(&["mv", "-t/x.ltrans0.o.tem", part]), Refused);
        let touches = host(&["touch"], "/usr/bin/touch", &["touch", "x"]);
        assert_eq!(class(&touches, &below(("sh", Listed)), Strict), Refused);
        assert_eq!(class(&touch, &[("sh", Listed)], Tolerant), Refused);
        assert_eq!(class(&touch, &[("sh", Listed), ("cc", Listed)], Tolerant), Refused);
        assert_eq!(class(&touch, &below(("python3", Listed)), Tolerant), Refused);
        assert_eq!(class(&touch, &below(("sh", OwnProduct)), Tolerant), Refused);
        // such a shell starts nothing else
        let ld = host(&["ld"], "/usr/bin/ld", &["ld"]);
        assert_eq!(class(&ld, &below(("sh", Listed)), Tolerant), Refused);
    }

    #[test]
    fn make_and_objcopy_do_what_a_compiler_has_them_do_and_nothing_else() {
        let by = |argv: &[&str], above: &str| {
            class(&host(&[argv[0]], argv[0], argv), &[(above, Helper)], Tolerant)
        };
        for (argv, expected) in [
            (&["make", "--version"][..], Helper),
            (&["make", "-f", "/tmp/ccX.mk", "-j2", "all"], Helper),
            (&["make", "-f", "/tmp/ccX.mk", "-j2", "all", "--eval=x"], Refused),
            (&["make", "-f", "/tmp/ccX.mk", "--eval=x", "all"], Refused),
            (&["make", "-f", "/tmp/own.mk", "-j2", "all"], Refused),
            (&["make"], Refused),
        ] {
            assert_eq!(by(argv, "lto-wrapper"), expected, "{argv:?}");
        }
        for (argv, expected) in [
            (&["objcopy", "--extract-dwo", "/tmp/ccX.o", "x.dwo"][..], Helper),
            (&["objcopy", "--strip-dwo", "x.o"], Helper),
            (&["objcopy", "-Ibinary", "-Obinary", "-i4", "-b1", "in", "out"], Refused),
            (&["objcopy", "--strip-dwo", "@options"], Refused),
            (&["objcopy", "--strip-dwo", "--verbose"], Refused),
        ] {
            assert_eq!(by(argv, "cc"), expected, "{argv:?}");
        }
        let make = host(&["make"], "make", &["make", "x"]);
        let above = [Ancestor { name: "lto-wrapper", class: Helper }];
        let told = program(Allowlist::built_in(), &make, &above, Strict).reason;
        assert!(told.ends_with("`make --version` or `make -f **/cc*.mk -j* all`"), "{told}");
    }

    #[test]
    fn a_multi_call_file_is_the_program_it_is_told_to_be() {
        let call = |argv| {
            let known = ["sh", "xz", "tail"];
            let what =
                StartedProgram { form: ProgramForm::MultiCall, ..host(&known, "/bin/sh", argv) };
            let decision = program(Allowlist::built_in(), &what, &[], Tolerant);
            (decision.class, decision.name)
        };
        assert_eq!(call(&["sh", "-c"]), (Listed, "sh".into()));
        assert_eq!(call(&["-sh"]), (Listed, "sh".into()));
        assert_eq!(call(&["/x/tail", "cat"]), (Listed, "tail".into()));
        assert_eq!(call(&["wget"]), (Refused, "wget".into()));
        assert_eq!(call(&["busybox", "wget"]), (Refused, "wget".into()));
        assert_eq!(call(&["busybox", "xz"]), (Listed, "xz".into()));
        assert_eq!(call(&["busybox-x", "wget"]), (Refused, "wget".into()));
        assert_eq!(call(&["busybox"]).0, Refused);
        assert_eq!(call(&[]).0, Refused);
        // A word that is no name of that file tells nothing: GNU's takes an option for the name, and uutils's the next word.
        assert_eq!(call(&["gzip", "--coreutils-prog=cat"]), (Refused, "cat".into()));
        assert_eq!(call(&["/tmp/gzip", "sort"]), (Refused, "sort".into()));
        assert_eq!(call(&["/tmp/gzip"]), (Refused, "gzip".into()));
        assert_eq!(call(&["coreutils", "--coreutils-prog=xz"]), (Listed, "xz".into()));
        assert_eq!(call(&["coreutils", "--coreutils-prog-shebang=cat", "s"]).0, Refused);
    }

    #[test]
    fn what_the_entry_made_is_its_own() {
        let product =
            StartedProgram { origin: Origin::Workspace, ..host(&[], "/tmp/tmp.a", &["curl"]) };
        assert_eq!(class(&product, &[], Strict), OwnProduct);
    }

    #[test]
    fn a_granted_program_runs_for_its_entry_even_where_nothing_is_tolerated() {
        let ground = |name: &str| (name.to_owned(), "harmless, 2026-11-21".to_owned());
        let list = Allowlist::built_in().granting(&[ground("sed"), ground("rm"), ground("xz")]);
        for strictness in [Tolerant, Strict] {
            let of = |name| named(&list, name, &[], strictness);
            assert_eq!((of("sed").class, of("rm").class), (Waived, Waived));
            assert_eq!((of("xz").class, of("cat").class), (Listed, Refused));
            assert_eq!(of("sed").reason, "harmless, 2026-11-21");
            assert!(granted(&list, strictness).contains(&"sed"));
        }
        assert_eq!(named(Allowlist::built_in(), "sed", &[], Tolerant).class, Refused);
    }

    #[test]
    fn the_grant_prefers_what_the_rules_list() {
        let list = Allowlist::built_in();
        assert_eq!(grant_name(list, &["gcc", "cc"], Tolerant), Some("cc"));
        assert_eq!(grant_name(list, &["rm"], Strict), None);
        assert_eq!(grant_name(list, &["cat"], Tolerant), None);
        assert!(granted(list, Strict).contains(&"cc1"));
        assert!(!granted(list, Strict).contains(&"rm"));
    }
}
