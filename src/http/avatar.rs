//! A picture for each player. Bots have a square face with antennas, drawn from the name; people have a round one out
//! of the set, which they have chosen, or which follows from the name: the same name has the same one everywhere and
//! always.

use askama::Template;
use askama::filters::HtmlSafe;
use sha2::{Digest, Sha256};

use crate::http::assets;
use crate::model::ids::PlayerName;
use crate::model::player::PlayerKind;
use crate::model::portrait::Picture;

/// Hues of the circle that faces take: few enough to be told apart.
const HUES: u16 = 12;

/// A player's picture, a small one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Template)]
#[template(path = "parts/avatar.html")]
pub(super) struct Avatar {
    /// Degrees on the colour circle.
    hue: u16,
    eyes: u8,
    mouth: u8,
    antenna: u8,
    /// Of a person; bots have a face.
    picture: Option<Picture>,
}

impl HtmlSafe for Avatar {}

impl Avatar {
    /// The face of this name, however it is spelt in capitals and small letters.
    pub(super) fn new(name: &str) -> Self {
        let digest = Sha256::digest(name.to_lowercase());
        Self {
            hue: u16::from(digest[0]) % HUES * (360 / HUES),
            eyes: digest[1] % 4,
            mouth: digest[2] % 4,
            antenna: digest[3] % 3,
            picture: None,
        }
    }

    /// The picture of a player of this kind, who may have chosen one.
    pub(super) fn of(kind: PlayerKind, name: &PlayerName, chosen: Option<Picture>) -> Self {
        let picture = match kind {
            PlayerKind::Bot => None,
            PlayerKind::Human | PlayerKind::Guest => {
                Some(chosen.unwrap_or_else(|| Picture::of_name(name.spoken())))
            }
        };
        Self { picture, ..Self::new(name.as_str()) }
    }

    /// Where the pictures of people are.
    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn pictures(&self) -> String {
        assets::url("pictures.svg")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_name_keeps_its_face() {
        assert_eq!(Avatar::new("Negamax"), Avatar::new("negamax"));
    }

    #[test]
    fn people_are_round_and_bots_square() {
        let name = "ada".parse().unwrap();
        let picture = |kind, chosen| Avatar::of(kind, &name, chosen).to_string();
        let (bot, person) = (picture(PlayerKind::Bot, None), picture(PlayerKind::Human, "owl".parse().ok()));
        assert!(bot.contains("rx=\"13\"") && !bot.contains("<use"), "{bot}");
        assert!(person.contains("#owl\"/>") && !person.contains("<rect"), "{person}");
        let own = Picture::of_name("ada");
        assert!(picture(PlayerKind::Guest, None).contains(&format!("#{own}\"/>")));
    }

    #[test]
    fn names_have_many_faces() {
        let faces: BTreeSet<String> = (0..40).map(|n| Avatar::new(&format!("bot{n}")).to_string()).collect();
        assert!(faces.len() > 30, "{}", faces.len());
    }
}
