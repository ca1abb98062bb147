//! Chance that can be had again: whatever a test draws follows from one number, which every run prints.

use std::sync::OnceLock;
use std::time::SystemTime;

/// The number of this run: `GATE4K_SEED`, or the time.
pub(crate) fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| match std::env::var("GATE4K_SEED") {
        Ok(text) => text.parse().expect("GATE4K_SEED is a number"),
        Err(_) => {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            since.map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(0))
        }
    })
}

/// A sequence of a test's own (SplitMix64), whatever others draw meanwhile.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn of(test: &str) -> Chance {
        Chance(
            test.bytes()
                .fold(seed(), |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)),
        )
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for part in bytes.chunks_exact_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes());
        }
        bytes
    }
}
