//! What can be commanded, and what comes of it.

use fourfold_bots::{Counts, Reason};
use serde::{Deserialize, Serialize, Serializer};
use thiserror::Error;

use crate::model::ids::{GameId, PlayerId, PlayerName, TokenId, TournamentId};
use crate::model::result::GameResult;
use crate::model::secret::Secret;
use crate::operations::verify::VerifyReport;
use crate::protocol::terms::WireRating;
use crate::storage::records::Record;
use crate::study::learning::verify::Remedy;

/// A command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlRequest {
    /// A new account.
    AccountCreate {
        name: String,
        #[serde(serialize_with = "expose")]
        password: Secret,
    },
    /// A new remote bot with its first token.
    BotCreate {
        name: String,
        /// The account that owns it.
        owner: String,
    },
    /// Another token for a bot.
    BotToken { name: String },
    /// The end of all of a bot's tokens, and of its connection.
    BotRevoke { name: String },
    /// How strong players are on the standard board.
    Ratings { names: Vec<String> },
    /// Some finished games, in the order in which they finished.
    GamesExport {
        /// Only games with a higher number.
        after: Option<u64>,
        /// At most so many; never more than 500.
        limit: u32,
    },
    /// One game, live or finished.
    Game {
        /// The last part of its link.
        id: GameId,
    },
    /// A check of everything: every game replayed, all ratings computed again.
    GamesVerify,
    /// A check of the learners: each made again from its lessons.
    LearnersVerify,
    /// The same; those that differ from what their lessons teach are to be made again for good.
    LearnersRepair,
    /// What a learner of the house, or a frozen version of one, knows, and how it came there.
    LearnerShow { name: String },
    /// What a bot of the house said about its moves in a game.
    MoveReasons {
        name: String,
        /// The last part of the game's link.
        game: GameId,
    },
    /// The same as a file that bots of its kind play by.
    LearnerExport { name: String },
    /// A finished game is taken out: it counts for no rating and teaches nobody.
    VoidGame {
        /// The last part of its link.
        id: GameId,
        /// Why, for the audit log.
        reason: String,
    },
    /// What the daemon is doing. Pause, resume and drain will stand beside it.
    Status,
    /// A tournament of the configuration, now.
    TournamentHold { name: String },
}

impl ControlRequest {
    /// What is commanded, for logs.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::AccountCreate { .. } => "account_create",
            Self::BotCreate { .. } => "bot_create",
            Self::BotToken { .. } => "bot_token",
            Self::BotRevoke { .. } => "bot_revoke",
            Self::Ratings { .. } => "ratings",
            Self::GamesExport { .. } => "games_export",
            Self::Game { .. } => "game",
            Self::GamesVerify => "games_verify",
            Self::LearnersVerify => "learners_verify",
            Self::LearnersRepair => "learners_repair",
            Self::LearnerShow { .. } => "learner_show",
            Self::MoveReasons { .. } => "move_reasons",
            Self::LearnerExport { .. } => "learner_export",
            Self::VoidGame { .. } => "void_game",
            Self::Status => "status",
            Self::TournamentHold { .. } => "tournament_hold",
        }
    }
}

/// What a command came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlAnswer {
    /// The account is there.
    Account { id: PlayerId, name: PlayerName },
    /// A fresh token. Its secret is not kept and cannot be shown again.
    Token {
        name: PlayerName,
        /// Names the token without revealing it.
        id: TokenId,
        #[serde(serialize_with = "expose")]
        token: Secret,
    },
    /// The tokens have ended.
    Revoked {
        name: PlayerName,
        /// How many tokens there were.
        count: usize,
    },
    /// In the order of the names; nothing for players who are not there or have no rating.
    Ratings(Vec<Option<WireRating>>),
    /// Games.
    Games {
        /// Each as in `GET /api/v1/games/ID`.
        records: Vec<Record>,
        /// The number of the last one, to go on after; nothing if there are no more.
        next: Option<u64>,
    },
    /// What the check found.
    Verified(VerifyReport),
    /// What the check of the learners found.
    LearnersVerified(Vec<LearnerVerified>),
    /// What a learner knows.
    Learner(LearnerShown),
    /// Moves with the reasons for them, in the order of the game; moves without any are left out.
    MoveReasons(Vec<MoveShown>),
    /// The same as a file.
    LearnerFile {
        /// What is in it.
        form: FileForm,
        bytes: Vec<u8>,
    },
    /// The game was taken out.
    Voided {
        game: GameId,
        /// Whether it had moved ratings.
        was_rated: bool,
    },
    /// What the daemon is doing.
    Status(DaemonStatus),
    /// The tournament has begun.
    TournamentHeld {
        /// The last part of its link.
        id: TournamentId,
    },
    /// The command was refused.
    Refused(ControlRefusal),
}

/// What the check of one learner found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LearnerVerified {
    pub name: PlayerName,
    pub games: u64,
    pub versions: usize,
    /// All that is not as it should be, one line each.
    pub findings: Vec<String>,
    /// What helps against that.
    #[serde(default)]
    pub remedy: Remedy,
}

/// What is in the file of a learner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileForm {
    /// A pattern memory as the XML of 2004, for `memory:file=` and `memory-windows:file=`.
    Xml,
    /// A network, for `ntuple:file=`.
    Network,
}

/// What a learner knows, and how it came there: what its page shows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LearnerShown {
    pub name: PlayerName,
    pub games: u64,
    /// Its frozen versions by what they had learnt, then the live one; of a frozen version that alone.
    pub versions: Vec<VersionShown>,
    /// How strong the live one was on the way, by games learnt; empty of a frozen version.
    pub curve: Vec<PointShown>,
    /// The last lessons, the newest first; empty of a frozen version.
    pub lessons: Vec<LessonShown>,
    /// Whether it keeps how often it saw its patterns, not only what they weigh.
    pub keeps_counts: bool,
    /// How many patterns it knows.
    pub pattern_count: usize,
    /// Its patterns, the most often seen first, or the weightiest if how often is not kept, of which there may be more.
    pub patterns: Vec<PatternShown>,
}

/// A learner at one age.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VersionShown {
    pub name: PlayerName,
    pub games: u64,
    /// Its published rating on the standard board, as pages show it; null until the fit knows it.
    pub published: Option<WireRating>,
    /// Rated games on that board.
    pub rated_games: u64,
    /// Share, from 0 to 1, of the solved positions that can be spoilt in which it keeps the result; null until
    /// measured.
    pub decision: Option<f64>,
}

/// How strong a learner was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PointShown {
    pub games: u64,
    /// Its live rating then, in Elo points; null if it was not known well enough, or not looked up.
    pub live_elo: Option<i32>,
    /// Its share of right decisions then, as above; null if it was not measured.
    pub decision: Option<f64>,
}

/// A game that was learnt.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LessonShown {
    /// Its number among all finished games.
    pub number: u64,
    /// The last part of its link; null if the game is damaged.
    pub game: Option<GameId>,
    /// Who played, first and second; null if the game is damaged.
    pub players: Option<[PlayerName; 2]>,
    /// How it ended; null if the game is damaged.
    pub result: Option<GameResult>,
    /// Patterns that were new.
    pub new: Vec<String>,
    /// How many patterns that were known before were seen again.
    pub again: usize,
    /// Moves of the game at which it chose otherwise right after it; null if that was not noted yet.
    #[serde(default)]
    pub rethought: Option<Vec<ChangedMoveShown>>,
}

/// A move of a game at which a learner chose otherwise right after it had learnt the game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChangedMoveShown {
    /// Of the move that was played, counted from 1, the opening's included.
    pub ply: usize,
    /// The columns, from 1, among which it would have chosen before.
    pub before: Vec<u8>,
    /// Those among which it chose right after.
    pub after: Vec<u8>,
}

/// A move with what the bot said about it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MoveShown {
    /// Of the move, counted from 1, the opening's included.
    pub ply: usize,
    /// Where it moved, from 1.
    pub column: u8,
    /// What spoke, for the chosen column first.
    pub reasons: Vec<ReasonShown>,
}

/// A pattern that spoke for a column.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReasonShown {
    /// For which column, from 1.
    pub column: u8,
    /// How much it weighed, in the bot's own unit.
    pub weight: i64,
    /// The pattern's name, such as `own c1 d1 e1 .`.
    pub pattern: String,
    /// How often it was seen then; 0 if that is not kept.
    pub seen: u32,
    /// How many of those games were won.
    pub won: u32,
    /// How many were lost.
    pub lost: u32,
}

impl From<Reason> for ReasonShown {
    fn from(reason: Reason) -> Self {
        let Reason { column, weight, pattern, counts: Counts { seen, won, lost } } = reason;
        Self { column: column.number(), weight, pattern, seen, won, lost }
    }
}

/// A pattern that a learner knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PatternShown {
    /// Whose stones, and on which cells.
    pub pattern: String,
    /// How often it was seen.
    pub seen: u32,
    /// How many of those games were won.
    pub won: u32,
    /// How many were lost.
    pub lost: u32,
    /// How much it weighs, in the learner's own unit.
    pub weighting: i64,
}

/// What a daemon is doing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DaemonStatus {
    pub version: String,
    pub pid: u32,
    /// When it began, RFC 3339.
    pub started_at: String,
    pub games: usize,
    /// Connected players, bots included.
    pub online: usize,
}

/// Whose fault a refusal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The command makes no sense.
    Usage,
    /// It makes sense, but not with what is there.
    Conflict,
    /// There is nobody of that name.
    NoSuchLearner,
    /// Not now.
    Busy,
    /// The daemon's: it could not do it.
    Failed,
}

/// Why a command was refused.
#[derive(Clone, PartialEq, Eq, Debug, Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct ControlRefusal {
    /// Whose fault it is.
    pub kind: RefusalKind,
    pub message: String,
}

impl ControlRefusal {
    pub(super) fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

/// Secrets are on their way to or from their owner here.
fn expose<S: Serializer>(secret: &Secret, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(secret.expose())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_back() {
        let request =
            ControlRequest::AccountCreate { name: "ada".into(), password: Secret::new("tea and biscuits") };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(text, r#"{"account_create":{"name":"ada","password":"tea and biscuits"}}"#);
        assert_eq!(serde_json::from_str::<ControlRequest>(&text).unwrap(), request);
        assert!(!format!("{request:?}").contains("biscuits"));
    }

    #[test]
    fn unknown_commands_and_fields_are_refused() {
        for text in ["{}", r#""reboot""#, r#"{"bot_token":{}}"#, r#"{"bot_token":{"name":"a","x":1}}"#] {
            assert!(serde_json::from_str::<ControlRequest>(text).is_err(), "{text}");
        }
        assert_eq!(serde_json::from_str::<ControlRequest>(r#""status""#).unwrap(), ControlRequest::Status);
    }
}
