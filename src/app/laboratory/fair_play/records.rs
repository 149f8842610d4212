//! Rated games between people, out of files of records, solved.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use fourfold_arena::fair_play::{RatedPlayer, SolvedGame, solve};
use fourfold_engine::review::Judge;
use fourfold_engine::solver::Solver;
use fourfold_engine::{BySide, Game, Variant};
use serde::Deserialize;

use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::input;
use crate::app::terminal::progress::ProgressLine;

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

/// Rated games between people, and who they are.
#[derive(Debug, Default)]
pub(super) struct RatedGames {
    /// In the order in which they ended.
    pub(super) games: Vec<SolvedGame>,
    /// By id, as they were called last.
    pub(super) names: HashMap<String, String>,
}

/// Reads and solves them, until `stop` is set.
pub(super) fn read(files: &[PathBuf], stop: &AtomicBool) -> anyhow::Result<RatedGames> {
    let mut progress = ProgressLine::unbounded("games");
    let mut judge = Judge::new(Solver::new());
    let mut read = RatedGames::default();
    for path in files {
        let name = path.display();
        for (line, number) in input::open(path)?.lines().zip(1..) {
            if stop.load(Ordering::Relaxed) {
                return Ok(read);
            }
            let line = line.map_err(|error| input::unreadable(path, &error))?;
            if line.trim().is_empty() {
                continue;
            }
            progress.advance(1);
            let record: RecordLine = serde_json::from_str(&line)
                .map_err(|error| Exit::new(Code::Data, format!("{name}, line {number}: {error}")))?;
            read.add(record, &mut judge, stop);
        }
    }
    Ok(read)
}

impl RatedGames {
    /// Nothing if it was not rated, not between people, on another board, or cannot be solved.
    fn add(&mut self, record: RecordLine, judge: &mut Judge, stop: &AtomicBool) {
        let players = [&record.players.first, &record.players.second]
            .map(|player| (player.id.clone(), player.name.clone()));
        if let Some(game) = solved(record, judge, stop) {
            self.games.push(game);
            self.names.extend(players);
        }
    }
}

fn solved(record: RecordLine, judge: &mut Judge, stop: &AtomicBool) -> Option<SolvedGame> {
    let RecordLine { id, rated, unrated_because, variant, players, ratings, opening, moves } = record;
    let is_counted = rated && unrated_because.is_none() && variant.parse() == Ok(Variant::STANDARD);
    if !is_counted || [&players.first, &players.second].iter().any(|player| player.kind == "bot") {
        return None;
    }
    let ratings = ratings?;
    let game = Game::from_moves(Variant::STANDARD, &moves).ok()?;
    let decided = solve(judge, &game, u32::try_from(opening.moves.len()).ok()?, stop)?;
    let player = |line: PlayerLine, rating: &RatingLine| RatedPlayer { id: line.id, rating: rating.before };
    let (first, second) = (player(players.first, &ratings.first), player(players.second, &ratings.second));
    Some(SolvedGame { id, players: BySide { first, second }, decided })
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
        let mut read = RatedGames::default();
        read.add(record, &mut Judge::new(Solver::new()), &AtomicBool::new(false));
        assert!(read.games.iter().all(|game| game.players.second.rating == 700 && read.names["b"] == "Bob"));
        !read.games.is_empty()
    }

    #[test]
    fn only_rated_games_between_people_count() {
        assert!(is_counted("human", true, "7x6"));
        assert!(!is_counted("bot", true, "7x6"));
        assert!(!is_counted("human", false, "7x6"));
        assert!(!is_counted("human", true, "9x6"));
    }
}
