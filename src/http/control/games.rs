//! Games: their records, why bots moved as they did in them, the check of all, and taking one out.
//!
//! What operators do to games has a reason and stands in the audit log.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use fourfold_engine::BySide;
use serde::{Deserialize, Serialize};

use super::bots::player;
use super::players::Reason;
use super::refusal::Refusal;
use super::{Control, Route};
use crate::http::answer::List;
use crate::http::api::learning::MoveReasons;
use crate::http::error::ApiError;
use crate::http::record_query;
use crate::http::request::{JsonBody, PathPart, QueryParameters, json_body};
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::world::chance;
use crate::operations::verify::{VerifyReport, verify};
use crate::operations::voiding::{PORTIONS, VoidedAccount, VoidingError, void_account};
use crate::play::house::new_account;
use crate::storage::StoredGame;
use crate::storage::record::StoredPlayer;
use crate::storage::records::Record;
use crate::storage::records::export::{ExportFormat, RecordReader};
use crate::storage::records::import::{ImportBatch, Importer};
use crate::storage::records::players::PlayerCache;
use crate::storage::store::{Refused, Write};
use crate::storage::writer::WriteError;
use crate::study::learning::lesson_history::said_in;
use crate::study::learning::{self, LearnerPlan};
use crate::system::config::{HouseBotConfig, HouseBotConfigs};

/// Most games in one list: some 150 KiB.
pub(super) const LIST_MAX: u32 = 200;

/// A game that was taken out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct VoidedGame {
    pub(crate) game: GameId,
    /// Whether it had moved ratings.
    pub(crate) was_rated: bool,
}

/// All games of a player that were taken out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct VoidedGamesOf {
    pub(crate) player: PlayerName,
    /// Those that this call has taken out.
    pub(crate) games: u64,
    /// Whether an earlier call had been stopped in the middle, which is made good.
    pub(crate) was_begun: bool,
    /// Variants whose ratings were computed again.
    pub(crate) variants: Vec<String>,
}

/// Bytes of the body that brings records in. A command that brings more says it in several.
const IMPORT_BYTES_MAX: usize = 1024 * 1024;

/// Records that come in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ImportGames {
    /// One a line, as they are exported.
    pub(super) records: String,
}

/// What became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ImportedGames {
    pub(crate) imported: u64,
    /// Those that were there already.
    pub(crate) passed_over: u64,
}

pub(super) fn commands() -> Vec<Route> {
    vec![
        ("/control/v1/players/{name}/void", post(void_player)),
        ("/control/v1/games", get(list)),
        ("/control/v1/import/games", post(import)),
        ("/control/v1/export/games", get(export)),
        ("/control/v1/games/{id}", get(record)),
        ("/control/v1/games/{id}/reasons", get(reasons)),
        ("/control/v1/games/{id}/void", post(void)),
        ("/control/v1/verify/games", post(verify_all)),
    ]
}

/// Some finished games that the parameters choose, in the order in which they finished, behind the `cursor`: none if
/// those that were read are not wanted.
async fn list(
    State(control): State<Control>,
    parameters: QueryParameters,
) -> Result<Json<List<Record>>, Refusal> {
    let limit = parameters.optional::<u32>("limit")?.unwrap_or(LIST_MAX).min(LIST_MAX);
    let (query, filter) = record_query::read(&*control.store, &parameters, limit).await?;
    let mut reader = RecordReader::chosen(Arc::clone(&control.store), query, filter);
    let page = reader.next_page().await?;
    let cursor = page.as_ref().and_then(|_| reader.last_number());
    Ok(Json(List { items: page.unwrap_or_default(), cursor: cursor.map(|number| number.to_string()) }))
}

/// All finished games behind the `cursor` that the parameters choose, as text in a `format`, in the order in which they
/// finished. If the store fails in between, the answer breaks off without its end.
async fn export(State(control): State<Control>, parameters: QueryParameters) -> Result<Response, Refusal> {
    let format = parameters.optional::<ExportFormat>("format")?.unwrap_or_default();
    let (query, filter) = record_query::read(&*control.store, &parameters, u32::MAX).await?;
    let text = RecordReader::chosen(Arc::clone(&control.store), query, filter).into_text(format);
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], Body::from_stream(text)).into_response())
}

/// Takes records in, unrated. Each is there whole or not at all, and those before one that breaks a rule are: whoever
/// brings a file checks all of it first.
async fn import(State(control): State<Control>, request: Request) -> Result<Json<ImportedGames>, Refusal> {
    let ImportGames { records } = json_body(request, IMPORT_BYTES_MAX).await?;
    let new_id = || PlayerId::random(&mut chance());
    let mut importer = Importer::new(records.as_bytes(), &*control.store, new_id);
    let mut taken_in = 0;
    // Where a daemon runs, the bots of the house have their accounts.
    let absent = control.daemon.is_none().then(AbsentHouse::default);
    while let Some(ImportBatch { players, games }) = importer.next_batch().await? {
        for player in players {
            let player =
                absent.as_ref().map_or_else(|| player.clone(), |house| house.keep_name(player.clone()));
            control.writer.write(player).await?;
        }
        // All are queued before the first is waited for, so that they share commits.
        let writing: Vec<_> =
            games.into_iter().map(|[begin, end]| control.writer.write_both(begin, end)).collect();
        for game in writing {
            game.await?;
            taken_in += 1;
        }
    }
    let done = ImportedGames { imported: taken_in, passed_over: importer.passed_over };
    tracing::info!(imported = done.imported, passed_over = done.passed_over, "games were imported");
    Ok(Json(done))
}

/// The bots of the house where no daemon has made their accounts yet: those that it is built with, and its learners.
/// Their names stay theirs, so that games of theirs come in as they do where the house is there.
struct AbsentHouse {
    line_up: Vec<HouseBotConfig>,
    learners: Vec<LearnerPlan>,
}

impl Default for AbsentHouse {
    fn default() -> Self {
        Self { line_up: HouseBotConfigs::default().0, learners: learning::plans() }
    }
}

impl AbsentHouse {
    /// Makes a new player who has the name of a bot of the house that bot.
    fn keep_name(&self, write: Write) -> Write {
        let Write::AddPlayer { player, password } = write else { return write };
        let player = self.account(player.id.clone(), player.name.clone()).unwrap_or(player);
        Write::AddPlayer { player, password }
    }

    fn account(&self, id: PlayerId, name: PlayerName) -> Option<StoredPlayer> {
        let key = name.key();
        if let Some(bot) = self.line_up.iter().find(|bot| bot.name.key() == key) {
            return Some(new_account(id, bot.name.clone(), bot.about(), bot.elo()));
        }
        let learner = self.learners.iter().find(|plan| name.is_or_is_version_of(&plan.name))?;
        let own = if learner.name.key() == key { learner.name.clone() } else { name };
        Some(new_account(id, own, learner.about, None))
    }
}

async fn record(State(control): State<Control>, id: PathPart) -> Result<Json<Record>, Refusal> {
    let game = stored(&control, &id).await?;
    Ok(Json(PlayerCache::default().record(&*control.store, &game).await?))
}

async fn stored(control: &Control, id: &PathPart) -> Result<StoredGame, Refusal> {
    let id: GameId = id.parse("game")?;
    control.store.game(&id).await?.ok_or_else(|| no_game(&id))
}

fn no_game(id: &GameId) -> Refusal {
    Refusal::not_found(format!("there is no game {id}"))
}

/// Every game replayed, all ratings computed again.
async fn verify_all(State(control): State<Control>) -> Result<Json<VerifyReport>, Refusal> {
    Ok(Json(verify(&*control.store).await?))
}

/// What the `bot` of the house said about its moves, in the order of the game; moves without any are left out.
async fn reasons(
    State(control): State<Control>,
    id: PathPart,
    parameters: QueryParameters,
) -> Result<Json<List<MoveReasons>>, Refusal> {
    let bad_name = |message| ApiError::bad_parameter("bot", message);
    let name: String = parameters.optional("bot")?.unwrap_or_default();
    let bot = player(&control, &name, "bot", bad_name).await?;
    let game = stored(&control, &id).await?;
    let BySide { first, second } = &game.spec.players;
    if bot.id != *first && bot.id != *second {
        return Err(Refusal::conflict(format!("{} did not play game {}", bot.name, game.spec.id)));
    }
    if !bot.house {
        let message = format!("{} is no bot of the house: what it thinks is its owner's own", bot.name);
        return Err(Refusal::conflict(message));
    }
    let said = said_in(&*control.store, &game, BySide { first: false, second: false }).await?;
    let own = said.into_iter().filter(|said| game.spec.players[said.side] == bot.id);
    Ok(Json(List::whole(own.map(MoveReasons::from).collect())))
}

/// Takes a finished game out of ratings and learning.
async fn void(
    State(control): State<Control>,
    id: PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<VoidedGame>, Refusal> {
    let (id, because) = (id.parse::<GameId>("game")?, because.checked()?);
    let settlement = control.store.game(&id).await?.and_then(|game| game.settlement);
    let was_rated = settlement.is_some_and(|settled| settled.ratings.is_some());
    let write = Write::VoidGame { game: id.clone(), because };
    match control.writer.write(write).await {
        Ok(_) => {
            tracing::info!(game = %id, was_rated, "a game was voided");
            control.games_withdrawn();
            Ok(Json(VoidedGame { game: id, was_rated }))
        }
        Err(WriteError::Refused(Refused::NoSuchGame)) => {
            Err(Refusal::not_found(format!("there is no finished game {id}")))
        }
        Err(WriteError::Refused(Refused::AlreadyVoided)) => {
            Err(Refusal::conflict(format!("game {id} has been voided already")))
        }
        Err(error) => Err(error.into()),
    }
}

/// Takes all finished games of a player out of ratings and learning.
async fn void_player(
    State(control): State<Control>,
    PathPart(name): PathPart,
    JsonBody(because): JsonBody<Reason>,
) -> Result<Json<VoidedGamesOf>, Refusal> {
    let because = because.checked()?;
    let bad_name = |message| ApiError::bad_parameter("name", message);
    let player = player(&control, &name, "player", bad_name).await?;
    let voided = void_account(&*control.store, &control.writer, &player.id, &because, PORTIONS).await;
    // Some may have gone even if not all have.
    control.games_withdrawn();
    let VoidedAccount { games, was_begun, variants } = voided?;
    tracing::info!(player = %player.name, games, "all games of a player were voided");
    let variants = variants.iter().map(ToString::to_string).collect();
    Ok(Json(VoidedGamesOf { player: player.name, games, was_begun, variants }))
}

impl From<VoidingError> for Refusal {
    fn from(error: VoidingError) -> Self {
        match error {
            VoidingError::Store(error) => error.into(),
            VoidingError::Write(error) => error.into(),
        }
    }
}
