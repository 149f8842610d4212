//! What the HTTP side sees of games, lobby and sessions.

use std::time::Duration;

use async_trait::async_trait;

use crate::competition::duels::{Asked, Duels, QueueFull, Unbegun};
use crate::competition::matchmaker::Troubles;
use crate::competition::self_test::{BeginError, SelfTests};
use crate::http::ArenaView;
use crate::http::state::{BotPresence, OpenBot, TroubleView};
use crate::lobby::LobbyHandle;
use crate::model::clock::now;
use crate::model::ids::{ChallengeId, GameId, PairId, PlayerId};
use crate::model::player::Identity;
use crate::model::time::UnixMillis;
use crate::operations::backups::{BackupStanding, Backups};
use crate::play::feeds::Feeds;
use crate::play::host::{ConditionalRefusal, GameOffer, Host};
use crate::play::house::HouseBot;
use crate::play::orders::StandingOrders;
use crate::play::presence::Sessions;
use crate::play::room::Directory;
use crate::protocol::terms::WirePlayer;

use crate::protocol::server::{LiveGame, LobbyFeed, Offer, Snapshot};
use crate::session::line_feed::{FeedOf, LineFeed, LineFeeds, NoFeed};
use crate::storage::writer::Obstacle;
use crate::system::supervision::Supervision;

/// The live parts, for reading.
#[derive(Clone, Debug)]
pub(super) struct LiveArena {
    /// Starts games; says whether it does.
    pub(crate) host: Host,
    pub(crate) directory: Directory,
    pub(crate) sessions: Sessions,
    /// Has the lobby and the game to show.
    pub(crate) feeds: Feeds,
    /// Has the open offers.
    pub(crate) lobby: LobbyHandle,
    /// Opens feeds over HTTP.
    pub(crate) line_feeds: LineFeeds,
    /// Has the bots that the ladder leaves out.
    pub(crate) troubles: Troubles,
    pub(crate) self_tests: SelfTests,
    /// Has the duels that wait for their turn.
    pub(crate) duels: Duels,
    /// Knows which parts pause.
    pub(crate) supervision: Supervision,
    pub(crate) backups: Backups,
}

impl LiveArena {
    fn trouble(&self, bot: &PlayerId) -> Option<TroubleView> {
        self.troubles.of(bot).map(|trouble| TroubleView {
            fault: trouble.fault,
            probing: trouble.probing,
            until: trouble.until.map(|until| until.to_string()),
        })
    }
}

/// Bots that are built in have the version of what they are built into.
fn version_of(bot: &HouseBot) -> Option<String> {
    bot.program().is_none().then(|| crate::fourfold_version().to_owned())
}

/// Why a program of the operator's plays no games now, if it does not.
fn program_trouble(bot: &HouseBot) -> Option<TroubleView> {
    let now = now();
    let pause = bot.program()?.pause(now)?;
    let until = UnixMillis::now().later(pause.until.saturating_duration_since(now));
    Some(TroubleView { fault: pause.fault.as_str(), probing: false, until: Some(until.to_string()) })
}

#[async_trait]
impl ArenaView for LiveArena {
    fn live_games(&self) -> Vec<LiveGame> {
        let mut live = self.directory.listed();
        let now = tokio::time::Instant::now();
        live.sort_by_key(|game| game.list_order(now));
        live.iter().map(|game| game.to_wire()).collect()
    }

    fn lobby(&self) -> LobbyFeed {
        self.feeds.lobby()
    }

    fn tv(&self) -> Option<LiveGame> {
        self.feeds.tv()
    }

    fn open_bots(&self) -> Vec<OpenBot> {
        let playing = |id: &PlayerId| u32::try_from(self.directory.games_of(id)).unwrap_or(u32::MAX);
        let house = self.host.house().all();
        let house = house.iter().map(|bot| OpenBot {
            player: WirePlayer::new(&bot.identity, None, version_of(bot)),
            strength: bot.strength,
            level: bot.level,
            elo: bot.elo,
            style: Some(bot.style.to_owned()),
            about: Some(bot.about.clone()),
            url: None,
            language: None,
            house: true,
            playing: playing(&bot.identity.id),
            trouble: program_trouble(bot).or_else(|| self.trouble(&bot.identity.id)),
        });
        let remote = self.sessions.open_bots().into_iter().map(|bot| OpenBot {
            playing: playing(&bot.identity.id),
            trouble: self.trouble(&bot.identity.id),
            player: WirePlayer::new(&bot.identity, None, bot.profile.version),
            strength: None,
            level: None,
            elo: None,
            style: None,
            about: bot.profile.about,
            url: bot.profile.url,
            language: bot.profile.language,
            house: false,
        });
        house.chain(remote).collect()
    }

    async fn correspondence_of(&self, player: &PlayerId) -> Vec<Snapshot> {
        let mut games = Vec::new();
        for public in self.directory.correspondence_of(player) {
            if let Some(room) = self.directory.room(&public.spec.id) {
                games.extend(room.look(Some(player.clone())).await);
            }
        }
        games
    }

    async fn take_vacation(&self, player: &PlayerId, lasts: Option<Duration>) {
        for public in self.directory.correspondence_of(player) {
            if let Some(room) = self.directory.room(&public.spec.id) {
                room.take_vacation(player.clone(), lasts).await;
            }
        }
    }

    async fn say_in_advance(
        &self,
        game: &GameId,
        player: &PlayerId,
        lines: &[String],
    ) -> Result<Vec<String>, ConditionalRefusal> {
        self.host.say_in_advance(game, player, lines).await
    }

    async fn said_in_advance(
        &self,
        game: &GameId,
        player: &PlayerId,
    ) -> Result<Vec<String>, ConditionalRefusal> {
        self.host.said_in_advance(game, player).await
    }

    async fn snapshot(&self, game: &GameId) -> Option<Snapshot> {
        match self.host.snapshot(game).await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                tracing::error!(game = %game, error = %error, "a game could not be read");
                None
            }
        }
    }

    fn watch_delay_of(&self, game: &GameId) -> Duration {
        self.host.watch_delay_of(game)
    }

    async fn challenge(&self, challenge: &ChallengeId) -> Option<Offer> {
        self.lobby.offer(challenge.clone()).await
    }

    async fn open_offers(&self) -> Vec<Offer> {
        self.lobby.listed().await
    }

    async fn asked(&self, player: &PlayerId) -> Vec<Offer> {
        self.lobby.asked(player.clone()).await
    }

    fn follow(&self, what: &FeedOf) -> Result<LineFeed, NoFeed> {
        self.line_feeds.follow(what)
    }

    fn pauses(&self) -> Vec<String> {
        self.supervision.pauses()
    }

    fn backups(&self) -> BackupStanding {
        self.backups.standing()
    }

    fn closed(&self) -> Option<String> {
        self.host.check_open().err().map(|why| why.to_string())
    }

    fn orders(&self) -> StandingOrders {
        self.host.orders().now().clone()
    }

    fn obstacle(&self) -> Option<Obstacle> {
        self.host.obstacle()
    }

    fn is_online(&self, player: &PlayerId) -> bool {
        self.sessions.is_online(player)
    }

    fn watchable_game_of(&self, player: &PlayerId) -> Option<GameId> {
        self.directory.watchable_of(player)
    }

    async fn bot_presence(&self, bot: &PlayerId) -> Option<BotPresence> {
        let present = self.sessions.present(bot).filter(|_| self.sessions.is_online(bot))?;
        let may_play_rated = self.host.may_play_rated(&present.identity).await.is_ok();
        let rooms = self.directory.rooms_of(bot);
        Some(BotPresence {
            open: present.settings.open,
            draining: present.settings.draining,
            version: present.profile.version.unwrap_or_default(),
            games: rooms.iter().map(|room| room.game().clone()).collect(),
            may_play_rated,
            trouble: self.trouble(bot),
        })
    }

    async fn ask_duel(&self, id: PairId, owner: PlayerId, offer: GameOffer) -> Result<Asked, QueueFull> {
        self.duels.ask(id, owner, offer).await
    }

    fn unbegun_duel(&self, id: &PairId) -> Option<Unbegun> {
        self.duels.unbegun(id)
    }

    fn waiting_duels(&self, bot: &PlayerId) -> Vec<PairId> {
        self.duels.waiting_of(bot)
    }

    fn withdraw_duel(&self, id: &PairId, owner: &PlayerId) -> bool {
        self.duels.withdraw(id, owner)
    }

    fn begin_self_test(&self, bot: &Identity) -> Result<(), BeginError> {
        self.self_tests.begin(bot)
    }

    fn is_self_testing(&self, bot: &PlayerId) -> bool {
        self.self_tests.is_running(bot)
    }
}
