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
//! window, so that of the start piece may be above 0, and where there is but one piece it tells the direction itself.

mod read;
mod tree;
mod write;

use fourfold_engine::{Cell, Variant};

pub use self::read::read_xml;
pub use self::write::write_xml;
use super::pattern::{Heading, Owner, Pattern};

/// Why a text is no memory.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct XmlError {
    pub line: usize,
    pub reason: String,
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

/// What the piece with this number says of its position: the first is the start, unless there is no other to tell the
/// direction.
fn position(index: usize, pattern: Pattern) -> &'static str {
    if index == 0 && pattern.stones.count() > 1 { START } else { heading_name(pattern.heading) }
}

/// The answer as a piece: how far from the start piece along the pattern's axis, and which way.
fn response_piece(pattern: Pattern, cell: Cell, variant: Variant) -> Option<Piece> {
    let place = (-1..4).find(|&place| pattern.cell(place, variant) == Some(cell))?;
    let distance = place - pattern.stones.places().next()?;
    let heading = if distance < 0 { pattern.heading.opposite() } else { pattern.heading };
    let position = heading_name(heading);
    Some(Piece { is_start: false, cell, owner: Owner::Own, position, level: distance.abs() })
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Column, Game, Outcome, Side, SideResult, rng};
    use rand::RngExt;

    use super::*;
    use crate::bot::GameRecord;
    use crate::memory::{PatternMemory, PatternRecord, Snapshots, Vocabulary};

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
            PatternRecord { seen: 80, won: 38, lost: 42, is_ending: false, weighting: 103, response: None };
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
            let result = SideResult::of(side, game.outcome().and_then(Outcome::winner));
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
        let is_gapped = |(pattern, _): (&Pattern, &PatternRecord)| pattern.to_string().contains(". ");
        assert!(memory.iter().any(is_gapped));
        let text = write_xml(&memory);
        assert!(read(&text).is_err(), "a memory of runs knows no gaps");
    }
}
