//! Who waits, and who may be paired with whom: pure.
//!
//! Seeks of equal terms stand on one shelf, by what they accept and by rating, so that a seek is compared with a few
//! neighbours and not with everybody. Only two things make a pair possible that was not before: a seek that is new or
//! has changed, which is compared when that happens; and windows that widen with time. When that lets the nearest
//! neighbours pair is known beforehand, and the seek is looked at again then.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::time::{Duration, Instant};

use super::pairing::{Waiting, distance, fit, may_pair_at};
use crate::model::clock::GameTime;
use crate::model::player::OpponentKind;
use crate::play::room::MemberId;
use crate::protocol::terms::WireVariant;

/// Neighbours in one part of a shelf that a seek is compared with, nearest first. Within a part nearly everybody fits
/// whoever is near enough, so the first one does mostly; who fits nobody among so many is compared again when that may
/// have changed.
const LOOKS_MAX: usize = 32;

/// What two seeks must have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct ShelfTerms {
    time: GameTime,
    rated: bool,
    variant: WireVariant,
}

impl ShelfTerms {
    fn of(waiting: &Waiting) -> Self {
        Self { time: waiting.seek.time, rated: waiting.seek.rated, variant: waiting.seek.variant }
    }
}

/// The part of a shelf where a seek stands: all there are of one sort and accept the same sorts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct ShelfPart {
    kind: OpponentKind,
    accepts_people: bool,
    accepts_bots: bool,
    /// Accepts only some ratings: these stand apart, so that who accepts nobody is not in others' way.
    is_choosy: bool,
}

impl ShelfPart {
    fn of(waiting: &Waiting) -> Self {
        let accepts = |kind| waiting.seek.opponents.as_ref().is_none_or(|kinds| kinds.contains(&kind));
        Self {
            kind: OpponentKind::from(waiting.kind),
            accepts_people: accepts(OpponentKind::Human),
            accepts_bots: accepts(OpponentKind::Bot),
            is_choosy: waiting.seek.rating.is_some(),
        }
    }

    fn accepts(self, other: Self) -> bool {
        match other.kind {
            OpponentKind::Human => self.accepts_people,
            OpponentKind::Bot => self.accepts_bots,
        }
    }
}

/// Since when somebody waits, from the beginning of the pool, and a number that no two seeks share.
type Age = (Duration, u64);

/// Where a seek stands in its part: by rating, then by age.
type Place = (i32, Age);

/// A seek with its place in the order of coming.
#[derive(Clone, Debug)]
struct Stands {
    waiting: Waiting,
    age: Age,
    /// When it is to be compared again, if it is known that this will help.
    due: Option<Instant>,
}

/// All open seeks.
#[derive(Debug)]
pub(super) struct Pool {
    began: Instant,
    seeks: HashMap<MemberId, Stands>,
    shelves: HashMap<ShelfTerms, BTreeMap<ShelfPart, BTreeMap<Place, MemberId>>>,
    by_age: BTreeMap<Age, MemberId>,
    dues: BTreeMap<(Instant, Age), MemberId>,
    next_number: u64,
    /// The seek that was refreshed last.
    refreshed: Option<Age>,
    /// Comparisons of two seeks so far.
    #[cfg(test)]
    looks: std::cell::Cell<u64>,
}

impl Pool {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            began: now,
            seeks: HashMap::new(),
            shelves: HashMap::new(),
            by_age: BTreeMap::new(),
            dues: BTreeMap::new(),
            next_number: 0,
            refreshed: None,
            #[cfg(test)]
            looks: std::cell::Cell::default(),
        }
    }

    /// Enters a seek, in place of an earlier one of the same connection.
    pub(super) fn insert(&mut self, member: MemberId, waiting: Waiting) {
        self.remove(member);
        self.next_number += 1;
        let age = (waiting.since.saturating_duration_since(self.began), self.next_number);
        let parts = self.shelves.entry(ShelfTerms::of(&waiting)).or_default();
        parts.entry(ShelfPart::of(&waiting)).or_default().insert((waiting.points(), age), member);
        self.by_age.insert(age, member);
        self.seeks.insert(member, Stands { waiting, age, due: None });
    }

    /// Takes a seek out.
    pub(super) fn remove(&mut self, member: MemberId) {
        let Some(Stands { waiting, age, due }) = self.seeks.remove(&member) else { return };
        let terms = ShelfTerms::of(&waiting);
        if let Some(parts) = self.shelves.get_mut(&terms) {
            let part = ShelfPart::of(&waiting);
            if let Some(places) = parts.get_mut(&part) {
                places.remove(&(waiting.points(), age));
                if places.is_empty() {
                    parts.remove(&part);
                }
            }
            if parts.is_empty() {
                self.shelves.remove(&terms);
            }
        }
        self.by_age.remove(&age);
        if let Some(due) = due {
            self.dues.remove(&(due, age));
        }
    }

    pub(super) fn get(&self, member: MemberId) -> Option<&Waiting> {
        self.seeks.get(&member).map(|stands| &stands.waiting)
    }

    /// Those that wait, the oldest first.
    pub(super) fn oldest(&self) -> impl Iterator<Item = MemberId> + '_ {
        self.by_age.values().copied()
    }

    /// The next ones to be refreshed, in turn: what their players accept may have changed.
    pub(super) fn next_to_refresh(&mut self, count: usize) -> Vec<MemberId> {
        let last = self.refreshed.map_or(Bound::Unbounded, Bound::Excluded);
        let behind = self.by_age.range((last, Bound::Unbounded));
        let again = self.refreshed.map(|last| self.by_age.range(..=last));
        let all = behind.chain(again.into_iter().flatten());
        let next: Vec<(Age, MemberId)> = all.take(count).map(|(age, member)| (*age, *member)).collect();
        self.refreshed = next.last().map(|(age, _)| *age);
        next.into_iter().map(|(_, member)| member).collect()
    }

    /// Takes out who is due to be compared again, the oldest of those due at the same time first.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<MemberId> {
        let mut due = Vec::new();
        while let Some(first) = self.dues.first_entry().filter(|first| first.key().0 <= now) {
            let member = first.remove();
            if let Some(stands) = self.seeks.get_mut(&member) {
                stands.due = None;
            }
            due.push(member);
        }
        due
    }

    /// With whom this seek may be paired now: the nearest in rating. If with nobody yet, it will be due when the first
    /// of its neighbours may.
    pub(super) fn partner(&mut self, member: MemberId, now: Instant) -> Option<MemberId> {
        let stands = self.seeks.get(&member)?;
        let found = self.look_around(member, &stands.waiting);
        let ready = found.iter().filter(|neighbour| neighbour.may_pair_at <= now);
        if let Some(nearest) = ready.min_by_key(|neighbour| (neighbour.distance, neighbour.age)) {
            return Some(nearest.member);
        }
        let due = found.iter().map(|neighbour| neighbour.may_pair_at).min();
        self.set_due(member, due);
        None
    }

    /// Has a seek compared again with the next tick.
    pub(super) fn look_again(&mut self, member: MemberId, now: Instant) {
        self.set_due(member, Some(now));
    }

    fn set_due(&mut self, member: MemberId, due: Option<Instant>) {
        let Some(stands) = self.seeks.get_mut(&member) else { return };
        if let Some(before) = std::mem::replace(&mut stands.due, due) {
            self.dues.remove(&(before, stands.age));
        }
        if let Some(due) = due {
            self.dues.insert((due, stands.age), member);
        }
    }

    /// The neighbours that fit.
    fn look_around(&self, own: MemberId, seek: &Waiting) -> Vec<Neighbour> {
        let own_part = ShelfPart::of(seek);
        let mut found = Vec::new();
        for (part, places) in self.shelves.get(&ShelfTerms::of(seek)).into_iter().flatten() {
            if !own_part.accepts(*part) || !part.accepts(own_part) {
                continue;
            }
            let others = outwards(places, seek.points()).filter(|(_, member)| *member != own);
            for (age, member) in others.take(LOOKS_MAX) {
                #[cfg(test)]
                self.looks.update(|looks| looks + 1);
                let Some(other) = self.get(member).filter(|other| fit(seek, other)) else { continue };
                let (distance, may_pair_at) = (distance(seek, other), may_pair_at(seek, other));
                found.push(Neighbour { member, age, distance, may_pair_at });
            }
        }
        found
    }
}

/// A seek that fits another.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    member: MemberId,
    age: Age,
    distance: u32,
    may_pair_at: Instant,
}

/// The places from those of this rating outwards, the nearest first, of equals the oldest.
fn outwards(places: &BTreeMap<Place, MemberId>, points: i32) -> impl Iterator<Item = (Age, MemberId)> + '_ {
    let from = (points, (Duration::ZERO, 0));
    let mut above = places.range(from..).peekable();
    let mut below = places.range(..from).rev().peekable();
    std::iter::from_fn(move || {
        let next = match (above.peek(), below.peek()) {
            (Some((up, _)), Some((down, _))) if points.abs_diff(down.0) < up.0.abs_diff(points) => {
                below.next()
            }
            (Some(_), _) => above.next(),
            (None, _) => below.next(),
        };
        next.map(|((_, age), member)| (*age, *member))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::pairing::tests::waiting;
    use super::*;
    use crate::model::clock::TimeControl;
    use crate::protocol::client::Seek;
    use crate::protocol::terms::{Range, RangeElo};

    fn pool(seeks: &[Waiting]) -> (Pool, Vec<MemberId>) {
        let mut pool = Pool::new(Instant::now());
        let enter = |seek: &Waiting| {
            let member = MemberId::next();
            pool.insert(member, seek.clone());
            member
        };
        let members = seeks.iter().map(enter).collect();
        (pool, members)
    }

    #[test]
    fn the_nearest_rating_is_the_partner() {
        let now = Instant::now();
        let seeks = [1500, 1690, 1510, 1495].map(|elo| waiting(&format!("p{elo}"), elo, now));
        let (mut pool, members) = pool(&seeks);
        assert_eq!(pool.partner(members[0], now), Some(members[3]));
        pool.remove(members[3]);
        assert_eq!(pool.partner(members[0], now), Some(members[2]));
        pool.remove(members[2]);
        assert_eq!(pool.partner(members[0], now), Some(members[1]));
    }

    #[test]
    fn of_equals_whoever_waits_longest_comes_first() {
        let now = Instant::now();
        let (mut pool, members) = pool(&["a", "b", "c"].map(|name| waiting(name, 1500, now)));
        assert_eq!(pool.partner(members[2], now), Some(members[0]));
        assert_eq!(pool.oldest().collect::<Vec<_>>(), members);
        let later = now + Duration::from_secs(1);
        let (newest, oldest) = (MemberId::next(), MemberId::next());
        pool.insert(newest, waiting("d", 1500, later));
        pool.insert(oldest, waiting("e", 1500, now));
        assert_eq!(pool.partner(members[2], later), Some(members[0]));
        assert_eq!(pool.oldest().last(), Some(newest), "who comes back has waited as long as before");
    }

    #[test]
    fn a_seek_is_due_when_the_first_neighbour_comes_into_reach() {
        let start = Instant::now();
        let seeks = [waiting("a", 1500, start), waiting("b", 1800, start), waiting("c", 1900, start)];
        let (mut pool, members) = pool(&seeks);
        assert_eq!(pool.partner(members[0], start), None);
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(pool.take_due(at(8)).is_empty());
        assert_eq!(pool.take_due(at(9)), [members[0]]);
        assert_eq!(pool.partner(members[0], at(9)), Some(members[1]));
        pool.remove(members[1]);
        assert_eq!(pool.partner(members[0], at(9)), None);
        assert_eq!(pool.take_due(at(17)), [members[0]], "now the other one");
        assert_eq!(pool.take_due(at(60)), []);
    }

    #[test]
    fn seeks_of_other_terms_are_not_looked_at() {
        let now = Instant::now();
        let (mut pool, members) = pool(&[waiting("a", 1500, now)]);
        let changes: [fn(&mut Waiting); 4] = [
            |other| other.seek.rated = false,
            |other| {
                let time = TimeControl { increment_ms: 1, ..other.seek.time.control() };
                other.seek.time = GameTime::new(time).unwrap();
            },
            |other| other.seek.variant = WireVariant("6x6".parse().unwrap()),
            |other| other.seek.opponents = Some(vec![OpponentKind::Bot]),
        ];
        for change in changes {
            let mut other = waiting("b", 1500, now);
            change(&mut other);
            pool.insert(MemberId::next(), other);
        }
        assert_eq!((pool.partner(members[0], now), pool.looks.get()), (None, 0));
    }

    #[test]
    fn what_goes_leaves_nothing_behind() {
        let now = Instant::now();
        let (mut pool, members) = pool(&[waiting("a", 1500, now), waiting("b", 1900, now)]);
        pool.partner(members[0], now);
        pool.partner(members[1], now);
        for member in members {
            pool.remove(member);
            pool.remove(member);
        }
        assert!(pool.seeks.is_empty() && pool.shelves.is_empty() && pool.by_age.is_empty());
        assert!(pool.dues.is_empty());
    }

    #[test]
    fn all_are_refreshed_in_turn() {
        let now = Instant::now();
        let (mut pool, members) = pool(&["a", "b", "c"].map(|name| waiting(name, 1500, now)));
        assert_eq!(pool.next_to_refresh(2), members[..2]);
        assert_eq!(pool.next_to_refresh(2), [members[2], members[0]]);
        assert_eq!(pool.next_to_refresh(9), [members[1], members[2], members[0]], "each once");
        assert!(Pool::new(now).next_to_refresh(3).is_empty());
    }

    /// Comparisons for a seek when so many wait who fit nobody, or only far from each other.
    fn looks_with(count: u32) -> u64 {
        let now = Instant::now();
        let mut pool = Pool::new(now);
        for number in 0..count {
            let name = format!("p{number}");
            let far_apart = waiting(&name, 1500 + 300 * i32::try_from(number).unwrap(), now);
            let accepts_nobody = Waiting {
                seek: Seek {
                    rating: Range::new(RangeElo::new(9_000), RangeElo::new(9_001)),
                    ..far_apart.seek.clone()
                },
                elo: Some(1500),
                ..far_apart.clone()
            };
            for seek in [far_apart, accepts_nobody] {
                let member = MemberId::next();
                pool.insert(member, seek);
                pool.partner(member, now);
            }
        }
        let before = pool.looks.get();
        let member = MemberId::next();
        pool.insert(member, waiting("new", 1650, now));
        assert!(pool.partner(member, now).is_some(), "it is not crowded out by those who accept nobody");
        pool.looks.get() - before
    }

    #[test]
    fn a_seek_costs_the_same_however_many_wait() {
        let (few, many) = (looks_with(150), looks_with(3_000));
        assert!(
            few > 0 && many <= few + 2 * LOOKS_MAX as u64,
            "{few} comparisons among 300, {many} among 6,000"
        );
    }
}
