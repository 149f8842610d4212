//! Positions and what the solver says of them.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fourfold_bots::think::stopped_after;
use fourfold_engine::review::Judge;
use fourfold_engine::solver::{
    ColumnScores, SearchLimits, Solved, Solver, Unsolved as EngineUnsolved, Value,
};
use fourfold_engine::{Cell, Column, Game, Outcome, Position, Side, Variant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::Unsolved;

/// A position on a board, with the moves that led there. It never changes: `play` gives another.
#[pyclass(name = "Position", module = "fourfold", frozen, eq, hash, skip_from_py_object)]
#[derive(Clone, Debug)]
pub(crate) struct PyPosition {
    pub(crate) game: Game,
}

impl PartialEq for PyPosition {
    fn eq(&self, other: &Self) -> bool {
        self.game.position() == other.game.position()
    }
}

impl Eq for PyPosition {}

impl std::hash::Hash for PyPosition {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        self.game.position().key().hash(hasher);
    }
}

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn column(number: u32) -> PyResult<Column> {
    let column = u8::try_from(number).ok().and_then(Column::from_number);
    column.ok_or_else(|| PyValueError::new_err(format!("{number} is no column: they count from 1")))
}

/// As a list of Python: bytes would come out as `bytes`.
pub(crate) fn numbers(columns: impl Iterator<Item = Column>) -> Vec<u32> {
    columns.map(|column| u32::from(column.number())).collect()
}

fn side_word(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

/// How long a search may take.
#[derive(Clone, Copy)]
struct Patience {
    nodes: Option<u64>,
    time: Option<Duration>,
}

impl Patience {
    fn new(nodes: Option<u64>, seconds: Option<f64>) -> PyResult<Self> {
        let time = seconds.map(|seconds| {
            let time = Duration::try_from_secs_f64(seconds);
            time.map_err(|error| PyValueError::new_err(format!("seconds: {error}")))
        });
        Ok(Self { nodes, time: time.transpose()? })
    }

    /// Asks a new judge, and stops it when the time is over. The interpreter is free meanwhile.
    fn ask<T: Send>(
        self,
        py: Python<'_>,
        question: impl FnOnce(&mut Judge, SearchLimits<'_>) -> Result<Solved<T>, EngineUnsolved> + Send,
    ) -> PyResult<T> {
        let answer = py.detach(|| {
            let stop = AtomicBool::new(false);
            let limits = SearchLimits { nodes: self.nodes, stop: &stop };
            stopped_after(self.time, &stop, || question(&mut Judge::new(Solver::new()), limits))
        });
        match answer {
            Ok(solved) => Ok(solved.value),
            Err(EngineUnsolved { lower, upper, nodes }) => {
                let error =
                    Unsolved::new_err(format!("the score is from {lower} to {upper} after {nodes} nodes"));
                let value = error.value(py);
                value.setattr("lower", lower.value())?;
                value.setattr("upper", upper.value())?;
                value.setattr("nodes", nodes)?;
                Err(error)
            }
        }
    }
}

#[pymethods]
impl PyPosition {
    /// After these moves from the empty board, one column digit each from 1.
    #[new]
    #[pyo3(signature = (moves = "", variant = "7x6"))]
    fn new(moves: &str, variant: &str) -> PyResult<Self> {
        let variant: Variant = variant.parse().map_err(wrong)?;
        Ok(Self { game: Game::from_moves(variant, moves).map_err(wrong)? })
    }

    #[getter]
    fn moves(&self) -> String {
        self.game.notation()
    }

    #[getter]
    fn variant(&self) -> String {
        self.game.variant().to_string()
    }

    #[getter]
    fn width(&self) -> u8 {
        self.game.variant().width()
    }

    #[getter]
    fn height(&self) -> u8 {
        self.game.variant().height()
    }

    /// Stones on the board.
    #[getter]
    fn ply(&self) -> u32 {
        self.game.ply()
    }

    /// Who is to move: `first` or `second`.
    #[getter]
    fn side(&self) -> &'static str {
        side_word(self.game.position().side_to_move())
    }

    /// A number that no other position of this board has.
    #[getter]
    fn key(&self) -> u64 {
        self.game.position().key()
    }

    /// The same for the position and its mirror image together.
    #[getter]
    fn canonical_key(&self) -> u64 {
        self.game.position().canonical_key()
    }

    /// Whether the game is over.
    #[getter]
    fn is_over(&self) -> bool {
        self.game.outcome().is_some()
    }

    /// Who won: `first`, `second`, `draw`, or None while the game goes on.
    #[getter]
    fn outcome(&self) -> Option<&'static str> {
        self.game.outcome().map(|outcome| match outcome {
            Outcome::Win { by, line: _ } => side_word(by),
            Outcome::Draw => "draw",
        })
    }

    /// The columns that can be played, from the left.
    #[getter]
    fn legal(&self) -> Vec<u32> {
        numbers(self.game.position().legal_columns())
    }

    /// The columns with which the side to move wins at once.
    #[getter]
    fn winning(&self) -> Vec<u32> {
        numbers(self.game.position().winning_columns())
    }

    /// The position after another move.
    #[pyo3(name = "play")]
    fn py_play(&self, column_number: u32) -> PyResult<Self> {
        let mut game = self.game.clone();
        game.play(column(column_number)?).map_err(wrong)?;
        Ok(Self { game })
    }

    /// A byte for each cell, row by row from the bottom left: 1 the side to move, 2 its opponent, 0 empty.
    fn cells(&self) -> Vec<u8> {
        cells_of(self.game.position())
    }

    /// The exact score for the side to move: 0 a draw, +n a win with the n-th stone counted from one's last, -n a loss
    /// to such a win. With limits it may raise Unsolved.
    #[pyo3(signature = (nodes = None, seconds = None))]
    fn score(&self, py: Python<'_>, nodes: Option<u64>, seconds: Option<f64>) -> PyResult<i32> {
        let position = self.game.position();
        let score = Patience::new(nodes, seconds)?.ask(py, |judge, limits| judge.score(position, limits))?;
        Ok(score.value())
    }

    /// Who wins for the side to move: 1, 0 or -1. Less work than the score.
    #[pyo3(signature = (nodes = None, seconds = None))]
    fn value(&self, py: Python<'_>, nodes: Option<u64>, seconds: Option<f64>) -> PyResult<i32> {
        let position = self.game.position();
        let value = Patience::new(nodes, seconds)?.ask(py, |judge, limits| judge.value(position, limits))?;
        Ok(match value {
            Value::Win => 1,
            Value::Draw => 0,
            Value::Loss => -1,
        })
    }

    /// The score of each column for the side that plays it, None where it cannot be played.
    #[pyo3(signature = (nodes = None, seconds = None))]
    fn columns(
        &self,
        py: Python<'_>,
        nodes: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<Vec<Option<i32>>> {
        let scores = self.scores(py, nodes, seconds)?;
        let columns = self.game.variant().columns();
        Ok(columns.map(|column| scores.get(column).map(fourfold_engine::search::Score::value)).collect())
    }

    /// The columns of the best score, from the left.
    #[pyo3(signature = (nodes = None, seconds = None))]
    fn best(&self, py: Python<'_>, nodes: Option<u64>, seconds: Option<f64>) -> PyResult<Vec<u32>> {
        Ok(numbers(self.scores(py, nodes, seconds)?.best_columns()))
    }

    fn __str__(&self) -> String {
        fourfold_engine::notation::print_diagram(self.game.position()).to_string()
    }

    fn __repr__(&self) -> String {
        format!("Position('{}', variant='{}')", self.game.notation(), self.game.variant())
    }

    /// Positions travel between processes as their moves.
    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String, String))> {
        let class = py.get_type::<Self>().into_any().unbind();
        Ok((class, (self.game.notation(), self.game.variant().to_string())))
    }
}

impl PyPosition {
    fn scores(&self, py: Python<'_>, nodes: Option<u64>, seconds: Option<f64>) -> PyResult<ColumnScores> {
        let position = self.game.position();
        Patience::new(nodes, seconds)?.ask(py, |judge, limits| judge.column_scores(position, limits))
    }
}

pub(crate) fn cells_of(position: &Position) -> Vec<u8> {
    let variant = position.variant();
    let (mine, theirs) = (position.mine(), position.theirs());
    let rows = 0..usize::from(variant.height());
    let cells = rows.flat_map(|row| variant.columns().filter_map(move |column| Cell::new(column, row)));
    let number = |cell| u8::from(mine.contains(cell, variant)) + 2 * u8::from(theirs.contains(cell, variant));
    cells.map(number).collect()
}

/// Every move of a game judged exactly: `ply`, `side`, `column`, `before` and `after` (scores for the side that moved),
/// `best` columns, `mistake` or None.
#[pyfunction]
#[pyo3(signature = (moves, variant = "7x6", nodes = None, seconds = None))]
pub(crate) fn review<'py>(
    py: Python<'py>,
    moves: &str,
    variant: &str,
    nodes: Option<u64>,
    seconds: Option<f64>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let variant: Variant = variant.parse().map_err(wrong)?;
    let game = Game::from_moves(variant, moves).map_err(wrong)?;
    let review = Patience::new(nodes, seconds)?.ask(py, |judge, limits| judge.review(&game, 0, limits))?;
    let row = |verdict: &fourfold_engine::review::Verdict| {
        let row = PyDict::new(py);
        row.set_item("ply", verdict.ply)?;
        row.set_item("side", side_word(verdict.side))?;
        row.set_item("column", verdict.column.number())?;
        row.set_item("before", verdict.before.value())?;
        row.set_item("after", verdict.after.value())?;
        row.set_item("best", numbers(verdict.best.iter().copied()))?;
        row.set_item("mistake", verdict.mistake().map(fourfold_engine::review::Mistake::word))?;
        Ok(row)
    };
    review.moves().iter().map(row).collect()
}
