//! Signs that web pages and word processors put in the place of plain ones, and that no shell takes for those.

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Typographic {
    sign: char,
    plain: &'static str,
}

/// The signs, each with what was meant.
const SIGNS: [(char, &str); 10] = [
    ('\u{201c}', "\""),
    ('\u{201d}', "\""),
    ('\u{201e}', "\""),
    ('\u{2018}', "'"),
    ('\u{2019}', "'"),
    ('\u{2010}', "-"),
    ('\u{2011}', "-"),
    ('\u{2013}', "-"),
    ('\u{2014}', "--"),
    ('\u{a0}', " "),
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
            sign => format!("{sign} (U+{:04X})", u32::from(sign)),
        }
    }

    /// The next step.
    pub(crate) fn help(self) -> String {
        let plain = match self.plain {
            " " => "a plain blank".to_owned(),
            plain => format!("a plain {plain}"),
        };
        format!(
            "write {plain} there: web pages and word processors put other signs into commands, which a shell takes for letters"
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
        ] {
            let (sign, help) = told(text).unwrap();
            assert_eq!(sign, shown);
            assert!(help.contains(plain), "{help}");
        }
        assert_eq!(told("tail -n+5 \"$0\" # für alle"), None);
    }
}
