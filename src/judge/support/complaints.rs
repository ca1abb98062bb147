//! The names that shells, interpreters and loaders say they did not find.

/// The kind of program that says that something is missing, by the form of its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Complainer {
    Python,
    Perl,
    Loader,
    Linker,
    Compiler,
}

/// Modules of Python's own standard library that Debian has in packages of their own, each with its package.
const APART_FROM_PYTHON: [(&str, &str); 3] =
    [("_gdbm", "python3-gdbm"), ("tkinter", "python3-tk"), ("_tkinter", "python3-tk")];

/// The package that has a module of Python's own standard library, where it is not the interpreter's.
pub(crate) fn package_of_python(module: &str) -> Option<&'static str> {
    APART_FROM_PYTHON.iter().find(|(name, _)| *name == module).map(|(_, package)| *package)
}

/// The modules and shared objects that an interpreter or the loader said it did not find.
pub(crate) fn missing_modules(stderr: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in missing_by_complainer(stderr) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The same, each with the kind of program that said so.
pub(crate) fn missing_by_complainer(stderr: &[String]) -> Vec<(String, Complainer)> {
    let mut names: Vec<(String, Complainer)> = Vec::new();
    for line in stderr {
        let python = line
            .split_once("No module named ")
            .map(|(_, rest)| rest.trim().trim_matches(['\'', '"']));
        let perl = line
            .split_once("Can't locate ")
            .and_then(|(_, rest)| rest.split_once(" in @INC"))
            .map(|(name, _)| name);
        let loader = line
            .split_once(": cannot open shared object file")
            .and_then(|(before, _)| before.rsplit([' ', ':']).next());
        let linker = line
            .split_once("cannot find -l")
            .map(|(_, rest)| format!("lib{}.so", rest.split([':', ' ']).next().unwrap_or(rest)));
        let header = missing_header(line);
        let said = [
            (python, Complainer::Python),
            (perl, Complainer::Perl),
            (loader, Complainer::Loader),
            (linker.as_deref(), Complainer::Linker),
            (header, Complainer::Compiler),
        ];
        if let Some((name, by)) = said.into_iter().find_map(|(name, by)| Some((name?, by))) {
            // The rest of the line may be anything; a name ends where its characters do.
            let name: String = name
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || "._-+/".contains(*c))
                .take(80)
                .collect();
            let said = (name, by);
            if !said.0.is_empty() && !names.contains(&said) {
                names.push(said);
            }
        }
    }
    names
}

/// The library, and its version, that the loader found too old for a program.
pub(crate) fn missing_version(stderr: &[String]) -> Option<(&str, &str)> {
    stderr.iter().find_map(|line| {
        let (before, rest) = line.split_once(": version `")?;
        let (version, _) = rest.split_once("' not found (required by ")?;
        let library = before.rsplit([' ', '/']).next()?;
        let is_name = |name: &str| {
            !name.is_empty()
                && name.len() <= 80
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c))
        };
        (is_name(library) && is_name(version)).then_some((library, version))
    })
}

/// The libraries of rule 7.6 whose headers are no compiler's own, by what their headers' names begin with.
const HEADERS: [(&str, &str); 9] = [
    ("CL/", "libOpenCL.so"),
    ("cuda", "libcuda.so"),
    ("cublas", "libcublas.so"),
    ("cudnn", "libcudnn.so"),
    ("cufft", "libcufft.so"),
    ("curand", "libcurand.so"),
    ("nvrtc", "libnvrtc.so"),
    ("numa", "libnuma.so"),
    ("omp.h", "libgomp.so"),
];

/// The library of a header that a compiler did not find.
fn missing_header(line: &str) -> Option<&'static str> {
    let (_, rest) = line.split_once("fatal error: ")?;
    let gcc = rest.strip_suffix(": No such file or directory");
    let name = gcc.or_else(|| rest.strip_suffix(" file not found"))?.trim_matches('\'');
    HEADERS.iter().find(|(begins, _)| name.starts_with(begins)).map(|(_, library)| *library)
}

/// True if a compiler said that the processor which it compiles for lacks an instruction that the source names.
pub(crate) fn lacks_instruction(stderr: &[String]) -> bool {
    let clang = |line: &str| line.contains("requires target feature") && line.contains("inlined");
    stderr.iter().any(|line| line.contains("target specific option mismatch") || clang(line))
}

/// Python's words for a limit of resources that it may not raise.
pub(crate) const OF_PYTHON: &str = "not allowed to raise maximum limit";

/// The complaint of a shell or of Python that a limit of resources could not be raised.
pub(crate) fn refused_limit(stderr: &[String]) -> Option<&str> {
    let marks = [
        "ulimit: error setting limit (Operation not permitted)",
        "cannot modify limit: Operation not permitted",
        OF_PYTHON,
    ];
    stderr.iter().map(String::as_str).find(|line| marks.iter().any(|mark| line.contains(mark)))
}

/// The commands that shells (and env) said they did not find.
pub(crate) fn not_found_names(stderr: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for line in stderr {
        let line = line.trim_end();
        let name = if let Some(rest) =
            line.strip_suffix(": command not found").or_else(|| line.strip_suffix(": not found"))
        {
            rest.rsplit(": ").next()
        } else if line.contains("env: ") {
            line.strip_suffix(": No such file or directory")
                .and_then(|rest| rest.rsplit("env: ").next())
        } else {
            None
        };
        let name = name.and_then(|name| {
            let bare = name.trim_matches(['\'', '`', '"', '‘', '’']);
            match bare.rsplit_once('/') {
                None => Some(bare.to_owned()),
                Some((dir, name)) if dir.ends_with("bin") => Some(name.to_owned()),
                // Its own file, which it has not made: no command.
                Some(_) => None,
            }
        });
        // A stub may run its own packed payload as commands; such names are noise, not commands.
        if let Some(name) = name.filter(|name| is_command_name(name) && !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// Builtins and words of bash's own language that other shells lack: no program has such a name.
const OF_BASH: [&str; 23] = [
    "bind",
    "builtin",
    "caller",
    "compgen",
    "complete",
    "compopt",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "enable",
    "function",
    "help",
    "history",
    "let",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "readarray",
    "shopt",
    "source",
    "typeset",
];

/// True if a word could be a command that somebody meant.
pub(crate) fn is_command_name(word: &str) -> bool {
    !OF_BASH.contains(&word)
        && (2..=32).contains(&word.len())
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[&str]) -> Vec<String> {
        text.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn names_are_read_from_what_shells_say() {
        let said = lines(&[
            "/w/e: 3: curl: not found",
            "/w/e: line 3: wget: command not found",
            "x: 1: exec: nproc: not found",
            "/usr/bin/env: ‘pypy3’: No such file or directory",
            "/w/e: 5: \\xfd7zXZ: not found",
            "x: 9: a: not found",
            "x: 4: exec: /tmp/tmp.AbCdEf: not found",
            "x: 4: /usr/bin/awk: not found",
            "x: 2: source: not found",
            "x: 2: declare: not found",
        ]);
        assert_eq!(not_found_names(&said), ["curl", "wget", "nproc", "pypy3", "awk"]);
    }

    #[test]
    fn names_of_missing_modules_are_read() {
        let said = [
            "ModuleNotFoundError: No module named 'torch'",
            "Can't locate Foo/Bar.pm in @INC (you may need …)",
            "/w/e: error while loading shared libraries: libfoo.so.1: cannot open shared object file",
            "OSError: libbar.so.1: cannot open shared object file: No such file or directory",
            "/usr/bin/ld: cannot find -lbaz: No such file or directory",
            "<stdin>:1:10: fatal error: CL/cl.h: No such file or directory",
            "<stdin>:1:10: fatal error: 'numa.h' file not found",
            "<stdin>:1:10: fatal error: weights.h: No such file or directory",
        ]
        .map(str::to_owned);
        assert_eq!(
            missing_modules(&said),
            [
                "torch",
                "Foo/Bar.pm",
                "libfoo.so.1",
                "libbar.so.1",
                "libbaz.so",
                "libOpenCL.so",
                "libnuma.so"
            ]
        );
    }
}
