//! What failed lately: of whom, and from where. How often somebody may try at all is a share like others.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tracing::warn;

use super::error::AccountError;
use crate::model::ids::PlayerId;
use crate::model::signing::{Purpose, Signer};
use crate::storage::attempts::{Attempt, AttemptRule};
use crate::storage::store::Store;

/// Wrong passwords for one account before it must wait.
const ACCOUNT_RULE: AttemptRule =
    AttemptRule { name: "wrong password of account", max: 5, window: Duration::from_mins(1) };

/// Wrong passwords from one network before it must wait.
const NETWORK_RULE: AttemptRule =
    AttemptRule { name: "wrong password from network", max: 10, window: Duration::from_mins(10) };

/// Wrong codes of one operator before it must wait: of a million codes three are right at a time, so somebody who has
/// the session, and not the phone, finds one in seven years of trying.
const FACTOR_RULE: AttemptRule =
    AttemptRule { name: "wrong second factor of operator", max: 5, window: Duration::from_hours(1) };

/// Bytes of a name that are looked at: all names have fewer, and what is no name need not be told apart.
const KEY_BYTES_MAX: usize = 32;

/// The counters. Names that nobody has are counted like others, so that locking does not tell them apart.
///
/// What is kept are digests: the name may be a password in the wrong field.
#[derive(Debug)]
pub(super) struct Counters {
    store: Arc<dyn Store>,
    signer: Signer,
}

/// One try to sign in, which counts as a failure until it is taken back.
#[derive(Debug)]
#[must_use = "an attempt that was no failure must be taken back"]
pub(super) struct SignInAttempt {
    account: Counted,
    network: Option<Counted>,
}

#[derive(Debug)]
struct Counted {
    rule: AttemptRule,
    key: String,
    number: i64,
}

impl Counters {
    pub(super) fn new(store: Arc<dyn Store>, signer: Signer) -> Self {
        Self { store, signer }
    }

    /// Counts a try to sign in, unless the account or the network, where networks are counted, must wait.
    pub(super) async fn begin_sign_in(
        &self,
        name: &str,
        network: Option<IpAddr>,
    ) -> Result<SignInAttempt, AccountError> {
        let account: String = name.chars().take(KEY_BYTES_MAX).map(|c| c.to_ascii_lowercase()).collect();
        let account = self.begin(ACCOUNT_RULE, &account).await?;
        let Some(network) = network else { return Ok(SignInAttempt { account, network: None }) };
        match self.begin(NETWORK_RULE, &network.to_string()).await {
            Ok(network) => Ok(SignInAttempt { account, network: Some(network) }),
            Err(error) => {
                self.take_back(&account).await;
                Err(error)
            }
        }
    }

    /// The password was right: the account's failures are forgotten, those of others from the same network are not.
    pub(super) async fn was_right(&self, attempt: &SignInAttempt) {
        self.withdraw(attempt).await;
        let forgotten = self.store.attempts().forget(attempt.account.rule, &attempt.account.key).await;
        forgotten.unwrap_or_else(|error| warn!(?error, "failed attempts could not be forgotten"));
    }

    /// The password was not even looked at.
    pub(super) async fn withdraw(&self, attempt: &SignInAttempt) {
        self.take_back(&attempt.account).await;
        if let Some(network) = &attempt.network {
            self.take_back(network).await;
        }
    }

    /// Counts a try to prove that one is an operator, unless that account must wait.
    pub(super) async fn begin_factor(&self, operator: &PlayerId) -> Result<SignInAttempt, AccountError> {
        let account = self.begin(FACTOR_RULE, operator.as_str()).await?;
        Ok(SignInAttempt { account, network: None })
    }

    async fn begin(&self, rule: AttemptRule, text: &str) -> Result<Counted, AccountError> {
        let key = self.signer.digest(Purpose::Attempt, text);
        match self.store.attempts().begin(rule, &key).await? {
            Attempt::Counted(number) => Ok(Counted { rule, key, number }),
            Attempt::MustWait(wait) => Err(AccountError::TooManyAttempts { wait }),
        }
    }

    /// If the store cannot be told, it counts for a while: that locks nobody out who tries once.
    async fn take_back(&self, counted: &Counted) {
        let Counted { rule, key, number } = counted;
        let taken_back = self.store.attempts().withdraw(*rule, key, *number).await;
        taken_back.unwrap_or_else(|error| warn!(?error, "an attempt could not be taken back"));
    }
}
