//! A player's games by opponent, as the interface and the page show them.

use std::collections::HashMap;

use fourfold_arena::stats::elo::expected_score;
use fourfold_engine::{BySide, Variant, WinDrawLoss};

use super::state::AppState;
use crate::competition::leaderboard::standings::Standings;
use crate::model::ids::PlayerId;
use crate::model::population::Population;
use crate::storage::published::Against;
use crate::storage::{StoreError, StoredPlayer};

/// All rated games against one opponent.
#[derive(Clone, Debug)]
pub(super) struct OpponentGames {
    pub(super) opponent: StoredPlayer,
    /// The opponent's rating, as everywhere, once more is known than single games.
    pub(super) elo: Option<i32>,
    /// As the player sees them: games in which it moved first, and the others.
    pub(super) score: BySide<WinDrawLoss>,
    /// Share of the points that the joint fit expects.
    pub(super) expected: Option<f64>,
}

impl OpponentGames {
    pub(super) fn games(&self) -> u64 {
        self.total().games()
    }

    /// Share of the points.
    pub(super) fn share(&self) -> f64 {
        self.total().share().unwrap_or_default()
    }

    /// Wins, draws and losses by whichever side.
    pub(super) fn total(&self) -> WinDrawLoss {
        self.score.sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody plays 2^53 games")]
fn real(count: u64) -> f64 {
    count as f64
}

/// The opponents whom a player has met most often.
pub(super) async fn crosstable(
    state: &AppState,
    player: &PlayerId,
    variant: Variant,
    limit: u32,
) -> Result<Vec<OpponentGames>, StoreError> {
    let rows = state.store.crosstable(player, variant, limit).await?;
    described(state, player, variant, rows).await
}

/// Rows of a crosstable with who the opponents are, and what was to be expected.
pub(super) async fn described(
    state: &AppState,
    player: &PlayerId,
    variant: Variant,
    rows: Vec<Against>,
) -> Result<Vec<OpponentGames>, StoreError> {
    let ids: Vec<PlayerId> = rows.iter().map(|row| row.opponent.clone()).collect();
    let opponents = state.store.players(&ids).await?;
    let mut opponents: HashMap<PlayerId, StoredPlayer> =
        opponents.into_iter().map(|player| (player.id.clone(), player)).collect();
    let snapshot = state.leaderboard.now();
    let field = |list| snapshot.field(variant, list);
    let meeting = |row: Against| {
        let opponent = opponents.remove(&row.opponent)?;
        let fields = [field(Population::Bots), field(Population::All)];
        // Both on the scale of one fit: that between bots if it knows them.
        let known = fields.into_iter().flatten().find_map(|field| expected(field, player, &row));
        let elo = state.leaderboard.shown().known(&opponent.id, variant).map(|known| known.elo);
        Some(OpponentGames { opponent, elo, score: row.score, expected: known })
    };
    Ok(rows.into_iter().filter_map(meeting).collect())
}

/// The share of the points that a fit expects of the player, with the first move as often as it had it.
fn expected(field: &Standings, player: &PlayerId, row: &Against) -> Option<f64> {
    let difference = field.get(player)?.elo - field.get(&row.opponent)?.elo;
    let advantage = field.first_move_advantage;
    let [first, second] = [row.score.first.games(), row.score.second.games()].map(real);
    let points =
        first * expected_score(difference + advantage) + second * expected_score(difference - advantage);
    Some(points / (first + second).max(1.0))
}
