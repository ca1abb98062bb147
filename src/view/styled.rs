//! Markdown as text for a terminal: bold and coloured words, lists, quotations, broken to fit.

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::text::put;

const BOLD: Style = Style::new().bold();
const EMPHASIS: Style = Style::new().italic();
const CODE: Style = AnsiColor::Cyan.on_default();
const QUOTE: Style = Style::new().dimmed();

/// A text in Markdown, such as the rules have: paragraphs, lists, quotations, code.
pub(super) fn text(markdown: &str, width: usize) -> String {
    let mut page = Page { width, ..Page::default() };
    for event in Parser::new(markdown) {
        page.take(event);
    }
    page.paragraph();
    while page.text.ends_with("\n\n") {
        page.text.pop();
    }
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
    width: usize,
    /// The words of the paragraph so far.
    line: String,
    /// Columns that the quotations and lists around it take.
    indent: usize,
    /// A list's mark, before the first line of its item.
    mark: &'static str,
    quoted: bool,
    code: bool,
    lists: usize,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => {
                self.indent += 4;
                self.quoted = true;
            }
            Event::End(TagEnd::BlockQuote(_)) => {
                self.indent -= 4;
                self.quoted = false;
            }
            Event::Start(Tag::List(_)) => {
                self.paragraph();
                self.lists += 1;
            }
            Event::End(TagEnd::List(_)) => {
                self.lists -= 1;
                self.blank_line();
            }
            Event::Start(Tag::Item) => {
                self.indent += 2;
                self.mark = "- ";
            }
            Event::End(TagEnd::Item) => {
                self.paragraph();
                self.indent -= 2;
            }
            Event::Start(Tag::CodeBlock(_)) => self.code = true,
            Event::End(TagEnd::CodeBlock) => {
                self.code = false;
                self.blank_line();
            }
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_)) => {
                self.paragraph();
                self.blank_line();
            }
            Event::Start(Tag::Strong | Tag::Heading { .. }) => {
                self.line += &BOLD.render().to_string()
            }
            Event::End(TagEnd::Strong) => self.line += &BOLD.render_reset().to_string(),
            Event::Start(Tag::Emphasis) => self.line += &EMPHASIS.render().to_string(),
            Event::End(TagEnd::Emphasis) => self.line += &EMPHASIS.render_reset().to_string(),
            Event::Text(words) if self.code => self.verbatim(&words),
            Event::Text(words) => self.line += &words,
            // The marks stay: without colours nothing else tells a command from a word.
            Event::Code(words) => self.line += &format!("{CODE}`{words}`{CODE:#}"),
            Event::SoftBreak | Event::HardBreak => self.line.push(' '),
            _ => {}
        }
    }

    fn paragraph(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return;
        }
        let mark = std::mem::take(&mut self.mark);
        let lead = format!("{:>1$}", mark, self.indent);
        let (on, off) = if self.quoted {
            (QUOTE.render().to_string(), QUOTE.render_reset().to_string())
        } else {
            (String::new(), String::new())
        };
        put(&mut self.text, &lead, self.indent, &format!("{on}{line}{off}"), self.width);
    }

    fn verbatim(&mut self, code: &str) {
        for line in code.lines() {
            self.text += &format!("{:1$}{CODE}{line}{CODE:#}\n", "", self.indent + 4);
        }
    }

    /// Between blocks, but not between the items of a list.
    fn blank_line(&mut self) {
        if self.lists == 0 && !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(markdown: &str, width: usize) -> String {
        anstream::adapter::strip_str(&text(markdown, width)).to_string()
    }

    #[test]
    fn blocks_stand_apart_and_items_below_each_other() {
        let markdown = "> 7.1 The *size*\n> is limited.\n\n**Why.** It `is`.\n\n- one\n  more\n- two\n\nEnd:\n\n    code  here\n";
        let expected = "    7.1 The size is limited.\n\nWhy. It `is`.\n\n- one more\n- two\n\nEnd:\n\n    code  here\n";
        assert_eq!(plain(markdown, 80), expected);
    }

    #[test]
    fn a_list_straight_behind_a_paragraph_is_broken_to_fit() {
        let markdown = "**Fails:**\n- one two three four five six\n- b\n";
        assert_eq!(plain(markdown, 24), "Fails:\n\n- one two three four\n  five six\n- b\n");
    }
}
