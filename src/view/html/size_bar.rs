//! The bytes as a bar: stub, payload, engines.json, and what is left of the limit.

use maud::{Markup, html};

use crate::model::size_figures::SizeFigures;

/// The bar with its legend.
pub(super) fn bar(size: &SizeFigures) -> Markup {
    let rest = size.file.saturating_sub(size.stub.unwrap_or_default()).0;
    let left = size.limit.saturating_sub(size.total).0;
    let over = size.total.saturating_sub(size.limit).0;
    let mut parts = match size.stub {
        Some(stub) => vec![("stub", "stub", stub.0), ("payload", "payload", rest)],
        None => vec![("payload", "file", rest)],
    };
    parts.extend([("json", "engines.json", size.payload.0), ("left", "left", left)]);
    let whole = size.limit.max(size.total).0.max(1);
    // Three decimals are exact enough for any screen; a single byte is kept visible by the style sheet.
    let percent = |bytes: u64| format!("{:.3}%", bytes as f64 * 100.0 / whole as f64);
    html! {
        div.bar aria-hidden="true" {
            @for (class, _, bytes) in parts.iter().filter(|(.., bytes)| *bytes > 0) {
                i class=(class) style={ "width:" (percent(*bytes)) } {}
            }
            @if over > 0 { b style={ "left:" (percent(size.limit.0)) } {} }
        }
        p.legend {
            strong class=[(over > 0).then_some("over")] { (size.words()) }
            @for (class, name, bytes) in &parts { " " span { i class=(class) {} (name) " " (bytes) } }
            @if size.payload_bare != size.payload {
                " " span { "(by its bare values, engines.json counts " (size.payload_bare.0) ")" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::units::Bytes;

    fn size(file: u64) -> SizeFigures {
        SizeFigures {
            file: Bytes(file),
            stub: Some(Bytes(64)),
            payload: Bytes(0),
            payload_bare: Bytes(0),
            total: Bytes(file),
            limit: Bytes::LIMIT_4K,
        }
    }

    #[test]
    fn shares_are_of_the_limit_and_beyond_it_of_the_whole() {
        assert!(bar(&size(2048)).0.contains("<i class=\"left\" style=\"width:50.000%\"></i>"));
        assert!(!bar(&size(2048)).0.contains("<b "));
        let over = bar(&size(8192)).0;
        assert!(over.contains("<b style=\"left:50.000%\"></b>"), "{over}");
        assert!(!over.contains("<i class=\"left\" style"), "{over}");
        assert!(over.contains("8192 of 4096 bytes, 4096 over"));
    }
}
