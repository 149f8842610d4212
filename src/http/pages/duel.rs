//! A duel, live and afterwards, with its verdict in words.

use std::fmt::Display;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Html;

use super::Page;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use crate::http::api::duels::{DuelTestView, DuelVerdict, DuelView, duel};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::{PairId, PlayerName};
use crate::storage::StoreError;

#[derive(Template)]
#[template(path = "duel.html")]
struct DuelPage {
    frame: LayoutFrame,
    bot: String,
    opponent: String,
    verdict: String,
    /// How many games of how many.
    progress: String,
    elo: Option<String>,
    test: Option<String>,
    /// Whether it goes on.
    state: String,
    /// It waits, and whoever looks has asked for it.
    may_withdraw: bool,
    duel: DuelView,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor, Path(id): Path<String>) -> Page {
    let Ok(id) = id.parse::<PairId>() else { return Err(PageError::not_found(visitor)) };
    let Some(duel) = duel(&state, &id).await? else { return Err(PageError::not_found(visitor)) };
    let may_withdraw = duel.position.is_some() && is_owner(&state, &visitor, &duel).await?;
    let lang = visitor.language();
    let name = |name: &Option<PlayerName>| name.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string);
    let (bot, opponent) = (name(&duel.bot), name(&duel.opponent));
    let counts: [(&str, &dyn Display); 2] = [("games", &duel.games), ("of", &(2 * duel.pairs))];
    let page = DuelPage {
        frame: visitor.frame(Tab::Bots, format!("{bot} – {opponent}")),
        verdict: verdict(lang, &duel, &bot, &opponent),
        progress: lang.fill("duel.progress", &counts),
        elo: elo(lang, &duel),
        test: duel.test.map(|test| test_words(lang, test)),
        state: state_words(lang, &duel),
        may_withdraw,
        bot,
        opponent,
        duel,
    };
    Ok(Html(page.render()?))
}

fn state_words(lang: Language, duel: &DuelView) -> String {
    if let Some(place) = duel.position {
        return lang.fill("duel.queued", &[("n", place)]);
    }
    if let Some(why) = &duel.refused {
        return lang.fill("duel.refused", &[("why", why)]);
    }
    let key = match (duel.over, duel.running) {
        (true, _) => "duel.over",
        (false, true) => "duel.running",
        (false, false) => "duel.waiting",
    };
    lang.text(key).to_owned()
}

async fn is_owner(state: &AppState, visitor: &Visitor, duel: &DuelView) -> Result<bool, StoreError> {
    let (Some(viewer), Some(bot)) = (visitor.signed_in(), &duel.bot) else { return Ok(false) };
    let bot = state.store.player_by_name(bot).await?;
    Ok(bot.is_some_and(|bot| bot.owner.as_ref() == Some(&viewer.identity.id)))
}

fn verdict(lang: Language, duel: &DuelView, bot: &str, opponent: &str) -> String {
    let elo = |choose: fn(DuelTestView) -> i32| duel.test.map_or(0, choose);
    let (elo0, elo1) = (elo(|test| test.elo0), elo(|test| test.elo1));
    let values: [(&str, &dyn Display); 4] =
        [("bot", &bot), ("opponent", &opponent), ("elo0", &elo0), ("elo1", &elo1)];
    let key = match duel.verdict {
        DuelVerdict::Elo1 => "duel.elo1",
        DuelVerdict::Elo0 => "duel.elo0",
        DuelVerdict::Stronger => "duel.stronger",
        DuelVerdict::Weaker => "duel.weaker",
        DuelVerdict::Open => "duel.open",
    };
    lang.fill(key, &values)
}

/// The difference with its interval; an end without end is a dash.
fn elo(lang: Language, duel: &DuelView) -> Option<String> {
    let point = |elo: f64| {
        if elo.is_finite() { lang.decimal(format_args!("{elo:+.0}")) } else { "–".to_owned() }
    };
    let (elo, low, high) = (duel.elo?, duel.elo_low?, duel.elo_high?);
    Some(lang.fill("duel.elo", &[("elo", point(elo)), ("low", point(low)), ("high", point(high))]))
}

fn test_words(lang: Language, test: DuelTestView) -> String {
    let figure = |value: f64| lang.decimal(format_args!("{value:.2}"));
    let upper = -test.lower;
    lang.fill("duel.llr", &[("llr", figure(test.llr)), ("low", figure(test.lower)), ("high", figure(upper))])
}
