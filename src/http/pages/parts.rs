//! Small pieces that many pages show.

use askama::Template;
use askama::filters::HtmlSafe;

use crate::http::assets;
use crate::http::avatar;
use crate::http::texts::Language;
use crate::model::player::PlayerKind;
use crate::model::rating::level::Level;

use crate::protocol::terms::{WirePlayer, WireRating};

/// A picture of `icons.svg` that says what the words beside it say.
#[derive(Clone, Debug, Template)]
#[template(
    source = r##"<svg class="icon" aria-hidden="true"><use href="{{ url }}#{{ name }}"/></svg>"##,
    ext = "html"
)]
pub(super) struct Icon {
    url: String,
    name: &'static str,
}

impl HtmlSafe for Icon {}

impl Icon {
    pub(super) fn new(name: &'static str) -> Self {
        Self { url: assets::url("icons.svg"), name }
    }
}

/// A module and, named beside it so that they are fetched at the same time, those that it imports.
#[derive(Clone, Debug, Template)]
#[template(
    source = r#"<script type="module" src="{{ url }}"></script>
  {%- for import in imports %}
  <link rel="modulepreload" href="{{ import }}">
  {%- endfor %}"#,
    ext = "html"
)]
pub(super) struct Script {
    url: String,
    imports: Vec<String>,
}

impl HtmlSafe for Script {}

impl Script {
    pub(super) fn new(module: &str) -> Self {
        let imports = assets::imports(module).iter().map(|import| assets::url(import)).collect();
        Self { url: assets::url(module), imports }
    }
}

/// The face of a character by its level. Its mouth follows the `data-mood` of what holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Template)]
#[template(path = "parts/face.html")]
pub(super) struct Face {
    level: u8,
}

impl HtmlSafe for Face {}

impl Face {
    pub(super) fn of(level: Level) -> Self {
        Self { level: level.number() }
    }
}

/// A player's name with badge and rating, as a link to the page of everybody who has one.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/player.html")]
pub(super) struct PlayerTag {
    name: String,
    /// Of a character of the house.
    face: Option<Face>,
    /// Where a person's picture is, for places that show it.
    picture: Option<String>,
    /// Of the page that the link leads to.
    pub(super) page: String,
    lang: Language,
    badge: Option<Badge>,
    rating: Option<RatingTag>,
    /// Guests have no page.
    is_linked: bool,
}

impl HtmlSafe for PlayerTag {}

impl PlayerTag {
    pub(super) fn new(lang: Language, player: &WirePlayer) -> Self {
        Self {
            lang,
            name: player.name.spoken().to_owned(),
            face: None,
            picture: None,
            page: player.name.to_string(),
            badge: badge(player.kind),
            rating: player.rating.map(|rating| RatingTag::new(lang, rating)),
            is_linked: player.kind != PlayerKind::Guest,
        }
    }

    /// Without a link, for places that are links themselves.
    pub(super) fn unlinked(self) -> Self {
        Self { is_linked: false, ..self }
    }

    /// By another name; the link leads to the same page.
    pub(super) fn called(self, name: Option<&str>) -> Self {
        Self { name: name.map_or(self.name, str::to_owned), ..self }
    }

    /// With a face.
    pub(super) fn faced(self, face: Face) -> Self {
        Self { face: Some(face), ..self }
    }

    /// With the picture that people have; bots have a face or none.
    pub(super) fn pictured(self, player: &WirePlayer) -> Self {
        Self { picture: avatar::address(player), ..self }
    }

    /// Without the badge, for lists of one kind of players.
    pub(super) fn plain(self) -> Self {
        Self { badge: None, ..self }
    }

    /// Without the rating, for places that show it elsewhere.
    pub(super) fn unrated(self) -> Self {
        Self { rating: None, ..self }
    }
}

/// A word beside a name: its style and its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Badge {
    pub(super) class: &'static str,
    pub(super) word: &'static str,
}

/// The badge of a kind of player.
pub(super) fn badge(kind: PlayerKind) -> Option<Badge> {
    match kind {
        PlayerKind::Human => None,
        PlayerKind::Bot => Some(Badge { class: "bot", word: "site.bot" }),
        PlayerKind::Guest => Some(Badge { class: "guest", word: "site.guest" }),
    }
}

/// A rating, with a question mark while few games stand behind it. Its title says which it is and how certain.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    source = r#"<span class="rating" title="{{ lang.fill(range, [("low", low), ("high", high)]) }}">{{ elo }}{% if provisional %}?{% endif %}</span>"#,
    ext = "html"
)]
pub(super) struct RatingTag {
    lang: Language,
    /// Key of the title.
    range: &'static str,
    elo: i32,
    low: i32,
    high: i32,
    provisional: bool,
}

impl HtmlSafe for RatingTag {}

impl RatingTag {
    pub(super) fn new(lang: Language, rating: WireRating) -> Self {
        let range = if rating.pm95 == 0 { "bots.measured" } else { "site.rating_range" };
        let half = i32::try_from(rating.pm95).unwrap_or(i32::MAX);
        Self {
            lang,
            range,
            elo: rating.elo,
            low: rating.elo.saturating_sub(half),
            high: rating.elo.saturating_add(half),
            provisional: rating.provisional,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_have_a_badge_and_no_link() {
        let player = WirePlayer {
            id: "abc".parse().expect("an id"),
            name: "guest-abc123".parse().expect("a name"),
            kind: PlayerKind::Guest,
            rating: None,
            version: None,
        };
        let html = PlayerTag::new(Language::English, &player).to_string();
        assert!(html.contains(">guest</span>"), "{html}");
        assert!(!html.contains("<a "), "{html}");
    }

    #[test]
    fn a_rating_says_how_certain_it_is() {
        let rating = WireRating { elo: 1500, pm95: 80, provisional: true };
        let html = RatingTag::new(Language::English, rating).to_string();
        assert!(html.contains("\"between 1420 and 1580"), "{html}");
        assert!(html.contains("1500?"), "{html}");
        let measured =
            RatingTag::new(Language::English, WireRating { elo: 1500, pm95: 0, provisional: false });
        let html = measured.to_string();
        assert!(html.contains("\"measured beforehand") && html.contains(">1500<"), "{html}");
    }
}
