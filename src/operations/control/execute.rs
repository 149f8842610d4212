//! Doing what is commanded.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use fourfold_engine::{BySide, Variant};
use futures::future::BoxFuture;

use super::request::{ControlAnswer, ControlRefusal, ControlRequest, DaemonStatus, RefusalKind};
use super::{admin, learners};
use crate::accounts::{AccountError, Accounts, Issued};
use crate::competition::tournament::{HoldError, Tournaments};
use crate::model::ids::{GameId, PlayerName};
use crate::model::player::Identity;
use crate::model::player::PlayerKind;
use crate::operations::verify;
use crate::storage::records::Record;
use crate::storage::records::export::RecordReader;
use crate::storage::store::GameQuery;
use crate::storage::{Store, StoreError, StoredPlayer, Writer};
use crate::study::learning::Learning;

/// Most games in one answer: some 300 KiB.
const EXPORT_MAX: u32 = 500;

/// Where commands come from, as the limits for strangers see it: they do not hold for the operator.
const OPERATOR: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// What commands act on.
#[derive(Clone)]
pub struct Control {
    pub accounts: Accounts,
    pub store: Arc<dyn Store>,
    /// Writes what concerns no account.
    pub writer: Writer,
    /// Learners, who are told when they have to forget.
    pub learning: Learning,
    /// Asks the daemon what it is doing; nothing where none runs.
    pub status: Option<Arc<dyn Fn() -> DaemonStatus + Send + Sync>>,
    /// Holds tournaments; nothing where no daemon runs.
    pub tournaments: Option<Tournaments>,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("accounts", &self.accounts).finish_non_exhaustive()
    }
}

/// Does what is commanded.
///
/// # Errors
///
/// Says why not, and whose fault that is.
pub fn execute(
    control: &Control,
    request: ControlRequest,
) -> BoxFuture<'_, Result<ControlAnswer, ControlRefusal>> {
    // Boxed, or all that operators can do would be compiled once more in every place that waits for it.
    Box::pin(carry_out(control, request))
}

async fn carry_out(control: &Control, request: ControlRequest) -> Result<ControlAnswer, ControlRefusal> {
    match request {
        ControlRequest::AccountCreate { name, password } => {
            let Identity { id, name, .. } = control.accounts.register(OPERATOR, &name, password).await?;
            Ok(ControlAnswer::Account { id, name })
        }
        ControlRequest::BotCreate { name, owner } => {
            let owner = player(control, &owner, "account").await?;
            Ok(token(control.accounts.create_bot(&identity(&owner), &name).await?))
        }
        ControlRequest::BotToken { name } => {
            let bot = remote_bot(control, &name).await?;
            Ok(token(control.accounts.new_token(&bot.id).await?))
        }
        ControlRequest::BotRevoke { name } => {
            let bot = remote_bot(control, &name).await?;
            let count = control.accounts.revoke_tokens(&bot.id).await?;
            Ok(ControlAnswer::Revoked { name: bot.name, count })
        }
        ControlRequest::Ratings { names } => ratings(control, &names).await,
        ControlRequest::GamesExport { after, limit } => export(control, after, limit.min(EXPORT_MAX)).await,
        ControlRequest::Game { id } => game(control, &id).await,
        ControlRequest::GamesVerify => verify(control).await,
        ControlRequest::LearnersVerify => learners::verify(control).await,
        ControlRequest::LearnersRepair => learners::repair(control).await,
        ControlRequest::LearnerShow { name } => learners::show(control, &name).await,
        ControlRequest::MoveReasons { name, game } => learners::reasons(control, &name, &game).await,
        ControlRequest::LearnerExport { name } => learners::export(control, &name).await,
        ControlRequest::VoidGame { id, reason } => admin::void(control, &id, &reason).await,
        ControlRequest::Status => match &control.status {
            Some(status) => Ok(ControlAnswer::Status(status())),
            None => Err(no_daemon()),
        },
        ControlRequest::TournamentHold { name } => match &control.tournaments {
            Some(tournaments) => Ok(ControlAnswer::TournamentHeld { id: tournaments.hold(&name).await? }),
            None => Err(no_daemon()),
        },
    }
}

fn no_daemon() -> ControlRefusal {
    ControlRefusal::new(RefusalKind::Conflict, "no daemon runs on this data directory")
}

async fn ratings(control: &Control, names: &[String]) -> Result<ControlAnswer, ControlRefusal> {
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let player = match name.parse::<PlayerName>() {
            Ok(name) => control.store.player_by_name(&name).await?,
            Err(_) => None,
        };
        let row = match player {
            Some(player) => control.store.rating(&player.id, Variant::STANDARD).await?,
            None => None,
        };
        found.push(row.map(|row| row.standing.shown().into()));
    }
    Ok(ControlAnswer::Ratings(found))
}

async fn export(control: &Control, after: Option<u64>, limit: u32) -> Result<ControlAnswer, ControlRefusal> {
    let query = GameQuery { after, limit, ..GameQuery::default() };
    let mut reader = RecordReader::new(Arc::clone(&control.store), query);
    let records = reader.next_page().await?.unwrap_or_default();
    let next = if records.is_empty() { None } else { reader.last_number() };
    Ok(ControlAnswer::Games { records, next })
}

async fn game(control: &Control, id: &GameId) -> Result<ControlAnswer, ControlRefusal> {
    let missing = || no_game(id);
    let game = control.store.game(id).await?.ok_or_else(missing)?;
    let players = BySide {
        first: control.store.player(&game.spec.players.first).await?.ok_or_else(missing)?,
        second: control.store.player(&game.spec.players.second).await?.ok_or_else(missing)?,
    };
    Ok(ControlAnswer::Games { records: vec![Record::new(&game, &players)], next: None })
}

pub(super) fn no_game(id: &GameId) -> ControlRefusal {
    ControlRefusal::new(RefusalKind::Conflict, format!("there is no game {id}"))
}

async fn verify(control: &Control) -> Result<ControlAnswer, ControlRefusal> {
    Ok(ControlAnswer::Verified(verify::verify(control.store.as_ref()).await?))
}

fn token(issued: Issued) -> ControlAnswer {
    ControlAnswer::Token { name: issued.identity.name, id: issued.token, token: issued.secret }
}

fn identity(player: &StoredPlayer) -> Identity {
    Identity {
        id: player.id.clone(),
        name: player.name.clone(),
        kind: player.kind,
        owner: player.owner.clone(),
    }
}

/// The player of this name; `what` says what was looked for.
pub(super) async fn player(
    control: &Control,
    name: &str,
    what: &str,
) -> Result<StoredPlayer, ControlRefusal> {
    let name: PlayerName =
        name.parse().map_err(|error| ControlRefusal::new(RefusalKind::Usage, format!("{error}")))?;
    let found = control.store.player_by_name(&name).await?;
    found.ok_or_else(|| ControlRefusal::new(RefusalKind::Conflict, format!("there is no {what} `{name}`")))
}

async fn remote_bot(control: &Control, name: &str) -> Result<StoredPlayer, ControlRefusal> {
    let found = player(control, name, "bot").await?;
    match (found.kind, found.house) {
        (PlayerKind::Bot, false) => Ok(found),
        (PlayerKind::Bot, true) => {
            let message = format!("`{}` is a bot of the house: it needs no token", found.name);
            Err(ControlRefusal::new(RefusalKind::Conflict, message))
        }
        (PlayerKind::Human | PlayerKind::Guest, _) => {
            Err(ControlRefusal::new(RefusalKind::Conflict, format!("`{}` is no bot", found.name)))
        }
    }
}

impl From<AccountError> for ControlRefusal {
    fn from(error: AccountError) -> Self {
        let kind = match &error {
            AccountError::Name(_) | AccountError::Password(_) => RefusalKind::Usage,
            AccountError::NameTaken
            | AccountError::BadCredentials
            | AccountError::Unauthorized
            | AccountError::NoAccount
            | AccountError::TooManyBots { .. }
            | AccountError::NoSuchBot
            | AccountError::NoSuchSession
            | AccountError::NoSuchToken
            | AccountError::NotYours => RefusalKind::Conflict,
            AccountError::TooManyAttempts { .. } | AccountError::Busy => RefusalKind::Busy,
            AccountError::Hash
            | AccountError::Read(_)
            | AccountError::Write(_)
            | AccountError::Unexpected(_) => RefusalKind::Failed,
        };
        Self::new(kind, with_causes(&error))
    }
}

impl From<HoldError> for ControlRefusal {
    fn from(error: HoldError) -> Self {
        let kind = match &error {
            HoldError::Unknown(_) => RefusalKind::Usage,
            HoldError::GoesOn(_) | HoldError::Alone(_) => RefusalKind::Conflict,
            HoldError::Unavailable => RefusalKind::Busy,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<StoreError> for ControlRefusal {
    fn from(error: StoreError) -> Self {
        Self::new(RefusalKind::Failed, with_causes(&error))
    }
}

/// An error and what caused it, as the reader at the other end of the socket sees only this.
pub(super) fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
