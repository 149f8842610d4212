//! The engine from C: the rules of 7x6 and the exact solver. Everything goes by value, so that there is nothing to
//! allocate, to free or to get wrong; any thread may call at any time.
//!
//! A position is two sets of cells, seven bits a column from the left, six cells from the bottom and one that stays
//! empty: bit 7 * column + row, both from 0. `mine` are the stones of the side to move, `mask` all stones.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use fourfold_engine::review::Judge;
use fourfold_engine::solver::{SearchLimits, Solver, Unsolved};
use fourfold_engine::{Bitboard, Column, Outcome, Position as EnginePosition, Variant};

/// The score of a column that cannot be played, or of anything without an answer.
pub const FOURFOLD_NONE: i32 = -128;

/// A position for the side to move.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FourfoldPosition {
    /// Stones of the side to move.
    pub mine: u64,
    /// All stones.
    pub mask: u64,
}

/// How an answer came about.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FourfoldStatus {
    /// It is exact.
    Exact = 0,
    /// The nodes ran out: it is between the bounds.
    Bounds = 1,
    /// There is no such position: stones in the air, outside the board, or a game that went on when it was over.
    NoPosition = 2,
}

/// A score for the side to move: 0 a draw, +n a win with the n-th stone counted from one's last, -n a loss to such a
/// win.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FourfoldScore {
    pub status: FourfoldStatus,
    /// The score is at least this, and at most `upper`: the same number if it is exact.
    pub lower: i32,
    pub upper: i32,
    /// Positions that were expanded.
    pub nodes: u64,
}

/// The score of each column for the side that plays it; FOURFOLD_NONE where it cannot be played.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FourfoldColumns {
    pub status: FourfoldStatus,
    pub scores: [i32; 7],
    /// Positions that were expanded.
    pub nodes: u64,
}

/// How a game stands.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FourfoldGameState {
    /// It goes on.
    Open = 0,
    /// The side that moved last has four in a row.
    LastMoverWon = 1,
    /// The board is full.
    Drawn = 2,
    /// There is no such position.
    Impossible = 3,
}

thread_local! {
    /// What was found out about one position helps with the next.
    static JUDGE: RefCell<Judge> = RefCell::new(Judge::new(Solver::new()));
}

fn engine_position(position: FourfoldPosition) -> Option<EnginePosition> {
    let variant = Variant::STANDARD;
    let FourfoldPosition { mine, mask } = position;
    let board = Bitboard::full(variant).bits();
    if mask & !board != 0 || mine & !mask != 0 {
        return None;
    }
    let sets = (Bitboard::from_bits(mine), Bitboard::from_bits(mask & !mine));
    EnginePosition::from_stones(variant, sets.0, sets.1).ok()
}

/// The empty board.
#[unsafe(no_mangle)]
pub extern "C" fn fourfold_start() -> FourfoldPosition {
    FourfoldPosition { mine: 0, mask: 0 }
}

/// The position after a stone in a column from 0; the position itself if that cannot be played.
#[unsafe(no_mangle)]
pub extern "C" fn fourfold_play(position: FourfoldPosition, column: u32) -> FourfoldPosition {
    let after = || {
        let column = Column::from_index(column as usize)?;
        engine_position(position)?.play(column).ok()
    };
    after().map_or(position, |after| FourfoldPosition { mine: after.mine().bits(), mask: after.mask().bits() })
}

/// Whether a column from 0 can be played.
#[unsafe(no_mangle)]
pub extern "C" fn fourfold_is_legal(position: FourfoldPosition, column: u32) -> bool {
    let column = Column::from_index(column as usize);
    column.zip(engine_position(position)).is_some_and(|(column, position)| position.is_legal(column))
}

/// How the game stands.
#[unsafe(no_mangle)]
pub extern "C" fn fourfold_state(position: FourfoldPosition) -> FourfoldGameState {
    match engine_position(position).map(|position| position.outcome()) {
        None => FourfoldGameState::Impossible,
        Some(None) => FourfoldGameState::Open,
        Some(Some(Outcome::Win { .. })) => FourfoldGameState::LastMoverWon,
        Some(Some(Outcome::Draw)) => FourfoldGameState::Drawn,
    }
}

/// The exact score, or bounds if `nodes_max` positions were expanded before it was known; 0 is no limit.
#[unsafe(no_mangle)]
pub extern "C" fn fourfold_score(position: FourfoldPosition, nodes_max: u64) -> FourfoldScore {
    let Some(position) = engine_position(position) else {
        return FourfoldScore { status: FourfoldStatus::NoPosition, lower: FOURFOLD_NONE, upper: FOURFOLD_NONE, nodes: 0 };
    };
    let never = AtomicBool::new(false);
    let limits = SearchLimits { nodes: (nodes_max > 0).then_some(nodes_max), stop: &never };
    match JUDGE.with_borrow_mut(|judge| judge.score(&position, limits)) {
        Ok(solved) => {
            let score = solved.value.value();
            FourfoldScore { status: FourfoldStatus::Exact, lower: score, upper: score, nodes: solved.nodes }
        }
        Err(Unsolved { lower, upper, nodes }) => {
            FourfoldScore { status: FourfoldStatus::Bounds, lower: lower.value(), upper: upper.value(), nodes }
        }
    }
}

/// The exact scores of all columns; none of them, with FOURFOLD_STATUS_BOUNDS, if `nodes_max` positions were expanded
/// before all were known; 0 is no limit.
#[unsafe(no_mangle)]
pub extern "C" fn fourfold_columns(position: FourfoldPosition, nodes_max: u64) -> FourfoldColumns {
    let mut columns = FourfoldColumns { status: FourfoldStatus::NoPosition, scores: [FOURFOLD_NONE; 7], nodes: 0 };
    let Some(position) = engine_position(position) else { return columns };
    let never = AtomicBool::new(false);
    let limits = SearchLimits { nodes: (nodes_max > 0).then_some(nodes_max), stop: &never };
    match JUDGE.with_borrow_mut(|judge| judge.column_scores(&position, limits)) {
        Ok(solved) => {
            (columns.status, columns.nodes) = (FourfoldStatus::Exact, solved.nodes);
            for (column, score) in solved.value.iter() {
                columns.scores[column.index()] = score.value();
            }
        }
        Err(unsolved) => (columns.status, columns.nodes) = (FourfoldStatus::Bounds, unsolved.nodes),
    }
    columns
}
