//! What live games are worth, for those who watch them: exact, and computed once however many watch.
//!
//! Rooms ask, and decide who hears the answer. Games wait for one another here, so that watching never takes more than
//! one of the solver's turns; what is found out is kept by [`Analysis`], whose review of the game is then ready when it
//! ends.

use std::sync::Arc;
use std::time::Duration;

use fourfold_engine::search::{Score, Value};
use fourfold_engine::{Position, Side};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, sleep_until};

use crate::analysis::values::{Analysis, AnalysisError, Asker};

/// How often a busy solver is asked again about one position. By then most games have moved on.
const ATTEMPTS_MAX: u32 = 10;

/// How a position ends if both sides play perfectly from here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LiveValue {
    /// Who wins; nobody if it is a draw.
    pub(crate) winner: Option<Side>,
    pub(crate) plies: u32,
}

/// Answers what live games are worth, or never does. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiveValues {
    inner: Option<Arc<LiveValuesInner>>,
}

#[derive(Debug)]
struct LiveValuesInner {
    analysis: Analysis,
    delay: Duration,
    /// One position at a time.
    turn: Semaphore,
}

impl LiveValues {
    /// Answers `delay` after it is asked at the earliest.
    pub(crate) fn new(analysis: Analysis, delay: Duration) -> Self {
        Self { inner: Some(Arc::new(LiveValuesInner { analysis, delay, turn: Semaphore::new(1) })) }
    }

    /// Whether it answers at all.
    pub(crate) fn is_told(&self) -> bool {
        self.inner.is_some()
    }

    /// What a position of a game in progress is worth; `None` if nobody can tell in time. Whoever loses interest drops
    /// the future, and the computation ends.
    pub(crate) async fn of(&self, position: Position) -> Option<LiveValue> {
        let inner = self.inner.as_ref()?;
        let not_before = Instant::now() + inner.delay;
        let value = inner.compute(&position).await?;
        sleep_until(not_before).await;
        Some(value)
    }
}

impl LiveValuesInner {
    async fn compute(&self, position: &Position) -> Option<LiveValue> {
        for _ in 0..ATTEMPTS_MAX {
            let turn = self.turn.acquire().await.ok()?;
            let solved = self.analysis.columns(&Asker::House, position).await;
            drop(turn);
            match solved {
                Ok(columns) => return columns.best().map(|score| value(position, score)),
                Err(AnalysisError::Busy { retry }) => sleep(retry).await,
                Err(AnalysisError::TooHard | AnalysisError::Share(_) | AnalysisError::Compute(_)) => {
                    return None;
                }
            }
        }
        None
    }
}

fn value(position: &Position, score: Score) -> LiveValue {
    let mover = position.side_to_move();
    let winner = match score.sign() {
        Value::Win => Some(mover),
        Value::Draw => None,
        Value::Loss => Some(mover.opponent()),
    };
    LiveValue { winner, plies: score.plies_to_end(position) }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, Variant};

    use super::*;
    use crate::system::shares::Shares;

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    fn live_values(delay: Duration) -> LiveValues {
        LiveValues::new(Analysis::new(1, &Shares::default()), delay)
    }

    #[tokio::test]
    async fn the_value_names_the_winner_and_the_plies_until_then() {
        let live_values = live_values(Duration::ZERO);
        let check = async |moves: &str, winner, plies| {
            assert_eq!(live_values.of(position(moves)).await, Some(LiveValue { winner, plies }), "{moves}");
        };
        check("", Some(Side::First), 41).await;
        check("4", Some(Side::First), 40).await;
        check("3", None, 41).await;
        check("445566", Some(Side::First), 1).await;
    }

    #[tokio::test]
    async fn a_board_that_nobody_can_solve_has_none() {
        let game = Game::new("9x6".parse().unwrap());
        assert_eq!(live_values(Duration::ZERO).of(*game.position()).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_answer_comes_after_the_delay() {
        let (live_values, delay) = (live_values(Duration::from_secs(5)), Duration::from_secs(5));
        let start = Instant::now();
        assert!(live_values.of(position("4")).await.is_some());
        assert_eq!(start.elapsed(), delay);
    }

    #[tokio::test]
    async fn nothing_is_told_where_it_is_turned_off() {
        assert_eq!(LiveValues::default().of(position("4")).await, None);
    }
}
