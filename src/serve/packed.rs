//! Files packed for the way to a visitor: a table of results is mostly the same words again and again.

use std::io::Read;

use flate2::Compression;
use flate2::bufread::GzEncoder;
use hyper::header::{self, HeaderMap};

/// The effort of the packing, of 9: more takes several times as long and saves little.
const EFFORT: Compression = Compression::new(6);
/// Fewer bytes than these fit one packet of the network as they are.
pub(super) const FEW: usize = 1024;

/// The bytes as one member of gzip (RFC 1952, 2.3), without a name and a time.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    // A read from memory does not fail.
    let _ = GzEncoder::new(bytes, EFFORT).read_to_end(&mut packed);
    packed
}

/// True if a visitor takes files packed by gzip (RFC 9110, 12.5.3).
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let asked = headers.get(header::ACCEPT_ENCODING).and_then(|words| words.to_str().ok());
    asked.unwrap_or_default().split(',').any(|word| {
        let (name, terms) = word.split_once(';').unwrap_or((word, ""));
        let weight = terms.trim().strip_prefix("q=").unwrap_or("1").trim();
        let is_gzip = ["gzip", "x-gzip"].contains(&&*name.trim().to_ascii_lowercase());
        is_gzip && weight.parse::<f32>().is_ok_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::bufread::GzDecoder;
    use hyper::header::HeaderValue;

    #[test]
    fn what_is_packed_is_one_member_of_gzip() {
        for text in ["", "a", &"<td>1</td>".repeat(5000)] {
            let mut unpacked = String::new();
            GzDecoder::new(&*gzip(text.as_bytes())).read_to_string(&mut unpacked).unwrap();
            assert_eq!(unpacked, text);
        }
        assert!(gzip("<td>1</td>".repeat(5000).as_bytes()).len() < 1000);
    }

    #[test]
    fn only_those_who_take_it_get_it() {
        let takes = |words: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(words));
            takes_gzip(&headers)
        };
        for words in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.5", "x-gzip"] {
            assert!(takes(words), "{words}");
        }
        for words in ["", "identity", "gzip;q=0", "br, gzip; q=0.0", "gzippo", "gzip;q=x"] {
            assert!(!takes(words), "{words}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
