//! What operators do to players, and the log of all that they did.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use super::bots::player;
use super::refusal::Refusal;
use super::{Control, Route};
use crate::accounts::{AccountError, is_guest};
use crate::http::answer::List;
use crate::http::error::ApiError;
use crate::http::request::{JsonBody, PathPart, QueryParameters};
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::text::{Lines, check_text};
use crate::model::time::UnixMillis;
use crate::storage::StoredPlayer;
use crate::storage::moderation::{AuditEntry, Because};
use crate::storage::words::Word as _;

/// Characters of a reason: a sentence or two.
const REASON_MAX: usize = 200;

/// Characters of who did it: a name.
const BY_MAX: usize = 64;

/// Longest ban that ends by itself, in days: who would wait longer is banned for good.
const DAYS_MAX: u32 = 3_650;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Most items in one answer.
const LIST_MAX: u32 = 500;

/// Why something is done, for the log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// One line of text.
    pub(crate) reason: String,
    /// Who says that it was they.
    #[serde(default = "somebody")]
    pub(crate) by: String,
}

/// Whoever talks to the socket and does not say who it is.
pub(super) fn somebody() -> String {
    "the control socket".to_owned()
}

/// Keeps a player out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BanPlayer {
    /// As in [`Reason`], like the next one.
    pub(super) reason: String,
    /// As in [`Reason`], like the last one.
    #[serde(default = "somebody")]
    pub(super) by: String,
    /// For so many; for good without.
    pub(super) days: Option<u32>,
}

/// Gives a player another name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RenamePlayer {
    /// As in [`Reason`], like the next one.
    pub(super) reason: String,
    /// As in [`Reason`], like the last one.
    #[serde(default = "somebody")]
    pub(super) by: String,
    /// By which it is called from now on.
    pub(super) name: String,
}

/// What was done to whom.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// The name, which may be a new one.
    pub(crate) name: PlayerName,
    /// Of a ban, when it ends, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<String>,
    /// The new password, if there is one: it is not kept and cannot be shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<String>,
    /// Sessions or tokens that ended, or bots that went with their account, if that was the point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<usize>,
}

/// A player in a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ListedPlayer {
    pub(crate) name: PlayerName,
    /// The account that it belongs to.
    pub(crate) owner: Option<PlayerName>,
    /// When it was made, RFC 3339.
    pub(crate) created_at: String,
    /// Why it is kept out, if it is.
    pub(crate) banned_because: Option<String>,
    /// When that ends, RFC 3339.
    pub(crate) banned_until: Option<String>,
    /// Why it may ask nobody, if it may not.
    #[serde(default)]
    pub(crate) muted_because: Option<String>,
    /// When that ends, RFC 3339.
    #[serde(default)]
    pub(crate) muted_until: Option<String>,
}

/// A session of a person or a token of a bot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ListedSession {
    pub(crate) id: String,
    /// When it was made, RFC 3339.
    pub(crate) created_at: String,
    /// RFC 3339; tokens of bots do not end by themselves.
    pub(crate) expires_at: Option<String>,
}

/// An entry of the log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct LogEntry {
    pub(crate) number: u64,
    /// When it was done, RFC 3339.
    pub(crate) at: String,
    /// `void`, `cancel_tournament`, `remove_study`, `ban`, `unban`, `mute`, `unmute`, `rename`, `clear_profile`,
    /// `reset_password`, `sign_out` or `delete`; `pause`, `resume`, `drain`, `announce`, `ban_network`,
    /// `unban_network`, `invite` or `uninvite`; `admit` where somebody has registered by an invitation; `appoint` and
    /// `dismiss` of operators; `take_report`, `dismiss_report` or `resolve_report`.
    pub(crate) action: String,
    /// The id of the game or study, the name that the player has now, the network, the code, or `arena`.
    pub(crate) subject: String,
    /// From what name to what name, what text.
    pub(crate) detail: Option<String>,
    /// When it ends by itself, RFC 3339.
    pub(crate) until: Option<String>,
    pub(crate) reason: String,
    pub(crate) by: Option<String>,
}

pub(super) fn commands() -> Vec<Route> {
    vec![
        ("/control/v1/players", get(list)),
        ("/control/v1/players/{name}/ban", post(ban)),
        ("/control/v1/players/{name}/unban", post(unban)),
        ("/control/v1/players/{name}/mute", post(mute)),
        ("/control/v1/players/{name}/unmute", post(unmute)),
        ("/control/v1/players/{name}", axum::routing::delete(delete)),
        ("/control/v1/players/{name}/rename", post(rename)),
        ("/control/v1/players/{name}/clear-profile", post(clear_profile)),
        ("/control/v1/players/{name}/password", post(reset_password)),
        ("/control/v1/players/{name}/sessions", get(sessions).delete(sign_out)),
        ("/control/v1/audit", get(log)),
    ]
}

impl Reason {
    /// As the log keeps it: one line of text, and whose word it is.
    pub(super) fn checked(&self) -> Result<Because, ApiError> {
        let reason = line(&self.reason, "reason", "a reason", REASON_MAX)?;
        let by = line(&self.by, "by", "the name of whoever does it", BY_MAX)?;
        Ok(Because { reason, by, at: UnixMillis::now() })
    }
}

pub(super) fn line(text: &str, field: &str, what: &str, max: usize) -> Result<String, ApiError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ApiError::bad_field(field, format!("{what} is needed")));
    }
    check_text(text, max, Lines::One)
        .map_err(|bad| ApiError::bad_field(field, format!("the {field} {bad}")))?;
    Ok(text.to_owned())
}

/// The account or remote bot of this name.
async fn registered(control: &Control, name: &str) -> Result<StoredPlayer, Refusal> {
    let bad_name = |message| ApiError::bad_parameter("name", message);
    let player = player(control, name, "player", bad_name).await?;
    match (player.kind, player.house) {
        (PlayerKind::Human, _) | (PlayerKind::Bot, false) => Ok(player),
        (PlayerKind::Bot, true) => Err(Refusal::conflict(format!(
            "`{}` is a bot of the house: the settings say who plays",
            player.name
        ))),
        (PlayerKind::Guest, _) => Err(Refusal::conflict(format!(
            "`{}` is a guest, who comes back as another one: nothing would be gained",
            player.name
        ))),
    }
}

/// The account of this name; bots are refused, of which what follows "is a bot and" says why.
async fn account(control: &Control, name: &str, why_no_bot: &str) -> Result<StoredPlayer, Refusal> {
    let player = registered(control, name).await?;
    match player.kind {
        PlayerKind::Human => Ok(player),
        PlayerKind::Bot | PlayerKind::Guest => {
            Err(Refusal::conflict(format!("`{}` is a bot and {why_no_bot}", player.name)))
        }
    }
}

async fn ban(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(BanPlayer { reason, by, days }): JsonBody<BanPlayer>,
) -> Result<Json<Done>, Refusal> {
    let because = Reason { reason, by }.checked()?;
    let until = until_days(because.at, days)?;
    let player = registered(&control, &name).await?;
    control.accounts.ban(&player.id, until, because).await?;
    Ok(Json(Done { until: until.map(|until| until.to_string()), ..Done::to(player.name) }))
}

/// When something ends that was said to last so many days.
pub(super) fn until_days(at: UnixMillis, days: Option<u32>) -> Result<Option<UnixMillis>, ApiError> {
    match days {
        None => Ok(None),
        Some(days) if (1..=DAYS_MAX).contains(&days) => {
            Ok(Some(UnixMillis(at.0.saturating_add(i64::from(days) * DAY_MS))))
        }
        Some(_) => {
            let message = format!("days are 1 to {DAYS_MAX}; without them it does not end by itself");
            Err(ApiError::bad_field("days", message))
        }
    }
}

async fn mute(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(BanPlayer { reason, by, days }): JsonBody<BanPlayer>,
) -> Result<Json<Done>, Refusal> {
    let because = Reason { reason, by }.checked()?;
    let until = until_days(because.at, days)?;
    let player = registered(&control, &name).await?;
    control.accounts.mute(&player.id, until, because).await?;
    Ok(Json(Done { until: until.map(|until| until.to_string()), ..Done::to(player.name) }))
}

async fn unmute(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<Done>, Refusal> {
    let because = because.checked()?;
    let player = registered(&control, &name).await?;
    match control.accounts.unmute(&player.id, because).await {
        Ok(()) => Ok(Json(Done::to(player.name))),
        Err(AccountError::NotMuted) => Err(Refusal::conflict(format!("`{}` is not muted", player.name))),
        Err(error) => Err(error.into()),
    }
}

/// Ends an account with all its bots, or one bot. What they played stays, for it is the opponents' too.
async fn delete(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<Done>, Refusal> {
    let because = because.checked()?;
    let player = registered(&control, &name).await?;
    let ended = control.accounts.delete_as_operator(&player.id, because).await?;
    Ok(Json(Done { ended: Some(ended), ..Done::to(player.name) }))
}

async fn unban(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<Done>, Refusal> {
    let because = because.checked()?;
    let player = registered(&control, &name).await?;
    match control.accounts.unban(&player.id, because).await {
        Ok(()) => Ok(Json(Done::to(player.name))),
        Err(AccountError::NotBanned) => Err(Refusal::conflict(format!("`{}` is not banned", player.name))),
        Err(error) => Err(error.into()),
    }
}

async fn rename(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(RenamePlayer { reason, by, name: new }): JsonBody<RenamePlayer>,
) -> Result<Json<Done>, Refusal> {
    let because = Reason { reason, by }.checked()?;
    let bad_name = |message| ApiError::bad_parameter("name", message);
    let found = player(&control, &name, "player", bad_name).await?;
    // Guests choose names too, and keep them as long as their cookies live.
    let player = if is_guest(&found) { found } else { registered(&control, &name).await? };
    Ok(Json(Done::to(control.accounts.rename(&player.id, &new, because).await?)))
}

async fn clear_profile(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<Done>, Refusal> {
    let because = because.checked()?;
    let player = account(&control, &name, "shows nothing of itself").await?;
    control.accounts.clear_profile(&player.id, because).await?;
    Ok(Json(Done::to(player.name)))
}

async fn reset_password(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<Done>, Refusal> {
    let because = because.checked()?;
    let player = account(&control, &name, "has tokens, no password").await?;
    let password = control.accounts.reset_password(&player.id, because).await?;
    Ok(Json(Done { password: Some(password.expose().to_owned()), ..Done::to(player.name) }))
}

async fn sessions(
    State(control): State<Control>,
    PathPart(name): PathPart,
) -> Result<Json<List<ListedSession>>, Refusal> {
    let player = registered(&control, &name).await?;
    let tokens = control.store.tokens_of(&player.id, UnixMillis::now()).await?;
    let sessions = tokens.into_iter().map(|token| ListedSession {
        id: token.id.to_string(),
        created_at: token.created_at.to_string(),
        expires_at: token.expires_at.map(|end| end.to_string()),
    });
    Ok(Json(List::whole(sessions.collect())))
}

async fn sign_out(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<Done>, Refusal> {
    let because = because.checked()?;
    let player = registered(&control, &name).await?;
    let ended = control.accounts.sign_out_all(&player.id, because).await?;
    Ok(Json(Done { ended: Some(ended), ..Done::to(player.name) }))
}

impl Done {
    fn to(name: PlayerName) -> Self {
        Self { name, until: None, password: None, ended: None }
    }
}

/// Accounts or remote bots by name, behind the `cursor`.
async fn list(
    State(control): State<Control>,
    parameters: QueryParameters,
) -> Result<Json<List<ListedPlayer>>, Refusal> {
    let kind = match parameters.optional::<String>("kind")?.as_deref() {
        Some("human") => PlayerKind::Human,
        Some("bot") => PlayerKind::Bot,
        _ => return Err(ApiError::bad_parameter("kind", "kind is human or bot").into()),
    };
    let after = parameters.optional::<PlayerName>("cursor")?;
    let limit = parameters.optional::<u32>("limit")?.unwrap_or(LIST_MAX).min(LIST_MAX);
    let players = control.store.registered(kind, after.as_ref(), limit).await?;
    let is_last_page = players.len() < limit as usize;
    let cursor = players.last().map(|player| player.name.to_string()).filter(|_| !is_last_page);
    Ok(Json(List { items: listed_players(&control, players).await?, cursor }))
}

/// Players as lists show them.
pub(super) async fn listed_players(
    control: &Control,
    players: Vec<StoredPlayer>,
) -> Result<Vec<ListedPlayer>, Refusal> {
    let owners: Vec<PlayerId> = players.iter().filter_map(|player| player.owner.clone()).collect();
    let owners = names_of(control, &owners).await?;
    let items = players.into_iter().map(|player| ListedPlayer {
        owner: player.owner.and_then(|owner| owners.get(&owner).cloned()),
        created_at: player.created_at.to_string(),
        banned_until: player.ban.as_ref().and_then(|ban| ban.until).map(|until| until.to_string()),
        banned_because: player.ban.map(|ban| ban.reason),
        muted_until: player.mute.as_ref().and_then(|mute| mute.until).map(|until| until.to_string()),
        muted_because: player.mute.map(|mute| mute.reason),
        name: player.name,
    });
    Ok(items.collect())
}

/// The newest entries of the log, before the `cursor`.
async fn log(
    State(control): State<Control>,
    parameters: QueryParameters,
) -> Result<Json<List<LogEntry>>, Refusal> {
    let limit = parameters.optional::<u32>("limit")?.unwrap_or(LIST_MAX).min(LIST_MAX);
    let entries = control.store.audit_log(parameters.cursor()?, limit).await?;
    let is_of_player = |entry: &&AuditEntry| entry.action.is_of_player();
    let players = entries.iter().filter(is_of_player).filter_map(|entry| entry.subject.parse().ok());
    let names = names_of(&control, &players.collect::<Vec<PlayerId>>()).await?;
    let cursor = entries.last().map(|entry| entry.number.to_string());
    let cursor = cursor.filter(|_| entries.len() == limit as usize);
    let items = entries.into_iter().map(|entry| LogEntry {
        number: entry.number,
        at: entry.at.to_string(),
        action: entry.action.word().to_owned(),
        subject: match entry.subject.parse::<PlayerId>().ok().and_then(|id| names.get(&id)) {
            Some(name) if entry.action.is_of_player() => name.to_string(),
            _ => entry.subject,
        },
        detail: entry.detail,
        until: entry.until.map(|until| until.to_string()),
        reason: entry.reason,
        by: entry.by,
    });
    Ok(Json(List { items: items.collect(), cursor }))
}

pub(super) async fn names_of(
    control: &Control,
    ids: &[PlayerId],
) -> Result<HashMap<PlayerId, PlayerName>, Refusal> {
    let players = control.store.players(ids).await?;
    Ok(players.into_iter().map(|player| (player.id, player.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::error::ApiCode;

    fn reason(reason: &str, by: &str) -> Reason {
        Reason { reason: reason.to_owned(), by: by.to_owned() }
    }

    #[test]
    fn a_reason_is_one_line_of_text() {
        assert_eq!(reason(" a bug of the bot ", "ada").checked().unwrap().reason, "a bug of the bot");
        for bad in ["", "  ", "two\nlines", "bell\u{7}", &"x".repeat(REASON_MAX + 1)] {
            let error = reason(bad, "ada").checked().unwrap_err();
            assert_eq!((error.code, error.field.as_deref()), (ApiCode::BadField, Some("reason")), "{bad:?}");
        }
        let nobody = reason("a bug", " ").checked().unwrap_err();
        assert_eq!(nobody.field.as_deref(), Some("by"));
    }
}
