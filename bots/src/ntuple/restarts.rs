//! Positions in which an advantage was lost, for games to begin in.

use std::collections::VecDeque;

use fourfold_engine::{Bitboard, Position, rng};
use rand::RngExt;

use super::codec::{ByteSource, CodecError, Sink};
use super::layout::VARIANT;
use super::percent::Percent;

/// Positions that are remembered, the last ones: some thousand games lose so many, and older mistakes are mended or
/// will come up again.
const POSITIONS_MAX: usize = 1000;

/// Makes the seed of where games begin another than that of the games, so that the games themselves draw what they
/// would have drawn without.
const SALT: u64 = 0x5EED_0FB0_A4D5;

/// Positions that looked won for a side which then did not win, though neither side's move was drawn.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Restarts {
    positions: VecDeque<Position>,
}

impl Restarts {
    /// Where the game of this number begins: that share of them in one of the positions.
    pub(super) fn begin(&self, share: Percent, seed: u64, game: u64) -> Option<Position> {
        if share == Percent::ZERO || self.positions.is_empty() {
            return None;
        }
        let mut rng = rng::seeded_stream(seed ^ SALT, game);
        let is_one = rng.random::<f32>() < share.share();
        is_one.then(|| self.positions[rng.random_range(0..self.positions.len())])
    }

    /// Remembers more positions and forgets the oldest for them.
    pub(super) fn note(&mut self, lost: impl IntoIterator<Item = Position>) {
        self.positions.extend(lost);
        let excess = self.positions.len().saturating_sub(POSITIONS_MAX);
        self.positions.drain(..excess);
    }

    pub(super) fn write(&self, sink: &mut Sink) {
        sink.varint(self.positions.len() as u64);
        for position in &self.positions {
            for stones in [position.mine(), position.theirs()] {
                sink.bytes(&stones.bits().to_le_bytes());
            }
        }
    }

    pub(super) fn read(source: &mut ByteSource<'_>) -> Result<Self, CodecError> {
        const BROKEN: CodecError = CodecError::Field { name: "restarts" };
        let count = source.varint()?;
        if count > POSITIONS_MAX as u64 {
            return Err(BROKEN);
        }
        let mut stones = || Ok(Bitboard::from_bits(u64::from_le_bytes(source.array()?)));
        let position = |_| {
            let [mine, theirs] = [stones()?, stones()?];
            let position = Position::from_stones(VARIANT, mine, theirs).map_err(|_| BROKEN)?;
            let goes_on = position.ply() > 0 && position.outcome().is_none();
            goes_on.then_some(position).ok_or(BROKEN)
        };
        let positions = (0..count).map(position).collect::<Result<_, CodecError>>()?;
        Ok(Self { positions })
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::super::codec::CodecFormat;
    use super::super::shape::NetworkShape;
    use super::*;

    const FORMAT: CodecFormat = CodecFormat { kind: *b"F4TESTED", version: 1 };

    fn position(moves: &str) -> Position {
        *Game::from_moves(VARIANT, moves).unwrap().position()
    }

    fn percent(percent: u8) -> Percent {
        Percent::new(percent).unwrap()
    }

    fn restarts(moves: &[&str]) -> Restarts {
        let mut restarts = Restarts::default();
        restarts.note(moves.iter().map(|moves| position(moves)));
        restarts
    }

    #[test]
    fn that_share_of_games_begins_in_a_position_that_was_lost() {
        let restarts = restarts(&["44", "445566"]);
        let begin =
            |share: u8| (0..1000).map(|game| restarts.begin(percent(share), 1, game)).collect::<Vec<_>>();
        let count = |begun: &[Option<Position>], wanted: Option<&str>| {
            begun.iter().filter(|begun| **begun == wanted.map(position)).count()
        };
        let fifth = begin(20);
        assert!((160..240).contains(&(1000 - count(&fifth, None))), "{}", count(&fifth, None));
        assert!(count(&fifth, Some("44")) > 60 && count(&fifth, Some("445566")) > 60);
        assert_eq!(fifth, begin(20), "equal seeds, equal games");
        assert_eq!(count(&begin(0), None), 1000);
        assert_eq!(count(&begin(100), None), 0);
        assert_eq!(Restarts::default().begin(percent(100), 1, 1), None, "nothing was lost yet");
    }

    #[test]
    fn the_oldest_positions_are_forgotten() {
        let mut restarts = restarts(&["44"]);
        restarts.note(std::iter::repeat_n(position("445"), POSITIONS_MAX - 1));
        assert_eq!(restarts.positions[0], position("44"));
        restarts.note([position("4455")]);
        assert_eq!(restarts.positions.len(), POSITIONS_MAX);
        assert_eq!(restarts.positions[0], position("445"));
    }

    fn read(restarts: &Restarts) -> Result<Restarts, CodecError> {
        let mut sink = Sink::new(FORMAT, &NetworkShape::draw(3, 4, 1));
        restarts.write(&mut sink);
        let bytes = sink.finish();
        let (mut source, _) = ByteSource::open(&bytes, FORMAT)?;
        let restarts = Restarts::read(&mut source)?;
        source.finish()?;
        Ok(restarts)
    }

    #[test]
    fn positions_survive_and_those_that_are_over_are_refused() {
        for moves in [&[][..], &["44", "445566", "1"]] {
            assert_eq!(read(&restarts(moves)).unwrap(), restarts(moves));
        }
        for moves in ["", "4455667"] {
            assert_eq!(read(&restarts(&[moves])), Err(CodecError::Field { name: "restarts" }), "{moves}");
        }
    }
}
