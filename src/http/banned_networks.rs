//! Networks from which operators let nobody in: pages can be read there, nothing is changed.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::client_address::ClientAddress;
use super::error::{ApiCode, ApiError};
use super::state::AppState;
use crate::model::time::UnixMillis;

/// Refuses requests that change something. Sockets are refused where they say who they are, with a code of their own.
pub(super) async fn keep_out(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if !request.method().is_safe() {
        let (parts, body) = request.into_parts();
        let ClientAddress(address) = ClientAddress::of(&state.site, &parts);
        if let Some(banned) = state.arena.orders().keeps_out(address, UnixMillis::now()) {
            return Err(ApiError::new(ApiCode::Forbidden, banned.to_string()));
        }
        return Ok(next.run(Request::from_parts(parts, body)).await);
    }
    Ok(next.run(request).await)
}
