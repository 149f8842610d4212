//! How much of the daemon one network and one account may use up: a single limiter for all that makes state or costs
//! computing.
//!
//! What is shared, and how large a share is, stands in [`rules`]. [`Shares`] counts: [`Shares::spend`] and
//! [`Shares::charge`] for what is used up and comes back with time, [`Shares::hold`] for what may be there at the same
//! time. Where something is scarce, so that even those within their share must wait, [`Turns`] lets the networks take
//! turns. `credits`, `ledger` and `line` are pure; the caller says what time it is.

pub(crate) mod credits;
pub(crate) mod ledger;
pub(crate) mod line;
pub(crate) mod network;
pub(crate) mod rules;
mod turns;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thiserror::Error;

use self::ledger::{Account, Ledger, Part};
use self::line::LineRule;
pub(crate) use self::network::network;
pub(crate) use self::rules::Share;
pub(crate) use self::turns::{Busy, Turns};
use crate::model::clock;
use crate::model::ids::PlayerId;
use crate::system::metrics::Metrics;

/// When to ask again for something that ends at a time that nobody knows, such as a game.
const HELD_RETRY: Duration = Duration::from_secs(5);

/// Who uses something up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Payer {
    /// Where the request came from.
    pub(crate) address: IpAddr,
    /// Whose request it is, if that is known: a guest is somebody too.
    pub(crate) account: Option<PlayerId>,
}

impl Payer {
    /// Somebody of whom only the address is known.
    pub(crate) fn stranger(address: IpAddr) -> Self {
        Self { address, account: None }
    }

    /// An account on whose behalf something is done that comes from no address.
    pub(crate) fn account(account: &PlayerId) -> Self {
        Self { account: Some(account.clone()), ..Self::stranger(Ipv4Addr::UNSPECIFIED.into()) }
    }
}

/// A share is used up. A refusal costs nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("too many {} {}", share.rule().what, whose.words())]
pub struct Refusal {
    pub(crate) share: Share,
    pub(crate) whose: Whose,
    /// How long to wait before asking again.
    pub(crate) wait: Duration,
}

/// Whose share is used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whose {
    Network,
    Account,
    Everybody,
}

impl Whose {
    fn words(self) -> &'static str {
        match self {
            Self::Network => "from this network",
            Self::Account => "of this account",
            Self::Everybody => "of all together",
        }
    }
}

/// What the operator says about shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ShareSettings {
    /// How many shares each network has.
    pub(crate) per_network: u32,
    /// Whether this machine has a share like any other network. Off: bots of one machine are many.
    pub(crate) counts_loopback: bool,
}

impl Default for ShareSettings {
    fn default() -> Self {
        Self { per_network: 1, counts_loopback: false }
    }
}

impl ShareSettings {
    /// Whether limits by network hold for this one. Nowhere is where operators' commands come from, and the house.
    fn counts(self, network: IpAddr) -> bool {
        !network.is_unspecified() && (self.counts_loopback || !network.is_loopback())
    }

    /// How many a network may have, of which one share is so many.
    fn part_of(self, network: IpAddr, share: usize) -> usize {
        let shares = usize::try_from(self.per_network).unwrap_or(usize::MAX);
        if self.counts(network) { share.saturating_mul(shares) } else { usize::MAX }
    }
}

/// The books of all shares; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    books: Arc<Books>,
}

#[derive(Debug)]
struct Books {
    settings: ShareSettings,
    ledger: Mutex<Ledger>,
    metrics: Arc<Metrics>,
}

/// Something that counts while it is there; dropping gives its place back.
#[derive(Debug)]
#[must_use = "dropping it gives the place back"]
pub(crate) struct Held {
    books: Arc<Books>,
    share: Share,
    accounts: Vec<Account>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.books.lock().give_back(self.share, &self.accounts);
    }
}

/// The books of a process that serves nobody.
impl Default for Shares {
    fn default() -> Self {
        Self::new(ShareSettings::default(), Arc::default())
    }
}

impl Shares {
    /// Empty books. Refusals are counted in the metrics.
    pub(crate) fn new(settings: ShareSettings, metrics: Arc<Metrics>) -> Self {
        Self { books: Arc::new(Books { settings, ledger: Mutex::default(), metrics }) }
    }

    /// Uses up one of the share.
    ///
    /// # Errors
    ///
    /// Says whose share is used up, and for how long.
    pub(crate) fn spend(&self, share: Share, payer: &Payer) -> Result<(), Refusal> {
        let parts = self.parts(share, payer);
        self.told(self.books.lock().spend(share, &parts, 1, clock::now()))
    }

    /// Uses up what something turned out to cost, after [`Self::spend`] let it begin. The share may be overdrawn by it,
    /// and then the wait is longer.
    pub(crate) fn charge(&self, share: Share, payer: &Payer, cost: u64) {
        let parts = self.parts(share, payer);
        self.books.lock().charge(share, &parts, cost, clock::now());
    }

    /// Takes one of the places that there may be at the same time.
    ///
    /// # Errors
    ///
    /// Says whose places are taken.
    pub(crate) fn hold(&self, share: Share, payer: &Payer) -> Result<Held, Refusal> {
        let parts = self.parts(share, payer);
        let taken = self.books.lock().hold(share, &parts, clock::now());
        let accounts = self.told(taken)?;
        Ok(Held { books: Arc::clone(&self.books), share, accounts })
    }

    /// Takes a place, and uses up one of the share: for what is limited in both ways.
    ///
    /// # Errors
    ///
    /// As [`Self::hold`] and [`Self::spend`].
    pub(crate) fn hold_and_spend(&self, share: Share, payer: &Payer) -> Result<Held, Refusal> {
        let place = self.hold(share, payer)?;
        self.spend(share, payer)?;
        Ok(place)
    }

    /// Takes a place for what is there already, such as a game of an earlier process: it counts, even if that makes it
    /// more than there may be.
    pub(crate) fn hold_anyway(&self, share: Share, payer: &Payer) -> Held {
        let parts = self.parts(share, payer);
        let accounts = self.books.lock().hold_anyway(share, &parts, clock::now());
        Held { books: Arc::clone(&self.books), share, accounts }
    }

    /// The network that an address is counted for; none if this machine is free of the limits.
    pub(crate) fn counted(&self, address: IpAddr) -> Option<IpAddr> {
        let network = network(address);
        Some(network).filter(|network| self.books.settings.counts(*network))
    }

    /// A place where networks take turns.
    pub(crate) fn turns(&self, rule: LineRule) -> Turns {
        Turns::new(rule, self.books.settings)
    }

    /// Whom the share is counted for, each with the limits that hold there.
    fn parts(&self, share: Share, payer: &Payer) -> Vec<Part> {
        let rule = share.rule();
        let network = self.counted(payer.address).map(Account::Network);
        let limits = [
            (network, rule.network.times(self.books.settings.per_network)),
            (payer.account.clone().map(Account::Player), rule.account),
            (Some(Account::Everybody), rule.all),
        ];
        let parts = limits.into_iter().filter(|(_, limit)| !limit.is_none());
        parts.filter_map(|(account, limit)| Some(Part { account: account?, limit })).collect()
    }

    fn told<T>(&self, result: Result<T, Refusal>) -> Result<T, Refusal> {
        result.inspect_err(|refusal| self.books.metrics.share_refused(refusal.share.rule().name))
    }
}

impl Books {
    /// The lock is held to count. Counting cannot leave the ledger half changed, so no panic elsewhere spoils it.
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
