//! The weights for playing: frozen, whole numbers, small.

use std::cmp::Reverse;
use std::sync::Arc;

use fourfold_engine::search::{Tactics, Valuation};
use fourfold_engine::{Bitboard, Position, Side};

use super::codec::{ByteSource, CodecError, CodecFormat, Sink, read_rounded, write_rounded};
use super::layout::{Layout, PackedStones, VARIANT};
use super::network::Network;
use super::shape::NetworkShape;

/// Value of a won position less the stones on the board: quick wins are best. Sums of weights are far below.
pub(super) const WIN: i32 = 100_000_000;

/// Values beyond this are wins or losses.
pub(super) const SETTLED: i32 = WIN - 1000;

/// What a weight of 1 is before squashing, in units. Rounding moves the sum of 600 weights by less than a hundredth,
/// which changed no figure that could be measured; most weights then take two bytes in a file.
const UNITS: f32 = 1024.0;

/// What the bytes are.
const FORMAT: CodecFormat = CodecFormat { kind: *b"F4NTUPLE", version: 1 };

/// A network that has learnt, rounded to whole numbers for play.
#[derive(Clone, Debug)]
pub struct Weights {
    shape: NetworkShape,
    layout: Layout,
    /// The first player's table, then the second's.
    tables: Vec<i16>,
}

impl Weights {
    /// Rounds the weights of a network.
    pub fn round(network: &Network) -> Self {
        Self::round_mean(&[(network, network.weights().collect())])
    }

    /// Rounds the mean of networks, each with these weights in place of its own, such as averages.
    ///
    /// What is averaged are the sums of weights, before they are squashed. So the mean is a network itself: it has all
    /// tuples, and weights that are so many times smaller.
    pub(super) fn round_mean(members: &[(&Network, Vec<f32>)]) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "there are few members")]
        let count = members.len() as f32;
        #[expect(clippy::cast_possible_truncation, reason = "casts from floats saturate, as is wanted")]
        let round = |weight: &f32| (weight / count * UNITS).round() as i16;
        let halves = members.iter().map(|(_, weights)| weights.split_at(weights.len() / 2));
        let firsts = halves.clone().flat_map(|(first, _)| first);
        let tables = firsts.chain(halves.flat_map(|(_, second)| second)).map(round).collect();
        let shape = NetworkShape::joined(members.iter().map(|(network, _)| network.shape()));
        let layout = match members {
            [(network, _)] => network.layout.clone(),
            _ => Layout::new(&shape),
        };
        Self { shape, layout, tables }
    }

    /// Reads what [`Weights::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are something else, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        let (mut source, shape) = ByteSource::open(bytes, FORMAT)?;
        let layout = Layout::new(&shape);
        let tables = read_rounded(&mut source, 2 * layout.weights())?;
        source.finish()?;
        Ok(Self { shape, layout, tables })
    }

    /// The weights as bytes, with a version and a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut sink = Sink::new(FORMAT, &self.shape);
        write_rounded(&mut sink, &self.tables);
        sink.finish()
    }

    /// A network to learn on from here.
    pub fn to_network(&self) -> Network {
        let network = Network::new(self.shape.clone());
        network.set_weights(self.tables.iter().map(|weight| Self::exact(*weight)));
        network
    }

    pub fn shape(&self) -> &NetworkShape {
        &self.shape
    }

    /// Number of weights of both sides.
    pub fn count(&self) -> usize {
        self.tables.len()
    }

    /// How many of them are not 0.
    pub fn used(&self) -> usize {
        self.tables.iter().filter(|weight| **weight != 0).count()
    }

    /// What a rounded weight was before.
    fn exact(weight: i16) -> f32 {
        f32::from(weight) / UNITS
    }

    /// What the cells of a tuple hold if the weight at this index of a table speaks: stones of the first player, stones
    /// of the second, and empty cells in reach.
    pub(super) fn pattern(&self, index: usize) -> [Bitboard; 3] {
        self.layout.pattern(&self.shape, index)
    }

    /// Such a pattern in words, from the view of `side`: `own c1 d1 enemy e1 open e2`, or `empty` if no cell is
    /// taken or in reach.
    pub(super) fn name(pattern: [Bitboard; 3], side: Side) -> String {
        let [first, second, reach] = pattern;
        let (own, enemy) = match side {
            Side::First => (first, second),
            Side::Second => (second, first),
        };
        let named = |(name, set): (&str, Bitboard)| {
            let cells = set.cells(VARIANT).map(|cell| cell.to_string());
            std::iter::once(name.to_owned()).chain(cells).collect::<Vec<_>>().join(" ")
        };
        let parts = [("own", own), ("enemy", enemy), ("open", reach)];
        let taken = parts.into_iter().filter(|(_, set)| !set.is_empty());
        let name = taken.map(named).collect::<Vec<_>>().join(" ");
        if name.is_empty() { "empty".to_owned() } else { name }
    }

    pub(super) fn table(&self, side: Side) -> &[i16] {
        let (first, second) = self.tables.split_at(self.layout.weights());
        match side {
            Side::First => first,
            Side::Second => second,
        }
    }
}

/// Values positions by a network, for searches.
#[derive(Clone, Debug)]
pub(super) struct NetworkJudge {
    pub(super) weights: Arc<Weights>,
    /// Whether forced moves are played before a position is valued.
    pub(super) tactics: bool,
    /// The last position valued, and its indices: the next one is mostly much alike.
    stones: PackedStones,
    indices: Vec<u32>,
}

impl NetworkJudge {
    pub(super) fn new(weights: Arc<Weights>, tactics: bool) -> Self {
        let stones = PackedStones::of(&Position::new(VARIANT));
        let mut indices = vec![0; weights.layout.features()];
        weights.layout.index(stones, &mut indices);
        Self { weights, tactics, stones, indices }
    }

    /// The value of a position that the opponent of the side to move has made, for the side to move.
    pub(super) fn afterstate(&mut self, position: &Position) -> i32 {
        self.look_at(position);
        let to_move = position.side_to_move();
        let table = self.weights.table(to_move.opponent());
        let sum = self.indices.iter().map(|&index| i32::from(table[index as usize])).sum();
        match to_move {
            Side::First => sum,
            Side::Second => -sum,
        }
    }

    /// What speaks for or against whoever made the position: weights in units, the weightiest first, with their names.
    pub(super) fn voices(&mut self, position: &Position, count: usize) -> Vec<(i32, String)> {
        self.look_at(position);
        let side = position.side_to_move().opponent();
        let table = self.weights.table(side);
        let weight =
            |(feature, &index): (usize, &u32)| (i32::from(table[index as usize]), feature, index as usize);
        let voices = self.indices.iter().enumerate().map(weight);
        let mut voices: Vec<(i32, usize, usize)> = voices.filter(|(weight, ..)| *weight != 0).collect();
        voices.sort_by_key(|(weight, ..)| Reverse(weight.abs())); // stable: equal ones keep their order
        let sign = match side {
            Side::First => 1,
            Side::Second => -1,
        };
        voices.truncate(count);
        let tuples = self.weights.shape.tuples().len();
        let named = |(weight, feature, index): (i32, usize, usize)| {
            let pattern = self.weights.pattern(index);
            // After the tuples come their mirror images.
            let pattern = if feature < tuples { pattern } else { pattern.map(|set| set.mirror(VARIANT)) };
            (sign * weight, Weights::name(pattern, side))
        };
        voices.into_iter().map(named).collect()
    }

    fn look_at(&mut self, position: &Position) {
        let stones = PackedStones::of(position);
        self.weights.layout.move_indices(self.stones, stones, &mut self.indices);
        self.stones = stones;
    }
}

impl Valuation for NetworkJudge {
    /// Plays on while there is no choice, so that no value is taken in the middle of an exchange.
    fn horizon(&mut self, position: &Position) -> i32 {
        if !self.tactics {
            return self.afterstate(position);
        }
        let mut position = *position;
        let mut sign = 1;
        loop {
            if position.is_full() {
                return 0;
            }
            match Tactics::of(&position) {
                Tactics::Win(_) => return sign * win_at(position.ply() + 1),
                Tactics::Lost(_) => return -sign * win_at(position.ply() + 2),
                Tactics::Safe(cells) if cells.count() > 1 => return sign * self.afterstate(&position),
                Tactics::Safe(cells) => {
                    let cell = cells.cells(VARIANT).next().expect("there is one");
                    position = position.play_unchecked(cell.column());
                    sign = -sign;
                }
            }
        }
    }

    fn loss(&self, position: &Position) -> i32 {
        -win_at(position.ply())
    }

    fn is_settled(&self, value: i32) -> bool {
        value.abs() > SETTLED
    }
}

/// The value of a win with so many stones on the board.
fn win_at(stones: u32) -> i32 {
    WIN - stones.cast_signed()
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;

    /// A network with weights that differ.
    fn network() -> Network {
        let network = Network::new(NetworkShape::draw(12, 6, 5));
        network.set_weights(
            (0_u16..).map(|number| f32::from(number % 97) / 97.0 - 0.3).take(network.weight_count()),
        );
        network
    }

    fn judge(tactics: bool) -> NetworkJudge {
        NetworkJudge::new(Arc::new(Weights::round(&network())), tactics)
    }

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    #[test]
    fn weights_survive_as_bytes() {
        let weights = Weights::round(&network());
        let read = Weights::from_bytes(&weights.to_bytes()).unwrap();
        assert_eq!((read.shape(), &read.tables), (weights.shape(), &weights.tables));
        assert_eq!(read.to_bytes(), weights.to_bytes());
        let mut long = Sink::new(FORMAT, &weights.shape);
        write_rounded(&mut long, &weights.tables);
        long.bytes(&[0]);
        assert_eq!(Weights::from_bytes(&long.finish()).unwrap_err(), CodecError::TooLong { bytes: 1 });
    }

    #[test]
    fn large_weights_are_cut_off() {
        let network = Network::new(NetworkShape::draw(1, 4, 1));
        network.set_weights(vec![1e6; network.weight_count()]);
        assert!(Weights::round(&network).tables.iter().all(|weight| *weight == i16::MAX));
    }

    #[test]
    fn mirror_images_have_the_same_value() {
        let mut judge = judge(false);
        for moves in ["4", "44", "123", "1223334", "46"] {
            let position = position(moves);
            assert_eq!(judge.afterstate(&position), judge.afterstate(&position.mirror()), "{moves}");
        }
    }

    #[test]
    fn what_was_valued_before_does_not_matter() {
        let mut one = judge(false);
        let values = ["4", "4433", "11", "7654321", "4"].map(|moves| one.afterstate(&position(moves)));
        assert_eq!(values[0], values[4]);
        assert_eq!(judge(false).afterstate(&position("11")), values[2]);
    }

    #[test]
    fn forced_moves_are_played_before_a_position_is_valued() {
        let mut judge = judge(true);
        assert_eq!(judge.horizon(&position("121212")), WIN - 7);
        assert_eq!(judge.horizon(&position("44")), judge.afterstate(&position("44")), "nothing is forced");
        assert_eq!(judge.horizon(&position("4455366")), -judge.horizon(&position("44553662")), "b1 is");
        // First threatens a1 to a4: there is only one reply.
        assert_eq!(judge.horizon(&position("12131")), -judge.horizon(&position("121311")));
        assert_eq!(judge.horizon(&position("44553")), -(WIN - 7), "two threats");
    }
}
