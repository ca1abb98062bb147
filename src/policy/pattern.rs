//! Path patterns: `*` is any run of characters within one component, `**` any run at all.

/// True where all of `text` matches `pattern`.
#[must_use]
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    glob(pattern.as_bytes(), text.as_bytes())
}

/// True where `path` is what `pattern` names, or lies below it.
#[must_use]
pub(crate) fn covers(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    matches(pattern, path) || glob(format!("{pattern}/**").as_bytes(), path.as_bytes())
}

/// True where the directory `path` has to exist for something that matches `pattern` to lie in it:
/// `~/.cache` is above `~/.cache/ccache/**`.
#[must_use]
pub(crate) fn is_above(pattern: &str, path: &str) -> bool {
    pattern
        .match_indices('/')
        .map(|(at, _)| &pattern[..at])
        .any(|parent| !parent.is_empty() && !parent.ends_with("**") && matches(parent, path))
}

/// Where a star stands in a pattern, and how much of the text it has taken: there the match is tried again, with one byte more.
#[derive(Clone, Copy)]
struct Star {
    /// The place in the pattern behind the star.
    after: usize,
    /// The place in the text to which it reaches.
    reach: usize,
}

/// Matches with one place of return per kind of star, so that no pattern takes more than the product of both lengths. Of two stars of a
/// kind the last one is enough: whatever the one before it could take more, the last one can take. (Where a separator stands between
/// two that stay in their component, the first one has no choice.)
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut in_pattern, mut in_text) = (0, 0);
    let (mut within, mut across): (Option<Star>, Option<Star>) = (None, None);
    loop {
        match pattern.get(in_pattern) {
            Some(b'*') if pattern.get(in_pattern + 1) == Some(&b'*') => {
                in_pattern += 2;
                (within, across) = (None, Some(Star { after: in_pattern, reach: in_text }));
                continue;
            }
            Some(b'*') => {
                in_pattern += 1;
                within = Some(Star { after: in_pattern, reach: in_text });
                continue;
            }
            Some(byte) if text.get(in_text) == Some(byte) => {
                (in_pattern, in_text) = (in_pattern + 1, in_text + 1);
                continue;
            }
            None if in_text == text.len() => return true,
            _ => {}
        }
        let next = |star: Star| text.get(star.reach).copied();
        let star = match (within, across) {
            (Some(star), _) if next(star).is_some_and(|byte| byte != b'/') => {
                within.insert(Star { reach: star.reach + 1, ..star })
            }
            (_, Some(star)) if next(star).is_some() => {
                within = None;
                across.insert(Star { reach: star.reach + 1, ..star })
            }
            _ => return false,
        };
        (in_pattern, in_text) = (star.after, star.reach);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_star_stays_in_its_component() {
        assert!(matches("libc.so*", "libc.so.6"));
        assert!(!matches("libc.so*", "libcurl.so.4"));
        assert!(matches("/usr/lib/llvm-*", "/usr/lib/llvm-14"));
        assert!(!matches("/usr/lib/llvm-*", "/usr/lib/llvm-14/bin"));
        assert!(matches("/usr/**/x", "/usr/a/b/x"));
        assert!(!matches("/usr/*/x", "/usr/a/b/x"));
        assert!(matches("", ""));
        assert!(!matches("", "a"));
    }

    #[test]
    fn a_directory_covers_what_lies_in_it() {
        assert!(covers("/usr/include", "/usr/include/c++/12/vector"));
        assert!(covers("/usr/include/", "/usr/include"));
        assert!(!covers("/usr/include", "/usr/include2"));
        assert!(covers("/usr/lib/llvm-*", "/usr/lib/llvm-14/bin/clang"));
        assert!(is_above("~/.cache/ccache/**", "~/.cache"));
        assert!(!is_above("~/.cache/ccache/**", "~/.ssh"));
        assert!(!is_above("~/.cache/ccache/**", ""));
        assert!(is_above("**/__pycache__/*.pyc", "/tmp/w/__pycache__"));
        assert!(!is_above("**/__pycache__/*.pyc", "/tmp/w"));
    }

    /// The definition at the top of this file, tried in every way.
    fn tried(pattern: &[u8], text: &[u8]) -> bool {
        let Some((&first, rest)) = pattern.split_first() else { return text.is_empty() };
        if first != b'*' {
            return text
                .split_first()
                .is_some_and(|(&byte, text)| byte == first && tried(rest, text));
        }
        let (rest, across) = rest.strip_prefix(b"*").map_or((rest, false), |rest| (rest, true));
        let may_take = |taken: &usize| across || !text[..*taken].contains(&b'/');
        (0..=text.len()).filter(may_take).any(|taken| tried(rest, &text[taken..]))
    }

    proptest! {
        #[test]
        fn it_matches_what_trying_everything_finds(pattern in "[ab/*]{0,9}", text in "[ab/]{0,9}") {
            prop_assert_eq!(matches(&pattern, &text), tried(pattern.as_bytes(), text.as_bytes()));
        }

        #[test]
        fn any_text_matches_itself_and_the_deep_star(text in "[a-z/.]{0,40}") {
            prop_assert!(matches(&text, &text));
            prop_assert!(matches("**", &text));
        }
    }
}
