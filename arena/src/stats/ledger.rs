//! Games booked one by one in any order, as the sums that a joint fit needs.
//!
//! Both games of a pair count together once both are there: half a pair says more about the opening than about the
//! players. What repeats an earlier game move for move counts for the tally, but not for the fit: two deterministic
//! bots that play one game a hundred times have shown no more than once. Neither depends on the order of the games, and
//! [`Ledger::fit`] sums in the order that it is given, so equal games give equal digits.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use fourfold_engine::{SideResult, WinDrawLoss};

use super::fit::{Anchor, DRAW, Fit, FitMeeting, WIN};

/// A finished game with a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Booking<'a> {
    /// Numbers of the players, by who moved first.
    pub first: usize,
    pub second: usize,
    /// How it ended for the first: `LOSS`, `DRAW` or `WIN`.
    pub ending: usize,
    /// All on the board, the opening's included.
    pub moves: &'a str,
    /// The series that it belongs to and its place there, from 1. A longer series is so many pairs.
    pub pair: Option<(&'a str, u32)>,
}

/// All games of a field.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// By player, repeated games and halves of pairs too.
    scores: Vec<WinDrawLoss>,
    /// By the two players, the one with the lower number first.
    meetings: BTreeMap<(usize, usize), FitMeeting>,
    /// First games of pairs, by the series and the pair's place in it.
    open: HashMap<(u64, u32), Half>,
    /// What has been counted: a number for every pair and every single game.
    seen: HashSet<u64>,
}

/// A game that waits for the other one of its pair.
#[derive(Clone, Copy, Debug)]
struct Half {
    first: usize,
    second: usize,
    ending: usize,
    key: u64,
}

/// Ratings of some of the players.
#[derive(Clone, Debug)]
pub struct RatingFit {
    /// Numbers of those who are in it, in the order of the fit.
    pub players: Vec<usize>,
    /// By their place in `players`, as all that follows.
    pub fit: Fit,
    pub meetings: Vec<FitMeeting>,
}

impl Ledger {
    /// Nobody has played.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for one more player, whose number this is.
    pub fn add_player(&mut self) -> usize {
        self.scores.push(WinDrawLoss::default());
        self.scores.len() - 1
    }

    /// Books a game of two different players.
    pub fn book(&mut self, game: Booking<'_>) {
        let Booking { first, second, ending, moves, pair } = game;
        self.scores[first].count(result_of(ending));
        self.scores[second].count(result_of(WIN - ending));
        let half = Half { first, second, ending, key: key_of((first, second, ending, moves)) };
        let Some((series, leg)) = pair else { return self.book_single(half) };
        // A longer series is so many pairs.
        let place = (key_of(series), leg.saturating_sub(1) / 2);
        match self.open.remove(&place) {
            None => {
                self.open.insert(place, half);
            }
            Some(other) if (other.first, other.second) == (second, first) => self.book_pair(other, half),
            Some(other) => {
                // Sides were not swapped, or two series have one name.
                self.book_single(other);
                self.book_single(half);
            }
        }
    }

    fn book_pair(&mut self, one: Half, other: Half) {
        let (by_a, by_b) = if one.first < one.second { (one, other) } else { (other, one) };
        if self.seen.insert(key_of((by_a.key, by_b.key))) {
            self.meeting(by_a.first, by_a.second).pairs[by_a.ending][WIN - by_b.ending] += 1;
        }
    }

    fn book_single(&mut self, half: Half) {
        let Half { first, second, ending, key } = half;
        if !self.seen.insert(key) {
            return;
        }
        let meeting = self.meeting(first.min(second), first.max(second));
        if first < second {
            meeting.singles[0][ending] += 1;
        } else {
            meeting.singles[1][WIN - ending] += 1;
        }
    }

    fn meeting(&mut self, a: usize, b: usize) -> &mut FitMeeting {
        self.meetings.entry((a, b)).or_insert(FitMeeting { a, b, ..FitMeeting::default() })
    }

    /// How many players there are.
    pub fn players(&self) -> usize {
        self.scores.len()
    }

    /// What a player did in all games.
    pub fn score(&self, player: usize) -> WinDrawLoss {
        self.scores[player]
    }

    /// What the listed players played among themselves, by their places in the list and in its order.
    pub fn meetings(&self, players: &[usize]) -> Vec<FitMeeting> {
        let mut place = vec![None; self.scores.len()];
        players.iter().enumerate().for_each(|(index, &player)| place[player] = Some(index));
        let among = |meeting: &FitMeeting| Some(meeting.between(place[meeting.a]?, place[meeting.b]?));
        let mut meetings: Vec<FitMeeting> = self.meetings.values().filter_map(among).collect();
        meetings.sort_by_key(|meeting| (meeting.a, meeting.b));
        meetings
    }

    /// Fits those who are listed to the games that they played among themselves, in the order of the list.
    pub fn fit(&self, players: &[usize], anchor: Option<(usize, f64)>) -> RatingFit {
        let meetings = self.meetings(players);
        let place = |player: usize| players.iter().position(|&other| other == player);
        let anchor = anchor.and_then(|(player, elo)| Some(Anchor { player: place(player)?, elo }));
        let fit = Fit::new(players.len(), &meetings, anchor.as_slice());
        RatingFit { players: players.to_vec(), fit, meetings }
    }

    /// Those of the listed players, in their order, who have met another of them in a game that counts.
    pub fn who_met(&self, players: &[usize]) -> Vec<usize> {
        let mut is_listed = vec![false; self.scores.len()];
        for &player in players {
            is_listed[player] = true;
        }
        let mut has_met = vec![false; self.scores.len()];
        for &(a, b) in self.meetings.keys() {
            if is_listed[a] && is_listed[b] {
                (has_met[a], has_met[b]) = (true, true);
            }
        }
        players.iter().copied().filter(|&player| has_met[player]).collect()
    }
}

fn result_of(ending: usize) -> SideResult {
    match ending {
        WIN => SideResult::Win,
        DRAW => SideResult::Draw,
        _ => SideResult::Loss,
    }
}

/// Equal for equal values in every run. Two others share it once in 2^64.
fn key_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new(); // its keys are fixed
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fit::LOSS;
    use super::*;

    fn ledger(players: usize) -> Ledger {
        let mut ledger = Ledger::new();
        for _ in 0..players {
            ledger.add_player();
        }
        ledger
    }

    fn game<'a>(
        seats: (usize, usize),
        ending: usize,
        moves: &'a str,
        pair: Option<(&'a str, u32)>,
    ) -> Booking<'a> {
        Booking { first: seats.0, second: seats.1, ending, moves, pair }
    }

    #[test]
    fn a_pair_counts_when_both_games_are_there() {
        let mut ledger = ledger(2);
        ledger.book(game((1, 0), WIN, "1", Some(("p", 2))));
        assert!(ledger.who_met(&[0, 1]).is_empty());
        ledger.book(game((0, 1), DRAW, "2", Some(("p", 1))));
        assert_eq!(ledger.fit(&[0, 1], None).meetings[0].pairs[DRAW][LOSS], 1);
        // As the other one sees it: it won the game that it began, and drew the other.
        let turned = ledger.fit(&[1, 0], None).meetings[0];
        assert_eq!((turned.pairs[WIN][DRAW], turned.a, turned.b), (1, 0, 1));
        assert_eq!(ledger.score(0), WinDrawLoss { wins: 0, draws: 1, losses: 1 });
    }

    #[test]
    fn a_longer_series_is_so_many_pairs_and_a_rest_waits() {
        let mut ledger = ledger(2);
        for leg in 1..=5 {
            let seats = if leg % 2 == 1 { (0, 1) } else { (1, 0) };
            ledger.book(game(seats, WIN, &leg.to_string(), Some(("s", leg))));
        }
        assert_eq!(ledger.fit(&[0, 1], None).meetings[0].pairs[WIN][LOSS], 2);
        assert_eq!(ledger.score(1).games(), 5);
    }

    #[test]
    fn repeated_games_and_pairs_count_once() {
        let mut ledger = ledger(2);
        for pair in ["p", "q", "r"] {
            ledger.book(game((0, 1), WIN, "1", Some((pair, 1))));
            ledger.book(game((1, 0), WIN, "2", Some((pair, 2))));
        }
        for _ in 0..3 {
            ledger.book(game((1, 0), WIN, "3", None));
            ledger.book(game((0, 1), WIN, "3", None));
        }
        let meeting = ledger.fit(&[0, 1], None).meetings[0];
        assert_eq!((meeting.pairs[WIN][LOSS], meeting.singles), (1, [[0, 0, 1], [1, 0, 0]]));
        assert_eq!(ledger.score(0).games(), 12);
    }

    #[test]
    fn games_with_others_do_not_count_among_some() {
        let mut ledger = ledger(3);
        ledger.book(game((0, 1), WIN, "1", None));
        ledger.book(game((1, 2), WIN, "1", None));
        assert_eq!(ledger.who_met(&[0, 1, 2]), [0, 1, 2]);
        assert_eq!(ledger.who_met(&[2, 0]), [] as [usize; 0]);
        let among = ledger.fit(&[0, 1], Some((1, 100.0)));
        assert_eq!(among.meetings.len(), 1);
        assert!((among.fit.elo[1] - 100.0).abs() < 1e-9 && among.fit.elo[0] > 100.0);
    }

    /// Both players, the ending for the first, the moves, and the place in a series.
    type Played = (usize, usize, usize, String, Option<(String, u32)>);

    /// Pairs of four players from a few openings, so that some repeat, in any order.
    fn games() -> impl Strategy<Value = Vec<Played>> {
        let pair = (0..4_usize, 1..4_usize, 0..3_usize, 0..3_usize, 0..3_u8, any::<bool>());
        let to_games = |pairs: Vec<(usize, usize, usize, usize, u8, bool)>| {
            let mut games = Vec::new();
            for (number, (a, step, one, two, opening, is_pair)) in pairs.into_iter().enumerate() {
                let b = (a + step) % 4;
                let series = |leg| is_pair.then(|| (format!("p{number}"), leg));
                games.push((a, b, one, format!("{opening}1"), series(1)));
                games.push((b, a, two, format!("{opening}2"), series(2)));
            }
            games
        };
        prop::collection::vec(pair, 0..40).prop_map(to_games).prop_shuffle()
    }

    fn rated(games: &[Played]) -> Vec<u64> {
        let mut ledger = ledger(4);
        for (first, second, ending, moves, pair) in games {
            let pair = pair.as_ref().map(|(id, leg)| (id.as_str(), *leg));
            ledger.book(game((*first, *second), *ending, moves, pair));
        }
        let RatingFit { fit, .. } = ledger.fit(&[0, 1, 2, 3], Some((0, 0.0)));
        let errors = (1..4).map(|player| fit.error_between(0, player));
        fit.elo.iter().copied().chain(errors).map(f64::to_bits).collect()
    }

    /// Run with `cargo test --release -p fourfold-arena --lib -- --ignored --nocapture a_hundred`.
    #[test]
    #[ignore = "prints how long a fit takes"]
    fn a_hundred_players_and_a_hundred_thousand_games() {
        use std::time::Instant;
        const PLAYERS: usize = 100;
        let mut ledger = ledger(PLAYERS);
        let began = Instant::now();
        for number in 0..100_000 {
            let pair = number / 2;
            let a = pair % PLAYERS;
            let b = (a + 1 + pair / PLAYERS % (PLAYERS - 1)) % PLAYERS;
            let seats = if number % 2 == 0 { (a, b) } else { (b, a) };
            let ending = if number * 7_919 % 200 < 100 + seats.0 - seats.1.min(seats.0) { WIN } else { LOSS };
            let (moves, series) = (number.to_string(), pair.to_string());
            let leg = if number % 2 == 0 { 1 } else { 2 };
            ledger.book(game(seats, ending, &moves, Some((&series, leg))));
        }
        println!("100,000 games booked in {:?}", began.elapsed());
        let players: Vec<usize> = (0..PLAYERS).collect();
        for _ in 0..5 {
            let began = Instant::now();
            let fitted = ledger.fit(&players, Some((0, 0.0)));
            println!("{} meetings fitted in {:?}", fitted.meetings.len(), began.elapsed());
        }
    }

    proptest! {
        #[test]
        fn the_order_of_games_changes_no_digit(games in games(), seed in any::<u64>()) {
            let mut others = games.clone();
            // Any permutation does; this one depends on the seed.
            others.sort_by_key(|game| key_of((seed, game)));
            prop_assert_eq!(rated(&games), rated(&others));
        }
    }
}
