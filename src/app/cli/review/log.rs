//! All games of a log judged, and what they come to for each player.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fourfold_arena::log::Log;
use fourfold_arena::record::{MatchRecord, PlayerRecord};
use fourfold_engine::review::{Judge, Review, Skill};
use fourfold_engine::solver::{SearchLimits, Solved, Solver};
use fourfold_engine::{Game, Side, Variant};
use serde::Serialize;

use super::percent;
use crate::analysis::mistakes::{CostlyMoves, ScoredGame};
use crate::app::laboratory::log_cmd;
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::output;
use crate::app::terminal::progress::ProgressLine;
use crate::http::api::review::SkillView;

/// What somebody's moves were worth.
#[derive(Clone, Copy, Default, Debug)]
struct PlayerSums {
    games: u64,
    skill: Skill,
}

/// What is printed of a player as JSON.
#[derive(Debug, Serialize)]
struct PlayerReview {
    name: String,
    games: u64,
    #[serde(flatten)]
    skill: SkillView,
}

/// Judges every game of a log and prints a line for each player, the most accurate first. With `mistakes` it writes
/// what they threw away to that file.
pub(super) fn run(path: &Path, as_json: bool, mistakes: Option<&Path>) -> anyhow::Result<()> {
    let found = Log::read(path).map_err(log_cmd::unreadable)?;
    let interrupt = Interrupt::listen()?;
    let mut progress = ProgressLine::new(found.games.len() as u64, "games");
    let mut judge = Judge::new(Solver::new());
    let mut players: BTreeMap<&str, PlayerSums> = BTreeMap::new();
    let mut costly = CostlyMoves::default();
    for record in &found.games {
        let (game, opening) = game_of(record)?;
        let limits = SearchLimits { nodes: None, stop: interrupt.stop().flag() };
        // Ends early only if it is interrupted.
        let Ok(Solved { value: columns, .. }) = judge.scores(&game, opening, limits) else { break };
        let review = Review::from_ply(&game, opening, &columns);
        let scored = ScoredGame { id: &record.id, game: &game, from_ply: opening, scores: &columns };
        for (side, player) in [(Side::First, &record.players.first), (Side::Second, &record.players.second)] {
            let PlayerRecord { name, .. } = player;
            let sums = players.entry(name.as_str()).or_default();
            sums.games += 1;
            sums.skill.add_all(&review.skill()[side]);
            costly.add(&scored, side, name);
        }
        progress.advance(1);
    }
    drop(progress);
    interrupt.check(|| "nothing is kept of a review that is not complete".to_owned())?;
    if let Some(file) = mistakes {
        super::write_mistakes(file, costly)?;
    }
    let players = by_accuracy(players);
    if as_json {
        let players = players.into_iter().map(|(name, sums)| PlayerReview {
            name: name.to_owned(),
            games: sums.games,
            skill: (&sums.skill).into(),
        });
        let players: Vec<PlayerReview> = players.collect();
        return output::print_json(&serde_json::json!({ "games": found.games.len(), "players": players }));
    }
    Ok(print(&players)?)
}

/// The game, and the plies of its opening, which nobody chose.
fn game_of(record: &MatchRecord) -> Result<(Game, u32), Exit> {
    let wrong = |error: &dyn std::fmt::Display| Exit::new(Code::Data, format!("game {}: {error}", record.id));
    let variant: Variant = record.variant.parse().map_err(|error| wrong(&error))?;
    let game = Game::from_moves(variant, &record.moves).map_err(|error| wrong(&error))?;
    let opening = u32::try_from(record.opening.moves.len()).unwrap_or(u32::MAX).min(game.ply());
    Ok((game, opening))
}

/// The most accurate first.
fn by_accuracy(players: BTreeMap<&str, PlayerSums>) -> Vec<(&str, PlayerSums)> {
    let mut players: Vec<_> = players.into_iter().collect();
    let accuracy = |skill: &Skill| skill.accuracy().unwrap_or_default();
    players.sort_by(|(_, one), (_, other)| accuracy(&other.skill).total_cmp(&accuracy(&one.skill)));
    players
}

fn print(players: &[(&str, PlayerSums)]) -> io::Result<()> {
    let row = |(name, PlayerSums { games, skill }): &(&str, PlayerSums)| {
        [
            (*name).to_owned(),
            games.to_string(),
            skill.moves().to_string(),
            percent(skill.accuracy()),
            skill.decisions().to_string(),
            percent(skill.optimal_rate()),
            skill.blunders().to_string(),
        ]
    };
    let rows: Vec<_> = players.iter().map(row).collect();
    output::print_table(["Name", "Games", "Moves", "Accuracy", "Decisions", "Optimal", "Blunders"], &rows)
}
