//! The scale of searches that end in estimates: won positions stand above all of them, quick wins above late ones.

/// Value of a won position less the stones on the board. Estimates are far below.
const WIN: i32 = 1_000_000;

/// More than the stones of any board, and less than what lies between wins and estimates.
const STONES_MAX: i32 = 1000;

/// The value of a win whose last stone makes so many on the board, for the side that wins.
pub fn win_at(stones: u32) -> i32 {
    WIN - stones.cast_signed()
}

/// Whether a value is a win or a loss, so that looking deeper changes nothing.
pub fn is_settled(value: i32) -> bool {
    value.abs() > WIN - STONES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Variant;

    #[test]
    fn quick_wins_are_best_and_all_are_settled() {
        let most = u32::from(Variant::MAX_WIDTH) * u32::from(Variant::MAX_HEIGHT);
        assert!(win_at(7) > win_at(9) && is_settled(win_at(7)));
        assert!(is_settled(-win_at(most)) && !is_settled(0) && !is_settled(WIN / 2));
    }
}
