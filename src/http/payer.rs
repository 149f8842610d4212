//! Whose share a request draws on.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;

use super::auth::Viewer;
use super::client_address::ClientAddress;
use super::state::AppState;
use crate::system::shares::Payer;

/// Whoever asks for something that costs: the network, and the account where somebody is signed in. Guests cost
/// nothing to make, so they have no share of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Paying(pub(crate) Payer);

impl FromRequestParts<AppState> for Paying {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        let ClientAddress(address) = ClientAddress::of(&state.site, parts);
        let viewer = <Viewer as OptionalFromRequestParts<AppState>>::from_request_parts(parts, state).await;
        // Credentials that prove nothing are a matter of whoever needs them.
        let viewer = viewer.ok().flatten().filter(Viewer::is_signed_in);
        Ok(Self(Payer { address, account: viewer.map(|viewer| viewer.identity.id) }))
    }
}
