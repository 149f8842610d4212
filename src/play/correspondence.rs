//! Games by correspondence: people have days for each move, and look at the board now and then. Pure.
//!
//! Such a game is a room like any other. What differs: nobody is missed who is not there, the first move may take as
//! long as any other, the time runs on while the daemon is down, and the ratings of live games do not change by it.

use std::time::Duration;

use fourfold_engine::BySide;

use crate::model::clock::{TimeControl, takes_days};
use crate::model::player::PlayerKind;

/// Games by correspondence of one player at the same time: more boards than anybody looks at each day, and each keeps
/// a room of some twenty kilobytes for weeks.
pub(crate) const GAMES_MAX: usize = 50;

/// What whoever is to move has left at least when the daemon starts: nobody loses on time because the arena was down
/// when the move was to be made.
pub(crate) const RESTART_LEAST: Duration = Duration::from_hours(1);

/// Whether a game of these two is one by correspondence: with bots and guests a day for a move is a long clock and
/// nothing else.
pub(crate) fn is_played(time: TimeControl, kinds: BySide<PlayerKind>) -> bool {
    takes_days(time) && kinds == BySide { first: PlayerKind::Human, second: PlayerKind::Human }
}

/// How much of a turn that began so long ago is charged at a start of the daemon, of a `limit` for the move.
pub(crate) fn charged(since: Duration, limit: Duration) -> Duration {
    since.min(limit.saturating_sub(RESTART_LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn only_people_with_accounts_play_by_correspondence() {
        use PlayerKind::{Bot, Guest, Human};
        let days = TimeControl { bank_ms: None, increment_ms: 0, move_ms: Some(3 * 86_400_000) };
        let played = |first, second| is_played(days, BySide { first, second });
        assert!(played(Human, Human));
        assert!(!played(Human, Bot) && !played(Guest, Human) && !played(Guest, Guest));
        let hours = TimeControl { move_ms: Some(86_399_999), ..days };
        let bank = TimeControl { bank_ms: Some(86_400_000), ..days };
        assert!(
            ![hours, bank].into_iter().any(|time| is_played(time, BySide { first: Human, second: Human }))
        );
    }

    #[test]
    fn a_start_leaves_an_hour_at_least() {
        let most = Duration::from_hours(71);
        for (since, expected) in [
            (Duration::ZERO, Duration::ZERO),
            (DAY, DAY),
            (most, most),
            (3 * DAY, most),
            (Duration::MAX, most),
        ] {
            assert_eq!(charged(since, 3 * DAY), expected);
        }
        assert_eq!(charged(DAY, Duration::ZERO), Duration::ZERO);
    }
}
