//! The one source of randomness: a seeded, portable generator that callers inject.
//!
//! Nothing in the engine or the bots draws from anywhere else, so a seed repeats a run on every machine. ChaCha8 is
//! used because its stream is specified, unlike that of a "standard" or "small" generator, which may change with a
//! library update.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use crate::board::Position;

/// The generator that is passed wherever something is drawn.
pub type GameRng = ChaCha8Rng;

/// The generator of this seed.
#[must_use]
pub fn seeded(seed: u64) -> GameRng {
    GameRng::seed_from_u64(seed)
}

/// The generator of this seed for one position.
///
/// A bot that draws with it chooses the same in equal positions, whatever it was asked before: a resumed game goes on
/// as it would have.
#[must_use]
pub fn for_position(seed: u64, position: &Position) -> GameRng {
    let variant = position.variant();
    let mut bytes = [0; 32]; // nothing is mixed, so different inputs are different seeds
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&position.key().to_le_bytes());
    bytes[16..19].copy_from_slice(&[variant.width(), variant.height(), variant.connect()]);
    GameRng::from_seed(bytes)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::board::Variant;

    #[test]
    fn recorded_seeds_keep_their_stream() {
        let mut rng = seeded(7);
        let drawn: [u32; 4] = rng.random();
        assert_eq!(drawn, [601_310_139, 677_729_076, 781_920_570, 721_508_819]);
    }

    #[test]
    fn each_position_has_its_own_stream() {
        let mut empty = for_position(7, &Position::new(Variant::STANDARD));
        let mut larger = for_position(7, &Position::new("8x7".parse().unwrap()));
        let mut again = for_position(7, &Position::new(Variant::STANDARD));
        let drawn: u64 = empty.random();
        assert_ne!(drawn, larger.random());
        assert_eq!(drawn, again.random());
    }
}
