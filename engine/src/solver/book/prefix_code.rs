//! A prefix code: frequent symbols get few bits.
//!
//! The code is canonical, so the lengths of its words say everything: words of equal length count up in the order of
//! their symbols, and shorter words come before longer ones (Huffman 1952; Schwartz and Kallick 1964).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The longest word of a code, in bits: what a nibble in the book's header can say.
pub(super) const LENGTH_MAX: u32 = 15;

/// A code word: its bits, the first one read being the most significant, and their number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CodeWord {
    pub(super) bits: u16,
    pub(super) length: u32,
}

/// Words for the symbols 0 to n - 1, some of which may have none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PrefixCode {
    /// Bits of each symbol's word, 0 for a symbol without one.
    lengths: Vec<u8>,
    /// For each length the number of words.
    counts: [u16; LENGTH_MAX as usize + 1],
    /// The symbols that have words, shorter words first, then by symbol.
    symbols: Vec<u8>,
}

impl PrefixCode {
    /// The best code for symbols that come up so often. Needs at least two that do, at most 256 in all, and no
    /// frequency so small that its word would get longer than [`LENGTH_MAX`]: rare ones are rounded up until it fits.
    pub(super) fn of_frequencies(frequencies: &[u64]) -> Option<Self> {
        // Doubling the floor of all frequencies flattens the tree by at least a level each time.
        (0..u32::BITS).find_map(|doubled| {
            let raise = |&count: &u64| if count == 0 { 0 } else { count.max(1 << doubled) };
            let lengths = word_lengths(&frequencies.iter().map(raise).collect::<Vec<_>>());
            let fits = lengths.iter().all(|&length| length <= LENGTH_MAX);
            let lengths =
                lengths.iter().map(|&length| u8::try_from(length).ok()).collect::<Option<Vec<_>>>()?;
            if fits { Self::of_lengths(&lengths) } else { None }
        })
    }

    /// The code with these lengths of words; `None` if no complete prefix code has them.
    pub(super) fn of_lengths(lengths: &[u8]) -> Option<Self> {
        let mut counts = [0; LENGTH_MAX as usize + 1];
        for &length in lengths.iter().filter(|&&length| length > 0) {
            *counts.get_mut(usize::from(length))? += 1;
        }
        // Kraft's equality: the words fill the code space, so any run of bits begins with one.
        let filled: u32 =
            (1..=LENGTH_MAX).map(|length| u32::from(counts[length as usize]) << (LENGTH_MAX - length)).sum();
        if filled != 1 << LENGTH_MAX || lengths.len() > 256 {
            return None;
        }
        let mut symbols: Vec<u8> =
            (0..=u8::MAX).take(lengths.len()).filter(|&symbol| lengths[usize::from(symbol)] > 0).collect();
        symbols.sort_by_key(|&symbol| lengths[usize::from(symbol)]); // stable: equal lengths stay in order
        Some(Self { lengths: lengths.to_vec(), counts, symbols })
    }

    pub(super) fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// The word of a symbol; `None` if it has none.
    pub(super) fn word(&self, symbol: u8) -> Option<CodeWord> {
        let mut bits = 0;
        let mut places = self.symbols.iter();
        for length in 1..=LENGTH_MAX {
            bits <<= 1;
            for &other in places.by_ref().take(usize::from(self.counts[length as usize])) {
                if other == symbol {
                    return Some(CodeWord { bits, length });
                }
                bits += 1;
            }
        }
        None
    }

    /// Reads a word bit by bit, the first bit from `bit(0)`, and returns its symbol.
    #[inline]
    pub(super) fn read(&self, bit: impl Fn(u32) -> bool) -> u8 {
        let (mut word, mut first_of_length, mut place) = (0_u16, 0_u16, 0_u16);
        for length in 1..=LENGTH_MAX {
            word = word << 1 | u16::from(bit(length - 1));
            first_of_length <<= 1;
            let count = self.counts[length as usize];
            if word < first_of_length + count {
                return self.symbols[usize::from(place + word - first_of_length)];
            }
            first_of_length += count;
            place += count;
        }
        unreachable!("the words fill the code space")
    }
}

/// Lengths of the words of a Huffman code; 0 for symbols that never come up.
fn word_lengths(frequencies: &[u64]) -> Vec<u32> {
    // Nodes of the tree: the symbols, then each joint of two. A node's parent comes after it.
    let mut parents: Vec<usize> = vec![0; frequencies.len()];
    let used = frequencies.iter().enumerate().filter(|(_, count)| **count > 0);
    let mut heap: BinaryHeap<Reverse<(u64, usize)>> =
        used.map(|(symbol, &count)| Reverse((count, symbol))).collect();
    while let (Some(Reverse((one, left))), Some(Reverse((other, right)))) = (heap.pop(), heap.pop()) {
        let joint = parents.len();
        (parents[left], parents[right]) = (joint, joint);
        parents.push(0);
        if heap.is_empty() {
            break;
        }
        heap.push(Reverse((one + other, joint)));
    }
    let root = parents.len().saturating_sub(1);
    let mut depths = vec![0; parents.len()];
    for node in (0..root).rev().filter(|&node| parents[node] > 0) {
        depths[node] = depths[parents[node]] + 1;
    }
    depths.truncate(frequencies.len());
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_reads_back(code: &PrefixCode, symbols: impl Iterator<Item = u8>) {
        for symbol in symbols {
            let word = code.word(symbol).unwrap();
            let bit = |index| index < word.length && word.bits >> (word.length - 1 - index) & 1 == 1;
            assert_eq!(code.read(bit), symbol);
        }
    }

    #[test]
    fn frequent_symbols_have_short_words() {
        let code = PrefixCode::of_frequencies(&[50, 0, 25, 13, 12]).unwrap();
        assert_eq!(code.lengths(), [1, 0, 2, 3, 3]);
        assert_eq!(code.word(1), None);
        assert_eq!(code.word(4), Some(CodeWord { bits: 0b111, length: 3 }));
        check_reads_back(&code, [0, 2, 3, 4].into_iter());
    }

    #[test]
    fn words_of_very_rare_symbols_are_cut_to_the_longest_allowed() {
        let fibonacci: Vec<u64> = (0..40)
            .scan((1, 1), |(a, b), _| {
                (*a, *b) = (*b, *a + *b);
                Some(*a)
            })
            .collect();
        let code = PrefixCode::of_frequencies(&fibonacci).unwrap();
        assert_eq!(code.lengths().iter().max(), Some(&15));
        check_reads_back(&code, 0..40);
    }

    #[test]
    fn lengths_that_make_no_code_are_refused() {
        for lengths in [&[][..], &[1], &[1, 1, 1], &[1, 2], &[16, 1], &[0, 0]] {
            assert_eq!(PrefixCode::of_lengths(lengths), None, "{lengths:?}");
        }
        assert!(PrefixCode::of_frequencies(&[0, 7]).is_none(), "one symbol needs no code");
    }
}
