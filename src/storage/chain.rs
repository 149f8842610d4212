//! The chain over the finished games: each carries a hash of itself and of the hash before it.
//!
//! Whoever knows one hash knows that no game up to it has been changed, left out, added or moved since, so that history
//! cannot be rewritten unseen. It covers what never changes: who played, on what terms, the moves, the end, the times.
//! Names are not in it, so that who leaves can be forgotten, nor what operators and the judge say of a game later: a
//! game that is taken out stays in the chain. `docs/reliability.md` has the bytes.

use std::fmt;
use std::fmt::Write as _;

use fourfold_engine::BySide;

use super::record::{Ending, GameSpec, StoredGame, UnratedReason};
use super::words::Word;
use crate::model::chain_hash::ChainHash;
use crate::model::time::UnixMillis;
use crate::system::sha256;

/// What is hashed begins with this, whose number tells forms apart.
const FORM: &str = "fourfold game 1";

/// What stands for a value that is not there.
const NOTHING: &str = "-";

/// The hash of the game that comes next, of which this is the [`content`].
pub(super) fn then(head: &ChainHash, content: &str) -> ChainHash {
    let hash = sha256::of(format!("{FORM}\n{head}\n{content}").as_bytes());
    hash.parse().expect("a SHA-256 is so many digits")
}

/// The hash of a stored game that comes next; none of one that has not ended.
pub(crate) fn then_game(head: &ChainHash, game: &StoredGame) -> Option<ChainHash> {
    let (number, ending) = (game.settlement.as_ref()?.number, game.ending()?);
    Some(then(head, &content(number, &game.spec, &game.moves(), *ending, game.last_change())))
}

/// What is hashed of a game, one value a line. The back ends make the same of their rows, for games from before there
/// was a chain.
pub(super) fn content(
    number: u64,
    spec: &GameSpec,
    moves: &str,
    ending: Ending,
    ended_at: UnixMillis,
) -> String {
    let mut lines = String::new();
    let mut line = |value: &dyn fmt::Display| {
        // Writing to a string never fails.
        let _ = writeln!(lines, "{value}");
    };
    let BySide { first, second } = &spec.players;
    line(&number);
    line(&spec.id);
    line(first);
    line(second);
    line(&spec.variant);
    line(&optional(spec.time.bank_ms));
    line(&spec.time.increment_ms);
    line(&optional(spec.time.move_ms));
    line(&u8::from(spec.rated));
    line(&optional(spec.unrated_because.map(UnratedReason::as_str)));
    line(&optional(spec.footing.map(|footing| footing.first.word())));
    line(&optional(spec.footing.map(|footing| footing.second.word())));
    line(&spec.opening.kind.word());
    line(&spec.opening.moves);
    line(&optional(spec.pair.as_ref().map(|pair| pair.id.as_str())));
    line(&optional(spec.pair.as_ref().map(|pair| pair.leg)));
    line(&optional(spec.pair.as_ref().map(|pair| pair.of)));
    line(&spec.started_at.0);
    line(&moves);
    line(&ending.result.word());
    line(&ending.reason.word());
    line(&optional(ending.by.map(Word::word)));
    line(&ended_at.0);
    lines
}

fn optional(value: Option<impl fmt::Display>) -> String {
    value.map_or(NOTHING.to_owned(), |value| value.to_string())
}

/// The hash to go on from, as it is stored. What is no hash somebody else has left there: the check says so, and the
/// chain begins anew.
pub(super) fn head(stored: Option<&str>) -> ChainHash {
    stored.and_then(|hash| hash.parse().ok()).unwrap_or_default()
}

/// Games that are chained at a time, when a database from before gets its chain: some megabytes.
pub(super) const CHAINED_AT_A_TIME: i64 = 5_000;

/// The hashes of the games that come next, by their numbers and [`content`]s.
pub(super) fn chained(head: &mut ChainHash, games: Vec<(i64, String)>) -> Vec<(i64, String)> {
    let hash = |(number, content): (i64, String)| {
        *head = then(head, &content);
        (number, head.to_string())
    };
    games.into_iter().map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::spec;

    #[test]
    fn the_bytes_are_those_that_the_document_has() {
        let ending = Ending {
            result: GameResult::First,
            reason: EndReason::Time,
            by: Some(fourfold_engine::Side::Second),
        };
        let content = content(1, &spec("g1", "Ada", "Bob"), "4453", ending, UnixMillis(1_750_000_100_000));
        let text = format!("fourfold game 1\n{}\n{content}", ChainHash::default());
        assert_eq!(then(&ChainHash::default(), &content).to_string(), sha256::of(text.as_bytes()));
        let document = include_str!("../../docs/reliability.md");
        assert!(document.contains(&text), "docs/reliability.md lacks\n{text}");
        assert!(document.contains(&sha256::of(text.as_bytes())), "{}", sha256::of(text.as_bytes()));
    }
}
