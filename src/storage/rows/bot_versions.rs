//! Versions and faults of remote bots.

use super::{Damage, parsed, word};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::bot_versions::{BotFault, BotVersion, StoredTest};

row! {
    #[derive(Debug)]
    pub(crate) struct BotVersionRow {
        version: String,
        first_seen: i64,
        last_seen: i64,
        passed_at: Option<i64>,
        tested_at: Option<i64>,
        report: Option<String>,
    }
}

impl BotVersionRow {
    pub(crate) fn decode(self) -> BotVersion {
        let tested = self.tested_at.zip(self.report);
        BotVersion {
            version: self.version,
            first_seen: UnixMillis(self.first_seen),
            last_seen: UnixMillis(self.last_seen),
            passed_at: self.passed_at.map(UnixMillis),
            tested: tested.map(|(at, report)| StoredTest { at: UnixMillis(at), report }),
        }
    }
}

row! {
    #[derive(Debug)]
    pub(crate) struct FaultRow {
        game: Option<String>,
        kind: String,
        note: String,
        at: i64,
    }
}

row! {
    /// A fault with whose it is.
    #[derive(Debug)]
    pub(crate) struct FaultOfRow {
        player: String,
    } with {
        fault: FaultRow,
    }
}

impl FaultOfRow {
    pub(crate) fn decode(self) -> Result<BotFault, Damage> {
        self.fault.decode(&parsed("bot_fault.player", &self.player)?)
    }
}

impl FaultRow {
    pub(crate) fn decode(self, bot: &PlayerId) -> Result<BotFault, Damage> {
        Ok(BotFault {
            bot: bot.clone(),
            game: self.game.map(|game| parsed("bot_fault.game", &game)).transpose()?,
            kind: word("bot_fault.kind", &self.kind)?,
            note: self.note,
            at: UnixMillis(self.at),
        })
    }
}
