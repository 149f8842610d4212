//! Who is to be told that it is their turn in a game by correspondence: pure, the caller says how the games stand.
//!
//! What was told is not stored. Whoever had a turn long before the daemon began was told by the process before.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::ids::{GameId, PlayerId};
use crate::play::open_turns::OpenTurn;

/// How often it is looked for them.
pub(super) const LOOK_EVERY: Duration = Duration::from_mins(5);

/// How long a turn has lasted when its player is told of it: who has just played may answer at once.
const TOLD_AFTER: Duration = Duration::from_mins(10);

/// What is left for a move at most when its player is told again: an evening, so that there is one to look in.
const LITTLE_LEFT: Duration = Duration::from_hours(8);

/// What somebody was told of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Told {
    ply: u32,
    /// That it has come; that little time is left.
    has_come: bool,
    ends_soon: bool,
}

/// What was told since the daemon began.
#[derive(Debug, Default)]
pub(super) struct TurnsTold {
    by_game: HashMap<GameId, Told>,
    has_looked: bool,
}

impl TurnsTold {
    /// Those whose players are to be told now, of all games as they stand. `is_there` says of whom this is no news, as
    /// they see it.
    pub(super) fn due(
        &mut self,
        games: Vec<OpenTurn>,
        is_there: impl Fn(&PlayerId) -> bool,
    ) -> Vec<OpenTurn> {
        let is_first_look = !std::mem::replace(&mut self.has_looked, true);
        let mut before = std::mem::take(&mut self.by_game);
        let mut is_news = |turn: &OpenTurn| self.is_news(turn, before.remove(&turn.game), is_first_look);
        games.into_iter().filter(|turn| is_news(turn) && !is_there(&turn.mover.id)).collect()
    }

    fn is_news(&mut self, turn: &OpenTurn, before: Option<Told>, is_first_look: bool) -> bool {
        let known = before.filter(|told| told.ply == turn.ply);
        let has_come = turn.lasted >= TOLD_AFTER;
        let known =
            known.unwrap_or(Told { ply: turn.ply, has_come: is_first_look && has_come, ends_soon: false });
        let ends_soon = turn.left <= LITTLE_LEFT && has_come;
        let is_news = (has_come && !known.has_come) || (ends_soon && !known.ends_soon);
        let told = Told {
            ply: turn.ply,
            has_come: known.has_come || has_come,
            ends_soon: known.ends_soon || ends_soon,
        };
        self.by_game.insert(turn.game.clone(), told);
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::player::{Identity, PlayerKind};

    fn person(name: &str) -> Identity {
        let (id, name) = (name.parse().unwrap(), name.parse().unwrap());
        Identity { id, name, kind: PlayerKind::Human, owner: None }
    }

    fn turn(ply: u32, lasted_mins: u64, left_hours: u64) -> OpenTurn {
        OpenTurn {
            game: "g1".parse().unwrap(),
            mover: person("Ada"),
            opponent: person("Bob"),
            ply,
            lasted: Duration::from_mins(lasted_mins),
            left: Duration::from_hours(left_hours),
        }
    }

    #[track_caller]
    fn check(told: &mut TurnsTold, turn: &OpenTurn, expected: bool) {
        let due = told.due(vec![turn.clone()], |_| false);
        assert_eq!(!due.is_empty(), expected, "{turn:?}");
    }

    #[test]
    fn a_turn_is_told_once_and_again_when_little_time_is_left() {
        let mut told = TurnsTold::default();
        assert_eq!(told.due(Vec::new(), |_| false), []);
        check(&mut told, &turn(1, 5, 72), false);
        check(&mut told, &turn(1, 10, 72), true);
        check(&mut told, &turn(1, 600, 62), false);
        check(&mut told, &turn(1, 3_900, 7), true);
        check(&mut told, &turn(1, 3_910, 7), false);
        check(&mut told, &turn(3, 12, 72), true);
    }

    #[test]
    fn whoever_is_there_is_not_written_to() {
        let mut told = TurnsTold::default();
        assert_eq!(told.due(Vec::new(), |_| false), []);
        assert_eq!(told.due(vec![turn(1, 20, 72)], |player| player.as_str() == "Ada"), []);
        check(&mut told, &turn(1, 30, 72), false);
    }

    #[test]
    fn a_start_tells_nobody_again() {
        let mut told = TurnsTold::default();
        check(&mut told, &turn(1, 600, 62), false);
        check(&mut told, &turn(1, 3_900, 7), true);
        let mut fresh = TurnsTold::default();
        check(&mut fresh, &turn(2, 1, 72), false);
        check(&mut fresh, &turn(2, 11, 72), true);
    }

    #[test]
    fn games_that_are_over_are_forgotten() {
        let mut told = TurnsTold::default();
        assert_eq!(told.due(vec![turn(1, 20, 72)], |_| false), []);
        assert_eq!(told.due(Vec::new(), |_| false), []);
        assert!(told.by_game.is_empty());
    }
}
