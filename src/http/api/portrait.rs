//! What a person shows of themselves: a picture, a flag, a line.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::account::person;
use crate::http::auth::SignedIn;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::JsonBody;
use crate::http::state::AppState;
use crate::model::portrait::{Flag, Picture, Portrait, ProfileLine};

/// What a person shows; what is null is not shown.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Portrait")]
pub(in crate::http) struct PortraitView {
    /// Out of the set; whoever has chosen none has one by the name.
    #[serde(default)]
    pub(in crate::http) picture: Option<Picture>,
    /// A country.
    #[serde(default)]
    pub(in crate::http) flag: Option<Flag>,
    /// A few words, 80 characters at most.
    #[serde(default)]
    pub(in crate::http) line: Option<ProfileLine>,
}

impl From<Portrait> for PortraitView {
    fn from(portrait: Portrait) -> Self {
        let Portrait { picture, flag, line } = portrait;
        Self { picture, flag, line }
    }
}

impl From<PortraitView> for Portrait {
    fn from(view: PortraitView) -> Self {
        let PortraitView { picture, flag, line } = view;
        Self { picture, flag, line }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/account/profile",
        "Shows what one shows of oneself",
        Content::Json(schema_of::<PortraitView>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden]);
    let set = Operation::put(
        "/api/v1/account/profile",
        "Sets picture, flag and line; what is left out is not shown any more",
        Content::Json(schema_of::<PortraitView>),
    )
    .body(schema_of::<PortraitView>)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed, ApiCode::Busy]);
    vec![Endpoint::new("/api/v1/account/profile", get(own_portrait).put(set_portrait), [show, set])]
}

async fn own_portrait(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<impl IntoResponse, ApiError> {
    let player = state.store.player(&person(session)?.identity.id).await?;
    let portrait = player.map(|player| player.portrait).unwrap_or_default();
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(PortraitView::from(portrait))))
}

async fn set_portrait(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    JsonBody(view): JsonBody<PortraitView>,
) -> Result<Json<PortraitView>, ApiError> {
    state.accounts.show(&person(session)?.identity.id, view.clone().into()).await?;
    Ok(Json(view))
}
