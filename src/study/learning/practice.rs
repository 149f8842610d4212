//! Practice: rated games of learners against bots of the house that nobody watches.
//!
//! They are played in one go on the thread of the learners, in pairs from a balanced opening with sides swapped, and
//! stored like all others, beginning and end at once. Live learners practise until they have learnt enough, frozen
//! versions until their rating says something.

use std::sync::atomic::AtomicBool;

use fourfold_bots::{Bot, BotError, MoveBudget};
use fourfold_engine::{BySide, Game, Outcome, Side, Variant, openings};

use crate::model::clock::TimeControl;
use crate::model::ids::{GameId, PlayerId};
use crate::model::opening::OpeningKind;
use crate::model::result::{EndReason, GameResult};
use crate::play::reasons;
use crate::storage::record::{Ending, EventKind, GameSpec, OpeningSource, StoredEvent, StoredMove};

use crate::model::time::UnixMillis;
use crate::storage::store::Write;

/// Nodes or playouts of a bot that would otherwise search for as long as it may: some milliseconds.
const NODES_MAX: u64 = 20_000;

/// The clocks of practice games; no time passes on them.
const TIME: TimeControl = TimeControl { bank_ms: Some(60_000), increment_ms: 0, move_ms: None };

/// Rated games after which an account needs no practice for the sake of its rating: it is known to some 50 points then.
pub(crate) const RATED_GAMES: u64 = 60;

/// Practice rests so many times as long as storing its last game took, which no setting shortens: of the moves of
/// others, no more than one in two hundred finds a game of practice before it, so that the slowest in a hundred are not
/// those. With a hundred it was one in a hundred, which is the p99 itself.
pub(crate) const WRITES_REST: u32 = 200;

/// One game to be practised.
pub(crate) struct Exercise {
    pub(crate) players: BySide<PlayerId>,
    pub(crate) bots: BySide<Box<dyn Bot>>,
    pub(crate) opening: OpeningSource,
    pub(crate) id: GameId,
    pub(crate) now: UnixMillis,
}

/// A balanced opening by seed; none if there are none.
pub(crate) fn opening(seed: u64) -> OpeningSource {
    match openings::draw(Variant::STANDARD, seed, 0) {
        Some(opening) => OpeningSource { kind: OpeningKind::Balanced, moves: opening.notation() },
        None => OpeningSource::default(),
    }
}

/// Plays a game to its end on the board; gives all that is to be stored of it, together.
///
/// # Errors
///
/// A bot is broken, or plays what cannot be played.
pub(crate) fn play(exercise: Exercise) -> Result<[Write; 2], BotError> {
    let Exercise { players, mut bots, opening, id, now } = exercise;
    let broken = |reason: String| BotError::Broken { bot: "practice", reason };
    let mut game =
        Game::from_moves(Variant::STANDARD, &opening.moves).map_err(|error| broken(error.to_string()))?;
    let budget = MoveBudget { nodes: Some(NODES_MAX), time: None };
    let never = AtomicBool::new(false);
    let mut events: Vec<StoredEvent> = Vec::new();
    let add = |events: &mut Vec<StoredEvent>, kind| {
        let seq = u32::try_from(events.len()).unwrap_or(u32::MAX) + 1;
        let bank = u64::from(TIME.bank_ms.unwrap_or_default());
        events.push(StoredEvent { seq, kind, clock_ms: BySide { first: bank, second: bank }, at: now });
    };
    let outcome = loop {
        if let Some(outcome) = game.outcome() {
            break outcome;
        }
        let position = *game.position();
        let bot = &mut bots[position.side_to_move()];
        let choice = bot.choose(&position, budget, &never)?;
        let info = reasons::info(&choice, &bot.reasons(&position)).and_then(|info| info.to_stored().ok());
        game.play(choice.column).map_err(|error| broken(error.to_string()))?;
        let played = StoredMove { column: choice.column, spent_ms: 0, credited_ms: 0, info };
        add(&mut events, EventKind::Move(played));
    };
    add(&mut events, EventKind::Finished(ending(outcome)));
    let spec = GameSpec {
        id: id.clone(),
        players,
        variant: Variant::STANDARD,
        time: TIME,
        rated: true,
        unrated_because: None,
        footing: None,
        versions: BySide::default(),
        opening,
        pair: None,
        started_at: now,
    };
    Ok([Write::StartGame(spec), Write::Finish { game: id, events }])
}

fn ending(outcome: Outcome) -> Ending {
    let (result, reason) = match outcome {
        Outcome::Win { by: Side::First, .. } => (GameResult::First, EndReason::Four),
        Outcome::Win { by: Side::Second, .. } => (GameResult::Second, EndReason::Four),
        Outcome::Draw => (GameResult::Draw, EndReason::Full),
    };
    Ending { result, reason, by: None }
}

#[cfg(test)]
mod tests {
    use fourfold_bots::registry;

    use super::*;
    use crate::storage::conformance::{NOON, add_players, player_id};
    use crate::storage::games::GameStore;
    use crate::storage::store::{Store, Written};
    use crate::storage::{MemoryStore, StoredGame};

    #[tokio::test]
    async fn a_practice_game_is_stored_whole_and_rated() {
        let store = MemoryStore::new();
        add_players(&store, &["Ada", "Bob"]).await;
        let bot = |spec: &str| registry::build(&spec.parse().unwrap(), Variant::STANDARD).unwrap();
        let exercise = Exercise {
            players: BySide { first: player_id("Ada"), second: player_id("Bob") },
            bots: BySide { first: bot("memory"), second: bot("greedy") },
            opening: opening(7),
            id: "p1".parse().unwrap(),
            now: NOON,
        };
        let writes = play(exercise).unwrap();
        let answers = store.commit(&writes).await.unwrap();
        let Ok(Written::Settled(settlement)) = &answers[1] else { panic!("{answers:?}") };
        assert!(settlement.ratings.is_some());
        let game: StoredGame = store.game(&"p1".parse().unwrap()).await.unwrap().unwrap();
        crate::storage::records::rules::replay(&game).unwrap();
        assert_eq!(game.spec.opening.kind, OpeningKind::Balanced);
    }
}
