//! Questions and their answers: GET and HEAD, files of the map and nothing else.

use std::time::SystemTime;

use http_body_util::channel::Channel;
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::watch;

use super::changes;
use super::{SiteFiles, Stored, packed};

/// Answers requests from the files.
#[derive(Debug)]
pub(super) struct Responder {
    names: Option<Vec<String>>,
    site: watch::Receiver<SiteFiles>,
    /// Tells this server from one before it.
    began: u128,
}

impl Responder {
    pub(super) fn new(names: Option<Vec<String>>, site: watch::Receiver<SiteFiles>) -> Responder {
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Responder { names, site, began: began.as_millis() }
    }

    /// True if a request may come under this host name. A page elsewhere whose name is made to lead here does not get
    /// in.
    fn knows(&self, host: Option<&HeaderValue>) -> bool {
        let Some(names) = &self.names else { return true };
        let Some(host) = host.and_then(|host| host.to_str().ok()) else { return false };
        let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let name = match host.rsplit_once(':') {
            Some((name, port)) if is_port(port) => name,
            _ => host,
        };
        names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// The page of the event, of which there is one from the first look on, unless what it is made of cannot be read.
const FRONT: &str = "index.html";

/// The words where there is none. They say nothing of the host, which has told the reason to its organisers.
const NO_PAGES: &str = "the record of this event cannot be read now; come back later\n";

type Body = Either<Full<Bytes>, Channel<Bytes>>;

/// The things that a page may do, whatever strangers have put into its text. The pages say the same, but that each names the one
/// style that it has: both have to allow it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn answer(responder: &Responder, question: &Request<Incoming>) -> Response<Body> {
    let headers = question.headers();
    let mut response = if !responder.knows(headers.get(header::HOST)) {
        words(StatusCode::MISDIRECTED_REQUEST, "this server goes by another name; see --name\n")
    } else if ![Method::GET, Method::HEAD].contains(question.method()) {
        let mut refused =
            words(StatusCode::METHOD_NOT_ALLOWED, "there is nothing here but to read\n");
        refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        refused
    } else {
        read(responder, question.method(), question.uri().path(), headers)
    };
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn read(responder: &Responder, method: &Method, path: &str, headers: &HeaderMap) -> Response<Body> {
    let name = match path.strip_prefix('/').unwrap_or(path) {
        "" => FRONT,
        name => name,
    };
    if name == "changes" {
        let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
        let stream = match *method {
            Method::GET => {
                Either::Right(changes::stream(responder.site.clone(), responder.began, last))
            }
            _ => Either::Left(Full::default()),
        };
        return with_type(Response::new(stream), "text/event-stream");
    }
    // The name is looked up as it stands: there is no path, so none can lead anywhere else.
    let (found, has_front) = {
        let site = responder.site.borrow();
        (site.files.get(name).cloned(), site.files.contains_key(FRONT))
    };
    match found {
        Some(stored) => file(&stored, name, method, headers),
        None if has_front => {
            words(StatusCode::NOT_FOUND, "there is no such page; the event is at /\n")
        }
        None => {
            let mut later = words(StatusCode::SERVICE_UNAVAILABLE, NO_PAGES);
            later.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("30"));
            later
        }
    }
}

fn file(stored: &Stored, name: &str, method: &Method, headers: &HeaderMap) -> Response<Body> {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let is_known = known.is_some_and(|tags| has(tags, &stored.tag));
    let packed = packed::takes_gzip(headers).then(|| stored.packed()).flatten();
    let is_packed = packed.is_some();
    let bytes = packed.unwrap_or_else(|| stored.bytes.clone());
    let mut response = if is_known {
        let mut response = Response::new(Either::Left(Full::default()));
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else if *method == Method::HEAD {
        let mut response = Response::new(Either::Left(Full::default()));
        response.headers_mut().insert(header::CONTENT_LENGTH, bytes.len().into());
        response
    } else {
        Response::new(Either::Left(Full::new(bytes)))
    };
    let told = response.headers_mut();
    // Packed it has other bytes, and only its text is the same (RFC 9110, 8.8.3.3).
    let weak = if is_packed { "W/" } else { "" };
    if let Ok(tag) = HeaderValue::from_str(&format!("{weak}{}", stored.tag)) {
        told.insert(header::ETAG, tag);
    }
    told.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_packed && !is_known {
        told.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    with_type(response, kind(name))
}

/// True if a list of entity tags has this one. A server in between that packs what it hands on makes tags weak (RFC
/// 9110, 13.1.2).
fn has(tags: &str, tag: &str) -> bool {
    let tags = tags.split(',').map(str::trim);
    tags.map(|tag| tag.strip_prefix("W/").unwrap_or(tag)).any(|known| known == tag || known == "*")
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("pgn") => "application/vnd.chess-pgn; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}

fn words(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(Bytes::from_static(text.as_bytes()))));
    *response.status_mut() = status;
    with_type(response, kind(""))
}

fn with_type(mut response: Response<Body>, kind: &'static str) -> Response<Body> {
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn responder(names: Option<&[&str]>) -> Responder {
        let names = names.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        Responder::new(names, watch::Sender::new(SiteFiles::default()).subscribe())
    }

    #[test]
    fn a_tag_is_known_again_behind_another_server() {
        for tags in ["\"a\"", "\"b\", \"a\"", "W/\"a\"", "\"b\",W/\"a\"", "*"] {
            assert!(has(tags, "\"a\""), "{tags}");
        }
        for tags in ["", "a", "\"b\"", "W/\"b\"", "W/W/\"a\""] {
            assert!(!has(tags, "\"a\""), "{tags}");
        }
    }

    #[test]
    fn a_visitor_who_takes_gzip_gets_large_files_packed() {
        let (_, page) = super::super::stored(("index.html".into(), "<p>word</p>".repeat(1000)));
        let (_, small) = super::super::stored(("live.json".into(), "{}".into()));
        let ask = |stored: &Stored, words: &[(HeaderName, &str)]| {
            let of = |(name, word): &(HeaderName, &str)| {
                (name.clone(), HeaderValue::from_str(word).unwrap())
            };
            file(stored, "index.html", &Method::HEAD, &words.iter().map(of).collect())
        };
        let gzip = || (header::ACCEPT_ENCODING, "gzip, br");
        let length = |answer: &Response<Body>| {
            answer.headers()[header::CONTENT_LENGTH].to_str().unwrap().parse::<usize>().unwrap()
        };
        let (packed, whole) = (ask(&page, &[gzip()]), ask(&page, &[]));
        assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
        assert!(length(&packed) < 200 && length(&whole) == 11_000);
        assert!(!whole.headers().contains_key(header::CONTENT_ENCODING));
        for answer in [&packed, &whole] {
            assert_eq!(answer.headers()[header::VARY], "accept-encoding");
        }
        // A visitor who has the packed file has the file: the tag comes back as it was given.
        let tag = packed.headers()[header::ETAG].to_str().unwrap();
        let again = ask(&page, &[gzip(), (header::IF_NONE_MATCH, tag)]);
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert!(!again.headers().contains_key(header::CONTENT_ENCODING));
        let small = ask(&small, &[gzip()]);
        assert!(length(&small) == 2 && !small.headers().contains_key(header::CONTENT_ENCODING));
    }

    #[test]
    fn a_site_without_pages_is_unavailable_and_one_with_some_lacks_a_page() {
        let site = watch::Sender::new(SiteFiles::default());
        let responder = Responder::new(None, site.subscribe());
        let ask = |path: &str| read(&responder, &Method::GET, path, &HeaderMap::new());
        for path in ["/", "/index.html", "/event.json"] {
            let answer = ask(path);
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
            assert_eq!(answer.headers()[header::RETRY_AFTER], "30");
            assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/plain; charset=utf-8");
        }
        let (name, page) = super::super::stored((FRONT.into(), "page".into()));
        let files = std::sync::Arc::new([(name, page)].into());
        site.send_modify(|site| site.files = files);
        assert_eq!(ask("/").status(), StatusCode::OK);
        assert_eq!(ask("/event.json").status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn only_names_that_are_known_get_in() {
        let some = responder(Some(&["localhost", "[::1]", "tv.example"]));
        let knows = |host: &'static str| some.knows(Some(&HeaderValue::from_static(host)));
        for host in ["localhost", "LOCALHOST:4096", "[::1]:80", "[::1]", "tv.example:443"] {
            assert!(knows(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "localhost:80:80", "", "[::2]:80"] {
            assert!(!knows(host), "{host}");
        }
        assert!(!some.knows(None));
        assert!(responder(None).knows(None));
    }
}
