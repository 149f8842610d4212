//! Rated games between people, out of files of records, solved.

use std::io::BufRead;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_arena::fair_play::{Decided, decisions};
use fourfold_engine::review::Judge;
use fourfold_engine::solver::{SearchLimits, Solver};
use fourfold_engine::{BySide, Game, Variant};
use serde::Deserialize;

use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::input;
use crate::app::terminal::progress::ProgressLine;

/// Positions that the solver may expand for one game: some seconds. What needs more is left out.
const NODES_MAX: u64 = 100_000_000;

/// What is read of a record.
#[derive(Debug, Deserialize)]
struct RecordLine {
    id: String,
    #[serde(default)]
    rated: bool,
    unrated_because: Option<String>,
    variant: String,
    players: BothSides<PlayerLine>,
    ratings: Option<BothSides<RatingLine>>,
    #[serde(default)]
    opening: OpeningLine,
    moves: String,
}

#[derive(Debug, Deserialize)]
struct BothSides<T> {
    first: T,
    second: T,
}

#[derive(Debug, Deserialize)]
struct PlayerLine {
    id: String,
    name: String,
    kind: String,
}

#[derive(Debug, Deserialize)]
struct RatingLine {
    before: i32,
}

#[derive(Debug, Default, Deserialize)]
struct OpeningLine {
    #[serde(default)]
    moves: String,
}

/// Somebody in a rated game.
#[derive(Debug)]
pub(super) struct RatedPlayer {
    pub(super) id: String,
    pub(super) name: String,
    /// What it was before the game.
    pub(super) rating: i32,
}

/// A rated game between people.
#[derive(Debug)]
pub(super) struct RatedGame {
    pub(super) id: String,
    pub(super) players: BySide<RatedPlayer>,
    pub(super) decided: BySide<Vec<Decided>>,
}

/// Reads and solves them, until `stop` is set.
pub(super) fn read(files: &[PathBuf], stop: &AtomicBool) -> anyhow::Result<Vec<RatedGame>> {
    let mut progress = ProgressLine::unbounded("games");
    let mut judge = Judge::new(Solver::new());
    let mut games = Vec::new();
    for path in files {
        let name = path.display();
        for (line, number) in input::open(path)?.lines().zip(1..) {
            if stop.load(Ordering::Relaxed) {
                return Ok(games);
            }
            let line = line.map_err(|error| Exit::new(Code::Io, format!("{name}: {error}")))?;
            if line.trim().is_empty() {
                continue;
            }
            progress.advance(1);
            let record: RecordLine = serde_json::from_str(&line)
                .map_err(|error| Exit::new(Code::Data, format!("{name}, line {number}: {error}")))?;
            games.extend(rated(record, &mut judge, stop));
        }
    }
    Ok(games)
}

/// `None` if it was not rated, not between people, on another board, or cannot be solved.
fn rated(record: RecordLine, judge: &mut Judge, stop: &AtomicBool) -> Option<RatedGame> {
    let RecordLine { id, rated, unrated_because, variant, players, ratings, opening, moves } = record;
    let is_counted = rated && unrated_because.is_none() && variant.parse() == Ok(Variant::STANDARD);
    if !is_counted || [&players.first, &players.second].iter().any(|player| player.kind == "bot") {
        return None;
    }
    let ratings = ratings?;
    let game = Game::from_moves(Variant::STANDARD, &moves).ok()?;
    let opening = u32::try_from(opening.moves.len()).ok()?.min(game.ply());
    let limits = SearchLimits { nodes: Some(NODES_MAX), stop };
    let scores = judge.scores(&game, opening, limits).ok()?.value;
    let player = |line: PlayerLine, rating: &RatingLine| RatedPlayer {
        id: line.id,
        name: line.name,
        rating: rating.before,
    };
    Some(RatedGame {
        id,
        players: BySide {
            first: player(players.first, &ratings.first),
            second: player(players.second, &ratings.second),
        },
        decided: decisions(&game, opening, &scores),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_counted(kind: &str, rated: bool, variant: &str) -> bool {
        let line = format!(
            r#"{{"id":"g","rated":{rated},"variant":"{variant}","moves":"1212121","opening":{{"moves":"12"}},
            "players":{{"first":{{"id":"a","name":"Ada","kind":"human"}},
            "second":{{"id":"b","name":"Bob","kind":"{kind}"}}}},
            "ratings":{{"first":{{"before":800,"after":810}},"second":{{"before":700,"after":690}}}}}}"#
        );
        let record = serde_json::from_str(&line).unwrap();
        let game = super::rated(record, &mut Judge::new(Solver::new()), &AtomicBool::new(false));
        assert!(game.as_ref().is_none_or(|game| game.players.second.rating == 700));
        game.is_some()
    }

    #[test]
    fn only_rated_games_between_people_count() {
        assert!(is_counted("human", true, "7x6"));
        assert!(!is_counted("bot", true, "7x6"));
        assert!(!is_counted("human", false, "7x6"));
        assert!(!is_counted("human", true, "9x6"));
    }
}
