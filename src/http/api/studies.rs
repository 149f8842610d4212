//! Studies: lines with comments that people make for others.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use fourfold_engine::Variant;
use schemars::JsonSchema;
use serde::Deserialize;

use super::account::person;
use super::games::{PREVIEW, undrawn};
use super::tournament_plans::refuse_unwanted;
use super::{CURSOR, LIMIT};
use crate::accounts::Authenticated;
use crate::http::answer::{Keep, List, pixels};
use crate::http::auth::SignedIn;
use crate::http::client_address::ClientAddress;
use crate::http::endpoint::{Content, Endpoint, Operation, Parameter, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::preview::PictureKind;
use crate::http::request::{Cursor, PathPart, QueryParameters, json_body};
use crate::http::state::AppState;
use crate::http::study_view::{CommentView, StudyView, view_of, views_of};
use crate::model::ids::StudyId;
use crate::model::study::{Study, StudyComment, StudyListing};
use crate::protocol::terms::WireVariant;
use crate::study::studies::StudyError;
use crate::system::shares::Payer;

/// Largest body: 8,000 characters of comments, each escaped as two halves, beside the line.
const STUDY_BYTES_MAX: usize = 128 * 1_024;

/// What somebody writes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StudyBody {
    /// 1 to 80 characters.
    #[schemars(length(max = 80))]
    title: String,
    /// Board size; `7x6` if left out.
    #[serde(default)]
    variant: Option<WireVariant>,
    /// All moves from the empty board to the end of the line, one digit each.
    moves: String,
    /// After how many of them the study begins; 0 if left out.
    #[serde(default)]
    start: u32,
    /// At most one for each position, 8,000 characters in all.
    #[serde(default)]
    comments: Vec<CommentView>,
    /// Whether everybody finds it in the list; whoever has the link alone if left out.
    #[serde(default)]
    listed: bool,
    /// Of a change: the version that was read. Where another one is stored by now, nothing is changed.
    #[serde(default)]
    version: Option<u32>,
}

impl From<StudyError> for ApiError {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::NoSuchStudy => Self::not_found("study"),
            StudyError::Changed | StudyError::TooMany => Self::new(ApiCode::Conflict, error.to_string()),
            StudyError::UsedUp(refusal) => refusal.into(),
            StudyError::Write(error) => error.into(),
            StudyError::Store(error) => error.into(),
        }
    }
}

const MINE: Parameter = Parameter {
    name: "mine",
    about: "`true` for one's own, listed or not, all of them at once; one must be signed in",
    schema: schema_of::<bool>,
};

pub(super) fn endpoints() -> Vec<Endpoint> {
    let list = Operation::get(
        "/api/v1/studies",
        "Lists the studies that everybody finds, the newest first",
        Content::Json(schema_of::<List<StudyView>>),
    )
    .parameters(&[LIMIT, CURSOR, MINE])
    .refusals(&[ApiCode::Unauthorized, ApiCode::Forbidden]);
    let make = Operation::post(
        "/api/v1/studies",
        "Makes a study: a line of moves with comments",
        Content::Json(schema_of::<StudyView>),
    )
    .body(schema_of::<StudyBody>)
    .signed_in()
    .refusals(REFUSALS);
    vec![Endpoint::new("/api/v1/studies", get(studies).post(make_study), [list, make]), endpoint_of_one()]
}

fn endpoint_of_one() -> Endpoint {
    let show = Operation::get(
        "/api/v1/studies/{id}",
        "Shows a study to whoever has its link",
        Content::Json(schema_of::<StudyView>),
    );
    let png = Operation::get(
        "/api/v1/studies/{id}.png",
        "Draws the last position of a study for a link to it, 1200 by 630 pixels",
        Content::Png,
    );
    let change = Operation::put(
        "/api/v1/studies/{id}",
        "Changes a study of one's own",
        Content::Json(schema_of::<StudyView>),
    )
    .body(schema_of::<StudyBody>)
    .signed_in()
    .refusals(REFUSALS);
    let end = Operation::delete("/api/v1/studies/{id}", "Deletes a study of one's own", Content::Nothing)
        .status(204)
        .signed_in()
        .refusals(REFUSALS);
    Endpoint::new(
        "/api/v1/studies/{id}",
        get(study).put(change_study).delete(delete_study),
        [show, png, change, end],
    )
}

const REFUSALS: &[ApiCode] =
    &[ApiCode::Forbidden, ApiCode::Conflict, ApiCode::Busy, ApiCode::OriginNotAllowed];

async fn studies(
    State(state): State<AppState>,
    session: Result<SignedIn, ApiError>,
    parameters: QueryParameters,
) -> Result<impl IntoResponse, ApiError> {
    let mine = parameters.optional::<bool>("mine")?.unwrap_or_default();
    let limit = parameters.limit()?;
    let before = parameters.optional::<Cursor>("cursor")?.map(Cursor::number);
    let found = if mine {
        let SignedIn(session) = session?;
        state.store.studies_of(&person(session)?.identity.id).await?
    } else {
        state.store.listed_studies(before, limit).await?
    };
    let is_whole = mine || found.len() < limit as usize;
    let cursor = found.last().filter(|_| !is_whole).map(|last| last.number.to_string());
    let items = views_of(&state, &found).await?;
    Ok(([(header::CACHE_CONTROL, "no-cache, private")], Json(List { items, cursor })))
}

async fn study(
    State(state): State<AppState>,
    PathPart(part): PathPart,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let drawn_of = part.strip_suffix(PREVIEW);
    let stored = state.studies.show(&study_id(drawn_of.unwrap_or(&part))?).await?;
    if drawn_of.is_some() {
        let drawn = state.previews.draw(PictureKind::Still, stored.study.game().clone()).await;
        return Ok(pixels(&headers, Keep::Settled, PictureKind::Still, drawn.ok_or_else(undrawn)?));
    }
    Ok(([(header::CACHE_CONTROL, "no-cache")], Json(view_of(&state, &stored).await?)).into_response())
}

fn study_id(text: &str) -> Result<StudyId, ApiError> {
    text.parse().map_err(|_| ApiError::not_found("study"))
}

/// Whoever may write what others read: a person, unless an operator has muted them.
async fn writer_of(state: &AppState, session: Authenticated) -> Result<Authenticated, ApiError> {
    let session = person(session)?;
    match state.accounts.mute_of(&session.identity.id).await? {
        None => Ok(session),
        Some(mute) => {
            let message = format!("you may show others nothing new now: {}", mute.reason);
            Err(ApiError::new(ApiCode::Forbidden, message))
        }
    }
}

/// What a body says, if it keeps the rules, with the version that it is to take the place of.
async fn read(state: &AppState, request: Request) -> Result<(Study, Option<u32>), ApiError> {
    let body: StudyBody = json_body(request, STUDY_BYTES_MAX).await?;
    let comment =
        |view: CommentView| StudyComment { ply: view.ply, text: view.text.trim().replace("\r\n", "\n") };
    let comments: Vec<StudyComment> = body.comments.into_iter().map(comment).collect();
    let variant = body.variant.map_or(Variant::STANDARD, |variant| variant.0);
    let line = (variant, body.moves.as_str(), body.start);
    let study = Study::new(body.title.trim(), line, comments, StudyListing::of(body.listed))
        .map_err(|bad| ApiError::bad_field(bad.field(), bad.to_string()))?;
    refuse_unwanted(state, study.title(), "title")?;
    for comment in study.comments() {
        refuse_unwanted(state, &comment.text, "comments")?;
    }
    Ok((study, body.version))
}

async fn make_study(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Result<impl IntoResponse, ApiError> {
    let owner = writer_of(&state, session).await?.identity;
    let (study, version) = read(&state, request).await?;
    if version.is_some() {
        return Err(ApiError::bad_field("version", "a new study has no version yet"));
    }
    let payer = Payer { address, account: Some(owner.id.clone()) };
    let stored = state.studies.make(&payer, &owner.id, study).await?;
    let url = format!("/study/{}", stored.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, url)], Json(StudyView::new(&stored, owner.name))))
}

async fn change_study(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    PathPart(id): PathPart,
    request: Request,
) -> Result<Json<StudyView>, ApiError> {
    let id = study_id(&id)?;
    let owner = writer_of(&state, session).await?.identity;
    let (study, version) = read(&state, request).await?;
    let version =
        version.ok_or_else(|| ApiError::bad_field("version", "which version was read is needed"))?;
    let stored = state.studies.change((&id, &owner.id), version, study).await?;
    Ok(Json(StudyView::new(&stored, owner.name)))
}

async fn delete_study(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    PathPart(id): PathPart,
) -> Result<StatusCode, ApiError> {
    let owner = person(session)?.identity;
    state.studies.drop(&study_id(&id)?, &owner.id).await?;
    Ok(StatusCode::NO_CONTENT)
}
