//! A face for each bot, drawn from its name: the same name has the same face everywhere and always.

use askama::Template;
use askama::filters::HtmlSafe;
use sha2::{Digest, Sha256};

/// Hues of the circle that faces take: few enough to be told apart.
const HUES: u16 = 12;

/// A bot's face, as a small picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Template)]
#[template(path = "parts/avatar.html")]
pub(super) struct Avatar {
    /// Degrees on the colour circle.
    hue: u16,
    eyes: u8,
    mouth: u8,
    antenna: u8,
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
        }
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
    fn names_have_many_faces() {
        let faces: BTreeSet<String> = (0..40).map(|n| Avatar::new(&format!("bot{n}")).to_string()).collect();
        assert!(faces.len() > 30, "{}", faces.len());
    }
}
