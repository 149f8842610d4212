//! What handlers work with: services, settings, and a view of the live parts.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fourfold_engine::BySide;
use schemars::JsonSchema;
use serde::Serialize;

use super::preview::Previews;
use super::site::Site;
use crate::accounts::Accounts;
use crate::analysis::values::Analysis;
use crate::competition::classes::Classes;
use crate::competition::correspondence::CorrespondenceBook;
use crate::competition::duels::{Asked, QueueFull, Unbegun};
use crate::competition::fair_play::EvidenceReader;
use crate::competition::leaderboard::Leaderboard;
use crate::competition::self_test::BeginError;
use crate::competition::tournament::Tournaments;
use crate::model::ids::{ChallengeId, GameId, PairId, PlayerId};
use crate::model::player::Identity;
use crate::model::rating::level::Level;
use crate::model::rating::strength::Strength;
use crate::operations::backups::BackupStanding;
use crate::operations::mail::Mailer;
use crate::operations::push::Pusher;
use crate::operations::webhooks::Webhooks;
use crate::play::host::{ConditionalRefusal, GameOffer};
use crate::play::orders::StandingOrders;

use crate::model::time::UnixMillis;
use crate::protocol::server::{LiveGame, LobbyFeed, Offer, Snapshot};
use crate::protocol::terms::WirePlayer;
use crate::session::line_feed::{FeedOf, LineFeed, NoFeed};
use crate::storage::record::StoredGame;
use crate::storage::writer::Obstacle;
use crate::storage::{Store, StoreError};
use crate::study::explorer::Explorer;
use crate::study::learning::Learning;
use crate::study::puzzles::service::Puzzles;
use crate::study::studies::Studies;
use crate::system::config::AccessConfig;
use crate::system::metrics::Metrics;
use crate::system::shares::Shares;

/// A bot that can be challenged now.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(crate) struct OpenBot {
    /// Who.
    #[serde(flatten)]
    pub(crate) player: WirePlayer,
    /// How strong it is, in a word: beginner, casual, skilled, strong, expert; null if nobody knows yet.
    pub(crate) strength: Option<Strength>,
    /// Which of the eight characters it is that people choose from, the easiest first; null for all others.
    pub(crate) level: Option<Level>,
    /// How strong it was found to be beforehand, in Elo points above `random`, whose rating on that scale is 0; null if
    /// nobody has measured it.
    pub(crate) elo: Option<i32>,
    /// How it plays, in a word; only the house says it of its bots.
    pub(crate) style: Option<String>,
    /// One line on how it plays.
    pub(crate) about: Option<String>,
    /// Its source or page.
    pub(crate) url: Option<String>,
    /// The programming language that it says it is written in.
    pub(crate) language: Option<String>,
    /// Whether it is a bot of the house.
    pub(crate) house: bool,
    /// Games it plays now.
    pub(crate) playing: u32,
    /// Why the ladder leaves it out, after faults; null while it does not.
    pub(crate) trouble: Option<TroubleView>,
}

/// Why the ladder leaves a bot out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Trouble")]
pub(crate) struct TroubleView {
    /// How it broke off last: time, illegal, absent or failed.
    pub(crate) fault: &'static str,
    /// Whether it plays single pairs again to show that it is well; if not, it is paused.
    pub(crate) probing: bool,
    /// When its pause ends, RFC 3339; null if it is not paused. A self-test that it passes ends it at once.
    pub(crate) until: Option<String>,
}

/// A remote bot that is connected, as its owner sees it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct BotPresence {
    /// Whether it stands on the ladder and in the directory.
    pub(crate) open: bool,
    /// Whether it takes no new games.
    pub(crate) draining: bool,
    /// The version that it gives itself; empty if it names none.
    pub(crate) version: String,
    /// Its games under way.
    pub(crate) games: Vec<GameId>,
    /// Whether it may play rated games, or must pass the self-test first.
    pub(crate) may_play_rated: bool,
    /// Why the ladder leaves it out, if it does.
    pub(crate) trouble: Option<TroubleView>,
}

/// What HTTP needs to see of games, lobby and sessions. Answers are what was true a moment ago.
#[async_trait]
pub(crate) trait ArenaView: Send + Sync + Debug {
    /// All games in progress, the best rated first.
    fn live_games(&self) -> Vec<LiveGame>;

    /// The lobby as its feed shows it.
    fn lobby(&self) -> LobbyFeed;

    /// The game to show to somebody who names none.
    fn tv(&self) -> Option<LiveGame>;

    /// House and remote bots that can be challenged.
    fn open_bots(&self) -> Vec<OpenBot>;

    /// A live game as a watcher sees it.
    async fn snapshot(&self, game: &GameId) -> Option<Snapshot>;

    /// A player's games by correspondence that go on, as the player sees them.
    async fn correspondence_of(&self, player: &PlayerId) -> Vec<Snapshot>;

    /// The clocks of a player's games by correspondence stand for so long, or go on.
    async fn take_vacation(&self, player: &PlayerId, lasts: Option<Duration>);

    /// Stores what a player answers in a game by correspondence if the opponent plays so.
    ///
    /// # Errors
    ///
    /// See [`ConditionalRefusal`].
    async fn say_in_advance(
        &self,
        game: &GameId,
        player: &PlayerId,
        lines: &[String],
    ) -> Result<Vec<String>, ConditionalRefusal>;

    /// What a player has said so, as far as it may still come.
    ///
    /// # Errors
    ///
    /// See [`ConditionalRefusal`].
    async fn said_in_advance(
        &self,
        game: &GameId,
        player: &PlayerId,
    ) -> Result<Vec<String>, ConditionalRefusal>;

    /// How much later than the players others see a game in progress.
    fn watch_delay_of(&self, _game: &GameId) -> Duration {
        Duration::ZERO
    }

    /// An offer that is open to whoever has its link, while it stands.
    async fn challenge(&self, challenge: &ChallengeId) -> Option<Offer>;

    /// Offers by correspondence that anyone may take, the newest first.
    async fn open_offers(&self) -> Vec<Offer>;

    /// Offers by correspondence that a player made to somebody, or is asked by.
    async fn asked(&self, player: &PlayerId) -> Vec<Offer>;

    /// Messages as they come, for a reader that keeps up.
    ///
    /// # Errors
    ///
    /// The game is not in progress, or there are too many feeds.
    fn follow(&self, what: &FeedOf) -> Result<LineFeed, NoFeed>;

    /// Why no games begin, if none do: the daemon is starting, draining or stopping, or an operator has said so.
    fn closed(&self) -> Option<String>;

    /// What operators have ordered for the whole arena.
    fn orders(&self) -> StandingOrders;

    /// Parts that have failed again and again and pause, one sentence each.
    fn pauses(&self) -> Vec<String>;

    /// How the copies of the store stand.
    fn backups(&self) -> BackupStanding;

    /// What keeps the arena from storing anything, if something does.
    fn obstacle(&self) -> Option<Obstacle>;

    /// Whether the player is connected.
    fn is_online(&self, player: &PlayerId) -> bool;

    /// A game of a player that goes on at the board and can be watched, the one that began first.
    fn watchable_game_of(&self, player: &PlayerId) -> Option<GameId>;

    /// What a connected bot has declared; `None` if it is not there.
    async fn bot_presence(&self, bot: &PlayerId) -> Option<BotPresence>;

    /// Begins a duel when it is its turn, which may be now.
    ///
    /// # Errors
    ///
    /// See [`QueueFull`].
    async fn ask_duel(&self, id: PairId, owner: PlayerId, offer: GameOffer) -> Result<Asked, QueueFull>;

    /// A duel that waits for its turn, or could not begin.
    fn unbegun_duel(&self, id: &PairId) -> Option<Unbegun>;

    /// The duels of a bot that wait for their turn.
    fn waiting_duels(&self, bot: &PlayerId) -> Vec<PairId>;

    /// Takes an owner's duel out that waits; whether there was one.
    fn withdraw_duel(&self, id: &PairId, owner: &PlayerId) -> bool;

    /// Begins a self-test of a connected bot.
    ///
    /// # Errors
    ///
    /// See [`BeginError`].
    fn begin_self_test(&self, bot: &Identity) -> Result<(), BeginError>;

    /// Whether one is under way.
    fn is_self_testing(&self, bot: &PlayerId) -> bool;
}

/// What every handler gets; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct AppState {
    /// Games, players and ratings, for reading.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) accounts: Accounts,
    /// Who may come in.
    pub(crate) access: AccessConfig,
    /// How much of it all each visitor may use up.
    pub(crate) shares: Shares,
    /// What is counted, for those who look how the arena is.
    pub(crate) metrics: Arc<Metrics>,
    /// Draws pictures for links.
    pub(crate) previews: Previews,
    /// Where the site is and whom it trusts.
    pub(crate) site: Arc<Site>,
    /// What positions and games are worth.
    pub(crate) analysis: Analysis,
    /// What was played in finished games.
    pub(crate) explorer: Arc<Explorer>,
    pub(crate) arena: Arc<dyn ArenaView>,
    /// The bots that learn.
    pub(crate) learning: Learning,
    /// Tournaments, under way and over.
    pub(crate) tournaments: Tournaments,
    /// Classes that are held now.
    pub(crate) classes: Classes,
    pub(crate) leaderboard: Leaderboard,
    /// Who decides better than people of their rating; none where games are not judged.
    pub(crate) evidence: Option<EvidenceReader>,
    /// What everybody's games by correspondence make of their ratings there.
    pub(crate) correspondence: CorrespondenceBook,
    /// Puzzles and who tries them.
    pub(crate) puzzles: Puzzles,
    /// What people show of positions and lines.
    pub(crate) studies: Studies,
    /// What tells owners of bots what happens to them, where operators let it.
    pub(crate) webhooks: Option<Webhooks>,
    /// What writes mails, where operators have it.
    pub(crate) mailer: Option<Mailer>,
    /// What browsers are told by, where operators have keys.
    pub(crate) pusher: Option<Pusher>,
}

impl AppState {
    /// A stored game as somebody may see it: one in progress without what those who do not play see later. `plays` says
    /// who the visitor is.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub(crate) async fn shown_game(
        &self,
        id: &GameId,
        plays: impl Fn(&PlayerId) -> bool,
    ) -> Result<Option<StoredGame>, StoreError> {
        let Some(game) = self.store.game(id).await? else { return Ok(None) };
        let delay = self.arena.watch_delay_of(id);
        let BySide { first, second } = &game.spec.players;
        let sees_all = game.settlement.is_some() || delay.is_zero() || plays(first) || plays(second);
        Ok(Some(if sees_all { game } else { game.until(UnixMillis::now().before(delay)) }))
    }
}
