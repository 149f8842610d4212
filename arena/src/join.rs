//! Parts of a run put together: the log that the run would have written without parts, but for times.
//!
//! A part plays all its pairs. Whether somebody broke too often, or a sequential test had ended, is seen when its
//! games stand between those of the other parts; games that would not have been played are left out.

use std::path::{Path, PathBuf};

use crate::course::Course;
use crate::log::{self, Found, Log, LogError};
use crate::plan::Plan;
use crate::record::MatchRecord;
use crate::runner;
use crate::shard::{self, PartsError};

/// Why parts cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("{path}: {problem}")]
    Part { path: String, problem: PartsError },
    #[error("{0}")]
    Parts(PartsError),
    #[error("{path}: it is part of another run: its {what}")]
    OtherRun { path: String, what: &'static str },
    #[error("{path}: the part is not finished; go on with it (--save {path} --resume)")]
    Unfinished { path: String },
    #[error("game {number} is missing")]
    Gap { number: u64 },
}

/// What was joined.
#[derive(Debug)]
pub struct Joined {
    pub course: Course,
    /// Games of parts that the whole run would not have played.
    pub left_out: u64,
}

/// Reads all parts of a run and writes the log of the whole to `out`, which must not be there.
///
/// # Errors
///
/// A log cannot be read or written, or they are not all parts of one run, each finished.
pub fn join(paths: &[PathBuf], out: &Path) -> Result<Joined, JoinError> {
    let parts = paths.iter().map(|path| Log::read(path)).collect::<Result<Vec<_>, _>>()?;
    let plan = check(paths, &parts)?;
    let origin = parts.first().and_then(|part| part.origin.clone());
    let mut games: Vec<MatchRecord> = parts.into_iter().flat_map(|part| part.games).collect();
    games.sort_by_key(|game| Plan::game_number(&game.id));
    let mut log = runner::begin_log(out, &plan, origin)?;
    let joined = write(&games, plan, &mut log).inspect_err(|_| {
        // What is left of it would look like a run under way; that it was not there before is known.
        let _ = std::fs::remove_file(out);
    })?;
    log.close(std::iter::empty())?;
    Ok(joined)
}

/// The plan of the whole.
fn check(paths: &[PathBuf], parts: &[Found]) -> Result<Plan, JoinError> {
    let path_of = |place: usize| paths[place].display().to_string();
    let plans: Vec<Option<&Plan>> = parts.iter().map(|part| part.plan.as_ref()).collect();
    let shards: Vec<_> = plans.iter().map(|plan| plan.and_then(|plan| plan.shard)).collect();
    shard::check_complete(&shards).map_err(|(place, problem)| match place {
        Some(place) => JoinError::Part { path: path_of(place), problem },
        None => JoinError::Parts(problem),
    })?;
    let plans: Vec<&Plan> = plans.into_iter().flatten().collect();
    let whole = plans[0].whole();
    for (place, (plan, part)) in plans.iter().zip(parts).enumerate() {
        if let Some(what) = whole.difference(&plan.whole()) {
            return Err(JoinError::OtherRun { path: path_of(place), what });
        }
        if runner::course_of(&paths[place], part)?.over().is_none() {
            return Err(JoinError::Unfinished { path: path_of(place) });
        }
    }
    Ok(whole)
}

/// Books the games in the order of the schedule, as far as the run would have played them.
fn write(games: &[MatchRecord], plan: Plan, log: &mut Log) -> Result<Joined, JoinError> {
    let mut course = Course::new(plan);
    let mut left_out = 0;
    for game in games {
        let number = Plan::game_number(&game.id);
        match course.due() {
            Some(due) if number == Some(due.number) => {
                let consequence = course.book(&runner::outcome_of(game));
                log.game(&log::encode(game));
                for event in runner::events_of(&course, consequence) {
                    log.event(&event);
                }
            }
            Some(due) if number > Some(due.number) => return Err(JoinError::Gap { number: due.number }),
            Some(_) | None => left_out += 1,
        }
    }
    match course.due() {
        Some(due) => Err(JoinError::Gap { number: due.number }),
        None => Ok(Joined { course, left_out }),
    }
}
