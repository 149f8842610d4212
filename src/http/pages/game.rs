//! One game: to play, to watch, or to look at again.

use std::fmt::Display;
use std::time::Instant;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::{Path, State};
use axum::response::Html;
use fourfold_engine::{BySide, Game, Variant};

use super::analysis;
use super::author::Thoughts;
use super::changed_moves::LessonsPanel;
use super::characters::{Cast, Character};
use super::drawing::{BoardDrawing, DiscIcon, Drawing};
use super::error::PageError;
use super::friends::follower;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::parts::{Icon, PlayerTag};
use super::pattern::{PatternBoard, PatternCells};
use super::{Page, words};
use crate::accounts::identity_of;
use crate::http::api::learning::{MoveReasons, WhyReason, reasons_of};
use crate::http::avatar;
use crate::http::opening_names::OpeningLine;
use crate::http::site::Site;
use crate::http::state::{AppState, OpenBot};
use crate::http::texts::Language;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::play::correspondence;
use crate::play::room::state::RoomState;
use crate::play::room::view::SeatedPlayer;
use crate::play::series;
use crate::protocol::server::{GameEnd, GameStatus, Snapshot};

use crate::protocol::terms::{Sides, WireSide};
use crate::storage::record::{StoredGame, UnratedReason};
use crate::storage::{StoreError, StoredPlayer};
use crate::study::learning::lesson_history::lessons_of;

/// A player beside the board.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/seat.html")]
struct SeatBar {
    place: &'static str,
    side: &'static str,
    disc: DiscIcon,
    /// Who plays, where it is one of the eight.
    character: Option<Character>,
    /// Where the picture of anybody else is who has one.
    picture: Option<String>,
    player: PlayerTag,
    clock: String,
    is_to_move: bool,
    /// What the game did to the rating.
    delta: Option<i32>,
}

impl HtmlSafe for SeatBar {}

/// One move of the list.
#[derive(Clone, Debug)]
struct MoveRow {
    ply: usize,
    disc: DiscIcon,
    label: String,
    column: char,
    is_opening: bool,
}

impl MoveRow {
    /// The number before the first side's moves. Moves are counted one by one, as in everything that is said of them.
    fn number(&self) -> Option<usize> {
        (self.ply % 2 == 1).then_some(self.ply)
    }
}

/// A game as pages show it.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/game.html")]
pub(super) struct GameShown {
    lang: Language,
    pub(super) id: String,
    board: BoardDrawing,
    /// Stands behind the class of a game without a clock, whose face is hidden.
    clock_class: &'static str,
    top: SeatBar,
    bottom: SeatBar,
    status: String,
    detail: String,
    terms: Vec<String>,
    list: Vec<MoveRow>,
    /// What the modules start from.
    snapshot: String,
    end: Option<String>,
    /// Whether watchers hear what the position is worth.
    tells_values: bool,
    /// Where a finished game is analysed.
    analysis: Option<String>,
    /// Of whom the modules get names and faces, where the page does not bring them itself.
    cast: Option<Cast>,
    /// Whether the better of a few games wins, of which the modules say more at the end.
    is_of_series: bool,
    /// Where a study is made of it, on a page of its own.
    study: Option<String>,
    /// What the opening is called, on a page of its own.
    opening: Option<OpeningLine>,
    /// Whether it is played for fun against a bot of the house, which lets people think again.
    is_friendly: bool,
}

impl HtmlSafe for GameShown {}

impl GameShown {
    /// From the wire's forms, of which the modules get a copy.
    pub(super) fn new(
        lang: Language,
        site: &Site,
        snapshot: &Snapshot,
        end: Option<&GameEnd>,
        cast: &Cast,
    ) -> Self {
        let bottom = snapshot.you.unwrap_or(WireSide::First);
        let top = if bottom == WireSide::First { WireSide::Second } else { WireSide::First };
        let (status, detail) = status(lang, snapshot, &cast.names(&snapshot.players));
        Self {
            lang,
            id: snapshot.game.to_string(),
            board: board(lang, snapshot),
            clock_class: words::clock_class(snapshot.time),
            top: seat(lang, snapshot, end, cast, (top, "top")),
            bottom: seat(lang, snapshot, end, cast, (bottom, "bottom")),
            status,
            detail,
            terms: terms(lang, snapshot),
            list: move_rows(lang, snapshot),
            snapshot: serde_json::to_string(snapshot).expect("message types have string keys only"),
            end: end.map(|end| serde_json::to_string(end).expect("message types have string keys only")),
            tells_values: site.tells_values && is_told_the_value(snapshot),
            analysis: (snapshot.status == GameStatus::Over)
                .then(|| analysis::address(snapshot.variant.0, &snapshot.moves)),
            cast: None,
            is_of_series: snapshot.series.is_some(),
            study: None,
            opening: None,
            is_friendly: false,
        }
    }

    /// On a page of its own: with what the modules need, and what friends of the house may do.
    fn alone(self, snapshot: &Snapshot, bots: &[OpenBot], cast: Cast) -> Self {
        let players = [&snapshot.players.first.id, &snapshot.players.second.id];
        let of_house = bots.iter().any(|bot| bot.house && players.contains(&&bot.player.id));
        let game = Game::from_moves(snapshot.variant.0, &snapshot.moves).ok();
        let opening = game.filter(|game| game.variant() == Variant::STANDARD);
        Self {
            is_friendly: of_house && !snapshot.rated,
            cast: Some(cast),
            study: Some(format!("/study/new?variant={}&moves={}", snapshot.variant.0, snapshot.moves)),
            opening: opening.map(|game| OpeningLine::new(self.lang, &game)),
            ..self
        }
    }

    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn icon(&self, name: &'static str) -> Icon {
        Icon::new(name)
    }

    fn plies(&self) -> usize {
        self.list.len()
    }
}

/// Whether whoever looks may know more than the players, as the room decides it.
fn is_told_the_value(snapshot: &Snapshot) -> bool {
    let players = &snapshot.players;
    let people = [&players.first, &players.second].iter().all(|player| player.kind != PlayerKind::Bot);
    snapshot.you.is_none() && snapshot.status == GameStatus::Live && !(snapshot.rated && people)
}

fn board(lang: Language, snapshot: &Snapshot) -> BoardDrawing {
    let drawing = Drawing::new(snapshot.variant.0, &snapshot.moves);
    let is_played_here = snapshot.you.is_some() && snapshot.status == GameStatus::Live;
    if is_played_here { BoardDrawing::to_play(lang, drawing) } else { BoardDrawing::to_show(lang, drawing) }
}

fn of<T>(sides: &Sides<T>, side: WireSide) -> &T {
    match side {
        WireSide::First => &sides.first,
        WireSide::Second => &sides.second,
    }
}

fn seat(
    lang: Language,
    snapshot: &Snapshot,
    end: Option<&GameEnd>,
    cast: &Cast,
    (side, place): (WireSide, &'static str),
) -> SeatBar {
    let change = end.and_then(|end| end.rating.as_ref()).map(|rating| of(rating, side));
    let player = of(&snapshot.players, side);
    let character = cast.of(&player.id).cloned();
    SeatBar {
        place,
        side: words::key(side),
        disc: DiscIcon::new(side),
        player: PlayerTag::new(lang, player).called(character.as_ref().map(|character| character.name)),
        character,
        picture: avatar::address(player),
        clock: words::clock_face(lang, *of(&snapshot.clock, side)),
        is_to_move: snapshot.to_move == Some(side),
        delta: change.map(|change| change.after - change.before),
    }
}

fn status(lang: Language, snapshot: &Snapshot, names: &[String; 2]) -> (String, String) {
    if let (Some(result), Some(reason)) = (snapshot.result, snapshot.reason) {
        let mut detail = format!("{}.", words::reason(lang, reason, snapshot.variant.0.connect()));
        if let Some(because) = snapshot.unrated_because.as_deref().filter(|_| !snapshot.rated) {
            detail = format!("{detail} {}", words::unrated(lang, because));
        }
        return (words::headline(lang, result, snapshot.you, names), detail);
    }
    let side = snapshot.to_move.unwrap_or(WireSide::First);
    let [first, second] = names;
    let name = if side == WireSide::First { first } else { second };
    (
        lang.fill("game.to_move", &[("name", name)]),
        lang.fill("game.next", &[("color", words::color(lang, side))]),
    )
}

fn terms(lang: Language, snapshot: &Snapshot) -> Vec<String> {
    let variant = snapshot.variant.0;
    let mut terms = vec![words::time_control(lang, snapshot.time)];
    // One by correspondence moves a rating of its own.
    let by_correspondence = Some(UnratedReason::Correspondence.as_str());
    let because = snapshot.unrated_because.as_deref();
    let counts = snapshot.rated || because == by_correspondence;
    let is_private = because == Some(UnratedReason::Private.as_str());
    terms.push(if is_private { lang.text("invite.private") } else { words::kind(lang, counts) }.to_owned());
    terms.push(words::board(lang, variant));
    if let Some(series) = &snapshot.series {
        terms.push(lang.fill("challenge.best_of", &[("n", series.of)]));
        terms.push(lang.fill("game.leg", &[("n", series.leg), ("all", series.of)]));
        let Sides { first, second } = &snapshot.players;
        let score = words::standing(series);
        terms.push(format!("{} {score} {}", first.name.spoken(), second.name.spoken()));
    } else if let Some(pair) = snapshot.pair.as_ref().filter(|pair| pair.of > 1) {
        terms.push(lang.fill("game.leg", &[("n", pair.leg), ("all", pair.of)]));
    }
    terms
}

fn move_rows(lang: Language, snapshot: &Snapshot) -> Vec<MoveRow> {
    let opening = snapshot.opening.moves.len();
    let row = |(index, column)| {
        let side = if index % 2 == 0 { WireSide::First } else { WireSide::Second };
        MoveRow {
            ply: index + 1,
            disc: DiscIcon::new(side),
            label: lang.fill(
                "game.move_label",
                &[
                    ("ply", &(index + 1) as &dyn Display),
                    ("color", &words::color(lang, side)),
                    ("column", &column),
                ],
            ),
            column,
            is_opening: index < opening,
        }
    };
    snapshot.moves.chars().enumerate().map(row).collect()
}

#[derive(Template)]
#[template(path = "game.html")]
struct GamePage {
    frame: LayoutFrame,
    shown: GameShown,
    /// Of games that a learner plays.
    why: Option<WhyPanel>,
    /// Of games from which bots learnt.
    taught: Option<LessonsPanel>,
    /// Whether more bots may learn from it, so that the page looks for that.
    is_taught_later: bool,
    /// Of games that a bot of the visitor's plays.
    thoughts: Option<Thoughts>,
    /// Of a game by correspondence that the visitor plays and that goes on.
    conditional: Option<ConditionalPanel>,
    /// Those who play and whom whoever looks may report, with spaces between the names.
    reportable: String,
    /// The opponent, whom the visitor may block and does not.
    blockable: Option<PlayerName>,
}

/// What the visitor answers if the opponent plays so; the page fills it in.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/conditional.html")]
struct ConditionalPanel {
    lang: Language,
    game: GameId,
    /// As lines of moves have them, and as people call them.
    columns: Vec<(char, u8)>,
}

impl HtmlSafe for ConditionalPanel {}

impl ConditionalPanel {
    fn of(lang: Language, game: &Snapshot) -> Option<Self> {
        game.you?;
        let kinds = BySide { first: game.players.first.kind, second: game.players.second.kind };
        let goes_on = game.status == GameStatus::Live && correspondence::is_played(game.time, kinds);
        let columns = game.variant.0.columns().map(|column| (column.digit(), column.number()));
        goes_on.then(|| Self { lang, game: game.game.clone(), columns: columns.collect() })
    }
}

/// What a learner said about its moves, the last move first.
#[derive(Clone, Debug, Template)]
#[template(path = "parts/why.html")]
struct WhyPanel {
    lang: Language,
    cells: PatternCells,
    rows: Vec<WhyRow>,
}

impl HtmlSafe for WhyPanel {}

/// What it said about one of them.
#[derive(Clone, Debug)]
struct WhyRow {
    title: String,
    /// Key of what is to be said if nothing spoke, or nothing for the column that was played.
    remark: Option<&'static str>,
    reasons: Vec<WhyLine>,
}

/// A pattern that spoke.
#[derive(Clone, Debug)]
struct WhyLine {
    board: PatternBoard,
    weight: String,
    column: String,
    /// None where a learner keeps weights alone.
    counts: Option<String>,
}

impl WhyPanel {
    /// `None` unless a learner plays.
    async fn of(state: &AppState, lang: Language, game: &StoredGame) -> Result<Option<Self>, StoreError> {
        let players = &game.spec.players;
        if !state.learning.knows(&players.first) && !state.learning.knows(&players.second) {
            return Ok(None);
        }
        let moves = reasons_of(state, game).await?;
        let rows = moves.into_iter().rev().map(|said| WhyRow::new(lang, said)).collect();
        Ok(Some(Self { lang, cells: PatternCells::new(), rows }))
    }
}

impl WhyRow {
    fn new(lang: Language, said: MoveReasons) -> Self {
        let title = [("ply", said.ply as u64), ("column", said.column.into())];
        let line = |reason: WhyReason| WhyLine {
            counts: (reason.seen > 0).then(|| {
                let counts = [("seen", reason.seen), ("won", reason.won), ("lost", reason.lost)];
                lang.fill("learning.counts", &counts)
            }),
            board: PatternBoard::named(lang, &reason.pattern),
            weight: words::signed(reason.weight),
            column: lang.fill("learning.why_voice", &[("column", reason.column)]),
        };
        Self {
            remark: match &said.reasons[..] {
                [] => Some("learning.why_silent"),
                reasons if reasons.iter().any(|reason| reason.column == said.column) => None,
                _ => Some("learning.why_other"),
            },
            title: lang.fill("learning.why_move", &title),
            reasons: said.reasons.into_iter().map(line).collect(),
        }
    }
}

pub(super) async fn page(State(state): State<AppState>, visitor: Visitor, Path(id): Path<String>) -> Page {
    let Ok(id) = id.parse::<GameId>() else { return Err(PageError::not_found(visitor)) };
    let shown = state.shown_game(&id, |player| visitor.is(player)).await?;
    let Some(game) = shown else { return Err(PageError::not_found(visitor)) };
    let why = WhyPanel::of(&state, visitor.language(), &game).await?;
    let lessons = lessons_of(&*state.store, &state.learning.all(), &game).await?;
    let thoughts = Thoughts::of(&state, &visitor, &game).await?;
    let taught = LessonsPanel::new(visitor.language(), &game, &lessons);
    let is_private = game.spec.is_private();
    let (reportable, blockable) = opponents(&state, &visitor, &game).await?;
    let (snapshot, end) = stored_snapshot(&state, game, Some(&visitor)).await?;
    let conditional = ConditionalPanel::of(visitor.language(), &snapshot);
    let players = &snapshot.players;
    let title = format!("{} – {}", players.first.name.spoken(), players.second.name.spoken());
    let bots = state.arena.open_bots();
    let cast = Cast::new(visitor.language(), &bots).among(&snapshot.players);
    let shown = GameShown::new(visitor.language(), &state.site, &snapshot, end.as_ref(), &cast)
        .alone(&snapshot, &bots, cast);
    let described = [shown.status.as_str(), shown.detail.as_str()].join(" · ");
    let picture = format!("/api/v1/games/{}.png", shown.id);
    let page = GamePage {
        frame: visitor
            .frame(Tab::Elsewhere, title)
            .described(described)
            .pictured(picture)
            .unlisted(is_private),
        shown,
        why,
        taught,
        is_taught_later: !lessons.pending.is_empty(),
        thoughts,
        conditional,
        reportable,
        blockable,
    };
    Ok(Html(page.render()?))
}

/// Those who play and whom the visitor may report, with spaces between the names, and whom of them the visitor has
/// played and may block.
async fn opponents(
    state: &AppState,
    visitor: &Visitor,
    game: &StoredGame,
) -> Result<(String, Option<PlayerName>), StoreError> {
    let BySide { first, second } = game.spec.players.clone();
    let plays = visitor.is(&first) || visitor.is(&second);
    let mut players = state.store.players(&[first, second]).await?;
    players.retain(|player| visitor.may_report(player));
    let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
    let reportable = names.join(" ");
    let viewer = follower(visitor).filter(|_| plays);
    let blocked = viewer.map(|viewer| state.accounts.blocks().of(&viewer.id));
    let is_free =
        |player: &StoredPlayer| blocked.as_ref().is_some_and(|blocked| !blocked.contains(&player.id));
    Ok((reportable, players.into_iter().find(is_free).map(|player| player.name)))
}

/// A stored game in the wire's forms, as the visitor sees it.
///
/// # Errors
///
/// Fails if the store does, or holds what it must not.
pub(super) async fn stored_snapshot(
    state: &AppState,
    game: StoredGame,
    visitor: Option<&Visitor>,
) -> Result<(Snapshot, Option<GameEnd>), StoreError> {
    let players = BySide {
        first: seated(state, &game.spec.players.first, &game).await?,
        second: seated(state, &game.spec.players.second, &game).await?,
    };
    let is = |player: &SeatedPlayer| visitor.is_some_and(|visitor| visitor.is(&player.identity.id));
    let side = if is(&players.first) {
        Some(fourfold_engine::Side::First)
    } else {
        is(&players.second).then_some(fourfold_engine::Side::Second)
    };
    let kinds = players.as_ref().map(|player| player.identity.kind);
    let now = Instant::now();
    let before = series::before(&*state.store, &game.spec).await?;
    let room = RoomState::replayed(game, kinds, now).map_err(StoreError::Corrupt)?.with_series(before);
    Ok((room.snapshot(side, &players, 0, now), room.game_end(now)))
}

/// A player with the rating that it has now.
async fn seated(state: &AppState, id: &PlayerId, game: &StoredGame) -> Result<SeatedPlayer, StoreError> {
    let missing =
        || StoreError::Corrupt(format!("game {} has a player who is not there: {id}", game.spec.id));
    let player = state.store.player(id).await?.ok_or_else(missing)?;
    let identity = identity_of(&player);
    let ratings = state.leaderboard.shown();
    let rating = ratings.of(state.store.as_ref(), &identity, game.spec.variant).await?;
    Ok(SeatedPlayer { identity, rating, version: player.profile.version })
}
