//! The contract that every back end keeps.

use std::fmt::Debug;
use std::path::Path;

use async_trait::async_trait;
use fourfold_engine::Side;
use thiserror::Error;

pub use super::error::StoreError;
pub use super::games::{ChosenGames, GameQuery, GamesWanted, Notes};
pub use super::lessons::Teaching;
pub use super::people::IdleGuests;

use super::attempts::AttemptStore;
use super::audit::AuditStore;
use super::backup::{Backup, BackupError, Overwrite};
use super::bot_versions::{BotFault, BotVersionStore, StoredTest};
use super::follows::{FollowStore, Tie};
use super::forgetting::{Forgetting, ForgettingStore, Packing};
use super::games::GameStore;
use super::judgements::{JudgementStore, JudgingStep};
use super::left_sessions::{LeftSession, LeftSessionStore};
use super::lessons::{LearnerStep, LearnerStore};
use super::links::{LinkStore, StoredLink};
use super::mails::{MailLink, MailStore, StoredMail};
use super::moderation::{Because, Measure, ModerationStore, Order};
use super::operators::{FactorUse, OperatorStore};
use super::people::PeopleStore;
use super::published::Publication;
use super::pushes::{PushStore, StoredPush};
use super::puzzles::{Harvest, PuzzleStore, PuzzleTry};
use super::ratings::RatingStore;
use super::record::{BotProfile, GameSpec, Settlement, StoredEvent, StoredPlayer, StoredToken};
use super::refit::RefitStep;
use super::reports::{NewReport, ReportStore, ReportVerdict};
use super::resets::NewReset;
use super::rushes::RushResult;
use super::studies::{NewStudy, StudyChange, StudyStore};
use super::tournaments::{StoredTournament, TournamentEnd, TournamentPlan, TournamentStore, Walkover};
use super::vacations::VacationStore;
use super::webhooks::{DeliveryNote, StoredWebhook, WebhookStore};
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::{ChallengeId, GameId, PlayerId, PlayerName, StudyId, TokenId, TournamentId};
use crate::model::portrait::Portrait;
use crate::model::time::UnixMillis;
use crate::model::vacation::Vacation;

/// One thing to write. All writes of a [`Store::commit`] become durable together or not at all.
#[derive(Clone, PartialEq, Debug)]
pub enum Write {
    /// A new player. Refused as [`Refused::NameTaken`] if another player has the name.
    AddPlayer {
        player: StoredPlayer,
        /// PHC string of the password, for people with an account.
        password: Option<String>,
    },
    /// A new bot with its first token. Refused as [`Refused::NameTaken`] if another player has the name, as
    /// [`Refused::TooMany`] if its owner has so many bots already, as [`Refused::NoSuchPlayer`] if that one is no
    /// person with an account (any more).
    AddBot {
        bot: StoredPlayer,
        token: StoredToken,
        /// Bots that the owner may have, this one included.
        at_most: u32,
    },
    /// A guest who takes the place of one who left nothing that anybody could come back to. Refused as
    /// [`Refused::NoSuchPlayer`] if that one is no such guest (any more), as [`Refused::NameTaken`] if another player
    /// has the name.
    ReplaceGuest {
        /// Who goes, with its tries at puzzles.
        old: PlayerId,
        new: StoredPlayer,
        /// What that one must be for it.
        idle: IdleGuests,
    },
    /// A new password, and with it the end of all sessions of the player but one.
    SetPassword {
        player: PlayerId,
        /// PHC string of the new one.
        password: String,
        /// The session that goes on.
        keeps: Option<TokenId>,
    },
    /// A guest becomes a person with an account, and keeps id and games. Refused as [`Refused::NoSuchPlayer`] if the
    /// player is no guest or has left for good, as [`Refused::NameTaken`] if another player has the name.
    Promote {
        player: PlayerId,
        name: PlayerName,
        /// PHC string of its password.
        password: String,
    },
    /// A guest has another name. Refused as [`Refused::NoSuchPlayer`] if the player is no guest, as
    /// [`Refused::NameTaken`] if another player has the name.
    NameGuest { player: PlayerId, name: PlayerName },
    /// A player leaves for good: takes another name, which says nothing, and has no password, profile and owner any
    /// more. Its games stay, for they are the opponents' too; what it did at puzzles goes, and so do all its
    /// credentials. From then on it is listed as guests are, which is nowhere, and can become nobody else. Refused as
    /// [`Refused::NoSuchPlayer`] for house bots too, as [`Refused::OwnsBots`] while it has bots, which leave before it.
    Retire { player: PlayerId, name: PlayerName },
    /// What a bot says about itself.
    SetProfile { player: PlayerId, profile: BotProfile },
    /// What a person shows of themselves. Refused as [`Refused::NoSuchPlayer`] if it is no person's account.
    SetPortrait { player: PlayerId, portrait: Portrait },
    /// A new credential. Of sessions, the oldest end if there are more than that; a token of a bot is refused as
    /// [`Refused::TooMany`]. Refused as [`Refused::NoSuchPlayer`] for guests, and whoever has left is kept as one.
    AddToken {
        token: StoredToken,
        /// Of this kind and of this player, this one included.
        at_most: u32,
        /// PHC string of the password that was given for it. Refused as [`Refused::PasswordChanged`] if the player has
        /// another one by now.
        password: Option<String>,
    },
    /// A new token of a bot in the place of one, which ends. Refused as [`Refused::NoSuchToken`] if the bot does not
    /// have that one.
    RotateToken { old: TokenId, new: StoredToken },
    /// The end of one credential of a player, or of all of them.
    RevokeTokens {
        player: PlayerId,
        /// Which one; all if `None`.
        only: Option<TokenId>,
    },
    /// A credential was used. Nothing if it has ended meanwhile.
    NoteUse { token: TokenId, at: UnixMillis },
    /// A game begins.
    StartGame(GameSpec),
    /// Events of a live game, in order. Refused as [`Refused::OutOfSequence`] unless they follow the last one.
    Append { game: GameId, events: Vec<StoredEvent> },
    /// The last events of a game, the very last being `Finished`; ratings are settled in the same transaction.
    Finish { game: GameId, events: Vec<StoredEvent> },
    /// How many illegal moves a side of a live game has made by now. Refused as [`Refused::NoSuchGame`] if it is over.
    CountIllegal { game: GameId, side: Side, count: u8 },
    /// What a side of a live game answers if the opponent plays so; nothing any more if none. Refused as
    /// [`Refused::NoSuchGame`] if it is over.
    SetConditional { game: GameId, side: Side, moves: Option<ConditionalMoves> },
    /// An open challenge, which whoever has its link may take from now on. Refused as [`Refused::IdTaken`].
    OpenLink(Box<StoredLink>),
    /// An open challenge was taken, or is none any more for another reason. Refused as [`Refused::NoSuchLink`].
    CloseLink(ChallengeId),
    /// A learner goes on. Refused as [`Refused::LearnerElsewhere`] unless it begins where the learner stands.
    StepLearner(Box<LearnerStep>),
    /// How well a frozen version plays.
    MeasureVersion {
        learner: PlayerName,
        mark: u64,
        /// Thousandths of the positions that can be spoilt in which it keeps the result.
        decision: u16,
    },
    /// How well a live learner plays after some number of games: a point of its curve.
    MeasurePoint {
        learner: PlayerName,
        games: u64,
        /// Thousandths of the positions that can be spoilt in which it keeps the result.
        decision: u16,
        at: UnixMillis,
    },
    /// Whether games of a player and of the bots that it owns may be learnt from. If not, those that were are
    /// withdrawn.
    SetTeaching {
        player: PlayerId,
        /// What holds from now on.
        teaching: Teaching,
    },
    /// Nobody is to have learnt this game: it was void.
    WithdrawLesson { game: GameId },
    /// A learner's state is not what its lessons teach: it is to be made again from them. Refused as
    /// [`Refused::NoSuchVersion`] if there is none of this name, as [`Refused::LearnerElsewhere`] if it has another
    /// revision.
    RemakeLearner {
        learner: PlayerName,
        /// The revision that was found wrong.
        revision: u64,
    },
    /// Somebody makes a tournament that is to come. Refused as [`Refused::IdTaken`] if another has its id or its name,
    /// and as [`Refused::NoSuchPlayer`] if its maker or whoever has entered is not there.
    PlanTournament(Box<TournamentPlan>),
    /// Somebody takes part in a tournament that is to come; saying so twice is once. Refused as
    /// [`Refused::NoSuchPlan`].
    EnterPlan { plan: TournamentId, player: PlayerId },
    /// Somebody takes part no more. Refused as [`Refused::NoSuchPlan`]; saying so twice is once.
    LeavePlan { plan: TournamentId, player: PlayerId },
    /// A tournament that was to come does not. Refused as [`Refused::NoSuchPlan`].
    DropPlan(TournamentId),
    /// A tournament begins, or is known to have ended at once; a plan with its id is none any more. Refused as
    /// [`Refused::IdTaken`] if one of its name has begun for the same moment, and as [`Refused::NoSuchPlayer`] if an
    /// entrant is not there.
    AddTournament(StoredTournament),
    /// Somebody comes to a tournament that goes on, behind all others, or comes back to it. Refused as
    /// [`Refused::NoSuchTournament`], and as [`Refused::NoSuchPlayer`].
    JoinTournament {
        /// Which one, which must go on.
        tournament: TournamentId,
        player: PlayerId,
        /// The game of its schedule that is due.
        came: u64,
    },
    /// An entrant takes part no more. Refused as [`Refused::NoSuchTournament`] unless it goes on, and as
    /// [`Refused::NoSuchPlayer`] unless they take part.
    QuitTournament {
        /// Which one, which must go on.
        tournament: TournamentId,
        player: PlayerId,
        /// The game of its schedule that is due.
        went: u64,
    },
    /// A game of a tournament's schedule is lost without being played.
    WalkOver {
        /// Of which tournament, which must go on.
        tournament: TournamentId,
        /// Which game, and by whom.
        walkover: Walkover,
    },
    /// A tournament is called off: one that goes on ends as its `end` says; of one that was to come that is all there
    /// will be. If an operator does it, the reason is in the log with it. Refused as [`Refused::IdTaken`] if it is
    /// over.
    CancelTournament {
        /// As it stands, with its end.
        tournament: Box<StoredTournament>,
        /// For the log, if an operator does it.
        because: Option<Because>,
    },
    /// A tournament is over.
    EndTournament {
        /// Which one, which must go on.
        tournament: TournamentId,
        end: TournamentEnd,
    },
    /// An operator takes a finished game out: it stays in the records, but counts for no rating and teaches nobody.
    /// All live ratings of its variant are computed again without it, and what was published before is dropped; this
    /// and the reason become durable together. Refused as [`Refused::NoSuchGame`] if it is not finished, as
    /// [`Refused::AlreadyVoided`] if it was taken out before.
    VoidGame { game: GameId, because: Because },
    /// An operator takes some games of an account out, as by [`Self::VoidGame`]; those that are not finished, or were
    /// taken out before, are passed over. Live ratings of their variants are owed from then on.
    VoidGames { games: Vec<GameId>, because: Because },
    /// Ratings that are owed. Refused as [`Refused::Outdated`] unless they follow the last ones that were written and
    /// rest on the records as they are, and if there are further games when all ratings are to be written.
    Refit(Box<RefitStep>),
    /// The ratings of a bot begin anew behind the last finished game, and the owner's reason is kept. Refused as
    /// [`Refused::NoSuchPlayer`] unless it is somebody's bot, as [`Refused::TooMany`] if that was done just now.
    ResetRating(NewReset),
    /// What an operator does to a player. Refused as [`Refused::NoSuchPlayer`] for guests and bots of the house.
    TakeMeasure(Measure),
    /// What an operator orders for the whole arena: nothing but its entry in the log.
    GiveOrder(Order),
    /// The address to which the owner of bots has it told what happens to them, in the place of the one before. Refused
    /// as [`Refused::NoSuchPlayer`] if it is no person's account.
    SetWebhook(StoredWebhook),
    /// The end of that. Refused as [`Refused::NoWebhook`] if there is none.
    RemoveWebhook { owner: PlayerId },
    /// How a message went. Refused as [`Refused::NoWebhook`] if another address has taken its place.
    NoteDelivery(DeliveryNote),
    /// The mail address of an account, in the place of the one before, whose links end. Nobody has verified it. Refused
    /// as [`Refused::NoSuchPlayer`] if it is no person's account.
    SetMail(StoredMail),
    /// The end of that. Refused as [`Refused::NoMail`] if there is none, like the next two.
    RemoveMail { owner: PlayerId },
    /// Whether somebody is told of bots that are paused.
    SetNotices { owner: PlayerId, notices: bool },
    /// A browser shows notices to somebody from now on, in the place of what was stored of it; of too many of one
    /// account the oldest goes. Refused as [`Refused::NoSuchPlayer`] if it is no person's account.
    AddPush(Box<StoredPush>),
    /// It does so no more. Refused as [`Refused::NoPush`] if it does not, or is another account's by now.
    RemovePush { owner: PlayerId, endpoint: String },
    /// A person follows somebody; saying so twice is once. Refused as [`Refused::NoSuchPlayer`] unless it is a person
    /// with an account and somebody else who is no guest, as [`Refused::Blocked`] if they block that one, as
    /// [`Refused::TooMany`] if they follow as many as they may.
    Follow(Tie),
    /// They do so no more; nothing if they did not.
    Unfollow { player: PlayerId, followed: PlayerId },
    /// A person blocks somebody, and neither follows the other any more; saying so twice is once. Refused as
    /// [`Refused::NoSuchPlayer`] unless it is a person with an account and somebody else who is no bot of the house,
    /// as [`Refused::TooMany`] if they block as many as they may.
    Block(Tie),
    /// They do so no more; nothing if they did not.
    Unblock { player: PlayerId, blocked: PlayerId },
    /// A vacation begins, and whichever goes on ends then. Refused as [`Refused::NoSuchPlayer`] if the player is no
    /// person with an account.
    TakeVacation { player: PlayerId, vacation: Vacation },
    /// The vacation that goes on ends at this moment; nothing if there is none.
    EndVacation { player: PlayerId, at: UnixMillis },
    /// The sessions that this process leaves as it stops, in the place of all that were left before; none once they are
    /// known to the next one.
    SetLeftSessions(Vec<LeftSession>),
    /// A link that is sent, in the place of the one before of its purpose.
    AddMailLink(MailLink),
    /// Somebody opens a link that was sent to an address. It is gone then. Refused as [`Refused::NoMailLink`] if it is
    /// gone, or too old, like the next one.
    VerifyMail { digest: [u8; 32], at: UnixMillis },
    /// Somebody sets a new password by such a link. All sessions of the account end.
    ResetPassword {
        digest: [u8; 32],
        /// As a PHC string.
        password: String,
        at: UnixMillis,
    },
    /// An operator uses a code of the second factor up. Refused as [`Refused::FactorUsed`] if it was used, as
    /// [`Refused::NoOperator`] if it is none.
    UseFactor { player: PlayerId, used: FactorUse },
    /// Somebody reports somebody. Refused as [`Refused::ReportedAlready`] while an operator has not dealt with the last
    /// report of that one, as [`Refused::TooMany`] if there are as many open ones as are kept.
    AddReport(NewReport),
    /// What an operator does with a report. Refused as [`Refused::NoSuchReport`], or as [`Refused::ReportClosed`] if
    /// it has been dealt with.
    HandleReport(ReportVerdict),
    /// The joint fits, in place of those that were stored. Refused as [`Refused::Outdated`] if they rest on another
    /// revision of the records than there is now.
    Publish(Box<Publication>),
    /// The judge goes on. Refused as [`Refused::JudgeElsewhere`] unless it begins where the judge stands.
    StepJudging(Box<JudgingStep>),
    /// The next old games lose what they have beside their moves. Done again it goes on with those after them.
    Forget(Forgetting),
    /// The logs of the next finished games are packed, as they were read. Nothing is done if that does not hold any
    /// more: whoever reads again goes on from where it is.
    Pack(Packing),
    /// Puzzles that came from elsewhere than the judged games.
    AddPuzzles(Harvest),
    /// An attempt at a puzzle; another one of the same player changes nothing. Those of a guest count for the puzzles
    /// from the third puzzle on, the first two with it.
    TryPuzzle(PuzzleTry),
    /// A player has solved the puzzle of the day.
    SolveDaily { player: PlayerId, day: u32 },
    /// What somebody reached in a run through puzzles; of a day the best is kept. Refused as
    /// [`Refused::NoSuchPlayer`] if it is no person with an account.
    NoteRush(RushResult),
    /// Somebody makes a study. Refused as [`Refused::NoSuchPlayer`] if it is no person with an account, as
    /// [`Refused::TooMany`] if there are so many of that account, as [`Refused::IdTaken`].
    AddStudy(Box<NewStudy>),
    /// Another content of a study. Refused as [`Refused::NoSuchStudy`] if it is none of that account, as
    /// [`Refused::StudyChanged`] if it has another version by now.
    ChangeStudy(Box<StudyChange>),
    /// A study goes. Refused as [`Refused::NoSuchStudy`] if it is none of that account.
    DropStudy { study: StudyId, owner: PlayerId },
    /// An operator takes a study away; this and the reason become durable together. Refused as
    /// [`Refused::NoSuchStudy`].
    RemoveStudy { study: StudyId, because: Because },
    /// A bot has connected with this version.
    SeeVersion {
        bot: PlayerId,
        /// As it was given; empty if the bot names none.
        version: String,
        at: UnixMillis,
    },
    /// A self-test has ended.
    SaveTest {
        bot: PlayerId,
        /// Which version of it.
        version: String,
        test: StoredTest,
        /// Whether the version may play rated games from now on.
        outcome: TestOutcome,
    },
    /// A bot did something wrong.
    AddFault(BotFault),
}

impl Write {
    /// Whether it begins something, so that whoever asks for it can be told to come again later. The rest belongs to
    /// what goes on: games, and what the arena makes of them by itself.
    pub(super) fn can_wait_outside(&self) -> bool {
        match self {
            Self::AddPlayer { .. }
            | Self::AddBot { .. }
            | Self::ReplaceGuest { .. }
            | Self::SetPassword { .. }
            | Self::Promote { .. }
            | Self::NameGuest { .. }
            | Self::Retire { .. }
            | Self::SetProfile { .. }
            | Self::SetPortrait { .. }
            | Self::AddToken { .. }
            | Self::RotateToken { .. }
            | Self::RevokeTokens { .. }
            | Self::NoteUse { .. }
            | Self::StartGame(_)
            | Self::OpenLink(_)
            | Self::SetTeaching { .. }
            | Self::PlanTournament(_)
            | Self::EnterPlan { .. }
            | Self::LeavePlan { .. }
            | Self::AddTournament(_)
            | Self::JoinTournament { .. }
            | Self::VoidGame { .. }
            | Self::VoidGames { .. }
            | Self::Refit(_)
            | Self::ResetRating(_)
            | Self::TakeMeasure(_)
            | Self::GiveOrder(_)
            | Self::UseFactor { .. }
            | Self::SetWebhook(_)
            | Self::RemoveWebhook { .. }
            | Self::NoteDelivery(_)
            | Self::SetMail(_)
            | Self::RemoveMail { .. }
            | Self::SetNotices { .. }
            | Self::AddPush(_)
            | Self::RemovePush { .. }
            | Self::Follow(_)
            | Self::Unfollow { .. }
            | Self::Block(_)
            | Self::Unblock { .. }
            | Self::TakeVacation { .. }
            | Self::SetConditional { .. }
            | Self::EndVacation { .. }
            | Self::SetLeftSessions(_)
            | Self::AddMailLink(_)
            | Self::VerifyMail { .. }
            | Self::ResetPassword { .. }
            | Self::AddReport(_)
            | Self::HandleReport(_)
            | Self::TryPuzzle(_)
            | Self::SolveDaily { .. }
            | Self::NoteRush(_)
            | Self::AddStudy(_)
            | Self::ChangeStudy(_)
            | Self::DropStudy { .. }
            | Self::RemoveStudy { .. } => true,
            Self::Append { .. }
            | Self::Finish { .. }
            | Self::CountIllegal { .. }
            | Self::CloseLink(_)
            | Self::StepLearner(_)
            | Self::MeasureVersion { .. }
            | Self::MeasurePoint { .. }
            | Self::WithdrawLesson { .. }
            | Self::RemakeLearner { .. }
            | Self::DropPlan(_)
            | Self::QuitTournament { .. }
            | Self::CancelTournament { .. }
            | Self::WalkOver { .. }
            | Self::EndTournament { .. }
            | Self::Publish(_)
            | Self::StepJudging(_)
            | Self::Forget(_)
            | Self::Pack(_)
            | Self::AddPuzzles(_)
            | Self::SeeVersion { .. }
            | Self::SaveTest { .. }
            | Self::AddFault(_) => false,
        }
    }
}

/// What a self-test came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestOutcome {
    /// Nothing failed.
    Passed,
    /// Something did.
    Failed,
}

/// What a single write came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Written {
    /// It is durable.
    Done,
    /// Tokens that are not valid any more, in the order of their ids; some may have expired before.
    Revoked(Vec<TokenId>),
    /// The game is finished and settled.
    Settled(Settlement),
}

/// Why a single write was left out of its transaction. The others are not affected.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Refused {
    /// Another player has that name.
    #[error("the name is taken")]
    NameTaken,
    /// No player of that id.
    #[error("there is no such player")]
    NoSuchPlayer,
    /// Something else has that id already.
    #[error("the id is taken")]
    IdTaken,
    /// There are as many as there may be.
    #[error("there are as many as there may be")]
    TooMany,
    /// The account has bots, which leave before it.
    #[error("the account has bots")]
    OwnsBots,
    /// The password that was given is the player's no more.
    #[error("the password is another one by now")]
    PasswordChanged,
    /// The player is not banned.
    #[error("the player is not banned")]
    NotBanned,
    /// The player is not muted.
    #[error("the player is not muted")]
    NotMuted,
    /// As many have registered by the invitation as may.
    #[error("the invitation is used up")]
    UsedUp,
    /// The account has no webhook, or not that one any more.
    #[error("there is no such webhook")]
    NoWebhook,
    /// The account has no mail address.
    #[error("there is no mail address")]
    NoMail,
    /// Whoever follows has blocked that one.
    #[error("the player is blocked")]
    Blocked,
    /// The browser shows the account no notices.
    #[error("there is no such browser")]
    NoPush,
    /// The link was used, or has ended.
    #[error("the link was used, or has ended")]
    NoMailLink,
    /// The account is an operator's.
    #[error("the account is an operator already")]
    OperatorAlready,
    /// The account is no operator's.
    #[error("the account is no operator")]
    NoOperator,
    /// A code of the second factor is wrong, or was used.
    #[error("the code was used already")]
    FactorUsed,
    /// The player has reported that one, and no operator has dealt with it yet.
    #[error("that was reported already")]
    ReportedAlready,
    /// No report of that number.
    #[error("there is no such report")]
    NoSuchReport,
    /// An operator has dealt with the report.
    #[error("the report has been dealt with")]
    ReportClosed,
    /// The player has no such token.
    #[error("there is no such token")]
    NoSuchToken,
    /// No live game of that id.
    #[error("there is no such live game")]
    NoSuchGame,
    /// No open challenge of that id.
    #[error("there is no such link")]
    NoSuchLink,
    /// The game's log has gone on, or has not come that far.
    #[error("event {got} does not follow event {last}")]
    OutOfSequence {
        /// The last stored event.
        last: u32,
        /// The one that came.
        got: u32,
    },
    /// A game's end is not its last event, or its last events have no end.
    #[error("the end of a game is its last event")]
    EndMisplaced,
    /// The learner stands elsewhere than the step begins, or must be made again first.
    #[error("the learner stands elsewhere")]
    LearnerElsewhere,
    /// No learner, or no version of it.
    #[error("there is no such version of a learner")]
    NoSuchVersion,
    /// No tournament of that id that goes on, or the walkover is known.
    #[error("there is no such tournament that goes on")]
    NoSuchTournament,
    /// No tournament of that id that is to come.
    #[error("there is no such tournament that is to come")]
    NoSuchPlan,
    /// The game was taken out before.
    #[error("the game has been voided already")]
    AlreadyVoided,
    /// It rests on games that count no more.
    #[error("it rests on games that count no more")]
    Outdated,
    /// The judge stands elsewhere than the step begins.
    #[error("the judge stands elsewhere")]
    JudgeElsewhere,
    /// No puzzle of that id.
    #[error("there is no such puzzle")]
    NoSuchPuzzle,
    /// No study of that id, or of that account.
    #[error("there is no such study")]
    NoSuchStudy,
    /// The study was changed since it was read.
    #[error("the study was changed meanwhile")]
    StudyChanged,
    /// The database does not take it, and nobody saw that coming: a fault of ours. The log says more.
    #[error("it contradicts what is stored")]
    Contradiction,
}

/// Keeps players, games and ratings. Reads see every commit that was acknowledged before them. What is read is split by
/// who reads it, so that a back end has a file for each.
#[async_trait]
pub trait Store:
    PeopleStore
    + GameStore
    + RatingStore
    + LearnerStore
    + TournamentStore
    + BotVersionStore
    + JudgementStore
    + ForgettingStore
    + PuzzleStore
    + AuditStore
    + ModerationStore
    + ReportStore
    + OperatorStore
    + WebhookStore
    + LeftSessionStore
    + LinkStore
    + MailStore
    + VacationStore
    + PushStore
    + FollowStore
    + StudyStore
    + Send
    + Sync
    + Debug
{
    /// Writes a batch in one durable transaction. Only the [`super::Writer`] calls this.
    ///
    /// The answers are in the order of the writes. A refused write leaves no trace and does not affect others.
    ///
    /// # Errors
    ///
    /// [`StoreError::Full`] and [`StoreError::Locked`]: nothing was written. [`StoreError::Unreachable`]: nobody knows
    /// yet, and the next commit must be of the same batch, which is then written if it was not. Any other error: the
    /// outcome is unknown.
    async fn commit(&self, batch: &[Write]) -> Result<Vec<Result<Written, Refused>>, StoreError>;

    /// Whether a commit keeps the thread from doing anything else, and so should have one of its own.
    fn commits_block(&self) -> bool {
        false
    }

    /// Finds out whether writing works again, after one of the errors of which it may get well. Only the
    /// [`super::Writer`] calls this.
    ///
    /// # Errors
    ///
    /// As [`Self::commit`].
    async fn probe(&self) -> Result<(), StoreError>;

    /// Writes all that is stored now into a file, while everything goes on. The file is there whole or not at all, and
    /// has been read back.
    ///
    /// # Errors
    ///
    /// See [`BackupError`]; no file is left then.
    async fn back_up(&self, to: &Path, overwrite: Overwrite) -> Result<Backup, BackupError>;

    /// What counts failed attempts.
    fn attempts(&self) -> &dyn AttemptStore;

    /// Checks that the store answers; for readiness.
    async fn ping(&self) -> Result<(), StoreError>;
}
