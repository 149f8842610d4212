//! Random games, the raw material of Monte Carlo bots.

use crate::board::{Bitboard, Column, Position, Side, Variant};
use crate::rng::{self, PlayoutRng};
use crate::tally::{SideResult, WinDrawLoss};

/// How a random game ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Playout {
    /// `None` for a draw.
    pub winner: Option<Side>,
    /// Stones on the board at the end.
    pub ply: u32,
}

/// Plays uniformly random legal moves from `position` to the end of the game; nothing if it is over already.
pub fn play_out(position: &Position, rng: &mut PlayoutRng) -> Playout {
    if position.has_line_of_last_mover() {
        return Playout { winner: Some(position.side_to_move().opponent()), ply: position.ply() };
    }
    // Two copies of one loop: where the variant is a constant the compiler folds every stride and mask.
    if position.variant() == Variant::STANDARD {
        play_out_on(Variant::STANDARD, position, rng)
    } else {
        play_out_on(position.variant(), position, rng)
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "the masks are folded only where the variant is a constant")]
fn play_out_on(variant: Variant, position: &Position, rng: &mut PlayoutRng) -> Playout {
    let (mut mine, mut mask) = (position.mine(), position.mask());
    while mask != Bitboard::full(variant) {
        let stone = draw_stone(variant, mask, rng);
        mine |= stone;
        mask |= stone;
        // Only the side that moved can have a new line.
        if mine.has_line_folded(variant) {
            let ply = mask.count();
            return Playout { winner: Some(Side::to_move_at(ply).opponent()), ply };
        }
        mine = mask.without(mine);
    }
    Playout { winner: None, ply: variant.cells() }
}

/// The cell of a stone dropped into a random open column; the board must not be full.
///
/// Draws from all columns and again if the column is full, which leaves the open ones equally likely. Picking
/// the n-th open column from a table took twice as long a game: it waits for the board at every ply, while a
/// column drawn blindly is ready before the last stone has landed, and most games end before many columns are
/// full.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the masks are folded only where the variant is a constant")]
fn draw_stone(variant: Variant, mask: Bitboard, rng: &mut PlayoutRng) -> Bitboard {
    let tops = mask.tops(Bitboard::bottom_row(variant));
    loop {
        let column = Column::new_unchecked(rng.below(variant.width()));
        let stone = tops & Bitboard::column(column, variant);
        // Of a full column the top is the guard, which is not among the column's cells.
        if !stone.is_empty() {
            return stone;
        }
    }
}

/// Multiplier of the FNV-1a hash.
const FNV_PRIME: u64 = 0x0000_0100_0000_01B3;

/// What a series of playouts amounted to. The same for equal arguments, on every machine.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PlayoutReport {
    /// As the first side sees the games.
    pub score: WinDrawLoss,
    /// Stones played in all games together.
    pub plies: u64,
    /// Depends on the result and length of every game in turn: a refactoring must not move it.
    pub checksum: u64,
}

impl PlayoutReport {
    fn count(&mut self, playout: Playout) {
        self.score.count(SideResult::of(Side::First, playout.winner));
        self.plies += u64::from(playout.ply);
        let result = match playout.winner {
            None => 0,
            Some(Side::First) => 1,
            Some(Side::Second) => 2,
        };
        self.checksum = (self.checksum ^ (u64::from(playout.ply) * 3 + result)).wrapping_mul(FNV_PRIME);
    }
}

/// Plays `games` random games from the empty 7x6 board. The caller takes the time, if it wants to.
///
/// `fourfold bench playouts` prints games a second: 11 million on one core of a server of 2024, 4 ns a ply.
pub fn bench(games: u64, seed: u64) -> PlayoutReport {
    let start = Position::new(Variant::STANDARD);
    let mut rng = PlayoutRng::from_rng(&mut rng::seeded(seed));
    let mut report = PlayoutReport::default();
    for _ in 0..games {
        report.count(play_out(&start, &mut rng));
    }
    report
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::game::Game;

    #[test]
    fn series_do_not_move() {
        let report = bench(1000, 1);
        assert_eq!(report.score.games(), 1000);
        assert_eq!((report.plies, report.checksum), (21_096, 9_684_270_820_959_373_140));
    }

    /// A position with `empty` empty cells that nobody has won yet.
    fn late_position(variant: Variant, empty: u32, rng: &mut rng::GameRng) -> Position {
        loop {
            let mut position = Position::new(variant);
            while position.ply() + empty < variant.cells() && !position.has_line_of_last_mover() {
                let open: Vec<Column> = position.open_columns().collect();
                position = position.play_unchecked(open[rng.random_range(0..open.len())]);
            }
            if !position.has_line_of_last_mover() {
                return position;
            }
        }
    }

    /// The chances that `side` wins and that nobody does, by playing all random games.
    fn exact_odds(position: &Position, side: Side) -> [f64; 2] {
        if let Some(outcome) = position.outcome() {
            let winner = outcome.winner();
            return [f64::from(winner == Some(side)), f64::from(winner.is_none())];
        }
        let odds: Vec<[f64; 2]> = position
            .open_columns()
            .map(|column| exact_odds(&position.play_unchecked(column), side))
            .collect();
        let count = f64::from(u32::try_from(odds.len()).unwrap());
        [0, 1].map(|index| odds.iter().map(|odds| odds[index]).sum::<f64>() / count)
    }

    #[test]
    fn results_are_as_likely_as_in_uniform_play() {
        const GAMES: u32 = 40_000;
        let mut rng = rng::seeded(5);
        for (variant, empty) in [("7x6", 9), ("7x6", 8), ("8x7", 8), ("4x4", 10), ("9x6x5", 8), ("12x4", 7)] {
            let position = late_position(variant.parse().unwrap(), empty, &mut rng);
            let [wins, draws] = exact_odds(&position, Side::First);
            let mut playouts = PlayoutRng::from_rng(&mut rng);
            let mut counts = [0, 0];
            for _ in 0..GAMES {
                let playout = play_out(&position, &mut playouts);
                counts[0] += u32::from(playout.winner == Some(Side::First));
                counts[1] += u32::from(playout.winner.is_none());
            }
            for (count, odds) in counts.into_iter().zip([wins, draws]) {
                // Four standard deviations of a share of 40,000 games are at most 1 %.
                assert!(
                    (f64::from(count) / f64::from(GAMES) - odds).abs() < 0.01,
                    "{variant}: {counts:?}, {odds}"
                );
            }
        }
    }

    #[test]
    fn a_finished_game_stays_as_it_is() {
        let mut rng = PlayoutRng::from_rng(&mut rng::seeded(1));
        let game = Game::from_moves(Variant::STANDARD, "1212121").unwrap();
        let playout = play_out(game.position(), &mut rng);
        assert_eq!(playout, Playout { winner: Some(Side::First), ply: 7 });
    }
}
