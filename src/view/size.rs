//! The bytes of an entry: the figures, the bar that shows them, and the page of `gate4k size`.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::layout::PageLayout;
use super::text::{clean, fit, put};
use crate::model::size_figures::{EntrySize, SizeFigures};
use crate::model::text::shown;
use crate::model::verdict::Verdict;

/// Cells of the bar, where there is room for them.
const CELLS: usize = 40;

/// One share of the bar.
struct Share {
    glyph: char,
    style: Style,
    name: &'static str,
    bytes: u64,
}

fn shares(size: &SizeFigures) -> Vec<Share> {
    let share = |glyph, color: AnsiColor, name, bytes| Share {
        glyph,
        style: color.on_default(),
        name,
        bytes,
    };
    let stub = size.stub.unwrap_or_default();
    let rest = size.file.saturating_sub(stub).0;
    let mut shares = match size.stub {
        Some(stub) => vec![
            share('█', AnsiColor::Blue, "stub", stub.0),
            share('▓', AnsiColor::Cyan, "payload", rest),
        ],
        None => vec![share('▓', AnsiColor::Cyan, "file", rest)],
    };
    shares.push(share('▒', AnsiColor::Magenta, "engines.json", size.payload.0));
    shares
}

/// Cells for each part, together `cells`. A part that is not empty has one at least: a single byte
/// over or left is what people look for.
fn cells(parts: &[u64], cells: u64) -> Vec<u64> {
    let whole = u128::from(parts.iter().fold(0u64, |sum, part| sum.saturating_add(*part)).max(1));
    let mut given: Vec<u64> = parts
        .iter()
        .map(|part| {
            let exact = u128::from(*part) * u128::from(cells) / whole;
            u64::try_from(exact).unwrap_or(cells).max(u64::from(*part > 0))
        })
        .collect();
    // The difference that rounding makes is settled with the largest part, where it shows least.
    loop {
        let sum: u64 = given.iter().sum();
        let Some(largest) = given.iter_mut().max() else {
            return given;
        };
        match sum.cmp(&cells) {
            std::cmp::Ordering::Less => *largest += cells - sum,
            std::cmp::Ordering::Greater if *largest > 1 => *largest -= 1,
            _ => return given,
        }
    }
}

/// The bar: shares of the limit and what is left of it; where there is too much, the shares of the
/// whole with a mark at the limit.
fn bar(size: &SizeFigures, room: usize) -> String {
    let all = CELLS.min(room) as u64;
    let shares = shares(size);
    let over = size.total.saturating_sub(size.limit).0;
    let mut parts: Vec<u64> = shares.iter().map(|share| share.bytes).collect();
    parts.push(size.limit.saturating_sub(size.total).0);
    let given = cells(&parts, all);
    let within = if over > 0 { cells(&[size.limit.0, over], all)[0] } else { all };
    let red = AnsiColor::Red.on_default().bold();
    let dim = Style::new().dimmed();
    let free = Share { glyph: '░', style: dim, name: "", bytes: 0 };
    let mut bar = String::new();
    let mut at = 0;
    for (share, count) in shares.iter().chain([&free]).zip(given) {
        for _ in 0..count {
            if over > 0 && at == within {
                bar.push('│');
            }
            let style = if at >= within { red } else { share.style };
            // Writing to a string cannot fail.
            let _ = write!(bar, "{style}{}{style:#}", share.glyph);
            at += 1;
        }
    }
    bar
}

/// Bar, figures and legend, two lines indented by two.
pub(crate) fn lines(size: &SizeFigures, layout: PageLayout) -> String {
    let width = layout.width;
    let figures = size.words();
    let style = if size.total > size.limit {
        AnsiColor::Red.on_default().bold()
    } else {
        Style::new().bold()
    };
    let mut page = String::from("  ");
    if !layout.plain {
        // Two blanks before it, and the mark at the limit.
        page.push_str(&bar(size, width.saturating_sub(3)));
        let beside = 2 + CELLS + 3 + figures.len() <= width;
        page.push_str(if beside { "  " } else { "\n  " });
    }
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(page, "{style}{figures}{style:#}");
    let legend = shares(size).into_iter().map(|Share { glyph, style, name, bytes }| {
        let sign = if layout.plain { String::new() } else { format!("{style}{glyph}{style:#} ") };
        format!("{sign}{name} {bytes}")
    });
    let between = if layout.plain { ", " } else { "   " };
    let legend = legend.collect::<Vec<_>>().join(between);
    let _ = writeln!(page, "{}", fit(&format!("  {legend}"), width));
    if size.payload_bare != size.payload {
        let bare = size.payload_bare.0;
        let _ = writeln!(page, "  (by its bare values, engines.json counts {bare})");
    }
    page
}

/// The page of `gate4k size`.
pub(crate) fn human(entry: &EntrySize, layout: PageLayout) -> String {
    let width = layout.width;
    let bold = Style::new().bold();
    let mut page = format!("{bold}{}{bold:#}\n", shown(&entry.path));
    let unknown = "of the file alone; what engines.json adds is unknown";
    match &entry.problem {
        None => page.push_str(&lines(&entry.size, layout)),
        Some(_) => {
            put(&mut page, "  ", 2, &format!("{} {unknown}", entry.size.file), width);
        }
    }
    let labelled = |page: &mut String, label: &str, text: &str| match layout.plain {
        true => put(page, "  ", 2, &format!("{label}: {text}"), width),
        false => put(page, &format!("  {label:<14}"), 16, text, width),
    };
    labelled(&mut page, "format", &clean(&entry.format));
    if let Some(step) = &entry.step {
        put(&mut page, &format!("  {}", layout.step()), 4, &clean(step), width);
    }
    for line in &entry.counted {
        labelled(&mut page, "engines.json", &clean(line));
    }
    if let Some(problem) = &entry.problem {
        labelled(&mut page, "engines.json", &clean(&problem.summary));
        for line in &problem.details {
            let _ = writeln!(page, "{}", fit(&format!("      {}", clean(line)), width));
        }
        put(&mut page, &format!("  {}", layout.step()), 4, &clean(&problem.help), width);
    }
    labelled(&mut page, "sha256", &entry.sha256);
    if entry.verdict == Verdict::Undecided {
        put(
            &mut page,
            &format!("  {}", layout.step()),
            4,
            "the two readings of rule 7.3 decide differently: the organisers must say which holds",
            width,
        );
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rule::RuleId;
    use crate::model::units::Bytes;
    use crate::model::verdict::Finding;

    fn size(file: u64, stub: Option<u64>, payload: u64) -> SizeFigures {
        SizeFigures {
            file: Bytes(file),
            stub: stub.map(Bytes),
            payload: Bytes(payload),
            payload_bare: Bytes(payload),
            total: Bytes(file + payload),
            limit: Bytes::LIMIT_4K,
        }
    }

    fn plain(size: &SizeFigures, width: usize) -> String {
        anstream::adapter::strip_str(&lines(size, PageLayout::of_width(width))).to_string()
    }

    #[test]
    fn the_bar_always_has_forty_cells() {
        for file in [0, 1, 50, 2048, 4095, 4096, 4097, 5000, 1 << 40, u64::MAX] {
            for (stub, payload) in [(None, 0), (Some(1), 0), (Some(33), 700)] {
                let mut size = size(file.min(u64::MAX - 700), stub, payload);
                size.stub = size.stub.map(|stub| stub.min(size.file));
                let bar = anstream::adapter::strip_str(&bar(&size, CELLS)).to_string();
                let cells = bar.chars().filter(|c| *c != '│').count();
                assert_eq!(cells, 40, "{size:?}: {bar}");
                assert_eq!(bar.contains('│'), size.total > size.limit);
                assert_eq!(bar.contains('░'), size.total < size.limit);
            }
        }
    }

    #[test]
    fn one_byte_left_and_one_byte_over_are_seen() {
        assert_eq!(
            plain(&size(4095, None, 0), 100),
            "  ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓░  4095 of 4096 bytes, 1 left\n  \
             ▓ file 4095   ▒ engines.json 0\n"
        );
        assert_eq!(
            plain(&size(4097, Some(69), 0), 100),
            "  █▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│▓  4097 of 4096 bytes, 1 over\n  \
             █ stub 69   ▓ payload 4028   ▒ engines.json 0\n"
        );
    }

    #[test]
    fn exactly_full_is_neither() {
        let full = size(4000, None, 96);
        assert_eq!(full.words(), "4096 of 4096 bytes, 0 left");
        assert_eq!((full.left(), size(4097, None, 0).left()), (0, -1));
        assert!(!plain(&full, 50).contains('░'));
    }

    #[test]
    fn the_page_of_size() {
        let entry = EntrySize {
            path: "a\nb".into(),
            sha256: "cd".repeat(32),
            format: "sh stub, xz payload".into(),
            step: None,
            problem: None,
            verdict: Verdict::Undecided,
            size: size(2048, Some(100), 0),
            counted: vec!["option Net: 7 bytes".into()],
        };
        let page =
            anstream::adapter::strip_str(&human(&entry, PageLayout::of_width(100))).to_string();
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines[0], "a\\nb");
        assert_eq!(
            &lines[3..5],
            ["  format        sh stub, xz payload", "  engines.json  option Net: 7 bytes"]
        );
        assert!(lines[6].starts_with("  → the two readings"), "{page}");
        let layout = PageLayout { plain: true, ..PageLayout::of_width(100) };
        let plain = anstream::adapter::strip_str(&human(&entry, layout)).to_string();
        assert!(
            plain.contains("\n  format: sh stub, xz payload\n  engines.json: option"),
            "{plain}"
        );
        let problem = Finding::fail(RuleId::Payload, "engines.json:1:9: a comma too many")
            .detail("1 | [{},]")
            .help("mend the JSON there");
        let broken = EntrySize { problem: Some(problem), verdict: Verdict::Rejected, ..entry };
        let page =
            anstream::adapter::strip_str(&human(&broken, PageLayout::of_width(100))).to_string();
        for words in [
            "2048 bytes of the file alone; what engines.json adds is unknown",
            "engines.json:1:9: a comma too many",
            "1 | [{},]",
            "→ mend the JSON there",
        ] {
            assert!(page.contains(words), "{page}");
        }
        assert!(!page.contains("engines.json 0"), "{page}");
    }
}
