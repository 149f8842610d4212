//! A bot as its owner sees it: presence, versions, self-tests, faults, tokens, and what it thought.
//!
//! The bot itself may read and test with its own token, under its name or as `@me`; tokens are its owner's business.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use fourfold_engine::Side;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LIMIT;
use crate::accounts::{Authenticated, Issued};
use crate::competition::self_test::BeginError;
use crate::http::answer::List;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::{PathPart, PathParts, QueryParameters};
use crate::http::state::{AppState, BotPresence, TroubleView};
use crate::model::ids::{GameId, PlayerId, PlayerName, TokenId};
use crate::model::player::PlayerKind;
use crate::protocol::client::MoveInfo;

use crate::protocol::terms::WireSide;
use crate::storage::bot_versions::{BotFault, BotVersion};
use crate::storage::record::{EventKind, StoredGame, StoredPlayer, StoredToken};
use crate::storage::records::self_test::TestReport;
use crate::storage::store::{GameQuery, StoreError};
use crate::storage::words::Word as _;

/// Stands for the bot whose token asks. No player can be called so.
pub(super) const MYSELF: &str = "@me";

/// A bot as its owner sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the answer's own form: one field for each thing that is so or not"
)]
pub(in crate::http) struct OwnBot {
    /// Stays the same for ever.
    pub(in crate::http) id: PlayerId,
    /// What it is called.
    pub(in crate::http) name: PlayerName,
    /// Whether it is connected now.
    pub(in crate::http) connected: bool,
    /// Whether it stands on the ladder and in the directory.
    pub(in crate::http) open: bool,
    /// Whether it takes no new games.
    pub(in crate::http) draining: bool,
    /// The version that it gives itself; null if it is not connected.
    pub(in crate::http) version: Option<String>,
    /// Whether that version may play rated games; null if it is not connected.
    pub(in crate::http) may_play_rated: Option<bool>,
    /// Why the ladder leaves it out; null if it does not.
    pub(in crate::http) trouble: Option<TroubleView>,
    /// Its games under way.
    pub(in crate::http) games: Vec<GameId>,
    /// The last game that it finished.
    pub(in crate::http) last_game: Option<GameId>,
    /// Whether a self-test of it is under way.
    pub(in crate::http) self_testing: bool,
    /// The versions that it gave itself, those seen last first.
    pub(in crate::http) versions: Vec<VersionView>,
}

/// A version that a bot gave itself.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(in crate::http) struct VersionView {
    /// As it was given; empty if the bot names none.
    pub(in crate::http) version: String,
    /// When it connected for the first time, RFC 3339.
    pub(in crate::http) first_seen: String,
    /// When it connected last, RFC 3339.
    pub(in crate::http) last_seen: String,
    /// When it last passed the self-test, RFC 3339. What failed later does not take that back.
    pub(in crate::http) passed_at: Option<String>,
    /// When it was last tested, RFC 3339.
    pub(in crate::http) tested_at: Option<String>,
    /// What that test found.
    pub(in crate::http) report: Option<TestReport>,
}

impl VersionView {
    fn new(stored: BotVersion) -> Self {
        let report = stored.tested.as_ref().and_then(|test| TestReport::from_stored(&test.report));
        Self {
            version: stored.version,
            first_seen: stored.first_seen.to_string(),
            last_seen: stored.last_seen.to_string(),
            passed_at: stored.passed_at.map(|at| at.to_string()),
            tested_at: stored.tested.map(|test| test.at.to_string()),
            report,
        }
    }
}

/// What a bot did wrong.
#[derive(Debug, Serialize, JsonSchema)]
struct FaultView {
    /// `illegal_move`, `illegal`, `time`, `left` or `disconnected`.
    kind: &'static str,
    /// The same in words.
    note: String,
    /// In which game, if in one.
    game: Option<GameId>,
    /// When, RFC 3339.
    at: String,
}

impl FaultView {
    fn new(fault: BotFault) -> Self {
        Self { kind: fault.kind.as_str(), note: fault.note, game: fault.game, at: fault.at.to_string() }
    }
}

/// A token, which cannot be read again.
#[derive(Debug, Serialize, JsonSchema)]
struct TokenView {
    /// Names it without revealing it.
    id: TokenId,
    /// When it was made, RFC 3339.
    created_at: String,
    /// When it ends by itself, RFC 3339; null if it does not.
    expires_at: Option<String>,
    /// What it may be used for: `manage`, `play` or `read`.
    scope: &'static str,
}

/// One more token.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CreatedToken {
    /// Names the token without revealing it.
    pub(crate) id: TokenId,
    /// The token, shown this once.
    pub(crate) token: String,
}

/// How a self-test stands.
#[derive(Debug, Serialize, JsonSchema)]
struct SelfTestState {
    /// Whether one is under way.
    running: bool,
    /// The version that the bot gives itself; that of the last connection if it is not there.
    version: Option<String>,
    /// When that version last passed, RFC 3339.
    passed_at: Option<String>,
    /// When it was last tested, RFC 3339.
    tested_at: Option<String>,
    /// What that test found.
    report: Option<TestReport>,
}

/// What a bot thought about one of its moves.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Thought")]
pub(in crate::http) struct ThoughtView {
    /// Stones on the board after the move.
    pub(in crate::http) ply: usize,
    /// The column that was played.
    pub(in crate::http) column: u8,
    /// Which side the bot plays.
    pub(in crate::http) by: WireSide,
    /// How long it took, in milliseconds, the network's part included.
    pub(in crate::http) spent_ms: u64,
    /// What it said; null if it said nothing.
    pub(in crate::http) info: Option<MoveInfo>,
}

pub(super) const NOT_YOURS: &[ApiCode] = &[ApiCode::Forbidden, ApiCode::NotFound];
const NOT_YOURS_TO_CHANGE: &[ApiCode] = &[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed];

pub(super) fn endpoints() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/bots/{name}",
        "Shows a bot of one's own: whether it is there, its versions with their self-tests, its games",
        Content::Json(schema_of::<OwnBot>),
    )
    .signed_in()
    .refusals(NOT_YOURS);
    let faults = Operation::get(
        "/api/v1/bots/{name}/faults",
        "Lists what a bot of one's own did wrong, the newest first; the last 100 are kept",
        Content::Json(schema_of::<List<FaultView>>),
    )
    .parameters(&[LIMIT])
    .signed_in()
    .refusals(NOT_YOURS);
    let begin = Operation::post(
        "/api/v1/bots/{name}/self-test",
        "Begins a self-test of a bot of one's own, which must be connected",
        Content::Json(schema_of::<SelfTestState>),
    )
    .status(202)
    .signed_in()
    .refusals(&[
        ApiCode::Forbidden,
        ApiCode::NotFound,
        ApiCode::OriginNotAllowed,
        ApiCode::Conflict,
        ApiCode::Busy,
    ]);
    let test = Operation::get(
        "/api/v1/bots/{name}/self-test",
        "Says how the self-test of a bot of one's own stands, and what the last one found",
        Content::Json(schema_of::<SelfTestState>),
    )
    .signed_in()
    .refusals(NOT_YOURS);
    let rotate = Operation::post(
        "/api/v1/bots/{name}/tokens/{id}/rotate",
        "Puts a new token, shown this once, in the place of one that ends now",
        Content::Json(schema_of::<CreatedToken>),
    )
    .signed_in()
    .refusals(NOT_YOURS_TO_CHANGE);
    let revoke = Operation::delete(
        "/api/v1/bots/{name}/tokens/{id}",
        "Revokes one token of a bot of one's own; a connection that rests on it closes",
        Content::Nothing,
    )
    .status(204)
    .signed_in()
    .refusals(NOT_YOURS_TO_CHANGE);
    let thoughts = Operation::get(
        "/api/v1/games/{id}/info",
        "Shows what one's own bots thought about their moves in a game, as their `info` said",
        Content::Json(schema_of::<List<ThoughtView>>),
    )
    .signed_in()
    .refusals(NOT_YOURS);
    vec![
        Endpoint::new("/api/v1/bots/{name}", get(show_bot), [show]),
        Endpoint::new("/api/v1/bots/{name}/faults", get(list_faults), [faults]),
        Endpoint::new("/api/v1/bots/{name}/self-test", post(begin_test).get(show_test), [begin, test]),
        Endpoint::new("/api/v1/bots/{name}/tokens/{id}/rotate", post(rotate_token), [rotate]),
        Endpoint::new("/api/v1/bots/{name}/tokens/{id}", delete(revoke_token), [revoke]),
        Endpoint::new("/api/v1/games/{id}/info", get(game_info), [thoughts]),
    ]
}

/// What [`list_tokens`] answers with, beside the other methods of its path.
pub(super) fn tokens_operation() -> Operation {
    Operation::get(
        "/api/v1/bots/{name}/tokens",
        "Lists the tokens of a bot of one's own, the newest first, without what they are",
        Content::Json(schema_of::<List<TokenView>>),
    )
    .signed_in()
    .refusals(NOT_YOURS)
}

/// The bot of that name, if whoever asks owns it, or is it.
pub(super) async fn own(
    state: &AppState,
    who: &Authenticated,
    name: &PathPart,
) -> Result<StoredPlayer, ApiError> {
    let id = match who.identity.kind {
        PlayerKind::Bot if name.0 == MYSELF || who.identity.name.as_str().eq_ignore_ascii_case(&name.0) => {
            who.identity.id.clone()
        }
        PlayerKind::Human | PlayerKind::Bot | PlayerKind::Guest => {
            state.accounts.bot_of(&who.identity, &name.parse("bot")?).await?
        }
    };
    state.store.player(&id).await?.ok_or_else(|| ApiError::not_found("bot"))
}

/// A bot as its owner sees it.
pub(in crate::http) async fn own_bot(state: &AppState, bot: &StoredPlayer) -> Result<OwnBot, StoreError> {
    let presence = state.arena.bot_presence(&bot.id).await;
    let newest =
        GameQuery { player: Some(bot.id.clone()), newest_first: true, limit: 1, ..GameQuery::default() };
    let last_game = state.store.finished_games(&newest).await?.pop().map(|game| game.spec.id);
    let versions = state.store.bot_versions(&bot.id).await?;
    let BotPresence { open, draining, version, games, may_play_rated, trouble } =
        presence.clone().unwrap_or_default();
    Ok(OwnBot {
        id: bot.id.clone(),
        name: bot.name.clone(),
        connected: presence.is_some(),
        open,
        draining,
        version: presence.as_ref().map(|_| version),
        may_play_rated: presence.map(|_| may_play_rated),
        trouble,
        games,
        last_game,
        self_testing: state.arena.is_self_testing(&bot.id),
        versions: versions.into_iter().map(VersionView::new).collect(),
    })
}

async fn show_bot(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
) -> Result<impl IntoResponse, ApiError> {
    let bot = own(&state, &who, &name).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(own_bot(&state, &bot).await?)))
}

async fn list_faults(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<Json<List<FaultView>>, ApiError> {
    let bot = own(&state, &who, &name).await?;
    let faults = state.store.bot_faults(&bot.id, parameters.limit()?).await?;
    Ok(Json(List::whole(faults.into_iter().map(FaultView::new).collect())))
}

async fn begin_test(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
) -> Result<(StatusCode, Json<SelfTestState>), ApiError> {
    let bot = own(&state, &who, &name).await?;
    state.arena.begin_self_test(&crate::accounts::identity_of(&bot)).map_err(|error| match error {
        BeginError::NotConnected(_) | BeginError::Running(_) => {
            ApiError::new(ApiCode::Conflict, error.to_string())
        }
        BeginError::Busy => ApiError::new(ApiCode::Busy, error.to_string()).retry_in(super::BUSY_RETRY),
    })?;
    let begun = SelfTestState { running: true, ..test_of(&state, &bot).await? };
    Ok((StatusCode::ACCEPTED, Json(begun)))
}

async fn show_test(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
) -> Result<impl IntoResponse, ApiError> {
    let bot = own(&state, &who, &name).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(test_of(&state, &bot).await?)))
}

async fn test_of(state: &AppState, bot: &StoredPlayer) -> Result<SelfTestState, StoreError> {
    // Before the report is read: a test that ends in between must not look as if there were none.
    let running = state.arena.is_self_testing(&bot.id);
    let version = state.arena.bot_presence(&bot.id).await.map(|there| there.version);
    let version = version.or_else(|| bot.profile.version.clone());
    let known = match &version {
        Some(version) => state.store.bot_version(&bot.id, version).await?.map(VersionView::new),
        None => None,
    };
    let (passed_at, tested_at, report) =
        known.map(|known| (known.passed_at, known.tested_at, known.report)).unwrap_or_default();
    Ok(SelfTestState { running, version, passed_at, tested_at, report })
}

pub(super) async fn list_tokens(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    name: PathPart,
) -> Result<impl IntoResponse, ApiError> {
    let bot = state.accounts.bot_of(&who.identity, &name.parse("bot")?).await?;
    let view = |token: StoredToken| TokenView {
        id: token.id,
        created_at: token.created_at.to_string(),
        expires_at: token.expires_at.map(|end| end.to_string()),
        scope: token.scope.word(),
    };
    let items = state.accounts.bot_tokens(&bot).await?.into_iter().map(view).collect();
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(List::whole(items))))
}

async fn rotate_token(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    path: PathParts,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    let (bot, id) = token_in(&state, &who, path).await?;
    let Issued { identity: _, token, secret } = state.accounts.rotate_token(&bot, &id).await?;
    let created = CreatedToken { id: token, token: secret.expose().to_owned() };
    Ok((StatusCode::CREATED, Json(created)))
}

async fn revoke_token(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    path: PathParts,
) -> Result<StatusCode, ApiError> {
    let (bot, id) = token_in(&state, &who, path).await?;
    state.accounts.revoke_token(&bot, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn token_in(
    state: &AppState,
    who: &Authenticated,
    PathParts(name, id): PathParts,
) -> Result<(PlayerId, TokenId), ApiError> {
    let bot = state.accounts.bot_of(&who.identity, &name.parse("bot")?).await?;
    Ok((bot, id.parse("token")?))
}

async fn game_info(
    State(state): State<AppState>,
    SignedIn(who): SignedIn,
    PathPart(id): PathPart,
) -> Result<impl IntoResponse, ApiError> {
    let id: GameId = id.parse().map_err(|_| ApiError::not_found("game"))?;
    let game = state.store.game(&id).await?.ok_or_else(|| ApiError::not_found("game"))?;
    let Some(items) = thoughts_for(&state, &who.identity.id, &game).await? else {
        let message = "only the owner of a bot sees what it thought, and only of its own moves";
        return Err(ApiError::new(ApiCode::Forbidden, message));
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(List::whole(items))))
}

/// What the bots of `owner`, or the bot that `owner` is, thought about their moves. `None` if there are none of them in
/// the game.
pub(in crate::http) async fn thoughts_for(
    state: &AppState,
    owner: &PlayerId,
    game: &StoredGame,
) -> Result<Option<Vec<ThoughtView>>, StoreError> {
    let mut is_own = fourfold_engine::BySide { first: false, second: false };
    for side in Side::BOTH {
        let player = state.store.player(&game.spec.players[side]).await?;
        is_own[side] = player.is_some_and(|player| {
            player.kind == PlayerKind::Bot && (player.id == *owner || player.owner.as_ref() == Some(owner))
        });
    }
    if !is_own.first && !is_own.second {
        return Ok(None);
    }
    let mut thoughts: Vec<Option<ThoughtView>> = vec![None; game.spec.opening.moves.len()];
    for event in &game.events {
        match &event.kind {
            EventKind::Move(played) => {
                let ply = thoughts.len() + 1;
                let side = if ply % 2 == 1 { Side::First } else { Side::Second };
                let info = played.info.as_deref().and_then(|text| serde_json::from_str(text).ok());
                let (column, spent_ms) = (played.column.number(), played.spent_ms);
                thoughts.push(is_own[side].then(|| ThoughtView {
                    ply,
                    column,
                    by: side.into(),
                    spent_ms,
                    info,
                }));
            }
            EventKind::Takeback { plies } => {
                thoughts.truncate(thoughts.len().saturating_sub(*plies as usize));
            }
            EventKind::Paused | EventKind::Finished(_) => {}
        }
    }
    Ok(Some(thoughts.into_iter().flatten().collect()))
}
