//! From memory to text.

use std::fmt::{Display, Write};

use fourfold_engine::{Cell, Variant};

use super::{Piece, position, response_piece};
use crate::memory::pattern::{Owner, Pattern};
use crate::memory::record::PatternRecord;
use crate::memory::store::PatternMemory;

/// Prints a memory. What [`super::read_xml`] makes of it is the same memory, and prints the same.
pub fn write_xml(memory: &PatternMemory) -> String {
    let mut writer = MemoryWriter { text: String::new(), depth: 0, pieces: 0, variant: memory.variant };
    writer.text.push_str("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    writer.element("ConnectFourPattern", |writer| {
        for (number, (pattern, record)) in (1..).zip(memory.iter()) {
            writer.element("BasicGamePatternSet", |writer| writer.pattern(number, *pattern, record));
        }
    });
    writer.text
}

struct MemoryWriter {
    text: String,
    depth: usize,
    /// Pieces written so far, which are numbered.
    pieces: u64,
    variant: Variant,
}

impl MemoryWriter {
    fn element(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.line(&format!("<{name}>"));
        self.depth += 1;
        content(self);
        self.depth -= 1;
        self.line(&format!("</{name}>"));
    }

    /// An element with a value, which needs no escaping: all of ours are numbers and plain words.
    fn value(&mut self, name: &str, value: impl Display) {
        self.line(&format!("<{name}>{value}</{name}>"));
    }

    fn line(&mut self, content: &str) {
        let indent = 2 * self.depth;
        writeln!(self.text, "{:indent$}{content}", "").expect("a string takes any text");
    }

    fn pattern(&mut self, number: u64, pattern: Pattern, record: &PatternRecord) {
        self.value("PatternID", number);
        for (index, place) in pattern.stones.places().enumerate() {
            let cell = pattern.cell(place, self.variant).expect("a pattern lies on its board");
            let position = position(index, pattern);
            self.piece(&Piece { is_start: index == 0, cell, owner: pattern.owner, position, level: place });
        }
        self.value("NumberOfTimesSeen", record.seen);
        self.value("NumberOfTimesSeenInWinningGame", record.won);
        self.value("NumberOfTimesSeenInLosingGame", record.lost);
        self.value("EndingPattern", boolean(record.is_ending));
        self.value("Weighting", record.weighting);
        self.element("Response", |writer| {
            writer.value("ResponsePresent", u8::from(record.response.is_some()));
            if let Some(piece) =
                record.response.and_then(|cell| response_piece(pattern, cell, writer.variant))
            {
                writer.piece(&piece);
            }
        });
    }

    fn piece(&mut self, piece: &Piece) {
        self.pieces += 1;
        let (number, square) = (self.pieces, square(piece.cell, self.variant));
        self.element("BasicGamePiece", |writer| {
            writer.value("PieceID", number);
            writer.value("IsStartForPattern", boolean(piece.is_start));
            writer.value("Square", square);
            writer.value("IsEnemy", boolean(piece.owner == Owner::Enemy));
            writer.value("PiecePosition", piece.position);
            writer.value("Level", piece.level);
        });
    }
}

fn boolean(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// Column letter from the left, row letter from the top.
fn square(cell: Cell, variant: Variant) -> String {
    let letter = |index: usize| char::from(b'A' + u8::try_from(index).expect("boards are small"));
    let row = usize::from(variant.height()) - 1 - cell.row_index();
    [letter(cell.column().index()), letter(row)].into_iter().collect()
}
