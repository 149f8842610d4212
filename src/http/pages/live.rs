//! Games as lists show them: a small board between its players.

use askama::Template;
use askama::filters::HtmlSafe;

use super::characters::Cast;
use super::drawing::{DiscIcon, Drawing, MiniBoard};
use super::parts::PlayerTag;
use super::words;
use crate::http::texts::Language;
use crate::model::ids::GameId;
use crate::protocol::server::{LiveGame, Snapshot};
use crate::protocol::terms::{Sides, WirePlayer, WireSide, WireVariant};

/// One side of a listed game.
#[derive(Clone, Debug)]
pub(super) struct LiveSeat {
    pub(super) disc: DiscIcon,
    pub(super) player: PlayerTag,
}

/// A game in a list.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/tile.html")]
pub(super) struct GameTile {
    lang: Language,
    id: String,
    /// The same for all games of the same two.
    pairing: String,
    first: LiveSeat,
    second: LiveSeat,
    board: MiniBoard,
    meta: String,
    is_live: bool,
}

impl HtmlSafe for GameTile {}

impl GameTile {
    /// A game that has ended.
    pub(super) fn finished(lang: Language, game: &Snapshot, cast: &Cast) -> Self {
        let names = cast.names(&game.players);
        let result = game.result.map(|result| words::headline(lang, result, None, &names));
        let reason = game.reason.map(|reason| words::reason(lang, reason, game.variant.0.connect()));
        let meta: Vec<_> = result.into_iter().chain(reason).collect();
        Self::build(lang, &game.game, &game.players, cast, game.variant, &game.moves, meta.join(" · "))
    }

    /// A game in progress.
    pub(super) fn new(lang: Language, game: &LiveGame, cast: &Cast) -> Self {
        let mut meta = vec![words::time_control(lang, game.time), words::kind(lang, game.rated).to_owned()];
        if let Some(series) = &game.series {
            let best_of = lang.fill("challenge.best_of", &[("n", series.of)]);
            meta.push(format!("{best_of} · {}", words::standing(series)));
        }
        if game.watching > 0 {
            meta.push(lang.count("game.watching", game.watching.into()));
        }
        let tile =
            Self::build(lang, &game.game, &game.players, cast, game.variant, &game.moves, meta.join(" · "));
        Self { is_live: true, ..tile }
    }

    /// One's own game by correspondence, with what is left for the move.
    pub(super) fn by_correspondence(lang: Language, game: &Snapshot, cast: &Cast, left: &str) -> Self {
        // What counts comes first: on a phone there is no room for the rest.
        let left = lang.fill("correspondence.left", &[("time", left)]);
        let meta = format!("{left} · {}", words::time_control(lang, game.time));
        Self::build(lang, &game.game, &game.players, cast, game.variant, &game.moves, meta)
    }

    fn build(
        lang: Language,
        id: &GameId,
        players: &Sides<WirePlayer>,
        cast: &Cast,
        variant: WireVariant,
        moves: &str,
        meta: String,
    ) -> Self {
        let seats = seats(players, cast);
        Self {
            lang,
            id: id.to_string(),
            pairing: pairing(players),
            first: seats.first,
            second: seats.second,
            board: MiniBoard { drawing: Drawing::new(variant.0, moves) },
            meta,
            is_live: false,
        }
    }
}

/// Both players, without links.
fn seats(players: &Sides<WirePlayer>, cast: &Cast) -> Sides<LiveSeat> {
    let seat = |side, player| LiveSeat {
        disc: DiscIcon::new(side),
        player: cast.tag_among(players, player).unlinked(),
    };
    Sides { first: seat(WireSide::First, &players.first), second: seat(WireSide::Second, &players.second) }
}

fn pairing(players: &Sides<WirePlayer>) -> String {
    let mut ids = [&players.first.id, &players.second.id].map(ToString::to_string);
    ids.sort_unstable();
    ids.join(" ")
}
