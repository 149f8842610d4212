//! What was played, counted. Only ever grown game by game in the order of the schedule, so equal logs have equal
//! tables.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use fourfold_engine::{BySide, Side, SideResult, WinDrawLoss};

use crate::format::PairResult;
use crate::plan::{Leg, PlannedGame};
use crate::stats::fit::{self, DRAW, LOSS, WIN};
use crate::stats::pairs::{PairCounts, Repeats};

/// A finished game as the tables see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameOutcome<'a> {
    /// `None` for a draw.
    pub winner: Option<Side>,
    pub at_fault: Option<Side>,
    /// The fault in words, if somebody wrote them down.
    pub fault: Option<&'a str>,
    /// Whether both sides moved after the opening.
    pub both_moved: bool,
    pub moves: &'a str,
}

/// Everything that is counted.
#[derive(Clone, Debug, Default)]
pub struct Results {
    entrants: Vec<EntrantTally>,
    /// By the two entrants, the earlier one first.
    meetings: BTreeMap<(usize, usize), Meeting>,
    pairs: Vec<PairResult>,
    /// The first game of a pair whose second is not finished.
    open: Option<PairHalf>,
    games: u64,
    /// Games in which both sides moved.
    played: u64,
    distinct: HashSet<u64>,
    distinct_pairs: HashSet<(u64, u64)>,
    /// Games lost by each kind of fault, by entrant and words.
    fault_kinds: BTreeMap<(usize, String), u64>,
}

/// Kinds of faults of a run that are told apart: more than anybody reads, and words may differ in every game.
const FAULT_KINDS_MAX: usize = 32;

/// What a win counts; a draw counts 1.
pub const POINTS_OF_A_WIN: u64 = 3;

/// One entrant's games.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct EntrantTally {
    pub score: BySide<WinDrawLoss>,
    /// Losses by a fault.
    pub faults: u64,
}

impl EntrantTally {
    /// Points as tables have them: 3 a win, 1 a draw.
    pub fn points(&self) -> u64 {
        let score = self.score.sum();
        POINTS_OF_A_WIN * score.wins + score.draws
    }
}

/// All games between two entrants, as the earlier one sees them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Meeting {
    pub score: WinDrawLoss,
    pub pairs: PairCounts,
    /// Finished pairs by how both games ended; repeated ones count once.
    endings: [[u64; 3]; 3],
}

/// Half a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PairHalf {
    pair: u64,
    winner: Option<Side>,
    key: u64,
}

impl Results {
    /// Nothing played yet.
    pub fn new(entrants: usize) -> Self {
        Self { entrants: vec![EntrantTally::default(); entrants], ..Self::default() }
    }

    /// Room for one entrant more, behind all others.
    pub fn add_entrant(&mut self) {
        self.entrants.push(EntrantTally::default());
    }

    /// Books the next game of the schedule.
    pub fn book(&mut self, slot: PlannedGame, outcome: &GameOutcome<'_>) {
        let seats = slot.seats();
        self.games += 1;
        self.played += u64::from(outcome.both_moved);
        for side in Side::BOTH {
            self.entrants[seats[side]].book(side, outcome);
        }
        self.book_fault(seats, outcome);
        let earlier = seats.first.min(seats.second);
        let meeting = self.meetings.entry((earlier, seats.first.max(seats.second))).or_default();
        let side = if earlier == seats.first { Side::First } else { Side::Second };
        meeting.score.count(SideResult::of(side, outcome.winner));
        let key = key(seats, outcome.moves);
        self.distinct.insert(key);
        match (slot.leg(), self.open.take()) {
            (Leg::One, _) => self.open = Some(PairHalf { pair: slot.pair(), winner: outcome.winner, key }),
            (Leg::Two, Some(half)) if half.pair == slot.pair() => {
                self.book_pair(slot, half, outcome.winner, key);
            }
            (Leg::Two, _) => {} // its first game was passed over
        }
    }

    fn book_fault(&mut self, seats: BySide<usize>, outcome: &GameOutcome<'_>) {
        let (Some(side), Some(words)) = (outcome.at_fault, outcome.fault) else { return };
        let kind = (seats[side], words.to_owned());
        if self.fault_kinds.len() < FAULT_KINDS_MAX || self.fault_kinds.contains_key(&kind) {
            *self.fault_kinds.entry(kind).or_default() += 1;
        }
    }

    fn book_pair(&mut self, slot: PlannedGame, half: PairHalf, winner: Option<Side>, key: u64) {
        let (a, b) = (slot.pairing.a, slot.pairing.b);
        // In the first game a is the first side, in the second b.
        let endings = [ending_for(true, half.winner), ending_for(false, winner)];
        let half_points = |ending: usize| u8::try_from(ending).unwrap_or_default();
        let points = half_points(endings[0]) + half_points(endings[1]);
        self.pairs.push(PairResult { a, b, half_points: points });
        let is_new = self.distinct_pairs.insert((half.key, key));
        let repeats = if is_new { Repeats::Nothing } else { Repeats::AnEarlierPair };
        let meeting = self.meetings.entry((a.min(b), a.max(b))).or_default();
        if a < b {
            meeting.pairs.add(points, repeats);
            meeting.endings[endings[0]][endings[1]] += u64::from(is_new);
        } else {
            meeting.pairs.add(4 - points, repeats);
            // As b sees it: the game that it began is the second.
            meeting.endings[WIN - endings[1]][WIN - endings[0]] += u64::from(is_new);
        }
    }

    pub fn entrants(&self) -> &[EntrantTally] {
        &self.entrants
    }

    /// All finished pairs in the order of the schedule.
    pub fn pairs(&self) -> &[PairResult] {
        &self.pairs
    }

    /// Finished games.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Games in which both sides moved: if there are none, nothing was played.
    pub fn played(&self) -> u64 {
        self.played
    }

    /// Games that differ in their players or moves from all others.
    pub fn distinct(&self) -> u64 {
        self.distinct.len() as u64
    }

    /// Pairs with one finished game.
    pub fn unfinished_pairs(&self) -> u64 {
        self.games - 2 * self.pairs.len() as u64
    }

    pub fn faults(&self) -> u64 {
        self.entrants.iter().map(|tally| tally.faults).sum()
    }

    /// By which faults games were lost: the entrant, the fault in words, and how many.
    pub fn fault_kinds(&self) -> impl Iterator<Item = (usize, &str, u64)> {
        self.fault_kinds.iter().map(|((entrant, words), games)| (*entrant, words.as_str(), *games))
    }

    /// The games of two entrants as `a` sees them.
    pub fn meeting(&self, a: usize, b: usize) -> Meeting {
        let meeting = self.meetings.get(&(a.min(b), a.max(b))).copied().unwrap_or_default();
        if a <= b {
            return meeting;
        }
        let mut pairs = meeting.pairs;
        pairs.counts.reverse();
        Meeting { score: meeting.score.flipped(), pairs, ..meeting }
    }

    /// The finished pairs for the joint fit. Unfinished ones never enter statistics, and repeated ones say nothing new.
    pub fn for_fit(&self) -> Vec<fit::FitMeeting> {
        let pairs = |(&(a, b), meeting): (&(usize, usize), &Meeting)| fit::FitMeeting {
            a,
            b,
            pairs: meeting.endings,
            ..fit::FitMeeting::default()
        };
        self.meetings.iter().map(pairs).collect()
    }
}

impl EntrantTally {
    fn book(&mut self, side: Side, outcome: &GameOutcome<'_>) {
        self.score[side].count(SideResult::of(side, outcome.winner));
        self.faults += u64::from(outcome.at_fault == Some(side));
    }
}

/// How a game ended for the first side, or else for the second.
fn ending_for(is_first: bool, winner: Option<Side>) -> usize {
    match winner {
        None => DRAW,
        Some(Side::First) if is_first => WIN,
        Some(Side::Second) if !is_first => WIN,
        Some(_) => LOSS,
    }
}

/// Equal for games of the same players with the same moves. Two others share it once in 2^64.
fn key(seats: BySide<usize>, moves: &str) -> u64 {
    let mut hasher = DefaultHasher::new(); // its keys are fixed
    (seats.first, seats.second, moves).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Pairing;

    fn book(results: &mut Results, number: u64, winner: Option<Side>, moves: &str) {
        let slot = PlannedGame { number, pairing: Pairing { a: 1, b: 0, opening: 0 } };
        results.book(slot, &GameOutcome { winner, at_fault: None, fault: None, both_moved: true, moves });
    }

    #[test]
    fn pairs_are_counted_for_both_players() {
        let mut results = Results::new(2);
        book(&mut results, 0, Some(Side::First), "1"); // 1 beats 0
        book(&mut results, 1, None, "2");
        book(&mut results, 2, Some(Side::Second), "3"); // 0 beats 1
        assert_eq!(results.pairs(), [PairResult { a: 1, b: 0, half_points: 3 }]);
        assert_eq!(results.meeting(1, 0).pairs.counts, [0, 0, 0, 1, 0]);
        assert_eq!(results.meeting(0, 1).pairs.counts, [0, 1, 0, 0, 0]);
        assert_eq!((results.games(), results.unfinished_pairs(), results.distinct()), (3, 1, 3));
        assert_eq!(results.meeting(0, 1).score, WinDrawLoss { wins: 1, draws: 1, losses: 1 });
        assert_eq!(results.entrants()[0].score.map(|score| score.wins), BySide { first: 0, second: 1 });
        // As 0 sees it: it drew the game that it began, and lost the other.
        assert_eq!(results.for_fit()[0].pairs[DRAW][LOSS], 1);
    }

    #[test]
    fn repeated_games_are_seen() {
        let mut results = Results::new(2);
        for number in 0..8 {
            book(&mut results, number, Some(Side::First), if number % 2 == 0 { "1" } else { "2" });
        }
        assert_eq!((results.games(), results.distinct()), (8, 2));
        assert_eq!(results.meeting(0, 1).pairs, PairCounts { counts: [0, 0, 4, 0, 0], repeated: 3 });
        assert_eq!(results.for_fit()[0].pairs(), 1);
    }
}
