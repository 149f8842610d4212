//! Tables of runs through puzzles.

use super::{Damage, number, parsed};
use crate::model::time::UnixMillis;
use crate::storage::rushes::RushPlace;

row! {
    #[derive(Debug)]
    pub(crate) struct RushRow {
        rank: i64,
        id: String,
        name: String,
        solved: i64,
        at: i64,
    }
}

impl RushRow {
    pub(crate) fn decode(self) -> Result<RushPlace, Damage> {
        Ok(RushPlace {
            rank: number("rank", self.rank)?,
            player: parsed("player.id", &self.id)?,
            name: parsed("player.name", &self.name)?,
            solved: number("rush.solved", self.solved)?,
            at: UnixMillis(self.at),
        })
    }
}

/// Selects [`RushRow`]s: the names of the parameters for the kind, the first day, the most rows, and whose row is
/// wanted too. Whoever is banned is left out.
macro_rules! select_rushes {
    ($kind:literal, $since:literal, $limit:literal, $of:literal, $now:literal) => {
        concat!(
            "WITH own AS (SELECT r.player, r.solved, r.at, row_number() OVER \
             (PARTITION BY r.player ORDER BY r.solved DESC, r.at) AS nth FROM rush r WHERE r.kind = ",
            $kind,
            " AND r.day >= ",
            $since,
            "), ranked AS (SELECT p.id, p.name, o.solved, o.at, row_number() OVER \
             (ORDER BY o.solved DESC, o.at, p.id) AS rank FROM own o JOIN player p ON p.key = o.player \
             WHERE o.nth = 1 AND p.kind = 'human' AND (p.banned_because IS NULL OR p.banned_until <= ",
            $now,
            ")) SELECT rank, id, name, solved, at FROM ranked WHERE rank <= ",
            $limit,
            " OR id = ",
            $of,
            " ORDER BY rank"
        )
    };
}
pub(crate) use select_rushes;
