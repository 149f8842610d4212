//! Objects that messages of both directions share.

use std::num::NonZeroU16;

use fourfold_engine::{Side, Variant};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::bounded::{Bounded, BoundedSigned};
use crate::model::clock::GameTime;
use crate::model::ids::{PairId, PlayerId, PlayerName};
use crate::model::opening::{OpeningKind, SideChoice};
use crate::model::player::{Identity, OpponentKind, PlayerKind};
use crate::model::rating::elo::ShownRating;

/// `first` or `second`: who moves first from the empty board is `first`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireSide {
    /// Moves first.
    First,
    /// Moves second.
    Second,
}

impl From<Side> for WireSide {
    fn from(side: Side) -> Self {
        match side {
            Side::First => Self::First,
            Side::Second => Self::Second,
        }
    }
}

impl From<WireSide> for Side {
    fn from(side: WireSide) -> Self {
        match side {
            WireSide::First => Self::First,
            WireSide::Second => Self::Second,
        }
    }
}

/// Something of each side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Sides<T> {
    /// Of the side that moves first.
    pub(crate) first: T,
    /// Of the other one.
    pub(crate) second: T,
}

impl<T> Sides<T> {
    /// That of a side.
    pub(crate) fn of(self, side: WireSide) -> T {
        match side {
            WireSide::First => self.first,
            WireSide::Second => self.second,
        }
    }
}

impl<T> From<fourfold_engine::BySide<T>> for Sides<T> {
    fn from(by_side: fourfold_engine::BySide<T>) -> Self {
        Self { first: by_side.first, second: by_side.second }
    }
}

/// Board size and line length on the wire: `7x6`, `9x6x5`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct WireVariant(pub(crate) Variant);

impl Default for WireVariant {
    fn default() -> Self {
        Self(Variant::STANDARD)
    }
}

impl Serialize for WireVariant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for WireVariant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for WireVariant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Variant".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "columns x rows, and the line length if it is not 4: 7x6, 9x6x5",
            "pattern": "^[0-9]+x[0-9]+(x[0-9]+)?$",
        })
    }
}

/// A rating as others see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WireRating {
    /// Elo points.
    pub(crate) elo: i32,
    /// Half the width of the 95 % interval, in Elo points.
    pub(crate) pm95: u32,
    /// Whether too few games stand behind it.
    pub(crate) provisional: bool,
}

impl From<ShownRating> for WireRating {
    fn from(shown: ShownRating) -> Self {
        let ShownRating { elo, pm95, provisional } = shown;
        Self { elo, pm95, provisional }
    }
}

/// A player as others see it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WirePlayer {
    /// Stays the same for ever.
    pub(crate) id: PlayerId,
    /// Unique without regard to case.
    pub(crate) name: PlayerName,
    /// Person, bot or guest.
    pub(crate) kind: PlayerKind,
    /// In the variant at hand, or null: guests have none.
    pub(crate) rating: Option<WireRating>,
    /// The version a bot gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
}

impl WirePlayer {
    /// A player as others see it, with the rating in the variant at hand and the version that a bot gives itself.
    pub(crate) fn new(who: &Identity, rating: Option<ShownRating>, version: Option<String>) -> Self {
        let Identity { id, name, kind, owner: _ } = who;
        Self {
            id: id.clone(),
            name: name.clone(),
            kind: *kind,
            rating: rating.map(WireRating::from),
            version,
        }
    }
}

/// Milliseconds of a range. They are compared and nothing else, so all that fit are allowed.
pub(crate) type RangeMs = Bounded<0, { u32::MAX }>;

/// Rating points of a range, likewise.
pub(crate) type RangeElo = BoundedSigned<{ i32::MIN }, { i32::MAX }>;

/// Games in one series: more than this nobody waits for.
pub(crate) const SERIES_MAX: u32 = 100;

/// How many games a challenge is for.
pub(crate) type SeriesLength = Bounded<1, SERIES_MAX>;

/// A closed range, `[low, high]` on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Range<T>([T; 2]);

impl<T: PartialOrd> Range<T> {
    /// A range, if its low end is not above the high one.
    pub(crate) fn new(low: T, high: T) -> Option<Self> {
        (low <= high).then_some(Self([low, high]))
    }

    /// Whether a number is in it; both ends are.
    pub(crate) fn contains(&self, number: &T) -> bool {
        let Self([low, high]) = self;
        low <= number && number <= high
    }
}

impl<'de, T: Deserialize<'de> + PartialOrd> Deserialize<'de> for Range<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let [low, high] = <[T; 2]>::deserialize(deserializer)?;
        let upside_down = || serde::de::Error::custom("a range is [low, high], and low is at most high");
        Self::new(low, high).ok_or_else(upside_down)
    }
}

/// What a player is willing to play. Whatever is left out is unrestricted, but for `variants`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Accepts {
    /// Banks in milliseconds; null for any, games without a bank too.
    pub(crate) bank_ms: Option<Range<RangeMs>>,
    /// Increments in milliseconds; null for any.
    pub(crate) increment_ms: Option<Range<RangeMs>>,
    /// Move limits in milliseconds; null for any, games without a move limit too.
    pub(crate) move_ms: Option<Range<RangeMs>>,
    /// true: rated only, false: casual only, null: both.
    pub(crate) rated: Option<bool>,
    /// Who may play.
    #[serde(deserialize_with = "everybody_if_null")]
    #[schemars(with = "Option<Vec<OpponentKind>>")]
    pub(crate) opponents: Vec<OpponentKind>,
    /// Ratings of opponents; null for any. Players without a rating are outside every range.
    pub(crate) rating: Option<Range<RangeElo>>,
    /// Board sizes.
    #[serde(deserialize_with = "standard_if_null")]
    #[schemars(with = "Option<Vec<WireVariant>>")]
    pub(crate) variants: Vec<WireVariant>,
    /// Rated pairs that the ladder begins with it within a minute, 1 to 65,535; null: as many as the arena lets.
    pub(crate) pairs_per_minute: Option<NonZeroU16>,
}

impl Default for Accepts {
    fn default() -> Self {
        Self {
            bank_ms: None,
            increment_ms: None,
            move_ms: None,
            rated: None,
            opponents: vec![OpponentKind::Human, OpponentKind::Bot],
            rating: None,
            variants: vec![WireVariant::default()],
            pairs_per_minute: None,
        }
    }
}

fn everybody_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OpponentKind>, D::Error> {
    let given = Option::deserialize(deserializer)?;
    Ok(given.unwrap_or_else(|| Accepts::default().opponents))
}

fn standard_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<WireVariant>, D::Error> {
    let given = Option::deserialize(deserializer)?;
    Ok(given.unwrap_or_else(|| Accepts::default().variants))
}

/// The moves that stand on the board when a game begins.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WireOpening {
    /// Where they come from.
    pub(crate) kind: OpeningKind,
    /// The moves; empty for none.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<String>")]
    pub(crate) moves: String,
}

/// A game's place among the games that belong together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WirePair {
    /// The same for all games of the series.
    pub(crate) id: PairId,
    /// Which game of the series this is, from 1.
    pub(crate) leg: u32,
    /// How many there are.
    pub(crate) of: u32,
}

/// How a series of which the better wins stood before one of its games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct WireSeries {
    /// Which game of the series this is, from 1.
    pub(crate) leg: u32,
    /// How many there are at most.
    pub(crate) of: u32,
    /// Halves of points, by the sides of this game: two for a game won, one for a draw.
    pub(crate) half_points: Sides<u32>,
}

/// Reads an optional field of a message: null is as good as nothing.
pub(super) fn null_as_left_out<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Terms of a challenge, without who plays.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Terms {
    /// How much time each side has.
    pub(crate) time: GameTime,
    /// Whether ratings change.
    pub(crate) rated: bool,
    /// Board size.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<WireVariant>")]
    pub(crate) variant: WireVariant,
    /// The opening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) opening: Option<WireOpening>,
    /// 1, an even number as pairs with sides swapped, or 3 or 5 as the most of a series that ends when it is decided.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<SeriesLength>")]
    pub(crate) games: SeriesLength,
    /// The side that the challenger takes in the first game.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<SideChoice>")]
    pub(crate) side: SideChoice,
    /// The games only put load on the arena: they are casual, and nothing is learnt or counted from them.
    #[serde(default, deserialize_with = "null_as_left_out", skip_serializing_if = "std::ops::Not::not")]
    #[schemars(with = "Option<bool>")]
    pub(crate) load: bool,
    /// The games are in no list: whoever has their address may watch. They are casual, and between people.
    #[serde(default, deserialize_with = "null_as_left_out", skip_serializing_if = "std::ops::Not::not")]
    #[schemars(with = "Option<bool>")]
    pub(crate) private: bool,
}
