//! Plays any legal column until Ctrl-C, or as many games as its argument says.

use std::env;
use std::hash::{BuildHasher, RandomState};

use fourfold_bot::{Choice, Settings, Turn, run};
use serde_json::json;

fn choose(turn: &Turn) -> Choice {
    let chance = RandomState::new().hash_one(turn.ply) as usize % turn.legal.len();
    Choice(turn.legal[chance], json!({ "note": format!("one of {}", turn.legal.len()) }))
}

#[tokio::main]
async fn main() -> Result<(), String> {
    let games = env::args().nth(1).and_then(|text| text.parse().ok());
    run(choose, Settings { games, ..Settings::new("random", "1") }).await
}
