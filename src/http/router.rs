//! Puts the routes together and wraps them in what holds for all.

use std::sync::Arc;

use axum::Router;
use axum::http::Uri;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::any;

use super::error::{ApiCode, ApiError};
use super::refusals::RefusalLog;
use super::state::AppState;
use super::{
    api, assets, auth, banned_networks, dumps, kits, layers, manners, pages, programs, refusals, shares,
};
use crate::system::metrics::Metrics;

/// The whole site but the socket: the JSON interface, `pages` and what they load. Whoever looks at a page is known from
/// then on, as a guest at least; an unknown address is a JSON error under `/api` and a page elsewhere.
///
/// Requests pass, from the outside in: security headers; counting; a net for what hangs or panics; checks of URL and
/// body encoding; the origin of whatever changes something; whether the network is let in; its shares.
pub(crate) fn router(state: AppState, pages: Router<AppState>, metrics: Arc<Metrics>) -> Router {
    api::router()
        .route("/api", any(no_route))
        .route("/api/", any(no_route))
        .route("/api/{*rest}", any(no_route))
        .merge(pages.layer(from_fn_with_state(state.clone(), auth::guest_cookie)))
        .merge(assets::router())
        .merge(kits::router())
        .merge(programs::router())
        .merge(dumps::router())
        .merge(manners::router())
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(pages::not_found)
        .layer(from_fn_with_state(state.clone(), shares::draw))
        .layer(from_fn_with_state(state.clone(), banned_networks::keep_out))
        .layer(from_fn_with_state(state.clone(), auth::require_own_origin))
        .layer(from_fn(layers::check_request))
        .layer(from_fn_with_state(Arc::clone(&metrics), layers::contain))
        .layer(from_fn_with_state(metrics, layers::count))
        .layer(from_fn_with_state(RefusalLog::new(Arc::clone(&state.site)), refusals::note))
        .layer(from_fn_with_state(Arc::clone(&state.site), layers::secure))
        .with_state(state)
}

async fn no_route(uri: Uri) -> ApiError {
    ApiError::new(ApiCode::NotFound, format!("nothing is served at {}", uri.path()))
}

pub(super) async fn method_not_allowed() -> ApiError {
    ApiError::new(ApiCode::MethodNotAllowed, "this is not done here; the Allow header lists what is")
}
