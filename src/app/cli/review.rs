//! `fourfold review`: every move of a game judged exactly.

mod log;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::analysis::mistakes::{self, CostlyMoves, ScoredGame};
use crate::http::api::review::ReviewView;
use crate::model::ids::GameId;
use fourfold_engine::review::{Judge, Review as Verdicts, Skill, Verdict};
use fourfold_engine::solver::{SearchLimits, Solved, Solver};
use fourfold_engine::{BySide, Game, Side, Variant};

use super::operator::DataArg;
use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::output;

/// Judge every move of a game exactly.
///
/// Scores are for the side that moved: 0 a draw, +n a win with the n-th stone counted from one's last, -n a loss to
/// such a win. A decision is a position in which some legal move throws its value away; accuracy is the share of
/// decisions in which the value was kept.
///
/// Of a log, which `fourfold match` and `fourfold tournament` write with --save, all games are judged, and a line for
/// each player says what they come to.
///
/// The file of --mistakes has the moves that threw a win or a draw away, each once, the costliest first, in fields
/// between tabs: moves before it, chosen column, best columns, what each column is worth (- if it is full), player,
/// kind, in how many games, and the first of these. --openings of a match takes it as a list of openings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold review 44444453112
  fourfold review match.ndjson --mistakes mistakes.tsv
  fourfold review rMsKDFbhAF --data ./fourfold-data")]
pub(super) struct ReviewCommand {
    /// The moves of a game, one base-36 column digit each from 1, the id of a game of the arena, or the file of a log.
    #[arg(value_name = "MOVES, GAME or LOG")]
    game: String,
    /// Board size and line length, such as 7x6 or 9x6x5; a game of the arena has its own.
    #[arg(long, value_name = "V", default_value_t)]
    variant: Variant,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Write the moves that threw a win or a draw away to this file.
    #[arg(long, value_name = "FILE.tsv")]
    mistakes: Option<PathBuf>,
    #[command(flatten)]
    data: DataArg,
}

/// A game with what it takes to judge it.
struct FoundGame {
    id: Option<GameId>,
    game: Game,
    /// Plies of its opening, which nobody chose.
    opening: u32,
    /// Who played; the sides' names if it is not known.
    players: BySide<String>,
}

impl ReviewCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        // No list of moves and no id has a full stop or a slash.
        if self.game.contains(['.', '/']) {
            return log::run(Path::new(&self.game), self.json, self.mistakes.as_deref());
        }
        let FoundGame { id, game, opening, players } = self.find()?;
        let interrupt = Interrupt::listen()?;
        let limits = SearchLimits { nodes: None, stop: interrupt.stop().flag() };
        // Ends early only if it is interrupted.
        let Ok(Solved { value: columns, .. }) = Judge::new(Solver::new()).scores(&game, opening, limits)
        else {
            return Ok(interrupt.check(|| "there was nothing to keep".to_owned())?);
        };
        let review = Verdicts::from_ply(&game, opening, &columns);
        if let Some(file) = &self.mistakes {
            let id = id.as_ref().map_or("", GameId::as_str);
            let scored = ScoredGame { id, game: &game, from_ply: opening, scores: &columns };
            let mut costly = CostlyMoves::default();
            for side in Side::BOTH {
                costly.add(&scored, side, &players[side]);
            }
            write_mistakes(file, costly)?;
        }
        if self.json {
            return output::print_json(&ReviewView::new(id, &game, opening, &review));
        }
        Ok(print(&review)?)
    }

    fn find(&self) -> anyhow::Result<FoundGame> {
        let refused = match Game::from_moves(self.variant, &self.game) {
            Ok(game) => {
                let players = BySide::from_fn(|side| name(side).to_owned());
                return Ok(FoundGame { id: None, game, opening: 0, players });
            }
            Err(error) => Exit::usage(format!("MOVES: {error}")),
        };
        // Digits were meant as moves.
        let is_id = !self.game.bytes().all(|byte| byte.is_ascii_digit());
        match self.game.parse::<GameId>() {
            Ok(id) if is_id => self.fetch(&id),
            Ok(_) | Err(_) => Err(refused.into()),
        }
    }

    fn fetch(&self, id: &GameId) -> anyhow::Result<FoundGame> {
        let record = self.data.command(async |daemon| daemon.game(id).await)?;
        if record.result.is_none() {
            return Err(Exit::new(Code::TryLater, "a game is judged when it is over").into());
        }
        let game = Game::from_moves(record.variant.0, &record.moves)?;
        let opening = u32::try_from(record.opening.moves.len())?.min(game.ply());
        let players =
            BySide { first: record.players.first.name.clone(), second: record.players.second.name.clone() };
        Ok(FoundGame { id: Some(id.clone()), game, opening, players })
    }
}

/// Writes the file of --mistakes.
fn write_mistakes(file: &Path, costly: CostlyMoves) -> anyhow::Result<()> {
    let failed = |error| Exit::new(Code::Io, format!("cannot write {}: {error}", file.display()));
    Ok(std::fs::write(file, mistakes::tsv(&costly.sorted())).map_err(failed)?)
}

fn print(verdicts: &Verdicts) -> io::Result<()> {
    let head = ["Move", "Side", "Column", "Before", "After", "Best", ""];
    output::print_table(head, &verdicts.moves().iter().map(row).collect::<Vec<_>>())?;
    let mut out = io::stdout().lock();
    for side in Side::BOTH {
        writeln!(out, "{}: {}", name(side), summary(&verdicts.skill()[side]))?;
    }
    match verdicts.turning_point() {
        Some(verdict) => writeln!(out, "turning point: move {}", verdict.ply + 1),
        None => writeln!(out, "turning point: none"),
    }
}

fn row(verdict: &Verdict) -> [String; 7] {
    let best: Vec<String> = verdict.best.iter().map(ToString::to_string).collect();
    [
        (verdict.ply + 1).to_string(),
        name(verdict.side).to_owned(),
        verdict.column.to_string(),
        verdict.before.to_string(),
        verdict.after.to_string(),
        best.join(" "),
        verdict.mistake().map_or_else(String::new, |mistake| mistake.to_string()),
    ]
}

fn name(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.0} %", rate * 100.0))
}

/// `1 move`, `2 moves`.
fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

fn summary(skill: &Skill) -> String {
    format!(
        "accuracy {} of {}, {} of {} optimal, {}",
        percent(skill.accuracy()),
        counted(skill.decisions(), "decision"),
        percent(skill.optimal_rate()),
        counted(skill.moves(), "move"),
        counted(skill.blunders(), "blunder")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        let counts = [0, 1, 2].map(|count| counted(count, "blunder"));
        assert_eq!(counts, ["0 blunders", "1 blunder", "2 blunders"]);
    }
}
