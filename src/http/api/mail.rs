//! Where somebody has their mail, and the way back to an account whose password is forgotten.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post, put};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::{debug, warn};

use super::account::{MailView, person, unconfirmed};
use crate::accounts::AccountError;
use crate::http::auth::SignedIn;
use crate::http::client_address::ClientAddress;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::JsonBody;
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::PlayerName;
use crate::model::mail::MailAddress;
use crate::model::player::Identity;
use crate::model::secret::Secret;
use crate::operations::mail::{Mailer, PostError};
use crate::storage::mails::StoredMail;

/// A new address.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewMail {
    /// `ada@example.org`, at most 254 characters.
    address: String,
    /// The account's password.
    password: Secret,
    /// The tag of the language in which to write there; without, English.
    language: Option<String>,
}

/// What somebody wants to be told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MailNotices {
    /// Whether a mail is sent when one of one's bots is paused, and when it is one's turn by correspondence.
    bot_paused: bool,
}

/// The secret of a link.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LinkSecret {
    /// What stands behind the `#` of the link.
    link: Secret,
}

/// Whoever has forgotten a password.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForgottenPassword {
    /// The address of the account, if it has one.
    address: String,
}

/// A new password for whoever has the link.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PasswordByLink {
    /// What stands behind the `#` of the link.
    link: Secret,
    /// 8 to 200 characters.
    new_password: Secret,
}

/// What is answered, whether there is such an account or not.
#[derive(Debug, Serialize, JsonSchema)]
struct MailAsked {
    /// Always true: if the address is that of an account, a link goes there.
    asked: bool,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    [of_account(), of_strangers()].concat()
}

fn of_account() -> Vec<Endpoint> {
    let show = Operation::get(
        "/api/v1/account/mail",
        "Shows one's mail address, which nobody else sees",
        Content::Json(schema_of::<MailView>),
    )
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound]);
    let set = Operation::put(
        "/api/v1/account/mail",
        "Sets one's mail address, in the place of the one before, and sends a link there that verifies it",
        Content::Json(schema_of::<MailView>),
    )
    .body(schema_of::<NewMail>)
    .signed_in()
    .refusals(&[
        ApiCode::Forbidden,
        ApiCode::NotFound,
        ApiCode::OriginNotAllowed,
        ApiCode::RateLimited,
        ApiCode::Busy,
    ]);
    let remove = Operation::delete("/api/v1/account/mail", "Forgets one's mail address", Content::Nothing)
        .status(204)
        .signed_in()
        .refusals(&[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed]);
    let notices = Operation::put(
        "/api/v1/account/mail/notices",
        "Says whether one is written to when a bot of one's own is paused, or when it is one's turn by correspondence",
        Content::Nothing,
    )
    .status(204)
    .body(schema_of::<MailNotices>)
    .signed_in()
    .refusals(&[ApiCode::Forbidden, ApiCode::NotFound, ApiCode::OriginNotAllowed]);
    vec![
        Endpoint::new(
            "/api/v1/account/mail",
            get(show_mail).put(set_mail).delete(remove_mail),
            [show, set, remove],
        ),
        Endpoint::new("/api/v1/account/mail/notices", put(set_notices), [notices]),
    ]
}

fn of_strangers() -> Vec<Endpoint> {
    let by_link = &[ApiCode::NotFound, ApiCode::RateLimited, ApiCode::Busy];
    let verify = Operation::post(
        "/api/v1/mail/verification",
        "Verifies the address to which the link was sent; it is good once, for a day",
        Content::Nothing,
    )
    .status(204)
    .body(schema_of::<LinkSecret>)
    .refusals(by_link);
    let ask = Operation::post(
        "/api/v1/mail/reset",
        "Sends a link to a new password to an address, if it is a verified one of an account. The answer is always the same",
        Content::Json(schema_of::<MailAsked>),
    )
    .status(202)
    .body(schema_of::<ForgottenPassword>)
    .refusals(by_link);
    let reset = Operation::put(
        "/api/v1/mail/password",
        "Sets a new password by a link, which is good once, for an hour. All sessions of the account end",
        Content::Nothing,
    )
    .status(204)
    .body(schema_of::<PasswordByLink>)
    .refusals(by_link);
    vec![
        Endpoint::new("/api/v1/mail/verification", post(verify_mail), [verify]),
        Endpoint::new("/api/v1/mail/reset", post(ask_for_link), [ask]),
        Endpoint::new("/api/v1/mail/password", put(set_password), [reset]),
    ]
}

/// What writes mails, where operators let it.
fn mailer(state: &AppState) -> Result<&Mailer, ApiError> {
    state.mailer.as_ref().ok_or_else(|| ApiError::not_found("mail: this arena sends no mails"))
}

fn address(text: &str) -> Result<MailAddress, ApiError> {
    text.trim().parse().map_err(|error: crate::model::mail::InvalidMailAddress| {
        ApiError::bad_field("address", error.to_string())
    })
}

fn unposted(error: PostError) -> ApiError {
    match error {
        PostError::Share(refusal) => refusal.into(),
        PostError::Busy => ApiError::new(ApiCode::Busy, "too many mails wait, try again in some minutes"),
    }
}

async fn show_mail(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<Json<MailView>, ApiError> {
    let owner = person(session)?.identity.id;
    mailer(&state)?;
    let mail = state.accounts.mail(&owner).await?;
    Ok(Json(mail.ok_or_else(|| ApiError::not_found("mail"))?.into()))
}

async fn set_mail(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    SignedIn(session): SignedIn,
    JsonBody(NewMail { address: text, password, language }): JsonBody<NewMail>,
) -> Result<Json<MailView>, ApiError> {
    let session = person(session)?;
    let (mailer, address) = (mailer(&state)?, address(&text)?);
    let language = language.and_then(|tag| Language::of_tag(&tag)).unwrap_or(Language::ALL[0]);
    state.accounts.note_mail_link(from)?;
    mailer.allow(&session.identity.id).map_err(unposted)?;
    let before = state.accounts.mail(&session.identity.id).await?;
    let set = state.accounts.set_mail(from, &session, password, address, language.tag()).await;
    let mail = set.map_err(unconfirmed)?;
    let link = state.accounts.verifying_link(&mail.owner).await?;
    mailer.verify(&mail, session.identity.name.clone(), &link).map_err(unposted)?;
    tell_place_before(mailer, before, Some(&mail.address), session.identity.name);
    Ok(Json(mail.into()))
}

/// Tells a verified address that it is not the account's any more. Whoever changed it is not refused if that fails.
fn tell_place_before(
    mailer: &Mailer,
    before: Option<StoredMail>,
    now: Option<&MailAddress>,
    account: PlayerName,
) {
    let now = now.map(MailAddress::folded);
    let is_another = |before: &StoredMail| Some(before.address.folded()) != now;
    let before = before.filter(|before| before.verified_at.is_some() && is_another(before));
    if let Some(before) = before
        && let Err(error) = mailer.replaced(&before, account)
    {
        warn!(player = %before.owner, %error, "an address is not told that it is no longer an account's");
    }
}

async fn remove_mail(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
) -> Result<StatusCode, ApiError> {
    let Identity { id: owner, name, .. } = person(session)?.identity;
    let before = state.accounts.mail(&owner).await?;
    state.accounts.remove_mail(&owner).await?;
    // An address can be forgotten where mails are not sent any more.
    if let Some(mailer) = &state.mailer {
        tell_place_before(mailer, before, None, name);
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn set_notices(
    State(state): State<AppState>,
    SignedIn(session): SignedIn,
    JsonBody(MailNotices { bot_paused }): JsonBody<MailNotices>,
) -> Result<StatusCode, ApiError> {
    let owner = person(session)?.identity.id;
    state.accounts.set_notices(&owner, bot_paused).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn verify_mail(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    JsonBody(LinkSecret { link }): JsonBody<LinkSecret>,
) -> Result<StatusCode, ApiError> {
    state.accounts.note_mail_link(from)?;
    state.accounts.verify_mail(&link).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Answers before it is looked whether there is such an account, so that nobody learns it: not even by the time.
async fn ask_for_link(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    JsonBody(ForgottenPassword { address: text }): JsonBody<ForgottenPassword>,
) -> Result<(StatusCode, Json<MailAsked>), ApiError> {
    let (mailer, address) = (mailer(&state)?.clone(), address(&text)?);
    state.accounts.note_mail_link(from)?;
    tokio::spawn(async move {
        if let Err(error) = send_links(&state, &mailer, &address).await {
            warn!(error = error.message, "no link to a new password is sent");
        }
    });
    Ok((StatusCode::ACCEPTED, Json(MailAsked { asked: true })))
}

/// Sends a link for each account to which the address belongs.
async fn send_links(state: &AppState, mailer: &Mailer, address: &MailAddress) -> Result<(), ApiError> {
    for mail in state.accounts.accounts_at(address).await? {
        // An older link stays good if there may be no other.
        if let Err(refusal) = mailer.allow(&mail.owner) {
            debug!(player = %mail.owner, %refusal, "no link to a new password");
            continue;
        }
        send_link(state, mailer, &mail).await?;
    }
    Ok(())
}

async fn send_link(state: &AppState, mailer: &Mailer, mail: &StoredMail) -> Result<(), ApiError> {
    let Some(player) = state.store.player(&mail.owner).await? else { return Ok(()) };
    let link = state.accounts.reset_link(&mail.owner).await?;
    mailer.reset(mail, player.name, &link).map_err(unposted)
}

async fn set_password(
    State(state): State<AppState>,
    ClientAddress(from): ClientAddress,
    JsonBody(PasswordByLink { link, new_password }): JsonBody<PasswordByLink>,
) -> Result<StatusCode, ApiError> {
    state.accounts.note_mail_link(from)?;
    let set = state.accounts.reset_password_by(from, &link, new_password).await;
    set.map_err(|error| match error {
        error @ AccountError::Password(_) => ApiError::bad_field("new_password", error.to_string()),
        other => other.into(),
    })?;
    Ok(StatusCode::NO_CONTENT)
}
