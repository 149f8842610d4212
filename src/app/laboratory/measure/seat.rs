//! Where a bot sits while it is measured: what it is asked, and what comes of it.

use std::sync::atomic::AtomicBool;

use fourfold_arena::measure;
use fourfold_arena::measure::classes::PositionClass;
use fourfold_arena::measure::solved::SolvedPosition;
use fourfold_arena::measure::subject::Subject;
use fourfold_arena::measure::traps::{self, TrapGame};
use fourfold_bots::{Bot, BotError, think};
use fourfold_engine::openings::Opening;
use fourfold_engine::review::{Judge, Verdict};
use fourfold_engine::solver::{ColumnScores, Solver};
use fourfold_engine::{Column, Position, Side};

/// A piece of work.
#[derive(Clone, Copy, Debug)]
pub(super) enum MeasureTask<'a> {
    /// Choose where the worth of all moves is known.
    Judge(&'a Position, &'a ColumnScores),
    /// Choose in a position of a class.
    Classify(PositionClass, &'a SolvedPosition),
    /// Play the perfect player: of this side the game of this number.
    Play { side: Side, game: u64 },
    /// Play one of those that err, by its place among them, from an opening: the game of this number.
    Trap { opponent: usize, opening: &'a Opening, side: Side, game: u64 },
}

/// What came of it.
#[derive(Debug)]
pub(super) enum TaskResult {
    Judged(Verdict),
    Classified(PositionClass, ChoiceEffect),
    Played { side: Side, points: f64 },
    Trapped { opponent: usize, game: TrapGame },
}

/// Whether a choice kept the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ChoiceEffect {
    Good,
    Mistake,
}

/// One bot after another, all made alike.
pub(super) struct MeasuredBot<'a> {
    subject: &'a Subject,
    seed: u64,
    /// Kept from task to task unless it draws: then what it draws must not depend on what it did before.
    bot: Option<Box<dyn Bot>>,
    /// Judges the games against those that err.
    judge: Judge,
}

impl<'a> MeasuredBot<'a> {
    pub(super) fn new(subject: &'a Subject, seed: u64) -> Self {
        Self { subject, seed, bot: None, judge: Judge::new(Solver::new()) }
    }

    /// Does one task. What comes of one that was told to stop is worth nothing, or there is none.
    ///
    /// # Errors
    ///
    /// The bot is broken, or plays what is not legal.
    pub(super) fn perform(
        &mut self,
        task: MeasureTask<'_>,
        stop: &AtomicBool,
    ) -> Result<Option<TaskResult>, BotError> {
        let done = match task {
            MeasureTask::Judge(position, scores) => {
                let column = self.choose(position)?;
                TaskResult::Judged(Verdict::new(position.ply(), column, scores))
            }
            MeasureTask::Classify(class, solved) => {
                let column = self.choose(solved.position())?;
                let choice = if solved.is_good(column) { ChoiceEffect::Good } else { ChoiceEffect::Mistake };
                TaskResult::Classified(class, choice)
            }
            MeasureTask::Play { side, game } => {
                let seed = self.seed.wrapping_add(game);
                let bot = self.bot(game)?;
                let choose = |position: &Position| choose(bot, position);
                let points = measure::points_against_perfect(side, seed, stop, choose)?;
                TaskResult::Played { side, points }
            }
            MeasureTask::Trap { opponent, opening, side, game } => {
                let Self { subject, seed, bot, judge } = self;
                let bot = seated(bot, subject, seed.wrapping_add(game))?;
                let choose = |position: &Position| choose(bot, position);
                let played = traps::play(opponent, opening, side, judge, stop, choose)?;
                let Some(game) = played else { return Ok(None) };
                TaskResult::Trapped { opponent, game }
            }
        };
        Ok(Some(done))
    }

    fn choose(&mut self, position: &Position) -> Result<Column, BotError> {
        choose(self.bot(0)?, position)
    }

    /// The bot for a task; bots that draw have a seed of their own in each game, `number`.
    fn bot(&mut self, number: u64) -> Result<&mut dyn Bot, BotError> {
        seated(&mut self.bot, self.subject, self.seed.wrapping_add(number))
    }
}

/// The bot that sits there, or a new one with this seed if there is none or it draws.
fn seated<'a>(
    seat: &'a mut Option<Box<dyn Bot>>,
    subject: &Subject,
    seed: u64,
) -> Result<&'a mut dyn Bot, BotError> {
    let kept = seat.take().filter(|_| !subject.draws());
    let bot = match kept {
        Some(bot) => bot,
        None => subject.build(seed)?,
    };
    Ok(&mut **seat.insert(bot))
}

fn choose(bot: &mut dyn Bot, position: &Position) -> Result<Column, BotError> {
    let column = think::choose(bot, position, None)?.column;
    match position.play(column) {
        Ok(_) => Ok(column),
        Err(cause) => Err(BotError::Broken { bot: "the bot", reason: cause.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use fourfold_bots::{MoveBudget, Recipe};
    use fourfold_engine::Variant;
    use fourfold_engine::search::Score;

    use super::*;

    fn perform(bot: &str, task: MeasureTask<'_>) -> Vec<String> {
        let recipe = Subject::House(Recipe::new(bot.parse().unwrap(), Variant::STANDARD, None).unwrap());
        let mut seat = MeasuredBot::new(&recipe, 7);
        let stop = AtomicBool::new(false);
        (0..20).map(|_| format!("{:?}", seat.perform(task, &stop).unwrap().unwrap())).collect()
    }

    /// What a bot would be that goes on in its draws from task to task.
    struct Used;

    impl Bot for Used {
        fn choose(
            &mut self,
            _position: &Position,
            _budget: MoveBudget,
            _stop: &AtomicBool,
        ) -> Result<fourfold_bots::Choice, BotError> {
            Err(BotError::GameOver)
        }
    }

    #[test]
    fn what_a_bot_draws_does_not_depend_on_what_it_did_before() {
        let (class, solved) = &fourfold_arena::measure::classes::shipped()[0];
        let empty = Position::new(Variant::STANDARD);
        let scores: ColumnScores =
            empty.legal_columns().map(|column| (column, Score::new(i32::from(column.number())))).collect();
        for task in [MeasureTask::Classify(*class, solved), MeasureTask::Judge(&empty, &scores)] {
            for (bot, is_kept) in [("random", false), ("random:seed=1", true), ("greedy", true)] {
                let recipe =
                    Subject::House(Recipe::new(bot.parse().unwrap(), Variant::STANDARD, None).unwrap());
                let mut seat = MeasuredBot { bot: Some(Box::new(Used)), ..MeasuredBot::new(&recipe, 7) };
                let done = seat.perform(task, &AtomicBool::new(false));
                assert_eq!(done.is_err(), is_kept, "{bot}: {done:?}");
            }
        }
    }

    #[test]
    fn bots_draw_by_the_number_of_the_game_and_positions_are_the_first() {
        let recipe = Subject::House(Recipe::new("random".parse().unwrap(), Variant::STANDARD, None).unwrap());
        let empty = Position::new(Variant::STANDARD);
        let first = |bot: &mut dyn Bot| choose(bot, &empty).unwrap();
        let mut seat = MeasuredBot::new(&recipe, 7);
        for number in [0, 1, 5] {
            let expected = first(&mut *recipe.build(7 + number).unwrap());
            assert_eq!(first(seat.bot(number).unwrap()), expected, "game {number}: its number is added once");
        }
    }

    #[test]
    fn a_choice_in_a_class_is_good_or_a_mistake() {
        let (class, solved) = fourfold_arena::measure::classes::shipped()
            .iter()
            .find(|(_, solved)| solved.is_decision())
            .unwrap();
        let done = perform("perfect", MeasureTask::Classify(*class, solved));
        assert_eq!(done[0], format!("{:?}", TaskResult::Classified(*class, ChoiceEffect::Good)));
    }
}
