//! Leaderboards as the interface and the page show them: ratings of the last fit, names of now.

use std::collections::HashMap;

use fourfold_arena::stats::fit::Warning;
use fourfold_engine::Variant;
use fourfold_engine::review::Skill;

use super::state::AppState;
use crate::competition::leaderboard::standings::{FittedPlayer, Scale, Standings};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::population::Population;
use crate::model::rating::elo::ShownRating;

use crate::protocol::terms::WireRating;
use crate::storage::record::RatingRow;
use crate::storage::{StoreError, StoredPlayer};

/// Bots of the house, its learners with their versions alone, or the bots of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    House,
    Learners,
    Elsewhere,
}

/// Whether frozen versions of learners are on a list, which they fill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Versions {
    Listed,
    LeftOut,
}

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankingQuery {
    pub(super) population: Population,
    pub(super) variant: Variant,
    pub(super) home: Option<Home>,
    pub(super) versions: Versions,
    pub(super) limit: u32,
}

/// A rating with what stands behind it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PublishedShown {
    /// The same as everywhere.
    pub(super) rating: ShownRating,
    /// The live rating with all rated games.
    pub(super) live: RatingRow,
}

/// A row of a leaderboard.
#[derive(Clone, Debug)]
pub(super) struct RankedRow {
    pub(super) rank: u64,
    pub(super) player: StoredPlayer,
    pub(super) shown: PublishedShown,
    pub(super) counted: Counted,
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
    let mut ranking = fitted(state, wanted).await?;
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

/// The first of everybody, without what only the whole leaderboard says and without frozen versions of learners.
pub(super) async fn strongest(
    state: &AppState,
    variant: Variant,
    limit: usize,
) -> Result<Vec<RankedRow>, StoreError> {
    let snapshot = state.leaderboard.now();
    let Some(field) = snapshot.field(variant, Population::All) else { return Ok(Vec::new()) };
    let mut rated = rated(state, field, variant);
    rated.retain(|one| !state.learning.is_frozen(&one.fitted.player));
    rated.truncate(limit);
    let ids: Vec<PlayerId> = rated.iter().map(|one| one.fitted.player.clone()).collect();
    Ok(rows_of(rated, named(state, &ids).await?))
}

/// Bots, people, or everybody, as far as a joint fit knows them.
async fn fitted(state: &AppState, wanted: RankingQuery) -> Result<Ranking, StoreError> {
    let snapshot = state.leaderboard.now();
    let Some(field) = snapshot.field(wanted.variant, wanted.population) else {
        return Ok(Ranking::default());
    };
    let ids: Vec<PlayerId> = field.rows().iter().map(|row| row.player.clone()).collect();
    let mut players = named(state, &ids).await?;
    let fit = summary(state, field, wanted.variant, &players, snapshot.up_to);
    players.retain(|id, player| {
        let is_left_out = wanted.versions == Versions::LeftOut && state.learning.is_frozen(id);
        wanted.population.includes(player.kind) && !is_left_out
    });
    let mut rows = rows_of(rated(state, field, wanted.variant), players);
    rows.retain(|row| wanted.home.is_none_or(|home| is_at(state, &row.player, home)));
    rows.truncate(wanted.limit as usize);
    for index in 1..rows.len() {
        rows[index - 1].los_next = superiority(field, &rows[index - 1], &rows[index]);
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

/// A player of a field, with the rating that is shown.
struct RatedPlayer<'f> {
    fitted: &'f FittedPlayer,
    shown: PublishedShown,
}

/// All players of a field, the strongest first by what is shown.
fn rated<'f>(state: &AppState, field: &'f Standings, variant: Variant) -> Vec<RatedPlayer<'f>> {
    let shown = |fitted: &'f FittedPlayer| RatedPlayer {
        fitted,
        shown: PublishedShown::of(state, &fitted.player, variant, fitted.live),
    };
    let mut rated: Vec<RatedPlayer<'f>> = field.ranking().map(shown).collect();
    rated.sort_by_key(|one| std::cmp::Reverse(one.shown.rating.elo));
    rated
}

/// The rows of those whose names are given; equals share a rank and stand by their names.
fn rows_of(rated: Vec<RatedPlayer<'_>>, mut players: HashMap<PlayerId, StoredPlayer>) -> Vec<RankedRow> {
    let listed = rated.into_iter().filter_map(|one| {
        let player = players.remove(&one.fitted.player)?;
        Some((one, player))
    });
    let mut rows: Vec<RankedRow> = Vec::new();
    let mut above: Option<(u64, i32)> = None;
    for (place, (RatedPlayer { fitted, shown }, player)) in (1..).zip(listed) {
        let elo = shown.rating.elo;
        let rank = above.filter(|(_, above)| *above == elo).map_or(place, |(rank, _)| rank);
        above = Some((rank, elo));
        let FittedPlayer { games, pairs, opponents, .. } = *fitted;
        let counted = Counted { games, pairs, opponents };
        rows.push(RankedRow { rank, player, shown, counted, skill: None, los_next: None });
    }
    rows.sort_by(|one, other| {
        let name = |row: &RankedRow| row.player.name.key();
        one.rank.cmp(&other.rank).then_with(|| name(one).cmp(&name(other)))
    });
    rows
}

fn summary(
    state: &AppState,
    field: &Standings,
    variant: Variant,
    players: &HashMap<PlayerId, StoredPlayer>,
    up_to: u64,
) -> FitSummary {
    let name = |id: &PlayerId| players.get(id).map(|player| player.name.clone());
    let names = |places: &[usize]| -> Vec<PlayerName> {
        places.iter().filter_map(|&place| name(&field.rows()[place].player)).collect()
    };
    let ceiling = field.ceiling.as_ref().and_then(|id| {
        let rated = field.get(id)?;
        let ShownRating { elo, provisional, .. } =
            state.leaderboard.shown().shown(id, variant, rated.live.standing);
        Some(Ceiling { name: name(id)?, elo, provisional })
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

impl PublishedShown {
    /// As messages name ratings.
    pub(super) fn to_wire(self) -> WireRating {
        self.rating.into()
    }

    /// The rating of a player whose live one is at hand.
    pub(super) fn of(state: &AppState, player: &PlayerId, variant: Variant, live: RatingRow) -> Self {
        let rating = state.leaderboard.shown().shown(player, variant, live.standing);
        Self { rating, live }
    }

    /// The same of whoever has played, or is known otherwise.
    pub(super) fn if_known(
        state: &AppState,
        player: &PlayerId,
        variant: Variant,
        live: Option<RatingRow>,
    ) -> Option<Self> {
        let known = || state.leaderboard.shown().known(player, variant);
        match live {
            Some(live) => Some(Self::of(state, player, variant, live)),
            None => known().map(|rating| Self { rating, live: RatingRow::default() }),
        }
    }
}

/// How likely the first of two is stronger. Where both stand as the field has them, its own word, which knows how far
/// their errors go together; else as if they were independent and normal. `None` of what was measured beforehand, whose
/// error nobody knows here.
fn superiority(field: &Standings, a: &RankedRow, b: &RankedRow) -> Option<f64> {
    let [one, other] = [a, b].map(|row| row.shown.rating);
    if one.is_measured() || other.is_measured() {
        return None;
    }
    let is_of_field =
        |row: &RankedRow| field.get(&row.player.id).is_some_and(|fitted| fitted.shown() == row.shown.rating);
    let of_field =
        (is_of_field(a) && is_of_field(b)).then(|| field.los(&a.player.id, &b.player.id)).flatten();
    Some(rounded(of_field.unwrap_or_else(|| apart(one, other))))
}

/// The same of two whose errors are independent and normal.
fn apart(a: ShownRating, b: ShownRating) -> f64 {
    use fourfold_arena::stats::normal::{Z95, cdf};
    let deviation = f64::from(a.pm95).hypot(f64::from(b.pm95)) / Z95;
    cdf(f64::from(a.elo - b.elo) / deviation)
}

/// Thousandths: more digits would pretend.
fn rounded(probability: f64) -> f64 {
    (probability * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_are_an_even_bet_and_a_wide_gap_is_none() {
        let rating = |elo| ShownRating::fitted(elo, 70, 94);
        let check = |a, b, expected: f64| {
            assert!((apart(rating(a), rating(b)) - expected).abs() < 0.000_5, "{a} {b}");
        };
        check(1_500, 1_500, 0.5);
        check(1_550, 1_500, 0.839);
        check(2_500, 1_500, 1.0);
    }
}
