//! One player: how strong, with which games, and how it plays.

mod activity;
mod games;
pub(super) mod history;
mod leagues;
mod play;
mod seasons;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::Html;
use fourfold_engine::{Variant, WinDrawLoss};
use serde::Deserialize;

use self::activity::ActivityShown;
use self::games::GamesSection;
use self::history::RatingHistory;
use self::leagues::LeaguesShown;
use self::play::PlaySection;
use self::seasons::SeasonPlaceShown;
use super::bots::trouble;
use super::calendar::Calendar;
use super::characters::{Cast, Character, PlayDialog};
use super::error::PageError;
use super::friends::follower;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::live::GameTile;
use super::parts::{Badge, badge};
use super::puzzles::calendar;
use super::{Page, words};
use crate::accounts::identity_of;
use crate::analysis::values::Asker;
use crate::http::api::leaderboard::RatingView;
use crate::http::api::players::activity::activity_of;
use crate::http::api::players::skill::{ExploitationView, GamesToJudge, StageView, Stages};
use crate::http::api::players::{VariantRating, correspondence_of, ratings_of};
use crate::http::avatar::Avatar;
use crate::http::error::{ApiCode, ApiError};
use crate::http::leagues::{Achievements, OPPONENTS_MAX};
use crate::http::payer::Paying;
use crate::http::request::QueryParameters;
use crate::http::state::{AppState, OpenBot};
use crate::http::texts::{Language, Linked};
use crate::model::ids::{GONE_PREFIX, PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;

use crate::model::rating::elo::ShownRating;
use crate::protocol::server::LiveGame;
use crate::protocol::terms::{WirePlayer, WireVariant};
use crate::storage::StoreError;
use crate::storage::follows::TiedPlayer;
use crate::storage::games::SeenBy;
use crate::storage::record::StoredPlayer;
use crate::system::config::PROGRAM_STYLE;
use crate::system::shares::Payer;

/// Points of the rating's curve: more would not be seen.
const HISTORY_MAX: u32 = 200;

/// What somebody makes of errors is not shown as long as it is known less exactly: it might be half of it, or twice.
const MARGIN_SHOWN_MAX: f64 = 0.5;

/// A stored player as the wire shows it.
pub(super) fn wire(player: &StoredPlayer, rating: Option<ShownRating>) -> WirePlayer {
    WirePlayer::new(&identity_of(player), rating, player.profile.version.clone())
}

/// The query of the page's address.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct From {
    /// The board that curve, crosstable and habits are of.
    variant: Option<String>,
    /// How many of the last rated games to judge by stages.
    stages: Option<String>,
}

/// How the rating stands.
struct PlayerStanding {
    /// Key of the words for what it is of.
    word: &'static str,
    variant: String,
    rating: RatingView,
    record: String,
    /// Address of the page about this board; none for the one on show.
    url: Option<String>,
}

/// How well somebody plays, by the exact solver.
struct SkillRates {
    good: String,
    decision: Option<String>,
    optimal: String,
    /// What a move gave away on average, in stones.
    mean_loss: Option<String>,
    /// Games and moves that were judged.
    judged: String,
    /// What it makes of opponents that err.
    exploitation: Option<ExploitationShown>,
    /// By stages of the game, if somebody asked for them.
    stages: Option<StagesShown>,
}

/// What somebody makes of opponents that err.
struct ExploitationShown {
    /// Mistakes of the opponents for each that they make elsewhere, and how sure that is.
    ratio: String,
    traps: String,
    points: Option<String>,
    stones: Option<String>,
    /// Games that were counted.
    of: String,
}

/// How well somebody plays by stages of the game.
struct StagesShown {
    rows: Vec<StageRow>,
    /// Which games were looked at.
    of: String,
    /// The solver is busy, or the visitor's share of it is used up.
    refused: bool,
}

/// One of them.
struct StageRow {
    stones: String,
    moves: String,
    good: String,
    optimal: String,
    mean_loss: String,
}

/// A version of a learner.
struct Age {
    name: String,
    games: u64,
    is_here: bool,
}

/// The learner that the player is, or is a version of.
struct LearnerLink {
    /// Where one can watch it learn.
    learner: String,
    ages: Vec<Age>,
}

/// Whether whoever looks follows the player.
#[derive(Clone, Copy)]
struct FollowShown {
    follows: bool,
    is_friend: bool,
}

/// What whoever looks may do about the player beside playing.
struct Between {
    /// Whether they follow the player; none if they cannot.
    follow: Option<FollowShown>,
    /// Whether they block the player; none if they cannot.
    blocks: Option<bool>,
    /// What the button says by which they may report the player.
    report: Option<&'static str>,
}

impl Between {
    async fn of(state: &AppState, visitor: &Visitor, player: &StoredPlayer) -> Result<Self, StoreError> {
        let viewer = follower(visitor).filter(|viewer| viewer.id != player.id);
        let blocked = viewer.map(|viewer| state.accounts.blocks().of(&viewer.id));
        let blocks = blocked.map(|blocked| blocked.contains(&player.id));
        let may_follow = player.kind != PlayerKind::Guest && blocks != Some(true);
        let follow = match viewer.filter(|_| may_follow) {
            Some(viewer) => Some(FollowShown::of(&state.accounts.follows(&viewer.id).await?, player)),
            None => None,
        };
        let may_report = visitor.may_report(player);
        let report = may_report.then(|| visitor.language().text("report.title"));
        Ok(Self { follow, blocks: blocks.filter(|_| may_report), report })
    }
}

impl FollowShown {
    fn of(follows: &[TiedPlayer], player: &StoredPlayer) -> Self {
        let tie = follows.iter().find(|tied| tied.id == player.id);
        Self { follows: tie.is_some(), is_friend: tie.is_some_and(|tie| tie.is_mutual) }
    }
}

#[derive(Template)]
#[template(path = "player.html")]
struct PlayerPage {
    frame: LayoutFrame,
    name: String,
    badge: Option<Badge>,
    /// Bots have a face.
    avatar: Avatar,
    /// Who it is to those who choose by level.
    character: Option<Character>,
    /// Where one chooses how to play against it.
    dialog: Option<PlayDialog>,
    is_house: bool,
    /// What is said of a bot of the house beside how it plays.
    notes: Vec<&'static str>,
    is_online: bool,
    may_be_asked: bool,
    between: Between,
    owner: Option<Linked>,
    /// What a person shows.
    portrait: Portrait,
    about: String,
    version: Option<String>,
    url: Option<String>,
    since: String,
    standings: Vec<PlayerStanding>,
    /// The board that the following is of.
    variant: String,
    learnt: Option<LearnerLink>,
    skill: Option<SkillRates>,
    leagues: Option<LeaguesShown>,
    seasons: Vec<SeasonPlaceShown>,
    history: Option<RatingHistory>,
    play: PlaySection,
    live: Vec<GameTile>,
    activity: Option<ActivityShown>,
    games: GamesSection,
    /// Of the visitor's own page.
    calendar: Option<Calendar>,
}

pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    Path(name): Path<String>,
    Paying(share): Paying,
    Query(from): Query<From>,
    parameters: QueryParameters,
) -> Page {
    let Some(player) = named(&state, &name).await? else { return Err(PageError::not_found(visitor)) };
    let (lang, ratings) = (visitor.language(), ratings_of(&state, &player).await?);
    let (variant, bots) = (shown_variant(&from, &ratings), state.arena.open_bots());
    let met = state.store.crosstable(&player.id, variant, OPPONENTS_MAX).await?;
    let page = PlayerPage {
        character: Character::all(lang, &bots).into_iter().find(|rival| rival.player == player.id),
        dialog: player.house.then(|| dialog(lang, &bots, &visitor)),
        frame: visitor.frame(Tab::Elsewhere, player.name.as_str()),
        name: player.name.to_string(),
        badge: badge(player.kind),
        avatar: Avatar::of(player.kind, &player.name, player.portrait.picture),
        is_house: player.house,
        notes: notes(lang, &bots, &player.id),
        is_online: player.house || state.arena.is_online(&player.id),
        may_be_asked: may_be_asked(&state, &visitor, &player),
        between: Between::of(&state, &visitor, &player).await?,
        owner: owner(&state, lang, &player).await?,
        portrait: player.portrait.clone(),
        about: about(lang, &player),
        version: player.profile.version.clone(),
        url: super::bots::web_address(player.profile.url.as_deref()),
        since: words::day(lang, player.created_at),
        standings: standings(&state, lang, &player, &ratings, variant).await?,
        variant: variant.to_string(),
        learnt: learnt(&state, &player.id),
        skill: skill(&state, lang, &player.id, variant, stages_wanted(&from, share)).await?,
        leagues: leagues_shown(lang, variant, &Achievements::new(&player.id, &bots, &met)),
        seasons: SeasonPlaceShown::all(&state, lang, &player.id),
        history: history(&state, lang, &player.id, variant, elo_on(&ratings, variant)).await?,
        play: PlaySection::read(&state, lang, &player.id, variant, met).await?,
        activity: activity(&state, lang, &visitor, &player).await?,
        live: live_games(&state, lang, &player.id, &Cast::new(lang, &bots)),
        games: GamesSection::read(&state, lang, &player, &parameters, seen_by(&visitor)).await?,
        calendar: own_calendar(&state, &visitor, &player).await?,
    };
    Ok(Html(page.render()?))
}

/// Where one chooses how to play against a bot of the house.
fn dialog(lang: Language, bots: &[OpenBot], visitor: &Visitor) -> PlayDialog {
    PlayDialog::new(lang, Character::all(lang, bots), visitor.signed_in().is_some())
}

/// The last days of a person.
async fn activity(
    state: &AppState,
    lang: Language,
    visitor: &Visitor,
    player: &StoredPlayer,
) -> Result<Option<ActivityShown>, StoreError> {
    if player.kind != PlayerKind::Human {
        return Ok(None);
    }
    let days = activity_of(state, &player.id, seen_by(visitor)).await?;
    Ok(ActivityShown::new(lang, player, days))
}

/// The days with the daily puzzle solved, on one's own page alone.
async fn own_calendar(
    state: &AppState,
    visitor: &Visitor,
    player: &StoredPlayer,
) -> Result<Option<Calendar>, PageError> {
    if visitor.is(&player.id) { calendar(state, visitor).await } else { Ok(None) }
}

/// That a bot of the house is a program of the operator's, and why it plays no games now.
fn notes(lang: Language, bots: &[OpenBot], player: &PlayerId) -> Vec<&'static str> {
    let Some(own) = bots.iter().find(|bot| bot.house && bot.player.id == *player) else { return Vec::new() };
    let is_program = own.style.as_deref() == Some(PROGRAM_STYLE);
    let program = is_program.then(|| lang.text("player.program"));
    program.into_iter().chain(trouble(lang, own)).collect()
}

/// The player of this name, if it can be one.
pub(super) async fn named(state: &AppState, name: &str) -> Result<Option<StoredPlayer>, StoreError> {
    match name.parse::<PlayerName>() {
        Ok(name) => state.store.player_by_name(&name).await,
        Err(_) => Ok(None),
    }
}

/// Whether the visitor may ask somebody else for a game: with days for each move, if both have accounts, also whoever
/// is not here.
fn may_be_asked(state: &AppState, visitor: &Visitor, player: &StoredPlayer) -> bool {
    let is_gone = player.name.as_str().starts_with(GONE_PREFIX);
    let by_days = player.kind == PlayerKind::Human && !is_gone && visitor.signed_in().is_some();
    !visitor.is(&player.id) && (by_days || state.arena.is_online(&player.id))
}

fn about(lang: Language, player: &StoredPlayer) -> String {
    let of_house = player.house.then(|| super::bots::house_about(lang, &player.name)).flatten();
    of_house.or_else(|| player.profile.about.clone()).unwrap_or_default()
}

async fn owner(
    state: &AppState,
    lang: Language,
    player: &StoredPlayer,
) -> Result<Option<Linked>, StoreError> {
    let Some(owner) = &player.owner else { return Ok(None) };
    let link = |owner: StoredPlayer| {
        let name = owner.name.as_str();
        lang.linked_with("player.made_by", &format!("/player/{name}"), &[("name", name)])
    };
    Ok(state.store.player(owner).await?.map(link))
}

impl PlayerStanding {
    fn new(lang: Language, player: &StoredPlayer, of: &VariantRating, on_show: Variant) -> Self {
        let &VariantRating { variant: WireVariant(variant), rating } = of;
        let RatingView { games, wins, draws, losses, .. } = rating;
        let score = WinDrawLoss { wins, draws, losses };
        let url = || format!("/player/{}?variant={variant}", player.name);
        Self {
            word: "player.rating_on",
            variant: variant.to_string(),
            record: play::record(lang, games, score),
            url: (variant != on_show).then(url),
            rating,
        }
    }

    /// Ratings by correspondence, which have no pages of their own.
    fn by_correspondence(lang: Language, player: &StoredPlayer, of: &VariantRating) -> Self {
        let standing = Self::new(lang, player, of, of.variant.0);
        Self { word: "correspondence.rating_on", ..standing }
    }
}

/// Live ratings, then those by correspondence.
async fn standings(
    state: &AppState,
    lang: Language,
    player: &StoredPlayer,
    live: &[VariantRating],
    on_show: Variant,
) -> Result<Vec<PlayerStanding>, StoreError> {
    let live = live.iter().map(|of| PlayerStanding::new(lang, player, of, on_show));
    let correspondence = correspondence_of(state, player).await?;
    let correspondence = correspondence.iter().map(|of| PlayerStanding::by_correspondence(lang, player, of));
    Ok(live.chain(correspondence).collect())
}

/// A share in per cent with one digit behind the point.
pub(super) fn percent(lang: Language, share: f64) -> String {
    lang.decimal(format_args!("{:.1} %", share * 100.0))
}

/// How well the player plays, once games were judged.
async fn skill(
    state: &AppState,
    lang: Language,
    player: &PlayerId,
    variant: Variant,
    stages: Option<(GamesToJudge, Asker)>,
) -> Result<Option<SkillRates>, PageError> {
    let skills = state.store.skills_of(player).await?;
    let Some((_, sums)) = skills.into_iter().find(|(of, _)| *of == variant) else { return Ok(None) };
    let skill = sums.skill;
    let (Some(good), Some(optimal)) = (skill.good_rate(), skill.optimal_rate()) else { return Ok(None) };
    let counts = [("games", lang.number(sums.games)), ("moves", lang.number(skill.moves))];
    Ok(Some(SkillRates {
        good: percent(lang, good),
        decision: skill.accuracy().map(|share| percent(lang, share)),
        optimal: percent(lang, optimal),
        mean_loss: skill.mean_loss().map(|loss| stones(lang, loss)),
        judged: lang.fill("profile.judged", &counts),
        exploitation: ExploitationView::of(&*state.store, player, variant)
            .await?
            .filter(|view| view.margin <= MARGIN_SHOWN_MAX)
            .map(|view| ExploitationShown::new(lang, &view)),
        stages: match stages {
            Some((games, asker)) => {
                let stages = Stages::of(state, &asker, player, variant, games).await;
                Some(StagesShown::new(lang, stages)?)
            }
            None => None,
        },
    }))
}

/// Stones, as a figure.
fn stones(lang: Language, stones: f64) -> String {
    lang.decimal(format_args!("{stones:.2}"))
}

/// How many games the address asks to have judged by stages.
fn stages_wanted(from: &From, share: Payer) -> Option<(GamesToJudge, Asker)> {
    let games = from.stages.as_deref().and_then(|games| games.parse().ok())?;
    Some((games, Asker::Visitor(share)))
}

/// Leagues are of the standard board alone.
fn leagues_shown(lang: Language, variant: Variant, shown: &Achievements) -> Option<LeaguesShown> {
    if variant == Variant::STANDARD { LeaguesShown::new(lang, shown) } else { None }
}

/// How the rating on a board went, up to what it is now.
async fn history(
    state: &AppState,
    lang: Language,
    player: &PlayerId,
    variant: Variant,
    now: i32,
) -> Result<Option<RatingHistory>, PageError> {
    let history = state.store.rating_history(player, variant, None, HISTORY_MAX).await?;
    Ok(RatingHistory::new(lang, &history, now))
}

impl ExploitationShown {
    fn new(lang: Language, view: &ExploitationView) -> Self {
        let hundredths = |value: f64| lang.decimal(format_args!("{value:.2}"));
        Self {
            ratio: lang.decimal(format_args!("{:.2} ± {:.2}", view.ratio, view.margin)),
            traps: hundredths(view.traps_per_game),
            points: view.points_per_mistake.map(hundredths),
            stones: view.stones_of_win.map(|stones| lang.decimal(format_args!("{stones:.1}"))),
            of: lang.fill("profile.exploitation_of", &[("games", lang.number(view.games))]),
        }
    }
}

impl StagesShown {
    fn new(lang: Language, stages: Result<Stages, ApiError>) -> Result<Self, PageError> {
        match stages {
            Ok(stages) => Ok(Self {
                rows: stages.shown().iter().map(|stage| StageRow::new(lang, stage)).collect(),
                of: lang.fill("profile.stages_of", &[("games", lang.number(u64::from(stages.games)))]),
                refused: false,
            }),
            Err(error) if matches!(error.code, ApiCode::Busy | ApiCode::RateLimited) => {
                Ok(Self { rows: Vec::new(), of: String::new(), refused: true })
            }
            Err(error) => Err(PageError::Read(error.message)),
        }
    }
}

impl StageRow {
    fn new(lang: Language, stage: &StageView) -> Self {
        let share = |share: Option<f64>| share.map_or_else(String::new, |share| percent(lang, share));
        Self {
            stones: format!("{}–{}", stage.from, stage.to),
            moves: lang.number(stage.rates.positions),
            good: share(stage.rates.good),
            optimal: share(stage.rates.optimal),
            mean_loss: stage.rates.mean_loss.map_or_else(String::new, |loss| stones(lang, loss)),
        }
    }
}

/// The points on one board; nobody has played there who has none.
fn elo_on(ratings: &[VariantRating], variant: Variant) -> i32 {
    ratings.iter().find(|of| of.variant.0 == variant).map_or(0, |of| of.rating.elo)
}

/// The board that the address names, else the one with the most games.
fn shown_variant(from: &From, ratings: &[VariantRating]) -> Variant {
    let named = from.variant.as_deref().and_then(|text| text.parse().ok());
    let usual = || ratings.iter().max_by_key(|of| of.rating.games).map(|of| of.variant.0);
    named.or_else(usual).unwrap_or_default()
}

/// All ages of the learner that the player is, or is a version of.
fn learnt(state: &AppState, player: &PlayerId) -> Option<LearnerLink> {
    let learner = state.learning.all().into_iter().find(|learner| {
        learner.player == *player || learner.versions.iter().any(|version| version.player == *player)
    })?;
    let age = |name: &PlayerName, games: u64, id: &PlayerId| Age {
        name: name.to_string(),
        games,
        is_here: id == player,
    };
    let frozen = learner.versions.iter().map(|version| age(&version.name, version.mark, &version.player));
    let live = age(&learner.name, learner.games, &learner.player);
    Some(LearnerLink { learner: learner.name.to_string(), ages: frozen.chain([live]).collect() })
}

/// Whoever looks, for what is read.
fn seen_by(visitor: &Visitor) -> SeenBy {
    visitor.viewer().map_or(SeenBy::Everybody, |viewer| SeenBy::Player(viewer.identity.id.clone()))
}

/// The games that somebody plays now.
fn live_games(state: &AppState, lang: Language, player: &PlayerId, cast: &Cast) -> Vec<GameTile> {
    let plays = |game: &LiveGame| game.players.first.id == *player || game.players.second.id == *player;
    let games = state.arena.live_games().into_iter().filter(plays);
    games.map(|game| GameTile::new(lang, &game, cast)).collect()
}
