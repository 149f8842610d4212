//! Who is to be told that it is their turn in a game by correspondence, by mail or by what a browser shows: pure, the
//! caller says how the games stand.
//!
//! What was told is not stored. Whoever had a turn long before the daemon began was told by the process before.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::ids::{GameId, PlayerId};
use crate::play::open_turns::OpenTurn;

/// When somebody is told of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TellingRule {
    /// How often it is looked for them.
    pub(super) look_every: Duration,
    /// How long a turn has lasted when its player is told of it.
    pub(super) told_after: Duration,
    /// What is left for a move at most when its player is told again, if that is done.
    pub(super) little_left: Option<Duration>,
}

/// By mail: who has just played may answer at once, and nobody wants many mails. Once more when an evening is left, so
/// that there is one to look in.
pub(super) const BY_MAIL: TellingRule = TellingRule {
    look_every: Duration::from_mins(5),
    told_after: Duration::from_mins(10),
    little_left: Some(Duration::from_hours(8)),
};

/// By what a browser shows, which takes the place of what it showed before of the same game: sooner, and once a turn.
pub(super) const BY_PUSH: TellingRule = TellingRule {
    look_every: Duration::from_secs(30),
    told_after: Duration::from_mins(1),
    little_left: None,
};

/// What somebody was told of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Told {
    ply: u32,
    /// That it has come; that little time is left.
    has_come: bool,
    ends_soon: bool,
}

/// A turn of which somebody is to be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DueTurn {
    pub(super) turn: OpenTurn,
    /// Whether it is said for the first time: not that little time is left.
    pub(super) is_first: bool,
}

/// What was told since the daemon began.
#[derive(Debug)]
pub(super) struct TurnsTold {
    rule: TellingRule,
    by_game: HashMap<GameId, Told>,
    has_looked: bool,
}

impl TurnsTold {
    pub(super) fn by(rule: TellingRule) -> Self {
        Self { rule, by_game: HashMap::new(), has_looked: false }
    }

    pub(super) fn rule(&self) -> TellingRule {
        self.rule
    }

    /// Those whose players are to be told now, of all games as they stand. `is_there` says of whom this is no news, as
    /// they see it.
    pub(super) fn due(&mut self, games: Vec<OpenTurn>, is_there: impl Fn(&PlayerId) -> bool) -> Vec<DueTurn> {
        let is_first_look = !std::mem::replace(&mut self.has_looked, true);
        let mut before = std::mem::take(&mut self.by_game);
        let mut due = |turn: OpenTurn| {
            let known = before.remove(&turn.game);
            self.due_now(turn, known, is_first_look)
        };
        let due: Vec<DueTurn> = games.into_iter().filter_map(&mut due).collect();
        due.into_iter().filter(|due| !is_there(&due.turn.mover.id)).collect()
    }

    fn due_now(&mut self, turn: OpenTurn, before: Option<Told>, is_first_look: bool) -> Option<DueTurn> {
        let known = before.filter(|told| told.ply == turn.ply);
        let has_come = turn.lasted >= self.rule.told_after;
        let known =
            known.unwrap_or(Told { ply: turn.ply, has_come: is_first_look && has_come, ends_soon: false });
        let ends_soon = has_come && self.rule.little_left.is_some_and(|little| turn.left <= little);
        let is_news = (has_come && !known.has_come) || (ends_soon && !known.ends_soon);
        let told = Told {
            ply: turn.ply,
            has_come: known.has_come || has_come,
            ends_soon: known.ends_soon || ends_soon,
        };
        self.by_game.insert(turn.game.clone(), told);
        is_news.then_some(DueTurn { turn, is_first: !ends_soon })
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

    #[test]
    fn a_browser_shows_a_turn_once_and_soon() {
        let mut told = TurnsTold::by(BY_PUSH);
        assert_eq!(told.due(Vec::new(), |_| false), []);
        check(&mut told, &turn(1, 0, 72), false);
        check(&mut told, &turn(1, 1, 72), true);
        check(&mut told, &turn(1, 3_900, 7), false);
        check(&mut told, &turn(3, 2, 72), true);
    }

    #[test]
    fn it_is_told_apart_whether_a_turn_has_come_or_ends_soon() {
        let mut told = TurnsTold::by(BY_MAIL);
        assert_eq!(told.due(Vec::new(), |_| false), []);
        let [first] = told.due(vec![turn(1, 10, 72)], |_| false).try_into().unwrap();
        let [last] = told.due(vec![turn(1, 3_900, 7)], |_| false).try_into().unwrap();
        assert_eq!((first.is_first, last.is_first), (true, false));
    }

    #[track_caller]
    fn check(told: &mut TurnsTold, turn: &OpenTurn, expected: bool) {
        let due = told.due(vec![turn.clone()], |_| false);
        assert_eq!(!due.is_empty(), expected, "{turn:?}");
    }

    #[test]
    fn a_turn_is_told_once_and_again_when_little_time_is_left() {
        let mut told = TurnsTold::by(BY_MAIL);
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
        let mut told = TurnsTold::by(BY_MAIL);
        assert_eq!(told.due(Vec::new(), |_| false), []);
        assert_eq!(told.due(vec![turn(1, 20, 72)], |player| player.as_str() == "Ada"), []);
        check(&mut told, &turn(1, 30, 72), false);
    }

    #[test]
    fn a_start_tells_nobody_again() {
        let mut told = TurnsTold::by(BY_MAIL);
        check(&mut told, &turn(1, 600, 62), false);
        check(&mut told, &turn(1, 3_900, 7), true);
        let mut fresh = TurnsTold::by(BY_MAIL);
        check(&mut fresh, &turn(2, 1, 72), false);
        check(&mut fresh, &turn(2, 11, 72), true);
    }

    #[test]
    fn games_that_are_over_are_forgotten() {
        let mut told = TurnsTold::by(BY_MAIL);
        assert_eq!(told.due(vec![turn(1, 20, 72)], |_| false), []);
        assert_eq!(told.due(Vec::new(), |_| false), []);
        assert!(told.by_game.is_empty());
    }
}
