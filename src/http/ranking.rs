//! Leaderboards as the interface and the page show them: ratings of the last fit, names of now.

use std::collections::HashMap;

use fourfold_arena::stats::fit::Warning;
use fourfold_engine::Variant;
use fourfold_engine::review::Skill;

use super::state::AppState;
use crate::competition::leaderboard::standings::{FittedPlayer, Scale, Standings};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::population::Population;
use crate::model::rating::elo::pm95;

use crate::protocol::terms::WireRating;
use crate::storage::record::RatingRow;
use crate::storage::{StoreError, StoredPlayer};

/// People on their list at most.
const PEOPLE_MAX: u32 = 200;

/// Bots of the house, its learners with their versions alone, or the bots of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    House,
    Learners,
    Elsewhere,
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankingQuery {
    pub(super) population: Population,
    pub(super) variant: Variant,
    pub(super) home: Option<Home>,
    pub(super) limit: u32,
}

/// A published rating with what stands behind it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PublishedShown {
    pub(super) elo: i32,
    /// Half the width of the interval that holds 95 %.
    pub(super) pm95: u32,
    /// The live rating with all rated games.
    pub(super) live: RatingRow,
}

/// A row of a leaderboard.
#[derive(Clone, Debug)]
pub(super) struct RankedRow {
    pub(super) rank: u64,
    pub(super) player: StoredPlayer,
    pub(super) shown: PublishedShown,
    /// Of the joint fit; none on the list of people.
    pub(super) counted: Option<Counted>,
    /// How well it plays by the exact solver, once games were judged.
    pub(super) skill: Option<Skill>,
    /// How probable it is that this player is stronger than the next row's.
    pub(super) los_next: Option<f64>,
}

/// What a rating of the joint fit rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counted {
    pub(super) games: u64,
    pub(super) pairs: u64,
    pub(super) opponents: usize,
}

/// The bot that never errs, where it has played.
#[derive(Clone, Debug)]
pub(super) struct Ceiling {
    pub(super) name: PlayerName,
    pub(super) elo: i32,
    pub(super) provisional: bool,
}

/// A joint fit as a whole.
#[derive(Clone, Debug)]
pub(super) struct FitSummary {
    pub(super) first_move_advantage: f64,
    pub(super) scale: Scale,
    /// The bot that never errs.
    pub(super) ceiling: Option<Ceiling>,
    pub(super) games: u64,
    pub(super) pairs: u64,
    pub(super) up_to: u64,
    /// Groups that never met one another.
    pub(super) disconnected: Vec<Vec<PlayerName>>,
    /// Who won every game, and who lost every one: nothing bounds their ratings on one side.
    pub(super) only_wins: Vec<PlayerName>,
    pub(super) only_losses: Vec<PlayerName>,
}

/// A whole leaderboard.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranking {
    pub(super) rows: Vec<RankedRow>,
    /// None on the list of people, and where nobody has played.
    pub(super) fit: Option<FitSummary>,
}

pub(super) async fn ranking(state: &AppState, wanted: RankingQuery) -> Result<Ranking, StoreError> {
    let mut ranking = match wanted.population {
        Population::People => people(state, wanted).await?,
        Population::All | Population::Bots => fitted(state, wanted).await?,
    };
    if !ranking.rows.is_empty() {
        let skills = state.store.skills(wanted.variant).await?;
        let mut skills: HashMap<PlayerId, Skill> =
            skills.into_iter().map(|(player, sums)| (player, sums.skill)).collect();
        for row in &mut ranking.rows {
            row.skill = skills.remove(&row.player.id);
        }
    }
    Ok(ranking)
}

/// The first of everybody by the joint fit, without what only the whole leaderboard says.
pub(super) async fn strongest(
    state: &AppState,
    variant: Variant,
    limit: usize,
) -> Result<Vec<RankedRow>, StoreError> {
    let snapshot = state.leaderboard.now();
    let Some(field) = snapshot.field(variant, Population::All) else { return Ok(Vec::new()) };
    let ids: Vec<PlayerId> = field.ranking().take(limit).map(|rated| rated.player.clone()).collect();
    Ok(rows_of(field, named(state, &ids).await?, Population::All))
}

/// Bots, or everybody, by their joint fit.
async fn fitted(state: &AppState, wanted: RankingQuery) -> Result<Ranking, StoreError> {
    let snapshot = state.leaderboard.now();
    let Some(field) = snapshot.field(wanted.variant, wanted.population) else {
        return Ok(Ranking::default());
    };
    let ids: Vec<PlayerId> = field.rows().iter().map(|row| row.player.clone()).collect();
    let players = named(state, &ids).await?;
    let fit = summary(field, &players, snapshot.up_to);
    let mut rows = rows_of(field, players, wanted.population);
    rows.retain(|row| wanted.home.is_none_or(|home| is_at(state, &row.player, home)));
    rows.truncate(wanted.limit as usize);
    for index in 1..rows.len() {
        let los = field.los(&rows[index - 1].player.id, &rows[index].player.id);
        rows[index - 1].los_next = los.map(rounded);
    }
    Ok(Ranking { rows, fit: Some(fit) })
}

/// The players of these ids.
async fn named(state: &AppState, ids: &[PlayerId]) -> Result<HashMap<PlayerId, StoredPlayer>, StoreError> {
    let players = state.store.players(ids).await?;
    Ok(players.into_iter().map(|player| (player.id.clone(), player)).collect())
}

fn is_at(state: &AppState, player: &StoredPlayer, home: Home) -> bool {
    match home {
        Home::House => player.house,
        Home::Learners => state.learning.games_learnt(&player.id).is_some(),
        Home::Elsewhere => !player.house,
    }
}

/// The rows of a field, the strongest first; equals share a rank and stand by their names.
fn rows_of(
    field: &Standings,
    mut players: HashMap<PlayerId, StoredPlayer>,
    population: Population,
) -> Vec<RankedRow> {
    let listed = field.ranking().filter_map(|rated| {
        let player = players.remove(&rated.player).filter(|player| population.includes(player.kind))?;
        Some((rated, player))
    });
    let mut rows: Vec<RankedRow> = Vec::with_capacity(field.rows().len());
    let mut above: Option<(u64, f64)> = None;
    for (place, (rated, player)) in (1..).zip(listed) {
        let rank =
            above.filter(|(_, elo)| elo.to_bits() == rated.elo.to_bits()).map_or(place, |(rank, _)| rank);
        above = Some((rank, rated.elo));
        let FittedPlayer { games, pairs, opponents, .. } = *rated;
        let counted = Some(Counted { games, pairs, opponents });
        rows.push(RankedRow {
            rank,
            player,
            shown: PublishedShown::fitted(rated),
            counted,
            skill: None,
            los_next: None,
        });
    }
    rows.sort_by(|one, other| {
        let name = |row: &RankedRow| row.player.name.key();
        one.rank.cmp(&other.rank).then_with(|| name(one).cmp(&name(other)))
    });
    rows
}

fn summary(field: &Standings, players: &HashMap<PlayerId, StoredPlayer>, up_to: u64) -> FitSummary {
    let name = |id: &PlayerId| players.get(id).map(|player| player.name.clone());
    let names = |places: &[usize]| -> Vec<PlayerName> {
        places.iter().filter_map(|&place| name(&field.rows()[place].player)).collect()
    };
    let ceiling = field.ceiling.as_ref().and_then(|id| {
        let rated = field.get(id)?;
        let provisional = rated.live.standing.is_provisional();
        Some(Ceiling { name: name(id)?, elo: rated.whole_elo(), provisional })
    });
    let mut summary = FitSummary {
        first_move_advantage: field.first_move_advantage,
        scale: field.scale,
        ceiling,
        games: field.games,
        pairs: field.pairs,
        up_to,
        disconnected: Vec::new(),
        only_wins: Vec::new(),
        only_losses: Vec::new(),
    };
    for warning in &field.warnings {
        match warning {
            Warning::Disconnected(groups) => {
                summary.disconnected = groups.iter().map(|group| names(group)).collect();
            }
            Warning::OnlyWins(players) => summary.only_wins = names(players),
            Warning::OnlyLosses(players) => summary.only_losses = names(players),
        }
    }
    summary
}

/// People by their live Elo.
async fn people(state: &AppState, wanted: RankingQuery) -> Result<Ranking, StoreError> {
    let limit = wanted.limit.min(PEOPLE_MAX);
    let stored = state.store.leaderboard(Population::People, wanted.variant, limit).await?;
    let mut rows: Vec<RankedRow> = stored
        .into_iter()
        .filter(|row| wanted.home.is_none_or(|home| is_at(state, &row.player, home)))
        .map(|row| RankedRow {
            rank: row.rank,
            player: row.player,
            shown: PublishedShown::live(row.rating),
            counted: None,
            skill: None,
            los_next: None,
        })
        .collect();
    for index in 1..rows.len() {
        rows[index - 1].los_next = Some(superiority(rows[index - 1].shown, rows[index].shown));
    }
    Ok(Ranking { rows, fit: None })
}

impl PublishedShown {
    fn fitted(rated: &FittedPlayer) -> Self {
        Self { elo: rated.whole_elo(), pm95: rated.whole_pm95(), live: rated.live }
    }

    /// As messages name ratings.
    pub(super) fn to_wire(self) -> WireRating {
        let Self { elo, pm95, live } = self;
        WireRating { elo, pm95, provisional: live.standing.is_provisional() }
    }

    fn live(row: RatingRow) -> Self {
        Self { elo: row.standing.rating.to_elo(), pm95: pm95(row.standing.games), live: row }
    }

    /// The published rating of a player: of bots that of the fit between bots, or where they have met none that of
    /// all; of people, and of whoever no fit knows, the live one.
    pub(super) fn published(
        state: &AppState,
        player: &StoredPlayer,
        variant: Variant,
        live: RatingRow,
    ) -> Self {
        let is_fitted = player.kind == PlayerKind::Bot;
        let fitted = is_fitted.then(|| Self::of_bot(state, &player.id, variant, live)).flatten();
        fitted.unwrap_or(Self::live(live))
    }

    /// The rating of a bot by the fit between bots, or where it has met none by that of all. `None` if neither knows
    /// it.
    pub(super) fn of_bot(
        state: &AppState,
        player: &PlayerId,
        variant: Variant,
        live: RatingRow,
    ) -> Option<Self> {
        let snapshot = state.leaderboard.now();
        let rated = [Population::Bots, Population::All]
            .into_iter()
            .find_map(|population| snapshot.field(variant, population)?.get(player).cloned());
        rated.map(|rated| Self { live, ..Self::fitted(&rated) })
    }
}

/// How likely `a` is stronger than `b`, if both live ratings are off by independent normal errors of which [`pm95`]
/// gives the size.
fn superiority(a: PublishedShown, b: PublishedShown) -> f64 {
    use fourfold_arena::stats::normal::{Z95, cdf};
    let deviation = f64::from(a.pm95).hypot(f64::from(b.pm95)) / Z95;
    rounded(cdf(f64::from(a.elo - b.elo) / deviation))
}

/// Thousandths: more digits would pretend.
fn rounded(probability: f64) -> f64 {
    (probability * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rating::elo::{MilliElo, Standing};

    #[test]
    fn equals_are_an_even_bet_and_a_wide_gap_is_none() {
        let shown = |elo: i32| {
            let standing = Standing { rating: MilliElo(i64::from(elo) * 1_000), games: 94 };
            PublishedShown {
                pm95: 70,
                ..PublishedShown::live(RatingRow { standing, ..RatingRow::default() })
            }
        };
        let check = |a, b, expected: f64| {
            assert!((superiority(shown(a), shown(b)) - expected).abs() < 0.000_1, "{a} {b}");
        };
        check(1_500, 1_500, 0.5);
        check(1_550, 1_500, 0.839);
        check(2_500, 1_500, 1.0);
    }
}
