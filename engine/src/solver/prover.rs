//! What solvers of all boards share: a table, how it is asked, and what is made of the answers.

use std::num::NonZeroUsize;

use super::answer::{ColumnScores, Solved, Unsolved};
use super::bucket::KnownBounds;
use super::geometry::Geometry;
use super::node::Node;
use super::root::Root;
use super::search::ChildStack;
use super::table::{BoundsTable, TableSize};
use super::word::Word;
use crate::board::Column;
use crate::search::{Score, SearchLimits, Value};

/// Beyond every score of every board.
pub(super) const ANY_SCORE: KnownBounds = KnownBounds { lower: -63, upper: 63 };
/// What tells a win from a draw and a loss.
const ANY_SIGN: KnownBounds = KnownBounds { lower: -1, upper: 1 };

/// A position of a board whose cells are the bits of a word.
pub(super) trait Subject: Sized {
    type Word: Word;

    /// The columns that can be played, from the left: none once the game is over.
    fn legal_columns(&self) -> impl Iterator<Item = Column>;

    /// The position after a stone in a legal column.
    fn after(&self, column: Column) -> Self;

    /// Asks [`Prover::solve_on`] with what the position is made of.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    fn solve(&self, prover: &mut Prover<Self::Word>, ask: Ask<'_>) -> Result<Solved<Score>, Unsolved>;
}

/// What is asked of a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    pub(super) limits: SearchLimits<'a>,
    /// The score is wanted as far as it is within these.
    pub(super) known: KnownBounds,
    /// What is tried first.
    pub(super) guess: Option<Score>,
}

impl<'a> Ask<'a> {
    /// For the score, of which nothing is known.
    pub(super) fn score(limits: SearchLimits<'a>) -> Self {
        Self { limits, known: ANY_SCORE, guess: None }
    }
}

/// Proves scores on boards of one word, one after the other.
#[derive(Debug)]
pub(super) struct Prover<W: Word> {
    /// `None` until the first search, so that a solver that is never asked costs nothing.
    table: Option<BoundsTable<W>>,
    size: TableSize,
    threads: NonZeroUsize,
    /// Room for the next search.
    stack: ChildStack<W>,
    /// Width, height and length of a line of the board whose positions are in the table.
    board: [u32; 3],
}

impl<W: Word> Prover<W> {
    pub(super) fn new(size: TableSize) -> Self {
        Self { table: None, size, threads: NonZeroUsize::MIN, stack: ChildStack::new(), board: [0; 3] }
    }

    pub(super) fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads, ..self }
    }

    pub(super) fn clear(&mut self) {
        if let Some(table) = &mut self.table {
            table.clear();
        }
    }

    pub(super) fn release(&mut self) {
        self.table = None;
        self.stack = ChildStack::new();
    }

    pub(super) fn bytes(&self) -> usize {
        self.table.as_ref().map_or(0, BoundsTable::bytes)
    }

    /// Who wins.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then, as far as they are from -1 to
    /// 1.
    pub(super) fn value(
        &mut self,
        position: &impl Subject<Word = W>,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<Value>, Unsolved> {
        let ask = Ask { known: ANY_SIGN, ..Ask::score(limits) };
        Ok(position.solve(self, ask)?.map(Score::sign))
    }

    /// The score of each legal move.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds of the position's score that were proven until then.
    pub(super) fn column_scores(
        &mut self,
        position: &impl Subject<Word = W>,
        limits: SearchLimits<'_>,
    ) -> Result<Solved<ColumnScores>, Unsolved> {
        // The best score first: no column is above it, and the table then knows a lot about all of them.
        let best = position.solve(self, Ask::score(limits))?;
        let mut nodes = best.nodes;
        let mut scored: Vec<(Column, Score)> = Vec::new();
        for column in position.legal_columns() {
            let known = KnownBounds { lower: -best.value.value(), ..ANY_SCORE };
            let ask = Ask { known, ..Ask::score(limits.after(nodes)) };
            match position.after(column).solve(self, ask) {
                Ok(solved) => {
                    nodes += solved.nodes;
                    scored.push((column, -solved.value));
                }
                Err(unsolved) => {
                    let nodes = nodes + unsolved.nodes;
                    return Err(Unsolved { lower: best.value, upper: best.value, nodes });
                }
            }
        }
        Ok(Solved { value: scored.into_iter().collect(), nodes })
    }

    /// The score of the position with these stones of the side to move and of both sides, as far as it is within the
    /// bounds that are asked for, else the nearer of them. If the game is over, the score that it ended with.
    ///
    /// # Errors
    ///
    /// Fails if the limits end the search, with the bounds that were proven until then.
    pub(super) fn solve_on<G: Geometry<Word = W>>(
        &mut self,
        geometry: G,
        mine: W,
        mask: W,
        ask: Ask<'_>,
    ) -> Result<Solved<Score>, Unsolved> {
        let Ask { limits, known, guess } = ask;
        if geometry.has_line(mask ^ mine) {
            let score = (-geometry.win(mask.count_ones())).clamp(known.lower, known.upper);
            return Ok(Solved { value: Score::new(score), nodes: 0 });
        }
        let (threads, stack) = (self.threads, std::mem::take(&mut self.stack));
        let table = self.table_of(geometry);
        let mut root = Root { geometry, table, limits, threads, stack, nodes: 0 };
        let found = root.solve(Node::new(geometry, mine, mask), known, guess.map(Score::value));
        let (nodes, stack) = (root.nodes, root.stack);
        self.stack = stack;
        match found {
            Ok(score) => Ok(Solved { value: Score::new(score), nodes }),
            Err(KnownBounds { lower, upper }) => {
                let (lower, upper) = (Score::new(lower), Score::new(upper));
                Err(Unsolved { lower, upper, nodes })
            }
        }
    }

    /// The table, emptied if it is that of another board.
    fn table_of<G: Geometry<Word = W>>(&mut self, geometry: G) -> &BoundsTable<W> {
        let board = [geometry.width(), geometry.height(), geometry.connect()];
        let key_bits = geometry.key_bits();
        if self.board != board {
            self.board = board;
            match &mut self.table {
                Some(table) if table.is_for(key_bits) => table.clear(),
                table => *table = None,
            }
        }
        self.table.get_or_insert_with(|| BoundsTable::new(self.size, key_bits))
    }
}
