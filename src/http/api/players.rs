//! One player: who it is, what it played, how its rating went.

pub(in crate::http) mod activity;
mod opponents;
mod picture;
pub(in crate::http) mod skill;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use fourfold_engine::Variant;
use schemars::JsonSchema;
use serde::Serialize;

use self::opponents::{MeetingView, player_crosstable};
use super::games::{CHOSEN, FOR_THE_ASKER, game_list, seen_by};
use super::leaderboard::RatingView;
use super::{CURSOR, LIMIT, VARIANT};
use crate::http::answer::List;
use crate::http::auth::Viewer;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::ApiError;
use crate::http::leagues::Achievements;
use crate::http::ranking::PublishedShown;
use crate::http::request::{PathPart, QueryParameters};
use crate::http::state::AppState;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::portrait::{Flag, Picture, ProfileLine};

use crate::protocol::terms::WireVariant;
use crate::storage::record::{HistoryPoint, RatingRow};
use crate::storage::records::Record;
use crate::storage::{StoreError, StoredPlayer};

/// Everything public about a player.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Profile {
    /// Stays the same for ever.
    id: PlayerId,
    /// Unique without regard to case.
    name: PlayerName,
    /// Person, bot or guest.
    kind: PlayerKind,
    /// Whether it is a bot of the house.
    house: bool,
    /// The account that owns a remote bot.
    owner: Option<PlayerName>,
    /// The bots that a person owns.
    bots: Vec<PlayerName>,
    /// The version a bot gives itself.
    version: Option<String>,
    /// One line on how a bot plays.
    about: Option<String>,
    /// A bot's source or page.
    url: Option<String>,
    /// The picture out of the set that a person has chosen.
    picture: Option<Picture>,
    /// The country that a person shows, by ISO 3166-1 alpha-2.
    flag: Option<Flag>,
    /// The line that a person shows.
    line: Option<ProfileLine>,
    /// The programming language that a bot says it is written in.
    language: Option<String>,
    /// Whether it is connected now.
    online: bool,
    /// When it came, RFC 3339.
    created_at: String,
    /// One for each board size on which it has played rated games.
    ratings: Vec<VariantRating>,
    /// The same by correspondence, which has ratings of its own: `elo` and `live_elo` are one, of which `random` has 0
    /// as well.
    correspondence: Vec<VariantRating>,
}

/// A rating and the board size that it is of.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct VariantRating {
    /// Board size.
    pub(in crate::http) variant: WireVariant,
    #[serde(flatten)]
    pub(in crate::http) rating: RatingView,
}

/// What one game did to a rating.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct RatingPoint {
    /// Which game.
    game: GameId,
    /// When it ended, RFC 3339.
    at: String,
    /// Elo points before it.
    before: i32,
    /// Elo points after it.
    after: i32,
}

impl From<HistoryPoint> for RatingPoint {
    fn from(point: HistoryPoint) -> Self {
        Self {
            game: point.game,
            at: point.at.to_string(),
            before: point.before.to_elo(),
            after: point.after.to_elo(),
        }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let profile = Operation::get(
        "/api/v1/players/{name}",
        "Shows who a player is and how strong",
        Content::Json(schema_of::<Profile>),
    );
    let games = Operation::get(
        "/api/v1/players/{name}/games",
        "Lists a player's finished games, the newest first",
        Content::Json(schema_of::<List<Record>>),
    )
    .parameters(CHOSEN);
    let ratings = Operation::get(
        "/api/v1/players/{name}/ratings",
        "Lists the newest changes of a player's rating, the oldest of them first; behind the cursor are those before them",
        Content::Json(schema_of::<List<RatingPoint>>),
    )
    .parameters(&[VARIANT, LIMIT, CURSOR]);
    let crosstable = Operation::get(
        "/api/v1/players/{name}/crosstable",
        "Lists a player's opponents with how the rated games against them ended, those met most often first",
        Content::Json(schema_of::<List<MeetingView>>),
    )
    .parameters(&[VARIANT, LIMIT, CURSOR]);
    let achievements = Operation::get(
        "/api/v1/players/{name}/achievements",
        "Shows what a player has shown against the bots of the house: leagues with their bosses, and badges",
        Content::Json(schema_of::<Achievements>),
    );
    vec![
        Endpoint::new("/api/v1/players/{name}", get(player_profile), [profile]),
        Endpoint::new("/api/v1/players/{name}/games", get(player_games), [games]),
        Endpoint::new("/api/v1/players/{name}/ratings", get(player_ratings), [ratings]),
        Endpoint::new("/api/v1/players/{name}/crosstable", get(player_crosstable), [crosstable]),
        Endpoint::new("/api/v1/players/{name}/achievements", get(player_achievements), [achievements]),
        skill::endpoint(),
        picture::endpoint(),
        activity::endpoint(),
        opponents::habits(),
    ]
}

/// The player whom a path names.
pub(super) async fn find(state: &AppState, name: &PathPart) -> Result<StoredPlayer, ApiError> {
    let name: PlayerName = name.parse("player")?;
    state.store.player_by_name(&name).await?.ok_or_else(|| ApiError::not_found("player"))
}

async fn player_profile(State(state): State<AppState>, name: PathPart) -> Result<Json<Profile>, ApiError> {
    let player = find(&state, &name).await?;
    profile_of(&state, player).await.map(Json)
}

/// What everybody may know about a player.
pub(super) async fn profile_of(state: &AppState, player: StoredPlayer) -> Result<Profile, ApiError> {
    let owner = match &player.owner {
        Some(owner) => state.store.player(owner).await?.map(|owner| owner.name),
        None => None,
    };
    let bots = state.store.bots_of(&player.id).await?.into_iter().map(|bot| bot.name).collect();
    let ratings = ratings_of(state, &player).await?;
    let correspondence = correspondence_of(state, &player).await?;
    Ok(Profile {
        online: state.arena.is_online(&player.id),
        id: player.id,
        name: player.name,
        kind: player.kind,
        house: player.house,
        owner,
        bots,
        version: player.profile.version,
        about: player.profile.about,
        url: player.profile.url,
        picture: player.portrait.picture,
        flag: player.portrait.flag,
        line: player.portrait.line,
        language: player.profile.language,
        created_at: player.created_at.to_string(),
        ratings,
        correspondence,
    })
}

/// The published ratings of a player.
pub(in crate::http) async fn ratings_of(
    state: &AppState,
    player: &StoredPlayer,
) -> Result<Vec<VariantRating>, StoreError> {
    let view = |(variant, row)| VariantRating {
        variant: WireVariant(variant),
        rating: PublishedShown::of(state, &player.id, variant, row).into(),
    };
    Ok(state.store.ratings_of(&player.id).await?.into_iter().map(view).collect())
}

/// A player's ratings by correspondence.
///
/// # Errors
///
/// The store failed.
pub(in crate::http) async fn correspondence_of(
    state: &AppState,
    player: &StoredPlayer,
) -> Result<Vec<VariantRating>, StoreError> {
    let view = |(variant, live): (Variant, RatingRow)| VariantRating {
        variant: WireVariant(variant),
        rating: PublishedShown { rating: live.standing.shown_live(), live }.into(),
    };
    Ok(state.correspondence.of(&player.id).await?.into_iter().map(view).collect())
}

async fn player_achievements(
    State(state): State<AppState>,
    name: PathPart,
) -> Result<Json<Achievements>, ApiError> {
    let player = find(&state, &name).await?;
    Ok(Json(Achievements::of(&state, &player.id).await?))
}

async fn player_games(
    State(state): State<AppState>,
    name: PathPart,
    viewer: Option<Viewer>,
    parameters: QueryParameters,
) -> Result<impl IntoResponse, ApiError> {
    let player = find(&state, &name).await?;
    let list = game_list(&state, &parameters, Some(player.id), seen_by(viewer.as_ref())).await?;
    Ok((FOR_THE_ASKER, Json(list)))
}

async fn player_ratings(
    State(state): State<AppState>,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<Json<List<RatingPoint>>, ApiError> {
    let variant: Variant = parameters.optional("variant")?.unwrap_or_default();
    let (limit, before) = (parameters.limit()?, parameters.cursor()?);
    let player = find(&state, &name).await?;
    let mut points = state.store.rating_history(&player.id, variant, before, limit + 1).await?;
    let mut cursor = None;
    if points.len() > limit as usize {
        points.remove(0);
        let oldest = state.store.game(&points[0].game).await?;
        cursor = oldest.and_then(|game| game.settlement).map(|settled| settled.number.to_string());
    }
    Ok(Json(List { items: points.into_iter().map(RatingPoint::from).collect(), cursor }))
}
