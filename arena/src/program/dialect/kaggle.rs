//! The `ConnectX` environment's observation and configuration, one JSON object a line, for agents that were written for
//! it. The board is a list of all cells, rows from the top; 1 is who moved first. The answer is a column from 0.

use fourfold_engine::{Cell, Column, Side};
use serde::Serialize;

use super::{Question, column_from};

#[derive(Serialize)]
struct KaggleLine {
    observation: Observation,
    configuration: Configuration,
}

#[derive(Serialize)]
struct Observation {
    board: Vec<u8>,
    mark: u8,
    step: u32,
    #[serde(rename = "remainingOverageTime")]
    overage: f64,
}

#[derive(Serialize)]
struct Configuration {
    columns: u8,
    rows: u8,
    inarow: u8,
    /// Seconds for one move; agents know it by both names. Of a bank it is a share: who needs longer draws on the
    /// overage, as with Kaggle.
    #[serde(rename = "actTimeout")]
    act_timeout: f64,
    timeout: f64,
    #[serde(rename = "episodeSteps")]
    steps: u32,
}

/// Moves of an episode at most, as the environment has it.
const STEPS: u32 = 1000;

pub(super) fn ask(question: &Question<'_>) -> String {
    let position = question.game.position();
    let variant = position.variant();
    let rows = (0..usize::from(variant.height())).rev();
    let cell = |column: Column, row: usize| Cell::new(column, row).and_then(|cell| position.stone_at(cell));
    let board = rows.flat_map(|row| variant.columns().map(move |column| mark(cell(column, row)))).collect();
    let seconds = question.advised.as_secs_f64();
    let line = KaggleLine {
        observation: Observation {
            board,
            mark: mark(Some(position.side_to_move())),
            step: position.ply(),
            overage: question.budget.saturating_sub(question.advised).as_secs_f64(),
        },
        configuration: Configuration {
            columns: variant.width(),
            rows: variant.height(),
            inarow: variant.connect(),
            act_timeout: seconds,
            timeout: seconds,
            steps: STEPS,
        },
    };
    serde_json::to_string(&line).expect("all keys are text") + "\n"
}

fn mark(side: Option<Side>) -> u8 {
    match side {
        None => 0,
        Some(Side::First) => 1,
        Some(Side::Second) => 2,
    }
}

pub(super) fn read(line: &str) -> Option<Column> {
    column_from(line, Some)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::Dialect::Kaggle;
    use super::super::testing::{check_read, game, question};

    #[test]
    fn a_question_is_what_agents_are_called_with() {
        let line = Kaggle.ask(&question(&game("441")));
        assert_eq!(line.matches('\n').count(), 1);
        let json: Value = serde_json::from_str(&line).unwrap();
        let board: Vec<u64> = json["observation"]["board"]
            .as_array()
            .unwrap()
            .iter()
            .map(|mark| mark.as_u64().unwrap())
            .collect();
        assert_eq!(board.len(), 42);
        assert_eq!(board[28..35], [0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(board[35..42], [1, 0, 0, 1, 0, 0, 0]);
        assert_eq!((&json["observation"]["mark"], &json["observation"]["step"]), (&2.into(), &3.into()));
        let configuration = &json["configuration"];
        assert_eq!((&configuration["columns"], &configuration["rows"]), (&7.into(), &6.into()));
        assert_eq!(json["observation"]["remainingOverageTime"], 58.5, "what is left of the bank");
        assert_eq!((&configuration["inarow"], &configuration["actTimeout"]), (&4.into(), &1.5.into()));
    }

    #[test]
    fn an_answer_counts_from_0_and_nothing_is_no_column() {
        check_read(Kaggle, "0", Ok(Some(1)));
        check_read(Kaggle, "6", Ok(Some(7)));
        for line in ["", "None", "null", "-1", "3.0", "[3]", "\"3\"", "true"] {
            check_read(Kaggle, line, Err(()));
        }
    }
}
