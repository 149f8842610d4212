//! Codes by which people register where not everybody may.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use super::players::{Reason, until_days};
use super::refusal::Refusal;
use super::{Control, Route};
use crate::http::answer::List;
use crate::http::error::ApiError;
use crate::http::request::JsonBody;
use crate::model::invitation::InvitationCode;
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::play::orders::Invitation;
use crate::storage::moderation::OrderKind;

/// People whom one invitation lets in at most: a school, not the world.
const USES_MAX: u32 = 10_000;

/// Gives out an invitation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GiveInvitation {
    /// As in [`Reason`], like the next one.
    pub(super) reason: String,
    /// As in [`Reason`], like the last one.
    #[serde(default = "super::players::somebody")]
    pub(super) by: String,
    /// One that can be remembered, for a class; drawn without.
    pub(super) code: Option<String>,
    /// People whom it lets in; one without.
    pub(super) uses: Option<u32>,
    /// For so many; for good without.
    pub(super) days: Option<u32>,
}

/// Ends an invitation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndInvitation {
    /// As in [`Reason`], like the next one.
    pub(super) reason: String,
    /// As in [`Reason`], like the last one.
    #[serde(default = "super::players::somebody")]
    pub(super) by: String,
    pub(super) code: String,
}

/// An invitation that has not ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ListedInvitation {
    pub(crate) code: String,
    /// People whom it lets in, in all.
    pub(crate) uses: u32,
    /// Those who have registered by it.
    pub(crate) used: u32,
    pub(crate) reason: String,
    pub(crate) by: String,
    /// Since when, RFC 3339.
    pub(crate) since: String,
    /// Until when, RFC 3339, if it ends by itself.
    pub(crate) until: Option<String>,
}

pub(super) fn commands() -> Vec<Route> {
    vec![("/control/v1/invitations", get(list).post(give)), ("/control/v1/invitations/end", post(end))]
}

async fn shown(control: &Control, invitation: Invitation) -> Result<ListedInvitation, Refusal> {
    let Invitation { code, uses, because, until } = invitation;
    Ok(ListedInvitation {
        used: control.store.admitted(&code).await?,
        code: code.to_string(),
        uses,
        reason: because.reason,
        by: because.by,
        since: because.at.to_string(),
        until: until.map(|until| until.to_string()),
    })
}

async fn standing(control: &Control) -> Result<Vec<Invitation>, Refusal> {
    let orders = control.orders().await?;
    let all = orders.now().invitations(UnixMillis::now()).cloned().collect();
    Ok(all)
}

async fn list(State(control): State<Control>) -> Result<Json<List<ListedInvitation>>, Refusal> {
    let mut items = Vec::new();
    for invitation in standing(&control).await? {
        items.push(shown(&control, invitation).await?);
    }
    Ok(Json(List::whole(items)))
}

async fn give(
    State(control): State<Control>,
    JsonBody(GiveInvitation { reason, by, code, uses, days }): JsonBody<GiveInvitation>,
) -> Result<Json<ListedInvitation>, Refusal> {
    let because = Reason { reason, by }.checked()?;
    let code = match code {
        Some(text) => parsed(&text)?,
        None => InvitationCode::random(&mut chance()),
    };
    let uses = uses.unwrap_or(1);
    if !(1..=USES_MAX).contains(&uses) {
        return Err(ApiError::bad_field("uses", format!("uses are 1 to {USES_MAX}")).into());
    }
    let until = until_days(because.at, days)?;
    // Who registered by it before would count.
    if standing(&control).await?.iter().any(|other| other.code == code)
        || control.store.admitted(&code).await? > 0
    {
        return Err(Refusal::conflict(format!("{code} has been given out before")));
    }
    control.give(OrderKind::Invite { code: code.clone(), uses, until }, because.clone()).await?;
    Ok(Json(shown(&control, Invitation { code, uses, because, until }).await?))
}

async fn end(
    State(control): State<Control>,
    JsonBody(EndInvitation { reason, by, code: text }): JsonBody<EndInvitation>,
) -> Result<Json<ListedInvitation>, Refusal> {
    let because = Reason { reason, by }.checked()?;
    let code = parsed(&text)?;
    let Some(found) = standing(&control).await?.into_iter().find(|other| other.code == code) else {
        return Err(Refusal::conflict(format!("there is no invitation {code}, or it has ended")));
    };
    control.give(OrderKind::Uninvite { code }, because).await?;
    Ok(Json(shown(&control, found).await?))
}

fn parsed(text: &str) -> Result<InvitationCode, ApiError> {
    text.parse().map_err(|error| ApiError::bad_field("code", format!("{error}")))
}
