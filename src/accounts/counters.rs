//! What failed lately: of whom, and from where. How often somebody may try at all is a share like others.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::attempts::{AttemptRule, Attempts};
use super::error::AccountError;

/// Wrong passwords for one account before it must wait.
const ACCOUNT_RULE: AttemptRule = AttemptRule { max: 5, window: Duration::from_mins(1) };

/// Wrong passwords from one network before it must wait.
const NETWORK_RULE: AttemptRule = AttemptRule { max: 10, window: Duration::from_mins(10) };

/// Bytes of a name that are looked at: all names have fewer, and what is no name need not be told apart.
const KEY_BYTES_MAX: usize = 32;

/// The counters. Names that nobody has are counted like others, so that locking does not tell them apart.
#[derive(Debug)]
pub(super) struct Counters {
    tables: Mutex<CounterTables>,
}

#[derive(Debug)]
struct CounterTables {
    by_account: Attempts<String>,
    by_network: Attempts<IpAddr>,
}

impl Default for Counters {
    fn default() -> Self {
        let tables = CounterTables {
            by_account: Attempts::new(ACCOUNT_RULE),
            by_network: Attempts::new(NETWORK_RULE),
        };
        Self { tables: Mutex::new(tables) }
    }
}

/// One try to sign in, which counts as a failure until it is taken back.
#[derive(Debug)]
#[must_use = "an attempt that was no failure must be taken back"]
pub(super) struct SignInAttempt {
    account: String,
    network: Option<IpAddr>,
    began: Instant,
}

impl Counters {
    /// Counts a try to sign in, unless the account or the network, where networks are counted, must wait.
    pub(super) fn begin_sign_in(
        &self,
        name: &str,
        network: Option<IpAddr>,
        now: Instant,
    ) -> Result<SignInAttempt, AccountError> {
        let account: String = name.chars().take(KEY_BYTES_MAX).map(|c| c.to_ascii_lowercase()).collect();
        let attempt = SignInAttempt { account, network, began: now };
        self.with(|tables| {
            let by_account = tables.by_account.wait(&attempt.account, now);
            let by_network = attempt.network.and_then(|network| tables.by_network.wait(&network, now));
            if let Some(wait) = by_account.max(by_network) {
                return Err(AccountError::TooManyAttempts { wait });
            }
            tables.by_account.begin(attempt.account.clone(), now);
            if let Some(network) = attempt.network {
                tables.by_network.begin(network, now);
            }
            Ok(attempt)
        })
    }

    /// The password was right: the account's failures are forgotten, those of others from the same network are not.
    pub(super) fn was_right(&self, attempt: &SignInAttempt) {
        self.withdraw(attempt);
        self.with(|tables| tables.by_account.forget(&attempt.account));
    }

    /// The password was not even looked at.
    pub(super) fn withdraw(&self, attempt: &SignInAttempt) {
        self.with(|tables| {
            tables.by_account.withdraw(&attempt.account, attempt.began);
            if let Some(network) = attempt.network {
                tables.by_network.withdraw(&network, attempt.began);
            }
        });
    }

    fn with<T>(&self, use_them: impl FnOnce(&mut CounterTables) -> T) -> T {
        // Counting cannot leave a table half changed, so a panic elsewhere does not spoil it.
        use_them(&mut self.tables.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
