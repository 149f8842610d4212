//! Records with what the solver says of every move, for whoever learns from them.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use fourfold_engine::review::{Judge, Mistake, Verdict};
use fourfold_engine::solver::{SearchLimits, Solver};
use fourfold_engine::{Game, Variant};
use serde::Serialize;

use crate::storage::records::Record;

/// Positions of other boards may be beyond the solver: a game of which one needs more nodes, some seconds, has no
/// labels.
const NODES_MAX: u64 = 50_000_000;

/// How labelled games are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::app) enum LabelledForm {
    /// A record a line, with `labels`.
    Ndjson,
    /// A move a line.
    Csv,
}

/// What the solver says of a move.
#[derive(Serialize)]
struct PlyLabel {
    ply: u32,
    column: u8,
    /// The score of the position, for the side to move.
    score: i32,
    /// The score of the move, for the same side.
    after: i32,
    /// The columns that reach the score of the position.
    best: Vec<u8>,
    /// Null for one of the best moves.
    mistake: Option<&'static str>,
}

impl From<&Verdict> for PlyLabel {
    fn from(verdict: &Verdict) -> Self {
        Self {
            ply: verdict.ply,
            column: verdict.column.number(),
            score: verdict.before.value(),
            after: verdict.after.value(),
            best: verdict.best.iter().map(|column| column.number()).collect(),
            mistake: verdict.mistake().map(Mistake::word),
        }
    }
}

/// Labels games one after the other.
pub(in crate::app) struct Labeller {
    judge: Judge,
    form: LabelledForm,
}

impl Labeller {
    pub(in crate::app) fn new(form: LabelledForm) -> Self {
        Self { judge: Judge::new(Solver::new()), form }
    }

    /// What comes before the first game.
    pub(in crate::app) fn heading(&self) -> &'static str {
        match self.form {
            LabelledForm::Ndjson => "",
            LabelledForm::Csv => "id,ply,column,score,after,best,mistake\n",
        }
    }

    /// A game with its labels, with a line feed at its end.
    ///
    /// # Errors
    ///
    /// It is no record of a game.
    pub(in crate::app) fn write(&mut self, record: &Record) -> anyhow::Result<String> {
        let labels = self.labels(record).with_context(|| format!("game {}", record.id))?;
        match self.form {
            LabelledForm::Ndjson => {
                let mut line = serde_json::to_value(record)?;
                line["labels"] = serde_json::to_value(labels)?;
                Ok(line.to_string() + "\n")
            }
            LabelledForm::Csv => {
                let mut rows = String::new();
                for PlyLabel { ply, column, score, after, best, mistake } in labels.into_iter().flatten() {
                    let best: String = best.iter().map(ToString::to_string).collect();
                    let mistake = mistake.unwrap_or_default();
                    // A string takes everything.
                    let _ = writeln!(rows, "{},{ply},{column},{score},{after},{best},{mistake}", record.id);
                }
                Ok(rows)
            }
        }
    }

    /// A label for each move; `None` if the board is beyond the solver.
    fn labels(&mut self, record: &Record) -> anyhow::Result<Option<Vec<PlyLabel>>> {
        let variant = record.variant.0;
        let game = Game::from_moves(variant, &record.moves)?;
        let never = AtomicBool::new(false);
        let nodes = (variant != Variant::STANDARD).then_some(NODES_MAX);
        let review = self.judge.review(&game, 0, SearchLimits { nodes, stop: &never });
        Ok(review.ok().map(|review| review.value.moves().iter().map(PlyLabel::from).collect()))
    }
}
