//! Which games teach whom: pure.
//!
//! A game is a lesson if it was decided on the board or by a resignation after some moves: a fallen flag or a lost
//! connection says nothing about the position, and neither does a game that somebody began from a position of their
//! choice, which could be one in which the learner cannot but lose. Games of players who keep them out are none.
//! Nobody may become the main teacher: one who plays the same nonsense all day could teach it otherwise
//! (`TeacherShare`). And if the operator asks for it, games of players who throw away too much are none
//! (`plays_well_enough`).

use std::collections::VecDeque;

use fourfold_bots::GameRecord;
use fourfold_engine::review::Skill;
use fourfold_engine::{Game, Side, SideResult, Variant};

use super::Watches;
use crate::model::ids::PlayerId;
use crate::model::opening::OpeningKind;
use crate::model::result::{EndReason, GameResult};
use crate::storage::judgements::Judgement;
use crate::storage::record::{StoredGame, UnratedReason};

/// Stones on the board from which on a resignation is a lesson: before the first line can be complete, nobody has lost.
const RESIGNED_PLIES_MIN: u32 = 7;

/// Lessons that are looked back on when teachers are counted.
pub(crate) const SHARE_WINDOW: usize = 100;

/// Of these, how many one teacher may give. A quarter: enough that an evening of one person's games is learnt in full
/// (a new trick is learnt within a dozen), too few for any one to outvote the others.
const SHARE_MAX: usize = 25;

/// Who teaches, as far as the bound is concerned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Teacher {
    /// A bot of the house; it has no bound.
    House,
    /// Guests, all together: anybody can be a new one at any time.
    Guests,
    /// An account with all its bots.
    Family(PlayerId),
}

/// The lesson in a finished game: the records to learn, in order. Empty if it is none for this learner.
pub(crate) fn records(game: &StoredGame, watches: Watches, learner: &PlayerId) -> Vec<GameRecord> {
    let sides = Side::BOTH.into_iter().filter(|side| match watches {
        Watches::All => true,
        Watches::Own => game.spec.players[*side] == *learner,
    });
    let Some((played, winner)) = decided(game) else { return Vec::new() };
    let record = |side: Side| GameRecord { game: played.clone(), side, result: SideResult::of(side, winner) };
    sides.map(record).collect()
}

/// The game on the standard board and who won it, if its end says something about the position.
fn decided(game: &StoredGame) -> Option<(Game, Option<Side>)> {
    let settlement = game.settlement.as_ref();
    if settlement.is_some_and(|settled| settled.unrated_because == Some(UnratedReason::Voided)) {
        return None;
    }
    let ending = game.ending().filter(|ending| ending.result != GameResult::Void)?;
    if game.spec.is_left_out()
        || game.spec.variant != Variant::STANDARD
        || game.spec.opening.kind == OpeningKind::Given
    {
        return None;
    }
    let played = Game::from_moves(game.spec.variant, &game.moves()).ok()?;
    let says_something = match ending.reason {
        EndReason::Four | EndReason::Full => true,
        EndReason::Resign => played.ply() >= RESIGNED_PLIES_MIN,
        EndReason::Time
        | EndReason::Illegal
        | EndReason::Left
        | EndReason::Aborted
        | EndReason::Stopped
        | EndReason::BotFailed => false,
    };
    says_something.then_some((played, ending.result.winner()))
}

/// Whether the players who are not of the house kept the result in at least this share of their decisions, in percent.
///
/// `teachers` are those of the first and the second side. The judge filters and never teaches. What it could not solve
/// is no lesson then; a side that had nothing to decide did nothing wrong.
pub(crate) fn plays_well_enough(judgement: Judgement, teachers: &[Teacher], accuracy_min: u32) -> bool {
    let Judgement::Judged(skills) = judgement else { return false };
    let keeps = |skill: &Skill| skill.good_decisions * 100 >= skill.decisions * u64::from(accuracy_min);
    teachers
        .iter()
        .zip([&skills.first, &skills.second])
        .all(|(teacher, skill)| *teacher == Teacher::House || keeps(skill))
}

/// Keeps one teacher from giving more than a part of the last lessons.
#[derive(Clone, Default, Debug)]
pub(crate) struct TeacherShare {
    window: VecDeque<Vec<Teacher>>,
}

impl TeacherShare {
    /// Whether a game of these players may be learnt.
    pub(crate) fn allows(&self, teachers: &[Teacher]) -> bool {
        teachers.iter().all(|teacher| match teacher {
            Teacher::House => true,
            Teacher::Guests | Teacher::Family(_) => {
                self.window.iter().filter(|lesson| lesson.contains(teacher)).count() < SHARE_MAX
            }
        })
    }

    /// Takes note of a lesson.
    pub(crate) fn add(&mut self, teachers: Vec<Teacher>) {
        if self.window.len() == SHARE_WINDOW {
            self.window.pop_front();
        }
        self.window.push_back(teachers);
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::BySide;

    use super::*;
    use crate::storage::conformance::{FIRST_WINS, player_id, spec, whole_game};
    use crate::storage::record::{OpeningSource, Settlement};

    fn game(moves: &str, result: GameResult, reason: EndReason) -> StoredGame {
        StoredGame {
            spec: spec("g", "Ada", "Bob"),
            events: whole_game(moves, result, reason),
            settlement: None,
        }
    }

    #[track_caller]
    fn check(game: &StoredGame, watches: Watches, expected: &[(Side, SideResult)]) {
        let found = records(game, watches, &player_id("Bob"));
        let found: Vec<_> = found.iter().map(|record| (record.side, record.result)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn who_watches_learns_both_sides_and_who_plays_its_own() {
        let won = game(FIRST_WINS, GameResult::First, EndReason::Four);
        check(&won, Watches::All, &[(Side::First, SideResult::Win), (Side::Second, SideResult::Loss)]);
        check(&won, Watches::Own, &[(Side::Second, SideResult::Loss)]);
        let mut others = won.clone();
        others.spec.players.second = player_id("Eve");
        check(&others, Watches::Own, &[]);
    }

    #[test]
    fn only_ends_that_say_something_are_lessons() {
        let short = game("444", GameResult::First, EndReason::Resign);
        check(&short, Watches::Own, &[]);
        check(
            &game("4453221", GameResult::First, EndReason::Resign),
            Watches::Own,
            &[(Side::Second, SideResult::Loss)],
        );
        for reason in [EndReason::Time, EndReason::Left, EndReason::Illegal, EndReason::BotFailed] {
            check(&game("4453221", GameResult::First, reason), Watches::All, &[]);
        }
        check(&game("4453221", GameResult::Void, EndReason::Stopped), Watches::All, &[]);
        let mut wide = game(FIRST_WINS, GameResult::First, EndReason::Four);
        wide.spec.variant = "9x6".parse().unwrap();
        check(&wide, Watches::All, &[]);
        let mut given = game(FIRST_WINS, GameResult::First, EndReason::Four);
        given.spec.opening = OpeningSource { kind: OpeningKind::Given, moves: "121212".into() };
        check(&given, Watches::All, &[]);
        let taken_out = Settlement { unrated_because: Some(UnratedReason::Voided), ..Settlement::default() };
        let voided = game(FIRST_WINS, GameResult::First, EndReason::Four);
        check(&StoredGame { settlement: Some(taken_out), ..voided }, Watches::All, &[]);
        let mut load = game(FIRST_WINS, GameResult::First, EndReason::Four);
        load.spec.unrated_because = Some(UnratedReason::Load);
        check(&load, Watches::All, &[]);
        let live = StoredGame { events: Vec::new(), ..wide };
        check(&live, Watches::All, &[]);
    }

    #[test]
    fn who_throws_too_much_away_teaches_nothing_but_the_house_always_does() {
        let skill = |good_decisions, decisions| Skill { decisions, good_decisions, ..Skill::default() };
        let judged = |first, second| Judgement::Judged(BySide { first, second });
        let guests = [Teacher::Guests, Teacher::Guests];
        let check = |judgement, teachers: &[Teacher], expected| {
            assert_eq!(plays_well_enough(judgement, teachers, 50), expected, "{judgement:?}");
        };
        check(judged(skill(2, 4), skill(4, 4)), &guests, true);
        check(judged(skill(2, 4), skill(3, 7)), &guests, false);
        check(judged(skill(0, 0), skill(1, 1)), &guests, true);
        check(judged(skill(4, 4), skill(0, 7)), &[Teacher::Guests, Teacher::House], true);
        check(judged(skill(0, 7), skill(4, 4)), &[Teacher::Guests, Teacher::House], false);
        check(Judgement::Unjudged, &guests, false);
    }

    #[test]
    fn one_teacher_gives_a_quarter_at_most() {
        let mut share = TeacherShare::default();
        let ada = || vec![Teacher::House, Teacher::Family(player_id("Ada"))];
        for lesson in 0..SHARE_MAX {
            assert!(share.allows(&ada()), "{lesson}");
            share.add(ada());
        }
        assert!(!share.allows(&ada()));
        assert!(share.allows(&[Teacher::House, Teacher::Guests]), "others may still");
        for _ in 0..SHARE_WINDOW - SHARE_MAX {
            share.add(vec![Teacher::House, Teacher::House]);
        }
        assert!(!share.allows(&ada()), "its lessons are still among the last hundred");
        share.add(vec![Teacher::House, Teacher::House]);
        assert!(share.allows(&ada()));
    }
}
