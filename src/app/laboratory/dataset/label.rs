//! A position with all that is known of it, and how it is written.

use std::fmt::Write as _;

use fourfold_arena::measure::classes::PositionClass;
use fourfold_engine::solver::{ColumnScores, Score, Value};
use fourfold_engine::{Column, Position, Variant};
use serde::Serialize;

use super::draw::{Candidate, Source};

/// How labels are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LabelFormat {
    Ndjson,
    Csv,
}

/// One labelled position.
#[derive(Clone, Debug)]
pub(super) struct Label {
    moves: String,
    pub(super) ply: u32,
    board: String,
    pub(super) value: Value,
    score: Score,
    best: Vec<u8>,
    columns: Vec<Option<i32>>,
    pub(super) class: PositionClass,
    pub(super) source: Source,
}

/// A line of NDJSON.
#[derive(Serialize)]
struct LabelLine<'a> {
    moves: &'a str,
    ply: u32,
    board: &'a str,
    value: i32,
    score: i32,
    best: &'a [u8],
    columns: &'a [Option<i32>],
    class: &'a str,
    source: &'a str,
}

impl Label {
    /// Of a position that goes on, from the scores of its columns.
    pub(super) fn new(candidate: &Candidate, scores: ColumnScores) -> Self {
        let position = candidate.game.position();
        let score = scores.best().expect("the game goes on");
        let variant = position.variant();
        Self {
            moves: candidate.game.notation(),
            ply: position.ply(),
            board: board(position),
            value: score.sign(),
            score,
            best: scores.best_columns().map(Column::number).collect(),
            columns: variant.columns().map(|column| scores.get(column).map(Score::value)).collect(),
            class: PositionClass::of(position.ply(), score.plies_to_end(position)),
            source: candidate.source,
        }
    }
}

/// Row by row from the bottom left, as the side to move sees it.
fn board(position: &Position) -> String {
    let variant = Variant::STANDARD;
    let (mine, theirs) = (position.mine(), position.theirs());
    let symbol = |cell| {
        if mine.contains(cell, variant) {
            '1'
        } else if theirs.contains(cell, variant) {
            '2'
        } else {
            '0'
        }
    };
    let rows = 0..usize::from(variant.height());
    let cells = rows
        .flat_map(|row| variant.columns().filter_map(move |column| fourfold_engine::Cell::new(column, row)));
    cells.map(symbol).collect()
}

/// As a number for the side to move.
fn number(value: Value) -> i32 {
    match value {
        Value::Win => 1,
        Value::Draw => 0,
        Value::Loss => -1,
    }
}

impl LabelFormat {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }

    /// What comes before the first label.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Ndjson => "",
            Self::Csv => "moves,ply,board,value,score,best,c1,c2,c3,c4,c5,c6,c7,class,source\n",
        }
    }

    /// A label with the line feed at its end.
    pub(super) fn line(self, label: &Label) -> String {
        let Label { moves, ply, board, value, score, best, columns, class, source } = label;
        let (value, score, class, source) = (number(*value), score.value(), class.name(), source.word());
        let moves = if moves.is_empty() { "-" } else { moves };
        match self {
            Self::Ndjson => {
                let line = LabelLine { moves, ply: *ply, board, value, score, best, columns, class, source };
                serde_json::to_string(&line).expect("all keys of a label are text") + "\n"
            }
            Self::Csv => {
                let best: String = best.iter().map(ToString::to_string).collect();
                let mut line = format!("{moves},{ply},{board},{value},{score},{best}");
                for column in columns {
                    let score = column.map(|score| score.to_string()).unwrap_or_default();
                    let _ = write!(line, ",{score}"); // a string takes everything
                }
                let _ = writeln!(line, ",{class},{source}");
                line
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use fourfold_engine::Game;
    use fourfold_engine::review::Judge;
    use fourfold_engine::solver::{SearchLimits, Solver};

    use super::*;

    fn lines(moves: &str) -> (String, String) {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let limits = SearchLimits { nodes: None, stop: &AtomicBool::new(false) };
        let scores = Judge::new(Solver::new()).column_scores(game.position(), limits).unwrap().value;
        let label = Label::new(&Candidate { game, source: Source::Random }, scores);
        (LabelFormat::Ndjson.line(&label), LabelFormat::Csv.line(&label))
    }

    #[test]
    fn labels_are_written_in_both_formats() {
        // Three stones of the first side in the middle, which is to move.
        let (json, csv) = lines("414141");
        let board = "2001000".repeat(3) + &"0".repeat(21);
        assert!(csv.starts_with(&format!("414141,6,{board},1,18,4,")), "{csv}");
        assert!(csv.ends_with(",begin-easy,random\n"), "{csv}");
        assert_eq!(csv.split(',').count(), LabelFormat::Csv.heading().split(',').count());
        assert!(json.starts_with(r#"{"moves":"414141","ply":6,"board":"2001000"#), "{json}");
        assert!(json.contains(r#""value":1,"score":18,"best":[4],"columns":["#), "{json}");
        assert!(json.ends_with("\"class\":\"begin-easy\",\"source\":\"random\"}\n"), "{json}");
        let (json, csv) = lines("1111112");
        assert!(csv.contains(",,") && json.contains("\"columns\":[null,"), "{csv}{json}");
        assert!(lines("").1.starts_with("-,0,"));
    }
}
