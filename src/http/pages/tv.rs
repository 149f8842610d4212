//! The best game in progress, whichever it is.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Html;

use super::Page;
use super::characters::Cast;
use super::game::GameShown;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::live::GameTile;
use crate::http::state::AppState;
use crate::model::player::PlayerKind;
use crate::protocol::server::LiveGame;

/// Other games shown beside it.
const OTHERS_MAX: usize = 6;

#[derive(Template)]
#[template(path = "tv.html")]
struct Tv {
    frame: LayoutFrame,
    /// Nothing is played now if there is none.
    shown: Option<GameShown>,
    others: Vec<GameTile>,
    cast: Cast,
    channel: Channel,
}

impl Tv {
    fn channels(&self) -> [ChannelLink; 4] {
        Channel::ALL.map(|channel| ChannelLink {
            url: channel.address(),
            word: self.frame.text(channel.title()),
            is_here: channel == self.channel,
        })
    }
}

/// A channel as its link says it.
struct ChannelLink {
    url: &'static str,
    word: &'static str,
    is_here: bool,
}

/// Whose games are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Channel {
    /// The best game, whoever plays.
    Best,
    /// Games in which a person plays.
    People,
    /// Games of bots alone.
    Bots,
    /// Games of tournaments that go on.
    Tournament,
}

impl Channel {
    const ALL: [Self; 4] = [Self::Best, Self::People, Self::Bots, Self::Tournament];

    /// As addresses and the page's module have it: none of the usual one.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Best => None,
            Self::People => Some("people"),
            Self::Bots => Some("bots"),
            Self::Tournament => Some("tournament"),
        }
    }

    fn address(self) -> &'static str {
        match self {
            Self::Best => "/tv",
            Self::People => "/tv?channel=people",
            Self::Bots => "/tv?channel=bots",
            Self::Tournament => "/tv?channel=tournament",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Best => "tv.all",
            Self::People => "tv.people",
            Self::Bots => "tv.bots",
            Self::Tournament => "tv.tournament",
        }
    }

    /// The one that an address chooses; the usual one if it names another.
    fn chosen(query: &str) -> Self {
        let mut words = query.split('&').filter_map(|pair| pair.strip_prefix("channel="));
        let chosen = words.find_map(|word| Self::ALL.into_iter().find(|of| of.word() == Some(word)));
        chosen.unwrap_or(Self::Best)
    }

    fn shows(self, game: &LiveGame) -> bool {
        let of_bots =
            [&game.players.first, &game.players.second].iter().all(|one| one.kind == PlayerKind::Bot);
        match self {
            Self::Best => true,
            Self::People => !of_bots,
            Self::Bots => of_bots,
            Self::Tournament => game.tournament.is_some(),
        }
    }
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor, RawQuery(query): RawQuery) -> Page {
    let lang = visitor.language();
    let channel = Channel::chosen(query.as_deref().unwrap_or_default());
    let live: Vec<LiveGame> =
        state.arena.live_games().into_iter().filter(|game| channel.shows(game)).collect();
    let best = if channel == Channel::Best { state.arena.tv() } else { live.first().cloned() };
    let snapshot = match &best {
        Some(game) => state.arena.snapshot(&game.game).await,
        None => None,
    };
    let is_other = |game: &crate::model::ids::GameId| best.as_ref().is_none_or(|best| best.game != *game);
    let cast = Cast::new(lang, &state.arena.open_bots());
    let page = Tv {
        frame: visitor.frame(Tab::Watch, lang.text("site.watch")),
        shown: snapshot.map(|snapshot| GameShown::new(lang, &state.site, &snapshot, None, &cast)),
        others: live
            .iter()
            .filter(|game| is_other(&game.game))
            .take(OTHERS_MAX)
            .map(|game| GameTile::new(lang, game, &cast))
            .collect(),
        cast,
        channel,
    };
    Ok(Html(page.render()?))
}
