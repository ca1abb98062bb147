//! One request with a text, by curl: it has the host's own certificates, proxies and updates, and adds nothing to the
//! build. The token goes to it through a pipe, so that no list of processes and no other program ever shows it.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::model::secret;
use crate::model::text::escape;

/// The longest answer that is read; more of it decides nothing.
const LONGEST: u64 = 1 << 20;
/// The seconds after which a request that has not ended counts as failed.
const PATIENCE: &str = "30";

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PushAnswer {
    /// Of HTTP.
    pub(super) status: u16,
    /// The time that it asks to be left alone for.
    pub(super) retry_after: Option<Duration>,
    pub(super) body: String,
}

/// True if curl can be run.
pub(super) fn is_there() -> bool {
    let mut command = Command::new("curl");
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    secret::keep_from(&mut command);
    command.status().is_ok_and(|status| status.success())
}

/// Posts a text. The address and the token have been looked at: neither has a quote or a line end in it.
///
/// # Errors
/// When no whole answer came; in words.
pub(super) fn post(address: &str, token: &str, text: &str) -> Result<PushAnswer, String> {
    let failed = |error: io::Error| format!("curl cannot be run: {error}");
    let mut body = tempfile::NamedTempFile::new().map_err(failed)?;
    body.write_all(text.as_bytes()).map_err(failed)?;
    let mut command = Command::new("curl");
    command
        // First, or it would read settings of the user's.
        .args(["--disable", "--silent", "--show-error", "--include", "--suppress-connect-headers"])
        .args(["--proto", "=http,https", "--connect-timeout", "10", "--max-time", PATIENCE])
        .args(["--header", "Content-Type: text/plain; charset=utf-8", "--header", "Expect:"])
        .args(["--user-agent", concat!("gate4k/", env!("CARGO_PKG_VERSION")), "--data-binary"])
        .arg(format!("@{}", body.path().display()))
        .args(["--config", "-", address])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    secret::keep_from(&mut command);
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut settings) = child.stdin.take() {
        // One that has ended already says so below.
        let _ = writeln!(settings, "header = \"Authorization: Bearer {token}\"");
    }
    let mut answer = Vec::new();
    if let Some(out) = child.stdout.take() {
        // Beyond that it is cut off, and curl fails.
        let _ = out.take(LONGEST).read_to_end(&mut answer);
    }
    let mut errors = String::new();
    if let Some(out) = child.stderr.take() {
        let _ = out.take(LONGEST).read_to_string(&mut errors);
    }
    let status = child.wait().map_err(failed)?;
    if !status.success() {
        let words = errors.trim().trim_start_matches("curl: ");
        return Err(escape(words.as_bytes(), 200));
    }
    parse(&String::from_utf8_lossy(&answer)).ok_or_else(|| "its answer is not HTTP".to_owned())
}

/// The last head and what follows it; there are others before it where the server said `100 Continue`.
fn parse(text: &str) -> Option<PushAnswer> {
    let mut rest = text;
    loop {
        let (head, body) = rest.split_once("\r\n\r\n")?;
        let mut lines = head.lines();
        let first = lines.next()?;
        let status = first.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok()?;
        if (100..200).contains(&status) {
            rest = body;
            continue;
        }
        let retry_after = lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let seconds = || value.trim().parse().ok();
            name.eq_ignore_ascii_case("retry-after").then(seconds)?.map(Duration::from_secs)
        });
        return Some(PushAnswer { status, retry_after, body: body.to_owned() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_apart() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/2 429 \r\nRetry-After: 7\r\nx: y\r\n\r\n{}";
        let answer = parse(text).unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (429, "{}"));
        assert_eq!(answer.retry_after, Some(Duration::from_secs(7)));
        let date = "HTTP/1.1 503 No\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n\r\n";
        assert_eq!(parse(date).unwrap().retry_after, None);
        for text in ["", "HTTP/1.1 200 OK\r\n", "no\r\n\r\n", "HTTP/1.1 x\r\n\r\n"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
