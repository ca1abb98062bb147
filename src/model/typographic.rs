//! Signs that web pages and word processors put in the place of plain ones, and that no shell takes for those.

/// A sign of typography.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Typographic {
    sign: char,
    plain: &'static str,
}

/// The signs, each with what was meant.
const SIGNS: [(char, &str); 16] = [
    ('\u{201c}', "\""),
    ('\u{201d}', "\""),
    ('\u{201e}', "\""),
    ('\u{2018}', "'"),
    ('\u{2019}', "'"),
    ('\u{2010}', "-"),
    ('\u{2011}', "-"),
    ('\u{2013}', "-"),
    ('\u{2014}', "--"),
    ('\u{ff02}', "\""),
    ('\u{b4}', "`"),
    ('\u{2012}', "-"),
    ('\u{2212}', "-"),
    ('\u{a0}', " "),
    ('\u{202f}', " "),
    ('\u{200b}', ""),
];

impl Typographic {
    /// The first in a text.
    pub(crate) fn first_in(text: &str) -> Option<Typographic> {
        let known = |c| SIGNS.iter().find(|(sign, _)| *sign == c);
        let (sign, plain) = *text.chars().find_map(known)?;
        Some(Typographic { sign, plain })
    }

    /// For sentences: the sign as it looks, with its number.
    pub(crate) fn shown(self) -> String {
        match self.sign {
            '\u{a0}' => "a no-break space (U+00A0)".to_owned(),
            '\u{202f}' => "a narrow no-break space (U+202F)".to_owned(),
            '\u{200b}' => "a space without width (U+200B)".to_owned(),
            sign => format!("{sign} (U+{:04X})", u32::from(sign)),
        }
    }

    /// The next step.
    pub(crate) fn help(self) -> String {
        let what = match self.plain {
            "" => "take it out".to_owned(),
            " " => "write a plain blank there".to_owned(),
            plain => format!("write a plain {plain} there"),
        };
        format!(
            "{what}: web pages and word processors put other signs into commands, which a shell takes for letters"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sign_has_its_plain_one() {
        let told = |text| Typographic::first_in(text).map(|sign| (sign.shown(), sign.help()));
        for (text, shown, plain) in [
            ("tail -n+5 “$0”|xz", "“ (U+201C)", "a plain \" "),
            ("tail –n+5", "– (U+2013)", "a plain - "),
            ("tail\u{a0}-n+5", "a no-break space (U+00A0)", "a plain blank "),
            ("tail\u{202f}-n+5", "a narrow no-break space (U+202F)", "a plain blank "),
            ("tail −n+5", "− (U+2212)", "a plain - "),
            ("tail ‒n+5", "‒ (U+2012)", "a plain - "),
            ("T=´mktemp´", "´ (U+00B4)", "a plain ` "),
            ("tail ＂$0＂", "＂ (U+FF02)", "a plain \" "),
            ("tail \u{200b}-n+5", "a space without width (U+200B)", "take it out"),
        ] {
            let (sign, help) = told(text).unwrap();
            assert_eq!(sign, shown);
            assert!(help.contains(plain), "{help}");
        }
        assert_eq!(told("tail -n+5 \"$0\" # für alle"), None);
    }
}
