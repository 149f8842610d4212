//! Accounts of people.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;

use super::refusal::Refusal;
use super::{Control, OPERATOR, Route};
use crate::http::api::accounts::{Credentials, SignedInView};
use crate::http::request::JsonBody;

pub(super) fn commands() -> Vec<Route> {
    vec![("/control/v1/accounts", post(create))]
}

async fn create(
    State(control): State<Control>,
    JsonBody(Credentials { name, password }): JsonBody<Credentials>,
) -> Result<(StatusCode, Json<SignedInView>), Refusal> {
    let account = control.accounts.register(OPERATOR, &name, password, None).await?;
    Ok((StatusCode::CREATED, Json(account.into())))
}
