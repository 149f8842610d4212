//! What was played in the first moves of all finished games, and with what success.
//!
//! Everything here follows from the store and is kept in memory: it catches up when somebody asks, a few hundred games
//! at a time, so that a start with millions of games costs nothing and the answers grow until they are complete. When
//! operators have taken games out, it begins anew: at which levels these counted was in ratings that are gone. It is
//! told so; of what another process did, the operators' log tells.
//!
//! A move counts beside all others also at the level of whoever played it: the opponent's does not matter, as it does
//! not for whether people or bots played it. The level is that of the rating at that time. A bot of the house has the
//! one that it was measured at; whoever plays a rated game the one that the game began with; and whoever plays a casual
//! one that of the last rated game before. Who has played none has no level, and guests never have one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fourfold_engine::{BySide, Column, Game, Position, Side, SideResult, Variant, WinDrawLoss};
use tokio::time::Instant;
use tracing::warn;

use crate::model::ids::PlayerId;
use crate::model::player::{OpponentKind, PlayerKind};
use crate::model::rating::level::Level;
use crate::model::result::GameResult;
use crate::play::ratings::ShownRatings;
use crate::storage::moderation::AuditAction;
use crate::storage::record::{Settlement, UnratedReason};
use crate::storage::store::GameQuery;
use crate::storage::{Store, StoreError, StoredGame};

/// Plies that are counted. Later positions hardly ever come twice.
pub(crate) const PLIES_MAX: u32 = 16;

/// Positions that are kept, some 30 MB at most. When they are all taken, new ones are left out: the first of them came
/// early, and so come often.
const POSITIONS_MAX: usize = 100_000;

/// Results by level that are kept, some 16 MB. When they are all taken, no new ones begin: a move that was not played
/// at a level before counts for all levels together alone.
const LEVEL_SCORES_MAX: usize = 500_000;

/// Players whose last rating is kept, some 10 MB. Casual games of others, who came later, count at no level.
const RATED_MAX: usize = 100_000;

/// Games read at a time.
const BATCH: u32 = 200;

/// Entries of the operators' log that are read when it has new ones: more than are written between two answers.
const LOG_ENTRIES: u32 = 100;

/// How long nobody looks into the operators' log. Whoever takes games out in this process says so; the log tells of
/// what another node of a cluster did, which is rare.
const LOOK_EVERY: Duration = Duration::from_mins(1);

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
    /// What bots of the house were measured at.
    ratings: ShownRatings,
    counts: Mutex<MoveCounts>,
    /// How often games were taken out in this process.
    withdrawals: AtomicU64,
}

#[derive(Debug, Default)]
struct MoveCounts {
    /// Moves that were played in a position, by column.
    positions: HashMap<(Variant, u64), Vec<CountedMove>>,
    /// Results by level in all of them.
    level_scores: usize,
    /// The ratings that players had after their last rated games.
    last_ratings: HashMap<(PlayerId, Variant), i32>,
    /// Number of the last game that is counted.
    counted: u64,
    /// How often games had been taken out in this process when this began.
    withdrawals: u64,
    /// The last look into the operators' log: when it was, and the number of the newest entry.
    looked: Option<(Instant, u64)>,
}

/// A move, and what became of it at each level.
#[derive(Debug)]
struct CountedMove {
    at_all_levels: Explored,
    by_level: Vec<LevelScore>,
}

/// What became of a move of people, or of bots, of one level.
#[derive(Clone, Copy, Debug)]
struct LevelScore {
    level: Level,
    kind: OpponentKind,
    score: WinDrawLoss,
}

impl CountedMove {
    /// The move as it went at a level, if it was played there.
    fn at(&self, level: Level) -> Option<Explored> {
        let nothing = WinDrawLoss::default();
        let mut explored = Explored { column: self.at_all_levels.column, people: nothing, bots: nothing };
        for counted in self.by_level.iter().filter(|counted| counted.level == level) {
            *explored.of(counted.kind) = counted.score;
        }
        (explored.people.games() + explored.bots.games() > 0).then_some(explored)
    }
}

impl Explored {
    fn of(&mut self, kind: OpponentKind) -> &mut WinDrawLoss {
        match kind {
            OpponentKind::Human => &mut self.people,
            OpponentKind::Bot => &mut self.bots,
        }
    }
}

impl Explorer {
    /// Nothing is read before somebody asks.
    pub(crate) fn new(ratings: ShownRatings) -> Self {
        Self { ratings, ..Self::default() }
    }

    /// What was played in this position, by column, by players of a level or of all; `None` beyond [`PLIES_MAX`] plies.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn explore(
        &self,
        store: &dyn Store,
        position: &Position,
        level: Option<Level>,
    ) -> Result<Option<Vec<Explored>>, StoreError> {
        if position.ply() >= PLIES_MAX {
            return Ok(None);
        }
        self.forget_if_voided(store).await?;
        for _ in 0..BATCHES_MAX {
            if !self.catch_up(store).await? {
                break;
            }
        }
        Ok(Some(self.counts().of(position, level)))
    }

    /// Games were taken out: the next answer is without them.
    pub(crate) fn games_withdrawn(&self) {
        self.withdrawals.fetch_add(1, Ordering::AcqRel);
    }

    /// Begins anew if games were taken out since the last answer: at once if that was in this process, else within
    /// [`LOOK_EVERY`].
    async fn forget_if_voided(&self, store: &dyn Store) -> Result<(), StoreError> {
        let looked = {
            let mut counts = self.counts();
            let withdrawals = self.withdrawals.load(Ordering::Acquire);
            if counts.withdrawals != withdrawals {
                *counts = MoveCounts { withdrawals, ..MoveCounts::default() };
            }
            counts.looked
        };
        match looked {
            Some((at, _)) if at.elapsed() < LOOK_EVERY => Ok(()),
            Some((_, known)) => self.look(store, known).await,
            // Nothing is counted yet, so nothing that the log says is news.
            None => self.look(store, 0).await,
        }
    }

    /// Looks into the operators' log, of which the entries up to `known` were seen.
    async fn look(&self, store: &dyn Store, known: u64) -> Result<(), StoreError> {
        let at = Instant::now();
        let newest = store.audit_log(None, 1).await?.first().map_or(0, |entry| entry.number);
        if newest == known {
            self.counts().looked = Some((at, newest));
            return Ok(());
        }
        let entries = store.audit_log(None, LOG_ENTRIES).await?;
        let goes_back_to = entries.last().map_or(0, |entry| entry.number);
        let mut unseen = entries.iter().take_while(|entry| entry.number > known);
        let is_void = unseen.any(|entry| entry.action == AuditAction::Void) || goes_back_to > known + 1;
        let mut counts = self.counts();
        if is_void {
            *counts = MoveCounts { withdrawals: counts.withdrawals, ..MoveCounts::default() };
        }
        counts.looked = Some((at, newest));
        Ok(())
    }

    /// Counts the next games; says whether there may be more.
    async fn catch_up(&self, store: &dyn Store) -> Result<bool, StoreError> {
        let (after, withdrawals) = {
            let counts = self.counts();
            (counts.counted, counts.withdrawals)
        };
        let query = GameQuery { after: Some(after), limit: BATCH, ..GameQuery::default() };
        let games = store.finished_games(&query).await?;
        let Some(last) = games.last().and_then(|game| game.settlement.as_ref()) else { return Ok(false) };
        let kinds = kinds_of(store, &games).await?;
        let mut counts = self.counts();
        // Somebody else may have counted the same games in the meantime, or begun anew without some of them.
        if (counts.counted, counts.withdrawals) == (after, withdrawals) {
            for game in &games {
                counts.count(game, &kinds, &self.ratings);
                counts.note_ratings(game);
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
    fn of(&self, position: &Position, level: Option<Level>) -> Vec<Explored> {
        let counted = self.positions.get(&(position.variant(), position.key()));
        let explored = |counted: &CountedMove| match level {
            None => Some(counted.at_all_levels),
            Some(level) => counted.at(level),
        };
        let mut moves: Vec<_> = counted.into_iter().flatten().filter_map(explored).collect();
        moves.sort_by_key(|explored| explored.column);
        moves
    }

    /// The level of a side when the game was played, if it had one.
    fn level_of(&self, game: &StoredGame, side: Side, ratings: &ShownRatings) -> Option<Level> {
        let variant = game.spec.variant;
        let player = &game.spec.players[side];
        let measured = || ratings.measured(player).filter(|_| variant == Variant::STANDARD);
        let entries = game.settlement.as_ref().and_then(|settlement| settlement.ratings);
        let before = || entries.map(|entries| entries[side].before.to_elo());
        let last = || self.last_ratings.get(&(player.clone(), variant)).copied();
        measured().or_else(before).or_else(last).map(Level::of_elo)
    }

    /// Remembers the ratings after a rated game, for the casual ones that follow.
    fn note_ratings(&mut self, game: &StoredGame) {
        let entries = game.settlement.as_ref().and_then(|settlement| settlement.ratings);
        for (side, entry) in
            entries.into_iter().flat_map(|entries| Side::BOTH.map(|side| (side, entries[side])))
        {
            let key = (game.spec.players[side].clone(), game.spec.variant);
            if self.last_ratings.len() < RATED_MAX || self.last_ratings.contains_key(&key) {
                self.last_ratings.insert(key, entry.after.to_elo());
            }
        }
    }

    /// Counts the first moves of a game. Those of its opening were not its players' choice.
    fn count(&mut self, game: &StoredGame, kinds: &HashMap<PlayerId, PlayerKind>, ratings: &ShownRatings) {
        let is_voided = |settlement: &Settlement| settlement.unrated_because == Some(UnratedReason::Voided);
        if game.spec.is_left_out() || game.settlement.as_ref().is_some_and(is_voided) {
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
        let levels = BySide::from_fn(|side| self.level_of(game, side, ratings));
        let mut position = Position::new(game.spec.variant);
        for (ply, column) in columns.into_iter().take(PLIES_MAX as usize).enumerate() {
            let mover = position.side_to_move();
            if ply >= chosen_from
                && let Some(kind) = kinds.get(&game.spec.players[mover])
            {
                let result = SideResult::of(mover, winner);
                self.count_move(&position, column, (OpponentKind::from(*kind), levels[mover]), result);
            }
            position = position.play_unchecked(column);
        }
    }

    fn count_move(
        &mut self,
        position: &Position,
        column: Column,
        (kind, level): (OpponentKind, Option<Level>),
        result: SideResult,
    ) {
        let has_room = self.level_scores < LEVEL_SCORES_MAX;
        let Some(counted) = self.entry(position, column) else { return };
        counted.at_all_levels.of(kind).count(result);
        let Some(level) = level else { return };
        let known = counted.by_level.iter_mut().find(|score| score.level == level && score.kind == kind);
        if let Some(known) = known {
            known.score.count(result);
        } else if has_room {
            let mut score = WinDrawLoss::default();
            score.count(result);
            counted.by_level.push(LevelScore { level, kind, score });
            self.level_scores += 1;
        }
    }

    /// Where a move in a position is counted, unless there is no room for another position.
    fn entry(&mut self, position: &Position, column: Column) -> Option<&mut CountedMove> {
        let key = (position.variant(), position.key());
        let has_room = self.positions.len() < POSITIONS_MAX;
        if !has_room && !self.positions.contains_key(&key) {
            return None;
        }
        let moves = self.positions.entry(key).or_default();
        let is_it = |counted: &CountedMove| counted.at_all_levels.column == column;
        let index = moves.iter().position(is_it).unwrap_or_else(|| {
            let nothing = WinDrawLoss::default();
            let at_all_levels = Explored { column, people: nothing, bots: nothing };
            moves.push(CountedMove { at_all_levels, by_level: Vec::new() });
            moves.len() - 1
        });
        moves.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::identity_of;
    use crate::model::opening::OpeningKind;
    use crate::model::result::EndReason;
    use crate::play::house::{BotSource, HouseBot, HouseBots};
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{FIRST_WINS, add, add_players, play, player, spec, void};
    use crate::storage::record::{GameSpec, OpeningSource};

    async fn store() -> MemoryStore {
        let store = MemoryStore::new();
        add_players(&store, &["Ada", "Bob"]).await;
        store.commit(&[add(player("Robo", PlayerKind::Bot))]).await.unwrap().remove(0).unwrap();
        store
    }

    /// A house with one bot that was measured beforehand.
    fn house_with(name: &str, elo: i32) -> HouseBots {
        let house = HouseBots::default();
        house.join(HouseBot {
            identity: identity_of(&player(name, PlayerKind::Bot)),
            source: BotSource::Fixed("random".parse().unwrap()),
            style: "any",
            strength: None,
            level: None,
            elo: Some(elo),
            about: String::new(),
        });
        house
    }

    fn casual(id: &str, first: &str, second: &str) -> GameSpec {
        GameSpec { rated: false, ..spec(id, first, second) }
    }

    /// Column, and wins, draws and losses of people and bots.
    type Row = (u8, [u64; 3], [u64; 3]);

    async fn explore(explorer: &Explorer, store: &MemoryStore, moves: &str) -> Option<Vec<Row>> {
        explore_at(explorer, store, moves, None).await
    }

    async fn explore_at(
        explorer: &Explorer,
        store: &MemoryStore,
        moves: &str,
        level: Option<u8>,
    ) -> Option<Vec<Row>> {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let level = level.map(|level| level.try_into().unwrap());
        let found = explorer.explore(store, game.position(), level).await.unwrap()?;
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

    #[tokio::test(start_paused = true)]
    async fn a_game_that_was_taken_out_is_taken_back_at_once() {
        let (store, explorer) = (store().await, Explorer::default());
        for (id, move_made) in [("a", "1"), ("b", "7")] {
            play(&store, casual(id, "Ada", "Bob"), move_made, GameResult::First, EndReason::Resign).await;
        }
        let both = vec![(1, [1, 0, 0], [0; 3]), (7, [1, 0, 0], [0; 3])];
        assert_eq!(explore(&explorer, &store, "").await, Some(both));
        store.commit(&[void("b")]).await.unwrap().remove(0).unwrap();
        explorer.games_withdrawn();
        let left = Some(vec![(1, [1, 0, 0], [0; 3])]);
        assert_eq!(explore(&explorer, &store, "").await, left);
        assert_eq!(explore(&explorer, &store, "").await, left, "and counted once");
        assert_eq!(explore(&Explorer::default(), &store, "").await, left, "after a restart too");
    }

    #[tokio::test(start_paused = true)]
    async fn a_game_that_another_node_took_out_is_taken_back_within_a_minute() {
        let (store, explorer) = (store().await, Explorer::default());
        for (id, move_made) in [("a", "1"), ("b", "7")] {
            play(&store, casual(id, "Ada", "Bob"), move_made, GameResult::First, EndReason::Resign).await;
        }
        let both = Some(vec![(1, [1, 0, 0], [0; 3]), (7, [1, 0, 0], [0; 3])]);
        assert_eq!(explore(&explorer, &store, "").await, both);
        store.commit(&[void("b")]).await.unwrap().remove(0).unwrap();
        tokio::time::advance(LOOK_EVERY / 2).await;
        assert_eq!(explore(&explorer, &store, "").await, both, "nobody has looked into the log again");
        tokio::time::advance(LOOK_EVERY / 2).await;
        assert_eq!(explore(&explorer, &store, "").await, Some(vec![(1, [1, 0, 0], [0; 3])]));
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
    async fn moves_count_at_the_level_of_whoever_played_them() {
        let (store, explorer) = (store().await, Explorer::default());
        let at = async |moves, level| explore_at(&explorer, &store, moves, Some(level)).await.unwrap();
        play(&store, casual("a", "Ada", "Bob"), "4", GameResult::First, EndReason::Resign).await;
        for level in 1..=8 {
            assert_eq!(at("", level).await, [], "nobody has a rating yet, and so none has a level");
        }
        // Newcomers have 750 points, which is level 4, and are there after a game as well.
        play(&store, spec("b", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
        assert_eq!(at("", 4).await, [(1, [1, 0, 0], [0; 3])]);
        assert_eq!(at("1", 4).await, [(2, [0, 0, 1], [0; 3])]);
        assert_eq!((at("", 3).await, at("", 5).await), (vec![], vec![]));
        play(&store, casual("c", "Bob", "Ada"), "4", GameResult::Second, EndReason::Resign).await;
        assert_eq!(at("", 4).await, [(1, [1, 0, 0], [0; 3]), (4, [0, 0, 1], [0; 3])]);
        let all = vec![(1, [1, 0, 0], [0; 3]), (4, [1, 0, 1], [0; 3])];
        assert_eq!(explore(&explorer, &store, "").await, Some(all));

        let again = Explorer::default();
        let anew = explore_at(&again, &store, "", Some(4)).await.unwrap();
        assert_eq!(anew, at("", 4).await, "after a restart all of it is read again, and comes to the same");
    }

    #[tokio::test]
    async fn bots_of_the_house_have_the_level_that_they_were_measured_at() {
        let store = store().await;
        let explorer = Explorer::new(ShownRatings::new(house_with("Robo", 1_756)));
        play(&store, casual("a", "Robo", "Ada"), "4", GameResult::First, EndReason::Resign).await;
        let at = async |level| explore_at(&explorer, &store, "", Some(level)).await.unwrap();
        assert_eq!((at(8).await, at(7).await), (vec![(4, [0; 3], [1, 0, 0])], vec![]));
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
