//! The gallery of bots: all that people have written and that have played rated games, with what they say of
//! themselves, whether they are connected or not.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use fourfold_engine::Variant;
use serde::Deserialize;

use super::Page;
use super::bots::web_address;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::parts::RatingTag;
use crate::accounts::identity_of;
use crate::http::avatar::Avatar;
use crate::http::ranking::PublishedShown;
use crate::http::state::AppState;
use crate::model::population::Population;
use crate::storage::StoreError;
use crate::storage::record::{RatingRow, StoredPlayer};

/// Bots that are looked at: those with the highest live ratings.
const BOTS_MAX: u32 = 500;

/// What the address asks for.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct GalleryWish {
    /// Only bots in this language.
    language: Option<String>,
}

/// One bot.
struct GalleryRow {
    name: String,
    avatar: Avatar,
    rating: RatingTag,
    elo: i32,
    owner: Option<String>,
    version: String,
    language: Option<String>,
    about: String,
    source: Option<String>,
    is_here: bool,
}

#[derive(Template)]
#[template(path = "gallery.html")]
struct GalleryPage {
    frame: LayoutFrame,
    rows: Vec<GalleryRow>,
    /// All languages, with how many bots are written in each.
    languages: Vec<(String, usize)>,
    /// The one that is shown.
    chosen: Option<String>,
}

impl GalleryPage {
    /// Whether bots in this language are shown.
    fn is_chosen(&self, language: &str) -> bool {
        self.chosen.as_ref().is_some_and(|chosen| chosen.eq_ignore_ascii_case(language))
    }
}

pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(GalleryWish { language: chosen }): Query<GalleryWish>,
) -> Page {
    let mut rows = Vec::new();
    for place in state.store.leaderboard(Population::Bots, Variant::STANDARD, BOTS_MAX).await? {
        if !place.player.house {
            rows.push(row(&state, &visitor, place.player, place.rating).await?);
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.elo));
    let languages = counted(&rows);
    let chosen = chosen.filter(|chosen| !chosen.is_empty());
    if let Some(chosen) = &chosen {
        rows.retain(|row| {
            row.language.as_ref().is_some_and(|language| language.eq_ignore_ascii_case(chosen))
        });
    }
    let title = visitor.language().text("gallery.title");
    let page = GalleryPage { frame: visitor.frame(Tab::Bots, title), rows, languages, chosen };
    Ok(Html(page.render()?))
}

async fn row(
    state: &AppState,
    visitor: &Visitor,
    player: StoredPlayer,
    live: RatingRow,
) -> Result<GalleryRow, StoreError> {
    let shown = PublishedShown::of(state, &player.id, Variant::STANDARD, live);
    let owner = match &player.owner {
        Some(owner) => state.store.player(owner).await?.map(|owner| owner.name.to_string()),
        None => None,
    };
    let name = identity_of(&player).name;
    Ok(GalleryRow {
        avatar: Avatar::new(name.as_str()),
        name: name.to_string(),
        elo: shown.rating.elo,
        rating: RatingTag::new(visitor.language(), shown.to_wire()),
        owner,
        version: player.profile.version.unwrap_or_default(),
        language: player.profile.language.filter(|language| !language.is_empty()),
        about: player.profile.about.unwrap_or_default(),
        source: web_address(player.profile.url.as_deref()),
        is_here: state.arena.is_online(&player.id),
    })
}

/// Languages by how many bots are written in each, those with the most first. How they are spelled most often, nobody
/// counts: the strongest bot's spelling stands.
fn counted(rows: &[GalleryRow]) -> Vec<(String, usize)> {
    let mut languages: Vec<(String, usize)> = Vec::new();
    for language in rows.iter().filter_map(|row| row.language.as_ref()) {
        match languages.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(language)) {
            Some((_, count)) => *count += 1,
            None => languages.push((language.clone(), 1)),
        }
    }
    languages.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    languages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::testing::TestSite;
    use crate::model::ids::PlayerId;
    use crate::model::player::PlayerKind;
    use crate::model::result::{EndReason, GameResult};
    use crate::storage::conformance::{FIRST_WINS, FIRST_WINS_TOO, add, play, player, player_id, spec};
    use crate::storage::record::BotProfile;
    use crate::storage::store::{Store as _, Write};

    fn bot(name: &str, owner: &PlayerId, language: &str, url: &str) -> StoredPlayer {
        let profile = BotProfile {
            version: Some("2".into()),
            about: Some("searches".into()),
            url: Some(url.into()),
            language: Some(language.into()),
        };
        StoredPlayer { owner: Some(owner.clone()), profile, ..player(name, PlayerKind::Bot) }
    }

    #[tokio::test]
    async fn bots_are_shown_with_source_and_language_whether_they_are_there_or_not() {
        let site = TestSite::new();
        let ada = player_id("Ada");
        let house = StoredPlayer { house: true, ..player("random", PlayerKind::Bot) };
        let quick = bot("quick", &ada, "C++", "https://example.org/quick");
        let slow = bot("slow", &ada, "Python", "javascript:alert(1)");
        let writes = [player("Ada", PlayerKind::Human), house, quick, slow].map(add);
        site.store.commit(&writes).await.unwrap();
        assert!(site.get("/bots/gallery").await.body.contains("href=\"/bots/new\""), "nobody has played yet");
        for (id, first, second, moves) in
            [("g1", "quick", "random", FIRST_WINS), ("g2", "slow", "random", FIRST_WINS_TOO)]
        {
            play(&*site.store, spec(id, first, second), moves, GameResult::First, EndReason::Four).await;
        }
        let page = site.get("/bots/gallery").await.body;
        for shown in ["href=\"https://example.org/quick\"", "C++", "Python", "searches", "/player/Ada"] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        assert!(!page.contains("javascript:alert") && !page.contains("/player/random"), "{page}");
        let of_python = site.get("/bots/gallery?language=python").await.body;
        assert!(of_python.contains("/player/slow") && !of_python.contains("/player/quick"), "{of_python}");
        let name = "gone-1".parse().unwrap();
        site.store.commit(&[Write::Retire { player: player_id("quick"), name }]).await.unwrap();
        assert!(!site.get("/bots/gallery").await.body.contains("example.org/quick"));
    }
}
