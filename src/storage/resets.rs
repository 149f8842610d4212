//! Ratings that begin anew, because the owner of a bot says that it is something else now.
//!
//! Games that end after a reset belong to a new *era* of the bot. Of each era there is a rating of its own: in the
//! joint fit eras are different players, and the live rating begins again with what newcomers have. Opponents keep what
//! they won from the eras before.

use std::collections::HashMap;

use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;

/// One reset, as it is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RatingReset {
    pub(crate) player: PlayerId,
    pub(crate) at: UnixMillis,
    /// Number of the last finished game before it.
    pub(crate) after: u64,
    /// The version that the bot gave itself then; empty if it named none.
    pub(crate) version: String,
    pub(crate) reason: String,
}

/// What the owner of a bot asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewReset {
    pub(crate) player: PlayerId,
    pub(crate) at: UnixMillis,
    /// The version that the bot gives itself; empty if it names none.
    pub(crate) version: String,
    pub(crate) reason: String,
    /// It must not have been reset after this.
    pub(crate) not_since: UnixMillis,
}

/// Behind which games eras begin.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Resets(HashMap<PlayerId, Vec<u64>>);

impl Resets {
    /// Of any players.
    pub(crate) fn of(resets: &[RatingReset]) -> Self {
        let mut sorted = Self::default();
        for RatingReset { player, after, .. } in resets {
            sorted.0.entry(player.clone()).or_default().push(*after);
        }
        sorted.0.values_mut().for_each(|after| after.sort_unstable());
        sorted
    }

    /// How often a player's rating had begun anew before a finished game with this number.
    pub(crate) fn era(&self, player: &PlayerId, number: u64) -> u32 {
        let before = |after: &Vec<u64>| after.partition_point(|after| *after < number);
        self.0.get(player).map_or(0, |after| u32::try_from(before(after)).unwrap_or(u32::MAX))
    }

    /// How often it has begun anew by now.
    pub(crate) fn current(&self, player: &PlayerId) -> u32 {
        self.era(player, u64::MAX)
    }

    /// All of them, to be met game by game.
    pub(crate) fn ahead(&self) -> ResetsAhead {
        let each = |(player, after): (&PlayerId, &Vec<u64>)| {
            after.iter().map(|after| (*after, player.clone())).collect::<Vec<_>>()
        };
        let mut ahead: Vec<(u64, PlayerId)> = self.0.iter().flat_map(each).collect();
        ahead.sort_unstable_by(|one, other| other.cmp(one));
        ResetsAhead(ahead)
    }
}

/// Resets that were not met yet, the next one last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ResetsAhead(Vec<(u64, PlayerId)>);

impl ResetsAhead {
    /// Whose rating begins anew before the game with this number; numbers only grow.
    pub(crate) fn before(&mut self, number: u64) -> Vec<PlayerId> {
        let due = self.0.iter().rev().take_while(|(after, _)| *after < number).count();
        self.0.split_off(self.0.len() - due).into_iter().map(|(_, player)| player).collect()
    }

    /// Whether a player's rating is yet to begin anew.
    pub(crate) fn has(&self, player: &PlayerId) -> bool {
        self.0.iter().any(|(_, other)| other == player)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resets(of: &[(&str, u64)]) -> Resets {
        let reset = |(player, after): &(&str, u64)| RatingReset {
            player: player.parse().unwrap(),
            at: UnixMillis(1),
            after: *after,
            version: String::new(),
            reason: "another engine".into(),
        };
        Resets::of(&of.iter().map(reset).collect::<Vec<_>>())
    }

    #[test]
    fn an_era_begins_with_the_first_game_behind_a_reset() {
        let (ada, bob) = ("ada".parse().unwrap(), "bob".parse().unwrap());
        let resets = resets(&[("ada", 9), ("ada", 4), ("ada", 4)]);
        let eras = [1, 4, 5, 9, 10].map(|number| resets.era(&ada, number));
        assert_eq!(eras, [0, 0, 2, 2, 3]);
        assert_eq!((resets.current(&ada), resets.current(&bob), resets.era(&bob, 10)), (3, 0, 0));
    }

    #[test]
    fn resets_are_met_once_and_in_their_order() {
        let mut ahead = resets(&[("ada", 9), ("bob", 4), ("ada", 4)]).ahead();
        let mut met = |number| ahead.before(number).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(met(4).is_empty());
        let mut both = met(5);
        both.sort();
        assert_eq!(both, ["ada", "bob"]);
        assert!(met(9).is_empty());
        assert!(ahead.has(&"ada".parse().unwrap()) && !ahead.has(&"bob".parse().unwrap()));
        assert_eq!(ahead.before(10), ["ada".parse().unwrap()]);
    }
}
