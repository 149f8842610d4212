//! What the writer knows of a game that goes on, so that it reads nothing before it writes.

use crate::storage::live::UnfinishedGame;
use crate::storage::rows::games::GameKeys;
use crate::storage::rows::packed::{GrowingLog, LogMark};
use crate::storage::store::StoreError;

/// A game that goes on: what it looks like, and its rows' keys.
#[derive(Debug)]
pub(super) struct KnownGame {
    pub(super) keys: GameKeys,
    pub(super) game: UnfinishedGame,
    pub(super) log: GrowingLog,
    /// How many of its events are rows of its log.
    pub(super) rows: u32,
    /// The row of the journal with the first event after those.
    pub(super) journaled_since: Option<i64>,
    /// It ends in the transaction under way.
    pub(super) has_ended: bool,
}

/// What a transaction changes of what is known, for the case that it fails.
pub(super) enum Change {
    Started,
    /// There are more events than these.
    Grown {
        log: LogMark,
        journaled_since: Option<i64>,
    },
    /// Its events in the journal became rows.
    Moved {
        rows: u32,
        journaled_since: Option<i64>,
    },
}

impl KnownGame {
    pub(super) fn new(keys: GameKeys, game: UnfinishedGame) -> Self {
        let log = GrowingLog::default();
        Self { keys, game, log, rows: 0, journaled_since: None, has_ended: false }
    }

    /// Takes a change back.
    pub(super) fn undo(&mut self, change: &Change) -> Result<(), StoreError> {
        match change {
            Change::Started => {}
            Change::Grown { log, journaled_since } => {
                self.log.go_back(*log);
                self.game.go_back(&self.log.read(None)?);
                (self.journaled_since, self.has_ended) = (*journaled_since, false);
            }
            Change::Moved { rows, journaled_since } => {
                (self.rows, self.journaled_since) = (*rows, *journaled_since);
            }
        }
        Ok(())
    }
}
