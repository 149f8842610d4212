//! What was played in the first moves of all finished games, and with what success.
//!
//! Everything here follows from the store and is kept in memory: it catches up when somebody asks, a few hundred games
//! at a time, so that a start with millions of games costs nothing and the answers grow until they are complete.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fourfold_engine::{Column, Game, Position, SideResult, Variant, WinDrawLoss};
use tracing::warn;

use crate::model::ids::PlayerId;
use crate::model::player::{OpponentKind, PlayerKind};
use crate::model::result::GameResult;
use crate::storage::store::GameQuery;
use crate::storage::{Store, StoreError, StoredGame};

/// Plies that are counted. Later positions hardly ever come twice.
pub(crate) const PLIES_MAX: u32 = 16;

/// Positions that are kept, some 30 MB at most. When they are all taken, new ones are left out: the first of them came
/// early, and so come often.
const POSITIONS_MAX: usize = 100_000;

/// Games read at a time.
const BATCH: u32 = 200;

/// Batches read for one answer, so that none takes long.
const BATCHES_MAX: usize = 3;

/// A move, and what became of games for the side that played it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Explored {
    pub(crate) column: Column,
    pub(crate) people: WinDrawLoss,
    pub(crate) bots: WinDrawLoss,
}

/// The counts, shared by all who ask.
#[derive(Debug, Default)]
pub(crate) struct Explorer {
    counts: Mutex<MoveCounts>,
}

#[derive(Debug, Default)]
struct MoveCounts {
    /// Moves that were played in a position, by column.
    positions: HashMap<(Variant, u64), Vec<Explored>>,
    /// Number of the last game that is counted.
    counted: u64,
}

impl Explorer {
    /// What was played in this position, by column; `None` beyond [`PLIES_MAX`] plies.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn explore(
        &self,
        store: &dyn Store,
        position: &Position,
    ) -> Result<Option<Vec<Explored>>, StoreError> {
        if position.ply() >= PLIES_MAX {
            return Ok(None);
        }
        for _ in 0..BATCHES_MAX {
            if !self.catch_up(store).await? {
                break;
            }
        }
        Ok(Some(self.counts().of(position)))
    }

    /// Counts the next games; says whether there may be more.
    async fn catch_up(&self, store: &dyn Store) -> Result<bool, StoreError> {
        let after = self.counts().counted;
        let query = GameQuery { after: Some(after), limit: BATCH, ..GameQuery::default() };
        let games = store.finished_games(&query).await?;
        let Some(last) = games.last().and_then(|game| game.settlement.as_ref()) else { return Ok(false) };
        let kinds = kinds_of(store, &games).await?;
        let mut counts = self.counts();
        // Somebody else may have counted the same games in the meantime.
        if counts.counted == after {
            for game in &games {
                counts.count(game, &kinds);
            }
            counts.counted = last.number;
        }
        Ok(games.len() == BATCH as usize)
    }

    fn counts(&self) -> MutexGuard<'_, MoveCounts> {
        // Counting does not panic; if it did, a game would be counted in part and the next answers be off by it.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who of the players is a person and who a bot.
async fn kinds_of(
    store: &dyn Store,
    games: &[StoredGame],
) -> Result<HashMap<PlayerId, PlayerKind>, StoreError> {
    let mut kinds = HashMap::new();
    for id in games.iter().flat_map(|game| [&game.spec.players.first, &game.spec.players.second]) {
        if !kinds.contains_key(id)
            && let Some(player) = store.player(id).await?
        {
            kinds.insert(id.clone(), player.kind);
        }
    }
    Ok(kinds)
}

impl MoveCounts {
    fn of(&self, position: &Position) -> Vec<Explored> {
        let mut moves =
            self.positions.get(&(position.variant(), position.key())).cloned().unwrap_or_default();
        moves.sort_by_key(|explored| explored.column);
        moves
    }

    /// Counts the first moves of a game. Those of its opening were not its players' choice.
    fn count(&mut self, game: &StoredGame, kinds: &HashMap<PlayerId, PlayerKind>) {
        if game.spec.is_left_out() {
            return;
        }
        let Some(ending) = game.ending().filter(|ending| ending.result != GameResult::Void) else { return };
        let winner = ending.result.winner();
        let columns = match Game::from_moves(game.spec.variant, &game.moves()) {
            Ok(replayed) => replayed.moves().to_vec(),
            Err(error) => {
                warn!(game = %game.spec.id, %error, "a stored game cannot be replayed");
                return;
            }
        };
        let chosen_from = game.spec.opening.moves.len();
        let mut position = Position::new(game.spec.variant);
        for (ply, column) in columns.into_iter().take(PLIES_MAX as usize).enumerate() {
            let mover = position.side_to_move();
            if ply >= chosen_from
                && let Some(kind) = kinds.get(&game.spec.players[mover])
                && let Some(counted) = self.entry(&position, column)
            {
                let score = match OpponentKind::from(*kind) {
                    OpponentKind::Human => &mut counted.people,
                    OpponentKind::Bot => &mut counted.bots,
                };
                score.count(SideResult::of(mover, winner));
            }
            position = position.play_unchecked(column);
        }
    }

    /// Where a move in a position is counted, unless there is no room for another position.
    fn entry(&mut self, position: &Position, column: Column) -> Option<&mut Explored> {
        let key = (position.variant(), position.key());
        let has_room = self.positions.len() < POSITIONS_MAX;
        if !has_room && !self.positions.contains_key(&key) {
            return None;
        }
        let moves = self.positions.entry(key).or_default();
        let index = moves.iter().position(|explored| explored.column == column).unwrap_or_else(|| {
            moves.push(Explored { column, people: WinDrawLoss::default(), bots: WinDrawLoss::default() });
            moves.len() - 1
        });
        moves.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::opening::OpeningKind;
    use crate::model::result::EndReason;
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{FIRST_WINS, add, add_players, play, player, spec};
    use crate::storage::record::{GameSpec, OpeningSource, UnratedReason};

    async fn store() -> MemoryStore {
        let store = MemoryStore::new();
        add_players(&store, &["Ada", "Bob"]).await;
        store.commit(&[add(player("Robo", PlayerKind::Bot))]).await.unwrap().remove(0).unwrap();
        store
    }

    fn casual(id: &str, first: &str, second: &str) -> GameSpec {
        GameSpec { rated: false, ..spec(id, first, second) }
    }

    /// Column, and wins, draws and losses of people and bots.
    type Row = (u8, [u64; 3], [u64; 3]);

    async fn explore(explorer: &Explorer, store: &MemoryStore, moves: &str) -> Option<Vec<Row>> {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let found = explorer.explore(store, game.position()).await.unwrap()?;
        let counts = |score: WinDrawLoss| [score.wins, score.draws, score.losses];
        let row = |e: Explored| (e.column.number(), counts(e.people), counts(e.bots));
        Some(found.into_iter().map(row).collect())
    }

    #[tokio::test]
    async fn moves_are_counted_for_those_who_played_them() {
        let (store, explorer) = (store().await, Explorer::default());
        play(&store, casual("a", "Ada", "Robo"), FIRST_WINS, GameResult::First, EndReason::Four).await;
        assert_eq!(explore(&explorer, &store, "").await, Some(vec![(1, [1, 0, 0], [0; 3])]));
        assert_eq!(explore(&explorer, &store, "1").await, Some(vec![(2, [0; 3], [0, 0, 1])]));
        assert_eq!(explore(&explorer, &store, "4").await, Some(vec![]));

        // Games that end later are counted when somebody asks again.
        play(&store, casual("b", "Robo", "Bob"), "7", GameResult::Second, EndReason::Resign).await;
        play(&store, casual("c", "Bob", "Ada"), "1", GameResult::Void, EndReason::Aborted).await;
        let load = GameSpec { unrated_because: Some(UnratedReason::Load), ..casual("d", "Bob", "Ada") };
        play(&store, load, FIRST_WINS, GameResult::First, EndReason::Four).await;
        let rows = vec![(1, [1, 0, 0], [0; 3]), (7, [0; 3], [0, 0, 1])];
        assert_eq!(explore(&explorer, &store, "").await, Some(rows));
    }

    #[tokio::test]
    async fn another_order_of_moves_is_the_same_position() {
        let (store, explorer) = (store().await, Explorer::default());
        play(&store, casual("a", "Ada", "Bob"), "1237", GameResult::Second, EndReason::Resign).await;
        assert_eq!(explore(&explorer, &store, "321").await, Some(vec![(7, [1, 0, 0], [0; 3])]));
    }

    #[tokio::test]
    async fn an_opening_was_nobody_s_choice() {
        let (store, explorer) = (store().await, Explorer::default());
        let opening = OpeningSource { kind: OpeningKind::Given, moves: "44".into() };
        let spec = GameSpec { opening, ..casual("a", "Ada", "Bob") };
        play(&store, spec, "5", GameResult::First, EndReason::Resign).await;
        assert_eq!(explore(&explorer, &store, "").await, Some(vec![]));
        assert_eq!(explore(&explorer, &store, "44").await, Some(vec![(5, [1, 0, 0], [0; 3])]));
    }

    #[tokio::test]
    async fn many_games_are_counted_over_several_answers() {
        let (store, explorer) = (store().await, Explorer::default());
        let per_answer = u64::from(BATCH) * BATCHES_MAX as u64;
        for number in 0..=per_answer {
            let spec = casual(&format!("g{number}"), "Ada", "Bob");
            play(&store, spec, "1", GameResult::First, EndReason::Resign).await;
        }
        assert_eq!(explore(&explorer, &store, "").await, Some(vec![(1, [per_answer, 0, 0], [0; 3])]));
        assert_eq!(explore(&explorer, &store, "").await, Some(vec![(1, [per_answer + 1, 0, 0], [0; 3])]));
    }

    #[tokio::test]
    async fn late_positions_are_not_counted() {
        let (store, explorer) = (store().await, Explorer::default());
        let moves = "1111112222223333";
        assert_eq!(moves.len(), PLIES_MAX as usize);
        assert_eq!(explore(&explorer, &store, moves).await, None);
    }
}
