//! Who gives hints: a bot that is asked for the move it would play.

use fourfold_bots::{Bot, BotError, BotSpec, registry};
use fourfold_engine::Variant;

/// Who is asked, and how far to trust the answer.
pub(super) const ABOUT: &str = "says alphabeta, which proves nothing";

/// A second is what people wait for gladly.
const THINK_MS: u64 = 1000;

/// The strongest bot that plays every board.
///
/// # Errors
///
/// Fails if it does not play this one.
pub(super) fn adviser(variant: Variant) -> Result<Box<dyn Bot>, BotError> {
    registry::build(&BotSpec::new("alphabeta").with("ms", THINK_MS), variant)
}
