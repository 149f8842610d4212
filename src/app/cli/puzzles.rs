//! `fourfold puzzles`: puzzles from saved games, and how hard they are.

mod figures;
mod grade;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use crate::analysis::judged::GameJudge;
use crate::model::time::UnixMillis;
use crate::storage::puzzles::NewPuzzle;
use crate::study::puzzles::mining::mine;
use crate::study::puzzles::shipped::line_of;
use fourfold_engine::{Game, Variant};
use serde::Deserialize;

use crate::app::terminal::exit::Code;
use crate::app::terminal::exit::Exit;
use crate::app::terminal::input;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::progress::ProgressLine;

/// Find puzzles in saved games: positions in which one column alone keeps the win or the draw.
///
/// The file has records, one a line: the log of a match or a tournament, or what `fourfold games export` wrote. Each
/// line of the output is a puzzle: what is to be found, its grade in Elo points, its quality, the moves to the
/// position, and the solution with the replies. The best ones are printed, the easiest first; mirror images count as
/// one.
///
/// Until somebody tries a puzzle, its grade says how hard it looks. With --grade bots of the house of all levels try
/// each, several times where chance is at play, and the grade follows from who solves it: the rating of whoever would
/// solve it half the time. What they do is counted in nodes, so the same seed gives the same grades on every machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold match negamax:depth=4 mcts:ms=5 --games 200 --seed 7 --save games.ndjson
  fourfold puzzles games.ndjson --keep 20 > puzzles.txt
  fourfold puzzles --grade puzzles.txt > graded.txt")]
pub(super) struct PuzzlesCommand {
    /// Records, one a line; `-` reads standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print so many at most.
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "grade")]
    keep: usize,
    /// Read puzzles instead, as this command prints them, and print them with the grades that bots of the house give
    /// them; on standard error, how each of the bots did.
    #[arg(long)]
    grade: bool,
    /// What the bots draw that draw.
    #[arg(long, value_name = "S", default_value_t = 1, requires = "grade")]
    seed: u64,
    /// Puzzles at the same time; as many as there are cores unless given.
    #[arg(long, value_name = "N", requires = "grade", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

/// What is read of a record; other lines of a log have no moves.
#[derive(Debug, Deserialize)]
struct RecordLine {
    #[serde(default)]
    moves: String,
    #[serde(default)]
    variant: Option<String>,
    #[serde(default)]
    opening: RecordOpening,
}

#[derive(Debug, Default, Deserialize)]
struct RecordOpening {
    #[serde(default)]
    moves: String,
}

impl PuzzlesCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        if self.grade { grade::run(&self.files, self.seed, self.threads) } else { self.find() }
    }

    fn find(self) -> anyhow::Result<()> {
        let interrupt = Interrupt::listen()?;
        let mut found = HashMap::new();
        let mut progress = ProgressLine::unbounded("games");
        let mut judge = GameJudge::new();
        for path in &self.files {
            let name = path.display().to_string();
            let mut unreadable = None;
            for (line, number) in input::open(path)?.lines().zip(1..) {
                if interrupt.is_told() {
                    break;
                }
                let line = line.map_err(|error| input::unreadable(path, &error))?;
                progress.advance(1);
                if let Some(number) = unreadable {
                    return Err(no_record(&name, number).into());
                }
                if !is_readable(&line) {
                    unreadable = Some(number);
                    continue;
                }
                let Some((game, opening)) = read(&line) else { continue };
                let stop = interrupt.stop().flag();
                let judged = judge.judge(game, opening, stop);
                let Some(puzzle) = judged.and_then(|judged| mine(&judged, &mut judge, stop)) else {
                    continue;
                };
                let puzzle = puzzle.into_puzzle(None, UnixMillis(0));
                found.entry(puzzle.id.clone()).or_insert(puzzle);
            }
            // A last line may be torn, but not the only one.
            if unreadable == Some(1) {
                return Err(no_record(&name, 1).into());
            }
        }
        interrupt.check(|| "nothing was printed".to_owned())?;
        Ok(print(best(found.into_values().collect(), self.keep))?)
    }
}

fn no_record(name: &str, line: u64) -> Exit {
    Exit::new(Code::Data, format!("{name}, line {line}: not a record"))
}

/// Whether a line is an object, as records and events are, or empty.
fn is_readable(line: &str) -> bool {
    line.trim().is_empty() || serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line).is_ok()
}

/// A game on the standard board and the plies of its opening. Lines that are none, and torn ones, are passed over.
fn read(line: &str) -> Option<(Game, u32)> {
    let line: RecordLine = serde_json::from_str(line).ok()?;
    if line.moves.is_empty() || line.variant.is_some_and(|variant| variant.parse() != Ok(Variant::STANDARD)) {
        return None;
    }
    let game = Game::from_moves(Variant::STANDARD, &line.moves).ok()?;
    Some((game, u32::try_from(line.opening.moves.len()).ok()?))
}

/// The best ones, the easiest first.
fn best(mut puzzles: Vec<NewPuzzle>, keep: usize) -> Vec<NewPuzzle> {
    puzzles.sort_by(|a, b| (Reverse(a.quality), &a.id).cmp(&(Reverse(b.quality), &b.id)));
    puzzles.truncate(keep);
    puzzles.sort_by(|a, b| (a.prior, &a.id).cmp(&(b.prior, &b.id)));
    puzzles
}

fn print(puzzles: Vec<NewPuzzle>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for puzzle in puzzles {
        writeln!(out, "{}", line_of(&puzzle))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_the_standard_board_are_read() {
        let read = |text| read(text).map(|(game, opening)| (game.notation(), opening));
        let whole = r#"{"id":"g","variant":"7x6","moves":"4455","opening":{"kind":"balanced","moves":"44"}}"#;
        assert_eq!(read(whole), Some(("4455".into(), 2)));
        assert_eq!(read(r#"{"moves":"4455"}"#), Some(("4455".into(), 0)));
        for other in [
            r#"{"event":"end"}"#,
            r#"{"moves":"4455","variant":"9x6"}"#,
            r#"{"moves":"44444444"}"#,
            r#"{"moves":"44"#,
            "",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
