//! Next steps that name the entry: rules do not know where it lies, so they write a mark, and a report has the name.

use std::path::Path;

use super::text::shell_word;

/// Stands in a next step for the entry's file.
pub(crate) const ENTRY: &str = "@ENTRY@";

/// A step with the name of the entry's file, so that its command can be typed as it stands; with the word `ENTRY` where the
/// entry has no file of its own, or one that no line can hold.
pub(crate) fn naming(step: &str, file: Option<&Path>) -> String {
    let name = file.and_then(shell_word);
    step.replace(ENTRY, name.as_deref().unwrap_or("ENTRY"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_names_the_file() {
        let step = format!("set it: chmod +x {ENTRY}");
        for (file, expected) in [
            (Some("in/my engine"), "set it: chmod +x 'in/my engine'"),
            (Some("a\nb"), "set it: chmod +x ENTRY"),
            (None, "set it: chmod +x ENTRY"),
        ] {
            assert_eq!(naming(&step, file.map(Path::new)), expected);
        }
    }
}
