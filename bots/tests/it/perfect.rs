//! The perfect bot wins from the empty board whenever it moves first, whoever sits opposite.

use std::sync::atomic::AtomicBool;

use fourfold_bots::{BotSpec, MoveBudget, registry};
use fourfold_engine::{Game, Outcome, Side, Variant};

use crate::support::build;

/// Nodes a move of the opponents: enough for all that have a depth or a number of playouts, and an end for the others.
const OPPONENT_NODES: u64 = 20_000;

/// Plays a game in which `perfect` moves first.
fn play_first(opponent: &str, seed: u64) -> (Game, Outcome) {
    let opponent = opponent.parse::<BotSpec>().unwrap().with_default_seed(seed).to_string();
    let mut perfect = build(&format!("perfect:seed={seed}"), Variant::STANDARD);
    let mut opponent = build(&opponent, Variant::STANDARD);
    let mut game = Game::new(Variant::STANDARD);
    loop {
        let (bot, nodes) = match game.position().side_to_move() {
            Side::First => (&mut perfect, None),
            Side::Second => (&mut opponent, Some(OPPONENT_NODES)),
        };
        let budget = MoveBudget { nodes, time: None };
        let choice = bot.choose(game.position(), budget, &AtomicBool::new(false)).unwrap();
        if let Some(outcome) = game.play(choice.column).unwrap() {
            return (game, outcome);
        }
    }
}

#[track_caller]
fn check_wins(opponent: &str, games: u64) {
    for seed in 0..games {
        let (game, outcome) = play_first(opponent, seed);
        let is_won = matches!(outcome, Outcome::Win { by: Side::First, line: _ });
        assert!(is_won, "{opponent} held {} with seed {seed}", game.notation());
    }
}

#[test]
fn it_wins_a_game_against_some() {
    for opponent in ["stupid", "montecarlo", "alphabeta"] {
        check_wins(opponent, 1);
    }
}

#[test]
#[ignore = "takes long: 200 games against every other bot"]
fn it_wins_every_game_against_every_bot() {
    for entry in registry::entries().iter().filter(|entry| entry.name != "perfect") {
        check_wins(entry.name, 200);
        println!("200 games won against {}", entry.name);
    }
}
