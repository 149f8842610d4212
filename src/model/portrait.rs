//! What a person shows of themselves beside the name: a picture out of a set, a flag, and a line of text. Pure.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::text::{BadText, Lines, check_text};

/// Characters of the line: what a narrow page shows in two rows.
const LINE_MAX: usize = 80;

/// The pictures, as `web/static/pictures.svg` names them. One never goes: it stands in profiles.
const PICTURES: [&str; 24] = [
    "coral", "gold", "ring", "star", "row", "slope", "stack", "checker", "moon", "sun", "flower", "balloon",
    "cat", "dog", "bear", "rabbit", "owl", "fox", "panda", "frog", "pig", "mouse", "chick", "bee",
];

/// Countries by ISO 3166-1 alpha-2, as the standard has them in 2026.
const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ \
                         BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM \
                         DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS \
                         GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN \
                         KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ \
                         MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM \
                         PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV \
                         SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI \
                         VN VU WF WS YE YT ZA ZM ZW";

/// Why something is not shown.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadPortrait {
    #[error("there is no such picture: {} are there", PICTURES.join(", "))]
    Picture,
    #[error("a flag is a country by ISO 3166-1, two capital letters such as NL")]
    Flag,
    #[error("the line is empty, or has spaces around it")]
    Blank,
    #[error("the line {0}")]
    Line(BadText),
}

/// A picture out of the set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Picture(&'static str);

impl Picture {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        PICTURES.into_iter().map(Self)
    }

    /// By its name.
    pub(crate) fn as_str(self) -> &'static str {
        self.0
    }

    /// That of whoever has chosen none: FNV-1a over the name, in small letters.
    pub(crate) fn of_name(name: &str) -> Self {
        const BASIS: u32 = 0x811c_9dc5;
        const PRIME: u32 = 0x0100_0193;
        let letters = name.bytes().map(|byte| byte.to_ascii_lowercase());
        let hash = letters.fold(BASIS, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME));
        let mixed = hash ^ (hash >> 16);
        Self(PICTURES[mixed as usize % PICTURES.len()])
    }
}

impl FromStr for Picture {
    type Err = BadPortrait;

    fn from_str(text: &str) -> Result<Self, BadPortrait> {
        PICTURES.into_iter().find(|name| *name == text).map(Self).ok_or(BadPortrait::Picture)
    }
}

/// A country.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flag(&'static str);

impl Flag {
    /// All of them, by their letters.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        COUNTRIES.split(' ').map(Self)
    }

    /// The two letters.
    pub(crate) fn as_str(self) -> &'static str {
        self.0
    }
}

impl FromStr for Flag {
    type Err = BadPortrait;

    fn from_str(text: &str) -> Result<Self, BadPortrait> {
        Self::all().find(|flag| flag.0 == text).ok_or(BadPortrait::Flag)
    }
}

/// A line of text: 1 to 80 characters, of which none is hidden or turns the direction of writing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileLine(Box<str>);

impl ProfileLine {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProfileLine {
    type Err = BadPortrait;

    fn from_str(text: &str) -> Result<Self, BadPortrait> {
        check_text(text, LINE_MAX, Lines::One).map_err(BadPortrait::Line)?;
        if text.is_empty() || text.trim() != text {
            return Err(BadPortrait::Blank);
        }
        Ok(Self(text.into()))
    }
}

/// Serialises as its text, and reads itself from it.
macro_rules! as_text {
    ($($type:ident: $about:literal, $max:expr;)*) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "description": $about, "maxLength": $max })
            }
        }
    )*};
}

as_text! {
    Picture: "A picture out of the set, by its name.", 16;
    Flag: "A country by ISO 3166-1 alpha-2.", 2;
    ProfileLine: "A line of text, 1 to 80 characters.", 80;
}

/// All that a person shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Portrait {
    pub(crate) picture: Option<Picture>,
    pub(crate) flag: Option<Flag>,
    pub(crate) line: Option<ProfileLine>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_shown_is_refused() {
        assert_eq!("owl".parse(), Ok(Picture("owl")));
        assert!("Owl".parse::<Picture>().unwrap_err().to_string().contains("owl, fox"));
        assert_eq!("NL".parse(), Ok(Flag("NL")));
        for wrong in ["nl", "ZZ", "N", "", "NLD", "A D"] {
            assert_eq!(wrong.parse::<Flag>(), Err(BadPortrait::Flag), "{wrong}");
        }
        assert_eq!(Flag::all().count(), 249);
        assert_eq!("I play in the middle.".parse::<ProfileLine>().unwrap().as_str(), "I play in the middle.");
        for wrong in ["", " ", " a", "a ", "a\nb", "a\u{202e}b", "a\u{200b}b", &"x".repeat(81)] {
            assert!(wrong.parse::<ProfileLine>().is_err(), "{wrong:?}");
        }
        assert!("ä".repeat(80).parse::<ProfileLine>().is_ok());
    }

    #[test]
    fn a_name_keeps_its_picture_and_names_have_many() {
        assert_eq!(Picture::of_name("Ada"), Picture::of_name("aDA"));
        let mut seen: Vec<_> = (0..200).map(|n| Picture::of_name(&format!("guest-{n}")).as_str()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), PICTURES.len());
    }

    #[test]
    fn every_picture_is_drawn() {
        let drawn = include_str!("../../web/static/pictures.svg");
        for picture in Picture::all() {
            assert!(drawn.contains(&format!("<symbol id=\"{picture}\"")), "{picture}");
        }
    }
}
