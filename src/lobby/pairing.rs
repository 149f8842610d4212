//! Whether two waiting players are paired: pure.
//!
//! Two seeks fit if time, rated and variant are equal, each side's filters accept the other and neither blocks the
//! other. Among those that fit, ratings must be within a window that widens while somebody waits. [`super::pool`] finds
//! who fits whom.

use std::time::{Duration, Instant};

use super::acceptance::fits;
use crate::accounts::blocks::{Blocked, excludes};
use crate::model::ids::PlayerId;
use crate::model::player::{OpponentKind, PlayerKind};
use crate::model::rating::elo::NEWCOMER_ELO;
use crate::protocol::client::Seek;
use crate::protocol::terms::RangeElo;

/// How far ratings may be apart at once.
const WINDOW_START: u32 = 200;

/// What every second of waiting adds to that.
const WINDOW_PER_SECOND: u32 = 12;

/// What players without a rating count as.
const ELO_UNRATED: i32 = NEWCOMER_ELO;

/// One waiting player.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) player: PlayerId,
    /// Person, bot or guest.
    pub(crate) kind: PlayerKind,
    pub(crate) owner: Option<PlayerId>,
    /// The rating in the seek's variant, if there is one.
    pub(crate) elo: Option<i32>,
    pub(crate) seek: Seek,
    /// Whom the player blocks.
    pub(crate) blocked: Blocked,
    pub(crate) since: Instant,
}

impl Waiting {
    /// Whether it asks for the same, and leaves the same out.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.seek == other.seek && self.blocked == other.blocked
    }

    /// Whether the seek's own filters let the other pass.
    fn accepts_player(&self, other: &Self) -> bool {
        let kind = OpponentKind::from(other.kind);
        let fits_kind = self.seek.opponents.as_ref().is_none_or(|kinds| kinds.contains(&kind));
        fits_kind && fits(self.seek.rating, other.elo.map(RangeElo::new))
    }

    /// Whether the player blocks the other, or whoever owns that one.
    fn blocks(&self, other: &Self) -> bool {
        excludes(&self.blocked, &other.player, other.owner.as_ref())
    }

    /// Whether a rated game of the two would count for nothing.
    fn is_family_of(&self, other: &Self) -> bool {
        let owner = |w: &Self| w.owner.clone().unwrap_or_else(|| w.player.clone());
        owner(self) == owner(other)
    }

    /// The rating points to go by.
    pub(super) fn points(&self) -> i32 {
        self.elo.unwrap_or(ELO_UNRATED)
    }

    /// From when on ratings may be so far apart: one step a second.
    fn window_reaches(&self, distance: u32) -> Instant {
        let seconds = distance.saturating_sub(WINDOW_START).div_ceil(WINDOW_PER_SECOND);
        self.since + Duration::from_secs(u64::from(seconds))
    }
}

/// Rating points between two players.
pub(super) fn distance(a: &Waiting, b: &Waiting) -> u32 {
    a.points().abs_diff(b.points())
}

/// Whether two seeks of equal terms may be paired at all.
pub(super) fn fit(a: &Waiting, b: &Waiting) -> bool {
    let are_two = a.player != b.player && !(a.seek.rated && a.is_family_of(b));
    let is_apart = a.blocks(b) || b.blocks(a);
    are_two && !is_apart && a.accepts_player(b) && b.accepts_player(a)
}

/// From when on two seeks that fit may be paired: when the window of whoever waits longer reaches the other.
pub(super) fn may_pair_at(a: &Waiting, b: &Waiting) -> Instant {
    let earlier = if a.since <= b.since { a } else { b };
    // Casual players only want to play.
    if a.seek.rated { earlier.window_reaches(distance(a, b)) } else { earlier.since }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::clock::{GameTime, TimeControl};
    use crate::protocol::terms::{Range, WireVariant};

    pub(in crate::lobby) fn waiting(name: &str, elo: i32, since: Instant) -> Waiting {
        Waiting {
            player: name.parse().unwrap(),
            kind: PlayerKind::Human,
            owner: None,
            elo: Some(elo),
            seek: Seek {
                time: GameTime::new(TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None })
                    .unwrap(),
                rated: true,
                opponents: None,
                rating: None,
                variant: WireVariant::default(),
            },
            blocked: Blocked::default(),
            since,
        }
    }

    #[test]
    fn the_window_widens_while_somebody_waits() {
        let start = Instant::now();
        let at = |elo: i32, waits: u64| {
            let later = start + Duration::from_secs(waits);
            may_pair_at(&waiting("a", 1500, start), &waiting("b", elo, later)) - start
        };
        assert_eq!(at(1700, 0), Duration::ZERO);
        assert_eq!([at(1701, 0), at(1800, 0)], [Duration::from_secs(1), Duration::from_secs(9)]);
        assert_eq!(at(1800, 60), Duration::from_secs(9), "whoever waits longer counts");
        assert_eq!(at(-2_000_000_000, 0), Duration::from_secs(166_666_775), "years, and no overflow");
    }

    #[test]
    fn casual_players_only_want_to_play() {
        let start = Instant::now();
        let casual = |elo| {
            let mut waiting = waiting("a", elo, start);
            waiting.seek.rated = false;
            waiting
        };
        assert_eq!(may_pair_at(&casual(100), &casual(3000)), start);
    }

    #[track_caller]
    fn check_unfit(change: impl FnOnce(&mut Waiting)) {
        let now = Instant::now();
        let (one, mut other) = (waiting("a", 1500, now), waiting("b", 1500, now));
        assert!(fit(&one, &other) && fit(&other, &one));
        change(&mut other);
        assert!(!fit(&one, &other) && !fit(&other, &one));
    }

    #[test]
    fn filters_hold_for_both() {
        check_unfit(|other| other.seek.opponents = Some(vec![OpponentKind::Bot]));
        check_unfit(|other| other.seek.rating = Range::new(RangeElo::new(1501), RangeElo::new(2000)));
    }

    #[test]
    fn whoever_blocks_is_paired_neither_with_that_one_nor_with_their_bots() {
        let blocking = |name: &str| Blocked::new([name.parse().unwrap()].into());
        check_unfit(|other| other.blocked = blocking("a"));
        let (mut one, now) = (waiting("a", 1500, Instant::now()), Instant::now());
        one.blocked = blocking("b");
        let mut bot = waiting("bot", 1500, now);
        assert!(!fit(&one, &waiting("b", 1500, now)) && fit(&one, &bot));
        bot.owner = Some("b".parse().unwrap());
        assert!(!fit(&one, &bot) && !fit(&bot, &one));
    }

    #[test]
    fn nobody_is_paired_with_themselves_or_rated_with_their_own_bot() {
        check_unfit(|other| other.player = "a".parse().unwrap());
        check_unfit(|other| {
            other.owner = Some("a".parse().unwrap());
            other.kind = PlayerKind::Bot;
        });
    }
}
