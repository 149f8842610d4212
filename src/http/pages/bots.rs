//! Bots that one can play: those of the house, and remote ones that are connected and open.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::Page;
use super::layout::{Frame, Tab, Visitor};
use super::parts::{PlayerTag, RatingTag};
use crate::http::state::{AppState, OpenBot};

/// One bot in a list.
#[derive(Clone, Debug)]
pub(super) struct BotRow {
    pub(super) name: String,
    pub(super) player: PlayerTag,
    pub(super) rating: Option<RatingTag>,
    pub(super) elo: i32,
    pub(super) about: String,
    pub(super) playing: u32,
    is_house: bool,
}

impl BotRow {
    fn new(bot: &OpenBot) -> Self {
        Self {
            name: bot.player.name.to_string(),
            player: PlayerTag::new(&bot.player).unrated(),
            rating: bot.player.rating.map(RatingTag::new),
            elo: bot.player.rating.map_or(i32::MIN, |rating| rating.elo),
            about: bot.about.clone().unwrap_or_default(),
            playing: bot.playing,
            is_house: bot.house,
        }
    }

    /// The house bots, the weakest first.
    pub(super) fn house(state: &AppState) -> Vec<Self> {
        Self::all(state).into_iter().filter(|bot| bot.is_house).collect()
    }

    fn all(state: &AppState) -> Vec<Self> {
        let mut rows: Vec<Self> = state.arena.open_bots().iter().map(Self::new).collect();
        rows.sort_by(|a, b| a.elo.cmp(&b.elo).then_with(|| a.name.cmp(&b.name)));
        rows
    }
}

#[derive(Template)]
#[template(path = "bots.html")]
struct Bots {
    frame: Frame,
    house: Vec<BotRow>,
    remote: Vec<BotRow>,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let (house, remote) = BotRow::all(&state).into_iter().partition(|bot| bot.is_house);
    let page = Bots { frame: visitor.frame(Tab::Bots, "Bots"), house, remote };
    Ok(Html(page.render()?))
}
