//! What all pages have around their content: who visits, which colours, where in the site.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::header;
use axum::http::request::Parts;

use super::parts::Icon;
use crate::http::assets;
use crate::http::auth::Viewer;
use crate::http::state::AppState;
use crate::ids::PlayerId;

/// The cookie in which the page keeps the chosen colours.
const THEME_COOKIE: &str = "theme";

/// Colours chosen by the visitor, rather than by the system's setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Theme {
    Light,
    Dark,
}

/// The part of the site that a page belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tab {
    Play,
    Watch,
    Leaderboard,
    Bots,
    Docs,
    Account,
    /// None that the navigation names.
    Elsewhere,
}

/// Whoever looks at a page.
#[derive(Clone, Debug)]
pub struct Visitor {
    viewer: Option<Viewer>,
    theme: Option<Theme>,
}

impl Visitor {
    /// Everything around the content.
    pub(super) fn frame(&self, tab: Tab, title: impl Into<String>) -> Frame {
        let viewer = self.viewer.as_ref();
        Frame {
            title: title.into(),
            tab,
            theme: self.theme,
            name: viewer.map(|viewer| viewer.identity.name.to_string()).unwrap_or_default(),
            is_signed_in: viewer.is_some_and(Viewer::is_signed_in),
        }
    }

    /// Whether it is this player.
    pub(super) fn is(&self, player: &PlayerId) -> bool {
        self.viewer.as_ref().is_some_and(|viewer| viewer.identity.id == *player)
    }

    /// The identity of somebody with an account.
    pub(super) fn signed_in(&self) -> Option<&Viewer> {
        self.viewer.as_ref().filter(|viewer| viewer.is_signed_in())
    }

    /// Nobody that we know, for pages that say that something failed.
    pub(super) fn unknown() -> Self {
        Self { viewer: None, theme: None }
    }
}

/// What `layout.html` shows.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) title: String,
    tab: Tab,
    theme: Option<Theme>,
    /// The visitor's name; empty for nobody known.
    pub(super) name: String,
    pub(super) is_signed_in: bool,
}

impl Frame {
    /// The attribute that chooses the colours.
    pub(super) fn theme(&self) -> Option<&'static str> {
        self.theme.map(|theme| match theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
        })
    }

    /// Whether the page is in this part of the site.
    fn is_in(&self, tab: Tab) -> bool {
        self.tab == tab
    }

    /// Parts of the site that the navigation names: address, word, icon.
    pub(super) fn tabs(&self) -> [(&'static str, &'static str, &'static str, bool); 5] {
        [
            ("/", "Play", "play", Tab::Play),
            ("/tv", "Watch", "eye", Tab::Watch),
            ("/leaderboard", "Ranking", "trophy", Tab::Leaderboard),
            ("/bots", "Bots", "bot", Tab::Bots),
            ("/docs", "Docs", "book", Tab::Docs),
        ]
        .map(|(url, word, icon, tab)| (url, word, icon, self.is_in(tab)))
    }

    pub(super) fn is_account(&self) -> bool {
        self.is_in(Tab::Account)
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    pub(super) fn icon(&self, name: &'static str) -> Icon {
        Icon::new(name)
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    pub(super) fn asset(&self, name: &str) -> String {
        assets::url(name)
    }
}

impl FromRequestParts<AppState> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        let theme = theme(parts);
        // A header with a wrong token is no reason to refuse a page that everybody may see.
        let viewer = <Viewer as OptionalFromRequestParts<AppState>>::from_request_parts(parts, state).await;
        Ok(Self { viewer: viewer.unwrap_or_default(), theme })
    }
}

fn theme(parts: &Parts) -> Option<Theme> {
    let cookies = parts.headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    match pairs.find(|(name, _)| *name == THEME_COOKIE)?.1 {
        "light" => Some(Theme::Light),
        "dark" => Some(Theme::Dark),
        _ => None,
    }
}
