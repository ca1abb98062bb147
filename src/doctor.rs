//! The sandbox that this host can enforce and the allowed commands that it has: a line each, with the command that
//! mends a gap. [`host`] and [`tools`] turn what was probed into lines; nothing here decides over an entry.

pub(crate) mod host;
pub(crate) mod selftest;
pub(crate) mod tools;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::view::json::pretty;
use crate::view::layout::PageLayout;
use crate::view::text::{clean, put};

/// The name and version of the document of `gate4k doctor`.
pub(crate) const SCHEMA: &str = "gate4k/doctor/1";

/// The state of a matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HostState {
    /// The matter is as it should be.
    Pass,
    /// Entries can be judged, some of them only in part.
    Caution,
    /// No entry can be accepted on this host.
    Fail,
}

impl HostState {
    fn word(self) -> &'static str {
        match self {
            HostState::Pass => "pass",
            HostState::Caution => "caution",
            HostState::Fail => "fail",
        }
    }

    fn style(self) -> Style {
        match self {
            HostState::Pass => AnsiColor::Green.on_default(),
            HostState::Caution => AnsiColor::Yellow.on_default().bold(),
            HostState::Fail => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// One matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HostLine {
    /// The topic: `kernel`, `sandbox`, `timing`, `command`, `library`.
    pub(crate) topic: &'static str,
    /// Its name there.
    pub(crate) name: String,
    /// Its state.
    pub(crate) state: HostState,
    /// The finding.
    pub(crate) what: String,
    /// The command that mends it, or what else to do.
    pub(crate) fix: Option<String>,
}

impl HostLine {
    /// A matter that is as it should be.
    pub(crate) fn pass(topic: &'static str, name: &str, what: impl Into<String>) -> HostLine {
        HostLine {
            topic,
            name: name.to_owned(),
            state: HostState::Pass,
            what: what.into(),
            fix: None,
        }
    }

    /// As another state, with what mends it.
    pub(crate) fn but(self, state: HostState, fix: impl Into<String>) -> HostLine {
        HostLine { state, fix: Some(fix.into()), ..self }
    }
}

/// True if nothing is missing without which no entry can be accepted.
pub(crate) fn is_fit(lines: &[HostLine]) -> bool {
    lines.iter().all(|line| line.state != HostState::Fail)
}

/// The page for people.
pub(crate) fn human(lines: &[HostLine], layout: PageLayout) -> String {
    const INDENT: usize = 9 + 9 + 15;
    // Beside less than that a text would be a column of single words.
    const ROOM: usize = 40;
    let (width, step) = (layout.width, layout.step());
    let mut page = String::new();
    for line in lines {
        let style = line.state.style();
        if layout.plain || width < INDENT + ROOM {
            let (word, name) = (line.state.word(), clean(&line.name));
            let lead = format!("{style}{word}{style:#} {} {name}: ", line.topic);
            put(&mut page, "", 2, &(lead + &clean(&line.what)), width);
            if let Some(fix) = &line.fix {
                put(&mut page, &format!("  {step}"), 4, &clean(fix), width);
            }
            continue;
        }
        let lead = format!(
            "{style}{:<9}{style:#}{:<9}{:<15}",
            line.state.word(),
            line.topic,
            format!("{} ", clean(&line.name))
        );
        put(&mut page, &lead, INDENT, &clean(&line.what), width);
        if let Some(fix) = &line.fix {
            put(&mut page, &format!("{:INDENT$}{step}", ""), INDENT + 2, &clean(fix), width);
        }
    }
    let count = |state| lines.iter().filter(|line| line.state == state).count();
    let (cautions, failures) = (count(HostState::Caution), count(HostState::Fail));
    let word = if is_fit(lines) {
        "this host can judge entries"
    } else {
        "this host cannot judge entries: mend what fails"
    };
    let passes = count(HostState::Pass);
    page.push('\n');
    put(
        &mut page,
        "",
        0,
        &format!("{word} ({passes} pass, {cautions} caution, {failures} fail)"),
        width,
    );
    page
}

/// The document for programs.
///
/// # Errors
/// None that can be met: all that a line holds has a JSON form.
pub(crate) fn json(lines: &[HostLine]) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        fit: bool,
        checks: &'a [HostLine],
    }
    pretty(&Document { schema: SCHEMA, fit: is_fit(lines), checks: lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<HostLine> {
        vec![
            HostLine::pass("kernel", "release", "6.18"),
            HostLine::pass("command", "pypy3", "not\ninstalled")
                .but(HostState::Caution, "apt-get install pypy3"),
        ]
    }

    #[test]
    fn each_line_is_told_with_its_fix() {
        let page = human(&lines(), PageLayout::of_width(100));
        assert!(page.contains("kernel   release        6.18\n"), "{page:?}");
        assert!(page.contains("not\\ninstalled\n"), "{page:?}");
        assert!(page.contains("→ apt-get install pypy3\n"), "{page:?}");
        assert!(page.ends_with("can judge entries (1 pass, 1 caution, 0 fail)\n"), "{page:?}");
    }

    #[test]
    fn in_a_narrow_terminal_and_for_ears_nothing_stands_in_columns() {
        let told = |layout| anstream::adapter::strip_str(&human(&lines(), layout)).to_string();
        let narrow = told(PageLayout::of_width(40));
        assert!(narrow.starts_with("pass kernel release: 6.18\n"), "{narrow:?}");
        assert!(narrow.contains("\n  → apt-get install pypy3\n"), "{narrow:?}");
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow:?}");
        let plain = told(PageLayout { plain: true, ..PageLayout::of_width(100) });
        assert!(plain.starts_with("pass kernel release: 6.18\n"), "{plain:?}");
        assert!(plain.contains("\n  next step: apt-get install pypy3\n"), "{plain:?}");
    }

    #[test]
    fn only_failures_make_a_host_unfit() {
        let mut lines = lines();
        assert!(is_fit(&lines));
        lines
            .push(HostLine::pass("sandbox", "landlock", "").but(HostState::Fail, "a newer kernel"));
        assert!(!is_fit(&lines));
        let document: serde_json::Value = serde_json::from_str(&json(&lines).unwrap()).unwrap();
        assert_eq!(document["schema"], SCHEMA);
        assert_eq!(document["fit"], false);
        assert_eq!(document["checks"][1]["fix"], "apt-get install pypy3");
        assert_eq!(document["checks"][2]["state"], "fail");
        assert_eq!(document["checks"][0]["fix"], serde_json::Value::Null);
    }
}
