//! What is stored, in the form in which every back end stores it.

use fourfold_engine::{BySide, Column, Side, Variant, WinDrawLoss};

use crate::model::clock::TimeControl;
use crate::model::device::Device;
use crate::model::ids::{GameId, PairId, PlayerId, PlayerName, TokenId};
use crate::model::opening::OpeningKind;
use crate::model::rating::elo::{MilliElo, RatingEntry, Standing};
use crate::model::rating::newcomers::Footing;
use crate::model::result::{EndReason, GameResult};
use crate::model::time::UnixMillis;

use crate::model::chain_hash::ChainHash;
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;

pub(crate) use crate::model::rating::eligibility::UnratedReason;

/// A person, a remote bot, a house bot or a guest who has played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredPlayer {
    /// Stays the same for ever.
    pub id: PlayerId,
    /// Unique without regard to case.
    pub name: PlayerName,
    /// Person, bot or guest.
    pub kind: PlayerKind,
    /// Whether it is a bot of the house.
    pub house: bool,
    /// The account that owns a remote bot.
    pub owner: Option<PlayerId>,
    /// What a bot says about itself.
    pub profile: BotProfile,
    /// What a person shows of themselves.
    pub portrait: Portrait,
    pub created_at: UnixMillis,
    /// That it is kept out.
    pub ban: Option<Ban>,
    /// An operator lets it play but ask nobody, unless that has ended by itself.
    pub mute: Option<Ban>,
    /// The live rating with which a bot of the house begins on the standard board, measured beforehand; `None` of
    /// whoever begins as a newcomer. It never changes: every later rating follows from it.
    pub start: Option<MilliElo>,
}

/// Why and how long a player is kept out, or from asking others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ban {
    /// When it ends by itself; never if `None`.
    pub(crate) until: Option<UnixMillis>,
    /// What the player is told.
    pub(crate) reason: String,
}

impl Ban {
    /// Whether it holds now.
    pub(crate) fn holds(&self, now: UnixMillis) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// What a bot says about itself. Empty for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BotProfile {
    pub(crate) version: Option<String>,
    /// One line on how it plays.
    pub(crate) about: Option<String>,
    /// Its source or page.
    pub(crate) url: Option<String>,
    /// The programming language that it is written in.
    pub(crate) language: Option<String>,
}

/// What a token of a bot may be used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum TokenScope {
    /// All that the bot may do: playing, reading, and asking the arena for tests and duels.
    #[default]
    Manage,
    /// Playing, and reading over HTTP.
    Play,
    /// Reading over HTTP alone.
    Read,
}

/// What a token is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// A bot's credential; ends only by revocation.
    Bot,
    /// A person signed in with a browser.
    Session,
}

/// A credential, of which only the digest is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredToken {
    /// Names it without revealing it.
    pub(crate) id: TokenId,
    pub(crate) player: PlayerId,
    pub(crate) kind: TokenKind,
    /// SHA-256 of the secret.
    pub(crate) digest: [u8; 32],
    /// When it was made.
    pub(crate) created_at: UnixMillis,
    /// When it ends by itself.
    pub(crate) expires_at: Option<UnixMillis>,
    /// What a session was begun with; nothing of tokens of bots and of sessions from before it was kept.
    pub(crate) device: Option<Device>,
    /// When it was used last, roughly: see [`Write::NoteUse`](super::store::Write::NoteUse).
    pub(crate) used_at: Option<UnixMillis>,
    /// What a bot's may be used for; a session may be for all.
    pub(crate) scope: TokenScope,
}

/// Where a game's first moves come from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpeningSource {
    /// Where they come from.
    pub(crate) kind: OpeningKind,
    /// The moves, in notation; empty for none.
    pub moves: String,
}

/// A game's place among the games that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GamePair {
    /// The same for all games of the series.
    pub(crate) id: PairId,
    pub(crate) leg: u32,
    /// How many there are.
    pub(crate) of: u32,
}

impl GamePair {
    /// Whether it is a series that ends when it is decided: of an odd number of games the better wins.
    pub(crate) fn is_best_of(&self) -> bool {
        self.of > 1 && self.of % 2 == 1 && self.id.of_tournament().is_none()
    }
}

/// All that is fixed when a game begins. It is stored as the game's event 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameSpec {
    pub id: GameId,
    pub players: BySide<PlayerId>,
    pub(crate) variant: Variant,
    /// How much time each side has.
    pub(crate) time: TimeControl,
    pub(crate) rated: bool,
    /// Why they do not, though it was asked for.
    pub(crate) unrated_because: Option<UnratedReason>,
    /// Who is young and who is not: it limits what either may gain. Nothing is noted of casual games, and of those
    /// that began before there was a limit.
    pub(crate) footing: Option<BySide<Footing>>,
    /// Which versions of bots play; none of people, and of bots that name none.
    pub(crate) versions: BySide<Option<Box<str>>>,
    /// The moves that stand on the board at the start.
    pub opening: OpeningSource,
    /// The series it belongs to.
    pub(crate) pair: Option<GamePair>,
    pub(crate) started_at: UnixMillis,
}

/// One event of a game. `seq` is dense and starts at 1; clients see it as `event_seq`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredEvent {
    /// Its number in the game.
    pub(crate) seq: u32,
    pub(crate) kind: EventKind,
    /// What each side has left after it, in milliseconds.
    pub(crate) clock_ms: BySide<u64>,
    /// When, by the wall clock.
    pub(crate) at: UnixMillis,
}

/// What can happen in a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum EventKind {
    /// The side to move played.
    Move(StoredMove),
    /// The last `plies` moves went back, by agreement.
    Takeback { plies: u32 },
    /// The daemon stopped as planned: the clocks are exact.
    Paused,
    /// The game ended.
    Finished(Ending),
}

impl EventKind {
    /// Whether players and watchers hear of it.
    pub(crate) fn is_public(&self) -> bool {
        match self {
            Self::Move(_) | Self::Takeback { .. } | Self::Finished(_) => true,
            Self::Paused => false,
        }
    }
}

/// A stored move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StoredMove {
    pub(crate) column: Column,
    /// From the turn's start to the receipt, in milliseconds.
    pub(crate) spent_ms: u64,
    /// The part of it given back for the network.
    pub(crate) credited_ms: u64,
    /// What the bot thought, as JSON text of at most 512 bytes; only its owner sees it.
    pub(crate) info: Option<Box<str>>,
}

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ending {
    pub result: GameResult,
    /// How it came to that.
    pub reason: EndReason,
    /// The side at fault.
    pub(crate) by: Option<Side>,
}

/// What the store adds when a game ends, in the transaction of its last event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Settlement {
    /// Place among all finished games, from 1 without holes: the cursor of exports and learners.
    pub number: u64,
    /// What became of both ratings; nothing if the game is not rated.
    pub(crate) ratings: Option<BySide<RatingEntry>>,
    /// Why it is not rated though it was asked for.
    pub(crate) unrated_because: Option<UnratedReason>,
    /// Its hash in the chain of finished games; only somebody else than we can have left it out.
    pub(crate) hash: Option<ChainHash>,
}

/// A game whose stored form makes no sense: somebody else wrote to the store, or the disk lost something.
///
/// It is left out of every list but the verifier's and harms no other game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DamagedGame {
    /// Its id, as far as that can be read.
    pub(crate) id: String,
    /// Its place among the finished games.
    pub(crate) number: Option<u64>,
    pub(crate) what: String,
}

/// A game as it is stored, live or finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredGame {
    /// What was fixed at the start.
    pub spec: GameSpec,
    /// All events in order.
    pub(crate) events: Vec<StoredEvent>,
    pub settlement: Option<Settlement>,
}

impl GameSpec {
    /// Whether it only puts load on the arena.
    pub(crate) fn is_load(&self) -> bool {
        self.unrated_because == Some(UnratedReason::Load)
    }

    /// Whether its players want it in no list: whoever has its address may see it, and nobody else hears of it.
    pub(crate) fn is_private(&self) -> bool {
        self.unrated_because == Some(UnratedReason::Private)
    }

    /// Whether nothing is made of it: explorer, learners, judge and the newest games leave it out.
    pub(crate) fn is_left_out(&self) -> bool {
        self.mark().is_some()
    }

    /// What is to be known of it wherever it goes, whatever becomes of it.
    pub(crate) fn mark(&self) -> Option<UnratedReason> {
        self.unrated_because.filter(|because| matches!(because, UnratedReason::Load | UnratedReason::Private))
    }
}

impl StoredGame {
    /// How it ended, if it did.
    pub fn ending(&self) -> Option<&Ending> {
        match self.events.last().map(|event| &event.kind) {
            Some(EventKind::Finished(ending)) => Some(ending),
            _ => None,
        }
    }

    /// Whether it counts, or is to count once it has ended.
    pub(crate) fn is_rated(&self) -> bool {
        let settled = self.settlement.as_ref().and_then(|settlement| settlement.unrated_because);
        self.spec.rated && settled.or(self.spec.unrated_because).is_none()
    }

    /// When something was stored of it for the last time.
    pub fn last_change(&self) -> UnixMillis {
        self.events.last().map_or(self.spec.started_at, |event| event.at)
    }

    /// All moves in notation, the opening's included and those taken back left out.
    pub fn moves(&self) -> String {
        self.moves_of(&self.events)
    }

    /// The same as it was after so many of the events that clients count; nothing if there were fewer.
    pub fn moves_after(&self, event_seq: u64) -> Option<String> {
        let mut left = event_seq;
        let count = self.events.iter().take_while(|event| {
            let is_within = left > 0;
            left -= u64::from(is_within && event.kind.is_public());
            is_within
        });
        let count = count.count();
        (left == 0).then(|| self.moves_of(&self.events[..count]))
    }

    /// The game as it stood then.
    #[must_use = "the game goes in and comes out"]
    pub(crate) fn until(mut self, then: UnixMillis) -> Self {
        let known = self.events.iter().take_while(|event| event.at <= then).count();
        self.events.truncate(known);
        self
    }

    fn moves_of(&self, events: &[StoredEvent]) -> String {
        let mut columns: Vec<Column> = Vec::new();
        for event in events {
            match &event.kind {
                EventKind::Move(played) => columns.push(played.column),
                EventKind::Takeback { plies } => {
                    columns.truncate(columns.len().saturating_sub(*plies as usize));
                }
                EventKind::Paused | EventKind::Finished(_) => {}
            }
        }
        let played = fourfold_engine::notation::print_moves(&columns);
        format!("{}{played}", self.spec.opening.moves)
    }
}

/// A player's rating in one variant, with what stands behind it. The default is that of a newcomer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RatingRow {
    /// The rating and the games it rests on.
    pub(crate) standing: Standing,
    /// The same games by how they ended.
    pub(crate) score: WinDrawLoss,
}

impl RatingRow {
    /// Before the first rated game, of whom this was measured beforehand.
    pub(crate) fn beginning(start: Option<MilliElo>, variant: Variant) -> Self {
        let measured = start.filter(|_| variant == Variant::STANDARD);
        let rating = measured.unwrap_or(MilliElo::START);
        Self { standing: Standing { rating, games: 0 }, score: WinDrawLoss::default() }
    }
}

/// One row of a leaderboard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeaderboardRow {
    /// From 1; equal ratings share a rank.
    pub(crate) rank: u64,
    pub(crate) player: StoredPlayer,
    pub(crate) rating: RatingRow,
}

impl LeaderboardRow {
    /// Numbers rows that begin at the top and stand in order.
    pub(super) fn ranked(rows: Vec<(StoredPlayer, RatingRow)>) -> Vec<Self> {
        let mut ranked: Vec<Self> = Vec::with_capacity(rows.len());
        for (place, (player, rating)) in (1..).zip(rows) {
            let above = ranked.last().filter(|row| row.rating.standing.rating == rating.standing.rating);
            let rank = above.map_or(place, |row| row.rank);
            ranked.push(Self { rank, player, rating });
        }
        ranked
    }
}

/// One point of a player's history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HistoryPoint {
    /// The game that moved the rating.
    pub(crate) game: GameId,
    pub(crate) at: UnixMillis,
    pub(crate) before: MilliElo,
    pub(crate) after: MilliElo,
}
