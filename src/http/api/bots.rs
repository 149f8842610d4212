//! Bots that can be challenged, and bots of one's own with their tokens.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use fourfold_engine::Variant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::own_bots::{CreatedToken, list_tokens, tokens_operation};
use super::{CURSOR, LIMIT};
use crate::accounts::{Issued, TokenWish};
use crate::http::answer::List;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::ranking::PublishedShown;
use crate::http::request::{JsonBody, PathPart, QueryParameters};
use crate::http::state::{AppState, OpenBot};
use crate::model::bounded::Bounded;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::rating::strength::Strength;
use crate::storage::record::TokenScope;
use crate::storage::words::Word as _;

/// A bot to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "NewBot")]
struct NewBotRequest {
    /// 2 to 20 letters, digits, `_` or `-`.
    name: String,
}

/// A bot with its first token.
#[derive(Debug, Serialize, JsonSchema)]
struct CreatedBot {
    /// Stays the same for ever.
    id: PlayerId,
    /// As it was asked for.
    name: PlayerName,
    /// The token, shown this once.
    token: String,
}

/// How long a token lasts: long enough to connect with, and no longer than anybody plans.
type TokenSeconds = Bounded<60, 31_536_000>;

const LASTS: Parameter = Parameter {
    name: "lasts_s",
    about: "After how many seconds the token ends by itself; never if left out",
    schema: schema_of::<TokenSeconds>,
};

/// What became of the tokens.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RevokedTokens {
    /// How many were valid until now.
    pub(crate) revoked: usize,
}

const SCOPE: Parameter = Parameter {
    name: "scope",
    about: "What it may be used for: `manage` (all that the bot may do; if left out), `play` (the socket, and reading over HTTP), `read` (reading over HTTP alone)",
    schema: schema_of::<String>,
};

pub(super) fn endpoints() -> Vec<Endpoint> {
    let list = Operation::get(
        "/api/v1/bots",
        "Lists house and remote bots that can be challenged",
        Content::Json(schema_of::<List<OpenBot>>),
    )
    .parameters(&[LIMIT, CURSOR]);
    let create = Operation::post(
        "/api/v1/bots",
        "Makes a bot of one's own with its first token, shown this once",
        Content::Json(schema_of::<CreatedBot>),
    )
    .body(schema_of::<NewBotRequest>)
    .signed_in()
    .refusals(&[ApiCode::NameTaken, ApiCode::NameReserved, ApiCode::Forbidden]);
    let new_token = Operation::post(
        "/api/v1/bots/{name}/tokens",
        "Makes one more token for a bot of one's own, shown this once",
        Content::Json(schema_of::<CreatedToken>),
    )
    .parameters(&[LASTS, SCOPE])
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed]);
    let revoke = Operation::delete(
        "/api/v1/bots/{name}/tokens",
        "Revokes all tokens of a bot of one's own and closes its connection",
        Content::Json(schema_of::<RevokedTokens>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed]);
    vec![
        Endpoint::new("/api/v1/bots", get(open_bots).post(create_bot), [list, create]),
        Endpoint::new(
            "/api/v1/bots/{name}/tokens",
            post(create_token).get(list_tokens).delete(revoke_tokens),
            [new_token, tokens_operation(), revoke],
        ),
    ]
}

async fn open_bots(
    State(state): State<AppState>,
    parameters: QueryParameters,
) -> Result<Json<List<OpenBot>>, ApiError> {
    let mut bots = List::part(state.arena.open_bots(), parameters.part()?);
    for bot in &mut bots.items {
        let live = state.store.rating(&bot.player.id, Variant::STANDARD).await?.unwrap_or_default();
        let shown = PublishedShown::of(&state, &bot.player.id, Variant::STANDARD, live).rating;
        bot.player.rating = Some(shown.into());
        bot.strength = bot.strength.or((!shown.provisional).then(|| Strength::of_elo(shown.elo)));
    }
    Ok(Json(bots))
}

async fn create_bot(
    State(state): State<AppState>,
    SignedIn(owner): SignedIn,
    JsonBody(NewBotRequest { name }): JsonBody<NewBotRequest>,
) -> Result<(StatusCode, Json<CreatedBot>), ApiError> {
    let Issued { identity, token: _, secret } = state.accounts.create_bot(&owner.identity, &name).await?;
    let created = CreatedBot { id: identity.id, name: identity.name, token: secret.expose().to_owned() };
    Ok((StatusCode::CREATED, Json(created)))
}

async fn create_token(
    State(state): State<AppState>,
    SignedIn(owner): SignedIn,
    name: PathPart,
    parameters: QueryParameters,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    let bot = state.accounts.bot_of(&owner.identity, &name.parse("bot")?).await?;
    let lasts = parameters.optional::<TokenSeconds>("lasts_s")?;
    let scope = match parameters.optional::<String>("scope")? {
        None => TokenScope::default(),
        Some(word) => TokenScope::from_word(&word)
            .ok_or_else(|| ApiError::bad_parameter("scope", "scope is manage, play or read"))?,
    };
    let lasts = lasts.map(|lasts| Duration::from_secs(lasts.number().into()));
    let issued = state.accounts.new_token_as(&bot, TokenWish { lasts, scope }).await?;
    let Issued { identity: _, token, secret } = issued;
    let created = CreatedToken { id: token, token: secret.expose().to_owned() };
    Ok((StatusCode::CREATED, Json(created)))
}

async fn revoke_tokens(
    State(state): State<AppState>,
    SignedIn(owner): SignedIn,
    name: PathPart,
) -> Result<Json<RevokedTokens>, ApiError> {
    let bot = state.accounts.bot_of(&owner.identity, &name.parse("bot")?).await?;
    Ok(Json(RevokedTokens { revoked: state.accounts.revoke_tokens(&bot).await? }))
}
