//! Prints the tables of `docs/fair-play.md`:
//! `cargo run --release -p fourfold-arena --example fair_play -- 1`, some minutes; the number is the seed.

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

/// Rated games of each.
const PLAYED: u32 = 50;

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let pool = Pool::new(&LEVELS, GAMES, PEOPLE, seed);
    println!("| player | level | players | hard decisions | found | median games | 90 % within |");
    println!("|---|---|---|---|---|---|---|");
    let honest = [Kind::Steady, Kind::Streaky, Kind::Planner, Kind::Improving];
    let better = [1.0, 2.0, 3.0, 4.0].map(Kind::Underrated);
    let mut stream = 2;
    for kind in honest.into_iter().chain(better) {
        for level in LEVELS {
            line(&pool, level, kind, HONEST, seed, stream);
            stream += 1;
        }
    }
    let shares = [0.1, 0.25, 0.5, 0.75, 1.0];
    for kind in shares.map(Kind::Helped).into_iter().chain(shares.map(Kind::HelpedWhereHard)) {
        for level in LEVELS {
            line(&pool, level, kind, HELPED, seed, stream);
            stream += 1;
        }
    }
}

fn line(pool: &Pool, level: u32, kind: Kind, players: usize, seed: u64, stream: u64) {
    let rng = &mut rng::seeded_stream(seed, stream);
    let tried: Vec<Tried> = (0..players).map(|_| pool.try_player(level, kind, PLAYED, rng)).collect();
    let mut found: Vec<u32> = tried.iter().filter_map(|tried| tried.found_after).collect();
    found.sort_unstable();
    let within = |part: usize| {
        found.get((players * part).div_ceil(100) - 1).map_or_else(|| "-".to_owned(), ToString::to_string)
    };
    let decisions = tried.iter().map(|tried| u64::from(tried.decisions)).sum::<u64>() / players as u64;
    let (median, most) = (within(50), within(90));
    println!("| {kind:?} | {level} | {players} | {decisions} | {} | {median} | {most} |", found.len());
}
