//! What is said of a puzzle beside a small picture of its position.

use fourfold_engine::{Side, Variant};

use super::drawing::{Drawing, MiniBoard};
use super::words;
use crate::http::texts::Language;
use crate::model::ids::PuzzleId;
use crate::storage::puzzles::Goal;
use crate::study::puzzles::service::ShownPuzzle;

/// What is said of a puzzle before it is solved.
#[derive(Clone, Debug)]
pub(super) struct Teaser {
    pub(super) id: PuzzleId,
    pub(super) board: MiniBoard,
    /// Who is to find what.
    pub(super) question: String,
    /// The same in few words, for tiles beside each other, and how many moves that takes.
    pub(super) task: String,
    pub(super) own_moves: String,
    /// How hard it is.
    pub(super) grade: String,
    /// The same, and how others did.
    pub(super) facts: String,
}

impl Teaser {
    pub(super) fn new(lang: Language, shown: &ShownPuzzle) -> Self {
        let puzzle = &shown.stored.puzzle;
        Self {
            id: puzzle.id.clone(),
            board: MiniBoard { drawing: Drawing::new(Variant::STANDARD, &puzzle.moves) },
            question: question(lang, &puzzle.moves, puzzle.goal),
            task: task(lang, &puzzle.moves, puzzle.goal),
            own_moves: lang.count("puzzles.own_moves", puzzle.line.len().div_ceil(2) as u64),
            grade: grade(lang, shown),
            facts: facts(lang, shown),
        }
    }
}

/// The colour whose turn it is.
fn to_move(lang: Language, moves: &str) -> &'static str {
    let side = Side::to_move_at(u32::try_from(moves.len()).unwrap_or(u32::MAX));
    words::color(lang, side.into())
}

fn question(lang: Language, moves: &str, goal: Goal) -> String {
    let color = to_move(lang, moves);
    match goal {
        Goal::Win => lang.fill("puzzles.find_win", &[("color", color)]),
        Goal::Draw => lang.fill("puzzles.find_draw", &[("color", color)]),
    }
}

fn task(lang: Language, moves: &str, goal: Goal) -> String {
    let color = to_move(lang, moves);
    match goal {
        Goal::Win => lang.fill("puzzles.to_win", &[("color", color)]),
        Goal::Draw => lang.fill("puzzles.to_hold", &[("color", color)]),
    }
}

fn grade(lang: Language, shown: &ShownPuzzle) -> String {
    lang.fill("puzzles.grade", &[("n", shown.grade)])
}

fn facts(lang: Language, shown: &ShownPuzzle) -> String {
    let record = shown.stored.record;
    let tried = if record.tries == 0 {
        lang.text("puzzles.untried").to_owned()
    } else {
        lang.fill("puzzles.tried", &[("solved", record.solved), ("tries", record.tries)])
    };
    format!("{} · {tried}", grade(lang, shown))
}
