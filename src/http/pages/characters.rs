//! The eight opponents that people choose from: bots of the house with a level, a name, a face, and something to say.

use askama::Template;
use askama::filters::HtmlSafe;

use super::parts::{Face, PlayerTag};
use super::words::{self, BoardChoice};
use crate::http::state::OpenBot;
use crate::http::texts::Language;
use crate::model::ids::PlayerId;
use crate::model::player::PlayerKind;
use crate::model::rating::level::Level;
use crate::protocol::terms::{Sides, WirePlayer};

/// What each says, from the first to the last: its name, a line before the game, one when it has won, one when it has
/// lost.
const KEYS: [[&str; 4]; 8] = [
    ["character.name_1", "character.says_1", "character.won_1", "character.lost_1"],
    ["character.name_2", "character.says_2", "character.won_2", "character.lost_2"],
    ["character.name_3", "character.says_3", "character.won_3", "character.lost_3"],
    ["character.name_4", "character.says_4", "character.won_4", "character.lost_4"],
    ["character.name_5", "character.says_5", "character.won_5", "character.lost_5"],
    ["character.name_6", "character.says_6", "character.won_6", "character.lost_6"],
    ["character.name_7", "character.says_7", "character.won_7", "character.lost_7"],
    ["character.name_8", "character.says_8", "character.won_8", "character.lost_8"],
];

/// One of the eight.
#[derive(Clone, Debug)]
pub(super) struct Character {
    pub(super) level: Level,
    /// The account of the program behind it.
    pub(super) player: PlayerId,
    pub(super) program: String,
    pub(super) face: Face,
    pub(super) name: &'static str,
    pub(super) says: &'static str,
    pub(super) won: &'static str,
    pub(super) lost: &'static str,
    /// The level in words, such as `Level 3`.
    pub(super) rank: String,
}

impl Character {
    /// The character that a bot is, if it is one.
    pub(super) fn of(lang: Language, bot: &OpenBot) -> Option<Self> {
        let level = bot.level?;
        let [name, says, won, lost] = KEYS[usize::from(level.number()) - 1].map(|key| lang.text(key));
        Some(Self {
            level,
            player: bot.player.id.clone(),
            program: bot.player.name.to_string(),
            face: Face::of(level),
            name,
            says,
            won,
            lost,
            rank: lang.fill("character.level", &[("n", level)]),
        })
    }

    /// All of them, the easiest first.
    pub(super) fn all(lang: Language, bots: &[OpenBot]) -> Vec<Self> {
        let mut all: Vec<Self> = bots.iter().filter_map(|bot| Self::of(lang, bot)).collect();
        all.sort_by_key(|character| character.level);
        all
    }
}

/// The characters by the accounts behind them: whoever is shown on a page is called by the name that people know.
/// Prints what the page's modules need for those who come later.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/cast.html")]
pub(super) struct Cast {
    lang: Language,
    characters: Vec<Character>,
}

impl HtmlSafe for Cast {}

impl Cast {
    /// All of them.
    pub(super) fn new(lang: Language, bots: &[OpenBot]) -> Self {
        Self { lang, characters: Character::all(lang, bots) }
    }

    /// Those among these players.
    pub(super) fn among(mut self, players: &Sides<WirePlayer>) -> Self {
        let ids = [&players.first.id, &players.second.id];
        self.characters.retain(|character| ids.contains(&&character.player));
        self
    }

    /// Who an account is, if it is one of them.
    pub(super) fn of(&self, player: &PlayerId) -> Option<&Character> {
        self.characters.iter().find(|character| character.player == *player)
    }

    /// What both players are called.
    pub(super) fn names(&self, players: &Sides<WirePlayer>) -> [String; 2] {
        [&players.first, &players.second].map(|player| {
            self.of(&player.id)
                .map_or_else(|| player.name.spoken().to_owned(), |character| character.name.to_owned())
        })
    }

    /// A player's name with badge, rating, and the face or picture of whoever has one.
    pub(super) fn tag(&self, player: &WirePlayer) -> PlayerTag {
        let tag = PlayerTag::new(self.lang, player);
        match self.of(&player.id) {
            Some(character) => tag.called(Some(character.name)).faced(character.face),
            None => tag.pictured(player),
        }
    }
}

impl Cast {
    /// The same in a game of these two: where bots play each other, no word says so of both.
    pub(super) fn tag_among(&self, players: &Sides<WirePlayer>, player: &WirePlayer) -> PlayerTag {
        let are_bots = [&players.first, &players.second].iter().all(|each| each.kind == PlayerKind::Bot);
        let tag = self.tag(player);
        if are_bots { tag.plain() } else { tag }
    }
}

/// Where one chooses an opponent of the house, and how to play.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/play-dialog.html")]
pub(super) struct PlayDialog {
    lang: Language,
    rivals: Vec<Character>,
    /// Guests play no rated games.
    may_be_rated: bool,
    boards: Vec<BoardChoice>,
}

impl HtmlSafe for PlayDialog {}

impl PlayDialog {
    pub(super) fn new(lang: Language, rivals: Vec<Character>, may_be_rated: bool) -> Self {
        Self { lang, rivals, may_be_rated, boards: words::boards(lang) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_has_a_face_of_its_own() {
        let faces: std::collections::BTreeSet<String> =
            (1..=8).map(|level| Face::of(Level::try_from(level).unwrap()).to_string()).collect();
        assert_eq!(faces.len(), KEYS.len());
    }
}
