//! The values of positions and the reviews of games, for whoever asks over HTTP.
//!
//! The opening book answers at once. Everything else is solved beside the games, one position at a time, and networks
//! take turns: whoever asks for much delays another's first answer by one position. A request has a deadline, and a
//! position a node budget; whoever asks has a share of nodes; and what was solved is kept for the next who asks.

mod cache;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fourfold_engine::review::{Judge, Review};
use fourfold_engine::solver::{ColumnScores, SearchLimits, Solver};
use fourfold_engine::{Game, Position};
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use self::cache::Cache;
use crate::analysis::compute::{ComputeError, run_aside};
use crate::system::shares::line::LineRule;
use crate::system::shares::{Payer, Refusal, Share, Shares, Turns};
use crate::system::supervision::Supervision;

/// Positions that wait for their turn, and of them those of one network: a class whose pages all ask at once. More
/// would not be answered before their deadline.
const WAITING_MAX: usize = 128;
/// See [`WAITING_MAX`].
const WAITING_OF_NETWORK: usize = 32;

/// Positions of one job may take so many nodes, a few seconds of one thread. Beyond that the position counts as too
/// hard: on 7x6 none is, but there are boards that nobody can solve.
const NODES_MAX: u64 = 20_000_000;

/// Positions with more empty cells are not even tried: on 7x6 they are in the book, elsewhere nobody can solve them in
/// the time of a request.
const EMPTY_CELLS_MAX: u32 = 38;

/// Whether a position that is not in the book has too many empty cells to be tried.
pub(crate) fn is_beyond_reach(position: &Position) -> bool {
    position.variant().cells() - position.ply() > EMPTY_CELLS_MAX
}

/// How long a request may take. What is solved until then is kept, so that asking again goes on from there.
const DEADLINE: Duration = Duration::from_secs(8);

/// How long to wait before asking again.
const RETRY: Duration = Duration::from_secs(1);

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(crate) enum AnalysisError {
    /// The queue is full or the deadline has passed.
    #[error("the solver is busy")]
    Busy {
        /// When to ask again.
        retry: Duration,
    },
    /// There are too many empty cells, or the node budget was not enough.
    #[error("the position is too hard to solve here")]
    TooHard,
    /// Whoever asks has used up a share.
    #[error(transparent)]
    Share(#[from] Refusal),
    /// The computation failed.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

/// Who wants to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Asker {
    /// The arena itself, which asks for one position at a time.
    House,
    /// Somebody from outside, who has a share.
    Visitor(Payer),
}

impl Asker {
    /// As whom it takes turns with others: the house is one network.
    fn address(&self) -> IpAddr {
        match self {
            Self::House => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Self::Visitor(payer) => payer.address,
        }
    }
}

/// Solves positions for the rest of the daemon. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    shared: Arc<SharedAnalysis>,
    /// Who counts jobs that panic.
    supervision: Option<Supervision>,
}

#[derive(Debug)]
struct SharedAnalysis {
    turns: Turns,
    shares: Shares,
    cache: Mutex<Cache>,
    /// Judges that nobody uses at the moment, with what they remember.
    judges: Mutex<Vec<Judge>>,
    /// Looks into the book and never searches.
    reader: Judge,
}

impl Analysis {
    /// Solves so many positions at a time.
    pub(crate) fn new(threads: usize, shares: &Shares) -> Self {
        let rule = LineRule {
            at_work: threads.max(1),
            at_work_of_network: 1,
            waiting: WAITING_MAX,
            waiting_of_network: WAITING_OF_NETWORK,
        };
        let inner = SharedAnalysis {
            turns: shares.turns(rule),
            shares: shares.clone(),
            cache: Mutex::default(),
            judges: Mutex::default(),
            reader: Judge::new(Solver::new()),
        };
        Self { shared: Arc::new(inner), supervision: None }
    }

    /// The same, telling of jobs that panic. Whoever asked for one is told as well.
    pub(crate) fn supervised(self, supervision: Supervision) -> Self {
        Self { supervision: Some(supervision), ..self }
    }

    /// The score of each legal move; none if the game is over.
    ///
    /// # Errors
    ///
    /// There is too much to do, somebody's share is used up, or the position is too hard.
    pub(crate) async fn columns(
        &self,
        asker: &Asker,
        position: &Position,
    ) -> Result<ColumnScores, AnalysisError> {
        if let Some(known) = self.known(position) {
            return Ok(known);
        }
        if position.outcome().is_some() {
            return Ok(ColumnScores::default());
        }
        self.solve(asker, position, Instant::now() + DEADLINE).await
    }

    /// Judges the moves of a game from `ply` on; from later on if the positions before are too hard.
    ///
    /// # Errors
    ///
    /// There is too much to do, or somebody's share is used up.
    pub(crate) async fn review(
        &self,
        asker: &Asker,
        game: &Game,
        ply: u32,
    ) -> Result<Reviewed, AnalysisError> {
        let deadline = Instant::now() + DEADLINE;
        let mut game_so_far = game.clone();
        let mut scores = Vec::new();
        // From the end, where positions are easy, and what is found out helps before.
        while game_so_far.ply() > ply {
            game_so_far.undo();
            let position = game_so_far.position();
            let solved = match self.known(position) {
                Some(known) => Ok(known),
                None => self.solve(asker, position, deadline).await,
            };
            let columns = match solved {
                Ok(columns) => columns,
                Err(AnalysisError::TooHard) => break,
                Err(error) => return Err(error),
            };
            scores.push(columns);
        }
        let from_ply = game.ply() - u32::try_from(scores.len()).unwrap_or_else(|_| game.ply());
        scores.reverse();
        let review = Review::from_ply(game, from_ply, &scores);
        Ok(Reviewed { from_ply, review, scores })
    }

    fn known(&self, position: &Position) -> Option<ColumnScores> {
        self.shared.reader.known_columns(position).or_else(|| self.cache(|cache| cache.find(position)))
    }

    fn cache<T>(&self, work: impl FnOnce(&mut Cache) -> T) -> T {
        work(&mut self.shared.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Solves one position when the turn of whoever asks has come.
    async fn solve(
        &self,
        asker: &Asker,
        position: &Position,
        deadline: Instant,
    ) -> Result<ColumnScores, AnalysisError> {
        const BUSY: AnalysisError = AnalysisError::Busy { retry: RETRY };
        if is_beyond_reach(position) {
            return Err(AnalysisError::TooHard);
        }
        match asker {
            Asker::House => {}
            Asker::Visitor(payer) => self.shared.shares.spend(Share::Analysis, payer)?,
        }
        let turn = timeout_at(deadline, self.shared.turns.take(asker.address())).await;
        let turn = turn.map_err(|_| BUSY)?.map_err(|_| BUSY)?;
        let stop = StopOnDrop::default();
        let (analysis, position, flag) = (self.clone(), *position, Arc::clone(&stop.0));
        let asker = asker.clone();
        let job = move || {
            let solved = analysis.solve_here(&asker, &position, &flag);
            // Not before: an asker who goes away must not let another search begin.
            drop(turn);
            solved
        };
        // When the time is up, or whoever asked has gone, the search stops by itself.
        let solved = timeout_at(deadline, run_aside(self.supervision.as_ref(), job)).await;
        solved.map_err(|_| BUSY)??.ok_or(AnalysisError::TooHard)
    }

    /// Solves on this thread; `None` if the budget is not enough or the flag is set. It costs what it took, whatever
    /// comes of it.
    fn solve_here(&self, asker: &Asker, position: &Position, stop: &AtomicBool) -> Option<ColumnScores> {
        let judges = || self.shared.judges.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = judges().pop();
        let mut judge = idle.unwrap_or_else(|| Judge::new(Solver::new()));
        let solved = judge.column_scores(position, SearchLimits { nodes: Some(NODES_MAX), stop });
        judges().push(judge);
        let nodes = match &solved {
            Ok(solved) => solved.nodes,
            Err(unsolved) => unsolved.nodes,
        };
        match asker {
            Asker::House => {}
            Asker::Visitor(payer) => self.shared.shares.charge(Share::Analysis, payer, nodes),
        }
        let columns = solved.ok()?.value;
        self.cache(|cache| cache.keep(position, columns));
        Some(columns)
    }
}

/// A review, and where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reviewed {
    /// Plies before the first move that was judged.
    pub(crate) from_ply: u32,
    pub(crate) review: Review,
    /// What the columns before each of its moves are worth.
    pub(crate) scores: Vec<ColumnScores>,
}

/// Sets its flag when nobody waits any more.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
