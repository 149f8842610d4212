//! Which game in progress is shown to whoever just wants to see one: pure.
//!
//! A game is worth watching for who plays, how well, and how tense it is by the solver: how often the result changed
//! hands, whether it is still open, whether there is something to get wrong right now. What is shown stays for a while,
//! and gives way only to something clearly better, so that the picture does not hop.

use std::time::Duration;

use fourfold_engine::solver::{ColumnScores, Value};
use fourfold_engine::{Position, Side};

use crate::model::ids::GameId;

/// How long a game stays at least, unless it ends.
const DWELL: Duration = Duration::from_secs(20);

/// By how much another game must be better to take its place: half of what a person at the board counts.
const MARGIN: i32 = 150;

/// What each person at the board counts, in Elo points of the mean rating: people are watched rather than bots.
const PERSON: i32 = 300;

/// What each change of the result counts, up to [`CHANGES_MAX`].
const CHANGE: i32 = 60;

/// More changes say that nobody knows what they do.
const CHANGES_MAX: u32 = 4;

/// What it counts that neither side has a won game.
const OPEN: i32 = 80;

/// What it counts that the side to move can get it wrong.
const DECISION: i32 = 60;

/// What it counts that the end is near.
const FINISH: i32 = 60;

/// A proven win within so many plies is near: three stones of the winner's.
const FINISH_PLIES: u32 = 5;

/// How a game has gone so far, by the positions that were solved.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Story {
    /// Stones on the board at the last look; `None` before the first.
    pub(crate) seen_ply: Option<u32>,
    /// How it stood for the first side then.
    value: Option<Value>,
    /// How often that changed.
    changes: u32,
    is_decision: bool,
    is_finish: bool,
}

impl Story {
    /// Goes on with a position of the game and the scores of its columns.
    pub(crate) fn after(self, position: &Position, scores: &ColumnScores) -> Self {
        let Some(best) = scores.best() else { return self };
        let value = match position.side_to_move() {
            Side::First => best.sign(),
            Side::Second => -best.sign(),
        };
        let changed = self.value.is_some_and(|before| before != value);
        Self {
            seen_ply: Some(position.ply()),
            value: Some(value),
            changes: self.changes + u32::from(changed),
            is_decision: scores.iter().any(|(_, score)| score.sign() != best.sign()),
            is_finish: best.sign() != Value::Draw && best.plies_to_end(position) <= FINISH_PLIES,
        }
    }

    /// Goes on with a position that cannot be solved.
    pub(crate) fn without_answer(self, position: &Position) -> Self {
        Self { seen_ply: Some(position.ply()), ..self }
    }

    /// How tense it is, in the points of [`Candidate::worth`].
    pub(crate) fn tension(&self) -> i32 {
        let changes = self.changes.min(CHANGES_MAX).cast_signed();
        let points =
            [(self.value == Some(Value::Draw), OPEN), (self.is_decision, DECISION), (self.is_finish, FINISH)];
        CHANGE * changes + points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum::<i32>()
    }
}

/// A game that could be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) game: &'a GameId,
    pub(crate) strength: i32,
    /// How many of the players are people.
    pub(crate) people: i32,
    /// How it has gone.
    pub(crate) story: Story,
}

impl Candidate<'_> {
    /// How much it is worth to watch, in Elo points of the mean rating.
    pub(crate) fn worth(&self) -> i32 {
        self.strength / 2 + PERSON * self.people + self.story.tension()
    }
}

/// What is on show, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OnShow<'a> {
    pub(crate) game: &'a GameId,
    /// Since when, as time that has passed.
    pub(crate) shown_for: Duration,
}

/// The game to show: what is on show while it lasts, unless it was there for long enough and another is clearly better.
pub(crate) fn pick<'a>(candidates: &[Candidate<'a>], on_show: Option<OnShow<'_>>) -> Option<&'a GameId> {
    // Of equal ones the lesser name, so that the order of the list does not matter.
    let best =
        candidates.iter().max_by_key(|candidate| (candidate.worth(), std::cmp::Reverse(candidate.game)))?;
    let Some(on_show) = on_show else { return Some(best.game) };
    let Some(current) = candidates.iter().find(|candidate| candidate.game == on_show.game) else {
        return Some(best.game);
    };
    let stays = on_show.shown_for < DWELL || best.worth() < current.worth() + MARGIN;
    Some(if stays { current.game } else { best.game })
}

#[cfg(test)]
mod tests {
    use fourfold_engine::solver::Score;
    use fourfold_engine::{Column, Game, Variant};

    use super::*;

    fn scores(numbers: &[i32]) -> ColumnScores {
        let column = |index: usize| Column::from_index(index).unwrap();
        numbers.iter().enumerate().map(|(index, &number)| (column(index), Score::new(number))).collect()
    }

    fn position(moves: &str) -> Position {
        *Game::from_moves(Variant::STANDARD, moves).unwrap().position()
    }

    fn game(id: &str) -> GameId {
        id.parse().unwrap()
    }

    fn candidate(game: &GameId, strength: i32, people: i32) -> Candidate<'_> {
        Candidate { game, strength, people, story: Story::default() }
    }

    #[test]
    fn a_story_counts_how_often_the_result_changed_hands() {
        let story = Story::default().after(&position(""), &scores(&[0, 1, 0]));
        let story = story.after(&position("1"), &scores(&[0, 0, 0]));
        assert_eq!((story.changes, story.is_decision), (1, false), "the first side won, now it is even");
        let story = story.after(&position("12"), &scores(&[3, -1, 0]));
        assert_eq!((story.changes, story.seen_ply, story.tension()), (2, Some(2), 2 * CHANGE + DECISION));
        let same = story.after(&position("121"), &scores(&[-3, -3, -3]));
        assert_eq!(same.changes, 2, "a win for the first side is a loss for the second");
        assert_eq!(same.after(&position("1212121"), &ColumnScores::default()), same, "it is over");
    }

    #[test]
    fn a_near_end_is_tense() {
        let near = Story::default().after(&position("121212"), &scores(&[18, 1, 1]));
        assert!(near.is_finish);
        let far = Story::default().after(&position(""), &scores(&[1, 1, 1]));
        assert!(!far.is_finish && far.tension() == 0);
    }

    #[test]
    fn people_are_shown_rather_than_bots_unless_these_are_much_better() {
        let (people, bots) = (game("people"), game("bots"));
        let choose = |strength| {
            let all = [candidate(&people, 2_400, 2), candidate(&bots, strength, 0)];
            pick(&all, None).unwrap().as_str().to_owned()
        };
        assert_eq!(choose(3_400), "people");
        assert_eq!(choose(3_800), "bots");
        assert_eq!(pick(&[], None), None);
    }

    #[test]
    fn the_picture_does_not_hop() {
        let (old, new) = (game("old"), game("new"));
        let choose = |strength, seconds| {
            let on_show = OnShow { game: &old, shown_for: Duration::from_secs(seconds) };
            let all = [candidate(&old, 3_000, 0), candidate(&new, strength, 0)];
            pick(&all, Some(on_show)).unwrap().as_str().to_owned()
        };
        assert_eq!(choose(3_200, 600), "old", "a little better");
        assert_eq!(choose(5_000, 5), "old", "it has just begun to be shown");
        assert_eq!(choose(3_400, 600), "new");
        let gone = OnShow { game: &game("gone"), shown_for: Duration::ZERO };
        assert_eq!(pick(&[candidate(&old, 0, 0)], Some(gone)), Some(&old), "what is over makes room");
    }
}
