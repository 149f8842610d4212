//! Tournaments that people make: the form, and the page of one that is to come.

use askama::Template;
use axum::extract::State;
use axum::response::Html;

use super::Page;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::lessons::rules_for;
use super::moment::Moment;
use super::time_choice::TimeChoice;
use super::words;
use crate::competition::tournament::{PlanTerms, Upcoming};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::clock::TimeControl;
use crate::model::ids::TournamentId;
use crate::model::player::PlayerKind;
use crate::system::config::FormatName;

/// Lengths of arenas that are offered, in minutes, and the one that is chosen.
const MINUTES: [u32; 6] = [10, 20, 30, 45, 60, 90];
const MINUTES_CHOSEN: u32 = 30;

/// Games of a meeting that are offered.
const GAMES: [u32; 3] = [2, 4, 6];

/// The time that is chosen unless somebody chooses.
const TIME_CHOSEN: TimeControl = TimeControl { bank_ms: Some(180_000), increment_ms: 2_000, move_ms: None };

#[derive(Template)]
#[template(path = "tournament-new.html")]
struct NewTournamentPage {
    frame: LayoutFrame,
    may_make: bool,
    /// Whether the operators let people make any.
    is_open: bool,
    games: [(u32, String); 3],
    /// Lengths of an arena.
    minutes: [(u32, String); 6],
    minutes_chosen: u32,
    times: Vec<TimeChoice>,
}

/// The form.
pub(super) async fn form(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let is_person = visitor.signed_in().is_some_and(|viewer| viewer.identity.kind == PlayerKind::Human);
    let page = NewTournamentPage {
        frame: visitor.frame(Tab::Tournaments, lang.text("tournament.make")),
        may_make: is_person,
        is_open: state.access.tournaments,
        games: GAMES.map(|games| (games, lang.count("challenge.games", games.into()))),
        minutes: MINUTES.map(|minutes| (minutes, lang.count("class.minutes", minutes.into()))),
        minutes_chosen: MINUTES_CHOSEN,
        times: TimeChoice::all(lang, TIME_CHOSEN),
    };
    Ok(Html(page.render()?))
}

/// What the visitor may do about taking part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    SignIn,
    Enter,
    Withdraw,
    /// They have withdrawn from one that goes on.
    Return,
    /// All places are taken, or nobody comes any more.
    Nothing,
}

#[derive(Template)]
#[template(path = "tournament-planned.html")]
struct PlannedPage {
    frame: LayoutFrame,
    id: String,
    /// Where a newcomer learns the rules and finds back.
    rules: String,
    name: String,
    terms: String,
    when: Option<Moment>,
    /// In milliseconds since 1970, for the countdown.
    begins_ms: i64,
    maker: String,
    is_mine: bool,
    entry: Entry,
    open_bots: bool,
    entered: Vec<String>,
    /// How many have entered of how many who may.
    places: String,
}

/// One that is to come.
pub(super) fn planned(visitor: &Visitor, id: &TournamentId, upcoming: Upcoming) -> Page {
    let lang = visitor.language();
    let own = visitor.signed_in().map(|viewer| viewer.identity.name.clone());
    let Upcoming { name, maker, at, terms, open_bots, entered, people_max, .. } = upcoming;
    let entered = entered.unwrap_or_default();
    let is_mine = maker.as_ref().is_some_and(|maker| visitor.is(&maker.id));
    let maker = maker.map(|maker| maker.name.to_string()).unwrap_or_default();
    let words = terms_in_words(lang, &terms);
    let places = [("n", lang.number(entered.len() as u64)), ("of", lang.number(people_max as u64))];
    let described = format!("{} · {words}", lang.fill("tournament.made_by", &[("name", &maker)]));
    let page = PlannedPage {
        frame: visitor.frame(Tab::Tournaments, name.as_str()).described(described),
        id: id.to_string(),
        rules: rules_for(&format!("/tournament/{id}")),
        terms: words,
        when: at.map(|at| Moment::new(lang, at)),
        begins_ms: at.map_or(0, |at| at.0),
        is_mine,
        entry: match own {
            None => Entry::SignIn,
            Some(own) if entered.contains(&own) => Entry::Withdraw,
            Some(_) if entered.len() >= people_max => Entry::Nothing,
            Some(_) => Entry::Enter,
        },
        open_bots,
        places: lang.fill("tournament.places", &places),
        entered: entered.iter().map(ToString::to_string).collect(),
        maker,
        name,
    };
    Ok(Html(page.render()?))
}

/// Such as `knockout · 3 min + 2 s · rated`.
pub(super) fn terms_in_words(lang: Language, terms: &PlanTerms) -> String {
    let format = match (terms.format, terms.rounds) {
        (FormatName::RoundRobin, _) => lang.text("tournament.round_robin").to_owned(),
        (FormatName::Gauntlet, _) => lang.text("tournament.gauntlet").to_owned(),
        (FormatName::Swiss, Some(rounds)) => lang.count("tournament.swiss", rounds.into()),
        (FormatName::Swiss, None) => lang.text("tournament.swiss_form").to_owned(),
        (FormatName::Knockout, _) => lang.text("tournament.knockout").to_owned(),
        (FormatName::Ladder, _) => lang.text("tournament.ladder").to_owned(),
        (FormatName::Arena, _) => lang.count("tournament.arena", terms.minutes.unwrap_or_default().into()),
    };
    let time = words::time_control(lang, terms.time);
    [format, time, words::kind(lang, terms.rated).to_owned()].join(" · ")
}
