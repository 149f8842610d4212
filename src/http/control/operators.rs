//! Who is an operator on `/admin`.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use super::bots::player;
use super::players::Reason;
use super::refusal::Refusal;
use super::{Control, Route};
use crate::accounts::operators::Enrolment;
use crate::http::answer::List;
use crate::http::error::ApiError;
use crate::http::request::{JsonBody, PathPart};
use crate::model::ids::PlayerName;
use crate::model::player::PlayerKind;
use crate::storage::StoredPlayer;

/// An operator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ListedOperator {
    pub(crate) name: PlayerName,
    /// Since when, RFC 3339.
    pub(crate) since: String,
    /// Codes for a lost phone that are left.
    pub(crate) recovery_codes: usize,
}

/// A new operator, with what is shown this once.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct NewOperator {
    pub(crate) name: PlayerName,
    /// What an app reads from a picture.
    pub(crate) address: String,
    /// The same key, for whoever types.
    pub(crate) secret: String,
    /// For the day when the phone is lost; each is good once.
    pub(crate) recovery_codes: Vec<String>,
}

pub(super) fn commands() -> Vec<Route> {
    vec![
        ("/control/v1/operators", get(list)),
        ("/control/v1/operators/{name}", post(appoint).delete(dismiss)),
    ]
}

async fn list(State(control): State<Control>) -> Result<Json<List<ListedOperator>>, Refusal> {
    let mut items = Vec::new();
    for operator in control.store.operators().await? {
        let Some(player) = control.store.player(&operator.player).await? else { continue };
        items.push(ListedOperator {
            name: player.name,
            since: operator.since.to_string(),
            recovery_codes: operator.recovery.len(),
        });
    }
    Ok(Json(List::whole(items)))
}

/// The account of a person.
async fn person(control: &Control, name: &str) -> Result<StoredPlayer, Refusal> {
    let bad_name = |message| ApiError::bad_parameter("name", message);
    let player = player(control, name, "account", bad_name).await?;
    match player.kind {
        PlayerKind::Human => Ok(player),
        PlayerKind::Bot | PlayerKind::Guest => {
            Err(Refusal::conflict(format!("`{}` is no person's account", player.name)))
        }
    }
}

async fn appoint(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<NewOperator>, Refusal> {
    let because = because.checked()?;
    let player = person(&control, &name).await?;
    let Enrolment { totp, recovery } = control.accounts.appoint(&player, because).await?;
    Ok(Json(NewOperator {
        address: totp.address(player.name.as_str()),
        secret: totp.secret(),
        recovery_codes: recovery,
        name: player.name,
    }))
}

async fn dismiss(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<ListedOperator>, Refusal> {
    let because = because.checked()?;
    let player = person(&control, &name).await?;
    let operator = control.store.operator(&player.id).await?;
    control.accounts.dismiss(&player.id, because).await?;
    let since = operator.map(|operator| operator.since.to_string()).unwrap_or_default();
    Ok(Json(ListedOperator { name: player.name, since, recovery_codes: 0 }))
}
