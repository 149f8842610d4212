//! Remote bots and their tokens.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;
use super::{Control, Route};
use crate::accounts::{Issued, identity_of};
use crate::http::api::bots::RevokedTokens;
use crate::http::api::own_bots::CreatedToken;
use crate::http::error::ApiError;
use crate::http::request::{JsonBody, PathPart};
use crate::model::ids::PlayerName;
use crate::model::player::PlayerKind;
use crate::storage::StoredPlayer;

/// A bot to be made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewBot {
    pub(super) name: String,
    /// The account that owns it.
    pub(super) owner: String,
}

/// A fresh token. Its secret is not kept and cannot be shown again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BotToken {
    /// Whose, as it was registered.
    pub(crate) name: PlayerName,
    #[serde(flatten)]
    pub(crate) token: CreatedToken,
}

/// What became of a bot's tokens.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RevokedTokensOf {
    pub(crate) name: PlayerName,
    #[serde(flatten)]
    pub(crate) tokens: RevokedTokens,
}

pub(super) fn commands() -> Vec<Route> {
    vec![
        ("/control/v1/bots", post(create)),
        ("/control/v1/bots/{name}/tokens", post(create_token).delete(revoke_tokens)),
    ]
}

async fn create(
    State(control): State<Control>,
    JsonBody(NewBot { name, owner }): JsonBody<NewBot>,
) -> Result<(StatusCode, Json<BotToken>), Refusal> {
    let bad_owner = |message| ApiError::bad_field("owner", message);
    let owner = player(&control, &owner, "account", bad_owner).await?;
    let issued = control.accounts.create_bot(&identity_of(&owner), &name).await?;
    Ok((StatusCode::CREATED, Json(issued.into())))
}

async fn create_token(
    State(control): State<Control>,
    PathPart(name): PathPart,
) -> Result<(StatusCode, Json<BotToken>), Refusal> {
    let bot = remote_bot(&control, &name).await?;
    Ok((StatusCode::CREATED, Json(control.accounts.new_token(&bot.id).await?.into())))
}

async fn revoke_tokens(
    State(control): State<Control>,
    PathPart(name): PathPart,
) -> Result<Json<RevokedTokensOf>, Refusal> {
    let bot = remote_bot(&control, &name).await?;
    let tokens = RevokedTokens { revoked: control.accounts.revoke_tokens(&bot.id).await? };
    Ok(Json(RevokedTokensOf { name: bot.name, tokens }))
}

impl From<Issued> for BotToken {
    fn from(issued: Issued) -> Self {
        let Issued { identity, token, secret } = issued;
        Self { name: identity.name, token: CreatedToken { id: token, token: secret.expose().to_owned() } }
    }
}

/// The player of this name; `what` says what was looked for, and `bad_name` where the name stood.
pub(super) async fn player(
    control: &Control,
    name: &str,
    what: &str,
    bad_name: impl FnOnce(String) -> ApiError,
) -> Result<StoredPlayer, Refusal> {
    let name: PlayerName = match name.parse() {
        Ok(name) => name,
        Err(error) => return Err(bad_name(error.to_string()).into()),
    };
    let found = control.store.player_by_name(&name).await?;
    found.ok_or_else(|| Refusal::not_found(format!("there is no {what} `{name}`")))
}

async fn remote_bot(control: &Control, name: &str) -> Result<StoredPlayer, Refusal> {
    let bot = player(control, name, "bot", |message| ApiError::bad_parameter("name", message)).await?;
    match (bot.kind, bot.house) {
        (PlayerKind::Bot, false) => Ok(bot),
        (PlayerKind::Bot, true) => {
            Err(Refusal::conflict(format!("`{}` is a bot of the house: it needs no token", bot.name)))
        }
        (PlayerKind::Human | PlayerKind::Guest, _) => {
            Err(Refusal::conflict(format!("`{}` is no bot", bot.name)))
        }
    }
}
