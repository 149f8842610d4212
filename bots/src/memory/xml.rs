//! The memory as the article's XML.
//!
//! ```xml
//! <ConnectFourPattern>
//!   <BasicGamePatternSet>
//!     <PatternID>1</PatternID>
//!     <BasicGamePiece> .. </BasicGamePiece>       two or three
//!     <NumberOfTimesSeen>80</NumberOfTimesSeen>
//!     ..
//! ```
//!
//! A square is two letters: the column from the left, then the row from the **top**, so that on six rows `CF`
//! is the bottom cell of the third column. Windows use the same form: the level of a piece is its place in the
//! window, so that of the start piece may be above 0.

mod tree;

use std::collections::BTreeMap;
use std::fmt::Write;

use fourfold_engine::{Cell, Column, Variant};

use self::tree::Element;
use super::pattern::{Heading, Owner, Pattern, Stones, Vocabulary};
use super::store::{PatternMemory, Record};

/// Why a text is no memory.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct XmlError {
    /// Counted from 1.
    pub line: usize,
    pub reason: String,
}

/// Prints a memory. What [`read_xml`] makes of it is the same memory, and prints the same.
#[must_use]
pub fn write_xml(memory: &PatternMemory) -> String {
    let mut writer = Writer { text: String::new(), depth: 0, pieces: 0, variant: memory.variant };
    writer.text.push_str("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    writer.element("ConnectFourPattern", |writer| {
        for (number, (pattern, record)) in (1..).zip(memory.iter()) {
            writer.element("BasicGamePatternSet", |writer| writer.pattern(number, *pattern, record));
        }
    });
    writer.text
}

struct Writer {
    text: String,
    depth: usize,
    /// Pieces written so far, which are numbered.
    pieces: u64,
    variant: Variant,
}

impl Writer {
    fn element(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.line(&format!("<{name}>"));
        self.depth += 1;
        content(self);
        self.depth -= 1;
        self.line(&format!("</{name}>"));
    }

    /// An element with a value, which needs no escaping: all of ours are numbers and plain words.
    fn value(&mut self, name: &str, value: impl std::fmt::Display) {
        self.line(&format!("<{name}>{value}</{name}>"));
    }

    fn line(&mut self, content: &str) {
        let indent = 2 * self.depth;
        writeln!(self.text, "{:indent$}{content}", "").expect("a string takes any text");
    }

    fn pattern(&mut self, number: u64, pattern: Pattern, record: &Record) {
        self.value("PatternID", number);
        for (index, place) in pattern.stones.places().enumerate() {
            let cell = pattern.cell(place, self.variant).expect("a pattern lies on its board");
            let position = if index == 0 { START } else { heading_name(pattern.heading) };
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

/// A `BasicGamePiece`.
struct Piece {
    is_start: bool,
    cell: Cell,
    owner: Owner,
    position: &'static str,
    level: i32,
}

/// The position of the first piece.
const START: &str = "START";

fn heading_name(heading: Heading) -> &'static str {
    match heading {
        Heading::Above => "ABOVE",
        Heading::Right => "RIGHT",
        Heading::Left => "LEFT",
        Heading::AboveRight => "ABOVERIGHT",
        Heading::AboveLeft => "ABOVELEFT",
        Heading::BelowRight => "BELOWRIGHT",
        Heading::BelowLeft => "BELOWLEFT",
        Heading::Below => "BELOW",
    }
}

fn boolean(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// The answer as a piece: how far from the start piece along the pattern's axis, and which way.
fn response_piece(pattern: Pattern, cell: Cell, variant: Variant) -> Option<Piece> {
    let place = (-1..4).find(|&place| pattern.cell(place, variant) == Some(cell))?;
    let distance = place - pattern.stones.places().next()?;
    let heading = if distance < 0 { pattern.heading.opposite() } else { pattern.heading };
    let position = heading_name(heading);
    Some(Piece { is_start: false, cell, owner: Owner::Own, position, level: distance.abs() })
}

/// Column letter from the left, row letter from the top.
fn square(cell: Cell, variant: Variant) -> String {
    let letter = |index: usize| char::from(b'A' + u8::try_from(index).expect("boards are small"));
    let row = usize::from(variant.height()) - 1 - cell.row_index();
    [letter(cell.column().index()), letter(row)].into_iter().collect()
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
        let reader = Reader { vocabulary, variant };
        let (pattern, record) = reader.pattern_set(set)?;
        if records.insert(pattern, record).is_some() {
            return Err(set.error(format!("the pattern `{pattern}` is there twice")));
        }
    }
    Ok(PatternMemory { vocabulary, variant, records })
}

struct Reader {
    vocabulary: Vocabulary,
    variant: Variant,
}

impl Reader {
    fn pattern_set(&self, set: &Element) -> Result<(Pattern, Record), XmlError> {
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
        Ok((pattern, Record { seen, won, lost, is_ending, weighting, response }))
    }

    /// The pattern that the pieces of a set make.
    fn pattern(&self, set: &Element) -> Result<Pattern, XmlError> {
        let pieces: Vec<&Element> = set.children("BasicGamePiece").collect();
        let (&[first, second], [] | [_]) = (pieces.first_chunk().ok_or_else(|| too_few(set))?, &pieces[2..])
        else {
            return Err(set.error(format!("{} pieces, not two or three", pieces.len())));
        };
        let heading = second.parse_child("PiecePosition", "a direction such as RIGHT", parse_heading)?;
        let owner = owner(first)?;
        let levels: Vec<i32> = pieces.iter().map(|piece| level(piece)).collect::<Result<_, _>>()?;
        let stones = Stones::on(levels.iter().copied())
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
                position: if index == 0 { START } else { heading_name(heading) },
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

fn too_few(set: &Element) -> XmlError {
    set.error("less than two pieces".to_owned())
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

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Outcome, Side, rng};
    use rand::RngExt;

    use super::*;
    use crate::bot::{GameRecord, GameResult};
    use crate::memory::Snapshots;

    /// A pattern as the article shows it, with things that we do not know.
    const SAMPLE: &str = "<?xml version=\"1.0\"?>
<!-- from elsewhere -->
<ConnectFourPattern version='1'>
  <Comment>anything</Comment>
  <BasicGamePatternSet>
    <PatternID>17</PatternID>
    <BasicGamePiece>
      <PieceID>3</PieceID>
      <IsStartForPattern>True</IsStartForPattern>
      <Square> CF </Square>
      <IsEnemy>False</IsEnemy>
      <PiecePosition>START</PiecePosition>
      <Level>0</Level>
      <Colour/>
    </BasicGamePiece>
    <BasicGamePiece>
      <PieceID>4</PieceID>
      <IsStartForPattern>False</IsStartForPattern>
      <Square>DF</Square>
      <IsEnemy>False</IsEnemy>
      <PiecePosition>RIGHT</PiecePosition>
      <Level>1</Level>
    </BasicGamePiece>
    <NumberOfTimesSeen>80</NumberOfTimesSeen>
    <NumberOfTimesSeenInWinningGame>38</NumberOfTimesSeenInWinningGame>
    <NumberOfTimesSeenInLosingGame>42</NumberOfTimesSeenInLosingGame>
    <EndingPattern>False</EndingPattern>
    <Weighting>103</Weighting>
    <Response>
      <ResponsePresent>0</ResponsePresent>
    </Response>
  </BasicGamePatternSet>
</ConnectFourPattern>";

    fn read(text: &str) -> Result<PatternMemory, XmlError> {
        read_xml(text, Vocabulary::Runs, Variant::STANDARD)
    }

    #[test]
    fn the_sample_is_a_pair_on_the_floor() {
        let memory = read(SAMPLE).unwrap();
        let (pattern, record) = memory.iter().next().unwrap();
        assert_eq!((memory.iter().len(), pattern.to_string().as_str()), (1, "own c1 d1 . ."));
        let expected =
            Record { seen: 80, won: 38, lost: 42, is_ending: false, weighting: 103, response: None };
        assert_eq!(*record, expected);
    }

    #[track_caller]
    fn check_refused(from: &str, to: &str, line: usize, reason: &str) {
        let text = SAMPLE.replacen(from, to, 1);
        assert_ne!(text, SAMPLE, "{from}");
        let error = read(&text).unwrap_err();
        assert_eq!((error.line, error.reason.as_str()), (line, reason));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_line_and_reason() {
        check_refused("> CF <", ">CG<", 10, "Square is `CG`, not a square of the board such as CF");
        check_refused(">DF<", ">EF<", 16, "the piece does not fit the pattern");
        check_refused(">80<", ">79<", 5, "seen 79 times, but won 38 and lost 42");
        check_refused(">80<", ">-1<", 24, "NumberOfTimesSeen is `-1`, not a whole number");
        check_refused(">RIGHT<", ">BELOW<", 7, "no pattern of this memory has the levels [0, 1]");
        check_refused(">RIGHT<", ">right<", 21, "PiecePosition is `right`, not a direction such as RIGHT");
        check_refused("<Level>1<", "<Level>2<", 7, "no pattern of this memory has the levels [0, 2]");
        check_refused("    <Weighting>103</Weighting>\n", "", 5, "BasicGamePatternSet has no Weighting");
        check_refused(
            ">False</EndingPattern>",
            ">no</EndingPattern>",
            27,
            "EndingPattern is `no`, not True or False",
        );
        check_refused(">0</Resp", ">1</Resp", 29, "Response has no BasicGamePiece");
        let root = read(&SAMPLE.replace("ConnectFourPattern", "Other")).unwrap_err();
        assert_eq!(root.to_string(), "line 3: the root is `Other`, not ConnectFourPattern");
        let start = SAMPLE.find("<BasicGamePatternSet>").unwrap();
        let end = SAMPLE.find("</ConnectFourPattern>").unwrap();
        let twice = [&SAMPLE[..end], &SAMPLE[start..]].concat();
        assert_eq!(read(&twice).unwrap_err().reason, "the pattern `own c1 d1 . .` is there twice");
    }

    #[test]
    fn what_is_no_xml_is_refused() {
        let line = |text: &str| read(text).unwrap_err().line;
        assert_eq!(read("").unwrap_err().to_string(), "line 1: there is no element");
        assert_eq!(line(&SAMPLE.replacen("</Square>", "</Squre>", 1)), 10);
        assert_eq!(line(&SAMPLE.replace("</ConnectFourPattern>", "")), 3);
        assert_eq!(line(&"<a>".repeat(100_000)), 1);
        assert!(read("{\"seen\": 80}").is_err());
        assert!(read(&[SAMPLE, "<more/>"].concat()).is_err());
        // Cut anywhere before the end, a file is broken.
        let end = SAMPLE.len() - 1;
        assert!((0..end).all(|length| read(&SAMPLE[..length]).is_err()));
    }

    /// A memory of random games.
    fn memory(vocabulary: Vocabulary, variant: Variant) -> PatternMemory {
        let mut rng = rng::seeded(61);
        let mut memory = PatternMemory::new(vocabulary, variant);
        for number in 0..200 {
            let mut game = Game::new(variant);
            while game.outcome().is_none() {
                let legal: Vec<Column> = game.position().legal_columns().collect();
                game.play(legal[rng.random_range(0..legal.len())]).unwrap();
            }
            let side = Side::BOTH[number % 2];
            let result = match game.outcome().and_then(Outcome::winner) {
                None => GameResult::Draw,
                Some(winner) if winner == side => GameResult::Win,
                Some(_) => GameResult::Loss,
            };
            memory.learn(&GameRecord { game, side, result }, Snapshots::All);
        }
        memory
    }

    #[test]
    fn a_memory_survives_the_file_byte_by_byte() {
        for variant in ["7x6", "9x6", "4x15"] {
            let variant: Variant = variant.parse().unwrap();
            for vocabulary in [Vocabulary::Runs, Vocabulary::Windows] {
                let memory = memory(vocabulary, variant);
                assert!(memory.iter().any(|(_, record)| record.response.is_some()));
                let text = write_xml(&memory);
                let again = read_xml(&text, vocabulary, variant).unwrap();
                assert_eq!(again, memory);
                assert_eq!(write_xml(&again), text);
            }
        }
    }

    #[test]
    fn the_form_is_the_articles() {
        let written = write_xml(&read(SAMPLE).unwrap());
        let names = |text: &str| -> Vec<String> {
            text.split('<').filter_map(|part| part.split_once('>')).map(|(name, _)| name.to_owned()).collect()
        };
        let known: Vec<String> = names(SAMPLE)
            .into_iter()
            .filter(|name| {
                !["Comment", "/Comment", "Colour/"].contains(&name.as_str()) && !name.starts_with('!')
            })
            .map(|name| name.split(' ').next().unwrap_or_default().to_owned())
            .collect();
        let written: Vec<String> = names(&written)
            .into_iter()
            .map(|name| name.split(' ').next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(written, known);
    }

    #[test]
    fn an_answer_is_a_piece_with_its_distance() {
        let mut memory = read(SAMPLE).unwrap();
        for (answer, lines) in [
            ("e1", ["<Square>EF</Square>", "<PiecePosition>RIGHT</PiecePosition>", "<Level>2</Level>"]),
            ("b1", ["<Square>BF</Square>", "<PiecePosition>LEFT</PiecePosition>", "<Level>1</Level>"]),
        ] {
            for record in memory.records.values_mut() {
                record.response = answer.parse().ok();
            }
            let text = write_xml(&memory);
            let response = &text[text.find("<ResponsePresent>1<").unwrap()..];
            assert!(lines.iter().all(|line| response.contains(line)), "{response}");
            assert_eq!(read(&text).unwrap(), memory);
            let wrong = text.replace(lines[2], "<Level>3</Level>");
            assert!(read(&wrong).is_err());
        }
    }

    #[test]
    fn windows_keep_their_gaps() {
        let memory = memory(Vocabulary::Windows, Variant::STANDARD);
        let is_gapped = |(pattern, _): (&Pattern, &Record)| pattern.to_string().contains(". ");
        assert!(memory.iter().any(is_gapped));
        let text = write_xml(&memory);
        assert!(read(&text).is_err(), "a memory of runs knows no gaps");
    }
}
