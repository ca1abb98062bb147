//! `gate4k fastchess`: the command line that OpenBench's client gives to fastchess, put into the words of `gate4k match`, and the
//! lines that the client reads.

use std::io::Write;

use clap::Parser;

use super::early_end::EarlyEnd;
use super::{match_, tell_usage};
use crate::cli::{Cli, CliCommand, FastchessArgs, OutputReader};
use crate::model::exit::Exit;
use crate::model::source_place::nearest;

/// The version of fastchess of which this has the words; a client asks for it, and reads the first number of the answer.
const LIKE: &str = "1.8.1";

/// The words of fastchess that are known, each with the keys that may follow it; an end of `.` stands for any name behind it.
const WORDS: [(&str, &[&str]); 25] = [
    ("-engine", ENGINE),
    ("-each", ENGINE),
    ("-openings", &["file", "format", "order", "start", "plies"]),
    ("-pgnout", &["file", "seldepth", "nodes", "match_line"]),
    ("-resign", &["movecount", "score", "twosided"]),
    ("-draw", &["movenumber", "movecount", "score"]),
    ("-log", &["file", "level", "compress", "realtime", "engine"]),
    ("-recover", &[]),
    ("-repeat", &[]),
    ("-testEnv", &[]),
    ("-variant", VALUE),
    ("-concurrency", VALUE),
    ("-rounds", VALUE),
    ("-tournament", VALUE),
    ("-seeds", VALUE),
    ("-wait", VALUE),
    ("-ratinginterval", VALUE),
    ("-games", VALUE),
    ("-maxmoves", VALUE),
    ("-srand", VALUE),
    ("-tb", VALUE),
    ("-tbpieces", VALUE),
    ("-event", VALUE),
    ("-site", VALUE),
    ("--version", &[]),
];

/// In place of keys: one word that is no key.
const VALUE: &[&str] = &["VALUE"];

const ENGINE: &[&str] =
    &["name", "cmd", "dir", "args", "proto", "tc", "st", "nodes", "depth", "timemargin", "option."];

/// The one `match_line` that is known: OpenBench's own.
const OPENBENCHS_LINE: &str = "^info string pgncomment .*";

/// The reason why a command line cannot be played.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Misunderstood {
    #[error(
        "{word} is no word of fastchess that is known here{}",
        near.as_ref().map_or(String::new(), |near| format!("; did you mean {near}?"))
    )]
    Unknown { word: String, near: Option<String> },
    #[error("{flag} {why}")]
    Value { flag: &'static str, why: String },
}

/// Plays what fastchess would.
pub(super) fn run(args: &FastchessArgs, out: &mut impl Write) -> anyhow::Result<Exit> {
    if matches!(&*args.words, [word] if word.trim_start_matches('-') == "version" || word == "-v") {
        writeln!(
            out,
            "fastchess {LIKE}, its words as gate4k {} has them",
            env!("CARGO_PKG_VERSION")
        )?;
        return Ok(Exit::Success);
    }
    let words = translated(&args.words).map_err(EarlyEnd::usage)?;
    let own = ["gate4k".to_owned(), "match".to_owned()];
    match Cli::try_parse_from(own.into_iter().chain(words)) {
        Ok(Cli { command: CliCommand::Match(mut own), .. }) => {
            own.told = OutputReader::Fastchess;
            own.keep_comments = args.words.iter().any(|word| word.starts_with("match_line="));
            match_::run(&own, out)
        }
        Ok(_) => Ok(Exit::Usage),
        Err(error) => Ok(tell_usage(&error)),
    }
}

/// A word with what follows it.
struct Group<'a> {
    flag: &'static str,
    values: Vec<(&'a str, &'a str)>,
}

impl<'a> Group<'a> {
    fn get(&self, key: &str) -> Option<&'a str> {
        self.values.iter().rev().find(|(its, _)| *its == key).map(|(_, value)| *value)
    }

    /// The value of a word that has one.
    fn value(&self) -> &'a str {
        self.get("VALUE").unwrap_or_default()
    }

    /// The file that a word has to name.
    fn file(&self) -> Result<&'a str, Misunderstood> {
        self.get("file").ok_or_else(|| self.wrong("has no file="))
    }

    /// Refuses any value of a key but the one that is known, in these words.
    fn only(&self, key: &str, known: &str, why: &str) -> Result<(), Misunderstood> {
        match self.get(key) {
            Some(value) if value != known => Err(self.wrong(why)),
            _ => Ok(()),
        }
    }

    fn wrong(&self, why: impl Into<String>) -> Misunderstood {
        Misunderstood::Value { flag: self.flag, why: why.into() }
    }
}

/// Parts a command line into its words with their keys.
fn groups(words: &[String]) -> Result<Vec<Group<'_>>, Misunderstood> {
    let mut groups: Vec<Group> = Vec::new();
    let mut keys: &[&str] = &[];
    for word in words {
        let is_flag = word
            .strip_prefix('-')
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        if is_flag {
            let known = WORDS.iter().find(|(flag, _)| flag == word);
            let all = WORDS.iter().map(|(flag, _)| *flag);
            let (flag, its) = known.ok_or_else(|| Misunderstood::Unknown {
                word: word.clone(),
                near: nearest(word, all).map(str::to_owned),
            })?;
            groups.push(Group { flag, values: Vec::new() });
            keys = its;
            continue;
        }
        let Some(group) = groups.last_mut() else {
            return Err(Misunderstood::Unknown { word: word.clone(), near: None });
        };
        if keys == VALUE && group.values.is_empty() {
            group.values.push(("VALUE", word));
            continue;
        }
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let is_known =
            |known: &&str| key == *known || known.ends_with('.') && key.starts_with(known);
        if keys == VALUE || !word.contains('=') || !keys.iter().any(is_known) {
            let near = nearest(key, keys.iter().copied().filter(|_| keys != VALUE));
            let near = near.map(|near| format!("{} {near}=", group.flag));
            return Err(Misunderstood::Unknown { word: format!("{} {word}", group.flag), near });
        }
        group.values.push((key, value));
    }
    let bare = groups.iter().find(|group| {
        let keys = WORDS.iter().find(|(flag, _)| *flag == group.flag).map(|(_, keys)| *keys);
        group.values.is_empty() && keys.is_some_and(|keys| !keys.is_empty())
    });
    match bare {
        Some(group) => Err(group.wrong("has nothing behind it")),
        None => Ok(groups),
    }
}

/// The words of `gate4k match` for a command line of fastchess.
fn translated(words: &[String]) -> Result<Vec<String>, Misunderstood> {
    let groups = groups(words)?;
    let seed = groups.iter().rev().find(|group| group.flag == "-srand").map(Group::value);
    let each: Vec<_> = groups.iter().filter(|group| group.flag == "-each").collect();
    let mut own: Vec<String> = ["--pgn-style", "fastchess"].map(str::to_owned).to_vec();
    let mut add = |name: &str, value: String| own.extend([name.to_owned(), value]);
    let mut engines = Vec::new();
    for group in &groups {
        match group.flag {
            "-engine" => {
                let values = each.iter().flat_map(|each| &each.values).chain(&group.values);
                let whole = Group { flag: group.flag, values: values.copied().collect() };
                engines.push(engine(&whole)?);
            }
            "-log" => {
                let file = group.file()?;
                let why = "has compress= that is not false; it is plain text here";
                group.only("compress", "false", why)?;
                let why = "has engine= that is not true; here it is the engines' dialogue";
                group.only("engine", "true", why)?;
                add("--log", file.to_owned());
            }
            "-wait" => match group.value().parse::<u64>() {
                Ok(millis) => add("--wait", format!("{millis}ms")),
                Err(_) => return Err(group.wrong("wants a number of milliseconds")),
            },
            "-ratinginterval" if group.value() == "0" => {}
            "-ratinginterval" => add("--rating-interval", group.value().to_owned()),
            "-tournament" => match group.value() {
                "roundrobin" => add("--schedule", "round-robin".into()),
                "gauntlet" => add("--schedule", "gauntlet".into()),
                other => {
                    return Err(group.wrong(format!("{other}: known are roundrobin and gauntlet")));
                }
            },
            "-openings" => openings(group, seed, &mut add)?,
            "-pgnout" => {
                add("--pgn", group.file()?.to_owned());
                for key in ["seldepth", "nodes"] {
                    let why = format!("has {key}= that is not true; it is always written");
                    group.only(key, "true", &why)?;
                }
                let why = "has a match_line= that is not OpenBench's; leave it out";
                group.only("match_line", OPENBENCHS_LINE, why)?;
            }
            flag @ ("-resign" | "-draw") => {
                let all: Vec<String> =
                    group.values.iter().map(|(key, value)| format!("{key}={value}")).collect();
                add(&format!("-{flag}"), all.join(","));
            }
            "-variant" => match group.value() {
                "standard" => {}
                "fischerandom" => add("--variant", "chess960".into()),
                other => {
                    return Err(
                        group.wrong(format!("{other}: known are standard and fischerandom"))
                    );
                }
            },
            "-maxmoves" => {
                let moves: Option<u32> =
                    group.value().parse().ok().filter(|moves| *moves < 100_000);
                let moves = moves.ok_or_else(|| group.wrong("wants a number of moves"))?;
                add("--max-plies", (2 * moves).to_string());
            }
            "-tb" => group.value().split(':').for_each(|path| add("--syzygy", path.to_owned())),
            "-tbpieces" => add("--syzygy-pieces", group.value().to_owned()),
            flag @ ("-concurrency" | "-rounds" | "-games" | "-event" | "-site" | "-seeds") => {
                add(&format!("-{flag}"), group.value().to_owned());
            }
            // Two games on an opening are a pair.
            _ => {}
        }
    }
    // Without it the first crash ends the match.
    if !groups.iter().any(|group| group.flag == "-recover") {
        add("--strikes", "1".into());
    }
    Ok(engines.into_iter().chain(own).collect())
}

fn openings(
    group: &Group,
    seed: Option<&str>,
    add: &mut impl FnMut(&str, String),
) -> Result<(), Misunderstood> {
    let file = group.file()?;
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    if let Some(format) = group.get("format").filter(|format| *format != ending) {
        return Err(group.wrong(format!(
            "has format={format}, and the file's name does not end with .{format}"
        )));
    }
    add("--openings", file.to_owned());
    match (group.get("order").unwrap_or("sequential"), seed) {
        ("sequential", _) => {}
        ("random", Some(seed)) => add("--shuffle", seed.to_owned()),
        ("random", None) => return Err(group.wrong("has order=random, which needs -srand SEED")),
        (other, _) => {
            return Err(group.wrong(format!("order={other}: known are sequential and random")));
        }
    }
    for key in ["start", "plies"] {
        if let Some(value) = group.get(key) {
            add(&format!("--{key}"), value.to_owned());
        }
    }
    Ok(())
}

/// An ENGINE of `gate4k match`.
fn engine(group: &Group) -> Result<String, Misunderstood> {
    if let Some(proto) = group.get("proto").filter(|proto| *proto != "uci") {
        return Err(group.wrong(format!("has proto={proto}; uci is spoken here")));
    }
    let mut words = Vec::new();
    for key in ["name", "cmd", "dir", "args"] {
        if let Some(value) = group.get(key) {
            words.push(quoted(group, &format!("{key}={value}"))?);
        }
    }
    let is_plain = |name: &str| name.bytes().all(|c| c.is_ascii_graphic() && c != b':');
    if let Some(name) = group.get("name").filter(|name| !is_plain(name)) {
        let why = "is not of ASCII without blanks and colons, as those who read the lines of games need it";
        return Err(group.wrong(format!("name={name} {why}")));
    }
    let clock = group.get("tc").filter(|tc| *tc != "inf");
    let control = match (clock, group.get("st"), group.get("nodes"), group.get("depth")) {
        (Some(clock), None, None, None) => clock.to_owned(),
        (None, Some(seconds), None, None) => format!("movetime={seconds}"),
        (None, None, Some(nodes), None) => format!("nodes={nodes}"),
        (None, None, None, Some(depth)) => format!("depth={depth}"),
        (None, None, None, None) => {
            return Err(group.wrong("has none of tc=, st=, nodes= and depth="));
        }
        _ => {
            return Err(
                group.wrong("has two of tc=, st=, nodes= and depth=; here it is one of them")
            );
        }
    };
    words.push(format!("tc={control}"));
    if let Some(margin) = group.get("timemargin") {
        let millis: u64 = margin.parse().map_err(|_| {
            group.wrong(format!("timemargin={margin} is no number of milliseconds"))
        })?;
        words.push(format!("margin={millis}ms"));
    }
    let options = group.values.iter().filter(|(key, _)| key.starts_with("option."));
    for (key, value) in options {
        words.push(quoted(group, &format!("{key}={value}"))?);
    }
    Ok(words.join(" "))
}

/// A word that keeps its blanks.
fn quoted(group: &Group, word: &str) -> Result<String, Misunderstood> {
    let is_plain = !word.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'');
    let quote = ['"', '\''].into_iter().find(|quote| !word.contains(*quote));
    match quote {
        _ if is_plain => Ok(word.to_owned()),
        Some(quote) => Ok(format!("{quote}{word}{quote}")),
        None => Err(group.wrong(format!("has quotes of both kinds in {word}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Result<Vec<String>, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        translated(&words).map_err(|error| error.to_string())
    }

    /// As the client of OpenBench, version 49, puts it together.
    const OPENBENCHS: &str = "-recover -variant standard -testEnv -concurrency 4 -rounds 16 -games 2 -resign movecount=3 score=400 \
         -draw movenumber=40 movecount=8 score=10 -tb /tb/a:/tb/b -tbpieces 6 \
         -engine dir=Engines/ cmd=./X-1 proto=uci tc=8.05+0.08 timemargin=250 option.Threads=1 option.Hash=16 name=X-dev \
         -engine dir=Engines/ cmd=./X-2 proto=uci tc=40/8.05+0.08 timemargin=250 option.Hash=16 name=X-base \
         -openings file=Books/UHO.epd format=epd order=random start=17 -srand 20 -pgnout file=PGNs/1.2.3.0.pgn seldepth=true \
         nodes=true";

    #[test]
    fn openbenchs_command_line_word_by_word() {
        let words = told(OPENBENCHS).unwrap().join("|");
        let expected = "name=X-dev cmd=./X-1 dir=Engines/ tc=8.05+0.08 margin=250ms option.Threads=1 option.Hash=16|\
            name=X-base cmd=./X-2 dir=Engines/ tc=40/8.05+0.08 margin=250ms option.Hash=16|--pgn-style|fastchess|--concurrency|4|\
            --rounds|16|--games|2|--resign|movecount=3,score=400|--draw|movenumber=40,movecount=8,score=10|\
            --syzygy|/tb/a|--syzygy|/tb/b|--syzygy-pieces|6|--openings|Books/UHO.epd|--shuffle|20|--start|17|\
            --pgn|PGNs/1.2.3.0.pgn";
        assert_eq!(words, expected);
        let own = ["gate4k".to_owned(), "match".to_owned()];
        let parsed = Cli::try_parse_from(own.into_iter().chain(told(OPENBENCHS).unwrap())).unwrap();
        assert!(matches!(parsed.command, CliCommand::Match(_)));
    }

    #[test]
    fn each_form_of_a_limit_is_understood() {
        for (words, own) in [
            ("st=0.25 timemargin=250", "tc=movetime=0.25 margin=250ms"),
            ("tc=inf nodes=20000", "tc=nodes=20000"),
            ("tc=inf depth=9", "tc=depth=9"),
        ] {
            let told = told(&format!("-each {words} -engine cmd=x name=A")).unwrap();
            assert_eq!(told[0], format!("name=A cmd=x {own}"));
        }
        let words = ["-engine", "cmd=x", "tc=1+1", "option.Eval File=a b.nnue"].map(str::to_owned);
        assert_eq!(translated(&words).unwrap()[0], "cmd=x tc=1+1 \"option.Eval File=a b.nnue\"");
    }

    /// The client writes it for each engine, and none for one without a clock.
    #[test]
    fn each_engine_has_its_own_margin() {
        let words = "-engine cmd=x tc=1 timemargin=250 -engine cmd=y st=2 timemargin=9 -engine cmd=z tc=inf nodes=5";
        let own = ["cmd=x tc=1 margin=250ms", "cmd=y tc=movetime=2 margin=9ms", "cmd=z tc=nodes=5"];
        assert_eq!(told(words).unwrap()[..3], own);
    }

    #[test]
    fn a_log_a_pause_a_table_and_seeds() {
        let words = "-engine cmd=x tc=1+1 -recover -log file=l level=trace realtime=false engine=true -wait 500 \
                     -ratinginterval 20 -tournament gauntlet -seeds 2";
        let own = "--log|l|--wait|500ms|--rating-interval|20|--schedule|gauntlet|--seeds|2";
        assert!(told(words).unwrap().join("|").ends_with(own), "{:?}", told(words));
        let words = told("-engine cmd=x tc=1+1 -ratinginterval 0").unwrap().join("|");
        assert!(words.ends_with("fastchess|--strikes|1"), "{words}");
    }

    #[test]
    fn unknown_words_are_refused_with_the_nearest() {
        for (words, part) in [
            ("-concurency 3", "did you mean -concurrency?"),
            ("-sprt elo0=0", "-sprt is no word of fastchess that is known here"),
            ("-engine comd=x", "did you mean -engine cmd=?"),
            ("-rounds 3 4", "-rounds 4 is no word"),
            ("-rounds", "-rounds has nothing behind it"),
            ("x -rounds 3", "x is no word"),
            ("-log level=trace", "-log has no file="),
            ("-log file=x compress=true", "plain text here"),
            ("-log file=x engine=false", "the engines' dialogue"),
            ("-wait long", "wants a number of milliseconds"),
            ("-tournament swiss", "known are roundrobin and gauntlet"),
            ("-ratingintervall 3", "did you mean -ratinginterval?"),
            ("-recover 3", "-recover 3 is no word"),
            ("-engine cmd=x", "has none of tc="),
            ("-engine cmd=x tc=1+1 nodes=3", "has two of tc="),
            ("-engine cmd=x proto=xboard tc=1+1", "uci is spoken here"),
            ("-engine cmd=x name=a:b tc=1+1", "name=a:b is not of ASCII"),
            ("-variant atomic", "known are standard and fischerandom"),
            ("-openings file=a.epd order=random", "needs -srand"),
            ("-openings file=a.epd format=pgn", "does not end with .pgn"),
            ("-pgnout file=x match_line=y", "not OpenBench's"),
            ("-engine cmd=x tc=1 timemargin=9ms", "no number of milliseconds"),
        ] {
            let error = told(words).unwrap_err();
            assert!(error.contains(part), "{words}: {error}");
        }
    }
}
