//! Whether somebody's last results look as if games were given away: pure.
//!
//! The figures are those of the chess site lichess, whose players try the same: of the last seven rated games, three
//! that were thrown away are a warning, four a case for the operator.

use fourfold_engine::{Game, Side};

use crate::model::ids::{GameId, PlayerId};
use crate::storage::published::RatedGame;

/// How many of a player's last rated games are looked at.
pub(super) const WINDOW: u32 = 7;

/// Games given away among them that are worth a line in the log.
const WARNED: usize = 3;

/// The same for an alarm.
const ALARMED: usize = 4;

/// Whoever gives up with fewer stones on the board has hardly played: a beginner who is beaten so early is beaten by a
/// line, which is no giving up.
const STONES_SHORT: usize = 14;

/// What results look like.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Habit {
    /// Losing on purpose, to be rated lower than one is.
    Sandbagging,
    /// Winning again and again against the same one, who gives up.
    Boosting,
}

impl Habit {
    /// In metrics, logs and answers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sandbagging => "sandbagging",
            Self::Boosting => "boosting",
        }
    }
}

/// How sure that is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Fine,
    Warning,
    /// The games speak for it.
    Alarm(Vec<GameId>),
}

/// Whether so few stones are on the board that it was hardly a game.
pub(super) fn is_short(moves: &str) -> bool {
    moves.len() < STONES_SHORT
}

/// Whether a game was given away: lost early, and not by a line.
pub(super) fn is_given_away(game: &RatedGame) -> bool {
    let played = Game::from_moves(game.variant, &game.moves);
    is_short(&game.moves)
        && game.result.winner().is_some()
        && played.is_ok_and(|game| game.outcome().is_none())
}

fn has(game: &RatedGame, side: Option<Side>, player: &PlayerId) -> bool {
    side.is_some_and(|side| game.players[side] == *player)
}

/// Whether `loser` loses on purpose, by its last [`WINDOW`] rated games.
pub(super) fn sandbagging(loser: &PlayerId, games: &[RatedGame]) -> Verdict {
    let lost = |game: &&RatedGame| has(game, game.result.winner().map(Side::opponent), loser);
    verdict(games.iter().filter(lost))
}

/// Whether `winner` is given points by `loser`, by the last [`WINDOW`] rated games of the winner.
pub(super) fn boosting(winner: &PlayerId, loser: &PlayerId, last: &[RatedGame]) -> Verdict {
    let won = |game: &&RatedGame| {
        let by = game.result.winner();
        has(game, by, winner) && has(game, by.map(Side::opponent), loser)
    };
    verdict(last.iter().filter(won))
}

fn verdict<'a>(games: impl Iterator<Item = &'a RatedGame>) -> Verdict {
    let given_away: Vec<GameId> =
        games.filter(|game| is_given_away(game)).map(|game| game.id.clone()).collect();
    match given_away.len() {
        ..WARNED => Verdict::Fine,
        WARNED..ALARMED => Verdict::Warning,
        ALARMED.. => Verdict::Alarm(given_away),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use fourfold_engine::{BySide, Variant};

    use super::*;
    use crate::model::rating::elo::{MilliElo, RatingEntry};
    use crate::model::result::GameResult;
    use crate::model::time::UnixMillis;

    /// Given up after eight stones.
    pub(in crate::competition::fair_play) const THROWN: &str = "12345671";
    /// A line after seven.
    const BEATEN: &str = "1212121";
    /// Given up after fourteen.
    pub(in crate::competition::fair_play) const FOUGHT: &str = "12345671234567";

    /// A game that the first of these names won, who moved first.
    pub(in crate::competition::fair_play) fn won(
        number: u64,
        winner: &str,
        loser: &str,
        moves: &str,
    ) -> RatedGame {
        let entry = RatingEntry { before: MilliElo::START, delta: 0, after: MilliElo::START };
        RatedGame {
            number,
            id: format!("g{number}").parse().unwrap(),
            variant: Variant::STANDARD,
            players: BySide { first: winner.parse().unwrap(), second: loser.parse().unwrap() },
            pair: None,
            opening_plies: 0,
            moves: moves.to_owned(),
            result: GameResult::First,
            ended_at: UnixMillis::default(),
            ratings: BySide { first: entry, second: entry },
        }
    }

    /// What is found of eve, who lost these games against these winners.
    #[track_caller]
    fn check(thrown: &[(&str, &str)], expected: &str) {
        let last: Vec<RatedGame> =
            (1..).zip(thrown).map(|(number, (winner, moves))| won(number, winner, "eve", moves)).collect();
        let named = match sandbagging(&"eve".parse().unwrap(), &last) {
            Verdict::Fine => "fine".to_owned(),
            Verdict::Warning => "warning".to_owned(),
            Verdict::Alarm(games) => format!("alarm of {}", games.len()),
        };
        assert_eq!(named, expected, "{thrown:?}");
    }

    #[test]
    fn four_games_of_seven_that_were_thrown_away_are_an_alarm() {
        check(&[("ann", THROWN); 2], "fine");
        check(&[("ann", THROWN); 3], "warning");
        check(&[("ann", THROWN), ("bob", THROWN), ("cid", THROWN), ("dan", THROWN)], "alarm of 4");
    }

    #[test]
    fn who_is_beaten_early_or_gives_up_late_has_thrown_nothing_away() {
        check(&[("ann", BEATEN); 7], "fine");
        check(&[("ann", FOUGHT); 7], "fine");
    }

    #[test]
    fn boosting_needs_the_same_two_and_the_same_winner() {
        let (ann, eve) = ("ann".parse().unwrap(), "eve".parse().unwrap());
        let given =
            |winner, loser| (0..4).map(|number| won(number, winner, loser, THROWN)).collect::<Vec<_>>();
        assert!(
            matches!(boosting(&ann, &eve, &given("ann", "eve")), Verdict::Alarm(games) if games.len() == 4)
        );
        assert_eq!(boosting(&ann, &eve, &given("eve", "ann")), Verdict::Fine);
        assert_eq!(boosting(&ann, &eve, &given("ann", "bob")), Verdict::Fine);
    }
}
