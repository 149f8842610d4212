//! Games between two bots.

use std::sync::atomic::AtomicBool;

use fourfold_bots::{Bot, BotSpec, MoveBudget, registry};
use fourfold_engine::{BySide, Game, Outcome, Side, Variant};

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

/// Wins, draws and losses of one bot.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) wins_as: BySide<u32>,
    pub(crate) draws: u32,
    pub(crate) losses: u32,
}

impl Record {
    /// Points at 3 a win and 1 a draw.
    pub(crate) fn points(&self) -> u32 {
        3 * self.wins() + self.draws
    }

    pub(crate) fn wins(&self) -> u32 {
        self.wins_as.first + self.wins_as.second
    }

    fn count(&mut self, side: Side, outcome: Outcome) {
        match outcome {
            Outcome::Win { by, line: _ } if by == side => self.wins_as[side] += 1,
            Outcome::Win { by: _, line: _ } => self.losses += 1,
            Outcome::Draw => self.draws += 1,
        }
    }
}

/// Plays `pairs` pairs of games from the empty 7x6 board, one with each colour, and returns the record of
/// `bot`. Bots that draw get a new seed for each pair.
pub(crate) fn match_of(bot: &str, opponent: &str, pairs: u64) -> Record {
    let variant = Variant::STANDARD;
    let seeded = |spec: &str, seed| spec.parse::<BotSpec>().unwrap().with_default_seed(seed).to_string();
    let mut record = Record::default();
    for seed in 0..pairs {
        for side in Side::BOTH {
            let name =
                |seat| if seat == side { seeded(bot, 2 * seed) } else { seeded(opponent, 2 * seed + 1) };
            let bots = BySide::from_fn(|seat| build(&name(seat), variant));
            record.count(side, play(bots, Game::new(variant), MATCH_NODES));
        }
    }
    record
}
