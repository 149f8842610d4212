//! A room's state as the wire shows it.

use std::time::{Duration, Instant};

use fourfold_engine::{BySide, Outcome, Position, Side};

use super::state::{PlayedMove, RoomState, millis};
use crate::model::rating::elo::RatingEntry;
use crate::model::rating::elo::ShownRating;
use crate::model::result::EndReason;

use crate::protocol::server::{
    GameEnd, GameStatus, Moved, RatingChange, Snapshot, Turn, TurnClock, WireClock,
};

use crate::model::player::Identity;
use crate::play::series::HalfPoints;
use crate::protocol::terms::{WireOpening, WirePair, WirePlayer, WireSeries, WireVariant};
use crate::storage::record::{GamePair, GameSpec, OpeningSource, Settlement};

/// A player as a game shows it: fixed when the game begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SeatedPlayer {
    pub(crate) identity: Identity,
    /// In the game's variant, at its start.
    pub(crate) rating: Option<ShownRating>,
    /// The version a bot gives itself.
    pub(crate) version: Option<String>,
}

impl SeatedPlayer {
    /// As others see it.
    pub(crate) fn to_wire(&self) -> WirePlayer {
        WirePlayer::new(&self.identity, self.rating, self.version.clone())
    }
}

/// The opening as it travels.
pub(crate) fn opening(opening: &OpeningSource) -> WireOpening {
    WireOpening { kind: opening.kind, moves: opening.moves.clone() }
}

/// The series as it travels.
pub(crate) fn pair(pair: &GamePair) -> WirePair {
    WirePair { id: pair.id.clone(), leg: pair.leg, of: pair.of }
}

/// How a series of which the better wins stood before a game of it.
pub(super) fn series(spec: &GameSpec, before: Option<HalfPoints>) -> Option<WireSeries> {
    let (pair, half_points) = (spec.pair.as_ref()?, before?);
    Some(WireSeries { leg: pair.leg, of: pair.of, half_points: half_points.into() })
}

/// The cells of the completed line, if there is one.
pub(crate) fn line(position: &Position) -> Option<Vec<[u8; 2]>> {
    match position.outcome() {
        Some(Outcome::Win { line, .. }) => Some(line.cells().map(fourfold_engine::Cell::numbers).collect()),
        Some(Outcome::Draw) | None => None,
    }
}

/// Both sides' rating changes as they travel.
pub(crate) fn rating_changes(
    ratings: Option<BySide<RatingEntry>>,
) -> Option<crate::protocol::terms::Sides<RatingChange>> {
    let change =
        |entry: RatingEntry| RatingChange { before: entry.before.to_elo(), after: entry.after.to_elo() };
    ratings.map(|entries| entries.map(change).into())
}

fn clock_ms(clock: BySide<Duration>) -> WireClock {
    clock.map(millis).into()
}

fn unrated_because(spec: &GameSpec, settlement: Option<&Settlement>) -> Option<String> {
    let reason = settlement.and_then(|settlement| settlement.unrated_because).or(spec.unrated_because);
    reason.map(|reason| reason.as_str().to_owned())
}

impl RoomState {
    /// The whole game as it stands, for the player of `you` or a watcher.
    pub(crate) fn snapshot(
        &self,
        you: Option<Side>,
        players: &BySide<SeatedPlayer>,
        watching: u32,
        now: Instant,
    ) -> Snapshot {
        let spec = self.spec();
        let end = self.end();
        let unrated_because = unrated_because(spec, end.map(|(_, settlement)| settlement));
        Snapshot {
            game: spec.id.clone(),
            you: you.map(Into::into),
            players: players.as_ref().map(SeatedPlayer::to_wire).into(),
            // What was to count and has ended without doing so is not rated: so says its record, too.
            rated: spec.rated && unrated_because.is_none(),
            unrated_because,
            time: spec.time,
            variant: WireVariant(spec.variant),
            opening: opening(&spec.opening),
            pair: spec.pair.as_ref().map(pair),
            series: series(spec, self.series()),
            moves: self.game().notation(),
            ply: self.game().ply(),
            clock: clock_ms(self.clock(now)),
            to_move: end.is_none().then(|| self.side_to_move().into()),
            event_seq: self.event_seq().into(),
            status: if end.is_some() { GameStatus::Over } else { GameStatus::Live },
            result: end.map(|(ending, _)| ending.result),
            reason: end.map(|(ending, _)| ending.reason),
            line: end.and_then(|_| line(self.position())),
            watching,
            frozen_ms: self.frozen_for(now).map(millis),
            paused: self.standstill_left(now).is_some(),
            given_back_ms: None,
            skipped: None,
            delay_ms: None,
        }
    }

    /// The prompt for the side to move.
    pub(crate) fn turn(&self, round_trip: Duration, now: Instant) -> Turn {
        let side = self.side_to_move();
        let clock = clock_ms(self.clock(now));
        let (you, opponent) = match side {
            Side::First => (clock.first, clock.second),
            Side::Second => (clock.second, clock.first),
        };
        Turn {
            game: self.spec().id.clone(),
            ply: self.game().ply(),
            moves: self.game().notation(),
            legal: self.position().legal_columns().map(fourfold_engine::Column::number).collect(),
            clock: TurnClock { you, opponent },
            budget_ms: millis(self.budget(now)),
            network_ms: millis(round_trip),
            variant: WireVariant(self.spec().variant),
        }
    }

    /// A move as it is told to everybody, and again to whoever repeats it.
    pub(crate) fn moved(&self, played: &PlayedMove) -> Moved {
        Moved {
            game: self.spec().id.clone(),
            event_seq: played.seq.into(),
            ply: played.ply + 1,
            column: played.column.number(),
            by: played.by.into(),
            clock: played.clock_ms.into(),
            spent_ms: played.spent_ms,
            credited_ms: played.credited_ms,
        }
    }

    /// The game's end, once it has ended.
    pub(crate) fn game_end(&self, now: Instant) -> Option<GameEnd> {
        let (ending, settlement) = self.end()?;
        let completed = ending.reason == EndReason::Four;
        Some(GameEnd {
            game: self.spec().id.clone(),
            event_seq: self.event_seq().into(),
            result: ending.result,
            reason: ending.reason,
            by: ending.by.map(Into::into),
            line: completed.then(|| line(self.position())).flatten(),
            moves: self.game().notation(),
            clock: clock_ms(self.clock(now)),
            rating: rating_changes(settlement.ratings),
            unrated_because: unrated_because(self.spec(), Some(settlement)),
        })
    }
}
