//! A pattern memory that one person teaches. Nothing of it is kept here: whoever teaches it sends along what it knows
//! and gets back what it knows then.

use axum::Json;
use axum::extract::Request;
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fourfold_bots::memory::{Decision, Ground, PersonalMemory};
use fourfold_bots::{Change, Counts, GameRecord, KnownPattern};
use fourfold_engine::{Column, Game, Side, SideResult, Variant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use super::BUSY_RETRY;
use crate::http::endpoint::{Content, Endpoint, Operation, schema_of};
use crate::http::error::{ApiCode, ApiError};
use crate::http::request::json_body;
use crate::protocol::terms::WireSide;
use crate::system::aside;

/// Longest body with what a memory knows. There are some 570 patterns of 24 bytes, and base64 makes four of three.
const MEMORY_BYTES_MAX: usize = 32 * 1_024;

/// Longest body with a memory as XML, in which a pattern has about a thousand bytes.
const XML_BYTES_MAX: usize = 1_024 * 1_024;

/// Memories read as XML at the same time. As elements a hostile one of the longest takes some forty megabytes.
const XML_READ_MAX: usize = 2;

static XML_READS: Semaphore = Semaphore::const_new(XML_READ_MAX);

/// What a memory knows, as this interface gave it out.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct MemoryState(String);

/// A position in which it is to move.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// What it knows; null for nothing.
    #[serde(default)]
    memory: Option<MemoryState>,
    /// Decides between equal moves: the same number makes the same memory play the same again.
    #[serde(default)]
    seed: u32,
    /// The moves so far on 7x6, a digit each, from 1; empty before the first.
    moves: String,
}

/// A game that is over.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lesson {
    /// What it knew before; null for nothing.
    #[serde(default)]
    memory: Option<MemoryState>,
    /// All moves, a digit each, from 1.
    moves: String,
    /// Which side it was.
    side: WireSide,
}

/// A memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Known {
    /// As this interface gave it out.
    memory: MemoryState,
}

/// A memory in a file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryFile {
    /// The XML of the pattern memory of 2004, which `memory:file=` and `fourfold memory import --xml` read too.
    xml: String,
}

/// What decided a move.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", rename = "MemoryGround")]
enum GroundName {
    /// An answer that has won before.
    Response,
    /// A pattern that has ended a game.
    Ending,
    /// A pattern that it has met before, or three stones of its own.
    Pattern,
    /// Nothing: the move was drawn.
    Random,
}

impl From<Ground> for GroundName {
    fn from(ground: Ground) -> Self {
        match ground {
            Ground::Response => Self::Response,
            Ground::Ending => Self::Ending,
            Ground::Pattern => Self::Pattern,
            Ground::Chance => Self::Random,
        }
    }
}

/// A pattern, and how games with it ended for the memory.
#[derive(Debug, Serialize, JsonSchema)]
struct MemoryPattern {
    /// Such as `own c1 d1 e1 .`: whose stones, where, and where they lead.
    pattern: String,
    /// Games in which it was there at the memory's last move.
    seen: u32,
    /// Won ones.
    won: u32,
    /// Lost ones.
    lost: u32,
}

impl MemoryPattern {
    fn new(pattern: String, Counts { seen, won, lost }: Counts) -> Self {
        Self { pattern, seen, won, lost }
    }
}

/// Its move.
#[derive(Debug, Serialize, JsonSchema)]
struct MemoryMove {
    /// From 1.
    column: u8,
    /// What decided it.
    ground: GroundName,
    /// The pattern that spoke loudest for it; null if the move was drawn.
    pattern: Option<MemoryPattern>,
}

/// What it knows now.
#[derive(Debug, Serialize, JsonSchema)]
struct MemoryLearnt {
    /// To be sent along from now on.
    memory: MemoryState,
    /// Patterns that the game changed, as they are now.
    changed: Vec<MemoryPattern>,
    /// Those of them that it had never met.
    new: Vec<String>,
    /// All that it knows, the most often seen first.
    patterns: Vec<MemoryPattern>,
}

impl MemoryLearnt {
    fn new(memory: &PersonalMemory, changes: Vec<Change>) -> Self {
        let new = changes.iter().filter(|change| change.before.is_none());
        let known = |KnownPattern { name, counts, .. }| MemoryPattern::new(name, counts);
        Self {
            memory: MemoryState(URL_SAFE_NO_PAD.encode(memory.state())),
            new: new.map(|change| change.pattern.clone()).collect(),
            changed: changes.into_iter().map(|it| MemoryPattern::new(it.pattern, it.after)).collect(),
            patterns: memory.patterns().into_iter().map(known).collect(),
        }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let answer = |path, summary, content| Operation::post(path, summary, content).status(200);
    let moves = answer(
        "/api/v1/memory/move",
        "Lets a pattern memory of one's own move, and says why",
        Content::Json(schema_of::<MemoryMove>),
    )
    .body(schema_of::<Asked>);
    let lesson = answer(
        "/api/v1/memory/game",
        "Teaches a pattern memory of one's own a game that it has played",
        Content::Json(schema_of::<MemoryLearnt>),
    )
    .body(schema_of::<Lesson>);
    let save = answer(
        "/api/v1/memory/file",
        "Writes a pattern memory of one's own as XML",
        Content::Json(schema_of::<MemoryFile>),
    )
    .body(schema_of::<Known>);
    let load = answer(
        "/api/v1/memory/load",
        "Reads a pattern memory of one's own from XML",
        Content::Json(schema_of::<MemoryLearnt>),
    )
    .body(schema_of::<MemoryFile>)
    .refusals(&[ApiCode::Busy]);
    vec![
        Endpoint::new("/api/v1/memory/move", post(decide), [moves]),
        Endpoint::new("/api/v1/memory/game", post(teach), [lesson]),
        Endpoint::new("/api/v1/memory/file", post(write_file), [save]),
        Endpoint::new("/api/v1/memory/load", post(read_file), [load]),
    ]
}

async fn decide(request: Request) -> Result<Json<MemoryMove>, ApiError> {
    let Asked { memory, seed, moves } = json_body(request, MEMORY_BYTES_MAX).await?;
    let game = game(&moves)?;
    if game.outcome().is_some() {
        return Err(ApiError::bad_field("moves", "the game is over"));
    }
    let Decision { column, ground, reason } = personal(memory.as_ref())?.decide(game.position(), seed.into());
    let pattern = reason.map(|reason| MemoryPattern::new(reason.pattern, reason.counts));
    Ok(Json(MemoryMove { column: Column::number(column), ground: ground.into(), pattern }))
}

async fn teach(request: Request) -> Result<Json<MemoryLearnt>, ApiError> {
    let Lesson { memory, moves, side } = json_body(request, MEMORY_BYTES_MAX).await?;
    let game = game(&moves)?;
    let side = Side::from(side);
    let outcome = game.outcome().ok_or_else(|| ApiError::bad_field("moves", "the game is not over"))?;
    let result = SideResult::of(side, outcome.winner());
    let mut memory = personal(memory.as_ref())?;
    let changes = memory.learn(&GameRecord { game, side, result });
    Ok(Json(MemoryLearnt::new(&memory, changes)))
}

async fn write_file(request: Request) -> Result<Json<MemoryFile>, ApiError> {
    let Known { memory } = json_body(request, MEMORY_BYTES_MAX).await?;
    Ok(Json(MemoryFile { xml: personal(Some(&memory))?.xml() }))
}

async fn read_file(request: Request) -> Result<Json<MemoryLearnt>, ApiError> {
    let busy = |message: &str| ApiError::new(ApiCode::Busy, message).retry_in(BUSY_RETRY);
    let _reading = XML_READS.try_acquire().map_err(|_| busy("other memories are being read"))?;
    let MemoryFile { xml } = json_body(request, XML_BYTES_MAX).await?;
    let read = aside::run(move || PersonalMemory::read_xml(&xml)).await;
    let memory = read.map_err(|error| busy(&error.to_string()))?;
    let memory = memory.map_err(|error| ApiError::bad_field("xml", error.to_string()))?;
    Ok(Json(MemoryLearnt::new(&memory, Vec::new())))
}

fn game(moves: &str) -> Result<Game, ApiError> {
    Game::from_moves(Variant::STANDARD, moves)
        .map_err(|error| ApiError::bad_field("moves", error.to_string()))
}

/// The memory that knows this.
fn personal(memory: Option<&MemoryState>) -> Result<PersonalMemory, ApiError> {
    let Some(MemoryState(text)) = memory else { return Ok(PersonalMemory::blank()) };
    let unreadable = |reason: String| {
        ApiError::bad_field("memory", format!("it must be as this interface gave it out: {reason}"))
    };
    let state = URL_SAFE_NO_PAD.decode(text).map_err(|error| unreadable(error.to_string()))?;
    PersonalMemory::restore(&state).map_err(unreadable)
}
