//! Who has used up how much: pure, the caller says what time it is.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::credits::Credits;
use super::rules::{Limit, Share};
use super::{HELD_RETRY, Refusal, Whose};
use crate::model::ids::PlayerId;

/// Entries of the ledger, about 100 bytes each. Whoever has all credits and holds nothing is forgotten first; if that
/// does not make room, so is the half whose credits come back soonest. Forgetting favours those who are counted, so
/// nobody is refused because strangers filled the ledger; limits of all together still hold.
const ENTRIES_MAX: usize = 65_536;

/// Whom something is counted for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Account {
    Network(IpAddr),
    Player(PlayerId),
    Everybody,
}

impl Account {
    fn whose(&self) -> Whose {
        match self {
            Self::Network(_) => Whose::Network,
            Self::Player(_) => Whose::Account,
            Self::Everybody => Whose::Everybody,
        }
    }
}

/// One who pays, with the limits that hold there.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) account: Account,
    pub(super) limit: Limit,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    credits: Credits,
    held: u32,
}

/// The entries of all shares in one table, so that one number bounds it.
#[derive(Debug)]
pub(super) struct Ledger {
    entries: HashMap<(Share, Account), Entry>,
    entries_max: usize,
    sweep_at: usize,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::with_entries(ENTRIES_MAX)
    }
}

impl Ledger {
    fn with_entries(entries_max: usize) -> Self {
        Self { entries: HashMap::new(), entries_max, sweep_at: entries_max.div_ceil(16) }
    }

    /// Takes so many credits from everybody who pays, or from nobody.
    pub(super) fn spend(
        &mut self,
        share: Share,
        parts: &[Part],
        cost: u64,
        now: Instant,
    ) -> Result<(), Refusal> {
        let longest = parts.iter().filter_map(|part| {
            let wait = self.entry(share, &part.account).credits.wait(part.limit.budget?, cost, now);
            Some((wait, part.account.whose()))
        });
        match longest.max_by_key(|(wait, _)| *wait) {
            Some((wait, whose)) if !wait.is_zero() => Err(Refusal { share, whose, wait }),
            Some(_) | None => {
                self.charge(share, parts, cost, now);
                Ok(())
            }
        }
    }

    /// Takes so many credits, whether they are there or not.
    pub(super) fn charge(&mut self, share: Share, parts: &[Part], cost: u64, now: Instant) {
        for part in parts {
            if let Some(budget) = part.limit.budget {
                self.entry_mut(share, &part.account, now).credits.take(budget, cost, now);
            }
        }
    }

    /// Takes a place of everybody who pays, or of nobody; says whose places to give back.
    pub(super) fn hold(
        &mut self,
        share: Share,
        parts: &[Part],
        now: Instant,
    ) -> Result<Vec<Account>, Refusal> {
        let is_full =
            |part: &&Part| part.limit.held.is_some_and(|held| self.entry(share, &part.account).held >= held);
        if let Some(part) = parts.iter().find(is_full) {
            return Err(Refusal { share, whose: part.account.whose(), wait: HELD_RETRY });
        }
        Ok(self.hold_anyway(share, parts, now))
    }

    /// The same, whether there is a place or not.
    pub(super) fn hold_anyway(&mut self, share: Share, parts: &[Part], now: Instant) -> Vec<Account> {
        let held = parts.iter().filter(|part| part.limit.held.is_some());
        let accounts: Vec<Account> = held.map(|part| part.account.clone()).collect();
        for account in &accounts {
            let entry = self.entry_mut(share, account, now);
            entry.held = entry.held.saturating_add(1);
        }
        accounts
    }

    /// Gives places back.
    pub(super) fn give_back(&mut self, share: Share, accounts: &[Account]) {
        for account in accounts {
            if let Some(entry) = self.entries.get_mut(&(share, account.clone())) {
                entry.held = entry.held.saturating_sub(1);
            }
        }
    }

    fn entry(&self, share: Share, account: &Account) -> Entry {
        self.entries.get(&(share, account.clone())).copied().unwrap_or_default()
    }

    fn entry_mut(&mut self, share: Share, account: &Account, now: Instant) -> &mut Entry {
        let key = (share, account.clone());
        if self.entries.len() >= self.sweep_at && !self.entries.contains_key(&key) {
            self.sweep(now);
        }
        self.entries.entry(key).or_default()
    }

    /// Forgets who is idle, and more if that does not make room. What is held is never forgotten: it is bounded by what
    /// holds it.
    fn sweep(&mut self, now: Instant) {
        self.keep(now, Duration::ZERO);
        if self.entries.len() >= self.entries_max {
            let mut missing: Vec<Duration> =
                self.entries.values().map(|entry| entry.credits.missing(now)).collect();
            let half = missing.len() / 2;
            let median = *missing.select_nth_unstable(half).1;
            self.keep(now, median);
        }
        self.sweep_at = (self.entries.len() * 2).max(self.entries_max.div_ceil(16)).min(self.entries_max);
    }

    /// Keeps whoever holds something, misses more than this, or is everybody.
    fn keep(&mut self, now: Instant, missing: Duration) {
        self.entries.retain(|(_, account), entry| {
            *account == Account::Everybody || entry.held > 0 || entry.credits.missing(now) > missing
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::credits::Budget;
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn part(last: u16, budget: u32) -> Part {
        let [high, low] = last.to_be_bytes();
        let limit = Limit { budget: Some(Budget::new(budget, MINUTE)), held: Some(1) };
        Part { account: Account::Network(IpAddr::from([192, 0, high, low])), limit }
    }

    #[test]
    fn idle_entries_are_forgotten() {
        let start = Instant::now();
        let mut ledger = Ledger::with_entries(64);
        for last in 0..64 {
            ledger.charge(Share::Seek, &[part(last, 1)], 1, start);
        }
        ledger.charge(Share::Seek, &[part(64, 1)], 1, start + MINUTE);
        assert_eq!(ledger.entries.len(), 1);
    }

    #[test]
    fn a_flood_of_networks_fills_no_memory_and_forgets_who_owes_least() {
        let start = Instant::now();
        let mut ledger = Ledger::with_entries(64);
        ledger.charge(Share::Seek, &[part(9_999, 10)], 100, start);
        let held = ledger.hold(Share::Seek, &[part(9_998, 1)], start).unwrap();
        for last in 0..5_000 {
            ledger.charge(Share::Seek, &[part(last, 10)], 1, start);
            assert!(ledger.entries.len() <= 64);
        }
        assert!(ledger.spend(Share::Seek, &[part(9_999, 10)], 1, start).is_err(), "the largest debt is kept");
        assert!(ledger.hold(Share::Seek, &[part(9_998, 1)], start).is_err(), "what is held is kept");
        ledger.give_back(Share::Seek, &held);
        assert!(ledger.hold(Share::Seek, &[part(9_998, 1)], start).is_ok());
    }

    #[test]
    fn who_is_refused_by_one_limit_pays_for_none() {
        let start = Instant::now();
        let mut ledger = Ledger::default();
        let all = Limit { budget: Some(Budget::new(2, MINUTE)), held: None };
        let parts = |last| [part(last, 1), Part { account: Account::Everybody, limit: all }];
        assert!(ledger.spend(Share::Seek, &parts(1), 1, start).is_ok());
        for _ in 0..9 {
            let refusal = ledger.spend(Share::Seek, &parts(1), 1, start).unwrap_err();
            assert_eq!((refusal.whose, refusal.wait), (Whose::Network, MINUTE));
        }
        assert!(ledger.spend(Share::Seek, &parts(2), 1, start).is_ok());
        let refusal = ledger.spend(Share::Seek, &parts(3), 1, start).unwrap_err();
        assert_eq!((refusal.whose, refusal.wait), (Whose::Everybody, MINUTE / 2));
    }
}
