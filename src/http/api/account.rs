//! One's own account: sessions, password, all that is stored, and its end.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, put};
use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accounts::cookie_header;
use super::games::stream;
use super::players::{Profile, find, profile_of};
use crate::accounts::{AccountError, Authenticated};
use crate::http::auth::{self, SignedIn};
use crate::http::client_address::ClientAddress;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::{JsonBody, PathPart};
use crate::http::state::AppState;
use crate::http::study_view::StudyView;
use crate::model::device::{Browser, System};
use crate::model::ids::{GameId, PlayerId, PlayerName, PuzzleId, TokenId};
use crate::model::player::PlayerKind;
use crate::model::secret::Secret;
use crate::model::time::UnixMillis;
use crate::storage::follows::TiedPlayer;
use crate::storage::mails::StoredMail;
use crate::storage::pushes::StoredPush;
use crate::storage::puzzles::{PuzzleTry, TryResult};
use crate::storage::reports::StoredReport;
use crate::storage::rushes::{RushBoard, RushKind, RushPlace};
use crate::storage::webhooks::StoredWebhook;
use crate::storage::words::Word as _;
use crate::study::puzzles::choosing::start_of;

/// An account as its owner sees it.
#[derive(Debug, Serialize, JsonSchema)]
struct OwnAccount {
    /// What everybody may see.
    account: Profile,
    /// Where the account is signed in, the newest first.
    sessions: Vec<SessionView>,
}

/// One browser that is signed in.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionView {
    /// Names it.
    id: TokenId,
    /// When somebody signed in, RFC 3339.
    created_at: String,
    /// When it ends by itself, RFC 3339.
    expires_at: Option<String>,
    /// Whether it is the one that asks.
    current: bool,
    /// The browser in which somebody signed in, if it said one that is known.
    browser: Option<&'static str>,
    /// The system on which it ran.
    system: Option<&'static str>,
    /// When it was used last, within ten minutes, RFC 3339.
    last_used_at: Option<String>,
}

/// One's first attempt at a puzzle, the only one that is kept.
#[derive(Debug, Serialize)]
struct PuzzleAttempt {
    puzzle: PuzzleId,
    /// Whether all moves were right, without a hint.
    solved: bool,
    /// The level by which it counted, in Elo points.
    level: u32,
    /// When that was, RFC 3339.
    at: String,
}

impl From<PuzzleTry> for PuzzleAttempt {
    fn from(attempt: PuzzleTry) -> Self {
        let PuzzleTry { player: _, puzzle, result, level, at } = attempt;
        Self { puzzle, solved: result == TryResult::Solved, level, at: at.to_string() }
    }
}

/// When one has solved the puzzle of the day, as a line of the export.
#[derive(Debug, Serialize)]
struct OwnDays {
    /// The beginnings of the days, RFC 3339.
    daily_puzzles: Vec<String>,
}

impl From<Vec<u32>> for OwnDays {
    fn from(days: Vec<u32>) -> Self {
        Self { daily_puzzles: days.into_iter().map(|day| start_of(day).to_string()).collect() }
    }
}

/// One's best run through puzzles of a kind, as a line of the export.
#[derive(Debug, Serialize)]
struct OwnRush {
    rush: &'static str,
    solved: u32,
    /// When that was, RFC 3339.
    at: String,
}

impl OwnRush {
    fn new(kind: RushKind, place: &RushPlace) -> Self {
        Self { rush: kind.word(), solved: place.solved, at: place.at.to_string() }
    }
}

/// A report that one has made to the operators.
#[derive(Debug, Serialize)]
struct OwnReport {
    /// The id of whom it is about.
    reported: PlayerId,
    reason: &'static str,
    note: String,
    game: Option<GameId>,
    /// When that was, RFC 3339.
    at: String,
}

impl From<StoredReport> for OwnReport {
    fn from(report: StoredReport) -> Self {
        let StoredReport { player, game, reason, note, at, .. } = report;
        Self { reported: player, reason: reason.word(), note, game, at: at.to_string() }
    }
}

/// Where one has it told what happens to one's bots.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Webhook")]
pub(super) struct WebhookView {
    /// Where messages go.
    url: String,
    /// Since when, RFC 3339.
    since: String,
    /// Attempts that failed one after the other.
    failures: u32,
    /// Whether nothing is sent any more, for too many failed, until it is set again or takes a test.
    paused: bool,
    /// When something was sent last, RFC 3339.
    last_at: Option<String>,
    /// The status of the answer; or why there was none: `unknown_host`,
    /// `private_address`, `unreachable`, `untrusted`, `timeout`.
    last_outcome: Option<String>,
}

impl From<StoredWebhook> for WebhookView {
    fn from(webhook: StoredWebhook) -> Self {
        Self {
            failures: webhook.failures,
            paused: webhook.is_paused(),
            url: webhook.url,
            since: webhook.since.to_string(),
            last_at: webhook.last.map(|last| last.at.to_string()),
            last_outcome: webhook.last.map(|last| last.outcome.to_string()),
        }
    }
}

/// The same as a line of the export.
#[derive(Debug, Serialize)]
struct OwnWebhook {
    webhook: WebhookView,
}

/// Where one has one's mail.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Mail")]
pub(super) struct MailView {
    address: String,
    /// The tag of the language in which one is written to.
    language: String,
    /// Whether the link that was sent there was opened: before, nothing else is sent.
    verified: bool,
    /// Whether one is told of bots of one's own that are paused.
    bot_paused: bool,
    /// When it was given, RFC 3339.
    since: String,
}

impl From<StoredMail> for MailView {
    fn from(mail: StoredMail) -> Self {
        let StoredMail { owner: _, address, language, notices, since, verified_at } = mail;
        Self {
            address: address.to_string(),
            language,
            verified: verified_at.is_some(),
            bot_paused: notices,
            since: since.to_string(),
        }
    }
}

/// The same as a line of the export.
#[derive(Debug, Serialize)]
struct OwnMail {
    mail: MailView,
}

/// A browser that shows one's notices.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Push")]
pub(super) struct PushView {
    /// Where its push service takes them.
    endpoint: String,
    /// The tag of the language in which it shows them.
    language: String,
    /// Since when, RFC 3339.
    since: String,
}

impl From<StoredPush> for PushView {
    fn from(push: StoredPush) -> Self {
        let StoredPush { owner: _, endpoint, p256dh: _, auth: _, language, since } = push;
        Self { endpoint, language, since: since.to_string() }
    }
}

/// The same as a line of the export.
#[derive(Debug, Serialize)]
struct OwnPush {
    push: PushView,
}

/// A study that one has made, as a line of the export.
#[derive(Debug, Serialize)]
struct OwnStudy {
    study: StudyView,
}

/// Whom one follows, as a line of the export.
#[derive(Debug, Serialize)]
struct OwnFollow {
    follows: PlayerName,
    /// When one began to, RFC 3339.
    since: String,
}

impl From<TiedPlayer> for OwnFollow {
    fn from(tied: TiedPlayer) -> Self {
        Self { follows: tied.name, since: tied.since.to_string() }
    }
}

/// Whom one blocks, as a line of the export.
#[derive(Debug, Serialize)]
struct OwnBlock {
    blocks: PlayerName,
    /// When one began to, RFC 3339.
    since: String,
}

impl From<TiedPlayer> for OwnBlock {
    fn from(tied: TiedPlayer) -> Self {
        Self { blocks: tied.name, since: tied.since.to_string() }
    }
}

/// A change of password.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewPassword {
    /// The one that is valid now.
    password: Secret,
    /// 8 to 200 characters.
    new_password: Secret,
}

/// What is asked of somebody who is signed in already, before something that cannot be taken back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Confirmation {
    /// The account's password.
    password: Secret,
}

const WRONG_PASSWORD: &[ApiCode] =
    &[ApiCode::Forbidden, ApiCode::RateLimited, ApiCode::Busy, ApiCode::OriginNotAllowed];

pub(super) fn endpoints() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/account",
        "Shows one's own account and where it is signed in",
        Content::Json(schema_of::<OwnAccount>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden]);
    let end = Operation::delete(
        "/api/v1/account",
        "Deletes one's own account with its bots. Games stay, under names that say nothing",
        Content::Nothing,
    )
    .status(204)
    .body(schema_of::<Confirmation>)
    .signed_in()
    .refusals(WRONG_PASSWORD);
    let password = Operation::put(
        "/api/v1/account/password",
        "Changes the password and ends all other sessions",
        Content::Nothing,
    )
    .status(204)
    .body(schema_of::<NewPassword>)
    .signed_in()
    .refusals(WRONG_PASSWORD);
    let end_session =
        Operation::delete("/api/v1/account/sessions/{id}", "Ends one of one's sessions", Content::Nothing)
            .status(204)
            .signed_in()
            .refusals(&[ApiCode::Forbidden, ApiCode::OriginNotAllowed]);
    let export = Operation::get(
        "/api/v1/account/export",
        "Streams all that is stored about oneself: a line as of `GET /api/v1/account`, one for each puzzle tried, one for the days with the daily puzzle solved, one for one's best run of each kind, one for each report made, one for one's webhook, one for one's mail address, one for each browser that shows one's notices and for each player that one follows or blocks, then one's games",
        Content::Lines(schema_of::<OwnAccount>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden]);
    vec![
        Endpoint::new("/api/v1/account", get(account).delete(delete_account), [show, end]),
        Endpoint::new("/api/v1/account/password", put(change_password), [password]),
        Endpoint::new("/api/v1/account/sessions/{id}", delete(end_session_by_id), [end_session]),
        Endpoint::new("/api/v1/account/export", get(export_account), [export]),
    ]
}

/// Refuses bots: what a token may do stays apart from what its owner may.
pub(super) fn person(session: Authenticated) -> Result<Authenticated, ApiError> {
    match session.identity.kind {
        PlayerKind::Human => Ok(session),
        PlayerKind::Bot | PlayerKind::Guest => Err(ApiError::new(
            ApiCode::Forbidden,
            "only people who are signed in have an account to look after",
        )),
    }
}

/// The person who is signed in, and the player whom the path names.
pub(super) async fn both(
    state: &AppState,
    session: Authenticated,
    name: &PathPart,
) -> Result<(PlayerId, PlayerId), ApiError> {
    let player = person(session)?.identity.id;
    Ok((player, find(state, name).await?.id))
}

async fn own_account(state: &AppState, session: &Authenticated) -> Result<OwnAccount, ApiError> {
    let id = &session.identity.id;
    let player = state.store.player(id).await?.ok_or_else(|| ApiError::not_found("account"))?;
    let sessions = state.accounts.sessions(id).await?;
    let view = |token: crate::storage::record::StoredToken| SessionView {
        current: token.id == session.token,
        browser: token.device.and_then(|device| device.browser).map(Browser::name),
        system: token.device.and_then(|device| device.system).map(System::name),
        last_used_at: token.used_at.map(|at| at.to_string()),
        id: token.id,
        created_at: token.created_at.to_string(),
        expires_at: token.expires_at.map(|end| end.to_string()),
    };
    Ok(OwnAccount {
        account: profile_of(state, player).await?,
        sessions: sessions.into_iter().map(view).collect(),
    })
}

async fn account(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<impl IntoResponse, ApiError> {
    let account = own_account(&state, &person(session)?).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(account)))
}

/// What is stored about somebody beside their games.
async fn own_lines(state: &AppState, session: &Authenticated) -> Result<Vec<u8>, ApiError> {
    let account = own_account(state, session).await?;
    let mut head = Vec::new();
    let player = &session.identity.id;
    add_line(&mut head, &account)?;
    for attempt in state.store.puzzle_tries(player).await? {
        add_line(&mut head, &PuzzleAttempt::from(attempt))?;
    }
    let days = state.store.puzzle_days(player, 0).await?;
    if !days.is_empty() {
        add_line(&mut head, &OwnDays::from(days))?;
    }
    for kind in [RushKind::Minutes, RushKind::Lives] {
        let own = RushBoard { kind, since: 0, limit: 0, of: Some(player.clone()), now: UnixMillis::now() };
        for place in state.store.rush_board(&own).await? {
            add_line(&mut head, &OwnRush::new(kind, &place))?;
        }
    }
    for report in state.store.reports_by(player).await? {
        add_line(&mut head, &OwnReport::from(report))?;
    }
    if let Some(webhook) = state.store.webhook(player).await? {
        add_line(&mut head, &OwnWebhook { webhook: webhook.into() })?;
    }
    if let Some(mail) = state.store.mail(player).await? {
        add_line(&mut head, &OwnMail { mail: mail.into() })?;
    }
    for push in state.store.pushes_of(player).await? {
        add_line(&mut head, &OwnPush { push: push.into() })?;
    }
    for study in state.store.studies_of(player).await? {
        add_line(&mut head, &OwnStudy { study: StudyView::new(&study, session.identity.name.clone()) })?;
    }
    for tied in state.accounts.follows(player).await? {
        add_line(&mut head, &OwnFollow::from(tied))?;
    }
    for tied in state.accounts.blocked_by(player).await? {
        add_line(&mut head, &OwnBlock::from(tied))?;
    }
    Ok(head)
}

async fn export_account(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<Response, ApiError> {
    let session = person(session)?;
    let head = own_lines(&state, &session).await?;
    let file = format!("attachment; filename=\"fourfold-{}.ndjson\"", session.identity.name);
    let lines = stream::games_of(state, session.identity.id, Bytes::from(head));
    let headers = [(header::CONTENT_DISPOSITION, file), (header::CACHE_CONTROL, "no-store".to_owned())];
    Ok((headers, lines).into_response())
}

fn add_line(lines: &mut Vec<u8>, line: &impl Serialize) -> Result<(), ApiError> {
    serde_json::to_writer(&mut *lines, line).map_err(|error| ApiError::internal(&error))?;
    lines.push(b'\n');
    Ok(())
}

async fn change_password(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    SignedIn(session): SignedIn,
    JsonBody(NewPassword { password, new_password }): JsonBody<NewPassword>,
) -> Result<StatusCode, ApiError> {
    let session = person(session)?;
    let changed = state.accounts.change_password(from, &session, password, new_password).await;
    changed.map_err(|error| match error {
        error @ AccountError::Password(_) => ApiError::bad_field("new_password", error.to_string()),
        other => unconfirmed(other),
    })?;
    Ok(StatusCode::NO_CONTENT)
}

async fn delete_account(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    SignedIn(session): SignedIn,
    JsonBody(Confirmation { password }): JsonBody<Confirmation>,
) -> Result<impl IntoResponse, ApiError> {
    state.accounts.delete(from, &person(session)?, password).await.map_err(unconfirmed)?;
    Ok((StatusCode::NO_CONTENT, cookie_header(auth::clear_cookie(&state.site))))
}

async fn end_session_by_id(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    id: PathPart,
) -> Result<StatusCode, ApiError> {
    let id: TokenId = id.parse("session")?;
    state.accounts.end_session(&person(session)?.identity.id, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A wrong password of somebody who is signed in: 403, for 401 would say that the session has ended.
pub(super) fn unconfirmed(error: AccountError) -> ApiError {
    match error {
        AccountError::BadCredentials => ApiError {
            field: Some("password".into()),
            ..ApiError::new(ApiCode::Forbidden, "the password is wrong")
        },
        other => other.into(),
    }
}
