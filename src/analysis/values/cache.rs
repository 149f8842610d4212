//! Positions that were solved lately.

use std::collections::HashMap;
use std::mem;

use fourfold_engine::solver::ColumnScores;
use fourfold_engine::{Position, Variant};

/// Positions of each of the two generations: some ten megabytes together.
const GENERATION_MAX: usize = 20_000;

/// Scores by position, mirrored ones together. Bounded: when the young generation is full it becomes the old one, and
/// what was in that is forgotten unless somebody asked for it in the meantime.
#[derive(Debug, Default)]
pub(super) struct Cache {
    young: CacheGeneration,
    old: CacheGeneration,
}

type CacheGeneration = HashMap<(Variant, u64), ColumnScores>;

impl Cache {
    pub(super) fn find(&mut self, position: &Position) -> Option<ColumnScores> {
        let key = key_of(position);
        if let Some(found) = self.young.get(&key) {
            return Some(oriented(position, *found));
        }
        let found = self.old.remove(&key)?;
        self.insert(key, found);
        Some(oriented(position, found))
    }

    pub(super) fn keep(&mut self, position: &Position, columns: ColumnScores) {
        self.insert(key_of(position), oriented(position, columns));
    }

    fn insert(&mut self, key: (Variant, u64), columns: ColumnScores) {
        if self.young.len() >= GENERATION_MAX {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, columns);
    }
}

fn key_of(position: &Position) -> (Variant, u64) {
    (position.variant(), position.canonical_key())
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
    use fourfold_engine::{Column, Game};

    use super::*;

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    fn scores(number: u8, score: i32) -> ColumnScores {
        [(Column::from_number(number).unwrap(), Score::new(score))].into_iter().collect()
    }

    #[test]
    fn mirror_images_share_an_entry() {
        for kept in ["12", "76"] {
            let mut cache = Cache::default();
            cache.keep(&position(kept), scores(3, 5));
            assert_eq!(cache.find(&position(kept)), Some(scores(3, 5)));
            let other = if kept == "12" { "76" } else { "12" };
            assert_eq!(cache.find(&position(other)), Some(scores(5, 5)));
            assert_eq!(cache.find(&position("13")), None);
        }
    }

    #[test]
    fn what_is_asked_for_outlives_what_is_not() {
        let mut cache = Cache::default();
        let (wanted, other) = (position("1"), position("2"));
        cache.keep(&wanted, scores(1, 1));
        cache.keep(&other, scores(1, 2));
        for number in 0..3 * GENERATION_MAX as u64 {
            cache.insert((Variant::STANDARD, u64::MAX - number), scores(1, 0));
            if number % 1000 == 0 {
                assert!(cache.find(&wanted).is_some());
            }
        }
        assert_eq!(cache.find(&other), None);
        assert!(cache.young.len() <= GENERATION_MAX && cache.old.len() <= GENERATION_MAX);
    }
}
