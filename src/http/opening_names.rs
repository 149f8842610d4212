//! Names of first moves in the visitor's language, for pages, their modules and the API.

use fourfold_engine::Game;
use schemars::JsonSchema;
use serde::Serialize;

use super::texts::Language;
use crate::model::opening_names::{NAMED_OPENINGS, NamedOpening, ReachedOpening, deepest};

/// The texts by the keys of the table, in its order.
const TEXTS: [(&str, &str); NAMED_OPENINGS.len()] = [
    ("edge", "openings.edge"),
    ("wing", "openings.wing"),
    ("flank", "openings.flank"),
    ("centre", "openings.centre"),
    ("edge_tower", "openings.edge_tower"),
    ("edge_centre", "openings.edge_centre"),
    ("edge_both", "openings.edge_both"),
    ("wing_tower", "openings.wing_tower"),
    ("wing_centre", "openings.wing_centre"),
    ("wing_both", "openings.wing_both"),
    ("flank_tower", "openings.flank_tower"),
    ("flank_centre", "openings.flank_centre"),
    ("flank_both", "openings.flank_both"),
    ("flank_outside", "openings.flank_outside"),
    ("centre_tower", "openings.centre_tower"),
    ("centre_beside", "openings.centre_beside"),
    ("centre_wide", "openings.centre_wide"),
    ("centre_edge", "openings.centre_edge"),
    ("tower_three", "openings.tower_three"),
    ("two_in_centre", "openings.two_in_centre"),
    ("row_cut", "openings.row_cut"),
    ("tower_edge", "openings.tower_edge"),
    ("tower_wide", "openings.tower_wide"),
    ("tower_beside", "openings.tower_beside"),
    ("tower_four", "openings.tower_four"),
    ("two_towers", "openings.two_towers"),
    ("two_walls", "openings.two_walls"),
    ("tower_three_edge", "openings.tower_three_edge"),
    ("tower_three_wide", "openings.tower_three_wide"),
    ("tower_five", "openings.tower_five"),
    ("full_centre", "openings.full_centre"),
    ("tower_five_wide", "openings.tower_five_wide"),
];

/// What the opening of a game is called: the name of the fullest position that has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(super) struct OpeningName {
    /// Stays the same for ever.
    key: &'static str,
    /// In English.
    name: &'static str,
    /// Stones on the board when it came to that.
    ply: u32,
}

impl OpeningName {
    /// `None` where no position of the game has a name.
    pub(super) fn of(game: &Game) -> Option<Self> {
        let ReachedOpening { named, ply } = deepest(game)?;
        Some(Self { key: named.key, name: name(Language::English, named), ply })
    }
}

/// The name in a language.
fn name(lang: Language, named: &NamedOpening) -> &'static str {
    TEXTS.iter().find(|(key, _)| *key == named.key).map_or("", |(_, text)| lang.text(text))
}

/// What the opening of a game is called in a language.
pub(super) fn of_game(lang: Language, game: &Game) -> Option<&'static str> {
    deepest(game).map(|reached| name(lang, reached.named))
}

/// The line on a page that says it, with what the module `opening-names.js` goes on from.
#[derive(Clone, Debug, askama::Template)]
#[template(path = "parts/opening-name.html")]
pub(super) struct OpeningLine {
    label: &'static str,
    name: Option<&'static str>,
    /// Moves and name of each, as JSON.
    table: String,
}

impl askama::filters::HtmlSafe for OpeningLine {}

impl OpeningLine {
    pub(super) fn new(lang: Language, game: &Game) -> Self {
        let table: Vec<_> = NAMED_OPENINGS.iter().map(|named| (named.moves, name(lang, named))).collect();
        Self {
            label: lang.text("openings.label"),
            name: of_game(lang, game),
            table: serde_json::to_string(&table).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Variant;

    use super::*;

    #[test]
    fn every_named_opening_has_a_name_of_its_own_in_every_language() {
        for lang in Language::ALL {
            let mut names: Vec<_> = NAMED_OPENINGS.iter().map(|named| name(lang, named)).collect();
            assert!(names.iter().all(|name| !name.is_empty() && !name.contains('.')), "{names:?}");
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), NAMED_OPENINGS.len(), "{lang:?}: {names:?}");
        }
    }

    #[test]
    fn a_game_is_called_by_its_last_name() {
        let game = Game::from_moves(Variant::STANDARD, "4443").unwrap();
        assert_eq!(of_game(Language::English, &game), Some("Tower of three"));
        let reached = OpeningName { key: "tower_three", name: "Tower of three", ply: 3 };
        assert_eq!(OpeningName::of(&game), Some(reached));
    }
}
