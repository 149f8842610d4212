//! Who may play: how many games guests have, and who plays rated games, where the operator asks bots to pass the
//! self-test first.

use thiserror::Error;

use crate::model::player::Identity;
use crate::play::presence::Sessions;
use crate::storage::{Store, StoreError};

/// Games of one guest at the same time: guests are made for nothing, and nobody plays more boards at once than this
/// without an account.
pub(crate) const GUEST_GAMES_MAX: u32 = 4;

/// Whether a version must have passed before it plays rated games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Requirement {
    /// It need not.
    #[default]
    Optional,
    /// It must.
    BeforeRated,
}

/// A version that must pass the self-test first.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "version \"{version}\" of {name} has not passed the self-test, which rated games need here: \
     run `fourfold check-bot --connects` while it is connected, or start the test on the page /bot/{name}"
)]
pub(crate) struct Untested {
    pub(crate) name: String,
    /// The version that it gives itself.
    pub(crate) version: String,
}

/// Says whether a connected bot may play rated games. People and bots of the house always may.
///
/// # Errors
///
/// [`Untested`] inside if it must pass the self-test first; outside if the store failed.
pub(crate) async fn may_play_rated(
    store: &dyn Store,
    sessions: &Sessions,
    bot: &Identity,
) -> Result<Result<(), Untested>, StoreError> {
    let version = sessions.version_of(&bot.id).unwrap_or_default();
    let known = store.bot_version(&bot.id, &version).await?;
    if known.is_some_and(|known| known.passed_at.is_some()) {
        return Ok(Ok(()));
    }
    Ok(Err(Untested { name: bot.name.to_string(), version }))
}
