//! Writes the decisions that ship with the program:
//! `cargo run --release --example decisions > arena/data/decisions.txt`, some minutes.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use fourfold_arena::measure::decisions;

/// Of these, some four in ten are decisions.
const GAMES: u32 = 2_400;

fn main() {
    println!("# {GAMES} games of seed {}: moves, and the columns that keep the result.", decisions::SEED);
    for (game, decision) in decisions::draw(GAMES) {
        println!("{}", decision.line(&game));
    }
}
