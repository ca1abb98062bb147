//! Files packed for the way to a visitor: a table of results is mostly the same words again and again.

use hyper::header::{self, HeaderMap};
use miniz_oxide::deflate::compress_to_vec;

/// The effort of the packing, of 10: more takes several times as long and saves little.
const EFFORT: u8 = 6;
/// Fewer bytes than these fit one packet of the network as they are.
pub(super) const FEW: usize = 1024;

/// The bytes as one member of gzip (RFC 1952, 2.3), without a name and a time.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut packed = HEAD.to_vec();
    packed.extend(compress_to_vec(bytes, EFFORT));
    packed.extend(crc32fast::hash(bytes).to_le_bytes());
    // The length modulo 2^32, as the format has it.
    packed.extend((bytes.len() as u32).to_le_bytes());
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
    use hyper::header::HeaderValue;
    use miniz_oxide::inflate::decompress_to_vec;

    #[test]
    fn what_is_packed_is_one_member_of_gzip() {
        for text in ["", "a", &"<td>1</td>".repeat(5000)] {
            let packed = gzip(text.as_bytes());
            let (body, end) = packed[10..].split_at(packed.len() - 18);
            assert_eq!(packed[..4], [0x1f, 0x8b, 8, 0]);
            assert_eq!(decompress_to_vec(body).unwrap(), text.as_bytes());
            let [sum, length] =
                [&end[..4], &end[4..]].map(|four| u32::from_le_bytes(four.try_into().unwrap()));
            assert_eq!((sum, length), (crc32fast::hash(text.as_bytes()), text.len() as u32));
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
