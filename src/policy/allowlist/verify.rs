//! The conditions that an allow-list must meet beyond its grammar, so that no line means less, or more, than
//! its author thinks.

use crate::model::source_place::{TextMistake, nearest};
use crate::policy::allowlist::{Allowlist, Text, VERSION, ValueKind};

fn at(text: &Text, what: impl Into<String>) -> TextMistake {
    (text.span(), what.into())
}

/// Finds the first mistake that TOML itself does not see.
pub(super) fn check(list: &Allowlist) -> Result<(), TextMistake> {
    if *list.version.get_ref() != VERSION {
        return Err((
            list.version.span(),
            format!(
                "this gate4k reads version {VERSION} of the allow-list, not {}",
                list.version.get_ref()
            ),
        ));
    }
    check_grounds(list)?;
    unique(list.commands.iter().map(|c| &c.name))?;
    unique(list.helpers.iter().map(|h| &h.name))?;
    unique(list.options.iter().map(|o| &o.name))?;
    let started = list.libraries.iter().flat_map(|library| &library.starts);
    for name in (list.commands.iter().map(|c| &c.name))
        .chain(list.helpers.iter().map(|h| &h.name))
        .chain(started)
    {
        if name.is_empty() || name.contains('/') {
            return Err(at(name, "a program's base name is wanted here"));
        }
    }
    for helper in &list.helpers {
        if helper.below.is_empty() {
            return Err(at(&helper.name, "a helper needs `below`: the programs that may start it"));
        }
        for name in helper.below.iter().chain(helper.asked.iter().flat_map(|asked| &asked.below)) {
            if list.command(name).is_none() && list.helper(name).is_none() {
                let known = (list.commands.iter().map(|c| &*c.name))
                    .chain(list.helpers.iter().map(|h| &*h.name));
                return Err(at(
                    name,
                    format!(
                        "no command or helper of this list is called `{name}`{}",
                        did_you_mean(name, known)
                    ),
                ));
            }
        }
    }
    for begins in list.caches.iter().filter_map(|cache| cache.begins.as_ref()) {
        if !begins.chars().all(|c| c == '?' || c.is_ascii_hexdigit()) {
            return Err(at(begins, "hexadecimal digits are wanted here, and `?` for any digit"));
        }
    }
    for option in &list.options {
        let (missing, superfluous) = match option.value {
            ValueKind::Number => (option.digits.is_none(), option.bytes.is_some()),
            ValueKind::Path => (option.bytes.is_none(), option.digits.is_some()),
            ValueKind::Word => (option.words.is_empty(), false),
            ValueKind::Bool | ValueKind::Button => {
                (false, option.digits.is_some() || option.bytes.is_some())
            }
        };
        let superfluous =
            superfluous || (option.value != ValueKind::Word && !option.words.is_empty());
        let superfluous = superfluous || (option.value != ValueKind::Number && option.signed);
        if missing || superfluous {
            return Err(at(
                &option.name,
                "a number needs `digits`, a path `bytes`, a word `words`, and nothing else has them",
            ));
        }
    }
    Ok(())
}

/// Every line carries a rule or a reason, and it says something.
fn check_grounds(list: &Allowlist) -> Result<(), TextMistake> {
    fn each<'a>(
        lines: impl Iterator<Item = (&'a Text, &'a Option<Text>, &'a Option<Text>)>,
    ) -> Result<(), TextMistake> {
        for (name, rule, reason) in lines {
            if name.is_empty() {
                return Err(at(name, "this must not be empty"));
            }
            if let Some(empty) =
                [rule, reason].into_iter().flatten().find(|text| text.trim().is_empty())
            {
                return Err(at(empty, "this must say something"));
            }
            if rule.is_none() && reason.is_none() {
                return Err(at(
                    name,
                    format!("`{name}` needs a `rule` or a `reason`: nothing is allowed without"),
                ));
            }
        }
        Ok(())
    }
    each(list.commands.iter().map(|l| (&l.name, &l.rule, &l.reason)))?;
    each(list.helpers.iter().map(|l| (&l.name, &l.rule, &l.reason)))?;
    each(
        (list.library_directories.iter())
            .chain(&list.python_directories)
            .chain(&list.perl_directories)
            .map(|l| (&l.directory, &l.rule, &l.reason)),
    )?;
    each(
        (list.libraries.iter())
            .chain(&list.python_modules)
            .chain(&list.chess_libraries)
            .map(|l| (&l.name, &l.rule, &l.reason)),
    )?;
    each(list.headers.iter().map(|l| (&l.path, &l.rule, &l.reason)))?;
    each(list.options.iter().map(|l| (&l.name, &l.rule, &l.reason)))?;
    each(list.caches.iter().map(|l| (&l.path, &l.rule, &l.reason)))?;
    each(list.files.iter().map(|l| (&l.path, &l.rule, &l.reason)))
}

fn unique<'a>(names: impl Iterator<Item = &'a Text>) -> Result<(), TextMistake> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if seen.contains(&&**name) {
            return Err(at(name, format!("`{name}` is listed twice; keep one of the lines")));
        }
        seen.push(name);
    }
    Ok(())
}

fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}
