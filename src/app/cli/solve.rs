//! `fourfold solve`: exact scores, one line a position.

mod answer;
mod stream;

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use fourfold_arena::shard::Shard;
use fourfold_arena::time::read_duration;
use fourfold_bots::think;
use fourfold_engine::review::Judge;
use fourfold_engine::solver::wide::{WideSolver, WideVariant};
use fourfold_engine::solver::{SearchLimits, Solver};

use self::answer::{LineSolver, SolveQuestion};
use crate::app::terminal::exit::Exit;

/// More threads than any machine this runs on has cores.
const THREADS_MAX: usize = 256;

/// Score positions exactly: who wins, and when, if both sides play perfectly.
///
/// For each position a line `MOVES score nodes micros`: the score for the side to move (0 a draw, +n a win with the
/// n-th stone counted from one's last, -n a loss to such a win), the positions that the search expanded (0 if the
/// opening book knew), and how long it took in microseconds. Where --nodes or --time run out first, the place of the
/// score is taken by what is proven of it by then, `MOVES >= -2 <= 5 nodes micros`: at least -2, at most 5. A line that
/// makes no sense is answered with `MOVES error: why`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold solve 44353
  fourfold solve --columns 44353
  fourfold solve --variant 9x6x5 --time 10 -
  fourfold solve --variant 8x8 --nodes 1000000 44444444
  cut -f1 positions.tsv | fourfold solve - > scores.txt")]
pub(super) struct SolveCommand {
    /// Only who wins: 1, 0 or -1.
    #[arg(long)]
    weak: bool,
    /// The score of each column instead, `.` for one that is full.
    #[arg(long, conflicts_with = "weak")]
    columns: bool,
    /// Search, even if the opening book knows.
    #[arg(long)]
    no_book: bool,
    /// Positions solved at the same time, or threads for a single one; all cores if left out.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<NonZero<usize>>,
    /// Stop at so many nodes for each position, and say what is proven by then.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Stop after so much time for each position, in seconds or with a unit (500ms), and say what is proven by then.
    #[arg(long, value_name = "S", value_parser = parse_time)]
    time: Option<Duration>,
    /// Solve only the K-th of N equal parts of all lines; what the parts print makes the whole, one behind the other.
    /// All lines are read first.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Board size and line length, such as 7x6, 9x6x5 or 8x8: at most 12 columns, 15 rows and 96 cells, which is more
    /// than can be played.
    #[arg(long, value_name = "V", default_value_t)]
    variant: WideVariant,
    /// Moves from the empty board, one base-36 column digit each from 1; `-`, alone, for one such line after the
    /// other from standard input.
    #[arg(value_name = "MOVES", default_value = "-")]
    positions: Vec<String>,
}

impl SolveCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        if self.positions.len() > 1 && self.positions.iter().any(|moves| moves == "-") {
            return Err(Exit::usage("MOVES: `-`, for lines from standard input, stands alone").into());
        }
        let threads = self.threads.unwrap_or_else(all_cores);
        // A single position gets all threads for itself.
        let is_single = self.positions.len() == 1 && self.positions != ["-"];
        // Nothing is held back that was solved, so Ctrl-C may end the process as it always does.
        let command = &self;
        let answerer = || {
            let mut solver = command.solver(if is_single { threads } else { NonZero::<usize>::MIN });
            move |line: &[u8]| command.answer(line, &mut solver)
        };
        Ok(stream::answer_all(self.lines()?, io::stdout(), threads.get(), answerer)?)
    }

    /// Answers a line within the limits of the flags.
    fn answer(&self, line: &[u8], solver: &mut LineSolver) -> String {
        let stop = AtomicBool::new(false);
        let limits = SearchLimits { nodes: self.nodes, stop: &stop };
        think::stopped_after(self.time, &stop, || solver.answer(self.question(), line, limits))
    }

    /// What is to be answered, a line each.
    fn lines(&self) -> io::Result<Box<dyn Read + Send>> {
        let all: Box<dyn Read + Send> = if self.positions == ["-"] {
            Box::new(io::stdin())
        } else {
            Box::new(Cursor::new(self.positions.join("\n")))
        };
        match self.shard {
            None => Ok(all),
            Some(shard) => Ok(Box::new(Cursor::new(part_of(all, shard)?))),
        }
    }

    fn solver(&self, threads: NonZero<usize>) -> LineSolver {
        let Some(variant) = self.variant.playable() else {
            return LineSolver::Wide(WideSolver::new().with_threads(threads), self.variant);
        };
        let solver = Solver::new().with_threads(threads);
        let judge = if self.no_book { Judge::without_book(solver) } else { Judge::new(solver) };
        LineSolver::Playable(judge, variant)
    }

    fn question(&self) -> SolveQuestion {
        if self.columns {
            SolveQuestion::Columns
        } else if self.weak {
            SolveQuestion::Value
        } else {
            SolveQuestion::Score
        }
    }
}

fn parse_threads(text: &str) -> Result<NonZero<usize>, String> {
    let threads = text.parse().ok().filter(|threads: &NonZero<usize>| threads.get() <= THREADS_MAX);
    threads.ok_or_else(|| format!("a whole number from 1 to {THREADS_MAX}"))
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let time = read_duration(text).filter(|time| !time.is_zero());
    time.ok_or_else(|| "a time such as 10 (seconds), 500ms or 2m, of more than 0 and at most 24h".to_owned())
}

/// The lines of one part.
fn part_of(all: impl Read, shard: Shard) -> io::Result<Vec<u8>> {
    let lines = BufReader::new(all).split(b'\n').collect::<io::Result<Vec<_>>>()?;
    let part = &lines[shard.range(lines.len())];
    Ok(part.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect())
}

fn all_cores() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}
