//! Offers of games by correspondence that anyone with an account may take.

use axum::Json;
use axum::extract::State;
use axum::routing::get;

use super::LIMIT;
use crate::http::answer::List;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::ApiError;
use crate::http::request::QueryParameters;
use crate::http::state::AppState;
use crate::protocol::server::Offer;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let offers = Operation::get(
        "/api/v1/correspondence/offers",
        "Lists offers of games by correspondence that anyone with an account may take, the newest first",
        Content::Json(schema_of::<List<Offer>>),
    )
    .parameters(&[LIMIT]);
    vec![Endpoint::new("/api/v1/correspondence/offers", get(open_offers), [offers])]
}

async fn open_offers(
    State(state): State<AppState>,
    parameters: QueryParameters,
) -> Result<Json<List<Offer>>, ApiError> {
    let limit = parameters.limit()? as usize;
    let mut offers = state.arena.open_offers().await;
    offers.truncate(limit);
    Ok(Json(List::whole(offers)))
}
