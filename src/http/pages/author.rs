//! The corner of bots' authors: making a bot, the page on which its owner looks after it, and what it thought.

use std::fmt::Display;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse, Redirect, Response};
use fourfold_engine::Game;
use fourfold_engine::search::Score;

use super::analysis::how_it_ends;
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::player::history::RatingHistory;
use super::{Page, words};
use crate::competition::duels::Unbegun;
use crate::http::api::bot_games::{GameFilter, OwnGameView, OwnGames, own_games};
use crate::http::api::bot_record::{self, OpponentRecord, OwnRecord, RecordSum, own_record};
use crate::http::api::duels::duels_of;
use crate::http::api::mistakes::{GamesWanted, MistakeView, mistakes_of};
use crate::http::api::names::Names;
use crate::http::api::own_bots::{OwnBot, ThoughtView, own_bot, thoughts_for};
use crate::http::api::rating_resets::{EraRating, RatingEra, eras_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::kits::{self, Encryption, Kit};
use crate::http::payer::Paying;
use crate::http::programs::{self, ServedProgram};
use crate::http::request::QueryParameters;
use crate::http::site::host;
use crate::http::state::{AppState, TroubleView};
use crate::http::texts::Language;
use crate::model::ids::{GameId, PairId, PlayerName, TokenId};
use crate::model::player::PlayerKind;
use crate::model::result::GameOutcome;
use crate::storage::StoreError;
use crate::storage::bot_versions::{BotFault, FaultKind};
use crate::storage::record::{StoredGame, StoredPlayer, StoredToken, TokenScope};
use crate::storage::records::self_test::{TestLatency, TestReport, TestVerdict};
use crate::system::shares::Payer;

/// Faults that the page lists; the interface has them all.
const FAULTS_SHOWN: u32 = 20;

/// Among so many of the last games the page looks for those that are asked for.
const GAMES_LOOKED_AT: u32 = 100;

/// How games of the bot are chosen: the value of `show`, and what it stands for.
static SHOWN: [(&str, GameFilter); 4] = [
    ("all", GameFilter::ALL),
    (
        "lost",
        GameFilter {
            outcome: Some(GameOutcome::Lost),
            fault: None,
            slower_than_ms: None,
            opponent: None,
            version: None,
        },
    ),
    (
        "faults",
        GameFilter { outcome: None, fault: Some(true), slower_than_ms: None, opponent: None, version: None },
    ),
    (
        "slow",
        GameFilter {
            outcome: None,
            fault: None,
            slower_than_ms: Some(SLOW_MS),
            opponent: None,
            version: None,
        },
    ),
];

/// A move that takes longer is slow: a person would wait for it.
const SLOW_MS: u64 = 1_000;

/// Games that are summed up by version and opponent.
const RECORD_GAMES: u32 = bot_record::GAMES_DEFAULT;

/// Opponents of the table; the interface has them all.
const OPPONENTS_SHOWN: usize = 20;

/// Duels that the page links to; the interface has them all.
const DUELS_SHOWN: usize = 10;

/// Versions that are marked in the curve, the newest: more would stand on each other.
const MARKS_MAX: usize = 8;

/// Games in which the page looks for what was thrown away.
const GAMES_SHOWN: u32 = 20;

/// Stands for the token in the lines that start a bot; the page puts the real one there, this once.
const TOKEN: &str = "c4b_…";

#[derive(Template)]
#[template(path = "bot-new.html")]
struct NewBotPage {
    frame: LayoutFrame,
    /// People own bots; somebody who comes with a bot's token does not.
    may_own_bots: bool,
    bots: Vec<String>,
    programs: Vec<ServedProgram>,
}

pub(super) async fn new(State(state): State<AppState>, visitor: Visitor) -> Page {
    let owner = visitor.signed_in().map(|viewer| &viewer.identity);
    let owner = owner.filter(|who| who.kind == PlayerKind::Human);
    let bots = match owner {
        Some(owner) => state.store.bots_of(&owner.id).await?,
        None => Vec::new(),
    };
    let page = NewBotPage {
        may_own_bots: owner.is_some(),
        bots: bots.iter().map(|bot| bot.name.to_string()).collect(),
        programs: programs::listed(&state).await,
        frame: visitor.frame(Tab::Bots, visitor.language().text("author.new_title")),
    };
    Ok(Html(page.render()?))
}

/// The lines that start a bot of one kit.
struct KitStart {
    kit: &'static str,
    /// The title as part of an id, which scripts look for: letters and digits alone.
    id: String,
    lines: String,
}

/// What came of some games, ready to show.
#[derive(Default)]
struct SumShown {
    /// All, and won, drawn and lost.
    record: String,
    /// The share of all points, draws counting half.
    win_rate: String,
    /// Of the rated ones; nothing if there are none.
    points: String,
    expected: String,
    performance: String,
}

impl SumShown {
    fn new(lang: Language, sum: &RecordSum) -> Self {
        let RecordSum { games, wins, draws, losses, rated } = sum;
        let record = format!("{games} (+{wins} ={draws} −{losses})");
        let win_rate = win_rate(lang, sum);
        let Some(rated) = rated else { return Self { record, win_rate, ..Self::default() } };
        let tenth = |points: f64| lang.decimal(format_args!("{points:.1}"));
        Self {
            record,
            win_rate,
            points: format!("{} / {}", tenth(rated.points), rated.games),
            expected: tenth(rated.expected),
            performance: format!("{} ± {}", rated.elo, rated.pm95),
        }
    }
}

/// The share of all points, draws counting half; nothing if there are no games.
fn win_rate(lang: Language, sum: &RecordSum) -> String {
    if sum.games == 0 {
        return String::new();
    }
    let [games, wins, draws] = [sum.games, sum.wins, sum.draws].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    super::player::percent(lang, (f64::from(wins) + f64::from(draws) / 2.0) / f64::from(games))
}

/// That of all opponents together, in a sentence.
fn win_rate_of_all(lang: Language, record: &OwnRecord) -> String {
    let mut all = RecordSum::default();
    for OpponentRecord { sum, .. } in &record.opponents {
        all.games += sum.games;
        all.wins += sum.wins;
        all.draws += sum.draws;
    }
    let rate = lang.fill("author.win_rate_of_all", &[("percent", win_rate(lang, &all))]);
    format!("{rate} {}", lang.count("author.games_looked", record.games as u64))
}

/// A duel of the bot's.
struct DuelLink {
    id: PairId,
    opponent: String,
    /// When its last game ended, or whose turn is before.
    day: String,
}

/// What the bot was worth until its rating began anew, or is since.
struct EraRow {
    /// The day, or the word for the beginning.
    since: String,
    version: Option<String>,
    reason: Option<String>,
    /// Board, rating and games, for each board.
    ratings: Vec<(String, String, u64)>,
}

/// The games against one opponent.
struct MetRow {
    opponent: String,
    sum: SumShown,
}

/// One version of the table.
struct AuthorVersionRow {
    version: String,
    /// The value of `version` that chooses its games, if it played any of the last ones.
    games: Option<String>,
    sum: SumShown,
    first_seen: String,
    last_seen: String,
    /// Key of the word, and the class of its colour.
    verdict: Option<(&'static str, &'static str)>,
}

/// The report of the newest version that was tested.
struct ReportShown {
    version: String,
    verdict: (&'static str, &'static str),
    latency: String,
    report: TestReport,
}

struct BotFaultRow {
    kind: &'static str,
    note: String,
    game: Option<GameId>,
    at: String,
}

/// What the bot threw away in some of its games.
struct MistakesShown {
    rows: Vec<MistakeRow>,
    /// In how many games was looked.
    games: u64,
    /// The query for the games before these.
    earlier: Option<String>,
    /// Nothing could be looked at now.
    refused: bool,
}

struct MistakeRow {
    kind: &'static str,
    game: GameId,
    opponent: String,
    /// Where the position is analysed.
    analysis: String,
    /// What was played, and what would have been better.
    said: String,
    /// What the bot thought of it beside the truth.
    thought: Option<String>,
    times: u32,
}

struct OwnTokenRow {
    id: TokenId,
    since: String,
}

#[derive(Template)]
#[template(path = "bot.html")]
struct BotPage {
    frame: LayoutFrame,
    name: String,
    bot: OwnBot,
    starts: Vec<KitStart>,
    /// Builds of this program that the site gives away.
    programs: Vec<ServedProgram>,
    versions: Vec<AuthorVersionRow>,
    report: Option<ReportShown>,
    faults: Vec<BotFaultRow>,
    recent: OwnGames,
    /// How long its moves took in those.
    recent_latency: String,
    /// Which of its games are shown, a value of [`SHOWN`].
    shown: &'static str,
    eras: Vec<EraRow>,
    /// If they were asked for.
    mistakes: Option<MistakesShown>,
    met: Vec<MetRow>,
    /// Its share of the points in all of these, and over how many games.
    win_rate: String,
    /// How its rating went, with its versions.
    curve: Option<RatingHistory>,
    /// Whom it can be asked to play: bots of the house, and others of its owner's.
    rivals: Vec<String>,
    /// Its last duels, the newest first.
    duels: Vec<DuelLink>,
    /// The version whose games alone are shown.
    of_version: Option<String>,
    tokens: Vec<OwnTokenRow>,
    /// Why the ladder leaves it out, in words.
    trouble: Option<String>,
}

impl BotPage {
    /// Key of the word for a check, and the class of its colour.
    #[expect(
        clippy::unused_self,
        clippy::trivially_copy_pass_by_ref,
        reason = "templates call methods, by reference"
    )]
    fn verdict(&self, verdict: &TestVerdict) -> (&'static str, &'static str) {
        match verdict {
            TestVerdict::Passed => ("author.passed", "won"),
            TestVerdict::Failed => ("author.failed", "lost"),
            TestVerdict::Skipped => ("author.skipped", "soft"),
        }
    }

    /// Key of the word for how a game ended, and the class of its colour.
    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn outcome(&self, game: &OwnGameView) -> (&'static str, &'static str) {
        match game.outcome {
            GameOutcome::Won => ("author.won", "won"),
            GameOutcome::Drawn => ("author.drawn", "soft"),
            GameOutcome::Lost => ("author.lost", "lost"),
            GameOutcome::Void => ("author.void", "soft"),
        }
    }

    /// Whether games are chosen in this way.
    fn is_shown(&self, way: &str) -> bool {
        self.shown == way
    }

    /// The ways to choose games: value of `show`, key of the words.
    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn ways(&self) -> [(&'static str, &'static str); 4] {
        [
            ("all", "author.show_all"),
            ("lost", "author.show_lost"),
            ("faults", "author.show_faults"),
            ("slow", "author.show_slow"),
        ]
    }
}

pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    headers: HeaderMap,
    Paying(payer): Paying,
    parameters: Result<QueryParameters, ApiError>,
    Path(name): Path<String>,
) -> Result<Response, PageError> {
    let Some(bot) = bot_named(&state, &name).await? else { return Err(PageError::not_found(visitor)) };
    let is_owner = visitor.signed_in().is_some_and(|viewer| bot.owner.as_ref() == Some(&viewer.identity.id));
    if !is_owner {
        // Whoever else follows the link finds what everybody may see.
        return Ok(Redirect::to(&format!("/player/{}", bot.name)).into_response());
    }
    let lang = visitor.language();
    let chosen = ChosenGames::read(parameters.ok());
    let mistakes = mistakes_shown(&state, &visitor, payer, &bot, chosen.mistakes).await?;
    let recent = own_games(&state, &bot, &chosen.filter, GamesWanted::last(GAMES_LOOKED_AT)).await?;
    let record = own_record(&state, &bot, RECORD_GAMES).await?;
    let own = own_bot(&state, &bot).await?;
    let page = BotPage {
        frame: visitor.frame(Tab::Bots, bot.name.to_string()),
        name: bot.name.to_string(),
        starts: starts(&state, &headers),
        programs: programs::listed(&state).await,
        versions: version_rows(lang, &state, &bot, &record).await?,
        met: met_rows(lang, &record),
        win_rate: win_rate_of_all(lang, &record),
        eras: eras_of(&state, &bot).await?.into_iter().map(|era| era_row(lang, era)).collect(),
        curve: curve(lang, &record),
        of_version: chosen.filter.version,
        rivals: rivals(&state, &bot).await?,
        duels: duel_links(lang, &state, &bot).await?,
        report: report_shown(lang, &own),
        faults: fault_rows(lang, &state, &bot).await?,
        recent_latency: latency_words(lang, recent.latency_ms),
        recent,
        shown: chosen.shown,
        mistakes,
        tokens: token_rows(lang, &state, &bot).await?,
        trouble: own.trouble.as_ref().map(|trouble| trouble_words(lang, trouble)),
        bot: own,
    };
    Ok(Html(page.render()?).into_response())
}

/// Which games the address asks for.
struct ChosenGames {
    /// The value of `show`.
    shown: &'static str,
    filter: GameFilter,
    /// Where to look for mistakes, if that is asked for.
    mistakes: Option<GamesWanted>,
}

impl ChosenGames {
    /// What makes no sense is as good as left out: it is a page.
    fn read(query: Option<QueryParameters>) -> Self {
        let named = |name: &str| query.as_ref()?.optional::<String>(name).ok().flatten();
        let (show, version) = (named("show"), named("version"));
        let is_wanted = |(name, _): &&(&str, GameFilter)| show.as_deref() == Some(*name);
        let (shown, filter) = SHOWN.iter().find(is_wanted).unwrap_or(&SHOWN[0]);
        let filter = GameFilter { version, ..filter.clone() };
        let asks_for_mistakes = named("games").is_some();
        let mistakes = query.filter(|_| asks_for_mistakes).and_then(|query| GamesWanted::read(&query).ok());
        Self { shown, filter, mistakes }
    }
}

async fn bot_named(state: &AppState, name: &str) -> Result<Option<StoredPlayer>, StoreError> {
    let Ok(name) = name.parse::<PlayerName>() else { return Ok(None) };
    let player = state.store.player_by_name(&name).await?;
    Ok(player.filter(|player| player.kind == PlayerKind::Bot))
}

/// The lines for each kit, with the address by which this page was asked for.
fn starts(state: &AppState, headers: &HeaderMap) -> Vec<KitStart> {
    let base = match (&state.site.public_url, host(headers)) {
        (Some(_), _) => state.site.url(""),
        (None, host) => format!("{}://{}", state.site.scheme(), host.unwrap_or("127.0.0.1:4444")),
    };
    let start = |kit: &'static str, lines: String| KitStart {
        kit,
        id: kit.chars().filter(char::is_ascii_alphanumeric).collect(),
        lines,
    };
    let reaches = |kit: &&Kit| kit.encryption == Encryption::Tls || !base.starts_with("https:");
    let kits = kits::ALL.iter().filter(reaches);
    let kits = kits.map(|kit| start(kit.title, kits::start_lines(kit, &base, TOKEN)));
    kits.chain([start(kits::BRIDGE_TITLE, kits::bridge_lines(&base, TOKEN))]).collect()
}

async fn version_rows(
    lang: Language,
    state: &AppState,
    bot: &StoredPlayer,
    record: &OwnRecord,
) -> Result<Vec<AuthorVersionRow>, StoreError> {
    let versions = state.store.bot_versions(&bot.id).await?;
    let row = |known: crate::storage::bot_versions::BotVersion| {
        let verdict = match (known.passed_at, known.tested) {
            (Some(_), _) => Some(("author.passed", "won")),
            (None, Some(_)) => Some(("author.failed", "lost")),
            (None, None) => None,
        };
        let version = Some(known.version.clone()).filter(|version| !version.is_empty());
        let played = record.versions.iter().find(|played| played.version == version);
        AuthorVersionRow {
            games: version.filter(|_| played.is_some()),
            sum: played.map_or_else(SumShown::default, |played| SumShown::new(lang, &played.sum)),
            version: named(lang, &known.version),
            first_seen: words::day(lang, known.first_seen),
            last_seen: words::day(lang, known.last_seen),
            verdict,
        }
    };
    Ok(versions.into_iter().map(row).collect())
}

/// Bots of the house and the other ones of the same owner's.
async fn rivals(state: &AppState, bot: &StoredPlayer) -> Result<Vec<String>, StoreError> {
    let house =
        state.arena.open_bots().into_iter().filter(|other| other.house).map(|other| other.player.name);
    let family = match &bot.owner {
        Some(owner) => state.store.bots_of(owner).await?,
        None => Vec::new(),
    };
    let family = family.into_iter().filter(|other| other.id != bot.id).map(|other| other.name);
    Ok(house.chain(family).map(|name| name.to_string()).collect())
}

async fn duel_links(
    lang: Language,
    state: &AppState,
    bot: &StoredPlayer,
) -> Result<Vec<DuelLink>, StoreError> {
    let mut names = Names::default();
    let mut links = Vec::new();
    for id in state.arena.waiting_duels(&bot.id) {
        let Some(Unbegun::Waiting(duel, place)) = state.arena.unbegun_duel(&id) else { continue };
        let opponent = duel.offer.players.second.name.to_string();
        links.push(DuelLink { id, opponent, day: lang.fill("duel.queued", &[("n", place)]) });
    }
    for found in duels_of(state, bot).await?.into_iter().take(DUELS_SHOWN) {
        let opponent =
            names.of(state, &found.opponent).await?.map_or_else(String::new, |name| name.to_string());
        links.push(DuelLink { id: found.id, opponent, day: words::day(lang, found.at) });
    }
    Ok(links)
}

fn era_row(lang: Language, era: RatingEra) -> EraRow {
    let RatingEra { since, version, reason, ratings } = era;
    let rating = |rating: &EraRating| {
        (rating.variant.0.to_string(), format!("{} ± {}", rating.elo, rating.pm95), rating.games)
    };
    EraRow {
        since: since.map_or_else(|| lang.text("author.era_first").to_owned(), |at| minute_in(&at)),
        version,
        reason,
        ratings: ratings.iter().map(rating).collect(),
    }
}

/// The opponents with the most games.
fn met_rows(lang: Language, record: &OwnRecord) -> Vec<MetRow> {
    let rows = record.opponents.iter().filter_map(|met| {
        let opponent = met.opponent.as_ref()?.to_string();
        Some(MetRow { opponent, sum: SumShown::new(lang, &met.sum) })
    });
    rows.take(OPPONENTS_SHOWN).collect()
}

/// The rating over the games of the record, marked where another version begins. The scale is that of the newest game.
fn curve(lang: Language, record: &OwnRecord) -> Option<RatingHistory> {
    let (points, versions): (Vec<_>, Vec<_>) = record.history.iter().cloned().unzip();
    let begins = |place: &usize| *place == 0 || versions[*place] != versions[*place - 1];
    let places = (0..versions.len()).rev().filter(begins).take(MARKS_MAX);
    let marks: Vec<(usize, String)> =
        places.filter_map(|place| Some((place, versions[place].clone()?))).collect();
    RatingHistory::marked(lang, &points, record.elo?, &marks)
}

fn named(lang: Language, version: &str) -> String {
    if version.is_empty() { lang.text("author.no_version").to_owned() } else { version.to_owned() }
}

/// The report of the version that is connected, else of the one that was seen last.
fn report_shown(lang: Language, own: &OwnBot) -> Option<ReportShown> {
    let here = own.version.as_ref();
    let known = own.versions.iter().find(|known| here.is_none_or(|version| *version == known.version))?;
    let report = known.report.clone()?;
    Some(ReportShown {
        version: named(lang, &known.version),
        verdict: if report.passed { ("author.passed", "won") } else { ("author.failed", "lost") },
        latency: latency_words(lang, report.latency_ms),
        report,
    })
}

fn latency_words(lang: Language, latency: TestLatency) -> String {
    let ms = |value: f64| format!("{value:.0}");
    let values: [(&str, &dyn Display); 4] = [
        ("count", &latency.count),
        ("p50", &ms(latency.p50)),
        ("p99", &ms(latency.p99)),
        ("max", &ms(latency.max)),
    ];
    lang.fill("author.latency", &values)
}

/// Why the ladder leaves a bot out, and until when.
fn trouble_words(lang: Language, trouble: &TroubleView) -> String {
    match &trouble.until {
        Some(until) => lang.fill("ladder.paused_until", &[("until", minute_in(until))]),
        None if trouble.probing => lang.text("ladder.probing").to_owned(),
        None => lang.text("ladder.paused").to_owned(),
    }
}

/// Day and minute of a time in RFC 3339: `2026-01-31 18:54`.
fn minute_in(time: &str) -> String {
    time.chars()
        .take("2026-01-31T18:54".len())
        .map(|letter| if letter == 'T' { ' ' } else { letter })
        .collect()
}

async fn fault_rows(
    lang: Language,
    state: &AppState,
    bot: &StoredPlayer,
) -> Result<Vec<BotFaultRow>, StoreError> {
    let faults = state.store.bot_faults(&bot.id, FAULTS_SHOWN).await?;
    Ok(faults.into_iter().map(|fault| fault_row(lang, fault)).collect())
}

fn fault_row(lang: Language, fault: BotFault) -> BotFaultRow {
    let key = match fault.kind {
        FaultKind::IllegalMove => "author.illegal_move",
        FaultKind::Illegal => "author.illegal",
        FaultKind::Time => "author.time",
        FaultKind::Left => "author.left",
        FaultKind::Disconnected => "author.disconnected",
    };
    let (at, minute) = (words::day(lang, fault.at), words::minute(fault.at));
    BotFaultRow { kind: key, note: fault.note, game: fault.game, at: format!("{at}, {minute}") }
}

async fn mistakes_shown(
    state: &AppState,
    visitor: &Visitor,
    payer: Payer,
    bot: &StoredPlayer,
    wanted: Option<GamesWanted>,
) -> Result<Option<MistakesShown>, PageError> {
    let Some(wanted) = wanted else { return Ok(None) };
    let lang = visitor.language();
    match mistakes_of(state, visitor.signed_in(), payer, bot, wanted).await {
        Ok(found) => Ok(Some(MistakesShown {
            rows: found.items.into_iter().map(|mistake| mistake_row(lang, mistake)).collect(),
            games: found.games as u64,
            earlier: found.cursor.map(|cursor| format!("?games={GAMES_SHOWN}&cursor={cursor}#mistakes")),
            refused: false,
        })),
        Err(error) if matches!(error.code, ApiCode::Busy | ApiCode::RateLimited) => {
            Ok(Some(MistakesShown { rows: Vec::new(), games: 0, earlier: None, refused: true }))
        }
        Err(error) => Err(PageError::Read(error.message)),
    }
}

fn mistake_row(lang: Language, mistake: MistakeView) -> MistakeRow {
    let columns: Vec<String> = mistake.best.iter().map(ToString::to_string).collect();
    let values: [(&str, &dyn Display); 2] = [("n", &mistake.ply), ("column", &mistake.chosen)];
    let played = lang.fill("review.was_played", &values);
    let better = lang.fill("review.better", &[("columns", columns.join(", "))]);
    MistakeRow {
        kind: mistake.key(),
        opponent: mistake.opponent.as_ref().map_or_else(String::new, ToString::to_string),
        analysis: mistake.analysis(),
        said: format!("{played} {better}"),
        thought: thought_beside_truth(lang, &mistake),
        times: mistake.times,
        game: mistake.game,
    }
}

/// What the bot said to its move, and how the game would have ended.
fn thought_beside_truth(lang: Language, mistake: &MistakeView) -> Option<String> {
    let score = mistake.info.as_ref()?.score?;
    let game = Game::from_moves(mistake.variant.0, &mistake.moves).ok()?;
    let truth = how_it_ends(lang, &game, Score::new(mistake.after));
    let values: [(&str, &dyn Display); 2] = [("score", &format!("{score:+}")), ("truth", &truth)];
    Some(lang.fill("author.thought_truth", &values))
}

async fn token_rows(
    lang: Language,
    state: &AppState,
    bot: &StoredPlayer,
) -> Result<Vec<OwnTokenRow>, StoreError> {
    let tokens = state.accounts.bot_tokens(&bot.id).await?;
    Ok(tokens.into_iter().map(|token| token_row(lang, token)).collect())
}

fn token_row(lang: Language, token: StoredToken) -> OwnTokenRow {
    let since = lang.fill("author.token_since", &[("day", words::day(lang, token.created_at))]);
    let ends = token.expires_at.map(|end| {
        let minute = format!("{}, {}", words::day(lang, end), words::minute(end));
        lang.fill("author.token_until", &[("until", minute)])
    });
    let scope = match token.scope {
        TokenScope::Manage => None,
        TokenScope::Play => Some(lang.text("author.scope_play").to_owned()),
        TokenScope::Read => Some(lang.text("author.scope_read").to_owned()),
    };
    let since = [Some(since), ends, scope].into_iter().flatten().collect::<Vec<_>>().join(", ");
    OwnTokenRow { since, id: token.id }
}

/// What a visitor's own bots thought in a game.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/thoughts.html")]
pub(super) struct Thoughts {
    lang: Language,
    /// The last move first.
    rows: Vec<ThoughtRow>,
}

impl HtmlSafe for Thoughts {}

/// One move.
#[derive(Clone, Debug)]
struct ThoughtRow {
    title: String,
    spent_ms: u64,
    /// Names as in the protocol, and values.
    said: Vec<(&'static str, String)>,
}

impl Thoughts {
    /// `None` for visitors none of whose bots plays in the game.
    pub(super) async fn of(
        state: &AppState,
        visitor: &Visitor,
        game: &StoredGame,
    ) -> Result<Option<Self>, StoreError> {
        let Some(viewer) = visitor.signed_in() else { return Ok(None) };
        let lang = visitor.language();
        let thoughts = thoughts_for(state, &viewer.identity.id, game).await?;
        let rows = |thoughts: Vec<ThoughtView>| {
            thoughts.into_iter().rev().map(|thought| ThoughtRow::new(lang, thought)).collect()
        };
        Ok(thoughts.map(|thoughts| Self { lang, rows: rows(thoughts) }))
    }
}

impl ThoughtRow {
    fn new(lang: Language, thought: ThoughtView) -> Self {
        let values: [(&str, &dyn Display); 2] = [("ply", &thought.ply), ("column", &thought.column)];
        let info = thought.info.unwrap_or_default();
        let said = [
            ("score", info.score.map(|score| score.to_string())),
            ("depth", info.depth.map(|depth| depth.to_string())),
            ("nodes", info.nodes.map(|nodes| nodes.to_string())),
            ("pv", info.pv),
            ("note", info.note),
        ];
        Self {
            title: lang.fill("author.thought_move", &values),
            spent_ms: thought.spent_ms,
            said: said.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        }
    }
}
