//! Messages from clients: people's pages, remote bots, watchers.

use fourfold_engine::Variant;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::error::WireError;
use super::terms::{Accepts, Range, RangeElo, Terms, WireOpening, WireSide, WireVariant, null_as_left_out};
use super::{INFO_BYTES_MAX, PROTOCOL_VERSION};
use crate::model::bounded::{Bounded, BoundedLong};
use crate::model::clock::GameTime;
use crate::model::ids::{ChallengeId, GameId};
use crate::model::opening::SideChoice;
use crate::model::pace::BotPace;
use crate::model::player::OpponentKind;
use crate::model::text::{Lines, check_text};

/// Highest number of a message at which a session is continued: beyond 2^53 JavaScript cannot count.
pub(crate) const SEQ_MAX: u64 = 1 << 53;

/// Games at the same time: as many as an arena can be set up for. What is over the arena's own limit counts as that.
pub(crate) type GameCount = Bounded<0, 1_000_000>;

/// One text frame: a message and the `id` that its answer will carry as `re`.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// Chosen by the client.
    pub(crate) id: Option<String>,
    pub message: ClientMessage,
    /// The frame as it came, of a `move` alone: whoever wrote the bot is shown one that is illegal.
    pub(crate) text: Option<Box<str>>,
}

/// Everything that a client may say.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientMessage {
    /// Opens or resumes a session; the first message of every connection.
    Hello(Box<Hello>),
    /// Changes what the player accepts.
    Set(Settings),
    /// Leaves.
    Bye(Bye),
    /// Asks for a `pong`.
    Ping(Ping),
    /// Answers a `ping`.
    Pong(Ping),
    /// Joins the pool.
    Seek(Seek),
    /// Leaves the pool.
    Unseek,
    /// Offers a game to one player.
    Challenge(Challenge),
    /// Offers a game to whoever opens the link.
    OpenChallenge(OpenChallenge),
    /// Takes an offer.
    Accept(Accept),
    /// Refuses an offer.
    Decline(Decline),
    /// Withdraws one's own offer.
    Cancel(OnChallenge),
    /// Starts a game against a house bot.
    PlayBot(PlayBot),
    /// Plays a stone.
    Move(Move),
    /// Gives up the game.
    Resign(Resign),
    /// Ends a game that has not begun in earnest.
    Abort(OnGame),
    /// Offers, or agrees to, another game with sides swapped.
    Rematch(OnGame),
    /// Takes the win after the opponent's absence.
    Claim(OnGame),
    /// Asks for a fresh snapshot.
    Sync(OnGame),
    /// Asks to take the last move back.
    Takeback(OnGame),
    /// Answers such a request.
    TakebackAnswer(TakebackAnswer),
    /// Shows the opponent a feeling.
    React(React),
    /// Watches a game or a feed.
    Watch(Watch),
    /// Stops watching.
    Unwatch(Watch),
}

/// The fields of `hello`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hello {
    /// The protocol version spoken: 1.
    pub(crate) protocol: Bounded<PROTOCOL_VERSION, PROTOCOL_VERSION>,
    /// A bot's or account's token, unless the upgrade carried it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
    /// The program at the other end.
    pub(crate) client: ClientInfo,
    /// What a bot says about itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bot: Option<BotInfo>,
    /// What the player is willing to play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) accepts: Option<Accepts>,
    /// Whether a bot stands on the ladder and in the directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) open: Option<bool>,
    /// Games at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_games: Option<GameCount>,
    /// Whether the first illegal move loses the sender's games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) strict: Option<bool>,
    /// Features without which the client cannot do; one that is not spoken here is refused.
    #[serde(default, deserialize_with = "null_as_left_out", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) needs: Vec<String>,
    /// The session to go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resume: Option<Resume>,
}

/// The program at the other end, for logs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ClientInfo {
    /// What it is called.
    #[serde(default)]
    pub(crate) name: String,
    /// Its version.
    #[serde(default)]
    pub(crate) version: String,
}

/// What a bot says about itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BotInfo {
    /// Shown beside the name.
    pub version: String,
    /// One line about how it plays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Where its source or page is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The programming language that it is written in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// The session to go on with, as `welcome` named it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Resume {
    /// `session` of the `welcome`.
    pub(crate) session: String,
    /// `secret` of the `welcome`.
    pub(crate) secret: String,
    /// The last `seq` that was received.
    pub(crate) seq: BoundedLong<0, SEQ_MAX>,
}

/// The fields of `set`; what is left out stays as it is.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// Whether a bot stands on the ladder and in the directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) open: Option<bool>,
    /// What the player is willing to play.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) accepts: Option<Accepts>,
    /// Games at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_games: Option<GameCount>,
    /// How many of `max_games` only people may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reserve_for_humans: Option<GameCount>,
    /// Whether the first illegal move loses the sender's games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) strict: Option<bool>,
}

/// The fields of `bye`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Bye {
    /// true: no new games, and the connection ends with the last game.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<bool>")]
    pub(crate) drain: bool,
}

/// The fields of `ping` and `pong`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Ping {
    /// Comes back in the answer.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<BoundedLong<0, { u64::MAX }>>")]
    pub(crate) n: BoundedLong<0, { u64::MAX }>,
}

/// The fields of `seek`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Seek {
    /// How much time each side has.
    pub(crate) time: GameTime,
    /// Whether ratings change.
    pub(crate) rated: bool,
    /// Who may come; people and bots if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) opponents: Option<Vec<OpponentKind>>,
    /// Ratings of opponents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rating: Option<Range<RangeElo>>,
    /// Board size.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<WireVariant>")]
    pub(crate) variant: WireVariant,
}

/// The fields of `challenge`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Challenge {
    /// Name of who is challenged, without regard to case.
    pub(crate) to: String,
    /// What is offered.
    #[serde(flatten)]
    pub(crate) terms: Terms,
    /// Makes a repeated request the same challenge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
}

/// The fields of `open_challenge`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OpenChallenge {
    /// What is offered.
    #[serde(flatten)]
    pub(crate) terms: Terms,
    /// Whether it stands in the list of open offers, for whoever wants to take it; by correspondence only.
    #[serde(default, deserialize_with = "null_as_left_out", skip_serializing_if = "std::ops::Not::not")]
    #[schemars(with = "Option<bool>")]
    pub(crate) listed: bool,
    /// Makes a repeated request the same challenge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
}

/// Takes an offer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Accept {
    /// Which one.
    pub(crate) challenge: ChallengeId,
    /// Which side to take, where the challenge leaves that to whoever accepts; drawn if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) side: Option<WireSide>,
}

/// The fields of `cancel`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OnChallenge {
    /// Which one.
    pub(crate) challenge: ChallengeId,
}

/// Why a challenge is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeclineReason {
    /// Perhaps another time.
    Later,
    /// Playing already.
    Busy,
    /// Too little time.
    TooFast,
    /// Too much time.
    TooSlow,
    /// Rated games are not wanted.
    Rated,
    /// Casual games are not wanted.
    Casual,
    /// Not on this board.
    Variant,
    /// Not against bots.
    NoBots,
    /// None of these.
    #[default]
    Other,
}

/// The fields of `decline`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Decline {
    /// Which one.
    pub(crate) challenge: ChallengeId,
    /// Why.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<DeclineReason>")]
    pub(crate) reason: DeclineReason,
}

/// The fields of `play_bot`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlayBot {
    /// Name of a house bot, without regard to case.
    pub(crate) bot: String,
    /// How much time each side has.
    pub(crate) time: GameTime,
    /// The player's own side.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<SideChoice>")]
    pub(crate) side: SideChoice,
    /// Board size.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<WireVariant>")]
    pub(crate) variant: WireVariant,
    /// Whether ratings change.
    #[serde(default, deserialize_with = "null_as_left_out")]
    #[schemars(with = "Option<bool>")]
    pub(crate) rated: bool,
    /// The position to begin from, in casual games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) opening: Option<WireOpening>,
    /// How fast the bot answers.
    #[serde(default, deserialize_with = "null_as_left_out", skip_serializing_if = "BotPace::is_default")]
    #[schemars(with = "Option<BotPace>")]
    pub(crate) pace: BotPace,
}

/// A column as the client wrote it. A value that is no column is the room's business, because it counts
/// against the mover if the ply is due; so it is carried there instead of failing the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
#[derive(Default)]
pub(crate) enum ColumnField {
    /// A whole number, perhaps out of range.
    Number(i64),
    /// Anything else, or nothing.
    #[default]
    Malformed,
}

impl<'de> Deserialize<'de> for ColumnField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(value.as_i64().map_or(Self::Malformed, Self::Number))
    }
}

impl JsonSchema for ColumnField {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Column".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "integer", "minimum": 1, "maximum": Variant::MAX_WIDTH })
    }
}

/// The fields of `move`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Move {
    /// Which game.
    pub(crate) game: GameId,
    /// Stones on the board before the move; with `game`, the move's idempotency key.
    pub(crate) ply: Bounded<0, { u32::MAX }>,
    /// 1 to the board's width, left to right.
    #[serde(default)]
    pub(crate) column: ColumnField,
    /// What the bot thought, shown to its owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) info: Option<MoveInfo>,
}

/// What a bot thought about its move.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct MoveInfo {
    /// In the bot's own unit, for the side to move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
    /// Plies looked ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth: Option<Bounded<0, { u32::MAX }>>,
    /// Positions looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nodes: Option<BoundedLong<0, { u64::MAX }>>,
    /// The line it expects, as a move string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pv: Option<String>,
    /// Anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

impl MoveInfo {
    /// The text that is kept with the move.
    ///
    /// # Errors
    ///
    /// It is longer than [`INFO_BYTES_MAX`], or has a character that nobody should be shown.
    pub(crate) fn to_stored(&self) -> Result<Box<str>, WireError> {
        for (field, text) in [("info.pv", &self.pv), ("info.note", &self.note)] {
            let checked = check_text(text.as_deref().unwrap_or_default(), INFO_BYTES_MAX, Lines::Many);
            checked.map_err(|bad| WireError::bad_field(field, format!("{field} {bad}")))?;
        }
        let text = serde_json::to_string(self).unwrap_or_default();
        if text.len() > INFO_BYTES_MAX {
            let message = format!("info has at most {INFO_BYTES_MAX} bytes, this one has {}", text.len());
            return Err(WireError::bad_field("info", message));
        }
        Ok(text.into())
    }

    /// Reads what is stored with a move; `None` if it is something else.
    pub(crate) fn from_stored(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// A message that only names a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OnGame {
    /// Which game.
    pub(crate) game: GameId,
}

/// The fields of `resign`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Resign {
    /// Which game.
    pub(crate) game: GameId,
    /// Why a bot cannot go on, for its owner's list of faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<ProgramFault>,
}

#[cfg(test)]
impl Resign {
    /// By choice.
    pub(crate) fn new(game: GameId) -> Self {
        Self { game, fault: None }
    }
}

/// How the program behind a bot has failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ProgramFault {
    pub(crate) kind: ProgramFaultKind,
    /// The same in words.
    pub(crate) note: String,
}

impl ProgramFault {
    /// Checks the words, which the owner is shown.
    ///
    /// # Errors
    ///
    /// They are longer than [`INFO_BYTES_MAX`] characters, or have one that nobody should be shown.
    pub(crate) fn check(&self) -> Result<(), WireError> {
        check_text(&self.note, INFO_BYTES_MAX, Lines::Many)
            .map_err(|bad| WireError::bad_field("fault.note", format!("fault.note {bad}")))
    }
}

/// What a program can do wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProgramFaultKind {
    /// It did not answer in time.
    Time,
    /// Its answer is no legal move.
    Illegal,
    /// It ended, or could not be started.
    Left,
}

/// The fields of `takeback_answer`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TakebackAnswer {
    /// Which game.
    pub(crate) game: GameId,
    /// Whether the move goes back.
    pub(crate) yes: bool,
}

/// The fields of `react`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct React {
    /// Which game.
    pub(crate) game: GameId,
    /// One of the list in `welcome`: an emoji, or the code of a phrase, such as `phrase:hello`.
    pub(crate) emoji: String,
}

/// The streams of events that are not one game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Feed {
    /// Seeks and live games.
    Lobby,
    /// The best live game.
    Tv,
    /// The leaderboard's changes.
    Ladder,
    /// Finished games.
    Results,
}

/// The fields of `watch` and `unwatch`: exactly one of the two.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Watch {
    /// A game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) game: Option<GameId>,
    /// A feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) feed: Option<Feed>,
}
