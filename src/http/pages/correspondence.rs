//! Games by correspondence: one's own, those where one is to move first, offers that anyone may take, and how to begin
//! another.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::challenge::begins;
use super::characters::Cast;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::live::GameTile;
use super::parts::PlayerTag;
use super::{Page, words};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::model::vacation::{self, Vacation, days_left};
use crate::protocol::server::{Offer, Snapshot};
use crate::protocol::terms::WireSide;

/// Days for each move that are offered.
const DAYS: [u32; 3] = [1, 3, 7];
/// Which of them is chosen unless somebody chooses.
const DAYS_CHOSEN: u32 = 3;

/// Days for each move, to choose.
struct DaysChoice {
    move_ms: u32,
    words: String,
    is_chosen: bool,
}

/// One's own games in progress, those that end soonest first.
#[derive(Default)]
struct OwnGames {
    my_turn: Vec<GameTile>,
    their_turn: Vec<GameTile>,
}

/// An offer that anyone may take.
struct OpenOffer {
    id: String,
    from: PlayerTag,
    is_mine: bool,
    /// Days for each move, whether it counts, the board.
    terms: String,
    /// Who begins, from the point of view of whoever takes it.
    begins: String,
}

impl OpenOffer {
    fn new(lang: Language, offer: &Offer, is_mine: bool) -> Self {
        let terms = &offer.terms;
        let time = words::time_control(lang, terms.time.control());
        let (kind, board) = (words::kind(lang, terms.rated), words::board(lang, terms.variant.0));
        Self {
            id: offer.challenge.to_string(),
            from: PlayerTag::new(lang, &offer.from),
            is_mine,
            terms: format!("{time} · {kind} · {board}"),
            begins: begins(lang, offer, is_mine),
        }
    }
}

/// How one's vacations stand.
struct VacationShown {
    until: Option<String>,
    days_left: u32,
    left: String,
}

impl VacationShown {
    fn new(lang: Language, taken: &[Vacation], now: UnixMillis) -> Self {
        let current = vacation::current(taken, now);
        let until = current.map(|vacation| {
            lang.fill("correspondence.vacation_until", &[("time", words::moment(lang, vacation.until))])
        });
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
    times: Vec<DaysChoice>,
    boards: Vec<words::BoardChoice>,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let (own, vacation) = match visitor.signed_in() {
        Some(viewer) => {
            let player = &viewer.identity.id;
            let taken = state.store.vacations_of(player).await?;
            let vacation = VacationShown::new(lang, &taken, UnixMillis::now());
            (own_games(&state, lang, player).await, Some(vacation))
        }
        None => (OwnGames::default(), None),
    };
    let offers = state.arena.open_offers().await;
    let offers = offers
        .iter()
        .filter(|offer| is_wanted(&state, &visitor, offer))
        .map(|offer| OpenOffer::new(lang, offer, visitor.is(&offer.from.id)));
    let page = CorrespondencePage {
        offers: offers.collect(),
        frame: visitor.frame(Tab::Play, lang.text("correspondence.title")),
        own,
        vacation,
        times: DAYS.map(|days| choice(lang, days)).into(),
        boards: words::boards(lang),
    };
    Ok(Html(page.render()?))
}

/// Whether an offer is none of somebody whom the visitor blocks. Whoever is blocked sees all: nobody tells them.
fn is_wanted(state: &AppState, visitor: &Visitor, offer: &Offer) -> bool {
    let me = visitor.viewer().map(|viewer| &viewer.identity.id);
    me.is_none_or(|me| !state.accounts.blocks().of(me).contains(&offer.from.id))
}

fn choice(lang: Language, days: u32) -> DaysChoice {
    const DAY_MS: u32 = 24 * 3_600_000;
    let words = lang.count("game.days", days.into());
    DaysChoice { move_ms: days * DAY_MS, words, is_chosen: days == DAYS_CHOSEN }
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
