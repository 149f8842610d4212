//! A picture for each player, drawn from the name: the same name has the same one everywhere and always. Bots have a
//! square face with antennas, people a round shield with their initial, so that lists need no word for it.

use askama::Template;
use askama::filters::HtmlSafe;
use sha2::{Digest, Sha256};

use crate::model::ids::PlayerName;
use crate::model::player::PlayerKind;

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
    initial: Option<char>,
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
            initial: None,
        }
    }

    /// The picture of a player of this kind.
    pub(super) fn of(kind: PlayerKind, name: &PlayerName) -> Self {
        let initial = match kind {
            PlayerKind::Bot => None,
            PlayerKind::Human | PlayerKind::Guest => name.spoken().chars().next(),
        };
        Self { initial: initial.map(|letter| letter.to_ascii_uppercase()), ..Self::new(name.as_str()) }
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
        let picture = |kind| Avatar::of(kind, &name).to_string();
        let (bot, person) = (picture(PlayerKind::Bot), picture(PlayerKind::Human));
        assert!(bot.contains("rx=\"13\"") && !bot.contains("<text"), "{bot}");
        assert!(person.contains(">A</text>") && !person.contains("<rect"), "{person}");
    }

    #[test]
    fn names_have_many_faces() {
        let faces: BTreeSet<String> = (0..40).map(|n| Avatar::new(&format!("bot{n}")).to_string()).collect();
        assert!(faces.len() > 30, "{}", faces.len());
    }
}
