//! Compares the exact solver with the crate `connect-four-ai`, whose fastest solver without a book is
//! `Solver::empty()`.
//!
//! Both solve each position in turn, with an empty table each, and the time of the thread on the processor is added up.
//! Both are checked against the score of the file.
//!
//! ```sh
//! cd benches/peers
//! cargo run --release -- begin-medium:30 begin-hard:12:8     # CLASS[:ROWS[:STONES_MIN]]
//! ```

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use fourfold_engine::solver::{SearchLimits, Solver};
use fourfold_engine::{Game, Variant};
use rustix::time::{ClockId, clock_gettime};

/// The rows that the table in `docs/performance.md` has.
const DEFAULT: [&str; 6] = [
    "end-easy:400",
    "middle-easy:400",
    "middle-medium:120",
    "begin-easy:100",
    "begin-medium:30",
    "begin-hard:12:8",
];

fn main() -> Result<()> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let classes = if named.is_empty() { DEFAULT.map(str::to_owned).to_vec() } else { named };
    println!("class           rows   nodes   ns/node     our us    peer us   ratio");
    let mut solvers = Solvers { ours: Solver::new(), peer: connect_four_ai::Solver::empty() };
    // Memory that the other solver has not touched yet would count against it.
    solvers.compare("end-easy", 400, 0)?;
    for class in &classes {
        let mut parts = class.split(':');
        let name = parts.next().unwrap_or_default();
        let rows = parts.next().map_or(Ok(usize::MAX), str::parse).context("number of rows")?;
        let stones_min = parts.next().map_or(Ok(0), str::parse).context("least number of stones")?;
        let figures = solvers.compare(name, rows, stones_min)?;
        println!("{}", figures.line(name));
    }
    Ok(())
}

struct Solvers {
    ours: Solver,
    peer: connect_four_ai::Solver,
}

/// Sums over the rows of a class.
#[derive(Default)]
struct Figures {
    rows: u32,
    nodes: u64,
    our_seconds: f64,
    peer_seconds: f64,
}

impl Solvers {
    fn compare(&mut self, class: &str, rows: usize, stones_min: usize) -> Result<Figures> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/data/positions")
            .join(format!("{class}.tsv"));
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let scored = text.lines().skip(1).filter_map(|row| row.split_once('\t'));
        let chosen = scored.filter(|(moves, _)| moves.len() >= stones_min).take(rows);
        let never = AtomicBool::new(false);
        let mut figures = Figures::default();
        for (moves, score) in chosen {
            let expected: i32 = score.parse()?;
            let game = Game::from_moves(Variant::STANDARD, moves)?;
            self.ours.clear();
            let began = cpu_time();
            let solved = self.ours.score(game.position(), SearchLimits { nodes: None, stop: &never })?;
            figures.our_seconds += cpu_time() - began;
            ensure!(solved.value.value() == expected, "{moves}: we say {}", solved.value);

            let position =
                connect_four_ai::Position::from_moves(moves).map_err(|error| anyhow::anyhow!("{error:?}"))?;
            self.peer.reset();
            let began = cpu_time();
            let score = self.peer.solve(&position);
            figures.peer_seconds += cpu_time() - began;
            ensure!(i32::from(score) == expected, "{moves}: the peer says {score}");

            figures.rows += 1;
            figures.nodes += solved.nodes;
        }
        Ok(figures)
    }
}

impl Figures {
    fn line(&self, name: &str) -> String {
        let rows = f64::from(self.rows);
        let (ours, peer) = (self.our_seconds * 1e6 / rows, self.peer_seconds * 1e6 / rows);
        let (nodes, ns) = (self.nodes as f64 / rows, self.our_seconds * 1e9 / self.nodes as f64);
        format!("{name:14} {rows:5} {nodes:7.0} {ns:9.0} {ours:10.1} {peer:10.1} {:7.3}", ours / peer)
    }
}

/// Seconds that this thread has had the processor.
fn cpu_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
