//! Vacations of people who play by correspondence: their clocks stand meanwhile.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::put;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::person;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::JsonBody;
use crate::http::state::AppState;
use crate::model::bounded::Bounded;
use crate::model::time::UnixMillis;
use crate::model::vacation::{self, DAYS_A_YEAR, Vacation, days_left};

/// How long a vacation is to be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewVacation {
    /// In days from now on, as far as there are so many.
    days: Bounded<1, DAYS_A_YEAR>,
}

/// How somebody's vacations stand.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct VacationView {
    /// When the one that goes on ends, RFC 3339; null if there is none.
    pub(in crate::http) until: Option<String>,
    /// Days that are left of those within a year; those of the vacation that goes on are taken.
    pub(in crate::http) days_left: u32,
}

impl VacationView {
    pub(in crate::http) fn new(taken: &[Vacation], now: UnixMillis) -> Self {
        let current = vacation::current(taken, now);
        Self { until: current.map(|vacation| vacation.until.to_string()), days_left: days_left(taken, now) }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/account/vacation",
        "Shows one's vacation, in which the clocks of games by correspondence stand",
        Content::Json(schema_of::<VacationView>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden]);
    let take = Operation::put(
        "/api/v1/account/vacation",
        "Begins a vacation, in the place of what is left of one: the clocks of one's games by correspondence stand",
        Content::Json(schema_of::<VacationView>),
    )
    .body(schema_of::<NewVacation>)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed, ApiCode::Busy]);
    let end = Operation::delete(
        "/api/v1/account/vacation",
        "Ends one's vacation; the days that are left of it are not used up",
        Content::Nothing,
    )
    .status(204)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed, ApiCode::Busy]);
    vec![Endpoint::new(
        "/api/v1/account/vacation",
        put(take_vacation).get(show_vacation).delete(end_vacation),
        [show, take, end],
    )]
}

async fn show_vacation(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<Json<VacationView>, ApiError> {
    let player = person(session)?.identity.id;
    let taken = state.accounts.vacations(&player).await?;
    Ok(Json(VacationView::new(&taken, UnixMillis::now())))
}

async fn take_vacation(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    JsonBody(NewVacation { days }): JsonBody<NewVacation>,
) -> Result<Json<VacationView>, ApiError> {
    let player = person(session)?.identity.id;
    let vacation = state.accounts.take_vacation(&player, days.number()).await?;
    let lasts: Duration = vacation.until.after(vacation.from);
    state.arena.take_vacation(&player, Some(lasts)).await;
    let taken = state.accounts.vacations(&player).await?;
    Ok(Json(VacationView::new(&taken, UnixMillis::now())))
}

async fn end_vacation(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<StatusCode, ApiError> {
    let player = person(session)?.identity.id;
    state.accounts.end_vacation(&player).await?;
    state.arena.take_vacation(&player, None).await;
    Ok(StatusCode::NO_CONTENT)
}
