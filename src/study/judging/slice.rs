//! What the judge does in one go on its thread.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::analysis::background::thread_time;
use crate::analysis::judged::GameJudge;
use crate::model::ids::GameId;
use crate::storage::finished::{FinishedGame, number_of};
use crate::storage::judgements::Judgement;
use crate::storage::puzzles::NewPuzzle;
use crate::storage::record::StoredGame;
use crate::study::puzzles::mining;

/// Games are begun for so long, by the thread's own time: then others have its share of the processor, and what was
/// said is stored. A game of the ladder takes a tenth of a second, nearly all of it right behind the book, so this is
/// two or three; before the next slice it may give way to games for as long again, whatever the slice has done.
const LENGTH: Duration = Duration::from_millis(250);

/// What there is to say about one game.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) number: u64,
    pub(super) judgement: Judgement,
    pub(super) puzzle: Option<NewPuzzle>,
}

impl Said {
    fn nothing(number: u64) -> Self {
        Self { number, judgement: Judgement::Unjudged, puzzle: None }
    }
}

/// What came of a slice.
#[derive(Debug, Default)]
pub(super) struct JudgedSlice {
    /// About the first of the games, at least one, in their order.
    pub(super) said: Vec<Said>,
    /// Games that made the judge panic.
    pub(super) choked_on: Vec<GameId>,
}

/// Judges games for a while.
#[derive(Debug)]
pub(super) struct Slice<G> {
    pub(super) games: G,
    /// Numbers of those that were judged ahead: nothing is said of them.
    pub(super) ahead: BTreeSet<u64>,
    /// A game that makes the judge panic.
    #[cfg(test)]
    pub(super) chokes_on: Option<GameId>,
}

impl<G: Deref<Target = [FinishedGame]>> Slice<G> {
    /// Goes on for [`LENGTH`] with the judge that is there; it is gone if it has panicked.
    pub(super) fn run(&self, judge: &mut Option<GameJudge>, stop: &AtomicBool) -> JudgedSlice {
        let began = thread_time();
        let mut done = JudgedSlice::default();
        for game in self.games.iter() {
            if !done.said.is_empty() && thread_time().saturating_sub(began) >= LENGTH {
                break;
            }
            let Some(number) = number_of(game) else { continue };
            done.said.push(match game {
                Ok(game) if !self.ahead.contains(&number) => {
                    self.say_or_choke(game, number, judge, stop).unwrap_or_else(|| {
                        done.choked_on.push(game.spec.id.clone());
                        Said::nothing(number)
                    })
                }
                Ok(_) | Err(_) => Said::nothing(number),
            });
        }
        done
    }

    /// One game that the solver chokes on must not hold up all others for ever: `None` for that.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "tests say in it what to choke on"))]
    fn say_or_choke(
        &self,
        game: &StoredGame,
        number: u64,
        place: &mut Option<GameJudge>,
        stop: &AtomicBool,
    ) -> Option<Said> {
        let mut judge = place.take().unwrap_or_else(GameJudge::new);
        let job = || {
            #[cfg(test)]
            assert_ne!(Some(&game.spec.id), self.chokes_on.as_ref(), "broken on purpose");
            let said = say(game, number, &mut judge, stop);
            (judge, said)
        };
        // What it leaves half done goes with it.
        let (judge, said) = catch_unwind(AssertUnwindSafe(job)).ok()?;
        *place = Some(judge);
        Some(said)
    }
}

fn say(stored: &StoredGame, number: u64, judge: &mut GameJudge, stop: &AtomicBool) -> Said {
    let Some(judged) = super::judge_stored(stored, judge, stop) else { return Said::nothing(number) };
    let found = mining::mine(&judged, judge, stop);
    let ended_at = stored.events.last().map_or(stored.spec.started_at, |event| event.at);
    let puzzle = found.map(|found| found.into_puzzle(Some(stored.spec.id.clone()), ended_at));
    Said { number, judgement: Judgement::Judged(judged.skill), puzzle }
}
