//! What several tests need.

use crate::format::Format;
use crate::plan::Plan;
use crate::suite::{OpeningKind, Orientation};
use crate::time::BotLimits;

/// A plan for so many entrants, called `a`, `b` and so on.
pub(crate) fn plan(format: Format, entrants: u8, pairs: u64) -> Plan {
    Plan {
        format,
        entrants: (0..entrants).map(|entrant| char::from(b'a' + entrant).to_string()).collect(),
        variant: "7x6".into(),
        openings: OpeningKind::None,
        openings_crc: 0,
        orientation: Orientation::Drawn,
        time: BotLimits::default(),
        margin_ms: 50,
        pairs,
        seed: 7,
        faults_max: 10,
        sprt: None,
        shard: None,
    }
}
