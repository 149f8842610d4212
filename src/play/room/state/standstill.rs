//! A teacher lets the games of a class stand still: nobody's clock runs, nobody is missed, and no stone is played.

use std::time::{Duration, Instant};

use fourfold_engine::Side;
use serde::{Deserialize, Serialize};

use super::absence::Presence;
use super::{Effect, Effects, RoomState};
use crate::model::pause::Pause;
use crate::play::room::refusal::RoomRefusal;

/// What a teacher wants of the games of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Standstill {
    Begins,
    Ends,
}

/// How long a game stands still at most: two lessons. A class that is forgotten must not keep a room for ever.
const STANDSTILL_MAX: Duration = Duration::from_mins(90);

impl RoomState {
    /// The game stands still from now on, or goes on.
    pub(crate) fn stand_still(&mut self, standstill: Standstill, now: Instant) -> Effects {
        let stands = self.stands_still(now);
        match (standstill, stands) {
            (Standstill::Begins, None) if self.end.is_none() => {
                let pause = Pause { from: now, until: now + STANDSTILL_MAX };
                self.standstill = Some(pause);
                self.clock.stand(Some(pause), now);
            }
            (Standstill::Ends, Some(pause)) => {
                self.standstill = None;
                self.clock.stand(None, now);
                self.nobody_was_missed(Pause { until: now, ..pause });
            }
            (Standstill::Begins, _) | (Standstill::Ends, None) => return Vec::new(),
        }
        vec![Effect::Resnapshot]
    }

    /// The standstill, while it lasts.
    pub(super) fn stands_still(&self, now: Instant) -> Option<Pause> {
        self.standstill.filter(|pause| self.end.is_none() && now < pause.until)
    }

    /// How long the game stands still yet, if nobody lets it go on before.
    pub(crate) fn standstill_left(&self, now: Instant) -> Option<Duration> {
        self.stands_still(now).map(|pause| pause.until.saturating_duration_since(now))
    }

    /// Whether a stone may be played.
    pub(super) fn check_moving(&self, now: Instant) -> Result<(), RoomRefusal> {
        if self.stands_still(now).is_some() { Err(RoomRefusal::StandsStill) } else { Ok(()) }
    }

    /// Who was away meanwhile is missed from now on alone.
    fn nobody_was_missed(&mut self, pause: Pause) {
        for side in Side::BOTH {
            if let Presence::Away { since, .. } = &mut self.presence[side] {
                *since = pause.defer(*since);
            }
        }
    }
}
