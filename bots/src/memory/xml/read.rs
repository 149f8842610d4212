//! From text to memory.

use std::collections::BTreeMap;

use fourfold_engine::{Cell, Column, Variant};

use super::tree::{self, Element};
use super::{Piece, XmlError, heading_name, position, response_piece};
use crate::memory::pattern::{Heading, Owner, Pattern, PatternStones, Vocabulary};
use crate::memory::record::PatternRecord;
use crate::memory::store::PatternMemory;

/// Reads a memory for this board. Unknown elements, attributes and comments are passed over.
///
/// # Errors
///
/// Fails with the line and the reason if the text is no XML, or an element is missing or makes no sense.
pub fn read_xml(text: &str, vocabulary: Vocabulary, variant: Variant) -> Result<PatternMemory, XmlError> {
    let root = tree::parse(text)?;
    if root.name != "ConnectFourPattern" {
        return Err(root.error(format!("the root is `{}`, not ConnectFourPattern", root.name)));
    }
    let mut records = BTreeMap::new();
    for set in root.children("BasicGamePatternSet") {
        let reader = MemoryReader { vocabulary, variant };
        let (pattern, record) = reader.pattern_set(set)?;
        if records.insert(pattern, record).is_some() {
            return Err(set.error(format!("the pattern `{pattern}` is there twice")));
        }
    }
    Ok(PatternMemory { vocabulary, variant, records })
}

struct MemoryReader {
    vocabulary: Vocabulary,
    variant: Variant,
}

impl MemoryReader {
    fn pattern_set(&self, set: &Element) -> Result<(Pattern, PatternRecord), XmlError> {
        let pattern = self.pattern(set)?;
        let count = |name| set.parse_child(name, "a whole number", |text| text.parse::<u32>().ok());
        let (seen, won, lost) = (
            count("NumberOfTimesSeen")?,
            count("NumberOfTimesSeenInWinningGame")?,
            count("NumberOfTimesSeenInLosingGame")?,
        );
        if u64::from(won) + u64::from(lost) > u64::from(seen) {
            return Err(set.error(format!("seen {seen} times, but won {won} and lost {lost}")));
        }
        let is_ending = set.parse_child("EndingPattern", "True or False", parse_boolean)?;
        let weighting = set.parse_child("Weighting", "a whole number", |text| text.parse().ok())?;
        let response = self.response(set.child("Response")?, pattern)?;
        Ok((pattern, PatternRecord { seen, won, lost, is_ending, weighting, response }))
    }

    /// The pattern that the pieces of a set make.
    fn pattern(&self, set: &Element) -> Result<Pattern, XmlError> {
        let pieces: Vec<&Element> = set.children("BasicGamePiece").collect();
        let (&[first], [] | [_] | [_, _]) =
            (pieces.first_chunk().ok_or_else(|| no_piece(set))?, &pieces[1..])
        else {
            return Err(set.error(format!("{} pieces, more than three", pieces.len())));
        };
        let pointer = pieces.get(1).unwrap_or(&first);
        let heading = pointer.parse_child("PiecePosition", "a direction such as RIGHT", parse_heading)?;
        let owner = owner(first)?;
        let levels: Vec<i32> = pieces.iter().map(|piece| level(piece)).collect::<Result<_, _>>()?;
        let stones = PatternStones::on(levels.iter().copied())
            .filter(|stones| levels.is_sorted() && stones.places().count() == levels.len())
            .filter(|&stones| self.vocabulary.has(heading, stones))
            .ok_or_else(|| first.error(format!("no pattern of this memory has the levels {levels:?}")))?;
        let start = heading.cell(self.cell(first)?, -levels[0], self.variant);
        let start = start.ok_or_else(|| first.error("the pattern leaves the board".to_owned()))?;
        let pattern = Pattern { start, heading, stones, owner };
        for (index, (piece, &level)) in pieces.iter().zip(&levels).enumerate() {
            let expected = Expected {
                is_start: index == 0,
                cell: pattern.cell(level, self.variant),
                owner,
                position: position(index, pattern),
            };
            self.check(piece, &expected)?;
        }
        Ok(pattern)
    }

    fn response(&self, response: &Element, pattern: Pattern) -> Result<Option<Cell>, XmlError> {
        let is_present = response.parse_child("ResponsePresent", "0 or 1", |text| match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        })?;
        if !is_present {
            return Ok(None);
        }
        let piece = response.child("BasicGamePiece")?;
        let cell = self.cell(piece)?;
        let answers = self.vocabulary.answers(pattern.stones);
        let expected = response_piece(pattern, cell, self.variant)
            .filter(|_| answers.iter().any(|&place| pattern.cell(place, self.variant) == Some(cell)))
            .ok_or_else(|| piece.error("the square answers nothing".to_owned()))?;
        if level(piece)? != expected.level {
            return Err(piece.error(format!("the level of this square is {}", expected.level)));
        }
        let Piece { is_start, owner, position, .. } = expected;
        self.check(piece, &Expected { is_start, cell: Some(cell), owner, position })?;
        Ok(Some(cell))
    }

    fn cell(&self, piece: &Element) -> Result<Cell, XmlError> {
        let square = |text: &str| parse_square(text, self.variant);
        piece.parse_child("Square", "a square of the board such as CF", square)
    }

    /// Checks that a piece says what the pattern makes of it.
    fn check(&self, piece: &Element, expected: &Expected) -> Result<(), XmlError> {
        let is_start = piece.parse_child("IsStartForPattern", "True or False", parse_boolean)?;
        let position = piece.child("PiecePosition")?;
        let is_consistent = is_start == expected.is_start
            && position.text == expected.position
            && owner(piece)? == expected.owner
            && Some(self.cell(piece)?) == expected.cell;
        if is_consistent { Ok(()) } else { Err(piece.error("the piece does not fit the pattern".to_owned())) }
    }
}

/// What a piece must say.
struct Expected {
    is_start: bool,
    cell: Option<Cell>,
    owner: Owner,
    position: &'static str,
}

fn no_piece(set: &Element) -> XmlError {
    set.error("there is no piece".to_owned())
}

fn owner(piece: &Element) -> Result<Owner, XmlError> {
    let is_enemy = piece.parse_child("IsEnemy", "True or False", parse_boolean)?;
    Ok(if is_enemy { Owner::Enemy } else { Owner::Own })
}

fn level(piece: &Element) -> Result<i32, XmlError> {
    piece.parse_child("Level", "a whole number from 0 to 3", |text| {
        text.parse().ok().filter(|level| (0..=3).contains(level))
    })
}

fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

fn parse_heading(text: &str) -> Option<Heading> {
    Heading::ALL.into_iter().find(|&heading| heading_name(heading) == text)
}

fn parse_square(text: &str, variant: Variant) -> Option<Cell> {
    let indexes: Vec<usize> = text
        .bytes()
        .map(|letter| letter.is_ascii_uppercase().then(|| usize::from(letter - b'A')))
        .collect::<Option<_>>()?;
    let &[column, row] = &indexes[..] else { return None };
    let row = (usize::from(variant.height()) - 1).checked_sub(row)?;
    Cell::new(Column::from_index(column)?, row).filter(|cell| cell.is_on(variant))
}
