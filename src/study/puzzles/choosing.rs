//! Which puzzle is the one of the day, and which one comes next: pure.

use std::collections::{HashMap, HashSet};

use super::grading::{grade, level};
use crate::model::ids::PuzzleId;
use crate::model::time::UnixMillis;
use crate::storage::puzzles::{PuzzleEntry, PuzzleTry};

/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// The number of the day in UTC, from 1970; 0 before.
pub(crate) fn day_of(at: UnixMillis) -> u32 {
    u32::try_from(at.0.div_euclid(DAY_MS)).unwrap_or(0)
}

/// When a day begins.
pub(crate) fn start_of(day: u32) -> UnixMillis {
    UnixMillis(i64::from(day) * DAY_MS)
}

/// The puzzle of a day: of those that were there when it began, the one that draws the highest lot with the day. So it
/// is the same for everybody all day long, and one that goes or comes changes few other days. `None` if there is none.
pub(crate) fn daily(puzzles: &[PuzzleEntry], day: u32) -> Option<&PuzzleEntry> {
    let lot = |entry: &&PuzzleEntry| (lot(day, &entry.id), entry.id.clone());
    let old = puzzles.iter().filter(|entry| entry.made_at < start_of(day)).max_by_key(lot);
    old.or_else(|| puzzles.iter().max_by_key(lot))
}

/// A number that looks random: FNV-1a over day and id, then mixed, for FNV's last byte hardly reaches its high bits.
fn lot(day: u32, id: &PuzzleId) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let bytes = day.to_le_bytes().into_iter().chain(id.as_str().bytes());
    let hash = bytes.fold(BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

/// The next puzzle for somebody: of those not tried yet the one whose grade is nearest to the level shown so far. When
/// all have been tried, any, by `draw`. Never `current` if there is another.
pub(crate) fn next<'a>(
    puzzles: &'a [PuzzleEntry],
    tries: &[PuzzleTry],
    level: f64,
    current: Option<&PuzzleId>,
    draw: u64,
) -> Option<&'a PuzzleEntry> {
    let known: HashSet<&PuzzleId> = tries.iter().map(|attempt| &attempt.puzzle).collect();
    let others = || puzzles.iter().filter(|entry| Some(&entry.id) != current);
    let fresh = others().filter(|entry| !known.contains(&entry.id));
    let distance = |entry: &&PuzzleEntry| {
        let distance = (f64::from(grade(entry.prior, entry.record)) - level).abs();
        // Among equals the lot decides, so that not everybody gets the same ones in the order of their names.
        (distance.to_bits(), lot(0, &entry.id) ^ draw)
    };
    // The bits of floats that are not negative are in their order.
    let nearest = fresh.min_by_key(distance);
    nearest.or_else(|| others().max_by_key(|entry| lot(0, &entry.id) ^ draw)).or(puzzles.first())
}

/// Puzzles that grow harder, at most `count`: of as many parts of `puzzles`, which are the easiest first, one each, by
/// `draw`.
pub(crate) fn rush(puzzles: &[(u32, PuzzleEntry)], count: usize, draw: u64) -> Vec<&PuzzleId> {
    let parts = count.clamp(1, puzzles.len().max(1));
    let bound = |part: usize| puzzles.len() * part / parts;
    let chosen = (0..parts).filter_map(|part| {
        let ids = puzzles[bound(part)..bound(part + 1)].iter().map(|(_, entry)| &entry.id);
        ids.max_by_key(|id| lot(0, id) ^ draw)
    });
    chosen.collect()
}

/// How strong somebody has shown to be, in Elo points. Puzzles that are gone do not count any more.
pub(crate) fn level_of(puzzles: &[PuzzleEntry], tries: &[PuzzleTry]) -> f64 {
    let by_id: HashMap<&PuzzleId, &PuzzleEntry> = puzzles.iter().map(|entry| (&entry.id, entry)).collect();
    let graded = tries.iter().filter_map(|attempt| {
        let entry = by_id.get(&attempt.puzzle)?;
        Some((grade(entry.prior, entry.record), attempt.result))
    });
    level(graded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::conformance::{NOON, player_id};
    use crate::storage::puzzles::{TryRecord, TryResult};

    fn entry(id: &str, prior: u32, made_at: UnixMillis) -> PuzzleEntry {
        PuzzleEntry { id: id.parse().unwrap(), prior, record: TryRecord::default(), made_at }
    }

    fn many(count: u32) -> Vec<PuzzleEntry> {
        (0..count).map(|number| entry(&format!("p{number}"), 650 + 10 * number, UnixMillis(0))).collect()
    }

    fn failed(id: &str) -> PuzzleTry {
        PuzzleTry {
            player: player_id("Ada"),
            puzzle: id.parse().unwrap(),
            result: TryResult::Failed,
            level: 850,
            at: NOON,
        }
    }

    #[test]
    fn days_begin_at_midnight() {
        assert_eq!(day_of(UnixMillis(0)), 0);
        assert_eq!(day_of(UnixMillis(-1)), 0);
        assert_eq!((day_of(start_of(20_000)), day_of(UnixMillis(start_of(20_000).0 - 1))), (20_000, 19_999));
    }

    #[test]
    fn the_daily_one_changes_with_the_day_and_not_with_what_comes_during_it() {
        let mut puzzles = many(50);
        let chosen = |puzzles: &[PuzzleEntry], day| daily(puzzles, day).unwrap().id.clone();
        let before: Vec<PuzzleId> = (100..130).map(|day| chosen(&puzzles, day)).collect();
        let different: HashSet<&PuzzleId> = before.iter().collect();
        assert!(different.len() > 15, "{} of 30", different.len());
        puzzles.extend((0..50).map(|number| entry(&format!("q{number}"), 1_000, start_of(100))));
        puzzles.reverse();
        assert_eq!(chosen(&puzzles, 100), before[0], "what was found today is for tomorrow");
        assert_eq!(daily(&[], 1), None);
        let only_fresh = [entry("a", 1_000, start_of(5))];
        assert!(daily(&only_fresh, 5).is_some(), "rather a new one than none");
    }

    #[test]
    fn the_next_one_is_fresh_and_near_ones_level() {
        let puzzles = many(50);
        let next = |puzzles, tries: &[PuzzleTry], current, draw| {
            next(puzzles, tries, level_of(puzzles, tries), current, draw)
        };
        let first = next(&puzzles, &[], None, 1).unwrap();
        assert_eq!(first.prior, 850);
        let after = next(&puzzles, &[failed(first.id.as_str())], Some(&first.id), 1).unwrap();
        assert!(after.prior < first.prior);
        let all: Vec<PuzzleTry> = puzzles.iter().map(|entry| failed(entry.id.as_str())).collect();
        let again = next(&puzzles, &all, Some(&first.id), 7).unwrap();
        assert_ne!(again.id, first.id);
        assert_eq!(
            next(&puzzles[..1], &all, Some(&puzzles[0].id), 7).map(|entry| &entry.id),
            Some(&puzzles[0].id)
        );
        assert_eq!(next(&[], &[], None, 1), None);
    }

    #[test]
    fn a_rush_grows_harder_and_repeats_nothing() {
        let graded: Vec<_> = (0..100).map(|n| (600 + n, entry(&format!("p{n:02}"), 600 + n, NOON))).collect();
        let rush = rush(&graded, 40, 7);
        assert_eq!(rush.len(), 40);
        assert!(rush.is_sorted_by(|easy, hard| easy < hard), "{rush:?}");
        assert_ne!(rush, super::rush(&graded, 40, u64::MAX / 3), "the lot decides");
        assert_eq!(super::rush(&graded[..3], 40, 7).len(), 3, "as many as there are");
        assert_eq!(super::rush(&[], 40, 7), Vec::<&PuzzleId>::new());
    }
}
