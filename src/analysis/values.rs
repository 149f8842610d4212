//! The values of positions and the reviews of games, for whoever asks over HTTP.
//!
//! The opening book answers at once. Everything else is solved on the compute pool, one position at a time, so that
//! bots that wait for a thread get their turn in between; a request has a deadline, a position a node budget, and what
//! was solved is kept for the next who asks.

mod cache;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fourfold_engine::review::{Judge, Review};
use fourfold_engine::solver::{ColumnScores, SearchLimits, Solver};
use fourfold_engine::{Game, Position};
use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use self::cache::Cache;
use crate::analysis::compute::{ComputeError, ComputePool};

/// Requests that are being answered at a time; one more is turned away, because each waits for all before it.
const REQUESTS_MAX: usize = 8;

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
    /// The computation failed.
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

/// Solves positions for the rest of the daemon. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    shared: Arc<SharedAnalysis>,
}

#[derive(Debug)]
struct SharedAnalysis {
    pool: ComputePool,
    requests: AtomicUsize,
    cache: Mutex<Cache>,
    /// Judges that nobody uses at the moment, with what they remember.
    judges: Mutex<Vec<Judge>>,
    /// Looks into the book and never searches.
    reader: Judge,
}

impl Analysis {
    /// Solves on the threads of `pool`.
    pub(crate) fn new(pool: ComputePool) -> Self {
        let shared = SharedAnalysis {
            pool,
            requests: AtomicUsize::new(0),
            cache: Mutex::default(),
            judges: Mutex::default(),
            reader: Judge::new(Solver::new()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The score of each legal move; none if the game is over.
    ///
    /// # Errors
    ///
    /// There is too much to do, or the position is too hard.
    pub(crate) async fn columns(&self, position: &Position) -> Result<ColumnScores, AnalysisError> {
        if let Some(known) = self.known(position) {
            return Ok(known);
        }
        if position.outcome().is_some() {
            return Ok(ColumnScores::default());
        }
        let _request = CountedRequest::begin(&self.shared)?;
        self.solve(position, Instant::now() + DEADLINE).await
    }

    /// Judges the moves of a game from `ply` on; from later on if the positions before are too hard.
    ///
    /// # Errors
    ///
    /// There is too much to do.
    pub(crate) async fn review(&self, game: &Game, ply: u32) -> Result<Reviewed, AnalysisError> {
        let deadline = Instant::now() + DEADLINE;
        let mut request = None;
        let mut game_so_far = game.clone();
        let mut scores = Vec::new();
        // From the end, where positions are easy, and what is found out helps before.
        while game_so_far.ply() > ply {
            game_so_far.undo();
            let position = game_so_far.position();
            let known = self.known(position);
            if known.is_none() && request.is_none() {
                request = Some(CountedRequest::begin(&self.shared)?);
            }
            let solved = match known {
                Some(known) => Ok(known),
                None => self.solve(position, deadline).await,
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
        Ok(Reviewed { from_ply, review: Review::from_ply(game, from_ply, &scores) })
    }

    fn known(&self, position: &Position) -> Option<ColumnScores> {
        self.shared.reader.known_columns(position).or_else(|| self.cache(|cache| cache.find(position)))
    }

    fn cache<T>(&self, work: impl FnOnce(&mut Cache) -> T) -> T {
        work(&mut self.shared.cache.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Solves one position on the pool.
    async fn solve(&self, position: &Position, deadline: Instant) -> Result<ColumnScores, AnalysisError> {
        if is_beyond_reach(position) {
            return Err(AnalysisError::TooHard);
        }
        if self.shared.pool.is_congested() {
            return Err(AnalysisError::Busy { retry: RETRY });
        }
        let stop = StopOnDrop::default();
        let (analysis, position, flag) = (self.clone(), *position, Arc::clone(&stop.0));
        let job = move || analysis.solve_here(&position, &flag);
        // When the time is up, or whoever asked has gone, the search stops by itself.
        let solved = timeout_at(deadline, self.shared.pool.run(job)).await;
        solved.map_err(|_| AnalysisError::Busy { retry: RETRY })??.ok_or(AnalysisError::TooHard)
    }

    /// Solves on this thread; `None` if the budget is not enough or the flag is set.
    fn solve_here(&self, position: &Position, stop: &AtomicBool) -> Option<ColumnScores> {
        let judges = || self.shared.judges.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = judges().pop();
        let mut judge = idle.unwrap_or_else(|| Judge::new(Solver::new()));
        let solved = judge.column_scores(position, SearchLimits { nodes: Some(NODES_MAX), stop });
        judges().push(judge);
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
}

/// Counts a request as long as it lives.
struct CountedRequest<'a>(&'a AtomicUsize);

impl<'a> CountedRequest<'a> {
    fn begin(shared: &'a SharedAnalysis) -> Result<Self, AnalysisError> {
        let request = Self(&shared.requests);
        let before = request.0.fetch_add(1, Ordering::Relaxed);
        if before < REQUESTS_MAX { Ok(request) } else { Err(AnalysisError::Busy { retry: RETRY }) }
    }
}

impl Drop for CountedRequest<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
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
mod tests {
    use fourfold_engine::Variant;

    use super::*;

    fn game(moves: &str) -> Game {
        Game::from_moves(Variant::STANDARD, moves).unwrap()
    }

    /// The first side wins with its fourth stone.
    const MOVES: &str = "4455667";
    /// Beyond the opening book.
    const DEEP: &str = "635211145114";

    #[tokio::test]
    async fn what_was_solved_is_not_solved_again() {
        let analysis = Analysis::new(ComputePool::new(1));
        let late = game("557152711624545746362464762234");
        let solved = analysis.columns(late.position()).await.unwrap();
        assert_eq!(analysis.known(late.position()), Some(solved));
        let mirrored = analysis.known(&late.position().mirror()).unwrap();
        assert_eq!(mirrored.best(), solved.best());
    }

    #[tokio::test]
    async fn a_game_is_reviewed_from_the_ply_that_is_asked_for() {
        let analysis = Analysis::new(ComputePool::new(1));
        let game = game("557152711624545746362464762234657");
        let reviewed = analysis.review(&game, 24).await.unwrap();
        assert_eq!((reviewed.from_ply, reviewed.review.moves().len()), (24, 9));
    }

    #[tokio::test]
    async fn the_book_answers_however_busy_the_solver_is() {
        let analysis = Analysis::new(ComputePool::new(1));
        let requests: Vec<_> =
            (0..REQUESTS_MAX).map(|_| CountedRequest::begin(&analysis.shared).unwrap()).collect();
        assert!(analysis.columns(game("44").position()).await.is_ok());
        let refused = analysis.columns(game(DEEP).position()).await;
        assert_eq!(refused, Err(AnalysisError::Busy { retry: RETRY }));
        drop(requests);
        assert_eq!(analysis.shared.requests.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_finished_position_has_no_columns() {
        let analysis = Analysis::new(ComputePool::new(1));
        assert_eq!(analysis.columns(game(MOVES).position()).await.unwrap().best(), None);
    }
}
