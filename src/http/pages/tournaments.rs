//! Tournaments: which there were and will be, and each with its table.
//!
//! The table of one that goes on is a part of its own, which the page asks for again and again, with its `ETag`.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse, Response};
use fourfold_arena::format::Format;
use fourfold_arena::report::RatedPlayer;
use fourfold_engine::{Side, WinDrawLoss};

use super::Page;
use super::bracket::Bracket;
use super::drawing::DiscIcon;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::moment::Moment;
use super::tournament_plans::{Entry, planned, terms_in_words};
use super::words;
use crate::competition::tournament::{TournamentSummary, TournamentView, Upcoming};
use crate::http::answer::{Keep, keepable};
use crate::http::api::tournaments::{ScheduledGame, StandingRow, scheduled, standing_row};
use crate::http::state::AppState;
use crate::http::texts::Language;
use crate::model::ids::TournamentId;
use crate::model::result::GameResult;
use crate::model::time::UnixMillis;
use crate::model::tournament::TournamentFormat;
use crate::protocol::terms::WireSide;
use crate::storage::StoreError;
use crate::storage::tournaments::EndedBecause;

/// Tournaments of the list.
const TOURNAMENTS_MAX: u32 = 50;

/// Games of the schedule that are shown, the latest ones.
const GAMES_MAX: usize = 60;

/// Entrants up to which there is a crosstable: more columns than this nobody can follow.
const CROSSTABLE_MAX: usize = 24;

/// A tournament in the list.
struct TournamentListRow {
    id: String,
    name: String,
    format: String,
    status: &'static str,
    is_live: bool,
    when: Moment,
    entrants: u64,
    games: u64,
    winner: Option<String>,
}

impl TournamentListRow {
    fn new(lang: Language, TournamentSummary { tournament, games, winner }: &TournamentSummary) -> Self {
        let reason = tournament.end.as_ref().map(|end| end.reason);
        Self {
            id: tournament.id.to_string(),
            name: tournament.name.clone(),
            format: format_in_words(lang, tournament.format),
            status: status_in_words(lang, reason),
            is_live: reason.is_none(),
            when: Moment::new(lang, tournament.started_at),
            entrants: tournament.entrants.len() as u64,
            games: *games,
            winner: winner.as_ref().map(ToString::to_string),
        }
    }
}

/// A tournament in a few words, for the front page.
pub(super) struct Notice {
    pub(super) name: String,
    /// Where it is; of one that is to come, where all are.
    pub(super) url: String,
    pub(super) is_live: bool,
    /// When it begins, if it is to come.
    pub(super) when: Option<Moment>,
}

/// Tournaments on the front page: what goes on comes first.
const NOTICES_MAX: u32 = 3;

impl Notice {
    /// Those that go on, then those whose time is known.
    pub(super) async fn all(state: &AppState, lang: Language) -> Result<Vec<Self>, StoreError> {
        let live = |(_, summary): (u64, TournamentSummary)| {
            let TournamentSummary { tournament, .. } = summary;
            let url = format!("/tournament/{}", tournament.id);
            let notice = Self { name: tournament.name, url, is_live: true, when: None };
            tournament.end.is_none().then_some(notice)
        };
        let next = |Upcoming { id, name, at, entered, .. }: Upcoming| {
            let when = Some(Moment::new(lang, at?));
            // What somebody has made stands here once somebody else comes to it.
            let is_wanted = id.is_none() || entered.is_some_and(|entered| entered.len() > 1);
            let url = id.map_or_else(|| "/tournaments".to_owned(), |id| format!("/tournament/{id}"));
            is_wanted.then_some(Self { name, url, is_live: false, when })
        };
        let newest = state.tournaments.list(None, NOTICES_MAX).await?;
        let upcoming = state.tournaments.upcoming();
        let notices = newest.into_iter().filter_map(live).chain(upcoming.into_iter().filter_map(next));
        Ok(notices.take(NOTICES_MAX as usize).collect())
    }
}

/// One that is to come.
struct UpcomingRow {
    name: String,
    /// Its page, if somebody has made it.
    url: Option<String>,
    maker: Option<String>,
    /// Format, time control, whether its games count.
    terms: String,
    when: Option<Moment>,
    /// Whether every open bot takes part.
    is_open: bool,
    /// Which people have entered, if they may.
    entered: Option<Vec<String>>,
    /// Whether the visitor has.
    has_entered: bool,
}

#[derive(Template)]
#[template(path = "tournaments.html")]
struct TournamentsPage {
    frame: LayoutFrame,
    upcoming: Vec<UpcomingRow>,
    rows: Vec<TournamentListRow>,
}

/// All tournaments.
pub(super) async fn list(State(state): State<AppState>, visitor: Visitor) -> Page {
    let lang = visitor.language();
    let own = visitor.signed_in().map(|viewer| viewer.identity.name.clone());
    let next = |Upcoming { id, maker, name, at, terms, open_bots, entered, .. }: Upcoming| UpcomingRow {
        name,
        url: id.map(|id| format!("/tournament/{id}")),
        maker: maker.map(|maker| maker.name.to_string()),
        terms: terms_in_words(lang, &terms),
        when: at.map(|at| Moment::new(lang, at)),
        is_open: open_bots,
        has_entered: entered.iter().flatten().any(|name| Some(name) == own.as_ref()),
        entered: entered.map(|names| names.iter().map(ToString::to_string).collect()),
    };
    let rows = state.tournaments.list(None, TOURNAMENTS_MAX).await?;
    let page = TournamentsPage {
        frame: visitor.frame(Tab::Tournaments, lang.text("tournament.title")),
        upcoming: state.tournaments.upcoming().into_iter().map(next).collect(),
        rows: rows.iter().map(|(_, summary)| TournamentListRow::new(lang, summary)).collect(),
    };
    Ok(Html(page.render()?))
}

/// A row of the standings.
struct StandingsPageRow {
    row: StandingRow,
    elo: String,
}

/// A row of the crosstable: what came of the games against each, by rank.
struct CrossRow {
    rank: usize,
    name: String,
    cells: Vec<CrosstableCell>,
}

/// One field of the crosstable.
enum CrosstableCell {
    Own,
    Unplayed,
    /// Such as `+3 =1 −0`.
    Met(String),
}

/// A game of the schedule.
struct TournamentGameRow {
    row: ScheduledGame,
    number: u64,
    result: &'static str,
    note: Option<&'static str>,
}

/// What changes while it goes on.
#[derive(Template)]
#[template(path = "parts/tournament.html")]
struct TournamentTable {
    lang: Language,
    status: &'static str,
    is_live: bool,
    is_arena: bool,
    progress: String,
    /// The tree of a knockout.
    bracket: Option<Bracket>,
    standings: Vec<StandingsPageRow>,
    ranks: Vec<usize>,
    crosstable: Vec<CrossRow>,
    games: Vec<TournamentGameRow>,
    /// Games that are left out.
    earlier: u64,
    /// Marks of the columns about either side.
    discs: [DiscIcon; 2],
}

impl askama::filters::HtmlSafe for TournamentTable {}

impl TournamentTable {
    fn new(lang: Language, view: &TournamentView) -> Self {
        let reason = view.tournament.end.as_ref().map(|end| end.reason);
        let earlier = view.lines.len().saturating_sub(GAMES_MAX);
        let latest = view.lines.iter().skip(earlier).rev();
        let is_arena = view.ends_at.is_some();
        let progress = [("n", lang.number(view.games)), ("of", lang.number(view.known))];
        let progress = if is_arena {
            lang.count("tournament.played", view.games)
        } else {
            lang.fill("tournament.progress", &progress)
        };
        Self {
            lang,
            status: status_in_words(lang, reason),
            is_live: reason.is_none(),
            is_arena,
            progress,
            bracket: is_knockout(view.tournament.format).then(|| Bracket::new(lang, view)),
            standings: standings(view),
            ranks: (1..=view.names.len()).collect(),
            crosstable: crosstable(view),
            games: latest.map(|line| game(lang, scheduled(view, line))).collect(),
            earlier: earlier as u64,
            discs: [WireSide::First, WireSide::Second].map(DiscIcon::new),
        }
    }
}

fn standings(view: &TournamentView) -> Vec<StandingsPageRow> {
    let row = |player: &RatedPlayer| {
        let row = standing_row(view, player)?;
        // Of the exact figures: those of the interface are rounded.
        let elo = if row.games == 0 { String::new() } else { elo(player.elo, player.pm95) };
        Some(StandingsPageRow { row, elo })
    };
    view.table.players.iter().filter_map(row).collect()
}

/// Such as `−75 ±363`.
fn elo(elo: f64, pm95: f64) -> String {
    format!("{elo:+.0} ±{pm95:.0}").replace('-', "−")
}

fn crosstable(view: &TournamentView) -> Vec<CrossRow> {
    if view.table.tournament.is_none() || view.names.len() > CROSSTABLE_MAX {
        return Vec::new();
    }
    let mut met: HashMap<[&str; 2], WinDrawLoss> = HashMap::new();
    let lines: Vec<ScheduledGame> = view.lines.iter().map(|line| scheduled(view, line)).collect();
    for line in &lines {
        let Some(result) = line.result else { continue };
        let names = [line.first.as_str(), line.second.as_str()];
        for (own, pair) in [(Side::First, names), (Side::Second, [names[1], names[0]])] {
            if let Some(scored) = result.seen_by(own) {
                met.entry(pair).or_default().count(scored);
            }
        }
    }
    let players = &view.table.players;
    let cell =
        |own: &RatedPlayer, other: &RatedPlayer| match met.get(&[own.name.as_str(), other.name.as_str()]) {
            _ if own.name == other.name => CrosstableCell::Own,
            None => CrosstableCell::Unplayed,
            Some(score) => CrosstableCell::Met(format!("+{} ={} −{}", score.wins, score.draws, score.losses)),
        };
    (1..)
        .zip(players)
        .map(|(rank, own)| CrossRow {
            rank,
            name: own.name.clone(),
            cells: players.iter().map(|other| cell(own, other)).collect(),
        })
        .collect()
}

fn game(lang: Language, row: ScheduledGame) -> TournamentGameRow {
    let result = result_in_words(lang, row.result);
    let note = match &row.game {
        None => Some("tournament.absent"),
        Some(_) if row.fault => Some("tournament.fault"),
        Some(_) => None,
    };
    TournamentGameRow { number: row.number + 1, result, note: note.map(|key| lang.text(key)), row }
}

/// How a game of the schedule ended, or that it goes on.
pub(super) fn result_in_words(lang: Language, result: Option<GameResult>) -> &'static str {
    match result {
        Some(GameResult::First) => "1 : 0",
        Some(GameResult::Second) => "0 : 1",
        Some(GameResult::Draw) => "½ : ½",
        Some(GameResult::Void) | None => lang.text("site.live"),
    }
}

/// Whether there is a tree to show.
pub(super) fn is_knockout(format: TournamentFormat) -> bool {
    format == Format::Knockout.into()
}

#[derive(Template)]
#[template(path = "tournament.html")]
struct One {
    frame: LayoutFrame,
    id: String,
    /// Format, time control, whether it counts.
    terms: String,
    when: Moment,
    table: TournamentTable,
    is_live: bool,
    /// Whether the visitor takes part.
    is_mine: bool,
    entry: Entry,
    /// Whether the visitor has made it, and it goes on.
    may_cancel: bool,
    /// Why it was called off.
    because: Option<String>,
    /// When an arena ends, in milliseconds since 1970, for the countdown.
    ends_ms: Option<i64>,
}

/// Whether a visitor takes part in one, and has not withdrawn.
fn takes_part(visitor: &Visitor, view: &TournamentView) -> bool {
    let mut entrants = view.tournament.entrants.iter().zip(&view.entrants);
    entrants.any(|(entrant, state)| !state.has_left && visitor.is(entrant))
}

/// What a visitor may do about taking part in one that goes on.
fn entry_of(visitor: &Visitor, view: &TournamentView) -> Entry {
    let now = UnixMillis::now();
    if view.tournament.end.is_some() || view.ends_at.is_some_and(|ends_at| ends_at <= now) {
        return Entry::Nothing;
    }
    let may_come = view.may_come(now);
    let Some(viewer) = visitor.signed_in() else {
        return if may_come { Entry::SignIn } else { Entry::Nothing };
    };
    let place = view.tournament.entrants.iter().position(|entrant| *entrant == viewer.identity.id);
    match place.and_then(|place| view.entrants.get(place)) {
        Some(entrant) if !entrant.has_left => Entry::Withdraw,
        Some(_) if view.ends_at.is_some() => Entry::Return,
        None if may_come => Entry::Enter,
        Some(_) | None => Entry::Nothing,
    }
}

/// One tournament.
pub(super) async fn one(State(state): State<AppState>, visitor: Visitor, Path(id): Path<String>) -> Page {
    let lang = visitor.language();
    let Ok(id) = id.parse::<TournamentId>() else { return Err(PageError::not_found(visitor)) };
    if let Some(upcoming) = state.tournaments.planned(&id) {
        return planned(&visitor, &id, upcoming);
    }
    let Some(view) = state.tournaments.view(&id).await? else { return Err(PageError::not_found(visitor)) };
    let tournament = &view.tournament;
    let terms = [
        format_in_words(lang, tournament.format),
        words::time_control(lang, tournament.time),
        words::kind(lang, tournament.rated).to_owned(),
    ];
    let table = TournamentTable::new(lang, &view);
    let page = One {
        frame: visitor.frame(Tab::Tournaments, tournament.name.as_str()),
        id: tournament.id.to_string(),
        terms: terms.join(" · "),
        when: Moment::new(lang, tournament.started_at),
        is_live: table.is_live,
        entry: entry_of(&visitor, &view),
        may_cancel: tournament.end.is_none()
            && tournament.maker.as_ref().is_some_and(|maker| visitor.is(maker)),
        because: tournament.end.as_ref().and_then(|end| end.because.clone()),
        ends_ms: view.ends_at.map(|at| at.0),
        is_mine: takes_part(&visitor, &view),
        table,
    };
    Ok(Html(page.render()?))
}

/// What changes on the page of one tournament.
pub(super) async fn table(
    State(state): State<AppState>,
    visitor: Visitor,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let view = match id.parse::<TournamentId>() {
        Ok(id) => state.tournaments.view(&id).await?,
        Err(_) => None,
    };
    let Some(view) = view else { return Err(PageError::not_found(visitor)) };
    let html = TournamentTable::new(visitor.language(), &view).render()?;
    let mut response = keepable(&headers, Keep::Settled, "text/html; charset=utf-8", html);
    // It is in the visitor's language, so nobody else may keep it.
    response.headers_mut().insert(axum::http::header::CACHE_CONTROL, super::CACHING);
    Ok(response.into_response())
}

/// How it stands.
pub(super) fn status_in_words(lang: Language, reason: Option<EndedBecause>) -> &'static str {
    lang.text(match reason {
        None => "tournament.running",
        Some(EndedBecause::Complete) => "tournament.complete",
        Some(EndedBecause::Suspended) => "tournament.suspended",
        Some(EndedBecause::Cancelled) => "tournament.cancelled",
    })
}

/// Who meets whom.
pub(super) fn format_in_words(lang: Language, format: TournamentFormat) -> String {
    let format = match format {
        TournamentFormat::Arena { minutes } => return lang.count("tournament.arena", minutes.into()),
        TournamentFormat::Schedule(format) => format,
    };
    match format {
        Format::Match => lang.text("tournament.match").to_owned(),
        Format::RoundRobin => lang.text("tournament.round_robin").to_owned(),
        Format::Gauntlet { .. } => lang.text("tournament.gauntlet").to_owned(),
        Format::Swiss { rounds } => lang.count("tournament.swiss", rounds.into()),
        Format::Knockout => lang.text("tournament.knockout").to_owned(),
        Format::Ladder => lang.text("tournament.ladder").to_owned(),
    }
}
