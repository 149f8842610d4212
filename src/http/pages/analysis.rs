//! The analysis board: any position with the value of every column and what was played there, to go on from.
//!
//! The first view is complete without script. What an address says wrong is said in words, beside the last position
//! that it names rightly.

use std::collections::HashMap;
use std::time::Duration;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse, Redirect, Response};
use fourfold_engine::board::IllegalMove;
use fourfold_engine::search::{Score, Value};
use fourfold_engine::{Column, Game, Variant};
use tokio::time::timeout;

use super::characters::Character;
use super::drawing::{BoardDrawing, DiscIcon, Drawing};
use super::error::PageError;
use super::layout::{LayoutFrame, Tab, Visitor};
use super::parts::Icon;
use super::words;
use crate::analysis::values::Asker;
use crate::http::api::positions::{ExploredMove, PositionView, Success, look, look_unsolved};
use crate::http::error::ApiCode;
use crate::http::opening_names::OpeningLine;
use crate::http::payer::Paying;
use crate::http::state::{AppState, OpenBot};
use crate::http::texts::Language;
use crate::model::ids::GameId;
use crate::model::rating::level::Level;
use crate::protocol::terms::WireSide;
use crate::system::shares::Payer;

/// How long the page waits for the solver. Nearly all positions take less; for the others the page comes without
/// values, and its module asks for them again.
const PATIENCE: Duration = Duration::from_millis(1_200);

/// Boards that the form offers, beside the one on show; an address may name any other.
const BOARDS: [&str; 8] = ["7x6", "6x5", "8x7", "9x6", "9x6x5", "5x4", "6x6", "4x4"];

/// Somebody to play on against.
struct Opponent {
    /// The name of its account.
    program: String,
    /// With the level of a character, else with the rating.
    label: String,
}

/// A board of the form.
struct FormBoard {
    value: String,
    name: String,
    is_chosen: bool,
}

/// Games of a move fewer than which are named by their number: a share of so few says nothing.
const FEW_GAMES: u64 = 10;

/// What the address says after its path: `variant`, `level`, and from the form `moves`, a move list or a link. Whatever
/// else stands there is no reason to show nothing.
type AddressFields = HashMap<String, String>;

/// A choice of whose games are counted.
struct LevelChoice {
    /// As in addresses; empty for all.
    value: String,
    label: String,
    is_chosen: bool,
}

/// A position as far as it could be read.
pub(super) struct Read {
    pub(super) game: Game,
    /// What was wrong, in words.
    problem: Option<String>,
}

/// What is known about a column.
#[derive(Clone, Debug)]
struct ColumnValue {
    /// `win`, `draw`, `loss`, `full`, or `unknown`.
    class: &'static str,
    sign: &'static str,
    /// Moves until the end.
    distance: Option<u32>,
    /// The word under it.
    word: &'static str,
    label: String,
    is_best: bool,
}

/// A line of the explorer.
#[derive(Clone, Debug)]
struct ExplorerRow {
    column: u8,
    href: String,
    value: ColumnValue,
    people: String,
    bots: String,
}

#[derive(Template)]
#[template(path = "analysis.html")]
struct AnalysisPage {
    frame: LayoutFrame,
    board: BoardDrawing,
    variant: String,
    moves: String,
    ply: u32,
    /// The whole position for the module; empty if the solver was too busy.
    position: String,
    problem: Option<String>,
    opening: OpeningLine,
    /// Whose turn it is, or who has won.
    disc: Option<DiscIcon>,
    shape: &'static str,
    headline: String,
    detail: String,
    values_label: String,
    values: Vec<ColumnValue>,
    explorer: Vec<ExplorerRow>,
    levels: Vec<LevelChoice>,
    /// The level that is chosen, or nothing.
    level: String,
    /// How one, two and more games are called, up to those that have a share, as JSON.
    few: String,
    is_counted: bool,
    previous: Option<String>,
    colors: [(&'static str, DiscIcon, &'static str, bool); 2],
    opponents: Vec<Opponent>,
    boards: Vec<FormBoard>,
}

impl AnalysisPage {
    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn icon(&self, name: &'static str) -> Icon {
        Icon::new(name)
    }
}

/// The empty board, or what the form asks for.
pub(super) async fn start(
    State(state): State<AppState>,
    visitor: Visitor,
    Paying(payer): Paying,
    Query(asked): Query<AddressFields>,
) -> Result<Response, PageError> {
    match asked.get("moves").map(|moves| moves.trim()).filter(|moves| !moves.is_empty()) {
        None => show(&state, visitor, payer, "-", &asked).await,
        Some(wanted) => match resolve(&state, wanted, variant_of(&asked)).await? {
            Some(url) => Ok(Redirect::to(&url).into_response()),
            None => Err(PageError::not_found(visitor)),
        },
    }
}

pub(super) async fn page(
    State(state): State<AppState>,
    visitor: Visitor,
    Paying(payer): Paying,
    Path(moves): Path<String>,
    Query(asked): Query<AddressFields>,
) -> Result<Response, PageError> {
    show(&state, visitor, payer, &moves, &asked).await
}

/// The level whose games the address asks for; all of them if it says anything else.
fn level_of(asked: &AddressFields) -> Option<Level> {
    asked.get("level")?.parse().ok()
}

fn variant_of(asked: &AddressFields) -> Option<&str> {
    asked.get("variant").map(String::as_str)
}

/// The short address of a position.
pub(super) async fn short(uri: Uri, Path(moves): Path<String>) -> Redirect {
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Redirect::permanent(&format!("/analysis/{}{query}", escaped(&moves)))
}

/// The address of what was typed into the form: moves, or a link to a game or a position. `None` if there is no such
/// game.
async fn resolve(state: &AppState, wanted: &str, variant: Option<&str>) -> Result<Option<String>, PageError> {
    let (path, query) = wanted.split_once('?').unwrap_or((wanted, ""));
    let named = |part: &str| path.split_once(part).map(|(_, rest)| rest.trim_end_matches('/').to_owned());
    if let Some(id) = named("/game/") {
        let Ok(id) = id.parse::<GameId>() else { return Ok(None) };
        let game = state.shown_game(&id, |_| false).await?;
        return Ok(game.map(|game| address(game.spec.variant, &game.moves())));
    }
    if let Some(moves) = named("/analysis/").or_else(|| named("/p/")) {
        let query = if query.is_empty() { String::new() } else { format!("?variant={}", variant_in(query)) };
        return Ok(Some(format!("/analysis/{}{query}", escaped(&moves))));
    }
    let moves: String = wanted.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    let query = variant.map(|variant| format!("?variant={}", escaped(variant.trim()))).unwrap_or_default();
    Ok(Some(format!("/analysis/{}{query}", escaped(&moves))))
}

fn variant_in(query: &str) -> String {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("variant="));
    escaped(value.unwrap_or_default())
}

/// What may stand in an address as it is; the rest is replaced by something that is no move either.
fn escaped(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// The address of a position.
pub(super) fn address(variant: Variant, moves: &str) -> String {
    let moves = if moves.is_empty() { "-" } else { moves };
    let query = if variant == Variant::STANDARD { String::new() } else { format!("?variant={variant}") };
    format!("/analysis/{moves}{query}")
}

/// The same with the level whose games are counted.
fn at_level(address: String, level: Option<Level>) -> String {
    let Some(level) = level else { return address };
    let sign = if address.contains('?') { '&' } else { '?' };
    format!("{address}{sign}level={level}")
}

/// Reads as many moves as follow the rules.
pub(super) fn read(lang: Language, moves: &str, variant: Option<&str>) -> Read {
    let asked = variant.map(str::trim).filter(|variant| !variant.is_empty()).unwrap_or("7x6");
    let Ok(variant) = asked.parse::<Variant>() else {
        let problem = lang.fill("analysis.bad_variant", &[("text", asked)]);
        return Read { game: Game::new(Variant::STANDARD), problem: Some(problem) };
    };
    let mut game = Game::new(variant);
    for (digit, number) in moves.chars().zip(1_u32..).filter(|_| moves != "-") {
        let n = number.to_string();
        let Some(column) = Column::from_digit(digit) else {
            let digit = digit.to_string();
            let problem = lang.fill("analysis.bad_digit", &[("n", n.as_str()), ("digit", &digit)]);
            return Read { game, problem: Some(problem) };
        };
        if let Err(reason) = game.play(column) {
            let column = column.number().to_string();
            let values = [("n", n.as_str()), ("column", &column)];
            let problem = match reason {
                IllegalMove::NoSuchColumn { .. } => lang.fill("analysis.no_column", &values),
                IllegalMove::ColumnFull { .. } => lang.fill("analysis.bad_full", &values),
                IllegalMove::GameOver => lang.fill("analysis.after_end", &values[..1]),
            };
            return Read { game, problem: Some(problem) };
        }
    }
    Read { game, problem: None }
}

async fn show(
    state: &AppState,
    visitor: Visitor,
    payer: Payer,
    moves: &str,
    asked: &AddressFields,
) -> Result<Response, PageError> {
    let lang = visitor.language();
    let level = level_of(asked);
    let Read { game, problem } = read(lang, moves, variant_of(asked));
    let (view, is_complete) = position(state, payer, &game, level).await?;
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    // Frozen versions of learners are on the learners' own pages.
    let is_shown = |bot: &OpenBot| bot.house && !state.learning.has_version(&bot.player.name);
    let bots: Vec<OpenBot> = state.arena.open_bots().into_iter().filter(is_shown).collect();
    let page = AnalysisPage {
        frame: visitor.frame(Tab::Analysis, lang.text("analysis.title")),
        board: BoardDrawing::to_play(lang, Drawing::new(game.variant(), &view.moves)),
        variant: game.variant().to_string(),
        ply: game.ply(),
        position: if is_complete { serde_json::to_string(&view).unwrap_or_default() } else { String::new() },
        problem,
        opening: OpeningLine::new(lang, &game),
        disc: view.to_move.or_else(|| winner(&view)).map(DiscIcon::new),
        shape: shape(game.variant()),
        headline: headline(lang, &game, &view, is_complete),
        detail: view.to_move.map(|side| to_move(lang, side)).unwrap_or_default(),
        values_label: view.to_move.map(|side| values_label(lang, side)).unwrap_or_default(),
        values: game.variant().columns().map(|column| column_value(lang, &game, &view, column)).collect(),
        explorer: explorer(lang, &game, &view),
        levels: level_choices(lang, level),
        level: level.map(|level| level.to_string()).unwrap_or_default(),
        few: serde_json::to_string(&few_games(lang)).unwrap_or_default(),
        is_counted: view.explored.is_some(),
        previous: previous(&game, &view),
        moves: view.moves,
        colors: [WireSide::First, WireSide::Second].map(|side| {
            let is_next = view.to_move == Some(side) || (view.to_move.is_none() && side == WireSide::First);
            (words::key(side), DiscIcon::new(side), words::color(lang, side), is_next)
        }),
        opponents: opponents(lang, &bots),
        boards: boards(lang, game.variant()),
    };
    Ok((status, Html(page.render()?)).into_response())
}

/// The characters by their levels, then the other bots of the house, the weakest first.
fn opponents(lang: Language, bots: &[OpenBot]) -> Vec<Opponent> {
    let characters = Character::all(lang, bots);
    let mut others: Vec<&OpenBot> = bots.iter().filter(|bot| bot.level.is_none()).collect();
    others.sort_by_key(|bot| bot.elo);
    let of_character = |character: Character| Opponent {
        label: format!("{} · {}", character.rank, character.name),
        program: character.program,
    };
    let of_other = |bot: &OpenBot| {
        let name = bot.player.name.as_str();
        let label = bot.elo.map_or_else(|| name.to_owned(), |elo| format!("{name} · {elo}"));
        Opponent { program: name.to_owned(), label }
    };
    characters.into_iter().map(of_character).chain(others.into_iter().map(of_other)).collect()
}

fn boards(lang: Language, shown: Variant) -> Vec<FormBoard> {
    let usual =
        BOARDS.iter().filter_map(|board| board.parse::<Variant>().ok()).filter(|board| *board != shown);
    let board = |variant: Variant| FormBoard {
        value: variant.to_string(),
        name: words::board(lang, variant),
        is_chosen: variant == shown,
    };
    std::iter::once(shown).chain(usual).map(board).collect()
}

/// The address of the position before the last move.
fn previous(game: &Game, view: &PositionView) -> Option<String> {
    let kept = view.moves.get(..view.moves.len().checked_sub(1)?)?;
    Some(at_level(address(game.variant(), kept), view.level))
}

fn level_choices(lang: Language, chosen: Option<Level>) -> Vec<LevelChoice> {
    let all = LevelChoice {
        value: String::new(),
        label: lang.text("explorer.all_levels").to_owned(),
        is_chosen: chosen.is_none(),
    };
    let of = |level: Level| LevelChoice {
        value: level.to_string(),
        label: lang.fill("explorer.level", &[("n", level)]),
        is_chosen: chosen == Some(level),
    };
    std::iter::once(all).chain(Level::all().map(of)).collect()
}

fn few_games(lang: Language) -> Vec<String> {
    (1..FEW_GAMES).map(|games| lang.count("explorer.games", games)).collect()
}

/// The position with its values, and whether they are there; without them if the solver has too much to do,
/// in all or for this visitor.
async fn position(
    state: &AppState,
    payer: Payer,
    game: &Game,
    level: Option<Level>,
) -> Result<(PositionView, bool), PageError> {
    let asker = Asker::Visitor(payer);
    match timeout(PATIENCE, look(state, &asker, game, level)).await {
        Ok(Ok(view)) => return Ok((view, true)),
        Ok(Err(error)) if !matches!(error.code, ApiCode::Busy | ApiCode::RateLimited) => {
            return Err(PageError::Read(error.message));
        }
        Ok(Err(_)) | Err(_) => {}
    }
    let view = look_unsolved(state, game, level).await.map_err(|error| PageError::Read(error.message))?;
    Ok((view, false))
}

fn to_move(lang: Language, side: WireSide) -> String {
    lang.fill("analysis.to_move", &[("color", words::color(lang, side))])
}

fn values_label(lang: Language, side: WireSide) -> String {
    lang.fill("analysis.values_for", &[("color", words::color(lang, side))])
}

fn headline(lang: Language, game: &Game, view: &PositionView, is_complete: bool) -> String {
    if view.result.is_some() {
        let drawn = || lang.text("analysis.drawn").to_owned();
        return winner(view).map_or_else(drawn, |side| has_won(lang, side));
    }
    match view.score {
        Some(score) => how_it_ends(lang, game, Score::new(score)),
        None if is_complete => lang.text("analysis.unknown").to_owned(),
        None => lang.text("analysis.computing").to_owned(),
    }
}

fn winner(view: &PositionView) -> Option<WireSide> {
    view.result?.winner().map(WireSide::from)
}

/// How the board's size is limited by the height of the window, and its values by their number; the module says the
/// same.
fn shape(variant: Variant) -> &'static str {
    let (width, height) = (variant.width(), variant.height());
    if height >= 2 * width {
        "narrow"
    } else if height > width {
        "tall"
    } else if width > 9 {
        "wide"
    } else {
        "usual"
    }
}

fn has_won(lang: Language, side: WireSide) -> String {
    lang.fill("analysis.won", &[("color", words::color(lang, side))])
}

/// Moves of the winner until the end: the winner plays every other ply, and the last.
fn distance(game: &Game, score: Score) -> u32 {
    score.plies_to_end(game.position()).div_ceil(2)
}

/// `Coral wins in 5`, by the score of the side to move.
pub(super) fn how_it_ends(lang: Language, game: &Game, score: Score) -> String {
    let mover = game.position().side_to_move();
    let winner = match score.sign() {
        Value::Draw => return lang.text("analysis.draws").to_owned(),
        Value::Win => mover,
        Value::Loss => mover.opponent(),
    };
    let n = distance(game, score).to_string();
    lang.fill("analysis.wins", &[("color", words::color(lang, winner.into())), ("n", &n)])
}

fn column_value(lang: Language, game: &Game, view: &PositionView, column: Column) -> ColumnValue {
    let number = column.number();
    let label = |what: &str| {
        let column = number.to_string();
        lang.fill("analysis.column_is", &[("column", column.as_str()), ("what", what)])
    };
    let plain = |class, word: &'static str| ColumnValue {
        class,
        sign: "",
        distance: None,
        word,
        label: label(word),
        is_best: false,
    };
    if !view.legal.contains(&number) {
        let is_over = view.to_move.is_none();
        return if is_over { plain("unknown", "") } else { plain("full", lang.text("analysis.full")) };
    }
    let score = view.columns.as_ref().and_then(|columns| *columns.get(column.index())?);
    let Some(score) = score.map(Score::new) else { return plain("unknown", "") };
    let (class, sign, word) = match score.sign() {
        Value::Win => ("win", "▲", lang.text("analysis.win")),
        Value::Draw => ("draw", "=", lang.text("analysis.draw")),
        Value::Loss => ("loss", "▼", lang.text("analysis.loss")),
    };
    ColumnValue {
        class,
        sign,
        distance: (score.sign() != Value::Draw).then(|| distance(game, score)),
        word,
        label: label(&how_it_ends(lang, game, score)),
        is_best: view.best.as_ref().is_some_and(|best| best.contains(&number)),
    }
}

fn explorer(lang: Language, game: &Game, view: &PositionView) -> Vec<ExplorerRow> {
    let played = |number| -> Option<&ExploredMove> {
        view.explored.as_ref()?.iter().find(|explored| explored.column == number)
    };
    let row = |column: Column| {
        let number = column.number();
        let of = |pick: fn(&ExploredMove) -> &Success| success(lang, played(number).map(pick));
        ExplorerRow {
            column: number,
            href: at_level(address(game.variant(), &format!("{}{}", view.moves, column.digit())), view.level),
            value: column_value(lang, game, view, column),
            people: of(|explored| &explored.people),
            bots: of(|explored| &explored.bots),
        }
    };
    let legal = |column: &Column| view.legal.contains(&column.number());
    game.variant().columns().filter(legal).map(row).collect()
}

/// Games, and the share of points that they brought.
fn success(lang: Language, success: Option<&Success>) -> String {
    match success.filter(|success| success.games > 0) {
        None => "–".to_owned(),
        Some(&Success { games, .. }) if games < FEW_GAMES => lang.count("explorer.games", games),
        Some(&Success { games, wins, draws, .. }) => {
            let percent = (100 * (2 * wins + draws) + games) / (2 * games);
            lang.fill("analysis.success", &[("n", games), ("percent", percent)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_read(moves: &str, variant: Option<&str>, kept: &str, problem: Option<&str>) {
        let read = read(Language::English, moves, variant);
        assert_eq!((read.game.notation().as_str(), read.problem.as_deref()), (kept, problem), "{moves}");
    }

    #[test]
    fn what_is_wrong_is_said_and_the_rest_is_shown() {
        check_read("-", None, "", None);
        check_read("4453", None, "4453", None);
        check_read("c", Some("12x4"), "c", None);
        check_read("448", None, "44", Some("Move 3: this board has no column 8."));
        check_read("4444444", None, "444444", Some("Move 7: column 4 is full."));
        check_read("12121213", None, "1212121", Some("Move 8 comes after the end of the game."));
        check_read("44-", None, "44", Some("Move 3: “-” is not a column."));
        check_read("4", Some("3x3"), "", Some("There is no board “3x3”. Try 7x6, 8x7 or 9x6x5."));
    }

    #[test]
    fn success_is_wins_and_half_the_draws() {
        let tally = Success { games: 30, wins: 10, draws: 10, losses: 10 };
        assert_eq!(success(Language::English, Some(&tally)), "50% of 30");
        assert_eq!(success(Language::English, None), "–");
    }

    #[test]
    fn few_games_have_no_share() {
        let won = |games| Success { games, wins: games, draws: 0, losses: 0 };
        assert_eq!(success(Language::English, Some(&won(1))), "1 game");
        assert_eq!(success(Language::Polish, Some(&won(9))), "9 gier");
        assert_eq!(success(Language::English, Some(&won(10))), "100% of 10");
        assert_eq!(few_games(Language::English).last().map(String::as_str), Some("9 games"));
    }

    #[test]
    fn a_level_stays_in_addresses_and_anything_else_is_none() {
        let asked = |level: &str| level_of(&HashMap::from([("level".to_owned(), level.to_owned())]));
        assert_eq!(asked("3").map(Level::number), Some(3));
        assert_eq!((asked("9"), asked(""), level_of(&HashMap::new())), (None, None, None));
        assert_eq!(at_level(address(Variant::STANDARD, "44"), asked("3")), "/analysis/44?level=3");
        let wide = address("8x7".parse().unwrap(), "44");
        assert_eq!(at_level(wide, asked("3")), "/analysis/44?variant=8x7&level=3");
    }

    #[test]
    fn addresses_hold_nothing_that_would_end_them() {
        assert_eq!(escaped("44?\r\nx"), "44___x");
        assert_eq!(address(Variant::STANDARD, ""), "/analysis/-");
        assert_eq!(address("9x6x5".parse().unwrap(), "12"), "/analysis/12?variant=9x6x5");
    }
}
