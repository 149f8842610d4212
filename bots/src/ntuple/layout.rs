//! From positions to indices of weights.
//!
//! A tuple's cells are empty and out of reach, empty and in reach, the first player's or the second's. Stones
//! lie on stones, so of the 65,536 combinations for eight cells only about 5,000 can come up. The cells of a
//! tuple that share a column have few joint states: those are numbered, and the index is a number in mixed
//! radix with one digit for each column. So tables are twelve times smaller than with two bits for each cell,
//! which lets them stay in the processor's cache, and nothing has to be squeezed for a file.

use std::ops::Range;

use fourfold_engine::{Bitboard, Side, Variant};

use super::shape::{COLUMN_BITS, COLUMNS, NetworkShape, ROWS};

/// Contents of a column: with n stones the numbers from 2^n - 1 on, 127 in all.
const CONTENTS: usize = (1 << (ROWS + 1)) - 1;
/// Of these, the ones with room for a stone.
const OPEN_CONTENTS: usize = (1 << ROWS) - 1;

/// A position as one number: seven bits for each column's contents.
///
/// It is the first player's stones plus all stones, both as bitboards, like
/// [`fourfold_engine::Position::key`], but always from the first player's view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct PackedStones(u64);

impl PackedStones {
    pub(super) fn new(first: Bitboard, mask: Bitboard) -> Self {
        Self(first.bits() + mask.bits())
    }

    pub(super) fn of(position: &fourfold_engine::Position) -> Self {
        let first = match position.side_to_move() {
            Side::First => position.mine(),
            Side::Second => position.theirs(),
        };
        Self::new(first, position.mask())
    }

    /// 0 to 126: which stones lie in a column.
    #[inline]
    fn contents(self, column: usize) -> usize {
        // Seven bits fit any integer.
        ((self.0 >> (7 * column)) & 0x7F) as usize
    }
}

/// A column's contents before a stone, and whose stone it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drop {
    contents: usize,
    column: usize,
    side: Side,
}

impl Drop {
    #[inline]
    pub(super) fn new(stones: PackedStones, column: usize, side: Side) -> Self {
        Self { contents: stones.contents(column), column, side }
    }
}

/// How many stones a column of these contents has.
fn height(contents: usize) -> u32 {
    (contents + 1).ilog2()
}

/// Where the weights of a network's features lie. A feature is a tuple or the mirror image of one.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Twice the number of tuples.
    features: usize,
    /// Weights of one side's table.
    weights: usize,
    /// Where each tuple's weights begin in it.
    starts: Vec<u32>,
    columns: Vec<ColumnLayout>,
}

/// What one column contributes to the features with cells in it.
#[derive(Clone, Debug)]
struct ColumnLayout {
    /// The features with cells in this column.
    features: Vec<u16>,
    /// For each contents and each of these features, what is added to its index.
    parts: Vec<u32>,
    /// For each number of stones in the column, the features to which the next stone makes a difference:
    /// those with its cell or the one above.
    changed: Vec<Vec<u16>>,
    /// For each contents with room, and each side, where its changes start in `changes`.
    starts: Vec<[u32; 2]>,
    /// For each of the changed features, what is added to its index, modulo 2^32.
    changes: Vec<u32>,
}

impl Layout {
    pub(super) fn new(shape: &NetworkShape) -> Self {
        let tuples = shape.tuples();
        let mut parts: Vec<Vec<(u16, Vec<u32>)>> = vec![Vec::new(); COLUMNS];
        let mut weights = 0;
        let mut starts = Vec::with_capacity(tuples.len());
        for (number, tuple) in tuples.iter().enumerate() {
            starts.push(weights);
            weights += number_tuple(*tuple, number, tuples.len(), weights, &mut parts);
        }
        let columns = parts.iter().map(|parts| ColumnLayout::new(parts)).collect();
        Self { features: 2 * tuples.len(), weights: weights as usize, starts, columns }
    }

    pub(super) fn features(&self) -> usize {
        self.features
    }

    pub(super) fn weights(&self) -> usize {
        self.weights
    }

    /// What the tuple's cells hold that lead to this index: stones of the first player, stones of the second, and
    /// empty cells in reach.
    pub(super) fn pattern(&self, shape: &NetworkShape, index: usize) -> [Bitboard; 3] {
        debug_assert!(index < self.weights, "no such weight");
        let number = self.starts.partition_point(|start| *start as usize <= index) - 1; // the first starts at 0
        let digits: Vec<_> = digits(shape.tuples()[number]).collect();
        spell(&digits, index - self.starts[number] as usize)
    }

    /// Fills in the index of each feature's weight.
    pub(super) fn index(&self, stones: PackedStones, indices: &mut [u32]) {
        indices.fill(0);
        for (number, column) in self.columns.iter().enumerate() {
            for (feature, part) in column.parts(stones.contents(number)) {
                indices[feature] = indices[feature].wrapping_add(part);
            }
        }
    }

    /// Moves indices from one position to another; quick if they differ in few columns.
    pub(super) fn move_indices(&self, from: PackedStones, to: PackedStones, indices: &mut [u32]) {
        for (number, column) in self.columns.iter().enumerate() {
            let (from, to) = (from.contents(number), to.contents(number));
            if from == to {
                continue;
            }
            for ((feature, old), (_, new)) in column.parts(from).zip(column.parts(to)) {
                indices[feature] = indices[feature].wrapping_add(new.wrapping_sub(old));
            }
        }
    }

    /// The features to which a stone makes a difference, and what it adds to their indices.
    #[inline]
    pub(super) fn changes(&self, drop: Drop) -> (&[u16], &[u32]) {
        let column = &self.columns[drop.column];
        let features = &column.changed[height(drop.contents) as usize];
        let start = column.starts[drop.contents][drop.side as usize] as usize;
        (features, &column.changes[start..start + features.len()])
    }
}

impl ColumnLayout {
    fn new(parts: &[(u16, Vec<u32>)]) -> Self {
        let features: Vec<u16> = parts.iter().map(|(feature, _)| *feature).collect();
        let by_contents = (0..CONTENTS).flat_map(|contents| parts.iter().map(move |(_, by)| by[contents]));
        let by_contents: Vec<u32> = by_contents.collect();
        let mut changed = Vec::new();
        for stones in 0..ROWS {
            let differs = |by: &[u32]| {
                drops(stones).any(|(contents, [x, o])| by[x] != by[contents] || by[o] != by[contents])
            };
            let those = parts.iter().filter(|(_, by)| differs(by)).map(|(feature, _)| *feature);
            changed.push(those.collect::<Vec<u16>>());
        }
        let mut starts = vec![[0; 2]; OPEN_CONTENTS];
        let mut differences = Vec::new();
        for stones in 0..ROWS {
            for (contents, after) in drops(stones) {
                for (side, after) in after.into_iter().enumerate() {
                    starts[contents][side] = u32::try_from(differences.len()).expect("a small table");
                    let those =
                        parts.iter().filter(|(feature, _)| changed[stones as usize].contains(feature));
                    differences.extend(those.map(|(_, by)| by[after].wrapping_sub(by[contents])));
                }
            }
        }
        Self { features, parts: by_contents, changed, starts, changes: differences }
    }

    /// The features of this column, and what they get from these contents.
    #[inline]
    fn parts(&self, contents: usize) -> impl Iterator<Item = (usize, u32)> {
        let start = contents * self.features.len();
        let parts = &self.parts[start..start + self.features.len()];
        self.features.iter().map(|feature| usize::from(*feature)).zip(parts.iter().copied())
    }
}

/// All contents with so many stones, and what they become with one more of either side.
fn drops(stones: u32) -> impl Iterator<Item = (usize, [usize; 2])> {
    let all: Range<usize> = (1 << stones) - 1..(2 << stones) - 1;
    // A stone of the first player counts twice, one of the second once.
    all.map(move |contents| (contents, [contents + (2 << stones), contents + (1 << stones)]))
}

/// What the cells of a tuple in one column can hold: their joint states in the order of their numbers.
type States = Vec<[u64; 3]>;

/// The columns of a tuple from the left, with the states that each digit of an index stands for.
fn digits(tuple: Bitboard) -> impl Iterator<Item = (usize, States)> {
    (0..COLUMNS).filter_map(move |column| {
        let cells = cells_of(tuple, column);
        let mut states: States = Vec::new();
        for contents in 0..CONTENTS {
            let state = states_of(contents, cells);
            if !states.contains(&state) {
                states.push(state);
            }
        }
        (cells != 0).then_some((column, states))
    })
}

/// The cells of a tuple in a column, lowest first.
fn cells_of(tuple: Bitboard, column: usize) -> u64 {
    tuple.bits() >> (COLUMN_BITS as usize * column) & 0x7F
}

/// Adds a tuple and its mirror image to the columns and returns the number of its weights.
fn number_tuple(
    tuple: Bitboard,
    number: usize,
    tuples: usize,
    first_weight: u32,
    parts: &mut [Vec<(u16, Vec<u32>)>],
) -> u32 {
    let feature = |number: usize| u16::try_from(number).expect("few tuples");
    let mut radix = 1;
    // The first digit carries the offset of the tuple's weights.
    let mut offset = first_weight;
    for (column, states) in digits(tuple) {
        let cells = cells_of(tuple, column);
        let part = |contents| {
            let state = states_of(contents, cells);
            let digit = states.iter().position(|other| *other == state).expect("all states are listed");
            offset + radix * u32::try_from(digit).expect("few states")
        };
        let by_contents: Vec<u32> = (0..CONTENTS).map(part).collect();
        parts[column].push((feature(number), by_contents.clone()));
        parts[COLUMNS - 1 - column].push((feature(number + tuples), by_contents));
        radix *= u32::try_from(states.len()).expect("few states");
        offset = 0;
    }
    radix
}

/// Reads an index digit by digit.
fn spell(digits: &[(usize, States)], index: usize) -> [Bitboard; 3] {
    let mut spelled = [Bitboard::EMPTY; 3];
    let mut rest = index;
    for (column, states) in digits {
        let state = states[rest % states.len()];
        rest /= states.len();
        for (set, bits) in spelled.iter_mut().zip(state) {
            *set |= Bitboard::from_bits(bits << (COLUMN_BITS as usize * column));
        }
    }
    spelled
}

/// Which of the cells hold stones of the first player, of the second, and which are in reach.
fn states_of(contents: usize, cells: u64) -> [u64; 3] {
    let stones = height(contents);
    let mask = (1_u64 << stones) - 1;
    let first = contents as u64 - mask;
    [first & cells, mask & !first & cells, 1 << stones & cells]
}

/// The board the networks play on.
pub(super) const VARIANT: Variant = Variant::STANDARD;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use fourfold_engine::{Column, Position, rng};
    use rand::RngExt;

    use super::*;

    /// Positions of random games, with the columns played.
    fn random_game(seed: u64) -> Vec<(Position, Column)> {
        let mut rng = rng::seeded(seed);
        let mut position = Position::new(VARIANT);
        let mut game = Vec::new();
        loop {
            let open: Vec<Column> = position.legal_columns().collect();
            let Some(last) = open.len().checked_sub(1) else { return game };
            let column = open[rng.random_range(0..=last)];
            game.push((position, column));
            position = position.play_unchecked(column);
        }
    }

    fn indices(layout: &Layout, position: &Position) -> Vec<u32> {
        let mut indices = vec![0; layout.features()];
        layout.index(PackedStones::of(position), &mut indices);
        indices
    }

    /// What a tuple's cells hold, spelled out: 0 out of reach, 1 in reach, 2 first player, 3 second player.
    fn spelled(position: &Position, tuple: Bitboard) -> Vec<u8> {
        let stones = position.stones();
        let state = |cell: Bitboard| match () {
            () if !(stones.first & cell).is_empty() => 2,
            () if !(stones.second & cell).is_empty() => 3,
            () => u8::from(!(position.playable() & cell).is_empty()),
        };
        tuple.cells(VARIANT).map(|cell| state(Bitboard::cell(cell, VARIANT))).collect()
    }

    #[test]
    fn two_positions_share_an_index_if_and_only_if_they_look_alike_there() {
        let shape = NetworkShape::draw(20, 8, 3);
        let layout = Layout::new(&shape);
        let mut seen: HashMap<(usize, u32), Vec<u8>> = HashMap::new();
        let mut known: HashMap<(usize, Vec<u8>), u32> = HashMap::new();
        for (position, _) in (0..60).flat_map(random_game) {
            let indices = indices(&layout, &position);
            for (number, tuple) in shape.tuples().iter().enumerate() {
                // The mirror image of the tuple looks at the mirror image of the position.
                let mirrored = spelled(&position.mirror(), *tuple);
                let looks = [(number, spelled(&position, *tuple)), (number + 20, mirrored)];
                let [first, second, reach] = layout.pattern(&shape, indices[number] as usize);
                let stones = position.stones();
                assert_eq!([first, second], [stones.first & *tuple, stones.second & *tuple]);
                assert_eq!(reach, position.playable() & *tuple);
                for (feature, look) in looks {
                    let index = indices[feature];
                    assert!((index as usize) < layout.weights());
                    assert_eq!(*seen.entry((number, index)).or_insert_with(|| look.clone()), look);
                    assert_eq!(*known.entry((number, look)).or_insert(index), index);
                }
            }
        }
        let tables: HashMap<u32, usize> = seen.keys().map(|(tuple, index)| (*index, *tuple)).collect();
        assert_eq!(tables.len(), seen.len(), "no two tuples share a weight");
    }

    #[test]
    fn stones_change_indices_as_looking_anew_does() {
        let layout = Layout::new(&NetworkShape::draw(30, 8, 4));
        for (position, column) in (0..30).flat_map(random_game) {
            let (before, stones) = (indices(&layout, &position), PackedStones::of(&position));
            let after = position.play_unchecked(column);
            let mut changed = before.clone();
            let drop = Drop::new(stones, column.index(), position.side_to_move());
            let (features, differences) = layout.changes(drop);
            for (feature, change) in features.iter().zip(differences) {
                let index = &mut changed[usize::from(*feature)];
                *index = index.wrapping_add(*change);
            }
            assert_eq!(changed, indices(&layout, &after));
            let mut moved = before;
            layout.move_indices(stones, PackedStones::of(&after), &mut moved);
            assert_eq!(moved, changed);
        }
    }

    #[test]
    fn only_what_can_come_up_has_a_weight() {
        let shape = NetworkShape::draw(70, 8, 1);
        let layout = Layout::new(&shape);
        assert!(layout.weights() < 70 * 65_536 / 10, "{}", layout.weights());
    }
}
