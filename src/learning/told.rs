//! What is stored about learners for people to read: what the last lessons changed, and why bots moved as they did.

use std::sync::Arc;

use fourfold_bots::Reason;
use fourfold_engine::{BySide, Column, Side};

use super::changes::Changes;
use super::reasons;
use super::view::LearnerView;
use crate::ids::{GameId, PlayerId, PlayerName};
use crate::protocol::client::MoveInfo;
use crate::protocol::server::GameResult;
use crate::storage::record::{EventKind, StoredGame};
use crate::storage::{Store, StoreError, StoredPlayer};

/// A lesson and what it changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taught {
    /// Number of the game among all finished ones.
    pub number: u64,
    /// The game; `None` if it is damaged, which taught all the same.
    pub game: Option<TaughtGame>,
    /// What changed of what has a name; nothing of learners that keep weights alone.
    pub changes: Changes,
}

/// The game that taught something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaughtGame {
    /// The last part of its link.
    pub id: GameId,
    /// Who played.
    pub players: BySide<PlayerName>,
    /// Who won.
    pub result: GameResult,
    /// All moves, the opening's included.
    pub moves: String,
}

/// Lessons that are looked through for those after which a learner would move otherwise.
const LOOK_BACK: u32 = 200;

/// The last lessons of a learner, the newest first: the `newest`, and as many more of the last 200 after which it would
/// move otherwise somewhere in the game. They become rare when it has seen much.
///
/// # Errors
///
/// The store cannot be read.
pub async fn last_lessons(
    store: &dyn Store,
    learner: &PlayerName,
    newest: usize,
    rethought: usize,
) -> Result<Vec<Taught>, StoreError> {
    let look_back = if rethought > 0 { LOOK_BACK } else { u32::try_from(newest).unwrap_or(LOOK_BACK) };
    let lessons = store.last_lessons(learner, look_back).await?;
    let mut lessons = lessons.into_iter().map(|lesson| (lesson.number, Changes::parse(&lesson.changes)));
    let mut chosen: Vec<(u64, Changes)> = lessons.by_ref().take(newest).collect();
    chosen.extend(lessons.filter(|(_, changes)| !changes.rethought.is_empty()).take(rethought));
    let mut taught = Vec::new();
    for (number, changes) in chosen {
        let game = store.audit_finished(number.saturating_sub(1), 1).await?;
        let game = match game.first() {
            Some(Ok(game)) => taught_game(store, game).await?,
            Some(Err(_)) | None => None,
        };
        taught.push(Taught { number, game, changes });
    }
    Ok(taught)
}

async fn taught_game(store: &dyn Store, game: &StoredGame) -> Result<Option<TaughtGame>, StoreError> {
    let sides = &game.spec.players;
    let players = store.players(&[sides.first.clone(), sides.second.clone()]).await?;
    let name = |id: &PlayerId| {
        let found = players.iter().find(|player: &&StoredPlayer| player.id == *id);
        found.map(|player| player.name.clone())
    };
    let (Some(first), Some(second), Some(ending)) = (name(&sides.first), name(&sides.second), game.ending())
    else {
        return Ok(None);
    };
    let (id, players) = (game.spec.id.clone(), BySide { first, second });
    Ok(Some(TaughtGame { id, players, result: ending.result, moves: game.moves() }))
}

/// Those of these learners that have learnt the finished game of this number, and what it changed in each when it was
/// learnt.
///
/// # Errors
///
/// The store cannot be read.
pub async fn taught_by(
    store: &dyn Store,
    learners: &[Arc<LearnerView>],
    number: u64,
) -> Result<Vec<(Arc<LearnerView>, Changes)>, StoreError> {
    let mut taught = Vec::new();
    for learner in learners {
        let lesson = store.lessons(&learner.name, number.saturating_sub(1), 1).await?.pop();
        if let Some(lesson) = lesson.filter(|lesson| lesson.number == number) {
            taught.push((Arc::clone(learner), Changes::parse(&lesson.changes)));
        }
    }
    Ok(taught)
}

/// What a bot of the house said about one of its moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    /// Of the move, counted from 1, the opening's included.
    pub ply: usize,
    /// Who moved.
    pub side: Side,
    /// Where.
    pub column: Column,
    /// The weightiest patterns that spoke, for the chosen column first. Empty if none decided: the bot won at once, was
    /// forced, or no known pattern spoke.
    pub reasons: Vec<Reason>,
}

/// What the bots of the house said about their moves in a game; of the sides that learn, also of the moves about which
/// they said nothing. What other people's bots say is their owners' own.
///
/// # Errors
///
/// The store cannot be read.
pub async fn said_in(
    store: &dyn Store,
    game: &StoredGame,
    learns: BySide<bool>,
) -> Result<Vec<Said>, StoreError> {
    let players = &game.spec.players;
    let mut of_house = BySide { first: false, second: false };
    for side in Side::BOTH {
        of_house[side] = store.player(&players[side]).await?.is_some_and(|player| player.house);
    }
    let mut moves: Vec<Option<Said>> = vec![None; game.spec.opening.moves.len()];
    for event in &game.events {
        match &event.kind {
            EventKind::Move(played) => {
                let ply = moves.len() + 1;
                let side = if ply % 2 == 1 { Side::First } else { Side::Second };
                let info = played.info.as_deref().filter(|_| of_house[side]);
                let reasons = info.and_then(said).unwrap_or_default();
                let is_told = learns[side] || !reasons.is_empty();
                moves.push(is_told.then_some(Said { ply, side, column: played.column, reasons }));
            }
            EventKind::Takeback { plies } => moves.truncate(moves.len().saturating_sub(*plies as usize)),
            EventKind::Paused | EventKind::Finished(_) => {}
        }
    }
    Ok(moves.into_iter().flatten().collect())
}

fn said(info: &str) -> Option<Vec<Reason>> {
    Some(reasons::parse(&MoveInfo::from_stored(info)?.note?))
}
