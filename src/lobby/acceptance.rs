//! Whether a player would play a game of certain terms against somebody: pure.

use fourfold_engine::Variant;

use crate::model::clock::TimeControl;
use crate::protocol::terms::{Accepts, Range, RangeElo, RangeMs};

use crate::model::player::{OpponentKind, PlayerKind};

/// A game that might be offered, as one side sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Proposal {
    /// How much time each side has.
    pub(crate) time: TimeControl,
    pub(crate) rated: bool,
    pub(crate) variant: Variant,
    /// What sort of player the other is.
    pub(crate) opponent: PlayerKind,
    /// The other's rating, if it has one.
    pub(crate) opponent_elo: Option<i32>,
}

/// What a player does not accept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Excluded {
    /// The field of `accepts` that says so.
    pub(crate) field: &'static str,
    /// The same in words, after "does not accept".
    pub(crate) what: &'static str,
}

impl Excluded {
    /// The other one's kind.
    pub(crate) const OPPONENTS: Self = Self { field: "opponents", what: "opponents of your kind" };
}

/// Checks a proposal against what a player accepts.
///
/// # Errors
///
/// The first field of `accepts` that excludes it.
pub(crate) fn check(accepts: &Accepts, proposal: &Proposal) -> Result<(), Excluded> {
    let time = proposal.time;
    let rated = if proposal.rated { "rated games" } else { "casual games" };
    let opponents = accepts.opponents.contains(&OpponentKind::from(proposal.opponent));
    let named = |field, what| Excluded { field, what };
    let fields = [
        (named("bank_ms", "games with this bank"), fits(accepts.bank_ms, time.bank_ms.map(RangeMs::new))),
        (
            named("increment_ms", "games with this increment"),
            fits(accepts.increment_ms, Some(RangeMs::new(time.increment_ms))),
        ),
        (
            named("move_ms", "games with this limit for each move"),
            fits(accepts.move_ms, time.move_ms.map(RangeMs::new)),
        ),
        (named("rated", rated), accepts.rated.is_none_or(|rated| rated == proposal.rated)),
        (Excluded::OPPONENTS, opponents),
        (
            named("rating", "opponents of your rating"),
            fits(accepts.rating, proposal.opponent_elo.map(RangeElo::new)),
        ),
        (
            named("variants", "games on this board"),
            accepts.variants.iter().any(|variant| variant.0 == proposal.variant),
        ),
    ];
    match fields.into_iter().find(|(_, fits)| !fits) {
        Some((excluded, _)) => Err(excluded),
        None => Ok(()),
    }
}

/// No range accepts everything; a range accepts no missing value.
pub(super) fn fits<T: PartialOrd>(range: Option<Range<T>>, value: Option<T>) -> bool {
    match (range, value) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(range), Some(value)) => range.contains(&value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROPOSAL: Proposal = Proposal {
        time: TimeControl { bank_ms: Some(60_000), increment_ms: 1_000, move_ms: None },
        rated: true,
        variant: Variant::STANDARD,
        opponent: PlayerKind::Guest,
        opponent_elo: None,
    };

    #[track_caller]
    fn check_field(change: impl FnOnce(&mut Accepts), expected: Result<(), &'static str>) {
        let mut accepts = Accepts::default();
        change(&mut accepts);
        let found = check(&accepts, &PROPOSAL).map_err(|excluded| excluded.field);
        assert_eq!(found, expected, "{accepts:?}");
    }

    #[test]
    fn everything_is_accepted_by_default() {
        check_field(|_| {}, Ok(()));
    }

    #[test]
    fn what_is_excluded_is_said_in_words() {
        let what = |accepts: Accepts| check(&accepts, &PROPOSAL).unwrap_err().what;
        assert_eq!(what(Accepts { variants: Vec::new(), ..Accepts::default() }), "games on this board");
        assert_eq!(what(Accepts { rated: Some(false), ..Accepts::default() }), "rated games");
        assert_eq!(what(Accepts { opponents: Vec::new(), ..Accepts::default() }), "opponents of your kind");
    }

    #[test]
    fn the_excluding_field_is_named() {
        let ms = |low, high| Range::new(RangeMs::new(low), RangeMs::new(high));
        check_field(|a| a.bank_ms = ms(0, 59_999), Err("bank_ms"));
        check_field(|a| a.bank_ms = ms(60_000, 60_000), Ok(()));
        check_field(|a| a.increment_ms = ms(0, 0), Err("increment_ms"));
        check_field(|a| a.move_ms = ms(0, 1_000), Err("move_ms"));
        check_field(|a| a.rated = Some(false), Err("rated"));
        check_field(|a| a.opponents = vec![OpponentKind::Bot], Err("opponents"));
        check_field(|a| a.rating = Range::new(RangeElo::new(0), RangeElo::new(3_000)), Err("rating"));
        check_field(|a| a.variants.clear(), Err("variants"));
    }
}
