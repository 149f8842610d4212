//! Which games that were meant to be rated count after all, judged at their end.
//!
//! What is known when a game begins (a guest plays, both bots have one owner, two people share an address, the pair's
//! games of the day are used up) is decided there and is not repeated here.

use crate::model::ids::PlayerId;
use crate::model::result::{EndReason, GameResult};

/// Why a game that should have been rated is not, or stopped being so.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum UnratedReason {
    /// Both bots have one owner.
    SameOwner,
    /// A guest plays.
    Guest,
    /// Two people play from one address: they may be one.
    SameAddress,
    /// Over before the seventh stone without a line.
    TooShort,
    /// The same moves with the same winner as one of the pair's last three games.
    Repeated,
    /// It is played by correspondence, which has ratings of its own.
    Correspondence,
    /// The pair's rated games of the day are used up.
    PairLimit,
    /// It only puts load on the arena: nobody chose its moves, and nothing is learnt or counted from it.
    Load,
    /// Its players want it in no list: nothing is learnt or counted from it either.
    Private,
    /// It ended without a result.
    Void,
    /// An operator took it out afterwards.
    Voided,
}

impl UnratedReason {
    /// As it stands on the wire and in the store.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::SameOwner => "same_owner",
            Self::Guest => "guest",
            Self::SameAddress => "same_address",
            Self::TooShort => "too_short",
            Self::Repeated => "repeated",
            Self::Correspondence => "correspondence",
            Self::PairLimit => "pair_limit",
            Self::Load => "load",
            Self::Private => "private",
            Self::Void => "void",
            Self::Voided => "voided",
        }
    }

    /// Reads [`Self::as_str`] back.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        [
            Self::SameOwner,
            Self::Guest,
            Self::SameAddress,
            Self::TooShort,
            Self::Repeated,
            Self::Correspondence,
            Self::PairLimit,
            Self::Load,
            Self::Private,
            Self::Void,
            Self::Voided,
        ]
        .into_iter()
        .find(|reason| reason.as_str() == text)
    }
}

/// Stones that must stand on the board, the opening's included, unless a line ended the game before: nobody can win a
/// standard game with fewer, so giving up earlier is a present.
const STONES_MIN: usize = 7;

/// How many of the two players' last rated games a new one must differ from.
///
/// Deterministic bots would otherwise repeat one game for ever, and two accounts of one person could pass points on.
pub(crate) const REMEMBERED_GAMES: u32 = 3;

/// What makes a finished game of two given players differ from their other ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GameFingerprint {
    /// Who moved first. With sides swapped the same moves are the other player's: no repetition.
    pub(crate) first: PlayerId,
    /// All moves, the opening's included.
    pub(crate) moves: String,
    pub(crate) result: GameResult,
}

/// Why a game that was meant to be rated is not; `None` if it is.
///
/// `remembered` are the last [`REMEMBERED_GAMES`] rated games of the same two players in the same variant.
pub(crate) fn unrated_because(
    game: &GameFingerprint,
    reason: EndReason,
    remembered: &[GameFingerprint],
) -> Option<UnratedReason> {
    if game.result == GameResult::Void {
        Some(UnratedReason::Void)
    } else if game.moves.len() < STONES_MIN && reason != EndReason::Four {
        Some(UnratedReason::TooShort)
    } else if remembered.contains(game) {
        Some(UnratedReason::Repeated)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(first: &str, moves: &str, result: GameResult) -> GameFingerprint {
        GameFingerprint { first: first.parse().unwrap(), moves: moves.to_owned(), result }
    }

    #[track_caller]
    fn check(game: &GameFingerprint, reason: EndReason, expected: Option<UnratedReason>) {
        let remembered = [
            course("ada", "1212121", GameResult::First),
            course("bob", "4453627", GameResult::Draw),
            course("ada", "44536271", GameResult::Second),
        ];
        assert_eq!(unrated_because(game, reason, &remembered), expected, "{game:?}");
    }

    #[test]
    fn void_games_do_not_count() {
        check(&course("ada", "7777777", GameResult::Void), EndReason::Stopped, Some(UnratedReason::Void));
        check(&course("ada", "", GameResult::Void), EndReason::Aborted, Some(UnratedReason::Void));
    }

    #[test]
    fn short_games_count_only_if_a_line_ended_them() {
        let six = course("ada", "445566", GameResult::First);
        check(&six, EndReason::Resign, Some(UnratedReason::TooShort));
        check(&six, EndReason::Time, Some(UnratedReason::TooShort));
        check(&course("ada", "11223", GameResult::First), EndReason::Four, None);
        check(&course("ada", "4455667", GameResult::First), EndReason::Resign, None);
    }

    #[test]
    fn a_repeated_game_does_not_count() {
        check(&course("ada", "1212121", GameResult::First), EndReason::Four, Some(UnratedReason::Repeated));
        check(&course("bob", "4453627", GameResult::Draw), EndReason::Full, Some(UnratedReason::Repeated));
    }

    #[test]
    fn another_winner_or_swapped_sides_make_another_game() {
        check(&course("ada", "44536271", GameResult::First), EndReason::Resign, None);
        check(&course("bob", "1212121", GameResult::First), EndReason::Four, None);
        check(&course("ada", "4453627", GameResult::Draw), EndReason::Full, None);
    }

    #[test]
    fn reasons_read_back() {
        let all =
            "same_owner guest same_address too_short repeated correspondence pair_limit load void voided";
        for text in all.split(' ') {
            assert_eq!(UnratedReason::from_text(text).map(UnratedReason::as_str), Some(text));
        }
        assert_eq!(UnratedReason::from_text("Void"), None);
    }
}
