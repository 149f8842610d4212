//! How boards look and sound, and how moves are made: kept in the visitor's browser. This page only names the choices.

use askama::Template;
use axum::response::Html;

use super::Page;
use super::drawing::{BoardDrawing, Drawing};
use super::layout::{LayoutFrame, Tab, Visitor};

/// What the board shows while one chooses how it looks.
const SAMPLE_MOVES: &str = "444335526";

/// A choice among few: the name of a setting, its key, and each value with its key.
struct Choice<'a> {
    name: &'static str,
    title: &'static str,
    values: &'a [(&'static str, &'static str)],
}

/// A switch: the name of a setting, its key, and the values for off and on.
struct Switch {
    name: &'static str,
    title: &'static str,
    values: [&'static str; 2],
}

const BOARD: Choice<'static> = Choice {
    name: "board",
    title: "settings.board",
    values: &[
        ("classic", "settings.classic"),
        ("night", "settings.night"),
        ("walnut", "settings.walnut"),
        ("paper", "settings.paper"),
    ],
};
const COLORS: Choice<'static> = Choice {
    name: "theme",
    title: "settings.colors",
    values: &[("", "settings.system"), ("light", "settings.light"), ("dark", "settings.dark")],
};
const MOTION: Choice<'static> = Choice {
    name: "motion",
    title: "settings.motion",
    values: &[("normal", "settings.normal"), ("fast", "settings.fast"), ("none", "settings.none")],
};
const SOUNDS: Choice<'static> = Choice {
    name: "sounds",
    title: "settings.sounds",
    values: &[("wood", "settings.wood"), ("glass", "settings.glass"), ("arcade", "settings.arcade")],
};
const SWITCHES: [Switch; 7] = [
    Switch { name: "marks", title: "settings.marks", values: ["off", "on"] },
    Switch { name: "coordinates", title: "settings.coordinates", values: ["off", "on"] },
    Switch { name: "pace", title: "settings.pace", values: ["swift", "human"] },
    Switch { name: "premove", title: "settings.premove", values: ["off", "on"] },
    Switch { name: "confirm", title: "settings.confirm", values: ["off", "on"] },
    Switch { name: "reactions", title: "settings.reactions", values: ["off", "on"] },
    Switch { name: "notices", title: "settings.notices", values: ["off", "on"] },
];

#[derive(Template)]
#[template(path = "settings.html")]
struct Settings {
    frame: LayoutFrame,
    board: BoardDrawing,
    choices: [Choice<'static>; 4],
    switches: [Switch; 7],
}

pub(super) async fn page(visitor: Visitor) -> Page {
    let lang = visitor.language();
    let page = Settings {
        frame: visitor.frame(Tab::Elsewhere, lang.text("settings.title")),
        board: BoardDrawing::to_show(lang, Drawing::new(fourfold_engine::Variant::STANDARD, SAMPLE_MOVES)),
        choices: [BOARD, COLORS, MOTION, SOUNDS],
        switches: SWITCHES,
    };
    Ok(Html(page.render()?))
}
