//! A table of a page that may be wider than a small screen.

use maud::{Markup, html};

/// A table with these cells of its head and these rows, which scrolls by itself where it is too wide.
pub(crate) fn wide_table(head: &Markup, rows: &Markup) -> Markup {
    html! {
        div.wide tabindex="0" {
            table {
                thead { tr { (head) } }
                tbody { (rows) }
            }
        }
    }
}
