//! What was found out lately about positions, mirrored ones together.

use std::collections::HashMap;
use std::mem;

use fourfold_engine::{Position, Variant};

/// Values by position, bounded: when the young generation is full it becomes the old one, and what was in that is
/// forgotten unless somebody asked for it in the meantime.
#[derive(Debug)]
pub(super) struct Recent<V> {
    /// How many positions each of the two generations holds.
    generation_max: usize,
    young: RecentGeneration<V>,
    old: RecentGeneration<V>,
}

type RecentGeneration<V> = HashMap<(Variant, u64), V>;

impl<V: Copy> Recent<V> {
    pub(super) fn new(generation_max: usize) -> Self {
        Self { generation_max, young: HashMap::new(), old: HashMap::new() }
    }

    pub(super) fn find(&mut self, position: &Position) -> Option<V> {
        let key = (position.variant(), position.canonical_key());
        if let Some(found) = self.young.get(&key) {
            return Some(*found);
        }
        let found = self.old.remove(&key)?;
        self.insert(key, found);
        Some(found)
    }

    pub(super) fn keep(&mut self, position: &Position, value: V) {
        self.insert((position.variant(), position.canonical_key()), value);
    }

    fn insert(&mut self, key: (Variant, u64), value: V) {
        if self.young.len() >= self.generation_max {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Game;

    use super::*;

    const GENERATION_MAX: usize = 100;

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    #[test]
    fn mirror_images_share_an_entry() {
        let mut recent = Recent::new(GENERATION_MAX);
        recent.keep(&position("12"), 5);
        assert_eq!((recent.find(&position("12")), recent.find(&position("76"))), (Some(5), Some(5)));
        assert_eq!(recent.find(&position("13")), None);
    }

    #[test]
    fn what_is_asked_for_outlives_what_is_not() {
        let mut recent = Recent::new(GENERATION_MAX);
        let (wanted, other) = (position("1"), position("2"));
        recent.keep(&wanted, 1);
        recent.keep(&other, 2);
        for number in 0..3 * GENERATION_MAX as u64 {
            recent.insert((Variant::STANDARD, u64::MAX - number), 0);
            if number % 10 == 0 {
                assert_eq!(recent.find(&wanted), Some(1));
            }
        }
        assert_eq!(recent.find(&other), None);
        assert!(recent.young.len() <= GENERATION_MAX && recent.old.len() <= GENERATION_MAX);
    }
}
