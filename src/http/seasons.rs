//! Seasons as the interface and the pages show them: ratings of the last fit, names of now.

use std::collections::HashMap;

use super::state::AppState;
use crate::competition::leaderboard::SeasonTable;
use crate::competition::leaderboard::seasons::SeasonPhase;
use crate::competition::leaderboard::standings::{FittedPlayer, Standings};
use crate::model::ids::PlayerId;
use crate::model::population::Population;
use crate::model::time::UnixMillis;
use crate::storage::{StoreError, StoredPlayer};

/// A row of a season's table.
#[derive(Clone, Debug)]
pub(super) struct SeasonRow {
    /// From 1; equal ratings share a rank.
    pub(super) rank: u64,
    pub(super) player: StoredPlayer,
    pub(super) fitted: FittedPlayer,
}

/// Where somebody stands in a season.
#[derive(Clone, Debug)]
pub(super) struct SeasonPlace {
    pub(super) season: String,
    pub(super) phase: SeasonPhase,
    pub(super) rank: u64,
    /// How many players are in its table.
    pub(super) players: u64,
}

/// The season of this name, in any case.
pub(super) fn named(state: &AppState, name: &str) -> Option<SeasonTable> {
    let is_it = |table: &&SeasonTable| table.season.name.to_lowercase() == name.to_lowercase();
    state.leaderboard.now().seasons.iter().find(is_it).cloned()
}

/// The players of a season on this list, the strongest first, without frozen versions of learners.
pub(super) async fn rows(
    state: &AppState,
    table: &SeasonTable,
    population: Population,
) -> Result<Vec<SeasonRow>, StoreError> {
    let Some(fits) = &table.fits else { return Ok(Vec::new()) };
    let field = fits.of(population);
    let ids: Vec<PlayerId> = field.rows().iter().map(|row| row.player.clone()).collect();
    let players = state.store.players(&ids).await?;
    let mut players: HashMap<PlayerId, StoredPlayer> = players
        .into_iter()
        .filter(|player| population.includes(player.kind))
        .map(|player| (player.id.clone(), player))
        .collect();
    let listed: Vec<(&FittedPlayer, StoredPlayer)> =
        shown(state, field).filter_map(|fitted| Some((fitted, players.remove(&fitted.player)?))).collect();
    let ranks = ranks(listed.iter().map(|(fitted, _)| fitted.whole_elo()));
    let rows = ranks.into_iter().zip(listed);
    Ok(rows.map(|(rank, (fitted, player))| SeasonRow { rank, player, fitted: fitted.clone() }).collect())
}

/// Where a player came in, among everybody, in each season that has games of theirs: the latest first.
pub(super) fn places(state: &AppState, player: &PlayerId) -> Vec<SeasonPlace> {
    let now = UnixMillis::now();
    let place = |table: &SeasonTable| {
        let field = &table.fits.as_ref()?.all;
        let listed: Vec<&FittedPlayer> = shown(state, field).collect();
        let at = listed.iter().position(|fitted| fitted.player == *player)?;
        Some(SeasonPlace {
            season: table.season.name.clone(),
            phase: table.season.phase(now),
            rank: ranks(listed.iter().map(|fitted| fitted.whole_elo()))[at],
            players: u64::try_from(listed.len()).unwrap_or(u64::MAX),
        })
    };
    state.leaderboard.now().seasons.iter().filter_map(place).collect()
}

fn shown<'f>(state: &AppState, field: &'f Standings) -> impl Iterator<Item = &'f FittedPlayer> {
    field.ranking().filter(move |fitted| !state.learning.is_frozen(&fitted.player))
}

/// The ranks of ratings in their order, from 1; equals share one.
fn ranks(elos: impl Iterator<Item = i32>) -> Vec<u64> {
    let mut above: Option<(u64, i32)> = None;
    let rank = |(place, elo): (u64, i32)| {
        let rank = above.filter(|(_, above)| *above == elo).map_or(place, |(rank, _)| rank);
        above = Some((rank, elo));
        rank
    };
    (1..).zip(elos).map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_share_a_rank() {
        assert_eq!(ranks([900, 700, 700, 10].into_iter()), [1, 2, 2, 4]);
    }
}
