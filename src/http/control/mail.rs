//! Mails: an operator tries whether they arrive.

use axum::Json;
use axum::routing::post;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;
use super::{Route, RunningDaemon};
use crate::http::error::ApiError;
use crate::http::request::JsonBody;
use crate::model::mail::{InvalidMailAddress, MailAddress};

/// Where a mail is to go that says nothing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TryMail {
    /// `ada@example.org`, at most 254 characters.
    pub(super) address: String,
}

/// A mail that was taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct TriedMail {
    /// To whom it was sent, as the operator wrote it.
    pub(crate) address: String,
}

pub(super) fn commands() -> Vec<Route> {
    vec![("/control/v1/mail/test", post(try_mail))]
}

/// Hands a mail to the server at once, and says what that answers.
async fn try_mail(
    daemon: RunningDaemon,
    JsonBody(TryMail { address }): JsonBody<TryMail>,
) -> Result<Json<TriedMail>, Refusal> {
    let Some(mailer) = &daemon.mailer else {
        return Err(Refusal::conflict("this arena sends no mails: mail.server names no server"));
    };
    let address: MailAddress = address
        .parse()
        .map_err(|error: InvalidMailAddress| Refusal(ApiError::bad_field("address", error.to_string())))?;
    let shown = address.to_string();
    mailer.test(address).await.map_err(|error| Refusal::conflict(error.to_string()))?;
    Ok(Json(TriedMail { address: shown }))
}
