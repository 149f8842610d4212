//! How much games against newcomers move a rating: accounts cost nothing, so little may be won from a row of new ones.
//!
//! Who meets a newcomer wins and loses at most [`PER_GAME`], and wins at most [`PER_DAY`] from all newcomers together.
//! The newcomer's own rating moves as ever, unless its opponent is a newcomer too. What a game did before the rule was
//! there stays as it was: only games whose beginning noted who was new are held to it.

use super::elo::{RatingEntry, Standing};
use crate::model::time::UnixMillis;

/// By how much one game against a newcomer moves a rating at most, in thousandths of a point: two points, an eighth of
/// what a game between equals with settled ratings moves at most.
pub(crate) const PER_GAME: i64 = 2_000;
/// What newcomers together may add to a rating within [`DAY_MS`]: forty points, which is seen and undone.
pub(crate) const PER_DAY: i64 = 40_000;
/// A day is the time before the end of a game, not a date: at midnight nobody begins anew.
pub(crate) const DAY_MS: i64 = 24 * 3_600 * 1_000;
/// An account is young for a week: whoever makes many has to wait, and operators have seen them by then.
const YOUNG_FOR_MS: i64 = 7 * DAY_MS;

/// What is known of a player's account when a game begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Footing {
    /// A bot of the house, which nobody makes for nothing: it is never a newcomer.
    House,
    /// Its account is a week old.
    Settled,
    Young,
}

impl Footing {
    /// That of a remote player.
    pub(crate) fn of_account(created_at: UnixMillis, now: UnixMillis) -> Self {
        if now.0.saturating_sub(created_at.0) < YOUNG_FOR_MS { Self::Young } else { Self::Settled }
    }

    /// Whether this is a newcomer, with this standing before the game.
    pub(crate) fn is_new(self, standing: Standing) -> bool {
        match self {
            Self::House => false,
            Self::Settled => standing.is_provisional(),
            Self::Young => true,
        }
    }
}

/// What a game does to the rating of somebody who met a newcomer, having `gained` so much from newcomers in the day
/// before.
///
/// What may be lost shrinks with what may still be won: with equal chances nobody loses by meeting newcomers.
pub(crate) fn limited(entry: RatingEntry, gained: i64) -> RatingEntry {
    let limit = PER_DAY.saturating_sub(gained).clamp(0, PER_GAME);
    let delta = entry.delta.clamp(-limit, limit);
    let after = super::elo::MilliElo(entry.before.0.saturating_add(delta));
    RatingEntry { before: entry.before, delta, after }
}

/// What one player has gained from newcomers, game by game.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gains(Vec<(UnixMillis, i64)>);

impl Gains {
    /// Takes note of a game against a newcomer.
    pub(crate) fn note(&mut self, ended_at: UnixMillis, delta: i64) {
        if delta > 0 {
            self.0.push((ended_at, delta));
        }
    }

    /// The sum over the day before a game ends.
    pub(crate) fn before(&self, ended_at: UnixMillis) -> i64 {
        let since = since(ended_at);
        self.0.iter().filter(|(at, _)| *at > since).map(|(_, delta)| delta).sum()
    }
}

/// The moment after which gains count against a game that ends then. The wall clock may have been set back meanwhile:
/// what seems to come later counts too.
pub(crate) fn since(ended_at: UnixMillis) -> UnixMillis {
    UnixMillis(ended_at.0.saturating_sub(DAY_MS))
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Side;

    use super::*;
    use crate::model::rating::elo::{MilliElo, settle};

    const NOON: UnixMillis = UnixMillis(1_750_000_000_000);

    fn standing(games: u64) -> Standing {
        Standing { games, ..Standing::START }
    }

    #[test]
    fn an_account_is_new_for_a_week_and_for_twenty_games() {
        let made = |days: i64| Footing::of_account(UnixMillis(NOON.0 - days * DAY_MS), NOON);
        assert_eq!([made(0), made(6), made(7)], [Footing::Young, Footing::Young, Footing::Settled]);
        assert_eq!(Footing::of_account(UnixMillis(NOON.0 + 1), NOON), Footing::Young, "clocks are set back");
        assert!(Footing::Young.is_new(standing(500)));
        assert!(Footing::Settled.is_new(standing(19)) && !Footing::Settled.is_new(standing(20)));
        assert!(!Footing::House.is_new(standing(0)));
    }

    #[test]
    fn a_game_moves_two_points_and_a_day_adds_forty() {
        let won = settle(standing(100), standing(0), Some(Side::First)).first;
        assert_eq!(won.delta, 8_000);
        let check = |entry: RatingEntry, gained: i64, expected: i64| {
            let limited = limited(entry, gained);
            assert_eq!(limited.delta, expected, "after {gained}");
            assert_eq!(limited.after, MilliElo(limited.before.0 + expected));
        };
        check(won, 0, 2_000);
        check(won, 38_500, 1_500);
        check(won, 40_000, 0);
        check(won, i64::MAX, 0);
        let lost = settle(standing(100), standing(0), Some(Side::Second)).first;
        check(lost, 0, -2_000);
        check(lost, 40_000, 0);
        let drawn = settle(standing(100), standing(0), None).first;
        check(drawn, 0, 0);
    }

    #[test]
    fn gains_count_for_a_day() {
        let mut gains = Gains::default();
        let after = |hours: i64| UnixMillis(NOON.0 + hours * 3_600_000);
        gains.note(after(0), 2_000);
        gains.note(after(1), -2_000);
        gains.note(after(2), 1_000);
        assert_eq!([after(3), after(24), after(26)].map(|at| gains.before(at)), [3_000, 1_000, 0]);
        assert_eq!(gains.before(after(-5)), 3_000, "a clock that was set back wins nothing");
    }
}
