//! Writes the classes of positions that ship with the program:
//! `cargo run --release --example classes > arena/data/classes.txt`, some minutes.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::fs;

use fourfold_arena::measure::classes::{self, PositionClass};
use fourfold_engine::review::Judge;
use fourfold_engine::solver::Solver;

/// Of the thousand of each class. Of 5 % mistakes in so many, one is sure to 2 %.
const POSITIONS: usize = 500;

/// Where the classes are, in the repository.
const SOURCE: &str = "tests/data/positions";

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "# The first {POSITIONS} positions of each class in {SOURCE}: class, moves, and the columns that keep the result."
    );
    let mut judge = Judge::new(Solver::new());
    for class in PositionClass::ALL {
        let rows = fs::read_to_string(format!("{}/../{SOURCE}/{class}.tsv", env!("CARGO_MANIFEST_DIR")))?;
        let moves = rows.lines().skip(1).filter_map(|row| row.split('\t').next());
        for moves in moves.take(POSITIONS) {
            let line = classes::solved_line(class, moves, &mut judge)?;
            println!("{}", line.ok_or("a game of the source is over")?);
        }
    }
    Ok(())
}
