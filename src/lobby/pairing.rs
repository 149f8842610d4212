//! Which of the waiting players are paired: pure.
//!
//! Two seeks fit if time, rated and variant are equal and each side's filters accept the other. Among those that fit,
//! ratings must be within a window that widens while somebody waits; then the longest waiting is paired first, with
//! whoever is nearest in rating.

use std::time::{Duration, Instant};

use super::acceptance::fits;
use crate::model::ids::PlayerId;
use crate::model::player::{OpponentKind, PlayerKind};
use crate::protocol::client::Seek;

/// How far ratings may be apart at once.
const WINDOW_START: u32 = 200;

/// What every second of waiting adds to that.
const WINDOW_PER_SECOND: u32 = 12;

/// What players without a rating count as.
const ELO_UNRATED: i32 = 1500;

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
    pub(crate) since: Instant,
}

impl Waiting {
    /// Whether the seek's own filters let the other pass.
    fn accepts_player(&self, other: &Self) -> bool {
        let kind = OpponentKind::from(other.kind);
        let fits_kind = self.seek.opponents.as_ref().is_none_or(|kinds| kinds.contains(&kind));
        fits_kind && fits(self.seek.rating, other.elo)
    }

    /// Whether a rated game of the two would count for nothing.
    fn is_family_of(&self, other: &Self) -> bool {
        let owner = |w: &Self| w.owner.clone().unwrap_or_else(|| w.player.clone());
        owner(self) == owner(other)
    }

    fn window(&self, now: Instant) -> u32 {
        let seconds = u32::try_from(now.saturating_duration_since(self.since).as_secs()).unwrap_or(u32::MAX);
        WINDOW_START.saturating_add(WINDOW_PER_SECOND.saturating_mul(seconds))
    }
}

/// Rating points between two players.
fn distance(a: &Waiting, b: &Waiting) -> u32 {
    a.elo.unwrap_or(ELO_UNRATED).abs_diff(b.elo.unwrap_or(ELO_UNRATED))
}

/// Whether two seeks may be paired at all.
fn fit(a: &Waiting, b: &Waiting) -> bool {
    a.player != b.player
        && (a.seek.time, a.seek.rated, a.seek.variant) == (b.seek.time, b.seek.rated, b.seek.variant)
        && !(a.seek.rated && a.is_family_of(b))
        && a.accepts_player(b)
        && b.accepts_player(a)
}

/// Whether they may be paired now: within the window of whoever waits longer.
fn fit_now(a: &Waiting, b: &Waiting, now: Instant) -> bool {
    // Casual players only want to play.
    !a.seek.rated || distance(a, b) <= a.window(now).max(b.window(now))
}

/// Finds pairs; each index of `waiting` comes up at most once.
pub(crate) fn pair(waiting: &[Waiting], now: Instant) -> Vec<(usize, usize)> {
    let mut by_wait: Vec<usize> = (0..waiting.len()).collect();
    by_wait.sort_by_key(|index| waiting[*index].since);
    let mut taken = vec![false; waiting.len()];
    let mut pairs = Vec::new();
    for (place, &a) in by_wait.iter().enumerate() {
        if taken[a] {
            continue;
        }
        let partners = by_wait[place + 1..].iter().copied().filter(|&b| {
            !taken[b] && fit(&waiting[a], &waiting[b]) && fit_now(&waiting[a], &waiting[b], now)
        });
        if let Some(b) = partners.min_by_key(|&b| distance(&waiting[a], &waiting[b])) {
            taken[a] = true;
            taken[b] = true;
            pairs.push((a, b));
        }
    }
    pairs
}

/// How long the seek has waited.
pub(crate) fn waited(waiting: &Waiting, now: Instant) -> Duration {
    now.saturating_duration_since(waiting.since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::clock::TimeControl;
    use crate::protocol::terms::WireVariant;

    fn waiting(name: &str, elo: i32, since: Instant) -> Waiting {
        Waiting {
            player: name.parse().unwrap(),
            kind: PlayerKind::Human,
            owner: None,
            elo: Some(elo),
            seek: Seek {
                time: TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None },
                rated: true,
                opponents: None,
                rating: None,
                variant: WireVariant::default(),
            },
            since,
        }
    }

    #[test]
    fn equal_seeks_pair_at_once_with_the_nearest_rating() {
        let now = Instant::now();
        let pool = [waiting("a", 1500, now), waiting("b", 1690, now), waiting("c", 1510, now)];
        assert_eq!(pair(&pool, now), [(0, 2)]);
    }

    #[test]
    fn the_window_widens_while_somebody_waits() {
        let start = Instant::now();
        let pool = [waiting("a", 1500, start), waiting("b", 1800, start)];
        assert_eq!(pair(&pool, start + Duration::from_secs(8)), []);
        assert_eq!(pair(&pool, start + Duration::from_secs(9)), [(0, 1)]);
    }

    #[test]
    fn whoever_waits_longest_comes_first() {
        let now = Instant::now();
        let earlier = now.checked_sub(Duration::from_secs(5)).unwrap();
        let pool = [waiting("a", 1500, now), waiting("b", 1500, now), waiting("c", 1500, earlier)];
        assert_eq!(pair(&pool, now)[0], (2, 0));
    }

    #[track_caller]
    fn check_unpaired(change: impl FnOnce(&mut Waiting)) {
        let now = Instant::now();
        let mut other = waiting("b", 1500, now);
        change(&mut other);
        assert_eq!(pair(&[waiting("a", 1500, now), other], now), []);
    }

    #[test]
    fn different_seeks_do_not_pair() {
        check_unpaired(|other| other.seek.rated = false);
        check_unpaired(|other| other.seek.time.increment_ms = 1);
        check_unpaired(|other| other.seek.variant = WireVariant("6x6".parse().unwrap()));
        check_unpaired(|other| other.seek.opponents = Some(vec![OpponentKind::Bot]));
        check_unpaired(|other| other.seek.rating = Some([1501, 2000]));
    }

    #[test]
    fn nobody_is_paired_with_themselves_or_rated_with_their_own_bot() {
        check_unpaired(|other| other.player = "a".parse().unwrap());
        check_unpaired(|other| {
            other.owner = Some("a".parse().unwrap());
            other.kind = PlayerKind::Bot;
        });
    }
}
