//! The rules in a minute, and a first strategy, for whoever has never played.

use askama::Template;
use axum::response::Html;
use fourfold_engine::Variant;

use super::Page;
use super::drawing::{Drawing, MiniBoard};
use super::layout::{LayoutFrame, Tab, Visitor};

/// A part of the page: what is said, and games that show it, as their moves.
const RULES: [Part<'static>; 2] = [
    Part { title: "rules.drop", detail: "rules.drop_detail", games: &["4453"] },
    Part {
        title: "rules.win",
        detail: "rules.win_detail",
        // Across, upright, and diagonally.
        games: &["3141516", "4545464", "12234334644"],
    },
];
const STRATEGY: [Part<'static>; 4] = [
    Part { title: "rules.look", detail: "rules.look_detail", games: &["41424"] },
    Part { title: "rules.middle", detail: "rules.middle_detail", games: &["444"] },
    Part { title: "rules.two", detail: "rules.two_detail", games: &["33445"] },
    Part { title: "rules.above", detail: "rules.above_detail", games: &["55771616"] },
];

/// Texts by their keys, games by their moves.
struct Part<'a> {
    title: &'static str,
    detail: &'static str,
    games: &'a [&'static str],
}

/// A part as the page shows it.
struct Shown {
    title: &'static str,
    detail: &'static str,
    boards: Vec<MiniBoard>,
}

#[derive(Template)]
#[template(path = "rules.html")]
struct RulesPage {
    frame: LayoutFrame,
    /// Which names the game as people know it.
    lead: String,
    rules: Vec<Shown>,
    strategy: Vec<Shown>,
}

pub(super) async fn page(visitor: Visitor) -> Page {
    let lang = visitor.language();
    let page = RulesPage {
        frame: visitor.frame(Tab::Rules, lang.text("rules.title")),
        lead: lang.fill("rules.lead", &[("name", lang.text("rules.name"))]),
        rules: RULES.iter().map(|part| shown(&visitor, part)).collect(),
        strategy: STRATEGY.iter().map(|part| shown(&visitor, part)).collect(),
    };
    Ok(Html(page.render()?))
}

fn shown(visitor: &Visitor, part: &Part<'_>) -> Shown {
    let board = |moves: &&str| MiniBoard { drawing: Drawing::new(Variant::STANDARD, moves) };
    Shown {
        title: visitor.language().text(part.title),
        detail: visitor.language().text(part.detail),
        boards: part.games.iter().map(board).collect(),
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::{Column, Game, Outcome};

    use super::*;

    fn game(moves: &str) -> Game {
        Game::from_moves(Variant::STANDARD, moves).unwrap()
    }

    fn wins(moves: &str, column: char) -> bool {
        matches!(game(&format!("{moves}{column}")).outcome(), Some(Outcome::Win { .. }))
    }

    #[test]
    fn games_show_what_is_said_of_them() {
        for moves in RULES[1].games {
            assert!(matches!(game(moves).outcome(), Some(Outcome::Win { .. })), "{moves} is won");
        }
        let [look, _, two, above] = STRATEGY.map(|part| part.games[0]);
        assert!(wins(&format!("{look}1"), '4'), "unless it is stopped, the pile is won");
        for (answer, end) in [('2', '6'), ('6', '2')] {
            assert!(wins(&format!("{two}{answer}"), end), "one end is stopped, the other wins");
        }
        assert!(wins(&format!("{above}4"), '4'), "the place above gives the win away");
        for column in Variant::STANDARD.columns().map(Column::digit) {
            assert!(!wins(above, column), "there is no win at once");
        }
    }
}
