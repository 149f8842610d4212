//! The meetings of a knockout, round by round, as a tree: who met whom, how it stands, who went on.

use std::collections::HashSet;

use askama::Template;
use askama::filters::HtmlSafe;

use crate::competition::tournament::TournamentView;
use crate::http::api::tournaments::scheduled;
use crate::http::texts::Language;
use crate::model::result::GameResult;

/// One of the two of a meeting.
#[derive(Clone, PartialEq, Eq, Debug)]
struct BracketSeat {
    /// Nothing while nobody has come so far, and where nobody is to be beaten.
    name: String,
    /// Such as `2½`; nothing before a game of the meeting has ended.
    points: String,
    has_won: bool,
}

/// All meetings of one stage.
struct BracketRound {
    title: String,
    meetings: Vec<[BracketSeat; 2]>,
}

/// The tree, from the first round to the last.
#[derive(Template)]
#[template(path = "parts/bracket.html")]
pub(super) struct Bracket {
    rounds: Vec<BracketRound>,
}

impl HtmlSafe for Bracket {}

impl Bracket {
    /// Of a knockout, whose entrants are placed as `arena/src/format/knockout.rs` places them.
    pub(super) fn new(lang: Language, view: &TournamentView) -> Self {
        let meetings = Meetings::of(view);
        let mut places = seeded(view.names.len());
        let mut rounds = Vec::new();
        while places.len() > 1 {
            let title = match places.len() {
                2 => lang.text("tournament.final").to_owned(),
                _ => lang.fill("tournament.round", &[("n", rounds.len() + 1)]),
            };
            let seats = |two: &[Place]| meetings.seats(view, [two[0], two[1]]);
            rounds.push(BracketRound { title, meetings: places.chunks_exact(2).map(seats).collect() });
            places = places.chunks_exact(2).map(|two| meetings.winner(two[0], two[1])).collect();
        }
        Self { rounds }
    }
}

/// A place of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Who comes here is not known yet.
    Open,
    /// Nobody does: the other one passes.
    Nobody,
    Entrant(usize),
}

/// The places of the first round: the first two entrants can meet in the last one only, and so on.
fn seeded(entrants: usize) -> Vec<Place> {
    let mut places = vec![0];
    while places.len() < entrants {
        let size = places.len() * 2;
        places = places.iter().flat_map(|&seed| [seed, size - 1 - seed]).collect();
    }
    let place = |seed| if seed < entrants { Place::Entrant(seed) } else { Place::Nobody };
    places.into_iter().map(place).collect()
}

/// A game between two entrants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PlayedGame {
    seats: [usize; 2],
    /// Half points of the first; nothing while it goes on.
    halves: Option<u32>,
}

/// What was played, in its order.
#[derive(Clone, Debug, Default)]
struct Meetings {
    games: Vec<PlayedGame>,
    /// Games of a meeting at least.
    least: usize,
    /// Who takes part no more.
    out: HashSet<usize>,
}

impl Meetings {
    fn of(view: &TournamentView) -> Self {
        let games = view.lines.iter().map(|line| PlayedGame {
            seats: [line.seats.first, line.seats.second],
            halves: scheduled(view, line).result.map(|result| match result {
                GameResult::First => 2,
                GameResult::Draw => 1,
                GameResult::Second | GameResult::Void => 0,
            }),
        });
        let place = |name: &str| view.names.iter().position(|known| known.as_str() == name);
        let out = view.table.players.iter().filter(|player| player.standing.is_some_and(|of| of.suspended));
        Self {
            games: games.collect(),
            least: usize::try_from(2 * view.tournament.pairs).unwrap_or(usize::MAX),
            out: out.filter_map(|player| place(&player.name)).collect(),
        }
    }

    /// The games of two, and where among all the last of them stands.
    fn between(&self, a: usize, b: usize) -> impl Iterator<Item = (usize, PlayedGame)> {
        let games = self.games.iter().copied().enumerate();
        games.filter(move |(_, game)| game.seats == [a, b] || game.seats == [b, a])
    }

    /// Half points of one against another.
    fn halves(&self, own: usize, other: usize) -> u32 {
        let of_own = |game: PlayedGame| {
            Some(if game.seats[0] == own { game.halves? } else { 2 - game.halves?.min(2) })
        };
        self.between(own, other).filter_map(|(_, game)| of_own(game)).sum()
    }

    /// Who goes on.
    fn winner(&self, a: Place, b: Place) -> Place {
        match (a, b) {
            (Place::Entrant(a), Place::Entrant(b)) => self.better(a, b).map_or(Place::Open, Place::Entrant),
            (one, Place::Nobody) | (Place::Nobody, one) => one,
            (Place::Open, _) | (_, Place::Open) => Place::Open,
        }
    }

    fn better(&self, a: usize, b: usize) -> Option<usize> {
        match (self.out.contains(&a), self.out.contains(&b)) {
            (false, true) => return Some(a),
            (true, false) => return Some(b),
            (true, true) | (false, false) => {}
        }
        let last = self.between(a, b).last().map(|(place, _)| place)?;
        // Equals play on until they are not, or for long enough: then one of them is seen in the next round.
        let goes_on = |who: &usize| {
            self.games[last + 1..]
                .iter()
                .any(|game| game.seats.contains(who) && !game.seats.contains(&(a + b - who)))
        };
        if let Some(seen) = [a, b].into_iter().find(goes_on) {
            return Some(seen);
        }
        let is_over = self.between(a, b).all(|(_, game)| game.halves.is_some());
        let (own, other) = (self.halves(a, b), self.halves(b, a));
        let is_decided = is_over && self.between(a, b).count() >= self.least && own != other;
        is_decided.then_some(if own > other { a } else { b })
    }

    fn seats(&self, view: &TournamentView, two: [Place; 2]) -> [BracketSeat; 2] {
        let winner = self.winner(two[0], two[1]);
        let points = |own: Place, other: Place| match (own, other) {
            (Place::Entrant(own), Place::Entrant(other))
                if self.between(own, other).any(|(_, game)| game.halves.is_some()) =>
            {
                in_points(self.halves(own, other))
            }
            _ => String::new(),
        };
        let seat = |own: Place, other: Place| BracketSeat {
            name: match own {
                Place::Entrant(who) => view.names[who].to_string(),
                Place::Open | Place::Nobody => String::new(),
            },
            points: points(own, other),
            has_won: own == winner && own != Place::Open,
        };
        [seat(two[0], two[1]), seat(two[1], two[0])]
    }
}

/// Such as `2½`.
fn in_points(halves: u32) -> String {
    match (halves / 2, halves % 2) {
        (0, 1) => "½".to_owned(),
        (whole, 1) => format!("{whole}½"),
        (whole, _) => whole.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meetings(games: &[([usize; 2], Option<u32>)]) -> Meetings {
        let games = games.iter().map(|&(seats, halves)| PlayedGame { seats, halves }).collect();
        Meetings { games, least: 2, out: HashSet::new() }
    }

    fn winner(of: &Meetings, a: usize, b: usize) -> Place {
        of.winner(Place::Entrant(a), Place::Entrant(b))
    }

    #[test]
    fn the_first_meet_in_the_last_round() {
        let place = |seed: usize| if seed < 5 { Place::Entrant(seed) } else { Place::Nobody };
        assert_eq!(seeded(5), [0, 7, 3, 4, 1, 6, 2, 5].map(place));
        assert_eq!(seeded(1), [Place::Entrant(0)]);
    }

    #[test]
    fn whoever_has_more_points_after_all_games_goes_on() {
        let half_way = meetings(&[([0, 1], Some(2))]);
        assert_eq!(winner(&half_way, 0, 1), Place::Open, "a game is missing");
        let under_way = meetings(&[([0, 1], Some(2)), ([1, 0], None)]);
        assert_eq!(winner(&under_way, 0, 1), Place::Open);
        let won = meetings(&[([0, 1], Some(0)), ([1, 0], Some(1))]);
        assert_eq!((won.halves(0, 1), won.halves(1, 0)), (1, 3));
        assert_eq!(winner(&won, 0, 1), Place::Entrant(1));
        assert_eq!(winner(&won, 2, 3), Place::Open, "they have not met");
    }

    #[test]
    fn who_is_equal_plays_on_until_one_is_seen_in_the_next_round() {
        let equal = meetings(&[([0, 1], Some(1)), ([1, 0], Some(1))]);
        assert_eq!(winner(&equal, 0, 1), Place::Open);
        let passed = meetings(&[([0, 1], Some(1)), ([1, 0], Some(1)), ([0, 2], None)]);
        assert_eq!(winner(&passed, 0, 1), Place::Entrant(0));
    }

    #[test]
    fn nobody_is_beaten_and_who_is_out_lets_the_other_pass() {
        let none = meetings(&[]);
        assert_eq!(none.winner(Place::Entrant(3), Place::Nobody), Place::Entrant(3));
        assert_eq!(none.winner(Place::Nobody, Place::Open), Place::Open);
        assert_eq!(none.winner(Place::Nobody, Place::Nobody), Place::Nobody);
        assert_eq!(none.winner(Place::Entrant(0), Place::Open), Place::Open);
        let without = Meetings { out: [0].into(), ..none };
        assert_eq!(winner(&without, 0, 1), Place::Entrant(1));
    }

    #[test]
    fn halves_are_written_as_people_do() {
        assert_eq!([0, 1, 2, 5].map(in_points), ["0", "½", "1", "2½"]);
    }
}
