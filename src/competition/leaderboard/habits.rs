//! How a player plays, from its last rated games: recent form, openings, columns. Pure.

use std::collections::BTreeMap;

use fourfold_engine::{Side, SideResult, Variant, WinDrawLoss, notation};

use crate::model::ids::{GameId, PlayerId};
use crate::storage::published::RatedGame;

/// Games that are looked at: what was longer ago says little about now.
pub(crate) const GAMES_MAX: u32 = 500;

/// Results that are recent form.
const FORM: usize = 20;

/// Moves that make an opening, two of each side.
const OPENING_PLIES: usize = 4;

/// Openings that are listed, those played most often first.
const OPENINGS_MAX: usize = 6;

/// A game of the recent form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Recent {
    pub(crate) game: GameId,
    pub(crate) opponent: PlayerId,
    pub(crate) result: SideResult,
}

/// How games with one opening ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OpeningHabit {
    pub(crate) moves: String,
    /// As the player sees them.
    pub(crate) score: WinDrawLoss,
}

/// How a player plays on one board.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Habits {
    /// Games that were looked at.
    pub(crate) games: u64,
    /// The last of them, the newest first.
    pub(crate) form: Vec<Recent>,
    /// By how often they were played.
    pub(crate) openings: Vec<OpeningHabit>,
    /// How often each column was chosen, from the left; moves of a given opening are nobody's choice.
    pub(crate) columns: Vec<u64>,
}

impl Habits {
    /// Looks at games that the player played on this board, the newest first.
    pub(crate) fn new(player: &PlayerId, variant: Variant, games: &[RatedGame]) -> Self {
        let mut habits = Self {
            columns: vec![0; usize::from(variant.width())],
            games: games.len() as u64,
            ..Self::default()
        };
        let mut openings: BTreeMap<&str, WinDrawLoss> = BTreeMap::new();
        for game in games {
            let side = if game.players.first == *player { Side::First } else { Side::Second };
            let result = SideResult::of(side, game.result.winner());
            if habits.form.len() < FORM {
                let opponent = game.players[side.opponent()].clone();
                habits.form.push(Recent { game: game.id.clone(), opponent, result });
            }
            if let Some(opening) = game.moves.get(..OPENING_PLIES) {
                openings.entry(opening).or_default().count(result);
            }
            habits.count_columns(game, side);
        }
        let opening = |(moves, score): (&str, WinDrawLoss)| OpeningHabit { moves: moves.to_owned(), score };
        habits.openings = openings.into_iter().map(opening).collect();
        habits.openings.sort_by_key(|opening| std::cmp::Reverse(opening.score.games()));
        habits.openings.truncate(OPENINGS_MAX);
        habits
    }

    fn count_columns(&mut self, game: &RatedGame, side: Side) {
        let columns = notation::parse_moves(&game.moves).unwrap_or_default();
        let own = |ply: usize| ply.is_multiple_of(2) == (side == Side::First);
        for (_, column) in
            columns.into_iter().enumerate().filter(|(ply, _)| *ply >= game.opening_plies && own(*ply))
        {
            if let Some(count) = self.columns.get_mut(usize::from(column.number()) - 1) {
                *count += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::BySide;

    use super::*;
    use crate::model::rating::elo::{Standing, settle};
    use crate::model::result::GameResult;
    use crate::model::time::UnixMillis;
    use crate::storage::conformance::player_id;

    fn game(
        id: &str,
        first: &str,
        second: &str,
        opening_plies: usize,
        moves: &str,
        result: GameResult,
    ) -> RatedGame {
        RatedGame {
            number: 1,
            id: id.parse().unwrap(),
            variant: Variant::STANDARD,
            players: BySide { first: player_id(first), second: player_id(second) },
            pair: None,
            opening_plies,
            moves: moves.to_owned(),
            result,
            ended_at: UnixMillis::default(),
            ratings: settle(Standing::START, Standing::START, None),
        }
    }

    #[test]
    fn choices_of_the_player_alone_are_counted() {
        let games = [
            game("a", "Ada", "Bob", 2, "4455667", GameResult::First),
            game("b", "Bob", "Ada", 0, "44551", GameResult::First),
            game("c", "Bob", "Ada", 0, "1", GameResult::Draw),
        ];
        let habits = Habits::new(&player_id("Ada"), Variant::STANDARD, &games);
        // Of the first game 5, 6 and 7, of the second 4 and 5.
        assert_eq!(habits.columns, [0, 0, 0, 1, 2, 1, 1]);
        let results: Vec<SideResult> = habits.form.iter().map(|recent| recent.result).collect();
        assert_eq!(results, [SideResult::Win, SideResult::Loss, SideResult::Draw]);
        assert_eq!(habits.form[0].opponent, player_id("Bob"));
        let score = WinDrawLoss { wins: 1, draws: 0, losses: 1 };
        assert_eq!(habits.openings, [OpeningHabit { moves: "4455".into(), score }]);
        assert_eq!(habits.games, 3);
    }

    #[test]
    fn whoever_has_not_played_has_no_habits() {
        let habits = Habits::new(&player_id("Ada"), Variant::STANDARD, &[]);
        assert_eq!(habits, Habits { columns: vec![0; 7], ..Habits::default() });
    }
}
