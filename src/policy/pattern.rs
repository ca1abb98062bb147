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

/// Matches with one point of return per kind of star, so that no pattern takes exponential time.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    // Most patterns differ from most texts before their first star, and a check asks a million times.
    let literal = pattern.iter().position(|&byte| byte == b'*').unwrap_or(pattern.len());
    let (literal, pattern) = pattern.split_at(literal);
    let Some(text) = text.strip_prefix(literal) else { return false };
    if pattern.is_empty() {
        return text.is_empty();
    }
    // reachable[i]: the pattern so far can end just before text[i]
    let mut reachable = vec![false; text.len() + 1];
    reachable[0] = true;
    let mut rest = pattern;
    while let Some((&first, after)) = rest.split_first() {
        let mut next = vec![false; text.len() + 1];
        if first == b'*' {
            let deep = after.first() == Some(&b'*');
            rest = if deep { &after[1..] } else { after };
            let mut open = false;
            for i in 0..=text.len() {
                open |= reachable[i];
                next[i] = open;
                if !deep && text.get(i) == Some(&b'/') {
                    open = false;
                }
            }
        } else {
            rest = after;
            for i in 0..text.len() {
                next[i + 1] = reachable[i] && text[i] == first;
            }
        }
        reachable = next;
    }
    reachable[text.len()]
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

    proptest! {
        #[test]
        fn any_text_matches_itself_and_the_deep_star(text in "[a-z/.]{0,40}") {
            prop_assert!(matches(&text, &text));
            prop_assert!(matches("**", &text));
        }
    }
}
