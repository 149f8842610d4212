//! Games between two bots.

use std::sync::atomic::AtomicBool;

use fourfold_bots::{Bot, BotSpec, MoveBudget, registry};
use fourfold_engine::{BySide, Game, Outcome, Side, SideResult, Variant, WinDrawLoss};

pub(crate) fn build(spec: &str, variant: Variant) -> Box<dyn Bot> {
    registry::build(&spec.parse().unwrap(), variant).unwrap()
}

/// Nodes a move in matches: more than bots with a depth or a number of playouts need at their usual settings,
/// and an end for those that would use any time they get.
const MATCH_NODES: u64 = 20_000;

/// Plays one game with so many nodes a move and returns how it ended. Panics if a bot fails or plays an illegal
/// move.
pub(crate) fn play(mut bots: BySide<Box<dyn Bot>>, mut game: Game, nodes: u64) -> Outcome {
    let stop = AtomicBool::new(false);
    let budget = MoveBudget { nodes: Some(nodes), time: None };
    loop {
        let side = game.position().side_to_move();
        let choice = bots[side].choose(game.position(), budget, &stop).unwrap();
        if let Some(outcome) = game.play(choice.column).unwrap() {
            return outcome;
        }
    }
}

/// Plays `pairs` pairs of games from the empty 7x6 board, one with each colour, and returns what `bot`
/// came to with each. Bots that draw get a new seed for each pair.
pub(crate) fn match_of(bot: &str, opponent: &str, pairs: u64) -> BySide<WinDrawLoss> {
    let variant = Variant::STANDARD;
    let seeded = |spec: &str, seed| spec.parse::<BotSpec>().unwrap().with_default_seed(seed).to_string();
    let mut score = BySide::<WinDrawLoss>::default();
    for seed in 0..pairs {
        for side in Side::BOTH {
            let name =
                |seat| if seat == side { seeded(bot, 2 * seed) } else { seeded(opponent, 2 * seed + 1) };
            let bots = BySide::from_fn(|seat| build(&name(seat), variant));
            let outcome = play(bots, Game::new(variant), MATCH_NODES);
            score[side].count(SideResult::of(side, outcome.winner()));
        }
    }
    score
}
