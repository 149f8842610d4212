//! Bots that one can play: those of the house, and remote ones that are connected and open.

use std::collections::HashMap;

use askama::Template;
use axum::extract::State;
use axum::response::Html;
use fourfold_engine::Variant;

use super::Page;
use super::characters::{Character, PlayDialog};
use super::layout::{LayoutFrame, Tab, Visitor};
use super::parts::{PlayerTag, RatingTag};
use crate::http::avatar::Avatar;
use crate::http::ranking::PublishedShown;
use crate::http::state::{AppState, OpenBot};
use crate::http::texts::{Language, Linked};
use crate::model::ids::PlayerName;
use crate::model::rating::strength::Strength;
use crate::storage::StoreError;

/// One bot in a list.
#[derive(Clone, Debug)]
pub(super) struct BotRow {
    pub(super) name: String,
    pub(super) avatar: Avatar,
    /// Who it is to those who choose by level.
    pub(super) character: Option<Character>,
    /// Key of the word for how strong it is, as far as there is more to say than the rating.
    pub(super) strength: Option<&'static str>,
    pub(super) player: PlayerTag,
    pub(super) rating: RatingTag,
    /// What lists are sorted by.
    elo: i32,
    pub(super) about: String,
    pub(super) playing: u32,
    /// Why the ladder leaves it out, in a few words.
    trouble: Option<&'static str>,
    /// Where a remote bot's source is, or its page.
    source: Option<String>,
    is_house: bool,
}

impl BotRow {
    fn new(lang: Language, bot: &OpenBot, shown: PublishedShown) -> Self {
        Self {
            name: bot.player.name.to_string(),
            avatar: Avatar::of(bot.player.kind, &bot.player.name, None),
            character: Character::of(lang, bot),
            strength: strength(bot, shown),
            player: PlayerTag::new(lang, &bot.player).plain().unrated(),
            rating: RatingTag::new(lang, shown.to_wire()),
            elo: shown.rating.elo,
            about: about(lang, bot),
            playing: bot.playing,
            trouble: trouble(lang, bot),
            source: web_address(bot.url.as_deref()),
            is_house: bot.house,
        }
    }

    /// All bots, the weakest first; bots alike stay in the arena's order.
    async fn all(state: &AppState, lang: Language) -> Result<Vec<Self>, StoreError> {
        let bots = state.arena.open_bots();
        let ids: Vec<_> = bots.iter().map(|bot| bot.player.id.clone()).collect();
        let live = state.store.ratings_of_players(&ids, Variant::STANDARD).await?;
        let live: HashMap<_, _> = live.into_iter().collect();
        let row = |bot: &OpenBot| {
            let live = live.get(&bot.player.id).copied().unwrap_or_default();
            Self::new(lang, bot, PublishedShown::of(state, &bot.player.id, Variant::STANDARD, live))
        };
        let mut rows: Vec<_> = bots.iter().map(row).collect();
        rows.sort_by_key(|row| row.elo);
        Ok(rows)
    }
}

/// A link that a bot's owner wrote: nothing but a web address may be behind it.
pub(super) fn web_address(url: Option<&str>) -> Option<String> {
    url.filter(|url| url.starts_with("https://") || url.starts_with("http://")).map(str::to_owned)
}

/// How a bot plays: for the house's own in the visitor's language, for others as their owners say it.
fn about(lang: Language, bot: &OpenBot) -> String {
    let ours = bot.house.then(|| house_about(lang, &bot.player.name)).flatten();
    ours.or_else(|| bot.about.clone()).unwrap_or_default()
}

/// How a bot of the house plays, in the visitor's language, if there is a text about it.
pub(super) fn house_about(lang: Language, name: &PlayerName) -> Option<String> {
    if let Some((_, mark)) = name.as_str().rsplit_once('@') {
        return Some(lang.count("learner.frozen_after", mark.parse().ok()?));
    }
    let key = format!("bot.{}", name.as_str().to_lowercase().replace('-', "_"));
    lang.known(&key).map(str::to_owned)
}

/// Why a bot is left out, in a few words.
pub(super) fn trouble(lang: Language, bot: &OpenBot) -> Option<&'static str> {
    let trouble = bot.trouble.as_ref()?;
    Some(lang.text(if trouble.probing { "ladder.probing" } else { "ladder.paused" }))
}

/// Key of the word for how strong a bot is: as the house says, else by its rating once that means something. A rating
/// that is still uncertain speaks for itself.
fn strength(bot: &OpenBot, shown: PublishedShown) -> Option<&'static str> {
    let rated = (!shown.rating.provisional).then(|| Strength::of_elo(shown.rating.elo));
    match bot.strength.or(rated) {
        None if shown.live.standing.games > 0 => None,
        None => Some("bots.new"),
        Some(strength) => Some(strength_word(strength)),
    }
}

/// Key of the word for a strength.
pub(super) fn strength_word(strength: Strength) -> &'static str {
    match strength {
        Strength::Beginner => "bots.beginner",
        Strength::Casual => "bots.casual",
        Strength::Skilled => "bots.skilled",
        Strength::Strong => "bots.strong",
        Strength::Expert => "bots.expert",
    }
}

#[derive(Template)]
#[template(path = "bots.html")]
struct BotsPage {
    frame: LayoutFrame,
    dialog: PlayDialog,
    rivals: Vec<Character>,
    /// The other programs of the house.
    house: Vec<BotRow>,
    /// Those that learn. Their frozen versions are on their own pages.
    pupils: Vec<BotRow>,
    /// Where those are, if there are any.
    versions: Option<Linked>,
    remote: Vec<BotRow>,
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let (house, remote): (Vec<BotRow>, Vec<BotRow>) =
        BotRow::all(&state, lang).await?.into_iter().partition(|bot| bot.is_house);
    let (versions, house): (Vec<BotRow>, Vec<BotRow>) = house.into_iter().partition(|bot| {
        let name = bot.name.parse::<PlayerName>();
        name.is_ok_and(|name| state.learning.has_version(&name))
    });
    let (pupils, house): (Vec<BotRow>, Vec<BotRow>) = house.into_iter().partition(|bot| {
        let name = bot.name.parse::<PlayerName>();
        name.is_ok_and(|name| state.learning.learner(&name).is_some())
    });
    let rivals = Character::all(lang, &state.arena.open_bots());
    let page = BotsPage {
        frame: visitor.frame(Tab::Bots, lang.text("site.bots")),
        dialog: PlayDialog::new(lang, rivals.clone(), visitor.signed_in().is_some()),
        rivals,
        house: house.into_iter().filter(|bot| bot.character.is_none()).collect(),
        pupils,
        versions: (!versions.is_empty()).then(|| lang.linked("learner.versions_elsewhere", "/learning")),
        remote,
    };
    Ok(Html(page.render()?))
}
