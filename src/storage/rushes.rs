//! What is stored of runs through puzzles: the best of each account by day.

use super::words::words;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::time::UnixMillis;

/// Days before the last one of which an account's best stays, beside its best of all: a week's table looks back no
/// further, so that nobody has more than nine rows of a kind.
pub(crate) const RUSH_DAYS_KEPT: u32 = 7;

/// What ends a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RushKind {
    /// The clock, after three minutes.
    Minutes,
    /// The third miss.
    Lives,
}

words!(RushKind { Minutes: "minutes", Lives: "lives" });

/// What an account reached in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RushResult {
    pub(crate) player: PlayerId,
    pub(crate) kind: RushKind,
    /// In UTC, in days since 1970.
    pub(crate) day: u32,
    /// Puzzles that were solved, one at least.
    pub(crate) solved: u32,
    pub(crate) at: UnixMillis,
}

/// Which table is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RushBoard {
    pub(crate) kind: RushKind,
    /// Only what was reached on this day and later.
    pub(crate) since: u32,
    /// At most so many of the best.
    pub(crate) limit: u32,
    /// Whose place is wanted too, however low.
    pub(crate) of: Option<PlayerId>,
    /// Whoever is banned then is left out.
    pub(crate) now: UnixMillis,
}

/// A row of the table: an account's best. Of equals whoever was earlier stands first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RushPlace {
    /// Counted from 1, the best first.
    pub(crate) rank: u32,
    pub(crate) player: PlayerId,
    pub(crate) name: PlayerName,
    pub(crate) solved: u32,
    pub(crate) at: UnixMillis,
}
