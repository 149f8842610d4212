//! What all pages have around their content: who visits, which colours, where in the site.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{Uri, header};

use super::parts::{Icon, Script};
use crate::http::assets;
use crate::http::auth::Viewer;
use crate::http::site::{Site, host};
use crate::http::state::AppState;
use crate::http::texts::{Language, TermLink};
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::StoredPlayer;

/// The cookie in which the page keeps the chosen colours.
const THEME_COOKIE: &str = "theme";

/// The cookie in which the page keeps the chosen look of boards, so that they are drawn right from the start.
const BOARD_COOKIE: &str = "board";

/// The looks that there are, but for the usual one; `web/static/style.css` says what they are.
const BOARDS: [&str; 3] = ["night", "walnut", "paper"];

/// The cookie in which the chosen language is kept, and the parameter of an address that chooses it.
pub(super) const LANGUAGE: &str = "lang";

/// Colours chosen by the visitor, rather than by the system's setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Theme {
    Light,
    Dark,
}

/// The page that the navigation names, or that under which one finds the page on show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tab {
    Play,
    Watch,
    Puzzles,
    Lessons,
    Rules,
    Glossary,
    Class,
    Analysis,
    Studies,
    Bots,
    Leaderboard,
    Tournaments,
    Learning,
    Docs,
    Account,
    Friends,
    /// None that the navigation names.
    Elsewhere,
}

/// The parts of the site, five, so that they fit under a thumb.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Section {
    Play,
    Puzzles,
    Learn,
    Watch,
    Arena,
}

impl Tab {
    fn section(self) -> Option<Section> {
        match self {
            Self::Play => Some(Section::Play),
            Self::Watch => Some(Section::Watch),
            Self::Puzzles => Some(Section::Puzzles),
            Self::Lessons | Self::Rules | Self::Glossary | Self::Class | Self::Analysis | Self::Studies => {
                Some(Section::Learn)
            }
            Self::Bots | Self::Leaderboard | Self::Tournaments | Self::Learning | Self::Docs => {
                Some(Section::Arena)
            }
            Self::Account | Self::Friends | Self::Elsewhere => None,
        }
    }
}

/// A link of the navigation.
pub(super) struct TabLink {
    pub(super) url: &'static str,
    pub(super) word: &'static str,
    pub(super) icon: &'static str,
    /// What `aria-current` says: this page, or the part that it is in.
    pub(super) current: Option<&'static str>,
}

/// The pages of a part that has several: address, word.
const LEARN: [(&str, &str, Tab); 6] = [
    ("/learn", "lessons.title", Tab::Lessons),
    ("/rules", "rules.title", Tab::Rules),
    ("/analysis", "analysis.tab", Tab::Analysis),
    ("/studies", "study.title", Tab::Studies),
    ("/learn/glossary", "glossary.title", Tab::Glossary),
    ("/class", "class.title", Tab::Class),
];
const ARENA: [(&str, &str, Tab); 5] = [
    ("/bots", "site.bots", Tab::Bots),
    ("/leaderboard", "site.ranking", Tab::Leaderboard),
    ("/tournaments", "tournament.title", Tab::Tournaments),
    ("/learning", "learning.title", Tab::Learning),
    ("/docs", "site.docs", Tab::Docs),
];

/// Whoever looks at a page.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    viewer: Option<Viewer>,
    theme: Option<Theme>,
    board: Option<&'static str>,
    language: Language,
    /// The address of the page but for the language.
    address: String,
    /// Where the site is, for links that are read elsewhere; empty if nobody knows.
    origin: String,
    /// What operators say on every page.
    announcement: Option<String>,
    /// Why no game begins, if they have ordered so.
    pause: Option<String>,
    /// Whether only those with an account play here.
    guests_watch: bool,
    /// Who runs the site, and what they say of it.
    site: Arc<Site>,
}

impl Visitor {
    /// Everything around the content.
    pub(super) fn frame(&self, tab: Tab, title: impl Into<String>) -> LayoutFrame {
        let viewer = self.viewer.as_ref();
        LayoutFrame {
            title: title.into(),
            description: self.language.text("site.description").to_owned(),
            origin: self.origin.clone(),
            tab,
            theme: self.theme,
            board: self.board,
            lang: self.language,
            address: self.address.clone(),
            name: viewer.map(|viewer| viewer.identity.name.spoken().to_owned()).unwrap_or_default(),
            is_signed_in: viewer.is_some_and(Viewer::is_signed_in),
            announcement: self.announcement.clone(),
            pause: self.pause.clone(),
            may_play: !self.guests_watch || self.signed_in().is_some(),
            picture: None,
            is_unlisted: false,
            site: Arc::clone(&self.site),
        }
    }

    /// Whether it is this player.
    pub(super) fn is(&self, player: &PlayerId) -> bool {
        self.viewer.as_ref().is_some_and(|viewer| viewer.identity.id == *player)
    }

    /// Whether the visitor may report this player to the operators.
    pub(super) fn may_report(&self, player: &StoredPlayer) -> bool {
        let may_play = !self.guests_watch || self.signed_in().is_some();
        let is_own = self.is(&player.id) || player.owner.as_ref().is_some_and(|owner| self.is(owner));
        may_play && !player.house && !is_own
    }

    /// Whoever it is, guests too.
    pub(super) fn viewer(&self) -> Option<&Viewer> {
        self.viewer.as_ref()
    }

    /// The identity of somebody with an account.
    pub(super) fn signed_in(&self) -> Option<&Viewer> {
        self.viewer.as_ref().filter(|viewer| viewer.is_signed_in())
    }

    /// Nobody that we know, for pages that say that something failed.
    pub(super) fn unknown() -> Self {
        Self {
            viewer: None,
            theme: None,
            board: None,
            language: Language::default(),
            address: "/?".to_owned(),
            origin: String::new(),
            announcement: None,
            pause: None,
            guests_watch: false,
            site: Arc::default(),
        }
    }

    /// The language in which the page speaks.
    pub(super) fn language(&self) -> Language {
        self.language
    }
}

/// What `layout.html` shows.
#[derive(Clone, Debug)]
pub(super) struct LayoutFrame {
    pub(super) title: String,
    /// What messengers and search engines say of the page.
    pub(super) description: String,
    origin: String,
    tab: Tab,
    theme: Option<Theme>,
    /// How boards look, if not as usual.
    pub(super) board: Option<&'static str>,
    pub(super) lang: Language,
    address: String,
    /// The visitor's name; empty for nobody known.
    pub(super) name: String,
    pub(super) is_signed_in: bool,
    /// What operators say on every page.
    pub(super) announcement: Option<String>,
    /// Why no game begins, if they have ordered so.
    pub(super) pause: Option<String>,
    /// Whether the visitor plays here, or has to sign in first.
    pub(super) may_play: bool,
    /// The path of the picture for links, if it is not that of all pages.
    picture: Option<String>,
    /// Whether search engines are asked to leave it out.
    pub(super) is_unlisted: bool,
    site: Arc<Site>,
}

impl LayoutFrame {
    /// With words of its own for whoever gets a link to the page.
    pub(super) fn described(self, description: impl Into<String>) -> Self {
        Self { description: description.into(), ..self }
    }

    /// The picture that messengers show beside a link, by its whole address, as they need it.
    pub(super) fn preview(&self) -> String {
        let path = self.picture.clone().unwrap_or_else(|| assets::url("preview.png"));
        format!("{}{path}", self.origin)
    }

    /// In the colours and with the board that the page around a frame asks for in the frame's address: names of
    /// either. Other names change nothing.
    pub(super) fn themed<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        names.into_iter().fold(self, |frame, name| Self {
            theme: theme_named(name).or(frame.theme),
            board: board_named(name).or(frame.board),
            ..frame
        })
    }

    /// With a picture of its own beside links to the page.
    pub(super) fn pictured(self, path: String) -> Self {
        Self { picture: Some(path), ..self }
    }

    /// In no list of search engines, if that is so.
    pub(super) fn unlisted(self, is_unlisted: bool) -> Self {
        Self { is_unlisted, ..self }
    }

    /// Whom to write to, if the operator says so.
    pub(super) fn contact(&self) -> Option<String> {
        self.site.contact.link()
    }

    /// Whether the operator names terms.
    pub(super) fn has_terms(&self) -> bool {
        self.site.papers.terms.text().is_some()
    }

    /// Whether the operator says who they are.
    pub(super) fn has_imprint(&self) -> bool {
        self.site.papers.imprint.text().is_some()
    }

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

    /// The parts of the site.
    pub(super) fn tabs(&self) -> [TabLink; 5] {
        [
            ("/", "site.play", "play", Section::Play),
            ("/puzzles", "puzzles.title", "puzzle", Section::Puzzles),
            ("/learn", "site.learn", "book", Section::Learn),
            ("/tv", "site.watch", "eye", Section::Watch),
            ("/bots", "site.arena", "trophy", Section::Arena),
        ]
        .map(|(url, word, icon, section)| {
            let is_here = self.tab.section() == Some(section);
            TabLink { url, word: self.text(word), icon, current: is_here.then_some("true") }
        })
    }

    /// The pages of the part on show, if it has several.
    pub(super) fn subtabs(&self) -> Vec<TabLink> {
        let pages: &[(&'static str, &'static str, Tab)] = match self.tab.section() {
            Some(Section::Learn) => &LEARN,
            Some(Section::Arena) => &ARENA,
            Some(Section::Play | Section::Puzzles | Section::Watch) | None => &[],
        };
        let link = |&(url, word, tab): &(&'static str, &'static str, Tab)| TabLink {
            url,
            word: self.text(word),
            icon: "",
            current: self.is_in(tab).then_some("page"),
        };
        pages.iter().map(link).collect()
    }

    /// The same page in each language, and whether it is the one on show.
    pub(super) fn languages(&self) -> impl Iterator<Item = (String, Language, bool)> {
        let link = |language: Language| {
            (format!("{}{LANGUAGE}={}", self.address, language.tag()), language, language == self.lang)
        };
        Language::ALL.into_iter().map(link)
    }

    pub(super) fn text(&self, key: &'static str) -> &'static str {
        self.lang.text(key)
    }

    pub(super) fn fill<V: Display>(&self, key: &'static str, values: &[(&str, V)]) -> String {
        self.lang.fill(key, values)
    }

    pub(super) fn count(&self, key: &'static str, n: u64) -> String {
        self.lang.count(key, n)
    }

    /// A text that leads to its term in the glossary.
    pub(super) fn term(&self, term: &'static str, key: &'static str) -> TermLink {
        self.lang.term(term, key)
    }

    /// The address of the module with the page's texts.
    pub(super) fn texts(&self) -> String {
        assets::texts_url(self.lang)
    }

    pub(super) fn is_in_english(&self) -> bool {
        self.lang == Language::English
    }

    pub(super) fn is_account(&self) -> bool {
        self.is_in(Tab::Account)
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    pub(super) fn icon(&self, name: &'static str) -> Icon {
        Icon::new(name)
    }

    /// A module with all that it imports.
    #[expect(clippy::unused_self, reason = "templates call methods")]
    pub(super) fn script(&self, module: &str) -> Script {
        Script::new(module)
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
        let board = board(parts);
        // A header with a wrong token is no reason to refuse a page that everybody may see.
        let viewer = <Viewer as OptionalFromRequestParts<AppState>>::from_request_parts(parts, state).await;
        let (language, address) = (language(parts), address(parts));
        let origin = origin(parts, state);
        let orders = state.arena.orders();
        let announcement = orders.announcement(UnixMillis::now()).map(|said| said.text.clone());
        let pause = orders.pause().map(|because| because.reason.clone());
        let viewer = viewer.unwrap_or_default();
        let guests_watch = !state.access.guests;
        let site = Arc::clone(&state.site);
        Ok(Self { viewer, theme, board, language, address, origin, announcement, pause, guests_watch, site })
    }
}

/// The language that the address chooses, else the one chosen before, else the one that the browser likes best.
fn language(parts: &Parts) -> Language {
    let accepted = || {
        let header = parts.headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        Language::accepted(header.unwrap_or_default())
    };
    let chosen = chosen_language(&parts.uri);
    chosen.or_else(|| Language::of_tag(cookie(parts, LANGUAGE)?)).unwrap_or_else(accepted)
}

/// The language that an address chooses: `/bots?lang=de`.
pub(super) fn chosen_language(uri: &Uri) -> Option<Language> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| *name == LANGUAGE).find_map(|(_, tag)| Language::of_tag(tag))
}

/// Where the site is: as the operator says, else where it was asked for.
fn origin(parts: &Parts, state: &AppState) -> String {
    match &state.site.public_url {
        Some(_) => state.site.url(""),
        None => {
            host(&parts.headers).map_or_else(String::new, |host| format!("{}://{host}", state.site.scheme()))
        }
    }
}

/// Path and query without the language, ready for another parameter.
fn address(parts: &Parts) -> String {
    let query = parts.uri.query().unwrap_or_default();
    let others = query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("lang="));
    let others: String = others.flat_map(|pair| [pair, "&"]).collect();
    format!("{}?{others}", parts.uri.path())
}

/// The value of a cookie.
fn cookie<'a>(parts: &'a Parts, wanted: &str) -> Option<&'a str> {
    let cookies = parts.headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

fn board(parts: &Parts) -> Option<&'static str> {
    board_named(cookie(parts, BOARD_COOKIE)?)
}

fn board_named(chosen: &str) -> Option<&'static str> {
    BOARDS.into_iter().find(|board| *board == chosen)
}

fn theme(parts: &Parts) -> Option<Theme> {
    theme_named(cookie(parts, THEME_COOKIE)?)
}

fn theme_named(chosen: &str) -> Option<Theme> {
    match chosen {
        "light" => Some(Theme::Light),
        "dark" => Some(Theme::Dark),
        _ => None,
    }
}
