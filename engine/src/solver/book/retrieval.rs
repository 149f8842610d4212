//! A map that stores no keys: ask it for a key that it was built with, and it gives the value; ask it for another, and
//! it gives any value.
//!
//! Each bit of a key's code word is a linear equation over bits: a pattern of 128 coefficients, laid over the solution
//! from some place on, has the parity of that bit; place and pattern are drawn by hashing the key and the number of the
//! bit. Such a system is banded and nearly always has a solution with a few per cent more unknowns than equations. It
//! is solved by elimination on the fly, and is little longer than the code words together, whatever the keys are.
//!
//! The elimination is that of ribbon retrieval (Dillinger, Hübschle-Schneider, Sanders and Walzer, "Fast Succinct
//! Retrieval and Approximate Membership Using Ribbon", 2022). Words of different lengths are the compressed static
//! functions of Genuzio and Vigna (2018), who let the equations of a key follow each other in one place; in a band they
//! would crowd there (tried: no solution with a tenth more unknowns), so ours are drawn one by one.

use super::prefix_code::{CodeWord, PrefixCode};

/// Coefficients of an equation, and so the places that it touches.
const BAND: u32 = u128::BITS;

/// Bytes that the places of an equation are in: sixteen, and one more if it begins in the middle of one.
const WINDOW_BYTES: usize = BAND as usize / 8 + 1;

/// Unknowns per thousand equations to begin with. Of systems of 360,000 equations none had a solution at 1020, half of
/// them at 1025, and all at 1040.
const PER_MILLE: u64 = 1020;

/// How many more after each [`SEEDS_PER_SIZE`] failures.
const PER_MILLE_STEP: u64 = 5;

/// Seeds tried before the system is given more unknowns.
const SEEDS_PER_SIZE: u64 = 4;

/// The solution of a system, from which values are read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Retrieval {
    seed: u64,
    /// Number of different starts.
    starts: u32,
    /// The unknowns, least significant bits first.
    bits: Vec<u8>,
}

/// The left side of an equation.
#[derive(Clone, Copy, Debug)]
struct Equation {
    /// The first place that it touches.
    start: u32,
    /// The coefficients from there on; the lowest bit is set, so that the equation begins where it says.
    pattern: u128,
}

impl Equation {
    /// The equation of one bit, counted from 0, of the word of `key`.
    #[inline]
    fn of(key: u64, bit: u32, seed: u64, starts: u32) -> Self {
        let place = mix(mix(key ^ seed).wrapping_add(u64::from(bit)));
        let low = mix(place ^ 0x9e37_79b9_7f4a_7c15);
        let high = mix(low ^ 0xd1b5_4a32_d192_ed03);
        // The upper half of the product spreads evenly over any number of starts.
        let start =
            u32::try_from((u128::from(place) * u128::from(starts)) >> 64).expect("less than `starts`");
        Self { start, pattern: u128::from(high) << 64 | u128::from(low) | 1 }
    }

    /// The right side of the equation for this solution.
    #[inline]
    fn parity(self, bits: &[u8]) -> bool {
        let bytes = &bits[self.start as usize / 8..][..WINDOW_BYTES];
        let low = u128::from_le_bytes(bytes[..16].try_into().expect("sixteen of them"));
        let within = self.start % 8;
        // A shift by the whole width is nothing.
        let window = low >> within | u128::from(bytes[16]).unbounded_shl(BAND - within);
        (window & self.pattern).count_ones() % 2 == 1
    }
}

/// Scatters the bits of a word over all of them, one to one (the finalizer of splitmix64, Vigna 2015).
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

impl Retrieval {
    /// Stores a word for each key. Keys must differ, or have equal words.
    pub(super) fn build(words: &[(u64, CodeWord)]) -> Self {
        let equations: u64 = words.iter().map(|(_, word)| u64::from(word.length)).sum();
        let mut attempts = 0;
        loop {
            let per_mille = PER_MILLE + attempts / SEEDS_PER_SIZE * PER_MILLE_STEP;
            let starts =
                u32::try_from(equations * per_mille / 1000 + 1).expect("a book has millions of bits at most");
            if let Some(bits) = solve(words, attempts, starts) {
                return Self { seed: attempts, starts, bits };
            }
            attempts += 1;
        }
    }

    /// From the parts that [`Retrieval::parts`] gave; `None` if they do not fit each other.
    pub(super) fn of_parts(seed: u64, starts: u32, bits: &[u8]) -> Option<Self> {
        (starts > 0 && bits.len() == bytes_for(starts)).then(|| Self { seed, starts, bits: bits.to_vec() })
    }

    /// Seed, number of starts, and the solution.
    pub(super) fn parts(&self) -> (u64, u32, &[u8]) {
        (self.seed, self.starts, &self.bits)
    }

    /// The symbol that `code` gave the word of this key.
    #[inline]
    pub(super) fn symbol(&self, key: u64, code: &PrefixCode) -> u8 {
        code.read(|bit| Equation::of(key, bit, self.seed, self.starts).parity(&self.bits))
    }
}

/// Bytes of a solution, with those after the last start that look-ups read.
fn bytes_for(starts: u32) -> usize {
    starts as usize / 8 + WINDOW_BYTES
}

/// An equation in the row of the first place it touches; all zero if there is none.
#[derive(Clone, Copy, Default)]
struct Row {
    pattern: u128,
    value: bool,
}

/// Solves the system of all words; `None` if it contradicts itself.
fn solve(words: &[(u64, CodeWord)], seed: u64, starts: u32) -> Option<Vec<u8>> {
    let mut rows = vec![Row::default(); (starts + BAND) as usize];
    for &(key, word) in words {
        for bit in 0..word.length {
            let Equation { start, pattern } = Equation::of(key, bit, seed, starts);
            let value = word.bits >> (word.length - 1 - bit) & 1 == 1;
            insert(&mut rows, start as usize, Row { pattern, value })?;
        }
    }
    Some(substitute(&rows, starts))
}

/// Adds an equation that begins at `start`, less those it meets, at the first free row; `None` if nothing is left of
/// it but a contradiction.
fn insert(rows: &mut [Row], mut start: usize, mut row: Row) -> Option<()> {
    loop {
        let other = &mut rows[start];
        if other.pattern == 0 {
            *other = row;
            return Some(());
        }
        row.pattern ^= other.pattern;
        row.value ^= other.value;
        if row.pattern == 0 {
            return (!row.value).then_some(());
        }
        let gap = row.pattern.trailing_zeros();
        row.pattern >>= gap;
        start += gap as usize;
    }
}

/// Works out the unknowns from the last to the first. Those without an equation are zero.
fn substitute(rows: &[Row], starts: u32) -> Vec<u8> {
    let mut bits = vec![0; bytes_for(starts)];
    // The unknowns from the current row on, the row's own lowest.
    let mut known: u128 = 0;
    for (place, row) in rows.iter().enumerate().rev() {
        known <<= 1;
        if row.pattern != 0 {
            let bit = ((known & row.pattern).count_ones() % 2 == 1) != row.value;
            known |= u128::from(bit);
            bits[place / 8] |= u8::from(bit) << (place % 8);
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A third of the keys each has symbol 0, 1, or one of the rest.
    fn sample(count: u64) -> (PrefixCode, Vec<(u64, u8)>) {
        let symbol = |key: u64| {
            u8::try_from(match mix(key) % 3 {
                2 => 2 + mix(key + 1) % 30,
                few => few,
            })
            .unwrap()
        };
        let entries: Vec<(u64, u8)> = (0..count).map(|key| (key * 77, symbol(key))).collect();
        let mut frequencies = [1; 32];
        for (_, symbol) in &entries {
            frequencies[usize::from(*symbol)] += 1;
        }
        (PrefixCode::of_frequencies(&frequencies).unwrap(), entries)
    }

    #[test]
    fn every_key_gives_its_value_back() {
        for count in [0, 1, 7, 1000, 50_000] {
            let (code, entries) = sample(count);
            let words: Vec<(u64, CodeWord)> =
                entries.iter().map(|&(key, symbol)| (key, code.word(symbol).unwrap())).collect();
            let retrieval = Retrieval::build(&words);
            for (key, symbol) in entries {
                assert_eq!(retrieval.symbol(key, &code), symbol, "key {key} of {count}");
            }
            let (seed, starts, bits) = retrieval.parts();
            assert_eq!(Retrieval::of_parts(seed, starts, bits).as_ref(), Some(&retrieval));
        }
    }

    #[test]
    fn it_takes_little_more_than_the_words() {
        let (code, entries) = sample(50_000);
        let words: Vec<(u64, CodeWord)> =
            entries.iter().map(|&(key, symbol)| (key, code.word(symbol).unwrap())).collect();
        let bits: u32 = words.iter().map(|(_, word)| word.length).sum();
        let retrieval = Retrieval::build(&words);
        assert!(retrieval.parts().2.len() * 8 < bits as usize * 105 / 100 + 200);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        assert_eq!(Retrieval::of_parts(0, 0, &[]), None);
        assert_eq!(Retrieval::of_parts(0, 100, &[0; 10]), None);
    }
}
