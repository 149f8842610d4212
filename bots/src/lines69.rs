//! The scorer of the 69 lines: no search, but good taste.

use std::sync::atomic::AtomicBool;

use fourfold_engine::{Bitboard, Cell, Column, Direction, Line, Position, Variant, rng};
use rand::RngExt;

use crate::bot::{Bot, BotError, Choice, MoveBudget, SearchInfo};
use crate::spec::BotSpec;

/// What the scorer makes of a line, by its direction and stones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// Base of the power: a line with n stones of one colour counts x^n.
    pub x: f64,
    /// Weights of vertical, horizontal and diagonal lines.
    pub v: f64,
    pub h: f64,
    pub d: f64,
    /// Amplitude of the noise on each cell.
    pub r: f64,
    /// Weight of the opponent's stone on top.
    pub n: f64,
}

impl Parameters {
    /// The bot with these parameters.
    pub fn to_spec(self) -> BotSpec {
        let Self { x, v, h, d, r, n } = self;
        let settings = [("x", x), ("v", v), ("h", h), ("d", d), ("r", r), ("n", n)];
        settings.into_iter().fold(BotSpec::new("lines69"), |spec, (name, value)| spec.with(name, value))
    }
}

impl Default for Parameters {
    fn default() -> Self {
        Self { x: 4.0, v: 1.0, h: 1.0, d: 1.0, r: 2.0, n: 1.0 }
    }
}

/// Plays the cell through which the weightiest lines run, own and enemy lines alike, less what the cell above
/// is worth to the opponent.
///
/// From the 69-line network page; other boards have other numbers of lines. It values the position before its
/// move, so completing a line of its own is worth no more than breaking one of the opponent's, and it may
/// block where it could win: part of its character.
#[derive(Debug)]
pub(crate) struct Lines69 {
    scorer: Scorer,
    seed: u64,
}

impl Lines69 {
    pub(crate) fn new(parameters: Parameters, variant: Variant, seed: u64) -> Self {
        Self { scorer: Scorer::new(parameters, variant), seed }
    }

    /// The open column with the highest score and the score; of equals the leftmost. `None` if all are full.
    pub(crate) fn best(&self, position: &Position) -> Option<(Column, f64)> {
        let values = self.scorer.cell_values(position);
        let mut rng = rng::for_position(self.seed, position);
        let mut best: Option<(Column, f64)> = None;
        for column in position.open_columns() {
            // One draw for every open column, so that a column's noise does not hang on its neighbours.
            let noise = rng.random::<f64>() * self.scorer.parameters.r;
            let score = self.scorer.column_score(position, column, &values) + noise;
            if best.is_none_or(|(_, best_score)| score > best_score) {
                best = Some((column, score));
            }
        }
        best
    }
}

impl Bot for Lines69 {
    fn choose(
        &mut self,
        position: &Position,
        _budget: MoveBudget,
        _stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        if position.outcome().is_some() {
            return Err(BotError::GameOver);
        }
        let (column, score) = self.best(position).ok_or(BotError::GameOver)?;
        let nodes = position.open_columns().count() as u64;
        let score = whole(score);
        Ok(Choice { column, info: Some(SearchInfo { score, depth: 1, nodes, pv: vec![column] }) })
    }
}

/// A score as spectators see it, rounded.
#[expect(clippy::cast_possible_truncation, reason = "a cast of a fraction saturates, which will do for show")]
fn whole(score: f64) -> i32 {
    score.round() as i32
}

/// The lines of a board with their weights.
#[derive(Debug)]
struct Scorer {
    parameters: Parameters,
    variant: Variant,
    lines: Vec<WeightedLine>,
    /// x^n for n stones.
    powers: Vec<f64>,
}

#[derive(Debug)]
struct WeightedLine {
    set: Bitboard,
    cells: Vec<usize>,
    weight: f64,
}

/// What the lines through a cell are worth to the side to move and its opponent.
#[derive(Clone, Copy, Default, Debug)]
struct CellValue {
    mine: f64,
    theirs: f64,
}

/// By [`cell_index`].
type CellValues = [CellValue; (Variant::MAX_WIDTH as usize) * (Variant::MAX_HEIGHT as usize)];

impl Scorer {
    fn new(parameters: Parameters, variant: Variant) -> Self {
        let weight = |line: Line| match line.direction() {
            Direction::Vertical => parameters.v,
            Direction::Horizontal => parameters.h,
            Direction::Falling | Direction::Rising => parameters.d,
        };
        let weighted = |line: Line| WeightedLine {
            set: line.bitboard(variant),
            cells: line.cells().map(cell_index).collect(),
            weight: weight(line),
        };
        let powers = std::iter::successors(Some(1.0), |power| Some(power * parameters.x));
        Self {
            parameters,
            variant,
            lines: Line::all(variant).map(weighted).collect(),
            powers: powers.take(usize::from(variant.connect()) + 1).collect(),
        }
    }

    fn cell_values(&self, position: &Position) -> CellValues {
        let mut values = [CellValue::default(); _];
        let (mine, theirs) = (position.mine(), position.theirs());
        for line in &self.lines {
            let (mut own, mut enemy) = ((line.set & mine).count(), (line.set & theirs).count());
            // A dead line counts as an empty one.
            if own > 0 && enemy > 0 {
                (own, enemy) = (0, 0);
            }
            for &cell in &line.cells {
                values[cell].mine += line.weight * self.powers[own as usize];
                values[cell].theirs += line.weight * self.powers[enemy as usize];
            }
        }
        values
    }

    /// The score of an open column, without noise.
    fn column_score(&self, position: &Position, column: Column, values: &CellValues) -> f64 {
        let landing = position.landing_cell(column).expect("the column is open");
        let CellValue { mine, theirs } = values[cell_index(landing)];
        let above = Cell::new(column, landing.row_index() + 1).filter(|above| above.is_on(self.variant));
        let gift = above.map_or(0.0, |above| values[cell_index(above)].theirs);
        mine + theirs - self.parameters.n * gift
    }
}

fn cell_index(cell: Cell) -> usize {
    cell.column().index() * usize::from(Variant::MAX_HEIGHT) + cell.row_index()
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::*;

    const QUIET: Parameters = Parameters { x: 4.0, v: 1.0, h: 1.0, d: 1.0, r: 0.0, n: 1.0 };

    /// The scores of the open columns, which are whole numbers with the weights used here.
    fn scores(parameters: Parameters, moves: &str) -> Vec<i32> {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let scorer = Scorer::new(parameters, Variant::STANDARD);
        let values = scorer.cell_values(game.position());
        let open = game.position().open_columns();
        open.map(|column| whole(scorer.column_score(game.position(), column, &values))).collect()
    }

    #[track_caller]
    fn check(parameters: Parameters, moves: &str, expected: u8) {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let bot = Lines69::new(parameters, Variant::STANDARD, 0);
        assert_eq!(bot.best(game.position()).map(|(column, _)| column.number()), Some(expected));
    }

    #[test]
    fn an_empty_board_is_scored_by_its_lines() {
        // Lines through the bottom cells: 3 4 5 7 5 4 3; through the cells above: 4 6 8 10 8 6 4. Each counts
        // once for both sides, and once for the opponent above.
        assert_eq!(scores(QUIET, ""), [2, 2, 2, 4, 2, 2, 2]);
    }

    #[test]
    fn directions_and_the_stone_on_top_have_their_weights() {
        let parameters = Parameters { v: 2.0, h: 0.5, d: 1.5, n: 0.5, ..QUIET };
        // a1: one line of each kind: 2 * (2 + 0.5 + 1.5) = 8; a2: two vertical: 2 * 2 + 0.5 + 1.5 = 6.
        assert_eq!(scores(parameters, "")[0], 8 - 3);
    }

    #[test]
    fn stones_count_by_powers_and_dead_lines_as_empty_ones() {
        let parameters = Parameters { n: 0.0, ..QUIET };
        let columns_b_and_c = |moves| scores(parameters, moves)[1..3].to_vec();
        assert_eq!(columns_b_and_c(""), [8, 10]);
        // X on a1: the line a1 to d1 runs through b1 and c1 and counts 4 and 1 where it counted 1 and 1.
        assert_eq!(columns_b_and_c("1"), [11, 13]);
        // O on b1 too: a1 to d1 is dead and back at 1 and 1, b1 to e1 counts 4 and 1. Column b is scored at b2.
        assert_eq!(columns_b_and_c("12")[1], 13);
    }

    #[test]
    fn the_centre_is_liked_best() {
        check(QUIET, "", 4);
    }

    #[test]
    fn a_full_column_is_left_out_and_the_top_has_no_gift() {
        check(QUIET, "44444", 4); // the top cell: no stone comes on top of it
        assert_eq!(scores(QUIET, "444444").len(), 6);
    }

    #[test]
    fn winning_and_blocking_weigh_the_same() {
        // X . . . . . O   Whoever is to move: a4 and g4 score alike, but for what comes on top, and the left
        // X . . . . . O   one is played.
        // X . . . . . O
        let parameters = Parameters { n: 0.0, ..QUIET };
        check(parameters, "171717", 1); // wins
        check(parameters, "717171", 1); // blocks, where column 7 wins
    }

    #[test]
    fn noise_is_drawn_from_the_seed() {
        let position = Position::new(Variant::STANDARD);
        let noisy = Parameters { r: 3.0, ..QUIET };
        let score = |seed| Lines69::new(noisy, Variant::STANDARD, seed).best(&position);
        assert_eq!(score(1), score(1));
        assert!((2..20).any(|seed| score(seed) != score(1)));
        let (_, best) = score(1).unwrap();
        assert!((4.0..7.0).contains(&best), "{best}"); // the centre's 4, or 2 and noise of more than 2
    }
}
