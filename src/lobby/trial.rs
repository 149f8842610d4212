//! A crowd of seeks without players, to measure what pairing costs.

use std::time::{Duration, Instant};

use fourfold_engine::rng::GameRng;
use rand::RngExt;

use super::pairing::Waiting;
use super::pool::Pool;
use crate::accounts::blocks::Blocked;
use crate::model::clock::{GameTime, TimeControl};
use crate::model::player::PlayerKind;
use crate::play::room::MemberId;
use crate::protocol::client::Seek;
use crate::protocol::terms::{Range, RangeElo, WireVariant};

/// Who seeks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Crowd {
    /// Players of all strengths, nearly all of whom find each other at once.
    Mixed,
    /// Players who accept ratings that nobody has: they wait for ever.
    Choosy,
    /// Players so far from each other that a window must widen before any two are paired.
    Scattered,
}

impl Crowd {
    pub(crate) const ALL: [Self; 3] = [Self::Mixed, Self::Choosy, Self::Scattered];

    /// In a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Choosy => "choosy",
            Self::Scattered => "scattered",
        }
    }

    /// The seek of one of them, who came in some place.
    fn seek(self, place: u32, since: Instant, rng: &mut GameRng) -> Waiting {
        /// Further than the window is at first.
        const APART: i32 = 250;
        let place_points = i32::try_from(place).unwrap_or(i32::MAX / APART).saturating_mul(APART);
        let (elo, rating) = match self {
            Self::Mixed => (rng.random_range(800..2_200), None),
            Self::Choosy => {
                (rng.random_range(800..2_200), Range::new(RangeElo::new(9_000), RangeElo::new(9_001)))
            }
            Self::Scattered => (place_points, None),
        };
        Waiting {
            player: format!("seeker{place}").parse().expect("letters and digits make an id"),
            kind: PlayerKind::Human,
            owner: None,
            elo: Some(elo),
            seek: Seek {
                time: GameTime::new(TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None })
                    .expect("a minute is allowed"),
                rated: true,
                opponents: None,
                rating,
                variant: WireVariant::default(),
            },
            blocked: Blocked::default(),
            since,
        }
    }
}

/// A pool and who is in it.
#[derive(Debug)]
pub(crate) struct PairingTrial {
    pool: Pool,
    now: Instant,
    came: u32,
    pub(crate) pairs: u32,
}

impl PairingTrial {
    pub(crate) fn new(now: Instant) -> Self {
        Self { pool: Pool::new(now), now, came: 0, pairs: 0 }
    }

    /// So many come, one after the other, and whoever finds somebody is paired.
    pub(crate) fn come(&mut self, crowd: Crowd, count: u32, rng: &mut GameRng) {
        for _ in 0..count {
            self.came += 1;
            let member = MemberId::next();
            self.pool.insert(member, crowd.seek(self.came, self.now, rng));
            self.pair(member);
        }
    }

    /// A second goes by: those who are due are looked at again.
    pub(crate) fn tick(&mut self) {
        self.now += Duration::from_secs(1);
        for member in self.pool.take_due(self.now) {
            self.pair(member);
        }
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.pool.oldest().count()
    }

    fn pair(&mut self, member: MemberId) {
        if let Some(partner) = self.pool.partner(member, self.now) {
            self.pool.remove(member);
            self.pool.remove(partner);
            self.pairs += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::rng;

    use super::*;

    /// Pairs at once, those who wait then, and pairs a minute later.
    #[track_caller]
    fn check(crowd: Crowd, expected: [usize; 3]) {
        let mut trial = PairingTrial::new(Instant::now());
        trial.come(crowd, 500, &mut rng::seeded(1));
        let (at_once, waiting) = (trial.pairs as usize, trial.waiting());
        for _ in 0..60 {
            trial.tick();
        }
        assert_eq!([at_once, waiting, trial.pairs as usize], expected, "{crowd:?}");
    }

    #[test]
    fn crowds_are_what_they_are_called() {
        // The last two are further apart than the window ever is.
        check(Crowd::Mixed, [249, 2, 249]);
        check(Crowd::Choosy, [0, 500, 0]);
        check(Crowd::Scattered, [0, 500, 250]);
    }
}
