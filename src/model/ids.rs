//! Names of things: the identifiers that travel on the wire, stand in the store and appear in logs.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use super::lookalike::Outline;

/// Characters of a public id. Base 58 leaves out `0OIl`, which people confuse when they read a link aloud.
const ID_ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Characters in a public id: 58^10 is 4 x 10^17, so ten million games collide with a chance of 1 in 8,000.
const ID_LENGTH: usize = 10;

/// Longest id that is read: ids of a later version may be longer, but never unboundedly so.
const ID_LENGTH_MAX: usize = 64;

/// Text that is not an id.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{text}` is not an id: 1 to {ID_LENGTH_MAX} letters, digits, `-` and `_`")]
pub struct InvalidId {
    text: String,
}

/// Draws a fresh public id.
fn draw_id(rng: &mut impl Rng) -> Arc<str> {
    let id: String =
        (0..ID_LENGTH).map(|_| char::from(ID_ALPHABET[rng.random_range(0..ID_ALPHABET.len())])).collect();
    id.into()
}

/// Shared by its clones: an id goes along with each message, and is made far more seldom.
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Draws a fresh id.
            pub fn random(rng: &mut impl Rng) -> Self {
                Self(draw_id(rng))
            }

            /// The id as text, as it stands in links and records.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let fits = (1..=ID_LENGTH_MAX).contains(&text.len());
                let may_stand = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
                if fits && text.bytes().all(may_stand) {
                    Ok(Self(text.into()))
                } else {
                    Err(InvalidId { text: text.chars().take(ID_LENGTH_MAX).collect() })
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

id_type! {
    /// A person, a bot or a guest.
    PlayerId
}
id_type! {
    /// One game; also the last part of its link.
    GameId
}
id_type! {
    /// One offer to play, directed or open.
    ChallengeId
}
id_type! {
    /// One client's presence, which outlives its socket.
    SessionId
}
id_type! {
    /// A study; nobody guesses it, and whoever has it may read the study.
    StudyId
}
id_type! {
    /// Games that belong together: the same opening, sides swapped.
    PairId
}
id_type! {
    /// One tournament; also the last part of its link.
    TournamentId
}
id_type! {
    /// One stored credential. Not the secret itself.
    TokenId
}
id_type! {
    /// Somebody's run through puzzles, as long as it goes on.
    RunId
}
id_type! {
    /// One puzzle: made of its position, so it is never drawn.
    PuzzleId
}

/// Stands in the id of a tournament's pair between the tournament's id and the pair's number. Drawn ids have no `-`.
const PAIR_OF_TOURNAMENT: &str = "-t";

impl PairId {
    /// The pair of this number, from 0, in a tournament: which games belong to it can be read off their records.
    pub(crate) fn in_tournament(tournament: &TournamentId, number: u64) -> Self {
        Self(format!("{tournament}{PAIR_OF_TOURNAMENT}{number}").into())
    }

    /// The tournament and the number of one of its pairs.
    pub(crate) fn of_tournament(&self) -> Option<(TournamentId, u64)> {
        let (tournament, number) = self.0.split_once(PAIR_OF_TOURNAMENT)?;
        // Ids come in with imported records too: a number is small enough to be computed with.
        let number: u32 = number.parse().ok()?;
        Some((tournament.parse().ok()?, number.into()))
    }
}

impl TournamentId {
    /// What the ids of all its pairs begin with.
    pub(crate) fn pair_prefix(&self) -> String {
        format!("{self}{PAIR_OF_TOURNAMENT}")
    }
}

/// Shortest and longest player name.
const NAME_LENGTH: std::ops::RangeInclusive<usize> = 2..=20;

/// Stands between the name of a learner of the house and the games after which a version of it was frozen. Nobody can
/// register a name with it, so no version's name is ever taken.
const VERSION_MARK: char = '@';

/// Digits of a version: more games than anybody will play.
const VERSION_DIGITS_MAX: usize = 9;

/// Names nobody may register, nor what looks like them: they read like the arena itself speaking.
const RESERVED_NAMES: &[&str] = &[
    "admin",
    "administrator",
    "anonymous",
    "arena",
    "fourfold",
    "moderator",
    "official",
    "operator",
    "root",
    "server",
    "support",
    "system",
];

/// Guests are called `guest-` and six characters, or `guest-` and what they call themselves; nobody else may be.
pub(crate) const GUEST_PREFIX: &str = "guest-";

/// Characters after [`GUEST_PREFIX`] or [`GONE_PREFIX`] in names that nobody chose.
pub(crate) const SUFFIX_CHARS: usize = 6;

/// Characters of that suffix: no vowels, so no words; none that look alike. 28^6 are 480 million names.
pub(crate) const SUFFIX_ALPHABET: &[u8; 28] = b"23456789bcdfghjkmnpqrstvwxyz";

/// Whoever left is called `gone-` and some characters; nobody else may be.
pub(crate) const GONE_PREFIX: &str = "gone-";

/// Why a text cannot be a player's name.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidName {
    /// Too short or too long.
    #[error("a name has {} to {} characters, this one has {length}", NAME_LENGTH.start(), NAME_LENGTH.end())]
    Length {
        /// Characters in the refused text.
        length: usize,
    },
    /// A character outside the allowed set.
    #[error("character {position} of the name is not allowed: letters a to z, digits, `_` and `-` are")]
    Character { position: usize },
    /// A name that the arena keeps for itself.
    #[error("the name `{name}` is reserved")]
    Reserved { name: String },
}

/// A player's public name: 2 to 20 of `A-Z a-z 0-9 _ -`, unique without regard to case. Frozen versions of learners
/// of the house have `@` and a number behind it, such as `memory@300`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct PlayerName(Box<str>);

impl PlayerName {
    /// Reads a name that somebody wants to register, which also must not be reserved.
    ///
    /// # Errors
    ///
    /// Says which rule the text breaks.
    pub(crate) fn register(text: &str) -> Result<Self, InvalidName> {
        check_plain(text)?;
        let name: Self = text.parse()?;
        let outline = Outline::of(text);
        let letters = outline.as_str().replace(['-', '_'], "");
        if RESERVED_NAMES.iter().any(|reserved| Outline::of(reserved).as_str() == letters)
            || [GUEST_PREFIX, GONE_PREFIX].iter().any(|prefix| outline.as_str().starts_with(prefix))
        {
            return Err(InvalidName::Reserved { name: text.to_owned() });
        }
        Ok(name)
    }

    /// Reads what a guest wants to be called, and gives the guest's name: it keeps the mark of guests, so that nobody
    /// is taken for an account.
    ///
    /// # Errors
    ///
    /// Says which rule the text breaks; those for accounts hold too.
    pub(crate) fn of_guest(text: &str) -> Result<Self, InvalidName> {
        Self::register(text)?;
        format!("{GUEST_PREFIX}{text}").parse()
    }

    /// What pages call somebody, beside a mark that says who is a guest: guests who chose a name by that alone.
    pub(crate) fn spoken(&self) -> &str {
        match self.0.strip_prefix(GUEST_PREFIX) {
            Some(chosen) if !is_made_up(chosen) => chosen,
            Some(_) | None => &self.0,
        }
    }

    /// Whether it is that of a guest, chosen or made up.
    pub(crate) fn is_of_guest(&self) -> bool {
        self.0.starts_with(GUEST_PREFIX)
    }

    /// The name of this learner's version that was frozen after so many games.
    pub(crate) fn version(&self, games: u64) -> Self {
        Self(format!("{self}{VERSION_MARK}{games}").into())
    }

    /// Whether it is the name of this learner or of one of its versions.
    pub(crate) fn is_or_is_version_of(&self, learner: &Self) -> bool {
        let (key, learner) = (self.key(), learner.key());
        key.split(VERSION_MARK).next() == Some(learner.as_str())
    }

    /// The name as its owner wrote it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The form under which names are unique.
    pub(crate) fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl FromStr for PlayerName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        check_plain(split_version(text).map_or(text, |(name, _)| name))?;
        Ok(Self(text.into()))
    }
}

/// The learner and the games of a version's name.
fn split_version(text: &str) -> Option<(&str, &str)> {
    let is_number = |games: &str| {
        (1..=VERSION_DIGITS_MAX).contains(&games.len()) && games.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split_once(VERSION_MARK).filter(|(_, games)| is_number(games))
}

/// Whether the rest of a guest's name is as they are drawn.
fn is_made_up(suffix: &str) -> bool {
    suffix.len() == SUFFIX_CHARS && suffix.bytes().all(|byte| SUFFIX_ALPHABET.contains(&byte))
}

fn check_plain(text: &str) -> Result<(), InvalidName> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if let Some(index) = text.chars().position(|c| !allowed(c)) {
        return Err(InvalidName::Character { position: index + 1 });
    }
    if NAME_LENGTH.contains(&text.len()) { Ok(()) } else { Err(InvalidName::Length { length: text.len() }) }
}

impl<'de> Deserialize<'de> for PlayerName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    #[test]
    fn drawn_ids_read_back() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let id = GameId::random(&mut rng);
        assert_eq!(id.as_str().len(), ID_LENGTH);
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
    }

    #[test]
    fn pairs_of_tournaments_name_them() {
        let tournament: TournamentId = "Ab3".parse().unwrap();
        let pair = PairId::in_tournament(&tournament, 12);
        assert_eq!(pair.as_str(), "Ab3-t12");
        assert_eq!(pair.as_str().parse::<PairId>().unwrap().of_tournament(), Some((tournament, 12)));
        for other in
            ["Ab3", "Ab3-p12", "Ab3-t", "-t3", "Ab3-tx", "Ab3-t9223372036854775808", "Ab3-t4294967296"]
        {
            assert_eq!(other.parse::<PairId>().unwrap().of_tournament(), None, "{other}");
        }
    }

    #[test]
    fn ids_with_other_characters_are_refused() {
        for text in ["", "a b", "../x", "ä", &"x".repeat(ID_LENGTH_MAX + 1)] {
            assert!(text.parse::<GameId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn versions_have_names_that_nobody_can_register() {
        let name: PlayerName = "memory-spectator".parse().unwrap();
        assert_eq!(name.version(100_000).as_str().parse(), Ok(name.version(100_000)));
        assert!(name.version(100_000).is_or_is_version_of(&name) && name.is_or_is_version_of(&name));
        assert!(!"memory".parse::<PlayerName>().unwrap().version(300).is_or_is_version_of(&name));
        for text in ["memory@", "memory@x", "@300", "memory@1@2", "memory@-1", "memory@1234567890"] {
            assert!(text.parse::<PlayerName>().is_err(), "{text}");
        }
    }

    #[track_caller]
    fn check_name(text: &str, expected: &Result<(), InvalidName>) {
        assert_eq!(&PlayerName::register(text).map(|_| ()), expected, "{text:?}");
    }

    #[test]
    fn names_follow_the_rule() {
        check_name("Ada_Lovelace-1", &Ok(()));
        check_name("a", &Err(InvalidName::Length { length: 1 }));
        check_name(&"a".repeat(21), &Err(InvalidName::Length { length: 21 }));
        check_name("a b", &Err(InvalidName::Character { position: 2 }));
        check_name("\u{202e}abc", &Err(InvalidName::Character { position: 1 }));
        check_name("Admin", &Err(InvalidName::Reserved { name: "Admin".into() }));
        check_name("a_d-m_i_n", &Err(InvalidName::Reserved { name: "a_d-m_i_n".into() }));
        check_name("memory@300", &Err(InvalidName::Character { position: 7 }));
        check_name("Guest-abc", &Err(InvalidName::Reserved { name: "Guest-abc".into() }));
    }

    #[test]
    fn a_guest_who_chose_a_name_is_called_by_it_and_stays_marked() {
        let anna = PlayerName::of_guest("Anna").unwrap();
        assert_eq!((anna.as_str(), anna.spoken()), ("guest-Anna", "Anna"));
        for whole in ["guest-vg99nb", "Ada", "gone-vg99nb"] {
            assert_eq!(whole.parse::<PlayerName>().unwrap().spoken(), whole);
        }
        for refused in ["a", "admin", "guest-Bob", "an na", "fifteen-letters"] {
            assert!(PlayerName::of_guest(refused).is_err(), "{refused}");
        }
    }
}
