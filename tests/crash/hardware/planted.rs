//! The check can fail on real files too: each defect that is planted in a database must be found.

use std::path::Path;

use fourfold::model::durability::Durability;
use rusqlite::Connection;

use super::lane::{Lane, LanePlan, contradictions};
use super::{Bench, Outcome};
use crate::below;
use crate::check::differences;
use crate::daemon::{copy_data, data};
use crate::players::TIME;

/// Until some games have ended, rated ones among them.
const MOVES: usize = 250;

/// Without what guards the database against such things.
const UNGUARD: &str = "PRAGMA foreign_keys = OFF; DROP TRIGGER journal_goes_from_its_start; \
                       DROP TRIGGER packed_log_is_not_changed";

/// Who has to find a defect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finder {
    /// What clients were told does not agree with it.
    Clients,
    /// `fourfold games verify`: it does not agree with itself.
    Verify,
}

/// What is planted, by name.
const DEFECTS: [(Finder, &str, &str); 8] = [
    (
        Finder::Clients,
        // Of the last ones of a commit, their players may not have heard.
        "the moves of the last commits",
        "DELETE FROM journal WHERE id > (SELECT max(id) FROM journal) - 20",
    ),
    (
        Finder::Verify,
        "the moves of another game in a finished one",
        "UPDATE packed_log SET events = (SELECT events FROM packed_log ORDER BY game LIMIT 1)
         WHERE game = (SELECT max(game) FROM settlement)",
    ),
    (
        Finder::Verify,
        "another result",
        "UPDATE settlement SET result = CASE result WHEN 'draw' THEN 'first' ELSE 'draw' END",
    ),
    (
        Finder::Clients,
        "a hole in the numbers",
        "UPDATE settlement SET number = number + 1 WHERE number = (SELECT max(number) FROM settlement)",
    ),
    (
        Finder::Clients,
        "a lost result",
        "DELETE FROM settlement WHERE number = (SELECT max(number) FROM settlement)",
    ),
    (
        Finder::Clients,
        "a finished game that is live too",
        "INSERT INTO live_game (game) SELECT max(game) FROM settlement",
    ),
    (
        Finder::Verify,
        "another rating change",
        "UPDATE rating_entry SET delta = delta + 1, after = after + 1
         WHERE number = (SELECT max(number) FROM rating_entry)",
    ),
    (Finder::Verify, "another rating", "UPDATE rating SET rating = rating + 1"),
];

pub(super) async fn run(bench: &Bench) -> Outcome {
    let plan = LanePlan { name: "planted".to_owned(), durability: Durability::Strict, time: TIME };
    let mut lane = Lane::open(bench, &plan).await;
    let directory = lane.directory.clone();
    let mut faults = Vec::new();
    if lane.play(MOVES).await.is_none() {
        faults.push("nobody plays".to_owned());
    }
    let closed = lane.close().await;
    faults.extend(closed.faults);
    for ((finder, name, defect), number) in DEFECTS.into_iter().zip(1..) {
        let copy = below(&directory, &format!("defect-{number}"));
        copy_data(&directory, &copy);
        if plant(&copy, defect) == 0 {
            faults.push(format!("{name} could not be planted"));
            continue;
        }
        let found = match finder {
            Finder::Clients => differences(&copy, &closed.history).await,
            Finder::Verify => contradictions(&copy),
        };
        if found.is_empty() {
            faults.push(format!("{name} goes unnoticed"));
        }
    }
    let figures = format!("the check: {} defects planted in a real database, all found", DEFECTS.len());
    Outcome { figures, faults }
}

/// How many rows that changed.
fn plant(directory: &Path, defect: &str) -> usize {
    let connection = Connection::open(data(directory).join("fourfold.db")).expect("a whole database");
    connection.execute_batch(UNGUARD).expect("triggers to drop");
    let planted = connection.execute(defect, []).expect("a defect in SQL");
    connection.close().expect("the database closes");
    planted
}
