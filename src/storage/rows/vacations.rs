//! Vacations of people who play by correspondence.

use super::{Damage, parsed};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::model::vacation::Vacation;

row! {
    #[derive(Debug)]
    pub(crate) struct VacationRow {
        player: String,
        from_ms: i64,
        until_ms: i64,
    }
}

impl VacationRow {
    pub(crate) fn vacation(&self) -> Vacation {
        Vacation { from: UnixMillis(self.from_ms), until: UnixMillis(self.until_ms) }
    }

    pub(crate) fn decode(self) -> Result<(PlayerId, Vacation), Damage> {
        Ok((parsed("player.id", &self.player)?, self.vacation()))
    }
}
