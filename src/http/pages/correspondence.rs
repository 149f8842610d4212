//! Games by correspondence: one's own, those where one is to move first, offers that anyone may take, and how to begin
//! another.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::characters::Cast;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::live::GameTile;
use super::moment::TimedText;
use super::parts::PlayerTag;
use super::{Page, words};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::PlayerId;
use crate::model::opening::SideChoice;
use crate::model::time::UnixMillis;
use crate::model::vacation::{self, Vacation, days_left};
use crate::protocol::server::{Offer, Snapshot};
use crate::protocol::terms::WireSide;

/// How many days for each move are chosen unless somebody chooses.
const DAYS_CHOSEN: u32 = 3;

/// Days for each move, to choose.
pub(super) struct DaysChoice {
    pub(super) move_ms: u32,
    pub(super) words: String,
    pub(super) is_chosen: bool,
}

impl DaysChoice {
    pub(super) fn new(lang: Language, days: u32) -> Self {
        const DAY_MS: u32 = 24 * 3_600_000;
        let words = lang.count("game.days", days.into());
        Self { move_ms: days * DAY_MS, words, is_chosen: days == DAYS_CHOSEN }
    }
}

/// One's own games in progress, those that end soonest first.
#[derive(Default)]
struct OwnGames {
    my_turn: Vec<GameTile>,
    their_turn: Vec<GameTile>,
}

/// An offer that anyone may take, or that is made to the visitor, or by the visitor to somebody.
struct OpenOffer {
    id: String,
    from: PlayerTag,
    /// Who is asked, in the visitor's own.
    to: Option<PlayerTag>,
    is_mine: bool,
    /// Whether whoever takes it chooses a side, on a page of its own.
    chooses: bool,
    /// All that is offered, from the visitor's point of view.
    terms: String,
}

impl OpenOffer {
    fn new(lang: Language, offer: &Offer, is_mine: bool) -> Self {
        Self {
            id: offer.challenge.to_string(),
            from: PlayerTag::new(lang, &offer.from).pictured(&offer.from),
            to: offer.to.as_ref().filter(|_| is_mine).map(|to| PlayerTag::new(lang, to).pictured(to)),
            is_mine,
            chooses: offer.terms.side == SideChoice::Opponent,
            terms: words::offer(lang, &offer.terms, is_mine),
        }
    }
}

/// How one's vacations stand.
struct VacationShown {
    until: Option<TimedText>,
    days_left: u32,
    left: String,
}

impl VacationShown {
    fn new(lang: Language, taken: &[Vacation], now: UnixMillis) -> Self {
        let current = vacation::current(taken, now);
        let until = current
            .map(|vacation| TimedText::new(lang, "correspondence.vacation_until", ("time", vacation.until)));
        let days_left = days_left(taken, now);
        Self { until, days_left, left: lang.count("correspondence.vacation_left", days_left.into()) }
    }
}

#[derive(Template)]
#[template(path = "correspondence.html")]
struct CorrespondencePage {
    frame: LayoutFrame,
    own: OwnGames,
    /// Offers that anyone may take, one's own among them.
    offers: Vec<OpenOffer>,
    /// How many days of vacation are left, and when the one that goes on ends.
    vacation: Option<VacationShown>,
    /// Challenges that the visitor made to somebody, or is asked by.
    asked: Vec<OpenOffer>,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let (own, vacation, asked) = match visitor.signed_in() {
        Some(viewer) => {
            let player = &viewer.identity.id;
            let taken = state.store.vacations_of(player).await?;
            let vacation = VacationShown::new(lang, &taken, UnixMillis::now());
            (own_games(&state, lang, player).await, Some(vacation), state.arena.asked(player).await)
        }
        None => (OwnGames::default(), None, Vec::new()),
    };
    let shown = |offers: Vec<Offer>| -> Vec<OpenOffer> {
        offers.iter().map(|offer| OpenOffer::new(lang, offer, visitor.is(&offer.from.id))).collect()
    };
    let page = CorrespondencePage {
        offers: shown(wanted_offers(&state, &visitor).await),
        asked: shown(asked),
        frame: visitor.frame(Tab::Play, lang.text("correspondence.title")),
        own,
        vacation,
    };
    Ok(Html(page.render()?))
}

/// The offers that anyone may take, but those of whom the visitor blocks.
async fn wanted_offers(state: &AppState, visitor: &Visitor) -> Vec<Offer> {
    let mut offers = state.arena.open_offers().await;
    offers.retain(|offer| is_wanted(state, visitor, offer));
    offers
}

/// Whether an offer is none of somebody whom the visitor blocks. Whoever is blocked sees all: nobody tells them.
fn is_wanted(state: &AppState, visitor: &Visitor, offer: &Offer) -> bool {
    let me = visitor.viewer().map(|viewer| &viewer.identity.id);
    me.is_none_or(|me| !state.accounts.blocks().of(me).contains(&offer.from.id))
}

async fn own_games(state: &AppState, lang: Language, player: &PlayerId) -> OwnGames {
    let mut games = state.arena.correspondence_of(player).await;
    games.sort_by_key(time_left);
    let cast = Cast::new(lang, &[]);
    let mut own = OwnGames::default();
    for game in games {
        let left = lang.rough_time(time_left(&game));
        let tile = GameTile::by_correspondence(lang, &game, &cast, &left);
        if game.to_move.is_some() && game.to_move == game.you {
            own.my_turn.push(tile);
        } else {
            own.their_turn.push(tile);
        }
    }
    own
}

/// What whoever is to move has left, in milliseconds.
fn time_left(game: &Snapshot) -> u64 {
    game.clock.of(game.to_move.unwrap_or(WireSide::First))
}
