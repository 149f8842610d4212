//! Random moves at the beginning of a game, so that more is met than what seems best.

use fourfold_engine::Position;
use fourfold_engine::rng::{self, GameRng};
use fourfold_engine::search::Tactics;
use rand::RngExt;

use super::layout::VARIANT;
use super::percent::Percent;

/// Makes the seed of openings another than that of the games, so that the games themselves draw what they would have
/// drawn without.
const SALT: u64 = 0x0BE9_1345;

/// How games begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Openings {
    /// Share of games that begin with random moves.
    pub share: Percent,
    /// Most such moves, from 1 to [`Openings::PLIES_MAX`]; any number up to that is as likely.
    pub plies: u32,
}

impl Openings {
    /// All games begin on the empty board.
    pub(super) const NONE: Self = Self { share: Percent::ZERO, plies: 12 };

    /// Most random moves: half a game, after which most are decided.
    pub const PLIES_MAX: u32 = 24;

    /// Where the game of this number begins: with all stones of its opening on the board, and nobody about to win.
    pub(super) fn begin(self, seed: u64, game: u64) -> Position {
        let empty = Position::new(VARIANT);
        if self.share == Percent::ZERO {
            return empty;
        }
        let mut rng = rng::seeded_stream(seed ^ SALT, game);
        if rng.random::<f32>() >= self.share.share() {
            return empty;
        }
        let plies = rng.random_range(1..=self.plies);
        loop {
            if let Some(position) = opening(plies, &mut rng) {
                return position;
            }
        }
    }
}

/// So many random moves, none of which hands over a win; `None` if somebody is about to win.
fn opening(plies: u32, rng: &mut GameRng) -> Option<Position> {
    let mut position = Position::new(VARIANT);
    loop {
        let Tactics::Safe(cells) = Tactics::of(&position) else { return None };
        if position.ply() == plies {
            return Some(position);
        }
        let drawn = rng.random_range(0..cells.count());
        let cell = cells.cells(VARIANT).nth(drawn as usize)?;
        position = position.play_unchecked(cell.column());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(percent: u8, plies: u32) -> Vec<Position> {
        let openings = Openings { share: Percent::new(percent).unwrap(), plies };
        (0..1000).map(|game| openings.begin(7, game)).collect()
    }

    #[test]
    fn that_share_of_games_begins_with_up_to_so_many_moves() {
        let all = begin(100, 12);
        for plies in 1..=12 {
            let count = all.iter().filter(|position| position.ply() == plies).count();
            assert!((50..120).contains(&count), "{count} of {plies} plies");
        }
        let half = begin(50, 12);
        let empty = half.iter().filter(|position| position.ply() == 0).count();
        assert!((430..570).contains(&empty), "{empty}");
        assert!(begin(0, 12).iter().all(|position| position.ply() == 0));
        assert_eq!(half, begin(50, 12), "equal seeds, equal games");
    }

    #[test]
    fn nobody_is_about_to_win_after_an_opening() {
        for position in begin(100, Openings::PLIES_MAX) {
            assert_eq!(position.outcome(), None);
            assert!(matches!(Tactics::of(&position), Tactics::Safe(_)), "{position:?}");
        }
    }
}
