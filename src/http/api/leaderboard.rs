//! Who is how strong.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use fourfold_engine::Variant;
use schemars::JsonSchema;
use serde::Serialize;

use super::{CURSOR, LIMIT, POPULATION, VARIANT};
use crate::competition::leaderboard::standings::Scale;
use crate::http::answer::List;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::ApiError;
use crate::http::ranking::{self, FitSummary, Home, PublishedShown, RankedRow, RankingQuery, Versions};
use crate::http::request::QueryParameters;
use crate::http::state::AppState;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::population::Population;
use crate::model::rating::elo::ShownRating;

/// A rating with what stands behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct RatingView {
    /// The rating, the same wherever this player is shown, on a scale where the bot `random` has 0: that of the joint
    /// fit, of bots of the house what was measured beforehand until the fit is certain, of others the live one put on
    /// this scale until a fit knows them.
    pub(in crate::http) elo: i32,
    /// The rating that moves with each game.
    pub(in crate::http) live_elo: i32,
    /// Half the width of the 95 % interval of `elo`, in Elo points; 0 of what was measured beforehand.
    pub(in crate::http) pm95: u32,
    /// Whether too few games stand behind it.
    pub(in crate::http) provisional: bool,
    /// Rated games.
    pub(in crate::http) games: u64,
    /// Won.
    pub(in crate::http) wins: u64,
    /// Drawn.
    pub(in crate::http) draws: u64,
    /// Lost.
    pub(in crate::http) losses: u64,
}

impl From<PublishedShown> for RatingView {
    fn from(shown: PublishedShown) -> Self {
        let PublishedShown { rating: ShownRating { elo, pm95, provisional }, live } = shown;
        Self {
            elo,
            live_elo: live.standing.rating.to_elo(),
            pm95,
            provisional,
            games: live.standing.games,
            wins: live.score.wins,
            draws: live.score.draws,
            losses: live.score.losses,
        }
    }
}

/// A row of the leaderboard.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
pub(in crate::http) struct LeaderboardRowView {
    /// From 1; equal ratings share a rank.
    pub(in crate::http) rank: u64,
    /// Stays the same for ever.
    pub(in crate::http) id: PlayerId,
    /// Who.
    pub(in crate::http) name: PlayerName,
    /// Person or bot.
    pub(in crate::http) kind: PlayerKind,
    /// Whether it is a bot of the house.
    pub(in crate::http) house: bool,
    /// The version a bot gives itself.
    pub(in crate::http) version: Option<String>,
    #[serde(flatten)]
    pub(in crate::http) rating: RatingView,
    /// Games that count for the joint fit: repeated ones once, halves of pairs not at all.
    pub(in crate::http) distinct: u64,
    /// Pairs among them.
    pub(in crate::http) pairs: u64,
    /// How many opponents they were against.
    pub(in crate::http) opponents: usize,
    /// Share of moves that kept the value of the position, 0 to 1, by the exact solver; null until games were judged.
    pub(in crate::http) exact: Option<f64>,
    /// The same among positions in which some move would have thrown the value away.
    pub(in crate::http) decision: Option<f64>,
    /// Share of moves than which none was better.
    pub(in crate::http) optimal: Option<f64>,
    /// How likely it is that this player is stronger than the next one in the list, 0 to 1; null in the last row.
    pub(in crate::http) los_next: Option<f64>,
}

/// What fixes the scale.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScaleName {
    /// The bot `random` of the house has 0.
    Random,
    /// `random` has not played here: the mean is 0.
    Mean,
}

/// The bot that never errs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Ceiling")]
struct CeilingView {
    /// Who.
    name: PlayerName,
    /// Its rating.
    elo: i32,
}

/// The joint fit as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
struct FitView {
    /// Elo points that the first move is worth, from the openings that were played.
    first_move_advantage: f64,
    /// What fixes the scale.
    scale: ScaleName,
    /// The bot that never errs, if it has played: where the scale ends.
    ceiling: Option<CeilingView>,
    /// Games that count.
    distinct: u64,
    /// Pairs among them.
    pairs: u64,
    /// Number of the last finished game that was looked at.
    up_to: u64,
    /// Groups of players that never met one another, so that their ratings cannot be compared; empty if all met.
    disconnected: Vec<Vec<PlayerName>>,
    /// Who won every game: nothing bounds these ratings from above.
    only_wins: Vec<PlayerName>,
    /// Who lost every game: nothing bounds these ratings from below.
    only_losses: Vec<PlayerName>,
}

impl From<FitSummary> for FitView {
    fn from(fit: FitSummary) -> Self {
        Self {
            first_move_advantage: (fit.first_move_advantage * 10.0).round() / 10.0,
            scale: match fit.scale {
                Scale::Random => ScaleName::Random,
                Scale::Mean => ScaleName::Mean,
            },
            ceiling: fit.ceiling.map(|ceiling| CeilingView { name: ceiling.name, elo: ceiling.elo }),
            distinct: fit.games,
            pairs: fit.pairs,
            up_to: fit.up_to,
            disconnected: fit.disconnected,
            only_wins: fit.only_wins,
            only_losses: fit.only_losses,
        }
    }
}

/// A leaderboard.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Leaderboard")]
struct LeaderboardAnswer {
    /// The strongest first.
    items: Vec<LeaderboardRowView>,
    /// Goes into the next request as `cursor`; null at the end.
    cursor: Option<String>,
    /// How the ratings were found; null on the list of people, and where nobody has played.
    fit: Option<FitView>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    const HOUSE: Parameter = Parameter {
        name: "house",
        about: "`true`: only bots of the house; `false`: only others",
        schema: schema_of::<bool>,
    };
    let operation = Operation::get(
        "/api/v1/leaderboard",
        "Lists the strongest players who have played rated games",
        Content::Json(schema_of::<LeaderboardAnswer>),
    )
    .parameters(&[POPULATION, VARIANT, HOUSE, LIMIT, CURSOR]);
    vec![Endpoint::new("/api/v1/leaderboard", get(leaderboard), [operation])]
}

async fn leaderboard(
    State(state): State<AppState>,
    parameters: QueryParameters,
) -> Result<Json<LeaderboardAnswer>, ApiError> {
    let population: Population = parameters.optional("list")?.unwrap_or_default();
    let variant: Variant = parameters.optional("variant")?.unwrap_or_default();
    let home = match parameters.optional::<bool>("house")? {
        None => None,
        Some(true) => Some(Home::House),
        Some(false) => Some(Home::Elsewhere),
    };
    let part = parameters.part()?;
    let wanted = RankingQuery { population, variant, home, versions: Versions::Listed, limit: part.up_to() };
    let ranking = ranking::ranking(&state, wanted).await?;
    let rows = ranking.rows.into_iter().map(LeaderboardRowView::from).collect();
    let List { items, cursor } = List::part(rows, part);
    Ok(Json(LeaderboardAnswer { items, cursor, fit: ranking.fit.map(FitView::from) }))
}

impl From<RankedRow> for LeaderboardRowView {
    fn from(row: RankedRow) -> Self {
        let RankedRow { rank, player, shown, counted, skill, los_next } = row;
        Self {
            rank,
            id: player.id,
            name: player.name,
            kind: player.kind,
            house: player.house,
            version: player.profile.version,
            rating: shown.into(),
            distinct: counted.games,
            pairs: counted.pairs,
            opponents: counted.opponents,
            exact: skill.and_then(|skill| skill.good_rate()).map(thousandths),
            decision: skill.and_then(|skill| skill.accuracy()).map(thousandths),
            optimal: skill.and_then(|skill| skill.optimal_rate()).map(thousandths),
            los_next,
        }
    }
}

/// More digits would pretend.
pub(super) fn thousandths(share: f64) -> f64 {
    (share * 1_000.0).round() / 1_000.0
}
