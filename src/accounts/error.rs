//! Why an account service refused.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::password::{HashError, InvalidPassword};
use crate::model::ids::{InvalidName, PlayerName};
use crate::model::vacation::DAYS_A_YEAR;
use crate::storage::StoreError;
use crate::storage::record::Ban;
use crate::storage::store::Refused;
use crate::storage::writer::Obstacle;
use crate::system::shares::Refusal;

/// Why an account service refused.
#[derive(Debug, Error)]
pub enum AccountError {
    /// The name breaks the rule for names, or is reserved.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The password breaks the rule for passwords.
    #[error(transparent)]
    Password(#[from] InvalidPassword),
    /// Somebody has that name.
    #[error("the name is taken")]
    NameTaken,
    /// No such name, or not its password: which one is not said.
    #[error("name or password is wrong")]
    BadCredentials,
    /// The token or session is unknown, expired or revoked: which one is not said.
    #[error("the credentials are not valid")]
    Unauthorized,
    /// An operator keeps the player out.
    #[error("banned {}: {}", until(.0), .0.reason)]
    Banned(Ban),
    /// Nobody keeps the player out.
    #[error("the player is not banned")]
    NotBanned,
    /// The operators allow no such name.
    #[error("the name has a word in it that is not allowed here")]
    NameForbidden,
    /// Somebody would be taken for somebody else.
    #[error("the name looks like `{other}`")]
    NameLooksLike { other: PlayerName },
    /// Nobody keeps the player from asking.
    #[error("the player is not muted")]
    NotMuted,
    /// As many have registered by the invitation as may.
    #[error("this invitation has been used up")]
    InvitationUsedUp,
    /// The account has no mail address.
    #[error("there is no mail address")]
    NoMail,
    /// The link is none, or not any more.
    #[error("this link was used, or is too old, or there is a newer one: ask for another")]
    LinkUsed,
    /// The account is an operator's.
    #[error("the account is an operator already: remove it first to renew its second factor")]
    OperatorAlready,
    /// The account is no operator's.
    #[error("the account is no operator")]
    NoOperator,
    /// A code of the second factor is wrong: which of both is not said.
    #[error("the code is wrong, or was used already")]
    WrongCode,
    /// No operator has dealt with the last report yet.
    #[error("you have reported this player already, and the operators have not answered yet")]
    ReportedAlready,
    /// The operators have more reports than they can read.
    #[error("there are too many reports to be read, try again tomorrow")]
    TooManyReports,
    /// Too many attempts for this account, or from this network.
    #[error("too many attempts, wait {} seconds", wait.as_secs() + 1)]
    TooManyAttempts {
        /// Until the next one may come.
        wait: Duration,
    },
    /// A share is used up.
    #[error(transparent)]
    Share(#[from] Refusal),
    /// Too many passwords wait to be hashed, or too much to be written.
    #[error("too much is going on, try again in a moment")]
    Busy,
    /// Nothing can be stored for now.
    #[error("nothing can be stored: {0}")]
    Obstructed(Obstacle),
    /// Only people with an account have bots.
    #[error("only people with an account can do this")]
    NoAccount,
    /// The account has as many bots as it may have.
    #[error("an account has at most {max} bots")]
    TooManyBots { max: u32 },
    /// The bot has as many tokens as it may have.
    #[error("a bot has at most {max} tokens")]
    TooManyTokens { max: u32 },
    /// No remote bot of that name.
    #[error("there is no such bot")]
    NoSuchBot,
    /// The person has no such session, or it has ended.
    #[error("there is no such session")]
    NoSuchSession,
    /// The rating of a bot began anew a while ago only.
    #[error("the rating of a bot begins anew once a day at most")]
    ResetTooSoon {
        /// Until the next time.
        wait: Duration,
    },
    /// Nobody follows or blocks that one, or so many.
    #[error(transparent)]
    Tie(#[from] TieError),
    /// There are not so many days of vacation.
    #[error("there are {left} days of vacation left, of {DAYS_A_YEAR} within a year")]
    VacationUsedUp { left: u32 },
    /// The bot has no such token (any more).
    #[error("there is no such token")]
    NoSuchToken,
    /// Somebody else's bot.
    #[error("the bot is not yours")]
    NotYours,
    /// A password could not be hashed or compared.
    #[error("the password could not be checked")]
    Hash,
    /// The store could not be read.
    #[error("the accounts could not be read")]
    Read(#[from] StoreError),
    /// The store could not be written.
    #[error("the account could not be written")]
    Write(#[source] Arc<StoreError>),
    /// A write was refused for a reason that this service never gives.
    #[error("the account could not be written")]
    Unexpected(#[source] Refused),
}

/// Why somebody cannot be followed or blocked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TieError {
    /// Only others are followed, and who has an account.
    #[error("people and bots with an account can be followed, and not oneself")]
    NobodyToFollow,
    /// The person follows as many as they may.
    #[error("an account follows at most {max} players")]
    TooManyFollows { max: usize },
    /// The person blocks whom they want to follow.
    #[error("you block this player: stop that first")]
    Blocked,
    /// Only others are blocked, and who is no bot of the house.
    #[error("everybody but oneself and bots of the house can be blocked")]
    NobodyToBlock,
    /// The person blocks as many as they may.
    #[error("an account blocks at most {max} players")]
    TooManyBlocks { max: usize },
}

fn until(ban: &Ban) -> String {
    ban.until.map_or_else(|| "for good".to_owned(), |until| format!("until {until}"))
}

impl AccountError {
    /// The error that says of what there are too many, if the store refused a write for that.
    pub(super) fn if_too_many(self, error: Self) -> Self {
        match self {
            Self::Unexpected(Refused::TooMany) => error,
            other => other,
        }
    }
}

impl From<HashError> for AccountError {
    fn from(error: HashError) -> Self {
        match error {
            HashError::Busy => Self::Busy,
            HashError::Failed => Self::Hash,
        }
    }
}
