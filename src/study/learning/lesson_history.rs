//! What is stored about learners for people to read: what the last lessons changed, and why bots moved as they did.

use std::sync::Arc;

use fourfold_bots::Reason;
use fourfold_engine::{BySide, Column, Side, Variant};

use super::changes::Changes;
use super::view::LearnerView;
use crate::model::ids::{GameId, PlayerId, PlayerName};
use crate::model::result::GameResult;
use crate::play::reasons;
use crate::protocol::client::MoveInfo;
use crate::storage::lessons::Lesson;
use crate::storage::record::{EventKind, StoredGame};
use crate::storage::{Store, StoreError, StoredPlayer};

/// A lesson and what it changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PastLesson {
    /// Number of the game among all finished ones.
    pub(crate) number: u64,
    /// The game; `None` if it is damaged, which taught all the same.
    pub(crate) game: Option<PastLessonGame>,
    /// What changed of what has a name; nothing of learners that keep weights alone.
    pub(crate) changes: Changes,
}

/// The game that taught something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PastLessonGame {
    /// The last part of its link.
    pub(crate) id: GameId,
    pub(crate) players: BySide<PlayerName>,
    pub(crate) result: GameResult,
    /// All moves, the opening's included.
    pub(crate) moves: String,
}

/// Which of a learner's lessons are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LessonsWanted {
    /// So many of the last.
    pub(crate) newest: usize,
    /// So many more of the [`LOOK_BACK`] last, after which it chose otherwise somewhere in the game. They become rare
    /// when it has seen much.
    pub(crate) changed_moves: usize,
}

impl LessonsWanted {
    /// As the page of a learner and `fourfold memory show` have them.
    pub(crate) const SHOWN: Self = Self { newest: 5, changed_moves: 5 };
    /// The last alone.
    pub(crate) const LAST: Self = Self { newest: 1, changed_moves: 0 };
}

/// Lessons that are looked through for those after which a learner chose otherwise: some hundred kilobytes of text.
pub(crate) const LOOK_BACK: u32 = 200;

/// Lessons of a learner, the newest first.
///
/// # Errors
///
/// The store cannot be read.
pub(crate) async fn last_lessons(
    store: &dyn Store,
    learner: &PlayerName,
    wanted: LessonsWanted,
) -> Result<Vec<PastLesson>, StoreError> {
    let LessonsWanted { newest, changed_moves } = wanted;
    let look_back = if changed_moves > 0 { LOOK_BACK } else { u32::try_from(newest).unwrap_or(LOOK_BACK) };
    let mut lessons = store.last_lessons(learner, look_back).await?.into_iter();
    let mut chosen: Vec<Lesson> = lessons.by_ref().take(newest).collect();
    chosen.extend(lessons.filter(|lesson| Changes::names_a_turn(&lesson.changes)).take(changed_moves));
    let mut taught = Vec::new();
    for Lesson { number, changes } in chosen {
        let game = store.audit_finished(number.saturating_sub(1), 1).await?;
        let game = match game.first() {
            Some(Ok(game)) => taught_game(store, game).await?,
            Some(Err(_)) | None => None,
        };
        taught.push(PastLesson { number, game, changes: Changes::parse(&changes) });
    }
    Ok(taught)
}

async fn taught_game(store: &dyn Store, game: &StoredGame) -> Result<Option<PastLessonGame>, StoreError> {
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
    Ok(Some(PastLessonGame { id, players, result: ending.result, moves: game.moves() }))
}

/// What a game taught the learners.
#[derive(Clone, Default, Debug)]
pub(crate) struct GameLessons {
    /// Those that have learnt it, and what it changed in each when it was learnt.
    pub(crate) taught: Vec<(Arc<LearnerView>, Changes)>,
    /// Those of which nothing is known yet: the game is not over, or they have not stored what they learnt since.
    pub(crate) pending: Vec<Arc<LearnerView>>,
}

/// What a game taught these learners, as far as that is stored.
///
/// # Errors
///
/// The store cannot be read.
pub(crate) async fn lessons_of(
    store: &dyn Store,
    learners: &[Arc<LearnerView>],
    game: &StoredGame,
) -> Result<GameLessons, StoreError> {
    // Games on other boards are no lessons.
    if game.spec.variant != Variant::STANDARD {
        return Ok(GameLessons::default());
    }
    let Some(number) = game.settlement.as_ref().map(|settled| settled.number) else {
        return Ok(GameLessons { taught: Vec::new(), pending: learners.to_vec() });
    };
    let lessons = store.lessons_of_game(number).await?;
    let taught = learners.iter().filter_map(|learner| {
        let (_, changes) = lessons.iter().find(|(name, _)| name.key() == learner.name.key())?;
        Some((Arc::clone(learner), Changes::parse(changes)))
    });
    let pending = learners.iter().filter(|learner| learner.stored < number);
    Ok(GameLessons { taught: taught.collect(), pending: pending.cloned().collect() })
}

/// What a bot of the house said about one of its moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SpokenReasons {
    /// Of the move, counted from 1, the opening's included.
    pub(crate) ply: usize,
    pub(crate) side: Side,
    pub(crate) column: Column,
    /// The weightiest patterns that spoke, for the chosen column first. Empty if none decided: the bot won at once, was
    /// forced, or no known pattern spoke.
    pub(crate) reasons: Vec<Reason>,
}

/// What the bots of the house said about their moves in a game; of the sides that learn, also of the moves about which
/// they said nothing. What other people's bots say is their owners' own.
///
/// # Errors
///
/// The store cannot be read.
pub(crate) async fn said_in(
    store: &dyn Store,
    game: &StoredGame,
    learns: BySide<bool>,
) -> Result<Vec<SpokenReasons>, StoreError> {
    let players = &game.spec.players;
    let mut of_house = BySide { first: false, second: false };
    for side in Side::BOTH {
        of_house[side] = store.player(&players[side]).await?.is_some_and(|player| player.house);
    }
    let mut moves: Vec<Option<SpokenReasons>> = vec![None; game.spec.opening.moves.len()];
    for event in &game.events {
        match &event.kind {
            EventKind::Move(played) => {
                let ply = moves.len() + 1;
                let side = if ply % 2 == 1 { Side::First } else { Side::Second };
                let info = played.info.as_deref().filter(|_| of_house[side]);
                let reasons = info.and_then(said).unwrap_or_default();
                let is_told = learns[side] || !reasons.is_empty();
                moves.push(is_told.then_some(SpokenReasons { ply, side, column: played.column, reasons }));
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
