//! Who is how strong.

use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use fourfold_engine::Variant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LIMIT, VARIANT};
use crate::http::answer::List;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::ApiError;
use crate::http::request::Parameters;
use crate::http::state::AppState;
use crate::ids::{PlayerId, PlayerName};
use crate::protocol::terms::PlayerKind;
use crate::rating::elo::pm95;
use crate::storage::record::{LeaderboardRow, RatingRow};
use crate::storage::store::Board;

/// Which players are listed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ListName {
    /// Everybody.
    #[default]
    All,
    /// People with an account.
    People,
    /// Remote and house bots.
    Bots,
}

impl FromStr for ListName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            "people" => Ok(Self::People),
            "bots" => Ok(Self::Bots),
            _ => Err("list is all, people or bots"),
        }
    }
}

impl From<ListName> for Board {
    fn from(list: ListName) -> Self {
        match list {
            ListName::All => Self::All,
            ListName::People => Self::People,
            ListName::Bots => Self::Bots,
        }
    }
}

/// A rating with what stands behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(super) struct RatingView {
    /// The published rating. Until ratings are fitted over all games, it is `live_elo`.
    elo: i32,
    /// The rating that moves with each game.
    live_elo: i32,
    /// Half the width of the 95 % interval, in Elo points.
    pm95: u32,
    /// Whether too few games stand behind it.
    provisional: bool,
    /// Rated games.
    games: u64,
    /// Won.
    wins: u64,
    /// Drawn.
    draws: u64,
    /// Lost.
    losses: u64,
}

impl From<RatingRow> for RatingView {
    fn from(row: RatingRow) -> Self {
        let elo = row.standing.rating.to_elo();
        Self {
            elo,
            live_elo: elo,
            pm95: pm95(row.standing.games),
            provisional: row.standing.is_provisional(),
            games: row.standing.games,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
        }
    }
}

/// A row of the leaderboard.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
struct Row {
    /// From 1; equal ratings share a rank.
    rank: u64,
    /// Stays the same for ever.
    id: PlayerId,
    /// Who.
    name: PlayerName,
    /// Person or bot.
    kind: PlayerKind,
    #[serde(flatten)]
    rating: RatingView,
    /// Share of moves that kept the value of the game, 0 to 1; null until it is measured.
    exact: Option<f64>,
    /// How likely it is that this player is stronger than the next one in the list, 0 to 1; null in the last row.
    los_next: Option<f64>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    const LIST: Parameter =
        Parameter { name: "list", about: "Who is listed; `all` if left out", schema: schema_of::<ListName> };
    let operation = Operation::get(
        "/api/v1/leaderboard",
        "Lists the strongest players who have played rated games",
        Content::Json(schema_of::<List<Row>>),
    )
    .parameters(&[LIST, VARIANT, LIMIT]);
    vec![Endpoint::new("/api/v1/leaderboard", get(leaderboard), [operation])]
}

async fn leaderboard(
    State(state): State<AppState>,
    parameters: Parameters,
) -> Result<Json<List<Row>>, ApiError> {
    let list: ListName = parameters.optional("list")?.unwrap_or_default();
    let variant: Variant = parameters.optional("variant")?.unwrap_or_default();
    let stored = state.store.leaderboard(list.into(), variant, parameters.limit()?).await?;
    Ok(Json(List::whole(rows(stored))))
}

fn rows(stored: Vec<LeaderboardRow>) -> Vec<Row> {
    let mut rows: Vec<Row> = stored.into_iter().map(row).collect();
    for index in 1..rows.len() {
        let next = rows[index].rating;
        rows[index - 1].los_next = Some(superiority(rows[index - 1].rating, next));
    }
    rows
}

fn row(stored: LeaderboardRow) -> Row {
    Row {
        rank: stored.rank,
        id: stored.player.id,
        name: stored.player.name,
        kind: stored.player.kind,
        rating: stored.rating.into(),
        exact: None,
        los_next: None,
    }
}

/// How likely `a` is stronger than `b`, if both ratings are off by independent normal errors of which [`pm95`] gives
/// the size. Rounded to thousandths: more digits would pretend.
fn superiority(a: RatingView, b: RatingView) -> f64 {
    /// Standard deviations in half the width of a 95 % interval.
    const DEVIATIONS: f64 = 1.96;
    let deviation = f64::from(a.pm95).hypot(f64::from(b.pm95)) / DEVIATIONS;
    let z = f64::from(a.live_elo - b.live_elo) / deviation;
    (normal_cdf(z) * 1_000.0).round() / 1_000.0
}

/// The normal distribution's share below `z`, by Abramowitz and Stegun's formula 26.2.17 (1964): off by at most
/// 7.5e-8.
fn normal_cdf(z: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] =
        [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let polynomial = COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let upper = density * polynomial;
    if z < 0.0 { upper } else { 1.0 - upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_has_its_known_values() {
        for (z, expected) in [(0.0, 0.5), (1.0, 0.841_345), (1.96, 0.975_002), (-1.96, 0.024_998), (8.0, 1.0)]
        {
            assert!((normal_cdf(z) - expected).abs() < 1e-6, "{z}");
        }
    }

    #[test]
    fn equals_are_an_even_bet_and_a_wide_gap_is_none() {
        let view = |live_elo| RatingView {
            elo: live_elo,
            live_elo,
            pm95: 70,
            provisional: false,
            games: 100,
            wins: 0,
            draws: 0,
            losses: 0,
        };
        let check = |a, b, expected: f64| {
            assert!((superiority(view(a), view(b)) - expected).abs() < 0.000_1, "{a} {b}");
        };
        check(1_500, 1_500, 0.5);
        check(1_550, 1_500, 0.839);
        check(2_500, 1_500, 1.0);
    }
}
