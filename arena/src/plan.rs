//! All that decides what is played. Equal plans and deterministic bots give equal games, whatever the machine and
//! however many games run at the same time.

use fourfold_engine::{BySide, Side};
use serde::{Deserialize, Serialize};

use crate::shard::Shard;
use crate::stats::sprt::Sprt;
use crate::suite::{OpeningKind, Orientation};
use crate::time::BotLimits;

/// A run as its log begins with it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub format: Format,
    pub entrants: Vec<String>,
    pub variant: String,
    pub openings: OpeningKind,
    /// Tells one list of openings from another.
    pub openings_crc: u32,
    /// Whether they may be mirrored.
    #[serde(default, skip_serializing_if = "Orientation::is_drawn")]
    pub orientation: Orientation,
    pub time: BotLimits,
    /// How far a limit may be overrun without losing by it.
    pub margin_ms: u64,
    /// Pairs of each meeting; on the ladder, of the whole run.
    pub pairs: u64,
    pub seed: u64,
    /// So many faults in a row suspend an entrant; 0 for never.
    pub faults_max: u32,
    /// Stops a match early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<Sprt>,
    /// Of all pairs only those of this part are played; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl Plan {
    /// The plan of which this one is a part, or itself.
    #[must_use = "the plan itself stays a part"]
    pub fn whole(&self) -> Self {
        Self { shard: None, ..self.clone() }
    }

    /// Whether this plan is for a pair.
    pub fn has_pair(&self, pair: u64) -> bool {
        self.shard.is_none_or(|shard| shard.has(pair))
    }

    /// Eight digits that equal plans share, to name their games by; all parts of a plan have those of the whole.
    ///
    /// # Panics
    ///
    /// Never: all keys of a plan are text.
    pub fn fingerprint(&self) -> String {
        let json = serde_json::to_vec(&self.whole()).expect("all keys of a plan are text");
        format!("{:08x}", crc32fast::hash(&json))
    }

    /// The number of the game of this name: the other way round from [`PlannedGame::game_id`].
    pub fn game_number(id: &str) -> Option<u64> {
        id.rsplit_once('-').and_then(|(_, number)| number.parse().ok())
    }

    /// What another plan has different, in a word.
    pub fn difference(&self, other: &Self) -> Option<&'static str> {
        let differences = [
            (self.format != other.format, "format differs"),
            (self.entrants != other.entrants, "entrants differ"),
            (self.variant != other.variant, "board differs"),
            ((self.openings, self.openings_crc) != (other.openings, other.openings_crc), "openings differ"),
            (self.orientation != other.orientation, "use of --mirror differs"),
            (self.time != other.time || self.margin_ms != other.margin_ms, "time control differs"),
            (self.pairs != other.pairs, "number of games differs"),
            (self.seed != other.seed, "seed differs"),
            (self.sprt != other.sprt, "sequential test differs"),
            (self.shard != other.shard, "part differs"),
            (self != other, "settings differ"),
        ];
        differences.into_iter().find_map(|(differs, what)| differs.then_some(what))
    }

    /// Seeds of both players of a game, for bots that draw.
    pub fn seeds(&self, game: u64) -> BySide<u64> {
        BySide::from_fn(|side| {
            let place = game.wrapping_mul(2).wrapping_add(u64::from(side == Side::Second));
            mix(self.seed ^ mix(place.wrapping_add(1)))
        })
    }
}

/// The form of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum Format {
    /// Two entrants.
    Match,
    /// Everybody against everybody.
    RoundRobin,
    /// The first `seeds` entrants against all others.
    Gauntlet { seeds: u32 },
    /// Rounds against whoever has as many points, never twice against the same.
    Swiss { rounds: u32 },
    /// Who loses a meeting is out.
    Knockout,
    /// Always the pairs that tell most about the order.
    Ladder,
}

/// Turns numbers that are near each other into numbers that are not: the last steps of `SplitMix64` (Steele, Lea and
/// Flood, 2014).
fn mix(number: u64) -> u64 {
    let z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Two entrants and the opening that they play with both colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pairing {
    /// Begins in the first game.
    pub a: usize,
    pub b: usize,
    /// Which opening of the seed's series.
    pub opening: u64,
}

/// A game of the schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlannedGame {
    /// In the order of the schedule, from 0. Games 2k and 2k + 1 are pair k.
    pub number: u64,
    pub pairing: Pairing,
}

impl Format {
    /// Whether who meets whom is known before anything is played, so that parts of it can be played apart.
    pub fn is_known_beforehand(self) -> bool {
        match self {
            Self::Match | Self::RoundRobin | Self::Gauntlet { .. } => true,
            Self::Swiss { .. } | Self::Knockout | Self::Ladder => false,
        }
    }
}

impl PlannedGame {
    pub fn pair(self) -> u64 {
        self.number / 2
    }

    pub fn leg(self) -> Leg {
        if self.number.is_multiple_of(2) { Leg::One } else { Leg::Two }
    }

    /// Who has which side.
    pub fn seats(self) -> BySide<usize> {
        let Pairing { a, b, opening: _ } = self.pairing;
        match self.leg() {
            Leg::One => BySide { first: a, second: b },
            Leg::Two => BySide { first: b, second: a },
        }
    }

    /// The name of its record.
    pub fn game_id(self, fingerprint: &str) -> String {
        format!("{fingerprint}-{}", self.number)
    }

    /// The name that both games of a pair share.
    pub fn pair_id(self, fingerprint: &str) -> String {
        format!("{fingerprint}-p{}", self.pair())
    }
}

/// Which game of a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leg {
    One,
    Two,
}

impl Leg {
    /// As records count.
    pub fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::testing::plan;

    #[test]
    fn every_game_has_seeds_of_its_own() {
        let plan = plan(Format::Match, 2, 100);
        let mut seeds = HashSet::new();
        for game in 0..1_000 {
            let BySide { first, second } = plan.seeds(game);
            assert!(seeds.insert(first) && seeds.insert(second));
        }
        assert_eq!(plan.seeds(5), plan.clone().seeds(5));
        assert_ne!(plan.seeds(5), Plan { seed: 8, ..plan.clone() }.seeds(5));
    }

    #[test]
    fn names_of_games_carry_their_number() {
        let slot = PlannedGame { number: 41, pairing: Pairing { a: 0, b: 1, opening: 20 } };
        let id = slot.game_id(&plan(Format::Match, 2, 1).fingerprint());
        assert_eq!(Plan::game_number(&id), Some(41));
        assert_eq!(slot.seats(), BySide { first: 1, second: 0 });
        assert_eq!(Plan::game_number("no number"), None);
    }

    #[test]
    fn differences_are_named() {
        let one = plan(Format::Match, 2, 1);
        assert_eq!(one.difference(&one), None);
        assert_eq!(one.difference(&Plan { pairs: 2, ..one.clone() }), Some("number of games differs"));
        let part = Plan { shard: "2/3".parse().ok(), ..one.clone() };
        assert_eq!((one.difference(&part), part.fingerprint()), (Some("part differs"), one.fingerprint()));
        assert_eq!(one.difference(&Plan { faults_max: 1, ..one.clone() }), Some("settings differ"));
    }
}
