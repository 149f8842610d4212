//! Games as lists show them: a small board between its players.

use askama::Template;
use askama::filters::HtmlSafe;

use super::drawing::{DiscIcon, Drawing, MiniBoard};
use super::parts::PlayerTag;
use super::words;
use crate::protocol::server::LiveGame;
use crate::protocol::terms::WireSide;

/// One side of a listed game.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) disc: DiscIcon,
    pub(super) player: PlayerTag,
}

/// A game in a list.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/tile.html")]
pub(super) struct GameTile {
    id: String,
    first: Seat,
    second: Seat,
    board: MiniBoard,
    meta: String,
}

impl HtmlSafe for GameTile {}

impl GameTile {
    pub(super) fn new(game: &LiveGame) -> Self {
        let mut meta =
            vec![words::time_control(game.time), if game.rated { "rated" } else { "casual" }.to_owned()];
        if game.watching > 0 {
            meta.push(format!("{} watching", game.watching));
        }
        let seat =
            |side, player| Seat { disc: DiscIcon::new(side), player: PlayerTag::new(player).unlinked() };
        Self {
            id: game.game.to_string(),
            first: seat(WireSide::First, &game.players.first),
            second: seat(WireSide::Second, &game.players.second),
            board: MiniBoard { drawing: Drawing::new(game.variant.0, &game.moves) },
            meta: meta.join(" · "),
        }
    }
}
