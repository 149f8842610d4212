//! How one's own decisions stand beside those of people of the same rating: for oneself alone.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use fourfold_arena::fair_play::Finding;
use schemars::JsonSchema;
use serde::Serialize;

use super::account::person;
use crate::competition::fair_play::EvidenceReader;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::state::AppState;
use crate::model::ids::PlayerId;

/// One's decisions in rated games against people, and what is usual.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::http) struct OwnDecisions {
    /// When the games were read, RFC 3339; null before they were for the first time, or where nobody reads them.
    at: Option<String>,
    /// Rated games against people since the first of January of last year.
    games: u32,
    /// Hard decisions: of each game the first position in which people of the rating often throw the value away.
    pub(in crate::http) hard: u32,
    /// In how many of them one's move kept the value.
    pub(in crate::http) kept: u32,
    /// What 19 in 20 people of the rating keep, about: from so many.
    pub(in crate::http) usual_from: u32,
    /// To so many.
    pub(in crate::http) usual_to: u32,
}

impl OwnDecisions {
    /// Nothing is said of how rare that is: it would be a number to play against, and a verdict to whoever reads it.
    pub(in crate::http) fn of(state: &AppState, player: &PlayerId) -> Self {
        let evidence = state.evidence.as_ref().map(EvidenceReader::last).unwrap_or_default();
        let at = evidence.at.map(|at| at.to_string());
        let Some(finding) = evidence.of(player) else {
            return Self { at, games: 0, hard: 0, kept: 0, usual_from: 0, usual_to: 0 };
        };
        let Finding { games, hard, kept, range: (from, to), .. } = *finding;
        Self { at, games, hard, kept, usual_from: whole(from), usual_to: whole(to) }
    }
}

/// The next whole number of decisions.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between 0 and a u32")]
fn whole(decisions: f64) -> u32 {
    decisions.round() as u32
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/account/fair-play",
        "Shows how one's hard decisions in rated games against people stand beside those of people of the rating",
        Content::Json(schema_of::<OwnDecisions>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden]);
    vec![Endpoint::new("/api/v1/account/fair-play", get(show_own), [show])]
}

async fn show_own(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<Json<OwnDecisions>, ApiError> {
    let player = person(session)?.identity.id;
    Ok(Json(OwnDecisions::of(&state, &player)))
}
