//! Puzzles graded by bots of the house of all levels.

use std::io::{self, BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread;

use fourfold_bots::BotError;
use fourfold_engine::{Game, Variant};

use super::figures::{Figures, GradedPuzzle};
use crate::analysis::judged::GameJudge;
use crate::app::laboratory::crew;
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::input;
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::progress::ProgressLine;
use crate::storage::puzzles::{Goal, NewPuzzle};
use crate::study::puzzles::shipped::{line_of, read_line};
use crate::study::puzzles::trial::{self, TrialBot};

/// Positions that the solver may expand to say how long a win takes. Whoever found the puzzle has solved it within as
/// many.
const NODES_MAX: u64 = 5_000_000;

/// A line of a file of puzzles.
enum Line {
    /// What people wrote between them.
    Comment(String),
    Puzzle(NewPuzzle),
}

/// Reads puzzles, lets the bots try them, and prints them with their grades, where they stood.
pub(super) fn run(files: &[PathBuf], seed: u64, threads: Option<u16>) -> anyhow::Result<()> {
    let interrupt = Interrupt::listen()?;
    let mut lines = Vec::new();
    for path in files {
        lines.extend(read(path)?);
    }
    let puzzles: Vec<(usize, &NewPuzzle)> = lines.iter().enumerate().filter_map(puzzle_of).collect();
    let bots = trial::bots();
    let mut graded = Vec::with_capacity(puzzles.len());
    let mut progress = ProgressLine::new(puzzles.len() as u64, "puzzles");
    crew::share(
        threads.unwrap_or_else(processors),
        &puzzles,
        GameJudge::new,
        |judge, &(place, puzzle)| -> Result<_, BotError> {
            let done = grade(&bots, judge, puzzle, seed, interrupt.stop().flag())?;
            Ok(done.map(|graded| (place, graded)))
        },
        |done| {
            graded.push(done);
            progress.advance(1);
        },
    )?;
    drop(progress);
    interrupt.check(|| "nothing was printed".to_owned())?;
    graded.sort_by_key(|(place, _)| *place);
    let graded: Vec<GradedPuzzle> = graded.into_iter().map(|(_, graded)| graded).collect();
    print(&lines, &graded)?;
    // Without standard error there is nobody to tell.
    let _ = write!(io::stderr(), "{}", Figures::of(&bots, &graded));
    Ok(())
}

fn puzzle_of((place, line): (usize, &Line)) -> Option<(usize, &NewPuzzle)> {
    match line {
        Line::Comment(_) => None,
        Line::Puzzle(puzzle) => Some((place, puzzle)),
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<Line>> {
    let name = path.display();
    let mut lines = Vec::new();
    for (line, number) in input::open(path)?.lines().zip(1..) {
        let line = line.map_err(|error| input::unreadable(path, &error))?;
        let puzzle = || {
            let message = || format!("{name}, line {number}: not a puzzle as `fourfold puzzles` prints it");
            read_line(&line).ok_or_else(|| Exit::new(Code::Data, message()))
        };
        lines.push(if line.is_empty() || line.starts_with('#') {
            Line::Comment(line)
        } else {
            Line::Puzzle(puzzle()?)
        });
    }
    Ok(lines)
}

/// `None` if it was told to stop.
fn grade(
    bots: &[TrialBot],
    judge: &mut GameJudge,
    puzzle: &NewPuzzle,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Option<GradedPuzzle>, BotError> {
    let Some(trial) = trial::hold(bots, puzzle, seed, stop)? else { return Ok(None) };
    let win_plies = match puzzle.goal {
        Goal::Win => plies_of_win(judge, puzzle, stop),
        Goal::Draw => None,
    };
    Ok(Some(GradedPuzzle { puzzle: puzzle.clone(), trial, win_plies }))
}

fn plies_of_win(judge: &mut GameJudge, puzzle: &NewPuzzle, stop: &AtomicBool) -> Option<u32> {
    let game = Game::from_moves(Variant::STANDARD, &puzzle.moves).ok()?;
    let best = judge.columns(game.position(), NODES_MAX, stop)?.best()?;
    Some(best.plies_to_end(game.position()))
}

fn print(lines: &[Line], graded: &[GradedPuzzle]) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut graded = graded.iter();
    for line in lines {
        match line {
            Line::Comment(text) => writeln!(out, "{text}")?,
            Line::Puzzle(puzzle) => {
                let prior = graded.next().map_or(puzzle.prior, |graded| graded.trial.grade);
                writeln!(out, "{}", line_of(&NewPuzzle { prior, ..puzzle.clone() }))?;
            }
        }
    }
    out.flush()
}

fn processors() -> u16 {
    thread::available_parallelism().ok().and_then(|cores| u16::try_from(cores.get()).ok()).unwrap_or(1)
}
