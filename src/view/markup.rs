//! Text of strangers on its way into Markdown: it stays text, whatever it says. (Into HTML, maud brings it.)

use super::text::clean;

/// For Markdown within a line, as GitHub reads it: no markup, no end of a table's cell, nobody notified by
/// a name, no link that nobody wrote, no formula. It must not stand at the start of a line.
pub(crate) fn markdown(text: &str) -> String {
    // An empty comment is what breaks up a word that would be linked, without a sign of its own.
    const NOTHING: &str = "<!-- -->";
    let mut out = String::with_capacity(text.len());
    let mut before = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '$' => out.push_str("&#36;"),
            '\n' | '\r' => out.push(' '),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            '@' | '#' => {
                out.push(c);
                out.push_str(NOTHING);
            }
            '-' if before.to_ascii_lowercase().ends_with("gh") => {
                out.push(c);
                out.push_str(NOTHING);
            }
            '/' if before.ends_with(':') => {
                out.push_str(NOTHING);
                out.push(c);
            }
            '.' if before.to_ascii_lowercase().ends_with("www") => {
                out.push_str(NOTHING);
                out.push(c);
            }
            c => out.push(c),
        }
        before.push(c);
        if before.len() > 16 {
            before = before.chars().skip(1).collect();
        }
    }
    out
}

/// Lines as they are, fenced off from Markdown by more backticks than any of them has.
pub(crate) fn fenced(lines: &[String]) -> String {
    let longest = lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let mut out = format!("{fence}text\n");
    for line in lines {
        out.push_str(&clean(&line.replace(['\n', '\r'], " ")));
        out.push('\n');
    }
    out.push_str(&fence);
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_starts_no_markup() {
        for (text, harmless) in [
            ("a|b *c* <d> [e](f)", "a\\|b \\*c\\* &lt;d&gt; \\[e\\](f)"),
            ("@someone", "@<!-- -->someone"),
            ("see #12", "see #<!-- -->12"),
            ("see GH-12", "see GH-<!-- -->12"),
            ("http://x.y", "http:<!-- -->//x.y"),
            ("WWW.x.y", "WWW<!-- -->.x.y"),
            ("$x$", "&#36;x&#36;"),
            ("a\n# b", "a #<!-- --> b"),
            ("-->", "--&gt;"),
        ] {
            assert_eq!(markdown(text), harmless);
        }
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let text = fenced(&["x".into(), "````".into(), "a\n`````".into()]);
        assert_eq!(text, "``````text\nx\n````\na `````\n``````\n");
        assert_eq!(fenced(&[]), "```text\n```\n");
    }
}
