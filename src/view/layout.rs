//! The layout of pages for people.

/// The layout of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageLayout {
    /// The number of columns.
    pub width: usize,
    /// True if evidence of rules that passed, every run and the transcript are shown, too.
    pub verbose: bool,
    /// True for a screen reader, or a terminal that knows nothing but text: words in place of bars, arrows and columns.
    pub plain: bool,
}

impl PageLayout {
    /// A page of that many columns for a terminal, with the findings that ask for something.
    pub fn of_width(width: usize) -> PageLayout {
        PageLayout { width, verbose: false, plain: false }
    }

    /// The words or the sign before a next step.
    pub(crate) fn step(self) -> &'static str {
        if self.plain { "next step: " } else { "→ " }
    }
}
