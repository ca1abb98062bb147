//! JSON that remembers where each value stood and how each number was written.
//!
//! engines.json is judged byte by byte, and a finding has to point at the line; a parser that turns
//! `1e2` into 100, or silently keeps the last of two equal keys, would hide what was there.

use std::ops::Range;

/// A value and the bytes of the text that it was written with.
#[derive(Clone, Debug, PartialEq)]
pub struct Json {
    /// Its place in the text.
    pub(crate) span: Range<usize>,
    /// The value itself.
    pub(crate) node: JsonNode,
}

/// A value without its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonNode {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// A string, decoded.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order of the text, without equal keys.
    Object(Vec<Member>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// The key, decoded.
    pub(crate) key: String,
    /// The key's place in the text.
    pub(crate) key_span: Range<usize>,
    /// The value.
    pub(crate) value: Json,
}

impl Json {
    /// The kind of value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.node {
            JsonNode::Null => "null",
            JsonNode::Bool(_) => "true or false",
            JsonNode::Number(_) => "a number",
            JsonNode::String(_) => "a string",
            JsonNode::Array(_) => "an array",
            JsonNode::Object(_) => "an object",
        }
    }

    /// A string, number or boolean as the text that it stands for: runners read a number and write it anew, and tell `16` for `16.0`.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.node {
            JsonNode::String(text) => Some(text),
            JsonNode::Number(text) => Some(text.strip_suffix(".0").unwrap_or(text)),
            JsonNode::Bool(true) => Some("true"),
            JsonNode::Bool(false) => Some("false"),
            JsonNode::Null | JsonNode::Array(_) | JsonNode::Object(_) => None,
        }
    }

    /// The members, if this is an object.
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.node {
            JsonNode::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value of a key, if this is an object that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        (self.members()?.iter()).find(|member| member.key == key).map(|member| &member.value)
    }

    /// The shortest JSON for it: no white space, only the escapes that JSON demands.
    pub(crate) fn canonical(&self) -> String {
        match &self.node {
            JsonNode::Null => "null".to_owned(),
            JsonNode::Bool(value) => value.to_string(),
            JsonNode::Number(text) => text.clone(),
            JsonNode::String(text) => quoted(text),
            JsonNode::Array(items) => {
                let items: Vec<String> = items.iter().map(Json::canonical).collect();
                format!("[{}]", items.join(","))
            }
            JsonNode::Object(members) => {
                let members: Vec<String> = (members.iter())
                    .map(|m| format!("{}:{}", quoted(&m.key), m.value.canonical()))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }
}

/// A string in quotes with only the escapes that JSON demands.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The reason that a text is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonMistake {
    /// The bytes it is about.
    pub(crate) span: Range<usize>,
    /// The mistake in words.
    pub(crate) message: String,
}

/// The depth to which values may lie in one another; cutechess needs five.
const DEPTH: usize = 32;

/// The number of values in one array or object. Keys are compared with each other, and every option and line becomes a
/// field of the report, so more of them would make a check of one entry last for minutes; none of 4096 bytes has so many.
const WIDTH: usize = 1000;

/// Reads one JSON value that fills the text.
///
/// # Errors
/// At the first byte that is not JSON, and at the second of two equal keys of one object.
pub(crate) fn parse(text: &str) -> Result<Json, JsonMistake> {
    // An editor's mark of UTF-8, which nobody sees, is no value.
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut parser = Parser { text, at };
    let value = parser.value(0)?;
    parser.blank();
    if parser.at < text.len() {
        return Err(parser.wrong(
            "more follows here, and the file may hold one value alone: the array of engines",
        ));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The mistake at the present character.
    fn wrong(&self, message: impl Into<String>) -> JsonMistake {
        let width = (self.text[self.at..].chars().next()).map_or(0, char::len_utf8);
        JsonMistake { span: self.at..self.at + width, message: message.into() }
    }

    fn expected(&self, what: &str) -> JsonMistake {
        match self.text[self.at..].chars().next() {
            Some(found) => self.wrong(format!("{what} is expected, not {found:?}")),
            None => self.wrong(format!("{what} is expected, but the text ends here")),
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonMistake> {
        self.blank();
        if depth > DEPTH {
            return Err(self.wrong(format!("values lie more than {DEPTH} deep here")));
        }
        let start = self.at;
        let node = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => JsonNode::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Json { span: start..self.at, node })
    }

    fn word(&mut self) -> Result<JsonNode, JsonMistake> {
        for (word, node) in [
            ("null", JsonNode::Null),
            ("true", JsonNode::Bool(true)),
            ("false", JsonNode::Bool(false)),
        ] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(node);
            }
        }
        Err(self.expected("a value"))
    }

    fn array(&mut self, depth: usize) -> Result<JsonNode, JsonMistake> {
        self.at += 1;
        let mut items = Vec::new();
        self.blank();
        if self.take(b']') {
            return Ok(JsonNode::Array(items));
        }
        loop {
            self.room(items.len())?;
            items.push(self.value(depth + 1)?);
            self.blank();
            if self.take(b']') {
                return Ok(JsonNode::Array(items));
            }
            if !self.take(b',') {
                return Err(self.expected("a comma or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<JsonNode, JsonMistake> {
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        self.blank();
        if self.take(b'}') {
            return Ok(JsonNode::Object(members));
        }
        loop {
            self.blank();
            self.room(members.len())?;
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in double quotes"));
            }
            let start = self.at;
            let key = self.string()?;
            let key_span = start..self.at;
            if members.iter().any(|member| member.key == key) {
                return Err(JsonMistake {
                    span: key_span,
                    message: format!("the key {} stands twice here", quoted(&key)),
                });
            }
            self.blank();
            if !self.take(b':') {
                return Err(self.expected("a colon"));
            }
            let value = self.value(depth + 1)?;
            members.push(Member { key, key_span, value });
            self.blank();
            if self.take(b'}') {
                return Ok(JsonNode::Object(members));
            }
            if !self.take(b',') {
                return Err(self.expected("a comma or `}`"));
            }
        }
    }

    /// The mistake of one value too many where `there` lie already.
    fn room(&self, there: usize) -> Result<(), JsonMistake> {
        if there < WIDTH {
            return Ok(());
        }
        Err(self.wrong(format!("more than {WIDTH} values lie side by side here")))
    }

    fn digits(&mut self) -> Result<(), JsonMistake> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.expected("a digit"));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<JsonNode, JsonMistake> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(JsonNode::Number(self.text[start..self.at].to_owned()))
    }

    fn string(&mut self) -> Result<String, JsonMistake> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let Some(c) = self.text[self.at..].chars().next() else {
                return Err(self.expected("a closing quote"));
            };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(out);
                }
                '\\' => out.push(self.escape()?),
                c if c < ' ' => {
                    return Err(self.wrong("a control character must be escaped in a string"));
                }
                c => {
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonMistake> {
        self.at += 1;
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.expected("one of \" \\ / b f n r t u")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// Four hexadecimal digits, or two such numbers that make one character.
    fn unicode(&mut self) -> Result<char, JsonMistake> {
        let start = self.at;
        let first = self.hex()?;
        let code = if (0xd800..0xdc00).contains(&first) && self.take(b'\\') && self.take(b'u') {
            let second = self.hex()?;
            match second.checked_sub(0xdc00) {
                Some(low) if low < 0x400 => 0x10000 + ((first - 0xd800) << 10) + low,
                _ => first,
            }
        } else {
            first
        };
        char::from_u32(code).ok_or_else(|| JsonMistake {
            span: start..self.at,
            message: "this is half of a character; the other half is missing".to_owned(),
        })
    }

    fn hex(&mut self) -> Result<u32, JsonMistake> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = (self.peek()).and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.expected("a hexadecimal digit"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_know_where_they_stand() {
        let text = r#"[{"name":"a\u00e9\ud83d\ude00", "n": 1e2}]"#;
        let value = parse(text).unwrap();
        let JsonNode::Array(items) = &value.node else { panic!("no array") };
        let n = items[0].get("n").unwrap();
        assert_eq!(n.scalar(), Some("1e2"));
        assert_eq!(&text[n.span.clone()], "1e2");
        assert_eq!(items[0].get("name").unwrap().scalar(), Some("aé😀"));
        assert_eq!(value.canonical(), r#"[{"name":"aé😀","n":1e2}]"#);
    }

    #[test]
    fn mistakes_are_pointed_at() {
        let at = |text: &str| parse(text).unwrap_err().span.start;
        assert_eq!(at(""), 0);
        assert_eq!(at("[1,]"), 3);
        assert_eq!(at("[1] 2"), 4);
        assert_eq!(at(r#"{"a":1,"a":2}"#), 7);
        assert_eq!(at("[\"a\nb\"]"), 3);
        assert_eq!(at(r#"["\ud800"]"#), 4);
        assert_eq!(at(&"[".repeat(100)), DEPTH + 1);
        assert!(parse("[01]").is_err());
        assert!(parse("{'a':1}").is_err());
    }

    #[test]
    fn a_byte_order_mark_is_no_mistake() {
        assert_eq!(parse("\u{feff}[]").unwrap().node, JsonNode::Array(Vec::new()));
        assert!(parse("[\u{feff}]").is_err());
    }

    /// 115,000 keys took 45 seconds to compare, and 500,000 lines made a report of 43 MB.
    #[test]
    fn a_flood_of_values_is_refused_where_it_begins() {
        let list = |count: usize| format!("[{}]", vec!["0"; count].join(","));
        assert!(parse(&list(WIDTH)).is_ok());
        assert_eq!(parse(&list(WIDTH + 1)).unwrap_err().span.start, 1 + 2 * WIDTH);
        let keys = |count: usize| {
            let members: Vec<String> = (0..count).map(|key| format!("\"{key}\":0")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert!(parse(&keys(WIDTH)).is_ok());
        assert!(parse(&keys(WIDTH + 1)).unwrap_err().message.contains("side by side"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_as_serde_does(text in "[\\[\\]{}\":,\\\\a-fu0-9 .eE+-]{0,24}") {
            let ours = parse(&text);
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            match (&ours, &theirs) {
                (Ok(ours), Ok(theirs)) => {
                    let again: serde_json::Value = serde_json::from_str(&ours.canonical()).unwrap();
                    prop_assert_eq!(&again, theirs);
                }
                (Err(mistake), Ok(_)) => prop_assert!(mistake.message.contains("twice")),
                // serde has no number as large as 1e999
                (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("out of range")),
                (Err(_), Err(_)) => {}
            }
        }

        #[test]
        fn a_string_survives(text in "\\PC*[\\x00-\\x1f\"\\\\]?") {
            let again = parse(&quoted(&text)).unwrap();
            prop_assert_eq!(again.scalar(), Some(text.as_str()));
        }
    }
}
