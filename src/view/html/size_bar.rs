//! The bytes as a bar: stub, payload, engines.json, and what is left of the limit.

use std::fmt::Write;

use crate::model::size_figures::SizeFigures;

/// The bar with its legend.
pub(super) fn bar(size: &SizeFigures) -> String {
    let rest = size.file.saturating_sub(size.stub.unwrap_or_default()).0;
    let left = size.limit.saturating_sub(size.total).0;
    let over = size.total.saturating_sub(size.limit).0;
    let mut parts = Vec::new();
    if let Some(stub) = size.stub {
        parts.push(("stub", "stub", stub.0));
        parts.push(("payload", "payload", rest));
    } else {
        parts.push(("payload", "file", rest));
    }
    parts.push(("json", "engines.json", size.payload.0));
    parts.push(("left", "left", left));
    let whole = size.limit.max(size.total).0.max(1);
    // Three decimals are exact enough for any screen; a single byte is kept visible by the style sheet.
    let percent = |bytes: u64| format!("{:.3}%", bytes as f64 * 100.0 / whole as f64);
    let mut out = String::from("<div class=\"bar\" aria-hidden=\"true\">");
    for (class, _, bytes) in parts.iter().filter(|(.., bytes)| *bytes > 0) {
        // Writing to a string cannot fail, here and below.
        let _ = write!(out, "<i class=\"{class}\" style=\"width:{}\"></i>", percent(*bytes));
    }
    if over > 0 {
        let _ = write!(out, "<b style=\"left:{}\"></b>", percent(size.limit.0));
    }
    let class = if over > 0 { " class=\"over\"" } else { "" };
    let _ = write!(out, "</div>\n<p class=\"legend\"><strong{class}>{}</strong>", size.words());
    for (class, name, bytes) in &parts {
        let _ = write!(out, " <span><i class=\"{class}\"></i>{name} {bytes}</span>");
    }
    if size.payload_bare != size.payload {
        let bare = size.payload_bare.0;
        let _ = write!(out, " <span>(by its bare values, engines.json counts {bare})</span>");
    }
    out.push_str("</p>\n");
    out
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
        assert!(bar(&size(2048)).contains("<i class=\"left\" style=\"width:50.000%\"></i>"));
        assert!(!bar(&size(2048)).contains("<b "));
        let over = bar(&size(8192));
        assert!(over.contains("<b style=\"left:50.000%\"></b>"), "{over}");
        assert!(!over.contains("<i class=\"left\" style"), "{over}");
        assert!(over.contains("8192 of 4096 bytes, 4096 over"));
    }
}
