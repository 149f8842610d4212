//! Many positions of 7x6 at once, on all cores. Boards are 42 bytes each, as `Position.cells` gives them.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use fourfold_engine::playout;
use fourfold_engine::review::Judge;
use fourfold_engine::rng::{self, PlayoutRng};
use fourfold_engine::solver::{SearchLimits, Solver};
use fourfold_engine::{Bitboard, Cell, Column, Position, SideResult, Variant, WinDrawLoss};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Cells of a board.
const CELLS: usize = 42;
const WIDTH: usize = 7;

/// What stands for the score of a column that cannot be played: below every score.
const NONE: i8 = i8::MIN;

/// Threads at most: more than any machine has cores.
const THREADS_MAX: usize = 256;

fn positions(boards: &[u8]) -> PyResult<Vec<Position>> {
    if !boards.len().is_multiple_of(CELLS) {
        return Err(PyValueError::new_err(format!("{} bytes are no boards of {CELLS}", boards.len())));
    }
    (0..).zip(boards.chunks_exact(CELLS)).map(|(number, board)| position(number, board)).collect()
}

fn position(number: usize, board: &[u8]) -> PyResult<Position> {
    let variant = Variant::STANDARD;
    let (mut mine, mut theirs) = (Bitboard::EMPTY, Bitboard::EMPTY);
    for (index, stone) in board.iter().enumerate() {
        let cell = Column::from_index(index % WIDTH).and_then(|column| Cell::new(column, index / WIDTH));
        let cell = cell.map(|cell| Bitboard::cell(cell, variant)).unwrap_or(Bitboard::EMPTY);
        match stone {
            0 => {}
            1 => mine |= cell,
            2 => theirs |= cell,
            other => {
                let message = format!("board {number}: a cell is 0, 1 or 2, this one {other}");
                return Err(PyValueError::new_err(message));
            }
        }
    }
    Position::from_stones(variant, mine, theirs)
        .map_err(|error| PyValueError::new_err(format!("board {number}: {error}")))
}

/// Does something with each of many, on several threads, in order of the results.
fn on_all<R: Send + Clone + Default, W>(
    positions: &[Position],
    threads: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize, &Position) -> R + Sync,
) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores } else { threads.min(THREADS_MAX) };
    let next = AtomicUsize::new(0);
    let mut all = vec![R::default(); positions.len()];
    let run = || {
        let mut tools = worker();
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(position) = positions.get(place) else { return done };
            done.push((place, work(&mut tools, place, position)));
        }
    };
    let done: Vec<Vec<(usize, R)>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    for (place, result) in done.into_iter().flatten() {
        all[place] = result;
    }
    all
}

/// The scores of all columns of each board, seven signed bytes each; -128 where a column cannot be played.
#[pyfunction]
pub(crate) fn solve_boards<'py>(
    py: Python<'py>,
    boards: &[u8],
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let positions = positions(boards)?;
    let scores = py.detach(|| {
        let never = AtomicBool::new(false);
        let limits = SearchLimits { nodes: None, stop: &never };
        on_all(
            &positions,
            threads,
            || Judge::new(Solver::new()),
            |judge, _, position| {
                let mut row = [NONE; WIDTH];
                // Without limits the solver has an answer for every position.
                if let Ok(solved) = judge.column_scores(position, limits) {
                    for (column, score) in solved.value.iter() {
                        row[column.index()] = i8::try_from(score.value()).unwrap_or(NONE);
                    }
                }
                row
            },
        )
    });
    let bytes: Vec<u8> = scores.into_iter().flatten().map(i8::cast_unsigned).collect();
    Ok(PyBytes::new(py, &bytes))
}

/// Random games from each board: three 32-bit numbers each, little end first: how often the side to move won, drew and
/// lost. Equal seeds give equal numbers, whatever the threads are.
#[pyfunction]
pub(crate) fn playouts<'py>(
    py: Python<'py>,
    boards: &[u8],
    games: u32,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let positions = positions(boards)?;
    let results = py.detach(|| {
        on_all(
            &positions,
            threads,
            || (),
            |(), place, position| {
                let mut rng = PlayoutRng::from_rng(&mut rng::seeded_stream(seed, place as u64));
                let mut score = WinDrawLoss::default();
                for _ in 0..games {
                    let winner = playout::play_out(position, &mut rng).winner;
                    score.count(SideResult::of(position.side_to_move(), winner));
                }
                [score.wins, score.draws, score.losses].map(|count| u32::try_from(count).unwrap_or(u32::MAX))
            },
        )
    });
    let bytes: Vec<u8> = results.into_iter().flatten().flat_map(u32::to_le_bytes).collect();
    Ok(PyBytes::new(py, &bytes))
}
