//! Time controls to choose from, where a teacher or who makes a tournament says how long games last.

use super::words;
use crate::http::texts::Language;
use crate::model::clock::TimeControl;

/// Banks and increments that are offered, in milliseconds: from a minute a side to what a lesson has time for.
const TIMES: [[u32; 2]; 4] = [[60_000, 1_000], [180_000, 2_000], [300_000, 3_000], [600_000, 5_000]];

/// A time control to choose.
pub(super) struct TimeChoice {
    pub(super) bank_ms: u32,
    pub(super) increment_ms: u32,
    pub(super) words: String,
    pub(super) is_chosen: bool,
}

impl TimeChoice {
    /// All of them, with the one that is chosen unless somebody chooses.
    pub(super) fn all(lang: Language, chosen: TimeControl) -> Vec<Self> {
        let choice = |[bank_ms, increment_ms]: [u32; 2]| Self {
            bank_ms,
            increment_ms,
            words: words::bank_and_increment(lang, bank_ms, increment_ms),
            is_chosen: chosen.bank_ms == Some(bank_ms),
        };
        TIMES.into_iter().map(choice).collect()
    }
}
