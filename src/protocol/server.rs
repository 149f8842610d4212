//! Messages from the server, and the frame that carries one to many receivers.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::client::{DeclineReason, Feed, Ping};
use super::error::WireError;
use super::terms::{Sides, Terms, WireOpening, WirePair, WirePlayer, WireSide, WireVariant};
use crate::model::clock::TimeControl;
use crate::model::ids::{ChallengeId, GameId, PlayerId, SessionId};
use crate::model::result::{EndReason, GameResult};

/// Everything that the server may say. Receivers ignore types that they do not know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerMessage {
    /// Answers `hello`.
    Welcome(Box<Welcome>),
    /// All that was missed has been said.
    Synced(Synced),
    /// Answers a request that has no other answer.
    Ok(Done),
    /// Refuses a request.
    Error(Box<WireError>),
    /// Something is about to happen.
    Notice(Notice),
    /// Asks for a `pong`.
    Ping(Ping),
    /// Answers a `ping`.
    Pong(Ping),
    /// An offer to play.
    Challenge(Box<Offer>),
    /// An offer's end.
    ChallengeEnd(ChallengeEnd),
    /// Nobody came to a seek yet, but a house bot would play.
    BotOffer(BotOffer),
    /// A game as it stands.
    Game(Box<Snapshot>),
    /// It is the receiver's turn.
    Turn(Box<Turn>),
    /// A stone was played and is stored.
    Moved(Moved),
    /// The loser or the winner wants another game.
    RematchOffer(Offered),
    /// A side wants its last move back.
    TakebackOffer(Offered),
    /// A side showed a feeling.
    Reaction(Reaction),
    /// The other side's connection was lost, or is back.
    OpponentGone(OpponentGone),
    /// A game's end.
    GameEnd(Box<GameEnd>),
    /// How many watch.
    Crowd(Crowd),
    /// What a watched game is worth.
    Truth(Truth),
    /// Feed `lobby`: seeks and live games.
    Lobby(LobbyFeed),
    /// Feed `tv`: the game to show now.
    Tv(TvFeed),
    /// Feed `ladder`: ratings that changed.
    Ladder(LadderFeed),
    /// Feed `results`: a finished game.
    Result(Box<ResultFeed>),
}

/// Answers `hello`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Welcome {
    /// The version spoken.
    pub protocol: u32,
    /// Names the session when it is resumed.
    pub session: SessionId,
    /// Proves the right to resume it.
    pub secret: String,
    /// Whether this is the session that was asked for; its numbers then go on.
    pub resumed: bool,
    /// The program at this end.
    pub server: ServerInfo,
    /// Who the client is here.
    pub you: WirePlayer,
    /// What the client must keep to.
    pub limits: Limits,
    /// How often the server pings, in milliseconds.
    pub heartbeat_ms: u64,
    /// What `react` takes.
    pub reactions: Vec<String>,
    /// Whether acknowledged moves survive power loss (`strict`) or only the end of the process (`relaxed`).
    pub durability: String,
}

/// The program at this end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServerInfo {
    /// `fourfold`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What a client must keep to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Largest frame.
    pub frame_bytes: usize,
    /// Messages in any 20 seconds.
    pub messages_per_20s: u32,
    /// Games at the same time.
    pub games: u32,
}

/// All that was missed has been said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Synced {
    /// Live games of this player.
    pub games: u32,
    /// Those where it is to move; a `turn` follows for each.
    pub your_turn: Vec<GameId>,
}

/// Answers a request that has no other answer.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Done {}

/// What is about to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeCode {
    /// The daemon restarts; live games are kept.
    Restarting,
    /// The daemon drains: no new games.
    Draining,
}

/// Something is about to happen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// What.
    pub code: NoticeCode,
    /// When, in milliseconds.
    pub in_ms: u64,
}

/// An offer to play.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// Names it in `accept`, `decline` and `cancel`.
    pub challenge: ChallengeId,
    /// Who offers.
    pub from: WirePlayer,
    /// Who is asked; nobody in particular if it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<WirePlayer>,
    /// What is offered.
    #[serde(flatten)]
    pub terms: Terms,
    /// How long it stands, in milliseconds.
    pub expires_ms: u64,
    /// Where an open offer can be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// How an offer ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChallengeOutcome {
    /// The game begins.
    Accepted,
    /// The challenged said no.
    Declined,
    /// The challenger withdrew it or went away.
    Canceled,
    /// Nobody answered in time.
    Expired,
    /// The game could not begin.
    Refused,
}

/// An offer's end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChallengeEnd {
    /// Which one.
    pub challenge: ChallengeId,
    /// How it ended.
    pub how: ChallengeOutcome,
    /// Why it was declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<DeclineReason>,
}

/// Nobody came to a seek yet, but a house bot would play; `play_bot` takes it up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BotOffer {
    /// The house bot nearest in strength.
    pub bot: WirePlayer,
    /// The time of the seek.
    pub time: TimeControl,
    /// The board of the seek.
    pub variant: WireVariant,
}

/// `live` or `over`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GameStatus {
    /// In progress.
    Live,
    /// Ended.
    Over,
}

/// What each side has left, in milliseconds.
pub type WireClock = Sides<u64>;

/// A game as it stands.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// Which game.
    pub game: GameId,
    /// The receiver's side, or null for a watcher.
    pub you: Option<WireSide>,
    /// Who plays.
    pub players: Sides<WirePlayer>,
    /// Whether ratings change.
    pub rated: bool,
    /// Why they do not, though it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrated_because: Option<String>,
    /// How much time each side has from the start.
    pub time: TimeControl,
    /// Board size.
    pub variant: WireVariant,
    /// The moves that stood on the board at the start.
    pub opening: WireOpening,
    /// The series it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<WirePair>,
    /// All moves, the opening's included.
    pub moves: String,
    /// Stones on the board.
    pub ply: u32,
    /// What each side has left now.
    pub clock: WireClock,
    /// Whose turn it is; null when the game is over.
    pub to_move: Option<WireSide>,
    /// The last event of the game that this includes.
    pub event_seq: u64,
    /// Live or over.
    pub status: GameStatus,
    /// When over: who won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<GameResult>,
    /// When over: how it came to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// When over: the cells of the line as [column, row], both from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<[u8; 2]>>,
    /// How many watch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub watching: u32,
    /// Clocks stand still, after a restart, until the side to move is back or this many milliseconds passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen_ms: Option<u64>,
    /// Messages that a slow watcher lost before this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
}

impl Snapshot {
    /// The end of a game that is over, as far as its snapshot tells: without ratings and without who was at fault.
    pub fn end(&self) -> Option<GameEnd> {
        match (self.status, self.result, self.reason) {
            (GameStatus::Over, Some(result), Some(reason)) => Some(GameEnd {
                game: self.game.clone(),
                event_seq: self.event_seq,
                result,
                reason,
                by: None,
                line: self.line.clone(),
                moves: self.moves.clone(),
                clock: self.clock,
                rating: None,
                unrated_because: None,
            }),
            (GameStatus::Live | GameStatus::Over, _, _) => None,
        }
    }

    /// At which side this player sits, if it plays.
    pub fn side_of(&self, player: &PlayerId) -> Option<WireSide> {
        if self.players.first.id == *player {
            Some(WireSide::First)
        } else if self.players.second.id == *player {
            Some(WireSide::Second)
        } else {
            None
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// What the side to move has left, and the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TurnClock {
    /// The receiver's, in milliseconds.
    pub you: u64,
    /// The other side's, in milliseconds.
    pub opponent: u64,
}

/// It is the receiver's turn. Says everything that a stateless bot needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// Which game.
    pub game: GameId,
    /// Stones on the board; goes back in the `move`.
    pub ply: u32,
    /// All moves so far.
    pub moves: String,
    /// Columns that are not full, from 1.
    pub legal: Vec<u8>,
    /// What is left.
    pub clock: TurnClock,
    /// The hard limit for this move, in milliseconds.
    pub budget_ms: u64,
    /// Measured round trip to the receiver, in milliseconds.
    pub network_ms: u64,
    /// Board size.
    pub variant: WireVariant,
}

/// A stone was played and is stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// Which game.
    pub game: GameId,
    /// The number of this event in the game.
    pub event_seq: u64,
    /// Stones on the board after it.
    pub ply: u32,
    /// Where, from 1.
    pub column: u8,
    /// Whose.
    pub by: WireSide,
    /// What each side has left after it.
    pub clock: WireClock,
    /// From the turn's start to the move's receipt, in milliseconds.
    pub spent_ms: u64,
    /// The part of it that was given back for the network.
    pub credited_ms: u64,
}

/// A side wants something of the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Offered {
    /// Which game.
    pub game: GameId,
    /// Which side.
    pub by: WireSide,
}

/// A side showed a feeling.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Reaction {
    /// Which game.
    pub game: GameId,
    /// Which side.
    pub by: WireSide,
    /// One of the list in `welcome`.
    pub emoji: String,
}

/// The other side's connection was lost, or is back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OpponentGone {
    /// Which game.
    pub game: GameId,
    /// Which side is gone or back.
    pub by: WireSide,
    /// true: gone.
    pub gone: bool,
    /// When the win may be claimed, in milliseconds; only while it is the absent side's turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim_ms: Option<u64>,
}

/// A rating before and after a game, in Elo points.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RatingChange {
    /// Before.
    pub before: i32,
    /// After.
    pub after: i32,
}

/// A game's end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GameEnd {
    /// Which game.
    pub game: GameId,
    /// The number of this event in the game.
    pub event_seq: u64,
    /// Who won.
    pub result: GameResult,
    /// How it came to that.
    pub reason: EndReason,
    /// The side at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<WireSide>,
    /// The cells of the line as [column, row], both from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<[u8; 2]>>,
    /// All moves.
    pub moves: String,
    /// What each side had left.
    pub clock: WireClock,
    /// What became of the ratings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rating: Option<Sides<RatingChange>>,
    /// Why nothing did, though it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrated_because: Option<String>,
}

/// How many watch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Crowd {
    /// Which game.
    pub game: GameId,
    /// Sessions that watch; above 100 rounded down to tens.
    pub watching: u32,
}

/// What a live game is worth for certain, if both sides play perfectly from here on; to watchers only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Truth {
    /// Which game.
    pub game: GameId,
    /// The ply after which it is worth that.
    pub ply: u32,
    /// Who wins; null for a draw.
    pub winner: Option<WireSide>,
    /// Plies until the end.
    pub plies: u32,
}

/// A seek as the lobby shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeekEntry {
    /// Who seeks.
    pub player: WirePlayer,
    /// How much time each side has.
    pub time: TimeControl,
    /// Whether ratings change.
    pub rated: bool,
    /// Board size.
    pub variant: WireVariant,
}

/// A live game as lists show it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LiveGame {
    /// Which game.
    pub game: GameId,
    /// Who plays.
    pub players: Sides<WirePlayer>,
    /// Whether ratings change.
    pub rated: bool,
    /// How much time each side has.
    pub time: TimeControl,
    /// Board size.
    pub variant: WireVariant,
    /// All moves so far.
    pub moves: String,
    /// Stones on the board.
    pub ply: u32,
    /// How many watch.
    pub watching: u32,
    /// When it began, RFC 3339.
    pub started_at: String,
}

/// Feed `lobby`: seeks, open challenges and live games, whole each time.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LobbyFeed {
    /// Players who seek.
    pub seeks: Vec<SeekEntry>,
    /// Live games, the best rated first, at most 24.
    pub games: Vec<LiveGame>,
    /// All live games.
    pub live: u32,
    /// Connected players, bots included.
    pub online: u32,
}

/// Feed `tv`: the game to show now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TvFeed {
    /// Null when nothing is played. Its moves come by `watch` of the game.
    pub game: Option<LiveGame>,
}

/// One player's new rating.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LadderEntry {
    /// Who.
    pub player: WirePlayer,
    /// What the last game changed, in Elo points.
    pub delta: i32,
}

/// Feed `ladder`: ratings that changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LadderFeed {
    /// Board size that the ratings are of.
    pub variant: WireVariant,
    /// The players of one finished game.
    pub changes: Vec<LadderEntry>,
}

/// Feed `results`: a finished game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResultFeed {
    /// Who played.
    pub players: Sides<WirePlayer>,
    /// Whether it was rated.
    pub rated: bool,
    /// Board size.
    pub variant: WireVariant,
    /// Its end.
    pub end: GameEnd,
}

/// Which feed or game a message belongs to, so that a full queue knows what it may drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Urgency {
    /// Must arrive: the connection is closed if it cannot.
    Must,
    /// A watcher's update, which a later snapshot replaces.
    Droppable,
}

/// One message on its way to any number of receivers: typed for those in this process, text for sockets.
///
/// The text is made once, by the first receiver that needs it, and shared by all others.
#[derive(Clone, Debug)]
pub struct Frame(Arc<FrameInner>);

#[derive(Debug)]
struct FrameInner {
    message: ServerMessage,
    text: OnceLock<Bytes>,
}

impl Frame {
    pub fn new(message: ServerMessage) -> Self {
        Self(Arc::new(FrameInner { message, text: OnceLock::new() }))
    }

    pub fn message(&self) -> &ServerMessage {
        &self.0.message
    }

    /// The JSON object without `seq` and `re`: these differ from receiver to receiver.
    ///
    /// # Panics
    ///
    /// Never: all message types serialise, as the wire snapshots show.
    pub fn body(&self) -> &Bytes {
        self.0.text.get_or_init(|| {
            serde_json::to_vec(&self.0.message).expect("message types have string keys only").into()
        })
    }

    /// The whole text for one receiver: the shared body with `seq` and `re` put in front of its fields.
    ///
    /// # Panics
    ///
    /// Never: the body is JSON that was just written.
    pub fn text(&self, seq: u64, re: Option<&str>) -> String {
        let body = self.body();
        let fields = std::str::from_utf8(&body[1..]).expect("serde_json writes UTF-8");
        match re {
            None => format!("{{\"seq\":{seq},{fields}"),
            Some(re) => {
                let re: Box<RawValue> = serde_json::value::to_raw_value(re).expect("a string serialises");
                format!("{{\"seq\":{seq},\"re\":{re},{fields}")
            }
        }
    }
}

impl From<ServerMessage> for Frame {
    fn from(message: ServerMessage) -> Self {
        Self::new(message)
    }
}

impl From<WireError> for Frame {
    fn from(error: WireError) -> Self {
        Self::new(ServerMessage::Error(Box::new(error)))
    }
}

/// The names of the feeds, as `watch` takes them.
pub const FEEDS: [Feed; 4] = [Feed::Lobby, Feed::Tv, Feed::Ladder, Feed::Results];
