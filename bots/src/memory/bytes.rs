//! The memory as few bytes: what the arena keeps after every game.
//!
//! ```text
//! "C4PM" 1                      what it is, version of the form
//! vocabulary width height connect
//! count                         u32
//! count x pattern, record       in the order of the patterns, 24 bytes each
//! checksum                      u64, FNV-1a of all before it
//! ```
//!
//! Numbers are little-endian. The order is that of the memory itself, so that equal memories are equal bytes.

use fourfold_engine::{Cell, Variant};

use super::pattern::{Heading, Owner, Pattern, PatternStones, Vocabulary};
use super::record::PatternRecord;
use super::store::PatternMemory;

const MAGIC: &[u8; 5] = b"C4PM\x01";

/// In place of a cell that is not there.
const NO_CELL: [u8; 2] = [0, 0];

pub(super) fn write(memory: &PatternMemory) -> Vec<u8> {
    let variant = memory.variant;
    let mut bytes = MAGIC.to_vec();
    bytes.extend([number(memory.vocabulary), variant.width(), variant.height(), variant.connect()]);
    // There are some hundred patterns on the largest board.
    let count = u32::try_from(memory.records.len()).unwrap_or(u32::MAX);
    bytes.extend(count.to_le_bytes());
    for (pattern, record) in &memory.records {
        write_pattern(&mut bytes, *pattern);
        write_record(&mut bytes, record);
    }
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// The vocabulary in the header. One that is changed gets a new number, so that a learner of the arena that was stored
/// under the old one is made again from its lessons.
fn number(vocabulary: Vocabulary) -> u8 {
    match vocabulary {
        Vocabulary::Runs => 0,
        // 1: windows of two and three stones only.
        Vocabulary::Windows => 2,
    }
}

fn write_pattern(bytes: &mut Vec<u8>, pattern: Pattern) {
    let Pattern { start, heading, stones, owner } = pattern;
    let heading = Heading::ALL.iter().position(|other| *other == heading).unwrap_or_default();
    bytes.extend(start.numbers());
    bytes.push(u8::try_from(heading).unwrap_or_default());
    bytes.push(stones.places().fold(0, |bits, place| bits | 1 << place));
    bytes.push(u8::from(owner == Owner::Enemy));
}

fn write_record(bytes: &mut Vec<u8>, record: &PatternRecord) {
    let PatternRecord { seen, won, lost, is_ending, weighting, response } = record;
    for count in [seen, won, lost] {
        bytes.extend(count.to_le_bytes());
    }
    bytes.push(u8::from(*is_ending));
    bytes.extend(weighting.to_le_bytes());
    bytes.extend(response.map_or(NO_CELL, Cell::numbers));
}

/// Reads what [`write()`] wrote for the same kind of memory. `Err` says what is wrong.
pub(super) fn read(bytes: &[u8], vocabulary: Vocabulary, variant: Variant) -> Result<PatternMemory, String> {
    let (content, sum) = bytes.split_last_chunk::<8>().ok_or("it is too short")?;
    let mut reader = ByteReader { rest: content };
    if reader.take::<5>()? != *MAGIC {
        return Err("it is no pattern memory of this version".to_owned());
    }
    if checksum(content) != u64::from_le_bytes(*sum) {
        return Err("its checksum is wrong".to_owned());
    }
    let mut memory = PatternMemory::new(vocabulary, variant);
    let header = write(&memory);
    if header.get(MAGIC.len()..MAGIC.len() + 4) != Some(&reader.take::<4>()?) {
        return Err("it is of another vocabulary or board".to_owned());
    }
    let count = u32::from_le_bytes(reader.take()?);
    for _ in 0..count {
        let pattern = reader.pattern(vocabulary, variant)?;
        let record = reader.record(variant)?;
        if memory.records.last_key_value().is_some_and(|(last, _)| *last >= pattern) {
            return Err(format!("the pattern `{pattern}` is out of order"));
        }
        memory.records.insert(pattern, record);
    }
    if reader.rest.is_empty() { Ok(memory) } else { Err("there is more after its end".to_owned()) }
}

struct ByteReader<'a> {
    rest: &'a [u8],
}

impl ByteReader<'_> {
    fn take<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], String> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or("it ends too early")?;
        self.rest = rest;
        Ok(*taken)
    }

    fn cell(&mut self, variant: Variant) -> Result<Option<Cell>, String> {
        match self.take()? {
            NO_CELL => Ok(None),
            numbers => {
                let cell = Cell::from_numbers(numbers).filter(|cell| cell.is_on(variant));
                cell.map(Some).ok_or_else(|| format!("{numbers:?} is no cell"))
            }
        }
    }

    fn pattern(&mut self, vocabulary: Vocabulary, variant: Variant) -> Result<Pattern, String> {
        let start = self.cell(variant)?.ok_or("a pattern has no start")?;
        let [heading, bits, owner] = self.take()?;
        let heading = *Heading::ALL.get(usize::from(heading)).ok_or("a pattern has no heading")?;
        let places = (0..8).filter(|place: &i32| bits >> *place & 1 == 1);
        let stones = PatternStones::on(places).filter(|stones| vocabulary.has(heading, *stones));
        let stones = stones.ok_or_else(|| format!("{bits:#b} is no pattern of this memory"))?;
        let owner = match owner {
            0 => Owner::Own,
            1 => Owner::Enemy,
            other => return Err(format!("{other} owns nothing")),
        };
        Ok(Pattern { start, heading, stones, owner })
    }

    fn record(&mut self, variant: Variant) -> Result<PatternRecord, String> {
        let seen = u32::from_le_bytes(self.take()?);
        let won = u32::from_le_bytes(self.take()?);
        let lost = u32::from_le_bytes(self.take()?);
        let is_ending = match self.take()? {
            [0] => false,
            [1] => true,
            [other] => return Err(format!("{other} is neither an ending nor none")),
        };
        let weighting = i32::from_le_bytes(self.take()?);
        let response = self.cell(variant)?;
        if won.checked_add(lost).is_none_or(|decided| decided > seen) {
            return Err(format!("seen {seen} times, but won {won} and lost {lost}"));
        }
        Ok(PatternRecord { seen, won, lost, is_ending, weighting, response })
    }
}

/// FNV-1a: finds torn and mixed-up files; nobody is kept from forging one.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_the_older_vocabulary_are_refused() {
        let mut old = write(&PatternMemory::new(Vocabulary::Windows, Variant::STANDARD));
        old.truncate(old.len() - size_of::<u64>());
        old[MAGIC.len()] = 1;
        old.extend(checksum(&old).to_le_bytes());
        let refused = read(&old, Vocabulary::Windows, Variant::STANDARD).map(|_| ()).unwrap_err();
        assert_eq!(refused, "it is of another vocabulary or board");
    }
}
