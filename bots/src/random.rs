//! The bot without a plan.

use std::sync::atomic::AtomicBool;

use fourfold_engine::{Position, rng};
use rand::RngExt;

use crate::bot::{Bot, BotError, Choice, MoveBudget};

/// Plays any legal column, all equally likely.
#[derive(Debug)]
pub(crate) struct Random {
    seed: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl Bot for Random {
    fn choose(
        &mut self,
        position: &Position,
        _budget: MoveBudget,
        _stop: &AtomicBool,
    ) -> Result<Choice, BotError> {
        let legal = position.legal_columns().count();
        if legal == 0 {
            return Err(BotError::GameOver);
        }
        let drawn = rng::for_position(self.seed, position).random_range(0..legal);
        position.legal_columns().nth(drawn).map(Choice::from).ok_or(BotError::GameOver)
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;

    fn choose(seed: u64, position: &Position) -> Result<Choice, BotError> {
        Random::new(seed).choose(position, MoveBudget::default(), &AtomicBool::new(false))
    }

    #[test]
    fn all_legal_columns_are_about_equally_likely() {
        let game = Game::from_moves(Variant::STANDARD, "444444").unwrap();
        let mut counts = [0; 7];
        for seed in 0..6000 {
            counts[choose(seed, game.position()).unwrap().column.index()] += 1;
        }
        assert_eq!(counts[3], 0, "column 4 is full");
        // Each of the other six is drawn 1000 times on average, with a standard deviation of 29.
        assert!(
            counts.iter().enumerate().all(|(column, count)| column == 3 || (880..1120).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn equal_seeds_choose_alike() {
        let position = Position::new(Variant::STANDARD);
        assert_eq!(choose(3, &position), choose(3, &position));
    }

    #[test]
    fn a_finished_game_is_refused() {
        let game = Game::from_moves(Variant::STANDARD, "1212121").unwrap();
        assert_eq!(choose(0, game.position()), Err(BotError::GameOver));
    }
}
