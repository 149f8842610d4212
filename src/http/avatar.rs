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
use crate::protocol::terms::WirePlayer;

/// Hues of the circle that faces take: few enough to be told apart.
const HUES: u16 = 12;

/// A player's picture, a small one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Template)]
#[template(path = "parts/avatar.html")]
pub(super) struct Avatar {
    face: BotFace,
    /// Of a person; bots have their face.
    picture: Option<Picture>,
}

impl HtmlSafe for Avatar {}

/// The square face of a bot, without a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Template)]
#[template(path = "parts/bot-face.html")]
struct BotFace {
    /// Degrees on the colour circle.
    hue: u16,
    eyes: u8,
    mouth: u8,
    antenna: u8,
}

impl HtmlSafe for BotFace {}

/// The pictures of people, a `symbol` each.
const PICTURES: &str = include_str!("../../web/static/pictures.svg");

/// What a picture of the set consists of. A file that a page shows as an image may not use a symbol of another.
fn drawing(picture: Picture) -> &'static str {
    let from_symbol =
        PICTURES.split_once(&format!("<symbol id=\"{picture}\"")).map_or("", |(_, after)| after);
    let within = from_symbol.split_once('>').map_or("", |(_, after)| after);
    within.split_once("</symbol>").map_or("", |(drawing, _)| drawing)
}

/// Where the picture of a person is, as a file; bots stand in lists without one.
pub(super) fn address(player: &WirePlayer) -> Option<String> {
    let is_person = player.kind != PlayerKind::Bot;
    is_person.then(|| format!("/api/v1/players/{}/picture.svg", player.name))
}

impl Avatar {
    /// The face of this name, however it is spelt in capitals and small letters.
    pub(super) fn new(name: &str) -> Self {
        let digest = Sha256::digest(name.to_lowercase());
        let face = BotFace {
            hue: u16::from(digest[0]) % HUES * (360 / HUES),
            eyes: digest[1] % 4,
            mouth: digest[2] % 4,
            antenna: digest[3] % 3,
        };
        Self { face, picture: None }
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

    /// As a file of its own, for pages that know a player by name alone.
    pub(super) fn file(self) -> String {
        let drawn = self.picture.map_or_else(|| self.face.to_string(), |picture| drawing(picture).to_owned());
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 48 48\">{drawn}</svg>")
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
    fn files_need_no_other() {
        let file = |avatar: Avatar| avatar.file();
        let name = "ada".parse().unwrap();
        for picture in Picture::all() {
            let drawn = file(Avatar::of(PlayerKind::Human, &name, Some(picture)));
            assert!(drawn.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{drawn}");
            assert!(drawn.contains("<circle cx=\"24\" cy=\"24\" r=\"24\""), "{picture}: {drawn}");
            assert!(!drawn.contains("<use") && !drawn.contains("symbol"), "{picture}: {drawn}");
        }
        assert!(file(Avatar::new("negamax")).contains("rx=\"13\""));
    }

    #[test]
    fn names_have_many_faces() {
        let faces: BTreeSet<String> = (0..40).map(|n| Avatar::new(&format!("bot{n}")).to_string()).collect();
        assert!(faces.len() > 30, "{}", faces.len());
    }
}
