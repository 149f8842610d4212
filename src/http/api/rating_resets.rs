//! Ratings of a bot of one's own that begin anew, and what it was worth before.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::post;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::own_bots::{NOT_YOURS, own};
use crate::http::answer::List;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::{JsonBody, PathPart};
use crate::http::state::AppState;
use crate::model::population::Population;
use crate::model::text::{Lines, check_text};
use crate::protocol::terms::WireVariant;
use crate::storage::record::StoredPlayer;
use crate::storage::resets::RatingReset;
use crate::storage::store::StoreError;

/// Characters of a reason: a line of a change log.
const REASON_MAX: usize = 200;

/// Why a rating begins anew.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewRatingReset {
    /// What is another one now; 1 to 200 characters, which the owner sees.
    reason: String,
}

/// What a bot was worth from one reset of its rating to the next, or is now.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::http) struct RatingEra {
    /// When its rating began anew, RFC 3339; null of the first era.
    pub(in crate::http) since: Option<String>,
    /// The version that the bot gave itself then; null of the first era, and if it named none.
    pub(in crate::http) version: Option<String>,
    /// Why; null of the first era.
    pub(in crate::http) reason: Option<String>,
    /// By board, as far as its games are in the joint fit.
    pub(in crate::http) ratings: Vec<EraRating>,
}

/// What a bot was worth on one board.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::http) struct EraRating {
    /// Board size.
    pub(in crate::http) variant: WireVariant,
    /// In Elo points, on the scale of today's ratings.
    pub(in crate::http) elo: i32,
    /// Half the width of the interval that holds 95 %, in Elo points.
    pub(in crate::http) pm95: u32,
    /// The games behind it.
    pub(in crate::http) games: u64,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let reset = Operation::post(
        "/api/v1/bots/{name}/rating-resets",
        "Lets the ratings of a bot of one's own begin anew, because it is something else; once a day at most",
        Content::Nothing,
    )
    .status(204)
    .body(schema_of::<NewRatingReset>)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed, ApiCode::RateLimited]);
    let list = Operation::get(
        "/api/v1/bots/{name}/rating-resets",
        "Lists what a bot of one's own was worth from one reset of its rating to the next, the newest first",
        Content::Json(schema_of::<List<RatingEra>>),
    )
    .signed_in()
    .refusals(NOT_YOURS);
    vec![Endpoint::new("/api/v1/bots/{name}/rating-resets", post(reset_rating).get(list_eras), [reset, list])]
}

async fn reset_rating(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
    JsonBody(NewRatingReset { reason }): JsonBody<NewRatingReset>,
) -> Result<StatusCode, ApiError> {
    let bot = state.accounts.bot_of(&who.identity, &name.parse("bot")?).await?;
    let reason = reason.trim();
    if reason.is_empty() {
        return Err(ApiError::bad_field("reason", "a reason is needed: what is another one now"));
    }
    check_text(reason, REASON_MAX, Lines::One)
        .map_err(|bad| ApiError::bad_field("reason", format!("the reason {bad}")))?;
    let stored = state.store.player(&bot).await?.and_then(|bot| bot.profile.version);
    let version = state.arena.bot_presence(&bot).await.map(|there| there.version).or(stored);
    state.accounts.reset_rating(&bot, version.unwrap_or_default(), reason.to_owned()).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn list_eras(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
) -> Result<impl IntoResponse, ApiError> {
    let bot = own(&state, &who, &name).await?;
    let eras = eras_of(&state, &bot).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(List::whole(eras))))
}

/// All eras of a bot, the newest first.
pub(in crate::http) async fn eras_of(
    state: &AppState,
    bot: &StoredPlayer,
) -> Result<Vec<RatingEra>, StoreError> {
    let resets = state.store.rating_resets(Some(&bot.id)).await?;
    let mut ratings = ratings_by_era(state, bot, resets.len());
    let first = RatingEra { since: None, version: None, reason: None, ratings: Vec::new() };
    let later = resets.into_iter().map(|RatingReset { at, version, reason, .. }| RatingEra {
        since: Some(at.to_string()),
        version: Some(version).filter(|version| !version.is_empty()),
        reason: Some(reason),
        ratings: Vec::new(),
    });
    let mut eras: Vec<RatingEra> = std::iter::once(first).chain(later).collect();
    for (number, era) in eras.iter_mut().enumerate() {
        era.ratings = ratings.remove(&number).unwrap_or_default();
    }
    eras.reverse();
    Ok(eras)
}

/// What the joint fits say: of games between bots, where the bot has met some.
fn ratings_by_era(state: &AppState, bot: &StoredPlayer, current: usize) -> BTreeMap<usize, Vec<EraRating>> {
    let fits = state.leaderboard.now();
    let mut found: BTreeMap<usize, Vec<EraRating>> = BTreeMap::new();
    for board in fits.variants() {
        let variant = WireVariant(board);
        let fields = [Population::Bots, Population::All].map(|population| fits.field(board, population));
        for field in fields.into_iter().flatten() {
            let mut add = |era: usize, elo, pm95, games| {
                let of_era = found.entry(era).or_default();
                if of_era.iter().all(|known| known.variant != variant) {
                    of_era.push(EraRating { variant, elo, pm95, games });
                }
            };
            for past in field.past(&bot.id) {
                add(usize::try_from(past.era).unwrap_or(usize::MAX), past.elo, past.pm95, past.games);
            }
            if let Some(now) = field.get(&bot.id) {
                add(current, now.whole_elo(), now.whole_pm95(), now.games);
            }
        }
    }
    found
}
