//! Versions, self-tests and faults of remote bots.

use std::collections::{HashMap, VecDeque};

use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::bot_versions::{BotFault, BotVersion, FAULTS_MAX, StoredTest, VERSIONS_MAX};

#[derive(Debug, Default)]
pub(super) struct MemoryBotVersions {
    versions: HashMap<PlayerId, Vec<BotVersion>>,
    faults: HashMap<PlayerId, VecDeque<BotFault>>,
}

impl MemoryBotVersions {
    /// Those seen last first.
    pub(super) fn versions(&self, bot: &PlayerId) -> Vec<BotVersion> {
        self.versions.get(bot).cloned().unwrap_or_default()
    }

    pub(super) fn faults(&self, bot: &PlayerId, limit: u32) -> Vec<BotFault> {
        self.faults.get(bot).into_iter().flatten().take(limit as usize).cloned().collect()
    }

    /// The newest first, by their times.
    pub(super) fn newest_faults(&self, limit: u32) -> Vec<BotFault> {
        let mut all: Vec<BotFault> = self.faults.values().flatten().cloned().collect();
        all.sort_by_key(|fault| std::cmp::Reverse(fault.at));
        all.truncate(limit as usize);
        all
    }

    pub(super) fn see(&mut self, bot: &PlayerId, version: &str, at: UnixMillis) -> &mut Vec<BotVersion> {
        let versions = self.versions.entry(bot.clone()).or_default();
        match versions.iter_mut().find(|known| known.version == version) {
            Some(known) => known.last_seen = known.last_seen.max(at),
            None => versions.push(BotVersion::seen(version, at)),
        }
        versions.sort_by(|a, b| (b.last_seen, &b.version).cmp(&(a.last_seen, &a.version)));
        versions.truncate(VERSIONS_MAX as usize);
        versions
    }

    pub(super) fn save_test(&mut self, bot: &PlayerId, version: &str, test: &StoredTest, passed: bool) {
        let versions = self.see(bot, version, test.at);
        if let Some(known) = versions.iter_mut().find(|known| known.version == version) {
            known.tested = Some(test.clone());
            if passed {
                known.passed_at = Some(test.at);
            }
        }
    }

    pub(super) fn add_fault(&mut self, fault: &BotFault) {
        let faults = self.faults.entry(fault.bot.clone()).or_default();
        faults.push_front(fault.clone());
        faults.truncate(FAULTS_MAX as usize);
    }

    pub(super) fn forget(&mut self, bot: &PlayerId) {
        self.versions.remove(bot);
        self.faults.remove(bot);
    }
}
