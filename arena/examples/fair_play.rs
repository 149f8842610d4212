//! Prints the tables of `docs/fair-play.md`:
//! `cargo run --release -p fourfold-arena --example fair_play -- 1 50`, some minutes; the numbers are the seed and
//! how many rated games each plays.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

use fourfold_arena::fair_play::trial::{Kind, Pool, Tried};
use fourfold_engine::rng;

/// Levels whose games are played.
const LEVELS: [u32; 8] = [2, 4, 6, 8, 10, 12, 14, 16];

/// Of each.
const GAMES: u32 = 40;

/// People of each level whose games the yardstick is made of.
const PEOPLE: usize = 30;

/// Honest players of each level and kind.
const HONEST: usize = 50_000;

/// Helped players of each level and kind.
const HELPED: usize = 500;

fn main() {
    let number = |place| std::env::args().nth(place).and_then(|number| number.parse::<u32>().ok());
    let (seed, played) = (u64::from(number(1).unwrap_or(1)), number(2).unwrap_or(50));
    let pool = Pool::new(&LEVELS, GAMES, PEOPLE, seed);
    let mut stream = 2;
    let mut line = |kind: Kind, players: usize, cell: &dyn Fn(&[Tried]) -> String| {
        let cells = LEVELS.map(|level| {
            stream += 1;
            let rng = &mut rng::seeded_stream(seed, stream);
            let tried: Vec<Tried> = (0..players).map(|_| pool.try_player(level, kind, played, rng)).collect();
            cell(&tried)
        });
        println!("| {kind:?} | {} |", cells.join(" | "));
    };
    println!("{HONEST} honest players of each kind and level, {played} games each: how many were found\n");
    println!(
        "| level | {} |\n|---|---|---|---|---|---|---|---|---|",
        LEVELS.map(|level| level.to_string()).join(" | ")
    );
    let better = [1.0, 2.0, 3.0, 4.0].map(Kind::Underrated);
    for kind in [Kind::Steady, Kind::Streaky, Kind::Planner, Kind::Improving].into_iter().chain(better) {
        line(kind, HONEST, &|tried| found(tried).len().to_string());
    }
    println!("\n{HELPED} helped ones: the share found; the games until half were, and nine of ten\n");
    let shares = [0.1, 0.25, 0.5, 0.75, 1.0];
    for kind in shares.map(Kind::Helped).into_iter().chain(shares.map(Kind::HelpedWhereHard)) {
        line(kind, HELPED, &|tried| {
            let found = found(tried);
            let within = |part: usize| {
                let game = found.get((tried.len() * part).div_ceil(100) - 1);
                game.map_or_else(|| "-".to_owned(), ToString::to_string)
            };
            format!("{} %, {}, {}", found.len() * 100 / tried.len(), within(50), within(90))
        });
    }
    println!("\nhard decisions of a steady player in {played} games, on average\n");
    line(Kind::Steady, HELPED, &|tried| {
        let sum: usize = tried.iter().map(|tried| tried.decisions as usize).sum();
        (sum / tried.len()).to_string()
    });
}

/// After which games players were found, the first first.
fn found(tried: &[Tried]) -> Vec<u32> {
    let mut found: Vec<u32> = tried.iter().filter_map(|tried| tried.found_after).collect();
    found.sort_unstable();
    found
}
