//! Moves of house bots that are thought of on other machines, while every thread here thinks: both ends of it.
//!
//! Only bots whose settings say all that they are can think elsewhere: what a learner knows, and what lies in files,
//! stays where it is. Whoever answers builds the bot for one move, as [`fourfold_bots::Bot::rest`] allows.

use std::sync::Arc;
use std::time::Duration;

use fourfold_bots::{BotSpec, Choice, MoveBudget, Reason, SearchInfo, registry};
use fourfold_engine::notation::{parse_moves, print_moves};
use fourfold_engine::{Column, Game, Position, Variant};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::analysis::compute::{ComputePool, ComputeThread};
use crate::cluster::thinking::{Answer, Asked, Found, NoThought, Question, Thinkers, Thought};
use crate::protocol::server::Turn;
use crate::system::bot_files;
use crate::system::metrics::Metrics;
use crate::system::tasks::Tasks;

/// Longest settings that are sent along with each move.
const SPEC_BYTES_MAX: usize = 2_000;

/// For the way there and back, beside the time to think.
const WAY_MAX: Duration = Duration::from_millis(250);

/// The longest anybody is let think for somebody else: more than any bot of the house takes.
const TIME_MAX: Duration = Duration::from_mins(1);

/// How often a worker says what it has done.
const REPORT_EVERY: Duration = Duration::from_mins(1);

/// A house bot in one game that may think on other machines.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    thinkers: Thinkers,
    metrics: Arc<Metrics>,
    /// All that the bot is, with a seed for this game if it draws.
    spec: String,
}

impl Elsewhere {
    /// For a bot with these settings, unless they are not all that it is.
    pub(crate) fn new(thinkers: Thinkers, metrics: Arc<Metrics>, spec: &BotSpec) -> Option<Self> {
        let text = spec.to_string();
        let says_all = bot_files::knowledge_file(spec).is_none() && text.parse().as_ref() == Ok(spec);
        let spec = text;
        (says_all && spec.len() <= SPEC_BYTES_MAX).then_some(Self { thinkers, metrics, spec })
    }

    /// What somebody else would play, who may think for `time`. `None` if nobody says so in time, or if `limit`, the
    /// most that the clock allows, would not do to think here after that.
    pub(crate) async fn choose(
        &self,
        position: &Position,
        turn: &Turn,
        time: Duration,
        limit: Duration,
    ) -> Option<(Choice, Vec<Reason>)> {
        let patience = time + WAY_MAX;
        if patience + time > limit || !self.thinkers.may_listen() {
            return None;
        }
        let question = Question {
            bot: self.spec.clone(),
            variant: turn.variant.0.to_string(),
            moves: turn.moves.clone(),
            time_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        };
        let asked = Instant::now();
        let thought =
            self.thinkers.ask(&question, patience).await.and_then(|thought| read(&thought, position));
        let outcome = match &thought {
            Ok(_) => "answered",
            Err(NoThought::Nobody) => return None,
            Err(NoThought::Busy) => "busy",
            Err(NoThought::Late) => "late",
            Err(NoThought::Unable(_) | NoThought::Unreadable(_)) => "useless",
        };
        self.metrics.thought_elsewhere(outcome);
        match thought {
            Ok(chosen) => {
                debug!(ply = turn.ply, ms = asked.elapsed().as_millis(), "a move was thought of elsewhere");
                Some(chosen)
            }
            Err(NoThought::Nobody | NoThought::Busy) => None,
            Err(why) => {
                warn!(bot = self.spec, %why, "nobody elsewhere thinks of this move, the bot does so here");
                None
            }
        }
    }
}

/// Whoever answers may be anybody who reaches the bus: what is no move of this position is not played.
fn read(thought: &Thought, position: &Position) -> Result<(Choice, Vec<Reason>), NoThought> {
    let unreadable = |why: String| NoThought::Unreadable(why);
    let column = Column::from_number(thought.column)
        .filter(|column| position.legal_columns().any(|legal| legal == *column))
        .ok_or_else(|| unreadable(format!("column {} cannot be played", thought.column)))?;
    let info = thought.found.as_ref().map(|found| {
        let pv = parse_moves(&found.pv).map_err(|error| unreadable(error.to_string()))?;
        if u32::try_from(pv.len()).unwrap_or(u32::MAX) > position.variant().cells() {
            return Err(unreadable(format!("a line of {} moves", pv.len())));
        }
        Ok(SearchInfo { score: found.score, depth: found.depth, nodes: found.nodes, pv })
    });
    let reasons = thought.reasons.iter().map(|reason| reason.parse()).collect::<Result<_, _>>();
    let reasons = reasons.map_err(|error: fourfold_bots::ReasonError| unreadable(error.to_string()))?;
    Ok((Choice { column, info: info.transpose()? }, reasons))
}

/// Thinks for others on the threads of a pool, until `stop`.
pub(crate) async fn think_for_others(
    thinkers: &Thinkers,
    pool: &ComputePool,
    tasks: &Tasks,
    stop: &CancellationToken,
) {
    let mut questions = match thinkers.listen().await {
        Ok(questions) => questions,
        Err(error) => return warn!(%error, "nobody is thought for"),
    };
    let (mut count, mut report) = (Count(0), tokio::time::interval(REPORT_EVERY));
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = report.tick() => count.tell(),
            asked = questions.next() => {
                let Some(asked) = asked else { return warn!("the bus is closed: nobody is thought for") };
                match pool.try_thread() {
                    Some(thread) => {
                        count.0 += 1;
                        tasks.spawn(answer(asked, thread));
                    }
                    None => asked.answer(&Answer::Busy).await,
                }
            }
        }
    }
}

/// Moves that were thought of since this was told last; what is left is told at the end.
struct Count(u64);

impl Count {
    fn tell(&mut self) {
        if self.0 > 0 {
            info!(moves = std::mem::take(&mut self.0), "thought for others");
        }
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.tell();
    }
}

async fn answer(asked: Asked, thread: ComputeThread) {
    let answer = match asked.question.clone().and_then(|question| Job::of(&question)) {
        Ok(job) => job.run(thread).await,
        Err(why) => Err(why),
    };
    let answer = answer.map_or_else(Answer::Unable, Answer::Thought);
    asked.answer(&answer).await;
}

/// A question that makes sense.
struct Job {
    spec: BotSpec,
    position: Position,
    time: Duration,
}

impl Job {
    /// Whoever asks may be anybody who reaches the bus: nothing but the text is read for it.
    fn of(question: &Question) -> Result<Self, String> {
        let spec: BotSpec = question.bot.parse().map_err(|why| said("bot", &why))?;
        if bot_files::knowledge_file(&spec).is_some() {
            return Err("bot: it plays by a file".to_owned());
        }
        let variant: Variant = question.variant.parse().map_err(|why| said("variant", &why))?;
        let game = Game::from_moves(variant, &question.moves).map_err(|why| said("moves", &why))?;
        let time = Duration::from_millis(question.time_ms).min(TIME_MAX);
        Ok(Self { spec, position: *game.position(), time })
    }

    async fn run(self, thread: ComputeThread) -> Result<Thought, String> {
        let Self { spec, position, time } = self;
        let search = thread.run_for(time, move |stop| {
            let mut bot = registry::build(&spec, position.variant()).map_err(|why| said("bot", &why))?;
            let budget = MoveBudget { nodes: None, time: Some(time) };
            let choice = bot.choose(&position, budget, stop).map_err(|error| error.to_string())?;
            Ok(written(&choice, &bot.reasons(&position)))
        });
        search.await.map_err(|error| error.to_string())?
    }
}

fn said(field: &str, why: &dyn std::fmt::Display) -> String {
    format!("{field}: {why}")
}

fn written(choice: &Choice, reasons: &[Reason]) -> Thought {
    let found = choice.info.as_ref().map(|info| Found {
        score: info.score,
        depth: info.depth,
        nodes: info.nodes,
        pv: print_moves(&info.pv),
    });
    let reasons = reasons.iter().map(ToString::to_string).collect();
    Thought { column: choice.column.number(), found, reasons }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn question(bot: &str, variant: &str, moves: &str) -> Question {
        let (bot, variant, moves) = (bot.to_owned(), variant.to_owned(), moves.to_owned());
        Question { bot, variant, moves, time_ms: 1_000 }
    }

    async fn thought(question: &Question) -> Result<Thought, String> {
        let thread = ComputePool::new(1).try_thread().unwrap();
        Job::of(question)?.run(thread).await
    }

    #[tokio::test]
    async fn a_move_thought_of_elsewhere_is_that_of_the_same_bot_here() {
        for bot in ["negamax:depth=5", "perfect", "random:seed=7", "greedy"] {
            let question = question(bot, "7x6", "4435");
            let position = *Game::from_moves(Variant::STANDARD, "4435").unwrap().position();
            let mut here = registry::build(&bot.parse().unwrap(), Variant::STANDARD).unwrap();
            let budget = MoveBudget { nodes: None, time: Some(Duration::from_secs(1)) };
            let expected = here.choose(&position, budget, &AtomicBool::new(false)).unwrap();
            let (choice, _) = read(&thought(&question).await.unwrap(), &position).unwrap();
            assert_eq!(choice, expected, "{bot}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_thought_of_is_said_with_its_field() {
        for (asked, field) in [
            (question("nobody", "7x6", ""), "bot: "),
            (question("memory:file=/etc/passwd", "7x6", ""), "bot: it plays by a file"),
            (question("random", "700x6", ""), "variant: "),
            (question("random", "7x6", "4444444"), "moves: "),
            (question("random", "7x6", "1212121"), "the game is over"),
            (question("ntuple", "8x7", ""), "bot: ntuple does not play"),
        ] {
            let why = thought(&asked).await.unwrap_err();
            assert!(why.starts_with(field), "{asked:?}: {why}");
        }
    }

    #[tokio::test]
    async fn who_thinks_too_long_is_stopped() {
        let question = Question { time_ms: 50, ..question("montecarlo:ms=60000", "7x6", "") };
        let began = std::time::Instant::now();
        thought(&question).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(20), "it would take a minute");
    }

    #[test]
    fn an_answer_that_is_no_move_is_not_played() {
        let position = *Game::from_moves(Variant::STANDARD, "444444").unwrap().position();
        let thought = |column| Thought { column, found: None, reasons: Vec::new() };
        assert!(read(&thought(3), &position).is_ok());
        for column in [0, 4, 8, 255] {
            assert!(read(&thought(column), &position).is_err(), "{column}");
        }
        let found = |pv: &str| Some(Found { score: 1, depth: 1, nodes: 1, pv: pv.to_owned() });
        for pv in ["x!", &"1".repeat(43)] {
            assert!(read(&Thought { found: found(pv), ..thought(3) }, &position).is_err(), "{pv}");
        }
        let reasons = vec!["because".to_owned()];
        assert!(read(&Thought { reasons, ..thought(3) }, &position).is_err());
    }
}
