//! Games of a network against itself.

use fourfold_engine::rng::GameRng;
use fourfold_engine::search::Tactics;
use fourfold_engine::{Bitboard, Column, Position, Side};
use rand::RngExt;

use super::average::Average;
use super::network::{Network, squash};
use super::trace::{BestValue, Trace};
use super::walk::{Walk, sign};

/// How a game against oneself is played and learnt from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Manner {
    /// Share of moves that are drawn.
    pub(super) exploration: f32,
    /// Weight of what comes out later against the next value.
    pub(super) lambda: f32,
    /// Size of a step, for each weight.
    pub(super) step: f32,
    pub(super) sight: Sight,
}

/// How far one looks to value a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sight {
    /// At the position that it makes.
    Moves,
    /// At the best reply to it, which takes several times as long.
    Replies,
}

/// Plays and learns. One for each thread.
#[derive(Debug)]
pub(super) struct SelfPlay<'n> {
    network: &'n Network,
    /// Whose values are learnt, if not the network's own.
    teacher: Option<&'n Average>,
    walk: Walk<'n>,
    trace: Trace,
}

impl<'n> SelfPlay<'n> {
    pub(super) fn new(network: &'n Network, teacher: Option<&'n Average>) -> Self {
        Self { network, teacher, walk: Walk::new(network), trace: Trace::new() }
    }

    /// Plays a game on from a position that is not over and learns from it. Returns the position after which an
    /// advantage was lost, if one was.
    ///
    /// Wins in one and parries are played unseen, as the bot does: weights are for what that rule cannot tell.
    pub(super) fn play(&mut self, begin: Position, manner: Manner, rng: &mut GameRng) -> Option<Position> {
        self.walk.set(begin);
        self.trace.clear();
        if begin.ply() > 0 {
            self.trace.visit(&self.walk, self.walk.sum());
        }
        // 1 if the first player wins, -1 if the second does.
        let result = loop {
            if self.walk.position().is_full() {
                break 0.0;
            }
            let side = self.walk.position().side_to_move();
            match Tactics::of(self.walk.position()) {
                Tactics::Win(_) => break sign(side),
                Tactics::Lost(_) => break -sign(side),
                Tactics::Safe(cells) => self.play_move(cells, manner, rng),
            }
        };
        let lost = self.trace.lost_advantage(result);
        self.trace.learn(self.network, result, manner.lambda, manner.step);
        lost
    }

    fn play_move(&mut self, cells: Bitboard, manner: Manner, rng: &mut GameRng) {
        let side = self.walk.position().side_to_move();
        let valued = match manner.sight {
            Sight::Moves => self.walk.value_moves(cells),
            Sight::Replies => self.walk.value_moves_by_replies(cells),
        };
        let (best, sum) = valued.best();
        let moves = valued.as_slice();
        let (column, played) = if moves.len() > 1 && rng.random::<f32>() < manner.exploration {
            moves[rng.random_range(0..moves.len())]
        } else {
            (best, sum)
        };
        let value = match (manner.sight, self.teacher) {
            (Sight::Moves, Some(teacher)) => squash(self.sum_by(teacher, best, side)),
            (Sight::Moves, None) | (Sight::Replies, _) => squash(sum) * sign(side),
        };
        self.trace.set_best(BestValue { value, is_missed: column != best });
        self.walk.play(column);
        let own = match manner.sight {
            Sight::Moves => played * sign(side),
            Sight::Replies => self.walk.sum(),
        };
        self.trace.visit(&self.walk, own);
    }

    /// The sum of the average's weights after a move of `side`, for the first player.
    fn sum_by(&mut self, teacher: &Average, column: Column, side: Side) -> f32 {
        self.walk.after(column, |walk| teacher.sum(side, walk.indices()))
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Game, rng};

    use super::super::average::AveragePace;
    use super::super::layout::VARIANT;
    use super::super::shape::NetworkShape;
    use super::*;

    const MANNER: Manner = Manner { exploration: 0.1, lambda: 0.7, step: 0.02, sight: Sight::Moves };

    fn network() -> Network {
        Network::new(NetworkShape::draw(12, 6, 5))
    }

    fn position(moves: &str) -> Position {
        *Game::from_moves(VARIANT, moves).unwrap().position()
    }

    fn play(network: &Network, teacher: Option<&Average>, begin: Position, manner: Manner, games: u64) {
        let mut playing = SelfPlay::new(network, teacher);
        for number in 0..games {
            playing.play(begin, manner, &mut rng::seeded_stream(1, number));
        }
    }

    fn value(network: &Network, moves: &str) -> f32 {
        let mut walk = Walk::new(network);
        walk.set(position(moves));
        squash(walk.sum())
    }

    #[test]
    fn the_position_in_which_a_game_begins_is_learnt_too() {
        let network = network();
        // The first player threatens columns 3 and 7 at once, so the game is over before a move is chosen.
        play(&network, None, position("44556"), MANNER, 200);
        assert!(value(&network, "44556") > 0.9, "{}", value(&network, "44556"));
    }

    #[test]
    fn what_a_teacher_says_is_learnt() {
        for (weight, sign) in [(1.0, 1.0), (-1.0, -1.0)] {
            let [sure, taught] = [network(), network()];
            sure.set_weights(std::iter::repeat_n(weight, sure.weight_count()));
            let manner = Manner { lambda: 0.0, ..MANNER };
            play(&taught, Some(&Average::new(&sure)), position(""), manner, 300);
            assert!(sign * value(&taught, "4") > 0.5, "{}", value(&taught, "4"));
        }
    }

    #[test]
    fn a_teacher_that_is_the_network_itself_teaches_nearly_the_same() {
        let [alone, taught] = [network(), network()];
        for (network, with_teacher) in [(&alone, false), (&taught, true)] {
            for number in 0..200 {
                let mut teacher = Average::new(network);
                teacher.follow(network, 1, AveragePace { games: 1, share: 1.0 });
                let mut playing = SelfPlay::new(network, with_teacher.then_some(&teacher));
                playing.play(position(""), MANNER, &mut rng::seeded_stream(1, number));
            }
        }
        let both = alone.weights().zip(taught.weights());
        let difference = both.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-3, "sums are added in another order: {difference}");
    }

    #[test]
    fn who_looks_at_replies_sees_a_trap_before_having_met_it() {
        // . . . O O . .   The first player moves, and wins by a third stone on either side.
        // . . . X X . .
        let learnt = [Sight::Moves, Sight::Replies].map(|sight| {
            let network = network();
            let manner = Manner { exploration: 0.0, lambda: 0.0, sight, ..MANNER };
            play(&network, None, position("4455"), manner, 1);
            value(&network, "4455")
        });
        assert_eq!(learnt[0].to_bits(), 0.0_f32.to_bits(), "at first sight nothing is known");
        assert!(learnt[1] > 0.2, "{learnt:?}");
    }
}
