//! `fourfold solve`: exact scores, one line a position.

mod answer;
mod stream;

use std::io::{self, Cursor};
use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::thread;

use fourfold_engine::Variant;
use fourfold_engine::review::Judge;
use fourfold_engine::solver::{SearchLimits, Solver};

use self::answer::{SolveQuestion, SolveTask};

/// More threads than any machine this runs on has cores.
const THREADS_MAX: usize = 256;

/// Score positions exactly: who wins, and when, if both sides play perfectly.
///
/// For each position a line `MOVES score nodes micros`: the score for the side to move (0 a draw, +n a win with the
/// n-th stone counted from one's last, -n a loss to such a win), the positions that the search expanded (0 if the
/// opening book knew), and how long it took in microseconds. A line that makes no sense is answered with
/// `MOVES error: why`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold solve 44353
  fourfold solve --columns 44353
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
    /// Board size and line length, such as 7x6 or 9x6x5.
    #[arg(long, value_name = "V", default_value_t)]
    variant: Variant,
    /// Moves from the empty board, one base-36 column digit each from 1; `-` for one such line after the other from
    /// standard input.
    #[arg(value_name = "MOVES", default_value = "-")]
    positions: Vec<String>,
}

impl SolveCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let task = SolveTask { question: self.question(), variant: self.variant };
        let threads = self.threads.unwrap_or_else(all_cores);
        // A single position gets all threads for itself.
        let is_single = self.positions.len() == 1 && self.positions != ["-"];
        // Nothing is held back that was solved, so Ctrl-C may end the process as it always does.
        let stop = AtomicBool::new(false);
        let answerer = || {
            let mut judge = self.judge(if is_single { threads } else { NonZero::<usize>::MIN });
            let limits = SearchLimits { nodes: None, stop: &stop };
            move |line: &[u8]| task.answer(line, &mut judge, limits)
        };
        if self.positions == ["-"] {
            return Ok(stream::answer_all(io::stdin(), io::stdout(), threads.get(), answerer)?);
        }
        let lines = Cursor::new(self.positions.join("\n"));
        Ok(stream::answer_all(lines, io::stdout(), threads.get(), answerer)?)
    }

    fn judge(&self, threads: NonZero<usize>) -> Judge {
        let solver = Solver::new().with_threads(threads);
        if self.no_book { Judge::without_book(solver) } else { Judge::new(solver) }
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

fn all_cores() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}
