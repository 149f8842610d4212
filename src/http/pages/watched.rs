//! A game in progress as watchers see it beside others or in a frame: its board between both players, and no more.

use askama::Template;
use askama::filters::HtmlSafe;
use fourfold_engine::Variant;

use super::characters::Cast;
use super::drawing::{BoardDrawing, DiscIcon, Drawing};
use super::parts::PlayerTag;
use super::words;
use crate::http::texts::Language;
use crate::protocol::server::Snapshot;
use crate::protocol::terms::WireSide;

/// A player and what is left of the time.
#[derive(Clone, Debug)]
struct WatchedSeat {
    disc: DiscIcon,
    player: Option<PlayerTag>,
    clock: String,
}

/// Where the link to the game opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Opens {
    Here,
    /// In a tab of its own: the page is a frame of somebody else's.
    InNewTab,
}

/// The part of a page; `web/static/watched.js` brings it to life.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/watched.html")]
pub(super) struct Watched {
    id: String,
    board: BoardDrawing,
    /// Stands behind the class of a game without a clock, whose face is hidden.
    clock_class: &'static str,
    first: WatchedSeat,
    second: WatchedSeat,
    status: String,
    opens: Opens,
}

impl HtmlSafe for Watched {}

impl Watched {
    pub(super) fn new(lang: Language, game: &Snapshot, cast: &Cast, opens: Opens) -> Self {
        let names = cast.names(&game.players);
        let status = game.result.map_or_else(
            || words::time_control(lang, game.time),
            |result| words::headline(lang, result, None, &names),
        );
        let seat = |side, player, clock| WatchedSeat {
            disc: DiscIcon::new(side),
            player: Some(cast.tag_among(&game.players, player).unlinked()),
            clock: words::clock_face(lang, clock),
        };
        Self {
            id: game.game.to_string(),
            board: BoardDrawing::to_show(lang, Drawing::new(game.variant.0, &game.moves)),
            clock_class: words::clock_class(game.time),
            first: seat(WireSide::First, &game.players.first, game.clock.first),
            second: seat(WireSide::Second, &game.players.second, game.clock.second),
            status,
            opens,
        }
    }

    /// One without a game, to be filled in by the page.
    pub(super) fn blank(lang: Language) -> Self {
        let seat = |side| WatchedSeat { disc: DiscIcon::new(side), player: None, clock: String::new() };
        Self {
            id: String::new(),
            board: BoardDrawing::to_show(lang, Drawing::new(Variant::STANDARD, "")),
            clock_class: "",
            first: seat(WireSide::First),
            second: seat(WireSide::Second),
            status: String::new(),
            opens: Opens::Here,
        }
    }
}
