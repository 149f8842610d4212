//! Who aborts or leaves game after game waits longer and longer for the next one: pure book-keeping.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::model::ids::PlayerId;
use crate::model::time::doubled;

/// Over this time aborts are counted, and games that were left.
pub(super) const PERIOD: Duration = Duration::from_hours(1);
/// Aborts of a player that have no consequence: slips, and opponents who do not come.
const FREE: usize = 5;
/// The same for the guests of one network together, who could be anybody's: a class full of them slips more often.
const FREE_OF_NETWORK: usize = 30;
/// The pause after the first abort too many; it doubles with each.
const PAUSE: Duration = Duration::from_mins(1);
/// Games left within this time are left once: a line that breaks ends all games of a player who plays many.
const TOGETHER: Duration = Duration::from_mins(2);
/// Longest pause: then the aborts are forgotten.
const PAUSE_MAX: Duration = PERIOD;
/// Players and networks that are remembered, about 200 bytes each. Beyond, those who did nothing lately are looked for
/// and forgotten; if there are none, nobody more is counted, which spares who aborts and burdens nobody.
const REMEMBERED_MAX: usize = 20_000;

/// Whose aborts are counted together.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Aborter {
    Player(PlayerId),
    /// Guests are made for nothing.
    GuestsOf(IpAddr),
}

impl Aborter {
    fn free(&self) -> usize {
        match self {
            Self::Player(_) => FREE,
            Self::GuestsOf(_) => FREE_OF_NETWORK,
        }
    }
}

/// The aborts of the last hour, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Aborts(HashMap<Aborter, VecDeque<Instant>>);

impl Aborts {
    /// Takes note of an abort.
    pub(super) fn note(&mut self, who: Aborter, now: Instant) {
        if self.0.len() >= REMEMBERED_MAX {
            self.0.retain(|_, times| {
                times.back().is_some_and(|last| now.saturating_duration_since(*last) < PERIOD)
            });
        }
        if self.0.len() >= REMEMBERED_MAX && !self.0.contains_key(&who) {
            return;
        }
        // More than can matter for the pause need not be kept.
        let kept = who.free() + 8;
        let times = self.0.entry(who).or_default();
        times.push_back(now);
        while times.len() > kept
            || times.front().is_some_and(|at| now.saturating_duration_since(*at) >= PERIOD)
        {
            times.pop_front();
        }
    }

    /// Takes note of a game that somebody left.
    pub(super) fn note_left(&mut self, who: Aborter, now: Instant) {
        let last = self.0.get(&who).and_then(|times| times.back());
        if last.is_none_or(|last| now.saturating_duration_since(*last) >= TOGETHER) {
            self.note(who, now);
        }
    }

    /// How long until the next game may begin; zero if it may now.
    pub(super) fn pause(&self, who: &Aborter, now: Instant) -> Duration {
        let Some(times) = self.0.get(who) else { return Duration::ZERO };
        let recent = times.iter().filter(|at| now.saturating_duration_since(**at) < PERIOD).count();
        let Some(doublings) = recent.checked_sub(who.free() + 1) else { return Duration::ZERO };
        let pause = doubled(PAUSE, u32::try_from(doublings).unwrap_or(u32::MAX), PAUSE_MAX);
        times.back().map_or(Duration::ZERO, |last| (*last + pause).saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ada() -> Aborter {
        Aborter::Player("ada".parse().unwrap())
    }

    fn minutes(count: u64) -> Duration {
        Duration::from_mins(count)
    }

    #[test]
    fn five_aborts_an_hour_are_free_and_then_the_pause_doubles() {
        let (mut aborts, now) = (Aborts::default(), Instant::now());
        let mut pauses = Vec::new();
        for _ in 0..13 {
            aborts.note(ada(), now);
            pauses.push(aborts.pause(&ada(), now).as_secs() / 60);
        }
        assert_eq!(pauses, [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(aborts.pause(&ada(), now + minutes(59)), minutes(1));
        assert_eq!(aborts.pause(&ada(), now + minutes(60)), Duration::ZERO);
        assert_eq!(aborts.pause(&Aborter::Player("bob".parse().unwrap()), now), Duration::ZERO);
    }

    #[test]
    fn aborts_are_forgotten_one_by_one() {
        let (mut aborts, now) = (Aborts::default(), Instant::now());
        for each in 0..6 {
            aborts.note(ada(), now + minutes(10 * each));
        }
        assert_eq!(aborts.pause(&ada(), now + minutes(50)), minutes(1));
        assert_eq!(aborts.pause(&ada(), now + minutes(60)), Duration::ZERO);
        aborts.note(ada(), now + minutes(60));
        assert_eq!(aborts.pause(&ada(), now + minutes(60)), minutes(1), "six within the hour again");
    }

    #[test]
    fn games_that_are_left_together_are_left_once() {
        let (mut aborts, now) = (Aborts::default(), Instant::now());
        for line in 0..6 {
            for _ in 0..20 {
                aborts.note_left(ada(), now + minutes(5 * line));
            }
        }
        assert_eq!(aborts.pause(&ada(), now + minutes(25)), PAUSE, "six lines broke");
    }

    #[test]
    fn the_guests_of_a_network_share_what_is_free() {
        let (mut aborts, now) = (Aborts::default(), Instant::now());
        let guests = Aborter::GuestsOf(IpAddr::from([192, 0, 2, 1]));
        for _ in 0..FREE_OF_NETWORK {
            aborts.note(guests.clone(), now);
        }
        assert_eq!(aborts.pause(&guests, now), Duration::ZERO);
        aborts.note(guests.clone(), now);
        assert_eq!(aborts.pause(&guests, now), PAUSE);
    }

    #[test]
    fn the_book_is_bounded() {
        let (mut aborts, now) = (Aborts::default(), Instant::now());
        let player = |number: usize| Aborter::Player(format!("p{number}").parse().unwrap());
        for number in 0..=REMEMBERED_MAX {
            aborts.note(player(number), now);
        }
        assert_eq!(aborts.0.len(), REMEMBERED_MAX);
        aborts.note(player(0), now + PERIOD);
        assert_eq!(aborts.0.len(), 1, "those of an hour ago go");
    }
}
