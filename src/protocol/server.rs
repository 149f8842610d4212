//! Messages from the server, and the frame that carries one to many receivers.

use std::io::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::client::{DeclineReason, Ping};
use super::error::WireError;
use super::terms::{Sides, Terms, WireOpening, WirePair, WirePlayer, WireSeries, WireSide, WireVariant};
use crate::model::clock::TimeControl;
use crate::model::ids::{ChallengeId, GameId, PlayerId, SessionId, TournamentId};
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
    /// The other side does not give it back.
    TakebackRefused(Offered),
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
    pub(crate) protocol: u32,
    /// Names the session when it is resumed.
    pub(crate) session: SessionId,
    /// Proves the right to resume it.
    pub(crate) secret: String,
    /// Whether this is the session that was asked for; its numbers then go on.
    pub(crate) resumed: bool,
    /// The program at this end.
    pub(crate) server: ServerInfo,
    /// Who the client is here.
    pub(crate) you: WirePlayer,
    /// What the client must keep to.
    pub(crate) limits: Limits,
    /// How often the server pings, in milliseconds.
    pub(crate) heartbeat_ms: u64,
    /// What `react` takes.
    pub(crate) reactions: Vec<String>,
    /// Whether acknowledged moves survive power loss (`strict`) or only the end of the process (`relaxed`).
    pub(crate) durability: String,
    /// What is spoken here beyond the smallest exchange. Clients pass over names that they do not know.
    #[serde(default)]
    pub(crate) features: Vec<String>,
}

/// The program at this end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ServerInfo {
    /// `fourfold`.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
}

/// What a client must keep to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Limits {
    /// Largest frame.
    pub(crate) frame_bytes: usize,
    /// Messages at once, and again in every 20 seconds, spread evenly.
    pub(crate) messages_per_20s: u32,
    /// The same while the client watches and plays nothing.
    #[serde(default)]
    pub(crate) watcher_messages_per_20s: u32,
    /// Games at the same time.
    pub(crate) games: u32,
    /// Illegal moves of a side that one game forgives, unless the side is `strict`.
    #[serde(default)]
    pub(crate) illegal_retries: u8,
}

/// All that was missed has been said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Synced {
    /// Live games of this player.
    pub(crate) games: u32,
    /// Those where it is to move; a `turn` follows for each.
    pub(crate) your_turn: Vec<GameId>,
}

/// Answers a request that has no other answer.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Done {}

/// What is about to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoticeCode {
    /// The daemon restarts; live games are kept.
    Restarting,
    /// The daemon drains: no new games; it stops when the last one is over, at the latest then.
    Draining,
    /// It does not stop after all: games begin again.
    Resumed,
    /// The operator says something to all: `text`, which is empty when it holds no longer.
    Announcement,
    /// A tournament that one has entered begins then; to people alone.
    Tournament,
    /// Faults in a row: the ladder has no games for this bot until then, unless it passes the self-test.
    Paused,
}

/// Something is about to happen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// What.
    pub(crate) code: NoticeCode,
    /// When, in milliseconds.
    pub(crate) in_ms: u64,
    /// What an `announcement` says, one line, or what a tournament is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The last part of the link to a `tournament` that somebody has made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tournament: Option<TournamentId>,
}

impl Notice {
    /// Something that will be after so long.
    pub(crate) fn due(code: NoticeCode, wait: Duration) -> Self {
        Self {
            code,
            in_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            text: None,
            tournament: None,
        }
    }

    /// What an operator says.
    pub(crate) fn announcement(text: String) -> Self {
        Self { code: NoticeCode::Announcement, in_ms: 0, text: Some(text), tournament: None }
    }
}

/// An offer to play.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// Names it in `accept`, `decline` and `cancel`.
    pub(crate) challenge: ChallengeId,
    /// Who offers.
    pub(crate) from: WirePlayer,
    /// Who is asked; nobody in particular if it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<WirePlayer>,
    /// What is offered.
    #[serde(flatten)]
    pub(crate) terms: Terms,
    /// How long it stands, in milliseconds.
    pub(crate) expires_ms: u64,
    /// Where an open offer can be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// Whether it stands in the list of open offers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) listed: bool,
}

/// How an offer ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChallengeOutcome {
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
    pub(crate) challenge: ChallengeId,
    /// How it ended.
    pub(crate) how: ChallengeOutcome,
    /// Why it was declined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<DeclineReason>,
}

/// Nobody came to a seek yet, but a house bot would play; `play_bot` takes it up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BotOffer {
    /// The house bot nearest in strength.
    pub(crate) bot: WirePlayer,
    /// The time of the seek.
    pub(crate) time: TimeControl,
    /// The board of the seek.
    pub(crate) variant: WireVariant,
}

/// `live` or `over`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GameStatus {
    /// In progress.
    Live,
    /// Ended.
    Over,
}

/// What each side has left, in milliseconds.
pub(crate) type WireClock = Sides<u64>;

/// A game as it stands.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// Which game.
    pub game: GameId,
    /// The receiver's side, or null for a watcher.
    pub(crate) you: Option<WireSide>,
    /// Who plays.
    pub(crate) players: Sides<WirePlayer>,
    /// Whether ratings change.
    pub(crate) rated: bool,
    /// Why they do not, though it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unrated_because: Option<String>,
    /// How much time each side has from the start.
    pub(crate) time: TimeControl,
    /// Board size.
    pub(crate) variant: WireVariant,
    /// The moves that stood on the board at the start.
    pub(crate) opening: WireOpening,
    /// The series it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pair: Option<WirePair>,
    /// How the series stood before this game, if it is one of which the better wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) series: Option<WireSeries>,
    /// All moves, the opening's included.
    pub(crate) moves: String,
    /// Stones on the board.
    pub(crate) ply: u32,
    /// What each side has left now.
    pub(crate) clock: WireClock,
    /// Whose turn it is; null when the game is over.
    pub(crate) to_move: Option<WireSide>,
    /// The last event of the game that this includes.
    pub event_seq: u64,
    /// Live or over.
    pub(crate) status: GameStatus,
    /// When over: who won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<GameResult>,
    /// When over: how it came to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<EndReason>,
    /// When over: the cells of the line as [column, row], both from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<Vec<[u8; 2]>>,
    /// How many watch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) watching: u32,
    /// Clocks stand still, after a restart, until the side to move is back or this many milliseconds passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) frozen_ms: Option<u64>,
    /// A teacher lets the games of the class stand still: clocks stand, and moves are refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) paused: bool,
    /// The server stood still, and the side to move got so many milliseconds back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) given_back_ms: Option<u64>,
    /// Messages that a slow watcher lost before this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) skipped: Option<u64>,
    /// To watchers: they see the game so many milliseconds late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delay_ms: Option<u64>,
}

impl Snapshot {
    /// The end of a game that is over, as far as its snapshot tells: without ratings and without who was at fault.
    pub(crate) fn end(&self) -> Option<GameEnd> {
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
    pub(crate) fn side_of(&self, player: &PlayerId) -> Option<WireSide> {
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
pub(crate) struct TurnClock {
    /// The receiver's, in milliseconds.
    pub(crate) you: u64,
    /// The other side's, in milliseconds.
    pub(crate) opponent: u64,
}

/// It is the receiver's turn. Says everything that a stateless bot needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// Which game.
    pub(crate) game: GameId,
    /// Stones on the board; goes back in the `move`.
    pub(crate) ply: u32,
    /// All moves so far.
    pub(crate) moves: String,
    /// Columns that are not full, from 1.
    pub(crate) legal: Vec<u8>,
    /// What is left.
    pub(crate) clock: TurnClock,
    /// The hard limit for this move, in milliseconds.
    pub(crate) budget_ms: u64,
    /// Measured round trip to the receiver, in milliseconds.
    pub(crate) network_ms: u64,
    /// Board size.
    pub(crate) variant: WireVariant,
}

/// A stone was played and is stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// Which game.
    pub game: GameId,
    /// The number of this event in the game.
    pub event_seq: u64,
    /// Stones on the board after it.
    pub(crate) ply: u32,
    /// Where, from 1.
    pub(crate) column: u8,
    /// Whose.
    pub(crate) by: WireSide,
    /// What each side has left after it.
    pub(crate) clock: WireClock,
    /// From the turn's start to the move's receipt, in milliseconds.
    pub(crate) spent_ms: u64,
    /// The part of it that was given back for the network.
    pub(crate) credited_ms: u64,
}

/// A side wants something of the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Offered {
    /// Which game.
    pub(crate) game: GameId,
    /// Which side.
    pub(crate) by: WireSide,
}

/// A side showed a feeling.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Reaction {
    /// Which game.
    pub(crate) game: GameId,
    /// Which side.
    pub(crate) by: WireSide,
    /// One of the list in `welcome`: an emoji, or the code of a phrase, such as `phrase:hello`.
    pub(crate) emoji: String,
}

/// The other side's connection was lost, or is back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OpponentGone {
    /// Which game.
    pub(crate) game: GameId,
    /// Which side is gone or back.
    pub(crate) by: WireSide,
    /// true: gone.
    pub(crate) gone: bool,
    /// When the win may be claimed, in milliseconds; only while it is the absent side's turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) claim_ms: Option<u64>,
}

/// A rating before and after a game, in Elo points.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RatingChange {
    /// Before.
    pub(crate) before: i32,
    /// After.
    pub(crate) after: i32,
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
    pub(crate) by: Option<WireSide>,
    /// The cells of the line as [column, row], both from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<Vec<[u8; 2]>>,
    /// All moves.
    pub moves: String,
    /// What each side had left.
    pub(crate) clock: WireClock,
    /// What became of the ratings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rating: Option<Sides<RatingChange>>,
    /// Why nothing did, though it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unrated_because: Option<String>,
}

/// How many watch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Crowd {
    /// Which game.
    pub(crate) game: GameId,
    /// Sessions that watch; above 100 rounded down to tens.
    pub(crate) watching: u32,
}

/// What a live game is worth for certain, if both sides play perfectly from here on; to watchers only.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Truth {
    /// Which game.
    pub(crate) game: GameId,
    /// The ply after which it is worth that.
    pub(crate) ply: u32,
    /// Who wins; null for a draw.
    pub(crate) winner: Option<WireSide>,
    /// Plies until the end.
    pub(crate) plies: u32,
}

/// A seek as the lobby shows it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SeekEntry {
    /// Who seeks.
    pub(crate) player: WirePlayer,
    /// How much time each side has.
    pub(crate) time: TimeControl,
    /// Whether ratings change.
    pub(crate) rated: bool,
    /// Board size.
    pub(crate) variant: WireVariant,
}

/// A live game as lists show it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LiveGame {
    /// Which game.
    pub(crate) game: GameId,
    /// Who plays.
    pub(crate) players: Sides<WirePlayer>,
    /// Whether ratings change.
    pub(crate) rated: bool,
    /// How much time each side has.
    pub(crate) time: TimeControl,
    /// Board size.
    pub(crate) variant: WireVariant,
    /// All moves so far.
    pub(crate) moves: String,
    /// Stones on the board.
    pub(crate) ply: u32,
    /// How many watch.
    pub(crate) watching: u32,
    /// When it began, RFC 3339.
    pub(crate) started_at: String,
    /// The tournament that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tournament: Option<TournamentId>,
    /// How the series stood before it, if it is one of which the better wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) series: Option<WireSeries>,
}

/// Feed `lobby`: seeks, open challenges and live games, whole each time.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LobbyFeed {
    /// Players who seek.
    pub(crate) seeks: Vec<SeekEntry>,
    /// Live games, the best rated first, at most 24.
    pub(crate) games: Vec<LiveGame>,
    /// All live games.
    pub(crate) live: u32,
    /// Connected players, bots included.
    pub(crate) online: u32,
}

/// Feed `tv`: the game to show now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TvFeed {
    /// Null when nothing is played. Its moves come by `watch` of the game.
    pub(crate) game: Option<LiveGame>,
}

/// One player's new rating.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LadderEntry {
    /// Who.
    pub(crate) player: WirePlayer,
    /// What the last game changed, in Elo points.
    pub(crate) delta: i32,
}

/// Feed `ladder`: ratings that changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LadderFeed {
    /// Board size that the ratings are of.
    pub(crate) variant: WireVariant,
    /// The players of one finished game.
    pub(crate) changes: Vec<LadderEntry>,
}

/// Feed `results`: a finished game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResultFeed {
    /// Who played.
    pub(crate) players: Sides<WirePlayer>,
    /// Whether it was rated.
    pub(crate) rated: bool,
    /// Board size.
    pub(crate) variant: WireVariant,
    /// Its end.
    pub(crate) end: GameEnd,
}

/// Which feed or game a message belongs to, so that a full queue knows what it may drop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Urgency {
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
    text: OnceLock<Arc<str>>,
}

impl Frame {
    pub(crate) fn new(message: ServerMessage) -> Self {
        Self(Arc::new(FrameInner { message, text: OnceLock::new() }))
    }

    pub(crate) fn message(&self) -> &ServerMessage {
        &self.0.message
    }

    /// The JSON object without `seq` and `re`: these differ from receiver to receiver.
    ///
    /// # Panics
    ///
    /// Never: all message types serialise, as the wire snapshots show.
    pub(crate) fn body(&self) -> &Arc<str> {
        self.0.text.get_or_init(|| {
            serde_json::to_string(&self.0.message).expect("message types have string keys only").into()
        })
    }

    /// The whole text for one receiver.
    pub(crate) fn text(&self, seq: u64, re: Option<&str>) -> String {
        NumberedText::new(self.body(), seq, re).to_string()
    }
}

/// The whole text of a message for one receiver: the body that all share, with `seq` and `re` put in front of its
/// fields. It is written where it is sent from, and nowhere before.
#[derive(Debug)]
pub(crate) struct NumberedText<'a> {
    seq: u64,
    re: Option<String>,
    fields: &'a str,
}

impl<'a> NumberedText<'a> {
    /// # Panics
    ///
    /// Never: the body is an object that was just written.
    pub(crate) fn new(body: &'a str, seq: u64, re: Option<&str>) -> Self {
        let re = re.map(|re| serde_json::to_string(re).expect("a string serialises"));
        Self { seq, re, fields: body.strip_prefix('{').expect("a message is an object") }
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        let digits = self.seq.checked_ilog10().map_or(1, |log| log as usize + 1);
        let of_re = self.re.as_ref().map_or(0, |re| r#""re":,"#.len() + re.len());
        r#"{"seq":,"#.len() + digits + of_re + self.fields.len()
    }

    /// Puts it behind what is there.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        // Memory takes all.
        let _ = write!(out, "{self}");
    }
}

impl std::fmt::Display for NumberedText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{\"seq\":{},", self.seq)?;
        if let Some(re) = &self.re {
            write!(f, "\"re\":{re},")?;
        }
        f.write_str(self.fields)
    }
}

/// Written as its body stands, which was made once.
impl Serialize for Frame {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let body: &RawValue = serde_json::from_str(self.body()).map_err(serde::ser::Error::custom)?;
        body.serialize(serializer)
    }
}

/// Read once, by whoever has it from elsewhere: what goes on to sockets is the text that came.
impl<'de> Deserialize<'de> for Frame {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let message = serde_json::from_str(text.get()).map_err(serde::de::Error::custom)?;
        let body = Arc::from(Box::<str>::from(text));
        Ok(Self(Arc::new(FrameInner { message, text: OnceLock::from(body) })))
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
