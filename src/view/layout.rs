//! The layout of pages for people.

/// The layout of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageLayout {
    /// Columns.
    pub width: usize,
    /// Show evidence of what passed too, every run, and the transcript.
    pub verbose: bool,
    /// For ears, or a terminal that knows nothing but text: words in place of bars, arrows and columns.
    pub plain: bool,
}

impl PageLayout {
    /// A page of that many columns with what asks for something, for eyes.
    pub fn of_width(width: usize) -> PageLayout {
        PageLayout { width, verbose: false, plain: false }
    }

    /// The words or the sign before a next step.
    pub(crate) fn step(self) -> &'static str {
        if self.plain { "next step: " } else { "→ " }
    }
}
