//! A round of a lichess broadcast, to which games are pushed as PGN
//! (`POST /api/broadcast/round/{id}/push`): those that have changed, a few at a time.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;

use super::push::{self, PushAnswer};
use super::{Destination, Failure, RetryValue};
use crate::event::broadcast::{EventChanges, Follower, GameKey};
use crate::event::config::EventConfig;
use crate::model::secret;
use crate::model::text::escape;

/// The variable that holds the token.
pub(crate) const TOKEN: &str = secret::LICHESS_TOKEN;
/// The variable that holds another address than lichess's.
const ADDRESS: &str = "GATE4K_LICHESS_URL";
/// The most games in a push; lichess takes up to 100.
const MOST: usize = 50;
/// The pause after the first failure; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause, but where the answer asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// No answer is believed that asks for more.
const LONGEST_REST: Duration = Duration::from_secs(3600);

/// A round that cannot be pushed to, with the next step.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LichessError {
    /// The word is no id.
    #[error(
        "{0:?} is no round of a broadcast; write the last part of its address, eight letters and digits"
    )]
    Round(String),
    /// No token, or none that could be one.
    #[error(
        "{TOKEN} holds no token; make one with the scope study:write at lichess.org/account/oauth/token"
    )]
    Token,
    /// An address to which a token must not be sent.
    #[error(
        "{ADDRESS} is {0:?}; write https://HOST, or http:// with an address of this host's loopback"
    )]
    Address(String),
    /// No curl.
    #[error("there is no curl, which sends games to lichess: apt-get install curl")]
    Curl,
}

/// The round.
pub(crate) struct Lichess {
    round: String,
    token: String,
    /// Of the push.
    address: String,
    /// The games that it does not have as they are.
    due: BTreeSet<GameKey>,
    pause: Duration,
    remarks: Vec<String>,
    /// The refusals that were told.
    refused: BTreeSet<(GameKey, String)>,
}

impl Lichess {
    /// A round by its id; token and address come from the environment.
    ///
    /// # Errors
    /// See [`LichessError`].
    pub(crate) fn open(round: &str) -> Result<Lichess, LichessError> {
        let var = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let lichess = Lichess::new(
            round,
            var(TOKEN).as_deref(),
            var(ADDRESS).as_deref().unwrap_or("https://lichess.org"),
        )?;
        if push::is_there() { Ok(lichess) } else { Err(LichessError::Curl) }
    }

    fn new(round: &str, token: Option<&str>, base: &str) -> Result<Lichess, LichessError> {
        let is_round = |round: &str| {
            (1..=32).contains(&round.len()) && round.bytes().all(|c| c.is_ascii_alphanumeric())
        };
        if !is_round(round) {
            return Err(LichessError::Round(escape(round.as_bytes(), 100)));
        }
        let is_plain = |c: u8| c.is_ascii_graphic() && c != b'"' && c != b'\\';
        let token = token.map(str::trim).filter(|token| token.bytes().all(is_plain));
        let token = token.filter(|token| !token.is_empty()).ok_or(LichessError::Token)?;
        let base = base.trim_end_matches('/');
        if !is_safe(base) || !base.bytes().all(is_plain) {
            return Err(LichessError::Address(escape(base.as_bytes(), 200)));
        }
        Ok(Lichess {
            round: round.to_owned(),
            token: token.to_owned(),
            address: format!("{base}/api/broadcast/round/{round}/push"),
            due: BTreeSet::new(),
            pause: FIRST_PAUSE,
            remarks: Vec::new(),
            refused: BTreeSet::new(),
        })
    }

    /// Pushes games; those that were taken or refused for good are due no more.
    fn push(&mut self, games: &[(GameKey, String)]) -> Result<(), Failure> {
        let text: String = games.iter().map(|(_, pgn)| pgn.as_str()).collect();
        let answer = match push::post(&self.address, &self.token, &text) {
            Ok(answer) => answer,
            Err(words) => return Err(self.failed(words, None)),
        };
        match (answer.status, games) {
            (200..300, _) => {
                self.taken(games, &answer);
                Ok(())
            }
            // It may be for one of them alone.
            (400, [_, _, ..]) => {
                games.iter().try_for_each(|one| self.push(std::slice::from_ref(one)))
            }
            (400, [(key, _)]) => {
                self.refuse(*key, &error(&answer.body));
                Ok(())
            }
            (401 | 403, _) => Err(self.hopeless(format!(
                "the token is refused ({}); it needs the scope study:write, and its owner must be a contributor",
                answer.status
            ))),
            (404, _) => Err(self.hopeless("there is no such round (404)".to_owned())),
            (429, _) => {
                let rest = answer.retry_after.unwrap_or(LONGEST_PAUSE);
                Err(self.failed("it asks to be asked less often (429)".to_owned(), Some(rest)))
            }
            (status, _) => Err(self.failed(format!("it answers {status}"), answer.retry_after)),
        }
    }

    fn taken(&mut self, games: &[(GameKey, String)], answer: &PushAnswer) {
        #[derive(Deserialize)]
        struct Document {
            games: Vec<PushedGame>,
        }
        #[derive(Deserialize)]
        struct PushedGame {
            error: Option<String>,
        }
        // An answer in another form says that they were taken, and no more.
        let told = serde_json::from_str(&answer.body).map(|document: Document| document.games);
        let told = told.ok().filter(|told| told.len() == games.len()).unwrap_or_default();
        for (at, (key, _)) in games.iter().enumerate() {
            match told.get(at).and_then(|told| told.error.as_ref()) {
                Some(error) => self.refuse(*key, &escape(error.as_bytes(), 200)),
                None => drop(self.due.remove(key)),
            }
        }
    }

    /// A game that it does not take as it is; the next move may mend that.
    fn refuse(&mut self, key: GameKey, error: &str) {
        self.due.remove(&key);
        if self.refused.insert((key, error.to_owned())) {
            self.remarks.push(format!("{} does not take game {key}: {error}", self.name()));
        }
    }

    fn failed(&mut self, words: String, rest: Option<Duration>) -> Failure {
        let after = match rest {
            Some(rest) => rest.clamp(FIRST_PAUSE, LONGEST_REST),
            None => {
                let longer = (2 * self.pause).min(LONGEST_PAUSE);
                std::mem::replace(&mut self.pause, longer)
            }
        };
        Failure { words, after, hope: RetryValue::Some }
    }

    fn hopeless(&mut self, words: String) -> Failure {
        Failure { words, after: LONGEST_PAUSE, hope: RetryValue::None }
    }
}

impl Destination for Lichess {
    fn name(&self) -> String {
        format!("lichess round {}", self.round)
    }

    fn period(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn patience(&self) -> u32 {
        3
    }

    fn put(
        &mut self,
        config: &EventConfig,
        event: &Follower,
        changes: &EventChanges,
    ) -> Result<(), Failure> {
        let broadcast = &event.broadcast;
        if changes.is_anew {
            self.due = broadcast.games.keys().copied().collect();
        }
        self.due.extend(&changes.games);
        // Spectators wait for those under way.
        let mut due: Vec<GameKey> = self.due.iter().copied().collect();
        due.sort_by_key(|key| broadcast.games.get(key).is_none_or(|game| !game.is_open()));
        let games: Vec<(GameKey, String)> = due
            .into_iter()
            .filter_map(|key| {
                let game = broadcast.games.get(&key)?;
                Some((key, game.relay_pgn(config, &broadcast.ledger)?))
            })
            .collect();
        for some in games.chunks(MOST) {
            self.push(some)?;
        }
        // Keys of games that were taken back are left.
        self.due.clear();
        self.pause = FIRST_PAUSE;
        Ok(())
    }

    fn remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }
}

/// True if a token may be sent there: it goes over no wire in clear.
fn is_safe(base: &str) -> bool {
    let Some(rest) = base.strip_prefix("http://") else {
        return base.strip_prefix("https://").is_some_and(|host| !host.is_empty());
    };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, port)| {
        if port.bytes().all(|c| c.is_ascii_digit()) { host } else { "" }
    });
    ["127.0.0.1", "localhost", "[::1]"].contains(&host)
}

/// The words of `{"error":…}`.
fn error(body: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let words = value.as_ref().and_then(|value| value.get("error")).map(|error| match error {
        serde_json::Value::String(words) => words.clone(),
        other => other.to_string(),
    });
    escape(words.as_deref().unwrap_or(body).trim().as_bytes(), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_to_nobody_in_clear() {
        let to = |base| Lichess::new("abcDEF12", Some("lip_x"), base);
        for base in
            ["https://lichess.org", "https://lichess.dev/", "http://127.0.0.1:9/", "http://[::1]:1"]
        {
            assert!(to(base).is_ok(), "{base}");
        }
        for base in [
            "http://lichess.org",
            "http://127.0.0.1.evil.example",
            "ftp://x",
            "https://",
            "",
            "https://a\"b",
        ] {
            assert!(matches!(to(base), Err(LichessError::Address(_))), "{base}");
        }
        assert!(matches!(
            Lichess::new("a/../b", Some("x"), "https://l"),
            Err(LichessError::Round(_))
        ));
        for token in [None, Some(""), Some("a b"), Some("a\nb"), Some("\"")] {
            let opened = Lichess::new("abc", token, "https://l");
            assert!(matches!(opened, Err(LichessError::Token)), "{token:?}");
        }
        assert_eq!(
            to("https://l/").ok().unwrap().address,
            "https://l/api/broadcast/round/abcDEF12/push"
        );
    }

    #[test]
    fn pauses_grow_and_heed_the_answer() {
        let mut lichess = Lichess::new("a", Some("t"), "https://l").ok().unwrap();
        let mut after = |rest: Option<u64>| {
            lichess.failed(String::new(), rest.map(Duration::from_secs)).after.as_millis()
        };
        assert_eq!([after(None), after(None), after(Some(7)), after(None)], [250, 500, 7000, 1000]);
        let longest = (0..20).map(|_| after(None)).max();
        assert_eq!((longest, after(Some(1 << 40))), (Some(60_000), 3_600_000));
    }

    #[test]
    fn a_refusal_is_told_in_its_own_words() {
        assert_eq!(error("{\"error\":\"No such study\"}"), "No such study");
        assert_eq!(error("{\"error\":{\"pgn\":[\"x\"]}}"), "{\"pgn\":[\"x\"]}");
        assert_eq!(error("<h1>\u{1b}no"), "<h1>\\u{1b}no");
    }
}
