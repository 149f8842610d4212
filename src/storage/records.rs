//! Games as they are published and exported: one JSON object each.

use fourfold_engine::BySide;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::clock::TimeControl;
use crate::model::ids::GameId;
use crate::model::rating::elo::RatingEntry;
use crate::model::result::{EndReason, GameResult};

use crate::model::player::PlayerKind;
use crate::protocol::server::{GameStatus, RatingChange};

use crate::protocol::terms::{Sides, WireOpening, WirePair, WireSide, WireVariant};
use crate::storage::record::{EventKind, GameSpec, Settlement, StoredEvent};
use crate::storage::{StoredGame, StoredPlayer};

pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod lessons;
pub(crate) mod lines;
pub(crate) mod players;
pub(crate) mod rules;
pub(crate) mod self_test;

/// Who played. Text, because saved matches have entrants without an account: `negamax:depth=6`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RecordPlayer {
    /// Stays the same for ever.
    pub(crate) id: String,
    /// As others see it.
    pub(crate) name: String,
    /// Person, bot or guest.
    pub(crate) kind: PlayerKind,
    /// How often its rating had begun anew before; of finished games alone, and left out if never.
    #[serde(default, skip_serializing_if = "is_first_era")]
    pub(crate) era: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_first_era(era: &u32) -> bool {
    *era == 0
}

impl From<&StoredPlayer> for RecordPlayer {
    fn from(player: &StoredPlayer) -> Self {
        Self { id: player.id.to_string(), name: player.name.to_string(), kind: player.kind, era: 0 }
    }
}

/// A game, live or finished, with all its moves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Record {
    /// The last part of its link.
    pub(crate) id: GameId,
    /// Board size.
    pub(crate) variant: WireVariant,
    /// Whether ratings change.
    pub(crate) rated: bool,
    /// Who plays.
    pub(crate) players: Sides<RecordPlayer>,
    /// How much time each side has.
    pub(crate) time: TimeControl,
    /// The moves that stood on the board at the start.
    pub(crate) opening: WireOpening,
    /// The series it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pair: Option<WirePair>,
    /// All moves, the opening's included.
    pub(crate) moves: String,
    /// What each side had left after each of the moves, as [first, second], in milliseconds. After those of the opening
    /// it is the whole time.
    pub(crate) clocks: Vec<[u64; 2]>,
    /// Live or over.
    pub(crate) status: GameStatus,
    /// Who won; null while it is live.
    pub(crate) result: Option<GameResult>,
    /// How it came to that; null while it is live.
    pub(crate) reason: Option<EndReason>,
    /// The side at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<WireSide>,
    /// Elo points of both sides before and after it; null if it is not rated or not over.
    pub(crate) ratings: Option<Sides<RatingChange>>,
    /// Why it is not rated though it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unrated_because: Option<String>,
    /// `load` or `private`, if it was that from its start and operators have taken it out since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun_as: Option<String>,
    /// When it began, RFC 3339.
    pub(crate) started_at: String,
    /// When it ended, RFC 3339; null while it is live.
    pub(crate) ended_at: Option<String>,
}

impl Record {
    /// Publishes a stored game. What bots thought about their moves is left out: it is their owners' own.
    pub(crate) fn new(game: &StoredGame, players: BySide<&StoredPlayer>) -> Self {
        // Who was young when it began is between the arena and its ratings.
        let GameSpec { id, variant, time, unrated_because, opening, pair, started_at, .. } = &game.spec;
        let ending = game.ending();
        let settlement = game.settlement.as_ref();
        let unrated_because =
            settlement.and_then(|settlement| settlement.unrated_because).or(*unrated_because);
        let begun_as = game.spec.mark().filter(|mark| Some(*mark) != unrated_because);
        Self {
            id: id.clone(),
            variant: WireVariant(*variant),
            rated: game.is_rated(),
            players: Sides { first: players.first.into(), second: players.second.into() },
            time: *time,
            opening: WireOpening { kind: opening.kind, moves: opening.moves.clone() },
            pair: pair.as_ref().map(|pair| WirePair { id: pair.id.clone(), leg: pair.leg, of: pair.of }),
            moves: game.moves(),
            clocks: clocks(game),
            status: if ending.is_some() { GameStatus::Over } else { GameStatus::Live },
            result: ending.map(|ending| ending.result),
            reason: ending.map(|ending| ending.reason),
            by: ending.and_then(|ending| ending.by).map(WireSide::from),
            ratings: settlement.and_then(ratings),
            unrated_because: unrated_because.map(|reason| reason.as_str().to_owned()),
            begun_as: begun_as.map(|mark| mark.as_str().to_owned()),
            started_at: started_at.to_string(),
            ended_at: ending.and(game.events.last()).map(|event| event.at.to_string()),
        }
    }
}

fn ratings(settlement: &Settlement) -> Option<Sides<RatingChange>> {
    let change =
        |entry: &RatingEntry| RatingChange { before: entry.before.to_elo(), after: entry.after.to_elo() };
    let entries = settlement.ratings.as_ref()?;
    Some(Sides { first: change(&entries.first), second: change(&entries.second) })
}

/// What both sides had left after each move that was not taken back.
fn clocks(game: &StoredGame) -> Vec<[u64; 2]> {
    let TimeControl { bank_ms, increment_ms: _, move_ms } = game.spec.time;
    let full = u64::from(bank_ms.or(move_ms).unwrap_or_default());
    let mut clocks = vec![[full, full]; game.spec.opening.moves.len()];
    for StoredEvent { seq: _, kind, clock_ms, at: _ } in &game.events {
        match kind {
            EventKind::Move(_) => clocks.push([clock_ms.first, clock_ms.second]),
            EventKind::Takeback { plies } => clocks.truncate(clocks.len().saturating_sub(*plies as usize)),
            EventKind::Paused | EventKind::Finished(_) => {}
        }
    }
    clocks
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::opening::OpeningKind;
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{FIRST_WINS, add_players, event, moves, play, player, spec};
    use crate::storage::record::OpeningSource;

    fn players() -> BySide<StoredPlayer> {
        BySide { first: player("Ada", PlayerKind::Human), second: player("Bob", PlayerKind::Bot) }
    }

    #[tokio::test]
    async fn a_finished_game_has_all_fields_of_the_contract() {
        let store = MemoryStore::new();
        add_players(&store, &["Ada", "Bob"]).await;
        let spec = spec("game", "Ada", "Bob");
        let game = play(&store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
        let record = serde_json::to_value(Record::new(&game, players().as_ref())).unwrap();
        let clocks: Vec<_> = (1..=7).map(|seq| [60_000 - seq, 60_001 - seq]).collect();
        assert_eq!(
            record,
            json!({
                "id": "game",
                "variant": "7x6",
                "rated": true,
                "players": {
                    "first": { "id": "idAda", "name": "Ada", "kind": "human" },
                    "second": { "id": "idBob", "name": "Bob", "kind": "bot" },
                },
                "time": { "bank_ms": 60_000, "increment_ms": 1_000, "move_ms": null },
                "opening": { "kind": "none", "moves": "" },
                "moves": "1212121",
                "clocks": clocks,
                "status": "over",
                "result": "first",
                "reason": "four",
                "ratings": {
                    "first": { "before": 750, "after": 770 },
                    "second": { "before": 750, "after": 730 },
                },
                "started_at": "2025-06-15T15:06:40.000Z",
                "ended_at": "2025-06-15T15:06:48.000Z",
            })
        );
    }

    #[test]
    fn a_live_game_is_not_over() {
        let game = StoredGame { spec: spec("game", "Ada", "Bob"), events: moves("44"), settlement: None };
        let record = Record::new(&game, players().as_ref());
        assert_eq!((record.status, record.result, record.ended_at), (GameStatus::Live, None, None));
        assert_eq!((record.moves.as_str(), record.clocks.len()), ("44", 2));
    }

    #[test]
    fn every_move_has_its_clocks_even_after_an_opening_and_a_takeback() {
        let mut game =
            StoredGame { spec: spec("game", "Ada", "Bob"), events: moves("123"), settlement: None };
        game.spec.opening = OpeningSource { kind: OpeningKind::Given, moves: "44".into() };
        game.events.push(event(4, EventKind::Takeback { plies: 2 }));
        let record = Record::new(&game, players().as_ref());
        assert_eq!(record.moves, "441");
        assert_eq!(record.clocks, [[60_000, 60_000], [60_000, 60_000], [59_999, 60_000]]);
    }
}
