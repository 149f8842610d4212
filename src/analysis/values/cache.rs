//! Positions that were solved lately.

use fourfold_engine::Position;
use fourfold_engine::solver::ColumnScores;

use crate::analysis::recent::Recent;

/// Positions of each of the two generations: some ten megabytes together.
const GENERATION_MAX: usize = 20_000;

/// Scores of columns by position: those of the one of two mirror images that has the canonical key.
#[derive(Debug)]
pub(super) struct Cache(Recent<ColumnScores>);

impl Default for Cache {
    fn default() -> Self {
        Self(Recent::new(GENERATION_MAX))
    }
}

impl Cache {
    pub(super) fn find(&mut self, position: &Position) -> Option<ColumnScores> {
        self.0.find(position).map(|columns| oriented(position, columns))
    }

    pub(super) fn keep(&mut self, position: &Position, columns: ColumnScores) {
        self.0.keep(position, oriented(position, columns));
    }
}

/// From the position's columns to those of the one of its two mirror images that is kept, or back.
fn oriented(position: &Position, columns: ColumnScores) -> ColumnScores {
    if position.key() == position.canonical_key() {
        return columns;
    }
    let variant = position.variant();
    columns.iter().map(|(column, score)| (column.mirror(variant), score)).collect()
}

#[cfg(test)]
mod tests {
    use fourfold_engine::solver::Score;
    use fourfold_engine::{Column, Game, Variant};

    use super::*;

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    fn scores(number: u8, score: i32) -> ColumnScores {
        [(Column::from_number(number).unwrap(), Score::new(score))].into_iter().collect()
    }

    #[test]
    fn mirror_images_have_mirrored_columns() {
        for kept in ["12", "76"] {
            let mut cache = Cache::default();
            cache.keep(&position(kept), scores(3, 5));
            assert_eq!(cache.find(&position(kept)), Some(scores(3, 5)));
            let other = if kept == "12" { "76" } else { "12" };
            assert_eq!(cache.find(&position(other)), Some(scores(5, 5)));
            assert_eq!(cache.find(&position("13")), None);
        }
    }
}
