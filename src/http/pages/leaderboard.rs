//! Who plays best.

use askama::Template;
use axum::extract::{Query, State};
use axum::response::Html;
use fourfold_engine::Variant;
use serde::Deserialize;

use super::layout::{LayoutFrame, Tab, Visitor};
use super::parts::PlayerTag;
use super::player;
use super::{Page, words};
use crate::http::api::leaderboard::LeaderboardRowView;
use crate::http::avatar::Avatar;
use crate::http::ranking::{self, FitSummary, Home, RankedRow, Ranking, RankingQuery, Versions};
use crate::http::state::AppState;
use crate::http::texts::{Language, Linked};
use crate::model::ids::PlayerName;
use crate::model::population::Population;

/// Rows of the table: as many as anybody reads.
const ROWS_MAX: u32 = 200;

/// The drawing of an interval is so wide, in units of its own.
const BAR: f64 = 160.0;

/// Where learners and their versions are listed alone.
pub(super) const LEARNERS: &str = "/leaderboard?list=bots&by=learners";

/// Whose bots are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Homes {
    House,
    Learners,
    Others,
    /// Whatever else an address says.
    #[default]
    #[serde(other)]
    Both,
}

impl Homes {
    fn home(self) -> Option<Home> {
        match self {
            Self::Both => None,
            Self::House => Some(Home::House),
            Self::Learners => Some(Home::Learners),
            Self::Others => Some(Home::Elsewhere),
        }
    }

    fn versions(self) -> Versions {
        match self {
            Self::Learners => Versions::Listed,
            Self::Both | Self::House | Self::Others => Versions::LeftOut,
        }
    }
}

/// The query of the page's address.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct LeaderboardQuery {
    /// What is no list is all.
    list: Option<String>,
    #[serde(default)]
    by: Homes,
    variant: Option<String>,
}

/// One of several things to choose from.
struct Option_ {
    url: String,
    word: String,
    is_here: bool,
}

/// Choices of which one is on show.
struct Filter {
    label: &'static str,
    options: Vec<Option_>,
}

/// A rating with its interval, drawn on the scale of the whole list.
struct Bar {
    low: String,
    high: String,
    at: String,
}

/// A row as the interface has it, with what only a page needs.
struct LeaderboardPageRow {
    row: LeaderboardRowView,
    /// By whose shape one sees who is a person and who a bot.
    avatar: Avatar,
    player: PlayerTag,
    /// On the list of learners: how many.
    games_learnt: Option<String>,
    bar: Bar,
    exact: Option<String>,
    /// How sure the place above the next row is.
    los_next: Option<String>,
}

#[derive(Template)]
#[template(path = "leaderboard.html")]
struct LeaderboardPage {
    frame: LayoutFrame,
    lead: &'static str,
    method: Linked,
    has_seasons: bool,
    filters: Vec<Filter>,
    rows: Vec<LeaderboardPageRow>,
    /// Whether moves have been judged.
    has_exact: bool,
    /// Whether this is the list of those who learn, which says how many games they learnt in the place of how many they
    /// won.
    of_learners: bool,
    /// Where the frozen versions of learners are, if they are left out.
    versions: Option<Linked>,
    /// How the ratings came about, a sentence each.
    facts: Vec<String>,
    /// Why not to trust them.
    warnings: Vec<String>,
}

pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(choice): Query<LeaderboardQuery>,
) -> Page {
    let lang = visitor.language();
    let population = choice.list.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default();
    let variant = choice.variant.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default();
    let (home, versions) = (choice.by.home(), choice.by.versions());
    let wanted = RankingQuery { population, variant, home, versions, limit: ROWS_MAX };
    let Ranking { rows, fit } = ranking::ranking(&state, wanted).await?;
    // How the ratings of others came about says nothing of a list without anybody.
    let fit = fit.filter(|_| !rows.is_empty());
    let scale = Ends::of(&rows);
    let mut rows: Vec<LeaderboardPageRow> =
        rows.into_iter().map(|row| LeaderboardPageRow::new(lang, &scale, population, row)).collect();
    let of_learners = home == Some(Home::Learners);
    if of_learners {
        for shown in &mut rows {
            shown.games_learnt = state.learning.games_learnt(&shown.row.id).map(|games| lang.number(games));
        }
    }
    let page = LeaderboardPage {
        frame: visitor.frame(Tab::Leaderboard, lang.text("site.ranking")),
        lead: lang.text("ranking.lead"),
        versions: (versions == Versions::LeftOut && state.learning.has_frozen())
            .then(|| lang.linked("ranking.versions_elsewhere", LEARNERS)),
        method: lang.linked("ranking.method", "/docs/ratings"),
        has_seasons: !state.leaderboard.now().seasons.is_empty(),
        filters: filters(&state, lang, wanted),
        has_exact: rows.iter().any(|row| row.exact.is_some()),
        of_learners,
        rows,
        facts: fit.as_ref().map(|fit| facts(lang, fit)).unwrap_or_default(),
        warnings: fit.as_ref().map(|fit| warnings(lang, fit)).unwrap_or_default(),
    };
    Ok(Html(page.render()?))
}

impl LeaderboardPageRow {
    fn new(lang: Language, scale: &Ends, population: Population, row: RankedRow) -> Self {
        let tag = PlayerTag::new(lang, &player::wire(&row.player, None));
        Self {
            avatar: Avatar::of(row.player.kind, &row.player.name, row.player.portrait.picture),
            player: match population {
                Population::All => tag,
                // A word on every line says nothing.
                Population::People | Population::Bots => tag.plain(),
            },
            games_learnt: None,
            bar: scale.bar(row.shown.rating.elo, row.shown.rating.pm95),
            // Of the exact share: that of the interface is rounded.
            exact: row.skill.and_then(|skill| skill.good_rate()).map(|share| player::percent(lang, share)),
            los_next: row.los_next.map(certainty),
            row: row.into(),
        }
    }
}

/// A probability in per cent, and never a full hundred.
fn certainty(probability: f64) -> String {
    if probability > 0.995 { "> 99 %".to_owned() } else { format!("{:.0} %", probability * 100.0) }
}

/// Where the drawing of all intervals begins and ends, in Elo points.
struct Ends {
    low: f64,
    high: f64,
}

impl Ends {
    /// From the lowest to the highest end of those that are known well enough: one newcomer does not press all others
    /// together.
    fn of(rows: &[RankedRow]) -> Self {
        let known = || rows.iter().filter(|row| !row.shown.rating.provisional);
        let ends = |row: &RankedRow| {
            let half = f64::from(row.shown.rating.pm95);
            (f64::from(row.shown.rating.elo) - half, f64::from(row.shown.rating.elo) + half)
        };
        let all: Vec<(f64, f64)> = if known().next().is_some() {
            known().map(ends).collect()
        } else {
            rows.iter().map(ends).collect()
        };
        let low = all.iter().map(|(low, _)| *low).fold(f64::MAX, f64::min);
        let high = all.iter().map(|(_, high)| *high).fold(f64::MIN, f64::max);
        Self { low, high: high.max(low + 1.0) }
    }

    fn bar(&self, elo: i32, pm95: u32) -> Bar {
        let x = |elo: f64| {
            let share = (elo - self.low) / (self.high - self.low);
            format!("{:.1}", share.clamp(0.0, 1.0) * BAR)
        };
        let (elo, half) = (f64::from(elo), f64::from(pm95));
        Bar { low: x(elo - half), high: x(elo + half), at: x(elo) }
    }
}

fn filters(state: &AppState, lang: Language, wanted: RankingQuery) -> Vec<Filter> {
    let option =
        |other: RankingQuery, word: String, is_here: bool| Option_ { url: address(other), word, is_here };
    let lists = [
        (Population::All, lang.text("ranking.all")),
        (Population::People, lang.text("ranking.people")),
        (Population::Bots, lang.text("site.bots")),
    ];
    let mut filters = vec![Filter {
        label: lang.text("ranking.who"),
        options: lists
            .map(|(population, word)| {
                let home = wanted.home.filter(|_| population == Population::Bots);
                let is_here = population == wanted.population;
                option(RankingQuery { population, home, ..wanted }, word.to_owned(), is_here)
            })
            .into(),
    }];
    if wanted.population == Population::Bots {
        let homes = [
            (None, lang.text("ranking.all")),
            (Some(Home::House), lang.text("ranking.house")),
            (Some(Home::Learners), lang.text("ranking.learners")),
            (Some(Home::Elsewhere), lang.text("ranking.remote")),
        ];
        let options = homes.map(|(home, word)| {
            option(RankingQuery { home, ..wanted }, word.to_owned(), home == wanted.home)
        });
        filters.push(Filter { label: lang.text("ranking.whose"), options: options.into() });
    }
    // Each board that is offered has its list, also before the first rated game on it.
    let mut variants: Vec<Variant> = words::offered_boards().collect();
    for variant in state.leaderboard.now().variants().into_iter().chain([wanted.variant]) {
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    let here = |variant: Variant| {
        option(RankingQuery { variant, ..wanted }, variant.to_string(), variant == wanted.variant)
    };
    let options = variants.into_iter().map(here).collect();
    filters.push(Filter { label: lang.text("ranking.board"), options });
    filters
}

/// The address of a list.
fn address(wanted: RankingQuery) -> String {
    let list = match wanted.population {
        Population::All => None,
        Population::People => Some("list=people".to_owned()),
        Population::Bots => Some("list=bots".to_owned()),
    };
    let home = wanted.home.map(|home| match home {
        Home::House => "by=house".to_owned(),
        Home::Learners => "by=learners".to_owned(),
        Home::Elsewhere => "by=others".to_owned(),
    });
    let variant = (wanted.variant != Variant::STANDARD).then(|| format!("variant={}", wanted.variant));
    let query: Vec<String> = [list, home, variant].into_iter().flatten().collect();
    if query.is_empty() { "/leaderboard".to_owned() } else { format!("/leaderboard?{}", query.join("&")) }
}

fn facts(lang: Language, fit: &FitSummary) -> Vec<String> {
    let counts = [("games", lang.number(fit.games)), ("pairs", lang.number(fit.pairs))];
    let advantage = format!("{:+.0}", fit.first_move_advantage);
    let mut facts = vec![
        lang.fill("ranking.counted", &counts),
        lang.fill("ranking.first_move", &[("points", advantage.as_str())]),
    ];
    facts.push(words::scale(lang, fit.scale).to_owned());
    if let Some(ceiling) = fit.ceiling.as_ref().filter(|ceiling| !ceiling.provisional) {
        let values = [("name", ceiling.name.to_string()), ("elo", ceiling.elo.to_string())];
        facts.push(lang.fill("ranking.ceiling", &values));
    }
    facts
}

fn warnings(lang: Language, fit: &FitSummary) -> Vec<String> {
    let names = |names: &[PlayerName]| -> String {
        names.iter().map(PlayerName::as_str).collect::<Vec<_>>().join(", ")
    };
    let mut warnings = Vec::new();
    if fit.disconnected.len() > 1 {
        // The largest is the field; the others have not met it yet.
        let mut groups: Vec<&Vec<PlayerName>> = fit.disconnected.iter().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        let apart: Vec<String> = groups.into_iter().skip(1).map(|group| names(group)).collect();
        warnings.push(lang.fill("ranking.disconnected", &[("groups", apart.join("; "))]));
    }
    if !fit.only_wins.is_empty() {
        warnings.push(lang.fill("ranking.only_wins", &[("names", names(&fit.only_wins))]));
    }
    if !fit.only_losses.is_empty() {
        warnings.push(lang.fill("ranking.only_losses", &[("names", names(&fit.only_losses))]));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_lie_between_the_ends() {
        let ends = Ends { low: 0.0, high: 1_000.0 };
        let bar = ends.bar(500, 100);
        assert_eq!((bar.low.as_str(), bar.at.as_str(), bar.high.as_str()), ("64.0", "80.0", "96.0"));
        let newcomer = ends.bar(900, 600);
        assert_eq!((newcomer.low.as_str(), newcomer.high.as_str()), ("48.0", "160.0"));
    }

    #[test]
    fn addresses_say_what_is_not_usual() {
        let usual = RankingQuery {
            population: Population::All,
            variant: Variant::STANDARD,
            home: None,
            versions: Versions::LeftOut,
            limit: 1,
        };
        assert_eq!(address(usual), "/leaderboard");
        let wide = "9x6".parse().expect("a board");
        let bots = RankingQuery {
            population: Population::Bots,
            variant: wide,
            home: Some(Home::House),
            versions: Versions::LeftOut,
            limit: 1,
        };
        assert_eq!(address(bots), "/leaderboard?list=bots&by=house&variant=9x6");
    }

    #[test]
    fn nothing_is_quite_certain() {
        assert_eq!([0.5, 0.994, 0.999, 1.0].map(certainty), ["50 %", "99 %", "> 99 %", "> 99 %"]);
    }
}
