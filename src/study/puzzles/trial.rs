//! Puzzles put to bots of the house before anybody has tried them: which of them solve which. Pure: bots may look at so
//! many nodes, whatever the time, and what they draw follows from the seed.

use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_bots::{Bot, BotError, BotSpec, MoveBudget, registry};
use fourfold_engine::notation::parse_moves;
use fourfold_engine::{Column, Game, Position, Variant};

use super::grading::{LevelShare, grade_by_levels};
use crate::storage::puzzles::NewPuzzle;
use crate::system::config::HouseBotConfigs;

/// Nodes that a bot may look at for a move, if its settings do not end it before: those by which the ratings of the
/// line-up were measured (`docs/leaderboard.md`).
const NODES_MAX: u64 = 150_000;

/// How often bots are asked of whose moves chance decides: one attempt in sixteen is worth 6 % of a share.
const DRAWN_TRIES: u32 = 16;

/// How often those are asked that draw, but think long and mostly agree with themselves.
const SLOW_TRIES: u32 = 4;

/// What is known of a bot that tries puzzles, beside its entry in the line-up.
#[derive(Clone, Copy, Debug)]
struct Seat {
    /// What the line-up calls it.
    name: &'static str,
    /// With which settings it was rated, where those of the line-up name a time.
    spec: Option<&'static str>,
    /// Attempts at each puzzle.
    tries: u32,
}

const fn seat(name: &'static str, tries: u32) -> Seat {
    Seat { name, spec: None, tries }
}

/// Who tries them: the characters of all levels but the last, which never errs and so tells nothing, and what stands
/// between them in the line-up. Of `perfect` only the level that beginners meet takes part: what decides there is what
/// it overlooks.
const SEATS: [Seat; 15] = [
    seat("random", DRAWN_TRIES),
    seat("stupid", 1),
    seat("montecarlo-50", DRAWN_TRIES),
    seat("greedy", 1),
    seat("perfect-4", DRAWN_TRIES),
    seat("negamax-2", 1),
    seat("montecarlo", SLOW_TRIES),
    seat("lines69", DRAWN_TRIES),
    seat("negamax", 1),
    seat("negamax-6", 1),
    seat("negamax-8", 1),
    seat("cutoff", 1),
    Seat { name: "mcts", spec: Some("mcts:playouts=20000"), tries: SLOW_TRIES },
    seat("alphabeta", 1),
    seat("ntuple", 1),
];

/// A bot that tries puzzles.
#[derive(Clone, Debug)]
pub(crate) struct TrialBot {
    pub(crate) name: &'static str,
    spec: BotSpec,
    /// On the scale of the line-up, in Elo points.
    pub(crate) rating: i32,
    /// Attempts at each puzzle; one if it always plays the same.
    pub(crate) tries: u32,
}

/// The bots that try puzzles, from weak to strong.
///
/// # Panics
///
/// Never: a test finds all of them in the line-up that ships.
pub(crate) fn bots() -> Vec<TrialBot> {
    let line_up = HouseBotConfigs::default();
    let of_seat = |seat: Seat| {
        let entry =
            line_up.0.iter().find(|entry| entry.name.as_str() == seat.name).expect("is in the line-up");
        let spec = seat.spec.map_or_else(|| entry.spec.to_string(), str::to_owned);
        TrialBot {
            name: seat.name,
            spec: spec.parse().expect("is a bot of ours"),
            rating: entry.elo().expect("is rated"),
            tries: seat.tries,
        }
    };
    SEATS.into_iter().map(of_seat).collect()
}

/// How a bot did at a puzzle.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct TrialRecord {
    pub(crate) tries: u32,
    /// Attempts whose first move was right.
    pub(crate) begun: u32,
    /// Attempts whose moves were all right.
    pub(crate) solved: u32,
}

/// A puzzle that all have tried.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    /// By the order of [`bots`].
    pub(crate) records: Vec<TrialRecord>,
    /// The chance that who plays any column solves it.
    pub(crate) luck: f64,
    /// How hard it is by that.
    pub(crate) grade: u32,
}

/// Lets all try a puzzle; `None` if they were told to stop, or the puzzle is damaged. A puzzle's trial is the same
/// whichever others are tried beside it.
///
/// # Errors
///
/// A bot failed.
pub(crate) fn hold(
    bots: &[TrialBot],
    puzzle: &NewPuzzle,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Option<Trial>, BotError> {
    let Some(path) = Path::of(puzzle) else { return Ok(None) };
    let records = bots.iter().map(|bot| path.put_to(bot, seed, stop)).collect::<Result<Vec<_>, _>>()?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let shares = bots.iter().zip(&records).map(|(bot, record)| LevelShare {
        rating: f64::from(bot.rating),
        solved: f64::from(record.solved) / f64::from(record.tries),
    });
    let grade = grade_by_levels(&shares.collect::<Vec<_>>(), path.luck);
    Ok(Some(Trial { records, luck: path.luck, grade }))
}

/// What is asked in a puzzle, one after the other.
struct Path {
    /// Each position with its right answer.
    questions: Vec<(Position, Column)>,
    /// The chance that who plays any column answers all of them.
    luck: f64,
}

impl Path {
    fn of(puzzle: &NewPuzzle) -> Option<Self> {
        let mut game = Game::from_moves(Variant::STANDARD, &puzzle.moves).ok()?;
        let (mut questions, mut luck) = (Vec::new(), 1.0);
        for (place, column) in (0..).zip(parse_moves(&puzzle.line).ok()?) {
            if place % 2 == 0 {
                questions.push((*game.position(), column));
                luck /= f64::from(u32::try_from(game.position().legal_columns().count()).ok()?);
            }
            game.play(column).ok()?;
        }
        Some(Self { questions, luck })
    }

    fn put_to(&self, who: &TrialBot, seed: u64, stop: &AtomicBool) -> Result<TrialRecord, BotError> {
        let mut record = TrialRecord::default();
        for attempt in 0..who.tries {
            // What it draws must not depend on what it did before, so each attempt is made by a bot of its own.
            let spec = who.spec.clone().with_default_seed(seed.wrapping_add(attempt.into()));
            let mut bot = registry::build(&spec, Variant::STANDARD)?;
            let answered = self.answered(&mut *bot, stop)?;
            record.tries += 1;
            record.begun += u32::from(answered > 0);
            record.solved += u32::from(answered == self.questions.len());
        }
        Ok(record)
    }

    /// How many questions a bot answers before it errs.
    fn answered(&self, bot: &mut dyn Bot, stop: &AtomicBool) -> Result<usize, BotError> {
        let budget = MoveBudget { nodes: Some(NODES_MAX), time: None };
        for (place, (position, right)) in self.questions.iter().enumerate() {
            if bot.choose(position, budget, stop)?.column != *right {
                return Ok(place);
            }
        }
        Ok(self.questions.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::puzzles::grading::GRADE_RANGE;
    use crate::study::puzzles::shipped;

    /// With which the puzzles that ship were graded; `shipped.txt` says so.
    const SEED: u64 = 1;

    /// Puzzles between those that are graded again here: all take two minutes.
    const STEP: usize = 187;

    fn grade_again(puzzle: &NewPuzzle, seed: u64) -> Trial {
        hold(&bots(), puzzle, seed, &AtomicBool::new(false)).unwrap().unwrap()
    }

    #[test]
    fn puzzles_that_ship_have_the_grades_that_bots_give_them() {
        for puzzle in shipped::puzzles().iter().step_by(STEP) {
            assert_eq!(grade_again(puzzle, SEED).grade, puzzle.prior, "{puzzle:?}");
        }
    }

    #[test]
    fn every_puzzle_that_ships_has_a_grade_and_they_are_spread() {
        let mut grades: Vec<u32> = shipped::puzzles().iter().map(|puzzle| puzzle.prior).collect();
        assert!(grades.iter().all(|grade| GRADE_RANGE.contains(grade) && grade % 5 == 0));
        grades.sort_unstable();
        let at = |tenth: usize| grades[grades.len() * tenth / 10];
        assert!(at(1) + 400 < at(9), "from {} to {}", at(1), at(9));
    }

    #[test]
    fn the_bots_are_of_all_levels_and_none_of_them_never_errs() {
        let bots = bots();
        assert!(bots.is_sorted_by_key(|bot| bot.rating), "{bots:?}");
        assert_eq!((bots[0].name, bots[0].rating), ("random", 0));
        let never_errs = |bot: &TrialBot| bot.spec.name() == "perfect" && bot.spec.value("level").is_none();
        assert!(!bots.iter().any(never_errs));
        let longest_step = bots.windows(2).map(|pair| pair[1].rating - pair[0].rating).max();
        assert!(longest_step < Some(300), "{longest_step:?}");
    }

    #[test]
    fn bots_that_draw_are_asked_several_times_and_others_once() {
        for bot in bots() {
            let draws = bot.spec.clone().with_default_seed(5) != bot.spec;
            let is_asked_again = bot.tries > 1;
            // The classics draw only when told to.
            let may_differ = draws && bot.spec.name() != "negamax";
            assert_eq!(is_asked_again, may_differ, "{}", bot.name);
        }
    }

    #[test]
    fn equal_seeds_give_equal_trials_and_who_is_told_to_stop_gives_none() {
        let puzzle = &shipped::puzzles()[0];
        let (one, same, other) = (grade_again(puzzle, 1), grade_again(puzzle, 1), grade_again(puzzle, 99));
        assert_eq!(one.records, same.records);
        assert_ne!(one.records, other.records);
        assert_eq!(one.records.iter().map(|record| record.tries).max(), Some(DRAWN_TRIES));
        assert!(
            one.records.iter().all(|record| record.solved <= record.begun && record.begun <= record.tries)
        );
        assert!(hold(&bots(), puzzle, 1, &AtomicBool::new(true)).unwrap().is_none());
        let damaged = NewPuzzle { line: "x".into(), ..puzzle.clone() };
        assert!(hold(&bots(), &damaged, 1, &AtomicBool::new(false)).unwrap().is_none());
    }
}
