//! The course of a run: what to play next, and what follows from what was played. Pure.
//!
//! Games are handed out in the order of the schedule, finish in any order, and are booked in the order of the schedule.
//! Every decision (who is suspended, whether the sequential test has ended, who meets whom in the next wave) is made
//! when a game is booked, so it does not depend on which game finished first.

use crate::format::{self, History};
use crate::log::Why;
use crate::plan::{Format, Pairing, Plan, PlannedGame};
use crate::results::{GameOutcome, Results};
use crate::stats::sprt::Hypothesis;

/// A run under way.
#[derive(Clone, Debug)]
pub struct Course {
    plan: Plan,
    results: Results,
    wave: Vec<Pairing>,
    /// Number of the wave's first game.
    wave_from: u64,
    waves: u32,
    /// The next game to hand out.
    next: u64,
    /// The next game to book.
    due: u64,
    active: Vec<bool>,
    /// Who was taken out after faults.
    suspended: Vec<bool>,
    /// Waves before somebody came, by entrant.
    missed: Vec<u32>,
    /// Entrants who come with the first wave that begins at this game or behind it.
    arrivals: Vec<(usize, u64)>,
    /// Entrants who play no more as soon as this game is due.
    departures: Vec<(usize, u64)>,
    /// Rounds in which somebody had no opponent, by entrant.
    rests: Vec<u64>,
    faults_in_a_row: Vec<u32>,
    over: Option<Why>,
}

/// What a booked game led to.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Consequence {
    /// This entrant plays no more.
    pub suspended: Option<usize>,
    /// The run is over.
    pub over: Option<Why>,
}

impl Course {
    /// Before the first game.
    pub fn new(plan: Plan) -> Self {
        let entrants = plan.entrants.len();
        let mut course = Self {
            plan,
            results: Results::new(entrants),
            wave: Vec::new(),
            wave_from: 0,
            waves: 0,
            next: 0,
            due: 0,
            active: vec![true; entrants],
            suspended: vec![false; entrants],
            missed: vec![0; entrants],
            arrivals: Vec::new(),
            departures: Vec::new(),
            rests: vec![0; entrants],
            faults_in_a_row: vec![0; entrants],
            over: None,
        };
        course.begin_wave();
        course.pass_over();
        course.next = course.due;
        course
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn results(&self) -> &Results {
        &self.results
    }

    /// Why it is over; `None` while there is something to play.
    pub fn over(&self) -> Option<Why> {
        self.over
    }

    /// Who takes part.
    pub fn active(&self) -> &[bool] {
        &self.active
    }

    /// Who was taken out after faults.
    pub fn suspended(&self) -> &[bool] {
        &self.suspended
    }

    /// Whether somebody who comes now plays half of the rounds at least.
    pub fn is_open(&self) -> bool {
        let may_come = |rounds: u32| self.over.is_none() && self.waves.saturating_mul(2) <= rounds;
        matches!(self.plan.format, Format::Swiss { rounds } if may_come(rounds))
    }

    /// The first game in which somebody may play who comes now.
    pub fn comes_at(&self) -> u64 {
        self.wave_end()
    }

    /// Somebody comes, behind all others, with the first wave that begins at game `from` or behind it. What they have
    /// missed is worth nothing to them.
    pub fn come(&mut self, name: String, from: u64) {
        self.arrivals.push((self.active.len(), from));
        self.plan.entrants.push(name);
        self.results.add_entrant();
        self.active.push(false);
        self.suspended.push(false);
        self.missed.push(0);
        self.rests.push(0);
        self.faults_in_a_row.push(0);
    }

    /// The game from which on somebody plays no more who withdraws now: in a Swiss the first of the next round, in a
    /// knockout none, where they lose what is due to them, else the next one.
    pub fn goes_at(&self) -> Option<u64> {
        match self.plan.format {
            Format::Swiss { .. } => Some(self.wave_end()),
            Format::Knockout => None,
            Format::Match | Format::RoundRobin | Format::Gauntlet { .. } | Format::Ladder => Some(self.due),
        }
    }

    /// Somebody plays no more as soon as game `from` is due.
    pub fn go(&mut self, entrant: usize, from: u64) {
        self.departures.push((entrant, from));
        self.pass_over();
        self.next = self.next.max(self.due);
    }

    /// Games of the schedule as far as it is known; of a part, its own.
    pub fn games_known(&self) -> u64 {
        let games = self.wave_end();
        self.plan.shard.map_or(games, |shard| 2 * shard.count(games / 2))
    }

    /// Rounds of a Swiss tournament in which somebody had no opponent, by entrant: they count as won.
    pub fn rests(&self) -> &[u64] {
        &self.rests
    }

    /// How far everybody came in a knockout.
    pub fn stages(&self) -> Vec<u32> {
        format::stages(&self.plan, &self.history())
    }

    /// The next game to play. `None` if all of this wave are handed out or the run is over.
    pub fn hand_out(&mut self) -> Option<PlannedGame> {
        while self.over.is_none() && self.next < self.wave_end() {
            let slot = self.slot(self.next);
            self.next += 1;
            if self.is_wanted(slot) {
                return Some(slot);
            }
        }
        None
    }

    /// The game that is to be booked next, `None` if the run is over.
    pub fn due(&self) -> Option<PlannedGame> {
        self.over.is_none().then(|| self.slot(self.due))
    }

    /// Books the game that is due. Games that were played before need not be handed out.
    pub fn book(&mut self, outcome: &GameOutcome<'_>) -> Consequence {
        let Some(slot) = self.due() else { return Consequence::default() };
        self.results.book(slot, outcome);
        let suspended = self.count_faults(slot, outcome);
        self.due += 1;
        self.decide();
        self.pass_over();
        self.next = self.next.max(self.due);
        Consequence { suspended, over: self.over }
    }

    fn count_faults(&mut self, slot: PlannedGame, outcome: &GameOutcome<'_>) -> Option<usize> {
        let seats = slot.seats();
        for side in fourfold_engine::Side::BOTH {
            let count = &mut self.faults_in_a_row[seats[side]];
            *count = if outcome.at_fault == Some(side) { *count + 1 } else { 0 };
        }
        let culprit = seats[outcome.at_fault?];
        // Who plays on is decided when the parts are joined: no part knows what was played between its games.
        let max = if self.plan.shard.is_some() { 0 } else { self.plan.faults_max };
        let is_suspended = max > 0 && self.faults_in_a_row[culprit] >= max;
        is_suspended.then(|| {
            self.active[culprit] = false;
            self.suspended[culprit] = true;
            culprit
        })
    }

    /// Ends the run if the sequential test says so, or too few are left.
    fn decide(&mut self) {
        if self.plan.shard.is_none() && self.verdict().is_some() {
            self.over = Some(Why::Decided);
        } else if self.active.iter().filter(|active| **active).count() + self.arrivals.len() < 2 {
            self.over = Some(Why::Suspended);
        }
    }

    /// Whoever has withdrawn plays no more from the game that is due.
    fn depart(&mut self) {
        let due = self.due;
        let (gone, left): (Vec<(usize, u64)>, Vec<_>) =
            self.departures.iter().partition(|(_, from)| *from <= due);
        self.departures = left;
        for (entrant, _) in gone {
            self.active[entrant] = false;
            self.arrivals.retain(|(other, _)| *other != entrant);
            self.decide();
        }
    }

    /// Whoever has come takes part in the wave that is about to begin.
    fn arrive(&mut self) {
        let due = self.wave_from;
        let (here, left): (Vec<(usize, u64)>, Vec<_>) =
            self.arrivals.iter().partition(|(_, from)| *from <= due);
        self.arrivals = left;
        for (entrant, _) in here {
            self.active[entrant] = true;
            self.missed[entrant] = self.waves;
        }
    }

    /// What the sequential test of a match accepts, if there is one and it does.
    pub fn verdict(&self) -> Option<Hypothesis> {
        self.plan.sprt.as_ref()?.verdict(&self.results.meeting(0, 1).pairs)
    }

    /// Passes over games of who is suspended, and begins the next wave behind the last.
    fn pass_over(&mut self) {
        while self.over.is_none() {
            self.depart();
            if self.over.is_some() {
                return;
            }
            if self.due == self.wave_end() {
                self.begin_wave();
            } else if self.is_wanted(self.slot(self.due)) {
                return;
            } else {
                self.due += 1;
            }
        }
    }

    fn begin_wave(&mut self) {
        self.wave_from = self.wave_end();
        self.arrive();
        self.wave = format::next_wave(&self.plan, &self.history());
        self.waves += 1;
        if self.wave.is_empty() {
            self.over = Some(Why::Complete);
        } else if matches!(self.plan.format, Format::Swiss { .. }) {
            for (entrant, rests) in self.rests.iter_mut().enumerate() {
                let plays = self.wave.iter().any(|pairing| [pairing.a, pairing.b].contains(&entrant));
                *rests += u64::from(self.active[entrant] && !plays);
            }
        }
    }

    fn history(&self) -> History<'_> {
        History { pairs: self.results.pairs(), waves: self.waves, active: &self.active, missed: &self.missed }
    }

    fn wave_end(&self) -> u64 {
        self.wave_from + 2 * self.wave.len() as u64
    }

    fn slot(&self, number: u64) -> PlannedGame {
        let place = usize::try_from((number - self.wave_from) / 2).expect("a wave fits the memory");
        PlannedGame { number, pairing: self.wave[place] }
    }

    fn is_wanted(&self, slot: PlannedGame) -> bool {
        self.plan.has_pair(slot.pair()) && self.active[slot.pairing.a] && self.active[slot.pairing.b]
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Side;

    use super::*;
    use crate::stats::sprt::Sprt;
    use crate::testing::plan;

    fn won(winner: Side) -> GameOutcome<'static> {
        GameOutcome { winner: Some(winner), at_fault: None, fault: None, both_moved: true, moves: "44" }
    }

    fn fault(side: Side) -> GameOutcome<'static> {
        GameOutcome { at_fault: Some(side), fault: Some("too late"), ..won(side.opponent()) }
    }

    #[test]
    fn games_are_handed_out_once_and_in_order() {
        let mut course = Course::new(plan(Format::Match, 2, 2));
        let slots: Vec<PlannedGame> = std::iter::from_fn(|| course.hand_out()).collect();
        assert_eq!(slots.iter().map(|slot| slot.number).collect::<Vec<_>>(), [0, 1, 2, 3]);
        for _ in 0..3 {
            assert_eq!(course.book(&won(Side::First)), Consequence::default());
        }
        assert_eq!(course.book(&won(Side::First)).over, Some(Why::Complete));
        assert_eq!((course.due(), course.results().games()), (None, 4));
    }

    #[test]
    fn a_resumed_course_goes_on_behind_what_is_booked() {
        let mut course = Course::new(plan(Format::Match, 2, 2));
        course.book(&won(Side::First));
        assert_eq!(course.hand_out().map(|slot| slot.number), Some(1));
    }

    #[test]
    fn who_breaks_again_and_again_plays_no_more() {
        let mut three = Course::new(Plan { faults_max: 2, ..plan(Format::RoundRobin, 3, 2) });
        // 0 meets 1, then 2: it fails as first, then as second.
        assert_eq!(three.book(&fault(Side::First)).suspended, None);
        assert_eq!(three.book(&fault(Side::Second)).suspended, Some(0));
        let due = three.due().unwrap();
        assert_eq!((due.number, due.pairing.a, due.pairing.b), (4, 1, 2));
        assert_eq!(three.hand_out(), Some(due));
        let mut two = Course::new(Plan { faults_max: 1, ..plan(Format::Match, 2, 5) });
        assert_eq!(two.book(&fault(Side::First)).over, Some(Why::Suspended));
        assert_eq!(two.hand_out(), None);
    }

    #[test]
    fn parts_have_each_pair_once() {
        let whole = plan(Format::RoundRobin, 3, 4); // 12 pairs
        let mut handed_out = Vec::new();
        for number in 1..=5 {
            let shard = format!("{number}/5").parse().ok();
            let mut course = Course::new(Plan { shard, ..whole.clone() });
            let known = course.games_known();
            let mut played = 0;
            while let Some(slot) = course.hand_out() {
                assert_eq!(course.due(), Some(slot));
                handed_out.push(slot.number);
                course.book(&fault(Side::First)); // nobody is suspended by a part
                played += 1;
            }
            assert_eq!((course.over(), played), (Some(Why::Complete), known));
        }
        handed_out.sort_unstable();
        assert_eq!(handed_out, (0..24).collect::<Vec<_>>());
        // A part may have nothing to do.
        let none = Course::new(Plan { shard: "9/9".parse().ok(), ..plan(Format::Match, 2, 3) });
        assert_eq!((none.over(), none.games_known(), none.due()), (Some(Why::Complete), 0, None));
    }

    /// Plays what is due, the earlier entrant winning; gives who met whom.
    fn play(course: &mut Course, games: usize) -> Vec<[usize; 2]> {
        let mut met = Vec::new();
        for _ in 0..games {
            let Some(slot) = course.due() else { break };
            let seats = slot.seats();
            course.book(&won(if seats.first < seats.second { Side::First } else { Side::Second }));
            met.push([seats.first.min(seats.second), seats.first.max(seats.second)]);
        }
        met
    }

    #[test]
    fn whoever_comes_late_to_a_swiss_plays_from_the_next_round_on_without_points() {
        let mut course = Course::new(plan(Format::Swiss { rounds: 4 }, 4, 1));
        play(&mut course, 1);
        assert!(course.is_open());
        let from = course.comes_at();
        assert_eq!(from, 4);
        course.come("late".into(), from);
        course.come("later".into(), from);
        assert!(
            play(&mut course, 3).iter().flatten().all(|entrant| *entrant < 4),
            "the round goes on as it was"
        );
        let round = play(&mut course, 6);
        assert!(round.contains(&[4, 5]) || round.iter().any(|pair| pair[1] == 5), "{round:?}");
        assert!(!course.is_open(), "more than half of the rounds have begun");
        assert_eq!((course.rests()[4], course.missed[4]), (0, 1));
        let table = crate::report::RatingTable::of_tournament(&course);
        let last = table.players.iter().find(|row| row.name == "later").unwrap();
        assert!(last.standing.unwrap().score <= 6, "nothing for the round that was missed: {last:?}");
        assert!(!Course::new(plan(Format::RoundRobin, 4, 1)).is_open());
    }

    #[test]
    fn whoever_withdraws_is_not_paired_again() {
        let mut swiss = Course::new(plan(Format::Swiss { rounds: 3 }, 4, 1));
        play(&mut swiss, 1);
        swiss.go(0, swiss.goes_at().unwrap());
        assert!(swiss.active()[0], "their round is to be played or lost");
        play(&mut swiss, 3);
        assert!(!swiss.active()[0] && !swiss.suspended()[0]);
        assert!(play(&mut swiss, 99).iter().flatten().all(|entrant| *entrant != 0));
        let mut all = Course::new(plan(Format::RoundRobin, 4, 1));
        play(&mut all, 1);
        all.go(0, all.goes_at().unwrap());
        assert!(play(&mut all, 99).iter().flatten().all(|entrant| *entrant != 0));
        assert_eq!(all.over(), Some(Why::Complete));
        assert_eq!(Course::new(plan(Format::Knockout, 4, 1)).goes_at(), None);
        let mut two = Course::new(plan(Format::Match, 2, 5));
        two.go(1, 0);
        assert_eq!(two.over(), Some(Why::Suspended));
    }

    #[test]
    fn who_came_and_went_is_the_same_when_it_is_told_beforehand() {
        for (comes_after, goes_after) in [(0, 0), (0, 3), (1, 5), (3, 4), (4, 4), (5, 11)] {
            let mut straight = Course::new(plan(Format::Swiss { rounds: 5 }, 5, 1));
            let mut told = (0, 0);
            for number in 0..30 {
                if number == comes_after {
                    told.0 = straight.comes_at();
                    straight.come("late".into(), told.0);
                }
                if number == goes_after {
                    told.1 = straight.goes_at().unwrap();
                    straight.go(1, told.1);
                }
                play(&mut straight, 1);
            }
            let mut replayed = Course::new(plan(Format::Swiss { rounds: 5 }, 5, 1));
            replayed.come("late".into(), told.0);
            replayed.go(1, told.1);
            play(&mut replayed, 30);
            let table = crate::report::RatingTable::of_tournament;
            assert_eq!(table(&replayed), table(&straight), "after {comes_after} and {goes_after}");
            assert_eq!(replayed.wave, straight.wave);
        }
    }

    #[test]
    fn a_good_game_forgives_faults() {
        let mut course = Course::new(Plan { faults_max: 2, ..plan(Format::Match, 2, 5) });
        course.book(&fault(Side::First));
        course.book(&won(Side::First));
        assert_eq!(course.book(&fault(Side::First)).suspended, None);
        assert_eq!(course.results().faults(), 2);
    }

    #[test]
    fn a_sequential_test_ends_the_match() {
        let sprt = Some(Sprt { pairs_min: 2, ..Sprt::logistic(0.0, 300.0) });
        let mut course = Course::new(Plan { sprt, ..plan(Format::Match, 2, 1_000) });
        let mut number = 0_u32;
        let moves: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
        while let Some(slot) = course.due() {
            let winner = if slot.seats().first == 0 { Side::First } else { Side::Second };
            course.book(&GameOutcome { moves: &moves[number as usize], ..won(winner) });
            number += 1;
        }
        assert_eq!((course.over(), course.verdict()), (Some(Why::Decided), Some(Hypothesis::H1)));
        assert!(number < 60, "{number}");
    }

    #[test]
    fn the_next_wave_follows_from_the_last() {
        let mut course = Course::new(plan(Format::Knockout, 4, 1));
        for _ in 0..4 {
            let slot = course.due().unwrap();
            course.book(&won(if slot.seats().first < slot.seats().second {
                Side::First
            } else {
                Side::Second
            }));
        }
        let slot = course.due().unwrap();
        assert_eq!((slot.number, slot.pairing.a, slot.pairing.b), (4, 0, 1));
        assert_eq!(course.stages(), [1, 1, 0, 0]);
    }
}
